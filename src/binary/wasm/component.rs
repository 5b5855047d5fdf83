//! What components import and export, with the types that the validator found.

use std::collections::HashMap;

use wasmparser::component_types::{
    ComponentAnyTypeId, ComponentDefinedType, ComponentDefinedTypeId, ComponentEntityType,
    ComponentFuncTypeId, ComponentItem, ComponentValType, ResourceId,
};
use wasmparser::types::{EntityType, TypesRef};
use wasmparser::{ComponentExportSectionReader, ComponentImportSectionReader, PrimitiveValType};

use super::limits::MAX_SIGNATURES;
use super::text::{self, quoted};
use super::walk::{Kind, Unit, id};

/// Items that are given with their types, those of instances included.
const MAX_ITEMS: usize = 200_000;
/// Types inside types that are written out.
const MAX_DEPTH: usize = 64;

/// The imports and exports of one component.
#[derive(Debug, Default)]
pub struct Surface {
    /// Where the component starts in the file.
    pub start: u64,
    /// What it needs.
    pub imports: Vec<Item>,
    /// What it gives.
    pub exports: Vec<Item>,
    /// Items whose types, or that themselves, are left out for want of room.
    pub omitted: u64,
}

/// Something that is imported or exported.
#[derive(Debug)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// `func`, `instance`, `type`, `value`, `module` or `component`.
    pub kind: &'static str,
    /// Its type, as text; `None` for instances, which have items, and where it
    /// is left out.
    pub ty: Option<String>,
    /// What an instance exports.
    pub items: Vec<Item>,
    /// The interface that it says it implements.
    pub implements: Option<String>,
    /// A version that does not stand in the name.
    pub version_suffix: Option<String>,
    /// Its id outside of the component.
    pub external_id: Option<String>,
}

/// Collects surfaces as components end.
pub(super) struct Surfaces<'a, 'b> {
    /// Units in the order in which they end.
    ending: std::vec::IntoIter<&'b Unit<'a>>,
    found: Vec<Surface>,
    left: Room,
}

#[derive(Clone, Copy)]
struct Room {
    text: usize,
    items: usize,
}

impl<'a, 'b> Surfaces<'a, 'b> {
    pub fn new(root: &'b Unit<'a>) -> Self {
        let mut ending = Vec::new();
        post_order(root, &mut ending);
        Self {
            ending: ending.into_iter(),
            found: Vec::new(),
            left: Room {
                text: MAX_SIGNATURES,
                items: MAX_ITEMS,
            },
        }
    }

    /// A module or component has ended.
    pub fn end(&mut self, types: TypesRef<'_>) {
        let Some(unit) = self.ending.next() else {
            return;
        };
        if unit.kind != Kind::Component {
            return;
        }
        let mut names = Names::new(types, self.left);
        let imports = names.imports(unit);
        let exports = names.exports(unit);
        self.left = names.left;
        self.found.push(Surface {
            start: unit.start,
            imports,
            exports,
            omitted: names.omitted,
        });
    }

    pub fn finish(self) -> Vec<Surface> {
        self.found
    }
}

fn post_order<'a, 'b>(unit: &'b Unit<'a>, into: &mut Vec<&'b Unit<'a>>) {
    for nested in &unit.nested {
        post_order(nested, into);
    }
    into.push(unit);
}

/// Types of one component, and the names that it gives to them.
struct Names<'a> {
    types: TypesRef<'a>,
    defined: HashMap<ComponentDefinedTypeId, String>,
    resources: HashMap<ResourceId, String>,
    left: Room,
    omitted: u64,
}

impl<'a> Names<'a> {
    fn new(types: TypesRef<'a>, left: Room) -> Self {
        Self {
            types,
            defined: HashMap::new(),
            resources: HashMap::new(),
            left,
            omitted: 0,
        }
    }

    fn imports(&mut self, unit: &Unit<'_>) -> Vec<Item> {
        let mut found = Vec::new();
        for section in unit.with_id(id::COMPONENT_IMPORT) {
            let Ok(reader) = ComponentImportSectionReader::new(unit.reader(section)) else {
                continue;
            };
            for import in reader.into_iter().map_while(Result::ok) {
                let name = import.name.name;
                if let Some(item) = self.types.component_item_for_import(name) {
                    found.extend(self.item(name, item, 0));
                }
            }
        }
        found
    }

    fn exports(&mut self, unit: &Unit<'_>) -> Vec<Item> {
        let mut found = Vec::new();
        for section in unit.with_id(id::COMPONENT_EXPORT) {
            let Ok(reader) = ComponentExportSectionReader::new(unit.reader(section)) else {
                continue;
            };
            for export in reader.into_iter().map_while(Result::ok) {
                let name = export.name.name;
                if let Some(item) = self.types.component_item_for_export(name) {
                    found.extend(self.item(name, item, 0));
                }
            }
        }
        found
    }

    fn item(&mut self, name: &str, item: &ComponentItem, depth: usize) -> Option<Item> {
        let cost = name.len() + 64;
        if self.left.items == 0 || self.left.text < cost {
            self.omitted += 1;
            return None;
        }
        self.left.items -= 1;
        self.left.text -= cost;
        let mut items = Vec::new();
        let (kind, ty) = match item.ty {
            ComponentEntityType::Module(id) => {
                let mut out = String::from("(module");
                if let Some(module) = self.types.get(id) {
                    for ((module, name), ty) in &module.imports {
                        if !self.room(&out) {
                            break;
                        }
                        out.push_str(&format!(" (import {} {} ", quoted(module), quoted(name)));
                        self.core(ty, &mut out);
                        out.push(')');
                    }
                    for (name, ty) in &module.exports {
                        if !self.room(&out) {
                            break;
                        }
                        out.push_str(&format!(" (export {} ", quoted(name)));
                        self.core(ty, &mut out);
                        out.push(')');
                    }
                }
                out.push(')');
                ("module", Some(out))
            }
            ComponentEntityType::Func(id) => ("func", Some(self.func(id))),
            ComponentEntityType::Value(ty) => {
                let mut out = String::from("(value ");
                self.value(ty, 0, &mut out);
                out.push(')');
                ("value", Some(out))
            }
            ComponentEntityType::Type {
                referenced,
                created,
            } => ("type", Some(self.defined(name, referenced, created))),
            ComponentEntityType::Instance(id) => {
                if depth < MAX_DEPTH
                    && let Some(instance) = self.types.get(id)
                {
                    for (name, item) in &instance.exports {
                        items.extend(self.item(name, item, depth + 1));
                    }
                }
                ("instance", None)
            }
            ComponentEntityType::Component(id) => {
                let counts = self.types.get(id).map_or((0, 0), |component| {
                    (component.imports.len(), component.exports.len())
                });
                let out = format!("(component {} imports {} exports)", counts.0, counts.1);
                ("component", Some(out))
            }
        };
        let ty = ty.filter(|text| {
            let fits = text.len() <= self.left.text;
            match fits {
                true => self.left.text -= text.len(),
                false => {
                    // Nothing is tried again and again that does not fit.
                    self.left.text = 0;
                    self.omitted += 1;
                }
            }
            fits
        });
        Some(Item {
            name: name.to_owned(),
            kind,
            ty,
            items,
            implements: item.implements.clone(),
            version_suffix: item.version_suffix.clone(),
            external_id: item.external_id.clone(),
        })
    }

    /// Whether text may go on; what is too long is left out in the end.
    fn room(&self, text: &str) -> bool {
        text.len() <= self.left.text
    }

    fn core(&self, ty: &EntityType, out: &mut String) {
        match ty {
            EntityType::Func(id) | EntityType::FuncExact(id) => match self.types.get(*id) {
                Some(ty) => out.push_str(&text::sub_type(ty)),
                None => out.push_str("(func)"),
            },
            EntityType::Table(ty) => out.push_str(&text::table(ty)),
            EntityType::Memory(ty) => out.push_str(&text::memory(ty)),
            EntityType::Global(ty) => out.push_str(&text::global(ty)),
            EntityType::Tag(id) => {
                out.push_str("(tag ");
                if let Some(ty) = self.types.get(*id) {
                    out.push_str(&text::sub_type(ty));
                }
                out.push(')');
            }
        }
    }

    fn func(&self, id: ComponentFuncTypeId) -> String {
        let mut out = String::from("(func");
        if let Some(ty) = self.types.get(id) {
            if ty.async_ {
                out.push_str(" async");
            }
            for (name, ty) in &ty.params {
                out.push_str(&format!(" (param {} ", quoted(name.as_str())));
                self.value(*ty, 0, &mut out);
                out.push(')');
            }
            if let Some(ty) = ty.result {
                out.push_str(" (result ");
                self.value(ty, 0, &mut out);
                out.push(')');
            }
        }
        out.push(')');
        out
    }

    /// A type that gets a name here, which stands for it from here on.
    fn defined(
        &mut self,
        name: &str,
        referenced: ComponentAnyTypeId,
        created: ComponentAnyTypeId,
    ) -> String {
        let mut out = String::new();
        match (referenced, created) {
            (ComponentAnyTypeId::Resource(_), ComponentAnyTypeId::Resource(created)) => {
                let names = &mut self.resources;
                match names.get(&created.resource()) {
                    Some(known) => out.push_str(known),
                    None => out.push_str("resource"),
                }
                names
                    .entry(created.resource())
                    .or_insert_with(|| name.to_owned());
            }
            (ComponentAnyTypeId::Defined(referenced), ComponentAnyTypeId::Defined(created)) => {
                match self.defined.get(&referenced) {
                    Some(known) => out.push_str(known),
                    None => self.structure(referenced, 0, &mut out),
                }
                self.defined
                    .entry(created)
                    .or_insert_with(|| name.to_owned());
            }
            (ComponentAnyTypeId::Func(id), _) => out = self.func(id),
            (ComponentAnyTypeId::Component(_), _) => out.push_str("component"),
            _ => out.push_str("instance"),
        }
        out
    }

    fn value(&self, ty: ComponentValType, depth: usize, out: &mut String) {
        match ty {
            ComponentValType::Primitive(ty) => out.push_str(primitive(ty)),
            ComponentValType::Type(id) => match self.defined.get(&id) {
                Some(name) => out.push_str(name),
                None => self.structure(id, depth, out),
            },
        }
    }

    fn optional(&self, ty: Option<ComponentValType>, depth: usize, out: &mut String) {
        if let Some(ty) = ty {
            out.push(' ');
            self.value(ty, depth + 1, out);
        }
    }

    fn structure(&self, id: ComponentDefinedTypeId, depth: usize, out: &mut String) {
        if depth > MAX_DEPTH || !self.room(out) {
            out.push_str("(...)");
            return;
        }
        let Some(ty) = self.types.get(id) else {
            return;
        };
        let one = |word: &str, ty: ComponentValType, out: &mut String| {
            out.push_str(&format!("({word} "));
            self.value(ty, depth + 1, out);
            out.push(')');
        };
        match ty {
            ComponentDefinedType::Primitive(ty) => out.push_str(primitive(*ty)),
            ComponentDefinedType::Record(record) => {
                out.push_str("(record");
                for (name, ty) in &record.fields {
                    out.push_str(&format!(" (field {} ", quoted(name.as_str())));
                    self.value(*ty, depth + 1, out);
                    out.push(')');
                }
                out.push(')');
            }
            ComponentDefinedType::Variant(variant) => {
                out.push_str("(variant");
                for (name, case) in &variant.cases {
                    out.push_str(&format!(" (case {}", quoted(name.as_str())));
                    self.optional(case.ty, depth, out);
                    out.push(')');
                }
                out.push(')');
            }
            ComponentDefinedType::List { element, .. } => one("list", *element, out),
            ComponentDefinedType::Map { key, value, .. } => {
                out.push_str("(map ");
                self.value(*key, depth + 1, out);
                out.push(' ');
                self.value(*value, depth + 1, out);
                out.push(')');
            }
            ComponentDefinedType::FixedLengthList {
                element, length, ..
            } => {
                out.push_str("(list ");
                self.value(*element, depth + 1, out);
                out.push_str(&format!(" {length})"));
            }
            ComponentDefinedType::Tuple(tuple) => {
                out.push_str("(tuple");
                for ty in &tuple.types {
                    self.optional(Some(*ty), depth, out);
                }
                out.push(')');
            }
            ComponentDefinedType::Flags(names) => words("flags", names.iter(), out),
            ComponentDefinedType::Enum(names) => words("enum", names.iter(), out),
            ComponentDefinedType::Option { ty, .. } => one("option", *ty, out),
            ComponentDefinedType::Result { ok, err, .. } => {
                out.push_str("(result");
                self.optional(*ok, depth, out);
                if let Some(err) = err {
                    out.push(' ');
                    one("error", *err, out);
                }
                out.push(')');
            }
            ComponentDefinedType::Own(id) => self.handle("own", id.resource(), out),
            ComponentDefinedType::Borrow(id) => self.handle("borrow", id.resource(), out),
            ComponentDefinedType::Future { ty, .. } => {
                out.push_str("(future");
                self.optional(*ty, depth, out);
                out.push(')');
            }
            ComponentDefinedType::Stream { ty, .. } => {
                out.push_str("(stream");
                self.optional(*ty, depth, out);
                out.push(')');
            }
        }
    }

    fn handle(&self, word: &str, id: ResourceId, out: &mut String) {
        let name = self.resources.get(&id).map_or("resource", String::as_str);
        out.push_str(&format!("({word} {name})"));
    }
}

fn words<T: std::fmt::Display>(word: &str, names: impl Iterator<Item = T>, out: &mut String) {
    out.push_str(&format!("({word}"));
    for name in names {
        // Names are words of letters, digits and hyphens.
        out.push_str(&format!(" \"{name}\""));
    }
    out.push(')');
}

fn primitive(ty: PrimitiveValType) -> &'static str {
    match ty {
        PrimitiveValType::Bool => "bool",
        PrimitiveValType::S8 => "s8",
        PrimitiveValType::U8 => "u8",
        PrimitiveValType::S16 => "s16",
        PrimitiveValType::U16 => "u16",
        PrimitiveValType::S32 => "s32",
        PrimitiveValType::U32 => "u32",
        PrimitiveValType::S64 => "s64",
        PrimitiveValType::U64 => "u64",
        PrimitiveValType::F32 => "f32",
        PrimitiveValType::F64 => "f64",
        PrimitiveValType::Char => "char",
        PrimitiveValType::String => "string",
        PrimitiveValType::ErrorContext => "error-context",
    }
}
