//! Bounded reads from a file in memory, in either byte order.

use std::borrow::Cow;

/// Which byte of a number stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lowest.
    Little,
    /// The highest.
    Big,
}

impl ByteOrder {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }
}

/// Bytes that are read by offset; what is not all there is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    data: &'a [u8],
    order: ByteOrder,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $size:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name(self, offset: u64) -> Option<$type> {
            let bytes = self.array::<$size>(offset)?;
            Some(match self.order {
                ByteOrder::Little => <$type>::from_le_bytes(bytes),
                ByteOrder::Big => <$type>::from_be_bytes(bytes),
            })
        }
    )*};
}

impl<'a> Bytes<'a> {
    /// `data` with numbers in `order`.
    pub fn new(data: &'a [u8], order: ByteOrder) -> Self {
        Self { data, order }
    }

    /// `data` with the lowest byte first.
    pub fn little(data: &'a [u8]) -> Self {
        Self::new(data, ByteOrder::Little)
    }

    /// `data` with the highest byte first.
    pub fn big(data: &'a [u8]) -> Self {
        Self::new(data, ByteOrder::Big)
    }

    /// The byte order of its numbers.
    pub fn order(self) -> ByteOrder {
        self.order
    }

    /// How many bytes there are.
    pub fn len(self) -> u64 {
        self.data.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.data.is_empty()
    }

    /// All of them.
    pub fn data(self) -> &'a [u8] {
        self.data
    }

    /// `length` bytes from `offset`, all there.
    pub fn get(self, offset: u64, length: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.data.get(start..end)
    }

    /// The bytes from `offset` to the end; empty beyond it.
    pub fn tail(self, offset: u64) -> &'a [u8] {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        self.data.get(start..).unwrap_or_default()
    }

    /// As many of `length` bytes from `offset` as are there.
    pub fn up_to(self, offset: u64, length: u64) -> &'a [u8] {
        let tail = self.tail(offset);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        tail.get(..length).unwrap_or(tail)
    }

    /// The same bytes, `length` from `offset` on.
    pub fn part(self, offset: u64, length: u64) -> Option<Self> {
        let data = self.get(offset, length)?;
        Some(Self::new(data, self.order))
    }

    /// `N` bytes.
    pub fn array<const N: usize>(self, offset: u64) -> Option<[u8; N]> {
        let start = usize::try_from(offset).ok()?;
        self.data.get(start..)?.first_chunk().copied()
    }

    numbers! {
        /// One byte.
        u8: u8, 1;
        /// Two bytes.
        u16: u16, 2;
        /// Four bytes.
        u32: u32, 4;
        /// Eight bytes.
        u64: u64, 8;
        /// Four bytes, signed.
        i32: i32, 4;
        /// Eight bytes, signed.
        i64: i64, 8;
    }

    /// Four bytes, or eight where `wide`.
    pub fn word(self, offset: u64, wide: bool) -> Option<u64> {
        match wide {
            true => self.u64(offset),
            false => self.u32(offset).map(u64::from),
        }
    }

    /// The bytes from `offset` to a NUL, without it; `None` without one.
    pub fn string(self, offset: u64) -> Option<&'a [u8]> {
        let tail = self.tail(offset);
        let end = memchr::memchr(0, tail)?;
        tail.get(..end)
    }

    /// An unsigned LEB128 number of at most 64 bits, and how many bytes it has.
    pub fn uleb(self, offset: u64) -> Option<(u64, u64)> {
        let mut value = 0u64;
        for (at, &byte) in self.tail(offset).iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7F);
            let shift = 7 * at as u32;
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some((value, at as u64 + 1));
            }
        }
        None
    }

    /// A signed LEB128 number of at most 64 bits, and how many bytes it has.
    pub fn sleb(self, offset: u64) -> Option<(i64, u64)> {
        let mut value = 0i64;
        for (at, &byte) in self.tail(offset).iter().take(10).enumerate() {
            let shift = 7 * at as u32;
            value |= i64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                if byte & 0x40 != 0 && shift + 7 < 64 {
                    value |= -1i64 << (shift + 7);
                }
                return Some((value, at as u64 + 1));
            }
        }
        None
    }
}

/// A name from a target as text, nothing lost: bytes that are not UTF-8 and
/// NUL as `%XX`, and then `%` itself as `%25` (decision 1).
pub fn name_text(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(text) if !name.contains(&0) => return Cow::Borrowed(text),
        _ => {}
    }
    let mut out = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\0' => out.push_str("%00"),
                '%' => out.push_str("%25"),
                other => out.push(other),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_orders_and_ends() {
        let data = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Bytes::little(&data).u32(0), Some(0x0403_0201));
        assert_eq!(Bytes::big(&data).u64(0), Some(0x0102_0304_0506_0708));
        assert_eq!(Bytes::big(&data).u16(7), None);
        assert_eq!(Bytes::big(&data).u8(u64::MAX), None);
        assert_eq!(Bytes::big(&data).get(4, u64::MAX), None);
        assert_eq!(Bytes::big(&data).up_to(6, 99), &[7, 8]);
    }

    /// DWARF 5, figures 22 and 23 of appendix C.
    #[test]
    fn leb128_as_dwarf_has_it() {
        let unsigned = |bytes: &[u8]| Bytes::little(bytes).uleb(0).map(|(value, _)| value);
        assert_eq!(unsigned(&[2]), Some(2));
        assert_eq!(unsigned(&[0x80 + 57, 100]), Some(12_857));
        assert_eq!(unsigned(&[0xFF; 10]), None);
        let signed = |bytes: &[u8]| Bytes::little(bytes).sleb(0).map(|(value, _)| value);
        assert_eq!(signed(&[0x7E]), Some(-2));
        assert_eq!(signed(&[127 + 0x80, 0]), Some(127));
        assert_eq!(signed(&[0x81, 0x7E]), Some(-255));
        assert_eq!(signed(&[0x80, 0x80, 0x80]), None);
    }

    #[test]
    fn names_lose_nothing() {
        assert_eq!(name_text(b"a%b"), "a%b");
        assert_eq!(name_text(b"a%\xFF\0"), "a%25%FF%00");
    }
}
