//! The rows of the facts, read from the sections.

use wasmparser::{
    ConstExpr, Data, DataKind, Element, ElementItems, ElementKind, Export, Global, Table, TableInit,
};

use super::super::component::Item;
use super::super::custom::Customs;
use super::super::module::{self, Module, entries, kind_word};
use super::super::names::{Names, Subsection, space};
use super::super::text;
use super::super::walk::{Kind, Unit, id};
use super::Room;
use crate::json::{MAX_SAFE_INTEGER, WriteJson, Writer};

pub(super) fn custom_sections(customs: &Customs<'_>, w: &mut Writer<'_>) {
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

pub(super) fn producers(customs: &Customs<'_>, w: &mut Writer<'_>) {
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

pub(super) fn names(names: &Names<'_>, kind: Kind, w: &mut Writer<'_>) {
    w.begin_object();
    w.key("own");
    names.own.write_json(w);
    w.key("subsections");
    w.begin_array();
    for subsection in &names.subsections {
        w.begin_object();
        w.key("end");
        w.u64(subsection.end);
        w.key("entries");
        match subsection.listed {
            true => named(names, kind, subsection, w),
            false => w.null(),
        }
        w.key("groups");
        w.optional_u64(subsection.groups);
        w.key("id");
        w.u64(u64::from(subsection.id));
        w.key("kind");
        w.string(subsection.kind(kind));
        w.key("names");
        w.u64(subsection.names);
        if let Some(sort) = subsection.sort {
            w.key("sort");
            w.string(sort);
        }
        w.key("start");
        w.u64(subsection.start);
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

fn named(names: &Names<'_>, kind: Kind, subsection: &Subsection, w: &mut Writer<'_>) {
    w.begin_array();
    names.entries(kind, subsection, |of, index, name| {
        w.begin_object();
        w.key("index");
        w.u64(u64::from(index));
        w.key("name");
        w.string(name);
        if let Some(of) = of {
            w.key("of");
            w.u64(u64::from(of));
        }
        w.end_object();
    });
    w.end_array();
}

pub(super) fn items(items: &[Item], w: &mut Writer<'_>) {
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
pub(super) fn exact(value: u64, w: &mut Writer<'_>) {
    if value <= MAX_SAFE_INTEGER {
        return w.u64(value);
    }
    w.begin_object();
    w.key("$integer");
    w.string(&value.to_string());
    w.end_object();
}

pub(super) fn signed(value: i64, w: &mut Writer<'_>) {
    if value.unsigned_abs() <= MAX_SAFE_INTEGER {
        return w.number(value as f64);
    }
    w.begin_object();
    w.key("$integer");
    w.string(&value.to_string());
    w.end_object();
}

pub(super) fn expression(expression: &ConstExpr<'_>, w: &mut Writer<'_>) {
    text::constant(expression).write_json(w);
}

pub(super) fn name(module: &Module<'_>, space: u8, index: u32, w: &mut Writer<'_>) {
    w.key("name");
    module.names.get(space, index).write_json(w);
}

pub(super) fn data_segments<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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
pub(super) fn offset(offset: Option<&ConstExpr<'_>>, w: &mut Writer<'_>) {
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

pub(super) fn element_segments<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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

pub(super) fn dwarf(customs: &Customs<'_>, w: &mut Writer<'_>) {
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

pub(super) fn exports<'a>(
    unit: &Unit<'a>,
    module: &Module<'a>,
    room: &mut Room,
    w: &mut Writer<'_>,
) {
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

pub(super) fn imports<'a>(
    unit: &Unit<'a>,
    module: &Module<'a>,
    room: &mut Room,
    w: &mut Writer<'_>,
) {
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

pub(super) fn functions<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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

pub(super) fn globals<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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

pub(super) fn memories<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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

pub(super) fn tables<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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

pub(super) fn tags<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
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

pub(super) fn types(module: &Module<'_>, w: &mut Writer<'_>) {
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

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
