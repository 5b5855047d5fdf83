//! Executables, libraries, objects and modules from their own bytes.
//!
//! A reader takes a structure apart without copying it and bounds all work by
//! the bytes that back it. What cannot be read becomes a [`Note`] with its
//! structure, offset and reason (decision 29); only a file that is of no known
//! format, or whose header is cut, is refused.

pub mod bytes;
pub mod deep;
pub mod demangle;
pub mod elf;
pub mod entropy;
pub mod file;
pub mod layout;
pub mod macho;
pub mod pe;
pub mod places;
mod ranges;
pub mod strings;
pub mod wasm;

pub use bytes::{ByteOrder, Bytes, name_text};
pub use file::BinaryFile;

/// Something that could not be read: the structure, where, and why. Written as
/// a limitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is, as the format's specification names it: `.dynsym`.
    pub structure: String,
    /// Its offset in the file, where it has one.
    pub offset: Option<u64>,
    /// What is wrong, without a full stop.
    pub reason: String,
}

impl Note {
    /// A note about the structure at `offset`.
    pub fn at(structure: impl Into<String>, offset: u64, reason: impl Into<String>) -> Self {
        Self {
            structure: structure.into(),
            offset: Some(offset),
            reason: reason.into(),
        }
    }

    /// The sentence.
    pub fn sentence(&self) -> String {
        let Self {
            structure, reason, ..
        } = self;
        match self.offset {
            Some(offset) => format!("{structure} at offset {offset:#x}: {reason}."),
            None => format!("{structure}: {reason}."),
        }
    }
}

/// Notes, each said once, and no more than [`Notes::MAX`]: what comes after
/// is counted.
#[derive(Debug, Default)]
pub struct Notes {
    notes: Vec<Note>,
    more: u64,
}

impl Notes {
    /// Notes that are kept word for word.
    pub const MAX: usize = 256;

    /// Adds one.
    pub fn add(&mut self, note: Note) {
        if self.notes.len() == Self::MAX {
            self.more += 1;
        } else if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds one about the structure at `offset`.
    pub fn at(&mut self, structure: impl Into<String>, offset: u64, reason: impl Into<String>) {
        self.add(Note::at(structure, offset, reason));
    }

    /// Adds those of a part.
    pub fn append(&mut self, other: Self) {
        for note in other.notes {
            self.add(note);
        }
        self.more += other.more;
    }

    /// Whether nothing was wrong.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The sentences, in the order in which they were added.
    pub fn sentences(&self) -> Vec<String> {
        let mut said: Vec<String> = self.notes.iter().map(Note::sentence).collect();
        if self.more > 0 {
            let what = crate::artifact::limitation::counted(
                self.more,
                "further structure could not be read.",
                "further structures could not be read.",
            );
            said.push(what);
        }
        said
    }
}
