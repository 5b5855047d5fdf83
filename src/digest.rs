//! SHA-256 digests and the prefixed identifiers made of them.

use sha2::{Digest as _, Sha256};
use std::fmt;

use crate::json::{Sink, Writer};

/// A SHA-256 digest, 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of the canonical JSON (RFC 8785) that `write` produces.
    pub fn of_json(write: impl FnOnce(&mut Writer<'_>)) -> Self {
        let mut hasher = Hasher::default();
        let mut writer = Writer::canonical(&mut hasher);
        write(&mut writer);
        writer.finish_infallible();
        hasher.finish()
    }

    /// Reads 64 lower-case hexadecimal digits; anything else is `None`.
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        if text.len() != 64 {
            return None;
        }
        let mut out = [0u8; 32];
        let mut wrong = 0;
        for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
            let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
            wrong |= high | low;
            *byte = (high << 4) | (low & 15);
        }
        (wrong & 0xF0 == 0).then_some(Self(out))
    }

    /// The first eight bytes as a number in the same order, for searches that
    /// look at the other bytes only where these are equal.
    pub(crate) fn prefix(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(&self) -> String {
        let mut text = [0u8; 64];
        self.write_hex(&mut text);
        text.iter().map(|&b| b as char).collect()
    }

    /// Writes the 64 digits into `out`.
    pub fn write_hex(&self, out: &mut [u8; 64]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (pair, byte) in out.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
    }
}

/// The value of each hexadecimal digit; 0xFF for what is none. Records hold
/// several ids an entry, so a table is worth it.
const VALUES: [u8; 256] = {
    let mut values = [0xFF; 256];
    let digits = b"0123456789abcdef";
    let mut value = 0;
    while value < digits.len() {
        values[digits[value] as usize] = value as u8;
        value += 1;
    }
    values
};

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// A running SHA-256 that is also a [`Sink`] of the JSON writer.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    /// The digest of all bytes added; the hasher starts again.
    pub fn finish_reset(&mut self) -> Digest {
        Digest(self.0.finalize_reset().into())
    }
}

impl Sink for Hasher {
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.update(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trip_and_refusals() {
        // FIPS 180-4, the empty message.
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_hex(), text);
        assert_eq!(Digest::from_hex(text.as_bytes()), Some(Digest::of(b"")));
        assert_eq!(Digest::from_hex(text.to_uppercase().as_bytes()), None);
        assert_eq!(Digest::from_hex(b"00"), None);
    }
}
