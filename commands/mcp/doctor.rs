//! `rea mcp doctor`: whether the server that clients start answers them.

use std::process::{Command, ExitCode};
use std::time::Duration;

use rea::Result;
use rea::host::{Expectation, Findings, Inventory, probe};
use rea::mcp::Settings;
use serde_json::{Value, json};

use super::{prompts, server, settings};
use crate::host::{document, identity, text};
use crate::paint::Tone;
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::ui::Ui;

/// How long everything may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Starts the server as clients do, checks it, and lets it end.
pub fn run(ui: &Ui) -> Result<ExitCode> {
    let context = ui.context("mcp");
    // Settings that are wrong are what the server itself will say.
    let here = server(settings().unwrap_or_else(|_| Settings::default()));
    let known = identity(&here);
    let program = std::env::current_exe().map_err(|error| {
        let reason = rea::error::io_reason(&error);
        let message = format!("the path of this program cannot be told: {reason}");
        rea::Error::new(rea::error::Code::ExecutionFailure, message).action("Start it by its path.")
    })?;
    let expected = Expectation {
        tools: here.tools().map(|tool| tool.name.to_owned()).collect(),
        prompts: prompts()
            .listed()
            .into_iter()
            .map(|prompt| prompt.name)
            .collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        digest: text(&known["catalog"]["digests"]["combined_sha256"]).to_owned(),
        program: text(&known["server"]["command_path"]).to_owned(),
    };
    let mut command = Command::new(program);
    command.arg("mcp");
    let found = probe(command, &expected, LIMIT);
    let value = json!({
        "healthy": found.is_healthy(),
        "adapter": "production-stdio",
        "server": found.server,
        "inventory": {
            "tools": inventory(&found.tools),
            "prompts": inventory(&found.prompts),
        },
        "identity": found.identity,
        "request_flow": found.requests.iter().map(|(method, succeeded, milliseconds)| json!({
            "method": method, "ok": succeeded, "duration_ms": milliseconds,
        })).collect::<Vec<_>>(),
        "checks": found.checks.iter().map(|(name, holds, detail)| json!({
            "name": name, "ok": holds, "detail": detail,
        })).collect::<Vec<_>>(),
        "diagnostics": {"stderr": found.stderr},
    });
    ui.document(&context, &document(&value)?, |report| {
        describe(&found, report)
    })?;
    Ok(match found.is_healthy() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    })
}

fn inventory(found: &Inventory) -> Value {
    json!({
        "expected": found.expected,
        "observed": found.observed,
        "missing": found.missing,
        "unexpected": found.unexpected,
        "duplicates": found.duplicates,
    })
}

const CHECKS: &[Column] = &[
    Column::text("CHECK"),
    Column::text("OK"),
    Column::text("DETAIL"),
];

fn describe(found: &Findings, report: &mut Report) {
    let healthy = found.is_healthy();
    report.title(format!("rea {} mcp", env!("CARGO_PKG_VERSION")));
    match healthy {
        true => report.toned_fact("state", "healthy", Tone::Good),
        false => report.toned_fact("state", "not healthy", Tone::Bad),
    }
    report.table("Checks", CHECKS, |table| {
        for (name, holds, detail) in &found.checks {
            table.row([
                Cell::toned(*name, Tone::Name),
                match holds {
                    true => Cell::toned("yes", Tone::Good),
                    false => Cell::toned("no", Tone::Bad),
                },
                detail.as_str().into(),
            ]);
        }
    });
    for (what, inventory) in [("tools", &found.tools), ("prompts", &found.prompts)] {
        for (how, names) in [
            ("Missing", &inventory.missing),
            ("Unexpected", &inventory.unexpected),
            ("Repeated", &inventory.duplicates),
        ] {
            report.list(format!("{how} {what}"), names.iter().map(String::as_str));
        }
    }
    if !healthy {
        report.list("On stderr", found.stderr.lines().take(20));
    }
}
