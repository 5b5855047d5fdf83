//! Small tables that load commands name: where functions start, which bytes
//! of code are data, initial thread states, encryption.

use super::arch::{ARM, ARM64, ARM64_32, I386, POWERPC, POWERPC64, X86_64};
use super::commands::{
    LC_DATA_IN_CODE, LC_FUNCTION_STARTS, LC_THREAD, LC_UNIXTHREAD, command_name,
};
use super::image::Image;
use super::segments::Segments;
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes};
use crate::json::{WriteJson, Writer};

/// `LC_FUNCTION_STARTS`: distances from one function to the next.
#[derive(Clone, Copy, Debug)]
pub struct FunctionStarts<'a> {
    /// Where the table stands in the file.
    pub location: Range,
    data: Bytes<'a>,
    /// What the first distance counts from.
    base: u64,
    /// How many functions there are.
    pub count: u64,
}

impl<'a> FunctionStarts<'a> {
    /// Reads the table.
    pub fn read(image: &Image<'a>, segments: &Segments<'a>, notes: &mut Notes) -> Option<Self> {
        let command = *image.only(&[LC_FUNCTION_STARTS], notes)?;
        let (offset, data) = image.linkedit(&command, notes)?;
        let base = segments.image_base();
        let named = segments
            .segments
            .iter()
            .find(|segment| segment.name == b"__TEXT");
        let Some(base) = base.or(named.map(|segment| segment.address)) else {
            let reason = "there is no segment that functions could be counted from";
            notes.at("LC_FUNCTION_STARTS", image.file_offset(offset), reason);
            return None;
        };
        let mut starts = Self {
            location: image.range(offset, data.len()),
            data,
            base,
            count: 0,
        };
        starts.count = starts.iter().count() as u64;
        Some(starts)
    }

    /// The addresses as linked; on ARM the lowest bit marks Thumb code.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let (data, mut address, mut at) = (self.data, self.base, 0);
        std::iter::from_fn(move || {
            // Zeros fill the table up.
            let (distance, size) = data.uleb(at).filter(|&(distance, _)| distance != 0)?;
            at += size;
            address = address.wrapping_add(distance);
            Some(address)
        })
    }
}

impl WriteJson for FunctionStarts<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("addresses");
        w.begin_array();
        for address in self.iter() {
            Hex(address).write_json(w);
        }
        w.end_array();
        w.member("count", self.count);
        w.member("first", self.iter().next().map(Hex));
        w.member("last", self.iter().last().map(Hex));
        w.member("location", self.location);
        w.end_object();
    }
}

/// `LC_DATA_IN_CODE`
#[derive(Clone, Copy, Debug)]
pub struct DataInCode<'a> {
    /// Where the table stands in the file.
    pub location: Range,
    data: Bytes<'a>,
}

impl<'a> DataInCode<'a> {
    /// Reads the table.
    pub fn read(image: &Image<'a>, notes: &mut Notes) -> Option<Self> {
        let command = *image.only(&[LC_DATA_IN_CODE], notes)?;
        let (offset, data) = image.linkedit(&command, notes)?;
        Some(Self {
            location: image.range(offset, data.len()),
            data,
        })
    }

    /// How many entries there are.
    pub fn count(&self) -> u64 {
        self.data.len() / 8
    }
}

fn data_kind(kind: u16) -> Option<&'static str> {
    Some(match kind {
        1 => "DICE_KIND_DATA",
        2 => "DICE_KIND_JUMP_TABLE8",
        3 => "DICE_KIND_JUMP_TABLE16",
        4 => "DICE_KIND_JUMP_TABLE32",
        5 => "DICE_KIND_ABS_JUMP_TABLE32",
        _ => return None,
    })
}

impl WriteJson for DataInCode<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("items");
        w.begin_array();
        for index in 0..self.count() {
            let at = 8 * index;
            let entry = (|| {
                let data = self.data;
                Some((data.u32(at)?, data.u16(at + 4)?, data.u16(at + 6)?))
            })();
            let Some((offset, length, kind)) = entry else {
                break;
            };
            w.begin_object();
            w.key("kind");
            match data_kind(kind) {
                Some(name) => w.string(name),
                None => w.u64(kind.into()),
            }
            w.member("length", length);
            w.member("offset", Hex(offset.into()));
            w.end_object();
        }
        w.end_array();
        w.member("location", self.location);
        w.end_object();
    }
}

/// A thread's registers at the start (`LC_UNIXTHREAD`, `LC_THREAD`).
#[derive(Clone, Copy, Debug)]
pub struct ThreadState {
    /// The command's name.
    pub kind: &'static str,
    /// `flavor`
    pub flavor: u32,
    /// `count`: words of the state.
    pub count: u32,
    /// The program counter, where the flavor holds one.
    pub counter: Option<u64>,
    /// Where the state stands in the file, or the counter where it is known.
    pub location: Range,
}

/// For a processor and flavor: the program counter's byte in the state, and
/// whether it has 64 bits (`mach/*/_structs.h`).
fn counter(cpu: u32, flavor: u32) -> Option<(u64, bool)> {
    Some(match (cpu, flavor) {
        // x86_THREAD_STATE32: eip is the 11th register.
        (I386, 1) => (40, false),
        // x86_THREAD_STATE64: rip is the 17th.
        (X86_64, 4) => (128, true),
        // ARM_THREAD_STATE: pc is r15.
        (ARM, 1) => (60, false),
        // ARM_THREAD_STATE64: behind x0 to x28, fp, lr and sp.
        (ARM64 | ARM64_32, 6) => (256, true),
        // PPC_THREAD_STATE and PPC_THREAD_STATE64: srr0 is the first.
        (POWERPC, 1) => (0, false),
        (POWERPC64, 5) => (0, true),
        // M68K_THREAD_STATE_REGS: behind d0-d7, a0-a7 and sr.
        (6, 1) => (68, false),
        _ => return None,
    })
}

/// The states of all threads.
pub fn threads(image: &Image<'_>, notes: &mut Notes) -> Vec<ThreadState> {
    let mut states = Vec::new();
    for command in image.of_kind(&[LC_UNIXTHREAD, LC_THREAD]) {
        let body = image.body(command);
        let kind = match command_name(command.cmd).text() {
            name if name == "LC_THREAD" => "LC_THREAD",
            _ => "LC_UNIXTHREAD",
        };
        let mut at = 8;
        while let Some((flavor, count)) = body.u32(at).zip(body.u32(at + 4)) {
            let size = 4 * u64::from(count);
            if body.get(at + 8, size).is_none() {
                let offset = image.file_offset(command.offset + at);
                notes.at(kind, offset, "a thread state ends behind the command");
                break;
            }
            let mut state = ThreadState {
                kind,
                flavor,
                count,
                counter: None,
                location: image.range(command.offset + at + 8, size),
            };
            let mut place = counter(image.header.cpu.kind, flavor);
            let mut start = at + 8;
            // x86_THREAD_STATE: flavor and count again, then the state.
            if flavor == 7 && matches!(image.header.cpu.kind, I386 | X86_64) {
                let inner = body.u32(start).unwrap_or(0);
                place = counter(image.header.cpu.kind, inner);
                start += 8;
            }
            if let Some((within, wide)) = place {
                let bytes = if wide { 8 } else { 4 };
                let fits = start + within + bytes <= at + 8 + size;
                let value = body.word(start + within, wide).filter(|_| fits);
                if value.is_some() {
                    state.counter = value;
                    state.location = image.range(command.offset + start + within, bytes);
                }
            }
            states.push(state);
            at += 8 + size;
        }
    }
    states
}

impl WriteJson for ThreadState {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("count", self.count);
        w.member("flavor", self.flavor);
        w.member("kind", self.kind);
        w.member("location", self.location);
        w.member("program_counter", self.counter.map(Hex));
        w.end_object();
    }
}
