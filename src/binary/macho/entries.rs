//! Where code starts without being called by name: the entry point, thread
//! states, initializers and terminators.

use std::collections::HashMap;

use super::commands::{LC_MAIN, LC_ROUTINES, LC_ROUTINES_64};
use super::macho::MachO;
use super::segments::{S_INIT_FUNC_OFFSETS, S_MOD_INIT_FUNC_POINTERS, S_MOD_TERM_FUNC_POINTERS};
use crate::binary::Notes;
use crate::binary::layout::facts::EntryPoint;
use crate::binary::layout::rows::Range;

/// Initializers that are told; large programs have some thousands.
const MOST: usize = 1 << 16;

/// One place where code starts.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// `entry`, `thread`, `mod-init`, `mod-term`, `init-offset`, `routine`.
    pub kind: &'static str,
    /// The address as linked; null where a bind gives it.
    pub address: Option<u64>,
    /// Where the pointer stands in the file.
    pub location: Range,
    /// A symbol at the address.
    pub symbol: Option<&'a [u8]>,
}

/// All of them: commands first, then sections, each in its order.
pub fn entries<'a>(macho: &MachO<'a>, notes: &mut Notes) -> Vec<Entry<'a>> {
    let mut all = Vec::new();
    let image = &macho.image;
    let base = macho.segments.image_base();
    let entry = |kind, address, location| Entry {
        kind,
        address,
        location,
        symbol: None,
    };
    for command in image.of_kind(&[LC_MAIN]) {
        let offset = image.body(command).u64(8);
        if let Some(offset) = offset {
            let address = base.and_then(|base| base.checked_add(offset));
            all.push(entry("entry", address, image.range(command.offset + 8, 8)));
        }
    }
    for thread in &macho.threads {
        if thread.counter.is_some() {
            all.push(entry("thread", thread.counter, thread.location));
        }
    }
    for command in image.of_kind(&[LC_ROUTINES, LC_ROUTINES_64]) {
        let wide = command.cmd == LC_ROUTINES_64;
        let address = image.body(command).word(8, wide);
        let location = image.range(command.offset + 8, if wide { 8 } else { 4 });
        if address.is_some() {
            all.push(entry("routine", address, location));
        }
    }
    for section in &macho.segments.sections {
        let (kind, step) = match section.kind() {
            S_MOD_INIT_FUNC_POINTERS => ("mod-init", if image.wide { 8 } else { 4 }),
            S_MOD_TERM_FUNC_POINTERS => ("mod-term", if image.wide { 8 } else { 4 }),
            S_INIT_FUNC_OFFSETS => ("init-offset", 4),
            _ => continue,
        };
        if !section.in_file {
            continue;
        }
        for index in 0..section.size / step {
            let offset = u64::from(section.offset) + index * step;
            let Some(raw) = image.data.word(offset, step == 8) else {
                break;
            };
            if all.len() >= MOST {
                let reason = format!("there are more than {MOST} initializers; these are told");
                notes.at("section", image.file_offset(section.header), reason);
                return with_symbols(macho, all);
            }
            let at = section.address.wrapping_add(index * step);
            let address = match kind {
                "init-offset" => base.and_then(|base| base.checked_add(raw)),
                _ => pointer(macho, at, raw),
            };
            all.push(entry(kind, address, image.range(offset, step)));
        }
    }
    with_symbols(macho, all)
}

/// What a pointer in the data points to; `None` where a bind fills it.
fn pointer(macho: &MachO<'_>, at: u64, raw: u64) -> Option<u64> {
    if macho.fixups.chains.is_empty() {
        return Some(raw).filter(|&raw| raw != 0);
    }
    macho.fixups.target(&macho.segments, at, raw)
}

/// Names the addresses that symbols have.
fn with_symbols<'a>(macho: &MachO<'a>, mut all: Vec<Entry<'a>>) -> Vec<Entry<'a>> {
    let Some(table) = &macho.symbols else {
        return all;
    };
    let mut wanted: HashMap<u64, Option<&'a [u8]>> = HashMap::new();
    for address in all.iter().filter_map(|entry| entry.address) {
        wanted.insert(address & !1, None);
    }
    if wanted.is_empty() {
        return all;
    }
    for (index, symbol) in table.iter() {
        if symbol.is_defined()
            && symbol.sect != 0
            && let Some(found) = wanted.get_mut(&(symbol.value & !1))
            && found.is_none()
        {
            *found = Some(table.name(index, symbol)).filter(|name| !name.is_empty());
        }
    }
    for entry in &mut all {
        // Thumb code has an odd address.
        let found = entry
            .address
            .and_then(|address| wanted.get(&(address & !1)));
        entry.symbol = found.copied().flatten();
    }
    all
}

impl<'a> Entry<'a> {
    /// As the facts of a layout have it.
    pub fn fact(&self) -> EntryPoint<'a> {
        EntryPoint {
            kind: self.kind,
            address: self.address,
            location: Some(self.location),
            symbol: self.symbol,
        }
    }
}
