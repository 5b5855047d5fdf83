//! For the fuzz targets: one container reader on bytes in memory.

use super::containers::{self, Damage, Fault, Limit, MemberKind, Scratch};
use super::format::Format;
use super::names::{self, RawName};
use super::options::{OnDamage, Options};
use super::source::Source;
use super::streams::{self, Decoder, Entry, Input, Sink};

/// Decoded bytes of one member, and of all members.
const MEMBER: usize = 1 << 18;
const ALL: usize = 1 << 22;

/// Opens `bytes` as a container of that format, settles its names, reads every
/// member as far as the limits allow, and closes it.
///
/// # Panics
/// Where a reader breaks what the engine relies on: that is what fuzzing is
/// to find.
pub fn read_container(format: &str, bytes: &[u8]) {
    let Some(format) = containers::named(format) else {
        panic!("no reader for {format}");
    };
    for on_damage in [OnDamage::Fail, OnDamage::Record] {
        let options = Options {
            on_damage,
            ..limits()
        };
        read_with(format, bytes, &options);
    }
}

/// Small, so that no input takes long.
fn limits() -> Options {
    Options {
        max_depth: 64,
        max_entries: 4096,
        max_entry_bytes: MEMBER as u64,
        max_total_bytes: ALL as u64,
        max_decoder_window: 1 << 20,
        max_header_bytes: 1 << 16,
        ..Options::default()
    }
}

fn read_with(format: Format, bytes: &[u8], options: &Options) {
    let source = Source::memory(bytes.to_vec());
    let Ok(mut container) = containers::open(format, &source, options) else {
        return;
    };
    let listing = container.listing();
    let count = listing.members.len();
    assert!(count as u64 <= options.max_entries);
    let names = listing.members.iter().map(|member| RawName {
        bytes: listing.name(member),
        directory: member.kind == MemberKind::Directory,
    });
    if let Ok(paths) = names::resolve(names, container.style()) {
        assert_eq!(paths.len(), count);
    }
    let mut scratch = Scratch::new();
    let mut left = ALL;
    for index in 0..count {
        let kind = container.listing().members[index].kind;
        if !kind.is_file() && kind != MemberKind::Symlink {
            continue;
        }
        let most = left.min(MEMBER);
        let mut content = Vec::new();
        // Both ways to meet a contradiction are taken by some member.
        let keep_going = index % 2 == 1;
        let mut out = |part: &[u8]| {
            if content.len() + part.len() > most {
                return Err(Fault::Limit(Limit {
                    name: "max_entry_bytes",
                    value: most as u64,
                }));
            }
            content.extend_from_slice(part);
            Ok(())
        };
        let read = container.read(index, keep_going, &mut scratch, &mut out);
        left -= content.len();
        let region = container.region(index);
        if let (Ok(_), Some(region), true) = (read, region, container.is_contiguous(index)) {
            let stored = region.read_vec(0, content.len());
            assert!(stored.is_ok_and(|stored| stored == content));
        }
        container.declared(index);
        container.is_unpacked(index);
    }
    container.close();
    assert_eq!(container.take_listing().members.len(), count);
}

/// Reads `bytes` as an archive of that format (`cpio`, `tar`), once as a whole
/// and once in small pieces, which must come to the same.
///
/// # Panics
/// Where a reader breaks what the engine relies on.
pub fn read_archive(format: &str, bytes: &[u8]) {
    let whole = events(format, bytes, bytes.len().max(1));
    // The first bytes choose the pieces, so that cuts fall everywhere.
    let piece = 1 + usize::from(bytes.iter().take(8).fold(0, |sum: u8, &byte| sum ^ byte) % 23);
    assert_eq!(whole, events(format, bytes, piece));
}

/// Decodes `bytes` as a stream of that format (`gzip`, `xz`, `lzma`, `bzip2`,
/// `zstd`) into buffers of `step` bytes, at most `most` bytes in all: what came
/// out, and the fault at the end.
///
/// # Panics
/// Where the format has no decoder.
pub fn decode(
    format: &str,
    bytes: &[u8],
    most: usize,
    step: usize,
    threads: usize,
) -> (Vec<u8>, Option<String>) {
    decode_with(&limits(), format, bytes, most, (step, threads))
}

/// The same where damage is to be recorded; what contradicts the bytes, if
/// they came to an end, stands for the fault.
///
/// # Panics
/// Where the format has no decoder.
pub fn decode_recording(
    format: &str,
    bytes: &[u8],
    most: usize,
    step: usize,
    threads: usize,
) -> (Vec<u8>, Option<String>) {
    let options = Options {
        on_damage: OnDamage::Record,
        ..limits()
    };
    decode_with(&options, format, bytes, most, (step, threads))
}

fn decode_with(
    options: &Options,
    format: &str,
    bytes: &[u8],
    most: usize,
    (step, threads): (usize, usize),
) -> (Vec<u8>, Option<String>) {
    let format = match format {
        "gzip" => Format::Gzip,
        "xz" => Format::Xz,
        "lzma" => Format::Lzma,
        "bzip2" => Format::Bzip2,
        "zstd" => Format::Zstd,
        other => panic!("no decoder for {other}"),
    };
    let source = Source::memory(bytes.to_vec());
    let mut decoder = match streams::decoder(format, &source, options, threads) {
        Ok(decoder) => decoder,
        Err(fault) => return (Vec::new(), Some(format!("{fault:?}"))),
    };
    let mut output = Vec::new();
    let mut buffer = vec![0; step.max(1)];
    while output.len() < most {
        let room = buffer.len().min(most - output.len());
        match decoder.read(&mut buffer[..room]) {
            Ok(0) => {
                let contradiction = decoder.contradiction();
                return (output, contradiction.map(|damage| format!("{damage:?}")));
            }
            Ok(count) => output.extend_from_slice(&buffer[..count]),
            Err(fault) => return (output, Some(format!("{fault:?}"))),
        }
    }
    (output, None)
}

/// What an archive's reader told, in words.
fn events(format: &str, bytes: &[u8], piece: usize) -> (Vec<String>, String) {
    let options = limits();
    let mut decoder = Pieces { bytes, piece };
    let mut input = Input::new(&mut decoder);
    let mut members = Members::default();
    let read = match format {
        "cpio" => streams::cpio::read(&mut input, &mut members, &options),
        "tar" => streams::tar::read(&mut input, &mut members, &options),
        _ => panic!("no reader for {format}"),
    };
    assert!(members.open.is_none() || read.is_err());
    for &(member, position) in &members.links {
        assert!(member.max(position) < members.positions);
    }
    (members.told, format!("{read:?} {:?}", members.links))
}

/// Bytes that come a few at a time.
struct Pieces<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl Decoder for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        let count = self.piece.min(buffer.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.bytes = later;
        Ok(count)
    }
}

#[derive(Default)]
struct Members {
    told: Vec<String>,
    positions: u32,
    links: Vec<(u32, u32)>,
    /// CRC-32 of the member at hand, how much it still may have, and whether
    /// that was announced.
    open: Option<(crc32fast::Hasher, u64, bool)>,
    total: usize,
}

impl Members {
    fn tell(&mut self, entry: Entry<'_>) -> Result<(), Fault> {
        assert!(self.open.is_none(), "a member inside a member");
        let value = limits().max_entries;
        if u64::from(self.positions) >= value {
            return Err(Fault::Limit(Limit {
                name: "max_entries",
                value,
            }));
        }
        assert!(entry.mode == containers::NO_MODE || entry.mode <= 0o7777);
        self.positions += 1;
        self.told.push(format!("{entry:?}"));
        Ok(())
    }
}

impl Sink for Members {
    fn begin(&mut self, entry: Entry<'_>) -> Result<(), Fault> {
        self.tell(entry)?;
        let announced = entry.size != containers::UNKNOWN;
        self.open = Some((crc32fast::Hasher::new(), entry.size, announced));
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.total += bytes.len();
        if self.total > ALL {
            return Err(Fault::Limit(Limit {
                name: "max_total_bytes",
                value: ALL as u64,
            }));
        }
        let Some((hasher, left, _)) = &mut self.open else {
            panic!("data of no member");
        };
        hasher.update(bytes);
        assert!(bytes.len() as u64 <= *left, "more data than announced");
        *left -= bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some((hasher, left, announced)) = self.open.take() else {
            panic!("the end of no member");
        };
        assert!(!announced || left == 0, "less data than announced");
        self.told.push(format!("{:08x}", hasher.finalize()));
        Ok(())
    }

    fn hard_link(&mut self, entry: Entry<'_>, target: &[u8]) -> Result<(), Fault> {
        self.tell(entry)?;
        self.told.push(format!("{target:?}"));
        Ok(())
    }

    fn same_as(&mut self, entry: Entry<'_>, position: u32) -> Result<(), Fault> {
        self.links.push((self.positions, position));
        self.tell(entry)
    }

    fn refer(&mut self, member: u32, position: u32) {
        self.links.push((member, position));
    }

    fn contradicts(&mut self, damage: Damage) -> Result<(), Fault> {
        self.told.push(format!("{damage:?}"));
        Ok(())
    }
}
