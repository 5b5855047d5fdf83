//! `open_bundle_resources`: an application's files, without its program.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::session::Resources;
use super::super::tool::{Effects, Tool};
use super::{result, session_tool};
use crate::error::{Code, Error};
use crate::publish::display_path;

/// An application.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Folder of the application
    #[schemars(length(min = 1))]
    path: String,
}

const NAME: &str = "open_bundle_resources";
const DESCRIPTION: &str = "Open the folder of an application to look at its resources, also where \
its program is missing or cannot be analysed. Tools that need a program then ask for a `path`.";

pub(super) fn tool() -> Tool {
    let effects = Effects::MUTATES_SESSION.and(Effects::IDEMPOTENT);
    session_tool(NAME, DESCRIPTION, effects, |input: Input, call| {
        let path = Path::new(&input.path);
        let shown = display_path(path);
        let failed = |error: std::io::Error| {
            let reason = crate::error::io_reason(&error);
            Error::new(
                Code::TargetUnavailable,
                format!("{shown} cannot be opened: {reason}"),
            )
            .action("Check the path; it must name the folder of an application.")
            .detail("operation", NAME)
            .detail("path", shown.as_ref())
            .detail("reason", reason)
        };
        let root = path.canonicalize().map_err(failed)?;
        if !root.is_dir() {
            return Err(
                Error::new(Code::UnsupportedTarget, format!("{shown} is no folder"))
                    .action("Give the folder of an application, such as Some.app.")
                    .detail("operation", NAME)
                    .detail("path", shown.as_ref())
                    .detail("reason", "not_a_folder"),
            );
        }
        let told = json!({
            "path": input.path,
            "canonical_root": root.to_string_lossy(),
            "session_kind": "bundle_resources",
        });
        call.session.look_at(Resources {
            path: input.path,
            root,
        });
        result(&told)
    })
}
