//! Files that hold bundles, or records and bundles after each other.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::capture::{Capture, Room};
use super::read::{read, stored};
use super::{Bundle, Entry};
use crate::error::{Code, Error, Result};
use crate::evidence::problem::{Report, Stage};
use crate::evidence::source::{Source, Store};
use crate::evidence::unknowns::Unknowns;
use crate::evidence::verifier::Scope;
use crate::evidence::verify::{Document, Documents, incomplete};
use crate::json::{Event, Limits, ReadError, Reader};
use crate::operation::Context;

/// Reads exactly one bundle. Its records stay in the file; a stream is copied
/// to one that has no name.
pub fn read_bundle(source: Source, limits: Limits, context: &Context) -> Result<Bundle> {
    let (source, store) = source.retain(limits, context)?;
    read_one(source, &store, limits, context)
}

/// Reads exactly one bundle from memory.
pub fn read_bundle_bytes(name: &str, bytes: &[u8], context: &Context) -> Result<Bundle> {
    let store = Arc::new(Store::of(name, bytes.to_vec()));
    let stream = std::io::Cursor::new(bytes.to_vec());
    let source = Source::stream(name, Box::new(stream));
    read_one(source, &store, Limits::default(), context)
}

fn read_one(
    source: Source,
    store: &Arc<Store>,
    limits: Limits,
    context: &Context,
) -> Result<Bundle> {
    let mut documents = Documents::new(source, limits, Scope::Record, context);
    let failed = |failure, documents: &Documents<'_>| documents.file_error(failure);
    let parts = match documents.next(true, None) {
        Ok(Some(Document::Bundle(first))) => {
            read(&mut documents, first, &mut Room::default(), &mut |_| Ok(()))
        }
        Ok(Some(Document::Record(checked))) => {
            return Err(not_a_bundle(&documents.name, &checked.report));
        }
        Ok(None) => return Err(incomplete(&documents.name)),
        Err(failure) => Err(failure),
    };
    let parts = parts.map_err(|failure| failed(failure, &documents))?;
    if let Err(error) = documents.reader.expect_end() {
        return Err(error.into_file_error(&documents.name));
    }
    parts.into_bundle(store)
}

fn not_a_bundle(name: &str, report: &Report) -> Error {
    let record = report.evidence_id.is_some();
    let what = match record {
        true => format!("{name} is a record, not a bundle"),
        false => format!("{name} is neither a bundle nor a record"),
    };
    let error = Error::new(Code::EvidenceIntegrityMismatch, what.as_str())
        .detail("path", name)
        .detail("reason", what.as_str())
        .detail("stage", Stage::Shape.as_str());
    match record {
        true => error.action("`rea bundle RECORD... -o bundle.json` makes a bundle of records."),
        false => error,
    }
}

/// What an input held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// One record.
    Record,
    /// A bundle.
    Bundle,
}

/// One value of an input, ready to be merged.
#[derive(Debug)]
pub struct Item {
    /// What it was.
    pub kind: ItemKind,
    /// Its records and unknowns; of a record, itself alone.
    pub bundle: Bundle,
}

/// Reads what one bundle is made of, from any number of inputs. What all of
/// them together may keep in memory is limited.
#[derive(Debug, Default)]
pub struct Collector {
    room: Room,
}

impl Collector {
    /// Nothing has been read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads any number of records and bundles after each other.
    ///
    /// Errors: those of `each`, of reading, and `resource_constraint` where
    /// it is more than one bundle can hold.
    pub fn read(
        &mut self,
        source: Source,
        limits: Limits,
        context: &Context,
        each: &mut dyn FnMut(Item) -> Result<()>,
    ) -> Result<()> {
        let (source, store) = source.retain(limits, context)?;
        let mut documents = Documents::new(source, limits, Scope::Record, context);
        let mut capture = Capture::default();
        let mut any = false;
        loop {
            let next = documents.next(true, Some(&mut capture));
            let next = next.map_err(|failure| documents.file_error(failure))?;
            let item = match next {
                None if any => return Ok(()),
                None => return Err(incomplete(&documents.name)),
                Some(Document::Bundle(first)) => {
                    let parts = read(&mut documents, first, &mut self.room, &mut |_| Ok(()));
                    let parts = parts.map_err(|failure| documents.file_error(failure))?;
                    let bundle = parts.into_bundle(&store)?;
                    let kind = ItemKind::Bundle;
                    Item { kind, bundle }
                }
                Some(Document::Record(checked)) => {
                    if let Some(error) = checked.report.file_error(&documents.name) {
                        return Err(error);
                    }
                    let id = checked.report.evidence_id;
                    let id = id.ok_or_else(|| incomplete(&documents.name))?;
                    let entry = Entry {
                        head: self.room.head(&mut capture, id)?,
                        body: stored(&store, checked.span),
                    };
                    let bundle = Bundle {
                        entries: vec![entry],
                        unknowns: Unknowns::default(),
                    };
                    let kind = ItemKind::Record;
                    Item { kind, bundle }
                }
            };
            any = true;
            each(item)?;
        }
    }
}

/// The name of the first member of the object in a file: it tells a bundle
/// from a record and from a request. `None` where it is no object or has none.
pub fn first_member(path: &Path, limits: Limits) -> Result<Option<Vec<u8>>> {
    let source = Source::open(path)?;
    let name = source.name().to_owned();
    let mut reader = Reader::new(source, limits);
    let failed = |error: ReadError| error.into_file_error(&name);
    first_name(&mut reader).map_err(failed)
}

fn first_name<R: Read>(reader: &mut Reader<R>) -> Result<Option<Vec<u8>>, ReadError> {
    if reader.next_event()? != Event::BeginObject {
        return Ok(None);
    }
    match reader.next_event()? {
        Event::Key { name, .. } => Ok(Some(name.to_vec())),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        Confidence, Creation, Evidence, NewUnknown, Probe, Provider, Severity, UnknownScope,
    };

    fn context() -> Context {
        Context::new("bundle")
    }

    fn text_of(bundle: &Bundle) -> Vec<u8> {
        let mut out = Vec::new();
        let written = bundle.write_to(&context(), &mut out);
        written.expect("it is in memory").expect("so is the sink");
        out
    }

    /// The results of reading `inputs` for one bundle that may keep `text`
    /// bytes and `records` records.
    fn collected(inputs: &[Vec<u8>], text: u64, records: usize) -> Vec<Option<Code>> {
        let room = Room::of(text, records);
        let mut collector = Collector { room };
        let one = |input: &Vec<u8>| {
            let source = Source::stream("x", Box::new(std::io::Cursor::new(input.clone())));
            let read = collector.read(source, Limits::default(), &context(), &mut |_| Ok(()));
            read.err().map(|error| error.code())
        };
        inputs.iter().map(one).collect()
    }

    fn records() -> Vec<Vec<u8>> {
        const MADE_UP: Provider = Provider {
            id: "fixture",
            name: "Fixture provider",
            version: "1",
        };
        let record = |number: u64| {
            let mut creation = Creation::new("health", MADE_UP);
            creation.operation = format!("{number}{}", "x".repeat(1000));
            crate::json::canonical(&Evidence::create(creation))
        };
        (0..3).map(record).collect()
    }

    #[test]
    fn all_inputs_together_have_one_budget() {
        let full = Some(Code::ResourceConstraint);
        let inputs = records();
        assert_eq!(collected(&inputs, 1 << 20, 9), [None, None, None]);
        assert_eq!(collected(&inputs, 1 << 20, 2), [None, None, full]);
        assert_eq!(collected(&inputs, 3000, 9), [None, None, full]);
    }

    /// A probe takes more memory than the text that it stands in.
    #[test]
    fn unknowns_are_charged_as_they_are_kept() {
        let probe = Probe {
            operation: "x".into(),
            rationale: "".into(),
        };
        let unknown = NewUnknown {
            question: "Why?".into(),
            severity: Severity::Low,
            domain: "files".into(),
            required_authority: None,
            required_confidence: Confidence::Observed,
            required_environment: None,
            recommended_probes: vec![probe; 1000],
            relationships: Vec::new(),
            supporting_evidence_ids: Vec::new(),
            contradicting_evidence_ids: Vec::new(),
        };
        let mut bundle = Bundle::new();
        let made = bundle.record_unknown(&unknown, UnknownScope::Nothing);
        let kept = made.expect("it holds").revision.memory_bytes();
        assert!(kept >= 1000 * size_of::<Probe>() as u64);
        let input = [text_of(&bundle)];
        assert_eq!(collected(&input, kept + 10_000, 9), [None]);
        let full = Some(Code::ResourceConstraint);
        assert_eq!(collected(&input, kept - 1, 9), [full]);
    }
}
