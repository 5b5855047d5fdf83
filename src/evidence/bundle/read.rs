//! Reading bundles: every check of an import, in one pass over the input.
//!
//! Records are verified as they stream by; of the derived members only hashes
//! are kept until the records that make them are known. All problems are
//! collected, so that the one that is told is the first in the order of the
//! checks, wherever it stands.

use std::collections::HashSet;
use std::sync::Arc;

use super::capture::{Capture, Room};
use super::findings::{Findings, LISTED};
use super::manifest::{self, Listed, Sequence, Sets};
use super::{Body, Bundle, Entry, Head, Member};
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::path::Pointer;
use crate::evidence::problem::{BundleCounts, Problem, Reason, Report, Stage, Status};
use crate::evidence::rules::{Rule, check_value};
use crate::evidence::source::Store;
use crate::evidence::unknowns::{self, Insertion, Unknowns, read_revision};
use crate::evidence::verify::{Checked, Document, Documents, Failure, Span, incomplete};
use crate::json::{Budget, Event, ReadError, Value, WriteJson};

/// An element of a derived member or of `unknowns`.
const ELEMENT: Budget = Budget {
    max_text_bytes: 64 << 20,
    max_memory_bytes: 512 << 20,
};

/// What a bundle's text holds, and what is wrong with it.
pub(in crate::evidence) struct Parts {
    records: Vec<(Head, Span)>,
    count: u64,
    unknowns: Unknowns,
    revisions: u64,
    findings: Findings,
}

impl Parts {
    /// The verdict on the bundle as a whole.
    pub fn into_report(self) -> Report {
        let problems = self.findings.into_list();
        Report {
            evidence_id: None,
            pointer: None,
            bundle: Some(Box::new(BundleCounts {
                records: self.count,
                unknown_revisions: self.revisions,
            })),
            status: match problems.is_empty() {
                true => Status::Verified,
                false => Status::Invalid,
            },
            problems,
            nested: Vec::new(),
        }
    }

    pub(super) fn into_bundle(self, store: &Arc<Store>) -> Result<Bundle> {
        if !self.findings.is_empty() {
            let error = self.into_report().file_error(store.name());
            return Err(error.unwrap_or_else(|| incomplete(store.name())));
        }
        let entry = |(head, span)| Entry {
            head,
            body: stored(store, span),
        };
        Ok(Bundle {
            entries: self.records.into_iter().map(entry).collect(),
            unknowns: self.unknowns,
        })
    }
}

pub(super) fn stored(store: &Arc<Store>, span: Span) -> Body {
    Body::Stored {
        store: store.clone(),
        span,
    }
}

/// What the derived members say.
#[derive(Default)]
struct Claimed {
    artifacts: Vec<Digest>,
    environments: Vec<Digest>,
    providers: Vec<Digest>,
    captures: Sequence,
    scenarios: Sequence,
}

struct Pass<'d, 'c, 'e> {
    documents: &'d mut Documents<'c>,
    each: &'e mut dyn FnMut(Report) -> Result<()>,
    capture: Capture,
    room: &'e mut Room,
    claimed: Claimed,
    parts: Parts,
    last_revision: Option<(unknowns::UnknownId, u64)>,
}

/// Reads a bundle of which everything up to the name of its `first` member has
/// been read. `each` gets the reports on its records.
pub(in crate::evidence) fn read(
    documents: &mut Documents<'_>,
    first: Member,
    room: &mut Room,
    each: &mut dyn FnMut(Report) -> Result<()>,
) -> Result<Parts, Failure> {
    let mut pass = Pass {
        documents,
        each,
        capture: Capture::default(),
        room,
        claimed: Claimed::default(),
        parts: Parts {
            records: Vec::new(),
            count: 0,
            unknowns: Unknowns::default(),
            revisions: 0,
            findings: Findings::default(),
        },
        last_revision: None,
    };
    pass.members(first)?;
    pass.check_records();
    if !pass.parts.findings.has(Stage::Shape) {
        pass.check_unknowns();
        pass.check_manifests();
    }
    Ok(pass.parts)
}

impl Pass<'_, '_, '_> {
    fn members(&mut self, first: Member) -> Result<(), Failure> {
        let mut seen = vec![first];
        self.member(first)?;
        let mut others = HashSet::new();
        while let Event::Key { name, .. } = self.documents.reader.next_event()? {
            let name = name.to_vec();
            match Member::of(&name) {
                Some(member) if seen.contains(&member) => return Err(self.duplicate(&name)),
                Some(member) => {
                    seen.push(member);
                    self.member(member)?;
                }
                None => {
                    let message = "a bundle has no such member";
                    let at = Pointer::default().named(&name);
                    let findings = &mut self.parts.findings;
                    findings.fail(at, Stage::Shape, Reason::UnknownArgument, message);
                    // Enough names to refuse the bundle; not all, if it has many.
                    if others.len() < LISTED && !others.insert(Digest::of(&name)) {
                        return Err(self.duplicate(&name));
                    }
                    self.skip()?;
                }
            }
        }
        for member in Member::ALL {
            if !seen.contains(&member) {
                let message = format!("a bundle lacks the member {}", member.as_str());
                let at = Pointer::default().member(member.as_str());
                let findings = &mut self.parts.findings;
                findings.fail(at, Stage::Shape, Reason::MissingArgument, message);
            }
        }
        Ok(())
    }

    fn duplicate(&self, name: &[u8]) -> Failure {
        ReadError::duplicate(name, self.documents.reader.place()).into()
    }

    /// Passes over the value that comes next.
    fn skip(&mut self) -> Result<(), Failure> {
        let reader = &mut self.documents.reader;
        let depth = reader.depth();
        let mut left = 0_u32;
        loop {
            let complete = !matches!(reader.next_event()?, Event::Text { last: false, .. });
            if complete && reader.depth() == depth {
                return Ok(());
            }
            left = left.wrapping_add(1);
            if left.is_multiple_of(4096) {
                self.documents.context.check()?;
            }
        }
    }

    /// The value of a member: an array, whose elements are taken one by one.
    fn member(&mut self, member: Member) -> Result<(), Failure> {
        let at = Pointer::default().member(member.as_str());
        let reader = &mut self.documents.reader;
        let before = reader.depth();
        let array = matches!(reader.next_event()?, Event::BeginArray);
        if !array {
            let message = format!("{} must be an array", member.as_str());
            let findings = &mut self.parts.findings;
            findings.fail(at, Stage::Shape, Reason::InvalidType, message);
            return self.rest_of(before);
        }
        let mut index = 0;
        while self.documents.reader.next_element()? {
            let at = at.clone().element(index);
            match member {
                Member::Records => self.record(&at)?,
                Member::Unknowns => self.unknown(&at)?,
                _ => self.derived(member, &at)?,
            }
            index += 1;
            if index.is_multiple_of(256) {
                self.documents.context.check()?;
            }
        }
        self.documents.reader.next_event()?;
        Ok(())
    }

    /// Passes over what is left of a value that has begun at `depth`.
    fn rest_of(&mut self, depth: usize) -> Result<(), Failure> {
        let reader = &mut self.documents.reader;
        let mut text = reader.is_in_text();
        while text || reader.depth() > depth {
            text = matches!(reader.next_event()?, Event::Text { last: false, .. });
        }
        Ok(())
    }

    fn record(&mut self, at: &Pointer) -> Result<(), Failure> {
        let capture: &mut Capture = &mut self.capture;
        let document = self.documents.document(false, Some(capture))?;
        let Document::Record(Checked { mut report, span }) = document else {
            return Ok(());
        };
        self.parts.count += 1;
        for problem in &report.problems {
            self.parts.findings.add(Problem {
                pointer: problem.pointer.within(at),
                ..problem.clone()
            });
        }
        let shapeless = report.problems.iter().any(|one| one.stage == Stage::Shape);
        if let (false, Some(id)) = (shapeless, report.evidence_id) {
            let head = self.room.head(&mut self.capture, id)?;
            self.parts.records.push((head, span));
        }
        for nested in &mut report.nested {
            if !nested.problems.is_empty() {
                let pointer = nested.pointer.clone().unwrap_or_default().within(at);
                let message = "a record inside the record is not what its id says";
                let reason = Reason::InvalidValue;
                let findings = &mut self.parts.findings;
                findings.fail(pointer, Stage::NestedEvidence, reason, message);
            }
            let pointer = nested.pointer.take().unwrap_or_default();
            nested.pointer = Some(pointer.within(at));
        }
        report.pointer = Some(at.clone());
        Ok((self.each)(report)?)
    }

    fn value(&mut self) -> Result<Value, Failure> {
        Ok(self.documents.reader.read_value(ELEMENT)?)
    }

    fn unknown(&mut self, at: &Pointer) -> Result<(), Failure> {
        let value = self.value()?;
        self.parts.revisions += 1;
        let findings = &mut self.parts.findings;
        let found = &mut |problem| findings.add(problem);
        let Some(revision) = read_revision(&value, at, found) else {
            return Ok(());
        };
        self.room.keep(revision.memory_bytes())?;
        let place = (revision.unknown_id, revision.revision);
        if self.last_revision.is_some_and(|last| last >= place) {
            let message = "unknowns are not in the order of id and revision";
            findings.fail(
                at.clone(),
                Stage::NotCanonical,
                Reason::InvalidValue,
                message,
            );
        }
        self.last_revision = Some(place);
        if self.parts.unknowns.insert(revision) == Insertion::Conflict {
            let message = "a revision of an unknown stands there twice and differs";
            findings.fail(
                at.clone(),
                Stage::UnknownChain,
                Reason::InvalidValue,
                message,
            );
        }
        Ok(())
    }

    /// An element of a derived member. What has the wrong shape is told and
    /// not kept, so that what is kept is never more than what was read.
    fn derived(&mut self, member: Member, at: &Pointer) -> Result<(), Failure> {
        let value = self.value()?;
        let rule: &Rule = match member {
            Member::Artifacts => &manifest::ARTIFACTS,
            Member::Captures => &manifest::CAPTURES,
            Member::Environments => &manifest::ENVIRONMENTS,
            Member::Scenarios => &manifest::SCENARIOS,
            _ => &manifest::PROVIDERS,
        };
        let mut good = true;
        let findings = &mut self.parts.findings;
        check_value(rule, &value, at, &mut |(pointer, reason, message)| {
            good = false;
            findings.fail(pointer, Stage::Shape, reason, message);
        });
        if !good {
            return Ok(());
        }
        let claimed = &mut self.claimed;
        let (set, listed) = match member {
            Member::Captures => {
                claimed.captures.push(|w| value.write_json(w));
                return Ok(());
            }
            Member::Scenarios => {
                claimed.scenarios.push(|w| value.write_json(w));
                return Ok(());
            }
            Member::Artifacts => (&mut claimed.artifacts, manifest::read_artifact(&value)),
            Member::Environments => (
                &mut claimed.environments,
                manifest::read_environment(&value),
            ),
            _ => (&mut claimed.providers, manifest::read_provider(&value)),
        };
        set.extend(listed.as_ref().map(Listed::digest));
        Ok(())
    }

    /// Ascending ids, each once.
    fn check_records(&mut self) {
        let records = &self.parts.records;
        if records.is_sorted_by(|a, b| a.0.id < b.0.id) {
            return;
        }
        let mut seen = HashSet::new();
        let twice = records.iter().find(|(head, _)| !seen.insert(head.id));
        let at = Pointer::default().member("records");
        let (stage, message) = match twice {
            Some((head, _)) => {
                let message = format!("the record {} stands there twice", head.id);
                (Stage::DuplicateRecord, message)
            }
            None => {
                let message = "records are not in the order of their ids".to_owned();
                (Stage::NotCanonical, message)
            }
        };
        self.parts
            .findings
            .fail(at, stage, Reason::InvalidValue, message);
        // So that records can be found.
        self.parts.records.sort_by_key(|(head, _)| head.id);
        self.parts.records.dedup_by_key(|(head, _)| head.id);
    }

    fn check_unknowns(&mut self) {
        let records = &self.parts.records;
        let lookup = |id| {
            let at = records.binary_search_by_key(&id, |(head, _)| head.id);
            Some(records.get(at.ok()?)?.0.cited())
        };
        let findings = &mut self.parts.findings;
        unknowns::check(&self.parts.unknowns, &lookup, &mut |problem| {
            findings.add(problem);
        });
    }

    /// The derived members must be what the records make: sets as sets,
    /// sequences as they stand.
    fn check_manifests(&mut self) {
        let heads = || self.parts.records.iter().map(|(head, _)| head);
        let sets = Sets::of(heads());
        let claimed = std::mem::take(&mut self.claimed);
        let mut wrong = Vec::new();
        for (member, mut claimed, made) in [
            (Member::Artifacts, claimed.artifacts, &sets.artifacts),
            (
                Member::Environments,
                claimed.environments,
                &sets.environments,
            ),
            (Member::Providers, claimed.providers, &sets.providers),
        ] {
            let mut made: Vec<Digest> = made.iter().map(|(listed, _)| listed.digest()).collect();
            made.sort_unstable();
            claimed.sort_unstable();
            if made != claimed {
                wrong.push(member);
            }
        }
        let (mut captures, mut scenarios) = (Sequence::default(), Sequence::default());
        for head in heads() {
            if manifest::is_capture(head) {
                captures.push(|w| manifest::write_capture(head, w));
            }
            if manifest::is_scenario(head) {
                scenarios.push(|w| manifest::write_scenario(head, w));
            }
        }
        for (member, claimed, made) in [
            (Member::Captures, claimed.captures, captures),
            (Member::Scenarios, claimed.scenarios, scenarios),
        ] {
            if claimed.finish() != made.finish() {
                wrong.push(member);
            }
        }
        for member in wrong {
            let message = format!("{} is not what the records make", member.as_str());
            let at = Pointer::default().member(member.as_str());
            let findings = &mut self.parts.findings;
            findings.fail(at, Stage::NotCanonical, Reason::InvalidValue, message);
        }
    }
}
