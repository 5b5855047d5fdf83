//! Hostile and damaged inputs: each case of docs/safety.md, with what is
//! expected of it by hand.

#[path = "safety/names.rs"]
mod names;
mod support;
