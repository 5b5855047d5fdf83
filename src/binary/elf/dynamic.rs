//! The dynamic table (gABI ch. 5): all entries, and the values others need.

use super::fact::{Text, rows};
use super::names;
use super::strings::Strings;
use super::tables::{inside, pt, sht};
use super::{Budget, Elf};
use crate::binary::Notes;
use crate::binary::layout::rows::{Hex, Name, Range, Symbolic};

/// `d_tag`
pub(super) mod dt {
    pub const NULL: u64 = 0;
    pub const NEEDED: u64 = 1;
    pub const PLTRELSZ: u64 = 2;
    pub const PLTGOT: u64 = 3;
    pub const HASH: u64 = 4;
    pub const STRTAB: u64 = 5;
    pub const SYMTAB: u64 = 6;
    pub const RELA: u64 = 7;
    pub const RELASZ: u64 = 8;
    pub const STRSZ: u64 = 10;
    pub const SYMENT: u64 = 11;
    pub const INIT: u64 = 12;
    pub const FINI: u64 = 13;
    pub const SONAME: u64 = 14;
    pub const RPATH: u64 = 15;
    pub const REL: u64 = 17;
    pub const RELSZ: u64 = 18;
    pub const PLTREL: u64 = 20;
    pub const TEXTREL: u64 = 22;
    pub const JMPREL: u64 = 23;
    pub const BIND_NOW: u64 = 24;
    pub const INIT_ARRAY: u64 = 25;
    pub const FINI_ARRAY: u64 = 26;
    pub const INIT_ARRAYSZ: u64 = 27;
    pub const FINI_ARRAYSZ: u64 = 28;
    pub const RUNPATH: u64 = 29;
    pub const FLAGS: u64 = 30;
    pub const PREINIT_ARRAY: u64 = 32;
    pub const PREINIT_ARRAYSZ: u64 = 33;
    pub const RELRSZ: u64 = 35;
    pub const RELR: u64 = 36;
    pub const CREL: u64 = 38;
    pub const ANDROID_REL: u64 = 0x6000_000F;
    pub const ANDROID_RELSZ: u64 = 0x6000_0010;
    pub const ANDROID_RELA: u64 = 0x6000_0011;
    pub const ANDROID_RELASZ: u64 = 0x6000_0012;
    pub const ANDROID_RELR: u64 = 0x6FFF_E000;
    pub const ANDROID_RELRSZ: u64 = 0x6FFF_E001;
    pub const GNU_FLAGS_1: u64 = 0x6FFF_FDF4;
    pub const GNU_HASH: u64 = 0x6FFF_FEF5;
    pub const CONFIG: u64 = 0x6FFF_FEFA;
    pub const DEPAUDIT: u64 = 0x6FFF_FEFB;
    pub const AUDIT: u64 = 0x6FFF_FEFC;
    pub const VERSYM: u64 = 0x6FFF_FFF0;
    pub const FLAGS_1: u64 = 0x6FFF_FFFB;
    pub const VERDEF: u64 = 0x6FFF_FFFC;
    pub const VERDEFNUM: u64 = 0x6FFF_FFFD;
    pub const VERNEED: u64 = 0x6FFF_FFFE;
    pub const VERNEEDNUM: u64 = 0x6FFF_FFFF;
    pub const AUXILIARY: u64 = 0x7FFF_FFFD;
    pub const USED: u64 = 0x7FFF_FFFE;
    pub const FILTER: u64 = 0x7FFF_FFFF;
    pub const MIPS_LOCAL_GOTNO: u64 = 0x7000_000A;
    pub const MIPS_SYMTABNO: u64 = 0x7000_0011;
    pub const MIPS_GOTSYM: u64 = 0x7000_0013;
}

/// An entry as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub tag: u64,
    pub value: u64,
    pub at: u64,
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Dynamic<'a> {
    /// Entries up to the first `DT_NULL`, that one included.
    pub entries: Vec<Entry>,
    /// Where it stands.
    pub location: Option<Range>,
    /// The strings it names.
    pub strings: Option<Strings<'a>>,
}

/// Where the table stands: `PT_DYNAMIC`, else the section. A file with debug
/// information only has headers of what the program has, without its bytes.
fn place(elf: &Elf<'_>) -> Option<(Range, &'static str, u64)> {
    let section = elf
        .sections
        .iter()
        .find(|header| header.kind == sht::DYNAMIC);
    let stripped = elf
        .sections
        .iter()
        .zip(&elf.section_names)
        .any(|(header, name)| header.kind == sht::NOBITS && *name == b".dynamic".as_slice());
    if stripped {
        return None;
    }
    let segment = elf.segments.iter().find(|one| one.kind == pt::DYNAMIC);
    let from_segment = segment.map(|one| {
        let range = Range {
            offset: one.offset,
            bytes: one.file_size,
        };
        (range, "PT_DYNAMIC", one.at)
    });
    from_segment
        .filter(|(range, ..)| range.bytes > 0 && range.offset < elf.bytes.len())
        .or_else(|| section.map(|one| (one.range(), "SHT_DYNAMIC", one.at)))
        .or(from_segment.filter(|(range, ..)| range.bytes > 0))
}

/// Entries that are told; large programs have some hundred.
const MOST: u64 = 300_000;

/// Reads the table.
pub(super) fn read<'a>(elf: &Elf<'a>, budget: &mut Budget, notes: &mut Notes) -> Dynamic<'a> {
    let Some((range, structure, header)) = place(elf) else {
        return Dynamic::default();
    };
    if !inside(range.offset, range.bytes, elf.bytes.len()) {
        let (bytes, offset) = (range.bytes, range.offset);
        notes.at(
            structure,
            header,
            format!("its {bytes:#x} bytes from {offset:#x} are not all in the file"),
        );
    }
    let word = if elf.wide { 8 } else { 4 };
    let available = elf.bytes.up_to(range.offset, range.bytes).len() as u64;
    let mut entries = Vec::new();
    let mut at = range.offset;
    let mut ended = false;
    for index in 0..available / (2 * word) {
        if index == MOST {
            let reason = format!("it has more than {MOST} entries; the first are told");
            notes.at(structure, range.offset, reason);
            ended = true;
            break;
        }
        let Some((tag, value)) = elf
            .bytes
            .word(at, elf.wide)
            .zip(elf.bytes.word(at + word, elf.wide))
        else {
            break;
        };
        entries.push(Entry { tag, value, at });
        at += 2 * word;
        if tag == dt::NULL {
            ended = true;
            break;
        }
    }
    if !ended && range.bytes > 0 {
        notes.at(structure, range.offset, "no DT_NULL ends it");
    }
    if !budget.table(at - range.offset) {
        notes.at(structure, range.offset, super::REPEATED);
        entries.clear();
    }
    let mut dynamic = Dynamic {
        entries,
        location: Some(range),
        strings: None,
    };
    dynamic.strings = strings(elf, &dynamic, notes);
    dynamic
}

/// The table of strings: `DT_STRTAB`, `DT_STRSZ`, or the linked section where
/// no segment holds it.
fn strings<'a>(elf: &Elf<'a>, dynamic: &Dynamic<'a>, notes: &mut Notes) -> Option<Strings<'a>> {
    let tables = dynamic.all(dt::STRTAB);
    let address = dynamic.value(dt::STRTAB);
    if tables.count() > 1 {
        notes.at(
            "DT_STRTAB",
            dynamic.location.map_or(0, |range| range.offset),
            "it stands there more than once; the first counts",
        );
    }
    let mapped = address.and_then(|address| elf.offset_of(address));
    if let Some(offset) = mapped {
        let size = dynamic.value(dt::STRSZ).unwrap_or_else(|| {
            notes.at("DT_STRTAB", offset, "no DT_STRSZ tells its size");
            elf.bytes.len().saturating_sub(offset)
        });
        if !inside(offset, size, elf.bytes.len()) {
            notes.at("DT_STRTAB", offset, "its bytes are not all in the file");
        }
        return Some(Strings::new(elf.bytes.up_to(offset, size), offset));
    }
    if let Some(address) = address
        && !elf.segments.is_empty()
    {
        notes.add(crate::binary::Note {
            structure: "DT_STRTAB".to_owned(),
            offset: None,
            reason: format!("no segment holds the address {address:#x}"),
        });
    }
    let section = elf.sections.iter().find(|one| one.kind == sht::DYNAMIC)?;
    let linked = elf.section(section.link.into())?;
    (linked.kind == sht::STRTAB).then(|| elf.strings_of(linked))
}

impl<'a> Dynamic<'a> {
    /// The values of a tag, in order.
    pub(super) fn all(&self, tag: u64) -> impl Iterator<Item = Entry> + '_ {
        self.entries
            .iter()
            .copied()
            .filter(move |one| one.tag == tag)
    }

    /// The first value of a tag.
    pub(super) fn value(&self, tag: u64) -> Option<u64> {
        self.all(tag).next().map(|one| one.value)
    }

    /// The first entry of a tag.
    pub(super) fn entry(&self, tag: u64) -> Option<Entry> {
        self.all(tag).next()
    }

    /// The string that an entry names.
    pub(super) fn name(&self, entry: Entry, budget: &mut Budget) -> Name<'a> {
        match &self.strings {
            Some(strings) => strings.name(entry.value, budget),
            None => Name::Unknown("no-dynamic-string-table"),
        }
    }

    /// Where an entry stands.
    pub(super) fn location(entry: Entry, elf: &Elf<'_>) -> Range {
        Range {
            offset: entry.at,
            bytes: if elf.wide { 16 } else { 8 },
        }
    }
}

/// Whether the value of a tag is an offset in the table of strings.
pub(super) fn is_string(tag: u64) -> bool {
    matches!(
        tag,
        dt::NEEDED
            | dt::SONAME
            | dt::RPATH
            | dt::RUNPATH
            | dt::AUXILIARY
            | dt::FILTER
            | dt::USED
            | dt::CONFIG
            | dt::DEPAUDIT
            | dt::AUDIT
    )
}

rows! {
    /// A row of `facts.elf.dynamic`
    struct DynamicFact<'a> {
        flag_names: Option<Vec<&'static str>>,
        location: Range,
        string: Option<Text<'a>>,
        tag: Symbolic,
        tag_number: Hex,
        value: Hex,
    }
}

/// The table as facts.
pub(super) fn facts<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    budget: &mut Budget,
) -> Vec<DynamicFact<'a>> {
    let rows = dynamic.entries.iter().map(|&entry| {
        let string = is_string(entry.tag).then(|| dynamic.name(entry, budget));
        DynamicFact {
            flag_names: names::tag_flags(entry.tag, entry.value),
            location: Dynamic::location(entry, elf),
            string: match string {
                Some(Name::At { bytes, .. }) => Some(Text(bytes)),
                _ => None,
            },
            tag: names::tag(entry.tag, elf),
            tag_number: Hex(entry.tag),
            value: Hex(entry.value),
        }
    });
    rows.collect()
}
