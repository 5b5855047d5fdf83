//! The symbol table ("PE Format", section "COFF Symbol Table").

use super::auxiliary::{self, Auxiliary};
use super::image::Budget;
use super::names::{STORAGE_CLASSES, SYMBOL_TYPES};
use super::strings::{Strings, no_name};
use crate::binary::layout::rows::{Name, Range, Symbol, Symbolic, ValueMeaning};
use crate::binary::{Bytes, Notes};

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

    /// All that it takes in the file.
    pub(super) fn end(&self) -> u64 {
        let symbols = self.offset + self.count * self.entry;
        symbols.max(self.strings.offset + self.strings.bytes.len())
    }
}

/// The symbols, and what their auxiliary records say.
pub(super) fn read<'a>(
    table: &Table<'a>,
    sections: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> (Vec<Symbol<'a>>, Vec<Auxiliary<'a>>) {
    let mut symbols = Vec::new();
    let mut more_rows = Vec::new();
    let mut index = 0;
    while index < table.count {
        let at = table.offset + index * table.entry;
        let Some(record) = table.bytes.part(at, table.entry) else {
            break;
        };
        let Some((symbol, more)) = symbol(table, record, at, index, sections, budget, notes) else {
            break;
        };
        if more > 0 {
            let last = (index + more).min(table.count - 1);
            if last < index + more {
                notes.at(
                    "symbol",
                    at,
                    format!("it claims {more} auxiliary records, more than the table has"),
                );
            }
            let there = last - index;
            more_rows.extend(auxiliary::read(table, &symbol, at, there, budget, notes));
        }
        index = index.saturating_add(more + 1);
        symbols.push(symbol);
    }
    (symbols, more_rows)
}

fn symbol<'a>(
    table: &Table<'a>,
    record: Bytes<'a>,
    at: u64,
    index: u64,
    sections: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<(Symbol<'a>, u64)> {
    let big = table.entry == 20;
    let value = u64::from(record.u32(8)?);
    let (section, rest) = match big {
        true => (i64::from(record.i32(12)?), 16),
        false => (i64::from(record.u16(12)? as i16), 14),
    };
    // Numbers above 0x7FFF are sections too where there are so many.
    let section = match section {
        ..-2 if !big => section + 0x1_0000,
        _ => section,
    };
    let kind = u64::from(record.u16(rest)?);
    let class = u64::from(record.u8(rest + 2)?);
    let more = u64::from(record.u8(rest + 3)?);
    let (name, name_offset) = match record.u32(0)? {
        0 => {
            let offset = u64::from(record.u32(4)?);
            let name = table.strings.name(offset, budget);
            if matches!(name, Name::Unknown(_)) {
                notes.at("symbol", at, no_name(offset, budget));
            }
            (name, Some(offset))
        }
        _ => {
            let raw = record.get(0, 8)?;
            let end = memchr::memchr(0, raw).unwrap_or(raw.len());
            let name = Name::At {
                bytes: raw.get(..end)?,
                location: Range {
                    offset: at,
                    bytes: 8,
                },
            };
            (name, None)
        }
    };
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
    let symbol = Symbol {
        table_index: 0,
        entry_index: index,
        name,
        name_offset,
        location: Range {
            offset: at,
            bytes: table.entry,
        },
        value,
        meaning,
        size,
        binding: Symbolic::of(class, STORAGE_CLASSES),
        kind: Symbolic::of(kind, SYMBOL_TYPES),
        visibility: None,
        section_index,
    };
    Some((symbol, more))
}
