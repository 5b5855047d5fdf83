//! What is inside a file or folder.

mod assembly;
mod collisions;
mod compare;
pub(crate) mod containers;
mod diff;
mod engine;
mod extract;
pub(crate) mod fault;
mod folder;
pub mod format;
#[doc(hidden)]
pub mod fuzzing;
pub mod glob;
mod graph;
pub(crate) mod ids;
mod inspection;
mod inventory;
pub mod limitation;
pub mod names;
mod options;
mod plan;
pub(crate) mod retained;
mod root;
mod sides;
pub mod source;
mod streams;

pub use compare::{
    ChangeView, Classification, Comparison, ComparisonStatus, Dimensions, Summary, compare,
};
pub use diff::{Amount, Category, Deep, DeepMember, Diff, Line, Listing, Unread, diff, diff_deep};
pub use extract::{Extraction, ExtractionRequest, Written, extract};
pub use inspection::{Inspection, NextProbe, inspect};
pub use inventory::{Inventory, PROVIDER, RowView, inventory};
pub use options::{IntegrityPolicy, Nesting, OnDamage, Options};
pub use retained::{Retained, read as read_inventory};
pub use sides::{Side, load_both};
