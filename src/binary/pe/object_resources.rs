//! Resources of objects. The tree stands in a section, and relocations tell
//! where the data of its leaves does: behind the tree in `.rsrc`, as windres
//! writes it, or in `.rsrc$02`, as cvtres does.

use super::image::{Budget, Image, Region};
use super::relocations::RelocationRows;
use super::resources::{self, Resources};
use super::sections::SectionHeader;
use super::symbols::Table;
use crate::binary::{Bytes, Notes};

/// What resources are read from.
pub(super) struct Parts<'p, 'a> {
    pub bytes: Bytes<'a>,
    pub machine: u16,
    pub sections: &'p [SectionHeader<'a>],
    pub symbols: &'p Table<'a>,
    pub relocations: &'p RelocationRows<'a>,
}

impl Parts<'_, '_> {
    /// The tree of the first section that has one.
    pub(super) fn read(&self, budget: &mut Budget, notes: &mut Notes) -> Option<Resources> {
        let tree = self.sections.iter().find(|section| {
            matches!(section.name.bytes(), b".rsrc" | b".rsrc$01") && section.in_file()
        })?;
        // Sections have no addresses yet: here they are at their places in
        // the file.
        let regions = self.sections.iter().filter(|section| section.in_file());
        let regions = regions.map(|section| Region {
            rva: section.raw_offset,
            length: section.raw_size,
            offset: section.raw_offset,
        });
        let image = Image::new(self.bytes, 0, false, self.machine, regions.collect());
        let mut targets: Vec<(u64, u64)> = self
            .relocations
            .of(tree.number)
            .map(|one| {
                let at = one.reported_offset.wrapping_sub(tree.rva);
                (at, one.symbol_index)
            })
            .collect();
        targets.sort_unstable();
        let place = |at: u64, stored: u64| {
            let found = targets.binary_search_by_key(&at, |&(at, _)| at).ok()?;
            let &(_, symbol) = targets.get(found)?;
            let (section, value) = self.symbols.place(symbol)?;
            let section = self.sections.get(usize::try_from(section).ok()?)?;
            let within = value + stored;
            (section.in_file() && within < section.raw_size).then(|| section.raw_offset + within)
        };
        resources::read(&image, tree.raw_offset, &place, budget, notes)
    }
}
