//! stub
use super::*;
pub(crate) fn decoder(
    _: Format,
    _: &Source,
    _: &Options,
    _: usize,
) -> Result<Box<dyn Decoder>, Fault> {
    Err(Damage::format(0, "stub").into())
}
pub(crate) fn is_lzma_header(_: &[u8]) -> bool {
    false
}
