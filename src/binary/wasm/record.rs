//! The record of a module or component.

use super::describe::{Details, Headers};
use super::facts::{Part, Room};
use super::file::{Candidate, WasmInput};
use super::forms::{Forms, forms};
use super::glue::Glue;
use super::limits::{self, MAX_ROWS, MAX_SECTIONS, Reached};
use super::names::MAX_LISTED;
use super::validate::{Rejected, features, validate};
use super::walk::{Kind, MAX_DEPTH, Unit};
use super::wat::{self, Wat};
use super::{PROVIDER, WASMPARSER, WASMPRINTER, WasmOptions};
use crate::artifact::limitation::counted;
use crate::binary::{BinaryFile, Notes};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{ArtifactPath, Authority, Confidence, Draft, Drafted, EvidenceId, Subject};
use crate::json::{Kept, Object, Value, WriteJson, Writer};
use crate::operation::Context;

/// A module or component as Evidence.
#[derive(Debug)]
pub struct WasmRecord<'a> {
    file: &'a BinaryFile,
    sha256: Digest,
    part: Part<'a>,
    forms: Forms,
    wat: Wat,
    candidates: Vec<Candidate>,
    glue: Vec<Glue>,
    tool_profile: Object,
    parameters: Object,
    limitations: Vec<String>,
    kept: Texts,
    id: EvidenceId,
}

/// The long members: a record is written twice, its id first.
#[derive(Debug)]
struct Texts {
    details: Kept,
    facts: Kept,
}

impl Texts {
    /// Bytes that are kept of each.
    const ROOM: usize = 8 << 20;

    fn of(part: &Part<'_>) -> Self {
        let (details, facts) = rayon::join(
            || Kept::of(&Details(part), Self::ROOM),
            || Kept::of(part, Self::ROOM),
        );
        Self { details, facts }
    }
}

const NOT_SOURCE: &str =
    "The text is decoded from the bytes; it is not the source that they were compiled from.";
const ESCAPED: &str = "The import and export forms have names as the text format escapes them; the facts have them as they are.";
const NOT_RUN: &str = "Nothing was run or fetched: what an import is bound to, and whether the file is ever loaded, is not known.";
const ALL_PROPOSALS: &str =
    "It is valid with every proposal that the validator knows; an engine may know fewer.";
const GLUE: &str = "References in glue are literals of its text; which of them a script loads when it runs is not known.";

/// Inspects a module or component.
///
/// # Errors
/// `invalid_request` at `path` where it is no WebAssembly, or is not valid: the
/// details have the offset, the reason and what was read before;
/// `resource_constraint` beyond the limits of [`super::limits`]; `cancelled`.
pub fn inspect_wasm<'a>(
    input: &'a WasmInput,
    options: &WasmOptions,
    context: &Context,
) -> Result<WasmRecord<'a>> {
    context.check()?;
    let file = &input.artifact;
    let profile = tool_profile(options);
    let unit = unit(file, context.operation)?;
    let reached = |reached| too_much(reached, file, context.operation);
    let measure = limits::measure(&unit).map_err(reached)?;
    let (sha256, surfaces) = rayon::join(
        || file.sha256(context),
        || validate(&unit, measure, context),
    );
    let sha256 = sha256?;
    let mut surfaces = surfaces.map_err(|why| match why {
        Rejected::Limit(limit) => reached(limit),
        Rejected::Stopped(error) => error,
        Rejected::Invalid { offset, message } => invalid(&unit, file, offset, context.operation)
            .detail("artifact", artifact(file, sha256))
            .detail("tool_profile", profile.clone())
            .detail("validation", "rejected-by-selected-profile")
            .detail("validator_message", message),
    })?;
    let rows = limits::rows(&unit);
    if rows > MAX_ROWS {
        return Err(reached(Reached {
            boundary: "rows",
            what: "rows of facts",
            maximum: MAX_ROWS,
        }));
    }
    context.check()?;
    let (wat, forms) = rayon::join(
        || wat::print(&unit, options.wat, options.max_wat_bytes, context),
        || forms(&unit),
    );
    let wat = wat?;
    context.check()?;
    let mut notes = Notes::default();
    let mut listed = MAX_LISTED;
    let part = Part::read(unit, &mut surfaces, &mut listed, &mut notes);
    context.check()?;
    let mut candidates = vec![Candidate {
        path: file.path.clone(),
        sha256,
        bytes: file.bytes.len() as u64,
    }];
    candidates.extend_from_slice(&input.candidates);
    let mut glue = Vec::new();
    for script in &input.glue {
        let sha256 = script.sha256(context)?;
        glue.extend(Glue::read(script, sha256, &candidates));
    }
    let mut limitations = vec![NOT_RUN.to_owned(), ALL_PROPOSALS.to_owned()];
    match &wat {
        Wat::Text(_) => limitations.push(NOT_SOURCE.to_owned()),
        Wat::Unavailable(reason) => {
            limitations.push(format!("The text is not included: {reason}."));
        }
    }
    let forms = match forms {
        Ok(forms) => {
            limitations.push(ESCAPED.to_owned());
            forms
        }
        Err(why) => {
            let reason = why.reason();
            limitations.push(format!(
                "The import and export forms are not included: {reason}; the facts list what is imported and exported."
            ));
            Forms::default()
        }
    };
    let omitted = part.signatures_omitted(&mut Room::new());
    if omitted > 0 {
        let what = counted(
            omitted,
            "import or export is given without the text of its type",
            "imports and exports are given without the text of their types",
        );
        limitations.push(format!("{what}: there is no room for more."));
    }
    if !glue.is_empty() {
        limitations.push(GLUE.to_owned());
    }
    let lost = glue
        .iter()
        .filter(|glue| glue.status() != "complete")
        .count();
    if lost > 0 {
        let what = counted(
            lost as u64,
            "glue file was not understood to its end",
            "glue files were not understood to their ends",
        );
        limitations.push(format!("{what}; what follows there was not looked at."));
    }
    limitations.extend(notes.sentences());
    let mut record = WasmRecord {
        file,
        sha256,
        kept: Texts::of(&part),
        part,
        forms,
        wat,
        candidates,
        glue,
        tool_profile: profile,
        parameters: parameters(input, options),
        limitations,
        id: EvidenceId(Digest([0; 32])),
    };
    record.id = record.with_draft(|draft| draft.id());
    record.wat.check()?;
    Ok(record)
}

/// Sections by id and size.
fn unit<'a>(file: &'a BinaryFile, operation: &'static str) -> Result<Unit<'a>> {
    let mut left = MAX_SECTIONS;
    if let Some(unit) = Unit::read(&file.bytes, &mut left) {
        return Ok(unit);
    }
    if left == 0 {
        let limit = Reached {
            boundary: "sections",
            what: "sections",
            maximum: MAX_SECTIONS as u64,
        };
        return Err(too_much(limit, file, operation));
    }
    let shown = &file.path;
    let message = format!("{shown} is no WebAssembly module or component");
    Err(
        Error::invalid_request(operation, &["path"], "invalid_format", message)
            .action("Give a binary .wasm file; `rea inspect-artifact` tells what a file is.")
            .detail("path", shown.as_str()),
    )
}

fn too_much(limit: Reached, file: &BinaryFile, operation: &'static str) -> Error {
    let Reached {
        boundary,
        what,
        maximum,
    } = limit;
    let shown = &file.path;
    let message = format!("{shown} has more than {maximum} {what}");
    let mut limits = Object::new();
    limits.insert("boundary", boundary);
    limits.insert("input_path", shown.as_str());
    limits.insert("maximum", maximum);
    Error::out_of_memory(operation, message, limits)
}

/// Sections that are told of an invalid file.
const TOLD: usize = 64;

fn invalid(unit: &Unit<'_>, file: &BinaryFile, offset: u64, operation: &'static str) -> Error {
    let shown = &file.path;
    let message = format!("{shown} is not valid at offset {offset:#x}");
    let sections = unit.sections.iter().take(TOLD).map(|section| {
        let mut row = Object::new();
        row.insert("bytes", section.end - section.start);
        row.insert("end", section.end);
        row.insert("kind", section.label(unit.kind));
        row.insert("start", section.start);
        Value::from(row)
    });
    let sections: Vec<Value> = sections.collect();
    Error::invalid_request(operation, &["path"], "invalid_format", message)
        .action("Get an undamaged copy; the details have the sections up to there.")
        .detail("path", shown.as_str())
        .detail("section_count", unit.sections.len() as u64)
        .detail("offset", offset)
        .detail("sections", sections)
}

fn artifact(file: &BinaryFile, sha256: Digest) -> Object {
    let mut artifact = Object::new();
    artifact.insert("bytes", file.bytes.len() as u64);
    artifact.insert("path", file.path.as_str());
    artifact.insert("sha256", sha256.to_hex());
    artifact
}

/// What read the file, with which features and limits.
fn tool_profile(options: &WasmOptions) -> Object {
    let tool = |name: &str, version: &str| {
        let mut tool = Object::new();
        tool.insert("name", name);
        tool.insert("version", version);
        tool
    };
    let features = features().iter_names();
    let mut features: Vec<String> = features
        .map(|(name, _)| name.to_ascii_lowercase().replace('_', "-"))
        .collect();
    features.sort_unstable();
    features.dedup();
    let mut maximum = Object::new();
    for (name, value) in [
        ("blocks", u64::from(limits::MAX_BLOCKS)),
        ("exports", limits::MAX_EXPORTS),
        ("form_bytes", limits::MAX_FORMS as u64),
        ("imports", limits::MAX_IMPORTS),
        ("nesting", MAX_DEPTH as u64),
        ("operands", u64::from(limits::MAX_OPERANDS)),
        ("printed_names", limits::MAX_PRINTED_NAMES),
        ("rows", limits::MAX_ROWS),
        ("sections", limits::MAX_SECTIONS as u64),
        ("signature_bytes", limits::MAX_SIGNATURES as u64),
        ("type_bytes", limits::MAX_TYPE_BYTES),
        ("wat_bytes", options.max_wat_bytes),
    ] {
        maximum.insert(name, value);
    }
    let mut profile = Object::new();
    profile.insert("features", features);
    profile.insert("limits", maximum);
    profile.insert("printer", tool("wasmprinter", WASMPRINTER));
    profile.insert("validator", tool("wasmparser", WASMPARSER));
    profile
}

fn parameters(input: &WasmInput, options: &WasmOptions) -> Object {
    let mut parameters = Object::new();
    let paths = |paths: Vec<&str>| Value::from(paths);
    if !input.candidates.is_empty() {
        let given = input.candidates.iter().map(|file| file.path.as_str());
        parameters.insert("candidate_paths", paths(given.collect()));
    }
    if !input.glue.is_empty() {
        let given = input.glue.iter().map(|file| file.path.as_str());
        parameters.insert("glue_paths", paths(given.collect()));
    }
    if options.max_wat_bytes != WasmOptions::default().max_wat_bytes {
        parameters.insert("max_wat_bytes", options.max_wat_bytes);
    }
    if options.wat {
        parameters.insert("wat", true);
    }
    parameters
}

impl<'a> WasmRecord<'a> {
    /// What was read.
    pub fn part(&self) -> &Part<'a> {
        &self.part
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// The text, or why there is none.
    pub fn wat(&self) -> &Wat {
        &self.wat
    }

    /// Scripts that were given.
    pub fn glue(&self) -> &[Glue] {
        &self.glue
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }
}

impl Drafted for WasmRecord<'_> {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(Subject {
                name: self.file.name().to_owned(),
                sha256: self.sha256,
                // The contract has no name for modules in subjects (section 8).
                format: "file",
                architecture: None,
                local_path: self.file.path.clone(),
            }),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "inspect_wasm_artifact",
            parameters: &self.parameters,
            normalized_result: &Normalized(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &ArtifactPath(&self.file.path),
            evidence_links: &[],
        })
    }
}

struct Normalized<'a, 'b>(&'b WasmRecord<'a>);

impl WriteJson for Normalized<'_, '_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        let part = &record.part;
        w.begin_object();
        w.member("artifact", artifact(record.file, record.sha256));
        w.member("artifact_kind", part.unit.kind.as_str());
        w.member("candidates", &record.candidates);
        w.key("details");
        record.kept.details.write(&Details(part), w);
        w.key("exports");
        strings(record.forms.exports(), w);
        w.key("facts");
        record.kept.facts.write(part, w);
        w.member("glue", &record.glue);
        w.member("headers", Headers(part));
        w.key("imports");
        strings(record.forms.imports(), w);
        w.member("network_fetch", "not-performed");
        w.member("runtime_execution", "not-performed");
        w.key("sections");
        part.write_sections(w);
        w.member("tool_profile", &record.tool_profile);
        w.member("validation", "valid");
        w.member("wat", &record.wat);
        w.end_object();
    }
}

impl WriteJson for Candidate {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("bytes", self.bytes);
        w.member("path", &self.path);
        w.member("sha256", self.sha256);
        w.end_object();
    }
}

fn strings<'a>(texts: impl Iterator<Item = &'a str>, w: &mut Writer<'_>) {
    w.begin_array();
    texts.for_each(|text| w.string(text));
    w.end_array();
}

/// The kind of a file, for whoever only wants to know whether it is one.
pub fn kind(bytes: &[u8]) -> Option<Kind> {
    Kind::of_header(bytes)
}
