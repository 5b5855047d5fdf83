//! What ties a file to its sources: links to debug files, `.comment`, Go's
//! build information, DWARF, compressed sections; and the groups of objects.

use super::fact::{Text, rows};
use super::symbols::Symbols;
use super::tables::{SHF_COMPRESSED, sht};
use super::{Budget, Elf, REPEATED, Symbolic};
use crate::binary::layout::facts::BuildId;
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes};

rows! {
    /// `facts.elf.debug_link`: `.gnu_debuglink`
    struct DebugLink<'a> {
        crc32: Hex,
        file: Text<'a>,
        location: Range,
    }

    /// `facts.elf.debug_alt_link`: `.gnu_debugaltlink`
    struct AltLink<'a> {
        build_id: String,
        file: Text<'a>,
        location: Range,
    }

    /// A row of `facts.elf.comments`
    struct Comment<'a> {
        location: Range,
        text: Text<'a>,
    }

    /// A row of `facts.elf.compressed_sections`
    struct Compressed {
        algorithm: Symbolic,
        alignment: Hex,
        index: u64,
        location: Range,
        size: Hex,
    }

    /// A row of `facts.elf.groups`
    struct Group<'a> {
        comdat: bool,
        flags: Hex,
        index: u64,
        location: Range,
        members: Vec<u64>,
        signature: Option<Text<'a>>,
    }

    /// `facts.elf.dwarf`
    struct Dwarf {
        compressed: bool,
        sections: Vec<u64>,
        /// Units of `.debug_info`; null where it is compressed or missing.
        units: Option<u64>,
        /// Each version that a unit has.
        versions: Vec<u64>,
    }
}

/// The links to debug files; each is an identity of the build, too.
pub(super) fn links<'a>(
    elf: &Elf<'a>,
    ids: &mut Vec<BuildId>,
    notes: &mut Notes,
) -> (Option<DebugLink<'a>>, Option<AltLink<'a>>) {
    let mut link = None;
    if let Some((index, header)) = elf.named(b".gnu_debuglink")
        && header.in_file()
    {
        let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
        let read = || {
            let file = bytes.string(0)?;
            let crc = bytes.u32((file.len() as u64 + 1).next_multiple_of(4))?;
            Some((file, crc))
        };
        match read() {
            Some((file, crc)) => {
                ids.push(BuildId {
                    kind: "debug-link",
                    value: format!("{crc:08x}"),
                    location: header.range(),
                });
                link = Some(DebugLink {
                    crc32: Hex(crc.into()),
                    file: Text(file),
                    location: header.range(),
                });
            }
            None => notes.at(elf.section_text(index), header.offset, "it is cut"),
        }
    }
    let mut alt = None;
    if let Some((index, header)) = elf.named(b".gnu_debugaltlink")
        && header.in_file()
    {
        let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
        match bytes.string(0) {
            Some(file) => {
                let id = bytes.tail(file.len() as u64 + 1);
                alt = Some(AltLink {
                    build_id: super::fact::HexBytes(id).text(),
                    file: Text(file),
                    location: header.range(),
                });
            }
            None => notes.at(elf.section_text(index), header.offset, "it is cut"),
        }
    }
    (link, alt)
}

/// Strings of `.comment` that are read: linkers keep each once.
const COMMENTS: usize = 4096;

/// The strings of `.comment`.
pub(super) fn comments<'a>(
    elf: &Elf<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Comment<'a>> {
    let mut rows: Vec<Comment<'a>> = Vec::new();
    let Some((_, header)) = elf.named(b".comment") else {
        return rows;
    };
    let data = elf.section_bytes(header);
    if !budget.table(data.len() as u64) {
        return rows;
    }
    let mut at = 0u64;
    for text in data.split(|&byte| byte == 0) {
        if !text.is_empty() {
            if rows.len() == COMMENTS {
                notes.at(
                    ".comment",
                    header.offset,
                    format!("it has more than {COMMENTS} strings; the rest was not read"),
                );
                break;
            }
            rows.push(Comment {
                location: Range {
                    offset: header.offset + at,
                    bytes: text.len() as u64,
                },
                text: Text(text),
            });
        }
        at += text.len() as u64 + 1;
    }
    rows
}

const ALGORITHMS: &[(u64, &str)] = &[(1, "ELFCOMPRESS_ZLIB"), (2, "ELFCOMPRESS_ZSTD")];

/// The headers of compressed sections (gABI ch. 4).
pub(super) fn compressed(elf: &Elf<'_>, notes: &mut Notes) -> Vec<Compressed> {
    let mut rows = Vec::new();
    for (index, header) in elf.sections.iter().enumerate() {
        if header.flags & SHF_COMPRESSED == 0 || !header.in_file() {
            continue;
        }
        let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
        let (size, alignment) = match elf.wide {
            true => (bytes.u64(8), bytes.u64(16)),
            false => (bytes.u32(4).map(u64::from), bytes.u32(8).map(u64::from)),
        };
        let (Some(kind), Some(size), Some(alignment)) = (bytes.u32(0), size, alignment) else {
            notes.at(
                elf.section_text(index),
                header.offset,
                "its compression header is cut",
            );
            continue;
        };
        rows.push(Compressed {
            algorithm: Symbolic::of(kind.into(), ALGORITHMS),
            alignment: Hex(alignment),
            index: index as u64,
            location: Range {
                offset: header.offset,
                bytes: if elf.wide { 24 } else { 12 },
            },
            size: Hex(size),
        });
    }
    rows
}

/// The groups of sections that stand or fall together (gABI ch. 4).
pub(super) fn groups<'a>(
    elf: &Elf<'a>,
    symbols: &Symbols<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Group<'a>> {
    let mut rows = Vec::new();
    for (index, header) in elf.sections.iter().enumerate() {
        if header.kind != sht::GROUP {
            continue;
        }
        let data = elf.section_bytes(header);
        let bytes = Bytes::new(data, elf.bytes.order());
        let Some(flags) = bytes.u32(0) else {
            notes.at(elf.section_text(index), header.offset, "it is cut");
            continue;
        };
        if !budget.table(data.len() as u64) {
            notes.at(elf.section_text(index), header.offset, REPEATED);
            continue;
        }
        let table = symbols.table(header.link.into());
        let symbol = table.and_then(|table| symbols.at(table, header.info.into()));
        // A group may be named by the section that a symbol stands for.
        let signature = symbol.map(|symbol| match symbol.section_index {
            Symbolic::Number(section)
                if symbol.kind == Symbolic::Named("STT_SECTION")
                    && symbol.name.bytes().is_empty() =>
            {
                elf.section_name(usize::try_from(section).unwrap_or(usize::MAX))
            }
            _ => symbol.name.bytes(),
        });
        let count = bytes.len() / 4;
        rows.push(Group {
            comdat: flags & 1 != 0,
            flags: Hex(flags.into()),
            index: index as u64,
            location: header.range(),
            members: (1..count)
                .filter_map(|at| bytes.u32(4 * at))
                .map(u64::from)
                .collect(),
            signature: signature.map(Text),
        });
    }
    rows
}

/// Which sections hold DWARF, and of which versions its units are.
pub(super) fn dwarf(elf: &Elf<'_>) -> Option<Dwarf> {
    let is_debug = |name: &[u8]| name.starts_with(b".debug_") || name.starts_with(b".zdebug_");
    let sections: Vec<usize> = elf
        .section_names
        .iter()
        .enumerate()
        .filter(|(_, name)| is_debug(name))
        .map(|(index, _)| index)
        .collect();
    if sections.is_empty() {
        return None;
    }
    let header = |index: &usize| elf.sections.get(*index);
    let compressed = sections.iter().any(|index| {
        elf.section_name(*index).starts_with(b".zdebug_")
            || header(index).is_some_and(|one| one.flags & SHF_COMPRESSED != 0)
    });
    let mut versions = std::collections::BTreeSet::new();
    let mut units = None;
    let info = elf.named(b".debug_info").map(|(_, header)| header);
    if let Some(header) = info.filter(|one| one.flags & SHF_COMPRESSED == 0 && one.in_file()) {
        let bytes = Bytes::new(elf.section_bytes(header), elf.bytes.order());
        let (mut at, mut count) = (0u64, 0);
        // DWARF 5 section 7.5.1: the length, four bytes or twelve, then the
        // version.
        while let Some(length) = bytes.u32(at) {
            let (length, head) = match length {
                0xFFFF_FFFF => match bytes.u64(at + 4) {
                    Some(length) => (length, 12),
                    None => break,
                },
                length => (length.into(), 4),
            };
            let Some(version) = bytes.u16(at + head) else {
                break;
            };
            versions.insert(version);
            count += 1;
            match at.checked_add(head).and_then(|at| at.checked_add(length)) {
                Some(next) if length > 0 => at = next,
                _ => break,
            }
        }
        units = Some(count);
    }
    Some(Dwarf {
        compressed,
        sections: sections.into_iter().map(|at| at as u64).collect(),
        units,
        versions: versions.into_iter().map(u64::from).collect(),
    })
}

rows! {
    /// `facts.elf.go_build_info`
    struct GoBuildInfo<'a> {
        location: Range,
        /// The lines of its module information, without the marks around it.
        module_info: Option<Text<'a>>,
        version: Text<'a>,
    }
}

/// Go's build information (`debug/buildinfo`): a header of 32 bytes, then
/// either two strings with their lengths, or pointers to two strings.
pub(super) fn go_build_info<'a>(elf: &Elf<'a>) -> Option<GoBuildInfo<'a>> {
    const MAGIC: &[u8] = b"\xFF Go buildinf:";
    let (_, header) = elf.named(b".go.buildinfo")?;
    let data = elf.section_bytes(header);
    let start = memchr::memmem::find(data, MAGIC)?;
    let bytes = Bytes::little(data.get(start..)?);
    let flags = bytes.u8(15)?;
    let location = |size: u64| Range {
        offset: header.offset + start as u64,
        bytes: size,
    };
    let (version, info, size) = if flags & 2 != 0 {
        let (length, used) = bytes.uleb(32)?;
        let version = bytes.get(32 + used, length)?;
        let at = 32 + used + length;
        let info = bytes
            .uleb(at)
            .and_then(|(length, used)| bytes.get(at + used, length).map(|info| (info, used)));
        let end = at + info.map_or(0, |(info, used)| used + info.len() as u64);
        (version, info.map(|(info, _)| info), end)
    } else {
        let wide = bytes.u8(14)? == 8;
        let word = if wide { 8 } else { 4 };
        let order = match flags & 1 {
            1 => crate::binary::ByteOrder::Big,
            _ => crate::binary::ByteOrder::Little,
        };
        let pointers = Bytes::new(bytes.data(), order);
        let memory = Bytes::new(elf.bytes.data(), order);
        let string = |at: u64| {
            let header = elf.offset_of(pointers.word(at, wide)?)?;
            let text = elf.offset_of(memory.word(header, wide)?)?;
            memory.get(text, memory.word(header + word, wide)?)
        };
        (string(16)?, string(16 + word), 32)
    };
    // Module information stands between marks of 16 bytes.
    let inner = info.and_then(|info| {
        let end = info.len().checked_sub(16)?;
        info.get(16..end)
    });
    Some(GoBuildInfo {
        location: location(size),
        module_info: inner.filter(|text| !text.is_empty()).map(Text),
        version: Text(version),
    })
}
