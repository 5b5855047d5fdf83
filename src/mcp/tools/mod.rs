//! The session's own tools. Each file is one of them.

mod availability;
mod binary_session;
mod bundle;
mod close_binary;
mod open_binary;
mod open_bundle_resources;
mod reset_investigation;
mod snapshot;
pub mod view;

use std::sync::{Arc, Weak};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::call::Call;
use super::server::Server;
use super::tool::{Arguments, Effects, Output, Reply, Takes, Tool};
use crate::error::{Code, Error, Result};

/// All of them.
pub(super) fn all(server: Weak<Server>) -> Vec<Tool> {
    vec![
        binary_session::tool(server),
        open_binary::tool(),
        close_binary::tool(),
        open_bundle_resources::tool(),
        reset_investigation::tool(),
        bundle::get(),
        bundle::export(),
        bundle::import(),
    ]
}

/// The surface of these tools.
const SURFACE: &str = "session";

/// A tool of the session that takes `I` and answers with a result.
fn session_tool<I: JsonSchema + DeserializeOwned + 'static>(
    name: &'static str,
    description: &str,
    effects: Effects,
    run: impl Fn(I, &Call) -> Result<Reply> + Send + Sync + 'static,
) -> Tool {
    let mut input_schema = input_schema::<I>(name);
    super::schema::without_null(&mut input_schema);
    Tool {
        name,
        surface: SURFACE,
        description: description.to_owned(),
        effects,
        returns_target_content: true,
        input_schema,
        output: Output::Result,
        takes: Takes::Nothing,
        summary: false,
        first_page: None,
        run: Arc::new(move |arguments, call| run(parsed(arguments, name)?, call)),
    }
}

/// The schema of an input struct under the tool's name.
pub fn input_schema<I: JsonSchema>(name: &str) -> serde_json::Value {
    let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<I>();
    schema.insert("title".to_owned(), name.into());
    schema.remove("description");
    schema.to_value()
}

/// The arguments as an input struct. They were checked against its schema; what
/// is left are rules that no schema tells.
///
/// # Errors
/// `invalid_request`.
pub fn parsed<I: DeserializeOwned>(arguments: Arguments, tool: &str) -> Result<I> {
    let value = serde_json::Value::Object(arguments);
    serde_json::from_value(value).map_err(|error| {
        Error::invalid_request(tool, &[], "invalid_value", error.to_string()).action(format!(
            "Correct the arguments by the input schema of {tool} in tools/list."
        ))
    })
}

/// A result, in canonical form.
fn result(value: &serde_json::Value) -> Result<Reply> {
    let Some(value) = super::delivery::value(value) else {
        return Err(Error::new(Code::ExecutionFailure, "the result is no JSON"));
    };
    Ok(Reply::result(&value))
}
