//! The symbol table ("PE Format", section "COFF Symbol Table").

use super::auxiliary::{self, Auxiliary};
use super::image::Budget;
use super::names::{STORAGE_CLASSES, SYMBOL_TYPES};
use super::strings::{BUDGET_SPENT, NO_END, NO_STRING, Strings, no_name};
use crate::binary::layout::rows::{Name, Range, Symbol, Symbolic, ValueMeaning};
use crate::binary::layout::{SymbolReader, Symbols};
use crate::binary::{Bytes, Notes};
use std::sync::Arc;

/// Where the symbols stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    pub bytes: Bytes<'a>,
    pub offset: u64,
    pub count: u64,
    /// 18, or 20 in `/bigobj`.
    pub entry: u64,
    pub strings: Strings<'a>,
}

impl<'a> Table<'a> {
    /// The table that a file header names.
    pub(super) fn read(
        bytes: Bytes<'a>,
        offset: u64,
        count: u64,
        entry: u64,
        notes: &mut Notes,
    ) -> Self {
        let none = Self {
            bytes,
            offset,
            count: 0,
            entry,
            strings: Strings::none(),
        };
        if offset == 0 {
            return none;
        }
        if offset > bytes.len() {
            notes.at(
                "symbol table",
                offset,
                "it starts behind the end of the file",
            );
            return none;
        }
        let there = (bytes.len() - offset) / entry;
        if there < count {
            notes.at(
                "symbol table",
                offset,
                format!("it has {count} entries, and the file ends after {there} of them"),
            );
            return Self {
                count: there,
                ..none
            };
        }
        Self {
            count,
            strings: Strings::read(bytes, offset + count * entry, notes),
            ..none
        }
    }

    /// The record at a place among those of symbols and auxiliary symbols.
    fn record(&self, index: u64) -> Option<Record<'a, '_>> {
        let at = self.offset + index * self.entry;
        Some(Record {
            table: self,
            bytes: self.bytes.part(at, self.entry)?,
            index,
            at,
        })
    }

    /// Where a symbol stands: its section, from zero on, and its value.
    pub(super) fn place(&self, index: u64) -> Option<(u64, u64)> {
        let record = self.record(index).filter(|_| index < self.count)?;
        let section = match self.entry {
            20 => u64::try_from(record.bytes.i32(12)?).ok()?,
            _ => u64::from(record.bytes.u16(12)?),
        };
        Some((section.checked_sub(1)?, record.bytes.u32(8)?.into()))
    }

    /// All that it takes in the file.
    pub(super) fn end(&self) -> u64 {
        let symbols = self.offset + self.count * self.entry;
        symbols.max(self.strings.offset + self.strings.bytes.len())
    }
}

/// The symbols of a table. Where each stands and how long its name is are
/// kept; all else is read from its record when it is asked for.
#[derive(Debug)]
pub(crate) struct SymbolRows<'a> {
    table: Table<'a>,
    sections: u64,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// Among the records, those of auxiliary symbols too.
    index: u32,
    /// Of the name, or one of [`UNREADABLE`].
    length: u32,
}

/// What stands for the length of a name that cannot be told, and why.
const UNREADABLE: [(u32, &str); 3] = [
    (u32::MAX, NO_STRING),
    (u32::MAX - 1, NO_END),
    (u32::MAX - 2, BUDGET_SPENT),
];

impl<'a> SymbolRows<'a> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The symbol at a place among them.
    pub(crate) fn get(&self, at: usize) -> Option<Symbol<'a>> {
        let &Row { index, length } = self.rows.get(at)?;
        let record = self.table.record(index.into())?;
        let name = match record.string_offset() {
            None => record.short_name()?,
            Some(offset) => match UNREADABLE.iter().find(|(known, _)| *known == length) {
                Some((_, reason)) => Name::Unknown(reason),
                None => self.table.strings.found(offset, length.into())?,
            },
        };
        record.symbol(name, self.sections)
    }
}

/// The symbols, and what their auxiliary records say.
pub(super) fn read<'a>(
    table: &Table<'a>,
    sections: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> (Symbols<'a>, Vec<Auxiliary<'a>>) {
    let mut rows = Vec::new();
    let mut more_rows = Vec::new();
    let mut index = 0;
    while index < table.count {
        let Some(record) = table.record(index) else {
            break;
        };
        let Some(name) = record.name(budget, notes) else {
            break;
        };
        let Some((symbol, more)) = record.symbol(name, sections).zip(record.more()) else {
            break;
        };
        if more > 0 {
            let last = (index + more).min(table.count - 1);
            if last < index + more {
                notes.at(
                    "symbol",
                    record.at,
                    format!("it claims {more} auxiliary records, more than the table has"),
                );
            }
            let there = last - index;
            more_rows.extend(auxiliary::read(
                table, &symbol, record.at, there, budget, notes,
            ));
        }
        rows.push(Row {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            length: match name {
                Name::At { bytes, .. } => u32::try_from(bytes.len()).unwrap_or(u32::MAX - 2),
                Name::Unknown(reason) => {
                    let known = UNREADABLE.iter().find(|(_, known)| *known == reason);
                    known.map_or(u32::MAX, |(length, _)| *length)
                }
            },
        });
        index = index.saturating_add(more + 1);
    }
    let rows = SymbolRows {
        table: *table,
        sections,
        rows,
    };
    let symbols = Symbols::read(SymbolReader::Coff(Arc::new(rows)));
    (symbols, more_rows)
}

/// The record of a symbol.
struct Record<'a, 't> {
    table: &'t Table<'a>,
    bytes: Bytes<'a>,
    index: u64,
    at: u64,
}

impl<'a> Record<'a, '_> {
    /// Where its name stands in the table of strings, if it does.
    fn string_offset(&self) -> Option<u64> {
        match self.bytes.u32(0)? {
            0 => self.bytes.u32(4).map(u64::from),
            _ => None,
        }
    }

    /// A name of up to eight bytes, which stands in the record.
    fn short_name(&self) -> Option<Name<'a>> {
        let raw = self.bytes.get(0, 8)?;
        let end = memchr::memchr(0, raw).unwrap_or(raw.len());
        Some(Name::At {
            bytes: raw.get(..end)?,
            location: Range {
                offset: self.at,
                bytes: 8,
            },
        })
    }

    fn name(&self, budget: &mut Budget, notes: &mut Notes) -> Option<Name<'a>> {
        let Some(offset) = self.string_offset() else {
            return self.short_name();
        };
        let name = self.table.strings.name(offset, budget);
        if matches!(name, Name::Unknown(_)) {
            notes.at("symbol", self.at, no_name(offset, budget));
        }
        Some(name)
    }

    /// How many auxiliary records follow.
    fn more(&self) -> Option<u64> {
        self.bytes.u8(self.table.entry - 1).map(u64::from)
    }

    fn symbol(&self, name: Name<'a>, sections: u64) -> Option<Symbol<'a>> {
        let big = self.table.entry == 20;
        let value = u64::from(self.bytes.u32(8)?);
        let (section, rest) = match big {
            true => (i64::from(self.bytes.i32(12)?), 16),
            false => (i64::from(self.bytes.u16(12)? as i16), 14),
        };
        // Numbers above 0x7FFF are sections too where there are so many.
        let section = match section {
            ..-2 if !big => section + 0x1_0000,
            _ => section,
        };
        let kind = u64::from(self.bytes.u16(rest)?);
        let class = u64::from(self.bytes.u8(rest + 2)?);
        let external = matches!(class, 2 | 105);
        let (meaning, size) = match section {
            _ if class == 103 => (ValueMeaning::NoAddress, 0),
            -2 => (ValueMeaning::NoAddress, 0),
            -1 => (ValueMeaning::AbsoluteValue, 0),
            0 if external && value != 0 && class == 2 => (ValueMeaning::CommonSize, value),
            0 => (ValueMeaning::Undefined, 0),
            number if number > 0 && number as u64 <= sections => (ValueMeaning::SectionOffset, 0),
            _ => (ValueMeaning::UnknownSectionIndex, 0),
        };
        let section_index = match section {
            0 => Symbolic::Named("IMAGE_SYM_UNDEFINED"),
            -1 => Symbolic::Named("IMAGE_SYM_ABSOLUTE"),
            -2 => Symbolic::Named("IMAGE_SYM_DEBUG"),
            number => Symbolic::Number(u64::from(number as u32)),
        };
        Some(Symbol {
            table_index: 0,
            entry_index: self.index,
            name,
            name_offset: self.string_offset(),
            location: Range {
                offset: self.at,
                bytes: self.table.entry,
            },
            value,
            meaning,
            size,
            binding: Symbolic::of(class, STORAGE_CLASSES),
            kind: Symbolic::of(kind, SYMBOL_TYPES),
            visibility: None,
            section_index,
        })
    }
}
