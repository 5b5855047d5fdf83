//! Schemas as clients see them: without what some of them cannot read, and in
//! the compact profile without what a model does not need (section 10).

mod compact;
mod flat;
mod input;
mod output;

use serde_json::Value;

use super::settings::InputProfile;
use super::tool::Tool;

pub use input::without_null;
pub(super) use output::digest;
pub use output::output_schema;

/// Bytes that the compact form of one schema may have.
pub const COMPACT_BYTES: usize = 13_312;
/// Levels that the compact form of one schema may have.
pub const COMPACT_LEVELS: usize = 10;

/// The input schema of a tool under a profile. The server validates with the
/// complete one.
pub fn input_schema(tool: &Tool, profile: InputProfile) -> Value {
    let mut schema = tool.input_schema.clone();
    flat::flatten(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("description".to_owned(), tool.description.as_str().into());
    }
    match profile {
        InputProfile::Full => schema,
        InputProfile::Compact => compact::compact(schema),
    }
}

/// Levels of objects and arrays inside each other.
fn depth(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The keywords whose members are schemas by name.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// The keywords whose value is a schema.
const SINGLE: [&str; 8] = [
    "items",
    "additionalProperties",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
];
/// The keywords whose elements are schemas.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Shows `change` every schema right inside of `schema`; data is left alone.
fn each_inner(schema: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in members.iter_mut() {
        let keyword = keyword.as_str();
        if NAMED.contains(&keyword) {
            for inner in value
                .as_object_mut()
                .into_iter()
                .flat_map(|named| named.values_mut())
            {
                change(inner);
            }
        } else if SINGLE.contains(&keyword) && value.is_object() {
            change(value);
        } else if LISTS.contains(&keyword) {
            for inner in value.as_array_mut().into_iter().flatten() {
                change(inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_levels() {
        assert_eq!(depth(&serde_json::json!(1)), 0);
        assert_eq!(depth(&serde_json::json!({"a": [{}]})), 3);
    }
}
