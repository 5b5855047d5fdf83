//! The attribute certificate table ("PE Format", section "The Attribute
//! Certificate Table"): where signatures stand. They are not verified here.

use super::fields::{hex, named, number, range};
use super::headers::Directory;
use super::image::{Budget, SPENT};
use super::names::Names;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Value};

const TYPES: Names = &[
    (1, "WIN_CERT_TYPE_X509"),
    (2, "WIN_CERT_TYPE_PKCS_SIGNED_DATA"),
    (3, "WIN_CERT_TYPE_RESERVED_1"),
    (4, "WIN_CERT_TYPE_TS_STACK_SIGNED"),
    (0x0EF0, "WIN_CERT_TYPE_EFI_PKCS115"),
    (0x0EF1, "WIN_CERT_TYPE_EFI_GUID"),
];

/// The rows of the table; its address is an offset in the file.
pub(super) fn read(
    bytes: Bytes<'_>,
    table: Directory,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut at = table.rva;
    let end = table.rva + table.size;
    if end > bytes.len() {
        notes.at(
            "certificate table",
            at,
            format!("it has {} bytes, and the file ends in it", table.size),
        );
    }
    let end = end.min(bytes.len());
    while at + 8 <= end {
        let (Some(length), Some(revision), Some(kind)) =
            (bytes.u32(at), bytes.u16(at + 4), bytes.u16(at + 6))
        else {
            break;
        };
        let length = u64::from(length);
        if length < 8 || length > end - at {
            notes.at(
                "certificate",
                at,
                format!(
                    "it has {length} bytes, and {} are left of the table",
                    end - at
                ),
            );
            break;
        }
        if !budget.row() {
            notes.at("certificate", at, SPENT);
            break;
        }
        let mut row = Object::new();
        row.insert("length", number(length));
        row.insert(
            "location",
            range(Range {
                offset: at,
                bytes: length,
            }),
        );
        row.insert("revision", hex(revision));
        row.insert("type", named(kind, TYPES));
        rows.push(Value::Object(row));
        at += length.next_multiple_of(8);
    }
    rows
}
