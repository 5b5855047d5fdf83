//! `diff_artifacts`: a comparison, and what people ask of two releases: what
//! moved, and where the bytes went (decision 25).

mod deep;
mod listing;
mod moves;
mod record;
mod sizes;

use std::path::Path;

use super::compare::{Comparison, ComparisonStatus, compare};
use super::extract::Readable;
use super::options::Options;
use super::retained::Retained;
use super::sides::both;
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{EvidenceId, Provider};
use crate::member_facts::Domain;
use crate::operation::Context;
pub use deep::{Deep, DeepMember, Unread};
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
    deep: Option<Deep>,
    limitations: Vec<String>,
    id: EvidenceId,
}

/// Compares two inventories and says what moved and what grew. Records are
/// named by their inventories, also where an inspection was given, so that a
/// diff of Evidence is that of the software.
///
/// # Errors
/// `cancelled`.
pub fn diff(left: Retained, right: Retained, context: &Context) -> Result<Diff> {
    let mut diff = unsealed(left, right, context)?;
    diff.seal();
    Ok(diff)
}

/// [`diff`] of two files or folders, and what differs inside of changed
/// members whose formats `domains` read.
///
/// # Errors
/// Those of [`inventory`](super::inventory()) and [`diff`];
/// `artifact_operation_failed` and `artifact_changed` where a member is not
/// what it was when it was listed.
pub fn diff_deep(
    left: (&Path, &Options),
    right: (&Path, &Options),
    domains: &[Domain],
    context: &Context,
) -> Result<Diff> {
    let open = |(path, options), context: &Context| Readable::open(path, options, context);
    let (left, right) = both(
        |context| open(left, context),
        |context| open(right, context),
        context,
    )?;
    let mut diff = unsealed(
        Retained::from(left.inventory()),
        Retained::from(right.inventory()),
        context,
    )?;
    let deep = deep::compare(&diff.comparison, [&left, &right], domains, context)?;
    diff.limitations.extend(deep.limitations());
    diff.deep = Some(deep);
    diff.seal();
    Ok(diff)
}

fn unsealed(left: Retained, right: Retained, context: &Context) -> Result<Diff> {
    let comparison = compare(left.as_inventory(), right.as_inventory(), context)?;
    let moves = moves::find(&comparison);
    context.check()?;
    let sizes = sizes::measure(&comparison, &moves);
    context.check()?;
    Ok(Diff {
        limitations: comparison.limitations().to_vec(),
        comparison,
        moves,
        sizes,
        deep: None,
        id: EvidenceId(Digest([0; 32])),
    })
}

impl Diff {
    /// The comparison that it embeds.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// What differs inside of changed members, where that was asked for.
    pub fn deep(&self) -> Option<&Deep> {
        self.deep.as_ref()
    }

    /// What was not looked at.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
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
