//! A document as an index into its text: eight bytes a value, nothing copied.
//!
//! The text stays where it is; values are looked up, compared and written from
//! it. Member names are checked against each other while the index is made.

use std::borrow::Cow;

use super::error::{ReadError, ReadErrorKind};
use super::text::cmp_utf16;
use super::{Event, Limits, Reader, Writer};
use crate::error::Error;

/// The first bit of a token's start: a string without escapes, or an object
/// whose members are in canonical order.
const PLAIN: u32 = 1 << 31;

/// The reader's window, and what is decoded of one string at a time.
const WINDOW: usize = 64 * 1024;

/// Between two looks at the stop request.
const EVENTS: u32 = 4096;

#[derive(Clone, Copy, Debug)]
struct Token {
    /// Offset of the first byte, with [`PLAIN`].
    start: u32,
    /// Of arrays and objects: the token behind their last; of others: the
    /// offset behind their last byte.
    end: u32,
}

/// A value or a member's name, by its place in the document: values that come
/// later have a greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node(u32);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(&'a [u8]),
    /// A string.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Why there is no index.
#[derive(Debug)]
pub enum Refused {
    /// The text is not acceptable.
    Read(ReadError),
    /// The work was ended.
    Stopped(Error),
}

impl From<ReadError> for Refused {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Tape {
    text: Vec<u8>,
    tokens: Vec<Token>,
}

impl Tape {
    /// The longest text that can be indexed: 2 GiB less one byte.
    pub const MAX: u64 = (1 << 31) - 1;

    /// The index of `text`, which must be one document; numbers of any size
    /// are taken. `check` is asked now and then whether to go on.
    ///
    /// # Errors
    /// What [`Reader`] refuses, and names that stand twice in an object.
    pub fn parse(
        text: Vec<u8>,
        limits: Limits,
        check: impl Fn() -> Result<(), Error>,
    ) -> Result<Self, Refused> {
        let limits = Limits {
            max_input_bytes: limits.max_input_bytes.min(Self::MAX),
            overflow: super::Overflow::Keep,
            ..limits
        };
        let tokens = index(&text, limits, check)?;
        Ok(Self { text, tokens })
    }

    fn look(&self) -> Look<'_> {
        Look {
            text: &self.text,
            tokens: &self.tokens,
        }
    }

    /// The whole document.
    pub fn root(&self) -> Node {
        Node(0)
    }

    /// What a value is.
    pub fn kind(&self, node: Node) -> Kind<'_> {
        self.look().kind(node)
    }

    /// The first node behind a value and all that is in it.
    pub fn after(&self, node: Node) -> Node {
        self.look().after(node)
    }

    /// The members of an object in the order of the text; none of others.
    pub fn members(&self, node: Node) -> impl Iterator<Item = (Node, Node)> {
        self.look().members(node)
    }

    /// The elements of an array; none of others.
    pub fn elements(&self, node: Node) -> impl Iterator<Item = Node> {
        let look = self.look();
        let end = match look.kind(node) {
            Kind::Array => look.after(node),
            _ => node,
        };
        let mut next = Node(node.0 + 1);
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let value = next;
                next = look.after(value);
                value
            })
        })
    }

    /// The members of an object in canonical order.
    pub fn sorted_members(&self, node: Node) -> Vec<(Node, Node)> {
        let look = self.look();
        match look.token(node).start & PLAIN {
            0 => look.sort_members(node),
            _ => look.members(node).collect(),
        }
    }

    /// The member of that name.
    pub fn member(&self, node: Node, name: &str) -> Option<Node> {
        self.members(node)
            .find(|(known, _)| *self.text(*known) == *name.as_bytes())
            .map(|(_, value)| value)
    }

    /// A string or name, decoded to WTF-8; empty for others.
    pub fn text(&self, node: Node) -> Cow<'_, [u8]> {
        self.look().text(node)
    }

    /// Writes a string, or a value that is neither array nor object. Numbers
    /// that no double keeps exactly are written as `null`.
    pub fn write_scalar(&self, node: Node, w: &mut Writer<'_>) {
        match self.kind(node) {
            Kind::Null | Kind::Array | Kind::Object => w.null(),
            Kind::Bool(value) => w.bool(value),
            Kind::Number(lexeme) => match super::is_safe_number(lexeme) {
                true => w.number(number(lexeme)),
                false => w.null(),
            },
            Kind::Text => self.write_text(node, w),
        }
    }

    fn write_text(&self, node: Node, w: &mut Writer<'_>) {
        let look = self.look();
        let raw = look.raw(node);
        if look.token(node).start & PLAIN != 0 || raw.len() <= 256 {
            return w.text(&self.text(node));
        }
        w.begin_text();
        parts(raw, |part| w.text_part(part));
        w.end_text();
    }

    /// Writes a member's name.
    pub fn write_name(&self, node: Node, w: &mut Writer<'_>) {
        w.key_text(&self.text(node));
    }
}

/// Reads `text` and puts down where its values stand.
fn index(
    text: &[u8],
    limits: Limits,
    check: impl Fn() -> Result<(), Error>,
) -> Result<Vec<Token>, Refused> {
    enum Step {
        Scalar(bool),
        Part,
        Open,
        Close(bool),
    }
    let mut reader = Reader::with_buffer(text, limits, WINDOW);
    let mut tokens = Vec::with_capacity(text.len() / 32);
    let mut open: Vec<usize> = Vec::new();
    let mut left = EVENTS;
    // Whether a string is open, and all its parts so far are plain.
    let (mut in_text, mut is_plain) = (false, true);
    loop {
        left -= 1;
        if left == 0 {
            check().map_err(Refused::Stopped)?;
            left = EVENTS;
        }
        let step = match reader.next_event()? {
            Event::Null | Event::Bool(_) | Event::Number { .. } => Step::Scalar(false),
            Event::Text { last, plain, .. } => {
                is_plain = plain && (is_plain || !in_text);
                in_text = !last;
                if last {
                    Step::Scalar(is_plain)
                } else {
                    Step::Part
                }
            }
            // Across the window's end a name without escapes is not known to
            // be plain, which costs a copy when it is read.
            Event::Key { plain, .. } => Step::Scalar(plain),
            Event::BeginObject | Event::BeginArray => Step::Open,
            Event::EndObject => Step::Close(true),
            Event::EndArray => Step::Close(false),
        };
        // Offsets are below 2^31: the reader takes no more bytes.
        let (start, end) = reader.span();
        let (start, end) = (start as u32, end as u32);
        match step {
            Step::Part => continue,
            Step::Scalar(plain) => tokens.push(Token {
                start: start | if plain { PLAIN } else { 0 },
                end,
            }),
            Step::Open => {
                open.push(tokens.len());
                tokens.push(Token { start, end });
            }
            Step::Close(object) => {
                let behind = tokens.len() as u32;
                let Some(at) = open.pop() else { continue };
                if let Some(token) = tokens.get_mut(at) {
                    token.end = behind;
                }
                let look = Look {
                    text,
                    tokens: &tokens,
                };
                let sorted = object && look.check_names(Node(at as u32), &reader)?;
                if let Some(token) = tokens.get_mut(at).filter(|_| sorted) {
                    token.start |= PLAIN;
                }
            }
        }
        if reader.is_between() {
            break;
        }
    }
    reader.expect_end()?;
    Ok(tokens)
}

/// Hands on the parts of a string that was read before, so that nothing here
/// can fail.
fn parts(raw: &[u8], mut take: impl FnMut(&[u8])) {
    let size = raw.len().clamp(1, WINDOW);
    let mut reader = Reader::with_buffer(raw, Limits::default(), size);
    while let Ok(Event::Text { part, last, .. }) = reader.next_event() {
        take(part);
        if last {
            break;
        }
    }
}

/// Text and index, as far as they are made.
#[derive(Clone, Copy)]
struct Look<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
}

impl<'a> Look<'a> {
    fn token(self, node: Node) -> Token {
        let none = Token { start: 0, end: 0 };
        self.tokens.get(node.0 as usize).copied().unwrap_or(none)
    }

    /// The text of a name, number, string or word, as it was written.
    fn raw(self, node: Node) -> &'a [u8] {
        let token = self.token(node);
        let (start, end) = ((token.start & !PLAIN) as usize, token.end as usize);
        self.text.get(start..end).unwrap_or_default()
    }

    fn kind(self, node: Node) -> Kind<'a> {
        let token = self.token(node);
        match self.text.get((token.start & !PLAIN) as usize) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::Text,
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(b'-' | b'0'..=b'9') => Kind::Number(self.raw(node)),
            _ => Kind::Null,
        }
    }

    fn after(self, node: Node) -> Node {
        match self.kind(node) {
            Kind::Object | Kind::Array => Node(self.token(node).end.max(node.0 + 1)),
            _ => Node(node.0 + 1),
        }
    }

    fn members(self, node: Node) -> impl Iterator<Item = (Node, Node)> {
        let end = match self.kind(node) {
            Kind::Object => self.after(node),
            _ => node,
        };
        let mut next = Node(node.0 + 1);
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let name = next;
                let value = Node(name.0 + 1);
                next = self.after(value);
                (name, value)
            })
        })
    }

    fn sort_members(self, node: Node) -> Vec<(Node, Node)> {
        let mut members: Vec<_> = self.members(node).collect();
        members.sort_by(|a, b| cmp_utf16(&self.text(a.0), &self.text(b.0)));
        members
    }

    fn text(self, node: Node) -> Cow<'a, [u8]> {
        let raw = self.raw(node);
        if !raw.starts_with(b"\"") {
            return Cow::Borrowed(b"");
        }
        if self.token(node).start & PLAIN != 0 {
            let inside = raw.len().saturating_sub(1);
            return Cow::Borrowed(raw.get(1..inside).unwrap_or_default());
        }
        let mut decoded = Vec::with_capacity(raw.len());
        parts(raw, |part| decoded.extend_from_slice(part));
        Cow::Owned(decoded)
    }

    /// Whether the names of a complete object are in canonical order; one that
    /// stands twice is the error.
    fn check_names(self, object: Node, reader: &Reader<&[u8]>) -> Result<bool, ReadError> {
        let mut previous: Option<Cow<'_, [u8]>> = None;
        for (name, _) in self.members(object) {
            let name = self.text(name);
            if let Some(previous) = &previous
                && cmp_utf16(previous, &name).is_ge()
            {
                let sorted = self.sort_members(object);
                let twice = sorted
                    .iter()
                    .zip(sorted.iter().skip(1))
                    .find(|(a, b)| self.text(a.0) == self.text(b.0));
                return match twice {
                    Some((member, _)) => {
                        let name = self.text(member.0);
                        Err(ReadError::duplicate(&name, reader.place()))
                    }
                    None => Ok(false),
                };
            }
            previous = Some(name);
        }
        Ok(true)
    }
}

/// The nearest double.
fn number(lexeme: &[u8]) -> f64 {
    let text = std::str::from_utf8(lexeme).unwrap_or_default();
    text.parse().unwrap_or(0.0)
}

/// Whether a refusal is about nesting.
pub(crate) fn is_depth(error: &ReadError) -> bool {
    matches!(error.kind(), ReadErrorKind::Depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;
    use proptest::prelude::*;

    fn tape(text: &[u8]) -> Result<Tape, String> {
        Tape::parse(text.to_vec(), Limits::default(), || Ok(())).map_err(|refused| match refused {
            Refused::Read(error) => error.to_string(),
            Refused::Stopped(error) => error.to_string(),
        })
    }

    fn write(tape: &Tape, node: Node, w: &mut Writer<'_>) {
        match tape.kind(node) {
            Kind::Object => {
                w.begin_object();
                for (name, value) in tape.sorted_members(node) {
                    tape.write_name(name, w);
                    write(tape, value, w);
                }
                w.end_object();
            }
            Kind::Array => {
                w.begin_array();
                for element in tape.elements(node) {
                    write(tape, element, w);
                }
                w.end_array();
            }
            _ => tape.write_scalar(node, w),
        }
    }

    fn canonical(text: &[u8]) -> Vec<u8> {
        let tape = tape(text).unwrap();
        crate::json::written(|w| write(&tape, tape.root(), w))
    }

    #[test]
    fn a_tape_says_what_the_text_says() {
        let text = br#" {"b":[1,{"x":"\u0041"},[]],"a":{"":null},"z":"\ud800","t":true,"n":9007199254740993} "#;
        let expected = br#"{"a":{"":null},"b":[1,{"x":"A"},[]],"n":null,"t":true,"z":"\ud800"}"#;
        assert_eq!(canonical(text), expected);
        let tape = tape(text).unwrap();
        let b = tape.member(tape.root(), "b").unwrap();
        assert_eq!(tape.elements(b).count(), 3);
        assert_eq!(
            tape.kind(tape.elements(b).next().unwrap()),
            Kind::Number(b"1")
        );
        assert_eq!(tape.members(b).count(), 0);
        assert!(tape.member(tape.root(), "c").is_none());
    }

    #[test]
    fn names_that_stand_twice_are_refused_also_in_other_spellings() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":1,"a":2,"\u0062":3}]"#] {
            assert!(tape(text.as_bytes()).unwrap_err().contains("stands twice"));
        }
        assert!(tape(b"{}{}").is_err() && tape(b"").is_err() && tape(b"[1").is_err());
    }

    #[test]
    fn long_strings_keep_their_places() {
        for inside in ["x".repeat(200_000), "\\n\u{e9}".repeat(60_000)] {
            let text = format!(r#"["{inside}",{{"{inside}":7}}]"#);
            let value = Value::parse(text.as_bytes(), Limits::default()).unwrap();
            let expected = crate::json::canonical(&value);
            assert_eq!(canonical(text.as_bytes()), expected);
        }
    }

    proptest! {
        #[test]
        fn as_the_values_that_are_held(text in "[\\[\\]{}:,\"a\\\\u0041d8 1e.-]{0,60}") {
            let held = Value::parse(text.as_bytes(), Limits::default());
            if let Ok(value) = held {
                let expected = crate::json::canonical(&value);
                // Numbers that are not kept exactly are null in a tape.
                if !text.bytes().any(|byte| byte.is_ascii_digit()) {
                    prop_assert_eq!(canonical(text.as_bytes()), expected);
                }
            }
        }
    }
}
