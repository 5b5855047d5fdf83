//! `rea doctor`: whether everything is in order here.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::host::Check;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::host::carry_out::{self, clients};
use crate::host::examine::{Examination, Scope, examine};
use crate::host::{ClientName, Detail, document, named};
use crate::paint::Tone;
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::tool::Form;
use crate::ui::Ui;

/// Check that rea can work here, and where it is registered
///
/// Looks at the built-in engine, temporary space, memory and limits, at the
/// settings of the environment, and at the clients in which `rea setup`
/// registers it. Nothing is changed and no server is started; `rea mcp doctor`
/// does that.
///
/// Without options everything is looked at and only the machine decides; what
/// is odd in clients is counted. With --target, --client, --provider or --skill
/// these must be in order too.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File or application that must open
    #[arg(long, value_name = "PATH")]
    #[serde(default)]
    pub target: Option<PathBuf>,

    /// Client in which this program must be registered; repeatable
    #[arg(long, value_name = "CLIENT")]
    #[serde(default)]
    pub client: Vec<ClientName>,

    /// Provider that must be there, and take the target; repeatable
    #[arg(long, value_name = "ID")]
    #[serde(default)]
    pub provider: Vec<String>,

    /// The skill must be installed in these clients, or in all that are found
    #[arg(long)]
    #[serde(default)]
    pub skill: bool,

    /// How much to tell
    #[arg(long, value_name = "DETAIL", default_value = "full")]
    #[serde(default)]
    pub detail: Detail,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "doctor",
        family: Family::Host,
        effects: &[Effect::Read],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea doctor --client claude-code --skill";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let detail = self.detail;
        let scope = Scope {
            target: self.target,
            clients: named(&self.client),
            providers: self.provider,
            skill: self.skill,
        };
        let found = ui.operate(&context, |context| examine(&scope, context))?;
        let value = document(&found.to_value(detail))?;
        ui.document(&context, &value, |report| describe(&found, detail, report))?;
        Ok(match found.is_healthy() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(1),
        })
    }
}

const CHECKS: &[Column] = &[
    Column::text("CHECK"),
    Column::text("STATE"),
    Column::text("DETAIL"),
];

fn describe(found: &Examination, detail: Detail, report: &mut Report) {
    let (state, tone) = match found.is_healthy() {
        true => ("healthy", Tone::Good),
        false => ("not healthy", Tone::Bad),
    };
    report.title(format!("rea {}", env!("CARGO_PKG_VERSION")));
    report.toned_fact("state", state, tone);
    report.fact("scope", found.scope_name());
    let all = detail == Detail::Full;
    let shown = |check: &&Check| all || !check.is_healthy();
    report.table("Checks", CHECKS, |table| {
        for check in found.checks().filter(shown) {
            table.row([
                Cell::toned(check.name.as_str(), Tone::Name),
                match check.is_healthy() {
                    true => Cell::toned(check.class.as_str(), Tone::Good),
                    false => Cell::toned(check.class.as_str(), Tone::Bad),
                },
                check.detail.as_str().into(),
            ]);
        }
    });
    if all {
        report.table("Clients", carry_out::CLIENTS, |table| {
            clients(table, &found.standings);
        });
    }
    let steps = found.checks().filter_map(|check| {
        let remedy = check.remediation.as_ref()?;
        Some(format!("{}: {remedy}", check.name))
    });
    report.list("What to do", steps);
}
