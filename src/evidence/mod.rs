//! Evidence: one canonical JSON record whose id is the hash of what it says.

mod bundle;
mod canon;
mod derived;
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
mod unknowns;
mod verifier;
mod verify;

pub use bundle::{
    Bundle, BundleOutput, Change, Classification, Collector, Comparison, ComparisonOptions,
    Conclusion, Entity, Item, ItemKind, LockedBundle, MEMBERSHIP_IS_NO_BEHAVIOUR,
    MISSING_UNKNOWN_IS_OPEN, Member, Merged, ONE_SIDED_RECORD, RecordPair, Replaced, Summary,
    SummaryFilter, SummaryRow, UnknownScope, Verdict, first_member, read_bundle, read_bundle_bytes,
};
pub use derived::{DerivedDraft, Parent};
pub use envelope::{Creation, Evidence, NO_SUBJECT, NewSubject};
pub use path::{Pointer, Segment};
pub use problem::{BundleCounts, Problem, Reason, Report, Stage, Status};
pub(crate) use record::Drafted;
pub use record::{
    ArtifactPath, Authority, Confidence, Draft, EvidenceId, Provider, Record, Subject,
};
pub use source::Source;
pub use unknowns::{
    Disposition, Listing, Mutated, NewUnknown, Probe, RelationKind, Relationship,
    RequiredEnvironment, Resolution, Revision, Severity, UnknownFilter, UnknownId, UnknownStatus,
    UnknownUpdate, Unknowns,
};
pub use verifier::{MAX_FREE_DEPTH, MAX_NESTED};
pub use verify::{
    Contents, Observer, observe_value, read_record, read_records, stream_contents,
    stream_everything, stream_record, verify_all, verify_both_ways,
};
