//! A Mach-O file taken apart: what its header and load commands lead to.

use super::chained_fixups::ChainedFixups;
use super::code_signature::CodeSignature;
use super::dyld_info::DyldInfo;
use super::dylibs::{Dylib, dylibs};
use super::entries::{Entry, entries};
use super::exports_trie::Trie;
use super::image::Image;
use super::linkedit::{DataInCode, FunctionStarts, ThreadState, threads};
use super::names::{self, ExportRow, ImportRow};
use super::relocations;
use super::segments::Segments;
use super::slices::{Slice, Slices};
use super::symbols::{Dysymtab, SymbolTable};
use crate::binary::Notes;
use crate::binary::layout::Refusal;

/// One slice, taken apart.
#[derive(Debug)]
pub struct MachO<'a> {
    /// All slices of the file.
    pub slices: Vec<Slice>,
    /// The one that this is.
    pub slice: Slice,
    /// Whether the file is a universal one.
    pub universal: bool,
    /// Bytes of the whole file.
    pub file_size: u64,
    /// Header and commands.
    pub image: Image<'a>,
    /// Segments and sections.
    pub segments: Segments<'a>,
    /// `LC_SYMTAB`
    pub symbols: Option<SymbolTable<'a>>,
    /// `LC_DYSYMTAB`
    pub dysymtab: Option<Dysymtab<'a>>,
    /// Libraries that are loaded, in the order of their ordinals.
    pub dylibs: Vec<Dylib<'a>>,
    /// Relocations of objects and old images.
    pub relocations: Vec<relocations::Entry>,
    /// The export trie; its rows go into `exports`.
    pub trie: Trie<'a>,
    /// Rebase and bind opcodes.
    pub dyld_info: DyldInfo<'a>,
    /// Chained fixups.
    pub fixups: ChainedFixups<'a>,
    /// `LC_FUNCTION_STARTS`
    pub function_starts: Option<FunctionStarts<'a>>,
    /// `LC_DATA_IN_CODE`
    pub data_in_code: Option<DataInCode<'a>>,
    /// `LC_CODE_SIGNATURE`
    pub signature: Option<CodeSignature<'a>>,
    /// `LC_UNIXTHREAD`, `LC_THREAD`
    pub threads: Vec<ThreadState>,
    /// Where code starts.
    pub entries: Vec<Entry<'a>>,
    /// What it offers, by name.
    pub exports: Vec<ExportRow<'a>>,
    /// Whether these are all.
    pub exports_exhaustive: bool,
    /// What it asks for.
    pub imports: Vec<ImportRow<'a>>,
    /// Whether these are all.
    pub imports_exhaustive: bool,
    /// What could not be read.
    pub notes: Notes,
}

impl<'a> MachO<'a> {
    /// Takes a slice of a file apart: that of the name, else the first that is
    /// Mach-O.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn read(file: &'a [u8], architecture: Option<&str>) -> Result<Self, Refusal> {
        let slices = Slices::read(file)?;
        let slice = *slices.select(architecture)?;
        Self::of_slice(file, slices, slice)
    }

    /// Takes `slice` of a file apart.
    ///
    /// # Errors
    /// [`Refusal::Header`] where it is no Mach-O file or its header is cut.
    pub fn of_slice(file: &'a [u8], mut slices: Slices, slice: Slice) -> Result<Self, Refusal> {
        let mut notes = std::mem::take(&mut slices.notes);
        let image = Image::read(file, &slice, &mut notes)?;
        let segments = Segments::read(&image, &mut notes);
        let mut macho = Self {
            universal: slices.table.is_some(),
            slices: slices.all,
            slice,
            file_size: file.len() as u64,
            symbols: SymbolTable::read(&image, &mut notes),
            dysymtab: Dysymtab::read(&image, &mut notes),
            dylibs: dylibs(&image, &mut notes),
            relocations: Vec::new(),
            trie: Trie::read(&image, &mut notes),
            dyld_info: DyldInfo::read(&image, &segments, &mut notes),
            fixups: ChainedFixups::read(&image, &segments, &mut notes),
            function_starts: FunctionStarts::read(&image, &segments, &mut notes),
            data_in_code: DataInCode::read(&image, &mut notes),
            signature: CodeSignature::read(&image, &mut notes),
            threads: threads(&image, &mut notes),
            entries: Vec::new(),
            exports: Vec::new(),
            exports_exhaustive: false,
            imports: Vec::new(),
            imports_exhaustive: false,
            notes: Notes::default(),
            image,
            segments,
        };
        macho.relocations = relocations::read(&macho, &mut notes);
        macho.entries = entries(&macho, &mut notes);
        (macho.exports, macho.exports_exhaustive) = names::exports(&mut macho);
        (macho.imports, macho.imports_exhaustive) = names::imports(&macho);
        macho.notes = notes;
        Ok(macho)
    }

    /// Whether a name is asked for.
    pub fn asks_for(&self, names: &[&[u8]]) -> Option<&ImportRow<'a>> {
        self.imports
            .iter()
            .find(|import| names.contains(&import.name))
    }
}
