//! Where results go: the options that all commands with a record share, and
//! the one way in which a record, document or report reaches stdout or a file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use rea::artifact::source::Source;
use rea::digest::Hasher;
use rea::error::{Code, io_reason};
use rea::evidence::{Bundle, BundleOutput, EvidenceId, Record};
use rea::json::{Sink, WriteJson, Writer};
use rea::operation::Context;
use rea::publish::{Publisher, display_path};
use rea::{Error, Result};

use crate::capture::{Catching, too_large};
use crate::paint::Paint;
use crate::quantity::counted;
use crate::report::Report;
use crate::shown::shown;
use crate::signals;
use crate::table::USUAL_ROWS;
use crate::ui::Ui;

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line of canonical JSON (RFC 8785)
    Canonical,
    /// The same record, indented by two spaces
    Json,
    /// Text for reading
    Report,
    /// The same text as Markdown
    Markdown,
}

// No doc comment here: clap would take it for the help of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    #[command(flatten)]
    form: FormOptions,

    /// Write to FILE, complete or not at all, and say its id on stderr
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Let --output replace a file
    #[arg(long, requires = "output")]
    overwrite: bool,
}

// The same reason. The part for commands whose result goes to stdout alone.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct FormOptions {
    /// How to write the result [default: report on a terminal, else canonical]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The same as --format json; errors are JSON too
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Rows of a table in a report: a number or `all`
    #[arg(long, value_name = "N", default_value = "40")]
    rows: Rows,
}

/// How many rows a table shows: a number, or `all`.
#[derive(Clone, Copy, Debug)]
pub struct Rows(pub usize);

impl FromStr for Rows {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self(usize::MAX));
        }
        text.parse()
            .map(Self)
            .map_err(|_| "a number of rows or `all` is needed")
    }
}

impl Default for FormOptions {
    fn default() -> Self {
        Self {
            format: None,
            json: false,
            rows: Rows(USUAL_ROWS),
        }
    }
}

impl From<FormOptions> for OutputOptions {
    fn from(form: FormOptions) -> Self {
        Self {
            form,
            output: None,
            overwrite: false,
        }
    }
}

impl Default for OutputOptions {
    fn default() -> Self {
        FormOptions::default().into()
    }
}

impl OutputOptions {
    /// The file that is written.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Refuses an impossible `--output` before any work is done.
    pub fn check(&self) -> Result<()> {
        match &self.output {
            Some(path) => Publisher::check(path, self.overwrite),
            None => Ok(()),
        }
    }

    fn format(&self, stdout_is_terminal: bool) -> Format {
        match self.form.format {
            Some(format) => format,
            None if self.form.json => Format::Json,
            None if self.output.is_none() && stdout_is_terminal => Format::Report,
            None => Format::Canonical,
        }
    }
}

impl Ui {
    /// Delivers a record: Evidence, or the report that `describe` makes of it.
    pub fn evidence(
        &self,
        context: &Context,
        record: &dyn Record,
        describe: impl FnOnce(&mut Report),
    ) -> Result<()> {
        let mut delivery = self.deliver(context)?;
        delivery.name = Some(record.id().to_string());
        delivery.record = Some(record.id());
        delivery.write(&|w| record.write_record(w))?;
        delivery.finish(describe)
    }

    /// Delivers a record as [`Ui::evidence`] does, but as a report where the
    /// user has not chosen a format.
    pub fn evidence_as_report(
        &self,
        context: &Context,
        record: &dyn Record,
        describe: impl FnOnce(&mut Report),
    ) -> Result<()> {
        let json = matches!(
            self.output.form.format,
            Some(Format::Canonical | Format::Json)
        );
        if json || self.output.form.json {
            let message = "a report was asked for and a format that is none";
            return Err(Error::invalid_request(
                context.operation,
                &["format"],
                "invalid_value",
                message,
            )
            .action("Leave --format out, or give `report` or `markdown`."));
        }
        let mut delivery = self.deliver(context)?;
        if self.output.form.format.is_none() {
            delivery.format = Format::Report;
        }
        delivery.name = Some(record.id().to_string());
        delivery.record = Some(record.id());
        delivery.write(&|w| record.write_record(w))?;
        delivery.finish(describe)
    }

    /// Delivers JSON that is no record, or the report of it.
    pub fn document(
        &self,
        context: &Context,
        document: &dyn WriteJson,
        describe: impl FnOnce(&mut Report),
    ) -> Result<()> {
        let mut delivery = self.deliver(context)?;
        delivery.write(&|w| document.write_json(w))?;
        delivery.finish(describe)
    }

    /// Writes plain text to stdout. A closed pipe is no error.
    pub fn text(&self, text: &[u8]) -> Result<()> {
        if self.session.is_some() {
            return Ok(());
        }
        ignore_closed_pipe(stdout().and_then(|mut out| out.write_all(text)))
    }

    /// Starts to deliver documents one after the other.
    pub fn deliver<'a>(&'a self, context: &'a Context) -> Result<Delivery<'a>> {
        let target = match (&self.session, &self.output.output) {
            (Some(capture), _) => Target::Session(Catching {
                text: Vec::new(),
                room: capture.room(),
            }),
            (None, Some(path)) => {
                Target::File(Publisher::create(path, self.output.overwrite)?, None)
            }
            (None, None) => Target::Stdout(stdout().map_err(|error| unwritable(&error))?),
        };
        Ok(self.deliver_to(context, target))
    }

    /// Starts to deliver what is made of bundles, before any of them is read:
    /// a file that is replaced is locked, so that nobody's update is lost. Only
    /// a `bundle` may replace the bundle that it is made of.
    pub fn deliver_from<'a>(
        &'a self,
        context: &'a Context,
        operands: &[&Path],
        bundle: bool,
    ) -> Result<Delivery<'a>> {
        let Some(path) = &self.output.output else {
            return self.deliver(context);
        };
        let output = BundleOutput::open(path, self.output.overwrite, operands, context)?;
        let format = self.output.format(self.stdout_is_terminal);
        let kept = bundle && matches!(format, Format::Canonical | Format::Json);
        if output.is_in_place() && !kept {
            let message = format!(
                "{} is the bundle itself, which a report or summary must not replace",
                display_path(path)
            );
            let (at, reason) = (["output"], "invalid_value");
            return Err(
                Error::invalid_request(context.operation, &at, reason, message)
                    .action("Name another file with --output, or leave it out."),
            );
        }
        let file = output.create()?;
        Ok(self.deliver_to(context, Target::File(file, Some(Box::new(output)))))
    }

    fn deliver_to<'a>(&'a self, context: &'a Context, target: Target) -> Delivery<'a> {
        Delivery {
            ui: self,
            format: self.output.format(self.stdout_is_terminal),
            name: None,
            record: None,
            closed: Cell::new(false),
            out: Out {
                context,
                target,
                pending: Vec::new(),
            },
        }
    }

    /// Whether `--json` was given.
    pub fn wants_json(&self) -> bool {
        self.output.form.json
    }

    /// Rows that a table of a report shows.
    pub fn rows(&self) -> usize {
        self.output.form.rows.0
    }
}

/// Documents on their way out, each a line of canonical JSON or indented; or
/// one report of all of them.
pub struct Delivery<'a> {
    ui: &'a Ui,
    format: Format,
    /// What stderr calls the result once it is in a file.
    name: Option<String>,
    /// The record that it is.
    record: Option<EvidenceId>,
    /// Whether the reader of a pipe has left.
    closed: Cell<bool>,
    out: Out<'a>,
}

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// On one line.
    Canonical,
    /// Indented.
    Indented,
}

impl Form {
    /// What writes it.
    pub fn writer(self, sink: &mut dyn Sink) -> Writer<'_> {
        match self {
            Self::Canonical => Writer::canonical(sink),
            Self::Indented => Writer::indented(sink),
        }
    }
}

impl Delivery<'_> {
    /// Whether a report is wanted, so that documents are not written.
    pub fn is_report(&self) -> bool {
        matches!(self.format, Format::Report | Format::Markdown)
    }

    /// How documents are written; `None` where a report is wanted.
    pub fn form(&self) -> Option<Form> {
        match self.format {
            Format::Canonical => Some(Form::Canonical),
            Format::Json => Some(Form::Indented),
            Format::Report | Format::Markdown => None,
        }
    }

    /// Whether the reader of a pipe has left, so that nobody sees the rest.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Writes what was written in [`Delivery::form`] before.
    pub fn write_spooled(&mut self, source: &Source) -> Result<()> {
        let mut portion = vec![0; PORTION];
        let mut done = 0;
        let mut copy = || {
            while done < source.len() {
                let count = source.read_at(done, &mut portion)?;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.out.put(portion.get(..count).unwrap_or_default())?;
                done += count as u64;
            }
            Ok(())
        };
        let written = copy();
        self.judge(written)
    }

    /// Writes one document, unless a report is wanted.
    pub fn write(&mut self, document: &dyn Fn(&mut Writer<'_>)) -> Result<()> {
        let Some(form) = self.form() else {
            return Ok(());
        };
        let mut writer = form.writer(&mut self.out);
        document(&mut writer);
        let written = writer.finish().and_then(|()| self.out.end_document());
        self.judge(written)?;
        self.catch()
    }

    /// Hands a document over to the session.
    fn catch(&mut self) -> Result<()> {
        let Some(capture) = &self.ui.session else {
            return Ok(());
        };
        let flushed = self.out.flush();
        self.judge(flushed)?;
        if let Target::Session(catching) = &mut self.out.target {
            capture.put(std::mem::take(&mut catching.text), self.record);
        }
        Ok(())
    }

    /// Writes a bundle, unless a report is wanted. Its canonical text ends
    /// without a line feed, so that a file's SHA-256 is the bundle's.
    pub fn write_bundle(&mut self, bundle: &Bundle) -> Result<()> {
        let context = self.out.context;
        let mut sink = Hashed {
            out: &mut self.out,
            hasher: Hasher::default(),
        };
        let mut writer = match self.format {
            Format::Canonical => Writer::canonical(&mut sink),
            Format::Json => Writer::indented(&mut sink),
            Format::Report | Format::Markdown => return Ok(()),
        };
        bundle.write(context, &mut writer)?;
        let mut written = writer.finish();
        if self.format == Format::Canonical {
            self.name = Some(format!("Bundle {}", sink.hasher.finish()));
        } else {
            written = written.and_then(|()| self.out.put(b"\n"));
        }
        self.judge(written)
    }

    /// Writes the report, where one is wanted, and publishes the file.
    pub fn finish(mut self, describe: impl FnOnce(&mut Report)) -> Result<()> {
        let ui = self.ui;
        if self.is_report() {
            let mut report = Report::new(ui.rows());
            describe(&mut report);
            let mut text = Vec::new();
            let paint = match self.out.target {
                Target::Stdout(_) => ui.paint,
                Target::File(..) | Target::Session(_) => Paint::OFF,
            };
            let written = match self.format {
                Format::Markdown => report.write_markdown(&mut text),
                _ => report.write_terminal(&mut text, paint, ui.width()),
            };
            let written = written.and_then(|()| self.out.put(&text));
            self.judge(written)?;
        }
        let flushed = self.out.flush();
        self.judge(flushed)?;
        if let Target::File(file, output) = self.out.target {
            let published = match output {
                Some(output) => output.commit(file)?,
                None => file.commit()?,
            };
            ui.say_where(self.name, published.bytes);
        }
        Ok(())
    }

    fn judge(&self, written: io::Result<()>) -> Result<()> {
        let Err(error) = written else {
            return Ok(());
        };
        self.out.context.check()?;
        self.closed.set(error.kind() == io::ErrorKind::BrokenPipe);
        if let Some(capture) = &self.ui.session {
            return Err(too_large(self.out.context.operation, capture.room()));
        }
        match &self.ui.output.output {
            None => ignore_closed_pipe(Err(error)),
            Some(path) => Err(Error::file_io("write", &display_path(path), &error)),
        }
    }
}

impl Ui {
    fn say_where(&self, name: Option<String>, bytes: u64) {
        let Some(path) = self.output.output.as_deref().filter(|_| !self.global.quiet) else {
            return;
        };
        let what = name.unwrap_or_else(|| "The result".to_owned());
        let size = counted(bytes, "byte", "bytes");
        let path = display_path(path);
        // Nobody is left to tell where stderr is closed.
        let _ = writeln!(io::stderr(), "{what} is in {} ({size})", shown(&path));
    }
}

enum Target {
    Stdout(File),
    /// With its guard, where it may be a bundle that others change.
    File(Publisher, Option<Box<BundleOutput>>),
    /// Caught for a session.
    Session(Catching),
}

/// Gathers small documents into large writes, and stops once the operation is
/// cancelled.
struct Out<'a> {
    context: &'a Context,
    target: Target,
    pending: Vec<u8>,
}

const PORTION: usize = 64 * 1024;

impl Out<'_> {
    /// Documents that go to people and files end with a line feed.
    fn end_document(&mut self) -> io::Result<()> {
        match self.target {
            Target::Session(_) => Ok(()),
            Target::Stdout(_) | Target::File(..) => self.put(b"\n"),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Whoever reads stdout may be stuck; a signal need not wait for them.
        let _delivering = match self.target {
            Target::Stdout(_) => Some(signals::deliver()),
            Target::File(..) | Target::Session(_) => None,
        };
        if self.context.cancellation.is_requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let result = match &mut self.target {
            Target::Stdout(stdout) => stdout.write_all(&self.pending),
            Target::File(file, _) => file.put(&self.pending),
            Target::Session(catching) => catching.put(&self.pending),
        };
        self.pending.clear();
        result
    }
}

impl Sink for Out<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() < PORTION {
            return Ok(());
        }
        self.flush()
    }
}

/// Hashes what goes out.
struct Hashed<'a, 'b> {
    out: &'a mut Out<'b>,
    hasher: Hasher,
}

impl Sink for Hashed<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.out.put(bytes)
    }
}

/// stdout without the line buffer that `std` puts before it.
fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Whoever closes the pipe has read what they wanted.
fn ignore_closed_pipe(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
        _ => Ok(()),
    }
}

fn unwritable(error: &io::Error) -> Error {
    let reason = io_reason(error);
    let message = format!("The result could not be written to stdout: {reason}");
    Error::new(Code::UnreadableOutput, message)
        .action("Make room, or choose another place with --output.")
        .detail("operation", "write")
        .detail("reason", reason)
}
