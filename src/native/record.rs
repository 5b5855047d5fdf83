//! The record of an operation on a target.

use super::target::Target;
use crate::digest::Digest;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, Provider, Subject};
use crate::json::{Object, Value, WriteJson};

/// Who reads targets by address.
pub const PROVIDER: Provider = Provider {
    id: "rea-native-bytes",
    name: "rea native bytes",
    version: "1",
};

/// A result as Evidence.
pub struct NativeRecord<R> {
    /// What was found.
    pub result: R,
    subject: Subject,
    operation: &'static str,
    parameters: Object,
    limitations: Vec<String>,
    locations: Vec<Value>,
    id: EvidenceId,
}

/// What a record is made of beside its result.
pub(super) struct Parts {
    pub operation: &'static str,
    pub sha256: Digest,
    pub architecture: Option<&'static str>,
    pub parameters: Object,
    pub limitations: Vec<String>,
    /// Ranges of the file: offset, and the offset behind.
    pub ranges: Vec<(u64, u64)>,
}

impl<R: WriteJson> NativeRecord<R> {
    pub(super) fn new(target: &Target, parts: Parts, result: R) -> Self {
        let Parts {
            operation,
            sha256,
            architecture,
            mut parameters,
            limitations,
            ranges,
        } = parts;
        if let Some(architecture) = target.requested_architecture() {
            parameters.insert("architecture", architecture);
        }
        let mut path = Object::new();
        path.insert("kind", "artifact-path");
        path.insert("path", target.file().path.as_str());
        let mut locations = vec![Value::from(path)];
        for (start, end) in ranges {
            let mut range = Object::new();
            range.insert("end", end);
            range.insert("kind", "file-offset-range");
            range.insert("start", start);
            locations.push(range.into());
        }
        let mut record = Self {
            result,
            subject: Subject {
                name: target.file().name().to_owned(),
                sha256,
                format: target.format(),
                architecture,
                local_path: target.file().path.clone(),
            },
            operation,
            parameters,
            limitations,
            locations,
            id: EvidenceId(Digest([0; 32])),
        };
        record.id = record.with_draft(|draft| draft.id());
        record
    }

    /// The file that it is about, as it is shown.
    pub fn path(&self) -> &str {
        &self.subject.local_path
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> Digest {
        self.subject.sha256
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }
}

impl<R: WriteJson> Drafted for NativeRecord<R> {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(self.subject.clone()),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: self.operation,
            parameters: &self.parameters,
            normalized_result: &self.result,
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &self.locations,
            evidence_links: &[],
        })
    }
}
