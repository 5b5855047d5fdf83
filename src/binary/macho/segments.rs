//! Segments and sections (`struct segment_command`, `struct section`).

use super::commands::{LC_SEGMENT, LC_SEGMENT_64, name16};
use super::image::{Image, MH_DSYM, MH_DYLIB_STUB, MH_OBJECT};
use crate::binary::Notes;
use crate::binary::layout::rows::Permissions;

/// A segment. Offsets count from the start of the slice.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// `LC_SEGMENT` or `LC_SEGMENT_64`.
    pub cmd: u32,
    /// Where its command stands.
    pub command: u64,
    /// Bytes of its command.
    pub command_size: u32,
    /// Its name without the padding.
    pub name: &'a [u8],
    /// `vmaddr`
    pub address: u64,
    /// `vmsize`
    pub memory_size: u64,
    /// `fileoff`
    pub offset: u64,
    /// `filesize`
    pub file_size: u64,
    /// `maxprot`
    pub maximum: u32,
    /// `initprot`
    pub initial: u32,
    /// `SG_...`
    pub flags: u32,
    /// How many sections are announced.
    pub announced: u32,
    /// Its sections in [`Segments::sections`]: the first, and how many.
    pub sections: (u32, u32),
}

/// A section. Offsets count from the start of the slice.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Where its header stands.
    pub header: u64,
    /// `sectname`
    pub name: &'a [u8],
    /// `segname`, which in objects is not that of the segment around it.
    pub segment: &'a [u8],
    /// `addr`
    pub address: u64,
    /// `size`
    pub size: u64,
    /// `offset`
    pub offset: u32,
    /// The alignment as a power of two.
    pub align: u32,
    /// `reloff`
    pub relocations: u32,
    /// `nreloc`
    pub relocation_count: u32,
    /// Type and attributes.
    pub flags: u32,
    /// What the type makes of them.
    pub reserved: [u32; 2],
    /// Whether the file holds its bytes.
    pub in_file: bool,
}

/// Section types (`SECTION_TYPE`).
pub const SECTION_TYPES: &[(u64, &str)] = &[
    (0x0, "S_REGULAR"),
    (0x1, "S_ZEROFILL"),
    (0x2, "S_CSTRING_LITERALS"),
    (0x3, "S_4BYTE_LITERALS"),
    (0x4, "S_8BYTE_LITERALS"),
    (0x5, "S_LITERAL_POINTERS"),
    (0x6, "S_NON_LAZY_SYMBOL_POINTERS"),
    (0x7, "S_LAZY_SYMBOL_POINTERS"),
    (0x8, "S_SYMBOL_STUBS"),
    (0x9, "S_MOD_INIT_FUNC_POINTERS"),
    (0xA, "S_MOD_TERM_FUNC_POINTERS"),
    (0xB, "S_COALESCED"),
    (0xC, "S_GB_ZEROFILL"),
    (0xD, "S_INTERPOSING"),
    (0xE, "S_16BYTE_LITERALS"),
    (0xF, "S_DTRACE_DOF"),
    (0x10, "S_LAZY_DYLIB_SYMBOL_POINTERS"),
    (0x11, "S_THREAD_LOCAL_REGULAR"),
    (0x12, "S_THREAD_LOCAL_ZEROFILL"),
    (0x13, "S_THREAD_LOCAL_VARIABLES"),
    (0x14, "S_THREAD_LOCAL_VARIABLE_POINTERS"),
    (0x15, "S_THREAD_LOCAL_INIT_FUNCTION_POINTERS"),
    (0x16, "S_INIT_FUNC_OFFSETS"),
];

/// `S_NON_LAZY_SYMBOL_POINTERS`
pub const S_NON_LAZY_SYMBOL_POINTERS: u32 = 0x6;
/// `S_LAZY_SYMBOL_POINTERS`
pub const S_LAZY_SYMBOL_POINTERS: u32 = 0x7;
/// `S_SYMBOL_STUBS`
pub const S_SYMBOL_STUBS: u32 = 0x8;
/// `S_MOD_INIT_FUNC_POINTERS`
pub const S_MOD_INIT_FUNC_POINTERS: u32 = 0x9;
/// `S_MOD_TERM_FUNC_POINTERS`
pub const S_MOD_TERM_FUNC_POINTERS: u32 = 0xA;
/// `S_LAZY_DYLIB_SYMBOL_POINTERS`
pub const S_LAZY_DYLIB_SYMBOL_POINTERS: u32 = 0x10;
/// `S_THREAD_LOCAL_VARIABLE_POINTERS`
pub const S_THREAD_LOCAL_VARIABLE_POINTERS: u32 = 0x14;
/// `S_INIT_FUNC_OFFSETS`
pub const S_INIT_FUNC_OFFSETS: u32 = 0x16;

impl Section<'_> {
    /// Its type.
    pub fn kind(&self) -> u32 {
        self.flags & 0xFF
    }

    /// Whether its memory is zero and not in the file.
    pub fn is_zero_fill(&self) -> bool {
        matches!(self.kind(), 0x1 | 0xC | 0x12)
    }
}

impl Segment<'_> {
    /// What it may be used for at first.
    pub fn permissions(&self) -> Permissions {
        permissions(self.initial)
    }
}

/// `VM_PROT_READ` 1, `VM_PROT_WRITE` 2, `VM_PROT_EXECUTE` 4
/// (`mach/vm_prot.h`).
pub fn permissions(protection: u32) -> Permissions {
    Permissions {
        read: protection & 1 != 0,
        write: protection & 2 != 0,
        execute: protection & 4 != 0,
    }
}

/// Segments and sections in the order of their headers.
#[derive(Debug, Default)]
pub struct Segments<'a> {
    /// Segments.
    pub segments: Vec<Segment<'a>>,
    /// Sections of all segments.
    pub sections: Vec<Section<'a>>,
    /// See [`Segments::image_base`].
    base: Option<u64>,
    /// Starts of segments in memory, sorted, with their places.
    segment_starts: Vec<(u64, u32)>,
    /// The same of sections.
    section_starts: Vec<(u64, u32)>,
}

/// Starts and places of what takes memory, sorted by start.
fn starts(ranges: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u32)> {
    let mut starts: Vec<(u64, u32)> = (0..)
        .zip(ranges)
        .filter(|(_, (_, size))| *size > 0)
        .map(|(place, (address, _))| (address, place))
        .collect();
    starts.sort_unstable();
    starts
}

/// The place of the last one that starts at or before an address. A search by
/// halves: crafted files have a hundred thousand of them.
fn last_before(starts: &[(u64, u32)], address: u64) -> Option<usize> {
    let count = starts.partition_point(|(start, _)| *start <= address);
    let (_, place) = starts.get(count.checked_sub(1)?)?;
    usize::try_from(*place).ok()
}

impl<'a> Segments<'a> {
    /// Reads them from their commands.
    pub fn read(image: &Image<'a>, notes: &mut Notes) -> Self {
        let mut all = Self::default();
        for command in image.of_kind(&[LC_SEGMENT, LC_SEGMENT_64]) {
            let wide = command.cmd == LC_SEGMENT_64;
            let body = image.body(command);
            let word = if wide { 8 } else { 4 };
            let fields = (|| {
                let tail = 24 + 4 * word;
                let segment = Segment {
                    cmd: command.cmd,
                    command: command.offset,
                    command_size: command.size,
                    name: name16(body.get(8, 16)?),
                    address: body.word(24, wide)?,
                    memory_size: body.word(24 + word, wide)?,
                    offset: body.word(24 + 2 * word, wide)?,
                    file_size: body.word(24 + 3 * word, wide)?,
                    maximum: body.u32(tail)?,
                    initial: body.u32(tail + 4)?,
                    flags: body.u32(tail + 12)?,
                    announced: body.u32(tail + 8)?,
                    sections: (all.sections.len() as u32, 0),
                };
                Some((segment, tail + 16))
            })();
            let Some((mut segment, first)) = fields else {
                let reason = "the command is too short for a segment";
                notes.at("LC_SEGMENT", image.file_offset(command.offset), reason);
                continue;
            };
            check_segment(image, &segment, notes);
            let count = segment.announced;
            let step = if wide { 80 } else { 68 };
            for index in 0..u64::from(count) {
                let at = first + index * step;
                let Some(section) = read_section(image, command.offset, body, at, wide) else {
                    let reason =
                        format!("{count} sections are announced, and {index} fit into the command");
                    notes.at("segment", image.file_offset(command.offset), reason);
                    break;
                };
                all.sections.push(section);
                segment.sections.1 += 1;
            }
            all.segments.push(segment);
        }
        all.check_sections(image, notes);
        all.base = all
            .segments
            .iter()
            .find(|segment| segment.offset == 0 && segment.file_size > 0)
            .map(|segment| segment.address);
        let ranges = all
            .segments
            .iter()
            .map(|one| (one.address, one.memory_size));
        all.segment_starts = starts(ranges);
        let ranges = all.sections.iter().map(|one| (one.address, one.size));
        all.section_starts = starts(ranges);
        all
    }

    fn check_sections(&self, image: &Image<'_>, notes: &mut Notes) {
        // Debug files keep the headers of sections that they don't hold.
        if matches!(image.header.file_type, MH_DSYM | MH_DYLIB_STUB) {
            return;
        }
        for section in &self.sections {
            if section.is_zero_fill() || section.size == 0 || section.in_file {
                continue;
            }
            let reason = format!(
                "the section is announced at offset {:#x} with {:#x} bytes, which is not inside the slice",
                image.file_offset(u64::from(section.offset)),
                section.size
            );
            notes.at("section", image.file_offset(section.header), reason);
        }
    }

    /// The address that offsets of the image count from: `vmaddr` of the
    /// segment that holds the header.
    pub fn image_base(&self) -> Option<u64> {
        self.base
    }

    /// The place of the segment that holds an address.
    pub fn segment_at(&self, address: u64) -> Option<usize> {
        let place = last_before(&self.segment_starts, address)?;
        let segment = self.segments.get(place)?;
        (address - segment.address < segment.memory_size).then_some(place)
    }

    /// The place of the section that holds an address.
    pub fn section_at(&self, address: u64) -> Option<usize> {
        let place = last_before(&self.section_starts, address)?;
        let section = self.sections.get(place)?;
        (address - section.address < section.size).then_some(place)
    }

    /// The sections of a segment.
    pub fn of(&self, segment: &Segment<'a>) -> &[Section<'a>] {
        let (start, count) = segment.sections;
        let (start, end) = (start as usize, start.saturating_add(count) as usize);
        self.sections.get(start..end).unwrap_or_default()
    }

    /// The first section of that name.
    pub fn section(&self, segment: &[u8], name: &[u8]) -> Option<&Section<'a>> {
        self.sections
            .iter()
            .find(|section| section.segment == segment && section.name == name)
    }
}

fn check_segment(image: &Image<'_>, segment: &Segment<'_>, notes: &mut Notes) {
    let at = image.file_offset(segment.command);
    let end = segment.offset.checked_add(segment.file_size);
    let debug = matches!(image.header.file_type, MH_DSYM | MH_DYLIB_STUB);
    if segment.file_size > 0 && end.is_none_or(|end| end > image.data.len()) && !debug {
        let reason = format!(
            "the segment is announced at offset {:#x} with {:#x} bytes, which is not inside the slice",
            image.file_offset(segment.offset),
            segment.file_size
        );
        notes.at("segment", at, reason);
    }
    if segment.file_size > segment.memory_size && image.header.file_type != MH_OBJECT {
        let reason = format!(
            "the segment has {:#x} bytes in the file and {:#x} in memory",
            segment.file_size, segment.memory_size
        );
        notes.at("segment", at, reason);
    }
    if segment.address.checked_add(segment.memory_size).is_none() {
        notes.at("segment", at, "its addresses go beyond 64 bits");
    }
}

fn read_section<'a>(
    image: &Image<'a>,
    command: u64,
    body: crate::binary::Bytes<'a>,
    at: u64,
    wide: bool,
) -> Option<Section<'a>> {
    let step = if wide { 80 } else { 68 };
    // All of it must be inside the command.
    body.get(at, step)?;
    let rest = at + if wide { 48 } else { 40 };
    let mut section = Section {
        header: command + at,
        name: name16(body.get(at, 16)?),
        segment: name16(body.get(at + 16, 16)?),
        address: body.word(at + 32, wide)?,
        size: body.word(at + if wide { 40 } else { 36 }, wide)?,
        offset: body.u32(rest)?,
        align: body.u32(rest + 4)?,
        relocations: body.u32(rest + 8)?,
        relocation_count: body.u32(rest + 12)?,
        flags: body.u32(rest + 16)?,
        reserved: [body.u32(rest + 20)?, body.u32(rest + 24)?],
        in_file: false,
    };
    let end = u64::from(section.offset).checked_add(section.size);
    section.in_file = !section.is_zero_fill()
        && section.offset > 0
        && section.size > 0
        && end.is_some_and(|end| end <= image.data.len());
    Some(section)
}
