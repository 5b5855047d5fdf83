//! The end records (APPNOTE 4.3.14 to 4.3.16) and where the archive starts.

use crate::artifact::containers::{Damage, Fault, Listing};
use crate::artifact::limitation::{Limitation, counted};
use crate::artifact::options::Options;
use crate::artifact::source::Source;

const END: &[u8] = b"PK\x05\x06";
const END_LEN: u64 = 22;
const LOCATOR_LEN: u64 = 20;
const END64_LEN: u64 = 56;
/// How far back the end record is looked for (contract 5.1).
const SEARCH: u64 = 16 * 65_535;
/// So many last bytes hold every end record that is looked for.
pub(crate) const REACH: u64 = SEARCH + END_LEN;
/// So many central directories that turn out to be broken are read, so that
/// an archive of end records cannot cost their number times its directory.
const MOST_TRIES: usize = 16;

/// Where the central directory and the end records stand in the source.
#[derive(Debug)]
pub(super) struct End {
    /// Start of the central directory.
    pub directory: u64,
    /// Its length.
    pub directory_len: u64,
    /// Entries that the end record counts.
    pub count: u64,
    /// Whether the count is 16 bits wide.
    pub short_count: bool,
    /// What to add to stated offsets: the length of what is in front.
    pub shift: i64,
    /// The end record with its comment.
    end: (u64, u64),
    /// The ZIP64 end record and its locator.
    end64: Option<[(u64, u64); 2]>,
    /// What is wrong with the end record, where that is put up with.
    pub damage: Option<Damage>,
}

impl End {
    /// Ranges that belong to the archive's own structures.
    pub fn structures(&self) -> impl Iterator<Item = (u64, u64)> {
        let directory = (self.directory, self.directory + self.directory_len);
        [directory, self.end]
            .into_iter()
            .chain(self.end64.into_iter().flatten())
    }
}

/// How much has to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// End record and central directory fit to each other.
    Whole,
    /// Some central headers can be read.
    Anything,
}

/// Finds the last end record whose central directory parses.
pub(super) fn find(
    source: &Source,
    options: &Options,
    demand: Demand,
) -> Result<(End, Listing, Vec<Limitation>), Fault> {
    let len = source.len();
    let mut first_fault = None;
    let mut skipped = 0u64;
    let mut tries = MOST_TRIES;
    let mut searched_to = len;
    for window in [(64 << 10) + END_LEN, REACH] {
        let start = len.saturating_sub(window);
        if start >= searched_to {
            break;
        }
        // Overlap by a record, so that one across the border is seen.
        let stop = (searched_to + END_LEN - 1).min(len);
        let bytes = source.read_vec(start, usize::try_from(stop - start).unwrap_or(0))?;
        for at in memchr::memmem::rfind_iter(&bytes, END) {
            let position = start + at as u64;
            if position >= searched_to {
                continue;
            }
            let followed = candidate(source, position, demand).and_then(|mut end| {
                tries = tries.saturating_sub(1);
                let (listing, limitations) =
                    super::directory::parse(source, &mut end, options, demand)?;
                Ok((end, listing, limitations))
            });
            match followed {
                Ok((end, listing, mut limitations)) => {
                    if skipped > 0 {
                        limitations.push(Limitation::new(
                            108,
                            format!(
                                "{} valid; the last valid one was followed.",
                                counted(
                                    skipped,
                                    "later end record is not",
                                    "later end records are not"
                                ),
                            ),
                        ));
                    }
                    return Ok((end, listing, limitations));
                }
                Err(fault @ (Fault::Limit(_) | Fault::Stop(_) | Fault::Io(..))) => {
                    return Err(fault);
                }
                Err(fault) => {
                    skipped += 1;
                    let fault = first_fault.get_or_insert(fault);
                    if tries == 0 {
                        return Err(fault.clone());
                    }
                }
            }
        }
        searched_to = start;
    }
    Err(first_fault.unwrap_or_else(|| {
        Damage::format(len, "no end of central directory record was found").into()
    }))
}

fn u16_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| u64::from(u16::from_le_bytes([b[0], b[1]])))
}

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 4).map_or(0, |b| {
        u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    })
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) | u32_at(bytes, at + 4) << 32
}

/// Says where further end records stand in bytes that belong to no member.
pub(super) fn earlier(source: &Source, gaps: &[(u64, u64)]) -> Option<Limitation> {
    let from = source.len().saturating_sub(SEARCH);
    let mut count = 0u64;
    for &(start, stop) in gaps {
        let start = start.max(from);
        if stop > start {
            let len = usize::try_from(stop - start).unwrap_or(0);
            let bytes = source.read_vec(start, len).unwrap_or_default();
            count += memchr::memmem::find_iter(&bytes, END).count() as u64;
        }
    }
    (count > 0).then(|| {
        Limitation::new(
            108,
            format!(
                "{} in bytes that belong to no member; the last valid one was followed.",
                counted(count, "end record stands", "end records stand"),
            ),
        )
    })
}

/// Follows one end record to the central directory.
fn candidate(source: &Source, position: u64, demand: Demand) -> Result<End, Fault> {
    let damage = |text: &str| Fault::from(Damage::format(position, text));
    let mut lie = None;
    let mut lies = |text: &str| {
        let found = Damage::format(position, text);
        match demand {
            Demand::Whole => Err(Fault::from(found)),
            Demand::Anything => {
                lie.get_or_insert(found);
                Ok(())
            }
        }
    };
    let record = source
        .read_vec(position, END_LEN as usize)
        .map_err(|_| damage("the end of central directory record is cut"))?;
    let comment_end = position + END_LEN + u16_at(&record, 20);
    if comment_end > source.len() {
        lies("the comment of the end of central directory record is cut")?;
    }
    let mut disks = [u16_at(&record, 4), u16_at(&record, 6)];
    let mut counts = [u16_at(&record, 8), u16_at(&record, 10)];
    let mut directory_len = u32_at(&record, 12);
    let mut offset = u32_at(&record, 16);
    let sentinel = disks.contains(&0xFFFF)
        || counts.contains(&0xFFFF)
        || directory_len == 0xFFFF_FFFF
        || offset == 0xFFFF_FFFF;
    let mut directory_end = position;
    let mut end64 = None;
    let mut short_count = true;
    if let Some((at, fields, locator)) =
        find_end64(source, position).filter(|_| sentinel || position >= LOCATOR_LEN)
    {
        if sentinel {
            disks = [u32_at(&fields, 16), u32_at(&fields, 20)];
            counts = [u64_at(&fields, 24), u64_at(&fields, 32)];
            directory_len = u64_at(&fields, 40);
            offset = u64_at(&fields, 48);
            short_count = false;
        }
        directory_end = at;
        let stated = u64_at(&fields, 4).saturating_add(12);
        let end = at.saturating_add(stated).min(locator).max(at + END64_LEN);
        end64 = Some([(at, end), (locator, locator + LOCATOR_LEN)]);
    }
    if disks != [0, 0] || counts[0] != counts[1] {
        lies("the archive spans several disks")?;
    }
    let shift = match directory_shift(source, offset, directory_len, directory_end) {
        Some(shift) => shift,
        None => {
            lies("the central directory is not where the end record says")?;
            directory_len = directory_end.saturating_sub(offset);
            directory_shift(source, offset, directory_len, directory_end)
                .ok_or_else(|| damage("the central directory is not where the end record says"))?
        }
    };
    Ok(End {
        directory: offset
            .checked_add_signed(shift)
            .ok_or_else(|| damage("an offset is negative"))?,
        directory_len,
        count: counts[1],
        short_count,
        shift,
        end: (position, comment_end.min(source.len())),
        end64,
        damage: lie,
    })
}

/// The ZIP64 end record before the end record at `position`: where it stands,
/// its bytes, and where its locator stands.
fn find_end64(source: &Source, position: u64) -> Option<(u64, Vec<u8>, u64)> {
    let locator_at = position.checked_sub(LOCATOR_LEN)?;
    let locator = source.read_vec(locator_at, LOCATOR_LEN as usize).ok()?;
    if !locator.starts_with(b"PK\x06\x07") {
        return None;
    }
    let stated = u64_at(&locator, 8);
    let before = locator_at.checked_sub(END64_LEN);
    [Some(stated), before].into_iter().flatten().find_map(|at| {
        if at > before? {
            return None;
        }
        let record = source.read_vec(at, END64_LEN as usize).ok()?;
        record
            .starts_with(b"PK\x06\x06")
            .then_some((at, record, locator_at))
    })
}

/// How far the archive is shifted by what is in front of it: the central
/// directory stands where it says, or directly before the end record.
fn directory_shift(source: &Source, offset: u64, len: u64, end: u64) -> Option<i64> {
    let starts_at = |at: u64| {
        len == 0
            || source
                .read_vec(at, 4)
                .is_ok_and(|magic| magic == *b"PK\x01\x02")
    };
    let adjacent = end.checked_sub(len);
    if adjacent == Some(offset) && starts_at(offset) {
        return Some(0);
    }
    if let Some(adjacent) = adjacent.filter(|&at| at > offset && starts_at(at)) {
        return i64::try_from(adjacent - offset).ok();
    }
    let fits = offset.checked_add(len).is_some_and(|stop| stop <= end);
    (fits && starts_at(offset)).then_some(0)
}
