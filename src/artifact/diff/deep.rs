//! `--deep`: what differs inside of changed members, by what domains say of
//! their bytes.
//!
//! The members are read a second time, as an extraction reads them, a batch at
//! a time in the order of their paths; of each batch pairs are compared on all
//! threads. Only differences are kept.

use std::collections::HashMap;

use rayon::prelude::*;

use super::super::compare::{Change, Classification, Comparison, Dimensions};
use super::super::extract::Readable;
use super::super::limitation::counted;
use super::super::retained::{NONE, Retained};
use super::super::source::Source;
use crate::error::{ArtifactReason, Error, Result};
use crate::json::{WriteJson, Writer};
use crate::member_facts::{self, Domain, TopicChanges};
use crate::operation::Context;

/// Bytes of one side's members that are kept for one batch; a larger member is
/// a batch of its own.
const BATCH: u64 = 1 << 30;
/// Bytes of members that are in memory at a time; a larger pair is alone.
const IN_MEMORY: u64 = 256 << 20;
/// A larger member is not read.
const MAX_MEMBER: u64 = 4 << 30;
/// Names and details of all differences together.
const MAX_TOLD: usize = 512 << 20;

const ONLY_CHANGED: &str = "What is inside of a member was compared where both sides have it under the same path and its bytes differ; members that only one side has were not opened.";

/// What differs inside of changed members.
#[derive(Clone, Debug, Default)]
pub struct Deep {
    members: Vec<DeepMember>,
    unread: Vec<Unread>,
    partial: u64,
}

/// A changed member that was compared.
#[derive(Clone, Debug)]
pub struct DeepMember {
    /// Its logical path.
    pub path: String,
    /// What it is on the right.
    pub format: String,
    /// Whether structures on either side could not be read.
    pub partial: bool,
    /// What differs, by topic; may be empty.
    pub topics: Vec<TopicChanges>,
}

/// A member that a domain should read and could not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Its logical path.
    pub path: String,
    /// Why, as a sentence.
    pub reason: String,
}

impl Deep {
    /// The members that were compared, by path.
    pub fn members(&self) -> &[DeepMember] {
        &self.members
    }

    /// Those that could not be, by path.
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// What is to be said of the whole.
    pub(super) fn limitations(&self) -> Vec<String> {
        let mut said = vec![ONLY_CHANGED.to_owned()];
        if self.partial > 0 {
            said.push(format!(
                "{} read in part; what is said of them rests on the structures that could be read.",
                counted(self.partial, "member was", "members were")
            ));
        }
        if !self.unread.is_empty() {
            said.push(format!(
                "{} not be compared inside; they stand in deep.unread with the reason.",
                counted(self.unread.len() as u64, "member could", "members could")
            ));
        }
        said
    }
}

/// A pair to compare.
struct Pair {
    path: String,
    format: String,
    sizes: [u64; 2],
    domain: Domain,
}

/// Compares what is inside of the changed members of two pieces of software.
pub(super) fn compare(
    comparison: &Comparison,
    sides: [&Readable<'_>; 2],
    domains: &[Domain],
    context: &Context,
) -> Result<Deep> {
    let mut deep = Deep::default();
    let mut pairs = Vec::new();
    for change in &comparison.changes {
        match candidate(comparison, change, domains) {
            Candidate::Pair(pair) => pairs.push(pair),
            Candidate::Unread(unread) => deep.unread.push(unread),
            Candidate::Nothing => {}
        }
    }
    let total: u64 = pairs.iter().flat_map(|pair| pair.sizes).sum();
    context.progress.expect(pairs.len() as u64, total);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(context.threads)
        .build()
        .map_err(|error| {
            let message = format!("threads cannot be started: {error}");
            Error::artifact(context.operation, ArtifactReason::Io, message)
        })?;
    let mut told = 0usize;
    for batch in batches(&pairs, BATCH, |pair| pair.sizes[0].max(pair.sizes[1])) {
        context.check()?;
        let paths: Vec<&str> = batch.iter().map(|pair| pair.path.as_str()).collect();
        let [left, right] = sides;
        let (left, right) = (left.read(&paths, context)?, right.read(&paths, context)?);
        let chunks = batches(batch, IN_MEMORY, |pair| {
            pair.sizes[0].saturating_add(pair.sizes[1])
        });
        for chunk in chunks {
            let one = |pair: &Pair| compare_pair(pair, &left, &right, context);
            let results: Vec<Result<Outcome>> =
                pool.install(|| chunk.par_iter().map(one).collect());
            for (pair, result) in chunk.iter().zip(results) {
                deep.take(pair, result?, &mut told);
            }
        }
    }
    deep.unread.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(deep)
}

/// Cuts into runs that together have at most so many bytes.
fn batches<T>(all: &[T], most: u64, size: impl Fn(&T) -> u64) -> Vec<&[T]> {
    let mut batches = Vec::new();
    let (mut rest, mut length, mut bytes) = (all, 0, 0u64);
    for one in all {
        let size = size(one);
        if length > 0 && bytes.saturating_add(size) > most {
            let (batch, after) = rest.split_at(length);
            batches.push(batch);
            (rest, length, bytes) = (after, 0, 0);
        }
        length += 1;
        bytes = bytes.saturating_add(size);
    }
    if !rest.is_empty() {
        batches.push(rest);
    }
    batches
}

enum Candidate {
    Pair(Pair),
    Unread(Unread),
    Nothing,
}

/// Whether a change is one of a member that a domain reads.
fn candidate(comparison: &Comparison, change: &Change, domains: &[Domain]) -> Candidate {
    let (left, right) = (comparison.left(), comparison.right());
    if change.left == NONE || change.right == NONE {
        return Candidate::Nothing;
    }
    let domain_of = |side: &Retained, at: u32| {
        let format = side.format(at);
        domains
            .iter()
            .position(|domain| domain.formats.contains(&format))
    };
    let found = [domain_of(left, change.left), domain_of(right, change.right)];
    let path = comparison.path(change).to_owned();
    let unread = |reason: String| {
        Candidate::Unread(Unread {
            path: comparison.path(change).to_owned(),
            reason,
        })
    };
    let is_program = |side: &Retained, at: u32| {
        let kind = side.kind(at);
        matches!(side.entry_kind(at), "file" | "slice")
            && matches!(kind, "executable" | "dynamic-library" | "native-addon")
    };
    let is_file = |side: &Retained, at: u32| matches!(side.entry_kind(at), "file" | "slice");
    match change.classification {
        Classification::Changed if change.dimensions.has(Dimensions::CONTENT) => {}
        Classification::Changed | Classification::Added | Classification::Removed => {
            return Candidate::Nothing;
        }
        Classification::Unknown | Classification::Contradiction => {
            let known = found.iter().any(Option::is_some)
                || is_program(left, change.left)
                || is_program(right, change.right);
            return match (known, change.classification) {
                (false, _) => Candidate::Nothing,
                (true, Classification::Contradiction) => {
                    unread("Its bytes are not those that its container declares.".to_owned())
                }
                (true, _) => unread("Its bytes were not read on one of the sides.".to_owned()),
            };
        }
    }
    let domain = match found {
        [Some(one), Some(other)] if one == other => domains.get(one).copied(),
        [None, None] => return Candidate::Nothing,
        _ => None,
    };
    let (Some(one), Some(other)) = (left.node(change.left), right.node(change.right)) else {
        return unread("Its bytes were not read on one of the sides.".to_owned());
    };
    let Some(domain) =
        domain.filter(|_| is_file(left, change.left) && is_file(right, change.right))
    else {
        let (before, after) = (left.format(change.left), right.format(change.right));
        return unread(format!(
            "It is {before} on the left and {after} on the right."
        ));
    };
    if one.size.max(other.size) > MAX_MEMBER {
        return unread(format!("It has more than {MAX_MEMBER} bytes."));
    }
    Candidate::Pair(Pair {
        path,
        format: right.format(change.right).to_owned(),
        sizes: [one.size, other.size],
        domain,
    })
}

enum Outcome {
    Compared(Vec<TopicChanges>, bool),
    Unread(String),
}

fn compare_pair(
    pair: &Pair,
    left: &HashMap<String, Source>,
    right: &HashMap<String, Source>,
    context: &Context,
) -> Result<Outcome> {
    context.check()?;
    let bytes = |side: &HashMap<String, Source>| {
        let source = side.get(&pair.path).ok_or_else(|| gone(pair, context))?;
        let length = usize::try_from(source.len()).unwrap_or(usize::MAX);
        source
            .read_vec(0, length)
            .map_err(|error| Error::file_io("read", &pair.path, &error))
    };
    let (before, after) = (bytes(left)?, bytes(right)?);
    context
        .progress
        .add_bytes(before.len() as u64 + after.len() as u64);
    context.progress.add_entries(1);
    let read = |side: &str, bytes| {
        (pair.domain.read)(bytes).map_err(|reason| format!("On the {side}, {reason}."))
    };
    let facts = read("left", before.as_slice())
        .and_then(|before| Ok((before, read("right", after.as_slice())?)));
    Ok(match facts {
        Ok((before, after)) => {
            let partial = before.partial || after.partial;
            Outcome::Compared(member_facts::compare(before, after), partial)
        }
        Err(reason) => Outcome::Unread(reason),
    })
}

fn gone(pair: &Pair, context: &Context) -> Error {
    let message = format!("{} was not read", pair.path);
    Error::artifact(context.operation, ArtifactReason::Integrity, message)
        .detail("logical_path", pair.path.as_str())
}

impl Deep {
    /// Keeps what was found, in the order of the paths, so that what does not
    /// fit is the same on any number of threads.
    fn take(&mut self, pair: &Pair, outcome: Outcome, told: &mut usize) {
        let unread = |reason: String| Unread {
            path: pair.path.clone(),
            reason,
        };
        match outcome {
            Outcome::Unread(reason) => self.unread.push(unread(reason)),
            Outcome::Compared(topics, partial) => {
                let bytes: usize = topics.iter().map(TopicChanges::bytes).sum();
                if told.saturating_add(bytes) > MAX_TOLD {
                    let reason = "Its differences are more than a record takes.".to_owned();
                    self.unread.push(unread(reason));
                    return;
                }
                *told += bytes;
                self.partial += u64::from(partial);
                self.members.push(DeepMember {
                    path: pair.path.clone(),
                    format: pair.format.clone(),
                    partial,
                    topics,
                });
            }
        }
    }
}

/// `deep`: a row a path and topic, and what was compared without a difference.
impl WriteJson for Deep {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("changes");
        w.begin_array();
        for member in &self.members {
            for topic in &member.topics {
                write_topic(&member.path, topic, w);
            }
        }
        w.end_array();
        w.key("members");
        w.begin_array();
        for member in &self.members {
            w.begin_object();
            w.member("format", &member.format);
            w.member("logical_path", &member.path);
            w.member("partial", member.partial);
            w.end_object();
        }
        w.end_array();
        w.key("unread");
        w.begin_array();
        for one in &self.unread {
            w.begin_object();
            w.member("logical_path", &one.path);
            w.member("reason", &one.reason);
            w.end_object();
        }
        w.end_array();
        w.end_object();
    }
}

fn write_topic(path: &str, changes: &TopicChanges, w: &mut Writer<'_>) {
    let pairs = |rows: &[(String, String)], w: &mut Writer<'_>| {
        w.begin_array();
        for (name, detail) in rows {
            w.begin_object();
            w.member("detail", detail);
            w.member("name", name);
            w.end_object();
        }
        w.end_array();
    };
    w.begin_object();
    w.key("added");
    pairs(&changes.added, w);
    w.key("changed");
    w.begin_array();
    for one in &changes.changed {
        w.begin_object();
        w.member("after", &one.after);
        w.member("before", &one.before);
        w.member("name", &one.name);
        w.end_object();
    }
    w.end_array();
    w.member("logical_path", path);
    w.key("removed");
    pairs(&changes.removed, w);
    w.member("topic", changes.topic.as_str());
    w.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_what_fits() {
        let sizes = [4u64, 4, 9, 1, 1, 12, 0];
        let cut = batches(&sizes, 8, |&size| size);
        let expected: [&[u64]; 5] = [&[4, 4], &[9], &[1, 1], &[12], &[0]];
        assert_eq!(cut, expected);
        assert!(batches(&[] as &[u64], 8, |&size| size).is_empty());
    }
}
