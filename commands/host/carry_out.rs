//! Showing a plan, asking, and doing it: what `setup` and `uninstall` share.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use rea::error::Code;
use rea::host::{Action, Blocked, Client, Plan, Standing, State, apply};
use rea::operation::Context;
use rea::publish::display_path;
use rea::{Error, Result};
use serde_json::{Value, json};

use super::examine::{Scope, examine, standing_value};
use super::{Detail, document};
use crate::paint::Tone;
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::ui::Ui;

/// What is to be done, and how the user wants to be asked.
pub struct Job<'a> {
    /// The name of the operation.
    pub operation: &'static str,
    /// The clients that it may be about.
    pub clients: Vec<&'static Client>,
    /// Makes the plan for some of them.
    pub plan: &'a dyn Fn(&[&'static Client]) -> Plan,
    /// What a user does with what was done.
    pub afterwards: &'static str,
    /// What a user can do where there is nothing to do.
    pub nothing: &'static str,
    /// Whether to ask for each client by itself.
    pub ask_each: bool,
    /// Whether the skill is among what is checked afterwards.
    pub skill: bool,
    /// Whether clients should be registered afterwards.
    pub registered: bool,
    /// Not to ask.
    pub yes: bool,
    /// Only to show the plan.
    pub plan_only: bool,
    /// Sentences in place of tables.
    pub accessible: bool,
    /// How much is told.
    pub detail: Detail,
}

/// What came of a job.
struct Outcome {
    status: &'static str,
    plan: Plan,
    applied: Vec<Action>,
    doctor: Value,
    remediation: Option<&'static str>,
}

impl Job<'_> {
    /// Does it.
    pub fn run(&self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(self.operation);
        let mut plan = (self.plan)(&self.clients);
        let outcome = |status, plan, remediation| Outcome {
            status,
            plan,
            applied: Vec::new(),
            doctor: Value::Null,
            remediation,
        };
        if !plan.blocked.is_empty() {
            let remedy = "Correct these files, or leave their clients out with --client.";
            self.tell(ui, &context, &outcome("blocked", plan, Some(remedy)))?;
            return Ok(ExitCode::from(1));
        }
        if plan.actions.is_empty() {
            let nothing = (!self.nothing.is_empty()).then_some(self.nothing);
            self.tell(ui, &context, &outcome("unchanged", plan, nothing))?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.plan_only {
            let how = "Run it again with --yes and without --dry-run or --json to do this.";
            self.tell(ui, &context, &outcome("planned", plan, Some(how)))?;
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes {
            let chosen = self.ask(ui, &plan)?;
            if chosen.is_empty() {
                self.tell(ui, &context, &outcome("declined", plan, None))?;
                return Ok(ExitCode::SUCCESS);
            }
            // The user may have taken their time: what was shown must still be
            // what would be done.
            let now = (self.plan)(&chosen);
            let shown = plan.actions.iter().filter(|action| {
                let of = |client: &&Client| client.id == action.client;
                chosen.iter().any(of)
            });
            if !now.actions.iter().eq(shown) {
                let message = "settings were changed meanwhile; nothing was done";
                return Err(Error::new(Code::ArtifactChanged, message)
                    .action("Run it again to see what would change now.")
                    .detail("operation", self.operation));
            }
            plan = now;
        }
        let applied = ui.operate(&context, |_| apply(&plan, self.operation))?;
        let doctor = match self.registered {
            false => Value::Null,
            true => {
                let scope = Scope {
                    clients: plan
                        .standings
                        .iter()
                        .map(|standing| standing.client)
                        .collect(),
                    skill: self.skill,
                    ..Scope::default()
                };
                // What was asked for is done, whatever a signal says by now.
                examine(&scope, &Context::new(self.operation))?.to_value(Detail::Summary)
            }
        };
        let done = Outcome {
            status: "applied",
            // As they are now.
            plan: Plan {
                standings: (self.plan)(&self.clients).standings,
                ..plan
            },
            applied: applied.actions,
            doctor,
            remediation: Some(self.afterwards),
        };
        self.tell(ui, &context, &done)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Shows the plan and asks; the clients that the user agrees to.
    fn ask(&self, ui: &Ui, plan: &Plan) -> Result<Vec<&'static Client>> {
        let (mut stderr, stdin) = (io::stderr(), io::stdin());
        if !stderr.is_terminal() || !stdin.is_terminal() {
            let message = "there is no terminal on which to ask whether to do this";
            return Err(Error::invalid_request(
                self.operation,
                &["yes"],
                "missing_argument",
                message,
            )
            .action("Add --yes to do it, or --dry-run to see what would be done."));
        }
        let failed = |error: io::Error| Error::file_io("read", "standard input", &error);
        let mut report = Report::new(usize::MAX);
        self.describe_plan(&mut report, plan);
        report
            .write_terminal(&mut stderr, ui.paint, ui.width())
            .map_err(failed)?;
        let concerned = || {
            let clients = self.clients.iter().copied();
            clients.filter(|client| plan.actions.iter().any(|action| action.client == client.id))
        };
        let mut yes = |question: String| -> Result<bool> {
            loop {
                write!(stderr, "{question} [Y/n] ")
                    .and_then(|()| stderr.flush())
                    .map_err(failed)?;
                let mut line = String::new();
                if stdin.lock().read_line(&mut line).map_err(failed)? == 0 {
                    // The end of input is no agreement.
                    return Ok(false);
                }
                match line.trim().to_ascii_lowercase().as_str() {
                    "" | "y" | "yes" => return Ok(true),
                    "n" | "no" => return Ok(false),
                    _ => {}
                }
            }
        };
        if !self.ask_each {
            return Ok(match yes("Do this?".to_owned())? {
                true => self.clients.clone(),
                false => Vec::new(),
            });
        }
        let mut chosen = Vec::new();
        for client in concerned() {
            if yes(format!("Do this for {}?", client.name))? {
                chosen.push(client);
            }
        }
        Ok(chosen)
    }

    fn tell(&self, ui: &Ui, context: &Context, outcome: &Outcome) -> Result<()> {
        let doctor = &outcome.doctor;
        let value = json!({
            "status": outcome.status,
            "plannedActions": outcome.plan.actions.iter().map(action_value).collect::<Vec<_>>(),
            "appliedActions": outcome.applied.iter().map(action_value).collect::<Vec<_>>(),
            "blocked": outcome.plan.blocked.iter().map(blocked_value).collect::<Vec<_>>(),
            "clients": outcome.plan.standings.iter().map(|standing| match self.detail {
                Detail::Full => standing_value(standing),
                Detail::Summary => json!({
                    "client": standing.client.id, "state": standing.state.as_str(),
                }),
            }).collect::<Vec<_>>(),
            "doctor": match (self.detail, doctor) {
                (Detail::Full, _) | (_, Value::Null) => doctor.clone(),
                (Detail::Summary, _) => json!({
                    "healthy": doctor["healthy"],
                    "failed_scope_checks": doctor["failed_scope_checks"],
                }),
            },
            "remediation": outcome.remediation,
        });
        ui.document(context, &document(&value)?, |report| {
            report.title(format!("rea {}: {}", self.operation, outcome.status));
            match outcome.applied.is_empty() {
                true => self.describe_plan(report, &outcome.plan),
                false => self.describe_actions(report, "Done", &outcome.applied),
            }
            self.describe_clients(report, &outcome.plan.standings);
            let failed = doctor["failed_scope_checks"].as_array();
            report.list(
                "Not in order",
                failed.into_iter().flatten().map(|check| {
                    let part = |name: &str| super::text(&check[name]).to_owned();
                    format!(
                        "{}: {} {}",
                        part("name"),
                        part("detail"),
                        part("remediation")
                    )
                }),
            );
            report.list("Next", outcome.remediation);
        })
    }

    fn describe_plan(&self, report: &mut Report, plan: &Plan) {
        self.describe_actions(report, "Plan", &plan.actions);
        report.list(
            "In the way",
            plan.blocked
                .iter()
                .map(|blocked| format!("{}: {}", display_path(&blocked.path), blocked.reason)),
        );
    }

    fn describe_actions(&self, report: &mut Report, heading: &str, actions: &[Action]) {
        if self.accessible || self.detail == Detail::Full {
            let sentence = |action: &Action| {
                let name = Client::find(action.client).map_or(action.client, |client| client.name);
                format!("{name}: {}", action.sentence())
            };
            report.list(heading, actions.iter().map(sentence));
            return;
        }
        report.table(heading, ACTIONS, |table| {
            for action in actions {
                table.row([
                    Cell::toned(action.kind.as_str(), Tone::Name),
                    action.client.into(),
                    display_path(&action.path).into_owned().into(),
                ]);
            }
        });
    }

    fn describe_clients(&self, report: &mut Report, standings: &[Standing]) {
        if self.accessible {
            report.list(
                "Clients",
                standings
                    .iter()
                    .map(|standing| format!("{}: {}", standing.client.name, said(standing))),
            );
            return;
        }
        report.table("Clients", CLIENTS, |table| clients(table, standings));
    }
}

const ACTIONS: &[Column] = &[
    Column::text("ACTION"),
    Column::text("CLIENT"),
    Column::text("FILE"),
];

/// The columns of [`clients`].
pub const CLIENTS: &[Column] = &[
    Column::text("CLIENT"),
    Column::text("FOUND"),
    Column::text("REGISTERED"),
    Column::text("SKILL"),
    Column::text("FILE"),
];

/// Clients as rows.
pub fn clients(table: &mut crate::table::Table, standings: &[Standing]) {
    for standing in standings {
        let state = standing.state.as_str();
        table.row([
            Cell::toned(standing.client.id, Tone::Name),
            if standing.detected { "yes" } else { "no" }.into(),
            match state {
                "aligned" => Cell::toned(state, Tone::Good),
                "missing" => Cell::toned(state, Tone::Dim),
                _ => Cell::toned(said(standing), Tone::Warn),
            },
            match standing.skill.as_ref().map(|(_, state)| state) {
                None => "".into(),
                Some(State::Aligned) => Cell::toned("yes", Tone::Good),
                Some(State::Missing) => Cell::toned("no", Tone::Dim),
                Some(state) => Cell::toned(state.as_str(), Tone::Warn),
            },
            display_path(&standing.path).into_owned().into(),
        ]);
    }
}

/// The state of a client and why, in words.
fn said(standing: &Standing) -> String {
    let mut text = standing.state.as_str().to_owned();
    let notes = standing.notes.iter().map(String::as_str);
    for more in standing.state.reason().into_iter().chain(notes) {
        text.push_str(&format!("; {more}"));
    }
    text
}

fn action_value(action: &Action) -> Value {
    json!({
        "action": action.kind.as_str(),
        "client": action.client,
        "path": display_path(&action.path),
        "detail": action.detail,
        "backup_path": action.backup.as_ref().map(|path| display_path(path).into_owned()),
    })
}

fn blocked_value(blocked: &Blocked) -> Value {
    json!({
        "client": blocked.client,
        "path": display_path(&blocked.path),
        "reason": blocked.reason,
    })
}
