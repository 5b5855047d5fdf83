//! Finding the bytes of a string that need attention, eight at a time.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// What [`special`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Bytes before the first quote, backslash or control character.
    pub len: usize,
    /// Whether all of them are ASCII.
    pub ascii: bool,
}

/// The high bit of each byte of `word` that equals `byte`; bits above the
/// lowest one may be wrong, which the caller never looks at.
fn equal_to(word: u64, byte: u8) -> u64 {
    let difference = word ^ (LOW * byte as u64);
    difference.wrapping_sub(LOW) & !difference & HIGH
}

/// The high bit of each byte below 0x20, with the same reservation.
fn below_space(word: u64) -> u64 {
    word.wrapping_sub(LOW * 0x20) & !word & HIGH
}

/// Measures the bytes up to the first that cannot stand in a JSON string as
/// itself (RFC 8259 section 7): quote, backslash, U+0000 to U+001F.
pub(super) fn special(bytes: &[u8]) -> Run {
    let mut high = 0u64;
    let mut len = 0;
    while let Some(chunk) = bytes.get(len..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let found = equal_to(word, b'"') | equal_to(word, b'\\') | below_space(word);
        if found != 0 {
            let before = found.trailing_zeros() / 8;
            high |= word & HIGH & ((1u64 << (8 * before)) - 1);
            return Run {
                len: len + before as usize,
                ascii: high == 0,
            };
        }
        high |= word & HIGH;
        len += 8;
    }
    let mut ascii = high == 0;
    for &byte in bytes.get(len..).unwrap_or_default() {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        ascii &= byte < 0x80;
        len += 1;
    }
    Run { len, ascii }
}

/// Measures the bytes up to the first that canonical JSON escapes: those of
/// [`special`], and 0xED, the lead byte that lone surrogates have.
pub(super) fn escaped(bytes: &[u8]) -> usize {
    let mut len = 0;
    while let Some(chunk) = bytes.get(len..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let found =
            equal_to(word, b'"') | equal_to(word, b'\\') | equal_to(word, 0xED) | below_space(word);
        if found != 0 {
            return len + (found.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    let rest = bytes.get(len..).unwrap_or_default();
    len + rest
        .iter()
        .position(|&b| b < 0x20 || b == b'"' || b == b'\\' || b == 0xED)
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for at in 0..40 {
                let mut text = vec![b'x'; 40];
                text[at] = byte;
                let stops = byte < 0x20 || byte == b'"' || byte == b'\\';
                let run = special(&text);
                assert_eq!(run.len, if stops { at } else { 40 }, "{byte:02x} at {at}");
                assert_eq!(run.ascii, stops || byte < 0x80);
                let plain = !stops && byte != 0xED;
                assert_eq!(escaped(&text), if plain { 40 } else { at });
            }
        }
    }

    #[test]
    fn looks_no_further_than_the_first() {
        let run = special("abc\"é".as_bytes());
        assert_eq!((run.len, run.ascii), (3, true));
        assert_eq!(special(b"").len, 0);
        // A byte after a hit must not be taken for one before it.
        assert_eq!(special(b"\x21\x22\x23\x21\x21\x21\x21\x21").len, 1);
    }
}
