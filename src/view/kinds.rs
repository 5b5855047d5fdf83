//! The kinds of view and their members, as a table (views.md section 3).

use crate::json::{Issue, MAX_SAFE_INTEGER, Object, Value};
use crate::web::template;

/// What a member of a view holds.
#[derive(Debug)]
pub(super) enum Rule {
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from 0.
    Offset,
    /// A whole number from 1.
    Limit,
    /// A string.
    Text,
    /// Strings.
    Texts,
    /// Names of optional template rules, each once.
    TemplateRules,
    /// An object with exactly one of `index`, `name`, `path`, `node_id`.
    Selector,
}

/// Whether a member must be there, and what it is where it is not.
#[derive(Debug)]
pub(super) enum Presence {
    Required,
    Optional,
    /// Not given is the same as this.
    Default(u64),
    /// Not given is the same as an empty list.
    DefaultNone,
    /// Only beside a `collection` that is one of these.
    With(&'static [&'static str]),
}

use Presence::{Default, DefaultNone, Optional, Required, With};
use Rule::{Limit, Offset, Selector, Texts, Word};

/// A member of a view.
#[derive(Debug)]
pub(super) struct Member {
    name: &'static str,
    rule: Rule,
    presence: Presence,
}

const fn member(name: &'static str, rule: Rule, presence: Presence) -> Member {
    Member {
        name,
        rule,
        presence,
    }
}

/// A kind of view.
#[derive(Debug)]
pub(super) struct Kind {
    pub name: &'static str,
    members: &'static [Member],
}

const OFFSET: Member = member("offset", Offset, Default(0));
const LIMIT: Member = member("limit", Limit, Default(64));
const TEMPLATE_RULES: Member = member("template_rules", Rule::TemplateRules, DefaultNone);
const MODULES: &str = "modules";
const LAYOUT_OR_MODULES: &[&str] = &[
    "sections",
    "symbols",
    MODULES,
    // Ours, beside the contract's.
    "segments",
    "relocations",
    "imports",
    "exports",
];

/// All kinds whose members the contract names. Which of them a record has is
/// its producer's to say.
pub(super) static KINDS: &[Kind] = &[
    Kind {
        name: "summary",
        members: &[],
    },
    Kind {
        name: "facet",
        members: &[member("facet", Word(&["mitigations", "linkage"]), Required)],
    },
    Kind {
        name: "item",
        members: &[
            member("collection", Word(LAYOUT_OR_MODULES), Required),
            member("selector", Selector, Required),
        ],
    },
    Kind {
        name: "page",
        members: &[
            member("collection", Word(LAYOUT_OR_MODULES), Required),
            member("offset", Offset, Required),
            member("limit", Limit, Required),
        ],
    },
    Kind {
        name: "inventory",
        members: &[
            member(
                "collection",
                Word(&["nodes", "occurrences", "edges", "integrity_contradictions"]),
                Required,
            ),
            member("logical_paths", Texts, With(&["occurrences"])),
            OFFSET,
            LIMIT,
        ],
    },
    Kind {
        name: "native",
        members: &[member("facet", Word(NATIVE), Required), OFFSET, LIMIT],
    },
    Kind {
        name: "native-inventory",
        members: &[member("fields", Texts, Optional), OFFSET, LIMIT],
    },
    Kind {
        name: "wasm",
        members: &[
            member(
                "facet",
                Word(&[
                    "sections",
                    "imports",
                    "exports",
                    "candidates",
                    "glue",
                    "wat",
                    "headers",
                    "details",
                    "tool_profile",
                ]),
                Required,
            ),
            OFFSET,
            LIMIT,
        ],
    },
    Kind {
        name: "macho",
        members: &[
            member(
                "facet",
                Word(&[
                    "entrypoints",
                    "architectures",
                    "build_metadata",
                    "load_commands",
                    "dependencies",
                    "imports",
                    "exports",
                    "segments",
                    "provenance",
                ]),
                Required,
            ),
            OFFSET,
            LIMIT,
        ],
    },
    Kind {
        name: "interface-builder",
        members: &[
            member(
                "collection",
                Word(&["documents", "nodes", "edges", "coverage"]),
                Required,
            ),
            member("document", Rule::Text, With(&["nodes", "edges"])),
            OFFSET,
            LIMIT,
        ],
    },
    Kind {
        name: "source-to-bundle",
        members: &[
            member("collection", Word(&["mappings", "candidates"]), Required),
            member("source_paths", Texts, Optional),
            member("mapping_ids", Texts, Optional),
            member("statuses", Texts, Optional),
            member("fields", Texts, Optional),
            OFFSET,
            LIMIT,
        ],
    },
    Kind {
        name: "api-surface",
        members: &[TEMPLATE_RULES, OFFSET, LIMIT],
    },
    Kind {
        name: "environment-manifest",
        members: &[TEMPLATE_RULES],
    },
    Kind {
        name: "environment-state",
        members: &[TEMPLATE_RULES],
    },
];

const NATIVE: &[&str] = &[
    "procedure",
    "native_api",
    "value_flow_summary",
    "pseudocode",
    "assembly",
    "basic_blocks",
    "comments",
    "callers",
    "callees",
    "incoming_references",
    "outgoing_references",
    "unresolved_calls",
    "referenced_strings",
    "referenced_names",
    "value_flow_operations",
    "value_flow_def_use",
    "value_flow_effects",
    "value_flow_parameters",
    "value_flow_parameter_uses",
];

impl Kind {
    pub fn find(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Checks the members of `view` against the table and fills in what is
    /// not given. All that is wrong is told.
    pub fn complete(&self, view: &mut Object, issues: &mut Vec<Issue>) {
        for (name, _) in view.iter() {
            let known = |member: &&Member| *name == *member.name;
            if *name != *"kind" && !self.members.iter().any(|member| known(&member)) {
                let shown = String::from_utf8_lossy(name.as_bytes());
                let message = format!("views of kind {} have no member {shown}", self.name);
                let path = vec!["view".into(), Value::String(name.clone())];
                issues.push(Issue::at(path, "unknown_argument", message));
            }
        }
        for member in self.members {
            match view.get(member.name) {
                Some(value) => {
                    member.check(value, issues);
                    member.check_beside(view, issues);
                }
                None => match member.presence {
                    Required => issues.push(member.issue(
                        "missing_argument",
                        format!("a view of kind {} needs {}", self.name, member.name),
                    )),
                    Default(value) => view.insert(member.name, value),
                    DefaultNone => view.insert(member.name, Value::Array(Vec::new())),
                    Optional | With(_) => {}
                },
            }
        }
        if self.name == "item" {
            check_selector(view, issues);
        }
    }
}

/// The JSON Schema of a view: one of the kinds, with its members.
pub fn schema() -> serde_json::Value {
    let kinds: Vec<_> = KINDS.iter().map(Kind::schema).collect();
    serde_json::json!({
        "description": "What to select; which kinds there are of a record is its producer's to say",
        "anyOf": kinds,
    })
}

impl Kind {
    fn schema(&self) -> serde_json::Value {
        let mut properties = serde_json::Map::new();
        properties.insert("kind".to_owned(), serde_json::json!({"const": self.name}));
        let mut required = vec!["kind"];
        for member in self.members {
            let mut rule = member.rule.schema();
            match member.presence {
                Required => required.push(member.name),
                Default(value) => {
                    if let Some(rule) = rule.as_object_mut() {
                        rule.insert("default".to_owned(), value.into());
                    }
                }
                DefaultNone => {
                    if let Some(rule) = rule.as_object_mut() {
                        rule.insert("default".to_owned(), serde_json::json!([]));
                    }
                }
                Optional | With(_) => {}
            }
            properties.insert(member.name.to_owned(), rule);
        }
        serde_json::json!({
            "type": "object",
            "required": required,
            "additionalProperties": false,
            "properties": properties,
        })
    }
}

impl Rule {
    fn schema(&self) -> serde_json::Value {
        let whole = |least: u64| serde_json::json!({"type": "integer", "minimum": least, "maximum": MAX_SAFE_INTEGER});
        match self {
            Word(words) => serde_json::json!({"enum": words}),
            Offset => whole(0),
            Limit => whole(1),
            Rule::Text => serde_json::json!({"type": "string"}),
            Texts => serde_json::json!({"type": "array", "items": {"type": "string"}}),
            Rule::TemplateRules => {
                let optional = template::Rule::OPTIONAL.map(template::Rule::as_str);
                serde_json::json!({
                    "type": "array", "uniqueItems": true, "items": {"enum": optional}
                })
            }
            Selector => serde_json::json!({
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
                "properties": {
                    "index": whole(0),
                    "name": {"type": "string"},
                    "path": {"type": "string"},
                    "node_id": {"type": "string"},
                },
            }),
        }
    }
}

impl Member {
    fn issue(&self, reason: &'static str, message: String) -> Issue {
        let issue = Issue::new(&["view", self.name], reason, message);
        match &self.rule {
            Word(words) => issue.expected(Value::Array(
                words.iter().map(|&word| word.into()).collect(),
            )),
            Offset => issue.range(0, None),
            Limit => issue.range(1, None),
            Rule::Text => issue.expected("a string"),
            Texts => issue.expected("an array of strings"),
            Rule::TemplateRules => issue.expected(Value::Array(
                template::Rule::OPTIONAL
                    .iter()
                    .map(|rule| rule.as_str().into())
                    .collect(),
            )),
            Selector => issue.expected("an object with one of index, name, path, node_id"),
        }
    }

    fn check(&self, value: &Value, issues: &mut Vec<Issue>) {
        let wrong = match (&self.rule, value) {
            (Word(words), Value::String(text)) => {
                let known = words.iter().any(|word| *text == **word);
                (!known).then_some(("invalid_value", "is none of the known ones"))
            }
            (Word(_) | Rule::Text, value) if !matches!(value, Value::String(_)) => {
                Some(("invalid_type", "must be a string"))
            }
            (Offset, value) => number(value, 0),
            (Limit, value) => number(value, 1),
            (Rule::TemplateRules, Value::Array(items)) => template_rules(items),
            (Rule::TemplateRules, _) => Some(("invalid_type", "must be an array of strings")),
            (Texts, Value::Array(items)) => {
                let strings = items.iter().all(|item| matches!(item, Value::String(_)));
                (!strings).then_some(("invalid_type", "must hold strings only"))
            }
            (Texts, _) => Some(("invalid_type", "must be an array of strings")),
            (Selector, Value::Object(_)) => None,
            (Selector, _) => Some(("invalid_type", "must be an object")),
            _ => None,
        };
        if let Some((reason, what)) = wrong {
            issues.push(self.issue(reason, format!("{} {what}", self.name)));
        }
    }

    fn check_beside(&self, view: &Object, issues: &mut Vec<Issue>) {
        let With(collections) = self.presence else {
            return;
        };
        let collection = view.get("collection").and_then(Value::as_str);
        if collection.is_none_or(|collection| !collections.contains(&collection)) {
            let message = format!(
                "{} selects from {} only",
                self.name,
                collections.join(" and ")
            );
            issues.push(Issue::new(&["view", self.name], "invalid_value", message));
        }
    }
}

fn number(value: &Value, least: u64) -> Option<(&'static str, &'static str)> {
    match *value {
        Value::Number(value) if value.fract() != 0.0 => {
            Some(("invalid_type", "must be a whole number"))
        }
        Value::Number(value) if value < least as f64 || value > MAX_SAFE_INTEGER as f64 => {
            Some(("out_of_range", "is too small or too large"))
        }
        Value::Number(_) => None,
        _ => Some(("invalid_type", "must be a whole number")),
    }
}

/// Modules are selected by path or id, relocations by place, all others by
/// place or name.
fn check_selector(view: &Object, issues: &mut Vec<Issue>) {
    let Some(Value::Object(selector)) = view.get("selector") else {
        return;
    };
    let names: &[&str] = match view.get("collection").and_then(Value::as_str) {
        Some(MODULES) => &["path", "node_id"],
        Some("relocations") => &["index"],
        _ => &["index", "name"],
    };
    let mut members = selector.iter();
    let fits = match (members.next(), members.next()) {
        (Some((name, value)), None) => {
            let known = names.iter().any(|known| *name == **known);
            let typed = match value {
                Value::String(text) => {
                    *name != *"index" && (*name != *"node_id" || is_node_id(text.as_bytes()))
                }
                value => *name == *"index" && number(value, 0).is_none(),
            };
            known && typed
        }
        _ => false,
    };
    if !fits {
        let message = match names {
            [name] => format!("only {name} selects an item here"),
            _ => format!(
                "exactly one of {} selects an item here",
                names.join(" and ")
            ),
        };
        let expected = Value::Array(names.iter().map(|&name| name.into()).collect());
        issues.push(Issue::new(&["view", "selector"], "invalid_value", message).expected(expected));
    }
}

fn template_rules(items: &[Value]) -> Option<(&'static str, &'static str)> {
    let mut seen = Vec::new();
    for item in items {
        let Value::String(name) = item else {
            return Some(("invalid_type", "must hold strings only"));
        };
        let known = template::Rule::OPTIONAL
            .iter()
            .any(|rule| *name == *rule.as_str());
        if !known {
            return Some(("invalid_value", "names a rule that cannot be asked for"));
        }
        if seen.contains(&name) {
            return Some(("invalid_value", "names a rule twice"));
        }
        seen.push(name);
    }
    None
}

fn is_node_id(text: &[u8]) -> bool {
    text.strip_prefix(b"jag_node_")
        .is_some_and(|digits| crate::digest::Digest::from_hex(digits).is_some())
}
