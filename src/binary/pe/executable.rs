//! PE32 and PE32+ images.

use super::headers::{
    FILE_HEADER, FileHeader, OptionalHeader, directory, directory_facts, dos_header,
};
use super::image::{Budget, Image};
use super::imports::{self, Imports};
use super::sections::{self, SectionHeader};
use super::symbols::{self, Table};
use super::{
    NUMBERED, Own, base_relocations, bound_imports, certificates, checksum, clr, debug, exceptions,
    exports, load_config, loader, mitigations, object, packers, resources, rich, tls,
};
use crate::binary::layout::facts::{BuildId, Dependency, EntryPoint};
use crate::binary::layout::rows::{Range, Symbolic};
use crate::binary::layout::{EntryMeaning, Format, Layout, Refusal};
use crate::binary::{Bytes, Notes, name_text};
use crate::json::{Object, Value};
use std::sync::Arc;

/// The parts that others are read from.
pub(super) struct Parts<'a> {
    pub bytes: Bytes<'a>,
    pub image_header: u64,
    pub file: FileHeader,
    pub optional: OptionalHeader,
    pub sections: Vec<SectionHeader<'a>>,
    pub symbols: Table<'a>,
    pub image: Arc<Image<'a>>,
}

/// Takes one apart.
pub(super) fn parse(bytes: Bytes<'_>) -> Result<Layout<'_>, Refusal> {
    let mut notes = Notes::default();
    let mut budget = Budget::new(bytes.len());
    let parts = headers(bytes, &mut budget, &mut notes)?;
    let Parts {
        file,
        optional,
        image,
        ..
    } = &parts;
    let bits = if optional.wide { 64 } else { 32 };
    let mut layout = super::empty(Format::Pe, file.machine, bits);
    layout.general_limitations.push(NUMBERED);
    layout.image_type = Symbolic::Named(match file.characteristics {
        flags if flags & 0x0002 == 0 => "non-executable",
        flags if flags & 0x2000 != 0 => "shared-library",
        _ => "application",
    });
    entry(&parts, &mut layout);
    layout.sections = parts
        .sections
        .iter()
        .map(|section| section.row(Some(image.base), u64::from(optional.section_alignment)))
        .collect();
    layout.facts.address_map = loader::address_map(&parts);
    let count = parts.sections.len() as u64;
    let (symbols, auxiliary) = symbols::read(&parts.symbols, count, &mut budget, &mut notes);
    layout.symbols = symbols;

    let mut own: Own<'_> = vec![
        (
            "dos_header",
            Box::new(dos_header(bytes, parts.image_header)),
        ),
        ("file_header", Box::new(file.facts())),
        ("optional_header", Box::new(optional.facts())),
        ("symbol_auxiliary", Box::new(auxiliary)),
    ];
    let rows = directory_facts(&optional.directories, |index, one| match index {
        directory::SECURITY => bytes.part(one.rva, one.size).map(|_| Range {
            offset: one.rva,
            bytes: one.size,
        }),
        _ if one.rva == 0 => None,
        _ => image.range(one.rva, one.size),
    });
    own.push(("data_directories", Box::new(rows)));
    let canary = link(&parts, &mut layout, &mut own, &mut budget, &mut notes);
    let debug = describe(&parts, &mut layout, &mut own, &mut budget, &mut notes);
    let config = tables(&parts, &mut layout, &mut own, &mut budget, &mut notes);
    let indicators = &mut layout.indicators;
    indicators.position_independent = optional.dll_characteristics & 0x40 != 0;
    indicators.nx = Some(optional.dll_characteristics & 0x100 != 0);
    indicators.executable_stack = optional.dll_characteristics & 0x100 == 0;
    let cookie = config.and_then(|config| config.security_cookie);
    indicators.stack_canary = canary.is_some() || cookie.is_some_and(|cookie| cookie != 0);
    layout.facts.mitigations = mitigations::rows(&mitigations::Facts {
        parts: &parts,
        load_config: config.as_ref(),
        debug: &debug,
        canary,
    });
    layout.facts.overlay = overlay(&parts, debug.end);
    own.push(("debug_directory", Box::new(debug.rows)));
    layout.facts.build_ids.extend(debug.build_ids);
    own.push(("packer_sections", Box::new(packers::read(&parts.sections))));
    own.push(("sections", Box::new(parts.sections)));
    layout.facts.own.1 = own;
    layout.notes = notes;
    Ok(layout)
}

/// What tells what the file is: checksum, tools, resources, debug directory,
/// certificates, managed code.
fn describe<'a>(
    parts: &Parts<'a>,
    layout: &mut Layout<'a>,
    own: &mut Own<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> debug::Debug {
    let Parts {
        bytes,
        optional,
        image,
        ..
    } = parts;
    let sum = checksum::facts(bytes.data(), optional.offset + 64, optional.checksum);
    own.push(("checksum", Box::new(sum)));
    if let Some(facts) = rich::read(*bytes, parts.image_header, notes) {
        own.push(("rich_header", Box::new(facts)));
    }
    if let Some(table) = optional.directory(directory::RESOURCE)
        && let Some(found) =
            resources::read(image, table.rva, &|_, address| Some(address), budget, notes)
    {
        found.put(own);
    }
    if let Some(table) = optional.directory(directory::SECURITY) {
        let rows = certificates::read(*bytes, table, budget, notes);
        own.push(("certificates", Box::new(rows)));
    }
    let managed = optional.directory(directory::COM_DESCRIPTOR);
    own.push(("managed", Box::new(Value::Bool(managed.is_some()))));
    if let Some(table) = managed
        && let Some(facts) = clr::read(image, table.rva, notes)
    {
        own.push(("clr_header", Box::new(facts)));
    }
    if let Some(link) = debug_link(parts) {
        layout.facts.build_ids.push(link);
    }
    match optional.directory(directory::DEBUG) {
        Some(table) => debug::read(image, table, 0, budget, notes),
        None => debug::Debug::default(),
    }
}

/// The file that holds the debug information, as GNU tools name it: in
/// `.gnu_debuglink` its name and the CRC-32 of its bytes.
fn debug_link(parts: &Parts<'_>) -> Option<BuildId> {
    let mut sections = parts.sections.iter();
    let section = sections.find(|section| section.name.bytes() == b".gnu_debuglink")?;
    let data = parts
        .bytes
        .up_to(section.raw_offset, section.raw_size.min(4096));
    let data = Bytes::little(data);
    let name = data.string(0)?;
    let at = (name.len() as u64 + 1).next_multiple_of(4);
    let sum = data.u32(at)?;
    Some(BuildId {
        kind: "debug-link",
        value: format!("{} {sum:08x}", name_text(name)),
        location: Range {
            offset: section.raw_offset,
            bytes: at + 4,
        },
    })
}

/// What the loader works with: TLS, load configuration, base relocations,
/// functions.
fn tables<'a>(
    parts: &Parts<'a>,
    layout: &mut Layout<'a>,
    own: &mut Own<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<load_config::LoadConfig> {
    let Parts {
        optional, image, ..
    } = parts;
    if let Some(table) = optional.directory(directory::TLS)
        && let Some((facts, callbacks)) = tls::read(image, table.rva, budget, notes)
    {
        own.push(("tls_directory", Box::new(facts)));
        layout.facts.entry_points.extend(callbacks);
    }
    if let Some(table) = optional.directory(directory::BASE_RELOCATION) {
        let (blocks, summary) = base_relocations::read(image, table.rva, table.size, budget, notes);
        own.push(("base_relocation_summary", Box::new(summary)));
        own.push(("base_relocations", Box::new(blocks)));
    }
    if let Some(table) = optional.directory(directory::EXCEPTION)
        && let Some((summary, functions)) =
            exceptions::read(image, table.rva, table.size, budget, notes)
    {
        own.push(("function_summary", Box::new(summary)));
        own.push(("functions", Box::new(functions)));
    }
    let table = optional.directory(directory::LOAD_CONFIG)?;
    let found = load_config::read(image, table.rva, &parts.sections, budget, notes)?;
    if let Some(rows) = found.dynamic {
        own.push(("dynamic_relocations", Box::new(rows)));
    }
    if let Some((rva, size)) = found.config.extra_functions
        && let Some((_, functions)) = exceptions::read_extra(image, rva, size, budget, notes)
    {
        own.push(("extra_functions", Box::new(functions)));
    }
    own.push(("guard_tables", Box::new(found.tables)));
    own.push(("load_config", Box::new(found.facts)));
    Some(found.config)
}

/// The headers and tables, and what they map.
fn headers<'a>(
    bytes: Bytes<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Result<Parts<'a>, Refusal> {
    let cut = |offset, reason: &str| Refusal::Header {
        offset,
        reason: reason.to_owned(),
    };
    let Some(at) = bytes.u32(0x3C).map(u64::from) else {
        return Err(cut(0x3C, "the file ends in the DOS header"));
    };
    match bytes.array::<4>(at) {
        Some([b'P', b'E', 0, 0]) => {}
        Some([b'N', b'E', ..]) => return Err(cut(at, "it is a 16-bit Windows program (NE)")),
        Some([b'L', b'E', ..]) => return Err(cut(at, "it is a linear executable (LE)")),
        Some([b'L', b'X', ..]) => return Err(cut(at, "it is an OS/2 program (LX)")),
        _ => {
            return Err(cut(
                at,
                "no PE header stands there; it is a DOS program, or cut",
            ));
        }
    }
    if at < 64 {
        notes.at(
            "e_lfanew",
            0x3C,
            format!("the PE header stands at {at:#x}, inside the DOS header"),
        );
    }
    if !at.is_multiple_of(4) {
        notes.at(
            "e_lfanew",
            0x3C,
            format!("the PE header stands at {at:#x}, no multiple of four"),
        );
    }
    let Some(file) = FileHeader::read(bytes, at + 4) else {
        return Err(cut(at + 4, "the file ends in the file header"));
    };
    let optional = OptionalHeader::read(bytes, &file, notes)?;
    let symbols = Table::read(
        bytes,
        u64::from(file.symbols_at),
        u64::from(file.symbols),
        18,
        notes,
    );
    let table = file.offset + FILE_HEADER + u64::from(file.optional_size);
    let count = u64::from(file.sections);
    let sections = sections::read(bytes, table, count, &symbols.strings, budget, notes);
    if sections.is_empty() {
        notes.at("section table", table, "it has no sections");
    }
    let regions = loader::regions(bytes, &optional, &sections, table, notes);
    let image = Arc::new(Image::new(
        bytes,
        optional.image_base,
        optional.wide,
        file.machine,
        regions,
    ));
    Ok(Parts {
        bytes,
        image_header: at,
        file,
        optional,
        sections,
        symbols,
        image,
    })
}

fn entry(parts: &Parts<'_>, layout: &mut Layout<'_>) {
    let entry = u64::from(parts.optional.entry);
    if entry == 0 {
        layout.entry_meaning = EntryMeaning::Absent;
        return;
    }
    layout.entry = parts.image.address(entry);
    layout.entry_meaning = EntryMeaning::LinkedVirtualAddress;
    layout.facts.entry_points.push(EntryPoint {
        kind: "entry",
        address: Some(layout.entry),
        location: Some(Range {
            offset: parts.optional.offset + 16,
            bytes: 4,
        }),
        symbol: None,
    });
}

/// Imports and exports; a name of stack cookies among imports and symbols.
fn link<'a>(
    parts: &Parts<'a>,
    layout: &mut Layout<'a>,
    own: &mut Own<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<&'a [u8]> {
    let Parts {
        optional, image, ..
    } = parts;
    let mut imports = Imports::default();
    if let Some(table) = optional.directory(directory::IMPORT) {
        imports::read(image, table.rva, &mut imports, budget, notes);
    }
    if let Some(table) = optional.directory(directory::DELAY_IMPORT) {
        imports::read_delayed(image, table.rva, &mut imports, budget, notes);
    }
    let facts = &mut layout.facts;
    facts.dependencies = imports.dependencies();
    if let Some(table) = optional.directory(directory::BOUND_IMPORT) {
        let rows = bound_imports::read(image, table.rva, budget, notes);
        for row in rows.iter().filter(|row| !row.forwarder) {
            let Some(name) = row.name else { continue };
            facts.dependencies.push(Dependency {
                name,
                kind: "bound-import",
                location: None,
                more: Object::new(),
            });
        }
        own.push(("bound_imports", Box::new(rows)));
    }
    if let Some(table) = optional.directory(directory::IAT) {
        let row = imports::iat(image, table.rva, table.size);
        own.push(("import_address_table", Box::new(row)));
    }
    own.push(("imports", Box::new(imports.rows(imports::IMPORT))));
    own.push(("delay_imports", Box::new(imports.rows(imports::DELAY))));
    let hash = imports.hash().map_or(Value::Null, Value::from);
    own.push(("imphash", Box::new(hash)));
    layout.linkage.needed_libraries = imports.needed();
    layout.linkage.got = imports.slots();
    let canary = imports.canary().or_else(|| {
        let found = layout.symbols.iter().find(object::is_canary);
        found.map(|symbol| symbol.name.bytes())
    });
    facts.imports_exhaustive = !imports.cut;
    facts.imports = imports.imports;

    let mut exports_cut = false;
    if let Some(table) = optional.directory(directory::EXPORT) {
        match exports::read(image, table, budget, notes) {
            Some(found) => {
                facts.exports = found.rows;
                exports_cut = found.cut;
                own.push(("export_directory", Box::new(found.facts)));
            }
            None => exports_cut = true,
        }
    }
    facts.exports_exhaustive = !exports_cut;
    canary
}

/// Bytes behind all that headers name: sections, symbols, certificates, debug
/// data.
fn overlay(parts: &Parts<'_>, debug_end: u64) -> Option<Range> {
    let Parts {
        bytes,
        file,
        optional,
        sections,
        symbols,
        ..
    } = parts;
    let table = file.offset + FILE_HEADER + u64::from(file.optional_size);
    let mut end = table + sections.len() as u64 * sections::HEADER;
    end = end.max(u64::from(optional.size_of_headers)).max(debug_end);
    if symbols.count > 0 {
        end = end.max(symbols.end());
    }
    for section in sections {
        if section.in_file() {
            end = end.max(section.raw_offset + section.raw_size);
        }
    }
    if let Some(table) = optional.directory(directory::SECURITY) {
        end = end.max(table.rva + table.size);
    }
    let left = bytes.len().checked_sub(end).filter(|&left| left > 0)?;
    Some(Range {
        offset: end,
        bytes: left,
    })
}
