//! `rea uninstall`: takes out what `rea setup` put in.

use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::host::{self, CLIENTS, Client, Homes};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::host::carry_out::Job;
use crate::host::{ClientName, Detail, named};
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Take rea out of the agents on this machine
///
/// Removes the server `rea` and the skill, if they are those of `rea setup`,
/// from all clients or from those that --client names. A file that nobody has
/// changed since is put back as it was, byte for byte. The plan is shown first,
/// then you are asked. The program itself stays.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Client to take it out of; repeatable
    #[arg(long, value_name = "CLIENT")]
    #[serde(default)]
    pub client: Vec<ClientName>,

    /// Remove the copies of settings too that earlier runs kept
    #[arg(long)]
    #[serde(default)]
    pub purge_data: bool,

    /// Do it without asking
    #[arg(short, long)]
    #[serde(default)]
    pub yes: bool,

    /// Show the plan and change nothing, as --json does
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,

    /// Sentences in place of tables
    #[arg(long)]
    #[serde(default)]
    pub accessible: bool,

    /// How much to tell
    #[arg(long, value_name = "DETAIL", default_value = "full")]
    #[serde(default)]
    pub detail: Detail,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "uninstall",
        family: Family::Host,
        effects: &[Effect::Read, Effect::Write],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str = "rea uninstall --client codex --dry-run";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let homes = Homes::read(|name| std::env::var_os(name))?;
        let program = host::program()?;
        let clients = match self.client.is_empty() {
            true => CLIENTS.iter().collect(),
            false => named(&self.client),
        };
        let purge = self.purge_data;
        let plan = |clients: &[&'static Client]| host::removal(&homes, &program, clients, purge);
        let job = Job {
            operation: Self::OPERATION.name,
            clients,
            plan: &plan,
            afterwards: "Restart these clients.",
            nothing: "Nothing of rea is registered there.",
            ask_each: false,
            skill: false,
            registered: false,
            yes: self.yes,
            plan_only: self.dry_run || ui.wants_json(),
            accessible: self.accessible,
            detail: self.detail,
        };
        job.run(ui)
    }
}
