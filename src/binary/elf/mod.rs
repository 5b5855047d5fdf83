//! Reader of the format.
use super::layout::{Layout, Refusal};

/// Takes a file apart.
pub fn parse(_bytes: &[u8]) -> Result<Layout<'_>, Refusal> {
    Err(Refusal::Format)
}
