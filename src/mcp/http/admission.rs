//! How many requests may be on their way in at once (section 3.4).

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests that may be read and dispatched at once.
const CONCURRENT: usize = 8;

/// The slots.
pub(super) struct Admission(Arc<Semaphore>);

impl Default for Admission {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CONCURRENT)))
    }
}

impl Admission {
    /// A slot, where one is free. It is given back when it is dropped.
    pub fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}
