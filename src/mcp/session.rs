//! A session: the ledger, what is open, and what is being worked on. It
//! belongs to the process and outlives the client that opened the target.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::engine::{self, Binding, Engine, Opener};
use super::ledger::Ledger;
use super::settings::Settings;
use super::tool::{Takes, Tool};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::{NewSubject, UnknownScope};

/// What is open: a file, or the executable of an application.
#[derive(Clone, Debug)]
pub struct Target {
    /// The file whose bytes are meant.
    pub path: String,
    /// What the user named, from the root.
    pub source_path: String,
    /// SHA-256 of the file.
    pub sha256: Digest,
    /// `executable`, `database`, `archive` or `artifact`.
    pub kind: &'static str,
    /// The format in subjects.
    pub format: &'static str,
    /// The architecture, where the contract has a name for it.
    pub architecture: Option<&'static str>,
    /// Architectures of the slices of a universal file.
    pub available_architectures: Vec<&'static str>,
}

impl Target {
    /// As `open_binary` answers.
    pub fn to_value(&self) -> Value {
        json!({
            "path": self.path,
            "format": self.format,
            "kind": self.kind,
            "sha256": self.sha256.to_hex(),
            "architecture": self.architecture,
        })
    }

    fn subject(&self) -> NewSubject {
        NewSubject {
            path: self.path.clone(),
            sha256: self.sha256,
            format: self.format.to_owned(),
            architecture: self.architecture.map(str::to_owned),
        }
    }
}

/// The folder of an application whose resources are looked at.
#[derive(Clone, Debug)]
pub struct Resources {
    /// As the user named it.
    pub path: String,
    /// Without links.
    pub root: PathBuf,
}

/// What is open.
#[derive(Clone, Debug, Default)]
pub enum Open {
    /// Nothing.
    #[default]
    Nothing,
    /// A target, perhaps with a provider.
    Binary {
        /// The target.
        target: Box<Target>,
        /// Who analyses it.
        binding: Option<Box<Binding>>,
        /// The id of this run.
        run: String,
    },
    /// Resources of an application.
    Resources(Resources),
}

/// A call that is being worked on.
#[derive(Clone, Debug)]
struct Active {
    number: u64,
    request_id: String,
    operation: &'static str,
    since: Instant,
}

/// The state of a server.
pub struct Session {
    /// Records and unknowns.
    pub ledger: Ledger,
    /// What the environment said.
    pub settings: Settings,
    /// When it began, in milliseconds since 1970.
    pub started_at: u64,
    pub(super) engines: Vec<Box<dyn Engine>>,
    pub(super) opener: Box<dyn Opener>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: Open,
    active: Vec<Active>,
    next: u64,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// A session in which nothing is open.
    pub fn new(
        settings: Settings,
        capacity: u64,
        engines: Vec<Box<dyn Engine>>,
        opener: Box<dyn Opener>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            ledger: Ledger::new(capacity),
            settings,
            started_at: now.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0)),
            engines,
            opener,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is open.
    pub fn open(&self) -> Open {
        self.state().open.clone()
    }

    /// Opens a target in place of what was open; records stay.
    pub(super) fn bind(&self, target: Target, binding: Option<Binding>) {
        let mut state = self.state();
        let run = match &state.open {
            // The same target and provider go on.
            Open::Binary {
                target: before,
                binding: bound,
                run,
            } if before.sha256 == target.sha256
                && before.path == target.path
                && bound.as_ref().map(|one| one.provider.id)
                    == binding.as_ref().map(|one| one.provider.id) =>
            {
                run.clone()
            }
            _ => random_uuid(),
        };
        state.open = Open::Binary {
            target: Box::new(target),
            binding: binding.map(Box::new),
            run,
        };
    }

    /// Opens resources in place of what was open.
    pub(super) fn look_at(&self, resources: Resources) {
        self.state().open = Open::Resources(resources);
    }

    /// Closes what is open and forgets all records.
    pub(super) fn close(&self) {
        self.state().open = Open::Nothing;
        self.ledger.clear();
    }

    /// What a tool works on that is given no path: the open target, or the
    /// folder whose resources are looked at, unless it needs a program.
    ///
    /// # Errors
    /// `target_unavailable` where no such thing is open.
    pub(super) fn path_for(&self, tool: &Tool) -> Result<String> {
        match (self.open(), tool.takes) {
            (Open::Binary { target, .. }, _) => Ok(target.source_path),
            (Open::Resources(resources), Takes::Target) => {
                Ok(resources.root.to_string_lossy().into_owned())
            }
            (Open::Nothing | Open::Resources(_), _) => Err(no_target(tool.name)),
        }
    }

    /// What a question is about: the open target, or nothing.
    pub fn scope(&self) -> UnknownScope {
        match self.open() {
            Open::Binary { target, .. } => UnknownScope::Subject(target.subject()),
            Open::Nothing | Open::Resources(_) => UnknownScope::Nothing,
        }
    }

    /// Notes that a call is being worked on, until the guard is dropped.
    pub fn begin(self: &Arc<Self>, request_id: &str, operation: &'static str) -> Working {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.active.push(Active {
            number,
            request_id: request_id.to_owned(),
            operation,
            since: Instant::now(),
        });
        Working {
            session: Arc::clone(self),
            number,
        }
    }

    /// `analysis_activity` of `binary_session`, which is asked by the call
    /// `asking`.
    pub(super) fn activity(&self, asking: &str) -> Value {
        let state = self.state();
        let working: Vec<_> = state
            .active
            .iter()
            .filter(|active| active.request_id != asking)
            .collect();
        let Open::Binary {
            binding: Some(binding),
            ..
        } = &state.open
        else {
            return json!({"status": "not_observed", "providers": []});
        };
        let active = working.first().map(|active| {
            let elapsed = u64::try_from(active.since.elapsed().as_millis()).unwrap_or(u64::MAX);
            json!({
                "request_id": active.request_id,
                "operation": active.operation,
                "elapsed_ms": elapsed,
                "timeout_ms": null,
                "caller_state": "waiting",
            })
        });
        json!({
            "status": if working.is_empty() { "idle" } else { "busy" },
            "providers": [{
                "provider": engine::provider(binding.provider),
                "active": active,
                "queued_requests": working.len().saturating_sub(1),
            }],
        })
    }
}

/// A call that is being worked on, for `binary_session` to tell.
pub struct Working {
    session: Arc<Session>,
    number: u64,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.session
            .state()
            .active
            .retain(|active| active.number != self.number);
    }
}

fn no_target(operation: &str) -> Error {
    let message = format!("{operation} needs a target, and none is open");
    Error::new(Code::TargetUnavailable, message)
        .action("Open one with open_binary, or give its `path`.")
        .detail("operation", operation)
        .detail("reason", "no_target")
}

/// A UUID of random numbers (RFC 9562, version 4).
fn random_uuid() -> String {
    use std::hash::{BuildHasher, RandomState};
    let words = [0u8, 1].map(|word| RandomState::new().hash_one(word));
    let [high, low] = words;
    let high = (high & !0xF000) | 0x4000;
    let low = (low & !(0b11 << 62)) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_the_form_of_version_4() {
        let uuid = random_uuid();
        let parts: Vec<_> = uuid.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(matches!(uuid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        assert_ne!(uuid, random_uuid());
    }
}
