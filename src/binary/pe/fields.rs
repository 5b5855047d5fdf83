//! How facts are written: numbers as hexadecimal text, enumerations and flags
//! with their names beside the number as it stands.

use super::names::Names;
use crate::binary::layout::rows::{Range, Symbolic};
use crate::binary::name_text;
use crate::json::{Object, Value};

/// A number as text: `0x1f`.
pub(super) fn hex(value: impl Into<u64>) -> Value {
    Value::from(format!("{:#x}", value.into()))
}

/// A number.
pub(super) fn number(value: impl Into<u64>) -> Value {
    Value::from(value.into())
}

/// A range of the file.
pub(super) fn range(range: Range) -> Value {
    let mut object = Object::new();
    object.insert("bytes", hex(range.bytes));
    object.insert("offset", hex(range.offset));
    Value::Object(object)
}

/// A value that may be missing.
pub(super) fn or_null(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
}

/// A name of the file, nothing lost.
pub(super) fn name(bytes: &[u8]) -> Value {
    Value::from(name_text(bytes).as_ref())
}

/// A value of an enumeration: its name, or the number.
pub(super) fn named(value: impl Into<u64>, names: Names) -> Value {
    match Symbolic::of(value.into(), names) {
        Symbolic::Named(name) => Value::from(name),
        Symbolic::Number(value) => Value::from(value),
    }
}

/// The names of the bits that are set; what has no name as one number in
/// hexadecimal.
pub(super) fn flag_names(value: u64, names: Names) -> Value {
    let mut rest = value;
    let mut said = Vec::new();
    for &(bit, name) in names {
        if bit != 0 && value & bit == bit {
            said.push(Value::from(name));
            rest &= !bit;
        }
    }
    if rest != 0 {
        said.push(hex(rest));
    }
    Value::Array(said)
}

/// Flags: `{names, value}`.
pub(super) fn flags(value: impl Into<u64>, names: Names) -> Value {
    let value = value.into();
    let mut object = Object::new();
    object.insert("names", flag_names(value, names));
    object.insert("value", hex(value));
    Value::Object(object)
}

/// Bytes as hexadecimal digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}"); // writing to a string cannot fail
    }
    out
}

/// A GUID as Windows writes it: `D1BAA1C7-BAEE-4BA9-AF20-FAF66AA4DCB8`.
pub(super) fn guid(bytes: &[u8; 16]) -> String {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
    let first = u32::from_le_bytes([a, b, c, d]);
    let second = u16::from_le_bytes([e, f]);
    let third = u16::from_le_bytes([g, h]);
    let tail = digits(&rest).to_uppercase();
    let (fourth, fifth) = tail.split_at(4);
    format!("{first:08X}-{second:04X}-{third:04X}-{fourth}-{fifth}")
}
