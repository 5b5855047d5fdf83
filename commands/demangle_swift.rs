//! `rea demangle-swift`: names of a Swift program as people write them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::binary::demangle::demangle_names;
use rea::native::Target;
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::demangle::{describe, names};
use crate::registry::{Command, OutputKind};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Write the Swift names of a program as people write them
///
/// The record is about the program that is named, which is read for its
/// identity only. A name with the prefix of Swift that is not understood is
/// `invalid`, any other name `unchanged`.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Program, library, or application that the names are from
    pub path: PathBuf,

    /// 1 to 500 names; `-` reads them from standard input, one a line
    #[arg(required = true, value_name = "SYMBOL")]
    #[schemars(length(min = 1, max = 500), inner(length(min = 1, max = 4096)))]
    pub symbols: Vec<String>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "demangle_swift",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea demangle-swift ./program '$s4main3fooyyF' --format report";
    const TOOL: Form = Form::Same(Facts::STRUCTURE);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let names = names(self.symbols, context.operation)?;
        let target = ui.operate(&context, |context| Target::open(&self.path, None, context))?;
        let record = ui.operate(&context, |context| {
            let subject = target.subject(context)?;
            demangle_names(&names, Some(subject), context)
        })?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}
