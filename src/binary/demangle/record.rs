//! `demangle` and `demangle_swift`: names in, names as people write them out
//! (binaries section 9).

use super::demangle;
use crate::binary::name_text;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::{Authority, Confidence, Draft, Drafted, EvidenceId, Provider, Subject};
use crate::json::{Object, Value, WriteJson, Writer};
use crate::operation::Context;

/// Who demangles.
pub const PROVIDER: Provider = Provider {
    id: "rea-demangle",
    name: "rea demangle",
    version: "1",
};

/// Names that `demangle_swift` takes.
pub const MAX_SYMBOLS: usize = 500;

/// Characters of a name that `demangle_swift` takes.
const MAX_CHARACTERS: usize = 4096;

const BY_NAME: &str =
    "A name is taken apart by its own letters; whether a compiler wrote it is not known.";

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has a source form.
    Demangled,
    /// It is not mangled.
    Unchanged,
    /// It starts like a mangled name and is none that is understood.
    Invalid,
}

impl Status {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Demangled => "demangled",
            Self::Unchanged => "unchanged",
            Self::Invalid => "invalid",
        }
    }
}

/// A name and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name; bytes that are not UTF-8 as `%XX`.
    pub input: String,
    /// Its source form, else the name again.
    pub output: String,
    /// The scheme it was mangled by.
    pub scheme: Option<&'static str>,
    /// What became of it.
    pub status: Status,
}

/// How mangled names start.
const PREFIXES: [&str; 14] = [
    "_Z", "__Z", "___Z", "____Z", "?", "_R", "__R", "$s", "_$s", "$S", "_$S", "_T0", "__T0", ".?A",
];

/// How those of Swift do.
const SWIFT_PREFIXES: [&str; 2] = ["$s", "_$s"];

impl Row {
    /// The name as it is taken apart; `swift`: of Swift only.
    fn of(name: &[u8], swift: bool) -> Self {
        let input = name_text(name).into_owned();
        let found = demangle(name).filter(|found| !swift || found.scheme == "swift");
        let prefixes: &[&str] = match swift {
            true => &SWIFT_PREFIXES,
            false => &PREFIXES,
        };
        let status = match &found {
            Some(_) => Status::Demangled,
            None if prefixes.iter().any(|prefix| input.starts_with(prefix)) => Status::Invalid,
            None => Status::Unchanged,
        };
        let scheme = found.as_ref().map(|found| found.scheme);
        Self {
            output: found.map_or_else(|| input.clone(), |found| found.text),
            input,
            scheme,
            status,
        }
    }
}

/// Rows of a result.
pub type Rows = Vec<Row>;

/// Names and their source forms as Evidence.
pub struct DemangleRecord {
    rows: Rows,
    /// Where the names are from: of `demangle_swift`.
    subject: Option<Subject>,
    parameters: Object,
    limitations: Vec<String>,
    operation: &'static str,
    id: EvidenceId,
}

/// Takes `names` apart: of any scheme, or of Swift where a `subject` says what
/// they are from.
///
/// # Errors
/// `invalid_request` at `symbols` where a name of Swift is empty or too long,
/// or there are none or too many; `cancelled`.
pub fn demangle_names(
    names: &[Vec<u8>],
    subject: Option<Subject>,
    context: &Context,
) -> Result<DemangleRecord> {
    let operation = context.operation;
    let swift = subject.is_some();
    if swift {
        check(names, operation)?;
    }
    let mut rows = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        if at % 1024 == 0 {
            context.check()?;
        }
        rows.push(Row::of(name, swift));
    }
    let mut parameters = Object::new();
    let symbols: Vec<Value> = rows.iter().map(|row| row.input.as_str().into()).collect();
    parameters.insert("symbols", symbols);
    let mut record = DemangleRecord {
        rows,
        subject,
        parameters,
        limitations: vec![BY_NAME.to_owned()],
        operation,
        id: EvidenceId(Digest([0; 32])),
    };
    record.id = record.with_draft(|draft| draft.id());
    Ok(record)
}

fn check(names: &[Vec<u8>], operation: &str) -> Result<()> {
    let refuse = |reason, message: String| {
        Err(Error::invalid_request(
            operation,
            &["symbols"],
            reason,
            message,
        ))
    };
    if names.is_empty() || names.len() > MAX_SYMBOLS {
        let message = format!("1 to {MAX_SYMBOLS} names are taken, not {}", names.len());
        return refuse("out_of_range", message);
    }
    for name in names {
        let characters = String::from_utf8_lossy(name).chars().count();
        if characters == 0 || characters > MAX_CHARACTERS {
            let message = format!("a name has 1 to {MAX_CHARACTERS} characters, not {characters}");
            return refuse("out_of_range", message);
        }
    }
    Ok(())
}

impl DemangleRecord {
    /// The names and what became of them, in their order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What is to be said of it.
    pub fn limitations(&self) -> &[String] {
        &self.limitations
    }
}

impl Drafted for DemangleRecord {
    fn sealed(&self) -> EvidenceId {
        self.id
    }

    fn with_draft<T>(&self, use_it: impl FnOnce(&Draft<'_>) -> T) -> T {
        let locations: Vec<Value> = self
            .subject
            .iter()
            .map(|subject| {
                let mut location = Object::new();
                location.insert("kind", "artifact-path");
                location.insert("path", subject.local_path.as_str());
                location.into()
            })
            .collect();
        use_it(&Draft {
            subject: self.subject.clone(),
            provider: PROVIDER,
            predicate_type: "rea.analysis",
            operation: self.operation,
            parameters: &self.parameters,
            normalized_result: &ResultOf(self),
            confidence: Confidence::Derived,
            authority: match self.subject {
                Some(_) => Authority::ShippedArtifact,
                None => Authority::AnalystInference,
            },
            limitations: &self.limitations,
            locations: &locations,
            evidence_links: &[],
        })
    }
}

struct ResultOf<'a>(&'a DemangleRecord);

impl WriteJson for ResultOf<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let record = self.0;
        w.begin_object();
        w.member("limitations", &record.limitations);
        w.key("provenance");
        w.begin_array();
        w.end_array();
        w.key("symbols");
        w.begin_array();
        for row in &record.rows {
            w.begin_object();
            w.member("input", &row.input);
            w.member("output", &row.output);
            if record.subject.is_none() {
                w.member("scheme", row.scheme);
            }
            w.member("status", row.status.as_str());
            w.end_object();
        }
        w.end_array();
        w.end_object();
    }
}
