//! A bundle file that is changed in place, without losing what another process
//! writes at the same time.
//!
//! Whoever changes a bundle holds an exclusive lock on the file from before it
//! is read until it is replaced. A replaced file is another file under the same
//! name, so whoever waited for the lock looks again at what has the name now.
//! Programs that don't take the lock are noticed: the file must still be the
//! one that was read when it is replaced.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::Bundle;
use super::input::read_bundle;
use crate::digest::{Digest, Hasher};
use crate::error::{Code, Error, Result};
use crate::evidence::Source;
use crate::json::{Limits, Sink};
use crate::operation::Context;
use crate::publish::{Published, Publisher, display_path};

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// A bundle file under an exclusive lock, which ends with this.
#[derive(Debug)]
pub struct LockedBundle {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
    version: Version,
}

/// What a bundle file was replaced by.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Where it is and how large.
    pub published: Published,
    /// SHA-256 of the bundle, and of the file.
    pub sha256: Digest,
}

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version([i64; 4], [u64; 3]);

impl Version {
    fn of(found: &Metadata) -> Self {
        let times = [
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ];
        Self(times, [found.dev(), found.ino(), found.size()])
    }
}

impl LockedBundle {
    /// Waits for the lock. Errors are those of reading and replacing files,
    /// and `revision_conflict` where another process keeps the lock for a
    /// minute.
    pub fn open(path: &Path, context: &Context) -> Result<Self> {
        // Links and folders cannot be replaced; better said before any work.
        Publisher::check(path, true)?;
        let name = display_path(path).into_owned();
        let failed = |error: io::Error| Error::file_io("read", &name, &error);
        let begun = Instant::now();
        loop {
            let file = File::open(path).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => {
                    context.check()?;
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(busy(&name)),
                Err(error) => return Err(failed(error.into())),
            }
            let locked = Version::of(&file.metadata().map_err(failed)?);
            let named = std::fs::symlink_metadata(path).map_err(failed)?;
            if Version::of(&named) == locked {
                return Ok(Self {
                    path: path.to_owned(),
                    _file: file,
                    version: locked,
                });
            }
        }
    }

    /// Reads the bundle.
    pub fn read(&self, limits: Limits, context: &Context) -> Result<Bundle> {
        let bundle = read_bundle(Source::open(&self.path)?, limits, context)?;
        self.check_unchanged()?;
        Ok(bundle)
    }

    /// Puts `bundle` in the file's place, complete or not at all.
    pub fn replace(self, bundle: &Bundle, context: &Context) -> Result<Replaced> {
        bundle.publish(&self.path, true, Some(&self), context)
    }

    /// The file must be the one that was locked: `revision_conflict` where a
    /// program that takes no lock has changed it.
    pub fn check_unchanged(&self) -> Result<()> {
        let name = display_path(&self.path);
        let found = std::fs::symlink_metadata(&self.path)
            .map_err(|error| Error::file_io("read", &name, &error))?;
        if Version::of(&found) == self.version {
            return Ok(());
        }
        let message = format!("{name} was changed by another program in the meantime");
        Err(Error::new(Code::RevisionConflict, message)
            .action("Run it again; nothing was written.")
            .detail("reason", "revision-conflict")
            .detail("path", name.into_owned()))
    }
}

impl Bundle {
    /// Writes the bundle to a file in canonical form, complete or not at all;
    /// if `locked`, only where no other program has changed that file.
    ///
    /// Errors are those of [`Publisher`] and [`Bundle::write`].
    pub fn publish(
        &self,
        path: &Path,
        overwrite: bool,
        locked: Option<&LockedBundle>,
        context: &Context,
    ) -> Result<Replaced> {
        let mut file = Publisher::create(path, overwrite)?;
        let mut sink = Tee {
            sink: &mut file,
            hasher: Hasher::default(),
            context,
        };
        let written = self.write_to(context, &mut sink)?;
        let sha256 = sink.hasher.finish();
        context.check()?;
        if let Err(error) = written {
            return Err(Error::file_io("write", &display_path(path), &error));
        }
        if let Some(locked) = locked {
            locked.check_unchanged()?;
        }
        let published = file.commit()?;
        Ok(Replaced { published, sha256 })
    }
}

fn busy(name: &str) -> Error {
    let message = format!("Another process has been changing {name} for a minute");
    Error::new(Code::RevisionConflict, message)
        .action("Run it again when the other process has ended.")
        .detail("reason", "locked")
        .detail("path", name)
}

/// Hashes what it passes on, and stops when the operation is cancelled.
struct Tee<'a> {
    sink: &'a mut dyn Sink,
    hasher: Hasher,
    context: &'a Context,
}

impl Sink for Tee<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.context.cancellation.is_requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.hasher.update(bytes);
        self.sink.put(bytes)
    }
}
