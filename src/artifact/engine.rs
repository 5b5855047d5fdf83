//! Reads what containers list: hashes every member on all cores and expands
//! the containers among them.
//!
//! Workers share one queue. An open container hands out its members in
//! batches, largest first, so that one large member never comes last. A
//! member that is a container itself is spooled while it is hashed and then
//! opened by whichever worker is free; the deepest open container is always
//! served first, which bounds how much is spooled at a time.
//!
//! Nested containers share one account (decision 20). Normally all of them
//! fit, and then their order does not matter. Where the account runs out, the
//! speculative work is thrown away and they are expanded again one by one in
//! path order, so that the result is the same whatever the threads did.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::containers::{
    self, Container, Fault, Limit, Member, MemberKind, Reading, Scratch, UNKNOWN,
};
use super::format::{self, Content, Format, Kind};
use super::limitation::{Limitation, Note, Notes};
use super::names::{self, Paths, RawName};
use super::options::{Nesting, OnDamage, Options};
use super::source::{Source, Spool};
use crate::digest::{Digest, Hasher};
use crate::operation::Context;
use std::result::Result;

/// Output below this never counts against the compression ratio.
const RATIO_FROM: u64 = 1 << 30;
/// The longest link target that is shown.
const MAX_TARGET: usize = names::MAX_PATH;
/// An end record with the longest comment fits into so many last bytes.
const END_RECORD_REACH: u64 = 65_535 + 22;

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

/// What reading one member came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub digest: Digest,
    pub size: u64,
    pub status: Status,
    pub format: Format,
    pub kind: Kind,
    pub role: Format,
    pub notes: Notes,
    /// A container that could be expanded.
    candidate: Option<Candidate>,
    /// Nested container, as an index into [`Tree::nested`].
    pub child: Option<u32>,
}

impl Outcome {
    fn unread(path: &str, status: Status, notes: Notes) -> Self {
        let (kind, role, unchecked) = format::unread_role(path);
        let mut outcome = Self {
            digest: Digest([0; 32]),
            size: 0,
            status,
            format: Format::File,
            kind,
            role,
            notes,
            candidate: None,
            child: None,
        };
        if unchecked {
            outcome.notes.add(Note::SuffixUnchecked);
        }
        outcome
    }

    fn directory(path: &str, notes: Notes) -> Self {
        let (kind, role) = format::directory_role(path);
        let unread = notes.has(Note::UnreadableDirectory);
        Self {
            digest: Digest([0; 32]),
            size: 0,
            status: if unread {
                Status::Unavailable
            } else {
                Status::None
            },
            format: Format::Directory,
            kind,
            role,
            notes,
            candidate: None,
            child: None,
        }
    }
}

/// Facts about a few members that do not fit into [`Outcome`].
#[derive(Debug, Default)]
pub(crate) struct Extra {
    pub limitations: Vec<Limitation>,
    pub link_target: Option<Box<str>>,
}

/// An open container with what was read of it.
pub(crate) struct Open {
    pub container: Box<dyn Container>,
    pub paths: Paths,
    /// Path of the container; empty for the root.
    pub prefix: Box<str>,
    /// 0 for the root.
    level: u64,
    depth: u64,
    keep_going: bool,
    is_folder: bool,
    file: Arc<FileAccount>,
    work: Mutex<Work>,
}

#[derive(Default)]
struct Work {
    order: Vec<u32>,
    cursor: usize,
    outcomes: Vec<Option<Outcome>>,
    extras: HashMap<u32, Extra>,
    /// The fault of the first member in container order.
    fault: Option<(u32, Fault)>,
}

impl Open {
    fn member(&self, index: u32) -> &Member {
        &self.container.listing().members[index as usize]
    }

    /// The logical path of a member.
    pub fn path_of(&self, index: u32) -> String {
        if self.prefix.is_empty() {
            self.paths.get(index as usize).to_owned()
        } else {
            format!("{}/{}", self.prefix, self.paths.get(index as usize))
        }
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read, by member; taken once.
    pub fn take_outcomes(&self) -> (Vec<Option<Outcome>>, HashMap<u32, Extra>) {
        let mut work = self.lock();
        (
            std::mem::take(&mut work.outcomes),
            std::mem::take(&mut work.extras),
        )
    }

    /// The first fault, taken once.
    pub fn take_fault(&self) -> Option<(u32, Fault)> {
        self.lock().fault.take()
    }
}

/// What became of a nested container.
pub(crate) enum Nested {
    /// Not opened yet.
    Waiting(Box<Pending>),
    /// All members are in.
    Expanded(Arc<Open>),
    /// Stays a file, and says why.
    Opaque(Note),
    /// Is no container after all.
    Plain,
}

/// A nested container that is to be opened.
pub(crate) struct Pending {
    id: u32,
    source: Option<Source>,
    format: Candidate,
    prefix: Box<str>,
    level: u64,
    depth: u64,
    file: Arc<FileAccount>,
    /// Where to read it again when the source was let go.
    parent: (Arc<Open>, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Candidate {
    Format(Format),
    ZipBehind,
}

/// How much one file of a folder (or the root file) may expand to.
#[derive(Debug)]
pub(crate) struct FileAccount {
    bytes: AtomicU64,
    most: u64,
}

impl FileAccount {
    fn new(size: u64, ratio: u64) -> Arc<Self> {
        let most = RATIO_FROM.max(size.saturating_mul(ratio));
        Arc::new(Self {
            bytes: AtomicU64::new(0),
            most,
        })
    }
}

/// What nested containers have been charged together.
#[derive(Debug, Default)]
struct Account {
    entries: AtomicU64,
    bytes: AtomicU64,
    paths: AtomicU64,
}

/// What one container costs.
#[derive(Clone, Copy)]
struct Charge {
    entries: u64,
    bytes: u64,
    paths: u64,
}

impl Account {
    /// Charges a container; whether all of it still fits.
    fn charge(&self, charge: Charge, file: &FileAccount, options: &Options) -> bool {
        let add = |sum: &AtomicU64, amount: u64| {
            let before = sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                Some(now.saturating_add(amount))
            });
            before.unwrap_or(u64::MAX).saturating_add(amount)
        };
        let entries = add(&self.entries, charge.entries) <= options.max_entries;
        let bytes = add(&self.bytes, charge.bytes) <= options.max_total_bytes;
        let paths = add(&self.paths, charge.paths) <= names::MAX_ALL as u64;
        let file = add(&file.bytes, charge.bytes) <= file.most;
        entries && bytes && paths && file
    }
}

/// A root file that is hashed beside its members.
pub(crate) struct RootFile {
    pub source: Source,
    pub path: String,
}

/// What was read of the root.
pub(crate) struct Tree {
    /// The root container, where there is one.
    pub root: Option<Arc<Open>>,
    /// Nested containers by id.
    pub nested: Vec<Nested>,
    /// SHA-256 of the root file.
    pub root_digest: Option<Digest>,
}

/// Reads a root container (and hashes the root file beside it), then
/// everything nested.
pub(crate) fn run(
    root: Option<(Box<dyn Container>, bool)>,
    file: Option<RootFile>,
    options: &Options,
    context: &Context,
) -> Result<Tree, Fault> {
    let size = file.as_ref().map_or(0, |file| file.source.len());
    let account = FileAccount::new(size, options.max_compression_ratio);
    let root = match root {
        None => None,
        Some((container, is_folder)) => Some(open_root(container, is_folder, account, options)?),
    };
    let eager = options.nested == Nesting::All;
    let mut run = Run::new(options, context, eager);
    run.queue_mut().root_file = file;
    if let Some(root) = &root {
        let charge = root.charge(options)?;
        context.progress.expect(charge.entries, charge.bytes);
        run.activate(Arc::clone(root));
    }
    context.progress.expect(0, size);
    run.work()?;
    if run.over.load(Ordering::Acquire) {
        run.restart_in_path_order(root.as_ref())?;
    }
    let root_digest = run
        .root_digest
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let nested = std::mem::take(&mut *run.nested());
    Ok(Tree {
        root,
        nested,
        root_digest,
    })
}

/// The root container is charged its own members; a breach is an error.
fn open_root(
    container: Box<dyn Container>,
    is_folder: bool,
    file: Arc<FileAccount>,
    options: &Options,
) -> Result<Arc<Open>, Fault> {
    let open = Open::new(container, "".into(), 0, 0, is_folder, file)?;
    let open = Open {
        keep_going: options.on_damage == OnDamage::Record,
        ..open
    };
    let charge = open.charge(options)?;
    let limit = |name, value| Err(Fault::Limit(Limit { name, value }));
    if charge.entries > options.max_entries {
        return limit("max_entries", options.max_entries);
    }
    if charge.bytes > options.max_total_bytes {
        return limit("max_total_bytes", options.max_total_bytes);
    }
    if !is_folder && charge.bytes > open.file.most {
        return limit("max_compression_ratio", options.max_compression_ratio);
    }
    if !is_folder {
        open.file.bytes.store(charge.bytes, Ordering::Relaxed);
    }
    Ok(Arc::new(open))
}

impl Open {
    fn new(
        container: Box<dyn Container>,
        prefix: Box<str>,
        level: u64,
        depth: u64,
        is_folder: bool,
        file: Arc<FileAccount>,
    ) -> Result<Self, Fault> {
        let listing = container.listing();
        let names = listing.members.iter().map(|member| RawName {
            bytes: listing.name(member),
            directory: member.kind == MemberKind::Directory,
        });
        let paths = names::resolve(names, container.style()).map_err(|too_long| {
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
        })?;
        let count = listing.members.len();
        let mut order: Vec<u32> = (0..count as u32).collect();
        let size = |index: u32| {
            let member = &listing.members[index as usize];
            if member.size == UNKNOWN {
                0
            } else {
                member.size
            }
        };
        order.sort_by_key(|&index| std::cmp::Reverse(size(index)));
        Ok(Self {
            paths,
            prefix,
            level,
            depth,
            keep_going: false,
            is_folder,
            file,
            work: Mutex::new(Work {
                order,
                outcomes: vec![None; count],
                ..Work::default()
            }),
            container,
        })
    }

    /// What the members cost, or the limit that one of them breaks.
    fn charge(&self, options: &Options) -> Result<Charge, Fault> {
        let members = &self.container.listing().members;
        let mut bytes = 0u64;
        for member in members.iter().filter(|member| member.size != UNKNOWN) {
            if member.size > options.max_entry_bytes {
                let limit = Limit {
                    name: "max_entry_bytes",
                    value: options.max_entry_bytes,
                };
                return Err(Fault::Limit(limit));
            }
            let ratio = options.max_compression_ratio;
            if member.compressed != UNKNOWN
                && member.size > RATIO_FROM
                && member.size > member.compressed.saturating_mul(ratio)
            {
                return Err(Fault::Limit(Limit {
                    name: "max_compression_ratio",
                    value: ratio,
                }));
            }
            bytes = bytes.saturating_add(member.size);
        }
        let prefix = self.prefix.len() as u64 + 1;
        let paths = prefix
            .saturating_mul(members.len() as u64)
            .saturating_add(self.paths.bytes());
        let longest = (0..self.paths.len())
            .map(|i| self.paths.get(i).len())
            .max()
            .unwrap_or(0);
        if !self.prefix.is_empty() && self.prefix.len() + 1 + longest > names::MAX_PATH {
            return Err(Fault::Limit(Limit {
                name: "path bytes",
                value: names::MAX_PATH as u64,
            }));
        }
        Ok(Charge {
            entries: members.len() as u64,
            bytes,
            paths,
        })
    }
}

#[derive(Default)]
struct Queue {
    root_file: Option<RootFile>,
    pending: Vec<Box<Pending>>,
    active: Vec<Arc<Open>>,
    busy: usize,
}

/// One piece of work.
enum Task {
    HashRoot(RootFile),
    Open(Box<Pending>),
    Members(Arc<Open>, Vec<u32>),
}

struct Run<'a> {
    options: &'a Options,
    context: &'a Context,
    /// Whether nested containers are opened as they are found.
    eager: bool,
    queue: Mutex<Queue>,
    wake: Condvar,
    account: Account,
    /// The account ran out during eager expansion.
    over: AtomicBool,
    nested: Mutex<Vec<Nested>>,
    spooled: Arc<AtomicU64>,
    root_digest: Mutex<Option<Digest>>,
    stop: Mutex<Option<Fault>>,
    stopped: AtomicBool,
    steps: AtomicU64,
}

impl<'a> Run<'a> {
    fn new(options: &'a Options, context: &'a Context, eager: bool) -> Self {
        Self {
            options,
            context,
            eager,
            queue: Mutex::default(),
            wake: Condvar::new(),
            account: Account::default(),
            over: AtomicBool::new(false),
            nested: Mutex::default(),
            spooled: Arc::default(),
            root_digest: Mutex::default(),
            stop: Mutex::default(),
            stopped: AtomicBool::new(false),
            steps: AtomicU64::new(0),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue_mut(&mut self) -> &mut Queue {
        self.queue.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn nested(&self) -> MutexGuard<'_, Vec<Nested>> {
        self.nested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn activate(&self, open: Arc<Open>) {
        if let Some(seed) = self.context.disorder {
            shuffle(&mut open.lock().order, seed ^ open.prefix.len() as u64);
        }
        self.queue().active.push(open);
        self.wake.notify_all();
    }

    /// Works until the queue is empty and nobody is busy.
    fn work(&self) -> Result<(), Fault> {
        let threads = self.context.threads.max(1);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.worker());
            }
            self.worker();
        });
        match self
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    fn worker(&self) {
        let mut scratch = Scratch::new();
        while let Some(task) = self.next_task() {
            self.disorder_delay();
            let done = match task {
                Task::HashRoot(file) => self.hash_root(&file, &mut scratch),
                Task::Open(pending) => {
                    self.open_nested(pending);
                    Ok(())
                }
                Task::Members(open, batch) => self.read_batch(&open, &batch, &mut scratch),
            };
            if let Err(fault) = done {
                self.stop_with(fault);
            }
            self.queue().busy -= 1;
            self.wake.notify_all();
        }
    }

    fn stop_with(&self, fault: Fault) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.get_or_insert(fault);
        self.stopped.store(true, Ordering::Release);
    }

    fn next_task(&self) -> Option<Task> {
        let mut queue = self.queue();
        loop {
            if self.stopped.load(Ordering::Acquire) {
                self.wake.notify_all();
                return None;
            }
            if let Some(task) = take_task(&mut queue) {
                queue.busy += 1;
                return Some(task);
            }
            if queue.busy == 0 {
                self.wake.notify_all();
                return None;
            }
            queue = self
                .wake
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn hash_root(&self, file: &RootFile, scratch: &mut Scratch) -> Result<(), Fault> {
        let mut hasher = Hasher::default();
        let mut done = 0;
        while done < file.source.len() {
            self.context.check()?;
            let count = file.source.read_at(done, &mut scratch.input)?;
            if count == 0 {
                let reason = "it became shorter while it was read";
                let operation = self.context.operation;
                return Err(super::folder::artifact_changed(operation, &file.path, reason).into());
            }
            hasher.update(&scratch.input[..count]);
            done += count as u64;
            self.context.progress.add_bytes(count as u64);
        }
        *self
            .root_digest
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(hasher.finish());
        Ok(())
    }

    fn read_batch(
        &self,
        open: &Arc<Open>,
        batch: &[u32],
        scratch: &mut Scratch,
    ) -> Result<(), Fault> {
        let mut outcomes = Vec::with_capacity(batch.len());
        let mut extras = Vec::new();
        let mut first_fault: Option<(u32, Fault)> = None;
        let known = open.lock().fault.as_ref().map(|(first, _)| *first);
        for &index in batch {
            self.context.check()?;
            // Only the first fault is told; what comes after it is not needed.
            if known.is_some_and(|first| index > first) {
                continue;
            }
            let mut extra = Extra::default();
            match self.read_member(open, index, scratch, &mut extra) {
                Ok(outcome) => outcomes.push((index, outcome)),
                Err(fault)
                    if matches!(fault, Fault::Stop(_))
                        || open.level > 0 && is_environment(&fault) =>
                {
                    return Err(fault);
                }
                Err(fault) => {
                    if first_fault.as_ref().is_none_or(|(first, _)| index < *first) {
                        first_fault = Some((index, fault));
                    }
                }
            }
            if !extra.limitations.is_empty() || extra.link_target.is_some() {
                extras.push((index, extra));
            }
            self.context.progress.add_entries(1);
        }
        let mut work = open.lock();
        for (index, outcome) in outcomes {
            work.outcomes[index as usize] = Some(outcome);
        }
        work.extras.extend(extras);
        if let Some((index, fault)) = first_fault {
            if work.fault.as_ref().is_none_or(|(first, _)| index < *first) {
                work.fault = Some((index, fault));
            }
            if open.level > 0 {
                // A nested container with a fault stays opaque; the rest of
                // its members need not be read.
                work.cursor = work.order.len();
            }
        }
        Ok(())
    }

    fn read_member(
        &self,
        open: &Arc<Open>,
        index: u32,
        scratch: &mut Scratch,
        extra: &mut Extra,
    ) -> Result<Outcome, Fault> {
        let member = *open.member(index);
        let path = open.path_of(index);
        let mut notes = member.notes;
        if open.paths.is_escaped(index as usize) {
            notes.add(Note::Escaped);
        }
        match member.kind {
            MemberKind::Directory => return Ok(Outcome::directory(&path, notes)),
            MemberKind::Special => {
                notes.add(Note::Special);
                return Ok(Outcome::unread(&path, Status::Unavailable, notes));
            }
            MemberKind::File | MemberKind::Symlink => {}
        }
        if open.container.is_unpacked(index as usize) && open.level > 0 {
            return Ok(Outcome::unread(&path, Status::Unpacked, notes));
        }
        let mut reader = MemberReader::new(self, open, index, &path);
        let read = open
            .container
            .read(index as usize, open.keep_going, scratch, &mut |bytes| {
                reader.take(bytes)
            });
        match read {
            Ok(reading) => self.finish_member(open, index, &path, notes, reader, reading, extra),
            Err(Fault::Unavailable(note)) => {
                notes.add(note);
                Ok(Outcome::unread(&path, Status::Unavailable, notes))
            }
            Err(Fault::UnavailableBecause(limitation)) => {
                extra.limitations.push(limitation);
                Ok(Outcome::unread(&path, Status::Unavailable, notes))
            }
            Err(Fault::Damage(damage)) if open.keep_going => {
                let text = format!(
                    "It could not be read: at offset {}, {}.",
                    damage.offset, damage.text
                );
                extra.limitations.push(Limitation::new(109, text));
                Ok(Outcome::unread(&path, Status::Unavailable, notes))
            }
            Err(fault) => Err(fault),
        }
    }

    #[allow(clippy::too_many_arguments)] // one call site; a struct would only rename it
    fn finish_member(
        &self,
        open: &Arc<Open>,
        index: u32,
        path: &str,
        mut notes: Notes,
        mut reader: MemberReader<'_>,
        reading: Reading,
        extra: &mut Extra,
    ) -> Result<Outcome, Fault> {
        reader.settle()?;
        let member = open.member(index);
        let digest = reader.hasher.finish();
        notes = notes.union(reading.notes);
        let mut status = Status::Verified;
        if let Some(damage) = reading.contradiction {
            status = Status::Mismatched;
            let text = format!("Its content contradicts the archive: {}.", damage.text);
            extra.limitations.push(Limitation::new(109, text));
        }
        if open
            .container
            .declared(index as usize)
            .is_some_and(|declared| declared != digest)
        {
            status = Status::Mismatched;
            notes.add(Note::Contradicted);
        }
        let format = reader.format.unwrap_or(Format::File);
        if member.kind == MemberKind::Symlink {
            if reader.size as usize > MAX_TARGET {
                notes.add(Note::LinkTargetOmitted);
            } else {
                extra.link_target = Some(names::escape_target(&reader.head).into());
            }
            let unread = Outcome::unread(path, status, notes);
            return Ok(Outcome {
                digest,
                size: reader.size,
                format,
                ..unread
            });
        }
        let content = Content {
            format,
            asar: reader.asar,
            tail: &reader.tail,
        };
        let (kind, role) = format::member_role(path, content);
        let mut outcome = Outcome {
            digest,
            size: reader.size,
            status,
            format,
            kind,
            role,
            notes,
            candidate: None,
            child: None,
        };
        outcome.candidate = self.candidate(&mut outcome, reader.zip_tail);
        self.nest(open, index, path, &mut outcome, reader.spool);
        Ok(outcome)
    }

    /// Whether a member is a container that can be listed.
    fn candidate(&self, outcome: &mut Outcome, zip_tail: bool) -> Option<Candidate> {
        if self.options.nested == Nesting::None {
            return None;
        }
        let format = if outcome.role == Format::Asar {
            Format::Asar
        } else {
            outcome.format
        };
        if containers::is_readable(format) {
            return Some(Candidate::Format(format));
        }
        if zip_tail {
            return Some(Candidate::ZipBehind);
        }
        if format::is_container(outcome.role) || outcome.role == Format::MachOUniversal {
            outcome.notes.add(Note::OpaqueUnread);
        }
        None
    }

    /// Queues a member that is a container, or says why it stays opaque.
    fn nest(
        &self,
        open: &Arc<Open>,
        index: u32,
        path: &str,
        outcome: &mut Outcome,
        spool: Option<Spool>,
    ) {
        let Some(candidate) = outcome.candidate else {
            return;
        };
        let depth = open.depth
            + path[open.prefix.len()..]
                .split('/')
                .filter(|s| !s.is_empty())
                .count() as u64;
        if outcome.status == Status::Mismatched {
            outcome.notes.add(Note::OpaqueContradicted);
            return;
        }
        if open.level >= self.options.max_nesting || depth > self.options.max_depth {
            outcome.notes.add(Note::OpaqueTooDeep);
            return;
        }
        let file = if open.is_folder {
            FileAccount::new(outcome.size, self.options.max_compression_ratio)
        } else {
            Arc::clone(&open.file)
        };
        let source = match spool {
            Some(spool) if self.eager => Some(spool.into_source()),
            _ => None,
        };
        let mut nested = self.nested();
        let id = nested.len() as u32;
        let pending = Box::new(Pending {
            id,
            source,
            format: candidate,
            prefix: path.into(),
            level: open.level + 1,
            depth,
            file,
            parent: (Arc::clone(open), index),
        });
        outcome.child = Some(id);
        if self.eager && !self.over.load(Ordering::Acquire) {
            nested.push(Nested::Opaque(Note::OpaqueBudget));
            drop(nested);
            self.queue().pending.push(pending);
            self.wake.notify_all();
        } else {
            nested.push(Nested::Waiting(pending));
        }
    }

    /// Opens a nested container and makes its members available.
    fn open_nested(&self, mut pending: Box<Pending>) {
        if self.over.load(Ordering::Acquire) {
            return;
        }
        let id = pending.id as usize;
        let state = match self.open_pending(&mut pending) {
            Err(state) => state,
            Ok(open) => match open.charge(self.options) {
                Err(fault) => Nested::Opaque(opaque_note(&fault)),
                Ok(charge) => {
                    if !self.account.charge(charge, &open.file, self.options) {
                        self.over.store(true, Ordering::Release);
                        self.drop_nested_work();
                        return;
                    }
                    self.context.progress.expect(charge.entries, charge.bytes);
                    let open = Arc::new(open);
                    self.activate(Arc::clone(&open));
                    Nested::Expanded(open)
                }
            },
        };
        self.nested()[id] = state;
    }

    fn open_pending(&self, pending: &mut Pending) -> Result<Open, Nested> {
        let opaque = |fault: Fault| {
            if is_environment(&fault) {
                self.stop_with(fault.clone());
            }
            Nested::Opaque(opaque_note(&fault))
        };
        let (parent, index) = &pending.parent;
        let source = match pending.source.take() {
            Some(source) => source,
            None => match parent.container.region(*index as usize) {
                Some(source) => source,
                None => self.spool_again(parent, *index).map_err(opaque)?,
            },
        };
        let container = match pending.format {
            Candidate::Format(format) => {
                containers::open(format, &source, self.options).map_err(opaque)?
            }
            Candidate::ZipBehind => {
                containers::find_zip_behind(&source, self.options).ok_or(Nested::Plain)?
            }
        };
        let prefix = std::mem::take(&mut pending.prefix);
        let file = Arc::clone(&pending.file);
        Open::new(container, prefix, pending.level, pending.depth, false, file).map_err(opaque)
    }

    /// Decodes a member a second time, for a source that was let go.
    fn spool_again(&self, parent: &Open, index: u32) -> Result<Source, Fault> {
        let mut scratch = Scratch::new();
        let mut spool = Spool::new(&self.spooled);
        parent
            .container
            .read(index as usize, false, &mut scratch, &mut |bytes| {
                self.context.check()?;
                Ok(spool.write(bytes)?)
            })?;
        Ok(spool.into_source())
    }

    /// Leaves only the root's own members in the queue.
    fn drop_nested_work(&self) {
        let mut queue = self.queue();
        queue.pending.clear();
        queue.active.retain(|open| open.level == 0);
    }

    /// Expands nested containers again, one by one in path order, until the
    /// account runs out; that one and all later ones stay opaque.
    fn restart_in_path_order(&mut self, root: Option<&Arc<Open>>) -> Result<(), Fault> {
        self.eager = false;
        self.account = Account::default();
        let Some(root) = root else { return Ok(()) };
        if !root.is_folder {
            let own = root.charge(self.options)?.bytes;
            root.file.bytes.store(own, Ordering::Relaxed);
        }
        self.nested().clear();
        self.forget_children(root);
        let mut exhausted = Exhausted { account: false };
        self.expand_children(root, &mut exhausted)
    }

    /// Reads which members of the root are containers afresh: their ids in
    /// the account that ran out mean nothing any more.
    fn forget_children(&self, open: &Arc<Open>) {
        let mut work = open.lock();
        for outcome in work.outcomes.iter_mut().flatten() {
            outcome.child = None;
        }
    }

    fn expand_children(&self, open: &Arc<Open>, exhausted: &mut Exhausted) -> Result<(), Fault> {
        for index in self.children_in_path_order(open) {
            self.context.check()?;
            let Some(outcome) = open.lock().outcomes[index as usize] else {
                continue;
            };
            let mut outcome = Outcome {
                child: None,
                ..outcome
            };
            self.nest(open, index, &open.path_of(index), &mut outcome, None);
            open.lock().outcomes[index as usize] = Some(outcome);
            let Some(id) = outcome.child else { continue };
            let waiting = std::mem::replace(
                &mut self.nested()[id as usize],
                Nested::Opaque(Note::OpaqueBudget),
            );
            let Nested::Waiting(mut pending) = waiting else {
                continue;
            };
            if exhausted.account {
                continue;
            }
            let state = self.expand_one(&mut pending, exhausted)?;
            self.nested()[id as usize] = state;
        }
        Ok(())
    }

    /// Members that are nested containers, by logical path.
    fn children_in_path_order(&self, open: &Arc<Open>) -> Vec<u32> {
        let work = open.lock();
        let outcomes = work.outcomes.iter().zip(0u32..);
        let mut children: Vec<u32> = outcomes
            .filter(|(outcome, _)| outcome.is_some_and(|outcome| outcome.candidate.is_some()))
            .map(|(_, index)| index)
            .collect();
        drop(work);
        children.sort_by(|&a, &b| open.paths.get(a as usize).cmp(open.paths.get(b as usize)));
        children
    }

    fn expand_one(
        &self,
        pending: &mut Pending,
        exhausted: &mut Exhausted,
    ) -> Result<Nested, Fault> {
        let open = match self.open_pending(pending) {
            Ok(open) => open,
            Err(state) => return Ok(state),
        };
        let charge = match open.charge(self.options) {
            Ok(charge) => charge,
            Err(fault) => return Ok(Nested::Opaque(opaque_note(&fault))),
        };
        if !self.account.charge(charge, &open.file, self.options) {
            exhausted.account = true;
            return Ok(Nested::Opaque(Note::OpaqueBudget));
        }
        let open = Arc::new(open);
        self.activate(Arc::clone(&open));
        self.work()?;
        if let Some((_, fault)) = &open.lock().fault {
            self.account.refund(charge, &open.file);
            return Ok(Nested::Opaque(opaque_note(fault)));
        }
        self.expand_children(&open, exhausted)?;
        Ok(Nested::Expanded(open))
    }

    fn disorder_delay(&self) {
        if let Some(seed) = self.context.disorder {
            let step = self.steps.fetch_add(1, Ordering::Relaxed);
            let micros = mix(seed ^ step) % 300;
            std::thread::sleep(std::time::Duration::from_micros(micros));
        }
    }
}

struct Exhausted {
    account: bool,
}

impl Account {
    fn refund(&self, charge: Charge, file: &FileAccount) {
        self.entries.fetch_sub(charge.entries, Ordering::Relaxed);
        self.bytes.fetch_sub(charge.bytes, Ordering::Relaxed);
        self.paths.fetch_sub(charge.paths, Ordering::Relaxed);
        file.bytes.fetch_sub(charge.bytes, Ordering::Relaxed);
    }
}

/// Bytes and entries of one batch.
const BATCH_BYTES: u64 = 512 << 10;
const BATCH_ENTRIES: usize = 64;

fn take_task(queue: &mut Queue) -> Option<Task> {
    if let Some(file) = queue.root_file.take() {
        return Some(Task::HashRoot(file));
    }
    if let Some(pending) = queue.pending.pop() {
        return Some(Task::Open(pending));
    }
    while let Some(open) = queue.active.last() {
        let mut work = open.lock();
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH_ENTRIES && bytes < BATCH_BYTES && work.cursor < work.order.len() {
            let index = work.order[work.cursor];
            work.cursor += 1;
            let size = open.member(index).size;
            bytes += if size == UNKNOWN { 0 } else { size };
            batch.push(index);
        }
        drop(work);
        if batch.is_empty() {
            queue.active.pop();
            continue;
        }
        let open = Arc::clone(open);
        return Some(Task::Members(open, batch));
    }
    None
}

/// Whether a fault says nothing of the input: a full disk, an I/O error, an
/// input that changed, a cancellation.
fn is_environment(fault: &Fault) -> bool {
    match fault {
        Fault::Io(kind, _) => *kind != std::io::ErrorKind::UnexpectedEof,
        Fault::Stop(_) => true,
        _ => false,
    }
}

/// Why a container that could not be listed stays opaque.
pub(crate) fn opaque_note(fault: &Fault) -> Note {
    match fault {
        Fault::Encrypted => Note::OpaqueEncrypted,
        Fault::Limit(limit) if limit.name == "max_entries" => Note::OpaqueBudget,
        Fault::Limit(_) => Note::OpaqueEntry,
        _ => Note::OpaqueDamaged,
    }
}

/// Whether a ZIP archive may stand behind content of this format
/// (decision 11: what is in front is no container itself).
pub(crate) fn may_hide_archive(format: Format) -> bool {
    !format::is_container(format) && !matches!(format, Format::Directory | Format::MachOUniversal)
}

/// Collects what is to be known of one member while its bytes pass by.
struct MemberReader<'a> {
    run: &'a Run<'a>,
    hasher: Hasher,
    size: u64,
    head: Vec<u8>,
    head_most: usize,
    tail: Vec<u8>,
    tail_from: u64,
    keeps_tail: bool,
    format: Option<Format>,
    asar: bool,
    looks_for_asar: bool,
    spool: Option<Spool>,
    may_spool: bool,
    declared_size: u64,
    compressed: u64,
    /// A folder's file whose last bytes hold a ZIP end record.
    zip_tail: bool,
    looks_behind: bool,
}

impl<'a> MemberReader<'a> {
    fn new(run: &'a Run<'a>, open: &Open, index: u32, path: &str) -> Self {
        let member = open.member(index);
        let file = member.kind == MemberKind::File;
        let nested = run.options.nested == Nesting::All && file;
        let ends_with = |suffix: &str| {
            let at = path.len().saturating_sub(suffix.len());
            path.as_bytes()[at..].eq_ignore_ascii_case(suffix.as_bytes())
        };
        let dmg = file && ends_with(".dmg");
        let looks_behind = nested && open.is_folder && member.size != UNKNOWN;
        let reach = if looks_behind {
            END_RECORD_REACH
        } else {
            format::TAIL as u64
        };
        Self {
            run,
            hasher: Hasher::default(),
            size: 0,
            head: Vec::new(),
            head_most: if file { format::HEAD } else { MAX_TARGET + 1 },
            tail: Vec::new(),
            tail_from: if member.size == UNKNOWN {
                0
            } else {
                member.size.saturating_sub(reach)
            },
            keeps_tail: dmg || looks_behind,
            format: None,
            asar: false,
            looks_for_asar: file && ends_with(".asar"),
            spool: None,
            may_spool: nested
                && run.eager
                && open.level < run.options.max_nesting
                && !open.container.is_contiguous(index as usize),
            declared_size: member.size,
            compressed: member.compressed,
            zip_tail: false,
            looks_behind,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.run.context.check()?;
        let before = self.size;
        self.size += bytes.len() as u64;
        self.check_limits()?;
        self.hasher.update(bytes);
        self.run.context.progress.add_bytes(bytes.len() as u64);
        if self.format.is_some() {
            if let Some(spool) = &mut self.spool {
                spool.write(bytes)?;
            }
        } else {
            let room = self.head_most - self.head.len();
            let (head, rest) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(head);
            if self.head.len() == self.head_most {
                self.decide()?;
                if let Some(spool) = &mut self.spool {
                    spool.write(rest)?;
                }
            }
        }
        if self.keeps_tail && self.size > self.tail_from {
            let skip = self.tail_from.saturating_sub(before) as usize;
            self.tail
                .extend_from_slice(bytes.get(skip..).unwrap_or_default());
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), Fault> {
        let options = self.run.options;
        if self.size > options.max_entry_bytes {
            let limit = Limit {
                name: "max_entry_bytes",
                value: options.max_entry_bytes,
            };
            return Err(Fault::Limit(limit));
        }
        let ratio = options.max_compression_ratio;
        let over = self.compressed != UNKNOWN
            && self.size > RATIO_FROM
            && self.size > self.compressed.saturating_mul(ratio);
        if over {
            return Err(Fault::Limit(Limit {
                name: "max_compression_ratio",
                value: ratio,
            }));
        }
        Ok(())
    }

    /// All of the head is here: what is it, and is it kept for a reader?
    fn decide(&mut self) -> Result<(), Fault> {
        let size = if self.declared_size == UNKNOWN {
            self.size
        } else {
            self.declared_size
        };
        let format = format::of_bytes(&self.head[..self.head.len().min(format::HEAD)], size);
        self.format = Some(format);
        self.asar = self.looks_for_asar && containers::is_asar(&self.head);
        if self.may_spool && (containers::is_readable(format) || self.asar) {
            let mut spool = Spool::new(&self.run.spooled);
            spool.write(&self.head)?;
            self.spool = Some(spool);
        }
        Ok(())
    }

    /// The member is complete.
    fn settle(&mut self) -> Result<(), Fault> {
        if self.format.is_none() {
            self.decide()?;
        }
        if self.looks_behind && self.format.is_some_and(may_hide_archive) && !self.asar {
            self.zip_tail = memchr::memmem::rfind(&self.tail, b"PK\x05\x06").is_some();
        }
        Ok(())
    }
}

/// Fisher and Yates, from a seed: the test hook's disorder.
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for index in (1..items.len()).rev() {
        state = mix(state);
        items.swap(index, (state % (index as u64 + 1)) as usize);
    }
}

/// splitmix64
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
