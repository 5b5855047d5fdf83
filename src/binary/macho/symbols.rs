//! The symbol table (`mach-o/nlist.h`) and what `LC_DYSYMTAB` says of it.
//! Entries are read from the file again each time, never kept.

use super::commands::{LC_DYSYMTAB, LC_SYMTAB};
use super::image::Image;
use crate::binary::layout::rows::{Name, Symbolic};
use crate::binary::{Bytes, Notes};

/// Names that symbols may take altogether, beside four times their table:
/// entries may share a name, and a crafted table may have a million entries
/// for one of a megabyte.
const NAMES: u64 = 16 << 20;

/// Masks and values of `n_type`.
pub const N_STAB: u8 = 0xE0;
/// Private to the library.
pub const N_PEXT: u8 = 0x10;
/// Known to others.
pub const N_EXT: u8 = 0x01;
/// `N_TYPE`
const N_TYPE: u8 = 0x0E;
/// `N_UNDF`
pub const N_UNDF: u8 = 0x0;
/// `N_ABS`
pub const N_ABS: u8 = 0x2;
/// `N_INDR`
pub const N_INDR: u8 = 0xA;
/// `N_PBUD`
pub const N_PBUD: u8 = 0xC;
/// `N_SECT`
pub const N_SECT: u8 = 0xE;

/// `N_WEAK_REF`: it may be missing.
pub const N_WEAK_REF: u16 = 0x40;
/// `N_WEAK_DEF`: another definition may win.
pub const N_WEAK_DEF: u16 = 0x80;

/// Types of symbols that are no stabs.
const TYPES: &[(u64, &str)] = &[
    (N_UNDF as u64, "N_UNDF"),
    (N_ABS as u64, "N_ABS"),
    (N_INDR as u64, "N_INDR"),
    (N_PBUD as u64, "N_PBUD"),
    (N_SECT as u64, "N_SECT"),
];

/// Symbols of debuggers (`mach-o/stab.h`).
const STABS: &[(u64, &str)] = &[
    (0x20, "N_GSYM"),
    (0x22, "N_FNAME"),
    (0x24, "N_FUN"),
    (0x26, "N_STSYM"),
    (0x28, "N_LCSYM"),
    (0x2A, "N_MAIN"),
    (0x2E, "N_BNSYM"),
    (0x30, "N_PC"),
    (0x32, "N_AST"),
    (0x38, "N_OPT"),
    (0x3C, "N_OPT"),
    (0x40, "N_RSYM"),
    (0x44, "N_SLINE"),
    (0x4E, "N_ENSYM"),
    (0x60, "N_SSYM"),
    (0x64, "N_SO"),
    (0x66, "N_OSO"),
    (0x80, "N_LSYM"),
    (0x82, "N_BINCL"),
    (0x84, "N_SOL"),
    (0x86, "N_PARAMS"),
    (0x88, "N_VERSION"),
    (0x8A, "N_OLEVEL"),
    (0xA0, "N_PSYM"),
    (0xA2, "N_EINCL"),
    (0xA4, "N_ENTRY"),
    (0xC0, "N_LBRAC"),
    (0xC2, "N_EXCL"),
    (0xE0, "N_RBRAC"),
    (0xE2, "N_BCOMM"),
    (0xE4, "N_ECOMM"),
    (0xE8, "N_ECOML"),
    (0xFE, "N_LENG"),
];

/// An entry as it stands (`struct nlist`, `struct nlist_64`).
#[derive(Clone, Copy, Debug)]
pub struct Nlist {
    /// Where the name stands in the table of strings.
    pub strx: u32,
    /// Type and scope.
    pub kind: u8,
    /// The section, from 1.
    pub sect: u8,
    /// References, library and marks.
    pub desc: u16,
    /// The address, or what else the type makes of it.
    pub value: u64,
}

impl Nlist {
    /// Whether it is for debuggers.
    pub fn is_stab(self) -> bool {
        self.kind & N_STAB != 0
    }

    /// The type without scope; meaningless for stabs.
    pub fn type_bits(self) -> u8 {
        self.kind & N_TYPE
    }

    /// Whether others see it.
    pub fn is_external(self) -> bool {
        !self.is_stab() && self.kind & N_EXT != 0
    }

    /// Whether others than the own library see it.
    pub fn is_exported(self) -> bool {
        self.is_external() && self.kind & N_PEXT == 0 && self.is_defined()
    }

    /// Whether it has a definition here.
    pub fn is_defined(self) -> bool {
        !self.is_stab() && !matches!(self.type_bits(), N_UNDF | N_PBUD)
    }

    /// Whether another file must define it.
    pub fn is_undefined(self) -> bool {
        self.is_external() && self.type_bits() == N_UNDF && self.value == 0
            || !self.is_stab() && self.type_bits() == N_PBUD
    }

    /// Whether it is common: the linker makes room for it.
    pub fn is_common(self) -> bool {
        self.is_external() && self.type_bits() == N_UNDF && self.value != 0
    }

    /// `N_SECT`, `N_UNDF`, ... or the name of the stab.
    pub fn type_name(self) -> Symbolic {
        match self.is_stab() {
            true => Symbolic::of(u64::from(self.kind), STABS),
            false => Symbolic::of(u64::from(self.type_bits()), TYPES),
        }
    }

    /// `GET_LIBRARY_ORDINAL`: which library defines it, in two-level
    /// namespaces.
    pub fn library(self) -> u8 {
        (self.desc >> 8) as u8
    }
}

/// The table.
#[derive(Clone, Copy, Debug)]
pub struct SymbolTable<'a> {
    /// Where the entries start in the slice.
    pub offset: u64,
    /// Entries that are there.
    pub count: u64,
    entries: Bytes<'a>,
    wide: bool,
    /// Where the strings start in the slice.
    pub strings_offset: u64,
    /// The strings, up to the last that ends.
    pub strings: &'a [u8],
    /// Entries from here on have no names any more: the budget is used up.
    named: u64,
    /// Whether all entries and their names are there.
    pub complete: bool,
}

impl<'a> SymbolTable<'a> {
    /// The table of `LC_SYMTAB`.
    pub fn read(image: &Image<'a>, notes: &mut Notes) -> Option<Self> {
        let command = *image.only(&[LC_SYMTAB], notes)?;
        let body = image.body(&command);
        let number = |at| body.u32(at).map(u64::from);
        let (Some(symoff), Some(nsyms), Some(stroff), Some(strsize)) =
            (number(8), number(12), number(16), number(20))
        else {
            let at = image.file_offset(command.offset);
            notes.at("LC_SYMTAB", at, "the command is too short");
            return None;
        };
        let step = if image.wide { 16 } else { 12 };
        let (offset, entries) = image.table("symbol table", symoff, nsyms * step, notes)?;
        let strings = image.table("string table", stroff, strsize, notes);
        // Up to the last NUL: looking for one behind it would cost the whole
        // rest, for each symbol again.
        let strings = strings.map(|(_, strings)| strings.data());
        let strings = strings.unwrap_or_default();
        let end = memchr::memrchr(0, strings).map_or(0, |last| last + 1);
        let mut table = Self {
            offset,
            count: entries.len() / step,
            entries,
            wide: image.wide,
            strings_offset: stroff,
            strings: strings.get(..end).unwrap_or_default(),
            named: u64::MAX,
            complete: nsyms == entries.len() / step,
        };
        table.bound_names(image, notes);
        Some(table)
    }

    fn bound_names(&mut self, image: &Image<'_>, notes: &mut Notes) {
        let budget = NAMES + 4 * self.strings.len() as u64;
        let mut used = 0u64;
        let mut outside = None;
        let mut outside_count = 0u64;
        for index in 0..self.count {
            let Some(entry) = self.entry(index) else {
                break;
            };
            match self.string(entry.strx) {
                Some(name) => used += name.len() as u64,
                None => {
                    outside.get_or_insert(index);
                    outside_count += 1;
                }
            }
            if used > budget {
                self.named = index;
                self.complete = false;
                let reason = format!(
                    "the names of {} symbols come to more than {budget} bytes; those from symbol {index} on are not told",
                    self.count
                );
                notes.at("symbol table", image.file_offset(self.offset), reason);
                break;
            }
        }
        if let Some(index) = outside {
            self.complete = false;
            let reason = format!(
                "{outside_count} names are not in the table of strings; the first is that of symbol {index}"
            );
            let at = image.file_offset(self.location(index).0);
            notes.at("symbol table", at, reason);
        }
    }

    /// Where an entry stands in the slice, and its size.
    pub fn location(&self, index: u64) -> (u64, u64) {
        let step = if self.wide { 16 } else { 12 };
        (self.offset + index * step, step)
    }

    /// An entry.
    pub fn entry(&self, index: u64) -> Option<Nlist> {
        let at = index.checked_mul(if self.wide { 16 } else { 12 })?;
        Some(Nlist {
            strx: self.entries.u32(at)?,
            kind: self.entries.u8(at + 4)?,
            sect: self.entries.u8(at + 5)?,
            desc: self.entries.u16(at + 6)?,
            value: self.entries.word(at + 8, self.wide)?,
        })
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Nlist)> {
        (0..self.count).map_while(|index| Some((index, self.entry(index)?)))
    }

    fn string(&self, strx: u32) -> Option<&'a [u8]> {
        // Index 0 is the empty name, whatever stands there.
        if strx == 0 {
            return Some(b"");
        }
        let tail = self.strings.get(strx as usize..)?;
        let end = memchr::memchr(0, tail)?;
        tail.get(..end)
    }

    /// The string at an offset that a value gives; empty where there is none.
    pub fn string_at(&self, offset: u64) -> &'a [u8] {
        let found = u32::try_from(offset).ok().and_then(|at| self.string(at));
        found.unwrap_or_default()
    }

    /// The name of an entry; empty where it has none.
    pub fn name(&self, index: u64, entry: Nlist) -> &'a [u8] {
        match index < self.named {
            true => self.string(entry.strx).unwrap_or_default(),
            false => b"",
        }
    }

    /// The name of an entry as a row tells it; `base` is where the slice
    /// starts.
    pub fn row_name(&self, index: u64, entry: Nlist, base: u64) -> Name<'a> {
        if index >= self.named {
            return Name::Unknown("names of symbols come to too many bytes");
        }
        if entry.strx == 0 {
            return Name::Unknown("the symbol has no name");
        }
        match self.string(entry.strx) {
            Some(name) => Name::terminated(
                name,
                base.saturating_add(self.strings_offset + u64::from(entry.strx)),
            ),
            None => Name::Unknown("the name is not in the table of strings"),
        }
    }
}

/// `struct dysymtab_command`, as far as it is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dysymtab<'a> {
    /// The table of indirect symbols: where it starts in the slice.
    pub indirect_offset: u64,
    /// Its entries, four bytes each.
    pub indirect: Option<Bytes<'a>>,
    /// External relocations: offset and count.
    pub external: (u32, u32),
    /// Local relocations: offset and count.
    pub local: (u32, u32),
}

/// `INDIRECT_SYMBOL_LOCAL`
pub const INDIRECT_SYMBOL_LOCAL: u32 = 0x8000_0000;
/// `INDIRECT_SYMBOL_ABS`
pub const INDIRECT_SYMBOL_ABS: u32 = 0x4000_0000;

impl<'a> Dysymtab<'a> {
    /// What `LC_DYSYMTAB` says.
    pub fn read(image: &Image<'a>, notes: &mut Notes) -> Option<Self> {
        let command = *image.only(&[LC_DYSYMTAB], notes)?;
        let body = image.body(&command);
        let read = (|| {
            let pair = |at| Some((body.u32(at)?, body.u32(at + 4)?));
            Some((pair(56)?, pair(64)?, pair(72)?))
        })();
        let Some(((offset, count), external, local)) = read else {
            let at = image.file_offset(command.offset);
            notes.at("LC_DYSYMTAB", at, "the command is too short");
            return None;
        };
        let size = 4 * u64::from(count);
        let table = image.table("indirect symbol table", u64::from(offset), size, notes);
        Some(Self {
            indirect_offset: u64::from(offset),
            indirect: table.map(|(_, table)| table),
            external,
            local,
        })
    }

    /// The index of a symbol, or one of the two marks, at a place of the
    /// indirect table.
    pub fn indirect(&self, index: u64) -> Option<u32> {
        self.indirect?.u32(index.checked_mul(4)?)
    }
}
