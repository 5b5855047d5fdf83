//! What a file offers and asks for, from all structures that say so: the
//! export trie and the symbol table; binds, chained fixups and undefined
//! symbols.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::dyld_info::BindRun;
use super::exports_trie::Meaning;
use super::image::MH_OBJECT;
use super::macho::MachO;
use super::symbols::{N_ABS, N_INDR, N_WEAK_DEF, N_WEAK_REF, Nlist};
use crate::binary::layout::links::{Export, Import};
use crate::binary::layout::rows::Range;

/// The longest path of Apple's systems (`sys/syslimits.h`).
const PATH_MAX: usize = 1024;

/// A name that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct ImportRow<'a> {
    /// The symbol.
    pub name: &'a [u8],
    /// Which library: from 1 in load order, 0 itself, -1 the main program, -2
    /// all (flat), -3 all for weak symbols; `None` where nothing says.
    pub ordinal: Option<i64>,
    /// Whether it may be missing.
    pub weak: bool,
    /// The first place that receives its address.
    pub address: Option<u64>,
    /// The structure that says so.
    pub source: &'static str,
    /// Where the entry stands in the file.
    pub location: Option<Range>,
}

/// A name that is offered.
#[derive(Clone, Debug)]
pub struct ExportRow<'a> {
    /// The symbol.
    pub name: Cow<'a, [u8]>,
    /// Its address as linked.
    pub address: Option<u64>,
    /// `tls`, `absolute`, `ifunc`; null for what is regular.
    pub kind: Option<&'static str>,
    /// Whether another definition may win.
    pub weak: bool,
    /// The symbol of another library that it stands for.
    pub reexport: Option<Cow<'a, [u8]>>,
    /// Its size, of a common symbol.
    pub size: Option<u64>,
    /// The structure that says so.
    pub source: &'static str,
    /// Where the entry stands in the file.
    pub location: Option<Range>,
}

/// Exports by name: those of the trie first, then names that only the symbol
/// table has. Whether these are all, by the bytes.
pub fn exports<'a>(macho: &mut MachO<'a>) -> (Vec<ExportRow<'a>>, bool) {
    let base = macho.segments.image_base();
    let mut rows: Vec<ExportRow<'a>> = std::mem::take(&mut macho.trie.exports)
        .into_iter()
        .map(|export| ExportRow {
            address: export.address(base),
            kind: export.kind(),
            weak: export.is_weak(),
            reexport: match export.meaning {
                Meaning::Reexport { name: b"", .. } => Some(Cow::Owned(export.name.clone())),
                Meaning::Reexport { name, .. } => Some(Cow::Borrowed(name)),
                _ => None,
            },
            size: None,
            source: "export-trie",
            location: Some(export.location),
            name: Cow::Owned(export.name),
        })
        .collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let of_trie = rows.len();
    if let Some(table) = &macho.symbols {
        for (index, entry) in table.iter() {
            let offered = entry.is_exported() || (entry.is_common() && is_object(macho));
            if !offered {
                continue;
            }
            let name = table.name(index, entry);
            let known = rows.get(..of_trie).unwrap_or_default();
            let found = known.binary_search_by(|row| row.name.as_ref().cmp(name));
            if name.is_empty() || found.is_ok() {
                continue;
            }
            let (offset, size) = table.location(index);
            rows.push(ExportRow {
                name: Cow::Borrowed(name),
                address: address_of(entry),
                kind: (entry.type_bits() == N_ABS).then_some("absolute"),
                weak: entry.desc & N_WEAK_DEF != 0,
                reexport: (entry.type_bits() == N_INDR)
                    .then(|| Cow::Borrowed(table.string_at(entry.value))),
                size: entry.is_common().then_some(entry.value),
                source: "symbol-table",
                location: Some(macho.image.range(offset, size)),
            });
        }
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let announced = macho.trie.announced || macho.symbols.is_some();
    (
        rows,
        announced && macho.trie.complete && names_complete(macho),
    )
}

fn address_of(entry: Nlist) -> Option<u64> {
    (!entry.is_common() && entry.type_bits() != N_INDR).then_some(entry.value)
}

fn is_object(macho: &MachO<'_>) -> bool {
    macho.image.header.file_type == MH_OBJECT
}

fn names_complete(macho: &MachO<'_>) -> bool {
    let symbols = macho.symbols.as_ref();
    macho.image.is_complete() && symbols.is_none_or(|table| table.complete)
}

/// Imports: chained ones in table order, then binds, lazy and weak binds,
/// then undefined symbols that nothing else names. Each name once a library.
/// Whether these are all, by the bytes.
pub fn imports<'a>(macho: &MachO<'a>) -> (Vec<ImportRow<'a>>, bool) {
    let mut all = Imports::default();
    let mut sites: HashMap<u32, u64> = HashMap::new();
    for site in &macho.fixups.binds {
        sites.entry(site.import).or_insert(site.address);
    }
    // A definition of its own may be replaced by that of another: no import.
    let defined = defined(macho);
    for (index, import) in (0..).zip(&macho.fixups.imports) {
        if import.ordinal == -3 && defined.contains(import.name) {
            continue;
        }
        all.add(ImportRow {
            name: import.name,
            ordinal: Some(import.ordinal),
            weak: import.weak,
            address: sites.get(&index).copied(),
            source: "chained-fixups",
            location: Some(import.location),
        });
    }
    let info = &macho.dyld_info;
    for (runs, source) in [
        (&info.binds, "bind"),
        (&info.lazy_binds, "lazy-bind"),
        (&info.weak_binds, "weak-bind"),
    ] {
        for bind in runs {
            let own = bind.ordinal == -3 && defined.contains(bind.name);
            if let Some(run) = bind.run
                && !own
            {
                all.add(row(bind, run.address, source));
            }
        }
    }
    if let Some(table) = &macho.symbols {
        let two_level = macho.image.header.has("MH_TWOLEVEL");
        for (index, entry) in table.iter() {
            if !entry.is_undefined() {
                continue;
            }
            let name = table.name(index, entry);
            if name.is_empty() || all.names.contains(name) {
                continue;
            }
            let (offset, size) = table.location(index);
            all.rows.push(ImportRow {
                name,
                ordinal: two_level.then(|| match entry.library() {
                    0xFE => -2,
                    0xFF => -1,
                    ordinal => ordinal.into(),
                }),
                weak: entry.desc & N_WEAK_REF != 0,
                address: None,
                source: "symbol-table",
                location: Some(macho.image.range(offset, size)),
            });
        }
    }
    let announced = info.announced
        || macho.fixups.location.is_some()
        || macho.symbols.is_some()
        || !macho.image.header.has("MH_DYLDLINK");
    let complete = info.complete && macho.fixups.complete && names_complete(macho);
    (all.rows, announced && complete)
}

#[derive(Default)]
struct Imports<'a> {
    rows: Vec<ImportRow<'a>>,
    seen: HashMap<(&'a [u8], Option<i64>), usize>,
    names: HashSet<&'a [u8]>,
}

impl<'a> Imports<'a> {
    fn add(&mut self, row: ImportRow<'a>) {
        let key = (row.name, row.ordinal);
        if let Some(&at) = self.seen.get(&key) {
            // The first place that any structure names.
            if let Some(known) = self.rows.get_mut(at) {
                known.address = known.address.or(row.address);
                known.weak |= row.weak;
            }
            return;
        }
        self.seen.insert(key, self.rows.len());
        self.names.insert(row.name);
        self.rows.push(row);
    }
}

fn row<'a>(bind: &BindRun<'a>, address: u64, source: &'static str) -> ImportRow<'a> {
    ImportRow {
        name: bind.name,
        ordinal: Some(bind.ordinal),
        weak: bind.is_weak_import(),
        address: Some(address),
        source,
        location: Some(Range {
            offset: bind.opcode,
            bytes: 1,
        }),
    }
}

/// Names that the file defines itself, where some of them are looked up in
/// all libraries.
fn defined<'a>(macho: &'a MachO<'_>) -> HashSet<&'a [u8]> {
    let weak = !macho.dyld_info.weak_binds.is_empty()
        || macho
            .fixups
            .imports
            .iter()
            .any(|import| import.ordinal == -3);
    if !weak {
        return HashSet::new();
    }
    let mut names: HashSet<&[u8]> = macho.exports.iter().map(|row| &*row.name).collect();
    if let Some(table) = &macho.symbols {
        for (index, entry) in table.iter() {
            if entry.is_defined() && entry.is_external() {
                names.insert(table.name(index, entry));
            }
        }
    }
    names
}

impl<'a> MachO<'a> {
    /// The library of an ordinal from 1 on. Paths that no system could open
    /// stand among the dependencies only: a million rows may name one.
    pub fn library(&self, ordinal: Option<i64>) -> Option<&'a [u8]> {
        let index = usize::try_from(ordinal?).ok()?.checked_sub(1)?;
        let name = self.dylibs.get(index).map(|dylib| dylib.name)?;
        Some(name).filter(|name| name.len() <= PATH_MAX)
    }
}

/// An import as the facts of a layout have it.
pub fn import_fact<'a>(macho: &MachO<'a>, row: &ImportRow<'a>) -> Import<'a> {
    Import {
        name: Some(Cow::Borrowed(row.name)),
        kind: None,
        library: macho.library(row.ordinal).map(Cow::Borrowed),
        ordinal: row.ordinal.and_then(|ordinal| u64::try_from(ordinal).ok()),
        version: None,
        weak: row.weak,
        address: row.address,
        source: row.source,
        location: row.location,
    }
}

/// An export as the facts of a layout have it.
pub fn export_fact(row: ExportRow<'_>) -> Export<'_> {
    Export {
        name: Some(row.name),
        kind: row.kind,
        address: row.address,
        size: row.size,
        ordinal: None,
        weak: row.weak,
        version: None,
        forwarder: row.reexport,
        source: row.source,
        location: row.location,
    }
}
