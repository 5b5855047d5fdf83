//! `rea inventory-artifact`: every entry of a file or folder, hashed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::artifact::{self, Inventory, RowView};
use rea::evidence::Record;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::artifact_options::ArtifactOptions;
use crate::paint::Tone;
use crate::quantity::{counted, human_bytes, thousands};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column, Table};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// List every entry of a file or folder, hashed and classified
///
/// Reads the whole artifact, opens the containers in it and lists each entry
/// with its path, kind, format, size and SHA-256. The record is exactly the
/// one that `rea inspect-artifact` embeds, so both have the same id for it.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File or folder to list
    pub path: PathBuf,

    #[command(flatten)]
    #[serde(flatten)]
    pub options: ArtifactOptions,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "inventory_artifact",
        family: Family::Artifact,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea inventory-artifact release.zip | jq .normalized_result.manifest";
    const TOOL: Form =
        Form::Same(Facts::ARTIFACT.with_summary(
            r#"{"kind":"inventory","collection":"occurrences","offset":0,"limit":64}"#,
        ));

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let options = (&self.options).into();
        let inventory = ui.operate(&context, |context| {
            artifact::inventory(&self.path, &options, context)
        })?;
        ui.evidence(&context, &inventory, |report| {
            describe_inventory(&inventory, &self.path, &inventory, report);
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

const ENTRIES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("KIND"),
    Column::text("FORMAT"),
    Column::text("SHA-256"),
    Column::text("FLAGS"),
    Column::text("PATH"),
];

const REMARKS: &[Column] = &[Column::text("PATH"), Column::text("REMARK")];

/// The report of an inventory, under the id of `record`.
pub fn describe_inventory(
    inventory: &Inventory,
    path: &Path,
    record: &dyn Record,
    report: &mut Report,
) {
    report.title(display_path(path));
    report.fact("format", inventory.root_format());
    if let Some(size) = root_size(inventory) {
        let exact = counted(size, "byte", "bytes");
        let size = match size {
            ..1024 => exact,
            _ => format!("{} ({exact})", human_bytes(size)),
        };
        report.fact("size", size);
    }
    report.fact("sha256", inventory.root_sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    let coverage = inventory.coverage_status();
    let tone = if coverage == "complete" {
        Tone::Good
    } else {
        Tone::Warn
    };
    report.toned_fact("coverage", coverage, tone);

    let count = inventory.occurrence_count() as u64;
    let distinct = inventory.node_count() as u64;
    let heading = format!(
        "{} ({} distinct), largest first",
        counted(count, "entry", "entries"),
        thousands(distinct)
    );
    report.table(heading, ENTRIES, |table| largest(inventory, table));
    report.table("Remarks", REMARKS, |table| remarks(inventory, table));
    report.list(
        "Limitations",
        inventory.limitations().iter().map(String::as_str),
    );
}

fn root_size(inventory: &Inventory) -> Option<u64> {
    let root = inventory.rows().find(|row| row.path == ".")?;
    root.size
}

/// Keeps only as many entries as will be shown, however many there are.
fn largest(inventory: &Inventory, table: &mut Table) {
    let mut kept = BinaryHeap::new();
    let mut total = 0_u64;
    for row in inventory.rows() {
        total += 1;
        kept.push(Reverse(BySize(row)));
        if kept.len() > table.limit() {
            kept.pop();
        }
    }
    table.skip(total - kept.len() as u64);
    for Reverse(BySize(row)) in kept.into_sorted_vec() {
        table.row(entry(&row));
    }
}

/// Orders rows by size, then against their path.
struct BySize<'a>(RowView<'a>);

impl Ord for BySize<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let sizes = self.0.size.cmp(&other.0.size);
        sizes.then_with(|| other.0.path.cmp(self.0.path))
    }
}

impl PartialOrd for BySize<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BySize<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BySize<'_> {}

fn entry(row: &RowView<'_>) -> [Cell; 6] {
    let kind = match row.entry_kind {
        "file" => row.artifact_kind,
        other => other,
    };
    let mut flags = Vec::new();
    let mut tone = Tone::Plain;
    if row.executable {
        flags.push("x");
    }
    if row.encrypted {
        flags.push("encrypted");
        tone = Tone::Warn;
    }
    match row.hash_status {
        "mismatched" => {
            flags.push("mismatched");
            tone = Tone::Bad;
        }
        "unavailable" => {
            flags.push("unavailable");
            tone = Tone::Warn;
        }
        _ => {}
    }
    // Enough of the digest to tell entries apart; the record has all of it.
    let digest = row
        .sha256
        .map(|digest| digest.to_hex().chars().take(12).collect::<String>());
    [
        row.size.map(human_bytes).unwrap_or_default().into(),
        kind.into(),
        row.artifact_format.into(),
        Cell::toned(digest.unwrap_or_default(), Tone::Dim),
        Cell::toned(flags.join(" "), tone),
        row.path.into(),
    ]
}

fn remarks(inventory: &Inventory, table: &mut Table) {
    for row in inventory.rows() {
        for limitation in row.limitations {
            table.row([row.path.into(), limitation.into()]);
        }
    }
}
