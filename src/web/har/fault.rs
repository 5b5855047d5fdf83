//! What is wrong with a capture, in the words of the error contract (web.md
//! section 1.8). No message holds a declared literal.

use std::io;

use super::exclude::Literals;
use super::mitmdump::{Missing, SETTING, VERSION};
use crate::error::{Category, Code, Error, io_reason};
use crate::json::{Issue, Object, Value};
use crate::operation::Context;

/// See the module. Messages stand behind the name of the capture.
#[derive(Debug)]
pub(super) enum Fault {
    /// The path is none of a capture.
    Path(&'static str),
    Io(io::Error),
    Changed,
    /// More bytes than are taken, in the file or in what is unpacked from it.
    TooLarge {
        unpacked: bool,
    },
    /// More nesting than is taken.
    TooDeep,
    /// The document is wrong at a JSON Pointer.
    Format {
        pointer: String,
        message: String,
    },
    /// The document is of another version.
    Version {
        found: String,
    },
    Ordinals(String),
    /// A sensitive value is empty.
    Sensitive,
    /// The record would have more bytes than are given.
    Reply {
        maximum: u64,
    },
    Stopped(Error),
    /// A file of flows is wrong at an offset, and at a JSON Pointer of a state.
    Flow {
        offset: u64,
        pointer: String,
        what: String,
    },
    /// There is no mitmdump that is known.
    NoProgram(Missing),
    /// mitmdump does not run.
    Program(String),
    /// mitmdump needed more than it may have of this.
    Decoder(&'static str),
    /// mitmdump said something else than what was asked.
    Answer(String),
    /// Files or processes of mitmdump may be left, after a fault or without.
    Cleanup(Option<Box<Fault>>),
}

/// What exporters are known to write against the standard, by the end of the
/// place, and what to do about it.
const KNOWN: [(&str, &str); 4] = [
    (
        "/response/redirectURL",
        "Charles writes null where nothing was redirected: put \"\" there, as docs/environments.md shows.",
    ),
    (
        "/response/statusText",
        "Charles writes null where HTTP/2 has no such text: put \"\" there, as docs/environments.md shows.",
    ),
    (
        "/expires",
        "Safari writes \"\" for cookies that end with the session: put null there, as docs/environments.md shows.",
    ),
    (
        "/response/content",
        "mitmdump writes an empty object where no response came: leave such flows out with --set save_stream_filter=~s.",
    ),
];

const EXPORT_AGAIN: &str =
    "Export the capture again as HAR 1.2; docs/environments.md says what exporters write.";

/// The most arrays and objects inside the document's own.
pub(super) const NESTING: u64 = 64;

impl Fault {
    pub fn path(what: &'static str) -> Self {
        Self::Path(what)
    }

    pub fn format(pointer: impl Into<String>, message: String) -> Self {
        Self::Format {
            pointer: pointer.into(),
            message,
        }
    }

    /// The error, about the capture `shown`.
    pub fn into_error(
        self,
        shown: &str,
        maximum: u64,
        literals: &Literals,
        context: &Context,
    ) -> Error {
        let operation = context.operation;
        let hides = |text: &str| literals.are_in(text.as_bytes());
        let shown = if hides(shown) { "the capture" } else { shown };
        let say = |message: String| match hides(&message) {
            true => {
                "the capture is refused; the reason holds a declared sensitive value".to_owned()
            }
            false => message,
        };
        let at = |path: Vec<Value>, reason, message: String| Issue::at(path, reason, say(message));
        let capture = || vec![Value::from("capture_path")];
        match self {
            Self::Stopped(error) => error,
            Self::Path(what) => at(capture(), "invalid_format", format!("{shown} {what}"))
                .into_error(operation)
                .action("Give the path of the capture itself, a regular file."),
            Self::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let code = match error.raw_os_error() {
                    Some(1) => "EPERM",
                    _ => "EACCES",
                };
                Error::new(
                    Code::AccessDenied,
                    say(format!("{shown} may not be read: permission denied")),
                )
                .in_category(Category::Unavailable)
                .action("Run as a user who may read it, or inspect a copy.")
                .detail("operation", operation)
                .detail("boundary", "filesystem-read")
                .detail("system_code", code)
            }
            Self::Io(error) => {
                let missing = matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                );
                let reason = if missing {
                    "invalid_value"
                } else {
                    "invalid_format"
                };
                let message = format!("{shown} cannot be read: {}", io_reason(&error));
                at(capture(), reason, message)
                    .into_error(operation)
                    .action("Check the path; it must name an existing file.")
            }
            Self::Changed => Error::new(
                Code::ArtifactChanged,
                say(format!("{shown} changed while it was read")),
            )
            .in_category(Category::IntegrityMismatch)
            .action("Inspect a copy that nothing writes to.")
            .detail("operation", operation),
            Self::TooLarge { unpacked } => {
                let what = if unpacked { "unpacks to" } else { "has" };
                let mut expected = Object::new();
                expected.insert("maximum_capture_bytes", maximum);
                let message = format!("{shown} {what} more than {maximum} bytes");
                at(capture(), "out_of_range", message)
                    .expected(expected)
                    .into_error(operation)
                    .action("Raise --max-capture-bytes, or record less into one capture.")
            }
            Self::TooDeep => {
                let mut expected = Object::new();
                expected.insert("maximum_capture_nesting", NESTING);
                let message =
                    format!("{shown} nests more than {NESTING} arrays and objects in its own");
                at(capture(), "out_of_range", message)
                    .expected(expected)
                    .into_error(operation)
                    .action("Look at what wrote it: no exporter nests so deep.")
            }
            Self::Format { pointer, message } => {
                let hidden = hides(&pointer) || hides(&message);
                let place = match pointer.as_str() {
                    "" => String::new(),
                    pointer => format!(": {pointer}"),
                };
                let known = KNOWN.iter().find(|(end, _)| pointer.ends_with(end));
                let advice = match known {
                    Some((_, advice)) if !hidden => advice,
                    _ => EXPORT_AGAIN,
                };
                let mut path = capture();
                path.push(if hidden { "".into() } else { pointer.into() });
                at(path, "invalid_format", format!("{shown}{place} {message}"))
                    .into_error(operation)
                    .action(advice)
            }
            Self::Version { found } => Error::new(
                Code::CapabilityUnavailable,
                say(format!("{shown} is HAR {found}, and only HAR 1.2 is read")),
            )
            .action("Export the capture again as HAR 1.2.")
            .detail("operation", operation)
            .detail("pointer", "/log/version")
            .detail("profile", "HAR 1.2"),
            Self::Ordinals(message) => {
                at(vec!["record_ordinals".into()], "invalid_format", message).into_error(operation)
            }
            Self::Sensitive => {
                let message = "a sensitive value is empty, which every text holds".to_owned();
                at(vec!["sensitive_values".into()], "invalid_value", message).into_error(operation)
            }
            Self::Reply { maximum } => Error::new(
                Code::UnreadableOutput,
                say(format!(
                    "the record of {shown} would have more than {maximum} bytes"
                )),
            )
            .action("Select fewer records with --record, or raise --max-capture-bytes.")
            .detail("operation", operation)
            .detail("maximum_reply_bytes", maximum),
            Self::Flow {
                offset,
                pointer,
                what,
            } => {
                let hidden = hides(&pointer) || hides(&what);
                let mut path = capture();
                path.push(if hidden { "".into() } else { pointer.into() });
                let message = format!("{shown}: byte {offset} {what}");
                at(path, "invalid_format", message)
                    .into_error(operation)
                    .action("Give a file that mitmproxy wrote (`-w`); a HAR is read with the format har.")
            }
            Self::NoProgram(missing) => no_program(missing, &say, operation),
            Self::Program(reason) => Error::new(
                Code::ProviderUnavailable,
                say(format!("mitmdump does not run: {reason}")),
            )
            .action("Make room for temporary files, and see that this user may start programs.")
            .detail("operation", operation)
            .detail("profile", PROFILE),
            Self::Decoder(resource) => Error::new(
                Code::ResourceConstraint,
                say(format!("mitmdump needed more than {resource} for {shown}")),
            )
            .action("Record fewer flows into one file; selecting fewer records does not help.")
            .detail("operation", operation)
            .detail("reason", resource),
            Self::Answer(what) => Error::new(
                Code::UnreadableOutput,
                say(format!("what mitmdump made of {shown} {what}")),
            )
            .action("See that the program is mitmproxy's own mitmdump, unchanged.")
            .detail("operation", operation)
            .detail("profile", PROFILE),
            Self::Cleanup(fault) => {
                let prior = fault.map(|fault| fault.into_error(shown, maximum, literals, context));
                let after = prior.as_ref().map_or(String::new(), |prior| {
                    format!(", after another fault: {}", prior.message())
                });
                let message = format!(
                    "files or processes of mitmdump may be left in the temporary folder{after}"
                );
                let error = Error::new(Code::CleanupIncomplete, say(message))
                    .action("Remove what is left: folders `rea-flows-*` there.")
                    .detail("operation", operation);
                match prior {
                    Some(prior) => error.detail("prior_code", prior.code().as_str()),
                    None => error,
                }
            }
        }
    }
}

/// What can read native flows, as errors name it.
const PROFILE: &str = "mitmdump 12.2.3";

fn no_program(missing: Missing, say: &dyn Fn(String) -> String, operation: &str) -> Error {
    let message = match missing {
        Missing::NotSet => format!(
            "native flows of mitmproxy are read by mitmdump {VERSION}, and {SETTING} names none"
        ),
        Missing::NotAFile => format!("{SETTING} is not the absolute path of a file"),
        Missing::OtherSystem => {
            "native flows of mitmproxy are read on Linux only, where a program can be limited"
                .to_owned()
        }
        Missing::Other(reason) => {
            format!("what {SETTING} names is not mitmdump {VERSION}: it {reason}")
        }
    };
    Error::new(Code::CapabilityUnavailable, say(message))
        .action(format!(
            "Set {SETTING} to the absolute path of mitmdump {VERSION}, or export the flows: mitmdump -n -r FLOWS --set hardump=OUT.har"
        ))
        .detail("operation", operation)
        .detail("profile", PROFILE)
}
