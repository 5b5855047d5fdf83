//! Both inventories side by side, path by path.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use super::{Change, Classification, Dimensions, Opaque};
use crate::artifact::limitation;
use crate::artifact::retained::{Edge, NONE, Retained};
use crate::error::Result;
use crate::operation::Context;

/// Between two looks at the stop request.
const ROWS: u32 = 4096;

/// All paths that are not alike. `opaque` are the containers that only one
/// side opened; without them nothing is covered.
pub(super) fn changes(
    left: &Retained,
    right: &Retained,
    opaque: Option<&[Opaque]>,
    context: &Context,
) -> Result<Vec<Change>> {
    let below = opaque.map(Below::new);
    let one_sided = |change: Change, classification| {
        let left_only = change.right == NONE;
        let at = if left_only { change.left } else { change.right };
        let covered = below
            .as_ref()
            .is_some_and(|below| !below.has(left_only, at));
        let (classification, dimensions) = if covered {
            (classification, Dimensions::CONTENT)
        } else {
            (Classification::Unknown, Dimensions::AVAILABILITY)
        };
        Change {
            classification,
            dimensions,
            ..change
        }
    };
    let mut changes = Vec::new();
    let mut pairs = Pairs::new(left, right);
    merge(left, right, context, &mut |at_left, at_right| {
        let change = Change {
            left: at_left,
            right: at_right,
            classification: Classification::Unknown,
            dimensions: Dimensions::AVAILABILITY,
        };
        if at_left == NONE {
            changes.push(one_sided(change, Classification::Added));
        } else if at_right == NONE {
            changes.push(one_sided(change, Classification::Removed));
        } else if let Some((classification, dimensions)) = pairs.compare(at_left, at_right) {
            changes.push(Change {
                classification,
                dimensions,
                ..change
            });
        }
    })?;
    changes.shrink_to_fit();
    Ok(changes)
}

/// Calls `each` for every path of either side in order, with its rows.
fn merge(
    left: &Retained,
    right: &Retained,
    context: &Context,
    each: &mut dyn FnMut(u32, u32),
) -> Result<()> {
    let (mut at_left, mut at_right) = (0, 0);
    let mut until_check = ROWS;
    loop {
        let order = match (at_left < left.len(), at_right < right.len()) {
            (false, false) => return Ok(()),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) => left.path(at_left).cmp(right.path(at_right)),
        };
        let row_left = if order == Ordering::Greater {
            NONE
        } else {
            at_left
        };
        let row_right = if order == Ordering::Less {
            NONE
        } else {
            at_right
        };
        each(row_left, row_right);
        at_left += u32::from(row_left != NONE);
        at_right += u32::from(row_right != NONE);
        until_check -= 1;
        if until_check == 0 {
            context.check()?;
            until_check = ROWS;
        }
    }
}

/// For each row whether rows below it are listed. The root has no flag.
///
/// Paths are sorted, so the rows that a path starts with are a chain: the
/// nearest of them that a slash follows is the row it is below.
pub(super) fn flags(side: &Retained, context: &Context) -> Result<Vec<bool>> {
    let mut flags = vec![false; side.len() as usize];
    let mut chain: Vec<u32> = Vec::new();
    for at in 0..side.len() {
        if at.is_multiple_of(ROWS) {
            context.check()?;
        }
        let path = side.path(at).as_bytes();
        while let Some(&top) = chain.last() {
            if path.starts_with(side.path(top).as_bytes()) {
                break;
            }
            chain.pop();
        }
        let above = chain
            .iter()
            .rev()
            .find(|&&above| path.get(side.path(above).len()) == Some(&b'/'));
        if let Some(flag) = above.and_then(|&above| flags.get_mut(above as usize)) {
            *flag = true;
        }
        chain.push(at);
    }
    Ok(flags)
}

/// The containers that one side opened and the other did not.
pub(super) fn opaque(
    left: &Retained,
    right: &Retained,
    flags: &[Vec<bool>; 2],
    context: &Context,
) -> Result<Vec<Opaque>> {
    // Archives behind other content are looked for in folders, not in archives
    // (decision 11).
    let folder = |side: &Retained| side.entry_kind(side.root()) == "directory";
    let same_reader = left.reader() == right.reader() && folder(left) == folder(right);
    let [left_flags, right_flags] = flags;
    let flag = |flags: &[bool], at: u32| flags.get(at as usize).copied().unwrap_or_default();
    let mut found = Vec::new();
    merge(left, right, context, &mut |at_left, at_right| {
        if at_left == NONE || at_right == NONE || at_left == left.root() {
            return;
        }
        let (open_left, open_right) = (flag(left_flags, at_left), flag(right_flags, at_right));
        if open_left == open_right {
            return;
        }
        let (closed, at, open, other) = if open_left {
            (right, at_right, left, at_left)
        } else {
            (left, at_left, right, at_right)
        };
        if may_hold_more(closed, at, open, other, same_reader) {
            found.push(Opaque {
                left_is_opaque: open_right,
                at,
                below: open.below(open.path(other)),
            });
        }
    })?;
    Ok(found)
}

/// Whether a row without rows below it may still hold what `open` lists below
/// its twin: a container that was not opened (also one that counts as an
/// executable, decision 21), a file that was not read, or one that was read by
/// other rules. The same bytes hold the same, whatever was looked at.
fn may_hold_more(
    closed: &Retained,
    at: u32,
    open: &Retained,
    other: u32,
    same_reader: bool,
) -> bool {
    let is_file = |side: &Retained, at| matches!(side.entry_kind(at), "file" | "slice");
    is_file(closed, at)
        && (closed.kind(at) == "container"
            || closed.status(at) != "verified"
            || closed.artifact(at).is_some() && closed.artifact(at) == open.artifact(other)
            || limitation::says_opaque(closed.said(at))
            || (!same_reader && is_file(open, other)))
}

/// The rows below opaque containers. Nothing is below two of them, because
/// the side that did not open the outer one lists nothing inside it.
struct Below {
    on_left: Vec<Range<u32>>,
    on_right: Vec<Range<u32>>,
}

impl Below {
    fn new(opaque: &[Opaque]) -> Self {
        let side = |left: bool| {
            let other = opaque.iter().filter(|one| one.left_is_opaque != left);
            let mut ranges: Vec<_> = other.map(|one| one.below.clone()).collect();
            ranges.sort_unstable_by_key(|range| range.start);
            ranges
        };
        Self {
            on_left: side(true),
            on_right: side(false),
        }
    }

    fn has(&self, left: bool, at: u32) -> bool {
        let ranges = if left { &self.on_left } else { &self.on_right };
        let after = ranges.partition_point(|range| range.start <= at);
        let last = after.checked_sub(1).and_then(|last| ranges.get(last));
        last.is_some_and(|range| range.contains(&at))
    }
}

/// Compares rows of the same path, which come in order.
pub(super) struct Pairs<'a> {
    left: &'a Retained,
    right: &'a Retained,
    /// What pairs of roles and pairs of natures differ in, once computed.
    roles: HashMap<(u32, u32), Dimensions>,
    natures: HashMap<(u32, u32), Dimensions>,
}

impl<'a> Pairs<'a> {
    pub fn new(left: &'a Retained, right: &'a Retained) -> Self {
        Self {
            left,
            right,
            roles: HashMap::new(),
            natures: HashMap::new(),
        }
    }

    /// `None` where they are alike.
    pub fn compare(&mut self, at_left: u32, at_right: u32) -> Option<(Classification, Dimensions)> {
        let (left, right) = (self.left, self.right);
        let statuses = [left.status(at_left), right.status(at_right)];
        if statuses.contains(&"mismatched") {
            return Some((Classification::Contradiction, Dimensions::INTEGRITY));
        }
        let nodes = (left.node(at_left), right.node(at_right));
        let (Some(node_left), Some(node_right)) = nodes else {
            return Some((Classification::Unknown, Dimensions::AVAILABILITY));
        };
        if statuses != ["verified"; 2] {
            return Some((Classification::Unknown, Dimensions::AVAILABILITY));
        }
        let mut differ = self.roles(at_left, at_right);
        differ = differ.with(self.natures(node_left.nature, node_right.nature));
        if node_left.id != node_right.id {
            differ = differ.with(Dimensions::CONTENT);
        }
        if node_left.size != node_right.size {
            differ = differ.with(Dimensions::SIZE);
        }
        if !self.same_relations(at_left, at_right) {
            differ = differ.with(Dimensions::RELATIONS);
        }
        (!differ.is_empty()).then_some((Classification::Changed, differ))
    }

    fn roles(&mut self, at_left: u32, at_right: u32) -> Dimensions {
        let (left, right) = (self.left, self.right);
        let rows = (left.row(at_left), right.row(at_right));
        let (Some(row_left), Some(row_right)) = rows else {
            return Dimensions::default();
        };
        let key = (row_left.role, row_right.role);
        if let Some(&known) = self.roles.get(&key) {
            return known;
        }
        let (Some(one), Some(other)) = (left.role(at_left), right.role(at_right)) else {
            return Dimensions::default();
        };
        let differ = |a: u32, b: u32| left.word(a) != right.word(b);
        let mut found = Dimensions::default();
        let mut add = |differs: bool, dimension| {
            if differs {
                found = found.with(dimension);
            }
        };
        add(differ(one.kind, other.kind), Dimensions::KIND);
        add(differ(one.format, other.format), Dimensions::FORMAT);
        add(one.executable != other.executable, Dimensions::EXECUTABLE);
        let metadata = differ(one.entry_kind, other.entry_kind)
            || one.encrypted != other.encrypted
            || differ(one.limitations, other.limitations)
            // Set-id bits are ours, and change who runs it (decision 15).
            || differ(one.mode, other.mode);
        add(metadata, Dimensions::METADATA);
        self.roles.insert(key, found);
        found
    }

    fn natures(&mut self, nature_left: u32, nature_right: u32) -> Dimensions {
        let key = (nature_left, nature_right);
        if let Some(&known) = self.natures.get(&key) {
            return known;
        }
        let (left, right) = (self.left, self.right);
        let natures = (left.nature(nature_left), right.nature(nature_right));
        let (Some(one), Some(other)) = natures else {
            return Dimensions::default();
        };
        let differ = |a: u32, b: u32| left.word(a) != right.word(b);
        let mut found = Dimensions::default();
        if differ(one.format, other.format) {
            found = found.with(Dimensions::FORMAT);
        }
        if differ(one.media_type, other.media_type)
            || differ(one.architecture, other.architecture)
            || differ(one.state, other.state)
            || differ(one.limitations, other.limitations)
        {
            found = found.with(Dimensions::METADATA);
        }
        self.natures.insert(key, found);
        found
    }

    /// Whether both have the same edges: from the same path, to the same
    /// content, in the same relation, by the same producer.
    fn same_relations(&self, at_left: u32, at_right: u32) -> bool {
        let (left, right) = (self.left, self.right);
        let (ours, theirs) = (left.edges(at_left), right.edges(at_right));
        if ours.len() != theirs.len() {
            return false;
        }
        if ours.is_empty() {
            return true;
        }
        if left.artifact(at_left) != right.artifact(at_right) {
            return false;
        }
        if let ([ours], [theirs]) = (ours, theirs) {
            return relation(left, ours) == relation(right, theirs);
        }
        let sorted = |side, edges: &'a [Edge]| {
            let mut all: Vec<_> = edges.iter().map(|edge| relation(side, edge)).collect();
            all.sort_unstable();
            all
        };
        sorted(left, ours) == sorted(right, theirs)
    }
}

fn relation<'a>(side: &'a Retained, edge: &Edge) -> (&'a str, &'a str, &'a str) {
    (
        side.path(edge.parent),
        side.word(edge.relation),
        side.word(edge.producer),
    )
}
