//! The hash tables of dynamic symbols: `DT_HASH` (gABI ch. 5) and
//! `DT_GNU_HASH`. They also tell how many symbols there are where no section
//! does.

use super::Elf;
use super::dynamic::{Dynamic, dt};
use super::fact::rows;
use super::names::em;
use super::tables::sht;
use crate::binary::layout::rows::Range;
use crate::binary::{Bytes, Notes};

rows! {
    /// A row of `facts.elf.hash_tables`
    struct HashTable {
        /// `lengths[n]` buckets hold `n` symbols.
        bucket_lengths: Vec<u64>,
        buckets: u64,
        /// Words of the Bloom filter, and how far its second hash is shifted.
        filter_shift: Option<u64>,
        filter_words: Option<u64>,
        /// The first symbol that is in it.
        first_symbol: Option<u64>,
        kind: &'static str,
        location: Range,
        symbols: u64,
    }
}

/// Where a hash table stands: by the dynamic table, else by its section.
fn place(elf: &Elf<'_>, dynamic: &Dynamic<'_>, tag: u64, section: u32) -> Option<u64> {
    if let Some(address) = dynamic.value(tag)
        && let Some(offset) = elf.offset_of(address)
    {
        return Some(offset);
    }
    let header = elf.sections.iter().find(|one| one.kind == section)?;
    Some(header.offset)
}

/// The number of symbols that a hash table covers.
pub(super) fn symbol_count(elf: &Elf<'_>, dynamic: &Dynamic<'_>) -> Option<u64> {
    let plain = place(elf, dynamic, dt::HASH, sht::HASH)
        .and_then(|at| Plain::read(elf, at))
        .map(|table| table.chains);
    plain.or_else(|| {
        let at = place(elf, dynamic, dt::GNU_HASH, sht::GNU_HASH)?;
        let table = Gnu::read(elf.bytes, at, elf.wide)?;
        Some(table.lengths(elf.bytes)?.1)
    })
}

/// `DT_HASH`: words of four bytes, of eight on 64-bit Alpha and S/390.
struct Plain {
    at: u64,
    wide: bool,
    buckets: u64,
    chains: u64,
}

impl Plain {
    fn read(elf: &Elf<'_>, at: u64) -> Option<Self> {
        let wide = elf.wide && matches!(elf.header.machine, em::ALPHA | em::S390 | em::S390_OLD);
        let word = if wide { 8 } else { 4 };
        let buckets = elf.bytes.word(at, wide)?;
        let chains = elf.bytes.word(at.checked_add(word)?, wide)?;
        let table = Self {
            at,
            wide,
            buckets,
            chains,
        };
        // All of it must be there before its counts are believed.
        elf.bytes.get(at, table.size()?)?;
        Some(table)
    }

    fn word(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }

    fn size(&self) -> Option<u64> {
        let words = self.buckets.checked_add(self.chains)?.checked_add(2)?;
        words.checked_mul(self.word())
    }

    /// How many buckets have how many symbols. `None`: a chain never ends.
    fn lengths(&self, bytes: Bytes<'_>) -> Option<Vec<u64>> {
        let buckets = self.at + 2 * self.word();
        let chains = buckets + self.buckets * self.word();
        let mut lengths = Vec::new();
        let mut steps = 0;
        for bucket in 0..self.buckets {
            let mut length = 0;
            let mut symbol = bytes.word(buckets + bucket * self.word(), self.wide)?;
            while symbol != 0 && symbol < self.chains {
                length += 1;
                steps += 1;
                if steps > self.chains {
                    return None;
                }
                symbol = bytes.word(chains + symbol * self.word(), self.wide)?;
            }
            count(&mut lengths, length);
        }
        Some(lengths)
    }
}

/// `DT_GNU_HASH`: a Bloom filter, buckets, and the hash of each symbol with
/// its lowest bit set on the last of a bucket.
struct Gnu {
    at: u64,
    buckets: u64,
    first: u64,
    filter: u64,
    shift: u64,
    wide: bool,
}

impl Gnu {
    fn read(bytes: Bytes<'_>, at: u64, wide: bool) -> Option<Self> {
        let table = Self {
            at,
            buckets: bytes.u32(at)?.into(),
            first: bytes.u32(at.checked_add(4)?)?.into(),
            filter: bytes.u32(at.checked_add(8)?)?.into(),
            shift: bytes.u32(at.checked_add(12)?)?.into(),
            wide,
        };
        bytes.get(table.bucket_table(), table.buckets * 4)?;
        Some(table)
    }

    fn bucket_table(&self) -> u64 {
        let word = if self.wide { 8 } else { 4 };
        (self.at + 16).saturating_add(self.filter * word)
    }

    /// How many buckets have how many symbols, and one more than the highest
    /// symbol. `None`: the table lies.
    fn lengths(&self, bytes: Bytes<'_>) -> Option<(Vec<u64>, u64)> {
        let buckets = self.bucket_table();
        let chains = buckets + self.buckets * 4;
        let most = bytes.len().saturating_sub(chains) / 4;
        let mut lengths = Vec::new();
        let (mut steps, mut end) = (0, self.first);
        for bucket in 0..self.buckets {
            let mut symbol = u64::from(bytes.u32(buckets + bucket * 4)?);
            let mut length = 0;
            while symbol != 0 {
                steps += 1;
                // Each symbol is in one bucket.
                if steps > most {
                    return None;
                }
                length += 1;
                let place = symbol.checked_sub(self.first)? * 4;
                let hash = bytes.u32(chains + place)?;
                symbol += 1;
                end = end.max(symbol);
                if hash & 1 == 1 {
                    break;
                }
            }
            count(&mut lengths, length);
        }
        Some((lengths, end))
    }
}

fn count(lengths: &mut Vec<u64>, length: usize) {
    if lengths.len() <= length {
        lengths.resize(length + 1, 0);
    }
    if let Some(number) = lengths.get_mut(length) {
        *number += 1;
    }
}

/// The tables as facts.
pub(super) fn facts(elf: &Elf<'_>, dynamic: &Dynamic<'_>, notes: &mut Notes) -> Vec<HashTable> {
    let mut rows = Vec::new();
    if let Some(at) = place(elf, dynamic, dt::HASH, sht::HASH) {
        let read = Plain::read(elf, at);
        let read = read.and_then(|table| Some((table.lengths(elf.bytes)?, table)));
        match read {
            Some((lengths, table)) => rows.push(HashTable {
                bucket_lengths: lengths,
                buckets: table.buckets,
                filter_shift: None,
                filter_words: None,
                first_symbol: None,
                kind: "DT_HASH",
                location: Range {
                    offset: at,
                    bytes: table.size().unwrap_or(0),
                },
                symbols: table.chains,
            }),
            None => notes.at("DT_HASH", at, LIES),
        }
    }
    if let Some(at) = place(elf, dynamic, dt::GNU_HASH, sht::GNU_HASH) {
        let read = Gnu::read(elf.bytes, at, elf.wide);
        let read = read.and_then(|table| Some((table.lengths(elf.bytes)?, table)));
        match read {
            Some(((lengths, end), table)) => {
                let hashes = end.saturating_sub(table.first);
                let bytes = table.bucket_table() - at + (table.buckets + hashes) * 4;
                rows.push(HashTable {
                    bucket_lengths: lengths,
                    buckets: table.buckets,
                    filter_shift: Some(table.shift),
                    filter_words: Some(table.filter),
                    first_symbol: Some(table.first),
                    kind: "DT_GNU_HASH",
                    location: Range { offset: at, bytes },
                    symbols: hashes,
                });
            }
            None => notes.at("DT_GNU_HASH", at, LIES),
        }
    }
    rows
}

const LIES: &str = "its counts or chains lead out of it";
