//! Reads the inventory inside Evidence as the record streams by.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};
use std::path::Path;

use super::Retained;
use super::capture::{Capture, MAX_TEXT, Scalar};
use super::check;
use super::rows::{Envelope, Fields, Got, Parts, Rows};
use super::zones::{Rule, Slot, Zone};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{Observer, Source, stream_everything};
use crate::json::{Event, Limits, MAX_SAFE_INTEGER};
use crate::operation::Context;

/// What a file is taken for, by what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::artifact) enum TakenFor {
    /// One record of Evidence, or a stream that can be nothing else.
    Evidence,
    /// A bundle of Evidence.
    Bundle,
    /// Software.
    Software,
}

/// Members of a record of Evidence (evidence section 1) and of a bundle.
const RECORD: [&str; 15] = [
    "analysis_profile",
    "authority",
    "confidence",
    "environment",
    "evidence_id",
    "evidence_links",
    "limitations",
    "locations",
    "normalized_result",
    "operation",
    "parameters",
    "predicate_type",
    "provider",
    "raw_result",
    "subject",
];

/// What a path is taken for. Evidence is a JSON object whose first member is
/// one of a record, and whose first or last bytes name its `evidence_id`; `-`,
/// pipes and FIFOs are Evidence too. What cannot be looked at is software.
pub(in crate::artifact) fn taken_for(path: &Path) -> TakenFor {
    if path.as_os_str() == "-" {
        return TakenFor::Evidence;
    }
    let Ok(metadata) = std::fs::metadata(path) else {
        return TakenFor::Software;
    };
    if metadata.file_type().is_fifo() {
        return TakenFor::Evidence;
    }
    if !metadata.is_file() {
        return TakenFor::Software;
    }
    match File::open(path).and_then(|file| ends(&file, metadata.len())) {
        Ok((start, end)) => nature_of(&start, &end),
        Err(_) => TakenFor::Software,
    }
}

/// The first 4 KiB and the last 64 KiB.
fn ends(file: &File, len: u64) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
    let mut start = Vec::new();
    file.take(4096).read_to_end(&mut start)?;
    let tail = len.min(64 << 10);
    let mut end = vec![0; usize::try_from(tail).unwrap_or(0)];
    file.read_exact_at(&mut end, len - tail)?;
    Ok((start, end))
}

fn nature_of(start: &[u8], end: &[u8]) -> TakenFor {
    // A byte order mark is refused when the record is read.
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let Some(rest) = start.trim_ascii_start().strip_prefix(b"{") else {
        return TakenFor::Software;
    };
    let rest = rest.trim_ascii_start();
    let first = |name: &str| {
        rest.strip_prefix(b"\"")
            .and_then(|rest| rest.strip_prefix(name.as_bytes()))
            .and_then(|rest| rest.strip_prefix(b"\""))
            .is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
    };
    let holds = |name: &str| {
        let found = |bytes| memchr::memmem::find(bytes, name.as_bytes()).is_some();
        found(start) || found(end)
    };
    if RECORD.iter().any(|name| first(name)) && holds("\"evidence_id\"") {
        TakenFor::Evidence
    } else if first("artifacts") && holds("\"records\"") && holds("\"unknowns\"") {
        TakenFor::Bundle
    } else {
        TakenFor::Software
    }
}

/// Reads the inventory of one record of `inventory_artifact` or
/// `inspect_artifact` (its first substep), and checks it as artifacts
/// section 8 asks: every id that can be recomputed is.
///
/// # Errors
/// `evidence_integrity_mismatch` where the record is not what its ids say, or
/// no such record; those of reading files; `cancelled`.
pub fn read(source: Source, limits: Limits, context: &Context) -> Result<Retained> {
    let name = source.name().to_owned();
    let mut reader = Reader::default();
    let report = stream_everything(source, limits, context, &mut reader)?;
    check::finish(reader.into_parts(), &report, &name, context)
}

/// Follows the events of a record.
#[derive(Default)]
struct Reader {
    parts: Parts,
    stack: Vec<Zone>,
    slot: Slot,
    /// Where the next member is expected in the open object's table.
    next: usize,
    fields: Fields,
    path: String,
    /// Containers that are open and not looked at.
    skipped: usize,
    capture: Option<(usize, Capture)>,
    text: Vec<u8>,
    /// Substeps that have started.
    substeps: usize,
}

impl Observer for Reader {
    fn restart(&mut self) {
        *self = Self::default();
    }

    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Key { name, .. } => self.key(name),
            Event::BeginObject => self.begin(true),
            Event::BeginArray => self.begin(false),
            Event::EndObject | Event::EndArray => self.end(),
            Event::Null => self.scalar(&Scalar::Null),
            Event::Bool(value) => self.scalar(&Scalar::Flag(value)),
            Event::Number { value, .. } => self.scalar(&Scalar::Number(value)),
            Event::Text { part, last, .. } => self.part(part, last)?,
        }
        Ok(())
    }
}

impl Reader {
    fn into_parts(self) -> Parts {
        self.parts
    }

    fn slot(&self) -> Slot {
        match self.stack.last() {
            None => Slot::Zone(Zone::Record),
            Some(zone) if zone.is_object() => self.slot,
            Some(zone) => zone.element(),
        }
    }

    fn key(&mut self, name: &[u8]) {
        if self.skipped > 0 {
            if let Some((_, capture)) = &mut self.capture {
                capture.key(name);
            }
            return;
        }
        let Some(&zone) = self.stack.last() else {
            return;
        };
        self.slot = zone.member(name, self.next);
        if let Slot::Field(at, _) = self.slot {
            self.next = at + 1;
        }
        // Only the first substep is the inventory.
        let other = zone == Zone::Substep && self.substeps != 1;
        // An inventory has no inventory inside it.
        let deep = zone == Zone::Result && self.parts.inner.is_some() && name == b"substeps";
        if other || deep {
            self.slot = Slot::Other;
        }
    }

    fn begin(&mut self, object: bool) {
        if self.skipped > 0 {
            self.skipped += 1;
            if let Some((_, capture)) = &mut self.capture {
                capture.begin(object);
            }
            return;
        }
        match self.slot() {
            Slot::Zone(zone) if zone.is_object() == object => self.open(zone),
            Slot::Field(at, Rule::Any) => {
                let mut capture = Capture::default();
                capture.begin(object);
                self.capture = Some((at, capture));
                self.skipped = 1;
            }
            slot => {
                self.wrong(slot);
                self.skipped = 1;
            }
        }
    }

    fn open(&mut self, zone: Zone) {
        self.next = 0;
        match zone {
            Zone::Record if !self.stack.is_empty() => {
                // What stands before it belongs to the inspection.
                self.parts.rows = Rows::default();
                self.parts.problem = None;
                self.parts.inner = Some(Envelope::default());
            }
            Zone::Substep => self.substeps += 1,
            Zone::Node | Zone::Occurrence | Zone::Edge | Zone::Contradiction => {
                self.fields = [Got::Missing; 16];
                self.path.clear();
            }
            Zone::Manifest | Zone::Coverage => self.fields = [Got::Missing; 16],
            Zone::Nodes => self.parts.rows.nodes = Some(Vec::new()),
            Zone::Occurrences => self.parts.rows.occurrences = Some(Vec::new()),
            Zone::Edges => self.parts.rows.edges = Some(Vec::new()),
            Zone::Contradictions => self.parts.rows.contradictions = Some(Vec::new()),
            Zone::Limitations => self.parts.rows.limitations = Some(Vec::new()),
            _ => {}
        }
        self.stack.push(zone);
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            if let Some((_, capture)) = &mut self.capture {
                capture.end();
            }
            if self.skipped == 0
                && let Some((at, capture)) = self.capture.take()
            {
                self.captured(at, capture);
            }
            return;
        }
        let Some(zone) = self.stack.pop() else { return };
        if matches!(
            zone,
            Zone::Coverage
                | Zone::Manifest
                | Zone::Node
                | Zone::Occurrence
                | Zone::Edge
                | Zone::Contradiction
        ) {
            self.end_row(zone);
        }
        // Behind an object, the next member is looked up from the start.
        self.next = 0;
    }

    fn part(&mut self, part: &[u8], last: bool) -> Result<()> {
        if last && self.text.is_empty() {
            self.scalar(&Scalar::Text(part));
            return Ok(());
        }
        let wanted = self.capture.is_some() || !matches!(self.slot(), Slot::Other);
        if wanted {
            if self.text.len() + part.len() > MAX_TEXT {
                return Err(too_long());
            }
            self.text.extend_from_slice(part);
        }
        if last {
            let text = std::mem::take(&mut self.text);
            self.scalar(&Scalar::Text(&text));
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) {
        if self.skipped > 0 {
            if let Some((_, capture)) = &mut self.capture {
                capture.scalar(scalar);
            }
            return;
        }
        match self.slot() {
            Slot::Other => {}
            // A record may have no subject; whether this one may is told later.
            Slot::Zone(Zone::Subject) if matches!(scalar, Scalar::Null) => {}
            Slot::Limitation => match scalar {
                Scalar::Text(text) => self.limitation(text),
                _ => self.wrong(Slot::Limitation),
            },
            Slot::Field(at, Rule::Any) => {
                let mut capture = Capture::default();
                capture.scalar(scalar);
                self.captured(at, capture);
            }
            Slot::Field(at, rule) => match self.field(rule, scalar) {
                Some(got) => self.set(at, got),
                None => self.wrong(Slot::Field(at, rule)),
            },
            slot @ Slot::Zone(_) => self.wrong(slot),
        }
    }

    fn limitation(&mut self, text: &[u8]) {
        match (std::str::from_utf8(text), &mut self.parts.rows.limitations) {
            (Ok(text), Some(all)) => all.push(text.to_owned()),
            _ => self.wrong(Slot::Limitation),
        }
    }

    fn field(&mut self, rule: Rule, scalar: &Scalar<'_>) -> Option<Got> {
        Some(match (rule, scalar) {
            (Rule::Word | Rule::OptionalWord, Scalar::Text(text)) => {
                let text = std::str::from_utf8(text).ok()?;
                Got::Word(self.parts.words.number(text))
            }
            (Rule::Path, Scalar::Text(text)) => {
                self.path.clear();
                self.path.push_str(std::str::from_utf8(text).ok()?);
                Got::Flag(true)
            }
            (Rule::Count | Rule::OptionalCount, Scalar::Number(value)) => {
                let whole = (0.0..=MAX_SAFE_INTEGER as f64).contains(value) && value.fract() == 0.0;
                Got::Count(whole.then_some(*value as u64)?)
            }
            (Rule::OptionalCount | Rule::OptionalId(_), Scalar::Null) => Got::Null,
            (Rule::Id(prefix) | Rule::OptionalId(prefix), Scalar::Text(text)) => {
                let digits = text.strip_prefix(prefix.as_bytes())?;
                Got::Id(Digest::from_hex(digits)?)
            }
            (Rule::Flag, Scalar::Flag(value)) => Got::Flag(*value),
            _ => return None,
        })
    }

    fn captured(&mut self, at: usize, capture: Capture) {
        match std::str::from_utf8(&capture.text) {
            Ok(text) if !capture.too_long => {
                let number = self.parts.words.number(text);
                self.set(at, Got::Word(number));
            }
            _ => self.wrong(Slot::Field(at, Rule::Any)),
        }
    }

    fn set(&mut self, at: usize, got: Got) {
        let zone = self.stack.last().copied();
        let fields = match zone {
            Some(Zone::Record | Zone::Subject | Zone::SubjectDigest) => {
                let parts = &mut self.parts;
                let inner = self.stack.contains(&Zone::Substep);
                match &mut parts.inner {
                    Some(envelope) if inner => envelope.0.as_mut_slice(),
                    _ => parts.outer.0.as_mut_slice(),
                }
            }
            _ => self.fields.as_mut_slice(),
        };
        if let Some(field) = fields.get_mut(at) {
            *field = got;
        }
    }

    /// Something of another type than it must be.
    fn wrong(&mut self, slot: Slot) {
        let zone = self.stack.last().copied().unwrap_or(Zone::Record);
        let message = match slot {
            Slot::Other => return,
            Slot::Zone(expected) if expected.is_object() => {
                format!("{} must be an object", expected.name())
            }
            Slot::Zone(expected) => format!("{} must be an array", expected.name()),
            Slot::Limitation => "limitations must be strings of whole characters".to_owned(),
            Slot::Field(at, rule) => {
                let name = zone.table().get(at).map_or("a member", |field| field.0);
                format!("{}.{name} must be {}", self.place(zone), rule.describe())
            }
        };
        self.problem(message);
    }

    fn place(&self, zone: Zone) -> String {
        let rows = &self.parts.rows;
        let count = match zone {
            Zone::Node => rows.nodes.as_ref().map(Vec::len),
            Zone::Occurrence => rows.occurrences.as_ref().map(Vec::len),
            Zone::Edge => rows.edges.as_ref().map(Vec::len),
            Zone::Contradiction => rows.contradictions.as_ref().map(Vec::len),
            _ => None,
        };
        match count {
            Some(at) => format!("{}[{at}]", zone.name()),
            None => zone.name().to_owned(),
        }
    }

    fn problem(&mut self, message: String) {
        self.parts.problem.get_or_insert(message);
    }

    fn end_row(&mut self, zone: Zone) {
        for (at, (name, rule)) in zone.table().iter().enumerate() {
            if self.fields.get(at) == Some(&Got::Missing) && !rule.is_optional() {
                self.problem(format!("{} lacks {name}", self.place(zone)));
                return;
            }
        }
        let Parts { rows, words, .. } = &mut self.parts;
        if let Err(message) = rows.keep(zone, &self.fields, &self.path, words) {
            self.problem(message);
        }
    }
}

fn too_long() -> Error {
    let message = format!("a string of the record has more than {MAX_TEXT} bytes");
    Error::new(crate::error::Code::ResourceConstraint, message)
        .action("Compare the software itself.")
        .detail("maximum", MAX_TEXT as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_bundles_are_told_by_their_members() {
        let taken = |start: &str, end: &str| nature_of(start.as_bytes(), end.as_bytes());
        for text in [
            r#"{"analysis_profile":null,"evidence_id":"ev_1"}"#,
            "{\n  \"evidence_id\": \"ev_1\"",
            "\u{feff} {\t\"subject\" : null, \"evidence_id\": 1",
        ] {
            assert_eq!(taken(text, ""), TakenFor::Evidence, "{text}");
        }
        assert_eq!(
            taken("{\"subject\":{", "\"evidence_id\":\"ev_1\"}"),
            TakenFor::Evidence
        );
        let bundle = r#"{"artifacts":[],"captures":[]"#;
        assert_eq!(
            taken(bundle, r#""records":[],"scenarios":[],"unknowns":[]}"#),
            TakenFor::Bundle
        );
        for text in [
            "",
            "{}",
            "[1]",
            r#"{"name":"x","evidence_id":1}"#,
            r#"{"subject":1}"#,
            bundle,
            "PK\u{3}\u{4}",
        ] {
            assert_eq!(taken(text, ""), TakenFor::Software, "{text}");
        }
    }
}
