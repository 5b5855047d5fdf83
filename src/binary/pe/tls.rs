//! Thread-local storage ("PE Format", section "The .tls Section").

use super::fields::{hex, range};
use super::image::{Budget, Image, SPENT, outside};
use crate::binary::Notes;
use crate::binary::layout::facts::EntryPoint;
use crate::binary::layout::rows::Range;
use crate::json::{Object, Value};

/// The directory, and the callbacks that run before the entry point.
pub(super) fn read(
    image: &Image<'_>,
    rva: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<(Object, Vec<EntryPoint<'static>>)> {
    let size = image.word_size();
    let length = 4 * size + 8;
    let Some((start, directory)) = image.part(rva, length) else {
        notes.add(outside("TLS directory", rva));
        return None;
    };
    let word = |at| directory.word(at * size, image.wide).unwrap_or(0);
    let tail = |at| directory.u32(4 * size + at).unwrap_or(0);
    let callbacks = callbacks(image, word(3), budget, notes);
    let mut facts = Object::new();
    facts.insert("address_of_callbacks", hex(word(3)));
    facts.insert("address_of_index", hex(word(2)));
    let addresses = callbacks.iter().filter_map(|one| one.address).map(hex);
    facts.insert("callbacks", Value::Array(addresses.collect()));
    facts.insert("characteristics", hex(tail(4)));
    facts.insert("end_address_of_raw_data", hex(word(1)));
    facts.insert(
        "location",
        range(Range {
            offset: start,
            bytes: length,
        }),
    );
    facts.insert("size_of_zero_fill", hex(tail(0)));
    facts.insert("start_address_of_raw_data", hex(word(0)));
    Some((facts, callbacks))
}

fn callbacks(
    image: &Image<'_>,
    address: u64,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Vec<EntryPoint<'static>> {
    let mut found = Vec::new();
    if address == 0 {
        return found;
    }
    let size = image.word_size();
    let Some((start, table)) = image.rva_of(address).and_then(|rva| image.tail(rva)) else {
        notes.add(outside("TLS callbacks", address));
        return found;
    };
    let mut at = 0;
    loop {
        match table.word(at, image.wide) {
            None => {
                // Zeros follow where memory is longer than the file's bytes.
                return found;
            }
            Some(0) => return found,
            Some(callback) if budget.row() => found.push(EntryPoint {
                kind: "tls-callback",
                address: Some(callback),
                location: Some(Range {
                    offset: start + at,
                    bytes: size,
                }),
                symbol: None,
            }),
            Some(_) => {
                notes.at("TLS callbacks", start + at, SPENT);
                return found;
            }
        }
        at += size;
    }
}
