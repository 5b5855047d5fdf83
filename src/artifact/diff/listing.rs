//! What differs, for people: leaf entries only, one line for a container that
//! is wholly new or gone, and one for a container that was not opened.

use std::collections::{BTreeMap, HashMap};

use super::moves::Move;
use crate::artifact::compare::{Change, Classification, Comparison, Dimensions};
use crate::artifact::retained::{NONE, Retained};

/// One line.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Logical path, on the right side where it is there.
    pub path: &'a str,
    /// For moved entries, the path before.
    pub from: Option<&'a str>,
    /// Bytes on the left; `None` for directories and what was not read or is
    /// not there.
    pub left_size: Option<u64>,
    /// The same on the right.
    pub right_size: Option<u64>,
    /// `directory`, `symlink`, or the part that a file plays.
    pub kind: &'a str,
    /// Entries below it that it stands for.
    pub members: u64,
    /// In what it differs.
    pub dimensions: Dimensions,
}

/// Lines by class, each in order of the paths.
#[derive(Clone, Debug, Default)]
pub struct Listing<'a> {
    /// Only on the right.
    pub added: Vec<Line<'a>>,
    /// Only on the left.
    pub removed: Vec<Line<'a>>,
    /// On both, not alike.
    pub changed: Vec<Line<'a>>,
    /// Same content, other path.
    pub moved: Vec<Line<'a>>,
    /// Containers with other bytes and the same entries.
    pub repacked: Vec<Line<'a>>,
    /// What cannot be told.
    pub unknown: Vec<Line<'a>>,
    /// What contradicts its declared digest.
    pub contradicted: Vec<Line<'a>>,
}

impl Listing<'_> {
    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.added.len()
            + self.removed.len()
            + self.changed.len()
            + self.moved.len()
            + self.repacked.len()
            + self.unknown.len()
            + self.contradicted.len()
    }

    /// Whether there is nothing to list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rows of one side that the line of a container stands for: their end and the
/// container's row, by the first of them.
#[derive(Debug, Default)]
struct Covered(BTreeMap<u32, (u32, u32)>);

impl Covered {
    /// Adds the rows below a container, unless another stands for them.
    fn add(&mut self, rows: std::ops::Range<u32>, container: u32) {
        if self.find(rows.start).is_none() {
            self.0.insert(rows.start, (rows.end, container));
        }
    }

    /// The container that stands for a row.
    fn find(&self, at: u32) -> Option<u32> {
        let (_, &(end, container)) = self.0.range(..=at).next_back()?;
        (at < end).then_some(container)
    }
}

struct Lister<'a, 'w> {
    comparison: &'a Comparison,
    wanted: Option<&'w dyn Fn(&str) -> bool>,
    moved_from: HashMap<u32, &'a Move>,
    moved_to: HashMap<u32, &'a Move>,
    /// Rows below containers that are wholly gone, new, or not opened.
    gone: Covered,
    new: Covered,
    unknown_left: Covered,
    unknown_right: Covered,
    listing: Listing<'a>,
}

pub(super) fn list<'a>(
    comparison: &'a Comparison,
    moves: &'a [Move],
    wanted: Option<&dyn Fn(&str) -> bool>,
) -> Listing<'a> {
    let mut lister = Lister {
        comparison,
        wanted,
        moved_from: moves.iter().map(|one| (one.left, one)).collect(),
        moved_to: moves.iter().map(|one| (one.right, one)).collect(),
        gone: Covered::default(),
        new: Covered::default(),
        unknown_left: Covered::default(),
        unknown_right: Covered::default(),
        listing: Listing::default(),
    };
    lister.draw_together();
    lister.list_opaque();
    lister.list_moves(moves);
    for change in &comparison.changes {
        lister.list_change(change);
    }
    let mut listing = lister.listing;
    listing.unknown.sort_by_key(|line| line.path);
    listing
}

impl<'a> Lister<'a, '_> {
    fn takes(&self, path: &str) -> bool {
        self.wanted.is_none_or(|wanted| wanted(path))
    }

    fn sides(&self) -> (&'a Retained, &'a Retained) {
        (self.comparison.left(), self.comparison.right())
    }

    /// Containers that are wholly new or gone stand for what is below them.
    fn draw_together(&mut self) {
        if self.wanted.is_some() {
            return;
        }
        for change in &self.comparison.changes {
            let (gone, at) = match change.classification {
                Classification::Removed => (true, change.left),
                Classification::Added => (false, change.right),
                _ => continue,
            };
            let (side, moved, covered) = if gone {
                (self.comparison.left(), &self.moved_from, &mut self.gone)
            } else {
                (self.comparison.right(), &self.moved_to, &mut self.new)
            };
            let container = side.entry_kind(at) != "directory"
                && self.comparison.lists_below(gone, at)
                && !moved.contains_key(&at);
            if container {
                covered.add(side.below(side.path(at)), at);
            }
        }
    }

    /// Containers that one side did not open stand for what is below them.
    fn list_opaque(&mut self) {
        let (left, right) = self.sides();
        for one in &self.comparison.opaque {
            let (closed, covered) = if one.left_is_opaque {
                (left, &mut self.unknown_right)
            } else {
                (right, &mut self.unknown_left)
            };
            let path = closed.path(one.at);
            if self.wanted.is_some_and(|wanted| !wanted(path)) {
                continue;
            }
            covered.add(one.below.clone(), one.at);
            let change = Change {
                left: left.find(path).unwrap_or(NONE),
                right: right.find(path).unwrap_or(NONE),
                classification: Classification::Unknown,
                dimensions: Dimensions::AVAILABILITY,
            };
            let members = u64::from(one.below.end.saturating_sub(one.below.start));
            let line = self.line(&change);
            self.listing.unknown.push(Line { members, ..line });
        }
    }

    /// What kept its place in a container that moved, or in one that is gone
    /// while another is new, is one line.
    fn list_moves(&mut self, moves: &[Move]) {
        let (left, right) = self.sides();
        let mut moved = Covered::default();
        let mut lines: HashMap<(u32, u32), usize> = HashMap::new();
        for one in moves {
            let (from, to) = (left.path(one.left), right.path(one.right));
            if !(self.takes(from) || self.takes(to)) {
                continue;
            }
            let around = self.around(one, &moved, from, to);
            let known = around.and_then(|around| lines.get(&around));
            let open = known.and_then(|&at| self.listing.moved.get_mut(at));
            if let Some(open) = open {
                open.members += 1;
                continue;
            }
            let (row_left, row_right) = around.unwrap_or((one.left, one.right));
            if self.wanted.is_none() && self.comparison.lists_below(true, one.left) {
                moved.add(left.below(from), one.left);
            }
            lines.insert((row_left, row_right), self.listing.moved.len());
            let line = Line {
                path: right.path(row_right),
                from: Some(left.path(row_left)),
                left_size: size(left, row_left),
                right_size: size(right, row_right),
                kind: kind(right, row_right),
                members: u64::from(around.is_some()),
                dimensions: match around {
                    Some(_) => Dimensions::CONTENT,
                    None => one.dimensions,
                },
            };
            self.listing.moved.push(line);
        }
    }

    /// The containers that a moved entry has kept its place in.
    fn around(&self, one: &Move, moved: &Covered, from: &str, to: &str) -> Option<(u32, u32)> {
        let (left, right) = self.sides();
        let pair = match moved.find(one.left) {
            Some(container) => (container, self.moved_from.get(&container)?.right),
            None => (self.gone.find(one.left)?, self.new.find(one.right)?),
        };
        let rest = from.strip_prefix(left.path(pair.0))?;
        (to.strip_prefix(right.path(pair.1)) == Some(rest) && one.dimensions.is_empty())
            .then_some(pair)
    }

    fn list_change(&mut self, change: &Change) {
        match change.classification {
            Classification::Added => self.list_one_sided(change, false),
            Classification::Removed => self.list_one_sided(change, true),
            Classification::Changed => self.list_changed(change),
            Classification::Unknown => self.list_unknown(change),
            Classification::Contradiction => {
                if self.takes(self.comparison.path(change)) {
                    let line = self.line(change);
                    self.listing.contradicted.push(line);
                }
            }
        }
    }

    fn list_one_sided(&mut self, change: &Change, gone: bool) {
        let side = if gone {
            self.comparison.left()
        } else {
            self.comparison.right()
        };
        let at = if gone { change.left } else { change.right };
        let moved = if gone {
            &self.moved_from
        } else {
            &self.moved_to
        };
        let covered = if gone { &self.gone } else { &self.new };
        if moved.contains_key(&at) || covered.find(at).is_some() {
            return;
        }
        let below = self.comparison.lists_below(gone, at);
        let folder = side.entry_kind(at) == "directory";
        let path = side.path(at);
        if folder && below || !self.takes(path) {
            return;
        }
        let rows = side.below(path);
        let line = Line {
            members: u64::from(rows.end.saturating_sub(rows.start)),
            ..self.line(change)
        };
        let lines = if gone {
            &mut self.listing.removed
        } else {
            &mut self.listing.added
        };
        lines.push(line);
    }

    fn list_changed(&mut self, change: &Change) {
        let path = self.comparison.path(change);
        if !self.takes(path) {
            return;
        }
        let comparison = self.comparison;
        let folder = comparison.left().entry_kind(change.left) == "directory"
            && comparison.right().entry_kind(change.right) == "directory";
        let both = comparison.lists_below(true, change.left)
            && comparison.lists_below(false, change.right);
        let either = comparison.lists_below(true, change.left)
            || comparison.lists_below(false, change.right);
        let follows = Dimensions::CONTENT.with(Dimensions::RELATIONS);
        if folder {
            // Its digest follows from what is in it.
            if !change.dimensions.without(follows).is_empty() {
                let line = self.line(change);
                self.listing.changed.push(line);
            }
            return;
        }
        let mut packing = follows.with(Dimensions::SIZE);
        if !comparison.differs_in_role(change) {
            // What is said of a container goes with its bytes.
            packing = packing.with(Dimensions::METADATA);
        }
        let own = change.dimensions.without(packing);
        // What follows from its entries is told of them. A container that only
        // one side opened has a line of its own already.
        let told = if both {
            comparison.differs_below(change)
        } else {
            either && !change.dimensions.has(Dimensions::CONTENT)
        };
        // Where paths are asked for, one that matches is told whatever else is.
        if own.is_empty() && told && self.wanted.is_none() {
            return;
        }
        let line = self.line(change);
        if own.is_empty() && both && !told && change.dimensions.has(Dimensions::CONTENT) {
            self.listing.repacked.push(line);
        } else {
            self.listing.changed.push(line);
        }
    }

    fn list_unknown(&mut self, change: &Change) {
        let on_left = self.unknown_left.find(change.left).is_some();
        let on_right = self.unknown_right.find(change.right).is_some();
        let one_sided = change.left == NONE || change.right == NONE;
        let path = self.comparison.path(change);
        if one_sided && (on_left || on_right) || !self.takes(path) {
            return;
        }
        let gone = change.left != NONE;
        let side = if gone {
            self.comparison.left()
        } else {
            self.comparison.right()
        };
        let at = if gone { change.left } else { change.right };
        let folder = side.entry_kind(at) == "directory";
        if one_sided && folder && self.comparison.lists_below(gone, at) {
            return;
        }
        let line = self.line(change);
        self.listing.unknown.push(line);
    }

    fn line(&self, change: &Change) -> Line<'a> {
        let (left, right) = self.sides();
        Line {
            path: self.comparison.path(change),
            from: None,
            left_size: size(left, change.left),
            right_size: size(right, change.right),
            kind: if change.right == NONE {
                kind(left, change.left)
            } else {
                kind(right, change.right)
            },
            members: 0,
            dimensions: change.dimensions,
        }
    }
}

fn size(side: &Retained, at: u32) -> Option<u64> {
    if side.entry_kind(at) == "directory" {
        return None;
    }
    side.node(at).map(|node| node.size)
}

/// What a line calls an entry.
fn kind(side: &Retained, at: u32) -> &str {
    match side.entry_kind(at) {
        "file" => side.kind(at),
        other => other,
    }
}
