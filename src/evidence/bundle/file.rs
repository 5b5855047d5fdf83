//! A bundle file that is replaced, without losing what another process writes
//! at the same time.
//!
//! Whoever replaces a bundle holds an exclusive lock on the file from before
//! anything is read until it is replaced, whether or not it reads that file. A
//! replaced file is another file under the same name, so whoever waited for the
//! lock looks again at what has the name now, and an operand that was that
//! file under another name (a hard link, standard input) must be it still.
//! Programs that don't take the lock are noticed: the file must still be the
//! one that was locked when it is replaced.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::Bundle;
use super::input::read_bundle;
use crate::digest::{Digest, Hasher};
use crate::error::{Code, Error, Result};
use crate::evidence::Source;
use crate::evidence::source::FileVersion;
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
    version: FileVersion,
}

/// What a bundle file was replaced by.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Where it is and how large.
    pub published: Published,
    /// SHA-256 of the bundle, and of the file.
    pub sha256: Digest,
}

impl LockedBundle {
    /// Waits for the lock. Errors are those of reading and replacing files,
    /// and `revision_conflict` where another process keeps the lock for a
    /// minute.
    pub fn open(path: &Path, context: &Context) -> Result<Self> {
        Self::open_if_there(path, context)?.ok_or_else(|| {
            let error = io::Error::from(io::ErrorKind::NotFound);
            Error::file_io("read", &display_path(path), &error)
                .action("`rea bundle RECORD... -o FILE` makes a bundle; `--empty` an empty one.")
        })
    }

    /// The same; `None` where there is no file.
    pub fn open_if_there(path: &Path, context: &Context) -> Result<Option<Self>> {
        let name = display_path(path).into_owned();
        let failed = |error: io::Error| Error::file_io("read", &name, &error);
        let begun = Instant::now();
        loop {
            context.check()?;
            // Links and folders cannot be replaced; better said before any work.
            Publisher::check(path, true)?;
            match open_to_lock(path) {
                Ok(file) => match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => {
                        let version = FileVersion::of(&file.metadata().map_err(failed)?);
                        if place_of(path) == Some(version.place()) {
                            return Ok(Some(Self {
                                path: path.to_owned(),
                                _file: file,
                                version,
                            }));
                        }
                    }
                    Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                    Err(error) => return Err(unlockable(&name, error)),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                // It has become a link since it was looked at; look again.
                Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {}
                Err(error) => {
                    return Err(failed(error)
                        .action("What is replaced must be readable, so that it can be locked."));
                }
            }
            if begun.elapsed() >= PATIENCE {
                return Err(busy(&name));
            }
            std::thread::sleep(PAUSE);
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
        bundle.publish(BundleOutput::from(self), context)
    }

    /// The file must be the one that was locked: `revision_conflict` where a
    /// program that takes no lock has changed it.
    pub fn check_unchanged(&self) -> Result<()> {
        let found = fs::symlink_metadata(&self.path);
        match found.map(|found| FileVersion::of(&found)) {
            Ok(found) if found == self.version => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::file_io("read", &display_path(&self.path), &error))
            }
            _ => Err(conflict(&self.path, "was changed by another program")),
        }
    }
}

/// Opens a file itself, never what a link leads to. Network file systems give
/// exclusive locks on what is open for writing alone.
fn open_to_lock(path: &Path) -> io::Result<File> {
    let open = |write| {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        OpenOptions::new()
            .read(true)
            .write(write)
            .custom_flags(i32::try_from(flags).unwrap_or(0))
            .open(path)
    };
    match open(true) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::ExecutableFileBusy
            ) =>
        {
            open(false)
        }
        other => other,
    }
}

/// Device and inode of what has the name, links not followed.
fn place_of(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Device and inode of what is read for an operand, `-` being standard input.
fn place_of_operand(path: &Path) -> Option<(u64, u64)> {
    if path.as_os_str() != "-" {
        let found = fs::metadata(path).ok()?;
        return Some((found.dev(), found.ino()));
    }
    // A duplicate, as `File` alone says what it is in the standard library.
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    let found = File::from(stdin.ok()?).metadata().ok()?;
    found.is_file().then_some((found.dev(), found.ino()))
}

/// Whether standard input is what had the name `path` before it was replaced,
/// on hosts that tell.
fn was(operand: &Path, path: &Path) -> bool {
    if operand.as_os_str() != "-" {
        return false;
    }
    let (Ok(known), Some(name)) = (fs::read_link("/proc/self/fd/0"), path.file_name()) else {
        return false;
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let Ok(mut here) = fs::canonicalize(parent.unwrap_or(Path::new("."))) else {
        return false;
    };
    here.push(name);
    here.as_mut_os_string().push(" (deleted)");
    known == here
}

/// The file that a bundle, or something made of one, goes to: guarded from
/// before anything is read until it is published.
#[derive(Debug)]
pub struct BundleOutput {
    path: PathBuf,
    overwrite: bool,
    held: Option<LockedBundle>,
    in_place: bool,
}

impl BundleOutput {
    /// Waits for the lock of a file that is replaced. To be called before any
    /// of the `operands` is opened.
    ///
    /// Errors: those of [`Publisher::check`] and [`LockedBundle::open`], and
    /// `revision_conflict` where an operand was the file and, when the lock is
    /// held, is what another process has replaced.
    pub fn open(
        path: &Path,
        overwrite: bool,
        operands: &[&Path],
        context: &Context,
    ) -> Result<Self> {
        Publisher::check(path, overwrite)?;
        let mut output = Self {
            path: path.to_owned(),
            overwrite,
            held: None,
            in_place: false,
        };
        if !overwrite {
            return Ok(output);
        }
        let before = place_of(path);
        let same = |operand: &&&Path| {
            let place = place_of_operand(operand);
            (place.is_some() && place == before) || was(operand, path)
        };
        let same: Vec<&&Path> = operands.iter().filter(same).collect();
        output.held = LockedBundle::open_if_there(path, context)?;
        let held = output.held.as_ref().map(|held| held.version.place());
        let is_held = |operand: &Path| held.is_some() && place_of_operand(operand) == held;
        if let Some(operand) = same.iter().find(|operand| !is_held(operand)) {
            let error = conflict(path, "was replaced by another program");
            return Err(error.detail("operand", display_path(operand).into_owned()));
        }
        output.in_place = operands.iter().any(|operand| is_held(operand));
        Ok(output)
    }

    /// Whether an operand is the file that is replaced.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Starts to write the file.
    pub fn create(&self) -> Result<Publisher> {
        // Where there was none, whoever makes one meanwhile must not lose it.
        Publisher::create(&self.path, self.held.is_some()).map_err(|error| self.told(error))
    }

    /// Publishes what [`BundleOutput::create`] began: `revision_conflict`
    /// where the file is not what it was.
    pub fn commit(self, file: Publisher) -> Result<Published> {
        if let Some(held) = &self.held {
            held.check_unchanged()?;
        }
        file.commit().map_err(|error| self.told(error))
    }

    fn told(&self, error: Error) -> Error {
        let reason = error.details().get("reason");
        let exists = reason.and_then(crate::json::Value::as_str) == Some("exists");
        match exists && self.overwrite {
            true => conflict(&self.path, "was made by another program"),
            false => error,
        }
    }
}

impl From<LockedBundle> for BundleOutput {
    fn from(locked: LockedBundle) -> Self {
        Self {
            path: locked.path.clone(),
            overwrite: true,
            held: Some(locked),
            in_place: true,
        }
    }
}

impl Bundle {
    /// Writes the bundle to a file in canonical form, complete or not at all,
    /// and only where no other program has changed that file.
    ///
    /// Errors are those of [`Publisher`], [`BundleOutput::commit`] and
    /// [`Bundle::write`].
    pub fn publish(&self, output: BundleOutput, context: &Context) -> Result<Replaced> {
        let mut file = output.create()?;
        let mut sink = Tee {
            sink: &mut file,
            hasher: Hasher::default(),
            context,
        };
        let written = self.write_to(context, &mut sink)?;
        let sha256 = sink.hasher.finish();
        context.check()?;
        if let Err(error) = written {
            return Err(Error::file_io("write", &display_path(&output.path), &error));
        }
        let published = output.commit(file)?;
        Ok(Replaced { published, sha256 })
    }
}

fn conflict(path: &Path, what: &str) -> Error {
    let name = display_path(path);
    let message = format!("{name} {what} in the meantime");
    Error::new(Code::RevisionConflict, message)
        .action("Run it again; nothing was written.")
        .detail("reason", "revision-conflict")
        .detail("path", name.into_owned())
}

/// Why there is no lock, where it is not that another process has it.
fn unlockable(name: &str, error: Errno) -> Error {
    match error {
        Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS => {
            let message = format!("{name} is on a file system that cannot lock it: {error}");
            Error::file("write", "io", name, message).action(
                "Change a copy on a local disk, or make the file writable where it is on a \
                 network file system.",
            )
        }
        error => Error::file_io("read", name, &error.into()),
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
