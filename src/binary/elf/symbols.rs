//! Tables of symbols (gABI ch. 4), and the dynamic one where no section tells
//! it: `DT_SYMTAB` with the count that a hash table gives.

use super::dynamic::{Dynamic, dt};
use super::fact::{Number, rows};
use super::header::SHN_XINDEX;
use super::names;
use super::strings::Strings;
use super::tables::{inside, sht};
use super::{Budget, Elf, REPEATED, hash};
use crate::binary::Notes;
use crate::binary::layout::rows::{Name, Range, Symbol, ValueMeaning};

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

/// A table whose rows were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
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
}

/// All rows and the tables they come from.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    pub rows: Vec<Symbol<'a>>,
    pub tables: Vec<Table>,
}

/// Bytes of an entry.
pub(super) fn entry_size(wide: bool) -> u64 {
    if wide { 24 } else { 16 }
}

impl<'a> Elf<'a> {
    /// The entry of a symbol at `at`.
    pub(super) fn symbol_entry(&self, at: u64) -> Option<Entry> {
        let bytes = self.bytes;
        Some(match self.wide {
            true => {
                let raw: [u8; 24] = bytes.array(at)?;
                let bytes = crate::binary::Bytes::new(&raw, bytes.order());
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
                let bytes = crate::binary::Bytes::new(&raw, bytes.order());
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

    /// What the value of a symbol is (binaries section 2.1).
    pub(super) fn meaning(&self, entry: &Entry) -> ValueMeaning {
        let live = |index: u16| {
            index < 0xFF00
                && self
                    .sections
                    .get(usize::from(index))
                    .is_some_and(|section| section.kind != sht::NULL)
        };
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
            _ if self.header.kind == ET_REL => ValueMeaning::SectionOffset,
            entry if entry.kind() == 6 => ValueMeaning::TlsOffset,
            _ => ValueMeaning::LinkedVirtualAddress,
        }
    }
}

/// A table that is to be read.
struct Place<'a> {
    section: u64,
    dynamic: bool,
    range: Range,
    stride: u64,
    strings: Result<Strings<'a>, &'static str>,
    extended: Option<Range>,
    structure: String,
}

/// Reads all tables: those of sections in their order, else the one of the
/// dynamic table.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Symbols<'a> {
    let mut symbols = Symbols::default();
    let mut dynamic_seen = false;
    let mut strings_by_section = std::collections::HashMap::new();
    let extended: std::collections::HashMap<u64, Range> = elf
        .sections
        .iter()
        .rev()
        .filter(|one| one.kind == sht::SYMTAB_SHNDX)
        .map(|one| (one.link.into(), one.range()))
        .collect();
    for (index, header) in elf.sections.iter().enumerate() {
        if !matches!(header.kind, sht::SYMTAB | sht::DYNSYM | sht::SUNW_LDYNSYM) {
            continue;
        }
        dynamic_seen |= header.kind == sht::DYNSYM;
        let least = entry_size(elf.wide);
        let structure = elf.section_text(index);
        let mut stride = header.entry_size;
        if stride < least {
            if header.size > 0 {
                notes.at(
                    &*structure,
                    header.at,
                    format!("its entries have {stride} bytes, and a symbol has {least}"),
                );
            }
            stride = least;
        }
        let linked = elf.section(header.link.into());
        let strings = match linked {
            Some(linked) if linked.kind == sht::STRTAB => {
                // Any number of tables may share one.
                let known = strings_by_section.entry(header.link);
                Ok(*known.or_insert_with(|| elf.strings_of(linked)))
            }
            _ => {
                if header.size > 0 {
                    let link = header.link;
                    notes.at(
                        &*structure,
                        header.at,
                        format!(
                            "section {link}, which should hold its names, is no table of strings"
                        ),
                    );
                }
                Err("no-symbol-string-table")
            }
        };
        let place = Place {
            section: index as u64,
            dynamic: header.kind == sht::DYNSYM,
            range: header.range(),
            stride,
            strings,
            extended: extended.get(&(index as u64)).copied(),
            structure,
        };
        table(elf, &place, &mut symbols, budget, notes);
    }
    if !dynamic_seen && let Some(place) = dynamic_place(elf, dynamic, notes) {
        table(elf, &place, &mut symbols, budget, notes);
    }
    symbols.tables.sort_by_key(|table| table.section);
    symbols
}

/// The table that `DT_SYMTAB` tells, as long as a hash table says.
fn dynamic_place<'a>(elf: &Elf<'a>, dynamic: &Dynamic<'a>, notes: &mut Notes) -> Option<Place<'a>> {
    let address = dynamic.value(dt::SYMTAB)?;
    let Some(offset) = elf.offset_of(address) else {
        notes.add(crate::binary::Note {
            structure: "DT_SYMTAB".to_owned(),
            offset: None,
            reason: format!("no segment holds the address {address:#x}"),
        });
        return None;
    };
    let stride = dynamic
        .value(dt::SYMENT)
        .filter(|&size| size >= entry_size(elf.wide))
        .unwrap_or_else(|| entry_size(elf.wide));
    let count = hash::symbol_count(elf, dynamic).or_else(|| dynamic.value(dt::MIPS_SYMTABNO));
    let Some(count) = count else {
        notes.at(
            "DT_SYMTAB",
            offset,
            "no section and no hash table tells how many symbols it has",
        );
        return None;
    };
    Some(Place {
        section: 0,
        dynamic: true,
        range: Range {
            offset,
            bytes: count.saturating_mul(stride),
        },
        stride,
        strings: dynamic.strings.ok_or("no-symbol-string-table"),
        extended: None,
        structure: "DT_SYMTAB".to_owned(),
    })
}

fn table<'a>(
    elf: &Elf<'a>,
    place: &Place<'a>,
    symbols: &mut Symbols<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    let Range { offset, bytes } = place.range;
    let structure = place.structure.as_str();
    if !inside(offset, bytes, elf.bytes.len()) {
        notes.at(
            structure,
            offset,
            format!("its {bytes:#x} bytes are not all in the file"),
        );
    }
    let available = elf.bytes.up_to(offset, bytes).len() as u64;
    let mut count = available / place.stride;
    // The last entry may be shorter than the step from one to the next.
    if available % place.stride >= entry_size(elf.wide) {
        count += 1;
    }
    if !bytes.is_multiple_of(place.stride) && available == bytes {
        notes.at(
            structure,
            offset,
            format!("its {bytes} bytes are no multiple of {}", place.stride),
        );
    }
    if count == 0 {
        return;
    }
    if !budget.table(available) {
        notes.at(structure, offset, REPEATED);
        return;
    }
    let first = symbols.rows.len();
    symbols
        .rows
        .reserve_exact(usize::try_from(count).unwrap_or(0));
    let machine = elf.header.machine;
    let mut unreadable = [0u64; 3];
    for index in 0..count {
        let at = offset + index * place.stride;
        let Some(entry) = elf.symbol_entry(at) else {
            break;
        };
        let name = match &place.strings {
            Ok(strings) => strings.name(entry.name.into(), budget),
            Err(reason) => Name::Unknown(reason),
        };
        if let Name::Unknown(reason) = name {
            let kind = match reason {
                "name-outside-string-table" => 0,
                "name-not-terminated" => 1,
                _ => 2,
            };
            unreadable[kind] += 1;
        }
        symbols.rows.push(Symbol {
            table_index: place.section,
            entry_index: index,
            name,
            name_offset: Some(entry.name.into()),
            location: Range {
                offset: at,
                bytes: entry_size(elf.wide),
            },
            value: entry.value,
            meaning: elf.meaning(&entry),
            size: entry.size,
            binding: names::binding(entry.binding()),
            kind: names::symbol_type(entry.kind(), machine),
            visibility: Some(names::visibility(entry.other)),
            section_index: names::section_index(entry.section, machine),
        });
    }
    let [outside, open, _] = unreadable;
    if outside + open > 0 {
        notes.at(
            structure,
            offset,
            format!(
                "the names of {} cannot be read",
                crate::artifact::limitation::counted(outside + open, "symbol", "symbols")
            ),
        );
    }
    symbols.tables.push(Table {
        section: place.section,
        dynamic: place.dynamic,
        first,
        count: symbols.rows.len() - first,
        location: place.range,
        stride: place.stride,
        extended: place.extended,
    });
}

impl Symbols<'_> {
    /// The table that a section is, or the dynamic one where `section` is 0.
    pub(super) fn table(&self, section: u64) -> Option<&Table> {
        let at = self
            .tables
            .binary_search_by_key(&section, |table| table.section)
            .ok()?;
        self.tables.get(at)
    }

    /// The dynamic table.
    pub(super) fn dynamic(&self) -> Option<&Table> {
        self.tables.iter().find(|table| table.dynamic)
    }
}

impl<'a> Symbols<'a> {
    /// The rows of a table.
    pub(super) fn of(&self, table: &Table) -> &[Symbol<'a>] {
        let end = table.first.saturating_add(table.count);
        self.rows.get(table.first..end).unwrap_or_default()
    }

    /// A symbol of a table.
    pub(super) fn at(&self, table: &Table, index: u64) -> Option<&Symbol<'a>> {
        self.of(table).get(usize::try_from(index).ok()?)
    }
}

rows! {
    /// A row of `facts.elf.extended_section_indexes`
    struct ExtendedIndex {
        entry_index: Number,
        location: Range,
        section_index: Number,
        table_index: Number,
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
        for symbol in symbols.of(table) {
            let entry = elf.symbol_entry(symbol.location.offset);
            if entry.is_none_or(|entry| entry.section != SHN_XINDEX) {
                continue;
            }
            let place = table.extended.and_then(|range| {
                let at = symbol.entry_index.checked_mul(4)?;
                let end = at.checked_add(4)?;
                (end <= range.bytes).then_some(range.offset.checked_add(at)?)
            });
            match place.and_then(|at| Some((at, elf.bytes.u32(at)?))) {
                Some((offset, index)) => rows.push(ExtendedIndex {
                    entry_index: Number(symbol.entry_index),
                    location: Range { offset, bytes: 4 },
                    section_index: Number(index.into()),
                    table_index: Number(table.section),
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
        entry_index: Number,
        names: Vec<&'static str>,
        other: Number,
        table_index: Number,
    }
}

/// The symbols that have such bits.
pub(super) fn others(elf: &Elf<'_>, symbols: &Symbols<'_>) -> Vec<Other> {
    let rows = symbols.rows.iter().filter_map(|symbol| {
        let other = elf.symbol_entry(symbol.location.offset)?.other;
        (other & !3 != 0).then(|| Other {
            entry_index: Number(symbol.entry_index),
            names: names::symbol_other(other, elf.header.machine),
            other: Number(other.into()),
            table_index: Number(symbol.table_index),
        })
    });
    rows.collect()
}
