//! Encodings, names and template arguments (ABI 5.1.2 to 5.1.8).

mod name;
mod special;

use std::collections::HashMap;

use super::node::{Cv, Id, List, Node, Nodes, Span, Trailer};
use super::tables;
use crate::binary::demangle::out::MAX_DEPTH;

/// What a name said about the function it names.
#[derive(Clone, Copy, Default)]
pub(super) struct NameState {
    /// Constructors, destructors and conversions return nothing of their own.
    no_return: bool,
    ends_with_arguments: bool,
    cv: Cv,
    reference: &'static str,
    first_forward: usize,
}

/// Something that may be referred to again.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    id: Id,
    /// Of a template parameter: where it stands again, it may be another
    /// template's.
    parameter: Option<u32>,
}

/// A name that is being read.
pub(super) struct Reader<'a> {
    pub(super) input: &'a [u8],
    pub(super) at: usize,
    pub(super) nodes: Nodes,
    /// Candidates for substitution.
    pub(super) substitutions: Vec<Candidate>,
    /// Arguments that template parameters stand for.
    pub(super) parameters: Vec<Id>,
    /// Nodes that stand where a template parameter was named: which one.
    uses: HashMap<Id, u32>,
    /// Parameters of the function whose forward references are open: index and
    /// node.
    forwards: Vec<(usize, u32)>,
    pub(super) allow_forward: bool,
    pub(super) in_lambda: bool,
    /// Whether a dependent name's scope is a type, each level of which may be
    /// referred to again: GCC writes it so where the ABI has levels without
    /// candidates (5.1.6.1, `<unresolved-name>`).
    pub scopes_are_types: bool,
    /// In the type of a conversion, arguments that follow are the name's.
    pub(super) no_arguments: bool,
    depth: u32,
    /// Steps that are left: there is one place where two readings are tried.
    fuel: usize,
}

impl<'a> Reader<'a> {
    pub fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            at: 0,
            nodes: Nodes::default(),
            substitutions: Vec::new(),
            parameters: Vec::new(),
            uses: HashMap::new(),
            forwards: Vec::new(),
            allow_forward: false,
            in_lambda: false,
            scopes_are_types: false,
            no_arguments: false,
            depth: 0,
            fuel: input.len().saturating_mul(32).saturating_add(1024),
        }
    }

    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    pub(super) fn look(&self) -> u8 {
        self.look_at(0)
    }

    pub(super) fn look_at(&self, ahead: usize) -> u8 {
        self.input.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn take(&mut self, text: &[u8]) -> bool {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let found = rest.starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.take(text).then_some(())
    }

    pub(super) fn add(&mut self, node: Node) -> Id {
        self.nodes.nodes.push(node);
        (self.nodes.nodes.len() - 1) as Id
    }

    pub(super) fn list(&mut self, ids: &[Id]) -> List {
        let start = self.nodes.lists.len() as u32;
        self.nodes.lists.extend_from_slice(ids);
        List {
            start,
            length: ids.len() as u32,
        }
    }

    /// Runs `read` one level down.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.fuel = self.fuel.checked_sub(1)?;
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Digits; `None` without any or beyond 32 bits.
    pub(super) fn number(&mut self) -> Option<u32> {
        let start = self.at;
        let mut value = 0u32;
        while self.look().is_ascii_digit() {
            let digit = u32::from(self.look() - b'0');
            value = value.checked_mul(10)?.checked_add(digit)?;
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// `_` is 0, `0_` is 1, and so on.
    pub(super) fn sequence(&mut self) -> Option<u32> {
        if self.take(b"_") {
            return Some(0);
        }
        let number = self.number()?.checked_add(1)?;
        self.expect(b"_")?;
        Some(number)
    }

    /// What follows `_Z`, with the suffixes of clones.
    pub fn mangled(&mut self) -> Option<Id> {
        let mut root = self.encoding(true)?;
        while self.look() == b'.' {
            let start = self.at;
            let next = self.look_at(1);
            if !(next.is_ascii_alphanumeric() || next == b'_') {
                return None;
            }
            self.at += 2;
            if next.is_ascii_digit() {
                while self.look().is_ascii_digit() {
                    self.at += 1;
                }
            } else {
                while self.look().is_ascii_alphabetic() || self.look() == b'_' {
                    self.at += 1;
                }
            }
            while self.look() == b'.' && self.look_at(1).is_ascii_digit() {
                self.at += 2;
                while self.look().is_ascii_digit() {
                    self.at += 1;
                }
            }
            let span = self.span(start, self.at);
            root = self.add(Node::Clone(root, span));
        }
        (self.at == self.input.len()).then_some(root)
    }

    /// The input as one type.
    pub fn whole_type(&mut self) -> Option<Id> {
        let root = self.kind()?;
        (self.at == self.input.len()).then_some(root)
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// A function or object with its type.
    pub(super) fn encoding(&mut self, top: bool) -> Option<Id> {
        self.deeper(|reader| {
            let parameters = std::mem::take(&mut reader.parameters);
            let read = match reader.look() {
                b'T' | b'G' => reader.special(),
                _ => reader.function_or_object(top),
            };
            reader.parameters = parameters;
            read
        })
    }

    fn ends(&self) -> bool {
        matches!(self.look(), 0 | b'E' | b'.' | b'@')
    }

    fn function_or_object(&mut self, top: bool) -> Option<Id> {
        let mut state = NameState {
            first_forward: self.forwards.len(),
            ..NameState::default()
        };
        let name = self.name(Some(&mut state))?;
        self.resolve(state.first_forward)?;
        if self.ends() {
            return Some(name);
        }
        let returns = match state.ends_with_arguments && !state.no_return {
            true => Some(self.kind()?),
            false => None,
        };
        let parameters = self.parameters_until(Self::ends)?;
        let trailer = Trailer {
            cv: state.cv,
            reference: state.reference,
            ..Trailer::default()
        };
        // Only the outermost function tells what it returns.
        let returns = returns.filter(|_| top);
        Some(self.add(Node::Function(returns, name, parameters, trailer)))
    }

    /// Types up to an end; a single `void` is none.
    pub(super) fn parameters_until(&mut self, ends: impl Fn(&Self) -> bool) -> Option<List> {
        let mut types = Vec::new();
        if self.look() == b'v' {
            self.at += 1;
            return ends(self).then(|| self.list(&types));
        }
        loop {
            types.push(self.kind()?);
            if ends(self) {
                return Some(self.list(&types));
            }
        }
    }

    /// Binds the forward references made since.
    fn resolve(&mut self, since: usize) -> Option<()> {
        for (index, forward) in self.forwards.split_off(since) {
            let argument = *self.parameters.get(index)?;
            *self.nodes.forwards.get_mut(forward as usize)? = Some(argument);
        }
        Some(())
    }

    pub(super) fn name(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        self.deeper(|reader| reader.name_here(state))
    }

    fn name_here(&mut self, mut state: Option<&mut NameState>) -> Option<Id> {
        match self.look() {
            b'N' => return self.nested(state),
            b'Z' => return self.local(state),
            b'S' if self.look_at(1) != b't' => {
                let base = self.substitution()?;
                if self.look() != b'I' {
                    return None;
                }
                let arguments = self.arguments(state.is_some())?;
                if let Some(state) = state {
                    state.ends_with_arguments = true;
                }
                return Some(self.add(Node::Templated(base, arguments)));
            }
            _ => {}
        }
        let name = match self.take(b"St") {
            true => {
                let _ = self.take(b"L");
                let inner = self.unqualified(None, state.as_deref_mut())?;
                let std = self.add(Node::Text("std"));
                self.add(Node::Nested(std, inner))
            }
            false => self.unqualified(None, state.as_deref_mut())?,
        };
        if self.look() != b'I' {
            return Some(name);
        }
        self.candidate(name);
        let arguments = self.arguments(state.is_some())?;
        if let Some(state) = state {
            state.ends_with_arguments = true;
        }
        Some(self.add(Node::Templated(name, arguments)))
    }

    pub(super) fn cv(&mut self) -> Cv {
        let restrict = self.take(b"r");
        let volatile = self.take(b"V");
        let constant = self.take(b"K");
        Cv {
            constant,
            volatile,
            restrict,
        }
    }

    pub(super) fn substitution(&mut self) -> Option<Id> {
        self.expect(b"S")?;
        if self.look().is_ascii_lowercase() {
            let (text, _) = tables::standard(self.look())?;
            self.at += 1;
            let mut name = self.add(Node::Text(text));
            if self.look() == b'B' {
                while self.take(b"B") {
                    let tag = self.source_span()?;
                    name = self.add(Node::AbiTag(name, tag));
                }
                self.candidate(name);
            }
            return Some(name);
        }
        let index = self.base36()? as usize;
        let known = *self.substitutions.get(index)?;
        // A parameter that stands here again is that of this place.
        match known.parameter {
            _ if self.in_lambda => self.generic(known.id),
            Some(index) => {
                let again = self.parameters.get(index as usize).copied();
                Some(again.map_or(known.id, |argument| self.used(argument, index)))
            }
            None => Some(known.id),
        }
    }

    /// A type that was read elsewhere as one of a lambda's parameters: template
    /// parameters in it are the lambda's own.
    fn generic(&mut self, id: Id) -> Option<Id> {
        if let Some(index) = self.uses.get(&id) {
            let auto = Node::Auto(index.checked_add(1)?);
            return Some(self.add(auto));
        }
        let node = self.nodes.get(id);
        let (Node::Pointer(inner)
        | Node::Reference(inner)
        | Node::RvalueReference(inner)
        | Node::Qualified(inner, _)) = node
        else {
            return Some(id);
        };
        let again = self.deeper(|reader| reader.generic(inner))?;
        if again == inner {
            return Some(id);
        }
        Some(self.add(match node {
            Node::Reference(_) => Node::Reference(again),
            Node::RvalueReference(_) => Node::RvalueReference(again),
            Node::Qualified(_, cv) => Node::Qualified(again, cv),
            _ => Node::Pointer(again),
        }))
    }

    pub(super) fn candidate(&mut self, id: Id) {
        self.substitutions.push(Candidate {
            id,
            parameter: None,
        });
    }

    /// A template parameter as a candidate, by its text: `T_`.
    pub(super) fn parameter_candidate(&mut self, id: Id, start: usize) {
        let index = match self.input.get(start..self.at) {
            Some(b"T_") => Some(0),
            Some([b'T', digits @ .., b'_']) => std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| digits.parse::<u32>().ok()?.checked_add(1)),
            _ => None,
        };
        self.substitutions.push(Candidate {
            id,
            parameter: index,
        });
    }

    /// `T_`, `T0_`, ... as what it stands for.
    pub(super) fn parameter(&mut self) -> Option<Id> {
        self.expect(b"T")?;
        if self.take(b"L") {
            self.sequence()?;
        }
        let index = self.sequence()?;
        if self.in_lambda {
            return Some(self.add(Node::Auto(index.checked_add(1)?)));
        }
        if self.allow_forward {
            let forward = self.nodes.forwards.len() as u32;
            self.nodes.forwards.push(None);
            self.forwards.push((index as usize, forward));
            return Some(self.add(Node::Forward(forward)));
        }
        let argument = *self.parameters.get(index as usize)?;
        Some(self.used(argument, index))
    }

    /// The argument as a node of its own, to be known again as a parameter's.
    fn used(&mut self, argument: Id, index: u32) -> Id {
        let used = self.add(self.nodes.get(argument));
        self.uses.insert(used, index);
        used
    }

    /// Template arguments; `outer`: those that parameters stand for.
    pub(super) fn arguments(&mut self, outer: bool) -> Option<List> {
        self.expect(b"I")?;
        if outer {
            self.parameters.clear();
        }
        let kept = (self.no_arguments, self.in_lambda);
        self.no_arguments = false;
        let list = self.argument_list(outer);
        (self.no_arguments, self.in_lambda) = kept;
        list
    }

    fn argument_list(&mut self, outer: bool) -> Option<List> {
        let mut arguments = Vec::new();
        while !self.take(b"E") {
            let argument = self.argument()?;
            arguments.push(argument);
            if outer {
                let parameter = match self.nodes.get(argument) {
                    Node::Pack(list) => self.add(Node::PackParameter(list)),
                    _ => argument,
                };
                self.parameters.push(parameter);
            }
        }
        Some(self.list(&arguments))
    }

    pub(super) fn argument(&mut self) -> Option<Id> {
        self.deeper(|reader| match reader.look() {
            b'X' => {
                reader.at += 1;
                let expression = reader.expression()?;
                reader.expect(b"E")?;
                Some(expression)
            }
            b'J' => {
                reader.at += 1;
                let mut arguments = Vec::new();
                while !reader.take(b"E") {
                    arguments.push(reader.argument()?);
                }
                let list = reader.list(&arguments);
                Some(reader.add(Node::Pack(list)))
            }
            b'L' => reader.literal(),
            _ => reader.kind(),
        })
    }
}
