//! `rea inspect-plist`: what a property list holds.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::apple::{self, PlistRecord, plist::Value};
use rea::evidence::Record;
use rea::operation::{Context, Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::recursive::{self, Brief, Take, Target};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::table::{Cell, Column, Table};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Read a property list of any notation, with exact types
///
/// Takes a property list, a bundle, or the executable of a bundle.
/// Reads XML, binary, OpenStep (with GNUstep's typed values and .strings
/// files) and JSON property lists. Given a bundle (an .app, a .framework), its
/// Info.plist is read. What JSON has no type for is marked: dates as
/// {"$date": ...}, data as {"$data": base64}, references of keyed archives as
/// {"UID": n}, integers beyond 2^53 as {"$integer": "..."}. Nothing is run and
/// nothing is fetched; lists that refer to themselves or expand without bound
/// are refused.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,

    /// Property list inside the bundle, in place of its Info.plist
    #[arg(long, value_name = "PATH", conflicts_with = "recursive")]
    pub relative_path: Option<PathBuf>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "inspect_plist",
        family: Family::Artifact,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea inspect-plist Some.app | jq .normalized_result.value.CFBundleURLTypes";
    const TOOL: Form = Form::Same(Facts::STRUCTURE);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        if let Some(folder) = self.target.folder() {
            return recursive::run(ui, &context, folder, one_of_many);
        }
        let path = self.target.path(context.operation)?;
        let record = ui.operate(&context, |context| {
            apple::inspect_plist(path, self.relative_path.as_deref(), context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A file of a folder, where it is a property list.
fn one_of_many(path: &Path, context: &Context, take: &mut Take<'_>) -> Result<()> {
    let head = rea::recursive::head(path, apple::plist::HEAD, context.operation)?;
    if !apple::plist::may_be(path, &head) {
        return Ok(());
    }
    let record = apple::inspect_plist(path, None, context)?;
    let value = &record.plist().value;
    let named = ["CFBundleIdentifier", "Label"]
        .into_iter()
        .find_map(|key| value.get(key))
        .map(|name| name.brief().into_owned());
    let brief = Brief {
        format: record.plist().notation.as_str().to_owned(),
        what: named.unwrap_or_else(|| value.brief().into_owned()),
    };
    take(&record, brief);
    Ok(())
}

const VALUES: &[Column] = &[
    Column::text("KEY"),
    Column::text("TYPE"),
    Column::text("VALUE"),
];

fn describe(record: &PlistRecord, report: &mut Report) {
    let plist = record.plist();
    report.title(record.source_path());
    report.fact("notation", plist.notation.as_str());
    report.fact("sha256", record.sha256().to_hex());
    report.fact("evidence", record.id().to_string());
    report.table("Values", VALUES, |table| values(&plist.value, "", 0, table));
    report.list(
        "Limitations",
        record.limitations().iter().map(String::as_str),
    );
}

/// Three levels; the record has all of them.
fn values(value: &Value, key: &str, level: usize, table: &mut Table) {
    let row = |key: &str, value: &Value, table: &mut Table| {
        table.row([
            Cell::from(key),
            value.type_name().into(),
            value.brief().as_ref().into(),
        ]);
    };
    match value {
        Value::Dict(members) if level < 3 && !members.is_empty() => {
            for (name, value) in members {
                let name = String::from_utf8_lossy(name.as_bytes());
                let path = match key {
                    "" => name.into_owned(),
                    _ => format!("{key}.{name}"),
                };
                values(value, &path, level + 1, table);
            }
        }
        Value::Array(items) if level < 3 && !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                values(value, &format!("{key}[{at}]"), level + 1, table);
            }
        }
        _ => row(key, value, table),
    }
}
