//! Views of `inspect_artifact` and `inventory_artifact` (views.md section 6.7,
//! artifacts.md section 9).
//!
//! The inventory streams by; of its rows only the selected page is kept, and
//! about a hundred bytes an entry for the checks that make a graph complete.

mod check;
mod fields;
mod shape;
mod walk;

use super::record::{Artifact, Coverage, Payload, Projection};
use super::rows::Rows;
use super::{Collector, Memory, OPERATION, Producer, View};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{Confidence, Contents, Parent};
use crate::json::{Event, Issue, Object, Text, Value};
use check::GraphCheck;
use fields::{Field, Fields};
use walk::{Collection, Facts, Walk};

pub(super) const PRODUCER: Producer = Producer {
    operations: &["inspect_artifact", "inventory_artifact"],
    kinds: &["summary", "inventory"],
    collector: |view| Box::new(Inventory::new(view)),
};

const UNKNOWN_COVERAGE: &str =
    "What the inventory covers is unknown: there may be entries that it does not list.";
const INCOMPLETE: &str = "The available records are not the complete graph that the manifest stands for; there may be others, or some may be wrong.";

/// What a contradiction takes beside its path, twice.
const CONTRADICTION: usize = 320;

const ENTRY_KINDS: [&str; 4] = ["directory", "file", "slice", "symlink"];

/// Rows that a page takes.
struct Selection {
    collection: Collection,
    offset: u64,
    limit: u64,
    /// Paths, sorted by bytes; `None` takes all.
    paths: Option<Vec<Text>>,
    rows: Rows,
    /// Rows that pass the filter.
    matching: u64,
    /// Whether the open row may be one of the page.
    open: bool,
}

/// Collects one inventory. Rows outside of the first substep of an inspection
/// are forgotten when that comes.
struct Inventory {
    walk: Walk,
    selection: Option<Selection>,
    rows: RowState,
}

/// What is known of the rows that passed.
#[derive(Default)]
struct RowState {
    counts: [u64; 4],
    entry_kinds: [u64; 4],
    /// The first row that is none, and the member where that shows.
    wrong: Option<(Collection, u64, &'static str)>,
    check: GraphCheck,
}

impl Inventory {
    fn new(view: &View) -> Self {
        let selection = Collection::named(view.word("collection")).map(|collection| {
            let paths = view.texts("logical_paths").map(|paths| {
                let mut paths: Vec<Text> = paths.into_iter().cloned().collect();
                paths.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
                paths
            });
            Selection {
                collection,
                offset: view.offset(),
                limit: view.limit(),
                paths,
                rows: Rows::default(),
                matching: 0,
                open: false,
            }
        });
        Self {
            walk: Walk::default(),
            selection,
            rows: RowState::default(),
        }
    }

    fn forget_rows(&mut self) {
        self.rows = RowState::default();
        if let Some(selection) = &mut self.selection {
            selection.rows = Rows::default();
            selection.matching = 0;
            selection.open = false;
        }
    }

    fn begin_row(&mut self, collection: Collection) {
        if let Some(selection) = &mut self.selection {
            selection.open = collection == selection.collection && selection.may_take();
        }
    }

    fn end_row(&mut self, collection: Collection, memory: &mut Memory) -> Result<()> {
        let fields = self.walk.row();
        if let Some(selection) = &mut self.selection
            && selection.collection == collection
        {
            selection.end(fields);
        }
        if collection == Collection::Contradictions {
            // Its path is kept for the occurrence that comes later.
            let path = fields.text(Field::LogicalPath).map_or(0, <[u8]>::len);
            memory.charge(2 * path + CONTRADICTION)?;
        }
        let Some(count) = self.rows.counts.get_mut(collection as usize) else {
            return Ok(());
        };
        let index = *count;
        *count += 1;
        if let Some(member) = self.walk.wrong_member() {
            self.rows.wrong.get_or_insert((collection, index, member));
        }
        if collection == Collection::Occurrences {
            let kind = fields.text(Field::EntryKind).unwrap_or_default();
            let kind = ENTRY_KINDS
                .iter()
                .position(|known| known.as_bytes() == kind);
            match kind.and_then(|kind| self.rows.entry_kinds.get_mut(kind)) {
                Some(count) => *count += 1,
                None => {
                    let wrong = (collection, index, "entry_kind");
                    self.rows.wrong.get_or_insert(wrong);
                }
            }
        }
        self.rows
            .check
            .row(collection, fields, self.walk.manifest());
        Ok(())
    }
}

impl Selection {
    /// Whether the row that begins may be one of the page.
    fn may_take(&self) -> bool {
        self.matching >= self.offset && self.matching - self.offset < self.limit
    }

    fn end(&mut self, fields: &Fields) {
        let matches = match &self.paths {
            None => true,
            Some(paths) => fields.text(Field::LogicalPath).is_some_and(|path| {
                paths
                    .binary_search_by(|known| known.as_bytes().cmp(path))
                    .is_ok()
            }),
        };
        if self.open {
            self.rows.end(matches);
            self.open = false;
        }
        self.matching += u64::from(matches);
    }
}

impl Collector for Inventory {
    fn restart(&mut self) {
        self.walk = Walk::default();
        self.forget_rows();
    }

    fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()> {
        match self.walk.event(event, memory)? {
            walk::Step::Inside => {}
            walk::Step::Inventory => self.forget_rows(),
            walk::Step::BeginRow(collection) => self.begin_row(collection),
            walk::Step::EndList(collection) => self.rows.check.end_list(collection),
            walk::Step::EndRow(collection) => {
                if let Some(selection) = self.selection.as_mut().filter(|page| page.open) {
                    selection.rows.event(event);
                }
                return self.end_row(collection, memory);
            }
        }
        if let Some(selection) = self.selection.as_mut().filter(|page| page.open)
            && self.walk.in_row()
        {
            selection.rows.event(event);
        }
        Ok(())
    }

    fn project(
        self: Box<Self>,
        parent: &Parent,
        contents: Contents,
        view: &View,
    ) -> Result<Projection> {
        let inspection = parent.operation == *"inspect_artifact";
        let (outer, nested) = self.walk.finish();
        let place = Place { inspection };
        let (facts, inspected) = if inspection {
            let nested = nested.ok_or_else(|| place.missing_substep())?;
            (nested, Some(outer))
        } else if nested.is_some() {
            return Err(place.wrong(&["substeps"], "an inventory has no substeps"));
        } else {
            (outer, None)
        };
        place.check(&facts, &self.rows)?;
        let manifest = facts.manifest.clone();
        let root = manifest
            .get("root_sha256")
            .and_then(Value::as_str)
            .and_then(|digest| Digest::from_hex(digest.as_bytes()))
            .ok_or_else(|| place.wrong(&["manifest", "root_sha256"], "it is no SHA-256"))?;
        let subject = parent.subject.as_ref();
        let source_complete = contents.graphs_verified
            && self.rows.check.passes(&manifest)
            // The record is about the artifact that the manifest is about.
            && subject.and_then(|subject| subject.get("format")) == manifest.get("root_format");
        let mut unknowns = Vec::new();
        if facts.word("status") != Some("complete") {
            unknowns.push(UNKNOWN_COVERAGE.into());
        }
        if !source_complete {
            unknowns.push(INCOMPLETE.into());
        }
        let (coverage, payload) = match self.selection {
            None => {
                let total = self.rows.counts.iter().sum();
                let id = facts
                    .evidence_id
                    .clone()
                    .unwrap_or_else(|| parent.id.to_string().into());
                let status = inspected.as_ref().and_then(|outer| outer.word("status"));
                let summary = summary(&facts, &self.rows, id, status, source_complete);
                let payload = vec![("summary", Payload::Value(summary.into()))];
                (Coverage::whole(total, total), payload)
            }
            Some(selection) => {
                let coverage =
                    Coverage::page(view.offset(), selection.rows.len(), selection.matching);
                let payload = vec![
                    ("items", Payload::Rows(selection.rows)),
                    ("source_complete", Payload::Value(source_complete.into())),
                ];
                (coverage, payload)
            }
        };
        let mut limitations = facts.limitations;
        limitations.extend(facts.record_limitations);
        limitations.extend(inspected.into_iter().flat_map(|outer| outer.limitations));
        Ok(Projection {
            artifact: parent.subject.as_ref().map(|_| Artifact {
                path: ".".into(),
                sha256: Some(root),
            }),
            coverage,
            payload,
            limitations,
            unknowns,
            confidence: Confidence::Derived,
        })
    }
}

fn summary(
    facts: &Facts,
    rows: &RowState,
    inventory: Text,
    inspection: Option<&str>,
    source_complete: bool,
) -> Object {
    let mut available = Object::new();
    for collection in Collection::ALL {
        let count = rows.counts.get(collection as usize).copied();
        available.insert(collection.name(), count.unwrap_or(0));
    }
    let mut kinds = Object::new();
    for (name, count) in ENTRY_KINDS.iter().zip(rows.entry_kinds) {
        kinds.insert(*name, count);
    }
    let mut summary = Object::new();
    summary.insert("available", available);
    summary.insert("entry_kinds", kinds);
    summary.insert("inspection_coverage", inspection);
    summary.insert("inventory_evidence_ids", vec![Value::String(inventory)]);
    summary.insert("limitation_count", facts.limitations.len() as u64);
    summary.insert("manifest", facts.manifest.clone());
    summary.insert("source_complete", source_complete);
    summary.insert("source_coverage", facts.coverage.clone());
    summary
}

/// The words of `coverage`.
const COVERAGE: [(&str, [&str; 2]); 2] = [
    ("scope", ["root", "container-entries"]),
    ("status", ["complete", "unknown"]),
];

const REMAKE: &str =
    "Make the record again with `rea inventory-artifact` or `rea inspect-artifact`.";

/// Where the inventory stands in the parent, for issues.
struct Place {
    inspection: bool,
}

impl Place {
    fn wrong(&self, at: &[&str], message: &str) -> Error {
        self.issue(at.iter().map(|&part| part.into()), "invalid_value", message)
    }

    fn issue(&self, at: impl Iterator<Item = Value>, reason: &'static str, message: &str) -> Error {
        let mut path: Vec<Value> = vec!["source".into(), "normalized_result".into()];
        if self.inspection {
            path.extend(["substeps".into(), 0u64.into()]);
            path.extend(["evidence".into(), "normalized_result".into()]);
        }
        path.extend(at);
        let mut shown = String::new();
        for part in path.iter().skip(1) {
            match part {
                Value::Number(number) => shown.push_str(&format!("[{number}]")),
                part => {
                    if !shown.is_empty() {
                        shown.push('.');
                    }
                    shown.push_str(part.as_str().unwrap_or_default());
                }
            }
        }
        let message = format!("the parent is no inventory at {shown}: {message}");
        Issue::at(path, reason, message)
            .into_error(OPERATION)
            .action(REMAKE)
    }

    fn missing_substep(&self) -> Error {
        let message = "the inspection holds no record of inventory_artifact";
        Issue::new(
            &["source", "normalized_result", "substeps"],
            "missing_argument",
            message.to_owned(),
        )
        .into_error(OPERATION)
        .action(REMAKE)
    }

    /// The members that views rest on must be there and of their types.
    fn check(&self, facts: &Facts, rows: &RowState) -> Result<()> {
        let missing = |at: &[&str]| {
            let at = at.iter().map(|&part| part.into());
            self.issue(at, "missing_argument", "it is missing or of another type")
        };
        for collection in Collection::ALL {
            if !facts.lists.contains(&collection) {
                return Err(missing(&[collection.name()]));
            }
        }
        if let Some((collection, index, member)) = rows.wrong {
            let at = [collection.name().into(), index.into(), member.into()];
            let message = "it is missing or of another type";
            return Err(self.issue(at.into_iter(), "invalid_type", message));
        }
        for name in walk::MANIFEST {
            if facts.manifest.get(name).is_none() {
                return Err(missing(&["manifest", name]));
            }
        }
        for (name, words) in COVERAGE {
            match facts.word(name) {
                None => return Err(missing(&["coverage", name])),
                Some(word) if !words.contains(&word) => {
                    let message = format!("it must be {}", words.join(" or "));
                    return Err(self.wrong(&["coverage", name], &message));
                }
                Some(_) => {}
            }
        }
        if !facts.has_limitations {
            return Err(missing(&["limitations"]));
        }
        match facts.wrong {
            Some((object, Some(member))) => return Err(missing(&[object, member])),
            Some((list, None)) => {
                let message = "it holds something of another type";
                return Err(self.wrong(&[list], message));
            }
            None => {}
        }
        Ok(())
    }
}
