//! Which members are written, and what is said of those that are not.

use std::collections::{BTreeMap, HashSet};

use super::super::fault::fault_error;
use super::super::format::EntryKind;
use super::super::glob::Glob;
use super::super::graph::{HashStatus, Row};
use super::super::inventory::Inventory;
use super::super::limitation::Note;
use crate::error::{ArtifactReason, Code, Error, Result};
use crate::operation::Context;

/// A longer segment of a path is no file name on the systems that we run on.
const MAX_NAME: usize = 255;
/// A longer path cannot be named to the systems that we run on (PATH_MAX is
/// 4096 bytes on Linux), nor could one in more folders be removed everywhere.
const MAX_PATH: usize = 4000;
const MAX_FOLDERS: usize = 256;

/// Rows to write, ascending, and what is to be said.
pub(super) struct Selected {
    pub rows: Vec<u32>,
    /// Patterns that selected nothing, as they were written.
    pub unused: Vec<String>,
    pub limitations: Vec<String>,
}

const SCOPE: &str =
    "Only the content of files was written; links, empty folders, permissions and times were not.";

/// Why a row that is selected is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skipped {
    Link,
    Encrypted,
    Unreadable,
    LongName,
    LongPath,
    /// Members of it are written, so that its name is a folder.
    Folder,
}

impl Skipped {
    /// In the order in which limitations stand.
    const ALL: [Self; 6] = [
        Self::Link,
        Self::Encrypted,
        Self::Unreadable,
        Self::LongName,
        Self::LongPath,
        Self::Folder,
    ];

    /// A fixed limitation, which is hashed.
    fn limitation(self, count: u64) -> String {
        match self {
            Self::Link => format!("{count} symbolic links were selected; links are not created."),
            Self::Encrypted => {
                format!("{count} encrypted members were selected; they were not written.")
            }
            Self::Unreadable => {
                format!(
                    "{count} members that could not be read were selected; they were not written."
                )
            }
            Self::LongName => format!(
                "{count} members were selected whose path has a segment of more than {MAX_NAME} bytes; they were not written."
            ),
            Self::LongPath => format!(
                "{count} members were selected whose path has more than {MAX_PATH} bytes or more than {MAX_FOLDERS} folders; they were not written."
            ),
            Self::Folder => format!(
                "{count} containers were selected together with members of theirs; their names are folders and they were not written themselves."
            ),
        }
    }
}

/// Applies the patterns, by their canonical spellings, to an inventory.
pub(super) fn select(
    inventory: &Inventory,
    patterns: &BTreeMap<String, &Glob>,
    context: &Context,
) -> Result<Selected> {
    let graph = &inventory.graph;
    let patterns: Vec<&Glob> = patterns.values().copied().collect();
    let mut used = vec![false; patterns.len()];
    let mut skipped = [0u64; Skipped::ALL.len()];
    let mut rows = Vec::new();
    for (index, row) in graph.rows.iter().enumerate() {
        if index.is_multiple_of(1024) {
            context.check()?;
        }
        let path = graph.path(index);
        if path == "." {
            continue;
        }
        let mut named = false;
        let mut selected = patterns.is_empty() && row.own;
        for (pattern, used) in patterns.iter().zip(&mut used) {
            if pattern.matches(path) {
                selected = true;
                *used = true;
                named |= pattern.is_name();
            }
        }
        if !selected {
            continue;
        }
        match judge(row, path) {
            Ok(true) => rows.push(index as u32),
            Ok(false) if named => return Err(folder_named(path, context)),
            Ok(false) => {}
            Err(_) if row.notes.has(Note::CompanionMissing) => {
                return Err(missing(inventory, path, context));
            }
            Err(why) if named => return Err(cannot(why, path, context)),
            Err(why) => count(&mut skipped, why),
        }
    }
    let missed = || patterns.iter().zip(&used).filter(|(_, used)| !**used);
    if let Some((pattern, _)) = missed().find(|(pattern, _)| pattern.is_name()) {
        return Err(not_there(pattern, context));
    }
    let unused: Vec<String> = missed()
        .map(|(pattern, _)| pattern.as_str().to_owned())
        .collect();
    let folders = folders(rows.iter().map(|&row| graph.path(row as usize)), context)?;
    rows.retain(|&row| {
        let keep = !folders.contains(graph.path(row as usize));
        if !keep {
            count(&mut skipped, Skipped::Folder);
        }
        keep
    });
    if rows.is_empty() {
        return Err(nothing(&patterns, context));
    }
    let mut limitations = vec![SCOPE.to_owned()];
    for (why, count) in Skipped::ALL.into_iter().zip(skipped) {
        if count > 0 {
            limitations.push(why.limitation(count));
        }
    }
    if !unused.is_empty() {
        let count = unused.len();
        limitations.push(format!("{count} of the patterns selected nothing."));
    }
    Ok(Selected {
        rows,
        unused,
        limitations,
    })
}

fn count(skipped: &mut [u64; Skipped::ALL.len()], why: Skipped) {
    if let Some(count) = skipped.get_mut(why as usize) {
        *count += 1;
    }
}

/// Whether a row has content to write; false for folders.
fn judge(row: &Row, path: &str) -> Result<bool, Skipped> {
    match row.entry_kind {
        EntryKind::Directory => return Ok(false),
        EntryKind::Symlink => return Err(Skipped::Link),
        EntryKind::File | EntryKind::Slice => {}
    }
    if row.encrypted && row.status == HashStatus::Unavailable {
        return Err(Skipped::Encrypted);
    }
    if row.status == HashStatus::Unavailable || !row.has_artifact {
        return Err(Skipped::Unreadable);
    }
    if path.split('/').any(|segment| segment.len() > MAX_NAME) {
        return Err(Skipped::LongName);
    }
    let folders = path.bytes().filter(|&byte| byte == b'/').count();
    if path.len() > MAX_PATH || folders > MAX_FOLDERS {
        return Err(Skipped::LongPath);
    }
    Ok(true)
}

/// Selected paths that other selected paths are below.
fn folders<'a>(
    paths: impl Iterator<Item = &'a str> + Clone,
    context: &Context,
) -> Result<HashSet<&'a str>> {
    let selected: HashSet<&str> = paths.clone().collect();
    let mut folders = HashSet::new();
    for path in paths {
        context.check()?;
        let mut rest = path;
        while let Some((above, _)) = rest.rsplit_once('/') {
            if selected.contains(above) {
                folders.insert(above);
            }
            rest = above;
        }
    }
    Ok(folders)
}

/// A member that was named, and is none.
fn not_there(pattern: &Glob, context: &Context) -> Error {
    let message = format!("there is no member {}", pattern.as_str());
    Error::invalid_request(context.operation, &["path"], "invalid_value", message)
        .action("Name a logical path exactly as `rea inventory-artifact` lists it, or use wildcards (`**/NAME`).")
}

fn folder_named(path: &str, context: &Context) -> Error {
    let message = format!("{path} is a folder, which has no content of its own");
    Error::invalid_request(context.operation, &["path"], "invalid_value", message)
        .action(format!("Write {path}/** to extract what is in it."))
}

/// A member that was named, and so must not be passed over.
fn cannot(why: Skipped, path: &str, context: &Context) -> Error {
    let (reason, text) = match why {
        Skipped::Encrypted => {
            let reason = "it is encrypted";
            return Error::new(Code::UnsupportedTarget, format!("{path}: {reason}"))
                .action("Decrypt the archive first, or select other members.")
                .detail("operation", context.operation)
                .detail("path", path)
                .detail("logical_path", path)
                .detail("reason", reason);
        }
        Skipped::Link => (
            ArtifactReason::Format,
            "it is a symbolic link, and links are not created",
        ),
        Skipped::LongName => (
            ArtifactReason::Path,
            "a segment of its path is too long for a file name",
        ),
        Skipped::LongPath => (
            ArtifactReason::Path,
            "its path is too long, or has too many folders, for a file system",
        ),
        Skipped::Unreadable | Skipped::Folder => {
            (ArtifactReason::Unavailable, "its content cannot be read")
        }
    };
    Error::artifact(context.operation, reason, format!("{path}: {text}"))
        .action("Select other members with --path.")
        .detail("logical_path", path)
        .detail("detail", text)
}

/// Bytes that belong beside the archive are not there.
fn missing(inventory: &Inventory, path: &str, context: &Context) -> Error {
    let fault = super::super::containers::Fault::Unavailable(Note::CompanionMissing);
    let shown = inventory.local_path();
    fault_error(fault, shown, Some(path), context.operation)
        .action(
            "Put the archive's .unpacked folder beside it, or select other members with --path.",
        )
        .detail(
            "detail",
            "its bytes belong in the archive's .unpacked companion",
        )
}

fn nothing(patterns: &[&Glob], context: &Context) -> Error {
    if patterns.is_empty() {
        let message = "there is no file in it that could be written";
        return Error::artifact(context.operation, ArtifactReason::Unavailable, message)
            .action("See what is in it with `rea inventory-artifact`.");
    }
    let message = "no member that can be written matches the pattern";
    Error::invalid_request(context.operation, &["path"], "invalid_value", message).action(
        "Patterns cover whole logical paths, as `rea inventory-artifact` lists them; ** stands for any folders.",
    )
}
