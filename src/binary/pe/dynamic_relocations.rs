//! Dynamic value relocations (winnt.h of the Windows SDK:
//! `IMAGE_DYNAMIC_RELOCATION_TABLE` and what follows it): places that the
//! loader rewrites for reasons of its own - indirect calls that become direct
//! or guarded ones, functions that it overrides, images that change their
//! machine (ARM64X). Fixups are read from their bytes when they are written.

use super::base_relocations::type_name;
use super::image::{Budget, Image, SPENT, outside};
use super::names::Names;
use crate::binary::layout::rows::{Hex, Range, Symbolic};
use crate::binary::{Bytes, Notes};
use crate::json::{WriteJson, Writer};

/// `IMAGE_DYNAMIC_RELOCATION_...`
const SYMBOLS: Names = &[
    (1, "IMAGE_DYNAMIC_RELOCATION_GUARD_RF_PROLOGUE"),
    (2, "IMAGE_DYNAMIC_RELOCATION_GUARD_RF_EPILOGUE"),
    (3, "IMAGE_DYNAMIC_RELOCATION_GUARD_IMPORT_CONTROL_TRANSFER"),
    (4, "IMAGE_DYNAMIC_RELOCATION_GUARD_INDIR_CONTROL_TRANSFER"),
    (5, "IMAGE_DYNAMIC_RELOCATION_GUARD_SWITCHTABLE_BRANCH"),
    (6, "IMAGE_DYNAMIC_RELOCATION_ARM64X"),
    (7, "IMAGE_DYNAMIC_RELOCATION_FUNCTION_OVERRIDE"),
    (
        8,
        "IMAGE_DYNAMIC_RELOCATION_ARM64_KERNEL_IMPORT_CALL_TRANSFER",
    ),
];

/// `IMAGE_FUNCTION_OVERRIDE_...`, kinds of fixups of overridden functions.
const OVERRIDES: Names = &[
    (0, "IMAGE_FUNCTION_OVERRIDE_INVALID"),
    (1, "IMAGE_FUNCTION_OVERRIDE_X64_REL32"),
    (2, "IMAGE_FUNCTION_OVERRIDE_ARM64_BRANCH26"),
    (3, "IMAGE_FUNCTION_OVERRIDE_ARM64_THUNK"),
];

/// What a block of fixups holds, by the symbol of its relocation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Any other symbol: base relocations.
    Base(u16),
    /// `IMAGE_IMPORT_CONTROL_TRANSFER_DYNAMIC_RELOCATION`
    Import,
    /// `IMAGE_INDIR_CONTROL_TRANSFER_DYNAMIC_RELOCATION`
    Indirect,
    /// `IMAGE_SWITCHTABLE_BRANCH_DYNAMIC_RELOCATION`
    Switch,
    /// `IMAGE_DVRT_ARM64X_FIXUP_RECORD`
    Arm64x,
    /// Calls in functions that are overridden.
    Override,
    /// `IMAGE_IMPORT_CONTROL_TRANSFER_ARM64_RELOCATION`
    Arm64Kernel,
}

impl Form {
    /// Bytes of the fixup that starts at `at`.
    fn length(self, data: Bytes<'_>, at: u64) -> Option<u64> {
        Some(match self {
            Self::Import | Self::Arm64Kernel => 4,
            Self::Base(_) | Self::Indirect | Self::Switch | Self::Override => 2,
            Self::Arm64x => match data.u16(at)? >> 12 & 3 {
                1 => 2 + (1 << (data.u16(at)? >> 14)),
                2 => 4,
                _ => 2,
            },
        })
    }

    fn write(self, data: Bytes<'_>, at: u64, w: &mut Writer<'_>) {
        let half = u64::from(data.u16(at).unwrap_or(0));
        let word = u64::from(data.u32(at).unwrap_or(0));
        let flag = |w: &mut Writer<'_>, name: &str, bit: u64| {
            w.member(name, bit & 1 != 0);
        };
        w.begin_object();
        match self {
            Self::Base(machine) => {
                w.member("offset", half & 0xFFF);
                w.member("type", type_name((half >> 12) as u16, machine));
            }
            Self::Import => {
                let index = word >> 13;
                w.member("iat_index", (index != 0x7_FFFF).then_some(index));
                flag(w, "indirect_call", word >> 12);
                w.member("offset", word & 0xFFF);
            }
            Self::Indirect => {
                flag(w, "cfg_check", half >> 14);
                flag(w, "indirect_call", half >> 12);
                w.member("offset", half & 0xFFF);
                flag(w, "rex_w_prefix", half >> 13);
            }
            Self::Switch => {
                w.member("offset", half & 0xFFF);
                w.member("register", half >> 12);
            }
            Self::Arm64x => arm64x(data, at, half, w),
            Self::Override => {
                w.member("kind", Symbolic::of(half >> 12, OVERRIDES));
                w.member("offset", half & 0xFFF);
            }
            Self::Arm64Kernel => {
                let index = word >> 17;
                w.member("iat_index", (index != 0x7FFF).then_some(index));
                let import = if word >> 16 & 1 == 0 {
                    "static"
                } else {
                    "delayed"
                };
                w.member("import", import);
                flag(w, "indirect_call", word >> 10);
                w.member("offset", (word & 0x3FF) * 4);
                w.member("register", word >> 11 & 31);
            }
        }
        w.end_object();
    }
}

/// What makes another machine's image of an ARM64X image.
fn arm64x(data: Bytes<'_>, at: u64, half: u64, w: &mut Writer<'_>) {
    let (kind, argument) = (half >> 12 & 3, half >> 14);
    let name = match kind {
        0 => "zero-fill",
        1 => "value",
        2 => "delta",
        _ => "reserved",
    };
    w.member("kind", name);
    w.member("offset", half & 0xFFF);
    // Deltas are added to words.
    let size: u64 = if kind == 2 { 4 } else { 1 << argument };
    w.member("size", size);
    w.key("value");
    match kind {
        1 => {
            let value = data.up_to(at + 2, 1 << argument);
            let value = value.iter().rev();
            Hex(value.fold(0, |value, &byte| value << 8 | u64::from(byte))).write_json(w);
        }
        2 => {
            let scale = if argument & 2 != 0 { 8 } else { 4 };
            let value = f64::from(data.u16(at + 2).unwrap_or(0)) * scale as f64;
            // A product of small whole numbers is exact.
            w.number(if argument & 1 != 0 && value != 0.0 {
                -value
            } else {
                value
            });
        }
        _ => w.null(),
    }
}

/// Fixups of a page.
struct Block<'a> {
    page: u64,
    location: Range,
    fixups: Bytes<'a>,
    form: Form,
}

impl Block<'_> {
    /// Where fixups start. A block is padded to a multiple of four bytes with
    /// a zero half.
    fn starts(&self) -> impl Iterator<Item = u64> {
        let mut at = 0;
        let end = self.fixups.len();
        std::iter::from_fn(move || {
            let here = at;
            let padding = here + 2 == end && here % 4 == 2 && self.fixups.u16(here)? == 0;
            at += self.form.length(self.fixups, here)?;
            (at <= end && !padding).then_some(here)
        })
    }
}

impl WriteJson for Block<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("fixups");
        w.begin_array();
        for at in self.starts() {
            self.form.write(self.fixups, at, w);
        }
        w.end_array();
        w.member("location", self.location);
        w.member("page_address", Hex(self.page));
        w.end_object();
    }
}

/// `IMAGE_FUNCTION_OVERRIDE_DYNAMIC_RELOCATION`: a function with others that
/// may take its place.
struct Override<'a> {
    location: Range,
    original: u32,
    /// Offset among the decisions.
    decision: u32,
    functions: Bytes<'a>,
    blocks: Vec<Block<'a>>,
}

impl WriteJson for Override<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("blocks", &self.blocks);
        w.member("decision_offset", Hex(self.decision.into()));
        w.key("functions");
        w.begin_array();
        for at in 0..self.functions.len() / 4 {
            self.functions
                .u32(at * 4)
                .map(u64::from)
                .map(Hex)
                .write_json(w);
        }
        w.end_array();
        w.member("location", self.location);
        w.member("original_function", Hex(self.original.into()));
        w.end_object();
    }
}

/// `IMAGE_BDD_INFO`: a diagram of decisions that chooses one of the functions.
struct Decisions<'a> {
    location: Range,
    version: u32,
    nodes: Bytes<'a>,
}

impl WriteJson for Decisions<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("location", self.location);
        w.key("nodes");
        w.begin_array();
        for at in (0..self.nodes.len() / 8).map(|index| index * 8) {
            w.begin_object();
            w.member("left", self.nodes.u16(at).unwrap_or(0));
            w.member("right", self.nodes.u16(at + 2).unwrap_or(0));
            w.member("value", self.nodes.u32(at + 4).unwrap_or(0));
            w.end_object();
        }
        w.end_array();
        w.member("version", self.version);
        w.end_object();
    }
}

enum Content<'a> {
    Blocks(Vec<Block<'a>>),
    Overrides(Vec<Override<'a>>, Vec<Decisions<'a>>),
    Unknown,
}

/// `IMAGE_DYNAMIC_RELOCATION`, and what it says to fix.
pub(super) struct DynamicRelocation<'a> {
    location: Range,
    fixups: Range,
    symbol: u64,
    /// `SymbolGroup` and `Flags` of version 2.
    group: Option<(u32, u32)>,
    content: Content<'a>,
}

impl WriteJson for DynamicRelocation<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        if let Content::Blocks(blocks) = &self.content {
            w.member("blocks", blocks);
        }
        if let Content::Overrides(_, decisions) = &self.content {
            w.member("decisions", decisions);
        }
        w.member("fixups", self.fixups);
        if let Some((_, flags)) = self.group {
            w.member("flags", Hex(flags.into()));
        }
        if let Content::Overrides(functions, _) = &self.content {
            w.member("functions", functions);
        }
        w.member("location", self.location);
        w.key("symbol");
        match Symbolic::of(self.symbol, SYMBOLS) {
            Symbolic::Named(name) => w.string(name),
            // Others are addresses of variables of the kernel.
            Symbolic::Number(value) => Hex(value).write_json(w),
        }
        if let Some((group, _)) = self.group {
            w.member("symbol_group", group);
        }
        w.end_object();
    }
}

const WHAT: &str = "dynamic value relocations";

/// The table at `rva`: where it stands, its version, its rows.
pub(super) fn read<'a>(
    image: &Image<'a>,
    rva: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<(Range, u32, Vec<DynamicRelocation<'a>>)> {
    let found = image.tail(rva);
    let header = found.and_then(|(at, tail)| Some((at, tail, tail.u32(0)?, tail.u32(4)?)));
    let Some((start, tail, version, size)) = header else {
        notes.add(outside(WHAT, rva));
        return None;
    };
    let size = u64::from(size);
    let data = Bytes::little(tail.up_to(8, size));
    let location = Range {
        offset: start,
        bytes: 8 + data.len(),
    };
    if data.len() < size {
        let there = data.len();
        let reason = format!("they have {size} bytes, and the file ends after {there}");
        notes.at(WHAT, start, reason);
    }
    if !(1..=2).contains(&version) {
        let reason = format!("they have the version {version}, which is not known");
        notes.at(WHAT, start, reason);
        return Some((location, version, Vec::new()));
    }
    if !budget.bytes(data.len()) {
        notes.at(WHAT, start, SPENT);
        return Some((location, version, Vec::new()));
    }
    let mut table = Table {
        image,
        start: start + 8,
        data,
        budget,
        notes,
    };
    let rows = table.relocations(version);
    Some((location, version, rows))
}

struct Table<'t, 'a> {
    image: &'t Image<'a>,
    /// Where `data` stands.
    start: u64,
    data: Bytes<'a>,
    budget: &'t mut Budget,
    notes: &'t mut Notes,
}

impl<'a> Table<'_, 'a> {
    fn relocations(&mut self, version: u32) -> Vec<DynamicRelocation<'a>> {
        let wide = self.image.wide;
        let mut rows = Vec::new();
        let mut at = 0;
        while at < self.data.len() {
            if !self.row(at) {
                break;
            }
            let header = match version {
                1 => self.first(at, wide),
                _ => self.second(at, wide),
            };
            let Some((length, size, symbol, group)) = header else {
                self.said(at, "the table ends in the header of a relocation");
                break;
            };
            if version == 2 && length < if wide { 24 } else { 20 } {
                self.said(at, "the header of a relocation is shorter than its members");
                break;
            }
            let from = (at + length).min(self.data.len());
            let there = size.min(self.data.len() - from);
            if there < size {
                self.said(at, "a relocation is longer than what is left of the table");
            }
            rows.push(DynamicRelocation {
                location: self.range(at, from - at),
                fixups: self.range(from, there),
                symbol,
                group,
                content: self.content(symbol, from, there),
            });
            at = from + there;
        }
        rows
    }

    /// `IMAGE_DYNAMIC_RELOCATION32` and `64`: bytes of the header and of the
    /// fixups, and the symbol.
    #[allow(clippy::type_complexity)] // two forms of one header
    fn first(&self, at: u64, wide: bool) -> Option<(u64, u64, u64, Option<(u32, u32)>)> {
        let word = if wide { 8 } else { 4 };
        let symbol = self.data.word(at, wide)?;
        let size = self.data.u32(at + word)?;
        Some((word + 4, u64::from(size), symbol, None))
    }

    /// `IMAGE_DYNAMIC_RELOCATION32_V2` and `64_V2`.
    #[allow(clippy::type_complexity)] // two forms of one header
    fn second(&self, at: u64, wide: bool) -> Option<(u64, u64, u64, Option<(u32, u32)>)> {
        let (length, size) = (self.data.u32(at)?, self.data.u32(at + 4)?);
        let symbol = self.data.word(at + 8, wide)?;
        let rest = at + if wide { 16 } else { 12 };
        let group = (self.data.u32(rest)?, self.data.u32(rest + 4)?);
        Some((u64::from(length), u64::from(size), symbol, Some(group)))
    }

    fn content(&mut self, symbol: u64, at: u64, size: u64) -> Content<'a> {
        let form = match symbol {
            1 | 2 => {
                let reason = "its fixups have the form of return flow guard, which no Windows uses; they are not taken apart";
                self.said(at, reason);
                return Content::Unknown;
            }
            3 => Form::Import,
            4 => Form::Indirect,
            5 => Form::Switch,
            6 => Form::Arm64x,
            7 => return self.overrides(at, size),
            8 => Form::Arm64Kernel,
            _ => Form::Base(self.image.machine),
        };
        Content::Blocks(self.blocks(at, size, form))
    }

    /// Blocks of fixups, each with the header of a block of base relocations.
    fn blocks(&mut self, from: u64, size: u64, form: Form) -> Vec<Block<'a>> {
        let end = from + size;
        let mut blocks = Vec::new();
        let mut at = from;
        while at + 8 <= end {
            let (Some(page), Some(length)) = (self.data.u32(at), self.data.u32(at + 4)) else {
                break;
            };
            let length = u64::from(length);
            if length < 8 {
                self.said(at, "a block of fixups is shorter than its header");
                break;
            }
            let there = length.min(end - at);
            if there < length {
                self.said(at, "a block of fixups is longer than its relocation");
            }
            let block = Block {
                page: u64::from(page),
                location: self.range(at, there),
                fixups: Bytes::little(self.data.up_to(at + 8, there - 8)),
                form,
            };
            if !self.row(at) || !self.budget.rows(block.starts().count() as u64) {
                self.said(at, SPENT);
                break;
            }
            blocks.push(block);
            at += there;
        }
        blocks
    }

    /// `IMAGE_FUNCTION_OVERRIDE_HEADER` and what follows it.
    fn overrides(&mut self, from: u64, size: u64) -> Content<'a> {
        let end = from + size;
        let mut functions = Vec::new();
        let mut decisions = Vec::new();
        let Some(length) = self.data.u32(from).filter(|_| size >= 4) else {
            self.said(from, "the table ends in the header of its functions");
            return Content::Overrides(functions, decisions);
        };
        let mut at = from + 4;
        let stop = at.saturating_add(u64::from(length)).min(end);
        if stop - at < u64::from(length) {
            self.said(from, "its functions are longer than their relocation");
        }
        while at < stop {
            let word = |skip| self.data.u32(at + skip).filter(|_| at + 16 <= stop);
            let (Some(original), Some(decision), Some(addresses), Some(blocks)) =
                (word(0), word(4), word(8), word(12))
            else {
                self.said(at, "the table ends in a function");
                break;
            };
            let addresses_end = (at + 16).saturating_add(u64::from(addresses)).min(stop);
            let next = addresses_end.saturating_add(u64::from(blocks)).min(stop);
            if next - at < 16 + u64::from(addresses) + u64::from(blocks) {
                self.said(at, "a function is longer than what is left of the table");
            }
            if !self.row(at) || !self.budget.rows(u64::from(addresses) / 4) {
                self.said(at, SPENT);
                break;
            }
            let listed = self.data.up_to(at + 16, addresses_end - at - 16);
            functions.push(Override {
                location: self.range(at, next - at),
                original,
                decision,
                functions: Bytes::little(listed),
                blocks: self.blocks(addresses_end, next - addresses_end, Form::Override),
            });
            at = next;
        }
        at = stop;
        while at + 8 <= end {
            let (Some(version), Some(length)) = (self.data.u32(at), self.data.u32(at + 4)) else {
                break;
            };
            let there = u64::from(length).min(end - at - 8);
            if there < u64::from(length) {
                self.said(
                    at,
                    "the decisions are longer than what is left of the table",
                );
            }
            if !self.row(at) || !self.budget.rows(there / 8) {
                self.said(at, SPENT);
                break;
            }
            decisions.push(Decisions {
                location: self.range(at, 8 + there),
                version,
                nodes: Bytes::little(self.data.up_to(at + 8, there)),
            });
            at += 8 + there;
        }
        Content::Overrides(functions, decisions)
    }

    fn range(&self, at: u64, bytes: u64) -> Range {
        Range {
            offset: self.start + at,
            bytes,
        }
    }

    fn said(&mut self, at: u64, reason: &str) {
        self.notes.at(WHAT, self.start + at, reason);
    }

    fn row(&mut self, at: u64) -> bool {
        let fits = self.budget.row();
        if !fits {
            self.said(at, SPENT);
        }
        fits
    }
}
