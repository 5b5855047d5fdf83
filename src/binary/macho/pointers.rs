//! What dyld leaves in the words that chains of fixups run through, where the
//! image loads at the addresses it was linked for.
//!
//! In the file such a word holds a target in fewer bits than an address has,
//! and the way to the next link. At the linked addresses the result of those
//! that move with the image follows from the file; that of words bound to
//! other files, or into a cache around the image, does not.

use std::sync::Arc;

use super::chained_fixups::pointee;
use super::dyld_info::Run;
use super::fixups::{PointerFormat, Rebase, Site};
use super::macho::MachO;

/// What stands in a word once dyld has been there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// This number.
    Value(u64),
    /// This address, with a signature that no file holds.
    Signed(u64),
    /// What another file decides.
    Unproven,
}

/// One link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where, an address as linked.
    pub address: u64,
    /// How many bytes.
    pub bytes: u8,
    /// What dyld stores.
    pub stored: Stored,
}

/// Links at regular distances in one segment.
#[derive(Clone, Copy, Debug)]
struct Links {
    run: Run,
    segment: u32,
    format: PointerFormat,
    /// `max_valid_pointer`
    most: u32,
    /// The last address of this and all earlier rows.
    reach: u64,
}

impl Links {
    fn last(&self) -> u64 {
        let steps = self.run.count.saturating_sub(1);
        let way = self.run.step.saturating_mul(steps);
        self.run.address.saturating_add(way)
    }
}

/// The words that chains of an image run through, by address.
///
/// Runs of links are kept, not links: a large image has millions of these.
#[derive(Debug)]
pub struct Pointers<'a> {
    macho: Arc<MachO<'a>>,
    links: Vec<Links>,
}

impl<'a> Pointers<'a> {
    /// Those of the chained fixups, and of the chains that old arm64e images
    /// start with bind opcodes.
    pub fn new(macho: &Arc<MachO<'a>>) -> Self {
        let mut links = Vec::new();
        let mut add = |run: Run, format: Option<(PointerFormat, u32)>| {
            let segment = macho.segments.segment_at(run.address);
            let segment = segment.and_then(|place| u32::try_from(place).ok());
            let Some(segment) = segment else {
                return;
            };
            let format = format.or_else(|| {
                let chains = macho.fixups.chains_of(segment)?;
                let format = PointerFormat::of(chains.format)?;
                Some((format, chains.max_valid_pointer))
            });
            if let Some((format, most)) = format {
                links.push(Links {
                    run,
                    segment,
                    format,
                    most,
                    reach: 0,
                });
            }
        };
        for &run in &macho.fixups.rebases {
            add(run, None);
        }
        for site in &macho.fixups.binds {
            add(Run::one(site.address), None);
        }
        for &run in &macho.dyld_info.threaded {
            add(run, Some((PointerFormat::Arm64e, 0)));
        }
        links.sort_by_key(|links| (links.run.address, links.run.step, links.run.count));
        let mut reach = 0;
        for links in &mut links {
            reach = links.last().max(reach);
            links.reach = reach;
        }
        Self {
            macho: Arc::clone(macho),
            links,
        }
    }

    /// Tells the words that have a byte in `first..=last`.
    pub fn between(&self, first: u64, last: u64, tell: &mut dyn FnMut(Word)) {
        // No word has more than eight bytes.
        let from = first.saturating_sub(7);
        let start = self.links.partition_point(|links| links.reach < from);
        for links in self.links.iter().skip(start) {
            let Run {
                address,
                count,
                step,
            } = links.run;
            if address > last {
                break;
            }
            let before = match (from.checked_sub(address), step) {
                (None | Some(0), _) => 0,
                (Some(_), 0) => 1,
                (Some(way), step) => way.div_ceil(step),
            };
            for index in before..count {
                let place = step
                    .checked_mul(index)
                    .and_then(|way| address.checked_add(way));
                let Some(place) = place.filter(|&place| place <= last) else {
                    break;
                };
                let end = place.saturating_add(links.format.size() - 1);
                if end >= first
                    && let Some(word) = self.word(links, place)
                {
                    tell(word);
                }
            }
        }
    }

    fn word(&self, links: &Links, address: u64) -> Option<Word> {
        let segments = &self.macho.segments;
        let segment = segments.segments.get(links.segment as usize)?;
        let within = address.checked_sub(segment.address)?;
        let size = links.format.size();
        let raw = self
            .macho
            .image
            .data
            .word(segment.offset.checked_add(within)?, size == 8)?;
        let stored = match links.format.decode(raw).0 {
            Site::Rebase(rebase) => self.rebased(links, rebase),
            Site::Bind(_) => Stored::Unproven,
        };
        Some(Word {
            address,
            bytes: size as u8,
            stored,
        })
    }

    fn rebased(&self, links: &Links, rebase: Rebase) -> Stored {
        if let Some(number) = links.format.number(rebase.to, links.most) {
            return Stored::Value(number.into());
        }
        let Some(address) = pointee(rebase.to, &self.macho.segments) else {
            return Stored::Unproven;
        };
        match rebase.auth {
            Some(_) => Stored::Signed(address),
            // The top byte is added to an offset before the base is.
            None => Stored::Value(address.wrapping_add(u64::from(rebase.high8) << 56)),
        }
    }
}
