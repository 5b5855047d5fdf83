//! `rea update-unknown`: the next revision of an open question.

use std::process::ExitCode;

use clap::{Args, ValueEnum, value_parser};
use rea::Result;
use rea::evidence::{Resolution, Revision, UnknownUpdate};
use rea::json::MAX_SAFE_INTEGER;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bundle_options::{BundleOptions, QuestionId, RecordId};
use crate::quantity::safe_integer;
use crate::registry::{Command, OutputKind};
use crate::session;
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use crate::unknown_options::{
    Answer, Authority, Confidence, Disposition, Environment, Probe, Relationship, Severity,
    UnknownStatus, ids,
};

/// Write the next revision of an unknown in a bundle
///
/// What is not given stays as it is in the newest revision; a list that is
/// given replaces the one that is there, and --clear empties one. The update
/// is refused if the newest revision is not the expected one, and if the
/// result cannot be: an unknown is resolved exactly when it has a resolution,
/// and a verified resolution needs a supporting record that meets what the
/// unknown requires.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    pub bundle: BundleOptions,

    /// The unknown
    pub unknown_id: QuestionId,

    /// The newest revision that you have seen
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MAX_SAFE_INTEGER))]
    #[serde(deserialize_with = "safe_integer")]
    #[schemars(range(min = 1, max = MAX_SAFE_INTEGER))]
    pub expected_revision: u64,

    /// How far it has come; `resolved` with --disposition
    #[arg(long, value_name = "STATUS")]
    #[serde(default)]
    pub status: Option<UnknownStatus>,

    /// How much depends on it
    #[arg(long, value_name = "SEVERITY")]
    #[serde(default)]
    pub severity: Option<Severity>,

    /// A record that speaks for an answer; repeatable
    #[arg(long = "supporting", value_name = "ID")]
    #[serde(default)]
    pub supporting_evidence_ids: Vec<RecordId>,

    /// A record that speaks against it; repeatable
    #[arg(long = "contradicting", value_name = "ID")]
    #[serde(default)]
    pub contradicting_evidence_ids: Vec<RecordId>,

    /// What an answer must rest on
    #[arg(long, value_name = "AUTHORITY")]
    #[serde(default)]
    pub required_authority: Option<Authority>,

    /// How an answer must have been reached, at least
    #[arg(long, value_name = "CONFIDENCE")]
    #[serde(default)]
    pub required_confidence: Option<Confidence>,

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

    /// Resolve it in this way
    #[arg(long, value_name = "DISPOSITION", requires = "rationale")]
    #[serde(default)]
    pub disposition: Option<Disposition>,

    /// Why it is resolved so
    #[arg(long, value_name = "TEXT", requires = "disposition")]
    #[serde(default)]
    pub rationale: Option<String>,

    /// A record that resolves it; repeatable
    #[arg(long = "resolved-by", value_name = "ID", requires = "disposition")]
    #[serde(default)]
    pub resolution_evidence_ids: Vec<RecordId>,

    /// Make empty what is there; repeatable
    #[arg(long, value_name = "WHAT")]
    #[serde(default)]
    pub clear: Vec<Clear>,
}

/// What can be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clear {
    /// Supporting records
    Supporting,
    /// Contradicting records
    Contradicting,
    /// What an answer must rest on
    RequiredAuthority,
    /// Where an answer must come from
    RequiredEnvironment,
    /// Operations that may help
    Probes,
    /// Links to other unknowns
    Relationships,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "update_unknown",
        family: Family::Evidence,
        effects: &[Effect::Read, Effect::Write],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str =
        "rea update-unknown bundle.json \"$UNKNOWN\" --expected-revision 1 --status investigating";
    const TOOL: Form = Form::Own(Facts::CHANGING, session::UPDATE_UNKNOWN);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let (mutated, replaced) = ui.operate(&context, |context| {
            let (locked, mut bundle) = self.bundle.lock(context)?;
            let update = self.update(bundle.unknown(self.unknown_id.0)?);
            let scope = bundle.scope_of(self.unknown_id.0);
            let mutated = bundle.update_unknown(&update, scope)?;
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
    /// The complete replacement: what is given, and of the head the rest.
    fn update(&self, head: &Revision) -> UnknownUpdate {
        let status = match (self.status, self.disposition) {
            (Some(status), _) => status.into(),
            (None, Some(_)) => rea::evidence::UnknownStatus::Resolved,
            (None, None) => head.status,
        };
        let resolution = match self.disposition {
            Some(disposition) => Some(Resolution {
                disposition: disposition.into(),
                rationale: self.rationale.as_deref().unwrap_or_default().into(),
                evidence_ids: ids(&self.resolution_evidence_ids),
            }),
            // What is opened again is resolved no more.
            None if status != rea::evidence::UnknownStatus::Resolved => None,
            None => head.resolution.clone(),
        };
        let required_environment = self.required_environment.as_ref().map(Into::into);
        let probes = self.recommended_probes.iter().map(Into::into).collect();
        let relationships = self.relationships.iter().map(Into::into).collect();
        UnknownUpdate {
            unknown_id: self.unknown_id.0,
            expected_revision: self.expected_revision,
            status,
            severity: self.severity.map_or(head.severity, Into::into),
            supporting_evidence_ids: self.list(
                Clear::Supporting,
                ids(&self.supporting_evidence_ids),
                &head.supporting_evidence_ids,
            ),
            contradicting_evidence_ids: self.list(
                Clear::Contradicting,
                ids(&self.contradicting_evidence_ids),
                &head.contradicting_evidence_ids,
            ),
            required_authority: self.one(
                Clear::RequiredAuthority,
                self.required_authority.map(Into::into),
                head.required_authority.as_ref(),
            ),
            required_confidence: self
                .required_confidence
                .map_or(head.required_confidence, Into::into),
            required_environment: self.one(
                Clear::RequiredEnvironment,
                required_environment,
                head.required_environment.as_ref(),
            ),
            recommended_probes: self.list(Clear::Probes, probes, &head.recommended_probes),
            relationships: self.list(Clear::Relationships, relationships, &head.relationships),
            resolution,
        }
    }

    fn list<T: Clone>(&self, what: Clear, given: Vec<T>, there: &[T]) -> Vec<T> {
        match given.is_empty() && !self.clear.contains(&what) {
            true => there.to_vec(),
            false => given,
        }
    }

    fn one<T: Clone>(&self, what: Clear, given: Option<T>, there: Option<&T>) -> Option<T> {
        match given.is_none() && !self.clear.contains(&what) {
            true => there.cloned(),
            false => given,
        }
    }
}
