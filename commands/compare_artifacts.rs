//! `rea compare-artifacts`: what differs between two inventories.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::artifact::{self, Comparison, ComparisonStatus, Retained, Side};
use rea::error::Error;
use rea::evidence::Record;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::paint::Tone;
use crate::quantity::{counted, thousands};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::session;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Compare two inventories, path by path
///
/// Takes two records of `rea inventory-artifact` or `rea inspect-artifact` and
/// says which paths were added, removed or changed, and in what. What one
/// record did not look at is unknown, never unchanged. Each record is checked
/// before it is used: its id, and all ids of its artifact graph. For software
/// itself, and for what moved and what grew, use `rea diff`.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Evidence of the old side, `-` for standard input
    pub left: PathBuf,

    /// Evidence of the new side, `-` for standard input
    pub right: PathBuf,

    /// Exit with 3, 4 or 5 unless nothing differs
    #[arg(long)]
    #[serde(skip)]
    pub exit_code: bool,
}

/// What `--exit-code` adds.
pub const EXIT_STATUS: &[(u8, &str)] = &[
    (3, "with --exit-code: changed"),
    (
        4,
        "with --exit-code: cannot tell, something was not looked at",
    ),
    (5, "with --exit-code: bytes contradict a declared digest"),
];

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "compare_artifacts",
        family: Family::Artifact,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea compare-artifacts old.json new.json --exit-code";
    const TOOL: Form = Form::Own(Facts::DERIVED, session::COMPARE);
    const EXIT_STATUS: &'static [(u8, &'static str)] = EXIT_STATUS;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        one_stream(Self::OPERATION.name, &self.left, &self.right)?;
        let context = ui.context(Self::OPERATION.name);
        let comparison = ui.operate(&context, |context| {
            let left = Side::Evidence(&self.left);
            let right = Side::Evidence(&self.right);
            let (left, right) = artifact::load_both(left, right, context)?;
            artifact::compare(left, right, context)
        })?;
        ui.evidence(&context, &comparison, |report| {
            let names = [&self.left, &self.right].map(|path| display_path(path));
            report.title(format!("{} → {}", names[0], names[1]));
            describe(&comparison, report);
        })?;
        Ok(exit_code(comparison.status(), self.exit_code))
    }
}

/// Standard input can be one side only.
pub fn one_stream(operation: &str, left: &PathBuf, right: &PathBuf) -> Result<()> {
    if left.as_os_str() != "-" || right != left {
        return Ok(());
    }
    let message = "standard input can be one of the two sides, not both";
    Err(
        Error::invalid_request(operation, &["right"], "invalid_value", message)
            .action("Put one of the two records into a file, or give it as `<(command)`."),
    )
}

/// The exit status of a comparison.
pub fn exit_code(status: ComparisonStatus, asked: bool) -> ExitCode {
    ExitCode::from(if asked { status.exit_status() } else { 0 })
}

/// The status in words, and its tone.
pub fn status(status: ComparisonStatus) -> (&'static str, Tone) {
    match status {
        ComparisonStatus::Unchanged => ("unchanged", Tone::Good),
        ComparisonStatus::Changed => ("changed", Tone::Warn),
        ComparisonStatus::Unknown => ("unknown: something was not looked at", Tone::Warn),
        ComparisonStatus::Truncated => ("truncated: a record is not whole", Tone::Warn),
        ComparisonStatus::Contradiction => {
            ("contradiction: bytes are not what is declared", Tone::Bad)
        }
    }
}

/// A side in one line.
pub fn side(side: &Retained) -> String {
    let digest = side.root_sha256().to_hex();
    let entries = counted(side.occurrence_count() as u64, "entry", "entries");
    let coverage = side.coverage_status();
    format!(
        "{}, {entries}, coverage {coverage}, sha256 {digest}",
        side.root_format()
    )
}

const CHANGES: &[Column] = &[
    Column::text("CLASS"),
    Column::text("WHAT"),
    Column::text("PATH"),
];

fn describe(comparison: &Comparison, report: &mut Report) {
    let (text, tone) = status(comparison.status());
    report.toned_fact("status", text, tone);
    report.fact("left", side(comparison.left()));
    report.fact("right", side(comparison.right()));
    report.fact("evidence", comparison.id().to_string());
    let summary = comparison.summary();
    for (name, count) in [
        ("added", summary.added),
        ("removed", summary.removed),
        ("changed", summary.changed),
        ("unknown", summary.unknown),
        ("contradiction", summary.contradiction),
        ("unchanged", summary.unchanged),
    ] {
        report.fact(name, thousands(count));
    }
    report.table("Changes", CHANGES, |table| {
        for change in comparison.changes() {
            let what: Vec<_> = change.dimensions.names().collect();
            table.row([
                Cell::from(change.classification.as_str()),
                what.join(" ").into(),
                change.path.into(),
            ]);
        }
    });
    let limitations = comparison.limitations().iter();
    report.list("Limitations", limitations.map(String::as_str));
}
