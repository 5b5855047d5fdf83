//! Operands of tools that take records: inline, retained, or the results alone.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use support::mcp::Stdio1 as Server;

const PAGES: &str = "tests/golden/compare-web-captures/in";
const SCREENS: &str = "tests/golden/compare-web-screenshots/in";
const HAR: &str = "tests/golden/web-capture/in/session.har";

/// The record of a command.
fn cli(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_rea"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn file(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn reference(record: &Value) -> Value {
    json!({"kind": "retained-evidence", "evidence_id": record["evidence_id"]})
}

#[test]
fn surfaces_are_compared_by_reference_or_as_they_are() {
    let mut server = Server::start(&[]);
    let capture = json!({"capture_path": HAR, "format": "har"});
    let record = server.succeed("inspect_web_network_capture", capture);
    let sides = json!({"left": reference(&record), "right": record});
    let compared = server.succeed("compare_api_surfaces", sides);
    assert_eq!(compared["normalized_result"]["status"], "unchanged");
    assert_eq!(compared["evidence_links"], json!([record["evidence_id"]]));
    let rules = json!({"left": record, "right": record, "template_rules": ["opaque-token"]});
    server.succeed("compare_api_surfaces", rules);
    // A record of something else is said to be one.
    let other = server.succeed("list_names", json!({"path": "/bin/true"}));
    let sides = json!({"left": record, "right": reference(&other)});
    let error = server.fail("compare_api_surfaces", sides);
    assert_eq!(error["code"], "unsupported_target");
}

#[test]
fn pages_are_compared_as_results_and_not_with_scenarios() {
    let mut server = Server::start(&[]);
    let names = ["before", "after"].map(|side| format!("{PAGES}/{side}.json"));
    let runs = ["run-1", "run-2"].map(|side| format!("{PAGES}/{side}.json"));
    let [before, after] = [&names[0], &names[1]].map(|name| file(name));
    let [run, later] = [&runs[0], &runs[1]].map(|name| file(name));
    let compared = server.succeed(
        "compare_web_captures",
        json!({"before": before, "after": after}),
    );
    assert_eq!(
        compared,
        cli(&["compare-web-captures", &names[0], &names[1]])
    );
    let scenarios = json!({"before_scenario": run, "after_scenario": later});
    let compared = server.succeed("compare_web_captures", scenarios);
    assert_eq!(compared, cli(&["compare-web-captures", &runs[0], &runs[1]]));

    for (arguments, member) in [
        (json!({}), "before"),
        (json!({"before": before}), "after"),
        (json!({"after": before}), "before"),
        (json!({"before_scenario": run}), "after_scenario"),
        (
            json!({"before": before, "after": after, "before_scenario": run}),
            "before_scenario",
        ),
        (
            json!({"before": before, "after": after, "normalization": {"rules": []}}),
            "normalization",
        ),
        (
            json!({"before": reference(&compared), "after": after}),
            "before",
        ),
    ] {
        let error = server.fail("compare_web_captures", arguments);
        assert_eq!(error["code"], "invalid_request", "{error}");
        assert_eq!(error["details"]["issues"][0]["path"][0], member, "{error}");
    }
}

#[test]
fn screenshots_are_files_or_results() {
    let mut server = Server::start(&[]);
    let paths = ["a", "b"].map(|name| format!("{SCREENS}/{name}.png"));
    let [one, other] = [&paths[0], &paths[1]].map(|path| std::fs::read(path).unwrap());
    let expected = cli(&["compare-web-screenshots", &paths[0], &paths[1]]);
    let by_path = |path: &str| json!({"kind": "file", "path": path});
    let result = |bytes: &[u8]| {
        let digest = Sha256::digest(bytes);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({
            "uri": "rea://screenshot", "media_type": "image/png", "bytes": bytes.len(),
            "sha256": hex, "data_base64": STANDARD.encode(bytes),
        })
    };
    let sides = json!({"before": by_path(&paths[0]), "after": result(&other)});
    assert_eq!(server.succeed("compare_web_screenshots", sides), expected);

    let mut lying = result(&one);
    lying["bytes"] = json!(one.len() + 1);
    let sides = json!({"before": lying, "after": result(&other)});
    let error = server.fail("compare_web_screenshots", sides);
    assert_eq!(error["code"], "evidence_integrity_mismatch");
    let small = json!({
        "before": result(&one), "after": result(&other), "maximum_pixels": 1,
    });
    let error = server.fail("compare_web_screenshots", small);
    assert_eq!(error["code"], "resource_constraint");
    assert_eq!(error["details"]["reported_limits"]["maximum"], 1);
}

#[test]
fn what_is_given_or_retained_is_verified() {
    let mut server = Server::start(&[]);
    let record = server.succeed("list_names", json!({"path": "/bin/true"}));
    let mut forged = record.clone();
    forged["confidence"] = "inferred".into();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    std::fs::write(&path, record.to_string()).unwrap();
    let missing = json!({"evidence_id": format!("ev_{}", "0".repeat(64))});
    let given = json!([
        path,
        reference(&record),
        record,
        forged,
        reference(&missing)
    ]);
    let verdicts = server.succeed("verify_evidence", json!({"evidence": given}));
    let verdicts = verdicts["result"].as_array().unwrap();
    let statuses: Vec<&str> = verdicts
        .iter()
        .map(|verdict| verdict["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        statuses,
        ["verified", "verified", "verified", "invalid", "unreadable"]
    );
    let error = server.fail("verify_evidence", json!({"evidence": ["-"]}));
    assert_eq!(error["code"], "invalid_request");
}
