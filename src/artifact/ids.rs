//! Identity recipes (artifacts 3) that whoever makes a record and whoever
//! checks one have in common.

use crate::digest::Digest;
use crate::evidence::EvidenceId;
use crate::json::Writer;

/// `edge_`: the relation of an occurrence to the artifact it is in or comes
/// from. `path` is WTF-8.
pub(crate) fn edge(
    child: &Digest,
    path: &[u8],
    occurrence: &Digest,
    parent: &Digest,
    relation: &str,
) -> Digest {
    Digest::of_json(|w| {
        w.begin_object();
        w.key("child_artifact_id");
        w.id("art_", child);
        w.key("logical_path");
        w.text(path);
        w.key("occurrence_id");
        w.id("occ_", occurrence);
        w.key("parent_artifact_id");
        w.id("art_", parent);
        w.member("relation", relation);
        w.end_object();
    })
}

/// `ic_`: a member that is not what its container declares. `path` is WTF-8.
pub(crate) fn contradiction(
    declared: &Digest,
    path: &[u8],
    observed: &Digest,
    root: &Digest,
) -> Digest {
    Digest::of_json(|w| {
        w.begin_object();
        w.key("declared_sha256");
        w.id("", declared);
        w.key("logical_path");
        w.text(path);
        w.key("observed_sha256");
        w.id("", observed);
        w.key("root_artifact_id");
        w.id("art_", root);
        w.end_object();
    })
}

/// The `substeps` of a record that rests on one other: the step's `operation`,
/// and the record that it made, under its id `evidence`.
pub(super) fn write_substeps(
    operation: &str,
    evidence: EvidenceId,
    record: impl FnOnce(&mut Writer<'_>),
    w: &mut Writer<'_>,
) {
    let substep = Digest::of_json(|w| {
        w.begin_object();
        w.member("evidence_id", evidence);
        w.member("operation", operation);
        w.end_object();
    });
    w.begin_array();
    w.begin_object();
    w.key("evidence");
    record(w);
    w.member("evidence_id", evidence);
    w.member("operation", operation);
    w.member("status", "completed");
    w.key("substep_id");
    w.id("ais_", &substep);
    w.end_object();
    w.end_array();
}
