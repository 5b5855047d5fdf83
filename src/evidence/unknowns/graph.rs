//! What must hold across the revisions of all unknowns and the records that
//! they cite (evidence.md section 5, "Graph").

use std::collections::{BTreeMap, HashSet};

use super::model::{Disposition, RelationKind, RequiredEnvironment, Revision, UnknownId, Unknowns};
use crate::digest::Digest;
use crate::evidence::path::Pointer;
use crate::evidence::problem::{Problem, Reason, Stage};
use crate::evidence::{Authority, Confidence, EvidenceId};
use crate::json::Text;

/// What the checks need to know of a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::evidence) struct Cited<'a> {
    pub authority: Authority,
    pub confidence: Confidence,
    /// Whether the record is of a mutation of the registry.
    pub mutation: bool,
    /// SHA-256 of its subject.
    pub subject: Option<Digest>,
    /// `id`, `platform`, `architecture` and `isolation`, where it has one.
    pub environment: Option<[&'a Text; 4]>,
}

/// Checks everything; `lookup` finds records. Problems name the revision's
/// place in the array `unknowns` of the bundle.
pub(in crate::evidence) fn check<'a>(
    unknowns: &Unknowns,
    lookup: &dyn Fn(EvidenceId) -> Option<Cited<'a>>,
    found: &mut dyn FnMut(Problem),
) {
    let mut index = 0;
    for id in unknowns.ids() {
        let mut previous: Option<&Revision> = None;
        for revision in unknowns.history(id) {
            let at = Pointer::default().member("unknowns").element(index);
            index += 1;
            let mut fail = |stage, member: &str, message: String| {
                found(Problem {
                    pointer: at.clone().member(member),
                    stage,
                    reason: Reason::InvalidValue,
                    message,
                });
            };
            check_chain(previous, revision, &mut fail);
            check_references(unknowns, revision, lookup, &mut fail);
            check_mutations(revision, lookup, &mut fail);
            previous = Some(revision);
        }
    }
    for id in in_circles(unknowns) {
        let pointer = Pointer::default().member("unknowns");
        found(Problem {
            pointer,
            stage: Stage::UnknownCycle,
            reason: Reason::InvalidValue,
            message: format!("{id} depends on itself by way of others"),
        });
    }
}

type Fail<'a> = &'a mut dyn FnMut(Stage, &str, String);

fn check_chain(previous: Option<&Revision>, revision: &Revision, fail: Fail<'_>) {
    let expected = previous.map_or(1, |previous| previous.revision + 1);
    if revision.revision != expected {
        let message = format!(
            "revision {expected} of {} is not there",
            revision.unknown_id
        );
        fail(Stage::UnknownGap, "revision", message);
        return;
    }
    let Some(previous) = previous else { return };
    if revision.previous_revision_digest != Some(previous.revision_digest) {
        let message = "it does not name the digest of the revision before it".to_owned();
        fail(Stage::UnknownChain, "previous_revision_digest", message);
    }
    // They accumulate; both are sorted.
    let mutations = &revision.mutation_evidence_ids;
    let kept = |id: &EvidenceId| mutations.binary_search(id).is_ok();
    if !previous.mutation_evidence_ids.iter().all(kept) {
        let message = "it lacks a mutation of the revision before it".to_owned();
        fail(Stage::UnknownChain, "mutation_evidence_ids", message);
    }
    // Domain and scope are in the id; of the question only the words are.
    if revision.question != previous.question {
        let message = "the question of an unknown never changes".to_owned();
        fail(Stage::UnknownChain, "question", message);
    }
}

fn check_references<'a>(
    unknowns: &Unknowns,
    revision: &Revision,
    lookup: &dyn Fn(EvidenceId) -> Option<Cited<'a>>,
    fail: Fail<'_>,
) {
    for (member, ids) in [
        ("supporting_evidence_ids", &revision.supporting_evidence_ids),
        (
            "contradicting_evidence_ids",
            &revision.contradicting_evidence_ids,
        ),
        ("mutation_evidence_ids", &revision.mutation_evidence_ids),
    ]
    .into_iter()
    .chain(
        revision
            .resolution
            .iter()
            .map(|end| ("resolution", &end.evidence_ids)),
    ) {
        for id in ids {
            if lookup(*id).is_none() {
                let message = format!("the record {id} is not there");
                fail(Stage::UnknownMissingEvidence, member, message);
            }
        }
    }
    for relationship in &revision.relationships {
        if unknowns.head(relationship.unknown_id).is_none() {
            let message = format!("the unknown {} is not there", relationship.unknown_id);
            fail(Stage::UnknownMissingUnknown, "relationships", message);
        }
    }
    if let Some(message) = unqualified(revision, lookup) {
        fail(Stage::UnknownUnqualified, "resolution", message.to_owned());
    }
}

/// Mutations are records of the registry. That of the first revision is about
/// the artifact of the unknown; a later one may be about none.
fn check_mutations<'a>(
    revision: &Revision,
    lookup: &dyn Fn(EvidenceId) -> Option<Cited<'a>>,
    fail: Fail<'_>,
) {
    let member = "mutation_evidence_ids";
    for id in &revision.mutation_evidence_ids {
        let Some(record) = lookup(*id) else { continue };
        if !record.mutation {
            let message = format!("the record {id} is of no mutation");
            fail(Stage::UnknownChain, member, message);
        }
        let scope = revision.scope_digest;
        let silent = revision.revision > 1 && (record.subject.is_none() || scope.is_none());
        if record.subject != scope && !silent {
            let message = format!("the mutation {id} is about another artifact than the unknown");
            fail(Stage::UnknownChain, member, message);
        }
    }
}

/// Why the revision's verified resolution does not hold.
fn unqualified<'a>(
    revision: &Revision,
    lookup: &dyn Fn(EvidenceId) -> Option<Cited<'a>>,
) -> Option<&'static str> {
    let resolution = revision.resolution.as_ref()?;
    if resolution.disposition != Disposition::Verified {
        return None;
    }
    if !revision.contradicting_evidence_ids.is_empty() {
        return Some("a verified resolution must not have contradicting records");
    }
    let supporting: HashSet<_> = revision.supporting_evidence_ids.iter().collect();
    let qualifies = |id: &EvidenceId| {
        supporting.contains(id) && lookup(*id).is_some_and(|record| meets(revision, &record))
    };
    let any = resolution.evidence_ids.iter().any(qualifies);
    (!any).then_some(
        "no record of the verified resolution is supporting, is no mutation and has the \
         required authority, confidence and environment",
    )
}

fn meets(revision: &Revision, record: &Cited<'_>) -> bool {
    let rank = |confidence| match confidence {
        Confidence::Inferred => 0,
        Confidence::Derived => 1,
        Confidence::Observed => 2,
    };
    let authority = revision.required_authority;
    !record.mutation
        && authority.is_none_or(|required| record.authority == required)
        && rank(record.confidence) >= rank(revision.required_confidence)
        && revision
            .required_environment
            .as_ref()
            .is_none_or(|required| {
                record
                    .environment
                    .is_some_and(|found| matches(required, found))
            })
}

fn matches(required: &RequiredEnvironment, found: [&Text; 4]) -> bool {
    let required = [
        &required.id,
        &required.platform,
        &required.architecture,
        &required.isolation,
    ];
    required
        .into_iter()
        .zip(found)
        .all(|(required, found)| required.as_ref().is_none_or(|required| required == found))
}

/// Unknowns that are left once those without dependencies have been taken
/// away, again and again: those in a circle, and those that lead to one.
fn in_circles(unknowns: &Unknowns) -> Vec<UnknownId> {
    let mut dependants: BTreeMap<UnknownId, Vec<UnknownId>> = BTreeMap::new();
    let mut waiting: BTreeMap<UnknownId, usize> = BTreeMap::new();
    for head in unknowns.heads() {
        let dependencies = head
            .relationships
            .iter()
            .filter(|one| one.kind == RelationKind::DependsOn)
            .filter(|one| unknowns.head(one.unknown_id).is_some());
        for one in dependencies {
            dependants
                .entry(one.unknown_id)
                .or_default()
                .push(head.unknown_id);
            *waiting.entry(head.unknown_id).or_default() += 1;
        }
    }
    let mut free: Vec<UnknownId> = unknowns
        .ids()
        .filter(|id| !waiting.contains_key(id))
        .collect();
    while let Some(id) = free.pop() {
        for dependant in dependants.remove(&id).unwrap_or_default() {
            if let Some(count) = waiting.get_mut(&dependant) {
                *count -= 1;
                if *count == 0 {
                    waiting.remove(&dependant);
                    free.push(dependant);
                }
            }
        }
    }
    waiting.into_keys().collect()
}
