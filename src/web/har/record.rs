//! A capture as Evidence. It is written from the capture's text and index as
//! often as it is needed.

mod write;

use self::write::{Locations, Parameters, ResultOf};
use super::exclude::{Edit, Literals, edit_of, without_userinfo};
use super::fault::Fault;
use super::sidecar::{Found, Walk};
use super::{Capture, Content, Entry, OPERATION, Place, Source};
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, Subject};
use crate::json::{Kind, Node};
use crate::operation::Context;

const NOT_LIVE: &str = "The capture is what its producer recorded: nothing was fetched, and which \
    program or page caused a request is not known beyond what it says.";
const ALL_DECODED: &str = "All records were decoded and validated before any was selected; one that is wrong refuses the capture.";
const EXCLUDED: &str = "Credentials in authorization and cookie headers, cookie values, users and \
    passwords in addresses, and declared sensitive values are left out; other secrets may be in it.";
const BUDGETS: &str = "The capture's size, its nesting and the size of this record are bounded; \
    beyond a bound there is no record, never a part of one.";
const MARK: &str = "The capture starts with a UTF-8 byte order mark, which was skipped.";
const COMPRESSED: &str =
    "The capture is compressed with gzip; its digest and length are those of the compressed file.";
const HIDDEN_DIGEST: &str = "The capture's digest holds a declared sensitive value, so that this record is bound to no file.";
const HIDDEN_PLACES: &str = "Some places hold a declared sensitive value and are not told.";

/// See [`super::inspect`].
#[derive(Debug)]
pub struct CaptureRecord {
    capture: Capture,
    /// Places of the selected records.
    selection: Vec<u32>,
    literals: Literals,
    /// The path as it is shown, empty where it is not.
    path: String,
    shows_path: bool,
    /// `None` where it holds a literal.
    sha256: Option<Digest>,
    bytes: u64,
    limitations: Vec<String>,
    id: EvidenceId,
}

impl CaptureRecord {
    pub(super) fn new(
        capture: Capture,
        selection: Vec<u32>,
        path: &str,
        sha256: Digest,
        bytes: u64,
    ) -> Self {
        Self {
            capture,
            selection,
            literals: Literals::default(),
            path: path.to_owned(),
            shows_path: true,
            sha256: Some(sha256),
            bytes,
            limitations: Vec::new(),
            id: EvidenceId(Digest([0; 32])),
        }
    }

    /// Refuses a record whose places would be told in more than `maximum`
    /// bytes: names may be long, and stand in the pointer of every number
    /// below them.
    pub(super) fn check_size(
        &self,
        literals: &Literals,
        maximum: u64,
        context: &Context,
    ) -> Result<(), Fault> {
        let mut left = maximum;
        let mut stopped = None;
        let mut count = |pointer: &[u8], found: Found<'_>| {
            let own = match found {
                Found::Number(lexeme) => lexeme.len(),
                Found::Edited(_) => 0,
                // Digest and names; what they are is a part of the capture.
                Found::Bytes(_) => 160,
            };
            // The names of the members, and quotes.
            let bytes = (pointer.len() + own + 64) as u64;
            stopped = context.check().err();
            let fits = left >= bytes && stopped.is_none();
            left = left.saturating_sub(bytes);
            fits
        };
        let mut fits = true;
        let mut measure = |node: Node, edits: &[(Node, Edit)], bytes: &[Content], except| {
            let tape = &self.capture.tape;
            Walk::numbers(tape, node, edits, except, |pointer, found| {
                fits = count(pointer, found);
                fits
            });
            Walk::edits(tape, node, edits, except, |pointer, found| {
                fits = fits && count(pointer, found);
                fits
            });
            Walk::bytes(tape, node, edits, bytes, |pointer, found| {
                fits = fits && count(pointer, found);
                fits
            });
        };
        if !self.hides_entries(literals) {
            for (_, entry) in self.selected() {
                measure(entry.node, &entry.edits, &entry.bytes, None);
            }
        }
        let capture = &self.capture;
        if let Some(entries) = capture.source.entries() {
            measure(capture.tape.root(), &capture.container, &[], Some(entries));
        }
        match (stopped, fits) {
            (Some(error), _) => Err(Fault::Stopped(error)),
            (None, true) => Ok(()),
            (None, false) => Err(Fault::Reply { maximum }),
        }
    }

    /// Hides what the literals hide of the record itself, and gives it its id.
    pub(super) fn finish(mut self, literals: Literals) -> Self {
        let hides = |text: &str| literals.are_in(text.as_bytes());
        if hides(&self.path) {
            self.path = String::new();
            self.shows_path = false;
        }
        let mut said: Vec<&str> = vec![NOT_LIVE, ALL_DECODED, EXCLUDED, BUDGETS];
        if self.capture.had_mark {
            said.push(MARK);
        }
        if self.capture.compressed {
            said.push(COMPRESSED);
        }
        if self.sha256.is_some_and(|sha256| hides(&sha256.to_hex())) {
            self.sha256 = None;
            said.push(HIDDEN_DIGEST);
        }
        self.literals = literals;
        if self.hides_places() {
            said.push(HIDDEN_PLACES);
        }
        let shown = said.into_iter().filter(|text| !self.hides(text.as_bytes()));
        self.limitations = shown.map(str::to_owned).collect();
        self.id = self.with_draft(|draft| draft.id());
        self
    }

    /// The path of the capture; empty where it holds a sensitive value.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> Option<Digest> {
        self.sha256
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many records the capture holds.
    pub fn total_records(&self) -> u64 {
        self.capture.entries.len() as u64
    }

    /// The selected records for a report: ordinal, method, status, type and
    /// address; what is not shown is `None`.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let hidden = self.hides_entries(&self.literals);
        self.selected().map(move |(ordinal, entry)| {
            let text = |path: &[&str]| self.shown_text(hidden, entry, path);
            let (status, mime_type, url) = match self.capture.source {
                Source::Har { .. } => (
                    text(&["response", "status"]),
                    text(&["response", "content", "mimeType"]),
                    text(&["request", "url"]),
                ),
                Source::Flows => (
                    text(&["response", "status_code"]),
                    text(&["type"]),
                    flow_address(text),
                ),
            };
            Row {
                ordinal: u64::from(ordinal),
                method: text(&["request", "method"]),
                status,
                mime_type,
                url,
            }
        })
    }

    /// What the capture is: `har` or `mitmproxy`.
    pub fn format(&self) -> &'static str {
        self.capture.source.name()
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }

    fn shown_text(&self, hidden: bool, entry: &Entry, path: &[&str]) -> Option<String> {
        let tape = &self.capture.tape;
        let mut node = entry.node;
        for name in path {
            let found = tape
                .members(node)
                .find(|(known, _)| *tape.text(*known) == *name.as_bytes());
            let (name, value) = found?;
            if hidden || edit_of(&entry.edits, name).is_some() {
                return None;
            }
            node = value;
        }
        let text = match tape.kind(node) {
            Kind::Number(lexeme) => lexeme.to_vec(),
            _ => tape.text(node).into_owned(),
        };
        let shown = match edit_of(&entry.edits, node) {
            None => text,
            Some(Edit::Userinfo) => {
                let (head, rest) = without_userinfo(&text)?;
                [head, rest].concat()
            }
            Some(_) => return None,
        };
        Some(String::from_utf8_lossy(&shown).into_owned())
    }

    fn selected(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let entries = &self.capture.entries;
        self.selection
            .iter()
            .filter_map(|&ordinal| Some((ordinal, entries.get(ordinal as usize)?)))
    }

    fn hides(&self, text: &[u8]) -> bool {
        !self.literals.is_empty() && self.literals.are_in(text)
    }

    /// Whether the very name of the list of entries is not to be shown.
    fn hides_entries(&self, literals: &Literals) -> bool {
        self.capture.source.entries().is_some()
            && (literals.are_in(b"log") || literals.are_in(b"entries"))
    }

    /// Whether a pointer that would be told holds a literal.
    fn hides_places(&self) -> bool {
        if self.literals.is_empty() || self.hides_entries(&self.literals) {
            return false;
        }
        let mut hidden = false;
        let mut look = |node: Node, edits: &[(Node, Edit)], bytes: &[Content], except| {
            let tape = &self.capture.tape;
            let mut take = |pointer: &[u8], _: Found<'_>| {
                hidden |= self.literals.are_in(pointer);
                !hidden
            };
            Walk::numbers(tape, node, edits, except, &mut take);
            Walk::edits(tape, node, edits, except, &mut take);
            Walk::bytes(tape, node, edits, bytes, &mut take);
        };
        for (_, entry) in self.selected() {
            look(entry.node, &entry.edits, &entry.bytes, None);
        }
        let capture = &self.capture;
        if let Some(entries) = capture.source.entries() {
            look(capture.tape.root(), &capture.container, &[], Some(entries));
        }
        hidden
            || self
                .selected()
                .any(|(ordinal, entry)| self.hides_place(&entry.place, ordinal))
    }

    /// Whether where a record stands is not to be told.
    fn hides_place(&self, place: &Place, ordinal: u32) -> bool {
        match place {
            Place::Pointer => self.hides(location(ordinal).as_bytes()),
            Place::Bytes { offset, bytes } => {
                let holds = |number: &u64| self.hides(number.to_string().as_bytes());
                holds(offset) || holds(bytes)
            }
        }
    }
}

/// A record in one line.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its place in the capture.
    pub ordinal: u64,
    /// The request's method.
    pub method: Option<String>,
    /// The response's status, as it was written.
    pub status: Option<String>,
    /// The content's type.
    pub mime_type: Option<String>,
    /// The request's address.
    pub url: Option<String>,
}

/// The address of a native flow's request, put together.
fn flow_address(text: impl Fn(&[&str]) -> Option<String>) -> Option<String> {
    let part = |name| text(&["request", name]);
    let (scheme, host, port) = (part("scheme")?, part("host")?, part("port")?);
    Some(format!("{scheme}://{host}:{port}{}", part("path")?))
}

/// Where a record stands.
fn location(ordinal: u32) -> String {
    format!("/log/entries/{ordinal}")
}

impl Drafted for CaptureRecord {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        let name = self.path.rsplit('/').next().filter(|name| !name.is_empty());
        use_it(&Draft {
            subject: self.sha256.map(|sha256| Subject {
                name: name.unwrap_or("capture").to_owned(),
                sha256,
                format: "file",
                architecture: None,
                local_path: self.path.clone(),
            }),
            provider: self.capture.source.provider(),
            predicate_type: "rea.analysis",
            operation: OPERATION,
            parameters: &Parameters(self),
            normalized_result: &ResultOf(self),
            confidence: Confidence::Observed,
            authority: Authority::HistoricalReference,
            limitations: &self.limitations,
            locations: &Locations(self),
            evidence_links: &[],
        })
    }
}
