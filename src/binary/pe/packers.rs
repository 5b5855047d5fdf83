//! Names of sections that known packers and protectors give. A name is a hint,
//! nothing more: anyone can write it.

use super::fields::{name, number};
use super::sections::SectionHeader;
use crate::json::{Object, Value};

/// Section names and whose they are.
const NAMES: &[(&[u8], &str)] = &[
    (b".MPRESS1", "MPRESS"),
    (b".MPRESS2", "MPRESS"),
    (b".Themida", "Themida"),
    (b".adata", "ASPack"),
    (b".aspack", "ASPack"),
    (b".enigma1", "Enigma"),
    (b".enigma2", "Enigma"),
    (b".nsp0", "NsPack"),
    (b".nsp1", "NsPack"),
    (b".nsp2", "NsPack"),
    (b".petite", "Petite"),
    (b".taz", "PESpin"),
    (b".themida", "Themida"),
    (b".upx0", "UPX"),
    (b".vmp0", "VMProtect"),
    (b".vmp1", "VMProtect"),
    (b".vmp2", "VMProtect"),
    (b".winlice", "WinLicense"),
    (b"PEC2", "PECompact"),
    (b"PEBundle", "PEBundle"),
    (b"UPX!", "UPX"),
    (b"UPX0", "UPX"),
    (b"UPX1", "UPX"),
    (b"UPX2", "UPX"),
];

/// The sections that have one.
pub(super) fn read(sections: &[SectionHeader<'_>]) -> Vec<Value> {
    let mut rows = Vec::new();
    for section in sections {
        let bytes = section.name.bytes();
        let Some(&(_, packer)) = NAMES.iter().find(|&&(known, _)| known == bytes) else {
            continue;
        };
        let mut row = Object::new();
        row.insert("name", name(bytes));
        row.insert("packer", packer);
        row.insert("section", number(section.number));
        rows.push(Value::Object(row));
    }
    rows
}
