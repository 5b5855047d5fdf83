//! Nodes as text. A declarator has two halves: what stands before the name
//! and what stands behind it (`int (*` and `)[3]`).

mod expression;
mod name;

use super::node::{Cv, Id, List, Node, Nodes, Span, Trailer};
use super::tables;
use crate::binary::demangle::out::Out;

/// Which element of the packs is meant while an expansion is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    /// Outside of expansions.
    None,
    /// In an expansion whose pack was not met yet.
    Unmet,
    /// This one, of so many.
    At(u32, u32),
}

pub(super) struct Printer<'a> {
    input: &'a str,
    nodes: &'a Nodes,
    out: &'a mut Out,
    element: Element,
    /// Forward references that are being written.
    open: Vec<u32>,
}

impl<'a> Printer<'a> {
    pub fn new(input: &'a str, nodes: &'a Nodes, out: &'a mut Out) -> Self {
        Self {
            input,
            nodes,
            out,
            element: Element::None,
            open: Vec::new(),
        }
    }

    fn source(&self, span: Span) -> &'a str {
        self.input
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// Both halves.
    pub fn node(&mut self, id: Id) {
        self.left(id);
        self.right(id);
    }

    fn comma_separated(&mut self, list: List) {
        let mut first = true;
        for &id in self.nodes.list(list) {
            let before = self.out.len();
            if !first {
                self.out.push(", ");
            }
            let start = self.out.len();
            self.node(id);
            if self.out.len() == start {
                // An empty pack is no element.
                self.out.truncate(before);
            } else {
                first = false;
            }
            if self.out.has_failed() {
                return;
            }
        }
    }

    fn arguments(&mut self, list: List) {
        if self.out.last() == Some(b'<') {
            self.out.push(" ");
        }
        self.out.push("<");
        self.comma_separated(list);
        if self.out.last() == Some(b'>') {
            self.out.push(" ");
        }
        self.out.push(">");
    }

    /// The element of a pack that is meant; `None` where it has none there.
    fn chosen(&mut self, list: List) -> Option<Id> {
        if self.element == Element::Unmet {
            self.element = Element::At(0, list.length);
        }
        match self.element {
            Element::At(at, _) => self.nodes.list(list).get(at as usize).copied(),
            _ => None,
        }
    }

    fn forward(&mut self, reference: u32) -> Option<Id> {
        if self.open.contains(&reference) {
            self.out.fail();
            return None;
        }
        *self.nodes.forwards.get(reference as usize)?
    }

    /// Whether something of the declarator stands behind the name, and of
    /// which kind.
    fn has_right(&mut self, id: Id) -> Option<Right> {
        let mut id = id;
        loop {
            if !self.out.step() {
                return None;
            }
            id = match self.nodes.get(id) {
                Node::Array(..) => return Some(Right::Array),
                Node::FunctionType(..) => return Some(Right::Function),
                Node::Pointer(_)
                | Node::Reference(_)
                | Node::RvalueReference(_)
                | Node::MemberPointer(..) => return None,
                Node::Qualified(inner, _) | Node::Vendor(inner, _) => inner,
                Node::PackParameter(list) => self.peek(list)?,
                Node::Forward(reference) => self.forward(reference)?,
                _ => return None,
            };
        }
    }

    fn peek(&mut self, list: List) -> Option<Id> {
        let at = match self.element {
            Element::At(at, _) => at,
            Element::Unmet | Element::None => 0,
        };
        self.nodes.list(list).get(at as usize).copied()
    }

    /// Whether a type ends behind the name: then no blank is needed before it.
    fn ends_behind(&mut self, id: Id) -> bool {
        let mut id = id;
        loop {
            if !self.out.step() {
                return false;
            }
            id = match self.nodes.get(id) {
                Node::Array(..) | Node::FunctionType(..) => return true,
                Node::Pointer(inner)
                | Node::Reference(inner)
                | Node::RvalueReference(inner)
                | Node::Qualified(inner, _)
                | Node::Vendor(inner, _) => inner,
                Node::MemberPointer(_, member) => member,
                Node::PackParameter(list) => match self.peek(list) {
                    Some(id) => id,
                    None => return false,
                },
                Node::Forward(reference) => match self.forward(reference) {
                    Some(id) => id,
                    None => return false,
                },
                _ => return false,
            };
        }
    }

    fn left(&mut self, id: Id) {
        if self.out.enter() {
            self.left_here(id);
        }
        self.out.leave();
    }

    fn left_here(&mut self, id: Id) {
        match self.nodes.get(id) {
            Node::Pointer(inner) => self.pointer(inner, "*"),
            Node::Reference(_) | Node::RvalueReference(_) => {
                let (inner, text) = self.collapsed(id);
                self.pointer(inner, text);
            }
            Node::MemberPointer(class, member) => {
                self.left(member);
                match self.has_right(member) {
                    // A function's left half ends with a blank, unless it
                    // returns what ends behind the name.
                    Some(Right::Function) if self.out.last() == Some(b' ') => self.out.push("("),
                    Some(_) => self.out.push(" ("),
                    None => self.out.push(" "),
                }
                self.node(class);
                self.out.push("::*");
            }
            Node::Qualified(inner, cv) => {
                self.left(inner);
                // What a parameter stands for may be qualified already.
                let said = match self.nodes.get(inner) {
                    Node::Qualified(_, said) => said,
                    _ => Cv::default(),
                };
                self.cv(Cv {
                    constant: cv.constant && !said.constant,
                    volatile: cv.volatile && !said.volatile,
                    restrict: cv.restrict && !said.restrict,
                });
            }
            Node::Vendor(inner, name) => {
                self.left(inner);
                self.out.push(" ");
                self.node(name);
            }
            Node::Array(element, _) => self.left(element),
            Node::FunctionType(returns, _, _) => {
                self.left(returns);
                if !self.ends_behind(returns) {
                    self.out.push(" ");
                }
            }
            Node::Function(returns, name, _, _) => {
                if let Some(returns) = returns {
                    self.left(returns);
                    if !self.ends_behind(returns) {
                        self.out.push(" ");
                    }
                }
                self.node(name);
            }
            Node::PackParameter(list) => {
                if self.element == Element::None {
                    self.comma_separated(list);
                } else if let Some(id) = self.chosen(list) {
                    self.left(id);
                }
            }
            Node::Forward(reference) => {
                if let Some(id) = self.forward(reference) {
                    self.open.push(reference);
                    self.left(id);
                    self.open.pop();
                }
            }
            other => self.whole(other),
        }
    }

    fn right(&mut self, id: Id) {
        if self.out.enter() {
            self.right_here(id);
        }
        self.out.leave();
    }

    fn right_here(&mut self, id: Id) {
        match self.nodes.get(id) {
            Node::Pointer(inner) => self.behind_pointer(inner),
            Node::Reference(_) | Node::RvalueReference(_) => {
                let (inner, _) = self.collapsed(id);
                self.behind_pointer(inner);
            }
            Node::MemberPointer(_, member) => self.behind_pointer(member),
            Node::Qualified(inner, _) | Node::Vendor(inner, _) => self.right(inner),
            Node::Array(element, bound) => {
                if self.out.last() != Some(b']') {
                    self.out.push(" ");
                }
                self.out.push("[");
                if let Some(bound) = bound {
                    self.node(bound);
                }
                self.out.push("]");
                self.right(element);
            }
            Node::FunctionType(returns, parameters, trailer) => {
                self.parameters(parameters);
                self.trailer(trailer);
                self.right(returns);
            }
            Node::Function(returns, _, parameters, trailer) => {
                self.parameters(parameters);
                self.trailer(trailer);
                if let Some(returns) = returns {
                    self.right(returns);
                }
            }
            Node::PackParameter(list) => {
                if self.element != Element::None
                    && let Some(id) = self.chosen(list)
                {
                    self.right(id);
                }
            }
            Node::Forward(reference) => {
                if let Some(id) = self.forward(reference) {
                    self.open.push(reference);
                    self.right(id);
                    self.open.pop();
                }
            }
            _ => {}
        }
    }

    fn pointer(&mut self, inner: Id, text: &str) {
        self.left(inner);
        if let Some(right) = self.has_right(inner) {
            self.out.push(match (right, self.out.last()) {
                // A function's left half ends with a blank where one is needed.
                (Right::Function, _) => "(",
                (Right::Array, _) => " (",
            });
        }
        self.out.push(text);
    }

    fn behind_pointer(&mut self, inner: Id) {
        if self.has_right(inner).is_some() {
            self.out.push(")");
        }
        self.right(inner);
    }

    /// A reference to a reference is one: `&&` only where all are.
    fn collapsed(&mut self, id: Id) -> (Id, &'static str) {
        let mut text = "&&";
        let mut id = id;
        while self.out.step() {
            match self.nodes.get(id) {
                Node::Reference(inner) => {
                    text = "&";
                    id = inner;
                }
                Node::RvalueReference(inner) => id = inner,
                Node::Forward(reference) => match self.forward(reference) {
                    Some(inner) => id = inner,
                    None => break,
                },
                Node::PackParameter(list) if self.element != Element::None => {
                    match self.chosen(list) {
                        Some(inner)
                            if matches!(
                                self.nodes.get(inner),
                                Node::Reference(_) | Node::RvalueReference(_)
                            ) =>
                        {
                            id = inner;
                        }
                        _ => break,
                    }
                }
                _ => break,
            }
        }
        (id, text)
    }

    fn cv(&mut self, cv: Cv) {
        for (set, text) in [
            (cv.constant, " const"),
            (cv.volatile, " volatile"),
            (cv.restrict, " restrict"),
        ] {
            if set {
                self.out.push(text);
            }
        }
    }

    fn parameters(&mut self, parameters: List) {
        self.out.push("(");
        self.comma_separated(parameters);
        self.out.push(")");
    }

    fn trailer(&mut self, trailer: Trailer) {
        self.cv(trailer.cv);
        if !trailer.reference.is_empty() {
            self.out.push(" ");
            self.out.push(trailer.reference);
        }
        if trailer.transaction_safe {
            self.out.push(" transaction_safe");
        }
        match trailer.noexcept {
            Some(Some(condition)) => {
                self.out.push(" noexcept(");
                self.node(condition);
                self.out.push(")");
            }
            Some(None) => self.out.push(" noexcept"),
            None => {}
        }
        if let Some(throws) = trailer.throws {
            self.out.push(" throw(");
            self.comma_separated(throws);
            self.out.push(")");
        }
    }

    fn number(&mut self, value: u64) {
        self.out.push(&value.to_string());
    }
}

/// What stands behind a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    Array,
    Function,
}
