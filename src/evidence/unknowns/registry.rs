//! Mutations: what a caller asks for, the record of it, and the revision that
//! it makes. Nothing here touches files.

use super::model::{
    Probe, Relationship, RequiredEnvironment, Resolution, Revision, Severity, UnknownId,
    UnknownStatus, Unknowns,
};
use super::parse::broken_invariants;
use super::words::{collapsed, trimmed};
use crate::digest::Digest;
use crate::error::{Category, Code, Error, Result};
use crate::evidence::{
    Authority, Confidence, Creation, Evidence, EvidenceId, NewSubject, Provider,
};
use crate::json::{Object, Text};

/// The predicate of records of mutations.
pub(in crate::evidence) const MUTATION_PREDICATE: &str = "rea.residual-unknown-mutation";

/// Stands in every record of a mutation. It is hashed and never changes.
pub(in crate::evidence) const MEANT_NOT_PROVEN: &str =
    "The registry holds what an analyst meant by this change; it is no proof of an answer.";

const REGISTRY: Provider = Provider {
    id: "rea-unknown-registry",
    name: "REA residual unknown registry",
    version: "1",
};

/// A question to record.
#[derive(Clone, Debug)]
pub struct NewUnknown {
    /// The question.
    pub question: Text,
    /// How much depends on it.
    pub severity: Severity,
    /// The field it belongs to.
    pub domain: Text,
    /// What an answer must rest on; `None` is anything.
    pub required_authority: Option<Authority>,
    /// How an answer must have been reached, at least.
    pub required_confidence: Confidence,
    /// Where an answer must come from; `None` is anywhere.
    pub required_environment: Option<RequiredEnvironment>,
    /// What may help.
    pub recommended_probes: Vec<Probe>,
    /// Links to other unknowns.
    pub relationships: Vec<Relationship>,
    /// Records that speak for an answer.
    pub supporting_evidence_ids: Vec<EvidenceId>,
    /// Records that speak against it; with any, it starts as contradicted.
    pub contradicting_evidence_ids: Vec<EvidenceId>,
}

/// The complete replacement of what can change in an unknown.
#[derive(Clone, Debug)]
pub struct UnknownUpdate {
    /// The unknown.
    pub unknown_id: UnknownId,
    /// The newest revision that the caller has seen.
    pub expected_revision: u64,
    /// How far it has come.
    pub status: UnknownStatus,
    /// How much depends on it.
    pub severity: Severity,
    /// Records that speak for an answer.
    pub supporting_evidence_ids: Vec<EvidenceId>,
    /// Records that speak against it.
    pub contradicting_evidence_ids: Vec<EvidenceId>,
    /// What an answer must rest on; `None` is anything.
    pub required_authority: Option<Authority>,
    /// How an answer must have been reached, at least.
    pub required_confidence: Confidence,
    /// Where an answer must come from; `None` is anywhere.
    pub required_environment: Option<RequiredEnvironment>,
    /// What may help.
    pub recommended_probes: Vec<Probe>,
    /// Links to other unknowns.
    pub relationships: Vec<Relationship>,
    /// Its end, exactly when `status` is resolved.
    pub resolution: Option<Resolution>,
}

/// What a mutation made.
#[derive(Clone, Debug)]
pub struct Mutated {
    /// The new head.
    pub revision: Revision,
    /// The record of the mutation.
    pub evidence: Evidence,
}

impl Mutated {
    /// The same, with the subject of its record called so.
    pub(in crate::evidence) fn shown_as(mut self, shown: Option<(Text, Text)>) -> Self {
        if let Some((name, local_path)) = shown {
            self.evidence = self.evidence.shown_as(name, local_path);
        }
        self
    }
}

impl NewUnknown {
    /// The first revision, whose mutation has the record `mutation`.
    pub fn revision(&self, scope: Option<Digest>, mutation: EvidenceId) -> Revision {
        let status = match self.contradicting_evidence_ids.is_empty() {
            true => UnknownStatus::Open,
            false => UnknownStatus::Contradicted,
        };
        let (domain, question) = (trimmed(&self.domain), collapsed(&self.question));
        finish(Revision {
            unknown_id: UnknownId::of(&domain, &question, scope),
            revision: 1,
            previous_revision_digest: None,
            revision_digest: Digest([0; 32]),
            scope_digest: scope,
            question,
            domain,
            status,
            severity: self.severity,
            supporting_evidence_ids: self.supporting_evidence_ids.clone(),
            contradicting_evidence_ids: self.contradicting_evidence_ids.clone(),
            required_authority: self.required_authority,
            required_confidence: self.required_confidence,
            required_environment: self.required_environment.clone(),
            recommended_probes: self.recommended_probes.clone(),
            relationships: self.relationships.clone(),
            resolution: None,
            mutation_evidence_ids: vec![mutation],
        })
    }

    fn evidence(&self, subject: Option<NewSubject>, limitation: &str) -> Evidence {
        let mut parameters = Object::new();
        parameters.insert("domain", trimmed(&self.domain));
        parameters.insert("severity", self.severity.as_str());
        let mut result = Object::new();
        result.insert("action", "record");
        result.insert("question", trimmed(&self.question));
        let authority = self.required_authority.map(Authority::as_str);
        result.insert("required_authority", authority);
        result.insert("required_confidence", self.required_confidence.as_str());
        let cited = [
            &self.supporting_evidence_ids,
            &self.contradicting_evidence_ids,
        ];
        record(
            "record_unknown",
            parameters,
            result,
            &cited,
            subject,
            limitation,
        )
    }
}

impl UnknownUpdate {
    /// The revision after `head`, whose mutation has the record `mutation`.
    pub fn revision(&self, head: &Revision, mutation: EvidenceId) -> Revision {
        let mut mutations = head.mutation_evidence_ids.clone();
        mutations.push(mutation);
        finish(Revision {
            unknown_id: head.unknown_id,
            revision: head.revision + 1,
            previous_revision_digest: Some(head.revision_digest),
            revision_digest: Digest([0; 32]),
            scope_digest: head.scope_digest,
            question: head.question.clone(),
            domain: head.domain.clone(),
            status: self.status,
            severity: self.severity,
            supporting_evidence_ids: self.supporting_evidence_ids.clone(),
            contradicting_evidence_ids: self.contradicting_evidence_ids.clone(),
            required_authority: self.required_authority,
            required_confidence: self.required_confidence,
            required_environment: self.required_environment.clone(),
            recommended_probes: self.recommended_probes.clone(),
            relationships: self.relationships.clone(),
            resolution: self.resolution.clone(),
            mutation_evidence_ids: mutations,
        })
    }

    fn evidence(&self, subject: Option<NewSubject>, limitation: &str) -> Evidence {
        let mut parameters = Object::new();
        parameters.insert("expected_revision", self.expected_revision);
        parameters.insert("unknown_id", self.unknown_id.to_string());
        let mut result = Object::new();
        result.insert("action", "update");
        result.insert("status", self.status.as_str());
        let resolution = self.resolution.as_ref().map(|end| &end.evidence_ids);
        let none = Vec::new();
        let cited = [
            &self.supporting_evidence_ids,
            &self.contradicting_evidence_ids,
            resolution.unwrap_or(&none),
        ];
        record(
            "update_unknown",
            parameters,
            result,
            &cited,
            subject,
            limitation,
        )
    }
}

/// Sorts what the contract sorts and computes the digest.
fn finish(mut revision: Revision) -> Revision {
    let sort = |ids: &mut Vec<EvidenceId>| {
        ids.sort_unstable();
        ids.dedup();
    };
    sort(&mut revision.supporting_evidence_ids);
    sort(&mut revision.contradicting_evidence_ids);
    sort(&mut revision.mutation_evidence_ids);
    if let Some(resolution) = &mut revision.resolution {
        sort(&mut resolution.evidence_ids);
    }
    revision
        .relationships
        .sort_unstable_by_key(Relationship::key);
    revision.revision_digest = revision.digest();
    revision
}

fn record(
    operation: &str,
    parameters: Object,
    result: Object,
    cited: &[&Vec<EvidenceId>],
    subject: Option<NewSubject>,
    limitation: &str,
) -> Evidence {
    let mut links: Vec<EvidenceId> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for id in cited.iter().copied().flatten() {
        if seen.insert(*id) {
            links.push(*id);
        }
    }
    let mut creation = Creation::new(operation, REGISTRY);
    creation.subject = subject;
    creation.predicate_type = MUTATION_PREDICATE.to_owned();
    creation.parameters = parameters;
    creation.normalized_result = result.into();
    creation.confidence = Confidence::Derived;
    creation.authority = Authority::AnalystInference;
    creation.limitations = vec![limitation.to_owned()];
    creation.evidence_links = links;
    Evidence::create(creation)
}

/// The first revision of a new unknown. Its references are not checked here.
pub(in crate::evidence) fn mutate_new(
    unknowns: &Unknowns,
    input: &NewUnknown,
    subject: Option<NewSubject>,
    limitation: &str,
) -> Result<Mutated> {
    check_probes("record_unknown", &input.recommended_probes)?;
    let scope = subject.as_ref().map(|subject| subject.sha256);
    let evidence = input.evidence(subject, limitation);
    let revision = input.revision(scope, evidence.id());
    if let Some(head) = unknowns.head(revision.unknown_id) {
        let message = format!(
            "This question is recorded already: {}, revision {}",
            head.unknown_id, head.revision
        );
        return Err(
            registry_error(Code::RevisionConflict, "already-exists", message)
                .action("Update it instead.")
                .detail("unknown_id", head.unknown_id.to_string())
                .detail("revision", head.revision),
        );
    }
    check_invariants(&revision)?;
    Ok(Mutated { revision, evidence })
}

/// The next revision of an unknown. Its references are not checked here.
pub(in crate::evidence) fn mutate_update(
    unknowns: &Unknowns,
    input: &UnknownUpdate,
    subject: Option<NewSubject>,
    limitation: &str,
) -> Result<Mutated> {
    check_probes("update_unknown", &input.recommended_probes)?;
    let id = input.unknown_id;
    let Some(head) = unknowns.head(id) else {
        return Err(not_found(id));
    };
    if head.revision != input.expected_revision {
        let message = format!(
            "{id} is at revision {}, not {}",
            head.revision, input.expected_revision
        );
        return Err(
            registry_error(Code::RevisionConflict, "revision-conflict", message)
                .action("Look at what changed, then update the revision that is there.")
                .detail("unknown_id", id.to_string())
                .detail("revision", head.revision)
                .detail("expected_revision", input.expected_revision),
        );
    }
    let evidence = input.evidence(subject, limitation);
    let revision = input.revision(head, evidence.id());
    check_invariants(&revision)?;
    Ok(Mutated { revision, evidence })
}

/// A probe is an operation to run, so it needs the name of one.
fn check_probes(operation: &str, probes: &[Probe]) -> Result<()> {
    match probes
        .iter()
        .any(|probe| trimmed(&probe.operation).as_bytes().is_empty())
    {
        true => Err(Error::invalid_request(
            operation,
            &["recommended_probes", "operation"],
            "invalid_value",
            "the operation of a probe is blank",
        )
        .action("Say which operation may help, such as `inspect_artifact`.")),
        false => Ok(()),
    }
}

fn check_invariants(revision: &Revision) -> Result<()> {
    let Some((member, what)) = broken_invariants(revision).into_iter().next() else {
        return Ok(());
    };
    let message = format!("The unknown cannot be so, because of {member}: {what}");
    Err(
        registry_error(Code::ExecutionFailure, "invalid-transition", message)
            .action(remedy(revision, member))
            .detail("member", member),
    )
}

/// What to do about what cannot be, by the member that it is about.
fn remedy(revision: &Revision, member: &str) -> &'static str {
    match member {
        "resolution" if revision.resolution.is_none() => {
            "Say how it is resolved: a disposition and a rationale (`--disposition`, `--rationale`)."
        }
        "resolution" if revision.status != UnknownStatus::Resolved => {
            "Leave the resolution out, or set the status to `resolved`."
        }
        "resolution" => "Name the record that verifies it (`--resolved-by ID`).",
        "contradicting_evidence_ids" if revision.contradicting_evidence_ids.is_empty() => {
            "Name the record that contradicts it (`--contradicting ID`), or choose another status."
        }
        "contradicting_evidence_ids" => "Name each record on one of the two sides alone.",
        "relationships" => {
            "Name each other unknown once for each type, and not the unknown itself."
        }
        _ => "Write a few words.",
    }
}

/// No unknown has this id.
pub(in crate::evidence) fn not_found(id: UnknownId) -> Error {
    let message = format!("There is no unknown {id}");
    registry_error(Code::ExecutionFailure, "not-found", message)
        .action("`rea list-unknowns` lists those that are there.")
        .detail("unknown_id", id.to_string())
}

/// An error of the registry; their category is always `execution_failure`.
pub(in crate::evidence) fn registry_error(
    code: Code,
    reason: &'static str,
    message: String,
) -> Error {
    Error::new(code, message)
        .in_category(Category::ExecutionFailure)
        .detail("reason", reason)
}
