//! The inside of strings and templates: characters and escape sequences
//! (ECMA-262, 12.9.4 and 12.9.6).

use super::{Last, Literal, Open, Scanner, Step};
use crate::json::Text;

impl Scanner<'_> {
    pub(super) fn string(&mut self, quote: u8) -> Step {
        let begin = self.lost("a string does not end", self.at);
        self.at += 1;
        let mut units = Vec::new();
        loop {
            match self.peek(0) {
                None | Some(b'\n' | b'\r') => return Err(begin),
                Some(byte) if byte == quote => break,
                Some(b'\\') => self.escape(&mut units),
                Some(_) => self.character(&mut units),
            }
        }
        self.at += 1;
        self.literal(&units, begin.line, begin.column);
        self.ended(Last::Other, true);
        Ok(())
    }

    /// A part of a template, from after its back quote or the brace of a
    /// substitution.
    pub(super) fn template(&mut self) -> Step {
        let begin = self.lost("a template does not end", self.at.saturating_sub(1));
        let mut units = Vec::new();
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Err(begin),
                (Some(b'`'), _) => {
                    self.at += 1;
                    self.ended(Last::Other, true);
                    break;
                }
                (Some(b'$'), Some(b'{')) => {
                    self.at += 2;
                    self.open.push(Open::Template);
                    self.ended(Last::Other, false);
                    break;
                }
                (Some(b'\\'), _) => self.escape(&mut units),
                _ => self.character(&mut units),
            }
        }
        self.literal(&units, begin.line, begin.column);
        Ok(())
    }

    fn literal(&mut self, units: &[u16], line: u64, column: u64) {
        self.found.total += 1;
        if (self.keep)(units) {
            self.found.literals.push(Literal {
                value: Text::from_utf16(units.iter().copied()),
                line,
                column,
            });
        }
    }

    /// The character here, which may be a line terminator: a carriage return
    /// counts as a line feed.
    fn character(&mut self, units: &mut Vec<u16>) {
        if matches!(self.peek(0), Some(b'\r' | b'\n')) {
            self.take_newline();
            units.push(u16::from(b'\n'));
            return;
        }
        let rest = self.source.get(self.at..).unwrap_or_default();
        let length = match rest.first() {
            Some(0xF0..) => 4,
            Some(0xE0..) => 3,
            Some(0xC0..) => 2,
            _ => 1,
        };
        let text = rest
            .get(..length)
            .and_then(|bytes| std::str::from_utf8(bytes).ok());
        units.extend(text.unwrap_or_default().encode_utf16());
        if !self.take_newline() {
            self.at += length;
        }
    }

    /// An escape sequence; one that is malformed stands for its characters.
    fn escape(&mut self, units: &mut Vec<u16>) {
        self.at += 1;
        if self.take_newline() {
            return;
        }
        let Some(byte) = self.peek(0) else {
            return;
        };
        let simple = match byte {
            b'n' => Some(b'\n'),
            b't' => Some(b'\t'),
            b'r' => Some(b'\r'),
            b'b' => Some(0x08),
            b'f' => Some(0x0C),
            b'v' => Some(0x0B),
            _ => None,
        };
        if let Some(simple) = simple {
            self.at += 1;
            units.push(u16::from(simple));
            return;
        }
        match byte {
            b'x' => {
                if let Some(value) = self.hex(1, 2) {
                    self.at += 3;
                    units.push(value as u16);
                    return;
                }
            }
            b'u' if self.peek(1) == Some(b'{') => {
                let digits = self.source.get(self.at + 2..).unwrap_or_default();
                let length = digits
                    .iter()
                    .take_while(|byte| byte.is_ascii_hexdigit())
                    .count();
                let closed = digits.get(length) == Some(&b'}');
                if let (true, Some(value)) = (closed && length <= 8, self.hex(2, length)) {
                    self.at += length + 3;
                    match char::from_u32(value) {
                        Some(found) => units.extend_from_slice(found.encode_utf16(&mut [0; 2])),
                        // A lone surrogate; larger numbers are no characters.
                        None => units.extend(u16::try_from(value)),
                    }
                    return;
                }
            }
            b'u' => {
                if let Some(value) = self.hex(1, 4) {
                    self.at += 5;
                    units.push(value as u16);
                    return;
                }
            }
            b'0'..=b'7' => {
                // Octal, as scripts have it: at most \377.
                let most = if byte <= b'3' { 3 } else { 2 };
                let mut value = 0;
                for _ in 0..most {
                    let Some(digit @ b'0'..=b'7') = self.peek(0) else {
                        break;
                    };
                    value = value * 8 + u16::from(digit - b'0');
                    self.at += 1;
                }
                units.push(value);
                return;
            }
            _ => {}
        }
        self.character(units);
    }

    /// `count` hexadecimal digits, `ahead` bytes from here.
    fn hex(&self, ahead: usize, count: usize) -> Option<u32> {
        let from = self.at + ahead;
        let digits = self.source.get(from..from.checked_add(count)?)?;
        if count == 0 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}
