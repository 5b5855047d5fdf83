//! `rea list-architectures`: the slices of a Mach-O file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::binary::macho::{ArchitecturesRecord, list_architectures};
use rea::evidence::Record;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::inspect_macho::{SLICES, read, slice};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// List the architectures of a Mach-O file
///
/// Tells the slices of a universal file in the order of its table, with names
/// as Apple's tools give them; a thin file has one. Slices may hold static
/// libraries or something else than Mach-O. The name of a slice is what
/// --architecture of other commands takes.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Mach-O file, or an app folder
    pub path: PathBuf,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "list_architectures",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea list-architectures Some.app | jq -r '.normalized_result.architectures.items[].name'";
    const TOOL: Form = Form::Same(Facts::STRUCTURE);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let file = ui.operate(&context, |context| read(&self.path, context))?;
        let record = ui.operate(&context, |context| list_architectures(&file, context))?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(record: &ArchitecturesRecord<'_>, report: &mut Report) {
    report.title(record.path());
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Slices", SLICES, |table| {
        for one in record.slices() {
            table.row(slice(one));
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
