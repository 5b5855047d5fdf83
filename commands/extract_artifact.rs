//! `rea extract-artifact`: members as files, checked against the inventory.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::artifact::glob::Glob;
use rea::artifact::{self, Extraction, ExtractionRequest};
use rea::evidence::Record;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::artifact_options::ArtifactOptions;
use crate::paint::Tone;
use crate::quantity::{counted, human_bytes};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::session;
use crate::shown::shown;
use crate::table::{Cell, Column};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Write members of an archive, package or folder as files
///
/// Lists the artifact, then writes the selected members under their logical
/// paths into a fresh folder and compares what was written with the SHA-256
/// that the list has. Odd names are written as they are listed (escaped), so
/// that nothing can land outside of the folder. Files are private (0600) and
/// never executable; links are not created. Until all is written, the folder
/// is called NAME.incomplete-...; when something fails, it is removed.
///
/// Patterns cover whole logical paths, as inventory-artifact lists them: `*`
/// stands for any characters but `/`, `?` for one, `[a-c]` for one of a set,
/// `**` for any folders. Members of containers inside are reached by their
/// path (`data.tar.xz/usr/bin/*`), and make the container's name a folder. A
/// pattern without wildcards must be there; others may select nothing, which
/// is said.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File or folder to extract from
    #[arg(value_name = "ARTIFACT")]
    pub artifact: PathBuf,

    /// Only members with a matching path; may be given again [default: the
    /// artifact's own members, without what is in containers among them]
    #[arg(long, value_name = "GLOB")]
    #[serde(default)]
    pub path: Vec<String>,

    /// Folder to create and write into, outside of the artifact [default: a
    /// fresh one in the temporary folder, said on stderr]
    #[arg(long, value_name = "FOLDER")]
    #[serde(default)]
    pub into: Option<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    pub options: ArtifactOptions,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "extract_artifact",
        family: Family::Artifact,
        effects: &[Effect::Read, Effect::Write],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea extract-artifact app.apk --path 'lib/**' --path '*.dex' --into app";
    const TOOL: Form = Form::Own(Facts::EXTRACTION, session::EXTRACT);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        self.check_output(ui)?;
        let request = ExtractionRequest {
            patterns: patterns(&self.path)?,
            into: self.into.clone(),
        };
        let options = (&self.options).into();
        let extraction = ui.operate(&context, |context| {
            artifact::extract(&self.artifact, &request, &options, context)
        })?;
        // A temporary folder is found by this line alone.
        if !ui.global.quiet || self.into.is_none() {
            say_where(&extraction);
        }
        if !ui.global.quiet {
            say_unused(&extraction);
        }
        ui.evidence(&context, &extraction, |report| {
            self.describe(&extraction, report);
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn patterns(texts: &[String]) -> Result<Vec<Glob>> {
    let read = |text: &String| {
        Glob::new(text).map_err(|what| {
            let message = format!("{text}: {what}");
            let operation = Input::OPERATION.name;
            Error::invalid_request(operation, &["path"], "invalid_format", message).action(
                "Correct the pattern; `rea extract-artifact --help` says how patterns are written.",
            )
        })
    };
    texts.iter().map(read).collect()
}

/// Nobody is left to tell where stderr is closed.
fn say_where(extraction: &Extraction) {
    let files = counted(extraction.files().len() as u64, "file", "files");
    let size = human_bytes(total(extraction));
    let place = display_path(extraction.output_root());
    let _ = writeln!(io::stderr(), "{files} ({size}) in {}", shown(&place));
}

fn say_unused(extraction: &Extraction) {
    for pattern in extraction.unused_patterns() {
        let _ = writeln!(io::stderr(), "{} selected nothing", shown(pattern));
    }
}

fn total(extraction: &Extraction) -> u64 {
    extraction.files().map(|file| file.size).sum()
}

const FILES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("SHA-256"),
    Column::text("PATH"),
];

impl Input {
    /// The record cannot have the name that the folder gets, nor be in it.
    fn check_output(&self, ui: &Ui) -> Result<()> {
        let (Some(into), Some(file)) = (&self.into, ui.output.file()) else {
            return Ok(());
        };
        let absolute = |path| std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let (folder, file) = (absolute(into.as_path()), absolute(file));
        if !file.starts_with(&folder) {
            return Ok(());
        }
        let message = format!(
            "--output cannot be {} or in it, which is the folder to create",
            display_path(into)
        );
        let operation = Self::OPERATION.name;
        Err(
            Error::invalid_request(operation, &["output"], "invalid_value", message)
                .action("Choose another file for the record, beside the folder."),
        )
    }

    fn describe(&self, extraction: &Extraction, report: &mut Report) {
        let inventory = extraction.inventory();
        report.title(display_path(&self.artifact));
        report.fact("format", inventory.root_format());
        report.fact("sha256", inventory.root_sha256().to_hex());
        report.fact("evidence", extraction.id().to_string());
        report.fact("folder", display_path(extraction.output_root()));
        let count = extraction.files().len() as u64;
        let files = format!(
            "{} ({}), each as the inventory has it",
            counted(count, "file", "files"),
            human_bytes(total(extraction))
        );
        report.toned_fact("written", files, Tone::Good);
        report.table("Files", FILES, |table| {
            for file in extraction.files() {
                let digest: String = file.sha256.to_hex().chars().take(12).collect();
                table.row([
                    human_bytes(file.size).into(),
                    Cell::toned(digest, Tone::Dim),
                    file.path.into(),
                ]);
            }
        });
        let unused = extraction.unused_patterns().iter().map(String::as_str);
        report.list("Patterns that selected nothing", unused);
        let limitations = extraction.limitations().iter().map(String::as_str);
        report.list("Limitations", limitations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_takes_its_members_and_no_others() {
        let input: Input = serde_json::from_str(r#"{"artifact": "a", "path": ["x"]}"#).unwrap();
        assert_eq!(input.path, ["x"]);
        assert!(serde_json::from_str::<Input>(r#"{"artifact": "a", "x": 1}"#).is_err());
        assert!(patterns(&["a//b".to_owned()]).is_err());
    }
}
