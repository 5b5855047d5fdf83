//! How names that stand whole are written: those with nothing behind what they
//! declare.

use super::*;

impl Printer<'_> {
    /// Nodes without a right half.
    pub(super) fn whole(&mut self, node: Node) {
        match node {
            Node::Text(text) | Node::Operator(text) => self.out.push(text),
            Node::Source(span) => self.out.push(self.source(span)),
            Node::Anonymous => self.out.push("(anonymous namespace)"),
            Node::Nested(scope, name) | Node::Local(scope, name) => {
                self.node(scope);
                self.out.push("::");
                self.node(name);
            }
            Node::Templated(name, arguments) => {
                self.node(name);
                self.arguments(arguments);
            }
            Node::AbiTag(name, tag) => {
                self.node(name);
                self.out.push("[abi:");
                self.out.push(self.source(tag));
                self.out.push("]");
            }
            Node::Pack(list) => self.comma_separated(list),
            Node::Expansion(pattern) => self.expansion(pattern),
            Node::Auto(number) => {
                self.out.push("auto:");
                self.number(u64::from(number));
            }
            Node::Constructor(scope) => self.base_name(scope),
            Node::Destructor(scope) => {
                self.out.push("~");
                self.base_name(scope);
            }
            Node::Conversion(kind) => {
                self.out.push("operator ");
                self.node(kind);
            }
            Node::Literal(name) => {
                self.out.push("operator\"\" ");
                self.node(name);
            }
            Node::VendorOperator(name) => {
                self.out.push("operator ");
                self.node(name);
            }
            Node::Lambda(parameters, number) => {
                self.out.push("{lambda");
                self.parameters(parameters);
                self.out.push("#");
                self.number(u64::from(number));
                self.out.push("}");
            }
            Node::Unnamed(number) => {
                self.out.push("{unnamed type#");
                self.number(u64::from(number));
                self.out.push("}");
            }
            Node::Binding(names) => {
                self.out.push("[");
                self.comma_separated(names);
                self.out.push("]");
            }
            Node::DefaultArgument(function, number, entity) => {
                self.node(function);
                self.out.push("::{default arg#");
                self.number(u64::from(number));
                self.out.push("}::");
                self.node(entity);
            }
            Node::Special(text, inner) => {
                self.out.push(text);
                self.node(inner);
            }
            Node::Temporary(number, name) => {
                self.out.push("reference temporary #");
                self.number(u64::from(number));
                self.out.push(" for ");
                self.node(name);
            }
            Node::VtableIn(outer, inner) => {
                self.out.push("construction vtable for ");
                self.node(outer);
                self.out.push("-in-");
                self.node(inner);
            }
            Node::Clone(base, suffix) => {
                self.node(base);
                self.out.push(" [clone ");
                self.out.push(self.source(suffix));
                self.out.push("]");
            }
            Node::Complex(inner) => {
                self.node(inner);
                self.out.push(" _Complex");
            }
            Node::Imaginary(inner) => {
                self.node(inner);
                self.out.push(" _Imaginary");
            }
            Node::Vector(element, length) => {
                self.node(element);
                self.out.push(" __vector(");
                self.node(length);
                self.out.push(")");
            }
            Node::BitInt(unsigned, length) => {
                self.out.push(if unsigned {
                    "unsigned _BitInt("
                } else {
                    "_BitInt("
                });
                self.node(length);
                self.out.push(")");
            }
            Node::Number(value) => self.number(value),
            other => self.expression(other),
        }
    }

    pub(super) fn expansion(&mut self, pattern: Id) {
        let outer = std::mem::replace(&mut self.element, Element::Unmet);
        let start = self.out.len();
        self.node(pattern);
        match self.element {
            Element::At(_, 0) => self.out.truncate(start),
            Element::At(_, count) => {
                for at in 1..count {
                    if self.out.has_failed() {
                        break;
                    }
                    self.out.push(", ");
                    self.element = Element::At(at, count);
                    self.node(pattern);
                }
            }
            _ => {
                // No pack of template arguments: it stays a pattern.
                self.out.truncate(start);
                self.element = Element::None;
                self.sub(pattern);
                self.out.push("...");
            }
        }
        self.element = outer;
    }

    /// The last part of a class's name, without template arguments.
    pub(super) fn base_name(&mut self, scope: Id) {
        let mut id = scope;
        while self.out.step() {
            id = match self.nodes.get(id) {
                Node::Nested(_, name) | Node::Local(_, name) => name,
                Node::DefaultArgument(_, _, name) => name,
                Node::Templated(name, _) | Node::AbiTag(name, _) => name,
                Node::Forward(reference) => match self.forward(reference) {
                    Some(id) => id,
                    None => return,
                },
                Node::Text(text) => {
                    let mut standard = (b'a'..=b'z').filter_map(tables::standard);
                    let known = standard.find(|&(long, _)| long == text);
                    self.out.push(known.map_or(text, |(_, short)| short));
                    return;
                }
                _ => {
                    self.node(id);
                    return;
                }
            };
        }
    }
}
