//! xz streams of several blocks, decoded by several threads.
//!
//! Encoders that use threads say in each block's header how long it is, so
//! the next one is found without decoding. The first block is delivered while
//! it is decoded, those after it wait in memory. Anything else (sizes that are not told,
//! large blocks, damage, the last stream's end) is left to [`Units`], which
//! starts again at the stream's header and drops what was delivered: it alone
//! decides what is damage and where.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use liblzma::stream::{Action, Status};
use sha2::{Digest, Sha256};

use super::xz::{self, HEADER, MAGIC, Xz};
use super::{Feed, ROOM, Units};
use crate::artifact::containers::Fault;
use crate::artifact::options::Options;
use crate::artifact::source::Source;
use crate::artifact::streams::Decoder;

/// Blocks that expand to less are decoded by the caller's thread.
const SMALL: u64 = 128 << 10;
/// Memory of all blocks that are being decoded or wait to be delivered.
const MEMORY: u64 = 48 << 20;
/// Bytes that a block is handed over in, and how many of them the first block
/// is reckoned to hold: they are taken faster than they are made.
const PORTION: usize = 256 << 10;
const FIRST: u64 = 2 << 20;
const LZMA2: u64 = 0x21;

/// One xz file.
pub(super) struct Blocks {
    source: Source,
    options: Options,
    threads: usize,
    state: State,
    /// The block that is delivered.
    first: Option<Job>,
    /// Those after it.
    jobs: VecDeque<Job>,
    /// Memory of the blocks in `jobs`.
    memory: u64,
    /// Decoded bytes, and how many of them were delivered.
    ready: Vec<u8>,
    taken: usize,
    /// Bytes of the stream at hand that came out of its blocks.
    decoded: u64,
    spare: Spare,
    stop: Arc<AtomicBool>,
}

enum State {
    /// At a stream, or at the end.
    At(u64),
    Inside(Walk),
    /// The rest, one byte after the other; so many of them are known.
    Serial(Box<Units<Xz>>, u64),
}

impl Blocks {
    pub fn new(source: &Source, options: &Options, threads: usize) -> Self {
        Self {
            source: source.clone(),
            options: options.clone(),
            threads,
            state: State::At(0),
            first: None,
            jobs: VecDeque::new(),
            memory: 0,
            ready: Vec::new(),
            taken: 0,
            decoded: 0,
            spare: Spare::default(),
            stop: Arc::default(),
        }
    }

    /// Starts as many blocks as memory and threads allow.
    fn fill(&mut self) {
        let State::Inside(walk) = &mut self.state else {
            return;
        };
        let first = self.first.as_ref().map_or(0, |job| job.dictionary + FIRST);
        while self.jobs.len() < self.threads {
            let Some(block) = walk.block(&self.source) else {
                return;
            };
            let is_first = self.first.is_none() && self.jobs.is_empty();
            if !is_first && first + self.memory + block.memory() > MEMORY {
                return;
            }
            walk.pass(&block);
            self.memory += block.memory();
            let task = Task {
                source: self.source.clone(),
                options: self.options.clone(),
                header: walk.header,
                block,
                spare: self.spare.clone(),
                stop: Arc::clone(&self.stop),
            };
            self.jobs.push_back(task.start());
        }
    }

    /// Ends the work in advance and goes on in sequence from `stream`.
    fn go_serial(&mut self, stream: u64) {
        self.end_jobs();
        let units = Units::from(&self.source, stream, Xz::new(&self.options));
        self.state = State::Serial(Box::new(units), self.decoded);
    }

    fn end_jobs(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for job in self.first.take().into_iter().chain(self.jobs.drain(..)) {
            if let Work::Thread(thread, _) = job.work {
                // Only its end matters, not what it found.
                drop(thread.join());
            }
        }
        self.memory = 0;
    }

    /// The next bytes, or the state that follows the last block.
    fn advance(&mut self) {
        self.spare.put(std::mem::take(&mut self.ready));
        self.taken = 0;
        self.fill();
        let State::Inside(walk) = &self.state else {
            return;
        };
        let start = walk.start;
        if self.first.is_none() {
            self.first = self.jobs.pop_front();
            self.memory -= self.first.as_ref().map_or(0, |job| job.memory);
        }
        if let Some(job) = &mut self.first {
            match job.next() {
                Some(Part::Bytes(bytes)) => {
                    self.decoded += bytes.len() as u64;
                    self.ready = bytes;
                }
                Some(Part::End) => self.first = None,
                None => self.go_serial(start),
            }
            return;
        }
        match walk.end(&self.source) {
            Some(end) => {
                self.state = State::At(end);
                self.decoded = 0;
            }
            None => self.go_serial(start),
        }
    }
}

impl Decoder for Blocks {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        loop {
            let rest = &self.ready[self.taken..];
            if !rest.is_empty() {
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                self.taken += count;
                return Ok(count);
            }
            match &mut self.state {
                State::At(at) => {
                    let at = *at;
                    match Walk::start(&self.source, at) {
                        Some(walk) => self.state = State::Inside(walk),
                        None => self.go_serial(at),
                    }
                }
                State::Inside(_) => self.advance(),
                State::Serial(units, 0) => return units.read(buffer),
                State::Serial(units, known) => {
                    let mut room = vec![0; ROOM];
                    let most = usize::try_from(*known).map_or(ROOM, |known| known.min(ROOM));
                    match units.read(&mut room[..most])? {
                        0 => *known = 0,
                        count => *known -= count as u64,
                    }
                }
            }
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.end_jobs();
    }
}

/// A block whose place and sizes are known.
#[derive(Clone)]
struct Block {
    at: u64,
    end: u64,
    /// As the index has it: without padding.
    unpadded: u64,
    size: u64,
    dictionary: u64,
}

impl Block {
    fn memory(&self) -> u64 {
        self.size + self.dictionary
    }
}

/// A stream whose blocks are found one after the other.
struct Walk {
    start: u64,
    header: [u8; HEADER],
    check: u64,
    next: u64,
    count: u64,
    /// Of the sizes of all blocks so far, to be compared with the index.
    records: Sha256,
}

impl Walk {
    /// Where a stream starts with two blocks whose sizes are told.
    fn start(source: &Source, at: u64) -> Option<Self> {
        let header: [u8; HEADER] = source.read_vec(at, HEADER).ok()?.try_into().ok()?;
        let [.., a, b, c, d] = header;
        let check = match header[6..8] {
            [0, 0] => 0,
            [0, 1] => 4,
            [0, 4] => 8,
            [0, 10] => 32,
            _ => return None,
        };
        if !header.starts_with(MAGIC)
            || crc32fast::hash(&header[6..8]) != u32::from_le_bytes([a, b, c, d])
        {
            return None;
        }
        let mut walk = Self {
            start: at,
            header,
            check,
            next: at + HEADER as u64,
            count: 0,
            records: Sha256::new(),
        };
        let first = walk.block(source)?;
        let start = std::mem::replace(&mut walk.next, first.end);
        walk.block(source)?;
        walk.next = start;
        Some(walk)
    }

    /// The block that is next, if it is one to decode here.
    fn block(&self, source: &Source) -> Option<Block> {
        let mut room = [0; 1024];
        let got = source.read_at(self.next, &mut room).ok()?;
        let len = match room[0] {
            0 => return None,
            words => (usize::from(words) + 1) * 4,
        };
        let (body, crc) = room.get(..len.min(got))?.split_last_chunk::<4>()?;
        if body.len() + 4 < len || crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        let (&flags, mut rest) = body.get(1..)?.split_first()?;
        if flags & 0xFC != 0xC0 {
            return None;
        }
        let compressed = number(&mut rest)?;
        let size = number(&mut rest)?;
        let mut dictionary = 0;
        for _ in 0..=flags & 3 {
            let id = number(&mut rest)?;
            let len = usize::try_from(number(&mut rest)?).ok()?;
            let (properties, others) = rest.split_at_checked(len)?;
            rest = others;
            if id == LZMA2 {
                dictionary = dictionary_size(*properties.first()?)?;
            }
        }
        let data = (len as u64).checked_add(compressed)?;
        let end = data
            .checked_next_multiple_of(4)?
            .checked_add(self.check)?
            .checked_add(self.next)?;
        // It has to fit beside one of its kind that is delivered.
        let both = size.checked_add(dictionary.checked_mul(2)?)?;
        (end <= source.len() && both.checked_add(FIRST)? <= MEMORY).then_some(Block {
            at: self.next,
            end,
            unpadded: data + self.check,
            size,
            dictionary,
        })
    }

    fn pass(&mut self, block: &Block) {
        self.next = block.end;
        self.count += 1;
        self.records.update(block.unpadded.to_le_bytes());
        self.records.update(block.size.to_le_bytes());
    }

    /// Where the stream ends, if what follows the blocks is an index that
    /// says the same of them, and the footer.
    fn end(&self, source: &Source) -> Option<u64> {
        let mut index = Index {
            feed: Feed::new(source, self.next),
            crc: crc32fast::Hasher::new(),
            len: 0,
        };
        let mut records = Sha256::new();
        if index.byte()? != 0 || index.number()? != self.count {
            return None;
        }
        for _ in 0..self.count {
            records.update(index.number()?.to_le_bytes());
            records.update(index.number()?.to_le_bytes());
        }
        if records.finalize() != self.records.clone().finalize() {
            return None;
        }
        while !index.len.is_multiple_of(4) {
            if index.byte()? != 0 {
                return None;
            }
        }
        let crc = index.crc.finalize();
        let (behind, footer) = index
            .feed
            .peek(16)
            .ok()?
            .get(..16)?
            .split_first_chunk::<4>()?;
        let (footer_crc, footer) = footer.split_first_chunk::<4>()?;
        let fields = footer.get(..6)?;
        let backward = u32::from_le_bytes(*fields.first_chunk::<4>()?);
        let fits = u32::from_le_bytes(*behind) == crc
            && u32::from_le_bytes(*footer_crc) == crc32fast::hash(fields)
            && (u64::from(backward) + 1) * 4 == index.len + 4
            && fields[4..] == self.header[6..8]
            && footer.ends_with(b"YZ");
        fits.then(|| index.feed.position() + 16)
    }
}

struct Index {
    feed: Feed,
    crc: crc32fast::Hasher,
    len: u64,
}

impl Index {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.feed.peek(1).ok()?.first()?;
        self.pass(1);
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let seen = self.feed.peek(9).ok()?;
        let mut rest = seen;
        let value = number(&mut rest)?;
        let len = seen.len() - rest.len();
        self.pass(len);
        Some(value)
    }

    fn pass(&mut self, len: usize) {
        self.crc.update(&self.feed.seen()[..len]);
        self.feed.consume(len);
        self.len += len as u64;
    }
}

/// A number of up to nine bytes with seven bits each (section 1.2).
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return (byte != 0 || place == 0).then_some(value);
        }
    }
    None
}

/// The dictionary of the LZMA2 filter (section 5.3.1).
fn dictionary_size(bits: u8) -> Option<u64> {
    match bits {
        0..40 => Some((2 | u64::from(bits & 1)) << (bits / 2 + 11)),
        40 => Some(u64::from(u32::MAX)),
        _ => None,
    }
}

/// A block on its way.
struct Job {
    memory: u64,
    dictionary: u64,
    work: Work,
}

enum Work {
    Thread(JoinHandle<Option<()>>, Receiver<Part>),
    /// Not worth a thread; `None` once it is done.
    Here(Option<Task>),
}

/// What a block comes in. One that breaks off without its end is not as its
/// header says.
enum Part {
    Bytes(Vec<u8>),
    /// It was as its header says, and its check fits.
    End,
}

impl Job {
    fn next(&mut self) -> Option<Part> {
        match &mut self.work {
            Work::Thread(_, parts) => parts.recv().ok(),
            Work::Here(task) => {
                let Some(task) = task.take() else {
                    return Some(Part::End);
                };
                let (sender, parts) = channel();
                task.decode(&sender)?;
                drop(sender);
                let mut whole = Vec::new();
                for part in parts {
                    if let Part::Bytes(bytes) = part {
                        whole.extend(bytes);
                    }
                }
                Some(Part::Bytes(whole))
            }
        }
    }
}

#[derive(Clone)]
struct Task {
    source: Source,
    options: Options,
    header: [u8; HEADER],
    block: Block,
    spare: Spare,
    stop: Arc<AtomicBool>,
}

/// Portions that were delivered, to be filled again: given back to the
/// allocator by another thread than asked for them, they would pile up there.
#[derive(Clone, Default)]
struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spare {
    fn put(&self, mut portion: Vec<u8>) {
        if portion.capacity() == PORTION {
            portion.clear();
            let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            spare.push(portion);
        }
    }

    fn take(&self) -> Vec<u8> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_else(|| Vec::with_capacity(PORTION))
    }
}

impl Task {
    fn start(self) -> Job {
        let (memory, dictionary) = (self.block.memory(), self.block.dictionary);
        let mut work = None;
        if self.block.size >= SMALL {
            let task = self.clone();
            // As many parts as the block has: it never waits to be the first.
            let (sender, parts) = channel();
            let thread = thread::Builder::new().spawn(move || task.decode(&sender));
            work = thread.ok().map(|thread| Work::Thread(thread, parts));
        }
        Job {
            memory,
            dictionary,
            work: work.unwrap_or(Work::Here(Some(self))),
        }
    }

    /// Hands over the block's bytes, and its end if it is just as its header
    /// says.
    fn decode(&self, parts: &Sender<Part>) -> Option<()> {
        let region = self.source.region(0, self.block.end)?;
        let mut stream = xz::stream(&self.options, 0).ok()?;
        let mut output = self.spare.take();
        let mut made = 0;
        stream.process(&self.header, &mut [], Action::Run).ok()?;
        let mut feed = Feed::new(&region, self.block.at);
        loop {
            let input = feed.peek(1).ok()?;
            if input.is_empty() {
                break;
            }
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let before = (stream.total_in(), stream.total_out());
            stream.process_vec(input, &mut output, Action::Run).ok()?;
            feed.consume((stream.total_in() - before.0) as usize);
            if before == (stream.total_in(), stream.total_out()) {
                return None;
            }
            made += stream.total_out() - before.1;
            if made > self.block.size {
                return None;
            }
            if output.len() == output.capacity() {
                let full = std::mem::replace(&mut output, self.spare.take());
                parts.send(Part::Bytes(full)).ok()?;
            }
        }
        // Where the decoder takes the first byte of an index, the block is
        // complete and verified.
        let before = stream.total_in();
        let status = stream.process(&[0], &mut [], Action::Run).ok()?;
        let complete = matches!(status, Status::Ok)
            && stream.total_in() == before + 1
            && made == self.block.size;
        if !complete {
            return None;
        }
        if !output.is_empty() {
            parts.send(Part::Bytes(output)).ok()?;
        }
        parts.send(Part::End).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(decoder: &mut dyn Decoder) -> (Vec<u8>, String) {
        let mut output = Vec::new();
        let mut buffer = vec![0; 100_000];
        loop {
            match decoder.read(&mut buffer) {
                Ok(0) => return (output, String::new()),
                Ok(count) => output.extend_from_slice(&buffer[..count]),
                Err(fault) => return (output, format!("{fault:?}")),
            }
        }
    }

    fn same(bytes: &[u8]) {
        let source = Source::memory(bytes.to_vec());
        let options = Options::default();
        let one = all(&mut Units::new(&source, Xz::new(&options)));
        let many = all(&mut Blocks::new(&source, &options, 3));
        assert!(one == many, "{} {}", one.1, many.1);
    }

    const BLOCKS: &[u8] = include_bytes!("../../../../tests/data/codecs/blocks.xz");
    const BIG: &[u8] = include_bytes!("../../../../tests/data/codecs/big.xz");
    const TWO: &[u8] = include_bytes!("../../../../tests/data/codecs/two.xz");

    #[test]
    fn threads_change_nothing() {
        for (file, step) in [(BLOCKS, 1), (TWO, 3), (BIG, 29)] {
            let mut bytes = [file, file].concat();
            same(&bytes);
            for at in (0..bytes.len()).step_by(step) {
                same(&bytes[..at]);
                let bit = 1 << (at % 8);
                bytes[at] ^= bit;
                same(&bytes);
                bytes[at] ^= bit;
            }
        }
    }

    /// Else the test above would compare one way with itself.
    #[test]
    fn a_whole_file_is_walked() {
        let source = Source::memory([BIG, BLOCKS].concat());
        let mut blocks = Blocks::new(&source, &Options::default(), 2);
        let mut buffer = vec![0; 1000];
        let mut walked = 0;
        while let Ok(1..) = blocks.read(&mut buffer) {
            walked += usize::from(matches!(blocks.state, State::Inside(_)));
        }
        assert_eq!(walked, 150 + 48 + 4);
    }
}
