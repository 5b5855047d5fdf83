//! Sections by their ids and sizes, in modules and in the modules and
//! components inside components (WebAssembly core specification 5.5;
//! component model, Binary.md).

use wasmparser::BinaryReader;

/// Modules inside components inside components: beyond this depth they are
/// one section.
pub const MAX_DEPTH: usize = 64;

/// What a binary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A core module (version 1, layer 0).
    Module,
    /// A component (layer 1).
    Component,
}

impl Kind {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Module => "core-module",
            Self::Component => "component",
        }
    }

    /// What the eight bytes of a header say, where they are one.
    pub fn of_header(bytes: &[u8]) -> Option<Self> {
        let header = bytes.strip_prefix(b"\0asm")?;
        match header.get(2..4)? {
            [0, 0] => Some(Self::Module),
            [1, 0] => Some(Self::Component),
            _ => None,
        }
    }
}

/// One section.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its id byte.
    pub id: u8,
    /// The payload's first byte, after id and size, in the file.
    pub start: u64,
    /// The byte after the payload.
    pub end: u64,
    /// How many entries it says it has, where it has a count.
    pub count: Option<u32>,
}

/// A module or component, and what is inside it.
#[derive(Debug)]
pub struct Unit<'a> {
    /// What it is.
    pub kind: Kind,
    /// The whole file.
    pub file: &'a [u8],
    /// Its first byte in the file.
    pub start: u64,
    /// The byte after it.
    pub end: u64,
    /// Its sections in the file's order.
    pub sections: Vec<Section>,
    /// The modules and components in it, in the file's order.
    pub nested: Vec<Unit<'a>>,
    /// Whether something inside is too deep to be taken apart.
    pub too_deep: bool,
}

/// The labels of sections, as the contract has them.
const MODULE_LABELS: [&str; 14] = [
    "Custom",
    "Type",
    "Import",
    "Function",
    "Table",
    "Memory",
    "Global",
    "Export",
    "Start",
    "Elem",
    "Code",
    "Data",
    "DataCount",
    "Tag",
];

/// Those of components.
const COMPONENT_LABELS: [&str; 13] = [
    "Custom",
    "CoreModule",
    "CoreInstance",
    "CoreType",
    "Component",
    "Instance",
    "Alias",
    "Type",
    "Canon",
    "Start",
    "Import",
    "Export",
    "Value",
];

/// Ids of module sections.
pub mod id {
    #![allow(missing_docs)] // the specification's names
    pub const CUSTOM: u8 = 0;
    pub const TYPE: u8 = 1;
    pub const IMPORT: u8 = 2;
    pub const FUNCTION: u8 = 3;
    pub const TABLE: u8 = 4;
    pub const MEMORY: u8 = 5;
    pub const GLOBAL: u8 = 6;
    pub const EXPORT: u8 = 7;
    pub const START: u8 = 8;
    pub const ELEMENT: u8 = 9;
    pub const CODE: u8 = 10;
    pub const DATA: u8 = 11;
    pub const DATA_COUNT: u8 = 12;
    pub const TAG: u8 = 13;
    /// Ids of component sections.
    pub const CORE_MODULE: u8 = 1;
    pub const COMPONENT: u8 = 4;
    pub const COMPONENT_START: u8 = 9;
    pub const COMPONENT_IMPORT: u8 = 10;
    pub const COMPONENT_EXPORT: u8 = 11;
}

impl Section {
    /// Its label.
    pub fn label(&self, kind: Kind) -> &'static str {
        let labels: &[&str] = match kind {
            Kind::Module => &MODULE_LABELS,
            Kind::Component => &COMPONENT_LABELS,
        };
        labels
            .get(usize::from(self.id))
            .copied()
            .unwrap_or("Unknown")
    }
}

impl<'a> Unit<'a> {
    /// Takes `file` apart as far as ids and sizes go. The first section that
    /// does not fit ends it; what is wrong is the validator's to say. `None`
    /// without a header or beyond `max_sections` sections over all.
    pub fn read(file: &'a [u8], max_sections: &mut usize) -> Option<Self> {
        Self::read_range(file, 0, file.len() as u64, 0, max_sections)
    }

    fn read_range(
        file: &'a [u8],
        start: u64,
        end: u64,
        depth: usize,
        max_sections: &mut usize,
    ) -> Option<Self> {
        let bytes = slice(file, start, end)?;
        let kind = Kind::of_header(bytes)?;
        let mut unit = Self {
            kind,
            file,
            start,
            end,
            sections: Vec::new(),
            nested: Vec::new(),
            too_deep: false,
        };
        let mut at = start.checked_add(8)?;
        while let Some(section) = section(file, at, end) {
            *max_sections = max_sections.checked_sub(1)?;
            at = section.end;
            let holds_unit =
                kind == Kind::Component && matches!(section.id, id::CORE_MODULE | id::COMPONENT);
            unit.sections.push(Section {
                count: (!holds_unit).then(|| count(file, kind, &section)).flatten(),
                ..section
            });
            if !holds_unit {
                continue;
            }
            if depth + 1 == MAX_DEPTH {
                unit.too_deep = true;
                continue;
            }
            let nested =
                Self::read_range(file, section.start, section.end, depth + 1, max_sections);
            match nested {
                Some(nested) => unit.nested.push(nested),
                None if *max_sections == 0 => return None,
                None => break,
            }
        }
        Some(unit)
    }

    /// The payload of a section.
    pub fn payload(&self, section: &Section) -> &'a [u8] {
        slice(self.file, section.start, section.end).unwrap_or_default()
    }

    /// A reader of the payload of a section, with offsets of the file.
    pub fn reader(&self, section: &Section) -> BinaryReader<'a> {
        BinaryReader::new(self.payload(section), section.start)
    }

    /// The sections with this id.
    pub fn with_id(&self, id: u8) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.id == id)
    }

    /// The custom sections: the section, its name, and a reader of what
    /// follows the name.
    pub fn customs(&self) -> impl Iterator<Item = (&Section, &'a str, BinaryReader<'a>)> {
        self.with_id(id::CUSTOM).filter_map(|section| {
            let mut reader = self.reader(section);
            let name = reader.read_unlimited_string().ok()?;
            let rest = slice(self.file, reader.original_position(), section.end)?;
            Some((
                section,
                name,
                BinaryReader::new(rest, reader.original_position()),
            ))
        })
    }

    /// This unit and all in it, in the file's order.
    pub fn all(&self) -> Vec<&Unit<'a>> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(unit) = found.get(at).copied() {
            let next = at + 1;
            // Depth first keeps the file's order.
            found.splice(next..next, unit.nested.iter());
            at = next;
        }
        found
    }
}

/// The bytes from `start` to `end` of the file.
pub fn slice(file: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    file.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

fn section(file: &[u8], at: u64, end: u64) -> Option<Section> {
    let mut reader = BinaryReader::new(slice(file, at, end)?, at);
    let id = reader.read_u8().ok()?;
    let size = reader.read_var_u32().ok()?;
    let start = reader.original_position();
    let section_end = start.checked_add(u64::from(size))?;
    (section_end <= end).then_some(Section {
        id,
        start,
        end: section_end,
        count: None,
    })
}

/// What a section says of the number of its entries. A start section has a
/// function where others have a count.
fn count(file: &[u8], kind: Kind, section: &Section) -> Option<u32> {
    let without = match kind {
        Kind::Module => section.id == id::CUSTOM,
        Kind::Component => matches!(section.id, id::CUSTOM | id::COMPONENT_START),
    };
    if without {
        return None;
    }
    let bytes = slice(file, section.start, section.end)?;
    BinaryReader::new(bytes, section.start).read_var_u32().ok()
}
