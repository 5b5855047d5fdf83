//! Shannon entropy, in whole numbers only: floating-point logarithms differ
//! between hosts in their last digit, and records must not.

/// log2 of `value` with 32 binary places, rounded down; 0 for 0 and 1.
fn log2(value: u64) -> u64 {
    let Some(whole) = value.checked_ilog2() else {
        return 0;
    };
    // The mantissa in [1, 2) with 63 binary places.
    let mut mantissa = u128::from(value) << (63 - whole);
    let mut log = u64::from(whole) << 32;
    for place in (0..32).rev() {
        mantissa = (mantissa * mantissa) >> 63;
        if mantissa >= 2 << 63 {
            mantissa >>= 1;
            log |= 1 << place;
        }
    }
    log
}

/// How often each byte stands in `data`.
pub fn counts(data: &[u8]) -> [u64; 256] {
    // Four tables, so that equal neighbours don't wait for each other.
    let mut tables = [[0u64; 256]; 4];
    for group in data.chunks(4) {
        for (table, &byte) in tables.iter_mut().zip(group) {
            table[usize::from(byte)] += 1;
        }
    }
    let [mut sum, b, c, d] = tables;
    for (at, count) in sum.iter_mut().enumerate() {
        *count += b[at] + c[at] + d[at];
    }
    sum
}

/// The entropy of `data` in thousandths of a bit a byte: 0 to 8000.
pub fn millibits(data: &[u8]) -> u64 {
    let total = data.len() as u64;
    if total == 0 {
        return 0;
    }
    let weighted: u128 = counts(data)
        .iter()
        .map(|&count| u128::from(count) * u128::from(log2(count)))
        .sum();
    let bits = u128::from(log2(total)).saturating_sub(weighted / u128::from(total));
    let rounded = (bits * 1000 + (1 << 31)) >> 32;
    u64::try_from(rounded).unwrap_or(0).min(8000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values by the formula, from Python's `math.log2`.
    #[test]
    fn entropy_is_shannons() {
        assert_eq!(millibits(b""), 0);
        assert_eq!(millibits(&[7; 1000]), 0);
        assert_eq!(millibits(b"abab"), 1000);
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(millibits(&all), 8000);
        // H(1/3, 2/3) = 0.918296
        assert_eq!(millibits(b"abb"), 918);
        // H(1/10, 9/10) = 0.468996
        assert_eq!(millibits(b"abbbbbbbbb"), 469);
        // "hello world": 2.845351
        assert_eq!(millibits(b"hello world"), 2845);
    }
}
