//! The COFF symbol table, its strings, and the relocations of objects ("PE
//! Format", sections "COFF Symbol Table", "COFF String Table", "COFF
//! Relocations").

use super::fields::{put, put_hex, put_name, put_number};
use super::image::Budget;
use super::names::{COMDAT, STORAGE_CLASSES, SYMBOL_TYPES, WEAK};
use super::relocation_names;
use super::sections::SectionHeader;
use crate::binary::layout::facts::RelocationType;
use crate::binary::layout::rows::{
    Name, Range, Relocation, Symbol, Symbolic, Target, ValueMeaning,
};
use crate::binary::{Bytes, Notes};
use crate::json::{WriteJson, Writer};
use std::collections::BTreeMap;

/// The table of strings behind the symbols: its size, then texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    /// Where it stands; 0: there is none.
    pub offset: u64,
    /// With the four bytes of its size.
    pub bytes: Bytes<'a>,
}

impl<'a> Strings<'a> {
    /// No strings.
    pub(super) fn none() -> Self {
        Self {
            offset: 0,
            bytes: Bytes::little(&[]),
        }
    }

    /// The table at `offset`, as far as the file has it.
    pub(super) fn read(bytes: Bytes<'a>, offset: u64, notes: &mut Notes) -> Self {
        let Some(size) = bytes.u32(offset).map(u64::from) else {
            if bytes.len() > offset {
                notes.at("table of strings", offset, "the file ends in its size");
            }
            return Self::none();
        };
        let data = bytes.up_to(offset, size);
        if (data.len() as u64) < size {
            notes.at(
                "table of strings",
                offset,
                format!(
                    "it has {size} bytes, and the file ends after {}",
                    data.len()
                ),
            );
        }
        Self {
            offset,
            bytes: Bytes::little(data),
        }
    }

    /// The text at an offset, which counts from the size on.
    pub(super) fn name(&self, offset: u64, budget: &mut Budget) -> Name<'a> {
        if budget.is_spent() {
            return Name::Unknown("name-budget-spent");
        }
        if offset < 4 || offset >= self.bytes.len() {
            return Name::Unknown("name-outside-string-table");
        }
        match self.bytes.string(offset) {
            Some(text) => {
                budget.text(text.len() as u64);
                Name::terminated(text, self.offset + offset)
            }
            None => {
                budget.text(self.bytes.len() - offset);
                Name::Unknown("name-without-end")
            }
        }
    }
}

/// Why an entry has no name.
pub(super) fn no_name(offset: u64, budget: &Budget) -> String {
    match budget.is_spent() {
        true => super::image::SPENT.to_owned(),
        false => format!("the table of strings has no text at {offset:#x}"),
    }
}

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

/// What stands in auxiliary records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Auxiliary<'a> {
    /// The symbol they belong to.
    pub symbol: u64,
    pub location: Range,
    pub kind: AuxiliaryKind<'a>,
}

/// The forms ("PE Format", section "Auxiliary Symbol Records").
#[derive(Clone, Copy, Debug)]
pub(super) enum AuxiliaryKind<'a> {
    /// Format 1.
    Function {
        tag: u32,
        size: u32,
        lines: u32,
        next: u32,
    },
    /// Format 2: `.bf` and `.ef`.
    BeginOrEnd { line: u16, next: u32 },
    /// Format 3.
    WeakExternal { tag: u32, characteristics: u32 },
    /// Format 4.
    File { name: &'a [u8] },
    /// Format 5.
    Section {
        length: u32,
        relocations: u16,
        lines: u16,
        checksum: u32,
        number: u32,
        selection: u8,
    },
    /// A token of managed code.
    Token { symbol: u32 },
    /// Another form; not taken apart.
    Other,
}

impl WriteJson for Auxiliary<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        // Members in canonical order, form by form.
        match self.kind {
            AuxiliaryKind::Function {
                tag,
                size,
                lines,
                next,
            } => {
                self.head(w, "function-definition");
                put_hex(w, "pointer_to_line_number", lines);
                put_number(w, "pointer_to_next_function", next);
                put_number(w, "symbol_index", self.symbol);
                put_number(w, "tag_index", tag);
                put_hex(w, "total_size", size);
            }
            AuxiliaryKind::BeginOrEnd { line, next } => {
                self.head(w, "begin-or-end-of-function");
                put_number(w, "line_number", line);
                self.at(w);
                put_number(w, "pointer_to_next_function", next);
                put_number(w, "symbol_index", self.symbol);
            }
            AuxiliaryKind::WeakExternal {
                tag,
                characteristics,
            } => {
                put(
                    w,
                    "characteristics",
                    &Symbolic::of(u64::from(characteristics), WEAK),
                );
                self.head(w, "weak-external");
                put_number(w, "symbol_index", self.symbol);
                put_number(w, "tag_index", tag);
            }
            AuxiliaryKind::File { name } => {
                self.head(w, "file");
                put_name(w, "name", Some(name));
                put_number(w, "symbol_index", self.symbol);
            }
            AuxiliaryKind::Section {
                length,
                relocations,
                lines,
                checksum,
                number,
                selection,
            } => {
                put_hex(w, "checksum", checksum);
                w.key("kind");
                w.string("section-definition");
                put_hex(w, "length", length);
                self.at(w);
                put_number(w, "number", number);
                put_number(w, "number_of_line_numbers", lines);
                put_number(w, "number_of_relocations", relocations);
                let selection = Symbolic::of(u64::from(selection), COMDAT);
                put(w, "selection", &selection);
                put_number(w, "symbol_index", self.symbol);
            }
            AuxiliaryKind::Token { symbol } => {
                self.head(w, "clr-token");
                put_number(w, "symbol_index", self.symbol);
                put_number(w, "symbol_table_index", symbol);
            }
            AuxiliaryKind::Other => {
                self.head(w, "other");
                put_number(w, "symbol_index", self.symbol);
            }
        }
        w.end_object();
    }
}

impl Auxiliary<'_> {
    fn head(&self, w: &mut Writer<'_>, kind: &str) {
        w.key("kind");
        w.string(kind);
        if !matches!(self.kind, AuxiliaryKind::BeginOrEnd { .. }) {
            self.at(w);
        }
    }

    fn at(&self, w: &mut Writer<'_>) {
        put(w, "location", &self.location);
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
    let mut auxiliary = Vec::new();
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
            auxiliary.extend(read_auxiliary(table, &symbol, at, there, notes));
        }
        index = index.saturating_add(more + 1);
        symbols.push(symbol);
    }
    (symbols, auxiliary)
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

fn read_auxiliary<'a>(
    table: &Table<'a>,
    symbol: &Symbol<'a>,
    at: u64,
    count: u64,
    notes: &mut Notes,
) -> Option<Auxiliary<'a>> {
    if count == 0 {
        return None;
    }
    let location = Range {
        offset: at + table.entry,
        bytes: count * table.entry,
    };
    let data = table.bytes.part(location.offset, location.bytes)?;
    let class = match symbol.binding {
        Symbolic::Named(name) => name,
        Symbolic::Number(_) => "",
    };
    let function = matches!(symbol.kind, Symbolic::Named("IMAGE_SYM_DTYPE_FUNCTION"));
    let kind = match class {
        "IMAGE_SYM_CLASS_FILE" => {
            let text = data.data();
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            AuxiliaryKind::File {
                name: text.get(..end)?,
            }
        }
        "IMAGE_SYM_CLASS_WEAK_EXTERNAL" => AuxiliaryKind::WeakExternal {
            tag: data.u32(0)?,
            characteristics: data.u32(4)?,
        },
        // GNU tools write weak symbols as external and undefined.
        "IMAGE_SYM_CLASS_EXTERNAL" if symbol.meaning == ValueMeaning::Undefined && !function => {
            AuxiliaryKind::WeakExternal {
                tag: data.u32(0)?,
                characteristics: data.u32(4)?,
            }
        }
        "IMAGE_SYM_CLASS_FUNCTION" => AuxiliaryKind::BeginOrEnd {
            line: data.u16(4)?,
            next: data.u32(12)?,
        },
        "IMAGE_SYM_CLASS_CLR_TOKEN" => AuxiliaryKind::Token {
            symbol: data.u32(2)?,
        },
        "IMAGE_SYM_CLASS_EXTERNAL" | "IMAGE_SYM_CLASS_STATIC" if function => {
            AuxiliaryKind::Function {
                tag: data.u32(0)?,
                size: data.u32(4)?,
                lines: data.u32(8)?,
                next: data.u32(12)?,
            }
        }
        "IMAGE_SYM_CLASS_STATIC" => AuxiliaryKind::Section {
            length: data.u32(0)?,
            relocations: data.u16(4)?,
            lines: data.u16(6)?,
            checksum: data.u32(8)?,
            number: u32::from(data.u16(12)?)
                | if table.entry == 20 {
                    u32::from(data.u16(16)?) << 16
                } else {
                    0
                },
            selection: data.u8(14)?,
        },
        _ => AuxiliaryKind::Other,
    };
    if count > 1 && !matches!(kind, AuxiliaryKind::File { .. } | AuxiliaryKind::Other) {
        notes.at(
            "auxiliary records",
            location.offset,
            "only the first of several is taken apart",
        );
    }
    Some(Auxiliary {
        symbol: symbol.entry_index,
        location,
        kind,
    })
}

/// Bytes of a relocation.
const RELOCATION: u64 = 10;

/// The relocations of a section, within the budget.
pub(super) fn relocations(
    bytes: Bytes<'_>,
    section: &SectionHeader<'_>,
    symbols: u64,
    out: &mut Vec<Relocation>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    let mut count = section.relocations;
    let start = section.relocations_at;
    let mut first = 0;
    // `IMAGE_SCN_LNK_NRELOC_OVFL`: the count, itself included, stands in the
    // first relocation.
    if section.flags & 0x0100_0000 != 0 && count == 0xFFFF {
        match bytes.u32(start) {
            Some(real) => {
                count = u64::from(real);
                first = 1;
            }
            None => notes.at("relocations", start, "the file ends before their number"),
        }
    }
    if count <= first {
        return;
    }
    let there = bytes.len().saturating_sub(start) / RELOCATION;
    if there < count {
        notes.at(
            "relocations",
            start,
            format!("there are {count}, and the file ends after {there} of them"),
        );
    }
    for index in first..count.min(there) {
        if !budget.bytes(RELOCATION) {
            notes.at("relocations", start, super::image::SPENT);
            return;
        }
        let at = start + index * RELOCATION;
        let (Some(offset), Some(symbol), Some(kind)) =
            (bytes.u32(at), bytes.u32(at + 4), bytes.u16(at + 8))
        else {
            return;
        };
        if u64::from(symbol) >= symbols {
            notes.at("relocations", at, format!("there is no symbol {symbol}"));
        }
        out.push(Relocation {
            section_index: section.number,
            entry_index: index,
            reported_offset: u64::from(offset),
            target: Target::SectionOffset {
                section: section.number,
                offset: u64::from(offset).wrapping_sub(section.rva),
            },
            location: Range {
                offset: at,
                bytes: RELOCATION,
            },
            kind: u64::from(kind),
            symbol_table_index: Some(0),
            symbol_index: u64::from(symbol),
            addend: None,
        });
    }
}

/// The types that occur.
pub(super) fn types(relocations: &[Relocation], machine: u16) -> Vec<RelocationType> {
    let mut counts = BTreeMap::new();
    for one in relocations {
        *counts.entry(one.kind).or_insert(0u64) += 1;
    }
    let names = relocation_names::of_machine(machine);
    let types = counts.into_iter().map(|(kind, count)| RelocationType {
        kind,
        name: Symbolic::of(kind, names),
        count,
    });
    types.collect()
}
