//! The files of an inspection: the module, scripts, and other candidates.

use std::path::{Path, PathBuf};

use crate::artifact::fault::path_error;
use crate::binary::BinaryFile;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::operation::Context;
use crate::publish::display_path;

/// The most scripts, and the most candidates beside the module.
pub const MAX_FILES: usize = 16;

/// A file that a script may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As the user gave it.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Their number.
    pub bytes: u64,
}

/// What is inspected, read.
#[derive(Debug)]
pub struct WasmInput {
    /// The module or component.
    pub artifact: BinaryFile,
    /// Scripts that may load it.
    pub glue: Vec<BinaryFile>,
    /// Other files that they may mean.
    pub candidates: Vec<Candidate>,
}

impl WasmInput {
    /// A module alone.
    pub fn alone(artifact: BinaryFile) -> Self {
        Self {
            artifact,
            glue: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Reads all files. Links are not followed.
    ///
    /// # Errors
    /// `invalid_request` for a link, for more than [`MAX_FILES`] scripts or
    /// candidates, and for a script that is not UTF-8; those of
    /// [`BinaryFile::read`].
    pub fn read(
        path: &Path,
        glue: &[PathBuf],
        candidates: &[PathBuf],
        max_bytes: u64,
        context: &Context,
    ) -> Result<Self> {
        let operation = context.operation;
        for (name, paths) in [("glue_paths", glue), ("candidate_paths", candidates)] {
            if paths.len() > MAX_FILES {
                let message = format!("there are more than {MAX_FILES} {name}");
                let error = Error::invalid_request(operation, &[name], "out_of_range", message);
                return Err(error.action(format!("Give at most {MAX_FILES} at once.")));
            }
        }
        let read = |path: &Path, name: &str| read(path, name, max_bytes, context);
        let mut input = Self::alone(read(path, "path")?);
        for path in glue {
            let script = read(path, "glue_paths")?;
            if std::str::from_utf8(&script.bytes).is_err() {
                let message = format!("{} is not UTF-8", script.path);
                let error =
                    Error::invalid_request(operation, &["glue_paths"], "invalid_format", message);
                return Err(error
                    .action("Give scripts as UTF-8 text.")
                    .detail("path", script.path.as_str()));
            }
            input.glue.push(script);
        }
        for path in candidates {
            let shown = display_path(path);
            let known = |candidate: &Candidate| candidate.path == *shown;
            if input.artifact.path == *shown || input.candidates.iter().any(known) {
                continue;
            }
            let file = read(path, "candidate_paths")?;
            input.candidates.push(Candidate {
                sha256: file.sha256(context)?,
                bytes: file.bytes.len() as u64,
                path: file.path,
            });
        }
        Ok(input)
    }
}

fn read(path: &Path, name: &str, max_bytes: u64, context: &Context) -> Result<BinaryFile> {
    let operation = context.operation;
    let shown = display_path(path);
    let found =
        std::fs::symlink_metadata(path).map_err(|error| path_error(&error, &shown, operation))?;
    if found.is_symlink() {
        let message = format!("{shown} is a symbolic link");
        return Err(
            Error::invalid_request(operation, &[name], "invalid_value", message)
                .action("Give the path of the file that it leads to.")
                .detail("path", shown.as_ref()),
        );
    }
    BinaryFile::read(path, max_bytes, context)
}
