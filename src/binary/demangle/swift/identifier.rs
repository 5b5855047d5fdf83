//! Identifiers with their words, operators' names, and substitutions.

use super::kind::{Id, Kind};
use super::reader::Reader;

/// More words are not remembered.
const MAX_WORDS: usize = 26;

/// Substitutions are not repeated more often.
const MAX_REPEAT: i64 = 2048;

/// Types of the standard library with a letter.
const STANDARD: [(u8, Kind, &str); 46] = {
    use Kind::{Enum, Protocol, Structure};
    [
        (b'A', Structure, "AutoreleasingUnsafeMutablePointer"),
        (b'B', Protocol, "BinaryFloatingPoint"),
        (b'D', Structure, "Dictionary"),
        (b'E', Protocol, "Encodable"),
        (b'F', Protocol, "FloatingPoint"),
        (b'G', Protocol, "RandomNumberGenerator"),
        (b'H', Protocol, "Hashable"),
        (b'I', Structure, "DefaultIndices"),
        (b'J', Structure, "Character"),
        (b'K', Protocol, "BidirectionalCollection"),
        (b'L', Protocol, "Comparable"),
        (b'M', Protocol, "MutableCollection"),
        (b'N', Structure, "ClosedRange"),
        (b'O', Structure, "ObjectIdentifier"),
        (b'P', Structure, "UnsafePointer"),
        (b'Q', Protocol, "Equatable"),
        (b'R', Structure, "UnsafeBufferPointer"),
        (b'S', Structure, "String"),
        (b'T', Protocol, "Sequence"),
        (b'U', Protocol, "UnsignedInteger"),
        (b'V', Structure, "UnsafeRawPointer"),
        (b'W', Structure, "UnsafeRawBufferPointer"),
        (b'X', Protocol, "RangeExpression"),
        (b'Y', Protocol, "RawRepresentable"),
        (b'Z', Protocol, "SignedInteger"),
        (b'a', Structure, "Array"),
        (b'b', Structure, "Bool"),
        (b'd', Structure, "Double"),
        (b'e', Protocol, "Decodable"),
        (b'f', Structure, "Float"),
        (b'h', Structure, "Set"),
        (b'i', Structure, "Int"),
        (b'j', Protocol, "Numeric"),
        (b'k', Protocol, "RandomAccessCollection"),
        (b'l', Protocol, "Collection"),
        (b'm', Protocol, "RangeReplaceableCollection"),
        (b'n', Structure, "Range"),
        (b'p', Structure, "UnsafeMutablePointer"),
        (b'q', Enum, "Optional"),
        (b'r', Structure, "UnsafeMutableBufferPointer"),
        (b's', Structure, "Substring"),
        (b't', Protocol, "IteratorProtocol"),
        (b'u', Structure, "UInt"),
        (b'v', Structure, "UnsafeMutableRawPointer"),
        (b'w', Structure, "UnsafeMutableRawBufferPointer"),
        (b'x', Protocol, "Strideable"),
    ]
};

/// Two more, and those of concurrency after `c`.
const MORE: [(u8, Kind, &str); 2] = [
    (b'y', Kind::Protocol, "StringProtocol"),
    (b'z', Kind::Protocol, "BinaryInteger"),
];

const CONCURRENCY: [(u8, Kind, &str); 19] = {
    use Kind::{Class, Protocol, Structure};
    [
        (b'A', Protocol, "Actor"),
        (b'C', Structure, "CheckedContinuation"),
        (b'c', Structure, "UnsafeContinuation"),
        (b'E', Structure, "CancellationError"),
        (b'e', Structure, "UnownedSerialExecutor"),
        (b'F', Protocol, "Executor"),
        (b'f', Protocol, "SerialExecutor"),
        (b'G', Structure, "TaskGroup"),
        (b'g', Structure, "ThrowingTaskGroup"),
        (b'h', Protocol, "TaskExecutor"),
        (b'I', Protocol, "AsyncIteratorProtocol"),
        (b'i', Protocol, "AsyncSequence"),
        (b'J', Structure, "UnownedJob"),
        (b'M', Class, "MainActor"),
        (b'P', Structure, "TaskPriority"),
        (b'S', Structure, "AsyncStream"),
        (b's', Structure, "AsyncThrowingStream"),
        (b'T', Structure, "Task"),
        (b't', Structure, "UnsafeCurrentTask"),
    ]
};

impl Reader<'_> {
    pub(super) fn identifier(&mut self) -> Option<Id> {
        let mut repeats = false;
        let mut punycode = false;
        if !self.peek().is_ascii_digit() {
            return None;
        }
        if self.take(b'0') {
            punycode = self.take(b'0');
            repeats = !punycode;
        }
        let mut text: Vec<u8> = Vec::new();
        loop {
            while repeats && self.peek().is_ascii_alphabetic() {
                let letter = self.next();
                let word = usize::from(letter.to_ascii_lowercase() - b'a');
                repeats = letter.is_ascii_lowercase();
                let &(start, end) = self.words.get(word)?;
                text.extend_from_slice(self.input.get(start..end)?);
            }
            if self.take(b'0') {
                break;
            }
            let length = usize::try_from(self.natural()?).ok()?;
            if length == 0 {
                return None;
            }
            if punycode {
                let _ = self.take(b'_');
            }
            let (start, end) = (self.at, self.at.checked_add(length)?);
            let slice = self.input.get(start..end)?;
            if punycode {
                text.extend_from_slice(decode_punycode(slice)?.as_bytes());
            } else {
                text.extend_from_slice(slice);
                self.remember_words(start, end);
            }
            self.at = end;
            if !repeats {
                break;
            }
        }
        let text = String::from_utf8(text).ok()?;
        if text.is_empty() {
            return None;
        }
        let id = self.text_node(Kind::Identifier, text)?;
        self.substitutions.push(id);
        Some(id)
    }

    /// Words start at letters and end before capitals and what is no letter.
    fn remember_words(&mut self, start: usize, end: usize) {
        let at = |place: usize| match place < end {
            true => self.input.get(place).copied().unwrap_or(0),
            false => 0,
        };
        let starts = |byte: u8| !byte.is_ascii_digit() && byte != b'_' && byte != 0;
        let ends = |byte: u8, before: u8| {
            byte == b'_' || byte == 0 || (!before.is_ascii_uppercase() && byte.is_ascii_uppercase())
        };
        let mut found = Vec::new();
        let mut word = None;
        for place in start..=end {
            let byte = at(place);
            if let Some(from) = word
                && ends(byte, at(place.saturating_sub(1)))
            {
                if place - from >= 2 {
                    found.push((from, place));
                }
                word = None;
            }
            if word.is_none() && starts(byte) {
                word = Some(place);
            }
        }
        let room = MAX_WORDS.saturating_sub(self.words.len());
        self.words.extend(found.into_iter().take(room));
    }

    pub(super) fn operator_name(&mut self) -> Option<Id> {
        const LETTERS: &[u8; 26] = b"& @/= >    <*!|+?%-~   ^ .";
        let id = self.pop_kind(Kind::Identifier)?;
        let mut name = String::new();
        for character in self.nodes.text(id).chars() {
            match character {
                'a'..='z' => match LETTERS.get(character as usize - 'a' as usize)? {
                    b' ' => return None,
                    &letter => name.push(char::from(letter)),
                },
                other if !other.is_ascii() => name.push(other),
                _ => return None,
            }
        }
        let fix = match self.next() {
            b'i' => " infix",
            b'p' => " prefix",
            b'P' => " postfix",
            _ => return None,
        };
        self.text_node(Kind::Operator(fix), name)
    }

    pub(super) fn local_name(&mut self) -> Option<Id> {
        if self.take(b'L') {
            let discriminator = self.pop_kind(Kind::Identifier)?;
            let name = self.pop_if(Kind::is_name)?;
            return self.node(Kind::PrivateName, vec![discriminator, name]);
        }
        if self.take(b'l') {
            let discriminator = self.pop_kind(Kind::Identifier)?;
            return self.node(Kind::PrivateName, vec![discriminator]);
        }
        if matches!(self.peek(), b'a'..=b'j' | b'A'..=b'J') {
            let letter = char::from(self.next()).to_string();
            let kind = self.text_node(Kind::Text, letter)?;
            let name = self.pop()?;
            return self.node(Kind::RelatedName, vec![kind, name]);
        }
        let discriminator = self.index_node()?;
        let name = self.pop_if(Kind::is_name)?;
        self.node(Kind::LocalName, vec![discriminator, name])
    }

    /// `A`: one or more substitutions in a row.
    pub(super) fn substitution_list(&mut self) -> Option<Id> {
        let mut repeat = None;
        loop {
            let letter = self.next();
            match letter {
                b'a'..=b'z' => {
                    let id = self.repeated(repeat.take(), letter - b'a')?;
                    self.push(id)?;
                }
                b'A'..=b'Z' => return self.repeated(repeat, letter - b'A'),
                b'_' => {
                    let index = usize::try_from(repeat.unwrap_or(-1) + 27).ok()?;
                    return self.substitutions.get(index).copied();
                }
                b'0'..=b'9' => {
                    self.at -= 1;
                    repeat = Some(self.natural()?);
                }
                _ => return None,
            }
        }
    }

    fn repeated(&mut self, times: Option<i64>, index: u8) -> Option<Id> {
        let id = *self.substitutions.get(usize::from(index))?;
        self.repeat(id, times)
    }

    fn repeat(&mut self, id: Id, times: Option<i64>) -> Option<Id> {
        let times = times.unwrap_or(1);
        if times > MAX_REPEAT {
            return None;
        }
        for _ in 1..times {
            self.push(id)?;
        }
        Some(id)
    }

    /// `S`: the standard library, Objective-C's and C's modules.
    pub(super) fn standard_substitution(&mut self) -> Option<Id> {
        match self.peek() {
            b'o' => {
                self.at += 1;
                return self.text_node(Kind::Module, "__C");
            }
            b'C' => {
                self.at += 1;
                return self.text_node(Kind::Module, "__C_Synthesized");
            }
            b'g' => {
                self.at += 1;
                let wrapped = self.pop_kind(Kind::Type)?;
                let optional = self.swift_type(Kind::Enum, "Optional")?;
                let list = self.node(Kind::TypeList, vec![wrapped])?;
                let bound = self.node(Kind::BoundEnum, vec![optional, list])?;
                let id = self.in_type(bound)?;
                self.substitutions.push(id);
                return Some(id);
            }
            _ => {}
        }
        let times = match self.peek() {
            b'0'..=b'9' => Some(self.natural()?),
            _ => None,
        };
        let second = self.take(b'c');
        let letter = self.next();
        let (kind, name) = if second {
            find(&CONCURRENCY, letter)?
        } else {
            find(&STANDARD, letter).or_else(|| find(&MORE, letter))?
        };
        let id = self.swift_type(kind, name)?;
        self.repeat(id, times)
    }

    /// A type of the standard library.
    pub(super) fn swift_type(&mut self, kind: Kind, name: &str) -> Option<Id> {
        let module = self.text_node(Kind::Module, "Swift")?;
        let name = self.text_node(Kind::Identifier, name)?;
        let nominal = self.node(kind, vec![module, name])?;
        self.in_type(nominal)
    }
}

fn find(table: &[(u8, Kind, &'static str)], letter: u8) -> Option<(Kind, &'static str)> {
    table
        .iter()
        .find(|&&(known, _, _)| known == letter)
        .map(|&(_, kind, name)| (kind, name))
}

/// RFC 3492 with Swift's alphabet: digits are `a`-`z` and `A`-`J`, the
/// delimiter is `_`, and symbols of ASCII stand at 0xD800.
fn decode_punycode(input: &[u8]) -> Option<String> {
    let (basic, rest) = match input.iter().rposition(|&byte| byte == b'_') {
        Some(at) => (input.get(..at)?, input.get(at + 1..)?),
        None => (&[][..], input),
    };
    let mut points: Vec<u32> = basic.iter().map(|&byte| u32::from(byte)).collect();
    if !basic.is_ascii() {
        return None;
    }
    let (mut n, mut i, mut bias) = (128u32, 0u32, 72u32);
    let mut rest = rest.iter();
    while rest.len() > 0 {
        let start = i;
        let (mut weight, mut k) = (1u32, 36u32);
        loop {
            let digit = match *rest.next()? {
                digit @ b'a'..=b'z' => u32::from(digit - b'a'),
                digit @ b'A'..=b'J' => u32::from(digit - b'A') + 26,
                _ => return None,
            };
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let threshold = k.saturating_sub(bias).clamp(1, 26);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(36 - threshold)?;
            k += 36;
        }
        let count = points.len() as u32 + 1;
        bias = adapt(i - start, count, start == 0);
        n = n.checked_add(i / count)?;
        i %= count;
        points.insert(i as usize, n);
        i += 1;
    }
    points
        .into_iter()
        .map(|point| match point {
            0xD800..=0xD87F => char::from_u32(point - 0xD800),
            point => char::from_u32(point),
        })
        .collect()
}

fn adapt(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / count;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}
