//! `rea compare-api-surfaces`: what differs between the APIs of two recordings.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::evidence::Source;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use rea::view::{Recorded, recorded};
use rea::web::compare_surfaces::{self, Side, SurfaceComparison};
use rea::web::template::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare_artifacts::one_stream;
use crate::paint::Tone;
use crate::quantity::thousands;
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::session;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use crate::view::usual_max_input_bytes;

/// Compare the APIs that two recordings of web traffic show
///
/// Takes two records of `rea inspect-web-network-capture` and says which
/// operations were added, removed or changed: in parameters, response
/// statuses, or the top-level shape of bodies. Operations are told apart by
/// method, origin and path template. What one recording did not call is
/// removed from it, not from the service; record the same walk on both sides.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Evidence of the old recording, `-` for standard input
    pub left: PathBuf,

    /// Evidence of the new recording, `-` for standard input
    pub right: PathBuf,

    /// Exit with 3 where something differs, with 4 where it cannot be told
    #[arg(long)]
    #[serde(skip)]
    pub exit_code: bool,

    /// Take the same path for the same operation on every origin, as where the
    /// two sides were recorded on different hosts
    #[arg(long)]
    #[serde(default)]
    pub any_origin: bool,

    /// Also apply this rule to path segments; may be given again
    #[arg(long = "template-rule", value_name = "RULE")]
    #[serde(default)]
    pub template_rules: Vec<TemplateRule>,
}

/// A rule that is applied on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TemplateRule {
    /// What stands behind a segment `uid` is a parameter
    AfterUidLiteral,
    /// Runs of letters and digits that no one would write are parameters
    OpaqueToken,
    /// Three values where all else is equal are a parameter
    SiblingVariance,
}

impl TemplateRule {
    /// The engine's rule.
    pub fn rule(self) -> Rule {
        match self {
            Self::AfterUidLiteral => Rule::AfterUidLiteral,
            Self::OpaqueToken => Rule::OpaqueToken,
            Self::SiblingVariance => Rule::SiblingVariance,
        }
    }

    /// Each rule once, in one order.
    pub fn distinct(rules: &[Self]) -> Vec<Rule> {
        let mut rules: Vec<Rule> = rules.iter().map(|rule| rule.rule()).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: compare_surfaces::OPERATION,
        family: Family::Web,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea compare-api-surfaces old.json new.json --exit-code";
    const TOOL: Form = Form::Own(Facts::DERIVED, session::COMPARE_SURFACES);
    const EXIT_STATUS: &'static [(u8, &'static str)] = &[
        (3, "with --exit-code: changed"),
        (
            4,
            "with --exit-code: cannot tell, a request line is not readable",
        ),
    ];

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        one_stream(Self::OPERATION.name, &self.left, &self.right)?;
        let context = ui.context(Self::OPERATION.name);
        let rules = TemplateRule::distinct(&self.template_rules);
        let comparison = ui.operate(&context, |context| {
            let limits = rea::json::Limits {
                max_input_bytes: usual_max_input_bytes().0,
                ..Default::default()
            };
            let left = recorded(Source::open(&self.left)?, false, limits, context)?;
            let right = recorded(Source::open(&self.right)?, false, limits, context)?;
            let (left, right) = (side(&left), side(&right));
            Ok(compare_surfaces::compare(
                &left,
                &right,
                &rules,
                self.any_origin,
            ))
        })?;
        ui.evidence(&context, &comparison.evidence, |report| {
            let names = [&self.left, &self.right].map(|path| display_path(path));
            report.title(format!("{} → {}", names[0], names[1]));
            describe(&comparison, report);
        })?;
        let status = match (self.exit_code, comparison.status()) {
            (false, _) | (true, "unchanged") => 0,
            (true, "changed") => 3,
            (true, _) => 4,
        };
        Ok(ExitCode::from(status))
    }
}

/// A side of the comparison.
pub fn side(recorded: &Recorded) -> Side<'_> {
    Side {
        id: recorded.parent.id,
        exchanges: &recorded.exchanges,
        shapes: &recorded.shapes,
    }
}

const CHANGES: &[Column] = &[
    Column::text("CHANGE"),
    Column::text("IN"),
    Column::text("OPERATION"),
];

fn describe(comparison: &SurfaceComparison, report: &mut Report) {
    let tone = match comparison.status() {
        "unchanged" => Tone::Good,
        _ => Tone::Warn,
    };
    report.toned_fact("status", comparison.status(), tone);
    report.fact("unchanged", thousands(comparison.unchanged));
    report.fact("evidence", comparison.evidence.id().to_string());
    report.table("Changes", CHANGES, |table| {
        for (change, operation, dimensions) in &comparison.rows {
            table.row([
                Cell::from(*change),
                dimensions.clone().into(),
                operation.clone().into(),
            ]);
        }
    });
    let said = comparison.evidence.limitations();
    report.list(
        "Limitations",
        said.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()),
    );
}
