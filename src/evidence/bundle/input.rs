//! Files that hold bundles, or records and bundles after each other.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::capture::{Capture, Interner};
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
        Ok(Some(Document::Bundle(first))) => read(&mut documents, first, &mut |_| Ok(())),
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

/// Reads any number of records and bundles after each other.
pub fn collect(
    source: Source,
    limits: Limits,
    context: &Context,
    each: &mut dyn FnMut(Item) -> Result<()>,
) -> Result<()> {
    let (source, store) = source.retain(limits, context)?;
    let mut documents = Documents::new(source, limits, Scope::Record, context);
    let (mut capture, mut interner) = (Capture::default(), Interner::default());
    let mut any = false;
    loop {
        let next = documents.next(true, Some(&mut capture));
        let next = next.map_err(|failure| documents.file_error(failure))?;
        let item = match next {
            None if any => return Ok(()),
            None => return Err(incomplete(&documents.name)),
            Some(Document::Bundle(first)) => {
                let parts = read(&mut documents, first, &mut |_| Ok(()));
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
                    head: capture.take(&mut interner, id),
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
