//! Sparse members: old GNU headers, pax 0.0, 0.1 and 1.0.

use super::super::{Input, Sink};
use super::extended::{Extended, decimal};
use super::header::{BLOCK, Header, number};
use crate::artifact::containers::{Damage, Fault, Limit};
use crate::artifact::options::Options;

/// Where a sparse member's stored bytes belong.
pub(super) struct Map {
    /// Offset and length of each stored part.
    parts: Vec<(u64, u64)>,
    /// The expanded size.
    pub real_size: u64,
    /// Stored bytes of data, without a map in front.
    pub stored: u64,
}

/// The map of a member, where it is sparse.
pub(super) fn map(
    input: &mut Input<'_>,
    header: &Header,
    extended: &Extended,
    stored: u64,
    at: u64,
    options: &Options,
) -> Result<Option<Map>, Fault> {
    let (pairs, map_bytes) = if header.kind() == b'S' {
        (old_gnu(input, header, options)?, 0)
    } else if extended.sparse_version.is_some_and(|(major, _)| major >= 1) {
        in_data(input, stored, options)?
    } else if let Some(map) = &extended.sparse_map {
        let numbers: Option<Vec<u64>> = map.split(|&byte| byte == b',').map(decimal).collect();
        (numbers.ok_or_else(|| malformed(at))?, 0)
    } else if !extended.sparse_pairs.is_empty() {
        (extended.sparse_pairs.clone(), 0)
    } else {
        return Ok(None);
    };
    let real_size = if header.kind() == b'S' {
        header.gnu_sparse().2
    } else {
        extended.sparse_size
    };
    let parts: Vec<(u64, u64)> = pairs
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let real_size = real_size.ok_or_else(|| malformed(at))?;
    let data = stored.checked_sub(map_bytes).ok_or_else(|| malformed(at))?;
    if !pairs.len().is_multiple_of(2) || !fits(&parts, real_size, data) {
        return Err(malformed(at));
    }
    Ok(Some(Map {
        parts,
        real_size,
        stored: data,
    }))
}

/// Parts in order, apart, inside the file, and as long as the stored data.
fn fits(parts: &[(u64, u64)], real_size: u64, stored: u64) -> bool {
    let mut end = 0u64;
    let mut sum = 0u64;
    for &(offset, len) in parts {
        let Some(stop) = offset.checked_add(len) else {
            return false;
        };
        if offset < end || stop > real_size {
            return false;
        }
        end = stop;
        sum += len;
    }
    sum == stored
}

fn malformed(at: u64) -> Fault {
    Damage::format(at, "a sparse member's map is malformed").into()
}

fn limit(options: &Options) -> Fault {
    Fault::Limit(Limit {
        name: "max_header_bytes",
        value: options.max_header_bytes,
    })
}

/// Four entries in the header, 21 in each extension block.
fn old_gnu(input: &mut Input<'_>, header: &Header, options: &Options) -> Result<Vec<u64>, Fault> {
    let at = input.position();
    let (entries, mut more, _) = header.gnu_sparse();
    let mut pairs = Vec::new();
    push_entries(entries, &mut pairs).ok_or_else(|| malformed(at))?;
    while more {
        if pairs.len() as u64 * 12 > options.max_header_bytes {
            return Err(limit(options));
        }
        let block = input.take(BLOCK, "a sparse member's map")?;
        push_entries(&block[..504], &mut pairs).ok_or_else(|| malformed(at))?;
        more = block[504] != 0;
    }
    Ok(pairs)
}

/// Entries of two 12-byte numbers; an empty one ends them.
fn push_entries(entries: &[u8], pairs: &mut Vec<u64>) -> Option<()> {
    for entry in entries.chunks_exact(24) {
        if entry[0] == 0 {
            break;
        }
        for field in [&entry[..12], &entry[12..]] {
            pairs.push(u64::try_from(number(field)?).ok()?);
        }
    }
    Some(())
}

/// pax 1.0: lines of decimal numbers in front of the data, a count first,
/// padded to whole blocks. The pairs, and the bytes they take.
fn in_data(
    input: &mut Input<'_>,
    stored: u64,
    options: &Options,
) -> Result<(Vec<u64>, u64), Fault> {
    let at = input.position();
    let mut text: Vec<u8> = Vec::new();
    let mut used = 0;
    let mut numbers: Vec<u64> = Vec::new();
    let mut wanted = 1u64;
    while (numbers.len() as u64) < wanted {
        match memchr::memchr(b'\n', &text[used..]) {
            Some(end) => {
                let value = decimal(&text[used..used + end]).ok_or_else(|| malformed(at))?;
                used += end + 1;
                if numbers.is_empty() {
                    wanted = value
                        .checked_mul(2)
                        .and_then(|n| n.checked_add(1))
                        .ok_or_else(|| malformed(at))?;
                }
                numbers.push(value);
            }
            None => {
                if text.len() as u64 >= options.max_header_bytes {
                    return Err(limit(options));
                }
                if text.len() as u64 + BLOCK as u64 > stored.next_multiple_of(BLOCK as u64) {
                    return Err(malformed(at));
                }
                text.extend(input.take(BLOCK, "a sparse member's map")?);
            }
        }
    }
    numbers.remove(0);
    Ok((numbers, text.len() as u64))
}

impl Map {
    /// Passes the expanded bytes on; how many stored bytes there were.
    pub fn expand(&self, input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<u64, Fault> {
        let mut at = 0;
        let mut passed = 0;
        for &(offset, len) in &self.parts {
            zeros(offset - at, sink)?;
            let got = input.pass(len, &mut |bytes| sink.data(bytes))?;
            passed += got;
            if got < len {
                return Ok(passed);
            }
            at = offset + len;
        }
        zeros(self.real_size - at, sink)?;
        Ok(passed)
    }
}

fn zeros(mut count: u64, sink: &mut dyn Sink) -> Result<(), Fault> {
    static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
    while count > 0 {
        let step = count.min(ZEROS.len() as u64);
        sink.data(&ZEROS[..step as usize])?;
        count -= step;
    }
    Ok(())
}
