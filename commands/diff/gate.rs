//! `--fail-on`: which differences inside of binaries end a job.

use std::io::{self, Write};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use rea::artifact::{ComparisonStatus, Deep, Diff};
use rea::member_facts::{Changed, Topic, TopicChanges};

use crate::quantity::thousands;
use crate::shown::shown;

/// Exit status where there is a reason.
pub const FAILED: u8 = 3;

pub const HELP: &str = "\
Exit with 3 where --deep finds one of these, and say why first; with 4 where
something could not be looked at. A list of words with commas between:
export-, import-, dependency-, symbol- and build-id-, each with -added,
-removed or -changed; mitigation-lost and mitigation-gained. export- and
import- are those of WebAssembly too, wasm-export- and wasm-import- those
alone.";

/// What of a topic is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Added,
    Removed,
    Changed,
    /// A protection that is weaker, or not there any more.
    Lost,
    /// The opposite.
    Gained,
}

/// A word of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    word: &'static str,
    topics: &'static [Topic],
    what: What,
}

const fn gate(word: &'static str, topics: &'static [Topic], what: What) -> Gate {
    Gate { word, topics, what }
}

const EXPORTS: &[Topic] = &[Topic::Export, Topic::WasmExport];
const IMPORTS: &[Topic] = &[Topic::Import, Topic::WasmImport];

static GATES: &[Gate] = &[
    gate("build-id-added", &[Topic::BuildId], What::Added),
    gate("build-id-changed", &[Topic::BuildId], What::Changed),
    gate("build-id-removed", &[Topic::BuildId], What::Removed),
    gate("dependency-added", &[Topic::Dependency], What::Added),
    gate("dependency-changed", &[Topic::Dependency], What::Changed),
    gate("dependency-removed", &[Topic::Dependency], What::Removed),
    gate("export-added", EXPORTS, What::Added),
    gate("export-changed", EXPORTS, What::Changed),
    gate("export-removed", EXPORTS, What::Removed),
    gate("import-added", IMPORTS, What::Added),
    gate("import-changed", IMPORTS, What::Changed),
    gate("import-removed", IMPORTS, What::Removed),
    gate("mitigation-gained", &[Topic::Mitigation], What::Gained),
    gate("mitigation-lost", &[Topic::Mitigation], What::Lost),
    gate("symbol-added", &[Topic::Symbol], What::Added),
    gate("symbol-changed", &[Topic::Symbol], What::Changed),
    gate("symbol-removed", &[Topic::Symbol], What::Removed),
    gate("wasm-export-added", &[Topic::WasmExport], What::Added),
    gate("wasm-export-changed", &[Topic::WasmExport], What::Changed),
    gate("wasm-export-removed", &[Topic::WasmExport], What::Removed),
    gate("wasm-import-added", &[Topic::WasmImport], What::Added),
    gate("wasm-import-changed", &[Topic::WasmImport], What::Changed),
    gate("wasm-import-removed", &[Topic::WasmImport], What::Removed),
];

impl ValueEnum for Gate {
    fn value_variants<'a>() -> &'a [Self] {
        GATES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word))
    }
}

/// Why a job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The word of `--fail-on`.
    pub word: &'static str,
    /// The member.
    pub path: String,
    /// The names.
    pub names: Vec<String>,
}

/// Names that a reason lists.
const NAMES: usize = 5;

impl Reason {
    /// The names on one line.
    pub fn names(&self) -> String {
        let mut text = self
            .names
            .iter()
            .take(NAMES)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let more = self.names.len().saturating_sub(NAMES);
        if more > 0 {
            text.push_str(&format!(" and {} more", thousands(more as u64)));
        }
        text
    }
}

/// Everything that is looked for and found: by word, then by path.
pub fn reasons(gates: &[Gate], deep: Option<&Deep>) -> Vec<Reason> {
    let mut gates: Vec<&Gate> = gates.iter().collect();
    gates.sort_unstable_by_key(|gate| gate.word);
    gates.dedup();
    let mut reasons = Vec::new();
    for gate in gates {
        for member in deep.map(Deep::members).unwrap_or_default() {
            let topics = member.topics.iter();
            let topics = topics.filter(|changes| gate.topics.contains(&changes.topic));
            let names: Vec<String> = topics.flat_map(|changes| gate.names(changes)).collect();
            if !names.is_empty() {
                reasons.push(Reason {
                    word: gate.word,
                    path: member.path.clone(),
                    names,
                });
            }
        }
    }
    reasons
}

impl Gate {
    /// The names that it looks for.
    fn names(&self, changes: &TopicChanges) -> Vec<String> {
        let pairs = |rows: &[(String, String)], takes: &dyn Fn(&str) -> bool| {
            let rows = rows.iter().filter(|(_, detail)| takes(detail));
            rows.map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let changed = |takes: &dyn Fn(&Changed) -> bool| {
            let rows = changes.changed.iter().filter(|one| takes(one));
            rows.map(|one| one.name.clone()).collect::<Vec<_>>()
        };
        let protects = |state: &str| strength(state) > 0;
        match self.what {
            What::Added => pairs(&changes.added, &|_| true),
            What::Removed => pairs(&changes.removed, &|_| true),
            What::Changed => changed(&|_| true),
            What::Lost => {
                let mut names = changed(&|one| strength(&one.after) < strength(&one.before));
                names.extend(pairs(&changes.removed, &protects));
                names
            }
            What::Gained => {
                let mut names = changed(&|one| strength(&one.after) > strength(&one.before));
                names.extend(pairs(&changes.added, &protects));
                names
            }
        }
    }
}

/// How much a protection's state protects; what is not known protects nothing.
fn strength(state: &str) -> u8 {
    match state {
        "present" => 2,
        "partial" => 1,
        _ => 0,
    }
}

/// Reasons that stderr lists.
const SAID: usize = 40;

/// Says the reasons on stderr.
pub fn say(reasons: &[Reason]) {
    let mut text = String::new();
    for reason in reasons.iter().take(SAID) {
        let path = shown(&reason.path).into_owned();
        let names = reason.names();
        text.push_str(&format!("{}: {path}: {}\n", reason.word, shown(&names)));
    }
    let more = reasons.len().saturating_sub(SAID);
    if more > 0 {
        text.push_str(&format!("{} more reasons\n", thousands(more as u64)));
    }
    // Nobody is left to tell where stderr is closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The exit status where no reason was found: 0 only if all was looked at.
pub fn cannot_tell(diff: &Diff) -> u8 {
    let unread = diff.deep().is_some_and(|deep| !deep.unread().is_empty());
    match diff.status() {
        ComparisonStatus::Contradiction => ComparisonStatus::Contradiction.exit_status(),
        ComparisonStatus::Unknown | ComparisonStatus::Truncated => {
            ComparisonStatus::Unknown.exit_status()
        }
        _ if unread => ComparisonStatus::Unknown.exit_status(),
        ComparisonStatus::Changed | ComparisonStatus::Unchanged => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(topic: Topic) -> TopicChanges {
        let pair = |name: &str, detail: &str| (name.to_owned(), detail.to_owned());
        let changed = |name: &str, before: &str, after: &str| Changed {
            name: name.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
        };
        TopicChanges {
            topic,
            added: vec![pair("new", "present"), pair("none", "absent")],
            removed: vec![pair("old", "partial"), pair("gone", "not-applicable")],
            changed: vec![
                changed("weaker", "present", "partial"),
                changed("unknown", "present", "unknown"),
                changed("stronger", "absent", "partial"),
                changed("same", "absent", "not-applicable"),
            ],
        }
    }

    fn names(word: &str, topic: Topic) -> Vec<String> {
        let gate = GATES.iter().find(|gate| gate.word == word).unwrap();
        gate.names(&changes(topic))
    }

    #[test]
    fn protections_are_lost_and_gained() {
        assert_eq!(
            names("mitigation-lost", Topic::Mitigation),
            ["weaker", "unknown", "old"]
        );
        assert_eq!(
            names("mitigation-gained", Topic::Mitigation),
            ["stronger", "new"]
        );
        assert_eq!(names("export-removed", Topic::Export), ["old", "gone"]);
        assert_eq!(names("import-added", Topic::Import), ["new", "none"]);
    }

    #[test]
    fn words_are_in_order_and_in_the_help() {
        assert!(GATES.is_sorted_by(|one, other| one.word < other.word));
        for gate in GATES {
            let (topic, what) = gate.word.rsplit_once('-').unwrap();
            assert!(HELP.contains(topic) && HELP.contains(what), "{}", gate.word);
        }
    }
}
