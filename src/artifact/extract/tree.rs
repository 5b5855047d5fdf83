//! The folder that is written: created fresh, never through a link, and named
//! only when it is complete.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use tempfile::TempDir;

use super::super::folder::open_beneath;
use crate::digest::{Digest, Hasher};
use crate::error::{ArtifactReason, Code, Error, Result, io_reason};
use crate::operation::Context;
use crate::publish::{display_path, sync_folder};

/// Says of a folder's name that it must not be used.
const INCOMPLETE: &str = "incomplete-";
/// Where the caller names no folder.
const OWN_NAME: &str = "rea-extract";
/// Up to so many files, each is flushed by itself; beyond, the file system is.
#[cfg(target_os = "linux")]
const FLUSH_EACH: usize = 256;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A folder that is being written.
pub(super) struct Tree {
    operation: &'static str,
    staging: TempDir,
    root: OwnedFd,
    parent: PathBuf,
    /// The name it will have.
    name: OsString,
    /// The destination as it is told.
    shown: String,
}

/// Refuses a destination that cannot be used, before any work is done.
pub(super) fn check(into: Option<&Path>, context: &Context) -> Result<()> {
    match into {
        Some(into) => destination(into, context.operation).map(|_| ()),
        None => Ok(()),
    }
}

/// The folder around a destination that does not exist yet, and its name.
fn destination(into: &Path, operation: &str) -> Result<(PathBuf, OsString)> {
    let shown = display_path(into).into_owned();
    let refused = |reason, text: &str| {
        Error::artifact(operation, reason, format!("{shown} {text}"))
            .detail("path", shown.as_str())
            .detail("detail", text)
    };
    let name = into
        .file_name()
        .ok_or_else(|| refused(ArtifactReason::Path, "names no folder"))?;
    let around = match into.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let parent = around.canonicalize().map_err(|error| {
        let text = format!("cannot be created there: {}", io_reason(&error));
        refused(ArtifactReason::Unavailable, &text)
            .action("Create the folder around it first, or name another one.")
    })?;
    match fs::symlink_metadata(parent.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(_) => {
            return Err(refused(
                ArtifactReason::Path,
                "exists already; extraction needs a fresh folder",
            )
            .action("Name a folder that does not exist yet."));
        }
        Err(error) => {
            let text = format!("cannot be used: {}", io_reason(&error));
            return Err(refused(ArtifactReason::Path, &text));
        }
    }
    Ok((parent, name.to_owned()))
}

impl Tree {
    /// Creates the folder under a name that says that it is incomplete, beside
    /// the name that it will have.
    pub fn create(into: Option<&Path>, context: &Context) -> Result<Self> {
        let operation = context.operation;
        let (parent, name) = match into {
            Some(into) => destination(into, operation)?,
            None => {
                let parent = std::env::temp_dir();
                let parent = parent.canonicalize().unwrap_or(parent);
                (parent, OsString::from(OWN_NAME))
            }
        };
        // A long name must leave room for what makes it another one.
        let mut prefix = if name.len() <= 200 {
            name.clone()
        } else {
            OsString::from(OWN_NAME)
        };
        prefix.push(".");
        prefix.push(INCOMPLETE);
        let shown = display_path(into.unwrap_or(&parent)).into_owned();
        let failed = |error: &io::Error| write_failed(operation, &shown, None, error);
        let staging = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&parent)
            .map_err(|error| failed(&error))?;
        let name = match into {
            Some(_) => name,
            None => {
                let unique = staging.path().file_name().unwrap_or_default().as_bytes();
                let unique = unique.get(prefix.len()..).unwrap_or_default();
                let mut name = OsString::from(OWN_NAME);
                name.push("-");
                name.push(std::ffi::OsStr::from_bytes(unique));
                name
            }
        };
        let root = rustix::fs::open(staging.path(), FOLDER, Mode::empty())
            .map_err(|error| failed(&error.into()))?;
        Ok(Self {
            operation,
            staging,
            root,
            parent,
            name,
            shown,
        })
    }

    fn failed(&self, path: &str, error: &io::Error) -> Error {
        write_failed(self.operation, &self.shown, Some(path), error)
    }

    /// Creates the folders that files at these paths need.
    pub fn folders<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Result<()> {
        for folder in folders_of(paths) {
            let (parent, name) = self.parent_of(folder)?;
            let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
            rustix::fs::mkdirat(parent, name, Mode::RWXU)
                .and_then(|()| rustix::fs::openat(parent, name, FOLDER, Mode::empty()))
                // The process's umask must not decide who may read it.
                .and_then(|folder| rustix::fs::fchmod(folder, Mode::RWXU))
                .map_err(|error| self.failed(folder, &error.into()))?;
        }
        Ok(())
    }

    /// The open folder around a path (`None` for the root) and the last
    /// segment. A path that could lead out is refused, whoever made it.
    fn parent_of<'a>(&self, path: &'a str) -> Result<(Option<OwnedFd>, &'a str)> {
        let odd = |segment: &str| matches!(segment, "" | "." | "..") || segment.contains('\0');
        if path.split('/').any(odd) {
            let message = format!("{path} is no path below a folder");
            return Err(
                Error::artifact(self.operation, ArtifactReason::Path, message)
                    .detail("logical_path", path),
            );
        }
        let Some((parent, name)) = path.rsplit_once('/') else {
            return Ok((None, path));
        };
        let parent = open_beneath(self.root.as_fd(), parent.as_bytes(), FOLDER)
            .map_err(|error| self.failed(path, &error))?;
        Ok((Some(parent), name))
    }

    /// Creates a file, which must not exist.
    pub fn file(&self, path: &str) -> Result<Output> {
        let (parent, name) = self.parent_of(path)?;
        let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(parent, name, flags, mode)
            .and_then(|file| rustix::fs::fchmod(&file, mode).map(|()| file))
            .map_err(|error| self.failed(path, &error.into()))?;
        Ok(Output {
            file: File::from(file),
            hasher: Hasher::default(),
            written: 0,
        })
    }

    /// What went wrong while `path` was written.
    pub fn write_failed(&self, path: &str, error: &io::Error) -> Error {
        self.failed(path, error)
    }

    /// Removes a file that turned out not to be what it should.
    pub fn remove(&self, path: &str) -> Result<()> {
        let (parent, name) = self.parent_of(path)?;
        let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        rustix::fs::unlinkat(parent, name, AtFlags::empty())
            .map_err(|error| self.failed(path, &error.into()))
    }

    fn open(&self, path: &str) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        open_beneath(self.root.as_fd(), path.as_bytes(), flags)
            .map(File::from)
            .map_err(|error| self.failed(path, &error))
    }

    /// Hands on the bytes of a file that was written.
    pub fn read(&self, path: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let file = self.open(path)?;
        let mut buffer = vec![0; 256 << 10];
        let mut done = 0;
        loop {
            match file.read_at(&mut buffer, done) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    each(buffer.get(..count).unwrap_or_default())?;
                    done += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(path, &error)),
            }
        }
    }

    /// Whether a file reads back as what was written.
    pub fn verify(&self, path: &str, expected: Digest, context: &Context) -> Result<()> {
        let mut hasher = Hasher::default();
        self.read(path, &mut |bytes| {
            context.check()?;
            hasher.update(bytes);
            Ok(())
        })?;
        if hasher.finish() == expected {
            return Ok(());
        }
        let message = format!("{path} does not read back as it was written");
        Err(
            Error::artifact(self.operation, ArtifactReason::Integrity, message)
                .action("Check the disk, and what else writes there.")
                .detail("logical_path", path),
        )
    }

    /// Files and folders reach the disk.
    pub fn sync<'a>(&self, files: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        #[cfg(target_os = "linux")]
        if files.clone().nth(FLUSH_EACH).is_some() {
            return rustix::fs::syncfs(&self.root).map_err(|error| self.failed(".", &error.into()));
        }
        for file in files.clone() {
            let synced = self.open(file)?.sync_all();
            synced.map_err(|error| self.failed(file, &error))?;
        }
        for folder in folders_of(files) {
            let path = self.staging.path().join(folder);
            sync_folder(&path).map_err(|error| self.failed(folder, &error))?;
        }
        sync_folder(self.staging.path()).map_err(|error| self.failed(".", &error))
    }

    /// Gives the folder its name, which nobody must have taken; the path.
    pub fn publish(self) -> Result<PathBuf> {
        let target = self.parent.join(&self.name);
        if let Err(error) = rename_fresh(self.staging.path(), &target) {
            let failed = self.failed(".", &error);
            return Err(self.discard(failed));
        }
        // It has another name now; there is nothing left to remove.
        let _ = self.staging.keep();
        sync_folder(&self.parent).map_err(|error| {
            write_failed(self.operation, &self.shown, None, &error)
                .detail("published", true)
                .detail("published_path", display_path(&target).into_owned())
        })?;
        Ok(target)
    }

    /// Removes everything; `error` is why, and says so where that fails.
    pub fn discard(self, error: Error) -> Error {
        let path = self.staging.path().to_owned();
        let removed = self.staging.close();
        let gone = matches!(
            fs::symlink_metadata(&path),
            Err(error) if error.kind() == io::ErrorKind::NotFound
        );
        if removed.is_ok() && gone {
            return error;
        }
        let reason = match &removed {
            Err(error) => io_reason(error),
            Ok(()) => "it is still there".to_owned(),
        };
        let residue = display_path(&path).into_owned();
        let message = format!("{}; what was written remains in {residue}", error.message());
        let mut incomplete = Error::new(Code::CleanupIncomplete, message)
            .in_category(error.category())
            .action(format!("Remove {residue}; nothing in it may be used."));
        for (name, value) in error.details().iter() {
            incomplete = incomplete.detail(name.as_str().unwrap_or_default(), value.clone());
        }
        incomplete
            .detail("cleanup", "incomplete")
            .detail("cleanup_reason", reason)
            .detail("execution_failure", error.code().as_str())
            .detail("resources", vec![residue])
    }
}

/// All folders above these paths, outer before inner.
fn folders_of<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::new();
    for path in paths {
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            if !folders.insert(folder) {
                break;
            }
            rest = folder;
        }
    }
    folders
}

/// Renames a folder to a name that nothing has.
fn rename_fresh(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            // The file system cannot; an empty folder takes the name instead
            // and is replaced in one step.
            fs::create_dir(to)?;
            fs::rename(from, to)
        }
        result => Ok(result?),
    }
}

fn write_failed(operation: &str, into: &str, path: Option<&str>, error: &io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::AlreadyExists => ArtifactReason::Path,
        _ => ArtifactReason::Io,
    };
    let what = match path {
        Some(path) => format!("{path} cannot be written into {into}"),
        None => format!("nothing can be written into {into}"),
    };
    let text = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "a file of that name is there already, perhaps one that differs by case".to_owned()
        }
        _ => io_reason(error),
    };
    let failed = Error::artifact(operation, reason, format!("{what}: {text}"))
        .action("Choose a folder that can be written, on a file system with room that tells case apart.")
        .detail("path", into)
        .detail("detail", text);
    match path {
        Some(path) if path != "." => failed.detail("logical_path", path),
        _ => failed,
    }
}

/// A file that is being written.
pub(super) struct Output {
    file: File,
    hasher: Hasher,
    written: u64,
}

impl Output {
    /// The next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// How many bytes were written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// SHA-256 of what was written.
    pub fn finish(self) -> Digest {
        self.hasher.finish()
    }
}
