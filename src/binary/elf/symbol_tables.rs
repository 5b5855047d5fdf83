//! Which tables of symbols a file has: those of sections, or the dynamic one
//! where no section tells it, and how long the names in each are.

use super::dynamic::{Dynamic, dt};
use super::strings::Strings;
use super::symbols::{Symbols, Table, UNREADABLE, entry, entry_size};
use super::tables::{inside, sht};
use super::{Budget, Elf, REPEATED, hash};
use crate::binary::Notes;
use crate::binary::layout::rows::{Name, Range};

/// A table that is to be read.
struct Place<'a> {
    section: u64,
    dynamic: bool,
    range: Range,
    stride: u64,
    strings: Result<Strings<'a>, &'static str>,
    extended: Option<Range>,
    structure: String,
}

/// Reads all tables: those of sections in their order, else the one of the
/// dynamic table.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Symbols<'a> {
    let mut symbols = Symbols {
        bytes: elf.bytes,
        wide: elf.wide,
        file: elf.header.kind,
        machine: elf.header.machine,
        live: elf
            .sections
            .iter()
            .map(|one| one.kind != sht::NULL)
            .collect(),
        tables: Vec::new(),
        order: Vec::new(),
    };
    let mut dynamic_seen = false;
    let mut strings_by_section = std::collections::HashMap::new();
    let extended: std::collections::HashMap<u64, Range> = elf
        .sections
        .iter()
        .rev()
        .filter(|one| one.kind == sht::SYMTAB_SHNDX)
        .map(|one| (one.link.into(), one.range()))
        .collect();
    for (index, header) in elf.sections.iter().enumerate() {
        if !matches!(header.kind, sht::SYMTAB | sht::DYNSYM | sht::SUNW_LDYNSYM) {
            continue;
        }
        dynamic_seen |= header.kind == sht::DYNSYM;
        let least = entry_size(elf.wide);
        let structure = elf.section_text(index);
        let mut stride = header.entry_size;
        if stride < least {
            if header.size > 0 {
                notes.at(
                    &*structure,
                    header.at,
                    format!("its entries have {stride} bytes, and a symbol has {least}"),
                );
            }
            stride = least;
        }
        let linked = elf.section(header.link.into());
        let strings = match linked {
            Some(linked) if linked.kind == sht::STRTAB => {
                // Any number of tables may share one.
                let known = strings_by_section.entry(header.link);
                Ok(*known.or_insert_with(|| elf.strings_of(linked)))
            }
            _ => {
                if header.size > 0 {
                    let link = header.link;
                    notes.at(
                        &*structure,
                        header.at,
                        format!(
                            "section {link}, which should hold its names, is no table of strings"
                        ),
                    );
                }
                Err("no-symbol-string-table")
            }
        };
        let place = Place {
            section: index as u64,
            dynamic: header.kind == sht::DYNSYM,
            range: header.range(),
            stride,
            strings,
            extended: extended.get(&(index as u64)).copied(),
            structure,
        };
        table(elf, place, &mut symbols, budget, notes);
    }
    if !dynamic_seen && let Some(place) = dynamic_place(elf, dynamic, notes) {
        table(elf, place, &mut symbols, budget, notes);
    }
    symbols.tables.sort_by_key(|table| table.section);
    symbols.order = (0..symbols.tables.len()).collect();
    let tables = &symbols.tables;
    symbols
        .order
        .sort_by_key(|&at| tables.get(at).map(|table| table.first));
    symbols
}

/// The table that `DT_SYMTAB` tells, as long as a hash table says.
fn dynamic_place<'a>(elf: &Elf<'a>, dynamic: &Dynamic<'a>, notes: &mut Notes) -> Option<Place<'a>> {
    let address = dynamic.value(dt::SYMTAB)?;
    let Some(offset) = elf.offset_of(address) else {
        notes.add(crate::binary::Note {
            structure: "DT_SYMTAB".to_owned(),
            offset: None,
            reason: format!("no segment holds the address {address:#x}"),
        });
        return None;
    };
    let stride = dynamic
        .value(dt::SYMENT)
        .filter(|&size| size >= entry_size(elf.wide))
        .unwrap_or_else(|| entry_size(elf.wide));
    let count = hash::symbol_count(elf, dynamic).or_else(|| dynamic.value(dt::MIPS_SYMTABNO));
    let Some(count) = count else {
        notes.at(
            "DT_SYMTAB",
            offset,
            "no section and no hash table tells how many symbols it has",
        );
        return None;
    };
    Some(Place {
        section: 0,
        dynamic: true,
        range: Range {
            offset,
            bytes: count.saturating_mul(stride),
        },
        stride,
        strings: dynamic.strings.ok_or("no-symbol-string-table"),
        extended: None,
        structure: "DT_SYMTAB".to_owned(),
    })
}

fn table<'a>(
    elf: &Elf<'a>,
    place: Place<'a>,
    symbols: &mut Symbols<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    let Range { offset, bytes } = place.range;
    let structure = place.structure.as_str();
    if !inside(offset, bytes, elf.bytes.len()) {
        notes.at(
            structure,
            offset,
            format!("its {bytes:#x} bytes are not all in the file"),
        );
    }
    let available = elf.bytes.up_to(offset, bytes).len() as u64;
    let mut count = available / place.stride;
    // The last entry may be shorter than the step from one to the next.
    if available % place.stride >= entry_size(elf.wide) {
        count += 1;
    }
    if !bytes.is_multiple_of(place.stride) && available == bytes {
        notes.at(
            structure,
            offset,
            format!("its {bytes} bytes are no multiple of {}", place.stride),
        );
    }
    if count == 0 {
        return;
    }
    if !budget.table(available) {
        notes.at(structure, offset, REPEATED);
        return;
    }
    let first = symbols.len();
    let mut lengths = Vec::new();
    lengths.reserve_exact(usize::try_from(count).unwrap_or(0));
    let mut unreadable = [0u64; 3];
    for index in 0..count {
        let at = offset + index * place.stride;
        let Some(entry) = entry(elf.bytes, elf.wide, at) else {
            break;
        };
        let name = match &place.strings {
            Ok(strings) => strings.name(entry.name.into(), budget),
            Err(reason) => Name::Unknown(reason),
        };
        lengths.push(match name {
            Name::At { bytes, .. } => u32::try_from(bytes.len()).unwrap_or(u32::MAX - 2),
            Name::Unknown(reason) => {
                let known = UNREADABLE.iter().position(|&(_, known)| known == reason);
                let kind = known.unwrap_or(2);
                unreadable[kind] += 1;
                UNREADABLE[kind].0
            }
        });
    }
    let [outside, open, _] = unreadable;
    if outside + open > 0 {
        notes.at(
            structure,
            offset,
            format!(
                "the names of {} cannot be read",
                crate::artifact::limitation::counted(outside + open, "symbol", "symbols")
            ),
        );
    }
    symbols.tables.push(Table {
        section: place.section,
        dynamic: place.dynamic,
        first,
        count: lengths.len(),
        location: place.range,
        stride: place.stride,
        extended: place.extended,
        strings: place.strings,
        lengths,
    });
}
