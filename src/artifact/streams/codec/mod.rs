//! Compressed streams: each a sequence of units (gzip members, xz streams,
//! bzip2 streams, zstd frames) that together are one stream of plain bytes.
//!
//! [`Units`] walks the sequence: zero padding between units is skipped, other
//! bytes after the first are damage, told once all good bytes were delivered
//! (decision 18). A codec file only knows how one unit starts, decodes and
//! ends.
//!
//! What comes out, and where a fault is said to be, depends on the compressed
//! bytes alone: libraries are always called with the same pieces, whatever
//! the caller's buffer, and threads ([`parallel`]) only deliver what was
//! checked.

mod bzip2;
mod gzip;
mod parallel;
mod xz;
mod zstd;

use super::Decoder;
use crate::artifact::containers::{Damage, Fault};
use crate::artifact::format::Format;
use crate::artifact::options::{OnDamage, Options};
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
        Format::Gzip => Box::new(Units::new(source, gzip::Gzip::new(options), options)),
        Format::Bzip2 => Box::new(Units::new(source, bzip2::Bzip2::default(), options)),
        Format::Zstd => Box::new(Units::new(source, zstd::Zstd::new(options)?, options)),
        Format::Xz if threads > 1 => Box::new(parallel::Blocks::new(source, options, threads)),
        Format::Xz => Box::new(Units::new(source, xz::Xz::new(options), options)),
        Format::Lzma => Box::new(Units::new(source, xz::Xz::alone(options), options)),
        _ => return Err(Damage::format(0, "no decoder for this format").into()),
    })
}

/// What one step of a codec came to.
struct Step {
    consumed: usize,
    produced: usize,
    then: Then,
}

/// What follows a step.
enum Then {
    /// Another step.
    More,
    /// The end of the unit.
    End,
    /// A fault, behind the bytes that the step produced.
    Broken(Trouble),
}

/// Why a codec cannot go on.
#[derive(Clone, Copy)]
enum Trouble {
    /// The data is malformed.
    Malformed(&'static str),
    /// A checksum does not fit.
    Checksum(&'static str),
    /// It wants a longer history than allowed.
    Window,
    /// There is no memory for the history.
    Memory,
}

/// One kind of unit.
trait Codec: Send {
    /// Reads what stands in front of a unit's data. `false` where the bytes
    /// do not start one.
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault>;
    /// Decodes some of the unit. `last` says that no input follows.
    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Step;
    /// Reads and checks what stands behind a unit's data; all of it was read
    /// where a checksum or size in it contradicts the data.
    fn finish(&mut self, _feed: &mut Feed) -> Result<(), Fault> {
        Ok(())
    }
    /// Tells a failed checksum from malformed data where the library does
    /// not: the unit started at `start` and failed at `at`.
    fn judge(&self, _source: &Source, _start: u64, _at: u64, trouble: Trouble) -> Trouble {
        trouble
    }
    /// From the next unit on, checksums of the data count no more. `false`
    /// where the library cannot do without.
    fn ignore_checks(&mut self) -> bool {
        false
    }
    /// The most history that it may keep.
    fn window_limit(&self) -> Option<Fault> {
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
    end: usize,
}

impl Feed {
    /// Bytes in one read, and the most that can be looked ahead.
    const STEP: usize = 256 << 10;

    fn new(source: &Source, at: u64) -> Self {
        let rest = source.len().saturating_sub(at);
        let size = usize::try_from(rest).map_or(Self::STEP, |rest| rest.min(Self::STEP));
        Self {
            source: source.clone(),
            next: at,
            buffer: vec![0; size],
            start: 0,
            end: 0,
        }
    }

    fn position(&self) -> u64 {
        self.next - (self.end - self.start) as u64
    }

    /// What is in the buffer.
    fn seen(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// At least `want` bytes (at most [`Feed::STEP`]), fewer only at the end.
    fn peek(&mut self, want: usize) -> Result<&[u8], Fault> {
        if self.end - self.start < want && !self.is_last() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            let room = &mut self.buffer[self.end..];
            let rest = self.source.len() - self.next;
            let most = usize::try_from(rest).map_or(room.len(), |rest| rest.min(room.len()));
            let count = self.source.read_at(self.next, &mut room[..most])?;
            if count < most {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            self.end += count;
            self.next += count as u64;
        }
        Ok(self.seen())
    }

    fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    fn skip_zeros(&mut self) -> Result<(), Fault> {
        loop {
            let seen = self.peek(1)?;
            let zeros = seen.iter().take_while(|&&byte| byte == 0).count();
            let more = zeros == seen.len() && zeros > 0;
            self.consume(zeros);
            if !more {
                return Ok(());
            }
        }
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
    /// Where the unit at hand starts.
    unit: u64,
    /// Steps in a row that neither consumed nor produced anything.
    idle: u32,
    /// Bytes for a caller whose buffer is smaller than a step's.
    held: Vec<u8>,
    taken: usize,
    /// Whether bytes are delivered that a checksum contradicts.
    forgives: bool,
    /// The first that does.
    contradiction: Option<Damage>,
    /// Bytes that the unit at hand has come to.
    made: u64,
    /// How many of them are known already, because it was started again.
    known: u64,
}

/// Every step gets room for this many bytes.
const ROOM: usize = 64 << 10;
/// More steps without progress than a library may need.
const MAX_IDLE: u32 = 8;

impl<C: Codec> Units<C> {
    fn new(source: &Source, codec: C, options: &Options) -> Self {
        Self::from(source, 0, codec, options)
    }

    /// From a unit other than the first, or zeros in front of it.
    fn from(source: &Source, at: u64, codec: C, options: &Options) -> Self {
        Self {
            feed: Feed::new(source, at),
            codec,
            state: State::Between,
            first: at == 0,
            unit: at,
            idle: 0,
            held: Vec::new(),
            taken: 0,
            forgives: options.on_damage == OnDamage::Record,
            contradiction: None,
            made: 0,
            known: 0,
        }
    }

    fn between(&mut self) -> Result<State, Fault> {
        if !self.first {
            self.feed.skip_zeros()?;
            if self.feed.peek(1)?.is_empty() {
                return Ok(State::Ended);
            }
        }
        self.unit = self.feed.position();
        if (self.first || self.codec.repeats()) && self.codec.start(&mut self.feed)? {
            self.first = false;
            self.idle = 0;
            self.made = 0;
            return Ok(State::Inside);
        }
        let text = if self.first {
            format!("no {} starts here", self.codec.name())
        } else {
            format!("other bytes follow the last {}", self.codec.name())
        };
        Err(Damage::format(self.unit, text).into())
    }

    /// One step; how much it produced, and the state it leads to.
    fn inside(&mut self, output: &mut [u8]) -> (usize, State) {
        if let Err(fault) = self.feed.peek(1) {
            return (0, State::Failed(fault));
        }
        let last = self.feed.is_last();
        let step = self.codec.step(self.feed.seen(), output, last);
        self.feed.consume(step.consumed);
        self.made += step.produced as u64;
        let state = match step.then {
            Then::More => self.progress(step.consumed + step.produced),
            Then::End => State::Behind,
            Then::Broken(trouble) => self.broken(self.fault(trouble)),
        };
        // Of a unit that was started again, the first bytes were delivered.
        let known = self.known.min(step.produced as u64);
        self.known -= known;
        let known = known as usize;
        output.copy_within(known..step.produced, 0);
        (step.produced - known, state)
    }

    /// What follows a fault: a checksum that contradicts the data is noted
    /// where it may be, and the unit started again without it.
    fn broken(&mut self, fault: Fault) -> State {
        match &fault {
            Fault::Damage(damage) if self.forgives && damage.is_contradiction() => {
                if !self.codec.ignore_checks() {
                    return State::Failed(fault);
                }
                self.contradiction.get_or_insert_with(|| damage.clone());
                self.feed = Feed::new(&self.feed.source, self.unit);
                let made = self.made;
                match self.codec.start(&mut self.feed) {
                    Ok(true) => {
                        self.idle = 0;
                        self.made = 0;
                        self.known = made;
                        State::Inside
                    }
                    _ => State::Failed(fault),
                }
            }
            _ => State::Failed(fault),
        }
    }

    /// What stands behind a unit's data was read.
    fn behind(&mut self, read: Result<(), Fault>) -> Result<State, Fault> {
        match read {
            Err(Fault::Damage(damage)) if self.forgives && damage.is_contradiction() => {
                self.contradiction.get_or_insert(damage);
                Ok(State::Between)
            }
            read => read.map(|()| State::Between),
        }
    }

    fn progress(&mut self, moved: usize) -> State {
        self.idle = if moved > 0 { 0 } else { self.idle + 1 };
        let out_of_input = self.feed.is_last() && self.feed.seen().is_empty();
        let text = match self.idle {
            2.. if out_of_input => format!("the {} is cut", self.codec.name()),
            MAX_IDLE.. => format!("the {} cannot be decoded further", self.codec.name()),
            _ => return State::Inside,
        };
        State::Failed(Damage::format(self.feed.position(), text).into())
    }

    fn fault(&self, trouble: Trouble) -> Fault {
        let at = self.feed.position();
        match self.codec.judge(&self.feed.source, self.unit, at, trouble) {
            Trouble::Malformed(text) => Damage::format(at, text).into(),
            Trouble::Checksum(text) => Damage::integrity(at, text).into(),
            Trouble::Memory => std::io::Error::from(std::io::ErrorKind::OutOfMemory).into(),
            Trouble::Window => self.codec.window_limit().unwrap_or_else(|| {
                Damage::format(at, "it needs more memory than its decoder has").into()
            }),
        }
    }

    /// A step into the caller's buffer where that has the room, else held.
    fn decode(&mut self, buffer: &mut [u8]) -> usize {
        if let Some(room) = buffer.get_mut(..ROOM) {
            let (count, state) = self.inside(room);
            self.state = state;
            return count;
        }
        let mut held = std::mem::take(&mut self.held);
        held.resize(ROOM, 0);
        let (count, state) = self.inside(&mut held);
        held.truncate(count);
        self.held = held;
        self.taken = 0;
        self.state = state;
        self.take_held(buffer)
    }

    fn take_held(&mut self, buffer: &mut [u8]) -> usize {
        let held = &self.held[self.taken..];
        let count = held.len().min(buffer.len());
        buffer[..count].copy_from_slice(&held[..count]);
        self.taken += count;
        count
    }
}

impl<C: Codec> Decoder for Units<C> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.taken < self.held.len() {
            return Ok(self.take_held(buffer));
        }
        loop {
            let next = match &self.state {
                // A contradiction comes before what may follow from it.
                State::Failed(fault) => {
                    let first = self.contradiction.clone().map(Fault::from);
                    return Err(first.unwrap_or_else(|| fault.clone()));
                }
                State::Ended => return Ok(0),
                State::Between => self.between(),
                State::Behind => {
                    let read = self.codec.finish(&mut self.feed);
                    self.behind(read)
                }
                State::Inside => match self.decode(buffer) {
                    0 => continue,
                    count => return Ok(count),
                },
            };
            self.state = next.unwrap_or_else(State::Failed);
        }
    }

    fn contradiction(&mut self) -> Option<Damage> {
        self.contradiction.take()
    }
}
