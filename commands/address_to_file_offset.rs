//! `rea address-to-file-offset`: where the byte at an address stands.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::Record;
use rea::native::{Target, address_to_file_offset, parse_address};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{Command, OutputKind};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Tell where in the file the byte at an address stands
///
/// Addresses are those the file was linked for, as disassemblers show them. An
/// address that nothing is mapped at, that no byte of the file fills (.bss),
/// or about which mappings disagree is refused. In a universal file the offset
/// is that from the start of the file; the one in the slice is told too.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, or application
    pub path: PathBuf,

    /// Address, as 0x and hexadecimal digits
    pub address: String,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "address_to_file_offset",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea address-to-file-offset /bin/ls 0x4000 | jq .normalized_result.file_offset";
    const TOOL: Form = Form::Same(Facts::MEMORY);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let address = parse_address(&self.address, context.operation)?;
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map(context))?;
        let record = ui.operate(&context, |context| {
            address_to_file_offset(&mapped, address, context)
        })?;
        ui.evidence(&context, &record, |report| {
            let found = &record.result;
            report.title(record.path());
            report.fact("address", format!("{:#x}", found.address));
            report.fact(
                "file offset",
                format!("{:#x} ({})", found.file_offset, found.file_offset),
            );
            if let Some((base, inside)) = found.slice {
                report.fact("slice starts at", format!("{base:#x}"));
                report.fact("offset in slice", format!("{inside:#x}"));
            }
            report.fact("sha256", record.sha256().to_hex());
            report.fact("evidence", record.id().to_string());
            let said = record.limitations().iter().map(String::as_str);
            report.list("Limitations", said);
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
