//! Input of which parts are read again by offset, long after it was read.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::spool::Stream;
use super::{FileVersion, Origin, open_now};
use crate::error::{Code, Error, Result};
use crate::json::{Limits, ReadError};
use crate::operation::Context;

/// Files that are held open at once to be read again.
const OPEN: usize = 16;

/// Input that was read once and of which parts are read again by offset, so
/// that records need not be held in memory.
#[derive(Debug)]
pub struct Store {
    pub(super) name: String,
    pub(super) content: Content,
}

/// Where the bytes of a store are.
#[derive(Debug)]
pub(super) enum Content {
    /// Opened again whenever it is needed.
    Named(Origin),
    /// A copy of a stream.
    Nameless(File),
    Memory(Arc<[u8]>),
}

impl Store {
    /// A store of bytes in memory.
    pub(in crate::evidence) fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            content: Content::Memory(bytes.into()),
        }
    }

    /// The bytes, where they are in memory.
    pub(in crate::evidence) fn in_memory(&self) -> Option<&Arc<[u8]>> {
        match &self.content {
            Content::Memory(bytes) => Some(bytes),
            Content::Named(_) | Content::Nameless(_) => None,
        }
    }

    /// The name of the input, for messages.
    pub(in crate::evidence) fn name(&self) -> &str {
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
pub(in crate::evidence) struct Reopened<'a> {
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
pub(in crate::evidence) struct Part<'a> {
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

/// A file is not what it was when it was read first.
pub(in crate::evidence) fn changed(name: &str, operation: &str, reason: &str) -> Error {
    let message = format!("{name} changed while it was read: {reason}");
    Error::new(Code::ArtifactChanged, message)
        .action("Run it again when nothing writes to the file.")
        .detail("operation", operation)
        .detail("path", name)
        .detail("reason", reason)
        .detail("boundary", "stable-artifact-read")
}

/// A copy of a stream in a file that has no name.
pub(super) fn spooled(
    mut stream: Stream,
    name: &str,
    limits: Limits,
    context: &Context,
) -> Result<File> {
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
