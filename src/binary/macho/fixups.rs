//! Pointers that dyld or the kernel fixes up, chained through the data
//! (`mach-o/fixup-chains.h`): how a pointer of each format is written, and
//! how a chain is followed.

use super::budget::Budget;
use super::segments::Segment;
use crate::binary::Bytes;

/// `DYLD_CHAINED_PTR_...`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerFormat {
    /// Steps of 8, targets are addresses.
    Arm64e,
    /// 64 bits, targets are addresses.
    Ptr64,
    /// 32 bits, targets are addresses.
    Ptr32,
    /// 32 bits in a shared cache, targets are offsets in it.
    Ptr32Cache,
    /// 32 bits of firmware, targets are addresses.
    Ptr32Firmware,
    /// 64 bits, targets are offsets of the image.
    Ptr64Offset,
    /// Steps of 4, targets are offsets of the image.
    Arm64eKernel,
    /// A kernel collection.
    Ptr64KernelCache,
    /// Steps of 8, targets are offsets of the image.
    Arm64eUserland,
    /// Steps of 4, targets are addresses.
    Arm64eFirmware,
    /// A kernel collection for x86_64, steps of 1.
    X86KernelCache,
    /// As `Arm64eUserland`, with 24 bits for the ordinal.
    Arm64eUserland24,
    /// A shared cache, targets are offsets in it.
    Arm64eSharedCache,
    /// Firmware, targets are offsets in segments.
    Arm64eSegmented,
}

use PointerFormat as P;

/// Number, format, name, step, bytes of a pointer.
const FORMATS: &[(u16, PointerFormat, &str, u64, u64)] = &[
    (1, P::Arm64e, "DYLD_CHAINED_PTR_ARM64E", 8, 8),
    (2, P::Ptr64, "DYLD_CHAINED_PTR_64", 4, 8),
    (3, P::Ptr32, "DYLD_CHAINED_PTR_32", 4, 4),
    (4, P::Ptr32Cache, "DYLD_CHAINED_PTR_32_CACHE", 4, 4),
    (5, P::Ptr32Firmware, "DYLD_CHAINED_PTR_32_FIRMWARE", 4, 4),
    (6, P::Ptr64Offset, "DYLD_CHAINED_PTR_64_OFFSET", 4, 8),
    (7, P::Arm64eKernel, "DYLD_CHAINED_PTR_ARM64E_KERNEL", 4, 8),
    (
        8,
        P::Ptr64KernelCache,
        "DYLD_CHAINED_PTR_64_KERNEL_CACHE",
        4,
        8,
    ),
    (
        9,
        P::Arm64eUserland,
        "DYLD_CHAINED_PTR_ARM64E_USERLAND",
        8,
        8,
    ),
    (
        10,
        P::Arm64eFirmware,
        "DYLD_CHAINED_PTR_ARM64E_FIRMWARE",
        4,
        8,
    ),
    (
        11,
        P::X86KernelCache,
        "DYLD_CHAINED_PTR_X86_64_KERNEL_CACHE",
        1,
        8,
    ),
    (
        12,
        P::Arm64eUserland24,
        "DYLD_CHAINED_PTR_ARM64E_USERLAND24",
        8,
        8,
    ),
    (
        13,
        P::Arm64eSharedCache,
        "DYLD_CHAINED_PTR_ARM64E_SHARED_CACHE",
        8,
        8,
    ),
    (
        14,
        P::Arm64eSegmented,
        "DYLD_CHAINED_PTR_ARM64E_SEGMENTED",
        4,
        8,
    ),
];

/// How an authenticated pointer is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth {
    /// 0 to 3: `IA`, `IB`, `DA`, `DB`.
    pub key: u8,
    /// What is mixed in.
    pub diversity: u16,
    /// Whether the pointer's own address is mixed in.
    pub address_diversity: bool,
}

impl Auth {
    /// The key's name.
    pub fn key_name(self) -> &'static str {
        match self.key {
            0 => "IA",
            1 => "IB",
            2 => "DA",
            _ => "DB",
        }
    }
}

/// What a rebased pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// An address as linked.
    Address(u64),
    /// An offset from the image's base.
    Offset(u64),
    /// An offset in the shared cache around the image, which is not there.
    SharedCache(u64),
    /// An offset in a kernel collection.
    Cache {
        /// Which collection.
        level: u8,
        /// The offset.
        offset: u64,
    },
    /// An offset in a segment.
    Segment {
        /// Which.
        index: u8,
        /// The offset.
        offset: u64,
    },
}

/// A pointer that moves with the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebase {
    /// Where it points to.
    pub to: Pointee,
    /// The top byte of the pointer.
    pub high8: u8,
    /// How it is signed.
    pub auth: Option<Auth>,
}

/// A pointer to an imported symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind {
    /// Which import.
    pub ordinal: u32,
    /// What is added.
    pub addend: i64,
    /// How it is signed.
    pub auth: Option<Auth>,
}

/// One pointer of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// It moves with the image.
    Rebase(Rebase),
    /// It is bound to a symbol.
    Bind(Bind),
}

/// `count` bits of `value` from `from` on.
fn bits(value: u64, from: u32, count: u32) -> u64 {
    value >> from & ((1 << count) - 1)
}

fn bit(value: u64, at: u32) -> bool {
    value >> at & 1 != 0
}

/// A number of `count` bits, signed.
fn signed(value: u64, count: u32) -> i64 {
    let shift = 64 - count;
    ((value << shift) as i64) >> shift
}

impl PointerFormat {
    /// The format of that number.
    pub fn of(number: u16) -> Option<Self> {
        let row = FORMATS.iter().find(|row| row.0 == number)?;
        Some(row.1)
    }

    fn row(self) -> &'static (u16, PointerFormat, &'static str, u64, u64) {
        // All formats stand in the table; the test shows it.
        FORMATS
            .iter()
            .find(|row| row.1 == self)
            .unwrap_or(&FORMATS[0])
    }

    /// `DYLD_CHAINED_PTR_...`
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// Bytes of a pointer.
    pub fn size(self) -> u64 {
        self.row().4
    }

    /// The number that a word holds where it is no pointer: chains of 32-bit
    /// words run through such too, and targets beyond `max_valid_pointer` are
    /// biased numbers.
    pub fn number(self, to: Pointee, max_valid_pointer: u32) -> Option<u32> {
        let Pointee::Address(target) = to else {
            return None;
        };
        if self != P::Ptr32 || target <= u64::from(max_valid_pointer) {
            return None;
        }
        let bias = (0x0400_0000 + u64::from(max_valid_pointer)) / 2;
        Some(target.wrapping_sub(bias) as u32)
    }

    /// What a raw pointer says, and how many bytes further the next one
    /// stands; 0: it is the last.
    pub fn decode(self, raw: u64) -> (Site, u64) {
        let (site, next) = match self {
            P::Arm64e
            | P::Arm64eKernel
            | P::Arm64eUserland
            | P::Arm64eFirmware
            | P::Arm64eUserland24 => self.arm64e(raw),
            P::Ptr64 | P::Ptr64Offset => {
                let site = if bit(raw, 63) {
                    bind(bits(raw, 0, 24), bits(raw, 24, 8) as i64, None)
                } else {
                    let target = bits(raw, 0, 36);
                    let to = match self {
                        P::Ptr64 => Pointee::Address(target),
                        _ => Pointee::Offset(target),
                    };
                    rebase(to, bits(raw, 36, 8), None)
                };
                (site, bits(raw, 51, 12))
            }
            P::Ptr32 if bit(raw, 31) => (
                bind(bits(raw, 0, 20), bits(raw, 20, 6) as i64, None),
                bits(raw, 26, 5),
            ),
            P::Ptr32 => (
                rebase(Pointee::Address(bits(raw, 0, 26)), 0, None),
                bits(raw, 26, 5),
            ),
            P::Ptr32Cache => (
                rebase(Pointee::SharedCache(bits(raw, 0, 30)), 0, None),
                bits(raw, 30, 2),
            ),
            P::Ptr32Firmware => (
                rebase(Pointee::Address(bits(raw, 0, 26)), 0, None),
                bits(raw, 26, 6),
            ),
            P::Ptr64KernelCache | P::X86KernelCache => {
                let to = Pointee::Cache {
                    level: bits(raw, 30, 2) as u8,
                    offset: bits(raw, 0, 30),
                };
                let auth = bit(raw, 63).then(|| auth(raw, 32));
                (rebase(to, 0, auth), bits(raw, 51, 12))
            }
            P::Arm64eSharedCache => {
                let to = Pointee::SharedCache(bits(raw, 0, 34));
                let site = if bit(raw, 63) {
                    // One bit tells the key: IA or DA.
                    let auth = Auth {
                        key: if bit(raw, 51) { 2 } else { 0 },
                        diversity: bits(raw, 34, 16) as u16,
                        address_diversity: bit(raw, 50),
                    };
                    rebase(to, 0, Some(auth))
                } else {
                    rebase(to, bits(raw, 34, 8), None)
                };
                (site, bits(raw, 52, 11))
            }
            P::Arm64eSegmented => {
                let to = Pointee::Segment {
                    index: bits(raw, 28, 4) as u8,
                    offset: bits(raw, 0, 28),
                };
                let auth = bit(raw, 63).then(|| auth(raw, 32));
                (rebase(to, 0, auth), bits(raw, 51, 12))
            }
        };
        (site, next * self.row().3)
    }

    fn arm64e(self, raw: u64) -> (Site, u64) {
        let signature = bit(raw, 63).then(|| auth(raw, 32));
        let wide = self == P::Arm64eUserland24;
        let site = match (bit(raw, 62), signature) {
            (true, signature) => {
                let ordinal = bits(raw, 0, if wide { 24 } else { 16 });
                // Signed binds have no addend.
                let addend = match signature {
                    Some(_) => 0,
                    None => signed(bits(raw, 32, 19), 19),
                };
                bind(ordinal, addend, signature)
            }
            (false, Some(_)) => rebase(Pointee::Offset(bits(raw, 0, 32)), 0, signature),
            (false, None) => {
                let target = bits(raw, 0, 43);
                let to = match self {
                    P::Arm64e | P::Arm64eFirmware => Pointee::Address(target),
                    _ => Pointee::Offset(target),
                };
                rebase(to, bits(raw, 43, 8), None)
            }
        };
        (site, bits(raw, 51, 11))
    }
}

/// Diversity, address diversity and key, as most formats place them.
fn auth(raw: u64, from: u32) -> Auth {
    Auth {
        key: bits(raw, from + 17, 2) as u8,
        diversity: bits(raw, from, 16) as u16,
        address_diversity: bit(raw, from + 16),
    }
}

fn bind(ordinal: u64, addend: i64, auth: Option<Auth>) -> Site {
    Site::Bind(Bind {
        ordinal: ordinal as u32,
        addend,
        auth,
    })
}

fn rebase(to: Pointee, high8: u64, auth: Option<Auth>) -> Site {
    Site::Rebase(Rebase {
        to,
        high8: high8 as u8,
        auth,
    })
}

/// The chains of one segment.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'i, 'a> {
    /// The slice.
    pub data: Bytes<'a>,
    /// The segment.
    pub segment: &'i Segment<'a>,
    /// How its pointers are written.
    pub format: PointerFormat,
}

impl Chain<'_, '_> {
    /// The raw pointer at an offset of the segment.
    pub fn raw(&self, offset: u64) -> Option<u64> {
        let end = offset.checked_add(self.format.size())?;
        if end > self.segment.file_size {
            return None;
        }
        let at = self.segment.offset.checked_add(offset)?;
        self.data.word(at, self.format.size() == 8)
    }

    /// Follows the chain that starts at an offset of the segment, telling each
    /// pointer's address and meaning until `take` says no. Chains only move
    /// forward; `steps` bounds all of them together.
    ///
    /// # Errors
    /// Why it could not be followed to its end.
    pub fn walk(
        &self,
        start: u64,
        steps: &mut Budget,
        take: &mut dyn FnMut(u64, Site) -> bool,
    ) -> Result<(), &'static str> {
        let mut offset = start;
        loop {
            let raw = self
                .raw(offset)
                .ok_or("a chain of pointers leaves its segment")?;
            if !steps.take(1) {
                return Err("chains of pointers overlap");
            }
            let (site, next) = self.format.decode(raw);
            let address = self.segment.address.wrapping_add(offset);
            if !take(address, site) || next == 0 {
                return Ok(());
            }
            offset = offset.saturating_add(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_in_the_table() {
        for number in 1..=14 {
            let format = PointerFormat::of(number).unwrap_or(P::Arm64e);
            assert_eq!(format.row().0, number);
        }
        assert_eq!(PointerFormat::of(15), None);
    }

    /// Bit fields as `mach-o/fixup-chains.h` lays them out.
    #[test]
    fn pointers_are_taken_apart_as_the_header_says() {
        let key = |raw| Auth {
            key: raw,
            diversity: 0xBEEF,
            address_diversity: true,
        };
        // dyld_chained_ptr_arm64e_auth_bind: ordinal 5, key DA, next 3.
        let raw = 1 << 63 | 1 << 62 | 3 << 51 | 2 << 49 | 1 << 48 | 0xBEEF << 32 | 5;
        let expected = Bind {
            ordinal: 5,
            addend: 0,
            auth: Some(key(2)),
        };
        assert_eq!(P::Arm64e.decode(raw), (Site::Bind(expected), 24));
        assert_eq!(P::Arm64eKernel.decode(raw).1, 12);
        // dyld_chained_ptr_arm64e_bind: addend -1.
        let raw = 1 << 62 | 0x7FFFF << 32 | 7;
        let expected = Bind {
            ordinal: 7,
            addend: -1,
            auth: None,
        };
        assert_eq!(P::Arm64eUserland.decode(raw), (Site::Bind(expected), 0));
        // dyld_chained_ptr_64_rebase and _bind.
        let raw = 2 << 51 | 0xAB << 36 | 0x1_2345_6789;
        let expected = Rebase {
            to: Pointee::Offset(0x1_2345_6789),
            high8: 0xAB,
            auth: None,
        };
        assert_eq!(P::Ptr64Offset.decode(raw), (Site::Rebase(expected), 8));
        let raw = 1 << 63 | 0x7F << 24 | 0xFF_FFFF;
        let expected = Bind {
            ordinal: 0xFF_FFFF,
            addend: 0x7F,
            auth: None,
        };
        assert_eq!(P::Ptr64.decode(raw), (Site::Bind(expected), 0));
        // dyld_chained_ptr_64_kernel_cache_rebase.
        let raw = 1 << 63 | 5 << 51 | 3 << 49 | 1 << 48 | 0xBEEF << 32 | 1 << 30 | 0x1000;
        let expected = Rebase {
            to: Pointee::Cache {
                level: 1,
                offset: 0x1000,
            },
            high8: 0,
            auth: Some(key(3)),
        };
        assert_eq!(P::X86KernelCache.decode(raw), (Site::Rebase(expected), 5));
        assert_eq!(P::Ptr64KernelCache.decode(raw).1, 20);
        // dyld_chained_ptr_arm64e_shared_cache_auth_rebase.
        let raw = 1 << 63 | 1 << 52 | 1 << 51 | 1 << 50 | 0xBEEF << 34 | 0x2_0000_0000;
        let expected = Rebase {
            to: Pointee::SharedCache(0x2_0000_0000),
            high8: 0,
            auth: Some(key(2)),
        };
        assert_eq!(
            P::Arm64eSharedCache.decode(raw),
            (Site::Rebase(expected), 8)
        );
        // dyld_chained_ptr_32_bind.
        let raw = 1 << 31 | 4 << 26 | 3 << 20 | 9;
        let expected = Bind {
            ordinal: 9,
            addend: 3,
            auth: None,
        };
        assert_eq!(P::Ptr32.decode(raw), (Site::Bind(expected), 16));
    }
}
