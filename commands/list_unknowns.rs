//! `rea list-unknowns`: the open and the answered questions of a bundle.

use std::process::ExitCode;

use clap::{Args, value_parser};
use rea::Result;
use rea::evidence::UnknownFilter;
use rea::json::{MAX_SAFE_INTEGER, Text};
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::bundle_options::BundleOptions;
use crate::quantity::{counted, safe_integer};
use crate::registry::{Command, OutputKind};
use crate::session;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use crate::unknown_options::{Severity, UnknownStatus, tone};

/// List the unknowns of a bundle, each in its newest revision
///
/// Filters come first, then the page. Without --limit, all that match are
/// listed, in the order of their ids.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub bundle: BundleOptions,

    /// Only those that have come so far
    #[arg(long, value_name = "STATUS")]
    #[serde(default)]
    pub status: Option<UnknownStatus>,

    /// Only those on which so much depends
    #[arg(long, value_name = "SEVERITY")]
    #[serde(default)]
    pub severity: Option<Severity>,

    /// Only those of this field
    #[arg(long, value_name = "NAME")]
    #[serde(default)]
    pub domain: Option<String>,

    /// Matches to pass over
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER))]
    #[serde(default, deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub offset: u64,

    /// Matches to list [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MAX_SAFE_INTEGER))]
    #[serde(default, deserialize_with = "optional_safe_integer")]
    #[schemars(range(min = 1, max = MAX_SAFE_INTEGER))]
    pub limit: Option<u64>,
}

fn optional_safe_integer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    safe_integer(from).map(Some)
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "list_unknowns",
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea list-unknowns bundle.json --status open --severity high";
    const TOOL: Form = Form::Own(Facts::READING, session::LIST_UNKNOWNS);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let bundle = ui.operate(&context, |context| self.bundle.read(context))?;
        let listing = bundle.unknowns().list(&UnknownFilter {
            status: self.status.map(Into::into),
            severity: self.severity.map(Into::into),
            domain: self.domain.as_deref().map(Text::from),
            offset: self.offset,
            limit: self.limit,
        });
        ui.document(&context, &listing, |report| {
            report.title(display_path(&self.bundle.bundle));
            report.fact(
                "unknowns",
                counted(bundle.unknowns().len() as u64, "unknown", "unknowns"),
            );
            report.fact("matching", counted(listing.total, "unknown", "unknowns"));
            let plain = |text: &Text| String::from_utf8_lossy(text.as_bytes()).into_owned();
            report.table("Unknowns", UNKNOWNS, |table| {
                for unknown in &listing.page {
                    table.row([
                        unknown.unknown_id.to_string().into(),
                        unknown.revision.to_string().into(),
                        Cell::toned(unknown.status.as_str(), tone(unknown)),
                        unknown.severity.as_str().into(),
                        plain(&unknown.domain).into(),
                        plain(&unknown.question).into(),
                    ]);
                }
            });
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

const UNKNOWNS: &[Column] = &[
    Column::text("UNKNOWN"),
    Column::number("REVISION"),
    Column::text("STATUS"),
    Column::text("SEVERITY"),
    Column::text("DOMAIN"),
    Column::text("QUESTION"),
];
