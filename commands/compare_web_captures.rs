//! `rea compare-web-captures`: what differs between two observations of a page.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::Source;
use rea::json::{Budget, Limits, Reader, Value};
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use rea::web::compare_captures::{self, Given};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::compare_artifacts::one_stream;
use crate::paint::Tone;
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::session;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Compare two observations of a page, or two runs of a scenario
///
/// A side is a JSON file: a record of inspect-web-page or of
/// capture-browser-scenario, its result alone, or an object `{"inspection":
/// ..., "webmcp": ... or null}`. Pages are compared in structure, scripts,
/// resources, declared tools, network, metadata, accessibility and storage;
/// scenarios step by step. What a side did not look at in full is unknown,
/// never unchanged. No page is opened.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The old side, `-` for standard input
    pub before: PathBuf,

    /// The new side, `-` for standard input
    pub after: PathBuf,

    /// Of scenarios: text to replace before it is compared, as JSON:
    /// `{"rules": [{"rule_id", "artifacts", "match", "replacement"}]}`
    #[arg(long = "normalization-json", value_name = "JSON")]
    #[serde(default)]
    pub normalization: Option<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: compare_captures::OPERATION,
        family: Family::Web,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea compare-web-captures before.json after.json";
    const TOOL: Form = Form::Own(Facts::DERIVED, session::COMPARE_CAPTURES);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        one_stream(Self::OPERATION.name, &self.before, &self.after)?;
        let context = ui.context(Self::OPERATION.name);
        let evidence = ui.operate(&context, |_| {
            let normalization = match &self.normalization {
                Some(text) => {
                    let value = Value::parse(text.as_bytes(), Limits::default());
                    let argument = &["normalization"];
                    Some(value.map_err(|error| {
                        error.into_argument_error(Self::OPERATION.name, argument)
                    })?)
                }
                None => None,
            };
            let before = Given::read(read(&self.before)?, "before")?;
            let after = Given::read(read(&self.after)?, "after")?;
            compare_captures::compare(before, after, normalization.as_ref())
        })?;
        ui.evidence(&context, &evidence, |report| {
            let names = [&self.before, &self.after].map(|path| display_path(path));
            report.title(format!("{} → {}", names[0], names[1]));
            report.fact("evidence", evidence.id().to_string());
            describe(evidence.normalized_result(), report);
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn read(path: &Path) -> Result<Value> {
    let source = Source::open(path)?;
    let name = source.name().to_owned();
    let mut reader = Reader::new(source, Limits::default());
    let value = reader.read_value(Budget::default());
    value
        .and_then(|value| reader.expect_end().map(|()| value))
        .map_err(|error| error.into_file_error(&name))
}

const ROWS: &[Column] = &[
    Column::text("WHERE"),
    Column::text("STATUS"),
    Column::text("WHAT"),
];

fn describe(result: &Value, report: &mut Report) {
    let word = |value: &Value, name: &str| {
        let found = value.get(name).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let status = word(result, "status");
    let tone = match status.as_str() {
        "unchanged" => Tone::Good,
        _ => Tone::Warn,
    };
    report.toned_fact("status", status, tone);
    report.table("Compared", ROWS, |table| {
        let dimensions = result.get("dimensions").and_then(Value::as_object);
        for (name, dimension) in dimensions
            .into_iter()
            .flat_map(|dimensions| dimensions.iter())
        {
            let changes = dimension.get("changes").and_then(Value::as_array);
            let reason = word(dimension, "reason");
            let what = match changes.unwrap_or_default().len() {
                0 => reason,
                changes => format!("{changes} differ"),
            };
            let name = String::from_utf8_lossy(name.as_bytes()).into_owned();
            table.row([
                Cell::from(name),
                word(dimension, "status").into(),
                what.into(),
            ]);
        }
        let steps = result.get("steps").and_then(Value::as_array);
        for step in steps.unwrap_or_default() {
            let artifacts = step.get("artifacts").and_then(Value::as_array);
            for artifact in artifacts.unwrap_or_default() {
                table.row([
                    Cell::from(word(step, "step_id")),
                    word(artifact, "status").into(),
                    word(artifact, "artifact").into(),
                ]);
            }
        }
    });
}
