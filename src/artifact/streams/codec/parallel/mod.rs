//! xz streams of several blocks, decoded by several threads.
//!
//! Encoders that use threads say in each block's header how long it is, so
//! the next one is found without decoding. The first block is delivered while
//! it is decoded, those after it wait in memory. Anything else (sizes that are
//! not told, large blocks, damage, the last stream's end) is left to
//! [`Units`], which starts again at the stream's header and drops what was
//! delivered: it alone decides what is damage and where.

mod job;
mod walk;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::xz::Xz;
use super::{ROOM, Units};
use crate::artifact::containers::{Damage, Fault};
use crate::artifact::options::Options;
use crate::artifact::source::Source;
use crate::artifact::streams::Decoder;
use job::{Job, Part, Spare, Task, Work};
use walk::Walk;

/// Memory of all blocks that are being decoded or wait to be delivered.
const MEMORY: u64 = 48 << 20;
/// How much the first block is reckoned to hold beside its dictionary: its
/// bytes are taken faster than they are made.
const FIRST: u64 = 2 << 20;

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
        let codec = Xz::new(&self.options);
        let units = Units::from(&self.source, stream, codec, &self.options);
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
        // There is room for another block only where the first one changes.
        if self.first.is_none() {
            self.fill();
            self.first = self.jobs.pop_front();
            self.memory -= self.first.as_ref().map_or(0, |job| job.memory);
            self.fill();
        }
        let State::Inside(walk) = &self.state else {
            return;
        };
        let start = walk.start;
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

    fn contradiction(&mut self) -> Option<Damage> {
        match &mut self.state {
            State::Serial(units, _) => units.contradiction(),
            _ => None,
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.end_jobs();
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
        let one = all(&mut Units::new(&source, Xz::new(&options), &options));
        let many = all(&mut Blocks::new(&source, &options, 3));
        assert!(one == many, "{} {}", one.1, many.1);
    }

    const BLOCKS: &[u8] = include_bytes!("../../../../../tests/data/codecs/blocks.xz");
    const BIG: &[u8] = include_bytes!("../../../../../tests/data/codecs/big.xz");
    const TWO: &[u8] = include_bytes!("../../../../../tests/data/codecs/two.xz");

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
