//! The record of a layout.

use super::extras::Extras;
use super::links::Demangled;
use super::rows::Hex;
use super::{Layout, LayoutOptions, Linkage, NamedAddress, Refusal, Relro, parse};
use crate::binary::BinaryFile;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{
    ArtifactPath, Authority, Confidence, Draft, Drafted, EvidenceId, Provider, Subject,
};
use crate::json::{Object, Value, WriteJson, Writer};
use crate::operation::Context;

/// Who makes layouts.
pub const PROVIDER: Provider = Provider {
    id: "rea-binary-layout",
    name: "rea binary layout",
    version: "1",
};

/// A layout as Evidence.
pub struct LayoutRecord<'a> {
    file: &'a BinaryFile,
    sha256: Digest,
    layout: Layout<'a>,
    demangled: Demangled,
    /// Strings and digests, where they were asked for.
    extras: Extras,
    parameters: Object,
    limitations: Vec<String>,
    id: EvidenceId,
}

/// Lays out `file`.
///
/// # Errors
/// `invalid_request` at `path` where it is of no known format or its header is
/// cut; at `architecture` where a universal file has no such slice;
/// `cancelled`.
pub fn inspect_binary_layout<'a>(
    file: &'a BinaryFile,
    options: &LayoutOptions,
    context: &Context,
) -> Result<LayoutRecord<'a>> {
    context.check()?;
    let (sha256, layout) = rayon::join(
        || file.sha256(context),
        || parse(&file.bytes, options).map_err(|refusal| refused(refusal, file, context.operation)),
    );
    let (sha256, layout) = (sha256?, layout?);
    context.check()?;
    let extras = Extras::find(file, &layout, options, context)?;
    let mut parameters = Object::new();
    let default = LayoutOptions::default();
    if let Some(architecture) = &options.architecture {
        parameters.insert("architecture", architecture.as_str());
    }
    if options.digests {
        parameters.insert("digests", Value::Bool(true));
    }
    if options.strings {
        if options.min_length != default.min_length {
            parameters.insert("min_length", u64::from(options.min_length));
        }
        parameters.insert("strings", Value::Bool(true));
    }
    let mut limitations: Vec<String> = GENERAL.map(str::to_owned).into();
    limitations.extend(
        layout
            .general_limitations
            .iter()
            .map(|&said| said.to_owned()),
    );
    limitations.extend(layout.notes.sentences());
    limitations.extend(extras.limitations());
    let demangled = Demangled::of(&layout.facts);
    context.check()?;
    let mut record = LayoutRecord {
        file,
        sha256,
        layout,
        demangled,
        extras,
        parameters,
        limitations,
        id: EvidenceId(Digest([0; 32])),
    };
    record.id = record.with_draft(|draft| draft.id());
    Ok(record)
}

/// What holds for every layout.
const GENERAL: [&str; 5] = [
    "Nothing was run: addresses are those the file was linked for, and where it loads is not known.",
    "A name is shown as it stands in the file; its exact bytes are beside it.",
    "That a table or name is missing proves nothing about what the program does.",
    "Slots and stubs are named by the relocations that fill them; other names for the same address are possible.",
    "Mitigations are concluded from the file by the rules that stand beside them.",
];

/// `reason` of the error about a file that is of no format with a layout.
pub const NO_BINARY: &str = "no_binary";

/// The error for a file without a layout.
pub(crate) fn refused(refusal: Refusal, file: &BinaryFile, operation: &'static str) -> Error {
    let shown = &file.path;
    match refusal {
        Refusal::Format => {
            let message = format!("{shown} is no executable, library or object of a known format");
            Error::invalid_request(operation, &["path"], "invalid_format", message)
                .action("Give an ELF, PE, COFF or Mach-O file; `rea inspect-artifact` tells what a file is.")
                .detail("reason", NO_BINARY)
        }
        Refusal::Header { offset, reason } => {
            let message = format!("the header of {shown} cannot be read at offset {offset}: {reason}");
            Error::invalid_request(operation, &["path"], "invalid_format", message)
                .detail("offset", offset)
        }
        Refusal::Architecture(known) => {
            let message = format!("{shown} has no such architecture");
            Error::invalid_request(operation, &["architecture"], "invalid_value", message)
                .action(format!("It has {}.", known.join(", ")))
        }
    }
    .detail("path", shown.as_str())
}

impl<'a> LayoutRecord<'a> {
    /// What the file says.
    pub fn layout(&self) -> &Layout<'a> {
        &self.layout
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }
}

/// The format in a subject: of the file as `inspect_artifact` names it.
pub(crate) fn subject_format(bytes: &[u8]) -> &'static str {
    use crate::artifact::format::{self, Content};
    let head = bytes.get(..format::HEAD).unwrap_or(bytes);
    let content = Content {
        format: format::of_bytes(head, bytes.len() as u64),
        named: None,
        dmg: false,
    };
    format::role("file", content).1.as_str()
}

impl Drafted for LayoutRecord<'_> {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(Subject {
                name: self.file.name().to_owned(),
                sha256: self.sha256,
                format: subject_format(&self.file.bytes),
                architecture: self.layout.architecture,
                local_path: self.file.path.clone(),
            }),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "inspect_binary_layout",
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

struct Normalized<'a>(&'a LayoutRecord<'a>);

impl WriteJson for Normalized<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        let layout = &record.layout;
        w.begin_object();
        w.key("architecture");
        architecture(layout, w);
        w.key("artifact");
        artifact(record, w);
        w.key("diagnostics");
        w.begin_object();
        w.member("stderr", "");
        w.member("stdout", "");
        w.member("truncated", false);
        w.end_object();
        w.key("entry_point");
        entry_point(layout, w);
        w.key("facts");
        facts(record, w);
        w.member("format", layout.format.as_str());
        w.member("image_type", layout.image_type);
        w.member("limitations", &record.limitations);
        w.key("linkage");
        linkage(&layout.linkage, w);
        w.key("mitigations");
        mitigations(layout, w);
        w.member("packed_relative_relocations", &layout.packed_relocations);
        w.member("relocation_inventory_completeness", "unknown");
        w.member("relocations", &layout.relocations);
        w.key("runtime_load_base");
        w.null();
        w.member("sections", &layout.sections);
        w.member("segments", &layout.segments);
        w.member("symbols", &layout.symbols);
        w.end_object();
    }
}

fn facts(record: &LayoutRecord<'_>, w: &mut Writer<'_>) {
    let digests = record.extras.digests();
    let strings = record.extras.strings(&record.file.bytes);
    let extra: [(&'static str, &dyn WriteJson); 2] = [("digests", &digests), ("strings", &strings)];
    record.layout.facts.write(&record.demangled, &extra, w);
}

fn architecture(layout: &Layout<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("bits", layout.bits);
    w.member("byte_order", layout.byte_order.as_str());
    w.member("machine", layout.machine);
    w.end_object();
}

fn artifact(record: &LayoutRecord<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("bytes", record.file.bytes.len() as u64);
    w.member("path", &record.file.path);
    w.member("sha256", record.sha256);
    w.end_object();
}

fn entry_point(layout: &Layout<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("execution_status", "unknown");
    w.member("meaning", layout.entry_meaning.as_str());
    w.member("reported_value", Hex(layout.entry));
    w.end_object();
}

fn linkage(linkage: &Linkage<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("convenience_maps_completeness", "unknown");
    w.member("got", &linkage.got);
    w.member("interpreters", &linkage.interpreters);
    w.member("needed_libraries", &linkage.needed_libraries);
    w.member("plt", &linkage.plt);
    w.key("runtime_library_paths");
    w.null();
    w.end_object();
}

impl WriteJson for NamedAddress<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.member("display_name", String::from_utf8_lossy(&self.name));
        w.end_object();
    }
}

fn mitigations(layout: &Layout<'_>, w: &mut Writer<'_>) {
    let indicators = &layout.indicators;
    w.begin_object();
    w.member("evidence_kind", "inferred");
    w.member("executable_stack_indicator", indicators.executable_stack);
    w.member("nx_indicator", indicators.nx);
    w.member("position_independent", indicators.position_independent);
    w.key("relro");
    match indicators.relro {
        Some(Relro::Partial) => w.string("Partial"),
        Some(Relro::Full) => w.string("Full"),
        None => w.null(),
    }
    w.member("stack_canary_indicator", indicators.stack_canary);
    w.end_object();
}
