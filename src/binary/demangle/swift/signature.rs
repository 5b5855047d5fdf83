//! Generic parameters, their requirements, and associated types.

use super::kind::{Id, Kind};
use super::reader::Reader;

/// What a requirement asks for.
#[derive(Clone, Copy)]
enum Constraint {
    Protocol,
    BaseClass,
    SameType,
    SameShape,
    Layout,
    Pack,
    Value,
    Inverse,
}

/// Of what: a parameter, its associated type, a path of them, or the type on
/// the stack.
#[derive(Clone, Copy)]
enum Of {
    Parameter,
    Associated,
    Path,
    Stack,
}

impl Reader<'_> {
    pub(super) fn parameter(&mut self, depth: i64, index: i64) -> Option<Id> {
        if depth < 0 || index < 0 {
            return None;
        }
        self.text_node(Kind::GenericParameter, parameter_name(depth, index))
    }

    pub(super) fn parameter_index(&mut self) -> Option<Id> {
        if self.take(b'd') {
            let depth = self.index()? + 1;
            let index = self.index()?;
            return self.parameter(depth, index);
        }
        if self.take(b'z') {
            return self.parameter(0, 0);
        }
        if self.take(b's') {
            return self.text_node(Kind::ConstrainedSelf, "Self");
        }
        let index = self.index()? + 1;
        self.parameter(0, index)
    }

    pub(super) fn signature(&mut self, counted: bool) -> Option<Id> {
        let mut parts = Vec::new();
        if counted {
            while !self.take(b'l') {
                let count = match self.take(b'z') {
                    true => 0,
                    false => self.index()? + 1,
                };
                parts.push(self.number_node(Kind::ParameterCount, count)?);
            }
        } else {
            parts.push(self.number_node(Kind::ParameterCount, 1)?);
        }
        let counts = parts.len();
        while let Some(requirement) = self.pop_if(Kind::is_requirement) {
            parts.push(requirement);
        }
        if let Some(requirements) = parts.get_mut(counts..) {
            requirements.reverse();
        }
        self.node(Kind::GenericSignature, parts)
    }

    pub(super) fn generic_type(&mut self) -> Option<Id> {
        let signature = self.pop_kind(Kind::GenericSignature)?;
        let inner = self.pop_kind(Kind::Type)?;
        let generic = self.node(Kind::GenericType, vec![signature, inner])?;
        self.in_type(generic)
    }

    pub(super) fn requirement(&mut self) -> Option<Id> {
        let (constraint, of) = match self.next() {
            b'V' => (Constraint::Value, Of::Parameter),
            b'v' => (Constraint::Pack, Of::Parameter),
            b'c' => (Constraint::BaseClass, Of::Associated),
            b'C' => (Constraint::BaseClass, Of::Path),
            b'b' => (Constraint::BaseClass, Of::Parameter),
            b'B' => (Constraint::BaseClass, Of::Stack),
            b't' => (Constraint::SameType, Of::Associated),
            b'T' => (Constraint::SameType, Of::Path),
            b's' => (Constraint::SameType, Of::Parameter),
            b'S' => (Constraint::SameType, Of::Stack),
            b'm' => (Constraint::Layout, Of::Associated),
            b'M' => (Constraint::Layout, Of::Path),
            b'l' => (Constraint::Layout, Of::Parameter),
            b'L' => (Constraint::Layout, Of::Stack),
            b'p' => (Constraint::Protocol, Of::Associated),
            b'P' => (Constraint::Protocol, Of::Path),
            b'Q' => (Constraint::Protocol, Of::Stack),
            b'h' => (Constraint::SameShape, Of::Parameter),
            b'i' => (Constraint::Inverse, Of::Parameter),
            b'I' => (Constraint::Inverse, Of::Stack),
            _ => {
                self.at = self.at.checked_sub(1)?;
                (Constraint::Protocol, Of::Parameter)
            }
        };
        let inverse = match constraint {
            Constraint::Inverse => Some(self.index()?),
            _ => None,
        };
        let subject = match of {
            Of::Parameter => {
                let parameter = self.parameter_index()?;
                self.in_type(parameter)?
            }
            Of::Associated => {
                let base = self.parameter_index()?;
                let id = self.associated_type(Some(base))?;
                self.substitutions.push(id);
                id
            }
            Of::Path => {
                let base = self.parameter_index()?;
                let id = self.associated_types(Some(base))?;
                self.substitutions.push(id);
                id
            }
            Of::Stack => self.pop_kind(Kind::Type)?,
        };
        match constraint {
            Constraint::Value => {
                let of_type = self.pop_kind(Kind::Type)?;
                self.node(Kind::ValueMarker, vec![subject, of_type])
            }
            Constraint::Pack => self.node(Kind::PackMarker, vec![subject]),
            Constraint::Protocol => {
                let protocol = self.pop_protocol()?;
                self.node(Kind::Conformance, vec![subject, protocol])
            }
            Constraint::BaseClass => {
                let class = self.pop_kind(Kind::Type)?;
                self.node(Kind::Conformance, vec![subject, class])
            }
            Constraint::SameType => {
                let other = self.pop_kind(Kind::Type)?;
                self.node(Kind::SameType, vec![subject, other])
            }
            Constraint::SameShape => {
                let other = self.pop_kind(Kind::Type)?;
                self.node(Kind::SameShape, vec![subject, other])
            }
            Constraint::Inverse => {
                let protocol = match inverse? {
                    0 => "Swift.Copyable".to_owned(),
                    1 => "Swift.Escapable".to_owned(),
                    bit => format!("Swift.<bit {bit}>"),
                };
                let protocol = self.text_node(Kind::Text, protocol)?;
                self.node(Kind::Inverse, vec![subject, protocol])
            }
            Constraint::Layout => self.layout(subject),
        }
    }

    fn layout(&mut self, subject: Id) -> Option<Id> {
        let (name, numbers) = match self.next() {
            b'U' => ("_UnknownLayout", 0),
            b'R' => ("_RefCountedObject", 0),
            b'N' => ("_NativeRefCountedObject", 0),
            b'C' => ("AnyObject", 0),
            b'D' => ("_NativeClass", 0),
            b'T' => ("_Trivial", 0),
            b'E' => ("_Trivial", 2),
            b'e' => ("_Trivial", 1),
            b'M' => ("_TrivialAtMost", 2),
            b'm' => ("_TrivialAtMost", 1),
            _ => return None,
        };
        let mut parts = vec![subject, self.text_node(Kind::Text, name)?];
        for _ in 0..numbers {
            parts.push(self.index_node()?);
        }
        self.node(Kind::Layout, parts)
    }

    /// A conformance: the type, the protocol, and where it was declared.
    pub(super) fn pop_conformance(&mut self) -> Option<Id> {
        let signature = self.pop_kind(Kind::GenericSignature);
        let module = self.pop_module()?;
        let protocol = self.pop_protocol()?;
        let mut of_type = self.pop_kind(Kind::Type)?;
        if let Some(signature) = signature {
            let generic = self.node(Kind::GenericType, vec![signature, of_type])?;
            of_type = self.in_type(generic)?;
        }
        self.node(Kind::ProtocolConformance, vec![of_type, protocol, module])
    }

    /// `T.Name`, or `T.Protocol.Name`.
    fn associated_type(&mut self, base: Option<Id>) -> Option<Id> {
        let name = self.associated_name()?;
        let base = match base {
            Some(base) => self.in_type(base)?,
            None => self.pop_kind(Kind::Type)?,
        };
        let member = self.node(Kind::MemberType, vec![base, name])?;
        self.in_type(member)
    }

    fn associated_types(&mut self, base: Option<Id>) -> Option<Id> {
        let names = self.associated_names()?;
        let mut made = match base {
            Some(base) => self.in_type(base)?,
            None => self.pop_kind(Kind::Type)?,
        };
        for name in names {
            let member = self.node(Kind::MemberType, vec![made, name])?;
            made = self.in_type(member)?;
        }
        Some(made)
    }

    fn associated_names(&mut self) -> Option<Vec<Id>> {
        let mut names = Vec::new();
        loop {
            let first = self.pop_kind(Kind::FirstElement).is_some();
            names.push(self.associated_name()?);
            if first {
                names.reverse();
                return Some(names);
            }
        }
    }

    pub(super) fn associated_path(&mut self) -> Option<Id> {
        let names = self.associated_names()?;
        self.node(Kind::AssociatedPath, names)
    }

    pub(super) fn associated_name(&mut self) -> Option<Id> {
        let protocol = self.pop_kind(Kind::Type);
        if let Some(protocol) = protocol {
            let inner = self.nodes.part(protocol, 0)?;
            if self.nodes.kind(inner) != Kind::Protocol {
                return None;
            }
        }
        let name = self.pop_kind(Kind::Identifier)?;
        let mut parts = vec![name];
        parts.extend(protocol);
        self.node(Kind::AssociatedReference, parts)
    }

    /// `Q`: associated and opaque types, packs.
    pub(super) fn archetype(&mut self) -> Option<Id> {
        let remember = |reader: &mut Self, id: Option<Id>| {
            let id = id?;
            reader.substitutions.push(id);
            Some(id)
        };
        match self.next() {
            b'a' => {
                let name = self.pop_kind(Kind::Identifier)?;
                let base = self.pop_inner_type()?;
                let kind = Kind::Between(["", ".", ""]);
                let reference = self.node(kind, vec![base, name])?;
                let id = self.in_type(reference);
                remember(self, id)
            }
            b'O' => {
                let context = self.pop_context()?;
                self.node(Kind::OpaqueReturnOf, vec![context])
            }
            b'o' => {
                let index = self.index()?;
                let (lists, conformances) = self.opaque_arguments()?;
                let name = self.pop()?;
                let index = self.number_node(Kind::Number, index)?;
                let arguments = self.node(Kind::TypeList, lists)?;
                let mut parts = vec![name, index, arguments];
                parts.extend(conformances);
                let opaque = self.node(Kind::Opaque, parts)?;
                let id = self.in_type(opaque);
                remember(self, id)
            }
            b'r' => {
                let some = self.node(Kind::OpaqueReturn, vec![])?;
                self.in_type(some)
            }
            b'R' => {
                self.index()?;
                let some = self.node(Kind::OpaqueReturn, vec![])?;
                self.in_type(some)
            }
            b'x' => {
                let id = self.associated_type(None);
                remember(self, id)
            }
            b'X' => {
                let id = self.associated_types(None);
                remember(self, id)
            }
            b'y' => {
                let base = self.parameter_index()?;
                let id = self.associated_type(Some(base));
                remember(self, id)
            }
            b'Y' => {
                let base = self.parameter_index()?;
                let id = self.associated_types(Some(base));
                remember(self, id)
            }
            b'z' => {
                let base = self.parameter(0, 0)?;
                let id = self.associated_type(Some(base));
                remember(self, id)
            }
            b'Z' => {
                let base = self.parameter(0, 0)?;
                let id = self.associated_types(Some(base));
                remember(self, id)
            }
            b'p' => {
                let count = self.pop_inner_type()?;
                let pattern = self.pop_inner_type()?;
                let expansion = self.node(Kind::PackExpansion, vec![pattern, count])?;
                self.in_type(expansion)
            }
            b'P' => {
                let types = self.pop_type_list()?;
                let pack = self.node(Kind::Pack, types)?;
                self.in_type(pack)
            }
            _ => None,
        }
    }
}

/// `A`, `B`, ... and the depth where it is not the outermost.
pub(super) fn parameter_name(depth: i64, index: i64) -> String {
    let mut name = String::new();
    let mut rest = index;
    loop {
        name.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            break;
        }
    }
    if depth != 0 {
        name.push_str(&depth.to_string());
    }
    name
}
