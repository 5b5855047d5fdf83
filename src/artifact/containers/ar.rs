//! ar archives: static libraries, import libraries and Debian packages.
//!
//! A global magic, then members one after the other: a header of 60 bytes of
//! text, the data, and one byte of padding where its size is odd (System V
//! ABI, chapter 7). Names longer than the header's 16 bytes stand in a table
//! (`//`, System V, GNU and Microsoft) or before the data (`#1/LENGTH`, BSD).
//! Thin archives (GNU) hold headers alone; the data is in files beside them.

use std::borrow::Cow;

use super::{
    Closing, Container, Damage, Fault, Limit, Listing, Member, MemberKind, NO_MODE, Out, Reading,
    Scratch, UNKNOWN, unaccounted,
};
use crate::artifact::limitation::{Note, Notes};
use crate::artifact::names::{MAX_PATH, Style};
use crate::artifact::options::{OnDamage, Options};
use crate::artifact::source::Source;

const MAGIC: &[u8] = b"!<arch>\n";
const THIN: &[u8] = b"!<thin>\n";
const HEADER: u64 = 60;
/// Headers are read in steps of this many bytes.
const STEP: usize = 64 << 10;
/// The longest table of names that is kept in memory.
const MOST_NAMES: u64 = crate::artifact::names::MAX_ALL as u64;

/// What stands before the first member and is none: the names that headers
/// have, and how often each may occur. Beyond that they name members.
const STRUCTURES: &[(&[u8], u8)] = &[
    (b"/", 2), // GNU: once; Microsoft: first and second linker member
    (b"/SYM64/", 1),
    (b"/<ECSYMBOLS>/", 1),
    (b"/<HYBRIDMAP>/", 1),
    (b"/<XFGHASHMAP>/", 1),
    (b"//", 1),
    (b"__.SYMDEF", 1),
    (b"__.SYMDEF SORTED", 1),
    (b"__.SYMDEF_64", 1),
    (b"__.SYMDEF_64 SORTED", 1),
];

/// An open archive.
struct Ar {
    source: Source,
    thin: bool,
    listing: Listing,
    /// Bytes that belong to nothing.
    gaps: Vec<(u64, u64)>,
    damage: Option<Damage>,
}

/// Opens an archive of either magic.
pub(super) fn open(source: &Source, options: &Options) -> Result<Box<dyn Container>, Fault> {
    let magic = source.read_vec(0, MAGIC.len())?;
    let mut walk = Walk {
        source,
        options,
        thin: magic == THIN,
        window: Window::default(),
        at: MAGIC.len() as u64,
        long_names: Vec::new(),
        structures: [0; STRUCTURES.len()],
        listing: Listing::default(),
        gaps: Vec::new(),
    };
    let mut damage = None;
    loop {
        match walk.step() {
            Ok(true) => {}
            Ok(false) => break,
            Err(Fault::Damage(found)) if options.on_damage == OnDamage::Record => {
                damage = Some(found);
                break;
            }
            Err(fault) => return Err(fault),
        }
    }
    let Walk {
        thin,
        mut listing,
        gaps,
        ..
    } = walk;
    listing.members.shrink_to_fit();
    listing.names.shrink_to_fit();
    Ok(Box::new(Ar {
        source: source.clone(),
        thin,
        listing,
        gaps,
        damage,
    }))
}

/// A header's fields that matter here.
struct Header {
    name: [u8; 16],
    mode: u16,
    size: u64,
}

/// Goes from header to header.
struct Walk<'a> {
    source: &'a Source,
    options: &'a Options,
    thin: bool,
    window: Window,
    at: u64,
    /// The table `//`.
    long_names: Vec<u8>,
    /// How often each of [`STRUCTURES`] has been seen.
    structures: [u8; STRUCTURES.len()],
    listing: Listing,
    gaps: Vec<(u64, u64)>,
}

impl Walk<'_> {
    /// Reads one member; whether there may be more.
    fn step(&mut self) -> Result<bool, Fault> {
        let (at, len) = (self.at, self.source.len());
        if at >= len {
            return Ok(false);
        }
        let bytes = self.window.get(self.source, at, HEADER as usize)?;
        let whole = bytes.len() == HEADER as usize && bytes.ends_with(b"`\n");
        if !whole {
            let text = match (bytes.len() as u64) < HEADER {
                true if is_like_header(bytes) => "a member's header is cut",
                false if is_like_header(bytes) || self.has_header_after(at)? => {
                    "a member's header has no end mark"
                }
                _ => {
                    self.gaps.push((at, len));
                    return Ok(false);
                }
            };
            return Err(Damage::format(at, text).into());
        }
        let header = parse_header(bytes)
            .ok_or_else(|| Damage::format(at, "a member's size is no decimal number"))?;
        self.member(at, &header)
    }

    fn member(&mut self, at: u64, header: &Header) -> Result<bool, Fault> {
        let mut data = at + HEADER;
        let mut size = header.size;
        let (name, in_data) = self.name(at, header)?;
        data += in_data;
        size -= in_data;
        let structure = self.is_structure(&name);
        let stored = !self.thin || structure;
        let end = if stored {
            data.saturating_add(size)
        } else {
            data
        };
        let cut = end > self.source.len();
        if structure && !cut {
            if &*name == b"//" {
                let size = usize::try_from(size.min(MOST_NAMES)).unwrap_or(0);
                self.long_names = self.source.read_vec(data, size)?;
            }
        } else if !structure {
            // A size that the bytes belie counts against no budget.
            self.push(&name, data, if cut { UNKNOWN } else { size }, header.mode)?;
        }
        if cut {
            let text = "a member's data does not end before the archive's end";
            return Err(Damage::format(data, text).into());
        }
        self.at = end;
        if stored && end % 2 == 1 && end < self.source.len() {
            if self.window.get(self.source, end, 1)? != b"\n" {
                self.gaps.push((end, end + 1));
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// The member's name, and how many bytes of its data that takes.
    fn name(&self, at: u64, header: &Header) -> Result<(Cow<'static, [u8]>, u64), Fault> {
        let name = header.name.trim_ascii_end();
        if let Some(len) = name.strip_prefix(b"#1/").and_then(decimal) {
            let data = at + HEADER;
            if len > header.size || len > self.source.len().saturating_sub(data) {
                let text = "a member's name does not end before its data";
                return Err(Damage::format(data, text).into());
            }
            let mut bytes = self.source.read_vec(data, within_path(len)?)?;
            let name = bytes
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |last| last + 1);
            bytes.truncate(name);
            return Ok((Cow::Owned(bytes), len));
        }
        let reference = name
            .strip_prefix(b"/")
            .filter(|_| !self.long_names.is_empty());
        if let Some(name) = reference.and_then(|reference| self.long_name(reference)) {
            within_path(name.len() as u64)?;
            return Ok((Cow::Owned(name.to_vec()), 0));
        }
        let short = match name {
            [head @ .., b'/'] if !head.is_empty() && head[0] != b'/' => head,
            _ => name,
        };
        Ok((Cow::Owned(short.to_vec()), 0))
    }

    /// The name that `OFFSET` or (in thin archives) `OFFSET:OFFSET` refers to:
    /// it ends with `/\n` (GNU), `\n` (System V) or NUL (Microsoft).
    fn long_name(&self, reference: &[u8]) -> Option<&[u8]> {
        let offset = reference.split(|&byte| byte == b':').next()?;
        let start = usize::try_from(decimal(offset)?).ok()?;
        let rest = self
            .long_names
            .get(start..)
            .filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr2(b'\n', 0, rest).unwrap_or(rest.len());
        let name = &rest[..end];
        Some(match name {
            [head @ .., b'/'] if rest.get(end) != Some(&0) => head,
            _ => name,
        })
    }

    /// Whether it is a symbol table or the table of names: only before the
    /// first member.
    fn is_structure(&mut self, name: &[u8]) -> bool {
        if !self.listing.members.is_empty() {
            return false;
        }
        let known = STRUCTURES.iter().zip(&mut self.structures);
        for (&(structure, most), seen) in known {
            if structure == name && *seen < most {
                *seen += 1;
                return true;
            }
        }
        false
    }

    fn push(&mut self, name: &[u8], at: u64, size: u64, mode: u16) -> Result<(), Fault> {
        if self.listing.members.len() as u64 >= self.options.max_entries {
            let value = self.options.max_entries;
            return Err(limit("max_entries", value));
        }
        let mut notes = Notes::default();
        if self.thin {
            notes.add(Note::Thin);
        }
        let name = self
            .listing
            .push_name(name)
            .ok_or_else(|| limit("all path bytes", MOST_NAMES))?;
        self.listing.members.push(Member {
            name,
            size,
            compressed: UNKNOWN,
            at,
            word: 0,
            name_crc: 0,
            method: 0,
            flags: 0,
            mode,
            kind: MemberKind::File,
            notes,
        });
        Ok(())
    }

    /// Whether a valid header stands anywhere behind `at`: then what stands at
    /// `at` is a broken one, not something behind the archive.
    fn has_header_after(&self, at: u64) -> Result<bool, Fault> {
        let mut buffer = vec![0; STEP];
        let mut from = at + 1;
        while from + HEADER <= self.source.len() {
            let got = self.source.read_at(from, &mut buffer)?;
            let bytes = &buffer[..got];
            let found = memchr::memmem::find_iter(bytes, b"`\n").any(|end| {
                (end + 2)
                    .checked_sub(HEADER as usize)
                    .is_some_and(|start| is_like_header(&bytes[start..end + 2]))
            });
            if found {
                return Ok(true);
            }
            // Overlap by a header, so that one across the border is seen.
            from += (STEP as u64) - HEADER;
        }
        Ok(false)
    }
}

/// Whether bytes read like a member's header, as far as they go.
fn is_like_header(bytes: &[u8]) -> bool {
    let (name, fields) = bytes.split_at(bytes.len().min(16));
    let fields = &fields[..fields.len().min(42)];
    !name.is_empty()
        && name.iter().all(|byte| (b' '..0x7F).contains(byte))
        && fields
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b' ' || *byte == b'-')
        && (bytes.len() < HEADER as usize || parse_header(bytes).is_some())
}

fn parse_header(bytes: &[u8]) -> Option<Header> {
    let (name, _) = bytes.split_first_chunk::<16>()?;
    Some(Header {
        name: *name,
        mode: octal(bytes.get(40..48)?).map_or(NO_MODE, |mode| (mode & 0o7777) as u16),
        size: decimal(bytes.get(48..58)?)?,
    })
}

/// A field of digits that ends in spaces.
fn decimal(field: &[u8]) -> Option<u64> {
    digits(field, 10)
}

fn octal(field: &[u8]) -> Option<u64> {
    digits(field, 8)
}

fn digits(field: &[u8], radix: u64) -> Option<u64> {
    let field = field.trim_ascii();
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0u64, |value, byte| {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        (digit < radix).then_some(())?;
        value.checked_mul(radix)?.checked_add(digit)
    })
}

fn within_path(len: u64) -> Result<usize, Fault> {
    match usize::try_from(len) {
        Ok(len) if len <= MAX_PATH => Ok(len),
        _ => Err(limit("path bytes", MAX_PATH as u64)),
    }
}

fn limit(name: &'static str, value: u64) -> Fault {
    Fault::Limit(Limit { name, value })
}

/// The bytes at hand around the header that was read last.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    start: u64,
}

impl Window {
    /// Up to `len` bytes at `at`; fewer only at the end.
    fn get(&mut self, source: &Source, at: u64, len: usize) -> Result<&[u8], Fault> {
        let inside = |start: u64, bytes: &[u8]| {
            let from = usize::try_from(at.checked_sub(start)?).ok()?;
            (from.checked_add(len)? <= bytes.len()).then_some(from)
        };
        let from = match inside(self.start, &self.bytes) {
            Some(from) => from,
            None => {
                self.bytes.resize(STEP, 0);
                let got = source.read_at(at, &mut self.bytes)?;
                self.bytes.truncate(got);
                self.start = at;
                0
            }
        };
        let end = (from + len).min(self.bytes.len());
        Ok(&self.bytes[from..end])
    }
}

impl Container for Ar {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn take_listing(&mut self) -> Listing {
        std::mem::take(&mut self.listing)
    }

    fn style(&self) -> Style {
        Style::Ar
    }

    fn read(
        &self,
        index: usize,
        _keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        let member = &self.listing.members[index];
        if self.thin {
            return Err(Fault::Unavailable(Note::Thin));
        }
        if self.region(index).is_none() {
            let text = "its data does not end before the archive's end";
            return Err(Damage::format(member.at, text).into());
        }
        super::copy(&self.source, member.at, member.size, scratch, out)?;
        Ok(Reading::default())
    }

    fn region(&self, index: usize) -> Option<Source> {
        let member = self.listing.members.get(index).filter(|_| !self.thin)?;
        self.source.region(member.at, member.size)
    }

    fn is_contiguous(&self, _index: usize) -> bool {
        !self.thin
    }

    fn close(&self) -> Closing {
        Closing {
            damage: self.damage.clone(),
            incomplete: false,
            limitations: unaccounted(&self.gaps).into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_with_spaces_around() {
        assert_eq!(decimal(b"12        "), Some(12));
        assert_eq!(decimal(b"9999999999"), Some(9_999_999_999));
        assert_eq!(octal(b"100644  "), Some(0o100_644));
        for wrong in [
            &b"          "[..],
            b"-1        ",
            b"1 2       ",
            b"0x10      ",
            b"8a",
        ] {
            assert_eq!(decimal(wrong), None);
        }
        assert_eq!(octal(b"8       "), None);
    }
}
