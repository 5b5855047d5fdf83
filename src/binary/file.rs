//! A file in memory, with the digest of its bytes.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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
        let mut file = File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        let room = usize::try_from(before.len()).unwrap_or(usize::MAX);
        bytes
            .try_reserve_exact(room)
            .map_err(|_| too_large(&shown, operation, before.len()))?;
        // One byte more than there should be tells a file that grew.
        let mut rest = before.len() + 1;
        context.progress.expect(1, before.len());
        while rest > 0 {
            context.check()?;
            let piece = rest.min(8 << 20);
            let read = (&mut file)
                .take(piece)
                .read_to_end(&mut bytes)
                .map_err(|error| Error::file_io("read", &shown, &error))?;
            context.progress.add_bytes(read as u64);
            rest -= read as u64;
            if (read as u64) < piece {
                break;
            }
        }
        context.progress.add_entries(1);
        let after = file
            .metadata()
            .map_err(|error| Error::file_io("read", &shown, &error))?;
        let identity =
            |m: &std::fs::Metadata| (m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec());
        if identity(&before) != identity(&after) || bytes.len() as u64 != before.len() {
            return Err(Error::new(
                Code::ArtifactChanged,
                format!("{shown} changed while it was read"),
            )
            .action("Inspect a copy that nothing writes to.")
            .detail("operation", operation)
            .detail("path", shown.as_ref()));
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

fn too_large(shown: &str, operation: &'static str, maximum: u64) -> Error {
    let message = format!("{shown} has more than {maximum} bytes");
    let mut limits = Object::new();
    limits.insert("boundary", "input-bytes");
    limits.insert("input_path", shown);
    limits.insert("maximum", maximum);
    Error::out_of_memory(operation, message, limits)
}
