//! The verifier: takes a document's events, members in canonical order, and
//! checks every record in it in one pass and constant memory.

mod begin;
mod end;
mod values;

use super::canon::{Canon, Purpose};
use super::graph::{ItemKind, Known, Zone};
use super::location::Location;
use super::path::{Order, Path, Pointer};
use super::problem::{Reason, Report, Stage};
use super::record_state::RecordState;
use super::rules::{ENVELOPE, Rule, SUBJECT, Shape};
use crate::json::Event;
use values::Scalar;

/// A free JSON member may nest this deep, its root at depth 0.
pub const MAX_FREE_DEPTH: usize = 1000;
/// Records inside records are checked to this depth.
pub const MAX_NESTED: usize = 8;
/// Member names of open objects may take this many bytes together.
pub(super) const MAX_OPEN_NAMES: usize = 64 << 20;
/// Reports on records inside one document.
const MAX_NESTED_REPORTS: usize = 100_000;

/// How much of a record is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Its shape, its profile and its id: what makes it acceptable as input.
    Record,
    /// Also the records inside it and the ids of artifact graphs.
    Everything,
}

/// Why events could not be verified as they came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// An object's members are not in canonical order.
    Unsorted,
    /// An object has a member twice.
    Duplicate(Vec<u8>),
    /// Names of open members take more than [`MAX_OPEN_NAMES`].
    OpenNames,
}

/// The hashes that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Record,
    Profile,
    ProfileProvider,
    Provider,
    Graph,
    Inspection,
    Item(ItemKind),
    Substep,
    Occurrence,
    Files,
    Extraction,
}

impl Purpose for Hash {
    fn takes(self, name: &[u8]) -> bool {
        match self {
            Self::Record => name != b"evidence_id",
            Self::Profile => matches!(name, b"parameters" | b"provider"),
            Self::ProfileProvider | Self::Provider | Self::Files => true,
            Self::Extraction => name != b"extraction_id",
            Self::Graph => matches!(
                name,
                b"edges" | b"integrity_contradictions" | b"nodes" | b"occurrences"
            ),
            Self::Inspection => name != b"inspection_id",
            Self::Item(kind) => name != kind.names().1.as_bytes(),
            Self::Substep => matches!(name, b"evidence_id" | b"operation"),
            Self::Occurrence => matches!(name, b"entry_kind" | b"logical_path"),
        }
    }

    fn takes_end(self) -> bool {
        self != Self::Occurrence
    }
}

/// What is expected of the value that comes next.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Root,
    Ruled(&'static Rule),
    Free,
    Known(Known),
    LocationMember,
}

/// What an open container is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Record,
    Strict(&'static Shape),
    List(&'static Rule),
    Location,
    Free,
    Zone(Zone),
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    object: bool,
    /// Members of the shape that came.
    seen: u32,
    /// For objects, what the current member must be.
    slot: Slot,
}

/// See the module.
pub(super) struct Verifier {
    scope: Scope,
    path: Path,
    canon: Canon<Hash>,
    frames: Vec<Frame>,
    /// The open records, the outermost first.
    records: Vec<RecordState>,
    nested: Vec<Report>,
    location: Location,
    in_text: bool,
    text: Vec<u8>,
    text_len: u64,
    finished: Option<Report>,
}

impl Verifier {
    /// Uses at most `threads` threads, the caller's included.
    pub fn new(scope: Scope, threads: usize) -> Self {
        Self {
            scope,
            path: Path::default(),
            canon: Canon::new(threads),
            frames: Vec::new(),
            records: Vec::new(),
            nested: Vec::new(),
            location: Location::default(),
            in_text: false,
            text: Vec::new(),
            text_len: 0,
            finished: None,
        }
    }

    /// Forgets everything: a document starts.
    pub fn restart(&mut self) {
        self.path = Path::default();
        self.canon.clear();
        self.frames.clear();
        self.records.clear();
        self.nested.clear();
        self.location = Location::default();
        self.in_text = false;
        self.text.clear();
        self.finished = None;
    }

    /// Whether the document is complete.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// The report, once the document is complete.
    pub fn take_report(&mut self) -> Option<Report> {
        self.finished.take()
    }

    /// The report on a document whose text ended in an error of shape, such
    /// as nesting that no reader accepts.
    pub fn refuse(&mut self, message: &str) -> Report {
        if self.records.is_empty() {
            self.records.push(RecordState::new(0, None));
        }
        let at = self.free_root(0).unwrap_or_default();
        self.fail_record(0, at, Stage::Shape, Reason::InvalidValue, message);
        let state = self.records.swap_remove(0);
        self.records.clear();
        let mut report = state.into_report(None);
        report.nested = std::mem::take(&mut self.nested);
        report
    }

    /// The next piece of the document.
    pub fn event(&mut self, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Key { name, plain } => return self.key(name, plain),
            Event::BeginObject => self.begin(true),
            Event::BeginArray => self.begin(false),
            Event::EndObject | Event::EndArray => self.end(),
            Event::Text { part, last, plain } => self.text(part, last, plain),
            Event::Null => self.scalar(Scalar::Null),
            Event::Bool(value) => self.scalar(Scalar::Bool(value)),
            Event::Number { value, .. } => self.scalar(Scalar::Number(value)),
        }
        Ok(())
    }

    fn slot(&self) -> Slot {
        let Some(frame) = self.frames.last() else {
            return Slot::Root;
        };
        match frame.kind {
            _ if frame.object => frame.slot,
            Kind::List(rule) => Slot::Ruled(rule),
            Kind::Zone(zone) => Slot::Known(zone.element()),
            _ => Slot::Free,
        }
    }

    fn key(&mut self, name: &[u8], plain: bool) -> Result<(), Stop> {
        match self.path.key(name) {
            Order::Ascending => {}
            Order::Descending => return Err(Stop::Unsorted),
            Order::Duplicate => return Err(Stop::Duplicate(name.to_vec())),
        }
        if self.path.bytes() > MAX_OPEN_NAMES {
            return Err(Stop::OpenNames);
        }
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let slot = match frame.kind {
            Kind::Record => self.shape_member(&ENVELOPE, name),
            Kind::Strict(shape) => self.shape_member(shape, name),
            Kind::Location => self.location_member(name),
            Kind::Zone(zone) => self.zone_member(zone, name),
            Kind::List(_) | Kind::Free => Slot::Free,
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.slot = slot;
        }
        self.canon.key(name, plain);
        Ok(())
    }

    fn shape_member(&mut self, shape: &'static Shape, name: &[u8]) -> Slot {
        let depth = self.frames.len();
        let member = shape.member(name);
        let rule = member.and_then(|at| shape.members.get(at));
        if let Some(state) = self.records.last_mut() {
            let free = matches!(rule, Some((_, Rule::Free | Rule::FreeObject)));
            state.free = free.then_some(depth);
            let display_only = matches!(name, b"name" | b"local_path");
            if std::ptr::eq(shape, &SUBJECT) && display_only {
                self.canon.pause(state.tap);
            }
        }
        if let (Some(at), Some(frame)) = (member, self.frames.last_mut()) {
            frame.seen |= 1 << at;
        }
        match rule {
            Some((_, rule)) => Slot::Ruled(rule),
            None => {
                let message = format!("{} has no such member", shape.name);
                self.fail_here(Stage::Shape, Reason::UnknownArgument, &message);
                Slot::Free
            }
        }
    }

    fn location_member(&mut self, name: &[u8]) -> Slot {
        if self.location.key(name) {
            return Slot::LocationMember;
        }
        let message = "a location has no such member";
        self.fail_here(Stage::Shape, Reason::UnknownArgument, message);
        Slot::Free
    }

    fn zone_member(&mut self, zone: Zone, name: &[u8]) -> Slot {
        let known = zone.member(name);
        if zone == Zone::Result {
            self.drop_inspection(name);
        }
        match known {
            Known::Other => Slot::Free,
            _ => Slot::Known(known),
        }
    }

    /// A result with edges, or whose `inspection_id` did not come in its
    /// place, is no inspection; the rest of it is not hashed for one.
    fn drop_inspection(&mut self, name: &[u8]) {
        let missed = name > b"inspection_id".as_slice()
            && self.records.last().is_some_and(|state| !state.inspection);
        if name == b"edges" || missed {
            self.canon.drop_taps(|hash| hash == Hash::Inspection);
        }
        if name == b"inspection_id"
            && let Some(state) = self.records.last_mut()
        {
            state.inspection = true;
        }
    }

    /// Before any value: counts it and checks how deep it is.
    fn value(&mut self) {
        self.path.value();
        let Some(outer) = self.records.first() else {
            return;
        };
        let Some(root) = outer.free else { return };
        if self.frames.len() - root.min(self.frames.len()) > MAX_FREE_DEPTH && !outer.too_deep {
            self.too_deep();
        }
    }

    fn too_deep(&mut self) {
        let message = format!("the value nests deeper than {MAX_FREE_DEPTH} levels");
        if let Some(outer) = self.records.first_mut() {
            outer.too_deep = true;
        }
        self.fail_free(&message);
    }

    /// A problem of the free member that every open record is in.
    fn fail_free(&mut self, message: &str) {
        for at in 0..self.records.len() {
            let pointer = self.free_root(at).unwrap_or_default();
            self.fail_record(at, pointer, Stage::Shape, Reason::InvalidValue, message);
        }
    }

    /// Where the free member that record `at` is in stands in that record.
    fn free_root(&self, at: usize) -> Option<Pointer> {
        let state = self.records.get(at)?;
        Some(self.path.pointer(state.depth, state.free?))
    }

    /// The current place as messages call it.
    fn member_name(&self) -> String {
        let from = self.records.last().map_or(0, |state| state.depth);
        self.path.pointer(from, self.path.depth()).dotted()
    }

    fn fail_here(&mut self, stage: Stage, reason: Reason, message: &str) {
        let from = self.records.last().map_or(0, |state| state.depth);
        let pointer = self.path.pointer(from, self.path.depth());
        self.fail(pointer, stage, reason, message);
    }

    fn fail(&mut self, pointer: Pointer, stage: Stage, reason: Reason, message: &str) {
        let last = self.records.len().saturating_sub(1);
        self.fail_record(last, pointer, stage, reason, message);
    }

    fn fail_record(
        &mut self,
        at: usize,
        pointer: Pointer,
        stage: Stage,
        reason: Reason,
        message: &str,
    ) {
        if let Some(state) = self.records.get_mut(at) {
            state.problems.add(pointer, stage, reason, message);
        }
    }
}
