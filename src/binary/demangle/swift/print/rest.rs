//! How the kinds are written that are neither declarations nor plain words.

use super::*;

impl Printer<'_> {
    pub(super) fn rest(&mut self, id: Id, kind: Kind) {
        let nodes = self.nodes;
        let count = nodes.parts(id).len();
        match kind {
            Kind::GenericSignature | Kind::PseudoSignature => self.signature(id),
            Kind::Conformance => self.between(id, ": "),
            Kind::Inverse => self.between(id, ": ~"),
            Kind::SameType => self.between(id, " == "),
            Kind::SameShape => {
                self.between(id, ".shape == ");
                self.out.push(".shape");
            }
            Kind::Layout => {
                self.between(id, ": ");
                if count > 2 {
                    self.out.push("(");
                    let numbers = nodes.parts(id).get(2..).unwrap_or_default();
                    self.list(numbers, ", ");
                    self.out.push(")");
                }
            }
            Kind::GenericType => {
                self.part(id, 0);
                if let Some(inner) = nodes.part(id, 1) {
                    if self.needs_blank(inner) {
                        self.out.push(" ");
                    }
                    self.node(inner);
                }
            }
            Kind::MemberType => self.between(id, "."),
            Kind::AssociatedReference => {
                if count > 1 {
                    self.part(id, 1);
                    self.out.push(".");
                }
                self.part(id, 0);
            }
            Kind::AssociatedPath => self.all(id, "."),
            Kind::OpaqueReturn => self.out.push("some"),
            Kind::OpaqueReturnOf => {
                self.out.push("<<opaque return type of ");
                self.all(id, "");
                self.out.push(">>");
            }
            Kind::Opaque => self.between(id, "."),
            Kind::ProtocolConformance => {
                self.part(id, 0);
                self.out.push(" : ");
                self.part(id, 1);
                self.out.push(" in ");
                self.part(id, 2);
            }
            Kind::Retroactive => {
                self.out.push("retroactive @ ");
                self.all(id, "");
            }
            Kind::ConformanceRef(words) => {
                self.out.push(words);
                self.all(id, "");
            }
            Kind::ConformanceList => {
                if count > 0 {
                    self.bracketed("(", id, ", ", ")");
                }
            }
            Kind::ConcreteConformance => {
                self.out.push("concrete protocol conformance ");
                self.between(id, " to ");
                if let Some(list) = nodes.part(id, 2)
                    && !nodes.parts(list).is_empty()
                {
                    self.out.push(" with conditional requirements: ");
                    self.node(list);
                }
            }
            Kind::DependentConformance(words) => {
                self.out.push(words);
                let index = nodes.part(id, 2).map_or(-1, |at| nodes.number(at));
                if index >= 0 {
                    self.out.push(&format!("#{index} "));
                }
                self.between(id, " to ");
            }
            Kind::ImplFunction => self.impl_function(id),
            Kind::ImplFunctionConvention => {
                self.out.push("@convention(");
                self.out.push(nodes.text(id));
                self.out.push(")");
            }
            Kind::ImplParameter | Kind::ImplResult => {
                self.out.push(nodes.text(id));
                self.out.push(" ");
                self.all(id, "");
            }
            Kind::ImplYield | Kind::ImplError => {
                self.out.push(match kind {
                    Kind::ImplYield => "@yields ",
                    _ => "@error ",
                });
                self.out.push(nodes.text(id));
                self.out.push(" ");
                self.all(id, "");
            }
            Kind::Reabstraction(words) => {
                self.out.push(words);
                let mut at = 0;
                if count == 3 {
                    self.part(id, 0);
                    self.out.push(" ");
                    at = 1;
                }
                self.out.push("from ");
                self.part(id, at + 1);
                self.out.push(" to ");
                self.part(id, at);
            }
            Kind::ReabstractionSelf => {
                self.out.push("reabstraction thunk ");
                let mut at = 0;
                if count == 4 {
                    self.part(id, 0);
                    self.out.push(" ");
                    at = 1;
                }
                self.out.push("from ");
                self.part(id, at + 2);
                self.out.push(" to ");
                self.part(id, at + 1);
                self.out.push(" self ");
                self.part(id, at);
            }
            Kind::Specialization(words, before) => self.specialization(id, words, before),
            Kind::SpecializationParameter => self.part(id, 0),
            Kind::KeyPath(words) => {
                self.out.push(words);
                self.part(id, 0);
                self.out.push(" : ");
                for &part in nodes.parts(id).iter().skip(1) {
                    if nodes.kind(part) == Kind::Serialized {
                        self.out.push(", ");
                    }
                    self.node(part);
                }
            }
            Kind::KeyPathIndex(words) => {
                self.out.push(words);
                if let Some(signature) = nodes.find(id, Kind::GenericSignature) {
                    self.node(signature);
                }
                let types: Vec<Id> = nodes
                    .parts(id)
                    .iter()
                    .copied()
                    .filter(|&part| nodes.kind(part) == Kind::Type)
                    .collect();
                self.out.push("(");
                self.list(&types, ", ");
                self.out.push(")");
            }
            Kind::FieldOffset => {
                self.part(id, 0);
                self.out.push("field offset for ");
                self.part(id, 1);
            }
            Kind::ValueWitness => self.between(id, " value witness for "),
            Kind::OnceToken(words) => {
                self.out.push(words);
                self.part(id, 1);
            }
            Kind::OnceList if count == 1 => self.part(id, 0),
            Kind::OnceList => self.bracketed("(", id, ", ", ")"),
            // What is left on the stack is no symbol.
            _ => self.out.fail(),
        }
    }

    pub(super) fn between(&mut self, id: Id, between: &str) {
        self.part(id, 0);
        self.out.push(between);
        self.part(id, 1);
    }
}
