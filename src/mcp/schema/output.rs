//! Output schemas: what a successful call answers with.

use serde_json::{Value, json};

use crate::digest::Digest;
use crate::json::{Limits, WriteJson};
use crate::mcp::tool::{Output, Tool};

/// The schema of the structured content of `tool`. Its `$id` names the digest
/// of the rest.
pub fn output_schema(tool: &Tool) -> Value {
    let mut schema = match tool.output {
        Output::Evidence => evidence(tool),
        Output::Result => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["result"],
            "properties": {"result": {}},
            "additionalProperties": false
        }),
    };
    let digest = digest(&schema);
    if let (Some(digest), Some(members)) = (digest, schema.as_object_mut()) {
        members.insert("$id".to_owned(), format!("urn:rea:schema:{digest}").into());
    }
    schema
}

/// SHA-256 of the canonical form of a document.
pub(in crate::mcp) fn digest(document: &Value) -> Option<Digest> {
    let text = serde_json::to_vec(document).ok()?;
    let value = crate::json::Value::parse(&text, Limits::default()).ok()?;
    Some(Digest::of_json(|w| value.write_json(w)))
}

fn evidence(tool: &Tool) -> Value {
    // A summary is a view, whose operation is another one.
    let operation = match tool.summary {
        true => json!({"enum": [tool.name, crate::view::OPERATION]}),
        false => json!({"const": tool.name}),
    };
    let text = json!({"type": "string"});
    let id = json!({"type": "string", "pattern": "^ev_[a-f0-9]{64}$"});
    let nullable = json!({"type": ["object", "null"]});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": [
            "analysis_profile", "authority", "confidence", "environment", "evidence_id",
            "evidence_links", "limitations", "locations", "normalized_result", "operation",
            "parameters", "predicate_type", "provider", "raw_result", "subject"
        ],
        "additionalProperties": false,
        "properties": {
            "analysis_profile": nullable,
            "authority": {"enum": [
                "shipped-artifact", "controlled-replay", "historical-reference",
                "external-service", "analyst-inference"
            ]},
            "confidence": {"enum": ["observed", "derived", "inferred"]},
            "environment": nullable,
            "evidence_id": id,
            "evidence_links": {"type": "array", "items": id},
            "limitations": {"type": "array", "items": text},
            "locations": {"type": "array", "items": {"type": "object"}},
            "normalized_result": {},
            "operation": operation,
            "parameters": {"type": "object"},
            "predicate_type": text,
            "provider": {
                "type": "object",
                "required": ["id", "name", "version"],
                "properties": {"id": text, "name": text, "version": {"type": ["string", "null"]}}
            },
            "raw_result": {},
            "subject": nullable
        }
    })
}
