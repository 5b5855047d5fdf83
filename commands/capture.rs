//! Where the result of a command goes when a session calls it.

use std::io;
use std::sync::{Mutex, PoisonError};

use rea::error::Code;
use rea::evidence::EvidenceId;
use rea::json::{Object, Sink};
use rea::mcp::{Call, Reply};
use rea::{Error, Result};

/// A result that is caught.
#[derive(Debug)]
pub struct Capture {
    /// The call that it answers.
    pub call: Call,
    many: bool,
    caught: Mutex<Caught>,
}

#[derive(Debug, Default)]
struct Caught {
    documents: Vec<Vec<u8>>,
    record: Option<EvidenceId>,
}

impl Capture {
    /// Nothing has been caught yet.
    pub fn new(call: Call, many: bool) -> Self {
        Self {
            call,
            many,
            caught: Mutex::default(),
        }
    }

    /// How many bytes there is room for.
    pub fn room(&self) -> u64 {
        self.call.session.ledger.capacity()
    }

    /// Catches a document, which is the record `record` or no record.
    pub fn put(&self, document: Vec<u8>, record: Option<EvidenceId>) {
        let mut caught = self.caught.lock().unwrap_or_else(PoisonError::into_inner);
        caught.documents.push(document);
        caught.record = record;
    }

    /// What was caught, as the reply to the call.
    pub fn reply(&self, operation: &str) -> Result<Reply> {
        let mut caught = self.caught.lock().unwrap_or_else(PoisonError::into_inner);
        let caught = std::mem::take(&mut *caught);
        if self.many {
            let mut list = vec![b'['];
            list.extend(caught.documents.join(&b','));
            list.push(b']');
            return Ok(Reply::Result(list.into()));
        }
        let mut documents = caught.documents.into_iter();
        match (documents.next(), documents.next()) {
            (Some(text), None) => Ok(match caught.record {
                Some(id) => Reply::Evidence {
                    id,
                    text: text.into(),
                },
                None => Reply::Result(text.into()),
            }),
            _ => Err(Error::new(
                Code::UnreadableOutput,
                "The operation ended without a result",
            )
            .detail("operation", operation)
            .detail("reason", "no_result")),
        }
    }
}

/// A document on its way into a [`Capture`].
#[derive(Debug, Default)]
pub struct Catching {
    /// What there is of it.
    pub text: Vec<u8>,
    /// Bytes that it may have.
    pub room: u64,
}

impl Sink for Catching {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if (self.text.len() + bytes.len()) as u64 > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }
}

/// The result is larger than what a session can keep.
pub fn too_large(operation: &str, room: u64) -> Error {
    let reason = format!("the result has more than the {room} bytes that the session can keep");
    let mut limits = Object::new();
    limits.insert("boundary", "session-ledger");
    limits.insert("capacity_bytes", room);
    Error::new(Code::ResourceConstraint, reason.as_str())
        .action("Ask for less, or run the operation on the command line, which streams.")
        .detail("operation", operation)
        .detail("resource", "memory")
        .detail("reason", reason)
        .detail("reported_limits", limits)
}
