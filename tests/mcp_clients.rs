//! What a client reads over stdio: how large the list of tools is, and answers
//! of tools that differ from their commands.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The replies of a server to requests, by their place, from 0 on.
fn replies(requests: &[(&str, Value)], environment: &[(&str, &str)]) -> Vec<Value> {
    let mut server = Command::new(env!("CARGO_BIN_EXE_rea"))
        .arg("mcp")
        .envs(environment.iter().copied())
        .env("REA_LOG_LEVEL", "silent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let client = json!({"name": "test", "version": "1"});
    let first = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let mut stdin = server.stdin.take().unwrap();
    let mut send = |message: Value| writeln!(stdin, "{message}").unwrap();
    send(json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": first}));
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (id, (method, params)) in requests.iter().enumerate() {
        send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }
    drop(stdin);
    let said = server.wait_with_output().unwrap();
    assert!(said.status.success());
    let mut replies: Vec<Value> = String::from_utf8(said.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|reply| reply["id"].is_u64())
        .collect();
    replies.sort_by_key(|reply| reply["id"].as_u64());
    assert_eq!(replies.len(), requests.len());
    replies
}

/// The tools that a server lists under the given profiles.
fn tools(input: &str, output: &str) -> Vec<Value> {
    let environment = [
        ("REA_MCP_INPUT_SCHEMA_PROFILE", input),
        ("REA_MCP_OUTPUT_SCHEMA_PROFILE", output),
    ];
    let listed = replies(&[("tools/list", json!({}))], &environment);
    let tools = listed[0]["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() > 20, "{} tools", tools.len());
    tools
}

fn call(tool: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": tool, "arguments": arguments}))
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

#[test]
fn lists_have_a_summary() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pe/sample.dll");
    let arguments = json!({"path": path, "detail": "summary"});
    // What `objdump -p` says of the file: 2 exports, 4 imported symbols.
    let asked = [
        call("list_names", arguments.clone()),
        call("list_strings", arguments),
    ];
    let said = replies(&asked, &[]);
    let view = &said[0]["result"]["structuredContent"]["normalized_result"];
    assert_eq!(view["summary"]["row_count"], 6, "{}", said[0]);
    assert_eq!(view["summary"]["provider"]["id"], "rea-native-bytes");
    assert_eq!(view["summary"]["query"]["detail"], Value::Null);
    assert_eq!(view["coverage"]["status"], "complete-within-view");
    let view = &said[1]["result"]["structuredContent"]["normalized_result"];
    assert!(view["summary"]["row_count"].is_u64(), "{}", said[1]);
}

#[test]
fn bundles_are_compared_whole() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.json");
    let made = Command::new(env!("CARGO_BIN_EXE_rea"))
        .args(["bundle", "--empty", "-o"])
        .arg(&bundle)
        .output()
        .unwrap();
    assert!(made.status.success());
    let arguments = json!({"left_bundle_path": bundle, "right_bundle_path": bundle});
    let said = replies(&[call("compare_bundles", arguments)], &[]);
    let result = &said[0]["result"]["structuredContent"]["result"];
    assert_eq!(result["status"], "unchanged", "{}", said[0]);
    assert_eq!(result["changes"]["next_offset"], Value::Null);
}
