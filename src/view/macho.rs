//! Views of `inspect_macho` (views.md section 6.6).
//!
//! The record streams by: of its collections only the selected rows are kept,
//! the others are counted.

use super::record::{Artifact, Coverage, Payload, Projection};
use super::rows::Rows;
use super::{Collector, Memory, OPERATION, Producer, View};
use crate::error::{Error, Result};
use crate::evidence::{Confidence, Contents, Parent};
use crate::json::{Builder, Event, Issue, Object, Text, Value};

pub(super) const PRODUCER: Producer = Producer {
    operations: &["inspect_macho"],
    kinds: &["summary", "macho"],
    collector: |view| Box::new(Macho::new(view)),
};

/// Collections of the result.
const COLLECTIONS: [&str; 8] = [
    "architectures",
    "build_metadata",
    "dependencies",
    "entrypoints",
    "exports",
    "imports",
    "load_commands",
    "segments",
];
/// A list of the result, where the others are collections; always complete.
const PROVENANCE: &str = "provenance";
/// The place of [`PROVENANCE`] behind those of [`COLLECTIONS`].
const LIST: usize = COLLECTIONS.len();
/// Small members of the result.
const KEPT: [&str; 7] = [
    "endian",
    "file_type",
    "flags",
    "format",
    "limitations",
    "uuid",
    "word_size",
];
/// The member of `facts` that tells which slice the record is about.
const SLICE: &str = "selected_slice";

/// What the current member is.
enum Member {
    Other,
    /// A small value that is kept under its name.
    Kept(&'static str, Builder),
    /// A collection by its place, and which of its members is current.
    Collection(usize, Part),
    /// The list that is no collection.
    Provenance,
    /// `facts`, and the builder of the slice while that is current.
    Facts(Option<Builder>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Other,
    Exhaustive,
    Items,
    Limitations,
    Total,
}

/// What is known of a collection.
#[derive(Default)]
struct Seen {
    /// `None` where there are no items.
    rows: Option<u64>,
    exhaustive: Option<bool>,
    /// `Some(None)` where it is null.
    total: Option<Option<f64>>,
    limitations: Vec<Text>,
    text: Vec<u8>,
}

struct Macho {
    /// The collection that is paged, by its place.
    facet: Option<usize>,
    offset: u64,
    limit: u64,
    state: State,
}

struct State {
    depth: usize,
    member: Member,
    kept: Object,
    seen: [Seen; LIST + 1],
    rows: Rows,
}

impl State {
    fn new() -> Self {
        Self {
            depth: 0,
            member: Member::Other,
            kept: Object::new(),
            seen: Default::default(),
            rows: Rows::default(),
        }
    }
}

impl Macho {
    fn new(view: &View) -> Self {
        let facet = view.word("facet");
        let place = match facet {
            PROVENANCE => Some(LIST),
            facet => COLLECTIONS.iter().position(|name| *name == facet),
        };
        Self {
            facet: place,
            offset: view.offset(),
            limit: view.limit(),
            state: State::new(),
        }
    }

    fn member(name: &[u8], memory: &Memory) -> Member {
        let known = |names: &'static [&str]| {
            let at = names.iter().position(|known| known.as_bytes() == name)?;
            Some((at, *names.get(at)?))
        };
        if let Some((_, name)) = known(&KEPT) {
            return Member::Kept(name, Builder::new(memory.left(), 0));
        }
        if let Some((at, _)) = known(&COLLECTIONS) {
            return Member::Collection(at, Part::Other);
        }
        match name {
            b"facts" => Member::Facts(None),
            b"provenance" => Member::Provenance,
            _ => Member::Other,
        }
    }

    /// An event behind the name of a member.
    fn inside(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        let depth = self.state.depth;
        match &mut self.state.member {
            Member::Other => {}
            Member::Kept(name, builder) => {
                let name = *name;
                if let Some(done) = built(builder, event, memory)? {
                    self.state.member = Member::Other;
                    self.state.keep(name, done);
                }
            }
            Member::Facts(slice) => {
                if let (2, Event::Key { name, .. }) = (depth, event) {
                    let wanted = name == SLICE.as_bytes();
                    *slice = wanted.then(|| Builder::new(memory.left(), 0));
                } else if let Some(builder) = slice.as_mut().filter(|_| depth >= 2)
                    && let Some(done) = built(builder, event, memory)?
                {
                    *slice = None;
                    self.state.keep(SLICE, done);
                }
            }
            Member::Provenance => {
                if (depth, event) == (1, Event::BeginArray)
                    && let Some(seen) = self.state.seen.get_mut(LIST)
                {
                    seen.rows = Some(0);
                } else if depth >= 2 {
                    self.row(LIST, 2, event);
                }
            }
            Member::Collection(at, part) => {
                if let (2, Event::Key { name, .. }) = (depth, event) {
                    *part = match name {
                        b"exhaustive" => Part::Exhaustive,
                        b"items" => Part::Items,
                        b"limitations" => Part::Limitations,
                        b"total" => Part::Total,
                        _ => Part::Other,
                    };
                    return Ok(());
                }
                let (at, part) = (*at, *part);
                self.collection(at, part, event, memory)?;
            }
        }
        Ok(())
    }

    fn collection(
        &mut self,
        at: usize,
        part: Part,
        event: Event<'_>,
        memory: &mut Memory,
    ) -> Result<()> {
        let depth = self.state.depth;
        let Some(seen) = self.state.seen.get_mut(at) else {
            return Ok(());
        };
        match (part, depth, event) {
            (Part::Exhaustive, 2, Event::Bool(value)) => seen.exhaustive = Some(value),
            (Part::Total, 2, Event::Null) => seen.total = Some(None),
            (Part::Total, 2, Event::Number { value, .. }) => seen.total = Some(Some(value)),
            (Part::Items, 2, Event::BeginArray) => seen.rows = Some(0),
            (Part::Items, 3.., event) => self.row(at, 3, event),
            (Part::Limitations, 3, Event::Text { part, last, .. }) => {
                memory.charge(part.len())?;
                seen.text.extend_from_slice(part);
                if last {
                    memory.charge_string()?;
                    let text = Text::from_wtf8(std::mem::take(&mut seen.text));
                    seen.limitations.push(text);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An event inside a list whose rows stand at `level`.
    fn row(&mut self, at: usize, level: usize, event: Event<'_>) {
        let state = &mut self.state;
        let Some(count) = state.seen.get_mut(at).and_then(|seen| seen.rows.as_mut()) else {
            return;
        };
        let wanted =
            self.facet == Some(at) && *count >= self.offset && *count - self.offset < self.limit;
        if wanted {
            state.rows.event(event);
        }
        let ends = state.depth == level
            && match event {
                Event::BeginObject | Event::BeginArray | Event::Key { .. } => false,
                Event::Text { last, .. } => last,
                _ => true,
            };
        if ends {
            *count += 1;
            if wanted {
                state.rows.end(true);
            }
        }
    }
}

impl State {
    fn keep(&mut self, name: &'static str, done: Option<Value>) {
        // What could not be kept shows as missing.
        if let Some(value) = done {
            self.kept.insert(name, value);
        }
    }
}

/// The value, once it is complete; `Some(None)` where it is none that can be
/// kept.
fn built(
    builder: &mut Builder,
    event: Event<'_>,
    memory: &mut Memory,
) -> Result<Option<Option<Value>>> {
    match builder.event(event) {
        Ok(Some(value)) => {
            memory.charge(usize::try_from(builder.memory()).unwrap_or(usize::MAX))?;
            Ok(Some(Some(value)))
        }
        Ok(None) => Ok(None),
        Err(_) => Ok(Some(None)),
    }
}

impl Collector for Macho {
    fn restart(&mut self) {
        self.state = State::new();
    }

    fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        if matches!(event, Event::EndObject | Event::EndArray) {
            self.state.depth = self.state.depth.saturating_sub(1);
        }
        let depth = self.state.depth;
        if let (1, Event::Key { name, .. }) = (depth, event) {
            self.state.member = Self::member(name, memory);
        } else if depth >= 1 {
            self.inside(event, memory)?;
        }
        if matches!(event, Event::BeginObject | Event::BeginArray) {
            self.state.depth += 1;
        }
        Ok(())
    }

    fn project(
        self: Box<Self>,
        parent: &Parent,
        _contents: Contents,
        view: &View,
    ) -> Result<Projection> {
        let State {
            mut kept,
            mut seen,
            rows,
            ..
        } = self.state;
        // It is no collection of the contract, but complete like one.
        if let Some(list) = seen.get_mut(LIST) {
            list.exhaustive = Some(true);
            list.total = Some(list.rows.map(|rows| rows as f64));
        }
        let names = COLLECTIONS.iter().chain([&PROVENANCE]);
        for (name, seen) in names.clone().zip(&seen) {
            if seen.rows.is_none() || seen.exhaustive.is_none() || seen.total.is_none() {
                return Err(missing(name));
            }
        }
        let Some(Value::Array(said)) = kept.remove("limitations") else {
            return Err(missing("limitations"));
        };
        let mut limitations: Vec<Text> = said.into_iter().filter_map(text).collect();
        for name in KEPT.iter().filter(|name| **name != "limitations") {
            if kept.get(name).is_none() {
                return Err(missing(name));
            }
        }
        let mut unknowns = Vec::new();
        let wanted = |at: usize| self.facet.is_none_or(|facet| facet == at);
        for (at, (name, seen)) in names.clone().zip(&mut seen).enumerate() {
            if wanted(at) {
                limitations.append(&mut seen.limitations);
                if seen.exhaustive == Some(false) {
                    unknowns.push(format!("whether {name} holds all there are is unknown").into());
                }
            }
        }
        let (coverage, payload) = match self.facet.and_then(|facet| seen.get(facet)) {
            None => {
                let total = seen.iter().filter_map(|seen| seen.rows).sum();
                let summary = summary(kept, names.copied().zip(&seen));
                let payload = vec![("summary", Payload::Value(summary.into()))];
                (Coverage::whole(total, total), payload)
            }
            Some(seen) => {
                let total = seen.rows.unwrap_or(0);
                let coverage = Coverage::page(view.offset(), rows.len(), total);
                let payload = vec![
                    ("items", Payload::Rows(rows)),
                    (
                        "source_exhaustive",
                        Payload::Value((seen.exhaustive == Some(true)).into()),
                    ),
                    ("source_total", Payload::Value(seen.total())),
                ];
                (coverage, payload)
            }
        };
        Ok(Projection {
            artifact: parent.subject_sha256().map(|sha256| Artifact {
                path: ".".into(),
                sha256: Some(sha256),
            }),
            coverage,
            payload,
            limitations,
            unknowns,
            confidence: Confidence::Derived,
        })
    }
}

impl Seen {
    fn total(&self) -> Value {
        self.total.flatten().map_or(Value::Null, Value::Number)
    }
}

/// The header, and of each collection how many rows it has and whether these
/// are all.
fn summary<'a>(
    mut kept: Object,
    collections: impl Iterator<Item = (&'static str, &'a Seen)>,
) -> Object {
    let slice = kept.remove(SLICE).unwrap_or_default();
    let mut counts = Object::new();
    for (name, seen) in collections {
        let mut one = Object::new();
        one.insert("exhaustive", seen.exhaustive == Some(true));
        one.insert("returned", seen.rows.unwrap_or(0));
        one.insert("total", seen.total());
        counts.insert(name, one);
    }
    kept.insert("collections", counts);
    kept.insert(SLICE, slice);
    kept
}

fn text(value: Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn missing(name: &str) -> Error {
    let message =
        format!("the parent is no record of a Mach-O file: {name} is missing or of another type");
    Issue::new(
        &["source", "normalized_result", name],
        "missing_argument",
        message,
    )
    .into_error(OPERATION)
    .action("Make the record again with `rea inspect-macho`.")
}
