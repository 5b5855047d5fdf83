//! `rea capabilities`: which operations there are, and what one takes.

use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::error::Error;
use rea::json::{WriteJson, Writer};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::paint::Tone;
use crate::quantity::counted;
use crate::registry::{COMMANDS, Command, OutputKind, Row, find};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::Form;
use crate::ui::Ui;

/// List the operations, whether they can run here, and what each takes
///
/// Without an operand: every operation and whether it is available on this
/// host, with the reason if it is not. With the name of an operation: its
/// effects and the JSON Schema of its input, which is also what the
/// subcommand's flags are made from.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Operation to describe, such as `inspect_artifact`
    pub operation: Option<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "capabilities",
        family: Family::Host,
        effects: &[],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea capabilities inspect_artifact --json";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let Some(name) = self.operation else {
            ui.document(&context, &Catalog, list)?;
            return Ok(ExitCode::SUCCESS);
        };
        let row = find(&name)
            .filter(|row| row.is_operation())
            .ok_or_else(|| {
                let message = format!("there is no operation called {name}");
                let issue = ["operation"];
                Error::invalid_request(Self::OPERATION.name, &issue, "invalid_value", message)
                    .action("`rea capabilities` lists the operations.")
            })?;
        ui.document(&context, &Contract(row), |report| describe(row, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn operations() -> impl Iterator<Item = &'static Row> {
    COMMANDS.iter().filter(|row| row.is_operation())
}

/// Everything that is built in runs wherever `rea` runs.
fn reason(row: &Row) -> Option<&'static str> {
    row.operation.host_requirement
}

const OPERATIONS: &[Column] = &[
    Column::text("OPERATION"),
    Column::text("EFFECTS"),
    Column::text("AVAILABLE"),
    Column::text("PURPOSE"),
];

fn list(report: &mut Report) {
    let total = operations().count() as u64;
    let heading = format!(
        "rea {}: {}",
        env!("CARGO_PKG_VERSION"),
        counted(total, "operation", "operations")
    );
    report.table(heading, OPERATIONS, |table| {
        for row in operations() {
            table.row([
                Cell::toned(row.operation.name, Tone::Name),
                effects(row).into(),
                match reason(row) {
                    None => Cell::toned("yes", Tone::Good),
                    Some(reason) => Cell::toned(reason, Tone::Warn),
                },
                row.purpose().into(),
            ]);
        }
    });
}

fn effects(row: &Row) -> String {
    let names: Vec<_> = row.operation.effects.iter().map(|e| e.as_str()).collect();
    names.join(" ")
}

/// The listing; members that belong to a session are null without one.
struct Catalog;

impl WriteJson for Catalog {
    fn write_json(&self, w: &mut Writer<'_>) {
        let total = operations().count() as u64;
        let available = operations().filter(|row| reason(row).is_none()).count() as u64;
        w.begin_object();
        w.key("analysis_provider_binding");
        w.null();
        w.key("capabilities");
        w.begin_array();
        for row in operations() {
            w.begin_object();
            w.key("available");
            w.bool(reason(row).is_none());
            w.key("operation");
            w.string(row.operation.name);
            w.key("reason");
            w.string(reason(row).unwrap_or("available"));
            w.end_object();
        }
        w.end_array();
        w.key("open");
        w.null();
        w.key("server_identity");
        write_identity(w);
        w.key("summary");
        w.begin_object();
        w.key("available");
        w.u64(available);
        w.key("total");
        w.u64(total);
        w.key("unavailable");
        w.u64(total - available);
        w.end_object();
        w.end_object();
    }
}

fn write_identity(w: &mut Writer<'_>) {
    let name_and_version = |w: &mut Writer<'_>| {
        w.begin_object();
        w.key("name");
        w.string(env!("CARGO_PKG_NAME"));
        w.key("version");
        w.string(env!("CARGO_PKG_VERSION"));
        w.end_object();
    };
    w.begin_object();
    w.key("alignment");
    w.begin_object();
    w.key("reasons");
    w.begin_array();
    w.end_array();
    w.key("remediation");
    w.null();
    w.key("state");
    // Nothing was expected of this process, so nothing can be said to agree.
    w.string("unknown");
    w.end_object();
    w.key("catalog");
    w.begin_object();
    w.key("counts");
    w.begin_object();
    w.key("cli_commands");
    w.u64(COMMANDS.iter().filter(|row| !row.hidden).count() as u64);
    w.end_object();
    w.end_object();
    w.key("package");
    name_and_version(w);
    w.key("server");
    name_and_version(w);
    w.end_object();
}

/// What one operation is and takes.
struct Contract(&'static Row);

impl WriteJson for Contract {
    fn write_json(&self, w: &mut Writer<'_>) {
        let Self(row) = self;
        w.begin_object();
        w.key("command");
        w.string(&row.name());
        w.key("effects");
        w.begin_array();
        for effect in row.operation.effects {
            w.string(Effect::as_str(*effect));
        }
        w.end_array();
        w.key("input_schema");
        write_schema(&(row.input_schema)().to_value(), w);
        w.key("operation");
        w.string(row.operation.name);
        w.key("returns_target_content");
        w.bool(row.operation.returns_target_content);
        w.end_object();
    }
}

/// Schemas are ours: shallow, and with names that sort alike in UTF-8 and
/// UTF-16.
fn write_schema(value: &serde_json::Value, w: &mut Writer<'_>) {
    match value {
        serde_json::Value::Null => w.null(),
        serde_json::Value::Bool(value) => w.bool(*value),
        serde_json::Value::Number(number) => match number.as_u64() {
            Some(number) => w.u64(number),
            None => w.number(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => w.string(text),
        serde_json::Value::Array(items) => {
            w.begin_array();
            for item in items {
                write_schema(item, w);
            }
            w.end_array();
        }
        serde_json::Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|member| member.0);
            w.begin_object();
            for (name, value) in members {
                w.key_text(name.as_bytes());
                write_schema(value, w);
            }
            w.end_object();
        }
    }
}

const INPUTS: &[Column] = &[
    Column::text("INPUT"),
    Column::text("REQUIRED"),
    Column::text("WHAT"),
];

fn describe(row: &'static Row, report: &mut Report) {
    let schema = (row.input_schema)().to_value();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    report.title(row.operation.name);
    report.fact("command", format!("rea {}", row.name()));
    report.fact("purpose", row.purpose());
    report.fact("effects", effects(row));
    report.table("Inputs", INPUTS, |table| {
        let required = &schema["required"];
        let is_required = |name: &str| {
            required
                .as_array()
                .is_some_and(|all| all.iter().any(|r| r == name))
        };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            table.row([
                Cell::toned(name.as_str(), Tone::Name),
                if is_required(name) { "yes" } else { "no" }.into(),
                text(&property["description"]).into(),
            ]);
        }
    });
}
