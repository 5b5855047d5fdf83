//! Views of `inspect_binary_layout` (views.md section 6.1).
//!
//! The layout streams by; of its rows only those that are selected are kept,
//! and of the rest what a summary says. Records of REA have all members but
//! `facts`, which are ours.

mod contract;
mod select;

use super::record::{Artifact, Coverage, Payload, Projection};
use super::schema::{Check, Wrong};
use super::{Collector, Memory, OPERATION, Producer, View};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{Confidence, Contents, Parent};
use crate::json::{Budget, Builder, Event, Issue, Object, Text, Value};
use select::{Selection, Taken};

pub(super) const PRODUCER: Producer = Producer {
    operations: &["inspect_binary_layout"],
    kinds: &["summary", "facet", "item", "page"],
    collector: |view| Box::new(Layout::new(view)),
};

/// What no layout can know.
const UNKNOWNS: [&str; 5] = [
    "runtime_load_base is unknown",
    "entry_point.execution_status is unknown",
    "relocation_inventory_completeness is unknown",
    "linkage.convenience_maps_completeness is unknown",
    "linkage.runtime_library_paths are unknown",
];

/// Mitigations that may be null, and what is then unknown.
const NULLABLE: [(&str, &str); 2] = [
    ("nx_indicator", "mitigations.nx_indicator is unknown"),
    ("relro", "mitigations.relro is unknown"),
];

/// A list of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    Sections,
    Segments,
    Symbols,
    Relocations,
    /// `facts.imports.items`
    Imports,
    /// `facts.exports.items`
    Exports,
}

impl Collection {
    const ALL: [Self; 6] = [
        Self::Sections,
        Self::Segments,
        Self::Symbols,
        Self::Relocations,
        Self::Imports,
        Self::Exports,
    ];
    /// The four that a summary counts.
    const COUNTED: [Self; 4] = [
        Self::Relocations,
        Self::Sections,
        Self::Segments,
        Self::Symbols,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Segments => "segments",
            Self::Symbols => "symbols",
            Self::Relocations => "relocations",
            Self::Imports => "imports",
            Self::Exports => "exports",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Whether its rows stand in `facts`, and their names are plain strings.
    fn in_facts(self) -> bool {
        matches!(self, Self::Imports | Self::Exports)
    }

    /// Containers that are open while a row is.
    fn row_depth(self) -> usize {
        if self.in_facts() { 5 } else { 3 }
    }
}

/// Small members that are kept.
const KEPT: [&str; 6] = [
    "architecture",
    "artifact",
    "entry_point",
    "format",
    "image_type",
    "limitations",
];
const MITIGATIONS: &str = "mitigations";
const LINKAGE: &str = "linkage";

/// Collects one layout.
struct Layout {
    selection: Option<Selection>,
    /// `linkage` is large and only one facet needs it.
    wants_linkage: bool,
    check: Check,
    /// Arrays and objects open.
    depth: usize,
    /// The member that is built, and what it is built with.
    building: Option<(&'static str, Builder)>,
    kept: Object,
    /// The list whose rows pass.
    list: Option<Collection>,
    /// In `facts`: the member, and whether its `items` pass.
    in_facts: bool,
    of_facts: Option<Collection>,
    /// Lists that are there.
    lists: [bool; Collection::ALL.len()],
    counts: [u64; Collection::ALL.len()],
}

impl Layout {
    fn new(view: &View) -> Self {
        Self {
            selection: Selection::new(view),
            wants_linkage: view.kind() == "facet" && view.word("facet") == LINKAGE,
            check: Check::new(&contract::LAYOUT),
            depth: 0,
            building: None,
            kept: Object::new(),
            list: None,
            in_facts: false,
            of_facts: None,
            lists: Default::default(),
            counts: Default::default(),
        }
    }

    fn key(&mut self, name: &[u8], left: Budget) {
        match self.depth {
            1 => {
                let kept = KEPT.iter().chain([&MITIGATIONS]).copied();
                let linkage = self.wants_linkage.then_some(LINKAGE);
                let kept = kept.chain(linkage).find(|kept| kept.as_bytes() == name);
                self.building = kept.map(|kept| (kept, Builder::new(left, 0)));
                let text = std::str::from_utf8(name).unwrap_or_default();
                self.list = Collection::named(text).filter(|known| !known.in_facts());
                self.in_facts = name == b"facts";
            }
            2 if self.in_facts => {
                let text = std::str::from_utf8(name).unwrap_or_default();
                self.of_facts = Collection::named(text).filter(|known| known.in_facts());
            }
            3 if self.in_facts => {
                self.list = self.of_facts.filter(|_| name == b"items");
            }
            _ => {}
        }
    }

    fn begin(&mut self, event: Event<'_>) {
        self.depth += 1;
        let Some(list) = self.list else { return };
        if self.depth + 1 == list.row_depth() && event == Event::BeginArray {
            self.mark(list);
        } else if self.depth == list.row_depth()
            && let Some(selection) = &mut self.selection
            && self.counts.get(list as usize).is_some()
        {
            let index = self.counts.get(list as usize).copied().unwrap_or_default();
            selection.begin(list, index);
        }
    }

    fn mark(&mut self, list: Collection) {
        if let Some(there) = self.lists.get_mut(list as usize) {
            *there = true;
        }
    }

    /// A container ends; the row that it was, where it was one.
    fn end(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        let ended = self.depth;
        self.depth = self.depth.saturating_sub(1);
        let Some(list) = self.list else { return Ok(()) };
        if ended == list.row_depth() {
            if let Some(selection) = &mut self.selection {
                selection.event(event, ended, memory)?;
                selection.end(memory)?;
            }
            if let Some(count) = self.counts.get_mut(list as usize) {
                *count += 1;
            }
        } else if ended > list.row_depth() {
            if let Some(selection) = &mut self.selection {
                selection.event(event, ended, memory)?;
            }
        } else {
            // The list is over; `items` ends before what it is in.
            self.list = None;
        }
        Ok(())
    }

    fn count(&self, collection: Collection) -> u64 {
        self.counts.get(collection as usize).copied().unwrap_or(0)
    }

    fn has(&self, collection: Collection) -> bool {
        self.lists
            .get(collection as usize)
            .copied()
            .unwrap_or(false)
    }

    fn summary(&self) -> Object {
        let copied = |name: &str| self.kept.get(name).cloned().unwrap_or_default();
        let mut counts = Object::new();
        for collection in Collection::COUNTED {
            counts.insert(collection.name(), self.count(collection));
        }
        let bytes = self.kept.get("artifact").and_then(|it| it.get("bytes"));
        let mut summary = Object::new();
        summary.insert("architecture", copied("architecture"));
        summary.insert("bytes", bytes.cloned().unwrap_or_default());
        summary.insert("counts", counts);
        summary.insert("entry", members(&copied("entry_point"), &ENTRY));
        summary.insert("format", copied("format"));
        summary.insert("image_type", copied("image_type"));
        summary.insert("limitation_count", self.limitations().len() as u64);
        summary
    }

    fn limitations(&self) -> Vec<Text> {
        let said = self.kept.get("limitations").and_then(Value::as_array);
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        said.unwrap_or_default().iter().filter_map(text).collect()
    }

    fn unknowns(&self) -> Vec<Text> {
        let mut unknowns: Vec<Text> = UNKNOWNS.into_iter().map(Text::from).collect();
        let mitigations = self.kept.get(MITIGATIONS);
        for (name, unknown) in NULLABLE {
            if mitigations.and_then(|it| it.get(name)) == Some(&Value::Null) {
                unknowns.push(unknown.into());
            }
        }
        unknowns
    }

    fn artifact(&self) -> Result<Artifact> {
        let artifact = self.kept.get("artifact");
        let path = match artifact.and_then(|artifact| artifact.get("path")) {
            Some(Value::String(path)) => path.clone(),
            _ => return Err(wrong(&["artifact".into(), "path".into()], true)),
        };
        let sha256 = artifact
            .and_then(|artifact| artifact.get("sha256"))
            .and_then(Value::as_str)
            .and_then(|digest| Digest::from_hex(digest.as_bytes()))
            .ok_or_else(|| wrong(&["artifact".into(), "sha256".into()], false))?;
        Ok(Artifact {
            path,
            sha256: Some(sha256),
        })
    }
}

/// The members of an entry point in a summary.
const ENTRY: [&str; 3] = ["execution_status", "meaning", "reported_value"];

fn members(object: &Value, names: &[&str]) -> Object {
    let mut chosen = Object::new();
    for name in names {
        chosen.insert(*name, object.get(name).cloned().unwrap_or_default());
    }
    chosen
}

impl Collector for Layout {
    fn restart(&mut self) {
        self.check = Check::new(&contract::LAYOUT);
        self.depth = 0;
        self.building = None;
        self.kept = Object::new();
        self.list = None;
        self.in_facts = false;
        self.of_facts = None;
        self.lists = Default::default();
        self.counts = Default::default();
        if let Some(selection) = &mut self.selection {
            selection.restart();
        }
    }

    fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        self.check.event(event);
        if let Event::Key { name, .. } = event
            && (self.depth == 1 || self.in_facts && self.depth <= 3)
        {
            self.key(name, memory.left());
            return Ok(());
        }
        if let Some((name, builder)) = &mut self.building {
            let name = *name;
            if let Some(value) = memory.build(name, builder, event)? {
                self.kept.insert(name, value);
                self.building = None;
            }
        }
        match event {
            Event::BeginObject | Event::BeginArray => self.begin(event),
            Event::EndObject | Event::EndArray => return self.end(event, memory),
            _ => {}
        }
        if let (Some(list), Some(selection)) = (self.list, &mut self.selection)
            && self.depth >= list.row_depth()
        {
            selection.event(event, self.depth, memory)?;
        }
        Ok(())
    }

    fn project(
        mut self: Box<Self>,
        parent: &Parent,
        _: Contents,
        view: &View,
    ) -> Result<Projection> {
        if let Some(Wrong { path, missing }) = self.check.wrong() {
            return Err(wrong(path, *missing));
        }
        let artifact = self.artifact()?;
        let (coverage, payload) = self.select(view)?;
        Ok(Projection {
            artifact: parent.subject.as_ref().map(|_| artifact),
            coverage,
            payload,
            limitations: self.limitations(),
            unknowns: self.unknowns(),
            confidence: Confidence::Derived,
        })
    }
}

impl Layout {
    fn select(&mut self, view: &View) -> Result<(Coverage, Vec<(&'static str, Payload)>)> {
        match view.kind() {
            "summary" => {
                let total = Collection::COUNTED.map(|one| self.count(one)).iter().sum();
                let payload = Payload::Value(self.summary().into());
                Ok((Coverage::whole(total, total), vec![("summary", payload)]))
            }
            "facet" => {
                let facet = self.kept.get(view.word("facet")).cloned();
                let payload = Payload::Value(facet.unwrap_or_default());
                Ok((Coverage::whole(1, 1), vec![("facet", payload)]))
            }
            _ => {
                let Some(selection) = self.selection.take() else {
                    return Err(no_such_collection(view.word("collection")));
                };
                let collection = selection.collection;
                if !self.has(collection) {
                    return Err(not_in_record(collection));
                }
                let total = self.count(collection);
                match selection.taken(total)? {
                    Taken::Item(row) => Ok((
                        Coverage::whole(1, total),
                        vec![("item", Payload::Value(row))],
                    )),
                    Taken::Page(rows) => {
                        let coverage = Coverage::page(view.offset(), rows.len(), total);
                        Ok((coverage, vec![("items", Payload::Rows(rows))]))
                    }
                }
            }
        }
    }
}

const REMAKE: &str = "Make the record again with `rea inspect-binary-layout`.";

/// The result is not of its producer's shape.
fn wrong(path: &[Value], missing: bool) -> Error {
    let mut at: Vec<Value> = vec!["source".into(), "normalized_result".into()];
    at.extend(path.iter().cloned());
    let mut shown = String::from("normalized_result");
    for part in path {
        match part {
            Value::Number(number) => shown.push_str(&format!("[{number}]")),
            part => {
                shown.push('.');
                shown.push_str(part.as_str().unwrap_or_default());
            }
        }
    }
    let (reason, what) = match missing {
        true => ("missing_argument", "it is missing"),
        false => ("invalid_type", "it is of another type, or no such value"),
    };
    let message = format!("the parent is no layout at {shown}: {what}");
    Issue::at(at, reason, message)
        .into_error(OPERATION)
        .action(REMAKE)
}

/// The view is one of other producers.
fn no_such_collection(name: &str) -> Error {
    let known = Collection::ALL.map(Collection::name);
    let expected = known.iter().map(|&name| Value::from(name)).collect();
    let message = format!("a layout has no {name}");
    Issue::new(&["view"], "invalid_value", message)
        .expected(Value::Array(expected))
        .into_error(OPERATION)
        .action(format!("Ask for one of these: {}.", known.join(", ")))
}

/// A list of ours, of a record that others made.
fn not_in_record(collection: Collection) -> Error {
    let message = format!("the record has no list of {}", collection.name());
    Issue::new(&["view"], "invalid_value", message)
        .into_error(OPERATION)
        .action(REMAKE)
}
