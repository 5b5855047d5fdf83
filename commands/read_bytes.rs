//! `rea read-bytes`: bytes at an address.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::Record;
use rea::native::{BytesRead, MAX_READ, NativeRecord, Target, parse_address, read_bytes};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::Column;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Read bytes of initialized memory at an address
///
/// Reads what the loader would have in memory at the addresses the file was
/// linked for: the file's bytes, with relative relocations that carry an
/// addend and Mach-O's chained pointers applied. Ends at the first byte that
/// the file does not fill; nothing is padded with zeros.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, or application
    pub path: PathBuf,

    /// Address, as 0x and hexadecimal digits
    pub address: String,

    /// Bytes to read
    #[arg(default_value_t = LENGTH, value_parser = clap::value_parser!(u64).range(1..=MAX_READ))]
    #[serde(default = "usual_length")]
    #[schemars(range(min = 1, max = MAX_READ))]
    pub length: u64,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,
}

const LENGTH: u64 = 256;

fn usual_length() -> u64 {
    LENGTH
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "read_bytes",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea read-bytes /bin/ls 0x4000 64 | jq -r .normalized_result.bytes_hex";
    const TOOL: Form = Form::Same(Facts::MEMORY);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let address = parse_address(&self.address, context.operation)?;
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map(context))?;
        let record = ui.operate(&context, |context| {
            read_bytes(&mapped, address, self.length, context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

const BYTES: &[Column] = &[
    Column::number("ADDRESS"),
    Column::text("BYTES"),
    Column::text("TEXT"),
];

fn describe(record: &NativeRecord<BytesRead>, report: &mut Report) {
    let read = &record.result;
    report.title(record.path());
    report.fact("address", format!("{:#x}", read.address));
    report.fact(
        "bytes",
        format!("{} of {}", read.bytes.len(), read.requested),
    );
    if let Some(stop) = read.stop {
        report.fact("ends because", stop.reason());
    }
    if read.fixups > 0 {
        report.fact("relocated words", read.fixups.to_string());
    }
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Bytes", BYTES, |table| {
        let lines = read.bytes.chunks(16).zip((0u64..).step_by(16));
        for (line, offset) in lines {
            let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let printable = |&byte: &u8| match byte {
                b' '..=b'~' => char::from(byte),
                _ => '.',
            };
            table.row([
                format!("{:#x}", read.address.wrapping_add(offset)).into(),
                hex.join(" ").into(),
                line.iter().map(printable).collect::<String>().into(),
            ]);
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
