//! Schemas of arguments, as a tool is given them.

use serde_json::Value;

use super::each_inner;

/// Takes `null` from the members of objects that need not be there: what may be
/// left out is left out, and clients can show one type.
pub fn without_null(schema: &mut Value) {
    let required = schema.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if !required.iter().any(|needed| needed == name) {
            take_null(property);
        }
    }
    each_inner(schema, &mut without_null);
}

fn take_null(property: &mut Value) {
    let Some(members) = property.as_object_mut() else {
        return;
    };
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        choices.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(one)] = &choices[..] {
            let one = one.clone();
            members.remove("anyOf");
            for (keyword, value) in one {
                members.entry(keyword).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_may_be_left_out_is_not_null() {
        let inner = json!({
            "type": "object",
            "required": ["b"],
            "properties": {
                "a": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
                "b": {"type": ["string", "null"]}
            }
        });
        let mut schema = json!({
            "required": ["authority"],
            "properties": {
                "authority": {"anyOf": [{"$ref": "#/$defs/Authority"}, {"type": "null"}]},
                "inner": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}], "default": null},
                "name": {"type": ["string", "null"], "description": "What for", "default": null}
            },
            "$defs": {"Inner": inner}
        });
        let authority = schema["properties"]["authority"].clone();
        without_null(&mut schema);
        let properties = &schema["properties"];
        assert_eq!(properties["authority"], authority);
        assert_eq!(properties["inner"], json!({"$ref": "#/$defs/Inner"}));
        assert_eq!(
            properties["name"],
            json!({"type": "string", "description": "What for"})
        );
        let inner = &schema["$defs"]["Inner"]["properties"];
        assert_eq!(
            inner["a"],
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})
        );
        assert_eq!(inner["b"], json!({"type": ["string", "null"]}));
    }
}
