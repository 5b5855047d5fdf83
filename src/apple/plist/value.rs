//! What a property list holds, and how that is written as JSON.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::artifact::limitation::counted;
use crate::json::{Text, WriteJson, Writer};

use super::date;

/// A value of a property list. Types are kept apart that JSON has no words
/// for; [`WriteJson`] marks them with a member that starts with `$`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Binary lists can hold nothing at all.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number; binary lists have up to 128 bits.
    Integer(i128),
    /// A number beyond `i128`, as it stands in the text.
    Number(f64),
    /// A 32 or 64 bit floating-point number.
    Real(f64),
    /// A string; lone surrogates are kept.
    String(Text),
    /// Seconds since 2001-01-01T00:00:00Z.
    Date(f64),
    /// Bytes.
    Data(Vec<u8>),
    /// A reference of a keyed archive (binary lists only).
    Uid(u64),
    /// Elements in order.
    Array(Vec<Value>),
    /// Elements in the order of the file; binary lists only.
    Set(Vec<Value>),
    /// Keys, each once, in canonical order.
    Dict(Vec<(Text, Value)>),
}

impl Value {
    /// The value of a key, where this is a dictionary.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dict(members) => {
                let key = Text::from(key);
                let at = members.binary_search_by(|member| member.0.cmp(&key)).ok()?;
                members.get(at).map(|member| &member.1)
            }
            _ => None,
        }
    }

    /// The string, where this is one without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// The name of its type, as XML property lists spell it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Integer(_) | Self::Number(_) => "integer",
            Self::Real(_) => "real",
            Self::String(_) => "string",
            Self::Date(_) => "date",
            Self::Data(_) => "data",
            Self::Uid(_) => "uid",
            Self::Array(_) => "array",
            Self::Set(_) => "set",
            Self::Dict(_) => "dict",
        }
    }

    /// The value in one line, for reports: of collections and data the size.
    pub fn brief(&self) -> Cow<'_, str> {
        let counted = |count: usize, one, many| counted(count as u64, one, many).into();
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string().into(),
            Self::Integer(value) => value.to_string().into(),
            Self::Number(value) | Self::Real(value) => value.to_string().into(),
            Self::String(text) => String::from_utf8_lossy(text.as_bytes()),
            Self::Date(seconds) => match date::format(*seconds) {
                Some(text) => text.into(),
                None => format!("{seconds} s since 2001").into(),
            },
            Self::Data(bytes) => counted(bytes.len(), "byte", "bytes"),
            Self::Uid(value) => format!("object {value}").into(),
            Self::Array(items) | Self::Set(items) => counted(items.len(), "element", "elements"),
            Self::Dict(members) => counted(members.len(), "key", "keys"),
        }
    }

    /// Whether a dictionary could be taken for a marked value.
    fn looks_marked(members: &[(Text, Value)]) -> bool {
        let first = members.first().and_then(|(key, _)| key.as_str());
        members.len() <= 2 && first.is_some_and(|key| key.starts_with('$') || key == "UID")
    }
}

/// Keys in canonical order, each once: the last value of a key counts. How
/// many were dropped.
pub(super) fn settle(mut members: Vec<(Text, Value)>) -> (Vec<(Text, Value)>, u64) {
    let before = members.len();
    // Stable, so that of equal keys the last one is the last.
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.reverse();
    members.dedup_by(|later, first| later.0 == first.0);
    members.reverse();
    let dropped = (before - members.len()) as u64;
    (members, dropped)
}

impl WriteJson for Value {
    fn write_json(&self, w: &mut Writer<'_>) {
        match self {
            Self::Null => w.null(),
            Self::Bool(value) => w.bool(*value),
            Self::Integer(value) => write_integer(*value, w),
            Self::Number(value) => w.number(*value),
            Self::Real(value) => write_real(*value, w),
            Self::String(text) => w.text(text.as_bytes()),
            Self::Date(seconds) => write_date(*seconds, w),
            Self::Data(bytes) => marked("$data", w, |w| w.string(&STANDARD.encode(bytes))),
            Self::Uid(value) => marked("UID", w, |w| write_integer(i128::from(*value), w)),
            Self::Array(items) => write_items(items, w),
            Self::Set(items) => marked("$set", w, |w| write_items(items, w)),
            Self::Dict(members) if Self::looks_marked(members) => {
                marked("$dict", w, |w| write_members(members, w));
            }
            Self::Dict(members) => write_members(members, w),
        }
    }
}

fn marked(name: &str, w: &mut Writer<'_>, value: impl FnOnce(&mut Writer<'_>)) {
    w.begin_object();
    w.key(name);
    value(w);
    w.end_object();
}

fn write_items(items: &[Value], w: &mut Writer<'_>) {
    w.begin_array();
    for item in items {
        item.write_json(w);
    }
    w.end_array();
}

fn write_members(members: &[(Text, Value)], w: &mut Writer<'_>) {
    w.begin_object();
    for (key, value) in members {
        w.key_text(key.as_bytes());
        value.write_json(w);
    }
    w.end_object();
}

/// Decision 15: beyond 2^53-1 the decimal is given.
fn write_integer(value: i128, w: &mut Writer<'_>) {
    let safe = i128::from(crate::json::MAX_SAFE_INTEGER);
    if (-safe..=safe).contains(&value) {
        w.number(value as f64);
    } else {
        marked("$integer", w, |w| w.string(&value.to_string()));
    }
}

/// JSON has no infinities.
fn write_real(value: f64, w: &mut Writer<'_>) {
    if value.is_finite() {
        return w.number(value);
    }
    marked("$real", w, |w| {
        w.string(match value {
            f64::INFINITY => "+infinity",
            f64::NEG_INFINITY => "-infinity",
            _ => "nan",
        });
    });
}

fn write_date(seconds: f64, w: &mut Writer<'_>) {
    match date::format(seconds) {
        Some(text) => marked("$date", w, |w| w.string(&text)),
        None => {
            w.begin_object();
            w.key("$date");
            w.null();
            w.key("seconds_since_2001");
            if seconds.is_finite() {
                w.number(seconds);
            } else {
                w.string(if seconds.is_nan() { "nan" } else { "infinite" });
            }
            w.end_object();
        }
    }
}
