//! The layout of a Mach-O file (binaries section 2, for Mach-O).

use super::commands::{LC_LOAD_DYLINKER, LC_SEGMENT_64, LC_UUID, uuid};
use std::sync::Arc;

use super::budget::Budget;
use super::dylibs::Dylib;
use super::entries::Entry;
use super::image::{FILE_TYPES, MH_OBJECT};
use super::macho::MachO;
use super::segments::{
    S_LAZY_DYLIB_SYMBOL_POINTERS, S_LAZY_SYMBOL_POINTERS, S_NON_LAZY_SYMBOL_POINTERS,
    S_SYMBOL_STUBS, S_THREAD_LOCAL_VARIABLE_POINTERS, SECTION_TYPES, Section as Header,
    Segment as Command,
};
use super::symbols::{
    INDIRECT_SYMBOL_ABS, INDIRECT_SYMBOL_LOCAL, N_ABS, N_INDR, N_PEXT, N_SECT, N_WEAK_DEF,
    N_WEAK_REF, Nlist,
};
use super::{facets, mitigations, names, relocations};
use crate::binary::layout::facts::{BuildId, Dependency, Facts, Mapping};
use crate::binary::layout::rows::{Name, Range, Section, Segment, Symbol, Symbolic, ValueMeaning};
use crate::binary::layout::{
    EntryMeaning, Format, Layout, Linkage, NamedAddress, Refusal, SymbolReader, Symbols,
};
use crate::json::Object;

const GENERAL: &[&str] = &[
    "Offsets are those of the whole file; in a universal file the slice starts behind its beginning.",
    "Sections are counted from 0 here; a symbol or relocation of the file counts them from 1.",
    "In Mach-O the symbol 0 is one like any other; which entries name a symbol stands in facts.",
];

const FIRST_SLICE: &str = "The file is a universal one; its first slice that holds Mach-O is laid out, the others are listed in facts.";
const CHOSEN_SLICE: &str = "The file is a universal one; the slice that was asked for is laid out, the others are listed in facts.";

/// Takes a file apart: the slice called `architecture`, else the first.
///
/// # Errors
/// See [`Refusal`].
pub fn layout<'a>(bytes: &'a [u8], architecture: Option<&str>) -> Result<Layout<'a>, Refusal> {
    let mut macho = MachO::read(bytes, architecture)?;
    let header = macho.image.header;
    let linkage = linkage(&macho);
    let (entry, entry_meaning) = entry(&macho);
    let notes = std::mem::take(&mut macho.notes);
    let exports = std::mem::take(&mut macho.exports);
    let macho = Arc::new(macho);
    let mut facts = facts(&macho);
    facts.exports = exports.into_iter().map(names::export_fact).collect();
    let mut said = GENERAL.to_vec();
    if macho.universal {
        said.push(match architecture {
            Some(_) => CHOSEN_SLICE,
            None => FIRST_SLICE,
        });
    }
    Ok(Layout {
        format: Format::MachO,
        machine: header.cpu.type_name(),
        architecture: header.cpu.contract(),
        bits: if macho.image.wide { 64 } else { 32 },
        byte_order: macho.image.data.order(),
        image_type: Symbolic::of(u64::from(header.file_type), FILE_TYPES),
        entry,
        entry_meaning,
        sections: sections(&macho),
        segments: segments(&macho),
        symbols: Symbols::read(SymbolReader::MachO(Arc::clone(&macho))),
        relocations: relocations::rows(&macho.relocations).into(),
        packed_relocations: Vec::new(),
        linkage,
        indicators: mitigations::indicators(&macho),
        facts,
        general_limitations: said,
        notes,
    })
}

/// Where the program starts.
fn entry(macho: &MachO<'_>) -> (u64, EntryMeaning) {
    if macho.image.header.file_type == MH_OBJECT {
        return (0, EntryMeaning::NotApplicable);
    }
    let start = macho
        .entries
        .iter()
        .filter(|entry| matches!(entry.kind, "entry" | "thread"))
        .find_map(|entry| entry.address);
    match start {
        Some(address) => (address, EntryMeaning::LinkedVirtualAddress),
        None => (0, EntryMeaning::Absent),
    }
}

/// A name in a field of 16 bytes.
fn field<'a>(macho: &MachO<'a>, name: &'a [u8], offset: u64) -> Name<'a> {
    Name::At {
        bytes: name,
        location: macho.image.range(offset, (name.len() as u64 + 1).min(16)),
    }
}

fn sections<'a>(macho: &MachO<'a>) -> Vec<Section<'a>> {
    let image = &macho.image;
    let mut rows = Vec::with_capacity(macho.segments.sections.len());
    for (at, segment) in (0..).zip(&macho.segments.segments) {
        let size = if segment.cmd == LC_SEGMENT_64 { 80 } else { 68 };
        for section in macho.segments.of(segment) {
            rows.push(Section {
                index: rows.len() as u64,
                name: field(macho, section.name, section.header),
                name_offset: None,
                kind: Some(Symbolic::of(u64::from(section.kind()), SECTION_TYPES)),
                header_location: image.range(section.header, size),
                address: section.address,
                offset: file_offset(macho, section),
                size: section.size,
                alignment: 1u64.checked_shl(section.align).unwrap_or(0),
                flags: u64::from(section.flags),
                link: at,
                info: u64::from(section.reserved[0]),
                entry_size: u64::from(section.reserved[1]),
                in_file: section.in_file,
            });
        }
    }
    rows
}

/// Where a section's bytes stand in the file; an offset of zero says nothing.
fn file_offset(macho: &MachO<'_>, section: &Header<'_>) -> u64 {
    match section.offset {
        0 => 0,
        offset => macho.image.file_offset(u64::from(offset)),
    }
}

fn segments<'a>(macho: &MachO<'a>) -> Vec<Segment<'a>> {
    let row = |(index, segment): (u64, &Command<'a>)| Segment {
        index,
        kind: Symbolic::Named(match segment.cmd {
            LC_SEGMENT_64 => "LC_SEGMENT_64",
            _ => "LC_SEGMENT",
        }),
        name: Some(field(macho, segment.name, segment.command + 8)),
        header_location: macho
            .image
            .range(segment.command, u64::from(segment.command_size)),
        offset: macho.image.file_offset(segment.offset),
        file_size: segment.file_size,
        memory_size: segment.memory_size,
        virtual_address: segment.address,
        physical_address: 0,
        alignment: 0,
        flags: u64::from(segment.flags),
        in_file: segment.file_size > 0 && segment.offset < macho.image.data.len(),
        permissions: Some(segment.permissions()),
    };
    (0..).zip(&macho.segments.segments).map(row).collect()
}

/// How many symbols it has.
pub(crate) fn symbol_count(macho: &MachO<'_>) -> usize {
    let count = macho.symbols.as_ref().map_or(0, |table| table.count);
    usize::try_from(count).unwrap_or(0)
}

/// A symbol, read from its entry.
pub(crate) fn symbol<'a>(macho: &MachO<'a>, at: usize) -> Option<Symbol<'a>> {
    let table = macho.symbols.as_ref()?;
    let index = at as u64;
    let entry = table.entry(index)?;
    let (offset, size) = table.location(index);
    Some(Symbol {
        table_index: 0,
        entry_index: index,
        name: table.row_name(index, entry, macho.image.base),
        name_offset: Some(u64::from(entry.strx)),
        location: macho.image.range(offset, size),
        value: entry.value,
        meaning: meaning(entry, macho.segments.sections.len() as u64),
        size: if entry.is_common() { entry.value } else { 0 },
        binding: Symbolic::Named(binding(entry)),
        kind: entry.type_name(),
        visibility: (!entry.is_stab() && entry.kind & N_PEXT != 0)
            .then_some(Symbolic::Named("N_PEXT")),
        section_index: section_index(entry),
    })
}

fn meaning(entry: Nlist, sections: u64) -> ValueMeaning {
    let in_section = match entry.sect {
        0 => ValueMeaning::AbsoluteValue,
        sect if u64::from(sect) <= sections => ValueMeaning::LinkedVirtualAddress,
        _ => ValueMeaning::UnknownSectionIndex,
    };
    if entry.is_stab() {
        return match entry.type_name() {
            Symbolic::Named("N_SO" | "N_OSO" | "N_SOL") => ValueMeaning::NoAddress,
            _ => in_section,
        };
    }
    if entry.is_common() {
        return ValueMeaning::CommonSize;
    }
    match entry.type_bits() {
        N_SECT if entry.sect == 0 => ValueMeaning::UnknownSectionIndex,
        N_SECT => in_section,
        N_ABS => ValueMeaning::AbsoluteValue,
        N_INDR => ValueMeaning::NoAddress,
        _ => ValueMeaning::Undefined,
    }
}

fn binding(entry: Nlist) -> &'static str {
    match entry {
        _ if entry.is_stab() => "N_STAB",
        _ if entry.is_defined() && entry.desc & N_WEAK_DEF != 0 => "N_WEAK_DEF",
        _ if entry.is_undefined() && entry.desc & N_WEAK_REF != 0 => "N_WEAK_REF",
        _ if entry.is_external() => "N_EXT",
        _ => "local",
    }
}

fn section_index(entry: Nlist) -> Symbolic {
    match entry.sect {
        0 if entry.is_stab() => Symbolic::Named("NO_SECT"),
        0 => match entry.type_name() {
            Symbolic::Named("N_SECT") => Symbolic::Named("NO_SECT"),
            other => other,
        },
        sect => Symbolic::Number(u64::from(sect) - 1),
    }
}

fn linkage<'a>(macho: &MachO<'a>) -> Linkage<'a> {
    let image = &macho.image;
    let named = |dylib: &Dylib<'a>| Name::At {
        bytes: dylib.name,
        location: dylib.location,
    };
    let mut linkage = Linkage {
        needed_libraries: macho.dylibs.iter().map(named).collect(),
        interpreters: Vec::new(),
        got: Vec::new(),
        plt: Vec::new(),
    };
    for command in image.of_kind(&[LC_LOAD_DYLINKER]) {
        if let Some((at, name)) = image.lc_str(command, 8) {
            let location = image.range(at, name.len() as u64 + 1);
            linkage.interpreters.push(Name::At {
                bytes: name,
                location,
            });
        }
    }
    slots(macho, &mut linkage);
    linkage
}

/// Pointers and stubs, which the table of indirect symbols names.
fn slots<'a>(macho: &MachO<'a>, linkage: &mut Linkage<'a>) {
    let (Some(dysymtab), Some(symbols)) = (&macho.dysymtab, &macho.symbols) else {
        return;
    };
    let entries = dysymtab.indirect.map_or(0, |table| table.len() / 4);
    // Sections share the table out among them.
    let mut rows = Budget::new(entries);
    let mut names = Budget::new(Budget::NAMES);
    let pointer = if macho.image.wide { 8 } else { 4 };
    for section in &macho.segments.sections {
        let (stubs, step) = match section.kind() {
            S_SYMBOL_STUBS => (true, u64::from(section.reserved[1])),
            S_NON_LAZY_SYMBOL_POINTERS
            | S_LAZY_SYMBOL_POINTERS
            | S_LAZY_DYLIB_SYMBOL_POINTERS
            | S_THREAD_LOCAL_VARIABLE_POINTERS => (false, pointer),
            _ => continue,
        };
        let count = section.size.checked_div(step).unwrap_or(0);
        for index in 0..count {
            let at = u64::from(section.reserved[0]) + index;
            let Some(symbol) = dysymtab.indirect(at).filter(|_| rows.take(1)) else {
                break;
            };
            if symbol & (INDIRECT_SYMBOL_LOCAL | INDIRECT_SYMBOL_ABS) != 0 {
                continue;
            }
            let symbol = u64::from(symbol);
            let Some(entry) = symbols.entry(symbol) else {
                continue;
            };
            let name = symbols.name(symbol, entry);
            if !names.take(name.len() as u64) {
                return;
            }
            let slot = NamedAddress {
                name: name.into(),
                address: section.address.wrapping_add(index.wrapping_mul(step)),
            };
            match stubs {
                true => linkage.plt.push(slot),
                false => linkage.got.push(slot),
            }
        }
    }
}

fn facts<'a>(macho: &Arc<MachO<'a>>) -> Facts<'a> {
    let import = |row| names::import_fact(macho, row);
    Facts {
        address_map: address_map(macho),
        build_ids: build_ids(macho),
        dependencies: dependencies(macho),
        entry_points: macho.entries.iter().map(Entry::fact).collect(),
        exports: Vec::new(),
        exports_exhaustive: macho.exports_exhaustive,
        imports: macho.imports.iter().map(import).collect(),
        imports_exhaustive: macho.imports_exhaustive,
        mitigations: mitigations::mitigations(macho),
        overlay: overlay(macho),
        relocation_types: relocations::type_counts(&macho.relocations, macho.image.header.cpu),
        own: ("macho", facets::parts(macho)),
        macho: Some(Arc::clone(macho)),
    }
}

/// Bytes behind all that a universal file's table, or a thin file's commands
/// name.
fn overlay(macho: &MachO<'_>) -> Option<Range> {
    let mut end = 0;
    let mut reach = |offset: u64, size: u64| {
        if size > 0 {
            end = offset.saturating_add(size).max(end);
        }
    };
    let image = &macho.image;
    if macho.universal {
        for slice in &macho.slices {
            reach(slice.offset, slice.size);
        }
    } else {
        reach(0, image.header_size() + u64::from(image.header.sizeofcmds));
        for segment in &macho.segments.segments {
            reach(segment.offset, segment.file_size);
        }
        for section in &macho.segments.sections {
            if section.in_file {
                reach(section.offset.into(), section.size);
            }
            let relocations = 8 * u64::from(section.relocation_count);
            reach(section.relocations.into(), relocations);
        }
        for command in &image.commands {
            for (offset, size) in image.tables_of(command) {
                reach(offset, size);
            }
        }
    }
    let bytes = macho
        .file_size
        .checked_sub(end)
        .filter(|&bytes| bytes > 0)?;
    Some(Range { offset: end, bytes })
}

/// Of objects the sections: their one segment need not keep the bytes in the
/// order of the addresses.
fn address_map(macho: &MachO<'_>) -> Vec<Mapping> {
    let image = &macho.image;
    let length = image.data.len();
    let text = |name: &[u8]| crate::binary::name_text(name).into_owned();
    let mut map = Vec::new();
    for segment in &macho.segments.segments {
        let permissions = Some(segment.permissions());
        if image.header.file_type == MH_OBJECT {
            for section in macho.segments.of(segment) {
                map.push(Mapping {
                    address: section.address,
                    memory_size: section.size,
                    offset: file_offset(macho, section),
                    file_size: if section.in_file { section.size } else { 0 },
                    permissions,
                    name: format!("{},{}", text(section.segment), text(section.name)),
                });
            }
        } else if segment.memory_size > 0 {
            map.push(Mapping {
                address: segment.address,
                memory_size: segment.memory_size,
                offset: image.file_offset(segment.offset),
                file_size: segment
                    .file_size
                    .min(segment.memory_size)
                    .min(length.saturating_sub(segment.offset)),
                permissions,
                name: text(segment.name),
            });
        }
    }
    map.sort_by_key(|mapping| mapping.address);
    map
}

fn build_ids(macho: &MachO<'_>) -> Vec<BuildId> {
    let image = &macho.image;
    let id = |command| {
        let body = image.body(command);
        Some(BuildId {
            kind: "uuid",
            value: uuid(&body.array::<16>(8)?),
            location: image.range(command.offset + 8, 16),
        })
    };
    image.of_kind(&[LC_UUID]).filter_map(id).collect()
}

fn dependencies<'a>(macho: &MachO<'a>) -> Vec<Dependency<'a>> {
    let row = |dylib: &Dylib<'a>| {
        let mut more = Object::new();
        more.insert("compatibility_version", dylib.compatibility_version());
        more.insert("current_version", dylib.current_version());
        more.insert("encoding", dylib.encoding);
        if let Some(flags) = dylib.flags {
            more.insert("flags", u64::from(flags));
        }
        Dependency {
            name: dylib.name,
            kind: dylib.kind,
            location: Some(dylib.location),
            more,
        }
    };
    macho.dylibs.iter().map(row).collect()
}
