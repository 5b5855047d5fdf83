//! The artifact graph: rows in logical order with their identities.
//!
//! Rows are compact (paths in one arena, fixed-size ids) and write themselves
//! as canonical JSON; no document is ever held. Recipes: contract 3.2 to 3.4.

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

    /// Computes every identity.
    pub fn seal(&mut self) {
        let rows = &self.rows;
        let artifacts = map_rows(rows.len(), |i| artifact_id(&rows[i].digest));
        for (row, artifact) in self.rows.iter_mut().zip(artifacts) {
            if row.entry_kind != EntryKind::Directory {
                row.artifact = artifact;
            }
        }
        self.digest_directories();
        let root_artifact = self.root().artifact;
        self.occurrence_ids = map_rows(self.rows.len(), |i| self.occurrence_id(i, &root_artifact));
        self.nodes = self.order_nodes();
        self.edges = self.order_edges();
        self.graph_sha256 = Digest::of_json(|w| {
            w.begin_object();
            w.key("edges");
            self.write_edges(w);
            w.key("integrity_contradictions");
            self.write_contradictions(w);
            w.key("nodes");
            self.write_nodes(w);
            w.key("occurrences");
            self.write_occurrences(w);
            w.end_object();
        });
        self.manifest_id = Digest::of_json(|w| {
            w.begin_object();
            w.key("graph_sha256");
            w.id("", &self.graph_sha256);
            w.key("root_artifact_id");
            w.id("art_", &root_artifact);
            w.end_object();
        });
    }

    /// All rows but the root, each folder followed by what is in it.
    fn segment_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32)
            .filter(|&i| i != self.root)
            .collect();
        let by_segment = |&a: &u32, &b: &u32| {
            names::cmp_by_segment(self.path(a as usize), self.path(b as usize))
        };
        if order.len() < PARALLEL_FROM {
            order.sort_unstable_by(by_segment);
        } else {
            order.par_sort_unstable_by(by_segment);
        }
        order
    }

    fn annotate_collisions(&mut self, order: &[u32]) {
        let paths = order.iter().map(|&index| self.path(index as usize));
        let (found, colliding) = super::collisions::find(paths);
        self.collisions = colliding;
        for (at, limitation) in found {
            add_limitation(
                &mut self.rows[order[at] as usize],
                &mut self.extras,
                limitation,
            );
        }
    }

    /// The nearest ancestor path that is a directory or expanded; else the root.
    fn find_parents(&self, order: &[u32]) -> Vec<u32> {
        let mut parents = vec![self.root; self.rows.len()];
        let mut above: Vec<u32> = Vec::new();
        for &index in order {
            let path = self.path(index as usize);
            while above
                .last()
                .is_some_and(|&top| !names::is_below(path, self.path(top as usize)))
            {
                above.pop();
            }
            if let Some(&top) = above.last() {
                parents[index as usize] = top;
            }
            let row = &self.rows[index as usize];
            if row.entry_kind == EntryKind::Directory || row.expanded {
                above.push(index);
            }
        }
        parents
    }

    /// Directory digests, deepest first; then the root's, where it is one.
    fn digest_directories(&mut self) {
        let mut children: Vec<u32> = (0..self.rows.len() as u32)
            .filter(|&i| i != self.root)
            .collect();
        children.sort_by_key(|&index| self.parents[index as usize]);
        let mut directories: Vec<u32> = (0..self.rows.len() as u32)
            .filter(|&i| {
                let row = &self.rows[i as usize];
                row.entry_kind == EntryKind::Directory && row.has_artifact && i != self.root
            })
            .collect();
        directories.sort_by_key(|&index| std::cmp::Reverse(self.rows[index as usize].path.1));
        for index in directories {
            let from = children.partition_point(|&child| self.parents[child as usize] < index);
            let to = children.partition_point(|&child| self.parents[child as usize] <= index);
            let digest = self.directory_digest(index, &children[from..to]);
            let row = &mut self.rows[index as usize];
            row.digest = digest;
            row.artifact = artifact_id(&digest);
        }
        if self.root().entry_kind == EntryKind::Directory {
            let digest = self.folder_digest();
            let row = &mut self.rows[self.root as usize];
            row.digest = digest;
            row.artifact = artifact_id(&digest);
        }
    }

    fn directory_digest(&self, directory: u32, children: &[u32]) -> Digest {
        let skip = self.path(directory as usize).len() + 1;
        Digest::of_json(|w| {
            w.begin_object();
            w.key("children");
            w.begin_array();
            for &child in children {
                let row = &self.rows[child as usize];
                w.begin_object();
                w.key("artifact_id");
                write_artifact(row, w);
                w.key("entry_kind");
                w.string(row.entry_kind.as_str());
                w.key("name");
                w.string(self.path(child as usize).get(skip..).unwrap_or_default());
                w.end_object();
            }
            w.end_array();
            w.key("kind");
            w.string("directory");
            w.end_object();
        })
    }

    /// Of the folder's own entries only, so that options and new formats do
    /// not change it (decision 16).
    fn folder_digest(&self) -> Digest {
        Digest::of_json(|w| {
            w.begin_object();
            w.key("children");
            w.begin_array();
            for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| row.own) {
                w.begin_object();
                w.key("artifact_id");
                write_artifact(row, w);
                w.key("logical_path");
                w.string(self.path(index));
                w.end_object();
            }
            w.end_array();
            w.key("kind");
            w.string("directory-root");
            w.end_object();
        })
    }

    fn occurrence_id(&self, index: usize, root: &Digest) -> Digest {
        Digest::of_json(|w| {
            w.begin_object();
            if index as u32 == self.root {
                w.key("root");
                w.id("art_", root);
            } else {
                w.key("entry_kind");
                w.string(self.rows[index].entry_kind.as_str());
                w.key("logical_path");
                w.string(self.path(index));
                w.key("root_artifact_id");
                w.id("art_", root);
            }
            w.end_object();
        })
    }

    /// One row a distinct artifact: the root before directories before files.
    fn order_nodes(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32)
            .filter(|&i| self.rows[i as usize].has_artifact)
            .collect();
        let key = |&index: &u32| {
            let row = &self.rows[index as usize];
            let rank = match row.entry_kind {
                _ if index == self.root => 0u8,
                EntryKind::Directory => 1,
                _ => 2,
            };
            (row.artifact, rank, index)
        };
        if order.len() < PARALLEL_FROM {
            order.sort_unstable_by_key(key);
        } else {
            order.par_sort_unstable_by_key(key);
        }
        order.dedup_by_key(|index| self.rows[*index as usize].artifact);
        order
    }

    fn order_edges(&self) -> Vec<Edge> {
        let indices: Vec<u32> = (0..self.rows.len() as u32)
            .filter(|&i| i != self.root && self.rows[i as usize].has_artifact)
            .collect();
        let mut edges = map_rows(indices.len(), |at| self.edge(indices[at]));
        if edges.len() < PARALLEL_FROM {
            edges.sort_unstable_by_key(|edge| edge.id);
        } else {
            edges.par_sort_unstable_by_key(|edge| edge.id);
        }
        edges
    }

    fn edge(&self, row: u32) -> Edge {
        let path = self.path(row as usize);
        let source = path
            .strip_suffix(".map")
            .and_then(|source| self.find(source));
        let with_artifact = |index: u32| self.rows[index as usize].has_artifact.then_some(index);
        let parent = source
            .and_then(|index| with_artifact(index as u32))
            .or_else(|| with_artifact(self.parents[row as usize]))
            .unwrap_or(self.root);
        let id = ids::edge(
            &self.rows[row as usize].artifact,
            path.as_bytes(),
            &self.occurrence_ids[row as usize],
            &self.rows[parent as usize].artifact,
            self.relation(row),
        );
        Edge { id, row, parent }
    }

    fn relation(&self, row: u32) -> &'static str {
        let path = self.path(row as usize);
        if self.rows[row as usize].entry_kind == EntryKind::Slice {
            "slice-of"
        } else if path.ends_with(".map") {
            "maps-source"
        } else if path.contains(".framework/") {
            "embeds"
        } else {
            "contains"
        }
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
