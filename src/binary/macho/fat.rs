//! Universal ("fat") files: a table of slices at the front (Apple's
//! `mach-o/fat.h`), with 32 or 64 bit offsets, big-endian; the other byte
//! order is read as well.

use super::arch::Cpu;
use crate::binary::{ByteOrder, Bytes};

/// `struct fat_header`
pub const HEADER: u64 = 8;

/// How the table behind a magic is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatMagic {
    /// The order of the bytes of its numbers.
    pub order: ByteOrder,
    /// Whether offsets and sizes have 64 bits (`struct fat_arch_64`).
    pub wide: bool,
}

impl FatMagic {
    /// Of the first four bytes, the highest first.
    pub fn of(word: u32) -> Option<Self> {
        let (order, wide) = match word {
            0xCAFE_BABE => (ByteOrder::Big, false),
            0xBEBA_FECA => (ByteOrder::Little, false),
            0xCAFE_BABF => (ByteOrder::Big, true),
            0xBFBA_FECA => (ByteOrder::Little, true),
            _ => return None,
        };
        Some(Self { order, wide })
    }

    /// Bytes of a row: `struct fat_arch` or `struct fat_arch_64`.
    pub fn row(self) -> u64 {
        if self.wide { 32 } else { 20 }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatArch {
    /// The processor.
    pub cpu: Cpu,
    /// Where the slice starts.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// Its alignment, as a power of two.
    pub align: u32,
}

impl FatArch {
    /// The row at `at`; `None` where it is not all there.
    pub fn read(bytes: &[u8], at: u64, magic: FatMagic) -> Option<Self> {
        let bytes = Bytes::new(bytes, magic.order).part(at, magic.row())?;
        let cpu = Cpu {
            kind: bytes.u32(0)?,
            subtype: bytes.u32(4)?,
        };
        Some(match magic.wide {
            true => Self {
                cpu,
                offset: bytes.u64(8)?,
                size: bytes.u64(16)?,
                align: bytes.u32(24)?,
            },
            false => Self {
                cpu,
                offset: u64::from(bytes.u32(8)?),
                size: u64::from(bytes.u32(12)?),
                align: bytes.u32(16)?,
            },
        })
    }

    /// The alignment in bytes, where it is a power of two of 64 bits.
    pub fn alignment(&self) -> Option<u64> {
        1u64.checked_shl(self.align)
    }
}
