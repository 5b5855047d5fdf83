//! Containers inside containers: opened as they are found, or one by one in
//! path order where the account runs out.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::account::{Account, FileAccount, Fit};
use super::open::{Candidate, Open, Outcome, Place, Status, StreamSource};
use super::stream::NESTED_BUDGET;
use super::{Run, is_environment};
use crate::artifact::containers::{self, Container, Fault, Scratch};
use crate::artifact::limitation::Note;
use crate::artifact::source::{Source, Spool, Stash};
use crate::artifact::streams;

/// What became of a nested container.
pub(crate) enum Nested {
    /// All members are in.
    Expanded(Arc<Open>),
    /// Stays a file, and says why.
    Opaque(Note),
    /// Is no container after all.
    Plain,
}

/// A nested container that is to be opened.
pub(super) struct Pending {
    id: u32,
    source: Source,
    candidate: Candidate,
    place: Place,
    /// What the only member of a stream is called.
    content: Vec<u8>,
}

/// How an attempt to open a container ended.
enum Opened {
    Open(Box<Open>),
    State(Nested),
    /// It has more entries than all nested containers may have together.
    Over,
}

impl Run<'_> {
    /// Queues a member that is a container, or says why it stays opaque.
    /// `again` gives its bytes; it is only asked where they are needed.
    pub(super) fn nest(
        &self,
        open: &Arc<Open>,
        name: &[u8],
        outcome: &mut Outcome,
        again: impl FnOnce() -> Result<Source, Fault>,
    ) -> Result<(), Fault> {
        let Some(candidate) = outcome.candidate else {
            return Ok(());
        };
        if outcome.status == Status::Mismatched {
            outcome.notes.add(Note::OpaqueContradicted);
            outcome.candidate = None;
            return Ok(());
        }
        let place = self.place_below(open, name, outcome);
        if place.level > self.options.max_nesting || place.depth > self.options.max_depth {
            outcome.notes.add(Note::OpaqueTooDeep);
            outcome.candidate = None;
            return Ok(());
        }
        if !self.eager || self.over.load(Ordering::Acquire) {
            return Ok(());
        }
        let source = again()?;
        let content = streams::content_name(name);
        let mut nested = self.nested();
        let id = nested.len() as u32;
        let pending = Pending {
            id,
            source,
            candidate,
            place,
            content,
        };
        outcome.child = Some(id);
        nested.push(Nested::Opaque(Note::OpaqueBudget));
        drop(nested);
        self.queue().pending.push(pending);
        self.wake.notify_all();
        Ok(())
    }

    fn place_below(&self, open: &Open, name: &[u8], outcome: &Outcome) -> Place {
        let segments = name
            .iter()
            .filter(|&&byte| matches!(byte, b'/' | 0xFF))
            .count() as u64
            + 1;
        let file = if open.is_folder {
            FileAccount::new(outcome.size, self.options.max_compression_ratio)
        } else {
            Arc::clone(&open.place.file)
        };
        Place {
            level: open.place.level + 1,
            depth: open.place.depth + segments,
            prefix_len: open.place.prefix_len + 1 + name.len() as u64,
            file,
        }
    }

    /// Moves a spool into the one file that keeps what a stream held, for
    /// expansion in path order.
    pub(super) fn stash(&self, spool: Spool) -> Result<Source, Fault> {
        let mut stash = self.stash.lock().unwrap_or_else(PoisonError::into_inner);
        if stash.is_none() {
            *stash = Some(Stash::new()?);
        }
        match stash.as_mut() {
            Some(stash) => Ok(stash.add(&spool.into_source())?),
            None => Ok(spool.into_source()),
        }
    }

    /// A member's bytes for random access, decoded again where need be.
    pub(super) fn source_again(
        &self,
        container: &dyn Container,
        index: u32,
    ) -> Result<Source, Fault> {
        if let Some(source) = container.region(index as usize) {
            return Ok(source);
        }
        let mut scratch = Scratch::new();
        let mut spool = Spool::new(&self.spooled);
        container.read(index as usize, false, &mut scratch, &mut |bytes| {
            self.context.check()?;
            Ok(spool.write(bytes)?)
        })?;
        Ok(spool.into_source())
    }

    /// Opens a nested container and makes its members available.
    pub(super) fn open_nested(&self, pending: Pending) {
        if self.over.load(Ordering::Acquire) {
            return;
        }
        let id = pending.id as usize;
        let state = match self.open_pending(pending) {
            Opened::Over => return self.give_up(),
            Opened::State(state) => state,
            Opened::Open(open) if open.is_stream => {
                let open = Arc::new(*open);
                self.activate(Arc::clone(&open));
                Nested::Expanded(open)
            }
            Opened::Open(open) => match open.charge(self.options) {
                Err(fault) => Nested::Opaque(opaque_note(&fault)),
                Ok(charge) => {
                    let fit = self.account.charge(charge, &open.place.file, self.options);
                    if fit != Fit::Fits {
                        return self.give_up();
                    }
                    self.context.progress.expect(charge.entries, charge.bytes);
                    let open = Arc::new(*open);
                    self.activate(Arc::clone(&open));
                    Nested::Expanded(open)
                }
            },
        };
        self.nested()[id] = state;
    }

    fn open_pending(&self, pending: Pending) -> Opened {
        let Pending {
            source,
            candidate,
            place,
            content,
            ..
        } = pending;
        let container = match candidate {
            Candidate::Stream(format) => {
                let stream = StreamSource {
                    source,
                    format,
                    content,
                };
                return Opened::Open(Box::new(Open::stream(stream, place)));
            }
            Candidate::Format(format) => containers::open(format, &source, self.options),
            Candidate::ZipBehind => match containers::find_zip_behind(&source, self.options) {
                Some(container) => Ok(container),
                None => return Opened::State(Nested::Plain),
            },
        };
        match container.and_then(|container| Open::new(container, place, false)) {
            Ok(open) => Opened::Open(Box::new(open)),
            Err(Fault::Limit(limit)) if limit.name == "max_entries" => Opened::Over,
            Err(fault) => {
                let note = opaque_note(&fault);
                if is_environment(&fault) {
                    self.stop_with(fault);
                }
                Opened::State(Nested::Opaque(note))
            }
        }
    }

    /// The account ran out: leaves only the root's own members in the queue.
    pub(super) fn give_up(&self) {
        self.over.store(true, Ordering::Release);
        let mut queue = self.queue();
        queue.pending.clear();
        queue.active.retain(|open| open.place.level == 0);
        queue.streams.retain(|open| open.place.level == 0);
    }

    /// Expands nested containers again, one by one in path order, until the
    /// account runs out; that one and all later ones stay opaque.
    pub(super) fn restart_in_path_order(&mut self, root: &Arc<Open>) -> Result<(), Fault> {
        self.eager = false;
        self.account = Account::default();
        self.nested().clear();
        if root.is_stream {
            // Its members passed by; those that are containers are kept now.
            root.place.file.reset(0);
            self.activate(Arc::clone(root));
            self.work(1)?;
        } else if !root.is_folder {
            root.place.file.reset(root.charge(self.options)?.expanded());
        }
        for outcome in root.lock().done.outcomes.iter_mut().flatten() {
            outcome.child = None;
        }
        if root.lock().fault.is_some() {
            return Ok(());
        }
        self.expand_children(root, &mut false)
    }

    fn expand_children(&self, open: &Arc<Open>, exhausted: &mut bool) -> Result<(), Fault> {
        for index in children_in_path_order(open) {
            self.context.check()?;
            let Some(mut outcome) = open.lock().done.outcomes[index as usize] else {
                continue;
            };
            let state = if *exhausted || !open.is_folder && open.place.file.is_exhausted() {
                Nested::Opaque(Note::OpaqueBudget)
            } else {
                self.expand_one(open, index, &outcome, exhausted)?
            };
            let mut nested = self.nested();
            outcome.child = Some(nested.len() as u32);
            nested.push(state);
            drop(nested);
            open.lock().done.outcomes[index as usize] = Some(outcome);
        }
        Ok(())
    }

    fn expand_one(
        &self,
        parent: &Arc<Open>,
        index: u32,
        outcome: &Outcome,
        exhausted: &mut bool,
    ) -> Result<Nested, Fault> {
        let Some(candidate) = outcome.candidate else {
            return Ok(Nested::Plain);
        };
        let Some((name, source)) = self.bytes_again(parent, index)? else {
            return Ok(Nested::Opaque(Note::OpaqueDamaged));
        };
        let place = self.place_below(parent, &name, outcome);
        let file = Arc::clone(&place.file);
        let content = streams::content_name(&name);
        let pending = Pending {
            id: 0,
            source,
            candidate,
            place,
            content,
        };
        let open = match self.open_pending(pending) {
            Opened::Open(open) => open,
            Opened::State(state) => return Ok(state),
            Opened::Over => {
                *exhausted = true;
                return Ok(Nested::Opaque(Note::OpaqueBudget));
            }
        };
        if !open.is_stream {
            let charge = match open.charge(self.options) {
                Ok(charge) => charge,
                Err(fault) => return Ok(Nested::Opaque(opaque_note(&fault))),
            };
            let fit = self.account.charge(charge, &file, self.options);
            if fit != Fit::Fits {
                return Ok(run_out(fit == Fit::OverAll, &file, exhausted));
            }
        }
        let open = Arc::new(*open);
        let threads = self.context.threads.min(open.batch_count().max(1));
        self.activate(Arc::clone(&open));
        self.work(threads)?;
        let fault = open.lock().fault.clone();
        match fault {
            None => self.expand_children(&open, exhausted)?,
            Some((_, Fault::Limit(limit))) if limit.name == NESTED_BUDGET => {
                return Ok(run_out(limit.value == 1, &file, exhausted));
            }
            Some(_) => {}
        }
        open.complete();
        Ok(Nested::Expanded(open))
    }

    /// A member's raw name and bytes, for expansion in path order.
    fn bytes_again(&self, open: &Open, index: u32) -> Result<Option<(Vec<u8>, Source)>, Fault> {
        if open.is_stream {
            return Ok(open.lock().kept.remove(&index));
        }
        let guard = open.container();
        let Some(container) = guard.as_deref() else {
            return Ok(None);
        };
        let listing = container.listing();
        let name = listing.name(&listing.members[index as usize]).to_vec();
        Ok(Some((name, self.source_again(container, index)?)))
    }
}

/// A container that did not fit; all later ones stay opaque, too.
fn run_out(all: bool, file: &FileAccount, exhausted: &mut bool) -> Nested {
    if all {
        *exhausted = true;
    } else {
        file.exhaust();
    }
    Nested::Opaque(Note::OpaqueBudget)
}

/// Members that are nested containers, by path.
fn children_in_path_order(open: &Open) -> Vec<u32> {
    let work = open.lock();
    let mut children: Vec<u32> = (0u32..)
        .zip(&work.done.outcomes)
        .filter(|(_, outcome)| outcome.is_some_and(|outcome| outcome.candidate.is_some()))
        .map(|(index, _)| index)
        .collect();
    drop(work);
    children.sort_by(|&a, &b| {
        open.paths()
            .get(a as usize)
            .cmp(open.paths().get(b as usize))
    });
    children
}

/// Why a container that could not be listed stays opaque.
pub(crate) fn opaque_note(fault: &Fault) -> Note {
    match fault {
        Fault::Limit(limit) if limit.name == NESTED_BUDGET => Note::OpaqueBudget,
        Fault::Limit(limit) if limit.name == "max_depth" => Note::OpaqueTooDeep,
        Fault::Limit(_) => Note::OpaqueEntry,
        _ => Note::OpaqueDamaged,
    }
}
