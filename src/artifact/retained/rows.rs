//! Rows of an inventory as they are read, each in as few bytes as it needs.

use super::words::{Numbered, Words};
use super::zones::{Zone, envelope};
use super::{NONE, Nature, Node, Occurrence, Role, find_node};
use crate::digest::Digest;
use crate::evidence::EvidenceId;

/// A value of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Got {
    #[default]
    Missing,
    Null,
    Flag(bool),
    Count(u64),
    Id(Digest),
    /// A number of [`Words`].
    Word(u32),
}

impl Got {
    pub fn id(self) -> Option<Digest> {
        match self {
            Self::Id(digest) => Some(digest),
            _ => None,
        }
    }

    pub fn count(self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(count),
            _ => None,
        }
    }

    fn word(self) -> u32 {
        match self {
            Self::Word(word) => word,
            _ => NONE,
        }
    }
}

/// An edge before the occurrences are known.
#[derive(Debug)]
pub(super) struct RawEdge {
    pub id: Digest,
    pub occurrence: Digest,
    /// A number of [`Parts::artifacts`].
    pub parent: u32,
    pub relation: u32,
    pub producer: u32,
}

/// A contradiction as it was read.
#[derive(Debug)]
pub(super) struct RawContradiction {
    pub id: Digest,
    pub occurrence: Digest,
    pub parent: Digest,
    pub path: String,
    pub declared: Digest,
    pub observed: Digest,
}

/// What of a record is not its result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Envelope(pub [Got; envelope::COUNT]);

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub outer: Envelope,
    /// The record inside an inspection.
    pub inner: Option<Envelope>,
    pub words: Words,
    pub rows: Rows,
    /// The first thing that is not as it must be.
    pub problem: Option<String>,
}

/// The inventory's own rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub manifest: Option<[Got; 8]>,
    pub coverage: Option<[Got; 2]>,
    pub limitations: Option<Vec<String>>,
    pub natures: Numbered<Nature>,
    pub roles: Numbered<Role>,
    pub nodes: Option<Vec<Node>>,
    pub occurrences: Option<Vec<Occurrence>>,
    pub arena: String,
    pub unresolved: Vec<(u32, Digest)>,
    /// Parents of occurrences, by number.
    pub parents: Numbered<Digest>,
    /// Parents of edges, by number.
    pub artifacts: Numbered<Digest>,
    pub edges: Option<Vec<RawEdge>>,
    pub contradictions: Option<Vec<RawContradiction>>,
}

/// The fields of an object by their numbers in its zone's table.
pub(super) type Fields = [Got; 16];

/// Whether a row was kept, or why not.
type Kept = Result<(), String>;

fn unordered(rows: &str, by: &str) -> String {
    format!("{rows} must be in ascending order of {by}, each once")
}

/// Rows and bytes of paths are numbered in 32 bits.
fn count(count: usize) -> Kept {
    if count < NONE as usize {
        Ok(())
    } else {
        Err("it has more entries than can be compared".to_owned())
    }
}

impl Rows {
    /// Keeps an object whose fields are all there.
    pub fn keep(&mut self, zone: Zone, fields: &Fields, path: &str, words: &mut Words) -> Kept {
        match zone {
            Zone::Coverage => self.keep_coverage(fields),
            Zone::Manifest => self.keep_manifest(fields),
            Zone::Node => self.keep_node(fields),
            Zone::Occurrence => self.keep_occurrence(fields, path, words),
            Zone::Edge => self.keep_edge(fields),
            Zone::Contradiction => self.keep_contradiction(fields, path),
            _ => Ok(()),
        }
    }

    fn keep_coverage(&mut self, fields: &Fields) -> Kept {
        let [scope, status, ..] = *fields;
        self.coverage = Some([scope, status]);
        Ok(())
    }

    fn keep_manifest(&mut self, fields: &Fields) -> Kept {
        let mut manifest = [Got::Missing; 8];
        manifest.copy_from_slice(fields.get(..8).unwrap_or(&[Got::Missing; 8]));
        self.manifest = Some(manifest);
        Ok(())
    }

    fn keep_node(&mut self, fields: &Fields) -> Kept {
        let [
            architecture,
            id,
            state,
            format,
            limitations,
            media_type,
            _,
            size,
            ..,
        ] = *fields;
        let (Some(id), Some(size), Some(nodes)) = (id.id(), size.count(), &mut self.nodes) else {
            return Ok(());
        };
        if nodes.last().is_some_and(|last: &Node| last.id >= id) {
            return Err(unordered("nodes", "artifact_id"));
        }
        let nature = Nature {
            format: format.word(),
            media_type: media_type.word(),
            architecture: architecture.word(),
            state: state.word(),
            limitations: limitations.word(),
        };
        nodes.push(Node {
            id,
            size,
            nature: self.natures.number(nature),
        });
        count(nodes.len())
    }

    fn keep_occurrence(&mut self, fields: &Fields, path: &str, words: &mut Words) -> Kept {
        let [
            format,
            artifact,
            kind,
            compressed,
            _,
            encrypted,
            entry_kind,
            executable,
            status,
            limitations,
            _,
            mode,
            id,
            parent,
            ..,
        ] = *fields;
        let mode = match mode {
            Got::Word(word) => word,
            _ => words.number("null"),
        };
        let (Some(id), Some(occurrences)) = (id.id(), &mut self.occurrences) else {
            return Ok(());
        };
        let last = occurrences.len().checked_sub(1).map(|last| {
            let start = last
                .checked_sub(1)
                .and_then(|before| occurrences.get(before))
                .map_or(0, |before| before.end as usize);
            self.arena.get(start..).unwrap_or_default()
        });
        if path.is_empty() || last.is_some_and(|last| last >= path) {
            return Err(unordered("occurrences", "logical_path"));
        }
        let role = Role {
            entry_kind: entry_kind.word(),
            kind: kind.word(),
            format: format.word(),
            status: status.word(),
            limitations: limitations.word(),
            mode,
            executable: executable == Got::Flag(true),
            encrypted: encrypted == Got::Flag(true),
        };
        self.arena.push_str(path);
        let at = occurrences.len() as u32;
        let nodes = self.nodes.as_deref().unwrap_or_default();
        let node = artifact.id().map_or(NONE, |artifact| {
            find_node(nodes, &artifact).unwrap_or_else(|| {
                self.unresolved.push((at, artifact));
                NONE
            })
        });
        occurrences.push(Occurrence {
            id,
            compressed: compressed.count().unwrap_or(u64::MAX),
            end: self.arena.len() as u32,
            node,
            role: self.roles.number(role),
            parent: parent
                .id()
                .map_or(NONE, |parent| self.parents.number(parent)),
        });
        count(self.arena.len())?;
        count(occurrences.len())
    }

    fn keep_edge(&mut self, fields: &Fields) -> Kept {
        let [id, occurrence, _, parent, producer, relation, ..] = *fields;
        let (Some(id), Some(occurrence), Some(parent), Some(edges)) =
            (id.id(), occurrence.id(), parent.id(), &mut self.edges)
        else {
            return Ok(());
        };
        if edges.last().is_some_and(|last: &RawEdge| last.id >= id) {
            return Err(unordered("edges", "edge_id"));
        }
        edges.push(RawEdge {
            id,
            occurrence,
            parent: self.artifacts.number(parent),
            relation: relation.word(),
            producer: producer.word(),
        });
        count(edges.len())
    }

    fn keep_contradiction(&mut self, fields: &Fields, path: &str) -> Kept {
        let [id, declared, _, observed, occurrence, parent, ..] = *fields;
        let all = [id, declared, observed, occurrence, parent].map(Got::id);
        let [
            Some(id),
            Some(declared),
            Some(observed),
            Some(occurrence),
            Some(parent),
        ] = all
        else {
            return Ok(());
        };
        if let Some(contradictions) = &mut self.contradictions {
            contradictions.push(RawContradiction {
                id,
                occurrence,
                parent,
                path: path.to_owned(),
                declared,
                observed,
            });
        }
        Ok(())
    }
}
/// The id of a record, once it was read.
pub(super) fn evidence_id(envelope: &Envelope) -> Option<EvidenceId> {
    let [id, ..] = envelope.0;
    id.id().map(EvidenceId)
}
