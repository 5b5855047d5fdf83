//! Identities of all rows, and the order of nodes and edges (contract 3.2 to
//! 3.4).

use super::*;

impl Graph {
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
    pub(super) fn segment_order(&self) -> Vec<u32> {
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

    pub(super) fn annotate_collisions(&mut self, order: &[u32]) {
        let paths = order.iter().map(|&index| self.path(index as usize));
        let (found, colliding) = super::super::collisions::find(paths);
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
    pub(super) fn find_parents(&self, order: &[u32]) -> Vec<u32> {
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
    pub(super) fn digest_directories(&mut self) {
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

    pub(super) fn directory_digest(&self, directory: u32, children: &[u32]) -> Digest {
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
                w.member("entry_kind", row.entry_kind.as_str());
                let name = self.path(child as usize).get(skip..).unwrap_or_default();
                w.member("name", name);
                w.end_object();
            }
            w.end_array();
            w.member("kind", "directory");
            w.end_object();
        })
    }

    /// Of the folder's own entries only, so that options and new formats do
    /// not change it (decision 16).
    pub(super) fn folder_digest(&self) -> Digest {
        Digest::of_json(|w| {
            w.begin_object();
            w.key("children");
            w.begin_array();
            for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| row.own) {
                w.begin_object();
                w.key("artifact_id");
                write_artifact(row, w);
                w.member("logical_path", self.path(index));
                w.end_object();
            }
            w.end_array();
            w.member("kind", "directory-root");
            w.end_object();
        })
    }

    pub(super) fn occurrence_id(&self, index: usize, root: &Digest) -> Digest {
        Digest::of_json(|w| {
            w.begin_object();
            if index as u32 == self.root {
                w.key("root");
                w.id("art_", root);
            } else {
                w.member("entry_kind", self.rows[index].entry_kind.as_str());
                w.member("logical_path", self.path(index));
                w.key("root_artifact_id");
                w.id("art_", root);
            }
            w.end_object();
        })
    }

    /// One row a distinct artifact: the root before directories before files.
    pub(super) fn order_nodes(&self) -> Vec<u32> {
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

    pub(super) fn order_edges(&self) -> Vec<Edge> {
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

    pub(super) fn edge(&self, row: u32) -> Edge {
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

    pub(super) fn relation(&self, row: u32) -> &'static str {
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
}
