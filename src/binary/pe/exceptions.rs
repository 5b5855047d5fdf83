//! The table of functions for unwinding ("PE Format", section "The .pdata
//! Section"; learn.microsoft.com: "x64 exception handling", "ARM64 exception
//! handling", "ARM exception handling"). Rows are read from their bytes when
//! they are written.

use std::sync::Arc;

use super::fields::{number, range};
use super::image::{Budget, Image, SPENT, outside};
use super::unwind_codes::Record;
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes};
use crate::json::{Object, WriteJson, Writer};

/// The form of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Amd64,
    Arm,
    Arm64,
    /// Three addresses (Itanium).
    Triples,
}

impl Form {
    fn of(machine: u16) -> Option<Self> {
        match machine {
            0x8664 => Some(Self::Amd64),
            0x01C0 | 0x01C2 | 0x01C4 => Some(Self::Arm),
            0xAA64 => Some(Self::Arm64),
            0x0200 => Some(Self::Triples),
            _ => None,
        }
    }

    fn row(self) -> u64 {
        match self {
            Self::Amd64 | Self::Triples => 12,
            Self::Arm | Self::Arm64 => 8,
        }
    }
}

/// The functions.
pub(super) struct Functions<'a> {
    image: Arc<Image<'a>>,
    form: Form,
    start: u64,
    table: Bytes<'a>,
    /// Whether codes are written too.
    with_codes: bool,
}

/// Reads the table of the image's machine: its summary, and its rows.
pub(super) fn read<'a>(
    image: &Arc<Image<'a>>,
    rva: u64,
    size: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<(Object, Functions<'a>)> {
    table(image, Form::of(image.machine), rva, size, budget, notes)
}

/// Reads the table of the other machine in a hybrid image of ARM64 and x64.
pub(super) fn read_extra<'a>(
    image: &Arc<Image<'a>>,
    rva: u64,
    size: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<(Object, Functions<'a>)> {
    let form = match image.machine {
        0xAA64 => Form::Amd64,
        _ => Form::Arm64,
    };
    table(image, Some(form), rva, size, budget, notes)
}

fn table<'a>(
    image: &Arc<Image<'a>>,
    form: Option<Form>,
    rva: u64,
    size: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<(Object, Functions<'a>)> {
    let Some((start, tail)) = image.tail(rva) else {
        notes.add(outside("exception table", rva));
        return None;
    };
    let Some(form) = form else {
        notes.at(
            "exception table",
            start,
            "its rows have a form of their machine that is not taken apart",
        );
        return None;
    };
    let count = size / form.row();
    let there = tail.len() / form.row();
    if there < count {
        notes.at(
            "exception table",
            start,
            format!("it has {count} rows, and the file ends after {there} of them"),
        );
    }
    let count = count.min(there);
    if !budget.bytes(count * form.row()) {
        notes.at("exception table", start, SPENT);
        return None;
    }
    let mut functions = Functions {
        image: Arc::clone(image),
        form,
        start,
        table: Bytes::little(tail.up_to(0, count * form.row())),
        with_codes: true,
    };
    // Rows may share one block of codes, and each would write it again.
    if form == Form::Amd64 {
        let codes: u64 = (0..count)
            .filter_map(|index| {
                let unwind = functions.table.u32(index * 12 + 8)?;
                let (_, info) = image.tail(u64::from(unwind & !1))?;
                info.u8(2).map(u64::from)
            })
            .sum();
        if codes > image.bytes.len() {
            notes.at(
                "exception table",
                start,
                "its functions share their unwind codes so often that they are not listed",
            );
            functions.with_codes = false;
        }
    }
    if matches!(form, Form::Arm | Form::Arm64) {
        functions.weigh(count, notes);
    }
    let mut facts = Object::new();
    facts.insert("functions", number(count));
    facts.insert(
        "location",
        range(Range {
            offset: start,
            bytes: count * form.row(),
        }),
    );
    Some((facts, functions))
}

impl WriteJson for Functions<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        let row = self.form.row();
        let mut at = 0;
        while let Some(entry) = self.table.part(at, row) {
            w.begin_object();
            match self.form {
                Form::Amd64 => self.amd64(entry, w),
                Form::Triples => {
                    w.member("begin_address", Hex(entry.u32(0).unwrap_or(0).into()));
                    w.member("end_address", Hex(entry.u32(4).unwrap_or(0).into()));
                    self.offset(at, w);
                    w.member("unwind_address", Hex(entry.u32(8).unwrap_or(0).into()));
                }
                Form::Arm | Form::Arm64 => self.arm(entry, at, w),
            }
            w.end_object();
            at += row;
        }
        w.end_array();
    }
}

impl<'a> Functions<'a> {
    fn offset(&self, at: u64, w: &mut Writer<'_>) {
        w.member("offset", Hex(self.start + at));
    }

    fn amd64(&self, entry: Bytes<'_>, w: &mut Writer<'_>) {
        let word = |at| entry.u32(at).unwrap_or(0);
        w.member("begin_address", Hex(word(0).into()));
        w.member("end_address", Hex(word(4).into()));
        w.member("unwind_address", Hex(word(8).into()));
        w.key("unwind_info");
        // The lowest bit says that the address is that of another row.
        let info = match word(8) & 1 {
            0 => self.image.tail(u64::from(word(8))),
            _ => None,
        };
        match info {
            Some((_, info)) if info.len() >= 4 => self.unwind_info(info, w),
            _ => w.null(),
        }
    }

    /// `UNWIND_INFO`
    fn unwind_info(&self, info: Bytes<'_>, w: &mut Writer<'_>) {
        let byte = |at| info.u8(at).unwrap_or(0);
        let (version, flags) = (byte(0) & 7, byte(0) >> 3);
        let count = u64::from(byte(2));
        let tail = 4 + count.next_multiple_of(2) * 2;
        w.begin_object();
        if flags & 4 != 0 {
            w.key("chained");
            w.begin_object();
            w.member("begin_address", Hex(info.u32(tail).unwrap_or(0).into()));
            w.member("end_address", Hex(info.u32(tail + 4).unwrap_or(0).into()));
            w.member(
                "unwind_address",
                Hex(info.u32(tail + 8).unwrap_or(0).into()),
            );
            w.end_object();
        }
        w.key("codes");
        match self.with_codes {
            true => codes(info, count, w),
            false => w.null(),
        }
        w.member("count_of_codes", count);
        w.member("flags", flags);
        w.member("frame_offset", byte(3) >> 4);
        w.member("frame_register", byte(3) & 15);
        if flags & 4 == 0 && flags & 3 != 0 {
            w.member("handler_address", Hex(info.u32(tail).unwrap_or(0).into()));
        }
        w.member("size_of_prolog", byte(1));
        w.member("version", version);
        w.end_object();
    }

    /// The record of a row of ARM or ARM64 that has one.
    fn record(&self, data: u32) -> Option<(u64, Record<'a>)> {
        let (start, info) = self.image.tail(u64::from(data & !3))?;
        Some((start, Record::read(info, self.form == Form::Arm64)?))
    }

    /// Says which records are missing or cut, and leaves codes away where
    /// records are shared so often that they would fill the record.
    fn weigh(&mut self, count: u64, notes: &mut Notes) {
        let mut codes = 0u64;
        for index in 0..count {
            let Some(data) = self.table.u32(index * 8 + 4).filter(|data| data & 3 == 0) else {
                continue;
            };
            match self.record(data) {
                Some((start, record)) => {
                    codes = codes.saturating_add(record.weight());
                    if record.is_cut {
                        notes.at("unwind information", start, "the file ends in it");
                    }
                }
                // Rows of zeros fill up the table.
                None if data == 0 => {}
                None => {
                    let reason = format!("the file has no bytes for its record at {data:#x}");
                    notes.at("exception table", self.start + index * 8, reason);
                }
            }
        }
        // Far more than honest files have: one byte in fifty.
        if codes > self.image.bytes.len() / 4 + 4096 {
            self.with_codes = false;
            let reason = "its functions share their unwind codes so often that they are not listed";
            notes.at("exception table", self.start, reason);
        }
    }

    fn arm(&self, entry: Bytes<'_>, at: u64, w: &mut Writer<'_>) {
        let begin = entry.u32(0).unwrap_or(0);
        let data = entry.u32(4).unwrap_or(0);
        let bits = |from: u32, count: u32| u64::from(data >> from & ((1 << count) - 1));
        w.member("begin_address", Hex(begin.into()));
        let flag = bits(0, 2);
        if flag == 0 {
            w.member("flag", flag);
            let found = self.record(data).map(|(_, record)| record);
            let function_length = found.as_ref().map(Record::function_length);
            w.member("function_length", function_length);
            self.offset(at, w);
            w.member("unwind_address", Hex(data.into()));
            let unwind_header = found.as_ref().map(|record| u64::from(record.header));
            w.member("unwind_header", unwind_header);
            w.key("unwind_info");
            match found {
                Some(record) => record.write(self.with_codes, w),
                None => w.null(),
            }
            return;
        }
        if self.form == Form::Arm64 {
            w.member("cr", bits(21, 2));
            w.member("flag", flag);
            w.member("frame_size", bits(23, 9) * 16);
            w.member("function_length", bits(2, 11) * 4);
            w.member("h", bits(20, 1));
            self.offset(at, w);
            w.member("reg_f", bits(13, 3));
            w.member("reg_i", bits(16, 4));
        } else {
            w.member("c", bits(21, 1));
            w.member("flag", flag);
            w.member("function_length", bits(2, 11) * 2);
            w.member("h", bits(15, 1));
            w.member("l", bits(20, 1));
            self.offset(at, w);
            w.member("r", bits(19, 1));
            w.member("reg", bits(16, 3));
            w.member("ret", bits(13, 2));
            w.member("stack_adjust", bits(22, 10));
        }
    }
}

const REGISTERS: [&str; 16] = [
    "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13",
    "R14", "R15",
];

/// Each code as a text: the offset in the prolog, the operation, its operands.
fn codes(info: Bytes<'_>, count: u64, w: &mut Writer<'_>) {
    w.begin_array();
    let mut slot = 0;
    while slot < count {
        let at = 4 + slot * 2;
        let (Some(offset), Some(code)) = (info.u8(at), info.u8(at + 1)) else {
            break;
        };
        let half = u64::from(info.u16(at + 2).unwrap_or(0));
        let word = u64::from(info.u32(at + 2).unwrap_or(0));
        let operand = u64::from(code >> 4);
        let register = REGISTERS[usize::from(code >> 4) & 15];
        let (slots, text) = match code & 15 {
            0 => (1, format!("UWOP_PUSH_NONVOL {register}")),
            1 if operand == 0 => (2, format!("UWOP_ALLOC_LARGE {:#x}", half * 8)),
            1 => (3, format!("UWOP_ALLOC_LARGE {word:#x}")),
            2 => (1, format!("UWOP_ALLOC_SMALL {:#x}", operand * 8 + 8)),
            3 => (1, "UWOP_SET_FPREG".to_owned()),
            4 => (2, format!("UWOP_SAVE_NONVOL {register} {:#x}", half * 8)),
            5 => (3, format!("UWOP_SAVE_NONVOL_FAR {register} {word:#x}")),
            6 => (1, format!("UWOP_EPILOG {operand}")),
            7 => (2, format!("UWOP_SPARE_CODE {operand}")),
            8 => (2, format!("UWOP_SAVE_XMM128 XMM{operand} {:#x}", half * 16)),
            9 => (3, format!("UWOP_SAVE_XMM128_FAR XMM{operand} {word:#x}")),
            10 => (1, format!("UWOP_PUSH_MACHFRAME {operand}")),
            other => (1, format!("{other} {operand}")),
        };
        w.string(&format!("{offset:#x} {text}"));
        slot += slots;
    }
    w.end_array();
}
