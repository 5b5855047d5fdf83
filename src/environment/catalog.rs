//! The tools of an environment, with their arguments (web.md sections 5.4 and
//! 5.5).

use std::collections::BTreeSet;

use super::display::{list, lossy, sample, units};
use super::{OPERATION, WARNING};
use crate::error::{Error, Result};
use crate::evidence::EvidenceId;
use crate::json::{Object, Text, Value};

/// What all tools together may reserve.
pub const RESERVATION: u64 = 1_048_576;

/// Names of arguments have at most so many UTF-16 units.
const NAME: u64 = 64;

/// The tools of an environment.
#[derive(Debug)]
pub struct Catalog {
    /// In the manifest's order.
    pub tools: Vec<Tool>,
}

/// A tool: requests of one method to one template.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is, the warning first.
    pub description: String,
    /// Its arguments: path, query, body.
    pub arguments: Vec<Argument>,
    /// The records that it replays, in the manifest's order.
    pub records: Vec<u64>,
}

/// An argument of a tool.
#[derive(Debug)]
pub struct Argument {
    /// The name that callers use.
    pub name: Text,
    /// What it stands for.
    pub meaning: Meaning,
    description: String,
}

/// What an argument stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The segment of the path at this index.
    Path(usize),
    /// The query parameter of this full name.
    Query(Text),
    /// The body; replays do not look at it.
    Body,
}

impl Catalog {
    /// The catalog of a manifest, whose records are those of `evidence`.
    ///
    /// # Errors
    /// `invalid_request` where the manifest is not of its shape,
    /// `resource_constraint` where its tools would reserve more than
    /// [`RESERVATION`].
    pub fn new(manifest: &Value, evidence: EvidenceId) -> Result<Self> {
        let catalog = Self::labelled(manifest, WARNING, &evidence.to_string())?;
        let reserved = catalog.reserved();
        if reserved > RESERVATION {
            let message = format!(
                "the tools of this environment would reserve {reserved} bytes, of {RESERVATION} that there are"
            );
            let mut limits = Object::new();
            limits.insert("boundary", "environment-catalog");
            limits.insert("maximum", RESERVATION);
            limits.insert("reserved", reserved);
            return Err(Error::out_of_memory(OPERATION, message, limits)
                .action("Use a smaller capture or manifest; nothing is dropped."));
        }
        Ok(catalog)
    }

    fn labelled(manifest: &Value, warning: &str, evidence: &str) -> Result<Self> {
        let tools = manifest.get("tools").and_then(Value::as_array);
        let tools = tools.ok_or_else(malformed)?;
        let tool = |tool| Tool::read(tool, warning, evidence).ok_or_else(malformed);
        let tools = tools.iter().map(tool).collect::<Result<Vec<_>>>()?;
        let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        // Of two with one name only one could be called.
        match names.len() == tools.len() {
            true => Ok(Self { tools }),
            false => Err(malformed()),
        }
    }

    /// Bytes that the names and descriptions may take in any encoding.
    pub fn reserved(&self) -> u64 {
        let argument = |argument: &Argument| {
            64 + 6 * (units(&lossy(&argument.name)) + units(&argument.description))
        };
        let tool = |tool: &Tool| {
            let arguments: u64 = tool.arguments.iter().map(argument).sum();
            256 + 6 * (units(&tool.name) + units(&tool.description)) + arguments
        };
        self.tools.iter().map(tool).sum()
    }

    /// The tool of that name.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

fn malformed() -> Error {
    let message = "the manifest is not of the shape that environment-manifest views have";
    let path = &["manifest", "normalized_result", "manifest"];
    Error::invalid_request(OPERATION, path, "invalid_type", message)
}

fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) if *number >= 0.0 && number.fract() == 0.0 => Some(*number as u64),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&Text> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Names that are given, none twice.
#[derive(Default)]
struct Names(BTreeSet<Text>);

impl Names {
    /// `name`, or the first of `name_2`, `name_3` and so on that is free of
    /// what is given and of `captured` names.
    fn give(&mut self, name: Text, captured: &[&Text]) -> Text {
        let mut found = name.clone();
        let mut next = 2_u64;
        while self.0.contains(&found) || captured.contains(&&found) {
            let suffix = format!("_{next}");
            found = Text::from_wtf8([name.as_bytes(), suffix.as_bytes()].concat());
            next += 1;
        }
        self.0.insert(found.clone());
        found
    }
}

/// Whether it has another name for callers: it is long, or no text that a
/// client could write (half of a surrogate pair).
fn needs_alias(name: &Text) -> bool {
    name.as_str().is_none_or(|name| units(name) > NAME)
}

impl Tool {
    fn read(tool: &Value, warning: &str, evidence: &str) -> Option<Self> {
        let method = text(tool.get("method")?)?;
        let template = text(tool.get("path_template")?)?;
        let records = tool.get("records")?.as_array()?;
        let records: Option<Vec<u64>> = records
            .iter()
            .map(|record| whole_number(record.get("ordinal")?))
            .collect();
        let records = records.filter(|records| !records.is_empty())?;
        let cited = list(records.iter().map(u64::to_string));
        let description = format!(
            "{warning}{} {}; replays retained records [{cited}]; evidence {evidence}",
            sample(method),
            sample(template)
        );
        let queries: Vec<&Text> = tool
            .get("query_names")?
            .as_array()?
            .iter()
            .map(text)
            .collect::<Option<_>>()?;
        let mut names = Names::default();
        let mut arguments = Vec::new();
        for parameter in tool.get("path_parameters")?.as_array()? {
            arguments.push(path_argument(parameter, &mut names)?);
        }
        for (at, name) in queries.iter().enumerate() {
            arguments.push(query_argument(at, name, &queries, &mut names));
        }
        let takes_body = ["POST", "PUT", "PATCH"]
            .iter()
            .any(|takes| *method == **takes);
        match tool.get("request_body")? {
            Value::Null => {}
            shape if takes_body => arguments.push(body_argument(shape, &queries, &mut names)?),
            _ => {}
        }
        Some(Self {
            name: tool.get("name")?.as_str()?.to_owned(),
            description,
            arguments,
            records,
        })
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Value {
        let mut properties = Object::new();
        let mut required = Vec::new();
        for argument in &self.arguments {
            let mut property = Object::new();
            property.insert("description", argument.description.as_str());
            let kind = match argument.meaning {
                Meaning::Path(_) | Meaning::Query(_) => "string",
                Meaning::Body => "object",
            };
            property.insert("type", kind);
            properties.insert(argument.name.clone(), property);
            if matches!(argument.meaning, Meaning::Path(_)) {
                required.push(Value::String(argument.name.clone()));
            }
        }
        let mut schema = Object::new();
        schema.insert("additionalProperties", false);
        schema.insert("properties", properties);
        if !required.is_empty() {
            schema.insert("required", Value::Array(required));
        }
        schema.insert("type", "object");
        schema.into()
    }
}

fn path_argument(parameter: &Value, names: &mut Names) -> Option<Argument> {
    let index = whole_number(parameter.get("segment_index")?)?;
    let name = text(parameter.get("name")?)?;
    let rule = text(parameter.get("rule")?)?;
    let observed: Option<Vec<String>> = parameter
        .get("observed_values")?
        .as_array()?
        .iter()
        .map(|value| text(value).map(lossy))
        .collect();
    let name = match needs_alias(name) {
        true => Text::from(format!("path_{index}")),
        false => name.clone(),
    };
    Some(Argument {
        name: names.give(name, &[]),
        meaning: Meaning::Path(usize::try_from(index).ok()?),
        description: format!(
            "Path segment {index} ({}); observed: {}",
            lossy(rule),
            list(observed?)
        ),
    })
}

fn query_argument(at: usize, name: &Text, captured: &[&Text], names: &mut Names) -> Argument {
    let taken = names.0.contains(name);
    let wanted = match taken {
        false => name.clone(),
        true => Text::from_wtf8([b"query_", name.as_bytes()].concat()),
    };
    let others: Vec<&Text> = captured
        .iter()
        .copied()
        .filter(|other| *other != name)
        .collect();
    let given = match needs_alias(&wanted) {
        true => names.give(Text::from(format!("query_{at}")), &others),
        // A captured name that is free is its own.
        false if !taken => names.give(wanted, &[]),
        false => names.give(wanted, &others),
    };
    Argument {
        name: given,
        meaning: Meaning::Query(name.clone()),
        description: format!("Query parameter {}", sample(name)),
    }
}

fn body_argument(shape: &Value, queries: &[&Text], names: &mut Names) -> Option<Argument> {
    let is_taken =
        names.0.contains(&Text::from("body")) || queries.iter().any(|name| **name == *"body");
    let wanted = if is_taken { "request_body" } else { "body" };
    let keys = shape.get("keys")?.as_array()?;
    let words = |value: &Value| -> Option<Vec<String>> {
        value
            .as_array()?
            .iter()
            .map(|word| text(word).map(lossy))
            .collect()
    };
    let keys: Option<Vec<String>> = keys
        .iter()
        .map(|key| {
            let types = words(key.get("types")?)?;
            Some(format!(
                "{} ({})",
                lossy(text(key.get("name")?)?),
                types.join(" or ")
            ))
        })
        .collect();
    let keys = keys?;
    let description = match keys.is_empty() {
        false => format!("Recorded top-level keys: {}", list(keys)),
        true => format!(
            "Recorded body types: {}",
            list(words(shape.get("root_types")?)?)
        ),
    };
    Some(Argument {
        name: names.give(Text::from(wanted), queries),
        meaning: Meaning::Body,
        description,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Limits;

    fn parse(text: &str) -> Value {
        Value::parse(text.as_bytes(), Limits::default()).unwrap()
    }

    fn vector(name: &str) -> Value {
        let path = format!(
            "{}/tests/vectors/web/{name}.expected.json",
            env!("CARGO_MANIFEST_DIR")
        );
        parse(&std::fs::read_to_string(path).unwrap())
    }

    /// The published cards, without the warning, whose wording is ours.
    #[test]
    fn catalogs_are_as_the_vectors_say() {
        for name in ["grafana", "edge-cases"] {
            let vector = vector(name);
            let manifest = vector.get("environment_manifest_all_rules").unwrap();
            let catalog = Catalog::labelled(manifest, "", "ev_…").unwrap();
            let expected = vector.get("card").unwrap().get("capabilities").unwrap();
            let expected = expected.get("tools").unwrap().as_array().unwrap();
            assert_eq!(catalog.tools.len(), expected.len());
            for (tool, expected) in catalog.tools.iter().zip(expected) {
                assert_eq!(
                    expected.get("name").unwrap().as_str(),
                    Some(tool.name.as_str())
                );
                let described = expected.get("description").unwrap().as_str();
                assert_eq!(described, Some(tool.description.as_str()));
                assert_eq!(expected.get("inputSchema"), Some(&tool.input_schema()));
                let map = vector.get("argument_map").unwrap().get(&tool.name).unwrap();
                assert_eq!(map.as_object().unwrap().len(), tool.arguments.len());
                for argument in &tool.arguments {
                    let mapped = map.get(argument.name.as_str().unwrap()).unwrap();
                    match &argument.meaning {
                        Meaning::Path(index) => {
                            let expected = Value::Number(*index as f64);
                            assert_eq!(mapped.get("path_segment"), Some(&expected));
                        }
                        Meaning::Query(name) => {
                            let expected = Value::String(name.clone());
                            assert_eq!(mapped.get("query_name"), Some(&expected));
                        }
                        Meaning::Body => assert_eq!(mapped.get("body"), Some(&Value::Bool(true))),
                    }
                }
            }
            let units = vector.get("catalog_reservation_units").unwrap();
            assert_eq!(units, &Value::Number(catalog.reserved() as f64));
        }
    }

    fn tool(queries: &[&str], parameters: &[&str], body: bool) -> Tool {
        let quoted = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            names.join(",")
        };
        let parameters: Vec<String> = parameters
            .iter()
            .enumerate()
            .map(|(at, name)| {
                format!(r#"{{"name":{name:?},"segment_index":{at},"rule":"numeric","observed_values":["1"]}}"#)
            })
            .collect();
        let body = match body {
            true => r#"{"keys":[],"root_types":["array"],"observations":1}"#,
            false => "null",
        };
        let text = format!(
            r#"{{"name":"t","method":"POST","path_template":"/","records":[{{"ordinal":0}}],
                "query_names":[{}],"path_parameters":[{}],"request_body":{body}}}"#,
            quoted(queries),
            parameters.join(",")
        );
        Tool::read(&parse(&text), "", "").unwrap()
    }

    fn names(tool: &Tool) -> Vec<&str> {
        tool.arguments
            .iter()
            .map(|argument| argument.name.as_str().unwrap())
            .collect()
    }

    #[test]
    fn aliases_never_meet_captured_names() {
        assert_eq!(
            names(&tool(&["id", "query_id"], &["id"], false)),
            ["id", "query_id_2", "query_id"]
        );
        let long = "x".repeat(65);
        let fits = "x".repeat(64);
        assert_eq!(
            names(&tool(&["query_1", &long, &fits], &[], false)),
            ["query_1", "query_1_2", fits.as_str()]
        );
        // Too long once it has its prefix.
        let name = "n".repeat(60);
        assert_eq!(
            names(&tool(&[&name], &[&name], false)),
            [name.as_str(), "query_0"]
        );
        let wide = "\u{1F600}".repeat(33);
        assert_eq!(names(&tool(&[&wide], &[], false)), ["query_0"]);
        assert_eq!(
            names(&tool(&["body", "request_body"], &[], true)),
            ["body", "request_body", "request_body_2"]
        );
        assert_eq!(names(&tool(&[], &["body"], true)), ["body", "request_body"]);
        assert_eq!(names(&tool(&[], &[&long], false)), ["path_0"]);
    }

    #[test]
    fn what_no_client_can_write_has_another_name() {
        let text = r#"{"name":"t","method":"GET","path_template":"/","records":[{"ordinal":0}],
            "query_names":["a","x\ud800"],"path_parameters":[],"request_body":null}"#;
        let tool = Tool::read(&parse(text), "", "").unwrap();
        assert_eq!(names(&tool), ["a", "query_1"]);
        let full = Text::from_utf16([0x78, 0xD800]);
        assert_eq!(tool.arguments[1].meaning, Meaning::Query(full));
    }

    #[test]
    fn many_fields_are_admitted_and_too_many_are_not() {
        let fields = |count: usize| {
            let names: Vec<String> = (0..count).map(|at| format!("\"field_{at:04}\"")).collect();
            parse(&format!(
                r#"{{"tools":[{{"name":"t","method":"GET","path_template":"/","records":[{{"ordinal":0}}],
                    "query_names":[{}],"path_parameters":[],"request_body":null}}]}}"#,
                names.join(",")
            ))
        };
        let id = EvidenceId(crate::digest::Digest([0; 32]));
        let catalog = Catalog::new(&fields(1500), id).unwrap();
        assert_eq!(catalog.tools[0].arguments.len(), 1500);
        let error = Catalog::new(&fields(8000), id).unwrap_err();
        assert_eq!(error.code().as_str(), "resource_constraint");
        let mut twice = fields(1);
        if let Value::Object(manifest) = &mut twice {
            let tools = manifest.get("tools").and_then(Value::as_array).unwrap();
            let tools = [tools, tools].concat();
            manifest.insert("tools", tools);
        }
        for wrong in [parse(r#"{"tools":[{}]}"#), twice] {
            let malformed = Catalog::new(&wrong, id).unwrap_err();
            assert_eq!(malformed.code().as_str(), "invalid_request");
        }
    }
}
