//! Base relocations ("PE Format", section "The .reloc Section"): where the
//! loader adds the distance from the preferred address.

use std::collections::BTreeMap;

use super::fields::{number, range};
use super::image::{Budget, Image, SPENT, outside};
use super::names::BASE_RELOCATIONS;
use crate::binary::layout::rows::{Hex, Range, Symbolic};
use crate::binary::{Bytes, Notes};
use crate::json::{Object, Value, WriteJson, Writer};

/// The relocations of a page, read from their bytes when they are written.
pub(super) struct Block<'a> {
    page: u64,
    location: Range,
    entries: Bytes<'a>,
    machine: u16,
}

/// The name of a type; some depend on the machine.
pub(super) fn type_name(kind: u16, machine: u16) -> Symbolic {
    let named = match (kind, machine) {
        (5, 0x0166 | 0x0169 | 0x0266 | 0x0366 | 0x0466) => Some("IMAGE_REL_BASED_MIPS_JMPADDR"),
        (5, 0x01C0 | 0x01C2 | 0x01C4) => Some("IMAGE_REL_BASED_ARM_MOV32"),
        (5, 0x5032 | 0x5064 | 0x5128) => Some("IMAGE_REL_BASED_RISCV_HIGH20"),
        (7, 0x01C0 | 0x01C2 | 0x01C4) => Some("IMAGE_REL_BASED_THUMB_MOV32"),
        (7, 0x5032 | 0x5064 | 0x5128) => Some("IMAGE_REL_BASED_RISCV_LOW12I"),
        (8, 0x5032 | 0x5064 | 0x5128) => Some("IMAGE_REL_BASED_RISCV_LOW12S"),
        (8, 0x6232) => Some("IMAGE_REL_BASED_LOONGARCH32_MARK_LA"),
        (8, 0x6264) => Some("IMAGE_REL_BASED_LOONGARCH64_MARK_LA"),
        (9, 0x0200) => Some("IMAGE_REL_BASED_IA64_IMM64"),
        (9, 0x0166 | 0x0169 | 0x0266 | 0x0366 | 0x0466) => Some("IMAGE_REL_BASED_MIPS_JMPADDR16"),
        _ => None,
    };
    match named {
        Some(name) => Symbolic::Named(name),
        None => Symbolic::of(u64::from(kind), BASE_RELOCATIONS),
    }
}

/// The entry of `IMAGE_REL_BASED_HIGHADJ` is followed by a word that is none.
const HIGHADJ: u16 = 4;

impl Block<'_> {
    /// Type, offset in the page, and the second word where the type has one.
    fn entries(&self) -> impl Iterator<Item = (u16, u16, Option<u16>)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let word = self.entries.u16(at)?;
            at += 2;
            let kind = word >> 12;
            let more = match kind {
                HIGHADJ => {
                    let more = self.entries.u16(at);
                    at += 2;
                    more
                }
                _ => None,
            };
            Some((kind, word & 0xFFF, more))
        })
    }
}

impl WriteJson for Block<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        // Runs of one type, in the order of the file.
        w.key("entries");
        w.begin_array();
        let mut open = None;
        for (kind, offset, more) in self.entries() {
            if open != Some(kind) || more.is_some() {
                if open.is_some() {
                    w.end_array();
                    self.close(open, w);
                }
                w.begin_object();
                if let Some(more) = more {
                    w.member("adjustment", more);
                }
                w.key("offsets");
                w.begin_array();
                open = Some(kind);
            }
            w.u64(u64::from(offset));
        }
        if open.is_some() {
            w.end_array();
            self.close(open, w);
        }
        w.end_array();
        w.member("location", self.location);
        w.member("page_address", Hex(self.page));
        w.end_object();
    }
}

impl Block<'_> {
    fn close(&self, kind: Option<u16>, w: &mut Writer<'_>) {
        let name = kind.map(|kind| type_name(kind, self.machine));
        w.member("type", name);
        w.end_object();
    }
}

/// The blocks, and a summary of the types that occur.
pub(super) fn read<'a>(
    image: &Image<'a>,
    rva: u64,
    size: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> (Vec<Block<'a>>, Object) {
    let mut blocks = Vec::new();
    let mut summary = Object::new();
    let Some((start, table)) = image.tail(rva) else {
        notes.add(outside("base relocations", rva));
        return (blocks, summary);
    };
    if table.len() < size {
        notes.at(
            "base relocations",
            start,
            format!(
                "they have {size} bytes, and the file ends after {}",
                table.len()
            ),
        );
    }
    let end = size.min(table.len());
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    let mut at = 0;
    while at + 8 <= end {
        let (Some(page), Some(length)) = (table.u32(at), table.u32(at + 4).map(u64::from)) else {
            break;
        };
        if length < 8 {
            if page != 0 || length != 0 {
                notes.at(
                    "base relocations",
                    start + at,
                    format!("a block has {length} bytes, fewer than its header"),
                );
            }
            break;
        }
        let there = length.min(end - at);
        if !budget.bytes(there) {
            notes.at("base relocations", start + at, SPENT);
            break;
        }
        if there < length {
            notes.at(
                "base relocations",
                start + at,
                "a block is longer than what is left of the table",
            );
        }
        let block = Block {
            page: u64::from(page),
            location: Range {
                offset: start + at,
                bytes: there,
            },
            entries: Bytes::little(table.up_to(at + 8, there - 8)),
            machine: image.machine,
        };
        for (kind, ..) in block.entries() {
            *counts.entry(kind).or_insert(0) += 1;
        }
        blocks.push(block);
        at += length;
    }
    let total: u64 = counts.values().sum();
    let types = counts.iter().map(|(&kind, &count)| {
        let mut row = Object::new();
        row.insert("count", number(count));
        row.insert("name", type_name(kind, image.machine).text().as_ref());
        row.insert("type", number(kind));
        Value::Object(row)
    });
    summary.insert("blocks", number(blocks.len() as u64));
    summary.insert("entries", number(total));
    summary.insert(
        "location",
        range(Range {
            offset: start,
            bytes: end,
        }),
    );
    summary.insert("types", Value::Array(types.collect()));
    (blocks, summary)
}
