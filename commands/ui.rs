//! What a command works with: the options that every command has, the
//! terminal as it is, and the way in which operations are run.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use rea::mcp::Call;
use rea::operation::Context;
use rea::{Error, Result};

use crate::capture::Capture;
use crate::errors::{self, ErrorStyle};
use crate::output::{FormOptions, OutputOptions};
use crate::paint::Paint;
use crate::progress::{self, Display};
use crate::registry::OutputKind;
use crate::report::WIDTH;
use crate::signals;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    // On a terminal, unless NO_COLOR is set or TERM is `dumb`.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether a stream gets colours.
    pub fn applies(self, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let set = |name| std::env::var_os(name).unwrap_or_default();
                terminal && set("NO_COLOR").is_empty() && set("TERM") != "dumb"
            }
        }
    }
}

// No doc comment here: clap would take it for the help of `rea`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalOptions {
    /// Worker threads; never changes a result [default: all cores]
    #[arg(short = 'j', long, value_name = "N", global = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// No progress and no notes on stderr; errors are still said
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: Color,

    /// Test hook: shuffles listings and delays work; never changes a result
    #[arg(long, value_name = "SEED", global = true, hide = true)]
    pub disorder: Option<u64>,
}

/// Options, terminal and output of one run.
#[derive(Debug)]
pub struct Ui {
    /// The options that every command has.
    pub global: GlobalOptions,
    /// Colours on stdout.
    pub paint: Paint,
    /// Whether stdout is a terminal.
    pub stdout_is_terminal: bool,
    pub(crate) output: OutputOptions,
    errors: ErrorStyle,
    /// Where results go where there is no command line.
    pub(crate) session: Option<Arc<Capture>>,
}

impl Ui {
    /// Reads the shared options of a parsed command line. Which there are must
    /// be told: release builds of clap don't know an undefined argument from
    /// one that is not given.
    pub fn new(
        matches: &ArgMatches,
        kind: OutputKind,
        errors: ErrorStyle,
    ) -> Result<Self, clap::Error> {
        let global = GlobalOptions::from_arg_matches(matches)?;
        let output = match kind {
            OutputKind::Document => OutputOptions::from_arg_matches(matches)?,
            OutputKind::Result => FormOptions::from_arg_matches(matches)?.into(),
            OutputKind::Text => OutputOptions::default(),
        };
        let stdout_is_terminal = io::stdout().is_terminal();
        Ok(Self {
            paint: Paint::new(global.color.applies(stdout_is_terminal)),
            global,
            stdout_is_terminal,
            output,
            errors,
            session: None,
        })
    }

    /// What a command works with when a session calls it; the result is
    /// captured. `many`: all documents that there are, as a list.
    pub fn in_session(call: &Call, many: bool) -> (Self, Arc<Capture>) {
        let capture = Arc::new(Capture::new(call.clone(), many));
        let ui = Self {
            global: GlobalOptions {
                threads: None,
                quiet: true,
                color: Color::Never,
                disorder: None,
            },
            paint: Paint::OFF,
            stdout_is_terminal: false,
            output: OutputOptions::default(),
            errors: ErrorStyle {
                json: true,
                paint: Paint::OFF,
                width: WIDTH,
            },
            session: Some(Arc::clone(&capture)),
        };
        (ui, capture)
    }

    /// Columns for prose on stdout.
    pub fn width(&self) -> usize {
        if self.stdout_is_terminal {
            terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(w, _)| usize::from(w.0))
        } else {
            WIDTH
        }
    }

    /// Says an error while work goes on.
    pub fn say(&self, error: &Error) {
        if self.session.is_some() {
            return;
        }
        progress::erase();
        errors::say(error, self.errors);
    }

    /// Runs an operation of the engine: with signals turned into a stop
    /// request and progress on a terminal. An impossible `--output` is refused
    /// before any work is done.
    pub fn operate<'c, T>(
        &self,
        context: &'c Context,
        work: impl FnOnce(&'c Context) -> Result<T>,
    ) -> Result<T> {
        if self.session.is_some() {
            return work(context);
        }
        self.output.check()?;
        let (operation, style) = (context.operation, self.errors);
        signals::watch(context.cancellation.clone(), move |signal| {
            errors::say(&Error::cancelled(operation).by_signal(signal), style);
        });
        let display = (!self.global.quiet && io::stderr().is_terminal())
            .then(|| Display::start(context.progress.clone()));
        let result = work(context);
        drop(display);
        result
    }

    /// The context of `operation` under the global options.
    pub fn context(&self, operation: &'static str) -> Context {
        if let Some(capture) = &self.session {
            return capture.call.context(operation);
        }
        let mut context = Context::new(operation);
        if let Some(threads) = self.global.threads {
            context.threads = usize::from(threads);
        }
        context.disorder = self.global.disorder;
        context
    }
}
