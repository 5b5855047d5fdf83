//! Custom sections that tools agree on (WebAssembly tool conventions):
//! `producers`, `target_features`, `dylink.0`, `linking`, `reloc.*`, and the
//! references to debug information and source maps.

use rayon::prelude::*;
use wasmparser::{BinaryReader, Linking, LinkingSectionReader, RelocSectionReader};

use super::limits::MAX_CUSTOM;
use super::text::quoted;
use super::walk::{Unit, slice};
use crate::binary::Notes;
use crate::digest::Digest;

/// A custom section.
#[derive(Debug)]
pub struct Custom<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its first byte after id and size: the name's length.
    pub start: u64,
    /// The first byte after the name.
    pub data: u64,
    /// The byte after it.
    pub end: u64,
    /// SHA-256 of what follows the name.
    pub sha256: Digest,
}

/// A field of `producers`.
#[derive(Debug)]
pub struct Field<'a> {
    /// `language`, `processed-by`, `sdk`.
    pub name: &'a str,
    /// Names and versions.
    pub values: Vec<(&'a str, &'a str)>,
}

/// `dylink.0`: a module that is linked when it is loaded.
#[derive(Debug, Default)]
pub struct Dylink<'a> {
    /// Memory size and alignment, table size and alignment (both alignments as
    /// powers of two).
    pub memory: Option<[u32; 4]>,
    /// Modules that must be loaded before.
    pub needed: Vec<&'a str>,
    /// Exports with flags.
    pub exports: Vec<(&'a str, u32)>,
    /// Imports: module, name, flags.
    pub imports: Vec<(&'a str, &'a str, u32)>,
    /// Where needed modules are looked for.
    pub runtime_path: Vec<&'a str>,
    /// Ids of subsections that are not known.
    pub unknown: Vec<u64>,
}

/// What custom sections say.
#[derive(Debug, Default)]
pub struct Customs<'a> {
    /// All of them, in the file's order.
    pub sections: Vec<Custom<'a>>,
    /// `producers`
    pub producers: Vec<Field<'a>>,
    /// `target_features`: the prefix and the feature.
    pub target_features: Vec<(char, &'a str)>,
    /// `dylink.0`
    pub dylink: Option<Dylink<'a>>,
    /// `build_id`
    pub build_id: Option<&'a [u8]>,
    /// `sourceMappingURL`
    pub source_map: Option<&'a str>,
    /// `external_debug_info`
    pub external_debug: Option<&'a str>,
    /// Whether there is a `linking` section of the version that is known.
    pub linking: bool,
}

impl<'a> Customs<'a> {
    /// Reads the custom sections of a unit, without their digests.
    pub fn read(unit: &Unit<'a>, notes: &mut Notes) -> Self {
        let mut customs = Self::default();
        for (section, name, mut reader) in unit.customs() {
            let data = reader.original_position();
            customs.sections.push(Custom {
                name,
                start: section.start,
                data,
                end: section.end,
                sha256: Digest([0; 32]),
            });
            if customs.known(name, &mut reader).is_none() {
                let at = reader.original_position();
                let what = format!("custom section {}", quoted(name));
                notes.at(what, at, "it cannot be read on");
            }
        }
        customs
    }

    /// Takes the digests of what follows the names.
    pub fn digest(&mut self, file: &[u8]) {
        self.sections.par_iter_mut().for_each(|custom| {
            let bytes = slice(file, custom.data, custom.end).unwrap_or_default();
            custom.sha256 = Digest::of(bytes);
        });
    }

    /// `None` where the section is malformed.
    fn known(&mut self, name: &str, reader: &mut BinaryReader<'a>) -> Option<()> {
        let kept = matches!(name, "producers" | "target_features" | "dylink.0");
        if kept && reader.bytes_remaining() > MAX_CUSTOM {
            return None;
        }
        match name {
            "producers" => {
                for _ in 0..reader.read_var_u32().ok()? {
                    let name = reader.read_unlimited_string().ok()?;
                    let mut values = Vec::new();
                    for _ in 0..reader.read_var_u32().ok()? {
                        values.push((string(reader)?, string(reader)?));
                    }
                    self.producers.push(Field { name, values });
                }
                end(reader)
            }
            "target_features" => {
                for _ in 0..reader.read_var_u32().ok()? {
                    let prefix = char::from(reader.read_u8().ok()?);
                    self.target_features.push((prefix, string(reader)?));
                }
                end(reader)
            }
            "dylink.0" => {
                let mut dylink = Dylink::default();
                let read = dylink.read(reader);
                self.dylink = Some(dylink);
                read
            }
            "build_id" => {
                let length = reader.read_var_u32().ok()?;
                let id = reader.read_bytes(usize::try_from(length).ok()?).ok()?;
                self.build_id = Some(id);
                end(reader)
            }
            "sourceMappingURL" => {
                self.source_map = Some(string(reader)?);
                end(reader)
            }
            "external_debug_info" => {
                self.external_debug = Some(string(reader)?);
                end(reader)
            }
            "linking" => {
                let section = LinkingSectionReader::new(reader.clone()).ok()?;
                self.linking = true;
                for subsection in section.subsections() {
                    if !linking_is_whole(subsection.ok()?) {
                        return None;
                    }
                }
                Some(())
            }
            name if name.starts_with("reloc.") => {
                let section = RelocSectionReader::new(reader.clone()).ok()?;
                let entries = section.entries().into_iter();
                entries.map(|entry| entry.ok().map(drop)).collect()
            }
            _ => Some(()),
        }
    }
}

fn linking_is_whole(subsection: Linking<'_>) -> bool {
    match subsection {
        Linking::SegmentInfo(rows) => rows.into_iter().all(|row| row.is_ok()),
        Linking::InitFuncs(rows) => rows.into_iter().all(|row| row.is_ok()),
        Linking::ComdatInfo(rows) => rows.into_iter().all(|row| {
            row.is_ok_and(|comdat| comdat.symbols.into_iter().all(|symbol| symbol.is_ok()))
        }),
        Linking::SymbolTable(rows) => rows.into_iter().all(|row| row.is_ok()),
        Linking::TargetArch(_) | Linking::Unknown { .. } => true,
    }
}

fn string<'a>(reader: &mut BinaryReader<'a>) -> Option<&'a str> {
    reader.read_unlimited_string().ok()
}

fn end(reader: &BinaryReader<'_>) -> Option<()> {
    reader.eof().then_some(())
}

impl<'a> Dylink<'a> {
    fn read(&mut self, reader: &mut BinaryReader<'a>) -> Option<()> {
        while !reader.eof() {
            let id = reader.read_u8().ok()?;
            let mut body = reader.read_reader().ok()?;
            match id {
                1 => {
                    let mut memory = [0; 4];
                    for number in &mut memory {
                        *number = body.read_var_u32().ok()?;
                    }
                    self.memory = Some(memory);
                }
                2 => {
                    for _ in 0..body.read_var_u32().ok()? {
                        self.needed.push(string(&mut body)?);
                    }
                }
                3 => {
                    for _ in 0..body.read_var_u32().ok()? {
                        let name = string(&mut body)?;
                        self.exports.push((name, body.read_var_u32().ok()?));
                    }
                }
                4 => {
                    for _ in 0..body.read_var_u32().ok()? {
                        let (module, name) = (string(&mut body)?, string(&mut body)?);
                        self.imports.push((module, name, body.read_var_u32().ok()?));
                    }
                }
                5 => {
                    for _ in 0..body.read_var_u32().ok()? {
                        self.runtime_path.push(string(&mut body)?);
                    }
                }
                id => self.unknown.push(u64::from(id)),
            }
        }
        Some(())
    }
}

/// The names of the flags of a symbol (tool conventions, Linking.md).
pub const SYMBOL_FLAGS: [(u32, &str); 9] = [
    (0x001, "weak"),
    (0x002, "local"),
    (0x004, "hidden"),
    (0x010, "undefined"),
    (0x020, "exported"),
    (0x040, "explicit-name"),
    (0x080, "no-strip"),
    (0x100, "tls"),
    (0x200, "absolute"),
];

/// The names of the flags of a segment.
pub const SEGMENT_FLAGS: [(u32, &str); 3] = [(1, "strings"), (2, "tls"), (4, "retain")];

/// The names of relocations, by their type (tool conventions, Linking.md).
pub const RELOCATIONS: [&str; 27] = [
    "R_WASM_FUNCTION_INDEX_LEB",
    "R_WASM_TABLE_INDEX_SLEB",
    "R_WASM_TABLE_INDEX_I32",
    "R_WASM_MEMORY_ADDR_LEB",
    "R_WASM_MEMORY_ADDR_SLEB",
    "R_WASM_MEMORY_ADDR_I32",
    "R_WASM_TYPE_INDEX_LEB",
    "R_WASM_GLOBAL_INDEX_LEB",
    "R_WASM_FUNCTION_OFFSET_I32",
    "R_WASM_SECTION_OFFSET_I32",
    "R_WASM_TAG_INDEX_LEB",
    "R_WASM_MEMORY_ADDR_REL_SLEB",
    "R_WASM_TABLE_INDEX_REL_SLEB",
    "R_WASM_GLOBAL_INDEX_I32",
    "R_WASM_MEMORY_ADDR_LEB64",
    "R_WASM_MEMORY_ADDR_SLEB64",
    "R_WASM_MEMORY_ADDR_I64",
    "R_WASM_MEMORY_ADDR_REL_SLEB64",
    "R_WASM_TABLE_INDEX_SLEB64",
    "R_WASM_TABLE_INDEX_I64",
    "R_WASM_TABLE_NUMBER_LEB",
    "R_WASM_MEMORY_ADDR_TLS_SLEB",
    "R_WASM_FUNCTION_OFFSET_I64",
    "R_WASM_MEMORY_ADDR_LOCREL_I32",
    "R_WASM_TABLE_INDEX_REL_SLEB64",
    "R_WASM_MEMORY_ADDR_TLS_SLEB64",
    "R_WASM_FUNCTION_INDEX_I32",
];
