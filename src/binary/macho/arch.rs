//! Processors: CPU types and subtypes (`mach/machine.h`), and the names that
//! Apple's tools give to architectures (cctools).

use std::borrow::Cow;

use crate::binary::layout::rows::Symbolic;

/// Feature bits of a subtype (`CPU_SUBTYPE_MASK`), which name no architecture.
const FEATURES: u32 = 0xFF00_0000;

const ABI64: u32 = 0x0100_0000;
const ABI64_32: u32 = 0x0200_0000;
const MC680X0: u32 = 6;
pub(super) const I386: u32 = 7;
pub(super) const X86_64: u32 = I386 | ABI64;
const HPPA: u32 = 11;
pub(super) const ARM: u32 = 12;
pub(super) const ARM64: u32 = ARM | ABI64;
pub(super) const ARM64_32: u32 = ARM | ABI64_32;
const MC88000: u32 = 13;
const SPARC: u32 = 14;
const I860: u32 = 15;
pub(super) const POWERPC: u32 = 18;
pub(super) const POWERPC64: u32 = POWERPC | ABI64;
const VEO: u32 = 255;

/// CPU type, subtype without features, name.
const ARCHITECTURES: &[(u32, u32, &str)] = &[
    (POWERPC64, 0, "ppc64"),
    (X86_64, 3, "x86_64"),
    (X86_64, 8, "x86_64h"),
    (ARM64, 0, "arm64"),
    (ARM64, 1, "arm64v8"),
    (ARM64, 2, "arm64e"),
    (ARM64_32, 1, "arm64_32"),
    (POWERPC64, 100, "ppc970-64"),
    (POWERPC, 0, "ppc"),
    (POWERPC, 1, "ppc601"),
    (POWERPC, 3, "ppc603"),
    (POWERPC, 4, "ppc603e"),
    (POWERPC, 5, "ppc603ev"),
    (POWERPC, 6, "ppc604"),
    (POWERPC, 7, "ppc604e"),
    (POWERPC, 9, "ppc750"),
    (POWERPC, 10, "ppc7400"),
    (POWERPC, 11, "ppc7450"),
    (POWERPC, 100, "ppc970"),
    (I386, 3, "i386"),
    (I386, 4, "i486"),
    (I386, 0x84, "i486SX"),
    (I386, 5, "pentium"),
    (I386, 0x16, "pentpro"),
    (I386, 0x36, "pentIIm3"),
    (I386, 0x56, "pentIIm5"),
    (I386, 10, "pentium4"),
    (MC680X0, 1, "m68k"),
    (MC680X0, 2, "m68040"),
    (MC680X0, 3, "m68030"),
    (HPPA, 0, "hppa"),
    (HPPA, 1, "hppa7100LC"),
    (SPARC, 0, "sparc"),
    (MC88000, 0, "m88k"),
    (I860, 0, "i860"),
    (VEO, 1, "veo1"),
    (VEO, 2, "veo"),
    (VEO, 3, "veo3"),
    (VEO, 4, "veo4"),
    (ARM, 0, "arm"),
    (ARM, 5, "armv4t"),
    (ARM, 6, "armv6"),
    (ARM, 7, "armv5"),
    (ARM, 8, "xscale"),
    (ARM, 9, "armv7"),
    (ARM, 10, "armv7f"),
    (ARM, 11, "armv7s"),
    (ARM, 12, "armv7k"),
    (ARM, 14, "armv6m"),
    (ARM, 15, "armv7m"),
    (ARM, 16, "armv7em"),
];

/// CPU types by their names in `mach/machine.h`.
const CPU_TYPES: &[(u64, &str)] = &[
    (1, "CPU_TYPE_VAX"),
    (6, "CPU_TYPE_MC680x0"),
    (7, "CPU_TYPE_I386"),
    (0x0100_0007, "CPU_TYPE_X86_64"),
    (10, "CPU_TYPE_MC98000"),
    (11, "CPU_TYPE_HPPA"),
    (12, "CPU_TYPE_ARM"),
    (0x0100_000C, "CPU_TYPE_ARM64"),
    (0x0200_000C, "CPU_TYPE_ARM64_32"),
    (13, "CPU_TYPE_MC88000"),
    (14, "CPU_TYPE_SPARC"),
    (15, "CPU_TYPE_I860"),
    (18, "CPU_TYPE_POWERPC"),
    (0x0100_0012, "CPU_TYPE_POWERPC64"),
    (255, "CPU_TYPE_VEO"),
];

/// Subtypes by their names, as `lipo -detailed_info` and `otool -hv` print
/// them in full.
const CPU_SUBTYPES: &[(u32, u32, &str)] = &[
    (X86_64, 3, "CPU_SUBTYPE_X86_64_ALL"),
    (X86_64, 8, "CPU_SUBTYPE_X86_64_H"),
    (I386, 3, "CPU_SUBTYPE_I386_ALL"),
    (I386, 4, "CPU_SUBTYPE_486"),
    (I386, 0x84, "CPU_SUBTYPE_486SX"),
    (I386, 5, "CPU_SUBTYPE_PENT"),
    (I386, 0x16, "CPU_SUBTYPE_PENTPRO"),
    (I386, 0x36, "CPU_SUBTYPE_PENTII_M3"),
    (I386, 0x56, "CPU_SUBTYPE_PENTII_M5"),
    (I386, 10, "CPU_SUBTYPE_PENTIUM_4"),
    (ARM, 0, "CPU_SUBTYPE_ARM_ALL"),
    (ARM, 5, "CPU_SUBTYPE_ARM_V4T"),
    (ARM, 6, "CPU_SUBTYPE_ARM_V6"),
    (ARM, 7, "CPU_SUBTYPE_ARM_V5TEJ"),
    (ARM, 8, "CPU_SUBTYPE_ARM_XSCALE"),
    (ARM, 9, "CPU_SUBTYPE_ARM_V7"),
    (ARM, 10, "CPU_SUBTYPE_ARM_V7F"),
    (ARM, 11, "CPU_SUBTYPE_ARM_V7S"),
    (ARM, 12, "CPU_SUBTYPE_ARM_V7K"),
    (ARM, 13, "CPU_SUBTYPE_ARM_V8"),
    (ARM, 14, "CPU_SUBTYPE_ARM_V6M"),
    (ARM, 15, "CPU_SUBTYPE_ARM_V7M"),
    (ARM, 16, "CPU_SUBTYPE_ARM_V7EM"),
    (ARM64, 0, "CPU_SUBTYPE_ARM64_ALL"),
    (ARM64, 1, "CPU_SUBTYPE_ARM64_V8"),
    (ARM64, 2, "CPU_SUBTYPE_ARM64E"),
    (ARM64_32, 0, "CPU_SUBTYPE_ARM64_32_ALL"),
    (ARM64_32, 1, "CPU_SUBTYPE_ARM64_32_V8"),
    (POWERPC, 0, "CPU_SUBTYPE_POWERPC_ALL"),
    (POWERPC, 1, "CPU_SUBTYPE_POWERPC_601"),
    (POWERPC, 2, "CPU_SUBTYPE_POWERPC_602"),
    (POWERPC, 3, "CPU_SUBTYPE_POWERPC_603"),
    (POWERPC, 4, "CPU_SUBTYPE_POWERPC_603e"),
    (POWERPC, 5, "CPU_SUBTYPE_POWERPC_603ev"),
    (POWERPC, 6, "CPU_SUBTYPE_POWERPC_604"),
    (POWERPC, 7, "CPU_SUBTYPE_POWERPC_604e"),
    (POWERPC, 8, "CPU_SUBTYPE_POWERPC_620"),
    (POWERPC, 9, "CPU_SUBTYPE_POWERPC_750"),
    (POWERPC, 10, "CPU_SUBTYPE_POWERPC_7400"),
    (POWERPC, 11, "CPU_SUBTYPE_POWERPC_7450"),
    (POWERPC, 100, "CPU_SUBTYPE_POWERPC_970"),
    (POWERPC64, 0, "CPU_SUBTYPE_POWERPC_ALL"),
    (POWERPC64, 100, "CPU_SUBTYPE_POWERPC_970"),
    (MC680X0, 1, "CPU_SUBTYPE_MC680x0_ALL"),
    (MC680X0, 2, "CPU_SUBTYPE_MC68040"),
    (MC680X0, 3, "CPU_SUBTYPE_MC68030_ONLY"),
    (HPPA, 0, "CPU_SUBTYPE_HPPA_ALL"),
    (HPPA, 1, "CPU_SUBTYPE_HPPA_7100LC"),
    (SPARC, 0, "CPU_SUBTYPE_SPARC_ALL"),
    (MC88000, 0, "CPU_SUBTYPE_MC88000_ALL"),
    (I860, 0, "CPU_SUBTYPE_I860_ALL"),
];

/// A processor as a header or a table of slices gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// `cputype`
    pub kind: u32,
    /// `cpusubtype`, feature bits included.
    pub subtype: u32,
}

impl Cpu {
    /// Apple's name of the architecture, else both numbers.
    pub fn architecture(self) -> Cow<'static, str> {
        let subtype = self.subtype & !FEATURES;
        match ARCHITECTURES
            .iter()
            .find(|row| row.0 == self.kind && row.1 == subtype)
        {
            Some(row) => Cow::Borrowed(row.2),
            None => Cow::Owned(format!("cputype{}-subtype{subtype}", self.kind)),
        }
    }

    /// `CPU_TYPE_...`
    pub fn type_name(self) -> Symbolic {
        Symbolic::of(u64::from(self.kind), CPU_TYPES)
    }

    /// `CPU_SUBTYPE_...`, feature bits aside.
    pub fn subtype_name(self) -> Symbolic {
        let subtype = self.subtype & !FEATURES;
        CPU_SUBTYPES
            .iter()
            .find(|row| row.0 == self.kind && row.1 == subtype)
            .map_or(Symbolic::Number(u64::from(subtype)), |row| {
                Symbolic::Named(row.2)
            })
    }

    /// The feature bits of the subtype, as a byte: `0x80` for libraries of 64
    /// bits and for versioned pointer authentication.
    pub fn features(self) -> u64 {
        u64::from(self.subtype >> 24)
    }

    /// The architecture in subjects, where it is one of the contract's
    /// (binaries section 1).
    pub fn contract(self) -> Option<&'static str> {
        match self.kind {
            I386 => Some("x86"),
            X86_64 => Some("x86_64"),
            ARM => Some("arm"),
            ARM64 => Some("arm64"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn architecture(kind: u32, subtype: u32) -> Cow<'static, str> {
        Cpu { kind, subtype }.architecture()
    }

    #[test]
    fn architectures_are_named_as_apple_does() {
        // mach/machine.h: CPU_SUBTYPE_LIB64 and the pointer authentication
        // version are feature bits.
        assert_eq!(architecture(0x0100_0007, 0x8000_0003), "x86_64");
        assert_eq!(architecture(0x0100_000C, 0x8000_0002), "arm64e");
        assert_eq!(architecture(0x0200_000C, 1), "arm64_32");
        assert_eq!(architecture(12, 11), "armv7s");
        assert_eq!(architecture(0x0100_000C, 99), "cputype16777228-subtype99");
    }

    #[test]
    fn no_architecture_is_named_twice() {
        for (index, row) in ARCHITECTURES.iter().enumerate() {
            for other in &ARCHITECTURES[..index] {
                assert!((row.0, row.1) != (other.0, other.1) && row.2 != other.2);
            }
        }
    }
}
