//! A file of a client as it is: where it really is, what is in it, who may
//! write it, and the copies of it that are kept.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::clients::{Client, Settings};
use super::plan::Change;
use crate::error::io_reason;

/// The largest settings that are read, in bytes.
const LARGEST: u64 = 64 << 20;
/// What is between the name of a file and the number of its copy.
const COPY: &str = ".rea-backup-";

/// A file as it is.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Where it really is.
    pub file: PathBuf,
    /// What is in it; `None` is no file.
    pub bytes: Option<Vec<u8>>,
    mode: Option<u32>,
}

impl Found {
    pub fn look(path: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("it cannot be read: {}", io_reason(&error));
        let file = match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self {
                    file: path.to_owned(),
                    ..Self::default()
                });
            }
            Err(error) => return Err(failed(error)),
            // The link stays, the file behind it is written.
            Ok(found) if found.is_symlink() => path
                .canonicalize()
                .map_err(|error| format!("it is a link to nowhere: {}", io_reason(&error)))?,
            Ok(_) => path.to_owned(),
        };
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err("it is no regular file".to_owned());
        }
        let mut bytes = Vec::new();
        let opened = fs::File::open(&file).map_err(failed)?;
        let mut portion = opened.take(LARGEST + 1);
        portion.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!("it has more than {LARGEST} bytes"));
        }
        Ok(Self {
            file,
            bytes: Some(bytes),
            mode: Some(metadata.permissions().mode() & 0o7777),
        })
    }

    pub fn text(&self) -> Result<&str, String> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    }

    pub fn settings(&self, client: &Client) -> Result<Settings, String> {
        client
            .read(self.text()?)
            .map_err(|reason| format!("it is malformed: {reason}"))
    }

    /// What is written over is not what somebody protected.
    pub fn check_writable(&self) -> Result<(), String> {
        match self.mode {
            Some(mode) if mode & 0o222 == 0 => Err("it is read-only".to_owned()),
            _ => Ok(()),
        }
    }

    pub fn change(&self, after: Option<Vec<u8>>) -> Change {
        Change {
            file: self.file.clone(),
            before: self.bytes.clone(),
            after,
            mode: self.mode,
        }
    }

    /// Copies of it that earlier runs kept, the newest first.
    pub fn copies(&self) -> Vec<PathBuf> {
        let Some((folder, name)) = self.file.parent().zip(self.file.file_name()) else {
            return Vec::new();
        };
        let prefix = format!("{}{COPY}", name.to_string_lossy());
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut numbered: Vec<(u64, PathBuf)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let number: u64 = name.strip_prefix(&prefix)?.parse().ok()?;
                Some((number, entry.path()))
            })
            .collect();
        numbered.sort();
        numbered.reverse();
        numbered.into_iter().map(|(_, path)| path).collect()
    }

    /// The copy to keep of it, where there is something to keep.
    pub fn copy(&self) -> Option<Change> {
        let bytes = self.bytes.clone()?;
        let newest = self.copies().into_iter().next();
        let number = newest.and_then(|path| {
            let name = path.file_name()?.to_str()?;
            name.rsplit_once('-')?.1.parse::<u64>().ok()
        });
        let number = number.map_or(1, |number| number.saturating_add(1));
        let mut name = self.file.file_name()?.to_owned();
        name.push(format!("{COPY}{number}"));
        Some(Change {
            file: self.file.with_file_name(name),
            before: None,
            after: Some(bytes),
            mode: None,
        })
    }
}
