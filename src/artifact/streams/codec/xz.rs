//! xz (The .xz File Format 1.2) and the older lzma format.

use liblzma::stream::{Action, Error, IGNORE_CHECK, Status, Stream};

use super::{Codec, Feed, ROOM, Step, Then, Trouble};
use crate::artifact::containers::{Damage, Fault};
use crate::artifact::options::Options;
use crate::artifact::source::Source;

/// What a decoder needs beside its dictionary.
const OVERHEAD: u64 = 256 << 10;
/// Where a stream starts, and how long its header is.
pub(super) const MAGIC: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];
pub(super) const HEADER: usize = 12;
const XZ_MALFORMED: &str = "an xz stream is malformed";

/// A decoder of one xz stream that keeps no longer history than allowed.
pub(super) fn stream(options: &Options, flags: u32) -> Result<Stream, Error> {
    let most = options.max_decoder_window.saturating_add(OVERHEAD);
    Stream::new_stream_decoder(most, flags)
}

pub(super) struct Xz {
    stream: Option<Stream>,
    options: Options,
    /// Whether this is the lzma format.
    alone: bool,
    /// Whether checksums of blocks count no more.
    unchecked: bool,
    /// Whether the data runs through filters that hold bytes back; of these,
    /// what came out just before an error is not yet what it should be.
    filtered: bool,
}

impl Xz {
    pub fn new(options: &Options) -> Self {
        Self {
            stream: None,
            options: options.clone(),
            alone: false,
            unchecked: false,
            filtered: false,
        }
    }

    /// The lzma format.
    pub fn alone(options: &Options) -> Self {
        Self {
            alone: true,
            ..Self::new(options)
        }
    }

    fn open(&self) -> Result<Stream, Error> {
        if self.alone {
            let most = self.options.max_decoder_window.saturating_add(OVERHEAD);
            return Stream::new_lzma_decoder(most);
        }
        let flags = if self.unchecked { IGNORE_CHECK } else { 0 };
        stream(&self.options, flags)
    }
}

/// A plausible lzma header: properties, dictionary size and expanded size as
/// real encoders write them. The format has no magic.
pub(crate) fn is_lzma_header(head: &[u8]) -> bool {
    let Some(header) = head.first_chunk::<13>() else {
        return false;
    };
    let [properties, a, b, c, d, size @ ..] = *header;
    let dictionary = u32::from_le_bytes([a, b, c, d]);
    let size = u64::from_le_bytes(size);
    let power = |value: u32| value.is_power_of_two();
    let plausible_dictionary = dictionary == u32::MAX
        || power(dictionary)
        || (dictionary % 3 == 0 && power(dictionary / 3) && dictionary > 0);
    properties < 225 && plausible_dictionary && (size == u64::MAX || size < 1 << 38)
}

impl Codec for Xz {
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault> {
        let at = feed.position();
        let head = feed.peek(HEADER + 2)?;
        let starts = if self.alone {
            is_lzma_header(head)
        } else {
            head.starts_with(MAGIC)
        };
        if !starts {
            return Ok(false);
        }
        if self.alone {
            let dictionary = head.get(1..5).and_then(|field| field.try_into().ok());
            let dictionary = u64::from(dictionary.map_or(0, u32::from_le_bytes));
            if dictionary > self.options.max_decoder_window {
                return Err(super::super::window_limit(&self.options));
            }
        } else {
            self.filtered = matches!(head.get(HEADER..HEADER + 2), Some(&[len, flags]) if len != 0 && flags & 3 != 0);
        }
        let stream = self
            .open()
            .map_err(|_| Damage::format(at, "the decoder cannot start"))?;
        self.stream = Some(stream);
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Step {
        let Some(stream) = self.stream.as_mut() else {
            return Step {
                consumed: 0,
                produced: 0,
                then: Then::End,
            };
        };
        let (before_in, before_out) = (stream.total_in(), stream.total_out());
        let action = if last { Action::Finish } else { Action::Run };
        let status = stream.process(input, output, action);
        let consumed = (stream.total_in() - before_in) as usize;
        let mut produced = (stream.total_out() - before_out) as usize;
        if status.is_err() && self.filtered {
            produced = 0;
        }
        let malformed = if self.alone {
            "an lzma stream is malformed"
        } else {
            XZ_MALFORMED
        };
        let then = match status {
            Ok(Status::StreamEnd) => Then::End,
            Ok(_) => Then::More,
            Err(Error::MemLimit) => Then::Broken(Trouble::Window),
            Err(Error::Mem) => Then::Broken(Trouble::Memory),
            Err(Error::Options) => Then::Broken(Trouble::Malformed(
                "an xz stream uses options that are not known",
            )),
            Err(_) => Then::Broken(Trouble::Malformed(malformed)),
        };
        Step {
            consumed,
            produced,
            then,
        }
    }

    /// A block's check is at fault where the same bytes pass without it.
    fn judge(&self, source: &Source, start: u64, at: u64, trouble: Trouble) -> Trouble {
        match trouble {
            Trouble::Malformed(XZ_MALFORMED)
                if passes_unchecked(source, start, at, &self.options) =>
            {
                Trouble::Checksum("an xz block's checksum does not fit")
            }
            _ => trouble,
        }
    }

    fn ignore_checks(&mut self) -> bool {
        let could = !self.alone && !self.unchecked;
        self.unchecked = true;
        could
    }

    fn window_limit(&self) -> Option<Fault> {
        Some(super::super::window_limit(&self.options))
    }

    fn name(&self) -> &'static str {
        if self.alone {
            "lzma stream"
        } else {
            "xz stream"
        }
    }

    fn repeats(&self) -> bool {
        !self.alone
    }
}

fn passes_unchecked(source: &Source, start: u64, end: u64, options: &Options) -> bool {
    let Some(source) = source.region(0, end) else {
        return false;
    };
    let Ok(mut stream) = stream(options, IGNORE_CHECK) else {
        return false;
    };
    let mut feed = Feed::new(&source, start);
    let mut output = vec![0; ROOM];
    loop {
        let Ok(input) = feed.peek(1) else {
            return false;
        };
        if input.is_empty() {
            return true;
        }
        let (before_in, before_out) = (stream.total_in(), stream.total_out());
        let status = stream.process(input, &mut output, Action::Run);
        let consumed = (stream.total_in() - before_in) as usize;
        feed.consume(consumed);
        let moved = consumed > 0 || stream.total_out() > before_out;
        if status.is_err() || !moved {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lzma_headers() {
        // `xz --format=lzma -6`: properties 5D, dictionary 8 MiB, size unknown.
        let mut header = [0x5D, 0, 0, 0x80, 0, 255, 255, 255, 255, 255, 255, 255, 255];
        assert!(is_lzma_header(&header));
        header[0] = 225;
        assert!(!is_lzma_header(&header));
        header[0] = 0x5D;
        header[1] = 1;
        assert!(!is_lzma_header(&header));
        assert!(!is_lzma_header(&header[..12]));
    }
}
