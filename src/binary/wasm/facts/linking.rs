//! What linkers need of object files (tool conventions, Linking.md).

use wasmparser::{Linking, LinkingSectionReader, RelocAddendKind, RelocSectionReader, SymbolInfo};

use super::super::custom::{Customs, Dylink, RELOCATIONS, SEGMENT_FLAGS, SYMBOL_FLAGS};
use super::super::walk::{Section, Unit, id};
use super::rows::signed;
use crate::json::{WriteJson, Writer};

/// `dylink`
pub fn dylink(dylink: &Dylink<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.key("exports");
    w.begin_array();
    for (name, bits) in &dylink.exports {
        w.begin_object();
        flags(*bits, &SYMBOL_FLAGS, w);
        w.member("name", name);
        w.end_object();
    }
    w.end_array();
    w.key("imports");
    w.begin_array();
    for (module, name, bits) in &dylink.imports {
        w.begin_object();
        flags(*bits, &SYMBOL_FLAGS, w);
        w.member("module", module);
        w.member("name", name);
        w.end_object();
    }
    w.end_array();
    w.key("memory");
    match dylink.memory {
        Some(numbers) => {
            const MEMBERS: [&str; 4] = [
                "memory_size",
                "memory_alignment_log2",
                "table_size",
                "table_alignment_log2",
            ];
            let mut members: Vec<_> = MEMBERS.iter().zip(numbers).collect();
            members.sort_unstable();
            w.begin_object();
            for (name, number) in members {
                w.member(name, number);
            }
            w.end_object();
        }
        None => w.null(),
    }
    w.key("needed");
    strings(&dylink.needed, w);
    w.key("runtime_path");
    strings(&dylink.runtime_path, w);
    w.key("unknown_subsections");
    w.begin_array();
    dylink.unknown.iter().for_each(|id| w.u64(*id));
    w.end_array();
    w.end_object();
}

fn strings(strings: &[&str], w: &mut Writer<'_>) {
    w.begin_array();
    strings.iter().for_each(|text| w.string(text));
    w.end_array();
}

/// `flags`, the names of known bits, and `flags_value`, all of them.
fn flags(bits: u32, names: &[(u32, &str)], w: &mut Writer<'_>) {
    w.key("flags");
    w.begin_array();
    for (bit, name) in names {
        if bits & bit != 0 {
            w.string(name);
        }
    }
    w.end_array();
    w.member("flags_value", bits);
}

/// `linking`, where there is such a section.
pub fn linking(unit: &Unit<'_>, customs: &Customs<'_>, w: &mut Writer<'_>) {
    if !customs.linking {
        return w.null();
    }
    let subsections = || {
        let sections = unit.customs().filter(|(_, name, _)| *name == "linking");
        let readers = sections.filter_map(|(.., reader)| LinkingSectionReader::new(reader).ok());
        readers.flat_map(|reader| reader.subsections().map_while(Result::ok))
    };
    w.begin_object();
    w.key("comdats");
    w.begin_array();
    for comdat in subsections().filter_map(|subsection| match subsection {
        Linking::ComdatInfo(rows) => Some(rows),
        _ => None,
    }) {
        for comdat in comdat.into_iter().map_while(Result::ok) {
            w.begin_object();
            w.member("flags_value", comdat.flags);
            w.key("members");
            w.begin_array();
            for member in comdat.symbols.into_iter().map_while(Result::ok) {
                w.begin_object();
                w.member("index", member.index);
                w.member("kind", comdat_kind(member.kind));
                w.end_object();
            }
            w.end_array();
            w.member("name", comdat.name);
            w.end_object();
        }
    }
    w.end_array();
    w.key("init_functions");
    w.begin_array();
    for rows in subsections() {
        let Linking::InitFuncs(rows) = rows else {
            continue;
        };
        for row in rows.into_iter().map_while(Result::ok) {
            w.begin_object();
            w.member("priority", row.priority);
            w.member("symbol", row.symbol_index);
            w.end_object();
        }
    }
    w.end_array();
    w.key("segments");
    w.begin_array();
    for rows in subsections() {
        let Linking::SegmentInfo(rows) = rows else {
            continue;
        };
        for row in rows.into_iter().map_while(Result::ok) {
            w.begin_object();
            w.member("alignment_log2", row.alignment);
            flags(row.flags.bits(), &SEGMENT_FLAGS, w);
            w.member("name", row.name);
            w.end_object();
        }
    }
    w.end_array();
    w.key("symbols");
    w.begin_array();
    let mut index = 0u64;
    for rows in subsections() {
        let Linking::SymbolTable(rows) = rows else {
            continue;
        };
        for row in rows.into_iter().map_while(Result::ok) {
            symbol(index, &row, w);
            index += 1;
        }
    }
    w.end_array();
    w.key("target_arch");
    let mut arch = subsections().filter_map(|subsection| match subsection {
        Linking::TargetArch(arch) => Some(arch),
        _ => None,
    });
    arch.next().write_json(w);
    w.end_object();
}

fn comdat_kind(kind: wasmparser::ComdatSymbolKind) -> &'static str {
    use wasmparser::ComdatSymbolKind as Comdat;
    match kind {
        Comdat::Data => "data",
        Comdat::Func => "func",
        Comdat::Global => "global",
        Comdat::Event => "tag",
        Comdat::Table => "table",
        Comdat::Section => "section",
    }
}

fn symbol(index: u64, symbol: &SymbolInfo<'_>, w: &mut Writer<'_>) {
    let (kind, bits, item, name) = match *symbol {
        SymbolInfo::Func { flags, index, name } => ("func", flags, Some(index), name),
        SymbolInfo::Global { flags, index, name } => ("global", flags, Some(index), name),
        SymbolInfo::Event { flags, index, name } => ("tag", flags, Some(index), name),
        SymbolInfo::Table { flags, index, name } => ("table", flags, Some(index), name),
        SymbolInfo::Section { flags, section } => ("section", flags, Some(section), None),
        SymbolInfo::Data {
            flags,
            name,
            symbol,
        } => ("data", flags, symbol.map(|data| data.index), Some(name)),
    };
    let place = match symbol {
        SymbolInfo::Data { symbol, .. } => *symbol,
        _ => None,
    };
    w.begin_object();
    flags(bits.bits(), &SYMBOL_FLAGS, w);
    w.member("index", index);
    w.member("item", item.map(u64::from));
    w.member("kind", kind);
    w.member("name", name);
    if let Some(place) = place {
        w.member("offset", place.offset);
        w.member("size", place.size);
    }
    w.end_object();
}

/// `relocations`: one item a section.
pub fn relocations(unit: &Unit<'_>, customs: &Customs<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    for (_, name, reader) in unit.customs() {
        if !name.starts_with("reloc.") {
            continue;
        }
        let Ok(section) = RelocSectionReader::new(reader) else {
            continue;
        };
        let target = section.section_index();
        let base = usize::try_from(target)
            .ok()
            .and_then(|target| unit.sections.get(target))
            .and_then(|section| contents(section, customs));
        w.begin_object();
        w.key("entries");
        w.begin_array();
        for entry in section.entries().into_iter().map_while(Result::ok) {
            w.begin_object();
            w.key("addend");
            match entry.ty.addend_kind() {
                RelocAddendKind::None => w.null(),
                _ => signed(entry.addend, w),
            }
            let file_offset = base.map(|base| base + u64::from(entry.offset));
            w.member("file_offset", file_offset);
            w.member("index", entry.index);
            w.member("offset", entry.offset);
            let kind = RELOCATIONS.get(entry.ty as usize).copied().unwrap_or("");
            w.member("type", kind);
            w.end_object();
        }
        w.end_array();
        w.member("name", name);
        w.member("target_section", target);
        w.end_object();
    }
    w.end_array();
}

/// Where the contents of a section start: of a custom section after its name.
fn contents(section: &Section, customs: &Customs<'_>) -> Option<u64> {
    if section.id != id::CUSTOM {
        return Some(section.start);
    }
    let mut sections = customs.sections.iter();
    let custom = sections.find(|custom| custom.start == section.start)?;
    Some(custom.data)
}
