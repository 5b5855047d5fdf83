//! Arguments against the schema of their tool, before anything is done.

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};

use super::delivery::value;
use super::tool::{Arguments, Tool};
use crate::error::{Code, Error, Result};
use crate::json::{Issue, Value};

/// Faults that are told; a message of millions of them helps nobody.
const TOLD: usize = 64;

/// The schema of a tool, compiled when it is first needed.
#[derive(Default)]
pub struct Check {
    validator: OnceLock<Option<Validator>>,
}

impl Check {
    /// The arguments again, where they are what `tool` takes.
    ///
    /// # Errors
    /// `invalid_request` with an issue for everything that is wrong.
    pub fn arguments(&self, tool: &Tool, arguments: Arguments) -> Result<Arguments> {
        let validator = self
            .validator
            .get_or_init(|| jsonschema::validator_for(&tool.input_schema).ok());
        let Some(validator) = validator else {
            let message = format!("the schema of {} cannot be used", tool.name);
            return Err(Error::new(Code::ExecutionFailure, message));
        };
        let arguments = serde_json::Value::Object(arguments);
        let mut issues = Vec::new();
        for error in validator.iter_errors(&arguments) {
            faults(&error, &arguments, &mut issues);
            if issues.len() >= TOLD {
                issues.truncate(TOLD);
                break;
            }
        }
        if let (true, serde_json::Value::Object(arguments)) = (issues.is_empty(), arguments) {
            return Ok(arguments);
        }
        Err(Issue::all_into_error(issues, tool.name).action(format!(
            "Correct the arguments by the input schema of {} in tools/list; the same call fails again.",
            tool.name
        )))
    }
}

/// One error of the validator as issues of the contract.
fn faults(error: &ValidationError<'_>, arguments: &serde_json::Value, issues: &mut Vec<Issue>) {
    let path = path(error, arguments);
    let named = match path.last() {
        Some(Value::String(name)) => String::from_utf8_lossy(name.as_bytes()).into_owned(),
        Some(_) => "an element".to_owned(),
        None => "the argument".to_owned(),
    };
    let below = |name: &str| {
        let mut path = path.clone();
        path.push(Value::from(name));
        path
    };
    let issue = |reason, message: String| Issue::at(path.clone(), reason, message);
    let expecting = |issue: Issue, what: Option<Value>| match what {
        Some(what) => issue.expected(what),
        None => issue,
    };
    let number = |limit: &serde_json::Value| limit.as_u64();
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            issues.extend(unexpected.iter().map(|name| {
                let message = format!("there is no argument {name}");
                Issue::at(below(name), "unknown_argument", message)
            }));
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let message = format!("{name} is needed");
            issues.push(Issue::at(below(name), "missing_argument", message));
        }
        ValidationErrorKind::Type { .. } => {
            let wrong = issue("invalid_type", format!("{named} has another type"));
            issues.push(expecting(wrong, expected_type(error)));
        }
        ValidationErrorKind::Enum { options } => {
            let wrong = issue(
                "invalid_value",
                format!("{named} is none of the values that can be"),
            );
            issues.push(expecting(wrong, value(options)));
        }
        ValidationErrorKind::Constant { expected_value } => {
            let wrong = issue("invalid_value", format!("{named} has another value"));
            issues.push(expecting(wrong, value(expected_value)));
        }
        ValidationErrorKind::Minimum { limit } => {
            let wrong = issue("out_of_range", format!("{named} is less than {limit}"));
            issues.push(wrong.bounds(number(limit), None));
        }
        ValidationErrorKind::Maximum { limit } => {
            let wrong = issue("out_of_range", format!("{named} is more than {limit}"));
            issues.push(wrong.bounds(None, number(limit)));
        }
        ValidationErrorKind::MinLength { limit } | ValidationErrorKind::MinItems { limit } => {
            let wrong = issue("out_of_range", format!("{named} is shorter than {limit}"));
            issues.push(wrong.bounds(Some(*limit), None));
        }
        ValidationErrorKind::MaxLength { limit } | ValidationErrorKind::MaxItems { limit } => {
            let wrong = issue("out_of_range", format!("{named} is longer than {limit}"));
            issues.push(wrong.bounds(None, Some(*limit)));
        }
        ValidationErrorKind::Pattern { pattern } => {
            let wrong = issue(
                "invalid_format",
                format!("{named} does not match the pattern"),
            );
            issues.push(wrong.expected(pattern.as_str()));
        }
        ValidationErrorKind::Format { format } => {
            issues.push(issue(
                "invalid_format",
                format!("{named} has not the form of {format}"),
            ));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            match meant(context, &error.instance_path().to_string()) {
                Some(branch) => {
                    for error in branch {
                        faults(error, arguments, issues);
                    }
                }
                None => issues.push(issue(
                    "invalid_value",
                    format!("{named} has none of the forms that can be"),
                )),
            }
        }
        _ => issues.push(issue("invalid_value", format!("{named} is not acceptable"))),
    }
}

/// The branch of a choice at `place` that was meant: one whose type and `kind`
/// are right, where there is one, and of those the one with the fewest faults.
fn meant<'a>(
    branches: &'a [Vec<ValidationError<'static>>],
    place: &str,
) -> Option<&'a Vec<ValidationError<'static>>> {
    let is_other = |branch: &&Vec<ValidationError<'static>>| {
        branch.iter().any(|error| {
            let at = error.instance_path().to_string();
            match error.kind() {
                ValidationErrorKind::Type { .. } => at == place,
                ValidationErrorKind::Required { property } => at == place && property == "kind",
                _ => at.ends_with("/kind"),
            }
        })
    };
    branches
        .iter()
        .filter(|branch| !branch.is_empty())
        .min_by_key(|branch| (is_other(branch), branch.len()))
}

/// Where an error is: names of members and numbers of elements.
fn path(error: &ValidationError<'_>, arguments: &serde_json::Value) -> Vec<Value> {
    let pointer = error.instance_path().to_string();
    let mut at = Some(arguments);
    let mut path = Vec::new();
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        let number: Option<u64> = name.parse().ok();
        let element = at.and_then(serde_json::Value::as_array).zip(number);
        path.push(match element {
            Some((_, number)) => Value::from(number),
            None => Value::from(name.as_str()),
        });
        at = match element {
            Some((items, number)) => usize::try_from(number).ok().and_then(|at| items.get(at)),
            None => at.and_then(|object| object.get(&name)),
        };
    }
    path
}

fn expected_type(error: &ValidationError<'_>) -> Option<Value> {
    // The sentence of the validator is not ours to show; the types are.
    let text = error.to_string();
    let names = [
        "object", "array", "string", "integer", "number", "boolean", "null",
    ];
    let (_, wanted) = text.rsplit_once(" is not of ")?;
    let found: Vec<Value> = names
        .into_iter()
        .filter(|name| wanted.contains(&format!("\"{name}\"")))
        .map(Value::from)
        .collect();
    match found.len() {
        0 => None,
        1 => found.into_iter().next(),
        _ => Some(Value::Array(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tool::{Effects, Output, Takes};
    use serde_json::json;
    use std::sync::Arc;

    fn tool(schema: serde_json::Value) -> Tool {
        Tool {
            name: "take",
            surface: "session",
            description: String::new(),
            effects: Effects::NONE,
            returns_target_content: false,
            input_schema: schema,
            output: Output::Result,
            takes: Takes::Nothing,
            summary: false,
            first_page: None,
            run: Arc::new(|_, _| Err(Error::new(Code::ExecutionFailure, "it does nothing"))),
        }
    }

    fn issues(schema: &serde_json::Value, arguments: serde_json::Value) -> Vec<String> {
        let serde_json::Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let tool = tool(schema.clone());
        let Err(error) = Check::default().arguments(&tool, arguments) else {
            return Vec::new();
        };
        assert_eq!(error.code(), Code::InvalidRequest);
        let issues = error.details().get("issues").unwrap().as_array().unwrap();
        let shown = issues.iter().map(|issue| {
            let path = issue.get("path").unwrap().as_array().unwrap();
            let path: Vec<String> = path
                .iter()
                .map(|part| match part {
                    Value::Number(number) => number.to_string(),
                    other => other.as_str().unwrap().to_owned(),
                })
                .collect();
            let reason = issue.get("reason").unwrap().as_str().unwrap();
            format!("{} {reason}", path.join("."))
        });
        let mut shown: Vec<_> = shown.collect();
        shown.sort();
        shown
    }

    #[test]
    fn every_fault_is_told_where_it_is() {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 9},
                "mode": {"enum": ["a", "b"]},
                "ids": {"type": "array", "items": {"type": "string", "pattern": "^ev_"}},
                "source": {"anyOf": [
                    {"type": "object", "required": ["kind", "id"], "properties": {"kind": {"const": "x"}, "id": {"type": "string"}}},
                    {"type": "object", "required": ["kind", "file"], "properties": {"kind": {"const": "y"}, "file": {"type": "string"}}},
                    {"type": "object", "required": ["result"], "properties": {"result": {"type": "object"}}}
                ]}
            }
        });
        assert!(issues(&schema, json!({"path": "x", "limit": 9})).is_empty());
        assert_eq!(
            issues(
                &schema,
                json!({"limit": 0, "mode": "c", "ids": ["ev_1", "x", 2], "approved": true})
            ),
            [
                "approved unknown_argument",
                "ids.1 invalid_format",
                "ids.2 invalid_type",
                "limit out_of_range",
                "mode invalid_value",
                "path missing_argument"
            ]
        );
        assert_eq!(
            issues(&schema, json!({"path": "", "limit": 1.5})),
            ["limit invalid_type", "path out_of_range"]
        );
        assert_eq!(
            issues(&schema, json!({"path": "a", "source": {"kind": "y"}})),
            ["source.file missing_argument"]
        );
        assert_eq!(
            issues(&schema, json!({"path": "a", "source": {"result": null}})),
            ["source.result invalid_type"]
        );
    }
}
