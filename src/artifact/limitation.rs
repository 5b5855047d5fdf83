//! What an inventory says about what it could not read or had to change.
//!
//! Every text is a template of ours; it is hashed, so it stays as it is once
//! released. Limitations stand in the order of the contract's list and then
//! of the decisions that ask for them ([`Limitation::rank`]).

use std::borrow::Cow;

use crate::json::{WriteJson, Writer};

/// A fixed limitation of an occurrence: one bit each, in order of rank.
#[allow(missing_docs)] // the text beside each says what it means
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Note {
    SuffixUnchecked,
    CompanionMissing,
    Contradicted,
    Escaped,
    Encrypted,
    Unreadable,
    UnreadableDirectory,
    Special,
    Thin,
    StoredDespiteEncryption,
    StoredDespiteMethod,
    HeadersDisagree,
    OpaqueDamaged,
    OpaqueTooDeep,
    OpaqueContradicted,
    OpaqueBudget,
    OpaqueEntry,
    OpaqueUnread,
    CompanionElsewhere,
    LinkTargetOmitted,
    LinkedToNothing,
    ListedElsewhere,
}

const FIXED: &[(Note, u16, &str)] = &[
    (
        Note::SuffixUnchecked,
        1,
        "The suffix suggests a container, but the content was not read to check it.",
    ),
    (
        Note::CompanionMissing,
        1,
        "Its bytes belong in the archive's .unpacked companion, where they were not found.",
    ),
    (
        Note::Contradicted,
        1,
        "Its bytes contradict the SHA-256 that its container declares; they are not trusted.",
    ),
    (
        Note::Escaped,
        101,
        "Its name may not be used as a path, or another entry has the same; it is recorded under an escaped path.",
    ),
    (
        Note::Encrypted,
        107,
        "It is encrypted; its content was not read.",
    ),
    (
        Note::Unreadable,
        107,
        "Permission to read it was denied; its content was not read.",
    ),
    (
        Note::UnreadableDirectory,
        107,
        "Permission to list it was denied; what it holds is not known.",
    ),
    (
        Note::Special,
        107,
        "It is a device, FIFO or socket; it has no content to read.",
    ),
    (
        Note::Thin,
        107,
        "Its archive is thin: the content is in a file beside it and was not read.",
    ),
    (
        Note::StoredDespiteEncryption,
        108,
        "Its header says encrypted, but sizes and CRC-32 prove that it is not; it was read as it is.",
    ),
    (
        Note::StoredDespiteMethod,
        108,
        "Its header names an unknown compression method, but sizes and CRC-32 prove that it is stored; it was read as it is.",
    ),
    (
        Note::HeadersDisagree,
        108,
        "Its local header disagrees with the central directory, which was followed.",
    ),
    (
        Note::OpaqueDamaged,
        110,
        "It is a damaged container; it was hashed as a file and its members are not listed.",
    ),
    (
        Note::OpaqueTooDeep,
        110,
        "It is nested deeper than the limit; it was hashed as a file and its members are not listed.",
    ),
    (
        Note::OpaqueContradicted,
        110,
        "It contradicts its declared SHA-256; it was hashed as a file and its members are not listed.",
    ),
    (
        Note::OpaqueBudget,
        110,
        "The budget for nested containers was used up; it was hashed as a file and its members are not listed.",
    ),
    (
        Note::OpaqueEntry,
        110,
        "A member of it exceeds a limit for members; it was hashed as a file and its members are not listed.",
    ),
    (
        Note::OpaqueUnread,
        110,
        "It is a container of a format whose members are not listed; it was hashed as a file.",
    ),
    (
        Note::CompanionElsewhere,
        113,
        "Its bytes are those of the archive's .unpacked companion, under whose own path it is listed too.",
    ),
    (
        Note::LinkTargetOmitted,
        114,
        "Its link target is longer than a path may be and is not shown.",
    ),
    (
        Note::LinkedToNothing,
        114,
        "It is a hard link to an entry that the archive does not hold before it.",
    ),
    (
        Note::ListedElsewhere,
        114,
        "It is a hard link; what it holds is listed under the member it links to.",
    ),
];

/// Whether limitations, as the text of a JSON array, say that a container was
/// not opened.
pub(crate) fn says_opaque(limitations: &str) -> bool {
    const OPAQUE: [Note; 6] = [
        Note::OpaqueDamaged,
        Note::OpaqueTooDeep,
        Note::OpaqueContradicted,
        Note::OpaqueBudget,
        Note::OpaqueEntry,
        Note::OpaqueUnread,
    ];
    FIXED
        .iter()
        .any(|(note, _, text)| OPAQUE.contains(note) && limitations.contains(text))
}

/// A set of [`Note`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes(u32);

impl Notes {
    /// Adds a note.
    pub fn add(&mut self, note: Note) {
        self.0 |= 1 << note as u8;
    }

    /// Takes a note away.
    pub fn remove(&mut self, note: Note) {
        self.0 &= !(1 << note as u8);
    }

    /// Whether it holds the note.
    pub fn has(self, note: Note) -> bool {
        self.0 & (1 << note as u8) != 0
    }

    /// All notes of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it holds none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The limitations in order of rank.
    pub fn limitations(self) -> impl Iterator<Item = Limitation> {
        FIXED
            .iter()
            .filter(move |(note, _, _)| self.has(*note))
            .map(|&(_, rank, text)| Limitation {
                rank,
                text: Cow::Borrowed(text),
            })
    }
}

/// A sentence about one occurrence or about the whole result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limitation {
    /// 1 to 99: the contract's list; 100 + N: decision N.
    pub rank: u16,
    /// The sentence.
    pub text: Cow<'static, str>,
}

impl Limitation {
    /// A limitation with facts in its text.
    pub fn new(rank: u16, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rank,
            text: text.into(),
        }
    }
}

/// A number with the noun that fits it: `1 member`, `2 members`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{count} {noun}")
}

impl WriteJson for Limitation {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(&self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_order_of_bits_and_ranks() {
        for (index, (note, _, _)) in FIXED.iter().enumerate() {
            assert_eq!(*note as usize, index);
        }
        assert!(FIXED.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    }
}
