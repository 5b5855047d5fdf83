//! Residual unknowns: questions that analysis left open, each a chain of
//! revisions that cite Evidence.
//!
//! A revision ([`Revision`]) never changes; a mutation adds the next one, which
//! names its predecessor's digest. [`Unknowns`] holds all revisions of all
//! unknowns. What must hold across them and the records they cite is in
//! `graph.rs`; how mutations are made is in `registry.rs`.

mod graph;
mod list;
mod model;
mod parse;
mod registry;
mod words;

pub(super) use graph::{Cited, check};
pub use list::{Listing, UnknownFilter};
pub(super) use model::Insertion;
pub use model::{
    Disposition, Probe, RelationKind, Relationship, RequiredEnvironment, Resolution, Revision,
    Severity, UnknownId, UnknownStatus, Unknowns,
};
pub(super) use parse::read_revision;
pub(super) use registry::{
    MEANT_NOT_PROVEN, MUTATION_PREDICATE, mutate_new, mutate_update, not_found, registry_error,
};
pub use registry::{Mutated, NewUnknown, UnknownUpdate};
