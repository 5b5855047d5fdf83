//! `rea capabilities`: which operations there are, and what one takes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::error::Error;
use rea::mcp::Takes;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::host::{document, identity, status, text};
use crate::mcp::{server, settings};
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
/// host, or for the file that --target names, with the reason if it is not; and
/// what this build is (its digests are those that a server tells). With the name of an operation: its
/// effects and the JSON Schema of its input, which is also what the
/// subcommand's flags are made from.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Operation to describe, such as `inspect_artifact`
    pub operation: Option<String>,

    /// File or application for which operations are to be available
    #[arg(long, value_name = "PATH", conflicts_with = "operation")]
    #[serde(default)]
    pub target: Option<PathBuf>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "capabilities",
        family: Family::Host,
        effects: &[Effect::Read],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea capabilities inspect_artifact --json";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let Some(name) = self.operation else {
            let server = server(settings()?);
            let status = ui.operate(&context, |context| {
                status(&server, self.target.as_deref(), context.operation)
            })?;
            let listed = listing(&status, &identity(&server));
            ui.document(&context, &document(&listed)?, |report| {
                list(&listed, report)
            })?;
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
        ui.document(&context, &document(&contract(row))?, |report| {
            describe(row, report)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn operations() -> impl Iterator<Item = &'static Row> {
    COMMANDS.iter().filter(|row| row.is_operation())
}

/// Why an operation cannot run here, or on the target that is open. Everything
/// that is built in runs wherever `rea` runs.
fn reason(row: &Row, status: &Value) -> Option<&'static str> {
    let binary = match row.tool {
        Form::Same(facts) | Form::Own(facts, _) => facts.takes == Takes::Binary,
        Form::None => false,
    };
    let unbound = status["open"] == true && status["analysis_provider_binding"].is_null();
    match row.operation.host_requirement {
        Some(reason) => Some(reason),
        None => (binary && unbound).then_some("target_unsupported"),
    }
}

const OPERATIONS: &[Column] = &[
    Column::text("OPERATION"),
    Column::text("EFFECTS"),
    Column::text("AVAILABLE"),
    Column::text("PURPOSE"),
];

fn list(listed: &Value, report: &mut Report) {
    let total = operations().count() as u64;
    let heading = format!(
        "rea {}: {}",
        env!("CARGO_PKG_VERSION"),
        counted(total, "operation", "operations")
    );
    let verdicts = listed["capabilities"].as_array().into_iter().flatten();
    report.table(heading, OPERATIONS, |table| {
        for (row, verdict) in operations().zip(verdicts) {
            table.row([
                Cell::toned(row.operation.name, Tone::Name),
                effects(row).into(),
                match verdict["available"] == true {
                    true => Cell::toned("yes", Tone::Good),
                    false => Cell::toned(text(&verdict["reason"]), Tone::Warn),
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

fn listing(status: &Value, identity: &Value) -> Value {
    let rows: Vec<Value> = operations()
        .map(|row| {
            let reason = reason(row, status);
            json!({
                "operation": row.operation.name,
                "available": reason.is_none(),
                "reason": reason.unwrap_or("available"),
            })
        })
        .collect();
    let available = rows.iter().filter(|row| row["available"] == true).count();
    json!({
        "open": status["open"],
        "summary": {
            "total": rows.len(),
            "available": available,
            "unavailable": rows.len() - available,
        },
        "capabilities": rows,
        "analysis_provider_binding": status["analysis_provider_binding"],
        "server_identity": identity,
    })
}

/// What one operation is and takes.
fn contract(row: &Row) -> Value {
    json!({
        "command": row.name(),
        "effects": row.operation.effects.iter().copied().map(Effect::as_str).collect::<Vec<_>>(),
        "input_schema": (row.input_schema)(),
        "operation": row.operation.name,
        "returns_target_content": row.operation.returns_target_content,
    })
}

const INPUTS: &[Column] = &[
    Column::text("INPUT"),
    Column::text("REQUIRED"),
    Column::text("WHAT"),
];

fn describe(row: &'static Row, report: &mut Report) {
    let schema = (row.input_schema)();
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
