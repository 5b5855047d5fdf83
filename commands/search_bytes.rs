//! `rea search-bytes`: where a pattern of bytes stands in memory.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::Record;
use rea::native::{Matches, NativeRecord, Target, search_bytes};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::Column;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Find a pattern of bytes in initialized memory
///
/// A pattern is pairs of hexadecimal digits, with white space between pairs
/// where wanted; ? stands for any digit: "48 8b ?5 ?? ?? 00". A mask of as
/// many pairs says which bits count. Matches that overlap are all told; none
/// crosses a gap between addresses.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, or application
    pub path: PathBuf,

    /// Bytes to look for
    pub pattern: String,

    /// Bits that must match, as pairs of hexadecimal digits
    #[arg(long, value_name = "MASK")]
    pub mask: Option<String>,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "search_bytes",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea search-bytes /bin/ls 'f3 0f 1e fa' | jq -r '.normalized_result[].address'";
    const TOOL: Form = Form::Same(Facts::MEMORY);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map(context))?;
        let record = ui.operate(&context, |context| {
            search_bytes(&mapped, &self.pattern, self.mask.as_deref(), context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

const MATCHES: &[Column] = &[
    Column::number("ADDRESS"),
    Column::number("OFFSET"),
    Column::text("BYTES"),
];

fn describe(record: &NativeRecord<Matches<'_>>, report: &mut Report) {
    report.title(record.path());
    report.fact("matches", record.result.len().to_string());
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Matches", MATCHES, |table| {
        let shown = table.limit();
        for (address, offset, bytes) in record.result.iter().take(shown) {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            table.row([
                format!("{address:#x}").into(),
                offset
                    .map(|offset| format!("{offset:#x}"))
                    .unwrap_or_default()
                    .into(),
                hex.join(" ").into(),
            ]);
        }
        table.skip(record.result.len().saturating_sub(shown) as u64);
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
