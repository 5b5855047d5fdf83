//! A revision of an unknown, and all revisions of all unknowns.

use std::collections::BTreeMap;

use super::words::collapsed;
use crate::digest::Digest;
use crate::evidence::{Authority, Confidence, EvidenceId};
use crate::json::{Text, WriteJson, Writer};

/// The id of an unknown: `unk_` and the SHA-256 of its domain, question and
/// scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownId(pub Digest);

impl UnknownId {
    /// What stands before the digits.
    pub const PREFIX: &'static str = "unk_";

    /// Reads an id; `None` where `text` has not the form of one.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(Self::PREFIX.as_bytes())?;
        Digest::from_hex(digits).map(Self)
    }

    /// The id of the unknown with this question. How the question's words are
    /// spaced does not matter.
    pub fn of(domain: &Text, question: &Text, scope: Option<Digest>) -> Self {
        let question = collapsed(question);
        Self(Digest::of_json(|w| {
            w.begin_object();
            w.member("domain", domain);
            w.member("question", &question);
            w.key("scope_digest");
            write_digest(scope, w);
            w.end_object();
        }))
    }
}

impl std::fmt::Display for UnknownId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0)
    }
}

impl WriteJson for UnknownId {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.id(Self::PREFIX, &self.0);
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        impl $name {
            /// All names, in the contract's order.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];

            /// The name in records.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The one of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// How far an unknown has come.
    UnknownStatus {
        /// Nobody works on it.
        Open = "open",
        /// Somebody works on it.
        Investigating = "investigating",
        /// Work cannot go on.
        Blocked = "blocked",
        /// There is Evidence against what was thought.
        Contradicted = "contradicted",
        /// It has a resolution.
        Resolved = "resolved",
    }
}

words! {
    /// How much depends on an unknown.
    Severity {
        /// Little.
        Low = "low",
        /// Something.
        Medium = "medium",
        /// Much.
        High = "high",
        /// Everything.
        Critical = "critical",
    }
}

words! {
    /// How an unknown was resolved.
    Disposition {
        /// Evidence answers it.
        Verified = "verified",
        /// It need not be asked.
        Withdrawn = "withdrawn",
        /// It is not this investigation's to answer.
        OutOfScope = "out-of-scope",
    }
}

words! {
    /// How one unknown relates to another.
    RelationKind {
        /// It cannot be answered before the other.
        DependsOn = "depends-on",
        /// It touches the other.
        RelatedTo = "related-to",
        /// Its answer and the other's exclude each other.
        Contradicts = "contradicts",
    }
}

/// An environment that an answer must come from; `None` is any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredEnvironment {
    /// The environment's id.
    pub id: Option<Text>,
    /// The operating system.
    pub platform: Option<Text>,
    /// The processor architecture.
    pub architecture: Option<Text>,
    /// `none`, `process`, `container` or `virtual-machine`.
    pub isolation: Option<Text>,
}

/// An operation that may answer the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The operation's name.
    pub operation: Text,
    /// Why it may help.
    pub rationale: Text,
}

/// A link to another unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relationship {
    /// How the two relate.
    pub kind: RelationKind,
    /// The other.
    pub unknown_id: UnknownId,
}

impl Relationship {
    /// Relationships are sorted by `type:unknown_id`.
    pub(super) fn key(&self) -> (&'static str, UnknownId) {
        (self.kind.as_str(), self.unknown_id)
    }
}

/// The end of an unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// How it ended.
    pub disposition: Disposition,
    /// Why.
    pub rationale: Text,
    /// What shows it.
    pub evidence_ids: Vec<EvidenceId>,
}

/// One revision of an unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The unknown's id, the same in all revisions.
    pub unknown_id: UnknownId,
    /// From 1.
    pub revision: u64,
    /// Digest of the revision before it; `None` for the first.
    pub previous_revision_digest: Option<Digest>,
    /// SHA-256 of the canonical revision without this member.
    pub revision_digest: Digest,
    /// SHA-256 of the artifact that the question is about.
    pub scope_digest: Option<Digest>,
    /// The question, trimmed.
    pub question: Text,
    /// The field it belongs to, trimmed.
    pub domain: Text,
    /// How far it has come.
    pub status: UnknownStatus,
    /// How much depends on it.
    pub severity: Severity,
    /// Records that speak for an answer.
    pub supporting_evidence_ids: Vec<EvidenceId>,
    /// Records that speak against it.
    pub contradicting_evidence_ids: Vec<EvidenceId>,
    /// What an answer must rest on; `None` is anything.
    pub required_authority: Option<Authority>,
    /// How an answer must have been reached, at least.
    pub required_confidence: Confidence,
    /// Where an answer must come from; `None` is anywhere.
    pub required_environment: Option<RequiredEnvironment>,
    /// What may help.
    pub recommended_probes: Vec<Probe>,
    /// Links to other unknowns.
    pub relationships: Vec<Relationship>,
    /// Its end, exactly when `status` is resolved.
    pub resolution: Option<Resolution>,
    /// The records of the mutations so far.
    pub mutation_evidence_ids: Vec<EvidenceId>,
}

impl Revision {
    /// SHA-256 of the canonical revision without `revision_digest`.
    pub fn digest(&self) -> Digest {
        Digest::of_json(|w| self.write(false, w))
    }

    /// All records it cites, in no order and with repetitions.
    pub fn cited(&self) -> impl Iterator<Item = EvidenceId> {
        let resolution = self.resolution.iter().flat_map(|end| &end.evidence_ids);
        self.supporting_evidence_ids
            .iter()
            .chain(&self.contradicting_evidence_ids)
            .chain(resolution)
            .chain(&self.mutation_evidence_ids)
            .copied()
    }

    /// About how much memory it takes.
    pub(in crate::evidence) fn memory_bytes(&self) -> u64 {
        let texts = |texts: &[&Text]| {
            texts
                .iter()
                .map(|text| text.as_bytes().len())
                .sum::<usize>()
        };
        let environment = self.required_environment.as_ref().map(|one| {
            [&one.id, &one.platform, &one.architecture, &one.isolation]
                .into_iter()
                .flatten()
                .map(|text| text.as_bytes().len())
                .sum::<usize>()
        });
        let probes: usize = self
            .recommended_probes
            .iter()
            .map(|probe| size_of::<Probe>() + texts(&[&probe.operation, &probe.rationale]))
            .sum();
        let rationale = self
            .resolution
            .as_ref()
            .map_or(0, |end| texts(&[&end.rationale]));
        let bytes = size_of::<Self>()
            + texts(&[&self.question, &self.domain])
            + environment.unwrap_or(0)
            + probes
            + rationale
            + self.cited().count() * size_of::<EvidenceId>()
            + self.relationships.len() * size_of::<Relationship>();
        bytes as u64
    }

    fn write(&self, complete: bool, w: &mut Writer<'_>) {
        w.begin_object();
        let contradicting_evidence_ids = &self.contradicting_evidence_ids;
        w.member("contradicting_evidence_ids", contradicting_evidence_ids);
        w.member("domain", &self.domain);
        w.member("mutation_evidence_ids", &self.mutation_evidence_ids);
        w.key("previous_revision_digest");
        write_digest(self.previous_revision_digest, w);
        w.member("question", &self.question);
        w.member("recommended_probes", &self.recommended_probes);
        w.member("relationships", &self.relationships);
        let required_authority = self.required_authority.map(Authority::as_str);
        w.member("required_authority", required_authority);
        w.member("required_confidence", self.required_confidence.as_str());
        w.member("required_environment", self.required_environment.as_ref());
        w.member("resolution", self.resolution.as_ref());
        w.member("revision", self.revision);
        if complete {
            w.key("revision_digest");
            w.id("", &self.revision_digest);
        }
        w.key("scope_digest");
        write_digest(self.scope_digest, w);
        w.member("severity", self.severity.as_str());
        w.member("status", self.status.as_str());
        w.member("supporting_evidence_ids", &self.supporting_evidence_ids);
        w.member("unknown_id", self.unknown_id);
        w.end_object();
    }
}

fn write_digest(digest: Option<Digest>, w: &mut Writer<'_>) {
    match digest {
        Some(digest) => w.id("", &digest),
        None => w.null(),
    }
}

impl WriteJson for Revision {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.write(true, w);
    }
}

impl WriteJson for Probe {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("operation", &self.operation);
        w.member("rationale", &self.rationale);
        w.end_object();
    }
}

impl WriteJson for Relationship {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("type", self.kind.as_str());
        w.member("unknown_id", self.unknown_id);
        w.end_object();
    }
}

impl WriteJson for RequiredEnvironment {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        for (name, value) in [
            ("architecture", &self.architecture),
            ("id", &self.id),
            ("isolation", &self.isolation),
            ("platform", &self.platform),
        ] {
            w.key(name);
            match value {
                Some(text) => w.text(text.as_bytes()),
                None => w.null(),
            }
        }
        w.end_object();
    }
}

impl WriteJson for Resolution {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("disposition", self.disposition.as_str());
        w.member("evidence_ids", &self.evidence_ids);
        w.member("rationale", &self.rationale);
        w.end_object();
    }
}

/// What became of a revision that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evidence) enum Insertion {
    New,
    /// The same is there already.
    Known,
    /// Another one is there.
    Conflict,
}

/// All revisions of all unknowns, by id and then by revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknowns(BTreeMap<UnknownId, BTreeMap<u64, Revision>>);

impl Unknowns {
    /// Revisions of all unknowns together.
    pub fn revisions(&self) -> u64 {
        self.0.values().map(|history| history.len() as u64).sum()
    }

    /// How many unknowns there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The revisions of an unknown, the oldest first.
    pub fn history(&self, id: UnknownId) -> impl Iterator<Item = &Revision> {
        self.0.get(&id).into_iter().flat_map(BTreeMap::values)
    }

    /// The newest revision of an unknown.
    pub fn head(&self, id: UnknownId) -> Option<&Revision> {
        self.0.get(&id)?.values().next_back()
    }

    /// The newest revisions of all, by id.
    pub fn heads(&self) -> impl Iterator<Item = &Revision> {
        self.0
            .values()
            .filter_map(|history| history.values().next_back())
    }

    /// The ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = UnknownId> {
        self.0.keys().copied()
    }

    /// All revisions, in the order of bundles.
    pub fn iter(&self) -> impl Iterator<Item = &Revision> {
        self.0.values().flat_map(BTreeMap::values)
    }

    /// Adds a revision, unless its place is taken.
    pub(in crate::evidence) fn insert(&mut self, revision: Revision) -> Insertion {
        let history = self.0.entry(revision.unknown_id).or_default();
        match history.get(&revision.revision) {
            None => {
                history.insert(revision.revision, revision);
                Insertion::New
            }
            Some(there) if there.revision_digest == revision.revision_digest => Insertion::Known,
            Some(_) => Insertion::Conflict,
        }
    }

    /// Takes back a revision that was added.
    pub(in crate::evidence) fn remove(&mut self, id: UnknownId, revision: u64) {
        if let Some(history) = self.0.get_mut(&id) {
            history.remove(&revision);
            if history.is_empty() {
                self.0.remove(&id);
            }
        }
    }
}

impl WriteJson for Unknowns {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for revision in self.iter() {
            revision.write_json(w);
        }
        w.end_array();
    }
}
