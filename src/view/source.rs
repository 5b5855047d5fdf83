//! Where a view's parent comes from (views.md section 2).

use super::request::SourceForm;
use crate::error::{Code, Error, Result};
use crate::evidence::{Contents, EvidenceId, Observer, Source, observe_value, stream_contents};
use crate::json::{Limits, Value};
use crate::operation::Context;

/// The records that a session keeps.
pub trait Retained {
    /// The text of the record with this id, where it is kept.
    fn open(&self, id: EvidenceId) -> Option<Source>;
}

/// No session: a command line keeps nothing from one call to the next.
pub struct NothingRetained;

impl Retained for NothingRetained {
    fn open(&self, _: EvidenceId) -> Option<Source> {
        None
    }
}

/// Authenticates the parent while `observer` sees it pass.
pub(super) fn observe(
    source: SourceForm,
    retained: &dyn Retained,
    limits: Limits,
    context: &Context,
    observer: &mut dyn Observer,
) -> Result<Contents> {
    let within = &["source", "evidence"];
    match source {
        SourceForm::File(path) => stream_contents(Source::open(&path)?, limits, context, observer),
        SourceForm::Inline(value) => observe_value(&value, within, context, observer),
        SourceForm::Retained(id) => {
            let record = retained.open(id).ok_or_else(|| missing(id))?;
            stream_contents(record, limits, context, observer)
        }
    }
}

/// No record of that id is retained; why is not guessed.
pub fn missing(id: EvidenceId) -> Error {
    let message = format!("no record {id} is retained here");
    Error::new(Code::EvidenceIntegrityMismatch, message)
        .action("Give the record itself, as a file (`evidence-file`) or in the request (`inline`).")
        .detail("evidence_id", id.to_string())
        .detail("reason", "missing")
        .detail("expected", id.to_string())
        .detail("actual", Value::Null)
}
