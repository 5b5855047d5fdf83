//! Where the verifier is in a document, and whether names come in order.

use std::cmp::Ordering;

use crate::json::{Text, Value, cmp_utf16};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A member's name; long ones are cut.
    Name(Text),
    /// An element's number, from 0.
    Index(u64),
}

/// A path from the root of a record, as messages give it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer(Vec<Segment>);

/// Names in a path are cut to this many bytes.
const SHOWN: usize = 256;

impl Pointer {
    /// The steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The same path, one step longer.
    #[must_use]
    pub fn member(mut self, name: &str) -> Self {
        self.0.push(Segment::Name(name.into()));
        self
    }

    /// The same path, one step longer: a name from a document, cut where it is
    /// long.
    #[must_use]
    pub(super) fn named(mut self, name: &[u8]) -> Self {
        self.0.push(Segment::Name(shown(name)));
        self
    }

    /// The same path, one element longer.
    #[must_use]
    pub fn element(mut self, index: u64) -> Self {
        self.0.push(Segment::Index(index));
        self
    }

    /// The same path from the root of what holds it at `outer`.
    #[must_use]
    pub fn within(&self, outer: &Self) -> Self {
        Self(outer.0.iter().chain(&self.0).cloned().collect())
    }

    /// As the `path` of an issue: names and numbers.
    pub(crate) fn to_values(&self) -> Vec<Value> {
        self.0
            .iter()
            .map(|segment| match segment {
                Segment::Name(name) => Value::String(name.clone()),
                Segment::Index(index) => Value::from(*index),
            })
            .collect()
    }

    /// As sentences call the place: `locations[0].offset`.
    pub(crate) fn dotted(&self) -> String {
        let mut out = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Index(index) => out.push_str(&format!("[{index}]")),
                Segment::Name(name) => {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(&String::from_utf8_lossy(name.as_bytes()));
                }
            }
        }
        out
    }

    /// As a JSON Pointer (RFC 6901), WTF-8.
    pub fn to_text(&self) -> Text {
        let mut out = Vec::new();
        for segment in &self.0 {
            out.push(b'/');
            match segment {
                Segment::Index(index) => out.extend(index.to_string().bytes()),
                Segment::Name(name) => {
                    for &byte in name.as_bytes() {
                        match byte {
                            b'~' => out.extend(b"~0"),
                            b'/' => out.extend(b"~1"),
                            _ => out.push(byte),
                        }
                    }
                }
            }
        }
        Text::from_wtf8(out)
    }
}

impl std::fmt::Display for Pointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.to_text().as_bytes()))
    }
}

#[derive(Clone, Copy, Debug)]
struct Level {
    object: bool,
    /// Whether an object has had a member.
    started: bool,
    /// Where the name of its current member starts in `names`.
    name: usize,
    /// The current element of an array.
    index: u64,
}

/// How a member's name relates to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Ascending,
    Duplicate,
    Descending,
}

/// The open containers and their current members.
#[derive(Debug, Default)]
pub(super) struct Path {
    levels: Vec<Level>,
    names: Vec<u8>,
}

impl Path {
    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Bytes that the names of open members take.
    pub fn bytes(&self) -> usize {
        self.names.len()
    }

    /// A container opens.
    pub fn push(&mut self, object: bool) {
        self.levels.push(Level {
            object,
            started: false,
            name: self.names.len(),
            index: 0,
        });
    }

    /// The innermost container closes.
    pub fn pop(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.names.truncate(level.name);
        }
    }

    /// A member's name comes.
    pub fn key(&mut self, name: &[u8]) -> Order {
        let Some(level) = self.levels.last_mut() else {
            return Order::Ascending;
        };
        let before = self.names.get(level.name..).unwrap_or_default();
        let order = match level.started.then(|| cmp_utf16(before, name)) {
            None | Some(Ordering::Less) => Order::Ascending,
            Some(Ordering::Equal) => Order::Duplicate,
            Some(Ordering::Greater) => Order::Descending,
        };
        level.started = true;
        self.names.truncate(level.name);
        self.names.extend_from_slice(name);
        order
    }

    /// Whether the current member of the innermost object has this name.
    pub fn is_at(&self, name: &[u8]) -> bool {
        self.levels
            .last()
            .is_some_and(|level| level.object && self.names.get(level.name..) == Some(name))
    }

    /// A value comes: counts it where it is an element.
    pub fn value(&mut self) {
        if let Some(level) = self.levels.last_mut()
            && !level.object
        {
            if level.started {
                level.index += 1;
            }
            level.started = true;
        }
    }

    /// How many elements the innermost array has had.
    pub fn elements(&self) -> u64 {
        self.levels
            .last()
            .map_or(0, |level| level.index + u64::from(level.started))
    }

    /// The path through the containers `from..to`, counted from the outside.
    pub fn pointer(&self, from: usize, to: usize) -> Pointer {
        let segment = |at: usize| {
            let level = self.levels.get(at)?;
            if !level.object {
                return Some(Segment::Index(level.index));
            }
            let end = self
                .levels
                .get(at + 1)
                .map_or(self.names.len(), |next| next.name);
            Some(Segment::Name(shown(self.names.get(level.name..end)?)))
        };
        Pointer((from..to).filter_map(segment).collect())
    }
}

/// A name as paths show it: its first bytes, cut between characters.
fn shown(name: &[u8]) -> Text {
    let mut end = name.len().min(SHOWN);
    while end < name.len() && end > 0 && name.get(end).is_some_and(|b| b & 0xC0 == 0x80) {
        end -= 1;
    }
    let mut out = name.get(..end).unwrap_or_default().to_vec();
    if end < name.len() {
        out.extend(b"...");
    }
    Text::from_wtf8(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_a_document() {
        let mut path = Path::default();
        path.push(true);
        assert_eq!(path.key(b"a"), Order::Ascending);
        path.push(false);
        path.value();
        path.value();
        path.push(true);
        assert_eq!(path.key(b"~/"), Order::Ascending);
        assert_eq!(path.pointer(0, 3).to_text(), "/a/1/~0~1");
        assert_eq!(path.pointer(1, 2).to_text(), "/1");
        path.pop();
        assert_eq!(path.elements(), 2);
        path.pop();
        assert_eq!(path.key(b"a"), Order::Duplicate);
        assert_eq!(path.key(b""), Order::Descending);
        assert_eq!(path.key("\u{10000}".as_bytes()), Order::Ascending);
        assert_eq!(path.key("\u{E000}".as_bytes()), Order::Ascending);
    }
}
