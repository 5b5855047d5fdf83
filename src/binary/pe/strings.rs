//! The table of strings ("PE Format", section "COFF String Table").

use super::image::Budget;
use crate::binary::layout::rows::Name;
use crate::binary::{Bytes, Notes};

/// Why a symbol has no name: no names are read any more.
pub(super) const BUDGET_SPENT: &str = "name-budget-spent";
/// Its name stands outside the table of strings.
pub(super) const NO_STRING: &str = "name-outside-string-table";
/// The table ends in its name.
pub(super) const NO_END: &str = "name-without-end";

/// The table of strings behind the symbols: its size, then texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    /// Where it stands; 0: there is none.
    pub offset: u64,
    /// With the four bytes of its size.
    pub bytes: Bytes<'a>,
}

impl<'a> Strings<'a> {
    /// No strings.
    pub(super) fn none() -> Self {
        Self {
            offset: 0,
            bytes: Bytes::little(&[]),
        }
    }

    /// The table at `offset`, as far as the file has it.
    pub(super) fn read(bytes: Bytes<'a>, offset: u64, notes: &mut Notes) -> Self {
        let Some(size) = bytes.u32(offset).map(u64::from) else {
            if bytes.len() > offset {
                notes.at("table of strings", offset, "the file ends in its size");
            }
            return Self::none();
        };
        let data = bytes.up_to(offset, size);
        if (data.len() as u64) < size {
            notes.at(
                "table of strings",
                offset,
                format!(
                    "it has {size} bytes, and the file ends after {}",
                    data.len()
                ),
            );
        }
        Self {
            offset,
            bytes: Bytes::little(data),
        }
    }

    /// The text at an offset, which counts from the size on.
    pub(super) fn name(&self, offset: u64, budget: &mut Budget) -> Name<'a> {
        if budget.is_spent() {
            return Name::Unknown(BUDGET_SPENT);
        }
        if offset < 4 || offset >= self.bytes.len() {
            return Name::Unknown(NO_STRING);
        }
        match self.bytes.string(offset) {
            Some(text) => {
                budget.text(text.len() as u64);
                Name::terminated(text, self.offset + offset)
            }
            None => {
                budget.text(self.bytes.len() - offset);
                Name::Unknown(NO_END)
            }
        }
    }

    /// A text that [`Strings::name`] found, by its length.
    pub(super) fn found(&self, offset: u64, length: u64) -> Option<Name<'a>> {
        let text = self.bytes.get(offset, length)?;
        Some(Name::terminated(text, self.offset + offset))
    }
}

/// Why an entry has no name.
pub(super) fn no_name(offset: u64, budget: &Budget) -> String {
    match budget.is_spent() {
        true => super::image::SPENT.to_owned(),
        false => format!("the table of strings has no text at {offset:#x}"),
    }
}
