//! `rea inspect-artifact`: what a file or folder is and what to look at next.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::artifact;
use rea::error::{Code, Error};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact_options::ArtifactOptions;
use crate::inventory_artifact::describe_inventory;
use crate::registry::{Command, OutputKind, find};
use crate::report::{Report, path_word};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Say what a file or folder is, what is in it and what to look at next
///
/// Reads the whole artifact, opens the containers in it (archives, packages,
/// compressed streams, slices) and hashes every member. The record holds the
/// complete inventory as Evidence of its own, observations, contradictions
/// between declared and observed digests, and the operations that fit.
/// Nothing is executed and nothing is written beside the result.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File or folder to take apart
    pub path: PathBuf,

    /// How much of the record to deliver; `summary` needs a session
    #[arg(long, value_name = "DETAIL", default_value = "complete")]
    #[serde(default)]
    pub detail: Detail,

    #[command(flatten)]
    #[serde(flatten)]
    pub options: ArtifactOptions,
}

/// How much of a record a session delivers.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// All of it
    #[default]
    Complete,
    /// A view, while the session keeps the record
    Summary,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "inspect_artifact",
        family: Family::Everyday,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea inspect-artifact app.apk -o app.json";
    const TOOL: Form =
        Form::Same(Facts::ARTIFACT.with_summary(
            r#"{"kind":"inventory","collection":"occurrences","offset":0,"limit":64}"#,
        ));

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        if self.detail == Detail::Summary {
            return Err(summary_needs_a_session(
                &Self::OPERATION,
                "rea-artifact-graph",
            ));
        }
        let options = (&self.options).into();
        let inspection = ui.operate(&context, |context| {
            artifact::inspect(&self.path, &options, context)
        })?;
        ui.evidence(&context, &inspection, |report| {
            describe_inventory(inspection.inventory(), &self.path, &inspection, report);
            next_steps(
                inspection
                    .next_probes()
                    .iter()
                    .map(|probe| (probe.operation, probe.rationale)),
                &self.path,
                report,
            );
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// One call on the command line keeps no record that a view could be of.
pub fn summary_needs_a_session(operation: &Operation, provider: &str) -> Error {
    let reason = "A summary is a view of a record that a session keeps; there is no session here.";
    Error::new(Code::CapabilityUnavailable, reason)
        .action("Keep the record with --output FILE and look at it with `rea view FILE --summary`.")
        .detail("operation", operation.name)
        .detail("provider_id", provider)
        .detail("reason", "session_required")
}

/// Only steps that this program can take.
fn next_steps<N: AsRef<str>, W: Into<String>>(
    probes: impl IntoIterator<Item = (N, W)>,
    path: &std::path::Path,
    report: &mut Report,
) {
    let steps = probes.into_iter().filter_map(|(operation, why)| {
        let name = find(operation.as_ref())?.name();
        let words = vec!["rea".into(), name.into(), path_word(path)];
        Some((words, why.into()))
    });
    report.next_steps(steps);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(json: &str) -> Result<Input, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn the_input_takes_its_members_and_no_others() {
        let given = input(r#"{"path": "x", "nested": "none", "max_entry_bytes": 5}"#).unwrap();
        assert_eq!(given.detail, Detail::Complete);
        let options: artifact::Options = (&given.options).into();
        assert_eq!(options.nested, artifact::Nesting::None);
        assert_eq!(options.max_entry_bytes, 5);
        assert_eq!(options.max_depth, artifact::Options::default().max_depth);

        assert!(input(r#"{"nested": "none"}"#).unwrap_err().contains("path"));
        assert!(
            input(r#"{"path": "x", "bogus": 1}"#)
                .unwrap_err()
                .contains("bogus")
        );
        assert!(input(r#"{"path": "x", "max_depth": -1}"#).is_err());
        assert!(input(r#"{"path": "x", "max_depth": 9007199254740992}"#).is_err());
    }
}
