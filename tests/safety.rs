//! Hostile and damaged inputs: each case of docs/safety.md, with what is
//! expected of it by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

#[path = "safety/bombs.rs"]
mod bombs;
#[path = "safety/budgets.rs"]
mod budgets;
#[path = "safety/corpus.rs"]
mod corpus;
#[path = "safety/folders.rs"]
mod folders;
#[path = "safety/names.rs"]
mod names;
#[path = "safety/structure.rs"]
mod structure;
mod support;
