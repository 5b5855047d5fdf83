//! `address_to_file_offset` and `read_bytes` (functions section 1.2).

use super::memory::Stop;
use super::record::NativeRecord;
use super::target::Mapped;
use crate::binary::layout::rows::Hex;
use crate::binary::places::Shown;
use crate::error::{Error, Result};
use crate::json::{Object, WriteJson, Writer};
use crate::operation::Context;

/// More bytes are not read at once.
pub const MAX_READ: u64 = 16 << 20;

const LINKED: &str = "Addresses are those the file was linked for; nothing was loaded, and a loader may choose others.";
const ONE_ADDRESS: &str = "One address proves nothing about the range around it.";
const FIXUPS: &str = "Bytes are shown as the loader leaves them at the linked addresses as far as the file proves it: relative relocations that carry an addend and pointers in chained fixups that move with the image are applied, words bound to other files are not.";

/// Where the byte at an address stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOffset {
    /// The address.
    pub address: u64,
    /// Its offset from the start of the file.
    pub file_offset: u64,
    /// For a slice of a universal file: where the slice starts, and the offset
    /// in it.
    pub slice: Option<(u64, u64)>,
    /// The file.
    pub source_path: String,
}

impl WriteJson for FileOffset {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.member("file_offset", self.file_offset);
        if let Some((base, inside)) = self.slice {
            w.member("image_base_file_offset", base);
            w.member("provider_file_offset", inside);
        }
        w.member("source_path", &self.source_path);
        w.end_object();
    }
}

/// Where in the file the byte at `address` stands.
///
/// # Errors
/// `invalid_request` at `address` where nothing is mapped there, no byte of
/// the file fills it, or several mappings say different things.
pub fn address_to_file_offset(
    mapped: &Mapped<'_>,
    address: u64,
    context: &Context,
) -> Result<NativeRecord<FileOffset>> {
    context.check()?;
    let operation = context.operation;
    let stop = match mapped.memory.places().at(address) {
        Some(Shown::File(file_offset)) => {
            let slice = mapped
                .slice_base()
                .and_then(|base| Some((base, file_offset.checked_sub(base)?)));
            let mut parameters = Object::new();
            parameters.insert("address", format!("{address:#x}"));
            let said = [LINKED, ONE_ADDRESS].map(str::to_owned);
            let mut parts = mapped.parts(operation, parameters, said);
            parts.ranges.push((file_offset, file_offset + 1));
            let result = FileOffset {
                address,
                file_offset,
                slice,
                source_path: mapped.target.file().path.clone(),
            };
            return Ok(NativeRecord::new(mapped.target, parts, result));
        }
        Some(Shown::Uninitialized) => Stop::Uninitialized,
        Some(Shown::Ambiguous) => Stop::Ambiguous,
        None => Stop::Unmapped,
    };
    let message = format!("{address:#x} has no place in the file: {}", stop.reason());
    let error = Error::invalid_request(operation, &["address"], "invalid_value", message)
        .action("`rea list-segments` tells which addresses the file fills.")
        .detail("address", format!("{address:#x}"))
        .detail("reason", stop.as_str());
    Err(error)
}

/// Bytes at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesRead {
    /// The first address.
    pub address: u64,
    /// How many were asked for.
    pub requested: u64,
    /// Those that are there.
    pub bytes: Vec<u8>,
    /// Words among them that the loader stores.
    pub fixups: u64,
    /// Why there are fewer than asked for.
    pub stop: Option<Stop>,
}

impl WriteJson for BytesRead {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.key("bytes_hex");
        write_hex(&self.bytes, w);
        w.member("complete", self.stop.is_none());
        w.member("fixups_applied", self.fixups);
        w.member("requested_bytes", self.requested);
        w.member("returned_bytes", self.bytes.len() as u64);
        w.member("stop_reason", self.stop.map(Stop::as_str));
        w.end_object();
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn write_hex(bytes: &[u8], w: &mut Writer<'_>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    w.begin_text();
    for part in bytes.chunks(4096) {
        let digits: Vec<u8> = part
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .filter_map(|digit| DIGITS.get(usize::from(digit)).copied())
            .collect();
        w.text_part(&digits);
    }
    w.end_text();
}

/// At most `length` bytes of initialized memory from `address` on; they end at
/// the first byte that the file does not fill, and nothing is padded.
///
/// # Errors
/// `invalid_request` at `length` where that is 0 or beyond [`MAX_READ`].
pub fn read_bytes(
    mapped: &Mapped<'_>,
    address: u64,
    length: u64,
    context: &Context,
) -> Result<NativeRecord<BytesRead>> {
    context.check()?;
    let operation = context.operation;
    if length == 0 || length > MAX_READ {
        let message = format!("a length of 1 to {MAX_READ} bytes can be read at once");
        let path = ["length"];
        return Err(Error::invalid_request(
            operation,
            &path,
            "out_of_range",
            message,
        ));
    }
    let read = mapped
        .memory
        .read(address, usize::try_from(length).unwrap_or(usize::MAX));
    let mut said: Vec<String> = [LINKED, FIXUPS].map(str::to_owned).into();
    if read.signed > 0 {
        said.push(format!(
            "Pointers that the loader signs are shown unsigned: {} of the words read.",
            read.signed
        ));
    }
    if read.unproven > 0 {
        said.push(format!(
            "Links of chained fixups whose value another file decides are shown as they stand, with the way to the next link in them: {} of the words read.",
            read.unproven
        ));
    }
    if let Some(stop) = read.stop {
        let end = u128::from(address) + read.bytes.len() as u128;
        said.push(format!("The bytes end before {end:#x}: {}.", stop.reason()));
    }
    let mut parameters = Object::new();
    parameters.insert("address", format!("{address:#x}"));
    parameters.insert("length", length);
    let mut parts = mapped.parts(operation, parameters, said);
    parts.ranges = read.ranges;
    let result = BytesRead {
        address,
        requested: length,
        bytes: read.bytes,
        fixups: read.fixups,
        stop: read.stop,
    };
    Ok(NativeRecord::new(mapped.target, parts, result))
}
