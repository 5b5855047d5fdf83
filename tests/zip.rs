//! ZIP archives as other writers make them, built byte by byte.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use rea::artifact::{Options, inventory};
use rea::operation::Context;

/// One entry: name, method, flags, CRC-32, stored bytes, size, attributes,
/// and the descriptor behind the data.
struct Entry {
    name: &'static str,
    method: u16,
    flags: u16,
    crc: u32,
    data: &'static [u8],
    size: u32,
    attributes: u32,
    descriptor: Vec<u8>,
}

fn fields(entry: &Entry, local: bool) -> Vec<u8> {
    // With a descriptor (bit 3) the local header leaves sizes and CRC open.
    let open = local && entry.flags & 8 != 0;
    let known = |value: u32| if open { 0 } else { value };
    let mut bytes = Vec::new();
    bytes.extend(20u16.to_le_bytes());
    bytes.extend(entry.flags.to_le_bytes());
    bytes.extend(entry.method.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(known(entry.crc).to_le_bytes());
    bytes.extend(known(entry.data.len() as u32).to_le_bytes());
    bytes.extend(known(entry.size).to_le_bytes());
    bytes.extend((entry.name.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let at = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04");
        bytes.extend(fields(entry, true));
        bytes.extend(entry.name.as_bytes());
        bytes.extend(entry.data);
        bytes.extend(&entry.descriptor);
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(fields(entry, false));
        directory.extend([0; 6]);
        directory.extend(entry.attributes.to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let (start, count) = (bytes.len() as u32, entries.len() as u16);
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

fn list(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    std::fs::write(&path, bytes).unwrap();
    let context = Context::new("inventory_artifact");
    let inventory = inventory(&path, &Options::default(), &context).unwrap();
    let paths = inventory
        .rows()
        .map(|row| format!("{} {}", row.path, row.hash_status));
    (paths.collect(), inventory.limitations().to_vec())
}

/// The empty deflate stream of RFC 1951: one final block with fixed codes.
const EMPTY: &[u8] = &[3, 0];

/// Python's `ZipFile` on a stream that cannot seek, and Go's `archive/zip`,
/// write an empty deflated member with a 32-bit descriptor; `unzip -t` accepts
/// it. Its stored size alone would fit the 64-bit form as well.
#[test]
fn an_empty_deflated_member_with_a_descriptor() {
    let descriptor = |signed: bool| {
        let mut bytes = if signed {
            b"PK\x07\x08".to_vec()
        } else {
            Vec::new()
        };
        bytes.extend([0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    };
    for signed in [true, false] {
        let bytes = archive(&[
            Entry {
                name: "empty",
                method: 8,
                flags: 8,
                crc: 0,
                data: EMPTY,
                size: 0,
                attributes: 0o100_644 << 16,
                descriptor: descriptor(signed),
            },
            Entry {
                name: "next",
                method: 0,
                flags: 0,
                crc: 0x8CDC_1683, // of "x"
                data: b"x",
                size: 1,
                attributes: 0o100_644 << 16,
                descriptor: Vec::new(),
            },
        ]);
        let (paths, limitations) = list(&bytes);
        assert_eq!(paths, [". verified", "empty verified", "next verified"]);
        assert_eq!(limitations.len(), 1, "{limitations:?}");
    }
}

/// Python's `ZipFile` deflates the nothing of a directory when asked to; these
/// two bytes belong to it.
#[test]
fn a_deflated_directory() {
    let bytes = archive(&[Entry {
        name: "d/",
        method: 8,
        flags: 0,
        crc: 0,
        data: EMPTY,
        size: 0,
        attributes: 0o40_755 << 16,
        descriptor: Vec::new(),
    }]);
    let (paths, limitations) = list(&bytes);
    assert_eq!(paths, [". verified", "d verified"]);
    assert_eq!(limitations.len(), 1, "{limitations:?}");
}
