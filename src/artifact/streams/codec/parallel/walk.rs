//! Where the blocks of an xz stream stand, from their own headers (The .xz
//! File Format 1.2.1, sections 2 and 3).

use sha2::{Digest, Sha256};

use super::super::Feed;
use super::super::xz::{HEADER, MAGIC};
use super::{FIRST, MEMORY};
use crate::artifact::source::Source;

const LZMA2: u64 = 0x21;

/// A block whose place and sizes are known.
#[derive(Clone)]
pub(super) struct Block {
    pub at: u64,
    pub end: u64,
    /// As the index has it: without padding.
    unpadded: u64,
    pub size: u64,
    pub dictionary: u64,
}

impl Block {
    pub fn memory(&self) -> u64 {
        self.size + self.dictionary
    }
}

/// A stream whose blocks are found one after the other.
pub(super) struct Walk {
    pub start: u64,
    pub header: [u8; HEADER],
    check: u64,
    next: u64,
    count: u64,
    /// Of the sizes of all blocks so far, to be compared with the index.
    records: Sha256,
}

impl Walk {
    /// Where a stream starts with two blocks whose sizes are told.
    pub fn start(source: &Source, at: u64) -> Option<Self> {
        let header: [u8; HEADER] = source.read_vec(at, HEADER).ok()?.try_into().ok()?;
        let [.., a, b, c, d] = header;
        let check = match header[6..8] {
            [0, 0] => 0,
            [0, 1] => 4,
            [0, 4] => 8,
            [0, 10] => 32,
            _ => return None,
        };
        if !header.starts_with(MAGIC)
            || crc32fast::hash(&header[6..8]) != u32::from_le_bytes([a, b, c, d])
        {
            return None;
        }
        let mut walk = Self {
            start: at,
            header,
            check,
            next: at + HEADER as u64,
            count: 0,
            records: Sha256::new(),
        };
        let first = walk.block(source)?;
        let start = std::mem::replace(&mut walk.next, first.end);
        walk.block(source)?;
        walk.next = start;
        Some(walk)
    }

    /// The block that is next, if it is one to decode here.
    pub fn block(&self, source: &Source) -> Option<Block> {
        let mut room = [0; 1024];
        let got = source.read_at(self.next, &mut room).ok()?;
        let len = match room[0] {
            0 => return None,
            words => (usize::from(words) + 1) * 4,
        };
        let (body, crc) = room.get(..len.min(got))?.split_last_chunk::<4>()?;
        if body.len() + 4 < len || crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        let (&flags, mut rest) = body.get(1..)?.split_first()?;
        if flags & 0xFC != 0xC0 {
            return None;
        }
        let compressed = number(&mut rest)?;
        let size = number(&mut rest)?;
        let mut dictionary = 0;
        for _ in 0..=flags & 3 {
            let id = number(&mut rest)?;
            let len = usize::try_from(number(&mut rest)?).ok()?;
            let (properties, others) = rest.split_at_checked(len)?;
            rest = others;
            if id == LZMA2 {
                dictionary = dictionary_size(*properties.first()?)?;
            }
        }
        let data = (len as u64).checked_add(compressed)?;
        let end = data
            .checked_next_multiple_of(4)?
            .checked_add(self.check)?
            .checked_add(self.next)?;
        // It has to fit beside one of its kind that is delivered.
        let both = size.checked_add(dictionary.checked_mul(2)?)?;
        (end <= source.len() && both.checked_add(FIRST)? <= MEMORY).then_some(Block {
            at: self.next,
            end,
            unpadded: data + self.check,
            size,
            dictionary,
        })
    }

    pub fn pass(&mut self, block: &Block) {
        self.next = block.end;
        self.count += 1;
        self.records.update(block.unpadded.to_le_bytes());
        self.records.update(block.size.to_le_bytes());
    }

    /// Where the stream ends, if what follows the blocks is an index that
    /// says the same of them, and the footer.
    pub fn end(&self, source: &Source) -> Option<u64> {
        let mut index = Index {
            feed: Feed::new(source, self.next),
            crc: crc32fast::Hasher::new(),
            len: 0,
        };
        let mut records = Sha256::new();
        if index.byte()? != 0 || index.number()? != self.count {
            return None;
        }
        for _ in 0..self.count {
            records.update(index.number()?.to_le_bytes());
            records.update(index.number()?.to_le_bytes());
        }
        if records.finalize() != self.records.clone().finalize() {
            return None;
        }
        while !index.len.is_multiple_of(4) {
            if index.byte()? != 0 {
                return None;
            }
        }
        let crc = index.crc.finalize();
        let (behind, footer) = index
            .feed
            .peek(16)
            .ok()?
            .get(..16)?
            .split_first_chunk::<4>()?;
        let (footer_crc, footer) = footer.split_first_chunk::<4>()?;
        let fields = footer.get(..6)?;
        let backward = u32::from_le_bytes(*fields.first_chunk::<4>()?);
        let fits = u32::from_le_bytes(*behind) == crc
            && u32::from_le_bytes(*footer_crc) == crc32fast::hash(fields)
            && (u64::from(backward) + 1) * 4 == index.len + 4
            && fields[4..] == self.header[6..8]
            && footer.ends_with(b"YZ");
        fits.then(|| index.feed.position() + 16)
    }
}

struct Index {
    feed: Feed,
    crc: crc32fast::Hasher,
    len: u64,
}

impl Index {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.feed.peek(1).ok()?.first()?;
        self.pass(1);
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let seen = self.feed.peek(9).ok()?;
        let mut rest = seen;
        let value = number(&mut rest)?;
        let len = seen.len() - rest.len();
        self.pass(len);
        Some(value)
    }

    fn pass(&mut self, len: usize) {
        self.crc.update(&self.feed.seen()[..len]);
        self.feed.consume(len);
        self.len += len as u64;
    }
}

/// A number of up to nine bytes with seven bits each (section 1.2).
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return (byte != 0 || place == 0).then_some(value);
        }
    }
    None
}

/// The dictionary of the LZMA2 filter (section 5.3.1).
fn dictionary_size(bits: u8) -> Option<u64> {
    match bits {
        0..40 => Some((2 | u64::from(bits & 1)) << (bits / 2 + 11)),
        40 => Some(u64::from(u32::MAX)),
        _ => None,
    }
}
