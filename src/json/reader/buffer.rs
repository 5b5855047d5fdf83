//! The window of the input that the reader looks at.

use std::io::{self, Read};

use super::super::error::{Place, ReadError, ReadErrorKind};

/// A refillable buffer. Bytes from `at` on are kept by a refill, so a token
/// that must be seen whole is not consumed before it is complete.
pub(super) struct Buffer<R> {
    pub(super) input: R,
    bytes: Vec<u8>,
    at: usize,
    end: usize,
    /// Offset in the input of the first byte of `bytes`.
    base: u64,
    ended: bool,
    max_input_bytes: u64,
    /// Line feeds consumed, and the offset behind the last of them.
    line_feeds: u64,
    line_start: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(input: R, size: usize, max_input_bytes: u64) -> Self {
        Self {
            input,
            bytes: vec![0; size.max(1)],
            at: 0,
            end: 0,
            base: 0,
            ended: false,
            max_input_bytes,
            line_feeds: 0,
            line_start: 0,
        }
    }

    /// The bytes that are there and not consumed.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..self.end).unwrap_or_default()
    }

    /// Consumed bytes that are still in the buffer, by the positions that
    /// [`Buffer::position`] gave.
    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Where the next byte stands in the buffer; good until the next refill.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.end);
    }

    /// Offset of the next byte in the input.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(super) fn place(&self) -> Place {
        self.place_after(0)
    }

    /// The place `ahead` bytes from here, on the same line.
    pub(super) fn place_after(&self, ahead: usize) -> Place {
        let offset = self.offset() + ahead as u64;
        Place {
            offset,
            line: self.line_feeds + 1,
            column: offset.saturating_sub(self.line_start) + 1,
        }
    }

    /// Skips RFC 8259 white space; the next byte, or `None` at the end.
    #[inline]
    pub(super) fn skip_space(&mut self) -> Result<Option<u8>, ReadError> {
        // Between tokens there is mostly no space.
        match self.rest().first() {
            Some(&byte) if byte > b' ' => Ok(Some(byte)),
            _ => self.skip_more_space(),
        }
    }

    fn skip_more_space(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            let rest = self.rest();
            let space = rest.iter().take_while(|&&b| is_space(b)).count();
            let next = rest.get(space).copied();
            let (feeds, last) = line_feeds(rest.get(..space).unwrap_or_default());
            self.line_feeds += feeds;
            if let Some(last) = last {
                self.line_start = self.offset() + last as u64 + 1;
            }
            self.at += space;
            if next.is_some() || !self.fill()? {
                return Ok(next);
            }
        }
    }

    /// Reads until at least `count` bytes are there; false where it ends first.
    pub(super) fn require(&mut self, count: usize) -> Result<bool, ReadError> {
        while self.end - self.at < count {
            if !self.fill()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads more behind what is not consumed; false at the end of the input.
    pub(super) fn fill(&mut self) -> Result<bool, ReadError> {
        if self.ended {
            return Ok(false);
        }
        if self.at > 0 {
            self.bytes.copy_within(self.at..self.end, 0);
            self.base += self.at as u64;
            self.end -= self.at;
            self.at = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        let count = self.read_some()?;
        self.end += count;
        self.ended = count == 0;
        if self.base + self.end as u64 > self.max_input_bytes {
            let maximum = self.max_input_bytes;
            return Err(ReadError::resource(
                "input-bytes",
                maximum,
                self.place(),
                format!("it is longer than the {maximum} bytes that may be read"),
            ));
        }
        Ok(count > 0)
    }

    fn read_some(&mut self) -> Result<usize, ReadError> {
        let room = self.bytes.get_mut(self.end..).unwrap_or_default();
        loop {
            match self.input.read(room) {
                Ok(count) => return Ok(count.min(room.len())),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let place = self.place();
                    return Err(ReadError::new(ReadErrorKind::Io(error), place, ""));
                }
            }
        }
    }

    /// Goes on at an earlier place, to which the caller has moved the input.
    pub(super) fn restart(&mut self, place: Place) {
        self.at = 0;
        self.end = 0;
        self.base = place.offset;
        self.ended = false;
        self.line_feeds = place.line.saturating_sub(1);
        self.line_start = (place.offset + 1).saturating_sub(place.column);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// How many line feeds there are, and where the last one is.
fn line_feeds(space: &[u8]) -> (u64, Option<usize>) {
    let mut feeds = memchr::memchr_iter(b'\n', space);
    let last = feeds.next_back();
    (feeds.count() as u64 + u64::from(last.is_some()), last)
}
