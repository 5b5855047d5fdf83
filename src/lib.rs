//! `rea` takes software apart without running it and says what it found as
//! **Evidence**: canonical JSON records whose id is the hash of what they say.
//!
//! The engine lives here and knows nothing of command lines or terminals; the
//! program in `commands/` is one file per subcommand on top of it.
//!
//! Start with [`artifact`] (what is inside a file or folder), [`evidence`]
//! (what a record is), [`view`] (citable selections from records) and [`json`]
//! (the one reader and the one writer).

pub mod apple;
pub mod artifact;
pub mod binary;
pub mod digest;
pub mod environment;
pub mod error;
pub mod evidence;
pub mod host;
pub mod json;
pub mod mcp;
pub mod member_facts;
pub mod native;
pub mod operation;
pub mod publish;
pub mod recursive;
pub mod view;
pub mod web;

pub use error::{Error, Result};
