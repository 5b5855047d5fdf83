//! Attributes of objects that machines define: `.ARM.attributes` and its like
//! ("Addenda to, and Errata in, the ABI for the Arm Architecture"; RISC-V
//! psABI; GNU), and `.MIPS.abiflags` (MIPS ABI supplement).

use super::fact::{Text, rows};
use super::names::em;
use super::{Budget, Elf, REPEATED, Symbolic};
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};

rows! {
    /// A row of `facts.elf.attributes`
    struct Attribute<'a> {
        location: Range,
        number: Option<u64>,
        scope: &'static str,
        tag: Symbolic,
        text: Option<Text<'a>>,
        vendor: Text<'a>,
    }

    /// `facts.elf.mips_abi_flags`
    struct MipsAbiFlags {
        ases: u64,
        cpr1_size: u64,
        cpr2_size: u64,
        flags_1: u64,
        flags_2: u64,
        fp_abi: u64,
        gpr_size: u64,
        isa_extension: u64,
        isa_level: u64,
        isa_revision: u64,
        location: Range,
        version: u64,
    }
}

/// Sections that hold attributes.
const SECTIONS: &[&[u8]] = &[
    b".ARM.attributes",
    b".riscv.attributes",
    b".gnu.attributes",
    b".csky.attributes",
    b".hexagon.attributes",
    b".MSP430.attributes",
    b".ARC.attributes",
];

const ARM: &[(u64, &str)] = &[
    (4, "Tag_CPU_raw_name"),
    (5, "Tag_CPU_name"),
    (6, "Tag_CPU_arch"),
    (7, "Tag_CPU_arch_profile"),
    (8, "Tag_ARM_ISA_use"),
    (9, "Tag_THUMB_ISA_use"),
    (10, "Tag_FP_arch"),
    (11, "Tag_WMMX_arch"),
    (12, "Tag_Advanced_SIMD_arch"),
    (13, "Tag_PCS_config"),
    (14, "Tag_ABI_PCS_R9_use"),
    (15, "Tag_ABI_PCS_RW_data"),
    (16, "Tag_ABI_PCS_RO_data"),
    (17, "Tag_ABI_PCS_GOT_use"),
    (18, "Tag_ABI_PCS_wchar_t"),
    (19, "Tag_ABI_FP_rounding"),
    (20, "Tag_ABI_FP_denormal"),
    (21, "Tag_ABI_FP_exceptions"),
    (22, "Tag_ABI_FP_user_exceptions"),
    (23, "Tag_ABI_FP_number_model"),
    (24, "Tag_ABI_align_needed"),
    (25, "Tag_ABI_align_preserved"),
    (26, "Tag_ABI_enum_size"),
    (27, "Tag_ABI_HardFP_use"),
    (28, "Tag_ABI_VFP_args"),
    (29, "Tag_ABI_WMMX_args"),
    (30, "Tag_ABI_optimization_goals"),
    (31, "Tag_ABI_FP_optimization_goals"),
    (32, "Tag_compatibility"),
    (34, "Tag_CPU_unaligned_access"),
    (36, "Tag_FP_HP_extension"),
    (38, "Tag_ABI_FP_16bit_format"),
    (42, "Tag_MPextension_use"),
    (44, "Tag_DIV_use"),
    (46, "Tag_DSP_extension"),
    (48, "Tag_MVE_arch"),
    (50, "Tag_PAC_extension"),
    (52, "Tag_BTI_extension"),
    (64, "Tag_nodefaults"),
    (65, "Tag_also_compatible_with"),
    (66, "Tag_T2EE_use"),
    (67, "Tag_conformance"),
    (68, "Tag_Virtualization_use"),
    (70, "Tag_MPextension_use_legacy"),
    (72, "Tag_FramePointer_use"),
    (74, "Tag_BTI_use"),
    (76, "Tag_PACRET_use"),
];
const RISCV: &[(u64, &str)] = &[
    (4, "Tag_RISCV_stack_align"),
    (5, "Tag_RISCV_arch"),
    (6, "Tag_RISCV_unaligned_access"),
    (8, "Tag_RISCV_priv_spec"),
    (10, "Tag_RISCV_priv_spec_minor"),
    (12, "Tag_RISCV_priv_spec_revision"),
    (14, "Tag_RISCV_atomic_abi"),
    (16, "Tag_RISCV_x3_reg_usage"),
];

/// The name of an attribute of a vendor.
fn name(machine: u16, vendor: &[u8], tag: u64) -> Symbolic {
    match (vendor, machine) {
        (b"aeabi", em::ARM) => Symbolic::of(tag, ARM),
        (b"riscv", em::RISCV) => Symbolic::of(tag, RISCV),
        (b"gnu", em::MIPS) => Symbolic::of(
            tag,
            &[(4, "Tag_GNU_MIPS_ABI_FP"), (8, "Tag_GNU_MIPS_ABI_MSA")],
        ),
        (b"gnu", em::PPC | em::PPC64) => Symbolic::of(
            tag,
            &[
                (4, "Tag_GNU_Power_ABI_FP"),
                (8, "Tag_GNU_Power_ABI_Vector"),
                (12, "Tag_GNU_Power_ABI_Struct_Return"),
            ],
        ),
        (b"gnu", em::S390) => Symbolic::of(tag, &[(8, "Tag_GNU_S390_ABI_Vector")]),
        _ => Symbolic::Number(tag),
    }
}

/// Whether an attribute has a number and a text.
fn shape(vendor: &[u8], tag: u64) -> (bool, bool) {
    match (vendor, tag) {
        (b"aeabi" | b"gnu", 32) => (true, true),
        (b"aeabi", 4 | 5 | 65 | 67) => (false, true),
        (b"aeabi", ..32) => (true, false),
        (_, tag) if tag % 2 == 1 => (false, true),
        _ => (true, false),
    }
}

/// The attributes of the file.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Attribute<'a>> {
    let mut rows = Vec::new();
    for section in SECTIONS {
        let Some((index, header)) = elf.named(section) else {
            continue;
        };
        let data = elf.section_bytes(header);
        let structure = elf.section_text(index);
        // Each attribute has at least two bytes.
        if !budget.table(data.len() as u64) {
            notes.at(structure, header.offset, REPEATED);
            continue;
        }
        let bytes = Bytes::new(data, elf.bytes.order());
        if bytes.is_empty() {
            continue;
        }
        if bytes.u8(0) != Some(b'A') {
            notes.at(structure, header.offset, "its version is not A");
            continue;
        }
        let mut reader = Reader {
            bytes,
            offset: header.offset,
            machine: elf.header.machine,
        };
        if reader.vendors(&mut rows).is_none() {
            notes.at(structure, header.offset, "a length leads out of it");
        }
    }
    rows
}

struct Reader<'a> {
    bytes: Bytes<'a>,
    offset: u64,
    machine: u16,
}

impl<'a> Reader<'a> {
    fn vendors(&mut self, rows: &mut Vec<Attribute<'a>>) -> Option<()> {
        let mut at = 1u64;
        while at < self.bytes.len() {
            let length = u64::from(self.bytes.u32(at)?);
            let end = at.checked_add(length)?;
            if length < 5 || end > self.bytes.len() {
                return None;
            }
            let vendor = self.bytes.string(at + 4)?;
            let mut inner = at + 5 + vendor.len() as u64;
            while inner < end {
                let (tag, used) = self.bytes.uleb(inner)?;
                let size = u64::from(self.bytes.u32(inner + used)?);
                let inner_end = inner.checked_add(size)?;
                if size < used + 4 || inner_end > end {
                    return None;
                }
                let scope = match tag {
                    1 => "file",
                    2 => "section",
                    3 => "symbol",
                    _ => "unknown",
                };
                let mut from = inner + used + 4;
                // Numbers of the sections or symbols, up to a zero.
                while matches!(tag, 2 | 3) && from < inner_end {
                    let (number, used) = self.bytes.uleb(from)?;
                    from += used;
                    if number == 0 {
                        break;
                    }
                }
                self.attributes(vendor, scope, from, inner_end, rows)?;
                inner = inner_end;
            }
            at = end;
        }
        Some(())
    }

    fn attributes(
        &self,
        vendor: &'a [u8],
        scope: &'static str,
        mut at: u64,
        end: u64,
        rows: &mut Vec<Attribute<'a>>,
    ) -> Option<()> {
        while at < end {
            let start = at;
            let (tag, used) = self.bytes.uleb(at)?;
            at += used;
            let (has_number, has_text) = shape(vendor, tag);
            let mut number = None;
            if has_number {
                let (value, used) = self.bytes.uleb(at)?;
                at += used;
                number = Some(value);
            }
            let mut text = None;
            if has_text {
                let value = self.bytes.string(at)?;
                at += value.len() as u64 + 1;
                text = Some(Text(value));
            }
            if at > end {
                return None;
            }
            rows.push(Attribute {
                location: Range {
                    offset: self.offset + start,
                    bytes: at - start,
                },
                number,
                scope,
                tag: name(self.machine, vendor, tag),
                text,
                vendor: Text(vendor),
            });
        }
        Some(())
    }
}

/// `Elf_MIPS_ABIFlags_v0`
pub(super) fn mips_abi_flags(elf: &Elf<'_>) -> Option<MipsAbiFlags> {
    let (_, header) = elf.named(b".MIPS.abiflags")?;
    let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
    let byte = |at: u64| bytes.u8(at).map(u64::from);
    let word = |at: u64| bytes.u32(at).map(u64::from);
    Some(MipsAbiFlags {
        ases: word(12)?,
        cpr1_size: byte(5)?,
        cpr2_size: byte(6)?,
        flags_1: word(16)?,
        flags_2: word(20)?,
        fp_abi: byte(7)?,
        gpr_size: byte(4)?,
        isa_extension: word(8)?,
        isa_level: byte(2)?,
        isa_revision: byte(3)?,
        location: header.range(),
        version: bytes.u16(0)?.into(),
    })
}
