//! Versions of symbols: `.gnu.version`, `.gnu.version_d`, `.gnu.version_r`
//! (Linux Standard Base, "Symbol Versioning").

use super::dynamic::{Dynamic, dt};
use super::fact::{Text, rows};
use super::names::bits;
use super::strings::Strings;
use super::symbols::Symbols;
use super::tables::sht;
use super::{Budget, Elf, REPEATED};
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes};

rows! {
    /// A row of `facts.elf.version_definitions`
    struct Definition<'a> {
        flag_names: Vec<&'static str>,
        flags: u64,
        hash: Hex,
        index: u64,
        location: Range,
        name: Option<Text<'a>>,
        parents: Vec<Text<'a>>,
        revision: u64,
    }

    /// A version of a library that is needed.
    struct Needed<'a> {
        flag_names: Vec<&'static str>,
        flags: u64,
        hash: Hex,
        index: u64,
        location: Range,
        name: Option<Text<'a>>,
    }

    /// A row of `facts.elf.version_needs`
    struct Need<'a> {
        library: Option<Text<'a>>,
        location: Range,
        revision: u64,
        versions: Vec<Needed<'a>>,
    }

    /// `facts.elf.symbol_versions`: the number of each symbol of the dynamic
    /// table as it stands; 0 is local, 1 global, the uppermost bit hides it.
    struct SymbolVersions {
        indexes: Indexes,
        location: Range,
        section_index: Option<u64>,
        table_index: u64,
    }
}

/// Numbers of versions, one a symbol.
#[derive(Clone, Debug, Default)]
pub(super) struct Indexes(pub Vec<u16>);

impl crate::json::WriteJson for Indexes {
    fn write_json(&self, w: &mut crate::json::Writer<'_>) {
        w.begin_array();
        for &index in &self.0 {
            w.u64(index.into());
        }
        w.end_array();
    }
}

const FLAGS: &[(u64, &str)] = &[
    (1, "VER_FLG_BASE"),
    (2, "VER_FLG_WEAK"),
    (4, "VER_FLG_INFO"),
];

/// What a number stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    pub name: &'a [u8],
    /// The library that must offer it; `None` where the file defines it.
    pub library: Option<&'a [u8]>,
}

/// All that is said of versions.
#[derive(Default)]
pub(super) struct Versions<'a> {
    pub definitions: Vec<Definition<'a>>,
    pub needs: Vec<Need<'a>>,
    pub symbols: Option<SymbolVersions>,
    by_index: Vec<Option<Version<'a>>>,
}

/// The bit of a number that hides a symbol from links without a version.
const HIDDEN: u16 = 0x8000;

impl<'a> Versions<'a> {
    /// The version of a symbol of the dynamic table, and whether it is hidden.
    pub(super) fn of(&self, symbol: u64) -> Option<(Version<'a>, bool)> {
        let indexes = &self.symbols.as_ref()?.indexes.0;
        let raw = *indexes.get(usize::try_from(symbol).ok()?)?;
        let index = usize::from(raw & !HIDDEN);
        if index < 2 {
            return None;
        }
        let version = (*self.by_index.get(index)?)?;
        Some((version, raw & HIDDEN != 0))
    }

    fn set(&mut self, index: u16, version: Version<'a>) {
        let index = usize::from(index & !HIDDEN);
        if self.by_index.len() <= index {
            self.by_index.resize(index + 1, None);
        }
        if let Some(place @ None) = self.by_index.get_mut(index) {
            *place = Some(version);
        }
    }
}

/// A table of versions: its bytes, where they stand, how many entries the
/// headers tell, its strings.
struct Place<'a> {
    structure: String,
    range: Range,
    count: u64,
    strings: Option<Strings<'a>>,
    section: Option<u64>,
}

fn place<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    (kind, tag, count): (u32, u64, u64),
    name: &str,
) -> Option<Place<'a>> {
    let found = elf.sections.iter().enumerate();
    let mut found = found.filter(|(_, one)| one.kind == kind);
    if let Some((index, header)) = found.next() {
        let linked = elf.section(header.link.into());
        return Some(Place {
            structure: elf.section_text(index),
            range: header.range(),
            count: header.info.into(),
            strings: linked
                .filter(|linked| linked.kind == sht::STRTAB)
                .map(|linked| elf.strings_of(linked)),
            section: Some(index as u64),
        });
    }
    let (offset, available) = elf.mapped(dynamic.value(tag)?)?;
    Some(Place {
        structure: name.to_owned(),
        range: Range {
            offset,
            bytes: available,
        },
        count: dynamic.value(count).unwrap_or(u64::MAX),
        strings: dynamic.strings,
        section: None,
    })
}

/// Reads the three tables.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    symbols: &Symbols<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Versions<'a> {
    let mut versions = Versions::default();
    let definitions = (sht::GNU_VERDEF, dt::VERDEF, dt::VERDEFNUM);
    if let Some(place) = place(elf, dynamic, definitions, "DT_VERDEF") {
        read_definitions(elf, &place, &mut versions, budget, notes);
    }
    let needs = (sht::GNU_VERNEED, dt::VERNEED, dt::VERNEEDNUM);
    if let Some(place) = place(elf, dynamic, needs, "DT_VERNEED") {
        read_needs(elf, &place, &mut versions, budget, notes);
    }
    let numbers = (sht::GNU_VERSYM, dt::VERSYM, 0);
    if let Some(table) = symbols.dynamic()
        && let Some(place) = place(elf, dynamic, numbers, "DT_VERSYM")
    {
        let wanted = (table.count as u64).saturating_mul(2);
        let bytes = match place.section {
            Some(_) => place.range.bytes,
            None => place.range.bytes.min(wanted),
        };
        let range = Range {
            offset: place.range.offset,
            bytes,
        };
        let data = elf.bytes.up_to(range.offset, range.bytes);
        if (data.len() as u64) < wanted {
            notes.at(
                &*place.structure,
                range.offset,
                format!(
                    "it has {} versions for {} symbols",
                    data.len() / 2,
                    table.count
                ),
            );
        }
        if budget.table(data.len() as u64) {
            let read = Bytes::new(data, elf.bytes.order());
            let indexes = (0..data.len() as u64 / 2).filter_map(|at| read.u16(2 * at));
            versions.symbols = Some(SymbolVersions {
                indexes: Indexes(indexes.collect()),
                location: range,
                section_index: place.section,
                table_index: table.section,
            });
        } else {
            notes.at(&*place.structure, range.offset, REPEATED);
        }
    }
    versions
}

fn text<'a>(place: &Place<'a>, at: u32, budget: &mut Budget) -> Option<Text<'a>> {
    place.strings.as_ref()?.text(at.into(), budget).map(Text)
}

const CUT: &str = "an entry leads out of it";

/// Goes from entry to entry: `each` reads the one at an offset and tells how
/// far it is to the next, which may be a lie; zero is the end, `None` an entry
/// that is not there. No more than `most` are read. Whether the end was found.
fn linked(start: u64, most: u64, mut each: impl FnMut(u64) -> Option<u64>) -> bool {
    let mut at = start;
    for _ in 0..most {
        match each(at) {
            None => return false,
            Some(0) => return true,
            Some(distance) => at = at.saturating_add(distance),
        }
    }
    true
}

/// `Elf_Verdef` and its `Elf_Verdaux`.
fn read_definitions<'a>(
    elf: &Elf<'a>,
    place: &Place<'a>,
    versions: &mut Versions<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    let data = elf.bytes.up_to(place.range.offset, place.range.bytes);
    let bytes = Bytes::new(data, elf.bytes.order());
    let whole = linked(0, place.count.min(bytes.len() / 20 + 1), |at| {
        bytes.get(at, 20)?;
        let (revision, flags) = (bytes.u16(at)?, bytes.u16(at + 2)?);
        let (index, count) = (bytes.u16(at + 4)?, bytes.u16(at + 6)?);
        let (hash, first) = (bytes.u32(at + 8)?, bytes.u32(at + 12)?);
        let next = bytes.u32(at + 16)?;
        let mut found = Vec::new();
        let names = linked(at + u64::from(first), count.into(), |at| {
            let entry = bytes.u32(at).zip(bytes.u32(at + 4));
            let (name, distance) = entry.filter(|_| budget.table(8))?;
            found.push(text(place, name, budget));
            Some(distance.into())
        });
        if !names {
            notes.at(&*place.structure, place.range.offset + at, CUT);
        }
        let mut found = found.into_iter();
        let name = found.next().flatten();
        if let Some(Text(name)) = name {
            let version = Version {
                name,
                library: None,
            };
            versions.set(index, version);
        }
        versions.definitions.push(Definition {
            flag_names: bits(flags.into(), FLAGS),
            flags: flags.into(),
            hash: Hex(hash.into()),
            index: index.into(),
            location: Range {
                offset: place.range.offset + at,
                bytes: 20,
            },
            name,
            parents: found.flatten().collect(),
            revision: revision.into(),
        });
        let goes_on = next != 0 && budget.table(20);
        Some(if goes_on { next.into() } else { 0 })
    });
    if !whole {
        notes.at(&*place.structure, place.range.offset, CUT);
    }
}

/// `Elf_Verneed` and its `Elf_Vernaux`.
fn read_needs<'a>(
    elf: &Elf<'a>,
    place: &Place<'a>,
    versions: &mut Versions<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    let data = elf.bytes.up_to(place.range.offset, place.range.bytes);
    let bytes = Bytes::new(data, elf.bytes.order());
    let whole = linked(0, place.count.min(bytes.len() / 16 + 1), |at| {
        bytes.get(at, 16)?;
        let (revision, count) = (bytes.u16(at)?, bytes.u16(at + 2)?);
        let (file, first) = (bytes.u32(at + 4)?, bytes.u32(at + 8)?);
        let next = bytes.u32(at + 12)?;
        let library = text(place, file, budget);
        let mut found = Vec::new();
        let names = linked(at + u64::from(first), count.into(), |at| {
            bytes.get(at, 16).filter(|_| budget.table(16))?;
            let (hash, flags) = (bytes.u32(at)?, bytes.u16(at + 4)?);
            let (index, name) = (bytes.u16(at + 6)?, bytes.u32(at + 8)?);
            let distance = bytes.u32(at + 12)?;
            let name = text(place, name, budget);
            if let (Some(Text(name)), Some(Text(library))) = (name, library) {
                let library = Some(library);
                versions.set(index, Version { name, library });
            }
            found.push(Needed {
                flag_names: bits(flags.into(), FLAGS),
                flags: flags.into(),
                hash: Hex(hash.into()),
                index: index.into(),
                location: Range {
                    offset: place.range.offset + at,
                    bytes: 16,
                },
                name,
            });
            Some(distance.into())
        });
        if !names {
            notes.at(&*place.structure, place.range.offset + at, CUT);
        }
        versions.needs.push(Need {
            library,
            location: Range {
                offset: place.range.offset + at,
                bytes: 16,
            },
            revision: revision.into(),
            versions: found,
        });
        let goes_on = next != 0 && budget.table(16);
        Some(if goes_on { next.into() } else { 0 })
    });
    if !whole {
        notes.at(&*place.structure, place.range.offset, CUT);
    }
}
