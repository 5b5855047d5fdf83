//! The members of `facts` about what dyld does at load time.

use super::chained_fixups::{AuthRebase, BindSite, ChainedImport, SegmentChains, pointee};
use super::dyld_info::{BindRun, RebaseRun, Run};
use super::facets::array;
use super::fixups::{Auth, Pointee, PointerFormat};
use super::macho::MachO;
use crate::binary::layout::rows::Hex;
use crate::binary::name_text;
use crate::json::{WriteJson, Writer};

/// A number that may be negative.
fn signed(w: &mut Writer<'_>, key: &str, value: i64) {
    w.member(key, value.to_string());
}

pub(super) fn exports_trie(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let trie = &macho.trie;
    if !trie.announced {
        return w.null();
    }
    let base = macho.segments.image_base();
    let address = |offset: u64| base.and_then(|base| base.checked_add(offset)).map(Hex);
    w.begin_object();
    w.member("complete", trie.complete);
    w.member("count", trie.count);
    w.member("location", trie.location);
    w.key("reexports");
    array(&trie.reexports, w, |(name, ordinal, there), w| {
        let library = i64::try_from(*ordinal).ok();
        w.begin_object();
        w.key("library");
        let library = macho.library(library);
        library.map(name_text).as_deref().write_json(w);
        w.member("name", name_text(name));
        w.member("ordinal", *ordinal);
        let symbol: &[u8] = if there.is_empty() { name } else { there };
        w.member("symbol", name_text(symbol));
        w.end_object();
    });
    w.key("resolvers");
    array(&trie.resolvers, w, |(name, stub, resolver), w| {
        w.begin_object();
        w.member("name", name_text(name));
        w.member("resolver", address(*resolver));
        w.member("stub", address(*stub));
        w.end_object();
    });
    w.end_object();
}

impl WriteJson for Run {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.address));
        w.member("count", self.count);
        w.member("step", Hex(self.step));
        w.end_object();
    }
}

fn rebase_type(kind: u8) -> Option<&'static str> {
    Some(match kind {
        1 => "pointer",
        2 => "text-absolute32",
        3 => "text-pcrel32",
        _ => return None,
    })
}

fn kind_of(kind: u8, w: &mut Writer<'_>) {
    match rebase_type(kind) {
        Some(name) => w.string(name),
        None => w.u64(kind.into()),
    }
}

impl WriteJson for RebaseRun {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address", Hex(self.run.address));
        w.member("count", self.run.count);
        w.member("step", Hex(self.run.step));
        w.key("type");
        kind_of(self.kind, w);
        w.end_object();
    }
}

fn bind_run(macho: &MachO<'_>, bind: &BindRun<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    signed(w, "addend", bind.addend);
    w.key("library");
    let library = macho.library(Some(bind.ordinal));
    library.map(name_text).as_deref().write_json(w);
    w.member("name", name_text(bind.name));
    w.member("opcode_offset", Hex(bind.opcode));
    signed(w, "ordinal", bind.ordinal);
    w.member("places", bind.run);
    w.member("strong", bind.run.is_none());
    w.key("type");
    kind_of(bind.kind, w);
    w.member("weak_import", bind.is_weak_import());
    w.end_object();
}

pub(super) fn dyld_info(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let info = &macho.dyld_info;
    if !info.announced {
        return w.null();
    }
    let runs = |runs: &[BindRun<'_>], w: &mut Writer<'_>| {
        array(runs, w, |bind, w| bind_run(macho, bind, w));
    };
    w.begin_object();
    w.key("binds");
    runs(&info.binds, w);
    w.member("complete", info.complete);
    w.key("lazy_binds");
    runs(&info.lazy_binds, w);
    w.member("rebases", &info.rebases);
    w.key("weak_binds");
    runs(&info.weak_binds, w);
    w.end_object();
}

impl WriteJson for Auth {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("address_diversity", self.address_diversity);
        w.member("diversity", self.diversity);
        w.member("key", self.key_name());
        w.end_object();
    }
}

pub(super) fn chained_fixups(macho: &MachO<'_>, w: &mut Writer<'_>) {
    let fixups = &macho.fixups;
    let Some(location) = fixups.location else {
        return w.null();
    };
    w.begin_object();
    w.key("auth_rebases");
    array(&fixups.auth_rebases, w, |row, w| auth_rebase(macho, row, w));
    w.key("binds");
    array(&fixups.binds, w, |site, w| bind_site(macho, site, w));
    w.key("chains");
    array(&fixups.chains, w, |row, w| chains(macho, row, w));
    w.member("complete", fixups.complete);
    w.key("imports");
    array(&fixups.imports, w, |row, w| chained_import(macho, row, w));
    w.member("imports_format", fixups.imports_format);
    w.member("location", location);
    w.member("rebases", &fixups.rebases);
    w.member("symbols_format", fixups.symbols_format);
    w.end_object();
}

fn auth_rebase(macho: &MachO<'_>, row: &AuthRebase, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("address", Hex(row.address));
    w.member("auth", row.auth);
    w.key("level");
    match row.to {
        Pointee::Cache { level, .. } => w.u64(level.into()),
        _ => w.null(),
    }
    let target = pointee(row.to, &macho.segments);
    // Where it is not in this file: in another collection, or in the cache
    // around it.
    w.key("offset");
    match row.to {
        Pointee::Cache { offset, .. } | Pointee::SharedCache(offset) if target.is_none() => {
            Hex(offset).write_json(w);
        }
        _ => w.null(),
    }
    w.member("target", target.map(Hex));
    w.end_object();
}

fn bind_site(macho: &MachO<'_>, site: &BindSite, w: &mut Writer<'_>) {
    let import = macho.fixups.imports.get(site.import as usize);
    let addend = import.map_or(0, |import| import.addend);
    w.begin_object();
    signed(w, "addend", addend.wrapping_add(site.addend));
    w.member("address", Hex(site.address));
    w.member("auth", site.auth);
    // The import's row has the name: a million places may share one.
    w.member("import", site.import);
    w.end_object();
}

fn chains(macho: &MachO<'_>, row: &SegmentChains, w: &mut Writer<'_>) {
    let segment = macho.segments.segments.get(row.segment as usize);
    w.begin_object();
    w.member("binds", row.binds);
    w.member("max_valid_pointer", Hex(row.max_valid_pointer.into()));
    w.member("page_size", row.page_size);
    w.member("pages", row.pages);
    w.key("pointer_format");
    match PointerFormat::of(row.format) {
        Some(format) => w.string(format.name()),
        None => w.u64(row.format.into()),
    }
    w.member("rebases", row.rebases);
    w.key("segment");
    match segment {
        Some(segment) => w.string(&name_text(segment.name)),
        None => w.u64(row.segment.into()),
    }
    w.end_object();
}

fn chained_import(macho: &MachO<'_>, import: &ChainedImport<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    signed(w, "addend", import.addend);
    w.key("library");
    let library = macho.library(Some(import.ordinal));
    library.map(name_text).as_deref().write_json(w);
    w.member("location", import.location);
    w.member("name", name_text(import.name));
    signed(w, "ordinal", import.ordinal);
    w.member("weak", import.weak);
    w.end_object();
}
