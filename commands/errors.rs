//! Errors for people and for programs: one paragraph that says what failed,
//! where and what to do, or one line of JSON.

use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use rea::Error;
use rea::json::Value;

use crate::paint::{Paint, Tone};
use crate::registry;
use crate::report::{WIDTH, wrap};
use crate::shown::shown;

/// Exit status of a command line that cannot be understood.
pub const USAGE: u8 = 2;

/// How errors are written.
#[derive(Clone, Copy, Debug)]
pub struct ErrorStyle {
    /// One line of JSON.
    pub json: bool,
    /// Colours of the paragraph.
    pub paint: Paint,
    /// Columns of the paragraph.
    pub width: usize,
}

/// Columns for paragraphs on stderr.
pub fn width(terminal: bool) -> usize {
    let found = if terminal {
        terminal_size::terminal_size_of(io::stderr())
    } else {
        None
    };
    found.map_or(WIDTH, |(width, _)| usize::from(width.0).min(WIDTH))
}

/// Writes `error` to stderr. Where that is closed nobody is left to tell.
pub fn say(error: &Error, style: ErrorStyle) {
    let text = if style.json {
        let mut line = error.enveloped();
        line.push(b'\n');
        line
    } else {
        paragraph(error, style).into_bytes()
    };
    let _ = io::stderr().write_all(&text);
}

fn paragraph(error: &Error, style: ErrorStyle) -> String {
    let ErrorStyle { paint, width, .. } = style;
    let label = paint.tone(Tone::Bad, "error:");
    let mut text = format!("{label} {}\n", wrap(&shown(error.message()), width, 7));
    for (name, value) in error.details().iter() {
        let (Some(name), Some(value)) = (name.as_str(), plain(value)) else {
            continue;
        };
        // These say again what the message says, in words for programs.
        if !matches!(name, "operation" | "cleanup" | "boundary" | "truncated")
            && !error.message().contains(&value)
        {
            let name = paint
                .tone(Tone::Dim, &format!("{}:", shown(name)))
                .into_owned();
            text.push_str(&format!("       {name} {}\n", shown(&value)));
        }
    }
    if error.has_remedy() {
        for line in error.remedy().lines() {
            let label = paint.tone(Tone::Good, "  help:");
            text.push_str(&format!("{label} {}\n", wrap(&shown(line), width, 8)));
        }
    }
    text
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.as_str().map(str::to_owned),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The contract's error for a command line that clap refused; `operation` is
/// the one it was for, as far as it could be told.
pub fn usage(error: &clap::Error, operation: &str) -> Error {
    let rendered = error.render().to_string();
    let mut paragraphs = rendered.split("\n\n").map(str::trim);
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "a subcommand is needed".to_owned()
        }
        _ => {
            let first = paragraphs.next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            first
                .split('\n')
                .map(str::trim)
                .collect::<Vec<_>>()
                .join(" ")
        }
    };
    let mut remedy: Vec<String> = paragraphs
        // clap's tip to put `--` before what looks like a mistyped flag helps nobody.
        .filter_map(|part| {
            part.strip_prefix("tip: ")
                .filter(|tip| !tip.starts_with("to pass"))
        })
        .map(str::to_owned)
        .collect();
    let command = registry::find(operation).map(|row| format!(" {}", row.name()));
    remedy.push(format!("See `rea{} --help`.", command.unwrap_or_default()));
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => argument_name(name),
        Some(ContextValue::Strings(names)) => names
            .first()
            .map_or_else(String::new, |name| argument_name(name)),
        _ => String::new(),
    };
    let path: &[&str] = if argument.is_empty() {
        &[]
    } else {
        &[&argument]
    };
    Error::invalid_request(operation, path, reason(error.kind()), message).action(remedy.join("\n"))
}

fn reason(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => "unknown_argument",
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "missing_argument",
        ErrorKind::InvalidUtf8 => "invalid_format",
        _ => "invalid_value",
    }
}

/// `--max-depth <N>` is called `max_depth`, as in the operation's input; of
/// several that would do, the first.
fn argument_name(argument: &str) -> String {
    let name = argument.trim_start_matches(['<', '[']);
    let name = name.split([' ', '=', '|']).next().unwrap_or_default();
    name.trim_start_matches('-')
        .trim_matches(['<', '>', '[', ']', '.'])
        .to_ascii_lowercase()
        .replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rea::error::Code;

    #[test]
    fn the_paragraph_says_what_where_and_what_to_do() {
        let error = Error::new(Code::TargetUnavailable, "a\u{1b}b cannot be opened")
            .detail("path", "dir/a\u{202e}b")
            .detail("operation", "inspect_artifact")
            .action("Name a file that exists.");
        let style = ErrorStyle {
            json: false,
            paint: Paint::OFF,
            width: 80,
        };
        assert_eq!(
            paragraph(&error, style),
            "error: a\\u{1b}b cannot be opened\n       path: dir/a\\u{202e}b\n  help: Name a file that exists.\n"
        );
    }

    #[test]
    fn arguments_are_called_as_in_the_input() {
        assert_eq!(argument_name("--max-depth <N>"), "max_depth");
        assert_eq!(argument_name("<PATH>"), "path");
        assert_eq!(argument_name("<EVIDENCE>..."), "evidence");
        assert_eq!(argument_name("[PATH]..."), "path");
        assert_eq!(argument_name("--bogus=1"), "bogus");
    }
}
