//! Revisions as bundles hold them: shape, invariants, digest and id.

use std::collections::BTreeSet;

use super::model::{
    Disposition, Probe, RelationKind, Relationship, RequiredEnvironment, Resolution, Revision,
    Severity, UnknownId, UnknownStatus,
};
use super::words::trimmed;
use crate::digest::Digest;
use crate::evidence::path::Pointer;
use crate::evidence::problem::{Problem, Reason, Stage};
use crate::evidence::rules::{AUTHORITIES, CONFIDENCES, ISOLATIONS, Rule, Shape, check_value};
use crate::evidence::{Authority, Confidence, EvidenceId};
use crate::json::{Text, Value};

const EVIDENCE_IDS: Rule = Rule::List(&Rule::Id("ev_"));

static UNKNOWN: Shape = Shape {
    name: "a revision of an unknown",
    members: &[
        ("contradicting_evidence_ids", EVIDENCE_IDS),
        ("domain", Rule::NonEmpty),
        ("mutation_evidence_ids", EVIDENCE_IDS),
        ("previous_revision_digest", Rule::IdOrNull("")),
        ("question", Rule::NonEmpty),
        ("recommended_probes", Rule::List(&Rule::Object(&PROBE))),
        ("relationships", Rule::List(&Rule::Object(&RELATIONSHIP))),
        ("required_authority", Rule::WordOrNull(AUTHORITIES)),
        ("required_confidence", Rule::Word(CONFIDENCES)),
        (
            "required_environment",
            Rule::ObjectOrNull(&REQUIRED_ENVIRONMENT),
        ),
        ("resolution", Rule::ObjectOrNull(&RESOLUTION)),
        ("revision", Rule::Ordinal),
        ("revision_digest", Rule::Id("")),
        ("scope_digest", Rule::IdOrNull("")),
        ("severity", Rule::Word(Severity::NAMES)),
        ("status", Rule::Word(UnknownStatus::NAMES)),
        ("supporting_evidence_ids", EVIDENCE_IDS),
        ("unknown_id", Rule::Id("unk_")),
    ],
};

static PROBE: Shape = Shape {
    name: "a recommended probe",
    members: &[("operation", Rule::NonEmpty), ("rationale", Rule::Text)],
};

static RELATIONSHIP: Shape = Shape {
    name: "a relationship",
    members: &[
        ("type", Rule::Word(RelationKind::NAMES)),
        ("unknown_id", Rule::Id("unk_")),
    ],
};

static REQUIRED_ENVIRONMENT: Shape = Shape {
    name: "required_environment",
    members: &[
        ("architecture", Rule::NonEmptyOrNull),
        ("id", Rule::NonEmptyOrNull),
        ("isolation", Rule::WordOrNull(ISOLATIONS)),
        ("platform", Rule::NonEmptyOrNull),
    ],
};

static RESOLUTION: Shape = Shape {
    name: "resolution",
    members: &[
        ("disposition", Rule::Word(Disposition::NAMES)),
        ("evidence_ids", EVIDENCE_IDS),
        ("rationale", Rule::Text),
    ],
};

/// Reads a revision from an element of a bundle at `at`. Problems go to
/// `found`; `None` where its shape is wrong.
pub(in crate::evidence) fn read_revision(
    value: &Value,
    at: &Pointer,
    found: &mut dyn FnMut(Problem),
) -> Option<Revision> {
    let mut good = true;
    check_value(&Rule::Object(&UNKNOWN), value, at, &mut |finding| {
        good = false;
        let (pointer, reason, message) = finding;
        found(problem(pointer, Stage::Shape, reason, message));
    });
    if !good {
        return None;
    }
    // The shape is right, so that nothing is missing.
    let revision = convert(value)?;
    let mut fail = |stage, member: &str, message: &str| {
        let pointer = at.clone().member(member);
        found(problem(
            pointer,
            stage,
            Reason::InvalidValue,
            message.to_owned(),
        ));
    };
    for (member, message) in broken_invariants(&revision) {
        fail(Stage::UnknownInvariant, member, message);
    }
    if revision.digest() != revision.revision_digest {
        let message = "revision_digest is not the hash of the revision";
        fail(Stage::UnknownDigest, "revision_digest", message);
    }
    let id = UnknownId::of(&revision.domain, &revision.question, revision.scope_digest);
    if id != revision.unknown_id {
        let message = "unknown_id is not the hash of domain, question and scope_digest";
        fail(Stage::UnknownDigest, "unknown_id", message);
    }
    Some(revision)
}

fn problem(pointer: Pointer, stage: Stage, reason: Reason, message: String) -> Problem {
    Problem {
        pointer,
        stage,
        reason,
        message,
    }
}

/// What does not hold within a revision: the member, and what it should be.
pub(super) fn broken_invariants(revision: &Revision) -> Vec<(&'static str, &'static str)> {
    let mut broken = Vec::new();
    let mut must = |holds: bool, member, message| {
        if !holds {
            broken.push((member, message));
        }
    };
    let resolved = revision.status == UnknownStatus::Resolved;
    must(
        resolved == revision.resolution.is_some(),
        "resolution",
        "an unknown has a resolution exactly when its status is resolved",
    );
    must(
        revision.status != UnknownStatus::Contradicted
            || !revision.contradicting_evidence_ids.is_empty(),
        "contradicting_evidence_ids",
        "a contradicted unknown needs a contradicting record",
    );
    let verified_by =
        |end: &Resolution| end.disposition != Disposition::Verified || !end.evidence_ids.is_empty();
    must(
        revision.resolution.as_ref().is_none_or(verified_by),
        "resolution",
        "a verified resolution needs a record",
    );
    must(
        (revision.revision == 1) == revision.previous_revision_digest.is_none(),
        "previous_revision_digest",
        "it is null exactly for revision 1",
    );
    must(
        !revision.mutation_evidence_ids.is_empty(),
        "mutation_evidence_ids",
        "the record of a mutation is needed",
    );
    for (member, text) in [
        ("question", &revision.question),
        ("domain", &revision.domain),
    ] {
        let same = !text.as_bytes().is_empty() && trimmed(text) == *text;
        must(same, member, "it must be trimmed and not empty");
    }
    let ids = revision
        .resolution
        .iter()
        .map(|end| ("resolution", &end.evidence_ids));
    for (member, ids) in ids.chain([
        ("supporting_evidence_ids", &revision.supporting_evidence_ids),
        (
            "contradicting_evidence_ids",
            &revision.contradicting_evidence_ids,
        ),
        ("mutation_evidence_ids", &revision.mutation_evidence_ids),
    ]) {
        let sorted = ids.is_sorted_by(|a, b| a < b);
        must(sorted, member, "ids must be sorted, each there once");
    }
    let supporting: BTreeSet<_> = revision.supporting_evidence_ids.iter().collect();
    must(
        !revision
            .contradicting_evidence_ids
            .iter()
            .any(|id| supporting.contains(id)),
        "contradicting_evidence_ids",
        "a record cannot both support and contradict",
    );
    must(
        revision
            .relationships
            .is_sorted_by(|a, b| a.key() < b.key()),
        "relationships",
        "relationships must be sorted by type and id, each there once",
    );
    must(
        revision
            .relationships
            .iter()
            .all(|one| one.unknown_id != revision.unknown_id),
        "relationships",
        "an unknown cannot relate to itself",
    );
    broken
}

fn convert(value: &Value) -> Option<Revision> {
    let get = |name: &str| value.get(name);
    let number = match get("revision")? {
        // Checked to be whole and small enough.
        Value::Number(number) => *number as u64,
        _ => return None,
    };
    let environment = match get("required_environment")? {
        Value::Null => None,
        pattern => Some(RequiredEnvironment {
            id: pattern.get("id").and_then(text),
            platform: pattern.get("platform").and_then(text),
            architecture: pattern.get("architecture").and_then(text),
            isolation: pattern.get("isolation").and_then(text),
        }),
    };
    let resolution = match get("resolution")? {
        Value::Null => None,
        end => Some(Resolution {
            disposition: Disposition::from_name(end.get("disposition")?.as_str()?)?,
            rationale: text(end.get("rationale")?)?,
            evidence_ids: ids(end.get("evidence_ids")?)?,
        }),
    };
    let probes = get("recommended_probes")?.as_array()?.iter();
    let relationships = get("relationships")?.as_array()?.iter();
    Some(Revision {
        unknown_id: UnknownId::from_text(get("unknown_id")?.as_str()?.as_bytes())?,
        revision: number,
        previous_revision_digest: get("previous_revision_digest").and_then(digest),
        revision_digest: digest(get("revision_digest")?)?,
        scope_digest: get("scope_digest").and_then(digest),
        question: text(get("question")?)?,
        domain: text(get("domain")?)?,
        status: UnknownStatus::from_name(get("status")?.as_str()?)?,
        severity: Severity::from_name(get("severity")?.as_str()?)?,
        supporting_evidence_ids: ids(get("supporting_evidence_ids")?)?,
        contradicting_evidence_ids: ids(get("contradicting_evidence_ids")?)?,
        required_authority: get("required_authority")?
            .as_str()
            .and_then(Authority::from_name),
        required_confidence: Confidence::from_name(get("required_confidence")?.as_str()?)?,
        required_environment: environment,
        recommended_probes: probes.map(probe).collect::<Option<_>>()?,
        relationships: relationships.map(relationship).collect::<Option<_>>()?,
        resolution,
        mutation_evidence_ids: ids(get("mutation_evidence_ids")?)?,
    })
}

fn text(value: &Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn digest(value: &Value) -> Option<Digest> {
    Digest::from_hex(value.as_str()?.as_bytes())
}

fn ids(value: &Value) -> Option<Vec<EvidenceId>> {
    let id = |item: &Value| EvidenceId::from_text(item.as_str()?.as_bytes());
    value.as_array()?.iter().map(id).collect()
}

fn probe(value: &Value) -> Option<Probe> {
    Some(Probe {
        operation: text(value.get("operation")?)?,
        rationale: text(value.get("rationale")?)?,
    })
}

fn relationship(value: &Value) -> Option<Relationship> {
    Some(Relationship {
        kind: RelationKind::from_name(value.get("type")?.as_str()?)?,
        unknown_id: UnknownId::from_text(value.get("unknown_id")?.as_str()?.as_bytes())?,
    })
}
