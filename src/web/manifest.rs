//! The manifest of an environment: the tools that recorded traffic makes (web.md
//! section 3). It names shapes and places, never bodies or headers.

use std::collections::BTreeSet;

use super::exchange::Exchange;
use super::shape::Shape;
use super::surface::{self, Group, Shaped, Surface};
use super::template::{Segment, prefix_length};
use crate::digest::Digest;
use crate::json::{Object, Text, Value};

/// A tool: the requests of one group of the primary origin.
#[derive(Debug)]
pub struct Tool<'a> {
    /// Its name, which no other tool has.
    pub name: String,
    /// The requests.
    pub group: &'a Group,
    /// The templated segments with the names of their parameters.
    pub parameters: Vec<(usize, String)>,
}

/// The tools of the origin that answered most in JSON, and what else was
/// recorded.
#[derive(Debug)]
pub struct Manifest<'a> {
    /// The origin; `None` where no request line can be read.
    pub origin: Option<&'a Text>,
    /// The tools, in the order of groups.
    pub tools: Vec<Tool<'a>>,
    /// Groups of other origins.
    pub excluded: Vec<&'a Group>,
}

/// Names are cut to this many characters.
const LONGEST: usize = 64;

impl<'a> Manifest<'a> {
    /// The manifest of a surface.
    pub fn new(surface: &'a Surface, exchanges: &[Exchange]) -> Self {
        let origin = primary_origin(surface, exchanges);
        let (own, excluded): (Vec<_>, Vec<_>) = surface
            .groups
            .iter()
            .partition(|group| Some(&group.origin) == origin);
        let mut taken = BTreeSet::new();
        let tools = own
            .into_iter()
            .map(|group| {
                let parameters = parameters(&group.segments);
                let name = unique(tool_name(group, &parameters), &mut taken);
                Tool {
                    name,
                    group,
                    parameters,
                }
            })
            .collect();
        Self {
            origin,
            tools,
            excluded,
        }
    }

    /// What the environment is called.
    pub fn name(&self) -> String {
        let Some(origin) = self.origin else {
            return "environment".to_owned();
        };
        let origin = String::from_utf8_lossy(origin.as_bytes());
        let host = origin.split_once("://").map_or(&*origin, |(_, host)| host);
        let name = joined(&host.to_lowercase(), '-');
        match name.is_empty() {
            true => "environment".to_owned(),
            false => name,
        }
    }

    /// The member `manifest` of the view.
    pub fn to_value(&self, exchanges: &[Exchange], shapes: &[Shaped], rules: &[&Text]) -> Value {
        let tools = self
            .tools
            .iter()
            .map(|tool| tool.to_value(exchanges, shapes));
        let excluded = self.excluded.iter().map(|group| {
            let mut row = Object::new();
            row.insert("confidence", group.confidence());
            row.insert("method", Value::String(group.method.clone()));
            row.insert("origin", Value::String(group.origin.clone()));
            row.insert("path_template", Value::String(group.path_template.clone()));
            row.insert("reason", "other-origin");
            row.insert("record_count", group.records.len() as u64);
            Value::Object(row)
        });
        let mut manifest = Object::new();
        manifest.insert("excluded", Value::Array(excluded.collect()));
        manifest.insert("name", self.name());
        manifest.insert("origin", self.origin.cloned().map(Value::String));
        manifest.insert("template_rules", surface::texts(rules.iter().copied()));
        manifest.insert("tools", Value::Array(tools.collect()));
        manifest.into()
    }
}

impl Tool<'_> {
    fn to_value(&self, exchanges: &[Exchange], shapes: &[Shaped]) -> Value {
        let group = self.group;
        let parameters = self.parameters.iter().map(|(index, name)| {
            let mut row = Object::new();
            row.insert("name", name.as_str());
            let observed = group.observed.get(*index);
            row.insert(
                "observed_values",
                surface::texts(observed.into_iter().flatten()),
            );
            if let Some(Segment::Templated(rule)) = group.segments.get(*index) {
                row.insert("rule", rule.as_str());
            }
            row.insert("segment_index", *index as u64);
            Value::Object(row)
        });
        let (request, response) = bodies(group, shapes);
        let mut tool = Object::new();
        tool.insert("confidence", group.confidence());
        tool.insert("method", Value::String(group.method.clone()));
        tool.insert("name", self.name.as_str());
        if let Some(operations) = surface::operations(group, exchanges, shapes) {
            tool.insert("operations", operations);
        }
        tool.insert("path_parameters", Value::Array(parameters.collect()));
        tool.insert("path_template", Value::String(group.path_template.clone()));
        tool.insert("query_names", surface::texts(&group.query_names));
        tool.insert("records", surface::citations(exchanges, &group.records));
        tool.insert("request_body", request.to_value());
        tool.insert("response_body", response.to_value());
        tool.into()
    }
}

/// The bodies of a group's requests and responses without their values.
pub fn bodies(group: &Group, shapes: &[Shaped]) -> (Shape, Shape) {
    let (mut request, mut response) = (Shape::default(), Shape::default());
    for shaped in group.records.iter().filter_map(|&at| shapes.get(at)) {
        if let Some(shape) = &shaped.request {
            request.merge(shape);
        }
        if let Some(shape) = &shaped.response {
            response.merge(shape);
        }
    }
    (request, response)
}

/// The origin with most JSON-like responses, then most records, then the
/// earliest one.
fn primary_origin<'a>(surface: &'a Surface, exchanges: &[Exchange]) -> Option<&'a Text> {
    let mut counts: Vec<(&Text, usize, usize, usize)> = Vec::new();
    for group in &surface.groups {
        let json = group.records.iter().filter(|&&at| {
            exchanges
                .get(at)
                .is_some_and(|exchange| exchange.response_body.is_json_like())
        });
        let json = json.count();
        let first = group.records.first().copied().unwrap_or(usize::MAX);
        // Groups come sorted by origin.
        match counts.last_mut() {
            Some(row) if row.0 == &group.origin => {
                row.1 += json;
                row.2 += group.records.len();
                row.3 = row.3.min(first);
            }
            _ => counts.push((&group.origin, json, group.records.len(), first)),
        }
    }
    let best = counts
        .into_iter()
        .max_by_key(|(_, json, all, first)| (*json, *all, std::cmp::Reverse(*first)));
    best.map(|(origin, ..)| origin)
}

/// The templated segments, each with a name of its own.
fn parameters(segments: &[Segment]) -> Vec<(usize, String)> {
    let mut taken = BTreeSet::new();
    let templated = segments.iter().enumerate();
    templated
        .filter_map(|(index, segment)| match segment {
            Segment::Templated(rule) => {
                Some((index, unique(rule.parameter().to_owned(), &mut taken)))
            }
            Segment::Literal(_) => None,
        })
        .collect()
}

/// `name`, or `name_2`, `name_3` and so on where that is taken.
fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut found = name.clone();
    let mut next = 2_u64;
    while !taken.insert(found.clone()) {
        found = format!("{name}_{next}");
        next += 1;
    }
    found
}

/// Letters and digits, everything between them as one `separator`.
fn joined(text: &str, separator: char) -> String {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(&separator.to_string())
}

fn tool_name(group: &Group, parameters: &[(usize, String)]) -> String {
    let lossy = |text: &Text| String::from_utf8_lossy(text.as_bytes()).into_owned();
    let literals: Vec<&[u8]> = group
        .segments
        .iter()
        .map_while(|segment| match segment {
            Segment::Literal(text) => Some(text.as_bytes()),
            Segment::Templated(_) => None,
        })
        .collect();
    let prefix = match prefix_length(&literals) {
        all if all == group.segments.len() => 0,
        prefix => prefix,
    };
    let mut words = vec![joined(&lossy(&group.method).to_lowercase(), '_')];
    for (index, segment) in group.segments.iter().enumerate().skip(prefix) {
        match segment {
            Segment::Literal(text) => words.push(joined(&lossy(text).to_lowercase(), '_')),
            Segment::Templated(_) => {
                let parameter = parameters.iter().find(|(at, _)| *at == index);
                let name = parameter.map_or("", |(_, name)| name);
                words.push(format!("by_{name}"));
            }
        }
    }
    let no_path = words.iter().skip(1).all(String::is_empty);
    if no_path {
        words.push("root".to_owned());
    }
    words.retain(|word| !word.is_empty());
    let name = words.join("_");
    if name.len() <= LONGEST {
        return name;
    }
    let line = [
        group.method.as_bytes(),
        group.origin.as_bytes(),
        group.path_template.as_bytes(),
    ]
    .join(&b' ');
    let digest = Digest::of(&line).to_hex();
    // All of it is ASCII.
    let start: String = name.chars().take(55).collect();
    let end: String = digest.chars().take(8).collect();
    format!("{start}_{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(joined("--a.b//c-", '_'), "a_b_c");
        let mut taken = BTreeSet::new();
        let names = ["id", "id", "id_2", "id"].map(|name| unique(name.to_owned(), &mut taken));
        assert_eq!(names, ["id", "id_2", "id_2_2", "id_3"]);
    }
}
