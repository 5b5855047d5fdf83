//! The view as a record (views.md sections 4 and 5).

use super::request::View;
use super::rows::Rows;
use super::{OPERATION, PROVIDER};
use crate::digest::Digest;
use crate::evidence::{Confidence, DerivedDraft, EvidenceId, Parent, Record};
use crate::json::{Object, Text, Value, WriteJson, Writer};

/// How much of a collection a view holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// `complete-within-view`, `page` or `empty`.
    pub status: &'static str,
    /// Facts or rows that were looked at.
    pub examined: u64,
    /// How many there are.
    pub total: u64,
    /// Where the next page starts; `None` on the last one.
    pub next_offset: Option<u64>,
}

impl Coverage {
    /// All facts of a summary, a facet or an item.
    pub(super) fn whole(examined: u64, total: u64) -> Self {
        Self {
            status: "complete-within-view",
            examined,
            total,
            next_offset: None,
        }
    }

    /// A page of `examined` rows from `offset` on.
    pub(super) fn page(offset: u64, examined: u64, total: u64) -> Self {
        let end = offset.saturating_add(examined);
        Self {
            status: if examined == 0 { "empty" } else { "page" },
            examined,
            total,
            next_offset: (examined > 0 && end < total).then_some(end),
        }
    }

    /// Whether nothing follows.
    pub fn is_exhausted(&self) -> bool {
        self.next_offset.is_none()
    }
}

impl WriteJson for Coverage {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("examined", self.examined);
        w.member("exhausted", self.is_exhausted());
        w.member("next_offset", self.next_offset);
        w.member("status", self.status);
        w.member("total", self.total);
        w.end_object();
    }
}

/// The artifact that a view is about.
pub(super) struct Artifact {
    pub path: Text,
    /// `None` where the parent does not show it.
    pub sha256: Option<Digest>,
}

impl WriteJson for Artifact {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("path", &self.path);
        w.member("sha256", self.sha256);
        w.end_object();
    }
}

/// What a view selects.
pub(super) enum Payload {
    Value(Value),
    Rows(Rows),
}

impl WriteJson for Payload {
    fn write_json(&self, w: &mut Writer<'_>) {
        match self {
            Self::Value(value) => value.write_json(w),
            Self::Rows(rows) => rows.write_json(w),
        }
    }
}

/// What a producer makes of a parent and a view.
pub(super) struct Projection {
    /// `None` for a parent that is bound to no artifact.
    pub artifact: Option<Artifact>,
    pub coverage: Coverage,
    /// Members of the result beside the common ones.
    pub payload: Vec<(&'static str, Payload)>,
    /// Limitations from inside the parent's result.
    pub limitations: Vec<Text>,
    pub unknowns: Vec<Text>,
    pub confidence: Confidence,
}

/// A view, ready to be written.
pub struct ViewRecord {
    parent: Parent,
    view: View,
    projection: Projection,
    parameters: Object,
    limitations: Vec<Text>,
    view_digest: Digest,
    id: EvidenceId,
}

impl ViewRecord {
    pub(super) fn new(parent: Parent, view: View, mut projection: Projection) -> Self {
        let mut limitations = parent.limitations.clone();
        limitations.append(&mut projection.limitations);
        sort(&mut limitations);
        sort(&mut projection.unknowns);
        let mut parameters = Object::new();
        parameters.insert("parent_evidence_id", parent.id.to_string());
        parameters.insert("view", view.value().clone());
        let mut record = Self {
            parent,
            view,
            projection,
            parameters,
            limitations,
            view_digest: Digest([0; 32]),
            id: EvidenceId(Digest([0; 32])),
        };
        record.view_digest = Digest::of_json(|w| record.write_result(None, w));
        record.id = record.with_draft(|draft| draft.id());
        record
    }

    /// The record it is a view of.
    pub fn parent(&self) -> &Parent {
        &self.parent
    }

    /// The kind of view.
    pub fn kind(&self) -> &'static str {
        self.view.kind()
    }

    /// The view as it was asked for, defaults included.
    pub fn view(&self) -> &Object {
        self.view.value()
    }

    /// How much of the parent it holds.
    pub fn coverage(&self) -> Coverage {
        self.projection.coverage
    }

    /// A member of the result beside the common ones, where it is no page.
    pub fn fact(&self, name: &str) -> Option<&Value> {
        self.projection
            .payload
            .iter()
            .find_map(|(known, payload)| match payload {
                Payload::Value(value) if *known == name => Some(value),
                _ => None,
            })
    }

    /// The rows of a page, one by one.
    pub fn rows(&self) -> impl Iterator<Item = Value> {
        let rows = self
            .projection
            .payload
            .iter()
            .find_map(|(_, payload)| match payload {
                Payload::Rows(rows) => Some(rows),
                Payload::Value(_) => None,
            });
        rows.into_iter().flat_map(Rows::values)
    }

    /// What was not looked at or is uncertain, the parent's included.
    pub fn limitations(&self) -> &[Text] {
        &self.limitations
    }

    /// What is not known.
    pub fn unknowns(&self) -> &[Text] {
        &self.projection.unknowns
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&DerivedDraft<'_>) -> T) -> T {
        let mut locations = Vec::new();
        if let Some(artifact) = &self.projection.artifact {
            let mut location = Object::new();
            location.insert("kind", "artifact-path");
            location.insert("path", Value::String(artifact.path.clone()));
            locations.push(Value::Object(location));
        }
        use_it(&DerivedDraft {
            parent: &self.parent,
            provider: PROVIDER,
            predicate_type: "rea.analysis-view",
            operation: OPERATION,
            parameters: &self.parameters,
            normalized_result: &ResultOf(self),
            confidence: self.projection.confidence,
            limitations: &self.limitations,
            locations: &locations,
        })
    }

    fn write_result(&self, view_digest: Option<&Digest>, w: &mut Writer<'_>) {
        let parent = &self.parent;
        let mut members: Vec<(&str, &dyn WriteJson)> = vec![
            ("artifact", &self.projection.artifact),
            ("coverage", &self.projection.coverage),
            ("kind", &self.view),
            ("limitations", &self.limitations),
            ("parent_digest", &parent.id.0),
            ("parent_evidence_id", &parent.id),
            ("parent_operation", &parent.operation),
            ("unknowns", &self.projection.unknowns),
            ("view", self.view.value()),
        ];
        if let Some(digest) = view_digest {
            members.push(("view_digest", digest));
        }
        for (name, payload) in &self.projection.payload {
            members.push((name, payload));
        }
        // All names are ASCII, where bytes and code units sort alike.
        members.sort_by_key(|(name, _)| *name);
        w.begin_object();
        for (name, value) in members {
            w.member(name, value);
        }
        w.end_object();
    }
}

fn sort(texts: &mut Vec<Text>) {
    texts.sort();
    texts.dedup();
}

/// `kind`
impl WriteJson for View {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(self.kind());
    }
}

struct ResultOf<'a>(&'a ViewRecord);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.0.write_result(Some(&self.0.view_digest), w);
    }
}

impl Record for ViewRecord {
    fn id(&self) -> EvidenceId {
        self.id
    }

    fn write_record(&self, w: &mut Writer<'_>) {
        self.with_draft(|draft| draft.write_record(self.id, w));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of views.md section 5.1.
    #[test]
    fn coverage_follows_the_table() {
        let page = |offset, examined, total| {
            let coverage = Coverage::page(offset, examined, total);
            (
                coverage.status,
                coverage.next_offset,
                coverage.is_exhausted(),
            )
        };
        assert_eq!(page(0, 2, 5), ("page", Some(2), false));
        assert_eq!(page(4, 1, 5), ("page", None, true));
        assert_eq!(page(5, 0, 5), ("empty", None, true));
        assert_eq!(page(0, 0, 0), ("empty", None, true));
        assert_eq!(page(u64::MAX, 0, 5), ("empty", None, true));
        let whole = Coverage::whole(1, 7);
        assert_eq!(
            (whole.status, whole.next_offset),
            ("complete-within-view", None)
        );
    }
}
