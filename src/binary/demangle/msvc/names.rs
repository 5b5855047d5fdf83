//! Names with their scopes, operators, and what the compiler makes itself.

use super::{Reader, Type};

/// What the last part of a name is.
#[derive(Clone, Debug)]
pub(super) enum Last {
    Name(String),
    /// The class's name again, with arguments of its own.
    Constructor(String),
    Destructor(String),
    /// `operator` and the type that the function returns.
    Conversion(String),
}

/// A name with its scopes, the innermost first.
#[derive(Clone, Debug)]
pub(super) struct Qualified {
    pub last: Last,
    pub scopes: Vec<String>,
}

impl Qualified {
    /// As it is written; a conversion needs the type it `returns`.
    pub fn text(&self, returns: Option<&Type>) -> Option<String> {
        let mut text = String::new();
        for scope in self.scopes.iter().rev() {
            text.push_str(scope);
            text.push_str("::");
        }
        let class = || self.scopes.first().map(String::as_str);
        match &self.last {
            Last::Name(name) => text.push_str(name),
            Last::Constructor(arguments) => {
                text.push_str(class()?);
                text.push_str(arguments);
            }
            Last::Destructor(arguments) => {
                text.push('~');
                text.push_str(class()?);
                text.push_str(arguments);
            }
            Last::Conversion(arguments) => {
                text.push_str("operator");
                text.push_str(arguments);
                text.push(' ');
                text.push_str(&returns?.whole());
            }
        }
        Some(text)
    }
}

impl Reader<'_> {
    /// A name and its scopes; `function`: of a symbol, not of a type.
    pub(super) fn qualified(&mut self, function: bool) -> Option<Qualified> {
        let last = self.unqualified(function)?;
        let scopes = self.scopes()?;
        Some(Qualified { last, scopes })
    }

    /// The name of a class, enumeration or the like.
    pub(super) fn class_name(&mut self) -> Option<String> {
        let name = self.qualified(false)?;
        let text = name.text(None)?;
        self.pay(text.len())?;
        Some(text)
    }

    pub(super) fn scopes(&mut self) -> Option<Vec<String>> {
        let mut scopes = Vec::new();
        while !self.take(b"@") {
            let scope = self.scope()?;
            self.pay(scope.len())?;
            scopes.push(scope);
        }
        Some(scopes)
    }

    fn reference(&mut self) -> Option<String> {
        let digit = self.next()? - b'0';
        let name = self.names.get(usize::from(digit))?.clone();
        self.pay(name.len())?;
        Some(name)
    }

    fn scope(&mut self) -> Option<String> {
        self.deeper(|reader| match (reader.peek(), reader.peek_at(1)) {
            (b'0'..=b'9', _) => reader.reference(),
            (b'?', b'$') => {
                reader.at += 2;
                let name = reader.template()?;
                let Last::Name(name) = name else {
                    return None;
                };
                reader.remember(&name);
                Some(name)
            }
            (b'?', b'A') => {
                reader.at += 2;
                let key = reader.until_at()?.to_owned();
                let name = "`anonymous namespace'";
                // The key makes two of them differ.
                if reader.names.len() < 10 {
                    reader.names.push(name.to_owned());
                }
                let _ = key;
                Some(name.to_owned())
            }
            (b'?', _) => {
                reader.at += 1;
                let number = reader.number()?;
                reader.expect(b"?")?;
                let symbol = reader.symbol()?;
                reader.pay(symbol.len())?;
                Some(format!("`{symbol}'::`{number}'"))
            }
            _ => reader.simple(),
        })
    }

    fn simple(&mut self) -> Option<String> {
        let name = self.until_at()?;
        if name.is_empty() {
            return None;
        }
        self.remember(name);
        Some(name.to_owned())
    }

    fn unqualified(&mut self, function: bool) -> Option<Last> {
        match (self.peek(), self.peek_at(1)) {
            (b'0'..=b'9', _) => self.reference().map(Last::Name),
            (b'?', b'$') => {
                self.at += 2;
                let last = self.template()?;
                if let (Last::Name(name), false) = (&last, function) {
                    let name = name.clone();
                    self.remember(&name);
                }
                Some(last)
            }
            (b'?', _) => {
                self.at += 1;
                self.operator()
            }
            _ => self.simple().map(Last::Name),
        }
    }

    /// A template with its arguments; references are its own inside.
    fn template(&mut self) -> Option<Last> {
        self.deeper(|reader| {
            let names = std::mem::take(&mut reader.names);
            let types = std::mem::take(&mut reader.types);
            let read = reader.template_here();
            reader.names = names;
            reader.types = types;
            read
        })
    }

    fn template_here(&mut self) -> Option<Last> {
        let name = self.unqualified(true)?;
        let mut arguments = Vec::new();
        while !self.take(b"@") {
            if let Some(argument) = self.argument()? {
                self.pay(argument.len())?;
                arguments.push(argument);
            }
        }
        let arguments = format!("<{}>", arguments.join(", "));
        Some(match name {
            Last::Name(name) => Last::Name(format!("{name}{arguments}")),
            Last::Constructor(_) => Last::Constructor(arguments),
            Last::Destructor(_) => Last::Destructor(arguments),
            Last::Conversion(_) => Last::Conversion(arguments),
        })
    }

    /// A template argument; an empty pack is none.
    fn argument(&mut self) -> Option<Option<String>> {
        for empty in [&b"$S"[..], b"$$V", b"$$$V", b"$$Z"] {
            if self.take(empty) {
                return Some(None);
            }
        }
        if self.take(b"$0") {
            return Some(Some(self.number()?.to_string()));
        }
        if self.take(b"$1") || self.take(b"$H1") {
            return Some(Some(format!("&{}", self.symbol()?)));
        }
        if self.take(b"$E") {
            return Some(Some(self.symbol()?));
        }
        if self.take(b"$M") {
            // The type of an `auto` argument says nothing that is shown.
            self.type_here()?;
            return self.argument();
        }
        if self.take(b"$$Y") {
            return Some(Some(self.class_name()?));
        }
        if self.take(b"$$B") {
            return Some(Some(self.type_here()?.whole()));
        }
        if self.take(b"$$C") {
            let quals = self.qualifiers()?.0;
            let mut of_type = self.type_here()?;
            of_type.left.push_str(&quals.text());
            return Some(Some(of_type.whole()));
        }
        Some(Some(self.type_here()?.whole()))
    }

    fn operator(&mut self) -> Option<Last> {
        let simple = |text: &str| Some(Last::Name(text.to_owned()));
        match self.next()? {
            b'0' => Some(Last::Constructor(String::new())),
            b'1' => Some(Last::Destructor(String::new())),
            b'2' => simple("operator new"),
            b'3' => simple("operator delete"),
            b'4' => simple("operator="),
            b'5' => simple("operator>>"),
            b'6' => simple("operator<<"),
            b'7' => simple("operator!"),
            b'8' => simple("operator=="),
            b'9' => simple("operator!="),
            b'A' => simple("operator[]"),
            b'B' => Some(Last::Conversion(String::new())),
            b'C' => simple("operator->"),
            b'D' => simple("operator*"),
            b'E' => simple("operator++"),
            b'F' => simple("operator--"),
            b'G' => simple("operator-"),
            b'H' => simple("operator+"),
            b'I' => simple("operator&"),
            b'J' => simple("operator->*"),
            b'K' => simple("operator/"),
            b'L' => simple("operator%"),
            b'M' => simple("operator<"),
            b'N' => simple("operator<="),
            b'O' => simple("operator>"),
            b'P' => simple("operator>="),
            b'Q' => simple("operator,"),
            b'R' => simple("operator()"),
            b'S' => simple("operator~"),
            b'T' => simple("operator^"),
            b'U' => simple("operator|"),
            b'V' => simple("operator&&"),
            b'W' => simple("operator||"),
            b'X' => simple("operator*="),
            b'Y' => simple("operator+="),
            b'Z' => simple("operator-="),
            b'_' => match self.next()? {
                b'0' => simple("operator/="),
                b'1' => simple("operator%="),
                b'2' => simple("operator>>="),
                b'3' => simple("operator<<="),
                b'4' => simple("operator&="),
                b'5' => simple("operator|="),
                b'6' => simple("operator^="),
                b'9' => simple("`vcall'"),
                b'D' => simple("`vbase dtor'"),
                b'E' => simple("`vector deleting dtor'"),
                b'F' => simple("`default ctor closure'"),
                b'G' => simple("`scalar deleting dtor'"),
                b'H' => simple("`vector ctor iterator'"),
                b'I' => simple("`vector dtor iterator'"),
                b'J' => simple("`vector vbase ctor iterator'"),
                b'K' => simple("`virtual displacement map'"),
                b'L' => simple("`eh vector ctor iterator'"),
                b'M' => simple("`eh vector dtor iterator'"),
                b'N' => simple("`eh vector vbase ctor iterator'"),
                b'O' => simple("`copy ctor closure'"),
                b'T' => simple("`local vftable ctor closure'"),
                b'U' => simple("operator new[]"),
                b'V' => simple("operator delete[]"),
                b'_' => match self.next()? {
                    b'L' => simple("operator co_await"),
                    b'M' => simple("operator<=>"),
                    b'K' => {
                        let suffix = self.until_at()?;
                        simple(&format!("operator \"\"{suffix}"))
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Tables, descriptors and guards; the outer `None`: it is none of them.
    pub(super) fn intrinsic(&mut self) -> Option<Option<String>> {
        let start = self.at;
        for (code, word) in [
            (&b"?_7"[..], "`vftable'"),
            (b"?_8", "`vbtable'"),
            (b"?_S", "`local vftable'"),
            (b"?_R4", "`RTTI Complete Object Locator'"),
        ] {
            if self.take(code) {
                return Some(self.table(word));
            }
        }
        if self.take(b"?_C@_") {
            return Some(self.literal());
        }
        if self.take(b"?_R0") {
            return Some(self.type_descriptor());
        }
        if self.take(b"?_R1") {
            return Some(self.base_descriptor());
        }
        for (code, word) in [
            (&b"?_R2"[..], "`RTTI Base Class Array'"),
            (b"?_R3", "`RTTI Class Hierarchy Descriptor'"),
        ] {
            if self.take(code) {
                return Some(self.descriptor(word));
            }
        }
        for (code, word) in [
            (&b"?__E"[..], "dynamic initializer"),
            (b"?__F", "dynamic atexit destructor"),
        ] {
            if self.take(code) {
                return Some(self.initializer(word));
            }
        }
        for (code, word) in [
            (&b"?_B"[..], "`local static guard'"),
            (b"?__J", "`local static thread guard'"),
        ] {
            if self.take(code) {
                return Some(self.guard(word));
            }
        }
        self.at = start;
        None
    }

    fn scope_text(&mut self) -> Option<String> {
        let scopes = self.scopes()?;
        let mut text = String::new();
        for scope in scopes.iter().rev() {
            text.push_str(scope);
            text.push_str("::");
        }
        Some(text)
    }

    fn table(&mut self, word: &str) -> Option<String> {
        let scope = self.scope_text()?;
        if !matches!(self.next()?, b'6' | b'7') {
            return None;
        }
        let quals = self.qualifiers()?.0;
        let before = match quals.constant {
            true => "const ",
            false => "",
        };
        let mut text = format!("{before}{scope}{word}");
        if !self.take(b"@") {
            let target = self.class_name()?;
            text.push_str(&format!("{{for `{target}'}}"));
            let _ = self.take(b"@");
        }
        Some(text)
    }

    /// A string in the program: its first bytes, as they are written in C.
    fn literal(&mut self) -> Option<String> {
        let wide = match self.next()? {
            b'0' => false,
            b'1' => true,
            _ => return None,
        };
        let length = usize::try_from(self.number()?).ok()?;
        self.until_at()?;
        let mut bytes = Vec::new();
        while !self.take(b"@") {
            bytes.push(self.literal_byte()?);
        }
        let width = match wide {
            true => 2,
            false => guess_width(&bytes, length),
        };
        let cut = length > bytes.len();
        let prefix = match (wide, width) {
            (true, _) => "L",
            (_, 2) => "u",
            (_, 4) => "U",
            _ => "",
        };
        let mut text = format!("{prefix}\"");
        let mut units: Vec<u32> = bytes
            .chunks_exact(width)
            .map(|unit| match wide {
                // Wide ones stand with their higher byte first.
                true => unit.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
                false => unit
                    .iter()
                    .rev()
                    .fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
            })
            .collect();
        if !cut && units.last() == Some(&0) {
            units.pop();
        }
        for unit in units {
            match unit {
                0 => text.push_str("\\0"),
                7 => text.push_str("\\a"),
                8 => text.push_str("\\b"),
                9 => text.push_str("\\t"),
                10 => text.push_str("\\n"),
                11 => text.push_str("\\v"),
                12 => text.push_str("\\f"),
                13 => text.push_str("\\r"),
                34 => text.push_str("\\\""),
                39 => text.push_str("\\'"),
                92 => text.push_str("\\\\"),
                32..=126 => text.extend(char::from_u32(unit)),
                other => {
                    let digits = format!("{other:X}");
                    let pad = if digits.len() % 2 == 0 { "" } else { "0" };
                    text.push_str(&format!("\\x{pad}{digits}"));
                }
            }
        }
        text.push('"');
        if cut {
            text.push_str("...");
        }
        self.pay(text.len())?;
        Some(text)
    }

    fn literal_byte(&mut self) -> Option<u8> {
        let byte = self.next()?;
        if byte != b'?' {
            return Some(byte);
        }
        Some(match self.next()? {
            b'$' => {
                let digit = |byte: u8| match byte {
                    b'A'..=b'P' => Some(byte - b'A'),
                    _ => None,
                };
                digit(self.next()?)? << 4 | digit(self.next()?)?
            }
            digit @ b'0'..=b'9' => *b",/\\:. \n\t'-".get(usize::from(digit - b'0'))?,
            letter @ b'a'..=b'z' => letter - b'a' + 0xE1,
            letter @ b'A'..=b'Z' => letter - b'A' + 0xC1,
            _ => return None,
        })
    }

    fn type_descriptor(&mut self) -> Option<String> {
        let of_type = self.return_type()?;
        self.expect(b"@8")?;
        Some(format!("{} `RTTI Type Descriptor'", of_type.whole()))
    }

    fn base_descriptor(&mut self) -> Option<String> {
        let mut numbers = Vec::new();
        for _ in 0..4 {
            numbers.push(self.number()?.to_string());
        }
        let word = format!("`RTTI Base Class Descriptor at ({})'", numbers.join(", "));
        self.descriptor(&word)
    }

    fn descriptor(&mut self, word: &str) -> Option<String> {
        let scope = self.scope_text()?;
        self.expect(b"8")?;
        Some(format!("{scope}{word}"))
    }

    fn initializer(&mut self, word: &str) -> Option<String> {
        let of = match self.peek() {
            b'?' => {
                let symbol = self.symbol()?;
                let _ = self.take(b"@");
                self.expect(b"@")?;
                symbol
            }
            _ => self.class_name()?,
        };
        let last = Last::Name(format!("`{word} for '{of}''"));
        let scopes = Vec::new();
        self.encoding(Qualified { last, scopes })
    }

    fn guard(&mut self, word: &str) -> Option<String> {
        let scope = self.scope_text()?;
        if !(self.take(b"4IA") || self.take(b"5")) {
            return None;
        }
        let mut text = format!("{scope}{word}");
        if self.at < self.input.len() {
            text.push_str(&format!("{{{}}}", self.number()?));
        }
        Some(text)
    }
}

/// Bytes of a character: where many are zero, there are more to each.
fn guess_width(bytes: &[u8], length: usize) -> usize {
    let at_end = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
    if length % 2 == 1 || bytes.is_empty() {
        return 1;
    }
    if length < 32 {
        return match at_end {
            4.. if length.is_multiple_of(4) => 4,
            2.. => 2,
            _ => 1,
        };
    }
    let zeros = bytes.iter().filter(|&&byte| byte == 0).count();
    match zeros {
        zeros if zeros >= 2 * bytes.len() / 3 && length.is_multiple_of(4) => 4,
        zeros if zeros >= bytes.len() / 3 => 2,
        _ => 1,
    }
}
