//! Rows of large tables. A record is written twice, its id first; rows that
//! the file's bytes tell in a few steps are read from there each time, and
//! take no memory but what their reader keeps.

use std::sync::Arc;

use super::rows::{Relocation, Symbol};
use crate::binary::{elf, macho, pe};
use crate::json::{WriteJson, Writer, write_rows};

/// Reads rows from a table of the file.
pub(crate) trait Reader {
    /// A row.
    type Row: Copy;

    /// How many rows there are.
    fn len(&self) -> usize;

    /// The row at a place, which is below [`Reader::len`].
    fn row(&self, at: usize) -> Option<Self::Row>;
}

enum Source<T, R> {
    Kept(Vec<T>),
    Read(R),
}

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?: $row:ty, $reader:ty, $iter:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name $(<$life>)? (Source<$row, $reader>);

        impl $(<$life>)? $name $(<$life>)? {
            /// Rows that a reader reads when they are asked for.
            pub(crate) fn read(reader: $reader) -> Self {
                Self(Source::Read(reader))
            }

            /// How many there are.
            pub fn len(&self) -> usize {
                match &self.0 {
                    Source::Kept(rows) => rows.len(),
                    Source::Read(reader) => reader.len(),
                }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The row at a place.
            pub fn get(&self, at: usize) -> Option<$row> {
                match &self.0 {
                    Source::Kept(rows) => rows.get(at).copied(),
                    Source::Read(reader) => (at < reader.len()).then(|| reader.row(at))?,
                }
            }

            /// All rows in their order.
            pub fn iter(&self) -> $iter<'_ $(, $life)?> {
                $iter { rows: self, at: 0 }
            }
        }

        impl $(<$life>)? From<Vec<$row>> for $name $(<$life>)? {
            fn from(rows: Vec<$row>) -> Self {
                Self(Source::Kept(rows))
            }
        }

        impl $(<$life>)? Default for $name $(<$life>)? {
            fn default() -> Self {
                Self::from(Vec::new())
            }
        }

        impl<'r $(, $life)?> IntoIterator for &'r $name $(<$life>)? {
            type Item = $row;
            type IntoIter = $iter<'r $(, $life)?>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl $(<$life>)? WriteJson for $name $(<$life>)? {
            fn write_json(&self, w: &mut Writer<'_>) {
                let row = |at: usize, w: &mut Writer<'_>| {
                    if let Some(row) = self.get(at) {
                        row.write_json(w);
                    }
                };
                write_rows(self.len(), &row, w);
            }
        }

        /// Goes through the rows.
        pub struct $iter<'r $(, $life)?> {
            rows: &'r $name $(<$life>)?,
            at: usize,
        }

        impl<'r $(, $life)?> Iterator for $iter<'r $(, $life)?> {
            type Item = $row;

            fn next(&mut self) -> Option<$row> {
                let row = self.rows.get(self.at)?;
                self.at += 1;
                Some(row)
            }
        }
    )*};
}

tables! {
    /// The symbols of a file, in table and entry order.
    Symbols<'a>: Symbol<'a>, SymbolReader<'a>, SymbolIter;
    /// The relocations with entries of their own, in table and entry order.
    Relocations<'a>: Relocation, RelocationReader<'a>, RelocationIter;
}

/// Readers of symbols, by format.
#[derive(Clone)]
pub(crate) enum SymbolReader<'a> {
    Elf(Arc<elf::Symbols<'a>>),
    Coff(Arc<pe::SymbolRows<'a>>),
    MachO(Arc<macho::MachO<'a>>),
}

impl<'a> Reader for SymbolReader<'a> {
    type Row = Symbol<'a>;

    fn len(&self) -> usize {
        match self {
            Self::Elf(symbols) => symbols.len(),
            Self::Coff(symbols) => symbols.len(),
            Self::MachO(macho) => macho::symbol_count(macho),
        }
    }

    fn row(&self, at: usize) -> Option<Symbol<'a>> {
        match self {
            Self::Elf(symbols) => symbols.get(at),
            Self::Coff(symbols) => symbols.get(at),
            Self::MachO(macho) => macho::symbol(macho, at),
        }
    }
}

/// Readers of relocations; Mach-O keeps its rows.
#[derive(Clone)]
pub(crate) enum RelocationReader<'a> {
    Elf(Arc<elf::RelocationRows<'a>>),
    Coff(Arc<pe::RelocationRows<'a>>),
}

impl Reader for RelocationReader<'_> {
    type Row = Relocation;

    fn len(&self) -> usize {
        match self {
            Self::Elf(rows) => rows.len(),
            Self::Coff(rows) => rows.len(),
        }
    }

    fn row(&self, at: usize) -> Option<Relocation> {
        match self {
            Self::Elf(rows) => rows.get(at),
            Self::Coff(rows) => rows.get(at),
        }
    }
}
