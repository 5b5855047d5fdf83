//! The compact profile.

use serde_json::{Map, Value, json};

use super::{COMPACT_BYTES, COMPACT_LEVELS, depth, each_inner};

/// What is guidance, not form.
const GUIDANCE: [&str; 4] = ["description", "examples", "default", "title"];
const REDUCED: &str = " (The form shown is reduced; the server checks the complete one.)";

/// The compact form of a flat schema.
pub(super) fn compact(mut schema: Value) -> Value {
    let complete = schema.clone();
    strip(&mut schema, true);
    if fits(&schema) {
        return schema;
    }
    let reduced = reduce(&complete);
    if fits(&reduced) {
        return reduced;
    }
    json!({"type": "object", "description": describe(&complete)})
}

fn fits(schema: &Value) -> bool {
    schema.to_string().len() <= COMPACT_BYTES && depth(schema) <= COMPACT_LEVELS
}

fn strip(schema: &mut Value, root: bool) {
    if let Some(members) = schema.as_object_mut() {
        for keyword in GUIDANCE {
            if !(root && keyword == "description") {
                members.remove(keyword);
            }
        }
        members.remove("format");
        members.remove("$schema");
    }
    each_inner(schema, &mut |inner| strip(inner, false));
}

fn describe(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    format!("{}{REDUCED}", text.unwrap_or_default())
}

fn reduce(schema: &Value) -> Value {
    let mut properties = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let mut reduced = Map::new();
        let types = types(property);
        match types.as_slice() {
            [] => {}
            [one] => {
                reduced.insert("type".to_owned(), one.clone());
            }
            _ => {
                reduced.insert("type".to_owned(), Value::Array(types));
            }
        }
        if let Some(text) = property.get("description") {
            reduced.insert("description".to_owned(), text.clone());
        }
        properties.insert(name.clone(), Value::Object(reduced));
    }
    let mut reduced = json!({"type": "object", "description": describe(schema)});
    if let Some(members) = reduced.as_object_mut() {
        members.insert("properties".to_owned(), Value::Object(properties));
        for keyword in ["required", "minProperties"] {
            if let Some(value) = schema.get(keyword) {
                members.insert(keyword.to_owned(), value.clone());
            }
        }
        if schema["additionalProperties"] == false {
            members.insert("additionalProperties".to_owned(), json!(false));
        }
    }
    reduced
}

fn types(schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut add = |value: &Value| {
        if !found.contains(value) {
            found.push(value.clone());
        }
    };
    match schema.get("type") {
        Some(Value::Array(all)) => all.iter().for_each(&mut add),
        Some(one) => add(one),
        None => {
            for keyword in ["anyOf", "oneOf"] {
                for branch in schema[keyword].as_array().into_iter().flatten() {
                    types(branch).iter().for_each(&mut add);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_goes_and_data_stays() {
        let schema = json!({
            "type": "object", "title": "x", "description": "root", "examples": [1],
            "properties": {
                "description": {"type": "string", "description": "text", "default": "a",
                                "enum": ["title", "default"]},
                "deep": {"type": "array", "items": {"type": "string", "title": "y"}}
            }
        });
        assert_eq!(
            compact(schema),
            json!({
                "type": "object", "description": "root",
                "properties": {
                    "description": {"type": "string", "enum": ["title", "default"]},
                    "deep": {"type": "array", "items": {"type": "string"}}
                }
            })
        );
    }

    #[test]
    fn what_is_too_deep_or_too_long_is_reduced() {
        let mut deep = json!({"type": "string"});
        for _ in 0..8 {
            deep = json!({"type": "object", "properties": {"x": deep}});
        }
        let schema = json!({
            "type": "object", "description": "root", "required": ["a"],
            "additionalProperties": false,
            "properties": {"a": deep, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
        });
        let reduced = compact(schema);
        assert_eq!(reduced["properties"]["a"], json!({"type": "object"}));
        assert_eq!(
            reduced["properties"]["b"],
            json!({"type": ["string", "null"]})
        );
        assert_eq!(reduced["required"], json!(["a"]));
        assert!(reduced["description"].as_str().unwrap().contains("reduced"));

        let words: Vec<_> = (0..3000).map(|word| format!("word-{word}")).collect();
        let long =
            json!({"type": "object", "properties": {"a": {"type": "string", "enum": words}}});
        assert_eq!(compact(long)["properties"]["a"], json!({"type": "string"}));

        let many: Map<String, Value> = (0..2000)
            .map(|name| (format!("member-{name}"), json!({"type": "string"})))
            .collect();
        let last = compact(json!({"type": "object", "description": "root", "properties": many}));
        assert!(last.get("properties").is_none());
        assert!(fits(&last));
    }
}
