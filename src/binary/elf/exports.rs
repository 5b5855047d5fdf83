//! What the file offers and asks for: the global symbols of its dynamic table
//! (of an object: of its table of symbols), with their versions.

use std::borrow::Cow;

use super::dynamic::Dynamic;
use super::names::RelocationNames;
use super::relocations::RelocationRows;
use super::symbols::{ET_REL, Symbols, Table};
use super::versions::{Version, Versions};
use super::{Elf, Symbolic};
use crate::binary::Notes;
use crate::binary::layout::links::{Export, Import};
use crate::binary::layout::rows::{Symbol, ValueMeaning};

/// The name of the kind of a symbol.
fn kind(symbol: &Symbol<'_>) -> Option<&'static str> {
    if symbol.meaning == ValueMeaning::AbsoluteValue {
        return Some("absolute");
    }
    let Symbolic::Named(name) = symbol.kind else {
        return None;
    };
    Some(match name {
        "STT_FUNC" | "STT_ARM_TFUNC" => "function",
        "STT_OBJECT" => "data",
        "STT_TLS" => "tls",
        "STT_COMMON" => "common",
        "STT_GNU_IFUNC" => "ifunc",
        _ => return None,
    })
}

/// The table whose global symbols count.
fn table<'s, 'a>(elf: &Elf<'_>, symbols: &'s Symbols<'a>) -> Option<(&'s Table<'a>, &'static str)> {
    if elf.header.kind == ET_REL {
        let table = symbols.tables.iter().find(|table| !table.dynamic);
        return table.map(|table| (table, ".symtab"));
    }
    symbols.dynamic().map(|table| (table, ".dynsym"))
}

/// Exports and imports that are told; no honest file has a tenth of them.
const MOST: usize = 800_000;

/// Both lists, in the order of the table, and whether they are all of it.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    symbols: &Symbols<'a>,
    versions: &Versions<'a>,
    relocations: &RelocationRows<'_>,
    names: &RelocationNames,
    notes: &mut Notes,
) -> (Vec<Export<'a>>, Vec<Import<'a>>, bool) {
    let (mut exports, mut imports) = (Vec::new(), Vec::new());
    let Some((table, source)) = table(elf, symbols) else {
        return (exports, imports, true);
    };
    let slots = slots(table, relocations, names);
    for symbol in symbols.of(table) {
        let weak = match symbol.binding {
            Symbolic::Named("STB_GLOBAL" | "STB_GNU_UNIQUE") => false,
            Symbolic::Named("STB_WEAK") => true,
            _ => continue,
        };
        let name = symbol.name.bytes();
        if name.is_empty() {
            continue;
        }
        if exports.len() + imports.len() == MOST {
            let reason =
                format!("it has more than {MOST} names; the first are told as exports and imports");
            notes.at(source, table.location.offset, reason);
            return (exports, imports, false);
        }
        let version = match table.dynamic {
            true => versions.of(symbol.entry_index),
            false => None,
        };
        if symbol.meaning == ValueMeaning::Undefined {
            imports.push(Import {
                name: Some(Cow::Borrowed(name)),
                kind: kind(&symbol),
                library: version
                    .and_then(|(version, _)| version.library)
                    .map(Cow::Borrowed),
                ordinal: None,
                version: version.map(|(version, _)| Cow::Borrowed(version.name)),
                weak,
                address: slot(&slots, symbol.entry_index),
                source,
                location: Some(symbol.location),
            });
            continue;
        }
        let hidden = matches!(
            symbol.visibility,
            Some(Symbolic::Named("STV_HIDDEN" | "STV_INTERNAL"))
        );
        if hidden {
            continue;
        }
        let address = matches!(
            symbol.meaning,
            ValueMeaning::LinkedVirtualAddress | ValueMeaning::UnknownSectionIndex
        );
        exports.push(Export {
            name: Some(Cow::Borrowed(name)),
            kind: kind(&symbol),
            address: address.then_some(symbol.value),
            size: Some(symbol.size),
            ordinal: None,
            weak,
            version: version.map(marked),
            forwarder: None,
            source,
            location: Some(symbol.location),
        });
    }
    (exports, imports, true)
}

/// A version as tools write it: `@@` marks the one that links get.
fn marked<'a>((version, hidden): (Version<'a>, bool)) -> Cow<'a, [u8]> {
    if hidden || version.library.is_some() {
        return Cow::Borrowed(version.name);
    }
    let mut text = Vec::with_capacity(version.name.len() + 2);
    text.extend_from_slice(b"@@");
    text.extend_from_slice(version.name);
    Cow::Owned(text)
}

/// The slot that receives the address of each symbol, one of a stub first.
fn slots(
    table: &Table<'_>,
    relocations: &RelocationRows<'_>,
    names: &RelocationNames,
) -> Vec<Option<u64>> {
    let stubs = names.ending(&["_JUMP_SLOT", "_JMP_SLOT", "_JUMPSLOT"]);
    let data = names.ending(&["_GLOB_DAT"]);
    let mut slots = Vec::new();
    for row in relocations.iter() {
        if row.symbol_index == 0 || row.symbol_table_index != Some(table.section) {
            continue;
        }
        let stub = stubs.contains(&row.kind);
        if !stub && !data.contains(&row.kind) {
            continue;
        }
        let Some(at) = usize::try_from(row.symbol_index)
            .ok()
            .filter(|&at| at < table.count)
        else {
            continue;
        };
        if slots.len() <= at {
            slots.resize(at + 1, None);
        }
        if let Some(place) = slots.get_mut(at)
            && (stub || place.is_none())
        {
            *place = Some(row.reported_offset);
        }
    }
    slots
}

fn slot(slots: &[Option<u64>], symbol: u64) -> Option<u64> {
    *slots.get(usize::try_from(symbol).ok()?)?
}

/// Whether the lists are all by the bytes: the table they come from was read,
/// or there is nothing to link with.
pub(super) fn exhaustive(elf: &Elf<'_>, dynamic: &Dynamic<'_>, symbols: &Symbols<'_>) -> bool {
    match table(elf, symbols) {
        Some((table, _)) => {
            (table.count as u64).saturating_mul(table.stride) >= table.location.bytes
        }
        None => dynamic.entries.is_empty(),
    }
}
