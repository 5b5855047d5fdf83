//! What all profiles have in common: no references, no choice at the root.

use serde_json::{Map, Value, json};

use super::each_inner;

/// References that are written out before it is given up.
const EXPANSIONS: usize = 32;

/// Writes references out and makes one object of a choice at the root.
pub(super) fn flatten(schema: &mut Value) {
    let definitions = take_definitions(schema);
    let mut budget = EXPANSIONS;
    expand(schema, &definitions, &mut budget, 0);
    flatten_root(schema);
    each(schema, &mut relax);
    if let Some(root) = schema.as_object_mut() {
        root.remove("dependentRequired");
        root.remove("dependencies");
    }
}

fn take_definitions(schema: &mut Value) -> Map<String, Value> {
    let mut all = Map::new();
    if let Some(root) = schema.as_object_mut() {
        for keyword in ["$defs", "definitions"] {
            if let Some(Value::Object(found)) = root.remove(keyword) {
                all.extend(found);
            }
        }
    }
    all
}

fn expand(schema: &mut Value, definitions: &Map<String, Value>, budget: &mut usize, level: usize) {
    let name = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.rsplit('/').next())
        .map(str::to_owned);
    if let (Some(name), Some(members)) = (name, schema.as_object_mut()) {
        members.remove("$ref");
        // A definition that holds itself, or too many of them: any value, which
        // the server still checks.
        if *budget > 0
            && level < EXPANSIONS
            && let Some(Value::Object(found)) = definitions.get(&name)
        {
            *budget -= 1;
            for (keyword, value) in found {
                members
                    .entry(keyword.clone())
                    .or_insert_with(|| value.clone());
            }
        }
    }
    each_inner(schema, &mut |inner| {
        expand(inner, definitions, budget, level + 1)
    });
}

fn flatten_root(schema: &mut Value) {
    let Some(root) = schema.as_object_mut() else {
        return;
    };
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(branches)) = root.remove(keyword) else {
            continue;
        };
        let all = keyword == "allOf";
        let mut shared: Option<Vec<Value>> = None;
        let mut groups = Vec::new();
        let mut properties = match root.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        for branch in &branches {
            if let Some(Value::Object(own)) = branch.get("properties") {
                for (name, value) in own {
                    merge(&mut properties, name, value);
                }
            }
            let required = branch.get("required").and_then(Value::as_array).cloned();
            let required = required.unwrap_or_default();
            let names: Vec<_> = required.iter().filter_map(Value::as_str).collect();
            groups.push(names.join(", "));
            shared = Some(match shared {
                None => required,
                Some(shared) if all => {
                    let more = required.into_iter().filter(|name| !shared.contains(name));
                    let more: Vec<_> = more.collect();
                    shared.into_iter().chain(more).collect()
                }
                Some(shared) => shared
                    .into_iter()
                    .filter(|name| required.contains(name))
                    .collect(),
            });
        }
        root.insert("properties".to_owned(), Value::Object(properties));
        root.insert("type".to_owned(), json!("object"));
        let required = root.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            for name in shared.unwrap_or_default() {
                if !required.contains(&name) {
                    required.push(name);
                }
            }
        }
        if !all {
            let text = root
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let text = format!(
                "{text} One of these groups of arguments: {}.",
                groups.join("; ")
            );
            root.insert("description".to_owned(), text.trim().into());
        }
    }
}

/// Adds a property; one that is there and differs becomes a choice.
fn merge(properties: &mut Map<String, Value>, name: &str, value: &Value) {
    let Some(there) = properties.get_mut(name) else {
        properties.insert(name.to_owned(), value.clone());
        return;
    };
    if there == value {
        return;
    }
    match there.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(choices) if !choices.contains(value) => choices.push(value.clone()),
        Some(_) => {}
        None => *there = json!({"anyOf": [there.clone(), value.clone()]}),
    }
}

fn each(schema: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    each_inner(schema, &mut |inner| each(inner, change));
    change(schema);
}

/// Some clients read no boolean constants.
fn relax(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    if members.get("const").is_some_and(Value::is_boolean) {
        members.remove("const");
        members.insert("type".to_owned(), json!("boolean"));
    }
    for keyword in ["if", "then", "else"] {
        members.remove(keyword);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_written_out_and_end() {
        let mut schema = json!({
            "$defs": {
                "Id": {"type": "string", "pattern": "^x$"},
                "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}
            },
            "type": "object",
            "properties": {
                "id": {"$ref": "#/$defs/Id", "description": "mine"},
                "tree": {"$ref": "#/$defs/Tree"},
                "$ref": {"type": "string"}
            }
        });
        flatten(&mut schema);
        let text = schema.to_string();
        assert!(!text.contains("$defs"));
        assert_eq!(schema["properties"]["id"]["pattern"], "^x$");
        assert_eq!(schema["properties"]["id"]["description"], "mine");
        assert_eq!(schema["properties"]["$ref"]["type"], "string");
    }

    #[test]
    fn a_choice_at_the_root_becomes_one_object() {
        let mut schema = json!({
            "description": "Does it.",
            "oneOf": [
                {"type": "object", "required": ["kind", "id"],
                 "properties": {"kind": {"const": "a"}, "id": {"type": "string"}}},
                {"type": "object", "required": ["kind", "path"],
                 "properties": {"kind": {"const": "b"}, "path": {"type": "string"}}}
            ]
        });
        flatten(&mut schema);
        assert!(schema.get("oneOf").is_none());
        assert_eq!(schema["required"], json!(["kind"]));
        assert_eq!(
            schema["properties"]["kind"],
            json!({"anyOf": [{"const": "a"}, {"const": "b"}]})
        );
        assert!(
            schema["description"]
                .as_str()
                .unwrap()
                .contains("kind, id; kind, path")
        );
    }

    #[test]
    fn boolean_constants_are_booleans() {
        let mut schema = json!({"properties": {"yes": {"const": true}, "one": {"const": 1}}});
        flatten(&mut schema);
        assert_eq!(schema["properties"]["yes"], json!({"type": "boolean"}));
        assert_eq!(schema["properties"]["one"], json!({"const": 1}));
    }
}
