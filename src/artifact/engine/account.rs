//! What nested containers may cost (decision 20).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::artifact::names;
use crate::artifact::options::Options;

/// Output below this never counts against the compression ratio.
pub(super) const RATIO_FROM: u64 = 1 << 30;

/// How much one file of a folder (or the root file) may expand to.
#[derive(Debug)]
pub(crate) struct FileAccount {
    bytes: AtomicU64,
    most: u64,
    /// A container below it did not fit; all later ones stay opaque.
    exhausted: AtomicBool,
}

impl FileAccount {
    pub fn new(size: u64, ratio: u64) -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicU64::new(0),
            most: RATIO_FROM.max(size.saturating_mul(ratio)),
            exhausted: AtomicBool::new(false),
        })
    }

    /// Starts again with the root container's own members charged.
    pub fn reset(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.exhausted.store(false, Ordering::Relaxed);
    }

    /// Adds what the root container's own members expand to.
    pub fn add(&self, bytes: u64) {
        add(&self.bytes, bytes);
    }

    pub fn most(&self) -> u64 {
        self.most
    }

    pub fn is_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }

    pub fn exhaust(&self) {
        self.exhausted.store(true, Ordering::Relaxed);
    }
}

/// What one container costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Charge {
    pub entries: u64,
    pub bytes: u64,
    /// Those of them that stand in files of their own (an ASAR's companion):
    /// they are no expansion.
    pub beside: u64,
    pub paths: u64,
}

impl Charge {
    /// What the container's own file expands to.
    pub fn expanded(&self) -> u64 {
        self.bytes.saturating_sub(self.beside)
    }
}

/// Whether a charge fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Fits,
    /// Not into what one file may expand to.
    OverFile,
    /// Not into what all nested containers may cost together.
    OverAll,
}

/// What nested containers have been charged together. Nothing is ever given
/// back: a container that turns out damaged has been decoded all the same.
#[derive(Debug, Default)]
pub(super) struct Account {
    entries: AtomicU64,
    bytes: AtomicU64,
    paths: AtomicU64,
}

impl Account {
    pub fn charge(&self, charge: Charge, file: &FileAccount, options: &Options) -> Fit {
        let entries = add(&self.entries, charge.entries) <= options.max_entries;
        let bytes = add(&self.bytes, charge.bytes) <= options.max_total_bytes;
        let paths = add(&self.paths, charge.paths) <= names::MAX_ALL as u64;
        if !(entries && bytes && paths) {
            return Fit::OverAll;
        }
        if add(&file.bytes, charge.expanded()) > file.most {
            Fit::OverFile
        } else {
            Fit::Fits
        }
    }
}

/// Adds without wrapping; the new sum.
fn add(sum: &AtomicU64, amount: u64) -> u64 {
    let saturated = |now: u64| Some(now.saturating_add(amount));
    let before = sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, saturated);
    before.unwrap_or(u64::MAX).saturating_add(amount)
}
