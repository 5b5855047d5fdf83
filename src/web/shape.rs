//! Bodies without their values: types and names (web.md section 3), and the
//! operations that they ask for (decision 40).

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::Body;
use crate::json::{Kind, Node, Object, Tape, Text, Value};

/// The types and top-level members of bodies.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    root_types: BTreeSet<&'static str>,
    keys: BTreeMap<Text, BTreeSet<&'static str>>,
    observations: u64,
}

fn type_name(kind: Kind<'_>) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool(_) => "boolean",
        Kind::Number(_) => "number",
        Kind::Text => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}

impl Shape {
    /// Adds a body.
    pub fn add(&mut self, body: &Tape) {
        self.observations += 1;
        self.root_types.insert(type_name(body.kind(body.root())));
        for (name, value) in body.members(body.root()) {
            let name = Text::from_wtf8(body.text(name).into_owned());
            self.keys
                .entry(name)
                .or_default()
                .insert(type_name(body.kind(value)));
        }
    }

    /// Adds what another one holds.
    pub fn merge(&mut self, other: &Self) {
        self.observations += other.observations;
        self.root_types.extend(&other.root_types);
        for (name, types) in &other.keys {
            self.keys.entry(name.clone()).or_default().extend(types);
        }
    }

    /// The types of whole bodies, sorted.
    pub fn root_types(&self) -> impl Iterator<Item = &'static str> {
        self.root_types.iter().copied()
    }

    /// The top-level members with their types, sorted.
    pub fn keys(&self) -> impl Iterator<Item = (&Text, Vec<&'static str>)> {
        self.keys
            .iter()
            .map(|(name, types)| (name, types.iter().copied().collect()))
    }

    /// Whether no body was added.
    pub fn is_empty(&self) -> bool {
        self.observations == 0
    }

    /// `null` where no body was added.
    pub fn to_value(&self) -> Value {
        if self.observations == 0 {
            return Value::Null;
        }
        let types = |types: &BTreeSet<&'static str>| {
            Value::Array(types.iter().map(|&name| name.into()).collect())
        };
        let keys = self.keys.iter().map(|(name, found)| {
            let mut key = Object::new();
            key.insert("name", Value::String(name.clone()));
            key.insert("types", types(found));
            Value::Object(key)
        });
        let mut shape = Object::new();
        shape.insert("keys", Value::Array(keys.collect()));
        shape.insert("observations", self.observations);
        shape.insert("root_types", types(&self.root_types));
        shape.into()
    }
}

/// An operation that a request's body names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// Its name; `None` for one that has none.
    pub name: Option<Text>,
    /// `graphql-query`, `graphql-mutation`, `graphql-subscription`,
    /// `json-rpc`.
    pub kind: &'static str,
}

/// The operations that a request asks for, each once.
pub fn operations(body: &Body, tape: Option<&Tape>, query: &[(Text, Text)]) -> Vec<Operation> {
    let mut found = BTreeSet::new();
    if let Some(tape) = tape {
        let root = tape.root();
        let elements: Vec<Node> = match tape.kind(root) {
            Kind::Array => tape.elements(root).take(100).collect(),
            _ => vec![root],
        };
        found.extend(elements.into_iter().filter_map(|node| of_call(tape, node)));
    }
    // GraphQL text as such, and in addresses.
    let is_graphql = body
        .media_type
        .as_ref()
        .is_some_and(|media| media.as_bytes().starts_with(b"application/graphql"));
    if is_graphql && let Some(text) = body.text() {
        found.extend(graphql(&text, None));
    }
    let parameter = |wanted: &str| query.iter().find(|(name, _)| *name == *wanted);
    if let Some((_, text)) = parameter("query") {
        let name = parameter("operationName").map(|(_, name)| name.as_bytes());
        found.extend(graphql(text.as_bytes(), name));
    }
    found.into_iter().collect()
}

fn of_call(tape: &Tape, node: Node) -> Option<Operation> {
    let member = |name| {
        let value = tape.member(node, name)?;
        (tape.kind(value) == Kind::Text).then(|| tape.text(value))
    };
    if member("jsonrpc").as_deref() == Some(b"2.0") {
        return Some(Operation {
            name: Some(Text::from_wtf8(member("method")?.into_owned())),
            kind: "json-rpc",
        });
    }
    let name = member("operationName");
    if let Some(text) = member("query") {
        return graphql(&text, name.as_deref());
    }
    // A persisted query goes by its name alone.
    let extensions = tape.member(node, "extensions")?;
    tape.member(extensions, "persistedQuery")?;
    Some(Operation {
        name: Some(Text::from_wtf8(name?.into_owned())),
        kind: "graphql-query",
    })
}

/// The operation of a GraphQL document: the one named, else its first.
fn graphql(document: &[u8], wanted: Option<&[u8]>) -> Option<Operation> {
    let mut rest = document;
    let mut first = None;
    let mut depth = 0_usize;
    let mut saw_braces = false;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'#' => {
                let end = rest.iter().position(|&byte| byte == b'\n');
                rest = rest.get(end.unwrap_or(rest.len())..).unwrap_or_default();
                continue;
            }
            b'"' => {
                rest = behind_string(rest);
                continue;
            }
            b'{' | b'(' | b'[' => {
                if depth == 0 && byte == b'{' && first.is_none() {
                    first = Some(Operation {
                        name: None,
                        kind: "graphql-query",
                    });
                }
                saw_braces |= byte == b'{';
                depth += 1;
            }
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ if depth == 0 && (byte.is_ascii_alphabetic() || byte == b'_') => {
                let (word, behind) = word(rest);
                let kind = match word {
                    b"query" => "graphql-query",
                    b"mutation" => "graphql-mutation",
                    b"subscription" => "graphql-subscription",
                    b"fragment" => {
                        // Its own braces are no operation.
                        let body = behind.iter().position(|&byte| byte == b'{')?;
                        rest = behind.get(body + 1..).unwrap_or_default();
                        depth = 1;
                        continue;
                    }
                    _ if first.is_none() => return None,
                    _ => {
                        rest = behind;
                        continue;
                    }
                };
                let (name, behind) = word_after_blanks(behind);
                let operation = Operation {
                    name: (!name.is_empty()).then(|| Text::from_wtf8(name.to_vec())),
                    kind,
                };
                if wanted.is_some_and(|wanted| wanted == name) {
                    return Some(operation);
                }
                first.get_or_insert(operation);
                rest = behind;
                continue;
            }
            byte if depth == 0
                && first.is_none()
                && !byte.is_ascii_whitespace()
                && byte != b',' =>
            {
                return None;
            }
            _ => {}
        }
        rest = after;
    }
    first.filter(|_| saw_braces)
}

fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    text.split_at(text.iter().take_while(part).count())
}

fn word_after_blanks(text: &[u8]) -> (&[u8], &[u8]) {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace());
    word(text.get(blanks.count()..).unwrap_or_default())
}

/// What stands behind a string, whose quote is the first byte.
fn behind_string(text: &[u8]) -> &[u8] {
    if let Some(block) = text.strip_prefix(b"\"\"\"") {
        let end = memchr::memmem::find(block, b"\"\"\"");
        return end.and_then(|end| block.get(end + 3..)).unwrap_or_default();
    }
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' | b'\n' => return text.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    b""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(document: &str, wanted: Option<&str>) -> Option<String> {
        let found = graphql(document.as_bytes(), wanted.map(str::as_bytes))?;
        let name = found.name.map(|name| name.as_str().unwrap().to_owned());
        Some(format!("{} {}", found.kind, name.unwrap_or_default()))
    }

    #[test]
    fn graphql_documents() {
        for (document, wanted, expected) in [
            ("{ a }", None, Some("graphql-query ")),
            (
                "query Users($a: [Int] = 1) { a(b: \"}{\") }",
                None,
                Some("graphql-query Users"),
            ),
            (
                "# query X {}\nmutation { a }",
                None,
                Some("graphql-mutation "),
            ),
            (
                "query A { a } query B { b }",
                Some("B"),
                Some("graphql-query B"),
            ),
            (
                "fragment F on T { a { b } } subscription S { ...F }",
                None,
                Some("graphql-subscription S"),
            ),
            (
                "query A @d(x: 1) { a } fragment F on T { a }",
                None,
                Some("graphql-query A"),
            ),
            ("free text", None, None),
            ("query about cats", None, None),
            ("", None, None),
            ("12 {a}", None, None),
        ] {
            assert_eq!(named(document, wanted).as_deref(), expected, "{document}");
        }
    }

    fn calls(body: &str) -> Vec<String> {
        let tape = crate::web::exchange::parse(body.as_bytes().to_vec()).unwrap();
        let found = operations(&Body::default(), Some(&tape), &[]);
        let shown = found.into_iter().map(|one| {
            let name = one.name.map(|name| name.as_str().unwrap().to_owned());
            format!("{} {}", one.kind, name.unwrap_or_default())
        });
        shown.collect()
    }

    #[test]
    fn calls_in_bodies() {
        assert_eq!(
            calls(
                r#"[{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"a"}]"#
            ),
            ["json-rpc a", "json-rpc b"]
        );
        assert_eq!(
            calls(r#"{"operationName":"P","extensions":{"persistedQuery":{"version":1}}}"#),
            ["graphql-query P"]
        );
        assert!(calls(r#"{"query":"cats"}"#).is_empty());
        assert!(calls(r#"{"jsonrpc":"1.0","method":"a"}"#).is_empty());
    }
}
