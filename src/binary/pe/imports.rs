//! Imports and delay-loaded imports ("PE Format", sections "The .idata Section"
//! and "Delay-Load Import Tables").

use std::borrow::Cow;

use super::image::{Budget, Image, SPENT, outside};
use super::ordinals;
use crate::binary::layout::NamedAddress;
use crate::binary::layout::facts::Dependency;
use crate::binary::layout::links::Import;
use crate::binary::layout::rows::{Hex, Name, Range};
use crate::binary::{Bytes, Notes, name_text};
use crate::json::{Object, Value, WriteJson, Writer};

/// The import of a library's names.
#[derive(Clone, Debug)]
pub(super) struct Library<'a> {
    /// Its name; `None` where it cannot be read.
    pub name: Option<(&'a [u8], Range)>,
    /// Where the descriptor stands.
    pub location: Range,
    /// The words of the descriptor, by their names in canonical order.
    pub words: Vec<(&'static str, u64)>,
    /// The first of its imports in the list of all, and the one after its last.
    pub imports: (usize, usize),
    /// `import-table` or `delay-import-table`
    pub source: &'static str,
}

/// All of an image.
#[derive(Debug, Default)]
pub(super) struct Imports<'a> {
    pub libraries: Vec<Library<'a>>,
    pub imports: Vec<Import<'a>>,
    /// A hint an import; `None` by ordinal.
    pub hints: Vec<Option<u16>>,
    /// Whether some could not be read.
    pub cut: bool,
}

/// A library with the hints of its imports, and the names of those ordinals
/// that are known.
pub(super) struct LibraryRow<'a> {
    pub library: Library<'a>,
    pub hints: Vec<Option<u16>>,
    pub known: Vec<(u64, &'static str)>,
}

impl WriteJson for LibraryRow<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        let Library {
            name,
            location,
            words,
            imports: (first, last),
            ..
        } = &self.library;
        w.begin_object();
        w.member("count", (last - first) as u64);
        w.key("descriptor");
        w.begin_object();
        for &(word, value) in words.iter() {
            w.member(word, Hex(value));
        }
        w.end_object();
        w.member("hints", &self.hints);
        w.key("known_ordinals");
        w.begin_array();
        for &(ordinal, known) in &self.known {
            w.begin_object();
            w.member("name", known);
            w.member("ordinal", ordinal);
            w.end_object();
        }
        w.end_array();
        w.member("location", location);
        w.member("name", name.map(|(name, _)| name).map(name_text));
        w.end_object();
    }
}

impl<'a> Imports<'a> {
    /// The rows of the libraries of a table.
    pub(super) fn rows(&self, source: &str) -> Vec<LibraryRow<'a>> {
        let rows = self.libraries.iter().filter(|one| one.source == source);
        rows.map(|library| {
            let (first, last) = library.imports;
            let imports = self.imports.get(first..last).unwrap_or_default();
            let name = library.name.map(|(name, _)| name.to_ascii_lowercase());
            let name = name.unwrap_or_default();
            let ordinals = imports.iter().filter_map(|import| import.ordinal);
            LibraryRow {
                library: library.clone(),
                hints: self.hints.get(first..last).unwrap_or_default().to_vec(),
                known: ordinals
                    .filter_map(|ordinal| Some((ordinal, ordinals::name(&name, ordinal)?)))
                    .collect(),
            }
        })
        .collect()
    }

    /// The libraries of the import table: what the image cannot load without.
    pub(super) fn needed(&self) -> Vec<Name<'a>> {
        let names = self.libraries.iter().filter(|one| one.source == IMPORT);
        names
            .map(|library| match library.name {
                Some((name, range)) => Name::terminated(name, range.offset),
                None => Name::Unknown("name-outside-file"),
            })
            .collect()
    }

    /// The libraries with what else their descriptors say.
    pub(super) fn dependencies(&self) -> Vec<Dependency<'a>> {
        let named = self.libraries.iter().filter_map(|one| {
            let (name, location) = one.name?;
            Some(Dependency {
                name,
                kind: match one.source {
                    IMPORT => "import",
                    _ => "delay-import",
                },
                location: Some(location),
                more: Object::new(),
            })
        });
        named.collect()
    }

    /// The slots that receive addresses, by the names that fill them.
    pub(super) fn slots(&self) -> Vec<NamedAddress<'a>> {
        let slots = self.imports.iter().filter_map(|import| {
            let name = match (&import.name, import.ordinal) {
                (Some(name), _) => name.clone(),
                (None, Some(ordinal)) => {
                    let library = import.library.as_deref().unwrap_or_default();
                    let text = format!("{}#{ordinal}", name_text(library));
                    Cow::Owned(text.into_bytes())
                }
                (None, None) => return None,
            };
            Some(NamedAddress {
                name,
                address: import.address?,
            })
        });
        slots.collect()
    }

    /// An imported function of stack cookies.
    pub(super) fn canary(&self) -> Option<&'a [u8]> {
        self.imports.iter().find_map(|import| match import.name {
            Some(Cow::Borrowed(
                name @ (b"__stack_chk_fail" | b"__security_check_cookie" | b"__stack_chk_guard"),
            )) => Some(name),
            _ => None,
        })
    }
}

/// What the directory of slots says.
pub(super) fn iat(image: &Image<'_>, rva: u64, size: u64) -> Value {
    let mut facts = Object::new();
    facts.insert("address", super::fields::hex(rva));
    let location = image.range(rva, size).map(super::fields::range);
    facts.insert("location", super::fields::or_null(location));
    facts.insert("size", super::fields::hex(size));
    facts.insert("slots", super::fields::number(size / image.word_size()));
    Value::Object(facts)
}

/// The sources of imports.
pub(super) const IMPORT: &str = "import-table";
pub(super) const DELAY: &str = "delay-import-table";

/// A table of descriptors without a count.
#[derive(Clone, Copy)]
struct Descriptors {
    what: &'static str,
    /// Bytes of one.
    size: u64,
    source: &'static str,
    /// What the name in each is.
    name: &'static str,
}

const IMPORTS: Descriptors = Descriptors {
    what: "import table",
    size: 20,
    source: IMPORT,
    name: "name of an imported library",
};
const DELAYED: Descriptors = Descriptors {
    what: "delay import table",
    size: 32,
    source: DELAY,
    name: "name of a delay-loaded library",
};

/// What a descriptor tells: relative addresses, and all its words.
struct Told {
    name: u64,
    names: u64,
    slots: u64,
    /// What to take from addresses that are not relative.
    base: u64,
    words: Vec<(&'static str, u64)>,
}

impl Descriptors {
    /// Reads the table at `rva`. `tell` says what the descriptor at an offset
    /// of the file tells, `None` of the last one, which only ends the table.
    fn read<'a>(
        self,
        image: &Image<'a>,
        rva: u64,
        out: &mut Imports<'a>,
        budget: &mut Budget,
        notes: &mut Notes,
        tell: impl Fn(Bytes<'a>, u64, &mut Notes) -> Option<Told>,
    ) {
        let Some((start, table)) = image.tail(rva) else {
            notes.add(outside(self.what, rva));
            out.cut = true;
            return;
        };
        let mut at = 0;
        loop {
            let offset = start + at;
            let Some(row) = table.part(at, self.size) else {
                notes.at(self.what, offset, "the file ends before its last row");
                out.cut = true;
                return;
            };
            let Some(told) = tell(row, offset, notes) else {
                return;
            };
            if !budget.row() {
                notes.at(self.what, offset, SPENT);
                out.cut = true;
                return;
            }
            let first = out.imports.len();
            let name = image.name(told.name, self.name, budget, notes);
            out.cut |= name.is_none();
            let thunks = Thunks {
                library: name.map(|(name, _)| name),
                names: told.names,
                slots: told.slots,
                source: self.source,
                base: told.base,
            };
            thunks.read(image, out, budget, notes);
            out.libraries.push(Library {
                name,
                location: Range {
                    offset,
                    bytes: self.size,
                },
                words: told.words,
                imports: (first, out.imports.len()),
                source: self.source,
            });
            at += self.size;
        }
    }
}

/// Reads the import table at `rva`.
pub(super) fn read<'a>(
    image: &Image<'a>,
    rva: u64,
    out: &mut Imports<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    IMPORTS.read(image, rva, out, budget, notes, |row, offset, notes| {
        let word = |at| u64::from(row.u32(at).unwrap_or(0));
        let (lookup, stamp, chain, name, slots) = (word(0), word(4), word(8), word(12), word(16));
        // The loader stops at a row without name or without slots.
        if name == 0 || slots == 0 {
            if [lookup, stamp, chain, name, slots] != [0; 5] {
                notes.at(
                    IMPORTS.what,
                    offset,
                    "the last row is not zero; the loader ends there, and so does this list",
                );
            }
            return None;
        }
        let names = match lookup {
            0 => slots,
            // An address that shows nothing is one that the loader ignores.
            _ if image.place(lookup).is_none() => {
                notes.add(outside("import lookup table", lookup));
                slots
            }
            _ => lookup,
        };
        Some(Told {
            name,
            names,
            slots,
            base: 0,
            words: vec![
                ("forwarder_chain", chain),
                ("import_address_table", slots),
                ("import_lookup_table", lookup),
                ("time_date_stamp", stamp),
            ],
        })
    });
}

/// Reads the delay-load table at `rva`. Its oldest form, attributes 0, has
/// addresses as linked instead of relative ones.
pub(super) fn read_delayed<'a>(
    image: &Image<'a>,
    rva: u64,
    out: &mut Imports<'a>,
    budget: &mut Budget,
    notes: &mut Notes,
) {
    DELAYED.read(image, rva, out, budget, notes, |row, _, _| {
        let word = |at| u64::from(row.u32(at).unwrap_or(0));
        let (attributes, name) = (word(0), word(4));
        if name == 0 {
            return None;
        }
        // Addresses below the base cannot be linked ones, whatever it says.
        let base = match attributes & 1 {
            0 if name >= image.base => image.base,
            _ => 0,
        };
        Some(Told {
            name: name.wrapping_sub(base),
            names: word(16).wrapping_sub(base),
            slots: word(12).wrapping_sub(base),
            base,
            words: vec![
                ("attributes", attributes),
                ("bound_import_address_table", word(20)),
                ("import_address_table", word(12)),
                ("import_name_table", word(16)),
                ("module_handle", word(8)),
                ("time_date_stamp", word(28)),
                ("unload_information_table", word(24)),
            ],
        })
    });
}

/// A table of names or ordinals, and the slots for their addresses.
struct Thunks<'a> {
    library: Option<&'a [u8]>,
    names: u64,
    slots: u64,
    source: &'static str,
    /// What to take from addresses that are not relative.
    base: u64,
}

impl<'a> Thunks<'a> {
    fn read(
        &self,
        image: &Image<'a>,
        out: &mut Imports<'a>,
        budget: &mut Budget,
        notes: &mut Notes,
    ) {
        let Some((start, table)) = image.tail(self.names) else {
            notes.add(outside("import lookup table", self.names));
            out.cut = true;
            return;
        };
        let size = image.word_size();
        let by_ordinal = if image.wide { 1 << 63 } else { 1 << 31 };
        let mut at = 0;
        loop {
            let Some(value) = table.word(at, image.wide) else {
                notes.at(
                    "import lookup table",
                    start + at,
                    "the file ends before its last row",
                );
                out.cut = true;
                return;
            };
            if value == 0 {
                return;
            }
            if !budget.row() {
                notes.at("import lookup table", start + at, SPENT);
                out.cut = true;
                return;
            }
            // Each row says the library again.
            let said = self.library.map_or(0, |library| library.len() as u64);
            let library = self.library.filter(|_| budget.text(said));
            if library.is_none() && self.library.is_some() {
                notes.at("import lookup table", start + at, SPENT);
                out.cut = true;
            }
            let mut import = Import {
                library: library.map(Cow::Borrowed),
                source: self.source,
                address: Some(image.address(self.slots.wrapping_add(at))),
                location: Some(Range {
                    offset: start + at,
                    bytes: size,
                }),
                ..Import::default()
            };
            let mut hint = None;
            if value & by_ordinal != 0 {
                import.ordinal = Some(value & 0xFFFF);
            } else {
                let rva = value.wrapping_sub(self.base);
                hint = image.part(rva, 2).and_then(|(_, data)| data.u16(0));
                let name = rva.wrapping_add(2);
                let found = image.name(name, "name of an import", budget, notes);
                out.cut |= found.is_none();
                import.name = found.map(|(name, _)| Cow::Borrowed(name));
            }
            out.imports.push(import);
            out.hints.push(hint);
            at += size;
        }
    }
}
