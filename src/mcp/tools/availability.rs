//! Which tools can be called now, in groups of equal facts (section 9.2).

use serde_json::{Value, json};

use super::super::server::Server;
use super::super::session::Open;
use super::super::tool::{Takes, Tool};

/// `tool_availability`.
pub(super) fn groups(server: &Server, open: &Open) -> Value {
    let mut groups: Vec<(Value, Vec<&'static str>)> = Vec::new();
    for tool in server.tools() {
        let facts = facts(tool, open);
        match groups.iter_mut().find(|(known, _)| *known == facts) {
            Some((_, names)) => names.push(tool.name),
            None => groups.push((facts, vec![tool.name])),
        }
    }
    let groups: Vec<Value> = groups
        .into_iter()
        .map(|(mut facts, names)| {
            if let Some(members) = facts.as_object_mut() {
                members.insert("names".to_owned(), names.into());
            }
            facts
        })
        .collect();
    json!({
        "client_requirements": {"required": [], "optional": [], "missing_required": [], "missing_optional": []},
        "groups": groups,
    })
}

fn facts(tool: &Tool, open: &Open) -> Value {
    let annotations = tool.effects.annotations();
    // A `path` makes every one of them callable without an open target, so
    // that none is unavailable; what is said is what leaving it out needs.
    let bound = match open {
        Open::Binary { binding, .. } => Some(binding.is_some()),
        Open::Resources(_) if tool.takes == Takes::Target => Some(false),
        Open::Nothing | Open::Resources(_) => None,
    };
    let (available, reason, remediation) = match (tool.takes, bound) {
        (Takes::Nothing, _) | (Takes::Target, Some(_)) | (Takes::Binary, Some(true)) => {
            (true, "available", Value::Null)
        }
        (Takes::Binary, Some(false)) => (
            false,
            "target_unsupported",
            "Give the `path` of a program, or open one with open_binary.".into(),
        ),
        (Takes::Target | Takes::Binary, None) => (
            false,
            "target_required",
            "Give a `path`, or open a target with open_binary.".into(),
        ),
    };
    json!({
        "surface": tool.surface,
        "available": available,
        "reason": reason,
        "remediation": remediation,
        "effects": tool.effects.names().collect::<Vec<_>>(),
        "annotations": annotations.names().collect::<Vec<_>>(),
    })
}
