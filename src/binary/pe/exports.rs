//! The export directory ("PE Format", section "The .edata Section").

use std::borrow::Cow;

use super::fields::{hex, name, number, or_null, range};
use super::headers::Directory;
use super::image::{Budget, Image, SPENT, outside};
use crate::binary::Notes;
use crate::binary::layout::links::Export;
use crate::binary::layout::rows::Range;
use crate::json::Object;

/// What an image offers.
#[derive(Debug, Default)]
pub(super) struct Exports<'a> {
    /// By ordinal, then in the order of names.
    pub rows: Vec<Export<'a>>,
    /// The directory's own members.
    pub facts: Object,
    /// Whether some could not be read.
    pub cut: bool,
}

const DIRECTORY: u64 = 40;

/// Reads the directory.
pub(super) fn read<'a>(
    image: &Image<'a>,
    directory: Directory,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Exports<'a>> {
    let Some((start, header)) = image.part(directory.rva, DIRECTORY) else {
        notes.add(outside("export directory", directory.rva));
        return None;
    };
    let word = |at| u64::from(header.u32(at).unwrap_or(0));
    let mut out = Exports::default();
    let base = word(16);
    let (functions, names) = (word(20), word(24));
    let dll = match word(12) {
        0 => None,
        rva => image.name(rva, "name in the export directory", budget, notes),
    };
    let facts = &mut out.facts;
    facts.insert("address_of_functions", hex(word(28)));
    facts.insert("address_of_name_ordinals", hex(word(36)));
    facts.insert("address_of_names", hex(word(32)));
    facts.insert("characteristics", hex(word(0)));
    facts.insert(
        "location",
        range(Range {
            offset: start,
            bytes: DIRECTORY,
        }),
    );
    facts.insert("name", or_null(dll.map(|(text, _)| name(text))));
    facts.insert("number_of_functions", number(functions));
    facts.insert("number_of_names", number(names));
    facts.insert("ordinal_base", number(base));
    facts.insert("time_date_stamp", hex(word(4)));
    facts.insert(
        "version",
        format!(
            "{}.{}",
            header.u16(8).unwrap_or(0),
            header.u16(10).unwrap_or(0)
        ),
    );

    let mut named = read_names(image, &header, names, &mut out.cut, budget, notes);
    named.sort_by_key(|one| one.index);
    let table = match functions {
        0 => None,
        _ => image.tail(word(28)),
    };
    if functions > 0 && table.is_none() {
        notes.add(outside("export address table", word(28)));
        out.cut = true;
    }
    let mut gaps = 0u64;
    let mut next = named.iter().peekable();
    if let Some((at, table)) = table {
        let there = table.len() / 4;
        if there < functions {
            notes.at(
                "export address table",
                at,
                format!("it has {functions} rows, and the file ends after {there} of them"),
            );
            out.cut = true;
        }
        for index in 0..functions.min(there) {
            let rva = u64::from(table.u32(index * 4).unwrap_or(0));
            let is_named = next.peek().is_some_and(|one| one.index == index);
            if rva == 0 && !is_named {
                gaps += 1;
                continue;
            }
            if !budget.row() {
                notes.at("export address table", at + index * 4, SPENT);
                out.cut = true;
                break;
            }
            let inside = rva
                .checked_sub(directory.rva)
                .is_some_and(|distance| distance < directory.size);
            let forwarder = match inside {
                true => image.name(rva, "export forwarder", budget, notes),
                false => None,
            };
            let row = Export {
                address: (rva != 0 && !inside).then(|| image.address(rva)),
                forwarder: forwarder.map(|(text, _)| Cow::Borrowed(text)),
                ordinal: Some(base + index),
                source: "export-directory",
                location: Some(Range {
                    offset: at + index * 4,
                    bytes: 4,
                }),
                ..Export::default()
            };
            if !is_named {
                out.rows.push(row);
                continue;
            }
            while let Some(one) = next.next_if(|one| one.index == index) {
                // Each name says the forwarder again.
                let said = row.forwarder.as_ref().map_or(0, |text| text.len() as u64);
                let mut row = row.clone();
                if !budget.text(said) {
                    notes.at("export address table", at + index * 4, SPENT);
                    out.cut = true;
                    row.forwarder = None;
                }
                row.name = one.name.map(Cow::Borrowed);
                out.rows.push(row);
            }
        }
    }
    // Names of ordinals that the table has not.
    let mut lost = 0u64;
    for one in next {
        lost += 1;
        out.rows.push(Export {
            name: one.name.map(Cow::Borrowed),
            ordinal: Some(base + one.index),
            source: "export-directory",
            ..Export::default()
        });
    }
    if lost > 0 {
        notes.at(
            "export name table",
            start,
            format!("{lost} of its names have an ordinal that the address table has not"),
        );
    }
    out.facts.insert("gaps", number(gaps));
    Some(out)
}

struct Named<'a> {
    index: u64,
    name: Option<&'a [u8]>,
}

fn read_names<'a>(
    image: &Image<'a>,
    header: &crate::binary::Bytes<'a>,
    count: u64,
    cut: &mut bool,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<Named<'a>> {
    let mut named = Vec::new();
    if count == 0 {
        return named;
    }
    let word = |at| u64::from(header.u32(at).unwrap_or(0));
    let (Some((at, pointers)), Some((_, ordinals))) = (image.tail(word(32)), image.tail(word(36)))
    else {
        notes.add(outside("export name tables", word(32)));
        *cut = true;
        return named;
    };
    let there = (pointers.len() / 4).min(ordinals.len() / 2);
    if there < count {
        notes.at(
            "export name table",
            at,
            format!("it has {count} rows, and the file ends after {there} of them"),
        );
        *cut = true;
    }
    for index in 0..count.min(there) {
        let (Some(rva), Some(ordinal)) = (pointers.u32(index * 4), ordinals.u16(index * 2)) else {
            break;
        };
        if !budget.row() {
            notes.at("export name table", at + index * 4, SPENT);
            *cut = true;
            break;
        }
        let name = image.name(u64::from(rva), "name of an export", budget, notes);
        *cut |= name.is_none();
        named.push(Named {
            index: u64::from(ordinal),
            name: name.map(|(text, _)| text),
        });
    }
    named
}
