//! The comparison as a record.

use super::{Change, Comparison, PROVIDER};
use crate::artifact::retained::{NONE, Retained};
use crate::digest::Digest;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, NO_SUBJECT};
use crate::json::{WriteJson, Writer};

impl Comparison {
    pub(super) fn seal(&mut self) {
        self.id = self.with_draft(|draft| draft.id());
    }

    /// The records of both sides, left first.
    pub(in crate::artifact) fn links(&self) -> [EvidenceId; 2] {
        [self.left.evidence_id(), self.right.evidence_id()]
    }

    fn write_change(&self, change: &Change, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("classification", change.classification.as_str());
        w.key("dimensions");
        w.begin_array();
        for name in change.dimensions.names() {
            w.string(name);
        }
        w.end_array();
        w.member("evidence_links", self.links());
        w.key("left_artifact_id");
        write_id("art_", self.left.artifact(change.left), w);
        w.key("left_occurrence_id");
        write_id("occ_", occurrence(&self.left, change.left), w);
        w.member("logical_path", self.path(change));
        w.key("right_artifact_id");
        write_id("art_", self.right.artifact(change.right), w);
        w.key("right_occurrence_id");
        write_id("occ_", occurrence(&self.right, change.right), w);
        w.end_object();
    }
}

/// The limitations of a record that has no subject.
pub(in crate::artifact) fn without_subject(limitations: &[String]) -> Vec<String> {
    let first = std::iter::once(NO_SUBJECT.to_owned());
    first.chain(limitations.iter().cloned()).collect()
}

/// The id of a row's occurrence.
pub(in crate::artifact) fn occurrence(side: &Retained, at: u32) -> Option<Digest> {
    if at == NONE {
        return None;
    }
    side.row(at).map(|row| row.id)
}

pub(in crate::artifact) fn write_id(prefix: &str, id: Option<Digest>, w: &mut Writer<'_>) {
    match id {
        Some(id) => w.id(prefix, &id),
        None => w.null(),
    }
}

/// `parameters`: the records that are compared.
pub(in crate::artifact) struct Sides<'a>(pub &'a Comparison);

impl Sides<'_> {
    /// The members, for operations that have more of them.
    pub fn write_members(&self, w: &mut Writer<'_>) {
        let [left, right] = self.0.links();
        w.member("left_evidence_id", left);
        w.member("right_evidence_id", right);
    }
}

impl WriteJson for Sides<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        self.write_members(w);
        w.end_object();
    }
}

struct ResultOf<'a>(&'a Comparison);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let comparison = self.0;
        w.begin_object();
        w.key("changes");
        w.begin_array();
        for change in &comparison.changes {
            comparison.write_change(change, w);
        }
        w.end_array();
        w.key("left_manifest_id");
        w.id("agm_", &comparison.left.manifest().manifest_id);
        w.member("limitations", comparison.limitations());
        w.key("right_manifest_id");
        w.id("agm_", &comparison.right.manifest().manifest_id);
        w.member("status", comparison.status().as_str());
        w.key("summary");
        w.begin_object();
        comparison.write_counts(w);
        w.end_object();
        w.end_object();
    }
}

impl Comparison {
    fn write_counts(&self, w: &mut Writer<'_>) {
        let summary = self.summary();
        for (name, count) in [
            ("added", summary.added),
            ("changed", summary.changed),
            ("contradiction", summary.contradiction),
            ("removed", summary.removed),
            ("unchanged", summary.unchanged),
            ("unknown", summary.unknown),
        ] {
            w.member(name, count);
        }
    }
}

impl Drafted for Comparison {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: None,
            provider: PROVIDER,
            predicate_type: "rea.artifact-comparison",
            operation: "compare_artifacts",
            parameters: &Sides(self),
            normalized_result: &ResultOf(self),
            confidence: Confidence::Derived,
            authority: Authority::AnalystInference,
            limitations: &without_subject(self.limitations()),
            locations: &Vec::<String>::new(),
            evidence_links: &self.links(),
        })
    }
}
