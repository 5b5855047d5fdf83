//! `rea search-strings`: the strings in which a pattern is found.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::native::{self, PROVIDER, Query, Target, search_strings};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::inspect_artifact::{Detail, summary_needs_a_session};
use crate::list_strings::{Encoding, describe, scan_options, usual_min_length};
use crate::registry::{Command, OutputKind};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Find strings of a file by their text
///
/// The strings are those of `rea list-strings`; kept are those in which the
/// pattern is found. Regular expressions are searched in linear time and have
/// neither look-around nor back-references; ^ and $ are the ends of a string.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Executable, library, application, or any other file
    pub path: PathBuf,

    /// What to look for, 1 to 256 characters
    #[schemars(length(min = 1, max = 256))]
    pub pattern: String,

    /// How the pattern is read
    #[arg(long, value_name = "MODE", default_value = "literal")]
    #[serde(default)]
    pub mode: Mode,

    /// Let capital letters differ from small ones
    #[arg(long)]
    #[serde(default)]
    pub case_sensitive: bool,

    /// Fewest characters of a string
    #[arg(short = 'n', long, value_name = "N", default_value_t = usual_min_length(),
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
    #[serde(default = "usual_min_length")]
    #[schemars(range(min = 1, max = 65_536))]
    pub min_length: u32,

    /// Only this encoding; may be given again [default: all]
    #[arg(long, value_name = "ENCODING")]
    #[serde(default)]
    pub encoding: Vec<Encoding>,

    /// Slice of a universal file; its first one otherwise
    #[arg(long, value_name = "NAME")]
    pub architecture: Option<String>,

    /// How much of the record to deliver; `summary` needs a session
    #[arg(long, value_name = "DETAIL", default_value = "complete")]
    #[serde(default)]
    pub detail: Detail,
}

/// How a pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The characters themselves
    #[default]
    Literal,
    /// A regular expression
    Regex,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "search_strings",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea search-strings /bin/ls '^/(usr|etc)/' --mode regex | jq -r '.normalized_result[].value'";
    const TOOL: Form = Form::Same(Facts::LIST);
    const ALIAS: Option<&'static str> = Some("search");

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        if self.detail == Detail::Summary {
            return Err(summary_needs_a_session(&Self::OPERATION, PROVIDER.id));
        }
        let context = ui.context(Self::OPERATION.name);
        let options = scan_options(self.min_length, &self.encoding);
        let query = Query {
            pattern: self.pattern,
            mode: match self.mode {
                Mode::Literal => native::Mode::Literal,
                Mode::Regex => native::Mode::Regex,
            },
            case_sensitive: self.case_sensitive,
        };
        let target = ui.operate(&context, |context| {
            Target::open(&self.path, self.architecture.as_deref(), context)
        })?;
        let mapped = ui.operate(&context, |context| target.map_any(context))?;
        let record = ui.operate(&context, |context| {
            search_strings(&mapped, &query, &options, context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}
