//! How the loader maps an image: which bytes of the file each address shows.

use super::executable::Parts;
use super::headers::{OptionalHeader, ROM};
use super::image::Region;
use super::sections::{self, SectionHeader};
use crate::binary::layout::facts::Mapping;
use crate::binary::layout::rows::Permissions;
use crate::binary::{Bytes, Notes, name_text};

/// A page of memory, and a sector of a file as the loader counts them.
const PAGE: u64 = 0x1000;
const SECTOR: u64 = 0x200;

/// Whether the loader maps the file as it is: sections are aligned to less
/// than a page and stand in memory where they stand in the file.
fn is_flat(optional: &OptionalHeader, sections: &[SectionHeader<'_>]) -> bool {
    u64::from(optional.section_alignment) < PAGE
        && sections
            .iter()
            .all(|section| !section.in_file() || section.rva == section.raw_offset)
}

/// Where a section's bytes stand for the loader, which counts in sectors.
fn mapped(bytes: Bytes<'_>, optional: &OptionalHeader, section: &SectionHeader<'_>) -> Region {
    let paged = u64::from(optional.section_alignment) >= PAGE;
    let offset = match paged {
        true => section.raw_offset / SECTOR * SECTOR,
        false => section.raw_offset,
    };
    let memory = match section.virtual_size {
        0 => section.raw_size,
        size if paged => size.next_multiple_of(PAGE),
        size => size,
    };
    let there = bytes.len().saturating_sub(offset);
    Region {
        rva: section.rva,
        length: match section.in_file() {
            true => section.raw_size.min(memory).min(there),
            false => 0,
        },
        offset,
    }
}

/// What headers and sections show; `table` is where the section table stands.
pub(super) fn regions(
    bytes: Bytes<'_>,
    optional: &OptionalHeader,
    sections: &[SectionHeader<'_>],
    table: u64,
    notes: &mut Notes,
) -> Vec<Region> {
    if is_flat(optional, sections) {
        if optional.magic != ROM {
            notes.at(
                "SectionAlignment",
                optional.offset + 32,
                format!(
                    "it is {:#x}, less than a page: the file is mapped as it is",
                    optional.section_alignment
                ),
            );
        }
        return vec![Region {
            rva: 0,
            length: bytes.len(),
            offset: 0,
        }];
    }
    let lowest = sections.iter().map(|section| section.rva).min();
    let behind = table + sections.len() as u64 * sections::HEADER;
    let headers = u64::from(optional.size_of_headers).max(behind);
    let mut regions = vec![Region {
        rva: 0,
        length: headers.min(bytes.len()).min(lowest.unwrap_or(u64::MAX)),
        offset: 0,
    }];
    let mut end = 0u64;
    for section in sections {
        let region = mapped(bytes, optional, section);
        let at = section.header.offset;
        if section.in_file() {
            if region.offset != section.raw_offset {
                notes.at(
                    "section",
                    at,
                    format!(
                        "its bytes are said to stand at {:#x}; the loader takes them from {:#x}",
                        section.raw_offset, region.offset
                    ),
                );
            }
            let there = bytes.len().saturating_sub(section.raw_offset);
            if there < section.raw_size {
                notes.at(
                    "section",
                    at,
                    format!(
                        "it has {} bytes at {:#x}, and the file ends after {there} of them",
                        section.raw_size, section.raw_offset
                    ),
                );
            }
        }
        if section.rva < end {
            notes.at(
                "section",
                at,
                format!(
                    "its address {:#x} lies in the section before it; the lower one is read there",
                    section.rva
                ),
            );
        }
        end = end.max(section.rva + section.virtual_size.max(region.length));
        regions.push(region);
    }
    regions
}

/// The same as facts, by address.
pub(super) fn address_map(parts: &Parts<'_>) -> Vec<Mapping> {
    let Parts {
        bytes,
        optional,
        sections,
        image,
        ..
    } = parts;
    let mut map = Vec::new();
    let lowest = sections.iter().map(|section| section.rva).min();
    let headers = u64::from(optional.size_of_headers)
        .min(bytes.len())
        .min(lowest.unwrap_or(u64::MAX));
    if headers > 0 {
        map.push(Mapping {
            address: image.base,
            memory_size: headers,
            offset: 0,
            file_size: headers,
            permissions: Some(Permissions {
                read: true,
                write: false,
                execute: false,
            }),
            name: "headers".to_owned(),
        });
    }
    for section in sections {
        let region = mapped(*bytes, optional, section);
        let memory_size = match section.virtual_size {
            0 => section.raw_size,
            size => size,
        };
        if memory_size == 0 {
            continue;
        }
        map.push(Mapping {
            address: image.address(section.rva),
            memory_size,
            offset: region.offset,
            file_size: region.length.min(memory_size),
            permissions: Some(section.permissions()),
            name: name_text(section.name.bytes()).into_owned(),
        });
    }
    map.sort_by_key(|one| one.address);
    map
}
