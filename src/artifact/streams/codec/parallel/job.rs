//! The decoding of one block, on a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use liblzma::stream::{Action, Status};

use super::super::Feed;
use super::super::xz::{self, HEADER};
use super::walk::Block;
use crate::artifact::options::Options;
use crate::artifact::source::Source;

/// Blocks that expand to less are decoded by the caller's thread.
const SMALL: u64 = 128 << 10;
/// Bytes that a block is handed over in.
const PORTION: usize = 256 << 10;

/// A block on its way.
pub(super) struct Job {
    pub memory: u64,
    pub dictionary: u64,
    pub work: Work,
}

pub(super) enum Work {
    Thread(JoinHandle<Option<()>>, Receiver<Part>),
    /// Not worth a thread; `None` once it is done.
    Here(Option<Task>),
}

/// What a block comes in. One that breaks off without its end is not as its
/// header says.
pub(super) enum Part {
    Bytes(Vec<u8>),
    /// It was as its header says, and its check fits.
    End,
}

impl Job {
    pub fn next(&mut self) -> Option<Part> {
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
pub(super) struct Task {
    pub source: Source,
    pub options: Options,
    pub header: [u8; HEADER],
    pub block: Block,
    pub spare: Spare,
    pub stop: Arc<AtomicBool>,
}

/// Portions that were delivered, to be filled again: given back to the
/// allocator by another thread than asked for them, they would pile up there.
#[derive(Clone, Default)]
pub(super) struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spare {
    pub fn put(&self, mut portion: Vec<u8>) {
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
    pub fn start(self) -> Job {
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
