//! `reset_investigation`: a clean ledger, the old one perhaps in a file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::tool::{Effects, Tool};
use super::{result, session_tool};

/// Whether to keep what is forgotten.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Write everything to this file first; it must not be there
    #[serde(default)]
    #[schemars(length(min = 1))]
    save_path: Option<String>,
}

const NAME: &str = "reset_investigation";
const DESCRIPTION: &str = "Forget all records and unknowns of the session; what is open stays open. \
With `save_path` the complete bundle is written first; where that fails, nothing is forgotten.";

pub(super) fn tool() -> Tool {
    let effects = Effects::MUTATES_SESSION
        .and(Effects::WRITES_FILESYSTEM)
        .and(Effects::MAY_DISCARD_DATA);
    session_tool(NAME, DESCRIPTION, effects, |input: Input, call| {
        let context = call.context(NAME);
        let (records, _) = call.session.ledger.size();
        let saved = match &input.save_path {
            Some(path) => {
                let path = PathBuf::from(path);
                let exported = call.session.ledger.export(&path, false, &context)?;
                json!({
                    "path": crate::publish::display_path(&path),
                    "bytes": exported.replaced.published.bytes,
                    "sha256": exported.replaced.sha256.to_hex(),
                })
            }
            None => serde_json::Value::Null,
        };
        context.check()?;
        call.session.ledger.clear();
        result(&json!({"cleared_records": records, "saved": saved}))
    })
}
