//! What the loader would fill from the file, at the addresses the file was
//! linked for.
//!
//! Applied are the fix-ups whose result the bytes prove at these addresses:
//! relative relocations of ELF that carry their addend (`R_*_RELATIVE` with
//! RELA), and pointers of Mach-O that stand in chains of fixups and move with
//! the image. Those that keep their value in place (REL, RELR, PE base
//! relocations, rebase opcodes of Mach-O) change nothing there, and what is
//! bound to other files stays as it stands.

use crate::binary::layout::rows::{Symbolic, Target};
use crate::binary::layout::{Format, Layout};
use crate::binary::macho::{Pointers, Stored};
use crate::binary::places::{Piece, Places, Shown};

/// Types of relocations that store the addend plus the load address, by
/// machine (each machine's psABI).
const RELATIVE: [(&str, u64); 13] = [
    ("EM_68K", 22),
    ("EM_AARCH64", 1027),
    ("EM_ALPHA", 27),
    ("EM_HEXAGON", 35),
    ("EM_LOONGARCH", 3),
    ("EM_PPC", 22),
    ("EM_PPC64", 22),
    ("EM_RISCV", 3),
    ("EM_S390", 12),
    ("EM_SH", 165),
    ("EM_SPARC", 22),
    ("EM_SPARCV9", 22),
    ("EM_X86_64", 8),
];

/// A word that the loader stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fixup {
    address: u64,
    value: u64,
}

/// Why bytes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing is mapped there.
    Unmapped,
    /// No byte of the file fills that memory.
    Uninitialized,
    /// Several mappings say different things.
    Ambiguous,
}

impl Stop {
    /// What is wrong with the address where bytes end.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Unmapped => "nothing is mapped there",
            Self::Uninitialized => "no byte of the file fills that memory",
            Self::Ambiguous => "several mappings say different things there",
        }
    }

    /// The reason as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unmapped => "unmapped",
            Self::Uninitialized => "uninitialized",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// Bytes as they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOut {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where they stand in the file: offset, and the offset behind.
    pub ranges: Vec<(u64, u64)>,
    /// Words among them that the loader stores, and that are shown so.
    pub fixups: u64,
    /// Pointers among those that are signed in memory, shown without.
    pub signed: u64,
    /// Words among them that stand in chains of fixups and whose value another
    /// file decides, shown as they stand.
    pub unproven: u64,
    /// Why there are fewer than asked for.
    pub stop: Option<Stop>,
}

/// Memory by address.
#[derive(Debug)]
pub struct Memory<'a> {
    file: &'a [u8],
    places: Places,
    fixups: Vec<Fixup>,
    chained: Option<Pointers<'a>>,
    /// Bytes of a word.
    word: usize,
    big: bool,
}

impl<'a> Memory<'a> {
    /// The memory of `file` as `layout` maps it; none without a layout.
    pub fn new(file: &'a [u8], layout: Option<&Layout<'a>>) -> Self {
        let mappings = layout.map_or(&[][..], |layout| &layout.facts.address_map);
        let mut fixups = layout.map(fixups).unwrap_or_default();
        fixups.sort_by_key(|fixup| fixup.address);
        let macho = layout.and_then(|layout| layout.facts.macho.as_ref());
        Self {
            file,
            places: Places::new(mappings, file.len() as u64),
            fixups,
            chained: macho.map(Pointers::new),
            word: layout.map_or(8, |layout| usize::from(layout.bits / 8).clamp(1, 8)),
            big: layout.is_some_and(|layout| layout.byte_order == crate::binary::ByteOrder::Big),
        }
    }

    /// Where everything stands.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// At most `length` bytes from `address` on.
    pub fn read(&self, address: u64, length: usize) -> ReadOut {
        let mut out = ReadOut::default();
        let mut at = Some(address);
        while out.bytes.len() < length {
            let piece = at.and_then(|at| Some((at, self.places.piece(at)?)));
            let Some((from, piece)) = piece else {
                out.stop = Some(Stop::Unmapped);
                break;
            };
            let offset = match piece.shown {
                Shown::File(offset) => offset.saturating_add(from - piece.start),
                Shown::Uninitialized => {
                    out.stop = Some(Stop::Uninitialized);
                    break;
                }
                Shown::Ambiguous => {
                    out.stop = Some(Stop::Ambiguous);
                    break;
                }
            };
            let want = (length - out.bytes.len()) as u64;
            let there = (piece.last - from).saturating_add(1).min(want);
            let bytes = slice(self.file, offset, there);
            if bytes.len() as u64 != there {
                out.stop = Some(Stop::Unmapped);
                break;
            }
            out.bytes.extend_from_slice(bytes);
            let end = offset + there;
            match out.ranges.last_mut() {
                Some(last) if last.1 == offset => last.1 = end,
                _ => out.ranges.push((offset, end)),
            }
            at = from.checked_add(there);
        }
        self.relocate(address, &mut out);
        self.unchain(address, &mut out);
        out
    }

    /// Stores into bytes that stand at `address` what relocations say.
    fn relocate(&self, address: u64, out: &mut ReadOut) {
        let length = out.bytes.len() as u64;
        let first = address.saturating_sub(self.word as u64 - 1);
        let start = self.fixups.partition_point(|fixup| fixup.address < first);
        for fixup in self.fixups.iter().skip(start) {
            if fixup.address >= address && fixup.address - address >= length {
                break;
            }
            let stored = self.store(address, out, fixup.address, fixup.value, self.word);
            out.fixups += u64::from(stored);
        }
    }

    /// Stores into bytes that stand at `address` what dyld leaves of chains.
    fn unchain(&self, address: u64, out: &mut ReadOut) {
        let length = out.bytes.len() as u64;
        let (Some(chained), Some(rest)) = (&self.chained, length.checked_sub(1)) else {
            return;
        };
        chained.between(address, address.saturating_add(rest), &mut |word| {
            let (value, signed) = match word.stored {
                Stored::Value(value) => (value, 0),
                Stored::Signed(value) => (value, 1),
                Stored::Unproven => {
                    out.unproven += 1;
                    return;
                }
            };
            self.store(address, out, word.address, value, word.bytes.into());
            out.fixups += 1;
            out.signed += signed;
        });
    }

    /// Stores a word of `size` bytes; whether any byte of it was among those
    /// at `address`.
    fn store(&self, address: u64, out: &mut ReadOut, at: u64, value: u64, size: usize) -> bool {
        let word = match self.big {
            true => (value << (64 - 8 * size)).to_be_bytes(),
            false => value.to_le_bytes(),
        };
        let mut stored = false;
        for (place, &byte) in word.iter().take(size).enumerate() {
            let place = at.wrapping_add(place as u64).wrapping_sub(address);
            let slot = usize::try_from(place)
                .ok()
                .and_then(|place| out.bytes.get_mut(place));
            if let Some(slot) = slot {
                *slot = byte;
                stored = true;
            }
        }
        stored
    }

    /// Runs of addresses that all have bytes, as pieces that touch.
    pub fn runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        let filled = |piece: &&Piece| matches!(piece.shown, Shown::File(_));
        for piece in self.places.pieces().iter().filter(filled) {
            match runs.last_mut() {
                Some(last) if last.1.checked_add(1) == Some(piece.start) => last.1 = piece.last,
                _ => runs.push((piece.start, piece.last)),
            }
        }
        runs
    }
}

fn slice(file: &[u8], offset: u64, length: u64) -> &[u8] {
    crate::binary::Bytes::little(file).up_to(offset, length)
}

fn fixups(layout: &Layout<'_>) -> Vec<Fixup> {
    if layout.format != Format::Elf {
        return Vec::new();
    }
    let Symbolic::Named(machine) = layout.machine else {
        return Vec::new();
    };
    let Some(&(_, relative)) = RELATIVE.iter().find(|&&(known, _)| known == machine) else {
        return Vec::new();
    };
    let stored = layout.relocations.iter().filter_map(|relocation| {
        match (relocation.target, relocation.addend) {
            (Target::Address(address), Some(addend)) if relocation.kind == relative => {
                Some(Fixup {
                    address,
                    value: addend as u64,
                })
            }
            _ => None,
        }
    });
    stored.collect()
}
