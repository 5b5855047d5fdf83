//! JSON that a person may have written, edited as text: members are set and
//! removed where they stand, and all other bytes stay (RFC 8259; with comments
//! and trailing commas where the client reads them).
//!
//! The one reader decides whether it is JSON. Comments are blanked before, so
//! that places in what was read are places in the text.

use std::ops::Range;

use super::json_scan::{blanked, skip_blanks, string_end, value_end};
use crate::json::{Limits, Value};

/// What is written for a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A string.
    Text(String),
    /// A list of strings.
    Words(Vec<String>),
    /// A whole number.
    Number(u64),
    /// An object.
    Members(Vec<(&'static str, Item)>),
}

/// A document whose root is an object.
#[derive(Debug)]
pub(super) struct JsonText {
    text: String,
    /// The same without comments and trailing commas, every byte in its place.
    plain: String,
    /// Where the trailing commas are.
    trailing: Vec<usize>,
    comments: bool,
    value: Value,
}

/// An object in the text.
#[derive(Debug)]
struct Block {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    name: Option<String>,
    start: usize,
    value: Range<usize>,
}

impl Block {
    fn find(&self, name: &str) -> Option<usize> {
        self.members
            .iter()
            .position(|member| member.name.as_deref() == Some(name))
    }
}

impl JsonText {
    /// Reads a document; nothing but blanks is an empty object.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn read(text: &str, comments: bool) -> Result<Self, String> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let (plain, trailing) = match comments {
            true => blanked(text)?,
            false => (text.to_owned(), Vec::new()),
        };
        let value =
            Value::parse(plain.as_bytes(), Limits::default()).map_err(|error| error.to_string())?;
        if value.as_object().is_none() {
            return Err(format!("it holds a JSON {}, no object", value.type_name()));
        }
        Ok(Self {
            text: text.to_owned(),
            plain,
            trailing,
            comments,
            value,
        })
    }

    /// What it says.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The text with `members` set in the object at `path`, which is made
    /// where it is missing.
    ///
    /// # Errors
    /// What stands in the way, in words.
    pub fn set(
        &self,
        path: [&'static str; 2],
        members: &[(&'static str, Item)],
    ) -> Result<String, String> {
        let [outer, inner] = path;
        let root = self.root()?;
        let Some(at) = root.find(outer) else {
            let entry = Item::Members(vec![(inner, Item::Members(members.to_vec()))]);
            return Ok(self.insert(&root, outer, &entry));
        };
        let servers = self.object(&root, at, outer)?;
        let Some(at) = servers.find(inner) else {
            return Ok(self.insert(&servers, inner, &Item::Members(members.to_vec())));
        };
        self.object(&servers, at, inner)?;
        let mut text = self.text.clone();
        for (name, item) in members {
            // Places move with every change: read again.
            let now = Self::read(&text, self.comments)?;
            let root = now.root()?;
            let found = root.find(outer).ok_or("a member is gone")?;
            let servers = now.object(&root, found, outer)?;
            let found = servers.find(inner).ok_or("a member is gone")?;
            let entry = now.object(&servers, found, inner)?;
            text = match entry.find(name) {
                Some(at) => now.replace(&entry, at, item),
                None => now.insert(&entry, name, item),
            };
        }
        Ok(text)
    }

    /// The text without the member at `path`.
    ///
    /// # Errors
    /// That it is not there, in words.
    pub fn remove(&self, path: [&'static str; 2]) -> Result<String, String> {
        let [outer, inner] = path;
        let root = self.root()?;
        let at = root.find(outer).ok_or("there is no such member")?;
        let servers = self.object(&root, at, outer)?;
        let at = servers.find(inner).ok_or("there is no such member")?;
        Ok(self.cut(&servers, at))
    }

    fn root(&self) -> Result<Block, String> {
        let open = skip_blanks(self.plain.as_bytes(), 0);
        self.block(open)
    }

    fn object(&self, block: &Block, at: usize, name: &str) -> Result<Block, String> {
        let start = block.members.get(at).map(|member| member.value.start);
        let start = start.filter(|&start| self.plain.as_bytes().get(start) == Some(&b'{'));
        self.block(start.ok_or_else(|| format!("{name} is no object"))?)
    }

    /// The members of the object whose brace is at `open`. The text is JSON:
    /// the reader said so.
    fn block(&self, open: usize) -> Result<Block, String> {
        let bytes = self.plain.as_bytes();
        let odd = || "its structure cannot be followed".to_owned();
        let mut members = Vec::new();
        let mut at = skip_blanks(bytes, open + 1);
        loop {
            match bytes.get(at) {
                Some(b'}') => {
                    return Ok(Block {
                        open,
                        close: at,
                        members,
                    });
                }
                Some(b',') => at = skip_blanks(bytes, at + 1),
                Some(b'"') => {
                    let start = at;
                    let end = string_end(bytes, at).ok_or_else(odd)?;
                    let colon = skip_blanks(bytes, end);
                    let value = skip_blanks(bytes, colon + 1);
                    let stop = value_end(bytes, value).ok_or_else(odd)?;
                    let name = bytes.get(start..end).and_then(|key| {
                        let key = Value::parse(key, Limits::default()).ok()?;
                        key.as_str().map(str::to_owned)
                    });
                    members.push(Member {
                        name,
                        start,
                        value: value..stop,
                    });
                    at = skip_blanks(bytes, stop);
                }
                _ => return Err(odd()),
            }
        }
    }

    /// Between places of the text; empty where they are none.
    fn between(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn is_blank(&self, range: Range<usize>) -> bool {
        self.between(range).chars().all(char::is_whitespace)
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Where the line of `at` begins.
    fn line_start(&self, at: usize) -> usize {
        let before = self.plain.get(..at).unwrap_or_default();
        before.rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// The blanks with which the line of `at` begins.
    fn indent(&self, at: usize) -> &str {
        let line = self.between(self.line_start(at)..at);
        let end = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..end).unwrap_or_default()
    }

    /// Whether a member stands at the beginning of a line.
    fn begins_line(&self, member: &Member) -> bool {
        let start = self.line_start(member.start);
        start > 0 && self.is_blank(start..member.start)
    }

    /// Whether the document is written on lines.
    fn on_lines(&self) -> bool {
        match self.root() {
            Ok(root) => match root.members.first() {
                Some(first) => self.begins_line(first),
                None => true,
            },
            Err(_) => true,
        }
    }

    /// One step of indentation.
    fn unit(&self) -> String {
        let first = self.root().ok().and_then(|root| {
            let first = root.members.first()?;
            self.begins_line(first)
                .then(|| self.indent(first.start).to_owned())
        });
        first
            .filter(|unit| !unit.is_empty())
            .unwrap_or_else(|| "  ".to_owned())
    }

    /// `"name": item`, where further lines are indented by `indent`; on one
    /// line without.
    fn rendered(&self, name: &str, item: &Item, indent: Option<&str>) -> String {
        let mut out = quoted(name);
        let first = self.root().ok().and_then(|root| {
            let first = root.members.first()?;
            Some(self.between(first.start..first.value.start).to_owned())
        });
        let tight = first.is_some_and(|text| text.ends_with(':'));
        out.push_str(if tight && indent.is_none() { ":" } else { ": " });
        self.render(item, indent, &mut out);
        out
    }

    fn render(&self, item: &Item, indent: Option<&str>, out: &mut String) {
        match item {
            Item::Text(text) => out.push_str(&quoted(text)),
            Item::Number(number) => out.push_str(&number.to_string()),
            Item::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                out.push_str(&format!("[{}]", words.join(", ")));
            }
            Item::Members(members) => {
                let deeper = indent.map(|indent| format!("{indent}{}", self.unit()));
                out.push('{');
                for (at, (name, item)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    if let Some(deeper) = &deeper {
                        out.push_str(self.newline());
                        out.push_str(deeper);
                    } else if at > 0 {
                        out.push(' ');
                    }
                    out.push_str(&self.rendered(name, item, deeper.as_deref()));
                }
                if let Some(indent) = indent.filter(|_| !members.is_empty()) {
                    out.push_str(self.newline());
                    out.push_str(indent);
                }
                out.push('}');
            }
        }
    }

    /// The text with pieces put in at places, which ascend.
    fn with(&self, pieces: &[(Range<usize>, &str)]) -> String {
        let mut out = String::with_capacity(self.text.len() + 256);
        let mut done = 0;
        for (range, piece) in pieces {
            out.push_str(self.between(done..range.start));
            out.push_str(piece);
            done = range.end;
        }
        out.push_str(self.between(done..self.text.len()));
        out
    }

    fn replace(&self, block: &Block, at: usize, item: &Item) -> String {
        let Some(member) = block.members.get(at) else {
            return self.text.clone();
        };
        let indent = self.begins_line(member).then(|| self.indent(member.start));
        let mut piece = String::new();
        self.render(item, indent, &mut piece);
        self.with(&[(member.value.clone(), &piece)])
    }

    fn insert(&self, block: &Block, name: &str, item: &Item) -> String {
        let Some(last) = block.members.last() else {
            return self.insert_first(block, name, item);
        };
        let after = last.value.end;
        let comma = self.trailing_after(after, block.close);
        if !self.begins_line(last) {
            let piece = self.rendered(name, item, None);
            return match comma {
                Some(comma) => self.with(&[(comma + 1..comma + 1, &format!(" {piece},"))]),
                None => {
                    let apart = self.text.contains(", ") || !self.text.contains(',');
                    let blank = if apart { " " } else { "" };
                    self.with(&[(after..after, &format!(",{blank}{piece}"))])
                }
            };
        }
        let indent = self.indent(last.start).to_owned();
        let anchor = comma.map_or(after, |comma| comma + 1);
        // Behind a comment that stands on the same line.
        let rest = self.plain.get(anchor..block.close).unwrap_or_default();
        let end = rest.find('\n').map_or(anchor, |newline| anchor + newline);
        let carriage = end > anchor && self.between(end - 1..end) == "\r";
        let end = if carriage { end - 1 } else { end };
        let member = self.rendered(name, item, Some(&indent));
        let line = format!("{}{indent}{member}", self.newline());
        match comma {
            Some(_) => self.with(&[(end..end, &format!("{line},"))]),
            None => self.with(&[(after..after, ","), (end..end, &line)]),
        }
    }

    fn insert_first(&self, block: &Block, name: &str, item: &Item) -> String {
        let inside = block.open + 1..block.close;
        if !self.on_lines() {
            let member = self.rendered(name, item, None);
            return self.with(&[(block.close..block.close, &member)]);
        }
        let outer = self.indent(block.open).to_owned();
        let indent = format!("{outer}{}", self.unit());
        let member = self.rendered(name, item, Some(&indent));
        let newline = self.newline();
        if self.is_blank(inside.clone()) {
            let piece = format!("{newline}{indent}{member}{newline}{outer}");
            return self.with(&[(inside, &piece)]);
        }
        // Comments only: behind them, and before the line of the brace.
        let trimmed = self.between(inside.clone()).trim_end().len();
        let end = inside.start + trimmed;
        let blank = if self.between(end..block.close).contains('\n') {
            String::new()
        } else {
            format!("{newline}{outer}")
        };
        self.with(&[(end..end, &format!("{newline}{indent}{member}{blank}"))])
    }

    fn trailing_after(&self, after: usize, close: usize) -> Option<usize> {
        self.trailing
            .iter()
            .copied()
            .find(|comma| (after..close).contains(comma))
    }

    fn cut(&self, block: &Block, at: usize) -> String {
        let Some(member) = block.members.get(at) else {
            return self.text.clone();
        };
        let line = self.line_start(member.start);
        let mut start = member.start;
        if self.begins_line(member) {
            start = line - 1;
            if start > 0 && self.between(start - 1..start) == "\r" {
                start -= 1;
            }
        }
        let previous = at.checked_sub(1).and_then(|at| block.members.get(at));
        let comma_before = previous.and_then(|previous| {
            let gap = self.plain.get(previous.value.end..member.start)?;
            Some(previous.value.end + gap.find(',')?)
        });
        if let Some(next) = block.members.get(at + 1) {
            let gap = self.plain.get(member.value.end..next.start);
            let comma = gap.and_then(|gap| gap.find(',')).unwrap_or(0);
            let mut end = member.value.end + comma + 1;
            if !self.begins_line(member) {
                let blanks = self.between(end..next.start);
                end += blanks.len() - blanks.trim_start_matches(' ').len();
            }
            return self.with(&[(start..end, "")]);
        }
        if let Some(comma) = self.trailing_after(member.value.end, block.close) {
            return self.collapsed(block, start..comma + 1);
        }
        match comma_before {
            Some(comma) if self.begins_line(member) => {
                self.with(&[(comma..comma + 1, ""), (start..member.value.end, "")])
            }
            Some(comma) => self.with(&[(comma..member.value.end, "")]),
            None => self.collapsed(block, start..member.value.end),
        }
    }

    /// Without `range`, and `{}` where nothing is left in the block.
    fn collapsed(&self, block: &Block, range: Range<usize>) -> String {
        let nothing =
            self.is_blank(block.open + 1..range.start) && self.is_blank(range.end..block.close);
        match nothing {
            true => self.with(&[(block.open + 1..block.close, "")]),
            false => self.with(&[(range, "")]),
        }
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(command: &str) -> Vec<(&'static str, Item)> {
        vec![
            ("command", Item::Text(command.to_owned())),
            ("args", Item::Words(vec!["mcp".to_owned()])),
        ]
    }

    const PATH: [&str; 2] = ["mcpServers", "rea"];

    fn set(text: &str) -> String {
        JsonText::read(text, true)
            .unwrap()
            .set(PATH, &entry("/bin/rea"))
            .unwrap()
    }

    fn removed(text: &str) -> String {
        JsonText::read(text, true).unwrap().remove(PATH).unwrap()
    }

    /// Before, after; the removal gives the first again.
    #[test]
    fn members_are_added_where_they_belong_and_taken_out_again() {
        for (before, after) in [
            (
                "{\n  \"mcpServers\": {}\n}\n",
                "{\n  \"mcpServers\": {\n    \"rea\": {\n      \"command\": \"/bin/rea\",\n      \
                 \"args\": [\"mcp\"]\n    }\n  }\n}\n",
            ),
            (
                "{\n\t\"mcpServers\": {\n\t\t\"a\": 1\n\t},\n\t\"z\": [1,2]\n}",
                "{\n\t\"mcpServers\": {\n\t\t\"a\": 1,\n\t\t\"rea\": {\n\t\t\t\"command\": \
                 \"/bin/rea\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t},\n\t\"z\": [1,2]\n}",
            ),
            (
                "{\"mcpServers\":{\"a\":1,\"b\":2}}",
                "{\"mcpServers\":{\"a\":1,\"b\":2,\"rea\":{\"command\":\"/bin/rea\", \
                 \"args\":[\"mcp\"]}}}",
            ),
            (
                // Comments, a trailing comma and line ends of Windows.
                "{\r\n  // servers, \"of\" {mine}\r\n  \"mcpServers\": {\r\n    \"a\": 1, // one\r\n    /* two */\r\n  },\r\n}",
                "{\r\n  // servers, \"of\" {mine}\r\n  \"mcpServers\": {\r\n    \"a\": 1, // one\r\n    \"rea\": {\r\n      \"command\": \"/bin/rea\",\r\n      \"args\": [\"mcp\"]\r\n    },\r\n    /* two */\r\n  },\r\n}",
            ),
            (
                "{\n  \"mcpServers\": {\n    \"a\": 1 // one\n  }\n}",
                "{\n  \"mcpServers\": {\n    \"a\": 1, // one\n    \"rea\": {\n      \
                 \"command\": \"/bin/rea\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
            ),
            (
                "{\n  \"mcpServers\": {\n    // none yet\n  }\n}",
                "{\n  \"mcpServers\": {\n    // none yet\n    \"rea\": {\n      \
                 \"command\": \"/bin/rea\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
            ),
        ] {
            let found = set(before);
            assert_eq!(found, after);
            assert_eq!(removed(&found), before);
            assert_eq!(set(&found), found, "a repetition changes nothing");
        }
    }

    #[test]
    fn an_entry_keeps_what_it_has_and_is_found_by_its_name_however_written() {
        let text = "{\"mcpServers\": {\"re\\u0061\": {\"env\": {\"A\": \"}\"}, \"command\": \"x\"}, \"z\": 1}}";
        let found = set(text);
        assert_eq!(
            found,
            "{\"mcpServers\": {\"re\\u0061\": {\"env\": {\"A\": \"}\"}, \"command\": \"/bin/rea\", \"args\": [\"mcp\"]}, \"z\": 1}}"
        );
        assert_eq!(removed(&found), "{\"mcpServers\": {\"z\": 1}}");
        let first = "{\n  \"mcpServers\": {\n    \"rea\": {},\n    \"z\": 1\n  }\n}";
        assert_eq!(
            removed(first),
            "{\n  \"mcpServers\": {\n    \"z\": 1\n  }\n}"
        );
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "{",
            "[]",
            "{\"a\": 1,, \"b\": 2}",
            "{,}",
            "[,]",
            "{\"a\" 1}",
            "{/* }",
            "\u{feff}{}",
            "{\"a\": 1, \"a\": 2}",
            "{\"a\": \"",
            "{\"mcpServers\": [,]}",
            "{\"a\":,}",
        ] {
            assert!(JsonText::read(text, true).is_err(), "{text}");
        }
        for text in ["{\"a\": 1,}", "{} // x", "{/**/}"] {
            assert!(JsonText::read(text, true).is_ok(), "{text}");
            assert!(JsonText::read(text, false).is_err(), "{text}");
        }
        let servers = JsonText::read("{\"mcpServers\": []}", false).unwrap();
        assert!(servers.set(PATH, &entry("x")).is_err());
        let blank = JsonText::read(" \n", false).unwrap();
        assert!(
            blank
                .set(PATH, &entry("x"))
                .unwrap()
                .starts_with("{\n  \"mcpServers\"")
        );
    }
}
