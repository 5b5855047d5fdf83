//! Which files may have a layout, by their first bytes.

use crate::artifact::format::{self, Format};

/// Machines of COFF objects that are common; a file that starts with one of
/// these numbers may be an object, which has no other magic (PE/COFF
/// specification, section 3.3.1).
const MACHINES: [u16; 8] = [
    0x014C, 0x8664, 0xAA64, 0xA641, 0xA64E, 0x01C0, 0x01C2, 0x01C4,
];

/// Whether a file that starts with `head`, its first [`format::HEAD`] bytes,
/// may be an executable, library or object. Others are not worth reading.
pub fn may_have_layout(head: &[u8], size: u64) -> bool {
    match format::of_bytes(head, size) {
        Format::Elf | Format::Pe | Format::MachO | Format::MachOUniversal => return true,
        // A Windows header may stand beyond the first bytes.
        Format::Unknown | Format::DosMz => return head.starts_with(b"MZ") && size > 4096,
        Format::File => {}
        _ => return false,
    }
    match head {
        // Terse executables.
        [b'V', b'Z', ..] => true,
        // Import objects and objects with 32-bit section numbers: sections
        // 7.1 and 3.3.
        [0, 0, 0xFF, 0xFF, version, 0, ..] => *version <= 2,
        [low, high, rest @ ..] if MACHINES.contains(&u16::from_le_bytes([*low, *high])) => {
            // An object has no optional header, and few of the flags.
            matches!(rest.get(14..16), Some([0, 0]))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_not_read_and_objects_are() {
        assert!(may_have_layout(b"\x7FELF\x02\x01\x01", 7));
        assert!(may_have_layout(b"VZ\x64\x86", 4));
        let mut object = [0u8; 20];
        object[..2].copy_from_slice(&0x8664u16.to_le_bytes());
        assert!(may_have_layout(&object, 20));
        assert!(may_have_layout(&[0, 0, 0xFF, 0xFF, 0, 0, 0x64, 0x86], 8));
        for other in [
            &b"#!/bin/sh\n"[..],
            b"",
            b"L\x01 is text, of course",
            b"PK\x03\x04",
        ] {
            assert!(!may_have_layout(other, other.len() as u64), "{other:?}");
        }
    }
}
