//! Where results go: the options that all commands with a record share, and
//! the one way in which a record, document or report reaches stdout or a file.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use rea::error::{Code, io_reason};
use rea::evidence::Record;
use rea::json::{Sink, WriteJson, Writer};
use rea::operation::Context;
use rea::publish::{Publisher, display_path};
use rea::{Error, Result};

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
    /// How to write the result [default: report on a terminal, else canonical]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The same as --format json; errors are JSON too
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write to FILE, complete or not at all, and say its id on stderr
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Let --output replace a file
    #[arg(long, requires = "output")]
    overwrite: bool,

    /// Rows of a table in a report: a number or `all`
    #[arg(long, value_name = "N", default_value = "40")]
    rows: Rows,
}

#[derive(Clone, Copy, Debug)]
struct Rows(usize);

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

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            format: None,
            json: false,
            output: None,
            overwrite: false,
            rows: Rows(USUAL_ROWS),
        }
    }
}

impl OutputOptions {
    /// Refuses an impossible `--output` before any work is done.
    pub fn check(&self) -> Result<()> {
        match &self.output {
            Some(path) => Publisher::check(path, self.overwrite),
            None => Ok(()),
        }
    }

    fn format(&self, stdout_is_terminal: bool) -> Format {
        match self.format {
            Some(format) => format,
            None if self.json => Format::Json,
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
        let id = record.id().to_string();
        let write = |w: &mut Writer<'_>| record.write_record(w);
        self.deliver(context, Some(&id), &write, describe)
    }

    /// Delivers JSON that is no record, or the report of it.
    pub fn document(
        &self,
        context: &Context,
        document: &dyn WriteJson,
        describe: impl FnOnce(&mut Report),
    ) -> Result<()> {
        let write = |w: &mut Writer<'_>| document.write_json(w);
        self.deliver(context, None, &write, describe)
    }

    /// Writes plain text to stdout. A closed pipe is no error.
    pub fn text(&self, text: &[u8]) -> Result<()> {
        ignore_closed_pipe(stdout().and_then(|mut out| out.write_all(text)))
    }

    fn deliver(
        &self,
        context: &Context,
        id: Option<&str>,
        write: &dyn Fn(&mut Writer<'_>),
        describe: impl FnOnce(&mut Report),
    ) -> Result<()> {
        let format = self.output.format(self.stdout_is_terminal);
        let render = |sink: &mut dyn Sink, coloured: bool| match format {
            Format::Canonical | Format::Json => {
                let mut writer = match format {
                    Format::Json => Writer::indented(sink),
                    _ => Writer::canonical(sink),
                };
                write(&mut writer);
                writer.finish()?;
                sink.put(b"\n")
            }
            Format::Report | Format::Markdown => {
                let mut report = Report::new(self.output.rows.0);
                describe(&mut report);
                let mut text = Vec::new();
                if format == Format::Report {
                    let paint = if coloured {
                        self.paint
                    } else {
                        crate::paint::Paint::OFF
                    };
                    report.write_terminal(&mut text, paint, self.width())?;
                } else {
                    report.write_markdown(&mut text)?;
                }
                sink.put(&text)
            }
        };
        let Some(path) = &self.output.output else {
            // From here on a signal need not wait for a reader that is stuck.
            signals::deliver();
            let written = stdout().and_then(|out| render(&mut Stdout(out), true));
            return ignore_closed_pipe(written);
        };
        let mut file = Cancellable {
            context,
            file: Publisher::create(path, self.output.overwrite)?,
        };
        let written = render(&mut file, false);
        context.check()?;
        written.map_err(|error| Error::file_io("write", &display_path(path), &error))?;
        let published = file.file.commit()?;
        if !self.global.quiet {
            let what = id.unwrap_or("The document");
            let path = display_path(path).into_owned();
            // Nobody is left to tell where stderr is closed.
            let _ = writeln!(
                io::stderr(),
                "{what} is in {} ({} bytes)",
                shown(&path),
                published.bytes
            );
        }
        Ok(())
    }
}

/// stdout without the line buffer that `std` puts before it.
fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

struct Stdout(File);

impl Sink for Stdout {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

/// A file that stops growing once the operation is cancelled.
struct Cancellable<'a> {
    context: &'a Context,
    file: Publisher,
}

impl Sink for Cancellable<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.context.cancellation.is_requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.file.put(bytes)
    }
}

/// Whoever closes the pipe has read what they wanted.
fn ignore_closed_pipe(written: io::Result<()>) -> Result<()> {
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            let reason = io_reason(&error);
            let message = format!("The result could not be written to stdout: {reason}");
            Err(Error::new(Code::UnreadableOutput, message)
                .action("Make room, or choose another place with --output.")
                .detail("operation", "write")
                .detail("reason", reason))
        }
    }
}
