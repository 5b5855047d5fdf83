//! `rea compare-bundles`: which records and unknowns two bundles hold.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::{Args, value_parser};
use rea::evidence::{
    Change, Comparison, ComparisonOptions, Conclusion, Entity, RecordPair, Source, read_bundle,
};
use rea::json::MAX_SAFE_INTEGER;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use rea::{Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use crate::bundle_options::{RecordId, limits, usual_max_input_bytes};
use crate::paint::Tone;
use crate::quantity::{ByteSize, counted, safe_integer, thousands};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::session;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Compare what two bundles hold: records and the histories of unknowns
///
/// Records are compared by id, so two bundles that differ in names or paths of
/// subjects alone are `changed` without an item. A record that one side lacks
/// is a change; an unknown that one side lacks is an open question, and the
/// status is then `unknown`. Histories of an unknown that fork contradict each
/// other.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The bundle before, `-` for standard input
    pub left: PathBuf,

    /// The bundle after, `-` for standard input
    pub right: PathBuf,

    /// Two records that belong together though their ids differ; repeatable
    #[arg(long, value_name = "LEFT_ID:RIGHT_ID")]
    #[serde(default)]
    pub pair: Vec<Pair>,

    /// Items to pass over
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER))]
    #[serde(default, deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub offset: u64,

    /// Items to list
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = value_parser!(u64).range(1..=500))]
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 500))]
    pub limit: u64,

    /// Exit 3 if changed, 4 if that cannot be told, 5 for a contradiction
    #[arg(long)]
    #[serde(default)]
    pub exit_code: bool,

    /// Records and revisions of unknowns of both sides together
    #[arg(long, value_name = "N", default_value_t = ComparisonOptions::default().most,
          value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER), help_heading = "Limits")]
    #[serde(default = "usual_max_records", deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub max_records: u64,

    /// Bytes to read of one file at most
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_input_bytes(),
          help_heading = "Limits")]
    #[serde(default = "usual_max_input_bytes")]
    pub max_input_bytes: ByteSize,
}

fn usual_limit() -> u64 {
    ComparisonOptions::default().limit
}

fn usual_max_records() -> u64 {
    ComparisonOptions::default().most
}

/// Two records, as `LEFT_ID:RIGHT_ID`.
#[derive(Clone, Copy, Debug)]
pub struct Pair(RecordPair);

impl FromStr for Pair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (left, right) = text.split_once(':').ok_or("LEFT_ID:RIGHT_ID is needed")?;
        let (RecordId(left), RecordId(right)) = (left.parse()?, right.parse()?);
        Ok(Self(RecordPair { left, right }))
    }
}

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Pair {
    fn schema_name() -> Cow<'static, str> {
        "Pair".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^ev_[a-f0-9]{64}:ev_[a-f0-9]{64}$"
        })
    }
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "compare_bundles",
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea compare-bundles before.json after.json --exit-code";
    const TOOL: Form = Form::Own(Facts::COMPARING, session::COMPARE_BUNDLES);
    const ALIAS: Option<&'static str> = Some("compare");
    const EXIT_STATUS: &'static [(u8, &'static str)] = &[
        (3, "with --exit-code: changed"),
        (4, "with --exit-code: whether it changed cannot be told"),
        (5, "with --exit-code: the sides contradict each other"),
    ];

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        if [&self.left, &self.right].map(|path| path.as_os_str() == "-") == [true, true] {
            let message = "both sides cannot come from standard input";
            let (name, at) = (Self::OPERATION.name, ["right"]);
            return Err(
                Error::invalid_request(name, &at, "invalid_value", message).action(
                    "Name a file for one of them; `<(COMMAND)` works too, where the shell has it.",
                ),
            );
        }
        let comparison = ui.operate(&context, |context| {
            let read =
                |path| read_bundle(Source::open(path)?, limits(self.max_input_bytes), context);
            let (left, right) = (read(&self.left)?, read(&self.right)?);
            let options = ComparisonOptions {
                pairs: self.pair.iter().map(|pair| pair.0).collect(),
                offset: self.offset,
                limit: self.limit,
                most: self.max_records,
            };
            Comparison::of(&left, &right, &options, context)
        })?;
        ui.document(&context, &comparison, |report| {
            report.title(format!(
                "{} and {}",
                display_path(&self.left),
                display_path(&self.right)
            ));
            describe(&comparison, report);
        })?;
        Ok(match self.exit_code {
            true => ExitCode::from(status(&comparison)),
            false => ExitCode::SUCCESS,
        })
    }
}

fn status(comparison: &Comparison) -> u8 {
    match comparison.status() {
        _ if comparison.is_contradiction() => 5,
        "unchanged" => 0,
        "changed" => 3,
        _ => 4,
    }
}

const CHANGES: &[Column] = &[
    Column::text("WHAT"),
    Column::text("CHANGE"),
    Column::text("CONCLUSION"),
    Column::text("KEY"),
];

fn describe(comparison: &Comparison, report: &mut Report) {
    let tone = match comparison.status() {
        "unchanged" => Tone::Good,
        "changed" => Tone::Plain,
        _ => Tone::Warn,
    };
    let counts = &comparison.counts;
    report.toned_fact("status", comparison.status(), tone);
    let count = |numbers: &[(u64, &str)]| {
        let said: Vec<String> = numbers
            .iter()
            .map(|(number, what)| format!("{} {what}", thousands(*number)))
            .collect();
        said.join(", ")
    };
    report.fact(
        "records",
        count(&[
            (counts.records_unchanged, "unchanged"),
            (counts.records_added, "added"),
            (counts.records_removed, "removed"),
            (counts.records_changed, "changed"),
        ]),
    );
    report.fact(
        "unknowns",
        count(&[
            (counts.unknowns_unchanged, "unchanged"),
            (counts.unknowns_added, "added"),
            (counts.unknowns_removed, "removed"),
            (counts.unknowns_advanced, "advanced"),
            (counts.unknowns_diverged, "diverged"),
        ]),
    );
    report.fact("left sha256", comparison.left_bundle_sha256.to_hex());
    report.fact("right sha256", comparison.right_bundle_sha256.to_hex());
    let total = comparison.changes.len() as u64;
    let page = comparison.page();
    let heading = match page.len() as u64 == total {
        true => counted(total, "change", "changes"),
        false => format!(
            "{} of {}, see --offset and --limit",
            thousands(page.len() as u64),
            counted(total, "change", "changes")
        ),
    };
    report.table(heading, CHANGES, |table| {
        for change in page {
            table.row(row(change));
        }
    });
    report.list("Limitations", comparison.limitations());
}

fn row(change: &Change) -> [Cell; 4] {
    let tone = match change.conclusion {
        Conclusion::ObservedChange => Tone::Plain,
        Conclusion::UnresolvedBranch => Tone::Warn,
        Conclusion::Contradiction => Tone::Bad,
    };
    [
        match change.entity {
            Entity::Evidence => "record",
            Entity::ResidualUnknown => "unknown",
        }
        .into(),
        change.classification.as_str().into(),
        Cell::toned(change.conclusion.as_str(), tone),
        change.key.as_str().into(),
    ]
}
