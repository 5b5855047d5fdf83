//! Tools as data: what a server is given by whoever knows the operations.

use std::sync::Arc;

use super::call::Call;
use crate::error::Result;
use crate::evidence::{EvidenceId, Record};
use crate::json::{WriteJson, canonical};

/// What a call may do, over all inputs (section 11 of the contract).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects(u16);

/// The flags of [`Effects`] with their names, in the contract's order.
const EFFECTS: [(Effects, &str); 10] = [
    (Effects::MUTATES_TARGET, "mutatesTarget"),
    (Effects::MUTATES_SESSION, "mutatesSession"),
    (Effects::WRITES_FILESYSTEM, "writesFilesystem"),
    (Effects::LAUNCHES_PROCESS, "launchesProcess"),
    (Effects::ACCESSES_NETWORK, "accessesNetwork"),
    (Effects::CHANGES_UI_STATE, "changesUiState"),
    (Effects::MAY_DISCARD_DATA, "mayDiscardData"),
    (Effects::EXECUTES_FOREIGN_CODE, "executesForeignCode"),
    (Effects::MUTATES_DEVICE, "mutatesDevice"),
    (Effects::IDEMPOTENT, "idempotent"),
];

impl Effects {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Changes the target or its database.
    pub const MUTATES_TARGET: Self = Self(1);
    /// Records Evidence or unknowns, or changes what is open.
    pub const MUTATES_SESSION: Self = Self(2);
    /// Writes files, temporary ones included.
    pub const WRITES_FILESYSTEM: Self = Self(4);
    /// Starts a process.
    pub const LAUNCHES_PROCESS: Self = Self(8);
    /// Talks to other machines.
    pub const ACCESSES_NETWORK: Self = Self(16);
    /// Changes what a user sees.
    pub const CHANGES_UI_STATE: Self = Self(32);
    /// Overwrites or clears something.
    pub const MAY_DISCARD_DATA: Self = Self(64);
    /// Runs code that is not ours.
    pub const EXECUTES_FOREIGN_CODE: Self = Self(128);
    /// Changes a device.
    pub const MUTATES_DEVICE: Self = Self(256);
    /// A repetition is harmless.
    pub const IDEMPOTENT: Self = Self(512);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of those that are true, in the contract's order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        EFFECTS
            .into_iter()
            .filter(move |&(flag, _)| self.has(flag))
            .map(|(_, name)| name)
    }

    /// What clients are told of them.
    pub fn annotations(self) -> Annotations {
        let discards = Self::MAY_DISCARD_DATA;
        let acts = [discards, Self::EXECUTES_FOREIGN_CODE, Self::MUTATES_DEVICE];
        Annotations {
            read_only: self.0 & !Self::IDEMPOTENT.0 == 0,
            destructive: acts.into_iter().any(|flag| self.has(flag)),
            idempotent: self.has(Self::IDEMPOTENT),
            open_world: self.has(Self::LAUNCHES_PROCESS) || self.has(Self::ACCESSES_NETWORK),
        }
    }
}

/// The protocol's hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotations {
    /// Nothing changes.
    pub read_only: bool,
    /// Something may be lost.
    pub destructive: bool,
    /// A repetition is harmless.
    pub idempotent: bool,
    /// Something outside of this machine's files is reached.
    pub open_world: bool,
}

impl Annotations {
    /// The names of those that are true, as availability groups have them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [
            (self.read_only, "read_only"),
            (self.destructive, "destructive"),
            (self.idempotent, "idempotent"),
            (self.open_world, "open_world"),
        ]
        .into_iter()
        .filter(|&(holds, _)| holds)
        .map(|(_, name)| name)
    }
}

/// What a successful call answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A record, which the session keeps.
    Evidence,
    /// `{"result": ...}`.
    Result,
}

/// Whether a tool works on what is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It does not.
    Nothing,
    /// Its `path` may be left out: then the open target is meant.
    Target,
    /// The same, and it needs a target whose bytes are those of a program.
    Binary,
}

/// The arguments of a call, as they were validated.
pub type Arguments = serde_json::Map<String, serde_json::Value>;

/// Does the work of a call.
pub type Run = Arc<dyn Fn(Arguments, &Call) -> Result<Reply> + Send + Sync>;

/// A tool.
#[derive(Clone)]
pub struct Tool {
    /// The name, snake case; unique.
    pub name: &'static str,
    /// Where it belongs in the contract's catalog.
    pub surface: &'static str,
    /// What it is for.
    pub description: String,
    /// What it may do.
    pub effects: Effects,
    /// Whether its replies hold what a target says (section 7).
    pub returns_target_content: bool,
    /// The complete JSON Schema of its arguments.
    pub input_schema: serde_json::Value,
    /// What it answers with.
    pub output: Output,
    /// Whether it works on what is open.
    pub takes: Takes,
    /// Whether `detail: "summary"` gives a view of the record in its place.
    pub summary: bool,
    /// The first page of a record that is too large for a reply, as a view.
    pub first_page: Option<serde_json::Value>,
    /// Does the work.
    pub run: Run,
}

impl Tool {
    /// The name in words, each with a capital letter.
    pub fn title(&self) -> String {
        let words = self.name.split('_').map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What a call answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A record in canonical form.
    Evidence {
        /// Its id.
        id: EvidenceId,
        /// Its text.
        text: Arc<[u8]>,
    },
    /// The JSON text of a result.
    Result(Arc<[u8]>),
    /// The JSON text of an object that stands by itself.
    Object(Arc<[u8]>),
}

impl Reply {
    /// A record.
    pub fn record(record: &dyn Record) -> Self {
        Self::Evidence {
            id: record.id(),
            text: record.canonical().into(),
        }
    }

    /// A result.
    pub fn result(result: &dyn WriteJson) -> Self {
        Self::Result(canonical(result).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_follow_from_effects() {
        // The catalog's rows of list_names, extract_artifact, close_binary and
        // binary_session.
        let hints = |effects: Effects| effects.annotations().names().collect::<Vec<_>>();
        let recorded = Effects::MUTATES_SESSION.and(Effects::IDEMPOTENT);
        assert_eq!(hints(recorded), ["idempotent"]);
        let extraction = Effects::MUTATES_SESSION
            .and(Effects::WRITES_FILESYSTEM)
            .and(Effects::LAUNCHES_PROCESS);
        assert_eq!(hints(extraction), ["open_world"]);
        let closing = Effects::MUTATES_SESSION
            .and(Effects::WRITES_FILESYSTEM)
            .and(Effects::MAY_DISCARD_DATA);
        assert_eq!(hints(closing), ["destructive"]);
        assert_eq!(hints(Effects::IDEMPOTENT), ["read_only", "idempotent"]);
        assert_eq!(
            closing.names().collect::<Vec<_>>(),
            ["mutatesSession", "writesFilesystem", "mayDiscardData"]
        );
    }
}
