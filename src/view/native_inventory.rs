//! Views of lists of names and strings (views.md sections 7 and 10): rows by
//! their place in the whole list, with some of their members; or how many there
//! are, who listed them, and what was asked.

use super::record::{Artifact, Coverage, Payload, Projection};
use super::rows::Rows;
use super::{Collector, Memory, OPERATION, Producer, SUMMARY, View};
use crate::error::Result;
use crate::evidence::{Confidence, Contents, Parent};
use crate::json::{Event, Issue, Object, Value};

pub(super) const PRODUCER: Producer = Producer {
    operations: &[
        "list_procedures",
        "search_procedures",
        "list_strings",
        "search_strings",
        "list_names",
    ],
    kinds: &[SUMMARY, "native-inventory"],
    collector: |view| Box::new(Inventory::new(view)),
};

/// Members that rows of these operations may have.
const MEMBERS: [&str; 9] = [
    "address",
    "decoding",
    "demangled",
    "file_offset",
    "procedure",
    "string",
    "symbol",
    "value",
    "library",
];

const UNKNOWN: &str =
    "Whether there are more than the record lists is not known: it holds what was discovered.";

/// The rows of a page, without the members that were not asked for.
struct Inventory {
    /// Whether rows are kept, and not only counted.
    selects: bool,
    offset: u64,
    limit: u64,
    /// `None` keeps all members.
    fields: Option<Vec<Vec<u8>>>,
    rows: Rows,
    /// Rows that passed.
    count: u64,
    depth: usize,
    /// Whether the current member of the row is left out.
    skipping: bool,
    is_list: bool,
    wrong: bool,
}

impl Inventory {
    fn new(view: &View) -> Self {
        let fields = view.texts("fields").map(|fields| {
            let mut names: Vec<Vec<u8>> =
                fields.iter().map(|name| name.as_bytes().to_vec()).collect();
            names.push(b"address".to_vec());
            // A value is understood with what says how it was read.
            if names.iter().any(|name| name == b"value") {
                names.extend([b"string".to_vec(), b"decoding".to_vec()]);
            }
            names
        });
        Self {
            selects: view.kind() != SUMMARY,
            offset: view.offset(),
            limit: view.limit(),
            fields,
            rows: Rows::default(),
            count: 0,
            depth: 0,
            skipping: false,
            is_list: false,
            wrong: false,
        }
    }

    fn takes(&self) -> bool {
        self.selects && self.count >= self.offset && self.count - self.offset < self.limit
    }

    fn keeps(&self, name: &[u8]) -> bool {
        self.fields
            .as_ref()
            .is_none_or(|fields| fields.iter().any(|field| field == name))
    }
}

fn key(name: &[u8]) -> Event<'_> {
    Event::Key { name, plain: true }
}

impl Collector for Inventory {
    fn restart(&mut self) {
        self.rows = Rows::default();
        (self.count, self.depth) = (0, 0);
        (self.skipping, self.is_list, self.wrong) = (false, false, false);
    }

    fn event(&mut self, event: Event<'_>, _memory: &mut Memory) -> Result<()> {
        let opens = matches!(event, Event::BeginObject | Event::BeginArray);
        let closes = matches!(event, Event::EndObject | Event::EndArray);
        if self.depth == 0 {
            self.is_list |= event == Event::BeginArray;
            self.depth += usize::from(opens);
            return Ok(());
        }
        if self.depth == 1 {
            self.wrong |= self.is_list && !closes && event != Event::BeginObject;
            if event == Event::BeginObject && self.is_list && self.takes() {
                self.rows.event(Event::BeginObject);
                self.rows.event(key(b"record"));
                self.rows.event(Event::BeginObject);
            }
            self.depth = if closes { 0 } else { 1 + usize::from(opens) };
            self.skipping = false;
            return Ok(());
        }
        let takes = self.is_list && self.takes();
        if self.depth == 2 {
            if let Event::Key { name, .. } = event {
                self.skipping = !self.keeps(name);
            }
            if event == Event::EndObject {
                if takes {
                    self.rows.event(Event::EndObject);
                    self.rows.event(key(b"source_index"));
                    self.rows.event(Event::Number {
                        value: self.count as f64,
                        lexeme: b"",
                    });
                    self.rows.event(Event::EndObject);
                    self.rows.end(true);
                }
                self.count += 1;
                self.depth = 1;
                return Ok(());
            }
        }
        if takes && !self.skipping {
            self.rows.event(event);
        }
        self.depth += usize::from(opens);
        self.depth -= usize::from(closes);
        Ok(())
    }

    fn project(
        self: Box<Self>,
        parent: &Parent,
        _contents: Contents,
        view: &View,
    ) -> Result<Projection> {
        if !self.is_list || self.wrong {
            let message = "the result is no list of rows".to_owned();
            let path = ["source", "normalized_result"];
            return Err(Issue::new(&path, "invalid_type", message).into_error(OPERATION));
        }
        for name in view.texts("fields").unwrap_or_default() {
            let known = name.as_str().is_some_and(|name| MEMBERS.contains(&name));
            if !known {
                let message = "fields names a member that rows never have".to_owned();
                let expected = MEMBERS.iter().map(|&name| name.into()).collect();
                return Err(Issue::new(&["view", "fields"], "invalid_value", message)
                    .expected(Value::Array(expected))
                    .into_error(OPERATION));
            }
        }
        let artifact = match (parent.subject.as_ref(), parent.subject_sha256()) {
            (Some(subject), Some(sha256)) => match subject.get("local_path") {
                Some(Value::String(path)) => Some(Artifact {
                    path: path.clone(),
                    sha256,
                }),
                _ => None,
            },
            _ => None,
        };
        let (coverage, payload) = match self.selects {
            true => (
                Coverage::page(view.offset(), self.rows.len(), self.count),
                ("items", Payload::Rows(self.rows)),
            ),
            false => (
                Coverage::whole(self.count, self.count),
                ("summary", Payload::Value(summary(parent, self.count)?)),
            ),
        };
        Ok(Projection {
            artifact,
            coverage,
            payload: vec![payload],
            limitations: Vec::new(),
            unknowns: vec![UNKNOWN.into()],
            confidence: Confidence::Derived,
        })
    }
}

/// How many rows there are, who listed them and what was asked.
fn summary(parent: &Parent, rows: u64) -> Result<Value> {
    let Some(origin) = &parent.origin else {
        let message = "the record does not say who made it".to_owned();
        return Err(
            Issue::new(&["source", "provider"], "missing_argument", message).into_error(OPERATION),
        );
    };
    let mut summary = Object::new();
    let digest = origin.analysis_profile_digest.clone();
    summary.insert(
        "analysis_profile_digest",
        digest.map_or(Value::Null, Value::String),
    );
    // What a list leaves out, nobody can tell from it.
    summary.insert("discovery_coverage", "unknown");
    summary.insert("provider", origin.provider.clone());
    summary.insert("query", origin.parameters.clone());
    summary.insert("row_count", rows);
    Ok(summary.into())
}
