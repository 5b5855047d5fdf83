//! What the file is linked with: needed libraries, the interpreter.

use super::dynamic::{Dynamic, dt};
use super::tables::{inside, pt};
use super::{Budget, Elf};
use crate::binary::Notes;
use crate::binary::layout::Linkage;
use crate::binary::layout::facts::Dependency;
use crate::binary::layout::rows::Name;
use crate::json::Object;

/// Reads what is linked by name.
pub(super) fn read<'a>(
    elf: &Elf<'a>,
    dynamic: &Dynamic<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Linkage<'a> {
    Linkage {
        needed_libraries: needed(dynamic, budget, notes),
        interpreters: interpreters(elf, budget, notes),
        ..Linkage::default()
    }
}

fn needed<'a>(dynamic: &Dynamic<'a>, budget: &mut Budget, notes: &mut Notes) -> Vec<Name<'a>> {
    let mut names = Vec::new();
    for entry in dynamic.all(dt::NEEDED) {
        let name = dynamic.name(entry, budget);
        if let Name::Unknown(_) = name {
            let reason = match dynamic.strings {
                Some(_) => "its name is not in the table of strings",
                None => "there is no table of strings for its name",
            };
            notes.at("DT_NEEDED", entry.at, reason);
        }
        names.push(name);
    }
    names
}

fn interpreters<'a>(elf: &Elf<'a>, budget: &mut Budget, notes: &mut Notes) -> Vec<Name<'a>> {
    let mut names = Vec::new();
    for segment in elf.segments.iter().filter(|one| one.kind == pt::INTERP) {
        let (offset, size) = (segment.offset, segment.file_size);
        if size == 0 {
            continue;
        }
        let bytes = elf.bytes.up_to(offset, size);
        let name = match memchr::memchr(0, bytes).and_then(|end| bytes.get(..end)) {
            Some(name) if budget.name(name.len() as u64) => Name::terminated(name, offset),
            Some(_) => Name::Unknown("names-exceed-budget"),
            None => {
                let reason = match inside(offset, size, elf.bytes.len()) {
                    true => "no NUL ends the name",
                    false => "its bytes are not all in the file",
                };
                notes.at("PT_INTERP", offset, reason);
                Name::Unknown("name-not-terminated")
            }
        };
        names.push(name);
    }
    names
}

/// The libraries as facts: needed ones, and those it stands in for.
pub(super) fn dependencies<'a>(
    dynamic: &Dynamic<'a>,
    linkage: &Linkage<'a>,
) -> Vec<Dependency<'a>> {
    let row = |name: &Name<'a>, kind| match *name {
        Name::At { bytes, location } => Some(Dependency {
            name: bytes,
            kind,
            location: Some(location),
            more: Object::new(),
        }),
        Name::Unknown(_) => None,
    };
    let needed = linkage.needed_libraries.iter();
    let mut rows: Vec<_> = needed.filter_map(|name| row(name, "DT_NEEDED")).collect();
    for (tag, kind) in [(dt::AUXILIARY, "DT_AUXILIARY"), (dt::FILTER, "DT_FILTER")] {
        for entry in dynamic.all(tag) {
            let name = dynamic.strings.and_then(|strings| strings.get(entry.value));
            rows.extend(name.map(|name| Dependency {
                name,
                kind,
                location: None,
                more: Object::new(),
            }));
        }
    }
    rows
}
