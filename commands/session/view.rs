//! Views of what a session keeps, or of a record in the arguments.

use rea::json::{Limits, Value};
use rea::mcp::{Arguments, Call, Reply, view_of};
use rea::view::{self, Request};
use rea::{Error, Result};
use schemars::JsonSchema as _;
use serde_json::json;

use super::Own;
use crate::retained::Operand;

/// `inspect_analysis_view`.
pub const VIEW: Own = Own {
    schema,
    run: inspect,
};

fn schema() -> serde_json::Value {
    let mut generator = schemars::SchemaGenerator::default();
    let record = Operand::json_schema(&mut generator).to_value();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": view::OPERATION,
        "type": "object",
        "required": ["source", "view"],
        "additionalProperties": false,
        "properties": {
            "source": {
                "description": "The record: one that the session keeps, or itself",
                "anyOf": [
                    record["anyOf"][0],
                    {
                        "type": "object",
                        "required": ["kind", "evidence"],
                        "additionalProperties": false,
                        "properties": {"kind": {"const": "inline"}, "evidence": {"type": "object"}}
                    }
                ]
            },
            "view": view::schema()
        }
    })
}

fn inspect(arguments: Arguments, call: &Call) -> Result<Reply> {
    let text = serde_json::Value::Object(arguments).to_string();
    let request = Value::parse(text.as_bytes(), Limits::default()).map_err(|error| {
        Error::invalid_request(view::OPERATION, &[], "invalid_format", error.to_string())
    })?;
    view_of(Request::parse(request)?, &call.session, call)
}
