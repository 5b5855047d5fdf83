//! `T`: thunks, specializations, attributes of functions.

use super::kind::{Id, Kind};
use super::reader::Reader;

/// Attributes without anything else.
const ATTRIBUTES: [(u8, &str); 11] = [
    (b'o', "@objc "),
    (b'O', "@nonobjc "),
    (b'D', "dynamic "),
    (b'd', "super "),
    (b'E', "distributed thunk "),
    (b'F', "distributed accessor for "),
    (b'm', "merged "),
    (b'X', "dynamically replaceable variable for "),
    (b'x', "dynamically replaceable key for "),
    (b'I', "dynamically replaceable thunk for "),
    (b'u', "async function pointer to "),
];

/// What is before one entity.
const ENTITIES: [(u8, &str); 4] = [
    (b'c', "curry thunk of "),
    (b'j', "dispatch thunk of "),
    (b'q', "method descriptor for "),
    (b'S', "protocol self-conformance witness for "),
];

impl Reader<'_> {
    pub(super) fn thunk(&mut self) -> Option<Id> {
        let letter = self.next();
        if let Some(&(_, words)) = ATTRIBUTES.iter().find(|&&(known, _)| known == letter) {
            return self.node(Kind::Attribute(words), vec![]);
        }
        if let Some(&(_, words)) = ENTITIES.iter().find(|&&(known, _)| known == letter) {
            let entity = self.pop_if(Kind::is_entity)?;
            return self.node(Kind::Before(words), vec![entity]);
        }
        match letter {
            b'T' if self.take(b'I') => {
                let entity = self.pop_if(Kind::is_entity)?;
                self.node(Kind::Before("identity thunk of "), vec![entity])
            }
            b'a' => self.node(Kind::PartialApply("partial apply ObjC forwarder"), vec![]),
            b'A' => self.node(Kind::PartialApply("partial apply forwarder"), vec![]),
            b'Y' | b'Q' => {
                let index = self.index_node()?;
                let number = self.nodes.number(index);
                let words = match letter {
                    b'Q' => "await",
                    _ => "suspend",
                };
                let text = format!("({number}) {words} resume partial function for ");
                let text = self.text_node(Kind::Text, text)?;
                self.node(Kind::Attribute(""), vec![text])
            }
            b'V' => {
                let base = self.pop_if(Kind::is_entity)?;
                let derived = self.pop_if(Kind::is_entity)?;
                let kind = Kind::Swapped(["vtable thunk for ", " dispatching to "]);
                self.node(kind, vec![derived, base])
            }
            b'W' => {
                let entity = self.pop_if(Kind::is_entity)?;
                let conformance = self.pop_conformance()?;
                let kind = Kind::Swapped(["protocol witness for ", " in conformance "]);
                self.node(kind, vec![conformance, entity])
            }
            b'R' | b'r' | b'y' => {
                let mut parts = Vec::new();
                parts.extend(self.pop_kind(Kind::GenericSignature));
                let kind = match letter {
                    b'R' => Kind::Reabstraction("reabstraction thunk helper "),
                    b'r' => Kind::Reabstraction("reabstraction thunk "),
                    _ => Kind::ReabstractionSelf,
                };
                let types = if letter == b'y' { 3 } else { 2 };
                for _ in 0..types {
                    parts.push(self.pop_kind(Kind::Type)?);
                }
                self.node(kind, parts)
            }
            b'g' => self.specialization("generic specialization", vec![]),
            b'G' => self.specialization("generic not re-abstracted specialization", vec![]),
            b'B' => self.specialization("generic specialization", vec![]),
            b's' => self.specialization("generic pre-specialization", vec![]),
            b'i' => self.specialization("inlined generic function", vec![]),
            b't' => {
                self.at = self.at.checked_sub(1)?;
                let mut dropped = Vec::new();
                while self.take(b't') {
                    let number = self.natural().map_or(0, |number| number + 1);
                    dropped.push(self.number_node(Kind::Dropped, number)?);
                }
                let words = match self.next() {
                    b'g' | b'B' => "generic specialization",
                    b'G' => "generic not re-abstracted specialization",
                    _ => return None,
                };
                self.specialization(words, dropped)
            }
            b'p' | b'P' => {
                let words = match letter {
                    b'p' => "generic partial specialization",
                    _ => "generic not-reabstracted partial specialization",
                };
                let mut parts = self.specialization_attributes()?;
                let inner = self.pop_kind(Kind::Type)?;
                parts.push(self.node(Kind::SpecializationParameter, vec![inner])?);
                self.node(Kind::Specialization(words, "Signature = "), parts)
            }
            b'f' => self.signature_specialization(),
            b'K' | b'k' => self.key_path(letter),
            b'H' | b'h' => self.key_path_index(letter),
            b'l' => {
                let name = self.associated_name()?;
                self.node(Kind::Before("associated type descriptor for "), vec![name])
            }
            b'L' => {
                let protocol = self.pop_protocol()?;
                let words = "protocol requirements base descriptor for ";
                self.node(Kind::Before(words), vec![protocol])
            }
            b'M' => {
                let name = self.associated_name()?;
                let words = "default associated type metadata accessor for ";
                self.node(Kind::Before(words), vec![name])
            }
            b'n' | b'N' => {
                let requirement = self.pop_protocol()?;
                let path = self.associated_path()?;
                let protocol = self.pop_kind(Kind::Type)?;
                let words = match letter {
                    b'n' => "associated conformance descriptor for ",
                    _ => "default associated conformance accessor for ",
                };
                let kind = Kind::Between([words, ".", ": "]);
                self.node(kind, vec![protocol, path, requirement])
            }
            b'b' => {
                let requirement = self.pop_protocol()?;
                let protocol = self.pop_kind(Kind::Type)?;
                let kind = Kind::Between(["base conformance descriptor for ", ": ", ""]);
                self.node(kind, vec![protocol, requirement])
            }
            b'v' => {
                let index = self.index()?;
                let what = match self.take(b'r') {
                    true => "read-only object",
                    false => {
                        // The letter behind belongs to the operator.
                        self.next();
                        "variable"
                    }
                };
                let text = self.text_node(Kind::Text, format!("outlined {what} #{index} of "))?;
                self.node(Kind::Attribute(""), vec![text])
            }
            b'e' => {
                let mut text = String::new();
                match self.next() {
                    letter @ (b'o' | b'p' | b'a' | b'm') => text.push(char::from(letter)),
                    _ => return None,
                }
                while !self.take(b'_') {
                    match self.next() {
                        letter @ (b'n' | b'b' | b'g') => text.push(char::from(letter)),
                        _ => return None,
                    }
                }
                let text = format!("outlined bridged method ({text}) of ");
                let text = self.text_node(Kind::Text, text)?;
                self.node(Kind::Attribute(""), vec![text])
            }
            b'U' => {
                let actor = self.pop_kind(Kind::Type)?;
                let thunk = self.pop()?;
                let kind = Kind::Between(["", " with global actor constraint ", ""]);
                self.node(kind, vec![thunk, actor])
            }
            b'z' | b'Z' => self.completion_handler(letter),
            b'w' => {
                let words = match self.next() {
                    b'b' => "back deployment thunk for ",
                    b'B' => "back deployment fallback for ",
                    b'c' => "coro function pointer to ",
                    b'd' => "default override of ",
                    b'S' => "#_hasSymbol query for ",
                    _ => return None,
                };
                self.node(Kind::Attribute(words), vec![])
            }
            _ => None,
        }
    }

    fn completion_handler(&mut self, letter: u8) -> Option<Id> {
        let flag = self.index()?;
        let signature = self.pop_kind(Kind::GenericSignature);
        let result = self.pop_kind(Kind::Type)?;
        let handler = self.pop_kind(Kind::Type)?;
        let words = match letter {
            b'z' => "@objc completion handler block implementation for ",
            _ => "checked @objc completion handler block implementation for ",
        };
        let flag = match flag {
            0 => "",
            1 => " nonzero on error",
            2 => " zero on error",
            _ => return None,
        };
        let mut parts = Vec::new();
        parts.extend(signature);
        parts.push(handler);
        parts.push(self.text_node(Kind::Text, " with result type ")?);
        parts.push(result);
        parts.push(self.text_node(Kind::Text, flag)?);
        self.node(Kind::Before(words), parts)
    }

    fn specialization_attributes(&mut self) -> Option<Vec<Id>> {
        let _ = self.take(b'm');
        let mut parts = Vec::new();
        if self.take(b'q') {
            parts.push(self.text_node(Kind::Serialized, "serialized")?);
        }
        if self.take(b'a') || self.take(b'r') {
            return None;
        }
        if !self.next().is_ascii_digit() {
            return None;
        }
        parts.push(self.node(Kind::SpecializationPass, vec![])?);
        Some(parts)
    }

    fn specialization(&mut self, words: &'static str, dropped: Vec<Id>) -> Option<Id> {
        let mut parts = self.specialization_attributes()?;
        parts.extend(dropped);
        for of_type in self.pop_type_list()? {
            parts.push(self.node(Kind::SpecializationParameter, vec![of_type])?);
        }
        self.node(Kind::Specialization(words, ""), parts)
    }

    fn signature_specialization(&mut self) -> Option<Id> {
        let mut parts = self.specialization_attributes()?;
        while !self.take(b'_') {
            let parameter = self.signature_parameter(Kind::SignatureParameter)?;
            parts.push(parameter);
        }
        if !self.take(b'n') {
            parts.push(self.signature_parameter(Kind::SignatureResult)?);
        }
        let words = "function signature specialization";
        self.node(Kind::Specialization(words, ""), parts)
    }

    /// What was done to one parameter; those whose constants stand elsewhere
    /// on the stack are not read.
    fn signature_parameter(&mut self, kind: Kind) -> Option<Id> {
        let letter = self.next();
        let mut words: Vec<&str> = Vec::new();
        match letter {
            b'n' => {}
            b'i' => words.push("Value Promoted from Box"),
            b's' => words.push("Stack Promoted from Box"),
            b'r' => words.push("InOut Converted to Out"),
            b'e' => words.push("Existential To Protocol Constrained Generic"),
            b'd' => words.push("Dead"),
            b'g' => words.push("Owned To Guaranteed"),
            b'o' => words.push("Guaranteed To Owned"),
            b'x' => words.push("Exploded"),
            _ => return None,
        }
        if letter == b'e' && self.take(b'D') {
            words.push("Dead");
        }
        if matches!(letter, b'e' | b'd') {
            if self.take(b'G') {
                words.push("Owned To Guaranteed");
            }
            if self.take(b'O') {
                words.push("Guaranteed To Owned");
            }
        }
        if matches!(letter, b'e' | b'd' | b'g' | b'o') && self.take(b'X') {
            words.push("Exploded");
        }
        self.text_node(kind, words.join(" and "))
    }

    fn key_path(&mut self, letter: u8) -> Option<Id> {
        let words = if self.take_all(b"mu") {
            "key path unapplied method "
        } else if self.take_all(b"MA") {
            "key path applied method "
        } else if letter == b'K' {
            "key path getter for "
        } else {
            "key path setter for "
        };
        let serialized = self.take(b'q');
        let mut types = vec![self.pop_kind(Kind::Type)?];
        while let Some(of_type) = self.pop_kind(Kind::Type) {
            types.push(of_type);
        }
        types.reverse();
        let top = self.pop()?;
        let mut parts = match self.nodes.kind(top) {
            Kind::GenericSignature => vec![self.pop()?, top],
            _ => vec![top],
        };
        parts.extend(types);
        if serialized {
            parts.push(self.text_node(Kind::Serialized, "serialized")?);
        }
        self.node(Kind::KeyPath(words), parts)
    }

    fn key_path_index(&mut self, letter: u8) -> Option<Id> {
        let words = match letter {
            b'H' => "key path index equality operator for ",
            _ => "key path index hash operator for ",
        };
        let serialized = self.take(b'q');
        let signature = self.pop_kind(Kind::GenericSignature);
        let mut types = Vec::new();
        while let Some(of_type) = self.pop_kind(Kind::Type) {
            types.push(of_type);
        }
        if !self.stack.is_empty() || (types.is_empty() && signature.is_none()) {
            return None;
        }
        types.reverse();
        let mut parts = types;
        parts.extend(signature);
        if serialized {
            parts.push(self.text_node(Kind::Serialized, "serialized")?);
        }
        self.node(Kind::KeyPathIndex(words), parts)
    }
}
