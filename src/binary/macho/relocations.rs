//! Relocations of objects (`mach-o/reloc.h`), and of old images and kernel
//! extensions (`LC_DYSYMTAB`).

use super::arch::{ARM, ARM64, ARM64_32, Cpu, I386, POWERPC, POWERPC64, X86_64};
use super::budget::Budget;
use super::image::MH_OBJECT;
use super::macho::MachO;
use crate::binary::ByteOrder;
use crate::binary::layout::facts::RelocationType;
use crate::binary::layout::rows::{Range, Relocation, Symbolic, Target};
use crate::binary::{Bytes, Notes};
use crate::json::{WriteJson, Writer};

const GENERIC: &[(u64, &str)] = &[
    (0, "GENERIC_RELOC_VANILLA"),
    (1, "GENERIC_RELOC_PAIR"),
    (2, "GENERIC_RELOC_SECTDIFF"),
    (3, "GENERIC_RELOC_PB_LA_PTR"),
    (4, "GENERIC_RELOC_LOCAL_SECTDIFF"),
    (5, "GENERIC_RELOC_TLV"),
];
const X86_64_TYPES: &[(u64, &str)] = &[
    (0, "X86_64_RELOC_UNSIGNED"),
    (1, "X86_64_RELOC_SIGNED"),
    (2, "X86_64_RELOC_BRANCH"),
    (3, "X86_64_RELOC_GOT_LOAD"),
    (4, "X86_64_RELOC_GOT"),
    (5, "X86_64_RELOC_SUBTRACTOR"),
    (6, "X86_64_RELOC_SIGNED_1"),
    (7, "X86_64_RELOC_SIGNED_2"),
    (8, "X86_64_RELOC_SIGNED_4"),
    (9, "X86_64_RELOC_TLV"),
];
const ARM_TYPES: &[(u64, &str)] = &[
    (0, "ARM_RELOC_VANILLA"),
    (1, "ARM_RELOC_PAIR"),
    (2, "ARM_RELOC_SECTDIFF"),
    (3, "ARM_RELOC_LOCAL_SECTDIFF"),
    (4, "ARM_RELOC_PB_LA_PTR"),
    (5, "ARM_RELOC_BR24"),
    (6, "ARM_THUMB_RELOC_BR22"),
    (7, "ARM_THUMB_32BIT_BRANCH"),
    (8, "ARM_RELOC_HALF"),
    (9, "ARM_RELOC_HALF_SECTDIFF"),
];
const ARM64_TYPES: &[(u64, &str)] = &[
    (0, "ARM64_RELOC_UNSIGNED"),
    (1, "ARM64_RELOC_SUBTRACTOR"),
    (2, "ARM64_RELOC_BRANCH26"),
    (3, "ARM64_RELOC_PAGE21"),
    (4, "ARM64_RELOC_PAGEOFF12"),
    (5, "ARM64_RELOC_GOT_LOAD_PAGE21"),
    (6, "ARM64_RELOC_GOT_LOAD_PAGEOFF12"),
    (7, "ARM64_RELOC_POINTER_TO_GOT"),
    (8, "ARM64_RELOC_TLVP_LOAD_PAGE21"),
    (9, "ARM64_RELOC_TLVP_LOAD_PAGEOFF12"),
    (10, "ARM64_RELOC_ADDEND"),
    (11, "ARM64_RELOC_AUTHENTICATED_POINTER"),
];
const PPC_TYPES: &[(u64, &str)] = &[
    (0, "PPC_RELOC_VANILLA"),
    (1, "PPC_RELOC_PAIR"),
    (2, "PPC_RELOC_BR14"),
    (3, "PPC_RELOC_BR24"),
    (4, "PPC_RELOC_HI16"),
    (5, "PPC_RELOC_LO16"),
    (6, "PPC_RELOC_HA16"),
    (7, "PPC_RELOC_LO14"),
    (8, "PPC_RELOC_SECTDIFF"),
    (9, "PPC_RELOC_PB_LA_PTR"),
    (10, "PPC_RELOC_HI16_SECTDIFF"),
    (11, "PPC_RELOC_LO16_SECTDIFF"),
    (12, "PPC_RELOC_HA16_SECTDIFF"),
    (13, "PPC_RELOC_JBSR"),
    (14, "PPC_RELOC_LO14_SECTDIFF"),
    (15, "PPC_RELOC_LOCAL_SECTDIFF"),
];

/// The names of relocation types of a processor.
fn types(cpu: Cpu) -> &'static [(u64, &'static str)] {
    match cpu.kind {
        I386 => GENERIC,
        X86_64 => X86_64_TYPES,
        ARM => ARM_TYPES,
        ARM64 | ARM64_32 => ARM64_TYPES,
        POWERPC | POWERPC64 => PPC_TYPES,
        _ => &[],
    }
}

/// An entry taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The section it applies to; of the whole image: the one at the address.
    pub section: u64,
    /// Its place in the table.
    pub index: u64,
    /// Where it stands in the file.
    pub location: Range,
    /// Where it applies.
    pub target: Target,
    /// `r_address`
    pub address: u32,
    /// `r_type`
    pub kind: u8,
    /// `r_length`: the size of what is changed, as a power of two.
    pub length: u8,
    /// `r_pcrel`
    pub pc_relative: bool,
    /// What it refers to.
    pub refers: Refers,
}

/// What a relocation refers to.
#[derive(Clone, Copy, Debug)]
pub enum Refers {
    /// A symbol by its index.
    Symbol(u32),
    /// A section, from 1; 0 (`R_ABS`): nothing. Pairs and addends keep a
    /// number here.
    Section(u32),
    /// A scattered entry: the address of what it refers to.
    Scattered(u32),
}

/// All entries, of sections first, then external and local ones.
pub fn read(macho: &MachO<'_>, notes: &mut Notes) -> Vec<Entry> {
    let image = &macho.image;
    // Every entry of its own takes eight bytes.
    let mut budget = Budget::new(image.data.len() / 8);
    let mut entries = Vec::new();
    let base = image_base(macho);
    let mut table = |offset: u32, count: u32, section: Option<u64>, notes: &mut Notes| {
        let size = 8 * u64::from(count);
        let Some((offset, table)) = image.table("relocations", u64::from(offset), size, notes)
        else {
            return;
        };
        for index in 0..table.len() / 8 {
            if !budget.take(1) {
                let reason = "tables of relocations overlap; entries from here on are not told";
                let at = image.file_offset(offset + 8 * index);
                return notes.at("relocations", at, reason);
            }
            let location = image.range(offset + 8 * index, 8);
            let entry = entry(macho, table, index, section, base, location);
            entries.extend(entry);
        }
    };
    for (index, section) in macho.segments.sections.iter().enumerate() {
        let (offset, count) = (section.relocations, section.relocation_count);
        table(offset, count, Some(index as u64), notes);
    }
    if let Some(dysymtab) = &macho.dysymtab {
        for (offset, count) in [dysymtab.external, dysymtab.local] {
            table(offset, count, None, notes);
        }
    }
    entries
}

fn entry(
    macho: &MachO<'_>,
    table: Bytes<'_>,
    index: u64,
    section: Option<u64>,
    base: u64,
    location: Range,
) -> Option<Entry> {
    let (first, second) = (table.u32(8 * index)?, table.u32(8 * index + 4)?);
    let cpu = macho.image.header.cpu.kind;
    let scatters = !matches!(cpu, X86_64 | ARM64 | ARM64_32);
    let (address, kind, length, pc_relative, refers) = if scatters && first & 0x8000_0000 != 0 {
        (
            first & 0x00FF_FFFF,
            first >> 24 & 15,
            first >> 28 & 3,
            first >> 30 & 1,
            Refers::Scattered(second),
        )
    } else {
        // Bit fields stand in the order of the bytes.
        let (number, pc_relative, length, external, kind) = match table.order() {
            ByteOrder::Little => (
                second & 0x00FF_FFFF,
                second >> 24 & 1,
                second >> 25 & 3,
                second >> 27 & 1,
                second >> 28,
            ),
            ByteOrder::Big => (
                second >> 8,
                second >> 7 & 1,
                second >> 5 & 3,
                second >> 4 & 1,
                second & 15,
            ),
        };
        let refers = match external {
            0 => Refers::Section(number),
            _ => Refers::Symbol(number),
        };
        (first, kind, length, pc_relative, refers)
    };
    let (section, target) = match section {
        Some(section) if macho.image.header.file_type == MH_OBJECT => {
            let offset = u64::from(address);
            (section, Target::SectionOffset { section, offset })
        }
        Some(section) => (section, Target::Address(u64::from(address))),
        None => whole_image(macho, base, address),
    };
    Some(Entry {
        section,
        index,
        location,
        target,
        address,
        kind: kind as u8,
        length: length as u8,
        pc_relative: pc_relative != 0,
        refers,
    })
}

/// What entries of the whole image count from: the first segment; on 64 bit
/// processors the first that can be written to.
fn image_base(macho: &MachO<'_>) -> u64 {
    let segments = &macho.segments.segments;
    let writable = segments.iter().find(|segment| segment.initial & 2 != 0);
    match (macho.image.wide, writable) {
        (true, Some(segment)) => segment.address,
        _ => segments.first().map_or(0, |segment| segment.address),
    }
}

/// The section and address of an entry of the whole image.
fn whole_image(macho: &MachO<'_>, base: u64, address: u32) -> (u64, Target) {
    let at = base.wrapping_add(u64::from(address));
    let section = macho.segments.section_at(at);
    let section = section.unwrap_or(macho.segments.sections.len()) as u64;
    (section, Target::Address(at))
}

/// The rows of a layout.
pub fn rows(entries: &[Entry]) -> Vec<Relocation> {
    let row = |entry: &Entry| Relocation {
        section_index: entry.section,
        entry_index: entry.index,
        reported_offset: u64::from(entry.address),
        target: entry.target,
        location: entry.location,
        kind: u64::from(entry.kind),
        symbol_table_index: matches!(entry.refers, Refers::Symbol(_)).then_some(0),
        symbol_index: match entry.refers {
            Refers::Symbol(index) => u64::from(index),
            _ => 0,
        },
        addend: None,
    };
    entries.iter().map(row).collect()
}

/// Which types occur.
pub fn type_counts(entries: &[Entry], cpu: Cpu) -> Vec<RelocationType> {
    let mut counts = [0u64; 16];
    for entry in entries {
        if let Some(count) = counts.get_mut(usize::from(entry.kind)) {
            *count += 1;
        }
    }
    (0..)
        .zip(counts)
        .filter(|&(_, count)| count > 0)
        .map(|(kind, count)| RelocationType {
            kind,
            name: Symbolic::of(kind, types(cpu)),
            count,
        })
        .collect()
}

/// What a row of a layout has no members for.
impl WriteJson for Entry {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("length", 1u64 << self.length);
        w.member("pc_relative", self.pc_relative);
        w.key("refers_to");
        let (kind, number) = match self.refers {
            Refers::Symbol(number) => ("symbol", number),
            Refers::Section(number) => ("section", number),
            Refers::Scattered(number) => ("address", number),
        };
        w.string(kind);
        w.member("value", number);
        w.end_object();
    }
}
