//! `compare_web_captures`: two observations of a page, or two runs of a
//! scenario, from local data alone (web.md section 6.1).
//!
//! What was not looked at on either side is unknown: an incomplete absence
//! never shows that two sides are equal.

use std::collections::{BTreeMap, BTreeSet};

use super::compare_scenarios;
use crate::digest::Digest;
use crate::error::Result;
use crate::evidence::{Authority, Confidence, Creation, Evidence, EvidenceId, Provider};
use crate::json::{Issue, Object, Text, Value, WriteJson};

/// The operation.
pub const OPERATION: &str = "compare_web_captures";

/// Who compares.
pub const PROVIDER: Provider = Provider {
    id: "rea-web-capture-comparison",
    name: "rea web capture comparison",
    version: "1",
};

const PREDICATE: &str = "rea.web-capture-diff/v1";

const TWO: &str = "This is about two observations, not about one artifact.";
const LOCAL: &str = "Only the two given captures were compared; no page was opened.";
const ABSENCE: &str = "A section that either side did not look at in full is unknown where no \
    difference was found in it.";

/// A side of a comparison.
#[derive(Clone, Debug)]
pub enum Side {
    /// What was seen of a page: an inspection, and the tools that it declares.
    Passive {
        /// The result of `inspect_web_page`.
        inspection: Value,
        /// The result of `discover_webmcp_tools`.
        webmcp: Option<Value>,
    },
    /// The result of `capture_browser_scenario`.
    Scenario(Value),
}

/// The sides with the records that they come from.
#[derive(Clone, Debug)]
pub struct Given {
    /// What is compared.
    pub side: Side,
    /// The records it was read from.
    pub links: Vec<EvidenceId>,
}

impl Given {
    /// Reads a side from JSON: a record of one of the three operations, an
    /// object `{inspection, webmcp}` of results or records, or the result of a
    /// scenario. `name` is the argument's.
    ///
    /// # Errors
    /// `invalid_request` where it is none of them, or a record that is not what
    /// its id says.
    pub fn read(value: Value, name: &str) -> Result<Self> {
        let mut links = Vec::new();
        let wrong = |message: &str| {
            let path = [name];
            Issue::new(&path, "invalid_type", message.to_owned()).into_error(OPERATION)
        };
        let side = match value {
            Value::Object(object) if object.get("evidence_id").is_some() => {
                let (operation, result) = authentic(object.into(), name, &mut links)?;
                match operation.as_str() {
                    "capture_browser_scenario" => Side::Scenario(result),
                    "inspect_web_page" => Side::Passive {
                        inspection: result,
                        webmcp: None,
                    },
                    _ => return Err(wrong("a record of a page or of a scenario is needed")),
                }
            }
            Value::Object(mut object) if object.get("inspection").is_some() => {
                let mut take = |member: &str, links: &mut Vec<EvidenceId>| match object
                    .remove(member)
                    .unwrap_or_default()
                {
                    Value::Null => Ok(None),
                    value if value.get("evidence_id").is_some() => {
                        authentic(value, name, links).map(|(_, result)| Some(result))
                    }
                    value @ Value::Object(_) => Ok(Some(value)),
                    _ => Err(wrong("inspection and webmcp are results")),
                };
                let inspection = take("inspection", &mut links)?;
                let webmcp = take("webmcp", &mut links)?;
                if !object.is_empty() {
                    return Err(wrong("a side has the members inspection and webmcp"));
                }
                Side::Passive {
                    inspection: inspection.ok_or_else(|| wrong("inspection is a result"))?,
                    webmcp,
                }
            }
            value if value.get("steps").and_then(Value::as_array).is_some() => {
                Side::Scenario(value)
            }
            _ => return Err(wrong("it is neither a page's capture nor a scenario's")),
        };
        Ok(Self { side, links })
    }
}

fn authentic(value: Value, name: &str, links: &mut Vec<EvidenceId>) -> Result<(String, Value)> {
    let evidence = Evidence::from_value(value).map_err(|report| {
        report
            .argument_error_at(&[name], OPERATION)
            .unwrap_or_else(|| {
                let message = "it is no valid Evidence".to_owned();
                Issue::new(&[name], "invalid_value", message).into_error(OPERATION)
            })
    })?;
    links.push(evidence.id());
    let operation = evidence.operation().to_owned();
    let result = evidence.normalized_result().clone();
    Ok((operation, result))
}

/// Compares two sides of one kind. `normalization` is `{"rules": [...]}`, for
/// scenarios only.
///
/// # Errors
/// `invalid_request` where the sides are not of one kind or the rules are none.
pub fn compare(before: Given, after: Given, normalization: Option<&Value>) -> Result<Evidence> {
    let mut parameters = Object::new();
    let result = match (&before.side, &after.side) {
        (Side::Scenario(before), Side::Scenario(after)) => {
            let rules = compare_scenarios::Rules::read(normalization)?;
            parameters.insert("normalization", rules.to_value());
            compare_scenarios::compare(before, after, &rules)
        }
        (
            Side::Passive { inspection, webmcp },
            Side::Passive {
                inspection: later,
                webmcp: later_webmcp,
            },
        ) => {
            if normalization.is_some() {
                let message = "only scenarios are compared under rules".to_owned();
                let issue = Issue::new(&["normalization"], "invalid_value", message);
                return Err(issue.into_error(OPERATION));
            }
            let before = Page::new(inspection, webmcp.as_ref());
            let after = Page::new(later, later_webmcp.as_ref());
            passive(&before, &after)
        }
        _ => {
            let message = "one side is a page, the other a scenario".to_owned();
            let issue = Issue::new(&["after"], "invalid_value", message);
            return Err(issue.into_error(OPERATION));
        }
    };
    let digest = |side: &Side| {
        Digest::of_json(|w| match side {
            Side::Scenario(value) => value.write_json(w),
            Side::Passive { inspection, webmcp } => {
                w.begin_object();
                w.member("inspection", inspection);
                w.member("webmcp", webmcp);
                w.end_object();
            }
        })
    };
    parameters.insert("after_sha256", digest(&after.side).to_hex());
    parameters.insert("before_sha256", digest(&before.side).to_hex());
    let mut links: Vec<EvidenceId> = Vec::new();
    for id in before.links.into_iter().chain(after.links) {
        if !links.contains(&id) {
            links.push(id);
        }
    }
    Ok(Evidence::create(Creation {
        no_subject: Some(TWO.to_owned()),
        predicate_type: PREDICATE.to_owned(),
        parameters,
        normalized_result: result,
        confidence: Confidence::Observed,
        authority: Authority::ExternalService,
        limitations: vec![LOCAL.to_owned(), ABSENCE.to_owned()],
        evidence_links: links,
        ..Creation::new(OPERATION, PROVIDER)
    }))
}

/// What is compared of a page.
struct Page<'v> {
    inspection: &'v Value,
    webmcp: Option<&'v Value>,
    /// Sections that were not looked at in full.
    incomplete: BTreeSet<&'v str>,
}

type Identities = BTreeMap<Text, Digest>;

impl<'v> Page<'v> {
    fn new(inspection: &'v Value, webmcp: Option<&'v Value>) -> Self {
        let mut incomplete = BTreeSet::new();
        let completeness = inspection.get("completeness").and_then(Value::as_object);
        for (_, listed) in completeness.into_iter().flat_map(Object::iter) {
            // Lists of section names, whatever they are not complete for.
            let names = listed.as_array().unwrap_or_default();
            incomplete.extend(names.iter().filter_map(|name| {
                name.as_str()
                    .or_else(|| name.get("section").and_then(Value::as_str))
            }));
        }
        Self {
            inspection,
            webmcp,
            incomplete,
        }
    }

    /// The rows of a section, which may be a list or hold one.
    fn rows(&self, section: &str) -> Option<&'v [Value]> {
        let value = self.inspection.get(section)?;
        let inner = ["nodes", "items", "entries", "requests", "rows"];
        value.as_array().or_else(|| {
            let lists = inner.into_iter().filter_map(|name| value.get(name));
            lists.filter_map(Value::as_array).next()
        })
    }

    fn has(&self, sections: &[&str]) -> bool {
        let there = |name: &&str| match self.inspection.get(name) {
            None | Some(Value::Null) => false,
            Some(_) => !self.incomplete.contains(*name),
        };
        sections.iter().all(there)
    }
}

fn digest(value: &Value) -> Digest {
    Digest::of_json(|w| value.write_json(w))
}

/// A value without members of these names, at any depth of objects in lists.
fn without(value: &Value, names: &[&str]) -> Value {
    match value {
        Value::Object(object) => {
            let mut kept = Object::new();
            for (name, value) in object.iter() {
                if !names.iter().any(|dropped| *name == **dropped) {
                    kept.insert(name.clone(), without(value, names));
                }
            }
            kept.into()
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| without(item, names)).collect())
        }
        other => other.clone(),
    }
}

fn sorted_digests(values: impl IntoIterator<Item = Value>) -> Value {
    let mut digests: Vec<String> = values
        .into_iter()
        .map(|value| digest(&value).to_hex())
        .collect();
    digests.sort_unstable();
    Value::Array(digests.into_iter().map(Value::from).collect())
}

fn members(value: &Value, names: &[&str]) -> Value {
    let mut object = Object::new();
    for &name in names {
        object.insert(name, value.get(name).cloned().unwrap_or_default());
    }
    object.into()
}

fn text(value: &Value, name: &str) -> Option<Text> {
    match value.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn one(name: &str, value: &Value) -> Identities {
    BTreeMap::from([(Text::from(name), digest(value))])
}

fn keyed(rows: &[Value], key: &str) -> Identities {
    let row = |row: &Value| Some((text(row, key)?, digest(row)));
    rows.iter().filter_map(row).collect()
}

/// A dimension: its name, identities of a side, and whether that side was
/// looked at in full.
type Dimension = (&'static str, fn(&Page<'_>) -> (Identities, bool));

static DIMENSIONS: [Dimension; 8] = [
    ("dom_structure", dom),
    ("scripts", |page| {
        let rows = page.rows("scripts").unwrap_or_default();
        (keyed(rows, "script_key"), page.has(&["scripts"]))
    }),
    ("resources", |page| {
        let rows = page.rows("resources").unwrap_or_default();
        (keyed(rows, "resource_key"), page.has(&["resources"]))
    }),
    ("webmcp", |page| {
        let tools = page.webmcp.and_then(|webmcp| webmcp.get("tools"));
        let rows = tools.and_then(Value::as_array).unwrap_or_default();
        let status = page.webmcp.and_then(|webmcp| webmcp.get("status"));
        let available = status.and_then(Value::as_str) == Some("available");
        (keyed(rows, "tool_key"), available)
    }),
    ("network", network),
    ("metadata", |page| {
        let value = page.inspection.get("metadata").unwrap_or(&Value::Null);
        let value = without(value, &["request_id", "request_ids"]);
        let value = match value {
            Value::Object(object) => {
                let mut sorted = Object::new();
                for (name, value) in object.into_members() {
                    let value = match value {
                        Value::Array(items) => sorted_digests(items),
                        other => other,
                    };
                    sorted.insert(name, value);
                }
                Value::Object(sorted)
            }
            other => other,
        };
        let there = page.inspection.get("metadata").is_some();
        let found = if there {
            one("metadata", &value)
        } else {
            Identities::new()
        };
        (found, page.has(&["metadata"]))
    }),
    ("accessibility", |page| {
        // Text is compared by the caller, where both sides have all of it.
        (accessibility(page, true), page.has(&["accessibility"]))
    }),
    ("storage", storage),
];

fn dom(page: &Page<'_>) -> (Identities, bool) {
    let (Some(frames), Some(nodes)) = (page.rows("frames"), page.rows("dom")) else {
        return (Identities::new(), false);
    };
    let mut frames: Vec<Value> = frames
        .iter()
        .map(|frame| members(frame, &["url", "origin"]))
        .collect();
    frames.sort_by_cached_key(|frame| text(frame, "url"));
    let nodes = nodes.iter().map(|node| match node {
        Value::Object(node) => {
            let mut node = node.clone();
            node.remove("index");
            Value::Object(node)
        }
        other => other.clone(),
    });
    let mut document = Object::new();
    document.insert("frames", Value::Array(frames));
    document.insert("nodes", Value::Array(nodes.collect()));
    (
        one("document", &document.into()),
        page.has(&["frames", "dom"]),
    )
}

fn network(page: &Page<'_>) -> (Identities, bool) {
    let mut grouped: BTreeMap<Text, Vec<Value>> = BTreeMap::new();
    for request in page.rows("network").unwrap_or_default() {
        let key = digest(&members(request, &["method", "url", "resource_type"]));
        let facts = members(
            request,
            &[
                "status",
                "mime_type",
                "encoded_data_length",
                "initiator",
                "body_shapes",
            ],
        );
        let key = Text::from(format!("net_{key}"));
        grouped.entry(key).or_default().push(facts);
    }
    let found = grouped
        .into_iter()
        .map(|(key, facts)| (key, digest(&sorted_digests(facts))));
    (found.collect(), page.has(&["network"]))
}

/// Nodes with their parents by index; without their text where that is not
/// complete on both sides.
fn accessibility(page: &Page<'_>, with_text: bool) -> Identities {
    let Some(nodes) = page.rows("accessibility") else {
        return Identities::new();
    };
    let names: &[&str] = if with_text {
        &[]
    } else {
        &["text", "name", "value", "description"]
    };
    let places: BTreeMap<Text, u64> = nodes
        .iter()
        .enumerate()
        .filter_map(|(at, node)| Some((text(node, "node_id")?, at as u64)))
        .collect();
    let nodes = nodes.iter().map(|node| {
        let mut kept = match without(node, names) {
            Value::Object(kept) => kept,
            other => return other,
        };
        kept.remove("node_id");
        if let Some(parent) = text(node, "parent_id") {
            kept.remove("parent_id");
            kept.insert("parent_index", places.get(&parent).copied());
        }
        Value::Object(kept)
    });
    one("accessibility", &Value::Array(nodes.collect()))
}

fn storage(page: &Page<'_>) -> (Identities, bool) {
    let mut found = Identities::new();
    let Some(storage) = page
        .inspection
        .get("storage")
        .filter(|found| **found != Value::Null)
    else {
        return (found, false);
    };
    let summary = members(storage, &["usage", "quota"]);
    found.insert("storage:summary".into(), digest(&summary));
    for row in storage
        .get("keys")
        .and_then(Value::as_array)
        .unwrap_or_default()
    {
        if let (Some(area), Some(name)) = (text(row, "area"), text(row, "name")) {
            let key = [b"storage:", area.as_bytes(), b":", name.as_bytes()].concat();
            found.insert(Text::from_wtf8(key), digest(row));
        }
    }
    let fingerprints = storage.get("fingerprints").and_then(Value::as_array);
    for row in fingerprints.unwrap_or_default() {
        if let (Some(scope), Some(identity)) = (text(row, "scope"), text(row, "identity")) {
            let key = [
                b"storage:content:",
                scope.as_bytes(),
                b":",
                identity.as_bytes(),
            ]
            .concat();
            found.insert(Text::from_wtf8(key), digest(row));
        }
    }
    let has = |name| !matches!(storage.get(name), None | Some(Value::Null));
    let whole = ["keys", "usage", "quota", "fingerprints"]
        .into_iter()
        .all(has);
    let parts = ["storage", "storage_keys", "storage_fingerprints"];
    let complete = parts.iter().all(|name| !page.incomplete.contains(name));
    (found, whole && complete)
}

/// Whether accessibility text was looked at in full.
fn has_text(page: &Page<'_>) -> bool {
    page.has(&["accessibility"]) && !page.incomplete.contains("accessibility_text")
}

fn passive(before: &Page<'_>, after: &Page<'_>) -> Value {
    let mut dimensions = Object::new();
    let mut statuses = Vec::new();
    for (name, of) in DIMENSIONS {
        let ((mut left, left_complete), (mut right, right_complete)) = (of(before), of(after));
        if name == "accessibility" && !(has_text(before) && has_text(after)) {
            left = accessibility(before, false);
            right = accessibility(after, false);
        }
        let mut changes = Vec::new();
        let identities: BTreeSet<&Text> = left.keys().chain(right.keys()).collect();
        for identity in identities {
            let change = match (left.get(identity), right.get(identity)) {
                (None, _) => "added",
                (_, None) => "removed",
                (Some(left), Some(right)) if left != right => "modified",
                _ => continue,
            };
            let mut row = Object::new();
            row.insert("change", change);
            row.insert("identity", Value::String(identity.clone()));
            changes.push(Value::Object(row));
        }
        let complete = left_complete && right_complete;
        let status = match (changes.is_empty(), complete) {
            (false, _) => "changed",
            (true, true) => "unchanged",
            (true, false) => "unknown",
        };
        let mut dimension = Object::new();
        dimension.insert("changes", Value::Array(changes));
        dimension.insert("status", status);
        if status == "unknown" {
            let reason = match (left_complete, right_complete) {
                (false, false) => "incomplete on both sides",
                (false, true) => "incomplete before",
                _ => "incomplete after",
            };
            dimension.insert("reason", reason);
        }
        dimensions.insert(name, dimension);
        statuses.push(status);
    }
    let mut result = Object::new();
    result.insert("dimensions", dimensions);
    result.insert("kind", "passive");
    result.insert("status", overall(&statuses));
    result.into()
}

/// Any change, else anything unknown, else unchanged.
pub(super) fn overall(statuses: &[&'static str]) -> &'static str {
    if statuses.contains(&"changed") {
        "changed"
    } else if statuses.contains(&"unknown") {
        "unknown"
    } else {
        "unchanged"
    }
}
