//! The card of an environment (web.md section 5.3).

use super::catalog::Catalog;
use crate::json::{Object, Value};

/// Where the card is.
pub const CARD: &str = "/.well-known/agent-env.json";

/// The document at `/.well-known/agent-env.json`. Its tools are those of
/// `tools/list`.
pub fn card(name: &str, catalog: &Catalog) -> Value {
    let mut interface = Object::new();
    interface.insert("transport", "mcp");
    interface.insert("url", "/mcp");
    let tools = catalog.tools.iter().map(|tool| {
        let mut row = Object::new();
        row.insert("description", tool.description.as_str());
        row.insert("inputSchema", tool.input_schema());
        row.insert("name", tool.name.as_str());
        Value::Object(row)
    });
    let mut capabilities = Object::new();
    capabilities.insert("extensions", Value::Null);
    capabilities.insert("operations", Value::Array(Vec::new()));
    capabilities.insert("tools", Value::Array(tools.collect()));
    let mut card = Object::new();
    card.insert("additionalInterfaces", Value::Array(vec![interface.into()]));
    card.insert("capabilities", capabilities);
    card.insert("children_environments", Value::Null);
    card.insert("name", name);
    card.insert("preferredTransport", "JSONRPC");
    card.insert("protocolVersion", "1.0");
    card.insert("url", "/agentenv");
    card.into()
}
