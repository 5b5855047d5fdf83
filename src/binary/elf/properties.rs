//! Properties of a program (`NT_GNU_PROPERTY_TYPE_0`): the Linux gABI
//! supplement, the x86-64 psABI and AAELF64.

use super::Elf;
use super::fact::{HexBytes, rows};
use super::names::{bits, em};
use crate::binary::Bytes;
use crate::binary::layout::rows::{Hex, Range, Symbolic};

rows! {
    /// A property.
    struct Property {
        /// The names of the bits that are set.
        bit_names: Option<Vec<&'static str>>,
        data: String,
        location: Range,
        kind as "type": Symbolic,
        type_number: Hex,
    }
}

type Table = &'static [(u64, &'static str)];

const EVERY: Table = &[
    (1, "GNU_PROPERTY_STACK_SIZE"),
    (2, "GNU_PROPERTY_NO_COPY_ON_PROTECTED"),
    (3, "GNU_PROPERTY_MEMORY_SEAL"),
    (0xB000_8000, "GNU_PROPERTY_1_NEEDED"),
];
const X86: Table = &[
    (0xC000_0000, "GNU_PROPERTY_X86_COMPAT_ISA_1_USED"),
    (0xC000_0001, "GNU_PROPERTY_X86_COMPAT_ISA_1_NEEDED"),
    (0xC000_0002, "GNU_PROPERTY_X86_FEATURE_1_AND"),
    (0xC000_8000, "GNU_PROPERTY_X86_COMPAT_2_ISA_1_NEEDED"),
    (0xC000_8001, "GNU_PROPERTY_X86_FEATURE_2_NEEDED"),
    (0xC000_8002, "GNU_PROPERTY_X86_ISA_1_NEEDED"),
    (0xC001_0000, "GNU_PROPERTY_X86_COMPAT_2_ISA_1_USED"),
    (0xC001_0001, "GNU_PROPERTY_X86_FEATURE_2_USED"),
    (0xC001_0002, "GNU_PROPERTY_X86_ISA_1_USED"),
];
const AARCH64: Table = &[
    (0xC000_0000, "GNU_PROPERTY_AARCH64_FEATURE_1_AND"),
    (0xC000_0001, "GNU_PROPERTY_AARCH64_FEATURE_PAUTH"),
];
const RISCV: Table = &[(0xC000_0000, "GNU_PROPERTY_RISCV_FEATURE_1_AND")];

const NEEDED_BITS: Table = &[(1, "GNU_PROPERTY_1_NEEDED_INDIRECT_EXTERN_ACCESS")];
const X86_FEATURES: Table = &[
    (1, "GNU_PROPERTY_X86_FEATURE_1_IBT"),
    (2, "GNU_PROPERTY_X86_FEATURE_1_SHSTK"),
    (4, "GNU_PROPERTY_X86_FEATURE_1_LAM_U48"),
    (8, "GNU_PROPERTY_X86_FEATURE_1_LAM_U57"),
];
const X86_FEATURES_2: Table = &[
    (0x1, "GNU_PROPERTY_X86_FEATURE_2_X86"),
    (0x2, "GNU_PROPERTY_X86_FEATURE_2_X87"),
    (0x4, "GNU_PROPERTY_X86_FEATURE_2_MMX"),
    (0x8, "GNU_PROPERTY_X86_FEATURE_2_XMM"),
    (0x10, "GNU_PROPERTY_X86_FEATURE_2_YMM"),
    (0x20, "GNU_PROPERTY_X86_FEATURE_2_ZMM"),
    (0x40, "GNU_PROPERTY_X86_FEATURE_2_FXSR"),
    (0x80, "GNU_PROPERTY_X86_FEATURE_2_XSAVE"),
    (0x100, "GNU_PROPERTY_X86_FEATURE_2_XSAVEOPT"),
    (0x200, "GNU_PROPERTY_X86_FEATURE_2_XSAVEC"),
    (0x400, "GNU_PROPERTY_X86_FEATURE_2_TMM"),
    (0x800, "GNU_PROPERTY_X86_FEATURE_2_MASK"),
];
const X86_ISA: Table = &[
    (1, "GNU_PROPERTY_X86_ISA_1_BASELINE"),
    (2, "GNU_PROPERTY_X86_ISA_1_V2"),
    (4, "GNU_PROPERTY_X86_ISA_1_V3"),
    (8, "GNU_PROPERTY_X86_ISA_1_V4"),
];
const AARCH64_FEATURES: Table = &[
    (1, "GNU_PROPERTY_AARCH64_FEATURE_1_BTI"),
    (2, "GNU_PROPERTY_AARCH64_FEATURE_1_PAC"),
    (4, "GNU_PROPERTY_AARCH64_FEATURE_1_GCS"),
];
const RISCV_FEATURES: Table = &[
    (1, "GNU_PROPERTY_RISCV_FEATURE_1_CFI_LP_UNLABELED"),
    (2, "GNU_PROPERTY_RISCV_FEATURE_1_CFI_SS"),
    (4, "GNU_PROPERTY_RISCV_FEATURE_1_CFI_LP_FUNC_SIG"),
];

fn bit_names(name: &str) -> Option<Table> {
    Some(match name {
        "GNU_PROPERTY_1_NEEDED" => NEEDED_BITS,
        "GNU_PROPERTY_X86_FEATURE_1_AND" => X86_FEATURES,
        "GNU_PROPERTY_X86_FEATURE_2_NEEDED" | "GNU_PROPERTY_X86_FEATURE_2_USED" => X86_FEATURES_2,
        "GNU_PROPERTY_X86_ISA_1_NEEDED" | "GNU_PROPERTY_X86_ISA_1_USED" => X86_ISA,
        "GNU_PROPERTY_AARCH64_FEATURE_1_AND" => AARCH64_FEATURES,
        "GNU_PROPERTY_RISCV_FEATURE_1_AND" => RISCV_FEATURES,
        _ => return None,
    })
}

/// The properties in a descriptor that stands at `offset`, and the bits of
/// the one that tells protections of the processor.
pub(super) fn read(
    elf: &Elf<'_>,
    bytes: Bytes<'_>,
    offset: u64,
) -> (Vec<Property>, Option<(u32, Range)>) {
    let own = match elf.header.machine {
        em::X86_64 | em::I386 | em::IAMCU => X86,
        em::AARCH64 => AARCH64,
        em::RISCV => RISCV,
        _ => &[],
    };
    let (mut rows, mut features) = (Vec::new(), None);
    let mut at = 0;
    while let Some((kind, size)) = bytes.u32(at).zip(bytes.u32(at + 4)) {
        let Some(data) = bytes.get(at + 8, size.into()) else {
            break;
        };
        let location = Range {
            offset: offset + at + 8,
            bytes: size.into(),
        };
        let name = match Symbolic::of(kind.into(), own) {
            Symbolic::Number(_) => Symbolic::of(kind.into(), EVERY),
            named => named,
        };
        let value = bytes.u32(at + 8).filter(|_| size >= 4);
        let table = match name {
            Symbolic::Named(name) => bit_names(name),
            Symbolic::Number(_) => None,
        };
        if let Symbolic::Named(name) = name
            && name.ends_with("_FEATURE_1_AND")
            && let Some(value) = value
        {
            features = Some((value, location));
        }
        rows.push(Property {
            bit_names: table
                .zip(value)
                .map(|(table, value)| bits(value.into(), table)),
            data: HexBytes(data).text(),
            location,
            kind: name,
            type_number: Hex(kind.into()),
        });
        at = (at + 8 + u64::from(size)).next_multiple_of(elf.word());
    }
    (rows, features)
}
