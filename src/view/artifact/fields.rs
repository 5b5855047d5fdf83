//! The members of a row that checks need, in buffers that are used again.

/// Members by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    ArtifactFormat,
    ArtifactId,
    ContradictionId,
    DeclaredSha256,
    EdgeId,
    EntryKind,
    LogicalPath,
    ObservedSha256,
    OccurrenceId,
    ParentArtifactId,
    ParentOccurrenceId,
    Relation,
    Sha256,
}

const NAMES: [(Field, &[u8]); 13] = [
    (Field::ArtifactFormat, b"artifact_format"),
    (Field::ArtifactId, b"artifact_id"),
    (Field::ContradictionId, b"contradiction_id"),
    (Field::DeclaredSha256, b"declared_sha256"),
    (Field::EdgeId, b"edge_id"),
    (Field::EntryKind, b"entry_kind"),
    (Field::LogicalPath, b"logical_path"),
    (Field::ObservedSha256, b"observed_sha256"),
    (Field::OccurrenceId, b"occurrence_id"),
    (Field::ParentArtifactId, b"parent_artifact_id"),
    (Field::ParentOccurrenceId, b"parent_occurrence_id"),
    (Field::Relation, b"relation"),
    (Field::Sha256, b"sha256"),
];

impl Field {
    /// The field of a member's name.
    pub fn named(name: &[u8]) -> Option<Self> {
        NAMES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(field, _)| *field)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Held {
    #[default]
    Nothing,
    Null,
    Text,
}

/// The values of one row.
#[derive(Debug, Default)]
pub(super) struct Fields {
    held: [Held; NAMES.len()],
    texts: [Vec<u8>; NAMES.len()],
}

impl Fields {
    /// A row begins.
    pub fn clear(&mut self) {
        self.held = [Held::Nothing; NAMES.len()];
    }

    /// The member is `null`.
    pub fn null(&mut self, field: Field) {
        if let Some(held) = self.held.get_mut(field as usize) {
            *held = Held::Null;
        }
    }

    /// The next part of a member that is a string; `first` where it begins.
    /// How much memory is kept more than before.
    pub fn part(&mut self, field: Field, part: &[u8], first: bool) -> usize {
        let at = field as usize;
        let (Some(held), Some(text)) = (self.held.get_mut(at), self.texts.get_mut(at)) else {
            return 0;
        };
        *held = Held::Text;
        if first {
            text.clear();
        }
        let before = text.capacity();
        text.extend_from_slice(part);
        text.capacity() - before
    }

    /// A member that is a string.
    pub fn text(&self, field: Field) -> Option<&[u8]> {
        let at = field as usize;
        (self.held.get(at) == Some(&Held::Text)).then(|| self.texts.get(at).map(Vec::as_slice))?
    }

    /// Whether the member is there and `null`.
    pub fn is_null(&self, field: Field) -> bool {
        self.held.get(field as usize) == Some(&Held::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_place() {
        for (at, (field, name)) in NAMES.iter().enumerate() {
            assert_eq!(*field as usize, at);
            assert_eq!(Field::named(name), Some(*field));
        }
    }
}
