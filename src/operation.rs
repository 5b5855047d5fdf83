//! What every operation shares: its description as data, and the context it
//! runs in (progress, cancellation, threads).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// What an operation touches outside its own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads files the caller names.
    Read,
    /// Writes files the caller names.
    Write,
    /// Opens a socket on this machine.
    Listen,
    /// Starts a program that the caller's settings name.
    Run,
}

impl Effect {
    /// The name in catalogs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Listen => "listen",
            Self::Run => "run",
        }
    }
}

/// The shelf an operation stands on in help and catalogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// What people run every day.
    Everyday,
    /// Files, folders and containers.
    Artifact,
    /// Executables, libraries and modules.
    Binary,
    /// Recorded web traffic.
    Web,
    /// Evidence records and bundles.
    Evidence,
    /// About `rea` itself.
    Host,
}

impl Family {
    /// All families, in the order in which help lists them.
    pub const ALL: [Self; 6] = [
        Self::Everyday,
        Self::Artifact,
        Self::Binary,
        Self::Web,
        Self::Evidence,
        Self::Host,
    ];

    /// The heading in help and catalogs.
    pub fn title(self) -> &'static str {
        match self {
            Self::Everyday => "Everyday",
            Self::Artifact => "Files, folders and containers",
            Self::Binary => "Executables, libraries and modules",
            Self::Web => "Recorded web traffic",
            Self::Evidence => "Evidence",
            Self::Host => "About rea",
        }
    }
}

/// An operation as data. Help, man pages, completions, `rea capabilities`
/// and MCP tools are made from it and from the input definition.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name in records, snake case: `inspect_artifact`.
    pub name: &'static str,
    /// Where help lists it.
    pub family: Family,
    /// What it touches.
    pub effects: &'static [Effect],
    /// Whether results hold names or text taken from the target.
    pub returns_target_content: bool,
    /// What the host must bring; `None` where any host will do.
    pub host_requirement: Option<&'static str>,
}

/// Counters that a display may poll while work goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read or decoded so far.
    pub bytes: AtomicU64,
    /// Bytes expected, as far as known.
    pub bytes_total: AtomicU64,
    /// Entries finished.
    pub entries: AtomicU64,
    /// Entries found so far.
    pub entries_total: AtomicU64,
}

impl Progress {
    /// Adds finished bytes.
    pub fn add_bytes(&self, count: u64) {
        self.bytes.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds finished entries.
    pub fn add_entries(&self, count: u64) {
        self.entries.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds to what is expected.
    pub fn expect(&self, entries: u64, bytes: u64) {
        self.entries_total.fetch_add(entries, Ordering::Relaxed);
        self.bytes_total.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A request to stop, shared between whoever asks and the work.
#[derive(Debug, Default)]
pub struct Cancellation {
    requested: AtomicBool,
    signal: AtomicI32,
}

impl Cancellation {
    /// Asks the work to stop; `signal` is the number of the signal that did.
    pub fn request(&self, signal: Option<i32>) {
        self.signal.store(signal.unwrap_or(0), Ordering::Relaxed);
        self.requested.store(true, Ordering::Release);
    }

    /// Whether the work should stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Acquire)
    }
}

/// What an operation runs in. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    /// The operation's name, for errors.
    pub operation: &'static str,
    /// Counters for a display.
    pub progress: Arc<Progress>,
    /// The stop request, looked at least every 100 ms of work.
    pub cancellation: Arc<Cancellation>,
    /// Worker threads; at least 1. Never changes a result.
    pub threads: usize,
    /// Test hook: shuffles listings and delays work from this seed. Never
    /// changes a result; that is what the tests with it show.
    pub disorder: Option<u64>,
}

impl Context {
    /// A context for `operation` on all cores, with nothing watching.
    pub fn new(operation: &'static str) -> Self {
        Self {
            operation,
            progress: Arc::default(),
            cancellation: Arc::default(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            disorder: None,
        }
    }

    /// `Err(cancelled)` once a stop was requested.
    pub fn check(&self) -> Result<()> {
        if !self.cancellation.is_requested() {
            return Ok(());
        }
        let error = Error::cancelled(self.operation);
        match self.cancellation.signal.load(Ordering::Relaxed) {
            0 => Err(error),
            signal => Err(error.by_signal(signal)),
        }
    }
}
