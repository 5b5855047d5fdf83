//! Views of what the session retains.

use super::super::call::Call;
use super::super::session::Session;
use super::super::tool::Reply;
use crate::error::Result;
use crate::evidence::EvidenceId;
use crate::json::{Limits, Object};
use crate::view::{self, Request, SourceForm};

/// The summary of a retained record, as the operation for views makes it.
pub(in crate::mcp) fn summary(session: &Session, id: EvidenceId, call: &Call) -> Result<Reply> {
    let mut selected = Object::new();
    selected.insert("kind", "summary");
    let request = Request::new(SourceForm::Retained(id), selected)?;
    of(request, session, call)
}

/// The view that a request asks for.
///
/// # Errors
/// Those of [`view::inspect`].
pub fn of(request: Request, session: &Session, call: &Call) -> Result<Reply> {
    let context = call.context(view::OPERATION);
    let limits = Limits {
        max_input_bytes: session.ledger.capacity(),
        ..Limits::default()
    };
    let record = view::inspect(request, &session.ledger, limits, &context)?;
    Ok(Reply::record(&record))
}
