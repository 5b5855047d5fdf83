//! What `rea` needs of the system that it runs on.

use std::io::{Seek, SeekFrom, Write};

use rustix::process::{Resource, getrlimit};

use crate::error::{Code, Error, Result, io_reason};
use crate::publish::display_path;

/// Files that containers inside of containers may have open at once.
const OPEN_FILES: u64 = 256;
/// Room for spools, in bytes.
const ROOM: u64 = 256 << 20;

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// In order.
    Healthy,
    /// Something that the system must bring is not there.
    MissingDependency,
    /// This system is not supported.
    UnsupportedHost,
    /// Nothing can analyse what was asked for.
    MissingAnalysisEngine,
    /// A setting is not what it should be.
    ConfigDrift,
}

impl Class {
    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::MissingDependency => "missing_dependency",
            Self::UnsupportedHost => "unsupported_host",
            Self::MissingAnalysisEngine => "missing_analysis_engine",
            Self::ConfigDrift => "config_drift",
        }
    }
}

/// A check and what it found.
#[derive(Clone, Debug)]
pub struct Check {
    /// What is checked.
    pub name: String,
    /// What was found.
    pub class: Class,
    /// The same in words.
    pub detail: String,
    /// What to do about it.
    pub remediation: Option<String>,
}

impl Check {
    /// A check that found everything in order.
    pub fn healthy(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            class: Class::Healthy,
            detail: detail.into(),
            remediation: None,
        }
    }

    /// A check that did not.
    pub fn failed(
        name: impl Into<String>,
        class: Class,
        detail: impl Into<String>,
        remediation: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            class,
            detail: detail.into(),
            remediation: Some(remediation.into()),
        }
    }

    /// Whether it found everything in order.
    pub fn is_healthy(&self) -> bool {
        self.class == Class::Healthy
    }
}

/// The checks of the system: host, temporary space, open files, memory.
pub fn environment() -> Vec<Check> {
    vec![host(), temporary_space(), open_files(), memory()]
}

fn host() -> Check {
    let what = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
    if cfg!(any(target_os = "linux", target_os = "macos")) {
        return Check::healthy("host", what);
    }
    let remedy = "Use Linux or macOS.";
    Check::failed("host", Class::UnsupportedHost, what, remedy)
}

/// Whether temporary files can be written, and how much room there is.
pub fn temporary_space() -> Check {
    let folder = std::env::temp_dir();
    let shown = display_path(&folder);
    let remedy = "Name a folder with room in TMPDIR.";
    let failed =
        |detail: String| Check::failed("temporary_space", Class::MissingDependency, detail, remedy);
    let written = tempfile::tempfile_in(&folder).and_then(|mut file| {
        file.write_all(b"rea")?;
        file.seek(SeekFrom::Start(0)).map(drop)
    });
    if let Err(error) = written {
        return failed(format!("{shown} cannot be written: {}", io_reason(&error)));
    }
    match rustix::fs::statvfs(&folder) {
        Err(error) => failed(format!(
            "{shown} does not say how much room it has: {error}"
        )),
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let detail = format!("{} MiB free in {shown}", free >> 20);
            match free < ROOM {
                true => failed(format!("{detail}; {} MiB are needed", ROOM >> 20)),
                false => Check::healthy("temporary_space", detail),
            }
        }
    }
}

/// Whether enough files can be open at once.
pub fn open_files() -> Check {
    let limit = getrlimit(Resource::Nofile).current;
    match limit {
        Some(limit) if limit < OPEN_FILES => Check::failed(
            "open_files",
            Class::MissingDependency,
            format!("{limit} files can be open at once; {OPEN_FILES} are needed"),
            format!("Raise the limit with `ulimit -n {OPEN_FILES}` or in the client's settings."),
        ),
        Some(limit) => Check::healthy("open_files", format!("{limit} files can be open at once")),
        None => Check::healthy("open_files", "any number of files can be open at once"),
    }
}

fn memory() -> Check {
    let capacity = crate::mcp::usual_capacity();
    let detail = format!("a session keeps at most {} MiB of records", capacity >> 20);
    Check::healthy("memory", detail)
}

/// The path of this program, as clients should start it.
///
/// # Errors
/// `execution_failure` where it cannot be told or is no text.
pub fn program() -> Result<String> {
    let failed = |reason: String| {
        Error::new(
            Code::ExecutionFailure,
            format!("the path of this program cannot be told: {reason}"),
        )
        .action("Start it by its path, from a place that can be named in UTF-8.")
    };
    let path = std::env::current_exe().map_err(|error| failed(io_reason(&error)))?;
    let path = path
        .canonicalize()
        .map_err(|error| failed(format!("{}: {}", display_path(&path), io_reason(&error))))?;
    match path.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(failed(format!("{} is not UTF-8", display_path(&path)))),
    }
}
