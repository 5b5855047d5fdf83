//! Tables of call frames: `.eh_frame` and the index of it that
//! `PT_GNU_EH_FRAME` names (Linux Standard Base, "Exception Frames"; the
//! encodings of DWARF).

use std::collections::HashMap;

use super::Elf;
use super::fact::rows;
use super::symbols::ET_REL;
use super::tables::{pt, sht};
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes};

rows! {
    /// A range of code that a frame description covers.
    struct Function {
        address: Hex,
        location: Range,
        size: Hex,
    }

    /// `facts.elf.eh_frame`
    struct EhFrame {
        cies: u64,
        fdes: u64,
        /// Null for objects: their addresses are not linked.
        functions: Option<Vec<Function>>,
        location: Range,
    }

    /// `facts.elf.eh_frame_hdr`
    struct EhFrameHeader {
        eh_frame_address: Option<Hex>,
        location: Range,
        table_count: Option<u64>,
        version: u64,
    }
}

/// `DW_EH_PE_...`
const OMIT: u8 = 0xFF;
const PCREL: u8 = 0x10;
const DATAREL: u8 = 0x30;

/// An encoded pointer: its value, and how many bytes it has.
fn pointer(
    bytes: Bytes<'_>,
    at: u64,
    encoding: u8,
    address: u64,
    data: u64,
    wide: bool,
) -> Option<(u64, u64)> {
    let (value, size) = match encoding & 0xF {
        0x0 => (bytes.word(at, wide)?, if wide { 8 } else { 4 }),
        0x1 => bytes.uleb(at)?,
        0x2 => (bytes.u16(at)?.into(), 2),
        0x3 => (bytes.u32(at)?.into(), 4),
        0x4 | 0xC => (bytes.u64(at)?, 8),
        0x9 => {
            let (value, size) = bytes.sleb(at)?;
            (value as u64, size)
        }
        0xA => (i64::from(bytes.u16(at)? as i16) as u64, 2),
        0xB => (i64::from(bytes.i32(at)?) as u64, 4),
        _ => return None,
    };
    let base = match encoding & 0x70 {
        0 => 0,
        PCREL => address,
        DATAREL => data,
        _ => return None,
    };
    let value = value.wrapping_add(base);
    let value = if wide { value } else { value & 0xFFFF_FFFF };
    Some((value, size))
}

/// The index.
pub(super) fn index(elf: &Elf<'_>, notes: &mut Notes) -> Option<EhFrameHeader> {
    let segment = elf
        .segments
        .iter()
        .find(|one| one.kind == pt::GNU_EH_FRAME)?;
    let start = segment.offset;
    let bytes = Bytes::new(elf.bytes.up_to(start, segment.file_size), elf.bytes.order());
    // In a file of debug information only, other bytes stand there.
    let stripped = elf
        .named(b".eh_frame_hdr")
        .is_some_and(|(_, one)| one.kind == sht::NOBITS);
    if bytes.is_empty() || stripped {
        return None;
    }
    let [Some(version), Some(frame), Some(count), Some(_)] = [0, 1, 2, 3].map(|at| bytes.u8(at))
    else {
        notes.at("PT_GNU_EH_FRAME", start, "it is cut");
        return None;
    };
    let base = segment.virtual_address;
    let read = |at: u64, encoding: u8| match encoding {
        OMIT => None,
        encoding => pointer(bytes, at, encoding, base.wrapping_add(at), base, elf.wide),
    };
    let frame = read(4, frame);
    let after = 4 + frame.map_or(0, |(_, size)| size);
    let count = read(after, count);
    Some(EhFrameHeader {
        eh_frame_address: frame.map(|(address, _)| Hex(address)),
        location: Range {
            offset: start,
            bytes: segment.file_size,
        },
        table_count: count.map(|(count, _)| count),
        version: version.into(),
    })
}

/// Where `.eh_frame` stands, and the address of its first byte.
fn place(elf: &Elf<'_>, index: Option<&EhFrameHeader>) -> Option<(Range, u64)> {
    if let Some((_, header)) = elf.named(b".eh_frame") {
        return header.in_file().then(|| (header.range(), header.address));
    }
    let address = index?.eh_frame_address?.0;
    let (offset, bytes) = elf.mapped(address)?;
    Some((Range { offset, bytes }, address))
}

/// The records.
pub(super) fn frames(
    elf: &Elf<'_>,
    index: Option<&EhFrameHeader>,
    notes: &mut Notes,
) -> Option<EhFrame> {
    let (range, address) = place(elf, index)?;
    let bytes = Bytes::new(
        elf.bytes.up_to(range.offset, range.bytes),
        elf.bytes.order(),
    );
    let linked = elf.header.kind != ET_REL;
    let (mut cies, mut fdes, mut at) = (0, 0, 0u64);
    let mut functions = Vec::new();
    let mut encodings: HashMap<u64, Option<u8>> = HashMap::new();
    let mut unread = 0u64;
    while let Some(length) = bytes.u32(at) {
        if length == 0 {
            // Several terminators may stand there: one a linked object.
            at += 4;
            continue;
        }
        let (length, head) = match length {
            0xFFFF_FFFF => match bytes.u64(at + 4) {
                Some(length) => (length, 12),
                None => break,
            },
            length => (u64::from(length), 4),
        };
        let body = at + head;
        let end = body.saturating_add(length);
        if end > bytes.len() {
            notes.at(".eh_frame", range.offset + at, "a record leads out of it");
            break;
        }
        let Some(id) = bytes.u32(body) else {
            break;
        };
        if id == 0 {
            cies += 1;
        } else {
            fdes += 1;
            let cie = body.checked_sub(u64::from(id));
            let encoding = cie.and_then(|cie| {
                *encodings
                    .entry(cie)
                    .or_insert_with(|| encoding(bytes, cie, elf.wide))
            });
            let read = || {
                let encoding = encoding?;
                let start = body + 4;
                let there = address.wrapping_add(start);
                let (first, used) = pointer(bytes, start, encoding, there, 0, elf.wide)?;
                let (size, _) = pointer(bytes, start + used, encoding & 0xF, 0, 0, elf.wide)?;
                Some((first, size))
            };
            match read().filter(|_| linked) {
                Some((first, size)) => functions.push(Function {
                    address: Hex(first),
                    location: Range {
                        offset: range.offset + at,
                        bytes: head + length,
                    },
                    size: Hex(size),
                }),
                None if linked => unread += 1,
                None => {}
            }
        }
        at = end;
    }
    if unread > 0 {
        let what = crate::artifact::limitation::counted(unread, "record", "records");
        notes.at(
            ".eh_frame",
            range.offset,
            format!("the functions of {what} cannot be read"),
        );
    }
    Some(EhFrame {
        cies,
        fdes,
        functions: linked.then_some(functions),
        location: range,
    })
}

/// How the common record at `at` says that addresses are encoded.
fn encoding(bytes: Bytes<'_>, at: u64, wide: bool) -> Option<u8> {
    let (length, head) = match bytes.u32(at)? {
        0xFFFF_FFFF => (bytes.u64(at.checked_add(4)?)?, 12),
        length => (length.into(), 4),
    };
    let body = at + head;
    if bytes.u32(body)? != 0 {
        return None;
    }
    let record = bytes.part(body, length)?;
    let version = record.u8(4)?;
    // The letters that exist; a longer text is none.
    let augmentation = Bytes::little(record.up_to(5, 16)).string(0)?;
    let mut at = 6 + augmentation.len() as u64;
    if augmentation.starts_with(b"eh") {
        at += if wide { 8 } else { 4 };
    }
    at += record.uleb(at)?.1;
    at += record.sleb(at)?.1;
    at += match version {
        1 => 1,
        _ => record.uleb(at)?.1,
    };
    let Some((b'z', letters)) = augmentation.split_first() else {
        return Some(0);
    };
    at += record.uleb(at)?.1;
    for letter in letters {
        match letter {
            b'R' => return record.u8(at),
            b'L' => at += 1,
            b'P' => {
                let encoding = record.u8(at)?;
                at += 1 + pointer(record, at + 1, encoding & 0xF, 0, 0, wide)?.1;
            }
            _ => {}
        }
    }
    Some(0)
}
