//! `rea providers`: who can analyse.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::host::{document, identity, status, text};
use crate::mcp::{server, settings};
use crate::paint::Tone;
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::Form;
use crate::ui::Ui;

/// List the providers of analysis and which of them takes a target
///
/// The built-in engine is one; it needs no other program. With --target, the
/// file is opened as a session opens it, and the provider that it gets is said
/// (REA_ANALYSIS_PROVIDER chooses, else the only one that takes it).
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File or application to choose a provider for
    #[arg(long, value_name = "PATH")]
    #[serde(default)]
    pub target: Option<PathBuf>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "providers",
        family: Family::Host,
        effects: &[Effect::Read],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea providers --target /bin/ls";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let server = server(settings()?);
        let status = ui.operate(&context, |context| {
            status(&server, self.target.as_deref(), context.operation)
        })?;
        let value = json!({
            "open": status["open"],
            "provider": status["provider"],
            "providers": status["providers"],
            "analysis_provider_binding": status["analysis_provider_binding"],
            "analysis_provider_candidates": status["analysis_provider_candidates"],
            "server_identity": identity(&server),
        });
        ui.document(&context, &document(&value)?, |report| {
            describe(&value, report)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

const PROVIDERS: &[Column] = &[
    Column::text("PROVIDER"),
    Column::text("VERSION"),
    Column::text("AVAILABLE"),
    Column::text("TARGET"),
    Column::text("CHOSEN"),
    Column::text("REASON"),
];

fn describe(value: &Value, report: &mut Report) {
    report.table("Providers", PROVIDERS, |table| {
        let rows = value["analysis_provider_candidates"].as_array();
        for row in rows.into_iter().flatten() {
            let (state, target) = (&row["availability"], &row["target_support"]);
            let unavailable = state["status"] != "available";
            table.row([
                Cell::toned(text(&row["provider"]["id"]), Tone::Name),
                text(&row["provider"]["version"]).into(),
                text(&state["status"]).into(),
                text(&target["status"]).into(),
                if row["selected"] == true { "yes" } else { "no" }.into(),
                text(&if unavailable { state } else { target }["reason"]).into(),
            ]);
        }
    });
}
