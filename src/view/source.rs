//! Where a view's parent comes from (views.md section 2).

use std::sync::Arc;

use super::request::SourceForm;
use crate::error::{Code, Error, Result};
use crate::evidence::{
    Contents, Evidence, EvidenceId, Observer, Source, observe_value, stream_contents,
};
use crate::json::{Limits, Value};
use crate::operation::Context;

/// The records that a session keeps.
pub trait Retained {
    /// The record with this id, where it is kept.
    fn find(&self, id: EvidenceId) -> Option<Arc<Evidence>>;
}

/// No session: a command line keeps nothing from one call to the next.
pub struct NothingRetained;

impl Retained for NothingRetained {
    fn find(&self, _: EvidenceId) -> Option<Arc<Evidence>> {
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
            let record = retained.find(id).ok_or_else(|| missing(id))?;
            let value = Value::Object(record.record().clone());
            observe_value(&value, within, context, observer)
        }
    }
}

fn missing(id: EvidenceId) -> Error {
    let message = format!("no record {id} is retained here");
    Error::new(Code::EvidenceIntegrityMismatch, message)
        .action("Give the record itself, as a file (`evidence-file`) or in the request (`inline`).")
        .detail("evidence_id", id.to_string())
        .detail("reason", "missing")
}
