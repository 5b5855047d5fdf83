//! Container readers: one file each, and one row in [`READERS`].
//!
//! A reader lists its members from the container's own directory and then
//! decodes any of them, from many threads at once. It never builds paths,
//! never hashes and never decides what damage means; that is the engine's.

mod ar;
mod asar;
mod universal;
mod zip;

use std::io;

use super::format::Format;
use super::limitation::{Limitation, Note, Notes, counted};
use super::names::Style;
use super::options::Options;
use super::source::Source;
use crate::digest::Digest;
use crate::error::{ArtifactReason, Error};

pub(crate) use asar::Companion;
pub(crate) use zip::{END_RECORD_REACH, find_behind as find_zip_behind};

/// A size that is not known.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// A mode that is not recorded.
pub(crate) const NO_MODE: u16 = u16::MAX;

/// What a container says an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    File,
    Directory,
    Symlink,
    /// Device, FIFO or socket.
    Special,
    /// A file that is one architecture of a universal file; where it stands
    /// in that is [`Member::at`].
    Slice,
}

impl MemberKind {
    /// Whether it has content of its own, like a file.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Slice)
    }
}

/// One entry as its container lists it. Kept small: there may be millions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Where its raw name stands in [`Listing::names`]: start and length.
    pub name: (u32, u32),
    /// Expanded size; [`UNKNOWN`] where not told.
    pub size: u64,
    /// Stored size; [`UNKNOWN`] where the format has none.
    pub compressed: u64,
    /// Where its header or data stands, as the reader needs it.
    pub at: u64,
    /// CRC-32 of the content, or an index, as the reader needs it.
    pub word: u32,
    /// CRC-32 of the raw name, as the reader needs it.
    pub name_crc: u32,
    /// Compression method or flags, as the reader needs it.
    pub method: u16,
    /// Flags of the entry, as the reader needs it.
    pub flags: u16,
    /// Permission and special bits, 0..07777; [`NO_MODE`] where not recorded.
    pub mode: u16,
    /// What it is.
    pub kind: MemberKind,
    /// What its container says of it from the start.
    pub notes: Notes,
}

/// All entries of a container, in container order.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The entries.
    pub members: Vec<Member>,
    /// Raw names, one after the other.
    pub names: Vec<u8>,
}

impl Listing {
    /// The raw name of an entry.
    pub fn name(&self, member: &Member) -> &[u8] {
        let (start, len) = member.name;
        self.names
            .get(start as usize..start as usize + len as usize)
            .unwrap_or_default()
    }

    /// Appends a name; where it stands.
    pub fn push_name(&mut self, name: &[u8]) -> Option<(u32, u32)> {
        let start = u32::try_from(self.names.len()).ok()?;
        let len = u32::try_from(name.len()).ok()?;
        start.checked_add(len)?;
        self.names.extend_from_slice(name);
        Some((start, len))
    }
}

/// What is wrong with a container, and where.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    /// `format` for structure, `integrity` for checksums and sizes.
    pub reason: ArtifactReason,
    /// Offset in the container.
    pub offset: u64,
    /// Our own words; facts only.
    pub text: String,
}

impl Damage {
    pub fn format(offset: u64, text: impl Into<String>) -> Self {
        Self {
            reason: ArtifactReason::Format,
            offset,
            text: text.into(),
        }
    }

    /// Whether bytes contradict a checksum or size.
    pub fn is_contradiction(&self) -> bool {
        self.reason == ArtifactReason::Integrity
    }

    pub fn integrity(offset: u64, text: impl Into<String>) -> Self {
        Self {
            reason: ArtifactReason::Integrity,
            offset,
            text: text.into(),
        }
    }
}

/// A budget that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// The option's name: `max_entry_bytes`.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// Why a container or member could not be read.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is broken.
    Damage(Damage),
    /// A budget was reached.
    Limit(Limit),
    /// It cannot be read for a reason that is no damage (fixed words).
    Unavailable(Note),
    /// The same with facts in its words.
    UnavailableBecause(Limitation),
    /// Reading the source failed.
    Io(io::ErrorKind, String),
    /// It may not be used as it is; the error says why.
    Refused(Error),
    /// The work ends here (cancellation).
    Stop(Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind(), crate::error::io_reason(&error))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Stop(error)
    }
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

/// How a member was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// A checksum or size that contradicts the bytes; only where the caller
    /// asked to go on after one.
    pub contradiction: Option<Damage>,
    /// What is to be said of it.
    pub notes: Notes,
}

/// Where a reader puts decoded bytes.
pub(crate) type Out<'a> = dyn FnMut(&[u8]) -> Result<(), Fault> + 'a;

/// Buffers and decoder states that one worker uses again and again.
pub(crate) struct Scratch {
    /// Bytes read from a source.
    pub input: Vec<u8>,
    /// Bytes that a decoder made.
    pub output: Vec<u8>,
    /// Raw deflate.
    pub inflate: flate2::Decompress,
}

impl Scratch {
    pub fn new() -> Self {
        Self {
            input: vec![0; 256 << 10],
            output: vec![0; 128 << 10],
            inflate: flate2::Decompress::new(false),
        }
    }
}

/// What is left to say once all members were read.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    /// Damage that only shows when all is read (overlaps).
    pub damage: Option<Damage>,
    /// Whether entries exist that could not be listed.
    pub incomplete: bool,
    /// About the container as a whole.
    pub limitations: Vec<Limitation>,
}

/// An open container.
pub(crate) trait Container: Send + Sync {
    /// Its entries.
    fn listing(&self) -> &Listing;
    /// Takes its entries out, once nothing is read any more.
    fn take_listing(&mut self) -> Listing;
    /// How its names are to be read.
    fn style(&self) -> Style;
    /// Decodes one file or link. `keep_going` goes on after a contradiction
    /// and reports it, instead of failing.
    fn read(
        &self,
        index: usize,
        keep_going: bool,
        scratch: &mut Scratch,
        out: &mut Out<'_>,
    ) -> Result<Reading, Fault>;
    /// The member's bytes as they stand in the source, where they are stored.
    fn region(&self, index: usize) -> Option<Source>;
    /// Whether [`Container::region`] gives the member's decoded bytes.
    fn is_contiguous(&self, _index: usize) -> bool {
        false
    }
    /// The SHA-256 that the container declares for a member.
    fn declared(&self, _index: usize) -> Option<Digest> {
        None
    }
    /// Whether a member has bytes that are read, so that its size counts
    /// against the budgets.
    fn is_read(&self, index: usize) -> bool {
        let member = self.listing().members.get(index);
        member.is_some_and(|member| {
            let content = member.kind.is_file() || member.kind == MemberKind::Symlink;
            content && !member.notes.has(Note::Thin)
        })
    }
    /// Whether a member's bytes are in the container's companion folder.
    fn is_unpacked(&self, _index: usize) -> bool {
        false
    }
    /// What is left to say once all members were read.
    fn close(&self) -> Closing {
        Closing::default()
    }
}

/// How a reader opens its container.
type OpenFn = fn(&Source, &Options) -> Result<Box<dyn Container>, Fault>;

/// A row of the table of readers.
struct Reader {
    formats: &'static [Format],
    open: OpenFn,
}

const READERS: &[Reader] = &[
    Reader {
        formats: &[
            Format::Zip,
            Format::Ipa,
            Format::Apk,
            Format::Msix,
            Format::Appx,
        ],
        open: zip::open,
    },
    Reader {
        formats: &[Format::Asar],
        open: asar::open,
    },
    Reader {
        formats: &[Format::Ar, Format::Deb],
        open: ar::open,
    },
    Reader {
        formats: &[Format::MachOUniversal],
        open: universal::open,
    },
];

/// Whether members of this format can be listed.
pub(crate) fn is_readable(format: Format) -> bool {
    READERS
        .iter()
        .any(|reader| reader.formats.contains(&format))
}

/// The format of that name, where its members can be listed.
pub(crate) fn named(name: &str) -> Option<Format> {
    let formats = READERS.iter().flat_map(|reader| reader.formats);
    formats.copied().find(|format| format.as_str() == name)
}

/// Whether bytes start with a valid header of a format that has no magic.
pub(crate) fn has_header(format: Format, head: &[u8]) -> bool {
    match format {
        Format::Asar => asar::detect(head),
        Format::Lzma => super::streams::codec::is_lzma_header(head),
        _ => false,
    }
}

/// Opens an ASAR archive that is the root, with the folder beside it.
pub(crate) fn open_asar_root(
    source: &Source,
    options: &Options,
    companion: Companion,
) -> Result<Box<dyn Container>, Fault> {
    asar::open_with(source, options, Some(companion))
}

/// Opens a container of a format that [`is_readable`].
pub(crate) fn open(
    format: Format,
    source: &Source,
    options: &Options,
) -> Result<Box<dyn Container>, Fault> {
    match READERS
        .iter()
        .find(|reader| reader.formats.contains(&format))
    {
        Some(reader) => (reader.open)(source, options),
        None => Err(Damage::format(0, "no reader for this format").into()),
    }
}

/// Passes stored bytes on as they are.
fn copy(
    source: &Source,
    start: u64,
    len: u64,
    scratch: &mut Scratch,
    out: &mut Out<'_>,
) -> Result<(), Fault> {
    let mut done = 0;
    while done < len {
        let most = scratch.input.len();
        let want = usize::try_from(len - done).map_or(most, |rest| rest.min(most));
        let got = source.read_at(start + done, &mut scratch.input[..want])?;
        if got == 0 {
            let text = "the archive ends inside its data";
            return Err(Damage::integrity(start + done, text).into());
        }
        out(&scratch.input[..got])?;
        done += got as u64;
    }
    Ok(())
}

/// Says which bytes belong to no member and no known structure (decision 12).
pub(crate) fn unaccounted(gaps: &[(u64, u64)]) -> Option<Limitation> {
    let gaps: Vec<_> = gaps.iter().filter(|(start, end)| end > start).collect();
    if gaps.is_empty() {
        return None;
    }
    let bytes: u64 = gaps.iter().map(|(start, end)| end - start).sum();
    let shown: Vec<String> = gaps
        .iter()
        .take(8)
        .map(|(start, end)| format!("{start}..{end}"))
        .collect();
    let more = if gaps.len() > shown.len() {
        ", and more"
    } else {
        ""
    };
    let text = format!(
        "{} in {} {} to no member and no known structure: {}{more}.",
        counted(bytes, "byte", "bytes"),
        counted(gaps.len() as u64, "range", "ranges"),
        if bytes == 1 { "belongs" } else { "belong" },
        shown.join(", ")
    );
    Some(Limitation::new(112, text))
}
