//! The extraction as a record (artifacts.md section 7.3, decision 22).

use std::path::{Path, PathBuf};

use super::super::inventory::{Inventory, PROVIDER};
use super::super::options::Options;
use super::{Extraction, Written};
use crate::digest::Digest;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId};
use crate::json::{WriteJson, Writer};

/// What stands for the folder in records.
const OUTPUT_ROOT: &str = "$OUTPUT_ROOT";

/// What a record is made of.
pub(super) struct Parts {
    pub inventory: Inventory,
    pub rows: Vec<u32>,
    pub patterns: Vec<String>,
    pub unused: Vec<String>,
    pub limitations: Vec<String>,
    pub output_root: PathBuf,
}

impl Extraction {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts {
            inventory,
            rows,
            patterns,
            unused,
            limitations,
            output_root,
        } = parts;
        let mut extraction = Self {
            inventory,
            rows,
            patterns,
            unused,
            limitations,
            output_root,
            files_sha256: Digest([0; 32]),
            extraction_id: Digest([0; 32]),
            id: EvidenceId(Digest([0; 32])),
        };
        extraction.files_sha256 = Digest::of_json(|w| extraction.write_artifacts(w));
        extraction.extraction_id = Digest::of_json(|w| extraction.write_manifest(None, w));
        extraction.id = extraction.with_draft(|draft| draft.id());
        extraction
    }

    /// The inventory that was extracted from.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Patterns that selected nothing, as they were written. The record holds
    /// their number.
    pub fn unused_patterns(&self) -> &[String] {
        &self.unused
    }

    /// Where the files are: an absolute path without links in it.
    pub fn output_root(&self) -> &Path {
        &self.output_root
    }

    /// What was not written, and what the inventory did not look at.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }

    /// All files, by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = Written<'_>> {
        let graph = &self.inventory.graph;
        self.rows.iter().map(|&row| {
            let known = graph.rows.get(row as usize);
            Written {
                path: graph.path(row as usize),
                size: known.map_or(0, |row| row.size),
                sha256: known.map_or(Digest([0; 32]), |row| row.digest),
            }
        })
    }

    fn write_artifacts(&self, w: &mut Writer<'_>) {
        let graph = &self.inventory.graph;
        w.begin_array();
        for (file, &row) in self.files().zip(&self.rows) {
            w.begin_object();
            w.key("artifact_id");
            match graph.rows.get(row as usize) {
                Some(row) => w.id("art_", &row.artifact),
                None => w.null(),
            }
            w.member("bytes_written", file.size);
            w.member("created", true);
            w.member("relative_path", file.path);
            w.key("sha256");
            w.id("", &file.sha256);
            w.end_object();
        }
        w.end_array();
    }

    fn write_manifest(&self, extraction_id: Option<&Digest>, w: &mut Writer<'_>) {
        let graph = &self.inventory.graph;
        let mut occurrences: Vec<Digest> = self
            .rows
            .iter()
            .map(|&row| graph.occurrence_digest(row as usize))
            .collect();
        occurrences.sort_unstable();
        w.begin_object();
        if let Some(id) = extraction_id {
            w.key("extraction_id");
            w.id("aex_", id);
        }
        w.key("files_sha256");
        w.id("", &self.files_sha256);
        w.member("output_root_alias", OUTPUT_ROOT);
        w.key("selected_occurrence_ids");
        w.begin_array();
        for occurrence in &occurrences {
            w.id("occ_", occurrence);
        }
        w.end_array();
        w.key("source_manifest_id");
        w.id("agm_", &graph.manifest_id);
        w.end_object();
    }
}

/// `parameters`: those of the inventory, and the patterns where there are any.
struct Parameters<'a> {
    options: &'a Options,
    patterns: &'a [String],
}

impl WriteJson for Parameters<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        self.options.write_members(w);
        if !self.patterns.is_empty() {
            w.member("path", self.patterns);
        }
        w.end_object();
    }
}

/// One artifact path a file.
struct Locations<'a>(&'a Extraction);

impl WriteJson for Locations<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for file in self.0.files() {
            w.begin_object();
            w.member("kind", "artifact-path");
            w.member("path", file.path);
            w.end_object();
        }
        w.end_array();
    }
}

struct ResultOf<'a>(&'a Extraction);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let extraction = self.0;
        let graph = &extraction.inventory.graph;
        w.begin_object();
        w.key("artifacts");
        extraction.write_artifacts(w);
        w.key("cleanup");
        w.begin_object();
        w.member("attempted", false);
        w.key("residual_paths");
        w.begin_array();
        w.end_array();
        w.member("verified", true);
        w.end_object();
        w.member("containment_verified", true);
        w.key("extraction_manifest");
        extraction.write_manifest(Some(&extraction.extraction_id), w);
        w.key("integrity_contradictions");
        w.begin_array();
        for contradiction in graph.contradictions() {
            let row = graph.find(&contradiction.path).map(|row| row as u32);
            if row.is_some_and(|row| extraction.rows.binary_search(&row).is_ok()) {
                graph.write_contradiction(contradiction, w);
            }
        }
        w.end_array();
        w.member("limitations", &extraction.limitations);
        w.key("manifest");
        graph.write_manifest(w);
        w.member("output_root", OUTPUT_ROOT);
        w.key("provenance");
        w.begin_array();
        w.end_array();
        w.end_object();
    }
}

impl Drafted for Extraction {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(self.inventory.subject(false)),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "extract_artifact",
            parameters: &Parameters {
                options: &self.inventory.options,
                patterns: &self.patterns,
            },
            normalized_result: &ResultOf(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &Locations(self),
            evidence_links: &[],
        })
    }
}
