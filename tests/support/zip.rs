//! A ZIP writer that can lie about everything.
//!
//! An [`Entry`] starts out honest; every header field can then be changed on
//! its own, in the local and in the central header. [`Zip::build`] writes
//! what it is told and checks nothing.

use std::io::Write;

pub const STORED: u16 = 0;
pub const DEFLATED: u16 = 8;
pub const DEFLATE64: u16 = 9;
pub const ENCRYPTED: u16 = 1;
pub const DESCRIPTOR: u16 = 1 << 3;
pub const UTF8: u16 = 1 << 11;
/// Host system in "version made by".
pub const DOS: u16 = 0;
pub const UNIX: u16 = 3 << 8;

/// What a header says of an entry.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
    pub extra: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub local: Header,
    pub central: Header,
    pub made_by: u16,
    pub external: u32,
    pub comment: Vec<u8>,
    /// The member's bytes as they stand in the archive.
    pub payload: Vec<u8>,
    /// What follows them.
    pub descriptor: Vec<u8>,
    /// Where the central header says the local one is; `None`: the truth.
    pub at: Option<u64>,
    /// Bytes in front of the local header.
    pub before: Vec<u8>,
    /// Whether a local header and data are written at all.
    pub has_local: bool,
}

pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

impl Entry {
    fn new(name: impl AsRef<[u8]>, method: u16, payload: Vec<u8>, content: &[u8]) -> Self {
        let name = name.as_ref();
        let utf8 = !name.is_ascii() && std::str::from_utf8(name).is_ok();
        let header = Header {
            name: name.to_vec(),
            flags: if utf8 { UTF8 } else { 0 },
            method,
            crc: crc32(content),
            compressed: payload.len() as u64,
            size: content.len() as u64,
            extra: Vec::new(),
        };
        Self {
            local: header.clone(),
            central: header,
            made_by: UNIX | 30,
            external: 0o100_644 << 16,
            comment: Vec::new(),
            payload,
            descriptor: Vec::new(),
            at: None,
            before: Vec::new(),
            has_local: true,
        }
    }

    pub fn stored(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        Self::new(name, STORED, content.to_vec(), content)
    }

    pub fn deflated(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        Self::new(name, DEFLATED, deflate(content), content)
    }

    /// Payload, sizes and checksum as they are given.
    pub fn raw(name: impl AsRef<[u8]>, method: u16, payload: Vec<u8>, size: u64, crc: u32) -> Self {
        let mut entry = Self::new(name, method, payload, b"");
        for header in [&mut entry.local, &mut entry.central] {
            header.size = size;
            header.crc = crc;
        }
        entry
    }

    /// A directory; the name ends with `/`.
    pub fn directory(name: impl AsRef<[u8]>) -> Self {
        let mut entry = Self::stored(name, b"");
        entry.external = 0o040_755 << 16 | 0x10;
        entry
    }

    pub fn symlink(name: impl AsRef<[u8]>, target: &[u8]) -> Self {
        let mut entry = Self::stored(name, target);
        entry.external = 0o120_777 << 16;
        entry
    }

    /// Changes both headers alike.
    pub fn both(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    pub fn local(mut self, change: impl FnOnce(&mut Header)) -> Self {
        change(&mut self.local);
        self
    }

    pub fn central(mut self, change: impl FnOnce(&mut Header)) -> Self {
        change(&mut self.central);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Sizes and checksum move behind the data.
    pub fn described(mut self, signed: bool, wide: bool) -> Self {
        let truth = self.central.clone();
        self = self.both(|header| header.flags |= DESCRIPTOR);
        self = self.local(|header| {
            header.crc = 0;
            header.size = 0;
            header.compressed = 0;
        });
        self.descriptor = descriptor(signed, wide, truth.crc, truth.compressed, truth.size);
        self
    }

    /// Sizes of the central header in a ZIP64 extra field.
    pub fn zip64(mut self) -> Self {
        let values = [self.central.size, self.central.compressed];
        let field = extra(1, &values.map(u64::to_le_bytes).concat());
        self.central.extra.extend(field);
        self.central.size = 0xFFFF_FFFF;
        self.central.compressed = 0xFFFF_FFFF;
        self
    }
}

pub fn descriptor(signed: bool, wide: bool, crc: u32, compressed: u64, size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if signed {
        bytes.extend(b"PK\x07\x08");
    }
    bytes.extend(crc.to_le_bytes());
    for number in [compressed, size] {
        if wide {
            bytes.extend(number.to_le_bytes());
        } else {
            bytes.extend((number as u32).to_le_bytes());
        }
    }
    bytes
}

/// One extra field.
pub fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    let mut field = id.to_le_bytes().to_vec();
    field.extend((data.len() as u16).to_le_bytes());
    field.extend(data);
    field
}

/// The Unicode path extra field (APPNOTE 4.6.9) for a header name.
pub fn unicode_path(header_name: &[u8], path: &str) -> Vec<u8> {
    let mut data = vec![1];
    data.extend(crc32(header_name).to_le_bytes());
    data.extend(path.as_bytes());
    extra(0x7075, &data)
}

/// The end record.
#[derive(Clone, Debug)]
pub struct End {
    pub disk: u16,
    pub directory_disk: u16,
    pub count_here: u16,
    pub count: u16,
    pub directory_len: u32,
    pub directory: u32,
    pub comment: Vec<u8>,
    /// Length of the comment as stated; `None`: the truth.
    pub comment_len: Option<u16>,
}

impl End {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"PK\x05\x06".to_vec();
        let halves = [self.disk, self.directory_disk, self.count_here, self.count];
        halves
            .iter()
            .for_each(|half| out.extend(half.to_le_bytes()));
        out.extend(self.directory_len.to_le_bytes());
        out.extend(self.directory.to_le_bytes());
        let len = self.comment_len.unwrap_or(self.comment.len() as u16);
        out.extend(len.to_le_bytes());
        out.extend(&self.comment);
        out
    }

    /// An end record of nothing.
    pub fn empty() -> Self {
        Self {
            disk: 0,
            directory_disk: 0,
            count_here: 0,
            count: 0,
            directory_len: 0,
            directory: 0,
            comment: Vec::new(),
            comment_len: None,
        }
    }
}

/// The ZIP64 end record and its locator.
#[derive(Clone, Debug)]
pub struct End64 {
    pub count_here: u64,
    pub count: u64,
    pub directory_len: u64,
    pub directory: u64,
    pub disk: u32,
    pub record_at: u64,
    pub disks: u32,
}

impl End64 {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"PK\x06\x06".to_vec();
        out.extend(44u64.to_le_bytes());
        out.extend(45u16.to_le_bytes());
        out.extend(45u16.to_le_bytes());
        out.extend(self.disk.to_le_bytes());
        out.extend(self.disk.to_le_bytes());
        let numbers = [
            self.count_here,
            self.count,
            self.directory_len,
            self.directory,
        ];
        numbers.iter().for_each(|n| out.extend(n.to_le_bytes()));
        out.extend(b"PK\x06\x07");
        out.extend(0u32.to_le_bytes());
        out.extend(self.record_at.to_le_bytes());
        out.extend(self.disks.to_le_bytes());
        out
    }
}

type Change<T> = Box<dyn Fn(&mut T)>;

/// An archive: entries in the order of both local and central headers.
#[derive(Default)]
pub struct Zip {
    pub entries: Vec<Entry>,
    /// In front; offsets count from behind it unless [`Zip::absolute`].
    pub prefix: Vec<u8>,
    pub absolute: bool,
    /// Between the last member and the central directory.
    pub before_directory: Vec<u8>,
    pub comment: Vec<u8>,
    pub suffix: Vec<u8>,
    end: Option<Change<End>>,
    end64: Option<Change<End64>>,
}

impl Zip {
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            ..Self::default()
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Changes the end record.
    pub fn end(mut self, change: impl Fn(&mut End) + 'static) -> Self {
        self.end = Some(Box::new(change));
        self
    }

    /// Adds ZIP64 end records; the end record then holds all ones.
    pub fn end64(mut self, change: impl Fn(&mut End64) + 'static) -> Self {
        self.end64 = Some(Box::new(change));
        self
    }

    pub fn build(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let base = if self.absolute { 0 } else { out.len() as u64 };
        let mut offsets = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            out.extend(&entry.before);
            offsets.push(out.len() as u64 - base);
            if entry.has_local {
                local_header(&entry.local, &mut out);
                out.extend(&entry.payload);
                out.extend(&entry.descriptor);
            }
        }
        out.extend(&self.before_directory);
        let directory = out.len() as u64;
        for (entry, offset) in self.entries.iter().zip(offsets) {
            central_header(entry, entry.at.unwrap_or(offset), &mut out);
        }
        let len = out.len() as u64 - directory;
        let count = self.entries.len() as u64;
        let mut end = End {
            count_here: count as u16,
            count: count as u16,
            directory_len: len as u32,
            directory: (directory - base) as u32,
            comment: self.comment.clone(),
            ..End::empty()
        };
        if let Some(change) = &self.end64 {
            let mut end64 = End64 {
                count_here: count,
                count,
                directory_len: len,
                directory: directory - base,
                disk: 0,
                record_at: out.len() as u64 - base,
                disks: 1,
            };
            change(&mut end64);
            out.extend(end64.bytes());
            end.count_here = 0xFFFF;
            end.count = 0xFFFF;
            end.directory_len = 0xFFFF_FFFF;
            end.directory = 0xFFFF_FFFF;
        }
        if let Some(change) = &self.end {
            change(&mut end);
        }
        out.extend(end.bytes());
        out.extend(&self.suffix);
        out
    }
}

pub fn local_header(header: &Header, out: &mut Vec<u8>) {
    out.extend(b"PK\x03\x04");
    out.extend(20u16.to_le_bytes());
    out.extend(header.flags.to_le_bytes());
    out.extend(header.method.to_le_bytes());
    out.extend([0; 4]); // time and date
    out.extend(header.crc.to_le_bytes());
    out.extend((header.compressed as u32).to_le_bytes());
    out.extend((header.size as u32).to_le_bytes());
    out.extend((header.name.len() as u16).to_le_bytes());
    out.extend((header.extra.len() as u16).to_le_bytes());
    out.extend(&header.name);
    out.extend(&header.extra);
}

pub fn central_header(entry: &Entry, at: u64, out: &mut Vec<u8>) {
    let header = &entry.central;
    let mut extra_field = header.extra.clone();
    let at32 = u32::try_from(at).unwrap_or_else(|_| {
        // The offset joins the ZIP64 field, behind the sizes where they are.
        match extra_field.as_mut_slice() {
            [1, 0, len, 0, ..] => {
                *len += 8;
                extra_field.extend(at.to_le_bytes());
            }
            _ => extra_field.extend(extra(1, &at.to_le_bytes())),
        }
        u32::MAX
    });
    out.extend(b"PK\x01\x02");
    out.extend(entry.made_by.to_le_bytes());
    out.extend(20u16.to_le_bytes());
    out.extend(header.flags.to_le_bytes());
    out.extend(header.method.to_le_bytes());
    out.extend([0; 4]);
    out.extend(header.crc.to_le_bytes());
    out.extend((header.compressed as u32).to_le_bytes());
    out.extend((header.size as u32).to_le_bytes());
    out.extend((header.name.len() as u16).to_le_bytes());
    out.extend((extra_field.len() as u16).to_le_bytes());
    out.extend((entry.comment.len() as u16).to_le_bytes());
    out.extend([0; 2]); // disk
    out.extend([0; 2]); // internal attributes
    out.extend(entry.external.to_le_bytes());
    out.extend(at32.to_le_bytes());
    out.extend(&header.name);
    out.extend(&extra_field);
    out.extend(&entry.comment);
}

/// An honest archive of stored members.
pub fn stored(members: &[(&str, &[u8])]) -> Vec<u8> {
    let entries = members
        .iter()
        .map(|(name, bytes)| Entry::stored(name, bytes));
    Zip::of(entries).build()
}

/// An honest archive of deflated members.
pub fn deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    let entries = members
        .iter()
        .map(|(name, bytes)| Entry::deflated(name, bytes));
    Zip::of(entries).build()
}

/// A deflate stream of `len` zero bytes and their CRC-32, made piecewise.
pub fn zeros(len: u64) -> (Vec<u8>, u32) {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let mut crc = crc32fast::Hasher::new();
    let block = vec![0u8; 1 << 20];
    let mut left = len;
    while left > 0 {
        let part = left.min(block.len() as u64) as usize;
        encoder.write_all(&block[..part]).unwrap();
        crc.update(&block[..part]);
        left -= part as u64;
    }
    (encoder.finish().unwrap(), crc.finalize())
}

/// Full overlap: `count` central headers share one member.
pub fn full_overlap(count: usize, size: u64) -> Vec<u8> {
    let (payload, crc) = zeros(size);
    let kernel = Entry::raw("0", DEFLATED, payload, size, crc);
    let mut zip = Zip::of([kernel.clone()]);
    for number in 1..count {
        zip.entries.push(kernel.clone().with(|entry| {
            entry.central.name = number.to_string().into_bytes();
            entry.has_local = false;
            entry.at = Some(0);
        }));
    }
    zip.build()
}

/// Quoted overlap (Fifield 2019, section "Second discovery"): the data of each
/// member is a stored block that quotes the next local header, and then the
/// data of that one, down to one common kernel.
pub fn quoted_overlap(count: usize, kernel_size: u64) -> Vec<u8> {
    let (kernel, kernel_crc) = zeros(kernel_size);
    // From the last member, which is the kernel alone, to the first.
    let mut entries = vec![Entry::raw(
        format!("{:04}", count - 1),
        DEFLATED,
        kernel.clone(),
        kernel_size,
        kernel_crc,
    )];
    let mut tail = kernel;
    let mut size = kernel_size;
    let mut crc = crc32fast::Hasher::new_with_initial_len(kernel_crc, kernel_size);
    for number in (0..count - 1).rev() {
        let next = &entries[entries.len() - 1];
        let mut header = Vec::new();
        local_header(&next.local, &mut header);
        let len = header.len() as u16;
        let mut payload = vec![0];
        payload.extend(len.to_le_bytes());
        payload.extend((!len).to_le_bytes());
        payload.extend(&header);
        payload.extend(&tail);
        let mut whole = crc32fast::Hasher::new();
        whole.update(&header);
        whole.combine(&crc);
        size += header.len() as u64;
        let name = format!("{number:04}");
        let entry = Entry::raw(
            name,
            DEFLATED,
            payload.clone(),
            size,
            whole.clone().finalize(),
        );
        crc = whole;
        tail = payload;
        entries.push(entry);
    }
    entries.reverse();
    // Written once: the first member holds all others.
    let mut at = 0;
    for entry in entries.iter_mut() {
        entry.at = Some(at);
        at += 30 + entry.local.name.len() as u64 + 5;
    }
    entries[1..]
        .iter_mut()
        .for_each(|entry| entry.has_local = false);
    Zip::of(entries).build()
}

/// An archive whose only member is the archive itself, after Russ Cox, "Zip
/// Files All The Way Down" (2010): a deflate stream of literals `L` and
/// repeats `R` that prints itself with the headers around it. The CRC-32
/// occurs in the bytes it is the checksum of; as it is affine in them, its
/// fixed point is the solution of 32 linear equations.
pub fn quine() -> Vec<u8> {
    with_its_own_crc(quine_with)
}

/// A gzip stream that decompresses to itself, made in the same way (RFC 1952).
pub fn gzip_quine() -> Vec<u8> {
    with_its_own_crc(|crc, salt| {
        // An extra field fills the header up to 60 bytes.
        let mut head = vec![0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 255, 48, 0];
        head.extend(salt.to_le_bytes());
        head.resize(60, 0);
        let tail = |size: usize| [crc.to_le_bytes(), (size as u32).to_le_bytes()].concat();
        let size = 60 + quine_stream(&head, &tail(0)).len() + 8;
        let tail = tail(size);
        [head.clone(), quine_stream(&head, &tail), tail].concat()
    })
}

/// Bytes that hold their own CRC-32.
fn with_its_own_crc(make: impl Fn(u32, u16) -> Vec<u8>) -> Vec<u8> {
    let solved = (0..=u16::MAX).find_map(|salt| {
        let of = |crc: u32| crc32(&make(crc, salt));
        let zero = of(0);
        // (A + I) c = zero, where A is the linear part of `of`.
        let columns: Vec<u32> = (0..32).map(|i| of(1 << i) ^ zero ^ (1 << i)).collect();
        solve(&columns, zero)
            .filter(|&crc| of(crc) == crc)
            .map(|crc| make(crc, salt))
    });
    solved.expect("some salt gives equations that can be solved")
}

/// Solves a system of 32 equations in GF(2).
fn solve(columns: &[u32], right: u32) -> Option<u32> {
    let mut rows: Vec<u64> = (0..32)
        .map(|row| {
            let bits = (0..32).fold(0u64, |bits, column| {
                bits | u64::from(columns[column] >> row & 1) << column
            });
            bits | u64::from(right >> row & 1) << 32
        })
        .collect();
    for column in 0..32 {
        let pivot = (column..32).find(|&row| rows[row] >> column & 1 == 1)?;
        rows.swap(column, pivot);
        for row in 0..32 {
            if row != column && rows[row] >> column & 1 == 1 {
                rows[row] ^= rows[column];
            }
        }
    }
    Some((0..32).fold(0, |value, row| {
        value | ((rows[row] >> 32) as u32 & 1) << row
    }))
}

fn quine_with(crc: u32, salt: u16) -> Vec<u8> {
    // The header is 60 bytes, so that the repeat of it and one literal's
    // header (65 bytes) fits into exactly five bytes.
    let mut padding = vec![0; 17];
    padding[..2].copy_from_slice(&salt.to_le_bytes());
    let make = |compressed: usize, size: usize| {
        let mut entry = Entry::raw("quine.zip", DEFLATED, Vec::new(), size as u64, crc);
        entry.local.extra = extra(0xCAFE, &padding);
        entry = entry.both(|header| header.compressed = compressed as u64);
        let mut head = Vec::new();
        local_header(&entry.local, &mut head);
        let mut tail = Vec::new();
        central_header(&entry, 0, &mut tail);
        let end = End {
            count_here: 1,
            count: 1,
            directory_len: tail.len() as u32,
            directory: (head.len() + compressed) as u32,
            ..End::empty()
        };
        tail.extend(end.bytes());
        (head, tail)
    };
    let (head, tail) = make(0, 0);
    let stream_len = quine_stream(&head, &tail).len();
    let (head, tail) = make(stream_len, head.len() + stream_len + tail.len());
    [head.clone(), quine_stream(&head, &tail), tail].concat()
}

fn quine_stream(head: &[u8], tail: &[u8]) -> Vec<u8> {
    let literal = |len: usize| {
        let len = len as u16;
        let mut block = vec![0];
        block.extend(len.to_le_bytes());
        block.extend((!len).to_le_bytes());
        block
    };
    // Repeats as blocks of fixed codes.
    let repeat_head = {
        assert_eq!(head.len() + 5, 65);
        let mut bits = Bits::default();
        bits.block(false);
        bits.copy(65, 65);
        bits.end();
        bits.block(false); // an empty block fills the fifth byte
        bits.end();
        bits.exactly(40)
    };
    let repeat_four = {
        let mut bits = Bits::default();
        bits.block(false);
        bits.copy(10, 20);
        bits.copy(10, 20);
        bits.end();
        bits.exactly(40)
    };
    let repeat_tail = {
        let count = 4 + tail.len();
        let mut bits = Bits::default();
        bits.block(true);
        bits.copy(count, count);
        bits.end();
        let bytes = bits.bytes;
        assert_eq!(bytes.len(), 4);
        bytes
    };
    let l0 = literal(0);
    let l1 = literal(5);
    let l4 = literal(20);
    let l_head = literal(head.len() + 5);
    let l_tail = literal(repeat_tail.len() + tail.len());
    let parts: [&[u8]; 35] = [
        &l_head,
        head,
        &l_head,
        &repeat_head,
        &l1,
        &repeat_head,
        &l1,
        &l1,
        &l4,
        &repeat_head,
        &l1,
        &l1,
        &l4,
        &repeat_four,
        &l4,
        &repeat_four,
        &l4,
        &repeat_four,
        &l4,
        &repeat_four,
        &l4,
        &repeat_four,
        &l0,
        &l0,
        &l_tail,
        &repeat_four,
        &l0,
        &l0,
        &l_tail,
        &repeat_tail,
        tail,
        &repeat_tail,
        &[],
        &[],
        &[],
    ];
    parts.concat()
}

/// Bits as deflate packs them.
#[derive(Default)]
pub struct Bits {
    pub bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    /// A number, lowest bit first.
    pub fn number(&mut self, value: usize, bits: usize) {
        for bit in 0..bits {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if value >> bit & 1 == 1 {
                *self.bytes.last_mut().unwrap() |= 1 << (self.count % 8);
            }
            self.count += 1;
        }
    }

    /// A Huffman code, highest bit first.
    pub fn code(&mut self, value: usize, bits: usize) {
        (0..bits)
            .rev()
            .for_each(|bit| self.number(value >> bit & 1, 1));
    }

    /// Starts a block of fixed codes.
    pub fn block(&mut self, last: bool) {
        self.number(usize::from(last), 1);
        self.number(1, 2);
    }

    pub fn end(&mut self) {
        self.code(0, 7);
    }

    fn copy(&mut self, len: usize, distance: usize) {
        const LENGTHS: [(usize, usize); 21] = [
            (3, 0),
            (4, 0),
            (5, 0),
            (6, 0),
            (7, 0),
            (8, 0),
            (9, 0),
            (10, 0),
            (11, 1),
            (13, 1),
            (15, 1),
            (17, 1),
            (19, 2),
            (23, 2),
            (27, 2),
            (31, 2),
            (35, 3),
            (43, 3),
            (51, 3),
            (59, 3),
            (67, 4),
        ];
        let index = LENGTHS.iter().rposition(|&(from, _)| from <= len).unwrap();
        let (from, extra) = LENGTHS[index];
        self.code(index + 1, 7);
        self.number(len - from, extra);
        const DISTANCES: [(usize, usize); 14] = [
            (1, 0),
            (2, 0),
            (3, 0),
            (4, 0),
            (5, 1),
            (7, 1),
            (9, 2),
            (13, 2),
            (17, 3),
            (25, 3),
            (33, 4),
            (49, 4),
            (65, 5),
            (97, 5),
        ];
        let index = DISTANCES
            .iter()
            .rposition(|&(from, _)| from <= distance)
            .unwrap();
        let (from, extra) = DISTANCES[index];
        self.code(index, 5);
        self.number(distance - from, extra);
    }

    fn exactly(self, bits: usize) -> Vec<u8> {
        assert_eq!(self.count, bits);
        self.bytes
    }
}

/// `levels` archives, each the only member of the next.
pub fn nested(levels: usize, innermost: &[u8]) -> Vec<u8> {
    let mut archive = stored(&[("0", innermost)]);
    for _ in 1..levels {
        archive = Zip::of([Entry::stored("n", &archive)]).build();
    }
    archive
}

#[test]
fn the_quine_prints_itself() {
    use std::io::Read;
    let quine = quine();
    let mut printed = Vec::new();
    let stream = &quine[60..];
    flate2::read::DeflateDecoder::new(stream)
        .read_to_end(&mut printed)
        .unwrap();
    assert_eq!(printed, quine);
}
