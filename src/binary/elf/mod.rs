//! ELF: every class, byte order, machine and type of file, from the System V
//! gABI and its supplements. One file a structure.
//!
//! Only a file without the magic number or with a cut header is refused.
//! Where the table of sections is lost or lies, the program headers and the
//! dynamic table carry the file, as they do for the loader.

mod attributes;
mod crel;
mod debug;
mod dynamic;
mod entries;
mod exports;
mod fact;
mod flags;
mod fortify;
mod hash;
mod header;
mod indicators;
mod linkage;
mod mitigations;
mod names;
mod notes;
mod overlay;
mod packed;
mod plt;
mod properties;
mod relocations;
mod strings;
mod symbol_tables;
mod symbols;
mod tables;
mod unwind;
mod versions;

use super::layout::facts::{Facts, Mapping, Part};
use super::layout::rows::Symbolic;
use super::layout::{
    self, EntryMeaning, Format, Layout, Linkage, Refusal, RelocationReader, SymbolReader,
};
use super::{Bytes, Notes};
use header::Header;
use names::MACHINES;
pub(crate) use relocations::RelocationRows;
use std::sync::Arc;
use strings::{Budget, Strings};
use symbols::ET_REL;
pub(crate) use symbols::Symbols;
use tables::{SectionHeader, SegmentHeader, pt};

/// Said of a table whose bytes other tables have used up.
const REPEATED: &str = "the tables of this file share their bytes; this one was not read again";

/// What the header and the two tables of the file say.
#[derive(Debug)]
struct Elf<'a> {
    /// The whole file.
    bytes: Bytes<'a>,
    /// Whether it is of 64 bits.
    wide: bool,
    header: Header,
    sections: Vec<SectionHeader>,
    segments: Vec<SegmentHeader>,
    /// How many sections and segments there should be.
    section_count: u64,
    segment_count: u64,
    /// The section that holds the names of sections.
    names_section: u64,
    /// The names of sections; empty where unknown.
    section_names: Vec<&'a [u8]>,
    /// Segments that hold bytes of the file, by address.
    loads: Vec<Load>,
}

/// A `PT_LOAD` with bytes in the file.
#[derive(Clone, Copy, Debug)]
struct Load {
    address: u64,
    offset: u64,
    /// Bytes that the file really has.
    size: u64,
}

/// Overlapping segments that are looked at for one address.
const OVERLAPS: usize = 16;

impl<'a> Elf<'a> {
    /// The header of a section.
    fn section(&self, index: u64) -> Option<&SectionHeader> {
        self.sections.get(usize::try_from(index).ok()?)
    }

    /// The name of a section; empty where unknown.
    fn section_name(&self, index: usize) -> &'a [u8] {
        self.section_names.get(index).copied().unwrap_or_default()
    }

    /// The first section of that name, with its index.
    fn named(&self, name: &[u8]) -> Option<(usize, &SectionHeader)> {
        let index = self.section_names.iter().position(|&one| one == name)?;
        Some((index, self.sections.get(index)?))
    }

    /// What to call a section in a limitation.
    fn section_text(&self, index: usize) -> String {
        match self.section_name(index) {
            b"" => format!("section {index}"),
            name => format!("section {index} {}", super::name_text(name)),
        }
    }

    /// The bytes of a section that the file has.
    fn section_bytes(&self, header: &SectionHeader) -> &'a [u8] {
        match header.in_file() {
            true => self.bytes.up_to(header.offset, header.size),
            false => &[],
        }
    }

    /// The table of strings that a section is.
    fn strings_of(&self, header: &SectionHeader) -> Strings<'a> {
        Strings::new(self.section_bytes(header), header.offset)
    }

    /// Where the byte at a linked address stands in the file, and how many
    /// follow it there.
    fn mapped(&self, address: u64) -> Option<(u64, u64)> {
        let end = self.loads.partition_point(|load| load.address <= address);
        let before = self.loads.get(..end)?;
        before.iter().rev().take(OVERLAPS).find_map(|load| {
            let inside = address - load.address;
            (inside < load.size).then(|| (load.offset + inside, load.size - inside))
        })
    }

    /// Where the byte at a linked address stands in the file.
    fn offset_of(&self, address: u64) -> Option<u64> {
        self.mapped(address).map(|(offset, _)| offset)
    }

    /// Bytes of an address or word.
    fn word(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }
}

fn loads(segments: &[SegmentHeader], bytes: Bytes<'_>) -> Vec<Load> {
    let mut loads: Vec<Load> = segments
        .iter()
        .filter(|one| one.kind == pt::LOAD)
        .map(|one| Load {
            address: one.virtual_address,
            offset: one.offset,
            size: bytes.up_to(one.offset, one.file_size).len() as u64,
        })
        .filter(|load| load.size > 0)
        .collect();
    loads.sort_by_key(|load| load.address);
    loads
}

/// Takes a file apart.
///
/// # Errors
/// [`Refusal::Format`] without the magic number, [`Refusal::Header`] where the
/// header is cut or its class or byte order is none.
pub fn parse(bytes: &[u8]) -> Result<Layout<'_>, Refusal> {
    let (header, bytes, wide) = Header::read(bytes)?;
    let mut notes = Notes::default();
    let mut budget = Budget::new(bytes.len());
    let zero = tables::section_zero(&header, bytes, wide);
    let section_count = header.section_count(zero);
    let segment_count = header.segment_count(zero);
    let mut elf = Elf {
        bytes,
        wide,
        header,
        sections: tables::sections(&header, section_count, bytes, wide, &mut notes),
        segments: tables::segments(&header, segment_count, bytes, wide, &mut notes),
        section_count,
        segment_count,
        names_section: header.names_section(zero),
        section_names: Vec::new(),
        loads: Vec::new(),
    };
    elf.loads = loads(&elf.segments, bytes);
    let sections = tables::section_rows(&elf, &mut budget, &mut notes);
    elf.section_names = sections.iter().map(|one| one.name.bytes()).collect();
    let segments = tables::segment_rows(&elf, &mut notes);
    let dynamic = dynamic::read(&elf, &mut budget, &mut notes);
    let symbols = Arc::new(symbol_tables::read(&elf, &dynamic, &mut budget, &mut notes));
    let relocations = relocations::read(&elf, &dynamic, &symbols, &mut budget, &mut notes);
    let relocation_names = names::RelocationNames::of(header.machine, wide);
    let maps = plt::read(&elf, &dynamic, &symbols, &relocations.rows);
    let linkage = Linkage {
        got: maps.got,
        plt: maps.plt,
        ..linkage::read(&elf, &dynamic, &mut budget, &mut notes)
    };
    let indicators = indicators::read(&elf, &dynamic, &symbols, &linkage);
    let versions = versions::read(&elf, &dynamic, &symbols, &mut budget, &mut notes);
    let found = notes::read(&elf, &mut budget, &mut notes);
    let basis = mitigations::Basis {
        elf: &elf,
        dynamic: &dynamic,
        symbols: &symbols,
        indicators,
        features: found.features,
    };
    let mitigations = mitigations::rows(&basis);
    let (exports, imports, all) = exports::read(
        &elf,
        &symbols,
        &versions,
        &relocations.rows,
        &relocation_names,
        &mut notes,
    );
    let mut build_ids = found.build_ids;
    let (debug_link, alt_link) = debug::links(&elf, &mut build_ids, &mut notes);
    let exhaustive = all && exports::exhaustive(&elf, &dynamic, &symbols);
    let relocation_types = relocations::types(&relocation_names, &relocations);
    let index = unwind::index(&elf, &mut notes);
    let frames = unwind::frames(&elf, index.as_ref(), &mut notes);
    let entry_points = entries::read(
        &elf,
        &dynamic,
        &symbols,
        &relocations,
        &relocation_names,
        &mut notes,
    );
    let own: Vec<(&'static str, Part<'_>)> = vec![
        ("android_relocations", Box::new(relocations.packed.android)),
        (
            "attributes",
            Box::new(attributes::read(&elf, &mut budget, &mut notes)),
        ),
        (
            "comments",
            Box::new(debug::comments(&elf, &mut budget, &mut notes)),
        ),
        (
            "composed_relocation_types",
            Box::new(relocations::composed(&relocation_names, &relocation_types)),
        ),
        (
            "compressed_sections",
            Box::new(debug::compressed(&elf, &mut notes)),
        ),
        ("debug_alt_link", Box::new(alt_link)),
        ("debug_link", Box::new(debug_link)),
        ("dwarf", Box::new(debug::dwarf(&elf))),
        (
            "dynamic",
            Box::new(dynamic::facts(&elf, &dynamic, &mut budget)),
        ),
        ("eh_frame", Box::new(frames)),
        ("eh_frame_hdr", Box::new(index)),
        (
            "extended_section_indexes",
            Box::new(symbols::extended_indexes(&elf, &symbols, &mut notes)),
        ),
        ("go_build_info", Box::new(debug::go_build_info(&elf))),
        (
            "groups",
            Box::new(debug::groups(&elf, &symbols, &mut budget, &mut notes)),
        ),
        (
            "hash_tables",
            Box::new(hash::facts(&elf, &dynamic, &mut notes)),
        ),
        ("header", Box::new(header::fact(&elf))),
        (
            "ifunc_resolvers",
            Box::new(entries::resolvers(
                &elf,
                &symbols,
                &relocations.rows,
                &relocation_names,
                &mut notes,
            )),
        ),
        ("mips_abi_flags", Box::new(attributes::mips_abi_flags(&elf))),
        ("notes", Box::new(found.rows)),
        (
            "symbol_other",
            Box::new(symbols::Others(Arc::clone(&symbols))),
        ),
        ("symbol_versions", Box::new(versions.symbols)),
        ("version_definitions", Box::new(versions.definitions)),
        ("version_needs", Box::new(versions.needs)),
    ];
    let facts = Facts {
        address_map: address_map(&elf),
        build_ids,
        dependencies: linkage::dependencies(&dynamic, &linkage),
        entry_points,
        exports,
        exports_exhaustive: exhaustive,
        imports,
        imports_exhaustive: exhaustive,
        mitigations,
        overlay: overlay::find(&elf),
        relocation_types,
        own: ("elf", own),
        macho: None,
    };
    let (entry, entry_meaning) = entry(&elf);
    Ok(Layout {
        format: Format::Elf,
        machine: Symbolic::of(header.machine.into(), MACHINES),
        architecture: header.architecture(),
        bits: if wide { 64 } else { 32 },
        byte_order: bytes.order(),
        image_type: names::file(header.kind),
        entry,
        entry_meaning,
        sections,
        segments,
        symbols: layout::Symbols::read(SymbolReader::Elf(symbols)),
        relocations: layout::Relocations::read(RelocationReader::Elf(Arc::new(relocations.rows))),
        packed_relocations: relocations.packed.relative,
        linkage,
        indicators,
        facts,
        general_limitations: GENERAL.to_vec(),
        notes,
    })
}

/// What holds for every layout of an ELF file.
const GENERAL: &[&str] = &[
    "Bytes that a segment of type PT_NULL or of size zero names are not part of any program.",
    "Symbols keep the section index of their entry; where it is SHN_XINDEX, the section is in facts.elf.extended_section_indexes.",
    "A relocation without a symbol uses symbol 0, whose value is zero.",
    "Packed relative relocations have no entries of their own: their offsets are derived, and their addends stand in the relocated words.",
    "Whether the relocations are all that a loader or linker would apply is not known.",
];

fn entry(elf: &Elf<'_>) -> (u64, EntryMeaning) {
    let entry = elf.header.entry;
    let meaning = match (elf.header.kind, entry) {
        (ET_REL, _) => EntryMeaning::NotApplicable,
        (_, 0) => EntryMeaning::Absent,
        _ => EntryMeaning::LinkedVirtualAddress,
    };
    (entry, meaning)
}

/// Which addresses stand where: by the segments that are loaded; by sections
/// that take memory where there are none. Objects have no addresses.
fn address_map(elf: &Elf<'_>) -> Vec<Mapping> {
    if elf.header.kind == ET_REL {
        return Vec::new();
    }
    let loaded = elf.segments.iter().enumerate();
    let mut map: Vec<Mapping> = loaded
        .filter(|(_, one)| one.kind == pt::LOAD)
        .map(|(index, one)| Mapping {
            address: one.virtual_address,
            memory_size: one.memory_size,
            offset: one.offset,
            file_size: one.file_size,
            permissions: Some(one.permissions()),
            name: format!("PT_LOAD {index}"),
        })
        .collect();
    if elf.segments.is_empty() {
        let sections = elf.sections.iter().enumerate();
        map = sections
            .filter(|(_, one)| one.flags & tables::SHF_ALLOC != 0 && one.size > 0)
            .map(|(index, one)| Mapping {
                address: one.address,
                memory_size: one.size,
                offset: one.offset,
                file_size: if one.in_file() { one.size } else { 0 },
                permissions: Some(super::layout::rows::Permissions {
                    read: true,
                    write: one.flags & 1 != 0,
                    execute: one.flags & 4 != 0,
                }),
                name: elf.section_text(index),
            })
            .collect();
    }
    map.sort_by_key(|one| one.address);
    map
}
