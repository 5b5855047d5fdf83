//! Nodes as text.

mod entity;
mod plain;
mod rest;

use super::kind::{Id, Kind, Nodes};
use super::signature::parameter_name;
use crate::binary::demangle::out::Out;

/// How an entity's type is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    No,
    Colon,
    Function,
}

/// How an entity is called.
struct Called {
    typed: Typed,
    /// Whether its second part is its name.
    named: bool,
    /// A word in place of the name.
    word: &'static str,
    /// What is said about it, and a number behind.
    extra: &'static str,
    number: Option<i64>,
}

impl Called {
    fn name(typed: Typed) -> Self {
        Self {
            typed,
            named: true,
            word: "",
            extra: "",
            number: None,
        }
    }

    fn extra(typed: Typed, extra: &'static str) -> Self {
        Self {
            typed,
            named: false,
            word: "",
            extra,
            number: None,
        }
    }
}

pub(super) struct Printer<'a> {
    nodes: &'a Nodes,
    out: &'a mut Out,
}

impl<'a> Printer<'a> {
    pub fn new(nodes: &'a Nodes, out: &'a mut Out) -> Self {
        Self { nodes, out }
    }

    pub fn node(&mut self, id: Id) {
        let _ = self.write(id, false);
    }

    /// Writes a node; as the context of another the part that must come behind
    /// that one is returned.
    fn write(&mut self, id: Id, context: bool) -> Option<Id> {
        let behind = match self.out.enter() {
            true => self.write_here(id, context),
            false => None,
        };
        self.out.leave();
        behind
    }

    fn part(&mut self, id: Id, at: usize) {
        match self.nodes.part(id, at) {
            Some(part) => self.node(part),
            None => self.out.fail(),
        }
    }

    fn list(&mut self, ids: &[Id], between: &str) {
        for (at, &id) in ids.iter().enumerate() {
            if at > 0 {
                self.out.push(between);
            }
            self.node(id);
            if self.out.has_failed() {
                return;
            }
        }
    }

    fn all(&mut self, id: Id, between: &str) {
        let nodes = self.nodes;
        self.list(nodes.parts(id), between);
    }

    fn write_here(&mut self, id: Id, context: bool) -> Option<Id> {
        let nodes = self.nodes;
        let kind = nodes.kind(id);
        let is_class = || {
            nodes
                .part(id, 0)
                .is_some_and(|part| nodes.kind(part) == Kind::Class)
        };
        let called = match kind {
            Kind::Variable => Called::name(Typed::Colon),
            Kind::Function | Kind::BoundFunction => Called::name(Typed::Function),
            Kind::Macro => Called::name(match nodes.parts(id).len() {
                3 => Typed::Colon,
                _ => Typed::Function,
            }),
            Kind::GenericParameterDeclaration => Called::name(Typed::No),
            kind if kind.is_nominal() => Called::name(Typed::No),
            Kind::Subscript => Called {
                word: "subscript",
                ..Called::extra(Typed::Function, "")
            },
            Kind::ExplicitClosure | Kind::ImplicitClosure => {
                let words = match kind {
                    Kind::ExplicitClosure => "closure #",
                    _ => "implicit closure #",
                };
                Called {
                    number: nodes.part(id, 1).map(|at| nodes.number(at) + 1),
                    ..Called::extra(Typed::Function, words)
                }
            }
            Kind::DefaultArgument => Called {
                number: nodes.part(id, 1).map(|at| nodes.number(at)),
                ..Called::extra(Typed::No, "default argument ")
            },
            Kind::Initializer(words) | Kind::Ivar(words) => Called::extra(Typed::No, words),
            Kind::Allocator => Called::extra(
                Typed::Function,
                if is_class() {
                    "__allocating_init"
                } else {
                    "init"
                },
            ),
            Kind::Constructor => Called {
                named: nodes.parts(id).len() > 2,
                ..Called::extra(Typed::Function, "init")
            },
            Kind::Destructor => Called::extra(Typed::No, "deinit"),
            Kind::Deallocator => Called::extra(
                Typed::No,
                if is_class() {
                    "__deallocating_deinit"
                } else {
                    "deinit"
                },
            ),
            Kind::IsolatedDeallocator => Called::extra(
                Typed::No,
                if is_class() {
                    "__isolated_deallocating_deinit"
                } else {
                    "deinit"
                },
            ),
            Kind::Accessor(name) => {
                let Some(storage) = nodes.part(id, 0) else {
                    self.out.fail();
                    return None;
                };
                let called = match nodes.kind(storage) {
                    Kind::Variable => Called {
                        extra: name,
                        ..Called::name(Typed::Colon)
                    },
                    Kind::Subscript => Called {
                        word: "subscript",
                        ..Called::extra(Typed::Colon, name)
                    },
                    _ => {
                        self.out.fail();
                        return None;
                    }
                };
                return self.entity(storage, context, called);
            }
            _ => {
                self.plain(id, kind);
                return None;
            }
        };
        self.entity(id, context, called)
    }

    fn specialization(&mut self, id: Id, words: &str, before: &str) {
        let nodes = self.nodes;
        self.out.push(words);
        self.out.push(" <");
        let (mut separator, mut argument) = ("", 0);
        for &part in nodes.parts(id) {
            match nodes.kind(part) {
                Kind::SpecializationPass | Kind::Dropped => continue,
                Kind::Serialized => {
                    self.out.push(separator);
                    separator = ", ";
                    self.node(part);
                    continue;
                }
                Kind::SignatureParameter | Kind::SignatureResult => {
                    if !nodes.text(part).is_empty() {
                        self.out.push(separator);
                        separator = ", ";
                        match nodes.kind(part) {
                            Kind::SignatureParameter => {
                                self.out.push(&format!("Arg[{argument}] = "));
                            }
                            _ => self.out.push("Return = "),
                        }
                        self.out.push(nodes.text(part));
                    }
                }
                _ => {
                    self.out.push(separator);
                    self.out.push(before);
                    separator = ", ";
                    self.node(part);
                }
            }
            argument += 1;
        }
        self.out.push("> of ");
    }

    fn impl_function(&mut self, id: Id) {
        let nodes = self.nodes;
        let pattern = nodes.find(id, Kind::ImplPattern);
        let invocation = nodes.find(id, Kind::ImplInvocation);
        let sending = nodes.find(id, Kind::ImplSending);
        let is_result = |kind| matches!(kind, Kind::ImplResult | Kind::ImplYield | Kind::ImplError);
        let (mut inputs, mut results) = (Vec::new(), Vec::new());
        for &part in nodes.parts(id) {
            match nodes.kind(part) {
                Kind::ImplParameter => inputs.push(part),
                kind if is_result(kind) => results.push(part),
                Kind::ImplPattern | Kind::ImplInvocation | Kind::ImplSending => {}
                _ => {
                    self.node(part);
                    self.out.push(" ");
                }
            }
        }
        if let Some(pattern) = pattern {
            self.out.push("@substituted ");
            self.part(pattern, 0);
            self.out.push(" ");
        }
        self.out.push("(");
        self.list(&inputs, ", ");
        self.out.push(") -> ");
        if sending.is_some() {
            self.out.push("sending ");
        }
        self.out.push("(");
        self.list(&results, ", ");
        self.out.push(")");
        for substitutions in [
            pattern.and_then(|pattern| nodes.part(pattern, 1)),
            invocation.and_then(|invocation| nodes.part(invocation, 0)),
        ]
        .into_iter()
        .flatten()
        {
            self.out.push(" for <");
            self.all(substitutions, "");
            self.out.push(">");
        }
    }

    fn signature(&mut self, id: Id) {
        let nodes = self.nodes;
        let parts = nodes.parts(id);
        let of = |wanted: Kind| {
            parts
                .iter()
                .copied()
                .filter(move |&part| nodes.kind(part) == wanted)
        };
        // Marks name their parameter by its text.
        let marked = |part: Id| {
            nodes
                .part(part, 0)
                .and_then(|of_type| nodes.part(of_type, 0))
                .map(|parameter| nodes.text(parameter))
        };
        self.out.push("<");
        for (depth, count) in of(Kind::ParameterCount).enumerate() {
            if depth > 0 {
                self.out.push("><");
            }
            for index in 0..nodes.number(count) {
                if index > 0 {
                    self.out.push(", ");
                }
                if index >= 128 {
                    self.out.push("...");
                    break;
                }
                let name = parameter_name(depth as i64, index);
                if of(Kind::PackMarker).any(|mark| marked(mark) == Some(&name)) {
                    self.out.push("each ");
                }
                let value = of(Kind::ValueMarker).find(|&mark| marked(mark) == Some(&name));
                if value.is_some() {
                    self.out.push("let ");
                }
                self.out.push(&name);
                if let Some(value) = value {
                    self.out.push(": ");
                    self.part(value, 1);
                }
            }
        }
        let requirements: Vec<Id> = parts
            .iter()
            .copied()
            .filter(|&part| {
                !matches!(
                    nodes.kind(part),
                    Kind::ParameterCount | Kind::PackMarker | Kind::ValueMarker
                )
            })
            .collect();
        if !requirements.is_empty() {
            self.out.push(" where ");
            self.list(&requirements, ", ");
        }
        self.out.push(">");
    }

    /// A generic type with arguments, sugared where the language has sugar.
    fn bound(&mut self, id: Id, kind: Kind) {
        let nodes = self.nodes;
        let (Some(of_type), Some(arguments)) = (nodes.part(id, 0), nodes.part(id, 1)) else {
            return self.out.fail();
        };
        let unbound = nodes.part(of_type, 0);
        let standard = |name: &str, count: usize| {
            let Some(unbound) = unbound else {
                return false;
            };
            let text = |at| nodes.part(unbound, at).map(|part| nodes.text(part));
            nodes.parts(id).len() == 2
                && text(0) == Some("Swift")
                && text(1) == Some(name)
                && nodes.parts(arguments).len() == count
        };
        match kind {
            Kind::BoundEnum if standard("Optional", 1) => {
                self.with_parens(arguments, 0);
                self.out.push("?");
            }
            Kind::BoundStructure if standard("Array", 1) => {
                self.bracketed("[", arguments, "", "]");
            }
            Kind::BoundStructure if standard("Dictionary", 2) => {
                self.bracketed("[", arguments, " : ", "]");
            }
            Kind::BoundProtocol if nodes.parts(id).len() == 2 => {
                self.all(arguments, "");
                self.out.push(" as ");
                self.node(of_type);
            }
            _ => {
                self.node(of_type);
                self.bracketed("<", arguments, ", ", ">");
            }
        }
    }

    fn with_parens(&mut self, id: Id, at: usize) {
        match self.nodes.part(id, at) {
            Some(part) => self.simple(part),
            None => self.out.fail(),
        }
    }

    /// A type, in parentheses where what follows would bind to its last part.
    fn simple(&mut self, id: Id) {
        let nodes = self.nodes;
        let mut inner = id;
        while nodes.kind(inner) == Kind::Type && self.out.step() {
            match nodes.part(inner, 0) {
                Some(part) => inner = part,
                None => break,
            }
        }
        let first_len = |id: Id| nodes.part(id, 0).map_or(0, |part| nodes.parts(part).len());
        let simple = match nodes.kind(inner) {
            Kind::ProtocolList => first_len(inner) <= 1,
            Kind::ProtocolsWithAnyObject => {
                nodes.part(inner, 0).is_none_or(|list| first_len(list) == 0)
            }
            Kind::FunctionType
            | Kind::NoEscapeFunction
            | Kind::AutoClosure
            | Kind::ThinFunction
            | Kind::CFunction
            | Kind::Block
            | Kind::EscapingBlock
            | Kind::ImplFunction
            | Kind::GenericType
            | Kind::Constrained
            | Kind::PackExpansion
            | Kind::ProtocolsWithClass
            | Kind::Before(_)
            | Kind::OpaqueReturn => false,
            _ => true,
        };
        if simple {
            self.node(id);
        } else {
            self.out.push("(");
            self.node(id);
            self.out.push(")");
        }
    }
}
