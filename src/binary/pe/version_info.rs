//! The version resource (`VS_VERSIONINFO`, learn.microsoft.com: "Version
//! Information").

use super::fields::{flags, hex, named, number, or_null, range};
use super::image::{Budget, SPENT};
use super::names::Names;
use super::resources::utf16;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Text, Value};

const FILE_FLAGS: Names = &[
    (0x01, "VS_FF_DEBUG"),
    (0x02, "VS_FF_PRERELEASE"),
    (0x04, "VS_FF_PATCHED"),
    (0x08, "VS_FF_PRIVATEBUILD"),
    (0x10, "VS_FF_INFOINFERRED"),
    (0x20, "VS_FF_SPECIALBUILD"),
];
const SYSTEMS: Names = &[
    (0x0000_0000, "VOS_UNKNOWN"),
    (0x0000_0001, "VOS__WINDOWS16"),
    (0x0000_0002, "VOS__PM16"),
    (0x0000_0003, "VOS__PM32"),
    (0x0000_0004, "VOS__WINDOWS32"),
    (0x0001_0000, "VOS_DOS"),
    (0x0001_0001, "VOS_DOS_WINDOWS16"),
    (0x0001_0004, "VOS_DOS_WINDOWS32"),
    (0x0002_0000, "VOS_OS216"),
    (0x0002_0002, "VOS_OS216_PM16"),
    (0x0003_0000, "VOS_OS232"),
    (0x0003_0003, "VOS_OS232_PM32"),
    (0x0004_0000, "VOS_NT"),
    (0x0004_0004, "VOS_NT_WINDOWS32"),
];
const TYPES: Names = &[
    (0, "VFT_UNKNOWN"),
    (1, "VFT_APP"),
    (2, "VFT_DLL"),
    (3, "VFT_DRV"),
    (4, "VFT_FONT"),
    (5, "VFT_VXD"),
    (7, "VFT_STATIC_LIB"),
];

/// A structure: length, length of the value, type, key, value, children.
struct Node<'a> {
    /// Its key as UTF-16.
    key: Text,
    /// From behind the key, aligned.
    value: Bytes<'a>,
    /// As it stands.
    value_length: u64,
    is_text: bool,
    /// Where it starts in the resource, and where the next one may.
    start: u64,
    next: u64,
    /// Where the value starts in the resource.
    value_at: u64,
}

impl<'a> Node<'a> {
    /// The structure at `at` of the resource, before `end`.
    fn read(data: Bytes<'a>, at: u64, end: u64) -> Option<Self> {
        let length = u64::from(data.u16(at)?);
        if length < 6 || at + length > end {
            return None;
        }
        let value_length = u64::from(data.u16(at + 2)?);
        let is_text = data.u16(at + 4)? == 1;
        let stop = at + length;
        let mut key_end = at + 6;
        while key_end + 2 <= stop && data.u16(key_end)? != 0 {
            key_end += 2;
        }
        let key = utf16(data.get(at + 6, key_end - at - 6)?);
        let value_at = (key_end + 2).next_multiple_of(4).min(stop);
        Some(Self {
            key,
            value: data.part(value_at, stop - value_at)?,
            value_length,
            is_text,
            start: at,
            next: stop.next_multiple_of(4),
            value_at,
        })
    }

    /// Bytes of the value.
    fn value_bytes(&self) -> u64 {
        match self.is_text {
            true => self.value_length * 2,
            false => self.value_length,
        }
    }

    /// Structures behind the value.
    fn children(&self, data: Bytes<'a>) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let end = self.value_at + self.value.len();
        let mut at = (self.value_at + self.value_bytes()).next_multiple_of(4);
        std::iter::from_fn(move || {
            let node = Node::read(data, at, end)?;
            at = node.next.max(at + 1);
            Some(node)
        })
    }
}

/// Takes one apart.
pub(super) fn read(
    data: Bytes<'_>,
    location: Range,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Object> {
    let bad = |notes: &mut Notes, at: u64, reason: &str| {
        notes.at("version resource", location.offset + at, reason);
    };
    let Some(root) = Node::read(data, 0, data.len()) else {
        bad(notes, 0, "its length is impossible");
        return None;
    };
    let mut facts = Object::new();
    facts.insert("fixed", or_null(fixed(root.value).map(Value::Object)));
    facts.insert("location", range(location));
    let mut tables = Vec::new();
    let mut translations = Vec::new();
    for child in root.children(data) {
        if child.key == "StringFileInfo" {
            for table in child.children(data) {
                if !budget.row() {
                    bad(notes, table.start, SPENT);
                    break;
                }
                tables.push(string_table(data, &table, location, budget, notes));
            }
        } else if child.key == "VarFileInfo" {
            for var in child.children(data) {
                if var.key == "Translation" {
                    let pairs = var.value.up_to(0, var.value_length).chunks_exact(4);
                    translations.extend(pairs.filter_map(|pair| {
                        let pair = Bytes::little(pair);
                        let (language, page) = (pair.u16(0)?, pair.u16(2)?);
                        Some(Value::from(format!("{language:04x}-{page:04x}")))
                    }));
                }
            }
        } else {
            bad(
                notes,
                child.start,
                "a child is neither strings nor variables",
            );
        }
    }
    facts.insert("string_tables", Value::Array(tables));
    facts.insert("translations", Value::Array(translations));
    Some(facts)
}

/// `VS_FIXEDFILEINFO`
fn fixed(value: Bytes<'_>) -> Option<Object> {
    if value.u32(0)? != 0xFEEF_04BD {
        return None;
    }
    let word = |at| value.u32(at);
    let version = |high: u32, low: u32| {
        format!(
            "{}.{}.{}.{}",
            high >> 16,
            high & 0xFFFF,
            low >> 16,
            low & 0xFFFF
        )
    };
    let mut facts = Object::new();
    facts.insert(
        "file_date",
        hex(u64::from(word(44)?) << 32 | u64::from(word(48)?)),
    );
    facts.insert("file_flags", flags(word(28)?, FILE_FLAGS));
    facts.insert("file_flags_mask", hex(word(24)?));
    facts.insert("file_os", named(word(32)?, SYSTEMS));
    facts.insert("file_subtype", number(word(40)?));
    facts.insert("file_type", named(word(36)?, TYPES));
    facts.insert("file_version", version(word(8)?, word(12)?));
    facts.insert("product_version", version(word(16)?, word(20)?));
    facts.insert("struct_version", hex(word(4)?));
    Some(facts)
}

/// The strings of a language and code page.
fn string_table(
    data: Bytes<'_>,
    table: &Node<'_>,
    location: Range,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Value {
    let mut strings = Vec::new();
    for string in table.children(data) {
        if !budget.row() {
            notes.at("version resource", location.offset + string.start, SPENT);
            break;
        }
        // Compilers disagree whether the length is in words or bytes: a text
        // goes to its NUL or to the end of the structure.
        let units = string.value.data();
        let end = units
            .chunks_exact(2)
            .position(|pair| pair == [0, 0])
            .map_or(units.len(), |at| at * 2);
        let mut row = Object::new();
        row.insert("name", Value::String(string.key));
        row.insert(
            "value",
            Value::String(utf16(units.get(..end).unwrap_or_default())),
        );
        strings.push(Value::Object(row));
    }
    let mut facts = Object::new();
    facts.insert("key", Value::String(table.key.clone()));
    facts.insert("strings", Value::Array(strings));
    Value::Object(facts)
}
