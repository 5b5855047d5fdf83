//! `inspect_macho` (binaries section 3).

use std::borrow::Cow;

use super::commands::{LC_UUID, uuid};
use super::image::FILE_TYPES;
use super::inspect_rows::{Normalized, file_range};
use super::macho::MachO;
use super::segments::Segment;
use super::slices::{Content, Slice, Slices};
use crate::artifact::format;
use crate::binary::layout::Refusal;
use crate::binary::layout::rows::Symbolic;
use crate::binary::{BinaryFile, name_text};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, Provider, Subject};
use crate::json::{MAX_SAFE_INTEGER, Object, WriteJson, Writer};
use crate::operation::Context;

/// Who inspects Mach-O files.
pub const PROVIDER: Provider = Provider {
    id: "rea-macho",
    name: "rea Mach-O",
    version: "1",
};

const NO_TOOLS: &str = "No program was run: everything is read from the file's bytes, so there is no provenance of tools.";
const CONTRACT_ROWS: &str = "Numbers with more than 53 bits are null where the contract has numbers; facts hold them exactly.";
const FIRST_SLICE: &str =
    "The file is a universal one; its first slice that holds Mach-O was inspected.";
const NO_MACHO: &str = "No slice holds Mach-O; only the table of slices was read. The members of a static library are objects of their own.";

/// A Mach-O file as Evidence.
pub struct MachORecord<'a> {
    file: &'a BinaryFile,
    sha256: Digest,
    slice: Slice,
    pub(super) slices: Vec<Slice>,
    pub(super) universal: bool,
    /// `None` where the slice is something else.
    pub(super) macho: Option<MachO<'a>>,
    parameters: Object,
    limitations: Vec<String>,
    id: EvidenceId,
}

/// Inspects `file`: the slice called `architecture`, else the first that holds
/// Mach-O.
///
/// # Errors
/// `capability_unavailable` where it is no Mach-O file; `invalid_request` at
/// `path` where its header is cut, at `architecture` where it has no such
/// slice; `cancelled`.
pub fn inspect_macho<'a>(
    file: &'a BinaryFile,
    architecture: Option<&str>,
    context: &Context,
) -> Result<MachORecord<'a>> {
    context.check()?;
    let (sha256, read) = rayon::join(
        || file.sha256(context),
        || read(file, architecture, context.operation),
    );
    let (sha256, read) = (sha256?, read?);
    context.check()?;
    let mut parameters = Object::new();
    if let Some(architecture) = architecture {
        parameters.insert("architecture", architecture);
    }
    let limitations = read.limitations(architecture);
    let Read {
        slices,
        slice,
        universal,
        macho,
        ..
    } = read;
    let mut record = MachORecord {
        file,
        sha256,
        slice,
        slices,
        universal,
        macho,
        parameters,
        limitations,
        id: EvidenceId(Digest([0; 32])),
    };
    record.id = record.with_draft(|draft| draft.id());
    Ok(record)
}

/// What was read of a file.
struct Read<'a> {
    slices: Vec<Slice>,
    slice: Slice,
    universal: bool,
    macho: Option<MachO<'a>>,
    notes: Vec<String>,
}

fn read<'a>(
    file: &'a BinaryFile,
    architecture: Option<&str>,
    operation: &'static str,
) -> Result<Read<'a>> {
    let refuse = |refusal| refused(refusal, file, operation);
    let slices = Slices::read(&file.bytes).map_err(refuse)?;
    let slice = *slices.select(architecture).map_err(refuse)?;
    let (universal, all) = (slices.table.is_some(), slices.all.clone());
    if universal && slice.content != Content::MachO {
        return Ok(Read {
            slices: all,
            slice,
            universal,
            macho: None,
            notes: slices.notes.sentences(),
        });
    }
    let macho = MachO::of_slice(&file.bytes, slices, slice).map_err(refuse)?;
    Ok(Read {
        slices: all,
        slice,
        universal,
        notes: macho.notes.sentences(),
        macho: Some(macho),
    })
}

impl Read<'_> {
    fn limitations(&self, architecture: Option<&str>) -> Vec<String> {
        let mut said = vec![NO_TOOLS.to_owned()];
        if self.universal && architecture.is_none() && self.macho.is_some() {
            said.push(FIRST_SLICE.to_owned());
        }
        match &self.macho {
            None => said.push(NO_MACHO.to_owned()),
            Some(macho) => {
                let large: usize = macho
                    .image
                    .commands
                    .iter()
                    .map(|command| macho.image.large_numbers(command).len())
                    .sum();
                let sections = macho.segments.sections.iter();
                let wide = sections.filter(|one| one.size > MAX_SAFE_INTEGER).count();
                if large + wide > 0 {
                    said.push(CONTRACT_ROWS.to_owned());
                }
            }
        }
        said.extend(self.notes.iter().cloned());
        said
    }
}

/// Errors of reading a Mach-O file, as this operation tells them.
pub(super) fn refused(refusal: Refusal, file: &BinaryFile, operation: &'static str) -> Error {
    let shown = &file.path;
    match refusal {
        Refusal::Format => Error::new(
            Code::CapabilityUnavailable,
            format!("{shown} is no Mach-O file"),
        )
        .action("Give an executable, library, object or kernel extension of Apple's systems; `rea inspect-binary-layout` takes other formats.")
        .detail("operation", operation)
        .detail("reason", "not_mach_o"),
        Refusal::Header { offset, reason } => {
            let message =
                format!("the header of {shown} cannot be read at offset {offset}: {reason}");
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

pub(super) fn subject(
    file: &BinaryFile,
    sha256: Digest,
    architecture: Option<&'static str>,
) -> Subject {
    let head = file.bytes.get(..format::HEAD).unwrap_or(&file.bytes);
    Subject {
        name: file.name().to_owned(),
        sha256,
        format: format::of_bytes(head, file.bytes.len() as u64).as_str(),
        architecture,
        local_path: file.path.clone(),
    }
}

impl<'a> MachORecord<'a> {
    /// The path as the user gave it.
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// All slices, in table order.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// The slice that was inspected.
    pub fn slice(&self) -> &Slice {
        &self.slice
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }

    /// The file type: `MH_EXECUTE`, ...
    pub fn file_type(&self) -> Option<Cow<'static, str>> {
        let header = self.macho.as_ref()?.image.header;
        Some(Symbolic::of(header.file_type.into(), FILE_TYPES).text())
    }

    /// The header's flags by name.
    pub fn flags(&self) -> Vec<String> {
        self.macho
            .as_ref()
            .map(|macho| macho.image.header.flag_names())
            .unwrap_or_default()
    }

    /// The identity of the build.
    pub fn uuid(&self) -> Option<String> {
        let image = &self.macho.as_ref()?.image;
        let command = image.of_kind(&[LC_UUID]).next()?;
        Some(uuid(&image.body(command).array(8)?))
    }

    /// Libraries: path, command, current version.
    pub fn dependencies(&self) -> impl Iterator<Item = (Cow<'a, str>, &'static str, String)> {
        self.macho.iter().flat_map(|macho| {
            let row = |one: &super::dylibs::Dylib<'a>| {
                (name_text(one.name), one.kind, one.current_version())
            };
            macho.dylibs.iter().map(row)
        })
    }

    /// Segments: name, address, sizes in memory and in the file, protections.
    pub fn segments(&self) -> impl Iterator<Item = (Cow<'a, str>, u64, u64, u64, String)> {
        self.macho.iter().flat_map(|macho| {
            let row = |one: &Segment<'a>| {
                let both = format!("{}/{}", shown(one.initial), shown(one.maximum));
                let name = name_text(one.name);
                (name, one.address, one.memory_size, one.file_size, both)
            };
            macho.segments.segments.iter().map(row)
        })
    }

    /// Exports: name and address.
    pub fn exports(&self) -> impl Iterator<Item = (Cow<'_, str>, Option<u64>)> {
        self.macho.iter().flat_map(|macho| {
            let rows = macho.exports.iter();
            rows.map(|row| (name_text(&row.name), row.address))
        })
    }

    /// Imports: name and library.
    pub fn imports(&self) -> impl Iterator<Item = (Cow<'a, str>, Option<Cow<'a, str>>)> {
        self.macho.iter().flat_map(|macho| {
            macho.imports.iter().map(|row| {
                let library = macho.library(row.ordinal).map(name_text);
                (name_text(row.name), library)
            })
        })
    }
}

/// A protection as `ls` would show it.
fn shown(protection: u32) -> String {
    let bits = [(1, 'r'), (2, 'w'), (4, 'x')];
    bits.iter()
        .map(|&(bit, letter)| if protection & bit != 0 { letter } else { '-' })
        .collect()
}

impl Drafted for MachORecord<'_> {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(subject(self.file, self.sha256, self.slice.cpu.contract())),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "inspect_macho",
            parameters: &self.parameters,
            normalized_result: &Normalized(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &Locations(self),
            evidence_links: &[],
        })
    }
}

/// The range of each slice, then of each segment that holds bytes.
struct Locations<'a>(&'a MachORecord<'a>);

impl WriteJson for Locations<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for slice in &self.0.slices {
            file_range(slice.offset, slice.size, w);
        }
        if let Some(macho) = &self.0.macho {
            for segment in &macho.segments.segments {
                let offset = macho.image.file_offset(segment.offset);
                file_range(offset, segment.file_size, w);
            }
        }
        w.end_array();
    }
}
