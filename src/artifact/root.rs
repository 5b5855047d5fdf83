//! Opens the root: a folder, a container, or any other file.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use super::containers::{self, Companion, Container, Fault};
use super::engine::{self, RootContainer, RootFile, StreamSource};
use super::fault::{fault_error, path_error};
use super::folder::{Folder, artifact_changed, times};
use super::format::{self, Content, Format, Kind};
use super::graph::RootRow;
use super::names;
use super::options::{OnDamage, Options};
use super::source::Source;
use super::streams;
use crate::error::{ArtifactReason, Error, Result};
use crate::operation::Context;

/// What is known of the root before its members are read.
pub(super) struct Root {
    pub container: Option<RootContainer>,
    pub file: Option<RootFile>,
    pub row: RootRow,
    pub damage: Option<Fault>,
    /// Whether the container stands behind other content.
    pub behind: bool,
    pub stamp: Option<(Arc<File>, [i64; 4])>,
}
/// Opens what the path names; links in the path are followed, the file itself
/// is not followed as one.
pub(super) fn open_root(
    path: &Path,
    shown: &str,
    options: &Options,
    context: &Context,
) -> Result<Root> {
    let unavailable = |error: &io::Error| path_error(error, shown, context.operation);
    let resolved = path.canonicalize().map_err(|error| unavailable(&error))?;
    let metadata = resolved
        .symlink_metadata()
        .map_err(|error| unavailable(&error))?;
    let mode = (metadata.mode() & 0o7777) as u16;
    if metadata.is_dir() {
        let folder = Folder::open(&resolved, options, context)
            .map_err(|fault| fault_error(fault, shown, None, context.operation))?;
        let (kind, role) = (Kind::Container, Format::Directory);
        let row = RootRow {
            kind,
            role,
            format: Format::Directory,
            digest: None,
            size: 0,
            mode,
            has_children: true,
        };
        let container: Box<dyn Container> = Box::new(folder);
        return Ok(Root {
            container: Some(RootContainer::Folder(container)),
            file: None,
            row,
            damage: None,
            behind: false,
            stamp: None,
        });
    }
    if !metadata.is_file() {
        let message = format!("{shown} is neither a regular file nor a folder");
        return Err(
            Error::artifact(context.operation, ArtifactReason::Format, message)
                .action("Give a file or a folder; devices, FIFOs and sockets hold no artifact.")
                .detail("path", shown),
        );
    }
    open_root_file(&resolved, shown, mode, options, context)
}

fn open_root_file(
    resolved: &Path,
    shown: &str,
    mode: u16,
    options: &Options,
    context: &Context,
) -> Result<Root> {
    let unavailable = |error: &io::Error| path_error(error, shown, context.operation);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(resolved, flags, Mode::empty())
        .map_err(|error| unavailable(&error.into()))?;
    let stat = rustix::fs::fstat(&file).map_err(|error| unavailable(&error.into()))?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let file = Arc::new(File::from(file));
    let source = Source::file(Arc::clone(&file), size);
    let head_len = size.min(format::HEAD as u64) as usize;
    let head = source
        .read_vec(0, head_len)
        .map_err(|error| unavailable(&error))?;
    let tail_len = size.min(format::TAIL as u64);
    let tail = source
        .read_vec(size - tail_len, tail_len as usize)
        .map_err(|error| unavailable(&error))?;
    let format = format::of_bytes(&head, size);
    let name = resolved
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let lower = name.to_lowercase();
    let named = [Format::Asar, Format::Lzma].into_iter().find(|&named| {
        format == Format::File
            && format::suffix_of(named).is_some_and(|suffix| lower.ends_with(suffix))
            && containers::has_header(named, &head)
    });
    let dmg = format::is_dmg(&tail);
    let (kind, role) = format::role(&name, Content { format, named, dmg });
    let readable = named.unwrap_or(format);
    let mut damage = None;
    let mut behind = false;
    let container = if streams::is_stream(readable) {
        let content = b"content".to_vec();
        let source = source.clone();
        Some(RootContainer::Stream(StreamSource {
            source,
            format: readable,
            content,
        }))
    } else if containers::is_readable(readable) {
        let opened = if readable == Format::Asar {
            let companion = Companion::beside(resolved, shown, context);
            containers::open_asar_root(&source, options, companion)
        } else {
            containers::open(readable, &source, options)
        };
        match opened {
            Ok(container) => Some(RootContainer::Listed(container)),
            // A lying fat table is no damage (decision 9).
            Err(fault @ Fault::Damage(_))
                if options.on_damage == OnDamage::Record || format == Format::MachOUniversal =>
            {
                damage = Some(fault);
                None
            }
            Err(fault) => return Err(fault_error(fault, shown, None, context.operation)),
        }
    } else if engine::may_hide_archive(format) {
        behind = true;
        containers::find_zip_behind(&source, options).map(RootContainer::Listed)
    } else {
        None
    };
    let row = RootRow {
        kind,
        role,
        format,
        digest: None,
        size,
        mode,
        has_children: false,
    };
    Ok(Root {
        container,
        file: Some(RootFile {
            source,
            path: shown.to_owned(),
        }),
        row,
        damage,
        behind,
        stamp: Some((file, times(&stat))),
    })
}

/// The root file must be what it was when it was opened.
pub(super) fn unchanged(
    stamp: &Option<(Arc<File>, [i64; 4])>,
    shown: &str,
    context: &Context,
) -> Result<()> {
    let Some((file, before)) = stamp else {
        return Ok(());
    };
    let after = rustix::fs::fstat(file)
        .map_err(|error| path_error(&error.into(), shown, context.operation))?;
    if times(&after) == *before {
        return Ok(());
    }
    Err(artifact_changed(
        context.operation,
        shown,
        "it changed while it was read",
    ))
}

/// A path as it stands in records: bytes that are not UTF-8 are escaped.
pub(super) fn show(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    names::escape_target(path.as_os_str().as_bytes())
}
