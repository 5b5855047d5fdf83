//! What becomes of the outcome of a call: a frame that fits into the client's
//! buffer, or an error that says how to go on (views section 11).

use super::frame::Frame;
use super::server::Server;
use super::tool::{Arguments, Reply, Tool};
use crate::error::{Code, Error};
use crate::evidence::EvidenceId;
use crate::json::{Limits, Object, Value, WriteJson, Writer};

/// The name of the operation that makes views.
const VIEWS: &str = crate::view::OPERATION;

impl Server {
    /// The error in place of a frame that is too large.
    pub(super) fn too_large(
        &self,
        tool: &Tool,
        arguments: &Arguments,
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
            if let Some(next) = continuation(tool, arguments, *id) {
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
    let mut text = Vec::new();
    let mut w = Writer::canonical(&mut text);
    w.begin_object();
    w.key("error");
    error.write_json(&mut w);
    w.end_object();
    w.finish_infallible();
    String::from_utf8_lossy(&text).into_owned()
}

fn reference(id: EvidenceId) -> Object {
    let mut reference = Object::new();
    reference.insert("kind", "retained-evidence");
    reference.insert("evidence_id", id.to_string());
    reference
}

/// A call that delivers a part of what did not fit.
fn continuation(tool: &Tool, arguments: &Arguments, id: EvidenceId) -> Option<Object> {
    let (source, view) = match tool.name == VIEWS {
        // A page was selected: the same one, half as long.
        true => {
            let source = arguments.get("source")?;
            if source.get("kind")? != "retained-evidence" {
                return None;
            }
            let mut view = arguments.get("view")?.as_object()?.clone();
            let limit = view
                .get("limit")
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(64);
            if limit < 2 || matches!(view.get("kind")?.as_str(), Some("summary" | "item")) {
                return None;
            }
            view.insert("limit".to_owned(), (limit / 2).into());
            (value(source)?, serde_json::Value::Object(view))
        }
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
