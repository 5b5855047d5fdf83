//! Apple's own file formats.

mod inspect_plist;
pub mod plist;

pub use inspect_plist::{MAX_INPUT, PROVIDER, PlistRecord, inspect_plist};
