//! The clap definition of `rea`, made from the table of commands.

use std::ffi::OsString;

use clap::{Args, Command};
use rea::operation::Family;

use crate::registry::{COMMANDS, find};
use crate::ui::{Color, GlobalOptions};

const ABOUT: &str = "Takes software apart without running it and writes what it found as Evidence";

const AFTER: &str = "\
Records go to stdout: a report on a terminal, one line of canonical JSON in a pipe.
`rea help COMMAND` says more about a command.";

/// The definition for parsing: subcommands know their arguments only once
/// they are chosen, so that starting up stays cheap with any number of them.
pub fn lean() -> Command {
    COMMANDS.iter().fold(root(), |root, row| {
        root.subcommand(row.command().defer(row.define))
    })
}

/// The definition for help, man pages and completions: everything is there.
pub fn full() -> Command {
    let root = root()
        .help_template(
            "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}",
        )
        .before_help(listing())
        .after_help(AFTER);
    COMMANDS.iter().fold(root, |root, row| {
        root.subcommand((row.define)(row.command()))
    })
}

fn root() -> Command {
    let root = Command::new("rea")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(crate::report::WIDTH);
    GlobalOptions::augment_args(root)
}

/// Families as headings, with their commands and what these are for.
fn listing() -> String {
    let listed = || COMMANDS.iter().filter(|row| !row.hidden);
    let width = listed()
        .map(|row| row.operation.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for family in Family::ALL {
        let mut members = listed()
            .filter(|row| row.operation.family == family)
            .peekable();
        if members.peek().is_none() {
            continue;
        }
        text.push_str(family.title());
        text.push_str(":\n");
        for row in members {
            text.push_str(&format!("  {:width$}  {}\n", row.name(), row.purpose()));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// What decides how a refused command line is reported, read without clap.
pub struct Early {
    /// Errors are wanted as JSON.
    pub json: bool,
    /// When to use colours.
    pub color: Color,
    /// The operation that seems to be meant.
    pub operation: &'static str,
}

impl Early {
    /// Looks at the arguments up to `--`.
    pub fn of(arguments: &[OsString]) -> Self {
        let mut early = Self {
            json: false,
            color: Color::Auto,
            operation: "rea",
        };
        let mut rest = arguments
            .iter()
            .skip(1)
            .map(|argument| argument.to_str().unwrap_or_default())
            .take_while(|&argument| argument != "--")
            .peekable();
        while let Some(argument) = rest.next() {
            let next = rest.peek().copied().unwrap_or_default();
            match argument {
                "--json" | "--format=json" => early.json = true,
                "--format" if next == "json" => early.json = true,
                "--color=always" => early.color = Color::Always,
                "--color=never" => early.color = Color::Never,
                "--color" if next == "always" => early.color = Color::Always,
                "--color" if next == "never" => early.color = Color::Never,
                name if early.operation == "rea" => {
                    if let Some(row) = find(name) {
                        early.operation = row.operation.name;
                    }
                }
                _ => {}
            }
        }
        early
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early(line: &str) -> Early {
        let arguments: Vec<OsString> = line.split(' ').map(Into::into).collect();
        Early::of(&arguments)
    }

    #[test]
    fn the_definition_holds_together() {
        full().debug_assert();
        lean().debug_assert();
    }

    #[test]
    fn what_is_read_early() {
        assert_eq!(
            early("rea -q inspect-artifact x").operation,
            "inspect_artifact"
        );
        assert_eq!(early("rea bogus").operation, "rea");
        assert!(early("rea inspect-artifact --format json").json);
        assert!(early("rea x --format=json").json && early("rea x --json").json);
        assert!(!early("rea inspect-artifact -- --json").json);
        assert_eq!(early("rea --color never x").color, Color::Never);
        assert_eq!(early("rea --color=always x").color, Color::Always);
    }
}
