//! `rea diff`: what changed between two releases.

mod gate;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::artifact::glob::Glob;
use rea::artifact::{self, Options, Side};
use rea::mcp::Takes;
use rea::member_facts::Domain;
use rea::operation::{Effect, Family, Operation};
use rea::publish::display_path;
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::artifact_options::ArtifactOptions;
use crate::compare_artifacts::{exit_code, one_stream};
use crate::output::Rows;
use crate::registry::{Command, OutputKind};
use crate::tool::{Facts, Form};
use crate::ui::Ui;
use gate::Gate;

/// Say what changed between two releases: entries, moves and sizes
///
/// Each side is software (a file or folder, read on the fly, both at once) or
/// its Evidence. A file is taken for Evidence when it holds a record of it;
/// `-` and pipes always are. Where others make the files, say what they are
/// with --old-as and --new-as.
/// A side that is Evidence of an inspection is read as the inventory inside
/// it, so the record is the same whether software or its Evidence is given.
///
/// Containers are opened on both sides and their members compared. The report
/// shows sizes by kind, then what was added, removed, changed and moved: leaf
/// entries, and one row for a container that is wholly new or gone. The record
/// holds every path, the comparison as Evidence of its own, all moves, and
/// sizes by kind and format. With --deep it also holds what differs inside of
/// changed binaries, by path and topic.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Old side: a file or folder, or its Evidence
    pub old: PathBuf,

    /// New side: a file or folder, or its Evidence
    pub new: PathBuf,

    /// Exit with 3, 4 or 5 unless nothing differs
    #[arg(long)]
    #[serde(skip)]
    pub exit_code: bool,

    /// Open changed binaries and WebAssembly modules, also inside of
    /// containers, and say which symbols, imports, exports, libraries,
    /// protections and build ids differ. Both sides must be software
    #[arg(long)]
    #[serde(default)]
    pub deep: bool,

    /// Exit with 3 where --deep finds one of these, and say why first; with 4
    /// where something could not be looked at
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "deep",
          hide_possible_values = true, long_help = gate::HELP)]
    #[serde(skip)]
    pub fail_on: Vec<Gate>,

    /// What the old side is, where its bytes are not to decide
    #[arg(long, value_name = "NATURE", default_value = "auto")]
    #[serde(default)]
    pub old_as: As,

    /// What the new side is, where its bytes are not to decide
    #[arg(long, value_name = "NATURE", default_value = "auto")]
    #[serde(default)]
    pub new_as: As,

    #[command(flatten)]
    #[serde(flatten)]
    pub options: ArtifactOptions,

    #[command(flatten)]
    #[serde(skip)]
    pub show: Show,
}

/// What a side is taken for. It never changes what the record says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum As {
    /// Evidence where the file holds that, else software
    #[default]
    Auto,
    /// A record of inventory-artifact or inspect-artifact
    Evidence,
    /// A file or folder, whatever it holds
    Software,
}

impl As {
    fn side<'a>(self, path: &'a Path, options: &'a Options) -> Result<Side<'a>> {
        match self {
            Self::Auto => Side::of(path, options, Input::OPERATION.name),
            Self::Evidence => Ok(Side::Evidence(path)),
            Self::Software => Ok(Side::Software(path, options)),
        }
    }
}

/// What is opened with --deep.
const DOMAINS: &[Domain] = &[rea::binary::deep::BINARIES, rea::binary::deep::MODULES];

/// A side whose members can be opened.
fn with_bytes<'a>((side, name): (Side<'a>, &'static str)) -> Result<(&'a Path, &'a Options)> {
    match side {
        Side::Software(path, options) => Ok((path, options)),
        Side::Evidence(_) | Side::Record(_) => {
            let shown = match side {
                Side::Evidence(path) => display_path(path),
                _ => name.into(),
            };
            let message = format!(
                "{shown} is Evidence, which holds none of the bytes that --deep looks into"
            );
            let operation = Input::OPERATION.name;
            Err(
                Error::invalid_request(operation, &[name], "invalid_value", message)
                    .action("Give the software itself on both sides, or leave --deep out."),
            )
        }
    }
}

// No doc comment here: clap would take it for the help of the command. None of
// these changes the record.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct Show {
    /// Only totals: sizes by kind and format, and the largest changes
    #[arg(long)]
    pub stat: bool,

    /// Only the paths that differ, one a line
    #[arg(long, conflicts_with = "stat")]
    pub name_only: bool,

    /// Only entries whose path matches: `lib/**`, `**/*.so`. The exit status is
    /// that of the whole
    #[arg(long, value_name = "GLOB")]
    pub path: Vec<Glob>,

    /// Rows of each list, a number or `all`, in place of --rows
    #[arg(long, value_name = "N")]
    pub limit: Option<Rows>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "diff_artifacts",
        family: Family::Everyday,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const SUBCOMMAND: Option<&'static str> = Some("diff");
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str =
        "rea diff app-1.apk app-2.apk --deep --fail-on export-removed,mitigation-lost";
    const TOOL: Form = Form::Same(Facts {
        takes: Takes::Nothing,
        ..Facts::ARTIFACT
    });
    const EXIT_STATUS: &'static [(u8, &'static str)] = &[
        (3, "with --exit-code: changed; with --fail-on: for a reason"),
        (4, "with either: cannot tell, something was not looked at"),
        (5, "with either: bytes contradict a declared digest"),
    ];

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        one_stream(Self::OPERATION.name, &self.old, &self.new)?;
        let context = ui.context(Self::OPERATION.name);
        let options: Options = (&self.options).into();
        let mut are_evidence = [false; 2];
        let diff = ui.operate(&context, |context| {
            let old = self.old_as.side(&self.old, &options)?;
            let new = self.new_as.side(&self.new, &options)?;
            are_evidence = [old.is_evidence(), new.is_evidence()];
            if self.deep {
                let [old, new] = [(old, "old"), (new, "new")].map(with_bytes);
                return artifact::diff_deep(old?, new?, DOMAINS, context);
            }
            let (old, new) = artifact::load_both(old, new, context)?;
            artifact::diff(old, new, context)
        })?;
        let reasons = gate::reasons(&self.fail_on, diff.deep());
        gate::say(&reasons);
        let describe = |report: &mut crate::report::Report| {
            report::describe(
                &diff,
                [&self.old, &self.new],
                are_evidence,
                &self.show,
                &reasons,
                report,
            );
        };
        if self.show.stat || self.show.name_only {
            ui.evidence_as_report(&context, &diff, describe)?;
        } else {
            ui.evidence(&context, &diff, describe)?;
        }
        if !reasons.is_empty() {
            return Ok(ExitCode::from(gate::FAILED));
        }
        if !self.fail_on.is_empty() && !self.exit_code {
            return Ok(ExitCode::from(gate::cannot_tell(&diff)));
        }
        Ok(exit_code(diff.status(), self.exit_code))
    }
}
