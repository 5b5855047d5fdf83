//! Our entry in a client's list of servers: what it should say, and what it
//! says.

use std::path::Path;

use super::clients::Client;
use super::json_text::Item;
use crate::json::Value;

/// The name of our entry, and of the skill.
pub const NAME: &str = "rea";
/// The argument with which clients start the server.
const ARGUMENT: &str = "mcp";

/// What there is of ours in a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// What should be there.
    Aligned,
    /// Ours, but not what should be there; why.
    Stale(String),
    /// Nothing.
    Missing,
    /// Something that is not ours to change; why.
    Invalid(String),
}

impl State {
    /// The name in reports.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Aligned => "aligned",
            Self::Stale(_) => "stale",
            Self::Missing => "missing",
            Self::Invalid(_) => "invalid",
        }
    }

    /// Why, where there is more to say.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Stale(reason) | Self::Invalid(reason) => Some(reason),
            Self::Aligned | Self::Missing => None,
        }
    }
}

/// Our entry in what a client's settings say.
pub(super) fn find<'a>(client: &Client, settings: &'a Value) -> Option<&'a Value> {
    settings.get(client.servers)?.get(NAME)
}

/// Judges our entry in the settings of a client. Only the program decides
/// whether it is aligned; deadlines are [`missing_deadlines`].
pub(super) fn judge(client: &Client, settings: &Value, program: &str) -> State {
    let servers = settings.get(client.servers);
    if servers.is_some_and(|servers| servers.as_object().is_none()) {
        return State::Invalid(format!("{} is no list of servers", client.servers));
    }
    let Some(entry) = find(client, settings) else {
        return State::Missing;
    };
    let Some(command) = command(entry) else {
        let reason = format!("{NAME} is a server of another kind, without a command");
        return State::Invalid(reason);
    };
    let arguments = entry.get("args").and_then(Value::as_array);
    let first = arguments.and_then(|arguments| arguments.first()?.as_str());
    let named = Path::new(command)
        .file_name()
        .is_some_and(|name| name == NAME);
    if command != program && !(named && first == Some(ARGUMENT)) {
        return State::Invalid(format!("{NAME} starts another program, {command}"));
    }
    if command != program {
        return State::Stale(format!("it starts {command}"));
    }
    if first != Some(ARGUMENT) || arguments.is_none_or(|arguments| arguments.len() != 1) {
        return State::Stale(format!("its arguments are not `{ARGUMENT}` alone"));
    }
    State::Aligned
}

/// The command of an entry, unless it is for another transport.
pub(super) fn command(entry: &Value) -> Option<&str> {
    let elsewhere = ["url", "httpUrl", "serverUrl"];
    if elsewhere.iter().any(|name| entry.get(name).is_some()) {
        return None;
    }
    let kind = entry.get("type");
    if kind.is_some_and(|kind| kind.as_str() != Some("stdio")) {
        return None;
    }
    entry.get("command")?.as_str()
}

/// Whether the user has switched our entry off.
pub(super) fn is_off(entry: &Value) -> bool {
    matches!(entry.get("disabled"), Some(Value::Bool(true)))
        || matches!(entry.get("enabled"), Some(Value::Bool(false)))
}

/// Deadlines that the entry does not have, or not as a positive number.
pub(super) fn missing_deadlines(
    client: &Client,
    entry: Option<&Value>,
) -> Vec<(&'static str, Item)> {
    let positive = |name: &str| match entry.and_then(|entry| entry.get(name)) {
        Some(Value::Number(number)) => *number > 0.0,
        _ => false,
    };
    // Older settings of Codex have the same in milliseconds.
    let elsewhere = |name: &str| name == "startup_timeout_sec" && positive("startup_timeout_ms");
    let missing = client
        .deadlines
        .iter()
        .filter(|&&(name, _)| !positive(name) && !elsewhere(name));
    missing
        .map(|&(name, value)| (name, Item::Number(value)))
        .collect()
}

/// The members of an entry that starts `program`; those that an entry has
/// already and that need not change are left out.
pub(super) fn members(
    client: &Client,
    entry: Option<&Value>,
    program: &str,
    aligned: bool,
) -> Vec<(&'static str, Item)> {
    let mut members = Vec::new();
    if client.typed && entry.is_none() {
        members.push(("type", Item::Text("stdio".to_owned())));
    }
    if !aligned {
        members.push(("command", Item::Text(program.to_owned())));
        members.push(("args", Item::Words(vec![ARGUMENT.to_owned()])));
    }
    members.extend(missing_deadlines(client, entry));
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Limits;

    fn judged(entry: &str) -> &'static str {
        let text = format!("{{\"mcpServers\": {entry}}}");
        let value = Value::parse(text.as_bytes(), Limits::default()).unwrap();
        let client = Client::find("cursor").unwrap();
        judge(client, &value, "/opt/rea").as_str()
    }

    #[test]
    fn entries_are_told_apart() {
        for (entry, state) in [
            (
                r#"{"rea": {"command": "/opt/rea", "args": ["mcp"]}}"#,
                "aligned",
            ),
            (
                r#"{"rea": {"command": "/opt/rea", "args": ["mcp"], "env": {"A": "b"}}}"#,
                "aligned",
            ),
            (
                r#"{"rea": {"command": "/old/rea", "args": ["mcp"]}}"#,
                "stale",
            ),
            (r#"{"rea": {"command": "rea", "args": ["mcp"]}}"#, "stale"),
            (
                r#"{"rea": {"command": "/opt/rea", "args": ["mcp", "--http"]}}"#,
                "stale",
            ),
            (r#"{"rea": {"command": "/opt/rea"}}"#, "stale"),
            (r#"{"other": {}}"#, "missing"),
            (
                r#"{"rea": {"command": "npx", "args": ["-y", "rea", "mcp"]}}"#,
                "invalid",
            ),
            (
                r#"{"rea": {"command": "/x/rea", "args": ["serve"]}}"#,
                "invalid",
            ),
            (
                r#"{"rea": {"url": "http://x", "command": "/opt/rea", "args": ["mcp"]}}"#,
                "invalid",
            ),
            (
                r#"{"rea": {"type": "sse", "command": "/opt/rea", "args": ["mcp"]}}"#,
                "invalid",
            ),
            (r#"{"rea": 1}"#, "invalid"),
            ("[]", "invalid"),
        ] {
            assert_eq!(judged(entry), state, "{entry}");
        }
    }

    #[test]
    fn deadlines_that_are_positive_stay() {
        let client = Client::find("codex").unwrap();
        let missing = |entry: &str| {
            let entry = Value::parse(entry.as_bytes(), Limits::default()).unwrap();
            let missing = missing_deadlines(client, Some(&entry)).into_iter();
            missing.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(missing("{}"), ["startup_timeout_sec", "tool_timeout_sec"]);
        let both = r#"{"startup_timeout_sec": 5, "tool_timeout_sec": 0.5}"#;
        assert!(missing(both).is_empty());
        assert_eq!(
            missing(r#"{"startup_timeout_ms": 5, "tool_timeout_sec": 0}"#),
            ["tool_timeout_sec"]
        );
    }
}
