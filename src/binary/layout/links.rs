//! Names that files offer to others and ask others for: rows of exports and
//! imports, with the names as people write them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::facts::Facts;
use super::rows::{Hex, Range};
use crate::binary::demangle::demangle;
use crate::binary::name_text;
use crate::json::{WriteJson, Writer};

/// Something offered to others.
#[derive(Clone, Debug, Default)]
pub struct Export<'a> {
    /// Its name; null for one by ordinal only.
    pub name: Option<Cow<'a, [u8]>>,
    /// `function`, `data`, `tls`, `absolute`, `ifunc`, ... null where the
    /// format does not tell.
    pub kind: Option<&'static str>,
    /// The address as linked.
    pub address: Option<u64>,
    /// In bytes.
    pub size: Option<u64>,
    /// PE: its number.
    pub ordinal: Option<u64>,
    /// Whether another definition wins.
    pub weak: bool,
    /// ELF: the version, `@@` marks the default.
    pub version: Option<Cow<'a, [u8]>>,
    /// Another library's symbol that it stands for: PE forwarders, Mach-O
    /// re-exports.
    pub forwarder: Option<Cow<'a, [u8]>>,
    /// The structure that says so: `.dynsym`, `export-trie`, ...
    pub source: &'static str,
    /// Where the entry stands.
    pub location: Option<Range>,
}

/// The name as people write it, where it is mangled; `known` where that was
/// found out before.
fn demangled(w: &mut Writer<'_>, name: Option<&[u8]>, known: Option<Option<&str>>) {
    w.key("demangled");
    match known {
        Some(text) => text.write_json(w),
        None => match name.and_then(demangle) {
            Some(demangled) => w.string(&demangled.text),
            None => w.null(),
        },
    }
}

/// A row with a name that may be mangled.
pub(super) trait Linked: WriteJson + Sync {
    /// The name.
    fn name(&self) -> Option<&[u8]>;

    /// Writes the row; `known` as in [`demangled`].
    fn write(&self, known: Option<Option<&str>>, w: &mut Writer<'_>);
}

impl Linked for Export<'_> {
    fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    fn write(&self, known: Option<Option<&str>>, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", self.address.map(Hex));
        demangled(w, self.name.as_deref(), known);
        w.member("forwarder", self.forwarder.as_deref().map(name_text));
        w.member("kind", self.kind);
        w.member("location", self.location);
        w.member("name", self.name.as_deref().map(name_text));
        w.member("ordinal", self.ordinal);
        w.member("size", self.size.map(Hex));
        w.member("source", self.source);
        w.member("version", self.version.as_deref().map(name_text));
        w.member("weak", self.weak);
        w.end_object();
    }
}

impl WriteJson for Export<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.write(None, w);
    }
}

/// Something that others must offer.
#[derive(Clone, Debug, Default)]
pub struct Import<'a> {
    /// Its name; null for one by ordinal.
    pub name: Option<Cow<'a, [u8]>>,
    /// `function`, `data`, ... null where the format does not tell.
    pub kind: Option<&'static str>,
    /// The library that must offer it, where the format binds names to
    /// libraries.
    pub library: Option<Cow<'a, [u8]>>,
    /// PE: its number; Mach-O: the library's.
    pub ordinal: Option<u64>,
    /// ELF: the version asked for.
    pub version: Option<Cow<'a, [u8]>>,
    /// Whether it may be missing.
    pub weak: bool,
    /// The slot that receives its address, as linked.
    pub address: Option<u64>,
    /// The structure that says so: `.dynsym`, `import-table`, `lazy-bind`, ...
    pub source: &'static str,
    /// Where the entry stands.
    pub location: Option<Range>,
}

impl Linked for Import<'_> {
    fn name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    fn write(&self, known: Option<Option<&str>>, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", self.address.map(Hex));
        demangled(w, self.name.as_deref(), known);
        w.member("kind", self.kind);
        w.member("library", self.library.as_deref().map(name_text));
        w.member("location", self.location);
        w.member("name", self.name.as_deref().map(name_text));
        w.member("ordinal", self.ordinal);
        w.member("source", self.source);
        w.member("version", self.version.as_deref().map(name_text));
        w.member("weak", self.weak);
        w.end_object();
    }
}

impl WriteJson for Import<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.write(None, w);
    }
}

/// Names as people write them. A record is written twice; they are found once,
/// on all cores. Beyond [`Demangled::ROOM`] they are found again each time.
#[derive(Default)]
pub(super) struct Demangled {
    pub exports: Texts,
    pub imports: Texts,
}

#[derive(Default)]
pub(super) struct Texts {
    text: String,
    /// Where each stands; `None`: the name is not mangled.
    places: Vec<Option<(u32, u32)>>,
}

impl Demangled {
    /// Bytes of text that are kept for each list.
    const ROOM: usize = 16 << 20;

    pub(super) fn of(facts: &Facts<'_>) -> Self {
        Self {
            exports: Texts::of(&facts.exports),
            imports: Texts::of(&facts.imports),
        }
    }
}

impl Texts {
    fn of<T: Linked>(rows: &[T]) -> Self {
        let mut found = Self::default();
        for rows in rows.chunks(8192) {
            if found.text.len() > Demangled::ROOM {
                break;
            }
            let texts: Vec<Option<String>> = rows
                .par_iter()
                .map(|row| Some(row.name().and_then(demangle)?.text))
                .collect();
            for text in texts {
                let start = found.text.len();
                found.text.push_str(text.as_deref().unwrap_or_default());
                let place = u32::try_from(start)
                    .ok()
                    .zip(found.text.len().try_into().ok());
                found.places.push(place.filter(|_| text.is_some()));
            }
        }
        found
    }

    /// The text of a row, where it was found out.
    fn get(&self, row: usize) -> Option<Option<&str>> {
        let place = *self.places.get(row)?;
        let Some((start, end)) = place else {
            return Some(None);
        };
        self.text.get(start as usize..end as usize).map(Some)
    }
}

/// Rows, whether they are all by the bytes, and their names as people write
/// them.
pub(super) struct Collection<'a, T>(pub &'a [T], pub bool, pub &'a Texts);

impl<T: Linked> WriteJson for Collection<'_, T> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("exhaustive", self.1);
        w.key("items");
        w.begin_array();
        for (at, row) in self.0.iter().enumerate() {
            row.write(self.2.get(at), w);
        }
        w.end_array();
        w.end_object();
    }
}
