//! `rea list-names`: what has a name and an address.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::binary::demangle::demangle;
use rea::binary::name_text;
use rea::evidence::Record;
use rea::native::{Names, NativeRecord, PROVIDER, Target, list_names, parse_address};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::inspect_artifact::{Detail, summary_needs_a_session};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::Column;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// List the names that the file gives to addresses
///
/// Symbols of all tables, exports, and the slots and stubs of imports, by
/// address, mangled and as people write them. No names are made up for code
/// without one.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, or application
    pub path: PathBuf,

    /// Only the names of this address
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,

    /// How much of the record to deliver; `summary` needs a session
    #[arg(long, value_name = "DETAIL", default_value = "complete")]
    #[serde(default)]
    pub detail: Detail,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "list_names",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea list-names ./program | jq -r '.normalized_result[] | \"\\(.address) \\(.demangled // .value)\"'";
    const TOOL: Form = Form::Same(Facts::LIST);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        if self.detail == Detail::Summary {
            return Err(summary_needs_a_session(&Self::OPERATION, PROVIDER.id));
        }
        let context = ui.context(Self::OPERATION.name);
        let address = self.address.as_deref();
        let address = address
            .map(|address| parse_address(address, context.operation))
            .transpose()?;
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map(context))?;
        let record = ui.operate(&context, |context| list_names(&mapped, address, context))?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

const NAMES: &[Column] = &[
    Column::number("ADDRESS"),
    Column::text("TYPE"),
    Column::text("NAME"),
];

fn describe(record: &NativeRecord<Names<'_>>, report: &mut Report) {
    let names = &record.result;
    report.title(record.path());
    report.fact("names", names.len().to_string());
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Names", NAMES, |table| {
        let shown = table.limit();
        for row in names.iter().take(shown) {
            let name = match demangle(&row.name) {
                Some(demangled) => demangled.text,
                None => name_text(&row.name).into_owned(),
            };
            table.row([
                format!("{:#x}", row.address).into(),
                row.kind.as_ref().into(),
                name.into(),
            ]);
        }
        table.skip(names.len().saturating_sub(shown) as u64);
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
