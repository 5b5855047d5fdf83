//! `list_strings` and `search_strings` (functions section 1.2).

use regex::{Regex, RegexBuilder};

use super::record::NativeRecord;
use super::target::Mapped;
use crate::binary::layout::rows::Hex;
use crate::binary::strings::{Encoding, Found, ScanOptions, scan};
use crate::error::{Error, Result};
use crate::json::{Object, Value, WriteJson, Writer};
use crate::operation::Context;

/// The longest pattern, in characters.
const MAX_PATTERN: usize = 256;

/// Memory that a compiled expression may take.
const MAX_REGEX: usize = 4 << 20;

/// Strings as rows of a result.
pub struct Strings<'a> {
    file: &'a [u8],
    rows: Vec<(Option<u64>, Found)>,
}

/// One string.
pub struct StringRow<'a> {
    /// The address of its first byte, where it has one.
    pub address: Option<u64>,
    /// Where it stands.
    pub found: Found,
    /// Its text.
    pub text: std::borrow::Cow<'a, str>,
    /// Whether a NUL follows.
    pub terminated: bool,
}

impl Strings<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The strings one by one.
    pub fn iter(&self) -> impl Iterator<Item = StringRow<'_>> {
        self.rows.iter().map(|&(address, found)| StringRow {
            address,
            found,
            text: found.text(self.file),
            terminated: found.is_terminated(self.file),
        })
    }
}

impl WriteJson for Strings<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for row in self.iter() {
            w.begin_object();
            w.member("address", row.address.map(Hex));
            w.member("file_offset", row.found.offset());
            w.key("string");
            w.begin_object();
            w.member("byte_length", row.found.bytes());
            w.member("encoding", row.found.encoding().as_str());
            let termination = match row.terminated {
                true => "present_or_not_required",
                false => "missing",
            };
            w.member("termination", termination);
            w.end_object();
            w.member("value", &row.text);
            w.end_object();
        }
        w.end_array();
    }
}

/// Which strings are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StringsOptions {
    /// What counts as a string.
    pub scan: ScanOptions,
    /// Only the one that holds this address.
    pub address: Option<u64>,
}

/// How a pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The characters themselves.
    #[default]
    Literal,
    /// A regular expression without look-around and back-references.
    Regex,
}

impl Mode {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Regex => "regex",
        }
    }
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// 1 to 256 characters.
    pub pattern: String,
    /// How it is read.
    pub mode: Mode,
    /// Whether capital letters differ from small ones.
    pub case_sensitive: bool,
}

const BY_SHAPE: &str = "Strings are runs of characters wherever they stand in the file; some may be code or data that looks like text.";
const UTF16: &str = "UTF-16 was looked for in Latin, Greek and Cyrillic letters and punctuation; text in other scripts is not found in it.";
const UNMAPPED: &str = "The address of a string is null where the file maps its bytes nowhere.";
const RAW: &str =
    "The file is of no format that gives its bytes addresses; strings are told by their offset.";

/// The strings of the file, by address, those without one last.
///
/// # Errors
/// `cancelled`.
pub fn list_strings<'a>(
    mapped: &'a Mapped<'a>,
    options: &StringsOptions,
    context: &Context,
) -> Result<NativeRecord<Strings<'a>>> {
    let mut parameters = scan_parameters(&options.scan);
    if let Some(address) = options.address {
        parameters.insert("address", format!("{address:#x}"));
    }
    let mut strings = inventory(mapped, &options.scan, context)?;
    if let Some(wanted) = options.address {
        strings.rows.retain(|&(address, found)| {
            address.is_some_and(|address| {
                wanted
                    .checked_sub(address)
                    .is_some_and(|inside| inside < found.bytes())
            })
        });
    }
    Ok(record(mapped, strings, parameters, options, context))
}

/// The strings of the file in which the pattern is found.
///
/// # Errors
/// `invalid_request` at `pattern`; `cancelled`.
pub fn search_strings<'a>(
    mapped: &'a Mapped<'a>,
    query: &Query,
    options: &ScanOptions,
    context: &Context,
) -> Result<NativeRecord<Strings<'a>>> {
    let regex = compile(query, context.operation)?;
    let mut strings = inventory(mapped, options, context)?;
    let file = strings.file;
    let mut seen = 0u64;
    let mut cancelled = Ok(());
    strings.rows.retain(|&(_, found)| {
        seen += found.bytes() + 64;
        if seen > 8 << 20 {
            seen = 0;
            if cancelled.is_ok() {
                cancelled = context.check();
            }
        }
        cancelled.is_ok() && regex.is_match(&found.text(file))
    });
    cancelled?;
    let mut parameters = scan_parameters(options);
    parameters.insert("case_sensitive", query.case_sensitive);
    parameters.insert("mode", query.mode.as_str());
    parameters.insert("pattern", query.pattern.as_str());
    let options = StringsOptions {
        scan: options.clone(),
        address: None,
    };
    Ok(record(mapped, strings, parameters, &options, context))
}

fn scan_parameters(options: &ScanOptions) -> Object {
    let mut parameters = Object::new();
    let encodings: Vec<Value> = Encoding::ALL
        .into_iter()
        .filter(|encoding| options.encodings.contains(encoding))
        .map(|encoding| encoding.as_str().into())
        .collect();
    parameters.insert("encodings", encodings);
    parameters.insert("min_length", u64::from(options.min_length));
    parameters
}

fn inventory<'a>(
    mapped: &'a Mapped<'a>,
    options: &ScanOptions,
    context: &Context,
) -> Result<Strings<'a>> {
    let file = mapped.target.file().bytes.as_slice();
    let places = mapped.memory.places();
    let mut rows: Vec<(Option<u64>, Found)> = scan(file, options, context)?
        .into_iter()
        .map(|found| (places.address_of(found.offset()), found))
        .collect();
    rows.sort_by_key(|&(address, found)| (address.is_none(), address, found));
    Ok(Strings { file, rows })
}

fn record<'a>(
    mapped: &'a Mapped<'a>,
    strings: Strings<'a>,
    parameters: Object,
    options: &StringsOptions,
    context: &Context,
) -> NativeRecord<Strings<'a>> {
    let mut said = vec![BY_SHAPE];
    let wide = [Encoding::Utf16Le, Encoding::Utf16Be];
    if wide
        .iter()
        .any(|encoding| options.scan.encodings.contains(encoding))
    {
        said.push(UTF16);
    }
    match mapped.layout {
        None => said.push(RAW),
        Some(_) if strings.rows.iter().any(|(address, _)| address.is_none()) => {
            said.push(UNMAPPED);
        }
        Some(_) => {}
    }
    let said = said.into_iter().map(str::to_owned);
    let parts = mapped.parts(context.operation, parameters, said);
    NativeRecord::new(mapped.target, parts, strings)
}

fn compile(query: &Query, operation: &str) -> Result<Regex> {
    let refuse =
        |reason, message: String| Error::invalid_request(operation, &["pattern"], reason, message);
    let length = query.pattern.chars().count();
    if length == 0 || length > MAX_PATTERN {
        let message = format!("a pattern has 1 to {MAX_PATTERN} characters");
        return Err(refuse("out_of_range", message));
    }
    let source = match query.mode {
        Mode::Literal => regex::escape(&query.pattern),
        Mode::Regex => query.pattern.clone(),
    };
    RegexBuilder::new(&source)
        .case_insensitive(!query.case_sensitive)
        .size_limit(MAX_REGEX)
        .dfa_size_limit(MAX_REGEX)
        .nest_limit(64)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => refuse(
                "invalid_value",
                "the regular expression is too large once its repetitions are written out"
                    .to_owned(),
            ),
            _ => refuse(
                "invalid_format",
                "the pattern is no regular expression of the kind that is searched in linear time"
                    .to_owned(),
            )
            .action("Leave out look-around and back-references, or search literally."),
        })
}
