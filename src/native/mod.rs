//! Operations on one executable by address: its segments, bytes, strings and
//! names, from the file alone.
//!
//! [`Target`] is the file that is meant; [`Mapped`] is that file with its
//! layout and the memory that the loader would fill from it. Every operation
//! is a function from these to a [`NativeRecord`].

mod identify;
mod memory;
mod names;
mod pattern;
mod read;
mod record;
mod search;
mod segments;
mod strings;
mod target;

pub use identify::{ExecutableRole, Identity};
pub use memory::{Memory, Stop};
pub use names::{NameRow, Names, list_names};
pub use pattern::Pattern;
pub use read::{BytesRead, FileOffset, MAX_READ, address_to_file_offset, read_bytes};
pub use record::{NativeRecord, PROVIDER};
pub use search::{Matches, search_bytes};
pub use segments::{SegmentRow, Segments, list_segments};
pub use strings::{Mode, Query, StringRow, Strings, StringsOptions, list_strings, search_strings};
pub use target::{Mapped, Target};

use crate::error::{Error, Result};

/// Reads an address: `0x` and hexadecimal digits of either case, or decimal
/// digits.
///
/// # Errors
/// `invalid_request` at `address`.
pub fn parse_address(text: &str, operation: &str) -> Result<u64> {
    let lower = text.to_ascii_lowercase();
    let parsed = match lower.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None if lower.bytes().all(|byte| byte.is_ascii_digit()) => lower.parse().ok(),
        None => None,
    };
    parsed.ok_or_else(|| {
        let message = format!("{text} is no address");
        Error::invalid_request(operation, &["address"], "invalid_format", message)
            .action("Give an address as 0x and hexadecimal digits.")
    })
}
