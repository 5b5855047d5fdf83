//! The mutants of one file, one after the other.

use std::path::PathBuf;

use crate::shown;

/// Places at which a file is cut.
const CUTS: u64 = 200;
/// Random mutants of a file where the run has an end of its own.
const FLIPPED: u64 = 400;
/// Bytes of headers whose fields are set at most.
const MAX_HEADERS: usize = 16 << 10;

/// A file to mutate.
pub struct Seed {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Seed {
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Self {
        Self { path, bytes }
    }
}

/// See the module.
pub struct Mutants {
    seed: Seed,
    /// Offsets of the fields of its headers, and their sizes.
    fields: Vec<(usize, usize)>,
    next: u64,
    state: u64,
    endless: bool,
    over: bool,
}

impl Mutants {
    pub fn new(seed: Seed, number: u64, endless: bool) -> Self {
        let fields = fields(&seed.bytes);
        // Another sequence for each file, whatever other files there are.
        let mut state = number ^ 0xCBF2_9CE4_8422_2325;
        for &byte in shown(&seed.path).as_bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
        Self {
            seed,
            fields,
            next: 0,
            state,
            endless,
            over: false,
        }
    }

    /// Whether there are no more.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The next one, and what was done to the file. The three kinds take turns, so that a short
    /// run sees all of them.
    pub fn next_mutant(&mut self) -> Option<(Vec<u8>, String)> {
        let fields = self.fields.len() as u64 * 4;
        let most = CUTS.max(fields).max(FLIPPED);
        loop {
            let (kind, turn) = (self.next % 3, self.next / 3);
            if turn >= most && !self.endless {
                self.over = true;
                return None;
            }
            self.next += 1;
            let name = shown(&self.seed.path);
            match kind {
                0 if turn < CUTS => {
                    let length = self.cut(turn);
                    let bytes = self.seed.bytes.get(..length)?.to_vec();
                    return Some((bytes, format!("{name}, cut at {length}")));
                }
                1 if turn < fields => {
                    let (bytes, what) = self.set(turn)?;
                    return Some((bytes, format!("{name}, {what}")));
                }
                2 if turn < FLIPPED || self.endless => {
                    let (bytes, count) = self.flip();
                    return Some((bytes, format!("{name}, {count} bytes changed, turn {turn}")));
                }
                _ => {}
            }
        }
    }

    /// Half of the cuts are in the first 4 KiB, where the headers are.
    fn cut(&self, turn: u64) -> usize {
        let length = self.seed.bytes.len() as u64;
        let (span, turn) = match turn % 2 {
            0 => (length.min(4096), turn / 2),
            _ => (length, turn / 2),
        };
        usize::try_from(span * turn / (CUTS / 2)).unwrap_or(0)
    }

    /// One field set to 0, 1, the largest value or one less. Headers are spread over the turns.
    fn set(&self, turn: u64) -> Option<(Vec<u8>, String)> {
        let count = self.fields.len() as u64;
        // 7919 is prime, so that each field comes once.
        let at = (turn / 4).wrapping_mul(7919) % count.max(1);
        let at = if count.is_multiple_of(7919) {
            turn / 4
        } else {
            at
        };
        let &(offset, size) = self.fields.get(usize::try_from(at).ok()?)?;
        let mut bytes = self.seed.bytes.clone();
        let field = bytes.get_mut(offset..offset + size)?;
        let what = match turn % 4 {
            0 => {
                field.fill(0);
                "0"
            }
            1 => {
                field.fill(0);
                *field.first_mut()? = 1;
                "1"
            }
            2 => {
                field.fill(0xFF);
                "the largest value"
            }
            _ => {
                field.fill(0xFF);
                *field.first_mut()? = 0xFE;
                "the largest value less one"
            }
        };
        Some((bytes, format!("{size} bytes at {offset:#x} set to {what}")))
    }

    fn flip(&mut self) -> (Vec<u8>, u64) {
        let mut bytes = self.seed.bytes.clone();
        let length = bytes.len() as u64;
        let count = 1 + self.random() % 16;
        for _ in 0..count {
            // Three of four in the headers and tables.
            let span = match self.random() % 4 {
                0 => length,
                1 => length.min(512),
                _ => length.min(8192),
            };
            let at = usize::try_from(self.random() % span.max(1)).unwrap_or(0);
            let value = self.random();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = match value % 3 {
                    0 => *byte ^ (1 << (value >> 8 & 7)),
                    1 => [0, 1, 0x7F, 0x80, 0xFE, 0xFF][(value >> 8) as usize % 6],
                    _ => (value >> 16) as u8,
                };
            }
        }
        (bytes, count)
    }

    /// splitmix64
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// The fields of a file's headers and tables: ranges that the format names, as words of 2, 4 and 8
/// bytes.
fn fields(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut fields = Vec::new();
    let mut left = MAX_HEADERS;
    for (start, length) in headers(bytes) {
        let length = length.min(left).min(bytes.len().saturating_sub(start));
        left -= length;
        for offset in (start..start + length).step_by(2) {
            for size in [2, 4, 8] {
                if (offset - start).is_multiple_of(size) && offset + size <= start + length {
                    fields.push((offset, size));
                }
            }
        }
    }
    fields
}

fn word(bytes: &[u8], at: usize, size: usize) -> usize {
    let field = bytes.get(at..at + size).unwrap_or_default();
    let value = field
        .iter()
        .rev()
        .fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Where headers and tables stand, as far as that is easily told.
fn headers(bytes: &[u8]) -> Vec<(usize, usize)> {
    match bytes {
        [0x7F, b'E', b'L', b'F', 2, 1, ..] => {
            let segments = (
                word(bytes, 32, 8),
                56usize.saturating_mul(word(bytes, 56, 2)),
            );
            let sections = (
                word(bytes, 40, 8),
                64usize.saturating_mul(word(bytes, 60, 2)),
            );
            let mut found = vec![(0, 64), segments, sections];
            // What the sections name: a start of each table.
            for at in 0..word(bytes, 60, 2) {
                let header = sections.0.saturating_add(at * 64);
                let table = matches!(word(bytes, header + 4, 4), 2..=7 | 9 | 11 | 14..=19)
                    || word(bytes, header + 4, 4) >= 0x6000_0000;
                if table {
                    let length = word(bytes, header + 32, 8).min(256);
                    found.push((word(bytes, header + 24, 8), length));
                }
            }
            found
        }
        [0x7F, b'E', b'L', b'F', ..] => vec![(0, 52), (52, 1024)],
        [b'M', b'Z', ..] => vec![(0, 64), (word(bytes, 60, 4), 1024)],
        [0xCF | 0xCE, 0xFA, 0xED, 0xFE, ..] => {
            vec![(0, 32usize.saturating_add(word(bytes, 20, 4)))]
        }
        _ => vec![(0, 512)],
    }
    .into_iter()
    .filter(|&(start, _)| start < bytes.len())
    .collect()
}
