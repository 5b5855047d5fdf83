//! Random access to bytes: a file, a region of one, or a spooled member.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that can be read at any offset, by many threads at once.
#[derive(Clone, Debug)]
pub struct Source {
    bytes: Bytes,
    start: u64,
    len: u64,
}

#[derive(Clone, Debug)]
enum Bytes {
    File(Arc<File>),
    Memory(Arc<SpooledMemory>),
}

impl Source {
    /// A whole open file of `len` bytes.
    pub fn file(file: Arc<File>, len: u64) -> Self {
        Self {
            bytes: Bytes::File(file),
            start: 0,
            len,
        }
    }

    /// Bytes in memory.
    pub fn memory(bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        let memory = SpooledMemory {
            bytes,
            account: None,
        };
        Self {
            bytes: Bytes::Memory(Arc::new(memory)),
            start: 0,
            len,
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of it; `None` where that does not lie inside.
    pub fn region(&self, start: u64, len: u64) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end <= self.len).then(|| Self {
            bytes: self.bytes.clone(),
            start: self.start + start,
            len,
        })
    }

    /// Reads at `offset` until `buffer` is full or the end; how much was read.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.len.saturating_sub(offset);
        let want = usize::try_from(rest).map_or(buffer.len(), |rest| rest.min(buffer.len()));
        let buffer = &mut buffer[..want];
        if want == 0 {
            // Behind the end; an offset from a file may be any number.
            return Ok(0);
        }
        match &self.bytes {
            Bytes::File(file) => {
                let mut done = 0;
                while done < want {
                    match file.read_at(&mut buffer[done..], self.start + offset + done as u64) {
                        Ok(0) => break,
                        Ok(count) => done += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(done)
            }
            Bytes::Memory(memory) => {
                let at = usize::try_from(self.start + offset).unwrap_or(usize::MAX);
                let part = memory.bytes.get(at..).unwrap_or_default();
                let count = part.len().min(want);
                buffer[..count].copy_from_slice(&part[..count]);
                Ok(count)
            }
        }
    }

    /// Whether the underlying file holds bytes behind this source's end.
    pub fn has_more(&self) -> io::Result<bool> {
        match &self.bytes {
            Bytes::File(file) => Ok(file.read_at(&mut [0], self.start + self.len)? > 0),
            Bytes::Memory(_) => Ok(false),
        }
    }

    /// Reads exactly `len` bytes at `offset`; an early end is an error.
    pub fn read_vec(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        if offset
            .checked_add(len as u64)
            .is_none_or(|end| end > self.len)
        {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; len];
        if self.read_at(offset, &mut bytes)? < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

#[derive(Debug)]
struct SpooledMemory {
    bytes: Vec<u8>,
    account: Option<Arc<AtomicU64>>,
}

impl Drop for SpooledMemory {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.fetch_sub(self.bytes.capacity() as u64, Ordering::Relaxed);
        }
    }
}

/// One spool may hold this much in memory before it becomes a file.
const SPOOL_MEMORY: usize = 8 << 20;
/// All spools of one run together.
const ALL_SPOOL_MEMORY: u64 = 24 << 20;

/// Collects a member that must be read at random: in memory while it is small,
/// then in a temporary file that has no name.
#[derive(Debug)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<File>,
    len: u64,
    account: Arc<AtomicU64>,
    charged: u64,
}

impl Spool {
    /// An empty spool; `account` counts the memory of all spools of a run.
    pub fn new(account: &Arc<AtomicU64>) -> Self {
        Self {
            memory: Vec::new(),
            file: None,
            len: 0,
            account: Arc::clone(account),
            charged: 0,
        }
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len += bytes.len() as u64;
        if let Some(file) = &mut self.file {
            return file.write_all(bytes);
        }
        let total = self.memory.len() + bytes.len();
        let grow = (total as u64).saturating_sub(self.charged);
        let others = self.account.load(Ordering::Relaxed);
        if total > SPOOL_MEMORY || others + grow > ALL_SPOOL_MEMORY {
            let mut file = unnamed_file()?;
            file.write_all(&self.memory)?;
            file.write_all(bytes)?;
            self.file = Some(file);
            self.release();
            return Ok(());
        }
        self.account.fetch_add(grow, Ordering::Relaxed);
        self.charged += grow;
        self.memory.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends writing.
    pub fn into_source(mut self) -> Source {
        let len = self.len;
        let bytes = match self.file.take() {
            Some(file) => Bytes::File(Arc::new(file)),
            None => {
                let mut bytes = std::mem::take(&mut self.memory);
                bytes.shrink_to_fit();
                let kept = bytes.capacity() as u64;
                self.account.fetch_add(kept, Ordering::Relaxed);
                let account = Some(Arc::clone(&self.account));
                Bytes::Memory(Arc::new(SpooledMemory { bytes, account }))
            }
        };
        Source {
            bytes,
            start: 0,
            len,
        }
    }

    fn release(&mut self) {
        self.memory = Vec::new();
        self.account.fetch_sub(self.charged, Ordering::Relaxed);
        self.charged = 0;
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.release();
    }
}

/// One temporary file that keeps many sources, each a region of it.
#[derive(Debug)]
pub struct Stash {
    file: Arc<File>,
    len: u64,
}

impl Stash {
    /// An empty stash.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: Arc::new(unnamed_file()?),
            len: 0,
        })
    }

    /// Copies a source to the end of the stash.
    pub fn add(&mut self, source: &Source) -> io::Result<Source> {
        let mut buffer = vec![0; 64 << 10];
        let mut done = 0;
        while done < source.len() {
            let count = source.read_at(done, &mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.file.write_all_at(&buffer[..count], self.len + done)?;
            done += count as u64;
        }
        let start = self.len;
        self.len += done;
        Ok(Source {
            bytes: Bytes::File(Arc::clone(&self.file)),
            start,
            len: done,
        })
    }
}

/// A file in the temporary folder that is gone when it is closed.
fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spool_moves_to_a_file_and_reads_back() {
        let account = Arc::default();
        let mut spool = Spool::new(&account);
        let block = [7u8; 1 << 20];
        for _ in 0..10 {
            spool.write(&block).unwrap();
        }
        let source = spool.into_source();
        assert!(matches!(source.bytes, Bytes::File(_)));
        assert_eq!(source.len(), 10 << 20);
        assert_eq!(source.read_vec((10 << 20) - 3, 3).unwrap(), [7, 7, 7]);
        assert!(source.read_vec((10 << 20) - 3, 4).is_err());
        assert_eq!(account.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn regions_stay_inside() {
        let source = Source::memory(b"0123456789".to_vec());
        let part = source.region(2, 5).unwrap();
        assert_eq!(part.read_vec(0, 5).unwrap(), b"23456");
        assert!(part.region(3, 3).is_none());
        assert!(part.region(u64::MAX, 2).is_none());
        let mut buffer = [0; 8];
        assert_eq!(part.read_at(4, &mut buffer).unwrap(), 1);
        assert_eq!(part.read_at(9, &mut buffer).unwrap(), 0);
    }
}
