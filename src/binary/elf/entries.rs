//! Code that runs without being called by name: the entry, initializers and
//! finalizers, and the functions that resolve others at load time.

use std::collections::HashMap;

use super::dynamic::{Dynamic, dt};
use super::fact::{Text, rows};
use super::names::RelocationNames;
use super::relocations::{RelocationRows, Relocations};
use super::symbols::{ET_REL, Symbols};
use super::tables::inside;
use super::{Elf, Symbolic};
use crate::binary::Notes;
use crate::binary::layout::facts::EntryPoint;
use crate::binary::layout::rows::{Hex, Range, Relocation, ValueMeaning};

/// An array of pointers to functions.
struct Array {
    kind: &'static str,
    address: u64,
    range: Range,
}

/// `SHT_INIT_ARRAY`, `SHT_FINI_ARRAY`, `SHT_PREINIT_ARRAY`
const SECTIONS: [(u32, &str); 3] = [
    (14, "init-array"),
    (15, "fini-array"),
    (16, "preinit-array"),
];

/// Arrays that are read: a program has three.
const ARRAYS: usize = 64;
/// Pointers of all arrays that are listed; large programs have some thousand.
const POINTERS: u64 = 200_000;
/// Functions that choose an implementation, of which libraries have some
/// hundred.
const RESOLVERS: usize = 200_000;

fn arrays(elf: &Elf<'_>, dynamic: &Dynamic<'_>, notes: &mut Notes) -> Vec<Array> {
    let mut arrays = Vec::new();
    let tags = [
        ("preinit-array", dt::PREINIT_ARRAY, dt::PREINIT_ARRAYSZ),
        ("init-array", dt::INIT_ARRAY, dt::INIT_ARRAYSZ),
        ("fini-array", dt::FINI_ARRAY, dt::FINI_ARRAYSZ),
    ];
    for (kind, tag, size) in tags {
        let Some((address, bytes)) = dynamic.value(tag).zip(dynamic.value(size)) else {
            continue;
        };
        match elf.offset_of(address) {
            Some(offset) => arrays.push(Array {
                kind,
                address,
                range: Range { offset, bytes },
            }),
            None if bytes > 0 => notes.add(crate::binary::Note {
                structure: names_of(kind).to_owned(),
                offset: None,
                reason: format!("no segment holds the address {address:#x}"),
            }),
            None => {}
        }
    }
    // A static program has them without a dynamic table.
    if arrays.is_empty() && elf.header.kind != ET_REL {
        for (section, kind) in SECTIONS {
            let found = elf.sections.iter().filter(|one| one.kind == section);
            arrays.extend(found.map(|one| Array {
                kind,
                address: one.address,
                range: one.range(),
            }));
        }
    }
    arrays
}

fn names_of(kind: &str) -> &'static str {
    match kind {
        "preinit-array" => "DT_PREINIT_ARRAY",
        "init-array" => "DT_INIT_ARRAY",
        _ => "DT_FINI_ARRAY",
    }
}

/// All of them, with symbols at their addresses.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    symbols: &Symbols<'a>,
    relocations: &Relocations<'a>,
    names: &RelocationNames,
    notes: &mut Notes,
) -> Vec<EntryPoint<'a>> {
    let mut points = Vec::new();
    let header = elf.header;
    if header.kind != ET_REL && header.entry != 0 {
        points.push(EntryPoint {
            kind: "entry",
            address: Some(header.entry),
            location: Some(Range {
                offset: 24,
                bytes: elf.word(),
            }),
            symbol: None,
        });
    }
    for (kind, tag) in [("init", dt::INIT), ("fini", dt::FINI)] {
        if let Some(entry) = dynamic.entry(tag).filter(|entry| entry.value != 0) {
            points.push(EntryPoint {
                kind,
                address: Some(entry.value),
                location: Some(Dynamic::location(entry, elf)),
                symbol: None,
            });
        }
    }
    let mut arrays = arrays(elf, dynamic, notes);
    let count = arrays.len();
    if count > ARRAYS {
        notes.at(
            "the table of sections",
            header.shoff,
            format!("it has {count} arrays of pointers to functions; the first {ARRAYS} were read"),
        );
        arrays.truncate(ARRAYS);
    }
    let within = |row: &Relocation| {
        arrays
            .iter()
            .any(|one| row.reported_offset.wrapping_sub(one.address) < one.range.bytes)
    };
    let by_slot: HashMap<u64, usize> = relocations
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| within(row))
        .map(|(at, row)| (row.reported_offset, at))
        .collect();
    let relative = names.ending(&["_RELATIVE", "_IRELATIVE"]);
    let mut left = (elf.bytes.len() / elf.word()).min(POINTERS);
    for array in &arrays {
        let Range { offset, bytes } = array.range;
        if !inside(offset, bytes, elf.bytes.len()) {
            notes.at(
                names_of(array.kind),
                offset,
                "its bytes are not all in the file",
            );
        }
        let word = elf.word();
        let available = elf.bytes.up_to(offset, bytes).len() as u64;
        if available / word > left {
            let reason = format!(
                "the arrays have more pointers than are listed, {POINTERS} or as many as the file has words"
            );
            notes.at(names_of(array.kind), offset, reason);
        }
        for at in 0..(available / word).min(left) {
            let place = offset + at * word;
            let Some(value) = elf.bytes.word(place, elf.wide) else {
                break;
            };
            let slot = array.address.wrapping_add(at * word);
            let relocation = by_slot.get(&slot);
            let relocation = relocation.and_then(|&at| relocations.rows.get(at));
            let (address, symbol) = match &relocation {
                None => (
                    Some(value).filter(|&value| !is_filler(value, elf.wide)),
                    None,
                ),
                Some(row) => relocated(row, value, symbols, &relative),
            };
            if address.is_none() && symbol.is_none() && relocation.is_none() {
                continue;
            }
            points.push(EntryPoint {
                kind: array.kind,
                address,
                location: Some(Range {
                    offset: place,
                    bytes: word,
                }),
                symbol,
            });
        }
        left = left.saturating_sub(available / word);
    }
    name(symbols, &mut points);
    points
}

/// Zero and all ones end or fill old arrays.
fn is_filler(value: u64, wide: bool) -> bool {
    value == 0 || value == if wide { u64::MAX } else { 0xFFFF_FFFF }
}

/// What a relocation puts into a slot.
fn relocated<'a>(
    row: &Relocation,
    value: u64,
    symbols: &Symbols<'a>,
    relative: &[u64],
) -> (Option<u64>, Option<&'a [u8]>) {
    let addend = row.addend.map_or(value, |addend| addend as u64);
    if row.symbol_index == 0 {
        return match relative.contains(&row.kind) {
            true => (Some(addend), None),
            false => (None, None),
        };
    }
    let table = row
        .symbol_table_index
        .and_then(|table| symbols.table(table));
    let symbol = table.and_then(|table| symbols.at(table, row.symbol_index));
    match symbol {
        Some(one) if one.meaning == ValueMeaning::LinkedVirtualAddress => {
            (Some(one.value.wrapping_add(addend)), Some(one.name.bytes()))
        }
        Some(one) => (None, Some(one.name.bytes())),
        None => (None, None),
    }
}

/// Gives each address the name of a function there: the first one.
fn name<'a>(symbols: &Symbols<'a>, points: &mut [EntryPoint<'a>]) {
    let wanted = points.iter().filter(|point| point.symbol.is_none());
    let mut found: HashMap<u64, Option<&'a [u8]>> = wanted
        .filter_map(|point| Some((point.address?, None)))
        .collect();
    if found.is_empty() {
        return;
    }
    for symbol in symbols.rows() {
        if is_function(symbol.kind)
            && symbol.meaning == ValueMeaning::LinkedVirtualAddress
            && !symbol.name.bytes().is_empty()
            && let Some(place @ None) = found.get_mut(&symbol.value)
        {
            *place = Some(symbol.name.bytes());
        }
    }
    for point in points.iter_mut().filter(|point| point.symbol.is_none()) {
        point.symbol = point
            .address
            .and_then(|address| found.get(&address).copied().flatten());
    }
}

fn is_function(kind: Symbolic) -> bool {
    matches!(
        kind,
        Symbolic::Named("STT_FUNC" | "STT_NOTYPE" | "STT_GNU_IFUNC")
    )
}

rows! {
    /// A row of `facts.elf.ifunc_resolvers`
    struct Resolver<'a> {
        address: Hex,
        kind: &'static str,
        location: Range,
        slot: Option<Hex>,
        symbol: Option<Text<'a>>,
    }
}

/// Functions that choose an implementation at load time: symbols of type
/// `STT_GNU_IFUNC`, and relocations that call one.
pub(super) fn resolvers<'a>(
    elf: &Elf<'a>,
    symbols: &Symbols<'a>,
    relocations: &RelocationRows<'_>,
    names: &RelocationNames,
    notes: &mut Notes,
) -> Vec<Resolver<'a>> {
    let functions = symbols.rows().filter(|one| {
        one.kind == Symbolic::Named("STT_GNU_IFUNC") && one.meaning != ValueMeaning::Undefined
    });
    let mut rows: Vec<Resolver<'a>> = functions
        .take(RESOLVERS + 1)
        .map(|one| Resolver {
            address: Hex(one.value),
            kind: "symbol",
            location: one.location,
            slot: None,
            symbol: Some(Text(one.name.bytes())),
        })
        .collect();
    let calling = names.ending(&["_IRELATIVE", "_IRELATIV"]);
    for row in relocations.iter() {
        if !calling.contains(&row.kind) || rows.len() > RESOLVERS {
            continue;
        }
        let address = match row.addend {
            Some(addend) => Some(addend as u64),
            None => elf
                .offset_of(row.reported_offset)
                .and_then(|offset| elf.bytes.word(offset, elf.wide)),
        };
        if let Some(address) = address {
            rows.push(Resolver {
                address: Hex(address),
                kind: "relocation",
                location: row.location,
                slot: Some(Hex(row.reported_offset)),
                symbol: None,
            });
        }
    }
    if rows.len() > RESOLVERS {
        rows.truncate(RESOLVERS);
        notes.add(crate::binary::Note {
            structure: "ifunc_resolvers".to_owned(),
            offset: None,
            reason: format!(
                "more than {RESOLVERS} functions choose an implementation; the first are listed"
            ),
        });
    }
    rows
}
