//! The bytes of a capture: one stable read of a regular file, and what is in
//! it where it is compressed.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::fault::Fault;
use crate::digest::{Digest, Hasher};
use crate::error::Result;
use crate::operation::Context;

/// What is read at once.
const PIECE: u64 = 4 << 20;

/// What a file holds.
pub(super) struct Input {
    /// The document, decompressed.
    pub text: Vec<u8>,
    /// SHA-256 of the file's bytes.
    pub sha256: Digest,
    /// Length of the file.
    pub bytes: u64,
    /// Whether it was compressed.
    pub compressed: bool,
}

/// Reads the file at `path`; it and what is in it have at most `maximum`
/// bytes each.
pub(super) fn read(path: &Path, maximum: u64, context: &Context) -> Result<Input, Fault> {
    if path.as_os_str().is_empty() {
        return Err(Fault::path("is empty, which names no file"));
    }
    let before = std::fs::symlink_metadata(path).map_err(Fault::Io)?;
    if before.is_symlink() {
        return Err(Fault::path("is a symbolic link"));
    }
    if !before.is_file() {
        return Err(Fault::path("is no regular file"));
    }
    if before.len() > maximum {
        return Err(Fault::TooLarge { unpacked: false });
    }
    let mut file = File::open(path).map_err(Fault::Io)?;
    context.progress.expect(1, before.len());
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0) + 1);
    // One byte more than there should be tells a file that grew.
    let mut rest = before.len() + 1;
    while rest > 0 {
        context.check().map_err(Fault::Stopped)?;
        let piece = rest.min(PIECE);
        let read = (&mut file).take(piece).read_to_end(&mut bytes);
        let read = read.map_err(Fault::Io)? as u64;
        context.progress.add_bytes(read);
        rest -= read;
        if read < piece {
            break;
        }
    }
    let after = file.metadata().map_err(Fault::Io)?;
    let still = std::fs::symlink_metadata(path).map_err(|_| Fault::Changed)?;
    let identity = |m: &std::fs::Metadata| {
        (
            m.dev(),
            m.ino(),
            m.len(),
            m.mtime(),
            m.mtime_nsec(),
            m.ctime(),
            m.ctime_nsec(),
        )
    };
    let is_stable = identity(&before) == identity(&after)
        && identity(&before) == identity(&still)
        && bytes.len() as u64 == before.len();
    if !is_stable {
        return Err(Fault::Changed);
    }
    let mut hasher = Hasher::default();
    for piece in bytes.chunks(PIECE as usize) {
        context.check().map_err(Fault::Stopped)?;
        hasher.update(piece);
    }
    let sha256 = hasher.finish();
    let length = bytes.len() as u64;
    let compressed = bytes.starts_with(&[0x1F, 0x8B]);
    let text = match compressed {
        true => decompress(&bytes, maximum, context)?,
        false => bytes,
    };
    Ok(Input {
        text,
        sha256,
        bytes: length,
        compressed,
    })
}

/// The members of a gzip file, one after the other.
fn decompress(bytes: &[u8], maximum: u64, context: &Context) -> Result<Vec<u8>, Fault> {
    let mut decoder = flate2::bufread::MultiGzDecoder::new(bytes);
    let mut text = Vec::new();
    loop {
        context.check().map_err(Fault::Stopped)?;
        // One byte beyond the bound tells that there is more.
        let room = (maximum + 1 - text.len() as u64).min(PIECE);
        let read = (&mut decoder).take(room).read_to_end(&mut text);
        let read = read.map_err(|_| {
            Fault::format(
                "",
                "is compressed, and damaged or cut as a gzip file".to_owned(),
            )
        })?;
        if text.len() as u64 > maximum {
            return Err(Fault::TooLarge { unpacked: true });
        }
        if (read as u64) < room {
            return Ok(text);
        }
    }
}
