//! A valid module's index spaces: where each type stands, and what functions,
//! tables, memories, globals and tags are. Names and rows stay in the file and
//! are read again when they are written.

use wasmparser::{
    BinaryReader, ExternalKind, GlobalType, Imports, MemoryType, SectionLimited, SubType,
    TableType, TypeRef,
};

pub use wasmparser::Export;

use super::names::{Names, space};
use super::text;
use super::walk::{Unit, id, slice};
use crate::binary::Notes;

/// A type in the file.
#[derive(Clone, Copy, Debug)]
pub struct TypeAt {
    /// Its first byte.
    at: u32,
    /// The first type of its group.
    group: u32,
}

/// The index spaces of a module, imports first in each.
#[derive(Debug)]
pub struct Module<'a> {
    file: &'a [u8],
    types: Vec<TypeAt>,
    /// Types of functions, by number.
    pub functions: Vec<u32>,
    /// Tables.
    pub tables: Vec<TableType>,
    /// Memories.
    pub memories: Vec<MemoryType>,
    /// Globals.
    pub globals: Vec<GlobalType>,
    /// Types of tags, by number.
    pub tags: Vec<u32>,
    /// How many of each are imported: functions, tables, memories, globals,
    /// tags.
    pub imported: Imported,
    /// Element and data segments.
    pub segments: (u32, u32),
    /// What the name section says.
    pub names: Names<'a>,
}

/// How many things of a kind are imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the specification's names
pub struct Imported {
    pub functions: u32,
    pub tables: u32,
    pub memories: u32,
    pub globals: u32,
    pub tags: u32,
}

/// One import, whichever way it is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// The module it comes from.
    pub module: &'a str,
    /// Its name there.
    pub name: &'a str,
    /// Its type.
    pub ty: TypeRef,
}

/// Entries of the sections with this id, as far as they can be read.
pub fn entries<'a, 'b, T: wasmparser::FromReader<'a> + 'b>(
    unit: &'b Unit<'a>,
    id: u8,
) -> impl Iterator<Item = T> + 'b
where
    'a: 'b,
{
    unit.with_id(id).flat_map(move |section| {
        let limited = SectionLimited::<T>::new(unit.reader(section)).ok();
        limited.into_iter().flatten().map_while(Result::ok)
    })
}

/// The imports of a module, one by one.
pub fn imports<'a>(unit: &Unit<'a>, mut each: impl FnMut(Import<'a>)) {
    for group in entries::<Imports<'a>>(unit, id::IMPORT) {
        match group {
            Imports::Single(_, import) => each(Import {
                module: import.module,
                name: import.name,
                ty: import.ty,
            }),
            Imports::Compact1 { module, items } => {
                for item in items.into_iter().map_while(Result::ok) {
                    each(Import {
                        module,
                        name: item.name,
                        ty: item.ty,
                    });
                }
            }
            Imports::Compact2 { module, ty, names } => {
                for name in names.into_iter().map_while(Result::ok) {
                    each(Import { module, name, ty });
                }
            }
        }
    }
}

impl<'a> Module<'a> {
    /// Reads the index spaces of a valid module.
    pub fn read(unit: &Unit<'a>, names: &mut u64, notes: &mut Notes) -> Self {
        let mut module = Self {
            file: unit.file,
            types: types(unit),
            functions: Vec::new(),
            tables: Vec::new(),
            memories: Vec::new(),
            globals: Vec::new(),
            tags: Vec::new(),
            imported: Imported::default(),
            segments: (0, 0),
            names: Names::default(),
        };
        imports(unit, |import| match import.ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => module.functions.push(ty),
            TypeRef::Table(ty) => module.tables.push(ty),
            TypeRef::Memory(ty) => module.memories.push(ty),
            TypeRef::Global(ty) => module.globals.push(ty),
            TypeRef::Tag(ty) => module.tags.push(ty.func_type_idx),
        });
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        module.imported = Imported {
            functions: count(module.functions.len()),
            tables: count(module.tables.len()),
            memories: count(module.memories.len()),
            globals: count(module.globals.len()),
            tags: count(module.tags.len()),
        };
        module.functions.extend(entries::<u32>(unit, id::FUNCTION));
        let tables = entries::<wasmparser::Table<'_>>(unit, id::TABLE);
        module.tables.extend(tables.map(|table| table.ty));
        module
            .memories
            .extend(entries::<MemoryType>(unit, id::MEMORY));
        let globals = entries::<wasmparser::Global<'_>>(unit, id::GLOBAL);
        module.globals.extend(globals.map(|global| global.ty));
        let tags = entries::<wasmparser::TagType>(unit, id::TAG);
        module.tags.extend(tags.map(|tag| tag.func_type_idx));
        let total = |id| unit.with_id(id).filter_map(|section| section.count).sum();
        module.segments = (total(id::ELEMENT), total(id::DATA));
        module.names = Names::read(unit, |space| module.count(space), names, notes);
        module
    }

    fn count(&self, space: u8) -> usize {
        match space {
            space::FUNCTION => self.functions.len(),
            space::TYPE => self.types.len(),
            space::TABLE => self.tables.len(),
            space::MEMORY => self.memories.len(),
            space::GLOBAL => self.globals.len(),
            space::TAG => self.tags.len(),
            space::ELEMENT => self.segments.0 as usize,
            space::DATA => self.segments.1 as usize,
            _ => 0,
        }
    }

    /// How many types there are.
    pub fn type_count(&self) -> u32 {
        u32::try_from(self.types.len()).unwrap_or(u32::MAX)
    }

    /// The type with this number, and the first type of its group.
    pub fn type_at(&self, index: u32) -> Option<(SubType, u32)> {
        let found = self.types.get(usize::try_from(index).ok()?)?;
        let at = u64::from(found.at);
        let bytes = slice(self.file, at, self.file.len() as u64)?;
        let ty = BinaryReader::new(bytes, at).read().ok()?;
        Some((ty, found.group))
    }

    /// The text of the type with this number.
    pub fn type_text(&self, index: u32) -> Option<String> {
        self.type_at(index).map(|(ty, _)| text::sub_type(&ty))
    }

    /// What an import or export is, as text.
    pub fn extern_text(&self, ty: &TypeRef) -> Option<String> {
        match ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => self.type_text(*ty),
            TypeRef::Table(ty) => Some(text::table(ty)),
            TypeRef::Memory(ty) => Some(text::memory(ty)),
            TypeRef::Global(ty) => Some(text::global(ty)),
            TypeRef::Tag(ty) => self.tag_text(ty.func_type_idx),
        }
    }

    /// A tag of that type, as text.
    pub fn tag_text(&self, ty: u32) -> Option<String> {
        let text = self.type_text(ty)?;
        let inside = text.strip_prefix("(func").unwrap_or(&text);
        Some(format!("(tag{inside}"))
    }

    /// The type of something by kind and number: the number of its type where
    /// it has one, and the text.
    pub fn item(&self, kind: ExternalKind, index: u32) -> Item {
        let at = usize::try_from(index).unwrap_or(usize::MAX);
        let text = |text: Option<String>| Item { ty: None, text };
        let typed = |ty: Option<u32>, of: fn(&Self, u32) -> Option<String>| Item {
            ty,
            text: ty.and_then(|ty| of(self, ty)),
        };
        match kind {
            ExternalKind::Func | ExternalKind::FuncExact => {
                typed(self.functions.get(at).copied(), Self::type_text)
            }
            ExternalKind::Tag => typed(self.tags.get(at).copied(), Self::tag_text),
            ExternalKind::Table => text(self.tables.get(at).map(text::table)),
            ExternalKind::Memory => text(self.memories.get(at).map(text::memory)),
            ExternalKind::Global => text(self.globals.get(at).map(text::global)),
        }
    }
}

/// The type of something that is exported.
#[derive(Debug)]
pub struct Item {
    /// The number of its type: functions and tags.
    pub ty: Option<u32>,
    /// The type itself.
    pub text: Option<String>,
}

/// The word for a kind, as records have it.
pub fn kind_word(kind: ExternalKind) -> &'static str {
    match kind {
        ExternalKind::Func | ExternalKind::FuncExact => "func",
        ExternalKind::Table => "table",
        ExternalKind::Memory => "memory",
        ExternalKind::Global => "global",
        ExternalKind::Tag => "tag",
    }
}

/// The kind of what is imported.
pub fn kind_of(ty: &TypeRef) -> ExternalKind {
    match ty {
        TypeRef::Func(_) => ExternalKind::Func,
        TypeRef::FuncExact(_) => ExternalKind::FuncExact,
        TypeRef::Table(_) => ExternalKind::Table,
        TypeRef::Memory(_) => ExternalKind::Memory,
        TypeRef::Global(_) => ExternalKind::Global,
        TypeRef::Tag(_) => ExternalKind::Tag,
    }
}

fn types(unit: &Unit<'_>) -> Vec<TypeAt> {
    let mut types: Vec<TypeAt> = Vec::new();
    for group in entries::<wasmparser::RecGroup>(unit, id::TYPE) {
        let first = u32::try_from(types.len()).unwrap_or(u32::MAX);
        for (at, _) in group.into_types_and_offsets() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            types.push(TypeAt { at, group: first });
        }
    }
    types
}
