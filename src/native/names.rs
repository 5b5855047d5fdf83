//! `list_names` (functions section 1.2): what has a name and an address.

use std::borrow::Cow;

use super::record::NativeRecord;
use super::target::Mapped;
use crate::binary::demangle::demangle;
use crate::binary::layout::Layout;
use crate::binary::layout::rows::{Hex, ValueMeaning};
use crate::binary::name_text;
use crate::error::Result;
use crate::json::{Object, WriteJson, Writer};
use crate::operation::Context;

/// A name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRow<'a> {
    /// The address as linked.
    pub address: u64,
    /// As it stands in the file.
    pub name: Cow<'a, [u8]>,
    /// Whether it is the one that stands for its address.
    pub primary: bool,
    /// Whether what it names is in another file: slots and stubs of imports.
    pub external: bool,
    /// The type in the format's own words.
    pub kind: Cow<'static, str>,
    /// The lower the likelier it is to stand for its address.
    rank: u8,
}

impl WriteJson for NameRow<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.member("demangled", demangle(&self.name).map(|found| found.text));
        w.key("symbol");
        w.begin_object();
        w.member("dynamic", false);
        w.member("external", self.external);
        w.member("primary", self.primary);
        w.member("source", "imported");
        w.member("type", &self.kind);
        w.end_object();
        w.member("value", name_text(&self.name));
        w.end_object();
    }
}

/// Names by address, value and facts.
pub type Names<'a> = Vec<NameRow<'a>>;

const GENERAL: &str = "Names are those that stand in the file; none was made up for code or data without one, and names without an address are not listed.";
const NONE: &str = "The file names no address; it may be stripped.";

/// The names of `mapped`, or only those at `address`.
///
/// # Errors
/// `cancelled`.
pub fn list_names<'a>(
    mapped: &'a Mapped<'a>,
    address: Option<u64>,
    context: &Context,
) -> Result<NativeRecord<Names<'a>>> {
    context.check()?;
    let mut rows = mapped.layout.as_ref().map(rows).unwrap_or_default();
    if let Some(address) = address {
        rows.retain(|row| row.address == address);
    }
    context.check()?;
    let mut said = vec![GENERAL.to_owned()];
    if rows.is_empty() && address.is_none() {
        said.push(NONE.to_owned());
    }
    let mut parameters = Object::new();
    if let Some(address) = address {
        parameters.insert("address", format!("{address:#x}"));
    }
    let parts = mapped.parts(context.operation, parameters, said);
    Ok(NativeRecord::new(mapped.target, parts, rows))
}

fn rows<'a>(layout: &'a Layout<'a>) -> Names<'a> {
    let mut rows = Vec::new();
    for symbol in &layout.symbols {
        let kind = symbol.kind.text();
        let skip = matches!(kind.as_ref(), "STT_SECTION" | "STT_FILE");
        let name = symbol.name.bytes();
        if symbol.meaning != ValueMeaning::LinkedVirtualAddress || skip || name.is_empty() {
            continue;
        }
        let binding = symbol.binding.text();
        let global = !matches!(binding.as_ref(), "STB_LOCAL" | "local");
        let typed = !matches!(kind.as_ref(), "STT_NOTYPE");
        rows.push(NameRow {
            address: symbol.value,
            name: Cow::Borrowed(name),
            primary: false,
            external: false,
            kind,
            rank: u8::from(!typed) * 2 + u8::from(!global),
        });
    }
    for export in &layout.facts.exports {
        let named = (export.name.as_ref(), export.address);
        if let ((Some(name), Some(address)), None) = (named, &export.forwarder) {
            rows.push(NameRow {
                address,
                name: Cow::Borrowed(name.as_ref()),
                primary: false,
                external: false,
                kind: Cow::Borrowed("export"),
                rank: 4,
            });
        }
    }
    let stubs = layout.linkage.plt.iter().map(|one| (one, "plt"));
    let slots = layout.linkage.got.iter().map(|one| (one, "got"));
    for (one, kind) in stubs.chain(slots) {
        rows.push(NameRow {
            address: one.address,
            name: Cow::Borrowed(one.name.as_ref()),
            primary: false,
            external: true,
            kind: Cow::Borrowed(kind),
            rank: 6,
        });
    }
    for import in &layout.facts.imports {
        if let (Some(name), Some(address)) = (import.name.as_ref(), import.address) {
            rows.push(NameRow {
                address,
                name: Cow::Borrowed(name.as_ref()),
                primary: false,
                external: true,
                kind: Cow::Borrowed("import"),
                rank: 7,
            });
        }
    }
    settle(rows)
}

/// Sorts, drops what is said twice, and chooses the primary names.
fn settle(mut rows: Names<'_>) -> Names<'_> {
    rows.retain(|row| !row.name.is_empty());
    rows.sort_by(|a, b| {
        let key = |row: &NameRow<'_>| (row.address, row.external);
        (key(a), &a.name, a.rank, &a.kind).cmp(&(key(b), &b.name, b.rank, &b.kind))
    });
    // An export or import of a name that a table of symbols has already.
    rows.dedup_by(|next, kept| {
        next.address == kept.address && next.name == kept.name && next.external == kept.external
    });
    rows.sort_by(|a, b| {
        let facts = |row: &NameRow<'_>| (row.external, row.kind.clone());
        (a.address, name_text(&a.name), facts(a)).cmp(&(b.address, name_text(&b.name), facts(b)))
    });
    let mut start = 0;
    while let Some(first) = rows.get(start) {
        let address = first.address;
        let rest = rows.get(start..).unwrap_or_default();
        let count = rest.partition_point(|row| row.address == address);
        let best = (start..start + count)
            .min_by_key(|&at| (rows.get(at).map_or(u8::MAX, |row| row.rank), at));
        if let Some(best) = best.and_then(|at| rows.get_mut(at)) {
            best.primary = true;
        }
        start += count;
    }
    rows
}
