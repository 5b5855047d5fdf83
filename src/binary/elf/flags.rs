//! `e_flags` by machine, as the processor supplements define them.

use super::header::Header;
use super::names::em;

type Bits = &'static [(u32, &'static str)];

/// Fields of several bits: mask, and what its values are called.
type Fields = &'static [(u32, &'static [(u32, &'static str)])];

const MIPS_BITS: Bits = &[
    (0x1, "EF_MIPS_NOREORDER"),
    (0x2, "EF_MIPS_PIC"),
    (0x4, "EF_MIPS_CPIC"),
    (0x8, "EF_MIPS_XGOT"),
    (0x10, "EF_MIPS_UCODE"),
    (0x20, "EF_MIPS_ABI2"),
    (0x80, "EF_MIPS_OPTIONS_FIRST"),
    (0x100, "EF_MIPS_32BITMODE"),
    (0x200, "EF_MIPS_FP64"),
    (0x400, "EF_MIPS_NAN2008"),
];
const MIPS_FIELDS: Fields = &[
    (
        0xF000,
        &[
            (0x1000, "EF_MIPS_ABI_O32"),
            (0x2000, "EF_MIPS_ABI_O64"),
            (0x3000, "EF_MIPS_ABI_EABI32"),
            (0x4000, "EF_MIPS_ABI_EABI64"),
        ],
    ),
    (
        0x00FF_0000,
        &[
            (0x0081_0000, "EF_MIPS_MACH_3900"),
            (0x0082_0000, "EF_MIPS_MACH_4010"),
            (0x0083_0000, "EF_MIPS_MACH_4100"),
            (0x0084_0000, "EF_MIPS_MACH_ALLEGREX"),
            (0x0085_0000, "EF_MIPS_MACH_4650"),
            (0x0087_0000, "EF_MIPS_MACH_4120"),
            (0x0088_0000, "EF_MIPS_MACH_4111"),
            (0x008A_0000, "EF_MIPS_MACH_SB1"),
            (0x008B_0000, "EF_MIPS_MACH_OCTEON"),
            (0x008C_0000, "EF_MIPS_MACH_XLR"),
            (0x008D_0000, "EF_MIPS_MACH_OCTEON2"),
            (0x008E_0000, "EF_MIPS_MACH_OCTEON3"),
            (0x0091_0000, "EF_MIPS_MACH_5400"),
            (0x0092_0000, "EF_MIPS_MACH_5900"),
            (0x0093_0000, "EF_MIPS_MACH_IAMR2"),
            (0x0098_0000, "EF_MIPS_MACH_5500"),
            (0x0099_0000, "EF_MIPS_MACH_9000"),
            (0x00A0_0000, "EF_MIPS_MACH_LS2E"),
            (0x00A1_0000, "EF_MIPS_MACH_LS2F"),
            (0x00A2_0000, "EF_MIPS_MACH_GS464"),
            (0x00A3_0000, "EF_MIPS_MACH_GS464E"),
            (0x00A4_0000, "EF_MIPS_MACH_GS264E"),
        ],
    ),
    (
        0x0F00_0000,
        &[
            (0x0200_0000, "EF_MIPS_MICROMIPS"),
            (0x0400_0000, "EF_MIPS_ARCH_ASE_M16"),
            (0x0800_0000, "EF_MIPS_ARCH_ASE_MDMX"),
        ],
    ),
    (
        0xF000_0000,
        &[
            (0x0000_0000, "EF_MIPS_ARCH_1"),
            (0x1000_0000, "EF_MIPS_ARCH_2"),
            (0x2000_0000, "EF_MIPS_ARCH_3"),
            (0x3000_0000, "EF_MIPS_ARCH_4"),
            (0x4000_0000, "EF_MIPS_ARCH_5"),
            (0x5000_0000, "EF_MIPS_ARCH_32"),
            (0x6000_0000, "EF_MIPS_ARCH_64"),
            (0x7000_0000, "EF_MIPS_ARCH_32R2"),
            (0x8000_0000, "EF_MIPS_ARCH_64R2"),
            (0x9000_0000, "EF_MIPS_ARCH_32R6"),
            (0xA000_0000, "EF_MIPS_ARCH_64R6"),
        ],
    ),
];

const ARM_VERSIONS: Fields = &[(
    0xFF00_0000,
    &[
        (0x0000_0000, "EF_ARM_EABI_UNKNOWN"),
        (0x0100_0000, "EF_ARM_EABI_VER1"),
        (0x0200_0000, "EF_ARM_EABI_VER2"),
        (0x0300_0000, "EF_ARM_EABI_VER3"),
        (0x0400_0000, "EF_ARM_EABI_VER4"),
        (0x0500_0000, "EF_ARM_EABI_VER5"),
    ],
)];
/// Bits that do not depend on the version.
const ARM_BITS: Bits = &[
    (0x1, "EF_ARM_RELEXEC"),
    (0x40_0000, "EF_ARM_LE8"),
    (0x80_0000, "EF_ARM_BE8"),
];
const ARM_V0: Bits = &[
    (0x4, "EF_ARM_INTERWORK"),
    (0x8, "EF_ARM_APCS_26"),
    (0x10, "EF_ARM_APCS_FLOAT"),
    (0x20, "EF_ARM_PIC"),
    (0x40, "EF_ARM_ALIGN8"),
    (0x80, "EF_ARM_NEW_ABI"),
    (0x100, "EF_ARM_OLD_ABI"),
    (0x200, "EF_ARM_SOFT_FLOAT"),
    (0x400, "EF_ARM_VFP_FLOAT"),
    (0x800, "EF_ARM_MAVERICK_FLOAT"),
];
const ARM_V1: Bits = &[(0x4, "EF_ARM_SYMSARESORTED")];
const ARM_V2: Bits = &[
    (0x4, "EF_ARM_SYMSARESORTED"),
    (0x8, "EF_ARM_DYNSYMSUSESEGIDX"),
    (0x10, "EF_ARM_MAPSYMSFIRST"),
];
const ARM_V5: Bits = &[
    (0x200, "EF_ARM_ABI_FLOAT_SOFT"),
    (0x400, "EF_ARM_ABI_FLOAT_HARD"),
];

const RISCV_BITS: Bits = &[
    (0x1, "EF_RISCV_RVC"),
    (0x8, "EF_RISCV_RVE"),
    (0x10, "EF_RISCV_TSO"),
];
const RISCV_FIELDS: Fields = &[(
    0x6,
    &[
        (0, "EF_RISCV_FLOAT_ABI_SOFT"),
        (2, "EF_RISCV_FLOAT_ABI_SINGLE"),
        (4, "EF_RISCV_FLOAT_ABI_DOUBLE"),
        (6, "EF_RISCV_FLOAT_ABI_QUAD"),
    ],
)];

const LOONGARCH_FIELDS: Fields = &[
    (
        0x7,
        &[
            (1, "EF_LOONGARCH_ABI_SOFT_FLOAT"),
            (2, "EF_LOONGARCH_ABI_SINGLE_FLOAT"),
            (3, "EF_LOONGARCH_ABI_DOUBLE_FLOAT"),
        ],
    ),
    (
        0xC0,
        &[
            (0x00, "EF_LOONGARCH_OBJABI_V0"),
            (0x40, "EF_LOONGARCH_OBJABI_V1"),
        ],
    ),
];

const PPC_BITS: Bits = &[
    (0x8000_0000, "EF_PPC_EMB"),
    (0x1_0000, "EF_PPC_RELOCATABLE"),
    (0x8000, "EF_PPC_RELOCATABLE_LIB"),
];
const PPC64_FIELDS: Fields = &[(
    0x3,
    &[
        (0, "EF_PPC64_ABI_UNSPECIFIED"),
        (1, "EF_PPC64_ABI_V1"),
        (2, "EF_PPC64_ABI_V2"),
    ],
)];

const SPARC_BITS: Bits = &[
    (0x100, "EF_SPARC_32PLUS"),
    (0x200, "EF_SPARC_SUN_US1"),
    (0x400, "EF_SPARC_HAL_R1"),
    (0x800, "EF_SPARC_SUN_US3"),
    (0x80_0000, "EF_SPARC_LEDATA"),
];
const SPARCV9_FIELDS: Fields = &[(
    0x3,
    &[
        (0, "EF_SPARCV9_TSO"),
        (1, "EF_SPARCV9_PSO"),
        (2, "EF_SPARCV9_RMO"),
    ],
)];

const S390_BITS: Bits = &[(0x1, "EF_S390_HIGH_GPRS")];

const M68K_FIELDS: Fields = &[
    (
        0xF,
        &[
            (1, "EF_M68K_CF_ISA_A_NODIV"),
            (2, "EF_M68K_CF_ISA_A"),
            (3, "EF_M68K_CF_ISA_A_PLUS"),
            (4, "EF_M68K_CF_ISA_B_NOUSP"),
            (5, "EF_M68K_CF_ISA_B"),
            (6, "EF_M68K_CF_ISA_C"),
            (7, "EF_M68K_CF_ISA_C_NODIV"),
        ],
    ),
    (
        0x30,
        &[
            (0x10, "EF_M68K_CF_MAC"),
            (0x20, "EF_M68K_CF_EMAC"),
            (0x30, "EF_M68K_CF_EMAC_B"),
        ],
    ),
];
const M68K_BITS: Bits = &[
    (0x40, "EF_M68K_CF_FLOAT"),
    (0x0081_0000, "EF_M68K_CPU32"),
    (0x0100_0000, "EF_M68K_M68000"),
    (0x0200_0000, "EF_M68K_CFV4E"),
];

const SH_FIELDS: Fields = &[(
    0x1F,
    &[
        (0x1, "EF_SH1"),
        (0x2, "EF_SH2"),
        (0x3, "EF_SH3"),
        (0x4, "EF_SH_DSP"),
        (0x5, "EF_SH3_DSP"),
        (0x6, "EF_SH4AL_DSP"),
        (0x8, "EF_SH3E"),
        (0x9, "EF_SH4"),
        (0xA, "EF_SH5"),
        (0xB, "EF_SH2E"),
        (0xC, "EF_SH4A"),
        (0xD, "EF_SH2A"),
        (0x10, "EF_SH4_NOFPU"),
        (0x11, "EF_SH4A_NOFPU"),
        (0x12, "EF_SH4_NOMMU_NOFPU"),
        (0x13, "EF_SH2A_NOFPU"),
        (0x14, "EF_SH3_NOMMU"),
        (0x15, "EF_SH2A_SH4_NOFPU"),
        (0x16, "EF_SH2A_SH3_NOFPU"),
        (0x17, "EF_SH2A_SH4"),
        (0x18, "EF_SH2A_SH3E"),
    ],
)];
const SH_BITS: Bits = &[(0x100, "EF_SH_PIC"), (0x8000, "EF_SH_FDPIC")];

const IA64_BITS: Bits = &[
    (0x1, "EF_IA_64_TRAPNIL"),
    (0x4, "EF_IA_64_EXT"),
    (0x8, "EF_IA_64_BE"),
    (0x10, "EF_IA_64_ABI64"),
    (0x20, "EF_IA_64_REDUCEDFP"),
    (0x40, "EF_IA_64_CONS_GP"),
    (0x80, "EF_IA_64_NOFUNCDESC_CONS_GP"),
    (0x100, "EF_IA_64_ABSOLUTE"),
];

const PARISC_BITS: Bits = &[
    (0x1_0000, "EF_PARISC_TRAPNIL"),
    (0x2_0000, "EF_PARISC_EXT"),
    (0x4_0000, "EF_PARISC_LSB"),
    (0x8_0000, "EF_PARISC_WIDE"),
    (0x10_0000, "EF_PARISC_NO_KABP"),
    (0x40_0000, "EF_PARISC_LAZYSWAP"),
];
const PARISC_FIELDS: Fields = &[(
    0xFFFF,
    &[
        (0x020B, "EFA_PARISC_1_0"),
        (0x0210, "EFA_PARISC_1_1"),
        (0x0214, "EFA_PARISC_2_0"),
    ],
)];

const ALPHA_BITS: Bits = &[(0x1, "EF_ALPHA_32BIT"), (0x2, "EF_ALPHA_CANRELAX")];

const ARC_FIELDS: Fields = &[
    (
        0xFF,
        &[
            (2, "E_ARC_MACH_ARC600"),
            (3, "E_ARC_MACH_ARC700"),
            (4, "E_ARC_MACH_ARC601"),
            (5, "EF_ARC_CPU_ARCV2EM"),
            (6, "EF_ARC_CPU_ARCV2HS"),
        ],
    ),
    (
        0xF00,
        &[
            (0x000, "E_ARC_OSABI_ORIG"),
            (0x200, "E_ARC_OSABI_V2"),
            (0x300, "E_ARC_OSABI_V3"),
            (0x400, "E_ARC_OSABI_V4"),
        ],
    ),
];

const XTENSA_FIELDS: Fields = &[(0xF, &[(0, "E_XTENSA_MACH")])];
const XTENSA_BITS: Bits = &[(0x100, "EF_XTENSA_XT_INSN"), (0x200, "EF_XTENSA_XT_LIT")];

const AVR_FIELDS: Fields = &[(
    0x7F,
    &[
        (1, "E_AVR_MACH_AVR1"),
        (2, "E_AVR_MACH_AVR2"),
        (25, "E_AVR_MACH_AVR25"),
        (3, "E_AVR_MACH_AVR3"),
        (31, "E_AVR_MACH_AVR31"),
        (35, "E_AVR_MACH_AVR35"),
        (4, "E_AVR_MACH_AVR4"),
        (5, "E_AVR_MACH_AVR5"),
        (51, "E_AVR_MACH_AVR51"),
        (6, "E_AVR_MACH_AVR6"),
        (100, "E_AVR_MACH_AVRTINY"),
        (101, "E_AVR_MACH_XMEGA1"),
        (102, "E_AVR_MACH_XMEGA2"),
        (103, "E_AVR_MACH_XMEGA3"),
        (104, "E_AVR_MACH_XMEGA4"),
        (105, "E_AVR_MACH_XMEGA5"),
        (106, "E_AVR_MACH_XMEGA6"),
        (107, "E_AVR_MACH_XMEGA7"),
    ],
)];
const AVR_BITS: Bits = &[(0x80, "EF_AVR_LINKRELAX_PREPARED")];

const CSKY_FIELDS: Fields = &[(
    0xF000_0000,
    &[
        (0x1000_0000, "EF_CSKY_ABIV1"),
        (0x2000_0000, "EF_CSKY_ABIV2"),
    ],
)];

/// The names of what is set, bits first; bits without a name as one number.
pub(super) fn names(header: &Header) -> Vec<String> {
    let flags = header.flags;
    let (own, fields): (Vec<Bits>, &[Fields]) = match header.machine {
        em::MIPS | em::MIPS_RS3_LE => (vec![MIPS_BITS], &[MIPS_FIELDS]),
        em::ARM => {
            let version = match flags >> 24 {
                0 => ARM_V0,
                1 => ARM_V1,
                2 => ARM_V2,
                5 => ARM_V5,
                _ => &[],
            };
            (vec![ARM_BITS, version], &[ARM_VERSIONS])
        }
        em::RISCV => (vec![RISCV_BITS], &[RISCV_FIELDS]),
        em::LOONGARCH => (vec![], &[LOONGARCH_FIELDS]),
        em::PPC => (vec![PPC_BITS], &[]),
        em::PPC64 => (vec![], &[PPC64_FIELDS]),
        em::SPARC | em::SPARC32PLUS => (vec![SPARC_BITS], &[]),
        em::SPARCV9 => (vec![SPARC_BITS], &[SPARCV9_FIELDS]),
        em::S390 => (vec![S390_BITS], &[]),
        em::M68K => (vec![M68K_BITS], &[M68K_FIELDS]),
        em::SH => (vec![SH_BITS], &[SH_FIELDS]),
        em::IA_64 => (vec![IA64_BITS], &[]),
        em::PARISC => (vec![PARISC_BITS], &[PARISC_FIELDS]),
        em::ALPHA => (vec![ALPHA_BITS], &[]),
        em::ARC_COMPACT | em::ARCV2 => (vec![], &[ARC_FIELDS]),
        em::XTENSA => (vec![XTENSA_BITS], &[XTENSA_FIELDS]),
        em::AVR => (vec![AVR_BITS], &[AVR_FIELDS]),
        em::CSKY => (vec![], &[CSKY_FIELDS]),
        _ => (vec![], &[]),
    };
    let mut rest = flags;
    let mut names = Vec::new();
    for table in own {
        // A name of several bits is said only where all are set.
        for &(bit, name) in table.iter().filter(|(bit, _)| flags & bit == *bit) {
            names.push(name.to_owned());
            rest &= !bit;
        }
    }
    for &(mask, values) in fields.iter().copied().flatten() {
        if let Some(&(value, name)) = values.iter().find(|&&(value, _)| flags & mask == value) {
            names.push(name.to_owned());
            rest &= !value;
        }
    }
    if rest != 0 {
        names.push(format!("{rest:#x}"));
    }
    names
}
