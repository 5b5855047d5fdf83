//! The members of one stream, collected while it is decoded.

use std::collections::HashMap;
use std::sync::Arc;

use super::Run;
use super::account::{Charge, Fit};
use super::member::MemberReader;
use super::open::{Extra, Open, Outcome, Status, too_long};
use super::stream::{NESTED_BUDGET, NO_MEMBER, is_container_itself, strip_dot};
use crate::artifact::containers::{
    Closing, Damage, Fault, Limit, Listing, Member, MemberKind, Reading, UNKNOWN,
};
use crate::artifact::format::Format;
use crate::artifact::limitation::{Limitation, Note, Notes};
use crate::artifact::names::{self, RawName, Style};
use crate::artifact::streams::{Entry, Sink};

/// What one [`Sink`] call refers to.
#[derive(Clone, Copy)]
enum Reference {
    /// The last earlier entry of that raw name, already found.
    Member(u32),
    /// The entry at that position.
    Position(u32),
}

/// Collects the members of one stream.
pub(super) struct Collector<'a> {
    pub run: &'a Run<'a>,
    open: &'a Arc<Open>,
    listing: Listing,
    outcomes: Vec<Option<Outcome>>,
    extras: HashMap<u32, Extra>,
    /// Member of each call; the container's own entry has none.
    positions: Vec<Option<u32>>,
    /// Hard links, to be settled at the end.
    links: Vec<(u32, Reference)>,
    /// Members by raw name, once a hard link asks for one.
    by_name: Option<HashMap<Vec<u8>, u32>>,
    current: Option<(u32, MemberReader<'a>)>,
    /// What contradicts the member at hand.
    contradiction: Option<Damage>,
    /// The stream holds no archive; its name is not stripped.
    pub content: bool,
    pub closing: Closing,
    charged: Charge,
    /// Bytes of the member at hand that are charged already.
    prepaid: u64,
}

impl<'a> Collector<'a> {
    pub fn new(run: &'a Run<'a>, open: &'a Arc<Open>) -> Self {
        Self {
            run,
            open,
            listing: Listing::default(),
            outcomes: Vec::new(),
            extras: HashMap::new(),
            positions: Vec::new(),
            links: Vec::new(),
            by_name: None,
            current: None,
            contradiction: None,
            content: false,
            closing: Closing::default(),
            charged: Charge::default(),
            prepaid: 0,
        }
    }

    pub fn current_index(&self) -> u32 {
        self.current.as_ref().map_or(NO_MEMBER, |(index, _)| *index)
    }

    /// Charges the root's own limits, or the account of all nested ones.
    fn charge(&mut self, charge: Charge) -> Result<(), Fault> {
        let options = self.run.options;
        self.charged.entries += charge.entries;
        self.charged.bytes = self.charged.bytes.saturating_add(charge.bytes);
        self.charged.paths = self.charged.paths.saturating_add(charge.paths);
        if self.open.place.level == 0 {
            let limits = [
                (
                    self.charged.entries > options.max_entries,
                    "max_entries",
                    options.max_entries,
                ),
                (
                    self.charged.bytes > options.max_total_bytes,
                    "max_total_bytes",
                    options.max_total_bytes,
                ),
                (
                    self.charged.paths > names::MAX_ALL as u64,
                    "all path bytes",
                    names::MAX_ALL as u64,
                ),
                (
                    self.charged.bytes > self.open.place.file.most(),
                    "max_compression_ratio",
                    options.max_compression_ratio,
                ),
            ];
            if let Some(&(_, name, value)) = limits.iter().find(|(over, _, _)| *over) {
                return Err(Fault::Limit(Limit { name, value }));
            }
            self.open.place.file.add(charge.bytes);
            return Ok(());
        }
        match self
            .run
            .account
            .charge(charge, &self.open.place.file, options)
        {
            Fit::Fits => Ok(()),
            fit => {
                if self.run.eager {
                    self.run.give_up();
                }
                Err(Fault::Limit(Limit {
                    name: NESTED_BUDGET,
                    value: u64::from(fit == Fit::OverAll),
                }))
            }
        }
    }

    /// Adds a member; `None` for the container itself (decision 2).
    fn add(&mut self, entry: Entry<'_>) -> Result<Option<u32>, Fault> {
        let name = if self.content {
            entry.name
        } else {
            strip_dot(entry.name)
        };
        if !self.content && is_container_itself(&entry) {
            self.positions.push(None);
            return Ok(None);
        }
        let links = if entry.kind == MemberKind::Symlink {
            64
        } else {
            0
        };
        let prefix = match self.open.place.level {
            0 => 0,
            _ => self.open.place.prefix_len + 1,
        };
        let paths = prefix + name.len() as u64 + links;
        if prefix + name.len() as u64 > names::MAX_PATH as u64 {
            return Err(too_long(names::TooLong::Path(0)));
        }
        self.charge(Charge {
            entries: 1,
            paths,
            ..Charge::default()
        })?;
        let index = self.listing.members.len() as u32;
        let name = self
            .listing
            .push_name(name)
            .ok_or_else(|| too_long(names::TooLong::All))?;
        self.listing.members.push(Member {
            name,
            size: entry.size,
            compressed: UNKNOWN,
            at: 0,
            word: 0,
            name_crc: 0,
            method: 0,
            flags: 0,
            mode: entry.mode,
            kind: entry.kind,
            notes: Notes::default(),
        });
        self.outcomes.push(None);
        self.positions.push(Some(index));
        if let Some(by_name) = &mut self.by_name {
            let member = &self.listing.members[index as usize];
            by_name.insert(self.listing.name(member).to_vec(), index);
        }
        self.run.context.progress.expect(1, 0);
        Ok(Some(index))
    }

    fn find(&mut self, name: &[u8]) -> Option<u32> {
        let listing = &self.listing;
        let by_name = self.by_name.get_or_insert_with(|| {
            (0u32..)
                .zip(&listing.members)
                .map(|(index, member)| (listing.name(member).to_vec(), index))
                .collect()
        });
        by_name.get(strip_dot(name)).copied()
    }

    fn finish(&mut self, index: u32, mut reader: MemberReader<'_>) -> Result<(), Fault> {
        let member = self.listing.members[index as usize];
        let mut outcome = Outcome::unread(Status::Verified, Notes::default());
        let mut extra = Extra::default();
        let reading = Reading {
            contradiction: self.contradiction.take(),
            ..Reading::default()
        };
        let spool = self.run.finish_member(
            member.kind,
            None,
            reading,
            &mut reader,
            &mut outcome,
            &mut extra,
        )?;
        let name = self.listing.name(&member).to_vec();
        if outcome.candidate.is_some() {
            match spool {
                Some(spool) if self.run.eager => {
                    let again = || Ok(spool.into_source());
                    self.run.nest(self.open, &name, &mut outcome, again)?;
                }
                Some(spool) => {
                    self.run
                        .nest(self.open, &name, &mut outcome, || Err(never()))?;
                    if outcome.candidate.is_some() {
                        let source = self.run.stash(spool)?;
                        self.open.lock().kept.insert(index, (name, source));
                    }
                }
                // Not kept, because it is nested too deep.
                None => self
                    .run
                    .nest(self.open, &name, &mut outcome, || Err(never()))?,
            }
        }
        if !extra.is_empty() {
            self.extras.insert(index, extra);
        }
        self.outcomes[index as usize] = Some(outcome);
        self.run.context.progress.add_entries(1);
        Ok(())
    }

    /// The rest is damaged, and the caller wants what was read.
    pub fn break_off(&mut self, damage: &Damage) {
        if let Some((index, _)) = self.current.take() {
            let text = format!(
                "It could not be read: at offset {}, {}.",
                damage.offset, damage.text
            );
            let extra = self.extras.entry(index).or_default();
            extra.limitations.push(Limitation::new(109, text));
            let outcome = Outcome::unread(Status::Unavailable, Notes::default());
            self.outcomes[index as usize] = Some(outcome);
        }
        let text = format!(
            "The container is damaged at offset {}: {}; what follows is not listed.",
            damage.offset, damage.text
        );
        self.closing = Closing {
            incomplete: true,
            limitations: vec![Limitation::new(109, text)],
            ..Closing::default()
        };
    }

    /// Hard links get what they link to.
    fn settle_links(&mut self) {
        for (index, reference) in std::mem::take(&mut self.links) {
            let target = match reference {
                Reference::Member(member) => Some(member),
                Reference::Position(at) => self.positions.get(at as usize).copied().flatten(),
            };
            let found = target
                .filter(|&target| target != index)
                .and_then(|target| Some((target, self.outcomes[target as usize]?)));
            let Some((target, mut outcome)) = found else {
                let mut outcome = Outcome::unread(Status::Unavailable, Notes::default());
                outcome.notes.add(Note::LinkedToNothing);
                self.outcomes[index as usize] = Some(outcome);
                continue;
            };
            let linked = self.listing.members[target as usize];
            let member = &mut self.listing.members[index as usize];
            member.kind = linked.kind;
            member.size = linked.size;
            if outcome.candidate.take().is_some() {
                outcome.notes.add(Note::ListedElsewhere);
            }
            outcome.child = None;
            self.outcomes[index as usize] = Some(outcome);
            if let Some(extra) = self.extras.get(&target) {
                let extra = Extra {
                    limitations: extra.limitations.clone(),
                    link_target: extra.link_target.clone(),
                    ..Extra::default()
                };
                self.extras.insert(index, extra);
            }
        }
    }

    /// All members are in: paths are settled and everything is handed over.
    pub fn settle(mut self) -> Result<(), Fault> {
        self.current = None;
        self.settle_links();
        let names = self.listing.members.iter().map(|member| RawName {
            bytes: self.listing.name(member),
            directory: member.kind == MemberKind::Directory,
        });
        let paths = names::resolve(names, Style::Unix).map_err(too_long)?;
        self.open.set_paths(paths);
        let mut work = self.open.lock();
        work.done.members = self.listing.members;
        work.done.outcomes = self.outcomes;
        work.done.extras = self.extras;
        work.done.closing = self.closing;
        Ok(())
    }
}

fn never() -> Fault {
    Damage::format(0, "its bytes were not kept").into()
}

impl Sink for Collector<'_> {
    fn begin(&mut self, entry: Entry<'_>) -> Result<(), Fault> {
        let Some(index) = self.add(entry)? else {
            return Ok(());
        };
        let mut notes = Notes::default();
        match entry.kind {
            MemberKind::Directory => {
                let outcome = Outcome::unread(Status::None, notes);
                let outcome = Outcome {
                    format: Format::Directory,
                    ..outcome
                };
                self.outcomes[index as usize] = Some(outcome);
            }
            MemberKind::Special => {
                notes.add(Note::Special);
                self.outcomes[index as usize] = Some(Outcome::unread(Status::Unavailable, notes));
            }
            MemberKind::File | MemberKind::Slice | MemberKind::Symlink => {
                let member = self.listing.members[index as usize];
                let name = self.listing.name(&member);
                let reader = MemberReader::of(self.run, self.open, &member, name, false);
                self.current = Some((index, reader));
            }
        }
        Ok(())
    }

    fn holes(&mut self, bytes: u64) -> Result<(), Fault> {
        self.prepaid = bytes;
        self.charge(Charge {
            bytes,
            ..Charge::default()
        })
    }

    fn data(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let len = bytes.len() as u64;
        let paid = len.min(self.prepaid);
        self.prepaid -= paid;
        if len > paid {
            self.charge(Charge {
                bytes: len - paid,
                ..Charge::default()
            })?;
        }
        match &mut self.current {
            Some((_, reader)) => reader.take(bytes),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.prepaid = 0;
        match self.current.take() {
            Some((index, reader)) => self.finish(index, reader),
            None => Ok(()),
        }
    }

    fn hard_link(&mut self, entry: Entry<'_>, target: &[u8]) -> Result<(), Fault> {
        let found = self.find(target);
        let Some(index) = self.add(entry)? else {
            return Ok(());
        };
        // A link to a link is what that one is.
        let found = found.map_or(Reference::Member(index), Reference::Member);
        self.links.push((index, found));
        Ok(())
    }

    fn same_as(&mut self, entry: Entry<'_>, position: u32) -> Result<(), Fault> {
        let Some(index) = self.add(entry)? else {
            return Ok(());
        };
        self.links.push((index, Reference::Position(position)));
        Ok(())
    }

    fn refer(&mut self, member: u32, position: u32) {
        if let Some(&Some(index)) = self.positions.get(member as usize) {
            self.links.push((index, Reference::Position(position)));
        }
    }

    fn contradicts(&mut self, damage: Damage) -> Result<(), Fault> {
        if !self.open.keep_going {
            return Err(damage.into());
        }
        self.contradiction = Some(damage);
        Ok(())
    }
}
