//! `rea catalog`: everything that this build offers, for programs.

use std::process::ExitCode;

use clap::{Arg, ArgAction, Args};
use rea::Result;
use rea::digest::Digest;
use rea::json::{Value as Json, WriteJson};
use rea::mcp::{Server, digested};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli;
use crate::host::{document, status, text};
use crate::mcp::{prompts, server, settings};
use crate::paint::Tone;
use crate::registry::{COMMANDS, Command, OutputKind, Row, find};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::Form;
use crate::ui::Ui;

/// Write the catalog of this build, for programs
///
/// Operations, commands, prompts and providers. For each operation that agents can call: its schemas, effects and
/// annotations, and the digest of all that. For each command: its options and
/// exit statuses. The digests in `catalog` are those that a server with the same
/// environment tells in `binary_session`; REA_MCP_OUTPUT_SCHEMA_PROFILE is part
/// of them. The same build writes the same bytes.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "catalog",
        family: Family::Host,
        effects: &[],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea catalog -o catalog.json";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let server = server(settings()?);
        let catalog = catalog(&server)?;
        ui.document(&context, &document(&catalog)?, |report| {
            describe(&catalog, report)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn catalog(server: &std::sync::Arc<Server>) -> Result<Value> {
    let status = status(server, None, Input::OPERATION.name)?;
    let mut operations = Vec::new();
    for tool in server.tools() {
        let mut row = digested(tool, server.settings.output_profile);
        let text: Json = document(&row)?;
        let digest = Digest::of_json(|w| text.write_json(w));
        if let Some(members) = row.as_object_mut() {
            members.insert("contract_sha256".to_owned(), digest.to_hex().into());
            let content = tool.returns_target_content.into();
            members.insert("returns_target_content".to_owned(), content);
            let command = find(tool.name).filter(|row| row.is_operation());
            members.insert("cli_command".to_owned(), command.map(Row::name).into());
        }
        operations.push(row);
    }
    let providers = status["analysis_provider_candidates"].as_array();
    let providers = providers.into_iter().flatten().map(|row| {
        json!({
            "provider": row["provider"],
            "availability": row["availability"],
            "operations": row["capabilities"],
        })
    });
    let shown = COMMANDS.iter().filter(|row| !row.hidden);
    Ok(json!({
        "package": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
        "output_schema_profile": server.settings.output_profile.as_str(),
        "catalog": {"counts": server.counts(), "digests": server.digests()},
        "operations": operations,
        "global_options": options(cli::lean().get_arguments()),
        "cli_commands": shown.map(command).collect::<Vec<_>>(),
        "prompts": prompts().listed(),
        "providers": providers.collect::<Vec<_>>(),
    }))
}

fn command(row: &Row) -> Value {
    let command = (row.define)(row.command());
    json!({
        "name": row.name(),
        "alias": row.alias,
        "operation": row.operation.name,
        "family": row.operation.family.title(),
        "purpose": row.purpose(),
        "effects": row.operation.effects.iter().copied().map(Effect::as_str).collect::<Vec<_>>(),
        "is_tool": !matches!(row.tool, Form::None),
        "input_schema": (row.input_schema)(),
        "options": options(command.get_arguments()),
        "exit_statuses": row.exit_statuses().into_iter().map(|(status, meaning)| json!({
            "status": status, "meaning": meaning,
        })).collect::<Vec<_>>(),
        "example": row.example,
    })
}

fn options<'a>(arguments: impl Iterator<Item = &'a Arg>) -> Vec<Value> {
    arguments
        .filter(|argument| !argument.is_hide_set())
        .map(|argument| {
            let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
            let values = argument.get_possible_values().into_iter();
            let values: Vec<String> = values
                .filter(|value| takes && !value.is_hide_set())
                .map(|value| value.get_name().to_owned())
                .collect();
            let defaults = argument.get_default_values().iter();
            let defaults = defaults.map(|value| value.to_string_lossy().into_owned());
            let name = argument.get_value_names().and_then(|names| names.first());
            json!({
                "name": argument.get_id().as_str(),
                "long": argument.get_long().map(|long| format!("--{long}")),
                "short": argument.get_short().map(|short| format!("-{short}")),
                "positional": argument.is_positional(),
                "required": argument.is_required_set(),
                "repeatable": matches!(argument.get_action(), ArgAction::Append),
                "value": name.filter(|_| takes).map(|name| name.as_str()),
                "values": values,
                "default": defaults.filter(|_| takes).collect::<Vec<_>>(),
                "help": argument.get_help().map(ToString::to_string),
            })
        })
        .collect()
}

const OPERATIONS: &[Column] = &[
    Column::text("OPERATION"),
    Column::text("SURFACE"),
    Column::text("EFFECTS"),
    Column::text("SHA-256"),
];

fn describe(catalog: &Value, report: &mut Report) {
    let digests = &catalog["catalog"]["digests"];
    report.title(format!("rea {}", env!("CARGO_PKG_VERSION")));
    for (name, member) in [
        ("tools", "tools_sha256"),
        ("prompts", "prompts_sha256"),
        ("providers", "providers_sha256"),
        ("combined", "combined_sha256"),
    ] {
        report.fact(name, text(&digests[member]));
    }
    let rows = || catalog["operations"].as_array().into_iter().flatten();
    let heading = format!("{} operations", rows().count());
    report.table(heading, OPERATIONS, |table| {
        for row in rows() {
            let effects = row["effects"].as_array().into_iter().flatten();
            let effects: Vec<&str> = effects.map(text).collect();
            let digest = text(&row["contract_sha256"]);
            table.row([
                Cell::toned(text(&row["name"]), Tone::Name),
                text(&row["surface"]).into(),
                effects.join(" ").into(),
                digest.get(..12).unwrap_or(digest).into(),
            ]);
        }
    });
}
