//! The section table ("PE Format", section "Section Table (Section Headers)").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::fields::{flag_names, hex, name, number};
use super::image::Budget;
use super::names::{SECTION_ALIGNMENT, SECTION_FLAGS};
use super::strings::{Strings, no_name};
use crate::binary::layout::rows::{Name, Permissions, Range, Section};
use crate::binary::{Bytes, Notes};
use crate::json::{Object, WriteJson, Writer};

/// Bytes of a section header.
pub(super) const HEADER: u64 = 40;

/// A section header.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionHeader<'a> {
    /// From one on.
    pub number: u64,
    pub header: Range,
    pub name: Name<'a>,
    pub name_offset: Option<u64>,
    pub virtual_size: u64,
    pub rva: u64,
    pub raw_size: u64,
    pub raw_offset: u64,
    pub relocations_at: u64,
    pub lines_at: u64,
    pub relocations: u64,
    pub lines: u64,
    pub flags: u64,
}

impl<'a> SectionHeader<'a> {
    /// What memory of it may be used for.
    pub(super) fn permissions(&self) -> Permissions {
        Permissions {
            read: self.flags & 0x4000_0000 != 0,
            write: self.flags & 0x8000_0000 != 0,
            execute: self.flags & 0x2000_0000 != 0,
        }
    }

    /// Whether the file holds bytes of it.
    pub(super) fn in_file(&self) -> bool {
        self.raw_size != 0 && self.raw_offset != 0
    }

    /// In bytes, for objects; 0 where the flags give none.
    pub(super) fn alignment(&self) -> u64 {
        match (self.flags & SECTION_ALIGNMENT) >> 20 {
            0 | 15 => 0,
            power => 1 << (power - 1),
        }
    }

    /// As a row of the contract. `base` is that of an image.
    pub(super) fn row(&self, base: Option<u64>, alignment: u64) -> Section<'a> {
        let in_file = self.in_file();
        let size = match base {
            Some(_) if !in_file => self.virtual_size,
            _ => self.raw_size,
        };
        Section {
            index: self.number,
            name: self.name,
            name_offset: self.name_offset,
            kind: None,
            header_location: self.header,
            address: base.map_or(0, |base| base.wrapping_add(self.rva)),
            offset: self.raw_offset,
            size,
            alignment,
            flags: self.flags,
            link: 0,
            info: 0,
            entry_size: 0,
            in_file,
        }
    }
}

impl WriteJson for SectionHeader<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let mut row = Object::new();
        row.insert(
            "characteristics",
            flag_names(self.flags & !SECTION_ALIGNMENT, SECTION_FLAGS),
        );
        row.insert("index", number(self.number));
        row.insert("name", name(self.name.bytes()));
        row.insert("number_of_line_numbers", number(self.lines));
        row.insert("number_of_relocations", number(self.relocations));
        row.insert("pointer_to_line_numbers", hex(self.lines_at));
        row.insert("pointer_to_raw_data", hex(self.raw_offset));
        row.insert("pointer_to_relocations", hex(self.relocations_at));
        row.insert("size_of_raw_data", hex(self.raw_size));
        row.insert("virtual_address", hex(self.rva));
        row.insert("virtual_size", hex(self.virtual_size));
        row.write_json(w);
    }
}

/// Reads `count` headers from `offset`; those that the file has.
pub(super) fn read<'a>(
    bytes: Bytes<'a>,
    offset: u64,
    count: u64,
    strings: &Strings<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<SectionHeader<'a>> {
    let there = bytes.len().saturating_sub(offset) / HEADER;
    if there < count {
        notes.at(
            "section table",
            offset,
            format!("it has {count} headers, and the file ends after {there} of them"),
        );
    }
    let headers = (0..count.min(there)).filter_map(|index| {
        let at = offset + index * HEADER;
        let header = bytes.part(at, HEADER)?;
        let raw_name = header.get(0, 8)?;
        let u32 = |at| header.u32(at).map(u64::from);
        let (name, name_offset) = section_name(raw_name, at, strings, budget, notes);
        Some(SectionHeader {
            number: index + 1,
            header: Range {
                offset: at,
                bytes: HEADER,
            },
            name,
            name_offset,
            virtual_size: u32(8)?,
            rva: u32(12)?,
            raw_size: u32(16)?,
            raw_offset: u32(20)?,
            relocations_at: u32(24)?,
            lines_at: u32(28)?,
            relocations: u64::from(header.u16(32)?),
            lines: u64::from(header.u16(34)?),
            flags: u32(36)?,
        })
    });
    headers.collect()
}

/// A name: up to eight bytes, or `/` and the decimal offset of a longer one in
/// the table of strings, or `//` and the offset in base 64.
fn section_name<'a>(
    raw: &'a [u8],
    at: u64,
    strings: &Strings<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> (Name<'a>, Option<u64>) {
    let end = memchr::memchr(0, raw).unwrap_or(raw.len());
    let bytes = raw.get(..end).unwrap_or(raw);
    let here = Name::At {
        bytes,
        location: Range {
            offset: at,
            bytes: 8,
        },
    };
    let offset = match bytes {
        [b'/', b'/', encoded @ ..] => base64_offset(encoded),
        [b'/', decimal @ ..] => std::str::from_utf8(decimal)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse().ok()),
        _ => return (here, None),
    };
    let Some(offset) = offset else {
        return (here, None);
    };
    match strings.name(offset, budget) {
        Name::Unknown(_) => {
            notes.at("section name", at, no_name(offset, budget));
            (here, Some(offset))
        }
        name => (name, Some(offset)),
    }
}

/// Six characters of base 64, most significant first.
fn base64_offset(encoded: &[u8]) -> Option<u64> {
    // 36 bits: two characters of zero in front make whole bytes.
    let mut padded = *b"AAAAAAAA";
    let start = padded.len().checked_sub(encoded.len())?;
    padded.get_mut(start..)?.copy_from_slice(encoded);
    let bytes = STANDARD_NO_PAD.decode(padded).ok()?;
    Some(
        bytes
            .iter()
            .fold(0, |value, &byte| value << 8 | u64::from(byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `encodeBase64StringEntry` of LLVM writes 10,000,000 so.
    #[test]
    fn long_offsets_are_base_64() {
        assert_eq!(base64_offset(b"AAmJaA"), Some(10_000_000));
        assert_eq!(base64_offset(b"*"), None);
    }
}
