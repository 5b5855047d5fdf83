//! Two runs of a scenario, step by step (web.md section 6.1).

use std::collections::BTreeMap;

use super::compare_captures::{OPERATION, overall};
use crate::digest::Digest;
use crate::error::Result;
use crate::json::{Issue, Object, Text, Value, WriteJson};

/// What is compared of a step, in this order.
const ARTIFACTS: [&str; 8] = [
    "action_state",
    "screenshot",
    "dom",
    "accessibility",
    "url",
    "history",
    "storage",
    "events",
];

/// What is always done, in this order.
const BUILT_IN: [&str; 5] = [
    "ignore_step_elapsed_ms",
    "ignore_event_sequence",
    "ignore_event_step_index",
    "compare_screenshot_content_digest",
    "compare_normalized_text_content",
];

/// Exact replacements in text, before it is compared.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    id: Text,
    artifacts: Vec<Text>,
    from: Text,
    to: Text,
}

impl Rules {
    /// Reads `{"rules": [{rule_id, artifacts, match, replacement}]}`.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn read(value: Option<&Value>) -> Result<Self> {
        let Some(value) = value else {
            return Ok(Self::default());
        };
        let wrong = |path: Vec<Value>, message: &str| {
            let mut full = vec![Value::from("normalization")];
            full.extend(path);
            Issue::at(full, "invalid_value", message.to_owned()).into_error(OPERATION)
        };
        let rules = value.get("rules").and_then(Value::as_array);
        let only = value.as_object().is_some_and(|object| object.len() == 1);
        let Some(rules) = rules.filter(|_| only) else {
            return Err(wrong(Vec::new(), "it is an object with the member rules"));
        };
        let mut read: Vec<Rule> = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            let place = || vec![Value::from("rules"), Value::from(at as u64)];
            let text = |name: &str| match rule.get(name) {
                Some(Value::String(text)) => Ok(text.clone()),
                _ => Err(wrong(
                    place(),
                    "a rule has rule_id, artifacts, match and replacement",
                )),
            };
            let artifacts = rule.get("artifacts").and_then(Value::as_array);
            let mut named = Vec::new();
            for artifact in artifacts.unwrap_or_default() {
                match artifact {
                    Value::String(name)
                        if *name != *"screenshot"
                            && ARTIFACTS.iter().any(|known| *name == **known) =>
                    {
                        named.push(name.clone());
                    }
                    _ => {
                        return Err(wrong(
                            place(),
                            "artifacts names what can be compared as text",
                        ));
                    }
                }
            }
            named.sort();
            named.dedup();
            let rule = Rule {
                id: text("rule_id")?,
                artifacts: named,
                from: text("match")?,
                to: text("replacement")?,
            };
            if rule.artifacts.is_empty() || rule.from.as_bytes().is_empty() {
                return Err(wrong(
                    place(),
                    "a rule names artifacts and text to be replaced",
                ));
            }
            if read.iter().any(|known| known.id == rule.id) {
                return Err(wrong(place(), "a rule_id stands twice"));
            }
            read.push(rule);
        }
        read.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Self(read))
    }

    /// The rules in their order, and what commits to them.
    pub fn to_value(&self) -> Value {
        let rules: Vec<Value> = self
            .0
            .iter()
            .map(|rule| {
                let mut row = Object::new();
                row.insert("artifacts", super::surface::texts(&rule.artifacts));
                row.insert("match", Value::String(rule.from.clone()));
                row.insert("replacement", Value::String(rule.to.clone()));
                row.insert("rule_id", Value::String(rule.id.clone()));
                Value::Object(row)
            })
            .collect();
        let mut committed = Object::new();
        committed.insert("built_in_rules", BUILT_IN.to_vec());
        committed.insert("rules", Value::Array(rules));
        let digest = Digest::of_json(|w| committed.write_json(w));
        committed.insert("commitment", digest.to_hex());
        committed.into()
    }

    /// A value with all strings replaced; names of members stay.
    fn apply(&self, artifact: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let mut bytes = text.as_bytes().to_vec();
                let own = |rule: &&Rule| rule.artifacts.iter().any(|name| *name == *artifact);
                for rule in self.0.iter().filter(own) {
                    bytes = replaced(&bytes, rule.from.as_bytes(), rule.to.as_bytes());
                }
                Value::String(Text::from_wtf8(bytes))
            }
            Value::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| self.apply(artifact, item))
                    .collect(),
            ),
            Value::Object(object) => {
                let mut out = Object::new();
                for (name, value) in object.iter() {
                    out.insert(name.clone(), self.apply(artifact, value));
                }
                out.into()
            }
            other => other.clone(),
        }
    }
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut behind = 0;
    for at in memchr::memmem::find_iter(text, from) {
        out.extend_from_slice(text.get(behind..at).unwrap_or_default());
        out.extend_from_slice(to);
        behind = at + from.len();
    }
    out.extend_from_slice(text.get(behind..).unwrap_or_default());
    out
}

/// An artifact of a step: its state, and what is compared of it.
fn artifact(step: &Value, name: &str, rules: &Rules) -> (&'static str, Option<Digest>) {
    let value = match name {
        "action_state" => step.get("action_state").or_else(|| step.get("action")),
        name => step
            .get("artifacts")
            .and_then(|artifacts| artifacts.get(name))
            .or_else(|| step.get(name)),
    };
    let Some(value) = value.filter(|value| **value != Value::Null) else {
        return ("not_requested", None);
    };
    let said = value.get("status").or_else(|| value.get("state"));
    match said.and_then(Value::as_str) {
        Some("not_requested") => return ("not_requested", None),
        Some("missing" | "unavailable" | "failed") if name != "action_state" => {
            return ("missing", None);
        }
        Some("truncated") => return ("truncated", None),
        _ => {}
    }
    let value = match (name, value) {
        ("screenshot", value) => {
            let mut compared = Object::new();
            for member in ["sha256", "bytes", "media_type"] {
                compared.insert(member, value.get(member).cloned().unwrap_or_default());
            }
            return ("captured", Some(of(&compared.into())));
        }
        ("accessibility" | "dom", value) => value.get("text").unwrap_or(value).clone(),
        ("events", Value::Array(events)) => Value::Array(
            events
                .iter()
                .map(|event| dropped(event, &["sequence", "step_index"]))
                .collect(),
        ),
        ("action_state", value) => dropped(value, &["elapsed_ms"]),
        (_, value) => value.clone(),
    };
    ("captured", Some(of(&rules.apply(name, &value))))
}

fn dropped(value: &Value, names: &[&str]) -> Value {
    match value {
        Value::Object(object) => {
            let mut kept = object.clone();
            for name in names {
                kept.remove(name);
            }
            kept.into()
        }
        other => other.clone(),
    }
}

fn of(value: &Value) -> Digest {
    Digest::of_json(|w| value.write_json(w))
}

/// What must be the same of two runs for them to be comparable.
fn context(capture: &Value) -> Value {
    let browser = capture.get("browser");
    let member = |name| browser.and_then(|browser| browser.get(name)).cloned();
    let mut origins = match capture.get("allowed_origins").and_then(Value::as_array) {
        Some(origins) => origins.to_vec(),
        None => Vec::new(),
    };
    origins.sort_by_cached_key(|origin| origin.as_str().map(str::to_owned));
    let mut context = Object::new();
    context.insert("origins", Value::Array(origins));
    context.insert("product", member("product").unwrap_or_default());
    context.insert("version", member("version").unwrap_or_default());
    let start = capture.get("start_origin").cloned().unwrap_or_default();
    context.insert("start_origin", start);
    context.into()
}

fn steps(capture: &Value) -> &[Value] {
    capture
        .get("steps")
        .and_then(Value::as_array)
        .unwrap_or_default()
}

fn step_id(step: &Value) -> Option<&Text> {
    match step.get("step_id") {
        Some(Value::String(id)) => Some(id),
        _ => None,
    }
}

/// Steps by id, and the ids that stand twice.
fn by_id(steps: &[Value]) -> (BTreeMap<&Text, &Value>, Vec<&Text>) {
    let (mut found, mut twice) = (BTreeMap::new(), Vec::new());
    for step in steps {
        let Some(id) = step_id(step) else { continue };
        if found.insert(id, step).is_some() && !twice.contains(&id) {
            twice.push(id);
        }
    }
    (found, twice)
}

fn action(step: &Value) -> Value {
    let action = step.get("action").unwrap_or(step);
    match action {
        Value::Object(_) => action
            .get("type")
            .or_else(|| action.get("kind"))
            .cloned()
            .unwrap_or_default(),
        other => other.clone(),
    }
}

/// Compares two results of `capture_browser_scenario`.
pub(super) fn compare(before: &Value, after: &Value, rules: &Rules) -> Value {
    let mut failures = Vec::new();
    let mut fail = |code: &str, id: Option<&Text>| {
        let mut row = Object::new();
        row.insert("code", code);
        row.insert("step_id", id.cloned().map(Value::String));
        failures.push(Value::Object(row));
    };
    if context(before) != context(after) {
        fail("capture_context_mismatch", None);
    }
    let (left, left_twice) = by_id(steps(before));
    let (right, right_twice) = by_id(steps(after));
    for id in &left_twice {
        fail("duplicate_before_step_id", Some(id));
    }
    for id in &right_twice {
        fail("duplicate_after_step_id", Some(id));
    }
    let mut rows = Vec::new();
    let mut statuses = Vec::new();
    for step in steps(before) {
        let Some(id) = step_id(step) else { continue };
        if left_twice.contains(&id) || right_twice.contains(&id) {
            continue;
        }
        let Some(other) = right.get(id) else {
            fail("missing_after_step", Some(id));
            continue;
        };
        if action(step) != action(other) {
            fail("action_mismatch", Some(id));
            continue;
        }
        let mut artifacts = Vec::new();
        for name in ARTIFACTS {
            let (was, left) = artifact(step, name, rules);
            let (is, right) = artifact(other, name, rules);
            if (was, is) == ("not_requested", "not_requested") {
                continue;
            }
            let status = match (left, right) {
                (Some(left), Some(right)) if left == right => "unchanged",
                (Some(_), Some(_)) => "changed",
                _ => "unknown",
            };
            let mut row = Object::new();
            row.insert("after_state", is);
            row.insert("artifact", name);
            row.insert("before_state", was);
            row.insert("status", status);
            artifacts.push(Value::Object(row));
            statuses.push(status);
        }
        let mut row = Object::new();
        row.insert("artifacts", Value::Array(artifacts));
        row.insert("step_id", Value::String(id.clone()));
        rows.push(Value::Object(row));
    }
    for step in steps(after) {
        if let Some(id) = step_id(step)
            && !left.contains_key(id)
        {
            fail("missing_before_step", Some(id));
        }
    }
    let alignment = match (rows.is_empty(), failures.is_empty()) {
        (true, _) => "failed",
        (false, true) => "aligned",
        (false, false) => "partial",
    };
    let eligible = |capture: &Value| capture.get("equality_eligible") == Some(&Value::Bool(true));
    let mut status = overall(&statuses);
    if status == "unchanged" && !(alignment == "aligned" && eligible(before) && eligible(after)) {
        status = "unknown";
    }
    let mut aligned = Object::new();
    aligned.insert("failures", Value::Array(failures));
    aligned.insert("status", alignment);
    let mut result = Object::new();
    result.insert("alignment", aligned);
    result.insert("kind", "scenario");
    result.insert("status", status);
    result.insert("steps", Value::Array(rows));
    result.into()
}
