//! The record as producers make it: parts in, id and canonical JSON out.

use crate::digest::Digest;
use crate::json::{WriteJson, Writer};

/// The id of a record: `ev_` and the SHA-256 of its canonical projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvidenceId(pub Digest);

impl EvidenceId {
    /// What stands before the digits.
    pub const PREFIX: &'static str = "ev_";
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
    /// The path as the user gave it; may be empty.
    pub local_path: String,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Read from bytes.
    Observed,
    /// Computed from records.
    Derived,
    /// Concluded.
    Inferred,
}

impl Confidence {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// The software as shipped.
    ShippedArtifact,
    /// A person's or program's conclusion.
    AnalystInference,
}

impl Authority {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ShippedArtifact => "shipped-artifact",
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
        w.begin_object();
        w.key("analysis_profile");
        w.null();
        w.key("authority");
        w.string(self.authority.as_str());
        w.key("confidence");
        w.string(self.confidence.as_str());
        w.key("environment");
        w.null();
        if let Some(id) = id {
            w.key("evidence_id");
            id.write_json(w);
        }
        w.key("evidence_links");
        self.evidence_links.write_json(w);
        w.key("limitations");
        self.limitations.write_json(w);
        w.key("locations");
        self.locations.write_json(w);
        w.key("normalized_result");
        self.normalized_result.write_json(w);
        w.key("operation");
        w.string(self.operation);
        w.key("parameters");
        self.parameters.write_json(w);
        w.key("predicate_type");
        w.string(self.predicate_type);
        w.key("provider");
        w.begin_object();
        w.key("id");
        w.string(self.provider.id);
        w.key("name");
        w.string(self.provider.name);
        w.key("version");
        w.string(self.provider.version);
        w.end_object();
        w.key("raw_result");
        w.null();
        w.key("subject");
        self.write_subject(id.is_some(), w);
        w.end_object();
    }

    fn write_subject(&self, complete: bool, w: &mut Writer<'_>) {
        let Some(subject) = &self.subject else {
            w.null();
            return;
        };
        w.begin_object();
        w.key("architecture");
        w.null();
        w.key("digest");
        w.begin_object();
        w.key("sha256");
        w.id("", &subject.sha256);
        w.end_object();
        w.key("format");
        w.string(subject.format);
        if complete {
            w.key("local_path");
            w.string(&subject.local_path);
            w.key("name");
            w.string(&subject.name);
        }
        w.end_object();
    }
}

/// A finished result that can write itself as Evidence any number of times.
pub trait Record {
    /// The record's id.
    fn id(&self) -> EvidenceId;
    /// The complete record, members in canonical order.
    fn write_record(&self, w: &mut Writer<'_>);
}
