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

/// The rows of a section.
#[derive(Debug)]
struct Piece {
    /// The place of its first row among all rows.
    first_row: usize,
    count: usize,
    /// The place of its first row in the table, which tells its count where
    /// that is not zero.
    first: u64,
    start: u64,
    section: u64,
    address: u64,
}

/// The rows of all sections, read from the file when they are asked for.
#[derive(Debug)]
pub(crate) struct RelocationRows<'a> {
    bytes: Bytes<'a>,
    pieces: Vec<Piece>,
    count: usize,
}

impl<'a> RelocationRows<'a> {
    pub(super) fn new(bytes: Bytes<'a>) -> Self {
        Self {
            bytes,
            pieces: Vec::new(),
            count: 0,
        }
    }

    /// How many rows all sections have.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The row at a place.
    pub(crate) fn get(&self, at: usize) -> Option<Relocation> {
        let after = self.pieces.partition_point(|piece| piece.first_row <= at);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        self.row(piece, at - piece.first_row)
    }

    /// The rows of a section.
    pub(super) fn of(&self, section: u64) -> impl Iterator<Item = Relocation> {
        let pieces = self.pieces.iter();
        pieces
            .filter(move |piece| piece.section == section)
            .flat_map(|piece| self.rows(piece))
    }

    fn iter(&self) -> impl Iterator<Item = Relocation> {
        self.pieces.iter().flat_map(|piece| self.rows(piece))
    }

    fn rows<'s>(&'s self, piece: &'s Piece) -> impl Iterator<Item = Relocation> + use<'s, 'a> {
        (0..piece.count).filter_map(|at| self.row(piece, at))
    }

    fn row(&self, piece: &Piece, at: usize) -> Option<Relocation> {
        let index = piece.first + at as u64;
        let at = piece.start + index * RELOCATION;
        let offset = u64::from(self.bytes.u32(at)?);
        Some(Relocation {
            section_index: piece.section,
            entry_index: index,
            reported_offset: offset,
            target: Target::SectionOffset {
                section: piece.section,
                offset: offset.wrapping_sub(piece.address),
            },
            location: Range {
                offset: at,
                bytes: RELOCATION,
            },
            kind: u64::from(self.bytes.u16(at + 8)?),
            symbol_table_index: Some(0),
            symbol_index: u64::from(self.bytes.u32(at + 4)?),
            addend: None,
        })
    }
}

/// Finds the relocations of a section, within the budget.
pub(super) fn read(
    bytes: Bytes<'_>,
    section: &SectionHeader<'_>,
    symbols: u64,
    out: &mut RelocationRows<'_>,
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
    let mut found = 0;
    for index in first..count.min(there) {
        if !budget.bytes(RELOCATION) {
            notes.at("relocations", start, SPENT);
            break;
        }
        let at = start + index * RELOCATION;
        let (Some(symbol), Some(_)) = (bytes.u32(at + 4), bytes.u16(at + 8)) else {
            break;
        };
        if u64::from(symbol) >= symbols {
            notes.at("relocations", at, format!("there is no symbol {symbol}"));
        }
        found += 1;
    }
    out.pieces.push(Piece {
        first_row: out.count,
        count: found,
        first,
        start,
        section: section.number,
        address: section.rva,
    });
    out.count += found;
}

/// The types that occur.
pub(super) fn types(relocations: &RelocationRows<'_>, machine: u16) -> Vec<RelocationType> {
    let mut counts = BTreeMap::new();
    for one in relocations.iter() {
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
