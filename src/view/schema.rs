//! Whether a result has the members that its producer's contract names, each
//! of its type, as it streams by: tables of members, as data.

use crate::json::{Event, MAX_SAFE_INTEGER, Value};

/// What a value must be.
#[derive(Debug)]
pub(super) enum Shape {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A number as `0x` and lower-case digits.
    Hex,
    /// A whole number from 0.
    Count,
    /// `true` or `false`.
    Flag,
    /// `null`.
    Null,
    /// The name of a value, or the number where it has none.
    Symbolic,
    /// `null`, or this.
    Maybe(&'static Shape),
    /// An array of these.
    List(&'static Shape),
    /// An object with these members, and any others.
    Object(&'static [Field]),
}

/// A member.
#[derive(Debug)]
pub(super) struct Field {
    name: &'static str,
    shape: Shape,
    required: bool,
}

/// A member that must be there.
pub(super) const fn field(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: true,
    }
}

/// A member that may be there.
pub(super) const fn optional(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: false,
    }
}

/// Where a result is not as its contract says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wrong {
    /// Names and places from the result on.
    pub path: Vec<Value>,
    /// Whether a member is missing; else one is of another type.
    pub missing: bool,
}

/// A container that is open.
#[derive(Debug)]
struct Frame {
    shape: &'static Shape,
    /// A bit for each member of an object that has passed.
    seen: u64,
    /// The current member of an object.
    at: Option<usize>,
    /// Where the next member is if none is left out.
    next: usize,
    /// Elements of a list that have begun.
    elements: u64,
}

/// Follows one value.
#[derive(Debug)]
pub(super) struct Check {
    root: &'static Shape,
    open: Vec<Frame>,
    /// The start of the current string.
    text: Vec<u8>,
    wrong: Option<Wrong>,
}

/// More bytes than any word or number has.
const LONGEST: usize = 64;

impl Check {
    /// A value of this shape is to come.
    pub fn new(root: &'static Shape) -> Self {
        Self {
            root,
            open: Vec::new(),
            text: Vec::new(),
            wrong: None,
        }
    }

    /// The first thing that is wrong.
    pub fn wrong(&self) -> Option<&Wrong> {
        self.wrong.as_ref()
    }

    /// The next piece of the value.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Key { name, .. } => self.key(name),
            Event::EndObject | Event::EndArray => self.end(),
            Event::Text { part, last, .. } => self.part(part, last),
            Event::BeginObject | Event::BeginArray => {
                self.element();
                let expected = unwrapped(self.expected());
                let object = event == Event::BeginObject;
                let shape = match expected {
                    Shape::Any => expected,
                    Shape::Object(_) if object => expected,
                    Shape::List(_) if !object => expected,
                    _ => {
                        self.fail(false);
                        &Shape::Any
                    }
                };
                self.open.push(Frame {
                    shape,
                    seen: 0,
                    at: None,
                    next: 0,
                    elements: 0,
                });
            }
            Event::Null => {
                self.element();
                let fits = matches!(self.expected(), Shape::Any | Shape::Null | Shape::Maybe(_));
                self.judge(fits);
            }
            Event::Bool(_) => {
                self.element();
                let fits = matches!(unwrapped(self.expected()), Shape::Any | Shape::Flag);
                self.judge(fits);
            }
            Event::Number { value, .. } => {
                self.element();
                let fits = match unwrapped(self.expected()) {
                    Shape::Any => true,
                    Shape::Count | Shape::Symbolic => {
                        (0.0..=MAX_SAFE_INTEGER as f64).contains(&value) && value.fract() == 0.0
                    }
                    _ => false,
                };
                self.judge(fits);
            }
        }
    }

    /// What the current value must be.
    fn expected(&self) -> &'static Shape {
        let Some(frame) = self.open.last() else {
            return self.root;
        };
        match frame.shape {
            Shape::Object(fields) => {
                let field = frame.at.and_then(|at| fields.get(at));
                field.map_or(&Shape::Any, |field| &field.shape)
            }
            Shape::List(shape) => shape,
            _ => &Shape::Any,
        }
    }

    /// A value begins.
    fn element(&mut self) {
        if let Some(frame) = self.open.last_mut() {
            frame.elements += 1;
        }
    }

    fn key(&mut self, name: &[u8]) {
        let Some(frame) = self.open.last_mut() else {
            return;
        };
        let Shape::Object(fields) = frame.shape else {
            return;
        };
        let same = |field: &Field| field.name.as_bytes() == name;
        frame.at = match fields.get(frame.next) {
            Some(field) if same(field) => Some(frame.next),
            _ => fields.iter().position(same),
        };
        if let Some(at) = frame.at {
            frame.next = at + 1;
            frame.seen |= 1 << at;
        }
    }

    fn part(&mut self, part: &[u8], last: bool) {
        let expected = unwrapped(self.expected());
        let kept = matches!(expected, Shape::Hex | Shape::Word(_));
        if kept {
            let room = (LONGEST + 1).saturating_sub(self.text.len());
            self.text
                .extend_from_slice(part.get(..room).unwrap_or(part));
        }
        if !last {
            return;
        }
        self.element();
        let fits = match expected {
            Shape::Any | Shape::Text | Shape::Symbolic => true,
            Shape::Hex => is_hex(&self.text),
            Shape::Word(words) => words.iter().any(|word| word.as_bytes() == self.text),
            _ => false,
        };
        self.text.clear();
        self.judge(fits);
    }

    fn end(&mut self) {
        let Some(frame) = self.open.pop() else {
            return;
        };
        let Shape::Object(fields) = frame.shape else {
            return;
        };
        let mut fields = fields.iter().enumerate();
        let missing = fields.find(|(at, field)| field.required && frame.seen & (1 << at) == 0);
        if let Some((at, _)) = missing {
            self.open.push(Frame {
                at: Some(at),
                ..frame
            });
            self.fail(true);
            self.open.pop();
        }
    }

    fn judge(&mut self, fits: bool) {
        if !fits {
            self.fail(false);
        }
    }

    fn fail(&mut self, missing: bool) {
        if self.wrong.is_some() {
            return;
        }
        let mut path: Vec<Value> = Vec::new();
        for frame in &self.open {
            match frame.shape {
                Shape::Object(fields) => {
                    if let Some(field) = frame.at.and_then(|at| fields.get(at)) {
                        path.push(field.name.into());
                    }
                }
                Shape::List(_) => path.push(frame.elements.saturating_sub(1).into()),
                _ => {}
            }
        }
        self.wrong = Some(Wrong { path, missing });
    }
}

fn unwrapped(shape: &'static Shape) -> &'static Shape {
    match shape {
        Shape::Maybe(inner) => inner,
        shape => shape,
    }
}

/// `^0x(0|[1-9a-f][0-9a-f]{0,15})$`
fn is_hex(text: &[u8]) -> bool {
    let Some(digits) = text.strip_prefix(b"0x") else {
        return false;
    };
    let digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    match digits {
        b"0" => true,
        [b'0', ..] | [] => false,
        digits => digits.len() <= 16 && digits.iter().all(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Reader};

    static ROW: Shape = Shape::Object(&[
        field("a", Shape::Hex),
        field("b", Shape::Maybe(&Shape::Count)),
        optional("c", Shape::Word(&["x", "y"])),
    ]);
    static ROOT: Shape = Shape::Object(&[field("rows", Shape::List(&ROW))]);

    fn wrong(text: &str) -> Option<(String, bool)> {
        let mut reader = Reader::new(text.as_bytes(), Limits::default());
        let mut check = Check::new(&ROOT);
        loop {
            check.event(reader.next_event().unwrap());
            if reader.is_between() {
                break;
            }
        }
        assert!(check.open.is_empty());
        let wrong = check.wrong()?;
        let parts: Vec<String> = wrong
            .path
            .iter()
            .map(|part| match part {
                Value::Number(number) => number.to_string(),
                part => part.as_str().unwrap().to_owned(),
            })
            .collect();
        Some((parts.join("."), wrong.missing))
    }

    #[test]
    fn the_first_thing_that_is_wrong_is_told_with_its_path() {
        let row = r#"{"a":"0x1f","b":null,"c":"y","more":[{"a":1}]}"#;
        let rows = |second: &str| format!(r#"{{"rows":[{row},{second}],"x":{{}}}}"#);
        assert_eq!(wrong(&rows(row)), None);
        let told = |path: &str, missing| Some((path.to_owned(), missing));
        for (second, path, missing) in [
            (r#"{"a":"0x01","b":1}"#, "rows.1.a", false),
            (r#"{"a":"0x","b":1}"#, "rows.1.a", false),
            (r#"{"a":"0x11112222333344445","b":1}"#, "rows.1.a", false),
            (r#"{"a":"0xA","b":1}"#, "rows.1.a", false),
            (r#"{"a":"0xa","b":1.5}"#, "rows.1.b", false),
            (r#"{"a":"0xa","b":[]}"#, "rows.1.b", false),
            (r#"{"a":"0xa","b":0,"c":"z"}"#, "rows.1.c", false),
            (r#"{"a":"0xa","b":0,"c":null}"#, "rows.1.c", false),
            (r#"{"a":"0xa"}"#, "rows.1.b", true),
            (r#"[]"#, "rows.1", false),
            (r#"7"#, "rows.1", false),
        ] {
            assert_eq!(wrong(&rows(second)), told(path, missing), "{second}");
        }
        assert_eq!(wrong("{}"), told("rows", true));
        assert_eq!(wrong("[]"), told("", false));
    }
}
