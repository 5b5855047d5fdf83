//! What the verifier knows of a record while it streams by.

use super::EvidenceId;
use super::canon::Tapped;
use super::graph::{Field, Fields, artifact_digest, manifest_digest, root_occurrence_digest};
use super::path::Pointer;
use super::problem::{Problem, Reason, Report, Stage, Status};
use super::verifier::Hash;
use crate::digest::Digest;
use crate::json::Text;

/// Problems that are listed one by one; more are counted.
const LISTED: usize = 100;

/// The message of a wrong id, which callers of operations match on.
const WRONG_ID: &str = "Evidence semantic identifier does not match its record";

/// Problems, the first hundred of them in full.
#[derive(Debug, Default)]
pub(super) struct Problems {
    listed: Vec<Problem>,
    more: u64,
}

impl Problems {
    pub fn add(&mut self, pointer: Pointer, stage: Stage, reason: Reason, message: &str) {
        if self.listed.len() >= LISTED {
            self.more += 1;
            return;
        }
        self.listed.push(Problem {
            pointer,
            stage,
            reason,
            message: message.to_owned(),
        });
    }

    fn has(&self, stage: Stage) -> bool {
        self.listed.iter().any(|problem| problem.stage == stage)
    }

    /// In the order of the checks.
    fn into_list(mut self) -> Vec<Problem> {
        self.listed.sort_by_key(|problem| problem.stage);
        if let Some(stage) = self.listed.last().map(|problem| problem.stage)
            && self.more > 0
        {
            self.listed.push(Problem {
                pointer: Pointer::default(),
                stage,
                reason: Reason::InvalidValue,
                message: format!("{} more problems are not listed", self.more),
            });
        }
        self.listed
    }
}

/// An open record.
#[derive(Debug)]
pub(super) struct RecordState {
    /// Containers around it.
    pub depth: usize,
    /// Where it stands, for a record inside another.
    pub pointer: Option<Pointer>,
    /// The number of the hash of its id.
    pub tap: usize,
    /// Containers around the free member that is open.
    pub free: Option<usize>,
    /// Whether too deep a value has been reported.
    pub too_deep: bool,
    /// Whether its result has an `inspection_id`.
    pub inspection: bool,
    pub problems: Problems,
    pub operation: Option<Text>,
    pub computed: Option<Digest>,
    pub profile: Option<Digest>,
    pub profile_claim: Option<Digest>,
    pub profile_provider: Option<Digest>,
    pub provider: Option<Digest>,
    /// The id of the record in the open substep, where there is one.
    pub nested_id: Option<Option<EvidenceId>>,
    pub graph: GraphState,
    claimed: Option<EvidenceId>,
}

impl RecordState {
    pub fn new(depth: usize, pointer: Option<Pointer>) -> Self {
        Self {
            depth,
            pointer,
            tap: usize::MAX,
            free: None,
            too_deep: false,
            inspection: false,
            problems: Problems::default(),
            operation: None,
            computed: None,
            profile: None,
            profile_claim: None,
            profile_provider: None,
            provider: None,
            nested_id: None,
            graph: GraphState::default(),
            claimed: None,
        }
    }

    /// The record gives its id.
    pub fn claim(&mut self, text: &[u8]) {
        self.claimed = EvidenceId::from_text(text);
    }

    /// The verdict. Hashes of a record whose shape is wrong mean nothing and
    /// are not compared.
    pub fn into_report(mut self, pointer: Option<Pointer>) -> Report {
        if !self.problems.has(Stage::Shape) {
            self.check_hashes();
        }
        let known = match self.operation.as_ref().and_then(Text::as_str) {
            Some("inventory_artifact" | "inspect_artifact" | "diff_artifacts") => {
                self.graph.finish();
                true
            }
            Some("extract_artifact") => {
                self.graph.finish_extraction();
                true
            }
            _ => false,
        };
        if known {
            let GraphState { problems, .. } = self.graph;
            self.problems.more += problems.more;
            for problem in problems.listed {
                self.problems.add(
                    problem.pointer,
                    problem.stage,
                    problem.reason,
                    &problem.message,
                );
            }
        }
        let problems = self.problems.into_list();
        Report {
            evidence_id: self.claimed,
            pointer,
            bundle: None,
            status: if problems.is_empty() {
                Status::Verified
            } else {
                Status::Invalid
            },
            problems,
            nested: Vec::new(),
        }
    }

    fn check_hashes(&mut self) {
        let profile = Pointer::default().member("analysis_profile");
        let mut add = |pointer, stage, message: &str| {
            self.problems
                .add(pointer, stage, Reason::InvalidValue, message);
        };
        if self.profile.is_some() {
            if self.profile != self.profile_claim {
                let message =
                    "digest of the analysis profile is not the hash of its parameters and provider";
                add(
                    profile.clone().member("digest"),
                    Stage::ProfileDigest,
                    message,
                );
            }
            if self.profile_provider != self.provider {
                let message = "the analysis profile is of another provider than the record";
                add(profile.member("provider"), Stage::ProfileProvider, message);
            }
        }
        if self.computed != self.claimed.map(|id| id.0) {
            let pointer = Pointer::default().member("evidence_id");
            add(pointer, Stage::EvidenceId, WRONG_ID);
        }
    }
}

/// What is known of an artifact graph or inspection.
#[derive(Debug, Default)]
pub(super) struct GraphState {
    pub fields: Fields,
    pub graph: Option<Digest>,
    pub files: Option<Digest>,
    pub extraction: Option<Digest>,
    pub nodes: Option<u64>,
    pub occurrences: Option<u64>,
    pub edges: Option<u64>,
    manifest: Option<Pointer>,
    problems: Problems,
}

impl GraphState {
    fn fail(&mut self, pointer: Pointer, message: &str) {
        self.problems
            .add(pointer, Stage::ArtifactGraph, Reason::InvalidValue, message);
    }

    /// An id that must be `prefix` and `digest`; `at` says where it stands.
    pub fn check_id(
        &mut self,
        field: Field,
        prefix: &str,
        digest: Digest,
        at: impl FnOnce() -> Pointer,
    ) {
        if !self.fields.is_id(field, prefix, digest) {
            self.fail(at(), "the id is not the hash of what it stands for");
        }
    }

    pub fn end_node(&mut self, at: impl FnOnce() -> Pointer) {
        let sha256 = self.fields.get(Field::Key).unwrap_or_default();
        let digest = artifact_digest(sha256);
        self.check_id(Field::Id, "art_", digest, || at().member("artifact_id"));
    }

    pub fn end_occurrence(&mut self, tapped: Tapped<Hash>, at: impl FnOnce() -> Pointer) {
        let root = self.fields.get(Field::RootArtifactId).unwrap_or_default();
        let digest = if self.fields.get(Field::Key) == Some(b".") {
            root_occurrence_digest(root)
        } else {
            tapped.digest_with(&[b",\"root_artifact_id\":\"", root, b"\"}"])
        };
        self.check_id(Field::Id, "occ_", digest, || at().member("occurrence_id"));
    }

    pub fn end_inspection(&mut self, digest: Digest, at: impl FnOnce() -> Pointer) {
        if self.fields.get(Field::InspectionId).is_some() {
            self.check_id(Field::InspectionId, "ai_", digest, || {
                at().member("inspection_id")
            });
        }
    }

    pub fn end_manifest(&mut self, at: Pointer) {
        let get = |field| self.fields.get(field).unwrap_or_default();
        let root = artifact_digest(get(Field::RootSha256));
        let manifest = manifest_digest(get(Field::GraphSha256), get(Field::RootArtifactId));
        self.check_id(Field::RootArtifactId, "art_", root, || {
            at.clone().member("root_artifact_id")
        });
        self.check_id(Field::ManifestId, "agm_", manifest, || {
            at.clone().member("manifest_id")
        });
        self.manifest = Some(at);
    }

    /// What an extraction says of itself.
    fn finish_extraction(&mut self) {
        let Some(extraction) = self.extraction.take() else {
            return;
        };
        let at = |name| {
            let result = Pointer::default().member("normalized_result");
            result.member("extraction_manifest").member(name)
        };
        self.check_id(Field::ExtractionId, "aex_", extraction, || {
            at("extraction_id")
        });
        if let Some(files) = self.files.take() {
            self.check_id(Field::FilesSha256, "", files, || at("files_sha256"));
        }
        if self.fields.get(Field::SourceManifestId) != self.fields.get(Field::ManifestId) {
            let message = "source_manifest_id is not that of the manifest";
            self.fail(at("source_manifest_id"), message);
        }
    }

    /// What can only be said when the whole result has passed.
    fn finish(&mut self) {
        let Some(at) = self.manifest.take() else {
            return;
        };
        let graph = self.graph.take();
        if graph.is_some_and(|graph| !self.fields.is_id(Field::GraphSha256, "", graph)) {
            let message = "graph_sha256 is not the hash of edges, integrity_contradictions, nodes and occurrences";
            self.fail(at.clone().member("graph_sha256"), message);
        }
        for (name, field, count) in [
            ("node_count", Field::NodeCount, self.nodes),
            ("occurrence_count", Field::OccurrenceCount, self.occurrences),
            ("edge_count", Field::EdgeCount, self.edges),
        ] {
            let claimed = self.fields.get(field).unwrap_or_default();
            if claimed != count.unwrap_or(0).to_string().as_bytes() {
                let message = "the count is not the length of the array";
                self.fail(at.clone().member(name), message);
            }
        }
    }
}
