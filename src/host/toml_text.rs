//! TOML that a person may have written: tables are set and removed, comments
//! and everything else stay. `toml_edit` keeps the formatting; whether it did
//! is checked on every document before anything is changed.

use toml_edit::visit_mut::VisitMut;
use toml_edit::{
    Array, DocumentMut, InlineTable, Item as TomlItem, Table, TableLike, Value as Toml,
};

use super::json_text::Item;
use crate::json::{Object, Text, Value};

/// A document.
#[derive(Debug)]
pub(super) struct TomlText {
    document: DocumentMut,
    /// Whether lines end as on Windows.
    carriage: bool,
    value: Value,
}

impl TomlText {
    /// Reads a document.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        let carriage = text.contains("\r\n");
        let lines = if carriage {
            text.replace("\r\n", "\n")
        } else {
            text.to_owned()
        };
        let document: DocumentMut = lines
            .parse()
            .map_err(|error: toml_edit::TomlError| one_line(&error.to_string()))?;
        let same = document.to_string() == lines && restored(&lines, carriage) == text;
        if !same {
            return Err("it cannot be edited without changing other lines".to_owned());
        }
        let value = of_table(document.as_table());
        Ok(Self {
            document,
            carriage,
            value,
        })
    }

    /// What it says, as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The text with `members` set in the table at `path`, which is made where
    /// it is missing.
    ///
    /// # Errors
    /// What stands in the way, in words.
    pub fn set(
        &self,
        path: [&'static str; 2],
        members: &[(&'static str, Item)],
    ) -> Result<String, String> {
        let [outer, inner] = path;
        let mut document = self.document.clone();
        let servers = document.entry(outer).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            TomlItem::Table(table)
        });
        let dotted = servers.as_table().is_some_and(Table::is_dotted);
        let inline = servers.is_inline_table();
        let servers = servers
            .as_table_like_mut()
            .ok_or_else(|| format!("{outer} is no table"))?;
        if servers.get(inner).is_none() {
            let item = match inline {
                true => TomlItem::Value(Toml::InlineTable(InlineTable::new())),
                false => {
                    let mut table = Table::new();
                    table.set_dotted(dotted);
                    TomlItem::Table(table)
                }
            };
            servers.insert(inner, item);
        }
        let entry = servers
            .get_mut(inner)
            .and_then(TomlItem::as_table_like_mut)
            .ok_or_else(|| format!("{inner} is no table"))?;
        for (name, item) in members {
            put(entry, name, item)?;
        }
        Ok(restored(&document.to_string(), self.carriage))
    }

    /// The text without the table at `path`. Comments before it stay.
    ///
    /// # Errors
    /// That it is not there, in words.
    pub fn remove(&self, path: [&'static str; 2]) -> Result<String, String> {
        let [outer, inner] = path;
        let mut document = self.document.clone();
        let servers = document
            .get_mut(outer)
            .and_then(TomlItem::as_table_like_mut)
            .ok_or("there is no such table")?;
        let removed = servers.remove(inner).ok_or("there is no such table")?;
        let only = servers.is_empty();
        let hidden = document
            .get(outer)
            .and_then(TomlItem::as_table)
            .is_some_and(Table::is_implicit);
        if only && hidden {
            document.remove(outer);
        }
        let table = removed.as_table();
        let comment = table
            .and_then(|table| table.decor().prefix()?.as_str())
            .filter(|prefix| prefix.contains('#'))
            .map(|prefix| prefix.strip_prefix('\n').unwrap_or(prefix).to_owned());
        if let Some(comment) = comment {
            let position = table.and_then(Table::position);
            give(&mut document, position, &format!("\n{comment}"));
        }
        Ok(restored(&document.to_string(), self.carriage))
    }
}

/// Sets a member; one that is there keeps its place and its comment.
fn put(entry: &mut dyn TableLike, name: &str, item: &Item) -> Result<(), String> {
    let mut value = toml(item)?;
    match entry.get_mut(name) {
        Some(TomlItem::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(_) => return Err(format!("{name} is a table")),
        None => {
            entry.insert(name, TomlItem::Value(value));
        }
    }
    Ok(())
}

fn toml(item: &Item) -> Result<Toml, String> {
    Ok(match item {
        Item::Text(text) => Toml::from(text.as_str()),
        Item::Words(words) => Toml::Array(words.iter().map(String::as_str).collect::<Array>()),
        Item::Number(number) => {
            Toml::from(i64::try_from(*number).map_err(|_| "a number is too large")?)
        }
        Item::Members(_) => return Err("a table in a table".to_owned()),
    })
}

/// Gives a comment to the table that followed position, else to the end.
fn give(document: &mut DocumentMut, position: Option<isize>, comment: &str) {
    struct Next {
        after: isize,
        found: Option<isize>,
    }
    impl VisitMut for Next {
        fn visit_table_mut(&mut self, table: &mut Table) {
            if let Some(at) = table.position()
                && at > self.after
                && self.found.is_none_or(|found| at < found)
                && !table.is_implicit()
            {
                self.found = Some(at);
            }
            toml_edit::visit_mut::visit_table_mut(self, table);
        }
    }
    struct Give<'a> {
        to: isize,
        comment: &'a str,
    }
    impl VisitMut for Give<'_> {
        fn visit_table_mut(&mut self, table: &mut Table) {
            if table.position() == Some(self.to) && !table.is_implicit() {
                let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str());
                let prefix = format!("{}{}", self.comment, prefix.unwrap_or_default());
                table.decor_mut().set_prefix(prefix);
                self.comment = "";
            }
            toml_edit::visit_mut::visit_table_mut(self, table);
        }
    }
    let mut next = Next {
        after: position.unwrap_or(isize::MAX),
        found: None,
    };
    next.visit_document_mut(document);
    match next.found {
        Some(to) => Give { to, comment }.visit_document_mut(document),
        None => {
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{comment}{trailing}"));
        }
    }
}

fn restored(lines: &str, carriage: bool) -> String {
    if carriage {
        lines.replace('\n', "\r\n")
    } else {
        lines.to_owned()
    }
}

fn one_line(text: &str) -> String {
    // The last line says what is wrong, the first where.
    let first = text.lines().next().unwrap_or_default();
    let last = text.lines().last().unwrap_or_default();
    if first == last {
        return first.to_owned();
    }
    format!("{first}: {last}")
}

fn of_table(table: &dyn TableLike) -> Value {
    let mut members = Object::new();
    for (name, item) in table.iter() {
        members.insert(Text::from(name), of_item(item));
    }
    Value::Object(members)
}

fn of_item(item: &TomlItem) -> Value {
    match item {
        TomlItem::None => Value::Null,
        TomlItem::Value(value) => of_value(value),
        TomlItem::Table(table) => of_table(table),
        TomlItem::ArrayOfTables(tables) => {
            Value::Array(tables.iter().map(|table| of_table(table)).collect())
        }
    }
}

fn of_value(value: &Toml) -> Value {
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Boolean(holds) => Value::Bool(*holds.value()),
        // Beyond what a JSON number holds exactly, as text.
        Toml::Integer(number) => match *number.value() {
            number if number.unsigned_abs() <= crate::json::MAX_SAFE_INTEGER => {
                Value::Number(number as f64)
            }
            number => Value::from(number.to_string()),
        },
        Toml::Float(number) if number.value().is_finite() => Value::Number(*number.value()),
        Toml::Float(number) => Value::from(number.value().to_string()),
        Toml::Datetime(date) => Value::from(date.value().to_string()),
        Toml::Array(items) => Value::Array(items.iter().map(of_value).collect()),
        Toml::InlineTable(table) => of_table(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "rea"];

    fn set(text: &str) -> String {
        let members = [
            ("command", Item::Text("/bin/rea".to_owned())),
            ("args", Item::Words(vec!["mcp".to_owned()])),
            ("startup_timeout_sec", Item::Number(30)),
        ];
        TomlText::read(text).unwrap().set(PATH, &members).unwrap()
    }

    fn removed(text: &str) -> String {
        TomlText::read(text).unwrap().remove(PATH).unwrap()
    }

    const ENTRY: &str =
        "[mcp_servers.rea]\ncommand = \"/bin/rea\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 30\n";

    #[test]
    fn a_table_is_added_and_taken_out_again() {
        assert_eq!(set(""), ENTRY);
        for before in [
            "# mine\nmodel = 'o'   # the best\n",
            "model = \"o\"\r\n[mcp_servers.a]\r\ncommand = \"a\" # x\r\n",
            "[mcp_servers.a]\ncommand = \"\"\"\n[mcp_servers.rea]\n\"\"\"\n\n[z]\na = 1\n",
            "[mcp_servers]\n[z]\n",
        ] {
            let after = set(before);
            let lines = after.replace("\r\n", "\n");
            assert!(lines.contains(&format!("\n{ENTRY}")), "{after}");
            assert_eq!(removed(&after), before, "{after}");
            assert_eq!(set(&after), after);
            assert_eq!(after.contains("\r\n"), before.contains("\r\n"));
        }
        let inline = "mcp_servers = { a = { command = \"x\" } } # all\n";
        let after = set(inline);
        assert!(after.contains("rea = { command = \"/bin/rea\""), "{after}");
        assert!(after.ends_with("} # all\n"), "{after}");
        let dotted = "mcp_servers.a.command = \"x\"\n[z]\n";
        let after = set(dotted);
        assert!(
            after.contains("mcp_servers.rea.command = \"/bin/rea\"\n"),
            "{after}"
        );
        assert_eq!(removed(&after), dotted);
    }

    #[test]
    fn an_entry_keeps_what_it_has_and_its_neighbours_keep_their_comments() {
        let text = "[mcp_servers.rea] # r\ncommand = \"x\" # c\nenv = { A = \"1\" }\n\n# of b\n[mcp_servers.b]\ncommand = \"b\"\n";
        let after = set(text);
        assert!(after.starts_with("[mcp_servers.rea] # r\ncommand = \"/bin/rea\" # c\nenv = { A = \"1\" }\nargs = [\"mcp\"]\n"), "{after}");
        assert!(
            after.ends_with("\n# of b\n[mcp_servers.b]\ncommand = \"b\"\n"),
            "{after}"
        );
        let mine = "a = 1\n\n# about rea\n[mcp_servers.rea]\ncommand = \"x\"\n[mcp_servers.rea.env]\nA = \"1\"\n\n[z]\n";
        assert_eq!(removed(mine), "a = 1\n\n# about rea\n\n[z]\n");
        let last = "a = 1\n\n# about rea\n[mcp_servers.rea]\ncommand = \"x\"\n";
        assert_eq!(removed(last), "a = 1\n\n# about rea\n");
    }

    #[test]
    fn what_is_no_toml_is_refused() {
        for text in ["a = ", "[a", "a = 1\na = 2\n", "\"", "a = 1\r\nb = 2\n"] {
            assert!(TomlText::read(text).is_err(), "{text}");
        }
        let servers = TomlText::read("mcp_servers = 1\n").unwrap();
        assert!(servers.set(PATH, &[]).is_err());
        // Deeper than anybody writes.
        let deep = format!("a = {}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(TomlText::read(&deep).is_err());
    }
}
