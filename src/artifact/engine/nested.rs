//! Containers inside containers: opened as they are found, or one by one in
//! path order where the account runs out.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::account::{Account, FileAccount, Fit};
use super::open::{Candidate, Open, Outcome, Place, Status};
use super::{Run, is_environment};
use crate::artifact::containers::{self, Container, Fault, Scratch};
use crate::artifact::limitation::Note;
use crate::artifact::source::{Source, Spool};

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
}

/// How an attempt to open a container ended.
enum Opened {
    Open(Open),
    State(Nested),
    /// It has more entries than all nested containers may have together.
    Over,
}

impl Run<'_> {
    /// Queues a member that is a container, or says why it stays opaque.
    pub(super) fn nest(
        &self,
        open: &Arc<Open>,
        container: &dyn Container,
        index: u32,
        outcome: &mut Outcome,
        spool: Option<Spool>,
    ) -> Result<(), Fault> {
        let Some(candidate) = outcome.candidate else {
            return Ok(());
        };
        if outcome.status == Status::Mismatched {
            outcome.notes.add(Note::OpaqueContradicted);
            outcome.candidate = None;
            return Ok(());
        }
        let path = open.paths.get(index as usize);
        let segments = path.bytes().filter(|&byte| byte == b'/').count() as u64 + 1;
        let depth = open.place.depth + segments;
        if open.place.level >= self.options.max_nesting || depth > self.options.max_depth {
            outcome.notes.add(Note::OpaqueTooDeep);
            outcome.candidate = None;
            return Ok(());
        }
        if !self.eager || self.over.load(Ordering::Acquire) {
            return Ok(());
        }
        let file = if open.is_folder {
            FileAccount::new(outcome.size, self.options.max_compression_ratio)
        } else {
            Arc::clone(&open.place.file)
        };
        let source = match spool {
            Some(spool) => spool.into_source(),
            None => self.source_again(container, index)?,
        };
        let place = Place {
            level: open.place.level + 1,
            depth,
            prefix_len: open.place.prefix_len + 1 + path.len() as u64,
            file,
        };
        let mut nested = self.nested();
        let id = nested.len() as u32;
        let pending = Box::new(Pending {
            id,
            source,
            candidate,
            place,
        });
        outcome.child = Some(id);
        nested.push(Nested::Opaque(Note::OpaqueBudget));
        drop(nested);
        self.queue().pending.push(pending);
        self.wake.notify_all();
        Ok(())
    }

    /// A member's bytes for random access, decoded again where need be.
    fn source_again(&self, container: &dyn Container, index: u32) -> Result<Source, Fault> {
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
            Opened::Open(open) => match open.charge(self.options) {
                Err(fault) => Nested::Opaque(opaque_note(&fault)),
                Ok(charge) => {
                    let fit = self.account.charge(charge, &open.place.file, self.options);
                    if fit != Fit::Fits {
                        return self.give_up();
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

    fn open_pending(&self, pending: Pending) -> Opened {
        let Pending {
            source,
            candidate,
            place,
            ..
        } = pending;
        let container = match candidate {
            Candidate::Format(format) => containers::open(format, &source, self.options),
            Candidate::ZipBehind => match containers::find_zip_behind(&source, self.options) {
                Some(container) => Ok(container),
                None => return Opened::State(Nested::Plain),
            },
        };
        match container.and_then(|container| Open::new(container, place, false)) {
            Ok(open) => Opened::Open(open),
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
    fn give_up(&self) {
        self.over.store(true, Ordering::Release);
        let mut queue = self.queue();
        queue.pending.clear();
        queue.active.retain(|open| open.place.level == 0);
    }

    /// Expands nested containers again, one by one in path order, until the
    /// account runs out; that one and all later ones stay opaque.
    pub(super) fn restart_in_path_order(&mut self, root: &Arc<Open>) -> Result<(), Fault> {
        self.eager = false;
        self.account = Account::default();
        self.nested().clear();
        if !root.is_folder {
            root.place.file.reset(root.charge(self.options)?.bytes);
        }
        for outcome in root.lock().done.outcomes.iter_mut().flatten() {
            outcome.child = None;
        }
        self.expand_children(root, &mut false)
    }

    fn expand_children(&self, open: &Arc<Open>, exhausted: &mut bool) -> Result<(), Fault> {
        for index in children_in_path_order(open) {
            self.context.check()?;
            let Some(mut outcome) = open.lock().done.outcomes[index as usize] else {
                continue;
            };
            let file = if open.is_folder {
                FileAccount::new(outcome.size, self.options.max_compression_ratio)
            } else {
                Arc::clone(&open.place.file)
            };
            let state = if *exhausted || file.is_exhausted() {
                Nested::Opaque(Note::OpaqueBudget)
            } else {
                self.expand_one(open, index, &outcome, file, exhausted)?
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
        file: Arc<FileAccount>,
        exhausted: &mut bool,
    ) -> Result<Nested, Fault> {
        let Some(candidate) = outcome.candidate else {
            return Ok(Nested::Plain);
        };
        let source = {
            let guard = parent.container();
            let Some(container) = guard.as_deref() else {
                return Ok(Nested::Plain);
            };
            self.source_again(container, index)?
        };
        let path = parent.paths.get(index as usize);
        let segments = path.bytes().filter(|&byte| byte == b'/').count() as u64 + 1;
        let place = Place {
            level: parent.place.level + 1,
            depth: parent.place.depth + segments,
            prefix_len: parent.place.prefix_len + 1 + path.len() as u64,
            file: Arc::clone(&file),
        };
        let open = match self.open_pending(Pending {
            id: 0,
            source,
            candidate,
            place,
        }) {
            Opened::Open(open) => open,
            Opened::State(state) => return Ok(state),
            Opened::Over => {
                *exhausted = true;
                return Ok(Nested::Opaque(Note::OpaqueBudget));
            }
        };
        let charge = match open.charge(self.options) {
            Ok(charge) => charge,
            Err(fault) => return Ok(Nested::Opaque(opaque_note(&fault))),
        };
        match self.account.charge(charge, &file, self.options) {
            Fit::Fits => {}
            Fit::OverFile => {
                file.exhaust();
                return Ok(Nested::Opaque(Note::OpaqueBudget));
            }
            Fit::OverAll => {
                *exhausted = true;
                return Ok(Nested::Opaque(Note::OpaqueBudget));
            }
        }
        let open = Arc::new(open);
        self.activate(Arc::clone(&open));
        self.work()?;
        if open.lock().fault.is_none() {
            self.expand_children(&open, exhausted)?;
        }
        open.complete();
        Ok(Nested::Expanded(open))
    }
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
    children.sort_by(|&a, &b| open.paths.get(a as usize).cmp(open.paths.get(b as usize)));
    children
}

/// Why a container that could not be listed stays opaque.
pub(crate) fn opaque_note(fault: &Fault) -> Note {
    match fault {
        Fault::Encrypted => Note::OpaqueEncrypted,
        Fault::Limit(limit) if limit.name == "max_depth" => Note::OpaqueTooDeep,
        Fault::Limit(_) => Note::OpaqueEntry,
        _ => Note::OpaqueDamaged,
    }
}
