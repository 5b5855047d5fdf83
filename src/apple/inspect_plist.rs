//! `inspect_plist`: what a property list holds, with exact types (binaries
//! section 5).

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::plist::{self, Fault, Notation, Plist, Value};
use crate::artifact::fault::path_error;
use crate::artifact::format::{self, Content};
use crate::artifact::limitation::counted;
use crate::digest::{Digest, Hasher};
use crate::error::{Code, Error, Result};
use crate::evidence::{
    ArtifactPath, Authority, Confidence, Draft, Drafted, EvidenceId, Provider, Subject,
};
use crate::json::{Object, WriteJson, Writer};
use crate::operation::Context;
use crate::publish::display_path;

/// Who reads property lists.
pub const PROVIDER: Provider = Provider {
    id: "rea-plist",
    name: "rea property list",
    version: "1",
};

/// Files beyond this are not read.
pub const MAX_INPUT: u64 = 256 << 20;

const NOT_RUN: &str =
    "The values are those of the file; a program may look elsewhere, or change them when it runs.";
const XML_UIDS: &str =
    "References of a keyed archive are dictionaries with the key CF$UID here, as XML has them.";

/// Where bundles keep their property list.
const INFO: [&str; 3] = ["Contents/Info.plist", "Info.plist", "Resources/Info.plist"];

/// The keys of `bundle`, and where they come from.
const BUNDLE: [(&str, &str); 5] = [
    ("executable", "CFBundleExecutable"),
    ("identifier", "CFBundleIdentifier"),
    ("name", "CFBundleName"),
    ("short_version", "CFBundleShortVersionString"),
    ("version", "CFBundleVersion"),
];

/// A property list as Evidence.
#[derive(Debug)]
pub struct PlistRecord {
    plist: Plist,
    subject: Subject,
    parameters: Object,
    limitations: Vec<String>,
    id: EvidenceId,
}

/// Reads the property list at `path`, or in the bundle at `path`: the one at
/// `relative`, else its `Info.plist`.
///
/// # Errors
/// `target_unavailable` and `access_denied` where there is no file to read;
/// `invalid_request` where `relative` leaves the bundle; `unsupported_target`
/// where the file is no property list; `resource_constraint` where it comes to
/// more than [`plist::MAX_VALUES`], [`plist::MAX_BYTES`] or [`MAX_INPUT`].
pub fn inspect_plist(
    path: &Path,
    relative: Option<&Path>,
    context: &Context,
) -> Result<PlistRecord> {
    let operation = context.operation;
    let file = locate(path, relative, operation)?;
    let shown = display_path(&file);
    context.check()?;
    let bytes = read(&file, &shown, operation)?;
    let plist = plist::parse(&bytes).map_err(|fault| refused(fault, &shown, operation))?;
    context.check()?;
    let mut parameters = Object::new();
    if let Some(relative) = relative {
        parameters.insert("relative_path", display_path(relative).as_ref());
    }
    let limitations = limitations(&plist);
    let mut hasher = Hasher::default();
    hasher.update(&bytes);
    let head = bytes.get(..bytes.len().min(format::HEAD)).unwrap_or(&bytes);
    let content = Content {
        format: format::of_bytes(head, bytes.len() as u64),
        named: None,
        dmg: false,
    };
    let mut record = PlistRecord {
        plist,
        subject: Subject {
            name: shown.rsplit('/').next().unwrap_or("artifact").to_owned(),
            sha256: hasher.finish(),
            format: format::role(&shown, content).1.as_str(),
            architecture: None,
            local_path: shown.into_owned(),
        },
        parameters,
        limitations,
        id: EvidenceId(Digest([0; 32])),
    };
    record.id = record.with_draft(|draft| draft.id());
    Ok(record)
}

/// The file that is meant.
fn locate(path: &Path, relative: Option<&Path>, operation: &'static str) -> Result<PathBuf> {
    let shown = display_path(path);
    let metadata = path
        .metadata()
        .map_err(|error| path_error(&error, &shown, operation))?;
    if metadata.is_file() && relative.is_none() {
        return Ok(path.to_owned());
    }
    let Some(root) = bundle_of(path, metadata.is_dir()) else {
        let message = format!("{shown} is no bundle that a relative path could lead into");
        return Err(Error::invalid_request(
            operation,
            &["relative_path"],
            "invalid_value",
            message,
        ));
    };
    let Some(relative) = relative else {
        let candidates = INFO.iter().map(|info| root.join(info));
        return candidates.into_iter().find(|file| file.is_file()).ok_or_else(|| {
            Error::new(
                Code::TargetUnavailable,
                format!("{shown} holds no Info.plist"),
            )
            .action("Name the property list itself, or give its place in the folder with --relative-path.")
            .detail("path", shown.as_ref())
            .detail("reason", "no Info.plist")
        });
    };
    inside(&root, relative, operation)
}

/// A folder, or the bundle that an executable stands in.
fn bundle_of(path: &Path, is_dir: bool) -> Option<PathBuf> {
    if is_dir {
        return Some(path.to_owned());
    }
    let folder = path.parent()?;
    let is_macos = folder.ends_with("Contents/MacOS");
    let root = if is_macos {
        folder.parent()?.parent()?
    } else {
        folder
    };
    Some(match root.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => root.to_owned(),
    })
}

/// A relative path never leaves the folder, through links neither.
fn inside(root: &Path, relative: &Path, operation: &'static str) -> Result<PathBuf> {
    let refuse = |why: &str| {
        let message = format!("the relative path {} {why}", display_path(relative));
        Error::invalid_request(operation, &["relative_path"], "invalid_value", message)
    };
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if relative.as_os_str().is_empty() || !relative.components().all(plain) {
        return Err(refuse("leaves the bundle"));
    }
    let file = root.join(relative);
    let shown = display_path(&file);
    let resolve = |path: &Path| {
        path.canonicalize()
            .map_err(|error| path_error(&error, &shown, operation))
    };
    if !resolve(&file)?.starts_with(resolve(root)?) {
        return Err(refuse("leads out of the bundle through a link"));
    }
    Ok(file)
}

fn read(file: &Path, shown: &str, operation: &'static str) -> Result<Vec<u8>> {
    let opened = File::open(file).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, opened) = opened.map_err(|error| path_error(&error, shown, operation))?;
    if !metadata.is_file() {
        return Err(unsupported(shown, operation, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::file_io("read", shown, &error))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(too_large(shown, operation, "bytes", MAX_INPUT));
    }
    Ok(bytes)
}

fn unsupported(shown: &str, operation: &'static str, why: &str) -> Error {
    Error::new(
        Code::UnsupportedTarget,
        format!("{shown} is no property list: {why}"),
    )
    .action("Give a property list, or a bundle that holds one.")
    .detail("operation", operation)
    .detail("path", shown)
    .detail("reason", why)
}

fn refused(fault: Fault, shown: &str, operation: &'static str) -> Error {
    match fault {
        Fault::Malformed(offset, text) => {
            unsupported(shown, operation, &format!("at offset {offset}, {text}"))
                .detail("offset", offset)
        }
        Fault::Limit(what, value) => too_large(shown, operation, what, value),
    }
}

fn too_large(shown: &str, operation: &'static str, what: &str, value: u64) -> Error {
    let message = format!("{shown} comes to more than {value} {what}");
    let mut limits = Object::new();
    limits.insert("boundary", what);
    limits.insert("input_path", shown);
    limits.insert("maximum", value);
    Error::out_of_memory(operation, message, limits)
}

fn limitations(plist: &Plist) -> Vec<String> {
    let mut said = vec![NOT_RUN.to_owned()];
    if plist.notation == Notation::Xml && holds_uid(&plist.value) {
        said.push(XML_UIDS.to_owned());
    }
    if plist.repeated_keys > 0 {
        said.push(format!(
            "{} in one dictionary; the last value of each is given.",
            counted(plist.repeated_keys, "key is repeated", "keys are repeated")
        ));
    }
    if plist.odd_strings > 0 {
        said.push(format!(
            "{} neither ASCII nor UTF-8; each byte was read as ISO 8859-1.",
            counted(plist.odd_strings, "string is", "strings are")
        ));
    }
    said
}

fn holds_uid(value: &Value) -> bool {
    match value {
        Value::Array(items) | Value::Set(items) => items.iter().any(holds_uid),
        Value::Dict(members) => {
            value.get("CF$UID").is_some() || members.iter().any(|(_, value)| holds_uid(value))
        }
        _ => false,
    }
}

impl PlistRecord {
    /// What was read.
    pub fn plist(&self) -> &Plist {
        &self.plist
    }

    /// The file it was read from, as it is shown.
    pub fn source_path(&self) -> &str {
        &self.subject.local_path
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> Digest {
        self.subject.sha256
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }
}

impl Drafted for PlistRecord {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        use_it(&Draft {
            subject: Some(self.subject.clone()),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: "inspect_plist",
            parameters: &self.parameters,
            normalized_result: &ResultOf(self),
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            limitations: &self.limitations,
            locations: &ArtifactPath(&self.subject.local_path),
            evidence_links: &[],
        })
    }
}

struct ResultOf<'a>(&'a PlistRecord);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        w.begin_object();
        w.key("bundle");
        w.begin_object();
        for (name, key) in BUNDLE {
            w.key(name);
            match record.plist.value.get(key) {
                Some(Value::String(text)) => w.text(text.as_bytes()),
                _ => w.null(),
            }
        }
        w.end_object();
        w.member("format", record.plist.notation.as_str());
        w.member("limitations", &record.limitations);
        w.key("provenance");
        w.begin_array();
        w.end_array();
        w.member("source_path", record.source_path());
        w.member("value", &record.plist.value);
        w.end_object();
    }
}
