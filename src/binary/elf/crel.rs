//! CREL, compact relocations (gABI draft of 2024, "Relocation").

use super::Elf;
use super::relocations::{Place, RelocationRows};
use crate::binary::Notes;

/// Compact relocations that are kept.
pub(super) const COMPACT: usize = 2_000_000;

/// A relocation of a compact table: each tells what differs from the one
/// before, so that they are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact {
    pub offset: u64,
    pub addend: i64,
    pub symbol: u32,
    pub kind: u32,
    /// Where it stands in the table.
    pub at: u32,
    pub bytes: u8,
}

/// Compact relocations: a header `count << 3 | addends << 2 | shift`, then
/// the differences from one entry to the next, LEB128.
pub(super) fn crel(
    elf: &Elf<'_>,
    place: &Place,
    data: &[u8],
    rows: &mut RelocationRows<'_>,
    notes: &mut Notes,
) {
    let mut kept = Vec::new();
    let bytes = crate::binary::Bytes::little(data);
    let start = place.range.offset;
    let Some((header, mut at)) = bytes.uleb(0) else {
        notes.at(&*place.structure, start, "its header is cut");
        return;
    };
    let count = header >> 3;
    let addends = header & 4 != 0;
    let shift = header & 3;
    let flag_bits = if addends { 3 } else { 2 };
    let mask = if elf.wide { u64::MAX } else { 0xFFFF_FFFF };
    let (mut offset, mut symbol, mut kind, mut addend) = (0u64, 0u32, 0u32, 0i64);
    for index in 0..count {
        if kept.len() == rows.left {
            let reason =
                format!("it has {count} relocations, and {COMPACT} of all such tables are listed");
            notes.at(&*place.structure, start, reason);
            break;
        }
        let from = at;
        let mut read = || {
            let first = bytes.u8(at)?;
            at += 1;
            offset = offset.wrapping_add(u64::from(first >> flag_bits));
            if first >= 0x80 {
                let (more, used) = bytes.uleb(at)?;
                at += used;
                offset = offset
                    .wrapping_add(more << (7 - flag_bits))
                    .wrapping_sub(0x80 >> flag_bits);
            }
            let mut step = |wanted: bool| {
                if !wanted {
                    return Some(0);
                }
                let (value, used) = bytes.sleb(at)?;
                at += used;
                Some(value)
            };
            symbol = symbol.wrapping_add(step(first & 1 != 0)? as u32);
            kind = kind.wrapping_add(step(first & 2 != 0)? as u32);
            addend = addend.wrapping_add(step(addends && first & 4 != 0)?);
            Some(())
        };
        if read().is_none() {
            notes.at(
                &*place.structure,
                start + from,
                format!("relocation {index} of {count} is cut"),
            );
            break;
        }
        let reported_offset = (offset << shift) & mask;
        let addend = match elf.wide {
            true => addend,
            false => i64::from(addend as i32),
        };
        kept.push(Compact {
            offset: reported_offset,
            addend,
            symbol,
            kind,
            at: u32::try_from(from).unwrap_or(u32::MAX),
            bytes: u8::try_from(at - from).unwrap_or(u8::MAX),
        });
    }
    rows.left -= kept.len();
    rows.add(elf, place, kept.len(), Some(kept));
    if let Some(piece) = rows.pieces.last_mut() {
        piece.addends = addends;
    }
}
