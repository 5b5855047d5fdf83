//! Evidence as an argument of a tool: a record itself, or one that the session
//! keeps (decision 35).

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use rea::evidence::{Evidence, EvidenceId};
use rea::json::canonical;
use rea::mcp::Session;
use rea::view::{Retained, missing};
use rea::{Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// A record, or a reference to one.
#[derive(Clone, Debug, Deserialize)]
pub struct Operand(serde_json::Value);

impl JsonSchema for Operand {
    fn schema_name() -> Cow<'static, str> {
        "Operand".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"anyOf": [
            {
                "type": "object",
                "required": ["kind", "evidence_id"],
                "additionalProperties": false,
                "properties": {
                    "kind": {"const": "retained-evidence"},
                    "evidence_id": {"type": "string", "pattern": "^ev_[a-f0-9]{64}$"}
                }
            },
            {
                "type": "object",
                "description": "A complete record",
                "required": ["evidence_id", "operation", "normalized_result"],
                "properties": {
                    "evidence_id": {"type": "string"},
                    "operation": {"type": "string"}
                }
            }
        ]})
    }
}

impl Operand {
    /// The text of the record, which is what it claims to be.
    ///
    /// # Errors
    /// `evidence_integrity_mismatch` where no such record is kept,
    /// `invalid_request` where the one that is given is none.
    pub fn text(&self, operation: &str, member: &str, session: &Session) -> Result<Arc<[u8]>> {
        if self
            .0
            .get("kind")
            .is_some_and(|kind| kind == "retained-evidence")
        {
            let id = self.0.get("evidence_id").and_then(|id| id.as_str());
            let id = id.and_then(|id| EvidenceId::from_text(id.as_bytes()));
            let Some(id) = id else {
                let message = "a reference names a record by its id";
                let at = [member, "evidence_id"];
                return Err(Error::invalid_request(
                    operation,
                    &at,
                    "invalid_format",
                    message,
                ));
            };
            let mut text = Vec::new();
            let mut source = session.ledger.open(id).ok_or_else(|| missing(id))?;
            source
                .read_to_end(&mut text)
                .map_err(|error| Error::file_io("read", &id.to_string(), &error))?;
            return Ok(text.into());
        }
        let text = self.0.to_string();
        let evidence = Evidence::from_argument(text.as_bytes(), operation)?;
        Ok(canonical(&evidence).into())
    }
}
