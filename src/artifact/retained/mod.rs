//! An inventory as it is kept for comparison: compact rows, whether they come
//! from Evidence that is read as it streams by or from an [`Inventory`] in
//! memory.
//!
//! A row is about a hundred bytes and its path; words and limitations are kept
//! once. Rows are in the contract's order (artifacts 3.4), so everything is
//! found by binary search.
//!
//! [`Inventory`]: super::Inventory

mod capture;
mod check;
mod inventory;
mod read;
mod rows;
mod words;
pub(crate) mod zones;

use std::cmp::Ordering;

use crate::digest::Digest;
use crate::evidence::EvidenceId;
use words::Words;

pub use read::read;
pub(in crate::artifact) use read::{TakenFor, taken_for};

/// No row.
pub(super) const NONE: u32 = u32::MAX;

/// An inventory that can be compared.
#[derive(Debug)]
pub struct Retained {
    /// The record that was given: an inventory, or the inspection around it.
    supplied: EvidenceId,
    /// The inventory itself.
    inventory: EvidenceId,
    manifest: Manifest,
    scope: String,
    covered: bool,
    complete: bool,
    limitations: Vec<String>,
    /// Canonical provider and parameters of the inventory.
    reader: String,
    words: Words,
    natures: Vec<Nature>,
    roles: Vec<Role>,
    arena: String,
    nodes: Vec<Node>,
    occurrences: Vec<Occurrence>,
    /// By occurrence.
    edges: Vec<Edge>,
    /// Artifacts of occurrences whose node is not there, by occurrence.
    unresolved: Vec<(u32, Digest)>,
    root: u32,
}

/// `manifest` (artifacts 3.1).
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub manifest_id: Digest,
    pub root_artifact_id: Digest,
    pub root_sha256: Digest,
    pub root_format: String,
    pub node_count: u64,
    pub occurrence_count: u64,
    pub edge_count: u64,
}

/// One content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// `artifact_id`, the hash of the content's SHA-256.
    pub id: Digest,
    /// Bytes.
    pub size: u64,
    /// Index into `natures`.
    pub nature: u32,
}

/// What nodes share. All are numbers of [`Words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Nature {
    pub format: u32,
    pub media_type: u32,
    pub architecture: u32,
    pub state: u32,
    pub limitations: u32,
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    pub id: Digest,
    /// Stored bytes; `u64::MAX` where the container does not say.
    pub compressed: u64,
    /// Where the path ends in the arena; it starts where the one before ends.
    pub end: u32,
    pub node: u32,
    /// Index into `roles`.
    pub role: u32,
    pub parent: u32,
}

/// What occurrences share. Numbers of [`Words`] where they are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Role {
    pub entry_kind: u32,
    pub kind: u32,
    pub format: u32,
    pub status: u32,
    pub limitations: u32,
    pub mode: u32,
    pub executable: bool,
    pub encrypted: bool,
}

/// The relation of an occurrence to what it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub occurrence: u32,
    /// The occurrence that the parent artifact is seen as; none where it is
    /// not there.
    pub parent: u32,
    pub relation: u32,
    pub producer: u32,
}

/// The node of an artifact among nodes in order of their ids.
pub(super) fn find_node(nodes: &[Node], id: &Digest) -> Option<u32> {
    let prefix = id.prefix();
    let order = |at: usize| {
        let found = nodes.get(at).map(|node| &node.id);
        let first = found.map(Digest::prefix).cmp(&Some(prefix));
        first.then_with(|| found.cmp(&Some(id)))
    };
    search(nodes.len(), prefix, order).map(|at| at as u32)
}

/// Where among `len` ids in order one stands that starts with `prefix`;
/// `order` compares the one at a place with it.
///
/// Ids are hashes and evenly spread, so the search starts where the id should
/// be and rarely leaves the neighbourhood; others it finds as a binary search
/// does.
fn search(len: usize, prefix: u64, order: impl Fn(usize) -> Ordering) -> Option<usize> {
    if len == 0 {
        return None;
    }
    let guess = (u128::from(prefix) * len as u128) >> 64;
    let guess = guess as usize;
    let (mut low, mut high) = (0, len);
    let mut step = 32;
    match order(guess) {
        Ordering::Equal => return Some(guess),
        Ordering::Less => {
            low = guess + 1;
            while low + step < high {
                match order(low + step) {
                    Ordering::Equal => return Some(low + step),
                    Ordering::Less => low += step + 1,
                    Ordering::Greater => high = low + step,
                }
                step *= 2;
            }
        }
        Ordering::Greater => {
            high = guess;
            while low + step < high {
                match order(high - step) {
                    Ordering::Equal => return Some(high - step),
                    Ordering::Less => low = high - step + 1,
                    Ordering::Greater => high -= step,
                }
                step *= 2;
            }
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match order(middle) {
            Ordering::Equal => return Some(middle),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    None
}

impl Retained {
    /// The id of the record that was given.
    pub fn evidence_id(&self) -> EvidenceId {
        self.supplied
    }

    /// The id of the inventory: that of the record itself, or of the record
    /// inside an inspection.
    pub fn inventory_id(&self) -> EvidenceId {
        self.inventory
    }

    /// Says that comparison and links name the inventory, not the inspection
    /// around it (decision 25).
    #[must_use]
    pub fn as_inventory(mut self) -> Self {
        self.supplied = self.inventory;
        self
    }

    /// The root's SHA-256.
    pub fn root_sha256(&self) -> Digest {
        self.manifest.root_sha256
    }

    /// The root's format.
    pub fn root_format(&self) -> &str {
        &self.manifest.root_format
    }

    /// Entries that are there, the root included.
    pub fn occurrence_count(&self) -> usize {
        self.occurrences.len()
    }

    /// Whether rows are as many as the manifest says.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// `complete` or `unknown`.
    pub fn coverage_status(&self) -> &'static str {
        if self.covered { "complete" } else { "unknown" }
    }

    /// What was looked at: `root` or `container-entries`.
    pub fn coverage_scope(&self) -> &str {
        &self.scope
    }

    pub(super) fn is_covered(&self) -> bool {
        self.covered
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(super) fn limitations(&self) -> &[String] {
        &self.limitations
    }

    pub(super) fn reader(&self) -> &str {
        &self.reader
    }

    pub(super) fn root(&self) -> u32 {
        self.root
    }

    pub(super) fn path(&self, at: u32) -> &str {
        let Some(row) = self.row(at) else { return "" };
        let start = match at.checked_sub(1).and_then(|before| self.row(before)) {
            Some(before) => before.end,
            None => 0,
        };
        self.arena
            .get(start as usize..row.end as usize)
            .unwrap_or_default()
    }

    pub(super) fn row(&self, at: u32) -> Option<&Occurrence> {
        self.occurrences.get(at as usize)
    }

    pub(super) fn role(&self, at: u32) -> Option<&Role> {
        self.roles.get(self.row(at)?.role as usize)
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(self.row(at)?.node as usize)
    }

    pub(super) fn nature(&self, nature: u32) -> Option<&Nature> {
        self.natures.get(nature as usize)
    }

    pub(super) fn word(&self, number: u32) -> &str {
        self.words.get(number)
    }

    /// The artifact of an occurrence, with a node or without.
    pub(super) fn artifact(&self, at: u32) -> Option<Digest> {
        if let Some(node) = self.node(at) {
            return Some(node.id);
        }
        let found = self.unresolved.binary_search_by_key(&at, |entry| entry.0);
        Some(self.unresolved.get(found.ok()?)?.1)
    }

    /// The edges of an occurrence.
    pub(super) fn edges(&self, at: u32) -> &[Edge] {
        let from = self.edges.partition_point(|edge| edge.occurrence < at);
        let rest = self.edges.get(from..).unwrap_or_default();
        let count = rest.iter().take_while(|edge| edge.occurrence == at).count();
        rest.get(..count).unwrap_or_default()
    }

    pub(super) fn len(&self) -> u32 {
        self.occurrences.len() as u32
    }

    pub(super) fn find(&self, path: &str) -> Option<u32> {
        let at = self.lower_bound(path.as_bytes(), None);
        (at < self.len() && self.path(at) == path).then_some(at)
    }

    /// The rows below a path: those that start with it and a slash.
    pub(super) fn below(&self, path: &str) -> std::ops::Range<u32> {
        let from = self.lower_bound(path.as_bytes(), Some(b'/'));
        // The byte after the slash is the end of everything below.
        let to = self.lower_bound(path.as_bytes(), Some(b'0'));
        from..to
    }

    /// The first row that is not before `path` and a byte.
    fn lower_bound(&self, path: &[u8], byte: Option<u8>) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.path(middle).as_bytes().iter();
            if found.lt(path.iter().chain(byte.as_slice())) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// `file`, `directory`, `symlink` or `slice`.
    pub(super) fn entry_kind(&self, at: u32) -> &str {
        self.role(at).map_or("", |role| self.word(role.entry_kind))
    }

    /// Its limitations, as the text of a JSON array.
    pub(super) fn said(&self, at: u32) -> &str {
        self.role(at).map_or("", |role| self.word(role.limitations))
    }

    /// The part it plays.
    pub(super) fn kind(&self, at: u32) -> &str {
        self.role(at).map_or("", |role| self.word(role.kind))
    }

    /// What it is.
    pub(super) fn format(&self, at: u32) -> &str {
        self.role(at).map_or("", |role| self.word(role.format))
    }

    pub(super) fn status(&self, at: u32) -> &str {
        self.role(at).map_or("", |role| self.word(role.status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_however_they_are_spread() {
        let even = (0..3000).map(|at| at * (u64::MAX / 3000)).collect();
        let front = (0..3000).collect();
        let back = (0..3000).map(|at| u64::MAX - 3000 + at).collect();
        let ids: [Vec<u64>; 5] = [even, front, back, vec![7], vec![]];
        for ids in ids {
            let find = |id: u64| search(ids.len(), id, |at| ids[at].cmp(&id));
            for (at, &id) in ids.iter().enumerate() {
                assert_eq!(find(id), Some(at));
                let next = id.wrapping_add(1);
                assert_eq!(find(next), ids.binary_search(&next).ok());
            }
            assert_eq!(find(u64::MAX), ids.binary_search(&u64::MAX).ok());
            assert_eq!(find(0), ids.binary_search(&0).ok());
        }
    }
}
