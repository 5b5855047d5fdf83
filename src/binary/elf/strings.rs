//! Tables of strings (gABI ch. 4), and what all names of a file may come to.

use crate::binary::layout::rows::Name;

/// What is left for the rows of a file. Tables may lie on top of each other,
/// and any number of entries may share one long name; each byte of the file
/// pays for one row, and all names together for four times the file.
#[derive(Debug)]
pub(super) struct Budget {
    tables: u64,
    names: u64,
    derived: u64,
}

impl Budget {
    /// For a file of `length` bytes.
    pub(super) fn new(length: u64) -> Self {
        Self {
            tables: length.saturating_add(4096),
            names: length.saturating_mul(4).saturating_add(1 << 20),
            derived: length / 8 + 1024,
        }
    }

    /// Takes the bytes of a table of rows; whether they were left.
    pub(super) fn table(&mut self, bytes: u64) -> bool {
        take(&mut self.tables, bytes)
    }

    /// Takes the bytes of a name.
    pub(super) fn name(&mut self, bytes: u64) -> bool {
        take(&mut self.names, bytes)
    }

    /// Takes rows that no bytes of their own stand for: packed relocations.
    pub(super) fn derived(&mut self, rows: u64) -> bool {
        take(&mut self.derived, rows)
    }
}

fn take(left: &mut u64, wanted: u64) -> bool {
    match left.checked_sub(wanted) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => {
            *left = 0;
            false
        }
    }
}

/// A table of strings that are ended by NULs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    data: &'a [u8],
    /// The bytes that a NUL ends.
    ended: usize,
    offset: u64,
}

impl<'a> Strings<'a> {
    /// The bytes that stand at `offset` of the file.
    pub(super) fn new(data: &'a [u8], offset: u64) -> Self {
        // What follows the last NUL is looked for once, not once a name.
        let ended = memchr::memrchr(0, data).map_or(0, |last| last + 1);
        Self {
            data,
            ended,
            offset,
        }
    }

    /// The string at `at`, without its NUL.
    pub(super) fn get(&self, at: u64) -> Option<&'a [u8]> {
        let tail = self.data.get(usize::try_from(at).ok()?..self.ended)?;
        tail.get(..memchr::memchr(0, tail)?)
    }

    /// The string at `at` as a name.
    pub(super) fn name(&self, at: u64, budget: &mut Budget) -> Name<'a> {
        if at >= self.data.len() as u64 {
            return Name::Unknown("name-outside-string-table");
        }
        if budget.names == 0 {
            return Name::Unknown("names-exceed-budget");
        }
        match self.get(at) {
            None => Name::Unknown("name-not-terminated"),
            Some(bytes) if budget.name(bytes.len() as u64) => {
                Name::terminated(bytes, self.offset + at)
            }
            Some(_) => Name::Unknown("names-exceed-budget"),
        }
    }

    /// The name of `length` bytes at `at`, as [`Strings::name`] found it.
    pub(super) fn found(&self, at: u64, length: u64) -> Option<Name<'a>> {
        let tail = self.data.get(usize::try_from(at).ok()?..)?;
        let bytes = tail.get(..usize::try_from(length).ok()?)?;
        Some(Name::terminated(bytes, self.offset + at))
    }

    /// The string at `at` within the budget.
    pub(super) fn text(&self, at: u64, budget: &mut Budget) -> Option<&'a [u8]> {
        match self.name(at, budget) {
            Name::At { bytes, .. } => Some(bytes),
            Name::Unknown(_) => None,
        }
    }
}
