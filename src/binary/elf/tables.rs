//! The table of sections and the table of segments (gABI ch. 4 and 5).

use super::header::Header;
use super::names;
use super::strings::Strings;
use super::{Budget, Elf};
use crate::binary::layout::rows::{Permissions, Range, Section, Segment};
use crate::binary::{Bytes, Notes};

/// `sh_type`
pub(super) mod sht {
    pub const NULL: u32 = 0;
    pub const SYMTAB: u32 = 2;
    pub const STRTAB: u32 = 3;
    pub const RELA: u32 = 4;
    pub const HASH: u32 = 5;
    pub const DYNAMIC: u32 = 6;
    pub const NOTE: u32 = 7;
    pub const NOBITS: u32 = 8;
    pub const REL: u32 = 9;
    pub const DYNSYM: u32 = 11;
    pub const GROUP: u32 = 17;
    pub const SYMTAB_SHNDX: u32 = 18;
    pub const RELR: u32 = 19;
    pub const CREL: u32 = 20;
    /// The number that LLVM used before the registered one.
    pub const LLVM_CREL: u32 = 0x4000_0014;
    pub const ANDROID_REL: u32 = 0x6000_0001;
    pub const ANDROID_RELA: u32 = 0x6000_0002;
    pub const ANDROID_RELR: u32 = 0x6FFF_FF00;
    pub const SUNW_LDYNSYM: u32 = 0x6FFF_FFF3;
    pub const AARCH64_AUTH_RELR: u32 = 0x7000_0004;
    pub const GNU_HASH: u32 = 0x6FFF_FFF6;
    pub const GNU_VERDEF: u32 = 0x6FFF_FFFD;
    pub const GNU_VERNEED: u32 = 0x6FFF_FFFE;
    pub const GNU_VERSYM: u32 = 0x6FFF_FFFF;
}

/// `p_type`
pub(super) mod pt {
    pub const NULL: u32 = 0;
    pub const LOAD: u32 = 1;
    pub const DYNAMIC: u32 = 2;
    pub const INTERP: u32 = 3;
    pub const NOTE: u32 = 4;
    pub const GNU_EH_FRAME: u32 = 0x6474_E550;
    pub const GNU_STACK: u32 = 0x6474_E551;
    pub const GNU_RELRO: u32 = 0x6474_E552;
    pub const GNU_PROPERTY: u32 = 0x6474_E553;
}

/// `SHF_COMPRESSED`
pub(super) const SHF_COMPRESSED: u64 = 0x800;
/// `SHF_ALLOC`
pub(super) const SHF_ALLOC: u64 = 2;

/// `Elf32_Shdr`, `Elf64_Shdr`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionHeader {
    pub at: u64,
    pub name: u32,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub alignment: u64,
    pub entry_size: u64,
}

/// `Elf32_Phdr`, `Elf64_Phdr`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentHeader {
    pub at: u64,
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub virtual_address: u64,
    pub physical_address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub alignment: u64,
}

/// Bytes of `Elf32_Shdr` and `Elf64_Shdr`.
pub(super) fn section_header_size(wide: bool) -> u64 {
    if wide { 64 } else { 40 }
}

/// Bytes of `Elf32_Phdr` and `Elf64_Phdr`.
pub(super) fn segment_header_size(wide: bool) -> u64 {
    if wide { 56 } else { 32 }
}

pub(super) fn section_header(bytes: Bytes<'_>, at: u64, wide: bool) -> Option<SectionHeader> {
    let word = if wide { 8 } else { 4 };
    let after = at.checked_add(8)?;
    let tail = after.checked_add(4 * word)?;
    Some(SectionHeader {
        at,
        name: bytes.u32(at)?,
        kind: bytes.u32(at + 4)?,
        flags: bytes.word(after, wide)?,
        address: bytes.word(after + word, wide)?,
        offset: bytes.word(after + 2 * word, wide)?,
        size: bytes.word(after + 3 * word, wide)?,
        link: bytes.u32(tail)?,
        info: bytes.u32(tail + 4)?,
        alignment: bytes.word(tail + 8, wide)?,
        entry_size: bytes.word(tail + 8 + word, wide)?,
    })
}

fn segment_header(bytes: Bytes<'_>, at: u64, wide: bool) -> Option<SegmentHeader> {
    at.checked_add(segment_header_size(wide))?;
    // The flags moved when addresses grew.
    Some(match wide {
        true => SegmentHeader {
            at,
            kind: bytes.u32(at)?,
            flags: bytes.u32(at + 4)?,
            offset: bytes.u64(at + 8)?,
            virtual_address: bytes.u64(at + 16)?,
            physical_address: bytes.u64(at + 24)?,
            file_size: bytes.u64(at + 32)?,
            memory_size: bytes.u64(at + 40)?,
            alignment: bytes.u64(at + 48)?,
        },
        false => SegmentHeader {
            at,
            kind: bytes.u32(at)?,
            flags: bytes.u32(at + 24)?,
            offset: bytes.u32(at + 4)?.into(),
            virtual_address: bytes.u32(at + 8)?.into(),
            physical_address: bytes.u32(at + 12)?.into(),
            file_size: bytes.u32(at + 16)?.into(),
            memory_size: bytes.u32(at + 20)?.into(),
            alignment: bytes.u32(at + 28)?.into(),
        },
    })
}

/// Reads `count` headers of `stride` bytes from `offset`, as many as the file
/// holds.
fn headers<T>(
    what: &'static str,
    (offset, stride, count): (u64, u64, u64),
    least: u64,
    bytes: Bytes<'_>,
    notes: &mut Notes,
    read: impl Fn(u64) -> Option<T>,
) -> Vec<T> {
    let mut rows = Vec::new();
    if count == 0 {
        return rows;
    }
    if stride < least {
        notes.at(
            what,
            offset,
            format!("its entries have {stride} bytes, and a header has {least}"),
        );
        return rows;
    }
    let mut at = offset;
    for _ in 0..count {
        let Some(row) = read(at) else {
            let found = rows.len();
            notes.at(
                what,
                offset,
                format!("it tells {count} headers, and the file holds {found} of them"),
            );
            break;
        };
        rows.push(row);
        let Some(next) = at.checked_add(stride) else {
            break;
        };
        at = next;
    }
    debug_assert!(rows.len() as u64 <= bytes.len());
    rows
}

/// Section 0 where it may hold what the header's fields are too small for:
/// `sh_size`, `sh_link`, `sh_info`.
pub(super) fn section_zero(
    header: &Header,
    bytes: Bytes<'_>,
    wide: bool,
) -> Option<(u64, u32, u32)> {
    if header.shoff == 0 || u64::from(header.shentsize) < section_header_size(wide) {
        return None;
    }
    let zero = section_header(bytes, header.shoff, wide)?;
    Some((zero.size, zero.link, zero.info))
}

/// The headers of sections.
pub(super) fn sections(
    header: &Header,
    count: u64,
    bytes: Bytes<'_>,
    wide: bool,
    notes: &mut Notes,
) -> Vec<SectionHeader> {
    if header.shoff == 0 {
        return Vec::new();
    }
    let table = (header.shoff, u64::from(header.shentsize), count);
    headers(
        "the table of sections",
        table,
        section_header_size(wide),
        bytes,
        notes,
        |at| section_header(bytes, at, wide),
    )
}

/// The headers of segments.
pub(super) fn segments(
    header: &Header,
    count: u64,
    bytes: Bytes<'_>,
    wide: bool,
    notes: &mut Notes,
) -> Vec<SegmentHeader> {
    if header.phoff == 0 {
        return Vec::new();
    }
    let table = (header.phoff, u64::from(header.phentsize), count);
    headers(
        "the table of segments",
        table,
        segment_header_size(wide),
        bytes,
        notes,
        |at| segment_header(bytes, at, wide),
    )
}

impl SectionHeader {
    /// Whether the file holds its bytes.
    pub(super) fn in_file(&self) -> bool {
        !matches!(self.kind, sht::NULL | sht::NOBITS)
    }

    /// Its range of the file.
    pub(super) fn range(&self) -> Range {
        Range {
            offset: self.offset,
            bytes: self.size,
        }
    }
}

impl SegmentHeader {
    /// What it may be used for.
    pub(super) fn permissions(&self) -> Permissions {
        Permissions {
            read: self.flags & 4 != 0,
            write: self.flags & 2 != 0,
            execute: self.flags & 1 != 0,
        }
    }
}

/// Whether `bytes` from `offset` stand in a file of `length` bytes.
pub(super) fn inside(offset: u64, bytes: u64, length: u64) -> bool {
    offset.checked_add(bytes).is_some_and(|end| end <= length)
}

/// The rows of sections, names resolved.
pub(super) fn section_rows<'a>(
    elf: &Elf<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Section<'a>> {
    let strings = section_names(elf, notes);
    let size = section_header_size(elf.wide);
    let mut rows = Vec::with_capacity(elf.sections.len());
    for (index, header) in elf.sections.iter().enumerate() {
        let name = match &strings {
            Ok(strings) => strings.name(header.name.into(), budget),
            Err(reason) => crate::binary::layout::rows::Name::Unknown(reason),
        };
        if header.in_file() && !inside(header.offset, header.size, elf.bytes.len()) {
            notes.at(
                format!("section {index}"),
                header.at,
                format!(
                    "its {:#x} bytes from {:#x} are not all in the file",
                    header.size, header.offset
                ),
            );
        }
        rows.push(Section {
            index: index as u64,
            name,
            name_offset: Some(header.name.into()),
            kind: Some(names::section(header.kind, elf.header.machine)),
            header_location: Range {
                offset: header.at,
                bytes: size,
            },
            address: header.address,
            offset: header.offset,
            size: header.size,
            alignment: header.alignment,
            flags: header.flags,
            link: header.link.into(),
            info: header.info.into(),
            entry_size: header.entry_size,
            in_file: header.in_file(),
        });
    }
    rows
}

/// The table that holds the names of sections.
fn section_names<'a>(elf: &Elf<'a>, notes: &mut Notes) -> Result<Strings<'a>, &'static str> {
    let index = elf.names_section;
    if elf.sections.is_empty() {
        if elf.section_count == 0 {
            notes.add(crate::binary::Note {
                structure: "the table of sections".to_owned(),
                offset: None,
                reason: "there is none; what segments and the dynamic table tell was read"
                    .to_owned(),
            });
        }
        return Err("no-section-name-table");
    }
    if index == 0 {
        notes.at(
            "e_shstrndx",
            if elf.wide { 62 } else { 50 },
            "no section holds the names of sections",
        );
        return Err("no-section-name-table");
    }
    let wrong = |notes: &mut Notes, reason: String| {
        notes.at("e_shstrndx", if elf.wide { 62 } else { 50 }, reason);
        Err("section-name-table-unreadable")
    };
    if (0xFF00..0xFFFF).contains(&elf.header.shstrndx) {
        return wrong(notes, format!("{index:#x} is a reserved index"));
    }
    let Some(header) = elf.section(index) else {
        return wrong(notes, format!("there is no section {index}"));
    };
    if header.kind != sht::STRTAB {
        return wrong(notes, format!("section {index} is no table of strings"));
    }
    Ok(elf.strings_of(header))
}

/// The rows of segments.
pub(super) fn segment_rows<'a>(elf: &Elf<'a>, notes: &mut Notes) -> Vec<Segment<'a>> {
    let size = segment_header_size(elf.wide);
    let mut rows = Vec::with_capacity(elf.segments.len());
    for (index, header) in elf.segments.iter().enumerate() {
        let structure = || format!("segment {index}");
        if header.kind != pt::NULL
            && header.file_size > 0
            && !inside(header.offset, header.file_size, elf.bytes.len())
        {
            notes.at(
                structure(),
                header.at,
                format!(
                    "its {:#x} bytes from {:#x} are not all in the file",
                    header.file_size, header.offset
                ),
            );
        }
        if header.kind == pt::LOAD && header.memory_size < header.file_size {
            notes.at(
                structure(),
                header.at,
                format!(
                    "it takes {:#x} bytes of memory, and has {:#x} in the file",
                    header.memory_size, header.file_size
                ),
            );
        }
        rows.push(Segment {
            index: index as u64,
            kind: names::segment(header.kind, elf.header.machine),
            name: None,
            header_location: Range {
                offset: header.at,
                bytes: size,
            },
            offset: header.offset,
            file_size: header.file_size,
            memory_size: header.memory_size,
            virtual_address: header.virtual_address,
            physical_address: header.physical_address,
            alignment: header.alignment,
            flags: header.flags.into(),
            in_file: header.kind != pt::NULL && header.file_size > 0,
            permissions: (header.kind != pt::NULL).then(|| header.permissions()),
        });
    }
    rows
}
