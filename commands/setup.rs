//! `rea setup`: registers this program with clients.

use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::host::{self, Client, Homes, standings};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::host::carry_out::Job;
use crate::host::{ClientName, Detail, named};
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Register rea with the agents on this machine
///
/// Adds a server called `rea`, which starts this program with `mcp`, to the
/// user settings of Claude Code, Claude Desktop, Codex, Cursor, Gemini CLI, VS
/// Code and Windsurf. The plan is shown first, then you are asked. Other servers
/// and settings, comments and formatting stay as they are; a copy of each file
/// stays beside it. All files change or none does, and a repetition changes
/// nothing. A file that is malformed, read-only or has another server of that
/// name is refused.
///
/// Without --client: every client that is found here. Deadlines that a client
/// has and that are not set are set (Codex: tool_timeout_sec 120,
/// startup_timeout_sec 30; Gemini CLI: timeout 600000).
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Client to register with, found here or not; repeatable
    #[arg(long, value_name = "CLIENT")]
    #[serde(default)]
    pub client: Vec<ClientName>,

    /// All clients that are found, with one question for all of them
    #[arg(long)]
    #[serde(default)]
    pub all_detected: bool,

    /// Install the skill too: a page that teaches agents the workflow
    #[arg(long)]
    #[serde(default)]
    pub skill: bool,

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
        name: "setup",
        family: Family::Host,
        effects: &[Effect::Read, Effect::Write],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str = "rea setup --client claude-code --skill";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let homes = Homes::read(|name| std::env::var_os(name))?;
        let program = host::program()?;
        let mut clients = named(&self.client);
        if clients.is_empty() || self.all_detected {
            for standing in standings(&homes, &program) {
                if standing.detected && clients.iter().all(|known| known.id != standing.client.id) {
                    clients.push(standing.client);
                }
            }
        }
        let nothing = match clients.is_empty() {
            true => "No client was found. Name one with --client to register there anyway.",
            false => "",
        };
        let plan = |clients: &[&'static Client]| host::setup(&homes, &program, clients, self.skill);
        let job = Job {
            operation: Self::OPERATION.name,
            clients,
            plan: &plan,
            afterwards: "Restart these clients. `rea mcp doctor` checks that the server answers.",
            nothing,
            ask_each: self.client.is_empty() && !self.all_detected,
            skill: self.skill,
            registered: true,
            yes: self.yes,
            plan_only: self.dry_run || ui.wants_json(),
            accessible: self.accessible,
            detail: self.detail,
        };
        job.run(ui)
    }
}
