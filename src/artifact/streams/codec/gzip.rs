//! gzip (RFC 1952). The name in a header is never used.

use flate2::{Decompress, FlushDecompress, Status};

use super::{Codec, Feed, Step, Then, Trouble};
use crate::artifact::containers::{Damage, Fault, Limit};
use crate::artifact::options::Options;

const HEADER_CRC: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0xE0;

pub(super) struct Gzip {
    inflate: Decompress,
    crc: crc32fast::Hasher,
    size: u32,
    max_header: u64,
}

impl Gzip {
    pub fn new(options: &Options) -> Self {
        Self {
            inflate: Decompress::new(false),
            crc: crc32fast::Hasher::new(),
            size: 0,
            max_header: options.max_header_bytes,
        }
    }

    /// Takes header bytes, within the limit, into the header's CRC.
    fn take(&self, feed: &mut Feed, len: usize, header: &mut Header) -> Result<Vec<u8>, Fault> {
        header.len += len as u64;
        if header.len > self.max_header {
            let value = self.max_header;
            return Err(Fault::Limit(Limit {
                name: "max_header_bytes",
                value,
            }));
        }
        let at = feed.position();
        let bytes = feed.peek(len)?;
        let Some(bytes) = bytes.get(..len) else {
            return Err(Damage::format(at, "a gzip header is cut").into());
        };
        let bytes = bytes.to_vec();
        header.crc.update(&bytes);
        feed.consume(len);
        Ok(bytes)
    }

    fn take_text(&self, feed: &mut Feed, header: &mut Header) -> Result<(), Fault> {
        loop {
            let seen = feed.peek(1)?;
            match memchr::memchr(0, seen) {
                Some(end) => {
                    self.take(feed, end + 1, header)?;
                    return Ok(());
                }
                None => {
                    let len = seen.len().max(1);
                    self.take(feed, len, header)?;
                }
            }
        }
    }
}

#[derive(Default)]
struct Header {
    len: u64,
    crc: crc32fast::Hasher,
}

impl Codec for Gzip {
    fn start(&mut self, feed: &mut Feed) -> Result<bool, Fault> {
        if !feed.peek(3)?.starts_with(&[0x1F, 0x8B, 8]) {
            return Ok(false);
        }
        let mut header = Header::default();
        let at = feed.position();
        let fixed = self.take(feed, 10, &mut header)?;
        let flags = fixed[3];
        if flags & RESERVED != 0 {
            return Err(Damage::format(at, "a gzip header has reserved flags").into());
        }
        if flags & EXTRA != 0 {
            let len = self.take(feed, 2, &mut header)?;
            let len = usize::from(u16::from_le_bytes([len[0], len[1]]));
            self.take(feed, len, &mut header)?;
        }
        for flag in [NAME, COMMENT] {
            if flags & flag != 0 {
                self.take_text(feed, &mut header)?;
            }
        }
        if flags & HEADER_CRC != 0 {
            let computed = header.crc.clone().finalize() & 0xFFFF;
            let stated = self.take(feed, 2, &mut header)?;
            if u32::from(u16::from_le_bytes([stated[0], stated[1]])) != computed {
                return Err(Damage::integrity(at, "a gzip header's checksum does not fit").into());
            }
        }
        self.inflate.reset(false);
        self.crc = crc32fast::Hasher::new();
        self.size = 0;
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> Step {
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(input, output, FlushDecompress::None);
        let consumed = (self.inflate.total_in() - before_in) as usize;
        let produced = (self.inflate.total_out() - before_out) as usize;
        self.crc.update(&output[..produced]);
        self.size = self.size.wrapping_add(produced as u32);
        let then = match status {
            Ok(Status::StreamEnd) => Then::End,
            Ok(_) => Then::More,
            Err(_) => Then::Broken(Trouble::Malformed("a deflate stream is malformed")),
        };
        Step {
            consumed,
            produced,
            then,
        }
    }

    fn finish(&mut self, feed: &mut Feed) -> Result<(), Fault> {
        let at = feed.position();
        let Some(&trailer) = feed.peek(8)?.first_chunk::<8>() else {
            return Err(Damage::format(at, "a gzip trailer is cut").into());
        };
        feed.consume(8);
        let [a, b, c, d, size @ ..] = trailer;
        let computed = std::mem::take(&mut self.crc).finalize();
        let stated = u32::from_le_bytes([a, b, c, d]);
        if stated != computed {
            let text =
                format!("a gzip member's CRC-32 is {computed:08x}, its trailer says {stated:08x}");
            return Err(Damage::integrity(at, text).into());
        }
        let (stated, size) = (u32::from_le_bytes(size), self.size);
        if stated != size {
            let text =
                format!("a gzip member has {size} bytes (modulo 2^32), its trailer says {stated}");
            return Err(Damage::integrity(at + 4, text).into());
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        "gzip member"
    }
}
