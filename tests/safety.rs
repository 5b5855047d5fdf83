//! Hostile and damaged inputs: each case of docs/safety.md, with what is
//! expected of it by hand.

mod support;
#[path = "safety/names.rs"]
mod names;
#[path = "safety/structure.rs"]
mod structure;
