//! The server over standard input and output, as a client sees it.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::mcp::Stdio1 as Server;
use support::zip::{Entry, Zip};

const REA: &str = env!("CARGO_BIN_EXE_rea");

fn cli(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(REA).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    let mut text = output.stdout;
    assert_eq!(text.pop(), Some(b'\n'));
    text
}

/// An archive with two members.
fn archive() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let zip = Zip::of([
        Entry::stored("a.txt", b"one"),
        Entry::stored("b/c.txt", b"two"),
    ]);
    std::fs::write(&path, zip.build()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn the_end_of_input_is_the_end() {
    assert_eq!(Server::start(&[]).end(), Some(0));
    // Also where nobody greeted.
    assert_eq!(Server::raw(&[]).end(), Some(0));
}

#[test]
fn signals_end_it_calmly() {
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let mut server = Server::start(&[]);
        let pid = rustix::process::Pid::from_child(&server.child);
        rustix::process::kill_process(pid, signal).unwrap();
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn settings_that_cannot_be_stop_the_start() {
    for (name, value) in [
        ("REA_MCP_MAX_RESPONSE_BYTES", "1e8"),
        ("REA_MCP_MAX_RESPONSE_BYTES", ""),
        ("REA_MCP_MAX_RESPONSE_BYTES", " 10485760"),
        ("REA_MCP_MAX_RESPONSE_BYTES", "1024"),
        ("REA_LOG_LEVEL", "loud"),
        ("REA_MCP_OUTPUT_SCHEMA_PROFILE", "none"),
    ] {
        let output = Command::new(REA)
            .arg("mcp")
            .env(name, value)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}={value:?}");
        assert!(output.stdout.is_empty());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(name) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_record_is_that_of_the_command_line() {
    let (_folder, path) = archive();
    let mut server = Server::start(&[]);
    let reply = server.call("inspect_artifact", json!({"path": path}));
    let expected = cli(&["inspect-artifact", &path]);
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.as_bytes(), expected);
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    assert_eq!(reply["structuredContent"], expected);
    assert_eq!(
        reply["_meta"],
        json!({"provenance": {"untrusted_content": true, "source": "analysis_target"}})
    );
    for (tool, command) in [
        ("inspect_binary_layout", "inspect-binary-layout"),
        ("list_strings", "list-strings"),
    ] {
        let reply = server.call(tool, json!({"path": "/bin/true"}));
        let text = reply["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.as_bytes(), cli(&[command, "/bin/true"]));
    }
}

#[test]
fn a_summary_is_the_view_of_the_retained_record() {
    let (_folder, path) = archive();
    let mut server = Server::start(&[]);
    let summary = server.succeed(
        "inspect_artifact",
        json!({"path": path, "detail": "summary"}),
    );
    assert_eq!(summary["operation"], "inspect_analysis_view");
    let parent = summary["normalized_result"]["parent_evidence_id"].clone();
    assert_eq!(summary["evidence_links"], json!([parent]));
    let source = json!({"kind": "retained-evidence", "evidence_id": parent});
    let view = json!({"source": source, "view": {"kind": "summary"}});
    let asked = server.succeed("inspect_analysis_view", view);
    assert_eq!(asked["evidence_id"], summary["evidence_id"]);
    // `complete` is the same as nothing.
    let complete = server.succeed(
        "inspect_artifact",
        json!({"path": path, "detail": "complete"}),
    );
    assert_eq!(complete["evidence_id"], parent);
    assert!(complete["parameters"].get("detail").is_none());
}

#[test]
fn faults_of_arguments_are_told_before_anything_is_done() {
    let mut server = Server::start(&[]);
    let error = server.fail(
        "read_bytes",
        json!({"path": "/bin/true", "lenght": 1, "length": 0}),
    );
    assert_eq!(error["code"], "invalid_request");
    assert_eq!(error["category"], "invalid_input");
    assert_eq!(error["retryable"], true);
    assert_eq!(error["recovery"]["kind"], "inspect_input_contract");
    let issues = error["details"]["issues"].as_array().unwrap();
    let mut found: Vec<_> = issues
        .iter()
        .map(|issue| format!("{} {}", issue["path"], issue["reason"].as_str().unwrap()))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            r#"["address"] missing_argument"#,
            r#"["lenght"] unknown_argument"#,
            r#"["length"] out_of_range"#
        ]
    );
    let error = server.fail("inspect_artifact", json!({"path": "-"}));
    assert_eq!(error["code"], "invalid_request");
    let error = server.fail("list_segments", json!({}));
    assert_eq!(error["code"], "target_unavailable");
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let mut server = Server::start(&[]);
    let reply = server.ask(
        "tools/call",
        json!({"name": "no_such\u{1b}", "arguments": {}}),
    );
    assert_eq!(reply["error"]["code"], -32602);
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains("tools/list") && !message.contains("no_such"));
}

/// Section 17, check 4.
#[test]
fn exactly_two_tools_lack_the_marker() {
    let mut server = Server::start(&[]);
    let listed = server.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let mut unmarked = Vec::new();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        // No tool takes this argument, so that every one refuses.
        let reply = server.call(name, json!({"approved": true}));
        assert_eq!(reply["isError"], true, "{name}");
        match reply["_meta"]["provenance"]["untrusted_content"] == true {
            true => {}
            false => unmarked.push(name.to_owned()),
        }
    }
    assert_eq!(unmarked, ["export_evidence_bundle", "record_unknown"]);
    assert!(tools.len() > 30);
}

#[test]
fn schemas_are_within_what_clients_can_read() {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }
    let mut compact = Server::start(&[]);
    let listed = compact.ask("tools/list", json!({}));
    let mut inputs = 0;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let (name, schema) = (&tool["name"], &tool["inputSchema"]);
        let size = schema.to_string().len();
        inputs += size;
        assert!(size <= 13_312 && depth(schema) <= 10, "{name}: {size}");
        for keyword in ["anyOf", "oneOf", "allOf", "$defs", "examples"] {
            assert!(schema.get(keyword).is_none(), "{name} {keyword}");
        }
        assert!(!schema.to_string().contains("\"$ref\""), "{name}");
        let id = tool["outputSchema"]["$id"].as_str().unwrap();
        assert!(id.starts_with("urn:rea:schema:"));
        jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        assert_eq!(tool["annotations"]["title"], tool["title"]);
    }
    assert!(inputs <= 256 * 1024, "{inputs}");
    let mut full = Server::start(&[("REA_MCP_INPUT_SCHEMA_PROFILE", "full")]);
    let id = full.request("tools/list", json!({}));
    let line = full.line();
    assert!(line.len() <= 1 << 20, "{}", line.len());
    assert!(line.contains(&format!("\"id\":{id}")));
    let mut off = Server::start(&[("REA_MCP_OUTPUT_SCHEMA_PROFILE", "off")]);
    let listed = off.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert!(tool.get("outputSchema").is_none());
    }
    // Both say the same of themselves but for what they show.
    let digest = |server: &mut Server| {
        let status = server.succeed("binary_session", json!({}));
        let digests = &status["result"]["server_identity"]["catalog"]["digests"];
        digests["tools_sha256"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest(&mut compact), digest(&mut full));
    assert_ne!(digest(&mut compact), digest(&mut off));
}

#[test]
fn results_are_of_the_advertised_schemas() {
    let (_folder, path) = archive();
    let mut server = Server::start(&[]);
    let listed = server.ask("tools/list", json!({}));
    let calls = [
        ("inspect_artifact", json!({"path": path})),
        (
            "inspect_artifact",
            json!({"path": path, "detail": "summary"}),
        ),
        ("demangle", json!({"names": ["_ZN3foo3barEv"]})),
        ("open_binary", json!({"path": path})),
        ("binary_session", json!({})),
        ("get_evidence_bundle", json!({})),
        ("list_unknowns", json!({})),
    ];
    for (name, arguments) in calls {
        let answer = server.succeed(name, arguments);
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        assert!(validator.is_valid(&answer), "{name}");
    }
}

#[test]
fn groups_of_availability_cover_the_catalog() {
    let mut server = Server::start(&[]);
    let names = |server: &mut Server| {
        let status = server.succeed("binary_session", json!({}));
        let groups = status["result"]["tool_availability"]["groups"].clone();
        let mut names: Vec<String> = groups
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["names"].as_array().unwrap().clone())
            .map(|name| name.as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let listed = |server: &mut Server| {
        let listed = server.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let before = listed(&mut server);
    assert_eq!(names(&mut server), before);
    server.succeed("open_binary", json!({"path": "/bin/true"}));
    assert_eq!(names(&mut server), before);
    assert_eq!(listed(&mut server), before);
    server.succeed("close_binary", json!({}));
    assert!(
        server
            .notices
            .iter()
            .all(|notice| notice["method"] != "notifications/tools/list_changed")
    );
}

#[test]
fn an_open_target_is_what_tools_without_a_path_mean() {
    let mut server = Server::start(&[]);
    let opened = server.succeed("open_binary", json!({"path": "/bin/true"}));
    assert_eq!(opened["result"]["format"], "elf");
    let expected = std::fs::read("/bin/true").unwrap();
    assert_eq!(opened["result"]["sha256"], support::sha256(&expected));
    let segments = server.succeed("list_segments", json!({}));
    assert_eq!(
        segments["subject"]["digest"]["sha256"],
        opened["result"]["sha256"]
    );
    let status = server.succeed("binary_session", json!({}));
    let status = &status["result"];
    assert_eq!(status["open"], true);
    assert_eq!(
        status["analysis_provider_binding"]["selection_source"],
        "auto-single-candidate"
    );
    assert_eq!(status["analysis_activity"]["status"], "idle");
    assert_eq!(status["analysis_provider_candidates"][0]["selected"], true);
    assert_eq!(status["server_identity"]["alignment"]["state"], "unknown");
    let version = status["server_identity"]["package"]["version"].clone();
    let asked = server.succeed(
        "binary_session",
        json!({"expected_package_version": version}),
    );
    assert_eq!(
        asked["result"]["server_identity"]["alignment"]["state"],
        "aligned"
    );
    let asked = server.succeed("binary_session", json!({"expected_package_version": "0"}));
    let alignment = &asked["result"]["server_identity"]["alignment"];
    assert_eq!(alignment["state"], "mcp_server_restart_required");
    assert_eq!(alignment["reasons"], json!(["package_version_mismatch"]));

    // Opening another one keeps the records, closing does not.
    let (_folder, path) = archive();
    let opened = server.succeed("open_binary", json!({"path": path}));
    assert_eq!(opened["result"]["kind"], "archive");
    let error = server.fail(
        "open_binary",
        json!({"path": path, "provider_id": "ghidra"}),
    );
    assert_eq!(error["code"], "capability_unavailable");
    assert_eq!(error["details"]["selection_reason"], "unknown_provider");
    let counted = |server: &mut Server| {
        let bundle = server.succeed("get_evidence_bundle", json!({"detail": "summary"}));
        bundle["result"]["records"].as_array().unwrap().len()
    };
    assert_eq!(counted(&mut server), 1);
    assert_eq!(
        server.succeed("close_binary", json!({})),
        json!({"result": null})
    );
    assert_eq!(counted(&mut server), 0);
    let status = server.succeed("binary_session", json!({}));
    assert_eq!(status["result"]["open"], false);
}

#[test]
fn what_is_retained_can_be_exported_imported_and_verified() {
    let (folder, path) = archive();
    let file = folder.path().join("bundle.json");
    let file = file.to_str().unwrap();
    let mut server = Server::start(&[]);
    let record = server.succeed("inspect_artifact", json!({"path": path}));
    let unknown = server.succeed(
        "record_unknown",
        json!({
            "question": "What is it for?", "severity": "low", "domain": "files",
            "required_authority": null, "required_confidence": "observed",
            "required_environment": null, "recommended_probes": [], "relationships": [],
            "supporting_evidence_ids": [record["evidence_id"]],
        }),
    );
    assert_eq!(unknown["result"]["revision"], 1);
    let exported = server.succeed("export_evidence_bundle", json!({"path": file}));
    assert_eq!(exported["result"]["records"], 2);
    let verified = Command::new(REA)
        .args(["verify-evidence", file])
        .output()
        .unwrap();
    assert!(verified.status.success());
    let digest = support::sha256(&std::fs::read(file).unwrap());
    assert_eq!(exported["result"]["sha256"], digest);
    // It is there, and stays as it is.
    let error = server.fail("export_evidence_bundle", json!({"path": file}));
    assert_eq!(error["details"]["reason"], "exists");
    server.succeed(
        "export_evidence_bundle",
        json!({"path": file, "overwrite": true}),
    );

    let cleared = server.succeed("reset_investigation", json!({}));
    assert_eq!(cleared["result"]["cleared_records"], 2);
    let source = json!({"kind": "retained-evidence", "evidence_id": record["evidence_id"]});
    let view = json!({"source": source, "view": {"kind": "summary"}});
    let error = server.fail("inspect_analysis_view", view.clone());
    assert_eq!(error["code"], "evidence_integrity_mismatch");
    assert_eq!(error["details"]["reason"], "missing");
    assert_eq!(error["details"]["evidence_id"], record["evidence_id"]);

    let imported = server.succeed("import_evidence_bundle", json!({"path": file}));
    assert_eq!(
        imported["result"],
        json!({"imported": 2, "total": 2, "unknowns_added": 1})
    );
    server.succeed("inspect_analysis_view", view);
    let again = server.succeed("import_evidence_bundle", json!({"path": file}));
    assert_eq!(again["result"]["imported"], 0);
    let listed = server.succeed("list_unknowns", json!({}));
    assert_eq!(listed["result"]["total"], 1);
    let updated = server.succeed(
        "update_unknown",
        json!({
            "unknown_id": unknown["result"]["unknown_id"], "expected_revision": 1,
            "status": "resolved", "severity": "low",
            "supporting_evidence_ids": [record["evidence_id"]], "contradicting_evidence_ids": [],
            "required_authority": null, "required_confidence": "observed",
            "required_environment": null, "recommended_probes": [], "relationships": [],
            "resolution": {"disposition": "verified", "rationale": "The record says it.",
                           "evidence_ids": [record["evidence_id"]]},
        }),
    );
    assert_eq!(updated["result"]["revision"], 2);
    let verdict = server.succeed(
        "verify_unknown_resolution",
        json!({"unknown_id": unknown["result"]["unknown_id"]}),
    );
    assert_eq!(verdict["result"]["truthVerified"], true);
    let conflict = json!({
        "question": "What  is it for?", "severity": "low", "domain": "files",
        "required_authority": null, "required_confidence": "observed",
        "required_environment": null, "recommended_probes": [], "relationships": [],
    });
    let error = server.fail("record_unknown", conflict);
    assert_eq!(error["code"], "revision_conflict");
}

#[test]
fn records_are_compared_by_reference_or_as_they_are() {
    let (folder, path) = archive();
    let other = folder.path().join("b.zip");
    let zip = Zip::of([Entry::stored("a.txt", b"ONE")]);
    std::fs::write(&other, zip.build()).unwrap();
    let mut server = Server::start(&[]);
    let left = server.succeed("inspect_artifact", json!({"path": path}));
    let right = server.succeed("inventory_artifact", json!({"path": other}));
    let reference =
        |record: &Value| json!({"kind": "retained-evidence", "evidence_id": record["evidence_id"]});
    let both = json!({"left": reference(&left), "right": reference(&right)});
    let retained = server.succeed("compare_artifacts", both);
    let mixed = json!({"left": left, "right": reference(&right)});
    let inline = server.succeed("compare_artifacts", mixed);
    assert_eq!(retained["evidence_id"], inline["evidence_id"]);
    assert_eq!(retained["normalized_result"]["status"], "changed");
    let mut forged = left.clone();
    forged["operation"] = "inspect_nothing".into();
    let error = server.fail(
        "compare_artifacts",
        json!({"left": forged, "right": reference(&right)}),
    );
    assert_eq!(error["code"], "invalid_request");
    let missing =
        json!({"kind": "retained-evidence", "evidence_id": format!("ev_{}", "0".repeat(64))});
    let error = server.fail(
        "compare_artifacts",
        json!({"left": missing, "right": reference(&right)}),
    );
    assert_eq!(error["details"]["reason"], "missing");
}

#[test]
fn a_comparison_without_an_answer_leaves_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outer.zip");
    let inner = Zip::of([Entry::stored("a.txt", b"one")]).build();
    let outer = Zip::of([Entry::stored("inner.zip", &inner)]);
    std::fs::write(&path, outer.build()).unwrap();
    let mut server = Server::start(&[]);
    let mut inventory = |nested| {
        let record = server.succeed(
            "inventory_artifact",
            json!({"path": path, "nested": nested}),
        );
        json!({"kind": "retained-evidence", "evidence_id": record["evidence_id"]})
    };
    // What is in the inner archive was looked at on one side only.
    let both = json!({"left": inventory("all"), "right": inventory("none")});
    let compared = server.succeed("compare_artifacts", both.clone());
    assert_eq!(
        compared["normalized_result"]["status"], "unknown",
        "{compared}"
    );
    server.succeed("compare_artifacts", both);
    let listed = server.succeed("list_unknowns", json!({"domain": "artifact-comparison"}));
    assert_eq!(listed["result"]["total"], 1);
    let unknown = &listed["result"]["items"][0]["unknown"];
    let question = unknown["question"].as_str().unwrap();
    assert!(question.contains(compared["evidence_id"].as_str().unwrap()));
    assert_eq!(unknown["scope_digest"], Value::Null);
}

/// Section 11 of views: from a reply that is too large to its last page.
#[test]
fn what_is_too_large_is_read_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    let mut text = String::new();
    for word in 0..60_000 {
        text.push_str(&format!("word number {word:08}\n\0"));
    }
    std::fs::write(&path, text).unwrap();
    let mut server = Server::start(&[]);
    let error = server.fail("list_strings", json!({"path": path}));
    assert_eq!(error["code"], "resource_constraint");
    assert_eq!(error["details"]["resource"], "transport");
    let limits = &error["details"]["reported_limits"];
    assert_eq!(limits["boundary"], "mcp-response");
    assert_eq!(limits["result_budget_bytes"], 10_484_736);
    assert!(limits["response_bytes_at_least"].as_u64().unwrap() > 10_484_736);
    let mut next = limits["continuation"].clone();
    assert_eq!(next["name"], "inspect_analysis_view");
    next["arguments"]["view"]["limit"] = 20_000.into();
    let mut rows = 0;
    loop {
        let page = server.succeed("inspect_analysis_view", next["arguments"].clone());
        let coverage = &page["normalized_result"]["coverage"];
        rows += coverage["examined"].as_u64().unwrap();
        match coverage["next_offset"].as_u64() {
            Some(offset) => next["arguments"]["view"]["offset"] = offset.into(),
            None => break,
        }
    }
    assert_eq!(rows, 60_000);
    // A page that is too large is offered at half its length.
    next["arguments"]["view"]["offset"] = 0.into();
    next["arguments"]["view"]["limit"] = 60_000.into();
    let error = server.fail("inspect_analysis_view", next["arguments"].clone());
    let half = &error["details"]["reported_limits"]["continuation"]["arguments"];
    assert_eq!(half["view"]["limit"], 30_000);
    assert_eq!(half["source"], next["arguments"]["source"]);
    // A larger buffer needs no pages.
    let mut large = Server::start(&[("REA_MCP_MAX_RESPONSE_BYTES", "104857600")]);
    let record = large.succeed("list_strings", json!({"path": path}));
    assert_eq!(
        record["normalized_result"].as_array().map(Vec::len),
        Some(60_000)
    );
}

#[test]
fn a_cancelled_call_ends_soon_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..400 {
        let sparse = std::fs::File::create(folder.path().join(format!("{file}"))).unwrap();
        sparse.set_len(1 << 30).unwrap();
    }
    let mut server = Server::start(&[]);
    let arguments = json!({"path": folder.path()});
    let params = json!({"name": "inventory_artifact", "arguments": arguments,
                        "_meta": {"progressToken": "p"}});
    let id = server.request("tools/call", params);
    // It is at work once it says so.
    let notice: Value = serde_json::from_str(&server.line()).unwrap();
    assert_eq!(notice["method"], "notifications/progress");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                           "params": {"requestId": id, "reason": "enough"}});
    server.send(&cancelled);
    let began = Instant::now();
    loop {
        let status = server.succeed("get_evidence_bundle", json!({"detail": "summary"}));
        assert_eq!(status["result"]["records"], json!([]));
        let threads = std::fs::read_dir(format!("/proc/{}/task", server.child.id()));
        let busy = threads.into_iter().flatten().flatten().filter(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit(')')
                .next()
                .unwrap_or_default()
                .trim_start()
                .starts_with('R')
        });
        if busy.count() <= 1 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn progress_only_grows_and_has_no_total() {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..8 {
        let sparse = std::fs::File::create(folder.path().join(format!("{file}"))).unwrap();
        sparse.set_len(64 << 20).unwrap();
    }
    let mut server = Server::start(&[]);
    let arguments = json!({"path": folder.path()});
    let silent = server.ask(
        "tools/call",
        json!({"name": "inventory_artifact", "arguments": arguments}),
    );
    assert!(server.notices.is_empty());
    let params = json!({"name": "inventory_artifact", "arguments": arguments,
                        "_meta": {"progressToken": 7}});
    let told = server.ask("tools/call", params);
    assert_eq!(silent["result"], told["result"]);
    let numbers: Vec<f64> = server
        .notices
        .iter()
        .map(|notice| {
            assert_eq!(notice["method"], "notifications/progress");
            assert_eq!(notice["params"]["progressToken"], 7);
            assert!(notice["params"].get("total").is_none());
            assert!(
                notice["params"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("inventory_artifact")
            );
            notice["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(
        !numbers.is_empty() && numbers.is_sorted_by(|a, b| a < b),
        "{numbers:?}"
    );
}

#[test]
fn prompts_and_completions() {
    let mut server = Server::start(&[]);
    let listed = server.ask("prompts/list", json!({}));
    let prompts = listed["result"]["prompts"].as_array().unwrap().clone();
    assert_eq!(prompts.len(), 3);
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tools: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    for prompt in &prompts {
        let arguments: serde_json::Map<_, _> = prompt["arguments"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|argument| argument["required"] == true)
            .map(|argument| {
                (
                    argument["name"].as_str().unwrap().to_owned(),
                    json!("x\n1. ignore"),
                )
            })
            .collect();
        let params = json!({"name": prompt["name"], "arguments": arguments});
        let got = server.ask("prompts/get", params);
        let text = got["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap();
        assert!(text.contains(r"x\n1. ignore") && !text.contains("x\n1. ignore"));
        // Every word that looks like a tool's name is one.
        let words = text.split(|letter: char| !(letter.is_ascii_lowercase() || letter == '_'));
        let named = words.filter(|word| word.contains('_'));
        let arguments = [
            "target_path",
            "provider_id",
            "untrusted_content",
            "left_target_path",
        ];
        for word in named {
            let known = tools.iter().any(|tool| tool == word)
                || word.ends_with("_id")
                || word.ends_with("_path")
                || word.ends_with("_scope")
                || arguments.contains(&word);
            assert!(known, "{word}");
        }
    }
    let complete = |server: &mut Server, prompt: &str, argument: &str, value: &str| {
        let params = json!({"ref": {"type": "ref/prompt", "name": prompt},
                            "argument": {"name": argument, "value": value}});
        server.ask("completion/complete", params)["result"]["completion"].clone()
    };
    let found = complete(&mut server, "investigate_feature", "provider_id", "AU");
    assert_eq!(
        found,
        json!({"values": ["auto"], "total": 1, "hasMore": false})
    );
    let nothing = complete(&mut server, "no_such", "provider_id", "");
    assert_eq!(nothing["values"], json!([]));
    let record = server.succeed("demangle", json!({"names": ["_ZN3foo3barEv"]}));
    let found = complete(&mut server, "audit_residual_unknowns", "evidence_id", "ev_");
    assert_eq!(found["values"], json!([record["evidence_id"]]));
    let long = "x".repeat(5000);
    let params = json!({"ref": {"type": "ref/prompt", "name": "investigate_feature"},
                        "argument": {"name": "provider_id", "value": long}});
    assert_eq!(
        server.ask("completion/complete", params)["error"]["code"],
        -32602
    );
}

#[test]
fn messages_are_exact_json() {
    let mut server = Server::start(&[]);
    for (text, code) in [
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0"}"#, -32600),
    ] {
        server.send_text(text);
        let told: Value = serde_json::from_str(&server.line()).unwrap();
        assert_eq!(told["error"]["code"], code, "{text}: {told}");
    }
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
}

/// A line comes in as many pieces as the pipe likes.
#[test]
fn a_message_may_come_in_pieces() {
    let mut server = Server::start(&[]);
    for round in 0..20 {
        // Something else happens meanwhile.
        let busy = server.request("tools/list", json!({}));
        let text =
            json!({"jsonrpc": "2.0", "id": format!("p{round}"), "method": "ping"}).to_string();
        for piece in text.as_bytes().chunks(7) {
            server.send_piece(piece);
            std::thread::sleep(Duration::from_millis(1));
        }
        server.send_text("");
        let pong = |message: &Value| message["id"] == format!("p{round}");
        server.reply(busy);
        while !server.notices.iter().any(pong) {
            let line = server.line();
            server.notices.push(serde_json::from_str(&line).unwrap());
        }
    }
}

#[test]
fn a_line_without_an_end_is_passed_over() {
    let mut server = Server::start(&[]);
    let piece = vec![b' '; 1 << 20];
    for _ in 0..70 {
        server.send_piece(&piece);
    }
    server.send_text("");
    let told: Value = serde_json::from_str(&server.line()).unwrap();
    assert_eq!(told["error"]["code"], -32600);
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn the_newest_revision_needs_no_session() {
    let mut server = Server::raw(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params =
        json!({"name": "demangle", "arguments": {"names": ["_ZN3foo3barEv"]}, "_meta": meta});
    let reply = server.ask("tools/call", params);
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    assert_eq!(
        reply["result"]["structuredContent"]["operation"],
        "demangle"
    );
    let params = json!({"name": "demangle", "arguments": {"names": 1}, "_meta": meta});
    let reply = server.ask("tools/call", params);
    assert_eq!(reply["result"]["isError"], true);
    assert_eq!(reply["result"]["resultType"], "complete");
}

#[test]
fn a_snapshot_is_of_one_target() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("true.snapshot");
    let (_archive, path) = archive();
    let mut server = Server::start(&[]);
    server.succeed("inspect_artifact", json!({"path": path}));
    server.succeed("open_binary", json!({"path": "/bin/true"}));
    let record = server.succeed("list_segments", json!({}));
    server.succeed("close_binary", json!({"snapshot_path": file}));
    let text: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let kept = text["evidence_bundle"]["records"].as_array().unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["evidence_id"], record["evidence_id"]);
    server.succeed(
        "open_binary",
        json!({"path": "/bin/true", "snapshot_path": file}),
    );
    let bundle = server.succeed("get_evidence_bundle", json!({"detail": "summary"}));
    assert_eq!(
        bundle["result"]["records"].as_array().map(Vec::len),
        Some(1)
    );
    let error = server.fail(
        "open_binary",
        json!({"path": "/bin/false", "snapshot_path": file}),
    );
    assert_eq!(error["code"], "evidence_integrity_mismatch");
    // What failed left the target as it was.
    let status = server.succeed("binary_session", json!({}));
    assert!(status["result"]["path"].as_str().unwrap().ends_with("true"));
}

#[test]
fn resources_are_looked_at_without_a_program() {
    let app = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/inspect-plist/in/App.app"
    );
    let mut server = Server::start(&[]);
    server.succeed("open_bundle_resources", json!({"path": app}));
    let list = server.succeed("inspect_plist", json!({}));
    assert_eq!(list["operation"], "inspect_plist");
    let named = server.succeed(
        "inspect_plist",
        json!({"relative_path": "Contents/Info.plist"}),
    );
    assert_eq!(
        named["normalized_result"]["value"],
        list["normalized_result"]["value"]
    );
    let error = server.fail("list_segments", json!({}));
    assert_eq!(error["code"], "target_unavailable");
    let status = server.succeed("binary_session", json!({}));
    assert_eq!(status["result"]["session_kind"], "bundle_resources");
    assert_eq!(status["result"]["analysis_provider_binding"], Value::Null);
}

#[test]
fn extraction_says_where_it_wrote() {
    let (folder, path) = archive();
    let into = folder.path().join("out");
    let mut server = Server::start(&[]);
    let arguments = json!({"path": path, "logical_paths": ["b/c.txt"], "into": into});
    let reply = server.call("extract_artifact", arguments);
    assert!(reply["isError"].is_null(), "{reply}");
    assert_eq!(reply["_meta"]["rea"]["output_root"], into.to_str().unwrap());
    assert_eq!(std::fs::read(into.join("b/c.txt")).unwrap(), b"two");
    assert!(!into.join("a.txt").exists());
    let error = server.fail(
        "extract_artifact",
        json!({"path": path, "logical_paths": ["x*"], "into": folder.path().join("o2")}),
    );
    assert_eq!(error["code"], "invalid_request");
}
