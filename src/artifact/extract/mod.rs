//! `extract_artifact`: members as files, each checked against the inventory
//! (artifacts.md section 7.3).
//!
//! The artifact is inventoried, then read a second time; that time the bytes
//! of the selected members go into a fresh folder beside the destination,
//! under their logical paths. What was written is read back and compared, and
//! only then does the folder get its name. Until then its name says that it is
//! incomplete, whatever ends the work.

mod members;
mod place;
mod record;
mod select;
mod tree;
mod walk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::containers::{Fault, Limit};
use super::fault::fault_error;
use super::glob::Glob;
use super::graph::Graph;
use super::inventory::{Inventory, Needs, Walked, walk as inventory_walk};
use super::options::Options;
use crate::digest::Digest;
use crate::error::{ArtifactReason, Error, Result};
use crate::evidence::EvidenceId;
use crate::operation::Context;
pub(super) use members::Readable;
use tree::Tree;

/// What to write, and where.
#[derive(Clone, Debug, Default)]
pub struct ExtractionRequest {
    /// Patterns of logical paths. Without any, the root's own members are
    /// written and containers among them stay files.
    pub patterns: Vec<Glob>,
    /// A folder that does not exist yet, not inside of the artifact; without
    /// one, a fresh folder in the temporary folder.
    pub into: Option<PathBuf>,
}

/// Files that were written, ready to be a record.
pub struct Extraction {
    inventory: Inventory,
    /// Rows of the graph, ascending, and so in the order of their paths.
    rows: Vec<u32>,
    /// Canonical spellings, sorted, each once.
    patterns: Vec<String>,
    /// Patterns that selected nothing, as they were written.
    unused: Vec<String>,
    limitations: Vec<String>,
    output_root: PathBuf,
    files_sha256: Digest,
    extraction_id: Digest,
    id: EvidenceId,
}

/// A file that was written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Its path below the folder, which is its logical path.
    pub path: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// Writes the members of an artifact that the request selects.
///
/// # Errors
/// Those of [`super::inventory`]; `unsupported_target` where there are no
/// members or a member that is named cannot be written, `invalid_request`
/// where nothing is selected or a member that is named is not there,
/// `truncated` where the files together are over the budget of all bytes
/// (copies of one content count each), `artifact_operation_failed` with the reasons
/// `path` (the destination), `unavailable` (the destination's parent, a
/// member that is elsewhere), `integrity` (a member is not what the inventory
/// says), `io`. Nothing is left behind, or `cleanup_incomplete` says what.
pub fn extract(
    path: &Path,
    request: &ExtractionRequest,
    options: &Options,
    context: &Context,
) -> Result<Extraction> {
    tree::check(request.into.as_deref(), path, context)?;
    let walked = inventory_walk(path, options, context, Needs::Members)?;
    let Walked {
        inventory,
        plan: Some(plan),
        stamp,
    } = walked
    else {
        let message = "the inventory came without a plan";
        return Err(Error::artifact(
            context.operation,
            ArtifactReason::Io,
            message,
        ));
    };
    let patterns = distinct(&request.patterns);
    let selected = select::select(&inventory, &patterns, context)?;
    within_budget(&inventory, &selected.rows, options, context)?;
    let tree = Tree::create(request.into.as_deref(), context)?;
    let work = walk::Work {
        path,
        options,
        context,
        graph: &inventory.graph,
        place: &tree,
    };
    let paths = selected
        .rows
        .iter()
        .map(|&row| inventory.graph.path(row as usize));
    let written = tree
        .folders(paths, context)
        .and_then(|()| work.run(&plan, &selected.rows, &stamp))
        .and_then(|()| check(&tree, &inventory.graph, &selected.rows, context))
        .and_then(|()| context.check());
    let output_root = match written {
        Ok(()) => tree.publish()?,
        Err(error) => return Err(tree.discard(error)),
    };
    let mut limitations = inventory.limitations().to_vec();
    limitations.extend(selected.limitations);
    Ok(Extraction::new(record::Parts {
        inventory,
        rows: selected.rows,
        patterns: patterns.into_keys().collect(),
        unused: selected.unused,
        limitations,
        output_root,
    }))
}

/// The patterns by their canonical spellings: neither their order nor saying
/// one twice changes anything.
fn distinct(patterns: &[Glob]) -> BTreeMap<String, &Glob> {
    let spelled = |pattern| (Glob::canonical(pattern), pattern);
    patterns.iter().rev().map(spelled).collect()
}

/// The inventory's budget is for bytes that are read; hard links and other
/// copies are written once more each.
fn within_budget(
    inventory: &Inventory,
    rows: &[u32],
    options: &Options,
    context: &Context,
) -> Result<()> {
    let known = rows
        .iter()
        .filter_map(|&row| inventory.graph.rows.get(row as usize));
    let total = known.fold(0u64, |sum, row| sum.saturating_add(row.size));
    if total <= options.max_total_bytes {
        return Ok(());
    }
    let limit = Fault::Limit(Limit {
        name: "max_total_bytes",
        value: options.max_total_bytes,
    });
    let shown = inventory.local_path();
    Err(fault_error(limit, shown, None, context.operation)
        .action(
            "Raise --max-total-bytes if you trust the input, or select fewer members with --path.",
        )
        .detail("selected_bytes", total))
}

/// Reaches the disk, then reads everything back.
fn check(tree: &Tree, graph: &Graph, rows: &[u32], context: &Context) -> Result<()> {
    let files = || rows.iter().map(|&row| graph.path(row as usize));
    tree.sync(files(), context)?;
    for &row in rows {
        context.check()?;
        let path = graph.path(row as usize);
        if let Some(row) = graph.rows.get(row as usize) {
            tree.verify(path, row.digest, context)?;
        }
    }
    Ok(())
}
