//! Unknowns in the session's ledger.

use rea::Result;
use rea::evidence::{NewUnknown, Resolution, UnknownFilter, UnknownUpdate, Verdict};
use rea::json::{MAX_SAFE_INTEGER, Text};
use rea::mcp::{Arguments, Call, Reply};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Own, Takes};
use crate::bundle_options::{QuestionId, RecordId};
use crate::unknown_options::{
    Authority, Confidence, Disposition, Environment, Probe, Relationship, Severity, UnknownStatus,
    ids,
};

/// `record_unknown`.
pub const RECORD_UNKNOWN: Own = Own {
    schema: Record::schema,
    run: record,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Record {
    /// The question
    #[schemars(length(min = 1))]
    question: String,
    /// How much depends on it
    severity: Severity,
    /// The field it belongs to, such as `protocol`
    #[schemars(length(min = 1))]
    domain: String,
    /// What an answer must rest on; null for anything
    required_authority: Option<Authority>,
    /// How an answer must have been reached, at least
    required_confidence: Confidence,
    /// Where an answer must come from; null for anywhere
    required_environment: Option<Environment>,
    /// Operations that may help
    recommended_probes: Vec<Probe>,
    /// Links to other unknowns
    relationships: Vec<Relationship>,
    /// Retained records that speak for an answer
    #[serde(default)]
    supporting_evidence_ids: Vec<RecordId>,
    /// Retained records that speak against it
    #[serde(default)]
    contradicting_evidence_ids: Vec<RecordId>,
}

/// Members that may be null and must be there.
fn with_required(mut schema: serde_json::Value, names: &[&str]) -> serde_json::Value {
    if let Some(required) = schema
        .get_mut("required")
        .and_then(|list| list.as_array_mut())
    {
        for &name in names {
            if !required.iter().any(|one| one == name) {
                required.push(name.into());
            }
        }
    }
    schema
}

impl Takes for Record {
    const TOOL: &'static str = "record_unknown";

    fn schema() -> serde_json::Value {
        let schema = crate::tool::schema_of::<Self>(Self::TOOL);
        with_required(schema, &["required_authority", "required_environment"])
    }
}

fn record(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Record::read(arguments)?;
    let unknown = NewUnknown {
        question: given.question.as_str().into(),
        severity: given.severity.into(),
        domain: given.domain.as_str().into(),
        required_authority: given.required_authority.map(Into::into),
        required_confidence: given.required_confidence.into(),
        required_environment: given.required_environment.as_ref().map(Into::into),
        recommended_probes: given.recommended_probes.iter().map(Into::into).collect(),
        relationships: given.relationships.iter().map(Into::into).collect(),
        supporting_evidence_ids: ids(&given.supporting_evidence_ids),
        contradicting_evidence_ids: ids(&given.contradicting_evidence_ids),
    };
    let session = &call.session;
    let scope = session.scope();
    let mutated = session.ledger.change(Record::TOOL, |bundle| {
        bundle.record_unknown(&unknown, scope)
    })?;
    Ok(Reply::result(&mutated.revision))
}

/// `update_unknown`.
pub const UPDATE_UNKNOWN: Own = Own {
    schema: Update::schema,
    run: update,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    /// The unknown
    unknown_id: QuestionId,
    /// The newest revision that you have seen
    #[schemars(range(min = 1, max = MAX_SAFE_INTEGER))]
    expected_revision: u64,
    /// How far it has come
    status: UnknownStatus,
    /// How much depends on it
    severity: Severity,
    /// Retained records that speak for an answer
    supporting_evidence_ids: Vec<RecordId>,
    /// Retained records that speak against it
    contradicting_evidence_ids: Vec<RecordId>,
    /// What an answer must rest on; null for anything
    required_authority: Option<Authority>,
    /// How an answer must have been reached, at least
    required_confidence: Confidence,
    /// Where an answer must come from; null for anywhere
    required_environment: Option<Environment>,
    /// Operations that may help
    recommended_probes: Vec<Probe>,
    /// Links to other unknowns
    relationships: Vec<Relationship>,
    /// Its end, exactly when `status` is `resolved`
    resolution: Option<End>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct End {
    /// How it ended
    disposition: Disposition,
    /// Why
    rationale: String,
    /// Records that resolve it
    evidence_ids: Vec<RecordId>,
}

impl Takes for Update {
    const TOOL: &'static str = "update_unknown";

    fn schema() -> serde_json::Value {
        let schema = crate::tool::schema_of::<Self>(Self::TOOL);
        let names = ["required_authority", "required_environment", "resolution"];
        with_required(schema, &names)
    }
}

fn update(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Update::read(arguments)?;
    let update = UnknownUpdate {
        unknown_id: given.unknown_id.0,
        expected_revision: given.expected_revision,
        status: given.status.into(),
        severity: given.severity.into(),
        supporting_evidence_ids: ids(&given.supporting_evidence_ids),
        contradicting_evidence_ids: ids(&given.contradicting_evidence_ids),
        required_authority: given.required_authority.map(Into::into),
        required_confidence: given.required_confidence.into(),
        required_environment: given.required_environment.as_ref().map(Into::into),
        recommended_probes: given.recommended_probes.iter().map(Into::into).collect(),
        relationships: given.relationships.iter().map(Into::into).collect(),
        resolution: given.resolution.map(|end| Resolution {
            disposition: end.disposition.into(),
            rationale: end.rationale.as_str().into(),
            evidence_ids: ids(&end.evidence_ids),
        }),
    };
    let session = &call.session;
    let scope = session.scope();
    let mutated = session
        .ledger
        .change(Update::TOOL, |bundle| bundle.update_unknown(&update, scope))?;
    Ok(Reply::result(&mutated.revision))
}

/// `list_unknowns`.
pub const LIST_UNKNOWNS: Own = Own {
    schema: List::schema,
    run: list,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only those that have come so far
    #[serde(default)]
    status: Option<UnknownStatus>,
    /// Only those on which so much depends
    #[serde(default)]
    severity: Option<Severity>,
    /// Only those of this field
    #[serde(default)]
    domain: Option<String>,
    /// Matches to pass over
    #[serde(default)]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    offset: u64,
    /// Matches to list; all where it is left out
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_SAFE_INTEGER))]
    limit: Option<u64>,
}

impl Takes for List {
    const TOOL: &'static str = "list_unknowns";
}

fn list(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = List::read(arguments)?;
    let bundle = call.session.ledger.bundle();
    let listing = bundle.unknowns().list(&UnknownFilter {
        status: given.status.map(Into::into),
        severity: given.severity.map(Into::into),
        domain: given.domain.as_deref().map(Text::from),
        offset: given.offset,
        limit: given.limit,
    });
    Ok(Reply::result(&listing))
}

/// `verify_unknown_resolution`.
pub const VERIFY_RESOLUTION: Own = Own {
    schema: Verify::schema,
    run: verify,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Verify {
    /// The unknown
    unknown_id: QuestionId,
}

impl Takes for Verify {
    const TOOL: &'static str = "verify_unknown_resolution";
}

fn verify(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Verify::read(arguments)?;
    let bundle = call.session.ledger.bundle();
    let verdict = Verdict(bundle.unknown(given.unknown_id.0)?);
    Ok(Reply::result(&verdict))
}
