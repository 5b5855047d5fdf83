//! `open_binary`: the target that tools work on where they are given no path.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::engine;
use super::super::tool::{Effects, Tool};
use super::{result, session_tool, snapshot};

/// A target.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// File or application to open
    #[schemars(length(min = 1))]
    path: String,
    /// Provider that analyses it: `auto`, or an id of `binary_session`
    #[serde(default)]
    #[schemars(length(max = 64), regex(pattern = "^[a-z][a-z0-9-]*$"))]
    provider_id: Option<String>,
    /// Snapshot that `close_binary` wrote of the same target
    #[serde(default)]
    #[schemars(length(min = 1))]
    snapshot_path: Option<String>,
    /// Take the file for a headerless program, whatever its bytes look like
    #[serde(default)]
    format: Option<Headerless>,
}

/// A format that no bytes tell.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
enum Headerless {
    /// A DOS program of 1 to 65,280 bytes
    #[serde(rename = "dos-com")]
    DosCom,
}

const NAME: &str = "open_binary";
const DESCRIPTION: &str = "Open a file or application as the target of the tools whose `path` can \
be left out. Says its format, kind, architecture and SHA-256. Records of the session stay; what \
was open before is no longer the target.";

pub(super) fn tool() -> Tool {
    // Nothing is started: the engine is in this process.
    let effects = Effects::MUTATES_SESSION.and(Effects::IDEMPOTENT);
    session_tool(NAME, DESCRIPTION, effects, |input: Input, call| {
        let context = call.context(NAME);
        let session = &call.session;
        let path = PathBuf::from(&input.path);
        let target = session
            .opener
            .open(&path, input.format.is_some(), &context)?;
        let binding = engine::select(
            &session.engines,
            &target,
            input.provider_id.as_deref(),
            session.settings.provider.as_deref(),
            NAME,
        )?;
        context.check()?;
        if let Some(path) = &input.snapshot_path {
            snapshot::load(
                &PathBuf::from(path),
                session,
                &target,
                binding.as_ref(),
                &context,
            )?;
        }
        let told = target.to_value();
        session.bind(target, binding);
        result(&told)
    })
}
