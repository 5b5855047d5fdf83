//! `rea evidence-export`: a bundle, checked, into a file in canonical form.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::digest::Digest;
use rea::evidence::BundleOutput;
use rea::json::{WriteJson, Writer};
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bundle_options::{ReadingOptions, describe_counts};
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Write a bundle to a file in canonical form, complete or not at all
///
/// The bundle is checked as an import checks it. The file gets its name once
/// it is complete and on the disk; until then the old one is there, or none.
/// It ends without a line feed, so that its SHA-256 is the bundle's digest.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The bundle's file, `-` for standard input
    pub source: PathBuf,

    /// The file to write
    #[arg(value_name = "OUTPUT")]
    pub target: PathBuf,

    /// Replace the file where it is there
    #[arg(long)]
    #[serde(default)]
    pub overwrite: bool,

    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "evidence_export",
        family: Family::Evidence,
        effects: &[Effect::Read, Effect::Write],
        returns_target_content: false,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str = "rea evidence-export bundle.json copy.json --overwrite";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let (bundle, written) = ui.operate(&context, |context| {
            // Before anything is read, so that nobody's update is lost.
            let operands = [self.source.as_path()];
            let output = BundleOutput::open(&self.target, self.overwrite, &operands, context)?;
            let bundle = self.reading.read(&self.source, context)?;
            let written = bundle.publish(output, context)?;
            Ok((bundle, written))
        })?;
        let exported = Exported {
            path: &absolute(&self.target),
            bytes: written.published.bytes,
            sha256: written.sha256,
            records: bundle.len() as u64,
            unknowns: bundle.unknowns().revisions(),
        };
        ui.document(&context, &exported, |report| {
            report.title(display_path(&self.target));
            describe_counts(&bundle, report);
            report.fact("sha256", written.sha256.to_hex());
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// As requested, but from the root; links are not followed.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

struct Exported<'a> {
    path: &'a Path,
    bytes: u64,
    sha256: Digest,
    records: u64,
    unknowns: u64,
}

impl WriteJson for Exported<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("bytes", self.bytes);
        w.member("path", display_path(self.path));
        w.member("records", self.records);
        w.key("sha256");
        w.id("", &self.sha256);
        w.member("unknowns", self.unknowns);
        w.end_object();
    }
}
