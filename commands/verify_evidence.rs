//! `rea verify-evidence`: whether records say what their ids say.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rea::Result;
use rea::evidence::{Pointer, Report as Verdict, Segment, Source, Stage, Status, verify_all};
use rea::json::{Limits, WriteJson};
use rea::operation::{Context, Effect, Family, Operation};
use rea::publish::display_path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::paint::Tone;
use crate::quantity::{ByteSize, counted};
use crate::registry::{Command, OutputKind};
use crate::report::Report;
use crate::session;
use crate::table::{Cell, Column, Table};
use crate::tool::{Facts, Form};
use crate::ui::Ui;

/// Check that records are what their ids say
///
/// Recomputes the id of every record, and inside it the ids of the records
/// that it holds, of its analysis profile and of its artifact graph. A record
/// in canonical form of any size is checked in constant memory. Files may
/// hold any number of records and bundles after each other.
///
/// Into a pipe, one line of JSON per record: its id, its status (verified,
/// invalid or unreadable) and its problems, each with a JSON Pointer. Records
/// inside a record have lines of their own, after it, with the pointer to
/// where they are. So have the records of a bundle, before the line of the
/// bundle itself, which has the member `bundle`. The exit status is 1 unless
/// all are verified.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Files of records and bundles, `-` for standard input
    #[arg(required = true)]
    pub evidence: Vec<PathBuf>,

    /// Bytes to read of one file at most
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_input_bytes())]
    #[serde(default = "usual_max_input_bytes")]
    pub max_input_bytes: ByteSize,
}

/// As many bytes as are read of one file.
pub fn usual_max_input_bytes() -> ByteSize {
    ByteSize(Limits::default().max_input_bytes)
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "verify_evidence",
        family: Family::Evidence,
        effects: &[Effect::Read],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Document;
    const EXAMPLE: &'static str = "rea verify-evidence app.json records.jsonl";
    const TOOL: Form = Form::Own(Facts::READING, session::VERIFY);

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        let context = ui.context(Self::OPERATION.name);
        let mut summary = Summary::new(ui.rows());
        let mut all_verified = true;
        let delivery = ui.operate(&context, |context| {
            let mut delivery = ui.deliver(context)?;
            for path in &self.evidence {
                let name = display_path(path);
                self.verify(path, context, &mut |verdict| {
                    all_verified &= verdict.is_verified();
                    for one in std::iter::once(&verdict).chain(&verdict.nested) {
                        if delivery.is_report() {
                            summary.add(&name, one);
                        } else {
                            delivery.write(&|w| one.write_json(w))?;
                        }
                    }
                    Ok(())
                })?;
            }
            Ok(delivery)
        })?;
        delivery.finish(|report| summary.describe(report))?;
        Ok(ExitCode::from(u8::from(!all_verified)))
    }
}

impl Input {
    /// Hands on a verdict for each record of a file. A file that cannot be
    /// opened is a verdict too.
    fn verify(
        &self,
        path: &Path,
        context: &Context,
        each: &mut dyn FnMut(Verdict) -> Result<()>,
    ) -> Result<()> {
        verify(Source::open(path), self.max_input_bytes, context, each)
    }
}

/// Hands on a verdict for each record of a source, or for one that cannot be
/// opened.
pub fn verify(
    source: Result<Source>,
    max_input_bytes: ByteSize,
    context: &Context,
    each: &mut dyn FnMut(Verdict) -> Result<()>,
) -> Result<()> {
    let limits = Limits {
        max_input_bytes: max_input_bytes.0,
        ..Limits::default()
    };
    match source {
        Ok(source) => verify_all(source, limits, context, each),
        Err(error) => each(Verdict::unreadable(Stage::Read, error.message())),
    }
}

/// The rows that a report shows, and how many there are.
struct Summary {
    problems: Rows<[Cell; 4]>,
    verified: Rows<[Cell; 3]>,
    /// Bundles among those verified.
    bundles: u64,
    bad: u64,
}

struct Rows<R> {
    kept: Vec<R>,
    limit: usize,
    total: u64,
}

impl<const N: usize> Rows<[Cell; N]> {
    fn new(limit: usize) -> Self {
        Self {
            kept: Vec::new(),
            limit,
            total: 0,
        }
    }

    fn add(&mut self, row: impl FnOnce() -> [Cell; N]) {
        self.total += 1;
        if self.kept.len() < self.limit {
            self.kept.push(row());
        }
    }

    fn fill(self, table: &mut Table) {
        table.skip(self.total - self.kept.len() as u64);
        for row in self.kept {
            table.row(row);
        }
    }
}

const PROBLEMS: &[Column] = &[
    Column::text("FILE"),
    Column::text("STATUS"),
    Column::text("PLACE"),
    Column::text("PROBLEM"),
];

const VERIFIED: &[Column] = &[
    Column::text("RECORD"),
    Column::text("FILE"),
    Column::text("PLACE"),
];

impl Summary {
    fn new(rows: usize) -> Self {
        Self {
            problems: Rows::new(rows),
            verified: Rows::new(rows),
            bundles: 0,
            bad: 0,
        }
    }

    fn add(&mut self, file: &str, verdict: &Verdict) {
        let place = verdict
            .pointer
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        if verdict.status == Status::Verified {
            self.bundles += u64::from(verdict.bundle.is_some());
            let id = match &verdict.bundle {
                Some(bundle) => {
                    format!("bundle of {}", counted(bundle.records, "record", "records"))
                }
                None => verdict
                    .evidence_id
                    .map(|id| id.to_string())
                    .unwrap_or_default(),
            };
            self.verified.add(|| {
                let id = Cell::toned(id, Tone::Good);
                [id, file.into(), place.into()]
            });
            return;
        }
        self.bad += 1;
        for problem in &verdict.problems {
            // What is wrong with a record of a bundle has its own row.
            if verdict.bundle.is_some() && is_in_record(&problem.pointer) {
                continue;
            }
            self.problems.add(|| {
                let status = Cell::toned(verdict.status.as_str(), Tone::Bad);
                let place = format!("{place}{}", problem.pointer);
                [
                    file.into(),
                    status,
                    place.into(),
                    problem.message.as_str().into(),
                ]
            });
        }
    }

    fn describe(self, report: &mut Report) {
        report.fact(
            "verified",
            counted(
                self.verified.total,
                "record or bundle",
                "records and bundles",
            ),
        );
        let tone = if self.bad == 0 { Tone::Dim } else { Tone::Bad };
        report.toned_fact(
            "not verified",
            counted(
                self.bad,
                "record, bundle or file",
                "records, bundles or files",
            ),
            tone,
        );
        report.table("Problems", PROBLEMS, |table| self.problems.fill(table));
        report.table("Verified", VERIFIED, |table| self.verified.fill(table));
    }
}

/// Whether a place in a bundle is inside one of its records.
fn is_in_record(pointer: &Pointer) -> bool {
    let mut segments = pointer.segments().iter();
    let member = matches!(segments.next(), Some(Segment::Name(name)) if *name == *"records");
    member && segments.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_takes_its_members_and_no_others() {
        let input: Input = serde_json::from_str(r#"{"evidence": ["a", "-"]}"#).unwrap();
        assert_eq!(input.max_input_bytes.0, 16 << 30);
        assert!(serde_json::from_str::<Input>(r#"{"evidence": [], "x": 1}"#).is_err());
    }
}
