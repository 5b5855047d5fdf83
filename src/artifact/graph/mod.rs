//! The artifact graph: rows in logical order with their identities.
//!
//! Rows are compact (paths in one arena, fixed-size ids) and write themselves
//! as canonical JSON; no document is ever held. Recipes: contract 3.2 to 3.4.

mod seal;
mod write;

use rayon::prelude::*;

use super::format::{EntryKind, Format, Kind};
use super::ids;
use super::limitation::{Limitation, Notes};
use super::names;
use crate::digest::Digest;
use crate::json::Writer;

pub(crate) use write::Locations;

/// A size that is not known; written as `null`.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// Below this, starting other threads costs more than they save.
const PARALLEL_FROM: usize = 4096;
const NONE: u32 = u32::MAX;

/// `hash_status`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashStatus {
    Verified,
    Mismatched,
    Unavailable,
}

impl HashStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Mismatched => "mismatched",
            Self::Unavailable => "unavailable",
        }
    }
}

/// One occurrence, and its node and edge where it has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Start and length in the arena.
    pub path: (u32, u32),
    /// SHA-256 of the content; of the recipe for directories.
    pub digest: Digest,
    /// `artifact_id`
    pub artifact: Digest,
    /// The node's size.
    pub size: u64,
    pub declared_size: u64,
    pub compressed_size: u64,
    /// Index into [`Graph::extras`]; none is `u32::MAX`.
    pub extra: u32,
    pub notes: Notes,
    /// Permission and special bits; `u16::MAX` where not recorded.
    pub mode: u16,
    pub entry_kind: EntryKind,
    pub kind: Kind,
    pub role: Format,
    pub format: Format,
    pub status: HashStatus,
    pub encrypted: bool,
    /// Whether a node exists.
    pub has_artifact: bool,
    /// Whether members of it are listed.
    pub expanded: bool,
    /// Whether it is an entry of the root container itself.
    pub own: bool,
}

/// What a few rows have besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    pub limitations: Vec<Limitation>,
    pub link_target: Option<Box<str>>,
    /// Offset and length of a slice in the file around it.
    pub source_location: Option<(u64, u64)>,
}

/// A member whose bytes contradict the digest its container declares.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction {
    pub path: String,
    pub declared: Digest,
    pub observed: Digest,
    pub unpacked: bool,
}

/// The root as it enters the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootRow {
    pub kind: Kind,
    pub role: Format,
    pub format: Format,
    /// `None` for folders: computed from what they hold.
    pub digest: Option<Digest>,
    pub size: u64,
    pub mode: u16,
    pub has_children: bool,
}

/// The complete graph.
pub(crate) struct Graph {
    arena: String,
    pub rows: Vec<Row>,
    extras: Vec<Extra>,
    root: u32,
    parents: Vec<u32>,
    occurrence_ids: Vec<Digest>,
    /// Rows whose node is written, by artifact id.
    nodes: Vec<u32>,
    edges: Vec<Edge>,
    contradictions: Vec<Contradiction>,
    /// How many paths differ from another only by case.
    pub collisions: usize,
    pub graph_sha256: Digest,
    pub manifest_id: Digest,
}

struct Edge {
    id: Digest,
    row: u32,
    /// The row whose artifact is the parent.
    parent: u32,
}

/// Rows being collected.
#[derive(Default)]
pub(crate) struct Builder {
    pub arena: String,
    pub rows: Vec<Row>,
    pub extras: Vec<Extra>,
}

impl Builder {
    /// Appends a path to the arena; `None` beyond the limit of all paths.
    pub fn push_path(&mut self, prefix: &str, path: &str) -> Option<(u32, u32)> {
        let start = self.arena.len();
        if !prefix.is_empty() {
            self.arena.push_str(prefix);
            self.arena.push('/');
        }
        self.arena.push_str(path);
        let len = self.arena.len() - start;
        (self.arena.len() <= u32::MAX as usize).then_some((start as u32, len as u32))
    }

    /// Keeps what only few rows have; its index.
    pub fn push_extra(&mut self, extra: Extra) -> u32 {
        let is_empty = extra.limitations.is_empty()
            && extra.link_target.is_none()
            && extra.source_location.is_none();
        if is_empty {
            return NONE;
        }
        self.extras.push(extra);
        self.extras.len() as u32 - 1
    }

    /// A path in the arena.
    pub fn slice(&self, (start, len): (u32, u32)) -> &str {
        &self.arena[start as usize..(start + len) as usize]
    }

    pub fn path(&self, row: &Row) -> &str {
        self.slice(row.path)
    }

    /// Puts rows into logical order; afterwards [`Builder::find`] works.
    pub fn sort(&mut self) {
        let arena = &self.arena;
        let path = |row: &Row| &arena[row.path.0 as usize..(row.path.0 + row.path.1) as usize];
        if self.rows.len() < PARALLEL_FROM {
            self.rows.sort_unstable_by(|a, b| path(a).cmp(path(b)));
        } else {
            self.rows.par_sort_unstable_by(|a, b| path(a).cmp(path(b)));
        }
    }

    /// The row of a path, after [`Builder::sort`].
    pub fn find(&self, path: &str) -> Option<usize> {
        self.rows
            .binary_search_by(|row| self.path(row).cmp(path))
            .ok()
    }

    /// Computes every identity. The root row is appended here.
    pub fn finish(mut self, root: RootRow, contradictions: Vec<Contradiction>) -> Graph {
        let Some(path) = self.push_path("", ".") else {
            unreachable!("one path more than the inventory's own limit fits into 32 bits");
        };
        self.rows.push(Row {
            path,
            digest: root.digest.unwrap_or(Digest([0; 32])),
            artifact: Digest([0; 32]),
            size: root.size,
            declared_size: if root.digest.is_some() {
                root.size
            } else {
                UNKNOWN
            },
            compressed_size: UNKNOWN,
            extra: NONE,
            notes: Notes::default(),
            mode: root.mode,
            entry_kind: if root.digest.is_some() {
                EntryKind::File
            } else {
                EntryKind::Directory
            },
            kind: root.kind,
            role: root.role,
            format: root.format,
            status: HashStatus::Verified,
            encrypted: false,
            has_artifact: true,
            expanded: root.has_children,
            own: false,
        });
        self.sort();
        let root = self.find(".").unwrap_or(0) as u32;
        let mut graph = Graph {
            arena: self.arena,
            rows: self.rows,
            extras: self.extras,
            root,
            parents: Vec::new(),
            occurrence_ids: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            contradictions,
            collisions: 0,
            graph_sha256: Digest([0; 32]),
            manifest_id: Digest([0; 32]),
        };
        let order = graph.segment_order();
        graph.annotate_collisions(&order);
        graph.parents = graph.find_parents(&order);
        graph
    }
}

/// Maps rows in parallel where there are many.
fn map_rows<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if count < PARALLEL_FROM {
        (0..count).map(f).collect()
    } else {
        (0..count).into_par_iter().map(f).collect()
    }
}

impl Graph {
    pub fn path(&self, row: usize) -> &str {
        self.path_of(&self.rows[row])
    }

    fn path_of(&self, row: &Row) -> &str {
        let (start, len) = row.path;
        &self.arena[start as usize..(start + len) as usize]
    }

    pub fn root(&self) -> &Row {
        &self.rows[self.root as usize]
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The root's row.
    pub fn root_index(&self) -> u32 {
        self.root
    }

    /// Rows whose node is written, by artifact id.
    pub fn node_rows(&self) -> &[u32] {
        &self.nodes
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// For each edge: the row it is of, the row whose artifact is the parent,
    /// and the relation.
    pub fn edge_rows(&self) -> impl Iterator<Item = (u32, u32, &'static str)> {
        self.edges
            .iter()
            .map(|edge| (edge.row, edge.parent, self.relation(edge.row)))
    }

    /// Bytes of all paths.
    pub fn path_bytes(&self) -> usize {
        self.arena.len()
    }

    /// The row that a row is in; the root is in itself.
    pub fn parent(&self, row: usize) -> u32 {
        self.parents[row]
    }

    /// `occurrence_id`
    pub fn occurrence_digest(&self, row: usize) -> Digest {
        self.occurrence_ids[row]
    }

    /// `content_state` of the node that is written for a row.
    pub fn content_state(&self, row: u32) -> &'static str {
        match self.rows[row as usize].entry_kind {
            _ if row == self.root => "materialized",
            EntryKind::Directory => "virtual",
            _ => "embedded",
        }
    }

    pub fn contradictions(&self) -> &[Contradiction] {
        &self.contradictions
    }

    /// All limitations of an occurrence, in order of rank.
    pub fn limitations(&self, row: usize) -> Vec<Limitation> {
        let row = &self.rows[row];
        let mut all: Vec<Limitation> = row.notes.limitations().collect();
        if let Some(extra) = self.extras.get(row.extra as usize) {
            all.extend(extra.limitations.iter().cloned());
            all.sort_by_key(|limitation| limitation.rank);
        }
        all
    }

    /// The row of a path.
    pub fn find(&self, path: &str) -> Option<usize> {
        let at = self.rows.partition_point(|row| self.path_of(row) < path);
        (at < self.rows.len() && self.path(at) == path).then_some(at)
    }

    /// The id of a contradiction.
    pub fn contradiction_id(&self, contradiction: &Contradiction) -> Digest {
        ids::contradiction(
            &contradiction.declared,
            contradiction.path.as_bytes(),
            &contradiction.observed,
            &self.root().artifact,
        )
    }

    /// The occurrence id of a contradicted member.
    pub fn occurrence_of(&self, contradiction: &Contradiction) -> Digest {
        let row = self.find(&contradiction.path).unwrap_or(self.root as usize);
        self.occurrence_ids[row]
    }
}

impl Row {
    /// `mode`, where one of the special bits is set.
    pub fn special_mode(&self) -> Option<String> {
        (self.mode != u16::MAX && self.mode & 0o7000 != 0).then(|| format!("{:04o}", self.mode))
    }

    /// Whether any execute bit is recorded.
    pub fn is_executable(&self) -> bool {
        self.mode != u16::MAX && self.mode & 0o111 != 0
    }
}

fn write_artifact(row: &Row, w: &mut Writer<'_>) {
    if row.has_artifact {
        w.id("art_", &row.artifact);
    } else {
        w.null();
    }
}

/// `art_` = H({sha256})
fn artifact_id(sha256: &Digest) -> Digest {
    Digest::of_json(|w| {
        w.begin_object();
        w.key("sha256");
        w.id("", sha256);
        w.end_object();
    })
}

/// Adds a limitation to a row that may have none yet.
fn add_limitation(row: &mut Row, extras: &mut Vec<Extra>, limitation: Limitation) {
    if let Some(extra) = extras.get_mut(row.extra as usize) {
        extra.limitations.push(limitation);
        return;
    }
    row.extra = extras.len() as u32;
    extras.push(Extra {
        limitations: vec![limitation],
        ..Extra::default()
    });
}
