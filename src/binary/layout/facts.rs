//! What we say beyond the contract (decision 30): the member `facts`, shaped
//! alike for all formats. What only one format has stands under its name.

use std::sync::Arc;

use super::links::{Collection, Demangled, Export, Import};
use super::rows::{Hex, Permissions, Range, Symbolic};
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
        w.member("address", Hex(self.address));
        w.member("file_size", Hex(self.file_size));
        w.member("memory_size", Hex(self.memory_size));
        w.member("name", &self.name);
        w.member("offset", Hex(self.offset));
        w.member("permissions", self.permissions);
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
        w.member("kind", self.kind);
        w.member("location", self.location);
        w.member("value", &self.value);
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
        w.member("kind", self.kind);
        w.member("location", self.location);
        w.member("more", &self.more);
        w.member("name", name_text(self.name));
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
        w.member("address", self.address.map(Hex));
        w.member("kind", self.kind);
        w.member("location", self.location);
        w.member("symbol", self.symbol.map(name_text).as_deref());
        w.end_object();
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
        w.member("evidence_kind", "inferred");
        w.member("fact", &self.fact);
        w.member("location", self.location);
        w.member("name", self.name);
        w.member("rule", self.rule);
        w.member("state", self.state.as_str());
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
        w.member("count", self.count);
        w.member("name", self.name);
        w.member("type", self.kind);
        w.end_object();
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
            w.member(name, member);
        }
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
            w.member(name, part);
        }
        w.end_object();
    }
}
