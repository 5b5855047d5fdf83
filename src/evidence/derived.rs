//! Records that are derived from one other record: subject and authority are
//! that one's, whatever they are.

use super::record::{Parts, SubjectParts};
use super::{Confidence, EvidenceId, Provider};
use crate::digest::Digest;
use crate::json::{Object, Text, Value, WriteJson, Writer};

/// What a derived record takes over from the record that it is about.
#[derive(Clone, Debug)]
pub struct Parent {
    /// Its id.
    pub id: EvidenceId,
    /// Its operation.
    pub operation: Text,
    /// Its authority, one of the contract's words.
    pub authority: Text,
    /// Its subject, checked; `None` where it has none.
    pub subject: Option<Object>,
    /// Its limitations, in its order.
    pub limitations: Vec<Text>,
    /// Who made it and how, where a summary tells that.
    pub origin: Option<Origin>,
}

/// Who made a record, and what was asked.
#[derive(Clone, Debug)]
pub struct Origin {
    /// `{id, name, version}`.
    pub provider: Object,
    /// Digest of the analysis profile, in hexadecimal digits; `None` where it
    /// has no profile.
    pub analysis_profile_digest: Option<Text>,
    /// The parameters.
    pub parameters: Object,
}

impl Parent {
    /// SHA-256 of the subject.
    pub fn subject_sha256(&self) -> Option<Digest> {
        let digest = self.subject.as_ref()?.get("digest")?.get("sha256")?;
        Digest::from_hex(digest.as_str()?.as_bytes())
    }

    /// The part of the subject `name`, as WTF-8; empty where it is not text.
    fn text(&self, name: &str) -> &[u8] {
        match self.subject.as_ref().and_then(|subject| subject.get(name)) {
            Some(Value::String(text)) => text.as_bytes(),
            _ => b"",
        }
    }

    fn subject_parts(&self) -> Option<SubjectParts<'_>> {
        let word = |name| std::str::from_utf8(self.text(name)).unwrap_or_default();
        Some(SubjectParts {
            name: self.text("name"),
            sha256: self.subject_sha256()?,
            format: word("format"),
            architecture: Some(word("architecture")).filter(|word| !word.is_empty()),
            local_path: self.text("local_path"),
        })
    }
}

/// A derived record before it has its id. Like [`super::Draft`] it is
/// generated from its parts as often as it is needed.
pub struct DerivedDraft<'a> {
    /// The record it is derived from.
    pub parent: &'a Parent,
    /// Who makes it.
    pub provider: Provider,
    /// The kind of statement.
    pub predicate_type: &'static str,
    /// The operation's name.
    pub operation: &'static str,
    /// The options that could change the result.
    pub parameters: &'a dyn WriteJson,
    /// The result.
    pub normalized_result: &'a dyn WriteJson,
    /// How it was reached.
    pub confidence: Confidence,
    /// What was not looked at or is uncertain.
    pub limitations: &'a [Text],
    /// Location objects.
    pub locations: &'a dyn WriteJson,
}

impl DerivedDraft<'_> {
    /// The id.
    pub fn id(&self) -> EvidenceId {
        EvidenceId(Digest::of_json(|w| self.write(None, w)))
    }

    /// The complete record under its id.
    pub fn write_record(&self, id: EvidenceId, w: &mut Writer<'_>) {
        self.write(Some(id), w);
    }

    fn write(&self, id: Option<EvidenceId>, w: &mut Writer<'_>) {
        let parts = Parts {
            analysis_profile: &Value::Null,
            authority: self.parent.authority.as_str().unwrap_or_default(),
            confidence: self.confidence.as_str(),
            environment: &Value::Null,
            evidence_links: &[self.parent.id],
            limitations: &self.limitations,
            locations: self.locations,
            normalized_result: self.normalized_result,
            operation: self.operation,
            parameters: self.parameters,
            predicate_type: self.predicate_type,
            provider: &self.provider,
            raw_result: &Value::Null,
            subject: self.parent.subject_parts(),
        };
        parts.write(id, w);
    }
}
