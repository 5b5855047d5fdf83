//! What is inside a file or folder.

mod options;

pub use options::{IntegrityPolicy, Nesting, OnDamage, Options};
