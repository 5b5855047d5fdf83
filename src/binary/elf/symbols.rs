//! Tables of symbols (gABI ch. 4), and the dynamic one where no section tells
//! it: `DT_SYMTAB` with the count that a hash table gives.

use super::Elf;
use super::fact::rows;
use super::header::SHN_XINDEX;
use super::names;
use super::strings::Strings;
use crate::binary::layout::rows::{Name, Range, Symbol, ValueMeaning};
use crate::binary::{Bytes, Notes};
use crate::json::{WriteJson, Writer};
use std::sync::Arc;

/// `ET_REL`
pub(super) const ET_REL: u16 = 1;

/// `Elf32_Sym`, `Elf64_Sym`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub name: u32,
    pub value: u64,
    pub size: u64,
    pub info: u8,
    pub other: u8,
    pub section: u16,
}

impl Entry {
    pub(super) fn binding(&self) -> u8 {
        self.info >> 4
    }

    pub(super) fn kind(&self) -> u8 {
        self.info & 15
    }
}

/// A table that was read.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// Its section; 0 where the dynamic table tells it.
    pub section: u64,
    /// Whether it is for the dynamic linker.
    pub dynamic: bool,
    /// Where its first row stands among all rows.
    pub first: usize,
    /// How many rows it has.
    pub count: usize,
    /// Where it stands.
    pub location: Range,
    /// Bytes from one entry to the next.
    pub stride: u64,
    /// Where the `SHT_SYMTAB_SHNDX` stands that belongs to it.
    pub extended: Option<Range>,
    pub strings: Result<Strings<'a>, &'static str>,
    /// The length of each name, or one of [`UNREADABLE`]. All else of a row is
    /// read from its entry when it is asked for.
    pub lengths: Vec<u32>,
}

/// What stands for the length of a name that cannot be told, and why.
pub(super) const UNREADABLE: [(u32, &str); 3] = [
    (u32::MAX, "name-outside-string-table"),
    (u32::MAX - 1, "name-not-terminated"),
    (u32::MAX - 2, "names-exceed-budget"),
];

/// The tables, and what their rows are read with.
#[derive(Debug)]
pub(crate) struct Symbols<'a> {
    pub(super) bytes: Bytes<'a>,
    pub(super) wide: bool,
    /// `e_type`
    pub(super) file: u16,
    pub(super) machine: u16,
    /// Whether each section is in use.
    pub(super) live: Vec<bool>,
    /// By section.
    pub(super) tables: Vec<Table<'a>>,
    /// Places of the tables, by their first rows.
    pub(super) order: Vec<usize>,
}

/// Bytes of an entry.
pub(super) fn entry_size(wide: bool) -> u64 {
    if wide { 24 } else { 16 }
}

/// The entry of a symbol at `at`.
pub(super) fn entry(bytes: Bytes<'_>, wide: bool, at: u64) -> Option<Entry> {
    Some(match wide {
        true => {
            let raw: [u8; 24] = bytes.array(at)?;
            let bytes = Bytes::new(&raw, bytes.order());
            Entry {
                name: bytes.u32(0)?,
                info: bytes.u8(4)?,
                other: bytes.u8(5)?,
                section: bytes.u16(6)?,
                value: bytes.u64(8)?,
                size: bytes.u64(16)?,
            }
        }
        false => {
            let raw: [u8; 16] = bytes.array(at)?;
            let bytes = Bytes::new(&raw, bytes.order());
            Entry {
                name: bytes.u32(0)?,
                value: bytes.u32(4)?.into(),
                size: bytes.u32(8)?.into(),
                info: bytes.u8(12)?,
                other: bytes.u8(13)?,
                section: bytes.u16(14)?,
            }
        }
    })
}

impl<'a> Symbols<'a> {
    /// The table that a section is, or the dynamic one where `section` is 0.
    pub(super) fn table(&self, section: u64) -> Option<&Table<'a>> {
        let at = self
            .tables
            .binary_search_by_key(&section, |table| table.section)
            .ok()?;
        self.tables.get(at)
    }

    /// The dynamic table.
    pub(super) fn dynamic(&self) -> Option<&Table<'a>> {
        self.tables.iter().find(|table| table.dynamic)
    }

    /// How many rows all tables have.
    pub(crate) fn len(&self) -> usize {
        let ends = self.tables.iter().map(|table| table.first + table.count);
        ends.max().unwrap_or(0)
    }

    /// The row at a place among those of all tables.
    pub(crate) fn get(&self, at: usize) -> Option<Symbol<'a>> {
        let first = |&place: &usize| self.tables.get(place).map_or(0, |table| table.first);
        let after = self.order.partition_point(|place| first(place) <= at);
        let table = self.tables.get(*self.order.get(after.checked_sub(1)?)?)?;
        self.at(table, (at - table.first) as u64)
    }

    /// The rows of all tables, in the order in which they were read.
    pub(super) fn rows(&self) -> impl Iterator<Item = Symbol<'a>> {
        let tables = self.order.iter().filter_map(|&at| self.tables.get(at));
        tables.flat_map(|table| self.of(table))
    }

    /// The rows of a table.
    pub(super) fn of<'s>(&'s self, table: &'s Table<'a>) -> impl Iterator<Item = Symbol<'a>> {
        (0..table.count as u64).filter_map(|index| self.at(table, index))
    }

    /// A symbol of a table.
    pub(super) fn at(&self, table: &Table<'a>, index: u64) -> Option<Symbol<'a>> {
        let place = usize::try_from(index).ok()?;
        let length = *table.lengths.get(place)?;
        let at = table.location.offset + index * table.stride;
        let entry = self.entry(at)?;
        let offset = u64::from(entry.name);
        let unreadable = UNREADABLE.iter().find(|(known, _)| *known == length);
        let name = match (&table.strings, unreadable) {
            (Err(reason), _) | (_, Some((_, reason))) => Name::Unknown(reason),
            (Ok(strings), None) => strings.found(offset, length.into())?,
        };
        Some(Symbol {
            table_index: table.section,
            entry_index: index,
            name,
            name_offset: Some(offset),
            location: Range {
                offset: at,
                bytes: entry_size(self.wide),
            },
            value: entry.value,
            meaning: self.meaning(&entry),
            size: entry.size,
            binding: names::binding(entry.binding()),
            kind: names::symbol_type(entry.kind(), self.machine),
            visibility: Some(names::visibility(entry.other)),
            section_index: names::section_index(entry.section, self.machine),
        })
    }

    /// Names with their places, without the rest of the rows.
    pub(super) fn names(&self) -> impl Iterator<Item = (&'a [u8], Range)> {
        self.tables.iter().flat_map(move |table| {
            let lengths = (0u64..).zip(&table.lengths);
            lengths.filter_map(move |(index, &length)| {
                let at = table.location.offset + index * table.stride;
                let strings = table.strings.as_ref().ok()?;
                let name = self.bytes.u32(at)?;
                let Name::At { bytes, .. } = strings.found(name.into(), length.into())? else {
                    return None;
                };
                let location = Range {
                    offset: at,
                    bytes: entry_size(self.wide),
                };
                Some((bytes, location))
            })
        })
    }

    fn entry(&self, at: u64) -> Option<Entry> {
        entry(self.bytes, self.wide, at)
    }

    /// What the value of a symbol is (binaries section 2.1).
    fn meaning(&self, entry: &Entry) -> ValueMeaning {
        let live =
            |index: u16| index < 0xFF00 && self.live.get(usize::from(index)).copied() == Some(true);
        match entry {
            entry if entry.kind() == 4 => ValueMeaning::NoAddress,
            Entry { section: 0, .. } => ValueMeaning::Undefined,
            Entry {
                section: 0xFFF2, ..
            } => ValueMeaning::Alignment,
            Entry {
                section: 0xFFF1, ..
            } => ValueMeaning::AbsoluteValue,
            entry if !live(entry.section) => ValueMeaning::UnknownSectionIndex,
            _ if self.file == ET_REL => ValueMeaning::SectionOffset,
            entry if entry.kind() == 6 => ValueMeaning::TlsOffset,
            _ => ValueMeaning::LinkedVirtualAddress,
        }
    }
}

rows! {
    /// A row of `facts.elf.extended_section_indexes`
    struct ExtendedIndex {
        entry_index: u64,
        location: Range,
        section_index: u64,
        table_index: u64,
    }
}

/// The section indexes of symbols whose own field says `SHN_XINDEX`.
pub(super) fn extended_indexes(
    elf: &Elf<'_>,
    symbols: &Symbols<'_>,
    notes: &mut Notes,
) -> Vec<ExtendedIndex> {
    let mut rows = Vec::new();
    for table in &symbols.tables {
        let mut missing = 0u64;
        for row in 0..table.count as u64 {
            let entry = symbols.entry(table.location.offset + row * table.stride);
            if entry.is_none_or(|entry| entry.section != SHN_XINDEX) {
                continue;
            }
            let place = table.extended.and_then(|range| {
                let at = row.checked_mul(4)?;
                let end = at.checked_add(4)?;
                (end <= range.bytes).then_some(range.offset.checked_add(at)?)
            });
            match place.and_then(|at| Some((at, elf.bytes.u32(at)?))) {
                Some((offset, index)) => rows.push(ExtendedIndex {
                    entry_index: row,
                    location: Range { offset, bytes: 4 },
                    section_index: index.into(),
                    table_index: table.section,
                }),
                None => missing += 1,
            }
        }
        if missing > 0 {
            let what = crate::artifact::limitation::counted(missing, "symbol", "symbols");
            notes.at(
                elf.section_text(usize::try_from(table.section).unwrap_or(0)),
                table.location.offset,
                format!("no SHT_SYMTAB_SHNDX tells the sections of {what}"),
            );
        }
    }
    rows
}

rows! {
    /// A row of `facts.elf.symbol_other`: the bits of `st_other` beside the
    /// visibility, which the processor supplements define.
    struct Other {
        entry_index: u64,
        names: Vec<&'static str>,
        other: u64,
        table_index: u64,
    }
}

/// `facts.elf.symbol_other`: the symbols that have such bits.
pub(super) struct Others<'a>(pub Arc<Symbols<'a>>);

impl WriteJson for Others<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        let symbols = &*self.0;
        let tables = symbols.order.iter();
        for table in tables.filter_map(|&at| symbols.tables.get(at)) {
            for index in 0..table.count as u64 {
                let at = table.location.offset + index * table.stride;
                let Some(other) = symbols.entry(at).map(|entry| entry.other) else {
                    continue;
                };
                if other & !3 == 0 {
                    continue;
                }
                let row = Other {
                    entry_index: index,
                    names: names::symbol_other(other, symbols.machine),
                    other: other.into(),
                    table_index: table.section,
                };
                row.write_json(w);
            }
        }
        w.end_array();
    }
}
