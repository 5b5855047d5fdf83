//! Bundles: any number of records, and the unknowns that cite them, as one
//! canonical JSON document.
//!
//! A [`Bundle`] in memory holds of each record what bundles sort, list and
//! filter by (some hundred bytes and its path), and where the rest is: in memory,
//! or in the file it was read from. Records from files are read and verified
//! again when they are written, so that a bundle of any size can be merged and
//! copied. Files that are changed in place are in `file.rs`; nothing else here
//! knows of output files.

mod capture;
mod compare;
mod compare_json;
mod file;
mod findings;
mod input;
mod manifest;
mod merge;
mod read;
mod restrict;
mod summary;
mod unknowns;
mod write;

use std::sync::Arc;

use super::source::{Source, Store};
use super::unknowns::Unknowns;
use super::verify::Span;
use super::{Evidence, EvidenceId};
use crate::json::{Text, Value, canonical};
pub(super) use capture::Head;
pub(super) use capture::Room;
use capture::{Capture, Interner};

pub use compare::{
    Change, Classification, Comparison, ComparisonOptions, Conclusion, Entity,
    MEMBERSHIP_IS_NO_BEHAVIOUR, MISSING_UNKNOWN_IS_OPEN, ONE_SIDED_RECORD, RecordPair,
};
pub use file::{BundleOutput, LockedBundle, Replaced};
pub use input::{Collector, Item, ItemKind, first_member, read_bundle, read_bundle_bytes};
pub use merge::Merged;
pub(super) use read::{Parts, read};
pub use summary::{Summary, SummaryFilter, SummaryRow};
pub use unknowns::{UnknownScope, Verdict};

/// The members of a bundle, in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Distinct subjects.
    Artifacts,
    /// Records of process captures.
    Captures,
    /// Distinct environments.
    Environments,
    /// Distinct providers.
    Providers,
    /// The records.
    Records,
    /// Records of controlled replays.
    Scenarios,
    /// Revisions of unknowns.
    Unknowns,
}

impl Member {
    pub(super) const ALL: [Self; 7] = [
        Self::Artifacts,
        Self::Captures,
        Self::Environments,
        Self::Providers,
        Self::Records,
        Self::Scenarios,
        Self::Unknowns,
    ];

    /// The member of that name. No member of a record is called alike.
    pub fn of(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|member| member.as_str().as_bytes() == name)
    }

    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Artifacts => "artifacts",
            Self::Captures => "captures",
            Self::Environments => "environments",
            Self::Providers => "providers",
            Self::Records => "records",
            Self::Scenarios => "scenarios",
            Self::Unknowns => "unknowns",
        }
    }
}

/// Records and unknowns that hold together: every record's id is right, and
/// the unknowns cite only what is there.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// By ascending id, each id once.
    entries: Vec<Entry>,
    unknowns: Unknowns,
}

/// A record of a bundle.
#[derive(Clone, Debug)]
struct Entry {
    head: Head,
    body: Body,
}

/// Where a record is.
#[derive(Clone, Debug)]
enum Body {
    Memory(Arc<Evidence>),
    Stored { store: Arc<Store>, span: Span },
}

impl Bundle {
    /// A bundle of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is neither a record nor an unknown.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.unknowns.is_empty()
    }

    /// The unknowns.
    pub fn unknowns(&self) -> &Unknowns {
        &self.unknowns
    }

    /// The ids of the records, ascending.
    pub fn ids(&self) -> impl Iterator<Item = EvidenceId> {
        self.entries.iter().map(|entry| entry.head.id)
    }

    /// Whether a record of that id is there.
    pub fn contains(&self, id: EvidenceId) -> bool {
        self.find(id).is_ok()
    }

    fn find(&self, id: EvidenceId) -> Result<usize, usize> {
        self.entries
            .binary_search_by_key(&id, |entry| entry.head.id)
    }

    fn head(&self, id: EvidenceId) -> Option<&Head> {
        let at = self.find(id).ok()?;
        self.entries.get(at).map(|entry| &entry.head)
    }

    /// A record's text, where it is in memory; `None` where there is no such
    /// record or it is in a file.
    pub fn source(&self, id: EvidenceId) -> Option<Source> {
        let entry = self.entries.get(self.find(id).ok()?)?;
        let name = id.to_string();
        match &entry.body {
            Body::Memory(evidence) => {
                let text = canonical(evidence.as_ref());
                Some(Source::memory(&name, text.into()))
            }
            Body::Stored { store, span } => {
                let bytes = store.in_memory()?.clone();
                let start = usize::try_from(span.offset).ok()?;
                let length = usize::try_from(span.length).ok()?;
                let range = start..start.checked_add(length)?;
                Some(Source::part_of_memory(&name, bytes, range))
            }
        }
    }

    /// Adds a record that is in memory. Whether it is new; of two that differ
    /// only in name and path, the smaller one stays (decision 26).
    pub fn add(&mut self, evidence: Evidence) -> crate::Result<bool> {
        let mut capture = Capture::default();
        let value = Value::from(evidence.record().clone());
        capture.value(&value)?;
        let head = capture.take(&mut Interner::default(), evidence.id());
        let body = Body::Memory(Arc::new(evidence));
        Ok(self.insert(Entry { head, body }))
    }

    /// Takes a record out that no unknown cites; whether it was there and is
    /// not any more.
    pub fn remove(&mut self, id: EvidenceId) -> bool {
        let cited = self
            .unknowns
            .iter()
            .any(|revision| revision.cited().any(|one| one == id));
        match self.find(id) {
            Ok(at) if !cited => {
                self.entries.remove(at);
                true
            }
            _ => false,
        }
    }

    fn insert(&mut self, entry: Entry) -> bool {
        match self.find(entry.head.id) {
            Err(at) => {
                self.entries.insert(at, entry);
                true
            }
            Ok(at) => {
                if let Some(there) = self.entries.get_mut(at)
                    && entry.head.display() < there.head.display()
                {
                    *there = entry;
                }
                false
            }
        }
    }
}

/// Two records of one id differ at most in these; the code-point-smallest stay.
type Display<'a> = Option<(&'a [u8], &'a [u8])>;

fn display_of<'a>(local_path: &'a Text, name: &'a Text) -> Display<'a> {
    // The bytes of WTF-8 are in the order of code points.
    Some((local_path.as_bytes(), name.as_bytes()))
}
