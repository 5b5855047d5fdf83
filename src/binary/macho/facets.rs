//! What only Mach-O has, as members of `facts`: a table of names and of
//! functions that write them.

use std::sync::Arc;

use super::commands::*;
use super::dylibs;
use super::fixup_facets::{chained_fixups, dyld_info, exports_trie};
use super::image::FILE_TYPES;
use super::macho::MachO;
use super::segments::permissions;
use super::slices::{Slice, magic};
use super::symbols::{INDIRECT_SYMBOL_ABS, INDIRECT_SYMBOL_LOCAL, N_ABS, N_INDR, N_PEXT};
use crate::binary::layout::facts::Part;
use crate::binary::layout::rows::{Hex, Symbolic};
use crate::binary::{Bytes, name_text};
use crate::json::{WriteJson, Writer};

type Facet = fn(&MachO<'_>, &mut Writer<'_>);

/// All members, sorted by name.
pub const FACETS: &[(&str, Facet)] = &[
    ("build_versions", build_versions),
    ("chained_fixups", chained_fixups),
    ("code_signature", |macho, w| macho.signature.write_json(w)),
    ("data_in_code", |macho, w| macho.data_in_code.write_json(w)),
    ("dyld_environment", |macho, w| {
        strings(macho, &[LC_DYLD_ENVIRONMENT], w);
    }),
    ("dyld_info", dyld_info),
    ("encryption", encryption),
    ("exports_trie", exports_trie),
    ("fileset_entries", fileset_entries),
    ("function_starts", |macho, w| {
        macho.function_starts.write_json(w)
    }),
    ("header", header),
    ("identity", identity),
    ("indirect_symbols", indirect_symbols),
    ("linker_options", linker_options),
    ("load_commands", load_commands),
    ("metadata_sections", metadata_sections),
    ("nlist", nlist),
    ("relocations", |macho, w| macho.relocations.write_json(w)),
    ("rpaths", |macho, w| strings(macho, &[LC_RPATH], w)),
    ("section_details", section_details),
    ("segment_details", segment_details),
    ("selected_slice", |macho, w| slice(macho, &macho.slice, w)),
    ("slices", slices),
    ("source_version", source),
    ("sub_clients", |macho, w| {
        strings(macho, &[LC_SUB_CLIENT], w)
    }),
    ("sub_frameworks", |macho, w| {
        strings(macho, &[LC_SUB_FRAMEWORK], w);
    }),
    ("sub_libraries", |macho, w| {
        strings(macho, &[LC_SUB_LIBRARY], w);
    }),
    ("sub_umbrellas", |macho, w| {
        strings(macho, &[LC_SUB_UMBRELLA], w);
    }),
    ("symbol_counts", symbol_counts),
    ("threads", |macho, w| macho.threads.write_json(w)),
];

/// The members as parts of a layout's facts.
pub fn parts<'a>(macho: &Arc<MachO<'a>>) -> Vec<(&'static str, Part<'a>)> {
    let part = |&(name, write): &(&'static str, Facet)| {
        let member: Part<'a> = Box::new(Member {
            macho: Arc::clone(macho),
            write,
        });
        (name, member)
    };
    FACETS.iter().map(part).collect()
}

struct Member<'a> {
    macho: Arc<MachO<'a>>,
    write: Facet,
}

impl WriteJson for Member<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        (self.write)(&self.macho, w);
    }
}

pub(super) fn array<T>(
    items: impl IntoIterator<Item = T>,
    w: &mut Writer<'_>,
    one: impl Fn(T, &mut Writer<'_>),
) {
    w.begin_array();
    for item in items {
        one(item, w);
    }
    w.end_array();
}

/// The string of each command of these kinds.
fn strings(macho: &MachO<'_>, kinds: &'static [u32], w: &mut Writer<'_>) {
    let commands = macho.image.of_kind(kinds);
    array(commands, w, |command, w| {
        match macho.image.lc_str(command, 8) {
            Some((_, name)) => w.string(&name_text(name)),
            None => w.null(),
        }
    });
}

fn header(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let header = macho.image.header;
    w.begin_object();
    w.member("cpu_subtype", header.cpu.subtype_name());
    w.member("cpu_subtype_features", Hex(header.cpu.features()));
    w.member("cpu_type", header.cpu.type_name());
    let file_type = Symbolic::of(header.file_type.into(), FILE_TYPES);
    w.member("file_type", file_type);
    w.member("flag_names", header.flag_names());
    w.member("flags", Hex(header.flags.into()));
    w.member("location", macho.image.range(0, macho.image.header_size()));
    w.member("ncmds", header.ncmds);
    w.member("sizeofcmds", header.sizeofcmds);
    w.end_object();
}

fn identity(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let Some(own) = dylibs::own(&macho.image) else {
        return w.null();
    };
    w.begin_object();
    w.member("compatibility_version", own.compatibility_version());
    w.member("current_version", own.current_version());
    w.member("location", own.location);
    w.member("name", name_text(own.name));
    w.end_object();
}

/// `LC_BUILD_VERSION` and `LC_VERSION_MIN_...`, in command order.
fn build_versions(macho: &MachO<'_>, w: &mut Writer<'_>) {
    const KINDS: &[u32] = &[
        LC_BUILD_VERSION,
        LC_VERSION_MIN_MACOSX,
        LC_VERSION_MIN_IPHONEOS,
        LC_VERSION_MIN_TVOS,
        LC_VERSION_MIN_WATCHOS,
    ];
    array(macho.image.of_kind(KINDS), w, |command, w| {
        let body = macho.image.body(command);
        let build = command.cmd == LC_BUILD_VERSION;
        let at = if build { 12 } else { 8 };
        w.begin_object();
        w.member("kind", command_name(command.cmd).text());
        let location = macho.image.range(command.offset, command.size.into());
        w.member("location", location);
        w.member("minimum_os", body.u32(at).map(version));
        w.key("platform");
        match command.cmd {
            LC_BUILD_VERSION => body
                .u32(8)
                .map(|value| named(value, PLATFORMS))
                .as_deref()
                .write_json(w),
            LC_VERSION_MIN_IPHONEOS => w.string("IOS"),
            LC_VERSION_MIN_TVOS => w.string("TVOS"),
            LC_VERSION_MIN_WATCHOS => w.string("WATCHOS"),
            _ => w.string("MACOS"),
        }
        w.member("sdk", body.u32(at + 4).map(version));
        w.key("tools");
        array(tools(body, build), w, |(tool, number), w| {
            w.begin_object();
            w.member("name", named(tool, TOOLS));
            w.member("version", version(number));
            w.end_object();
        });
        w.end_object();
    });
}

/// Tools and their versions behind an `LC_BUILD_VERSION`.
pub fn tools(body: Bytes<'_>, build: bool) -> Vec<(u32, u32)> {
    let announced = body.u32(20).filter(|_| build).unwrap_or(0);
    (0..u64::from(announced))
        .map_while(|index| {
            let at = 24 + 8 * index;
            Some((body.u32(at)?, body.u32(at + 4)?))
        })
        .collect()
}

fn source(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let command = macho.image.of_kind(&[LC_SOURCE_VERSION]).next();
    let value = command.and_then(|command| macho.image.body(command).u64(8));
    value.map(source_version).write_json(w);
}

fn encryption(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let kinds = &[LC_ENCRYPTION_INFO, LC_ENCRYPTION_INFO_64];
    array(macho.image.of_kind(kinds), w, |command, w| {
        let body = macho.image.body(command);
        let field = |at| body.u32(at).map(u64::from);
        w.begin_object();
        w.member("cryptid", field(16));
        w.member("kind", command_name(command.cmd).text());
        w.key("range");
        match field(8).zip(field(12)) {
            Some((offset, size)) => macho.image.range(offset, size).write_json(w),
            None => w.null(),
        }
        w.end_object();
    });
}

fn linker_options(macho: &MachO<'_>, w: &mut Writer<'_>) {
    array(macho.image.of_kind(&[LC_LINKER_OPTION]), w, |command, w| {
        let body = macho.image.body(command);
        let count = body.u32(8).unwrap_or(0);
        let mut at = 12;
        w.begin_array();
        for _ in 0..count {
            let Some(option) = body.string(at) else {
                break;
            };
            w.string(&name_text(option));
            at += option.len() as u64 + 1;
        }
        w.end_array();
    });
}

fn load_commands(macho: &MachO<'_>, w: &mut Writer<'_>) {
    array(&macho.image.commands, w, |command, w| {
        w.begin_object();
        w.key("fields");
        macho.image.write_fields(command, w);
        w.member("index", command.index);
        w.member("kind", command_name(command.cmd));
        let location = macho.image.range(command.offset, command.size.into());
        w.member("location", location);
        w.end_object();
    });
}

fn fileset_entries(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let image = &macho.image;
    array(image.of_kind(&[LC_FILESET_ENTRY]), w, |command, w| {
        let body = image.body(command);
        let offset = body.u64(16);
        // Offsets in an entry count from the start of the whole fileset.
        let inner = offset.map(|offset| image.data.tail(offset));
        let head = inner.and_then(|inner| Some((inner, magic(inner)?)));
        w.begin_object();
        w.member("address", body.u64(8).map(Hex));
        w.key("file_type");
        let kind = head.and_then(|(inner, (order, _))| Bytes::new(inner, order).u32(12));
        kind.map(|kind| Symbolic::of(kind.into(), FILE_TYPES))
            .write_json(w);
        w.key("name");
        match image.lc_str(command, 24) {
            Some((_, name)) => w.string(&name_text(name)),
            None => w.null(),
        }
        let offset = offset.map(|offset| Hex(image.file_offset(offset)));
        w.member("offset", offset);
        w.end_object();
    });
}

fn slices(macho: &MachO<'_>, w: &mut Writer<'_>) {
    array(&macho.slices, w, |one, w| slice(macho, one, w));
}

fn slice(macho: &MachO<'_>, slice: &Slice, w: &mut Writer<'_>) {
    w.begin_object();
    let row = slice.row;
    w.member("alignment", row.and_then(|row| row.alignment()));
    w.member("architecture", slice.name());
    w.member("content", slice.content.as_str());
    w.member("cpu_subtype", slice.cpu.subtype_name());
    w.member("cpu_subtype_features", Hex(slice.cpu.features()));
    w.member("cpu_type", slice.cpu.type_name());
    w.member("offset", Hex(slice.offset));
    w.member("selected", *slice == macho.slice);
    w.member("size", Hex(slice.size));
    w.end_object();
}

fn segment_details(macho: &MachO<'_>, w: &mut Writer<'_>) {
    array(&macho.segments.segments, w, |segment, w| {
        w.begin_object();
        w.member("initial_protection", segment.initial);
        w.member("maximum_permissions", permissions(segment.maximum));
        w.member("maximum_protection", segment.maximum);
        w.member("name", name_text(segment.name));
        w.member("sections", segment.sections.1);
        w.end_object();
    });
}

/// Attributes of sections.
const ATTRIBUTES: &[(u32, &str)] = &[
    (0x8000_0000, "S_ATTR_PURE_INSTRUCTIONS"),
    (0x4000_0000, "S_ATTR_NO_TOC"),
    (0x2000_0000, "S_ATTR_STRIP_STATIC_SYMS"),
    (0x1000_0000, "S_ATTR_NO_DEAD_STRIP"),
    (0x0800_0000, "S_ATTR_LIVE_SUPPORT"),
    (0x0400_0000, "S_ATTR_SELF_MODIFYING_CODE"),
    (0x0200_0000, "S_ATTR_DEBUG"),
    (0x400, "S_ATTR_SOME_INSTRUCTIONS"),
    (0x200, "S_ATTR_EXT_RELOC"),
    (0x100, "S_ATTR_LOC_RELOC"),
];

fn section_details(macho: &MachO<'_>, w: &mut Writer<'_>) {
    array(&macho.segments.sections, w, |section, w| {
        w.begin_object();
        w.key("attributes");
        let set = ATTRIBUTES.iter().filter(|row| section.flags & row.0 != 0);
        array(set, w, |row, w| w.string(row.1));
        w.member("relocations", section.relocation_count);
        w.member("relocations_offset", section.relocations);
        w.member("segment", name_text(section.segment));
        w.end_object();
    });
}

/// Sections of the runtimes of Objective-C and Swift, and of initializers.
fn metadata_sections(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let known = macho.segments.sections.iter().filter(|section| {
        let name = section.name;
        name.starts_with(b"__objc_") || name.starts_with(b"__swift")
    });
    array(known, w, |section, w| {
        w.begin_object();
        w.member("address", Hex(section.address));
        w.member("name", name_text(section.name));
        w.key("range");
        let range = macho.image.range(section.offset.into(), section.size);
        section.in_file.then_some(range).write_json(w);
        let runtime = match section.name.starts_with(b"__objc_") {
            true => "objective-c",
            false => "swift",
        };
        w.member("runtime", runtime);
        w.member("segment", name_text(section.segment));
        w.end_object();
    });
}

fn symbol_counts(macho: &MachO<'_>, w: &mut Writer<'_>) {
    const NAMES: [&str; 8] = [
        "absolute",
        "common",
        "external",
        "indirect",
        "local",
        "private_external",
        "stabs",
        "undefined",
    ];
    let mut counts = [0u64; NAMES.len()];
    let mut total = 0;
    if let Some(table) = &macho.symbols {
        total = table.count;
        for (_, entry) in table.iter() {
            let place = match entry {
                _ if entry.is_stab() => 6,
                _ if entry.is_common() => 1,
                _ if entry.is_undefined() => 7,
                _ if entry.type_bits() == N_INDR => 3,
                _ if entry.kind & N_PEXT != 0 => 5,
                _ if entry.is_external() => 2,
                _ if entry.type_bits() == N_ABS => 0,
                _ => 4,
            };
            if let Some(count) = counts.get_mut(place) {
                *count += 1;
            }
        }
    }
    w.begin_object();
    for (name, count) in NAMES.iter().zip(counts).take(7) {
        w.member(name, count);
    }
    w.member("total", total);
    w.member("undefined", counts.last().copied().unwrap_or(0));
    w.end_object();
}

/// `n_type` and `n_desc` of all symbols as they stand: references, libraries
/// of two-level namespaces, marks.
fn nlist(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let Some(table) = &macho.symbols else {
        return w.null();
    };
    w.begin_object();
    w.key("desc");
    array(table.iter(), w, |(_, entry), w| w.u64(entry.desc.into()));
    w.key("type");
    array(table.iter(), w, |(_, entry), w| w.u64(entry.kind.into()));
    w.end_object();
}

fn indirect_symbols(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let table = macho.dysymtab.as_ref();
    let Some((table, entries)) = table.and_then(|table| Some((table, table.indirect?))) else {
        return w.null();
    };
    w.begin_object();
    let location = macho.image.range(table.indirect_offset, entries.len());
    w.member("location", location);
    w.key("symbols");
    let all = (0..entries.len() / 4).map_while(|index| entries.u32(4 * index));
    array(all, w, |symbol, w| {
        const BOTH: u32 = INDIRECT_SYMBOL_LOCAL | INDIRECT_SYMBOL_ABS;
        match symbol & BOTH {
            0 => w.u64(symbol.into()),
            INDIRECT_SYMBOL_LOCAL => w.string("INDIRECT_SYMBOL_LOCAL"),
            INDIRECT_SYMBOL_ABS => w.string("INDIRECT_SYMBOL_ABS"),
            _ => w.string("INDIRECT_SYMBOL_LOCAL|INDIRECT_SYMBOL_ABS"),
        }
    });
    w.end_object();
}
