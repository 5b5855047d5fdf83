//! cpio: the text forms newc, crc (System V release 4) and odc (POSIX.1-1997,
//! cpio interchange format), and the old binary form in both byte orders.
//!
//! A header, the name, the data, each padded as the form asks; an entry named
//! `TRAILER!!!` ends an archive. Several archives one after the other, with
//! zeros between them, are one (the kernel's initramfs buffer format). Hard
//! links have one inode; the data of a file with several names stands with
//! one of them (newc: usually the last) or with each.

use std::collections::HashMap;

use super::{Entry, Input, Sink};
use crate::artifact::containers::{
    Closing, Damage, Fault, Limit, MemberKind, UNKNOWN, unaccounted,
};
use crate::artifact::limitation::{Limitation, counted};
use crate::artifact::names::MAX_PATH;
use crate::artifact::options::Options;

const TRAILER: &[u8] = b"TRAILER!!!";
/// The longest header of any form.
const MOST_HEADER: usize = 110;
/// Zeros are skipped in steps of so many bytes.
const STEP: usize = 32 << 10;

/// Reads the archives up to the end of the input.
pub(crate) fn read(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    options: &Options,
) -> Result<Closing, Fault> {
    let mut archive = Archive {
        input,
        sink,
        options,
        position: 0,
        files: HashMap::new(),
        gaps: Vec::new(),
        unterminated: 0,
        contradicted: false,
    };
    loop {
        while archive.entry()? {}
        if !archive.next_archive()? {
            return Ok(archive.closing());
        }
    }
}

/// The forms of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `070701`
    New,
    /// `070702`: newc with a sum of the data's bytes.
    Crc,
    /// `070707`
    Odc,
    /// Binary, by its byte order.
    Binary { little: bool },
}

impl Form {
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [b'0', b'7', b'0', b'7', b'0', kind, ..] => match kind {
                b'1' => Some(Self::New),
                b'2' => Some(Self::Crc),
                b'7' => Some(Self::Odc),
                _ => None,
            },
            [0xC7, 0x71, ..] => Some(Self::Binary { little: true }),
            [0x71, 0xC7, ..] => Some(Self::Binary { little: false }),
            _ => None,
        }
    }

    fn header_len(self) -> usize {
        match self {
            Self::New | Self::Crc => 110,
            Self::Odc => 76,
            Self::Binary { .. } => 26,
        }
    }

    /// To a multiple of what name and data are padded; the name together with
    /// the header.
    fn alignment(self) -> u64 {
        match self {
            Self::New | Self::Crc => 4,
            Self::Odc => 1,
            Self::Binary { .. } => 2,
        }
    }
}

/// The fields of a header that matter here.
#[derive(Clone, Copy, Debug)]
struct Header {
    form: Form,
    /// Device and inode.
    file: (u64, u64),
    mode: u32,
    links: u64,
    size: u64,
    /// With the NUL behind it.
    name_size: u64,
    /// Only in [`Form::Crc`].
    sum: u32,
}

impl Header {
    /// `None` where a field is no number.
    fn parse(form: Form, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..form.header_len())?;
        match form {
            Form::New | Form::Crc => {
                let field = |index: usize| number(&bytes[6 + 8 * index..14 + 8 * index], 16);
                Some(Self {
                    form,
                    file: (field(7)? << 32 | field(8)?, field(0)?),
                    mode: field(1)? as u32,
                    links: field(4)?,
                    size: field(6)?,
                    name_size: field(11)?,
                    sum: field(12)? as u32,
                })
            }
            Form::Odc => {
                let field = |from: usize, len: usize| number(&bytes[from..from + len], 8);
                Some(Self {
                    form,
                    file: (field(6, 6)?, field(12, 6)?),
                    mode: field(18, 6)? as u32,
                    links: field(36, 6)?,
                    size: field(65, 11)?,
                    name_size: field(59, 6)?,
                    sum: 0,
                })
            }
            Form::Binary { little } => {
                let field = |index: usize| {
                    let pair = [bytes[2 * index], bytes[2 * index + 1]];
                    u64::from(if little {
                        u16::from_le_bytes(pair)
                    } else {
                        u16::from_be_bytes(pair)
                    })
                };
                Some(Self {
                    form,
                    file: (field(1), field(2)),
                    mode: field(3) as u32,
                    links: field(6),
                    // Long numbers have their upper half first, in either order.
                    size: field(11) << 16 | field(12),
                    name_size: field(10),
                    sum: 0,
                })
            }
        }
    }

    fn kind(&self) -> MemberKind {
        match self.mode >> 12 & 0o17 {
            0o04 => MemberKind::Directory,
            0o12 => MemberKind::Symlink,
            0o01 | 0o02 | 0o06 | 0o11 | 0o14 => MemberKind::Special,
            _ => MemberKind::File,
        }
    }

    /// Padding behind `len` bytes.
    fn padding(&self, len: u64) -> u64 {
        len.next_multiple_of(self.form.alignment()) - len
    }
}

/// Digits that fill a field; leading blanks count as zeros.
fn number(field: &[u8], radix: u32) -> Option<u64> {
    let digits = field.trim_ascii_start();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| {
        let digit = (byte as char).to_digit(radix)?;
        value
            .checked_mul(u64::from(radix))?
            .checked_add(u64::from(digit))
    })
}

/// A file that has several names.
#[derive(Default)]
struct Linked {
    /// The position of the last entry that has the data.
    data: Option<u32>,
    /// Entries before it that have none.
    waiting: Vec<u32>,
}

/// The archive while it is read.
struct Archive<'a, 'b> {
    input: &'a mut Input<'b>,
    sink: &'a mut dyn Sink,
    options: &'a Options,
    /// Of the next entry, as the sink counts.
    position: u32,
    /// Files with several names, by device and inode.
    files: HashMap<(u64, u64), Linked>,
    /// Bytes that belong to nothing.
    gaps: Vec<(u64, u64)>,
    /// Names without a NUL behind them.
    unterminated: u64,
    /// Whether a sum did not fit.
    contradicted: bool,
}

impl Archive<'_, '_> {
    /// Reads one entry; whether it was not the trailer.
    fn entry(&mut self) -> Result<bool, Fault> {
        let before = self.input.position();
        self.skip_zeros()?;
        let at = self.input.position();
        if at > before {
            self.gaps.push((before, at));
        }
        let header = self.header()?;
        self.input.consume(header.form.header_len());
        let name = self.name(&header)?;
        if name == TRAILER {
            return Ok(false);
        }
        let entry = Entry {
            name: &name,
            kind: header.kind(),
            size: UNKNOWN,
            mode: (header.mode & 0o7777) as u16,
        };
        match entry.kind {
            MemberKind::File => self.file(&header, entry)?,
            MemberKind::Symlink => self.with_data(&header, entry)?,
            _ => self.without_data(&header, entry)?,
        }
        Ok(true)
    }

    /// The header at hand; damage where there is none.
    fn header(&mut self) -> Result<Header, Fault> {
        let at = self.input.position();
        let bytes = self.input.peek(MOST_HEADER)?;
        let damage = |text: &str| Fault::from(Damage::format(at, text));
        if bytes.is_empty() {
            return Err(damage("the archive ends without its trailer"));
        }
        let Some(form) = Form::of(bytes) else {
            let text = if bytes.len() < 6 {
                "an entry's header is cut"
            } else {
                "an entry's header has no magic"
            };
            return Err(damage(text));
        };
        if bytes.len() < form.header_len() {
            return Err(damage("an entry's header is cut"));
        }
        Header::parse(form, bytes)
            .ok_or_else(|| damage("a field of an entry's header is no number"))
    }

    /// The name behind the header, without the NULs that end it.
    fn name(&mut self, header: &Header) -> Result<Vec<u8>, Fault> {
        if header.name_size > MAX_PATH as u64 + 1 {
            let value = MAX_PATH as u64;
            return Err(Fault::Limit(Limit {
                name: "path bytes",
                value,
            }));
        }
        let mut name = self
            .input
            .take(header.name_size as usize, "an entry's name")?;
        let len = name
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |last| last + 1);
        if len as u64 == header.name_size {
            self.unterminated += 1;
        }
        name.truncate(len);
        let before = header.form.header_len() as u64 + header.name_size;
        let padding = header.padding(before);
        // Nothing needs to follow a trailer's name.
        if name == TRAILER {
            self.input.pass(padding, &mut |_| Ok(()))?;
        } else {
            self.input.skip(padding, "the padding of an entry's name")?;
        }
        Ok(name)
    }

    /// The position of an entry that is handed over now.
    fn next_position(&mut self) -> Result<u32, Fault> {
        let position = self.position;
        self.position = position.checked_add(1).ok_or(Fault::Limit(Limit {
            name: "max_entries",
            value: self.options.max_entries,
        }))?;
        Ok(position)
    }

    fn file(&mut self, header: &Header, entry: Entry<'_>) -> Result<(), Fault> {
        let entry = Entry {
            size: header.size,
            ..entry
        };
        if header.links < 2 {
            return self.with_data(header, entry);
        }
        let position = self.position;
        let linked = self.files.entry(header.file).or_default();
        if header.size > 0 {
            linked.data = Some(position);
            let waiting = std::mem::take(&mut linked.waiting);
            self.with_data(header, entry)?;
            for member in waiting {
                self.sink.refer(member, position);
            }
            return Ok(());
        }
        match linked.data {
            Some(data) => {
                self.next_position()?;
                self.sink.same_as(
                    Entry {
                        size: UNKNOWN,
                        ..entry
                    },
                    data,
                )
            }
            None => {
                // Only these forms have the data with the last name.
                if matches!(header.form, Form::New | Form::Crc) {
                    linked.waiting.push(position);
                }
                self.with_data(header, entry)
            }
        }
    }

    fn with_data(&mut self, header: &Header, entry: Entry<'_>) -> Result<(), Fault> {
        if header.size > self.options.max_entry_bytes {
            let (name, value) = ("max_entry_bytes", self.options.max_entry_bytes);
            return Err(Fault::Limit(Limit { name, value }));
        }
        self.next_position()?;
        self.sink.begin(entry)?;
        let at = self.input.position();
        let mut sum = 0u32;
        let summed = header.form == Form::Crc && entry.kind == MemberKind::File;
        let sink = &mut *self.sink;
        let passed = self.input.pass(header.size, &mut |bytes| {
            if summed {
                sum = bytes
                    .iter()
                    .fold(sum, |sum, &byte| sum.wrapping_add(u32::from(byte)));
            }
            sink.data(bytes)
        })?;
        if passed < header.size {
            let text = "the archive ends inside a member's data";
            return Err(Damage::format(self.input.position(), text).into());
        }
        if summed && sum != header.sum {
            let stated = header.sum;
            let text =
                format!("the sum of its bytes is {sum:08x}, the archive declares {stated:08x}");
            self.sink.contradicts(Damage::integrity(at, text))?;
            self.contradicted = true;
        }
        self.sink.end()?;
        self.skip_padding(header)
    }

    /// Directories and devices: what data they have belongs to nothing.
    fn without_data(&mut self, header: &Header, entry: Entry<'_>) -> Result<(), Fault> {
        self.next_position()?;
        self.sink.begin(entry)?;
        self.sink.end()?;
        let at = self.input.position();
        self.input.skip(header.size, "the data of an entry")?;
        if header.size > 0 {
            self.gaps.push((at, at + header.size));
        }
        self.skip_padding(header)
    }

    fn skip_padding(&mut self, header: &Header) -> Result<(), Fault> {
        self.input.skip(
            header.padding(header.size),
            "the padding of a member's data",
        )
    }

    fn skip_zeros(&mut self) -> Result<(), Fault> {
        loop {
            let bytes = self.input.peek(1)?;
            let bytes = &bytes[..bytes.len().min(STEP)];
            let zeros = bytes.iter().position(|&byte| byte != 0);
            let count = zeros.unwrap_or(bytes.len());
            self.input.consume(count);
            if zeros.is_some() || count == 0 {
                return Ok(());
            }
        }
    }

    /// Goes behind a trailer to the next archive; whether there is one. What
    /// else follows the last archive belongs to nothing.
    fn next_archive(&mut self) -> Result<bool, Fault> {
        // Inodes count within one archive.
        self.files.clear();
        self.skip_zeros()?;
        let at = self.input.position();
        let bytes = self.input.peek(MOST_HEADER)?;
        let header = Form::of(bytes).and_then(|form| Header::parse(form, bytes));
        if header.is_some_and(|header| is_plausible(&header)) {
            return Ok(true);
        }
        let len = self.input.pass_all(&mut |_| Ok(()))?;
        if len > 0 {
            self.gaps.push((at, at + len));
        }
        Ok(false)
    }

    fn closing(self) -> Closing {
        let mut limitations: Vec<Limitation> = unaccounted(&self.gaps).into_iter().collect();
        if self.unterminated > 0 {
            let text = format!(
                "{} not end in NUL, and what stands there was read in full.",
                counted(self.unterminated, "name does", "names do")
            );
            limitations.insert(0, Limitation::new(101, text));
        }
        Closing {
            damage: None,
            incomplete: self.contradicted,
            limitations,
        }
    }
}

/// Whether what stands behind an archive is the header of another one, also
/// where two bytes are all of the magic.
fn is_plausible(header: &Header) -> bool {
    let known = matches!(
        header.mode >> 12 & 0o17,
        0 | 0o1 | 0o2 | 0o4 | 0o6 | 0o10 | 0o12 | 0o14
    );
    known && header.name_size > 0 && header.name_size <= MAX_PATH as u64 + 1
}
