//! Whether the available rows are the complete graph that the manifest stands
//! for (artifacts.md section 8), found in one pass.
//!
//! The verifier that the record streams through recomputes `graph_sha256`,
//! `manifest_id`, the counts and the ids of nodes and occurrences. Here is what
//! needs several rows at once: that they are in order and each there once,
//! that what they refer to is there, and the ids of edges and contradictions.
//! An edge takes 80 bytes, a node 16, an occurrence 16; ids are compared by
//! their first 128 bits where that is all that is kept.

use std::collections::HashMap;

use super::fields::{Field, Fields};
use super::walk::Collection;
use crate::artifact::ids;
use crate::digest::Digest;
use crate::json::{Object, Value};

const RELATIONS: [&str; 7] = [
    "contains",
    "extracts",
    "slice-of",
    "embeds",
    "loads",
    "maps-source",
    "derived-from",
];

/// The start of an id.
type Short = [u8; 16];

struct Edge {
    occurrence: Short,
    id: Short,
    parent: Digest,
    relation: u8,
}

struct Contradiction {
    id: Digest,
    declared: Digest,
    observed: Digest,
    path: Vec<u8>,
    occurrence: Digest,
    parent: Short,
}

/// See the module.
#[derive(Default)]
pub(super) struct GraphCheck {
    failed: bool,
    last: Vec<u8>,
    edges: Vec<Edge>,
    /// Edges whose occurrence came and whose id recomputes.
    joined: usize,
    nodes: Vec<Short>,
    occurrences: Vec<Short>,
    parents: Vec<Short>,
    contradictions: Vec<Contradiction>,
    /// Contradictions by path, once occurrences come.
    contradicted: HashMap<Vec<u8>, usize>,
    settled: usize,
    root_node: bool,
    root_occurrence: bool,
}

impl GraphCheck {
    /// A row has passed. Lists come in the order edges, contradictions, nodes,
    /// occurrences; the manifest before the nodes.
    pub fn row(&mut self, collection: Collection, fields: &Fields, manifest: &Object) {
        if self.failed {
            return;
        }
        let good = match collection {
            Collection::Edges => self.edge(fields),
            Collection::Contradictions => self.contradiction(fields),
            Collection::Nodes => self.node(fields, manifest),
            Collection::Occurrences => self.occurrence(fields, manifest),
        };
        if good.is_none() {
            self.fail();
        }
    }

    fn fail(&mut self) {
        // Nothing more is looked at, so nothing needs to be kept.
        *self = Self {
            failed: true,
            ..Self::default()
        };
    }

    /// Rows must come in strictly ascending order, so that each is there once.
    fn ascends(&mut self, key: &[u8]) -> Option<()> {
        let ascends = self.last.is_empty() || self.last.as_slice() < key;
        self.last.clear();
        self.last.extend_from_slice(key);
        ascends.then_some(())
    }

    fn edge(&mut self, fields: &Fields) -> Option<()> {
        self.ascends(fields.text(Field::EdgeId)?)?;
        let relation = fields.text(Field::Relation)?;
        let relation = RELATIONS
            .iter()
            .position(|known| known.as_bytes() == relation)?;
        self.edges.push(Edge {
            occurrence: short(id(fields, Field::OccurrenceId, "occ_")?),
            id: short(id(fields, Field::EdgeId, "edge_")?),
            parent: id(fields, Field::ParentArtifactId, "art_")?,
            relation: u8::try_from(relation).ok()?,
        });
        Some(())
    }

    fn contradiction(&mut self, fields: &Fields) -> Option<()> {
        self.contradictions.push(Contradiction {
            id: id(fields, Field::ContradictionId, "ic_")?,
            declared: id(fields, Field::DeclaredSha256, "")?,
            observed: id(fields, Field::ObservedSha256, "")?,
            path: fields.text(Field::LogicalPath)?.to_vec(),
            occurrence: id(fields, Field::OccurrenceId, "occ_")?,
            parent: short(id(fields, Field::ParentArtifactId, "art_")?),
        });
        Some(())
    }

    fn node(&mut self, fields: &Fields, manifest: &Object) -> Option<()> {
        let artifact = fields.text(Field::ArtifactId)?;
        self.ascends(artifact)?;
        self.root_node |= is(manifest, "root_artifact_id", artifact)
            && is(manifest, "root_sha256", fields.text(Field::Sha256)?);
        self.nodes
            .push(short(id(fields, Field::ArtifactId, "art_")?));
        Some(())
    }

    fn occurrence(&mut self, fields: &Fields, manifest: &Object) -> Option<()> {
        let path = fields.text(Field::LogicalPath)?;
        if path.is_empty() {
            return None;
        }
        self.ascends(path)?;
        let occurrence = id(fields, Field::OccurrenceId, "occ_")?;
        self.occurrences.push(short(occurrence));
        let artifact = fields.text(Field::ArtifactId);
        if artifact.is_some() {
            let artifact = short(id(fields, Field::ArtifactId, "art_")?);
            self.nodes.binary_search(&artifact).ok()?;
        } else if !fields.is_null(Field::ArtifactId) {
            return None;
        }
        if path == b"." {
            self.root_occurrence = fields.is_null(Field::ParentOccurrenceId)
                && is(manifest, "root_artifact_id", artifact?)
                && is(manifest, "root_format", fields.text(Field::ArtifactFormat)?);
        } else {
            let parent = id(fields, Field::ParentOccurrenceId, "occ_")?;
            if parent == occurrence {
                return None;
            }
            let parent = short(parent);
            if self.parents.last() != Some(&parent) {
                self.parents.push(parent);
            }
        }
        self.join_edges(fields, occurrence, artifact)?;
        if let Some(&at) = self.contradicted.get(path) {
            let known = self.contradictions.get(at)?.occurrence;
            if known != occurrence {
                return None;
            }
            self.settled += 1;
        }
        Some(())
    }

    /// The edges to this occurrence: their ids are hashes of what it says.
    fn join_edges(
        &mut self,
        fields: &Fields,
        occurrence: Digest,
        artifact: Option<&[u8]>,
    ) -> Option<()> {
        let wanted = short(occurrence);
        let from = self.edges.partition_point(|edge| edge.occurrence < wanted);
        let edges = self.edges.get(from..).unwrap_or_default();
        let mut joined = 0;
        for edge in edges.iter().take_while(|edge| edge.occurrence == wanted) {
            let child = digest(artifact?, "art_")?;
            let path = fields.text(Field::LogicalPath)?;
            let relation = RELATIONS.get(usize::from(edge.relation))?;
            let found = ids::edge(&child, path, &occurrence, &edge.parent, relation);
            if short(found) != edge.id {
                return None;
            }
            joined += 1;
        }
        self.joined += joined;
        Some(())
    }

    /// A list is complete.
    pub fn end_list(&mut self, collection: Collection) {
        self.last.clear();
        match collection {
            Collection::Edges => self.edges.sort_unstable_by_key(|edge| edge.occurrence),
            Collection::Contradictions => {
                let paths = self.contradictions.iter().enumerate();
                self.contradicted = paths.map(|(at, row)| (row.path.clone(), at)).collect();
            }
            Collection::Nodes => {
                let nodes = &self.nodes;
                let known = |node: &Short| nodes.binary_search(node).is_ok();
                if !self.edges.iter().all(|edge| known(&short(edge.parent)))
                    || !self.contradictions.iter().all(|row| known(&row.parent))
                {
                    self.fail();
                }
            }
            Collection::Occurrences => {
                self.occurrences.sort_unstable();
                self.parents.sort_unstable();
                self.parents.dedup();
                let occurrences = &self.occurrences;
                let known = |parent: &Short| occurrences.binary_search(parent).is_ok();
                if !self.parents.iter().all(known) {
                    self.fail();
                }
            }
        }
    }

    /// Whether everything fits together, once all rows have passed.
    pub fn passes(&self, manifest: &Object) -> bool {
        !self.failed
            && self.root_node
            && self.root_occurrence
            && self.joined == self.edges.len()
            && self.contradicted.len() == self.contradictions.len()
            && self.settled == self.contradictions.len()
            && self
                .contradictions
                .iter()
                .all(|row| row.recomputes(manifest))
    }
}

impl Contradiction {
    fn recomputes(&self, manifest: &Object) -> bool {
        let root = match manifest.get("root_artifact_id") {
            Some(Value::String(root)) => digest(root.as_bytes(), "art_"),
            _ => None,
        };
        root.is_some_and(|root| {
            ids::contradiction(&self.declared, &self.path, &self.observed, &root) == self.id
        })
    }
}

fn id(fields: &Fields, field: Field, prefix: &str) -> Option<Digest> {
    digest(fields.text(field)?, prefix)
}

fn digest(id: &[u8], prefix: &str) -> Option<Digest> {
    Digest::from_hex(id.strip_prefix(prefix.as_bytes())?)
}

fn short(digest: Digest) -> Short {
    let mut short = Short::default();
    short.copy_from_slice(&digest.0[..16]);
    short
}

fn is(manifest: &Object, name: &str, text: &[u8]) -> bool {
    matches!(manifest.get(name), Some(Value::String(known)) if known.as_bytes() == text)
}
