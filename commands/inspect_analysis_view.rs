//! `rea inspect-analysis-view`: a part of a record, asked for by a request.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::evidence::Source;
use rea::json::{Budget, Limits, ReadError, ReadErrorKind, Reader, Value};
use rea::operation::{Effect, Family, Operation};
use rea::view::{self, NothingRetained, Request};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::quantity::ByteSize;
use crate::registry::{Command, OutputKind};
use crate::session;
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use crate::view::{describe_view, usual_max_input_bytes};

/// Select facts from a record, as a request file says
///
/// The request is a JSON object with two members. `source` is where the
/// record is: `{"kind": "evidence-file", "path": FILE}`, or the record itself
/// in `{"kind": "inline", "evidence": RECORD}`. `view` is what to select:
/// `{"kind": "summary"}`, or a page of an inventory in `{"kind": "inventory",
/// "collection": "nodes", "occurrences", "edges" or "integrity_contradictions",
/// "offset": 0, "limit": 64}`, for occurrences also `"logical_paths": [PATH,
/// ...]`, or a part of a module in `{"kind": "wasm", "facet": "sections",
/// "imports", "exports", "candidates", "glue", "wat", "headers", "details" or
/// "tool_profile", "offset": 0, "limit": 64}`, or what a web capture shows in
/// `{"kind": "api-surface", "environment-manifest" or "environment-state",
/// "template_rules": []}`. The record is checked first; nothing is run or opened again. The
/// same record and view give the same id, whatever the source's form.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File of the request, `-` for standard input
    pub request: PathBuf,

    /// Bytes to read of the request and of the record at most
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_input_bytes())]
    #[serde(default = "usual_max_input_bytes")]
    pub max_input_bytes: ByteSize,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: view::OPERATION,
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea inspect-analysis-view request.json --json";
    const TOOL: Form = Form::Own(Facts::VIEW, session::VIEW);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let limits = Limits {
            max_input_bytes: self.max_input_bytes.0,
            ..Limits::default()
        };
        let record = ui.operate(&context, |context| {
            let request = Request::parse(self.read(limits)?).map_err(explained)?;
            if request.reads_standard_input() && self.request.as_os_str() == "-" {
                return Err(one_standard_input());
            }
            view::inspect(request, &NothingRetained, limits, context)
        })?;
        ui.evidence(&context, &record, |report| describe_view(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Input {
    fn read(&self, limits: Limits) -> Result<Value> {
        let source = Source::open(&self.request)?;
        let name = source.name().to_owned();
        let mut reader = Reader::new(source, limits);
        reader
            .read_value(Budget::default())
            .and_then(|value| reader.expect_end().map(|()| value))
            .map_err(|error| match error.kind() {
                ReadErrorKind::Io(_) | ReadErrorKind::Resource { .. } => {
                    error.into_file_error(&name)
                }
                _ => no_request(&name, &error),
            })
    }
}

const FORM: &str = "`rea inspect-analysis-view --help` shows the form of a request.";

/// The request is no JSON.
fn no_request(name: &str, error: &ReadError) -> Error {
    let message = format!("{name} is no request: {error}");
    Error::invalid_request(view::OPERATION, &["request"], "invalid_format", message)
        .action(format!(
            "Give a file of one JSON object with the members source and view; {FORM}"
        ))
        .detail("path", name)
}

/// The request is JSON and no request.
fn explained(error: Error) -> Error {
    if error.has_remedy() {
        return error;
    }
    error.action(format!("Correct the request; {FORM}"))
}

fn one_standard_input() -> Error {
    let message = "standard input holds the request, so that the record cannot come from it too";
    Error::invalid_request(
        view::OPERATION,
        &["source", "path"],
        "invalid_value",
        message,
    )
    .action("Put the request or the record into a file, or the record into the request (`inline`).")
}
