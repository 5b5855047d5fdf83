//! What stands beside a record's `reported` value: places in it, found in the
//! order of the capture.

use super::Content;
use super::exclude::{Edit, edit_of};
use crate::json::{Kind, Node, Tape};

/// A number, an edit or bytes, with its JSON Pointer (WTF-8).
pub(super) enum Found<'a> {
    Number(&'a [u8]),
    Edited(Edit),
    Bytes(&'a Content),
}

/// What is looked for.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Numbers,
    Edits,
    /// By place.
    Bytes(&'a [Content]),
}

/// A walk over a part of the document with pointers relative to it.
pub(super) struct Walk<'a, F> {
    tape: &'a Tape,
    edits: &'a [(Node, Edit)],
    /// Not walked into.
    except: Option<Node>,
    wanted: Wanted<'a>,
    pointer: Vec<u8>,
    /// Takes what is found; false ends the walk.
    take: F,
}

impl<'a, F: FnMut(&[u8], Found<'a>) -> bool> Walk<'a, F> {
    /// Finds all numbers that are shown.
    pub fn numbers(
        tape: &'a Tape,
        node: Node,
        edits: &'a [(Node, Edit)],
        except: Option<Node>,
        take: F,
    ) {
        Self::walk(tape, node, edits, except, Wanted::Numbers, take);
    }

    /// Finds all edits.
    pub fn edits(
        tape: &'a Tape,
        node: Node,
        edits: &'a [(Node, Edit)],
        except: Option<Node>,
        take: F,
    ) {
        Self::walk(tape, node, edits, except, Wanted::Edits, take);
    }

    /// Finds bytes that are not left out with a member that holds them.
    pub fn bytes(
        tape: &'a Tape,
        node: Node,
        edits: &'a [(Node, Edit)],
        bytes: &'a [Content],
        take: F,
    ) {
        Self::walk(tape, node, edits, None, Wanted::Bytes(bytes), take);
    }

    fn walk(
        tape: &'a Tape,
        node: Node,
        edits: &'a [(Node, Edit)],
        except: Option<Node>,
        wanted: Wanted<'a>,
        take: F,
    ) {
        let mut walk = Self {
            tape,
            edits,
            except,
            wanted,
            pointer: Vec::new(),
            take,
        };
        walk.value(node);
    }

    fn value(&mut self, node: Node) -> bool {
        if self.except == Some(node) || !self.may_hold(node) {
            return true;
        }
        match self.tape.kind(node) {
            Kind::Object => {
                for (name, value) in self.tape.members(node) {
                    if let Some(edit) = edit_of(self.edits, name) {
                        if matches!(self.wanted, Wanted::Edits)
                            && !(self.take)(&self.pointer, Found::Edited(edit))
                        {
                            return false;
                        }
                        continue;
                    }
                    let length = self.pointer.len();
                    push_name(&self.tape.text(name), &mut self.pointer);
                    if !self.value(value) {
                        return false;
                    }
                    self.pointer.truncate(length);
                }
            }
            Kind::Array => {
                for (at, element) in self.tape.elements(node).enumerate() {
                    let length = self.pointer.len();
                    self.pointer.extend_from_slice(format!("/{at}").as_bytes());
                    if !self.value(element) {
                        return false;
                    }
                    self.pointer.truncate(length);
                }
            }
            kind => {
                let found = match (self.wanted, kind) {
                    (Wanted::Numbers, Kind::Number(lexeme)) => {
                        let shown = edit_of(self.edits, node).is_none();
                        shown.then_some(Found::Number(lexeme))
                    }
                    (Wanted::Numbers, _) => None,
                    (Wanted::Edits, _) => edit_of(self.edits, node).map(Found::Edited),
                    (Wanted::Bytes(bytes), _) => {
                        let at = bytes.binary_search_by_key(&node, |content| content.text);
                        at.ok().and_then(|at| bytes.get(at)).map(Found::Bytes)
                    }
                };
                if let Some(found) = found {
                    return (self.take)(&self.pointer, found);
                }
            }
        }
        true
    }

    /// Whether what is wanted can stand in a value.
    fn may_hold(&self, node: Node) -> bool {
        let next = match self.wanted {
            Wanted::Numbers => return true,
            Wanted::Edits => {
                let at = self.edits.partition_point(|(place, _)| *place < node);
                self.edits.get(at).map(|(place, _)| *place)
            }
            Wanted::Bytes(bytes) => {
                let at = bytes.partition_point(|content| content.text < node);
                bytes.get(at).map(|content| content.text)
            }
        };
        next.is_some_and(|place| place < self.tape.after(node))
    }
}

/// Appends a reference token (RFC 6901 section 3).
fn push_name(name: &[u8], pointer: &mut Vec<u8>) {
    pointer.push(b'/');
    for &byte in name {
        match byte {
            b'~' => pointer.extend_from_slice(b"~0"),
            b'/' => pointer.extend_from_slice(b"~1"),
            _ => pointer.push(byte),
        }
    }
}
