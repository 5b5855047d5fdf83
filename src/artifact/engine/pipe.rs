//! Plain bytes on their way from the decoder to whoever hashes them: counted
//! against the stream's limits, and through a second thread where it is long.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::Run;
use super::account::RATIO_FROM;
use super::open::StreamSource;
use crate::artifact::containers::{Closing, Damage, Fault, Limit};
use crate::artifact::streams::Decoder;

/// Bytes that a decoding thread hands over at a time, and how many such
/// portions may wait.
const PORTION: usize = 256 << 10;
const PORTIONS: usize = 8;

/// A decoder whose output is counted against the limits of the whole stream.
pub(super) struct Guarded<'a> {
    inner: Box<dyn Decoder>,
    run: &'a Run<'a>,
    compressed: u64,
    output: u64,
}

impl<'a> Guarded<'a> {
    pub fn new(inner: Box<dyn Decoder>, run: &'a Run<'a>, stream: &StreamSource) -> Self {
        Self {
            inner,
            run,
            compressed: stream.source.len(),
            output: 0,
        }
    }
}

impl Decoder for Guarded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        self.run.context.check()?;
        let count = self.inner.read(buffer)?;
        self.output += count as u64;
        let options = self.run.options;
        let ratio = options.max_compression_ratio;
        if self.output > RATIO_FROM && self.output > self.compressed.saturating_mul(ratio) {
            return Err(Fault::Limit(Limit {
                name: "max_compression_ratio",
                value: ratio,
            }));
        }
        Ok(count)
    }

    fn contradiction(&mut self) -> Option<Damage> {
        self.inner.contradiction()
    }

    fn close(&mut self) -> Closing {
        self.inner.close()
    }
}

/// What one thread hands to the other.
enum Portion {
    Bytes(Vec<u8>),
    /// Nothing follows.
    Fault(Fault),
    /// Nothing follows, and this contradicts the bytes before.
    Contradiction(Damage),
}

/// The decoding thread: fills portions until the end, a fault, or until
/// nobody takes them any more.
fn decode(decoder: &mut dyn Decoder, full: &SyncSender<Portion>, empty: &Receiver<Vec<u8>>) {
    loop {
        let mut portion = empty.try_recv().unwrap_or_default();
        portion.resize(PORTION, 0);
        let mut filled = 0;
        let mut fault = None;
        while filled < PORTION {
            match decoder.read(&mut portion[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(found) => {
                    fault = Some(found);
                    break;
                }
            }
        }
        let ended = filled < PORTION;
        portion.truncate(filled);
        if full.send(Portion::Bytes(portion)).is_err() {
            return;
        }
        if let Some(fault) = fault {
            let _ = full.send(Portion::Fault(fault));
            return;
        }
        if ended {
            if let Some(damage) = decoder.contradiction() {
                let _ = full.send(Portion::Contradiction(damage));
            }
            return;
        }
    }
}

/// The hashing side of [`decode`].
pub(super) struct Piped {
    waiting: Receiver<Portion>,
    spent: SyncSender<Vec<u8>>,
    portion: Vec<u8>,
    at: usize,
    ended: Option<Fault>,
    contradiction: Option<Damage>,
}

impl Piped {
    /// What `decoder` makes, decoded on a thread of `scope`.
    pub fn start<'scope>(
        scope: &'scope std::thread::Scope<'scope, '_>,
        mut decoder: impl Decoder + 'scope,
    ) -> Self {
        let (full, waiting) = sync_channel(PORTIONS);
        let (spent, empty) = sync_channel(PORTIONS);
        scope.spawn(move || decode(&mut decoder, &full, &empty));
        Self {
            waiting,
            spent,
            portion: Vec::new(),
            at: 0,
            ended: None,
            contradiction: None,
        }
    }
}

impl Decoder for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        while self.at >= self.portion.len() {
            if let Some(fault) = &self.ended {
                return Err(fault.clone());
            }
            let old = std::mem::take(&mut self.portion);
            let _ = self.spent.try_send(old);
            self.at = 0;
            match self.waiting.recv() {
                Ok(Portion::Bytes(portion)) => self.portion = portion,
                Ok(Portion::Fault(fault)) => self.ended = Some(fault),
                Ok(Portion::Contradiction(damage)) => self.contradiction = Some(damage),
                Err(_) => return Ok(0),
            }
        }
        let count = buffer.len().min(self.portion.len() - self.at);
        buffer[..count].copy_from_slice(&self.portion[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }

    fn contradiction(&mut self) -> Option<Damage> {
        self.contradiction.take()
    }
}
