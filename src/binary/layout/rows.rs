//! The rows of a layout: the contract's members (binaries section 2.1), for
//! every format. Rows borrow from the file and write themselves.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json::{WriteJson, Writer};

/// A number as `0x` and lower-case digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex(pub u64);

impl WriteJson for Hex {
    fn write_json(&self, w: &mut Writer<'_>) {
        let mut text = [0u8; 18];
        let mut at = text.len();
        let mut rest = self.0;
        loop {
            at -= 1;
            text[at] = b"0123456789abcdef"[(rest & 15) as usize];
            rest >>= 4;
            if rest == 0 {
                break;
            }
        }
        at -= 2;
        text[at] = b'0';
        text[at + 1] = b'x';
        w.text(text.get(at..).unwrap_or_default());
    }
}

/// Bytes of the file: `{bytes, offset}`, both [`Hex`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// Its first byte.
    pub offset: u64,
    /// How many there are.
    pub bytes: u64,
}

impl WriteJson for Range {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("bytes", Hex(self.bytes));
        w.member("offset", Hex(self.offset));
        w.end_object();
    }
}

/// A value of an enumeration: its name in the specification, or the number
/// where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbolic {
    /// `SHT_PROGBITS`
    Named(&'static str),
    /// A value without a name.
    Number(u64),
}

impl Symbolic {
    /// The name of `value` in a table of values and names.
    pub fn of(value: u64, names: &[(u64, &'static str)]) -> Self {
        names
            .iter()
            .find(|&&(known, _)| known == value)
            .map_or(Self::Number(value), |&(_, name)| Self::Named(name))
    }

    /// The name, or the number in hexadecimal.
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Self::Named(name) => Cow::Borrowed(name),
            Self::Number(value) => Cow::Owned(format!("{value:#x}")),
        }
    }
}

impl WriteJson for Symbolic {
    fn write_json(&self, w: &mut Writer<'_>) {
        match *self {
            Self::Named(name) => w.string(name),
            Self::Number(value) => w.u64(value),
        }
    }
}

/// A name in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name<'a> {
    /// Its bytes without the NUL, and where they stand with it.
    At {
        /// Without the NUL.
        bytes: &'a [u8],
        /// Where it stands, the NUL included.
        location: Range,
    },
    /// Not in the file; why.
    Unknown(&'static str),
}

impl<'a> Name<'a> {
    /// A name that ends with a NUL and stands at `offset` of the file.
    pub fn terminated(bytes: &'a [u8], offset: u64) -> Self {
        Self::At {
            bytes,
            location: Range {
                offset,
                bytes: bytes.len() as u64 + 1,
            },
        }
    }

    /// Its bytes; empty where it is unknown.
    pub fn bytes(&self) -> &'a [u8] {
        match self {
            Self::At { bytes, .. } => bytes,
            Self::Unknown(_) => b"",
        }
    }
}

impl WriteJson for Name<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("bytes_base64");
        match self {
            Self::At { bytes, .. } => w.string(&STANDARD.encode(bytes)),
            Self::Unknown(_) => w.null(),
        }
        w.member("display", String::from_utf8_lossy(self.bytes()));
        w.key("location");
        match self {
            Self::At { location, .. } => location.write_json(w),
            Self::Unknown(_) => w.null(),
        }
        w.key("unknown_reason");
        match self {
            Self::At { .. } => w.null(),
            Self::Unknown(reason) => w.string(reason),
        }
        w.end_object();
    }
}

fn backing(w: &mut Writer<'_>, file: bool) {
    w.member("file_backing", if file { "file" } else { "none" });
}

/// A section.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Its place in the table.
    pub index: u64,
    /// Its name.
    pub name: Name<'a>,
    /// The offset of the name in the table of names; null where the name
    /// stands in the header.
    pub name_offset: Option<u64>,
    /// `SHT_...`; for Mach-O `S_...`; null where the format has no types.
    pub kind: Option<Symbolic>,
    /// Where its header stands.
    pub header_location: Range,
    /// The linked virtual address; in objects 0.
    pub address: u64,
    /// Where its bytes stand.
    pub offset: u64,
    /// How many; for a section without bytes in the file, in memory.
    pub size: u64,
    /// In bytes; 0 and 1: none.
    pub alignment: u64,
    /// The flags as they stand.
    pub flags: u64,
    /// `sh_link`
    pub link: u64,
    /// `sh_info`
    pub info: u64,
    /// Bytes an entry of a table.
    pub entry_size: u64,
    /// Whether the file holds its bytes.
    pub in_file: bool,
}

impl WriteJson for Section<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.member("alignment", Hex(self.alignment));
        w.member("entry_size", Hex(self.entry_size));
        backing(w, self.in_file);
        w.member("flags", Hex(self.flags));
        w.member("header_location", self.header_location);
        w.member("index", self.index);
        w.member("info", self.info);
        w.member("link", self.link);
        w.member("name", self.name);
        w.member("name_offset", self.name_offset.map(Hex));
        w.member("offset", Hex(self.offset));
        w.member("size", Hex(self.size));
        w.member("type", self.kind);
        w.end_object();
    }
}

/// What memory may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// Data may be read.
    pub read: bool,
    /// Data may be written.
    pub write: bool,
    /// Code may run.
    pub execute: bool,
}

impl WriteJson for Permissions {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("execute", self.execute);
        w.member("read", self.read);
        w.member("write", self.write);
        w.end_object();
    }
}

/// A segment (program header, Mach-O segment). PE has none.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    /// Its place in the table.
    pub index: u64,
    /// `PT_...`; for Mach-O `LC_SEGMENT` or `LC_SEGMENT_64`.
    pub kind: Symbolic,
    /// Its name, where the format has one. No member of the contract: written
    /// only where there is one.
    pub name: Option<Name<'a>>,
    /// Where its header stands.
    pub header_location: Range,
    /// Where its bytes stand.
    pub offset: u64,
    /// How many stand in the file.
    pub file_size: u64,
    /// How many it takes in memory.
    pub memory_size: u64,
    /// The linked virtual address.
    pub virtual_address: u64,
    /// The physical address; Mach-O: 0.
    pub physical_address: u64,
    /// In bytes.
    pub alignment: u64,
    /// The flags as they stand.
    pub flags: u64,
    /// Whether the file holds bytes of it.
    pub in_file: bool,
    /// Null for `PT_NULL`.
    pub permissions: Option<Permissions>,
}

impl WriteJson for Segment<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("alignment", Hex(self.alignment));
        backing(w, self.in_file);
        w.member("file_size", Hex(self.file_size));
        w.member("flags", Hex(self.flags));
        w.member("header_location", self.header_location);
        w.member("index", self.index);
        w.member("memory_size", Hex(self.memory_size));
        if let Some(name) = self.name {
            w.member("name", name);
        }
        w.member("offset", Hex(self.offset));
        w.member("permissions", self.permissions);
        w.member("physical_address", Hex(self.physical_address));
        w.member("type", self.kind);
        w.member("virtual_address", Hex(self.virtual_address));
        w.end_object();
    }
}

/// What the value of a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueMeaning {
    /// The name of a source file; no address.
    NoAddress,
    /// Defined elsewhere.
    Undefined,
    /// The alignment of a common symbol.
    Alignment,
    /// The size of a common symbol (COFF, Mach-O).
    CommonSize,
    /// A number.
    AbsoluteValue,
    /// Its section cannot be told.
    UnknownSectionIndex,
    /// An offset in its section.
    SectionOffset,
    /// An offset in thread-local storage.
    TlsOffset,
    /// An address as linked.
    LinkedVirtualAddress,
}

impl ValueMeaning {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoAddress => "no-address",
            Self::Undefined => "undefined",
            Self::Alignment => "alignment",
            Self::CommonSize => "common-size",
            Self::AbsoluteValue => "absolute-value",
            Self::UnknownSectionIndex => "unknown-section-index",
            Self::SectionOffset => "section-offset",
            Self::TlsOffset => "tls-offset",
            Self::LinkedVirtualAddress => "linked-virtual-address",
        }
    }
}

/// A symbol.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    /// The section that is its table; formats with one table: 0.
    pub table_index: u64,
    /// Its place in the table.
    pub entry_index: u64,
    /// Its name.
    pub name: Name<'a>,
    /// The offset of the name in the table of strings; null where the name
    /// stands in the entry.
    pub name_offset: Option<u64>,
    /// Where its entry stands.
    pub location: Range,
    /// Its value.
    pub value: u64,
    /// What that is.
    pub meaning: ValueMeaning,
    /// In bytes; 0 where unknown.
    pub size: u64,
    /// `STB_...`, or the format's storage class or scope.
    pub binding: Symbolic,
    /// `STT_...`, or the format's own type.
    pub kind: Symbolic,
    /// `STV_...`; formats without visibility: null.
    pub visibility: Option<Symbolic>,
    /// The section it belongs to: an index, or a reserved one's name
    /// (`SHN_UNDEF`).
    pub section_index: Symbolic,
}

impl WriteJson for Symbol<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("binding", self.binding);
        w.member("entry_index", self.entry_index);
        w.member("location", self.location);
        w.member("name", self.name);
        w.member("name_offset", self.name_offset.map(Hex));
        w.member("section_index", self.section_index);
        w.member("size", Hex(self.size));
        w.member("table_index", self.table_index);
        w.member("type", self.kind);
        w.member("value", Hex(self.value));
        w.member("value_meaning", self.meaning.as_str());
        w.member("visibility", self.visibility);
        w.end_object();
    }
}

/// Where a relocation applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An address as linked.
    Address(u64),
    /// An offset in a section.
    SectionOffset {
        /// The section.
        section: u64,
        /// The offset.
        offset: u64,
    },
    /// A section that cannot be told.
    UnknownSection {
        /// The index that stands there.
        reported: u64,
        /// `undefined-section-reference` or `inactive-section-header`, or what
        /// else is wrong.
        reason: &'static str,
    },
}

impl WriteJson for Target {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        match *self {
            Self::Address(address) => {
                w.member("address", Hex(address));
                w.member("kind", "linked-virtual-address");
            }
            Self::SectionOffset { section, offset } => {
                w.member("kind", "section-offset");
                w.member("offset", Hex(offset));
                w.member("section_index", section);
            }
            Self::UnknownSection { reported, reason } => {
                w.member("kind", "unknown-section");
                w.member("reported_section_index", reported);
                w.member("unknown_reason", reason);
            }
        }
        w.end_object();
    }
}

/// A relocation.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// The section that is its table; in formats with one table a section:
    /// the section it applies to.
    pub section_index: u64,
    /// Its place in the table.
    pub entry_index: u64,
    /// The offset as it stands.
    pub reported_offset: u64,
    /// Where it applies.
    pub target: Target,
    /// Where its entry stands.
    pub location: Range,
    /// The type as it stands; `facts.relocation_types` names it.
    pub kind: u64,
    /// The section that is the table of symbols; null where there is none.
    pub symbol_table_index: Option<u64>,
    /// The symbol; 0: none.
    pub symbol_index: u64,
    /// Null where the entry has none.
    pub addend: Option<i64>,
}

impl WriteJson for Relocation {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("addend", self.addend.map(|addend| addend.to_string()));
        w.member("entry_index", self.entry_index);
        w.member("location", self.location);
        w.member("reported_offset", Hex(self.reported_offset));
        w.member("section_index", self.section_index);
        w.member("symbol_index", self.symbol_index);
        let symbol_reference_meaning = match self.symbol_index {
            0 => "zero-symbol-value",
            _ => "symbol-table-entry",
        };
        w.member("symbol_reference_meaning", symbol_reference_meaning);
        w.member("symbol_table_index", self.symbol_table_index);
        w.member("target", self.target);
        w.member("type", self.kind);
        w.end_object();
    }
}

/// A table of packed relative relocations (`SHT_RELR`).
#[derive(Clone, Debug)]
pub struct PackedRelocations<'a> {
    /// The section.
    pub section_index: u64,
    /// Where it stands.
    pub location: Range,
    /// Its bytes.
    pub encoded: &'a [u8],
    /// The offsets that it stands for.
    pub offsets: Vec<u64>,
    /// Whether the offsets are addresses as linked.
    pub linked: bool,
}

impl WriteJson for PackedRelocations<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("addends");
        w.null();
        w.member("encoded_bytes_base64", STANDARD.encode(self.encoded));
        w.key("entries");
        w.begin_array();
        for (at, &offset) in self.offsets.iter().enumerate() {
            w.begin_object();
            w.member("decoded_index", at as u64);
            w.member("reported_offset", Hex(offset));
            w.end_object();
        }
        w.end_array();
        w.key("entry_source_locations");
        w.null();
        w.member("evidence_kind", "derived");
        w.member("location", self.location);
        let offset_meaning = match self.linked {
            true => "linked-virtual-address",
            false => "unknown",
        };
        w.member("offset_meaning", offset_meaning);
        w.member("section_index", self.section_index);
        w.end_object();
    }
}
