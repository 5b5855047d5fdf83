//! What two versions of a module differ in: imports and exports with their
//! types, for `rea diff --deep`.

use wasmparser::Export;

use super::component::Item;
use super::limits::{self, MAX_SECTIONS};
use super::module::{self, Module, entries};
use super::validate::validate;
use super::walk::{Kind, Unit, id};
use crate::binary::Notes;
use crate::operation::Context;

/// Something that is imported or exported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeepFact {
    /// Whether it is imported.
    pub is_import: bool,
    /// Its name: of an import after that of its module and a dot, of something
    /// in an instance of a component after that of the instance and `#`.
    pub name: String,
    /// Its type as text.
    pub ty: String,
}

/// Imports and exports of a valid module or component, in the file's order;
/// `None` where it is none, or beyond the limits of [`super::limits`].
pub fn deep_facts(bytes: &[u8]) -> Option<Vec<DeepFact>> {
    let unit = Unit::read(bytes, &mut { MAX_SECTIONS })?;
    let measure = limits::measure(&unit).ok()?;
    let context = Context::new("diff_artifacts");
    let surfaces = validate(&unit, measure, &context).ok()?;
    let mut facts = Vec::new();
    let mut room = super::facts::Room::new();
    if unit.kind == Kind::Component {
        let own = surfaces.iter().find(|surface| surface.start == 0)?;
        items(&own.imports, "", true, &mut facts);
        items(&own.exports, "", false, &mut facts);
        return Some(facts);
    }
    let module = Module::read(&unit, &mut 0, &mut Notes::default());
    let mut fits = true;
    module::imports(&unit, |import| {
        let ty = room.take(|| module.extern_text(&import.ty));
        fits &= ty.is_some();
        facts.push(DeepFact {
            is_import: true,
            name: format!("{}.{}", import.module, import.name),
            ty: ty.unwrap_or_default(),
        });
    });
    for export in entries::<Export<'_>>(&unit, id::EXPORT) {
        let ty = room.take(|| module.item(export.kind, export.index).text);
        fits &= ty.is_some();
        facts.push(DeepFact {
            is_import: false,
            name: export.name.to_owned(),
            ty: ty.unwrap_or_default(),
        });
    }
    fits.then_some(facts)
}

fn items(items: &[Item], within: &str, is_import: bool, facts: &mut Vec<DeepFact>) {
    for item in items {
        let name = match within {
            "" => item.name.clone(),
            within => format!("{within}#{}", item.name),
        };
        self::items(&item.items, &name, is_import, facts);
        facts.push(DeepFact {
            is_import,
            name,
            ty: item.ty.clone().unwrap_or_else(|| item.kind.to_owned()),
        });
    }
}
