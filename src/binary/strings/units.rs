//! Runs of UTF-16 units.

use std::sync::LazyLock;

use super::{Encoding, Found};

/// What a unit can be: nothing in a text, ASCII, another character.
static CLASS: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    (0..=u16::MAX)
        .map(|unit| match unit {
            0x20..=0x7E | 0x09..=0x0D => 1,
            0xA0..=0x52F | 0x2010..=0x2027 | 0x2030..=0x205E | 0x20AC | 0x2122 => 2,
            _ => 0,
        })
        .collect()
});

fn class(table: &[u8], data: &[u8], at: usize, order: Encoding) -> u8 {
    let pair = data.get(at..).and_then(|rest| rest.first_chunk::<2>());
    let unit = pair.map(|&pair| match order {
        Encoding::Utf16Be => u16::from_be_bytes(pair),
        _ => u16::from_le_bytes(pair),
    });
    unit.and_then(|unit| table.get(usize::from(unit)))
        .copied()
        .unwrap_or(0)
}

/// The first unit at or after `at` that is in no text.
pub(super) fn cut(data: &[u8], at: usize, order: Encoding) -> usize {
    let table: &[u8] = &CLASS;
    let mut at = at;
    while at < data.len() && class(table, data, at, order) != 0 {
        at += 2;
    }
    at
}

/// The strings whose first unit is in `start..end`, where both are cuts.
pub(super) fn runs(
    data: &[u8],
    start: usize,
    end: usize,
    min: usize,
    order: Encoding,
    out: &mut Vec<Found>,
) {
    let table: &[u8] = &CLASS;
    let reach = (min - 1).saturating_mul(2);
    let mut at = start;
    while at < end {
        let Some(probe) = at
            .checked_add(reach)
            .filter(|&probe| probe + 1 < data.len())
        else {
            return;
        };
        if class(table, data, probe, order) == 0 {
            at = probe + 2;
            continue;
        }
        let mut back = probe;
        while back > at && class(table, data, back - 2, order) != 0 {
            back -= 2;
        }
        if back > at {
            at = back;
            continue;
        }
        let mut stop = at;
        let mut other = 0;
        loop {
            match class(table, data, stop, order) {
                0 => break,
                1 => {}
                _ => other += 1,
            }
            stop += 2;
        }
        let found = Found::new(at, stop - at, order);
        // Tables of small numbers look like Greek and Cyrillic.
        if other * 2 <= (stop - at) / 2 || found.is_terminated(data) {
            out.push(found);
        }
        at = stop + 2;
    }
}
