//! Reads what containers list: hashes every member on all cores and expands
//! the containers among them.
//!
//! Workers share one queue. An open container hands out its members in
//! batches, largest first, so that one large member never comes last. A
//! member that is a container itself is spooled while it is hashed and then
//! opened by whichever worker is free; the container opened last is always
//! served first, which bounds how much is spooled at a time.
//!
//! Nested containers share one account (decision 20). Normally all of them
//! fit, and then their order does not matter. Where the account runs out, the
//! speculative work is thrown away and they are expanded again one by one in
//! path order, so that the result is the same whatever the threads did.

mod account;
mod collector;
mod member;
mod nested;
mod open;
mod pipe;
mod stream;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::containers::{Container, Fault, Limit, MemberKind, Reading, Scratch};
use super::format::{self, Format};
use super::limitation::{Limitation, Note};
use super::names;
use super::options::{Nesting, OnDamage, Options};
use super::source::{Source, Spool, Stash};
use crate::digest::{Digest, Hasher};
use crate::operation::Context;
use account::{Account, FileAccount};
use member::MemberReader;
use nested::Pending;
pub(crate) use nested::{Nested, opaque_note};
use open::Place;
pub(crate) use open::{Candidate, Done, Extra, Open, Outcome, Status, StreamSource};
pub(crate) use stream::{cut, is_container_itself};

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

/// The root container.
pub(crate) enum RootContainer {
    /// A folder.
    Folder(Box<dyn Container>),
    /// A file that lists its entries.
    Listed(Box<dyn Container>),
    /// A file that is read from front to back.
    Stream(StreamSource),
}

/// Reads a root container (and hashes the root file beside it), then
/// everything nested.
pub(crate) fn run(
    root: Option<RootContainer>,
    file: Option<RootFile>,
    options: &Options,
    context: &Context,
) -> Result<Tree, Fault> {
    let size = file.as_ref().map_or(0, |file| file.source.len());
    let account = FileAccount::new(size, options.max_compression_ratio);
    let root = match root {
        None => None,
        Some(root) => Some(open_root(root, account, options)?),
    };
    let mut run = Run::new(options, context, options.nested == Nesting::All);
    run.queue_mut().root_file = file;
    context.progress.expect(0, size);
    if let Some(root) = &root {
        let charge = root.charge(options)?;
        context.progress.expect(charge.entries, charge.bytes);
        run.activate(Arc::clone(root));
    }
    let threads = if root.is_some() { context.threads } else { 1 };
    run.work(threads)?;
    if let Some(root) = &root {
        if run.over.load(Ordering::Acquire) {
            run.restart_in_path_order(root)?;
        }
        root.complete();
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
    root: RootContainer,
    file: Arc<FileAccount>,
    options: &Options,
) -> Result<Arc<Open>, Fault> {
    let place = Place {
        level: 0,
        depth: 0,
        prefix_len: 0,
        file,
    };
    let is_folder = matches!(root, RootContainer::Folder(_));
    let mut open = match root {
        RootContainer::Folder(container) => Open::new(container, place, true)?,
        RootContainer::Listed(container) => Open::new(container, place, false)?,
        RootContainer::Stream(stream) => Open::stream(stream, place),
    };
    open.keep_going = options.on_damage == OnDamage::Record;
    let charge = open.charge(options)?;
    let file = &open.place.file;
    let limits = [
        (
            charge.entries > options.max_entries,
            "max_entries",
            options.max_entries,
        ),
        (
            charge.bytes > options.max_total_bytes,
            "max_total_bytes",
            options.max_total_bytes,
        ),
        (
            charge.paths > names::MAX_ALL as u64,
            "all path bytes",
            names::MAX_ALL as u64,
        ),
        (
            !is_folder && charge.expanded() > file.most(),
            "max_compression_ratio",
            options.max_compression_ratio,
        ),
    ];
    if let Some(&(_, name, value)) = limits.iter().find(|(over, _, _)| *over) {
        return Err(Fault::Limit(Limit { name, value }));
    }
    if !is_folder {
        file.reset(charge.expanded());
    }
    Ok(Arc::new(open))
}

#[derive(Default)]
struct Queue {
    root_file: Option<RootFile>,
    pending: Vec<Pending>,
    streams: Vec<Arc<Open>>,
    active: Vec<Arc<Open>>,
    busy: usize,
}

/// One piece of work.
enum Task {
    HashRoot(RootFile),
    Open(Pending),
    Stream(Arc<Open>),
    Members(Arc<Open>, Vec<u32>),
}

impl Queue {
    fn take(&mut self) -> Option<Task> {
        if let Some(file) = self.root_file.take() {
            return Some(Task::HashRoot(file));
        }
        if let Some(pending) = self.pending.pop() {
            return Some(Task::Open(pending));
        }
        if let Some(open) = self.streams.pop() {
            return Some(Task::Stream(open));
        }
        while let Some(open) = self.active.last() {
            if let Some(batch) = open.lock().next_batch() {
                return Some(Task::Members(Arc::clone(open), batch));
            }
            self.active.pop();
        }
        None
    }
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
    stash: Mutex<Option<Stash>>,
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
            stash: Mutex::default(),
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

    /// Makes the members of a container available to the workers.
    fn activate(&self, open: Arc<Open>) {
        if let Some(seed) = self.context.disorder {
            shuffle(&mut open.lock().order, seed ^ open.place.prefix_len);
        }
        if open.is_stream {
            self.queue().streams.push(open);
            self.wake.notify_all();
            return;
        }
        if open.finish_members(0) {
            // It has no members at all.
            if self.eager && open.place.level > 0 {
                open.complete();
            }
            return;
        }
        self.queue().active.push(open);
        self.wake.notify_all();
    }

    /// Works on `threads` threads until the queue is empty and nobody is busy.
    fn work(&self, threads: usize) -> Result<(), Fault> {
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
                Task::Stream(open) => self.read_stream(&open),
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
            if let Some(task) = queue.take() {
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
        let changed = |reason| {
            Fault::from(super::folder::artifact_changed(
                self.context.operation,
                &file.path,
                reason,
            ))
        };
        let mut hasher = Hasher::default();
        let mut done = 0;
        while done < file.source.len() {
            self.context.check()?;
            let count = file.source.read_at(done, &mut scratch.input)?;
            if count == 0 {
                return Err(changed("it became shorter while it was read"));
            }
            hasher.update(&scratch.input[..count]);
            done += count as u64;
            self.context.progress.add_bytes(count as u64);
        }
        if file.source.has_more()? {
            return Err(changed("it holds more bytes than its size says"));
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
        let mut first_fault = open.lock().fault.clone();
        let guard = open.container();
        let Some(container) = guard.as_deref() else {
            return Ok(());
        };
        for &index in batch {
            self.context.check()?;
            self.context.progress.add_entries(1);
            // Only the first fault is told; what comes after it is not needed.
            if first_fault
                .as_ref()
                .is_some_and(|(first, _)| index > *first)
            {
                continue;
            }
            let mut extra = Extra::default();
            match self.read_member(open, container, index, scratch, &mut extra) {
                Ok(outcome) => outcomes.push((index, outcome)),
                Err(fault @ Fault::Stop(_)) => return Err(fault),
                Err(fault) if open.place.level > 0 && is_environment(&fault) => return Err(fault),
                Err(fault) => first_fault = Some((index, fault)),
            }
            if !extra.is_empty() {
                extras.push((index, extra));
            }
        }
        drop(guard);
        let mut finished = batch.len();
        let mut work = open.lock();
        for (index, outcome) in outcomes {
            work.done.outcomes[index as usize] = Some(outcome);
        }
        work.done.extras.extend(extras);
        if let Some((index, fault)) = first_fault {
            if work.fault.as_ref().is_none_or(|(first, _)| index < *first) {
                work.fault = Some((index, fault));
            }
            if open.place.level > 0 {
                // A nested container with a fault stays opaque; the rest of
                // its members need not be read.
                finished += work.skip_rest();
            }
        }
        drop(work);
        if open.finish_members(finished) && self.eager && open.place.level > 0 {
            open.complete();
        }
        Ok(())
    }

    fn read_member(
        &self,
        open: &Arc<Open>,
        container: &dyn Container,
        index: u32,
        scratch: &mut Scratch,
        extra: &mut Extra,
    ) -> Result<Outcome, Fault> {
        let member = container.listing().members[index as usize];
        let mut notes = member.notes;
        match member.kind {
            MemberKind::Directory if notes.has(Note::UnreadableDirectory) => {
                return Ok(Outcome::unread(Status::Unavailable, notes));
            }
            MemberKind::Directory => {
                let outcome = Outcome::unread(Status::None, notes);
                return Ok(Outcome {
                    format: Format::Directory,
                    ..outcome
                });
            }
            MemberKind::Special => {
                notes.add(Note::Special);
                return Ok(Outcome::unread(Status::Unavailable, notes));
            }
            MemberKind::File | MemberKind::Slice | MemberKind::Symlink => {}
        }
        if container.is_unpacked(index as usize) && open.place.level > 0 {
            extra.unpacked = true;
            extra.declared = container.declared(index as usize);
            return Ok(Outcome::unread(Status::Unpacked, notes));
        }
        let mut reader = MemberReader::new(self, open, container, index);
        let mut out = |bytes: &[u8]| reader.take(bytes);
        let read = container.read(index as usize, open.keep_going, scratch, &mut out);
        match read {
            Ok(reading) => {
                let mut outcome = Outcome::unread(Status::Verified, notes);
                let declared = container.declared(index as usize);
                let spool = self.finish_member(
                    member.kind,
                    declared,
                    reading,
                    &mut reader,
                    &mut outcome,
                    extra,
                )?;
                extra.unpacked = extra.declared.is_some() && container.is_unpacked(index as usize);
                let name = container.listing().name(&member);
                self.nest(open, name, &mut outcome, || match spool {
                    Some(spool) => Ok(spool.into_source()),
                    None => self.source_again(container, index),
                })?;
                Ok(outcome)
            }
            Err(Fault::Unavailable(note)) => {
                notes.add(note);
                Ok(Outcome::unread(Status::Unavailable, notes))
            }
            Err(Fault::UnavailableBecause(limitation)) => {
                extra.limitations.push(limitation);
                Ok(Outcome::unread(Status::Unavailable, notes))
            }
            Err(Fault::Damage(damage)) if open.keep_going => {
                let text = format!(
                    "It could not be read: at offset {}, {}.",
                    damage.offset, damage.text
                );
                extra.limitations.push(Limitation::new(109, text));
                Ok(Outcome::unread(Status::Unavailable, notes))
            }
            Err(fault) => Err(fault),
        }
    }

    /// All bytes have passed: digest, format, contradictions.
    fn finish_member(
        &self,
        kind: MemberKind,
        declared: Option<Digest>,
        reading: Reading,
        reader: &mut MemberReader<'_>,
        outcome: &mut Outcome,
        extra: &mut Extra,
    ) -> Result<Option<Spool>, Fault> {
        outcome.notes = outcome.notes.union(reading.notes);
        if let Some(damage) = reading.contradiction {
            outcome.status = Status::Mismatched;
            let text = format!("Its content contradicts the archive: {}.", damage.text);
            extra.limitations.push(Limitation::new(109, text));
        }
        outcome.digest = std::mem::take(&mut reader.hasher).finish();
        if declared.is_some_and(|declared| declared != outcome.digest) {
            outcome.status = Status::Mismatched;
            outcome.notes.add(Note::Contradicted);
            extra.declared = declared;
        }
        reader.settle(outcome)?;
        if kind == MemberKind::Symlink {
            outcome.candidate = None;
            outcome.notes.remove(Note::OpaqueUnread);
            if outcome.size > open::MAX_TARGET {
                outcome.notes.add(Note::LinkTargetOmitted);
            } else {
                extra.link_target = Some(names::escape_target(&reader.head).into());
            }
            return Ok(None);
        }
        Ok(reader.spool.take())
    }

    fn disorder_delay(&self) {
        if let Some(seed) = self.context.disorder {
            let step = self.steps.fetch_add(1, Ordering::Relaxed);
            let micros = mix(seed ^ step) % 300;
            std::thread::sleep(std::time::Duration::from_micros(micros));
        }
    }
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

/// Whether a ZIP archive may stand behind content of this format
/// (decision 11: what is in front is no container itself).
pub(crate) fn may_hide_archive(format: Format) -> bool {
    !format::is_container(format) && !matches!(format, Format::Directory | Format::MachOUniversal)
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
