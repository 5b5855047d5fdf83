//! Where Evidence is read from: a regular file, or a stream whose current
//! document is kept so that it can be read again.

mod spool;
mod store;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::error::{Error, Result};
use crate::json::{Limits, Rewind};
use crate::operation::{Cancellation, Context};
use crate::publish::display_path;
use spool::{Spool, Stream};
use store::{Content, spooled};

pub use store::Store;
pub(super) use store::{Reopened, changed};

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
                Ok(Self {
                    name,
                    input: Input::Stream(Spool::new(Stream::Pipe(file, None))),
                })
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

    /// Reading from standard input or a pipe ends with an error once a stop is
    /// requested, even where nothing comes.
    pub(super) fn heed(&mut self, cancellation: &Arc<Cancellation>) {
        if let Input::Stream(Spool {
            stream: Stream::Stdin(heeded) | Stream::Pipe(_, heeded),
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
