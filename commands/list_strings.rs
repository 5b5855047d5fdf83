//! `rea list-strings`: the text in a file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::binary::strings::{self, ScanOptions};
use rea::evidence::Record;
use rea::native::{
    NativeRecord, PROVIDER, Strings, StringsOptions, Target, list_strings, parse_address,
};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::inspect_artifact::{Detail, summary_needs_a_session};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::Column;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// List the strings of a file, with encodings, addresses and exact ranges
///
/// Looks through the whole file, also where no section stands, for runs of
/// printable characters and white space in ASCII, UTF-8 and UTF-16 of both
/// byte orders. Each has its address where the file maps it, its offset, its
/// length, and whether a NUL ends it. Files of unknown formats have strings
/// too; theirs have offsets only.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, application, or any other file
    pub path: PathBuf,

    /// Only the string at this address, or around it
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,

    /// Fewest characters of a string
    #[arg(short = 'n', long, value_name = "N", default_value_t = usual_min_length(),
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
    #[serde(default = "usual_min_length")]
    #[schemars(range(min = 1, max = 65_536))]
    pub min_length: u32,

    /// Only this encoding; may be given again [default: all]
    #[arg(long, value_name = "ENCODING")]
    #[serde(default)]
    pub encoding: Vec<Encoding>,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,

    /// How much of the record to deliver; `summary` needs a session
    #[arg(long, value_name = "DETAIL", default_value = "complete")]
    #[serde(default)]
    pub detail: Detail,
}

/// An encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Bytes below 0x80
    Ascii,
    /// UTF-8 with characters beyond ASCII
    #[value(name = "utf-8")]
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, lower byte first
    #[value(name = "utf-16le")]
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, higher byte first
    #[value(name = "utf-16be")]
    #[serde(rename = "utf-16be")]
    Utf16Be,
}

/// Shared with `search-strings`.
pub fn usual_min_length() -> u32 {
    ScanOptions::default().min_length
}

/// What counts as a string; shared with `search-strings`.
pub fn scan_options(min_length: u32, encodings: &[Encoding]) -> ScanOptions {
    let encodings: Vec<strings::Encoding> = match encodings {
        [] => strings::Encoding::ALL.into(),
        some => some
            .iter()
            .map(|encoding| match encoding {
                Encoding::Ascii => strings::Encoding::Ascii,
                Encoding::Utf8 => strings::Encoding::Utf8,
                Encoding::Utf16Le => strings::Encoding::Utf16Le,
                Encoding::Utf16Be => strings::Encoding::Utf16Be,
            })
            .collect(),
    };
    ScanOptions {
        min_length,
        encodings,
    }
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "list_strings",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea list-strings /bin/ls -n 8 | jq -r '.normalized_result[] | select(.string.encoding == \"utf-8\") | .value'";
    const TOOL: Form = Form::Same(Facts::LIST);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        if self.detail == Detail::Summary {
            return Err(summary_needs_a_session(&Self::OPERATION, PROVIDER.id));
        }
        let context = ui.context(Self::OPERATION.name);
        let address = self.address.as_deref();
        let options = StringsOptions {
            scan: scan_options(self.min_length, &self.encoding),
            address: address
                .map(|address| parse_address(address, context.operation))
                .transpose()?,
        };
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map_any(context))?;
        let record = ui.operate(&context, |context| list_strings(&mapped, &options, context))?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

const STRINGS: &[Column] = &[
    Column::number("ADDRESS"),
    Column::number("OFFSET"),
    Column::text("ENCODING"),
    Column::text("VALUE"),
];

/// Shared with `search-strings`.
pub fn describe(record: &NativeRecord<Strings<'_>>, report: &mut Report) {
    let strings = &record.result;
    report.title(record.path());
    report.fact("strings", strings.len().to_string());
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Strings", STRINGS, |table| {
        let shown = table.limit();
        for row in strings.iter().take(shown) {
            table.row([
                row.address
                    .map(|address| format!("{address:#x}"))
                    .unwrap_or_default()
                    .into(),
                format!("{:#x}", row.found.offset()).into(),
                row.found.encoding().as_str().into(),
                row.text.into_owned().into(),
            ]);
        }
        table.skip(strings.len().saturating_sub(shown) as u64);
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
