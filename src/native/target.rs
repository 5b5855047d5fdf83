//! The file that an operation is about (decision 35, binaries section 1): an
//! executable, or the one of an application.

use std::path::{Path, PathBuf};

use super::memory::Memory;
use super::record::Parts;
use crate::apple::plist;
use crate::artifact::fault::path_error;
use crate::artifact::format::{self, Content, Format, Kind};
use crate::binary::BinaryFile;
use crate::binary::layout::{Layout, LayoutOptions, Refusal, parse, refused, subject_format};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::Subject;
use crate::json::Object;
use crate::operation::Context;
use crate::publish::display_path;

/// A file whose bytes are read, and which slice of it is meant.
#[derive(Debug)]
pub struct Target {
    file: BinaryFile,
    /// As the user gave it.
    source_path: String,
    format: &'static str,
    options: LayoutOptions,
}

/// Where applications keep their property list, and their executable.
const BUNDLES: [(&str, &str); 2] = [
    ("Contents/Info.plist", "Contents/MacOS"),
    ("Info.plist", ""),
];

/// Property lists of applications beyond this are not read.
const MAX_INFO: u64 = 16 << 20;

impl Target {
    /// Opens the executable at `path`, or that of the application at `path`;
    /// of a universal file the slice `architecture`, else its first.
    ///
    /// # Errors
    /// Those of [`BinaryFile::read`]; `unsupported_target` for folders that are
    /// no application, for archives and for files that hold no machine code.
    pub fn open(path: &Path, architecture: Option<&str>, context: &Context) -> Result<Self> {
        let operation = context.operation;
        let shown = display_path(path).into_owned();
        let metadata = path
            .metadata()
            .map_err(|error| path_error(&error, &shown, operation))?;
        let executable = match metadata.is_dir() {
            true => application(path, operation, 0)?,
            false => path.to_owned(),
        };
        let file = BinaryFile::read(&executable, BinaryFile::MAX, context)?;
        refuse_others(&file, operation)?;
        let format = subject_format(&file.bytes);
        Ok(Self {
            file,
            source_path: shown,
            format,
            options: LayoutOptions {
                architecture: architecture.map(str::to_owned),
                ..LayoutOptions::default()
            },
        })
    }

    /// A target in memory, as if it had been read from `path`.
    pub fn of_bytes(path: &str, bytes: Vec<u8>, architecture: Option<&str>) -> Self {
        Self {
            format: subject_format(&bytes),
            file: BinaryFile {
                path: path.to_owned(),
                bytes,
            },
            source_path: path.to_owned(),
            options: LayoutOptions {
                architecture: architecture.map(str::to_owned),
                ..LayoutOptions::default()
            },
        }
    }

    /// The file.
    pub fn file(&self) -> &BinaryFile {
        &self.file
    }

    /// The file, for those who need nothing else.
    pub fn into_file(self) -> BinaryFile {
        self.file
    }

    /// The path as the user gave it; for an application its folder.
    pub fn source_path(&self) -> &str {
        &self.source_path
    }

    /// The format in subjects.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The slice that was asked for.
    pub fn requested_architecture(&self) -> Option<&str> {
        self.options.architecture.as_deref()
    }

    /// The file as the subject of a record that is not about its layout.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn subject(&self, context: &Context) -> Result<Subject> {
        let (sha256, layout) = self.at_once(context, || parse(&self.file.bytes, &self.options))?;
        Ok(Subject {
            name: self.file.name().to_owned(),
            sha256,
            format: self.format,
            architecture: layout.ok().and_then(|layout| layout.architecture),
            local_path: self.file.path.clone(),
        })
    }

    /// The file's digest and what `lay_out` makes of it, both at once.
    fn at_once<T: Send>(
        &self,
        context: &Context,
        lay_out: impl FnOnce() -> T + Send,
    ) -> Result<(Digest, T)> {
        context.check()?;
        let (sha256, laid_out) = rayon::join(|| self.file.sha256(context), lay_out);
        let sha256 = sha256?;
        context.check()?;
        Ok((sha256, laid_out))
    }

    /// The file with its layout.
    ///
    /// # Errors
    /// `invalid_request` where it has none, or no such slice; `cancelled`.
    pub fn map(&self, context: &Context) -> Result<Mapped<'_>> {
        let (sha256, layout) = self.at_once(context, || parse(&self.file.bytes, &self.options))?;
        let layout = layout.map_err(|refusal| refused(refusal, &self.file, context.operation))?;
        Ok(Mapped::new(self, sha256, Some(layout)))
    }

    /// The file with its layout, or without where it is of no known format.
    ///
    /// # Errors
    /// `invalid_request` where it has no such slice; `cancelled`.
    pub fn map_any(&self, context: &Context) -> Result<Mapped<'_>> {
        let (sha256, layout) = self.at_once(context, || parse(&self.file.bytes, &self.options))?;
        let layout = match layout {
            Ok(layout) => Some(layout),
            Err(refusal @ Refusal::Architecture(_)) => {
                return Err(refused(refusal, &self.file, context.operation));
            }
            Err(Refusal::Format | Refusal::Header { .. }) => None,
        };
        Ok(Mapped::new(self, sha256, layout))
    }
}

/// A target with its layout and memory.
pub struct Mapped<'a> {
    /// The file.
    pub target: &'a Target,
    /// SHA-256 of the file.
    pub sha256: Digest,
    /// What its structures say; `None` where it has none.
    pub layout: Option<Layout<'a>>,
    /// What the loader would fill from it.
    pub memory: Memory<'a>,
}

impl<'a> Mapped<'a> {
    fn new(target: &'a Target, sha256: Digest, layout: Option<Layout<'a>>) -> Self {
        let memory = Memory::new(&target.file.bytes, layout.as_ref());
        Self {
            target,
            sha256,
            layout,
            memory,
        }
    }

    /// Where the slice of a universal file starts.
    pub(super) fn slice_base(&self) -> Option<u64> {
        let macho = self.layout.as_ref()?.facts.macho.as_ref()?;
        macho.universal.then_some(macho.image.base)
    }

    /// What every record of the target says; `said` comes first.
    pub(super) fn parts(
        &self,
        operation: &'static str,
        parameters: Object,
        said: impl IntoIterator<Item = String>,
    ) -> Parts {
        let mut limitations: Vec<String> = said.into_iter().collect();
        if let Some(layout) = &self.layout {
            limitations.extend(layout.notes.sentences());
        }
        Parts {
            operation,
            sha256: self.sha256,
            architecture: self.layout.as_ref().and_then(|layout| layout.architecture),
            parameters,
            limitations,
            ranges: Vec::new(),
        }
    }
}

fn unsupported(operation: &str, shown: &str, why: &str, action: &'static str) -> Error {
    Error::new(Code::UnsupportedTarget, format!("{shown} {why}"))
        .action(action)
        .detail("operation", operation)
        .detail("path", shown)
        .detail("reason", why)
}

/// The executable of the application in the folder `path`.
fn application(path: &Path, operation: &'static str, level: usize) -> Result<PathBuf> {
    let shown = display_path(path);
    for (info, folder) in BUNDLES {
        let info = path.join(info);
        if info.is_file() {
            return executable(path, &info, folder, operation);
        }
    }
    let wrapper = path.join("Wrapper");
    if level == 0 && wrapper.is_dir() {
        let mut inner: Vec<PathBuf> = std::fs::read_dir(&wrapper)
            .map_err(|error| path_error(&error, &display_path(&wrapper), operation))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|inner| inner.extension().is_some_and(|suffix| suffix == "app"))
            .collect();
        inner.sort();
        if let [inner] = inner.as_slice() {
            return application(inner, operation, 1);
        }
    }
    Err(unsupported(
        operation,
        &shown,
        "is a folder that is no application",
        "Give the path of an executable, library or .app.",
    ))
}

/// The file that `info` names, in `folder` of the application and nowhere else.
fn executable(app: &Path, info: &Path, folder: &str, operation: &'static str) -> Result<PathBuf> {
    let shown = display_path(info).into_owned();
    let refuse = |why: &str| {
        unsupported(
            operation,
            &shown,
            why,
            "Give the path of the executable itself.",
        )
    };
    let size = info
        .metadata()
        .map_err(|error| path_error(&error, &shown, operation))?
        .len();
    if size > MAX_INFO {
        return Err(refuse(
            "is too large for the property list of an application",
        ));
    }
    let bytes = std::fs::read(info).map_err(|error| path_error(&error, &shown, operation))?;
    let list = plist::parse(&bytes).map_err(|_| refuse("is no property list that can be read"))?;
    let name = list
        .value
        .get("CFBundleExecutable")
        .and_then(plist::Value::as_str)
        .ok_or_else(|| refuse("names no executable"))?;
    if matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']) {
        return Err(refuse("names an executable that is no plain file name"));
    }
    let within = app.join(folder);
    let file = within.join(name);
    let resolve = |path: &Path| {
        path.canonicalize()
            .map_err(|error| path_error(&error, &display_path(path), operation))
    };
    if !resolve(&file)?.starts_with(resolve(&within)?) {
        return Err(refuse(
            "names an executable that leads out of the application",
        ));
    }
    Ok(file)
}

/// Archives and documents are told apart from code that is merely not known.
fn refuse_others(file: &BinaryFile, operation: &'static str) -> Result<()> {
    let bytes = &file.bytes;
    let head = bytes.get(..format::HEAD).unwrap_or(bytes);
    let tail = bytes
        .get(bytes.len().saturating_sub(512)..)
        .unwrap_or(bytes);
    let content = Content {
        format: format::of_bytes(head, bytes.len() as u64),
        named: None,
        dmg: format::is_dmg(tail),
    };
    if matches!(
        content.format,
        Format::Elf | Format::MachO | Format::MachOUniversal | Format::Pe | Format::DosMz
    ) {
        return Ok(());
    }
    let (kind, named) = format::role(&file.path, content);
    let lower = file.path.to_ascii_lowercase();
    match kind {
        Kind::Container => Err(unsupported(
            operation,
            &file.path,
            &format!("is an archive ({})", named.as_str()),
            "List what is in it with `rea inventory-artifact`, take a member out with `rea extract-artifact`, and give that.",
        )),
        _ if lower.ends_with(".hop") => Err(unsupported(
            operation,
            &file.path,
            "is a database of another tool",
            "Give the executable that it was made from.",
        )),
        Kind::Javascript | Kind::SourceMap | Kind::Plist | Kind::Entitlements => Err(unsupported(
            operation,
            &file.path,
            &format!("is no machine code ({})", named.as_str()),
            "Give an executable, library or object.",
        )),
        _ => Ok(()),
    }
}
