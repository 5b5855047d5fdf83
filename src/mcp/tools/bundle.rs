//! `get_evidence_bundle`, `export_evidence_bundle`, `import_evidence_bundle`:
//! the session's records as a bundle.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::tool::{Effects, Reply, Tool};
use super::{result, session_tool};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{EvidenceId, SummaryFilter};
use crate::json::{Text, WriteJson, Writer};
use crate::operation::Context;
use crate::publish::display_path;

/// How much of the bundle, and which of its records.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// The complete bundle, or a list of its records
    #[serde(default)]
    detail: Detail,
    /// Only records of which all of these hold; with `detail` `summary`
    #[serde(default)]
    filters: Option<Filters>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Detail {
    #[default]
    Complete,
    Summary,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filters {
    /// The record's id
    #[serde(default)]
    #[schemars(regex(pattern = "^ev_[a-f0-9]{64}$"))]
    evidence_id: Option<String>,
    /// What made it
    #[serde(default)]
    #[schemars(length(min = 1))]
    operation: Option<String>,
    /// SHA-256 of what it is about
    #[serde(default)]
    #[schemars(regex(pattern = "^[a-f0-9]{64}$"))]
    target_sha256: Option<String>,
    /// Digest of its analysis profile
    #[serde(default)]
    #[schemars(regex(pattern = "^[a-f0-9]{64}$"))]
    analysis_profile_digest: Option<String>,
    /// Address of the procedure that it is about
    #[serde(default)]
    #[schemars(length(min = 1))]
    procedure_address: Option<String>,
}

const GET: &str = "get_evidence_bundle";

pub(super) fn get() -> Tool {
    let description = "Deliver everything that the session retains as one bundle, or a list of its \
records by id, operation, target and provider (`detail` `summary`).";
    session_tool(GET, description, Effects::IDEMPOTENT, |input: Get, call| {
        let context = call.context(GET);
        let bundle = call.session.ledger.bundle();
        let mut text = Vec::new();
        let mut w = Writer::canonical(&mut text);
        match (input.detail, input.filters) {
            (Detail::Complete, None) => bundle.write(&context, &mut w)?,
            (Detail::Complete, Some(_)) => {
                let message = "filters choose records of a summary; the complete bundle has all";
                return Err(
                    Error::invalid_request(GET, &["filters"], "invalid_value", message)
                        .action("Give detail `summary`, or leave filters out."),
                );
            }
            (Detail::Summary, filters) => {
                let filter = filters.map(filter).unwrap_or_default();
                bundle.summary(filter).write_json(&mut w);
            }
        }
        w.finish_infallible();
        Ok(Reply::Result(text.into()))
    })
}

fn filter(filters: Filters) -> SummaryFilter {
    let digest = |text: Option<String>| text.and_then(|text| Digest::from_hex(text.as_bytes()));
    let text = |text: Option<String>| text.map(|text| Text::from(text.as_str()));
    SummaryFilter {
        evidence_id: filters
            .evidence_id
            .and_then(|id| EvidenceId::from_text(id.as_bytes())),
        operation: text(filters.operation),
        target_sha256: digest(filters.target_sha256),
        analysis_profile_digest: digest(filters.analysis_profile_digest),
        procedure_address: text(filters.procedure_address),
    }
}

/// Where to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Export {
    /// The file to write
    #[schemars(length(min = 1))]
    path: String,
    /// Replace the file where it is there
    #[serde(default)]
    overwrite: bool,
}

const EXPORT: &str = "export_evidence_bundle";

pub(super) fn export() -> Tool {
    let description = "Write everything that the session retains to a file, as a bundle that \
`rea verify-evidence` checks and import_evidence_bundle takes. The file is complete or not there.";
    let effects = Effects::WRITES_FILESYSTEM
        .and(Effects::MAY_DISCARD_DATA)
        .and(Effects::IDEMPOTENT);
    let mut tool = session_tool(EXPORT, description, effects, |input: Export, call| {
        let context = call.context(EXPORT);
        write(Path::new(&input.path), input.overwrite, call, &context)
    });
    tool.returns_target_content = false;
    tool
}

fn write(
    path: &Path,
    overwrite: bool,
    call: &super::super::call::Call,
    context: &Context,
) -> Result<Reply> {
    let exported = call.session.ledger.export(path, overwrite, context)?;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    result(&json!({
        "path": display_path(&absolute),
        "bytes": exported.replaced.published.bytes,
        "sha256": exported.replaced.sha256.to_hex(),
        "records": exported.bundle.len(),
        "unknowns": exported.bundle.unknowns().revisions(),
    }))
}

/// Where from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Import {
    /// The bundle's file
    #[schemars(length(min = 1))]
    path: String,
}

const IMPORT: &str = "import_evidence_bundle";

pub(super) fn import() -> Tool {
    let description = "Check a bundle from a file (every id, digest and unknown) and take all of it \
into the session, or nothing.";
    let effects = Effects::MUTATES_SESSION.and(Effects::IDEMPOTENT);
    session_tool(IMPORT, description, effects, |input: Import, call| {
        let context = call.context(IMPORT);
        let merged = call
            .session
            .ledger
            .import(&PathBuf::from(input.path), &context)?;
        result(&json!({
            "imported": merged.imported,
            "total": merged.total,
            "unknowns_added": merged.unknowns_added,
        }))
    })
}
