//! zstd (RFC 8878): frames and skippable frames in any order.

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, is_error_kind};

use super::{Codec, Feed, Step, Then, Trouble};
use crate::artifact::containers::{Damage, Fault};
use crate::artifact::options::Options;

const MAGIC: u32 = 0xFD2F_B528;
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
/// The library's own largest window, as a logarithm; ours is checked before.
const WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "64") {
    31
} else {
    30
};
/// What the library wants first of a frame.
const FIRST: usize = 5;

pub(super) struct Zstd {
    decoder: DCtx<'static>,
    options: Options,
    /// Bytes that lead to the end of the next block. Never more are given, so
    /// that a block that fails does not take others with it.
    want: usize,
    /// Bytes of a skippable frame still to be skipped.
    skip: u64,
}

impl Zstd {
    pub fn new(options: &Options) -> Result<Self, Fault> {
        let none = || std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let mut decoder = DCtx::try_create().ok_or_else(none)?;
        decoder
            .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
            .map_err(|_| none())?;
        Ok(Self {
            decoder,
            options: options.clone(),
            want: FIRST,
            skip: 0,
        })
    }
}

/// The window a frame header asks for (RFC 8878, 3.1.1.1), and whether it
/// needs a dictionary; `None` where it is cut.
fn frame_header(header: &[u8]) -> Option<(u64, bool)> {
    let descriptor = *header.get(4)?;
    let single_segment = descriptor & 0x20 != 0;
    let dictionary_len = [0usize, 1, 2, 4][usize::from(descriptor & 3)];
    let mut at = 5;
    let mut window = 0;
    if !single_segment {
        let byte = *header.get(at)?;
        let base = 1u64 << (10 + u32::from(byte >> 3));
        window = base + base / 8 * u64::from(byte & 7);
        at += 1;
    }
    let dictionary = header
        .get(at..at + dictionary_len)?
        .iter()
        .any(|&byte| byte != 0);
    at += dictionary_len;
    if single_segment {
        let len = [1usize, 2, 4, 8][usize::from(descriptor >> 6)];
        let field = header.get(at..at + len)?;
        let value = field
            .iter()
            .rev()
            .fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        window = if len == 2 { value + 256 } else { value };
    }
    Some((window, dictionary))
}

impl Codec for Zstd {
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault> {
        let at = feed.position();
        let header = feed.peek(18)?;
        let Some(&magic) = header.first_chunk::<4>() else {
            return Ok(false);
        };
        let magic = u32::from_le_bytes(magic);
        if SKIPPABLE.contains(&magic) {
            let Some(&[a, b, c, d]) = header.get(4..).and_then(|rest| rest.first_chunk::<4>())
            else {
                return Err(Damage::format(at, "a skippable frame is cut").into());
            };
            self.skip = u64::from(u32::from_le_bytes([a, b, c, d])) + 8;
            return Ok(true);
        }
        if magic != MAGIC {
            return Ok(false);
        }
        let Some((window, dictionary)) = frame_header(header) else {
            return Err(Damage::format(at, "a zstd frame header is cut").into());
        };
        if dictionary {
            return Err(
                Damage::format(at, "a zstd frame needs a dictionary that is not here").into(),
            );
        }
        if window > self.options.max_decoder_window {
            return Err(super::super::window_limit(&self.options));
        }
        self.want = FIRST;
        self.decoder
            .reset(ResetDirective::SessionOnly)
            .map_err(|_| Damage::format(at, "a zstd frame cannot be decoded"))?;
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> Step {
        if self.skip > 0 {
            let consumed =
                usize::try_from(self.skip).map_or(input.len(), |skip| skip.min(input.len()));
            self.skip -= consumed as u64;
            return Step {
                consumed,
                produced: 0,
                then: if self.skip == 0 {
                    Then::End
                } else {
                    Then::More
                },
            };
        }
        let mut from = InBuffer::around(&input[..input.len().min(self.want)]);
        let mut to = OutBuffer::around(output);
        let result = self.decoder.decompress_stream(&mut to, &mut from);
        let (consumed, produced) = (from.pos(), to.pos());
        let then = match result {
            Ok(0) => Then::End,
            Ok(want) => {
                self.want = want;
                Then::More
            }
            Err(code) => Then::Broken(trouble(code)),
        };
        Step {
            consumed,
            produced,
            then,
        }
    }

    fn ignore_checks(&mut self) -> bool {
        let ignore = DParameter::ForceIgnoreChecksum(true);
        // Between frames only.
        let reset = self.decoder.reset(ResetDirective::SessionOnly);
        reset.is_ok() && self.decoder.set_parameter(ignore).is_ok()
    }

    fn window_limit(&self) -> Option<Fault> {
        Some(super::super::window_limit(&self.options))
    }

    fn name(&self) -> &'static str {
        "zstd frame"
    }
}

fn trouble(code: usize) -> Trouble {
    let is = |kind| is_error_kind(code, kind);
    if is(ZSTD_ErrorCode::ZSTD_error_checksum_wrong) {
        Trouble::Checksum("a zstd frame's checksum does not fit")
    } else if is(ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        Trouble::Window
    } else if is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        Trouble::Memory
    } else {
        Trouble::Malformed("a zstd frame is malformed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_frame_headers() {
        // RFC 8878, 3.1.1.1.2: exponent 10, mantissa 0 is 1 MiB.
        assert_eq!(
            frame_header(&[0x28, 0xB5, 0x2F, 0xFD, 0, 0x50]),
            Some((1 << 20, false))
        );
        // Single segment with a one-byte content size.
        assert_eq!(
            frame_header(&[0x28, 0xB5, 0x2F, 0xFD, 0x20, 5]),
            Some((5, false))
        );
        // Single segment with a two-byte content size, which counts from 256.
        assert_eq!(
            frame_header(&[0x28, 0xB5, 0x2F, 0xFD, 0x60, 1, 0]),
            Some((257, false))
        );
        assert_eq!(
            frame_header(&[0x28, 0xB5, 0x2F, 0xFD, 1, 0x50, 7]),
            Some((1 << 20, true))
        );
        assert_eq!(frame_header(&[0x28, 0xB5, 0x2F, 0xFD]), None);
    }
}
