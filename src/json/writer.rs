//! The writer: RFC 8785 canonical JSON, or the same members indented.

use std::borrow::Cow;
use std::io;

use super::Event;
use crate::digest::Digest;

/// Where written bytes go: a hash, a file, a buffer.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// What can write itself as one JSON value, members in canonical order.
pub trait WriteJson {
    /// Writes exactly one value.
    fn write_json(&self, w: &mut Writer<'_>);
}

/// The canonical text of a value.
pub fn canonical(value: &dyn WriteJson) -> Vec<u8> {
    written(|w| value.write_json(w))
}

/// The canonical text that `write` produces.
pub fn written(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = Writer::canonical(&mut text);
    write(&mut writer);
    writer.finish_infallible();
    text
}

impl<T: WriteJson + ?Sized> WriteJson for &T {
    fn write_json(&self, w: &mut Writer<'_>) {
        (**self).write_json(w);
    }
}

impl WriteJson for str {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(self);
    }
}

impl WriteJson for String {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(self);
    }
}

impl<T: WriteJson + ToOwned + ?Sized> WriteJson for Cow<'_, T> {
    fn write_json(&self, w: &mut Writer<'_>) {
        (**self).write_json(w);
    }
}

impl WriteJson for bool {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.bool(*self);
    }
}

/// As [`Writer::u64`] writes them.
macro_rules! whole_numbers {
    ($($number:ty)+) => {$(
        impl WriteJson for $number {
            fn write_json(&self, w: &mut Writer<'_>) {
                w.u64((*self).into());
            }
        }
    )+};
}

whole_numbers!(u8 u16 u32 u64);

impl<T: WriteJson> WriteJson for [T] {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for item in self {
            item.write_json(w);
        }
        w.end_array();
    }
}

impl<T: WriteJson, const COUNT: usize> WriteJson for [T; COUNT] {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.as_slice().write_json(w);
    }
}

impl<T: WriteJson + ?Sized> WriteJson for Box<T> {
    fn write_json(&self, w: &mut Writer<'_>) {
        (**self).write_json(w);
    }
}

impl<T: WriteJson> WriteJson for Vec<T> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.as_slice().write_json(w);
    }
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, w: &mut Writer<'_>) {
        match self {
            Some(value) => value.write_json(w),
            None => w.null(),
        }
    }
}

/// 64 hexadecimal digits.
impl WriteJson for Digest {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.id("", self);
    }
}

const FLUSH_AT: usize = 32 * 1024;

struct Frame {
    empty: bool,
    /// Whether a key has been written and its value has not.
    #[cfg(debug_assertions)]
    last_key: Option<Vec<u8>>,
}

/// Streams one JSON document into a [`Sink`].
///
/// Callers give object members in canonical order (UTF-16 code units); debug
/// builds check it. A failing sink stops all output; [`Writer::finish`] tells.
pub struct Writer<'a> {
    sink: &'a mut dyn Sink,
    buffer: Vec<u8>,
    stack: Vec<Frame>,
    after_key: bool,
    in_text: bool,
    indent: bool,
    error: Option<io::Error>,
}

/// What a writer of canonical JSON remembers while it has no sink.
#[derive(Default)]
pub(crate) struct Suspended {
    buffer: Vec<u8>,
    stack: Vec<Frame>,
    after_key: bool,
    in_text: bool,
}

impl<'a> Writer<'a> {
    /// Canonical form: no white space at all.
    pub fn canonical(sink: &'a mut dyn Sink) -> Self {
        Self {
            sink,
            buffer: Vec::with_capacity(1024),
            stack: Vec::new(),
            after_key: false,
            in_text: false,
            indent: false,
            error: None,
        }
    }

    /// The same members, indented by two spaces.
    pub fn indented(sink: &'a mut dyn Sink) -> Self {
        Self {
            indent: true,
            ..Self::canonical(sink)
        }
    }

    /// Goes on where [`Writer::suspend`] stopped.
    pub(crate) fn resume(sink: &'a mut dyn Sink, state: Suspended) -> Self {
        Self {
            sink,
            buffer: state.buffer,
            stack: state.stack,
            after_key: state.after_key,
            in_text: state.in_text,
            indent: false,
            error: None,
        }
    }

    /// Leaves the sink in the middle of a document, all bytes delivered. For
    /// sinks that cannot fail.
    pub(crate) fn suspend(mut self) -> Suspended {
        self.flush();
        debug_assert!(self.error.is_none() && !self.indent);
        Suspended {
            buffer: self.buffer,
            stack: self.stack,
            after_key: self.after_key,
            in_text: self.in_text,
        }
    }

    /// The next piece of a document, members in canonical order.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Null => self.null(),
            Event::Bool(value) => self.bool(value),
            Event::Number { value, .. } => self.number(value),
            Event::Text { part, last, .. } => {
                if !self.in_text {
                    self.begin_text();
                }
                self.text_part(part);
                self.in_text = !last;
                if last {
                    self.end_text();
                }
            }
            Event::Key { name, .. } => self.key_text(name),
            Event::BeginObject => self.begin_object(),
            Event::EndObject => self.end_object(),
            Event::BeginArray => self.begin_array(),
            Event::EndArray => self.end_array(),
        }
    }

    /// Flushes, and says whether all bytes reached the sink.
    pub fn finish(mut self) -> io::Result<()> {
        debug_assert!(self.stack.is_empty(), "an object or array is still open");
        self.flush();
        match self.error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// What is written cannot be read any more: all output stops, and
    /// [`Writer::finish`] tells.
    pub(crate) fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }

    /// [`Writer::finish`] for sinks that cannot fail (hashes and buffers).
    pub fn finish_infallible(self) {
        let done = self.finish();
        debug_assert!(done.is_ok());
    }

    /// Whether the sink has failed; what is written is lost.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Whether it writes without white space.
    pub(super) fn is_canonical(&self) -> bool {
        !self.indent
    }

    /// A value as canonical text; or elements of the open array, one or more,
    /// with the commas between them.
    pub(super) fn canonical_text(&mut self, text: &[u8]) {
        debug_assert!(self.is_canonical());
        self.before_value();
        self.put(text);
    }

    fn flush(&mut self) {
        if self.error.is_none()
            && let Err(error) = self.sink.put(&self.buffer)
        {
            self.error = Some(error);
        }
        self.buffer.clear();
    }

    fn put(&mut self, bytes: &[u8]) {
        if bytes.len() >= FLUSH_AT {
            self.flush();
            if self.error.is_none()
                && let Err(error) = self.sink.put(bytes)
            {
                self.error = Some(error);
            }
            return;
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= FLUSH_AT {
            self.flush();
        }
    }

    fn new_line(&mut self) {
        if self.indent {
            self.put(b"\n");
            for _ in 0..self.stack.len() {
                self.put(b"  ");
            }
        }
    }

    /// Everything that stands before a value: nothing after a key, else the
    /// comma between array elements.
    fn before_value(&mut self) {
        if self.after_key {
            self.after_key = false;
            return;
        }
        if let Some(frame) = self.stack.last_mut() {
            let first = std::mem::replace(&mut frame.empty, false);
            if !first {
                self.put(b",");
            }
            self.new_line();
        }
    }

    /// Opens an object.
    pub fn begin_object(&mut self) {
        self.before_value();
        self.put(b"{");
        self.push();
    }

    /// Closes an object.
    pub fn end_object(&mut self) {
        self.close(b"}");
    }

    /// Opens an array.
    pub fn begin_array(&mut self) {
        self.before_value();
        self.put(b"[");
        self.push();
    }

    /// Closes an array.
    pub fn end_array(&mut self) {
        self.close(b"]");
    }

    fn push(&mut self) {
        self.stack.push(Frame {
            empty: true,
            #[cfg(debug_assertions)]
            last_key: None,
        });
    }

    fn close(&mut self, bracket: &[u8]) {
        let frame = self.stack.pop();
        debug_assert!(frame.is_some() && !self.after_key);
        if frame.is_some_and(|frame| !frame.empty) {
            self.new_line();
        }
        self.put(bracket);
    }

    /// A member name that needs no escape (all of ours).
    pub fn key(&mut self, name: &str) {
        debug_assert!(name.bytes().all(|b| b >= b' ' && b != b'"' && b != b'\\'));
        self.before_key(name.as_bytes());
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(name.as_bytes());
        self.after_name();
    }

    /// A member: its name, as [`Writer::key`] takes it, and its value.
    pub fn member(&mut self, name: &str, value: impl WriteJson) {
        self.key(name);
        value.write_json(self);
    }

    /// Any member name, as WTF-8.
    pub fn key_text(&mut self, name: &[u8]) {
        self.before_key(name);
        self.buffer.push(b'"');
        self.escape(name);
        self.after_name();
    }

    fn before_key(&mut self, name: &[u8]) {
        debug_assert!(!self.after_key);
        if let Some(frame) = self.stack.last_mut() {
            #[cfg(debug_assertions)]
            {
                if let Some(last) = &frame.last_key {
                    assert_eq!(
                        super::text::cmp_utf16(last, name),
                        std::cmp::Ordering::Less,
                        "members out of order: {} then {}",
                        String::from_utf8_lossy(last),
                        String::from_utf8_lossy(name)
                    );
                }
                frame.last_key = Some(name.to_vec());
            }
            let first = std::mem::replace(&mut frame.empty, false);
            if !first {
                self.buffer.push(b',');
            }
            self.new_line();
        }
        let _ = name;
    }

    fn after_name(&mut self) {
        self.buffer
            .extend_from_slice(if self.indent { b"\": " } else { b"\":" });
        self.after_key = true;
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        self.text(text.as_bytes());
    }

    /// A string of WTF-8 bytes.
    pub fn text(&mut self, text: &[u8]) {
        self.begin_text();
        self.text_part(text);
        self.end_text();
    }

    /// Opens a string that comes in parts.
    pub fn begin_text(&mut self) {
        self.before_value();
        self.put(b"\"");
    }

    /// The next part of an open string, cut at character boundaries.
    pub fn text_part(&mut self, text: &[u8]) {
        self.escape(text);
    }

    /// Closes a string that came in parts.
    pub fn end_text(&mut self) {
        self.put(b"\"");
    }

    /// Text without escapes is copied as it is; the rest is escaped in
    /// pieces, so that the buffer stays small.
    fn escape(&mut self, text: &[u8]) {
        let plain = super::scan::escaped(text);
        if plain == text.len() {
            self.put(text);
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let cut = piece(rest, FLUSH_AT);
            let (now, later) = rest.split_at(cut);
            append_escaped(&mut self.buffer, now);
            if self.buffer.len() >= FLUSH_AT {
                self.flush();
            }
            rest = later;
        }
    }

    /// `null`
    pub fn null(&mut self) {
        self.before_value();
        self.put(b"null");
    }

    /// `true` or `false`
    pub fn bool(&mut self, value: bool) {
        self.before_value();
        self.put(if value { b"true" } else { b"false" });
    }

    /// A number as ECMAScript prints it; not finite is a caller's mistake.
    pub fn number(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        self.before_value();
        append_number(&mut self.buffer, value);
    }

    /// A whole number; beyond 2^53-1 it is written as its nearest double.
    pub fn u64(&mut self, value: u64) {
        if value > MAX_SAFE_INTEGER {
            self.number(value as f64);
            return;
        }
        self.before_value();
        append_integer(&mut self.buffer, value);
    }

    /// A digest in hexadecimal behind a prefix: `ev_0123...`.
    pub fn id(&mut self, prefix: &str, digest: &Digest) {
        self.before_value();
        let mut hex = [0u8; 64];
        digest.write_hex(&mut hex);
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(prefix.as_bytes());
        self.buffer.extend_from_slice(&hex);
        self.put(b"\"");
    }
}

/// Where to cut `text` after at most `most` bytes without cutting a character.
fn piece(text: &[u8], most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let mut cut = most;
    while cut > most - 4 && text.get(cut).is_some_and(|&byte| byte & 0xC0 == 0x80) {
        cut -= 1;
    }
    cut
}

/// Appends a finite number as ECMAScript prints it (RFC 8785 section 3.2.2.3).
pub(crate) fn append_number(out: &mut Vec<u8>, value: f64) {
    if (0.0..=MAX_SAFE_INTEGER as f64).contains(&value) && value.fract() == 0.0 {
        // Most numbers in records are sizes and counts.
        return append_integer(out, value as u64);
    }
    let mut buffer = ryu_js::Buffer::new();
    // ECMAScript prints -0 as 0.
    let value = if value == 0.0 { 0.0 } else { value };
    out.extend_from_slice(buffer.format(value).as_bytes());
}

/// Appends decimal digits.
fn append_integer(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0u8; 20];
    let mut length = 0;
    let mut rest = value;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        length += 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - length..).unwrap_or_default());
}

/// Appends the inside of a canonical string (RFC 8785 section 3.2.2.2), lone
/// surrogates as `\udxxx`.
pub(crate) fn append_escaped(out: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(super::scan::escaped(rest));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else {
            return;
        };
        rest = after;
        if byte == 0xED {
            match *special {
                [_, second, third, ..] if second >= 0xA0 => {
                    let unit = 0xD000 | (u16::from(second & 0x3F) << 6) | u16::from(third & 0x3F);
                    out.extend_from_slice(b"\\u");
                    out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from((unit >> shift) & 15)]));
                    rest = special.get(3..).unwrap_or_default();
                }
                _ => out.push(byte),
            }
            continue;
        }
        let short = match byte {
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            b'"' | b'\\' => byte,
            _ => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                out.extend([b'\\', b'u', b'0', b'0', HEX[high], HEX[low]]);
                continue;
            }
        };
        out.extend([b'\\', short]);
    }
}

/// 2^53-1, the largest whole number that every JSON reader keeps exactly.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
