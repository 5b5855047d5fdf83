//! Reports of views of lists of names and strings, shared by `view` and
//! `inspect-analysis-view`.

use rea::json::Value;
use rea::view::ViewRecord;

use crate::quantity::thousands;
use crate::report::Report;
use crate::table::{Column, Table};
use crate::wasm_view::short;

const ROWS: &[Column] = &[
    Column::number("ROW"),
    Column::number("ADDRESS"),
    Column::text("VALUE"),
    Column::text("MORE"),
];

/// What a view selects of a list, as a report.
pub fn describe(record: &ViewRecord, report: &mut Report) {
    if let Some(summary) = record.fact("summary") {
        return describe_summary(summary, report);
    }
    report.table("Rows", ROWS, |table: &mut Table| {
        let limit = table.limit();
        let mut shown = 0;
        for row in record.rows().take(limit) {
            let inner = row.get("record");
            let member = |name| inner.and_then(|inner| inner.get(name)).map(short);
            let more: Vec<String> = inner
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|inner| inner.iter())
                .filter(|(name, _)| **name != *"address" && **name != *"value")
                .map(|(name, value)| {
                    let name = String::from_utf8_lossy(name.as_bytes());
                    format!("{name}={}", short(value))
                })
                .collect();
            table.row([
                row.get("source_index")
                    .map(short)
                    .unwrap_or_default()
                    .into(),
                member("address").unwrap_or_default().into(),
                member("value").unwrap_or_default().into(),
                more.join(" ").into(),
            ]);
            shown += 1;
        }
        table.skip(record.coverage().examined.saturating_sub(shown));
    });
}

fn describe_summary(summary: &Value, report: &mut Report) {
    if let Some(Value::Number(rows)) = summary.get("row_count") {
        report.fact("rows", thousands(*rows as u64));
    }
    for name in ["query", "provider", "discovery_coverage"] {
        if let Some(value) = summary.get(name) {
            report.fact(name, short(value));
        }
    }
}
