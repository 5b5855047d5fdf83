//! The same content under another path.

use crate::artifact::compare::{Classification, Comparison, Dimensions};
use crate::artifact::retained::Retained;
use crate::digest::Digest;

/// An entry that is gone under one path and new under another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Row on the left.
    pub left: u32,
    /// Row on the right.
    pub right: u32,
    /// In what else it differs: kind, format, executable, metadata.
    pub dimensions: Dimensions,
}

/// What can have moved: everything that was read but directories, which move
/// with what they hold.
#[derive(Clone, Copy, Debug)]
struct Candidate<'a> {
    content: (Digest, bool),
    /// The last part of the path.
    name: &'a str,
    at: u32,
    empty: bool,
}

/// Pairs removed and added paths of equal content. Where several are equal,
/// those with the same file name go together first, then the rest, each in
/// order of the paths. Empty files prove nothing and need the same name.
pub(super) fn find(comparison: &Comparison) -> Vec<Move> {
    let mut gone = candidates(comparison, Classification::Removed);
    let mut new = candidates(comparison, Classification::Added);
    let by_name = |one: &Candidate<'_>, other: &Candidate<'_>| {
        (one.content, one.name, one.at).cmp(&(other.content, other.name, other.at))
    };
    let mut pairs = Vec::new();
    gone.sort_unstable_by(by_name);
    new.sort_unstable_by(by_name);
    let (gone, new) = pair(gone, new, |one| (one.content, one.name), &mut pairs);
    let named = |all: Vec<Candidate<'_>>| {
        let mut all: Vec<_> = all.into_iter().filter(|one| !one.empty).collect();
        all.sort_unstable_by_key(|one| (one.content, one.at));
        all.into_iter()
            .map(|one| Candidate { name: "", ..one })
            .collect::<Vec<_>>()
    };
    pair(
        named(gone),
        named(new),
        |one| (one.content, one.name),
        &mut pairs,
    );
    let mut moves: Vec<Move> = pairs
        .into_iter()
        .map(|(left, right)| Move {
            left,
            right,
            dimensions: comparison
                .differences(left, right)
                .without(Dimensions::RELATIONS),
        })
        .collect();
    moves.sort_unstable_by_key(|one| one.left);
    moves
}

fn candidates(comparison: &Comparison, class: Classification) -> Vec<Candidate<'_>> {
    let gone = class == Classification::Removed;
    let side = if gone {
        comparison.left()
    } else {
        comparison.right()
    };
    let of_class = comparison
        .changes
        .iter()
        .filter(|change| change.classification == class);
    of_class
        .filter_map(|change| candidate(side, if gone { change.left } else { change.right }))
        .collect()
}

fn candidate(side: &Retained, at: u32) -> Option<Candidate<'_>> {
    let node = side.node(at)?;
    let kind = side.entry_kind(at);
    if kind == "directory" || side.status(at) != "verified" {
        return None;
    }
    Some(Candidate {
        content: (node.id, kind == "symlink"),
        name: side.path(at).rsplit('/').next().unwrap_or_default(),
        at,
        empty: node.size == 0,
    })
}

/// Pairs what has the same key, in order; returns what is left over.
fn pair<'a, K: Ord>(
    gone: Vec<Candidate<'a>>,
    new: Vec<Candidate<'a>>,
    key: impl Fn(&Candidate<'a>) -> K,
    pairs: &mut Vec<(u32, u32)>,
) -> (Vec<Candidate<'a>>, Vec<Candidate<'a>>) {
    let (mut rest_gone, mut rest_new) = (Vec::new(), Vec::new());
    let (mut gone, mut new) = (gone.into_iter().peekable(), new.into_iter().peekable());
    loop {
        match (gone.peek(), new.peek()) {
            (None, None) => return (rest_gone, rest_new),
            (Some(_), None) => rest_gone.extend(gone.next()),
            (None, Some(_)) => rest_new.extend(new.next()),
            (Some(one), Some(other)) => match key(one).cmp(&key(other)) {
                std::cmp::Ordering::Less => rest_gone.extend(gone.next()),
                std::cmp::Ordering::Greater => rest_new.extend(new.next()),
                std::cmp::Ordering::Equal => {
                    pairs.push((one.at, other.at));
                    gone.next();
                    new.next();
                }
            },
        }
    }
}
