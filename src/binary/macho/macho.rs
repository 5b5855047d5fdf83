//! A Mach-O file taken apart: what its header and load commands lead to.

use super::dylibs::{Dylib, dylibs};
use super::image::Image;
use super::relocations::{self, Entry};
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
    pub relocations: Vec<Entry>,
    /// What could not be read.
    pub notes: Notes,
}

impl<'a> MachO<'a> {
    /// Takes a slice of a file apart.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn read(file: &'a [u8], architecture: Option<&str>) -> Result<Self, Refusal> {
        let mut slices = Slices::read(file)?;
        let slice = *slices.select(architecture)?;
        let mut notes = std::mem::take(&mut slices.notes);
        let image = Image::read(file, &slice, &mut notes)?;
        let segments = Segments::read(&image, &mut notes);
        let symbols = SymbolTable::read(&image, &mut notes);
        let dysymtab = Dysymtab::read(&image, &mut notes);
        let dylibs = dylibs(&image, &mut notes);
        let mut macho = Self {
            slices: slices.all,
            slice,
            file_size: file.len() as u64,
            image,
            segments,
            symbols,
            dysymtab,
            dylibs,
            relocations: Vec::new(),
            notes: Notes::default(),
        };
        macho.relocations = relocations::read(&macho, &mut notes);
        macho.notes = notes;
        Ok(macho)
    }
}
