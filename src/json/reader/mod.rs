//! The reader: one pass over input of any size, in constant memory.
//!
//! It accepts exactly RFC 8259 texts in UTF-8 without a byte order mark. It
//! does not check member names against each other: who consumes the events
//! does, in the way that fits (the builder of [`super::Value`] sorts, the
//! verifier of records expects them sorted).

mod buffer;
mod number;
mod string;

use std::io::{self, Read};

use super::Event;
use super::error::{Place, ReadError, ReadErrorKind};
use buffer::Buffer;
use string::Part;

const BUFFER: usize = 256 * 1024;
/// A member name of more bytes is refused.
const MAX_NAME: usize = 16 << 20;
/// A number of more bytes is refused.
const MAX_NUMBER: usize = 64 << 10;

/// What to do with a number that no double can hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// End with [`ReadErrorKind::NotFinite`].
    #[default]
    Refuse,
    /// Hand on an infinity, for a consumer that refuses it with its place.
    Keep,
}

/// What a reader accepts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of input, all documents together.
    pub max_input_bytes: u64,
    /// Arrays and objects inside each other.
    pub max_depth: usize,
    /// Numbers beyond the doubles.
    pub overflow: Overflow,
}

impl Default for Limits {
    /// 16 GiB, 1024 levels, finite numbers.
    fn default() -> Self {
        Self {
            max_input_bytes: 16 << 30,
            max_depth: 1024,
            overflow: Overflow::Refuse,
        }
    }
}

/// Input that can be read again from an earlier place.
pub trait Rewind {
    /// Makes the next read start at `offset` bytes from the first byte.
    fn rewind_to(&mut self, offset: u64) -> io::Result<()>;
}

/// The start of a document or of an array's element, to which
/// [`Reader::rewind`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    place: Place,
    /// Containers open around it.
    depth: usize,
}

impl Mark {
    /// Bytes of input before it.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or between documents; `bare` behind one that has no bracket or
    /// quote at its end.
    Between { bare: bool },
    /// Behind `{`.
    FirstMember,
    /// Behind a member's name.
    Colon,
    /// Behind `[`.
    FirstElement,
    /// Before an element that is known to follow.
    Element,
    /// Inside a string value.
    InText,
    /// Behind a value in an array or object.
    AfterValue,
}

/// Reads a sequence of JSON documents as [`Event`]s.
pub struct Reader<R> {
    buffer: Buffer<R>,
    limits: Limits,
    state: State,
    /// For each open container, whether it is an object.
    open: Vec<bool>,
    scratch: Vec<u8>,
    name: Vec<u8>,
    /// Offset of the first byte of the value or name read last.
    start: u64,
}

impl<R: Read> Reader<R> {
    /// A reader of `input`.
    pub fn new(input: R, limits: Limits) -> Self {
        Self::with_buffer(input, limits, BUFFER)
    }

    /// A reader whose window is `size` bytes at first (tests use few).
    pub fn with_buffer(input: R, limits: Limits, size: usize) -> Self {
        Self {
            buffer: Buffer::new(input, size, limits.max_input_bytes),
            limits,
            state: State::Between { bare: false },
            open: Vec::new(),
            scratch: Vec::new(),
            name: Vec::new(),
            start: 0,
        }
    }

    /// Where the value or name read last stands: the offset of its first byte
    /// (a bracket, a quote), and of the byte behind what was read of it.
    pub(super) fn span(&self) -> (u64, u64) {
        (self.start, self.buffer.offset())
    }

    /// What is read from.
    pub fn input_mut(&mut self) -> &mut R {
        &mut self.buffer.input
    }

    /// The place of the next byte.
    pub fn place(&self) -> Place {
        self.buffer.place()
    }

    /// How many arrays and objects are open. A document is complete when this
    /// is 0 and its last event was not an unfinished [`Event::Text`].
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether a string value is open and another part of it comes next.
    pub fn is_in_text(&self) -> bool {
        self.state == State::InText
    }

    /// Whether a document is complete and the next event would start another.
    pub fn is_between(&self) -> bool {
        matches!(self.state, State::Between { .. })
    }

    /// Between documents: whether another one follows.
    pub fn more(&mut self) -> Result<bool, ReadError> {
        let before = self.buffer.offset();
        let Some(byte) = self.buffer.skip_space()? else {
            return Ok(false);
        };
        let joined = self.buffer.offset() == before && !matches!(byte, b'{' | b'[' | b'"');
        if self.state == (State::Between { bare: true }) && joined {
            return Err(self.unexpected(byte, "white space between two values"));
        }
        Ok(true)
    }

    /// Between documents: an error where anything but white space follows.
    pub fn expect_end(&mut self) -> Result<(), ReadError> {
        match self.buffer.skip_space()? {
            None => Ok(()),
            Some(byte) => Err(self.unexpected(byte, "the end of the input")),
        }
    }

    /// Between documents, or before an element that
    /// [`Reader::next_element`] found: remembers this place.
    pub fn mark(&self) -> Mark {
        Mark {
            place: self.buffer.place(),
            depth: self.open.len(),
        }
    }

    /// In an array, behind its bracket or an element: whether another element
    /// follows. The next event is then its first, else the array's end.
    pub fn next_element(&mut self) -> Result<bool, ReadError> {
        if self.state == State::Element {
            return Ok(true);
        }
        let byte = self.next_byte()?;
        if byte == b']' {
            return Ok(false);
        }
        if self.state == State::AfterValue {
            self.expect(byte, b',', ", or ]")?;
            self.next_byte()?;
        }
        self.state = State::Element;
        Ok(true)
    }

    /// The next piece. At the end of the input, an error: use
    /// [`Reader::more`] between documents.
    pub fn next_event(&mut self) -> Result<Event<'_>, ReadError> {
        if self.state == State::InText {
            return self.text();
        }
        let byte = self.next_byte()?;
        match self.state {
            State::Between { .. } | State::Element => self.value(byte),
            State::FirstElement if byte == b']' => Ok(self.close(Event::EndArray)),
            State::FirstElement => self.value(byte),
            State::FirstMember if byte == b'}' => Ok(self.close(Event::EndObject)),
            State::FirstMember => self.member(byte, "a member name or }"),
            State::Colon => {
                self.expect(byte, b':', ":")?;
                let byte = self.next_byte()?;
                self.value(byte)
            }
            State::AfterValue | State::InText => self.after_value(byte),
        }
    }

    fn after_value(&mut self, byte: u8) -> Result<Event<'_>, ReadError> {
        let object = self.open.last() == Some(&true);
        match (byte, object) {
            (b']', false) => Ok(self.close(Event::EndArray)),
            (b'}', true) => Ok(self.close(Event::EndObject)),
            (_, false) => {
                self.expect(byte, b',', ", or ]")?;
                let byte = self.next_byte()?;
                self.value(byte)
            }
            (_, true) => {
                self.expect(byte, b',', ", or }")?;
                let byte = self.next_byte()?;
                self.member(byte, "a member name")
            }
        }
    }

    /// Skips space and looks at the next byte, which must be there.
    #[inline]
    fn next_byte(&mut self) -> Result<u8, ReadError> {
        match self.buffer.skip_space()? {
            Some(byte) => Ok(byte),
            None => Err(self.ends_early()),
        }
    }

    #[cold]
    fn ends_early(&self) -> ReadError {
        self.syntax(if self.open.is_empty() {
            "there is no JSON value"
        } else {
            "the input ends inside a JSON value"
        })
    }

    fn expect(&mut self, byte: u8, wanted: u8, words: &str) -> Result<(), ReadError> {
        if byte != wanted {
            return Err(self.unexpected(byte, words));
        }
        self.buffer.consume(1);
        Ok(())
    }

    fn value(&mut self, byte: u8) -> Result<Event<'_>, ReadError> {
        self.start = self.buffer.offset();
        match byte {
            b'"' => {
                self.buffer.consume(1);
                self.text()
            }
            b'{' => self.open(true),
            b'[' => self.open(false),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal(b"true", Event::Bool(true)),
            b'f' => self.literal(b"false", Event::Bool(false)),
            b'n' => self.literal(b"null", Event::Null),
            _ => Err(self.unexpected(byte, "a JSON value")),
        }
    }

    fn open(&mut self, object: bool) -> Result<Event<'_>, ReadError> {
        if self.open.len() >= self.limits.max_depth {
            let message = format!(
                "more than {} arrays and objects stand inside each other",
                self.limits.max_depth
            );
            return Err(ReadError::new(
                ReadErrorKind::Depth,
                self.buffer.place(),
                message,
            ));
        }
        self.buffer.consume(1);
        self.open.push(object);
        if object {
            self.state = State::FirstMember;
            Ok(Event::BeginObject)
        } else {
            self.state = State::FirstElement;
            Ok(Event::BeginArray)
        }
    }

    fn close(&mut self, event: Event<'static>) -> Event<'static> {
        self.buffer.consume(1);
        self.open.pop();
        self.value_done(false);
        event
    }

    fn value_done(&mut self, bare: bool) {
        self.state = if self.open.is_empty() {
            State::Between { bare }
        } else {
            State::AfterValue
        };
    }

    fn literal(&mut self, word: &[u8], event: Event<'static>) -> Result<Event<'static>, ReadError> {
        let complete = self.buffer.require(word.len())?;
        if !complete || !self.buffer.rest().starts_with(word) {
            let common = self.buffer.rest().iter().zip(word);
            let ahead = common.take_while(|(a, b)| a == b).count();
            return Err(ReadError::new(
                ReadErrorKind::Syntax,
                self.buffer.place_after(ahead),
                format!("{} is expected", String::from_utf8_lossy(word)),
            ));
        }
        self.buffer.consume(word.len());
        self.value_done(true);
        Ok(event)
    }

    fn number(&mut self) -> Result<Event<'_>, ReadError> {
        let mut len = 0;
        loop {
            let rest = self.buffer.rest().get(len..).unwrap_or_default();
            let more = rest.iter().take_while(|&&b| number::is_part(b)).count();
            let ends = more < rest.len();
            len += more;
            if len > MAX_NUMBER {
                return Err(self.too_long("number", MAX_NUMBER, "a number"));
            }
            if ends || !self.buffer.fill()? {
                break;
            }
        }
        let lexeme = self.buffer.rest().get(..len).unwrap_or_default();
        if let Err(ahead) = number::grammar(lexeme) {
            return Err(ReadError::new(
                ReadErrorKind::Syntax,
                self.buffer.place_after(ahead),
                "a number is not written as JSON writes numbers",
            ));
        }
        let value = number::value(lexeme);
        if !value.is_finite() && self.limits.overflow == Overflow::Refuse {
            return Err(ReadError::new(
                ReadErrorKind::NotFinite,
                self.buffer.place(),
                "a number is too large for an IEEE double",
            ));
        }
        let from = self.buffer.position();
        self.buffer.consume(len);
        self.value_done(true);
        Ok(Event::Number {
            value,
            lexeme: self.buffer.slice(from, from + len),
        })
    }

    fn text(&mut self) -> Result<Event<'_>, ReadError> {
        let part = string::part(&mut self.buffer, &mut self.scratch)?;
        let (Part::Buffer { last, .. } | Part::Scratch { last }) = part;
        if last {
            self.value_done(false);
        } else {
            self.state = State::InText;
        }
        Ok(match part {
            Part::Buffer { from, to, .. } => Event::Text {
                part: self.buffer.slice(from, to),
                last,
                plain: true,
            },
            Part::Scratch { .. } => Event::Text {
                part: &self.scratch,
                last,
                plain: false,
            },
        })
    }

    fn member(&mut self, byte: u8, words: &str) -> Result<Event<'_>, ReadError> {
        self.start = self.buffer.offset();
        self.expect(byte, b'"', words)?;
        self.state = State::Colon;
        match string::part(&mut self.buffer, &mut self.scratch)? {
            Part::Buffer {
                from,
                to,
                last: true,
            } => {
                let name = self.buffer.slice(from, to);
                Ok(Event::Key { name, plain: true })
            }
            part => self.long_name(part),
        }
    }

    /// A member name with escapes, or across the buffer's end.
    fn long_name(&mut self, first: Part) -> Result<Event<'_>, ReadError> {
        self.name.clear();
        let mut part = first;
        loop {
            let last = match part {
                Part::Buffer { from, to, last } => {
                    self.name.extend_from_slice(self.buffer.slice(from, to));
                    last
                }
                Part::Scratch { last } => {
                    self.name.extend_from_slice(&self.scratch);
                    last
                }
            };
            if self.name.len() > MAX_NAME {
                return Err(self.too_long("member-name", MAX_NAME, "a member name"));
            }
            if last {
                return Ok(Event::Key {
                    name: &self.name,
                    plain: false,
                });
            }
            part = string::part(&mut self.buffer, &mut self.scratch)?;
        }
    }

    fn too_long(&self, boundary: &'static str, maximum: usize, what: &str) -> ReadError {
        let message = format!("{what} is longer than {maximum} bytes");
        ReadError::resource(boundary, maximum as u64, self.buffer.place(), message)
    }

    fn syntax(&self, message: &str) -> ReadError {
        ReadError::new(ReadErrorKind::Syntax, self.buffer.place(), message)
    }

    #[cold]
    fn unexpected(&mut self, byte: u8, wanted: &str) -> ReadError {
        // Where nothing more can be read, it is no mark.
        let mark = byte == 0xEF
            && self.buffer.require(3).unwrap_or(false)
            && self.buffer.rest().starts_with(b"\xEF\xBB\xBF");
        let found = match byte {
            _ if mark => "a byte order mark".to_owned(),
            0x21..=0x7E => format!("{}", char::from(byte)),
            _ => format!("byte 0x{byte:02x}"),
        };
        self.syntax(&format!("{wanted} is expected, not {found}"))
    }
}

impl<R: Read + Rewind> Reader<R> {
    /// Returns to a mark and forgets what came after it. A mark in an array is
    /// good until the array ends.
    pub fn rewind(&mut self, mark: Mark) -> Result<(), ReadError> {
        if let Err(error) = self.buffer.input.rewind_to(mark.offset()) {
            let place = self.buffer.place();
            return Err(ReadError::new(ReadErrorKind::Io(error), place, ""));
        }
        self.buffer.restart(mark.place);
        self.open.truncate(mark.depth);
        self.state = match mark.depth {
            0 => State::Between { bare: false },
            _ => State::Element,
        };
        Ok(())
    }
}
