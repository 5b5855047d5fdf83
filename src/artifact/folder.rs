//! A folder as a container: listed level by level, never through links.
//!
//! Everything is opened relative to the root's descriptor and without
//! following links, so that a tree that changes under the walk cannot lead
//! out of it, and no path is too long. What is opened must be what was listed.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rayon::prelude::*;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::containers::{
    Closing, Container, Fault, Limit, Listing, Member, MemberKind, Out, Reading, Scratch, UNKNOWN,
};
use super::limitation::{Limitation, Note, Notes};
use super::names::{MAX_ALL, Style};
use super::options::Options;
use super::source::Source;
use crate::error::{Code, Error, Result};
use crate::operation::Context;

/// A listed folder.
pub(crate) struct Folder {
    root: OwnedFd,
    listing: Listing,
    /// Device and inode of each member.
    identities: Vec<(u64, u64)>,
    /// Devices, FIFOs and sockets that were left out: path and type.
    omitted: Vec<(Box<[u8]>, &'static str)>,
    unreadable: bool,
    context: Context,
}

/// What one directory holds.
struct Found {
    path: Box<[u8]>,
    kind: FileType,
    mode: u16,
    size: u64,
    identity: (u64, u64),
}

impl Folder {
    /// Lists everything below `path`, sorted by raw bytes.
    pub fn open(
        path: &std::path::Path,
        options: &Options,
        context: &Context,
    ) -> Result<Self, Fault> {
        let root = rustix::fs::open(path, directory_flags(), Mode::empty())
            .map_err(|error| Fault::from(io::Error::from(error)))?;
        let mut found: Vec<Found> = Vec::new();
        let mut unreadable: Vec<Vec<u8>> = Vec::new();
        let mut level: Vec<Vec<u8>> = vec![Vec::new()];
        let mut depth = 0;
        while !level.is_empty() {
            context.check()?;
            if depth > options.max_depth {
                return Err(Fault::Limit(Limit {
                    name: "max_depth",
                    value: options.max_depth,
                }));
            }
            let listed: Vec<_> = level
                .par_iter()
                .map(|directory| (directory, list(root.as_fd(), directory, context)))
                .collect();
            let mut next = Vec::new();
            for (directory, entries) in listed {
                match entries {
                    Ok(entries) => found.extend(entries),
                    Err(error) if is_denied(&error) => unreadable.push(directory.clone()),
                    Err(error) => return Err(changed_or_io(context, directory, &error)),
                }
            }
            if found.len() as u64 > options.max_entries {
                return Err(Fault::Limit(Limit {
                    name: "max_entries",
                    value: options.max_entries,
                }));
            }
            // Only what this level found can be a directory of the next one.
            next.extend(
                found
                    .iter()
                    .rev()
                    .take_while(|entry| depth_of(&entry.path) == depth)
                    .filter(|entry| entry.kind == FileType::Directory)
                    .map(|entry| entry.path.to_vec()),
            );
            level = next;
            depth += 1;
        }
        if unreadable.first().is_some_and(Vec::is_empty) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        unreadable.sort_unstable();
        found.par_sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut folder = Self {
            root,
            listing: Listing::default(),
            identities: Vec::with_capacity(found.len()),
            omitted: Vec::new(),
            unreadable: !unreadable.is_empty(),
            context: context.clone(),
        };
        folder.listing.members.reserve_exact(found.len());
        for entry in found {
            folder.add(entry, &unreadable)?;
        }
        Ok(folder)
    }

    fn add(&mut self, entry: Found, unreadable: &[Vec<u8>]) -> Result<(), Fault> {
        let kind = match entry.kind {
            FileType::RegularFile => MemberKind::File,
            FileType::Directory => MemberKind::Directory,
            FileType::Symlink => MemberKind::Symlink,
            other => {
                self.omitted.push((entry.path, type_name(other)));
                return Ok(());
            }
        };
        let name = self
            .listing
            .push_name(&entry.path)
            .ok_or(Fault::Limit(Limit {
                name: "all paths",
                value: MAX_ALL as u64,
            }))?;
        let mut notes = Notes::default();
        if kind == MemberKind::Directory
            && unreadable
                .binary_search_by(|path| path[..].cmp(&entry.path))
                .is_ok()
        {
            notes.add(Note::UnreadableDirectory);
        }
        self.listing.members.push(Member {
            name,
            size: if kind == MemberKind::File {
                entry.size
            } else {
                UNKNOWN
            },
            compressed: UNKNOWN,
            at: 0,
            word: 0,
            name_crc: 0,
            method: 0,
            flags: 0,
            mode: entry.mode,
            kind,
            notes,
        });
        self.identities.push(entry.identity);
        Ok(())
    }

    fn open_file(&self, index: usize) -> Result<(File, Stat), Fault> {
        let member = &self.listing.members[index];
        let path = self.listing.name(member);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = open_beneath(self.root.as_fd(), path, flags).map_err(|error| {
            if is_denied(&error) {
                Fault::Unavailable(Note::Unreadable)
            } else {
                changed_or_io(&self.context, path, &error)
            }
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|error| Fault::from(io::Error::from(error)))?;
        if identity(&stat) != self.identities[index] || size_of(&stat) != member.size {
            return Err(changed(&self.context, path, "it is not the file that was listed").into());
        }
        Ok((File::from(file), stat))
    }
}

impl Container for Folder {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn take_listing(&mut self) -> Listing {
        std::mem::take(&mut self.listing)
    }

    fn style(&self) -> Style {
        Style::Unix
    }

    fn read(
        &self,
        index: usize,
        _keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        let path = self.listing.name(&self.listing.members[index]);
        if self.listing.members[index].kind == MemberKind::Symlink {
            let target = read_link(self.root.as_fd(), path)
                .map_err(|error| changed_or_io(&self.context, path, &error))?;
            out(&target)?;
            return Ok(Reading::default());
        }
        let (file, before) = self.open_file(index)?;
        if !read_unchanged(&file, &before, scratch, out)? {
            return Err(changed(&self.context, path, "it changed while it was read").into());
        }
        Ok(Reading::default())
    }

    fn region(&self, index: usize) -> Option<Source> {
        let (file, stat) = self.open_file(index).ok()?;
        Some(Source::file(Arc::new(file), size_of(&stat)))
    }

    fn is_contiguous(&self, _index: usize) -> bool {
        true
    }

    fn close(&self) -> Closing {
        let limitations = self.omitted.iter().map(|(path, kind)| {
            let path = super::names::escape(path, Style::Unix, false).path;
            Limitation::new(
                2,
                format!("{path} is a {kind}; it was not opened and is not listed."),
            )
        });
        Closing {
            damage: None,
            incomplete: self.unreadable || !self.omitted.is_empty(),
            limitations: limitations.collect(),
        }
    }
}

/// Reads a whole file; whether it stayed what it was when `before` was taken.
pub(crate) fn read_unchanged(
    file: &File,
    before: &Stat,
    scratch: &mut Scratch,
    out: &mut Out<'_>,
) -> Result<bool, Fault> {
    let size = size_of(before);
    let mut done = 0u64;
    // One read more than the size, to see a file that grew.
    loop {
        let count = read_some(file, &mut scratch.input, done)?;
        if count == 0 {
            break;
        }
        done += count as u64;
        if done > size {
            break;
        }
        out(&scratch.input[..count])?;
        if done == size && count < scratch.input.len() {
            break;
        }
    }
    let after = rustix::fs::fstat(file).map_err(|error| Fault::from(io::Error::from(error)))?;
    Ok(done == size && times(before) == times(&after) && size_of(&after) == size)
}

fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn depth_of(path: &[u8]) -> u64 {
    memchr::memchr_iter(b'/', path).count() as u64
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// The entries of one directory, each with its path from the root.
fn list(root: BorrowedFd<'_>, directory: &[u8], context: &Context) -> io::Result<Vec<Found>> {
    context
        .check()
        .map_err(|_| io::Error::from(io::ErrorKind::Interrupted))?;
    let flags = directory_flags() | OFlags::NOFOLLOW;
    let fd = if directory.is_empty() {
        rustix::fs::openat(root, c".", flags, Mode::empty())?
    } else {
        open_beneath(root, directory, flags)?
    };
    let mut entries = Vec::new();
    for entry in Dir::read_from(&fd)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = rustix::fs::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let mut path = Vec::with_capacity(directory.len() + 1 + name.to_bytes().len());
        if !directory.is_empty() {
            path.extend_from_slice(directory);
            path.push(b'/');
        }
        path.extend_from_slice(name.to_bytes());
        entries.push(Found {
            path: path.into_boxed_slice(),
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: (stat.st_mode & 0o7777) as u16,
            size: size_of(&stat),
            identity: identity(&stat),
        });
    }
    context.progress.expect(entries.len() as u64, 0);
    if let Some(seed) = context.disorder {
        super::engine::shuffle(&mut entries, seed ^ directory.len() as u64);
    }
    Ok(entries)
}

/// Paths longer than this are opened in steps (PATH_MAX is 4096 on Linux and
/// 1024 on macOS).
const STEP: usize = 1000;

/// Opens `path` below `root` without following any link in it.
pub(crate) fn open_beneath(
    root: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
) -> io::Result<OwnedFd> {
    let mut held: Option<OwnedFd> = None;
    let mut rest = path;
    while rest.len() > STEP {
        let Some(cut) =
            memchr::memrchr(b'/', &rest[..=STEP]).or_else(|| memchr::memchr(b'/', rest))
        else {
            break;
        };
        let from = held.as_ref().map_or(root, |fd| fd.as_fd());
        held = Some(open_step(
            from,
            &rest[..cut],
            directory_flags() | OFlags::NOFOLLOW,
        )?);
        rest = &rest[cut + 1..];
    }
    open_step(held.as_ref().map_or(root, |fd| fd.as_fd()), rest, flags)
}

#[cfg(target_os = "linux")]
fn open_step(from: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let name = CString::new(path)?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(from, &name, flags, Mode::empty(), resolve) {
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => open_each(from, path, flags),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_step(from: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    open_each(from, path, flags)
}

/// One segment at a time, for systems that cannot resolve without links.
fn open_each(from: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let mut held: Option<OwnedFd> = None;
    let mut segments = path.split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let from = held.as_ref().map_or(from, |fd| fd.as_fd());
        let name = CString::new(segment)?;
        if segments.peek().is_none() {
            return Ok(rustix::fs::openat(from, &name, flags, Mode::empty())?);
        }
        let step = directory_flags() | OFlags::NOFOLLOW;
        held = Some(rustix::fs::openat(from, &name, step, Mode::empty())?);
    }
    Err(io::ErrorKind::InvalidInput.into())
}

fn read_link(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<Vec<u8>> {
    let (parent, name) = match memchr::memrchr(b'/', path) {
        Some(at) => (Some(&path[..at]), &path[at + 1..]),
        None => (None, path),
    };
    let held = parent
        .map(|parent| open_beneath(root, parent, directory_flags() | OFlags::NOFOLLOW))
        .transpose()?;
    let from = held.as_ref().map_or(root, |fd| fd.as_fd());
    Ok(rustix::fs::readlinkat(from, CString::new(name)?, Vec::new())?.into_bytes())
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn changed(context: &Context, path: &[u8], reason: &str) -> Error {
    let shown = super::names::escape(path, Style::Unix, false)
        .path
        .into_owned();
    artifact_changed(context.operation, &shown, reason)
}

/// An input that did not stay as it was.
pub(crate) fn artifact_changed(operation: &str, path: &str, reason: &str) -> Error {
    Error::new(Code::ArtifactChanged, format!("{path}: {reason}"))
        .action("Wait until nothing writes to it, or inspect a copy.")
        .detail("operation", operation)
        .detail("path", path)
        .detail("reason", reason)
        .detail("boundary", "stable-artifact-read")
}

/// A listed entry that is gone or became another type, or a real failure.
fn changed_or_io(context: &Context, path: &[u8], error: &io::Error) -> Fault {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    // A link where a file or directory was listed, or the other way round.
    let other_type = [rustix::io::Errno::LOOP, rustix::io::Errno::INVAL]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
    if let Err(cancelled) = context.check() {
        return cancelled.into();
    }
    match error.kind() {
        _ if other_type => changed(context, path, "it is not the entry that was listed").into(),
        NotFound | NotADirectory | IsADirectory => {
            changed(context, path, "it is not the entry that was listed").into()
        }
        _ => Fault::Io(error.kind(), crate::error::io_reason(error)),
    }
}

fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // widths differ between hosts
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, u64::from(stat.st_ino))
}

/// Modification and change time.
#[allow(clippy::unnecessary_cast)] // widths differ between hosts
pub(crate) fn times(stat: &Stat) -> [i64; 4] {
    [
        stat.st_mtime as i64,
        stat.st_mtime_nsec as i64,
        stat.st_ctime as i64,
        stat.st_ctime_nsec as i64,
    ]
}

fn type_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "FIFO",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character device",
        FileType::BlockDevice => "block device",
        _ => "special file",
    }
}
