//! The members of `inspect_macho`'s result, as the contract has them.

use std::borrow::Cow;

use super::commands::{LC_BUILD_VERSION, LC_MAIN, PLATFORMS, TOOLS, command_name, named, version};
use super::facets::{FACETS, tools};
use super::inspect::MachORecord;
use super::macho::MachO;
use super::segments::{Section, permissions};
use super::slices::Slice;
use crate::binary::layout::rows::{Hex, Symbolic};
use crate::binary::name_text;
use crate::json::{MAX_SAFE_INTEGER, WriteJson, Writer};

const THREAD_ENTRY: &str =
    "The entry point is given by a thread state, not by LC_MAIN; facts hold its address.";
const NO_BASE: &str =
    "No segment holds the header, so that offsets in the export trie have no addresses.";
const NOT_ALL: &str = "A structure that names them could not be read to its end.";
const NOTHING_SAYS: &str = "No structure that would name all of them is in the file.";
const ONE_ARCHITECTURE: &str =
    "The file is no universal one; it has no table of slices that would give sizes.";

/// A location of bytes, where there are any that a location can hold.
pub(super) fn file_range(offset: u64, size: u64, w: &mut Writer<'_>) {
    let end = offset
        .checked_add(size)
        .filter(|&end| end <= MAX_SAFE_INTEGER);
    if let Some(end) = end.filter(|_| size > 0) {
        w.begin_object();
        w.member("end", end);
        w.member("kind", "file-offset-range");
        w.member("start", offset);
        w.end_object();
    }
}

/// `{exhaustive, items, limitations, total}` of the contract.
struct Collection<'w, 'b> {
    w: &'w mut Writer<'b>,
    exhaustive: bool,
    limitations: &'static [&'static str],
    count: u64,
}

impl<'w, 'b> Collection<'w, 'b> {
    fn begin(
        w: &'w mut Writer<'b>,
        exhaustive: bool,
        limitations: &'static [&'static str],
    ) -> Self {
        w.begin_object();
        w.member("exhaustive", exhaustive);
        w.key("items");
        w.begin_array();
        Self {
            w,
            exhaustive,
            limitations,
            count: 0,
        }
    }

    fn item(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        self.w.begin_object();
        write(self.w);
        self.w.end_object();
    }

    fn end(self) {
        let w = self.w;
        w.end_array();
        w.key("limitations");
        w.begin_array();
        for said in self.limitations {
            w.string(said);
        }
        w.end_array();
        w.member("total", self.exhaustive.then_some(self.count));
        w.end_object();
    }
}

/// A number of a contract member: null beyond 53 bits (decision 15).
fn number(w: &mut Writer<'_>, key: &str, value: impl Into<Option<u64>>) {
    w.member(key, value.into().filter(|&value| value <= MAX_SAFE_INTEGER));
}

/// The result.
pub(super) struct Normalized<'a>(pub &'a MachORecord<'a>);

impl WriteJson for Normalized<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        let macho = record.macho.as_ref();
        w.begin_object();
        w.key("architectures");
        architectures(&record.slices, record.universal, w);
        w.key("build_metadata");
        build_metadata(macho, w);
        w.key("dependencies");
        dependencies(macho, w);
        let endian = macho.map(|macho| macho.image.data.order().as_str());
        w.member("endian", endian);
        w.key("entrypoints");
        entrypoints(macho, w);
        w.key("exports");
        exports(macho, w);
        w.key("facts");
        facts(macho, w);
        w.member("file_type", record.file_type().as_deref());
        w.member("flags", record.flags());
        w.member("format", "mach-o");
        w.key("imports");
        imports(macho, w);
        w.member("limitations", record.limitations());
        w.key("load_commands");
        load_commands(macho, w);
        w.key("provenance");
        w.begin_array();
        w.end_array();
        w.key("segments");
        segments(macho, w);
        w.member("uuid", record.uuid());
        let word_size = macho.map(|macho| if macho.image.wide { 64u64 } else { 32 });
        w.member("word_size", word_size);
        w.end_object();
    }
}

/// A thin file has one row, with its name only.
pub(super) fn architectures(slices: &[Slice], universal: bool, w: &mut Writer<'_>) {
    let said: &[&str] = if universal { &[] } else { &[ONE_ARCHITECTURE] };
    let mut all = Collection::begin(w, true, said);
    for slice in slices {
        all.item(|w| {
            number(w, "alignment", slice.row.and_then(|row| row.alignment()));
            w.key("cpu_subtype");
            let name = |name: Symbolic| match name {
                Symbolic::Named(name) => Cow::Borrowed(name),
                Symbolic::Number(value) => Cow::Owned(value.to_string()),
            };
            let told = universal.then(|| name(slice.cpu.subtype_name()));
            told.as_deref().write_json(w);
            w.key("cpu_type");
            let told = universal.then(|| name(slice.cpu.type_name()));
            told.as_deref().write_json(w);
            number(w, "file_offset", universal.then_some(slice.offset));
            w.member("name", slice.name());
            number(w, "size", universal.then_some(slice.size));
        });
    }
    all.end();
}

/// Whether all load commands were read, so that what each tells is all.
fn complete(macho: Option<&MachO<'_>>) -> bool {
    macho.is_some_and(|macho| macho.image.is_complete())
}

fn build_metadata(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let mut all = Collection::begin(w, complete(macho), &[]);
    if let Some(macho) = macho {
        for command in macho.image.of_kind(&[LC_BUILD_VERSION]) {
            let body = macho.image.body(command);
            all.item(|w| {
                w.member("minimum_os", body.u32(12).map(version));
                w.key("platform");
                let platform = body.u32(8).map(|value| named(value, PLATFORMS));
                platform.as_deref().write_json(w);
                w.member("sdk", body.u32(16).map(version));
                w.key("tools");
                w.begin_array();
                for (tool, number) in tools(body, true) {
                    w.begin_object();
                    w.member("name", named(tool, TOOLS));
                    w.member("version", version(number));
                    w.end_object();
                }
                w.end_array();
            });
        }
    }
    all.end();
}

fn dependencies(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let mut all = Collection::begin(w, complete(macho), &[]);
    for dylib in macho.iter().flat_map(|macho| &macho.dylibs) {
        all.item(|w| {
            w.member("compatibility_version", dylib.compatibility_version());
            w.member("current_version", dylib.current_version());
            w.member("kind", dylib.kind);
            w.member("path", name_text(dylib.name));
        });
    }
    all.end();
}

fn entrypoints(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let threads = macho.is_some_and(|macho| !macho.threads.is_empty());
    let main = macho.is_some_and(|macho| macho.image.of_kind(&[LC_MAIN]).next().is_some());
    let said: &[&str] = if threads && !main {
        &[THREAD_ENTRY]
    } else {
        &[]
    };
    let mut all = Collection::begin(w, complete(macho) && said.is_empty(), said);
    if let Some(macho) = macho {
        for command in macho.image.of_kind(&[LC_MAIN]) {
            let offset = macho.image.body(command).u64(8);
            all.item(|w| number(w, "file_offset", offset));
        }
    }
    all.end();
}

/// Why a list of names may not be all.
fn doubts(macho: Option<&MachO<'_>>, exhaustive: bool) -> &'static [&'static str] {
    let Some(macho) = macho.filter(|_| !exhaustive) else {
        return &[];
    };
    let broken = !macho.image.is_complete()
        || !macho.trie.complete
        || !macho.dyld_info.complete
        || !macho.fixups.complete
        || macho.symbols.as_ref().is_some_and(|table| !table.complete);
    if broken { &[NOT_ALL] } else { &[NOTHING_SAYS] }
}

fn exports(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let exhaustive = macho.is_some_and(|macho| macho.exports_exhaustive);
    let baseless =
        macho.is_some_and(|macho| macho.trie.count > 0 && macho.segments.image_base().is_none());
    let said = match baseless {
        true => &[NO_BASE],
        false => doubts(macho, exhaustive),
    };
    let mut all = Collection::begin(w, exhaustive, said);
    for row in macho.iter().flat_map(|macho| &macho.exports) {
        all.item(|w| {
            w.member("address", row.address.map(Hex));
            w.member("name", name_text(&row.name));
            w.member("reexport", row.reexport.is_some());
            w.member("source", row.source);
            w.member("weak", row.weak);
        });
    }
    all.end();
}

fn imports(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let exhaustive = macho.is_some_and(|macho| macho.imports_exhaustive);
    let mut all = Collection::begin(w, exhaustive, doubts(macho, exhaustive));
    for row in macho.iter().flat_map(|macho| &macho.imports) {
        all.item(|w| {
            w.member("address", row.address.map(Hex));
            w.member("name", name_text(row.name));
            w.member("reexport", false);
            w.member("source", row.source);
            w.member("weak", row.weak);
        });
    }
    all.end();
}

fn load_commands(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let mut all = Collection::begin(w, complete(macho), &[]);
    if let Some(macho) = macho {
        for command in &macho.image.commands {
            all.item(|w| {
                w.key("fields");
                macho.image.write_fields(command, w);
                number(w, "file_offset", macho.image.file_offset(command.offset));
                number(w, "index", u64::from(command.index));
                w.member("kind", command_name(command.cmd).text());
            });
        }
    }
    all.end();
}

fn segments(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let mut all = Collection::begin(w, complete(macho), &[]);
    if let Some(macho) = macho {
        for segment in &macho.segments.segments {
            all.item(|w| {
                number(w, "file_offset", segment.offset);
                number(w, "file_size", segment.file_size);
                w.key("initial_permissions");
                protection(segment.initial, w);
                w.key("maximum_permissions");
                protection(segment.maximum, w);
                w.member("name", name_text(segment.name));
                w.key("sections");
                let all_sections = segment.announced == segment.sections.1;
                let mut inner = Collection::begin(w, all_sections, &[]);
                for section in macho.segments.of(segment) {
                    inner.item(|w| write_section(section, w));
                }
                inner.end();
                w.member("vm_address", Hex(segment.address));
                number(w, "vm_size", segment.memory_size);
            });
        }
    }
    all.end();
}

fn write_section(section: &Section<'_>, w: &mut Writer<'_>) {
    w.member("address", Hex(section.address));
    number(w, "alignment", 1u64.checked_shl(section.align));
    number(w, "file_offset", u64::from(section.offset));
    w.member("flags", Hex(section.flags.into()));
    w.member("name", name_text(section.name));
    w.member("segment", name_text(section.segment));
    number(w, "size", section.size);
}

/// `{execute, raw, read, write}`
fn protection(raw: u32, w: &mut Writer<'_>) {
    let bits = permissions(raw);
    w.begin_object();
    w.member("execute", bits.execute);
    w.member("raw", raw);
    w.member("read", bits.read);
    w.member("write", bits.write);
    w.end_object();
}

/// Null where nothing but the table of slices was read.
fn facts(macho: Option<&MachO<'_>>, w: &mut Writer<'_>) {
    let Some(macho) = macho else {
        return w.null();
    };
    w.begin_object();
    let mut written_entries = false;
    for &(name, write) in FACETS {
        if !written_entries && name > "entry_points" {
            entry_points(macho, w);
            written_entries = true;
        }
        // The contract's own member holds them.
        if name == "load_commands" {
            continue;
        }
        w.key(name);
        write(macho, w);
    }
    w.end_object();
}

fn entry_points(macho: &MachO<'_>, w: &mut Writer<'_>) {
    w.key("entry_points");
    let entries: Vec<_> = macho.entries.iter().map(|entry| entry.fact()).collect();
    entries.write_json(w);
}
