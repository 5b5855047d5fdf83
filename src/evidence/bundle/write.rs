//! Bundles as text: canonical JSON without a line feed at its end, which is
//! what a bundle's digest is the hash of.

use super::manifest::{self, Sets};
use super::{Body, Bundle, Entry};
use crate::digest::{Digest, Hasher};
use crate::error::Result;
use crate::evidence::EvidenceId;
use crate::evidence::source::{Reopened, Store, changed};
use crate::evidence::verifier::{Scope, Verifier};
use crate::evidence::verify::Span;
use crate::json::{
    Budget, Echo, Event, Limits, ReadError, Reader, Sink, WriteJson, Writer, replay,
};
use crate::operation::Context;

/// Between two looks at the stop request.
const EVENTS: u32 = 4096;
const BUFFER: u64 = 256 * 1024;

impl Bundle {
    /// Writes the bundle. Records that are in files are read and verified
    /// again: `artifact_changed` where a file is not what it was. What was
    /// written before an error must not be used.
    pub fn write(&self, context: &Context, w: &mut Writer<'_>) -> Result<()> {
        let heads = || self.entries.iter().map(|entry| &entry.head);
        let sets = Sets::of(heads());
        w.begin_object();
        w.key("artifacts");
        w.begin_array();
        for (_, head) in &sets.artifacts {
            manifest::write_artifact(head, w);
        }
        w.end_array();
        w.key("captures");
        w.begin_array();
        for head in heads().filter(|head| manifest::is_capture(head)) {
            manifest::write_capture(head, w);
        }
        w.end_array();
        w.key("environments");
        w.begin_array();
        for (_, head) in &sets.environments {
            manifest::write_environment(head, w);
        }
        w.end_array();
        w.key("providers");
        w.begin_array();
        for (_, head) in &sets.providers {
            manifest::write_provider(head, w);
        }
        w.end_array();
        drop(sets);
        w.key("records");
        w.begin_array();
        let mut copier = Copier::new(context);
        for entry in &self.entries {
            copier.copy(entry, w)?;
        }
        w.end_array();
        w.key("scenarios");
        w.begin_array();
        for head in heads().filter(|head| manifest::is_scenario(head)) {
            manifest::write_scenario(head, w);
        }
        w.end_array();
        w.member("unknowns", &self.unknowns);
        w.end_object();
        Ok(())
    }

    /// SHA-256 of the canonical bundle.
    pub fn digest(&self, context: &Context) -> Result<Digest> {
        let mut hasher = Hasher::default();
        let mut writer = Writer::canonical(&mut hasher);
        self.write(context, &mut writer)?;
        writer.finish_infallible();
        Ok(hasher.finish())
    }

    /// Writes the canonical bundle to `sink`; an error of the sink is an
    /// `io::Error` of the inner result.
    pub fn write_to(&self, context: &Context, sink: &mut dyn Sink) -> Result<std::io::Result<()>> {
        let mut writer = Writer::canonical(sink);
        self.write(context, &mut writer)?;
        Ok(writer.finish())
    }
}

/// Copies records to their place in a bundle.
struct Copier<'a> {
    verifier: Verifier,
    reopened: Reopened<'a>,
    context: &'a Context,
}

impl<'a> Copier<'a> {
    fn new(context: &'a Context) -> Self {
        Self {
            verifier: Verifier::new(Scope::Record, context.threads),
            reopened: Reopened::default(),
            context,
        }
    }

    fn copy(&mut self, entry: &'a Entry, w: &mut Writer<'_>) -> Result<()> {
        match &entry.body {
            Body::Memory(evidence) => evidence.write_json(w),
            Body::Stored { store, span } => self.copy_stored(store, *span, entry.head.id, w)?,
        }
        Ok(())
    }

    fn copy_stored(
        &mut self,
        store: &'a Store,
        span: Span,
        id: EvidenceId,
        w: &mut Writer<'_>,
    ) -> Result<()> {
        let operation = self.context.operation;
        let changed = |error: ReadError| changed(store.name(), operation, &error.to_string());
        let reopened = &mut self.reopened;
        let part = reopened.part(store, span.offset, span.length, operation)?;
        let size = usize::try_from(span.length.min(BUFFER)).unwrap_or(BUFFER as usize);
        let mut reader = Reader::with_buffer(part, Limits::default(), size);
        let mut echo = Echo::default();
        self.verifier.restart();
        if !span.sorted {
            let value = reader.read_value(Budget::default()).map_err(changed)?;
            let verifier = &mut self.verifier;
            let done = replay(&value, &mut |event| verifier.event(event));
            if done.is_ok() {
                value.write_json(w);
            }
            return judge(&mut self.verifier, store, id, operation);
        }
        let mut left = EVENTS;
        loop {
            let event: Event<'_> = reader.next_event().map_err(changed)?;
            if self.verifier.event(event).is_err() {
                return judge(&mut self.verifier, store, id, operation);
            }
            echo.event(event, w);
            if self.verifier.is_finished() {
                return judge(&mut self.verifier, store, id, operation);
            }
            left -= 1;
            if left == 0 {
                self.context.check()?;
                left = EVENTS;
            }
        }
    }
}

fn judge(verifier: &mut Verifier, store: &Store, id: EvidenceId, operation: &str) -> Result<()> {
    match verifier.take_report() {
        Some(report) if report.problems.is_empty() && report.evidence_id == Some(id) => Ok(()),
        _ => {
            let reason = format!("the record {id} is not there any more");
            Err(changed(store.name(), operation, &reason))
        }
    }
}
