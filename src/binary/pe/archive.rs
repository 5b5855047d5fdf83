//! Import libraries: archives whose members name what a library exports ("PE
//! Format", section "Archive (Library) File Format").

use std::borrow::Cow;
use std::collections::HashSet;

use super::import_object::{self, ImportObject};
use super::long_import::{self, Long, LongImport};
use crate::binary::layout::facts::Dependency;
use crate::binary::layout::links::{Export, Import};
use crate::binary::layout::rows::{Name, Range, Symbolic};
use crate::binary::layout::{Format, Layout, Refusal};
use crate::binary::{Bytes, name_text};
use crate::json::{Object, WriteJson, Writer};

/// Bytes of the archive's magic, and of a member's header.
const MAGIC: u64 = 8;
const HEADER: u64 = 60;

/// A member that is no import object.
struct Member<'a> {
    index: u64,
    name: &'a [u8],
    /// Its data.
    location: Range,
}

impl WriteJson for Member<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("index", self.index);
        w.member("location", self.location);
        w.member("name", name_text(self.name));
        w.end_object();
    }
}

/// Takes one apart: its import objects, and the objects that GNU tools write
/// instead; other members (linker members, descriptors, code) are listed with
/// their ranges. An archive that imports nothing is no import library.
pub(super) fn parse(bytes: Bytes<'_>) -> Result<Layout<'_>, Refusal> {
    let mut layout = super::empty(Format::ImportLibrary, 0, 0);
    let mut others = Vec::new();
    let mut libraries = HashSet::new();
    let (mut long_imports, mut long_libraries) = (Vec::new(), Vec::new());
    let mut machine = None;
    let mut long_names = Bytes::little(&[]);
    let (mut at, mut index, mut objects) = (MAGIC, 0u64, 0u64);
    while at < bytes.len() {
        let Some((raw_name, size)) = member(bytes, at) else {
            layout.notes.at(
                "archive member",
                at,
                "its header cannot be read; members from here on are not listed",
            );
            break;
        };
        let start = at + HEADER;
        let data = Bytes::little(bytes.up_to(start, size));
        if data.len() < size {
            layout.notes.at("archive member", at, "the file ends in it");
        }
        if raw_name == b"//" {
            long_names = data;
        }
        let object = match import_object::is_one(data) {
            true => ImportObject::read(data, start),
            false => None,
        };
        match object {
            Some(object) => {
                objects += 1;
                machine = machine.or(Some(object.machine));
                let facts = &mut layout.facts;
                if libraries.insert(object.library) {
                    facts.dependencies.push(object.dependency());
                    let name = Name::terminated(object.library, object.library_at);
                    layout.linkage.needed_libraries.push(name);
                }
                facts.exports.push(object.export());
                facts.imports.push(object.import());
            }
            None if data.u16(0).is_some_and(|first| first != 0)
                && long(data, start, &mut long_imports, &mut long_libraries) =>
            {
                machine = machine.or(data.u16(0));
            }
            None => others.push(Member {
                index,
                name: member_name(raw_name, long_names),
                location: Range {
                    offset: start,
                    bytes: data.len(),
                },
            }),
        }
        index += 1;
        at = start.saturating_add(size).saturating_add(size & 1);
    }
    let Some(machine) = machine.filter(|_| objects + long_imports.len() as u64 > 0) else {
        return Err(Refusal::Format);
    };
    add_long(&long_imports, &long_libraries, &mut layout);
    let read = at >= bytes.len();
    let header = super::empty(Format::ImportLibrary, machine, super::bits(machine));
    layout.machine = header.machine;
    layout.architecture = header.architecture;
    layout.bits = header.bits;
    layout.image_type = Symbolic::Named("import-library");
    layout.facts.exports_exhaustive = read && others.iter().all(|one| is_linker_member(one.name));
    layout.facts.imports_exhaustive = layout.facts.exports_exhaustive;
    layout.facts.own.1 = vec![
        ("import_objects", Box::new(super::fields::number(objects))),
        (
            "long_import_objects",
            Box::new(super::fields::number(long_imports.len() as u64)),
        ),
        ("other_members", Box::new(others)),
    ];
    Ok(layout)
}

/// Keeps what a member of GNU tools tells; whether it is one.
fn long<'a>(
    data: Bytes<'a>,
    start: u64,
    imports: &mut Vec<(LongImport<'a>, Range)>,
    libraries: &mut Vec<(&'a [u8], Range)>,
) -> bool {
    match long_import::read(data) {
        Some(Long::Import(import)) => {
            let location = Range {
                offset: start,
                bytes: data.len(),
            };
            imports.push((import, location));
        }
        Some(Long::Library(name, at)) => {
            let location = Range {
                offset: start + at,
                bytes: name.len() as u64 + 1,
            };
            if libraries.iter().all(|&(known, _)| known != name) && libraries.len() < 256 {
                libraries.push((name, location));
            }
        }
        None => return false,
    }
    true
}

/// The rows of members of GNU tools: their library stands in another member.
fn add_long<'a>(
    imports: &[(LongImport<'a>, Range)],
    libraries: &[(&'a [u8], Range)],
    layout: &mut Layout<'a>,
) {
    for &(name, location) in libraries {
        layout.facts.dependencies.push(Dependency {
            name,
            kind: "import",
            location: Some(location),
            more: Object::new(),
        });
        let needed = Name::terminated(name, location.offset);
        layout.linkage.needed_libraries.push(needed);
    }
    let library = match *libraries {
        [(name, _)] => Some(name),
        _ => None,
    };
    if library.is_none() && !imports.is_empty() {
        long_import::unclear(libraries.len(), &mut layout.notes);
    }
    // Each row says the library again: as long as a path at most.
    let library = library.filter(|name| name.len() <= 4096);
    for (import, location) in imports {
        let forwarder = library.map(|library| {
            let mut target = library.to_vec();
            target.push(b'.');
            match (import.import, import.ordinal) {
                (Some(name), _) => target.extend_from_slice(name),
                (None, ordinal) => {
                    target.extend_from_slice(format!("#{}", ordinal.unwrap_or(0)).as_bytes());
                }
            }
            Cow::Owned(target)
        });
        layout.facts.exports.push(Export {
            name: Some(Cow::Borrowed(import.symbol)),
            kind: Some(import.kind),
            ordinal: import.ordinal,
            forwarder,
            source: "long-import-object",
            location: Some(*location),
            ..Export::default()
        });
        layout.facts.imports.push(Import {
            name: import.import.map(Cow::Borrowed),
            kind: Some(import.kind),
            library: library.map(Cow::Borrowed),
            ordinal: import.ordinal,
            source: "long-import-object",
            location: Some(*location),
            ..Import::default()
        });
    }
}

fn is_linker_member(name: &[u8]) -> bool {
    matches!(name, b"/" | b"//" | b"/<ECSYMBOLS>/")
}

/// A member's name as it stands, and its size.
fn member(bytes: Bytes<'_>, at: u64) -> Option<(&[u8], u64)> {
    let header = bytes.part(at, HEADER)?;
    if header.get(58, 2)? != b"`\n" {
        return None;
    }
    let name = header.get(0, 16)?.trim_ascii_end();
    let size = std::str::from_utf8(header.get(48, 10)?.trim_ascii()).ok()?;
    Some((name, size.parse().ok()?))
}

/// `name/`, or `/` and the offset of a longer one.
fn member_name<'a>(raw: &'a [u8], long_names: Bytes<'a>) -> &'a [u8] {
    match raw {
        [b'/', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
            let offset = std::str::from_utf8(digits)
                .ok()
                .and_then(|text| text.parse().ok());
            let Some(offset) = offset else {
                return raw;
            };
            // A name is a file's name: what is longer than a path is none.
            let tail = long_names.up_to(offset, 4096);
            let end = memchr::memchr2(0, b'\n', tail).unwrap_or(tail.len());
            let name = tail.get(..end).unwrap_or(raw);
            name.strip_suffix(b"/").unwrap_or(name)
        }
        [name @ .., b'/'] if !name.is_empty() && name != b"/" => name,
        _ => raw,
    }
}
