//! `rea evidence-import`: whether a bundle can be taken in, and what it brings.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::{Bundle, Merged};
use rea::json::{WriteJson, Writer};
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bundle_options::{ReadingOptions, describe_counts};
use crate::paint::Tone;
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Check a bundle as an import does, and count what it brings
///
/// Every check of an import is made: shape, digests, the id of every record,
/// the unknowns and what they cite, and that the bundle is what its records
/// make. A process of its own has nothing to add the records to, so the counts
/// are those of an import into an empty ledger.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The bundle's file, `-` for standard input
    pub path: PathBuf,

    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "evidence_import",
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea evidence-import bundle.json";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let (retained, merged) = ui.operate(&context, |context| {
            let bundle = self.reading.read(&self.path, context)?;
            let mut retained = Bundle::new();
            let merged = retained.merge(bundle)?;
            Ok((retained, merged))
        })?;
        ui.document(&context, &Counts(merged), |report| {
            report.title(display_path(&self.path));
            report.toned_fact("status", "a valid bundle", Tone::Good);
            describe_counts(&retained, report);
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

struct Counts(Merged);

impl WriteJson for Counts {
    fn write_json(&self, w: &mut Writer<'_>) {
        let Self(merged) = self;
        w.begin_object();
        w.member("imported", merged.imported);
        w.member("total", merged.total);
        w.member("unknowns_added", merged.unknowns_added);
        w.end_object();
    }
}
