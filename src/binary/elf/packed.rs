//! Relocations without entries of their own: RELR (gABI, "Relative
//! Relocation Table") and Android's `APS2`.

use super::fact::rows;
use super::relocations::Place;
use super::symbols::ET_REL;
use super::{Budget, Elf};
use crate::binary::layout::rows::{Hex, PackedRelocations, Range};
use crate::binary::{Bytes, Notes};
use crate::json::{WriteJson, Writer};

/// A relocation that a table of groups stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedRow {
    pub offset: u64,
    pub symbol: u64,
    pub kind: u64,
    pub addend: Option<i64>,
}

impl WriteJson for PackedRow {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("addend", self.addend.map(|addend| addend.to_string()));
        w.member("reported_offset", Hex(self.offset));
        w.member("symbol_index", self.symbol);
        w.member("type", self.kind);
        w.end_object();
    }
}

rows! {
    /// A row of `facts.elf.android_relocations`
    struct AndroidTable {
        entries: Vec<PackedRow>,
        location: Range,
        section_index: u64,
        symbol_table_index: Option<u64>,
    }
}

/// All packed tables of a file.
#[derive(Default)]
pub(super) struct Packed<'a> {
    pub relative: Vec<PackedRelocations<'a>>,
    pub android: Vec<AndroidTable>,
}

/// Said where a table stands for more relocations than the file has room for.
const TOO_MANY: &str =
    "it stands for more relocations than the file has words; the rest was not unpacked";

impl<'a> Packed<'a> {
    /// The rows of tables of groups.
    pub(super) fn rows(&self) -> impl Iterator<Item = &PackedRow> {
        self.android.iter().flat_map(|table| &table.entries)
    }

    /// Unpacks addresses and the bitmaps that follow each.
    pub(super) fn relr(
        &mut self,
        elf: &Elf<'a>,
        place: &Place,
        data: &'a [u8],
        budget: &mut Budget,
        notes: &mut Notes,
    ) {
        let bytes = Bytes::new(data, elf.bytes.order());
        let word = elf.word();
        let mask = if elf.wide { u64::MAX } else { 0xFFFF_FFFF };
        let (mut base, mut at) = (0u64, 0);
        let mut offsets = Vec::new();
        let mut full = false;
        while let Some(entry) = bytes.word(at, elf.wide) {
            at += word;
            if entry & 1 == 0 {
                full = !budget.derived(1);
                offsets.push(entry);
                base = entry.wrapping_add(word) & mask;
            } else {
                let bits = entry >> 1;
                full = !budget.derived(bits.count_ones().into());
                if !full {
                    let set = (0..word * 8 - 1).filter(|bit| bits >> bit & 1 == 1);
                    offsets.extend(set.map(|bit| base.wrapping_add(bit * word) & mask));
                }
                base = base.wrapping_add((word * 8 - 1) * word) & mask;
            }
            if full {
                break;
            }
        }
        let start = place.range.offset;
        if full {
            notes.at(&*place.structure, start, TOO_MANY);
        } else if at < data.len() as u64 {
            let length = data.len();
            notes.at(
                &*place.structure,
                start,
                format!("its {length} bytes are no multiple of {word}"),
            );
        }
        self.relative.push(PackedRelocations {
            section_index: place.section,
            location: place.range,
            encoded: data,
            offsets,
            linked: elf.header.kind != ET_REL,
        });
    }

    /// Unpacks groups: `APS2`, then signed LEB128 numbers. A table with
    /// addends has groups without: theirs are 0.
    pub(super) fn android(
        &mut self,
        elf: &Elf<'a>,
        place: &Place,
        data: &[u8],
        addends: bool,
        budget: &mut Budget,
        notes: &mut Notes,
    ) {
        let start = place.range.offset;
        if !data.starts_with(b"APS2") {
            notes.at(&*place.structure, start, "it does not start with APS2");
            return;
        }
        let mut reader = Groups {
            bytes: Bytes::little(data),
            at: 4,
        };
        let mut entries = Vec::new();
        if let Err(reason) = reader.read(elf.wide, addends, &mut entries, budget) {
            notes.at(&*place.structure, start + reader.at, reason);
        }
        self.android.push(AndroidTable {
            entries,
            location: place.range,
            section_index: place.section,
            symbol_table_index: place.symbols,
        });
    }
}

const CUT: &str = "it is cut";
const BY_INFO: i64 = 1;
const BY_OFFSET: i64 = 2;
const BY_ADDEND: i64 = 4;
const HAS_ADDEND: i64 = 8;

struct Groups<'a> {
    bytes: Bytes<'a>,
    at: u64,
}

impl Groups<'_> {
    fn number(&mut self) -> Result<i64, &'static str> {
        let (value, used) = self.bytes.sleb(self.at).ok_or(CUT)?;
        self.at += used;
        Ok(value)
    }

    fn read(
        &mut self,
        wide: bool,
        addends: bool,
        entries: &mut Vec<PackedRow>,
        budget: &mut Budget,
    ) -> Result<(), &'static str> {
        let mask = if wide { u64::MAX } else { 0xFFFF_FFFF };
        let mut left = self.number()?;
        let mut offset = self.number()?;
        let mut addend = 0i64;
        while left > 0 {
            let size = self.number()?;
            if size <= 0 || size > left {
                return Err("a group holds more relocations than are left");
            }
            left -= size;
            let flags = self.number()?;
            let has = |bit| flags & bit != 0;
            let step = if has(BY_OFFSET) {
                Some(self.number()?)
            } else {
                None
            };
            let info = if has(BY_INFO) {
                Some(self.number()?)
            } else {
                None
            };
            if has(HAS_ADDEND) && has(BY_ADDEND) {
                addend = addend.wrapping_add(self.number()?);
            } else if !has(HAS_ADDEND) {
                addend = 0;
            }
            for _ in 0..size {
                let delta = match step {
                    Some(step) => step,
                    None => self.number()?,
                };
                offset = offset.wrapping_add(delta);
                let info = match info {
                    Some(info) => info,
                    None => self.number()?,
                } as u64;
                if has(HAS_ADDEND) && !has(BY_ADDEND) {
                    addend = addend.wrapping_add(self.number()?);
                }
                if !budget.derived(1) {
                    return Err(TOO_MANY);
                }
                let (symbol, kind) = match wide {
                    true => (info >> 32, info & 0xFFFF_FFFF),
                    false => ((info & 0xFFFF_FFFF) >> 8, info & 0xFF),
                };
                entries.push(PackedRow {
                    offset: offset as u64 & mask,
                    symbol,
                    kind,
                    addend: (addends || has(HAS_ADDEND)).then_some(addend),
                });
            }
        }
        Ok(())
    }
}
