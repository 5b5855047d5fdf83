//! xz (The .xz File Format 1.2) and the older lzma format.

use liblzma::stream::{Action, Error, MtStreamBuilder, Status, Stream};

use super::{Codec, Feed, Step};
use crate::artifact::containers::{Damage, Fault};
use crate::artifact::options::Options;

/// What a decoder needs beside its dictionary.
const OVERHEAD: u64 = 2 << 20;
/// Memory that decoding several blocks at once may take.
const THREADING: u64 = 80 << 20;

pub(super) struct Xz {
    stream: Option<Stream>,
    options: Options,
    threads: usize,
    alone: bool,
    over_window: bool,
}

impl Xz {
    /// `alone` is the lzma format.
    pub fn new(options: &Options, threads: usize, alone: bool) -> Self {
        Self {
            stream: None,
            options: options.clone(),
            threads,
            alone,
            over_window: false,
        }
    }

    fn open(&self) -> Result<Stream, Error> {
        let most = self.options.max_decoder_window.saturating_add(OVERHEAD);
        if self.alone {
            return Stream::new_lzma_decoder(most);
        }
        if self.threads < 2 {
            return Stream::new_stream_decoder(most, 0);
        }
        MtStreamBuilder::new()
            .threads(u32::try_from(self.threads).unwrap_or(u32::MAX).min(64))
            .memlimit_threading(THREADING)
            .memlimit_stop(most)
            .decoder()
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
        let starts = if self.alone {
            is_lzma_header(feed.peek(13)?)
        } else {
            feed.peek(6)?
                .starts_with(&[0xFD, b'7', b'z', b'X', b'Z', 0])
        };
        if starts {
            let stream = self
                .open()
                .map_err(|_| Damage::format(at, "the decoder cannot start"))?;
            self.stream = Some(stream);
        }
        Ok(starts)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Step, &'static str> {
        let stream = self.stream.as_mut().ok_or("no xz stream was started")?;
        let (before_in, before_out) = (stream.total_in(), stream.total_out());
        let action = if last { Action::Finish } else { Action::Run };
        let status = stream
            .process(input, output, action)
            .map_err(|error| match error {
                Error::MemLimit | Error::Mem => {
                    self.over_window = true;
                    "a dictionary is over the limit"
                }
                Error::Options => "an xz stream uses options that are not supported",
                Error::Format => "an xz stream's header is malformed",
                _ => "an xz stream is malformed or its checksum does not fit",
            })?;
        Ok(Step {
            consumed: (stream.total_in() - before_in) as usize,
            produced: (stream.total_out() - before_out) as usize,
            ended: status == Status::StreamEnd,
        })
    }

    fn fault(&self) -> Option<Fault> {
        self.over_window
            .then(|| super::super::window_limit(&self.options))
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
