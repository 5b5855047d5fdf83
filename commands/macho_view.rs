//! Reports of views of `inspect-macho`, shared by `view` and
//! `inspect-analysis-view`.

use rea::json::Value;
use rea::view::ViewRecord;

use crate::report::Report;
use crate::table::{Column, Table};
use crate::wasm_view::short;

const ROWS: &[Column] = &[Column::text("ROW")];
const COLLECTIONS: &[Column] = &[
    Column::text("LIST"),
    Column::number("ROWS"),
    Column::text("ALL THERE ARE"),
];

/// What a view selects of a Mach-O file, as a report.
pub fn describe(record: &ViewRecord, report: &mut Report) {
    if let Some(summary) = record.fact("summary") {
        return describe_summary(summary, report);
    }
    if let Some(Value::Bool(exhaustive)) = record.fact("source_exhaustive") {
        report.fact("all there are", yes_or_unknown(*exhaustive));
    }
    report.table("Rows", ROWS, |table: &mut Table| {
        let limit = table.limit();
        let mut shown = 0;
        for value in record.rows().take(limit) {
            table.row([short(&value).into()]);
            shown += 1;
        }
        table.skip(record.coverage().examined.saturating_sub(shown));
    });
}

fn yes_or_unknown(exhaustive: bool) -> &'static str {
    if exhaustive { "yes" } else { "unknown" }
}

fn describe_summary(summary: &Value, report: &mut Report) {
    for name in ["file_type", "uuid", "endian", "word_size"] {
        if let Some(value) = summary.get(name) {
            report.fact(name, short(value));
        }
    }
    let slice = summary.get("selected_slice");
    if let Some(name) = slice.and_then(|slice| slice.get("architecture")) {
        report.fact("architecture", short(name));
    }
    let collections = summary.get("collections").and_then(Value::as_object);
    report.table("Lists", COLLECTIONS, |table| {
        for (name, one) in collections.into_iter().flat_map(|all| all.iter()) {
            let name = String::from_utf8_lossy(name.as_bytes()).into_owned();
            let returned = one.get("returned").map(short).unwrap_or_default();
            let all = one.get("exhaustive") == Some(&Value::Bool(true));
            table.row([name.into(), returned.into(), yes_or_unknown(all).into()]);
        }
    });
}
