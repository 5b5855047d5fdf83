//! Where Evidence is read from: a regular file, or a stream whose current
//! document is kept so that it can be read again.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::error::{Code, Error, Result};
use crate::json::{Limits, ReadError, Rewind};
use crate::operation::{Cancellation, Context};
use crate::publish::display_path;

/// What of a stream is kept in memory before it goes to a file.
const IN_MEMORY: usize = 8 << 20;
/// What of a stream is kept at all; a larger document would not fit into
/// memory anyway.
const KEPT: u64 = 1 << 30;
/// Files that are held open at once to be read again.
const OPEN: usize = 16;

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileVersion {
    place: (u64, u64),
    size: u64,
    times: [i64; 4],
}

impl FileVersion {
    pub fn of(found: &Metadata) -> Self {
        Self {
            place: (found.dev(), found.ino()),
            size: found.size(),
            times: [
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
            ],
        }
    }

    /// Device and inode: which file it is, whatever it holds.
    pub fn place(&self) -> (u64, u64) {
        self.place
    }
}

/// Input that holds Evidence, by a name for messages.
pub struct Source {
    name: String,
    input: Input,
}

enum Input {
    /// With the name by which it can be opened again, where it has one.
    File(File, Option<Origin>),
    Stream(Spool),
    Memory(Kept),
}

/// Bytes in memory that are shared, and how far they have been read.
struct Kept {
    bytes: Arc<[u8]>,
    next: usize,
    end: usize,
}

/// A file by its name, and the state in which it was opened.
#[derive(Debug)]
struct Origin {
    path: PathBuf,
    version: FileVersion,
}

impl Source {
    /// Opens a regular file, a pipe (`/dev/fd/63`, as shells pass the output of
    /// commands) or a FIFO that is being written, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self {
                name: "-".to_owned(),
                input: Input::Stream(Spool::new(Stream::Stdin(None))),
            });
        }
        let name = display_path(path).into_owned();
        match open_now(path) {
            Ok((metadata, file)) if metadata.is_file() => {
                let origin = Origin {
                    path: path.to_owned(),
                    version: FileVersion::of(&metadata),
                };
                Ok(Self {
                    name,
                    input: Input::File(file, Some(origin)),
                })
            }
            Ok((metadata, file)) if metadata.file_type().is_fifo() => {
                // From here on reading may wait.
                let flags = rustix::fs::fcntl_getfl(&file)
                    .and_then(|flags| rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK));
                flags.map_err(|error| Error::file_io("read", &name, &error.into()))?;
                Ok(Self::stream(&name, Box::new(file)))
            }
            Ok(_) => {
                let message = format!("{name} is not a regular file");
                Err(Error::file("read", "not-file", &name, message)
                    .action("Name a regular file, or `-` for standard input."))
            }
            Err(error) => Err(Error::file_io("read", &name, &error)),
        }
    }

    /// Reads from a stream.
    pub fn stream(name: &str, stream: Box<dyn Read>) -> Self {
        Self {
            name: name.to_owned(),
            input: Input::Stream(Spool::new(Stream::Other(stream))),
        }
    }

    /// Reads what is in memory, without a copy.
    pub fn memory(name: &str, bytes: Arc<[u8]>) -> Self {
        let whole = 0..bytes.len();
        Self::part_of_memory(name, bytes, whole)
    }

    /// [`Source::memory`] of the bytes of `range`, as far as they are there.
    pub fn part_of_memory(name: &str, bytes: Arc<[u8]>, range: Range<usize>) -> Self {
        let end = range.end.min(bytes.len());
        let next = range.start.min(end);
        Self {
            name: name.to_owned(),
            input: Input::Memory(Kept { bytes, next, end }),
        }
    }

    /// Reading from standard input ends with an error once a stop is
    /// requested, even where nothing comes.
    pub(super) fn heed(&mut self, cancellation: &Arc<Cancellation>) {
        if let Input::Stream(Spool {
            stream: Stream::Stdin(heeded),
            ..
        }) = &mut self.input
        {
            *heeded = Some(Arc::clone(cancellation));
        }
    }

    /// The same input, and a store from which its parts can be read at any
    /// time. A stream is first copied to a file that has no name; a file that
    /// has one is not kept open, so that there can be any number of them.
    pub(super) fn retain(
        mut self,
        limits: Limits,
        context: &Context,
    ) -> Result<(Self, Arc<Store>)> {
        self.heed(&context.cancellation);
        let Self { name, input } = self;
        let (file, content) = match input {
            Input::File(file, Some(origin)) => (file, Content::Named(origin)),
            Input::File(file, None) => {
                let failed = |error| Error::file_io("read", &name, &error);
                let again = file.try_clone().map_err(failed)?;
                (file, Content::Nameless(again))
            }
            Input::Memory(kept) => {
                let content = Content::Memory(kept.bytes.clone());
                let store = Store {
                    name: name.clone(),
                    content,
                };
                let input = Input::Memory(kept);
                return Ok((Self { name, input }, Arc::new(store)));
            }
            Input::Stream(spool) => {
                let file = spooled(spool.stream, &name, limits, context)?;
                let failed = |error| Error::file_io("read", &name, &error);
                let again = file.try_clone().map_err(failed)?;
                (file, Content::Nameless(again))
            }
        };
        let store = Store {
            name: name.clone(),
            content,
        };
        let input = Input::File(file, None);
        Ok((Self { name, input }, Arc::new(store)))
    }

    /// The path as the user gave it, with bytes that are not UTF-8 escaped.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says that nothing before `offset` will be read again.
    pub(super) fn forget_before(&mut self, offset: u64) {
        if let Input::Stream(spool) = &mut self.input {
            spool.forget_before(offset);
        }
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.input {
            Input::File(file, _) => file.read(out),
            Input::Stream(spool) => spool.read(out),
            Input::Memory(kept) => {
                let mut rest = kept.bytes.get(kept.next..kept.end).unwrap_or_default();
                let count = rest.read(out)?;
                kept.next += count;
                Ok(count)
            }
        }
    }
}

impl Rewind for Source {
    fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
        match &mut self.input {
            Input::File(file, _) => file.seek(SeekFrom::Start(offset)).map(|_| ()),
            Input::Stream(spool) => spool.rewind_to(offset),
            Input::Memory(kept) => {
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                kept.next = offset.min(kept.end);
                Ok(())
            }
        }
    }
}

/// Opens what `path` names, without waiting for whoever writes a FIFO.
fn open_now(path: &Path) -> io::Result<(Metadata, File)> {
    let flags = OFlags::NONBLOCK.bits();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags).unwrap_or(0))
        .open(path)?;
    Ok((file.metadata()?, file))
}

/// A file is not what it was when it was read first.
pub(super) fn changed(name: &str, operation: &str, reason: &str) -> Error {
    let message = format!("{name} changed while it was read: {reason}");
    Error::new(Code::ArtifactChanged, message)
        .action("Run it again when nothing writes to the file.")
        .detail("operation", operation)
        .detail("path", name)
        .detail("reason", reason)
        .detail("boundary", "stable-artifact-read")
}

enum Stream {
    Stdin(Option<Arc<Cancellation>>),
    Other(Box<dyn Read>),
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Other(stream) => stream.read(out),
            Self::Stdin(cancellation) => {
                if let Some(cancellation) = cancellation {
                    wait_for_stdin(cancellation)?;
                }
                io::stdin().read(out)
            }
        }
    }
}

/// Returns when there is something to read, or the end of it.
fn wait_for_stdin(cancellation: &Cancellation) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    const TENTH: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    let stdin = io::stdin();
    loop {
        if cancellation.is_requested() {
            return Err(io::Error::other("cancelled"));
        }
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut ready, Some(&TENTH)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn spooled(mut stream: Stream, name: &str, limits: Limits, context: &Context) -> Result<File> {
    let failed = |error| Error::file_io("read", name, &error);
    let mut file = tempfile::tempfile().map_err(failed)?;
    let mut portion = vec![0; 256 * 1024];
    let mut total = 0;
    loop {
        context.check()?;
        let count = match stream.read(&mut portion) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                context.check()?;
                return Err(failed(error));
            }
        };
        total += count as u64;
        if total > limits.max_input_bytes {
            let maximum = limits.max_input_bytes;
            let message = format!("it is longer than the {maximum} bytes that may be read");
            let place = crate::json::Place::default();
            let error = ReadError::resource("input-bytes", maximum, place, message);
            return Err(error.into_file_error(name));
        }
        let bytes = portion.get(..count).unwrap_or_default();
        file.write_all(bytes).map_err(failed)?;
    }
    file.rewind().map_err(failed)?;
    Ok(file)
}

/// Input that was read once and of which parts are read again by offset, so
/// that records need not be held in memory.
#[derive(Debug)]
pub struct Store {
    name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// Opened again whenever it is needed.
    Named(Origin),
    /// A copy of a stream.
    Nameless(File),
    Memory(Arc<[u8]>),
}

impl Store {
    /// A store of bytes in memory.
    pub(super) fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            content: Content::Memory(bytes.into()),
        }
    }

    /// The bytes, where they are in memory.
    pub(super) fn in_memory(&self) -> Option<&Arc<[u8]>> {
        match &self.content {
            Content::Memory(bytes) => Some(bytes),
            Content::Named(_) | Content::Nameless(_) => None,
        }
    }

    /// The name of the input, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Opens the file again; `artifact_changed` where it is another one.
    fn reopen(&self, origin: &Origin, operation: &str) -> Result<File> {
        match open_now(&origin.path) {
            Ok((found, file)) if FileVersion::of(&found) == origin.version => Ok(file),
            Ok(_) => {
                let reason = "its size or its times are not what they were";
                Err(changed(&self.name, operation, reason))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(changed(&self.name, operation, "it is not there any more"))
            }
            Err(error) => Err(Error::file_io("read", &self.name, &error)),
        }
    }
}

/// Stores that are being read, of which a few files are open at a time.
#[derive(Debug, Default)]
pub(super) struct Reopened<'a> {
    /// The one that was used last stands last.
    open: Vec<(&'a Store, File)>,
}

impl<'a> Reopened<'a> {
    /// The `length` bytes from `offset` of a store, as far as they are there.
    pub fn part(
        &mut self,
        store: &'a Store,
        offset: u64,
        length: u64,
        operation: &str,
    ) -> Result<Part<'_>> {
        let bytes = match &store.content {
            Content::Memory(bytes) => Bytes::Memory(bytes),
            Content::Nameless(file) => Bytes::File(file),
            Content::Named(origin) => Bytes::File(self.file(store, origin, operation)?),
        };
        Ok(Part {
            bytes,
            at: offset,
            end: offset.saturating_add(length),
        })
    }

    fn file(&mut self, store: &'a Store, origin: &Origin, operation: &str) -> Result<&File> {
        let open = &mut self.open;
        let known = open.iter().rposition(|(one, _)| std::ptr::eq(*one, store));
        let used = match known {
            Some(at) => open.remove(at),
            None => {
                if open.len() >= OPEN {
                    open.remove(0);
                }
                (store, store.reopen(origin, operation)?)
            }
        };
        open.push(used);
        match open.last() {
            Some((_, file)) => Ok(file),
            None => Err(changed(&store.name, operation, "it is not open")),
        }
    }
}

/// A part of a [`Store`].
pub(super) struct Part<'a> {
    bytes: Bytes<'a>,
    at: u64,
    end: u64,
}

enum Bytes<'a> {
    File(&'a File),
    Memory(&'a [u8]),
}

impl Read for Part<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let room = out.len().min(left);
        let out = out.get_mut(..room).unwrap_or_default();
        let count = match self.bytes {
            Bytes::File(file) => file.read_at(out, self.at)?,
            Bytes::Memory(bytes) => {
                let from = usize::try_from(self.at).unwrap_or(usize::MAX);
                let mut rest = bytes.get(from..).unwrap_or_default();
                rest.read(out)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

/// A stream and what has been read of it since an offset.
struct Spool {
    stream: Stream,
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
    fn new(stream: Stream) -> Self {
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
    fn forget_before(&mut self, offset: u64) {
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

    fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
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
