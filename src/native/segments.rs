//! `list_segments` (functions section 1.2).

use super::record::NativeRecord;
use super::target::Mapped;
use crate::binary::layout::facts::Mapping;
use crate::binary::layout::rows::{Hex, Permissions, Section};
use crate::binary::layout::{Format, Layout};
use crate::binary::name_text;
use crate::error::Result;
use crate::json::{Object, WriteJson, Writer};
use crate::operation::Context;

/// A segment or section in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// Its name, or what the file has in place of one.
    pub name: String,
    /// The first address.
    pub start: u64,
    /// The address behind the last; may be 2^64.
    pub end: u128,
    /// Where its bytes stand, and how many.
    pub file: (u64, u64),
    /// What it may be used for; `None` where the format does not tell.
    pub permissions: Option<Permissions>,
    /// The field that tells, or why there is none.
    pub permissions_source: &'static str,
    /// The structure that it comes from.
    pub provenance: &'static str,
    /// Whether the file fills it; `None`: in part.
    pub initialized: Option<bool>,
    /// The address of the file's first byte, where it is mapped.
    pub image_base: Option<u64>,
    /// The sections that it holds.
    pub sections: Vec<SegmentRow>,
}

impl WriteJson for SegmentRow {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("end", format!("{:#x}", self.end));
        w.member("executable", self.permissions.map(|p| p.execute));
        w.member("file_offset", self.file.0);
        w.member("file_size", self.file.1);
        if let Some(base) = self.image_base {
            w.member("image_base", Hex(base));
        }
        if let Some(initialized) = self.initialized {
            w.member("initialized", initialized);
        }
        w.member("name", &self.name);
        w.key("permissions");
        w.begin_object();
        w.member("available", self.permissions.is_some());
        let why = match self.permissions {
            Some(_) => "source",
            None => "reason",
        };
        w.member(why, self.permissions_source);
        w.end_object();
        w.member("provenance", self.provenance);
        w.member("readable", self.permissions.map(|p| p.read));
        w.member("sections", &self.sections);
        w.member("start", Hex(self.start));
        w.member("writable", self.permissions.map(|p| p.write));
        w.end_object();
    }
}

/// Segments by address.
pub type Segments = Vec<SegmentRow>;

/// Where a format says what memory may be used for.
struct Words {
    segment: &'static str,
    segment_source: &'static str,
    section: &'static str,
}

fn words(format: Format) -> Words {
    match format {
        Format::Elf => Words {
            segment: "p_flags",
            segment_source: "program-headers",
            section: "sh_flags",
        },
        Format::MachO => Words {
            segment: "initprot",
            segment_source: "load-commands",
            section: "a section has the permissions of its segment",
        },
        Format::Pe | Format::Te | Format::Coff | Format::ImportObject | Format::ImportLibrary => {
            Words {
                segment: "Characteristics",
                segment_source: "section-table",
                section: "Characteristics",
            }
        }
    }
}

const LINKED: &str = "Addresses are those the file was linked for; where it loads is not known.";
const UNMAPPED: &str = "The file has no address of its own for anything in it: objects get theirs when they are linked.";

/// What the loader maps, by address, with the sections inside.
///
/// # Errors
/// `cancelled`.
pub fn list_segments(mapped: &Mapped<'_>, context: &Context) -> Result<NativeRecord<Segments>> {
    context.check()?;
    let rows = mapped.layout.as_ref().map(rows).unwrap_or_default();
    let mut said = vec![LINKED.to_owned()];
    if rows.is_empty() {
        said.push(UNMAPPED.to_owned());
    }
    let parts = mapped.parts(context.operation, Object::new(), said);
    Ok(NativeRecord::new(mapped.target, parts, rows))
}

fn rows(layout: &Layout<'_>) -> Segments {
    let words = words(layout.format);
    let mappings = &layout.facts.address_map;
    let base = mappings
        .iter()
        .filter(|mapping| mapping.file_size > 0)
        .min_by_key(|mapping| (mapping.offset, mapping.address))
        .filter(|mapping| layout.format != Format::Elf || mapping.offset == 0)
        .map(|mapping| mapping.address);
    let mut rows: Vec<SegmentRow> = mappings
        .iter()
        .map(|mapping| segment(mapping, &words, base))
        .collect();
    rows.sort_by(|a, b| (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name)));
    for section in layout
        .sections
        .iter()
        .filter(|one| in_memory(one, layout.format))
    {
        let end = u128::from(section.address) + u128::from(section.size);
        let behind = rows.partition_point(|row| row.start <= section.address);
        // Of segments that overlap, the last few that start before it.
        let holder = (behind.saturating_sub(8)..behind)
            .rev()
            .find(|&at| rows.get(at).is_some_and(|row| end <= row.end));
        if let Some(row) = holder.and_then(|at| rows.get_mut(at)) {
            row.sections
                .push(inner(section, layout.format, &words, end));
        }
    }
    for row in &mut rows {
        row.sections
            .sort_by(|a, b| (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name)));
    }
    rows
}

fn segment(mapping: &Mapping, words: &Words, base: Option<u64>) -> SegmentRow {
    let size = mapping.memory_size.max(mapping.file_size);
    SegmentRow {
        name: mapping.name.clone(),
        start: mapping.address,
        end: u128::from(mapping.address) + u128::from(size),
        file: (mapping.offset, mapping.file_size),
        permissions: mapping.permissions,
        permissions_source: match mapping.permissions {
            Some(_) => words.segment,
            None => "the mapping has no permissions of its own",
        },
        provenance: words.segment_source,
        initialized: match mapping.file_size {
            0 => Some(false),
            there if there >= size => Some(true),
            _ => None,
        },
        image_base: base,
        sections: Vec::new(),
    }
}

/// Whether a section takes room in memory.
fn in_memory(section: &Section<'_>, format: Format) -> bool {
    const SHF_ALLOC: u64 = 2;
    const SHF_TLS: u64 = 0x400;
    match format {
        Format::Elf => {
            section.flags & SHF_ALLOC != 0 && (section.in_file || section.flags & SHF_TLS == 0)
        }
        _ => section.size > 0,
    }
}

fn inner(section: &Section<'_>, format: Format, words: &Words, end: u128) -> SegmentRow {
    let flags = section.flags;
    let permissions = match format {
        // SHF_ALLOC, SHF_WRITE, SHF_EXECINSTR
        Format::Elf => Some(Permissions {
            read: flags & 2 != 0,
            write: flags & 1 != 0,
            execute: flags & 4 != 0,
        }),
        Format::MachO => None,
        // IMAGE_SCN_MEM_READ, _WRITE, _EXECUTE
        _ => Some(Permissions {
            read: flags & 0x4000_0000 != 0,
            write: flags & 0x8000_0000 != 0,
            execute: flags & 0x2000_0000 != 0,
        }),
    };
    SegmentRow {
        name: name_text(section.name.bytes()).into_owned(),
        start: section.address,
        end,
        file: match section.in_file {
            true => (section.offset, section.size),
            false => (section.offset, 0),
        },
        permissions,
        permissions_source: words.section,
        provenance: "section-table",
        initialized: Some(section.in_file),
        image_base: None,
        sections: Vec::new(),
    }
}
