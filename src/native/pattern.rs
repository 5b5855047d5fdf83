//! Patterns of `search_bytes` (functions section 1.3): pairs of hexadecimal
//! digits or `?`, white space between pairs only, and a mask of the same
//! length.

use memchr::{memchr_iter, memmem};

/// More bytes are no pattern.
pub const MAX_BYTES: usize = 256;

/// Bytes to look for, and which of their bits count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    value: Vec<u8>,
    mask: Vec<u8>,
}

/// Why a text is no pattern: the argument, and what is wrong.
pub type Fault = (&'static str, String);

impl Pattern {
    /// Reads `pattern` and `mask`.
    ///
    /// # Errors
    /// The argument that is wrong, and how.
    pub fn parse(pattern: &str, mask: Option<&str>) -> Result<Self, Fault> {
        let (value, wild) = pairs(pattern, true).map_err(|why| ("pattern", why))?;
        let mut bits: Vec<u8> = wild.iter().map(|wild| !wild).collect();
        if let Some(mask) = mask {
            let (given, _) = pairs(mask, false).map_err(|why| ("mask", why))?;
            if given.len() != value.len() {
                let (given, wanted) = (given.len(), value.len());
                let why =
                    format!("has another number of bytes ({given}) than the pattern ({wanted})");
                return Err(("mask", why));
            }
            for (bits, given) in bits.iter_mut().zip(given) {
                *bits &= given;
            }
        }
        if bits.iter().all(|&bits| bits == 0) {
            return Err(("pattern", "matches everything".to_owned()));
        }
        let value = value.iter().zip(&bits).map(|(value, bits)| value & bits);
        Ok(Self {
            value: value.collect(),
            mask: bits,
        })
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Never: a pattern has a byte at least.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// The bytes, where all of their bits count: those of every match.
    pub fn exact(&self) -> Option<&[u8]> {
        let exact = self.mask.iter().all(|&mask| mask == 0xFF);
        exact.then_some(&*self.value)
    }

    fn fits(&self, window: &[u8]) -> bool {
        window.len() == self.value.len()
            && window
                .iter()
                .zip(&self.mask)
                .zip(&self.value)
                .all(|((byte, mask), value)| byte & mask == *value)
    }

    /// Calls `found` with the place of each match in `data`, overlapping ones
    /// too, until it says to stop.
    pub fn find(&self, data: &[u8], found: &mut dyn FnMut(usize) -> bool) {
        let length = self.len();
        if let Some(bytes) = self.exact() {
            let finder = memmem::Finder::new(bytes);
            let mut from = 0;
            while let Some(at) = data.get(from..).and_then(|rest| finder.find(rest)) {
                if !found(from + at) {
                    return;
                }
                from += at + 1;
            }
            return;
        }
        let check = |at: usize, found: &mut dyn FnMut(usize) -> bool| {
            let window = at.checked_add(length).and_then(|end| data.get(at..end));
            match window {
                Some(window) if self.fits(window) => found(at),
                _ => true,
            }
        };
        match self.rarest() {
            Some((place, byte)) => {
                for at in memchr_iter(byte, data) {
                    if let Some(at) = at.checked_sub(place)
                        && !check(at, found)
                    {
                        return;
                    }
                }
            }
            None => {
                for at in 0..data.len().saturating_sub(length - 1) {
                    if !check(at, found) {
                        return;
                    }
                }
            }
        }
    }

    /// The byte that must be there and that machine code has least of.
    fn rarest(&self) -> Option<(usize, u8)> {
        let rank = |byte: u8| match byte {
            0 => 9,
            0xFF | 0x48 | 0x8B => 8,
            0x20 | 0x89 | 0x0F | 0xE8 | 0x24 | 0xCC | 0x90 => 7,
            1..=16 => 6,
            b'a'..=b'z' | 0x40..=0x4F => 5,
            _ => 1,
        };
        let exact = self.mask.iter().zip(&self.value).enumerate();
        exact
            .filter(|(_, (mask, _))| **mask == 0xFF)
            .map(|(at, (_, &value))| (at, value))
            .min_by_key(|&(at, value)| (rank(value), at))
    }
}

/// Pairs of digits: values, and which nibbles are wild.
fn pairs(text: &str, wildcards: bool) -> Result<(Vec<u8>, Vec<u8>), String> {
    let (mut value, mut wild) = (Vec::new(), Vec::new());
    for word in text.split_ascii_whitespace() {
        if word.len() % 2 != 0 {
            return Err(format!("has half a byte in {word:?}"));
        }
        for pair in word.as_bytes().chunks(2) {
            let (mut byte, mut free) = (0, 0);
            for &digit in pair {
                let (bits, any) = match digit {
                    b'?' if wildcards => (0, 15),
                    digit => match char::from(digit).to_digit(16) {
                        Some(bits) => (bits as u8, 0),
                        None => return Err(format!("has something else than digits in {word:?}")),
                    },
                };
                byte = (byte << 4) | bits;
                free = (free << 4) | any;
            }
            value.push(byte);
            wild.push(free);
        }
    }
    match value.len() {
        0 => Err("is empty".to_owned()),
        length if length > MAX_BYTES => Err(format!("has more than {MAX_BYTES} bytes")),
        _ => Ok((value, wild)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pattern: &Pattern, data: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        pattern.find(data, &mut |at| {
            found.push(at);
            true
        });
        found
    }

    #[test]
    fn the_grammar() {
        for (pattern, mask, at) in [
            ("", None, "pattern"),
            ("4", None, "pattern"),
            ("4 8", None, "pattern"),
            ("zz", None, "pattern"),
            ("?? ??", None, "pattern"),
            ("48", Some("00"), "pattern"),
            ("48 8b", Some("ff"), "mask"),
            ("48", Some("f?"), "mask"),
            ("48", Some(""), "mask"),
            ("\u{e9}\u{e9}", None, "pattern"),
        ] {
            assert_eq!(
                Pattern::parse(pattern, mask).unwrap_err().0,
                at,
                "{pattern}"
            );
        }
        let pattern = Pattern::parse("488B ?5\t??", None).unwrap();
        assert_eq!(
            all(&pattern, b"\x48\x8b\x05\x00\x48\x8b\x15\xff\x48\x8b\x16"),
            [0, 4]
        );
        let masked = Pattern::parse("48 8b", Some("f0 ff")).unwrap();
        assert_eq!(all(&masked, b"\x4f\x8b\x3f\x8b"), [0]);
        assert_eq!(
            all(&Pattern::parse("0000", None).unwrap(), &[0; 4]),
            [0, 1, 2]
        );
    }

    proptest! {
        #[test]
        fn every_place_that_fits(data in proptest::collection::vec(0u8..4, 0..60),
                                 value in proptest::collection::vec(0u8..4, 1..5),
                                 mask in proptest::collection::vec(prop_oneof![Just(0xFFu8), Just(0xF1), Just(0)], 5)) {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let mask = &mask[..value.len()];
            prop_assume!(mask.iter().any(|&mask| mask != 0));
            let pattern = Pattern::parse(&hex(&value), Some(&hex(mask))).unwrap();
            let expected: Vec<usize> = (0..data.len())
                .filter(|&at| data.len() - at >= value.len())
                .filter(|&at| (0..value.len()).all(|i| data[at + i] & mask[i] == value[i] & mask[i]))
                .collect();
            prop_assert_eq!(all(&pattern, &data), expected);
        }
    }
}
