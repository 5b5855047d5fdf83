//! What the structures of a binary say, as facts that two releases are
//! compared by (`diff --deep`). Addresses move with every build and are none.

use std::borrow::Cow;

use super::layout::facts::Facts;
use super::layout::links::{Export, Import};
use super::layout::rows::{Symbol, Symbolic, ValueMeaning};
use super::layout::{Format, Layout, LayoutOptions, Refusal, parse};
use super::name_text;
use crate::json::canonical;
use crate::member_facts::{Domain, MemberFacts, TooMuch, Topic};

/// Executables, libraries and objects.
pub const BINARIES: Domain = Domain {
    formats: &["elf", "pe", "mach-o"],
    read,
};

/// WebAssembly modules and components.
pub const MODULES: Domain = Domain {
    formats: &["wasm"],
    read: read_module,
};

/// Imports and exports of a module.
///
/// # Errors
/// That it is none, or larger than is read.
fn read_module(bytes: &[u8]) -> Result<MemberFacts<'_>, String> {
    let facts = super::wasm::deep_facts(bytes)
        .ok_or("it is no valid module, or larger than modules that are read")?;
    let mut told = MemberFacts::default();
    for fact in facts {
        let topic = match fact.is_import {
            true => Topic::WasmImport,
            false => Topic::WasmExport,
        };
        told.add(topic, fact.name, fact.ty).map_err(too_much)?;
    }
    Ok(told)
}

fn too_much(TooMuch: TooMuch) -> String {
    "its names come to more than is compared".to_owned()
}

/// The facts of a file.
///
/// # Errors
/// Why it cannot be read, as the end of a sentence.
fn read(bytes: &[u8]) -> Result<MemberFacts<'_>, String> {
    let layout = parse(bytes, &LayoutOptions::default()).map_err(|refusal| match refusal {
        Refusal::Format => "it is no executable, library or object that can be laid out".to_owned(),
        Refusal::Header { offset, reason } => {
            format!("its header cannot be read at offset {offset}: {reason}")
        }
        Refusal::Architecture(_) => "it has no slice that can be laid out".to_owned(),
    })?;
    of_layout(layout).map_err(too_much)
}

/// The facts of a layout.
///
/// # Errors
/// Where its names are larger than is compared.
pub fn of_layout(layout: Layout<'_>) -> Result<MemberFacts<'_>, TooMuch> {
    let mut told = MemberFacts::new(!layout.notes.is_empty());
    symbols(&layout, &mut told)?;
    let Facts {
        build_ids,
        dependencies,
        exports,
        imports,
        mitigations,
        ..
    } = layout.facts;
    for id in build_ids {
        told.add(Topic::BuildId, id.kind, id.value)?;
    }
    for one in dependencies {
        let mut detail = one.kind.to_owned();
        if !one.more.is_empty() {
            detail.push(' ');
            detail.push_str(&String::from_utf8_lossy(&canonical(&one.more)));
        }
        told.add(Topic::Dependency, name_text(one.name), detail)?;
    }
    for one in exports {
        let detail = export_detail(&one);
        told.add(Topic::Export, export_name(one), detail)?;
    }
    for one in imports {
        let detail = import_detail(&one);
        told.add(Topic::Import, import_name(one), detail)?;
    }
    for one in mitigations {
        told.add(Topic::Mitigation, one.name, one.state.as_str())?;
    }
    Ok(told)
}

/// [`name_text`] of a name that may be owned.
fn owned_text(name: Cow<'_, [u8]>) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => name_text(name),
        Cow::Owned(name) => Cow::Owned(name_text(&name).into_owned()),
    }
}

/// `name`, and where the format has versions of names `name@VERSION`: another
/// version is another name to those who link with it.
fn export_name<'a>(export: Export<'a>) -> Cow<'a, str> {
    let version = export.version.as_deref().map(|version| {
        let version = version.strip_prefix(b"@").unwrap_or(version);
        name_text(version.strip_prefix(b"@").unwrap_or(version)).into_owned()
    });
    match (export.name, version) {
        (Some(name), None) => owned_text(name),
        (Some(name), Some(version)) => Cow::Owned(format!("{}@{version}", owned_text(name))),
        (None, _) => Cow::Owned(ordinal(export.ordinal)),
    }
}

fn ordinal(ordinal: Option<u64>) -> String {
    match ordinal {
        Some(ordinal) => format!("#{ordinal}"),
        None => "#".to_owned(),
    }
}

/// Sizes of code change with every build; sizes of data bind those who copy
/// it.
fn export_detail(export: &Export<'_>) -> String {
    let mut detail = Detail::default();
    detail.word(export.kind);
    let code = matches!(export.kind, Some("function" | "ifunc"));
    if let Some(size) = export.size.filter(|&size| size > 0 && !code) {
        detail.word(Some(&format!("{size} bytes")));
    }
    if export.weak {
        detail.word(Some("weak"));
    }
    if let (Some(number), true) = (export.ordinal, export.name.is_some()) {
        detail.word(Some(&ordinal(Some(number))));
    }
    if let Some(forwarder) = &export.forwarder {
        detail.word(Some(&format!("to {}", name_text(forwarder))));
    }
    detail.0
}

/// Its name; one without a name is told by library and number.
fn import_name<'a>(import: Import<'a>) -> Cow<'a, str> {
    match (import.name, import.library) {
        (Some(name), _) => owned_text(name),
        (None, Some(library)) => Cow::Owned(format!(
            "{}{}",
            owned_text(library),
            ordinal(import.ordinal)
        )),
        (None, None) => Cow::Owned(ordinal(import.ordinal)),
    }
}

fn import_detail(import: &Import<'_>) -> String {
    let mut detail = Detail::default();
    detail.word(import.kind);
    if import.weak {
        detail.word(Some("weak"));
    }
    if let Some(version) = &import.version {
        detail.word(Some(&format!("version {}", name_text(version))));
    }
    if let (Some(library), true) = (&import.library, import.name.is_some()) {
        detail.word(Some(&format!("from {}", name_text(library))));
    }
    detail.0
}

/// Words with commas between.
#[derive(Default)]
struct Detail(String);

impl Detail {
    fn word(&mut self, word: Option<&str>) {
        if let Some(word) = word {
            if !self.0.is_empty() {
                self.0.push_str(", ");
            }
            self.0.push_str(word);
        }
    }
}

/// Names in the table of symbols that is not for loading.
fn symbols<'a>(layout: &Layout<'a>, told: &mut MemberFacts<'a>) -> Result<(), TooMuch> {
    for symbol in &layout.symbols {
        if !is_definition(layout, &symbol) {
            continue;
        }
        let mut detail = Detail::default();
        detail.word(Some(&symbol.kind.text()));
        detail.word(Some(&symbol.binding.text()));
        if symbol.size > 0 {
            detail.word(Some(&format!("{} bytes", symbol.size)));
        }
        told.add(Topic::Symbol, name_text(symbol.name.bytes()), detail.0)?;
    }
    Ok(())
}

fn is_definition(layout: &Layout<'_>, symbol: &Symbol<'_>) -> bool {
    if symbol.name.bytes().is_empty()
        || matches!(
            symbol.meaning,
            ValueMeaning::Undefined | ValueMeaning::NoAddress
        )
    {
        return false;
    }
    match (layout.format, symbol.kind) {
        // Exports and imports tell what the other table has.
        (Format::Elf, kind) => {
            let table = usize::try_from(symbol.table_index).unwrap_or(usize::MAX);
            let table = layout.sections.get(table).and_then(|table| table.kind);
            table == Some(Symbolic::Named("SHT_SYMTAB")) && kind != Symbolic::Named("STT_SECTION")
        }
        // The others are for debuggers.
        (Format::MachO, kind) => ["N_SECT", "N_ABS", "N_INDR"]
            .into_iter()
            .any(|known| kind == Symbolic::Named(known)),
        _ => true,
    }
}
