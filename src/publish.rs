//! The one atomic writer: a file is complete under its name, or not there.
//!
//! Bytes go into a fresh `.rea-write-*` folder beside the destination (file
//! mode 0600), reach the disk, and are then published in one step: by rename
//! where replacing is allowed, else by hard link, so that whoever creates the
//! name first keeps it. The staging folder is removed on every way out.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Code, Error, Result};
use crate::json::Sink;

const MODE: u32 = 0o600;

/// A file that is being written and has no name yet.
///
/// Dropping it without [`Publisher::commit`] leaves nothing behind.
#[derive(Debug)]
pub struct Publisher {
    destination: Destination,
    staging: TempDir,
    staged: PathBuf,
    file: File,
    bytes: u64,
}

/// What [`Publisher::commit`] made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Where it is, with the folder's links resolved.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
}

#[derive(Debug)]
struct Destination {
    /// As the user gave it, for messages.
    given: String,
    folder: PathBuf,
    path: PathBuf,
    overwrite: bool,
}

impl Destination {
    fn new(path: &Path, overwrite: bool) -> Result<Self> {
        let given = display_path(path).into_owned();
        let name = path
            .file_name()
            .filter(|_| !path.as_os_str().as_bytes().ends_with(b"/"));
        let Some(name) = name else {
            return Err(not_a_file(&given));
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().map_err(|error| {
            let folder = display_path(folder);
            Error::file_io("write", &folder, &error)
                .action("Create the folder first, or name another one.")
        })?;
        Ok(Self {
            path: folder.join(name),
            folder,
            given,
            overwrite,
        })
    }

    /// Refuses what must not be replaced.
    fn check(&self) -> Result<()> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(self.failed(&error)),
            Ok(_) if !self.overwrite => Err(self.exists()),
            Ok(found) if !found.is_file() => Err(not_a_file(&self.given)),
            Ok(_) => Ok(()),
        }
    }

    fn exists(&self) -> Error {
        let message = format!("{} exists already", self.given);
        Error::file("write", "exists", &self.given, message)
            .action("Choose another name, or allow replacing it with --overwrite.")
    }

    fn failed(&self, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return self.exists();
        }
        Error::file_io("write", &self.given, error)
            .action("Choose a folder that can be written and has room.")
    }
}

fn not_a_file(given: &str) -> Error {
    let message = format!("{given} is not a regular file");
    Error::file("write", "not-file", given, message)
        .action("Name a regular file; links, folders and devices are not replaced.")
}

impl Publisher {
    /// Says early whether [`Publisher::create`] and [`Publisher::commit`]
    /// would refuse `path`, so that no work is done in vain.
    ///
    /// Errors are those of the contract's file publication: `exists`,
    /// `not-file`, `missing` (the folder), `io`.
    pub fn check(path: &Path, overwrite: bool) -> Result<()> {
        Destination::new(path, overwrite)?.check()
    }

    /// Opens the staging file for `path`.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let destination = Destination::new(path, overwrite)?;
        destination.check()?;
        let staging = tempfile::Builder::new()
            .prefix(".rea-write-")
            .tempdir_in(&destination.folder)
            .map_err(|error| destination.failed(&error))?;
        let staged = staging.path().join("content");
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(MODE)
            .open(&staged)
            // The process's umask must not decide who may read it.
            .and_then(|file| {
                file.set_permissions(Permissions::from_mode(MODE))
                    .map(|()| file)
            })
            .map_err(|error| destination.failed(&error))?;
        Ok(Self {
            destination,
            staging,
            staged,
            file,
            bytes: 0,
        })
    }

    /// Publishes the file under its name.
    ///
    /// Errors leave the destination as it was, except `cleanup_incomplete`:
    /// then the file is published (`details.published`) and only the staging
    /// folder or the folder's own flush failed.
    pub fn commit(self) -> Result<Published> {
        let destination = &self.destination;
        let failed = |error: io::Error| destination.failed(&error);
        self.file.sync_all().map_err(failed)?;
        destination.check()?;
        if destination.overwrite {
            fs::rename(&self.staged, &destination.path).map_err(failed)?;
        } else {
            link_new(&self.staged, &destination.path).map_err(failed)?;
        }
        let published = Published {
            path: destination.path.clone(),
            bytes: self.bytes,
        };
        let synced = sync_folder(&destination.folder);
        let removed = self.staging.close();
        match synced.and(removed) {
            Ok(()) => Ok(published),
            Err(error) => Err(unclean(&self.destination, &published, &error)),
        }
    }
}

/// Gives `staged` the name `path` unless somebody has it: `AlreadyExists`.
fn link_new(staged: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(staged, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // File systems without hard links still rename without replacing.
        Err(_) => Ok(rustix::fs::renameat_with(
            rustix::fs::CWD,
            staged,
            rustix::fs::CWD,
            path,
            rustix::fs::RenameFlags::NOREPLACE,
        )?),
    }
}

/// Flushes a folder's names.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    lenient(File::open(folder).and_then(|folder| folder.sync_all()))
}

/// [`sync_folder`] of a folder that is open.
pub(crate) fn sync_open_folder(folder: &File) -> io::Result<()> {
    lenient(folder.sync_all())
}

/// Some file systems cannot flush a folder and say so; that is no failure.
fn lenient(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

fn unclean(destination: &Destination, published: &Published, error: &io::Error) -> Error {
    let reason = crate::error::io_reason(error);
    let message = format!(
        "{} was written, but tidying up after it failed: {reason}",
        destination.given
    );
    Error::new(Code::CleanupIncomplete, message)
        .action("Use the file; remove a `.rea-write-*` folder beside it if one is left.")
        .detail("operation", "write")
        .detail("path", destination.given.as_str())
        .detail("cleanup", "incomplete")
        .detail("cleanup_reason", reason)
        .detail("published", true)
        .detail("published_path", display_path(&published.path).into_owned())
        .detail("bytes", published.bytes)
}

/// A path as text: bytes that are not UTF-8 as `%XX`.
pub fn display_path(path: &Path) -> Cow<'_, str> {
    let bytes = path.as_os_str().as_bytes();
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Cow::Owned(out)
}

impl Write for Publisher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Sink for Publisher {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    fn reason(error: &Error) -> &str {
        error
            .details()
            .get("reason")
            .and_then(|v| v.as_str())
            .unwrap()
    }

    fn publish(path: &Path, overwrite: bool, text: &str) -> Result<Published> {
        let mut file = Publisher::create(path, overwrite)?;
        file.write_all(text.as_bytes()).unwrap();
        file.commit()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn publishes_once_and_replaces_only_when_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let published = publish(&path, false, "one").unwrap();
        assert_eq!(published.bytes, 3);
        let found = fs::metadata(&path).unwrap();
        assert_eq!(found.mode() & 0o7777, 0o600);
        assert_eq!(found.nlink(), 1, "the staged name is gone");

        let refused = publish(&path, false, "two").unwrap_err();
        assert_eq!(refused.code(), Code::ExecutionFailure);
        assert_eq!(reason(&refused), "exists");
        assert_eq!(fs::read(&path).unwrap(), b"one");

        publish(&path, true, "three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(names(folder.path()), ["out.json"]);
    }

    #[test]
    fn a_racing_creator_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let mut file = Publisher::create(&path, false).unwrap();
        file.write_all(b"late").unwrap();
        fs::write(&path, "early").unwrap();
        assert_eq!(reason(&file.commit().unwrap_err()), "exists");
        assert_eq!(fs::read(&path).unwrap(), b"early");
        assert_eq!(names(folder.path()), ["out.json"]);

        // The same race past the last look at the name.
        let staged = folder.path().join("staged");
        fs::write(&staged, "late").unwrap();
        let refused = link_new(&staged, &path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn dropping_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let mut file = Publisher::create(&path, false).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        assert!(names(folder.path())[0].starts_with(".rea-write-"));
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn links_folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        let link = folder.path().join("link");
        fs::write(&target, "kept").unwrap();
        symlink(&target, &link).unwrap();
        assert_eq!(reason(&publish(&link, false, "x").unwrap_err()), "exists");
        assert_eq!(reason(&publish(&link, true, "x").unwrap_err()), "not-file");
        assert_eq!(fs::read(&target).unwrap(), b"kept");

        let dir = folder.path().join("dir");
        fs::create_dir(&dir).unwrap();
        assert_eq!(reason(&publish(&dir, true, "x").unwrap_err()), "not-file");
        let slash = folder.path().join("new/");
        assert_eq!(reason(&publish(&slash, true, "x").unwrap_err()), "not-file");
        let nowhere = folder.path().join("no/where");
        assert_eq!(
            reason(&Publisher::check(&nowhere, true).unwrap_err()),
            "missing"
        );
    }

    #[test]
    fn the_folder_is_found_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        symlink(&real, folder.path().join("alias")).unwrap();
        let published = publish(&folder.path().join("alias/out"), false, "x").unwrap();
        assert_eq!(published.path, real.canonicalize().unwrap().join("out"));
        assert_eq!(names(&real), ["out"]);
    }

    #[test]
    fn paths_that_are_not_utf8_are_escaped() {
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xE9b/\xC3\xA9"));
        assert_eq!(display_path(path), "a%E9b/\u{e9}");
    }
}
