//! bzip2.

use bzip2::{Decompress, Status};

use super::{Codec, Feed, Step};
use crate::artifact::containers::Fault;

#[derive(Default)]
pub(super) struct Bzip2(Option<Decompress>);

impl Codec for Bzip2 {
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault> {
        let head = feed.peek(4)?;
        let starts = head.starts_with(b"BZh")
            && head
                .get(3)
                .is_some_and(|&level| level.is_ascii_digit() && level != b'0');
        if starts {
            self.0 = Some(Decompress::new(false));
        }
        Ok(starts)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> Result<Step, &'static str> {
        let decoder = self.0.as_mut().ok_or("no bzip2 stream was started")?;
        let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
        let status = decoder
            .decompress(input, output)
            .map_err(|_| "a bzip2 stream is malformed or its checksum does not fit")?;
        Ok(Step {
            consumed: (decoder.total_in() - before_in) as usize,
            produced: (decoder.total_out() - before_out) as usize,
            ended: status == Status::StreamEnd,
        })
    }

    fn name(&self) -> &'static str {
        "bzip2 stream"
    }
}
