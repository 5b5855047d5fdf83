//! Merging: the union of records and unknowns, or nothing.

use super::{Bundle, Entry};
use crate::error::{Category, Code, Error, Result};
use crate::evidence::EvidenceId;
use crate::evidence::problem::{Problem, Stage};
use crate::evidence::unknowns::{self, Cited, Insertion, Unknowns};

/// What a merge brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Records that were not there.
    pub imported: u64,
    /// Revisions of unknowns that were not there.
    pub unknowns_added: u64,
    /// Records that are there now.
    pub total: u64,
}

impl Bundle {
    /// Takes everything of `other` in, or nothing where it conflicts with what
    /// is there. Of two records with one id the code-point-smaller path and
    /// name stay, so the order of merges does not matter.
    ///
    /// Errors: `evidence_integrity_mismatch` where a revision of an unknown
    /// differs from the one that is there, or the unknowns together do not
    /// hold.
    pub fn merge(&mut self, other: Self) -> Result<Merged> {
        self.merge_all(vec![other])
    }

    /// Takes everything of all `others` in, or nothing. The unknowns are
    /// looked at when all are there, so that no order of `others` matters.
    pub fn merge_all(&mut self, others: Vec<Self>) -> Result<Merged> {
        let mut unknowns = self.unknowns.clone();
        let mut incoming = Vec::new();
        for other in others {
            take_unknowns(&mut unknowns, &other.unknowns)?;
            incoming.extend(other.entries);
        }
        unite(&mut incoming);
        let lookup = |id| {
            let found = find(&self.entries, id).or_else(|| find(&incoming, id));
            found.map(|entry| entry.head.cited())
        };
        if let Some(problem) = first_problem(&unknowns, &lookup) {
            return Err(refused(problem.stage, problem.message));
        }
        // Nothing can fail from here on.
        let before = self.entries.len();
        let added = unknowns.revisions() - self.unknowns.revisions();
        self.unknowns = unknowns;
        self.entries.append(&mut incoming);
        unite(&mut self.entries);
        self.entries.shrink_to_fit();
        Ok(Merged {
            imported: (self.entries.len() - before) as u64,
            unknowns_added: added,
            total: self.entries.len() as u64,
        })
    }

    /// What does not hold of the unknowns, the first in the order of the checks.
    pub(super) fn unknown_problem(&self) -> Option<Problem> {
        let lookup = |id| self.head(id).map(super::Head::cited);
        first_problem(&self.unknowns, &lookup)
    }
}

fn find(entries: &[Entry], id: EvidenceId) -> Option<&Entry> {
    let at = entries.binary_search_by_key(&id, |entry| entry.head.id);
    entries.get(at.ok()?)
}

fn first_problem<'a>(
    unknowns: &Unknowns,
    lookup: &dyn Fn(EvidenceId) -> Option<Cited<'a>>,
) -> Option<Problem> {
    let mut first: Option<Problem> = None;
    unknowns::check(unknowns, lookup, &mut |problem| {
        if first.as_ref().is_none_or(|one| problem.stage < one.stage) {
            first = Some(problem);
        }
    });
    first
}

/// Sorts by id; of several with one id the one with the smallest path stays.
fn unite(entries: &mut Vec<Entry>) {
    entries.sort_by(|a, b| order(a).cmp(&order(b)));
    entries.dedup_by_key(|entry| entry.head.id);
}

fn order(entry: &Entry) -> (EvidenceId, super::Display<'_>) {
    (entry.head.id, entry.head.display())
}

fn take_unknowns(into: &mut Unknowns, from: &Unknowns) -> Result<()> {
    for revision in from.iter() {
        if into.insert(revision.clone()) == Insertion::Conflict {
            let message = format!(
                "two bundles have different revisions {} of {}",
                revision.revision, revision.unknown_id
            );
            return Err(refused(Stage::Conflict, message)
                .detail("unknown_id", revision.unknown_id.to_string())
                .detail("revision", revision.revision));
        }
    }
    Ok(())
}

fn refused(stage: Stage, reason: String) -> Error {
    let message = format!("The bundles do not go together: {reason}");
    Error::new(Code::EvidenceIntegrityMismatch, message)
        .in_category(Category::IntegrityMismatch)
        .action("Keep them apart; `rea compare-bundles` shows where they differ.")
        .detail("reason", reason)
        .detail("stage", stage.as_str())
}
