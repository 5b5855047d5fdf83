//! How a graph stands in a record (artifacts 3).

use super::{Contradiction, Graph, NONE, write_artifact};
use crate::json::{MAX_SAFE_INTEGER, WriteJson, Writer};

const CONTRADICTION_LIMITATION: &str = "The bytes are not those that the container declares; they prove nothing about what was meant to ship.";

impl Graph {
    /// `manifest`
    pub fn write_manifest(&self, w: &mut Writer<'_>) {
        let root = self.root();
        w.begin_object();
        w.member("edge_count", self.edges.len() as u64);
        w.key("graph_sha256");
        w.id("", &self.graph_sha256);
        w.key("manifest_id");
        w.id("agm_", &self.manifest_id);
        w.member("node_count", self.nodes.len() as u64);
        w.member("occurrence_count", self.rows.len() as u64);
        w.key("root_artifact_id");
        w.id("art_", &root.artifact);
        w.member("root_format", root.role.as_str());
        w.key("root_sha256");
        w.id("", &root.digest);
        w.end_object();
    }

    /// `nodes`
    pub fn write_nodes(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for &index in &self.nodes {
            let row = &self.rows[index as usize];
            w.begin_object();
            w.key("architecture");
            w.null();
            w.key("artifact_id");
            w.id("art_", &row.artifact);
            w.member("content_state", self.content_state(index));
            w.member("format", row.format.as_str());
            w.key("limitations");
            w.begin_array();
            w.end_array();
            w.key("media_type");
            w.null();
            w.key("sha256");
            w.id("", &row.digest);
            w.member("size", row.size);
            w.end_object();
        }
        w.end_array();
    }

    /// `occurrences`
    pub fn write_occurrences(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for index in 0..self.rows.len() {
            self.write_occurrence(index, w);
        }
        w.end_array();
    }

    fn write_occurrence(&self, index: usize, w: &mut Writer<'_>) {
        let row = &self.rows[index];
        w.begin_object();
        w.member("artifact_format", row.role.as_str());
        w.key("artifact_id");
        write_artifact(row, w);
        w.member("artifact_kind", row.kind.as_str());
        w.member("compressed_size", exact(row.compressed_size));
        w.member("declared_size", exact(row.declared_size));
        w.member("encrypted", row.encrypted);
        w.member("entry_kind", row.entry_kind.as_str());
        w.member("executable", row.is_executable());
        w.member("hash_status", row.status.as_str());
        w.key("limitations");
        w.begin_array();
        if !row.notes.is_empty() || row.extra != NONE {
            for limitation in self.limitations(index) {
                w.string(&limitation.text);
            }
        }
        w.end_array();
        let extra = self.extras.get(row.extra as usize);
        if let Some(target) = extra.and_then(|extra| extra.link_target.as_deref()) {
            w.member("link_target", target);
        }
        w.member("logical_path", self.path(index));
        if let Some(mode) = row.special_mode() {
            w.member("mode", &mode);
        }
        w.key("occurrence_id");
        w.id("occ_", &self.occurrence_ids[index]);
        w.key("parent_occurrence_id");
        if index as u32 == self.root {
            w.null();
        } else {
            w.id("occ_", &self.occurrence_ids[self.parents[index] as usize]);
        }
        w.key("source_location");
        match extra.and_then(|extra| extra.source_location) {
            Some((offset, length)) => {
                w.begin_object();
                w.member("length", length);
                w.member("offset", offset);
                w.end_object();
            }
            None => w.null(),
        }
        w.end_object();
    }

    /// `edges`
    pub fn write_edges(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for (ordinal, edge) in self.edges.iter().enumerate() {
            w.begin_object();
            w.key("edge_id");
            w.id("edge_", &edge.id);
            w.key("occurrence_id");
            w.id("occ_", &self.occurrence_ids[edge.row as usize]);
            w.member("ordinal", ordinal as u64);
            w.key("parent_artifact_id");
            w.id("art_", &self.rows[edge.parent as usize].artifact);
            w.key("producer");
            w.null();
            w.member("relation", self.relation(edge.row));
            w.end_object();
        }
        w.end_array();
    }

    /// `integrity_contradictions`
    pub fn write_contradictions(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for contradiction in &self.contradictions {
            self.write_contradiction(contradiction, w);
        }
        w.end_array();
    }

    /// One of [`Graph::contradictions`].
    pub fn write_contradiction(&self, contradiction: &Contradiction, w: &mut Writer<'_>) {
        let row = self.find(&contradiction.path).unwrap_or(self.root as usize);
        let parent = self.parents[row] as usize;
        let parent = if self.rows[parent].has_artifact {
            parent
        } else {
            self.root as usize
        };
        w.begin_object();
        w.key("contradiction_id");
        w.id("ic_", &self.contradiction_id(contradiction));
        w.key("declared_sha256");
        w.id("", &contradiction.declared);
        w.member("entry_kind", "file");
        w.key("limitations");
        w.begin_array();
        w.string(CONTRADICTION_LIMITATION);
        w.end_array();
        w.member("logical_path", &contradiction.path);
        w.key("observed_sha256");
        w.id("", &contradiction.observed);
        w.key("occurrence_id");
        w.id("occ_", &self.occurrence_ids[row]);
        w.key("parent_artifact_id");
        w.id("art_", &self.rows[parent].artifact);
        let provenance = "container-integrity-metadata-versus-observed-bytes";
        w.member("provenance", provenance);
        w.member("trust", "observed-untrusted");
        w.member("unpacked", contradiction.unpacked);
        w.end_object();
    }
}

/// Locations: one artifact path an occurrence, the root first.
pub(crate) struct Locations<'a>(pub &'a Graph);

impl WriteJson for Locations<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for index in 0..self.0.rows.len() {
            w.begin_object();
            w.member("kind", "artifact-path");
            w.member("path", self.0.path(index));
            w.end_object();
        }
        w.end_array();
    }
}

fn exact(value: u64) -> Option<u64> {
    (value <= MAX_SAFE_INTEGER).then_some(value)
}
