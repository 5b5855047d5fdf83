//! Finds its way through a result: where the inventory is, and its rows.

use super::super::Memory;
use super::fields::{Field, Fields};
use super::shape::Shape;
use crate::artifact::retained::zones::Zone as Contract;
use crate::error::Result;
use crate::json::{Event, Object, Text, Value};

/// A list of an inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    Edges,
    Contradictions,
    Nodes,
    Occurrences,
}

impl Collection {
    pub const ALL: [Self; 4] = [
        Self::Edges,
        Self::Contradictions,
        Self::Nodes,
        Self::Occurrences,
    ];

    /// The member's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Contradictions => "integrity_contradictions",
            Self::Nodes => "nodes",
            Self::Occurrences => "occurrences",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// What every row of this list has.
    fn row(self) -> Contract {
        match self {
            Self::Edges => Contract::Edge,
            Self::Contradictions => Contract::Contradiction,
            Self::Nodes => Contract::Node,
            Self::Occurrences => Contract::Occurrence,
        }
    }
}

/// Members of a manifest.
pub(super) const MANIFEST: [&str; 8] = [
    "edge_count",
    "graph_sha256",
    "manifest_id",
    "node_count",
    "occurrence_count",
    "root_artifact_id",
    "root_format",
    "root_sha256",
];

/// Small members of a result.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub manifest: Object,
    /// `coverage`: scope and status.
    pub coverage: Object,
    /// The result's limitations.
    pub limitations: Vec<Text>,
    /// Those of the record around it, where it is nested.
    pub record_limitations: Vec<Text>,
    /// The id of the record around it, where it is nested.
    pub evidence_id: Option<Text>,
    /// The lists that are there.
    pub lists: Vec<Collection>,
    /// Whether there is a list of limitations.
    pub has_limitations: bool,
    /// The first member that is not as the contract says: of the result, or
    /// of an object in it.
    pub wrong: Option<(&'static str, Option<&'static str>)>,
    is_inventory: bool,
}

impl Facts {
    /// A word of `coverage`.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.coverage.get(name)?.as_str()
    }
}

/// A container that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    /// A result, the parent's own or the nested one.
    Result,
    Manifest,
    Coverage,
    Limitations,
    /// `limitations` of the nested record.
    RecordLimitations,
    List(Collection),
    Row(Collection),
    Substeps,
    Substep,
    /// The nested record.
    Record,
    /// Nothing that is looked at, nor anything inside it.
    Other,
}

/// What an event meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Inside,
    /// The result of the nested record begins.
    Inventory,
    BeginRow(Collection),
    EndRow(Collection),
    EndList(Collection),
}

/// See the module.
#[derive(Default)]
pub(super) struct Walk {
    open: Vec<Zone>,
    /// The current member of the innermost object.
    key: Vec<u8>,
    in_text: bool,
    text: Vec<u8>,
    field: Option<Field>,
    row: Fields,
    shape: Shape,
    outer: Facts,
    nested: Option<Facts>,
    /// Whether what comes belongs to `nested`.
    inside: bool,
    substeps: u64,
}

impl Walk {
    /// The fields of the row that ended last.
    pub fn row(&self) -> &Fields {
        &self.row
    }

    /// The first member of the row that ended last that is missing or not of
    /// its type.
    pub fn wrong_member(&self) -> Option<&'static str> {
        self.shape.wrong()
    }

    /// The manifest, as far as it has passed.
    pub fn manifest(&self) -> &Object {
        match &self.nested {
            Some(nested) if self.inside => &nested.manifest,
            _ => &self.outer.manifest,
        }
    }

    /// Whether a row is open.
    pub fn in_row(&self) -> bool {
        self.open.iter().any(|zone| matches!(zone, Zone::Row(_)))
    }

    /// The parent's own facts, and those of the nested inventory.
    pub fn finish(self) -> (Facts, Option<Facts>) {
        (self.outer, self.nested.filter(|nested| nested.is_inventory))
    }

    fn facts(&mut self) -> &mut Facts {
        match &mut self.nested {
            Some(nested) if self.inside => nested,
            _ => &mut self.outer,
        }
    }

    pub fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<Step> {
        self.judge(event);
        Ok(match event {
            Event::Key { name, .. } => {
                if !matches!(self.open.last(), Some(Zone::Other)) {
                    self.key.clear();
                    self.key.extend_from_slice(name);
                    self.field = match self.open.last() {
                        Some(Zone::Row(_)) => Field::named(name),
                        _ => None,
                    };
                }
                Step::Inside
            }
            Event::BeginObject => self.begin(true),
            Event::BeginArray => self.begin(false),
            Event::EndObject | Event::EndArray => self.end(),
            Event::Text { part, last, .. } => {
                self.part(part, last, memory)?;
                Step::Inside
            }
            Event::Null => {
                if let (Some(Zone::Row(_)), Some(field)) = (self.open.last(), self.field) {
                    self.row.null(field);
                }
                Step::Inside
            }
            Event::Number { value, .. } => {
                if self.open.last() == Some(&Zone::Manifest) {
                    self.keep(Value::Number(value));
                }
                Step::Inside
            }
            Event::Bool(_) => Step::Inside,
        })
    }

    /// Whether the event may come where it does.
    fn judge(&mut self, event: Event<'_>) {
        let ends = matches!(event, Event::EndObject | Event::EndArray);
        let wrong = match self.open.last() {
            Some(Zone::Row(_) | Zone::Manifest | Zone::Coverage) => {
                self.shape.event(event);
                return;
            }
            Some(Zone::List(collection)) if !ends && event != Event::BeginObject => {
                collection.name()
            }
            Some(Zone::Limitations) if !ends => match event {
                Event::Text { part, .. } if std::str::from_utf8(part).is_ok() => return,
                _ => "limitations",
            },
            _ => return,
        };
        self.facts().wrong.get_or_insert((wrong, None));
    }

    fn begin(&mut self, object: bool) -> Step {
        let zone = self.zone(object);
        self.open.push(zone);
        match zone {
            Zone::Row(collection) => {
                self.row.clear();
                self.shape.begin(collection.row());
                Step::BeginRow(collection)
            }
            Zone::List(collection) => {
                self.facts().lists.push(collection);
                Step::Inside
            }
            Zone::Manifest => {
                self.shape.begin(Contract::Manifest);
                Step::Inside
            }
            Zone::Coverage => {
                self.shape.begin(Contract::Coverage);
                Step::Inside
            }
            Zone::Limitations => {
                self.facts().has_limitations = true;
                Step::Inside
            }
            Zone::Result if self.inside => Step::Inventory,
            _ => Step::Inside,
        }
    }

    /// What the container that begins is.
    fn zone(&mut self, object: bool) -> Zone {
        let key = self.key.as_slice();
        match (self.open.last(), object) {
            (None, true) => Zone::Result,
            (Some(Zone::Result), true) => match key {
                b"manifest" => Zone::Manifest,
                b"coverage" => Zone::Coverage,
                _ => Zone::Other,
            },
            (Some(Zone::Result), false) => match key {
                b"limitations" => Zone::Limitations,
                b"substeps" if !self.inside => Zone::Substeps,
                key => std::str::from_utf8(key)
                    .ok()
                    .and_then(Collection::named)
                    .map_or(Zone::Other, Zone::List),
            },
            (Some(Zone::List(collection)), true) => Zone::Row(*collection),
            (Some(Zone::Substeps), true) => {
                self.substeps += 1;
                // An inspection's inventory is its first substep.
                if self.substeps == 1 {
                    Zone::Substep
                } else {
                    Zone::Other
                }
            }
            (Some(Zone::Substep), true) if key == b"evidence" => {
                self.nested = Some(Facts::default());
                self.inside = true;
                Zone::Record
            }
            (Some(Zone::Record), true) if key == b"normalized_result" => Zone::Result,
            (Some(Zone::Record), false) if key == b"limitations" => Zone::RecordLimitations,
            _ => Zone::Other,
        }
    }

    fn end(&mut self) -> Step {
        match self.open.pop() {
            Some(Zone::Row(collection)) => Step::EndRow(collection),
            Some(Zone::List(collection)) => Step::EndList(collection),
            Some(zone @ (Zone::Manifest | Zone::Coverage)) => {
                let object = if zone == Zone::Manifest {
                    "manifest"
                } else {
                    "coverage"
                };
                if let Some(member) = self.shape.wrong() {
                    self.facts().wrong.get_or_insert((object, Some(member)));
                }
                Step::Inside
            }
            Some(Zone::Record) => {
                self.inside = false;
                Step::Inside
            }
            _ => Step::Inside,
        }
    }

    fn part(&mut self, part: &[u8], last: bool, memory: &mut Memory) -> Result<()> {
        let first = !self.in_text;
        self.in_text = !last;
        match self.open.last() {
            Some(Zone::Row(_)) => {
                if let Some(field) = self.field {
                    memory.charge(self.row.part(field, part, first))?;
                }
            }
            Some(
                Zone::Manifest
                | Zone::Coverage
                | Zone::Limitations
                | Zone::RecordLimitations
                | Zone::Record,
            ) => {
                if first {
                    self.text.clear();
                }
                memory.charge(part.len())?;
                self.text.extend_from_slice(part);
                if last {
                    memory.charge_string()?;
                    let text = Text::from_wtf8(std::mem::take(&mut self.text));
                    self.keep(Value::String(text));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps a scalar of a small zone.
    fn keep(&mut self, value: Value) {
        let zone = self.open.last().copied();
        let key = std::mem::take(&mut self.key);
        let name = std::str::from_utf8(&key).unwrap_or_default();
        let facts = self.facts();
        match (zone, value) {
            (Some(Zone::Manifest), value) if MANIFEST.contains(&name) => {
                facts.manifest.insert(name, value);
            }
            (Some(Zone::Coverage), value) if matches!(name, "scope" | "status") => {
                facts.coverage.insert(name, value);
            }
            (Some(Zone::Limitations), Value::String(text)) => facts.limitations.push(text),
            (Some(Zone::RecordLimitations), Value::String(text)) => {
                facts.record_limitations.push(text);
            }
            (Some(Zone::Record), Value::String(text)) if name == "evidence_id" => {
                facts.evidence_id = Some(text);
            }
            (Some(Zone::Record), Value::String(text)) if name == "operation" => {
                facts.is_inventory = text == *"inventory_artifact";
            }
            _ => {}
        }
        self.key = key;
    }
}
