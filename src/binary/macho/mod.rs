//! Reader of the format.
use super::layout::{Layout, Refusal};

/// Whether it is Mach-O, thin or universal.
pub fn is_macho(_bytes: &[u8]) -> bool {
    false
}

/// Takes a file apart.
pub fn layout<'a>(_bytes: &'a [u8], _architecture: Option<&str>) -> Result<Layout<'a>, Refusal> {
    Err(Refusal::Format)
}
