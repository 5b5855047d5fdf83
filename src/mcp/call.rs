//! One call of a tool: the session it belongs to, and the way in which it is
//! watched and stopped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::server::ClientFacts;
use super::session::Session;
use crate::operation::{Cancellation, Context, Progress};

/// A call that is being worked on.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is remembered.
    pub session: Arc<Session>,
    /// Counters for whoever watches.
    pub progress: Arc<Progress>,
    /// The stop request.
    pub cancellation: Arc<Cancellation>,
    /// Worker threads; at least 1.
    pub threads: usize,
    /// The JSON text of the request's id; empty outside of a request.
    pub request_id: String,
    /// Who calls.
    pub client: ClientFacts,
    notes: Arc<Mutex<BTreeMap<&'static str, String>>>,
}

impl Call {
    /// A call within `session`, with nothing watching it.
    pub fn new(session: Arc<Session>) -> Self {
        let context = Context::new("");
        Self {
            session,
            progress: context.progress,
            cancellation: context.cancellation,
            threads: context.threads,
            request_id: String::new(),
            client: ClientFacts::default(),
            notes: Arc::default(),
        }
    }

    /// Tells the caller something beside the result: it stands in `_meta.rea`
    /// of the reply, outside of everything that is hashed.
    pub fn note(&self, name: &'static str, value: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert(name, value.to_owned());
    }

    /// What was noted.
    pub(super) fn notes(&self) -> BTreeMap<&'static str, String> {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The context of an operation of this call.
    pub fn context(&self, operation: &'static str) -> Context {
        Context {
            operation,
            progress: Arc::clone(&self.progress),
            cancellation: Arc::clone(&self.cancellation),
            threads: self.threads,
            disorder: None,
        }
    }
}
