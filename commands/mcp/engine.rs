//! The built-in engine as a provider, and how targets are told apart.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;

use rea::artifact::format::{self, Content, Format, Kind};
use rea::digest::{Digest, Hasher};
use rea::error::{Code, io_reason};
use rea::evidence::Provider;
use rea::json::Object;
use rea::mcp::{Engine, Opener, Rejection, Target};
use rea::native::{self, Identity};
use rea::operation::Context;
use rea::publish::display_path;
use rea::{Error, Result};

use crate::tool::of_programs;

/// The engine of this program.
pub struct BuiltIn {
    operations: OnceLock<Vec<&'static str>>,
}

impl BuiltIn {
    /// The engine; it needs nothing.
    pub fn new() -> Self {
        Self {
            operations: OnceLock::new(),
        }
    }
}

impl Engine for BuiltIn {
    fn provider(&self) -> Provider {
        native::PROVIDER
    }

    fn parameters(&self) -> Object {
        // What it says depends on the file alone.
        Object::new()
    }

    fn unavailable(&self) -> Option<Rejection> {
        None
    }

    fn rejects(&self, target: &Target) -> Option<Rejection> {
        let known = matches!(
            target.format,
            "elf" | "pe" | "mach-o" | "mach-o-universal" | "coff" | "te"
        );
        if known {
            return None;
        }
        let code = match target.kind {
            "executable" => "target_format_unsupported",
            _ => "target_kind_unsupported",
        };
        Some(Rejection {
            code,
            reason: format!("{} files have no memory that could be read", target.format),
            by_target: true,
        })
    }

    fn operations(&self) -> &[&'static str] {
        self.operations.get_or_init(of_programs)
    }
}

/// Files and applications by their bytes.
pub struct Files;

/// Bytes at the end that tell a disk image.
const TRAILER: u64 = 512;
/// The largest program without a header.
const LARGEST_COM: u64 = 65_280;

impl Opener for Files {
    fn open(&self, path: &Path, dos_com: bool, context: &Context) -> Result<Target> {
        let shown = display_path(path).into_owned();
        let unavailable = |error: std::io::Error| {
            let reason = io_reason(&error);
            Error::new(
                Code::TargetUnavailable,
                format!("{shown} cannot be opened: {reason}"),
            )
            .action("Check the path; it must name a file or an application.")
            .detail("path", shown.as_str())
            .detail("reason", reason)
        };
        let path = path.canonicalize().map_err(unavailable)?;
        let metadata = path.metadata().map_err(unavailable)?;
        if dos_com {
            return headerless(&path, &shown, metadata.len(), context);
        }
        if metadata.is_dir() {
            return program(&path, context);
        }
        if !metadata.is_file() {
            return Err(Error::new(
                Code::UnsupportedTarget,
                format!("{shown} is no regular file"),
            )
            .action("Give the path of a file or an application.")
            .detail("operation", context.operation)
            .detail("path", shown.as_str())
            .detail("reason", "not_a_file"));
        }
        let mut file = File::open(&path).map_err(unavailable)?;
        let mut head = Vec::new();
        Read::by_ref(&mut file)
            .take(format::HEAD as u64)
            .read_to_end(&mut head)
            .map_err(unavailable)?;
        let found = format::of_bytes(&head, metadata.len());
        if matches!(
            found,
            Format::Elf | Format::Pe | Format::MachO | Format::MachOUniversal
        ) {
            return program(&path, context);
        }
        let sha256 = digest(&path, context).map_err(unavailable)?;
        context.check()?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(metadata.len().saturating_sub(TRAILER)))
            .and_then(|_| file.take(TRAILER).read_to_end(&mut tail))
            .map_err(unavailable)?;
        let content = Content {
            format: found,
            named: None,
            dmg: format::is_dmg(&tail),
        };
        let (kind, format) = format::role(&name.unwrap_or_default(), content);
        Ok(Target {
            path: display_path(&path).into_owned(),
            source_path: display_path(&path).into_owned(),
            sha256,
            kind: match kind {
                Kind::Container => "archive",
                Kind::Executable => "executable",
                _ => "artifact",
            },
            format: format.as_str(),
            architecture: None,
            available_architectures: Vec::new(),
        })
    }
}

fn program(path: &Path, context: &Context) -> Result<Target> {
    let opened = native::Target::open(path, None, context)?;
    let mapped = opened.map_any(context)?;
    let identity = Identity::of(&mapped);
    Ok(Target {
        path: identity.path,
        source_path: display_path(path).into_owned(),
        sha256: mapped.sha256,
        kind: "executable",
        format: identity.format,
        architecture: identity.architecture,
        available_architectures: identity.available_architectures,
    })
}

fn headerless(path: &Path, shown: &str, size: u64, context: &Context) -> Result<Target> {
    if !path.is_file() || !(1..=LARGEST_COM).contains(&size) {
        let message =
            format!("{shown} has {size} bytes; a headerless program has 1 to {LARGEST_COM}");
        return Err(Error::new(Code::UnsupportedTarget, message)
            .action("Leave format out, or give a file of that size.")
            .detail("operation", context.operation)
            .detail("path", shown)
            .detail("reason", "size"));
    }
    let failed = |error| Error::file_io("read", shown, &error);
    Ok(Target {
        path: display_path(path).into_owned(),
        source_path: display_path(path).into_owned(),
        sha256: digest(path, context).map_err(failed)?,
        kind: "executable",
        format: "dos-com",
        architecture: Some("x86"),
        available_architectures: Vec::new(),
    })
}

fn digest(path: &Path, context: &Context) -> std::io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::default();
    let mut portion = vec![0; 256 * 1024];
    // A stop request is looked at by the caller.
    while !context.cancellation.is_requested() {
        let count = file.read(&mut portion)?;
        if count == 0 {
            break;
        }
        hasher.update(portion.get(..count).unwrap_or_default());
        context.progress.add_bytes(count as u64);
    }
    Ok(hasher.finish())
}
