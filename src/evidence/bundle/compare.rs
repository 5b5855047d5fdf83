//! Two bundles side by side: which records and unknowns are in which
//! (evidence.md section 4.2).

use std::collections::BTreeSet;

use super::Bundle;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::EvidenceId;
use crate::evidence::unknowns::{Revision, UnknownId};
use crate::json::{Issue, MAX_SAFE_INTEGER};
use crate::operation::Context;

/// Records and revisions of both sides together that are compared unless the
/// caller takes more.
pub const USUAL_MOST: u64 = 100_000;
/// Pairs that one comparison takes.
const MOST_PAIRS: usize = 500;

/// On a record that one side has.
pub const ONE_SIDED_RECORD: &str =
    "A record that only one bundle holds says nothing about what the software lacks.";
/// On an unknown that one side has.
pub const MISSING_UNKNOWN_IS_OPEN: &str =
    "An unknown that one bundle does not hold is not resolved by that.";
/// On the comparison, where an item has a limitation.
pub const MEMBERSHIP_IS_NO_BEHAVIOUR: &str = "What one bundle holds and the other does not was recorded or left out; \
     that is no difference of the software.";

/// Two records that the caller takes for the same thing, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPair {
    /// The record of the left bundle.
    pub left: EvidenceId,
    /// The record of the right bundle.
    pub right: EvidenceId,
}

/// What to compare and which part of it to list.
#[derive(Clone, Debug)]
pub struct ComparisonOptions {
    /// Records that belong together though their ids differ.
    pub pairs: Vec<RecordPair>,
    /// Items to pass over.
    pub offset: u64,
    /// Items to list, 1 or more.
    pub limit: u64,
    /// Records and revisions of both sides together, at most.
    pub most: u64,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            offset: 0,
            limit: 100,
            most: USUAL_MOST,
        }
    }
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        impl $name {
            /// The name in results.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

names! {
    /// What an item is about.
    Entity {
        /// A record.
        Evidence = "evidence",
        /// An unknown.
        ResidualUnknown = "residual_unknown",
    }
}

names! {
    /// What happened from left to right. The order is that of the names.
    Classification {
        /// Only the right side has it.
        Added = "added",
        /// The two of a pair differ.
        Changed = "changed",
        /// One history goes on where the other ends.
        HistoryAdvanced = "history_advanced",
        /// The histories fork.
        HistoryDiverged = "history_diverged",
        /// Only the left side has it.
        Removed = "removed",
    }
}

names! {
    /// What may be concluded.
    Conclusion {
        /// Something is different.
        ObservedChange = "observed_change",
        /// A question is open on one side.
        UnresolvedBranch = "unresolved_branch",
        /// The sides cannot both be right.
        Contradiction = "contradiction",
    }
}

/// One difference.
#[derive(Clone, Debug)]
pub struct Change {
    /// What it is about.
    pub entity: Entity,
    /// The id, or `pair:LEFT:RIGHT`.
    pub key: String,
    /// What happened.
    pub classification: Classification,
    /// What may be concluded.
    pub conclusion: Conclusion,
    /// Records of the left side that it rests on.
    pub left_evidence_ids: Vec<EvidenceId>,
    /// Records of the right side that it rests on.
    pub right_evidence_ids: Vec<EvidenceId>,
    /// The record's id without prefix, or the digest of the newest revision.
    pub left_digest: Option<Digest>,
    /// The same of the right side.
    pub right_digest: Option<Digest>,
    /// What it does not say.
    pub limitation: Option<&'static str>,
}

/// How many of each there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the contract's and say it
pub struct Counts {
    pub records_unchanged: u64,
    pub records_added: u64,
    pub records_removed: u64,
    pub records_changed: u64,
    pub unknowns_unchanged: u64,
    pub unknowns_added: u64,
    pub unknowns_removed: u64,
    pub unknowns_advanced: u64,
    pub unknowns_diverged: u64,
    pub unresolved: u64,
}

/// The whole comparison.
#[derive(Debug)]
pub struct Comparison {
    /// SHA-256 of the left bundle.
    pub left_bundle_sha256: Digest,
    /// SHA-256 of the right bundle.
    pub right_bundle_sha256: Digest,
    /// How many of each there are.
    pub counts: Counts,
    /// All differences, in order.
    pub changes: Vec<Change>,
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl Comparison {
    /// Compares two bundles. Errors: `invalid_request` for a pair that cannot
    /// be or a page that is none, `truncated` beyond `most`.
    pub fn of(
        left: &Bundle,
        right: &Bundle,
        options: &ComparisonOptions,
        context: &Context,
    ) -> Result<Self> {
        check_options(left, right, options, context)?;
        let mut changes = Vec::new();
        let mut counts = Counts::default();
        records(left, right, &options.pairs, &mut changes, &mut counts);
        context.check()?;
        unknowns(left, right, &mut changes, &mut counts);
        changes.sort_by_cached_key(sort_key);
        counts.unresolved = changes
            .iter()
            .filter(|change| change.conclusion != Conclusion::ObservedChange)
            .count() as u64;
        Ok(Self {
            left_bundle_sha256: left.digest(context)?,
            right_bundle_sha256: right.digest(context)?,
            counts,
            changes,
            offset: options.offset,
            limit: options.limit,
        })
    }

    /// `unchanged`, `changed` or `unknown`.
    pub fn status(&self) -> &'static str {
        if self.counts.unresolved > 0 {
            "unknown"
        } else if self.changes.is_empty() && self.left_bundle_sha256 == self.right_bundle_sha256 {
            "unchanged"
        } else {
            "changed"
        }
    }

    /// Whether the sides cannot both be right.
    pub fn is_contradiction(&self) -> bool {
        self.counts.unknowns_diverged > 0
    }

    /// The differences that are listed.
    pub fn page(&self) -> &[Change] {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let length = self.changes.len();
        let from = at(self.offset).min(length);
        let to = at(self.offset.saturating_add(self.limit)).min(length);
        self.changes.get(from..to).unwrap_or_default()
    }

    /// Where the next page starts; `None` on the last.
    pub fn next_offset(&self) -> Option<u64> {
        let end = self.offset.saturating_add(self.limit);
        (end < self.changes.len() as u64).then_some(end)
    }

    /// What the comparison does not say.
    pub fn limitations(&self) -> Option<&'static str> {
        let any = self
            .changes
            .iter()
            .any(|change| change.limitation.is_some());
        any.then_some(MEMBERSHIP_IS_NO_BEHAVIOUR)
    }
}

/// Entity, key, classification, digests, joined by NUL, by code units. All
/// are ASCII.
fn sort_key(change: &Change) -> String {
    let hex = |digest: Option<Digest>| digest.map(|digest| digest.to_hex()).unwrap_or_default();
    [
        change.entity.as_str(),
        &change.key,
        change.classification.as_str(),
        &hex(change.left_digest),
        &hex(change.right_digest),
    ]
    .join("\0")
}

fn check_options(
    left: &Bundle,
    right: &Bundle,
    options: &ComparisonOptions,
    context: &Context,
) -> Result<()> {
    let invalid = |path: &[&str], reason, message: String| {
        Err(Issue::new(path, reason, message).into_error(context.operation))
    };
    if !(1..=MAX_SAFE_INTEGER).contains(&options.limit) {
        let message = format!(
            "limit must be from 1 to {MAX_SAFE_INTEGER}, not {}",
            options.limit
        );
        return invalid(&["limit"], "out_of_range", message);
    }
    if options.pairs.len() > MOST_PAIRS {
        let message = format!("there can be at most {MOST_PAIRS} pairs");
        return invalid(&["record_pairs"], "out_of_range", message);
    }
    let size = |bundle: &Bundle| bundle.len() as u64 + bundle.unknowns().revisions();
    let total = size(left) + size(right);
    if total > options.most {
        let most = options.most;
        let message = format!(
            "The bundles hold {total} records and revisions of unknowns, more than the {most} \
             that are compared"
        );
        return Err(Error::new(Code::Truncated, message)
            .action("Allow more with --max-records.")
            .detail("operation", context.operation)
            .detail("reason", "limit")
            .detail("limit", "records")
            .detail("maximum", most)
            .detail("value", total)
            .detail("truncated", true));
    }
    let (mut lefts, mut rights) = (BTreeSet::new(), BTreeSet::new());
    for pair in &options.pairs {
        for (side, bundle, id, seen) in [
            ("left", left, pair.left, &mut lefts),
            ("right", right, pair.right, &mut rights),
        ] {
            let message = if !bundle.contains(id) {
                format!("the {side} bundle has no record {id}")
            } else if !seen.insert(id) {
                format!("the {side} record {id} is in two pairs")
            } else {
                continue;
            };
            return invalid(&["record_pairs"], "invalid_value", message);
        }
    }
    Ok(())
}

fn records(
    left: &Bundle,
    right: &Bundle,
    pairs: &[RecordPair],
    changes: &mut Vec<Change>,
    counts: &mut Counts,
) {
    for pair in pairs {
        if pair.left == pair.right {
            counts.records_unchanged += 1;
            continue;
        }
        counts.records_changed += 1;
        changes.push(Change {
            entity: Entity::Evidence,
            key: format!("pair:{}:{}", pair.left, pair.right),
            classification: Classification::Changed,
            conclusion: Conclusion::ObservedChange,
            left_evidence_ids: vec![pair.left],
            right_evidence_ids: vec![pair.right],
            left_digest: Some(pair.left.0),
            right_digest: Some(pair.right.0),
            limitation: None,
        });
    }
    let lefts: BTreeSet<_> = pairs.iter().map(|pair| pair.left).collect();
    let rights: BTreeSet<_> = pairs.iter().map(|pair| pair.right).collect();
    for id in left.ids().filter(|id| !lefts.contains(id)) {
        if right.contains(id) && !rights.contains(&id) {
            counts.records_unchanged += 1;
        } else {
            counts.records_removed += 1;
            changes.push(one_sided(id, Classification::Removed));
        }
    }
    for id in right.ids().filter(|id| !rights.contains(id)) {
        if !left.contains(id) || lefts.contains(&id) {
            counts.records_added += 1;
            changes.push(one_sided(id, Classification::Added));
        }
    }
}

fn one_sided(id: EvidenceId, classification: Classification) -> Change {
    let removed = classification == Classification::Removed;
    let (here, there) = (vec![id], Vec::new());
    let (left, right) = if removed {
        (here, there)
    } else {
        (there, here)
    };
    Change {
        entity: Entity::Evidence,
        key: id.to_string(),
        classification,
        conclusion: Conclusion::ObservedChange,
        left_evidence_ids: left,
        right_evidence_ids: right,
        left_digest: removed.then_some(id.0),
        right_digest: (!removed).then_some(id.0),
        limitation: Some(ONE_SIDED_RECORD),
    }
}

fn unknowns(left: &Bundle, right: &Bundle, changes: &mut Vec<Change>, counts: &mut Counts) {
    let ids: BTreeSet<UnknownId> = left
        .unknowns()
        .ids()
        .chain(right.unknowns().ids())
        .collect();
    for id in ids {
        let digests = |bundle: &Bundle| -> Vec<Digest> {
            let history = bundle.unknowns().history(id);
            history.map(|revision| revision.revision_digest).collect()
        };
        let (ours, theirs) = (digests(left), digests(right));
        let classification = match (ours.is_empty(), theirs.is_empty()) {
            (true, _) => Classification::Added,
            (_, true) => Classification::Removed,
            _ if ours == theirs => {
                counts.unknowns_unchanged += 1;
                continue;
            }
            _ if ours.starts_with(&theirs) || theirs.starts_with(&ours) => {
                Classification::HistoryAdvanced
            }
            _ => Classification::HistoryDiverged,
        };
        let (counter, conclusion, limitation) = match classification {
            Classification::Added => (
                &mut counts.unknowns_added,
                Conclusion::UnresolvedBranch,
                Some(MISSING_UNKNOWN_IS_OPEN),
            ),
            Classification::Removed => (
                &mut counts.unknowns_removed,
                Conclusion::UnresolvedBranch,
                Some(MISSING_UNKNOWN_IS_OPEN),
            ),
            Classification::HistoryAdvanced => (
                &mut counts.unknowns_advanced,
                Conclusion::ObservedChange,
                None,
            ),
            _ => (
                &mut counts.unknowns_diverged,
                Conclusion::Contradiction,
                None,
            ),
        };
        *counter += 1;
        changes.push(Change {
            entity: Entity::ResidualUnknown,
            key: id.to_string(),
            classification,
            conclusion,
            left_evidence_ids: cited(left, id),
            right_evidence_ids: cited(right, id),
            left_digest: ours.last().copied(),
            right_digest: theirs.last().copied(),
            limitation,
        });
    }
}

/// All records that the revisions cite, sorted, each once.
fn cited(bundle: &Bundle, id: UnknownId) -> Vec<EvidenceId> {
    let ids: BTreeSet<EvidenceId> = bundle
        .unknowns()
        .history(id)
        .flat_map(Revision::cited)
        .collect();
    ids.into_iter().collect()
}
