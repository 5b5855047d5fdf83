//! The surface of recorded traffic: operations, grouped by method, origin and
//! path template (web.md section 2).

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Exchange, RequestLine};
use super::shape::{self, Shape};
use super::template::{self, Path, Rules, Segment};
use crate::json::{Object, Text, Value};

/// All groups of a capture.
#[derive(Debug, Default)]
pub struct Surface {
    /// In the order of origin, template and method.
    pub groups: Vec<Group>,
    /// Records whose request line cannot be read.
    pub unreadable: u64,
}

/// Requests of one method to one template of one origin.
#[derive(Debug)]
pub struct Group {
    /// The method.
    pub method: Text,
    /// The origin.
    pub origin: Text,
    /// The template's text.
    pub path_template: Text,
    /// The template.
    pub segments: Vec<Segment>,
    /// For each segment the values that were seen, in the order of records;
    /// empty for literals.
    pub observed: Vec<Vec<Text>>,
    /// The names of query parameters.
    pub query_names: BTreeSet<Text>,
    /// Responses by their status.
    pub statuses: BTreeMap<u64, u64>,
    /// The records: places in the list of exchanges.
    pub records: Vec<usize>,
}

impl Group {
    /// Whether a segment is templated.
    pub fn is_inferred(&self) -> bool {
        self.segments
            .iter()
            .any(|segment| matches!(segment, Segment::Templated(_)))
    }

    /// `inferred` or `derived`.
    pub fn confidence(&self) -> &'static str {
        match self.is_inferred() {
            true => "inferred",
            false => "derived",
        }
    }
}

impl Surface {
    /// Groups exchanges, which come in the order of their ordinals.
    pub fn new(exchanges: &[Exchange], rules: Rules) -> Self {
        let read: Vec<(usize, &RequestLine)> = exchanges
            .iter()
            .enumerate()
            .filter_map(|(at, exchange)| Some((at, exchange.request.as_ref()?)))
            .collect();
        let paths: Vec<Path<'_>> = read
            .iter()
            .map(|(_, request)| Path {
                origin: request.line.origin.as_bytes(),
                path: request.line.path.as_bytes(),
                method: request.method.as_bytes(),
            })
            .collect();
        let templates = template::templates(&paths, rules);
        let mut groups: BTreeMap<(Text, Text, Text), Building> = BTreeMap::new();
        for ((at, request), segments) in read.iter().zip(templates) {
            let text = template::text(&segments);
            let key = (request.line.origin.clone(), text, request.method.clone());
            let group = groups.entry(key).or_insert_with(|| Building::new(segments));
            if let Some(exchange) = exchanges.get(*at) {
                group.add(*at, request, exchange);
            }
        }
        Self {
            unreadable: (exchanges.len() - read.len()) as u64,
            groups: groups
                .into_iter()
                .map(|((origin, path_template, method), group)| Group {
                    method,
                    origin,
                    path_template,
                    segments: group.segments,
                    observed: group.observed,
                    query_names: group.query_names,
                    statuses: group.statuses,
                    records: group.records,
                })
                .collect(),
        }
    }

    /// Whether any template is inferred.
    pub fn is_inferred(&self) -> bool {
        self.groups.iter().any(Group::is_inferred)
    }

    /// How many records are in no group, by reason.
    pub fn excluded_records(&self) -> Value {
        if self.unreadable == 0 {
            return Value::Array(Vec::new());
        }
        let mut row = Object::new();
        row.insert("count", self.unreadable);
        row.insert("reason", "unreadable-request-line");
        Value::Array(vec![row.into()])
    }
}

/// A group that is being filled.
struct Building {
    segments: Vec<Segment>,
    observed: Vec<Vec<Text>>,
    seen: BTreeSet<(usize, Text)>,
    query_names: BTreeSet<Text>,
    statuses: BTreeMap<u64, u64>,
    records: Vec<usize>,
}

impl Building {
    fn new(segments: Vec<Segment>) -> Self {
        Self {
            observed: vec![Vec::new(); segments.len()],
            segments,
            seen: BTreeSet::new(),
            query_names: BTreeSet::new(),
            statuses: BTreeMap::new(),
            records: Vec::new(),
        }
    }

    fn add(&mut self, at: usize, request: &RequestLine, exchange: &Exchange) {
        self.records.push(at);
        for (name, _) in request.line.query_pairs() {
            self.query_names.insert(name);
        }
        if let Some(status) = exchange.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        let raw = request.line.segments();
        let places = self.segments.iter().zip(&mut self.observed).zip(raw);
        for (index, ((segment, observed), raw)) in places.enumerate() {
            if matches!(segment, Segment::Templated(_)) {
                let value = Text::from_wtf8(raw.to_vec());
                if self.seen.insert((index, value.clone())) {
                    observed.push(value);
                }
            }
        }
    }
}

/// `{ordinal, pointer}` of records.
pub fn citations(exchanges: &[Exchange], records: &[usize]) -> Value {
    let rows = records.iter().filter_map(|&at| exchanges.get(at));
    let row = |exchange: &Exchange| {
        let mut row = Object::new();
        row.insert("ordinal", exchange.ordinal);
        row.insert("pointer", exchange.pointer.clone().map(Value::String));
        Value::Object(row)
    };
    Value::Array(rows.map(row).collect())
}

/// Strings.
pub fn texts<'t>(texts: impl IntoIterator<Item = &'t Text>) -> Value {
    Value::Array(texts.into_iter().cloned().map(Value::String).collect())
}

/// A group as an item of the `api-surface` view.
pub fn item(group: &Group, exchanges: &[Exchange]) -> Value {
    let segments = group.segments.iter().zip(&group.observed).enumerate();
    let segment = |(index, (segment, observed)): (usize, (&Segment, &Vec<Text>))| {
        let mut row = Object::new();
        row.insert("index", index as u64);
        match segment {
            Segment::Literal(text) => {
                row.insert("kind", "literal");
                row.insert("value", Value::String(text.clone()));
            }
            Segment::Templated(rule) => {
                row.insert("kind", "templated");
                row.insert("observed_values", texts(observed));
                row.insert("rule", rule.as_str());
            }
        }
        Value::Object(row)
    };
    let statuses = group.statuses.iter().map(|(&status, &count)| {
        let mut row = Object::new();
        row.insert("count", count);
        row.insert("status", status);
        Value::Object(row)
    });
    let mut item = Object::new();
    item.insert("confidence", group.confidence());
    item.insert("method", Value::String(group.method.clone()));
    item.insert("origin", Value::String(group.origin.clone()));
    item.insert("path_template", Value::String(group.path_template.clone()));
    item.insert("query_names", texts(&group.query_names));
    item.insert("record_count", group.records.len() as u64);
    item.insert("records", citations(exchanges, &group.records));
    item.insert("segments", Value::Array(segments.map(segment).collect()));
    item.insert("statuses", Value::Array(statuses.collect()));
    item.into()
}

/// The bodies of a record without their values.
#[derive(Clone, Debug, Default)]
pub struct Shaped {
    /// The request's, where it is JSON.
    pub request: Option<Shape>,
    /// The response's, where it is JSON.
    pub response: Option<Shape>,
    /// What it asks for.
    pub operations: Vec<shape::Operation>,
}

impl Shaped {
    /// The shapes of an exchange's bodies.
    pub fn of(exchange: &Exchange) -> Self {
        let request = exchange.request_body.json();
        let one = |tape: &crate::json::Tape| {
            let mut shape = Shape::default();
            shape.add(tape);
            shape
        };
        let query = exchange
            .request
            .as_ref()
            .map(|request| request.line.query_pairs())
            .unwrap_or_default();
        Self {
            operations: shape::operations(&exchange.request_body, request.as_ref(), &query),
            request: request.as_ref().map(one),
            response: exchange.response_body.json().as_ref().map(one),
        }
    }
}

/// The operations that bodies of a group name, where there are any.
pub fn operations(group: &Group, exchanges: &[Exchange], shapes: &[Shaped]) -> Option<Value> {
    let mut found: BTreeMap<&shape::Operation, Vec<usize>> = BTreeMap::new();
    for &at in &group.records {
        let row = shapes.get(at);
        for operation in row.into_iter().flat_map(|row| &row.operations) {
            found.entry(operation).or_default().push(at);
        }
    }
    if found.is_empty() {
        return None;
    }
    let row = |(operation, records): (&shape::Operation, Vec<usize>)| {
        let mut row = Object::new();
        row.insert("kind", operation.kind);
        row.insert("name", operation.name.clone().map(Value::String));
        row.insert("records", citations(exchanges, &records));
        Value::Object(row)
    };
    Some(Value::Array(found.into_iter().map(row).collect()))
}
