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
        w.member("bytes", custom.end - custom.data);
        w.member("data_start", custom.data);
        w.member("end", custom.end);
        w.member("name", custom.name);
        w.member("sha256", custom.sha256);
        w.member("start", custom.start);
        w.end_object();
    }
    w.end_array();
}

pub(super) fn producers(customs: &Customs<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    for field in &customs.producers {
        w.begin_object();
        w.member("field", field.name);
        w.key("values");
        w.begin_array();
        for (name, version) in &field.values {
            w.begin_object();
            w.member("name", name);
            w.member("version", version);
            w.end_object();
        }
        w.end_array();
        w.end_object();
    }
    w.end_array();
}

pub(super) fn names(names: &Names<'_>, kind: Kind, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("own", names.own);
    w.key("subsections");
    w.begin_array();
    for subsection in &names.subsections {
        w.begin_object();
        w.member("end", subsection.end);
        w.key("entries");
        match subsection.listed {
            true => named(names, kind, subsection, w),
            false => w.null(),
        }
        w.member("groups", subsection.groups);
        w.member("id", subsection.id);
        w.member("kind", subsection.kind(kind));
        w.member("names", subsection.names);
        if let Some(sort) = subsection.sort {
            w.member("sort", sort);
        }
        w.member("start", subsection.start);
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

fn named(names: &Names<'_>, kind: Kind, subsection: &Subsection, w: &mut Writer<'_>) {
    w.begin_array();
    names.entries(kind, subsection, |of, index, name| {
        w.begin_object();
        w.member("index", index);
        w.member("name", name);
        if let Some(of) = of {
            w.member("of", of);
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
            w.member("external_id", id);
        }
        if let Some(interface) = &item.implements {
            w.member("implements", interface);
        }
        if item.kind == "instance" {
            w.key("items");
            self::items(&item.items, w);
        }
        w.member("kind", item.kind);
        w.member("name", &item.name);
        if item.kind != "instance" {
            w.member("type", &item.ty);
        }
        if let Some(suffix) = &item.version_suffix {
            w.member("version_suffix", suffix);
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
    w.member("$integer", value.to_string());
    w.end_object();
}

pub(super) fn signed(value: i64, w: &mut Writer<'_>) {
    if value.unsigned_abs() <= MAX_SAFE_INTEGER {
        return w.number(value as f64);
    }
    w.begin_object();
    w.member("$integer", value.to_string());
    w.end_object();
}

pub(super) fn expression(expression: &ConstExpr<'_>, w: &mut Writer<'_>) {
    text::constant(expression).write_json(w);
}

pub(super) fn name(module: &Module<'_>, space: u8, index: u32, w: &mut Writer<'_>) {
    w.member("name", module.names.get(space, index));
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
        w.member("bytes", bytes);
        w.member("data_start", data.range.end.saturating_sub(bytes));
        w.member("end", data.range.end);
        w.member("index", index);
        w.member("memory", active.map(|(memory, _)| u64::from(memory)));
        let mode = if active.is_some() {
            "active"
        } else {
            "passive"
        };
        w.member("mode", mode);
        name(module, space::DATA, index, w);
        offset(active.map(|(_, offset)| offset), w);
        w.member("start", data.range.start);
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
        let count = u64::from(match &element.items {
            ElementItems::Functions(items) => items.count(),
            ElementItems::Expressions(_, items) => items.count(),
        });
        w.member("count", count);
        w.key("element_type");
        match &element.items {
            ElementItems::Functions(_) => w.string("func"),
            ElementItems::Expressions(ty, _) => {
                let mut out = String::new();
                text::ref_type(*ty, &mut out);
                w.string(&out);
            }
        }
        w.member("end", element.range.end);
        w.member("index", index);
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
        w.member("mode", mode);
        name(module, space::ELEMENT, index, w);
        offset(active.map(|(_, offset)| offset), w);
        w.member("start", element.range.start);
        w.member("table", active.map(|(table, _)| u64::from(table)));
        w.end_object();
    }
    w.end_array();
}

pub(super) fn dwarf(customs: &Customs<'_>, w: &mut Writer<'_>) {
    let is_debug = |name: &str| name.starts_with(".debug_") || name.starts_with(".zdebug_");
    w.begin_object();
    w.member("external", customs.external_debug);
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
        w.member("index", index);
        w.member("item", export.index);
        w.member("kind", kind_word(export.kind));
        w.member("name", export.name);
        w.member("type", room.take(|| item.text));
        w.member("type_index", item.ty.map(u64::from));
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
        w.member("debug_name", module.names.get(space, item));
        if matches!(kind, ExternalKind::FuncExact) {
            w.member("exact", true);
        }
        w.member("index", index);
        w.member("item", item);
        w.member("kind", kind_word(kind));
        w.member("module", import.module);
        w.member("name", import.name);
        w.member("type", room.take(|| module.extern_text(&import.ty)));
        w.member("type_index", ty.map(u64::from));
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
        w.member("end", body.map(|(_, end)| end));
        w.member("index", index);
        name(module, space::FUNCTION, index, w);
        w.member("start", body.map(|(start, _)| start));
        w.member("type_index", ty);
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
        w.member("index", index);
        w.key("init");
        expression(&global.init_expr, w);
        w.member("mutable", global.ty.mutable);
        name(module, space::GLOBAL, index, w);
        w.member("shared", global.ty.shared);
        w.member("type", text::global(&global.ty));
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
        w.member("index", index);
        w.key("initial");
        exact(ty.initial, w);
        w.key("maximum");
        match ty.maximum {
            Some(maximum) => exact(maximum, w),
            None => w.null(),
        }
        w.member("memory64", ty.memory64);
        name(module, space::MEMORY, index, w);
        w.member("page_size_log2", ty.page_size_log2.unwrap_or(16));
        w.member("shared", ty.shared);
        w.member("type", text::memory(&ty));
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
        w.member("index", index);
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
        w.member("shared", ty.shared);
        w.member("table64", ty.table64);
        w.member("type", text::table(ty));
        w.end_object();
    }
    w.end_array();
}

pub(super) fn tags<'a>(unit: &Unit<'a>, module: &Module<'a>, w: &mut Writer<'_>) {
    w.begin_array();
    let first = module.imported.tags;
    for (index, tag) in (first..).zip(entries::<wasmparser::TagType>(unit, id::TAG)) {
        w.begin_object();
        w.member("index", index);
        name(module, space::TAG, index, w);
        w.member("type_index", tag.func_type_idx);
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
        w.member("final", ty.is_final);
        w.member("group", group);
        w.member("index", index);
        w.member("kind", text::composite_kind(&ty));
        name(module, space::TYPE, index, w);
        w.key("supertypes");
        w.begin_array();
        text::supertypes(&ty).iter().for_each(|index| w.u64(*index));
        w.end_array();
        w.member("type", text::sub_type(&ty));
        w.end_object();
    }
    w.end_array();
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
