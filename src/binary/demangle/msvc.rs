//! Names of Microsoft's C++ compiler, printed as LLVM's `undname` does.
//!
//! Microsoft documents neither the grammar nor its changes; this is what LLVM
//! reads. Parts are written as they are read, so what a back reference repeats
//! is copied: a budget for all copies ends names that grow without bound.

use super::out::{MAX_DEPTH, MAX_TEXT};

mod names;
mod types;

/// A declarator: what stands before the name, and what behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Type {
    left: String,
    right: String,
}

/// A name that is being read.
struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    /// The first ten names and parameter types, for back references.
    names: Vec<String>,
    types: Vec<Type>,
    depth: u32,
    budget: usize,
    /// Where in a pointer's text what it points at ends, of the last one.
    pointee_end: usize,
}

/// The source form of `name`.
pub(super) fn demangle(name: &str) -> Option<String> {
    let mut reader = Reader {
        input: name.as_bytes(),
        at: 0,
        names: Vec::new(),
        types: Vec::new(),
        depth: 0,
        budget: MAX_TEXT * 2 + name.len() * 16,
        pointee_end: 0,
    };
    let text = if reader.take(b".") {
        let of_type = reader.type_here()?;
        format!("{} `RTTI Type Descriptor Name'", of_type.whole())
    } else {
        reader.symbol()?
    };
    (reader.at == reader.input.len() && text.len() <= MAX_TEXT).then_some(text)
}

impl Type {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            left: text.into(),
            right: String::new(),
        }
    }

    fn whole(&self) -> String {
        format!("{}{}", self.left, self.right)
    }
}

/// Qualifiers of a type or of `this`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Quals {
    constant: bool,
    volatile: bool,
    restrict: bool,
    unaligned: bool,
    /// `` ` `` `&` or `&&` of a member function.
    reference: &'static str,
}

impl Quals {
    /// With a blank before each.
    fn text(self) -> String {
        let mut text = String::new();
        for (set, word) in [
            (self.constant, " const"),
            (self.volatile, " volatile"),
            (self.restrict, " __restrict"),
            (self.unaligned, " __unaligned"),
        ] {
            if set {
                text.push_str(word);
            }
        }
        if !self.reference.is_empty() {
            text.push(' ');
            text.push_str(self.reference);
        }
        text
    }
}

impl<'a> Reader<'a> {
    fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> u8 {
        self.input.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.input.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, text: &[u8]) -> bool {
        let found = self
            .input
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.take(text).then_some(())
    }

    /// Pays for a text that was copied.
    fn pay(&mut self, length: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(length)?;
        Some(())
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A digit is one more; else `A` to `P` are the digits, up to `@`.
    fn number(&mut self) -> Option<i64> {
        let negative = self.take(b"?");
        let mut value = 0i64;
        if self.peek().is_ascii_digit() {
            value = i64::from(self.next()? - b'0') + 1;
        } else {
            let start = self.at;
            while let digit @ b'A'..=b'P' = self.peek() {
                if self.at - start >= 16 {
                    return None;
                }
                value = (value << 4) | i64::from(digit - b'A');
                self.at += 1;
            }
            self.expect(b"@")?;
        }
        Some(if negative {
            value.wrapping_neg()
        } else {
            value
        })
    }

    fn until_at(&mut self) -> Option<&'a str> {
        let rest = self.input.get(self.at..)?;
        let length = memchr::memchr(b'@', rest)?;
        let text = std::str::from_utf8(rest.get(..length)?).ok()?;
        self.at += length + 1;
        Some(text)
    }

    fn remember(&mut self, name: &str) {
        if self.names.len() < 10 && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    /// `?` and what follows: a name with its encoding.
    fn symbol(&mut self) -> Option<String> {
        self.deeper(|reader| {
            reader.expect(b"?")?;
            if let Some(text) = reader.intrinsic() {
                return text;
            }
            let name = reader.qualified(true)?;
            reader.encoding(name)
        })
    }

    /// Variables and functions; `name` may still need its class's name.
    fn encoding(&mut self, name: names::Qualified) -> Option<String> {
        let code = self.next()?;
        match code {
            b'0'..=b'4' => {
                let access = match code {
                    b'0' => "private: static ",
                    b'1' => "protected: static ",
                    b'2' => "public: static ",
                    _ => "",
                };
                let is_pointer =
                    matches!(self.peek(), b'A' | b'B' | b'P'..=b'S') || self.peek() == b'$';
                let mut of_type = self.type_here()?;
                let pointee_end = self.pointee_end;
                if is_pointer {
                    self.extension();
                }
                let (quals, member) = self.qualifiers()?;
                if member {
                    self.class_name()?;
                }
                let quals = quals.text();
                if !is_pointer {
                    of_type.left.push_str(&quals);
                } else if let Some(pointee) = of_type.left.get(..pointee_end)
                    && !pointee.ends_with(&quals)
                {
                    of_type.left.insert_str(pointee_end, &quals);
                }
                let name = name.text(None)?;
                let blank = blank_after(&of_type.left);
                Some(format!(
                    "{access}{}{blank}{name}{}",
                    of_type.left, of_type.right
                ))
            }
            b'9' => Some(format!("extern \"C\" {}", name.text(None)?)),
            _ => {
                self.at -= 1;
                self.function(name)
            }
        }
    }

    fn function(&mut self, name: names::Qualified) -> Option<String> {
        let code = self.next()?;
        let mut adjust = String::new();
        let mut thunk = "";
        let mut code = code;
        if code == b'$' {
            if self.take(b"B") {
                let offset = self.number()?;
                self.expect(b"A")?;
                let convention = self.convention()?;
                let name = name.text(None)?;
                return Some(format!("[thunk]: {convention}{name}{{{offset}, {{flat}}}}"));
            }
            let extended = self.take(b"R");
            code = match self.next()? {
                b'0' => b'E',
                b'1' => b'F',
                b'2' => b'M',
                b'3' => b'N',
                b'4' => b'U',
                b'5' => b'V',
                _ => return None,
            };
            thunk = "[thunk]: ";
            let mut offsets = Vec::new();
            for _ in 0..if extended { 4 } else { 2 } {
                offsets.push(self.number()?.to_string());
            }
            let word = if extended { "vtordispex" } else { "vtordisp" };
            adjust = format!("`{word}{{{}}}'", offsets.join(", "));
        }
        let access = match code {
            b'A'..=b'H' => "private: ",
            b'I'..=b'P' => "protected: ",
            b'Q'..=b'X' => "public: ",
            b'Y' | b'Z' => "",
            _ => return None,
        };
        let group = match code {
            b'Y' | b'Z' => 8,
            code => (code - b'A') % 8,
        };
        let word = match group {
            2 | 3 => "static ",
            4..=7 => "virtual ",
            _ => "",
        };
        if matches!(group, 6 | 7) {
            thunk = "[thunk]: ";
            adjust = format!("`adjustor{{{}}}'", self.number()?);
        }
        let quals = match group {
            0 | 1 | 4..=7 => self.this_qualifiers()?,
            _ => Quals::default(),
        };
        let convention = self.convention()?;
        let returns = match self.take(b"@") {
            true => None,
            false => Some(self.return_type()?),
        };
        let parameters = self.parameters()?;
        let noexcept = match self.take(b"_E") {
            true => " noexcept",
            false => {
                self.expect(b"Z")?;
                ""
            }
        };
        let name = name.text(returns.as_ref())?;
        let (before, after) = match &returns {
            Some(returns) => (format!("{} ", returns.left), returns.right.as_str()),
            None => (String::new(), ""),
        };
        let quals = quals.text();
        Some(format!(
            "{thunk}{access}{word}{before}{convention}{name}{adjust}({parameters}){quals}{noexcept}{after}"
        ))
    }
}

/// Declarators that end in `*` or `&` touch what follows.
fn blank_after(left: &str) -> &'static str {
    match left.bytes().last() {
        None | Some(b'*' | b'&' | b' ' | b'(') => "",
        Some(_) => " ",
    }
}
