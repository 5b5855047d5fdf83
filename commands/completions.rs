//! `rea completions`: the script with which a shell completes `rea`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::operation::{Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli;
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Print the completion script for a shell
///
/// bash: write it to ~/.local/share/bash-completion/completions/rea;
/// zsh: to a file `_rea` in a folder of $fpath;
/// fish: to ~/.config/fish/completions/rea.fish.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Which shell
    pub shell: Shell,
}

/// Shells with a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "completions",
        family: Family::Host,
        effects: &[],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Text;
    const EXAMPLE: &'static str = "rea completions fish > ~/.config/fish/completions/rea.fish";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        ui.text(&script(self.shell))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The script for `shell`.
pub fn script(shell: Shell) -> Vec<u8> {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut cli::full(), "rea", &mut text);
    text
}
