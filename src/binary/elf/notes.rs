//! Notes (gABI ch. 5): what each owner's descriptors say.

use std::sync::Arc;

use super::fact::{HexBytes, Text, rows};
use super::names::notes as kinds;
use super::properties::{self, Property};
use super::tables::{pt, sht};
use super::{Budget, Elf, REPEATED};
use crate::binary::layout::facts::BuildId;
use crate::binary::layout::rows::{Hex, Range, Symbolic};
use crate::binary::{Bytes, Notes, name_text};
use crate::json::{Object, Value, WriteJson, Writer};

rows! {
    /// A row of `facts.elf.notes`
    struct NoteFact<'a> {
        container: Shared,
        descriptor: Range,
        /// What the descriptor says, where its layout is known.
        details: Object,
        name: Text<'a>,
        properties: Option<Vec<Property>>,
        kind as "type": Symbolic,
        type_number: Hex,
    }
}

/// A name that many notes have.
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<str>);

impl WriteJson for Shared {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.string(&self.0);
    }
}

/// All notes, and what others need of them.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub rows: Vec<NoteFact<'a>>,
    pub build_ids: Vec<BuildId>,
    /// The bits of the processor's `FEATURE_1_AND` property, and where they
    /// stand.
    pub features: Option<(u32, Range)>,
}

/// Bytes that hold notes.
struct Place {
    container: Arc<str>,
    range: Range,
    alignment: u64,
}

/// Reads the notes of sections, then those of segments that no section told.
pub(super) fn read<'a>(elf: &Elf<'a>, budget: &mut Budget, notes: &mut Notes) -> Found<'a> {
    let mut found = Found::default();
    let mut seen = std::collections::BTreeSet::new();
    let sections = elf.sections.iter().enumerate();
    let sections = sections
        .filter(|(_, one)| one.kind == sht::NOTE && one.size > 0)
        .map(|(index, one)| Place {
            container: elf.section_text(index).into(),
            range: one.range(),
            alignment: one.alignment,
        });
    let segments = elf.segments.iter().enumerate();
    let segments = segments
        .filter(|(_, one)| matches!(one.kind, pt::NOTE | pt::GNU_PROPERTY) && one.file_size > 0)
        .map(|(index, one)| Place {
            container: format!("segment {index}").into(),
            range: Range {
                offset: one.offset,
                bytes: one.file_size,
            },
            alignment: one.alignment,
        });
    for place in sections.chain(segments) {
        if !seen.insert(place.range.offset) {
            continue;
        }
        if !walk(elf, &place, &mut seen, &mut found, budget, notes) {
            notes.at(&*place.container, place.range.offset, REPEATED);
        }
    }
    found
}

/// Notes of all places that are told; core files of large programs have some
/// thousand.
const MOST: usize = 200_000;

/// Reads one place; whether the budget had room for it.
fn walk<'a>(
    elf: &Elf<'a>,
    place: &Place,
    seen: &mut std::collections::BTreeSet<u64>,
    found: &mut Found<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> bool {
    let start = place.range.offset;
    let data = elf.bytes.up_to(start, place.range.bytes);
    let bytes = Bytes::new(data, elf.bytes.order());
    let alignment = if place.alignment == 8 { 8 } else { 4 };
    let mut at = 0;
    while bytes.len().saturating_sub(at) >= 12 {
        let read = || {
            let name_size = u64::from(bytes.u32(at)?);
            let size = u64::from(bytes.u32(at + 4)?);
            let kind = bytes.u32(at + 8)?;
            let name = bytes.get(at + 12, name_size)?;
            let from = (at + 12 + name_size).next_multiple_of(alignment);
            let descriptor = match size {
                0 => &[][..],
                _ => bytes.get(from, size)?,
            };
            Some((kind, name, from, descriptor))
        };
        let Some((kind, name, from, descriptor)) = read() else {
            notes.at(&*place.container, start + at, "a note leads out of it");
            return true;
        };
        let end = (from + descriptor.len() as u64).next_multiple_of(alignment);
        if !budget.table(end - at) {
            return false;
        }
        if found.rows.len() == MOST {
            let reason = format!("the file has more than {MOST} notes; the first are told");
            notes.at(&*place.container, start + at, reason);
            return true;
        }
        if at == 0 || seen.insert(start + at) {
            // Some writers count the padding.
            let end = memchr::memchr(0, name).unwrap_or(name.len());
            let name = name.get(..end).unwrap_or_default();
            let range = Range {
                offset: start + from,
                bytes: descriptor.len() as u64,
            };
            note(elf, place, kind, name, descriptor, range, found);
        }
        at = end;
    }
    true
}

fn note<'a>(
    elf: &Elf<'a>,
    place: &Place,
    kind: u32,
    name: &'a [u8],
    descriptor: &'a [u8],
    range: Range,
    found: &mut Found<'a>,
) {
    let bytes = Bytes::new(descriptor, elf.bytes.order());
    let mut details = Object::new();
    let mut list = None;
    match (name, kind) {
        (b"GNU", 1) => abi_tag(bytes, &mut details),
        (b"GNU", 3) => {
            let text = HexBytes(descriptor).text();
            details.insert("build_id", text.as_str());
            build_id(found, "gnu-build-id", text, range);
        }
        (b"GNU", 4) => text(&mut details, "version", descriptor),
        (b"GNU", 5) => {
            let (rows, features) = properties::read(elf, bytes, range.offset);
            if found.features.is_none() {
                found.features = features;
            }
            list = Some(rows);
        }
        (b"Go", 4) => {
            let text = name_text(descriptor).into_owned();
            details.insert("build_id", text.as_str());
            build_id(found, "go-build-id", text, range);
        }
        (b"stapsdt", 3) => probe(elf, bytes, &mut details),
        (b"FDO", 0xCAFE_1A7E | 0x407C_0C0A) => text(&mut details, "json", descriptor),
        (b"CORE", 0x4649_4C45) => files(elf, bytes, &mut details),
        (b"Android", 1) => android(bytes, &mut details),
        (b"FreeBSD" | b"NetBSD" | b"OpenBSD" | b"DragonFly", 1) => {
            if let Some(version) = bytes.u32(0) {
                details.insert("version", u64::from(version));
            }
        }
        _ => {}
    }
    found.rows.push(NoteFact {
        container: Shared(Arc::clone(&place.container)),
        descriptor: range,
        details,
        name: Text(name),
        properties: list,
        kind: kinds::name(name, kind, elf.header.kind),
        type_number: Hex(kind.into()),
    });
}

fn build_id(found: &mut Found<'_>, kind: &'static str, value: String, location: Range) {
    found.build_ids.push(BuildId {
        kind,
        value,
        location,
    });
}

fn text(details: &mut Object, member: &str, bytes: &[u8]) {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    let text = name_text(bytes.get(..end).unwrap_or_default());
    details.insert(member, &*text);
}

/// `NT_GNU_ABI_TAG`: a system and the least version of its kernel.
fn abi_tag(bytes: Bytes<'_>, details: &mut Object) {
    let [Some(system), Some(major), Some(minor), Some(patch)] =
        [0, 4, 8, 12].map(|at| bytes.u32(at))
    else {
        return;
    };
    let name = match system {
        0 => "Linux",
        1 => "Hurd",
        2 => "Solaris",
        3 => "FreeBSD",
        4 => "NetBSD",
        5 => "Syllable",
        6 => "NaCl",
        _ => "",
    };
    match name {
        "" => details.insert("os", u64::from(system)),
        name => details.insert("os", name),
    }
    details.insert("version", format!("{major}.{minor}.{patch}"));
}

/// `NT_STAPSDT`: addresses of the probe, of `.stapsdt.base`, of its counter,
/// then provider, name and arguments.
fn probe(elf: &Elf<'_>, bytes: Bytes<'_>, details: &mut Object) {
    let word = elf.word();
    for (at, member) in [(0, "address"), (word, "base"), (2 * word, "semaphore")] {
        let Some(value) = bytes.word(at, elf.wide) else {
            return;
        };
        details.insert(member, format!("{value:#x}"));
    }
    let mut at = 3 * word;
    for member in ["provider", "name", "arguments"] {
        let Some(value) = bytes.string(at) else {
            return;
        };
        details.insert(member, &*name_text(value));
        at += value.len() as u64 + 1;
    }
}

/// `NT_FILE` of a core: what was mapped where.
fn files(elf: &Elf<'_>, bytes: Bytes<'_>, details: &mut Object) {
    let word = elf.word();
    let read = |at: u64| bytes.word(at * word, elf.wide);
    let (Some(count), Some(page)) = (read(0), read(1)) else {
        return;
    };
    details.insert("page_size", format!("{page:#x}"));
    // Each has three words and the NUL of its name.
    let count = count.min(bytes.len() / (3 * word + 1));
    let mut name_at = (2 + 3 * count) * word;
    let mut mapped = Vec::new();
    for index in 0..count {
        let [Some(start), Some(end), Some(offset)] = [0, 1, 2].map(|at| read(2 + 3 * index + at))
        else {
            break;
        };
        let Some(name) = bytes.string(name_at) else {
            break;
        };
        name_at += name.len() as u64 + 1;
        let mut row = Object::new();
        row.insert("end", format!("{end:#x}"));
        row.insert("name", &*name_text(name));
        row.insert("page_offset", format!("{offset:#x}"));
        row.insert("start", format!("{start:#x}"));
        mapped.push(Value::Object(row));
    }
    details.insert("files", Value::Array(mapped));
}

/// Android's identity: the API level, the NDK's release and build.
fn android(bytes: Bytes<'_>, details: &mut Object) {
    if let Some(level) = bytes.u32(0) {
        details.insert("api_level", u64::from(level));
    }
    for (at, member) in [(4, "ndk_version"), (68, "ndk_build")] {
        if let Some(value) = bytes.get(at, 64) {
            text(details, member, value);
        }
    }
}
