//! `rea`: the command line. One file per subcommand, on top of the library.

mod address_to_file_offset;
mod artifact_options;
mod bundle;
mod bundle_options;
mod capabilities;
mod capture;
mod catalog;
mod cli;
mod compare_api_surfaces;
mod compare_artifacts;
mod compare_bundles;
mod compare_web_captures;
mod compare_web_screenshots;
mod completions;
mod demangle;
mod demangle_swift;
mod diff;
mod doctor;
mod environment_serve;
mod errors;
mod evidence_export;
mod evidence_import;
mod extract_artifact;
mod generate;
mod host;
mod inspect_analysis_view;
mod inspect_artifact;
mod inspect_binary_layout;
mod inspect_evidence_bundle;
mod inspect_macho;
mod inspect_plist;
mod inspect_wasm_artifact;
mod inspect_web_network_capture;
mod inventory_artifact;
mod list_architectures;
mod list_names;
mod list_segments;
mod list_strings;
mod list_unknowns;
mod macho_view;
mod mcp;
mod native_view;
mod output;
mod paint;
mod progress;
mod providers;
mod quantity;
mod read_bytes;
mod record_unknown;
mod recursive;
mod registry;
mod report;
mod retained;
mod search_bytes;
mod search_strings;
mod session;
mod setup;
mod shown;
mod signals;
mod table;
mod tool;
mod ui;
mod uninstall;
mod unknown_options;
mod update_unknown;
mod verify_evidence;
mod verify_unknown_resolution;
mod view;
mod wasm_view;
mod web_view;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::cli::Early;
use crate::errors::{ErrorStyle, USAGE};
use crate::paint::Paint;
use crate::ui::Ui;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let early = Early::of(&arguments);
    let stderr_is_terminal = io::stderr().is_terminal();
    let style = ErrorStyle {
        json: early.json || !stderr_is_terminal,
        paint: Paint::new(early.color.applies(stderr_is_terminal)),
        width: errors::width(stderr_is_terminal),
    };
    match run(&arguments, style) {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => {
            errors::say(&error, style);
            ExitCode::from(error.exit_status())
        }
        Err(refused) => refuse(&refused, &arguments, &early, style),
    }
}

/// The outer error is clap's: a refused command line, or a page of help.
fn run(
    arguments: &[OsString],
    style: ErrorStyle,
) -> Result<Result<ExitCode, rea::Error>, clap::Error> {
    let matches = cli::lean().try_get_matches_from(arguments)?;
    let chosen = matches
        .subcommand()
        .and_then(|(name, matches)| Some((registry::find(name)?, matches)));
    let Some((row, matches)) = chosen else {
        return Err(cli::lean().error(ErrorKind::MissingSubcommand, "a subcommand is needed"));
    };
    (row.run)(matches, &Ui::new(matches, row.output, style)?)
}

fn refuse(
    refused: &clap::Error,
    arguments: &[OsString],
    early: &Early,
    style: ErrorStyle,
) -> ExitCode {
    match refused.kind() {
        ErrorKind::DisplayVersion => page(refused, early),
        // Parsed with the lean definition, which has no texts to show.
        ErrorKind::DisplayHelp => match cli::full().try_get_matches_from(arguments) {
            Err(help) => page(&help, early),
            Ok(_) => ExitCode::SUCCESS,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !style.json => {
            let help = cli::full().render_help();
            let text = if style.paint.is_on() {
                help.ansi().to_string()
            } else {
                help.to_string()
            };
            let _ = io::stderr().write_all(text.as_bytes());
            ExitCode::from(USAGE)
        }
        _ => {
            errors::say(&errors::usage(refused, early.operation), style);
            ExitCode::from(USAGE)
        }
    }
}

/// Writes help or the version. A closed pipe is no error.
fn page(page: &clap::Error, early: &Early) -> ExitCode {
    let rendered = page.render();
    let text = if early.color.applies(io::stdout().is_terminal()) {
        rendered.ansi().to_string()
    } else {
        rendered.to_string()
    };
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    ExitCode::SUCCESS
}
