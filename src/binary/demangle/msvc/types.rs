//! Types and parameters.

use super::{Quals, Reader, Type, blank_after};

impl Reader<'_> {
    /// `A` to `D`, and whether it is `Q` to `T`: of a member.
    pub(super) fn qualifiers(&mut self) -> Option<(Quals, bool)> {
        let code = self.next()?;
        let bits = match code {
            b'A'..=b'D' => code - b'A',
            b'Q'..=b'T' => code - b'Q',
            _ => return None,
        };
        let quals = Quals {
            constant: bits & 1 != 0,
            volatile: bits & 2 != 0,
            ..Quals::default()
        };
        Some((quals, code >= b'Q'))
    }

    /// `__ptr64`, `__restrict`, `__unaligned`.
    pub(super) fn extension(&mut self) -> Quals {
        let mut quals = Quals::default();
        let _ = self.take(b"E");
        quals.restrict = self.take(b"I");
        quals.unaligned = self.take(b"F");
        quals
    }

    pub(super) fn this_qualifiers(&mut self) -> Option<Quals> {
        let extension = self.extension();
        let reference = match self.peek() {
            b'G' => "&",
            b'H' => "&&",
            _ => "",
        };
        self.at += usize::from(!reference.is_empty());
        let (quals, _) = self.qualifiers()?;
        Some(Quals {
            reference,
            restrict: extension.restrict,
            unaligned: extension.unaligned,
            ..quals
        })
    }

    /// With a blank behind.
    pub(super) fn convention(&mut self) -> Option<&'static str> {
        Some(match self.next()? {
            b'A' | b'B' => "__cdecl ",
            b'C' | b'D' => "__pascal ",
            b'E' | b'F' => "__thiscall ",
            b'G' | b'H' => "__stdcall ",
            b'I' | b'J' => "__fastcall ",
            b'M' | b'N' => "__clrcall ",
            b'O' | b'P' => "__eabi ",
            b'Q' => "__vectorcall ",
            b'S' => "__attribute__((__swiftcall__)) ",
            b'W' => "__attribute__((__swiftasynccall__)) ",
            _ => return None,
        })
    }

    /// A type that may be qualified as a whole.
    pub(super) fn return_type(&mut self) -> Option<Type> {
        let quals = match self.take(b"?") {
            true => self.qualifiers()?.0,
            false => Quals::default(),
        };
        let mut of_type = self.type_here()?;
        of_type.left.push_str(&quals.text());
        Some(of_type)
    }

    pub(super) fn type_here(&mut self) -> Option<Type> {
        let read = self.deeper(Self::type_inner)?;
        self.pay(read.left.len() + read.right.len())?;
        Some(read)
    }

    fn type_inner(&mut self) -> Option<Type> {
        if self.take(b"$$Q") {
            return self.pointer("&&", Quals::default());
        }
        if self.take(b"$$R") {
            let volatile = Quals {
                volatile: true,
                ..Quals::default()
            };
            return self.pointer("&&", volatile);
        }
        if self.take(b"$$T") {
            return Some(Type::plain("std::nullptr_t"));
        }
        if self.take(b"$$A8@@") {
            return self.function_type(true);
        }
        if self.take(b"$$A6") {
            return self.function_type(false);
        }
        if self.take(b"$$B") {
            return self.type_here();
        }
        if self.take(b"$$C") {
            let quals = self.qualifiers()?.0;
            let mut of_type = self.type_here()?;
            of_type.left.push_str(&quals.text());
            return Some(of_type);
        }
        let code = self.next()?;
        let constant = |constant, volatile| Quals {
            constant,
            volatile,
            ..Quals::default()
        };
        let text = match code {
            b'A' => return self.pointer("&", Quals::default()),
            b'B' => return self.pointer("&", constant(false, true)),
            b'P' => return self.pointer("*", Quals::default()),
            b'Q' => return self.pointer("*", constant(true, false)),
            b'R' => return self.pointer("*", constant(false, true)),
            b'S' => return self.pointer("*", constant(true, true)),
            b'?' => {
                // A qualified type by value: `?A`, or a parameter of a class.
                let quals = self.qualifiers()?.0;
                let mut of_type = self.type_here()?;
                of_type.left.push_str(&quals.text());
                return Some(of_type);
            }
            b'T' => return Some(Type::plain(format!("union {}", self.class_name()?))),
            b'U' => return Some(Type::plain(format!("struct {}", self.class_name()?))),
            b'V' => return Some(Type::plain(format!("class {}", self.class_name()?))),
            b'W' => {
                self.expect(b"4")?;
                return Some(Type::plain(format!("enum {}", self.class_name()?)));
            }
            b'Y' => return self.array(),
            b'X' => "void",
            b'D' => "char",
            b'C' => "signed char",
            b'E' => "unsigned char",
            b'F' => "short",
            b'G' => "unsigned short",
            b'H' => "int",
            b'I' => "unsigned int",
            b'J' => "long",
            b'K' => "unsigned long",
            b'M' => "float",
            b'N' => "double",
            b'O' => "long double",
            b'_' => match self.next()? {
                b'N' => "bool",
                b'J' => "__int64",
                b'K' => "unsigned __int64",
                b'W' => "wchar_t",
                b'Q' => "char8_t",
                b'S' => "char16_t",
                b'U' => "char32_t",
                b'P' => "auto",
                b'T' => "decltype(auto)",
                _ => return None,
            },
            _ => return None,
        };
        Some(Type::plain(text))
    }

    fn pointer(&mut self, mark: &str, own: Quals) -> Option<Type> {
        let extension = self.extension();
        let own = Quals {
            restrict: extension.restrict,
            ..own
        };
        let own_text = own.text();
        let own_text = own_text.strip_prefix(' ').unwrap_or(&own_text);
        self.pointee_end = 0;
        if self.take(b"6") {
            return self.pointer_to_function("", mark, own_text);
        }
        if self.take(b"8") {
            let class = self.class_name()?;
            return self.pointer_to_function(&class, mark, own_text);
        }
        let (quals, member) = self.qualifiers()?;
        let class = match member {
            true => Some(self.class_name()?),
            false => None,
        };
        let mut inner = self.type_here()?;
        inner.left.push_str(&quals.text());
        if extension.unaligned {
            inner.left.push_str(" __unaligned");
        }
        let pointee_end = inner.left.len();
        let opens = inner.right.starts_with('[');
        inner.left.push_str(blank_after(&inner.left));
        if opens {
            inner.left.push('(');
            inner.right.insert(0, ')');
        }
        if let Some(class) = class {
            inner.left.push_str(&class);
            inner.left.push_str("::");
        }
        inner.left.push_str(mark);
        inner.left.push_str(own_text);
        self.pointee_end = pointee_end;
        Some(inner)
    }

    fn pointer_to_function(&mut self, class: &str, mark: &str, own: &str) -> Option<Type> {
        let quals = match class.is_empty() {
            true => Quals::default(),
            false => self.this_qualifiers()?,
        };
        let convention = self.convention()?;
        let returns = match self.take(b"@") {
            true => Type::default(),
            false => self.return_type()?,
        };
        let parameters = self.parameters()?;
        let noexcept = self.function_end()?;
        let blank = blank_after(&returns.left);
        let scope = match class.is_empty() {
            true => String::new(),
            false => format!("{class}::"),
        };
        Some(Type {
            left: format!("{}{blank}({convention}{scope}{mark}{own}", returns.left),
            right: format!(")({parameters}){}{noexcept}{}", quals.text(), returns.right),
        })
    }

    fn function_end(&mut self) -> Option<&'static str> {
        if self.take(b"_E") {
            return Some(" noexcept");
        }
        self.expect(b"Z")?;
        Some("")
    }

    /// A function's type by itself, in template arguments.
    fn function_type(&mut self, member: bool) -> Option<Type> {
        let quals = match member {
            true => self.this_qualifiers()?,
            false => Quals::default(),
        };
        let convention = self.convention()?;
        let returns = self.return_type()?;
        let parameters = self.parameters()?;
        let noexcept = self.function_end()?;
        let convention = convention.trim_end();
        let blank = blank_after(&returns.left);
        let quals = quals.text();
        Some(Type {
            left: format!("{}{blank}{convention}", returns.left),
            right: format!("({parameters}){quals}{noexcept}{}", returns.right),
        })
    }

    fn array(&mut self) -> Option<Type> {
        let dimensions = self.number()?;
        if !(1..=64).contains(&dimensions) {
            return None;
        }
        let mut bounds = String::new();
        for _ in 0..dimensions {
            match self.number()? {
                0 => bounds.push_str("[]"),
                bound => bounds.push_str(&format!("[{bound}]")),
            }
        }
        let quals = match self.take(b"$$C") {
            true => self.qualifiers()?.0,
            false => Quals::default(),
        };
        let element = self.type_here()?;
        Some(Type {
            left: format!("{}{}", element.left, quals.text()),
            right: format!("{bounds}{}", element.right),
        })
    }

    /// Parameters up to their end; the first ten longer ones are remembered.
    pub(super) fn parameters(&mut self) -> Option<String> {
        if self.take(b"X") {
            return Some("void".to_owned());
        }
        let mut all = Vec::new();
        loop {
            match self.peek() {
                b'@' => {
                    self.at += 1;
                    break;
                }
                b'Z' => {
                    self.at += 1;
                    all.push("...".to_owned());
                    break;
                }
                digit @ b'0'..=b'9' => {
                    self.at += 1;
                    let known = self.types.get(usize::from(digit - b'0'))?.whole();
                    self.pay(known.len())?;
                    all.push(known);
                }
                _ => {
                    let start = self.at;
                    let of_type = self.type_here()?;
                    all.push(of_type.whole());
                    if self.at - start > 1 && self.types.len() < 10 {
                        self.types.push(of_type);
                    }
                }
            }
        }
        (!all.is_empty()).then(|| all.join(", "))
    }
}
