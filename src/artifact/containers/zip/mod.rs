//! ZIP (APPNOTE 6.3.10) and its family: JAR, APK, IPA, MSIX, wheel.
//!
//! The central directory is the list; local headers are read with the data.
//! Names, modes and sizes are those of the central directory, also where a
//! local header says otherwise (decision 8).

mod directory;
mod end;
mod read;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Closing, Container, Damage, Fault, Listing, MemberKind, Out, Reading, Scratch};
use crate::artifact::limitation::{Limitation, counted};
use crate::artifact::names::Style;
use crate::artifact::options::{OnDamage, Options};
use crate::artifact::source::Source;
use end::{Demand, End};

pub(crate) use end::REACH as END_RECORD_REACH;

/// Local file header without name and extra field.
const LOCAL_HEADER: u64 = 30;

/// An open ZIP archive.
struct Zip {
    source: Source,
    end: End,
    listing: Listing,
    /// Members by the offset of their local header.
    order: Vec<u32>,
    /// Entries whose bytes overlap those of one before them.
    overlapping: Vec<u32>,
    /// Where each member ends, as far as read; 0 before.
    ends: Vec<AtomicU64>,
    /// Ranges inside members that their decoder did not need.
    unused: Mutex<Vec<(u64, u64)>>,
    limitations: Vec<Limitation>,
    /// Whether something other than the archive is in front.
    behind: bool,
}

/// Opens an archive whose bytes start with a ZIP signature. Where damage is to
/// be recorded and the end record or the central directory is damaged, the
/// members whose central headers can be read are those of the archive.
pub(super) fn open(source: &Source, options: &Options) -> Result<Box<dyn Container>, Fault> {
    let zip = match Zip::open(source, options, Demand::Whole) {
        Err(whole @ Fault::Damage(_)) if options.on_damage == OnDamage::Record => {
            match Zip::open(source, options, Demand::Anything) {
                Err(Fault::Damage(_)) => return Err(whole),
                other => other?,
            }
        }
        other => other?,
    };
    Ok(Box::new(zip))
}

/// An archive behind other bytes (a script, a stub, padding): only where its
/// whole central directory parses and every local header is there
/// (decision 11). `None` where there is none.
pub(crate) fn find_behind(source: &Source, options: &Options) -> Option<Box<dyn Container>> {
    let mut zip = Zip::open(source, options, Demand::Whole).ok()?;
    if zip.listing.members.is_empty() {
        return None;
    }
    for member in &zip.listing.members {
        let header = source.read_vec(zip.header_at(member)?, 4).ok()?;
        if header != *b"PK\x03\x04" {
            return None;
        }
    }
    zip.behind = true;
    Some(Box::new(zip))
}

impl Zip {
    fn open(source: &Source, options: &Options, demand: Demand) -> Result<Self, Fault> {
        let (end, listing, limitations) = end::find(source, options, demand)?;
        let mut order: Vec<u32> = (0..listing.members.len() as u32).collect();
        order.sort_by_key(|&index| listing.members[index as usize].at);
        let mut zip = Self {
            source: source.clone(),
            ends: (0..listing.members.len())
                .map(|_| AtomicU64::new(0))
                .collect(),
            end,
            listing,
            order,
            overlapping: Vec::new(),
            unused: Mutex::default(),
            limitations,
            behind: false,
        };
        zip.overlapping = zip.find_overlaps();
        Ok(zip)
    }

    /// Before anything is decoded: a member cannot end before its header and
    /// its stored bytes do, so what starts earlier overlaps. This alone stops
    /// archives whose members share their bytes.
    fn find_overlaps(&self) -> Vec<u32> {
        let mut overlapping = Vec::new();
        let mut end = 0u64;
        for &index in &self.order {
            let member = &self.listing.members[index as usize];
            if member.at < end {
                overlapping.push(index);
            }
            let data = if has_data(member) {
                member.compressed
            } else {
                0
            };
            let least = member.at.saturating_add(LOCAL_HEADER).saturating_add(data);
            end = end.max(least);
        }
        overlapping.sort_unstable();
        overlapping
    }

    /// Offset of a member's local header in the source.
    fn header_at(&self, member: &super::Member) -> Option<u64> {
        member.at.checked_add_signed(self.end.shift)
    }
}

impl Container for Zip {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn take_listing(&mut self) -> Listing {
        std::mem::take(&mut self.listing)
    }

    fn style(&self) -> Style {
        Style::Zip
    }

    fn read(
        &self,
        index: usize,
        keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        if self.overlapping.binary_search(&(index as u32)).is_ok() {
            let at = self.header_at(&self.listing.members[index]).unwrap_or(0);
            let at = at.min(self.source.len());
            return Err(Damage::format(at, "its bytes overlap those of another member").into());
        }
        self.read_member(index, keep_going, scratch, out)
    }

    fn is_read(&self, index: usize) -> bool {
        let member = self.listing.members.get(index);
        member.is_some_and(|member| has_data(member) && read::may_be_read(member))
    }

    fn region(&self, index: usize) -> Option<Source> {
        self.stored_region(index)
    }

    fn is_contiguous(&self, index: usize) -> bool {
        self.listing.members.get(index).is_some_and(read::is_stored)
    }

    fn close(&self) -> Closing {
        let mut ranges: Vec<(u64, u64, Option<u32>)> = Vec::with_capacity(self.order.len() + 4);
        for &index in &self.order {
            let member = &self.listing.members[index as usize];
            let Some(start) = self.header_at(member) else {
                continue;
            };
            let end = if has_data(member) {
                self.ends[index as usize].load(Ordering::Relaxed)
            } else {
                self.end_of_header(member).unwrap_or(0)
            };
            if end > start {
                ranges.push((start, end, Some(index)));
            }
        }
        ranges.extend(self.end.structures().map(|(start, end)| (start, end, None)));
        ranges.sort_unstable();
        let mut gaps = self
            .unused
            .lock()
            .map(|unused| unused.clone())
            .unwrap_or_default();
        let mut damage = self.end.damage.clone();
        let mut covered = 0u64;
        for (start, end, member) in ranges {
            if start < covered && damage.is_none() && member.is_some() {
                let text = "its bytes overlap those of another member";
                damage = Some(Damage::format(start, text));
            }
            if start > covered {
                gaps.push((covered, start));
            }
            covered = covered.max(end);
        }
        if self.source.len() > covered {
            gaps.push((covered, self.source.len()));
        }
        gaps.sort_unstable();
        let mut limitations = self.limitations.clone();
        limitations.extend(end::earlier(&self.source, &gaps));
        limitations.extend(self.behind_limitation(&mut gaps));
        limitations.extend(super::unaccounted(&gaps));
        Closing {
            damage,
            incomplete: false,
            limitations,
        }
    }
}

impl Zip {
    /// Prefix and trailing lengths where the archive is not the whole file.
    fn behind_limitation(&self, gaps: &mut Vec<(u64, u64)>) -> Option<Limitation> {
        if !self.behind {
            return None;
        }
        let len = self.source.len();
        let prefix = gaps.first().filter(|gap| gap.0 == 0).map_or(0, |gap| gap.1);
        let suffix = gaps
            .last()
            .filter(|gap| gap.1 == len && gap.0 != 0)
            .map_or(0, |gap| len - gap.0);
        gaps.retain(|gap| gap.0 != 0 && gap.1 != len);
        Some(Limitation::new(
            111,
            format!(
                "A ZIP archive stands behind {} of other content and before {suffix} more; \
                 its members are listed.",
                counted(prefix, "byte", "bytes")
            ),
        ))
    }
}

/// Whether a member's data is read. What a directory or device has is left to
/// be said as bytes of no member.
fn has_data(member: &super::Member) -> bool {
    matches!(member.kind, MemberKind::File | MemberKind::Symlink)
}

/// What a ZIP entry's attributes say it is (APPNOTE 4.4.2, 4.4.15).
fn kind_of(made_by: u16, external: u32, name: &[u8], size: u64) -> (MemberKind, u16) {
    let host = made_by >> 8;
    let unix = matches!(host, 3 | 19) && external >> 16 != 0;
    let mode = if unix {
        ((external >> 16) & 0o7777) as u16
    } else {
        super::NO_MODE
    };
    let kind = match (external >> 28, unix) {
        (0o04, true) => MemberKind::Directory,
        (0o12, true) => MemberKind::Symlink,
        (0o01 | 0o02 | 0o06 | 0o14, true) => MemberKind::Special,
        _ if host == 0 && external & 0x10 != 0 => MemberKind::Directory,
        _ if name.ends_with(b"/") && size == 0 => MemberKind::Directory,
        _ => MemberKind::File,
    };
    (kind, mode)
}
