//! Comparisons of recorded traffic and of what was seen of pages.

use rea::json::{Limits, Value};
use rea::mcp::{Arguments, Call, Reply};
use rea::view::recorded;
use rea::web::compare_captures::{self, Given, Side};
use rea::web::compare_screenshots::{self, Image, Options};
use rea::web::compare_surfaces;
use rea::{Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::{Own, Takes};
use crate::compare_api_surfaces::{TemplateRule, side};
use crate::retained::{self, Operand};

/// `compare_api_surfaces`.
pub const COMPARE_SURFACES: Own = Own {
    schema: Surfaces::schema,
    run: surfaces,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Surfaces {
    /// Record of the old traffic: of inspect_web_network_capture
    left: Operand,
    /// Record of the new traffic
    right: Operand,
    /// Take the same path for the same operation on every origin, as where the
    /// two sides were recorded on different hosts
    #[serde(default)]
    any_origin: bool,
    /// Rules to apply to path segments beside the usual ones
    #[serde(default)]
    template_rules: Vec<TemplateRule>,
}

impl Takes for Surfaces {
    const TOOL: &'static str = compare_surfaces::OPERATION;
}

fn surfaces(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Surfaces::read(arguments)?;
    let context = call.context(Surfaces::TOOL);
    let limits = Limits {
        max_input_bytes: call.session.ledger.capacity(),
        ..Limits::default()
    };
    let read = |operand: &Operand, member: &str| {
        let record = operand.source(Surfaces::TOOL, member, &call.session)?;
        recorded(record, false, limits, &context)
    };
    let (left, right) = (read(&given.left, "left")?, read(&given.right, "right")?);
    let rules = TemplateRule::distinct(&given.template_rules);
    let (left, right) = (side(&left), side(&right));
    let comparison = compare_surfaces::compare(&left, &right, &rules, given.any_origin);
    Ok(Reply::record(&comparison.evidence))
}

/// `compare_web_captures`.
pub const COMPARE_CAPTURES: Own = Own {
    schema: Captures::schema,
    run: captures,
};

/// Either two pages or two scenarios.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Captures {
    /// The old page, as a record of inspect_web_page, or as results with the
    /// tools that it declares; not with scenarios
    #[serde(default)]
    before: Option<Page>,
    /// The new page
    #[serde(default)]
    after: Option<Page>,
    /// The old run of a scenario: a result of capture_browser_scenario or its
    /// record; not with pages
    #[serde(default)]
    before_scenario: Option<Scenario>,
    /// The new run
    #[serde(default)]
    after_scenario: Option<Scenario>,
    /// Text of scenarios to replace before it is compared
    #[serde(default)]
    normalization: Option<Normalization>,
}

impl Takes for Captures {
    const TOOL: &'static str = compare_captures::OPERATION;
}

/// The schema of a record, a reference to one, or something else.
fn record_or<const N: usize>(
    others: [serde_json::Value; N],
    generator: &mut SchemaGenerator,
) -> Schema {
    let mut schema = Operand::json_schema(generator);
    let choices = schema.get_mut("anyOf").and_then(|list| list.as_array_mut());
    if let Some(choices) = choices {
        choices.extend(others);
    }
    schema
}

#[derive(Debug, Deserialize)]
struct Page(serde_json::Value);

impl JsonSchema for Page {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Page".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pair = serde_json::json!({
            "type": "object",
            "description": "Results, records or references to records",
            "required": ["inspection", "webmcp"],
            "additionalProperties": false,
            "properties": {
                "inspection": {"type": "object"},
                "webmcp": {"type": ["object", "null"]}
            }
        });
        record_or([pair], generator)
    }
}

#[derive(Debug, Deserialize)]
struct Scenario(serde_json::Value);

impl JsonSchema for Scenario {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scenario".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let result = serde_json::json!({
            "type": "object",
            "description": "The result alone",
            "required": ["steps"],
            "properties": {"steps": {"type": "array", "items": {"type": "object"}}}
        });
        record_or([result], generator)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Normalization(serde_json::Map<String, serde_json::Value>);

impl Captures {
    fn given(&self, page: &Page, member: &str, call: &Call) -> Result<Given> {
        let resolve = |value: &serde_json::Value| {
            retained::resolved(value, Self::TOOL, member, &call.session)
        };
        let mut value = resolve(&page.0)?;
        // The two parts of a page may be references as well.
        if let Some(parts) = page.0.get("inspection").and(page.0.as_object()) {
            let mut pair = rea::json::Object::new();
            for (name, part) in parts {
                pair.insert(name.as_str(), resolve(part)?);
            }
            value = pair.into();
        }
        Given::read(value, member)
    }

    fn wrong(member: &str, message: &str) -> Error {
        Error::invalid_request(Self::TOOL, &[member], "invalid_value", message)
            .action("Give before and after, or before_scenario and after_scenario.")
    }
}

fn captures(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Captures::read(arguments)?;
    let scenario = |scenario: &Scenario, member: &str| {
        let value = retained::resolved(&scenario.0, Captures::TOOL, member, &call.session)?;
        Given::read(value, member)
    };
    let (before, after) = match (&given.before, &given.after) {
        (Some(before), Some(after)) => {
            if given.before_scenario.is_some() || given.after_scenario.is_some() {
                let message = "two pages are compared, or two scenarios, not both";
                return Err(Captures::wrong("before_scenario", message));
            }
            let sides = (
                given.given(before, "before", call)?,
                given.given(after, "after", call)?,
            );
            if let Side::Scenario(_) = sides.0.side {
                let message = "the record is one of a scenario, which before_scenario takes";
                return Err(Captures::wrong("before", message));
            }
            sides
        }
        (None, None) => match (&given.before_scenario, &given.after_scenario) {
            (Some(before), Some(after)) => {
                let sides = (
                    scenario(before, "before_scenario")?,
                    scenario(after, "after_scenario")?,
                );
                if let Side::Passive { .. } = sides.0.side {
                    let message = "the record is one of a page, which before takes";
                    return Err(Captures::wrong("before_scenario", message));
                }
                sides
            }
            (Some(_), None) => return Err(Captures::wrong("after_scenario", "it is missing")),
            _ => return Err(Captures::wrong("before", "there is nothing to compare")),
        },
        (Some(_), None) => return Err(Captures::wrong("after", "it is missing")),
        (None, Some(_)) => return Err(Captures::wrong("before", "it is missing")),
    };
    let normalization = match given.normalization {
        Some(rules) => {
            let text = serde_json::Value::Object(rules.0).to_string();
            let parsed = Value::parse(text.as_bytes(), Limits::default());
            let at = &["normalization"];
            Some(parsed.map_err(|error| error.into_argument_error(Captures::TOOL, at))?)
        }
        None => None,
    };
    let evidence = compare_captures::compare(before, after, normalization.as_ref())?;
    Ok(Reply::record(&evidence))
}

/// `compare_web_screenshots`.
pub const COMPARE_SCREENSHOTS: Own = Own {
    schema: Screenshots::schema,
    run: screenshots,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Screenshots {
    /// The old image
    before: Picture,
    /// The new image
    after: Picture,
    /// Difference of a channel that is still no change
    #[serde(default)]
    channel_threshold: u8,
    /// Pixels that an image may have
    #[serde(default = "usual_pixels")]
    #[schemars(range(min = 1, max = 32_000_000))]
    maximum_pixels: u64,
}

fn usual_pixels() -> u64 {
    16_000_000
}

impl Takes for Screenshots {
    const TOOL: &'static str = compare_screenshots::OPERATION;
}

#[derive(Debug, Deserialize)]
struct Picture(serde_json::Value);

impl JsonSchema for Picture {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Picture".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = serde_json::json!({"type": "string", "minLength": 1});
        let file = serde_json::json!({
            "type": "object",
            "required": ["kind", "path"],
            "additionalProperties": false,
            "properties": {"kind": {"const": "file"}, "path": text}
        });
        let image = serde_json::json!({
            "type": "object",
            "description": "A result of capture_web_screenshot",
            "required": ["data_base64"],
            "additionalProperties": false,
            "properties": {
                "uri": {"type": "string"},
                "sha256": {"type": "string", "pattern": "^[a-f0-9]{64}$"},
                "bytes": {"type": "integer", "minimum": 0},
                "media_type": {"const": "image/png"},
                "data_base64": text
            }
        });
        record_or([file, image], generator)
    }
}

impl Picture {
    fn image(self, member: &str, call: &Call) -> Result<Image> {
        let word = |name: &str| self.0.get(name).and_then(|value| value.as_str());
        if let (Some("file"), Some(path)) = (word("kind"), word("path")) {
            return crate::compare_web_screenshots::read(path.as_ref());
        }
        if word("data_base64").is_some() {
            let result = retained::resolved(&self.0, Screenshots::TOOL, member, &call.session)?;
            return Image::of_result(&result, None, member);
        }
        let operand = Operand::from(self.0);
        let text = operand.text(Screenshots::TOOL, member, &call.session)?;
        Image::read(text.to_vec(), member)
    }
}

fn screenshots(arguments: Arguments, call: &Call) -> Result<Reply> {
    let given = Screenshots::read(arguments)?;
    let context = call.context(Screenshots::TOOL);
    let before = given.before.image("before", call)?;
    let after = given.after.image("after", call)?;
    let options = Options {
        threshold: given.channel_threshold,
        max_pixels: given.maximum_pixels,
    };
    let sides = ((&before, "before"), (&after, "after"));
    let comparison = compare_screenshots::compare(sides.0, sides.1, options, &context)?;
    Ok(Reply::record(&comparison.evidence))
}
