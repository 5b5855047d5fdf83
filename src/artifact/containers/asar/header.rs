//! The header: a fixed prefix of four words, then JSON.
//!
//! The JSON is read as a stream and without recursion: what it says goes
//! straight into the listing, so memory is bounded by the header's size,
//! however deep or odd it is. Member names that stand twice are refused in
//! every object, members of unknown names are skipped.

use std::io::{self, Read};

use crate::artifact::containers::{
    Damage, Fault, Limit, Listing, Member, MemberKind, NO_MODE, UNKNOWN,
};
use crate::artifact::limitation::Notes;
use crate::artifact::names::{ASAR_SEPARATOR, MAX_ALL, MAX_PATH};
use crate::artifact::options::Options;
use crate::artifact::source::Source;
use crate::digest::Digest;
use crate::json::{Event, Limits, Overflow, ReadError, ReadErrorKind, Reader};

/// The prefix: 4, header bytes, payload bytes, JSON bytes.
const PREFIX: usize = 16;
/// A header of more bytes is refused.
const MAX_HEADER: u64 = 16 << 20;
/// Text of more bytes is neither an offset nor a digest.
const MAX_TEXT: usize = 64;

/// What the members of an entry were, as bits of [`Member::flags`].
const FILES: u16 = 1;
const LINK: u16 = 1 << 1;
const SIZE: u16 = 1 << 2;
const OFFSET: u16 = 1 << 3;
const UNPACKED: u16 = 1 << 4;
const EXECUTABLE: u16 = 1 << 5;

/// Whether a file's bytes are in the companion folder.
pub(super) fn is_unpacked(member: &Member) -> bool {
    member.flags & UNPACKED != 0
}

/// What a header says.
pub(super) struct Header {
    pub listing: Listing,
    /// Where the header ends, but for unneeded padding.
    pub end: u64,
    /// Link targets, one after the other.
    links: Vec<u8>,
    /// Declared digests by member.
    declared: Vec<(u32, Digest)>,
}

impl Header {
    /// A link's target.
    pub fn link(&self, member: &Member) -> &[u8] {
        let start = member.word as usize;
        self.links
            .get(start..start + member.name_crc as usize)
            .unwrap_or_default()
    }

    /// The SHA-256 declared for a member.
    pub fn declared(&self, index: usize) -> Option<Digest> {
        let index = u32::try_from(index).ok()?;
        let at = self
            .declared
            .binary_search_by_key(&index, |entry| entry.0)
            .ok()?;
        Some(self.declared[at].1)
    }
}

struct Prefix {
    header: u64,
    json: u64,
}

/// The four words, where they fit to each other.
fn prefix(head: &[u8]) -> Option<Prefix> {
    let word = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let (magic, header, payload, json) = (word(0)?, word(4)?, word(8)?, word(12)?);
    let fits = magic == 4
        && header >= 8
        && payload == header - 4
        && u64::from(json) + 4 <= u64::from(payload);
    fits.then_some(Prefix {
        header: header.into(),
        json: json.into(),
    })
}

/// Whether bytes start with what must be an ASAR header.
pub(in super::super) fn detect(head: &[u8]) -> bool {
    prefix(head).is_some_and(|prefix| prefix.header >= 16 && prefix.json >= 2)
        && head.get(PREFIX) == Some(&b'{')
}

/// Reads and checks a header.
pub(super) fn read(source: &Source, options: &Options) -> Result<Header, Fault> {
    let mut head = [0; PREFIX];
    let got = source.read_at(0, &mut head)?;
    let Some(Prefix { header, json }) = prefix(&head[..got]) else {
        return Err(Damage::format(0, "the words of the prefix contradict each other").into());
    };
    let data = 8 + header;
    if data > source.len() {
        let text = format!("a header of {header} bytes does not end before the archive does");
        return Err(Damage::format(4, text).into());
    }
    if header > MAX_HEADER {
        return Err(Fault::Limit(Limit {
            name: "asar header bytes",
            value: MAX_HEADER,
        }));
    }
    let text = Section {
        source,
        at: PREFIX as u64,
        end: PREFIX as u64 + json,
    };
    let mut parser = Parser {
        options,
        source_len: source.len(),
        data,
        frames: Vec::new(),
        names: Vec::new(),
        name_bytes: Vec::new(),
        path: Vec::new(),
        folders: 0,
        has_files: false,
        link_from: 0,
        value: Value::Node(ROOT),
        text: Vec::new(),
        algorithm: false,
        hash: None,
        listing: Listing::default(),
        links: Vec::new(),
        declared: Vec::new(),
    };
    let limits = Limits {
        max_input_bytes: u64::MAX,
        max_depth: usize::MAX,
        overflow: Overflow::Keep,
    };
    let mut reader = Reader::new(text, limits);
    loop {
        let at = PREFIX as u64 + reader.place().offset;
        let event = reader.next_event().map_err(json_fault)?;
        parser.event(event, at)?;
        if parser.frames.is_empty() {
            break;
        }
    }
    reader.expect_end().map_err(json_fault)?;
    let Parser {
        mut listing,
        links,
        mut declared,
        ..
    } = parser;
    listing.members.shrink_to_fit();
    listing.names.shrink_to_fit();
    declared.sort_unstable_by_key(|entry| entry.0);
    Ok(Header {
        listing,
        // The JSON is padded to whole words.
        end: (PREFIX as u64 + json).next_multiple_of(4).min(data),
        links,
        declared,
    })
}

fn json_fault(error: ReadError) -> Fault {
    let at = PREFIX as u64 + error.place().offset;
    match error.kind() {
        ReadErrorKind::Io(error) => Fault::Io(error.kind(), crate::error::io_reason(error)),
        ReadErrorKind::Resource { boundary, .. } => {
            Damage::format(at, format!("a {boundary} of the header is absurdly long")).into()
        }
        _ => Damage::format(at, "the header is not valid JSON").into(),
    }
}

/// A part of a source, read from its start.
struct Section<'a> {
    source: &'a Source,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let want = rest.min(buffer.len());
        let got = self.source.read_at(self.at, &mut buffer[..want])?;
        self.at += got as u64;
        Ok(got)
    }
}

/// The entry that is the archive itself.
const ROOT: u32 = u32::MAX;

/// What the next value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// An entry.
    Node(u32),
    Files(u32),
    Link(u32),
    Size(u32),
    Offset(u32),
    Unpacked(u32),
    Executable(u32),
    Integrity(u32),
    Algorithm,
    Hash,
    Skipped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    /// An entry.
    Node(u32),
    /// The entries of a folder.
    Files,
    Integrity(u32),
    Skipped,
}

/// An open object.
#[derive(Clone, Copy)]
struct Frame {
    object: Object,
    /// Where its names begin among [`Parser::names`].
    names: u32,
    /// Bytes of [`Parser::path`] that belong to the folder.
    path: u32,
}

/// A member name of an open object.
#[derive(Clone, Copy)]
struct Name {
    start: u32,
    len: u32,
    /// Where it stands in the archive.
    at: u32,
}

struct Parser<'a> {
    options: &'a Options,
    source_len: u64,
    data: u64,
    frames: Vec<Frame>,
    names: Vec<Name>,
    name_bytes: Vec<u8>,
    /// The raw name of the entry at hand.
    path: Vec<u8>,
    /// Open folders.
    folders: u64,
    /// Whether the archive itself lists files, be it none.
    has_files: bool,
    /// Where the link at hand begins among the targets.
    link_from: usize,
    value: Value,
    text: Vec<u8>,
    algorithm: bool,
    hash: Option<Digest>,
    listing: Listing,
    links: Vec<u8>,
    declared: Vec<(u32, Digest)>,
}

impl Parser<'_> {
    fn event(&mut self, event: Event<'_>, at: u64) -> Result<(), Fault> {
        match event {
            Event::Key { name, .. } => self.name(name, at),
            Event::BeginObject => self.begin(at),
            Event::EndObject => self.end(at),
            Event::Text { part, last, .. } => self.text(part, last, at),
            Event::Number { value, lexeme } => match self.value {
                Value::Size(node) => self.size(node, value, lexeme, at),
                _ => self.other(at),
            },
            Event::Bool(value) => match self.value {
                Value::Unpacked(node) => self.flag(node, UNPACKED, value),
                Value::Executable(node) => self.flag(node, EXECUTABLE, value),
                _ => self.other(at),
            },
            Event::Null | Event::BeginArray | Event::EndArray => self.other(at),
        }
    }

    /// A value of a type that is not the expected one.
    fn other(&mut self, at: u64) -> Result<(), Fault> {
        let wanted = match self.value {
            // What is wrong there declares nothing.
            Value::Integrity(_) | Value::Algorithm | Value::Hash | Value::Skipped => {
                self.value = Value::Skipped;
                return Ok(());
            }
            Value::Node(ROOT) => "the header is not an object",
            Value::Node(_) => "an entry is not an object",
            Value::Files(_) => "the files of a folder are not an object",
            Value::Link(_) => "a link is not a string",
            Value::Size(_) => "a size is not a number",
            Value::Offset(_) => "an offset is not a string",
            Value::Unpacked(_) => "unpacked is neither true nor false",
            Value::Executable(_) => "executable is neither true nor false",
        };
        Err(Damage::format(at, wanted).into())
    }

    fn begin(&mut self, at: u64) -> Result<(), Fault> {
        let object = match self.value {
            Value::Node(node) => Object::Node(node),
            Value::Files(node) => {
                if self.folders > self.options.max_depth {
                    return Err(Fault::Limit(Limit {
                        name: "max_depth",
                        value: self.options.max_depth,
                    }));
                }
                self.folders += 1;
                self.has_files = true;
                self.set(node, FILES);
                Object::Files
            }
            Value::Integrity(node) => {
                (self.algorithm, self.hash) = (false, None);
                Object::Integrity(node)
            }
            Value::Skipped | Value::Algorithm | Value::Hash => Object::Skipped,
            _ => return self.other(at),
        };
        self.value = Value::Skipped;
        self.frames.push(Frame {
            object,
            names: self.names.len() as u32,
            path: self.path.len() as u32,
        });
        Ok(())
    }

    fn name(&mut self, name: &[u8], at: u64) -> Result<(), Fault> {
        let Some(&frame) = self.frames.last() else {
            return Ok(());
        };
        self.names.push(Name {
            start: self.name_bytes.len() as u32,
            len: name.len() as u32,
            at: at as u32,
        });
        self.name_bytes.extend_from_slice(name);
        self.value = match (frame.object, name) {
            (Object::Files, _) => Value::Node(self.entry(frame, name)?),
            (Object::Node(node), b"files") => Value::Files(node),
            (Object::Node(ROOT), _) => Value::Skipped,
            (Object::Node(node), b"link") => {
                self.link_from = self.links.len();
                Value::Link(node)
            }
            (Object::Node(node), b"size") => Value::Size(node),
            (Object::Node(node), b"offset") => Value::Offset(node),
            (Object::Node(node), b"unpacked") => Value::Unpacked(node),
            (Object::Node(node), b"executable") => Value::Executable(node),
            (Object::Node(node), b"integrity") => Value::Integrity(node),
            (Object::Integrity(_), b"algorithm") => Value::Algorithm,
            (Object::Integrity(_), b"hash") => Value::Hash,
            _ => Value::Skipped,
        };
        Ok(())
    }

    /// Lists an entry; what it is, its members will tell.
    fn entry(&mut self, folder: Frame, name: &[u8]) -> Result<u32, Fault> {
        let limit = |name, value| Err(Fault::Limit(Limit { name, value }));
        if self.listing.members.len() as u64 >= self.options.max_entries {
            return limit("max_entries", self.options.max_entries);
        }
        self.path.truncate(folder.path as usize);
        if self.folders > 1 {
            self.path.push(ASAR_SEPARATOR);
        }
        self.path.extend_from_slice(name);
        if self.path.len() > MAX_PATH {
            return limit("path bytes", MAX_PATH as u64);
        }
        let name = match self.listing.push_name(&self.path) {
            Some(name) if self.listing.names.len() <= MAX_ALL => name,
            _ => return limit("all path bytes", MAX_ALL as u64),
        };
        let index = self.listing.members.len() as u32;
        self.listing.members.push(Member {
            name,
            size: UNKNOWN,
            compressed: UNKNOWN,
            at: 0,
            word: 0,
            name_crc: 0,
            method: 0,
            flags: 0,
            mode: NO_MODE,
            kind: MemberKind::File,
            notes: Notes::default(),
        });
        Ok(index)
    }

    fn member(&mut self, node: u32) -> Option<&mut Member> {
        self.listing.members.get_mut(node as usize)
    }

    fn set(&mut self, node: u32, flag: u16) {
        if let Some(member) = self.member(node) {
            member.flags |= flag;
        }
    }

    fn flag(&mut self, node: u32, flag: u16, value: bool) -> Result<(), Fault> {
        if value {
            self.set(node, flag);
        }
        Ok(())
    }

    fn size(&mut self, node: u32, value: f64, lexeme: &[u8], at: u64) -> Result<(), Fault> {
        let digits = lexeme.iter().all(u8::is_ascii_digit);
        let size = if digits {
            std::str::from_utf8(lexeme)
                .ok()
                .and_then(|text| text.parse().ok())
        } else {
            // `1e3` and `4.0` are whole numbers too.
            let whole =
                value.fract() == 0.0 && (0.0..9e15).contains(&value) && !lexeme.starts_with(b"-");
            whole.then_some(value as u64)
        };
        match size.filter(|size| *size <= i64::MAX as u64) {
            Some(size) => {
                if let Some(member) = self.member(node) {
                    member.flags |= SIZE;
                    member.size = size;
                }
                Ok(())
            }
            None => {
                Err(Damage::format(at, "a size is no whole number that a file can have").into())
            }
        }
    }

    fn text(&mut self, part: &[u8], last: bool, at: u64) -> Result<(), Fault> {
        match self.value {
            Value::Link(node) => {
                self.links.extend_from_slice(part);
                let (start, len) = (self.link_from, self.links.len() - self.link_from);
                if let Some(member) = self.member(node).filter(|_| last) {
                    member.flags |= LINK;
                    (member.word, member.name_crc) = (start as u32, len as u32);
                }
                return Ok(());
            }
            Value::Offset(_) | Value::Algorithm | Value::Hash => {}
            _ => return self.other(at),
        }
        let room = (MAX_TEXT + 1).saturating_sub(self.text.len());
        self.text.extend(part.iter().take(room));
        if !last {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        match self.value {
            Value::Algorithm => self.algorithm = text == b"SHA256",
            Value::Hash => self.hash = Digest::from_hex(&text),
            Value::Offset(node) => {
                let Some(offset) = decimal(&text) else {
                    let text = "an offset is not a number in decimal digits";
                    return Err(Damage::format(at, text).into());
                };
                if let Some(member) = self.member(node) {
                    member.flags |= OFFSET;
                    member.at = offset;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, at: u64) -> Result<(), Fault> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        self.check_names(frame)?;
        self.value = Value::Skipped;
        match frame.object {
            Object::Files => {
                self.folders -= 1;
                self.path.truncate(frame.path as usize);
            }
            Object::Integrity(node) => {
                if let (true, Some(hash)) = (self.algorithm, self.hash) {
                    self.declared.push((node, hash));
                }
            }
            Object::Node(ROOT) if !self.has_files => {
                return Err(Damage::format(at, "the header lists no files").into());
            }
            Object::Node(node) => self.settle(node, at)?,
            Object::Skipped => {}
        }
        Ok(())
    }

    /// A name that stands twice makes the object ambiguous.
    fn check_names(&mut self, frame: Frame) -> Result<(), Fault> {
        let Some(names) = self.names.get_mut(frame.names as usize..) else {
            return Ok(());
        };
        let start = names.first().map(|name| name.start as usize);
        let bytes = &self.name_bytes;
        let text = |name: &Name| {
            let start = name.start as usize;
            bytes.get(start..start + name.len as usize)
        };
        if names.len() > 1 {
            names.sort_unstable_by(|a, b| text(a).cmp(&text(b)).then(a.at.cmp(&b.at)));
            let pairs = names.iter().zip(names.iter().skip(1));
            let second = pairs
                .filter(|(a, b)| text(a) == text(b))
                .map(|(_, b)| b.at)
                .min();
            if let Some(at) = second {
                let text = "a member name stands twice in an object of the header";
                return Err(Damage::format(at.into(), text).into());
            }
        }
        self.names.truncate(frame.names as usize);
        if let Some(start) = start {
            self.name_bytes.truncate(start);
        }
        Ok(())
    }

    /// All of an entry has been read: what is it?
    fn settle(&mut self, node: u32, at: u64) -> Result<(), Fault> {
        let (data, end) = (self.data, self.source_len);
        let Some(member) = self.member(node) else {
            return Ok(());
        };
        let damage = |text: &str| Err(Damage::format(at, text).into());
        let has = |flag| member.flags & flag != 0;
        if has(FILES) {
            member.kind = MemberKind::Directory;
            member.size = UNKNOWN;
            return Ok(());
        }
        if has(LINK) {
            member.kind = MemberKind::Symlink;
            member.size = UNKNOWN;
            return Ok(());
        }
        if !has(SIZE) {
            return damage("an entry has neither files nor a link nor a size");
        }
        let (packed, offset) = (!has(UNPACKED), has(OFFSET));
        member.mode = if has(EXECUTABLE) { 0o755 } else { 0o644 };
        if !packed || member.size == 0 {
            member.at = data;
            return Ok(());
        }
        if !offset {
            return damage("a file has no offset");
        }
        let range = data
            .checked_add(member.at)
            .and_then(|start| Some((start, start.checked_add(member.size)?)));
        match range {
            Some((start, stop)) if stop <= end => {
                member.at = start;
                Ok(())
            }
            _ => damage("a file does not end before the archive does"),
        }
    }
}

/// A number as a packer writes it: digits, no leading zeros.
fn decimal(text: &[u8]) -> Option<u64> {
    let canonical = text == b"0" || !text.starts_with(b"0") && text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok()?;
    canonical.then(|| text.parse().ok()).flatten()
}
