//! What the commands about `rea` on this machine share.

pub mod carry_out;
pub mod examine;

use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use rea::error::Code;
use rea::host::{CLIENTS, Client};
use rea::json::{Limits, Value as Json};
use rea::mcp::{Call, Reply, Server};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A client, as `--client` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientName {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    GeminiCli,
    Vscode,
    Windsurf,
}

impl ClientName {
    fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::GeminiCli => "gemini-cli",
            Self::Vscode => "vscode",
            Self::Windsurf => "windsurf",
        }
    }
}

/// The clients of these names, each once, in the order of all clients.
pub fn named(names: &[ClientName]) -> Vec<&'static Client> {
    CLIENTS
        .iter()
        .filter(|client| names.iter().any(|name| name.id() == client.id))
        .collect()
}

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// The outcome
    Summary,
    /// Everything that was looked at
    #[default]
    Full,
}

/// A document, with its members in canonical order.
pub fn document(value: &Value) -> Result<Json> {
    let failed = |reason: String| Error::new(Code::ExecutionFailure, reason);
    let text = serde_json::to_vec(value).map_err(|error| failed(error.to_string()))?;
    Json::parse(&text, Limits::default()).map_err(|error| failed(error.to_string()))
}

/// What `binary_session` says of a server, after `target` was opened in it.
pub fn status(server: &Arc<Server>, target: Option<&Path>, operation: &str) -> Result<Value> {
    if let Some(path) = target {
        let text = path.to_str().ok_or_else(|| {
            let message = "the path of the target is not UTF-8";
            Error::invalid_request(operation, &["target"], "invalid_value", message)
                .action("Give it a name that is text.")
        })?;
        // As an operand, it may be relative.
        call(server, "open_binary", json!({"path": text}))?;
    }
    call(server, "binary_session", json!({}))
}

/// The result of one of the server's own tools.
fn call(server: &Arc<Server>, name: &str, arguments: Value) -> Result<Value> {
    let failed = |reason: String| Error::new(Code::ExecutionFailure, format!("{name}: {reason}"));
    let tool = server.tools().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| failed("there is no such tool".to_owned()))?;
    let arguments: Map<String, Value> = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    let reply = (tool.run)(arguments, &Call::new(Arc::clone(&server.session)))?;
    let (Reply::Result(text) | Reply::Object(text) | Reply::Evidence { text, .. }) = reply;
    serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))
}

/// `server_identity`, of a program that serves nobody at the moment.
pub fn identity(server: &Server) -> Value {
    let full = server.identity(&Default::default(), &Default::default());
    json!({
        "alignment": full["alignment"],
        "catalog": full["catalog"],
        "package": full["package"],
        "server": {
            "name": full["server"]["name"],
            "version": full["server"]["version"],
            "command_path": full["server"]["command_path"],
        },
    })
}

/// Text of a member, empty where it is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_name() {
        let names = ClientName::value_variants();
        assert_eq!(named(names).len(), CLIENTS.len());
        assert_eq!(names.len(), CLIENTS.len());
        for name in names {
            let shown = name.to_possible_value().unwrap();
            assert_eq!(shown.get_name(), name.id());
        }
    }
}
