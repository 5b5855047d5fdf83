//! `diff_artifacts`: a comparison, and what people ask of two releases: what
//! moved, and where the bytes went (decision 25).

mod listing;
mod moves;
mod record;
mod sizes;

use super::compare::{Comparison, ComparisonStatus, compare};
use super::retained::Retained;
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{EvidenceId, Provider};
use crate::operation::Context;
pub use listing::{Line, Listing};
use moves::Move;
use sizes::Sizes;
pub use sizes::{Amount, Category};

/// Who makes differences.
pub const PROVIDER: Provider = Provider {
    id: "rea-diff",
    name: "rea diff",
    version: "1",
};

/// The difference of two inventories.
#[derive(Debug)]
pub struct Diff {
    comparison: Comparison,
    moves: Vec<Move>,
    sizes: Sizes,
    id: EvidenceId,
}

/// Compares two inventories and says what moved and what grew. Records are
/// named by their inventories, also where an inspection was given, so that a
/// diff of Evidence is that of the software.
///
/// # Errors
/// `cancelled`.
pub fn diff(left: Retained, right: Retained, context: &Context) -> Result<Diff> {
    let comparison = compare(left.as_inventory(), right.as_inventory(), context)?;
    let moves = moves::find(&comparison);
    context.check()?;
    let sizes = sizes::measure(&comparison, &moves);
    context.check()?;
    let mut diff = Diff {
        comparison,
        moves,
        sizes,
        id: EvidenceId(Digest([0; 32])),
    };
    diff.seal();
    Ok(diff)
}

impl Diff {
    /// The comparison that it embeds.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// What it says as a whole: what the comparison says.
    pub fn status(&self) -> ComparisonStatus {
        self.comparison.status()
    }

    /// How many entries are the same content under another path. Each is one
    /// removed and one added path of the comparison.
    pub fn moved(&self) -> u64 {
        self.moves.len() as u64
    }

    /// Entries and bytes by the part that entries play, by name.
    pub fn by_kind(&self) -> impl Iterator<Item = Category<'_>> {
        self.sizes.by_kind()
    }

    /// Entries and bytes by format, by name.
    pub fn by_format(&self) -> impl Iterator<Item = Category<'_>> {
        self.sizes.by_format()
    }

    /// Entries and bytes of all leaves: left, right.
    pub fn total(&self) -> [Amount; 2] {
        self.sizes.total()
    }

    /// The entries whose sizes differ most, each with its path and its bytes
    /// on both sides; moved entries are none.
    pub fn largest(&self) -> impl Iterator<Item = (&str, Option<u64>, Option<u64>)> {
        self.sizes
            .largest()
            .iter()
            .map(|one| (one.path(&self.comparison), one.left_bytes, one.right_bytes))
    }

    /// What differs, for people: leaf entries, and containers that are wholly
    /// new or gone as one line. Where `wanted` is given, only lines whose path
    /// it takes, and nothing is drawn together.
    pub fn listing(&self, wanted: Option<&dyn Fn(&str) -> bool>) -> Listing<'_> {
        listing::list(&self.comparison, &self.moves, wanted)
    }
}
