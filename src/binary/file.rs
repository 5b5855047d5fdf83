//! A file in memory, with the digest of its bytes.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rayon::prelude::*;

use crate::artifact::fault::path_error;
use crate::digest::{Digest, Hasher};
use crate::error::{Code, Error, Result};
use crate::json::Object;
use crate::operation::Context;
use crate::publish::display_path;

/// A file that was read as a whole. Parsers need random access, and a map of
/// a file that others can shorten would end in a signal.
#[derive(Debug)]
pub struct BinaryFile {
    /// The path as the user gave it; bytes that are not UTF-8 as `%XX`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl BinaryFile {
    /// Files beyond this are refused unless the caller says otherwise: 4 GiB.
    pub const MAX: u64 = 4 << 30;

    /// Reads the regular file at `path`, following links.
    ///
    /// # Errors
    /// `target_unavailable` and `access_denied` where it cannot be opened,
    /// `unsupported_target` where it is no regular file, `resource_constraint`
    /// beyond `maximum` bytes, `artifact_changed` where it changes meanwhile,
    /// `cancelled`.
    pub fn read(path: &Path, maximum: u64, context: &Context) -> Result<Self> {
        let shown = display_path(path);
        let operation = context.operation;
        let unreadable = |error| path_error(&error, &shown, operation);
        let before = std::fs::metadata(path).map_err(unreadable)?;
        if !before.is_file() {
            let what = if before.is_dir() {
                "a folder"
            } else {
                "no regular file"
            };
            return Err(
                Error::new(Code::UnsupportedTarget, format!("{shown} is {what}"))
                    .action("Give the path of a file.")
                    .detail("operation", operation)
                    .detail("path", shown.as_ref())
                    .detail("reason", "not_a_file"),
            );
        }
        if before.len() > maximum {
            return Err(too_large(&shown, operation, maximum));
        }
        let file = File::open(path).map_err(unreadable)?;
        context.progress.expect(1, before.len());
        let source = Source {
            file: &file,
            length: before.len(),
            shown: &shown,
            context,
        };
        // A thread of the pool that waited for others here would begin another
        // file meanwhile, and hold both.
        let alone = before.len() < LARGE || rayon::current_thread_index().is_some();
        let bytes = if alone {
            source.read_alone()?
        } else {
            source.read_together()?
        };
        context.progress.add_entries(1);
        let after = file
            .metadata()
            .map_err(|error| Error::file_io("read", &shown, &error))?;
        let identity =
            |m: &std::fs::Metadata| (m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec());
        if identity(&before) != identity(&after) || bytes.len() as u64 != before.len() {
            return Err(source.changed());
        }
        Ok(Self {
            path: shown.into_owned(),
            bytes,
        })
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        match self.path.rsplit('/').next() {
            Some(name) if !name.is_empty() => name,
            _ => "artifact",
        }
    }

    /// SHA-256 of the bytes.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn sha256(&self, context: &Context) -> Result<Digest> {
        let mut hasher = Hasher::default();
        for piece in self.bytes.chunks(16 << 20) {
            context.check()?;
            hasher.update(piece);
        }
        Ok(hasher.finish())
    }
}

/// Files from so many bytes on are read by all threads.
const LARGE: u64 = 4 << 20;
/// Bytes that a thread reads at a time.
const PIECE: usize = 1 << 20;

/// An open file, and what is said of it.
struct Source<'a> {
    file: &'a File,
    length: u64,
    shown: &'a str,
    context: &'a Context,
}

impl Source<'_> {
    /// Room for the bytes.
    fn room(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let room = usize::try_from(self.length).unwrap_or(usize::MAX);
        bytes
            .try_reserve_exact(room)
            .map_err(|_| too_large(self.shown, self.context.operation, self.length))?;
        Ok(bytes)
    }

    fn read_alone(&self) -> Result<Vec<u8>> {
        let mut bytes = self.room()?;
        // One byte more than there should be tells a file that grew.
        let mut rest = self.length + 1;
        while rest > 0 {
            self.context.check()?;
            let piece = rest.min(8 << 20);
            let read = self
                .file
                .take(piece)
                .read_to_end(&mut bytes)
                .map_err(|error| Error::file_io("read", self.shown, &error))?;
            self.context.progress.add_bytes(read as u64);
            rest -= read as u64;
            if (read as u64) < piece {
                break;
            }
        }
        Ok(bytes)
    }

    /// What a copy costs besides is that pages are handed out for it, which
    /// two threads do in half the time.
    fn read_together(&self) -> Result<Vec<u8>> {
        // The system hands out pages of zeros when they are first written to.
        drop(self.room()?);
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        bytes
            .par_chunks_mut(PIECE)
            .enumerate()
            .try_for_each(|(at, piece)| {
                self.context.check()?;
                match self.file.read_exact_at(piece, (at * PIECE) as u64) {
                    Ok(()) => {
                        self.context.progress.add_bytes(piece.len() as u64);
                        Ok(())
                    }
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.changed()),
                    Err(error) => Err(Error::file_io("read", self.shown, &error)),
                }
            })?;
        Ok(bytes)
    }

    fn changed(&self) -> Error {
        Error::new(
            Code::ArtifactChanged,
            format!("{} changed while it was read", self.shown),
        )
        .action("Inspect a copy that nothing writes to.")
        .detail("operation", self.context.operation)
        .detail("path", self.shown)
    }
}

fn too_large(shown: &str, operation: &'static str, maximum: u64) -> Error {
    let message = format!("{shown} has more than {maximum} bytes");
    let mut limits = Object::new();
    limits.insert("boundary", "input-bytes");
    limits.insert("input_path", shown);
    limits.insert("maximum", maximum);
    Error::out_of_memory(operation, message, limits)
}
