//! The one table writer: columns that line up, whatever the names hold.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::paint::{Paint, Tone};
use crate::quantity::thousands;
use crate::shown::shown;

/// Rows a report shows unless `--rows` says otherwise.
pub const USUAL_ROWS: usize = 40;

/// A column's name and on which side its cells stand.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    right: bool,
}

impl Column {
    /// A column of text.
    pub const fn text(name: &'static str) -> Self {
        Self { name, right: false }
    }

    /// A column of numbers.
    pub const fn number(name: &'static str) -> Self {
        Self { name, right: true }
    }
}

/// One field of a row.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A field in a tone of its own.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            tone,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(text, Tone::Plain)
    }
}

/// Rows under a heading; those beyond the limit are counted, not kept.
#[derive(Debug)]
pub struct Table {
    columns: &'static [Column],
    rows: Vec<Vec<Cell>>,
    limit: usize,
    total: u64,
}

impl Table {
    /// An empty table that keeps at most `limit` rows.
    pub fn new(columns: &'static [Column], limit: usize) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            limit,
            total: 0,
        }
    }

    /// How many rows it keeps.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Adds a row with one cell for each column.
    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.total += 1;
        if self.rows.len() < self.limit {
            self.rows.push(cells.into());
        }
    }

    /// Whether it keeps no more rows.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.limit
    }

    /// Counts rows that are not shown.
    pub fn skip(&mut self, rows: u64) {
        self.total += rows;
    }

    /// Whether there is nothing to show or count.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    fn omitted(&self) -> Option<String> {
        let more = self.total.saturating_sub(self.rows.len() as u64);
        (more > 0).then(|| {
            format!(
                "{} more; --rows all shows them, --format json has the whole record",
                thousands(more)
            )
        })
    }

    /// Writes it for a terminal. The last column is never cut or padded.
    pub fn write_terminal(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let mut widths: Vec<usize> = self.columns.iter().map(|c| c.name.len()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(shown(&cell.text).width());
            }
        }
        let heads = self.columns.iter().map(|c| (c.name, Tone::Dim));
        self.write_line(out, paint, &widths, heads)?;
        for row in &self.rows {
            let cells = row.iter().map(|cell| (cell.text.as_str(), cell.tone));
            self.write_line(out, paint, &widths, cells)?;
        }
        match self.omitted() {
            Some(more) => writeln!(out, "  {}", paint.tone(Tone::Dim, &format!("… {more}"))),
            None => Ok(()),
        }
    }

    fn write_line<'a>(
        &self,
        out: &mut dyn Write,
        paint: Paint,
        widths: &[usize],
        cells: impl Iterator<Item = (&'a str, Tone)>,
    ) -> io::Result<()> {
        // Blanks are kept back until something follows, so no line ends in one.
        let mut blanks = 2;
        for ((column, width), (text, tone)) in self.columns.iter().zip(widths).zip(cells) {
            let text = shown(text);
            let padding = width - text.width().min(*width);
            if column.right {
                blanks += padding;
            }
            if !text.is_empty() {
                write!(out, "{:blanks$}{}", "", paint.tone(tone, &text))?;
                blanks = 0;
            }
            if !column.right {
                blanks += padding;
            }
            blanks += 2;
        }
        writeln!(out)
    }

    /// Writes it as a Markdown pipe table.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        for column in self.columns {
            write!(out, "| {} ", column.name)?;
        }
        writeln!(out, "|")?;
        for column in self.columns {
            out.write_all(if column.right { b"| ---: " } else { b"| --- " })?;
        }
        writeln!(out, "|")?;
        for row in &self.rows {
            for cell in row {
                write!(out, "| {} ", markdown(&cell.text))?;
            }
            writeln!(out, "|")?;
        }
        match self.omitted() {
            Some(more) => writeln!(out, "\n{}.", markdown(&more)),
            None => Ok(()),
        }
    }
}

/// Text that Markdown shows as it is.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in shown(text).chars() {
        if "\\`*_[]<>|#&~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column::number("SIZE"),
        Column::text("KIND"),
        Column::text("PATH"),
    ];

    fn table(limit: usize) -> Table {
        let mut table = Table::new(COLUMNS, limit);
        table.row(["1".into(), "日本".into(), "a".into()]);
        table.row(["12345".into(), "".into(), "b\u{202e}c|d".into()]);
        table.row(["7".into(), "z".into(), "".into()]);
        table
    }

    fn terminal(table: &Table) -> String {
        let mut out = Vec::new();
        table.write_terminal(&mut out, Paint::OFF).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_line_up_by_display_width() {
        let expected =
            "   SIZE  KIND  PATH\n      1  日本  a\n  12345        b\\u{202e}c|d\n      7  z\n";
        assert_eq!(terminal(&table(9)), expected);
    }

    #[test]
    fn rows_beyond_the_limit_are_counted() {
        let mut table = table(2);
        table.skip(1000);
        assert!(terminal(&table).ends_with(
            "  … 1,001 more; --rows all shows them, --format json has the whole record\n"
        ));
    }

    #[test]
    fn markdown_cells_cannot_break_out() {
        let mut out = Vec::new();
        table(9).write_markdown(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("| 12345 |  | b\\\\u{202e}c\\|d |"), "{text}");
    }
}
