//! Pages of text, counted in UTF-16 code units (views.md section 6.4).
//!
//! Text is WTF-8: lone surrogates are kept, and count as one unit. A page
//! never starts or ends between the halves of a surrogate pair, so pages put
//! one after the other are the text again, byte for byte.

/// A page of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What the page holds, WTF-8.
    pub text: Vec<u8>,
    /// Its first unit; at most `total`.
    pub start: u64,
    /// How many units it holds.
    pub units: u64,
    /// Units of the whole text.
    pub total: u64,
}

/// Why there is no such page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageError {
    /// It would start between the halves of a surrogate pair.
    StartsInsidePair,
    /// The limit leaves no room for the pair that comes next.
    LimitTooSmall,
}

impl PageError {
    /// What is wrong, and with it what to do.
    pub fn message(self) -> &'static str {
        match self {
            Self::StartsInsidePair => {
                "offset is between the two halves of a surrogate pair; start one unit earlier"
            }
            Self::LimitTooSmall => {
                "limit has no room for the surrogate pair that comes next; use at least 2"
            }
        }
    }
}

/// Keeps one page of a text that streams by.
#[derive(Clone, Debug)]
pub struct Pager {
    offset: u64,
    limit: u64,
    /// Units that have passed.
    passed: u64,
    /// What is kept, and its units.
    text: Vec<u8>,
    units: u64,
    /// Whether a character did not fit any more.
    closed: bool,
    inside_pair: bool,
}

impl Pager {
    /// The page that starts at the unit `offset` and has at most `limit`
    /// units. An offset beyond the end gives an empty page at the end.
    pub fn new(offset: u64, limit: u64) -> Self {
        Self {
            offset,
            limit,
            passed: 0,
            text: Vec::new(),
            units: 0,
            closed: false,
            inside_pair: false,
        }
    }

    /// The next part of the text, cut between characters. How many bytes of it
    /// are kept.
    pub fn part(&mut self, part: &[u8]) -> usize {
        let before = self.text.len();
        let mut rest = part;
        while let Some(&lead) = rest.first() {
            let width = units(lead);
            let next = self.passed + width;
            if self.closed || next <= self.offset {
                // Characters up to the page, or all that are left.
                let most = match self.closed {
                    true => u64::MAX,
                    false => self.offset,
                };
                let (length, passed) = skip(rest, self.passed, most);
                self.passed = passed;
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            self.inside_pair |= self.passed < self.offset;
            let length = 1 + continued(rest.get(1..).unwrap_or_default());
            let (character, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            if next - self.offset <= self.limit && !self.inside_pair {
                self.text.extend_from_slice(character);
                self.units += width;
            } else {
                self.closed = true;
            }
            self.passed = next;
            rest = after;
        }
        self.text.len() - before
    }

    /// The page, once the whole text has passed.
    ///
    /// # Errors
    /// Where a page cannot start or go on without dividing a pair.
    pub fn finish(self) -> Result<Page, PageError> {
        if self.inside_pair {
            return Err(PageError::StartsInsidePair);
        }
        let start = self.offset.min(self.passed);
        if self.units == 0 && start < self.passed {
            return Err(PageError::LimitTooSmall);
        }
        Ok(Page {
            text: self.text,
            start,
            units: self.units,
            total: self.passed,
        })
    }
}

/// How many bytes of `text` are characters that end at or before the unit
/// `most`, the first at the unit `unit`; and the unit after them.
fn skip(text: &[u8], unit: u64, most: u64) -> (usize, u64) {
    let (mut at, mut unit) = (0, unit);
    while let Some(&lead) = text.get(at) {
        let next = unit.saturating_add(units(lead));
        if next > most {
            break;
        }
        unit = next;
        at += 1;
        at += continued(text.get(at..).unwrap_or_default());
    }
    (at, unit)
}

/// Bytes that belong to the character before.
fn continued(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| units(byte) == 0).count()
}

/// Units that the character with this lead byte takes; 0 inside a character.
fn units(byte: u8) -> u64 {
    match byte {
        0x80..0xC0 => 0,
        0xF0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The page of a text that comes in parts of `size` bytes, cut between
    /// characters.
    fn paged(text: &[u8], offset: u64, limit: u64, size: usize) -> Result<Page, PageError> {
        let mut pager = Pager::new(offset, limit);
        let mut rest = text;
        while !rest.is_empty() {
            let mut cut = size.min(rest.len());
            while rest.get(cut).is_some_and(|&byte| units(byte) == 0) {
                cut += 1;
            }
            let (part, after) = rest.split_at(cut);
            pager.part(part);
            rest = after;
        }
        pager.finish()
    }

    fn page(text: &[u8], offset: u64, limit: u64) -> Result<Page, PageError> {
        let whole = paged(text, offset, limit, usize::MAX);
        assert_eq!(whole, paged(text, offset, limit, 1));
        assert_eq!(whole, paged(text, offset, limit, 3));
        whole
    }

    /// WTF-8 from code units, by the standard library's decoder.
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

    fn splits(units: &[u16], at: usize) -> bool {
        let high = |unit: &u16| (0xD800..0xDC00).contains(unit);
        let low = |unit: &u16| (0xDC00..0xE000).contains(unit);
        at > 0 && units.get(at - 1).is_some_and(high) && units.get(at).is_some_and(low) && {
            // A run of high surrogates pairs only its last with the low one.
            true
        }
    }

    #[test]
    fn an_astral_character_is_two_units() {
        let text = "a\u{1F600}b".as_bytes();
        let found = page(text, 0, 2).unwrap();
        assert_eq!((&*found.text, found.units, found.total), (&b"a"[..], 1, 4));
        assert_eq!(page(text, 1, 1), Err(PageError::LimitTooSmall));
        assert_eq!(page(text, 2, 9), Err(PageError::StartsInsidePair));
        assert_eq!(page(text, 1, 2).unwrap().text, "\u{1F600}".as_bytes());
        let beyond = page(text, 9, 1).unwrap();
        assert_eq!((beyond.start, beyond.units, beyond.total), (4, 0, 4));
        assert_eq!(page(b"", 0, 1).unwrap().total, 0);
    }

    fn code_units() -> impl Strategy<Value = Vec<u16>> {
        let unit = prop_oneof![
            Just(0x41u16),
            Just(0xE9),
            Just(0x20AC),
            0xD800u16..0xDC00,
            0xDC00u16..0xE000,
            any::<u16>(),
        ];
        proptest::collection::vec(unit, 0..40)
    }

    proptest! {
        #[test]
        fn a_page_is_the_slice_of_units(units in code_units(), offset in 0u64..45, limit in 1u64..50) {
            let text = wtf8(&units);
            let total = units.len() as u64;
            let start = offset.min(total) as usize;
            let mut end = (offset.min(total) + limit).min(total) as usize;
            let found = page(&text, offset, limit);
            if splits(&units, start) {
                prop_assert_eq!(found, Err(PageError::StartsInsidePair));
            } else {
                if splits(&units, end) {
                    end -= 1;
                }
                if end == start && start < units.len() {
                    prop_assert_eq!(found, Err(PageError::LimitTooSmall));
                } else {
                    let found = found.unwrap();
                    prop_assert_eq!(&found.text, &wtf8(&units[start..end]));
                    prop_assert_eq!(found.start, start as u64);
                    prop_assert_eq!(found.units, (end - start) as u64);
                    prop_assert_eq!(found.total, total);
                }
            }
        }

        #[test]
        fn pages_are_the_text_again(units in code_units(), limit in 2u64..7) {
            let text = wtf8(&units);
            let mut joined = Vec::new();
            let mut offset = 0;
            loop {
                let found = page(&text, offset, limit).unwrap();
                joined.extend_from_slice(&found.text);
                offset = found.start + found.units;
                if offset >= found.total {
                    break;
                }
            }
            prop_assert_eq!(joined, text);
        }
    }
}
