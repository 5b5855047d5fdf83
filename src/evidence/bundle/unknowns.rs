//! Mutations of a bundle's unknowns: the record and the revision go in
//! together, or neither.

use super::{Bundle, Head};
use crate::error::{Code, Error, Result};
use crate::evidence::problem::Stage;
use crate::evidence::unknowns::{
    Disposition, MEANT_NOT_PROVEN, Mutated, NewUnknown, Revision, UnknownId, UnknownStatus,
    UnknownUpdate, mutate_new, mutate_update, not_found, registry_error,
};
use crate::evidence::{EvidenceId, NewSubject};
use crate::json::{Text, WriteJson, Writer};

/// What a mutation is about.
#[derive(Clone, Debug)]
pub enum UnknownScope {
    /// No artifact.
    Nothing,
    /// The subject of a record of the bundle.
    Record(EvidenceId),
    /// An artifact.
    Subject(NewSubject),
}

/// Whether an unknown is resolved, and by Evidence.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a>(pub &'a Revision);

impl Verdict<'_> {
    /// Whether it has a resolution.
    pub fn is_valid(&self) -> bool {
        self.0.status == UnknownStatus::Resolved
    }

    /// Whether Evidence verifies the resolution.
    pub fn is_verified(&self) -> bool {
        let resolution = self.0.resolution.as_ref();
        resolution.is_some_and(|end| end.disposition == Disposition::Verified)
    }
}

impl WriteJson for Verdict<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("truthVerified", self.is_verified());
        w.member("unknown", self.0);
        w.member("valid", self.is_valid());
        w.end_object();
    }
}

impl Bundle {
    /// The newest revision of an unknown; `not-found` where there is none.
    pub fn unknown(&self, id: UnknownId) -> Result<&Revision> {
        self.unknowns.head(id).ok_or_else(|| not_found(id))
    }

    /// Records a question. Errors: `revision_conflict` (`already-exists`),
    /// `execution_failure` (`invalid-transition`) where the revision cannot
    /// be, `evidence_integrity_mismatch` (`integrity`) where what it cites is
    /// not there or does not hold. An error leaves the bundle as it was.
    pub fn record_unknown(&mut self, input: &NewUnknown, scope: UnknownScope) -> Result<Mutated> {
        self.record_unknown_saying(input, scope, MEANT_NOT_PROVEN)
    }

    /// Replaces what can change in an unknown. Errors: `execution_failure`
    /// (`not-found`), `revision_conflict` where the revision is not the
    /// expected one, and those of [`Bundle::record_unknown`].
    pub fn update_unknown(
        &mut self,
        input: &UnknownUpdate,
        scope: UnknownScope,
    ) -> Result<Mutated> {
        self.update_unknown_saying(input, scope, MEANT_NOT_PROVEN)
    }

    /// [`Bundle::record_unknown`] with another limitation. For tests against
    /// published records, which differ in that sentence.
    #[doc(hidden)]
    pub fn record_unknown_saying(
        &mut self,
        input: &NewUnknown,
        scope: UnknownScope,
        limitation: &str,
    ) -> Result<Mutated> {
        let (subject, shown) = self.subject(scope, "record_unknown")?;
        let mutated = mutate_new(&self.unknowns, input, subject, limitation)?;
        self.apply(mutated.shown_as(shown))
    }

    /// [`Bundle::update_unknown`] with another limitation, likewise.
    #[doc(hidden)]
    pub fn update_unknown_saying(
        &mut self,
        input: &UnknownUpdate,
        scope: UnknownScope,
        limitation: &str,
    ) -> Result<Mutated> {
        let (subject, shown) = self.subject(scope, "update_unknown")?;
        let mutated = mutate_update(&self.unknowns, input, subject, limitation)?;
        self.apply(mutated.shown_as(shown))
    }

    /// The artifact that an unknown is about, as a record of one of its
    /// mutations names it.
    pub fn scope_of(&self, id: UnknownId) -> UnknownScope {
        let Some(head) = self.unknowns.head(id) else {
            return UnknownScope::Nothing;
        };
        let about = |id: &&EvidenceId| {
            let subject = self.head(**id).and_then(|record| record.subject.as_ref());
            subject.map(|subject| subject.sha256) == head.scope_digest
        };
        match head.mutation_evidence_ids.iter().find(about) {
            Some(record) if head.scope_digest.is_some() => UnknownScope::Record(*record),
            _ => UnknownScope::Nothing,
        }
    }

    /// The subject, and how it is called where that is known.
    fn subject(&self, scope: UnknownScope, operation: &str) -> Result<(Option<NewSubject>, Shown)> {
        let id = match scope {
            UnknownScope::Nothing => return Ok((None, None)),
            UnknownScope::Subject(subject) => return Ok((Some(subject), None)),
            UnknownScope::Record(id) => id,
        };
        let Some(head) = self.head(id) else {
            let message = format!("The bundle has no record {id}");
            return Err(Error::new(Code::EvidenceIntegrityMismatch, message)
                .action("`rea inspect-evidence-bundle` lists those that are there.")
                .detail("evidence_id", id.to_string())
                .detail("reason", "missing"));
        };
        let Some((subject, shown)) = subject_of(head) else {
            let message = format!("The record {id} is about no artifact");
            let (at, reason) = (["about"], "invalid_value");
            return Err(
                Error::invalid_request(operation, &at, reason, message).action(
                    "Name a record that has a subject, or leave it out: the question is then \
                     about no artifact.",
                ),
            );
        };
        Ok((Some(subject), Some(shown)))
    }

    fn apply(&mut self, mutated: Mutated) -> Result<Mutated> {
        let Mutated { revision, evidence } = &mutated;
        let (id, number) = (revision.unknown_id, revision.revision);
        let record = evidence.id();
        let added = !self.contains(record);
        if added {
            self.add(evidence.clone())?;
        }
        // The number is the one after the head's, so there is none like it.
        let _ = self.unknowns.insert(revision.clone());
        let Some(problem) = self.unknown_problem() else {
            return Ok(mutated);
        };
        self.unknowns.remove(id, number);
        if let (true, Ok(at)) = (added, self.find(record)) {
            self.entries.remove(at);
        }
        let message = format!("The unknown cannot be so: {}", problem.message);
        let error = registry_error(Code::EvidenceIntegrityMismatch, "integrity", message)
            .detail("stage", problem.stage.as_str());
        Err(match problem.stage {
            Stage::UnknownMissingEvidence => {
                error.action("Add the record to the bundle first, with `rea bundle`.")
            }
            Stage::UnknownMissingUnknown => {
                error.action("`rea list-unknowns` lists those that are there.")
            }
            Stage::UnknownCycle => error.action("Leave one of the `depends-on` links out."),
            Stage::UnknownUnqualified => error.action(
                "Give the record with `--supporting ID` and `--resolved-by ID`, one that meets \
                 what the unknown requires, and `--clear contradicting` where none contradicts \
                 any more.",
            ),
            _ => error,
        })
    }
}

/// `name` and `local_path` of a subject.
type Shown = Option<(Text, Text)>;

/// `None` where the record is about no artifact.
fn subject_of(head: &Head) -> Option<(NewSubject, (Text, Text))> {
    let subject = head.subject.as_ref()?;
    // Format and architecture are of fixed sets of words.
    let word = |text: &Text| text.as_str().map(str::to_owned);
    let new = NewSubject {
        path: String::new(),
        sha256: subject.sha256,
        format: head.group.format.as_ref().and_then(word)?,
        architecture: head.group.architecture.as_ref().and_then(word),
    };
    Some((new, (subject.name.clone(), subject.local_path.clone())))
}
