//! `rea inspect-binary-layout`: what the structures of a binary say.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::artifact::format::HEAD;
use rea::binary::layout::facts::State;
use rea::binary::layout::{
    EntryMeaning, LayoutOptions, LayoutRecord, NO_BINARY, inspect_binary_layout, may_have_layout,
};
use rea::binary::{BinaryFile, name_text};
use rea::evidence::Record;
use rea::operation::{Context, Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::paint::Tone;
use crate::recursive::{self, Brief, Take, Target};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Lay out an ELF, PE, COFF or Mach-O file
///
/// Tells sections, segments, symbols, relocations, imports, exports, linkage,
/// protections, build ids and what else the file's own structures say, each
/// with the range of the file that says so. Works on any host for files of
/// every machine; nothing is run. What is damaged is said in the limitations
/// with its offset, and the rest is still reported.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,

    /// Slice of a universal file, by the name `rea list-architectures` gives
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,

    /// Tell the strings too, with encodings and exact ranges
    #[arg(long)]
    #[serde(default)]
    pub strings: bool,

    /// Fewest characters of a string
    #[arg(long, value_name = "N", default_value_t = 4, requires = "strings",
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
    #[serde(default = "min_length")]
    pub min_length: u32,

    /// Tell the digest and entropy of each section
    #[arg(long)]
    #[serde(default)]
    pub digests: bool,
}

fn min_length() -> u32 {
    LayoutOptions::default().min_length
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "inspect_binary_layout",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea inspect-binary-layout /bin/ls | jq '.normalized_result.facts.mitigations'";
    const TOOL: Form = Form::Same(
        Facts::STRUCTURE
            .with_summary(r#"{"kind":"page","collection":"sections","offset":0,"limit":64}"#),
    );

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let options = LayoutOptions {
            architecture: self.architecture.clone(),
            strings: self.strings,
            min_length: self.min_length,
            digests: self.digests,
        };
        if let Some(folder) = self.target.folder() {
            return recursive::run(ui, &context, folder, |path, context, take| {
                one_of_many(path, &options, context, take)
            });
        }
        let path = self.target.path(context.operation)?;
        let file = ui.operate(&context, |context| {
            BinaryFile::read(path, BinaryFile::MAX, context)
        })?;
        let record = ui.operate(&context, |context| {
            inspect_binary_layout(&file, &options, context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A file of a folder, where it has a layout.
fn one_of_many(
    path: &Path,
    options: &LayoutOptions,
    context: &Context,
    take: &mut Take<'_>,
) -> Result<()> {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let head = rea::recursive::head(path, HEAD, context.operation)?;
    if !may_have_layout(&head, size) {
        return Ok(());
    }
    let file = BinaryFile::read(path, BinaryFile::MAX, context)?;
    let record = match inspect_binary_layout(&file, options, context) {
        Ok(record) => record,
        // It starts like a binary and is none.
        Err(error) if error.reason() == Some(NO_BINARY) => return Ok(()),
        Err(error) => return Err(error),
    };
    let layout = record.layout();
    let brief = Brief {
        format: layout.format.as_str().to_owned(),
        what: format!("{} {}", layout.image_type.text(), layout.machine.text()),
    };
    take(&record, brief);
    Ok(())
}

const SECTIONS: &[Column] = &[
    Column::number("#"),
    Column::text("SECTION"),
    Column::text("TYPE"),
    Column::number("ADDRESS"),
    Column::number("OFFSET"),
    Column::number("SIZE"),
];
const MITIGATIONS: &[Column] = &[
    Column::text("PROTECTION"),
    Column::text("STATE"),
    Column::text("RESTS ON"),
];
const LIBRARIES: &[Column] = &[Column::text("LIBRARY"), Column::text("KIND")];
const NAMES: &[Column] = &[
    Column::number("ADDRESS"),
    Column::text("NAME"),
    Column::text("VERSION OR LIBRARY"),
];

fn describe(record: &LayoutRecord<'_>, report: &mut Report) {
    let layout = record.layout();
    let facts = &layout.facts;
    let hex = |value: u64| format!("{value:#x}");
    report.title(record.path());
    report.fact("format", layout.format.as_str());
    report.fact(
        "machine",
        format!(
            "{}, {} bits, {} endian",
            layout.machine.text(),
            layout.bits,
            layout.byte_order.as_str()
        ),
    );
    report.fact("image", layout.image_type.text());
    // Objects have no word for it.
    match layout.entry_meaning {
        EntryMeaning::LinkedVirtualAddress => report.fact("entry", hex(layout.entry)),
        EntryMeaning::Absent => report.fact("entry", "none"),
        EntryMeaning::NotApplicable => {}
    }
    for id in &facts.build_ids {
        report.fact(id.kind, id.value.as_str());
    }
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Protections", MITIGATIONS, |table| {
        for one in &facts.mitigations {
            let tone = match one.state {
                State::Present => Tone::Good,
                State::Absent => Tone::Bad,
                _ => Tone::Plain,
            };
            table.row([
                one.name.into(),
                Cell::toned(one.state.as_str(), tone),
                one.fact.as_str().into(),
            ]);
        }
    });
    report.table("Libraries", LIBRARIES, |table| {
        for one in &facts.dependencies {
            table.row([name_text(one.name).as_ref().into(), one.kind.into()]);
        }
    });
    report.table("Sections", SECTIONS, |table| {
        for one in &layout.sections {
            table.row([
                one.index.to_string().into(),
                name_text(one.name.bytes()).as_ref().into(),
                one.kind
                    .map(|kind| kind.text())
                    .unwrap_or_default()
                    .as_ref()
                    .into(),
                hex(one.address).into(),
                hex(one.offset).into(),
                hex(one.size).into(),
            ]);
        }
    });
    let name = |name: Option<&[u8]>, ordinal: Option<u64>| match (name, ordinal) {
        (Some(name), _) => name_text(name).into_owned(),
        (None, Some(ordinal)) => format!("#{ordinal}"),
        (None, None) => String::new(),
    };
    report.table("Exports", NAMES, |table| {
        for one in &facts.exports {
            table.row([
                one.address.map(hex).unwrap_or_default().into(),
                name(one.name.as_deref(), one.ordinal).into(),
                name(one.version.as_deref().or(one.forwarder.as_deref()), None).into(),
            ]);
        }
    });
    report.table("Imports", NAMES, |table| {
        for one in &facts.imports {
            table.row([
                one.address.map(hex).unwrap_or_default().into(),
                name(one.name.as_deref(), one.ordinal).into(),
                name(one.version.as_deref().or(one.library.as_deref()), None).into(),
            ]);
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
