//! `rea inspect-macho`: what a Mach-O file's header and load commands say.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use rea::binary::BinaryFile;
use rea::binary::macho::{MachORecord, inspect_macho};
use rea::evidence::Record;
use rea::operation::{Context, Effect, Family, Operation};
use rea::{Result, binary};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::inspect_artifact::{Detail, summary_needs_a_session};
use crate::recursive::{self, Brief, Take, Target};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Read the header, load commands, imports and exports of a Mach-O file
///
/// Takes executables, libraries, objects, debug files and kernel extensions
/// of Apple's systems, thin or universal, of either byte order; of an app
/// folder its executable. All load commands are told, the export trie, rebase
/// and bind opcodes, chained fixups, function starts and the code directory;
/// and for imports and exports whether they are all that there are. Works on
/// any host; nothing is run.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,

    /// Slice of a universal file, by the name `rea list-architectures` gives
    /// [default: the first that holds Mach-O]
    #[arg(long, value_name = "NAME")]
    #[serde(default)]
    pub architecture: Option<String>,

    /// How much of the record to deliver; `summary` needs a session
    #[arg(long, value_name = "DETAIL", default_value = "complete")]
    #[serde(default)]
    pub detail: Detail,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "inspect_macho",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea inspect-macho Some.app | jq '.normalized_result.dependencies.items[].path'";
    const TOOL: Form = Form::Same(
        Facts::STRUCTURE
            .with_summary(r#"{"kind":"macho","facet":"load_commands","offset":0,"limit":64}"#),
    );

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        if self.detail == Detail::Summary {
            return Err(summary_needs_a_session(
                &Self::OPERATION,
                binary::macho::PROVIDER.id,
            ));
        }
        let architecture = self.architecture.as_deref();
        if let Some(folder) = self.target.folder() {
            return recursive::run(ui, &context, folder, |path, context, take| {
                one_of_many(path, architecture, context, take)
            });
        }
        let path = self.target.path(context.operation)?;
        let file = ui.operate(&context, |context| read(path, context))?;
        let record = ui.operate(&context, |context| {
            inspect_macho(&file, architecture, context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A file, or the executable of an application.
pub fn read(path: &Path, context: &Context) -> Result<BinaryFile> {
    if path.is_dir() {
        return Ok(rea::native::Target::open(path, None, context)?.into_file());
    }
    BinaryFile::read(path, BinaryFile::MAX, context)
}

/// A file of a folder, where it is Mach-O.
fn one_of_many(
    path: &Path,
    architecture: Option<&str>,
    context: &Context,
    take: &mut Take<'_>,
) -> Result<()> {
    let head = rea::recursive::head(path, rea::artifact::format::HEAD, context.operation)?;
    if !binary::macho::is_macho(&head) {
        return Ok(());
    }
    let file = BinaryFile::read(path, BinaryFile::MAX, context)?;
    let record = inspect_macho(&file, architecture, context)?;
    let kind = record.file_type().unwrap_or_default();
    let brief = Brief {
        format: "mach-o".to_owned(),
        what: format!("{kind} {}", record.slice().name()),
    };
    take(&record, brief);
    Ok(())
}

/// Slices, for this report and that of `list-architectures`.
pub const SLICES: &[Column] = &[
    Column::text("ARCHITECTURE"),
    Column::number("OFFSET"),
    Column::number("SIZE"),
    Column::text("CONTENT"),
];
const SEGMENTS: &[Column] = &[
    Column::text("SEGMENT"),
    Column::number("ADDRESS"),
    Column::number("IN MEMORY"),
    Column::number("IN FILE"),
    Column::text("NOW/AT MOST"),
];
const LIBRARIES: &[Column] = &[
    Column::text("LIBRARY"),
    Column::text("VERSION"),
    Column::text("COMMAND"),
];
const EXPORTS: &[Column] = &[Column::number("ADDRESS"), Column::text("NAME")];
const IMPORTS: &[Column] = &[Column::text("NAME"), Column::text("LIBRARY")];

/// A row of [`SLICES`].
pub fn slice(slice: &binary::macho::Slice) -> [Cell; 4] {
    [
        slice.name().as_ref().into(),
        hex(slice.offset).into(),
        hex(slice.size).into(),
        slice.content.as_str().into(),
    ]
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

fn describe(record: &MachORecord<'_>, report: &mut Report) {
    report.title(record.path());
    report.fact("architecture", record.slice().name());
    if let Some(kind) = record.file_type() {
        report.fact("type", kind);
        let flags = record.flags();
        if !flags.is_empty() {
            report.fact("flags", flags.join(" "));
        }
    }
    if let Some(uuid) = record.uuid() {
        report.fact("uuid", uuid);
    }
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    if record.slices().len() > 1 {
        report.table("Slices", SLICES, |table| {
            for one in record.slices() {
                table.row(slice(one));
            }
        });
    }
    report.table("Libraries", LIBRARIES, |table| {
        for (path, kind, version) in record.dependencies() {
            table.row([path.as_ref().into(), version.into(), kind.into()]);
        }
    });
    report.table("Segments", SEGMENTS, |table| {
        for (name, address, memory, file, protection) in record.segments() {
            table.row([
                name.as_ref().into(),
                hex(address).into(),
                hex(memory).into(),
                hex(file).into(),
                protection.into(),
            ]);
        }
    });
    report.table("Exports", EXPORTS, |table| {
        for (name, address) in record.exports() {
            let address = address.map(hex).unwrap_or_default();
            table.row([address.into(), name.as_ref().into()]);
        }
    });
    report.table("Imports", IMPORTS, |table| {
        for (name, library) in record.imports() {
            let library = library.unwrap_or_default();
            table.row([name.as_ref().into(), library.as_ref().into()]);
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
