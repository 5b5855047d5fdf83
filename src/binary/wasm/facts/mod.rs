//! The member `facts`: everything that a module's or component's bytes say,
//! typed. Rows are read from the file each time they are written.

use wasmparser::Export;

mod linking;
mod rows;

pub use rows::bodies;

use super::component::Surface;
use super::custom::Customs;
use super::limits::MAX_SIGNATURES;
use super::module::{self, Module, entries};
use super::names::Names;
use super::text;
use super::walk::{Kind, Unit, id, slice};
use crate::binary::Notes;
use crate::digest::Digest;
use crate::json::{WriteJson, Writer};

/// A unit with all that was learned of it.
#[derive(Debug)]
pub struct Part<'a> {
    /// Its sections.
    pub unit: Unit<'a>,
    /// Its index spaces, where it is a module.
    pub module: Option<Module<'a>>,
    /// What its name section says, where it is a component.
    pub names: Names<'a>,
    /// Its custom sections.
    pub customs: Customs<'a>,
    /// What it imports and exports, where it is a component.
    pub surface: Surface,
    /// SHA-256 of its bytes, where it is inside a component.
    pub sha256: Option<Digest>,
    /// What is inside it.
    pub nested: Vec<Part<'a>>,
}

/// Text that is left for signatures.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}

impl Room {
    /// All of it.
    pub fn new() -> Self {
        Self(MAX_SIGNATURES)
    }

    /// The text, where there is room for it. Once there is none, nothing is
    /// rendered any more.
    pub fn take(&mut self, text: impl FnOnce() -> Option<String>) -> Option<String> {
        if self.0 == 0 {
            return None;
        }
        let text = text()?;
        match self.0.checked_sub(text.len()) {
            Some(left) => {
                self.0 = left;
                Some(text)
            }
            None => {
                self.0 = 0;
                None
            }
        }
    }
}

impl WriteJson for Part<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.write(&mut Room::new(), w);
    }
}

impl<'a> Part<'a> {
    /// Reads a valid unit and all in it. `names` is how many names may still be
    /// listed.
    pub fn read(
        mut unit: Unit<'a>,
        surfaces: &mut Vec<Surface>,
        names: &mut u64,
        notes: &mut Notes,
    ) -> Self {
        let nested = std::mem::take(&mut unit.nested);
        let nested = nested
            .into_iter()
            .map(|unit| {
                let bytes = slice(unit.file, unit.start, unit.end).unwrap_or_default();
                let sha256 = Digest::of(bytes);
                let mut part = Self::read(unit, surfaces, names, notes);
                part.sha256 = Some(sha256);
                part
            })
            .collect();
        let own = surfaces
            .iter()
            .position(|surface| surface.start == unit.start);
        let surface = own.map(|at| surfaces.swap_remove(at)).unwrap_or_default();
        let mut customs = Customs::read(&unit, notes);
        customs.digest(unit.file);
        let (module, names) = match unit.kind {
            Kind::Module => (Some(Module::read(&unit, names, notes)), Names::default()),
            Kind::Component => (None, Names::read(&unit, |_| 0, names, notes)),
        };
        Self {
            unit,
            module,
            names,
            customs,
            surface,
            sha256: None,
            nested,
        }
    }

    /// Imports and exports whose signatures do not fit.
    pub fn signatures_omitted(&self, room: &mut Room) -> u64 {
        let mut omitted = self.surface.omitted;
        if let Some(module) = &self.module {
            for export in entries::<Export<'_>>(&self.unit, id::EXPORT) {
                let item = module.item(export.kind, export.index);
                omitted += u64::from(room.take(|| item.text).is_none());
            }
            module::imports(&self.unit, |import| {
                let text = room.take(|| module.extern_text(&import.ty));
                omitted += u64::from(text.is_none());
            });
        }
        let nested = self.nested.iter();
        omitted
            + nested
                .map(|part| part.signatures_omitted(room))
                .sum::<u64>()
    }

    /// The name that the unit gives itself.
    pub fn own_name(&self) -> Option<&'a str> {
        match &self.module {
            Some(module) => module.names.own,
            None => self.names.own,
        }
    }

    /// The rows of `sections`.
    pub fn write_sections(&self, w: &mut Writer<'_>) {
        let unit = &self.unit;
        let mut nested = self.nested.iter();
        let mut customs = unit.customs();
        w.begin_array();
        for section in &unit.sections {
            w.begin_object();
            w.member("bytes", section.end - section.start);
            w.key("description");
            match (unit.kind, section.id) {
                (_, id::CUSTOM) => match customs.next() {
                    Some((_, name, _)) => w.string(&text::quoted(name)),
                    None => w.string(""),
                },
                (Kind::Component, id::CORE_MODULE | id::COMPONENT) => {
                    let kind = nested.next().map_or("", |part| part.unit.kind.as_str());
                    w.string(kind);
                }
                (Kind::Component, id::COMPONENT_START) => w.string("start"),
                (Kind::Module, id::START) => w.string(&described("start", section.count)),
                _ => w.string(&described("count", section.count)),
            }
            w.member("end", section.end);
            w.member("kind", section.label(unit.kind));
            w.member("start", section.start);
            w.end_object();
        }
        w.end_array();
    }

    fn write(&self, room: &mut Room, w: &mut Writer<'_>) {
        match &self.module {
            Some(module) => self.write_module(module, room, w),
            None => self.write_component(room, w),
        }
    }

    fn write_component(&self, room: &mut Room, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("custom_sections");
        rows::custom_sections(&self.customs, w);
        w.key("exports");
        rows::items(&self.surface.exports, w);
        w.key("imports");
        rows::items(&self.surface.imports, w);
        w.member("kind", Kind::Component.as_str());
        w.key("names");
        rows::names(&self.names, Kind::Component, w);
        w.key("nested");
        w.begin_array();
        for (at, part) in self.nested.iter().enumerate() {
            let unit = &part.unit;
            w.begin_object();
            w.member("bytes", unit.end - unit.start);
            w.member("end", unit.end);
            w.key("facts");
            part.write(room, w);
            w.member("index", at as u64);
            w.member("kind", unit.kind.as_str());
            w.member("name", part.own_name());
            w.key("sections");
            part.write_sections(w);
            w.member("sha256", part.sha256);
            w.member("start", unit.start);
            w.end_object();
        }
        w.end_array();
        w.key("producers");
        rows::producers(&self.customs, w);
        w.end_object();
    }

    fn write_module(&self, module: &Module<'a>, room: &mut Room, w: &mut Writer<'_>) {
        let unit = &self.unit;
        let customs = &self.customs;
        w.begin_object();
        w.member("build_id", customs.build_id.map(rows::hex));
        w.key("custom_sections");
        rows::custom_sections(customs, w);
        let count = unit
            .with_id(id::DATA_COUNT)
            .find_map(|section| section.count);
        w.member("data_count", count);
        w.key("data_segments");
        rows::data_segments(unit, module, w);
        w.key("dwarf");
        rows::dwarf(customs, w);
        w.key("dylink");
        match &customs.dylink {
            Some(dylink) => linking::dylink(dylink, w),
            None => w.null(),
        }
        w.key("element_segments");
        rows::element_segments(unit, module, w);
        w.key("exports");
        rows::exports(unit, module, room, w);
        w.key("functions");
        rows::functions(unit, module, w);
        w.key("globals");
        rows::globals(unit, module, w);
        w.key("imports");
        rows::imports(unit, module, room, w);
        w.member("kind", Kind::Module.as_str());
        w.key("linking");
        linking::linking(unit, customs, w);
        w.key("memories");
        rows::memories(unit, module, w);
        w.key("names");
        rows::names(&module.names, Kind::Module, w);
        w.key("producers");
        rows::producers(customs, w);
        w.key("relocations");
        linking::relocations(unit, customs, w);
        w.member("source_map", customs.source_map);
        let start = unit.with_id(id::START).find_map(|section| section.count);
        w.member("start_function", start);
        w.key("tables");
        rows::tables(unit, module, w);
        w.key("tags");
        rows::tags(unit, module, w);
        w.key("target_features");
        w.begin_array();
        for (prefix, feature) in &customs.target_features {
            w.begin_object();
            w.member("feature", feature);
            w.key("prefix");
            w.string(prefix.encode_utf8(&mut [0; 4]));
            w.end_object();
        }
        w.end_array();
        w.key("types");
        rows::types(module, w);
        w.end_object();
    }
}

fn described(word: &str, count: Option<u32>) -> String {
    format!("{word}: {}", count.unwrap_or(0))
}
