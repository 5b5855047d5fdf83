//! The debug directory ("PE Format", section "The .debug Section").

use super::fields::{digits, flags, guid, hex, name, named, number, or_null, range};
use super::headers::Directory;
use super::image::{Budget, Image, SPENT, outside};
use super::names::{DEBUG_TYPES, EX_DLL_CHARACTERISTICS};
use crate::binary::layout::facts::BuildId;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Value};

/// What the entries say that others rest on.
#[derive(Debug, Default)]
pub(super) struct Debug {
    pub rows: Vec<Value>,
    pub build_ids: Vec<BuildId>,
    /// Extended DLL characteristics, and where they stand.
    pub extended: Option<(u32, Range)>,
    /// The end of the data behind all that sections hold.
    pub end: u64,
}

const ENTRY: u64 = 28;

/// Reads the directory. `shift` is how many bytes fewer than said data stands
/// in the file (TE images).
pub(super) fn read(
    image: &Image<'_>,
    directory: Directory,
    shift: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Debug {
    let mut out = Debug::default();
    let Some((start, table)) = image.tail(directory.rva) else {
        notes.add(outside("debug directory", directory.rva));
        return out;
    };
    let count = directory.size / ENTRY;
    if !directory.size.is_multiple_of(ENTRY) {
        notes.at(
            "debug directory",
            start,
            format!(
                "its {} bytes are no whole number of entries",
                directory.size
            ),
        );
    }
    for index in 0..count {
        let at = index * ENTRY;
        let Some(entry) = table.part(at, ENTRY) else {
            notes.at(
                "debug directory",
                start,
                format!("it has {count} entries, and the file ends after {index} of them"),
            );
            return out;
        };
        if !budget.rows(16) {
            notes.at("debug directory", start + at, SPENT);
            return out;
        }
        let word = |at| entry.u32(at).unwrap_or(0);
        let (kind, size) = (word(12), u64::from(word(16)));
        let (address, pointer) = (u64::from(word(20)), u64::from(word(24)));
        let place = match pointer {
            0 if address == 0 => None,
            0 => image.range(address, size).map(|range| range.offset),
            _ => pointer.checked_sub(shift),
        };
        let location = place.map(|offset| Range {
            offset,
            bytes: size,
        });
        let data = location.and_then(|range| image.bytes.part(range.offset, range.bytes));
        if data.is_none() && size > 0 {
            notes.at(
                "debug directory",
                start + at,
                "the file ends before its data",
            );
        }
        let mut row = Object::new();
        row.insert("address_of_raw_data", hex(address));
        row.insert("characteristics", hex(word(0)));
        row.insert(
            "location",
            range(Range {
                offset: start + at,
                bytes: ENTRY,
            }),
        );
        row.insert("pointer_to_raw_data", hex(pointer));
        row.insert("size_of_data", hex(size));
        row.insert("time_date_stamp", hex(word(4)));
        row.insert("type", named(kind, DEBUG_TYPES));
        row.insert(
            "version",
            format!(
                "{}.{}",
                entry.u16(8).unwrap_or(0),
                entry.u16(10).unwrap_or(0)
            ),
        );
        let told = match (data, location) {
            (Some(data), Some(location)) => {
                out.end = out.end.max(location.offset + location.bytes);
                content(kind, data, location, &mut out, budget, notes)
            }
            _ => None,
        };
        row.insert("content", or_null(told.map(Value::Object)));
        out.rows.push(Value::Object(row));
    }
    out
}

/// A text up to its NUL, or to the end.
fn text<'a>(data: Bytes<'a>, at: u64, budget: &mut Budget) -> &'a [u8] {
    let tail = data.tail(at);
    let end = memchr::memchr(0, tail).unwrap_or(tail.len());
    match budget.is_spent() {
        true => b"",
        false => {
            budget.text(end as u64);
            tail.get(..end).unwrap_or_default()
        }
    }
}

fn content(
    kind: u32,
    data: Bytes<'_>,
    location: Range,
    out: &mut Debug,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Object> {
    let mut told = Object::new();
    match kind {
        2 => match data.get(0, 4)? {
            b"RSDS" => {
                let id: [u8; 16] = data.array(4)?;
                let age = data.u32(20)?;
                let id = guid(&id);
                out.build_ids.push(BuildId {
                    kind: "pdb",
                    value: format!("{}{age:X}", id.replace('-', "")),
                    location,
                });
                told.insert("age", number(age));
                told.insert("guid", id);
                told.insert("path", name(text(data, 24, budget)));
                told.insert("signature", "RSDS");
            }
            b"NB10" => {
                let (stamp, age) = (data.u32(8)?, data.u32(12)?);
                out.build_ids.push(BuildId {
                    kind: "pdb",
                    value: format!("{stamp:08X}{age:X}"),
                    location,
                });
                told.insert("age", number(age));
                told.insert("path", name(text(data, 16, budget)));
                told.insert("signature", "NB10");
                told.insert("time_date_stamp", hex(stamp));
            }
            other => {
                told.insert("signature", name(other));
            }
        },
        4 => {
            told.insert("data_type", number(data.u32(0)?));
            told.insert("length", number(data.u32(4)?));
            told.insert("unicode", data.u8(8)? != 0);
            told.insert("text", name(text(data, 12, budget)));
        }
        12 => {
            let words = ["pre_vc_11", "c_and_cpp", "gs", "sdl", "guard_n"];
            for (at, word) in words.iter().enumerate() {
                let value = data.u32(at as u64 * 4).map(number);
                told.insert(*word, or_null(value));
            }
        }
        13 => {
            let signature = data.get(0, 4)?;
            told.insert("signature", name(signature.trim_ascii_end()));
            told.insert("regions", pogo(data, location, budget, notes));
        }
        16 => {
            let hash = match data.u32(0).map(u64::from) {
                Some(length) => data.get(4, length),
                None => None,
            };
            let hash = hash.filter(|hash| budget.text(hash.len() as u64 * 2));
            told.insert("hash", or_null(hash.map(|hash| Value::from(digits(hash)))));
        }
        17 => {
            let size = data.u32(4)?;
            told.insert("signature", name(data.get(0, 4)?));
            told.insert("uncompressed_size", number(size));
        }
        19 => {
            let algorithm = text(data, 0, budget);
            let sum = data.tail(algorithm.len() as u64 + 1);
            told.insert("algorithm", name(algorithm));
            let sum = Some(sum).filter(|sum| budget.text(sum.len() as u64 * 2));
            told.insert("checksum", or_null(sum.map(|sum| Value::from(digits(sum)))));
        }
        20 => {
            let value = data.u32(0)?;
            out.extended = Some((value, location));
            told.insert(
                "extended_dll_characteristics",
                flags(value, EX_DLL_CHARACTERISTICS),
            );
        }
        _ => return None,
    }
    Some(told)
}

/// Parts of sections by the linker's own names.
fn pogo(data: Bytes<'_>, location: Range, budget: &mut Budget, notes: &mut Notes) -> Value {
    let mut rows = Vec::new();
    let mut at = 4;
    while let (Some(start), Some(size)) = (data.u32(at), data.u32(at + 4)) {
        if !budget.row() || budget.is_spent() {
            notes.at("POGO data", location.offset, SPENT);
            break;
        }
        let label = text(data, at + 8, budget);
        if start == 0 && label.is_empty() {
            break;
        }
        let mut row = Object::new();
        row.insert("address", hex(start));
        row.insert("name", name(label));
        row.insert("size", hex(size));
        rows.push(Value::Object(row));
        at = (at + 8 + label.len() as u64 + 1).next_multiple_of(4);
    }
    Value::Array(rows)
}
