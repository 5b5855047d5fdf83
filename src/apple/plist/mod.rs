//! Property lists in all four notations: XML, binary (`bplist00`), OpenStep
//! (with GNUstep's typed values and `.strings` files) and JSON.
//!
//! Every reader is bounded: by [`MAX_DEPTH`] levels, [`MAX_VALUES`] values and
//! [`MAX_BYTES`] bytes of strings and data once shared objects are written
//! out, so that neither cycles nor lists that share one object a million times
//! cost more than they say.

mod binary;
mod date;
mod openstep;
mod value;
mod xml;

use std::ffi::OsStr;
use std::path::Path;

use crate::json::{self, Budget, Limits, Reader, Text};

pub use value::Value;

/// Levels of arrays and dictionaries.
pub const MAX_DEPTH: usize = 512;
/// Values, keys included.
pub const MAX_VALUES: usize = 4_000_000;
/// Bytes of strings, keys and data.
pub const MAX_BYTES: usize = 256 << 20;

/// A notation of property lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Apple's XML.
    Xml,
    /// `bplist00`.
    Binary,
    /// NeXT's text, GNUstep's extensions, and `.strings` files.
    OpenStep,
    /// JSON.
    Json,
}

impl Notation {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Binary => "binary",
            Self::OpenStep => "openstep",
            Self::Json => "json",
        }
    }
}

/// A property list as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Plist {
    /// How it is written.
    pub notation: Notation,
    /// What it holds.
    pub value: Value,
    /// Keys that stand more than once in one dictionary; the last one counts.
    pub repeated_keys: u64,
    /// Strings whose bytes are not what the notation says, read all the same.
    pub odd_strings: u64,
}

/// Why bytes are no property list that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is malformed: where (offset in bytes), and what.
    Malformed(u64, String),
    /// It is larger than a limit, which is named.
    Limit(&'static str, u64),
}

impl Fault {
    fn at(offset: usize, text: impl Into<String>) -> Self {
        Self::Malformed(offset as u64, text.into())
    }
}

/// How many first bytes [`may_be`] wants to see.
pub const HEAD: usize = 512;

/// Suffixes of files that are property lists, whatever their notation.
const SUFFIXES: [&str; 6] = [
    "entitlements",
    "mobileconfig",
    "plist",
    "strings",
    "stringsdict",
    "xcprivacy",
];

/// Whether a file may be a property list: by its suffix, or by its first
/// bytes where these are of no other kind of text.
pub fn may_be(path: &Path, head: &[u8]) -> bool {
    let suffix = path.extension().and_then(OsStr::to_str);
    let named = suffix.is_some_and(|suffix| {
        SUFFIXES
            .iter()
            .any(|known| suffix.eq_ignore_ascii_case(known))
    });
    let head_text = String::from_utf8_lossy(head);
    let xml = head_text.contains("<!DOCTYPE plist") || head_text.contains("<plist");
    named
        || head.starts_with(b"bplist")
        || xml
            && head_text
                .trim_start_matches('\u{feff}')
                .trim_start()
                .starts_with('<')
}

/// Reads a property list; the notation is told from its bytes.
///
/// # Errors
/// The first fault in the notation that the bytes look like.
pub fn parse(bytes: &[u8]) -> Result<Plist, Fault> {
    if bytes.starts_with(b"bplist") {
        return binary::parse(bytes);
    }
    let text = decode(bytes)?;
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if start.starts_with("<?xml") || start.starts_with("<!") || is_xml(start) {
        return xml::parse(&text);
    }
    if start.starts_with(['{', '['])
        && let Some(plist) = parse_json(bytes)?
    {
        return Ok(plist);
    }
    openstep::parse(&text)
}

/// `<plist` or another element, and not the data `<0fbd77>`.
fn is_xml(start: &str) -> bool {
    [
        "<plist", "<dict", "<array", "<string", "<key", "<true", "<false",
    ]
    .iter()
    .any(|tag| start.starts_with(tag))
}

/// UTF-8, or UTF-16 by its byte order mark, as a Rust string.
fn decode(bytes: &[u8]) -> Result<std::borrow::Cow<'_, str>, Fault> {
    use std::borrow::Cow;
    let units = match bytes {
        [0xFF, 0xFE, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xFE, 0xFF, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    let Some((rest, unit)) = units else {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        return std::str::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|error| Fault::at(error.valid_up_to(), "the text is not UTF-8"));
    };
    let (pairs, odd) = rest.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(Fault::at(bytes.len(), "the UTF-16 text ends inside a unit"));
    }
    char::decode_utf16(pairs.iter().map(|&pair| unit(pair)))
        .collect::<Result<String, _>>()
        .map(Cow::Owned)
        .map_err(|_| Fault::at(2, "the UTF-16 text holds a lone surrogate"))
}

/// JSON, where it is that; text that starts like it may be OpenStep's.
fn parse_json(bytes: &[u8]) -> Result<Option<Plist>, Fault> {
    let limits = Limits {
        max_depth: MAX_DEPTH,
        ..Limits::default()
    };
    let mut reader = Reader::new(bytes, limits);
    let Ok(value) = reader.read_value(Budget::default()) else {
        return Ok(None);
    };
    if reader.expect_end().is_err() {
        return Ok(None);
    }
    let mut meter = Meter::default();
    Ok(Some(Plist {
        notation: Notation::Json,
        value: from_json(value, &mut meter)?,
        repeated_keys: 0,
        odd_strings: 0,
    }))
}

fn from_json(value: json::Value, meter: &mut Meter) -> Result<Value, Fault> {
    meter.value(0)?;
    Ok(match value {
        json::Value::Null => Value::Null,
        json::Value::Bool(value) => Value::Bool(value),
        json::Value::Number(value) => Value::Number(value),
        json::Value::String(text) => {
            meter.value(text.as_bytes().len())?;
            Value::String(text)
        }
        json::Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| from_json(item, meter))
                .collect::<Result<_, _>>()?,
        ),
        json::Value::Object(object) => {
            let mut members = Vec::with_capacity(object.len());
            for (key, value) in object.into_members() {
                meter.value(key.as_bytes().len())?;
                members.push((key, from_json(value, meter)?));
            }
            Value::Dict(members)
        }
    })
}

/// Counts what a list comes to, shared objects each time.
#[derive(Debug, Default)]
struct Meter {
    values: usize,
    bytes: usize,
    repeated_keys: u64,
    odd_strings: u64,
}

impl Meter {
    /// One more value with so many bytes of its own.
    fn value(&mut self, bytes: usize) -> Result<(), Fault> {
        self.values += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.values > MAX_VALUES {
            return Err(Fault::Limit("values", MAX_VALUES as u64));
        }
        if self.bytes > MAX_BYTES {
            return Err(Fault::Limit("bytes of strings and data", MAX_BYTES as u64));
        }
        Ok(())
    }

    fn depth(depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::Limit("levels", MAX_DEPTH as u64));
        }
        Ok(())
    }

    fn dict(&mut self, members: Vec<(Text, Value)>) -> Value {
        let (members, dropped) = value::settle(members);
        self.repeated_keys += dropped;
        Value::Dict(members)
    }

    fn finish(self, notation: Notation, value: Value) -> Plist {
        Plist {
            notation,
            value,
            repeated_keys: self.repeated_keys,
            odd_strings: self.odd_strings,
        }
    }
}
