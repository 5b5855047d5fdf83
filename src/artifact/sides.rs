//! The two sides of a comparison: Evidence, or software that is inspected on
//! the fly; both at once.

use std::path::Path;
use std::sync::Arc;

use super::inventory::inventory;
use super::options::Options;
use super::retained::{self, Retained, TakenFor};
use crate::error::{Error, Result};
use crate::evidence::Source;
use crate::json::Limits;
use crate::operation::Context;
use crate::publish::display_path;

/// One side.
#[derive(Clone, Copy, Debug)]
pub enum Side<'a> {
    /// A record of `inventory_artifact` or `inspect_artifact`; `-` is
    /// standard input.
    Evidence(&'a Path),
    /// Such a record in memory.
    Record(&'a Arc<[u8]>),
    /// A file or folder, listed under these options.
    Software(&'a Path, &'a Options),
}

impl<'a> Side<'a> {
    /// What a path names, told by what the file holds: a record is Evidence,
    /// `-` and pipes are, everything else is software.
    ///
    /// # Errors
    /// `invalid_request` for a bundle, which is neither.
    pub fn of(path: &'a Path, options: &'a Options, operation: &str) -> Result<Self> {
        match retained::taken_for(path) {
            TakenFor::Evidence => Ok(Self::Evidence(path)),
            TakenFor::Software => Ok(Self::Software(path, options)),
            TakenFor::Bundle => {
                let shown = display_path(path);
                let message = format!("{shown} is a bundle, which may hold any number of records");
                Err(
                    Error::invalid_request(operation, &["path"], "invalid_value", message).action(
                        "Write the record that is meant to a file of its own, or take the bundle for software with --old-as or --new-as.",
                    ),
                )
            }
        }
    }

    /// Whether it is Evidence.
    pub fn is_evidence(&self) -> bool {
        matches!(self, Self::Evidence(_) | Self::Record(_))
    }

    fn load(self, context: &Context) -> Result<Retained> {
        match self {
            Self::Evidence(path) => {
                let source = Source::open(path).map_err(one_record)?;
                retained::read(source, Limits::default(), context).map_err(one_record)
            }
            Self::Record(text) => {
                let source = Source::memory("the record", Arc::clone(text));
                retained::read(source, Limits::default(), context).map_err(one_record)
            }
            Self::Software(path, options) => {
                inventory(path, options, context).map(|inventory| Retained::from(&inventory))
            }
        }
    }
}

/// Says what to give where a side holds no Evidence, or too much.
fn one_record(error: Error) -> Error {
    let reason = error
        .details()
        .get("reason")
        .and_then(|value| value.as_str());
    match reason {
        Some("invalid-json" | "not-file") => error.action(
            "Give one record of inventory-artifact or inspect-artifact; `rea diff` takes software itself.",
        ),
        _ => error,
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
    both(
        |context| left.load(&own(left, context)),
        |context| right.load(&own(right, context)),
        context,
    )
}

/// Does something for both sides, at once where there is more than one
/// thread; where both fail, the left one's error.
pub(super) fn both<L, R: Send>(
    left: impl FnOnce(&Context) -> Result<L>,
    right: impl FnOnce(&Context) -> Result<R> + Send,
    context: &Context,
) -> Result<(L, R)> {
    if context.threads < 2 {
        return Ok((left(context)?, right(context)?));
    }
    std::thread::scope(|scope| {
        let right = scope.spawn(|| right(context));
        let left = left(context);
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
    if side.is_evidence() {
        own.threads = context.threads.div_ceil(2);
    }
    own
}
