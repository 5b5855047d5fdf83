//! `compare_artifacts`: what differs between two inventories, by logical path
//! (artifacts section 8, decision 10).

pub(super) mod record;
mod walk;

use std::ops::Range;

use super::retained::{NONE, Retained};
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{EvidenceId, Provider};
use crate::operation::Context;

/// Who makes comparisons.
pub const PROVIDER: Provider = Provider {
    id: "rea-artifact-comparison",
    name: "rea artifact comparison",
    version: "2",
};

/// Of an inventory that holds a part of what its manifest counts.
const INCOMPLETE: &str = "The inventory holds fewer entries than its manifest counts; nothing can be said of the others.";

/// What a comparison says as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonStatus {
    /// Nothing differs.
    Unchanged,
    /// Something differs.
    Changed,
    /// Something was not looked at, so it cannot be told.
    Unknown,
    /// An inventory is not whole.
    Truncated,
    /// Bytes contradict the digest that their container declares.
    Contradiction,
}

impl ComparisonStatus {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Unknown => "unknown",
            Self::Truncated => "truncated",
            Self::Contradiction => "contradiction",
        }
    }

    /// The exit status of a program that asks for one: 0, 3, 4 or 5.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Unchanged => 0,
            Self::Changed => 3,
            Self::Unknown | Self::Truncated => 4,
            Self::Contradiction => 5,
        }
    }
}

/// What is said of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classification {
    /// Only the right side has it.
    Added,
    /// Only the left side has it.
    Removed,
    /// Both have it, not alike.
    Changed,
    /// It cannot be told.
    Unknown,
    /// Its bytes contradict what is declared of them.
    Contradiction,
}

impl Classification {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Unknown => "unknown",
            Self::Contradiction => "contradiction",
        }
    }
}

/// In what respects something differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimensions(u16);

impl Dimensions {
    /// The bytes.
    pub const CONTENT: Self = Self(1);
    /// The part it plays.
    pub const KIND: Self = Self(1 << 1);
    /// What it is.
    pub const FORMAT: Self = Self(1 << 2);
    /// How many bytes.
    pub const SIZE: Self = Self(1 << 3);
    /// Whether it may be run.
    pub const EXECUTABLE: Self = Self(1 << 4);
    /// What it is in, or comes from.
    pub const RELATIONS: Self = Self(1 << 5);
    /// Other members of the rows.
    pub const METADATA: Self = Self(1 << 6);
    /// It was not read.
    pub const AVAILABILITY: Self = Self(1 << 7);
    /// Declared and observed digests.
    pub const INTEGRITY: Self = Self(1 << 8);

    const NAMES: [(Self, &'static str); 9] = [
        (Self::CONTENT, "content"),
        (Self::KIND, "kind"),
        (Self::FORMAT, "format"),
        (Self::SIZE, "size"),
        (Self::EXECUTABLE, "executable"),
        (Self::RELATIONS, "relations"),
        (Self::METADATA, "metadata"),
        (Self::AVAILABILITY, "availability"),
        (Self::INTEGRITY, "integrity"),
    ];

    /// All of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These but not the others.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any of the others is among these.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The names in the contract's order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .filter(move |(one, _)| self.has(*one))
            .map(|(_, name)| name)
    }
}

/// One path that is not alike on both sides. The rows are numbers in the
/// inventories; none is [`NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub left: u32,
    pub right: u32,
    pub classification: Classification,
    pub dimensions: Dimensions,
}

/// How many paths there are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Only on the right.
    pub added: u64,
    /// Only on the left.
    pub removed: u64,
    /// On both, not alike.
    pub changed: u64,
    /// Cannot be told.
    pub unknown: u64,
    /// Contradict what is declared.
    pub contradiction: u64,
    /// Alike on both.
    pub unchanged: u64,
}

/// A container that was opened on one side only (decision 10).
#[derive(Clone, Debug)]
pub(super) struct Opaque {
    /// The side on which nothing below it is listed.
    pub left_is_opaque: bool,
    /// Its row on that side.
    pub at: u32,
    /// What the other side lists below it.
    pub below: Range<u32>,
}

/// The comparison of two inventories.
#[derive(Debug)]
pub struct Comparison {
    pub(super) left: Retained,
    pub(super) right: Retained,
    pub(super) changes: Vec<Change>,
    pub(super) opaque: Vec<Opaque>,
    /// For each row whether rows below it are listed: left, right.
    listed_below: [Vec<bool>; 2],
    summary: Summary,
    status: ComparisonStatus,
    limitations: Vec<String>,
    id: EvidenceId,
}

/// Compares two inventories.
///
/// # Errors
/// `cancelled`.
pub fn compare(left: Retained, right: Retained, context: &Context) -> Result<Comparison> {
    let covered = is_covered(&left, &right);
    let listed_below = [walk::flags(&left, context)?, walk::flags(&right, context)?];
    let opaque = walk::opaque(&left, &right, &listed_below, context)?;
    let changes = walk::changes(&left, &right, covered.then_some(opaque.as_slice()), context)?;
    let summary = summarize(&left, &right, covered, &changes);
    let status = if !(left.is_complete() && right.is_complete()) {
        ComparisonStatus::Truncated
    } else if summary.contradiction > 0 {
        ComparisonStatus::Contradiction
    } else if !covered || has(&changes, Classification::Unknown) {
        ComparisonStatus::Unknown
    } else if changes.is_empty() {
        ComparisonStatus::Unchanged
    } else {
        ComparisonStatus::Changed
    };
    let mut comparison = Comparison {
        limitations: limitations(&left, &right),
        left,
        right,
        changes,
        opaque,
        listed_below,
        summary,
        status,
        id: EvidenceId(Digest([0; 32])),
    };
    context.check()?;
    comparison.seal();
    Ok(comparison)
}

/// Whether everything that one side lists, the other would.
fn is_covered(left: &Retained, right: &Retained) -> bool {
    left.is_complete()
        && right.is_complete()
        && left.is_covered()
        && right.is_covered()
        && left.coverage_scope() == right.coverage_scope()
}

fn has(changes: &[Change], classification: Classification) -> bool {
    changes
        .iter()
        .any(|change| change.classification == classification)
}

fn summarize(left: &Retained, right: &Retained, covered: bool, changes: &[Change]) -> Summary {
    let count = |classification| {
        let same = changes
            .iter()
            .filter(|change| change.classification == classification);
        same.count() as u64
    };
    let (added, removed) = (count(Classification::Added), count(Classification::Removed));
    let (changed, unknown) = (
        count(Classification::Changed),
        count(Classification::Unknown),
    );
    let contradiction = count(Classification::Contradiction);
    let mut summary = Summary {
        added,
        removed,
        changed,
        unknown,
        contradiction,
        unchanged: 0,
    };
    if covered {
        // What decision 10 makes unknown may be on the right side only; that
        // takes nothing from what is alike.
        let told = changes.iter().filter(|change| change.left != NONE).count() as u64;
        summary.unchanged = left.manifest().occurrence_count.saturating_sub(told);
    } else {
        let larger = left
            .manifest()
            .occurrence_count
            .max(right.manifest().occurrence_count);
        summary.unknown =
            unknown.max(larger.saturating_sub(added + removed + changed + contradiction));
    }
    summary
}

/// What either side says it did not look at, and that it is not whole.
fn limitations(left: &Retained, right: &Retained) -> Vec<String> {
    let mut all = Vec::new();
    for (side, inventory) in [("Left", left), ("Right", right)] {
        let said = inventory.limitations().iter().map(String::as_str);
        let incomplete = (!inventory.is_complete()).then_some(INCOMPLETE);
        all.extend(said.chain(incomplete).map(|text| format!("{side}: {text}")));
    }
    all.sort();
    all.dedup();
    all
}

impl Comparison {
    /// What it says as a whole.
    pub fn status(&self) -> ComparisonStatus {
        self.status
    }

    /// How many paths there are of each class.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// The left inventory.
    pub fn left(&self) -> &Retained {
        &self.left
    }

    /// The right inventory.
    pub fn right(&self) -> &Retained {
        &self.right
    }

    /// What was not looked at on either side.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }

    /// All paths that are not alike, in order.
    pub fn changes(&self) -> impl ExactSizeIterator<Item = ChangeView<'_>> {
        self.changes.iter().map(|change| ChangeView {
            path: self.path(change),
            classification: change.classification,
            dimensions: change.dimensions,
        })
    }

    /// Whether rows below a row are listed; below the root everything is.
    pub(super) fn lists_below(&self, left: bool, at: u32) -> bool {
        let [on_left, on_right] = &self.listed_below;
        let (side, flags) = if left {
            (&self.left, on_left)
        } else {
            (&self.right, on_right)
        };
        if at == side.root() {
            return side.len() > 1;
        }
        flags.get(at as usize).copied().unwrap_or_default()
    }

    /// Whether a row is a file, slice or link with nothing listed below it.
    pub(super) fn is_leaf(&self, left: bool, at: u32) -> bool {
        let side = if left { &self.left } else { &self.right };
        side.entry_kind(at) != "directory" && !self.lists_below(left, at)
    }

    /// Whether anything below the path of a change differs.
    pub(super) fn differs_below(&self, change: &Change) -> bool {
        let path = self.path(change);
        if path == "." {
            return self.changes.len() > 1;
        }
        let below = |change: &Change| {
            let rest = self.path(change).strip_prefix(path);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let bound = path.bytes().chain([b'/']);
        let first = self
            .changes
            .partition_point(|change| self.path(change).bytes().lt(bound.clone()));
        self.changes.get(first).is_some_and(below)
    }

    /// Whether its mode, its entry kind or its encryption differs.
    pub(super) fn differs_in_role(&self, change: &Change) -> bool {
        let (left, right) = (&self.left, &self.right);
        let (Some(one), Some(other)) = (left.role(change.left), right.role(change.right)) else {
            return false;
        };
        left.word(one.mode) != right.word(other.mode)
            || left.word(one.entry_kind) != right.word(other.entry_kind)
            || one.encrypted != other.encrypted
    }

    /// In what two rows differ that need not have the same path.
    pub(super) fn differences(&self, left: u32, right: u32) -> Dimensions {
        let compared = walk::Pairs::new(&self.left, &self.right).compare(left, right);
        compared.map_or(Dimensions::default(), |(_, dimensions)| dimensions)
    }

    pub(super) fn path(&self, change: &Change) -> &str {
        if change.left == NONE {
            self.right.path(change.right)
        } else {
            self.left.path(change.left)
        }
    }
}

/// One path that is not alike, for reports.
#[derive(Clone, Copy, Debug)]
pub struct ChangeView<'a> {
    /// Logical path; the root is `.`.
    pub path: &'a str,
    /// What is said of it.
    pub classification: Classification,
    /// In what respects.
    pub dimensions: Dimensions,
}
