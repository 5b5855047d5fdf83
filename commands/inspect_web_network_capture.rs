//! `rea inspect-web-network-capture`: what a recording of web traffic holds.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::evidence::Record;
use rea::json::Text;
use rea::operation::{Effect, Family, Operation};
use rea::web::har::{self, CaptureRecord, Options};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::quantity::{ByteSize, counted, human_bytes};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::Column;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Read a recording of web traffic (HAR), without credentials
///
/// Reads HAR 1.2, also compressed with gzip, and checks all of it before
/// anything is selected. Records stand in the Evidence as their producer wrote
/// them, with every number's digits and base64 content beside them. Cookies,
/// authorization headers and passwords in addresses are left out; name other
/// secrets with --sensitive-value. Nothing is fetched. `rea view --api-surface`
/// shows which operations a HAR holds.
///
/// Flows in mitmproxy's own format need mitmproxy's own program, on Linux:
/// REA_MITMDUMP_COMMAND is the absolute path of mitmdump 12.2.3. It is started
/// with limits of memory, time and output, without the environment, and reads a
/// copy; the record holds what it wrote, byte for byte. No other format starts
/// a program.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The capture, a regular file
    pub capture_path: PathBuf,

    /// What it is
    // The output options have a `format` too.
    #[arg(id = "capture_format", value_name = "FORMAT")]
    pub format: CaptureFormat,

    /// Only this record, counted from 0; may be given again, in the wanted
    /// order [default: all]
    #[arg(long = "record", value_name = "N",
          value_parser = clap::value_parser!(u64).range(..=rea::json::MAX_SAFE_INTEGER))]
    #[serde(default)]
    pub record_ordinals: Option<Vec<u64>>,

    /// Leave out whatever holds this text; may be given again
    #[arg(long = "sensitive-value", value_name = "TEXT")]
    #[serde(default)]
    pub sensitive_values: Vec<String>,

    /// Bytes of the capture at most, also once it is unpacked
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_bytes())]
    #[serde(default = "usual_max_bytes")]
    pub max_capture_bytes: ByteSize,
}

/// A format of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaptureFormat {
    /// HTTP Archive 1.2, plain or .har.gz
    Har,
    /// Flows of mitmproxy in its own format, read with the mitmdump 12.2.3 that REA_MITMDUMP_COMMAND names
    Mitmproxy,
}

fn usual_max_bytes() -> ByteSize {
    ByteSize(har::MAX_BYTES)
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: har::OPERATION,
        family: Family::Web,
        effects: &[Effect::Read, Effect::Run],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea inspect-web-network-capture session.har har -o capture.json";
    const TOOL: Form = Form::Same(Facts {
        surface: "browser-provider",
        effects: Facts::DECODED,
        first_page: Some(r#"{"kind":"api-surface","offset":0,"limit":64}"#),
        ..Facts::DERIVED
    });

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let options = Options {
            record_ordinals: self.record_ordinals,
            sensitive_values: self.sensitive_values.into_iter().map(Text::from).collect(),
            max_bytes: self.max_capture_bytes.0,
            mitmdump: std::env::var_os(har::MITMDUMP_SETTING).map(PathBuf::from),
        };
        let path = &self.capture_path;
        let record = ui.operate(&context, |context| match self.format {
            CaptureFormat::Har => har::inspect(path, &options, context),
            CaptureFormat::Mitmproxy => har::inspect_flows(path, &options, context),
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

const RECORDS: &[Column] = &[
    Column::number("RECORD"),
    Column::text("METHOD"),
    Column::number("STATUS"),
    Column::text("TYPE"),
    Column::text("ADDRESS"),
];

fn describe(record: &CaptureRecord, report: &mut Report) {
    report.title(match record.path() {
        "" => "capture",
        path => path,
    });
    report.fact("format", record.format());
    report.fact("size", human_bytes(record.bytes()));
    if let Some(sha256) = record.sha256() {
        report.fact("sha256", sha256.to_hex());
    }
    report.fact(
        "records",
        counted(record.total_records(), "record", "records"),
    );
    report.fact("evidence", record.id().to_string());
    let shown = |text: Option<String>| text.unwrap_or_else(|| "(not shown)".to_owned());
    report.table("Records", RECORDS, |table| {
        for row in record.rows() {
            table.row([
                row.ordinal.to_string().into(),
                shown(row.method).into(),
                shown(row.status).into(),
                shown(row.mime_type).into(),
                shown(row.url).into(),
            ]);
        }
    });
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}
