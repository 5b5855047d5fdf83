//! The Rich header: what Microsoft's linker notes about the tools whose objects
//! it linked, between the DOS stub and the PE header. Not in the specification;
//! "Microsoft's Rich Signature (undocumented)" (bytepointer.com) describes it.

use super::fields::{hex, number, range};
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Value};

/// Reads the one that ends before the PE header.
pub(super) fn read(bytes: Bytes<'_>, image_header: u64, notes: &mut Notes) -> Option<Object> {
    let stub = bytes.up_to(0, image_header);
    let end = memchr::memmem::rfind(stub, b"Rich")? as u64;
    let key = Bytes::little(stub).u32(end + 4)?;
    let word = |at| Bytes::little(stub).u32(at).map(|word| word ^ key);
    // Backwards, two words at a time, to `DanS`.
    let mut start = end;
    loop {
        start = match start.checked_sub(4) {
            Some(start) if start >= 0x40 => start,
            _ => {
                notes.at("Rich header", end, "it has no start");
                return None;
            }
        };
        if word(start) == Some(0x536E_6144) {
            break;
        }
    }
    let mut computed = u32::try_from(start).ok()?;
    for (at, &byte) in stub.iter().take(start as usize).enumerate() {
        if !(0x3C..0x40).contains(&at) {
            computed = computed.wrapping_add(u32::from(byte).rotate_left(at as u32 & 31));
        }
    }
    let mut records = Vec::new();
    let mut at = start + 16;
    while at + 8 <= end {
        let (id, count) = (word(at)?, word(at + 4)?);
        computed = computed.wrapping_add(id.rotate_left(count & 31));
        let mut record = Object::new();
        record.insert("build", number(id & 0xFFFF));
        record.insert("count", number(count));
        record.insert("product_id", number(id >> 16));
        records.push(Value::Object(record));
        at += 8;
    }
    if computed != key {
        notes.at(
            "Rich header",
            start,
            format!("its checksum is {key:#x}, and its bytes give {computed:#x}"),
        );
    }
    let mut facts = Object::new();
    facts.insert("checksum", hex(key));
    facts.insert("checksum_valid", computed == key);
    facts.insert("computed_checksum", hex(computed));
    facts.insert(
        "location",
        range(Range {
            offset: start,
            bytes: end + 8 - start,
        }),
    );
    facts.insert("records", Value::Array(records));
    Some(facts)
}
