//! The folder beside an archive that holds its unpacked members.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use super::super::{Fault, Out, Scratch};
use crate::artifact::folder;
use crate::artifact::limitation::Note;
use crate::artifact::names::{self, ASAR_SEPARATOR, Style};
use crate::error::{ArtifactReason, Error};
use crate::operation::Context;

/// `NAME.asar.unpacked`, opened before anything in it is looked up.
pub(crate) struct Companion {
    state: State,
    /// The archive's path, for messages.
    archive: String,
    context: Context,
}

enum State {
    Folder(OwnedFd),
    Missing,
    /// It may not be read.
    Denied,
    /// It is a link, or no folder.
    NoFolder,
    Failed(io::ErrorKind, String),
}

impl Companion {
    /// The companion of the archive at `path`, which messages call `shown`.
    pub fn beside(path: &Path, shown: &str, context: &Context) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push(".unpacked");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let state = match rustix::fs::open(Path::new(&name), flags, Mode::empty()) {
            Ok(folder) => State::Folder(folder),
            Err(error) => match Lookup::from(io::Error::from(error)) {
                Lookup::Missing => State::Missing,
                Lookup::Denied => State::Denied,
                Lookup::OtherKind => State::NoFolder,
                Lookup::Failed(kind, reason) => State::Failed(kind, reason),
            },
        };
        Self {
            state,
            archive: shown.to_owned(),
            context: context.clone(),
        }
    }

    /// What is said of a member whose bytes are not there.
    pub fn missing() -> Fault {
        Fault::Unavailable(Note::CompanionMissing)
    }

    /// Reads the member of that raw name. Names that are no safe paths are
    /// not looked up.
    pub fn read(&self, raw: &[u8], scratch: &mut Scratch, out: &mut Out<'_>) -> Result<(), Fault> {
        let root = match &self.state {
            State::Folder(root) => root,
            State::Missing => return Err(Self::missing()),
            State::Denied => return Err(Fault::Unavailable(Note::Unreadable)),
            State::Failed(kind, reason) => return Err(Fault::Io(*kind, reason.clone())),
            State::NoFolder => {
                return Err(self.refuse(None, "the companion is a link or no folder"));
            }
        };
        let name = names::escape(raw, Style::Asar, false);
        if name.escaped {
            return Err(Self::missing());
        }
        let path: Vec<u8> = raw
            .iter()
            .map(|&byte| if byte == ASAR_SEPARATOR { b'/' } else { byte })
            .collect();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let no_file = || {
            let reason = "it is a link, lies behind one, or is no regular file";
            self.refuse(Some(&name.path), reason)
        };
        let opened = folder::open_beneath(root.as_fd(), &path, flags);
        let file = opened.map_err(|error| match Lookup::from(error) {
            Lookup::Missing => Self::missing(),
            Lookup::Denied => Fault::Unavailable(Note::Unreadable),
            Lookup::OtherKind => no_file(),
            Lookup::Failed(kind, reason) => Fault::Io(kind, reason),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|error| Fault::from(io::Error::from(error)))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(no_file());
        }
        if folder::read_unchanged(&File::from(file), &stat, scratch, out)? {
            return Ok(());
        }
        let path = format!("{}.unpacked/{}", self.archive, name.path);
        let reason = "it changed while it was read";
        Err(folder::artifact_changed(self.context.operation, &path, reason).into())
    }

    fn refuse(&self, member: Option<&str>, reason: &str) -> Fault {
        let companion = format!("{}.unpacked", self.archive);
        let place = match member {
            Some(member) => format!("{companion}/{member}"),
            None => companion,
        };
        let message = format!("{place}: {reason}");
        let error = Error::artifact(self.context.operation, ArtifactReason::Path, message)
            .action("Put regular files into a real folder beside the archive, or take the companion away.")
            .detail("path", self.archive.as_str())
            .detail("detail", reason);
        Fault::Refused(match member {
            Some(member) => error.detail("logical_path", member),
            None => error,
        })
    }
}

/// Why something could not be opened.
enum Lookup {
    Missing,
    Denied,
    /// A link, or not what a path or the flags ask for.
    OtherKind,
    Failed(io::ErrorKind, String),
}

impl From<io::Error> for Lookup {
    fn from(error: io::Error) -> Self {
        use rustix::io::Errno;
        let other = [Errno::LOOP, Errno::NOTDIR, Errno::NXIO, Errno::XDEV];
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ if other
                .iter()
                .any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) =>
            {
                Self::OtherKind
            }
            kind => Self::Failed(kind, crate::error::io_reason(&error)),
        }
    }
}
