//! Evidence: one canonical JSON record whose id is the hash of what it says.

mod canon;
mod envelope;
mod graph;
mod hashers;
mod location;
mod path;
mod problem;
mod record;
mod record_state;
mod rules;
mod source;
mod verifier;
mod verify;

pub use envelope::{Creation, Evidence, NO_SUBJECT, NewSubject};
pub use path::{Pointer, Segment};
pub use problem::{Problem, Reason, Report, Stage, Status};
pub use record::{Authority, Confidence, Draft, EvidenceId, Provider, Record, Subject};
pub use source::Source;
pub use verifier::{MAX_FREE_DEPTH, MAX_NESTED};
pub use verify::{
    Observer, read_record, read_records, stream_record, verify_all, verify_both_ways,
};
