//! The member `facts`: everything that a module's or component's bytes say,
//! typed. Rows are read from the file each time they are written.

use wasmparser::{
    ConstExpr, Data, DataKind, Element, ElementItems, ElementKind, Export, Global, Table, TableInit,
};

mod linking;

use super::component::{Item, Surface};
use super::custom::{Customs, Dylink, SYMBOL_FLAGS};
use super::limits::MAX_SIGNATURES;
use super::module::{self, Module, entries, kind_word};
use super::names::{Names, space};
use super::text;
use super::walk::{Kind, Unit, id, slice};
use crate::binary::Notes;
use crate::digest::Digest;
use crate::json::{MAX_SAFE_INTEGER, WriteJson, Writer};

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
    /// Reads a valid unit and all in it.
    pub fn read(mut unit: Unit<'a>, surfaces: &mut Vec<Surface>, notes: &mut Notes) -> Self {
        let nested = std::mem::take(&mut unit.nested);
        let inside = |unit: Unit<'a>, notes: &mut Notes, surfaces: &mut Vec<Surface>| {
            let bytes = slice(unit.file, unit.start, unit.end).unwrap_or_default();
            let sha256 = Digest::of(bytes);
            let mut part = Self::read(unit, surfaces, notes);
            part.sha256 = Some(sha256);
            part
        };
        let nested = nested
            .into_iter()
            .map(|unit| inside(unit, notes, surfaces))
            .collect();
        let own = surfaces
            .iter()
            .position(|surface| surface.start == unit.start);
        let surface = own.map(|at| surfaces.swap_remove(at)).unwrap_or_default();
        let mut customs = Customs::read(&unit, notes);
        customs.digest(unit.file);
        let (module, names) = match unit.kind {
            Kind::Module => (Some(Module::read(&unit, notes)), Names::default()),
            Kind::Component => (None, Names::read(&unit, |_| 0, notes)),
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
            w.key("bytes");
            w.u64(section.end - section.start);
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
            w.key("end");
            w.u64(section.end);
            w.key("kind");
            w.string(section.label(unit.kind));
            w.key("start");
            w.u64(section.start);
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
        custom_sections(&self.customs, w);
        w.key("exports");
        items(&self.surface.exports, w);
        w.key("imports");
        items(&self.surface.imports, w);
        w.key("kind");
        w.string(Kind::Component.as_str());
        w.key("names");
        names(&self.names, Kind::Component, w);
        w.key("nested");
        w.begin_array();
        for (at, part) in self.nested.iter().enumerate() {
            let unit = &part.unit;
            w.begin_object();
            w.key("bytes");
            w.u64(unit.end - unit.start);
            w.key("end");
            w.u64(unit.end);
            w.key("facts");
            part.write(room, w);
            w.key("index");
            w.u64(at as u64);
            w.key("kind");
            w.string(unit.kind.as_str());
            w.key("name");
            part.own_name().write_json(w);
            w.key("sections");
            part.write_sections(w);
            w.key("sha256");
            part.sha256.write_json(w);
            w.key("start");
            w.u64(unit.start);
            w.end_object();
        }
        w.end_array();
        w.key("producers");
        producers(&self.customs, w);
        w.end_object();
    }

    fn write_module(&self, module: &Module<'a>, room: &mut Room, w: &mut Writer<'_>) {
        let unit = &self.unit;
        let customs = &self.customs;
        w.begin_object();
        w.key("build_id");
        customs.build_id.map(hex).write_json(w);
        w.key("custom_sections");
        custom_sections(customs, w);
        w.key("data_count");
        let count = unit
            .with_id(id::DATA_COUNT)
            .find_map(|section| section.count);
        w.optional_u64(count.map(u64::from));
        w.key("data_segments");
        data_segments(unit, module, w);
        w.key("dwarf");
        dwarf(customs, w);
        w.key("dylink");
        match &customs.dylink {
            Some(dylink) => self::dylink(dylink, w),
            None => w.null(),
        }
        w.key("element_segments");
        element_segments(unit, module, w);
        w.key("exports");
        exports(unit, module, room, w);
        w.key("functions");
        functions(unit, module, w);
        w.key("globals");
        globals(unit, module, w);
        w.key("imports");
        imports(unit, module, room, w);
        w.key("kind");
        w.string(Kind::Module.as_str());
        w.key("linking");
        linking::linking(unit, customs, w);
        w.key("memories");
        memories(unit, module, w);
        w.key("names");
        names(&module.names, Kind::Module, w);
        w.key("producers");
        producers(customs, w);
        w.key("relocations");
        linking::relocations(unit, w);
        w.key("source_map");
        customs.source_map.write_json(w);
        w.key("start_function");
        let start = unit.with_id(id::START).find_map(|section| section.count);
        w.optional_u64(start.map(u64::from));
        w.key("tables");
        tables(unit, module, w);
        w.key("tags");
        tags(unit, module, w);
        w.key("target_features");
        w.begin_array();
        for (prefix, feature) in &customs.target_features {
            w.begin_object();
            w.key("feature");
            w.string(feature);
            w.key("prefix");
            w.string(prefix.encode_utf8(&mut [0; 4]));
            w.end_object();
        }
        w.end_array();
        w.key("types");
        types(module, w);
        w.end_object();
    }
}

fn described(word: &str, count: Option<u32>) -> String {
    format!("{word}: {}", count.unwrap_or(0))
}

fn custom_sections(customs: &Customs<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    for custom in &customs.sections {
        w.begin_object();
        w.key("bytes");
        w.u64(custom.end - custom.data);
        w.key("data_start");
        w.u64(custom.data);
        w.key("end");
        w.u64(custom.end);
        w.key("name");
        w.string(custom.name);
        w.key("sha256");
        custom.sha256.write_json(w);
        w.key("start");
        w.u64(custom.start);
        w.end_object();
    }
    w.end_array();
}

fn producers(customs: &Customs<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    for field in &customs.producers {
        w.begin_object();
        w.key("field");
        w.string(field.name);
        w.key("values");
        w.begin_array();
        for (name, version) in &field.values {
            w.begin_object();
            w.key("name");
            w.string(name);
            w.key("version");
            w.string(version);
            w.end_object();
        }
        w.end_array();
        w.end_object();
    }
    w.end_array();
}

fn names(names: &Names<'_>, kind: Kind, w: &mut Writer<'_>) {
    w.begin_object();
    w.key("own");
    names.own.write_json(w);
    w.key("subsections");
    w.begin_array();
    for subsection in &names.subsections {
        w.begin_object();
        w.key("end");
        w.u64(subsection.end);
        w.key("groups");
        w.optional_u64(subsection.groups);
        w.key("id");
        w.u64(u64::from(subsection.id));
        w.key("kind");
        w.string(subsection.kind(kind));
        w.key("names");
        w.u64(subsection.names);
        w.key("start");
        w.u64(subsection.start);
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

fn items(items: &[Item], w: &mut Writer<'_>) {
    w.begin_array();
    for item in items {
        w.begin_object();
        if let Some(id) = &item.external_id {
            w.key("external_id");
            w.string(id);
        }
        if let Some(interface) = &item.implements {
            w.key("implements");
            w.string(interface);
        }
        if item.kind == "instance" {
            w.key("items");
            self::items(&item.items, w);
        }
        w.key("kind");
        w.string(item.kind);
        w.key("name");
        w.string(&item.name);
        if item.kind != "instance" {
            w.key("type");
            item.ty.write_json(w);
        }
        if let Some(suffix) = &item.version_suffix {
            w.key("version_suffix");
            w.string(suffix);
        }
        w.end_object();
    }
    w.end_array();
}

/// A number that JSON may not keep exactly (decision 15).
fn exact(value: u64, w: &mut Writer<'_>) {
    if value <= MAX_SAFE_INTEGER {
        return w.u64(value);
    }
    w.begin_object();
    w.key("$integer");
    w.string(&value.to_string());
    w.end_object();
}

fn signed(value: i64, w: &mut Writer<'_>) {
    if value.unsigned_abs() <= MAX_SAFE_INTEGER {
        return w.number(value as f64);
    }
    w.begin_object();
    w.key("$integer");
    w.string(&value.to_string());
    w.end_object();
}

fn expression(expression: &ConstExpr<'_>, w: &mut Writer<'_>) {
    text::constant(expression).write_json(w);
}

fn name(module: &Module<'_>, space: u8, index: u32, w: &mut Writer<'_>) {
    w.key("name");
    module.names.get(space, index).write_json(w);
}

fn data_segments<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    for (index, data) in (0u32..).zip(entries::<Data<'a>>(unit, id::DATA)) {
        let active = match &data.kind {
            DataKind::Active {
                memory_index,
                offset_expr,
            } => Some((*memory_index, offset_expr)),
            DataKind::Passive => None,
        };
        let bytes = data.data.len() as u64;
        w.begin_object();
        w.key("bytes");
        w.u64(bytes);
        w.key("data_start");
        w.u64(data.range.end.saturating_sub(bytes));
        w.key("end");
        w.u64(data.range.end);
        w.key("index");
        w.u64(u64::from(index));
        w.key("memory");
        w.optional_u64(active.map(|(memory, _)| u64::from(memory)));
        w.key("mode");
        w.string(if active.is_some() {
            "active"
        } else {
            "passive"
        });
        name(module, space::DATA, index, w);
        offset(active.map(|(_, offset)| offset), w);
        w.key("start");
        w.u64(data.range.start);
        w.end_object();
    }
    w.end_array();
}

/// `offset`, its instructions, and `offset_value`, where that is one number.
fn offset(offset: Option<&ConstExpr<'_>>, w: &mut Writer<'_>) {
    w.key("offset");
    match offset {
        Some(offset) => expression(offset, w),
        None => w.null(),
    }
    w.key("offset_value");
    match offset.and_then(text::constant_number) {
        Some(value) => signed(value, w),
        None => w.null(),
    }
}

fn element_segments<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    for (index, element) in (0u32..).zip(entries::<Element<'a>>(unit, id::ELEMENT)) {
        let (mode, active) = match &element.kind {
            ElementKind::Active {
                table_index,
                offset_expr,
            } => ("active", Some((table_index.unwrap_or(0), offset_expr))),
            ElementKind::Passive => ("passive", None),
            ElementKind::Declared => ("declared", None),
        };
        w.begin_object();
        w.key("count");
        w.u64(u64::from(match &element.items {
            ElementItems::Functions(items) => items.count(),
            ElementItems::Expressions(_, items) => items.count(),
        }));
        w.key("element_type");
        match &element.items {
            ElementItems::Functions(_) => w.string("func"),
            ElementItems::Expressions(ty, _) => {
                let mut out = String::new();
                text::ref_type(*ty, &mut out);
                w.string(&out);
            }
        }
        w.key("end");
        w.u64(element.range.end);
        w.key("index");
        w.u64(u64::from(index));
        w.key("items");
        w.begin_array();
        match &element.items {
            ElementItems::Functions(items) => {
                for function in items.clone().into_iter().map_while(Result::ok) {
                    w.u64(u64::from(function));
                }
            }
            ElementItems::Expressions(_, items) => {
                for item in items.clone().into_iter().map_while(Result::ok) {
                    expression(&item, w);
                }
            }
        }
        w.end_array();
        w.key("mode");
        w.string(mode);
        name(module, space::ELEMENT, index, w);
        offset(active.map(|(_, offset)| offset), w);
        w.key("start");
        w.u64(element.range.start);
        w.key("table");
        w.optional_u64(active.map(|(table, _)| u64::from(table)));
        w.end_object();
    }
    w.end_array();
}

fn dwarf(customs: &Customs<'_>, w: &mut Writer<'_>) {
    let is_debug = |name: &str| name.starts_with(".debug_") || name.starts_with(".zdebug_");
    w.begin_object();
    w.key("external");
    customs.external_debug.write_json(w);
    w.key("sections");
    w.begin_array();
    for custom in customs
        .sections
        .iter()
        .filter(|custom| is_debug(custom.name))
    {
        w.string(custom.name);
    }
    w.end_array();
    w.end_object();
}

fn dylink(dylink: &Dylink<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.key("exports");
    w.begin_array();
    for (name, bits) in &dylink.exports {
        w.begin_object();
        flags(*bits, &SYMBOL_FLAGS, w);
        w.key("name");
        w.string(name);
        w.end_object();
    }
    w.end_array();
    w.key("imports");
    w.begin_array();
    for (module, name, bits) in &dylink.imports {
        w.begin_object();
        flags(*bits, &SYMBOL_FLAGS, w);
        w.key("module");
        w.string(module);
        w.key("name");
        w.string(name);
        w.end_object();
    }
    w.end_array();
    w.key("memory");
    match dylink.memory {
        Some(numbers) => {
            const MEMBERS: [&str; 4] = [
                "memory_size",
                "memory_alignment_log2",
                "table_size",
                "table_alignment_log2",
            ];
            let mut members: Vec<_> = MEMBERS.iter().zip(numbers).collect();
            members.sort_unstable();
            w.begin_object();
            for (name, number) in members {
                w.key(name);
                w.u64(u64::from(number));
            }
            w.end_object();
        }
        None => w.null(),
    }
    w.key("needed");
    strings(&dylink.needed, w);
    w.key("runtime_path");
    strings(&dylink.runtime_path, w);
    w.key("unknown_subsections");
    w.begin_array();
    dylink.unknown.iter().for_each(|id| w.u64(*id));
    w.end_array();
    w.end_object();
}

fn strings(strings: &[&str], w: &mut Writer<'_>) {
    w.begin_array();
    strings.iter().for_each(|text| w.string(text));
    w.end_array();
}

/// `flags`, the names of known bits, and `flags_value`, all of them.
fn flags(bits: u32, names: &[(u32, &str)], w: &mut Writer<'_>) {
    w.key("flags");
    w.begin_array();
    for (bit, name) in names {
        if bits & bit != 0 {
            w.string(name);
        }
    }
    w.end_array();
    w.key("flags_value");
    w.u64(u64::from(bits));
}

fn exports<'a>(unit: &Unit<'a>, module: &Module<'a>, room: &mut Room, w: &mut Writer<'_>) {
    w.begin_array();
    for (index, export) in (0u64..).zip(entries::<Export<'a>>(unit, id::EXPORT)) {
        let item = module.item(export.kind, export.index);
        w.begin_object();
        w.key("index");
        w.u64(index);
        w.key("item");
        w.u64(u64::from(export.index));
        w.key("kind");
        w.string(kind_word(export.kind));
        w.key("name");
        w.string(export.name);
        w.key("type");
        room.take(|| item.text).write_json(w);
        w.key("type_index");
        w.optional_u64(item.ty.map(u64::from));
        w.end_object();
    }
    w.end_array();
}

fn imports<'a>(unit: &Unit<'a>, module: &Module<'a>, room: &mut Room, w: &mut Writer<'_>) {
    use wasmparser::{ExternalKind, TypeRef};
    let (mut index, mut next) = (0u64, [0u32; 5]);
    w.begin_array();
    module::imports(unit, |import| {
        let kind = module::kind_of(&import.ty);
        let (at, space) = match kind {
            ExternalKind::Func | ExternalKind::FuncExact => (0, space::FUNCTION),
            ExternalKind::Table => (1, space::TABLE),
            ExternalKind::Memory => (2, space::MEMORY),
            ExternalKind::Global => (3, space::GLOBAL),
            ExternalKind::Tag => (4, space::TAG),
        };
        let item = next.get(at).copied().unwrap_or_default();
        if let Some(next) = next.get_mut(at) {
            *next = next.saturating_add(1);
        }
        let ty = match import.ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => Some(ty),
            TypeRef::Tag(ty) => Some(ty.func_type_idx),
            _ => None,
        };
        w.begin_object();
        w.key("debug_name");
        module.names.get(space, item).write_json(w);
        if matches!(kind, ExternalKind::FuncExact) {
            w.key("exact");
            w.bool(true);
        }
        w.key("index");
        w.u64(index);
        w.key("item");
        w.u64(u64::from(item));
        w.key("kind");
        w.string(kind_word(kind));
        w.key("module");
        w.string(import.module);
        w.key("name");
        w.string(import.name);
        w.key("type");
        room.take(|| module.extern_text(&import.ty)).write_json(w);
        w.key("type_index");
        w.optional_u64(ty.map(u64::from));
        w.end_object();
        index += 1;
    });
    w.end_array();
}

fn functions<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    let mut bodies = bodies(unit);
    let first = module.imported.functions;
    let own = usize::try_from(first).unwrap_or(usize::MAX);
    let types = module.functions.get(own..).unwrap_or_default();
    w.begin_array();
    for (index, &ty) in (first..).zip(types) {
        w.begin_object();
        let body = bodies.next();
        w.key("end");
        w.optional_u64(body.map(|(_, end)| end));
        w.key("index");
        w.u64(u64::from(index));
        name(module, space::FUNCTION, index, w);
        w.key("start");
        w.optional_u64(body.map(|(start, _)| start));
        w.key("type_index");
        w.u64(u64::from(ty));
        w.end_object();
    }
    w.end_array();
}

/// The ranges of function bodies, after their sizes.
pub fn bodies<'a>(unit: &Unit<'a>) -> impl Iterator<Item = (u64, u64)> {
    let readers: Vec<_> = unit
        .with_id(id::CODE)
        .map(|section| unit.reader(section))
        .collect();
    readers.into_iter().flat_map(|mut reader| {
        let count = reader.read_var_u32().unwrap_or(0);
        (0..count).map_while(move |_| {
            let range = reader.read_reader().ok()?.range();
            Some((range.start, range.end))
        })
    })
}

fn globals<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    let first = module.imported.globals;
    for (index, global) in (first..).zip(entries::<Global<'a>>(unit, id::GLOBAL)) {
        w.begin_object();
        w.key("index");
        w.u64(u64::from(index));
        w.key("init");
        expression(&global.init_expr, w);
        w.key("mutable");
        w.bool(global.ty.mutable);
        name(module, space::GLOBAL, index, w);
        w.key("shared");
        w.bool(global.ty.shared);
        w.key("type");
        w.string(&text::global(&global.ty));
        w.key("value_type");
        let mut out = String::new();
        text::value_type(global.ty.content_type, &mut out);
        w.string(&out);
        w.end_object();
    }
    w.end_array();
}

fn memories<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    let first = module.imported.memories;
    for (index, ty) in (first..).zip(entries::<wasmparser::MemoryType>(unit, id::MEMORY)) {
        w.begin_object();
        w.key("index");
        w.u64(u64::from(index));
        w.key("initial");
        exact(ty.initial, w);
        w.key("maximum");
        match ty.maximum {
            Some(maximum) => exact(maximum, w),
            None => w.null(),
        }
        w.key("memory64");
        w.bool(ty.memory64);
        name(module, space::MEMORY, index, w);
        w.key("page_size_log2");
        w.u64(u64::from(ty.page_size_log2.unwrap_or(16)));
        w.key("shared");
        w.bool(ty.shared);
        w.key("type");
        w.string(&text::memory(&ty));
        w.end_object();
    }
    w.end_array();
}

fn tables<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    let first = module.imported.tables;
    for (index, table) in (first..).zip(entries::<Table<'a>>(unit, id::TABLE)) {
        let ty = &table.ty;
        w.begin_object();
        w.key("element_type");
        let mut out = String::new();
        text::ref_type(ty.element_type, &mut out);
        w.string(&out);
        w.key("index");
        w.u64(u64::from(index));
        w.key("init");
        match &table.init {
            TableInit::RefNull => w.null(),
            TableInit::Expr(init) => expression(init, w),
        }
        w.key("initial");
        exact(ty.initial, w);
        w.key("maximum");
        match ty.maximum {
            Some(maximum) => exact(maximum, w),
            None => w.null(),
        }
        name(module, space::TABLE, index, w);
        w.key("shared");
        w.bool(ty.shared);
        w.key("table64");
        w.bool(ty.table64);
        w.key("type");
        w.string(&text::table(ty));
        w.end_object();
    }
    w.end_array();
}

fn tags<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    let first = module.imported.tags;
    for (index, tag) in (first..).zip(entries::<wasmparser::TagType>(unit, id::TAG)) {
        w.begin_object();
        w.key("index");
        w.u64(u64::from(index));
        name(module, space::TAG, index, w);
        w.key("type_index");
        w.u64(u64::from(tag.func_type_idx));
        w.end_object();
    }
    w.end_array();
}

fn types(module: &Module<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    for index in 0..module.type_count() {
        let Some((ty, group)) = module.type_at(index) else {
            break;
        };
        w.begin_object();
        w.key("final");
        w.bool(ty.is_final);
        w.key("group");
        w.u64(u64::from(group));
        w.key("index");
        w.u64(u64::from(index));
        w.key("kind");
        w.string(text::composite_kind(&ty));
        name(module, space::TYPE, index, w);
        w.key("supertypes");
        w.begin_array();
        text::supertypes(&ty).iter().for_each(|index| w.u64(*index));
        w.end_array();
        w.key("type");
        w.string(&text::sub_type(&ty));
        w.end_object();
    }
    w.end_array();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
