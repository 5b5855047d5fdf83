//! Strings of JSON documents: WTF-8, ordered by UTF-16 code units.

use std::cmp::Ordering;
use std::fmt;

/// A JSON string: UTF-8 that may hold lone surrogates (WTF-8).
///
/// Ordering is by UTF-16 code units, as RFC 8785 section 3.2.3 sorts members.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Text(Box<[u8]>);

impl Text {
    /// Wraps bytes that the reader has checked to be WTF-8.
    pub(crate) fn from_wtf8(bytes: Vec<u8>) -> Self {
        Self(bytes.into_boxed_slice())
    }

    /// The WTF-8 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, or `None` where it holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

/// Compares WTF-8 byte strings by the UTF-16 code units they stand for.
pub(crate) fn cmp_utf16(a: &[u8], b: &[u8]) -> Ordering {
    let at = a.iter().zip(b).position(|(x, y)| x != y);
    let Some(at) = at else {
        return a.len().cmp(&b.len());
    };
    // Only 4-byte sequences (surrogate pairs, D800..DFFF) against 3-byte
    // sequences of U+E000..U+FFFF (lead bytes EE and EF) order otherwise than
    // their bytes; the first difference is then in the lead byte.
    let (x, y) = (a[at], b[at]);
    match (x >= 0xF0, y >= 0xF0) {
        (true, false) if y >= 0xEE => Ordering::Less,
        (false, true) if x >= 0xEE => Ordering::Greater,
        _ => x.cmp(&y),
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        cmp_utf16(&self.0, &other.0)
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into_boxed_slice())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_by_utf16_code_units() {
        // RFC 8785 section 3.2.3: U+1F600 (D83D DE00) before U+FB33.
        assert_eq!(
            cmp_utf16("\u{1F600}".as_bytes(), "\u{FB33}".as_bytes()),
            Ordering::Less
        );
        assert_eq!(
            cmp_utf16("\u{E000}".as_bytes(), "\u{10000}".as_bytes()),
            Ordering::Greater
        );
        assert_eq!(
            cmp_utf16("\u{D7FF}".as_bytes(), "\u{10000}".as_bytes()),
            Ordering::Less
        );
        // A lone surrogate D800 (ED A0 80) equals the first unit of U+10000
        // and then ends, or compares by its own value with U+E000.
        assert_eq!(
            cmp_utf16(&[0xED, 0xA0, 0x80], "\u{E000}".as_bytes()),
            Ordering::Less
        );
        assert_eq!(cmp_utf16(b"a", b"ab"), Ordering::Less);
        assert_eq!(cmp_utf16(b"", b""), Ordering::Equal);
    }
}
