//! `search_bytes` (functions section 1.3).

use std::borrow::Cow;

use super::memory::Memory;
use super::pattern::Pattern;
use super::record::NativeRecord;
use super::target::Mapped;
use crate::binary::layout::rows::Hex;
use crate::binary::places::Shown;
use crate::error::{Error, Result};
use crate::json::{Object, WriteJson, Writer};
use crate::operation::Context;

/// More matches are no answer.
pub const MAX_MATCHES: usize = 1_000_000;

/// Bytes that are looked at together.
const BLOCK: u64 = 1 << 20;

/// Where a pattern matches, by address. Only the addresses are kept: a pattern
/// of many bytes may match anywhere in a large file.
#[derive(Clone, Debug)]
pub struct Matches<'a> {
    addresses: Vec<u64>,
    pattern: Pattern,
    memory: &'a Memory<'a>,
}

impl Matches<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Address, offset in the file, and bytes of each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Option<u64>, Cow<'_, [u8]>)> {
        self.addresses.iter().map(|&address| {
            let offset = match self.memory.places().at(address) {
                Some(Shown::File(offset)) => Some(offset),
                _ => None,
            };
            let bytes = match self.pattern.exact() {
                Some(bytes) => Cow::Borrowed(bytes),
                None => Cow::Owned(self.memory.read(address, self.pattern.len()).bytes),
            };
            (address, offset, bytes)
        })
    }
}

impl WriteJson for Matches<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_array();
        for (address, offset, bytes) in self.iter() {
            w.begin_object();
            w.member("address", Hex(address));
            w.key("bytes_hex");
            super::read::write_hex(&bytes, w);
            w.member("file_offset", offset);
            w.end_object();
        }
        w.end_array();
    }
}

const INITIALIZED: &str = "Only memory that the file fills was searched, at the addresses the file was linked for, with relative relocations that carry an addend and pointers in chained fixups that move with the image applied.";
const STOPPED: &str =
    "Mappings that show the same bytes again and again were left out of the search.";

/// All places in initialized memory where `pattern` matches under `mask`,
/// overlapping ones too, none across a gap.
///
/// # Errors
/// `invalid_request` at `pattern` or `mask` where they are none;
/// `resource_constraint` beyond a million matches; `cancelled`.
pub fn search_bytes<'a>(
    mapped: &'a Mapped<'a>,
    pattern: &str,
    mask: Option<&str>,
    context: &Context,
) -> Result<NativeRecord<Matches<'a>>> {
    let operation = context.operation;
    let parsed = Pattern::parse(pattern, mask).map_err(|(argument, why)| {
        let message = format!("the {argument} {why}");
        Error::invalid_request(operation, &[argument], "invalid_format", message)
            .action("Give pairs of hexadecimal digits; in a pattern ? is any digit: \"48 8b ?5\".")
    })?;
    let memory = &mapped.memory;
    let length = parsed.len() as u64;
    let mut addresses = Vec::new();
    // Many mappings may show the same bytes: the work is bounded by the file.
    let size = mapped.target.file().bytes.len() as u64;
    let mut budget = size.saturating_mul(4).saturating_add(64 << 20);
    let mut left_out = false;
    for (start, last) in memory.runs() {
        let mut at = start;
        loop {
            context.check()?;
            let rest = (last - at).saturating_add(1);
            if rest < length {
                break;
            }
            let take = rest.min(BLOCK + length - 1);
            let Some(left) = budget.checked_sub(take) else {
                left_out = true;
                break;
            };
            budget = left;
            let read = memory.read(at, usize::try_from(take).unwrap_or(usize::MAX));
            let mut room = true;
            parsed.find(&read.bytes, &mut |place| {
                room = addresses.len() < MAX_MATCHES;
                if room {
                    addresses.push(at + place as u64);
                }
                room
            });
            if !room {
                return Err(too_many(operation));
            }
            match at.checked_add(BLOCK) {
                Some(next) if next <= last => at = next,
                _ => break,
            }
        }
    }
    let mut said = vec![INITIALIZED.to_owned()];
    if left_out {
        said.push(STOPPED.to_owned());
    }
    let mut parameters = Object::new();
    parameters.insert("mask", mask);
    parameters.insert("pattern", pattern);
    let parts = mapped.parts(operation, parameters, said);
    let found = Matches {
        addresses,
        pattern: parsed,
        memory,
    };
    Ok(NativeRecord::new(mapped.target, parts, found))
}

fn too_many(operation: &str) -> Error {
    let mut limits = Object::new();
    limits.insert("boundary", "matches");
    limits.insert("maximum", MAX_MATCHES as u64);
    let message = format!("the pattern matches at more than {MAX_MATCHES} places");
    Error::out_of_memory(operation, message, limits).action("Give a longer pattern.")
}
