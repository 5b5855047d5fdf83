//! Local headers, member data and data descriptors (APPNOTE 4.3.7 to 4.3.9).

use std::sync::atomic::Ordering;

use flate2::{FlushDecompress, Status};

use super::{LOCAL_HEADER, Zip};
use crate::artifact::containers::{Damage, Fault, Member, Out, Reading, Scratch};
use crate::artifact::limitation::{Limitation, Note, counted};
use crate::artifact::source::Source;

const ENCRYPTED: u16 = 1;
const DESCRIPTOR: u16 = 1 << 3;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const DEFLATE64: u16 = 9;
/// A deflate stream of no bytes: one final block with fixed codes.
const EMPTY_DEFLATE: [u8; 2] = [3, 0];

/// Where a member's stored bytes stand.
struct Data {
    start: u64,
    len: u64,
    disagrees: bool,
}

/// Whether the stored bytes are the content.
pub(super) fn is_stored(member: &Member) -> bool {
    member.method == STORED && member.flags & ENCRYPTED == 0
}

/// Whether there is a way to read its bytes at all: an unknown method or
/// encryption may be a lie only as [`Zip::method_to_use`] says.
pub(super) fn may_be_read(member: &Member) -> bool {
    let encrypted = member.flags & ENCRYPTED != 0;
    match member.method {
        _ if member.compressed == member.size => true,
        DEFLATED => true,
        STORED | DEFLATE64 => !encrypted,
        _ => false,
    }
}

/// What decoding came to.
struct Decoded {
    crc: u32,
    size: u64,
    /// Stored bytes that the decoder needed.
    used: u64,
}

impl Zip {
    pub(super) fn read_member(
        &self,
        index: usize,
        keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault> {
        let member = &self.listing.members[index];
        let data = self.locate(member)?;
        let (end, descriptor_fits) = self.end_of(member, &data);
        self.ends[index].store(end, Ordering::Relaxed);
        let mut reading = Reading::default();
        if data.disagrees || !descriptor_fits {
            reading.notes.add(Note::HeadersDisagree);
        }
        let method = self.method_to_use(member, &data, scratch, &mut reading)?;
        let most = if keep_going { u64::MAX } else { member.size };
        let decoded = self.decode(member, &data, method, most, scratch, out)?;
        if decoded.used < data.len {
            let range = (data.start + decoded.used, data.start + data.len);
            if let Ok(mut unused) = self.unused.lock() {
                unused.push(range);
            }
        }
        if let Some(text) = contradiction(member, &decoded) {
            let damage = Damage::integrity(data.start, text);
            if !keep_going {
                return Err(damage.into());
            }
            reading.contradiction = Some(damage);
        }
        Ok(reading)
    }

    pub(super) fn stored_region(&self, index: usize) -> Option<Source> {
        let member = self.listing.members.get(index)?;
        if !is_stored(member) {
            return None;
        }
        let data = self.locate(member).ok()?;
        self.source.region(data.start, data.len)
    }

    /// Reads the local header and compares it with the central one.
    fn locate(&self, member: &Member) -> Result<Data, Fault> {
        let len = self.source.len();
        let shown = self.header_at(member).unwrap_or(member.at).min(len);
        let damage = |text: &str| Damage::format(shown, text);
        let at = self
            .header_at(member)
            .ok_or_else(|| damage("its local header has a negative offset"))?;
        if at >= len {
            let text = format!("its local header is said to be at {at}, behind the end");
            return Err(Damage::format(len, text).into());
        }
        let mut window = [0u8; 512];
        let got = self.source.read_at(at, &mut window)?;
        let header = window
            .get(..got)
            .filter(|header| header.len() >= LOCAL_HEADER as usize)
            .ok_or_else(|| damage("its local header is cut"))?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(damage("its local header has no signature").into());
        }
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let word = |at: usize| u64::from(half(at)) | u64::from(half(at + 2)) << 16;
        let (name_len, extra_len) = (usize::from(half(26)), u64::from(half(28)));
        let name = match header.get(30..30 + name_len) {
            Some(name) => name.to_vec(),
            None => self
                .source
                .read_vec(at + LOCAL_HEADER, name_len)
                .map_err(|_| damage("its local header is cut"))?,
        };
        let differs = |stated: u64, central: u64| {
            stated != central && stated != 0xFFFF_FFFF && central <= 0xFFFF_FFFF
        };
        let disagrees = crc32fast::hash(&name) != member.name_crc
            || half(8) != member.method
            || half(6) & ENCRYPTED != member.flags & ENCRYPTED
            || half(6) & DESCRIPTOR == 0
                && (word(14) != u64::from(member.word)
                    || differs(word(18), member.compressed)
                    || differs(word(22), member.size));
        let start = at + LOCAL_HEADER + name_len as u64 + extra_len;
        // Data lies on the same side of the central directory as its header.
        let directory = self.end.directory;
        let end = start.checked_add(member.compressed);
        let bound = if at < directory {
            directory
        } else {
            self.source.len()
        };
        if end.is_none_or(|end| end > bound) {
            return Err(damage("its data does not end before the archive's end").into());
        }
        Ok(Data {
            start,
            len: member.compressed,
            disagrees,
        })
    }

    /// Behind the local header of a member whose data is not read.
    pub(super) fn end_of_header(&self, member: &Member) -> Option<u64> {
        let at = self.header_at(member)?;
        let header = self.source.read_vec(at, LOCAL_HEADER as usize).ok()?;
        let half = |at: usize| u64::from(header[at]) | u64::from(header[at + 1]) << 8;
        let end = at + LOCAL_HEADER + half(26) + half(28);
        if !header.starts_with(b"PK\x03\x04") || end > self.source.len() {
            return None;
        }
        // Some writers deflate the nothing that a directory holds.
        let empty = member.method == DEFLATED
            && member.size == 0
            && member.compressed == EMPTY_DEFLATE.len() as u64
            && self.source.read_vec(end, EMPTY_DEFLATE.len()).ok()? == EMPTY_DEFLATE;
        if !empty {
            return Some(end);
        }
        let data = Data {
            start: end,
            len: member.compressed,
            disagrees: false,
        };
        Some(self.end_of(member, &data).0)
    }

    /// Behind the data and its descriptor, where one is recognised: with or
    /// without signature, 32 or 64 bit. The second result tells whether a
    /// signed one says what the central header does.
    fn end_of(&self, member: &Member, data: &Data) -> (u64, bool) {
        let end = data.start + data.len;
        if member.flags & DESCRIPTOR == 0 {
            return (end, true);
        }
        let mut bytes = [0u8; 24];
        let got = self.source.read_at(end, &mut bytes).unwrap_or(0);
        let signed = bytes.starts_with(b"PK\x07\x08");
        let fields = if signed { &bytes[4..] } else { &bytes[..] };
        // Both sizes count: of an empty member, the stored size alone fits the
        // 64-bit form too.
        let crc = &member.word.to_le_bytes()[..];
        let sizes = [member.compressed, member.size];
        let narrow = sizes.map(|size| (size as u32).to_le_bytes()).concat();
        let wide = sizes.map(u64::to_le_bytes).concat();
        for sizes in [wide, narrow] {
            let stated = [crc, &sizes].concat();
            let len = stated.len() + if signed { 4 } else { 0 };
            if fields.starts_with(&stated) && got >= len {
                return (end + len as u64, true);
            }
        }
        if signed {
            (end + got.min(16) as u64, false)
        } else {
            (end, true)
        }
    }

    /// The method to decode with. Where the header claims encryption or an
    /// unknown method, sizes and CRC-32 may prove otherwise (decision 8).
    fn method_to_use(
        &self,
        member: &Member,
        data: &Data,
        scratch: &mut Scratch,
        reading: &mut Reading,
    ) -> Result<u16, Fault> {
        let encrypted = member.flags & ENCRYPTED != 0;
        let known = matches!(member.method, STORED | DEFLATED | DEFLATE64);
        if known && !encrypted {
            return Ok(member.method);
        }
        if !may_be_read(member) {
            return Err(unavailable(member));
        }
        let method = match member.compressed == member.size {
            true => STORED,
            false => DEFLATED,
        };
        let trial = self.decode(member, data, method, member.size, scratch, &mut |_| Ok(()));
        match trial {
            Ok(decoded) if contradiction(member, &decoded).is_none() => {
                reading.notes.add(if encrypted {
                    Note::StoredDespiteEncryption
                } else {
                    Note::StoredDespiteMethod
                });
                Ok(method)
            }
            Err(fault @ (Fault::Stop(_) | Fault::Io(..))) => Err(fault),
            _ => Err(unavailable(member)),
        }
    }

    fn decode(
        &self,
        member: &Member,
        data: &Data,
        method: u16,
        most: u64,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Decoded, Fault> {
        let mut crc = crc32fast::Hasher::new();
        let mut size = 0u64;
        let mut take = |bytes: &[u8]| -> Result<(), Fault> {
            size += bytes.len() as u64;
            if size > most {
                let text = format!(
                    "it expands beyond its declared size of {}",
                    counted(member.size, "byte", "bytes")
                );
                return Err(Damage::integrity(data.start, text).into());
            }
            crc.update(bytes);
            out(bytes)
        };
        let used = match method {
            STORED => self.copy(data, scratch, &mut take)?,
            DEFLATED => self.inflate(data, scratch, &mut take)?,
            _ => self.inflate64(data, scratch, &mut take)?,
        };
        Ok(Decoded {
            crc: crc.finalize(),
            size,
            used,
        })
    }

    fn copy(&self, data: &Data, scratch: &mut Scratch, out: &mut Out<'_>) -> Result<u64, Fault> {
        let mut done = 0;
        while done < data.len {
            let got = self.fill(data, done, &mut scratch.input)?;
            out(&scratch.input[..got])?;
            done += got as u64;
        }
        Ok(done)
    }

    /// Stored bytes from `done` on, at least one.
    fn fill(&self, data: &Data, done: u64, buffer: &mut [u8]) -> Result<usize, Fault> {
        let want =
            usize::try_from(data.len - done).map_or(buffer.len(), |rest| rest.min(buffer.len()));
        match self
            .source
            .read_at(data.start + done, &mut buffer[..want])?
        {
            0 => Err(Damage::format(data.start + done, "the archive ends inside its data").into()),
            got => Ok(got),
        }
    }

    fn inflate(&self, data: &Data, scratch: &mut Scratch, out: &mut Out<'_>) -> Result<u64, Fault> {
        scratch.inflate.reset(false);
        let Scratch {
            input,
            output,
            inflate,
        } = scratch;
        let mut read = 0u64;
        let mut filled = 0..0;
        loop {
            if filled.is_empty() && read < data.len {
                let got = self.fill(data, read, input)?;
                read += got as u64;
                filled = 0..got;
            }
            let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
            let status = inflate
                .decompress(&input[filled.clone()], output, FlushDecompress::None)
                .map_err(|_| {
                    let at = data.start + inflate_position(read, &filled);
                    Damage::format(at, "its deflate stream is malformed")
                })?;
            filled.start += (inflate.total_in() - before_in) as usize;
            let made = (inflate.total_out() - before_out) as usize;
            out(&output[..made])?;
            if status == Status::StreamEnd {
                return Ok(inflate.total_in());
            }
            if made == 0 && filled.is_empty() && read >= data.len {
                let at = data.start + data.len;
                return Err(Damage::format(at, "its deflate stream is cut").into());
            }
        }
    }

    fn inflate64(
        &self,
        data: &Data,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<u64, Fault> {
        let Scratch { input, output, .. } = scratch;
        let mut inflate = Box::new(deflate64::InflaterManaged::new());
        let mut read = 0u64;
        let mut filled = 0..0;
        loop {
            if filled.is_empty() && read < data.len {
                let got = self.fill(data, read, input)?;
                read += got as u64;
                filled = 0..got;
            }
            let made = inflate.inflate(&input[filled.clone()], output);
            filled.start += made.bytes_consumed;
            let at = data.start + inflate_position(read, &filled);
            if made.data_error {
                return Err(Damage::format(at, "its deflate64 stream is malformed").into());
            }
            out(&output[..made.bytes_written])?;
            if inflate.finished() {
                return Ok(at - data.start);
            }
            let moved = made.bytes_written > 0 || made.bytes_consumed > 0;
            if !moved && (read >= data.len || !filled.is_empty()) {
                return Err(Damage::format(at, "its deflate64 stream is cut").into());
            }
        }
    }
}

fn inflate_position(read: u64, filled: &std::ops::Range<usize>) -> u64 {
    read - filled.len() as u64
}

/// What contradicts the central header, in words.
fn contradiction(member: &Member, decoded: &Decoded) -> Option<String> {
    if decoded.size != member.size {
        return Some(format!(
            "its size is {}, the archive declares {}",
            counted(decoded.size, "byte", "bytes"),
            member.size
        ));
    }
    (decoded.crc != member.word).then(|| {
        format!(
            "its CRC-32 is {:08x}, the archive declares {:08x}",
            decoded.crc, member.word
        )
    })
}

fn unavailable(member: &Member) -> Fault {
    if member.flags & ENCRYPTED != 0 {
        return Fault::Unavailable(Note::Encrypted);
    }
    let text = format!(
        "It is compressed by method {}, which is not supported; its content was not read.",
        member.method
    );
    Fault::UnavailableBecause(Limitation::new(107, text))
}
