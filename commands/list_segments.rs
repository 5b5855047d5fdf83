//! `rea list-segments`: what the loader maps of an executable.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::Record;
use rea::native::{NativeRecord, SegmentRow, Segments, Target, list_segments};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Column, Table};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// List what the loader maps, with permissions and sections
///
/// Segments of ELF and Mach-O and sections of PE by address, each with its
/// place in the file, what it may be used for and the field that says so.
/// Ends are exclusive. Given an application (.app), its executable is meant.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, or application
    pub path: PathBuf,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "list_segments",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea list-segments /bin/ls | jq '.normalized_result[] | select(.executable)'";
    const TOOL: Form = Form::Same(Facts::MEMORY);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map(context))?;
        let record = ui.operate(&context, |context| list_segments(&mapped, context))?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

const SEGMENTS: &[Column] = &[
    Column::number("START"),
    Column::number("END"),
    Column::text("MAY"),
    Column::number("OFFSET"),
    Column::number("IN FILE"),
    Column::text("NAME"),
];

fn describe(record: &NativeRecord<Segments>, report: &mut Report) {
    report.title(record.path());
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Segments", SEGMENTS, |table| {
        for segment in &record.result {
            row(segment, "", table);
            for section in &segment.sections {
                row(section, "  ", table);
            }
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}

fn row(one: &SegmentRow, indent: &str, table: &mut Table) {
    let may = one.permissions.map_or_else(String::new, |may| {
        [(may.read, 'r'), (may.write, 'w'), (may.execute, 'x')]
            .map(|(set, letter)| if set { letter } else { '-' })
            .iter()
            .collect()
    });
    table.row([
        format!("{:#x}", one.start).into(),
        format!("{:#x}", one.end).into(),
        may.into(),
        format!("{:#x}", one.file.0).into(),
        format!("{:#x}", one.file.1).into(),
        format!("{indent}{}", one.name).into(),
    ]);
}
