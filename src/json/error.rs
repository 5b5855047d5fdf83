//! Why a document could not be read, and where.

use std::io;

use super::Object;
use crate::error::{Category, Code, Error, io_reason};

/// The kinds of refusal.
#[derive(Debug)]
pub enum ReadErrorKind {
    /// Not JSON (RFC 8259), or not UTF-8, or cut off, or trailed by something.
    Syntax,
    /// An object names a member twice (RFC 8259 section 4 leaves it open;
    /// records would be ambiguous).
    Duplicate,
    /// A number does not fit an IEEE double.
    NotFinite,
    /// More arrays and objects inside each other than the caller accepts.
    Depth,
    /// A budget was reached.
    Resource {
        /// What is bounded: `input-bytes`, `member-name`, `number`,
        /// `document-text`, `document-memory`, `open-member-names`, `spool`.
        boundary: &'static str,
        /// The bound.
        maximum: u64,
    },
    /// The operating system refused a read.
    Io(io::Error),
}

/// A document that could not be read: what is wrong and at which byte.
#[derive(Debug)]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ReadErrorKind,
    message: String,
    place: Place,
}

/// A place in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Bytes before it, from the start of the input.
    pub offset: u64,
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
}

impl ReadError {
    pub(crate) fn new(kind: ReadErrorKind, place: Place, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            place,
        }))
    }

    pub(crate) fn resource(
        boundary: &'static str,
        maximum: u64,
        place: Place,
        message: impl Into<String>,
    ) -> Self {
        Self::new(
            ReadErrorKind::Resource { boundary, maximum },
            place,
            message,
        )
    }

    /// A member name that stands twice, shortened and without control
    /// characters.
    pub(crate) fn duplicate(name: &[u8], place: Place) -> Self {
        let text = String::from_utf8_lossy(name);
        let short: String = text.chars().take(60).collect();
        let more = if text.chars().nth(60).is_some() {
            "..."
        } else {
            ""
        };
        let message = format!("the member name {short:?}{more} stands twice in an object");
        Self::new(ReadErrorKind::Duplicate, place, message)
    }

    /// The kind of refusal.
    pub fn kind(&self) -> &ReadErrorKind {
        &self.0.kind
    }

    /// Where in the input.
    pub fn place(&self) -> Place {
        self.0.place
    }

    /// The contract's error for a document that came from a file (or, with
    /// the path `-`, from standard input).
    pub fn into_file_error(self, path: &str) -> Error {
        match &self.0.kind {
            ReadErrorKind::Io(error) => Error::file_io("read", path, error),
            ReadErrorKind::Syntax | ReadErrorKind::Duplicate => Error::file(
                "read",
                "invalid-json",
                path,
                format!("{path} is not valid JSON: {self}"),
            )
            .action("Give the file as it was written, whole; it must be JSON."),
            ReadErrorKind::NotFinite | ReadErrorKind::Depth => {
                let message = format!("{path} is not acceptable: {self}");
                Error::new(Code::EvidenceIntegrityMismatch, message.as_str())
                    .in_category(Category::IntegrityMismatch)
                    .detail("reason", message.as_str())
                    .detail("path", path)
            }
            ReadErrorKind::Resource { boundary, maximum } => {
                let mut limits = Object::new();
                limits.insert("boundary", *boundary);
                limits.insert("input_bytes", self.0.place.offset);
                limits.insert("input_path", path);
                limits.insert("maximum", *maximum);
                Error::out_of_memory("read", format!("{path} cannot be read: {self}"), limits)
            }
        }
    }

    /// The contract's error for a document given as the argument `argument`
    /// (an empty path where the document is the whole input).
    pub fn into_argument_error(self, operation: &str, argument: &[&str]) -> Error {
        let reason = match &self.0.kind {
            ReadErrorKind::Resource { boundary, maximum } => {
                let mut limits = Object::new();
                limits.insert("boundary", *boundary);
                limits.insert("input_bytes", self.0.place.offset);
                limits.insert("maximum", *maximum);
                return Error::out_of_memory(
                    "read",
                    format!("The input cannot be read: {self}"),
                    limits,
                );
            }
            ReadErrorKind::NotFinite | ReadErrorKind::Depth => "invalid_value",
            _ => "invalid_format",
        };
        let message = format!("The input is not valid JSON: {self}");
        super::issue::Issue::new(argument, reason, message)
            .expected("JSON")
            .into_error(operation)
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let ReadErrorKind::Io(error) = &self.0.kind {
            return f.write_str(&io_reason(error));
        }
        write!(
            f,
            "{} (line {}, byte {} of it; offset {})",
            self.0.message, self.0.place.line, self.0.place.column, self.0.place.offset
        )
    }
}

impl std::error::Error for ReadError {}
