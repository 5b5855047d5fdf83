//! Reading Evidence: every record is checked before it is used.
//!
//! A record in canonical form is checked as it streams by. One whose members
//! come in another order is read a second time, into memory, and replayed in
//! canonical order through the same checks.

use super::bundle::{self, Member};
use super::problem::{Report, Stage};
use super::source::Source;
use super::verifier::{MAX_OPEN_NAMES, Scope, Stop, Verifier};
use super::{Evidence, EvidenceId};
use crate::error::{Code, Error, Result};
use crate::json::{
    Budget, Event, Limits, Overflow, ReadError, ReadErrorKind, Reader, Value, replay,
};
use crate::operation::Context;

/// Between two looks at the stop request.
const EVENTS: u32 = 4096;

/// Takes the pieces of a record while it is checked. What it made of them
/// may be used only after the record was found good.
pub trait Observer {
    /// The record starts, or starts again: all pieces so far are void.
    fn restart(&mut self);

    /// The next piece of the record, members in canonical order.
    fn event(&mut self, event: Event<'_>) -> Result<()>;
}

/// Why a document gave no report.
pub(super) enum Failure {
    Read(ReadError),
    Other(Error),
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// How the pass over a document ended.
enum Pass {
    Done(Report),
    Unsorted,
    Bundle(Member),
}

/// A value that was read.
pub(super) enum Document {
    Record(Checked),
    /// The start of a bundle, read up to the name of this first member.
    Bundle(Member),
}

/// A record and where it stands.
pub(super) struct Checked {
    pub report: Report,
    pub span: Span,
}

/// Where a record stands in its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Offset in bytes of its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Whether all its members come in canonical order.
    pub sorted: bool,
}

/// The documents of one source.
pub(super) struct Documents<'a> {
    pub reader: Reader<Source>,
    verifier: Verifier,
    pub context: &'a Context,
    pub name: String,
}

impl<'a> Documents<'a> {
    pub fn new(mut source: Source, limits: Limits, scope: Scope, context: &'a Context) -> Self {
        source.heed(&context.cancellation);
        let name = source.name().to_owned();
        Self {
            reader: Reader::new(source, keep_overflow(limits)),
            verifier: Verifier::new(scope, context.threads),
            context,
            name,
        }
    }

    /// The next record, or the start of a bundle where `bundles` are taken;
    /// `None` after the last.
    pub fn next(
        &mut self,
        bundles: bool,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<Option<Document>, Failure> {
        if !self.reader.more()? {
            return Ok(None);
        }
        self.document(bundles, observer).map(Some)
    }

    /// The record whose first byte is next, as a document of its own or as an
    /// element of an array.
    pub fn document(
        &mut self,
        bundles: bool,
        mut observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<Document, Failure> {
        let mark = self.reader.mark();
        self.reader.input_mut().forget_before(mark.offset());
        let (report, sorted) = match self.stream(bundles, observer.as_deref_mut())? {
            Pass::Done(report) => (report, true),
            Pass::Unsorted => {
                self.reader.rewind(mark)?;
                let value = self.reader.read_value(Budget::default())?;
                (self.replay(&value, observer)?, false)
            }
            Pass::Bundle(member) => return Ok(Document::Bundle(member)),
        };
        let length = self.reader.place().offset - mark.offset();
        self.context.progress.add_bytes(length);
        let span = Span {
            offset: mark.offset(),
            length,
            sorted,
        };
        Ok(Document::Record(Checked { report, span }))
    }

    fn stream(
        &mut self,
        bundles: bool,
        mut observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<Pass, Failure> {
        self.verifier.restart();
        if let Some(observer) = &mut observer {
            observer.restart();
        }
        let mut first = bundles;
        let mut left = EVENTS;
        loop {
            let event = self.reader.next_event()?;
            // No member of a record is called like one of a bundle.
            if let (true, Event::Key { name, .. }) = (first, event) {
                if let Some(member) = Member::of(name) {
                    return Ok(Pass::Bundle(member));
                }
                first = false;
            }
            match (self.verifier.event(event), &mut observer) {
                (Ok(()), None) => {}
                (Ok(()), Some(observer)) => observer.event(event)?,
                (Err(Stop::Unsorted), _) => return Ok(Pass::Unsorted),
                (Err(stop), _) => return Err(stopped(stop, self.reader.place()).into()),
            }
            if let Some(report) = self.verifier.take_report() {
                return Ok(Pass::Done(report));
            }
            left -= 1;
            if left == 0 {
                self.context.check()?;
                left = EVENTS;
            }
        }
    }

    fn replay(
        &mut self,
        value: &Value,
        mut observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<Report, Failure> {
        self.verifier.restart();
        if let Some(observer) = &mut observer {
            observer.restart();
        }
        let verifier = &mut self.verifier;
        let place = self.reader.place();
        replay(value, &mut |event| -> Result<(), Failure> {
            verifier.event(event).map_err(|stop| stopped(stop, place))?;
            match &mut observer {
                Some(observer) => Ok(observer.event(event)?),
                None => Ok(()),
            }
        })?;
        self.verifier
            .take_report()
            .ok_or_else(|| Failure::Other(incomplete(&self.name)))
    }

    /// The failure as a report, where it is one on the document.
    fn report_failure(&mut self, failure: Failure) -> Result<Report> {
        self.context.check()?;
        match failure {
            Failure::Other(error) => Err(error),
            Failure::Read(error) => Ok(match error.kind() {
                ReadErrorKind::Depth => self.verifier.refuse(&error.to_string()),
                kind => {
                    let stage = match kind {
                        ReadErrorKind::Io(_) | ReadErrorKind::Resource { .. } => Stage::Read,
                        _ => Stage::Json,
                    };
                    let error = error.into_file_error(&self.name);
                    Report::unreadable(stage, error.message())
                }
            }),
        }
    }

    pub fn file_error(&self, failure: Failure) -> Error {
        if let Err(cancelled) = self.context.check() {
            return cancelled;
        }
        match failure {
            Failure::Other(error) => error,
            Failure::Read(error) => error.into_file_error(&self.name),
        }
    }
}

pub(super) fn stopped(stop: Stop, place: crate::json::Place) -> ReadError {
    match stop {
        Stop::Duplicate(name) => ReadError::duplicate(&name, place),
        Stop::OpenNames | Stop::Unsorted => {
            let maximum = MAX_OPEN_NAMES as u64;
            let message =
                format!("the names of members inside each other take more than {maximum} bytes");
            ReadError::resource("open-member-names", maximum, place, message)
        }
    }
}

pub(super) fn incomplete(name: &str) -> Error {
    let message = format!("{name} is not valid JSON: it is not complete");
    Error::file("read", "invalid-json", name, message)
        .action("Give the file as it was written, whole.")
}

/// Verifies every record and bundle of a source, records inside records and
/// the ids of artifact graphs included. `each` gets the reports in order, the
/// one on a bundle after those on its records; input that cannot be read is
/// the last of them. Fails when cancelled, and where `each` fails.
pub fn verify_all(
    source: Source,
    limits: Limits,
    context: &Context,
    each: &mut dyn FnMut(Report) -> Result<()>,
) -> Result<()> {
    let mut documents = Documents::new(source, limits, Scope::Everything, context);
    let mut any = false;
    loop {
        let report = match documents.next(true, None) {
            Ok(Some(Document::Record(checked))) => Ok(checked.report),
            Ok(Some(Document::Bundle(first))) => {
                bundle::read(&mut documents, first, &mut bundle::Room::default(), each)
                    .map(bundle::Parts::into_report)
            }
            Ok(None) if any => return Ok(()),
            Ok(None) => {
                let name = &documents.name;
                let message = format!("{name} holds no record");
                return each(Report::unreadable(Stage::Json, message));
            }
            Err(failure) => Err(failure),
        };
        match report {
            Ok(report) => {
                any = true;
                each(report)?;
            }
            Err(failure) => {
                let report = documents.report_failure(failure)?;
                return each(report);
            }
        }
    }
}

/// Reads exactly one record in constant memory, if it is in canonical form;
/// `observer` sees it pass. Its id, once it is found good.
pub fn stream_record(
    source: Source,
    limits: Limits,
    context: &Context,
    observer: &mut dyn Observer,
) -> Result<EvidenceId> {
    let name = source.name().to_owned();
    let report = stream_one(source, limits, Scope::Record, context, observer)?;
    if let Some(error) = report.file_error(&name) {
        return Err(error);
    }
    report.evidence_id.ok_or_else(|| incomplete(&name))
}

/// Reads exactly one record as [`stream_record`] does and checks everything
/// in it: the records inside it and the ids of artifact graphs too. The
/// verdict is the caller's to judge.
///
/// # Errors
/// Only where the file cannot be read, holds no JSON, or more than one value.
pub fn stream_everything(
    source: Source,
    limits: Limits,
    context: &Context,
    observer: &mut dyn Observer,
) -> Result<Report> {
    stream_one(source, limits, Scope::Everything, context, observer)
}

fn stream_one(
    source: Source,
    limits: Limits,
    scope: Scope,
    context: &Context,
    observer: &mut dyn Observer,
) -> Result<Report> {
    let mut documents = Documents::new(source, limits, scope, context);
    let report = match documents.next(true, Some(observer)) {
        Ok(Some(Document::Record(checked))) => checked.report,
        Ok(Some(Document::Bundle(_))) => return Err(is_bundle(&documents.name)),
        Ok(None) => return Err(is_empty(&documents.name)),
        Err(failure) => return Err(documents.file_error(failure)),
    };
    // A second value makes the text invalid, whatever the first one is.
    match documents.reader.expect_end() {
        Ok(()) => Ok(report),
        Err(error) => {
            let more = matches!(error.kind(), ReadErrorKind::Syntax);
            let error = error.into_file_error(&documents.name);
            Err(if more {
                error.action("Give one record at a time; of canonical records each line is one.")
            } else {
                error
            })
        }
    }
}

fn is_bundle(name: &str) -> Error {
    let message = format!("{name} is a bundle; one record is needed");
    Error::new(Code::UnsupportedTarget, message)
        .action("`rea inspect-evidence-bundle` lists its records; `jq -c '.records[] | select(.evidence_id == \"ev_...\")'` takes one out of it.")
        .detail("path", name)
        .detail("found", "bundle")
}

fn is_empty(name: &str) -> Error {
    let message = format!("{name} is empty; a record is needed");
    Error::file("read", "invalid-json", name, message).action(
        "Give a file that holds a record, as `rea inspect-artifact PATH -o FILE` writes it.",
    )
}

/// What was found of a record that was read with everything inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The record's id.
    pub id: EvidenceId,
    /// Whether the ids and counts of the artifact graphs in it recompute.
    pub graphs_verified: bool,
}

/// [`stream_record`], with the records and artifact graphs inside it: a record
/// inside that is not what it claims to be is an error, a graph that does not
/// recompute is told.
pub fn stream_contents(
    source: Source,
    limits: Limits,
    context: &Context,
    observer: &mut dyn Observer,
) -> Result<Contents> {
    let name = source.name().to_owned();
    let report = stream_everything(source, limits, context, observer)?;
    if let Some(error) = report
        .first_unauthentic()
        .and_then(|report| report.file_error(&name))
    {
        return Err(error);
    }
    contents(&report).ok_or_else(|| incomplete(&name))
}

fn contents(report: &Report) -> Option<Contents> {
    Some(Contents {
        id: report.evidence_id?,
        graphs_verified: report.is_verified(),
    })
}

/// [`stream_contents`] of a record that is in memory, given as the member at
/// `within` of the arguments of the context's operation.
pub fn observe_value(
    value: &Value,
    within: &[&str],
    context: &Context,
    observer: &mut dyn Observer,
) -> Result<Contents> {
    let operation = context.operation;
    let mut verifier = Verifier::new(Scope::Everything, context.threads);
    let mut left = EVENTS;
    let refused = || {
        let message = "the names of members inside each other take too many bytes";
        Error::invalid_request(operation, within, "out_of_range", message)
    };
    observer.restart();
    replay(value, &mut |event| {
        verifier.event(event).map_err(|_| refused())?;
        observer.event(event)?;
        left -= 1;
        if left == 0 {
            context.check()?;
            left = EVENTS;
        }
        Ok::<(), Error>(())
    })?;
    let report = verifier.take_report().ok_or_else(refused)?;
    if let Some(error) = report
        .first_unauthentic()
        .and_then(|report| report.argument_error_at(within, operation))
    {
        return Err(error);
    }
    contents(&report).ok_or_else(refused)
}

/// Reads every record of a source into memory, one after the other.
pub fn read_records(
    mut source: Source,
    limits: Limits,
    context: &Context,
    each: &mut dyn FnMut(Evidence) -> Result<()>,
) -> Result<()> {
    source.heed(&context.cancellation);
    let name = source.name().to_owned();
    let failed = |error: ReadError| match context.check() {
        Ok(()) => error.into_file_error(&name),
        Err(cancelled) => cancelled,
    };
    let mut reader = Reader::new(source, keep_overflow(limits));
    while reader.more().map_err(failed)? {
        context.check()?;
        let before = reader.place().offset;
        reader.input_mut().forget_before(u64::MAX);
        let value = reader.read_value(Budget::default()).map_err(failed)?;
        context.progress.add_bytes(reader.place().offset - before);
        each(Evidence::from_file_value(value, &name)?)?;
    }
    Ok(())
}

/// Reads exactly one record into memory.
pub fn read_record(mut source: Source, limits: Limits, context: &Context) -> Result<Evidence> {
    source.heed(&context.cancellation);
    let name = source.name().to_owned();
    let failed = |error: ReadError| match context.check() {
        Ok(()) => error.into_file_error(&name),
        Err(cancelled) => cancelled,
    };
    let mut reader = Reader::new(source, keep_overflow(limits));
    context.check()?;
    let value = reader.read_value(Budget::default()).map_err(failed)?;
    reader.expect_end().map_err(failed)?;
    Evidence::from_file_value(value, &name)
}

pub(super) fn keep_overflow(limits: Limits) -> Limits {
    Limits {
        overflow: Overflow::Keep,
        ..limits
    }
}

/// Verifies one record that is in memory, without what is inside it.
pub(super) fn check_value(value: &Value) -> Report {
    let mut verifier = Verifier::new(Scope::Record, 1);
    let done = replay(value, &mut |event| verifier.event(event));
    match (done, verifier.take_report()) {
        (Ok(()), Some(report)) => report,
        _ => verifier.refuse("the names of members inside each other take too many bytes"),
    }
}

/// Verifies text that is one document, as [`verify_all`] does, by streaming
/// where the order of members allows it and by replaying it from memory.
/// For tests: the two must agree.
#[doc(hidden)]
pub fn verify_both_ways(text: &[u8]) -> (Option<Report>, Option<Report>) {
    let limits = keep_overflow(Limits::default());
    let mut verifier = Verifier::new(Scope::Everything, 1);
    let mut reader = Reader::new(text, limits);
    let streamed = loop {
        let Ok(event) = reader.next_event() else {
            break None;
        };
        if verifier.event(event).is_err() {
            break None;
        }
        if let Some(report) = verifier.take_report() {
            break Some(report);
        }
    };
    verifier.restart();
    let value = Reader::new(text, limits).read_value(Budget::default());
    let replayed = value.ok().and_then(|value| {
        replay(&value, &mut |event| verifier.event(event)).ok()?;
        verifier.take_report()
    });
    (streamed, replayed)
}
