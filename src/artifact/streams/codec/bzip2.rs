//! bzip2.

use bzip2::{Decompress, Error, Status};

use super::{Codec, Feed, Step, Then, Trouble};
use crate::artifact::containers::Fault;
use crate::artifact::source::Source;

/// What stands behind the last block, followed by the stream's CRC.
const END: u64 = 0x1772_4538_5090;
const MALFORMED: &str = "a bzip2 stream is malformed";

#[derive(Default)]
pub(super) struct Bzip2 {
    /// `None` in a stream without blocks.
    decoder: Option<Decompress>,
}

impl Codec for Bzip2 {
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault> {
        let head = feed.peek(14)?;
        let starts = head.starts_with(b"BZh") && matches!(head.get(3), Some(b'1'..=b'9'));
        if !starts {
            return Ok(false);
        }
        // A decoder takes megabytes; a file may have millions of these.
        let empty = head.get(4..14) == Some(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0]);
        if empty {
            feed.consume(14);
        }
        self.decoder = (!empty).then(|| Decompress::new(false));
        Ok(true)
    }

    /// Either input is decoded or output is made, never both: so an error
    /// that comes with output is a block's checksum.
    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> Step {
        let Some(decoder) = self.decoder.as_mut() else {
            return Step {
                consumed: 0,
                produced: 0,
                then: Then::End,
            };
        };
        let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
        let mut status = decoder.decompress(&[], output);
        let mut trouble = Trouble::Checksum("a bzip2 block's checksum does not fit");
        if status.is_ok() && decoder.total_out() == before_out {
            status = decoder.decompress(input, &mut []);
            trouble = Trouble::Malformed(MALFORMED);
        }
        let then = match status {
            Ok(Status::StreamEnd) => Then::End,
            Ok(Status::MemNeeded) => Then::Broken(Trouble::Memory),
            Ok(_) => Then::More,
            Err(Error::Data) => Then::Broken(trouble),
            Err(_) => Then::Broken(Trouble::Malformed(MALFORMED)),
        };
        Step {
            consumed: (decoder.total_in() - before_in) as usize,
            produced: (decoder.total_out() - before_out) as usize,
            then,
        }
    }

    /// The stream's checksum is its last field.
    fn judge(&self, source: &Source, start: u64, at: u64, trouble: Trouble) -> Trouble {
        let tail = at
            .checked_sub(11)
            .filter(|&tail| tail >= start)
            .and_then(|tail| source.read_vec(tail, 11).ok());
        match (trouble, tail) {
            (Trouble::Malformed(_), Some(tail)) if ends_stream(&tail) => {
                Trouble::Checksum("a bzip2 stream's checksum does not fit")
            }
            _ => trouble,
        }
    }

    fn name(&self) -> &'static str {
        "bzip2 stream"
    }
}

/// Whether the mark and 32 bits end in the last of 11 bytes.
fn ends_stream(tail: &[u8]) -> bool {
    let bits = tail
        .iter()
        .fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
    (0..8).any(|shift| (bits >> (shift + 32)) as u64 & 0xFFFF_FFFF_FFFF == END)
}
