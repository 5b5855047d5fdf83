//! Reports of views of inventories and inspections.

use rea::json::Value;
use rea::view::ViewRecord;

use super::{member, page, text};
use crate::paint::Tone;
use crate::quantity::human_bytes;
use crate::report::Report;
use crate::table::{Cell, Column};

/// What a view selects of an inventory, as a report.
pub fn describe(record: &ViewRecord, report: &mut Report) {
    if let Some(summary) = record.fact("summary") {
        describe_summary(summary, report);
    }
    if let Some(complete) = record.fact("source_complete") {
        source_complete(complete, report);
    }
    let collection = record.view().get("collection").and_then(Value::as_str);
    match collection {
        Some("nodes") => page(record, report, NODES, node),
        Some("occurrences") => page(record, report, OCCURRENCES, occurrence),
        Some("edges") => page(record, report, EDGES, edge),
        Some(_) => page(record, report, CONTRADICTIONS, contradiction),
        None => {}
    }
}

fn describe_summary(summary: &Value, report: &mut Report) {
    let none = Value::Null;
    let part = |name| summary.get(name).unwrap_or(&none);
    let (manifest, available) = (part("manifest"), part("available"));
    report.fact("format", member(manifest, "root_format"));
    report.fact("sha256", member(manifest, "root_sha256"));
    report.fact("manifest", member(manifest, "manifest_id"));
    for (name, expected) in [
        ("occurrences", "occurrence_count"),
        ("nodes", "node_count"),
        ("edges", "edge_count"),
    ] {
        let shown = format!(
            "{} of {}",
            member(available, name),
            member(manifest, expected)
        );
        report.fact(name, shown);
    }
    report.fact(
        "contradictions",
        member(available, "integrity_contradictions"),
    );
    if let Some(kinds) = part("entry_kinds").as_object() {
        let kinds: Vec<String> = kinds
            .iter()
            .filter_map(|(name, count)| match count {
                Value::Number(count) if *count > 0.0 => Some(format!("{count} {}", text(name))),
                _ => None,
            })
            .collect();
        report.fact("entries", kinds.join(", "));
    }
    let source = part("source_coverage");
    let status = member(source, "status");
    let tone = if status == "complete" {
        Tone::Good
    } else {
        Tone::Warn
    };
    let coverage = format!("{status} ({})", member(source, "scope"));
    report.toned_fact("coverage", coverage, tone);
    source_complete(part("source_complete"), report);
}

fn source_complete(complete: &Value, report: &mut Report) {
    let (shown, tone) = match complete {
        Value::Bool(true) => ("the complete graph", Tone::Good),
        _ => ("not the complete graph", Tone::Warn),
    };
    report.toned_fact("source", shown, tone);
}

const NODES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("FORMAT"),
    Column::text("STATE"),
    Column::text("SHA-256"),
];
const OCCURRENCES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("KIND"),
    Column::text("FORMAT"),
    Column::text("STATUS"),
    Column::text("PATH"),
];
const EDGES: &[Column] = &[
    Column::text("RELATION"),
    Column::text("PARENT"),
    Column::text("OCCURRENCE"),
];
const CONTRADICTIONS: &[Column] = &[
    Column::text("DECLARED"),
    Column::text("OBSERVED"),
    Column::text("PATH"),
];

fn size(row: &Value, name: &str) -> String {
    match row.get(name) {
        Some(Value::Number(bytes)) => human_bytes(*bytes as u64),
        _ => String::new(),
    }
}

fn node(row: &Value) -> [Cell; 4] {
    [
        size(row, "size").into(),
        member(row, "format").into(),
        member(row, "content_state").into(),
        Cell::toned(member(row, "sha256"), Tone::Dim),
    ]
}

fn occurrence(row: &Value) -> [Cell; 5] {
    let status = member(row, "hash_status");
    let tone = match status.as_str() {
        "verified" => Tone::Plain,
        "mismatched" => Tone::Bad,
        _ => Tone::Warn,
    };
    let entry = member(row, "entry_kind");
    let kind = match entry.as_str() {
        "file" => member(row, "artifact_kind"),
        _ => entry,
    };
    [
        size(row, "declared_size").into(),
        kind.into(),
        member(row, "artifact_format").into(),
        Cell::toned(status, tone),
        member(row, "logical_path").into(),
    ]
}

/// Enough of an id to tell it from others.
fn start(id: String) -> String {
    id.chars().take(20).collect()
}

fn edge(row: &Value) -> [Cell; 3] {
    [
        member(row, "relation").into(),
        start(member(row, "parent_artifact_id")).into(),
        start(member(row, "occurrence_id")).into(),
    ]
}

fn contradiction(row: &Value) -> [Cell; 3] {
    [
        start(member(row, "declared_sha256")).into(),
        start(member(row, "observed_sha256")).into(),
        member(row, "logical_path").into(),
    ]
}
