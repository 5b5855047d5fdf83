//! `compare_api_surfaces`: which operations two recordings have, and in what
//! those of both differ.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::Exchange;
use super::manifest::bodies;
use super::surface::{Group, Shaped, Surface};
use super::template::{Rule, Rules, Segment};
use crate::evidence::{Authority, Confidence, Creation, Evidence, EvidenceId, Provider};
use crate::json::{Object, Text, Value};

/// The operation.
pub const OPERATION: &str = "compare_api_surfaces";

/// Who compares.
pub const PROVIDER: Provider = Provider {
    id: "rea-api-surface-comparison",
    name: "rea API surface comparison",
    version: "1",
};

const TWO: &str = "This is about two recordings, not about one artifact.";
const RECORDED: &str = "Both sides are what was recorded: an operation that is missing on one side \
    was not called there, which does not show that the service lacks it.";
const TEMPLATED: &str =
    "Paths are compared by templates that are concluded from the values on both sides together.";
const UNREADABLE: &str =
    "Some records have no request line that can be read; what they asked for is not compared.";

/// A recording.
pub struct Side<'a> {
    /// The capture's Evidence.
    pub id: EvidenceId,
    /// Its exchanges.
    pub exchanges: &'a [Exchange],
    /// For each exchange, its bodies without values.
    pub shapes: &'a [Shaped],
}

/// What two recordings differ in.
#[derive(Debug)]
pub struct SurfaceComparison {
    /// The record.
    pub evidence: Evidence,
    /// `added`, `removed` or `changed`, operation, and in what.
    pub rows: Vec<(&'static str, String, String)>,
    /// Operations that are alike.
    pub unchanged: u64,
    /// Whether all request lines could be read.
    pub complete: bool,
}

impl SurfaceComparison {
    /// `changed`, `unknown` or `unchanged`.
    pub fn status(&self) -> &'static str {
        match (self.rows.is_empty(), self.complete) {
            (false, _) => "changed",
            (true, false) => "unknown",
            (true, true) => "unchanged",
        }
    }
}

/// What is compared of an operation.
#[derive(PartialEq)]
struct Facts {
    parameters: Vec<Value>,
    query: BTreeSet<Text>,
    statuses: BTreeSet<u64>,
    request: Value,
    response: Value,
}

type Key = (Text, Text, Text);

/// Compares two recordings, templates made from both together; with
/// `any_origin` the same path is the same operation wherever it was called.
pub fn compare(
    left: &Side<'_>,
    right: &Side<'_>,
    rules: &[Rule],
    any_origin: bool,
) -> SurfaceComparison {
    let mut asked = Rules::default();
    rules.iter().for_each(|rule| asked.add(*rule));
    // Templates must not depend on which side a value was seen on.
    let joined: Vec<Exchange> = left
        .exchanges
        .iter()
        .chain(right.exchanges)
        .cloned()
        .collect();
    let shapes: Vec<Shaped> = left.shapes.iter().chain(right.shapes).cloned().collect();
    let surface = Surface::new(&joined, asked);
    let border = left.exchanges.len();
    let mut sides: [BTreeMap<Key, Facts>; 2] = Default::default();
    for group in &surface.groups {
        for (side, facts) in sides.iter_mut().enumerate() {
            let own = |at: &usize| (*at >= border) == (side == 1);
            let records: Vec<usize> = group.records.iter().copied().filter(own).collect();
            if records.is_empty() {
                continue;
            }
            let origin = match any_origin {
                true => Text::default(),
                false => group.origin.clone(),
            };
            let key = (origin, group.path_template.clone(), group.method.clone());
            let found = of(group, records, &joined, &shapes);
            match facts.get_mut(&key) {
                Some(known) => known.merge(found),
                None => {
                    facts.insert(key, found);
                }
            }
        }
    }
    let complete = surface.unreadable == 0;
    let mut items = Vec::new();
    let mut rows = Vec::new();
    let mut unchanged = 0_u64;
    let [before, after] = &sides;
    let keys: BTreeSet<&Key> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let (change, dimensions) = match (before.get(key), after.get(key)) {
            (Some(left), Some(right)) => {
                let dimensions = left.differences(right);
                if dimensions.is_empty() {
                    unchanged += 1;
                    continue;
                }
                ("changed", dimensions)
            }
            (Some(_), None) => ("removed", Vec::new()),
            _ => ("added", Vec::new()),
        };
        let (origin, template, method) = key;
        let mut item = Object::new();
        item.insert("change", change);
        if change == "changed" {
            item.insert("dimensions", dimensions.clone());
            item.insert(
                "after",
                after.get(key).map(|facts| facts.to_value(&dimensions)),
            );
            item.insert(
                "before",
                before.get(key).map(|facts| facts.to_value(&dimensions)),
            );
        }
        item.insert("method", Value::String(method.clone()));
        item.insert(
            "origin",
            (!any_origin).then(|| Value::String(origin.clone())),
        );
        item.insert("path_template", Value::String(template.clone()));
        items.push(Value::Object(item));
        let lossy = |text: &Text| String::from_utf8_lossy(text.as_bytes()).into_owned();
        let name = format!("{} {}{}", lossy(method), lossy(origin), lossy(template));
        rows.push((change, name, dimensions.join(" ")));
    }
    let mut comparison = SurfaceComparison {
        evidence: Evidence::create(Creation::new(OPERATION, PROVIDER)),
        rows,
        unchanged,
        complete,
    };
    let count = |change: &str| comparison.rows.iter().filter(|row| row.0 == change).count() as u64;
    let mut summary = Object::new();
    for change in ["added", "changed", "removed"] {
        summary.insert(change, count(change));
    }
    summary.insert("unchanged", unchanged);
    let mut result = Object::new();
    result.insert("changes", Value::Array(items));
    result.insert("status", comparison.status());
    result.insert("summary", summary);
    let mut limitations = vec![RECORDED.to_owned(), TEMPLATED.to_owned()];
    if !complete {
        limitations.push(UNREADABLE.to_owned());
    }
    let said = limitations
        .iter()
        .map(|text| text.as_str().into())
        .collect();
    result.insert("limitations", Value::Array(said));
    let names = rules.iter().map(|rule| rule.as_str().into()).collect();
    let mut parameters = Object::new();
    parameters.insert("any_origin", any_origin);
    parameters.insert("left_evidence_id", left.id.to_string());
    parameters.insert("right_evidence_id", right.id.to_string());
    parameters.insert("template_rules", Value::Array(names));
    let inferred = surface.is_inferred();
    comparison.evidence = Evidence::create(Creation {
        no_subject: Some(TWO.to_owned()),
        parameters,
        normalized_result: result.into(),
        confidence: match inferred {
            true => Confidence::Inferred,
            false => Confidence::Derived,
        },
        authority: Authority::HistoricalReference,
        limitations,
        evidence_links: match left.id == right.id {
            true => vec![left.id],
            false => vec![left.id, right.id],
        },
        ..Creation::new(OPERATION, PROVIDER)
    });
    comparison
}

fn of(group: &Group, records: Vec<usize>, exchanges: &[Exchange], shapes: &[Shaped]) -> Facts {
    let parameters = group
        .segments
        .iter()
        .enumerate()
        .filter_map(|(index, segment)| {
            let Segment::Templated(rule) = segment else {
                return None;
            };
            let mut row = Object::new();
            row.insert("rule", rule.as_str());
            row.insert("segment_index", index as u64);
            Some(Value::Object(row))
        });
    let parameters = parameters.collect();
    let own: Vec<&Exchange> = records.iter().filter_map(|&at| exchanges.get(at)).collect();
    let lines = own.iter().filter_map(|exchange| exchange.request.as_ref());
    let query = lines
        .flat_map(|request| request.line.query_pairs())
        .map(|(name, _)| name)
        .collect();
    let statuses = own.iter().filter_map(|exchange| exchange.status).collect();
    let part = Group {
        method: group.method.clone(),
        origin: group.origin.clone(),
        path_template: group.path_template.clone(),
        segments: group.segments.clone(),
        observed: Vec::new(),
        query_names: BTreeSet::new(),
        statuses: BTreeMap::new(),
        records,
    };
    let (request, response) = bodies(&part, shapes);
    let without_count = |shape: Value| match shape {
        Value::Object(mut shape) => {
            // How often it was seen is no difference.
            shape.remove("observations");
            Value::Object(shape)
        }
        other => other,
    };
    Facts {
        parameters,
        query,
        statuses,
        request: without_count(request.to_value()),
        response: without_count(response.to_value()),
    }
}

impl Facts {
    /// The same operation of another origin.
    fn merge(&mut self, other: Self) {
        self.query.extend(other.query);
        self.statuses.extend(other.statuses);
        if self.request == Value::Null {
            self.request = other.request;
        }
        if self.response == Value::Null {
            self.response = other.response;
        }
    }

    fn differences(&self, other: &Self) -> Vec<&'static str> {
        let mut found = Vec::new();
        if self.query != other.query || self.parameters != other.parameters {
            found.push("parameters");
        }
        if self.request != other.request {
            found.push("request_body");
        }
        if self.response != other.response {
            found.push("response_body");
        }
        if self.statuses != other.statuses {
            found.push("statuses");
        }
        found
    }

    /// What differs, as it is on this side.
    fn to_value(&self, dimensions: &[&str]) -> Value {
        let mut value = Object::new();
        for &dimension in dimensions {
            match dimension {
                "parameters" => {
                    value.insert("query_names", super::surface::texts(&self.query));
                    value.insert("path_parameters", Value::Array(self.parameters.clone()));
                }
                "request_body" => value.insert("request_body", self.request.clone()),
                "response_body" => value.insert("response_body", self.response.clone()),
                _ => {
                    let statuses: Vec<u64> = self.statuses.iter().copied().collect();
                    value.insert("statuses", statuses);
                }
            }
        }
        value.into()
    }
}
