//! What is inside a file or folder.

mod assembly;
mod collisions;
pub(crate) mod containers;
mod engine;
mod extract;
mod fault;
mod folder;
pub mod format;
#[doc(hidden)]
pub mod fuzzing;
pub mod glob;
mod graph;
mod inspection;
mod inventory;
pub mod limitation;
pub mod names;
mod options;
mod plan;
mod root;
pub mod source;
mod streams;

pub use extract::{Extraction, ExtractionRequest, Written, extract};
pub use inspection::{Inspection, NextProbe, inspect};
pub use inventory::{Inventory, PROVIDER, RowView, inventory};
pub use options::{IntegrityPolicy, Nesting, OnDamage, Options};
