//! Relocations with entries of their own: REL and RELA (gABI ch. 4) and CREL.
//! Where no section tells them, the dynamic table does.

use super::crel::{COMPACT, Compact, crel};
use super::dynamic::{Dynamic, dt};
use super::fact::rows;
use super::names::{RelocationNames, em};
use super::packed::Packed;
use super::symbols::{ET_REL, Symbols};
use super::tables::{SHF_ALLOC, inside, sht};
use super::{Budget, Elf, REPEATED};
use crate::binary::layout::facts::RelocationType;
use crate::binary::layout::rows::{Range, Relocation, Symbolic, Target};
use crate::binary::{Bytes, Notes};

/// How a table of relocations is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Rel,
    Rela,
    Crel,
    Relr,
    /// Android's `APS2`, as RELA or as REL.
    Android {
        addends: bool,
    },
}

/// A table that is to be read.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub form: Form,
    /// Its section; 0 where the dynamic table tells it.
    pub section: u64,
    pub range: Range,
    pub stride: u64,
    /// The section that is its table of symbols.
    pub symbols: Option<u64>,
    /// The section it applies to, where that matters.
    pub applies_to: u64,
    pub structure: String,
}

/// How the places of a table's relocations are told.
#[derive(Clone, Copy, Debug)]
enum Applies {
    /// By address.
    Address,
    /// By their offset in a section.
    Section(u64),
    /// To a section that cannot be told.
    Unknown(u64, &'static str),
}

impl Applies {
    fn target(self, offset: u64) -> Target {
        match self {
            Self::Address => Target::Address(offset),
            Self::Section(section) => Target::SectionOffset { section, offset },
            Self::Unknown(reported, reason) => Target::UnknownSection { reported, reason },
        }
    }
}

/// A table that was read.
#[derive(Debug)]
pub(super) struct Piece {
    /// The place of its first row among all rows.
    first: usize,
    count: usize,
    section: u64,
    offset: u64,
    stride: u64,
    pub addends: bool,
    symbols: Option<u64>,
    applies: Applies,
    compact: Option<Vec<Compact>>,
}

/// The rows of all tables, read from the file when they are asked for.
#[derive(Debug)]
pub(crate) struct RelocationRows<'a> {
    bytes: Bytes<'a>,
    wide: bool,
    machine: u16,
    pub(super) pieces: Vec<Piece>,
    count: usize,
    /// Compact relocations that may still be kept.
    pub(super) left: usize,
}

impl<'a> RelocationRows<'a> {
    fn new(elf: &Elf<'a>) -> Self {
        Self {
            bytes: elf.bytes,
            wide: elf.wide,
            machine: elf.header.machine,
            pieces: Vec::new(),
            count: 0,
            left: COMPACT,
        }
    }

    /// How many rows all tables have.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The row at a place.
    pub(crate) fn get(&self, at: usize) -> Option<Relocation> {
        let after = self.pieces.partition_point(|piece| piece.first <= at);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        self.row(piece, at - piece.first)
    }

    /// All rows, in the order in which they were read.
    pub(super) fn iter(&self) -> impl Iterator<Item = Relocation> {
        self.pieces
            .iter()
            .flat_map(|piece| (0..piece.count).filter_map(|index| self.row(piece, index)))
    }

    fn row(&self, piece: &Piece, index: usize) -> Option<Relocation> {
        let row = Relocation {
            section_index: piece.section,
            entry_index: index as u64,
            reported_offset: 0,
            target: Target::Address(0),
            location: Range::default(),
            kind: 0,
            symbol_table_index: piece.symbols,
            symbol_index: 0,
            addend: None,
        };
        if let Some(compact) = &piece.compact {
            let found = compact.get(index)?;
            return Some(Relocation {
                reported_offset: found.offset,
                target: piece.applies.target(found.offset),
                location: Range {
                    offset: piece.offset + u64::from(found.at),
                    bytes: found.bytes.into(),
                },
                kind: found.kind.into(),
                symbol_index: found.symbol.into(),
                addend: piece.addends.then_some(found.addend),
                ..row
            });
        }
        let word = if self.wide { 8 } else { 4 };
        let at = piece.offset + index as u64 * piece.stride;
        let offset = self.bytes.word(at, self.wide)?;
        let raw = self.bytes.word(at + word, self.wide)?;
        let addend = match (piece.addends, self.wide) {
            (false, _) => None,
            (true, true) => Some(self.bytes.i64(at + 2 * word)?),
            (true, false) => Some(self.bytes.i32(at + 2 * word)?.into()),
        };
        let (symbol_index, kind) = self.info(raw);
        Some(Relocation {
            reported_offset: offset,
            target: piece.applies.target(offset),
            location: Range {
                offset: at,
                bytes: word * if piece.addends { 3 } else { 2 },
            },
            kind,
            symbol_index,
            addend,
            ..row
        })
    }

    /// The symbol and the type in `r_info`.
    fn info(&self, info: u64) -> (u64, u64) {
        if !self.wide {
            return (info >> 8, info & 0xFF);
        }
        let little = self.bytes.order() == crate::binary::ByteOrder::Little;
        if little && matches!(self.machine, em::MIPS | em::MIPS_RS3_LE) {
            // The symbol stands first; then, byte by byte, a special symbol
            // and the third, second and first type.
            let types = ((info >> 32) as u32).swap_bytes();
            return (info & 0xFFFF_FFFF, types.into());
        }
        (info >> 32, info & 0xFFFF_FFFF)
    }

    pub(super) fn add(
        &mut self,
        elf: &Elf<'_>,
        place: &Place,
        count: usize,
        compact: Option<Vec<Compact>>,
    ) {
        self.pieces.push(Piece {
            first: self.count,
            count,
            section: place.section,
            offset: place.range.offset,
            stride: place.stride,
            addends: place.form == Form::Rela,
            symbols: place.symbols,
            applies: applies(elf, place),
            compact,
        });
        self.count += count;
    }
}

/// All of them.
pub(super) struct Relocations<'a> {
    pub rows: RelocationRows<'a>,
    pub packed: Packed<'a>,
    /// Tables by section, for what is to be told of them.
    pub places: Vec<Place>,
}

/// Reads all tables.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    symbols: &Symbols<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Relocations<'a> {
    let mut places = of_sections(elf, notes);
    let loaded = |place: &Place| {
        let section = elf.section(place.section);
        section.is_some_and(|one| one.flags & SHF_ALLOC != 0)
    };
    if !places.iter().any(loaded) {
        places.extend(of_dynamic(elf, dynamic, symbols, notes));
    }
    let mut found = Relocations {
        rows: RelocationRows::new(elf),
        packed: Packed::default(),
        places: Vec::new(),
    };
    for place in &places {
        let Range { offset, bytes } = place.range;
        if !inside(offset, bytes, elf.bytes.len()) {
            notes.at(
                &*place.structure,
                offset,
                format!("its {bytes:#x} bytes are not all in the file"),
            );
        }
        let data = elf.bytes.up_to(offset, bytes);
        if data.is_empty() {
            continue;
        }
        if !budget.table(data.len() as u64) {
            notes.at(&*place.structure, offset, REPEATED);
            continue;
        }
        match place.form {
            Form::Rel | Form::Rela => plain(elf, place, &mut found.rows, notes),
            Form::Crel => crel(elf, place, data, &mut found.rows, notes),
            Form::Relr => found.packed.relr(elf, place, data, budget, notes),
            Form::Android { addends } => {
                found
                    .packed
                    .android(elf, place, data, addends, budget, notes);
            }
        }
    }
    check_symbols(elf, symbols, &found.rows, &places, notes);
    found.places = places;
    found
}

fn of_sections(elf: &Elf<'_>, notes: &mut Notes) -> Vec<Place> {
    let mut places = Vec::new();
    for (index, header) in elf.sections.iter().enumerate() {
        let form = match header.kind {
            sht::REL => Form::Rel,
            sht::RELA => Form::Rela,
            sht::CREL | sht::LLVM_CREL => Form::Crel,
            sht::RELR | sht::ANDROID_RELR => Form::Relr,
            sht::AARCH64_AUTH_RELR if elf.header.machine == em::AARCH64 => Form::Relr,
            sht::ANDROID_REL => Form::Android { addends: false },
            sht::ANDROID_RELA => Form::Android { addends: true },
            _ => continue,
        };
        let structure = elf.section_text(index);
        let least = entry_size(elf, form);
        let mut stride = header.entry_size;
        if matches!(form, Form::Rel | Form::Rela) && stride < least {
            if header.size > 0 {
                notes.at(
                    &*structure,
                    header.at,
                    format!("its entries have {stride} bytes, and a relocation has {least}"),
                );
            }
            stride = least;
        }
        let linked = elf.section(header.link.into());
        let symbols = match linked {
            Some(linked) if matches!(linked.kind, sht::SYMTAB | sht::DYNSYM) => {
                Some(u64::from(header.link))
            }
            _ => {
                if header.link != 0 && form != Form::Relr {
                    let link = header.link;
                    notes.at(
                        &*structure,
                        header.at,
                        format!(
                            "section {link}, which it names for symbols, is no table of symbols"
                        ),
                    );
                }
                None
            }
        };
        places.push(Place {
            form,
            section: index as u64,
            range: header.range(),
            stride,
            symbols,
            applies_to: header.info.into(),
            structure,
        });
    }
    places
}

fn of_dynamic(
    elf: &Elf<'_>,
    dynamic: &Dynamic<'_>,
    symbols: &Symbols<'_>,
    notes: &mut Notes,
) -> Vec<Place> {
    let table = symbols.dynamic().map(|table| table.section);
    let plt = match dynamic.value(dt::PLTREL) {
        Some(dt::REL) => Form::Rel,
        _ => Form::Rela,
    };
    let tables = [
        ("DT_REL", dt::REL, dt::RELSZ, Form::Rel),
        ("DT_RELA", dt::RELA, dt::RELASZ, Form::Rela),
        ("DT_JMPREL", dt::JMPREL, dt::PLTRELSZ, plt),
        ("DT_RELR", dt::RELR, dt::RELRSZ, Form::Relr),
        (
            "DT_ANDROID_RELR",
            dt::ANDROID_RELR,
            dt::ANDROID_RELRSZ,
            Form::Relr,
        ),
        (
            "DT_ANDROID_REL",
            dt::ANDROID_REL,
            dt::ANDROID_RELSZ,
            Form::Android { addends: false },
        ),
        (
            "DT_ANDROID_RELA",
            dt::ANDROID_RELA,
            dt::ANDROID_RELASZ,
            Form::Android { addends: true },
        ),
        ("DT_CREL", dt::CREL, 0, Form::Crel),
    ];
    let mut places: Vec<Place> = Vec::new();
    for (name, tag, size, form) in tables {
        let Some(address) = dynamic.value(tag) else {
            continue;
        };
        let Some((offset, available)) = elf.mapped(address) else {
            notes.add(crate::binary::Note {
                structure: name.to_owned(),
                offset: None,
                reason: format!("no segment holds the address {address:#x}"),
            });
            continue;
        };
        // A compact table tells its own count.
        let bytes = match form {
            Form::Crel => available,
            _ => dynamic.value(size).unwrap_or(0),
        };
        // On some machines the table of stubs is the end of the other.
        let within = |place: &Place| {
            place.form == form
                && offset >= place.range.offset
                && offset.saturating_add(bytes)
                    <= place.range.offset.saturating_add(place.range.bytes)
        };
        if tag == dt::JMPREL && places.iter().any(within) {
            continue;
        }
        places.push(Place {
            form,
            section: 0,
            range: Range { offset, bytes },
            stride: entry_size(elf, form),
            symbols: table,
            applies_to: 0,
            structure: name.to_owned(),
        });
    }
    places
}

/// Bytes of an entry; of a word for those without.
fn entry_size(elf: &Elf<'_>, form: Form) -> u64 {
    match form {
        Form::Rel => 2 * elf.word(),
        Form::Rela => 3 * elf.word(),
        _ => elf.word(),
    }
}

fn applies(elf: &Elf<'_>, place: &Place) -> Applies {
    if elf.header.kind != ET_REL {
        return Applies::Address;
    }
    let section = place.applies_to;
    match elf.section(section) {
        _ if section == 0 => Applies::Unknown(section, "undefined-section-reference"),
        None => Applies::Unknown(section, "section-index-outside-table"),
        Some(header) if header.kind == sht::NULL => {
            Applies::Unknown(section, "inactive-section-header")
        }
        Some(_) => Applies::Section(section),
    }
}

fn plain(elf: &Elf<'_>, place: &Place, rows: &mut RelocationRows<'_>, notes: &mut Notes) {
    let size = entry_size(elf, place.form);
    let available = elf.bytes.up_to(place.range.offset, place.range.bytes).len() as u64;
    let mut count = available / place.stride;
    if available % place.stride >= size {
        count += 1;
    }
    if available == place.range.bytes && !available.is_multiple_of(place.stride) {
        notes.at(
            &*place.structure,
            place.range.offset,
            format!("its {available} bytes are no multiple of {}", place.stride),
        );
    }
    rows.add(elf, place, usize::try_from(count).unwrap_or(0), None);
}

/// Says which tables name symbols that are not there.
fn check_symbols(
    elf: &Elf<'_>,
    symbols: &Symbols<'_>,
    rows: &RelocationRows<'_>,
    places: &[Place],
    notes: &mut Notes,
) {
    let mut rows = rows.iter().peekable();
    for place in places {
        let table = place.symbols.and_then(|section| symbols.table(section));
        let count = table.map_or(0, |table| table.count as u64);
        let mut wrong = 0u64;
        while let Some(row) = rows.next_if(|row| {
            row.section_index == place.section
                && row.location.offset >= place.range.offset
                && row.location.offset - place.range.offset < place.range.bytes
        }) {
            if row.symbol_index > 0 && row.symbol_index >= count {
                wrong += 1;
            }
        }
        if wrong > 0 {
            let what = crate::artifact::limitation::counted(
                wrong,
                "relocation names a symbol",
                "relocations name symbols",
            );
            notes.at(
                &*place.structure,
                place.range.offset,
                format!("{what} that its table of symbols does not have"),
            );
        }
        let outside = place.applies_to >= elf.sections.len() as u64;
        if elf.header.kind == ET_REL && outside && place.range.bytes > 0 {
            notes.at(
                &*place.structure,
                place.range.offset,
                format!(
                    "there is no section {}, to which it applies",
                    place.applies_to
                ),
            );
        }
    }
}

/// The types that occur, with their names.
pub(super) fn types(names: &RelocationNames, found: &Relocations<'_>) -> Vec<RelocationType> {
    let mut counts = std::collections::BTreeMap::new();
    for row in found.rows.iter() {
        *counts.entry(row.kind).or_insert(0u64) += 1;
    }
    for row in found.packed.rows() {
        *counts.entry(row.kind).or_insert(0) += 1;
    }
    let rows = counts.into_iter().map(|(kind, count)| RelocationType {
        kind,
        name: names.name(kind),
        count,
    });
    rows.collect()
}

rows! {
    /// A row of `facts.elf.composed_relocation_types`
    struct Composed {
        names: Vec<Symbolic>,
        special_symbol: u64,
        kind as "type": u64,
    }
}

/// The types of 64-bit MIPS that consist of several.
pub(super) fn composed(names: &RelocationNames, types: &[RelocationType]) -> Vec<Composed> {
    let several = types.iter().filter_map(|one| {
        let parts = names.parts(one.kind)?;
        (one.kind > 0xFF).then(|| Composed {
            names: parts.map(|part| names.part(part)).to_vec(),
            special_symbol: one.kind >> 24,
            kind: one.kind,
        })
    });
    several.collect()
}
