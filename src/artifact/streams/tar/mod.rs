//! tar: v7, ustar, pax (POSIX.1-2017, pax, "ustar Interchange Format") and
//! the GNU extensions (GNU tar manual, "Basic Tar Format", "Sparse Formats").
//!
//! Links, directories and devices have no data, whatever their size field
//! says. A missing end marker is no damage; the first zero block ends the
//! archive, and what stands behind it is said.

mod extended;
mod header;
mod sparse;

use super::{Entry, Input, Sink};
use crate::artifact::containers::{
    Closing, Damage, Fault, Limit, MemberKind, UNKNOWN, unaccounted,
};
use crate::artifact::options::Options;
use extended::Extended;
use header::{BLOCK, Header};

/// Reads the archive at the input's position up to the end of the input.
pub(crate) fn read(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    options: &Options,
) -> Result<Closing, Fault> {
    let mut global = Extended::default();
    let mut local = Extended::default();
    loop {
        let at = input.position();
        let block = input.peek(BLOCK)?;
        if block.is_empty() {
            return Ok(Closing::default());
        }
        if block.len() < BLOCK {
            if block.iter().all(|&byte| byte == 0) {
                return Ok(Closing::default());
            }
            return Err(Damage::format(at, "a header is cut").into());
        }
        let header = Header::from_block(block);
        if header.is_zero() {
            return rest(input);
        }
        if !header.checksum_fits() {
            return Err(Damage::format(at, "a header's checksum does not fit").into());
        }
        input.consume(BLOCK);
        match header.kind() {
            b'x' | b'X' => local.read_pax(&data(input, &header, at, options)?, at)?,
            b'g' => global.read_pax(&data(input, &header, at, options)?, at)?,
            b'L' => local.set_name(data(input, &header, at, options)?),
            b'K' => local.set_link(data(input, &header, at, options)?),
            // A volume's label is a structure of the archive, not a member.
            b'V' => skip_data(input, header.size(at)?)?,
            _ => {
                let extended = std::mem::take(&mut local).over(&global);
                member(input, sink, &header, extended, at, options)?;
            }
        }
    }
}

/// The data of an extension header, within its limit.
fn data(
    input: &mut Input<'_>,
    header: &Header,
    at: u64,
    options: &Options,
) -> Result<Vec<u8>, Fault> {
    let size = header.size(at)?;
    if size > options.max_header_bytes {
        let value = options.max_header_bytes;
        return Err(Fault::Limit(Limit {
            name: "max_header_bytes",
            value,
        }));
    }
    let bytes = input.take(
        usize::try_from(size).unwrap_or(usize::MAX),
        "an extension header",
    )?;
    skip_padding(input, size)?;
    Ok(bytes)
}

fn skip_data(input: &mut Input<'_>, size: u64) -> Result<(), Fault> {
    input.skip(size, "a volume label")?;
    skip_padding(input, size)
}

/// Data is padded to whole blocks; at the very end the padding may be missing.
fn skip_padding(input: &mut Input<'_>, size: u64) -> Result<(), Fault> {
    let padding = size.next_multiple_of(BLOCK as u64) - size;
    input.pass(padding, &mut |_| Ok(()))?;
    Ok(())
}

fn member(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    header: &Header,
    extended: Extended,
    at: u64,
    options: &Options,
) -> Result<(), Fault> {
    let name = match extended.name() {
        Some(name) => name.to_vec(),
        None => header.name(),
    };
    let entry = |kind, size| Entry {
        name: &name,
        kind,
        size,
        mode: header.mode(),
    };
    let link = || {
        extended
            .link()
            .map_or_else(|| header.link(), <[u8]>::to_vec)
    };
    match header.kind() {
        b'1' => sink.hard_link(entry(MemberKind::File, UNKNOWN), &link()),
        b'2' => {
            sink.begin(entry(MemberKind::Symlink, UNKNOWN))?;
            sink.data(&link())?;
            sink.end()
        }
        b'3' | b'4' | b'6' => {
            sink.begin(entry(MemberKind::Special, UNKNOWN))?;
            sink.end()
        }
        b'5' => {
            sink.begin(entry(MemberKind::Directory, UNKNOWN))?;
            sink.end()
        }
        // GNU's incremental dumps list a directory's names as its data.
        b'D' => {
            sink.begin(entry(MemberKind::Directory, UNKNOWN))?;
            sink.end()?;
            let size = header.size(at)?;
            input.skip(size, "a directory's list")?;
            skip_padding(input, size)
        }
        0 | b'0' if name.ends_with(b"/") && !extended.is_sparse() => {
            sink.begin(entry(MemberKind::Directory, UNKNOWN))?;
            sink.end()?;
            let size = extended.size().map_or_else(|| header.size(at), Ok)?;
            input.skip(size, "a directory's data")?;
            skip_padding(input, size)
        }
        _ => file(input, sink, header, &extended, &name, at, options),
    }
}

fn file(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    header: &Header,
    extended: &Extended,
    name: &[u8],
    at: u64,
    options: &Options,
) -> Result<(), Fault> {
    let stored = extended.size().map_or_else(|| header.size(at), Ok)?;
    let map = sparse::map(input, header, extended, stored, at, options)?;
    let size = map.as_ref().map_or(stored, |map| map.real_size);
    if size > options.max_entry_bytes {
        let value = options.max_entry_bytes;
        return Err(Fault::Limit(Limit {
            name: "max_entry_bytes",
            value,
        }));
    }
    sink.begin(Entry {
        name,
        kind: MemberKind::File,
        size,
        mode: header.mode(),
    })?;
    if let Some(map) = &map {
        sink.holes(map.real_size - map.stored)?;
    }
    let passed = match &map {
        None => input.pass(stored, &mut |bytes| sink.data(bytes))?,
        Some(map) => map.expand(input, sink)?,
    };
    let expected = map.as_ref().map_or(stored, |map| map.stored);
    if passed < expected {
        return Err(
            Damage::format(input.position(), "the archive ends inside a member's data").into(),
        );
    }
    sink.end()?;
    skip_padding(input, stored)
}

/// What stands behind the end marker: zeros fill the last record; anything
/// else belongs to nothing.
fn rest(input: &mut Input<'_>) -> Result<Closing, Fault> {
    let mut at = input.position();
    let mut first = None;
    input.pass_all(&mut |bytes| {
        if first.is_none() {
            first = bytes
                .iter()
                .position(|&byte| byte != 0)
                .map(|offset| at + offset as u64);
        }
        at += bytes.len() as u64;
        Ok(())
    })?;
    let gaps: Vec<_> = first.map(|start| (start, at)).into_iter().collect();
    Ok(Closing {
        limitations: unaccounted(&gaps).into_iter().collect(),
        ..Closing::default()
    })
}
