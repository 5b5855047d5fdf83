//! `inspect_web_network_capture`: the records of a HAR 1.2 capture or of
//! mitmproxy's native flows, as their producer wrote them, without credentials
//! (web.md section 1).
//!
//! The capture is read once and indexed where it stands; every record is
//! validated before any is selected. What a record does not show is a short
//! list of places, and the record is written from the capture's own text.

mod exclude;
mod fault;
mod flows;
mod mitmdump;
mod profile;
mod read;
mod record;
mod sidecar;

use std::path::{Path, PathBuf};

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

/// Who reads native flows of mitmproxy.
pub const FLOWS_PROVIDER: Provider = Provider {
    id: "mitmproxy-native-tnetstring",
    name: "rea mitmproxy flow reader",
    version: mitmdump::VERSION,
};

/// The setting that names the program that reads native flows: the absolute
/// path of mitmdump 12.2.3.
pub const MITMDUMP_SETTING: &str = mitmdump::SETTING;

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
    /// The program for native flows, see [`MITMDUMP_SETTING`].
    pub mitmdump: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            record_ordinals: None,
            sensitive_values: Vec::new(),
            max_bytes: MAX_BYTES,
            mitmdump: None,
        }
    }
}

/// An entry of the capture.
#[derive(Debug)]
struct Entry {
    node: Node,
    place: Place,
    edits: Edits,
    /// By place.
    bytes: Vec<Content>,
}

/// Where an entry stands in the capture.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the list of entries, by its ordinal.
    Pointer,
    /// At an offset of the file, once it is unpacked.
    Bytes { offset: u64, bytes: u64 },
}

/// Bytes that an entry holds.
#[derive(Clone, Copy, Debug)]
struct Content {
    /// The value that stands for them in the entry.
    text: Node,
    /// The value that spells them.
    base64: Node,
    bytes: u64,
    sha256: Digest,
    /// A declared literal is in it.
    hidden: bool,
}

/// What a capture is.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// A document with this list of entries.
    Har { entries: Node },
    /// Native flows; the document is what their decoder made of them.
    Flows,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Har { .. } => "har",
            Self::Flows => "mitmproxy",
        }
    }

    fn provider(self) -> Provider {
        match self {
            Self::Har { .. } => PROVIDER,
            Self::Flows => FLOWS_PROVIDER,
        }
    }

    fn entries(self) -> Option<Node> {
        match self {
            Self::Har { entries } => Some(entries),
            Self::Flows => None,
        }
    }

    /// What the producer calls a number.
    fn number(self, lexeme: &[u8]) -> &'static str {
        match self {
            Self::Har { .. } => "json-number",
            Self::Flows if lexeme.iter().any(|byte| b".eE".contains(byte)) => "float",
            Self::Flows => "integer",
        }
    }
}

/// A capture whose records are all valid.
#[derive(Debug)]
struct Capture {
    tape: Tape,
    source: Source,
    entries: Vec<Entry>,
    container: Edits,
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
    with(path, options, context, |input, literals| {
        decode(input.text, input.compressed, literals, context)
    })
}

/// Reads the native flows of mitmproxy at `path` with the program that
/// [`Options::mitmdump`] names: their states as they were written, nothing
/// migrated. It is started with limits of its own (768 MiB of addresses, 30
/// seconds, 96 MiB of output), without environment and without network of
/// ours, and has ended when this returns.
///
/// # Errors
/// Those of [`inspect`], where a place is an offset and a pointer into a
/// state; `capability_unavailable` without such a program or on other systems
/// than Linux, `provider_unavailable` where it does not run,
/// `resource_constraint` where it reaches a limit, `cleanup_incomplete` where
/// it may have left something.
pub fn inspect_flows(path: &Path, options: &Options, context: &Context) -> Result<CaptureRecord> {
    with(path, options, context, |input, literals| {
        let reply = mitmdump::decode(options.mitmdump.as_deref(), &input.text, context)?;
        flows::capture(reply, input.compressed, literals, context)
    })
}

fn with(
    path: &Path,
    options: &Options,
    context: &Context,
    decode: impl FnOnce(read::Input, &Literals) -> Result<Capture, Fault>,
) -> Result<CaptureRecord> {
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
        let capture = decode(input, &literals)?;
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
            place: Place::Pointer,
            edits,
            bytes: content.into_iter().collect(),
        });
    }
    context.progress.add_entries(1);
    let container = exclude::of_container(&tape, entries_node, literals);
    Ok(Capture {
        tape,
        source: Source::Har {
            entries: entries_node,
        },
        entries,
        container,
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
    // Padding and bits that are not zero are refused by the decoder.
    let Some(content) = bytes_of(tape, text, text, literals) else {
        let message = "is no canonical base64, which its encoding says it is".to_owned();
        return Err(Fault::format(CONTENT, message));
    };
    Ok(Some(content))
}

/// Bytes that `base64` spells and `text` stands for; `None` where it is no
/// canonical base64.
fn bytes_of(tape: &Tape, text: Node, base64: Node, literals: &Literals) -> Option<Content> {
    let written = tape.text(base64);
    let compact = compact(&written);
    let decoded = STANDARD.decode(&*compact).ok()?;
    let sha256 = Digest::of(&decoded);
    let hidden = !literals.is_empty()
        && (literals.are_in(&written)
            || literals.are_in(&compact)
            || literals.are_in_bytes(&decoded)
            || literals.are_in(sha256.to_hex().as_bytes()));
    Some(Content {
        text,
        base64,
        bytes: decoded.len() as u64,
        sha256,
        hidden,
    })
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
    record.canonical();
    Some(record.id())
}
