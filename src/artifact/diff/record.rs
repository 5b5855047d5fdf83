//! The difference as a record.

use super::sizes::{Amount, Category};
use super::{Diff, PROVIDER};
use crate::artifact::compare::record::{Sides, occurrence, without_subject, write_id};
use crate::artifact::ids;
use crate::artifact::retained::Retained;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, Record};
use crate::json::{WriteJson, Writer};

impl Diff {
    pub(super) fn seal(&mut self) {
        self.id = self.with_draft(|draft| draft.id());
    }

    fn write_moves(&self, w: &mut Writer<'_>) {
        let (left, right) = (self.comparison.left(), self.comparison.right());
        w.begin_array();
        for one in &self.moves {
            w.begin_object();
            w.key("artifact_id");
            write_id("art_", left.artifact(one.left), w);
            w.key("dimensions");
            w.begin_array();
            for name in one.dimensions.names() {
                w.string(name);
            }
            w.end_array();
            w.member("from", left.path(one.left));
            w.key("left_occurrence_id");
            write_id("occ_", occurrence(left, one.left), w);
            w.key("right_occurrence_id");
            write_id("occ_", occurrence(right, one.right), w);
            w.member("size", left.node(one.left).map(|node| node.size));
            w.member("to", right.path(one.right));
            w.end_object();
        }
        w.end_array();
    }

    fn write_sizes(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("by_format");
        write_categories("format", self.by_format(), w);
        w.key("by_kind");
        write_categories("kind", self.by_kind(), w);
        w.key("largest_changes");
        w.begin_array();
        for (path, left, right) in self.largest() {
            w.begin_object();
            w.member("left_bytes", left);
            w.member("logical_path", path);
            w.member("right_bytes", right);
            w.end_object();
        }
        w.end_array();
        w.key("total");
        let [left, right] = self.total();
        w.begin_object();
        w.member("left", left);
        w.member("right", right);
        w.end_object();
        w.end_object();
    }

    /// The comparison as a step of its own, as an inspection has its
    /// inventory.
    fn write_substeps(&self, w: &mut Writer<'_>) {
        let record = |w: &mut Writer<'_>| self.comparison.write_record(w);
        ids::write_substeps("compare_artifacts", self.comparison.id(), record, w);
    }

    fn write_summary(&self, w: &mut Writer<'_>) {
        let summary = self.comparison.summary();
        w.begin_object();
        for (name, count) in [
            ("added", summary.added),
            ("changed", summary.changed),
            ("contradiction", summary.contradiction),
            ("moved", self.moved()),
            ("removed", summary.removed),
            ("unchanged", summary.unchanged),
            ("unknown", summary.unknown),
        ] {
            w.member(name, count);
        }
        w.end_object();
    }
}

fn write_side(side: &Retained, w: &mut Writer<'_>) {
    let manifest = side.manifest();
    w.begin_object();
    w.key("coverage");
    w.begin_object();
    w.member("scope", side.coverage_scope());
    w.member("status", side.coverage_status());
    w.end_object();
    w.member("evidence_id", side.evidence_id());
    w.key("manifest_id");
    w.id("agm_", &manifest.manifest_id);
    w.member("occurrence_count", manifest.occurrence_count);
    w.key("root_artifact_id");
    w.id("art_", &manifest.root_artifact_id);
    w.member("root_format", side.root_format());
    w.key("root_sha256");
    w.id("", &side.root_sha256());
    w.end_object();
}

fn write_categories<'a>(
    what: &str,
    categories: impl Iterator<Item = Category<'a>>,
    w: &mut Writer<'_>,
) {
    w.begin_array();
    for category in categories {
        w.begin_object();
        // `format` and `kind` both sort before `left`.
        w.member(what, category.name);
        w.member("left", category.left);
        w.member("right", category.right);
        w.end_object();
    }
    w.end_array();
}

impl WriteJson for Amount {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("bytes", self.bytes);
        let compressed_bytes = (self.compressed_entries > 0).then_some(self.compressed_bytes);
        w.member("compressed_bytes", compressed_bytes);
        w.member("compressed_entries", self.compressed_entries);
        w.member("entries", self.entries);
        w.end_object();
    }
}

/// `parameters`: the records that are compared, and whether members were
/// opened.
struct Parameters<'a>(&'a Diff);

impl WriteJson for Parameters<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let diff = self.0;
        w.begin_object();
        if diff.deep.is_some() {
            w.member("deep", true);
        }
        Sides(&diff.comparison).write_members(w);
        w.end_object();
    }
}

struct ResultOf<'a>(&'a Diff);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let diff = self.0;
        w.begin_object();
        if let Some(deep) = &diff.deep {
            w.member("deep", deep);
        }
        w.member("evidence_links", [diff.comparison.id()]);
        w.key("left");
        write_side(diff.comparison.left(), w);
        w.member("limitations", diff.limitations());
        w.key("moves");
        diff.write_moves(w);
        w.key("right");
        write_side(diff.comparison.right(), w);
        w.key("sizes");
        diff.write_sizes(w);
        w.member("status", diff.status().as_str());
        w.key("substeps");
        diff.write_substeps(w);
        w.key("summary");
        diff.write_summary(w);
        w.end_object();
    }
}

impl Drafted for Diff {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        let [left, right] = self.comparison.links();
        use_it(&Draft {
            subject: None,
            provider: PROVIDER,
            predicate_type: "rea.artifact-diff",
            operation: "diff_artifacts",
            parameters: &Parameters(self),
            normalized_result: &ResultOf(self),
            confidence: Confidence::Derived,
            authority: Authority::AnalystInference,
            limitations: &without_subject(self.limitations()),
            locations: &Vec::<String>::new(),
            evidence_links: &[left, right, self.comparison.id()],
        })
    }
}
