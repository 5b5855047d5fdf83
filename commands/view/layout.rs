//! The report of a view of a layout.

use rea::json::Value;
use rea::view::ViewRecord;

use super::{member, page, text};
use crate::paint::Tone;
use crate::quantity::{human_bytes, thousands};
use crate::report::Report;
use crate::table::{Cell, Column};

pub fn describe(record: &ViewRecord, report: &mut Report) {
    if let Some(summary) = record.fact("summary") {
        describe_summary(summary, report);
    }
    match record.fact("facet") {
        Some(facet) if facet.get("needed_libraries").is_some() => linkage(facet, report),
        Some(facet) => mitigations(facet, report),
        None => {}
    }
    if let Some(item) = record.fact("item") {
        report.table("Row", FACTS, |table| {
            for (name, value) in item.as_object().into_iter().flat_map(|row| row.iter()) {
                table.row([text(name), flat(value)].map(Cell::from));
            }
        });
    }
    match record.view().get("collection").and_then(Value::as_str) {
        _ if record.kind() != "page" => {}
        Some("sections") => page(record, report, SECTIONS, section),
        Some("segments") => page(record, report, SEGMENTS, segment),
        Some("symbols") => page(record, report, SYMBOLS, symbol),
        Some("relocations") => page(record, report, RELOCATIONS, relocation),
        Some("imports" | "exports") => page(record, report, NAMES, named),
        _ => {}
    }
}

const FACTS: &[Column] = &[Column::text("MEMBER"), Column::text("VALUE")];
const INDICATORS: &[Column] = &[Column::text("INDICATOR"), Column::text("VALUE")];
const LIBRARIES: &[Column] = &[Column::text("NAME")];
const SLOTS: &[Column] = &[Column::number("ADDRESS"), Column::text("NAME")];
const SECTIONS: &[Column] = &[
    Column::number("#"),
    Column::text("TYPE"),
    Column::number("ADDRESS"),
    Column::number("OFFSET"),
    Column::number("SIZE"),
    Column::text("SECTION"),
];
const SEGMENTS: &[Column] = &[
    Column::number("#"),
    Column::text("TYPE"),
    Column::number("ADDRESS"),
    Column::number("OFFSET"),
    Column::number("IN FILE"),
    Column::number("IN MEMORY"),
    Column::text("MAY"),
];
const SYMBOLS: &[Column] = &[
    Column::number("VALUE"),
    Column::number("SIZE"),
    Column::text("TYPE"),
    Column::text("BINDING"),
    Column::text("SECTION"),
    Column::text("NAME"),
];
const RELOCATIONS: &[Column] = &[
    Column::number("SECTION"),
    Column::number("OFFSET"),
    Column::number("TYPE"),
    Column::number("SYMBOL"),
    Column::number("ADDEND"),
];
const NAMES: &[Column] = &[
    Column::number("ADDRESS"),
    Column::text("KIND"),
    Column::text("VERSION OR LIBRARY"),
    Column::text("NAME"),
];

fn describe_summary(summary: &Value, report: &mut Report) {
    let none = Value::Null;
    let part = |name| summary.get(name).unwrap_or(&none);
    let architecture = part("architecture");
    report.fact("format", member(summary, "format"));
    let machine = format!(
        "{}, {} bits, {} endian",
        member(architecture, "machine"),
        member(architecture, "bits"),
        member(architecture, "byte_order")
    );
    report.fact("machine", machine);
    report.fact("image", member(summary, "image_type"));
    let entry = part("entry");
    let entry = format!(
        "{} ({})",
        member(entry, "reported_value"),
        member(entry, "meaning")
    );
    report.fact("entry", entry);
    if let Value::Number(bytes) = part("bytes") {
        report.fact("size", human_bytes(*bytes as u64));
    }
    for name in ["sections", "segments", "symbols", "relocations"] {
        if let Some(Value::Number(count)) = part("counts").get(name) {
            report.fact(name, thousands(*count as u64));
        }
    }
}

fn mitigations(facet: &Value, report: &mut Report) {
    report.table("Protections", INDICATORS, |table| {
        for (name, value) in facet.as_object().into_iter().flat_map(|row| row.iter()) {
            if *name != *"evidence_kind" {
                table.row([text(name), flat(value)].map(Cell::from));
            }
        }
    });
}

fn linkage(facet: &Value, report: &mut Report) {
    let rows = |name| {
        facet
            .get(name)
            .and_then(Value::as_array)
            .unwrap_or_default()
    };
    for (heading, name) in [
        ("Libraries", "needed_libraries"),
        ("Interpreters", "interpreters"),
    ] {
        report.table(heading, LIBRARIES, |table| {
            for row in rows(name) {
                table.row([member(row, "display").into()]);
            }
        });
    }
    for (heading, name) in [("GOT", "got"), ("PLT", "plt")] {
        report.table(heading, SLOTS, |table| {
            for row in rows(name) {
                table.row([member(row, "address"), member(row, "display_name")].map(Cell::from));
            }
        });
    }
}

/// A value on one line.
fn flat(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(value) => text(value),
        Value::Array(items) => items.iter().map(flat).collect::<Vec<_>>().join(", "),
        Value::Object(object) => {
            let members = object.iter().filter(|(_, value)| **value != Value::Null);
            let shown = members.map(|(name, value)| format!("{} {}", text(name), flat(value)));
            shown.collect::<Vec<_>>().join(", ")
        }
    }
}

fn display(row: &Value) -> String {
    row.get("name")
        .map_or_else(String::new, |name| member(name, "display"))
}

fn section(row: &Value) -> [Cell; 6] {
    [
        member(row, "index").into(),
        member(row, "type").into(),
        member(row, "address").into(),
        member(row, "offset").into(),
        member(row, "size").into(),
        display(row).into(),
    ]
}

fn segment(row: &Value) -> [Cell; 7] {
    let may = |name| {
        let permissions = row.get("permissions");
        permissions.and_then(|it| it.get(name)) == Some(&Value::Bool(true))
    };
    let may: String = [("read", 'r'), ("write", 'w'), ("execute", 'x')]
        .into_iter()
        .map(|(name, letter)| if may(name) { letter } else { '-' })
        .collect();
    [
        member(row, "index").into(),
        member(row, "type").into(),
        member(row, "virtual_address").into(),
        member(row, "offset").into(),
        member(row, "file_size").into(),
        member(row, "memory_size").into(),
        may.into(),
    ]
}

fn symbol(row: &Value) -> [Cell; 6] {
    [
        member(row, "value").into(),
        member(row, "size").into(),
        member(row, "type").into(),
        member(row, "binding").into(),
        Cell::toned(member(row, "section_index"), Tone::Dim),
        display(row).into(),
    ]
}

fn relocation(row: &Value) -> [Cell; 5] {
    [
        member(row, "section_index").into(),
        member(row, "reported_offset").into(),
        member(row, "type").into(),
        member(row, "symbol_index").into(),
        member(row, "addend").into(),
    ]
}

fn named(row: &Value) -> [Cell; 4] {
    let name = match (member(row, "name"), member(row, "ordinal")) {
        (name, ordinal) if name.is_empty() && !ordinal.is_empty() => format!("#{ordinal}"),
        (name, _) => name,
    };
    let of = ["version", "library", "forwarder"]
        .into_iter()
        .map(|of| member(row, of))
        .find(|of| !of.is_empty());
    [
        member(row, "address").into(),
        member(row, "kind").into(),
        of.unwrap_or_default().into(),
        name.into(),
    ]
}
