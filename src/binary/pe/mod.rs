//! PE images, TE images of UEFI, COFF objects and the members of import
//! libraries, by "PE Format" of Microsoft (learn.microsoft.com, the
//! specification of PE and COFF) and, for TE, volume 1 of the UEFI Platform
//! Initialization Specification.
//!
//! What Windows loads is never refused: where a header is odd, the loader's
//! reading counts and a note says what is odd. Sections are numbered from one,
//! as symbols of COFF refer to them.

mod archive;
mod auxiliary;
mod base_relocations;
mod bound_imports;
mod certificates;
mod checksum;
mod clr;
mod debug;
mod dynamic_relocations;
mod exceptions;
mod executable;
mod exports;
mod fields;
mod headers;
mod image;
mod imphash;
mod import_object;
mod imports;
mod load_config;
mod loader;
mod long_import;
mod mitigations;
mod names;
mod object;
mod object_resources;
mod ordinals;
mod packers;
mod relocation_names;
mod relocations;
mod resources;
mod rich;
mod sections;
mod strings;
mod symbols;
mod te;
mod tls;
mod unwind_arm;
mod unwind_arm64;
mod unwind_codes;
mod version_info;

use super::layout::facts::{Facts, Part};
use super::layout::rows::Symbolic;
use super::layout::{
    EntryMeaning, Format, Indicators, Layout, Linkage, Refusal, Relocations, Symbols,
};
use super::{ByteOrder, Bytes, Notes};
pub(crate) use relocations::RelocationRows;
pub(crate) use symbols::SymbolRows;

/// Takes a file apart: `MZ` with a PE header, `VZ`, an anonymous object header
/// (`/bigobj`, import objects), an archive with import objects, or an object
/// with a known machine type and plausible tables (it has no magic number).
///
/// # Errors
/// [`Refusal::Format`] where it is none of these; [`Refusal::Header`] where it
/// starts like one and its header is cut, or is that of an older format.
pub fn parse(bytes: &[u8]) -> Result<Layout<'_>, Refusal> {
    let file = Bytes::little(bytes);
    match bytes {
        [b'M', b'Z', ..] => executable::parse(file),
        [b'V', b'Z', ..] => te::parse(file),
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => archive::parse(file),
        [0, 0, 0xFF, 0xFF, ..] if import_object::is_one(file) => import_object::parse(file),
        _ => object::parse(file),
    }
}

/// Members of facts that only this format has.
type Own<'a> = Vec<(&'static str, Part<'a>)>;

/// A layout with nothing in it.
fn empty<'a>(format: Format, machine: u16, bits: u8) -> Layout<'a> {
    Layout {
        format,
        machine: Symbolic::of(u64::from(machine), names::MACHINES),
        architecture: architecture(machine),
        bits,
        byte_order: ByteOrder::Little,
        image_type: Symbolic::Named("object"),
        entry: 0,
        entry_meaning: EntryMeaning::NotApplicable,
        sections: Vec::new(),
        segments: Vec::new(),
        symbols: Symbols::default(),
        relocations: Relocations::default(),
        packed_relocations: Vec::new(),
        linkage: Linkage::default(),
        indicators: Indicators {
            position_independent: false,
            nx: None,
            executable_stack: false,
            stack_canary: false,
            relro: None,
        },
        facts: Facts {
            own: (format.as_str(), Vec::new()),
            ..Facts::default()
        },
        general_limitations: Vec::new(),
        notes: Notes::default(),
    }
}

/// The architecture in subjects (binaries section 1).
fn architecture(machine: u16) -> Option<&'static str> {
    match machine {
        0x014C => Some("x86"),
        0x8664 => Some("x86_64"),
        0x01C0 | 0x01C2 | 0x01C4 => Some("arm"),
        0xAA64 => Some("arm64"),
        _ => None,
    }
}

/// The bits of an address, for files that do not say so.
fn bits(machine: u16) -> u8 {
    match machine {
        0x8664 | 0xAA64 | 0xA641 | 0xA64E | 0x0200 | 0x0284 | 0x5064 | 0x6264 => 64,
        0x5128 => 128,
        _ => 32,
    }
}

/// What holds for every file with sections.
const NUMBERED: &str = "Sections are numbered from one, as symbols refer to them.";
