//! `headers` and `details`: what the sections hold, as lines of text. The
//! form is ours and is described in docs/formats.md.

use std::fmt::Write as _;

use wasmparser::{Data, DataKind, Element, ElementItems, ElementKind, Export, Global, Table};

use super::component::Item;
use super::facts::{Part, bodies};
use super::module::{self, Module, entries, kind_word};
use super::names::space;
use super::text::{self, quoted};
use super::walk::{Kind, Unit, id};
use crate::json::{WriteJson, Writer};

/// `headers`: a line for each module, component and section.
pub struct Headers<'a, 'b>(pub &'b Part<'a>);

/// `details`: also a line for each thing in them.
pub struct Details<'a, 'b>(pub &'b Part<'a>);

/// Lines that go into a string of the writer.
struct Lines<'a, 'b> {
    w: &'a mut Writer<'b>,
    line: String,
    indent: usize,
}

impl Lines<'_, '_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        self.line.clear();
        self.line.extend(std::iter::repeat_n(' ', self.indent));
        // Writing to a string cannot fail.
        let _ = self.line.write_fmt(text);
        self.line.push('\n');
        self.w.text_part(self.line.as_bytes());
    }
}

macro_rules! line {
    ($lines:expr, $($text:tt)*) => { $lines.line(format_args!($($text)*)) };
}

impl WriteJson for Headers<'_, '_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        lines(w, |lines| part(self.0, false, lines));
    }
}

impl WriteJson for Details<'_, '_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        lines(w, |lines| part(self.0, true, lines));
    }
}

fn lines(w: &mut Writer<'_>, write: impl FnOnce(&mut Lines<'_, '_>)) {
    w.begin_text();
    let mut lines = Lines {
        w,
        line: String::new(),
        indent: 0,
    };
    write(&mut lines);
    w.end_text();
}

fn part(part: &Part<'_>, details: bool, lines: &mut Lines<'_, '_>) {
    let unit = &part.unit;
    line!(
        lines,
        "{} {:#x}..{:#x} sections {}",
        unit.kind.as_str(),
        unit.start,
        unit.end,
        unit.sections.len()
    );
    lines.indent += 2;
    let mut nested = part.nested.iter();
    let mut customs = unit.customs();
    for section in &unit.sections {
        let label = section.label(unit.kind);
        let (start, end) = (section.start, section.end);
        let size = end - start;
        let place = format!("{label} {start:#x}..{end:#x} bytes {size}");
        match (section.id, section.count) {
            (id::CUSTOM, _) => {
                let name = customs.next().map_or("", |(_, name, _)| name);
                line!(lines, "{place} {}", quoted(name));
            }
            (id::START, Some(function)) if unit.kind == Kind::Module => {
                line!(lines, "{place} start {function}");
            }
            (_, Some(count)) => line!(lines, "{place} count {count}"),
            (_, None) => line!(lines, "{place}"),
        }
        lines.indent += 2;
        let holds_unit =
            unit.kind == Kind::Component && matches!(section.id, id::CORE_MODULE | id::COMPONENT);
        if holds_unit {
            if let Some(nested) = nested.next() {
                self::part(nested, details, lines);
            }
        } else if details && let Some(module) = &part.module {
            entries_of(part, module, section.id, lines);
        } else if details && section.id == id::COMPONENT_IMPORT {
            items(&part.surface.imports, lines);
        } else if details && section.id == id::COMPONENT_EXPORT {
            items(&part.surface.exports, lines);
        }
        lines.indent -= 2;
    }
    if details {
        customs_of(part, lines);
    }
    lines.indent -= 2;
}

fn items(items: &[Item], lines: &mut Lines<'_, '_>) {
    for item in items {
        let name = quoted(&item.name);
        match &item.ty {
            Some(ty) => line!(lines, "{} {name} {ty}", item.kind),
            None => line!(lines, "{} {name}", item.kind),
        }
        lines.indent += 2;
        self::items(&item.items, lines);
        lines.indent -= 2;
    }
}

/// ` "name"`, or nothing.
fn named(module: &Module<'_>, space: u8, index: u32) -> String {
    let name = module.names.get(space, index);
    name.map_or(String::new(), |name| format!(" {}", quoted(name)))
}

fn entries_of(part: &Part<'_>, module: &Module<'_>, section: u8, lines: &mut Lines<'_, '_>) {
    let unit = &part.unit;
    match section {
        id::TYPE => {
            for index in 0..module.type_count() {
                let Some(ty) = module.type_text(index) else {
                    break;
                };
                line!(
                    lines,
                    "type[{index}] {ty}{}",
                    named(module, space::TYPE, index)
                );
            }
        }
        id::IMPORT => imports(unit, lines),
        id::FUNCTION => {
            let first = module.imported.functions;
            let own = usize::try_from(first).unwrap_or(usize::MAX);
            let types = module.functions.get(own..).unwrap_or_default();
            for (index, ty) in (first..).zip(types) {
                let name = named(module, space::FUNCTION, index);
                line!(lines, "func[{index}] type[{ty}]{name}");
            }
        }
        id::TABLE => {
            let first = module.imported.tables;
            for (index, table) in (first..).zip(entries::<Table<'_>>(unit, id::TABLE)) {
                let name = named(module, space::TABLE, index);
                line!(lines, "table[{index}] {}{name}", text::table(&table.ty));
            }
        }
        id::MEMORY => {
            let first = module.imported.memories;
            let memories = entries::<wasmparser::MemoryType>(unit, id::MEMORY);
            for (index, ty) in (first..).zip(memories) {
                let name = named(module, space::MEMORY, index);
                line!(lines, "memory[{index}] {}{name}", text::memory(&ty));
            }
        }
        id::TAG => {
            let first = module.imported.tags;
            let tags = entries::<wasmparser::TagType>(unit, id::TAG);
            for (index, tag) in (first..).zip(tags) {
                let name = named(module, space::TAG, index);
                line!(lines, "tag[{index}] type[{}]{name}", tag.func_type_idx);
            }
        }
        id::GLOBAL => {
            let first = module.imported.globals;
            for (index, global) in (first..).zip(entries::<Global<'_>>(unit, id::GLOBAL)) {
                let name = named(module, space::GLOBAL, index);
                let init = text::constant(&global.init_expr);
                let init = init.as_deref().unwrap_or("...");
                line!(
                    lines,
                    "global[{index}] {} = {init}{name}",
                    text::global(&global.ty)
                );
            }
        }
        id::EXPORT => {
            for export in entries::<Export<'_>>(unit, id::EXPORT) {
                let (kind, item) = (kind_word(export.kind), export.index);
                line!(lines, "{} {kind}[{item}]", quoted(export.name));
            }
        }
        id::ELEMENT => elements(unit, module, lines),
        id::CODE => {
            for (index, (start, end)) in (module.imported.functions..).zip(bodies(unit)) {
                line!(
                    lines,
                    "func[{index}] {start:#x}..{end:#x} bytes {}",
                    end - start
                );
            }
        }
        id::DATA => data(unit, module, lines),
        _ => {}
    }
}

fn imports(unit: &Unit<'_>, lines: &mut Lines<'_, '_>) {
    use wasmparser::TypeRef;
    let mut next = [0u32; 5];
    module::imports(unit, |import| {
        let (at, ty) = match import.ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => (0, format!("type[{ty}]")),
            TypeRef::Table(ty) => (1, text::table(&ty)),
            TypeRef::Memory(ty) => (2, text::memory(&ty)),
            TypeRef::Global(ty) => (3, text::global(&ty)),
            TypeRef::Tag(ty) => (4, format!("type[{}]", ty.func_type_idx)),
        };
        let item = next.get(at).copied().unwrap_or_default();
        if let Some(next) = next.get_mut(at) {
            *next = next.saturating_add(1);
        }
        let kind = kind_word(module::kind_of(&import.ty));
        let (from, name) = (quoted(import.module), quoted(import.name));
        line!(lines, "{kind}[{item}] {from} {name} {ty}");
    });
}

fn elements(unit: &Unit<'_>, module: &Module<'_>, lines: &mut Lines<'_, '_>) {
    for (index, element) in (0u32..).zip(entries::<Element<'_>>(unit, id::ELEMENT)) {
        let count = match &element.items {
            ElementItems::Functions(items) => items.count(),
            ElementItems::Expressions(_, items) => items.count(),
        };
        let name = named(module, space::ELEMENT, index);
        match &element.kind {
            ElementKind::Active {
                table_index,
                offset_expr,
            } => {
                let table = table_index.unwrap_or(0);
                let offset = text::constant(offset_expr);
                let offset = offset.as_deref().unwrap_or("...");
                line!(
                    lines,
                    "elem[{index}] table[{table}] at {offset} count {count}{name}"
                );
            }
            ElementKind::Passive => line!(lines, "elem[{index}] passive count {count}{name}"),
            ElementKind::Declared => line!(lines, "elem[{index}] declared count {count}{name}"),
        }
    }
}

fn data(unit: &Unit<'_>, module: &Module<'_>, lines: &mut Lines<'_, '_>) {
    for (index, data) in (0u32..).zip(entries::<Data<'_>>(unit, id::DATA)) {
        let bytes = data.data.len();
        let start = data.range.end.saturating_sub(bytes as u64);
        let name = named(module, space::DATA, index);
        match &data.kind {
            DataKind::Active {
                memory_index,
                offset_expr,
            } => {
                let offset = text::constant(offset_expr);
                let offset = offset.as_deref().unwrap_or("...");
                line!(
                    lines,
                    "data[{index}] memory[{memory_index}] at {offset} {start:#x}..{:#x} bytes {bytes}{name}",
                    data.range.end
                );
            }
            DataKind::Passive => line!(
                lines,
                "data[{index}] passive {start:#x}..{:#x} bytes {bytes}{name}",
                data.range.end
            ),
        }
    }
}

fn customs_of(part: &Part<'_>, lines: &mut Lines<'_, '_>) {
    if let Some(name) = part.own_name() {
        line!(lines, "name {}", quoted(name));
    }
    let customs = &part.customs;
    for field in &customs.producers {
        for (name, version) in &field.values {
            let (name, version) = (quoted(name), quoted(version));
            line!(lines, "producer {} {name} {version}", quoted(field.name));
        }
    }
    for (prefix, feature) in &customs.target_features {
        line!(
            lines,
            "target feature {}",
            quoted(&format!("{prefix}{feature}"))
        );
    }
    if let Some(dylink) = &customs.dylink {
        for needed in &dylink.needed {
            line!(lines, "needed {}", quoted(needed));
        }
    }
    if let Some(url) = customs.source_map {
        line!(lines, "source map {}", quoted(url));
    }
    if let Some(url) = customs.external_debug {
        line!(lines, "debug information {}", quoted(url));
    }
    if let Some(id) = customs.build_id {
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        line!(lines, "build id {hex}");
    }
}
