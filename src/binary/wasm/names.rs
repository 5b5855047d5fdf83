//! The `name` section (core specification 7.4.1, extended name section
//! proposal) and that of components.

use wasmparser::BinaryReader;

use super::limits::INDIRECT;
use super::walk::{Kind, Unit, slice};
use crate::binary::Notes;

/// A subsection.
#[derive(Clone, Copy, Debug)]
pub struct Subsection {
    /// Its id byte.
    pub id: u8,
    /// Its first byte after id and size, in the file.
    pub start: u64,
    /// The byte after it.
    pub end: u64,
    /// The names that it gives.
    pub names: u64,
    /// For locals, labels, fields and parameters: of how many functions, types
    /// or tags.
    pub groups: Option<u64>,
    /// In components: what its numbers count.
    pub sort: Option<&'static str>,
    /// Whether its names are listed, and not counted only.
    pub listed: bool,
}

/// Names of all units that are listed, each in a row of its own.
pub const MAX_LISTED: u64 = 200_000;

/// What subsections are called.
const KINDS: [&str; 14] = [
    "module",
    "functions",
    "locals",
    "labels",
    "types",
    "tables",
    "memories",
    "globals",
    "elements",
    "data",
    "fields",
    "tags",
    "parameters",
    "tag-parameters",
];

/// Those of the component-name section.
const COMPONENT_KINDS: [&str; 2] = ["component", "sort"];

impl Subsection {
    /// The name of its kind.
    pub fn kind(&self, unit: Kind) -> &'static str {
        let kinds: &[&str] = match unit {
            Kind::Module => &KINDS,
            Kind::Component => &COMPONENT_KINDS,
        };
        kinds
            .get(usize::from(self.id))
            .copied()
            .unwrap_or("unknown")
    }
}

/// Ids of subsections whose names stand beside what they name.
pub mod space {
    #![allow(missing_docs)] // the specification's names
    pub const FUNCTION: u8 = 1;
    pub const TYPE: u8 = 4;
    pub const TABLE: u8 = 5;
    pub const MEMORY: u8 = 6;
    pub const GLOBAL: u8 = 7;
    pub const ELEMENT: u8 = 8;
    pub const DATA: u8 = 9;
    pub const TAG: u8 = 11;
}

/// A name and what it is of.
#[derive(Clone, Copy, Debug)]
struct Named {
    index: u32,
    at: u32,
    length: u32,
}

/// The sorts of a component that names may be given to (component model,
/// Binary.md, `sort`): first byte, second byte of core sorts.
fn sort(body: &mut BinaryReader<'_>) -> Option<&'static str> {
    Some(match body.read_u8().ok()? {
        0 => match body.read_u8().ok()? {
            0 => "core-func",
            1 => "core-table",
            2 => "core-memory",
            3 => "core-global",
            4 => "core-tag",
            0x10 => "core-type",
            0x11 => "core-module",
            0x12 => "core-instance",
            _ => "unknown",
        },
        1 => "func",
        2 => "value",
        3 => "type",
        4 => "component",
        5 => "instance",
        _ => "unknown",
    })
}

/// All that a name section says.
#[derive(Debug, Default)]
pub struct Names<'a> {
    file: &'a [u8],
    /// The module's or component's own name.
    pub own: Option<&'a str>,
    /// The subsections in the file's order; empty where there is no section.
    pub subsections: Vec<Subsection>,
    spaces: Vec<(u8, Vec<Named>)>,
}

impl<'a> Names<'a> {
    /// Reads the names of a unit. `counts` tells how many functions, types ...
    /// there are; names beyond are counted, not kept. `left` is how many may
    /// still be listed.
    pub fn read(
        unit: &Unit<'a>,
        counts: impl Fn(u8) -> usize,
        left: &mut u64,
        notes: &mut Notes,
    ) -> Self {
        let mut names = Self {
            file: unit.file,
            ..Self::default()
        };
        let wanted = match unit.kind {
            Kind::Module => "name",
            Kind::Component => "component-name",
        };
        for (_, name, reader) in unit.customs() {
            if name == wanted {
                names.section(unit.kind, reader, &counts, notes);
            }
        }
        names.list(unit, left, notes);
        names
    }

    /// Chooses what is listed: all names but those of functions and of the unit
    /// itself, which stand elsewhere, while there is room.
    fn list(&mut self, unit: &Unit<'_>, left: &mut u64, notes: &mut Notes) {
        let mut unlisted = 0u64;
        for found in &mut self.subsections {
            let elsewhere = match unit.kind {
                Kind::Module => found.id <= space::FUNCTION,
                Kind::Component => found.id == 0,
            };
            match left.checked_sub(found.names) {
                _ if elsewhere => {}
                Some(rest) => {
                    *left = rest;
                    found.listed = true;
                }
                None => unlisted += found.names,
            }
        }
        if unlisted > 0 {
            let reason = format!(
                "{unlisted} of its names are counted and not listed; no more than {MAX_LISTED} of a file are"
            );
            notes.at("name section", unit.start, reason);
        }
    }

    /// The names of a subsection in its order: of what (the function of a
    /// local, the type of a field), number, name.
    pub fn entries(
        &self,
        kind: Kind,
        found: &Subsection,
        mut each: impl FnMut(Option<u32>, u32, &'a str),
    ) {
        let Some(bytes) = slice(self.file, found.start, found.end) else {
            return;
        };
        let mut body = BinaryReader::new(bytes, found.start);
        let name = |named: Named| {
            let start = u64::from(named.at);
            let bytes = slice(self.file, start, start + u64::from(named.length))?;
            std::str::from_utf8(bytes).ok()
        };
        let mut tell = |body: &mut BinaryReader<'_>, of| {
            map(body, |named| {
                if let Some(text) = name(named) {
                    each(of, named.index, text);
                }
            })
        };
        if kind == Kind::Component {
            let _ = sort(&mut body).and_then(|_| tell(&mut body, None));
        } else if INDIRECT.contains(&found.id) {
            let groups = body.read_var_u32().unwrap_or(0);
            for _ in 0..groups {
                let of = body.read_var_u32().ok();
                if of.is_none() || tell(&mut body, of).is_none() {
                    break;
                }
            }
        } else {
            tell(&mut body, None);
        }
    }

    fn section(
        &mut self,
        kind: Kind,
        mut reader: BinaryReader<'a>,
        counts: &impl Fn(u8) -> usize,
        notes: &mut Notes,
    ) {
        const MAX: usize = 4096;
        while !reader.eof() && self.subsections.len() < MAX {
            let at = reader.original_position();
            let (Ok(id), Ok(body)) = (reader.read_u8(), reader.read_reader()) else {
                notes.at("name section", at, "a subsection is cut");
                return;
            };
            let range = body.range();
            let mut found = Subsection {
                id,
                start: range.start,
                end: range.end,
                names: 0,
                groups: None,
                sort: None,
                listed: false,
            };
            if self.subsection(kind, &mut found, body, counts).is_none() {
                let what = "its names cannot be read to the end, or are out of order";
                notes.at(format!("name subsection {id}"), found.start, what);
            }
            self.subsections.push(found);
        }
    }

    /// `None` where it cannot be read to its end.
    fn subsection(
        &mut self,
        kind: Kind,
        found: &mut Subsection,
        mut body: BinaryReader<'a>,
        counts: &impl Fn(u8) -> usize,
    ) -> Option<()> {
        if found.id == 0 {
            self.own = Some(body.read_unlimited_string().ok()?);
            found.names = 1;
            return Some(());
        }
        if kind == Kind::Component {
            found.sort = Some(sort(&mut body)?);
            return map(&mut body, |_| found.names += 1);
        }
        if INDIRECT.contains(&found.id) {
            let groups = body.read_var_u32().ok()?;
            found.groups = Some(0);
            for _ in 0..groups {
                body.read_var_u32().ok()?;
                map(&mut body, |_| found.names += 1)?;
                found.groups = found.groups.map(|groups| groups + 1);
            }
            return Some(());
        }
        let count = counts(found.id);
        let mut kept: Vec<Named> = Vec::new();
        let mut ordered = true;
        let read = map(&mut body, |named| {
            found.names += 1;
            let known = usize::try_from(named.index).is_ok_and(|index| index < count);
            if kept.last().is_some_and(|last| last.index >= named.index) {
                ordered = false;
            } else if known && ordered {
                kept.push(named);
            }
        });
        if !kept.is_empty() && self.space(found.id).is_none() {
            self.spaces.push((found.id, kept));
        }
        read.filter(|()| ordered)
    }

    fn space(&self, id: u8) -> Option<&[Named]> {
        let space = self.spaces.iter().find(|(known, _)| *known == id);
        space.map(|(_, names)| names.as_slice())
    }

    /// The name of the thing with this number.
    pub fn get(&self, space: u8, index: u32) -> Option<&'a str> {
        let names = self.space(space)?;
        let at = names.binary_search_by_key(&index, |named| named.index);
        let named = names.get(at.ok()?)?;
        let start = u64::from(named.at);
        let bytes = slice(self.file, start, start + u64::from(named.length))?;
        std::str::from_utf8(bytes).ok()
    }
}

fn map(body: &mut BinaryReader<'_>, mut each: impl FnMut(Named)) -> Option<()> {
    let count = body.read_var_u32().ok()?;
    for _ in 0..count {
        let index = body.read_var_u32().ok()?;
        let name = body.read_unlimited_string().ok()?;
        let length = name.len() as u64;
        each(Named {
            index,
            at: u32::try_from(body.original_position() - length).ok()?,
            length: u32::try_from(length).ok()?,
        });
    }
    Some(())
}
