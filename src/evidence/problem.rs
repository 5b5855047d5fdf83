//! What is wrong with a record.

use super::EvidenceId;
use super::path::Pointer;
use crate::error::{Category, Code, Error};
use crate::json::{Issue, Text, WriteJson, Writer};

/// The check that refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The file cannot be read, or not within the budgets.
    Read,
    /// The text is not JSON.
    Json,
    /// A member is missing, unknown, or holds what it must not.
    Shape,
    /// The digest of the analysis profile.
    ProfileDigest,
    /// The profile's provider against the record's.
    ProfileProvider,
    /// A digest of a revision of an unknown, or the unknown's id.
    UnknownDigest,
    /// What must hold within a revision of an unknown.
    UnknownInvariant,
    /// Two records of a bundle with one id.
    DuplicateRecord,
    /// Revisions of an unknown that do not run from 1 without gaps.
    UnknownGap,
    /// A revision that does not name the one before it.
    UnknownChain,
    /// An unknown that cites a record which is not there.
    UnknownMissingEvidence,
    /// An unknown that names an unknown which is not there.
    UnknownMissingUnknown,
    /// Unknowns that depend on each other in a circle.
    UnknownCycle,
    /// A resolution that does not meet what the unknown requires.
    UnknownUnqualified,
    /// The id of the record.
    EvidenceId,
    /// A record inside the record.
    NestedEvidence,
    /// An id or count of an artifact graph or inspection.
    ArtifactGraph,
    /// A bundle that is not what its records and unknowns make.
    NotCanonical,
    /// Two bundles that cannot both be right.
    Conflict,
}

impl Stage {
    /// The name in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Json => "json",
            Self::Shape => "shape",
            Self::ProfileDigest => "profile-digest",
            Self::ProfileProvider => "profile-provider",
            Self::UnknownDigest => "unknown-digest",
            Self::UnknownInvariant => "unknown-invariant",
            Self::DuplicateRecord => "duplicate-record",
            Self::UnknownGap => "unknown-gap",
            Self::UnknownChain => "unknown-chain",
            Self::UnknownMissingEvidence => "unknown-missing-evidence",
            Self::UnknownMissingUnknown => "unknown-missing-unknown",
            Self::UnknownCycle => "unknown-cycle",
            Self::UnknownUnqualified => "unknown-unqualified",
            Self::EvidenceId => "evidence-id",
            Self::NestedEvidence => "nested-evidence",
            Self::ArtifactGraph => "artifact-graph",
            Self::NotCanonical => "not-canonical",
            Self::Conflict => "conflict",
        }
    }
}

/// The kind of a problem, as issues of arguments name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No such member.
    UnknownArgument,
    /// A member that is not there.
    MissingArgument,
    /// Another JSON type.
    InvalidType,
    /// Too small, too large, too short.
    OutOfRange,
    /// None of the acceptable values.
    InvalidValue,
    /// A string that is not written as it must be.
    InvalidFormat,
}

impl Reason {
    /// The name in errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownArgument => "unknown_argument",
            Self::MissingArgument => "missing_argument",
            Self::InvalidType => "invalid_type",
            Self::OutOfRange => "out_of_range",
            Self::InvalidValue => "invalid_value",
            Self::InvalidFormat => "invalid_format",
        }
    }
}

/// Something wrong at one place of a record.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Where, from the root of the record.
    pub pointer: Pointer,
    /// The check that found it.
    pub stage: Stage,
    /// Its kind.
    pub reason: Reason,
    /// In words.
    pub message: String,
}

impl WriteJson for Problem {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("message", &self.message);
        w.member("pointer", self.pointer.to_text());
        w.member("stage", self.stage.as_str());
        w.end_object();
    }
}

/// What verification says of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its shape is right and its ids are the hashes of what it says.
    Verified,
    /// It has problems.
    Invalid,
    /// It could not be read.
    Unreadable,
}

impl Status {
    /// The name in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Invalid => "invalid",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The verification of one record. Records inside it have reports of their
/// own.
#[derive(Clone, Debug)]
pub struct Report {
    /// The id that the record claims, where it has the form of one.
    pub evidence_id: Option<EvidenceId>,
    /// For a record inside another or in a bundle: where, from the root of the
    /// document.
    pub pointer: Option<Pointer>,
    /// For a bundle: what it holds.
    pub bundle: Option<Box<BundleCounts>>,
    /// The verdict.
    pub status: Status,
    /// What is wrong, in the order of the checks.
    pub problems: Vec<Problem>,
    /// Reports on the records inside this one, at all levels, in the order in
    /// which they end; empty for a record that is itself inside another.
    pub nested: Vec<Report>,
}

/// What a bundle holds, as far as it could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleCounts {
    /// Its records.
    pub records: u64,
    /// Revisions of its unknowns.
    pub unknown_revisions: u64,
}

impl Report {
    /// The report on input that could not be read ([`Stage::Read`]) or is not
    /// JSON ([`Stage::Json`]).
    pub fn unreadable(stage: Stage, message: impl Into<String>) -> Self {
        Self {
            evidence_id: None,
            pointer: None,
            bundle: None,
            status: Status::Unreadable,
            problems: vec![Problem {
                pointer: Pointer::default(),
                stage,
                reason: Reason::InvalidFormat,
                message: message.into(),
            }],
            nested: Vec::new(),
        }
    }

    /// Whether this record and all inside it are verified.
    pub fn is_verified(&self) -> bool {
        self.status == Status::Verified && self.nested.iter().all(Self::is_verified)
    }

    /// The report of the first record, this one or one inside it, that is not
    /// what it claims to be; ids of artifact graphs aside.
    pub(super) fn first_unauthentic(&self) -> Option<&Self> {
        let serious = |report: &&Self| {
            let first = report.problems.first();
            first.is_some_and(|problem| problem.stage != Stage::ArtifactGraph)
        };
        std::iter::once(self).chain(&self.nested).find(serious)
    }

    /// The contract's error for a record that came from a file; `None` where
    /// the record is verified.
    pub fn file_error(&self, path: &str) -> Option<Error> {
        let first = self.problems.first()?;
        let what = match self.bundle {
            Some(_) => "a valid bundle",
            None => "valid Evidence",
        };
        let message = format!("{path} is not {what}: {}", first.message);
        let error = Error::new(Code::EvidenceIntegrityMismatch, message)
            .in_category(Category::IntegrityMismatch)
            .action("Use the file as it was written, or make it again.")
            .detail("path", path)
            .detail("pointer", first.pointer.to_text())
            .detail("reason", first.message.as_str())
            .detail("stage", first.stage.as_str());
        Some(match self.evidence_id {
            Some(id) => error.detail("evidence_id", id.to_string()),
            None => error,
        })
    }

    /// The contract's error for a record that is an argument of `operation`;
    /// `None` where the record is verified.
    pub fn argument_error(&self, operation: &str) -> Option<Error> {
        self.argument_error_at(&[], operation)
    }

    /// [`Report::argument_error`] for a record that is the member at `within`
    /// of the arguments.
    pub fn argument_error_at(&self, within: &[&str], operation: &str) -> Option<Error> {
        let first = self.problems.first()?;
        let issues = self
            .problems
            .iter()
            .filter(|problem| problem.stage == first.stage)
            .map(|problem| {
                Issue::at(
                    within
                        .iter()
                        .map(|&part| part.into())
                        .chain(self.pointer.iter().flat_map(Pointer::to_values))
                        .chain(problem.pointer.to_values())
                        .collect(),
                    problem.reason.as_str(),
                    problem.message.clone(),
                )
            })
            .collect();
        Some(Issue::all_into_error(issues, operation))
    }
}

/// One line of `verify-evidence`.
impl WriteJson for Report {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        if let Some(counts) = &self.bundle {
            w.key("bundle");
            w.begin_object();
            w.member("records", counts.records);
            w.member("unknown_revisions", counts.unknown_revisions);
            w.end_object();
        }
        w.member("evidence_id", self.evidence_id);
        if let Some(pointer) = &self.pointer {
            w.member("pointer", pointer.to_text());
        }
        w.member("problems", &self.problems);
        w.member("status", self.status.as_str());
        w.end_object();
    }
}

impl From<Text> for crate::json::Value {
    fn from(text: Text) -> Self {
        Self::String(text)
    }
}
