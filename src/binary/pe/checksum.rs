//! The checksum of an image, as `CheckSumMappedFile` computes it: the 16-bit
//! words of the file added with carry, those of the checksum itself as zero,
//! and the length of the file.

use super::fields::hex;
use crate::json::Object;

/// Over a file whose checksum stands at `field`.
pub(super) fn compute(data: &[u8], field: u64) -> u32 {
    // Zeros where the checksum stands: what its bytes give is taken away.
    let field = usize::try_from(field).unwrap_or(usize::MAX);
    let mut stored = 0u64;
    for (ahead, &byte) in data.iter().skip(field).take(4).enumerate() {
        let at = field.wrapping_add(ahead);
        stored += u64::from(byte) << (8 * (at & 1));
    }
    let mut sum = 0u64;
    let mut words = data.chunks_exact(4);
    for word in &mut words {
        // 32-bit words fold to the same 16 bits.
        let [a, b, c, d] = *word else { continue };
        sum += u64::from(u32::from_le_bytes([a, b, c, d]));
    }
    for (at, &byte) in words.remainder().iter().enumerate() {
        sum += u64::from(byte) << (8 * at);
    }
    // The complement of what to take away adds as its negation does.
    let folded = fold(fold(sum) + (0xFFFF - fold(stored)));
    // A sum of nothing but zeros is zero, of anything else it is not.
    let folded = match folded {
        0xFFFF if is_zero_without(data, field) => 0,
        0 if !is_zero_without(data, field) => 0xFFFF,
        folded => folded,
    };
    (folded as u32).wrapping_add(data.len() as u32)
}

fn is_zero_without(data: &[u8], field: usize) -> bool {
    let is_zero = |part: &[u8]| part.iter().all(|&byte| byte == 0);
    is_zero(data.get(..field).unwrap_or(data))
        && is_zero(data.get(field.saturating_add(4)..).unwrap_or_default())
}

fn fold(mut sum: u64) -> u64 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum
}

/// As facts.
pub(super) fn facts(data: &[u8], field: u64, stored: u32) -> Object {
    let computed = compute(data, field);
    let mut facts = Object::new();
    facts.insert("computed", hex(computed));
    facts.insert("matches", stored == computed);
    facts.insert("stored", hex(stored));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain algorithm, word by word.
    fn plain(data: &[u8], field: usize) -> u32 {
        let mut copy = data.to_vec();
        copy.iter_mut()
            .skip(field)
            .take(4)
            .for_each(|byte| *byte = 0);
        let mut sum = 0u32;
        for pair in copy.chunks(2) {
            let word = u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 8;
            sum += word;
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        sum + data.len() as u32
    }

    #[test]
    fn as_word_by_word() {
        let mut seed = 1u32;
        for length in 0..200usize {
            let data: Vec<u8> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                    match seed >> 28 {
                        0..4 => 0,
                        4..8 => 0xFF,
                        _ => (seed >> 16) as u8,
                    }
                })
                .collect();
            for field in [0, 1, 5, 64, 88] {
                assert_eq!(
                    compute(&data, field),
                    plain(&data, field as usize),
                    "{length} {field}"
                );
            }
        }
        assert_eq!(compute(&[0xFF; 64], 0), plain(&[0xFF; 64], 0));
        assert_eq!(compute(&[0; 64], 8), 64);
    }
}
