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
        for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
            *byte = (hex_value(pair[0])? << 4) | hex_value(pair[1])?;
        }
        Some(Self(out))
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

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

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
