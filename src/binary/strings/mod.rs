//! Text in a file: maximal runs of characters, with their encoding and exact
//! range, wherever they stand.
//!
//! Bytes are cut where no character of the encoding can be, so a run can be
//! found by looking at every n-th byte only (n the least length), and pieces
//! of a file can be searched independently: each starts and ends at such a
//! cut. Results don't depend on the pieces.

mod units;

use rayon::prelude::*;

use crate::error::Result;
use crate::operation::Context;

/// How the characters of a string are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// One byte each, all below 0x80.
    Ascii,
    /// UTF-8 with at least one character beyond ASCII.
    Utf8,
    /// Two bytes each, the lower first.
    Utf16Le,
    /// Two bytes each, the higher first.
    Utf16Be,
}

impl Encoding {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Ascii, Self::Utf8, Self::Utf16Le, Self::Utf16Be];

    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ascii => "ascii",
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
        }
    }

    /// Bytes of a terminating NUL.
    fn unit(self) -> u64 {
        match self {
            Self::Ascii | Self::Utf8 => 1,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }
}

/// What counts as a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// The fewest characters; at least 1.
    pub min_length: u32,
    /// The encodings that are looked for.
    pub encodings: Vec<Encoding>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            min_length: 4,
            encodings: Encoding::ALL.into(),
        }
    }
}

/// A string: where it stands, and how it is written. Sixteen bytes, because
/// there may be one for every few bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Offset and encoding, so that they sort by offset.
    place: u64,
    bytes: u64,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}@{:#x}+{}",
            self.encoding().as_str(),
            self.offset(),
            self.bytes
        )
    }
}

impl Found {
    fn new(offset: usize, bytes: usize, encoding: Encoding) -> Self {
        Self {
            place: ((offset as u64) << 2) | encoding as u64,
            bytes: bytes as u64,
        }
    }

    /// Its first byte, from the start of the file.
    pub fn offset(self) -> u64 {
        self.place >> 2
    }

    /// How many bytes it has, without a terminator.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// The byte behind it.
    pub fn end(self) -> u64 {
        self.offset().saturating_add(self.bytes)
    }

    /// How it is written.
    pub fn encoding(self) -> Encoding {
        match self.place & 3 {
            0 => Encoding::Ascii,
            1 => Encoding::Utf8,
            2 => Encoding::Utf16Le,
            _ => Encoding::Utf16Be,
        }
    }

    /// Its bytes in `file`.
    pub fn raw(self, file: &[u8]) -> &[u8] {
        let start = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        let end = usize::try_from(self.end()).unwrap_or(usize::MAX);
        file.get(start..end).unwrap_or_default()
    }

    /// Its text.
    pub fn text(self, file: &[u8]) -> std::borrow::Cow<'_, str> {
        let raw = self.raw(file);
        let order: fn([u8; 2]) -> u16 = match self.encoding() {
            Encoding::Ascii | Encoding::Utf8 => return String::from_utf8_lossy(raw),
            Encoding::Utf16Le => u16::from_le_bytes,
            Encoding::Utf16Be => u16::from_be_bytes,
        };
        let units = raw.as_chunks::<2>().0.iter().map(|&pair| order(pair));
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect::<String>()
            .into()
    }

    /// Whether a NUL of its width follows.
    pub fn is_terminated(self, file: &[u8]) -> bool {
        let start = usize::try_from(self.end()).unwrap_or(usize::MAX);
        let unit = self.encoding().unit() as usize;
        file.get(start..)
            .and_then(|rest| rest.get(..unit))
            .is_some_and(|terminator| terminator.iter().all(|&byte| byte == 0))
    }
}

/// What a byte can be: nothing in a text, ASCII, a part of a longer character.
const CLASS: [u8; 256] = {
    let mut class = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b' '..=b'~' | b'\t'..=b'\r' => 1,
            0x80..=0xBF | 0xC2..=0xF4 => 2,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn class(data: &[u8], at: usize) -> u8 {
    data.get(at).map_or(0, |&byte| CLASS[usize::from(byte)])
}

/// Bytes that one task searches.
const PIECE: usize = 4 << 20;

/// One of the searches that a scan consists of.
#[derive(Clone, Copy)]
enum Search {
    /// ASCII, and UTF-8 where the second says so; the first: ASCII is listed.
    Bytes { ascii: bool, utf8: bool },
    /// UTF-16 whose units start at even or odd offsets.
    Units { order: Encoding, parity: usize },
}

impl Search {
    /// The first cut at or after `at`.
    fn cut(self, data: &[u8], at: usize) -> usize {
        match self {
            Self::Bytes { utf8, .. } => {
                let most = if utf8 { 2 } else { 1 };
                let rest = data.get(at..).unwrap_or_default();
                let is_cut = |&byte: &u8| {
                    let class = CLASS[usize::from(byte)];
                    class == 0 || class > most
                };
                rest.iter()
                    .position(is_cut)
                    .map_or(data.len(), |found| at + found)
            }
            Self::Units { order, parity } => units::cut(data, at + (at + parity) % 2, order),
        }
    }

    fn run(self, data: &[u8], start: usize, end: usize, min: usize, out: &mut Vec<Found>) {
        match self {
            Self::Bytes { ascii, utf8 } => byte_runs(data, start..end, min, (ascii, utf8), out),
            Self::Units { order, .. } => units::runs(data, start, end, min, order, out),
        }
    }
}

/// The strings of `data`, by offset.
///
/// A string is a maximal run of printable characters and white space, of at
/// least `min_length`. In UTF-8 every character counts but controls, private
/// use and noncharacters; in UTF-16 those of Latin, Greek and Cyrillic and
/// general punctuation, and where most are beyond ASCII a NUL must follow.
/// Of two UTF-16 readings that overlap the longer is listed.
///
/// # Errors
/// `cancelled`.
pub fn scan(data: &[u8], options: &ScanOptions, context: &Context) -> Result<Vec<Found>> {
    let min = usize::try_from(options.min_length)
        .unwrap_or(usize::MAX)
        .max(1);
    let wants = |encoding| options.encodings.contains(&encoding);
    let mut searches = Vec::new();
    let (ascii, utf8) = (wants(Encoding::Ascii), wants(Encoding::Utf8));
    if ascii || utf8 {
        searches.push(Search::Bytes { ascii, utf8 });
    }
    for order in [Encoding::Utf16Le, Encoding::Utf16Be] {
        if wants(order) {
            searches.extend([0, 1].map(|parity| Search::Units { order, parity }));
        }
    }
    let starts: Vec<usize> = (0..data.len().max(1)).step_by(PIECE).collect();
    let tasks: Vec<(Search, usize)> = searches
        .iter()
        .flat_map(|&search| starts.iter().map(move |&start| (search, start)))
        .collect();
    let found: Vec<Vec<Found>> = tasks
        .par_iter()
        .map(|&(search, start)| {
            let mut out = Vec::new();
            if context.check().is_err() {
                return out;
            }
            // From the first cut on, so that no run is seen from its middle.
            let from = match start {
                0 => search.cut_at_start(),
                _ => search.cut(data, start),
            };
            let to = match start + PIECE {
                end if end >= data.len() => data.len(),
                end => search.cut(data, end),
            };
            search.run(data, from, to, min, &mut out);
            out
        })
        .collect();
    context.check()?;
    let (mut bytes, mut wide) = (Vec::new(), Vec::new());
    for ((search, _), part) in tasks.iter().zip(found) {
        match search {
            Search::Bytes { .. } => bytes.extend(part),
            Search::Units { .. } => wide.extend(part),
        }
    }
    wide.sort_unstable();
    bytes.extend(longest(&wide));
    if !wide.is_empty() {
        bytes.par_sort_unstable();
    }
    context.check()?;
    Ok(bytes)
}

impl Search {
    fn cut_at_start(self) -> usize {
        match self {
            Self::Bytes { .. } => 0,
            Self::Units { parity, .. } => parity,
        }
    }
}

/// Of strings that overlap, the longer; of equal ones the first.
fn longest(sorted: &[Found]) -> Vec<Found> {
    let mut kept: Vec<Found> = Vec::with_capacity(sorted.len());
    for &one in sorted {
        match kept.last_mut() {
            Some(last) if one.offset() < last.end() => {
                if one.bytes > last.bytes {
                    *last = one;
                }
            }
            _ => kept.push(one),
        }
    }
    kept
}

fn byte_runs(
    data: &[u8],
    range: std::ops::Range<usize>,
    min: usize,
    listed: (bool, bool),
    out: &mut Vec<Found>,
) {
    let most = if listed.1 { 2 } else { 1 };
    let is_text = |at| {
        let class = class(data, at);
        class != 0 && class <= most
    };
    let mut at = range.start;
    while at < range.end {
        let Some(probe) = at.checked_add(min - 1).filter(|&probe| probe < data.len()) else {
            return;
        };
        if !is_text(probe) {
            at = probe + 1;
            continue;
        }
        let mut back = probe;
        while back > at && is_text(back - 1) {
            back -= 1;
        }
        if back > at {
            at = back;
            continue;
        }
        let mut end = probe + 1;
        while is_text(end) {
            end += 1;
        }
        pieces(data, at..end, min, listed, out);
        at = end + 1;
    }
}

/// The strings in a run of bytes that may all be parts of characters.
fn pieces(
    data: &[u8],
    run: std::ops::Range<usize>,
    min: usize,
    (ascii, utf8): (bool, bool),
    out: &mut Vec<Found>,
) {
    let Some(bytes) = data.get(run.clone()) else {
        return;
    };
    if bytes.is_ascii() {
        if ascii {
            out.push(Found::new(run.start, bytes.len(), Encoding::Ascii));
        }
        return;
    }
    let mut keep = |start: usize, text: &str, count: usize| {
        if count < min {
            return;
        }
        let is_ascii = count == text.len();
        if (is_ascii && ascii) || (!is_ascii && utf8) {
            let encoding = if is_ascii {
                Encoding::Ascii
            } else {
                Encoding::Utf8
            };
            out.push(Found::new(start, text.len(), encoding));
        }
    };
    let mut at = run.start;
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let (mut start, mut count) = (0, 0);
        for (place, character) in valid.char_indices() {
            if is_text(character) {
                count += 1;
                continue;
            }
            keep(
                at + start,
                valid.get(start..place).unwrap_or_default(),
                count,
            );
            start = place + character.len_utf8();
            count = 0;
        }
        keep(at + start, valid.get(start..).unwrap_or_default(), count);
        at += valid.len() + chunk.invalid().len();
    }
}

/// A character beyond ASCII that text may hold. A rule without tables, so that
/// it is the same with every version of Unicode.
fn is_text(character: char) -> bool {
    !matches!(character as u32,
        0x80..=0x9F | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xF_0000..)
        && (character as u32) & 0xFFFE != 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(data: &[u8], min_length: u32) -> Vec<(u64, &'static str, String, bool)> {
        let options = ScanOptions {
            min_length,
            ..ScanOptions::default()
        };
        let found = scan(data, &options, &Context::new("test")).unwrap();
        found
            .into_iter()
            .map(|one| {
                let (text, ends) = (one.text(data).into_owned(), one.is_terminated(data));
                (one.offset(), one.encoding().as_str(), text, ends)
            })
            .collect()
    }

    #[test]
    fn each_encoding_at_its_place() {
        let mut data = b"\x01abc\0abcd\0\xFFna\xC3\xAFve\nx\x80".to_vec();
        data.extend("Käse12".encode_utf16().flat_map(u16::to_le_bytes));
        data.extend([0, 0, 1]);
        data.extend("wide!".encode_utf16().flat_map(u16::to_be_bytes));
        assert_eq!(
            found(&data, 4),
            [
                (5, "ascii", "abcd".to_owned(), true),
                (11, "utf-8", "na\u{ef}ve\nx".to_owned(), false),
                (20, "utf-16le", "K\u{e4}se12".to_owned(), true),
                (35, "utf-16be", "wide!".to_owned(), false),
            ]
        );
    }

    #[test]
    fn words_in_cyrillic_need_an_end() {
        let wide =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let mut data = wide("\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}");
        assert_eq!(found(&data, 4), []);
        data.extend([0, 0]);
        assert_eq!(found(&data, 4).len(), 1);
    }

    /// By the definition, one position after the other.
    fn slow_ascii(data: &[u8], min: usize) -> Vec<(u64, u64)> {
        let text = |&byte: &u8| matches!(byte, b' '..=b'~' | 9..=13);
        let mut out = Vec::new();
        let mut at = 0;
        while at < data.len() {
            let length = data[at..].iter().take_while(|byte| text(byte)).count();
            if length >= min {
                out.push((at as u64, length as u64));
            }
            at += length + 1;
        }
        out
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0u8), Just(b'a'), Just(0xC3), Just(0xA9), any::<u8>()];
        proptest::collection::vec(byte, 0..400)
    }

    proptest! {
        #[test]
        fn ascii_is_all_maximal_runs(data in bytes(), min in 1u32..9) {
            let options = ScanOptions { min_length: min, encodings: vec![Encoding::Ascii] };
            let found = scan(&data, &options, &Context::new("test")).unwrap();
            let found: Vec<_> = found.iter().map(|one| (one.offset(), one.bytes())).collect();
            prop_assert_eq!(found, slow_ascii(&data, min as usize));
        }

        #[test]
        fn cuts_change_nothing(data in bytes(), min in 1u32..6, cut in 0usize..400) {
            let mut searches = vec![Search::Bytes { ascii: true, utf8: true }];
            for order in [Encoding::Utf16Le, Encoding::Utf16Be] {
                searches.extend([0, 1].map(|parity| Search::Units { order, parity }));
            }
            for search in searches {
                let (mut whole, mut parts) = (Vec::new(), Vec::new());
                let min = min as usize;
                search.run(&data, search.cut_at_start(), data.len(), min, &mut whole);
                let middle = search.cut(&data, cut.min(data.len())).max(search.cut_at_start());
                search.run(&data, search.cut_at_start(), middle, min, &mut parts);
                search.run(&data, middle, data.len(), min, &mut parts);
                prop_assert_eq!(whole, parts);
            }
        }
    }
}
