//! OpenStep property lists: NeXT's text, as Apple's CFOldStylePList.c and
//! GNUstep read it, and `.strings` files, which are dictionaries without
//! braces.

use super::{Fault, Meter, Notation, Plist, Value, date};
use crate::json::Text;

/// Reads an OpenStep property list or a `.strings` file.
pub(super) fn parse(text: &str) -> Result<Plist, Fault> {
    let mut scanner = Scanner {
        text,
        at: 0,
        depth: 0,
        meter: Meter::default(),
    };
    let value = scanner.document()?;
    Ok(scanner.meter.finish(Notation::OpenStep, value))
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    meter: Meter,
}

impl<'a> Scanner<'a> {
    fn document(&mut self) -> Result<Value, Fault> {
        self.skip_blank()?;
        if self.rest().is_empty() {
            return Err(self.fault("there is no value"));
        }
        let start = self.at;
        let first = self.value()?;
        self.skip_blank()?;
        if self.rest().is_empty() {
            return Ok(first);
        }
        if !matches!(first, Value::String(_)) {
            return Err(self.fault("other text follows the value"));
        }
        // A key: the whole file is the inside of a dictionary.
        self.at = start;
        self.meter = Meter::default();
        let members = self.members(None)?;
        Ok(self.meter.dict(members))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fault(&self, text: impl Into<String>) -> Fault {
        Fault::at(self.at, text)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// White space and comments.
    fn skip_blank(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| {
                matches!(c, '\t'..='\r' | ' ' | '\u{2028}' | '\u{2029}' | '\u{feff}')
            });
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                let end = trimmed.find(['\n', '\r', '\u{2028}', '\u{2029}']);
                self.at += end.unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                let end = trimmed.get(2..).and_then(|inside| inside.find("*/"));
                self.at += end.ok_or_else(|| self.fault("a comment has no end"))? + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Value, Fault> {
        self.meter.value(0)?;
        match self.peek() {
            Some('{') => {
                self.enter()?;
                self.at += 1;
                let members = self.members(Some('}'))?;
                self.depth -= 1;
                Ok(self.meter.dict(members))
            }
            Some('(') => {
                self.enter()?;
                self.at += 1;
                let items = self.items()?;
                self.depth -= 1;
                Ok(Value::Array(items))
            }
            Some('<') => self.angle(),
            Some(_) => Ok(Value::String(self.string()?)),
            None => Err(self.fault("a value is missing")),
        }
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        Meter::depth(self.depth)
    }

    /// `key = value;` or `key;`, up to the closing brace or the end.
    fn members(&mut self, close: Option<char>) -> Result<Vec<(Text, Value)>, Fault> {
        let mut members = Vec::new();
        loop {
            self.skip_blank()?;
            match (self.peek(), close) {
                (None, None) => return Ok(members),
                (None, Some(_)) => return Err(self.fault("a dictionary has no end")),
                (found, Some(close)) if found == Some(close) => {
                    self.at += close.len_utf8();
                    return Ok(members);
                }
                _ => {}
            }
            let key = self.string()?;
            self.skip_blank()?;
            let value = if self.take('=') {
                self.skip_blank()?;
                self.value()?
            } else {
                // A key alone stands for itself.
                self.meter.value(key.as_bytes().len())?;
                Value::String(key.clone())
            };
            members.push((key, value));
            self.skip_blank()?;
            if !self.take(';') && self.peek() != close {
                return Err(self.fault("a member of a dictionary has no semicolon"));
            }
        }
    }

    fn items(&mut self) -> Result<Vec<Value>, Fault> {
        let mut items = Vec::new();
        loop {
            self.skip_blank()?;
            if self.take(')') {
                return Ok(items);
            }
            items.push(self.value()?);
            self.skip_blank()?;
            if !self.take(',') && self.peek() != Some(')') {
                return Err(self.fault("an element of an array has no comma"));
            }
        }
    }

    /// `<0fbd77>`, GNUstep's `<*I5>` and `<[BASE64]>`.
    fn angle(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        let rest = self.rest();
        let end = rest
            .find('>')
            .ok_or_else(|| self.fault("data has no end"))?;
        let inside = rest.get(1..end).unwrap_or_default();
        self.at += end + 1;
        let malformed = || Fault::at(start, "data between angle brackets is malformed");
        if let Some(typed) = inside.strip_prefix('*') {
            return typed_value(typed).ok_or_else(malformed);
        }
        let data = match inside.strip_prefix('[') {
            Some(inside) => {
                let text = inside.strip_suffix(']').ok_or_else(malformed)?;
                super::xml::base64(text).ok_or_else(malformed)?
            }
            None => hexadecimal(inside).ok_or_else(malformed)?,
        };
        self.meter.value(data.len())?;
        Ok(Value::Data(data))
    }

    fn string(&mut self) -> Result<Text, Fault> {
        let text = match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
            _ => {
                let rest = self.rest();
                let end = rest.find(|c: char| !is_plain(c)).unwrap_or(rest.len());
                if end == 0 {
                    return Err(self.fault("a value is missing"));
                }
                self.at += end;
                Text::from(rest.get(..end).unwrap_or_default())
            }
        };
        self.meter.value(text.as_bytes().len())?;
        Ok(text)
    }

    fn quoted(&mut self, quote: char) -> Result<Text, Fault> {
        let start = self.at;
        self.at += 1;
        let mut units: Vec<u16> = Vec::new();
        let mut room = [0; 2];
        loop {
            let Some(found) = self.peek() else {
                return Err(Fault::at(start, "a quoted string has no end"));
            };
            self.at += found.len_utf8();
            match found {
                _ if found == quote => return Ok(Text::from_utf16(units)),
                '\\' => units.push(self.escape()?),
                _ => units.extend_from_slice(found.encode_utf16(&mut room)),
            }
        }
    }

    /// What stands behind a backslash, as a UTF-16 unit.
    fn escape(&mut self) -> Result<u16, Fault> {
        let Some(found) = self.peek() else {
            return Err(self.fault("a quoted string has no end"));
        };
        if let '0'..='7' = found {
            let digits: String = self
                .rest()
                .chars()
                .take(3)
                .take_while(|c| c.is_digit(8))
                .collect();
            self.at += digits.len();
            let code = u32::from_str_radix(&digits, 8).unwrap_or(0);
            return Ok(next_step(u8::try_from(code & 0xFF).unwrap_or(0)));
        }
        self.at += found.len_utf8();
        Ok(match found {
            'a' => 7,
            'b' => 8,
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            'U' | 'u' => {
                let digits: String = self
                    .rest()
                    .chars()
                    .take(4)
                    .take_while(char::is_ascii_hexdigit)
                    .collect();
                self.at += digits.len();
                u16::from_str_radix(&digits, 16)
                    .map_err(|_| self.fault("a Unicode escape has no digits"))?
            }
            other => u16::try_from(u32::from(other))
                .map_err(|_| self.fault("a backslash stands before a character that needs none"))?,
        })
    }
}

/// What may stand in a string without quotes.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '/' | ':' | '.' | '-' | '+')
}

/// GNUstep: `I5`, `R0.5`, `BY`, `BN`, `D2020-01-02 03:04:05 +0000`.
fn typed_value(text: &str) -> Option<Value> {
    let (kind, value) = text.split_at_checked(1)?;
    let value = value.trim_matches('"');
    match kind {
        "I" => value.parse().ok().map(Value::Integer),
        "R" => value.parse().ok().map(Value::Real),
        "B" => match value {
            "Y" => Some(Value::Bool(true)),
            "N" => Some(Value::Bool(false)),
            _ => None,
        },
        "D" => {
            let mut parts = value.split(' ');
            let (day, time, zone) = (parts.next()?, parts.next()?, parts.next()?);
            let seconds = date::parse(&format!("{day}T{time}Z"))?;
            let (sign, digits) = match zone.split_at_checked(1)? {
                ("+", digits) => (1.0, digits),
                ("-", digits) => (-1.0, digits),
                _ => return None,
            };
            let digits: u32 = (digits.len() == 4).then(|| digits.parse().ok()).flatten()?;
            let ahead = f64::from(digits / 100 * 3600 + digits % 100 * 60);
            parts
                .next()
                .is_none()
                .then_some(Value::Date(seconds - sign * ahead))
        }
        _ => None,
    }
}

/// Pairs of digits, with white space anywhere.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| c.to_digit(16))
        .collect();
    let digits = digits?;
    let (pairs, odd) = digits.as_chunks::<2>();
    let byte = |pair: &[u32; 2]| (pair[0] << 4 | pair[1]) as u8;
    odd.is_empty().then(|| pairs.iter().map(byte).collect())
}

/// The NeXTSTEP encoding (Unicode's NEXTSTEP.TXT), in which octal escapes are.
fn next_step(byte: u8) -> u16 {
    const HIGH: [u16; 128] = [
        0x00A0, 0x00C0, 0x00C1, 0x00C2, 0x00C3, 0x00C4, 0x00C5, 0x00C7, 0x00C8, 0x00C9, 0x00CA,
        0x00CB, 0x00CC, 0x00CD, 0x00CE, 0x00CF, 0x00D0, 0x00D1, 0x00D2, 0x00D3, 0x00D4, 0x00D5,
        0x00D6, 0x00D9, 0x00DA, 0x00DB, 0x00DC, 0x00DD, 0x00DE, 0x00B5, 0x00D7, 0x00F7, 0x00A9,
        0x00A1, 0x00A2, 0x00A3, 0x2044, 0x00A5, 0x0192, 0x00A7, 0x00A4, 0x2019, 0x201C, 0x00AB,
        0x2039, 0x203A, 0xFB01, 0xFB02, 0x00AE, 0x2013, 0x2020, 0x2021, 0x00B7, 0x00A6, 0x00B6,
        0x2022, 0x201A, 0x201E, 0x201D, 0x00BB, 0x2026, 0x2030, 0x00AC, 0x00BF, 0x00B9, 0x02CB,
        0x00B4, 0x02C6, 0x02DC, 0x00AF, 0x02D8, 0x02D9, 0x00A8, 0x00B2, 0x02DA, 0x00B8, 0x00B3,
        0x02DD, 0x02DB, 0x02C7, 0x2014, 0x00B1, 0x00BC, 0x00BD, 0x00BE, 0x00E0, 0x00E1, 0x00E2,
        0x00E3, 0x00E4, 0x00E5, 0x00E7, 0x00E8, 0x00E9, 0x00EA, 0x00EB, 0x00EC, 0x00C6, 0x00ED,
        0x00AA, 0x00EE, 0x00EF, 0x00F0, 0x00F1, 0x0141, 0x00D8, 0x0152, 0x00BA, 0x00F2, 0x00F3,
        0x00F4, 0x00F5, 0x00F6, 0x00E6, 0x00F9, 0x00FA, 0x00FB, 0x0131, 0x00FC, 0x00FD, 0x0142,
        0x00F8, 0x0153, 0x00DF, 0x00FE, 0x00FF, 0xFFFD, 0xFFFD,
    ];
    match byte.checked_sub(0x80) {
        None => u16::from(byte),
        Some(at) => HIGH[usize::from(at)],
    }
}
