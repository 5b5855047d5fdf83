//! Compressed streams: each a sequence of units (gzip members, xz streams,
//! bzip2 streams, zstd frames) that together are one stream of plain bytes.
//!
//! [`Units`] walks the sequence: zero padding between units is skipped, other
//! bytes after the first are damage, told once all good bytes were delivered
//! (decision 18). A codec file only knows how one unit starts, decodes and
//! ends.

mod bzip2;
mod gzip;
mod xz;
mod zstd;

use super::Decoder;
use crate::artifact::containers::{Damage, Fault};
use crate::artifact::format::Format;
use crate::artifact::options::Options;
use crate::artifact::source::Source;

pub(crate) use xz::is_lzma_header;

/// A decoder for a compressed format.
pub(crate) fn decoder(
    format: Format,
    source: &Source,
    options: &Options,
    threads: usize,
) -> Result<Box<dyn Decoder>, Fault> {
    Ok(match format {
        Format::Gzip => Box::new(Units::new(source, gzip::Gzip::new(options))),
        Format::Bzip2 => Box::new(Units::new(source, bzip2::Bzip2::default())),
        Format::Zstd => Box::new(Units::new(source, zstd::Zstd::new(options)?)),
        Format::Xz => Box::new(Units::new(source, xz::Xz::new(options, threads, false))),
        Format::Lzma => Box::new(Units::new(source, xz::Xz::new(options, threads, true))),
        _ => return Err(Damage::format(0, "no decoder for this format").into()),
    })
}

/// What one step of a codec came to.
struct Step {
    consumed: usize,
    produced: usize,
    /// Whether the unit is complete.
    ended: bool,
}

/// One kind of unit.
trait Codec: Send {
    /// Reads what stands in front of a unit's data. `false` where the bytes
    /// do not start one.
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault>;
    /// Decodes some of the unit. `last` says that no input follows.
    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Step, &'static str>;
    /// Reads and checks what stands behind a unit's data.
    fn finish(&mut self, _feed: &mut Feed) -> Result<(), Fault> {
        Ok(())
    }
    /// A fault that stands for an error of [`Codec::step`], other than damage.
    fn fault(&self) -> Option<Fault> {
        None
    }
    /// What a unit is called in messages.
    fn name(&self) -> &'static str;
    /// Whether other units may follow.
    fn repeats(&self) -> bool {
        true
    }
}

/// Compressed bytes with look-ahead.
struct Feed {
    source: Source,
    /// Offset of what comes after the buffer.
    next: u64,
    buffer: Vec<u8>,
    start: usize,
}

impl Feed {
    const STEP: usize = 128 << 10;

    fn new(source: &Source) -> Self {
        Self {
            source: source.clone(),
            next: 0,
            buffer: Vec::new(),
            start: 0,
        }
    }

    fn position(&self) -> u64 {
        self.next - (self.buffer.len() - self.start) as u64
    }

    /// At least `want` bytes, fewer only at the end.
    fn peek(&mut self, want: usize) -> Result<&[u8], Fault> {
        while self.buffer.len() - self.start < want && self.next < self.source.len() {
            self.buffer.drain(..self.start);
            self.start = 0;
            let kept = self.buffer.len();
            let room = Self::STEP.max(want) - kept.min(Self::STEP.max(want));
            self.buffer.resize(kept + room.max(1), 0);
            let count = self.source.read_at(self.next, &mut self.buffer[kept..])?;
            self.buffer.truncate(kept + count);
            self.next += count as u64;
            if count == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
        }
        Ok(&self.buffer[self.start..])
    }

    fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.buffer.len());
    }

    fn is_last(&self) -> bool {
        self.next >= self.source.len()
    }
}

enum State {
    Between,
    Inside,
    Behind,
    Ended,
    Failed(Fault),
}

/// A sequence of units as one stream.
struct Units<C> {
    feed: Feed,
    codec: C,
    state: State,
    first: bool,
    /// Steps in a row that neither consumed nor produced anything.
    idle: u32,
}

impl<C: Codec> Units<C> {
    fn new(source: &Source, codec: C) -> Self {
        Self {
            feed: Feed::new(source),
            codec,
            state: State::Between,
            first: true,
            idle: 0,
        }
    }

    fn between(&mut self) -> Result<State, Fault> {
        if !self.first {
            loop {
                let bytes = self.feed.peek(1)?;
                if bytes.is_empty() {
                    return Ok(State::Ended);
                }
                let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
                if zeros == 0 {
                    break;
                }
                self.feed.consume(zeros);
            }
        }
        let at = self.feed.position();
        if (self.first || self.codec.repeats()) && self.codec.start(&mut self.feed)? {
            self.first = false;
            self.idle = 0;
            return Ok(State::Inside);
        }
        let text = if self.first {
            format!("no {} starts here", self.codec.name())
        } else {
            format!("other bytes follow the last {}", self.codec.name())
        };
        Err(Damage::format(at, text).into())
    }

    fn inside(&mut self, output: &mut [u8]) -> Result<usize, Fault> {
        let input = self.feed.peek(1)?;
        let have = input.len();
        let last = self.feed.is_last();
        let input = &self.feed.buffer[self.feed.start..];
        let step = match self.codec.step(input, output, last) {
            Ok(step) => step,
            Err(text) => {
                let damage = Damage::format(self.feed.position(), text);
                return Err(self.codec.fault().unwrap_or_else(|| damage.into()));
            }
        };
        self.feed.consume(step.consumed);
        if step.ended {
            self.state = State::Behind;
        } else if step.consumed == 0 && step.produced == 0 {
            self.idle += 1;
            if last && self.idle > 1 && have == 0 || self.idle > 8 {
                let text = format!("the {} is cut", self.codec.name());
                return Err(Damage::format(self.feed.position(), text).into());
            }
        } else {
            self.idle = 0;
        }
        Ok(step.produced)
    }
}

impl<C: Codec> Decoder for Units<C> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        loop {
            let next = match &self.state {
                State::Failed(fault) => return Err(fault.clone()),
                State::Ended => return Ok(0),
                State::Between => self.between(),
                State::Behind => self.codec.finish(&mut self.feed).map(|()| State::Between),
                State::Inside => match self.inside(buffer) {
                    Ok(0) => continue,
                    Ok(count) => return Ok(count),
                    Err(fault) => Err(fault),
                },
            };
            self.state = next.unwrap_or_else(State::Failed);
        }
    }
}
