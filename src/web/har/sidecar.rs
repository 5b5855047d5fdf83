//! What stands beside a record's `reported` value: places in it, found in the
//! order of the capture.

use super::exclude::{Edit, edit_of};
use crate::json::{Kind, Node, Tape};

/// A number or an edit, with its JSON Pointer (WTF-8).
pub(super) enum Found<'a> {
    Number(&'a [u8]),
    Edited(Edit),
}

/// A walk over a part of the document with pointers relative to it.
pub(super) struct Walk<'a, F> {
    tape: &'a Tape,
    edits: &'a [(Node, Edit)],
    /// Not walked into.
    except: Option<Node>,
    /// Whether numbers are wanted, else edits.
    numbers: bool,
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
        let mut walk = Self {
            tape,
            edits,
            except,
            numbers: true,
            pointer: Vec::new(),
            take,
        };
        walk.value(node);
    }

    /// Finds all edits.
    pub fn edits(
        tape: &'a Tape,
        node: Node,
        edits: &'a [(Node, Edit)],
        except: Option<Node>,
        take: F,
    ) {
        let mut walk = Self {
            tape,
            edits,
            except,
            numbers: false,
            pointer: Vec::new(),
            take,
        };
        walk.value(node);
    }

    fn value(&mut self, node: Node) -> bool {
        if self.except == Some(node) || !self.numbers && !self.holds_edits(node) {
            return true;
        }
        match self.tape.kind(node) {
            Kind::Object => {
                for (name, value) in self.tape.members(node) {
                    if let Some(edit) = edit_of(self.edits, name) {
                        if !self.numbers && !(self.take)(&self.pointer, Found::Edited(edit)) {
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
                let edit = edit_of(self.edits, node);
                match (edit, kind) {
                    (Some(edit), _) if !self.numbers => {
                        return (self.take)(&self.pointer, Found::Edited(edit));
                    }
                    (None, Kind::Number(lexeme)) if self.numbers => {
                        return (self.take)(&self.pointer, Found::Number(lexeme));
                    }
                    _ => {}
                }
            }
        }
        true
    }

    /// Whether an edit stands in a value.
    fn holds_edits(&self, node: Node) -> bool {
        let at = self.edits.partition_point(|(place, _)| *place < node);
        let next = self.edits.get(at);
        next.is_some_and(|(place, _)| *place < self.tape.after(node))
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
