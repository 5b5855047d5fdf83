//! Where the bytes of selected members go: files of a folder, or memory.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::source::{Source, Spool};
use crate::digest::{Digest, Hasher};
use crate::error::{ArtifactReason, Error, Result, io_reason};

/// Takes the content of members by their logical paths.
pub(super) trait Place: Sync {
    /// Begins a member, which must not be there.
    fn file<'p>(&'p self, path: &str) -> Result<Box<dyn Output + 'p>>;

    /// Removes a member that turned out not to be what it should.
    fn remove(&self, path: &str) -> Result<()>;

    /// Hands on the bytes of a member that is complete.
    fn read(&self, path: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// What went wrong while `path` was written.
    fn write_failed(&self, path: &str, error: &io::Error) -> Error;
}

/// A member that is being written.
pub(super) trait Output {
    /// The next bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// How many bytes were written.
    fn written(&self) -> u64;

    /// The member is complete: SHA-256 of what was written.
    fn finish(self: Box<Self>) -> Digest;
}

/// Keeps members in memory while they are small, then in files without names.
pub(super) struct Spools {
    operation: &'static str,
    account: Arc<AtomicU64>,
    members: Mutex<HashMap<String, Source>>,
}

impl Spools {
    /// Nothing yet.
    pub fn new(operation: &'static str) -> Self {
        Self {
            operation,
            account: Arc::default(),
            members: Mutex::default(),
        }
    }

    /// The members by their paths.
    pub fn into_members(self) -> HashMap<String, Source> {
        self.members
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn members(&self) -> std::sync::MutexGuard<'_, HashMap<String, Source>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place for Spools {
    fn file<'p>(&'p self, path: &str) -> Result<Box<dyn Output + 'p>> {
        Ok(Box::new(Spooling {
            place: self,
            path: path.to_owned(),
            spool: Spool::new(&self.account),
            hasher: Hasher::default(),
            written: 0,
        }))
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.members().remove(path);
        Ok(())
    }

    fn read(&self, path: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Some(source) = self.members().get(path).cloned() else {
            let error = io::ErrorKind::NotFound.into();
            return Err(self.write_failed(path, &error));
        };
        let mut buffer = vec![0; 256 << 10];
        let mut done = 0;
        loop {
            let count = source
                .read_at(done, &mut buffer)
                .map_err(|error| self.write_failed(path, &error))?;
            if count == 0 {
                return Ok(());
            }
            each(buffer.get(..count).unwrap_or_default())?;
            done += count as u64;
        }
    }

    fn write_failed(&self, path: &str, error: &io::Error) -> Error {
        let message = format!(
            "{path} cannot be kept in the temporary folder: {}",
            io_reason(error)
        );
        Error::artifact(self.operation, ArtifactReason::Io, message)
            .action("Make room in the temporary folder, or choose another with TMPDIR.")
            .detail("logical_path", path)
    }
}

struct Spooling<'p> {
    place: &'p Spools,
    path: String,
    spool: Spool,
    hasher: Hasher,
    written: u64,
}

impl Output for Spooling<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.spool.write(bytes)?;
        self.hasher.update(bytes);
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn finish(self: Box<Self>) -> Digest {
        let Self {
            place,
            path,
            spool,
            hasher,
            ..
        } = *self;
        place.members().insert(path, spool.into_source());
        hasher.finish()
    }
}
