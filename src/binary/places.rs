//! Which addresses show which bytes of the file: the mappings of a layout, cut
//! where they overlap, for look-ups in both directions.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::facts::Mapping;

/// What stands at addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The file's bytes from this offset on.
    File(u64),
    /// Memory that no byte of the file fills.
    Uninitialized,
    /// Several mappings say different things.
    Ambiguous,
}

/// Addresses `start..=last` without a change in between. The end is inclusive,
/// so that the highest address can be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first address.
    pub start: u64,
    /// The last address.
    pub last: u64,
    /// What stands there.
    pub shown: Shown,
}

/// Offsets `start..end` of the file and the address of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u64,
    end: u64,
    address: u64,
}

/// The mappings of a file, disjoint and sorted in both directions.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pieces: Vec<Piece>,
    spans: Vec<Span>,
}

impl Places {
    /// The places of `mappings`, as far as a file of `size` bytes backs them.
    pub fn new(mappings: &[Mapping], size: u64) -> Self {
        Self {
            pieces: pieces(mappings, size),
            spans: spans(mappings, size),
        }
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The pieces, by address.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The piece that holds `address`.
    pub fn piece(&self, address: u64) -> Option<Piece> {
        let at = self.pieces.partition_point(|piece| piece.last < address);
        let piece = self.pieces.get(at).copied()?;
        (piece.start <= address).then_some(piece)
    }

    /// What stands at `address`; `None` where nothing is mapped.
    pub fn at(&self, address: u64) -> Option<Shown> {
        let piece = self.piece(address)?;
        Some(match piece.shown {
            Shown::File(offset) => Shown::File(offset + (address - piece.start)),
            other => other,
        })
    }

    /// The lowest address that shows the byte at `offset`.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        let at = self.spans.partition_point(|span| span.end <= offset);
        let span = self.spans.get(at)?;
        (span.start <= offset).then(|| span.address.wrapping_add(offset - span.start))
    }
}

/// The wrapping difference of offset and address; `None` for memory without
/// bytes.
type Delta = Option<u64>;

/// A change of what is mapped: a delta begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at: u128,
    begins: bool,
    delta: Delta,
}

fn pieces(mappings: &[Mapping], size: u64) -> Vec<Piece> {
    let mut changes = Vec::with_capacity(mappings.len() * 4);
    let mut add = |start: u128, end: u128, delta| {
        let end = end.min(1 << 64);
        if start < end {
            for (at, begins) in [(start, true), (end, false)] {
                changes.push(Change { at, begins, delta });
            }
        }
    };
    for mapping in mappings {
        let there = size.saturating_sub(mapping.offset).min(mapping.file_size);
        let start = u128::from(mapping.address);
        let filled = start + u128::from(there);
        let whole = start + u128::from(mapping.memory_size.max(mapping.file_size));
        add(
            start,
            filled,
            Some(mapping.offset.wrapping_sub(mapping.address)),
        );
        add(filled, whole, None);
    }
    changes.sort_unstable();
    let mut active: BTreeMap<Delta, u32> = BTreeMap::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut from = 0u128;
    for change in changes {
        if change.at > from {
            push(&mut pieces, from, change.at, &active);
            from = change.at;
        }
        let count = active.entry(change.delta).or_insert(0);
        if change.begins {
            *count += 1;
        } else {
            *count = count.saturating_sub(1);
            if *count == 0 {
                active.remove(&change.delta);
            }
        }
    }
    pieces
}

fn push(pieces: &mut Vec<Piece>, from: u128, to: u128, active: &BTreeMap<Delta, u32>) {
    let (Ok(start), Ok(last)) = (u64::try_from(from), u64::try_from(to - 1)) else {
        return;
    };
    let shown = match (active.len(), active.first_key_value()) {
        (0, _) | (_, None) => return,
        (1, Some((Some(delta), _))) => Shown::File(start.wrapping_add(*delta)),
        (1, Some((None, _))) => Shown::Uninitialized,
        _ => Shown::Ambiguous,
    };
    if let Some(before) = pieces.last_mut()
        && before.last.checked_add(1) == Some(start)
    {
        let goes_on = match (before.shown, shown) {
            (Shown::File(offset), Shown::File(next)) => {
                offset.checked_add(start - before.start) == Some(next)
            }
            (one, other) => one == other,
        };
        if goes_on {
            before.last = last;
            return;
        }
    }
    pieces.push(Piece { start, last, shown });
}

fn spans(mappings: &[Mapping], size: u64) -> Vec<Span> {
    // Address at the mapping's first byte less its offset, so that the lowest
    // address at any offset is the lowest of those that are active.
    let mut changes: Vec<(u64, bool, i128)> = Vec::with_capacity(mappings.len() * 2);
    for mapping in mappings {
        let there = size.saturating_sub(mapping.offset).min(mapping.file_size);
        let shift = i128::from(mapping.address) - i128::from(mapping.offset);
        // Addresses that would wrap show nothing.
        let there = there.min(u64::MAX - mapping.address);
        if there > 0 {
            changes.push((mapping.offset, true, shift));
            changes.push((mapping.offset + there, false, shift));
        }
    }
    changes.sort_unstable();
    let mut active: BTreeSet<i128> = BTreeSet::new();
    let mut counts: BTreeMap<i128, u32> = BTreeMap::new();
    let mut spans: Vec<Span> = Vec::new();
    let mut from = 0;
    for (at, begins, shift) in changes {
        if at > from {
            if let Some(&lowest) = active.first()
                && let Ok(address) = u64::try_from(i128::from(from) + lowest)
            {
                spans.push(Span {
                    start: from,
                    end: at,
                    address,
                });
            }
            from = at;
        }
        let count = counts.entry(shift).or_insert(0);
        if begins {
            *count += 1;
            active.insert(shift);
        } else {
            *count = count.saturating_sub(1);
            if *count == 0 {
                active.remove(&shift);
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(address: u64, memory_size: u64, offset: u64, file_size: u64) -> Mapping {
        Mapping {
            address,
            memory_size,
            offset,
            file_size,
            permissions: None,
            name: String::new(),
        }
    }

    #[test]
    fn both_directions() {
        let places = Places::new(
            &[
                mapping(0x2000, 0x30, 0x100, 0x10),
                mapping(0x1000, 0x80, 0, 0x80),
            ],
            0x1000,
        );
        assert_eq!(places.at(0x1000), Some(Shown::File(0)));
        assert_eq!(places.at(0x107F), Some(Shown::File(0x7F)));
        assert_eq!(places.at(0x1080), None);
        assert_eq!(places.at(0x200F), Some(Shown::File(0x10F)));
        assert_eq!(places.at(0x2010), Some(Shown::Uninitialized));
        assert_eq!(places.at(0x2030), None);
        assert_eq!(places.address_of(0x7F), Some(0x107F));
        assert_eq!(places.address_of(0x80), None);
        assert_eq!(places.address_of(0x10F), Some(0x200F));
    }

    #[test]
    fn overlaps_and_lies() {
        let places = Places::new(
            &[
                mapping(0x1000, 0x20, 0, 0x20),
                mapping(0x1010, 0x20, 0x40, 0x20),
                mapping(u64::MAX - 3, u64::MAX, 0, u64::MAX),
                mapping(0x5000, 4, 0, 4),
                mapping(0x5000, 4, 0, 4),
            ],
            0x60,
        );
        assert_eq!(places.at(0x100F), Some(Shown::File(0xF)));
        assert_eq!(places.at(0x1010), Some(Shown::Ambiguous));
        assert_eq!(places.at(0x1020), Some(Shown::File(0x50)));
        assert_eq!(places.at(0x5003), Some(Shown::File(3)));
        assert_eq!(places.at(u64::MAX), Some(Shown::File(3)));
        assert_eq!(places.address_of(3), Some(0x1003));
        assert_eq!(places.address_of(0x55), Some(0x1025));
    }

    #[test]
    fn neighbours_are_one() {
        let places = Places::new(&[mapping(0, 8, 0, 8), mapping(8, 8, 8, 8)], 99);
        assert_eq!(places.pieces().len(), 1);
        assert_eq!(places.pieces()[0].last, 15);
    }
}
