//! Ids and counts inside artifact inventories, inspections and differences
//! that can be recomputed as the record streams by.
//!
//! | place | recipe |
//! |---|---|
//! | `manifest.graph_sha256` | hash of `{edges, integrity_contradictions, nodes, occurrences}` |
//! | `manifest.manifest_id` | `agm_`, hash of `{graph_sha256, root_artifact_id}` |
//! | `manifest.root_artifact_id`, `nodes[].artifact_id` | `art_`, hash of `{sha256}` |
//! | `occurrences[].occurrence_id` | `occ_`, hash of `{entry_kind, logical_path, root_artifact_id}`; for `.` of `{root}` |
//! | `inspection_id` | `ai_`, hash of the result without it |
//! | `substeps[].substep_id` | `ais_`, hash of `{evidence_id, operation}` |
//! | `observations[]`, `hypotheses[]`, `contradictions[]`, `unexplored_branches[]` | `aio_ aih_ aic_ aib_`, hash of the item without its id |
//! | `manifest.node_count`, `occurrence_count`, `edge_count` | lengths of the arrays |
//! | `extraction_manifest.files_sha256` | hash of `artifacts` |
//! | `extraction_manifest.extraction_id` | `aex_`, hash of the extraction manifest without it |
//! | `extraction_manifest.source_manifest_id` | `manifest.manifest_id` |
//!
//! Edges and integrity contradictions need other rows of the graph and are
//! covered by `graph_sha256` only.

use crate::digest::Digest;
use crate::json::append_escaped;

/// Longer strings are no id, count or operation.
pub(super) const CAPTURED: usize = 128;

/// The known containers below `normalized_result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// `normalized_result` itself.
    Result,
    Manifest,
    Nodes,
    Node,
    Occurrences,
    Occurrence,
    Edges,
    Items(ItemKind),
    Item(ItemKind),
    Substeps,
    Substep,
    /// `artifacts` of an extraction.
    Files,
    /// `extraction_manifest`
    Extraction,
}

/// The lists of an inspection whose items have ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Observation,
    Hypothesis,
    Contradiction,
    Branch,
}

impl ItemKind {
    /// The list's name, the id's name and the id's prefix.
    pub fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Observation => ("observations", "observation_id", "aio_"),
            Self::Hypothesis => ("hypotheses", "hypothesis_id", "aih_"),
            Self::Contradiction => ("contradictions", "contradiction_id", "aic_"),
            Self::Branch => ("unexplored_branches", "branch_id", "aib_"),
        }
    }

    const ALL: [Self; 4] = [
        Self::Observation,
        Self::Hypothesis,
        Self::Contradiction,
        Self::Branch,
    ];
}

/// Scalars that checks need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    GraphSha256,
    ManifestId,
    RootArtifactId,
    RootSha256,
    NodeCount,
    OccurrenceCount,
    EdgeCount,
    InspectionId,
    ExtractionId,
    FilesSha256,
    SourceManifestId,
    /// The id of the item, node, occurrence or substep that is open.
    Id,
    /// `sha256` of a node, `logical_path` of an occurrence, `evidence_id` of
    /// a substep.
    Key,
}

/// What comes in a place of a [`Zone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// A container.
    Zone(Zone),
    /// A scalar to remember.
    Field(Field),
    /// A record.
    Record,
    /// Nothing that is checked.
    Other,
}

impl Known {
    /// Whether it must be a number.
    pub fn is_count(self) -> bool {
        matches!(
            self,
            Self::Field(Field::NodeCount | Field::OccurrenceCount | Field::EdgeCount)
        )
    }
}

impl Zone {
    /// Whether it is an object (else an array).
    pub fn is_object(self) -> bool {
        !matches!(
            self,
            Self::Nodes
                | Self::Occurrences
                | Self::Edges
                | Self::Items(_)
                | Self::Substeps
                | Self::Files
        )
    }

    /// What the elements of an array are.
    pub fn element(self) -> Known {
        match self {
            Self::Nodes => Known::Zone(Zone::Node),
            Self::Occurrences => Known::Zone(Zone::Occurrence),
            Self::Items(kind) => Known::Zone(Zone::Item(kind)),
            Self::Substeps => Known::Zone(Zone::Substep),
            _ => Known::Other,
        }
    }

    /// What the member `name` of an object is.
    pub fn member(self, name: &[u8]) -> Known {
        match (self, name) {
            (Self::Result, b"manifest") => Known::Zone(Zone::Manifest),
            (Self::Result, b"nodes") => Known::Zone(Zone::Nodes),
            (Self::Result, b"occurrences") => Known::Zone(Zone::Occurrences),
            (Self::Result, b"edges") => Known::Zone(Zone::Edges),
            (Self::Result, b"substeps") => Known::Zone(Zone::Substeps),
            (Self::Result, b"inspection_id") => Known::Field(Field::InspectionId),
            (Self::Result, b"artifacts") => Known::Zone(Zone::Files),
            (Self::Result, b"extraction_manifest") => Known::Zone(Zone::Extraction),
            (Self::Extraction, b"extraction_id") => Known::Field(Field::ExtractionId),
            (Self::Extraction, b"files_sha256") => Known::Field(Field::FilesSha256),
            (Self::Extraction, b"source_manifest_id") => Known::Field(Field::SourceManifestId),
            (Self::Result, _) => ItemKind::ALL
                .into_iter()
                .find(|kind| kind.names().0.as_bytes() == name)
                .map_or(Known::Other, |kind| Known::Zone(Zone::Items(kind))),
            (Self::Manifest, b"graph_sha256") => Known::Field(Field::GraphSha256),
            (Self::Manifest, b"manifest_id") => Known::Field(Field::ManifestId),
            (Self::Manifest, b"root_artifact_id") => Known::Field(Field::RootArtifactId),
            (Self::Manifest, b"root_sha256") => Known::Field(Field::RootSha256),
            (Self::Manifest, b"node_count") => Known::Field(Field::NodeCount),
            (Self::Manifest, b"occurrence_count") => Known::Field(Field::OccurrenceCount),
            (Self::Manifest, b"edge_count") => Known::Field(Field::EdgeCount),
            (Self::Node, b"artifact_id") => Known::Field(Field::Id),
            (Self::Node, b"sha256") => Known::Field(Field::Key),
            (Self::Occurrence, b"occurrence_id") => Known::Field(Field::Id),
            (Self::Occurrence, b"logical_path") => Known::Field(Field::Key),
            (Self::Substep, b"substep_id") => Known::Field(Field::Id),
            (Self::Substep, b"evidence_id") => Known::Field(Field::Key),
            (Self::Substep, b"evidence") => Known::Record,
            (Self::Item(kind), _) if kind.names().1.as_bytes() == name => Known::Field(Field::Id),
            _ => Known::Other,
        }
    }
}

/// The values of the [`Field`]s: a string's WTF-8, or a number's digits.
#[derive(Debug, Default)]
pub(super) struct Fields([Captured; 13]);

#[derive(Debug, Default)]
struct Captured {
    there: bool,
    text: Vec<u8>,
}

impl Fields {
    pub fn set(&mut self, field: Field, value: Option<&[u8]>) {
        if let Some(slot) = self.0.get_mut(field as usize) {
            slot.there = value.is_some();
            slot.text.clear();
            slot.text.extend_from_slice(value.unwrap_or_default());
        }
    }

    pub fn get(&self, field: Field) -> Option<&[u8]> {
        let slot = self.0.get(field as usize)?;
        slot.there.then_some(slot.text.as_slice())
    }

    /// Whether the field is there and is `prefix` and the digest.
    pub fn is_id(&self, field: Field, prefix: &str, digest: Digest) -> bool {
        let text = self.get(field).unwrap_or_default();
        let mut hex = [0; 64];
        digest.write_hex(&mut hex);
        text.strip_prefix(prefix.as_bytes()) == Some(&hex)
    }
}

/// `art_` of a file with this SHA-256.
pub(super) fn artifact_digest(sha256: &[u8]) -> Digest {
    of_texts(&[("sha256", sha256)])
}

/// `agm_` of a manifest.
pub(super) fn manifest_digest(graph_sha256: &[u8], root_artifact_id: &[u8]) -> Digest {
    of_texts(&[
        ("graph_sha256", graph_sha256),
        ("root_artifact_id", root_artifact_id),
    ])
}

/// `occ_` of the root.
pub(super) fn root_occurrence_digest(root_artifact_id: &[u8]) -> Digest {
    of_texts(&[("root", root_artifact_id)])
}

/// The digest of an object of strings.
fn of_texts(members: &[(&str, &[u8])]) -> Digest {
    let mut text = Vec::with_capacity(256);
    for (at, (name, value)) in members.iter().enumerate() {
        text.extend_from_slice(if at == 0 { b"{\"" } else { b",\"" });
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"\":\"");
        append_escaped(&mut text, value);
        text.push(b'"');
    }
    text.push(b'}');
    Digest::of(&text)
}
