//! The error contract: one type with code, category, message, remedy, details
//! and exit status, rendered as JSON or as a paragraph by the command line.

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::json::{Object, Value, WriteJson, Writer, written};

/// `Result` with the contract's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        impl $name {
            /// The name in records and messages.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

names! {
    /// What went wrong, as a stable code.
    Code {
        /// An argument or input member is not acceptable.
        InvalidRequest = "invalid_request",
        /// The operating system refused a read.
        AccessDenied = "access_denied",
        /// An input changed while it was read.
        ArtifactChanged = "artifact_changed",
        /// Output could not be understood or delivered.
        UnreadableOutput = "unreadable_output",
        /// The operation does not apply here.
        CapabilityUnavailable = "capability_unavailable",
        /// The target is of a kind the operation does not take.
        UnsupportedTarget = "unsupported_target",
        /// A budget of memory, size or time was reached.
        ResourceConstraint = "resource_constraint",
        /// The caller or a signal ended the work.
        Cancelled = "cancelled",
        /// A member's bytes contradict the digest its container declares.
        ArtifactIntegrityMismatch = "artifact_integrity_mismatch",
        /// An artifact could not be read or written.
        ArtifactOperationFailed = "artifact_operation_failed",
        /// Evidence is not what its id says, or not Evidence.
        EvidenceIntegrityMismatch = "evidence_integrity_mismatch",
        /// A limit would have cut the result.
        Truncated = "truncated",
        /// Work failed and left something behind.
        CleanupIncomplete = "cleanup_incomplete",
        /// Another writer was first.
        RevisionConflict = "revision_conflict",
        /// A setting is not acceptable.
        ConfigurationInvalid = "configuration_invalid",
        /// A provider is not there or does not run.
        ProviderUnavailable = "provider_unavailable",
        /// The target does not exist or cannot be opened.
        TargetUnavailable = "target_unavailable",
        /// Anything else that failed.
        ExecutionFailure = "execution_failure",
    }
}

names! {
    /// The family an error belongs to.
    Category {
        /// The caller's input.
        InvalidInput = "invalid_input",
        /// Not there, or not readable.
        Unavailable = "unavailable",
        /// Bytes contradict what is declared.
        IntegrityMismatch = "integrity_mismatch",
        /// The work itself failed.
        ExecutionFailure = "execution_failure",
        /// No provider does this.
        UnsupportedProvider = "unsupported_provider",
        /// No such target is supported.
        UnsupportedTarget = "unsupported_target",
        /// A budget was reached.
        ResourceConstraint = "resource_constraint",
        /// Ended on request.
        Cancelled = "cancelled",
        /// A limit would have cut the result.
        Truncated = "truncated",
    }
}

impl Code {
    /// Whether the same call may succeed later or with other arguments.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            Self::InvalidRequest
                | Self::ArtifactChanged
                | Self::Cancelled
                | Self::ProviderUnavailable
                | Self::RevisionConflict
        )
    }

    fn category(self) -> Category {
        match self {
            Self::InvalidRequest => Category::InvalidInput,
            Self::AccessDenied | Self::ProviderUnavailable | Self::TargetUnavailable => {
                Category::Unavailable
            }
            Self::ArtifactChanged | Self::ArtifactIntegrityMismatch => Category::IntegrityMismatch,
            Self::CapabilityUnavailable => Category::UnsupportedProvider,
            Self::UnsupportedTarget => Category::UnsupportedTarget,
            Self::ResourceConstraint => Category::ResourceConstraint,
            Self::Cancelled => Category::Cancelled,
            Self::Truncated => Category::Truncated,
            Self::EvidenceIntegrityMismatch => Category::IntegrityMismatch,
            Self::UnreadableOutput
            | Self::ArtifactOperationFailed
            | Self::CleanupIncomplete
            | Self::RevisionConflict
            | Self::ConfigurationInvalid
            | Self::ExecutionFailure => Category::ExecutionFailure,
        }
    }
}

/// Why an artifact operation failed (`details.reason`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactReason {
    /// Malformed structure.
    Format,
    /// Checksums or sizes contradict the bytes.
    Integrity,
    /// A budget was reached.
    Limit,
    /// A path is not allowed.
    Path,
    /// Something needed is not there.
    Unavailable,
    /// Reading or writing failed.
    Io,
}

impl ArtifactReason {
    /// The name in `details.reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Integrity => "integrity",
            Self::Limit => "limit",
            Self::Path => "path",
            Self::Unavailable => "unavailable",
            Self::Io => "io",
        }
    }
}

/// An error of the contract (shared by every operation).
///
/// Renders as `{"code", "category", "message", "retryable", "remediation":
/// {"action"}, "details"?, "recovery"?}`.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: Code,
    category: Category,
    message: String,
    action: Option<Cow<'static, str>>,
    details: Object,
    recovery: Option<Object>,
    signal: Option<i32>,
}

impl Error {
    /// An error with the code's own category.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            category: code.category(),
            message: message.into(),
            action: None,
            details: Object::new(),
            recovery: None,
            signal: None,
        }))
    }

    /// What the user can do about it.
    #[must_use]
    pub fn action(mut self, action: impl Into<Cow<'static, str>>) -> Self {
        self.0.action = Some(action.into());
        self
    }

    /// Adds a member to `details`.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(name, value);
        self
    }

    /// `details.reason`, where there is one.
    pub fn reason(&self) -> Option<&str> {
        self.0.details.get("reason")?.as_str()
    }

    /// Replaces the category.
    #[must_use]
    pub fn in_category(mut self, category: Category) -> Self {
        self.0.category = category;
        self
    }

    /// Sets `recovery.kind` and the operation it is about.
    #[must_use]
    pub fn recovery(mut self, kind: &str, operation: &str) -> Self {
        let mut recovery = Object::new();
        recovery.insert("kind", kind);
        recovery.insert("operation", operation);
        self.0.recovery = Some(recovery);
        self
    }

    /// An artifact operation failed for `reason`.
    pub fn artifact(operation: &str, reason: ArtifactReason, message: impl Into<String>) -> Self {
        let (code, category) = match reason {
            ArtifactReason::Integrity => {
                (Code::ArtifactOperationFailed, Category::IntegrityMismatch)
            }
            ArtifactReason::Unavailable => (Code::ArtifactOperationFailed, Category::Unavailable),
            ArtifactReason::Limit => (Code::Truncated, Category::Truncated),
            ArtifactReason::Format | ArtifactReason::Path | ArtifactReason::Io => {
                (Code::ArtifactOperationFailed, Category::ExecutionFailure)
            }
        };
        let error = Self::new(code, message)
            .in_category(category)
            .detail("operation", operation)
            .detail("reason", reason.as_str());
        if reason == ArtifactReason::Limit {
            error.detail("truncated", true)
        } else {
            error
        }
    }

    /// The work was ended on request.
    pub fn cancelled(operation: &str) -> Self {
        Self::new(
            Code::Cancelled,
            "The operation was cancelled before it finished.",
        )
        .action("Run it again when you want the result.")
        .detail("operation", operation)
        .detail("cleanup", "complete")
    }

    /// The same error, ended by a signal: the exit status becomes 128 + N.
    #[must_use]
    pub fn by_signal(mut self, signal: i32) -> Self {
        self.0.signal = Some(signal);
        self
    }

    /// A file of Evidence, a bundle or a request could not be read or written;
    /// `reason` is one of `not-file`, `exists`, `invalid-json`, `missing`, `io`.
    pub fn file(operation: &str, reason: &str, path: &str, message: impl Into<String>) -> Self {
        let code = if reason == "invalid-json" {
            Code::EvidenceIntegrityMismatch
        } else {
            Code::ExecutionFailure
        };
        Self::new(code, message)
            .in_category(Category::ExecutionFailure)
            .detail("operation", operation)
            .detail("reason", reason)
            .detail("path", path)
    }

    /// [`Error::file`] with the reason taken from an I/O error.
    pub fn file_io(operation: &str, path: &str, error: &io::Error) -> Self {
        let (reason, what) = match error.kind() {
            io::ErrorKind::NotFound => ("missing", "does not exist".to_owned()),
            io::ErrorKind::AlreadyExists => ("exists", "exists already".to_owned()),
            io::ErrorKind::IsADirectory => ("not-file", "is a directory".to_owned()),
            _ => (
                "io",
                format!("cannot be {}: {}", past(operation), io_reason(error)),
            ),
        };
        let told = Self::file(operation, reason, path, format!("{path} {what}"));
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                told.action(match operation {
                    "write" => "Make room there, or choose another place.",
                    _ => {
                        "Make room for temporary files, or name another folder for them in TMPDIR."
                    }
                })
            }
            _ => match reason {
                "missing" => told.action("Check the path; it must name an existing file."),
                "not-file" => told.action("Name a file."),
                _ => told,
            },
        }
    }

    /// More memory is asked for than there is; `limits` tells the boundary.
    pub(crate) fn out_of_memory(
        operation: &str,
        message: impl Into<String>,
        limits: Object,
    ) -> Self {
        let message = message.into();
        Self::new(Code::ResourceConstraint, message.as_str())
            .detail("operation", operation)
            .detail("resource", "memory")
            .detail("reason", message)
            .detail("reported_limits", limits)
    }

    /// One unacceptable argument of an operation. `reason` is one of
    /// `unknown_argument`, `missing_argument`, `invalid_type`, `out_of_range`,
    /// `invalid_value`, `invalid_format`.
    pub fn invalid_request(
        operation: &str,
        path: &[&str],
        reason: &str,
        message: impl Into<String>,
    ) -> Self {
        let message = message.into();
        let mut issue = Object::new();
        issue.insert(
            "path",
            path.iter()
                .map(|&part| Value::from(part))
                .collect::<Vec<_>>(),
        );
        issue.insert("reason", reason);
        issue.insert("message", message.as_str());
        Self::new(Code::InvalidRequest, message)
            .detail("operation", operation)
            .detail("issues", vec![Value::from(issue)])
            .recovery("inspect_input_contract", operation)
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The family.
    pub fn category(&self) -> Category {
        self.0.category
    }

    /// What failed, in one sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do; the message itself where there is nothing better.
    pub fn remedy(&self) -> &str {
        self.0.action.as_deref().unwrap_or(&self.0.message)
    }

    /// Whether a specific remedy was given.
    pub fn has_remedy(&self) -> bool {
        self.0.action.is_some()
    }

    /// The `details` members.
    pub fn details(&self) -> &Object {
        &self.0.details
    }

    /// `{"error": ...}` as canonical JSON, as commands and tools tell it.
    pub fn enveloped(&self) -> Vec<u8> {
        written(|w| {
            w.begin_object();
            w.member("error", self);
            w.end_object();
        })
    }

    /// The exit status of a process that ends with this error.
    pub fn exit_status(&self) -> u8 {
        match self.0.signal {
            Some(signal) => 128u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
            None => 1,
        }
    }
}

fn past(operation: &str) -> &str {
    match operation {
        "write" => "written",
        other => other,
    }
}

/// An I/O error in words that do not vary with the host's locale.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "no space left on the device".to_owned(),
        io::ErrorKind::UnexpectedEof => "it ends early".to_owned(),
        _ => error.to_string(),
    }
}

impl WriteJson for Error {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("category", self.0.category.as_str());
        w.member("code", self.0.code.as_str());
        if !self.0.details.is_empty() {
            w.member("details", &self.0.details);
        }
        w.member("message", &self.0.message);
        if let Some(recovery) = &self.0.recovery {
            w.member("recovery", recovery);
        }
        w.key("remediation");
        w.begin_object();
        w.member("action", self.remedy());
        w.end_object();
        w.member("retryable", self.0.code.retryable());
        w.end_object();
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
