//! `rea verify-unknown-resolution`: whether an unknown is answered by Evidence.

use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::Verdict;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bundle_options::{BundleOptions, QuestionId};
use crate::paint::Tone;
use crate::registry::{Command, OutputKind};
use crate::session;
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use crate::unknown_options::describe_unknown;

/// Say whether an unknown is resolved, and whether records verify it
///
/// `valid` is true once the unknown has a resolution; `truthVerified` is true
/// only if that resolution is `verified`. That its records are there and meet
/// what the unknown requires is checked whenever a bundle is read.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub bundle: BundleOptions,

    /// The unknown
    pub unknown_id: QuestionId,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "verify_unknown_resolution",
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea verify-unknown-resolution bundle.json \"$UNKNOWN\" | jq .truthVerified";
    const TOOL: Form = Form::Own(Facts::READING, session::VERIFY_RESOLUTION);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let bundle = ui.operate(&context, |context| self.bundle.read(context))?;
        let verdict = Verdict(bundle.unknown(self.unknown_id.0)?);
        ui.document(&context, &verdict, |report| {
            describe_unknown(verdict.0, report, |report| {
                for (name, holds) in [
                    ("resolved", verdict.is_valid()),
                    ("verified by records", verdict.is_verified()),
                ] {
                    let (word, tone) = match holds {
                        true => ("yes", Tone::Good),
                        false => ("no", Tone::Warn),
                    };
                    report.toned_fact(name, word, tone);
                }
            });
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
