//! The surface of recorded traffic as an OpenAPI 3.1 description. It says of
//! itself that it is inferred: from what was called, not from what there is.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::Exchange;
use super::manifest::{Manifest, Tool, bodies};
use super::shape::Shape;
use super::surface::{Group, Shaped, Surface};
use super::template::Segment;
use crate::evidence::EvidenceId;
use crate::json::{Object, Text, Value};

const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

const DESCRIPTION: &str = "Inferred from recorded traffic. Path parameters are concluded from the \
    values that were seen; operations, parameters and responses that nobody recorded are missing; \
    authorization is not described.";

/// The description of the primary origin's operations.
pub fn describe(
    surface: &Surface,
    exchanges: &[Exchange],
    shapes: &[Shaped],
    capture: EvidenceId,
) -> Value {
    let manifest = Manifest::new(surface, exchanges);
    // Templates that differ in their rules alone are one path there.
    let mut paths: BTreeMap<String, BTreeMap<String, Operation>> = BTreeMap::new();
    let mut left_out = Vec::new();
    for tool in &manifest.tools {
        let method = String::from_utf8_lossy(tool.group.method.as_bytes()).to_lowercase();
        if !METHODS.contains(&method.as_str()) {
            left_out.push(Value::String(tool.group.method.clone()));
            continue;
        }
        let operations = paths.entry(path(tool)).or_default();
        match operations.get_mut(&method) {
            Some(operation) => operation.merge(tool),
            None => {
                operations.insert(method, Operation::of(tool));
            }
        }
    }
    let mut info = Object::new();
    info.insert("title", manifest.name());
    info.insert("version", "recorded");
    info.insert("description", DESCRIPTION);
    info.insert("x-inferred", true);
    info.insert("x-evidence", capture.to_string());
    let mut members = Object::new();
    for (path, operations) in paths {
        let mut item = Object::new();
        for (method, found) in operations {
            item.insert(method, operation(&found, exchanges, shapes));
        }
        members.insert(path, item);
    }
    let mut document = Object::new();
    document.insert("openapi", "3.1.0");
    document.insert("info", info);
    if let Some(origin) = manifest.origin {
        let mut server = Object::new();
        server.insert("url", Value::String(origin.clone()));
        document.insert("servers", Value::Array(vec![server.into()]));
    }
    document.insert("paths", members);
    if !left_out.is_empty() {
        document.insert("x-methods-left-out", Value::Array(left_out));
    }
    document.into()
}

/// The template with parameters by name. Braces of literals are escaped, as
/// they would be parameters.
fn path(tool: &Tool<'_>) -> String {
    if tool.group.segments.is_empty() {
        return "/".to_owned();
    }
    let mut path = String::new();
    for (index, segment) in tool.group.segments.iter().enumerate() {
        path.push('/');
        match segment {
            Segment::Literal(text) => {
                let text = String::from_utf8_lossy(text.as_bytes());
                path.push_str(&text.replace('{', "%7B").replace('}', "%7D"));
            }
            Segment::Templated(_) => {
                let name = tool.parameters.iter().find(|(at, _)| *at == index);
                path.push_str(&format!("{{{}}}", name.map_or("id", |(_, name)| name)));
            }
        }
    }
    path
}

/// The tools of one path and method together.
struct Operation {
    name: String,
    /// Index and name, the rules that made it one, and how many values were
    /// seen.
    parameters: Vec<(usize, String, BTreeSet<&'static str>, u64)>,
    group: Group,
}

impl Operation {
    fn of(tool: &Tool<'_>) -> Self {
        let mut operation = Self {
            name: tool.name.clone(),
            parameters: tool
                .parameters
                .iter()
                .map(|(index, name)| (*index, name.clone(), BTreeSet::new(), 0))
                .collect(),
            group: Group {
                method: tool.group.method.clone(),
                origin: tool.group.origin.clone(),
                path_template: tool.group.path_template.clone(),
                segments: tool.group.segments.clone(),
                observed: Vec::new(),
                query_names: BTreeSet::new(),
                statuses: BTreeMap::new(),
                records: Vec::new(),
            },
        };
        operation.merge(tool);
        operation
    }

    fn merge(&mut self, tool: &Tool<'_>) {
        for (index, _, rules, seen) in &mut self.parameters {
            if let Some(Segment::Templated(rule)) = tool.group.segments.get(*index) {
                rules.insert(rule.as_str());
            }
            *seen += tool.group.observed.get(*index).map_or(0, Vec::len) as u64;
        }
        let group = &mut self.group;
        group
            .query_names
            .extend(tool.group.query_names.iter().cloned());
        for (&status, &count) in &tool.group.statuses {
            *group.statuses.entry(status).or_default() += count;
        }
        group.records.extend(&tool.group.records);
        group.records.sort_unstable();
    }
}

fn string_schema() -> Object {
    let mut schema = Object::new();
    schema.insert("type", "string");
    schema
}

fn operation(found: &Operation, exchanges: &[Exchange], shapes: &[Shaped]) -> Object {
    let group = &found.group;
    let mut parameters = Vec::new();
    for (_, name, rules, seen) in &found.parameters {
        let mut parameter = Object::new();
        parameter.insert("name", name.as_str());
        parameter.insert("in", "path");
        parameter.insert("required", true);
        parameter.insert("schema", string_schema());
        let rules: Vec<&str> = rules.iter().copied().collect();
        parameter.insert("x-inferred-by", rules);
        parameter.insert("x-observed-values", *seen);
        parameters.push(Value::Object(parameter));
    }
    for name in &group.query_names {
        let mut parameter = Object::new();
        parameter.insert("name", Value::String(name.clone()));
        parameter.insert("in", "query");
        parameter.insert("schema", string_schema());
        parameters.push(Value::Object(parameter));
    }
    let (request, response) = bodies(group, shapes);
    let mut operation = Object::new();
    operation.insert("operationId", found.name.as_str());
    operation.insert("parameters", Value::Array(parameters));
    operation.insert("x-confidence", group.confidence());
    let records: Vec<u64> = group
        .records
        .iter()
        .filter_map(|&at| exchanges.get(at))
        .map(|exchange| exchange.ordinal)
        .collect();
    operation.insert("x-records", records);
    if !request.is_empty() {
        let media = media_type(group.records.iter().filter_map(|&at| {
            let body = &exchanges.get(at)?.request_body;
            body.media_type.as_ref()
        }));
        let mut body = Object::new();
        body.insert("content", content(&media, &request));
        operation.insert("requestBody", body);
    }
    let mut responses = Object::new();
    for &status in group.statuses.keys() {
        let mut answer = Object::new();
        answer.insert("description", format!("Recorded status {status}"));
        let own: Vec<usize> = group
            .records
            .iter()
            .copied()
            .filter(|&at| exchanges.get(at).and_then(|exchange| exchange.status) == Some(status))
            .collect();
        let mut shape = Shape::default();
        for shaped in own.iter().filter_map(|&at| shapes.get(at)) {
            if let Some(one) = &shaped.response {
                shape.merge(one);
            }
        }
        if !shape.is_empty() {
            let media = media_type(own.iter().filter_map(|&at| {
                let body = &exchanges.get(at)?.response_body;
                body.media_type.as_ref()
            }));
            answer.insert("content", content(&media, &shape));
        }
        // Only three digits are a status there.
        if (100..600).contains(&status) {
            responses.insert(status.to_string(), answer);
        }
    }
    if responses.is_empty() {
        let mut answer = Object::new();
        let text = match response.is_empty() {
            true => "No status was recorded",
            false => "Recorded without a status of HTTP",
        };
        answer.insert("description", text);
        responses.insert("default", answer);
    }
    operation.insert("responses", responses);
    operation
}

/// The first type that says JSON, without its parameters.
fn media_type<'t>(types: impl Iterator<Item = &'t Text>) -> String {
    let mut json_like = types.filter(|media| super::exchange::is_json_like(media));
    let media = json_like
        .next()
        .map_or(&b"application/json"[..], |media| media.as_bytes());
    let essence = media.split(|&byte| byte == b';').next().unwrap_or_default();
    String::from_utf8_lossy(essence.trim_ascii()).to_lowercase()
}

fn content(media: &str, shape: &Shape) -> Object {
    let types = |types: Vec<&'static str>| match types.as_slice() {
        [one] => Value::from(*one),
        _ => Value::Array(types.into_iter().map(Value::from).collect()),
    };
    let mut schema = Object::new();
    schema.insert("type", types(shape.root_types().collect()));
    let mut properties = Object::new();
    for (name, found) in shape.keys() {
        let mut property = Object::new();
        property.insert("type", types(found));
        properties.insert(name.clone(), property);
    }
    if !properties.is_empty() {
        schema.insert("properties", properties);
    }
    let mut media_object = Object::new();
    media_object.insert("schema", schema);
    let mut content = Object::new();
    content.insert(media, media_object);
    content
}
