//! What a session remembers: records and unknowns, bounded by bytes, never
//! dropped to make room (section 8 of the contract, evidence section 6).

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Code, Error, Result};
use crate::evidence::{
    Bundle, BundleOutput, Collector, Creation, EvidenceId, Merged, NewUnknown, Replaced, Source,
    UnknownId, UnknownScope,
};
use crate::json::{Limits, Object, Text, Value, canonical};
use crate::operation::Context;
use crate::view::Retained;

/// What a record costs beside its text.
const OVERHEAD: u64 = 512;

/// The records and unknowns of a session.
#[derive(Debug)]
pub struct Ledger {
    capacity: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bundle: Bundle,
    /// Of each record that was added by itself, its text: so that it is found
    /// without asking the bundle.
    texts: HashMap<EvidenceId, Arc<[u8]>>,
    bytes: u64,
}

impl Ledger {
    /// A ledger that holds `capacity` bytes of records.
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is one assignment after all checks.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes of records it can hold.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Keeps a record, whose text is checked. Keeping it again changes nothing.
    ///
    /// # Errors
    /// `resource_constraint` where there is no room; those of a record that is
    /// none.
    pub fn keep(&self, id: EvidenceId, text: &Arc<[u8]>, context: &Context) -> Result<()> {
        let size = text.len() as u64 + OVERHEAD;
        {
            let state = self.state();
            if state.bundle.contains(id) {
                return Ok(());
            }
            self.room(&state, size, context.operation)?;
        }
        let mut one = Bundle::new();
        let source = Source::memory("the result", Arc::clone(text));
        Collector::new().read(source, Limits::default(), context, &mut |item| {
            one.merge(item.bundle).map(drop)
        })?;
        if !one.contains(id) || one.len() != 1 {
            let message = "a result is not the record that it claims to be";
            return Err(Error::new(Code::EvidenceIntegrityMismatch, message)
                .detail("evidence_id", id.to_string()));
        }
        context.check()?;
        let mut state = self.state();
        if state.bundle.contains(id) {
            return Ok(());
        }
        self.room(&state, size, context.operation)?;
        state.bundle.merge(one)?;
        state.texts.insert(id, Arc::clone(text));
        state.bytes += size;
        Ok(())
    }

    fn room(&self, state: &State, size: u64, operation: &str) -> Result<()> {
        let wanted = state.bytes.saturating_add(size);
        if wanted <= self.capacity {
            return Ok(());
        }
        let reason = format!(
            "the session keeps {} bytes of at most {}, and {size} more are needed",
            state.bytes, self.capacity
        );
        let mut limits = Object::new();
        limits.insert("boundary", "session-ledger");
        limits.insert("capacity_bytes", self.capacity);
        limits.insert("retained_bytes", state.bytes);
        limits.insert("needed_bytes", size);
        Err(Error::new(Code::ResourceConstraint, format!("There is no room for the record: {reason}"))
            .action("Export the session with export_evidence_bundle, clear it with reset_investigation, or ask for less.")
            .detail("operation", operation)
            .detail("resource", "memory")
            .detail("reason", reason)
            .detail("reported_limits", limits))
    }

    /// Everything that is kept.
    pub fn bundle(&self) -> Bundle {
        self.state().bundle.clone()
    }

    /// The ids of the records, ascending, at most `limit`.
    pub fn ids(&self, limit: usize) -> Vec<EvidenceId> {
        self.state().bundle.ids().take(limit).collect()
    }

    /// How many records and bytes there are.
    pub fn size(&self) -> (u64, u64) {
        let state = self.state();
        (state.bundle.len() as u64, state.bytes)
    }

    /// Changes unknowns; `change` sees the bundle and answers with what it
    /// made, or leaves everything as it is.
    pub fn change<T>(
        &self,
        operation: &str,
        change: impl FnOnce(&mut Bundle) -> Result<T>,
    ) -> Result<T> {
        let mut state = self.state();
        // An unknown and its record of mutation are at most some kilobytes,
        // but for the texts of the caller, which came in one message.
        self.room(&state, OVERHEAD, operation)?;
        let mut bundle = state.bundle.clone();
        let before = bundle.len();
        let made = change(&mut bundle)?;
        let added = bundle.len().saturating_sub(before) as u64;
        state.bundle = bundle;
        state.bytes += added * (OVERHEAD + 2048);
        Ok(made)
    }

    /// Keeps the record of a workflow that ended without an answer, together
    /// with the question that stays open (evidence section 5). The question
    /// names the record, so that each result has one of its own; the same
    /// result again changes nothing.
    ///
    /// # Errors
    /// Those of [`Ledger::keep`] and of recording an unknown; then nothing is
    /// kept.
    pub fn keep_unresolved(
        &self,
        id: EvidenceId,
        text: &Arc<[u8]>,
        question: &NewUnknown,
        context: &Context,
    ) -> Result<()> {
        let mut question = question.clone();
        let named = format!("{} (record {id})", text_of(&question.question));
        question.question = named.as_str().into();
        question.supporting_evidence_ids = Vec::new();
        let unknown = UnknownId::of(&question.domain, &question.question, None);
        if self.state().bundle.unknowns().head(unknown).is_some() {
            return self.keep(id, text, context);
        }
        let had = self.state().bundle.contains(id);
        self.keep(id, text, context)?;
        let recorded = self.change(context.operation, |bundle| {
            bundle.record_unknown(&question, UnknownScope::Nothing)
        });
        match recorded {
            Ok(_) => Ok(()),
            Err(error) => {
                if !had {
                    self.forget(id, text.len() as u64 + OVERHEAD);
                }
                Err(error)
            }
        }
    }

    fn forget(&self, id: EvidenceId, size: u64) {
        let mut state = self.state();
        if state.bundle.remove(id) {
            state.texts.remove(&id);
            state.bytes = state.bytes.saturating_sub(size);
        }
    }

    /// Takes everything of the bundle in a file in, or nothing.
    ///
    /// # Errors
    /// Those of reading a bundle and of merging it; `resource_constraint`
    /// where there is no room.
    pub fn import(&self, path: &Path, context: &Context) -> Result<Merged> {
        // The records must outlive the file.
        let text = read_file(path, self.capacity, context)?;
        let size = text.len() as u64;
        self.room(&self.state(), size, context.operation)?;
        let name = crate::publish::display_path(path);
        let source = Source::memory(&name, text);
        let limits = Limits {
            max_input_bytes: self.capacity,
            ..Limits::default()
        };
        let incoming = crate::evidence::read_bundle(source, limits, context)?;
        self.take_in(incoming, size, context)
    }

    /// Takes everything of a bundle of `size` bytes in, or nothing.
    ///
    /// # Errors
    /// As of [`Ledger::import`].
    pub fn merge(&self, incoming: Bundle, size: u64, context: &Context) -> Result<()> {
        self.take_in(incoming, size, context).map(drop)
    }

    fn take_in(&self, incoming: Bundle, size: u64, context: &Context) -> Result<Merged> {
        context.check()?;
        let mut state = self.state();
        self.room(&state, size, context.operation)?;
        let mut bundle = state.bundle.clone();
        let merged = bundle.merge(incoming)?;
        state.bundle = bundle;
        if merged.imported > 0 || merged.unknowns_added > 0 {
            state.bytes += size;
        }
        Ok(merged)
    }

    /// Writes everything to a file, complete or not at all.
    ///
    /// # Errors
    /// Those of writing; nothing is lost by one.
    pub fn export(&self, path: &Path, overwrite: bool, context: &Context) -> Result<Exported> {
        let bundle = self.bundle();
        let output = BundleOutput::open(path, overwrite, &[], context)?;
        let replaced = bundle.publish(output, context)?;
        Ok(Exported { bundle, replaced })
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    /// Keeps an error that is too large to be told as a record of its own.
    pub fn keep_error(&self, error: &Error, tool: &str, context: &Context) -> Result<EvidenceId> {
        const MAKER: crate::evidence::Provider = crate::evidence::Provider {
            id: "rea-session",
            name: "rea session",
            version: "1",
        };
        let told = Value::parse(&canonical(error), Limits::default()).map_err(|error| {
            Error::new(
                Code::ExecutionFailure,
                format!("the error is no JSON: {error}"),
            )
        })?;
        let mut creation = Creation::new(tool, MAKER);
        let mut result = Object::new();
        result.insert("error", told);
        creation.normalized_result = result.into();
        creation.limitations =
            vec!["The call failed; this is its error, which did not fit into a reply.".to_owned()];
        let evidence = crate::evidence::Evidence::create(creation);
        let id = evidence.id();
        self.keep(id, &canonical(&evidence).into(), context)?;
        Ok(id)
    }
}

impl Retained for Ledger {
    fn open(&self, id: EvidenceId) -> Option<Source> {
        let state = self.state();
        match state.texts.get(&id) {
            Some(text) => Some(Source::memory(&id.to_string(), Arc::clone(text))),
            None => state.bundle.source(id),
        }
    }
}

fn text_of(text: &Text) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

/// What was written to a file.
#[derive(Debug)]
pub struct Exported {
    /// The bundle.
    pub bundle: Bundle,
    /// Its file.
    pub replaced: Replaced,
}

fn read_file(path: &Path, capacity: u64, context: &Context) -> Result<Arc<[u8]>> {
    use std::io::Read;
    let shown = crate::publish::display_path(path).into_owned();
    let failed = |error| Error::file_io("read", &shown, &error);
    let mut source = Source::open(path)?;
    let mut text = Vec::new();
    let mut portion = vec![0; 256 * 1024];
    loop {
        context.check()?;
        let count = source.read(&mut portion).map_err(failed)?;
        if count == 0 {
            return Ok(text.into());
        }
        text.extend_from_slice(portion.get(..count).unwrap_or_default());
        if text.len() as u64 > capacity {
            let reason =
                format!("{shown} is longer than the {capacity} bytes that the session can keep");
            let mut limits = Object::new();
            limits.insert("boundary", "session-ledger");
            limits.insert("capacity_bytes", capacity);
            return Err(Error::new(Code::ResourceConstraint, reason.as_str())
                .action("Import a smaller bundle, or look at this one with `rea inspect-evidence-bundle`.")
                .detail("operation", context.operation)
                .detail("resource", "memory")
                .detail("reason", reason)
                .detail("reported_limits", limits));
        }
    }
}

/// A quarter of the memory that this process may use: the limit of its control
/// group, or else the machine's.
pub fn usual_capacity() -> u64 {
    const LEAST: u64 = 64 << 20;
    let limits = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let group = limits.into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        text.trim().parse::<u64>().ok()
    });
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("MemTotal:"))?;
            let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(kilobytes * 1024)
        });
    let allowance = group.chain(machine).min().unwrap_or(1 << 30);
    (allowance / 4).max(LEAST)
}
