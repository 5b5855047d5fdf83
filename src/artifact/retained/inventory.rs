//! An inventory in memory, kept without writing and reading a record.

use super::words::{Numbered, Words};
use super::{Edge, Manifest, NONE, Nature, Node, Occurrence, Retained, Role, find_node};
use crate::artifact::graph::{Graph, UNKNOWN};
use crate::artifact::inventory::{Inventory, PROVIDER};
use crate::evidence::Record as _;
use crate::json::{MAX_SAFE_INTEGER, WriteJson};

impl From<&Inventory> for Retained {
    fn from(inventory: &Inventory) -> Self {
        let graph = &inventory.graph;
        let mut words = Words::default();
        let mut natures = Numbered::default();
        let nodes = keep_nodes(graph, &mut words, &mut natures);
        let mut kept = Self {
            supplied: inventory.id(),
            inventory: inventory.id(),
            manifest: Manifest {
                manifest_id: graph.manifest_id,
                root_artifact_id: graph.root().artifact,
                root_sha256: graph.root().digest,
                root_format: inventory.root_format().to_owned(),
                node_count: nodes.len() as u64,
                occurrence_count: graph.rows.len() as u64,
                edge_count: graph.edge_count() as u64,
            },
            scope: inventory.scope.to_owned(),
            covered: inventory.complete,
            complete: true,
            limitations: inventory.limitations.clone(),
            reader: canonical(&PROVIDER) + &canonical(&inventory.options),
            natures: natures.values,
            roles: Vec::new(),
            arena: String::new(),
            nodes,
            occurrences: Vec::with_capacity(graph.rows.len()),
            edges: Vec::with_capacity(graph.edge_count()),
            unresolved: Vec::new(),
            root: NONE,
            words,
        };
        kept.keep_occurrences(graph);
        kept.keep_edges(graph);
        kept.words.close();
        kept
    }
}

fn keep_nodes(graph: &Graph, words: &mut Words, natures: &mut Numbered<Nature>) -> Vec<Node> {
    let (null, empty) = (words.number("null"), words.number("[]"));
    let nodes = graph.node_rows().iter().filter_map(|&at| {
        let row = graph.rows.get(at as usize)?;
        let nature = Nature {
            format: words.number(row.format.as_str()),
            media_type: null,
            architecture: null,
            state: words.number(graph.content_state(at)),
            limitations: empty,
        };
        Some(Node {
            id: row.artifact,
            size: row.size,
            nature: natures.number(nature),
        })
    });
    nodes.collect()
}

impl Retained {
    fn keep_occurrences(&mut self, graph: &Graph) {
        let mut roles = Numbered::default();
        let empty = self.words.number("[]");
        self.arena.reserve_exact(graph.path_bytes());
        for (at, row) in graph.rows.iter().enumerate() {
            let limitations = if row.notes.is_empty() && row.extra == NONE {
                empty
            } else {
                self.words.number(&canonical(&graph.limitations(at)))
            };
            let mode = match row.special_mode() {
                Some(mode) => self.words.number(&mode),
                None => self.words.number("null"),
            };
            let role = Role {
                entry_kind: self.words.number(row.entry_kind.as_str()),
                kind: self.words.number(row.kind.as_str()),
                format: self.words.number(row.role.as_str()),
                status: self.words.number(row.status.as_str()),
                limitations,
                mode,
                executable: row.is_executable(),
                encrypted: row.encrypted,
            };
            let node = Some(&row.artifact).filter(|_| row.has_artifact);
            self.arena.push_str(graph.path(at));
            let is_root = graph.root_index() == at as u32;
            self.occurrences.push(Occurrence {
                id: graph.occurrence_digest(at),
                compressed: match row.compressed_size {
                    size @ ..=MAX_SAFE_INTEGER => size,
                    _ => UNKNOWN,
                },
                end: self.arena.len() as u32,
                node: node
                    .and_then(|artifact| find_node(&self.nodes, artifact))
                    .unwrap_or(NONE),
                role: roles.number(role),
                parent: if is_root { NONE } else { graph.parent(at) },
            });
            if is_root {
                self.root = at as u32;
            }
        }
        self.roles = roles.values;
    }

    fn keep_edges(&mut self, graph: &Graph) {
        let null = self.words.number("null");
        for (row, parent, relation) in graph.edge_rows() {
            self.edges.push(Edge {
                occurrence: row,
                parent,
                relation: self.words.number(relation),
                producer: null,
            });
        }
        self.edges.sort_unstable_by_key(|edge| edge.occurrence);
    }
}

/// A value as canonical JSON.
fn canonical(value: &dyn WriteJson) -> String {
    String::from_utf8(crate::json::canonical(value)).unwrap_or_default()
}
