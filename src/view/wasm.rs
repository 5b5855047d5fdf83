//! Views of `inspect_wasm_artifact` (views.md sections 6.4 and 6.5).
//!
//! The record streams by: of its lists only the selected rows are kept, of its
//! texts only the selected page. The digest of the module's text is taken on
//! the way and must be the one that the record states.

use super::record::{Artifact, Coverage, Payload, Projection};
use super::rows::Rows;
use super::text::Pager;
use super::{Collector, Memory, OPERATION, Producer, View};
use crate::digest::{Digest, Hasher};
use crate::error::{Code, Error, Result};
use crate::evidence::{Confidence, Contents, Parent};
use crate::json::{Builder, Event, Issue, Object, Value};

pub(super) const PRODUCER: Producer = Producer {
    operations: &["inspect_wasm_artifact"],
    kinds: &["summary", "wasm"],
    collector: |view| Box::new(Wasm::new(view)),
};

/// Lists of the result, in the order in which it has them.
const LISTS: [&str; 5] = ["candidates", "exports", "glue", "imports", "sections"];
/// Texts of the result.
const TEXTS: [&str; 2] = ["details", "headers"];
/// Words of the result.
const WORDS: [&str; 4] = [
    "artifact_kind",
    "network_fetch",
    "runtime_execution",
    "validation",
];

/// What the current member of the result is.
enum Member {
    Other,
    /// A small value that is kept as it is.
    Kept(&'static str, Builder),
    /// A list, and its place in [`LISTS`].
    List(usize),
    /// The text that the view is a page of.
    Page,
    /// `wat`, and which of its members is current.
    Wat(WatMember),
}

#[derive(Clone, Copy, PartialEq)]
enum WatMember {
    None,
    Available,
    Reason,
    Sha256,
    Text,
}

struct Wasm {
    /// The list that is paged, by its place.
    list: Option<usize>,
    /// The text that is paged.
    text: Option<String>,
    offset: u64,
    limit: u64,
    state: State,
}

struct State {
    depth: usize,
    member: Member,
    kept: Object,
    /// How many rows each list has; `None` where there is no such list.
    counts: [Option<u64>; LISTS.len()],
    rows: Rows,
    pager: Option<Pager>,
    wat: WatState,
}

#[derive(Default)]
struct WatState {
    present: bool,
    available: Option<bool>,
    reason: Vec<u8>,
    sha256: Vec<u8>,
    hasher: Hasher,
    has_text: bool,
    units: u64,
}

impl State {
    fn new(pager: Option<Pager>) -> Self {
        Self {
            depth: 0,
            member: Member::Other,
            kept: Object::new(),
            counts: [None; LISTS.len()],
            rows: Rows::default(),
            pager,
            wat: WatState::default(),
        }
    }
}

impl Wasm {
    fn new(view: &View) -> Self {
        let facet = view.word("facet");
        let (offset, limit) = (view.offset(), view.limit());
        let text = (TEXTS.contains(&facet) || facet == "wat").then(|| facet.to_owned());
        let pager = text.is_some().then(|| Pager::new(offset, limit));
        Self {
            list: LISTS.iter().position(|list| *list == facet),
            text,
            offset,
            limit,
            state: State::new(pager),
        }
    }

    fn member(&self, name: &[u8], memory: &Memory) -> Member {
        let name = std::str::from_utf8(name).unwrap_or_default();
        let kept = |name| Member::Kept(name, Builder::new(memory.left(), 0));
        match name {
            "artifact" => kept("artifact"),
            "tool_profile" => kept("tool_profile"),
            "wat" => Member::Wat(WatMember::None),
            name if self.text.as_deref() == Some(name) => Member::Page,
            name => {
                if let Some(word) = WORDS.iter().find(|word| **word == name) {
                    return kept(word);
                }
                let list = LISTS.iter().position(|list| *list == name);
                list.map_or(Member::Other, Member::List)
            }
        }
    }

    /// An event inside a list that is not its own begin or end.
    fn row(&mut self, list: usize, event: Event<'_>) {
        let state = &mut self.state;
        let Some(Some(count)) = state.counts.get_mut(list) else {
            return;
        };
        let wanted =
            self.list == Some(list) && *count >= self.offset && *count - self.offset < self.limit;
        if wanted {
            state.rows.event(event);
        }
        let ends = match event {
            Event::EndObject | Event::EndArray => state.depth == 2,
            Event::BeginObject | Event::BeginArray | Event::Key { .. } => false,
            Event::Text { last, .. } => last && state.depth == 2,
            _ => state.depth == 2,
        };
        if ends {
            *count += 1;
            if wanted {
                state.rows.end(true);
            }
        }
    }

    fn page(&mut self, part: &[u8], memory: &mut Memory) -> Result<()> {
        match &mut self.state.pager {
            Some(pager) => memory.charge(pager.part(part)),
            None => Ok(()),
        }
    }

    fn wat(&mut self, member: WatMember, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        let state = &mut self.state;
        if state.depth != 2 {
            return Ok(());
        }
        let wat = &mut state.wat;
        match (member, event) {
            (_, Event::Key { name, .. }) => {
                let member = match name {
                    b"available" => WatMember::Available,
                    b"reason" => WatMember::Reason,
                    b"sha256" => WatMember::Sha256,
                    b"text" => WatMember::Text,
                    _ => WatMember::None,
                };
                state.member = Member::Wat(member);
            }
            (WatMember::Available, Event::Bool(available)) => wat.available = Some(available),
            (WatMember::Reason, Event::Text { part, .. }) => {
                memory.charge(part.len())?;
                wat.reason.extend_from_slice(part);
            }
            (WatMember::Sha256, Event::Text { part, .. }) => {
                memory.charge(part.len())?;
                wat.sha256.extend_from_slice(part);
            }
            (WatMember::Text, Event::Text { part, .. }) => {
                wat.has_text = true;
                wat.hasher.update(part);
                wat.units += units(part);
                if self.text.as_deref() == Some("wat") {
                    self.page(part, memory)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// UTF-16 code units.
fn units(part: &[u8]) -> u64 {
    let units = part.iter().map(|&byte| match byte {
        0x80..0xC0 => 0,
        0xF0.. => 2,
        _ => 1,
    });
    units.sum()
}

impl Collector for Wasm {
    fn restart(&mut self) {
        let pager = self.text.is_some();
        self.state = State::new(pager.then(|| Pager::new(self.offset, self.limit)));
    }

    fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        let ends = matches!(event, Event::EndObject | Event::EndArray);
        if ends {
            self.state.depth = self.state.depth.saturating_sub(1);
        }
        let depth = self.state.depth;
        if let (1, Event::Key { name, .. }) = (depth, event) {
            self.state.member = self.member(name, memory);
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
        _parent: &Parent,
        _contents: Contents,
        view: &View,
    ) -> Result<Projection> {
        self.projection(view)
    }
}

impl Wasm {
    /// An event behind the name of a member.
    fn inside(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        match &mut self.state.member {
            Member::Other => {}
            Member::Kept(name, builder) => match builder.event(event) {
                Ok(Some(value)) => {
                    let name = *name;
                    memory.charge(usize::try_from(builder.memory()).unwrap_or(usize::MAX))?;
                    self.state.kept.insert(name, value);
                    self.state.member = Member::Other;
                }
                Ok(None) => {}
                // What is wrong shows as missing.
                Err(_) => self.state.member = Member::Other,
            },
            Member::List(list) => {
                let list = *list;
                match (self.state.depth, event) {
                    (1, Event::BeginArray) => {
                        if let Some(count) = self.state.counts.get_mut(list) {
                            *count = Some(0);
                        }
                    }
                    (1, _) => {}
                    _ => self.row(list, event),
                }
            }
            Member::Page => {
                if let (1, Event::Text { part, .. }) = (self.state.depth, event) {
                    self.page(part, memory)?;
                }
            }
            Member::Wat(member) => {
                let member = *member;
                if let (1, Event::BeginObject) = (self.state.depth, event) {
                    self.state.wat.present = true;
                }
                self.wat(member, event, memory)?;
            }
        }
        Ok(())
    }

    fn projection(self, view: &View) -> Result<Projection> {
        let Self {
            list, text, state, ..
        } = self;
        let State {
            kept,
            counts,
            rows,
            pager,
            wat,
            ..
        } = state;
        let artifact = artifact(&kept)?;
        for (name, count) in LISTS.iter().zip(counts) {
            if count.is_none() {
                return Err(missing(name));
            }
        }
        for name in WORDS {
            if !matches!(kept.get(name), Some(Value::String(_))) {
                return Err(missing(name));
            }
        }
        let Some(Value::Object(profile)) = kept.get("tool_profile") else {
            return Err(missing("tool_profile"));
        };
        let wat = wat.check()?;
        let (coverage, payload) = match (view.kind(), view.word("facet")) {
            ("summary", _) => {
                let total = counts.iter().flatten().sum();
                let summary = summary(&kept, &counts, &wat);
                (
                    Coverage::whole(total, total),
                    ("summary", Payload::Value(summary.into())),
                )
            }
            (_, "tool_profile") => singleton(view, profile.clone())?,
            (_, "wat") if wat.get("available") == Some(&Value::Bool(false)) => {
                singleton(view, wat)?
            }
            _ if text.is_some() => {
                let name = text.unwrap_or_default();
                let pager = pager.ok_or_else(|| missing(&name))?;
                let page = pager.finish().map_err(|error| refused(error.message()))?;
                let coverage = Coverage::page(page.start, page.units, page.total);
                let mut item = Object::new();
                let text = crate::json::Text::from_wtf8(page.text);
                item.insert("text", Value::String(text));
                item.insert("unit", "utf16-code-units");
                (coverage, ("item", Payload::Value(item.into())))
            }
            _ => {
                let total = list
                    .and_then(|list| counts.get(list).copied().flatten())
                    .unwrap_or(0);
                (
                    Coverage::page(view.offset(), rows.len(), total),
                    ("items", Payload::Rows(rows)),
                )
            }
        };
        Ok(Projection {
            artifact: Some(artifact),
            coverage,
            payload: vec![payload],
            limitations: Vec::new(),
            unknowns: Vec::new(),
            confidence: Confidence::Derived,
        })
    }
}

type Selected = (Coverage, (&'static str, Payload));

/// A facet that is one object.
fn singleton(view: &View, object: Object) -> Result<Selected> {
    if view.offset() != 0 {
        return Err(refused("this facet is one object: its offset is 0"));
    }
    Ok((
        Coverage::whole(1, 1),
        ("item", Payload::Value(object.into())),
    ))
}

impl WatState {
    /// The facts of the text without itself.
    ///
    /// # Errors
    /// `evidence_integrity_mismatch` where it is not the text that its digest
    /// is of.
    fn check(self) -> Result<Object> {
        if !self.present {
            return Err(missing("wat"));
        }
        let mut facts = Object::new();
        match self.available {
            Some(false) if !self.has_text => {
                facts.insert("available", false);
                let reason = crate::json::Text::from_wtf8(self.reason);
                facts.insert("reason", Value::String(reason));
            }
            // Records that have no such member have the text.
            Some(true) | None if self.has_text => {
                let stated = Digest::from_hex(&self.sha256).ok_or_else(|| missing("wat"))?;
                if self.hasher.finish() != stated {
                    let reason = "the module's text is not the one that its digest is of";
                    return Err(Error::new(Code::EvidenceIntegrityMismatch, reason)
                        .action("Make the record again with `rea inspect-wasm-artifact`.")
                        .detail("reason", reason));
                }
                facts.insert("available", true);
                facts.insert("length", self.units);
                facts.insert("sha256", stated.to_hex());
                facts.insert("unit", "utf16-code-units");
            }
            _ => return Err(missing("wat")),
        }
        Ok(facts)
    }
}

fn summary(kept: &Object, counts: &[Option<u64>], wat: &Object) -> Object {
    let mut available = Object::new();
    for (name, count) in LISTS.iter().zip(counts) {
        available.insert(*name, count.unwrap_or(0));
    }
    let mut summary = Object::new();
    for name in WORDS.into_iter().chain(["artifact", "tool_profile"]) {
        if let Some(value) = kept.get(name) {
            summary.insert(name, value.clone());
        }
    }
    summary.insert("counts", available);
    summary.insert("wat", wat.clone());
    summary
}

fn artifact(kept: &Object) -> Result<Artifact> {
    let artifact = kept.get("artifact").ok_or_else(|| missing("artifact"))?;
    let sha256 = artifact.get("sha256").and_then(Value::as_str);
    match (artifact.get("path"), sha256) {
        (Some(Value::String(path)), Some(sha256)) => Ok(Artifact {
            path: path.clone(),
            sha256: Some(Digest::from_hex(sha256.as_bytes()).ok_or_else(|| missing("artifact"))?),
        }),
        _ => Err(missing("artifact")),
    }
}

fn missing(name: &str) -> Error {
    let message =
        format!("the parent is no record of a module at {name}: it is missing or of another type");
    let path = ["source", "normalized_result", name];
    Issue::new(&path, "missing_argument", message)
        .into_error(OPERATION)
        .action("Make the record again with `rea inspect-wasm-artifact`.")
}

fn refused(message: &str) -> Error {
    Issue::new(&["view"], "invalid_value", message.to_owned()).into_error(OPERATION)
}
