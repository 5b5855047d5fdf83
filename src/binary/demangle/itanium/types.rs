//! Types (ABI 5.1.5).

use super::node::{Cv, Id, Node, Trailer};
use super::parse::Reader;
use super::tables;

impl Reader<'_> {
    pub(super) fn kind(&mut self) -> Option<Id> {
        self.deeper(Self::kind_here)
    }

    fn kind_here(&mut self) -> Option<Id> {
        let node = match self.look() {
            b'r' | b'V' | b'K' => self.qualified()?,
            b'F' => self.function_type(Cv::default())?,
            b'A' => self.array()?,
            b'M' => {
                self.at += 1;
                let class = self.kind()?;
                let member = self.kind()?;
                self.add(Node::MemberPointer(class, member))
            }
            b'P' | b'R' | b'O' | b'C' | b'G' => {
                let code = self.look();
                self.at += 1;
                let inner = self.kind()?;
                self.add(match code {
                    b'P' => Node::Pointer(inner),
                    b'R' => Node::Reference(inner),
                    b'O' => Node::RvalueReference(inner),
                    b'C' => Node::Complex(inner),
                    _ => Node::Imaginary(inner),
                })
            }
            b'U' if !matches!(self.look_at(1), b'l' | b't' | b'b') => {
                self.at += 1;
                let mut name = self.source_name()?;
                if self.look() == b'I' {
                    let arguments = self.arguments(false)?;
                    name = self.add(Node::Templated(name, arguments));
                }
                let inner = self.kind()?;
                self.add(Node::Vendor(inner, name))
            }
            b'u' => {
                self.at += 1;
                let name = self.source_name()?;
                match self.look() {
                    b'I' => {
                        let arguments = self.arguments(false)?;
                        self.add(Node::Templated(name, arguments))
                    }
                    _ => name,
                }
            }
            b'D' => match self.extended()? {
                Extended::Builtin(id) => return Some(id),
                Extended::Candidate(id) => id,
            },
            b'T' if matches!(self.look_at(1), b's' | b'u' | b'e') => {
                self.at += 2;
                self.name(None)?
            }
            b'T' => {
                let start = self.at;
                let parameter = self.parameter()?;
                self.parameter_candidate(parameter, start);
                if self.look() == b'I' && !self.no_arguments {
                    let arguments = self.arguments(false)?;
                    self.add(Node::Templated(parameter, arguments))
                } else {
                    return Some(parameter);
                }
            }
            b'S' if self.look_at(1) != b't' => {
                let known = self.substitution()?;
                if self.look() != b'I' || self.no_arguments {
                    return Some(known);
                }
                let arguments = self.arguments(false)?;
                self.add(Node::Templated(known, arguments))
            }
            b'N' | b'Z' | b'S' | b'0'..=b'9' | b'U' => self.name(None)?,
            code => {
                let text = tables::builtin(code)?;
                self.at += 1;
                return Some(self.add(Node::Text(text)));
            }
        };
        self.candidate(node);
        Some(node)
    }

    fn qualified(&mut self) -> Option<Id> {
        let cv = self.cv();
        let function = match self.look() {
            b'F' => true,
            b'D' => matches!(self.look_at(1), b'o' | b'O' | b'w' | b'x'),
            _ => false,
        };
        if function {
            return self.function_type(cv);
        }
        let inner = self.kind()?;
        Some(self.add(Node::Qualified(inner, cv)))
    }

    fn function_type(&mut self, cv: Cv) -> Option<Id> {
        let mut trailer = Trailer {
            cv,
            ..Trailer::default()
        };
        loop {
            if self.take(b"Do") {
                trailer.noexcept = Some(None);
            } else if self.take(b"DO") {
                let condition = self.expression()?;
                self.expect(b"E")?;
                trailer.noexcept = Some(Some(condition));
            } else if self.take(b"Dw") {
                let mut types = Vec::new();
                while !self.take(b"E") {
                    types.push(self.kind()?);
                }
                trailer.throws = Some(self.list(&types));
            } else if self.take(b"Dx") {
                trailer.transaction_safe = true;
            } else {
                break;
            }
        }
        self.expect(b"F")?;
        let _ = self.take(b"Y");
        let returns = self.kind()?;
        let ends = |reader: &Self| {
            matches!(
                (reader.look(), reader.look_at(1)),
                (b'E', _) | (b'R' | b'O', b'E')
            )
        };
        let parameters = self.parameters_until(ends)?;
        trailer.reference = match self.look() {
            b'R' => "&",
            b'O' => "&&",
            _ => "",
        };
        self.at += usize::from(!trailer.reference.is_empty());
        self.expect(b"E")?;
        Some(self.add(Node::FunctionType(returns, parameters, trailer)))
    }

    fn array(&mut self) -> Option<Id> {
        self.expect(b"A")?;
        let bound = match self.look() {
            b'_' => None,
            b'0'..=b'9' => {
                let start = self.at;
                while self.look().is_ascii_digit() {
                    self.at += 1;
                }
                let span = self.span(start, self.at);
                Some(self.add(Node::Source(span)))
            }
            _ => Some(self.expression()?),
        };
        self.expect(b"_")?;
        let element = self.kind()?;
        Some(self.add(Node::Array(element, bound)))
    }

    pub(super) fn decltype(&mut self) -> Option<Id> {
        self.at += 2;
        let expression = self.expression()?;
        self.expect(b"E")?;
        Some(self.add(Node::Decltype(expression)))
    }

    fn extended(&mut self) -> Option<Extended> {
        let code = self.look_at(1);
        if let Some(text) = tables::builtin_d(code) {
            self.at += 2;
            return Some(Extended::Builtin(self.add(Node::Text(text))));
        }
        let node = match code {
            b'p' => {
                self.at += 2;
                let pattern = self.kind()?;
                self.add(Node::Expansion(pattern))
            }
            b't' | b'T' => self.decltype()?,
            b'v' => {
                self.at += 2;
                let length = match self.take(b"_") {
                    true => self.expression()?,
                    false => {
                        let number = self.number()?;
                        self.add(Node::Number(u64::from(number)))
                    }
                };
                self.expect(b"_")?;
                let element = self.kind()?;
                self.add(Node::Vector(element, length))
            }
            b'o' | b'O' | b'w' | b'x' => self.function_type(Cv::default())?,
            b'F' => return self.float().map(Extended::Builtin),
            b'B' | b'U' => {
                self.at += 2;
                let length = match self.look() {
                    b'0'..=b'9' => {
                        let number = self.number()?;
                        self.add(Node::Number(u64::from(number)))
                    }
                    _ => self.expression()?,
                };
                self.expect(b"_")?;
                self.add(Node::BitInt(code == b'U', length))
            }
            _ => return None,
        };
        Some(Extended::Candidate(node))
    }

    /// `DF16_`, `DF32x`, `DF16b`.
    fn float(&mut self) -> Option<Id> {
        self.at += 2;
        let bits = self.number()?;
        let text = match (bits, self.look()) {
            (16, b'b') => "std::bfloat16_t",
            (16, b'_') => "_Float16",
            (32, b'_') => "_Float32",
            (64, b'_') => "_Float64",
            (128, b'_') => "_Float128",
            (32, b'x') => "_Float32x",
            (64, b'x') => "_Float64x",
            (128, b'x') => "_Float128x",
            _ => return None,
        };
        self.at += 1;
        Some(self.add(Node::Text(text)))
    }
}

enum Extended {
    /// No candidate for substitution.
    Builtin(Id),
    Candidate(Id),
}
