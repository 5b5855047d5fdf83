//! Reports of views of web captures, shared by `view` and
//! `inspect-analysis-view`.

use rea::json::Value;
use rea::view::ViewRecord;

use crate::quantity::counted;
use crate::report::Report;
use crate::table::Column;
use crate::wasm_view::short;

const OPERATIONS: &[Column] = &[
    Column::number("RECORDS"),
    Column::text("STATUS"),
    Column::text("METHOD"),
    Column::text("PATH"),
    Column::text("ORIGIN"),
];
const TOOLS: &[Column] = &[
    Column::number("RECORDS"),
    Column::text("TOOL"),
    Column::text("OPERATION"),
];
const TYPES: &[Column] = &[
    Column::number("ENTITIES"),
    Column::text("TYPE"),
    Column::text("IDENTITY"),
];
const PLANS: &[Column] = &[
    Column::text("TOOL"),
    Column::text("KIND"),
    Column::text("STATUS"),
];

/// What a view shows of a capture, as a report.
pub fn describe(record: &ViewRecord, report: &mut Report) {
    if let Some(excluded) = record.fact("excluded_records").and_then(Value::as_array) {
        for row in excluded {
            report.fact("left out", short(row));
        }
    }
    if let Some(manifest) = record.fact("manifest") {
        describe_manifest(manifest, report);
        return;
    }
    if let Some(state) = record.fact("state") {
        describe_state(state, report);
        return;
    }
    report.table("Operations", OPERATIONS, |table| {
        for row in record.rows() {
            let statuses = row.get("statuses").and_then(Value::as_array);
            let statuses = statuses.unwrap_or_default().iter();
            let statuses: Vec<String> = statuses.map(|status| of(status, "status")).collect();
            table.row([
                of(&row, "record_count").into(),
                statuses.join(" ").into(),
                of(&row, "method").into(),
                of(&row, "path_template").into(),
                of(&row, "origin").into(),
            ]);
        }
    });
}

fn of(value: &Value, name: &str) -> String {
    value.get(name).map(short).unwrap_or_default()
}

fn rows<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .unwrap_or_default()
}

fn describe_manifest(manifest: &Value, report: &mut Report) {
    report.fact("name", of(manifest, "name"));
    report.fact("origin", of(manifest, "origin"));
    let excluded = rows(manifest, "excluded").len() as u64;
    if excluded > 0 {
        report.fact(
            "excluded",
            counted(
                excluded,
                "operation of another origin",
                "operations of other origins",
            ),
        );
    }
    report.table("Tools", TOOLS, |table| {
        for tool in rows(manifest, "tools") {
            let operation = format!("{} {}", of(tool, "method"), of(tool, "path_template"));
            table.row([
                rows(tool, "records").len().to_string().into(),
                of(tool, "name").into(),
                operation.into(),
            ]);
        }
    });
}

fn describe_state(state: &Value, report: &mut Report) {
    let count = |name| rows(state, name).len() as u64;
    report.fact("entities", counted(count("entities"), "entity", "entities"));
    report.fact(
        "documents",
        counted(count("documents"), "document", "documents"),
    );
    report.table("Entity types", TYPES, |table| {
        for row in rows(state, "entity_types") {
            table.row([
                of(row, "entity_count").into(),
                of(row, "name").into(),
                of(row, "identity_field").into(),
            ]);
        }
    });
    report.table("Reads", PLANS, |table| {
        for row in rows(state, "render_plans") {
            let status = match row.get("reason") {
                Some(reason) => short(reason),
                None => of(row, "status"),
            };
            table.row([
                of(row, "tool").into(),
                of(row, "kind").into(),
                status.into(),
            ]);
        }
    });
}
