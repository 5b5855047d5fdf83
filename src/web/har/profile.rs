//! The HAR 1.2 profile: the public `har-schema` set as tables, in its order of
//! members, so that the first fault is the one its validators name.
//!
//! Keywords that validators do not know (`min`, `optional`, `unique`) bind
//! nothing. Numbers that a double does not keep exactly count as `null`.

use crate::json::{Kind, Node, Tape, is_safe_number};

/// What a member holds.
enum Rule {
    Text,
    /// Text in a form.
    Form(&'static str, fn(&[u8]) -> bool),
    /// The same, or `null`.
    FormOrNull(&'static str, fn(&[u8]) -> bool),
    Bool,
    Number,
    Integer,
    /// An array of anything.
    Array,
    List(&'static Shape),
    Object(&'static Shape),
    /// Members of it where it is an object, else anything.
    Loose(&'static Shape),
    ObjectOrNull(&'static Shape),
}

/// An object: members that must be there, and rules of those that are.
struct Shape {
    required: &'static [&'static str],
    members: &'static [(&'static str, Rule)],
}

const DATE_TIME: Rule = Rule::Form("date-time", is_started);

static HAR: Shape = Shape {
    required: &["log"],
    members: &[("log", Rule::Object(&LOG))],
};

static LOG: Shape = Shape {
    required: &["version", "creator", "entries"],
    members: &[
        ("version", Rule::Text),
        ("creator", Rule::Object(&CREATOR)),
        ("browser", Rule::Object(&CREATOR)),
        ("pages", Rule::List(&PAGE)),
        ("entries", Rule::List(&ENTRY)),
        ("comment", Rule::Text),
    ],
};

static CREATOR: Shape = Shape {
    required: &["name", "version"],
    members: &[
        ("name", Rule::Text),
        ("version", Rule::Text),
        ("comment", Rule::Text),
    ],
};

static PAGE: Shape = Shape {
    required: &["startedDateTime", "id", "title", "pageTimings"],
    members: &[
        ("startedDateTime", DATE_TIME),
        ("id", Rule::Text),
        ("title", Rule::Text),
        ("pageTimings", Rule::Object(&PAGE_TIMINGS)),
        ("comment", Rule::Text),
    ],
};

static PAGE_TIMINGS: Shape = Shape {
    required: &[],
    members: &[
        ("onContentLoad", Rule::Number),
        ("onLoad", Rule::Number),
        ("comment", Rule::Text),
    ],
};

static ENTRY: Shape = Shape {
    required: &[
        "startedDateTime",
        "time",
        "request",
        "response",
        "cache",
        "timings",
    ],
    members: &[
        ("pageref", Rule::Text),
        ("startedDateTime", DATE_TIME),
        ("time", Rule::Number),
        ("request", Rule::Object(&REQUEST)),
        ("response", Rule::Object(&RESPONSE)),
        ("cache", Rule::Loose(&CACHE)),
        ("timings", Rule::Loose(&TIMINGS)),
        ("serverIPAddress", Rule::Form("ipv4 or ipv6", is_address)),
        ("connection", Rule::Text),
        ("comment", Rule::Text),
    ],
};

static REQUEST: Shape = Shape {
    required: &[
        "method",
        "url",
        "httpVersion",
        "cookies",
        "headers",
        "queryString",
        "headersSize",
        "bodySize",
    ],
    members: &[
        ("method", Rule::Text),
        ("url", Rule::Form("uri", is_uri)),
        ("httpVersion", Rule::Text),
        ("cookies", Rule::List(&COOKIE)),
        ("headers", Rule::List(&PAIR)),
        ("queryString", Rule::List(&PAIR)),
        ("postData", Rule::Object(&POST_DATA)),
        ("headersSize", Rule::Integer),
        ("bodySize", Rule::Integer),
        ("comment", Rule::Text),
    ],
};

static RESPONSE: Shape = Shape {
    required: &[
        "status",
        "statusText",
        "httpVersion",
        "cookies",
        "headers",
        "content",
        "redirectURL",
        "headersSize",
        "bodySize",
    ],
    members: &[
        ("status", Rule::Integer),
        ("statusText", Rule::Text),
        ("httpVersion", Rule::Text),
        ("cookies", Rule::List(&COOKIE)),
        ("headers", Rule::List(&PAIR)),
        ("content", Rule::Object(&CONTENT)),
        ("redirectURL", Rule::Text),
        ("headersSize", Rule::Integer),
        ("bodySize", Rule::Integer),
        ("comment", Rule::Text),
    ],
};

static CONTENT: Shape = Shape {
    required: &["size", "mimeType"],
    members: &[
        ("size", Rule::Integer),
        ("compression", Rule::Integer),
        ("mimeType", Rule::Text),
        ("text", Rule::Text),
        ("encoding", Rule::Text),
        ("comment", Rule::Text),
    ],
};

/// A header or a query parameter.
static PAIR: Shape = Shape {
    required: &["name", "value"],
    members: &[
        ("name", Rule::Text),
        ("value", Rule::Text),
        ("comment", Rule::Text),
    ],
};

static COOKIE: Shape = Shape {
    required: &["name", "value"],
    members: &[
        ("name", Rule::Text),
        ("value", Rule::Text),
        ("path", Rule::Text),
        ("domain", Rule::Text),
        ("expires", Rule::FormOrNull("date-time", is_date_time)),
        ("httpOnly", Rule::Bool),
        ("secure", Rule::Bool),
        ("comment", Rule::Text),
    ],
};

static POST_DATA: Shape = Shape {
    required: &["mimeType"],
    members: &[
        ("mimeType", Rule::Text),
        ("text", Rule::Text),
        ("params", Rule::Array),
        ("comment", Rule::Text),
    ],
};

static CACHE: Shape = Shape {
    required: &[],
    members: &[
        ("beforeRequest", Rule::ObjectOrNull(&CACHE_STATE)),
        ("afterRequest", Rule::ObjectOrNull(&CACHE_STATE)),
        ("comment", Rule::Text),
    ],
};

static CACHE_STATE: Shape = Shape {
    required: &["lastAccess", "eTag", "hitCount"],
    members: &[
        ("expires", Rule::Form("pattern", starts_as_date)),
        ("lastAccess", Rule::Form("pattern", starts_as_date)),
        ("eTag", Rule::Text),
        ("hitCount", Rule::Integer),
        ("comment", Rule::Text),
    ],
};

static TIMINGS: Shape = Shape {
    required: &["send", "wait", "receive"],
    members: &[
        ("dns", Rule::Number),
        ("connect", Rule::Number),
        ("blocked", Rule::Number),
        ("send", Rule::Number),
        ("wait", Rule::Number),
        ("receive", Rule::Number),
        ("ssl", Rule::Number),
        ("comment", Rule::Text),
    ],
};

/// What is wrong, and where in the document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// The JSON Pointer of the value that is wrong.
    pub pointer: String,
    /// The keyword that failed.
    pub keyword: &'static str,
    /// What is wrong, to stand behind the pointer.
    pub message: String,
}

/// Checks a document; the first fault is the error.
pub(super) fn check(tape: &Tape) -> Result<(), Invalid> {
    let mut checker = Checker {
        tape,
        path: Vec::new(),
        bodies_may_be_null: allows_null_bodies(tape),
    };
    checker.value(tape.root(), &Rule::Object(&HAR))
}

/// What mitmproxy writes where it has no body. It is the one exporter that is
/// given way to, and only in the version that was looked at.
fn allows_null_bodies(tape: &Tape) -> bool {
    let creator = tape
        .member(tape.root(), "log")
        .and_then(|log| tape.member(log, "creator"));
    let is = |name, wanted: &str| {
        let found = creator.and_then(|creator| tape.member(creator, name));
        found.is_some_and(|found| *tape.text(found) == *wanted.as_bytes())
    };
    is("name", "mitmproxy") && is("version", "12.2.3")
}

enum Part {
    Member(&'static str),
    Element(usize),
}

struct Checker<'a> {
    tape: &'a Tape,
    path: Vec<Part>,
    bodies_may_be_null: bool,
}

impl Checker<'_> {
    fn invalid(&self, keyword: &'static str, message: String) -> Result<(), Invalid> {
        let mut pointer = String::new();
        for part in &self.path {
            match part {
                Part::Member(name) => pointer.extend(["/", name]),
                Part::Element(at) => pointer.push_str(&format!("/{at}")),
            }
        }
        Err(Invalid {
            pointer,
            keyword,
            message,
        })
    }

    fn wrong_type(&self, wanted: &str) -> Result<(), Invalid> {
        self.invalid("type", format!("must be {wanted}"))
    }

    fn value(&mut self, node: Node, rule: &Rule) -> Result<(), Invalid> {
        let kind = self.tape.kind(node);
        match (rule, kind) {
            (Rule::Text, Kind::Text) | (Rule::Array, Kind::Array) => Ok(()),
            (Rule::Bool, Kind::Bool(_)) | (Rule::FormOrNull(..), Kind::Null) => Ok(()),
            (Rule::Form(name, fits) | Rule::FormOrNull(name, fits), Kind::Text) => {
                match fits(&self.tape.text(node)) {
                    true => Ok(()),
                    false => self.invalid("format", format!("has not the form {name}")),
                }
            }
            (Rule::Number, Kind::Number(lexeme)) if is_safe_number(lexeme) => Ok(()),
            (Rule::Integer, Kind::Number(lexeme)) if is_safe_number(lexeme) => {
                match is_integer(lexeme) {
                    true => Ok(()),
                    false => self.wrong_type("a whole number"),
                }
            }
            (Rule::Number | Rule::Integer, Kind::Number(_)) => self.invalid(
                "type",
                "must be a number that a double keeps exactly".to_owned(),
            ),
            (Rule::List(shape), Kind::Array) => {
                for (at, element) in self.tape.elements(node).enumerate() {
                    self.path.push(Part::Element(at));
                    self.value(element, &Rule::Object(shape))?;
                    self.path.pop();
                }
                Ok(())
            }
            (
                Rule::Object(shape) | Rule::Loose(shape) | Rule::ObjectOrNull(shape),
                Kind::Object,
            ) => self.object(node, shape),
            (Rule::Loose(_), _) | (Rule::ObjectOrNull(_), Kind::Null) => Ok(()),
            (Rule::Text | Rule::Form(..), _) => self.wrong_type("a string"),
            (Rule::FormOrNull(..), _) => self.wrong_type("a string or null"),
            (Rule::Bool, _) => self.wrong_type("true or false"),
            (Rule::Number, _) => self.wrong_type("a number"),
            (Rule::Integer, _) => self.wrong_type("a whole number"),
            (Rule::Array | Rule::List(_), _) => self.wrong_type("an array"),
            (Rule::Object(_) | Rule::ObjectOrNull(_), _) => self.wrong_type("an object"),
        }
    }

    fn object(&mut self, node: Node, shape: &'static Shape) -> Result<(), Invalid> {
        // At most 10 members have rules.
        let mut found: [Option<Node>; 10] = [None; 10];
        for (name, value) in self.tape.members(node) {
            let name = self.tape.text(name);
            let at = shape
                .members
                .iter()
                .position(|(known, _)| *known.as_bytes() == *name);
            if let Some(slot) = at.and_then(|at| found.get_mut(at)) {
                *slot = Some(value);
            }
        }
        for required in shape.required {
            let named = |(known, _): &(&str, Rule)| known == required;
            let at = shape.members.iter().position(named);
            if at.and_then(|at| *found.get(at)?).is_none() {
                return self.invalid("required", format!("has no member {required}"));
            }
        }
        for ((name, rule), value) in shape.members.iter().zip(found) {
            let Some(value) = value else { continue };
            let is_body = std::ptr::eq(shape, &POST_DATA) && *name == "text";
            if is_body && self.bodies_may_be_null && self.tape.kind(value) == Kind::Null {
                continue;
            }
            self.path.push(Part::Member(name));
            self.value(value, rule)?;
            self.path.pop();
        }
        Ok(())
    }
}

/// A safe number without a fraction.
fn is_integer(lexeme: &[u8]) -> bool {
    let text = std::str::from_utf8(lexeme).unwrap_or_default();
    text.parse::<f64>().is_ok_and(|value| value.fract() == 0.0)
}

/// Takes `pattern` from the front of `text`: `d` is a digit, all else itself.
fn take<'t>(text: &'t [u8], pattern: &[u8]) -> Option<&'t [u8]> {
    let (head, rest) = text.split_at_checked(pattern.len())?;
    let fits = head.iter().zip(pattern).all(|(byte, wanted)| match wanted {
        b'd' => byte.is_ascii_digit(),
        wanted => byte == wanted,
    });
    fits.then_some(rest)
}

fn optional<'t>(text: &'t [u8], pattern: &[u8]) -> &'t [u8] {
    take(text, pattern).unwrap_or(text)
}

/// RFC 3339 as far as validators look: the zone may lack its minutes.
fn date_time<'t>(text: &'t [u8], between: &[u8]) -> Option<&'t [u8]> {
    let (date, rest) = text.split_at_checked(10)?;
    take(date, b"dddd-dd-dd")?;
    let limits = |at: usize, most: u8| date.get(at).is_some_and(|&digit| digit <= most);
    if !(limits(5, b'1') && limits(8, b'3')) {
        return None;
    }
    let (separator, rest) = rest.split_first()?;
    if !between.contains(separator) {
        return None;
    }
    let (time, rest) = rest.split_at_checked(8)?;
    take(time, b"dd:dd:dd")?;
    let within = |at: usize, most: u8| time.get(at).is_some_and(|&digit| digit <= most);
    if !(within(0, b'2') && within(3, b'5') && within(6, b'6')) {
        return None;
    }
    match rest.split_first() {
        Some((b'.', fraction)) => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            (digits > 0).then(|| fraction.get(digits..).unwrap_or_default())
        }
        _ => Some(rest),
    }
}

/// `startedDateTime`: the format and the pattern of the schema together.
fn is_started(text: &[u8]) -> bool {
    let zone = match date_time(text, b"T") {
        Some(zone) => zone,
        None => return false,
    };
    match zone.split_first() {
        Some((b'Z', rest)) => rest.is_empty(),
        Some((b'+' | b'-', rest)) => {
            let minutes = take(rest, b"dd").map(|rest| optional(rest, b":"));
            minutes.and_then(|rest| take(rest, b"dd")) == Some(b"")
        }
        _ => false,
    }
}

fn is_date_time(text: &[u8]) -> bool {
    let Some(zone) = date_time(text, b"Tt ") else {
        return false;
    };
    match zone.split_first() {
        Some((b'Z' | b'z', rest)) => rest.is_empty(),
        Some((b'+' | b'-', rest)) => match take(rest, b"dd") {
            Some(b"") => true,
            Some(rest) => take(optional(rest, b":"), b"dd") == Some(b""),
            None => false,
        },
        _ => false,
    }
}

/// Dates of a cache's state: what starts like one.
fn starts_as_date(text: &[u8]) -> bool {
    let parts: [(&[u8], &[u8]); 6] = [
        (b"", b"dddd"),
        (b"-", b"dd"),
        (b"-", b"dd"),
        (b"T", b"dd"),
        (b":", b"dd"),
        (b":", b"dd"),
    ];
    let rest = parts.iter().try_fold(text, |text, (separator, digits)| {
        take(optional(text, separator), digits)
    });
    let Some(rest) = rest else { return false };
    let rest = match rest.split_first() {
        Some((b'.', fraction)) if fraction.first().is_some_and(u8::is_ascii_digit) => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            fraction.get(digits..).unwrap_or_default()
        }
        _ => rest,
    };
    match rest.split_first() {
        Some((b'Z', _)) => true,
        Some((b'+' | b'-', rest)) => take(rest, b"dd")
            .and_then(|rest| take(optional(rest, b":"), b"dd"))
            .is_some(),
        _ => false,
    }
}

/// A scheme and no white space, which is what validators of schemas ask for.
fn is_uri(text: &[u8]) -> bool {
    let scheme = text.iter().position(|&byte| byte == b':').unwrap_or(0);
    let (scheme, rest) = text.split_at(scheme);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let blank = |text: &str| {
        text.chars()
            .any(|char| char.is_whitespace() || char == '\u{feff}')
    };
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(plain)
        && !blank(&String::from_utf8_lossy(rest))
}

/// An address, as browsers write it too: IPv6 in brackets, and nothing where
/// no connection was made.
fn is_address(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match bare {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => text.is_empty() || text.parse::<std::net::IpAddr>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the public validators say of the same strings.
    #[test]
    fn forms() {
        for text in [
            "2026-10-05T09:00:00.000Z",
            "2016-01-02T03:04:05.1234567-05:00",
            "2026-10-05T09:00:00+0100",
        ] {
            assert!(is_started(text.as_bytes()), "{text}");
            assert!(is_date_time(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "2026-10-05",
            "2026-10-05T09:00:00",
            "2026-10-05T09:00:00+01",
            "2026-10-05t09:00:00Z",
            "2026-10-05T09:00:00.Z",
            "2026-10-05T09:00:00Zx",
            "2026-40-05T09:00:00Z",
        ] {
            assert!(!is_started(text.as_bytes()), "{text}");
        }
        assert!(is_date_time(b"2026-10-05 09:00:00z") && is_date_time(b"2026-10-05T09:00:00+01"));
        assert!(!is_date_time(b"Thu, 01 Jan 1970 00:00:00 GMT"));
        for text in ["20261005T090000Z", "2026-10-05T09:00:00.5+01:00 and more"] {
            assert!(starts_as_date(text.as_bytes()), "{text}");
        }
        assert!(!starts_as_date(b"2026-10-05") && !starts_as_date(b"x"));
        for text in ["https://a/b?c", "about:blank", "a:443", "data:,x", "http:x"] {
            assert!(is_uri(text.as_bytes()), "{text}");
        }
        for text in ["", "/a", "1a:b", "https://a/b c", ":x", "a b:c"] {
            assert!(!is_uri(text.as_bytes()), "{text}");
        }
        for text in ["127.0.0.1", "::1", "[::1]", "2001:db8::1", ""] {
            assert!(is_address(text.as_bytes()), "{text}");
        }
        for text in ["localhost", "1.2.3", "[127.0.0.1]", "[]"] {
            assert!(!is_address(text.as_bytes()), "{text}");
        }
    }
}
