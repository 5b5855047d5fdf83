//! `rea record-unknown`: a question that analysis left open, into a bundle.

use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::{NewUnknown, UnknownScope};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bundle_options::{BundleOptions, RecordId};
use crate::registry::{Command, OutputKind};
use crate::session;
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use crate::unknown_options::{
    Answer, Authority, Confidence, Environment, Probe, Relationship, Severity, ids,
};

/// Record a question that analysis left open in a bundle
///
/// The question and the record of recording it go into the file together, or
/// not at all. The same question, however it is spaced, is recorded once for
/// each domain and artifact. The file is locked meanwhile, so that two
/// processes cannot lose each other's changes.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub bundle: BundleOptions,

    /// The question
    #[arg(long, value_name = "TEXT")]
    pub question: String,

    /// How much depends on it
    #[arg(long, value_name = "SEVERITY")]
    pub severity: Severity,

    /// The field it belongs to, such as `protocol`
    #[arg(long, value_name = "NAME")]
    pub domain: String,

    /// The record whose artifact the question is about [default: none]
    #[arg(long, value_name = "ID")]
    #[serde(default)]
    pub about: Option<RecordId>,

    /// A record that speaks for an answer; repeatable
    #[arg(long = "supporting", value_name = "ID")]
    #[serde(default)]
    pub supporting_evidence_ids: Vec<RecordId>,

    /// A record that speaks against it; repeatable
    #[arg(long = "contradicting", value_name = "ID")]
    #[serde(default)]
    pub contradicting_evidence_ids: Vec<RecordId>,

    /// What an answer must rest on [default: anything]
    #[arg(long, value_name = "AUTHORITY")]
    #[serde(default)]
    pub required_authority: Option<Authority>,

    /// How an answer must have been reached, at least
    #[arg(long, value_name = "CONFIDENCE", default_value = "observed")]
    pub required_confidence: Confidence,

    /// Where an answer must come from: `platform=linux,isolation=container`
    #[arg(long, value_name = "NAME=VALUE,...")]
    #[serde(default)]
    pub required_environment: Option<Environment>,

    /// An operation that may help; repeatable
    #[arg(long = "probe", value_name = "OPERATION=WHY")]
    #[serde(default)]
    pub recommended_probes: Vec<Probe>,

    /// A link: `depends-on:ID`, `related-to:ID`, `contradicts:ID`; repeatable
    #[arg(long = "relationship", value_name = "TYPE:ID")]
    #[serde(default)]
    pub relationships: Vec<Relationship>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "record_unknown",
        family: Family::Evidence,
        effects: &[Effect::Read, Effect::Write],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str = "rea record-unknown bundle.json --question 'Which server does it ask?' --severity high --domain protocol";
    const TOOL: Form = Form::Own(Facts::RECORDING, session::RECORD_UNKNOWN);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let (mutated, replaced) = ui.operate(&context, |context| {
            let (locked, mut bundle) = self.bundle.lock(context)?;
            let scope = match self.about {
                Some(RecordId(id)) => UnknownScope::Record(id),
                None => UnknownScope::Nothing,
            };
            let mutated = bundle.record_unknown(&self.unknown(), scope)?;
            let replaced = locked.replace(&bundle, context)?;
            Ok((mutated, replaced))
        })?;
        let answer = Answer {
            mutated: &mutated,
            replaced: &replaced,
        };
        ui.document(&context, &answer, |report| answer.describe(report))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Input {
    fn unknown(&self) -> NewUnknown {
        NewUnknown {
            question: self.question.as_str().into(),
            severity: self.severity.into(),
            domain: self.domain.as_str().into(),
            required_authority: self.required_authority.map(Into::into),
            required_confidence: self.required_confidence.into(),
            required_environment: self.required_environment.as_ref().map(Into::into),
            recommended_probes: self.recommended_probes.iter().map(Into::into).collect(),
            relationships: self.relationships.iter().map(Into::into).collect(),
            supporting_evidence_ids: ids(&self.supporting_evidence_ids),
            contradicting_evidence_ids: ids(&self.contradicting_evidence_ids),
        }
    }
}
