//! Universal ("fat") files: one Mach-O file or archive for each architecture.
//!
//! A table of slices at the front (Apple's `mach-o/fat.h`), with 32 or 64 bit
//! offsets, big-endian; the other byte order is read as well. Slices are
//! named as Apple's tools name architectures.

use super::{
    Closing, Container, Damage, Fault, Limit, Listing, Member, MemberKind, Out, Reading, Scratch,
    UNKNOWN, unaccounted,
};
use crate::artifact::limitation::{Notes, counted};
use crate::artifact::names::Style;
use crate::artifact::options::Options;
use crate::artifact::source::Source;
use crate::binary::Bytes;
use crate::binary::macho::{FatArch, FatMagic, HEADER};

/// The largest alignment, as a power of two, that padding may come from
/// (`MAXSECTALIGN`).
const MOST_ALIGN: u32 = 15;
/// Slices are executable files, whatever the file around them is.
const MODE: u16 = 0o755;
/// The table is read in portions of so many entries.
const PORTION: u64 = 4096;

/// An open universal file.
struct Universal {
    source: Source,
    listing: Listing,
    /// Bytes that belong to nothing.
    gaps: Vec<(u64, u64)>,
}

/// Opens a universal file. A table that lies is damage, of which the caller
/// makes no error (decision 9).
pub(super) fn open(source: &Source, options: &Options) -> Result<Box<dyn Container>, Fault> {
    let table = Table::read_header(source)?;
    if table.count > options.max_entries {
        let (name, value) = ("max_entries", options.max_entries);
        return Err(Fault::Limit(Limit { name, value }));
    }
    let mut listing = Listing::default();
    for slice in table.slices(source)? {
        listing
            .members
            .push(slice.member(&mut listing.names, source)?);
    }
    let gaps = gaps(&listing, table.end, source)?;
    Ok(Box::new(Universal {
        source: source.clone(),
        listing,
        gaps,
    }))
}

/// What the header says of the table behind it.
struct Table {
    magic: FatMagic,
    count: u64,
    /// Where the table ends.
    end: u64,
}

impl Table {
    fn read_header(source: &Source) -> Result<Self, Fault> {
        let header = source
            .read_vec(0, HEADER as usize)
            .map_err(|_| Damage::format(0, "the fat header is cut"))?;
        let magic = Bytes::big(&header)
            .u32(0)
            .and_then(FatMagic::of)
            .ok_or_else(|| Damage::format(0, "the fat header has no magic"))?;
        let count = u64::from(Bytes::new(&header, magic.order).u32(4).unwrap_or(0));
        let end = HEADER + count * magic.row();
        if count == 0 {
            return Err(Damage::format(4, "the fat header announces no slices").into());
        }
        if end > source.len() {
            let text = format!(
                "the fat header announces {}, more than fit into the file",
                counted(count, "slice", "slices")
            );
            return Err(Damage::format(4, text).into());
        }
        Ok(Self { magic, count, end })
    }

    fn slices(&self, source: &Source) -> Result<Vec<Slice>, Fault> {
        let step = self.magic.row();
        let mut slices = Vec::new();
        let mut done = 0;
        while done < self.count {
            let count = PORTION.min(self.count - done);
            let start = HEADER + done * step;
            let bytes = source.read_vec(start, (count * step) as usize)?;
            let rows = (0..count).filter_map(|row| {
                let arch = FatArch::read(&bytes, row * step, self.magic)?;
                let at = start + row * step;
                Some(Slice { at, arch })
            });
            slices.extend(rows);
            done += count;
        }
        Ok(slices)
    }
}

/// One row of the table.
struct Slice {
    /// Where the row stands.
    at: u64,
    arch: FatArch,
}

impl Slice {
    fn member(&self, names: &mut Vec<u8>, source: &Source) -> Result<Member, Fault> {
        let FatArch {
            cpu,
            offset,
            size,
            align,
        } = self.arch;
        if offset
            .checked_add(size)
            .is_none_or(|end| end > source.len())
        {
            let text = format!(
                "a slice is announced at offset {} with {}, which is not inside the file",
                offset,
                counted(size, "byte", "bytes")
            );
            return Err(Damage::format(self.at, text).into());
        }
        let name = format!("slices/{}", cpu.architecture());
        let too_many = || {
            Fault::Limit(Limit {
                name: "all path bytes",
                value: crate::artifact::names::MAX_ALL as u64,
            })
        };
        let start = u32::try_from(names.len()).map_err(|_| too_many())?;
        names.extend_from_slice(name.as_bytes());
        Ok(Member {
            name: (start, name.len() as u32),
            size,
            compressed: UNKNOWN,
            at: offset,
            word: align,
            name_crc: 0,
            method: 0,
            flags: 0,
            mode: MODE,
            kind: MemberKind::Slice,
            notes: Notes::default(),
        })
    }
}

/// Bytes between and behind slices that are no padding; slices that overlap
/// each other or the table are damage.
fn gaps(listing: &Listing, table_end: u64, source: &Source) -> Result<Vec<(u64, u64)>, Fault> {
    let mut slices: Vec<&Member> = listing.members.iter().collect();
    slices.sort_by_key(|slice| (slice.at, slice.size));
    let mut gaps = Vec::new();
    let mut covered = table_end;
    for slice in slices {
        if slice.at < covered && slice.size > 0 {
            let text = "a slice overlaps another one or the table of slices";
            return Err(Damage::format(slice.at, text).into());
        }
        if slice.at > covered {
            if !is_padding(covered, slice, source)? {
                gaps.push((covered, slice.at));
            }
            covered = slice.at;
        }
        covered = covered.max(slice.at + slice.size);
    }
    gaps.push((covered, source.len()));
    Ok(gaps)
}

/// Whether everything from `start` to a slice is zero and no more than its
/// alignment asks for.
fn is_padding(start: u64, slice: &Member, source: &Source) -> Result<bool, Fault> {
    let len = slice.at - start;
    if len >= 1 << slice.word.min(MOST_ALIGN) {
        return Ok(false);
    }
    let bytes = source.read_vec(start, len as usize)?;
    Ok(bytes.iter().all(|&byte| byte == 0))
}

impl Container for Universal {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn take_listing(&mut self) -> Listing {
        std::mem::take(&mut self.listing)
    }

    fn style(&self) -> Style {
        Style::Unix
    }

    fn read(
        &self,
        index: usize,
        _keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        let member = &self.listing.members[index];
        super::copy(&self.source, member.at, member.size, scratch, out)?;
        Ok(Reading::default())
    }

    fn region(&self, index: usize) -> Option<Source> {
        let member = self.listing.members.get(index)?;
        self.source.region(member.at, member.size)
    }

    fn is_contiguous(&self, _index: usize) -> bool {
        true
    }

    fn close(&self) -> Closing {
        Closing {
            limitations: unaccounted(&self.gaps).into_iter().collect(),
            ..Closing::default()
        }
    }
}
