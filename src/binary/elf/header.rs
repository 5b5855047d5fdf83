//! The ELF header (gABI ch. 4), and what section 0 says where its numbers are
//! too small.

use super::fact::{Text, rows};
use super::names::{self, em};
use super::{Elf, flags};
use crate::binary::layout::Refusal;
use crate::binary::layout::rows::{Hex, Range, Symbolic};
use crate::binary::{ByteOrder, Bytes};

/// Where the table of sections names an index that does not fit.
pub(super) const SHN_XINDEX: u16 = 0xFFFF;
/// Where `e_phnum` does not fit.
const PN_XNUM: u16 = 0xFFFF;

/// `Elf32_Ehdr`, `Elf64_Ehdr`: what stands there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub ident_version: u8,
    pub osabi: u8,
    pub abi_version: u8,
    pub kind: u16,
    pub machine: u16,
    pub version: u32,
    pub entry: u64,
    pub phoff: u64,
    pub shoff: u64,
    pub flags: u32,
    pub ehsize: u16,
    pub phentsize: u16,
    pub phnum: u16,
    pub shentsize: u16,
    pub shnum: u16,
    pub shstrndx: u16,
}

fn cut(offset: u64, reason: impl Into<String>) -> Refusal {
    Refusal::Header {
        offset,
        reason: reason.into(),
    }
}

impl Header {
    /// Reads it; bytes of the file in its order, and whether it is of 64 bits.
    pub(super) fn read(file: &[u8]) -> Result<(Self, Bytes<'_>, bool), Refusal> {
        let &[0x7F, b'E', b'L', b'F', ref ident @ ..] = file else {
            return Err(Refusal::Format);
        };
        let &[class, data, ident_version, osabi, abi_version, ..] = ident else {
            return Err(cut(4, "it is cut"));
        };
        let wide = match class {
            1 => false,
            2 => true,
            _ => return Err(cut(4, format!("class {class} is neither 32 nor 64 bits"))),
        };
        let order = match data {
            1 => ByteOrder::Little,
            2 => ByteOrder::Big,
            _ => return Err(cut(5, format!("{data} is no byte order"))),
        };
        let bytes = Bytes::new(file, order);
        let read = || {
            let word = if wide { 8 } else { 4 };
            let after = 24 + 3 * word;
            Some(Self {
                ident_version,
                osabi,
                abi_version,
                kind: bytes.u16(16)?,
                machine: bytes.u16(18)?,
                version: bytes.u32(20)?,
                entry: bytes.word(24, wide)?,
                phoff: bytes.word(24 + word, wide)?,
                shoff: bytes.word(24 + 2 * word, wide)?,
                flags: bytes.u32(after)?,
                ehsize: bytes.u16(after + 4)?,
                phentsize: bytes.u16(after + 6)?,
                phnum: bytes.u16(after + 8)?,
                shentsize: bytes.u16(after + 10)?,
                shnum: bytes.u16(after + 12)?,
                shstrndx: bytes.u16(after + 14)?,
            })
        };
        let header = read().ok_or_else(|| cut(file.len() as u64, "it is cut"))?;
        Ok((header, bytes, wide))
    }

    /// How many segments it tells, with section 0's help.
    pub(super) fn segment_count(&self, zero: Option<(u64, u32, u32)>) -> u64 {
        match (self.phnum, zero) {
            (PN_XNUM, Some((_, _, info))) if info != 0 => info.into(),
            _ => self.phnum.into(),
        }
    }

    /// How many sections it tells, with section 0's help.
    pub(super) fn section_count(&self, zero: Option<(u64, u32, u32)>) -> u64 {
        match (self.shnum, zero) {
            (0, Some((size, _, _))) if self.shoff != 0 => size,
            _ => self.shnum.into(),
        }
    }

    /// The section that holds the names of sections, with section 0's help.
    pub(super) fn names_section(&self, zero: Option<(u64, u32, u32)>) -> u64 {
        match (self.shstrndx, zero) {
            (SHN_XINDEX, Some((_, link, _))) => link.into(),
            _ => self.shstrndx.into(),
        }
    }

    /// The architecture in subjects (binaries section 1).
    pub(super) fn architecture(&self) -> Option<&'static str> {
        Some(match self.machine {
            em::I386 => "x86",
            em::X86_64 => "x86_64",
            em::ARM => "arm",
            em::AARCH64 => "arm64",
            _ => return None,
        })
    }
}

rows! {
    /// `facts.elf.header`
    struct HeaderFact<'a> {
        abi_version: u64,
        class: Text<'a>,
        entry: Hex,
        flag_names: Vec<String>,
        flags: Hex,
        header_size: u64,
        ident: super::fact::HexBytes<'a>,
        ident_version: u64,
        location: Range,
        machine: Symbolic,
        machine_number: u64,
        os_abi: Symbolic,
        section_count: u64,
        section_count_in_header: u64,
        section_entry_size: u64,
        section_names_index: u64,
        section_names_index_in_header: u64,
        section_table_offset: Hex,
        segment_count: u64,
        segment_count_in_header: u64,
        segment_entry_size: u64,
        segment_table_offset: Hex,
        kind as "type": Symbolic,
        version: u64,
    }
}

/// The header as a fact.
pub(super) fn fact<'a>(elf: &Elf<'a>) -> HeaderFact<'a> {
    let header = &elf.header;
    HeaderFact {
        abi_version: header.abi_version.into(),
        class: Text(if elf.wide {
            b"ELFCLASS64"
        } else {
            b"ELFCLASS32"
        }),
        entry: Hex(header.entry),
        flag_names: flags::names(header),
        flags: Hex(header.flags.into()),
        header_size: header.ehsize.into(),
        ident: super::fact::HexBytes(elf.bytes.up_to(0, 16)),
        ident_version: header.ident_version.into(),
        location: Range {
            offset: 0,
            bytes: if elf.wide { 64 } else { 52 },
        },
        machine: Symbolic::of(header.machine.into(), names::MACHINES),
        machine_number: header.machine.into(),
        os_abi: names::system(header.osabi, header.machine),
        section_count: elf.section_count,
        section_count_in_header: header.shnum.into(),
        section_entry_size: header.shentsize.into(),
        section_names_index: elf.names_section,
        section_names_index_in_header: header.shstrndx.into(),
        section_table_offset: Hex(header.shoff),
        segment_count: elf.segment_count,
        segment_count_in_header: header.phnum.into(),
        segment_entry_size: header.phentsize.into(),
        segment_table_offset: Hex(header.phoff),
        kind: names::file(header.kind),
        version: header.version.into(),
    }
}
