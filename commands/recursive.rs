//! `--recursive DIR` of the commands that inspect one file: the record of each
//! file below a folder, in the order of the paths.
//!
//! A command flattens [`Target`] into its input in place of its path, and asks
//! [`Target::folder`] first.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use rea::artifact::source::{Source, Spool};
use rea::evidence::Record;
use rea::json::Sink;
use rea::operation::Context;
use rea::publish::display_path;
use rea::recursive::{Files, in_order};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::output::Form;
use crate::paint::Tone;
use crate::quantity::{counted, human_bytes, thousands};
use crate::report::Report;
use crate::table::{Cell, Column};
use crate::ui::Ui;

// No doc comment here: clap would take it for the help of the command.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
pub struct Target {
    /// File to inspect
    #[arg(required_unless_present = "recursive")]
    pub path: Option<PathBuf>,

    /// Inspect every file below DIR instead, one record a line in the order of
    /// the paths. What is of another format is skipped and counted, links are
    /// not followed; what fails is said and the rest goes on, with status 1
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    pub recursive: Option<PathBuf>,
}

impl Target {
    /// The folder whose files are meant.
    pub fn folder(&self) -> Option<&Path> {
        self.recursive.as_deref()
    }

    /// The one file that is meant.
    pub fn path(&self, operation: &str) -> Result<&Path> {
        self.path.as_deref().ok_or_else(|| {
            let message = "a path is needed";
            Error::invalid_request(operation, &["path"], "missing_argument", message)
        })
    }
}

/// What a report says of one file.
pub struct Brief {
    /// What it is.
    pub format: String,
    /// What is to be known of it at a glance.
    pub what: String,
}

/// What takes the record of a file.
pub type Take<'t> = dyn FnMut(&dyn Record, Brief) + 't;

/// What became of one file.
enum Outcome {
    /// Its record as it is written, where one is.
    Record(Option<io::Result<Source>>, Brief),
    Skipped,
    Failed(Error),
}

#[derive(Default)]
struct Counts {
    records: u64,
    skipped: u64,
    failed: u64,
    links: u64,
}

const FILES: &[Column] = &[
    Column::number("SIZE"),
    Column::text("FORMAT"),
    Column::text("WHAT"),
    Column::text("PATH"),
];

/// Inspects the files below `folder`. `inspect` hands the record of a file
/// over, or does not where the file is of another format.
pub fn run(
    ui: &Ui,
    context: &Context,
    folder: &Path,
    inspect: impl Fn(&Path, &Context, &mut Take<'_>) -> Result<()> + Sync,
) -> Result<ExitCode> {
    let counts = ui.operate(context, |context| {
        let mut files = Files::below(folder, context.operation)?;
        let mut delivery = ui.deliver(context)?;
        let form = delivery.form();
        let spools = Arc::default();
        let mut counts = Counts::default();
        let mut rows: Vec<[Cell; 4]> = Vec::new();
        let shown = ui.rows();
        let work =
            |found: &rea::recursive::Found| one(&found.path, form, &spools, context, &inspect);
        in_order(&mut files, context, work, |result| {
            let (found, outcome) = match result {
                Ok((found, outcome)) => (Some(found), outcome),
                Err(error) => (None, Outcome::Failed(error)),
            };
            match outcome {
                Outcome::Skipped => counts.skipped += 1,
                Outcome::Failed(error) => {
                    counts.failed += 1;
                    ui.say(&error);
                }
                Outcome::Record(written, brief) => {
                    counts.records += 1;
                    if let Some(written) = written {
                        let written = written.map_err(|error| spool_failed(&error))?;
                        delivery.write_spooled(&written)?;
                    }
                    if let (None, Some(found)) = (form, found)
                        && rows.len() < shown
                    {
                        rows.push([
                            human_bytes(found.size).into(),
                            brief.format.into(),
                            brief.what.into(),
                            display_path(&found.path).into_owned().into(),
                        ]);
                    }
                }
            }
            // Whoever reads has read enough.
            if delivery.is_closed() {
                return Err(closed(context));
            }
            Ok(())
        })
        .or_else(|error| match delivery.is_closed() {
            true => Ok(()),
            false => Err(error),
        })?;
        counts.links = files.links();
        delivery.finish(|report| describe(folder, &counts, rows, report))?;
        Ok(counts)
    })?;
    if !ui.global.quiet {
        // Nobody is left to tell where stderr is closed.
        let _ = writeln!(io::stderr(), "{}", counts.sentence());
    }
    Ok(ExitCode::from(u8::from(counts.failed > 0)))
}

/// Inspects one file, and writes its record where it waits for its turn.
fn one(
    path: &Path,
    form: Option<Form>,
    spools: &Arc<AtomicU64>,
    context: &Context,
    inspect: &(impl Fn(&Path, &Context, &mut Take<'_>) -> Result<()> + Sync),
) -> Outcome {
    let mut taken = None;
    let mut take = |record: &dyn Record, brief: Brief| {
        let written = form.map(|form| {
            let mut spool = Spooling(Spool::new(spools));
            let mut writer = form.writer(&mut spool);
            record.write_record(&mut writer);
            writer.finish()?;
            spool.put(b"\n")?;
            Ok(spool.0.into_source())
        });
        taken = Some((written, brief));
    };
    match inspect(path, context, &mut take) {
        Err(error) => Outcome::Failed(error),
        Ok(()) => match taken {
            Some((written, brief)) => Outcome::Record(written, brief),
            None => Outcome::Skipped,
        },
    }
}

struct Spooling(Spool);

impl Sink for Spooling {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes)
    }
}

fn spool_failed(error: &io::Error) -> Error {
    let shown = display_path(&std::env::temp_dir()).into_owned();
    Error::file_io("write", &shown, error)
        .action("Make room in the temporary folder, or choose another with TMPDIR.")
}

/// Ends the work; nobody sees it.
fn closed(context: &Context) -> Error {
    Error::cancelled(context.operation)
}

impl Counts {
    fn sentence(&self) -> String {
        let mut said = format!(
            "{}, {} skipped, {} failed",
            counted(self.records, "record", "records"),
            counted(self.skipped, "other file", "other files"),
            thousands(self.failed)
        );
        if self.links > 0 {
            let links = counted(self.links, "link", "links");
            said.push_str(&format!(", {links} not followed"));
        }
        said
    }
}

fn describe(folder: &Path, counts: &Counts, rows: Vec<[Cell; 4]>, report: &mut Report) {
    report.title(display_path(folder));
    report.fact("records", thousands(counts.records));
    report.fact("other files", thousands(counts.skipped));
    let tone = match counts.failed {
        0 => Tone::Plain,
        _ => Tone::Bad,
    };
    report.toned_fact("failed", thousands(counts.failed), tone);
    report.table("Files", FILES, |table| {
        let shown = rows.len() as u64;
        for row in rows {
            table.row(row);
        }
        table.skip(counts.records.saturating_sub(shown));
    });
}
