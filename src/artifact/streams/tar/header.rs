//! The 512-byte header block.

use crate::artifact::containers::{Damage, Fault, NO_MODE};

/// The unit of a tar archive.
pub(super) const BLOCK: usize = 512;

/// One header block.
pub(super) struct Header([u8; BLOCK]);

impl Header {
    /// A block that is at least [`BLOCK`] long.
    pub fn from_block(bytes: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        let len = bytes.len().min(BLOCK);
        block[..len].copy_from_slice(&bytes[..len]);
        Self(block)
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&byte| byte == 0)
    }

    /// The sum of all bytes with the checksum field as spaces; old tars summed
    /// signed bytes.
    pub fn checksum_fits(&self) -> bool {
        let Some(stated) = number(&self.0[148..156]) else {
            return false;
        };
        let outside = self.0[..148].iter().chain(&self.0[156..]);
        let unsigned: u64 = outside.clone().map(|&b| u64::from(b)).sum::<u64>() + 8 * 32;
        let signed: i64 = outside.map(|&b| i64::from(b as i8)).sum::<i64>() + 8 * 32;
        stated == i128::from(unsigned) || stated == i128::from(signed)
    }

    /// `typeflag`
    pub fn kind(&self) -> u8 {
        self.0[156]
    }

    /// `size`; negative or unreadable is damage.
    pub fn size(&self, at: u64) -> Result<u64, Fault> {
        number(&self.0[124..136])
            .and_then(|size| u64::try_from(size).ok())
            .filter(|&size| size < 1 << 63)
            .ok_or_else(|| Damage::format(at, "a header's size is no number").into())
    }

    /// `mode`, its permission and special bits.
    pub fn mode(&self) -> u16 {
        number(&self.0[100..108])
            .and_then(|mode| u32::try_from(mode).ok())
            .map_or(NO_MODE, |mode| (mode & 0o7777) as u16)
    }

    /// `prefix/name`, where the header is a POSIX one; else `name`.
    pub fn name(&self) -> Vec<u8> {
        let name = text(&self.0[..100]);
        let prefix = text(&self.0[345..500]);
        if &self.0[257..263] != b"ustar\0" || prefix.is_empty() {
            return name.to_vec();
        }
        // star keeps times behind a shorter prefix and signs the block.
        let prefix = if &self.0[508..512] == b"tar\0" {
            text(&self.0[345..476])
        } else {
            prefix
        };
        if prefix.is_empty() {
            name.to_vec()
        } else {
            [prefix, b"/", name].concat()
        }
    }

    /// `linkname`
    pub fn link(&self) -> Vec<u8> {
        text(&self.0[157..257]).to_vec()
    }

    /// Old GNU sparse: the map's entries in this header, whether more follow,
    /// and the expanded size.
    pub fn gnu_sparse(&self) -> (&[u8], bool, Option<u64>) {
        let real = number(&self.0[483..495]).and_then(|size| u64::try_from(size).ok());
        (&self.0[386..482], self.0[482] != 0, real)
    }
}

fn text(field: &[u8]) -> &[u8] {
    let end = field
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(field.len());
    &field[..end]
}

/// Octal text, or base-256 where the first bit is set (two's complement).
/// Empty fields are 0.
pub(super) fn number(field: &[u8]) -> Option<i128> {
    let first = *field.first()?;
    if first & 0x80 != 0 {
        let negative = first & 0x40 != 0;
        let start = if negative {
            -1
        } else {
            i128::from(first & 0x3F)
        };
        let start = if negative {
            (start << 6) | i128::from(first & 0x3F)
        } else {
            start
        };
        return field[1..].iter().try_fold(start, |value, &byte| {
            value.checked_mul(256).map(|value| value | i128::from(byte))
        });
    }
    let digits = field.trim_ascii_start();
    let end = digits
        .iter()
        .position(|b| !(b'0'..=b'7').contains(b))
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    if rest.first().is_some_and(|&byte| byte != 0 && byte != b' ') {
        return None;
    }
    digits.iter().try_fold(0i128, |value, &digit| {
        value.checked_mul(8)?.checked_add(i128::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number(b"0000644\0"), Some(0o644));
        assert_eq!(number(b"   644 \0"), Some(0o644));
        assert_eq!(number(b"\0\0\0\0"), Some(0));
        assert_eq!(number(b"8\0"), None);
        // GNU tar manual: 0x80 marks a positive binary number, 0xFF a negative.
        assert_eq!(number(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]), Some(256));
        assert_eq!(number(&[0xFF; 12]), Some(-1));
    }
}
