//! The tree of resources ("PE Format", section "The .rsrc Section"), its
//! manifest, and how many icons there are.

use std::collections::{BTreeMap, HashSet};

use super::Own;
use super::fields::{hex, number, range};
use super::image::{Budget, Image, SPENT, outside};
use super::names::Names;
use super::version_info;
use crate::binary::layout::rows::{Hex, Range, Symbolic};
use crate::binary::{Bytes, Notes, name_text, ranges};
use crate::digest::Digest;
use crate::json::{Object, Text, Value, WriteJson, Writer};

/// Types by number (winuser.h).
const TYPES: Names = &[
    (1, "RT_CURSOR"),
    (2, "RT_BITMAP"),
    (3, "RT_ICON"),
    (4, "RT_MENU"),
    (5, "RT_DIALOG"),
    (6, "RT_STRING"),
    (7, "RT_FONTDIR"),
    (8, "RT_FONT"),
    (9, "RT_ACCELERATOR"),
    (10, "RT_RCDATA"),
    (11, "RT_MESSAGETABLE"),
    (12, "RT_GROUP_CURSOR"),
    (14, "RT_GROUP_ICON"),
    (16, "RT_VERSION"),
    (17, "RT_DLGINCLUDE"),
    (19, "RT_PLUGPLAY"),
    (20, "RT_VXD"),
    (21, "RT_ANICURSOR"),
    (22, "RT_ANIICON"),
    (23, "RT_HTML"),
    (24, "RT_MANIFEST"),
];

/// A name or a number in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    Number(u32),
    Name(Text),
}

impl Id {
    fn write(&self, w: &mut Writer<'_>) {
        match self {
            Self::Number(value) => w.u64(u64::from(*value)),
            Self::Name(name) => name.write_json(w),
        }
    }
}

/// Data in the tree.
pub(super) struct Resource {
    /// Type, name, language; other trees are deeper or flatter.
    path: Vec<Id>,
    address: u64,
    size: u64,
    code_page: u32,
    /// Where its bytes stand, where they are all there.
    location: Option<Range>,
    /// Where the entry stands that tells this.
    entry: Range,
    /// SHA-256 of its bytes, where they are all there.
    sha256: Option<Digest>,
}

impl WriteJson for Resource {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.member("code_page", self.code_page);
        w.member("entry_location", self.entry);
        w.member("location", self.location);
        w.key("path");
        w.begin_array();
        for id in &self.path {
            id.write(w);
        }
        w.end_array();
        w.member("sha256", self.sha256);
        w.member("size", Hex(self.size));
        w.key("type");
        match self.path.first() {
            Some(Id::Number(value)) => Symbolic::of(u64::from(*value), TYPES).write_json(w),
            Some(id) => id.write(w),
            None => w.null(),
        }
        w.end_object();
    }
}

/// What the tree holds.
#[derive(Default)]
pub(super) struct Resources {
    pub items: Vec<Resource>,
    pub summary: Object,
    pub manifests: Vec<Value>,
    pub versions: Vec<Value>,
}

impl Resources {
    /// As members of the facts.
    pub(super) fn put(self, own: &mut Own<'_>) {
        own.push(("manifests", Box::new(self.manifests)));
        own.push(("resource_summary", Box::new(self.summary)));
        own.push(("resources", Box::new(self.items)));
        own.push(("version_info", Box::new(self.versions)));
    }
}

/// Levels beyond this are not read: three are used, and only by convention.
const DEEPEST: usize = 16;

/// Where the data of a leaf stands: by the offset of its entry in the tree, and
/// the address there.
pub(super) type Place<'p> = &'p dyn Fn(u64, u64) -> Option<u64>;

/// Walks the tree at `rva`; a directory is read once, so that loops end.
pub(super) fn read(
    image: &Image<'_>,
    rva: u64,
    place: Place<'_>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> Option<Resources> {
    let Some((start, tree)) = image.tail(rva) else {
        notes.add(outside("resources", rva));
        return None;
    };
    let mut walk = Walk {
        image,
        tree,
        start,
        place,
        seen: HashSet::new(),
        out: Resources::default(),
        budget,
        notes,
    };
    walk.directory(0, &mut Vec::new());
    let directories = walk.seen.len() as u64;
    let mut out = walk.out;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for item in &out.items {
        let name = match item.path.first() {
            Some(Id::Number(value)) => Symbolic::of(u64::from(*value), TYPES).text().into_owned(),
            Some(Id::Name(_)) => "named types".to_owned(),
            None => continue,
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    let mut by_type = Object::new();
    for (name, count) in counts {
        by_type.insert(name, number(count));
    }
    out.summary.insert("by_type", Value::Object(by_type));
    out.summary.insert("directories", number(directories));
    out.summary.insert("items", number(out.items.len() as u64));
    out.summary.insert("offset", hex(start));
    digests(image, start, &mut out.items, notes);
    content(image, &mut out, budget, notes);
    Some(out)
}

/// Hashes the data of each resource; data that several share once.
fn digests(image: &Image<'_>, start: u64, items: &mut [Resource], notes: &mut Notes) {
    let wanted = items.iter().filter_map(|item| item.location);
    let found = ranges::each(image.bytes.data(), wanted, |data| Some(Digest::of(data)));
    let mut left_out = 0u64;
    for item in items {
        let digest = item.location.and_then(|location| found.get(&location));
        left_out += u64::from(digest == Some(&None));
        item.sha256 = digest.copied().flatten();
    }
    if left_out > 0 {
        let reason = format!(
            "{left_out} of them share so many bytes with others that their data is not hashed"
        );
        notes.at("resources", start, reason);
    }
}

struct Walk<'w, 'a> {
    image: &'w Image<'a>,
    tree: Bytes<'a>,
    start: u64,
    place: Place<'w>,
    seen: HashSet<u64>,
    out: Resources,
    budget: &'w mut Budget,
    notes: &'w mut Notes,
}

impl Walk<'_, '_> {
    fn directory(&mut self, at: u64, path: &mut Vec<Id>) {
        let offset = self.start + at;
        if !self.seen.insert(at) {
            let reason = "it is reached again; its entries are listed once";
            self.notes.at("resource directory", offset, reason);
            return;
        }
        let (Some(named), Some(numbered)) = (self.tree.u16(at + 12), self.tree.u16(at + 14)) else {
            let reason = "the file has no bytes for it";
            self.notes.at("resource directory", offset, reason);
            return;
        };
        let count = u64::from(named) + u64::from(numbered);
        for index in 0..count {
            let entry = at + 16 + index * 8;
            let (Some(name), Some(to)) = (self.tree.u32(entry), self.tree.u32(entry + 4)) else {
                let reason =
                    format!("it has {count} entries, and the file ends after {index} of them");
                self.notes.at("resource directory", offset, reason);
                return;
            };
            if !self.budget.row() {
                self.notes.at("resource directory", offset, SPENT);
                return;
            }
            let Some(id) = self.id(name) else {
                let reason = format!(
                    "the file has no bytes for the name at {:#x}",
                    name & 0x7FFF_FFFF
                );
                self.notes.at("resource entry", self.start + entry, reason);
                continue;
            };
            path.push(id);
            let to_offset = u64::from(to & 0x7FFF_FFFF);
            if to & 0x8000_0000 == 0 {
                self.data(to_offset, path);
            } else if path.len() < DEEPEST {
                self.directory(to_offset, path);
            } else {
                let reason =
                    format!("the tree has more than {DEEPEST} levels; those below are not listed");
                self.notes.at("resource directory", offset, reason);
            }
            path.pop();
        }
    }

    fn id(&mut self, name: u32) -> Option<Id> {
        if name & 0x8000_0000 == 0 {
            return Some(Id::Number(name));
        }
        let at = u64::from(name & 0x7FFF_FFFF);
        let length = u64::from(self.tree.u16(at)?);
        let units = self.tree.get(at + 2, length * 2)?;
        if !self.budget.text(length * 2) {
            self.notes.at("resource name", self.start + at, SPENT);
            return None;
        }
        Some(Id::Name(utf16(units)))
    }

    fn data(&mut self, at: u64, path: &[Id]) {
        let Some(entry) = self.tree.part(at, 16) else {
            let reason = "the file has no bytes for it";
            self.notes
                .at("resource data entry", self.start + at, reason);
            return;
        };
        let word = |at| entry.u32(at).unwrap_or(0);
        let (address, size) = (u64::from(word(0)), u64::from(word(4)));
        let place = (self.place)(at, address);
        let location = place.and_then(|place| self.image.range(place, size));
        if location.is_none() {
            let reason =
                format!("the file has not all of its {size} bytes at the address {address:#x}");
            self.notes
                .at("resource data entry", self.start + at, reason);
        }
        // Paths are short, but names may be long and shared by many.
        let names: u64 = path
            .iter()
            .map(|id| match id {
                Id::Name(name) => name.as_bytes().len() as u64,
                Id::Number(_) => 0,
            })
            .sum();
        if !self.budget.text(names) {
            self.notes.at("resource name", self.start + at, SPENT);
            return;
        }
        self.out.items.push(Resource {
            path: path.to_vec(),
            address,
            size,
            code_page: word(8),
            location,
            entry: Range {
                offset: self.start + at,
                bytes: 16,
            },
            sha256: None,
        });
    }
}

/// UTF-16 with the lower byte first.
pub(super) fn utf16(bytes: &[u8]) -> Text {
    let units = bytes.chunks_exact(2).map(|pair| match *pair {
        [low, high] => u16::from_le_bytes([low, high]),
        _ => 0,
    });
    Text::from_utf16(units)
}

/// Version resources and manifests.
fn content(image: &Image<'_>, out: &mut Resources, budget: &mut Budget, notes: &mut Notes) {
    for item in &out.items {
        let kind = match item.path.first() {
            Some(Id::Number(kind @ (16 | 24))) => *kind,
            _ => continue,
        };
        let Some(location) = item.location else {
            continue;
        };
        let Some(data) = image.bytes.part(location.offset, location.bytes) else {
            continue;
        };
        if !budget.text(location.bytes) {
            notes.at("resources", location.offset, SPENT);
            return;
        }
        if kind == 16 {
            let told = version_info::read(data, location, budget, notes);
            out.versions.extend(told.map(Value::Object));
        } else {
            out.manifests.push(manifest(data, location));
        }
    }
}

/// A manifest, and what it asks of the system.
fn manifest(data: Bytes<'_>, location: Range) -> Value {
    let bytes = data.data();
    let text = match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest),
        [0xEF, 0xBB, 0xBF, rest @ ..] => Text::from(name_text(rest).as_ref()),
        _ => Text::from(name_text(bytes).as_ref()),
    };
    let mut facts = Object::new();
    facts.insert("location", range(location));
    let asked = text.as_str().map(requested).unwrap_or_default();
    let value = |text: Option<String>| text.map_or(Value::Null, Value::from);
    facts.insert("requested_execution_level", value(asked.0));
    facts.insert("text", Value::String(text));
    facts.insert("ui_access", value(asked.1));
    Value::Object(facts)
}

/// `level` and `uiAccess` of the first `requestedExecutionLevel`.
fn requested(text: &str) -> (Option<String>, Option<String>) {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag))
                if tag.local_name().as_ref() == "requestedExecutionLevel" =>
            {
                let of = |name: &str| {
                    let found = tag.try_get_attribute(name).ok()??;
                    Some(found.value.into_owned())
                };
                return (of("level"), of("uiAccess"));
            }
            Ok(Event::Eof) | Err(_) => return (None, None),
            Ok(_) => {}
        }
    }
}
