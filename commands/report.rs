//! A report: what a record says, for a person. Commands fill it with plain
//! text; the two ways to write it (terminal and Markdown) escape and align.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use unicode_width::UnicodeWidthStr;

use crate::paint::{Paint, Tone};
use crate::shown::shown;
use crate::table::{Column, Table, markdown};

/// The width of prose where no terminal says how wide it is, and the most
/// that is used of a wide one.
pub const WIDTH: usize = 100;

/// A document of a few kinds of blocks.
#[derive(Debug)]
pub struct Report {
    rows: usize,
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Title(String),
    Facts(Vec<Fact>),
    Table(String, Table),
    List(String, Vec<Item>),
    Lines(Vec<String>),
}

#[derive(Debug)]
struct Fact {
    name: &'static str,
    value: String,
    tone: Tone,
}

#[derive(Debug)]
struct Item {
    /// What to type, where the item is a next step.
    lead: Option<String>,
    text: String,
}

impl Report {
    /// An empty report whose tables show at most `rows` rows.
    pub fn new(rows: usize) -> Self {
        Self {
            rows,
            blocks: Vec::new(),
        }
    }

    /// Lets its tables from here on show at most `rows` rows.
    pub fn limit_rows(&mut self, rows: usize) {
        self.rows = rows;
    }

    /// Bare lines, nothing before or after them.
    pub fn lines<S: Into<String>>(&mut self, lines: impl IntoIterator<Item = S>) {
        let lines = lines.into_iter().map(Into::into).collect();
        self.blocks.push(Block::Lines(lines));
    }

    /// What it is about.
    pub fn title(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Title(text.into()));
    }

    /// A name and its value, under the facts before it.
    pub fn fact(&mut self, name: &'static str, value: impl Into<String>) {
        self.toned_fact(name, value, Tone::Plain);
    }

    /// A fact in a tone of its own.
    pub fn toned_fact(&mut self, name: &'static str, value: impl Into<String>, tone: Tone) {
        let fact = Fact {
            name,
            value: value.into(),
            tone,
        };
        match self.blocks.last_mut() {
            Some(Block::Facts(facts)) => facts.push(fact),
            _ => self.blocks.push(Block::Facts(vec![fact])),
        }
    }

    /// A table under a heading; left out when `fill` adds nothing.
    pub fn table(
        &mut self,
        heading: impl Into<String>,
        columns: &'static [Column],
        fill: impl FnOnce(&mut Table),
    ) {
        let mut table = Table::new(columns, self.rows);
        fill(&mut table);
        if !table.is_empty() {
            self.blocks.push(Block::Table(heading.into(), table));
        }
    }

    /// Sentences under a heading; left out when there are none.
    pub fn list<S: Into<String>>(
        &mut self,
        heading: impl Into<String>,
        items: impl IntoIterator<Item = S>,
    ) {
        let items: Vec<Item> = items
            .into_iter()
            .map(|text| Item {
                lead: None,
                text: text.into(),
            })
            .collect();
        self.push_list(heading.into(), items);
    }

    /// Commands to type next, as words that are quoted here, each with why.
    pub fn next_steps(&mut self, steps: impl IntoIterator<Item = (Vec<OsString>, String)>) {
        let items = steps
            .into_iter()
            .map(|(words, why)| Item {
                lead: Some(command_line(&words)),
                text: why,
            })
            .collect();
        self.push_list("Next steps".to_owned(), items);
    }

    fn push_list(&mut self, heading: String, items: Vec<Item>) {
        if !items.is_empty() {
            self.blocks.push(Block::List(heading, items));
        }
    }

    /// Writes it for a terminal of `width` columns.
    pub fn write_terminal(
        &self,
        out: &mut dyn Write,
        paint: Paint,
        width: usize,
    ) -> io::Result<()> {
        let width = width.min(WIDTH);
        for (at, block) in self.blocks.iter().enumerate() {
            let after_title = at > 0 && matches!(self.blocks[at - 1], Block::Title(_));
            if at > 0 && !after_title {
                writeln!(out)?;
            }
            let heading = |out: &mut dyn Write, text: &str| {
                writeln!(out, "{}", paint.tone(Tone::Strong, &shown(text)))
            };
            match block {
                Block::Title(text) => heading(out, text)?,
                Block::Facts(facts) => write_facts(out, paint, facts)?,
                Block::Table(title, table) => {
                    heading(out, title)?;
                    table.write_terminal(out, paint)?;
                }
                Block::List(title, items) => {
                    heading(out, title)?;
                    for item in items {
                        write_item(out, paint, width, item)?;
                    }
                }
                Block::Lines(lines) => {
                    for line in lines {
                        writeln!(out, "{}", shown(line))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes it as Markdown.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            match block {
                Block::Title(text) => writeln!(out, "## {}", markdown(text))?,
                Block::Facts(facts) => {
                    for fact in facts {
                        writeln!(out, "- {}: {}", fact.name, markdown(&fact.value))?;
                    }
                }
                Block::Table(title, table) => {
                    writeln!(out, "### {}\n", markdown(title))?;
                    table.write_markdown(out)?;
                }
                Block::List(title, items) => {
                    writeln!(out, "### {}\n", markdown(title))?;
                    for item in items {
                        let text = markdown(&item.text);
                        match &item.lead {
                            Some(lead) => writeln!(out, "- {}: {text}", markdown(lead))?,
                            None => writeln!(out, "- {text}")?,
                        }
                    }
                }
                Block::Lines(lines) => {
                    for line in lines {
                        writeln!(out, "- {}", markdown(line))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A path as a word of a command: never taken for an option.
pub fn path_word(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.starts_with(b"-") || bytes == b"-" {
        return path.into();
    }
    Path::new(".").join(path).into()
}

/// Words as a shell reads them.
fn command_line(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// What nobody would quote stands bare; text in single quotes; control
/// characters and bytes that are no text as escapes in `$'...'`, which bash,
/// zsh and POSIX.1-2024 shells read.
fn quoted(word: &OsStr) -> String {
    let bytes = word.as_bytes();
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.is_empty() && bytes.iter().all(bare) => text.to_owned(),
        Ok(text) if shown(text) == text => format!("'{}'", text.replace('\'', "'\\''")),
        _ => {
            let mut out = String::from("$'");
            for chunk in bytes.utf8_chunks() {
                for char in chunk.valid().chars() {
                    let mut buffer = [0; 4];
                    let text = &*char.encode_utf8(&mut buffer);
                    match char {
                        '\'' | '\\' => out.extend(['\\', char]),
                        _ if shown(text) == text => out.push(char),
                        _ => text.bytes().for_each(|byte| escape(byte, &mut out)),
                    }
                }
                chunk
                    .invalid()
                    .iter()
                    .for_each(|&byte| escape(byte, &mut out));
            }
            out.push('\'');
            out
        }
    }
}

/// Three octal digits, so that what follows is never taken for a part of it.
fn escape(byte: u8, out: &mut String) {
    out.push_str(&format!("\\{byte:03o}"));
}

fn write_facts(out: &mut dyn Write, paint: Paint, facts: &[Fact]) -> io::Result<()> {
    let width = facts.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
    for fact in facts {
        let name = format!("{:width$}", fact.name);
        let value = shown(&fact.value);
        writeln!(
            out,
            "  {}  {}",
            paint.tone(Tone::Dim, &name),
            paint.tone(fact.tone, &value)
        )?;
    }
    Ok(())
}

fn write_item(out: &mut dyn Write, paint: Paint, width: usize, item: &Item) -> io::Result<()> {
    let text = match &item.lead {
        Some(lead) => {
            writeln!(out, "  {}", paint.tone(Tone::Name, &shown(lead)))?;
            write!(out, "    ")?;
            &item.text
        }
        None => {
            write!(out, "  • ")?;
            &item.text
        }
    };
    writeln!(out, "{}", wrap(&shown(text), width, 4))
}

/// Breaks `text` at blanks so that it fits `width`, when its first line starts
/// at column `indent` and the others are indented as far. Words are never cut.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = indent;
    for (at, word) in text.split(' ').enumerate() {
        let length = word.width();
        if at > 0 {
            if column + 1 + length > width {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: &[Column] = &[Column::text("A")];

    fn sample() -> Report {
        let mut report = Report::new(40);
        report.title("evil\u{1b}[2J.zip");
        report.fact("format", "zip");
        report.toned_fact("coverage", "complete", Tone::Good);
        report.table("Nothing", NOTHING, |_| ());
        report.list("Limitations", ["One thing that was not looked at."]);
        report.next_steps([(vec!["rea".into(), "x".into()], "Shows x.".to_owned())]);
        report
    }

    #[test]
    fn terminal_and_markdown() {
        let mut out = Vec::new();
        sample().write_terminal(&mut out, Paint::OFF, 24).unwrap();
        let expected = "evil\\u{1b}[2J.zip\n  format    zip\n  coverage  complete\n\n\
            Limitations\n  • One thing that was\n    not looked at.\n\n\
            Next steps\n  rea x\n    Shows x.\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);

        let mut out = Vec::new();
        sample().write_markdown(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("## evil\\\\u{1b}\\[2J.zip\n\n- format: zip\n"),
            "{text}"
        );
    }

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        for (word, expected) in [
            (&b"a/b-1.json"[..], "a/b-1.json"),
            (b"", "''"),
            (b"my app.apk", "'my app.apk'"),
            (b"it's; rm $x", "'it'\\''s; rm $x'"),
            ("\u{e9}t\u{e9}".as_bytes(), "'\u{e9}t\u{e9}'"),
            (b"a\nb'1", "$'a\\012b\\'1'"),
            (b"a\xE9\\", "$'a\\351\\\\'"),
        ] {
            let found = quoted(OsStr::from_bytes(word));
            assert_eq!(found, expected);
            let output = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {found}")])
                .output();
            // Where there is no bash, the table must do.
            if let Ok(output) = output {
                assert_eq!(output.stdout, word, "{found}");
            }
        }
        assert_eq!(path_word(Path::new("-x")), "./-x");
        assert_eq!(path_word(Path::new("-")), "-");
    }

    #[test]
    fn long_words_are_not_cut() {
        assert_eq!(wrap("a verylongword b", 6, 2), "a\n  verylongword\n  b");
    }
}
