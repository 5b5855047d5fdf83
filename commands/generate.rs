//! `rea generate`, hidden: prints the man pages and completion scripts that
//! packagers install. They are checked in; a test holds them against this.

use std::process::ExitCode;

use clap::Args;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use rea::operation::{Family, Operation};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli;
use crate::completions::{Shell, script};
use crate::registry::{COMMANDS, Command, OutputKind, Row};
use crate::tool::Form;
use crate::ui::Ui;

/// Print a generated file of the source tree, or the names of all
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File to print, such as `man/rea.1`
    pub file: Option<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "generate",
        family: Family::Host,
        effects: &[],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Text;
    const EXAMPLE: &'static str = "rea generate man/rea.1";
    const TOOL: Form = Form::None;
    const HIDDEN: bool = true;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let files = files();
        let text = match self.file {
            None => files
                .into_iter()
                .map(|(name, _)| name + "\n")
                .collect::<String>()
                .into_bytes(),
            Some(wanted) => {
                let found = files.into_iter().find(|(name, _)| *name == wanted);
                found.map(|(_, text)| text).ok_or_else(|| {
                    let message = format!("{wanted} is not a generated file");
                    Error::invalid_request("generate", &["file"], "invalid_value", message)
                        .action("`rea generate` lists the names.")
                })?
            }
        };
        ui.text(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Every generated file: its path in the source tree and its bytes.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = vec![
        ("completions/_rea".to_owned(), script(Shell::Zsh)),
        ("completions/rea.bash".to_owned(), script(Shell::Bash)),
        ("completions/rea.fish".to_owned(), script(Shell::Fish)),
    ];
    let mut root = cli::full().disable_help_subcommand(true);
    root.build();
    files.push(man_page(&root, None));
    for row in COMMANDS.iter().filter(|row| !row.hidden) {
        if let Some(command) = root.find_subcommand(row.name()) {
            files.push(man_page(command, Some(row)));
        }
    }
    files
}

fn man_page(command: &clap::Command, row: Option<&Row>) -> (String, Vec<u8>) {
    let man = Man::new(command.clone()).date("").manual("rea manual");
    let mut text = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| match row {
            None => man.render_subcommands_section(&mut text),
            Some(_) => Ok(()),
        })
        .and_then(|()| man.render_options_section(&mut text))
        .and_then(|()| match row {
            None => Ok(()),
            Some(row) => example_and_exit_status(row).to_writer(&mut text),
        });
    (format!("man/{}", man.get_filename()), text)
}

fn example_and_exit_status(row: &Row) -> Roff {
    let mut roff = Roff::default();
    roff.control("SH", ["EXAMPLE"]);
    roff.control("nf", []);
    roff.text([roman(row.example)]);
    roff.control("fi", []);
    roff.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in row.exit_statuses() {
        roff.control("TP", []);
        roff.text([bold(status)]);
        roff.text([roman(meaning)]);
    }
    roff
}
