//! Universal ("fat") files: one Mach-O file or archive for each architecture.
//!
//! A table of slices at the front (Apple's `mach-o/fat.h`), with 32 or 64 bit
//! offsets, big-endian; the other byte order is read as well. Slices are
//! named as Apple's tools name architectures (`mach/machine.h`, cctools).

use super::{
    Closing, Container, Damage, Fault, Limit, Listing, Member, MemberKind, Out, Reading, Scratch,
    UNKNOWN, unaccounted,
};
use crate::artifact::limitation::{Notes, counted};
use crate::artifact::names::Style;
use crate::artifact::options::Options;
use crate::artifact::source::Source;

/// `struct fat_header`
const HEADER: u64 = 8;
/// `struct fat_arch`
const ARCH: u64 = 20;
/// `struct fat_arch_64`
const ARCH_64: u64 = 32;
/// The largest alignment, as a power of two, that padding may come from
/// (`MAXSECTALIGN`).
const MOST_ALIGN: u32 = 15;
/// Slices are executable files, whatever the file around them is.
const MODE: u16 = 0o755;
/// Feature bits of a subtype (`CPU_SUBTYPE_MASK`), which name no architecture.
const FEATURES: u32 = 0xFF00_0000;
/// The table is read in portions of so many entries.
const PORTION: u64 = 4096;

const ABI64: u32 = 0x0100_0000;
const ABI64_32: u32 = 0x0200_0000;
const MC680X0: u32 = 6;
const I386: u32 = 7;
const X86_64: u32 = I386 | ABI64;
const HPPA: u32 = 11;
const ARM: u32 = 12;
const ARM64: u32 = ARM | ABI64;
const ARM64_32: u32 = ARM | ABI64_32;
const MC88000: u32 = 13;
const SPARC: u32 = 14;
const I860: u32 = 15;
const POWERPC: u32 = 18;
const POWERPC64: u32 = POWERPC | ABI64;
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

/// An open universal file.
struct Universal {
    source: Source,
    listing: Listing,
    /// Bytes that belong to nothing.
    gaps: Vec<(u64, u64)>,
}

/// Opens a universal file. A table that lies is damage, of which the caller
/// makes no error (decision 9).
pub(super) fn open(source: &Source, options: &Options) -> Result<Box<dyn Container>, Fault> {
    let table = Table::read_header(source)?;
    if table.count > options.max_entries {
        let (name, value) = ("max_entries", options.max_entries);
        return Err(Fault::Limit(Limit { name, value }));
    }
    let mut listing = Listing::default();
    for slice in table.slices(source)? {
        listing
            .members
            .push(slice.member(&mut listing.names, source)?);
    }
    let gaps = gaps(&listing, table.end, source)?;
    Ok(Box::new(Universal {
        source: source.clone(),
        listing,
        gaps,
    }))
}

/// What the header says of the table behind it.
struct Table {
    little: bool,
    wide: bool,
    count: u64,
    /// Where the table ends.
    end: u64,
}

impl Table {
    fn read_header(source: &Source) -> Result<Self, Fault> {
        let header = source
            .read_vec(0, HEADER as usize)
            .map_err(|_| Damage::format(0, "the fat header is cut"))?;
        let fields = Fields {
            bytes: &header,
            little: false,
        };
        let (little, wide) = match fields.word(0) {
            0xCAFE_BABE => (false, false),
            0xBEBA_FECA => (true, false),
            0xCAFE_BABF => (false, true),
            0xBFBA_FECA => (true, true),
            _ => return Err(Damage::format(0, "the fat header has no magic").into()),
        };
        let count = u64::from(
            Fields {
                bytes: &header,
                little,
            }
            .word(4),
        );
        let end = HEADER + count * if wide { ARCH_64 } else { ARCH };
        if count == 0 {
            return Err(Damage::format(4, "the fat header announces no slices").into());
        }
        if end > source.len() {
            let text = format!(
                "the fat header announces {}, more than fit into the file",
                counted(count, "slice", "slices")
            );
            return Err(Damage::format(4, text).into());
        }
        Ok(Self {
            little,
            wide,
            count,
            end,
        })
    }

    fn slices(&self, source: &Source) -> Result<Vec<Slice>, Fault> {
        let step = if self.wide { ARCH_64 } else { ARCH };
        let mut slices = Vec::new();
        let mut done = 0;
        while done < self.count {
            let count = PORTION.min(self.count - done);
            let start = HEADER + done * step;
            let bytes = source.read_vec(start, (count * step) as usize)?;
            for (entry, at) in bytes
                .chunks_exact(step as usize)
                .zip((start..).step_by(step as usize))
            {
                let fields = Fields {
                    bytes: entry,
                    little: self.little,
                };
                slices.push(if self.wide {
                    Slice {
                        at,
                        cpu: fields.word(0),
                        subtype: fields.word(4),
                        offset: fields.double(8),
                        size: fields.double(16),
                        align: fields.word(24),
                    }
                } else {
                    Slice {
                        at,
                        cpu: fields.word(0),
                        subtype: fields.word(4),
                        offset: u64::from(fields.word(8)),
                        size: u64::from(fields.word(12)),
                        align: fields.word(16),
                    }
                });
            }
            done += count;
        }
        Ok(slices)
    }
}

/// Words of either byte order; zero where there are none.
struct Fields<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl Fields<'_> {
    fn word(&self, at: usize) -> u32 {
        let bytes = self
            .bytes
            .get(at..at + 4)
            .and_then(|bytes| bytes.try_into().ok());
        let bytes: [u8; 4] = bytes.unwrap_or_default();
        if self.little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        }
    }

    fn double(&self, at: usize) -> u64 {
        let (first, second) = (u64::from(self.word(at)), u64::from(self.word(at + 4)));
        if self.little {
            second << 32 | first
        } else {
            first << 32 | second
        }
    }
}

/// One row of the table.
struct Slice {
    /// Where the row stands.
    at: u64,
    cpu: u32,
    subtype: u32,
    offset: u64,
    size: u64,
    align: u32,
}

impl Slice {
    fn member(&self, names: &mut Vec<u8>, source: &Source) -> Result<Member, Fault> {
        if self
            .offset
            .checked_add(self.size)
            .is_none_or(|end| end > source.len())
        {
            let text = format!(
                "a slice is announced at offset {} with {}, which is not inside the file",
                self.offset,
                counted(self.size, "byte", "bytes")
            );
            return Err(Damage::format(self.at, text).into());
        }
        let name = format!("slices/{}", architecture(self.cpu, self.subtype));
        let too_many = || {
            Fault::Limit(Limit {
                name: "all path bytes",
                value: crate::artifact::names::MAX_ALL as u64,
            })
        };
        let start = u32::try_from(names.len()).map_err(|_| too_many())?;
        names.extend_from_slice(name.as_bytes());
        Ok(Member {
            name: (start, name.len() as u32),
            size: self.size,
            compressed: UNKNOWN,
            at: self.offset,
            word: self.align,
            name_crc: 0,
            method: 0,
            flags: 0,
            mode: MODE,
            kind: MemberKind::Slice,
            notes: Notes::default(),
        })
    }
}

/// Apple's name for a CPU type and subtype, else both numbers.
fn architecture(cpu: u32, subtype: u32) -> String {
    let subtype = subtype & !FEATURES;
    ARCHITECTURES
        .iter()
        .find(|row| row.0 == cpu && row.1 == subtype)
        .map_or_else(
            || format!("cputype{cpu}-subtype{subtype}"),
            |row| row.2.to_owned(),
        )
}

/// Bytes between and behind slices that are no padding; slices that overlap
/// each other or the table are damage.
fn gaps(listing: &Listing, table_end: u64, source: &Source) -> Result<Vec<(u64, u64)>, Fault> {
    let mut slices: Vec<&Member> = listing.members.iter().collect();
    slices.sort_by_key(|slice| (slice.at, slice.size));
    let mut gaps = Vec::new();
    let mut covered = table_end;
    for slice in slices {
        if slice.at < covered && slice.size > 0 {
            let text = "a slice overlaps another one or the table of slices";
            return Err(Damage::format(slice.at, text).into());
        }
        if slice.at > covered {
            if !is_padding(covered, slice, source)? {
                gaps.push((covered, slice.at));
            }
            covered = slice.at;
        }
        covered = covered.max(slice.at + slice.size);
    }
    gaps.push((covered, source.len()));
    Ok(gaps)
}

/// Whether everything from `start` to a slice is zero and no more than its
/// alignment asks for.
fn is_padding(start: u64, slice: &Member, source: &Source) -> Result<bool, Fault> {
    let len = slice.at - start;
    if len >= 1 << slice.word.min(MOST_ALIGN) {
        return Ok(false);
    }
    let bytes = source.read_vec(start, len as usize)?;
    Ok(bytes.iter().all(|&byte| byte == 0))
}

impl Container for Universal {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn take_listing(&mut self) -> Listing {
        std::mem::take(&mut self.listing)
    }

    fn style(&self) -> Style {
        Style::Unix
    }

    fn read(
        &self,
        index: usize,
        _keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        let member = &self.listing.members[index];
        super::copy(&self.source, member.at, member.size, scratch, out)?;
        Ok(Reading::default())
    }

    fn region(&self, index: usize) -> Option<Source> {
        let member = self.listing.members.get(index)?;
        self.source.region(member.at, member.size)
    }

    fn is_contiguous(&self, _index: usize) -> bool {
        true
    }

    fn close(&self) -> Closing {
        Closing {
            limitations: unaccounted(&self.gaps).into_iter().collect(),
            ..Closing::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
