//! Evidence as an argument of a tool: a record itself, or one that the session
//! keeps (decision 35).

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use rea::evidence::{Evidence, EvidenceId, Source};
use rea::json::{Limits, Value, canonical};
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

impl From<serde_json::Value> for Operand {
    fn from(value: serde_json::Value) -> Self {
        Self(value)
    }
}

/// The value of an argument that is a record, a reference to one, or a result:
/// a reference becomes the record that it names.
///
/// # Errors
/// Those of [`Operand::text`]; `invalid_request` where it is no exact JSON.
pub fn resolved(
    value: &serde_json::Value,
    operation: &str,
    member: &str,
    session: &Session,
) -> Result<Value> {
    let text = Operand(value.clone()).given(operation, member, session)?;
    let limits = Limits {
        max_input_bytes: session.ledger.capacity(),
        ..Limits::default()
    };
    Value::parse(&text, limits).map_err(|error| error.into_argument_error(operation, &[member]))
}

impl Operand {
    /// The text of the record, which is what it claims to be.
    ///
    /// # Errors
    /// `evidence_integrity_mismatch` where no such record is kept,
    /// `invalid_request` where the one that is given is none.
    pub fn text(&self, operation: &str, member: &str, session: &Session) -> Result<Arc<[u8]>> {
        let text = self.given(operation, member, session)?;
        if self.is_reference() {
            return Ok(text);
        }
        let evidence = Evidence::from_argument(&text, operation)?;
        Ok(canonical(&evidence).into())
    }

    fn is_reference(&self) -> bool {
        self.0
            .get("kind")
            .is_some_and(|kind| kind == "retained-evidence")
    }

    /// The text of a retained record, or of what is given, unchecked.
    ///
    /// # Errors
    /// `evidence_integrity_mismatch` where no such record is kept.
    pub fn given(&self, operation: &str, member: &str, session: &Session) -> Result<Arc<[u8]>> {
        if !self.is_reference() {
            return Ok(self.0.to_string().into_bytes().into());
        }
        let mut source = self.retained(operation, member, session)?;
        let mut text = Vec::new();
        let name = source.name().to_owned();
        source
            .read_to_end(&mut text)
            .map_err(|error| Error::file_io("read", &name, &error))?;
        Ok(text.into())
    }

    /// Where the record can be read: in the session, which has authenticated
    /// it, or in the text of an inline one, which is what it claims to be.
    ///
    /// # Errors
    /// Those of [`Operand::text`].
    pub fn source(&self, operation: &str, member: &str, session: &Session) -> Result<Source> {
        match self.is_reference() {
            true => self.retained(operation, member, session),
            false => Ok(Source::memory(
                member,
                self.text(operation, member, session)?,
            )),
        }
    }

    /// The retained record that is referred to.
    fn retained(&self, operation: &str, member: &str, session: &Session) -> Result<Source> {
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
        session.ledger.open(id).ok_or_else(|| missing(id))
    }
}
