//! Import objects: the short members of import libraries ("PE Format", section
//! "Import Library Format").

use std::borrow::Cow;

use super::fields::{hex, name, named, number, or_null};
use super::names::{IMPORT_NAME_TYPES, IMPORT_TYPES, MACHINES};
use crate::binary::Bytes;
use crate::binary::layout::facts::Dependency;
use crate::binary::layout::links::{Export, Import};
use crate::binary::layout::rows::{Name, Range, Symbolic};
use crate::binary::layout::{Format, Layout, Refusal};
use crate::json::Object;

/// Bytes of the header.
const HEADER: u64 = 20;

/// One imported name.
#[derive(Clone, Debug)]
pub(super) struct ImportObject<'a> {
    pub machine: u16,
    pub time_date_stamp: u32,
    pub size_of_data: u32,
    pub ordinal_or_hint: u16,
    /// `IMPORT_CODE` ...
    pub kind: u16,
    /// `IMPORT_NAME` ...
    pub name_type: u16,
    /// The symbol that objects refer to.
    pub symbol: &'a [u8],
    pub library: &'a [u8],
    /// The name that the library exports; `None`: by ordinal.
    pub import: Option<&'a [u8]>,
    /// Where the header and the names stand.
    pub location: Range,
    /// Where the name of the library stands.
    pub library_at: u64,
}

/// Whether an anonymous object is an import object.
pub(super) fn is_one(bytes: Bytes<'_>) -> bool {
    bytes.u16(0) == Some(0) && bytes.u16(2) == Some(0xFFFF) && bytes.u16(4) == Some(0)
}

impl<'a> ImportObject<'a> {
    /// Reads the one at the start of `bytes`, which stand at `offset` of the
    /// file. `None` where a name has no end.
    pub(super) fn read(bytes: Bytes<'a>, offset: u64) -> Option<Self> {
        let types = bytes.u16(18)?;
        let size = bytes.u32(12)?;
        let data = Bytes::little(bytes.up_to(HEADER, u64::from(size)));
        let symbol = data.string(0)?;
        let library_at = symbol.len() as u64 + 1;
        let library = data.string(library_at)?;
        let name_type = (types >> 2) & 7;
        let import = match name_type {
            0 => None,
            1 => Some(symbol),
            2 => Some(without_prefix(symbol)),
            3 => {
                let name = without_prefix(symbol);
                let end = memchr::memchr(b'@', name).unwrap_or(name.len());
                name.get(..end)
            }
            4 => Some(data.string(library_at + library.len() as u64 + 1)?),
            _ => Some(symbol),
        };
        Some(Self {
            machine: bytes.u16(6)?,
            time_date_stamp: bytes.u32(8)?,
            size_of_data: size,
            ordinal_or_hint: bytes.u16(16)?,
            kind: types & 3,
            name_type,
            symbol,
            library,
            import,
            location: Range {
                offset,
                bytes: HEADER + u64::from(size),
            },
            library_at: offset + HEADER + library_at,
        })
    }

    fn kind_name(&self) -> Option<&'static str> {
        match self.kind {
            0 => Some("function"),
            1 => Some("data"),
            2 => Some("constant"),
            _ => None,
        }
    }

    /// The symbol that it offers, standing for the library's export.
    pub(super) fn export(&self) -> Export<'a> {
        let mut target = self.library.to_vec();
        target.push(b'.');
        match self.import {
            Some(name) => target.extend_from_slice(name),
            None => target.extend_from_slice(format!("#{}", self.ordinal_or_hint).as_bytes()),
        }
        Export {
            name: Some(Cow::Borrowed(self.symbol)),
            kind: self.kind_name(),
            ordinal: self.ordinal(),
            forwarder: Some(Cow::Owned(target)),
            source: "import-object",
            location: Some(self.location),
            ..Export::default()
        }
    }

    /// What it imports.
    pub(super) fn import(&self) -> Import<'a> {
        Import {
            name: self.import.map(Cow::Borrowed),
            kind: self.kind_name(),
            library: Some(Cow::Borrowed(self.library)),
            ordinal: self.ordinal(),
            source: "import-object",
            location: Some(self.location),
            ..Import::default()
        }
    }

    fn ordinal(&self) -> Option<u64> {
        (self.name_type == 0).then_some(u64::from(self.ordinal_or_hint))
    }

    /// The library that it imports from.
    pub(super) fn dependency(&self) -> Dependency<'a> {
        Dependency {
            name: self.library,
            kind: "import",
            location: Some(Range {
                offset: self.library_at,
                bytes: self.library.len() as u64 + 1,
            }),
            more: Object::new(),
        }
    }

    fn facts(&self) -> Object {
        let mut facts = Object::new();
        facts.insert("import_name", or_null(self.import.map(name)));
        facts.insert("library", name(self.library));
        facts.insert("machine", named(self.machine, MACHINES));
        facts.insert("name_type", named(self.name_type, IMPORT_NAME_TYPES));
        facts.insert("ordinal_or_hint", number(self.ordinal_or_hint));
        facts.insert("size_of_data", number(self.size_of_data));
        facts.insert("symbol", name(self.symbol));
        facts.insert("time_date_stamp", hex(self.time_date_stamp));
        facts.insert("type", named(self.kind, IMPORT_TYPES));
        facts
    }
}

/// Without a leading `?`, `@` or `_`.
fn without_prefix(symbol: &[u8]) -> &[u8] {
    match symbol {
        [b'?' | b'@' | b'_', rest @ ..] => rest,
        _ => symbol,
    }
}

/// Takes one apart.
pub(super) fn parse(bytes: Bytes<'_>) -> Result<Layout<'_>, Refusal> {
    let Some(object) = ImportObject::read(bytes, 0) else {
        return Err(Refusal::Header {
            offset: 0,
            reason: "the file ends in the header or the names of an import object".to_owned(),
        });
    };
    let mut layout = super::empty(
        Format::ImportObject,
        object.machine,
        super::bits(object.machine),
    );
    layout.image_type = Symbolic::Named("import-object");
    layout.facts.exports = vec![object.export()];
    layout.facts.imports = vec![object.import()];
    layout.facts.exports_exhaustive = true;
    layout.facts.imports_exhaustive = true;
    layout.facts.dependencies = vec![object.dependency()];
    layout.linkage.needed_libraries = vec![Name::terminated(object.library, object.library_at)];
    let end = object.location.bytes;
    layout.facts.overlay = bytes
        .len()
        .checked_sub(end)
        .filter(|&left| left > 0)
        .map(|bytes| Range { offset: end, bytes });
    layout.facts.own.1 = vec![("import_object", Box::new(object.facts()))];
    Ok(layout)
}
