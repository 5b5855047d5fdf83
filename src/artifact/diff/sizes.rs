//! Where the bytes went: sums over leaf entries, and the largest changes.
//!
//! A leaf is a file, slice or link below which nothing is listed; counting a
//! container and its members would count bytes twice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::moves::Move;
use crate::artifact::compare::{Change, Comparison};
use crate::artifact::retained::{NONE, Retained};

/// How many of the largest changes a record lists.
pub(super) const LARGEST: usize = 20;

/// Entries and what they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub entries: u64,
    /// Bytes of content, of those that were read.
    pub bytes: u64,
    /// Entries whose container says how many bytes they take in it.
    pub compressed_entries: u64,
    /// Those bytes.
    pub compressed_bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64, compressed: Option<u64>) {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(compressed) = compressed {
            self.compressed_entries += 1;
            self.compressed_bytes = self.compressed_bytes.saturating_add(compressed);
        }
    }
}

/// Entries of one kind or format.
#[derive(Clone, Copy, Debug)]
pub struct Category<'a> {
    /// The kind or format.
    pub name: &'a str,
    /// On the left.
    pub left: Amount,
    /// On the right.
    pub right: Amount,
}

/// An entry whose size differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    change: Change,
    /// `None` where it is not there.
    pub left_bytes: Option<u64>,
    /// `None` where it is not there.
    pub right_bytes: Option<u64>,
}

impl Growth {
    pub fn path<'a>(&self, comparison: &'a Comparison) -> &'a str {
        comparison.path(&self.change)
    }

    fn difference(&self) -> u64 {
        let (left, right) = (self.left_bytes.unwrap_or(0), self.right_bytes.unwrap_or(0));
        left.abs_diff(right)
    }
}

type Table = BTreeMap<Box<str>, [Amount; 2]>;

#[derive(Debug, Default)]
pub(super) struct Sizes {
    by_kind: Table,
    by_format: Table,
    total: [Amount; 2],
    largest: Vec<Growth>,
}

impl Sizes {
    pub fn by_kind(&self) -> impl Iterator<Item = Category<'_>> {
        categories(&self.by_kind)
    }

    pub fn by_format(&self) -> impl Iterator<Item = Category<'_>> {
        categories(&self.by_format)
    }

    pub fn total(&self) -> [Amount; 2] {
        self.total
    }

    pub fn largest(&self) -> &[Growth] {
        &self.largest
    }
}

fn categories(table: &Table) -> impl Iterator<Item = Category<'_>> {
    table
        .iter()
        .map(|(name, &[left, right])| Category { name, left, right })
}

pub(super) fn measure(comparison: &Comparison, moves: &[Move]) -> Sizes {
    let mut sizes = Sizes::default();
    sum(&mut sizes, comparison.left(), 0, &|at| {
        comparison.is_leaf(true, at)
    });
    sum(&mut sizes, comparison.right(), 1, &|at| {
        comparison.is_leaf(false, at)
    });
    sizes.largest = largest(comparison, moves);
    sizes
}

fn sum(sizes: &mut Sizes, side: &Retained, which: usize, is_leaf: &dyn Fn(u32) -> bool) {
    for at in (0..side.len()).filter(|&at| is_leaf(at)) {
        let bytes = side.node(at).map_or(0, |node| node.size);
        let compressed = side.row(at).map(|row| row.compressed);
        let compressed = compressed.filter(|&bytes| bytes != u64::MAX);
        let tables = [
            (&mut sizes.by_kind, side.kind(at)),
            (&mut sizes.by_format, side.format(at)),
        ];
        for (table, name) in tables {
            if !table.contains_key(name) {
                table.insert(name.into(), Default::default());
            }
            let amount = table.get_mut(name).and_then(|both| both.get_mut(which));
            if let Some(amount) = amount {
                amount.add(bytes, compressed);
            }
        }
        if let Some(total) = sizes.total.get_mut(which) {
            total.add(bytes, compressed);
        }
    }
}

fn largest(comparison: &Comparison, moves: &[Move]) -> Vec<Growth> {
    let moved_from: HashSet<u32> = moves.iter().map(|one| one.left).collect();
    let moved_to: HashSet<u32> = moves.iter().map(|one| one.right).collect();
    let size = |left: bool, at: u32| {
        let side = if left {
            comparison.left()
        } else {
            comparison.right()
        };
        side.node(at).map(|node| node.size)
    };
    let mut all: Vec<Growth> = comparison
        .changes
        .iter()
        .filter(|change| {
            let leaf = |left, at| at == NONE || comparison.is_leaf(left, at);
            let moved = change.right == NONE && moved_from.contains(&change.left)
                || change.left == NONE && moved_to.contains(&change.right);
            leaf(true, change.left) && leaf(false, change.right) && !moved
        })
        .map(|&change| Growth {
            change,
            left_bytes: size(true, change.left),
            right_bytes: size(false, change.right),
        })
        .filter(|growth| {
            // What one side could not read is no growth.
            let known = |at: u32, bytes: Option<u64>| at == NONE || bytes.is_some();
            known(growth.change.left, growth.left_bytes)
                && known(growth.change.right, growth.right_bytes)
                && growth.difference() > 0
        })
        .collect();
    // Changes are in order of their paths, which decides among equals.
    all.sort_by_key(|growth| Reverse(growth.difference()));
    all.truncate(LARGEST);
    all
}
