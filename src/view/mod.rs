//! `inspect_analysis_view`: a smaller record that selects facts from one
//! complete record, its parent, without running anything again.
//!
//! A request names the parent (a file, a record in the arguments, or one that
//! a session keeps) and the view. The parent is authenticated as it streams
//! by; a producer's collector keeps what the view asks for and, once the
//! parent is found good, projects it. Everything else is the same for all
//! producers: the request's shape, defaults that enter identity, coverage, the
//! view's digest, the merged limitations, errors.
//!
//! A producer is a row of a table: the operations whose records it
//! knows, the kinds of view it answers, and its collector.

mod artifact;
mod kinds;
mod layout;
mod macho;
mod native_inventory;
mod parent;
mod record;
mod request;
mod rows;
mod schema;
mod source;
pub mod text;
mod wasm;

pub use kinds::schema;
pub use record::{Coverage, ViewRecord};
pub use request::{Request, SourceForm};
pub use source::{NothingRetained, Retained, missing};

use crate::error::{Code, Error, Result};
use crate::evidence::{Contents, Parent, Provider};
use crate::json::{Event, Issue, Limits, Text, Value};
use crate::operation::Context;
use parent::{Envelope, Memory};
use record::Projection;
use request::View;

/// The operation that views are results of.
pub const OPERATION: &str = "inspect_analysis_view";

/// The kind of view that says what a record is about and how much it holds.
const SUMMARY: &str = "summary";

/// Who makes views.
pub const PROVIDER: Provider = Provider {
    id: "rea-analysis-view",
    name: "rea analysis view",
    version: "1",
};

/// Records of one kind of analysis, and how views of them are made.
struct Producer {
    /// Operations whose records it knows.
    operations: &'static [&'static str],
    /// The kinds of view that it answers.
    kinds: &'static [&'static str],
    /// What takes a record's `normalized_result` apart for a view.
    collector: fn(&View) -> Box<dyn Collector>,
}

static PRODUCERS: &[Producer] = &[
    artifact::PRODUCER,
    layout::PRODUCER,
    macho::PRODUCER,
    native_inventory::PRODUCER,
    wasm::PRODUCER,
];

/// Keeps what a view needs of a parent's `normalized_result`.
///
/// The operation stands behind the result in a record, so a collector may see
/// the result of another producer; it is then dropped without being asked. It
/// must bound what it keeps by what the view selects, charge everything else
/// that it keeps, and must not fail over a result of another shape before
/// [`Collector::project`].
trait Collector {
    /// The result starts, or starts again.
    fn restart(&mut self);

    /// The next piece of the result, members in canonical order.
    fn event(&mut self, event: Event<'_>, memory: &mut Memory) -> Result<()>;

    /// The parent is what it claims to be and of one of the producer's
    /// operations: the facts that the view selects.
    fn project(
        self: Box<Self>,
        parent: &Parent,
        contents: Contents,
        view: &View,
    ) -> Result<Projection>;
}

/// Makes the view that a request asks for.
///
/// # Errors
/// `invalid_request` with issues where the view does not fit the parent, a
/// record in the arguments is not what it claims to be or its result is not of
/// its producer's shape, `unsupported_target`
/// for a parent that no producer knows, `evidence_integrity_mismatch` for a
/// file that is no record or a record that is not retained, those of reading
/// files, `resource_constraint` where the parent says too much beside its
/// rows, `cancelled`.
pub fn inspect(
    request: Request,
    retained: &dyn Retained,
    limits: Limits,
    context: &Context,
) -> Result<ViewRecord> {
    let Request { source, view } = request;
    let candidates = PRODUCERS
        .iter()
        .filter(|producer| producer.kinds.contains(&view.kind()))
        .map(|producer| (producer, (producer.collector)(&view)))
        .collect();
    let mut envelope = Envelope::new(candidates, view.kind() == SUMMARY);
    let contents = source::observe(source, retained, limits, context, &mut envelope)?;
    let (parent, candidates) = envelope.finish(contents.id)?;
    let Some(producer) = producer_of(&parent.operation) else {
        return Err(unsupported(&parent.operation));
    };
    let chosen = candidates
        .into_iter()
        .find(|(candidate, _)| std::ptr::eq(*candidate, producer));
    let Some((_, collector)) = chosen else {
        return Err(unfit(producer, &view, &parent.operation));
    };
    context.check()?;
    let projection = collector.project(&parent, contents, &view)?;
    if let (Some(artifact), Some(subject)) = (&projection.artifact, parent.subject_sha256())
        && artifact.sha256 != subject
    {
        let reason = "the record is about another artifact than its result";
        return Err(Error::new(Code::EvidenceIntegrityMismatch, reason)
            .action("Use the record as it was written, or make it again.")
            .detail("evidence_id", parent.id.to_string())
            .detail("reason", reason));
    }
    context.check()?;
    Ok(ViewRecord::new(parent, view, projection))
}

fn producer_of(operation: &Text) -> Option<&'static Producer> {
    let known = |producer: &&Producer| {
        let mut names = producer.operations.iter();
        names.any(|name| *operation == **name)
    };
    PRODUCERS.iter().find(known)
}

fn unsupported(operation: &Text) -> Error {
    let name = String::from_utf8_lossy(operation.as_bytes());
    let known: Vec<&str> = PRODUCERS
        .iter()
        .flat_map(|producer| producer.operations)
        .copied()
        .collect();
    let message = format!("there are no views of records of {name}");
    Error::new(Code::UnsupportedTarget, message)
        .action(format!("Views exist of {}.", known.join(", ")))
        .detail("operation", OPERATION)
        .detail("parent_operation", operation.clone())
        .detail("reason", "unsupported_parent")
}

fn unfit(producer: &Producer, view: &View, operation: &Text) -> Error {
    let name = String::from_utf8_lossy(operation.as_bytes());
    let message = format!("records of {name} have no {} views", view.kind());
    let expected: Vec<Value> = producer.kinds.iter().map(|&kind| kind.into()).collect();
    Issue::new(&["view"], "invalid_value", message)
        .expected(Value::Array(expected))
        .into_error(OPERATION)
        .action(format!(
            "Ask for one of these kinds: {}.",
            producer.kinds.join(", ")
        ))
}
