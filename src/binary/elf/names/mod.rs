//! Names of numbers, as the specifications spell them.

mod machines;
pub(super) mod notes;
mod relocations;
mod tags;
mod types;

use super::Elf;
use crate::binary::layout::rows::Symbolic;

pub(super) use machines::MACHINES;
pub(super) use relocations::RelocationNames;

/// Machines that more than one table is chosen by (`e_machine`).
pub(super) mod em {
    pub const SPARC: u16 = 2;
    pub const I386: u16 = 3;
    pub const M68K: u16 = 4;
    pub const IAMCU: u16 = 6;
    pub const MIPS: u16 = 8;
    pub const MIPS_RS3_LE: u16 = 10;
    pub const PARISC: u16 = 15;
    pub const SPARC32PLUS: u16 = 18;
    pub const PPC: u16 = 20;
    pub const PPC64: u16 = 21;
    pub const S390: u16 = 22;
    pub const ARM: u16 = 40;
    pub const SH: u16 = 42;
    pub const SPARCV9: u16 = 43;
    pub const IA_64: u16 = 50;
    pub const X86_64: u16 = 62;
    pub const AVR: u16 = 83;
    pub const ARC_COMPACT: u16 = 93;
    pub const XTENSA: u16 = 94;
    pub const MSP430: u16 = 105;
    pub const NIOS2: u16 = 113;
    pub const HEXAGON: u16 = 164;
    pub const AARCH64: u16 = 183;
    pub const ARCV2: u16 = 195;
    pub const RISCV: u16 = 243;
    pub const CSKY: u16 = 252;
    pub const LOONGARCH: u16 = 258;
    pub const ALPHA: u16 = 0x9026;
    pub const S390_OLD: u16 = 0xA390;
}

/// `EI_OSABI` of Solaris.
const SOLARIS: u8 = 6;

type Table = &'static [(u64, &'static str)];

fn first(value: u64, tables: &[Table]) -> Symbolic {
    tables
        .iter()
        .map(|table| Symbolic::of(value, table))
        .find(|found| matches!(found, Symbolic::Named(_)))
        .unwrap_or(Symbolic::Number(value))
}

/// `e_type`
pub(super) fn file(value: u16) -> Symbolic {
    Symbolic::of(value.into(), types::FILES)
}

/// `EI_OSABI`; numbers from 64 belong to the machine.
pub(super) fn system(value: u8, machine: u16) -> Symbolic {
    let name = match (machine, value) {
        (em::ARM, 64) => "ELFOSABI_ARM_AEABI",
        (em::ARM, 65) => "ELFOSABI_ARM_FDPIC",
        (em::ARM, 97) => "ELFOSABI_ARM",
        (224, 64) => "ELFOSABI_AMDGPU_HSA",
        (224, 65) => "ELFOSABI_AMDGPU_PAL",
        (224, 66) => "ELFOSABI_AMDGPU_MESA3D",
        (140, 64) => "ELFOSABI_C6000_ELFABI",
        (140, 65) => "ELFOSABI_C6000_LINUX",
        (em::PPC64, 102) => "ELFOSABI_CELL_LV2",
        _ => return Symbolic::of(value.into(), types::SYSTEMS),
    };
    Symbolic::Named(name)
}

/// `sh_type`
pub(super) fn section(value: u32, machine: u16) -> Symbolic {
    let own: Table = match machine {
        em::MIPS | em::MIPS_RS3_LE => types::SECTIONS_MIPS,
        em::ARM => types::SECTIONS_ARM,
        em::AARCH64 => types::SECTIONS_AARCH64,
        em::X86_64 => types::SECTIONS_X86_64,
        em::RISCV => types::SECTIONS_RISCV,
        em::IA_64 => types::SECTIONS_IA64,
        em::PARISC => types::SECTIONS_PARISC,
        em::ALPHA => types::SECTIONS_ALPHA,
        em::HEXAGON => types::SECTIONS_HEXAGON,
        em::MSP430 => types::SECTIONS_MSP430,
        em::CSKY => types::SECTIONS_CSKY,
        em::ARC_COMPACT | em::ARCV2 => types::SECTIONS_ARC,
        _ => &[],
    };
    first(value.into(), &[own, types::SECTIONS])
}

/// `p_type`
pub(super) fn segment(value: u32, machine: u16) -> Symbolic {
    let own: Table = match machine {
        em::MIPS | em::MIPS_RS3_LE => types::SEGMENTS_MIPS,
        em::ARM => types::SEGMENTS_ARM,
        em::AARCH64 => types::SEGMENTS_AARCH64,
        em::RISCV => types::SEGMENTS_RISCV,
        em::IA_64 => types::SEGMENTS_IA64,
        em::PARISC => types::SEGMENTS_PARISC,
        em::S390 => types::SEGMENTS_S390,
        _ => &[],
    };
    first(value.into(), &[own, types::SEGMENTS])
}

/// `d_tag`
pub(super) fn tag(value: u64, elf: &Elf<'_>) -> Symbolic {
    let own: Table = match elf.header.machine {
        em::MIPS | em::MIPS_RS3_LE => tags::MIPS,
        em::AARCH64 => tags::AARCH64,
        em::PPC => tags::PPC,
        em::PPC64 => tags::PPC64,
        em::SPARC | em::SPARC32PLUS | em::SPARCV9 => tags::SPARC,
        em::ALPHA => tags::ALPHA,
        em::IA_64 => tags::IA64,
        em::RISCV => tags::RISCV,
        em::X86_64 => tags::X86_64,
        em::NIOS2 => tags::NIOS2,
        _ => &[],
    };
    let system: Table = match elf.header.osabi {
        SOLARIS => tags::SOLARIS,
        _ => &[],
    };
    first(value, &[own, system, tags::TAGS])
}

/// The names of the bits of a tag that holds flags.
pub(super) fn tag_flags(tag: u64, value: u64) -> Option<Vec<&'static str>> {
    let table = match tag {
        super::dynamic::dt::FLAGS => tags::FLAGS,
        super::dynamic::dt::FLAGS_1 => tags::FLAGS_1,
        super::dynamic::dt::GNU_FLAGS_1 => tags::GNU_FLAGS_1,
        _ => return None,
    };
    Some(bits(value, table))
}

/// The names of the bits of `value` that have one.
pub(super) fn bits(value: u64, table: Table) -> Vec<&'static str> {
    table
        .iter()
        .filter(|&&(bit, _)| value & bit != 0)
        .map(|&(_, name)| name)
        .collect()
}

/// The binding in `st_info`.
pub(super) fn binding(value: u8) -> Symbolic {
    Symbolic::Named(match value {
        0 => "STB_LOCAL",
        1 => "STB_GLOBAL",
        2 => "STB_WEAK",
        10 => "STB_GNU_UNIQUE",
        13 => "STB_LOPROC",
        15 => "STB_HIPROC",
        12 => "STB_HIOS",
        other => return Symbolic::Number(other.into()),
    })
}

/// The type in `st_info`.
pub(super) fn symbol_type(value: u8, machine: u16) -> Symbolic {
    Symbolic::Named(match (value, machine) {
        (0, _) => "STT_NOTYPE",
        (1, _) => "STT_OBJECT",
        (2, _) => "STT_FUNC",
        (3, _) => "STT_SECTION",
        (4, _) => "STT_FILE",
        (5, _) => "STT_COMMON",
        (6, _) => "STT_TLS",
        (8, _) => "STT_RELC",
        (9, _) => "STT_SRELC",
        (10, _) => "STT_GNU_IFUNC",
        (12, _) => "STT_HIOS",
        (13, em::ARM) => "STT_ARM_TFUNC",
        (15, em::ARM) => "STT_ARM_16BIT",
        (13, em::SPARC | em::SPARC32PLUS | em::SPARCV9) => "STT_SPARC_REGISTER",
        (13, em::PARISC) => "STT_PARISC_MILLICODE",
        (13, _) => "STT_LOPROC",
        (15, _) => "STT_HIPROC",
        (other, _) => return Symbolic::Number(other.into()),
    })
}

/// The visibility in `st_other`.
pub(super) fn visibility(value: u8) -> Symbolic {
    Symbolic::Named(match value & 3 {
        0 => "STV_DEFAULT",
        1 => "STV_INTERNAL",
        2 => "STV_HIDDEN",
        _ => "STV_PROTECTED",
    })
}

/// `st_shndx`: an index, or a reserved one's name.
pub(super) fn section_index(value: u16, machine: u16) -> Symbolic {
    let name = match (value, machine) {
        (0, _) => "SHN_UNDEF",
        (0xFFF1, _) => "SHN_ABS",
        (0xFFF2, _) => "SHN_COMMON",
        (0xFFFF, _) => "SHN_XINDEX",
        (0xFF00, em::MIPS | em::MIPS_RS3_LE) => "SHN_MIPS_ACOMMON",
        (0xFF01, em::MIPS | em::MIPS_RS3_LE) => "SHN_MIPS_TEXT",
        (0xFF02, em::MIPS | em::MIPS_RS3_LE) => "SHN_MIPS_DATA",
        (0xFF03, em::MIPS | em::MIPS_RS3_LE) => "SHN_MIPS_SCOMMON",
        (0xFF04, em::MIPS | em::MIPS_RS3_LE) => "SHN_MIPS_SUNDEFINED",
        (0xFF00, em::IA_64) => "SHN_IA_64_ANSI_COMMON",
        (0xFF00, em::PARISC) => "SHN_PARISC_ANSI_COMMON",
        (0xFF01, em::PARISC) => "SHN_PARISC_HUGE_COMMON",
        (0xFF02, em::X86_64) => "SHN_X86_64_LCOMMON",
        _ => return Symbolic::Number(value.into()),
    };
    Symbolic::Named(name)
}

/// The bits of `st_other` beside the visibility.
pub(super) fn symbol_other(other: u8, machine: u16) -> Vec<&'static str> {
    let table: Table = match machine {
        em::AARCH64 => &[(0x80, "STO_AARCH64_VARIANT_PCS")],
        em::RISCV => &[(0x80, "STO_RISCV_VARIANT_CC")],
        em::ALPHA => &[(0x80, "STO_ALPHA_NOPV"), (0x8, "STO_ALPHA_STD_GPLOAD")],
        em::MIPS | em::MIPS_RS3_LE => match other & 0xFC {
            0xF0 => return vec!["STO_MIPS16"],
            _ => &[
                (0x4, "STO_OPTIONAL"),
                (0x8, "STO_MIPS_PLT"),
                (0x20, "STO_MIPS_PIC"),
                (0x80, "STO_MICROMIPS"),
            ],
        },
        _ => &[],
    };
    bits(other.into(), table)
}
