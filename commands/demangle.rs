//! `rea demangle`: mangled names as people write them.

use std::io::Read;
use std::process::ExitCode;

use clap::Args;
use rea::binary::demangle::{self, DemangleRecord, demangle_names};
use rea::operation::{Effect, Family, Operation};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Write mangled names as people write them
///
/// Knows the names of C++ (Itanium and Microsoft), Rust (both schemes), Swift
/// and Go, with what object formats put around them. Names that are not
/// mangled, or in a way that is not understood, stay as they are. As a report
/// the source forms are plain lines, and with --filter a text of any kind
/// passes through with the names in it rewritten.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Mangled names; `-` reads them from standard input, one a line
    #[arg(required_unless_present = "filter", value_name = "NAME")]
    #[serde(default)]
    pub names: Vec<String>,

    /// Rewrite the names in the text on standard input
    #[arg(long, conflicts_with = "names")]
    #[serde(default)]
    pub filter: bool,
}

/// More than this is not read from standard input.
const MAX_INPUT: u64 = 256 << 20;

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "demangle",
        family: Family::Binary,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea demangle _ZNSt6vectorIiSaIiEE9push_backERKi --format report";
    const TOOL: Form = Form::Same(Facts {
        surface: "native-provider",
        ..Facts::DERIVED
    });

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        if self.filter {
            let text = standard_input(context.operation)?;
            let rewritten = ui.operate(&context, |_| Ok(filter(&text)))?;
            ui.text(&rewritten)?;
            return Ok(ExitCode::SUCCESS);
        }
        let names = names(self.names, context.operation)?;
        let record = ui.operate(&context, |context| demangle_names(&names, None, context))?;
        ui.evidence(&context, &record, |report| describe(&record, report))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Names on the command line, a `-` among them as the lines of standard input.
/// Shared with `demangle-swift`.
pub fn names(given: Vec<String>, operation: &str) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    let mut read = false;
    for name in given {
        if name != "-" || std::mem::replace(&mut read, true) {
            names.push(name.into_bytes());
            continue;
        }
        let text = standard_input(operation)?;
        let lines = text.split(|&byte| byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        names.extend(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
    }
    Ok(names)
}

fn standard_input(operation: &str) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut text)
        .map_err(|error| Error::file_io("read", "standard input", &error))?;
    if text.len() as u64 > MAX_INPUT {
        let message = format!("standard input has more than {MAX_INPUT} bytes");
        return Err(
            Error::invalid_request(operation, &["names"], "out_of_range", message)
                .action("Give the names in several runs."),
        );
    }
    Ok(text)
}

/// The text with every word that is a mangled name replaced.
fn filter(text: &[u8]) -> Vec<u8> {
    let in_name = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'$' | b'.' | b'?' | b'@')
            || *byte >= 0x80
    };
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.iter().take_while(|byte| in_name(byte)).count();
        let (word, after) = rest.split_at(length);
        // A full stop ends sentences, too.
        let trimmed = word.len() - word.iter().rev().take_while(|&&byte| byte == b'.').count();
        let (name, dots) = word.split_at(trimmed);
        match demangle::demangle(name) {
            Some(found) => out.extend_from_slice(found.text.as_bytes()),
            None => out.extend_from_slice(name),
        }
        out.extend_from_slice(dots);
        let gap = after.iter().take_while(|byte| !in_name(byte)).count();
        let (between, later) = after.split_at(gap);
        out.extend_from_slice(between);
        rest = later;
    }
    out
}

/// Plain lines, as `c++filt` writes them. Shared with `demangle-swift`.
pub fn describe(record: &DemangleRecord, report: &mut Report) {
    report.lines(record.rows().iter().map(|row| row.output.as_str()));
}
