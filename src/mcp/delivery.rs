//! What becomes of the outcome of a call: a frame that fits into the client's
//! buffer, or an error that says how to go on (views section 11).

use super::frame::Frame;
use super::server::Server;
use super::tool::{Arguments, Reply, Tool};
use crate::error::{Code, Error};
use crate::evidence::EvidenceId;
use crate::json::{Limits, Object, Value};

/// The name of the operation that makes views.
const VIEWS: &str = crate::view::OPERATION;

impl Server {
    /// The error in place of a frame that is too large.
    pub(super) fn too_large(
        &self,
        tool: &Tool,
        asked: Option<Page>,
        reply: &Reply,
        frame: &Frame,
    ) -> Error {
        let budget = self.settings.budget();
        let mut limits = Object::new();
        limits.insert("boundary", "mcp-response");
        limits.insert(
            "default_receive_buffer_bytes",
            super::settings::RESPONSE_BYTES,
        );
        limits.insert("result_budget_bytes", budget);
        limits.insert("max_string_code_units", Value::Null);
        limits.insert("response_bytes_at_least", frame.size());
        let text = match reply {
            Reply::Evidence { text, .. } | Reply::Result(text) | Reply::Object(text) => {
                text.len() as u64
            }
        };
        limits.insert("response_code_units_at_least", text);
        limits.insert("constraint", "response-bytes");
        let mut action = format!(
            "Ask {VIEWS} for a part of the record, write it to a file with export_evidence_bundle, or run the same operation on the command line, which streams."
        );
        if let Reply::Evidence { id, .. } = reply {
            limits.insert("evidence_reference", reference(*id));
            limits.insert("evidence_id", id.to_string());
            if let Some(next) = continuation(tool, asked, *id) {
                limits.insert("continuation", next);
                action = format!(
                    "Call {VIEWS} with details.reported_limits.continuation.arguments as they are; the complete record is retained."
                );
            }
        }
        let reason = format!(
            "the reply has {} bytes, and a reply may have {budget}",
            frame.size()
        );
        Error::new(
            Code::ResourceConstraint,
            format!("The result is too large to be sent: {reason}"),
        )
        .action(action)
        .detail("operation", tool.name)
        .detail("resource", "transport")
        .detail("reason", reason)
        .detail("reported_limits", limits)
    }

    /// The error in place of one that is too large itself.
    pub(super) fn bounded(
        &self,
        error: &Error,
        tool: &str,
        kept: Result<EvidenceId, Error>,
    ) -> Error {
        let budget = self.settings.budget();
        let mut limits = Object::new();
        limits.insert("boundary", "mcp-response");
        limits.insert("result_budget_bytes", budget);
        let reason = format!("the error has more than {budget} bytes");
        let message = format!(
            "The call failed ({}), and its error is too large to be sent",
            error.code().as_str()
        );
        let bounded = Error::new(Code::ResourceConstraint, message)
            .detail("operation", tool)
            .detail("resource", "transport")
            .detail("reason", reason)
            .detail("failure", error.code().as_str());
        let bounded = match kept {
            Ok(id) => {
                limits.insert("evidence_reference", reference(id));
                bounded.action(
                    "The error is retained as a record: write it to a file with export_evidence_bundle.",
                )
            }
            Err(unkept) => bounded
                .action("Call again with smaller arguments.")
                .detail("retention", unkept.message()),
        };
        bounded.detail("reported_limits", limits)
    }
}

/// `{"error": ...}` as text.
pub(crate) fn error_text(error: &Error) -> String {
    String::from_utf8_lossy(&error.enveloped()).into_owned()
}

fn reference(id: EvidenceId) -> Object {
    let mut reference = Object::new();
    reference.insert("kind", "retained-evidence");
    reference.insert("evidence_id", id.to_string());
    reference
}

/// The page of a retained record that a call asks for.
pub(super) struct Page {
    source: serde_json::Value,
    view: Arguments,
}

impl Page {
    /// What `arguments` of `tool` ask for, if it is such a page.
    pub fn of(tool: &Tool, arguments: &Arguments) -> Option<Self> {
        let source = arguments.get("source").filter(|_| tool.name == VIEWS)?;
        if source.get("kind")? != "retained-evidence" {
            return None;
        }
        let view = arguments.get("view")?.as_object()?;
        if matches!(view.get("kind")?.as_str(), Some("summary" | "item")) {
            return None;
        }
        Some(Self {
            source: source.clone(),
            view: view.clone(),
        })
    }

    /// The same page, half as long.
    fn half(mut self) -> Option<(Value, serde_json::Value)> {
        let limit = self.view.get("limit").and_then(serde_json::Value::as_u64);
        let half = limit.unwrap_or(64) / 2;
        if half == 0 {
            return None;
        }
        self.view.insert("limit".to_owned(), half.into());
        let source = value(&self.source)?;
        Some((source, serde_json::Value::Object(self.view)))
    }
}

/// A call that delivers a part of what did not fit.
fn continuation(tool: &Tool, asked: Option<Page>, id: EvidenceId) -> Option<Object> {
    let (source, view) = match tool.name == VIEWS {
        true => asked?.half()?,
        // The owner's first page.
        false => (reference(id).into(), tool.first_page.clone()?),
    };
    let mut call = Object::new();
    call.insert("source", source);
    call.insert("view", value(&view)?);
    let mut next = Object::new();
    next.insert("name", VIEWS);
    next.insert("arguments", call);
    Some(next)
}

/// The same value as ours.
pub(crate) fn value(value: &serde_json::Value) -> Option<Value> {
    let text = serde_json::to_vec(value).ok()?;
    Value::parse(&text, Limits::default()).ok()
}
