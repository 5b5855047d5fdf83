//! `inventory_artifact`: what is inside, as a graph with identities.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::assembly::Assembly;
use super::containers::Fault;
use super::engine;
use super::fault::{damage_limitation, fault_error, table_limitation};
use super::format::{EntryKind, Format};
use super::graph::{Graph, Locations, UNKNOWN};
use super::options::Options;
use super::plan::Plan;
use super::root::{self, Root};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::{Authority, Confidence, Draft, EvidenceId, Provider, Record, Subject};
use crate::json::{WriteJson, Writer};
use crate::operation::Context;

/// Who makes artifact records.
pub const PROVIDER: Provider = Provider {
    id: "rea-artifact-graph",
    name: "rea artifact graph",
    version: "2",
};

/// The inventory of one file or folder: every entry of it, and of the
/// containers inside it, with digests, roles and identities.
pub struct Inventory {
    pub(super) graph: Graph,
    pub(super) options: Options,
    pub(super) limitations: Vec<String>,
    pub(super) scope: &'static str,
    pub(super) complete: bool,
    name: String,
    local_path: String,
    id: EvidenceId,
}

/// One entry, for reports.
#[derive(Clone, Debug)]
pub struct RowView<'a> {
    /// Logical path; the root is `.`.
    pub path: &'a str,
    /// `file`, `directory`, `symlink` or `slice`.
    pub entry_kind: &'static str,
    /// The part it plays.
    pub artifact_kind: &'static str,
    /// What it is.
    pub artifact_format: &'static str,
    /// Bytes of content, where it was read.
    pub size: Option<u64>,
    /// Stored bytes, where the container tells.
    pub compressed_size: Option<u64>,
    /// Whether an execute bit is recorded.
    pub executable: bool,
    /// Whether it is encrypted.
    pub encrypted: bool,
    /// `verified`, `mismatched` or `unavailable`.
    pub hash_status: &'static str,
    /// SHA-256 of the content, where it was read.
    pub sha256: Option<Digest>,
    /// What is to be said of it.
    pub limitations: Vec<String>,
}

impl Inventory {
    /// Seals a graph into a record about the path as it was given.
    pub(super) fn new(
        graph: Graph,
        options: &Options,
        limitations: Vec<String>,
        scope: &'static str,
        complete: bool,
        shown: &str,
    ) -> Self {
        let name = shown
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        let mut inventory = Self {
            graph,
            options: options.clone(),
            limitations,
            scope,
            complete,
            name: if name.is_empty() {
                "artifact".to_owned()
            } else {
                name.to_owned()
            },
            local_path: shown.to_owned(),
            id: EvidenceId(Digest([0; 32])),
        };
        inventory.id = inventory.with_draft(inventory.subject(false), |draft| draft.id());
        inventory
    }

    /// The path as it was given.
    pub fn local_path(&self) -> &str {
        &self.local_path
    }

    /// The root's format.
    pub fn root_format(&self) -> &'static str {
        self.graph.root().role.as_str()
    }

    /// The root's SHA-256; for folders that of the contract's recipe.
    pub fn root_sha256(&self) -> Digest {
        self.graph.root().digest
    }

    /// `complete` or `unknown`.
    pub fn coverage_status(&self) -> &'static str {
        if self.complete { "complete" } else { "unknown" }
    }

    /// What was not looked at, or is uncertain.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }

    /// Entries, the root included.
    pub fn occurrence_count(&self) -> usize {
        self.graph.rows.len()
    }

    /// Distinct contents.
    pub fn node_count(&self) -> usize {
        self.graph.node_count()
    }

    /// All entries in logical order.
    pub fn rows(&self) -> impl Iterator<Item = RowView<'_>> {
        self.graph
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| RowView {
                path: self.graph.path(index),
                entry_kind: row.entry_kind.as_str(),
                artifact_kind: row.kind.as_str(),
                artifact_format: row.role.as_str(),
                size: (row.has_artifact && row.entry_kind != EntryKind::Directory)
                    .then_some(row.size),
                compressed_size: (row.compressed_size != UNKNOWN).then_some(row.compressed_size),
                executable: row.is_executable(),
                encrypted: row.encrypted,
                hash_status: row.status.as_str(),
                sha256: row.has_artifact.then_some(row.digest),
                limitations: self
                    .graph
                    .limitations(index)
                    .into_iter()
                    .map(|limitation| limitation.text.into_owned())
                    .collect(),
            })
    }

    pub(super) fn subject(&self, nested: bool) -> Subject {
        Subject {
            name: if nested {
                "artifact".to_owned()
            } else {
                self.name.clone()
            },
            sha256: self.root_sha256(),
            format: self.root_format(),
            architecture: None,
            local_path: if nested {
                String::new()
            } else {
                self.local_path.clone()
            },
        }
    }

    /// Writes the record under `subject`; nested records carry no path.
    pub(super) fn write_as(&self, subject: Subject, w: &mut Writer<'_>) {
        self.with_draft(subject, |draft| draft.write_record(self.id, w));
    }

    fn with_draft<T>(&self, subject: Subject, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(subject),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "inventory_artifact",
            parameters: &self.options,
            normalized_result: &ResultOf(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &Locations(&self.graph),
            evidence_links: &[],
        })
    }
}

impl Record for Inventory {
    fn id(&self) -> EvidenceId {
        self.id
    }

    fn write_record(&self, w: &mut Writer<'_>) {
        self.write_as(self.subject(false), w);
    }
}

/// `normalized_result`
struct ResultOf<'a>(&'a Inventory);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let inventory = self.0;
        w.begin_object();
        w.key("coverage");
        w.begin_object();
        w.member("scope", inventory.scope);
        w.member("status", inventory.coverage_status());
        w.end_object();
        w.key("edges");
        inventory.graph.write_edges(w);
        w.key("integrity_contradictions");
        inventory.graph.write_contradictions(w);
        w.member("limitations", &inventory.limitations);
        w.key("manifest");
        inventory.graph.write_manifest(w);
        w.key("nodes");
        inventory.graph.write_nodes(w);
        w.key("occurrences");
        inventory.graph.write_occurrences(w);
        w.key("provenance");
        w.begin_array();
        w.end_array();
        w.end_object();
    }
}

/// Lists a file or folder and everything inside it.
///
/// # Errors
/// `target_unavailable` where the path does not exist, `access_denied`,
/// `artifact_operation_failed` (reasons `format`, `integrity`, `io`),
/// `artifact_integrity_mismatch`, `artifact_changed`, `truncated` where a
/// budget is reached at the root, `cancelled`.
pub fn inventory(path: &Path, options: &Options, context: &Context) -> Result<Inventory> {
    walk(path, options, context, Needs::Nothing).map(|walked| walked.inventory)
}

/// An inventory, and what a second walk needs.
pub(super) struct Walked {
    pub inventory: Inventory,
    /// Where the members are, if that is needed.
    pub plan: Option<Plan>,
    /// The root file as it was.
    pub stamp: Option<(Arc<File>, [i64; 4])>,
}

/// What is needed beside the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// Where the members are; what has none is refused.
    Members,
    /// Where the members are, if there are any.
    PlanIfMembers,
}

/// [`inventory`], and what else is needed.
pub(super) fn walk(
    path: &Path,
    options: &Options,
    context: &Context,
    needs: Needs,
) -> Result<Walked> {
    let shown = root::show(path);
    let root = root::open_root(path, &shown, options, context)?;
    if needs == Needs::Members && root.container.is_none() {
        return Err(no_members(&shown, context));
    }
    let Root {
        container,
        file,
        mut row,
        damage,
        behind,
        stamp,
    } = root;
    let fail = |fault: Fault, member: Option<&str>| {
        root::unchanged(&stamp, &shown, context)
            .err()
            .unwrap_or_else(|| fault_error(fault, &shown, member, context.operation))
    };
    let mut tree =
        engine::run(container, file, options, context).map_err(|fault| fail(fault, None))?;
    root::unchanged(&stamp, &shown, context)?;
    row.digest = tree.root_digest;
    row.has_children = tree.root.is_some();
    let mut assembly = Assembly::new(options);
    assembly.plan = (needs != Needs::Nothing).then(Plan::new);
    if let Some(damage) = damage {
        assembly.complete = false;
        assembly.limitations.push(match row.format {
            Format::MachOUniversal => table_limitation(&damage),
            _ => damage_limitation(&damage),
        });
    }
    if let Some((index, fault)) = tree.root.as_ref().and_then(|root| root.take_fault()) {
        if behind && matches!(fault, Fault::Damage(_)) {
            // What stands in front is no container, so nothing is damaged.
            tree.root = None;
            row.has_children = false;
            assembly.complete = false;
            assembly.limitations.push(damage_limitation(&fault));
        } else {
            let root = tree.root.as_ref();
            let member = root
                .map(|root| root.paths().get(index as usize).to_owned())
                .filter(|member| !member.is_empty());
            return Err(fail(fault, member.as_deref()));
        }
    }
    assembly.collect(&tree).map_err(|fault| fail(fault, None))?;
    context.check()?;
    let plan = assembly.plan.take().filter(|_| tree.root.is_some());
    if needs == Needs::Members && plan.is_none() {
        return Err(no_members(&shown, context));
    }
    let inventory = assembly.into_inventory(row, &tree, &shown, context)?;
    Ok(Walked {
        inventory,
        plan,
        stamp,
    })
}

fn no_members(shown: &str, context: &Context) -> Error {
    let reason = "it is no container whose members can be read";
    Error::new(Code::UnsupportedTarget, format!("{shown}: {reason}"))
        .action("Give a folder, an archive, a package or a compressed stream.")
        .detail("operation", context.operation)
        .detail("path", shown)
        .detail("reason", reason)
}
