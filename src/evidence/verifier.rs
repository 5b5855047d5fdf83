//! The verifier: takes a document's events, members in canonical order, and
//! checks every record in it in one pass and constant memory.

use super::canon::{Canon, Purpose, Tapped};
use super::graph::{CAPTURED, Field, Known, Zone};
use super::location::Location;
use super::path::{Order, Path, Pointer};
use super::problem::{Reason, Report, Stage};
use super::record_state::RecordState;
use super::rules::{ENVELOPE, PROFILE, PROFILE_PROVIDER, PROVIDER, Rule, SUBJECT, Shape};
use crate::json::{Event, Text};

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
    Item(super::graph::ItemKind),
    Substep,
    Occurrence,
}

impl Purpose for Hash {
    fn takes(self, name: &[u8]) -> bool {
        match self {
            Self::Record => name != b"evidence_id",
            Self::Profile => matches!(name, b"parameters" | b"provider"),
            Self::ProfileProvider | Self::Provider => true,
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
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            path: Path::default(),
            canon: Canon::new(),
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
        let canon = std::mem::replace(&mut self.canon, Canon::new());
        *self = Self::new(self.scope);
        self.canon = canon;
        self.canon.clear();
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

    fn begin(&mut self, object: bool) {
        self.value();
        let slot = self.slot();
        let kind = match slot {
            Slot::Root => self.begin_root(object),
            Slot::Free => Kind::Free,
            Slot::LocationMember => {
                self.location.other();
                Kind::Free
            }
            Slot::Known(Known::Record) if object => self.begin_nested(),
            Slot::Known(Known::Zone(zone)) if zone.is_object() == object => self.begin_zone(zone),
            Slot::Known(known) => {
                self.known_field(known, None);
                Kind::Free
            }
            Slot::Ruled(rule) => self.begin_ruled(rule, object),
        };
        self.canon.begin(object);
        self.path.push(object);
        self.frames.push(Frame {
            kind,
            object,
            seen: 0,
            slot: Slot::Free,
        });
    }

    fn begin_root(&mut self, object: bool) -> Kind {
        self.open_record(None);
        if object {
            return Kind::Record;
        }
        self.not_a_record();
        Kind::Free
    }

    fn open_record(&mut self, pointer: Option<Pointer>) {
        let mut state = RecordState::new(self.frames.len(), pointer);
        state.tap = self.canon.tap(Hash::Record);
        self.records.push(state);
    }

    fn not_a_record(&mut self) {
        let message = "a record is a JSON object";
        let pointer = Pointer::default();
        self.fail_record(0, pointer, Stage::Shape, Reason::InvalidType, message);
    }

    fn begin_nested(&mut self) -> Kind {
        let pointer = self.path.pointer(0, self.path.depth());
        if self.records.len() > MAX_NESTED || self.nested.len() >= MAX_NESTED_REPORTS {
            let message = format!(
                "a record here was not verified: only {MAX_NESTED} levels and \
                 {MAX_NESTED_REPORTS} records inside a record are"
            );
            self.fail_here(Stage::NestedEvidence, Reason::OutOfRange, &message);
            return Kind::Free;
        }
        self.open_record(Some(pointer));
        Kind::Record
    }

    fn begin_zone(&mut self, zone: Zone) -> Kind {
        match zone {
            Zone::Item(kind) => _ = self.canon.tap(Hash::Item(kind)),
            Zone::Substep => _ = self.canon.tap(Hash::Substep),
            Zone::Occurrence => _ = self.canon.tap(Hash::Occurrence),
            _ => {}
        }
        if let (Some(state), Zone::Item(_) | Zone::Substep | Zone::Node | Zone::Occurrence) =
            (self.records.last_mut(), zone)
        {
            state.graph.fields.set(Field::Id, None);
            state.graph.fields.set(Field::Key, None);
            state.nested_id = None;
        }
        Kind::Zone(zone)
    }

    fn begin_ruled(&mut self, rule: &'static Rule, object: bool) -> Kind {
        match (rule, object) {
            (Rule::Free, true) => self.begin_free(),
            (Rule::Free, false) | (Rule::FreeObject, true) => Kind::Free,
            (Rule::List(element), false) => Kind::List(element),
            (Rule::Location, true) => {
                self.location = Location::default();
                Kind::Location
            }
            (Rule::Object(shape) | Rule::ObjectOrNull(shape), true) => {
                let hash = match *shape {
                    shape if std::ptr::eq(shape, &PROFILE) => Some(Hash::Profile),
                    shape if std::ptr::eq(shape, &PROFILE_PROVIDER) => Some(Hash::ProfileProvider),
                    shape if std::ptr::eq(shape, &PROVIDER) => Some(Hash::Provider),
                    _ => None,
                };
                if let Some(hash) = hash {
                    self.canon.tap(hash);
                }
                Kind::Strict(shape)
            }
            _ => {
                self.wrong_type(rule);
                Kind::Free
            }
        }
    }

    /// `raw_result` or `normalized_result`; the latter may be a graph.
    fn begin_free(&mut self) -> Kind {
        let of_record =
            matches!(self.frames.last(), Some(frame) if matches!(frame.kind, Kind::Record));
        if self.scope == Scope::Record || !of_record || !self.path.is_at(b"normalized_result") {
            return Kind::Free;
        }
        self.canon.tap(Hash::Inspection);
        self.canon.tap(Hash::Graph);
        Kind::Zone(Zone::Result)
    }

    fn end(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let elements = self.path.elements();
        if let (Kind::Strict(shape), Some(state)) = (frame.kind, self.records.last())
            && std::ptr::eq(shape, &SUBJECT)
        {
            self.canon.resume(state.tap);
        }
        self.canon.end(frame.object);
        match frame.kind {
            Kind::Record => self.missing_members(&ENVELOPE, frame.seen),
            Kind::Strict(shape) => self.missing_members(shape, frame.seen),
            Kind::Location => self.end_location(),
            Kind::Zone(Zone::Node) => self.end_node(),
            Kind::Zone(Zone::Substep) => self.end_substep(),
            Kind::Zone(Zone::Manifest) => self.end_manifest(),
            Kind::Zone(zone) => self.count(zone, elements),
            Kind::List(_) | Kind::Free => {}
        }
        while let Some(tapped) = self.canon.tapped() {
            self.hashed(tapped);
        }
        self.path.pop();
        if matches!(frame.kind, Kind::Record) || self.frames.is_empty() {
            self.end_record();
        }
    }

    fn missing_members(&mut self, shape: &'static Shape, seen: u32) {
        for (at, (name, _)) in shape.members.iter().enumerate() {
            if seen & (1 << at) == 0 {
                let pointer = self.container().member(name);
                let message = format!("{} lacks the member {name}", shape.name);
                self.fail(pointer, Stage::Shape, Reason::MissingArgument, &message);
            }
        }
    }

    fn end_location(&mut self) {
        for (member, reason, message) in self.location.problems() {
            let pointer = self.container().member(member);
            self.fail(pointer, Stage::Shape, reason, &message);
        }
    }

    /// Where the container that ends stands in the innermost record.
    fn container(&self) -> Pointer {
        let from = self.records.last().map_or(0, |state| state.depth);
        let to = self.path.depth().saturating_sub(1);
        self.path.pointer(from, to)
    }

    fn hashed(&mut self, tapped: Tapped<Hash>) {
        let Some(state) = self.records.last_mut() else {
            return;
        };
        let (path, from) = (&self.path, state.depth);
        let container = || path.pointer(from, path.depth().saturating_sub(1));
        let graph = &mut state.graph;
        match tapped.purpose {
            Hash::Record => state.computed = Some(tapped.digest()),
            Hash::Profile => state.profile = Some(tapped.digest()),
            Hash::ProfileProvider => state.profile_provider = Some(tapped.digest()),
            Hash::Provider => state.provider = Some(tapped.digest()),
            Hash::Graph => graph.graph = Some(tapped.digest()),
            Hash::Inspection => graph.end_inspection(tapped.digest(), container),
            Hash::Occurrence => graph.end_occurrence(tapped, container),
            Hash::Item(kind) => {
                let (_, name, prefix) = kind.names();
                let at = || container().member(name);
                graph.check_id(Field::Id, prefix, tapped.digest(), at);
            }
            Hash::Substep => {
                let at = || container().member("substep_id");
                graph.check_id(Field::Id, "ais_", tapped.digest(), at);
            }
        }
    }

    fn end_node(&mut self) {
        let Some(state) = self.records.last_mut() else {
            return;
        };
        let (path, from) = (&self.path, state.depth);
        let container = || path.pointer(from, path.depth().saturating_sub(1));
        state.graph.end_node(container);
    }

    fn end_manifest(&mut self) {
        let container = self.container();
        if let Some(state) = self.records.last_mut() {
            state.graph.end_manifest(container);
        }
    }

    fn count(&mut self, zone: Zone, elements: u64) {
        if let Some(state) = self.records.last_mut() {
            match zone {
                Zone::Nodes => state.graph.nodes = Some(elements),
                Zone::Occurrences => state.graph.occurrences = Some(elements),
                Zone::Edges => state.graph.edges = Some(elements),
                _ => {}
            }
        }
    }

    /// The record inside a substep must be the one that the substep names.
    fn end_substep(&mut self) {
        let Some(state) = self.records.last_mut() else {
            return;
        };
        let Some(nested) = state.nested_id.take() else {
            return;
        };
        let named = state.graph.fields.get(Field::Key).unwrap_or_default();
        if nested.is_none_or(|id| id.to_string().as_bytes() != named) {
            let pointer = self.container().member("evidence_id");
            let message = "the substep names another record than the one it holds";
            self.fail(
                pointer,
                Stage::NestedEvidence,
                Reason::InvalidValue,
                message,
            );
        }
    }

    fn end_record(&mut self) {
        let Some(state) = self.records.pop() else {
            return;
        };
        let pointer = state.pointer.clone();
        let inner = pointer.is_some();
        let mut report = state.into_report(pointer);
        if let Some(outer) = self.records.last_mut().filter(|_| inner) {
            outer.nested_id = Some(report.evidence_id);
            self.nested.push(report);
        } else {
            report.nested = std::mem::take(&mut self.nested);
            self.finished = Some(report);
        }
    }

    fn text(&mut self, part: &[u8], last: bool, plain: bool) {
        let slot = self.slot();
        if !std::mem::replace(&mut self.in_text, true) {
            self.value();
            self.canon.begin_text();
            self.text.clear();
            self.text_len = 0;
        }
        self.canon.text_part(part, plain);
        if !matches!(slot, Slot::Free) {
            self.text_len += part.len() as u64;
            let room = (CAPTURED + 1).saturating_sub(self.text.len());
            self.text
                .extend_from_slice(part.get(..room).unwrap_or(part));
        }
        if !last {
            return;
        }
        self.canon.end_text();
        self.in_text = false;
        let text = std::mem::take(&mut self.text);
        self.end_text(slot, &text);
        self.text = text;
        self.ended_root();
    }

    fn end_text(&mut self, slot: Slot, text: &[u8]) {
        let whole = text.len() as u64 == self.text_len && text.len() <= CAPTURED;
        match slot {
            Slot::Free => {}
            Slot::Root => {
                self.open_scalar_record();
            }
            Slot::LocationMember => self.location.text(text, whole),
            Slot::Known(known) => {
                self.known_field(known, whole.then_some(text));
            }
            Slot::Ruled(rule) => self.ruled_text(rule, text, whole),
        }
    }

    fn known_field(&mut self, known: Known, value: Option<&[u8]>) {
        if let (Known::Field(field), Some(state)) = (known, self.records.last_mut()) {
            state.graph.fields.set(field, value);
        }
    }

    fn ruled_text(&mut self, rule: &'static Rule, text: &[u8], whole: bool) {
        if let Err((reason, message)) = rule.check_text(text, whole) {
            let message = format!("{} {message}", self.member_name());
            self.fail_here(Stage::Shape, reason, &message);
            return;
        }
        let frame = self.frames.last().map(|frame| frame.kind);
        let Some(state) = self.records.last_mut() else {
            return;
        };
        match frame {
            Some(Kind::Record) if self.path.is_at(b"evidence_id") => state.claim(text),
            Some(Kind::Record) if self.path.is_at(b"operation") => {
                state.operation = whole.then(|| Text::from_wtf8(text.to_vec()));
            }
            Some(Kind::Strict(shape)) if std::ptr::eq(shape, &PROFILE) => {
                state.profile_claim = crate::digest::Digest::from_hex(text);
            }
            _ => {}
        }
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.value();
        match scalar {
            Scalar::Null => self.canon.literal("null"),
            Scalar::Bool(true) => self.canon.literal("true"),
            Scalar::Bool(false) => self.canon.literal("false"),
            Scalar::Number(value) => self.canon.number(value),
        }
        match (self.slot(), scalar) {
            (Slot::LocationMember, Scalar::Number(value)) => self.location.number(value),
            (Slot::LocationMember, _) => self.location.other(),
            (Slot::Root, _) => self.open_scalar_record(),
            (Slot::Known(known), Scalar::Number(value)) => {
                let digits = value.to_string();
                let digits = value.is_finite().then_some(digits.as_bytes());
                self.known_field(known, digits);
                self.check_finite(value);
            }
            (Slot::Known(known), _) => self.known_field(known, None),
            (Slot::Free, Scalar::Number(value)) => self.check_finite(value),
            (Slot::Free, _) => {}
            (Slot::Ruled(Rule::Free), Scalar::Number(value)) => self.check_finite(value),
            (Slot::Ruled(rule), scalar) => {
                let null = matches!(scalar, Scalar::Null);
                if !(matches!(rule, Rule::Free) || null && rule.takes_null()) {
                    self.wrong_type(rule);
                }
            }
        }
        self.ended_root();
    }

    fn check_finite(&mut self, value: f64) {
        if !value.is_finite() {
            self.fail_free("a number is too large for an IEEE double");
        }
    }

    fn open_scalar_record(&mut self) {
        self.records.push(RecordState::new(0, None));
        self.not_a_record();
    }

    /// A document that is one scalar is complete.
    fn ended_root(&mut self) {
        if self.frames.is_empty() {
            self.end_record();
        }
    }

    fn wrong_type(&mut self, rule: &Rule) {
        let message = format!("{} must be {}", self.member_name(), rule.describe());
        self.fail_here(Stage::Shape, Reason::InvalidType, &message);
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

#[derive(Clone, Copy, Debug)]
enum Scalar {
    Null,
    Bool(bool),
    Number(f64),
}
