//! Containers that are read from front to back: compressed streams, and the
//! archives (tar, cpio) that may be in them.
//!
//! A [`Decoder`] turns the bytes of a file into plain bytes; an archive reader
//! ([`tar`], [`cpio`]) cuts plain bytes into members and hands each to a
//! [`Sink`] while the stream is still decoding. Nothing is read twice.

pub(crate) mod codec;
pub(crate) mod cpio;
pub(crate) mod tar;

use super::containers::{Closing, Damage, Fault, Limit, MemberKind};
use super::format::Format;
use super::options::Options;
use super::source::Source;

/// Plain bytes from front to back.
pub(crate) trait Decoder: Send {
    /// Fills `buffer` as far as bytes are at hand, at least one byte; 0 at the
    /// end. Damage is told after everything before it was delivered.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault>;
    /// Once the end was reached: the first checksum or size that contradicts
    /// the bytes that were delivered. Told once, and only where damage is to
    /// be recorded; else it is a fault.
    fn contradiction(&mut self) -> Option<Damage> {
        None
    }
    /// What is left to say once the end was reached.
    fn close(&mut self) -> Closing {
        Closing::default()
    }
}

/// The entry that an archive reader announces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// Raw name as the archive has it, `./` not yet stripped.
    pub name: &'a [u8],
    /// What it is.
    pub kind: MemberKind,
    /// Expanded size of a file; `UNKNOWN` for all else and where not told.
    pub size: u64,
    /// Permission and special bits; `NO_MODE` where not recorded.
    pub mode: u16,
}

/// Takes the members of one archive, in order.
pub(crate) trait Sink {
    /// A member starts. Its data (of links: the target text) follows.
    fn begin(&mut self, entry: Entry<'_>) -> Result<(), Fault>;
    /// So many of the member's bytes are holes, which the archive does not
    /// hold: told before its first byte, so that they can be refused.
    fn holes(&mut self, _bytes: u64) -> Result<(), Fault> {
        Ok(())
    }
    /// The next bytes of the member.
    fn data(&mut self, bytes: &[u8]) -> Result<(), Fault>;
    /// The member is complete.
    fn end(&mut self) -> Result<(), Fault>;
    /// A hard link: it is what the last earlier entry named `target` is.
    fn hard_link(&mut self, entry: Entry<'_>, target: &[u8]) -> Result<(), Fault>;
    /// The same where the archive names the other member by its position
    /// (0-based, in order of `begin` and `hard_link` calls), also a later one;
    /// settled at the end of the archive.
    fn same_as(&mut self, entry: Entry<'_>, position: u32) -> Result<(), Fault>;
    /// The entry at position `member`, an empty file as it seemed, is what the
    /// one at `position` is.
    fn refer(&mut self, member: u32, position: u32);
    /// The bytes of the member at hand contradict the archive; told before
    /// [`Sink::end`]. An error where the caller does not go on after that.
    fn contradicts(&mut self, damage: Damage) -> Result<(), Fault> {
        Err(damage.into())
    }
}

/// A decoder with a few bytes of look-ahead and a position.
pub(crate) struct Input<'a> {
    decoder: &'a mut dyn Decoder,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
    ended: bool,
    /// What comes after the bytes in the buffer.
    fault: Option<Fault>,
}

impl<'a> Input<'a> {
    pub fn new(decoder: &'a mut dyn Decoder) -> Self {
        Self {
            decoder,
            buffer: vec![0; 128 << 10],
            start: 0,
            end: 0,
            position: 0,
            ended: false,
            fault: None,
        }
    }

    /// What contradicts the bytes, once all were passed.
    pub fn contradiction(&mut self) -> Option<Damage> {
        self.decoder.contradiction()
    }

    /// Offset of the next byte in the plain stream.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// At least `want` bytes of look-ahead (at most 64 KiB), fewer only at the
    /// end of the stream; a fault only where it stands in the way.
    pub fn peek(&mut self, want: usize) -> Result<&[u8], Fault> {
        self.fill(want);
        match &self.fault {
            Some(fault) if self.end - self.start < want => Err(fault.clone()),
            _ => Ok(&self.buffer[self.start..self.end]),
        }
    }

    /// As much of `want` bytes as there is before the end or a fault.
    pub fn look(&mut self, want: usize) -> &[u8] {
        self.fill(want);
        &self.buffer[self.start..self.end]
    }

    fn fill(&mut self, want: usize) {
        debug_assert!(want <= 64 << 10);
        if self.end - self.start >= want || self.ended {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < want && !self.ended {
            match self.decoder.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(fault) => {
                    self.fault = Some(fault);
                    self.ended = true;
                }
            }
        }
    }

    /// Drops `count` bytes that [`Input::peek`] showed.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.position += count as u64;
    }

    /// Passes the next `len` bytes to `out`; how many there were.
    pub fn pass(
        &mut self,
        len: u64,
        out: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<u64, Fault> {
        let mut left = len;
        while left > 0 {
            let seen = self.peek(1)?;
            if seen.is_empty() {
                break;
            }
            let count = usize::try_from(left).map_or(seen.len(), |left| left.min(seen.len()));
            out(&seen[..count])?;
            self.consume(count);
            left -= count as u64;
        }
        Ok(len - left)
    }

    /// Passes everything up to the end.
    pub fn pass_all(
        &mut self,
        out: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<u64, Fault> {
        self.pass(u64::MAX, out)
    }

    /// Reads exactly `len` bytes, or says how the archive is cut.
    pub fn take(&mut self, len: usize, what: &str) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::with_capacity(len.min(1 << 20));
        self.pass(len as u64, &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        if bytes.len() < len {
            return Err(Damage::format(self.position, format!("{what} is cut")).into());
        }
        Ok(bytes)
    }

    /// Skips `len` bytes; cut is damage.
    pub fn skip(&mut self, len: u64, what: &str) -> Result<(), Fault> {
        let skipped = self.pass(len, &mut |_| Ok(()))?;
        if skipped < len {
            return Err(Damage::format(self.position, format!("{what} is cut")).into());
        }
        Ok(())
    }
}

/// The bytes of a source as they are.
pub(crate) struct Plain {
    source: Source,
    at: u64,
}

impl Plain {
    pub fn new(source: Source) -> Self {
        Self { source, at: 0 }
    }
}

impl Decoder for Plain {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        let count = self.source.read_at(self.at, buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Whether a format is read from front to back.
pub(crate) fn is_stream(format: Format) -> bool {
    is_compressed(format) || matches!(format, Format::Tar | Format::Cpio)
}

/// Whether a format is a compressed stream.
pub(crate) fn is_compressed(format: Format) -> bool {
    matches!(
        format,
        Format::Gzip | Format::Xz | Format::Lzma | Format::Bzip2 | Format::Zstd
    )
}

/// The plain bytes of a file of a format that [`is_stream`].
pub(crate) fn decoder(
    format: Format,
    source: &Source,
    options: &Options,
    threads: usize,
) -> Result<Box<dyn Decoder>, Fault> {
    if is_compressed(format) {
        codec::decoder(format, source, options, threads)
    } else {
        Ok(Box::new(Plain::new(source.clone())))
    }
}

/// What a stream's only member is called: the last segment of the stream's own
/// name without the suffix that says it is compressed; `content` where nothing
/// is left (decision 18).
pub(crate) fn content_name(name: &[u8]) -> Vec<u8> {
    const SUFFIXES: &[&str] = &[
        ".gz", ".tgz", ".xz", ".txz", ".lzma", ".bz2", ".tbz", ".tbz2", ".zst", ".tzst",
    ];
    let last = name
        .rsplit(|byte| matches!(byte, b'/' | 0xFF))
        .next()
        .unwrap_or(name);
    let stem = SUFFIXES.iter().find_map(|suffix| {
        let at = last.len().checked_sub(suffix.len())?;
        last[at..]
            .eq_ignore_ascii_case(suffix.as_bytes())
            .then(|| &last[..at])
    });
    match stem.unwrap_or(last) {
        b"" => b"content".to_vec(),
        stem => stem.to_vec(),
    }
}

/// The limit of a decoder's history, as an error.
pub(crate) fn window_limit(options: &Options) -> Fault {
    Fault::Limit(Limit {
        name: "max_decoder_window",
        value: options.max_decoder_window,
    })
}
