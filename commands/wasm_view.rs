//! Reports of views of `inspect-wasm-artifact`, shared by `view` and
//! `inspect-analysis-view`.

use rea::json::Value;
use rea::view::ViewRecord;

use crate::quantity::counted;
use crate::report::Report;
use crate::table::{Column, Table};

const ROWS: &[Column] = &[Column::text("ROW")];

/// What a view selects of a module, as a report.
pub fn describe(record: &ViewRecord, report: &mut Report) {
    if let Some(summary) = record.fact("summary") {
        describe_summary(summary, report);
    }
    if let Some(item) = record.fact("item") {
        match item.get("text") {
            Some(Value::String(text)) => {
                let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
                report.lines(text.lines());
            }
            _ => report.lines([short(item)]),
        }
    }
    report.table("Rows", ROWS, |table: &mut Table| {
        let limit = table.limit();
        let mut shown = 0;
        for value in record.rows().take(limit) {
            table.row([short(&value).into()]);
            shown += 1;
        }
        let all = record.coverage().examined;
        // Texts have units, not rows.
        if record.fact("item").is_none() && record.fact("summary").is_none() {
            table.skip(all.saturating_sub(shown));
        }
    });
}

/// A row in one line (also of other records): a string as it is, an object as its scalars.
pub fn short(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return scalar(value);
    };
    let members = object.iter().map(|(name, value)| {
        let name = String::from_utf8_lossy(name.as_bytes());
        format!("{name} {}", scalar(value))
    });
    members.collect::<Vec<_>>().join(", ")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
        Value::Array(items) => counted(items.len() as u64, "item", "items"),
        Value::Object(object) => counted(object.len() as u64, "member", "members"),
    }
}

fn describe_summary(summary: &Value, report: &mut Report) {
    let none = Value::Null;
    let part = |name| summary.get(name).unwrap_or(&none);
    for (shown, name) in [
        ("kind", "artifact_kind"),
        ("validation", "validation"),
        ("run", "runtime_execution"),
        ("fetched", "network_fetch"),
    ] {
        report.fact(shown, scalar(part(name)));
    }
    let artifact = part("artifact");
    report.fact("sha256", scalar(artifact.get("sha256").unwrap_or(&none)));
    for name in ["sections", "imports", "exports", "glue", "candidates"] {
        report.fact(name, scalar(part("counts").get(name).unwrap_or(&none)));
    }
    let wat = part("wat");
    match wat.get("length") {
        Some(length) => {
            report.fact("text", format!("{} UTF-16 code units", scalar(length)));
            report.fact("text sha256", scalar(wat.get("sha256").unwrap_or(&none)));
        }
        None => {
            let reason = scalar(wat.get("reason").unwrap_or(&none));
            report.fact("text", format!("not included: {reason}"));
        }
    }
}
