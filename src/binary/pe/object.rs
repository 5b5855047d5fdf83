//! COFF objects, with the header of `/bigobj` too.

use std::borrow::Cow;
use std::sync::Arc;

use super::fields::{flags, guid, hex, number, range};
use super::headers::{FILE_HEADER, FileHeader};
use super::image::Budget;
use super::names::{MACHINES, Names};
use super::relocations::{self, RelocationRows};
use super::sections::{self, SectionHeader};
use super::symbols::{self, Table};
use super::{NUMBERED, Own, object_resources};
use crate::binary::layout::facts::Facts;
use crate::binary::layout::links::{Export, Import};
use crate::binary::layout::rows::{Range, Symbol, Symbolic, ValueMeaning};
use crate::binary::layout::{Format, Layout, Refusal, RelocationReader, Relocations, Symbols};
use crate::binary::{Bytes, Notes, name_text};
use crate::json::{Object, Value};

/// The class of a `/bigobj` header: D1BAA1C7-BAEE-4BA9-AF20-FAF66AA4DCB8.
const BIG_OBJECT: [u8; 16] = [
    0xC7, 0xA1, 0xBA, 0xD1, 0xEE, 0xBA, 0xA9, 0x4B, 0xAF, 0x20, 0xFA, 0xF6, 0x6A, 0xA4, 0xDC, 0xB8,
];
/// Bytes of that header.
const BIG_HEADER: u64 = 56;

/// Takes an object apart.
pub(super) fn parse(bytes: Bytes<'_>) -> Result<Layout<'_>, Refusal> {
    if bytes.u16(0) == Some(0) && bytes.u16(2) == Some(0xFFFF) {
        return anonymous(bytes);
    }
    let header = FileHeader::read(bytes, 0).ok_or(Refusal::Format)?;
    if !is_plausible(bytes, &header) {
        return Err(Refusal::Format);
    }
    let sections = FILE_HEADER + u64::from(header.optional_size);
    let own: Own<'_> = vec![("file_header", Box::new(header.facts()))];
    Ok(layout(bytes, &header, sections, 18, own))
}

/// An object has no magic number. It is one where the machine type is known,
/// the header claims no DLL and no optional header longer than that of an
/// image, the section table is in the file, each section's bytes,
/// relocations and line numbers and the symbols start behind it and in the
/// file, and there are sections or symbols. Machine type 0 is also that of any
/// file that starts with zeros: it must have symbols followed by a table of
/// strings.
fn is_plausible(bytes: Bytes<'_>, header: &FileHeader) -> bool {
    let known = MACHINES
        .iter()
        .any(|&(value, _)| value == u64::from(header.machine));
    let sections = FILE_HEADER + u64::from(header.optional_size);
    let tables = sections + u64::from(header.sections) * sections::HEADER;
    let starts_well = |at: u32| at == 0 || (tables..=bytes.len()).contains(&u64::from(at));
    if !known
        || header.characteristics & 0x2000 != 0
        || header.optional_size > 240
        || tables > bytes.len()
        || header.sections == 0 && (header.symbols == 0 || header.symbols_at == 0)
        || header.symbols != 0 && header.symbols_at == 0
        || !starts_well(header.symbols_at)
    {
        return false;
    }
    if header.machine == 0 {
        let strings = u64::from(header.symbols_at) + u64::from(header.symbols) * 18;
        let size = bytes.u32(strings).map(u64::from);
        let whole = size.is_some_and(|size| size >= 4 && strings + size <= bytes.len());
        if header.symbols == 0 || !whole {
            return false;
        }
    }
    (0..u64::from(header.sections)).all(|index| {
        let at = sections + index * sections::HEADER;
        [20, 24, 28]
            .iter()
            .all(|&word| bytes.u32(at + word).is_some_and(starts_well))
    })
}

/// `ANON_OBJECT_HEADER`: `/bigobj`, or an object whose content is a
/// compiler's own (`/GL`).
fn anonymous(bytes: Bytes<'_>) -> Result<Layout<'_>, Refusal> {
    let cut = || Refusal::Header {
        offset: 0,
        reason: "the file ends in the header of an anonymous object".to_owned(),
    };
    let version = bytes.u16(4).ok_or_else(cut)?;
    let class: [u8; 16] = bytes.array(12).ok_or_else(cut)?;
    let machine = bytes.u16(6).ok_or_else(cut)?;
    if !(1..=64).contains(&version) {
        return Err(Refusal::Format);
    }
    let mut facts = Object::new();
    let mut word = |name, at| -> Result<u32, Refusal> {
        let value = bytes.u32(at).ok_or_else(cut)?;
        facts.insert(name, hex(value));
        Ok(value)
    };
    let stamp = word("time_date_stamp", 8)?;
    word("size_of_data", 28)?;
    let big = class == BIG_OBJECT && version >= 2;
    let mut header = FileHeader {
        machine,
        time_date_stamp: stamp,
        ..FileHeader::default()
    };
    if big {
        word("flags", 32)?;
        word("meta_data_size", 36)?;
        word("meta_data_offset", 40)?;
        header.sections = word("number_of_sections", 44)?;
        header.symbols_at = word("pointer_to_symbol_table", 48)?;
        header.symbols = word("number_of_symbols", 52)?;
    }
    facts.insert("class_id", guid(&class));
    facts.insert("machine", super::fields::named(machine, MACHINES));
    facts.insert("version", number(version));
    let own: Own<'_> = vec![("anonymous_object_header", Box::new(facts))];
    let mut layout = layout(bytes, &header, BIG_HEADER, 20, own);
    if !big {
        layout.notes.at(
            "anonymous object",
            12,
            "its class is no COFF object; what follows the header is its compiler's own",
        );
    }
    Ok(layout)
}

fn layout<'a>(
    bytes: Bytes<'a>,
    header: &FileHeader,
    section_table: u64,
    symbol_size: u64,
    mut own: Own<'a>,
) -> Layout<'a> {
    let mut layout = super::empty(Format::Coff, header.machine, super::bits(header.machine));
    let mut budget = Budget::new(bytes.len());
    let notes = &mut layout.notes;
    let table = Table::read(
        bytes,
        u64::from(header.symbols_at),
        u64::from(header.symbols),
        symbol_size,
        notes,
    );
    let headers = sections::read(
        bytes,
        section_table,
        u64::from(header.sections),
        &table.strings,
        &mut budget,
        notes,
    );
    let (symbols, auxiliary) = symbols::read(&table, headers.len() as u64, &mut budget, notes);
    let mut relocated = RelocationRows::new(bytes);
    for section in &headers {
        relocations::read(
            bytes,
            section,
            table.count,
            &mut relocated,
            &mut budget,
            notes,
        );
    }
    layout.sections = headers
        .iter()
        .map(|section| section.row(None, section.alignment()))
        .collect();
    layout.general_limitations.push(NUMBERED);
    layout.indicators.stack_canary = symbols.iter().any(|one| is_canary(&one));
    let all = offers(&symbols, &mut layout.facts, &mut budget, notes);
    let whole = all && table.count == u64::from(header.symbols);
    layout.facts.exports_exhaustive = whole;
    layout.facts.imports_exhaustive = whole;
    layout.facts.relocation_types = relocations::types(&relocated, header.machine);
    let parts = object_resources::Parts {
        bytes,
        machine: header.machine,
        sections: &headers,
        symbols: &table,
        relocations: &relocated,
    };
    if let Some(found) = parts.read(&mut budget, notes) {
        found.put(&mut own);
    }
    layout.relocations = Relocations::read(RelocationReader::Coff(Arc::new(relocated)));
    layout.facts.overlay = behind(bytes, section_table, &headers, &table);
    let directives = directives(bytes, &headers, &mut budget, &mut layout.notes);
    own.push(("compiler_features", Box::new(features(&symbols))));
    layout.symbols = symbols;
    own.push(("linker_directives", Box::new(directives)));
    own.push(("sections", Box::new(headers)));
    own.push(("symbol_auxiliary", Box::new(auxiliary)));
    layout.facts.own.1 = own;
    layout
}

/// The functions that a smashed stack ends in: of Microsoft's and of GNU's
/// compilers.
pub(super) fn is_canary(symbol: &Symbol<'_>) -> bool {
    matches!(
        symbol.name.bytes(),
        b"__security_check_cookie"
            | b"@__security_check_cookie@4"
            | b"__security_cookie"
            | b"___security_cookie"
            | b"__stack_chk_fail"
            | b"___stack_chk_fail"
    )
}

/// What `@feat.00` tells of the compiler's work; names as LLVM has them.
const FEATURES: Names = &[
    (0x1, "SafeSEH"),
    (0x100, "GuardStack"),
    (0x200, "SDL"),
    (0x800, "GuardCF"),
    (0x4000, "GuardEHCont"),
    (0x4000_0000, "Kernel"),
];

fn features(symbols: &Symbols<'_>) -> Value {
    let mut found = symbols.iter().filter(|one| one.name.bytes() == b"@feat.00");
    found
        .find(|one| one.meaning == ValueMeaning::AbsoluteValue)
        .map_or(Value::Null, |one| flags(one.value, FEATURES))
}

/// External symbols: those that it defines and those that it asks for. Whether
/// these are all.
fn offers<'a>(
    symbols: &Symbols<'a>,
    facts: &mut Facts<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> bool {
    for symbol in symbols {
        let weak = match symbol.binding {
            Symbolic::Named("IMAGE_SYM_CLASS_EXTERNAL") => false,
            Symbolic::Named("IMAGE_SYM_CLASS_WEAK_EXTERNAL") => true,
            _ => continue,
        };
        if !budget.row() {
            notes.at(
                "exports and imports",
                symbol.location.offset,
                super::image::SPENT,
            );
            return false;
        }
        let kind = match symbol.kind {
            Symbolic::Named("IMAGE_SYM_DTYPE_FUNCTION") => Some("function"),
            _ => None,
        };
        let name = Some(Cow::Borrowed(symbol.name.bytes()));
        match symbol.meaning {
            ValueMeaning::Undefined => facts.imports.push(Import {
                name,
                kind,
                weak,
                source: "symbol-table",
                location: Some(symbol.location),
                ..Import::default()
            }),
            ValueMeaning::NoAddress => {}
            _ => facts.exports.push(Export {
                name,
                kind,
                weak,
                size: (symbol.size != 0).then_some(symbol.size),
                source: "symbol-table",
                location: Some(symbol.location),
                ..Export::default()
            }),
        }
    }
    true
}

/// Bytes behind all that the headers name.
fn behind(
    bytes: Bytes<'_>,
    section_table: u64,
    headers: &[SectionHeader<'_>],
    table: &Table<'_>,
) -> Option<Range> {
    let mut end = section_table + headers.len() as u64 * sections::HEADER;
    end = end.max(table.end());
    for section in headers {
        if section.in_file() {
            end = end.max(section.raw_offset + section.raw_size);
        }
        if section.relocations_at != 0 {
            end = end.max(section.relocations_at + section.relocations * 10);
        }
        if section.lines_at != 0 {
            end = end.max(section.lines_at + section.lines * 6);
        }
    }
    let left = bytes.len().checked_sub(end).filter(|&left| left > 0)?;
    Some(Range {
        offset: end,
        bytes: left,
    })
}

/// What `.drectve` tells the linker: texts as they stand.
fn directives(
    bytes: Bytes<'_>,
    headers: &[SectionHeader<'_>],
    budget: &mut Budget,
    notes: &mut Notes,
) -> Value {
    let mut rows = Vec::new();
    for section in headers {
        if section.name.bytes() != b".drectve" || !section.in_file() {
            continue;
        }
        if !budget.text(section.raw_size) {
            notes.at(".drectve", section.raw_offset, super::image::SPENT);
            break;
        }
        let Some(text) = bytes.get(section.raw_offset, section.raw_size) else {
            notes.at(".drectve", section.raw_offset, "the file ends in it");
            continue;
        };
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let end = text
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |at| at + 1);
        let mut row = Object::new();
        row.insert("section", number(section.number));
        row.insert(
            "location",
            range(Range {
                offset: section.raw_offset,
                bytes: section.raw_size,
            }),
        );
        let text = text.get(..end).unwrap_or(text);
        row.insert("text", Value::from(name_text(text).as_ref()));
        rows.push(Value::Object(row));
    }
    Value::Array(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_object() {
        for text in [
            &b"db 1, 2, 3 and so on for a line of assembler\n"[..],
            b"2P or not 2P, that is the question of the day",
            b"dP/dt = 0 at the boundary of the whole volume",
            &[0u8; 4096],
        ] {
            assert!(matches!(parse(Bytes::little(text)), Err(Refusal::Format)));
        }
    }
}
