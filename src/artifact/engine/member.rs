//! Collects what is to be known of one member while its bytes pass by.

use super::Run;
use super::open::{Candidate, MAX_TARGET, Open, Outcome, check_size};
use crate::artifact::containers::{self, Container, Fault, Member, UNKNOWN};
use crate::artifact::format::{self, Format};
use crate::artifact::limitation::Note;
use crate::artifact::options::Nesting;
use crate::artifact::source::Spool;
use crate::artifact::streams;
use crate::digest::Hasher;

pub(super) struct MemberReader<'a> {
    run: &'a Run<'a>,
    pub hasher: Hasher,
    pub size: u64,
    /// First bytes; of links the whole target, as far as it is shown.
    pub head: Vec<u8>,
    head_most: usize,
    tail: Vec<u8>,
    tail_from: u64,
    keeps_tail: bool,
    pub format: Option<Format>,
    /// Format by name and header, where the bytes alone do not tell.
    named: Option<Format>,
    looks_for: Option<Format>,
    pub spool: Option<Spool>,
    may_spool: bool,
    declared_size: u64,
    compressed: u64,
    /// From where on an end record is looked for: a folder's file may have a
    /// ZIP archive behind it.
    looks_behind: Option<u64>,
    /// The last bytes before those at hand, fewer than a signature has.
    before: Vec<u8>,
    /// Whether the signature of an end record has passed by.
    has_end_record: bool,
}

impl<'a> MemberReader<'a> {
    /// A member of a container that lists its entries.
    pub fn new(run: &'a Run<'a>, open: &Open, container: &dyn Container, index: u32) -> Self {
        let listing = container.listing();
        let member = &listing.members[index as usize];
        let contiguous = container.is_contiguous(index as usize);
        let mut reader = Self::of(run, open, member, listing.name(member), contiguous);
        if container.is_unpacked(index as usize) {
            // What the header says of bytes that stand elsewhere proves nothing.
            reader.declared_size = UNKNOWN;
            reader.tail_from = 0;
        }
        reader
    }

    /// A member whose raw name and entry are known; `contiguous` says that its
    /// bytes can be had again without decoding.
    pub fn of(
        run: &'a Run<'a>,
        open: &Open,
        member: &Member,
        name: &[u8],
        contiguous: bool,
    ) -> Self {
        let file = member.kind.is_file();
        let nested = run.options.nested == Nesting::All && file;
        let ends_with = |suffix: &[u8]| {
            name.len() >= suffix.len()
                && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
        };
        let size = member.size;
        let looks_behind = (nested && open.is_folder && size != UNKNOWN)
            .then(|| size.saturating_sub(containers::END_RECORD_REACH));
        Self {
            run,
            hasher: Hasher::default(),
            size: 0,
            head: Vec::new(),
            head_most: if file {
                format::HEAD
            } else {
                MAX_TARGET as usize
            },
            tail: Vec::new(),
            tail_from: if size == UNKNOWN {
                0
            } else {
                size.saturating_sub(format::TAIL as u64)
            },
            keeps_tail: file && ends_with(b".dmg"),
            format: None,
            named: None,
            looks_for: [Format::Asar, Format::Lzma].into_iter().find(|&format| {
                file && format::suffix_of(format).is_some_and(|suffix| ends_with(suffix.as_bytes()))
            }),
            spool: None,
            may_spool: nested
                && (run.eager || open.is_stream)
                && open.place.level < run.options.max_nesting
                && !contiguous,
            declared_size: size,
            compressed: member.compressed,
            looks_behind,
            before: Vec::new(),
            has_end_record: false,
        }
    }

    /// The next bytes.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.run.context.check()?;
        let before = self.size;
        self.size += bytes.len() as u64;
        check_size(self.size, self.compressed, self.run.options)?;
        self.hasher.update(bytes);
        self.run.context.progress.add_bytes(bytes.len() as u64);
        let mut rest = bytes;
        if self.format.is_none() {
            let room = self.head_most - self.head.len();
            let (head, after) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(head);
            rest = after;
            if self.head.len() == self.head_most {
                self.decide()?;
            }
        }
        if let Some(spool) = &mut self.spool {
            spool.write(rest)?;
        }
        self.keep_tail(before, bytes);
        self.look_behind(before, bytes);
        Ok(())
    }

    /// Looks for the signature of an end record, also across two portions.
    fn look_behind(&mut self, before: u64, bytes: &[u8]) {
        const END_RECORD: &[u8] = b"PK\x05\x06";
        let Some(from) = self.looks_behind else {
            return;
        };
        if self.has_end_record || self.size <= from {
            return;
        }
        let skip = from.saturating_sub(before) as usize;
        let bytes = bytes.get(skip..).unwrap_or_default();
        let overlap = &bytes[..bytes.len().min(END_RECORD.len() - 1)];
        self.before.extend_from_slice(overlap);
        self.has_end_record = memchr::memmem::find(&self.before, END_RECORD).is_some()
            || memchr::memmem::find(bytes, END_RECORD).is_some();
        let last = bytes.len().min(END_RECORD.len() - 1);
        if last == END_RECORD.len() - 1 {
            self.before.clear();
            self.before.extend_from_slice(&bytes[bytes.len() - last..]);
        } else {
            let excess = self.before.len().saturating_sub(END_RECORD.len() - 1);
            self.before.drain(..excess);
        }
    }

    /// Keeps the last bytes: those from `tail_from` on, at most as many as a
    /// reader of them wants where the size is not known.
    fn keep_tail(&mut self, before: u64, bytes: &[u8]) {
        if !self.keeps_tail || self.size <= self.tail_from {
            return;
        }
        let skip = self.tail_from.saturating_sub(before) as usize;
        self.tail
            .extend_from_slice(bytes.get(skip..).unwrap_or_default());
        if self.declared_size == UNKNOWN && self.tail.len() > 2 * format::TAIL {
            self.tail.drain(..self.tail.len() - format::TAIL);
        }
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
        self.named = self
            .looks_for
            .filter(|named| format == Format::File && containers::has_header(*named, &self.head));
        let container = self.named.unwrap_or(format);
        if self.may_spool && (containers::is_readable(container) || streams::is_stream(container)) {
            let mut spool = Spool::new(&self.run.spooled);
            spool.write(&self.head)?;
            self.spool = Some(spool);
        }
        Ok(())
    }

    /// The member is complete: what it is, and whether it can be expanded.
    pub fn settle(&mut self, outcome: &mut Outcome) -> Result<(), Fault> {
        if self.format.is_none() {
            self.decide()?;
        }
        let mut format = self.format.unwrap_or(Format::File);
        if self.size != self.declared_size {
            // Some formats are told by the size, which is known only now.
            format = format::of_bytes(&self.head[..self.head.len().min(format::HEAD)], self.size);
            self.named = self.named.filter(|_| format == Format::File);
        }
        outcome.size = self.size;
        outcome.format = format;
        outcome.named = self.named;
        outcome.dmg = format == Format::File && format::is_dmg(&self.tail);
        if self.run.options.nested == Nesting::None {
            return Ok(());
        }
        let container = self.named.unwrap_or(format);
        if containers::is_readable(container) {
            outcome.candidate = Some(Candidate::Format(container));
        } else if streams::is_stream(container) {
            outcome.candidate = Some(Candidate::Stream(container));
        } else if self.has_end_record && super::may_hide_archive(format) && self.named.is_none() {
            outcome.candidate = Some(Candidate::ZipBehind);
        } else if format::is_container(format) || format == Format::MachOUniversal || outcome.dmg {
            outcome.notes.add(Note::OpaqueUnread);
        }
        Ok(())
    }
}
