//! The two sides of a comparison: Evidence, or software that is inspected on
//! the fly; both at once.

use std::path::Path;

use super::inventory::inventory;
use super::options::Options;
use super::retained::{self, Retained};
use crate::error::Result;
use crate::evidence::Source;
use crate::json::Limits;
use crate::operation::Context;

/// One side.
#[derive(Clone, Copy, Debug)]
pub enum Side<'a> {
    /// A record of `inventory_artifact` or `inspect_artifact`; `-` is
    /// standard input.
    Evidence(&'a Path),
    /// A file or folder, listed under these options.
    Software(&'a Path, &'a Options),
}

impl<'a> Side<'a> {
    /// What a path names, told by what the file holds: see
    /// [`is_evidence`](super::is_evidence).
    pub fn of(path: &'a Path, options: &'a Options) -> Self {
        if retained::is_evidence(path) {
            Self::Evidence(path)
        } else {
            Self::Software(path, options)
        }
    }

    fn load(self, context: &Context) -> Result<Retained> {
        match self {
            Self::Evidence(path) => {
                let source = Source::open(path)?;
                retained::read(source, Limits::default(), context)
            }
            Self::Software(path, options) => {
                inventory(path, options, context).map(|inventory| Retained::from(&inventory))
            }
        }
    }
}

/// Loads both sides, at once where there is more than one thread.
///
/// # Errors
/// Those of [`read_inventory`](super::read_inventory) and of
/// [`inventory`](super::inventory()); where both sides fail, the left one's.
pub fn load_both(
    left: Side<'_>,
    right: Side<'_>,
    context: &Context,
) -> Result<(Retained, Retained)> {
    if context.threads < 2 {
        return Ok((left.load(context)?, right.load(context)?));
    }
    std::thread::scope(|scope| {
        let right = scope.spawn(|| right.load(&own(right, context)));
        let left = left.load(&own(left, context));
        let right = match right.join() {
            Ok(right) => right,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok((left?, right?))
    })
}

/// The threads of one side. Containers share them well when both sides have
/// all: whichever is done first leaves the cores to the other. A record is
/// read on one thread, so half of them suffice for its hashes.
fn own(side: Side<'_>, context: &Context) -> Context {
    let mut own = context.clone();
    if matches!(side, Side::Evidence(_)) {
        own.threads = context.threads.div_ceil(2);
    }
    own
}
