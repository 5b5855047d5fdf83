//! Evidence: one canonical JSON record whose id is the hash of what it says.

mod record;

pub use record::{Authority, Confidence, Draft, EvidenceId, Provider, Record, Subject};
