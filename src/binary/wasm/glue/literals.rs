//! String and template literals of JavaScript (ECMA-262, clause 12), found
//! without parsing programs.
//!
//! The rule: comments, strings, templates (with substitutions inside each
//! other), regular expressions, numbers, names and punctuators are told apart
//! as the specification does. What a `/` begins depends on the grammar; here it
//! is a division after an operand, `]`, `)` (but of `if`, `while`, `for`,
//! `with`) and the `}` of an object, and elsewhere the start of a regular
//! expression, if that ends on the same line. `<!--` and `-->` are operators.
//! Track is lost at a literal or comment that does not end, at a bracket that
//! fits no open one, and at brackets that are open at the end.

mod strings;

use crate::json::Text;

/// A string, a template without substitutions, or a part of one with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its value, escapes resolved.
    pub value: Text,
    /// The line it begins on, from 1.
    pub line: u64,
    /// UTF-16 code units before it on that line.
    pub column: u64,
}

/// Where track was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// What could not be understood.
    pub what: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// UTF-16 code units before it on that line.
    pub column: u64,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Scan {
    /// The literals that `keep` wanted, in order.
    pub literals: Vec<Literal>,
    /// All literals.
    pub total: u64,
    /// Where it ended before the end of the text.
    pub lost: Option<Lost>,
}

/// Scans `source` and keeps the literals whose value `keep` wants.
pub fn scan(source: &str, keep: fn(&[u16]) -> bool) -> Scan {
    let mut scanner = Scanner {
        source: source.as_bytes(),
        at: 0,
        line: 1,
        line_start: 0,
        operand: false,
        last: Last::Start,
        open: Vec::new(),
        keep,
        found: Scan::default(),
        counted: (0, 0),
        patience: source.len().saturating_mul(64),
    };
    if let Err(lost) = scanner.run(source) {
        scanner.found.lost = Some(lost);
    }
    scanner.found
}

/// The last token, as far as it decides what comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    /// `if`, `while`, `for`, `with`
    Condition,
    /// `else`, `do`, `try`, `finally`
    Block,
    Dot,
    Arrow,
    /// `;`, or a brace that begins or ends a block.
    Statement,
    Other,
}

#[derive(Clone, Copy)]
enum Open {
    /// Whether a regular expression may follow its end.
    Paren(bool),
    Bracket,
    /// Whether it is a block.
    Brace(bool),
    /// A substitution of a template.
    Template,
}

struct Scanner<'a> {
    source: &'a [u8],
    at: usize,
    line: u64,
    /// The first byte of the line.
    line_start: usize,
    /// Whether an operand has just ended, so that `/` divides.
    operand: bool,
    last: Last,
    open: Vec<Open>,
    keep: fn(&[u16]) -> bool,
    found: Scan,
    /// A byte of this line and the units before it.
    counted: (usize, u64),
    /// Bytes that may still be looked at in vain for the end of a regular
    /// expression.
    patience: usize,
}

const OPERATOR_WORDS: [&str; 17] = [
    "await",
    "case",
    "default",
    "delete",
    "do",
    "else",
    "extends",
    "finally",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

type Step<T = ()> = Result<T, Lost>;

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    /// UTF-16 code units from the start of the line to the byte `to`. Places
    /// are asked for in order, so that a long line is counted once.
    fn column(&mut self, to: usize) -> u64 {
        let (known, units) = self.counted;
        let (from, units) = match known >= self.line_start && known <= to {
            true => (known, units),
            false => (self.line_start, 0),
        };
        let between = self.source.get(from..to).unwrap_or_default();
        let more = between.iter().map(|&byte| match byte {
            0x80..0xC0 => 0,
            0xF0.. => 2,
            _ => 1,
        });
        self.counted = (to, units + more.sum::<u64>());
        self.counted.1
    }

    /// Track is lost at the byte `to` of this line.
    fn lost(&mut self, what: &'static str, to: usize) -> Lost {
        Lost {
            what,
            line: self.line,
            column: self.column(to),
        }
    }

    fn lost_here<T>(&mut self, what: &'static str) -> Step<T> {
        Err(self.lost(what, self.at))
    }

    /// The length of the line terminator at `at`.
    fn newline_at(&self, at: usize) -> Option<usize> {
        match self.source.get(at..)? {
            [b'\r', b'\n', ..] => Some(2),
            [b'\n' | b'\r', ..] => Some(1),
            // U+2028 and U+2029
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => Some(3),
            _ => None,
        }
    }

    /// Steps over the line terminator here.
    fn take_newline(&mut self) -> bool {
        let Some(length) = self.newline_at(self.at) else {
            return false;
        };
        self.at += length;
        self.line += 1;
        self.line_start = self.at;
        true
    }

    fn skip_line(&mut self) {
        while self.at < self.source.len() && self.newline_at(self.at).is_none() {
            self.at += 1;
        }
    }

    fn run(&mut self, source: &str) -> Step {
        if source.starts_with("#!") {
            self.skip_line();
        }
        while let Some(byte) = self.peek(0) {
            if self.take_newline() {
                continue;
            }
            match byte {
                b' ' | b'\t' | 0x0B | 0x0C => self.at += 1,
                // A no-break space, a byte order mark
                0xC2 if self.peek(1) == Some(0xA0) => self.at += 2,
                0xEF if self.source.get(self.at..self.at + 3) == Some(b"\xEF\xBB\xBF") => {
                    self.at += 3;
                }
                b'/' if self.peek(1) == Some(b'/') => self.skip_line(),
                b'/' if self.peek(1) == Some(b'*') => self.comment()?,
                b'/' => self.slash()?,
                b'"' | b'\'' => self.string(byte)?,
                b'`' => {
                    self.at += 1;
                    self.template()?;
                }
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'#' | b'\\' | 0x80.. => self.word(),
                _ => self.punctuator(byte)?,
            }
        }
        match self.open.is_empty() {
            true => Ok(()),
            false => self.lost_here("brackets are open at the end"),
        }
    }

    fn comment(&mut self) -> Step {
        let begin = self.lost("a comment does not end", self.at);
        self.at += 2;
        while self.at < self.source.len() {
            if self.source.get(self.at..self.at + 2) == Some(b"*/") {
                self.at += 2;
                return Ok(());
            }
            if !self.take_newline() {
                self.at += 1;
            }
        }
        Err(begin)
    }

    fn slash(&mut self) -> Step {
        if !self.operand {
            match self.regex_end() {
                Ok(end) => {
                    self.at = end;
                    while self
                        .peek(0)
                        .is_some_and(|byte| byte.is_ascii_alphanumeric())
                    {
                        self.at += 1;
                    }
                    self.ended(Last::Other, true);
                    return Ok(());
                }
                Err(looked_at) => match self.patience.checked_sub(looked_at) {
                    Some(left) => self.patience = left,
                    None => return self.lost_here("too many slashes may be divisions"),
                },
            }
        }
        self.at += 1;
        self.ended(Last::Other, false);
        Ok(())
    }

    /// The byte after the regular expression that begins here; if it is none,
    /// how many bytes had to be looked at.
    fn regex_end(&self) -> Result<usize, usize> {
        let (mut at, mut class) = (self.at + 1, false);
        loop {
            let none = Err(at - self.at);
            if self.newline_at(at).is_some() {
                return none;
            }
            match self.source.get(at) {
                None => return none,
                Some(b'\\') if self.newline_at(at + 1).is_some() => return none,
                Some(b'\\') => at += 1,
                Some(b'[') => class = true,
                Some(b']') => class = false,
                Some(b'/') if !class => return Ok(at + 1),
                Some(_) => {}
            }
            at += 1;
        }
    }

    fn ended(&mut self, last: Last, operand: bool) {
        self.last = last;
        self.operand = operand;
    }

    fn number(&mut self) {
        while self
            .peek(0)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
        {
            let exponent = matches!(self.peek(0), Some(b'e' | b'E'));
            self.at += 1;
            if exponent
                && matches!(self.peek(0), Some(b'+' | b'-'))
                && self.peek(1).is_some_and(|byte| byte.is_ascii_digit())
            {
                self.at += 1;
            }
        }
        self.ended(Last::Other, true);
    }

    fn word(&mut self) {
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            let part = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\');
            if !part && (byte < 0x80 || self.newline_at(self.at).is_some()) {
                break;
            }
            self.at += 1;
        }
        let word = self.source.get(start..self.at).unwrap_or_default();
        let word = std::str::from_utf8(word).unwrap_or_default();
        // After a dot, every word is a name.
        let name = self.last == Last::Dot;
        let last = match word {
            _ if name => Last::Other,
            "if" | "while" | "for" | "with" => Last::Condition,
            "else" | "do" | "try" | "finally" => Last::Block,
            _ => Last::Other,
        };
        let operator = !name && OPERATOR_WORDS.contains(&word);
        self.ended(last, !operator);
    }

    fn punctuator(&mut self, byte: u8) -> Step {
        let (last, operand) = (self.last, self.operand);
        match byte {
            b'(' => {
                self.open.push(Open::Paren(last == Last::Condition));
                self.ended(Last::Other, false);
            }
            b'[' => {
                self.open.push(Open::Bracket);
                self.ended(Last::Other, false);
            }
            b'{' => {
                let starts = matches!(
                    last,
                    Last::Start | Last::Block | Last::Arrow | Last::Statement
                );
                self.open.push(Open::Brace(starts || operand));
                self.ended(Last::Statement, false);
            }
            b')' => match self.open.pop() {
                // `if (...)` is followed by a statement, which may be a block.
                Some(Open::Paren(true)) => self.ended(Last::Statement, false),
                Some(Open::Paren(false)) => self.ended(Last::Other, true),
                _ => return self.lost_here("a bracket closes none"),
            },
            b']' => match self.open.pop() {
                Some(Open::Bracket) => self.ended(Last::Other, true),
                _ => return self.lost_here("a bracket closes none"),
            },
            b'}' => match self.open.pop() {
                Some(Open::Brace(true)) => self.ended(Last::Statement, false),
                Some(Open::Brace(false)) => self.ended(Last::Other, true),
                Some(Open::Template) => {
                    self.at += 1;
                    return self.template();
                }
                _ => return self.lost_here("a bracket closes none"),
            },
            b'+' | b'-' if self.peek(1) == Some(byte) => {
                // After an operand it belongs to that.
                self.at += 1;
                self.ended(Last::Other, operand);
            }
            b'=' if self.peek(1) == Some(b'>') => {
                self.at += 1;
                self.ended(Last::Arrow, false);
            }
            b'.' => self.ended(Last::Dot, false),
            b';' => self.ended(Last::Statement, false),
            _ => self.ended(Last::Other, false),
        }
        self.at += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        let scan = scan(source, |_| true);
        assert_eq!(scan.lost, None, "{source}");
        let values = scan.literals.iter();
        values
            .map(|literal| String::from_utf8_lossy(literal.value.as_bytes()).into_owned())
            .collect()
    }

    /// What node's parser takes for strings and templates.
    #[test]
    fn literals_among_everything_else() {
        for (source, expected) in [
            (r#"a = "x" + 'y'"#, &["x", "y"][..]),
            (
                r#"// "no"
               /* 'no' */ b = "yes""#,
                &["yes"],
            ),
            (r#"r = /"'[/"]/g.test("a")"#, &["a"]),
            (r#"x = a / "b".length / 2"#, &["b"]),
            (r#"x = (a) / "b" / c"#, &["b"]),
            (r#"if (x) /"/.test("c")"#, &["c"]),
            (r#"function f() {} /"/.test("d")"#, &["d"]),
            (r#"x = {} / "e""#, &["e"]),
            (r#"return /'/.exec("f")"#, &["f"]),
            (r#"x.return / "g""#, &["g"]),
            (r#"i++ / "h"; j = ++i / "i""#, &["h", "i"]),
            ("`a${`b${'c'}d`}e`", &["a", "b", "c", "d", "e"]),
            ("`${ {a: '}'} }.wasm`", &["", "}", ".wasm"]),
            ("'a\\\nb'", &["ab"]),
            (r"'\x41\u0042\u{43}\103\q\0'", &["ABCCq\0"]),
            ("#!/usr/bin/env node 'x\n'y'", &["y"]),
            ("x => { } \n /'/", &[]),
            ("1e+5 / 'n'", &["n"]),
            ("a.b /'c'/ d", &["c"]),
        ] {
            assert_eq!(found(source), expected, "{source}");
        }
    }

    #[test]
    fn places_are_lines_and_utf16_columns() {
        let scan = scan("\u{1F600} 'a'\r\n  `b\n${1}c`", |_| true);
        let places: Vec<_> = scan
            .literals
            .iter()
            .map(|literal| (literal.line, literal.column))
            .collect();
        assert_eq!(places, [(1, 3), (2, 2), (3, 3)]);
        let pair = super::scan(r"'\ud83d\ude00'", |_| true);
        assert_eq!(pair.literals[0].value.as_str(), Some("\u{1F600}"));
    }

    #[test]
    fn track_is_lost_where_it_is() {
        for (source, what, line, column) in [
            ("'a' + \n 'b\n", "a string does not end", 2, 1),
            ("/* ", "a comment does not end", 1, 0),
            ("x = `a${b}c", "a template does not end", 1, 9),
            ("f(]", "a bracket closes none", 1, 2),
            ("{", "brackets are open at the end", 1, 1),
        ] {
            let lost = scan(source, |_| true).lost.unwrap();
            assert_eq!((lost.what, lost.line, lost.column), (what, line, column));
        }
    }
}
