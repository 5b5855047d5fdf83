//! The header of managed code (ECMA-335, partition II, section 25.3.3).

use super::fields::{flags, hex, or_null, range};
use super::image::{Image, outside};
use super::names::Names;
use crate::binary::Notes;
use crate::binary::layout::rows::Range;
use crate::json::{Object, Value};

const FLAGS: Names = &[
    (0x0000_0001, "COMIMAGE_FLAGS_ILONLY"),
    (0x0000_0002, "COMIMAGE_FLAGS_32BITREQUIRED"),
    (0x0000_0004, "COMIMAGE_FLAGS_IL_LIBRARY"),
    (0x0000_0008, "COMIMAGE_FLAGS_STRONGNAMESIGNED"),
    (0x0000_0010, "COMIMAGE_FLAGS_NATIVE_ENTRYPOINT"),
    (0x0001_0000, "COMIMAGE_FLAGS_TRACKDEBUGDATA"),
    (0x0002_0000, "COMIMAGE_FLAGS_32BITPREFERRED"),
];

/// Addresses and sizes in the header, with their offsets.
const TABLES: [(&str, u64); 7] = [
    ("code_manager_table", 40),
    ("export_address_table_jumps", 56),
    ("managed_native_header", 64),
    ("metadata", 8),
    ("resources", 24),
    ("strong_name_signature", 32),
    ("vtable_fixups", 48),
];

/// Reads the one at `rva`.
pub(super) fn read(image: &Image<'_>, rva: u64, notes: &mut Notes) -> Option<Object> {
    const LENGTH: u64 = 72;
    let Some((start, header)) = image.part(rva, LENGTH) else {
        notes.add(outside("CLR header", rva));
        return None;
    };
    let word = |at| u64::from(header.u32(at).unwrap_or(0));
    let half = |at| header.u16(at).unwrap_or(0);
    let mut facts = Object::new();
    facts.insert("entry_point_token_or_address", hex(word(20)));
    facts.insert("flags", flags(word(16), FLAGS));
    facts.insert(
        "location",
        range(Range {
            offset: start,
            bytes: LENGTH,
        }),
    );
    facts.insert("runtime_version", format!("{}.{}", half(4), half(6)));
    facts.insert("size", hex(word(0)));
    for (name, at) in TABLES {
        let (address, size) = (word(at), word(at + 4));
        let mut table = Object::new();
        table.insert("address", hex(address));
        table.insert(
            "location",
            or_null(match address {
                0 => None,
                _ => image.range(address, size).map(range),
            }),
        );
        table.insert("size", hex(size));
        facts.insert(name, Value::Object(table));
    }
    // The version that the metadata was written for stands at its start.
    let version = image
        .part(word(8), word(12))
        .filter(|(_, metadata)| metadata.u32(0) == Some(0x424A_5342))
        .and_then(|(_, metadata)| {
            let length = metadata.u32(12).filter(|&length| length <= 255)?;
            let text = metadata.get(16, u64::from(length))?;
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            text.get(..end)
        });
    facts.insert(
        "metadata_version",
        or_null(version.map(super::fields::name)),
    );
    Some(facts)
}
