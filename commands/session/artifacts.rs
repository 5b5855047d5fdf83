//! Extraction, and comparisons of records and bundles.

use std::path::PathBuf;

use rea::artifact::glob::Glob;
use rea::artifact::{self, ComparisonStatus, ExtractionRequest, Side};
use rea::error::Code;
use rea::evidence::{
    ComparisonOptions, Confidence, NewUnknown, Probe, RecordPair, Severity, Source, read_bundle,
};
use rea::json::{Limits, MAX_SAFE_INTEGER};
use rea::mcp::{Arguments, Call, Reply};
use rea::publish::display_path;
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Own, Takes};
use crate::artifact_options::ArtifactOptions;
use crate::bundle_options::RecordId;
use crate::retained::Operand;

/// `extract_artifact`.
pub const EXTRACT: Own = Own {
    schema: Extract::schema,
    run: extract,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Extract {
    /// File or folder to extract from; the open target where it is left out
    #[schemars(length(min = 1))]
    path: String,
    /// Logical paths of the members to write, as the inventory has them; all
    /// of the artifact's own members where it is left out
    #[serde(default)]
    logical_paths: Option<Vec<String>>,
    /// Folder to create and write into; a fresh one in the folder for
    /// temporary files where it is left out, which the reply's `_meta` names
    #[serde(default)]
    #[schemars(length(min = 1))]
    into: Option<PathBuf>,
    #[serde(flatten)]
    options: ArtifactOptions,
}

impl Takes for Extract {
    const TOOL: &'static str = "extract_artifact";

    fn schema() -> serde_json::Value {
        let mut schema = crate::tool::schema_of::<Self>(Self::TOOL);
        if let Some(members) = schema.as_object_mut() {
            members.insert("required".to_owned(), serde_json::json!([]));
        }
        schema
    }
}

fn extract(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Extract::read(arguments)?;
    let context = call.context(Extract::TOOL);
    let exactly = |path: &String| {
        Glob::new(&literal(path)).map_err(|what| {
            let message = format!("{path}: {what}");
            let at = ["logical_paths"];
            Error::invalid_request(Extract::TOOL, &at, "invalid_format", message)
        })
    };
    let paths = given.logical_paths.unwrap_or_default();
    let request = ExtractionRequest {
        patterns: paths.iter().map(exactly).collect::<Result<_>>()?,
        into: given.into,
    };
    let options = (&given.options).into();
    let extraction = artifact::extract(&PathBuf::from(given.path), &request, &options, &context)?;
    call.note("output_root", &display_path(extraction.output_root()));
    Ok(Reply::record(&extraction))
}

/// A pattern that only the path itself matches.
fn literal(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for letter in path.chars() {
        match letter {
            '*' | '?' | '[' => {
                pattern.push('[');
                pattern.push(letter);
                pattern.push(']');
            }
            _ => pattern.push(letter),
        }
    }
    pattern
}

/// `compare_artifacts`.
pub const COMPARE: Own = Own {
    schema: Compare::schema,
    run: compare,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Compare {
    /// Record of the old side: of inspect_artifact or inventory_artifact
    left: Operand,
    /// Record of the new side
    right: Operand,
}

impl Takes for Compare {
    const TOOL: &'static str = "compare_artifacts";
}

fn compare(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Compare::read(arguments)?;
    let context = call.context(Compare::TOOL);
    let left = given.left.text(Compare::TOOL, "left", &call.session)?;
    let right = given.right.text(Compare::TOOL, "right", &call.session)?;
    let (left, right) = artifact::load_both(Side::Record(&left), Side::Record(&right), &context)?;
    let comparison = artifact::compare(left, right, &context)?;
    let reply = Reply::record(&comparison);
    let open = matches!(
        comparison.status(),
        ComparisonStatus::Unknown | ComparisonStatus::Truncated
    );
    if let (true, Reply::Evidence { id, text }) = (open, &reply) {
        let question = NewUnknown {
            question: "What differs in the paths that one of the two records does not cover?"
                .into(),
            severity: Severity::Medium,
            domain: "artifact-comparison".into(),
            required_authority: None,
            required_confidence: Confidence::Observed,
            required_environment: None,
            recommended_probes: vec![Probe {
                operation: "inspect_artifact".into(),
                rationale: "An inventory with complete coverage can be compared path by path."
                    .into(),
            }],
            relationships: Vec::new(),
            supporting_evidence_ids: Vec::new(),
            contradicting_evidence_ids: Vec::new(),
        };
        call.session
            .ledger
            .keep_unresolved(*id, text, &question, &context)?;
    }
    Ok(reply)
}

/// `compare_bundles`.
pub const COMPARE_BUNDLES: Own = Own {
    schema: CompareBundles::schema,
    run: compare_bundles,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareBundles {
    /// File of the bundle before
    #[schemars(length(min = 1, max = 4096))]
    left_bundle_path: String,
    /// File of the bundle after
    #[schemars(length(min = 1, max = 4096))]
    right_bundle_path: String,
    /// Records that belong together though their ids differ
    #[serde(default)]
    #[schemars(length(max = 500))]
    record_pairs: Vec<Pair>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pair {
    left_evidence_id: RecordId,
    right_evidence_id: RecordId,
}

impl Takes for CompareBundles {
    const TOOL: &'static str = "compare_bundles";
}

fn compare_bundles(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = CompareBundles::read(arguments)?;
    let context = call.context(CompareBundles::TOOL);
    let limits = Limits {
        max_input_bytes: call.session.ledger.capacity(),
        ..Limits::default()
    };
    let read = |path: &str| {
        if path == "-" {
            let message = "a session has no standard input";
            return Err(
                Error::new(Code::InvalidRequest, message).action("Give the path of a file.")
            );
        }
        read_bundle(Source::open(path.as_ref())?, limits, &context)
    };
    let left = read(&given.left_bundle_path)?;
    let right = read(&given.right_bundle_path)?;
    let pairs = given.record_pairs.iter().map(|pair| RecordPair {
        left: pair.left_evidence_id.0,
        right: pair.right_evidence_id.0,
    });
    let options = ComparisonOptions {
        pairs: pairs.collect(),
        offset: 0,
        // All of it: what does not fit is said by the reply's own limit.
        limit: MAX_SAFE_INTEGER,
        ..ComparisonOptions::default()
    };
    let comparison = rea::evidence::Comparison::of(&left, &right, &options, &context)?;
    Ok(Reply::result(&comparison))
}
