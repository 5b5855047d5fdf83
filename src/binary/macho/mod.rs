//! Mach-O: executables, libraries, objects, kernel extensions and debug files
//! of Apple's systems, thin and universal.
//!
//! Everything is read by our own code, which keeps to the file's bytes: 32 and
//! 64 bits, both byte orders, all file types. Files are named after the
//! structures of Apple's headers (`mach-o/loader.h`, `mach-o/nlist.h`, ...).

mod arch;
mod architectures;
mod budget;
mod chained_fixups;
mod code_signature;
mod command_fields;
mod commands;
mod dyld_info;
mod dylibs;
mod entries;
mod exports_trie;
mod facets;
mod fat;
mod fixup_facets;
mod fixups;
mod image;
mod inspect;
mod inspect_rows;
mod layout;
mod linkedit;
#[allow(clippy::module_inception)] // it is the file, taken apart
mod macho;
mod mitigations;
mod names;
mod pointers;
mod relocations;
mod segments;
mod slices;
mod symbols;

pub use arch::Cpu;
pub use architectures::{ArchitecturesRecord, list_architectures};
pub use fat::{FatArch, FatMagic, HEADER};
pub use inspect::{MachORecord, PROVIDER, inspect_macho};
pub use layout::layout;
pub(crate) use layout::{symbol, symbol_count};
pub use macho::MachO;
pub use pointers::{Pointers, Stored, Word};
pub use slices::{Content, Slice, Slices};

/// Whether it is Mach-O, thin or universal. A Java class starts like a
/// universal file and is none (decision 21).
pub fn is_macho(bytes: &[u8]) -> bool {
    use crate::artifact::format::{self, Format};
    let head = bytes.get(..format::HEAD).unwrap_or(bytes);
    let format = format::of_bytes(head, bytes.len() as u64);
    matches!(format, Format::MachO | Format::MachOUniversal)
}
