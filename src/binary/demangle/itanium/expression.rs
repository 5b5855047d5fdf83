//! Expressions (ABI 5.1.6).

use super::node::{Id, List, Node};
use super::parse::Reader;
use super::tables::{self, Shape};

impl Reader<'_> {
    pub(super) fn expression(&mut self) -> Option<Id> {
        self.deeper(Self::expression_here)
    }

    fn expressions(&mut self) -> Option<List> {
        let mut all = Vec::new();
        while !self.take(b"E") {
            all.push(self.expression()?);
        }
        Some(self.list(&all))
    }

    fn expression_here(&mut self) -> Option<Id> {
        let global = self.take(b"gs");
        let code = [self.look(), self.look_at(1)];
        if global && !matches!(&code, b"nw" | b"na" | b"dl" | b"da") {
            let name = match self.look() {
                b's' => self.expression_here()?,
                _ => self.simple_id()?,
            };
            return Some(self.add(Node::Global(name)));
        }
        match &code {
            b"cv" => {
                self.at += 2;
                let kind = self.kind()?;
                let list = match self.take(b"_") {
                    true => self.expressions()?,
                    false => {
                        let inner = self.expression()?;
                        self.list(&[inner])
                    }
                };
                return Some(self.add(Node::Cast(kind, list)));
            }
            b"fp" | b"fL" => return self.function_parameter(),
            b"fl" | b"fr" | b"fR" if self.look_at(2) != 0 => return self.fold(),
            b"tl" | b"il" => {
                self.at += 2;
                let kind = match &code {
                    b"tl" => Some(self.kind()?),
                    _ => None,
                };
                let list = self.expressions()?;
                return Some(self.add(Node::Braces(kind, list)));
            }
            b"dc" | b"sc" | b"cc" | b"rc" => {
                self.at += 2;
                let word = match &code {
                    b"dc" => "dynamic_cast",
                    b"sc" => "static_cast",
                    b"cc" => "const_cast",
                    _ => "reinterpret_cast",
                };
                let kind = self.kind()?;
                let inner = self.expression()?;
                return Some(self.add(Node::NamedCast(word, kind, inner)));
            }
            b"sr" => return self.scoped(),
            b"sZ" => {
                self.at += 2;
                let pack = match self.look() {
                    b'T' => self.parameter()?,
                    _ => self.function_parameter()?,
                };
                return Some(self.add(Node::PackLength(pack)));
            }
            b"sP" => {
                self.at += 2;
                let mut arguments = Vec::new();
                while !self.take(b"E") {
                    arguments.push(self.argument()?);
                }
                let list = self.list(&arguments);
                return Some(self.add(Node::PackLengthOf(list)));
            }
            b"sp" => {
                self.at += 2;
                let pattern = self.expression()?;
                return Some(self.add(Node::Expansion(pattern)));
            }
            b"ti" | b"te" => {
                self.at += 2;
                let inner = match &code {
                    b"ti" => self.kind()?,
                    _ => self.expression()?,
                };
                return Some(self.add(Node::OfType("typeid ", inner)));
            }
            b"nx" => {
                self.at += 2;
                let inner = self.expression()?;
                return Some(self.add(Node::OfType("noexcept", inner)));
            }
            b"tw" => {
                self.at += 2;
                let inner = self.expression()?;
                return Some(self.add(Node::Unary("throw ", inner)));
            }
            b"tr" => {
                self.at += 2;
                return Some(self.add(Node::Text("throw")));
            }
            b"nw" | b"na" => return self.new_object(code == *b"na"),
            b"on" => return self.simple_id(),
            _ => {}
        }
        match self.look() {
            b'L' => return self.literal(),
            b'T' => return self.parameter(),
            b'1'..=b'9' => return self.simple_id(),
            b'N' | b'S' | b'Z' => return self.kind(),
            _ => {}
        }
        let (text, shape) = tables::operator(code)?;
        self.at += 2;
        Some(match shape {
            Shape::Prefix => {
                let inner = self.expression()?;
                self.add(Node::Unary(text, inner))
            }
            Shape::Type => {
                let inner = self.kind()?;
                self.add(Node::OfType(text, inner))
            }
            Shape::Step => {
                let before = self.take(b"_");
                let inner = self.expression()?;
                self.add(match before {
                    true => Node::Unary(text, inner),
                    false => Node::Postfix(text, inner),
                })
            }
            Shape::Binary => {
                let left = self.expression()?;
                let right = self.expression()?;
                self.add(Node::Binary(text, left, right))
            }
            Shape::Member => {
                let left = self.expression()?;
                let right = match text {
                    "." | "->" => self.unresolved()?,
                    _ => self.expression()?,
                };
                self.add(Node::Binary(text, left, right))
            }
            Shape::Ternary => {
                let condition = self.expression()?;
                let yes = self.expression()?;
                let no = self.expression()?;
                self.add(Node::Ternary(condition, yes, no))
            }
            Shape::Index => {
                let left = self.expression()?;
                let right = self.expression()?;
                self.add(Node::Index(left, right))
            }
            Shape::Call => {
                let function = self.expression()?;
                let arguments = self.expressions()?;
                self.add(Node::Call(function, arguments))
            }
            Shape::Other => return None,
        })
    }

    fn function_parameter(&mut self) -> Option<Id> {
        if self.take(b"fpT") {
            return Some(self.add(Node::Parameter(0)));
        }
        if self.take(b"fL") {
            self.number()?;
            self.expect(b"p")?;
        } else {
            self.expect(b"fp")?;
        }
        let _ = self.cv();
        let number = self.sequence()?.checked_add(1)?;
        Some(self.add(Node::Parameter(number)))
    }

    fn fold(&mut self) -> Option<Id> {
        let code = self.look_at(1);
        self.at += 2;
        let (text, _) = tables::operator([self.look(), self.look_at(1)])?;
        self.at += 2;
        let first = self.expression()?;
        let (pattern, start, left) = match code {
            b'l' => (first, None, true),
            b'r' => (first, None, false),
            _ => (first, Some(self.expression()?), false),
        };
        Some(self.add(Node::Fold(text, pattern, start, left)))
    }

    fn new_object(&mut self, array: bool) -> Option<Id> {
        self.at += 2;
        let mut placement = Vec::new();
        while !self.take(b"_") {
            placement.push(self.expression()?);
        }
        let placement = self.list(&placement);
        let kind = self.kind()?;
        let start = match self.take(b"pi") {
            true => Some(self.expressions()?),
            false => {
                self.expect(b"E")?;
                None
            }
        };
        let word = if array { "new[] " } else { "new " };
        Some(self.add(Node::New(word, placement, kind, start)))
    }

    /// A name without scope in an expression, with template arguments.
    fn simple_id(&mut self) -> Option<Id> {
        let _ = self.take(b"on");
        let name = self.unqualified(None, None)?;
        if self.look() != b'I' {
            return Some(name);
        }
        let arguments = self.arguments(false)?;
        Some(self.add(Node::Templated(name, arguments)))
    }

    fn unresolved(&mut self) -> Option<Id> {
        match (self.look(), self.look_at(1)) {
            (b's', b'r') => self.scoped(),
            (b'g', b's') => self.expression(),
            (b'L' | b'T' | b'f', _) => self.expression(),
            (b'd', b'n') => self.destructor_name(),
            _ => self.simple_id(),
        }
    }

    fn destructor_name(&mut self) -> Option<Id> {
        self.expect(b"dn")?;
        let inner = match self.look() {
            b'1'..=b'9' => self.simple_id()?,
            _ => self.kind()?,
        };
        Some(self.add(Node::Unary("~", inner)))
    }

    /// `sr`, `srN`: a name in a scope that depends on parameters.
    fn scoped(&mut self) -> Option<Id> {
        self.expect(b"sr")?;
        let many = !self.scopes_are_types && self.take(b"N");
        // Levels may be plain names, which an `E` ends; older compilers wrote
        // a class's name alone.
        let scope = if self.look().is_ascii_digit() {
            let (at, candidates) = (self.at, self.substitutions.len());
            match self.levels() {
                Some(scope) if many || self.look().is_ascii_digit() => scope,
                _ => {
                    self.at = at;
                    self.substitutions.truncate(candidates);
                    self.kind()?
                }
            }
        } else if many {
            let first = self.kind()?;
            self.levels_behind(first)?
        } else {
            self.kind()?
        };
        let name = match (self.look(), self.look_at(1)) {
            (b'd', b'n') => self.destructor_name()?,
            _ => {
                let _ = self.take(b"on");
                self.unqualified(None, None)?
            }
        };
        let whole = self.add(Node::Nested(scope, name));
        if self.look() != b'I' {
            return Some(whole);
        }
        let arguments = self.arguments(false)?;
        Some(self.add(Node::Templated(whole, arguments)))
    }

    fn levels(&mut self) -> Option<Id> {
        let first = self.simple_id()?;
        self.levels_behind(first)
    }

    fn levels_behind(&mut self, first: Id) -> Option<Id> {
        let mut scope = first;
        while !self.take(b"E") {
            let level = self.simple_id()?;
            scope = self.add(Node::Nested(scope, level));
        }
        Some(scope)
    }

    /// `L` type value `E`, or a function or object.
    pub(super) fn literal(&mut self) -> Option<Id> {
        self.expect(b"L")?;
        if self.take(b"_Z") || self.look() == b'Z' {
            let _ = self.take(b"Z");
            let entity = self.encoding(true)?;
            self.expect(b"E")?;
            return Some(entity);
        }
        let kind = self.kind()?;
        if self.take(b"E") {
            return Some(kind);
        }
        let negative = self.take(b"n");
        let start = self.at;
        while matches!(self.look(), b'0'..=b'9' | b'a'..=b'z' | b'_') {
            self.at += 1;
        }
        let span = self.span(start, self.at);
        self.expect(b"E")?;
        Some(self.add(Node::Constant(kind, span, negative)))
    }
}
