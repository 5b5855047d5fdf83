//! `inspect_binary_layout`: sections, segments, symbols, relocations, linkage
//! and protections of a file, with the range of the file behind each fact
//! (binaries section 2; decisions 29 to 31).

mod candidate;
mod extras;
pub mod facts;
mod lazy;
pub mod links;
mod record;
pub mod rows;

pub use candidate::may_have_layout;
pub use lazy::{RelocationIter, Relocations, SymbolIter, Symbols};
pub(crate) use lazy::{RelocationReader, SymbolReader};
pub use record::{LayoutRecord, NO_BINARY, PROVIDER, inspect_binary_layout};
pub(crate) use record::{refused, subject_format};

use super::{ByteOrder, Notes};
use facts::Facts;
use rows::{Name, PackedRelocations, Section, Segment, Symbolic};

/// What to look at beyond what every layout tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutOptions {
    /// The slice of a universal file, as `list-architectures` names it; `None`:
    /// all of them are said and the first is laid out.
    pub architecture: Option<String>,
    /// Strings, with their encodings and ranges.
    pub strings: bool,
    /// The fewest characters of a string.
    pub min_length: u32,
    /// The digest and entropy of each section.
    pub digests: bool,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self {
            architecture: None,
            strings: false,
            min_length: 4,
            digests: false,
        }
    }
}

/// Why a file has no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is none of the formats.
    Format,
    /// It starts like one, and its header is cut or impossible.
    Header {
        /// Where.
        offset: u64,
        /// What is wrong, without a full stop.
        reason: String,
    },
    /// It has no slice of that name; those that it has.
    Architecture(Vec<String>),
}

/// The formats that have a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ELF, all classes, byte orders and machines.
    Elf,
    /// PE32 and PE32+ images.
    Pe,
    /// Terse Executable images of UEFI.
    Te,
    /// COFF objects, `/bigobj` too.
    Coff,
    /// A member of an import library: one imported name.
    ImportObject,
    /// An import library: an archive of them.
    ImportLibrary,
    /// Mach-O, one architecture.
    MachO,
}

impl Format {
    /// The name in `format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::Pe => "pe",
            Self::Te => "te",
            Self::Coff => "coff",
            Self::ImportObject => "coff-import",
            Self::ImportLibrary => "coff-import-library",
            Self::MachO => "mach-o",
        }
    }
}

/// What the entry point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryMeaning {
    /// An address as linked.
    LinkedVirtualAddress,
    /// Objects have none.
    NotApplicable,
    /// None is given.
    Absent,
}

impl EntryMeaning {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinkedVirtualAddress => "linked-virtual-address",
            Self::NotApplicable => "not-applicable",
            Self::Absent => "absent",
        }
    }
}

/// An address that has a name: a GOT or PLT slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAddress<'a> {
    /// The symbol's name.
    pub name: std::borrow::Cow<'a, [u8]>,
    /// The address as linked.
    pub address: u64,
}

/// What a file is linked with.
#[derive(Clone, Debug, Default)]
pub struct Linkage<'a> {
    /// Libraries it asks for.
    pub needed_libraries: Vec<Name<'a>>,
    /// The program that loads it.
    pub interpreters: Vec<Name<'a>>,
    /// Slots that hold addresses.
    pub got: Vec<NamedAddress<'a>>,
    /// Stubs that jump through them.
    pub plt: Vec<NamedAddress<'a>>,
}

/// RELRO in the contract's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relro {
    /// Without immediate binding.
    Partial,
    /// With it.
    Full,
}

/// The contract's five indicators (binaries section 2.3). What they rest on is
/// in [`Facts::mitigations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indicators {
    /// It loads at any address.
    pub position_independent: bool,
    /// Data is not executable; null where the bytes do not tell.
    pub nx: Option<bool>,
    /// Its stack is executable.
    pub executable_stack: bool,
    /// It asks for the function that a smashed stack ends in.
    pub stack_canary: bool,
    /// Null without it.
    pub relro: Option<Relro>,
}

/// All that a file's structures say.
pub struct Layout<'a> {
    /// Which format.
    pub format: Format,
    /// `EM_X86_64`, `IMAGE_FILE_MACHINE_AMD64`, `CPU_TYPE_X86_64`, ...
    pub machine: Symbolic,
    /// The architecture in subjects, where it is one of the contract's.
    pub architecture: Option<&'static str>,
    /// 16, 32 or 64.
    pub bits: u8,
    /// The order of the bytes of numbers.
    pub byte_order: ByteOrder,
    /// `ET_DYN`, `executable`, `MH_EXECUTE`, ...
    pub image_type: Symbolic,
    /// The entry as it stands, an address as linked.
    pub entry: u64,
    /// What that is.
    pub entry_meaning: EntryMeaning,
    /// Sections, in table order.
    pub sections: Vec<Section<'a>>,
    /// Segments, in table order.
    pub segments: Vec<Segment<'a>>,
    /// Symbols, in table and entry order.
    pub symbols: Symbols<'a>,
    /// Relocations with entries of their own, in table and entry order.
    pub relocations: Relocations<'a>,
    /// Tables of packed relative relocations.
    pub packed_relocations: Vec<PackedRelocations<'a>>,
    /// What it is linked with.
    pub linkage: Linkage<'a>,
    /// The contract's indicators.
    pub indicators: Indicators,
    /// What we say beyond the contract.
    pub facts: Facts<'a>,
    /// Fixed sentences that go with the format, whatever the file holds.
    pub general_limitations: Vec<&'static str>,
    /// What could not be read.
    pub notes: Notes,
}

/// Takes a file apart.
///
/// # Errors
/// See [`Refusal`].
pub fn parse<'a>(bytes: &'a [u8], options: &LayoutOptions) -> Result<Layout<'a>, Refusal> {
    match bytes {
        [0x7F, b'E', b'L', b'F', ..] => super::elf::parse(bytes),
        _ if super::macho::is_macho(bytes) => {
            super::macho::layout(bytes, options.architecture.as_deref())
        }
        _ => super::pe::parse(bytes),
    }
}
