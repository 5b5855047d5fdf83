//! Brings what was read into the rows of a graph.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use super::containers::{self, Fault, MemberKind};
use super::engine::{self, Done, Nested, Open, Outcome, Status, Tree};
use super::fault::contradicted;
use super::format::{self, Content, EntryKind, Format};
use super::graph::{Builder, Contradiction, Extra, HashStatus, RootRow, Row, UNKNOWN};
use super::inventory::Inventory;
use super::limitation::{Limitation, Note, counted};
use super::names;
use super::options::{IntegrityPolicy, OnDamage, Options};
use super::plan::{self, Plan, PlannedMember};
use crate::digest::Digest;
use crate::error::Result;
use crate::operation::Context;

/// Brings what was read into rows.
pub(super) struct Assembly<'a> {
    options: &'a Options,
    builder: Builder,
    pub limitations: Vec<Limitation>,
    pub complete: bool,
    contradictions: Vec<Contradiction>,
    /// Members whose bytes are in a companion: path to archive path, path in
    /// it, and declared digest.
    unpacked: HashMap<String, (String, Option<Digest>)>,
    /// Where members are, if somebody is to walk again.
    pub plan: Option<Plan>,
}

impl<'a> Assembly<'a> {
    pub fn new(options: &'a Options) -> Self {
        Self {
            options,
            builder: Builder::default(),
            limitations: Vec::new(),
            complete: true,
            contradictions: Vec::new(),
            unpacked: HashMap::new(),
            plan: None,
        }
    }

    /// All containers, outer before inner and siblings in path order.
    pub fn collect(&mut self, tree: &Tree) -> Result<(), Fault> {
        let Some(root) = &tree.root else {
            return Ok(());
        };
        let mut done = root.take_done();
        let closing = std::mem::take(&mut done.closing);
        if let Some(damage) = closing.damage {
            if self.options.on_damage == OnDamage::Fail {
                return Err(Fault::Damage(damage));
            }
            let text = format!(
                "The container is damaged at offset {}: {}; what could be read of it is listed.",
                damage.offset, damage.text
            );
            self.limitations.push(Limitation::new(109, text));
            self.complete = false;
        }
        self.complete &= !closing.incomplete;
        self.limitations.extend(closing.limitations);
        self.limitations.extend(name_limitations(root));
        let mut waiting = VecDeque::from([(String::new(), done, Arc::clone(root), plan::ROOT)]);
        let mut own = true;
        while let Some((prefix, done, open, number)) = waiting.pop_front() {
            let mut children =
                self.add_members(&prefix, (own, number), done, &open, &tree.nested)?;
            children.sort_by(|a, b| a.0.cmp(&b.0));
            waiting.extend(children);
            own = false;
        }
        Ok(())
    }

    fn add_members(
        &mut self,
        prefix: &str,
        (own, number): (bool, u32),
        mut done: Done,
        open: &Open,
        nested: &[Nested],
    ) -> Result<Vec<Child>, Fault> {
        let mut children = Vec::new();
        self.builder
            .rows
            .reserve_exact(done.members.len() + usize::from(own));
        for (index, (member, outcome)) in done.members.iter().zip(done.outcomes).enumerate() {
            if open.paths().is_repeated_directory(index) {
                continue;
            }
            let Some(mut outcome) = outcome else {
                let text = format!("member {index} was not read");
                return Err(Fault::Io(io::ErrorKind::Other, text));
            };
            let span = self
                .builder
                .push_path(prefix, open.paths().get(index))
                .ok_or(Fault::Limit(containers::Limit {
                    name: "all path bytes",
                    value: names::MAX_ALL as u64,
                }))?;
            if open.paths().is_escaped(index) {
                outcome.notes.add(Note::Escaped);
            }
            let mut extra = done.extras.remove(&(index as u32)).unwrap_or_default();
            // A damaged root of which the rest is kept (decision 9).
            self.complete &= !(own && extra.limitations.iter().any(|said| said.rank == 109));
            say_inexact(member.size, "declared size", &mut extra.limitations);
            say_inexact(member.compressed, "stored size", &mut extra.limitations);
            let mut expanded = false;
            match outcome.child.and_then(|id| nested.get(id as usize)) {
                Some(Nested::Expanded(child)) => match nested_done(child) {
                    Ok((limitations, done)) => {
                        expanded = true;
                        extra.limitations.extend(limitations);
                        let parent = (number, index as u32);
                        let number = self.plan.as_mut().map_or(plan::ROOT, |plan| {
                            plan.add_container(parent, outcome.candidate)
                        });
                        children.push((
                            self.builder.slice(span).to_owned(),
                            done,
                            Arc::clone(child),
                            number,
                        ));
                    }
                    Err(note) => outcome.notes.add(note),
                },
                Some(Nested::Opaque(note)) => outcome.notes.add(*note),
                Some(Nested::Plain) | None => {}
            }
            self.remember_declared(span, open.paths(), index, prefix, &outcome, &extra);
            let row = self.row(member, &mut outcome, span, extra, (expanded, own));
            self.builder.rows.push(row);
            if let Some(plan) = &mut self.plan {
                plan.members.push(PlannedMember {
                    path: span.0,
                    container: number,
                    index: index as u32,
                });
            }
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
            if let Some(plan) = &mut self.plan {
                plan.elsewhere.insert(path.to_owned(), companion.clone());
            }
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
        let was_read = status != HashStatus::Unavailable && member.kind.is_file();
        let (kind, role) = if directory {
            format::directory_role(path)
        } else if was_read {
            let Outcome {
                format, named, dmg, ..
            } = *outcome;
            match member.kind {
                MemberKind::Slice => format::slice_role(format),
                _ => format::role(path, Content { format, named, dmg }),
            }
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
                source_location: (member.kind == MemberKind::Slice)
                    .then_some((member.at, member.size)),
            }),
            notes: outcome.notes,
            mode: member.mode,
            entry_kind: match member.kind {
                MemberKind::Directory => EntryKind::Directory,
                MemberKind::Symlink => EntryKind::Symlink,
                MemberKind::Slice => EntryKind::Slice,
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
                        // What its bytes are told at their own place.
                        named: matches!(other.role, Format::Asar | Format::Lzma)
                            .then_some(other.role),
                        dmg: other.role == Format::Dmg,
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

    pub fn into_inventory(
        mut self,
        root: RootRow,
        tree: &Tree,
        shown: &str,
        context: &Context,
    ) -> Result<Inventory> {
        self.join_companions();
        if self.options.integrity_policy == IntegrityPolicy::Fail
            && let Some(first) = self.contradictions.first()
        {
            return Err(contradicted(first, shown));
        }
        let unread = tree.root.is_none()
            && (format::is_container(root.role) || root.role == Format::MachOUniversal);
        self.complete &= !unread;
        let is_broken = self
            .limitations
            .iter()
            .any(|limitation| limitation.rank == 109);
        if !(unread && is_broken) {
            self.limitations.extend(reader_notice(&root, unread));
        }
        let has_children = tree.root.is_some();
        let mut graph = self.builder.finish(root, self.contradictions);
        if graph.collisions > 0 {
            let text = format!(
                "{} from another only by case; a case-insensitive destination would merge them.",
                counted(graph.collisions as u64, "path differs", "paths differ")
            );
            self.limitations.push(Limitation::new(3, text));
        }
        if !graph.contradictions().is_empty() {
            let text = format!(
                "{} the SHA-256 that the container declares.",
                counted(
                    graph.contradictions().len() as u64,
                    "member contradicts",
                    "members contradict"
                )
            );
            self.limitations.push(Limitation::new(4, text));
        }
        context.check()?;
        graph.seal();
        self.limitations.sort_by_key(|limitation| limitation.rank);
        let scope = if has_children {
            "container-entries"
        } else {
            "root"
        };
        let limitations = self
            .limitations
            .into_iter()
            .map(|limitation| limitation.text.into_owned());
        Ok(Inventory::new(
            graph,
            self.options,
            limitations.collect(),
            scope,
            self.complete,
            shown,
        ))
    }
}

/// A nested container that is to be added: its path, what was read, and its
/// number in the plan.
type Child = (String, Done, Arc<Open>, u32);

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
    let escaped = open.paths().escaped_count();
    if escaped > 0 {
        let text = format!(
            "{} under an escaped path, because the name may not be used as a path or another entry has the same.",
            counted(escaped as u64, "member is recorded", "members are recorded")
        );
        limitations.push(Limitation::new(101, text));
    }
    if open.paths().normalized > 0 {
        let text = format!(
            "{} composed to Unicode NFC.",
            counted(open.paths().normalized, "name was", "names were")
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
