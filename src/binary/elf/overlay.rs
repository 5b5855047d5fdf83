//! Bytes behind all that the headers name.

use super::Elf;
use super::tables::{pt, section_header_size, segment_header_size};
use crate::binary::layout::rows::Range;

/// The bytes behind the header, both tables, all sections and all segments.
pub(super) fn find(elf: &Elf<'_>) -> Option<Range> {
    let header = &elf.header;
    let length = elf.bytes.len();
    let ends = [
        (0, if elf.wide { 64 } else { 52 }),
        (
            header.phoff,
            elf.segment_count
                .saturating_mul(u64::from(header.phentsize).max(segment_header_size(elf.wide))),
        ),
        (
            header.shoff,
            elf.section_count
                .saturating_mul(u64::from(header.shentsize).max(section_header_size(elf.wide))),
        ),
    ];
    let sections = elf.sections.iter().filter(|one| one.in_file());
    let segments = elf.segments.iter().filter(|one| one.kind != pt::NULL);
    let end = ends
        .into_iter()
        .chain(sections.map(|one| (one.offset, one.size)))
        .chain(segments.map(|one| (one.offset, one.file_size)))
        .filter(|&(_, bytes)| bytes > 0)
        .map(|(offset, bytes)| offset.saturating_add(bytes))
        .max()?;
    (end < length).then(|| Range {
        offset: end,
        bytes: length - end,
    })
}
