//! Streams: what has been read of the current document is kept, so that it can
//! be read again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use crate::operation::Cancellation;

/// What of a stream is kept in memory before it goes to a file.
const IN_MEMORY: usize = 8 << 20;
/// What of a stream is kept at all; a larger document would not fit into
/// memory anyway.
const KEPT: u64 = 1 << 30;
/// Where a stream comes from. Reading of what others write ends with an error
/// once a stop is requested.
pub(super) enum Stream {
    Stdin(Option<Arc<Cancellation>>),
    Pipe(File, Option<Arc<Cancellation>>),
    Other(Box<dyn Read>),
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Other(stream) => stream.read(out),
            Self::Stdin(cancellation) => {
                if let Some(cancellation) = cancellation {
                    wait_for(io::stdin(), cancellation)?;
                }
                io::stdin().read(out)
            }
            Self::Pipe(file, cancellation) => {
                if let Some(cancellation) = cancellation {
                    wait_for(&*file, cancellation)?;
                }
                file.read(out)
            }
        }
    }
}

/// Returns when there is something to read, or the end of it.
fn wait_for(input: impl AsFd, cancellation: &Cancellation) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    const TENTH: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    loop {
        if cancellation.is_requested() {
            return Err(io::Error::other("cancelled"));
        }
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut ready, Some(&TENTH)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A stream and what has been read of it since an offset.
pub(super) struct Spool {
    pub stream: Stream,
    /// Offset in the stream of the first kept byte.
    start: u64,
    /// Offset of the next byte to hand out.
    next: u64,
    /// Kept bytes while there is no file.
    memory: Vec<u8>,
    /// The file that kept bytes went to, and how many it holds.
    file: Option<(File, u64)>,
    /// More came than is kept; there is no way back.
    lost: bool,
}

impl Spool {
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            start: 0,
            next: 0,
            memory: Vec::new(),
            file: None,
            lost: false,
        }
    }

    fn kept(&self) -> u64 {
        match &self.file {
            Some((_, length)) => *length,
            None => self.memory.len() as u64,
        }
    }

    /// Hands out what is kept and was rewound over.
    fn read_kept(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let at = self.next - self.start;
        let count = match &mut self.file {
            Some((file, length)) => {
                let most = usize::try_from(*length - at).unwrap_or(usize::MAX);
                let room = out.len().min(most);
                file.seek(SeekFrom::Start(at))?;
                file.read(out.get_mut(..room).unwrap_or_default())?
            }
            None => {
                let from = usize::try_from(at).unwrap_or(usize::MAX);
                let mut rest = self.memory.get(from..).unwrap_or_default();
                rest.read(out)?
            }
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(count)
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.lost || self.kept() + bytes.len() as u64 > KEPT {
            self.lost = true;
            self.drop_kept();
            return Ok(());
        }
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        if self.file.is_none() {
            let mut file = tempfile::tempfile()?;
            file.write_all(&self.memory)?;
            self.file = Some((file, self.memory.len() as u64));
            self.memory = Vec::new();
        }
        if let Some((file, length)) = &mut self.file {
            file.seek(SeekFrom::Start(*length))?;
            file.write_all(bytes)?;
            *length += bytes.len() as u64;
        }
        Ok(())
    }

    fn drop_kept(&mut self) {
        self.memory = Vec::new();
        self.file = None;
        self.start = self.next;
    }

    /// Everything before `offset` may go. Bytes in memory go when they are
    /// the larger part, those in a file when the rest fits into memory.
    pub fn forget_before(&mut self, offset: u64) {
        if self.lost {
            self.lost = false;
            self.drop_kept();
            // What was read ahead of `offset` is gone; `rewind_to` tells.
            return;
        }
        let Some(count) = offset.checked_sub(self.start) else {
            return;
        };
        match &mut self.file {
            None => {
                let count = usize::try_from(count)
                    .unwrap_or(usize::MAX)
                    .min(self.memory.len());
                if count > self.memory.len() / 2 {
                    self.memory.drain(..count);
                    self.start += count as u64;
                }
            }
            Some((file, length)) => {
                let rest = length.saturating_sub(count);
                if rest > IN_MEMORY as u64 {
                    return;
                }
                let mut memory = Vec::new();
                let tail = file
                    .seek(SeekFrom::Start(count))
                    .and_then(|_| file.take(rest).read_to_end(&mut memory));
                if tail.is_ok_and(|read| read as u64 == rest) {
                    self.memory = memory;
                    self.file = None;
                    self.start += count;
                }
            }
        }
    }

    pub fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
        if self.lost || offset < self.start || offset > self.start + self.kept() {
            return Err(io::Error::other(
                "its members are not in canonical order and it is too large to be held; \
                 give it as a file",
            ));
        }
        self.next = offset;
        Ok(())
    }
}

impl Read for Spool {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.lost && self.next < self.start + self.kept() {
            let count = self.read_kept(out)?;
            self.next += count as u64;
            return Ok(count);
        }
        let count = self.stream.read(out)?;
        self.keep(out.get(..count).unwrap_or_default())?;
        self.next += count as u64;
        if self.lost {
            self.start = self.next;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool_over(length: usize) -> (Vec<u8>, Spool) {
        let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        let stream = io::Cursor::new(bytes.clone());
        (bytes, Spool::new(Stream::Other(Box::new(stream))))
    }

    fn read_exactly(spool: &mut Spool, count: usize) -> Vec<u8> {
        let mut out = vec![0; count];
        spool.read_exact(&mut out).expect("enough bytes");
        out
    }

    #[test]
    fn rewinds_in_memory_and_in_a_file() {
        for length in [1000, IN_MEMORY + 1000] {
            let (bytes, mut spool) = spool_over(length);
            assert_eq!(read_exactly(&mut spool, length - 10), bytes[..length - 10]);
            spool.rewind_to(3).expect("kept");
            assert_eq!(read_exactly(&mut spool, length - 3), bytes[3..]);
            spool.forget_before(length as u64 - 100);
            assert!(spool.file.is_none());
            spool.rewind_to(length as u64 - 50).expect("kept");
            assert_eq!(read_exactly(&mut spool, 50), bytes[length - 50..]);
            assert!(spool.rewind_to(1).is_err());
            assert_eq!(spool.read(&mut [0; 8]).expect("the end"), 0);
        }
    }
}
