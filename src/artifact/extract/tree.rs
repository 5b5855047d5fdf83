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
use super::place::{Output, Place};
use crate::digest::{Digest, Hasher};
use crate::error::{ArtifactReason, Code, Error, Result, io_reason};
use crate::operation::Context;
use crate::publish::{display_path, sync_folder, sync_open_folder};

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
pub(super) fn check(into: Option<&Path>, artifact: &Path, context: &Context) -> Result<()> {
    let parent = match into {
        Some(into) => destination(into, context.operation)?.0,
        None => temporary_folder(),
    };
    // A path that cannot be resolved is told when it is opened.
    match artifact.canonicalize() {
        Ok(artifact) if parent.starts_with(&artifact) => {
            Err(inside(into.unwrap_or(&parent), &artifact, context))
        }
        _ => Ok(()),
    }
}

/// What is written must not become a part of what is read.
fn inside(destination: &Path, artifact: &Path, context: &Context) -> Error {
    let shown = display_path(destination);
    let artifact = display_path(artifact);
    let text = format!("is inside of {artifact}, which is extracted");
    Error::artifact(
        context.operation,
        ArtifactReason::Path,
        format!("{shown} {text}"),
    )
    .action("Name a folder outside of it with --into.")
    .detail("path", shown.into_owned())
    .detail("detail", text)
}

fn temporary_folder() -> PathBuf {
    let folder = std::env::temp_dir();
    folder.canonicalize().unwrap_or(folder)
}

/// The folder around a destination that does not exist yet, and its name.
fn destination(into: &Path, operation: &str) -> Result<(PathBuf, OsString)> {
    let shown = display_path(into).into_owned();
    let refused = |reason, text: &str| {
        Error::artifact(operation, reason, format!("{shown} {text}"))
            .action("Name a folder that does not exist yet.")
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
            ));
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
                let parent = temporary_folder();
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
    pub fn folders<'a>(
        &self,
        paths: impl Iterator<Item = &'a str>,
        context: &Context,
    ) -> Result<()> {
        for folder in folders_of(paths) {
            context.check()?;
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

    fn open(&self, path: &str) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        open_beneath(self.root.as_fd(), path.as_bytes(), flags)
            .map(File::from)
            .map_err(|error| self.failed(path, &error))
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
    pub fn sync<'a>(
        &self,
        files: impl Iterator<Item = &'a str> + Clone,
        context: &Context,
    ) -> Result<()> {
        #[cfg(target_os = "linux")]
        if files.clone().nth(FLUSH_EACH).is_some() {
            return rustix::fs::syncfs(&self.root).map_err(|error| self.failed(".", &error.into()));
        }
        for file in files.clone() {
            context.check()?;
            let synced = self.open(file)?.sync_all();
            synced.map_err(|error| self.failed(file, &error))?;
        }
        for folder in folders_of(files) {
            context.check()?;
            // By its descriptor: its whole path may be too long for a name.
            open_beneath(self.root.as_fd(), folder.as_bytes(), FOLDER)
                .and_then(|folder| sync_open_folder(&File::from(folder)))
                .map_err(|error| self.failed(folder, &error))?;
        }
        let root = self.root.try_clone().map(File::from);
        root.and_then(|root| sync_open_folder(&root))
            .map_err(|error| self.failed(".", &error))
    }

    /// Gives the folder its name, which nobody must have taken; the path.
    pub fn publish(self) -> Result<PathBuf> {
        let target = self.parent.join(&self.name);
        if let Err(error) = rename_fresh(self.staging.path(), &target) {
            let failed = self.failed(".", &error);
            return Err(self.discard(failed));
        }
        // It has another name now; there is nothing left to remove.
        let staged = self.staging.keep();
        match is_folder(&self.root, &target) {
            Ok(true) => {}
            Ok(false) => return Err(replaced(self.operation, &staged, &target)),
            Err(error) => return Err(write_failed(self.operation, &self.shown, None, &error)),
        }
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
            rename_over_empty(from, to)
        }
        result => Ok(result?),
    }
}

/// Where the file system cannot rename without replacing: an empty folder
/// takes the name and is replaced in one step.
fn rename_over_empty(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::rename(from, to).inspect_err(|_| {
        // Nothing else than an empty folder is removed; why the rename failed
        // says more than why this would.
        let _ = fs::remove_dir(to);
    })
}

/// Whether `path` names the folder that is open.
fn is_folder(open: &OwnedFd, path: &Path) -> io::Result<bool> {
    let known = rustix::fs::fstat(open)?;
    let found = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((known.st_dev, known.st_ino) == (found.st_dev, found.st_ino))
}

/// Somebody moved the folder away while it was written and put another one in
/// its place, which now has the name.
fn replaced(operation: &str, staged: &Path, target: &Path) -> Error {
    let shown = display_path(target).into_owned();
    let staged = display_path(staged);
    let text = format!("is not the folder that was written: {staged} was replaced meanwhile");
    Error::artifact(operation, ArtifactReason::Path, format!("{shown} {text}"))
        .action(format!(
            "Do not use {shown}; extract into a folder that nobody else can write."
        ))
        .detail("path", shown)
        .detail("detail", text)
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

impl Place for Tree {
    fn file<'p>(&'p self, path: &str) -> Result<Box<dyn Output + 'p>> {
        let (parent, name) = self.parent_of(path)?;
        let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(parent, name, flags, mode)
            .and_then(|file| rustix::fs::fchmod(&file, mode).map(|()| file))
            .map_err(|error| self.failed(path, &error.into()))?;
        Ok(Box::new(Written {
            file: File::from(file),
            hasher: Hasher::default(),
            written: 0,
        }))
    }

    fn write_failed(&self, path: &str, error: &io::Error) -> Error {
        self.failed(path, error)
    }

    fn remove(&self, path: &str) -> Result<()> {
        let (parent, name) = self.parent_of(path)?;
        let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        rustix::fs::unlinkat(parent, name, AtFlags::empty())
            .map_err(|error| self.failed(path, &error.into()))
    }

    fn read(&self, path: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
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
}

/// A file that is being written.
struct Written {
    file: File,
    hasher: Hasher,
    written: u64,
}

impl Output for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn finish(self: Box<Self>) -> Digest {
        self.hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(into: &Path) -> Tree {
        Tree::create(Some(into), &Context::new("extract_artifact")).unwrap()
    }

    #[test]
    fn a_rename_that_fails_leaves_no_empty_folder() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        assert!(rename_over_empty(&folder.path().join("gone"), &to).is_err());
        assert!(!to.exists());

        let from = folder.path().join("from");
        fs::create_dir(&from).unwrap();
        fs::write(from.join("file"), "x").unwrap();
        rename_over_empty(&from, &to).unwrap();
        assert!(to.join("file").exists() && !from.exists());
        // A name that is taken is not touched.
        fs::create_dir(&from).unwrap();
        assert!(rename_over_empty(&from, &to).is_err());
        assert!(to.join("file").exists() && from.exists());
    }

    #[test]
    fn another_folder_in_its_place_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("out");
        let good = tree(&into);
        assert_eq!(good.publish().unwrap(), into.canonicalize().unwrap());

        let into = folder.path().join("swapped");
        let swapped = tree(&into);
        let staged = swapped.staging.path().to_owned();
        fs::rename(&staged, folder.path().join("away")).unwrap();
        fs::create_dir(&staged).unwrap();
        let error = swapped.publish().unwrap_err();
        assert!(error.message().contains("is not the folder"), "{error}");
    }

    #[test]
    fn folders_and_flushing_stop_when_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let tree = tree(&folder.path().join("out"));
        let context = Context::new("extract_artifact");
        tree.folders(["a/b"].into_iter(), &context).unwrap();
        context.cancellation.request(None);
        let stopped = [
            tree.folders(["c/d"].into_iter(), &context),
            tree.sync(["a/b"].into_iter(), &context),
        ];
        for result in stopped {
            assert_eq!(result.unwrap_err().code(), Code::Cancelled);
        }
    }
}
