//! `inspect_web_network_capture`: the records of a HAR 1.2 capture, as their
//! producer wrote them, without credentials (web.md section 1).
//!
//! The capture is read once and indexed where it stands; every record is
//! validated before any is selected. What a record does not show is a short
//! list of places, and the record is written from the capture's own text.

mod exclude;
mod fault;
mod profile;
mod read;
mod record;
mod sidecar;

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{EvidenceId, Provider};
use crate::json::{Kind, Limits, Node, ReadErrorKind, Refused, Tape, Text, is_depth};
use crate::operation::Context;
use crate::publish::display_path;
use exclude::Edits;
pub use exclude::Literals;
use fault::{Fault, NESTING};
pub use record::{CaptureRecord, Row};

/// The operation that captures are records of.
pub const OPERATION: &str = "inspect_web_network_capture";

/// Who reads HAR captures.
pub const PROVIDER: Provider = Provider {
    id: "rea-har",
    name: "rea HAR capture reader",
    version: "1",
};

/// Bytes of a capture that are read where the caller does not say: 32 MiB.
pub const MAX_BYTES: u64 = 32 << 20;

/// What is written at most for a byte that may be read.
const REPLY_RATIO: u64 = 3;

/// What is read of a capture and what is shown of it.
#[derive(Debug)]
pub struct Options {
    /// Ordinals of records in the order in which they are wanted; `None` for
    /// all.
    pub record_ordinals: Option<Vec<u64>>,
    /// Text that must not be shown.
    pub sensitive_values: Vec<Text>,
    /// Bytes of the capture, also once it is unpacked.
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            record_ordinals: None,
            sensitive_values: Vec::new(),
            max_bytes: MAX_BYTES,
        }
    }
}

/// An entry of the capture.
#[derive(Debug)]
struct Entry {
    node: Node,
    edits: Edits,
    content: Option<Content>,
}

/// Base64 content of an entry.
#[derive(Clone, Copy, Debug)]
struct Content {
    text: Node,
    bytes: u64,
    sha256: Digest,
    /// A declared literal is in it.
    hidden: bool,
}

/// A capture whose records are all valid.
#[derive(Debug)]
struct Capture {
    tape: Tape,
    entries: Vec<Entry>,
    container: Edits,
    /// Where the entries stand.
    entries_node: Node,
    had_mark: bool,
    compressed: bool,
}

/// Reads the HAR capture at `path`.
///
/// # Errors
/// Those of web.md section 1.8: `invalid_request` for what is no HAR 1.2, with
/// a pointer to it, or too large or deep; `capability_unavailable` for other
/// versions; `access_denied`, `artifact_changed`, `cancelled`;
/// `unreadable_output` where the record would grow beyond all measure.
pub fn inspect(path: &Path, options: &Options, context: &Context) -> Result<CaptureRecord> {
    let literals = Literals::new(&options.sensitive_values);
    let shown = display_path(path);
    let read = || -> Result<CaptureRecord, Fault> {
        if options
            .sensitive_values
            .iter()
            .any(|text| text.as_bytes().is_empty())
        {
            return Err(Fault::Sensitive);
        }
        let selection = options.record_ordinals.as_deref();
        check_distinct(selection)?;
        let maximum = options.max_bytes.min(Tape::MAX);
        let input = read::read(path, maximum, context)?;
        let (sha256, bytes) = (input.sha256, input.bytes);
        let capture = decode(input.text, input.compressed, &literals, context)?;
        let total = capture.entries.len();
        let selection = resolve(selection, total)?;
        let record = CaptureRecord::new(capture, selection, &shown, sha256, bytes);
        record.check_size(&literals, maximum.saturating_mul(REPLY_RATIO), context)?;
        Ok(record)
    };
    match read() {
        Ok(record) => Ok(record.finish(literals)),
        Err(fault) => Err(fault.into_error(&shown, options.max_bytes, &literals, context)),
    }
}

/// Native flows of mitmproxy are the business of the program that wrote them,
/// and no other program is run here.
pub fn no_native_flows(context: &Context) -> crate::error::Error {
    let message =
        "native flows of mitmproxy are not read here, only HAR that mitmdump makes of them";
    crate::error::Error::new(crate::error::Code::CapabilityUnavailable, message)
        .action("Export them: mitmdump -n -r FLOWS --set hardump=OUT.har")
        .detail("operation", context.operation)
        .detail("profile", "mitmdump 12.2.3")
}

fn check_distinct(selection: Option<&[u64]>) -> Result<(), Fault> {
    let Some(selection) = selection else {
        return Ok(());
    };
    if selection.is_empty() {
        return Err(Fault::Ordinals(
            "at least one record must be named".to_owned(),
        ));
    }
    let mut sorted = selection.to_vec();
    sorted.sort_unstable();
    let twice = sorted
        .iter()
        .zip(sorted.iter().skip(1))
        .find(|(a, b)| a == b);
    match twice {
        Some((ordinal, _)) => Err(Fault::Ordinals(format!("record {ordinal} is named twice"))),
        None => Ok(()),
    }
}

/// The places of the records that are wanted.
fn resolve(selection: Option<&[u64]>, total: usize) -> Result<Vec<u32>, Fault> {
    let Some(selection) = selection else {
        return Ok((0..total as u32).collect());
    };
    let place = |&ordinal: &u64| match ordinal < total as u64 {
        true => Ok(ordinal as u32),
        false => Err(Fault::Ordinals(format!(
            "there is no record {ordinal}; the capture holds {total}, counted from 0"
        ))),
    };
    selection.iter().map(place).collect()
}

/// Validates a document and finds what it does not show.
fn decode(
    mut text: Vec<u8>,
    compressed: bool,
    literals: &Literals,
    context: &Context,
) -> Result<Capture, Fault> {
    let had_mark = text.starts_with(b"\xEF\xBB\xBF");
    if had_mark {
        text.drain(..3);
    }
    let limits = Limits {
        max_depth: NESTING as usize + 1,
        ..Limits::default()
    };
    let tape = Tape::parse(text, limits, || context.check()).map_err(refused)?;
    profile::check(&tape).map_err(|invalid| {
        let message = format!("{} (schema keyword {})", invalid.message, invalid.keyword);
        Fault::format(invalid.pointer, message)
    })?;
    let log = tape.member(tape.root(), "log");
    let (Some(log), Some(entries_node)) = (log, log.and_then(|log| tape.member(log, "entries")))
    else {
        return Err(Fault::format("/log/entries", "is not there".to_owned()));
    };
    if let Some(version) = tape.member(log, "version").map(|node| tape.text(node))
        && *version != *b"1.2"
    {
        let found = String::from_utf8_lossy(&version).chars().take(40).collect();
        return Err(Fault::Version { found });
    }
    let mut entries = Vec::new();
    for node in tape.elements(entries_node) {
        context.check().map_err(Fault::Stopped)?;
        let mut edits = exclude::of_entry(&tape, node, literals);
        let content = content(&tape, node, literals)?;
        if let Some(content) = content.filter(|content| content.hidden) {
            exclude::hide(&tape, content.text, &mut edits);
        }
        entries.push(Entry {
            node,
            edits,
            content,
        });
    }
    context.progress.add_entries(1);
    let container = exclude::of_container(&tape, entries_node, literals);
    Ok(Capture {
        tape,
        entries,
        container,
        entries_node,
        had_mark,
        compressed,
    })
}

fn refused(refused: Refused) -> Fault {
    match refused {
        Refused::Stopped(error) => Fault::Stopped(error),
        Refused::Read(error) if is_depth(&error) => Fault::TooDeep,
        Refused::Read(error) => match error.kind() {
            ReadErrorKind::Resource { .. } => {
                Fault::format("", format!("is beyond what a reader takes: {error}"))
            }
            _ => Fault::format("", format!("is not valid JSON: {error}")),
        },
    }
}

/// Where base64 content stands in a record.
const CONTENT: &str = "/response/content/text";

/// Base64 content, which is checked also where it is not shown.
fn content(tape: &Tape, entry: Node, literals: &Literals) -> Result<Option<Content>, Fault> {
    let content = tape
        .member(entry, "response")
        .and_then(|response| tape.member(response, "content"));
    let member = |name| content.and_then(|content| tape.member(content, name));
    let (Some(text), Some(encoding)) = (member("text"), member("encoding")) else {
        return Ok(None);
    };
    if tape.kind(text) != Kind::Text || *tape.text(encoding) != *b"base64" {
        return Ok(None);
    }
    let written = tape.text(text);
    let compact = compact(&written);
    // Padding and bits that are not zero are refused by the decoder.
    let Ok(decoded) = STANDARD.decode(&*compact) else {
        let message = "is no canonical base64, which its encoding says it is".to_owned();
        return Err(Fault::format(CONTENT, message));
    };
    let sha256 = Digest::of(&decoded);
    let hidden = !literals.is_empty()
        && (literals.are_in(&written)
            || literals.are_in(&compact)
            || literals.are_in_bytes(&decoded)
            || literals.are_in(sha256.to_hex().as_bytes()));
    Ok(Some(Content {
        text,
        bytes: decoded.len() as u64,
        sha256,
        hidden,
    }))
}

/// Base64 without white space.
fn compact(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let blank = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' ');
    match text.iter().any(blank) {
        true => text.iter().copied().filter(|byte| !blank(byte)).collect(),
        false => text.into(),
    }
}

/// For fuzzing: reads `text` as a capture and writes its record.
#[doc(hidden)]
pub fn fuzz(text: &[u8], literals: &[Text]) -> Option<EvidenceId> {
    use crate::evidence::Record;
    let context = Context::new(OPERATION);
    let literals = Literals::new(literals);
    let capture = decode(text.to_vec(), false, &literals, &context).ok()?;
    let selection = resolve(None, capture.entries.len()).ok()?;
    let (sha256, bytes) = (Digest::of(text), text.len() as u64);
    let record = CaptureRecord::new(capture, selection, "capture.har", sha256, bytes);
    record.check_size(&literals, MAX_BYTES, &context).ok()?;
    let record = record.finish(literals);
    let mut written = Vec::new();
    let mut writer = crate::json::Writer::canonical(&mut written);
    record.write_record(&mut writer);
    writer.finish_infallible();
    Some(record.id())
}
