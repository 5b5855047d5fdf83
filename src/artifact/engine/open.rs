//! Containers while they are read, and what was read of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use super::account::{Charge, FileAccount, RATIO_FROM};
use crate::artifact::containers::{Closing, Container, Fault, Limit, Member, MemberKind, UNKNOWN};
use crate::artifact::format::Format;
use crate::artifact::limitation::{Limitation, Notes};
use crate::artifact::names::{self, Paths, RawName};
use crate::artifact::options::Options;
use crate::artifact::source::Source;
use crate::digest::Digest;

/// The longest link target that is shown (Linux' PATH_MAX).
pub(super) const MAX_TARGET: u64 = 4096;
/// Bytes and entries of one batch.
const BATCH_BYTES: u64 = 512 << 10;
const BATCH_ENTRIES: usize = 64;

/// What is known of a member's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing was to be read (directories).
    None,
    Verified,
    Mismatched,
    Unavailable,
    /// Its bytes are in the companion folder; joined after the walk.
    Unpacked,
}

/// A container that could be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    Format(Format),
    /// A ZIP archive behind other content.
    ZipBehind,
    /// Read from front to back.
    Stream(Format),
}

/// What reading one member came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub digest: Digest,
    pub size: u64,
    pub notes: Notes,
    /// Nested container, as an index into the tree's list.
    pub child: Option<u32>,
    pub status: Status,
    /// By its bytes.
    pub format: Format,
    /// By its name and header, where the bytes alone do not tell.
    pub named: Option<Format>,
    /// Whether its bytes end with the trailer of a disk image.
    pub dmg: bool,
    pub candidate: Option<Candidate>,
}

impl Outcome {
    /// A member that was not read.
    pub fn unread(status: Status, notes: Notes) -> Self {
        Self {
            digest: Digest([0; 32]),
            size: 0,
            notes,
            child: None,
            status,
            format: Format::File,
            named: None,
            dmg: false,
            candidate: None,
        }
    }
}

/// Facts about a few members that do not fit into [`Outcome`].
#[derive(Debug, Default)]
pub(crate) struct Extra {
    pub limitations: Vec<Limitation>,
    pub link_target: Option<Box<str>>,
    /// The digest that its container declares, where it matters.
    pub declared: Option<Digest>,
    /// Whether its bytes are in the companion folder.
    pub unpacked: bool,
}

impl Extra {
    pub fn is_empty(&self) -> bool {
        self.limitations.is_empty()
            && self.link_target.is_none()
            && self.declared.is_none()
            && !self.unpacked
    }
}

/// A container that is read from front to back.
#[derive(Clone)]
pub(crate) struct StreamSource {
    pub source: Source,
    pub format: Format,
    /// The only member's name where the stream holds no archive.
    pub content: Vec<u8>,
}

/// All that was read of a container.
#[derive(Default)]
pub(crate) struct Done {
    pub members: Vec<Member>,
    pub outcomes: Vec<Option<Outcome>>,
    pub extras: HashMap<u32, Extra>,
    pub closing: Closing,
}

/// Where a container stands among the others.
#[derive(Clone)]
pub(crate) struct Place {
    /// 0 for the root.
    pub level: u64,
    /// Segments of its path.
    pub depth: u64,
    /// Bytes of its path.
    pub prefix_len: u64,
    pub file: Arc<FileAccount>,
}

/// An open container with what was read of it so far.
pub(crate) struct Open {
    container: RwLock<Option<Box<dyn Container>>>,
    paths: OnceLock<Paths>,
    /// For containers that are read from front to back.
    pub(super) stream: Mutex<Option<StreamSource>>,
    pub(super) place: Place,
    pub(super) keep_going: bool,
    pub(super) is_folder: bool,
    pub(super) is_stream: bool,
    work: Mutex<Work>,
    remaining: AtomicUsize,
}

#[derive(Default)]
pub(crate) struct Work {
    /// Members, largest first.
    pub order: Vec<u32>,
    /// Where each batch ends in `order`.
    batches: Vec<u32>,
    next_batch: usize,
    pub done: Done,
    /// The fault of the first member in container order.
    pub fault: Option<(u32, Fault)>,
    /// Members of a stream that are containers, kept for later: raw name and
    /// bytes.
    pub kept: HashMap<u32, (Vec<u8>, Source)>,
}

impl Open {
    pub fn new(
        container: Box<dyn Container>,
        place: Place,
        is_folder: bool,
    ) -> Result<Self, Fault> {
        let listing = container.listing();
        let names = listing.members.iter().map(|member| RawName {
            bytes: listing.name(member),
            directory: member.kind == MemberKind::Directory,
        });
        let paths = names::resolve(names, container.style()).map_err(too_long)?;
        let count = listing.members.len();
        let mut order: Vec<u32> = (0..count as u32).collect();
        let size = |index: u32| known(listing.members[index as usize].size);
        order.sort_by_key(|&index| std::cmp::Reverse(size(index)));
        let batches = batches(&order, size);
        let done = Done {
            outcomes: vec![None; count],
            ..Done::default()
        };
        Ok(Self {
            paths: OnceLock::from(paths),
            stream: Mutex::new(None),
            place,
            keep_going: false,
            is_folder,
            is_stream: false,
            work: Mutex::new(Work {
                order,
                batches,
                done,
                ..Work::default()
            }),
            remaining: AtomicUsize::new(count),
            container: RwLock::new(Some(container)),
        })
    }

    /// A container that is read from front to back.
    pub fn stream(stream: StreamSource, place: Place) -> Self {
        Self {
            paths: OnceLock::new(),
            stream: Mutex::new(Some(stream)),
            place,
            keep_going: false,
            is_folder: false,
            is_stream: true,
            work: Mutex::default(),
            remaining: AtomicUsize::new(0),
            container: RwLock::new(None),
        }
    }

    /// Paths of the members; of a stream once it was read to its end.
    pub fn paths(&self) -> &Paths {
        static NO_PATHS: OnceLock<Paths> = OnceLock::new();
        match self.paths.get() {
            Some(paths) => paths,
            None => NO_PATHS.get_or_init(Paths::default),
        }
    }

    /// Settles the paths of a stream's members.
    pub fn set_paths(&self, paths: Paths) {
        // A stream that is read again settles on the same paths.
        let _ = self.paths.set(paths);
    }

    /// The container, until [`Open::complete`].
    pub fn container(&self) -> RwLockReadGuard<'_, Option<Box<dyn Container>>> {
        self.container
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many pieces of work its members make.
    pub fn batch_count(&self) -> usize {
        self.lock().batches.len()
    }

    /// Counts members as read; whether all are.
    pub fn finish_members(&self, count: usize) -> bool {
        self.remaining.fetch_sub(count, Ordering::AcqRel) == count
    }

    /// Closes the container and lets its source go.
    pub fn complete(&self) {
        let mut slot = self
            .container
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(mut container) = slot.take() else {
            return;
        };
        let mut work = self.lock();
        if work.fault.is_none() {
            work.done.closing = container.close();
        }
        work.done.members = container.take_listing().members;
    }

    /// All that was read, taken once, after [`Open::complete`].
    pub fn take_done(&self) -> Done {
        std::mem::take(&mut self.lock().done)
    }

    /// The first fault, taken once.
    pub fn take_fault(&self) -> Option<(u32, Fault)> {
        self.lock().fault.take()
    }

    /// What the members cost, or the limit that one of them breaks.
    pub fn charge(&self, options: &Options) -> Result<Charge, Fault> {
        let guard = self.container();
        let Some(container) = guard.as_deref() else {
            return Ok(Charge::default());
        };
        let members = &container.listing().members;
        let mut bytes = 0u64;
        let mut beside = 0u64;
        let mut links = 0u64;
        for (index, member) in members.iter().enumerate() {
            let unpacked = container.is_unpacked(index);
            // What is never read costs nothing, whatever its header says.
            if !container.is_read(index) || unpacked && self.place.level > 0 {
                continue;
            }
            check_member(member, options)?;
            bytes = bytes.saturating_add(known(member.size));
            if unpacked {
                beside = beside.saturating_add(known(member.size));
            }
            if member.kind == MemberKind::Symlink {
                links = links.saturating_add(known(member.size).min(MAX_TARGET));
            }
        }
        let prefix = self.place.prefix_len + 1;
        let paths = prefix
            .saturating_mul(members.len() as u64)
            .saturating_add(self.paths().bytes())
            .saturating_add(links);
        let longest = (0..self.paths().len())
            .map(|i| self.paths().get(i).len())
            .max()
            .unwrap_or(0);
        if self.place.level > 0 && prefix + longest as u64 > names::MAX_PATH as u64 {
            return Err(too_long(names::TooLong::Path(0)));
        }
        Ok(Charge {
            entries: members.len() as u64,
            bytes,
            beside,
            paths,
        })
    }
}

impl Work {
    /// The next batch of members, largest first.
    pub fn next_batch(&mut self) -> Option<Vec<u32>> {
        let start = match self.next_batch {
            0 => 0,
            batch => *self.batches.get(batch - 1)?,
        };
        let end = *self.batches.get(self.next_batch)?;
        self.next_batch += 1;
        self.order
            .get(start as usize..end as usize)
            .map(<[u32]>::to_vec)
    }

    /// Gives up what was not handed out; how many members that are.
    pub fn skip_rest(&mut self) -> usize {
        let start = match self.next_batch {
            0 => 0,
            batch => self.batches.get(batch - 1).copied().unwrap_or(0) as usize,
        };
        self.next_batch = self.batches.len();
        self.order.len() - start.min(self.order.len())
    }
}

/// A size, 0 where it is not known.
pub(super) fn known(size: u64) -> u64 {
    if size == UNKNOWN { 0 } else { size }
}

fn batches(order: &[u32], size: impl Fn(u32) -> u64) -> Vec<u32> {
    let mut ends = Vec::new();
    let (mut bytes, mut entries) = (0u64, 0usize);
    for (at, &index) in order.iter().enumerate() {
        bytes = bytes.saturating_add(size(index));
        entries += 1;
        if bytes >= BATCH_BYTES || entries >= BATCH_ENTRIES || at + 1 == order.len() {
            ends.push(at as u32 + 1);
            (bytes, entries) = (0, 0);
        }
    }
    ends
}

/// A member's own limits, as far as its container tells its size.
fn check_member(member: &Member, options: &Options) -> Result<(), Fault> {
    check_size(known(member.size), member.compressed, options)
}

/// Limits of one member that has `size` bytes (so far).
pub(super) fn check_size(size: u64, compressed: u64, options: &Options) -> Result<(), Fault> {
    if size > options.max_entry_bytes {
        let value = options.max_entry_bytes;
        return Err(Fault::Limit(Limit {
            name: "max_entry_bytes",
            value,
        }));
    }
    let ratio = options.max_compression_ratio;
    if compressed != UNKNOWN && size > RATIO_FROM && size > compressed.saturating_mul(ratio) {
        return Err(Fault::Limit(Limit {
            name: "max_compression_ratio",
            value: ratio,
        }));
    }
    Ok(())
}

pub(super) fn too_long(too_long: names::TooLong) -> Fault {
    Fault::Limit(match too_long {
        names::TooLong::Path(_) => Limit {
            name: "path bytes",
            value: names::MAX_PATH as u64,
        },
        names::TooLong::All => Limit {
            name: "all path bytes",
            value: names::MAX_ALL as u64,
        },
    })
}
