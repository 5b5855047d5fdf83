//! How large the list of tools is, as a client reads it over stdio.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The tools that a server lists under the given profiles.
fn tools(input: &str, output: &str) -> Vec<Value> {
    let mut server = Command::new(env!("CARGO_BIN_EXE_rea"))
        .arg("mcp")
        .env("REA_MCP_INPUT_SCHEMA_PROFILE", input)
        .env("REA_MCP_OUTPUT_SCHEMA_PROFILE", output)
        .env("REA_LOG_LEVEL", "silent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let client = json!({"name": "test", "version": "1"});
    let first = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": first}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let mut stdin = server.stdin.take().unwrap();
    for message in messages {
        writeln!(stdin, "{message}").unwrap();
    }
    drop(stdin);
    let said = server.wait_with_output().unwrap();
    assert!(said.status.success());
    let replies = String::from_utf8(said.stdout).unwrap();
    let mut replies = replies
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let listed = replies.find(|reply| reply["id"] == 2).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() > 20, "{} tools", tools.len());
    tools
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn the_compact_catalog_is_small() {
    let tools = tools("compact", "off");
    for tool in &tools {
        let schema = &tool["inputSchema"];
        let bytes = schema.to_string().len();
        assert!(bytes <= 13_312, "{}: {bytes} bytes", tool["name"]);
        let levels = levels(schema);
        assert!(levels <= 10, "{}: {levels} levels", tool["name"]);
        assert!(tool.get("outputSchema").is_none());
    }
    let bytes = Value::from(tools).to_string().len();
    assert!(bytes <= 256 << 10, "{bytes} bytes");
}

#[test]
fn the_full_catalog_is_bounded() {
    let tools = tools("full", "full");
    assert!(tools.iter().all(|tool| tool["outputSchema"].is_object()));
    let bytes = Value::from(tools).to_string().len();
    assert!(bytes <= 1 << 20, "{bytes} bytes");
}
