//! Strings of JSON documents: WTF-8, ordered by UTF-16 code units.

use std::cmp::Ordering;
use std::fmt;

use super::{WriteJson, Writer};

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

    /// The text that UTF-16 units stand for; lone surrogates are kept.
    pub fn from_utf16(units: impl IntoIterator<Item = u16>) -> Self {
        let mut bytes = Vec::new();
        for unit in char::decode_utf16(units) {
            match unit {
                Ok(found) => bytes.extend_from_slice(found.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(lone) => {
                    let unit = lone.unpaired_surrogate();
                    let continued = |shift: u16| 0x80 | (unit >> shift & 0x3F) as u8;
                    bytes.extend([0xE0 | (unit >> 12) as u8, continued(6), continued(0)]);
                }
            }
        }
        Self::from_wtf8(bytes)
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
    let mut pairs = a.iter().zip(b).enumerate();
    let Some((at, (&x, &y))) = pairs.find(|(_, (x, y))| x != y) else {
        return a.len().cmp(&b.len());
    };
    // Bytes order as code units do, but for 4-byte sequences, whose lead bytes
    // (F0 and above) stand for surrogates: below U+E000 to U+FFFF (lead bytes
    // EE and EF), and by their own value against lone surrogates (ED A0 80 and
    // above). Such a difference is always in the lead byte.
    match (x >= 0xF0, y >= 0xF0) {
        (true, false) => high_surrogate(a, at).cmp(&first_unit(b, at)),
        (false, true) => first_unit(a, at).cmp(&high_surrogate(b, at)),
        _ => x.cmp(&y),
    }
    // A lone high surrogate against the pair that starts with it: the shorter
    // one ends, or goes on with a unit that is no low surrogate.
    .then_with(|| after_equal_unit(a, b, at))
}

/// The first UTF-16 unit of the 4-byte sequence at `at`.
fn high_surrogate(text: &[u8], at: usize) -> u32 {
    let byte = |ahead| u32::from(text.get(at + ahead).copied().unwrap_or(0x80));
    let point = (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6;
    0xD800 + (point.saturating_sub(0x1_0000) >> 10)
}

/// The unit of the sequence of at most three bytes at `at`.
fn first_unit(text: &[u8], at: usize) -> u32 {
    let byte = |ahead| u32::from(text.get(at + ahead).copied().unwrap_or(0x80));
    match byte(0) {
        lead @ 0xE0.. => (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | byte(2) & 0x3F,
        lead @ 0xC0.. => (lead & 0x1F) << 6 | byte(1) & 0x3F,
        lead => lead,
    }
}

/// `a` and `b` have the same high surrogate at `at`, one of them as half of a
/// pair and the other alone: compares the low half with what follows.
fn after_equal_unit(a: &[u8], b: &[u8], at: usize) -> Ordering {
    let pair_first = a.get(at) >= Some(&0xF0);
    let (pair, alone) = if pair_first { (a, b) } else { (b, a) };
    let byte = |ahead| u32::from(pair.get(at + ahead).copied().unwrap_or(0x80));
    let low = 0xDC00 | (byte(2) & 0x0F) << 6 | byte(3) & 0x3F;
    let order = match alone.get(at + 3) {
        None => Ordering::Greater,
        Some(0xF0..) => low.cmp(&high_surrogate(alone, at + 3)),
        Some(_) => low.cmp(&first_unit(alone, at + 3)),
    };
    if pair_first { order } else { order.reverse() }
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

impl WriteJson for Text {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.text(&self.0);
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
        // The lone surrogate D801 comes after U+10000, which is D800 DC00.
        assert_eq!(
            cmp_utf16(&[0xED, 0xA0, 0x81], "\u{10000}".as_bytes()),
            Ordering::Greater
        );
        assert_eq!(cmp_utf16(b"a", b"ab"), Ordering::Less);
        assert_eq!(cmp_utf16(b"", b""), Ordering::Equal);
    }

    fn wtf8(units: &[u16]) -> Vec<u8> {
        let mut out = Vec::new();
        for unit in char::decode_utf16(units.iter().copied()) {
            match unit {
                Ok(unit) => out.extend(unit.to_string().as_bytes()),
                Err(lone) => {
                    let lone = lone.unpaired_surrogate();
                    let (high, low) = ((lone >> 6 & 0x3F) as u8, (lone & 0x3F) as u8);
                    out.extend([0xED, 0x80 | high, 0x80 | low]);
                }
            }
        }
        out
    }

    #[test]
    fn agrees_with_code_units_on_all_short_texts() {
        let units = [
            0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xD801, 0xDBFF, 0xDC00, 0xDC01, 0xDFFF,
            0xE000, 0xFFFF,
        ];
        let mut texts: Vec<Vec<u16>> = vec![vec![]];
        for length in 0..3 {
            for at in 0..texts.len() {
                if texts[at].len() == length {
                    for unit in units {
                        let mut longer = texts[at].clone();
                        longer.push(unit);
                        texts.push(longer);
                    }
                }
            }
        }
        let encoded: Vec<_> = texts.iter().map(|units| wtf8(units)).collect();
        for (a, x) in texts.iter().zip(&encoded) {
            for (b, y) in texts.iter().zip(&encoded) {
                assert_eq!(cmp_utf16(x, y), a.cmp(b), "{a:04x?} {b:04x?}");
            }
        }
    }
}
