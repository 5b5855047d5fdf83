//! `list_architectures`: the slices of a file (binaries section 3).

use super::inspect::{PROVIDER, refused, subject};
use super::inspect_rows::{architectures, file_range};
use super::slices::{Slice, Slices};
use crate::binary::BinaryFile;
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId};
use crate::json::{Object, WriteJson, Writer};
use crate::operation::Context;

/// The slices of a file as Evidence.
pub struct ArchitecturesRecord<'a> {
    file: &'a BinaryFile,
    sha256: Digest,
    slices: Vec<Slice>,
    universal: bool,
    /// What is wrong with the table.
    limitations: Vec<String>,
    parameters: Object,
    id: EvidenceId,
}

/// Lists the slices of `file`.
///
/// # Errors
/// `capability_unavailable` where it is no Mach-O file; `invalid_request` at
/// `path` where its header is cut; `cancelled`.
pub fn list_architectures<'a>(
    file: &'a BinaryFile,
    context: &Context,
) -> Result<ArchitecturesRecord<'a>> {
    let slices =
        Slices::read(&file.bytes).map_err(|refusal| refused(refusal, file, context.operation))?;
    let sha256 = file.sha256(context)?;
    let mut record = ArchitecturesRecord {
        limitations: slices.notes.sentences(),
        file,
        sha256,
        universal: slices.table.is_some(),
        slices: slices.all,
        parameters: Object::new(),
        id: EvidenceId(Digest([0; 32])),
    };
    record.id = record.with_draft(|draft| draft.id());
    Ok(record)
}

impl ArchitecturesRecord<'_> {
    /// The path as the user gave it.
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// All slices, in table order.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
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

impl Drafted for ArchitecturesRecord<'_> {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        // Of a universal file no architecture is the one.
        let only = match self.slices.as_slice() {
            [slice] => slice.cpu.contract(),
            _ => None,
        };
        use_it(&Draft {
            subject: Some(subject(self.file, self.sha256, only)),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "list_architectures",
            parameters: &self.parameters,
            normalized_result: &Architectures(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &SliceLocations(&self.slices),
            evidence_links: &[],
        })
    }
}

struct Architectures<'a>(&'a ArchitecturesRecord<'a>);

impl WriteJson for Architectures<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        w.begin_object();
        w.key("architectures");
        architectures(&record.slices, record.universal, w);
        w.member("limitations", &record.limitations);
        w.key("provenance");
        w.begin_array();
        w.end_array();
        w.end_object();
    }
}

struct SliceLocations<'a>(&'a [Slice]);

impl WriteJson for SliceLocations<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for slice in self.0 {
            file_range(slice.offset, slice.size, w);
        }
        w.end_array();
    }
}
