//! `inspect_artifact`: an inventory, and what to look at next.

use std::path::Path;

use super::format::Format;
use super::graph::{Contradiction, Locations};
use super::ids;
use super::inventory::{Inventory, PROVIDER, inventory};
use super::options::Options;
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, Record};
use crate::json::{WriteJson, Writer};
use crate::operation::Context;

const STATIC_ONLY: &str = "Everything here was read from bytes without running them; it does not show what the software does when it runs.";

/// An operation worth running on the same artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextProbe {
    /// Its name in records.
    pub operation: &'static str,
    /// Why.
    pub rationale: &'static str,
    /// What its results rest on.
    pub authority: &'static str,
}

const JAVASCRIPT: NextProbe = NextProbe {
    operation: "analyze_javascript_application",
    rationale: "Recover the JavaScript modules, source maps and their relations.",
    authority: "ast-static-analysis",
};
const MANAGED: NextProbe = NextProbe {
    operation: "inspect_managed_artifact",
    rationale: "Tell a .NET assembly from a native executable and read its metadata.",
    authority: "managed-static-analysis",
};
const LAYOUT: NextProbe = NextProbe {
    operation: "inspect_binary_layout",
    rationale: "Read headers, sections, symbols and mitigations from the bytes.",
    authority: "artifact-bytes",
};
const WASM: NextProbe = NextProbe {
    operation: "inspect_wasm_artifact",
    rationale: "Read the module's sections, imports, exports and names.",
    authority: "artifact-bytes",
};
const NATIVE: NextProbe = NextProbe {
    operation: "open_binary",
    rationale: "Open it for analysis of functions and references.",
    authority: "native-analysis-provider",
};
const PLIST: NextProbe = NextProbe {
    operation: "inspect_plist",
    rationale: "Read its keys and values with their types.",
    authority: "artifact-bytes",
};

/// What to run next for a root of this format (contract 7.2, decision 27).
fn probes(format: Format) -> &'static [NextProbe] {
    match format {
        Format::Asar | Format::JavascriptBundle | Format::Directory => &[JAVASCRIPT],
        Format::Pe => &[MANAGED, LAYOUT, NATIVE],
        Format::MachO | Format::MachOUniversal | Format::Elf => &[LAYOUT, NATIVE],
        Format::Wasm => &[WASM],
        Format::Plist => &[PLIST],
        _ => &[],
    }
}

/// A guess that a follow-up could confirm, where the format suggests one.
fn hypothesis(format: Format) -> Option<&'static str> {
    match format {
        Format::Pe => Some("The executable may hold managed (.NET) code."),
        Format::Asar | Format::JavascriptBundle => {
            Some("The artifact may hold a JavaScript application whose modules can be recovered.")
        }
        _ => None,
    }
}

/// The inspection of one file or folder.
pub struct Inspection {
    inventory: Inventory,
    limitations: Vec<String>,
    inspection_id: Digest,
    id: EvidenceId,
}

/// Lists a file or folder and says what to look at next.
///
/// # Errors
/// Those of [`inventory`].
pub fn inspect(path: &Path, options: &Options, context: &Context) -> Result<Inspection> {
    let inventory = inventory(path, options, context)?;
    let mut limitations = inventory.limitations().to_vec();
    limitations.push(STATIC_ONLY.to_owned());
    limitations.sort();
    limitations.dedup();
    let mut inspection = Inspection {
        inventory,
        limitations,
        inspection_id: Digest([0; 32]),
        id: EvidenceId(Digest([0; 32])),
    };
    context.check()?;
    inspection.inspection_id = Digest::of_json(|w| inspection.write_result(None, w));
    context.check()?;
    inspection.id = inspection.with_draft(|draft| draft.id());
    Ok(inspection)
}

impl Inspection {
    /// The inventory it rests on.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// What to run next.
    pub fn next_probes(&self) -> &'static [NextProbe] {
        probes(self.root_role())
    }

    fn root_role(&self) -> Format {
        self.inventory.graph.root().role
    }

    fn write_result(&self, inspection_id: Option<&Digest>, w: &mut Writer<'_>) {
        let evidence = self.inventory.id();
        w.begin_object();
        w.key("contradictions");
        w.begin_array();
        for contradiction in self.inventory.graph.contradictions() {
            self.write_contradiction(contradiction, w);
        }
        w.end_array();
        w.key("coverage");
        self.write_coverage(w);
        w.member("evidence_links", [evidence]);
        w.key("hypotheses");
        w.begin_array();
        if let Some(statement) = hypothesis(self.root_role()) {
            self.write_hypothesis(statement, w);
        }
        w.end_array();
        if let Some(id) = inspection_id {
            w.key("inspection_id");
            w.id("ai_", id);
        }
        w.member("limitations", &self.limitations);
        w.member("next_probes", self.next_probes());
        w.key("observations");
        self.write_observations(w);
        w.key("subject");
        self.write_subject(w);
        w.key("substeps");
        self.write_substeps(w);
        w.key("unexplored_branches");
        self.write_branches(w);
        w.end_object();
    }

    fn write_contradiction(&self, contradiction: &Contradiction, w: &mut Writer<'_>) {
        let statement = format!(
            "The bytes of {} contradict the SHA-256 declared for them.",
            contradiction.path
        );
        let occurrence = self.inventory.graph.occurrence_of(contradiction);
        identified(w, |id, w| {
            w.begin_object();
            if let Some(id) = id {
                w.key("contradiction_id");
                w.id("aic_", id);
            }
            w.key("declared_sha256");
            w.id("", &contradiction.declared);
            w.member("evidence_id", self.inventory.id());
            w.key("observed_sha256");
            w.id("", &contradiction.observed);
            w.key("occurrence_id");
            w.id("occ_", &occurrence);
            w.member("statement", &statement);
            w.end_object();
        });
    }

    fn write_coverage(&self, w: &mut Writer<'_>) {
        let contradictions = self.inventory.graph.contradictions().len() as u64;
        let hypotheses = u64::from(hypothesis(self.root_role()).is_some());
        let probes = self.next_probes().len() as u64;
        let branches = self.branch_count();
        w.begin_object();
        for (omitted, retained, count) in [
            ("hypotheses_omitted", "hypotheses_retained", hypotheses),
            ("next_probes_omitted", "next_probes_retained", probes),
            (
                "observations_omitted",
                "observations_retained",
                1 + contradictions,
            ),
        ] {
            w.member(omitted, 0u64);
            w.member(retained, count);
        }
        let status = if self.inventory.complete {
            "complete-within-substeps"
        } else {
            "partial"
        };
        w.member("status", status);
        w.member("substeps_completed", 1u64);
        w.member("unexplored_branches_omitted", 0u64);
        w.member("unexplored_branches_retained", branches);
        w.end_object();
    }

    fn branch_count(&self) -> u64 {
        let unknown = u64::from(self.root_role() == Format::Unknown);
        self.next_probes().len() as u64 + unknown
    }

    fn write_hypothesis(&self, statement: &str, w: &mut Writer<'_>) {
        identified(w, |id, w| {
            w.begin_object();
            w.member("basis_evidence_ids", [self.inventory.id()]);
            w.member("confidence", "low");
            if let Some(id) = id {
                w.key("hypothesis_id");
                w.id("aih_", id);
            }
            w.key("limitation");
            w.string("It follows from the format alone; nothing inside was read to support it.");
            w.member("statement", statement);
            w.end_object();
        });
    }

    fn write_observations(&self, w: &mut Writer<'_>) {
        let graph = &self.inventory.graph;
        w.begin_array();
        let root = graph.root().artifact;
        self.write_observation(
            "root-manifest",
            ("art_", &root),
            &|w| graph.write_manifest(w),
            w,
        );
        for contradiction in graph.contradictions() {
            let id = graph.contradiction_id(contradiction);
            let value = |w: &mut Writer<'_>| graph.write_contradiction(contradiction, w);
            self.write_observation("integrity", ("ic_", &id), &value, w);
        }
        w.end_array();
    }

    fn write_observation(
        &self,
        kind: &str,
        subject: (&str, &Digest),
        value: &dyn Fn(&mut Writer<'_>),
        w: &mut Writer<'_>,
    ) {
        identified(w, |id, w| {
            w.begin_object();
            w.member("evidence_id", self.inventory.id());
            w.member("kind", kind);
            if let Some(id) = id {
                w.key("observation_id");
                w.id("aio_", id);
            }
            w.key("subject");
            w.id(subject.0, subject.1);
            w.key("value");
            value(w);
            w.end_object();
        });
    }

    fn write_subject(&self, w: &mut Writer<'_>) {
        let graph = &self.inventory.graph;
        w.begin_object();
        w.key("manifest_id");
        w.id("agm_", &graph.manifest_id);
        w.key("root_artifact_id");
        w.id("art_", &graph.root().artifact);
        w.member("root_format", self.inventory.root_format());
        w.key("root_sha256");
        w.id("", &graph.root().digest);
        w.end_object();
    }

    fn write_substeps(&self, w: &mut Writer<'_>) {
        let inventory = &self.inventory;
        let record = |w: &mut Writer<'_>| inventory.write_as(inventory.subject(true), w);
        ids::write_substeps("inventory_artifact", inventory.id(), record, w);
    }

    fn write_branches(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for probe in self.next_probes() {
            let detail = format!(
                "{} was not run; it is an operation of its own.",
                probe.operation
            );
            self.write_branch("format-specific-analysis-required", &detail, Some(probe), w);
        }
        if self.root_role() == Format::Unknown {
            let detail = "The format of the root is not known; nothing specific can be run on it.";
            self.write_branch("unknown-format", detail, None, w);
        }
        w.end_array();
    }

    fn write_branch(
        &self,
        reason: &str,
        detail: &str,
        probe: Option<&NextProbe>,
        w: &mut Writer<'_>,
    ) {
        identified(w, |id, w| {
            w.begin_object();
            if let Some(id) = id {
                w.key("branch_id");
                w.id("aib_", id);
            }
            w.member("detail", detail);
            w.member("evidence_id", self.inventory.id());
            w.member("next_probe", probe);
            w.member("reason", reason);
            w.end_object();
        });
    }
}

/// Writes an item under the hash of itself without its id.
fn identified(w: &mut Writer<'_>, write: impl Fn(Option<&Digest>, &mut Writer<'_>)) {
    let id = Digest::of_json(|w| write(None, w));
    write(Some(&id), w);
}

impl WriteJson for NextProbe {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("authority", self.authority);
        w.member("operation", self.operation);
        w.member("rationale", self.rationale);
        w.end_object();
    }
}

struct ResultOf<'a>(&'a Inspection);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.0.write_result(Some(&self.0.inspection_id), w);
    }
}

impl Drafted for Inspection {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(self.inventory.subject(false)),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "inspect_artifact",
            parameters: &self.inventory.options,
            normalized_result: &ResultOf(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &Locations(&self.inventory.graph),
            evidence_links: &[self.inventory.id()],
        })
    }
}
