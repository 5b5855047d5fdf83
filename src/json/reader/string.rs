//! Strings: RFC 8259 section 7, decoded to WTF-8 part by part.

use std::io::Read;

use super::super::error::{ReadError, ReadErrorKind};
use super::super::scan;
use super::buffer::Buffer;

/// Decoded text is handed on when this much of it has come together.
const PART: usize = 16 * 1024;

/// Where the bytes of a part are.
pub(super) enum Part {
    /// In the buffer, as they were written.
    Buffer { from: usize, to: usize, last: bool },
    /// Decoded, in the scratch space.
    Scratch { last: bool },
}

/// Reads the next part of the string whose opening quote is consumed.
pub(super) fn part<R: Read>(
    buffer: &mut Buffer<R>,
    scratch: &mut Vec<u8>,
) -> Result<Part, ReadError> {
    scratch.clear();
    loop {
        let rest = buffer.rest();
        let run = scan::special(rest);
        let Some(&stop) = rest.get(run.len) else {
            match open_run(buffer, scratch, run)? {
                Some(part) => return Ok(part),
                None => continue,
            }
        };
        check_utf8(buffer, run)?;
        match stop {
            b'"' => return Ok(close(buffer, scratch, run.len)),
            b'\\' if scratch.is_empty() && run.len >= PART => {
                return Ok(take(buffer, run.len, false));
            }
            b'\\' => {
                scratch.extend_from_slice(buffer.rest().get(..run.len).unwrap_or_default());
                buffer.consume(run.len);
                escape(buffer, scratch)?;
                if scratch.len() >= PART {
                    return Ok(Part::Scratch { last: false });
                }
            }
            _ => {
                return Err(syntax(
                    buffer,
                    run.len,
                    "a control character stands in a string without an escape",
                ));
            }
        }
    }
}

/// The string goes on behind the buffer's end: hands on what is there.
fn open_run<R: Read>(
    buffer: &mut Buffer<R>,
    scratch: &mut Vec<u8>,
    run: scan::Run,
) -> Result<Option<Part>, ReadError> {
    let complete = if run.ascii {
        run.len
    } else {
        complete_utf8(buffer, run.len)?
    };
    if complete == 0 {
        if !buffer.fill()? {
            return Err(syntax(buffer, run.len, "the input ends inside a string"));
        }
        return Ok(None);
    }
    if scratch.is_empty() {
        return Ok(Some(take(buffer, complete, false)));
    }
    scratch.extend_from_slice(buffer.rest().get(..complete).unwrap_or_default());
    buffer.consume(complete);
    Ok((scratch.len() >= PART).then_some(Part::Scratch { last: false }))
}

fn take<R: Read>(buffer: &mut Buffer<R>, len: usize, last: bool) -> Part {
    let from = buffer.position();
    buffer.consume(len + usize::from(last));
    Part::Buffer {
        from,
        to: from + len,
        last,
    }
}

fn close<R: Read>(buffer: &mut Buffer<R>, scratch: &mut Vec<u8>, len: usize) -> Part {
    if scratch.is_empty() {
        return take(buffer, len, true);
    }
    scratch.extend_from_slice(buffer.rest().get(..len).unwrap_or_default());
    buffer.consume(len + 1);
    Part::Scratch { last: true }
}

/// Checks a run that ends at a quote or backslash.
fn check_utf8<R: Read>(buffer: &Buffer<R>, run: scan::Run) -> Result<(), ReadError> {
    if run.ascii {
        return Ok(());
    }
    let bytes = buffer.rest().get(..run.len).unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(not_utf8(buffer, error.valid_up_to())),
    }
}

/// How many of the next `len` bytes are complete characters.
fn complete_utf8<R: Read>(buffer: &Buffer<R>, len: usize) -> Result<usize, ReadError> {
    let bytes = buffer.rest().get(..len).unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(len),
        Err(error) if error.error_len().is_none() => Ok(error.valid_up_to()),
        Err(error) => Err(not_utf8(buffer, error.valid_up_to())),
    }
}

fn not_utf8<R: Read>(buffer: &Buffer<R>, ahead: usize) -> ReadError {
    syntax(buffer, ahead, "a string is not UTF-8")
}

/// Decodes one escape, whose backslash is the next byte.
fn escape<R: Read>(buffer: &mut Buffer<R>, out: &mut Vec<u8>) -> Result<(), ReadError> {
    if !buffer.require(2)? {
        return Err(syntax(buffer, 1, "the input ends inside an escape"));
    }
    let byte = match buffer.rest().get(1) {
        Some(b'"') => b'"',
        Some(b'\\') => b'\\',
        Some(b'/') => b'/',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0C,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => return unicode_escape(buffer, out),
        _ => return Err(syntax(buffer, 1, "an escape is none that JSON has")),
    };
    buffer.consume(2);
    out.push(byte);
    Ok(())
}

/// `\uXXXX`, together with a second one where they are a surrogate pair; a
/// surrogate without its partner is kept as WTF-8.
fn unicode_escape<R: Read>(buffer: &mut Buffer<R>, out: &mut Vec<u8>) -> Result<(), ReadError> {
    if !buffer.require(6)? {
        return Err(syntax(buffer, 2, "the input ends inside an escape"));
    }
    let unit = code_unit(buffer.rest().get(2..6)).ok_or_else(|| {
        syntax(
            buffer,
            2,
            "an escape \\u is not followed by four hexadecimal digits",
        )
    })?;
    if (0xD800..0xDC00).contains(&unit) && starts_escape(buffer)? {
        let low = code_unit(buffer.rest().get(8..12));
        if let Some(low @ 0xDC00..0xE000) = low {
            let point = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            push_point(point, out);
            buffer.consume(12);
            return Ok(());
        }
    }
    push_point(unit, out);
    buffer.consume(6);
    Ok(())
}

/// Whether another `\uXXXX` stands behind the one that comes next.
fn starts_escape<R: Read>(buffer: &mut Buffer<R>) -> Result<bool, ReadError> {
    if !buffer.require(7)? || buffer.rest().get(6) != Some(&b'\\') {
        return Ok(false);
    }
    Ok(buffer.require(12)? && buffer.rest().get(7) == Some(&b'u'))
}

fn code_unit(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}

/// Appends a code point, surrogates included, by the scheme of UTF-8.
fn push_point(point: u32, out: &mut Vec<u8>) {
    let tail = |shift: u32| 0x80 | (point >> shift & 0x3F) as u8;
    match point {
        0..0x80 => out.push(point as u8),
        0x80..0x800 => out.extend([0xC0 | (point >> 6) as u8, tail(0)]),
        0x800..0x1_0000 => out.extend([0xE0 | (point >> 12) as u8, tail(6), tail(0)]),
        _ => out.extend([0xF0 | (point >> 18) as u8, tail(12), tail(6), tail(0)]),
    }
}

fn syntax<R: Read>(buffer: &Buffer<R>, ahead: usize, message: &str) -> ReadError {
    ReadError::new(ReadErrorKind::Syntax, buffer.place_after(ahead), message)
}
