//! `inventory_artifact`: what is inside, as a graph with identities.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use super::containers::{self, Companion, Container, Fault, MemberKind};
use super::engine::{self, Done, Nested, Open, Outcome, RootFile, Status, Tree};
use super::folder::{Folder, artifact_changed, times};
use super::format::{self, Content, EntryKind, Format, Kind};
use super::graph::{
    Builder, Contradiction, Extra, Graph, HashStatus, Locations, RootRow, Row, UNKNOWN,
};
use super::limitation::{Limitation, Note};
use super::names;
use super::options::{IntegrityPolicy, OnDamage, Options};
use super::source::Source;
use crate::digest::Digest;
use crate::error::{ArtifactReason, Code, Error, Result};
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
        w.key("scope");
        w.string(inventory.scope);
        w.key("status");
        w.string(inventory.coverage_status());
        w.end_object();
        w.key("edges");
        inventory.graph.write_edges(w);
        w.key("integrity_contradictions");
        inventory.graph.write_contradictions(w);
        w.key("limitations");
        inventory.limitations.write_json(w);
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

/// What is known of the root before its members are read.
struct Root {
    container: Option<(Box<dyn Container>, bool)>,
    file: Option<RootFile>,
    row: RootRow,
    damage: Option<Fault>,
    /// Whether the container stands behind other content.
    behind: bool,
    stamp: Option<(Arc<File>, [i64; 4])>,
}

/// Lists a file or folder and everything inside it.
///
/// # Errors
/// `target_unavailable` where the path does not exist, `access_denied`,
/// `artifact_operation_failed` (reasons `format`, `integrity`, `io`),
/// `artifact_integrity_mismatch`, `artifact_changed`, `truncated` where a
/// budget is reached at the root, `cancelled`.
pub fn inventory(path: &Path, options: &Options, context: &Context) -> Result<Inventory> {
    let shown = show(path);
    let root = open_root(path, &shown, options, context)?;
    let Root {
        container,
        file,
        mut row,
        damage,
        behind,
        stamp,
    } = root;
    let fail = |fault: Fault, member: Option<&str>| {
        unchanged(&stamp, &shown, context)
            .err()
            .unwrap_or_else(|| fault_error(fault, &shown, member, context.operation))
    };
    let mut tree =
        engine::run(container, file, options, context).map_err(|fault| fail(fault, None))?;
    unchanged(&stamp, &shown, context)?;
    row.digest = tree.root_digest;
    row.has_children = tree.root.is_some();
    let mut assembly = Assembly::new(options);
    if let Some(damage) = damage {
        assembly.complete = false;
        assembly.limitations.push(damage_limitation(&damage));
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
            let member = root.map(|root| root.paths.get(index as usize).to_owned());
            return Err(fail(fault, member.as_deref()));
        }
    }
    assembly.collect(&tree).map_err(|fault| fail(fault, None))?;
    context.check()?;
    assembly.into_inventory(row, &tree, &shown, context)
}

fn open_root(path: &Path, shown: &str, options: &Options, context: &Context) -> Result<Root> {
    let unavailable = |error: &io::Error| path_error(error, shown, context.operation);
    let resolved = path.canonicalize().map_err(|error| unavailable(&error))?;
    let metadata = resolved
        .symlink_metadata()
        .map_err(|error| unavailable(&error))?;
    let mode = (metadata.mode() & 0o7777) as u16;
    if metadata.is_dir() {
        let folder = Folder::open(&resolved, options, context)
            .map_err(|fault| fault_error(fault, shown, None, context.operation))?;
        let (kind, role) = (Kind::Container, Format::Directory);
        let row = RootRow {
            kind,
            role,
            format: Format::Directory,
            digest: None,
            size: 0,
            mode,
            has_children: true,
        };
        let container: Box<dyn Container> = Box::new(folder);
        return Ok(Root {
            container: Some((container, true)),
            file: None,
            row,
            damage: None,
            behind: false,
            stamp: None,
        });
    }
    if !metadata.is_file() {
        let message = format!("{shown} is neither a regular file nor a folder");
        return Err(
            Error::artifact(context.operation, ArtifactReason::Format, message)
                .action("Give a file or a folder; devices, FIFOs and sockets hold no artifact.")
                .detail("path", shown),
        );
    }
    open_root_file(&resolved, shown, mode, options, context)
}

fn open_root_file(
    resolved: &Path,
    shown: &str,
    mode: u16,
    options: &Options,
    context: &Context,
) -> Result<Root> {
    let unavailable = |error: &io::Error| path_error(error, shown, context.operation);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(resolved, flags, Mode::empty())
        .map_err(|error| unavailable(&error.into()))?;
    let stat = rustix::fs::fstat(&file).map_err(|error| unavailable(&error.into()))?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let file = Arc::new(File::from(file));
    let source = Source::file(Arc::clone(&file), size);
    let head_len = size.min(format::HEAD as u64) as usize;
    let head = source
        .read_vec(0, head_len)
        .map_err(|error| unavailable(&error))?;
    let tail_len = size.min(format::TAIL as u64);
    let tail = source
        .read_vec(size - tail_len, tail_len as usize)
        .map_err(|error| unavailable(&error))?;
    let format = format::of_bytes(&head, size);
    let name = resolved
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let asar = name.to_lowercase().ends_with(".asar") && containers::is_asar(&head);
    let (kind, role) = format::role(
        &name,
        Content {
            format,
            asar,
            dmg: format::is_dmg(&tail),
        },
    );
    let readable = if role == Format::Asar { role } else { format };
    let mut damage = None;
    let mut behind = false;
    let container = if containers::is_readable(readable) {
        let opened = if role == Format::Asar {
            let companion = Companion::beside(resolved, shown, context);
            containers::open_asar_root(&source, options, companion)
        } else {
            containers::open(readable, &source, options)
        };
        match opened {
            Ok(container) => Some(container),
            Err(fault @ (Fault::Damage(_) | Fault::Encrypted))
                if options.on_damage == OnDamage::Record =>
            {
                damage = Some(fault);
                None
            }
            Err(fault) => return Err(fault_error(fault, shown, None, context.operation)),
        }
    } else if engine::may_hide_archive(format) && role != Format::Asar {
        behind = true;
        containers::find_zip_behind(&source, options)
    } else {
        None
    };
    let row = RootRow {
        kind,
        role,
        format,
        digest: None,
        size,
        mode,
        has_children: false,
    };
    Ok(Root {
        container: container.map(|container| (container, false)),
        file: Some(RootFile {
            source,
            path: shown.to_owned(),
        }),
        row,
        damage,
        behind,
        stamp: Some((file, times(&stat))),
    })
}

/// The root file must be what it was when it was opened.
fn unchanged(stamp: &Option<(Arc<File>, [i64; 4])>, shown: &str, context: &Context) -> Result<()> {
    let Some((file, before)) = stamp else {
        return Ok(());
    };
    let after = rustix::fs::fstat(file)
        .map_err(|error| path_error(&error.into(), shown, context.operation))?;
    if times(&after) == *before {
        return Ok(());
    }
    Err(artifact_changed(
        context.operation,
        shown,
        "it changed while it was read",
    ))
}

/// A path as it stands in records: bytes that are not UTF-8 are escaped.
fn show(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    names::escape_target(path.as_os_str().as_bytes())
}

fn path_error(error: &io::Error, shown: &str, operation: &str) -> Error {
    if error.kind() == io::ErrorKind::PermissionDenied {
        return Error::new(
            Code::AccessDenied,
            format!("{shown} may not be read: permission denied"),
        )
        .action("Run as a user who may read it, or inspect a copy.")
        .detail("operation", operation)
        .detail("path", shown)
        .detail("system_code", "EACCES")
        .detail("boundary", "filesystem-read");
    }
    let reason = crate::error::io_reason(error);
    Error::new(
        Code::TargetUnavailable,
        format!("{shown} cannot be opened: {reason}"),
    )
    .action("Check the path; it must name an existing file or folder.")
    .detail("path", shown)
    .detail("reason", reason)
}

fn damage_limitation(fault: &Fault) -> Limitation {
    let text = match fault {
        Fault::Damage(damage) => format!(
            "The container is damaged at offset {}: {}; its members are not listed.",
            damage.offset, damage.text
        ),
        _ => "The container is encrypted as a whole; its members are not listed.".to_owned(),
    };
    Limitation::new(109, text)
}

/// A fault at the root, in the words of the error contract.
fn fault_error(fault: Fault, shown: &str, member: Option<&str>, operation: &str) -> Error {
    let within = match member {
        Some(member) => format!("{shown}, member {member}"),
        None => shown.to_owned(),
    };
    let with_member = |error: Error| match member {
        Some(member) => error.detail("logical_path", member),
        None => error,
    };
    match fault {
        Fault::Stop(error) | Fault::Refused(error) => error,
        Fault::Damage(damage) => {
            let message = format!(
                "{within}: damaged at offset {}: {}",
                damage.offset, damage.text
            );
            with_member(Error::artifact(operation, damage.reason, message))
                .action("Get an undamaged copy, or run again with --on-damage record to keep what can be read.")
                .detail("path", shown)
                .detail("offset", damage.offset)
                .detail("detail", damage.text)
        }
        Fault::Limit(limit) => {
            let option = limit
                .name
                .strip_prefix("max_")
                .map(|_| format!("--{}", limit.name.replace('_', "-")));
            let message = format!("{within}: over the limit {} = {}", limit.name, limit.value);
            let error = with_member(Error::artifact(operation, ArtifactReason::Limit, message))
                .detail("path", shown)
                .detail("limit", limit.name)
                .detail("value", limit.value);
            match option {
                Some(option) => error
                    .action(format!(
                        "Raise {option} if you trust the input, or inspect a part of it."
                    ))
                    .detail("option", option),
                None => error.action("Inspect a part of it; this limit is fixed."),
            }
        }
        Fault::Encrypted => {
            let message = format!("{within}: encrypted as a whole");
            with_member(Error::artifact(
                operation,
                ArtifactReason::Unavailable,
                message,
            ))
        }
        Fault::Io(io::ErrorKind::PermissionDenied, _) => {
            path_error(&io::ErrorKind::PermissionDenied.into(), shown, operation)
        }
        Fault::Io(_, reason) => {
            let message = format!("{within}: cannot be read: {reason}");
            with_member(Error::artifact(operation, ArtifactReason::Io, message))
                .detail("path", shown)
                .detail("detail", reason)
        }
        Fault::Unavailable(_) | Fault::UnavailableBecause(_) => {
            let message = format!("{within}: cannot be read");
            with_member(Error::artifact(
                operation,
                ArtifactReason::Unavailable,
                message,
            ))
        }
    }
}

/// Brings what was read into rows.
struct Assembly<'a> {
    options: &'a Options,
    builder: Builder,
    limitations: Vec<Limitation>,
    complete: bool,
    contradictions: Vec<Contradiction>,
    /// Members whose bytes are in a companion: path to archive path, path in
    /// it, and declared digest.
    unpacked: HashMap<String, (String, Option<Digest>)>,
}

impl<'a> Assembly<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            builder: Builder::default(),
            limitations: Vec::new(),
            complete: true,
            contradictions: Vec::new(),
            unpacked: HashMap::new(),
        }
    }

    /// All containers, outer before inner and siblings in path order.
    fn collect(&mut self, tree: &Tree) -> Result<(), Fault> {
        let Some(root) = &tree.root else {
            return Ok(());
        };
        let mut done = root.take_done();
        let closing = std::mem::take(&mut done.closing);
        if let Some(damage) = closing.damage {
            if self.options.on_damage == OnDamage::Fail {
                return Err(Fault::Damage(damage));
            }
            self.limitations
                .push(damage_limitation(&Fault::Damage(damage)));
            self.complete = false;
        }
        self.complete &= !closing.incomplete;
        self.limitations.extend(closing.limitations);
        self.limitations.extend(name_limitations(root));
        let mut waiting = VecDeque::from([(String::new(), done, Arc::clone(root))]);
        let mut own = true;
        while let Some((prefix, done, open)) = waiting.pop_front() {
            let mut children = self.add_members(&prefix, own, done, &open, &tree.nested)?;
            children.sort_by(|a, b| a.0.cmp(&b.0));
            waiting.extend(children);
            own = false;
        }
        Ok(())
    }

    fn add_members(
        &mut self,
        prefix: &str,
        own: bool,
        mut done: Done,
        open: &Open,
        nested: &[Nested],
    ) -> Result<Vec<Child>, Fault> {
        let mut children = Vec::new();
        self.builder
            .rows
            .reserve_exact(done.members.len() + usize::from(own));
        for (index, (member, outcome)) in done.members.iter().zip(done.outcomes).enumerate() {
            if open.paths.is_repeated_directory(index) {
                continue;
            }
            let Some(mut outcome) = outcome else {
                let text = format!("member {index} was not read");
                return Err(Fault::Io(io::ErrorKind::Other, text));
            };
            let span = self
                .builder
                .push_path(prefix, open.paths.get(index))
                .ok_or(Fault::Limit(containers::Limit {
                    name: "all path bytes",
                    value: names::MAX_ALL as u64,
                }))?;
            if open.paths.is_escaped(index) {
                outcome.notes.add(Note::Escaped);
            }
            let mut extra = done.extras.remove(&(index as u32)).unwrap_or_default();
            say_inexact(member.size, "declared size", &mut extra.limitations);
            say_inexact(member.compressed, "stored size", &mut extra.limitations);
            let mut expanded = false;
            match outcome.child.and_then(|id| nested.get(id as usize)) {
                Some(Nested::Expanded(child)) => match nested_done(child) {
                    Ok((limitations, done)) => {
                        expanded = true;
                        extra.limitations.extend(limitations);
                        children.push((
                            self.builder.slice(span).to_owned(),
                            done,
                            Arc::clone(child),
                        ));
                    }
                    Err(note) => outcome.notes.add(note),
                },
                Some(Nested::Opaque(note)) => outcome.notes.add(*note),
                Some(Nested::Plain) | None => {}
            }
            self.remember_declared(span, &open.paths, index, prefix, &outcome, &extra);
            let row = self.row(member, &mut outcome, span, extra, (expanded, own));
            self.builder.rows.push(row);
        }
        Ok(children)
    }

    /// Keeps what is needed to join companions and to tell contradictions.
    fn remember_declared(
        &mut self,
        span: (u32, u32),
        paths: &names::Paths,
        index: usize,
        prefix: &str,
        outcome: &Outcome,
        extra: &engine::Extra,
    ) {
        let path = self.builder.slice(span);
        if outcome.status == Status::Unpacked {
            let companion = format!("{prefix}.unpacked/{}", paths.get(index));
            self.unpacked
                .insert(path.to_owned(), (companion, extra.declared));
        } else if let Some(declared) = extra.declared {
            self.contradictions.push(Contradiction {
                path: path.to_owned(),
                declared,
                observed: outcome.digest,
                unpacked: extra.unpacked,
            });
        }
    }

    fn row(
        &mut self,
        member: &containers::Member,
        outcome: &mut Outcome,
        span: (u32, u32),
        extra: engine::Extra,
        (expanded, own): (bool, bool),
    ) -> Row {
        let path = self.builder.slice(span);
        let status = match outcome.status {
            Status::None | Status::Verified => HashStatus::Verified,
            Status::Mismatched => HashStatus::Mismatched,
            Status::Unavailable | Status::Unpacked => HashStatus::Unavailable,
        };
        let directory = member.kind == MemberKind::Directory;
        let was_read = status != HashStatus::Unavailable && member.kind == MemberKind::File;
        let (kind, role) = if directory {
            format::directory_role(path)
        } else if was_read {
            let Outcome {
                format, asar, dmg, ..
            } = *outcome;
            format::role(path, Content { format, asar, dmg })
        } else {
            let (kind, role, unchecked) = format::unread_role(path);
            if unchecked {
                outcome.notes.add(Note::SuffixUnchecked);
            }
            (kind, role)
        };
        Row {
            path: span,
            digest: outcome.digest,
            artifact: Digest([0; 32]),
            size: outcome.size,
            declared_size: if directory { UNKNOWN } else { member.size },
            compressed_size: if directory {
                UNKNOWN
            } else {
                member.compressed
            },
            extra: self.builder.push_extra(Extra {
                limitations: extra.limitations,
                link_target: extra.link_target,
            }),
            notes: outcome.notes,
            mode: member.mode,
            entry_kind: match member.kind {
                MemberKind::Directory => EntryKind::Directory,
                MemberKind::Symlink => EntryKind::Symlink,
                MemberKind::File | MemberKind::Special => EntryKind::File,
            },
            kind,
            role,
            format: outcome.format,
            status,
            encrypted: outcome.notes.has(Note::Encrypted),
            has_artifact: status != HashStatus::Unavailable,
            expanded,
            own,
        }
    }

    /// Members of archives whose bytes stand beside them (decision 13).
    fn join_companions(&mut self) {
        if self.unpacked.is_empty() {
            return;
        }
        self.builder.sort();
        for index in 0..self.builder.rows.len() {
            let path = self.builder.path(&self.builder.rows[index]).to_owned();
            let Some((companion, declared)) = self.unpacked.get(&path).cloned() else {
                continue;
            };
            let found = self
                .builder
                .find(&companion)
                .map(|at| self.builder.rows[at]);
            let escaped = self.builder.rows[index].notes.has(Note::Escaped);
            let row = &mut self.builder.rows[index];
            match found {
                Some(other)
                    if other.has_artifact && other.entry_kind == EntryKind::File && !escaped =>
                {
                    row.digest = other.digest;
                    row.size = other.size;
                    row.format = other.format;
                    row.status = other.status;
                    row.has_artifact = true;
                    let content = Content {
                        format: other.format,
                        asar: false,
                        dmg: false,
                    };
                    (row.kind, row.role) = format::role(&path, content);
                    row.notes.remove(Note::SuffixUnchecked);
                    if other.expanded {
                        row.notes.add(Note::CompanionElsewhere);
                    }
                    if let Some(declared) = declared.filter(|declared| *declared != other.digest) {
                        row.status = HashStatus::Mismatched;
                        row.notes.add(Note::Contradicted);
                        self.contradictions.push(Contradiction {
                            path,
                            declared,
                            observed: other.digest,
                            unpacked: true,
                        });
                    }
                }
                _ => row.notes.add(Note::CompanionMissing),
            }
        }
    }

    fn into_inventory(
        mut self,
        root: RootRow,
        tree: &Tree,
        shown: &str,
        context: &Context,
    ) -> Result<Inventory> {
        self.join_companions();
        if self.options.integrity_policy == IntegrityPolicy::Fail {
            if let Some(first) = self.contradictions.first() {
                return Err(contradicted(first, shown));
            }
        }
        let unread = tree.root.is_none()
            && (format::is_container(root.role) || root.role == Format::MachOUniversal);
        self.complete &= !unread;
        self.limitations.extend(reader_notice(&root, unread));
        let has_children = tree.root.is_some();
        let mut graph = self.builder.finish(root, self.contradictions);
        if graph.collisions > 0 {
            let text = format!(
                "{} paths differ from another only by case; a case-insensitive destination would merge them.",
                graph.collisions
            );
            self.limitations.push(Limitation::new(3, text));
        }
        if !graph.contradictions().is_empty() {
            let text = format!(
                "{} members contradict the SHA-256 that their container declares.",
                graph.contradictions().len()
            );
            self.limitations.push(Limitation::new(4, text));
        }
        context.check()?;
        graph.seal();
        self.limitations.sort_by_key(|limitation| limitation.rank);
        let trimmed = shown.trim_end_matches('/');
        let name = match trimmed.rsplit('/').next() {
            Some(name) if !name.is_empty() => name,
            _ => "artifact",
        };
        let mut inventory = Inventory {
            graph,
            options: self.options.clone(),
            limitations: self
                .limitations
                .into_iter()
                .map(|l| l.text.into_owned())
                .collect(),
            scope: if has_children {
                "container-entries"
            } else {
                "root"
            },
            complete: self.complete,
            name: name.to_owned(),
            local_path: shown.to_owned(),
            id: EvidenceId(Digest([0; 32])),
        };
        inventory.id = inventory.with_draft(inventory.subject(false), |draft| draft.id());
        Ok(inventory)
    }
}

/// A nested container that is to be added: its path and what was read.
type Child = (String, Done, Arc<Open>);

/// A nested container that was read to its end: what is to be said of it, or
/// why it stays opaque.
fn nested_done(open: &Open) -> Result<(Vec<Limitation>, Done), Note> {
    if let Some((_, fault)) = open.take_fault() {
        return Err(engine::opaque_note(&fault));
    }
    let mut done = open.take_done();
    if done.closing.damage.is_some() {
        return Err(Note::OpaqueDamaged);
    }
    let mut limitations = std::mem::take(&mut done.closing.limitations);
    limitations.extend(name_limitations(open));
    Ok((limitations, done))
}

/// A number that JSON cannot carry exactly is said in words (decision 15).
fn say_inexact(value: u64, what: &str, limitations: &mut Vec<Limitation>) {
    if value != UNKNOWN && value > crate::json::MAX_SAFE_INTEGER {
        let text = format!("Its {what} is {value} bytes, more than a JSON number holds exactly.");
        limitations.push(Limitation::new(115, text));
    }
}

/// How many names of a container had to be changed.
fn name_limitations(open: &Open) -> Vec<Limitation> {
    let mut limitations = Vec::new();
    let escaped = open.paths.escaped_count();
    if escaped > 0 {
        let text = format!(
            "{escaped} members have names that may not be used as paths; they are recorded under escaped paths."
        );
        limitations.push(Limitation::new(101, text));
    }
    if open.paths.normalized > 0 {
        let text = format!(
            "{} names were composed to Unicode NFC.",
            open.paths.normalized
        );
        limitations.push(Limitation::new(106, text));
    }
    limitations
}

/// Contract 3.5 (a).
fn reader_notice(root: &RootRow, unread: bool) -> Option<Limitation> {
    let text = if unread {
        "It is a container of a format whose members are not listed; only the file itself was hashed."
    } else if root.format == Format::Zip && root.has_children {
        "Only entries of the central directory are listed; other bytes of the archive are not members."
    } else if !root.has_children && root.digest.is_some() {
        "It is no container; only the file itself was hashed."
    } else {
        return None;
    };
    Some(Limitation::new(1, text))
}

fn contradicted(contradiction: &Contradiction, shown: &str) -> Error {
    let message = format!(
        "{shown}, member {}: its bytes contradict the SHA-256 that its container declares{}",
        contradiction.path,
        if contradiction.unpacked {
            " (unpacked companions are often signed or stripped after packing)"
        } else {
            ""
        }
    );
    Error::new(Code::ArtifactIntegrityMismatch, message)
        .action("Get a copy that fits, or run again with --integrity-policy record-and-continue to record the contradiction.")
        .detail("logical_path", contradiction.path.as_str())
        .detail("declared_sha256", contradiction.declared.to_hex())
        .detail("calculated_sha256", contradiction.observed.to_hex())
        .detail("unpacked", contradiction.unpacked)
}
