//! Terse Executable images of UEFI (Platform Initialization Specification,
//! volume 1, section "TE Image"): sections of a PE image behind a header of 40
//! bytes. Offsets in them count as if the headers that were taken away were
//! still there.

use super::fields::{hex, named, number};
use super::headers::{Directory, directory_facts};
use super::image::{Budget, Image, Region};
use super::names::{MACHINES, SUBSYSTEMS};
use super::sections;
use super::strings::Strings;
use super::{NUMBERED, Own, base_relocations, debug};
use crate::binary::Bytes;
use crate::binary::layout::facts::{EntryPoint, Mapping};
use crate::binary::layout::rows::{Range, Symbolic};
use crate::binary::layout::{EntryMeaning, Format, Layout, Refusal};
use crate::binary::name_text;
use crate::json::Object;

/// Bytes of the header.
const HEADER: u64 = 40;

/// Takes one apart.
pub(super) fn parse(bytes: Bytes<'_>) -> Result<Layout<'_>, Refusal> {
    let machine = bytes.u16(2).ok_or(Refusal::Format)?;
    if matches!(
        Symbolic::of(u64::from(machine), MACHINES),
        Symbolic::Number(_)
    ) {
        return Err(Refusal::Format);
    }
    let Some(header) = bytes.part(0, HEADER) else {
        return Err(Refusal::Header {
            offset: 0,
            reason: "the file ends in the TE header".to_owned(),
        });
    };
    let word = |at| u64::from(header.u32(at).unwrap_or(0));
    let count = u64::from(header.u8(4).unwrap_or(0));
    let subsystem = header.u8(5).unwrap_or(0);
    let stripped = u64::from(header.u16(6).unwrap_or(0));
    let (entry, base) = (word(8), header.u64(16).unwrap_or(0));
    let mut layout = super::empty(Format::Te, machine, super::bits(machine));
    layout.image_type = Symbolic::Named("application");
    let mut budget = Budget::new(bytes.len());
    let mut headers = sections::read(
        bytes,
        HEADER,
        count,
        &Strings::none(),
        &mut budget,
        &mut layout.notes,
    );
    // The bytes that were taken away.
    let missing = match stripped.checked_sub(HEADER) {
        Some(missing) => missing,
        None => {
            layout.notes.at(
                "StrippedSize",
                6,
                format!("it says {stripped} bytes, fewer than this header has"),
            );
            0
        }
    };
    let facts_of_sections = headers.clone();
    let mut regions = vec![Region {
        rva: missing,
        length: HEADER + headers.len() as u64 * sections::HEADER,
        offset: 0,
    }];
    for section in &mut headers {
        if !section.in_file() {
            continue;
        }
        let Some(offset) = section.raw_offset.checked_sub(missing) else {
            layout.notes.at(
                "section",
                section.header.offset,
                "its bytes would stand in the headers that were taken away",
            );
            section.raw_size = 0;
            continue;
        };
        section.raw_offset = offset;
        let there = bytes.len().saturating_sub(offset);
        if there < section.raw_size {
            layout.notes.at(
                "section",
                section.header.offset,
                format!(
                    "it has {} bytes at {offset:#x}, and the file ends after {there} of them",
                    section.raw_size
                ),
            );
        }
        let length = section.raw_size.min(there);
        regions.push(Region {
            rva: section.rva,
            length: length.min(section.virtual_size.max(1)),
            offset,
        });
        layout.facts.address_map.push(Mapping {
            address: base.wrapping_add(section.rva),
            memory_size: section.virtual_size,
            offset,
            file_size: length,
            permissions: Some(section.permissions()),
            name: name_text(section.name.bytes()).into_owned(),
        });
    }
    layout.facts.address_map.sort_by_key(|one| one.address);
    let wide = layout.bits == 64;
    let image = Image::new(bytes, base, wide, machine, regions);
    layout.sections = headers
        .iter()
        .map(|section| section.row(Some(base), 0))
        .collect();
    layout.general_limitations.push(NUMBERED);
    if entry != 0 {
        layout.entry = image.address(entry);
        layout.entry_meaning = EntryMeaning::LinkedVirtualAddress;
        layout.facts.entry_points.push(EntryPoint {
            kind: "entry",
            address: Some(layout.entry),
            location: Some(Range {
                offset: 8,
                bytes: 4,
            }),
            symbol: None,
        });
    } else {
        layout.entry_meaning = EntryMeaning::Absent;
    }
    let directories: Vec<Directory> = [24u64, 32]
        .iter()
        .map(|&at| Directory {
            rva: word(at),
            size: word(at + 4),
            row: Range {
                offset: at,
                bytes: 8,
            },
        })
        .collect();
    let mut facts = Object::new();
    facts.insert("address_of_entry_point", hex(entry));
    facts.insert("base_of_code", hex(word(12)));
    facts.insert("image_base", hex(base));
    facts.insert("machine", named(machine, MACHINES));
    facts.insert("number_of_sections", number(count));
    facts.insert("stripped_size", number(stripped));
    facts.insert("subsystem", named(subsystem, SUBSYSTEMS));
    let rows = directory_facts(&directories, |_, one| image.range(one.rva, one.size));
    let mut own: Own<'_> = vec![
        ("data_directories", Box::new(rows)),
        ("sections", Box::new(facts_of_sections)),
        ("te_header", Box::new(facts)),
    ];
    if let Some(table) = directories.first().filter(|table| table.size > 0) {
        let (blocks, summary) = base_relocations::read(
            &image,
            table.rva,
            table.size,
            &mut budget,
            &mut layout.notes,
        );
        own.push(("base_relocation_summary", Box::new(summary)));
        own.push(("base_relocations", Box::new(blocks)));
    }
    if let Some(table) = directories.get(1).filter(|table| table.size > 0) {
        let found = debug::read(&image, *table, missing, &mut budget, &mut layout.notes);
        own.push(("debug_directory", Box::new(found.rows)));
        layout.facts.build_ids = found.build_ids;
    }
    layout.facts.own.1 = own;
    Ok(layout)
}
