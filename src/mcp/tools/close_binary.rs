//! `close_binary`: the end of work on a target.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::{Effects, Tool};
use super::{result, session_tool, snapshot};

/// Whether to keep what was found.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Write the records about the target to this file first
    #[serde(default)]
    #[schemars(length(min = 1))]
    snapshot_path: Option<String>,
    /// Replace that file where it is there
    #[serde(default)]
    overwrite: bool,
}

const NAME: &str = "close_binary";
const DESCRIPTION: &str = "Close the target and forget all records and unknowns of the session. \
With `snapshot_path` the records about the target are written to a file first; where that fails, \
nothing is closed.";

pub(super) fn tool() -> Tool {
    let effects = Effects::MUTATES_SESSION
        .and(Effects::WRITES_FILESYSTEM)
        .and(Effects::MAY_DISCARD_DATA);
    session_tool(NAME, DESCRIPTION, effects, |input: Input, call| {
        let context = call.context(NAME);
        if let Some(path) = &input.snapshot_path {
            snapshot::save(
                &PathBuf::from(path),
                input.overwrite,
                &call.session,
                &context,
            )?;
        }
        context.check()?;
        call.session.close();
        result(&serde_json::Value::Null)
    })
}
