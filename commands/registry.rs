//! The table of commands. A row is data: help, man pages, completions,
//! `rea capabilities`, the tools of a session and dispatch are made from it.

use std::process::ExitCode;

use clap::{ArgMatches, Args};
use rea::Result;
use rea::mcp::Arguments;
use rea::operation::{Family, Operation};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::output::{FormOptions, OutputOptions};
use crate::tool::{self, Form};
use crate::ui::Ui;
use crate::{
    address_to_file_offset, bundle, capabilities, catalog, compare_api_surfaces, compare_artifacts,
    compare_bundles, compare_web_captures, compare_web_screenshots, completions, demangle,
    demangle_swift, diff, doctor, environment_serve, evidence_export, evidence_import,
    extract_artifact, generate, inspect_analysis_view, inspect_artifact, inspect_binary_layout,
    inspect_evidence_bundle, inspect_macho, inspect_plist, inspect_wasm_artifact,
    inspect_web_network_capture, inventory_artifact, list_architectures, list_names, list_segments,
    list_strings, list_unknowns, mcp, providers, read_bytes, record_unknown, search_bytes,
    search_strings, setup, uninstall, update_unknown, verify_evidence, verify_unknown_resolution,
    view,
};

/// What a command's file provides, on its input struct. The struct's doc
/// comment is the command's help, its fields are the flags and the schema.
pub trait Command: Args + JsonSchema + DeserializeOwned {
    /// The operation as data; its name in kebab case is the subcommand's.
    const OPERATION: Operation;
    /// The subcommand's name, where it is not the operation's in kebab case.
    const SUBCOMMAND: Option<&'static str> = None;
    /// What reaches stdout; decides which output options there are.
    const OUTPUT: OutputKind;
    /// A real command line, shown in the help.
    const EXAMPLE: &'static str;
    /// Exit statuses beyond those that every command has.
    const EXIT_STATUS: &'static [(u8, &'static str)] = &[];
    /// Another name of the subcommand.
    const ALIAS: Option<&'static str> = None;
    /// Left out of listings.
    const HIDDEN: bool = false;
    /// Whether and how a session offers it as a tool.
    const TOOL: Form;

    /// Does the work. Comparisons may exit with a status of their own.
    fn run(self, ui: &Ui) -> Result<ExitCode>;
}

/// What a command writes to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Evidence or another JSON document, with all output options.
    Document,
    /// A JSON document that says what was done; it goes to stdout alone.
    Result,
    /// Text in a form of its own.
    Text,
}

/// One command.
pub struct Row {
    /// The operation as data.
    pub operation: Operation,
    /// What reaches stdout.
    pub output: OutputKind,
    /// Another name of the subcommand.
    pub alias: Option<&'static str>,
    subcommand: Option<&'static str>,
    /// Left out of listings.
    pub hidden: bool,
    /// A real command line.
    pub example: &'static str,
    /// Exit statuses beyond those that every command has.
    exit_status: &'static [(u8, &'static str)],
    /// Adds arguments and help to an empty clap command.
    pub define: fn(clap::Command) -> clap::Command,
    /// Parses the matches and runs; the outer error is a usage error.
    pub run: fn(&ArgMatches, &Ui) -> Result<Result<ExitCode>, clap::Error>,
    /// The JSON Schema of the operation's input.
    pub input_schema: fn() -> serde_json::Value,
    /// Whether and how a session offers it as a tool.
    pub tool: Form,
    /// Runs it with arguments in JSON.
    pub same: fn(Arguments, &Ui) -> Result<()>,
}

impl Row {
    const fn of<C: Command>() -> Self {
        Self {
            operation: C::OPERATION,
            output: C::OUTPUT,
            alias: C::ALIAS,
            subcommand: C::SUBCOMMAND,
            hidden: C::HIDDEN,
            example: C::EXAMPLE,
            exit_status: C::EXIT_STATUS,
            define: define::<C>,
            run: |matches, ui| Ok(C::from_arg_matches(matches)?.run(ui)),
            input_schema: input_schema::<C>,
            tool: C::TOOL,
            same: tool::same::<C>,
        }
    }

    /// The subcommand's name.
    pub fn name(&self) -> String {
        match self.subcommand {
            Some(name) => name.to_owned(),
            None => self.operation.name.replace('_', "-"),
        }
    }

    /// The subcommand, as yet without arguments.
    pub fn command(&self) -> clap::Command {
        let command = clap::Command::new(self.name()).hide(self.hidden);
        match self.alias {
            Some(alias) => command.visible_alias(alias),
            None => command,
        }
    }

    /// What it is for, in one line.
    pub fn purpose(&self) -> String {
        let command = (self.define)(clap::Command::new(self.name()));
        command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// What it is for, at length.
    pub fn description(&self) -> String {
        let command = (self.define)(clap::Command::new(self.name()));
        let text = command.get_long_about().or_else(|| command.get_about());
        text.map(ToString::to_string).unwrap_or_default()
    }

    /// All exit statuses with their meanings, in order.
    pub fn exit_statuses(&self) -> Vec<(String, &'static str)> {
        exit_statuses(self.exit_status)
    }

    /// Whether this is an operation on targets, not about `rea` itself.
    pub fn is_operation(&self) -> bool {
        self.operation.family != Family::Host
    }
}

/// All commands, in the order in which help lists them.
pub static COMMANDS: &[Row] = &[
    Row::of::<inspect_artifact::Input>(),
    Row::of::<diff::Input>(),
    Row::of::<view::Input>(),
    Row::of::<inventory_artifact::Input>(),
    Row::of::<extract_artifact::Input>(),
    Row::of::<compare_artifacts::Input>(),
    Row::of::<inspect_plist::Input>(),
    Row::of::<inspect_binary_layout::Input>(),
    Row::of::<inspect_macho::Input>(),
    Row::of::<list_architectures::Input>(),
    Row::of::<inspect_wasm_artifact::Input>(),
    Row::of::<list_segments::Input>(),
    Row::of::<list_names::Input>(),
    Row::of::<list_strings::Input>(),
    Row::of::<search_strings::Input>(),
    Row::of::<search_bytes::Input>(),
    Row::of::<read_bytes::Input>(),
    Row::of::<address_to_file_offset::Input>(),
    Row::of::<demangle::Input>(),
    Row::of::<demangle_swift::Input>(),
    Row::of::<inspect_web_network_capture::Input>(),
    Row::of::<environment_serve::Input>(),
    Row::of::<compare_api_surfaces::Input>(),
    Row::of::<compare_web_captures::Input>(),
    Row::of::<compare_web_screenshots::Input>(),
    Row::of::<verify_evidence::Input>(),
    Row::of::<bundle::Input>(),
    Row::of::<evidence_import::Input>(),
    Row::of::<evidence_export::Input>(),
    Row::of::<inspect_evidence_bundle::Input>(),
    Row::of::<compare_bundles::Input>(),
    Row::of::<record_unknown::Input>(),
    Row::of::<update_unknown::Input>(),
    Row::of::<list_unknowns::Input>(),
    Row::of::<verify_unknown_resolution::Input>(),
    Row::of::<inspect_analysis_view::Input>(),
    Row::of::<mcp::Input>(),
    Row::of::<setup::Input>(),
    Row::of::<uninstall::Input>(),
    Row::of::<doctor::Input>(),
    Row::of::<providers::Input>(),
    Row::of::<capabilities::Input>(),
    Row::of::<catalog::Input>(),
    Row::of::<completions::Input>(),
    Row::of::<generate::Input>(),
];

fn input_schema<C: Command>() -> serde_json::Value {
    let mut schema = schemars::SchemaGenerator::default()
        .into_root_schema_for::<C>()
        .to_value();
    rea::mcp::without_null(&mut schema);
    if let Some(members) = schema.as_object_mut() {
        members.insert("title".to_owned(), C::OPERATION.name.into());
    }
    schema
}

fn define<C: Command>(command: clap::Command) -> clap::Command {
    let command = C::augment_args(command);
    let command = match C::OUTPUT {
        OutputKind::Document => OutputOptions::augment_args(command),
        OutputKind::Result => FormOptions::augment_args(command),
        OutputKind::Text => command,
    };
    let mut after = format!("Example:\n  {}\n\nExit status:", C::EXAMPLE);
    for (status, meaning) in exit_statuses(C::EXIT_STATUS) {
        after.push_str(&format!("\n  {status:<5}  {meaning}"));
    }
    command.after_long_help(after)
}

fn exit_statuses(own: &[(u8, &'static str)]) -> Vec<(String, &'static str)> {
    let mut all: Vec<_> = EXIT_STATUS.iter().chain(own).copied().collect();
    all.sort_unstable();
    let named = all
        .into_iter()
        .map(|(status, meaning)| (status.to_string(), meaning));
    named
        .chain([("128+N".to_owned(), "ended by signal N")])
        .collect()
}

/// What every command may exit with.
const EXIT_STATUS: &[(u8, &str)] = &[
    (0, "done; unknowns and limitations are results"),
    (1, "failed; the reason is on stderr"),
    (2, "the command line cannot be understood"),
];

/// The row of a subcommand, its alias, or an operation name.
pub fn find(name: &str) -> Option<&'static Row> {
    let same = |row: &&Row| {
        if row.subcommand == Some(name) {
            return true;
        }
        let known = row.operation.name;
        known.len() == name.len()
            && known
                .bytes()
                .zip(name.bytes())
                .all(|(known, given)| known == given || (known == b'_' && given == b'-'))
    };
    let alias = |row: &&Row| row.alias == Some(name);
    COMMANDS.iter().find(|row| same(row) || alias(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_by_either_name() {
        for name in ["inspect_artifact", "inspect-artifact"] {
            assert_eq!(
                find(name).map(Row::name).as_deref(),
                Some("inspect-artifact")
            );
        }
        for name in ["diff", "diff_artifacts"] {
            assert_eq!(find(name).map(Row::name).as_deref(), Some("diff"));
        }
        assert!(find("inspect").is_none() && find("").is_none());
    }

    #[test]
    fn every_command_has_a_purpose_an_example_and_a_name_of_its_own() {
        for (at, row) in COMMANDS.iter().enumerate() {
            let purpose = row.purpose();
            assert!(
                !purpose.is_empty() && !purpose.ends_with('.'),
                "{purpose:?}"
            );
            assert!(row.example.starts_with(&format!("rea {}", row.name())));
            assert!(
                COMMANDS[..at]
                    .iter()
                    .all(|other| other.operation.name != row.operation.name)
            );
        }
    }

    #[test]
    fn flags_and_schema_are_the_same_inputs() {
        for row in COMMANDS {
            let command = (row.define)(clap::Command::new("x"));
            let schema = (row.input_schema)();
            let properties = schema["properties"].as_object();
            for (name, _) in properties.into_iter().flatten() {
                let known = command
                    .get_arguments()
                    .any(|arg| arg.get_id() == name.as_str());
                assert!(known, "{} has no flag {name}", row.name());
            }
            assert_eq!(schema["additionalProperties"], false, "{}", row.name());
            assert_eq!(schema["title"], row.operation.name);
        }
    }
}
