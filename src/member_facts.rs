//! What a domain says of one member of an artifact, so that two releases of
//! it can be compared: names by topic, each with what may change about it.
//!
//! `diff --deep` hands the bytes of changed members to the domain whose formats
//! they have. Domains register as a table; the comparison knows none of them.

use std::borrow::Cow;
use std::cmp::Ordering;

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// What ties a binary to its debug information.
    BuildId,
    /// A library that is asked for.
    Dependency,
    /// A name that is offered.
    Export,
    /// A name that others must offer.
    Import,
    /// A protection; the detail is its state.
    Mitigation,
    /// A name in the table of symbols that is no import.
    Symbol,
    /// What a module offers.
    WasmExport,
    /// What a module asks for.
    WasmImport,
}

impl Topic {
    /// All of them, in the order of records.
    pub const ALL: [Self; 8] = [
        Self::BuildId,
        Self::Dependency,
        Self::Export,
        Self::Import,
        Self::Mitigation,
        Self::Symbol,
        Self::WasmExport,
        Self::WasmImport,
    ];

    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuildId => "build-id",
            Self::Dependency => "dependency",
            Self::Export => "export",
            Self::Import => "import",
            Self::Mitigation => "mitigation",
            Self::Symbol => "symbol",
            Self::WasmExport => "wasm-export",
            Self::WasmImport => "wasm-import",
        }
    }
}

/// A name and what may change about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fact<'a> {
    topic: Topic,
    name: Cow<'a, str>,
    detail: Cow<'a, str>,
}

/// What one member says. Names may stand several times.
#[derive(Clone, Debug, Default)]
pub struct MemberFacts<'a> {
    facts: Vec<Fact<'a>>,
    bytes: usize,
    /// Whether some of its structures could not be read.
    pub partial: bool,
}

/// The names of one member together: 256 MiB. They may stand for one another
/// in a small file.
const MOST_BYTES: usize = 256 << 20;

/// There is more to say of a member than is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

impl<'a> MemberFacts<'a> {
    /// Nothing yet, of a member that could be read wholly or in part.
    pub fn new(partial: bool) -> Self {
        Self {
            partial,
            ..Self::default()
        }
    }

    /// Adds a name.
    ///
    /// # Errors
    /// Where all names together are larger than is compared.
    pub fn add(
        &mut self,
        topic: Topic,
        name: impl Into<Cow<'a, str>>,
        detail: impl Into<Cow<'a, str>>,
    ) -> Result<(), TooMuch> {
        let (name, detail) = (name.into(), detail.into());
        self.bytes = self.bytes.saturating_add(name.len() + detail.len());
        if self.bytes > MOST_BYTES {
            return Err(TooMuch);
        }
        self.facts.push(Fact {
            topic,
            name,
            detail,
        });
        Ok(())
    }

    /// The facts, each as topic, name and detail.
    pub fn iter(&self) -> impl Iterator<Item = (Topic, &str, &str)> {
        self.facts
            .iter()
            .map(|fact| (fact.topic, &*fact.name, &*fact.detail))
    }
}

/// Formats whose members one domain reads.
#[derive(Clone, Copy)]
pub struct Domain {
    /// As inventories name them.
    pub formats: &'static [&'static str],
    /// Reads one; where it cannot, why, as the end of a sentence.
    pub read: for<'a> fn(&'a [u8]) -> Result<MemberFacts<'a>, String>,
}

/// A name that only one side has, or one whose detail differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The name.
    pub name: String,
    /// The detail on the left; empty where there is none.
    pub before: String,
    /// The detail on the right.
    pub after: String,
}

/// What differs between two members in one topic, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicChanges {
    /// The topic.
    pub topic: Topic,
    /// Only on the right: name and detail.
    pub added: Vec<(String, String)>,
    /// Only on the left: name and detail.
    pub removed: Vec<(String, String)>,
    /// On both, with other details.
    pub changed: Vec<Changed>,
}

impl TopicChanges {
    fn new(topic: Topic) -> Self {
        Self {
            topic,
            added: Vec::new(),
            removed: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// How many names differ.
    pub fn len(&self) -> usize {
        self.added.len() + self.removed.len() + self.changed.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all names and details.
    pub fn bytes(&self) -> usize {
        let pairs = self.added.iter().chain(&self.removed);
        let pairs = pairs.map(|(name, detail)| name.len() + detail.len());
        let changed = self.changed.iter();
        let changed = changed.map(|one| one.name.len() + one.before.len() + one.after.len());
        pairs.chain(changed).sum()
    }
}

/// What differs between two members; topics without a difference are left out.
pub fn compare(left: MemberFacts<'_>, right: MemberFacts<'_>) -> Vec<TopicChanges> {
    let (mut left, mut right) = (left.facts, right.facts);
    left.sort_unstable();
    right.sort_unstable();
    let mut topics: Vec<TopicChanges> = Topic::ALL.map(TopicChanges::new).into();
    let (mut left, mut right) = (left.as_slice(), right.as_slice());
    loop {
        let order = match (left.first(), right.first()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => (one.topic, &one.name).cmp(&(other.topic, &other.name)),
        };
        let before = if order.is_le() { take(&mut left) } else { &[] };
        let after = if order.is_ge() { take(&mut right) } else { &[] };
        let Some(first) = before.first().or(after.first()) else {
            break;
        };
        let Some(changes) = topics.get_mut(first.topic as usize) else {
            break;
        };
        let name = || first.name.clone().into_owned();
        if after.is_empty() {
            changes.removed.push((name(), details(before)));
        } else if before.is_empty() {
            changes.added.push((name(), details(after)));
        } else if before != after {
            changes.changed.push(Changed {
                name: name(),
                before: details(before),
                after: details(after),
            });
        }
    }
    topics.retain(|changes| !changes.is_empty());
    topics
}

/// Takes the facts of the first name.
fn take<'s, 'a>(facts: &mut &'s [Fact<'a>]) -> &'s [Fact<'a>] {
    let all = *facts;
    let Some(first) = all.first() else {
        return &[];
    };
    let same = |fact: &&Fact<'a>| fact.topic == first.topic && fact.name == first.name;
    let count = all.iter().take_while(same).count();
    let (taken, rest) = all.split_at_checked(count).unwrap_or((all, &[]));
    *facts = rest;
    taken
}

/// Details of one name that are told apart.
const DETAILS: usize = 8;

/// The details of one name as text: each once, with how often it stands there.
fn details(facts: &[Fact<'_>]) -> String {
    let mut text = String::new();
    let mut told = 0;
    let mut rest = facts;
    while let Some(first) = rest.first() {
        let count = rest
            .iter()
            .take_while(|fact| fact.detail == first.detail)
            .count();
        rest = rest.get(count..).unwrap_or_default();
        if told == DETAILS {
            text.push_str("; ...");
            break;
        }
        if told > 0 {
            text.push_str("; ");
        }
        text.push_str(&first.detail);
        if count > 1 {
            text.push_str(&format!(" \u{d7}{count}"));
        }
        told += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'a>(of: &[(Topic, &'a str, &'a str)]) -> MemberFacts<'a> {
        let mut facts = MemberFacts::default();
        for &(topic, name, detail) in of {
            facts.add(topic, name, detail).unwrap();
        }
        facts
    }

    #[test]
    fn names_are_compared_by_topic() {
        use Topic::{Export, Import, Mitigation, Symbol};
        let left = facts(&[
            (Import, "puts", "function"),
            (Export, "b", "function"),
            (Export, "a", "data 8"),
            (Mitigation, "relro", "present"),
            (Symbol, "local", "x"),
            (Symbol, "local", "y"),
            (Symbol, "local", "x"),
        ]);
        let right = facts(&[
            (Mitigation, "relro", "partial"),
            (Export, "a", "data 8"),
            (Export, "c", "function"),
            (Import, "puts", "function"),
            (Symbol, "local", "y"),
        ]);
        let found = compare(left, right);
        let topics: Vec<_> = found.iter().map(|changes| changes.topic).collect();
        assert_eq!(topics, [Export, Mitigation, Symbol]);
        assert_eq!(found[0].added, [("c".to_owned(), "function".to_owned())]);
        assert_eq!(found[0].removed, [("b".to_owned(), "function".to_owned())]);
        let changed = |changes: &TopicChanges| {
            let one = changes.changed.first().unwrap();
            [&one.name, &one.before, &one.after].map(String::clone)
        };
        assert_eq!(changed(&found[1]), ["relro", "present", "partial"]);
        assert_eq!(changed(&found[2]), ["local", "x \u{d7}2; y", "y"]);
        assert_eq!(found[2].len(), 1);
    }

    #[test]
    fn many_details_are_cut_but_compared() {
        let names: Vec<String> = (0..20).map(|at| format!("{at:02}")).collect();
        let rows: Vec<_> = names
            .iter()
            .map(|one| (Topic::Symbol, "n", &**one))
            .collect();
        assert!(compare(facts(&rows), facts(&rows)).is_empty());
        let found = compare(facts(&rows), facts(&rows[..19]));
        assert_eq!(
            found[0].changed[0].before,
            "00; 01; 02; 03; 04; 05; 06; 07; ..."
        );
    }

    #[test]
    fn names_are_bounded() {
        let name = "n".repeat(1 << 20);
        let mut facts = MemberFacts::default();
        let added = (0..300).try_for_each(|_| facts.add(Topic::Symbol, &*name, ""));
        assert_eq!(added, Err(TooMuch));
    }
}
