//! Lines of JSON on stderr (section 2 of the contract). Arguments, results and
//! the environment are never in them.

use std::io::{self, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::settings::Level;
use crate::json::written;

/// Where log lines go, from a level on.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    level: Level,
}

/// A member of a line.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Number(u64),
}

impl Log {
    /// A log from `level` on.
    pub fn new(level: Level) -> Self {
        Self { level }
    }

    /// Writes a line, if its level is wanted. Names of `fields` are in order
    /// and none of them is one of the line's own.
    pub fn say(&self, level: Level, layer: &str, message: &str, fields: &[(&str, Field<'_>)]) {
        if level >= self.level {
            Self::always(level, layer, message, fields);
        }
    }

    /// Says that a call of a tool, which began then, has ended.
    pub(crate) fn called(&self, tool: &str, began: Instant, success: bool) {
        let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let level = if success { Level::Info } else { Level::Warn };
        let status = if success { "ok" } else { "error" };
        let fields = [
            ("durationMs", Field::Number(duration)),
            ("status", Field::Text(status)),
            ("tool", Field::Text(tool)),
        ];
        self.say(level, "tools", "tool call", &fields);
    }

    /// Writes a line at every level: what whoever started the server waits for.
    pub fn always(level: Level, layer: &str, message: &str, fields: &[(&str, Field<'_>)]) {
        let line = line(level, layer, message, fields);
        // Nobody is left to tell where stderr is closed.
        let _ = io::stderr().lock().write_all(&line);
    }
}

fn line(level: Level, layer: &str, message: &str, fields: &[(&str, Field<'_>)]) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let time = now.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
    let own = [
        ("application", Field::Text("rea")),
        ("layer", Field::Text(layer)),
        ("level", Field::Number(level as u64)),
        ("mode", Field::Text("mcp")),
        ("msg", Field::Text(message)),
        ("time", Field::Number(time)),
    ];
    let mut all: Vec<_> = own.into_iter().chain(fields.iter().copied()).collect();
    all.sort_by_key(|&(name, _)| name);
    let mut text = written(|w| {
        w.begin_object();
        for (name, field) in all {
            w.key_text(name.as_bytes());
            match field {
                Field::Text(text) => w.string(text),
                Field::Number(number) => w.u64(number),
            }
        }
        w.end_object();
    });
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_object() {
        let fields = [
            ("tool", Field::Text("a\nb")),
            ("durationMs", Field::Number(7)),
        ];
        let line = line(Level::Warn, "server", "tool call", &fields);
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["level"], 40);
        assert_eq!(value["msg"], "tool call");
        assert_eq!(value["tool"], "a\nb");
        assert_eq!(value["durationMs"], 7);
        assert!(value["time"].as_u64().unwrap() > 1_700_000_000_000);
    }
}
