//! How expressions and literals are written.

use super::*;

impl Printer<'_> {
    pub(super) fn expression(&mut self, node: Node) {
        match node {
            Node::Decltype(inner) => {
                self.out.push("decltype (");
                self.node(inner);
                self.out.push(")");
            }
            Node::Constant(kind, text, negative) => self.constant(kind, text, negative),
            Node::Parameter(0) => self.out.push("this"),
            Node::Parameter(number) => {
                self.out.push("{parm#");
                self.number(u64::from(number));
                self.out.push("}");
            }
            Node::Binary(text, left, right) => {
                // So that it doesn't end template arguments.
                let guard = text == ">";
                if guard {
                    self.out.push("(");
                }
                self.sub(left);
                self.out.push(text);
                self.sub(right);
                if guard {
                    self.out.push(")");
                }
            }
            Node::Unary("&", inner) => {
                self.out.push("&");
                match self.nodes.get(inner) {
                    // The address of a function goes without its parameters.
                    Node::Function(_, name, _, trailer)
                        if matches!(self.nodes.get(name), Node::Nested(..))
                            && trailer == Trailer::default() =>
                    {
                        self.sub(name);
                    }
                    _ => self.sub(inner),
                }
            }
            Node::Unary(text, inner) => {
                self.out.push(text);
                self.sub(inner);
            }
            Node::OfType(text, inner) => {
                self.out.push(text);
                self.out.push("(");
                self.node(inner);
                self.out.push(")");
            }
            Node::Postfix(text, inner) => {
                self.sub(inner);
                self.out.push(text);
            }
            Node::Ternary(condition, yes, no) => {
                self.sub(condition);
                self.out.push("?");
                self.sub(yes);
                self.out.push(" : ");
                self.sub(no);
            }
            Node::Call(function, arguments) => {
                match self.nodes.get(function) {
                    Node::Function(_, name, _, _) => self.sub(name),
                    _ => self.sub(function),
                }
                self.parameters(arguments);
            }
            Node::NamedCast(word, kind, inner) => {
                self.out.push(word);
                self.out.push("<");
                self.node(kind);
                self.out.push(">(");
                self.node(inner);
                self.out.push(")");
            }
            Node::Cast(kind, list) => {
                self.out.push("(");
                self.node(kind);
                self.out.push(")");
                match *self.nodes.list(list) {
                    [only] => self.sub(only),
                    _ => self.parameters(list),
                }
            }
            Node::Index(left, right) => {
                self.sub(left);
                self.out.push("[");
                self.node(right);
                self.out.push("]");
            }
            Node::PackLength(pack) => match self.nodes.get(pack) {
                Node::PackParameter(list) => self.number(u64::from(list.length)),
                _ => {
                    self.out.push("sizeof...(");
                    self.node(pack);
                    self.out.push(")");
                }
            },
            Node::PackLengthOf(list) => self.number(u64::from(list.length)),
            Node::New(word, placement, kind, start) => {
                self.out.push(word);
                if placement.length > 0 {
                    self.parameters(placement);
                    self.out.push(" ");
                }
                self.node(kind);
                if let Some(start) = start {
                    self.parameters(start);
                }
            }
            Node::Braces(kind, list) => {
                if let Some(kind) = kind {
                    self.node(kind);
                }
                self.out.push("{");
                self.comma_separated(list);
                self.out.push("}");
            }
            Node::Global(name) => {
                self.out.push("::");
                self.node(name);
            }
            Node::Fold(text, pattern, start, left) => self.fold(text, pattern, start, left),
            _ => self.out.fail(),
        }
    }

    pub(super) fn fold(&mut self, text: &str, pattern: Id, start: Option<Id>, left: bool) {
        // The pattern is written for all elements at once.
        let outer = std::mem::replace(&mut self.element, Element::None);
        self.out.push("(");
        if left {
            self.out.push("...");
            self.out.push(text);
            self.sub(pattern);
        } else {
            self.sub(pattern);
            self.out.push(text);
            self.out.push("...");
        }
        if let Some(start) = start {
            self.out.push(text);
            self.sub(start);
        }
        self.out.push(")");
        self.element = outer;
    }

    /// An operand, in parentheses unless it is a plain name.
    pub(super) fn sub(&mut self, id: Id) {
        let plain = matches!(
            self.nodes.get(id),
            Node::Source(_) | Node::Nested(..) | Node::Braces(..) | Node::Parameter(_)
        );
        if plain {
            self.node(id);
            return;
        }
        self.out.push("(");
        self.node(id);
        self.out.push(")");
    }

    pub(super) fn constant(&mut self, kind: Id, text: Span, negative: bool) {
        let digits = self.source(text);
        let sign = if negative { "-" } else { "" };
        if let Node::Text(name) = self.nodes.get(kind) {
            if let Some(suffix) = tables::suffix(name) {
                for part in [sign, digits, suffix] {
                    self.out.push(part);
                }
                return;
            }
            if name == "bool" && !negative && matches!(digits, "0" | "1") {
                self.out.push(if digits == "1" { "true" } else { "false" });
                return;
            }
            if matches!(name, "float" | "double" | "long double" | "__float128") {
                for part in ["(", name, ")", sign, "[", digits, "]"] {
                    self.out.push(part);
                }
                return;
            }
        }
        self.out.push("(");
        self.node(kind);
        self.out.push(")");
        self.out.push(sign);
        self.out.push(digits);
    }
}
