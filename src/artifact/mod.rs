//! What is inside a file or folder.

mod collisions;
pub(crate) mod containers;
mod engine;
mod folder;
pub mod format;
mod graph;
mod inspection;
mod inventory;
pub mod limitation;
pub mod names;
mod options;
pub mod source;

pub use inspection::{Inspection, NextProbe, inspect};
pub use inventory::{Inventory, PROVIDER, RowView, inventory};
pub use options::{IntegrityPolicy, Nesting, OnDamage, Options};
