//! The relocations of objects ("PE Format", section "COFF Relocations (Object
//! Only)").

use std::collections::BTreeMap;

use super::image::{Budget, SPENT};
use super::relocation_names;
use super::sections::SectionHeader;
use crate::binary::layout::facts::RelocationType;
use crate::binary::layout::rows::{Range, Relocation, Symbolic, Target};
use crate::binary::{Bytes, Notes};

/// Bytes of a relocation.
const RELOCATION: u64 = 10;

/// The relocations of a section, within the budget.
pub(super) fn read(
    bytes: Bytes<'_>,
    section: &SectionHeader<'_>,
    symbols: u64,
    out: &mut Vec<Relocation>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    let mut count = section.relocations;
    let start = section.relocations_at;
    let mut first = 0;
    // `IMAGE_SCN_LNK_NRELOC_OVFL`: the count, itself included, stands in the
    // first relocation.
    if section.flags & 0x0100_0000 != 0 && count == 0xFFFF {
        match bytes.u32(start) {
            Some(real) => {
                count = u64::from(real);
                first = 1;
            }
            None => notes.at("relocations", start, "the file ends before their number"),
        }
    }
    if count <= first {
        return;
    }
    let there = bytes.len().saturating_sub(start) / RELOCATION;
    if there < count {
        notes.at(
            "relocations",
            start,
            format!("there are {count}, and the file ends after {there} of them"),
        );
    }
    for index in first..count.min(there) {
        if !budget.bytes(RELOCATION) {
            notes.at("relocations", start, SPENT);
            return;
        }
        let at = start + index * RELOCATION;
        let (Some(offset), Some(symbol), Some(kind)) =
            (bytes.u32(at), bytes.u32(at + 4), bytes.u16(at + 8))
        else {
            return;
        };
        if u64::from(symbol) >= symbols {
            notes.at("relocations", at, format!("there is no symbol {symbol}"));
        }
        out.push(Relocation {
            section_index: section.number,
            entry_index: index,
            reported_offset: u64::from(offset),
            target: Target::SectionOffset {
                section: section.number,
                offset: u64::from(offset).wrapping_sub(section.rva),
            },
            location: Range {
                offset: at,
                bytes: RELOCATION,
            },
            kind: u64::from(kind),
            symbol_table_index: Some(0),
            symbol_index: u64::from(symbol),
            addend: None,
        });
    }
}

/// The types that occur.
pub(super) fn types(relocations: &[Relocation], machine: u16) -> Vec<RelocationType> {
    let mut counts = BTreeMap::new();
    for one in relocations {
        *counts.entry(one.kind).or_insert(0u64) += 1;
    }
    let names = relocation_names::of_machine(machine);
    let types = counts.into_iter().map(|(kind, count)| RelocationType {
        kind,
        name: Symbolic::of(kind, names),
        count,
    });
    types.collect()
}
