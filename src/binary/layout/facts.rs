//! What we say beyond the contract (decision 30): the member `facts`, shaped
//! alike for all formats. What only one format has stands under its name.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::rows::{Hex, Permissions, Range, Symbolic};
use crate::binary::demangle::demangle;
use crate::binary::macho::MachO;
use crate::binary::name_text;
use crate::json::{Object, WriteJson, Writer};

/// What a format says that others don't; it writes itself.
pub type Part<'a> = Box<dyn WriteJson + Send + Sync + 'a>;

/// The member `facts`.
#[derive(Default)]
pub struct Facts<'a> {
    /// Which addresses stand where in the file, by address.
    pub address_map: Vec<Mapping>,
    /// What ties the file to its debug information.
    pub build_ids: Vec<BuildId>,
    /// The libraries it asks for, in their order.
    pub dependencies: Vec<Dependency<'a>>,
    /// Where code starts: entry, initializers, finalizers, TLS callbacks.
    pub entry_points: Vec<EntryPoint<'a>>,
    /// What it offers.
    pub exports: Vec<Export<'a>>,
    /// Whether these are all, by the bytes.
    pub exports_exhaustive: bool,
    /// What it asks for.
    pub imports: Vec<Import<'a>>,
    /// Whether these are all, by the bytes.
    pub imports_exhaustive: bool,
    /// Protections, each with the rule and the fact it rests on.
    pub mitigations: Vec<Mitigation>,
    /// Bytes behind all that a header names.
    pub overlay: Option<Range>,
    /// The types of relocations that occur, by number, with their names.
    pub relocation_types: Vec<RelocationType>,
    /// What only this format has: its name, and members by name. Sorted when
    /// written.
    pub own: (&'static str, Vec<(&'static str, Part<'a>)>),
    /// The Mach-O slice that was laid out, for those who read its memory; not
    /// written.
    pub macho: Option<Arc<MachO<'a>>>,
}

/// Addresses and the bytes of the file that they show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The first address as linked.
    pub address: u64,
    /// How many bytes of memory.
    pub memory_size: u64,
    /// Where the first byte stands; the rest of memory is zero.
    pub offset: u64,
    /// How many bytes stand in the file.
    pub file_size: u64,
    /// What it may be used for.
    pub permissions: Option<Permissions>,
    /// The segment or section: its name, or its type and index.
    pub name: String,
}

impl WriteJson for Mapping {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("address");
        Hex(self.address).write_json(w);
        w.key("file_size");
        Hex(self.file_size).write_json(w);
        w.key("memory_size");
        Hex(self.memory_size).write_json(w);
        w.key("name");
        w.string(&self.name);
        w.key("offset");
        Hex(self.offset).write_json(w);
        w.key("permissions");
        self.permissions.write_json(w);
        w.end_object();
    }
}

/// An identity of the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildId {
    /// `gnu-build-id`, `go-build-id`, `pdb`, `uuid`, `debug-link`, ...
    pub kind: &'static str,
    /// As the format's tools print it.
    pub value: String,
    /// Where it stands.
    pub location: Range,
}

impl WriteJson for BuildId {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("kind");
        w.string(self.kind);
        w.key("location");
        self.location.write_json(w);
        w.key("value");
        w.string(&self.value);
        w.end_object();
    }
}

/// A library that is asked for.
#[derive(Clone, Debug)]
pub struct Dependency<'a> {
    /// As it stands.
    pub name: &'a [u8],
    /// `DT_NEEDED`, `import`, `delay-import`, `bound-import`, `LC_LOAD_DYLIB`...
    pub kind: &'static str,
    /// Where the name stands.
    pub location: Option<Range>,
    /// What else the format says (Mach-O: versions).
    pub more: Object,
}

impl WriteJson for Dependency<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("kind");
        w.string(self.kind);
        w.key("location");
        self.location.write_json(w);
        w.key("more");
        self.more.write_json(w);
        w.key("name");
        w.string(&name_text(self.name));
        w.end_object();
    }
}

/// Code that runs without being called by name.
#[derive(Clone, Debug)]
pub struct EntryPoint<'a> {
    /// `entry`, `init`, `init-array`, `preinit-array`, `fini`, `fini-array`,
    /// `tls-callback`, `mod-init`, `mod-term`, `thread`.
    pub kind: &'static str,
    /// The address as linked; null where a relocation gives it.
    pub address: Option<u64>,
    /// Where the pointer stands.
    pub location: Option<Range>,
    /// A symbol at the address.
    pub symbol: Option<&'a [u8]>,
}

impl WriteJson for EntryPoint<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("address");
        self.address.map(Hex).write_json(w);
        w.key("kind");
        w.string(self.kind);
        w.key("location");
        self.location.write_json(w);
        w.key("symbol");
        self.symbol.map(name_text).as_deref().write_json(w);
        w.end_object();
    }
}

/// Something offered to others.
#[derive(Clone, Debug, Default)]
pub struct Export<'a> {
    /// Its name; null for one by ordinal only.
    pub name: Option<Cow<'a, [u8]>>,
    /// `function`, `data`, `tls`, `absolute`, `ifunc`, ... null where the
    /// format does not tell.
    pub kind: Option<&'static str>,
    /// The address as linked.
    pub address: Option<u64>,
    /// In bytes.
    pub size: Option<u64>,
    /// PE: its number.
    pub ordinal: Option<u64>,
    /// Whether another definition wins.
    pub weak: bool,
    /// ELF: the version, `@@` marks the default.
    pub version: Option<Cow<'a, [u8]>>,
    /// Another library's symbol that it stands for: PE forwarders, Mach-O
    /// re-exports.
    pub forwarder: Option<Cow<'a, [u8]>>,
    /// The structure that says so: `.dynsym`, `export-trie`, ...
    pub source: &'static str,
    /// Where the entry stands.
    pub location: Option<Range>,
}

/// A name of the file as text, nothing lost.
fn text(w: &mut Writer<'_>, key: &str, name: Option<&[u8]>) {
    w.key(key);
    name.map(name_text).as_deref().write_json(w);
}

/// The name as people write it, where it is mangled; `known` where that was
/// found out before.
fn demangled(w: &mut Writer<'_>, name: Option<&[u8]>, known: Option<Option<&str>>) {
    w.key("demangled");
    match known {
        Some(text) => text.write_json(w),
        None => match name.and_then(demangle) {
            Some(demangled) => w.string(&demangled.text),
            None => w.null(),
        },
    }
}

/// A row with a name that may be mangled.
pub(super) trait Linked: WriteJson + Sync {
    /// The name.
    fn name(&self) -> Option<&[u8]>;

    /// Writes the row; `known` as in [`demangled`].
    fn write(&self, known: Option<Option<&str>>, w: &mut Writer<'_>);
}

impl Linked for Export<'_> {
    fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    fn write(&self, known: Option<Option<&str>>, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("address");
        self.address.map(Hex).write_json(w);
        demangled(w, self.name.as_deref(), known);
        text(w, "forwarder", self.forwarder.as_deref());
        w.key("kind");
        self.kind.write_json(w);
        w.key("location");
        self.location.write_json(w);
        text(w, "name", self.name.as_deref());
        w.key("ordinal");
        w.optional_u64(self.ordinal);
        w.key("size");
        self.size.map(Hex).write_json(w);
        w.key("source");
        w.string(self.source);
        text(w, "version", self.version.as_deref());
        w.key("weak");
        w.bool(self.weak);
        w.end_object();
    }
}

impl WriteJson for Export<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.write(None, w);
    }
}

/// Something that others must offer.
#[derive(Clone, Debug, Default)]
pub struct Import<'a> {
    /// Its name; null for one by ordinal.
    pub name: Option<Cow<'a, [u8]>>,
    /// `function`, `data`, ... null where the format does not tell.
    pub kind: Option<&'static str>,
    /// The library that must offer it, where the format binds names to
    /// libraries.
    pub library: Option<Cow<'a, [u8]>>,
    /// PE: its number; Mach-O: the library's.
    pub ordinal: Option<u64>,
    /// ELF: the version asked for.
    pub version: Option<Cow<'a, [u8]>>,
    /// Whether it may be missing.
    pub weak: bool,
    /// The slot that receives its address, as linked.
    pub address: Option<u64>,
    /// The structure that says so: `.dynsym`, `import-table`, `lazy-bind`, ...
    pub source: &'static str,
    /// Where the entry stands.
    pub location: Option<Range>,
}

impl Linked for Import<'_> {
    fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    fn write(&self, known: Option<Option<&str>>, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("address");
        self.address.map(Hex).write_json(w);
        demangled(w, self.name.as_deref(), known);
        w.key("kind");
        self.kind.write_json(w);
        text(w, "library", self.library.as_deref());
        w.key("location");
        self.location.write_json(w);
        text(w, "name", self.name.as_deref());
        w.key("ordinal");
        w.optional_u64(self.ordinal);
        w.key("source");
        w.string(self.source);
        text(w, "version", self.version.as_deref());
        w.key("weak");
        w.bool(self.weak);
        w.end_object();
    }
}

impl WriteJson for Import<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.write(None, w);
    }
}

/// Whether a protection is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is.
    Present,
    /// In part: partial RELRO.
    Partial,
    /// It is not.
    Absent,
    /// The bytes do not tell.
    Unknown,
    /// It has no meaning for this file.
    NotApplicable,
}

impl State {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Partial => "partial",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
            Self::NotApplicable => "not-applicable",
        }
    }
}

/// A protection: what is concluded, by which rule, from what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mitigation {
    /// `nx`, `pie`, `relro`, `stack-canary`, `fortify`, `cfg`, `aslr`, ...
    pub name: &'static str,
    /// What is concluded.
    pub state: State,
    /// The rule, a sentence.
    pub rule: &'static str,
    /// The fact that it rests on, as it stands: `DT_FLAGS_1 0x8000001`.
    pub fact: String,
    /// Where the fact stands.
    pub location: Option<Range>,
}

impl WriteJson for Mitigation {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("evidence_kind");
        w.string("inferred");
        w.key("fact");
        w.string(&self.fact);
        w.key("location");
        self.location.write_json(w);
        w.key("name");
        w.string(self.name);
        w.key("rule");
        w.string(self.rule);
        w.key("state");
        w.string(self.state.as_str());
        w.end_object();
    }
}

/// A type of relocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocationType {
    /// As it stands in `relocations[].type`.
    pub kind: u64,
    /// Its name for this machine, or the number again.
    pub name: Symbolic,
    /// How many relocations have it.
    pub count: u64,
}

impl WriteJson for RelocationType {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("count");
        w.u64(self.count);
        w.key("name");
        self.name.write_json(w);
        w.key("type");
        w.u64(self.kind);
        w.end_object();
    }
}

/// Names as people write them. A record is written twice; they are found once,
/// on all cores. Beyond [`Demangled::ROOM`] they are found again each time.
#[derive(Default)]
pub(super) struct Demangled {
    exports: Texts,
    imports: Texts,
}

#[derive(Default)]
struct Texts {
    text: String,
    /// Where each stands; `None`: the name is not mangled.
    places: Vec<Option<(u32, u32)>>,
}

impl Demangled {
    /// Bytes of text that are kept for each list.
    const ROOM: usize = 16 << 20;

    pub(super) fn of(facts: &Facts<'_>) -> Self {
        Self {
            exports: Texts::of(&facts.exports),
            imports: Texts::of(&facts.imports),
        }
    }
}

impl Texts {
    fn of<T: Linked>(rows: &[T]) -> Self {
        let mut found = Self::default();
        for rows in rows.chunks(8192) {
            if found.text.len() > Demangled::ROOM {
                break;
            }
            let texts: Vec<Option<String>> = rows
                .par_iter()
                .map(|row| Some(row.name().and_then(demangle)?.text))
                .collect();
            for text in texts {
                let start = found.text.len();
                found.text.push_str(text.as_deref().unwrap_or_default());
                let place = u32::try_from(start)
                    .ok()
                    .zip(found.text.len().try_into().ok());
                found.places.push(place.filter(|_| text.is_some()));
            }
        }
        found
    }

    /// The text of a row, where it was found out.
    fn get(&self, row: usize) -> Option<Option<&str>> {
        let place = *self.places.get(row)?;
        let Some((start, end)) = place else {
            return Some(None);
        };
        self.text.get(start as usize..end as usize).map(Some)
    }
}

impl Facts<'_> {
    /// Writes the object; `extra` are members of the whole file (strings,
    /// digests) that stand beside the format's.
    pub(super) fn write(
        &self,
        demangled: &Demangled,
        extra: &[(&'static str, &dyn WriteJson)],
        w: &mut Writer<'_>,
    ) {
        let (format, own) = &self.own;
        let own = Own(own);
        let overlay = self.overlay;
        let mut members: Vec<(&str, &dyn WriteJson)> = vec![
            ("address_map", &self.address_map),
            ("build_ids", &self.build_ids),
            ("dependencies", &self.dependencies),
            ("entry_points", &self.entry_points),
            ("mitigations", &self.mitigations),
            ("overlay", &overlay),
            ("relocation_types", &self.relocation_types),
        ];
        let exports = Collection(&self.exports, self.exports_exhaustive, &demangled.exports);
        let imports = Collection(&self.imports, self.imports_exhaustive, &demangled.imports);
        members.push(("exports", &exports));
        members.push(("imports", &imports));
        members.push((format, &own));
        members.extend(extra);
        members.sort_unstable_by_key(|&(name, _)| name);
        w.begin_object();
        for (name, member) in members {
            w.key(name);
            member.write_json(w);
        }
        w.end_object();
    }
}

/// Rows, whether they are all by the bytes, and their names as people write
/// them.
struct Collection<'a, T>(&'a [T], bool, &'a Texts);

impl<T: Linked> WriteJson for Collection<'_, T> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("exhaustive");
        w.bool(self.1);
        w.key("items");
        w.begin_array();
        for (at, row) in self.0.iter().enumerate() {
            row.write(self.2.get(at), w);
        }
        w.end_array();
        w.end_object();
    }
}

struct Own<'a>(&'a [(&'static str, Part<'a>)]);

impl WriteJson for Own<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let mut members: Vec<_> = self.0.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        w.begin_object();
        for (name, part) in members {
            w.key(name);
            part.write_json(w);
        }
        w.end_object();
    }
}
