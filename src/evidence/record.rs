//! The record as producers make it: parts in, id and canonical JSON out.

use crate::digest::Digest;
use crate::json::{Value, WriteJson, Writer, written};

/// The id of a record: `ev_` and the SHA-256 of its canonical projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvidenceId(pub Digest);

impl EvidenceId {
    /// What stands before the digits.
    pub const PREFIX: &'static str = "ev_";

    /// Reads an id; `None` where `text` has not the form of one.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(Self::PREFIX.as_bytes())?;
        Digest::from_hex(digits).map(Self)
    }
}

impl std::fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0)
    }
}

impl WriteJson for EvidenceId {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.id(Self::PREFIX, &self.0);
    }
}

/// What a record is about. `name` and `local_path` are for people: they are
/// not part of the id.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The last part of the path.
    pub name: String,
    /// SHA-256 of the artifact (for folders: of the contract's recipe).
    pub sha256: Digest,
    /// The artifact's format.
    pub format: &'static str,
    /// Its architecture, where it has one that the contract names.
    pub architecture: Option<&'static str>,
    /// The path as the user gave it; may be empty.
    pub local_path: String,
}

/// The locations of a record about one file: that file, by its path.
pub struct ArtifactPath<'a>(pub &'a str);

impl WriteJson for ArtifactPath<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        w.begin_object();
        w.member("kind", "artifact-path");
        w.member("path", self.0);
        w.end_object();
        w.end_array();
    }
}

/// Who made the record.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Stable id.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Moves with every change that alters ids.
    pub version: &'static str,
}

/// How the result was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Confidence {
    /// Read from bytes.
    Observed,
    /// Computed from records.
    Derived,
    /// Concluded.
    Inferred,
}

impl Confidence {
    /// All of them, the strongest first.
    pub const ALL: [Self; 3] = [Self::Observed, Self::Derived, Self::Inferred];

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Derived => "derived",
            Self::Inferred => "inferred",
        }
    }
}

/// What the record rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Authority {
    /// The software as shipped.
    ShippedArtifact,
    /// A run of the software under control.
    ControlledReplay,
    /// An older release or its documents.
    HistoricalReference,
    /// An answer from outside.
    ExternalService,
    /// A person's or program's conclusion.
    AnalystInference,
}

impl Authority {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ShippedArtifact,
        Self::ControlledReplay,
        Self::HistoricalReference,
        Self::ExternalService,
        Self::AnalystInference,
    ];

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ShippedArtifact => "shipped-artifact",
            Self::ControlledReplay => "controlled-replay",
            Self::HistoricalReference => "historical-reference",
            Self::ExternalService => "external-service",
            Self::AnalystInference => "analyst-inference",
        }
    }
}

/// A record before it has its id. The large parts write themselves, so that a
/// record of any size is generated once for its id and once for the output
/// without ever being held.
pub struct Draft<'a> {
    /// What it is about.
    pub subject: Option<Subject>,
    /// Who makes it.
    pub provider: Provider,
    /// The kind of statement; `rea.analysis` unless an operation says otherwise.
    pub predicate_type: &'static str,
    /// The operation's name.
    pub operation: &'static str,
    /// The options that could change the result.
    pub parameters: &'a dyn WriteJson,
    /// The result.
    pub normalized_result: &'a dyn WriteJson,
    /// How it was reached.
    pub confidence: Confidence,
    /// What it rests on.
    pub authority: Authority,
    /// What was not looked at or is uncertain, in the operation's order.
    pub limitations: &'a [String],
    /// Where in the artifact, an array of location objects.
    pub locations: &'a dyn WriteJson,
    /// Records this one rests on.
    pub evidence_links: &'a [EvidenceId],
}

impl Draft<'_> {
    /// The id: SHA-256 of the canonical record without `evidence_id`,
    /// `subject.name` and `subject.local_path`.
    pub fn id(&self) -> EvidenceId {
        EvidenceId(Digest::of_json(|w| self.write(None, w)))
    }

    /// The complete record under its id.
    pub fn write_record(&self, id: EvidenceId, w: &mut Writer<'_>) {
        self.write(Some(id), w);
    }

    fn write(&self, id: Option<EvidenceId>, w: &mut Writer<'_>) {
        let subject = self.subject.as_ref().map(|subject| SubjectParts {
            name: subject.name.as_bytes(),
            sha256: subject.sha256,
            format: subject.format,
            architecture: subject.architecture,
            local_path: subject.local_path.as_bytes(),
        });
        let parts = Parts {
            analysis_profile: &Value::Null,
            authority: self.authority.as_str(),
            confidence: self.confidence.as_str(),
            environment: &Value::Null,
            evidence_links: self.evidence_links,
            limitations: &self.limitations,
            locations: self.locations,
            normalized_result: self.normalized_result,
            operation: self.operation,
            parameters: self.parameters,
            predicate_type: self.predicate_type,
            provider: &self.provider,
            raw_result: &Value::Null,
            subject,
        };
        parts.write(id, w);
    }
}

/// All members of a record but its id, ready to be written: the one place
/// that knows how records are written.
pub(super) struct Parts<'a> {
    pub analysis_profile: &'a dyn WriteJson,
    pub authority: &'a str,
    pub confidence: &'a str,
    pub environment: &'a dyn WriteJson,
    pub evidence_links: &'a [EvidenceId],
    pub limitations: &'a dyn WriteJson,
    pub locations: &'a dyn WriteJson,
    pub normalized_result: &'a dyn WriteJson,
    pub operation: &'a str,
    pub parameters: &'a dyn WriteJson,
    pub predicate_type: &'a str,
    pub provider: &'a dyn WriteJson,
    pub raw_result: &'a dyn WriteJson,
    pub subject: Option<SubjectParts<'a>>,
}

/// The subject of [`Parts`].
pub(super) struct SubjectParts<'a> {
    /// WTF-8.
    pub name: &'a [u8],
    pub sha256: Digest,
    pub format: &'a str,
    pub architecture: Option<&'a str>,
    /// WTF-8.
    pub local_path: &'a [u8],
}

impl Parts<'_> {
    /// The record under `id`, or without one what the id is the hash of.
    pub fn write(&self, id: Option<EvidenceId>, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("analysis_profile", self.analysis_profile);
        w.member("authority", self.authority);
        w.member("confidence", self.confidence);
        w.member("environment", self.environment);
        if let Some(id) = id {
            w.member("evidence_id", id);
        }
        w.member("evidence_links", self.evidence_links);
        w.member("limitations", self.limitations);
        w.member("locations", self.locations);
        w.member("normalized_result", self.normalized_result);
        w.member("operation", self.operation);
        w.member("parameters", self.parameters);
        w.member("predicate_type", self.predicate_type);
        w.member("provider", self.provider);
        w.member("raw_result", self.raw_result);
        w.key("subject");
        match &self.subject {
            Some(subject) => subject.write(id.is_some(), w),
            None => w.null(),
        }
        w.end_object();
    }
}

impl SubjectParts<'_> {
    fn write(&self, complete: bool, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("architecture", self.architecture);
        w.key("digest");
        w.begin_object();
        w.key("sha256");
        w.id("", &self.sha256);
        w.end_object();
        w.member("format", self.format);
        if complete {
            w.key("local_path");
            w.text(self.local_path);
            w.key("name");
            w.text(self.name);
        }
        w.end_object();
    }
}

impl WriteJson for Provider {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("id", self.id);
        w.member("name", self.name);
        w.member("version", self.version);
        w.end_object();
    }
}

/// A finished result that can write itself as Evidence any number of times.
pub trait Record {
    /// The record's id.
    fn id(&self) -> EvidenceId;
    /// The complete record, members in canonical order.
    fn write_record(&self, w: &mut Writer<'_>);

    /// The complete record as canonical JSON.
    fn canonical(&self) -> Vec<u8> {
        written(|w| self.write_record(w))
    }
}

/// A result that keeps what its record says, and the id once it has one.
pub(crate) trait Drafted {
    /// The id that was made of the draft.
    fn sealed(&self) -> EvidenceId;

    /// Hands the draft of the record to `use_it`.
    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T;
}

impl<D: Drafted> Record for D {
    fn id(&self) -> EvidenceId {
        self.sealed()
    }

    fn write_record(&self, w: &mut Writer<'_>) {
        self.with_draft(|draft| draft.write_record(self.sealed(), w));
    }
}
