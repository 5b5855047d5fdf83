//! The central directory (APPNOTE 4.3.12) and its extra fields (4.5).

use super::end::{Demand, End};
use super::kind_of;
use crate::artifact::containers::{Damage, Fault, Limit, Listing, Member};
use crate::artifact::limitation::{Limitation, Notes, counted};
use crate::artifact::options::Options;
use crate::artifact::source::Source;

const HEADER: usize = 46;
/// Bit 11 of the flags: name and comment are UTF-8.
const UTF8: u16 = 1 << 11;

/// Reads every central header; the listing keeps only what is needed later.
/// Where anything will do, what is wrong goes into `end.damage`, and the
/// headers before it are the list; one at least there must be.
pub(super) fn parse(
    source: &Source,
    end: &mut End,
    options: &Options,
    demand: Demand,
) -> Result<(Listing, Vec<Limitation>), Fault> {
    if demand == Demand::Whole {
        check_count(end, options)?;
    }
    let mut listing = Listing::default();
    let most = end.directory_len / HEADER as u64;
    listing
        .members
        .reserve_exact(usize::try_from(end.count.min(most)).unwrap_or(0));
    let mut guessed_utf8 = false;
    match headers(source, end, options, &mut listing, &mut guessed_utf8) {
        Err(Fault::Damage(damage)) if demand == Demand::Anything && !listing.members.is_empty() => {
            end.damage.get_or_insert(damage);
        }
        other => other?,
    }
    listing.members.shrink_to_fit();
    listing.names.shrink_to_fit();
    let mut limitations = Vec::new();
    if guessed_utf8 {
        limitations.push(Limitation::new(
            105,
            "Some names lack the UTF-8 flag and are valid UTF-8; they were read as UTF-8.",
        ));
    }
    Ok((listing, limitations))
}

/// Before anything is allocated.
fn check_count(end: &End, options: &Options) -> Result<(), Fault> {
    let most = end.directory_len / HEADER as u64;
    if end.count > most {
        let text = format!(
            "{} not fit into a central directory of {}",
            counted(end.count, "entry does", "entries do"),
            counted(end.directory_len, "byte", "bytes")
        );
        return Err(Damage::format(end.directory, text).into());
    }
    if end.count > options.max_entries {
        return Err(Fault::Limit(Limit {
            name: "max_entries",
            value: options.max_entries,
        }));
    }
    Ok(())
}

fn headers(
    source: &Source,
    end: &End,
    options: &Options,
    listing: &mut Listing,
    guessed_utf8: &mut bool,
) -> Result<(), Fault> {
    let mut window = Window::new(source, end.directory, end.directory + end.directory_len);
    let mut scratch = Vec::new();
    while !window.is_at_end() {
        if listing.members.len() as u64 >= options.max_entries {
            return Err(Fault::Limit(Limit {
                name: "max_entries",
                value: options.max_entries,
            }));
        }
        let at = window.at;
        let cut = || Damage::format(at, "a central header is cut");
        let Some(header) = window.take(HEADER, &mut scratch)? else {
            return Err(cut().into());
        };
        if !header.starts_with(b"PK\x01\x02") {
            // A digital signature (APPNOTE 4.3.13) may follow the last header.
            if header.starts_with(b"PK\x05\x05") && listing.members.len() as u64 == end.count {
                break;
            }
            return Err(Damage::format(at, "a central header has no signature").into());
        }
        let fields = Fields::new(header);
        let [name_len, extra_len, comment_len] =
            [28, 30, 32].map(|at| usize::from(fields.half(at)));
        let mut member = member(&fields);
        let made_by = fields.half(4);
        let external = fields.word(38);
        let variable = name_len + extra_len + comment_len;
        let Some(rest) = window.take(variable, &mut scratch)? else {
            return Err(cut().into());
        };
        let (name, rest) = rest.split_at(name_len);
        let extra = &rest[..extra_len];
        widen(&mut member, extra);
        member.name_crc = crc32fast::hash(name);
        let text = decode_name(name, extra, member.flags, guessed_utf8);
        (member.kind, member.mode) = kind_of(made_by, external, &text, member.size);
        member.name = listing.push_name(&text).ok_or({
            Fault::Limit(Limit {
                name: "all paths",
                value: crate::artifact::names::MAX_ALL as u64,
            })
        })?;
        listing.members.push(member);
    }
    let found = listing.members.len() as u64;
    if found != end.count && !(end.short_count && found & 0xFFFF == end.count) {
        let text = format!(
            "the end record counts {}, the central directory has {found}",
            counted(end.count, "entry", "entries")
        );
        return Err(Damage::format(end.directory, text).into());
    }
    Ok(())
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn half(&self, at: usize) -> u16 {
        self.0
            .get(at..at + 2)
            .map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
    }

    fn word(&self, at: usize) -> u32 {
        self.0
            .get(at..at + 4)
            .map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn double(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }
}

fn member(fields: &Fields<'_>) -> Member {
    Member {
        name: (0, 0),
        flags: fields.half(8),
        method: fields.half(10),
        word: fields.word(16),
        compressed: u64::from(fields.word(20)),
        size: u64::from(fields.word(24)),
        at: u64::from(fields.word(42)),
        name_crc: 0,
        mode: crate::artifact::containers::NO_MODE,
        kind: crate::artifact::containers::MemberKind::File,
        notes: Notes::default(),
    }
}

/// The extra fields of one header: id and data. A field that is cut ends them.
pub(super) fn extra_fields(mut extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = extra.split_at_checked(4)?;
        let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let (data, rest) = rest.split_at_checked(len)?;
        extra = rest;
        Some((u16::from_le_bytes([head[0], head[1]]), data))
    })
}

/// ZIP64 extended information (4.5.3): values for fields that are all ones,
/// in this order.
fn widen(member: &mut Member, extra: &[u8]) {
    const ALL_ONES: u64 = 0xFFFF_FFFF;
    let Some((_, mut data)) = extra_fields(extra).find(|&(id, _)| id == 1) else {
        return;
    };
    for field in [&mut member.size, &mut member.compressed, &mut member.at] {
        if *field == ALL_ONES {
            let Some((value, rest)) = data.split_at_checked(8) else {
                return;
            };
            *field = Fields::new(value).double(0);
            data = rest;
        }
    }
}

/// A name as UTF-8 where that is known, else its bytes (decision 5).
fn decode_name<'a>(
    name: &'a [u8],
    extra: &'a [u8],
    flags: u16,
    guessed_utf8: &mut bool,
) -> std::borrow::Cow<'a, [u8]> {
    use std::borrow::Cow;
    let unicode = extra_fields(extra)
        .find(|&(id, _)| id == 0x7075)
        .and_then(|(_, data)| {
            let (head, path) = data.split_at_checked(5)?;
            let fits = head[0] == 1 && Fields::new(head).word(1) == crc32fast::hash(name);
            (fits && std::str::from_utf8(path).is_ok()).then_some(path)
        });
    if let Some(path) = unicode {
        return Cow::Borrowed(path);
    }
    if flags & UTF8 != 0 || name.is_ascii() {
        return Cow::Borrowed(name);
    }
    if std::str::from_utf8(name).is_ok() {
        *guessed_utf8 = true;
        return Cow::Borrowed(name);
    }
    let text: String = name.iter().map(|&byte| cp437(byte)).collect();
    Cow::Owned(text.into_bytes())
}

/// IBM code page 437, the upper half (APPNOTE appendix D).
fn cp437(byte: u8) -> char {
    const HIGH: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";
    match byte {
        0..0x80 => byte as char,
        _ => HIGH
            .chars()
            .nth(usize::from(byte - 0x80))
            .unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// Sequential reading of the central directory in large steps.
struct Window<'a> {
    source: &'a Source,
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    start: u64,
}

impl<'a> Window<'a> {
    const STEP: usize = 256 << 10;

    fn new(source: &'a Source, at: u64, end: u64) -> Self {
        Self {
            source,
            at,
            end,
            buffer: Vec::new(),
            start: at,
        }
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// The next `len` bytes, copied into `scratch`; `None` where they do not
    /// lie before the end.
    fn take<'s>(
        &mut self,
        len: usize,
        scratch: &'s mut Vec<u8>,
    ) -> Result<Option<&'s [u8]>, Fault> {
        if self.end - self.at < len as u64 {
            return Ok(None);
        }
        let offset = (self.at - self.start) as usize;
        if offset + len > self.buffer.len() {
            let want = Self::STEP
                .max(len)
                .min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
            self.buffer.resize(want, 0);
            let got = self.source.read_at(self.at, &mut self.buffer)?;
            self.buffer.truncate(got);
            self.start = self.at;
            if got < len {
                return Ok(None);
            }
        }
        let offset = (self.at - self.start) as usize;
        scratch.clear();
        scratch.extend_from_slice(&self.buffer[offset..offset + len]);
        self.at += len as u64;
        Ok(Some(scratch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_page_437() {
        // Unicode's mapping table CP437.TXT: 0x80, 0x9B, 0xE1, 0xFD, 0xFF.
        assert_eq!(
            [0x80, 0x9B, 0xE1, 0xFD, 0xFF].map(cp437),
            ['Ç', '¢', 'ß', '²', '\u{A0}']
        );
        assert!((0x80..=0xFF).all(|byte| cp437(byte) != char::REPLACEMENT_CHARACTER));
    }

    #[test]
    fn cut_extra_fields_end_the_list() {
        let fields: Vec<_> = extra_fields(&[1, 0, 2, 0, 9, 9, 7, 0, 5, 0, 1]).collect();
        assert_eq!(fields, [(1, &[9u8, 9][..])]);
    }
}
