//! Where the reader is in a record, and what may stand there, as tables.
//!
//! Members that no table names are not looked at: a contract may be extended
//! by new members.

/// The known arrays and objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    Record,
    Subject,
    SubjectDigest,
    Result,
    Coverage,
    Limitations,
    Manifest,
    Nodes,
    Node,
    Occurrences,
    Occurrence,
    Edges,
    Edge,
    Contradictions,
    Contradiction,
    Substeps,
    Substep,
}

/// What a member must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A string.
    Word,
    /// A string that is there only where it says something.
    OptionalWord,
    /// The logical path.
    Path,
    /// Any JSON.
    Any,
    /// A whole number from 0 to 2^53-1.
    Count,
    /// The same, or `null`.
    OptionalCount,
    /// A prefix and 64 hexadecimal digits.
    Id(&'static str),
    /// The same, or `null`.
    OptionalId(&'static str),
    /// `true` or `false`.
    Flag,
}

/// What comes in a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Nothing that is looked at.
    #[default]
    Other,
    Zone(Zone),
    /// The field of this number in the zone's table.
    Field(usize, Rule),
    /// One limitation of the result.
    Limitation,
}

use Rule::{Any, Count, Flag, Id, OptionalCount, OptionalId, OptionalWord, Path, Word};

/// Names and rules in canonical order.
pub(crate) type Table = &'static [(&'static str, Rule)];

pub(crate) mod envelope {
    //! Numbers of the fields of a record; the first is its id.
    pub const OPERATION: usize = 1;
    pub const PARAMETERS: usize = 2;
    pub const PROVIDER: usize = 3;
    pub const SUBJECT_FORMAT: usize = 4;
    pub const SUBJECT_SHA256: usize = 5;
    pub const COUNT: usize = 6;
}

const RECORD: Table = &[
    ("evidence_id", Id("ev_")),
    ("operation", Word),
    ("parameters", Any),
    ("provider", Any),
];
const COVERAGE: Table = &[("scope", Word), ("status", Word)];
const MANIFEST: Table = &[
    ("edge_count", Count),
    ("graph_sha256", Id("")),
    ("manifest_id", Id("agm_")),
    ("node_count", Count),
    ("occurrence_count", Count),
    ("root_artifact_id", Id("art_")),
    ("root_format", Word),
    ("root_sha256", Id("")),
];
const NODE: Table = &[
    ("architecture", Any),
    ("artifact_id", Id("art_")),
    ("content_state", Word),
    ("format", Word),
    ("limitations", Any),
    ("media_type", Any),
    ("sha256", Id("")),
    ("size", Count),
];
const OCCURRENCE: Table = &[
    ("artifact_format", Word),
    ("artifact_id", OptionalId("art_")),
    ("artifact_kind", Word),
    ("compressed_size", OptionalCount),
    ("declared_size", OptionalCount),
    ("encrypted", Flag),
    ("entry_kind", Word),
    ("executable", Flag),
    ("hash_status", Word),
    ("limitations", Any),
    ("logical_path", Path),
    ("mode", OptionalWord),
    ("occurrence_id", Id("occ_")),
    ("parent_occurrence_id", OptionalId("occ_")),
];
const EDGE: Table = &[
    ("edge_id", Id("edge_")),
    ("occurrence_id", Id("occ_")),
    ("ordinal", Count),
    ("parent_artifact_id", Id("art_")),
    ("producer", Any),
    ("relation", Word),
];
const CONTRADICTION: Table = &[
    ("contradiction_id", Id("ic_")),
    ("declared_sha256", Id("")),
    ("logical_path", Path),
    ("observed_sha256", Id("")),
    ("occurrence_id", Id("occ_")),
    ("parent_artifact_id", Id("art_")),
];

impl Zone {
    /// Whether it is an object (else an array).
    pub fn is_object(self) -> bool {
        !matches!(
            self,
            Self::Limitations
                | Self::Nodes
                | Self::Occurrences
                | Self::Edges
                | Self::Contradictions
                | Self::Substeps
        )
    }

    /// What an element of an array is.
    pub fn element(self) -> Slot {
        match self {
            Self::Limitations => Slot::Limitation,
            Self::Nodes => Slot::Zone(Self::Node),
            Self::Occurrences => Slot::Zone(Self::Occurrence),
            Self::Edges => Slot::Zone(Self::Edge),
            Self::Contradictions => Slot::Zone(Self::Contradiction),
            Self::Substeps => Slot::Zone(Self::Substep),
            _ => Slot::Other,
        }
    }

    /// The scalars of an object.
    pub fn table(self) -> Table {
        match self {
            Self::Record => RECORD,
            Self::Coverage => COVERAGE,
            Self::Manifest => MANIFEST,
            Self::Node => NODE,
            Self::Occurrence => OCCURRENCE,
            Self::Edge => EDGE,
            Self::Contradiction => CONTRADICTION,
            _ => &[],
        }
    }

    /// What the member `name` of an object is; `next` is where it stands in
    /// the table if nothing is left out.
    pub fn member(self, name: &[u8], next: usize) -> Slot {
        let table = self.table();
        let same = |field: &&(&str, Rule)| field.0.as_bytes() == name;
        if let Some(field) = table.get(next).filter(same) {
            return Slot::Field(next, field.1);
        }
        if let Some(at) = table.iter().position(|field| same(&field)) {
            return table
                .get(at)
                .map_or(Slot::Other, |field| Slot::Field(at, field.1));
        }
        match (self, name) {
            (Self::Record, b"normalized_result") => Slot::Zone(Self::Result),
            (Self::Record, b"subject") => Slot::Zone(Self::Subject),
            (Self::Subject, b"digest") => Slot::Zone(Self::SubjectDigest),
            (Self::Subject, b"format") => Slot::Field(envelope::SUBJECT_FORMAT, Word),
            (Self::SubjectDigest, b"sha256") => Slot::Field(envelope::SUBJECT_SHA256, Id("")),
            (Self::Result, b"coverage") => Slot::Zone(Self::Coverage),
            (Self::Result, b"edges") => Slot::Zone(Self::Edges),
            (Self::Result, b"integrity_contradictions") => Slot::Zone(Self::Contradictions),
            (Self::Result, b"limitations") => Slot::Zone(Self::Limitations),
            (Self::Result, b"manifest") => Slot::Zone(Self::Manifest),
            (Self::Result, b"nodes") => Slot::Zone(Self::Nodes),
            (Self::Result, b"occurrences") => Slot::Zone(Self::Occurrences),
            (Self::Result, b"substeps") => Slot::Zone(Self::Substeps),
            (Self::Substep, b"evidence") => Slot::Zone(Self::Record),
            _ => Slot::Other,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Subject | Self::SubjectDigest => "subject",
            Self::Result => "normalized_result",
            Self::Coverage => "coverage",
            Self::Limitations => "limitations",
            Self::Manifest => "manifest",
            Self::Nodes | Self::Node => "nodes",
            Self::Occurrences | Self::Occurrence => "occurrences",
            Self::Edges | Self::Edge => "edges",
            Self::Contradictions | Self::Contradiction => "integrity_contradictions",
            Self::Substeps | Self::Substep => "substeps",
        }
    }
}

impl Rule {
    /// What is acceptable, as the end of a sentence.
    pub fn describe(self) -> String {
        match self {
            Word | OptionalWord | Path => "a string of whole characters".to_owned(),
            Any => "any JSON value".to_owned(),
            Count => "a whole number".to_owned(),
            OptionalCount => "a whole number or null".to_owned(),
            Id(prefix) => format!("{prefix}64 hexadecimal digits"),
            OptionalId(prefix) => format!("{prefix}64 hexadecimal digits or null"),
            Flag => "true or false".to_owned(),
        }
    }

    /// Whether a member under this rule may be left out.
    pub fn is_optional(self) -> bool {
        self == OptionalWord
    }
}
