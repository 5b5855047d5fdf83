//! An image as the loader maps it: which addresses show which bytes of the
//! file. Addresses here are relative to the image's base (RVA).

use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};

/// Addresses that show bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The first address.
    pub rva: u64,
    /// How many bytes of the file they show.
    pub length: u64,
    /// Where the first byte stands.
    pub offset: u64,
}

/// What is left of the work that a file's bytes may ask for. Tables that point
/// at the same bytes again and again run out of it, honest ones never do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    rows: u64,
    text: u64,
    bytes: u64,
}

impl Budget {
    /// Rows beyond this are not listed, whatever the file's size.
    pub(super) const MOST_ROWS: u64 = 500_000;

    /// For a file of `length` bytes.
    pub(super) fn new(length: u64) -> Self {
        Self {
            // No row has less than four bytes of its own.
            rows: (length / 4 + 4096).min(Self::MOST_ROWS),
            text: length.saturating_mul(2).saturating_add(1 << 20),
            bytes: length,
        }
    }

    /// Takes one row.
    pub(super) fn row(&mut self) -> bool {
        self.rows(1)
    }

    /// Takes bytes of tables that no other table has: those that are read
    /// again when they are written.
    pub(super) fn bytes(&mut self, count: u64) -> bool {
        let left = self.bytes.checked_sub(count);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }

    /// Takes rows.
    pub(super) fn rows(&mut self, count: u64) -> bool {
        let left = self.rows.checked_sub(count);
        self.rows = left.unwrap_or(0);
        left.is_some()
    }

    /// Whether no more names are read.
    pub(super) fn is_spent(&self) -> bool {
        self.text == 0
    }

    /// Takes bytes of names.
    pub(super) fn text(&mut self, bytes: u64) -> bool {
        let left = self.text.checked_sub(bytes);
        self.text = left.unwrap_or(0);
        left.is_some()
    }
}

/// The reason in notes where a budget ends.
pub(super) const SPENT: &str =
    "the tables of this file ask for more rows than its bytes can hold; the rest is not listed";

/// An image.
#[derive(Debug)]
pub(super) struct Image<'a> {
    /// The file.
    pub bytes: Bytes<'a>,
    /// Preferred address.
    pub base: u64,
    /// PE32+: addresses have 8 bytes.
    pub wide: bool,
    /// `IMAGE_FILE_MACHINE_...`
    pub machine: u16,
    /// By address, apart from each other.
    regions: Vec<Region>,
}

impl<'a> Image<'a> {
    /// An image with `regions`; where two show the same address, the one with
    /// the lower start wins.
    pub(super) fn new(
        bytes: Bytes<'a>,
        base: u64,
        wide: bool,
        machine: u16,
        mut regions: Vec<Region>,
    ) -> Self {
        regions.sort_by_key(|region| region.rva);
        let mut end = 0u64;
        let mut apart = Vec::with_capacity(regions.len());
        for region in regions {
            let stop = region.rva.saturating_add(region.length);
            let skip = end.saturating_sub(region.rva);
            if skip >= region.length {
                continue;
            }
            apart.push(Region {
                rva: region.rva + skip,
                length: region.length - skip,
                offset: region.offset.saturating_add(skip),
            });
            end = stop;
        }
        Self {
            bytes,
            base,
            wide,
            machine,
            regions: apart,
        }
    }

    /// Bytes of an address: 4 or 8.
    pub(super) fn word_size(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }

    /// Where the byte at `rva` stands, and how many of the file follow there.
    pub(super) fn place(&self, rva: u64) -> Option<Range> {
        let after = self.regions.partition_point(|region| region.rva <= rva);
        let region = self.regions.get(after.checked_sub(1)?)?;
        let skip = rva - region.rva;
        let left = region.length.checked_sub(skip).filter(|&left| left > 0)?;
        Some(Range {
            offset: region.offset.checked_add(skip)?,
            bytes: left,
        })
    }

    /// Where `length` bytes at `rva` stand, all there.
    pub(super) fn range(&self, rva: u64, length: u64) -> Option<Range> {
        let place = self.place(rva)?;
        (place.bytes >= length).then_some(Range {
            offset: place.offset,
            bytes: length,
        })
    }

    /// The bytes from `rva` to the end of what is mapped there.
    pub(super) fn tail(&self, rva: u64) -> Option<(u64, Bytes<'a>)> {
        let place = self.place(rva)?;
        let data = self.bytes.up_to(place.offset, place.bytes);
        Some((place.offset, Bytes::little(data)))
    }

    /// `length` bytes at `rva`, and where they stand.
    pub(super) fn part(&self, rva: u64, length: u64) -> Option<(u64, Bytes<'a>)> {
        let range = self.range(rva, length)?;
        Some((range.offset, self.bytes.part(range.offset, length)?))
    }

    /// A text up to its NUL, and where it stands with it.
    pub(super) fn string(&self, rva: u64) -> Option<(&'a [u8], Range)> {
        let (offset, tail) = self.tail(rva)?;
        let text = tail.string(0)?;
        let bytes = text.len() as u64 + 1;
        Some((text, Range { offset, bytes }))
    }

    /// The address relative to the base, of an address as linked.
    pub(super) fn rva_of(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.base)
    }

    /// An address as linked; they wrap where the base is absurd.
    pub(super) fn address(&self, rva: u64) -> u64 {
        self.base.wrapping_add(rva)
    }

    /// [`Image::string`] within a budget, with a note where there is none.
    pub(super) fn name(
        &self,
        rva: u64,
        what: &str,
        budget: &mut Budget,
        notes: &mut Notes,
    ) -> Option<(&'a [u8], Range)> {
        let Some(place) = self.place(rva) else {
            notes.add(outside(what, rva));
            return None;
        };
        if budget.is_spent() {
            notes.at("names", place.offset, SPENT);
            return None;
        }
        let Some(found) = self.string(rva) else {
            budget.text(place.bytes);
            notes.at(what, place.offset, "the text has no end");
            return None;
        };
        budget.text(found.1.bytes);
        Some(found)
    }
}

/// A note: no bytes of the file stand at the address.
pub(super) fn outside(what: &str, rva: u64) -> crate::binary::Note {
    crate::binary::Note {
        structure: what.to_owned(),
        offset: None,
        reason: format!("the file has no bytes for its address {rva:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(rva: u64, length: u64, offset: u64) -> Region {
        Region {
            rva,
            length,
            offset,
        }
    }

    #[test]
    fn what_starts_first_wins() {
        let data = [0u8; 64];
        let regions = vec![region(16, 8, 32), region(0, 20, 0), region(18, 1, 5)];
        let image = Image::new(Bytes::little(&data), 0, false, 0, regions);
        let at = |rva| image.place(rva).map(|range| (range.offset, range.bytes));
        assert_eq!(at(19), Some((19, 1)));
        assert_eq!(at(20), Some((36, 4)));
        assert_eq!(at(24), None);
        assert_eq!(image.range(18, 3), None);
    }
}
