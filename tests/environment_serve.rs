//! `rea environment-serve` by raw sockets: its routes and replies (web.md sections
//! 5.2 to 5.7). `tests/environment.rs` has the rules that need no socket, and
//! `tests/environment_process.rs` those of the process.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::fs;

use serde_json::{Value, json};
use support::environment::{CARD, ask, card, grafana, made, plain, recorded, vector, wait_for};
use support::mcp::{Http, Raw, greeting, post};

#[test]
fn three_routes_and_no_other() {
    let server = grafana().serve();
    let ask = |method: &str, target: &str| {
        let answer = server.exchange(&plain(method, target, ""));
        (answer.status, answer.closes())
    };
    assert_eq!(ask("GET", "/.well-known/agent-env.json"), (200, false));
    assert_eq!(
        ask("GET", "/.well-known/agent-env.json?x=%23"),
        (200, false)
    );
    assert_eq!(ask("POST", "/agentenv"), (400, false));
    for (target, only) in [
        ("/.well-known/agent-env.json", "GET"),
        ("/agentenv", "POST"),
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            if method != only {
                let answer = server.exchange(&plain(method, target, ""));
                assert_eq!(
                    (answer.status, answer.closes()),
                    (405, true),
                    "{method} {target}"
                );
                assert_eq!(answer.header("allow"), Some(only));
            }
        }
        assert_eq!(ask("TRACE", target), (405, true));
    }
    for target in [
        "/",
        "/agentenv/",
        "/AgentEnv",
        "//agentenv",
        "/.well-known/agent-env",
        "/.well-known/agent%2Denv.json",
        "/mcp/",
    ] {
        assert_eq!(ask("GET", target), (404, true), "{target}");
    }
    for target in [
        "/x/../agentenv",
        "/%2e/agentenv",
        "http://localhost/agentenv",
        "/agentenv#x",
    ] {
        assert_eq!(ask("POST", target), (400, true), "{target}");
    }
}

#[test]
fn the_card_is_what_tools_list_lists() {
    for har in ["grafana.har", "edge-cases.har"] {
        let made = made(&vector(har));
        let server = made.serve();
        let card = card(&server);
        let members: Vec<&str> = card
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            members,
            [
                "additionalInterfaces",
                "capabilities",
                "children_environments",
                "name",
                "preferredTransport",
                "protocolVersion",
                "url"
            ]
        );
        let mut rest = card.clone();
        let in_card = rest["capabilities"]["tools"].take();
        let interfaces = json!([{"url": "/mcp", "transport": "mcp"}]);
        assert_eq!(
            rest,
            json!({
                "name": rest["name"], "protocolVersion": "1.0", "url": "/agentenv",
                "preferredTransport": "JSONRPC", "additionalInterfaces": interfaces,
                "capabilities": {"extensions": null, "tools": null, "operations": []},
                "children_environments": null,
            })
        );
        let session = server.begin();
        let listed = ask(&server, &session, "tools/list", json!({}));
        let listed = listed["result"]["tools"].as_array().unwrap();
        let shown: Vec<Value> = listed
            .iter()
            .map(|tool| {
                json!({
                    "name": tool["name"], "description": tool["description"],
                    "inputSchema": tool["inputSchema"],
                })
            })
            .collect();
        assert_eq!(in_card, Value::Array(shown));
        // One tool for each of the manifest's, and nothing of a session.
        let manifest: Value = serde_json::from_slice(&fs::read(made.manifest()).unwrap()).unwrap();
        let tools = &manifest["normalized_result"]["manifest"]["tools"];
        let names = |tools: &[Value]| {
            tools
                .iter()
                .map(|tool| tool["name"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(listed), names(tools.as_array().unwrap()));
        for tool in listed {
            let description = tool["description"].as_str().unwrap();
            assert!(description.starts_with(rea::environment::WARNING));
        }
    }
}

#[test]
fn a_client_is_told_what_this_is_and_gets_nothing_else() {
    let server = grafana().serve();
    let told = server.post(None, &greeting(1));
    let session = told.header("mcp-session-id").unwrap().to_owned();
    let told = told.message()["result"].clone();
    assert_eq!(told["capabilities"], json!({"tools": {}}));
    assert_eq!(told["instructions"], rea::environment::INSTRUCTIONS);
    for method in ["prompts/list", "resources/list", "completion/complete"] {
        let params = match method {
            "completion/complete" => json!({
                "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": ""},
            }),
            _ => json!({}),
        };
        let told = ask(&server, &session, method, params);
        assert!(
            told["error"]["code"] == -32601 || told["result"]["completion"]["values"] == json!([]),
            "{told}"
        );
    }
    // What is no tool is an error of the protocol that repeats nothing.
    for name in ["binary_session", "no_such_tool", "environment_serve"] {
        let told = ask(
            &server,
            &session,
            "tools/call",
            json!({"name": name, "arguments": {}}),
        );
        assert_eq!(told["error"]["code"], -32602, "{told}");
        let message = told["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("tools/list") && !message.contains(name),
            "{message}"
        );
    }
}

#[test]
fn json_rpc_has_no_operations() {
    let server = grafana().serve();
    let said = |body: &str| {
        let answer = server.exchange(&plain("POST", "/agentenv", body));
        assert!(!answer.closes());
        let told = match answer.body.is_empty() {
            true => Value::Null,
            false => {
                assert_eq!(answer.header("content-type"), Some("application/json"));
                serde_json::from_slice(&answer.body).unwrap()
            }
        };
        (answer.status, told)
    };
    let error = |code: i32, message: &str, id: Value| json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": id});
    let missing = |id: Value| error(-32601, "method not found: m", id);
    let invalid = || error(-32600, "invalid request", Value::Null);
    let call = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
    for body in ["", "x", "{", r#"{"a":1,"a":1}"#, "{} {}"] {
        let (status, told) = said(body);
        assert_eq!(
            (status, &told["error"]["code"]),
            (400, &json!(-32700)),
            "{body}"
        );
        assert_eq!(told["id"], Value::Null);
    }
    assert_eq!(said(&call("1")), (200, missing(json!(1))));
    assert_eq!(said(&call("\"a\"")), (200, missing(json!("a"))));
    assert_eq!(said(&call("null")), (200, missing(Value::Null)));
    assert_eq!(
        said(&call("9007199254740991")),
        (200, missing(json!(9_007_199_254_740_991_u64)))
    );
    for id in [
        "9007199254740992",
        "9007199254740993",
        "-1e300",
        "0.30000000000000000001",
        "[]",
        "true",
    ] {
        assert_eq!(said(&call(id)), (200, invalid()), "{id}");
    }
    let notice = r#"{"jsonrpc":"2.0","method":"m"}"#;
    assert_eq!(said(notice), (202, Value::Null));
    assert_eq!(said(&format!("[{notice}]")), (202, Value::Null));
    let batch = format!("[{},{notice},{},7]", call("1"), call("\"b\""));
    let replies = json!([missing(json!(1)), missing(json!("b")), invalid()]);
    assert_eq!(said(&batch), (200, replies));
    assert_eq!(said("[]"), (200, invalid()));
    let many = |count: usize| format!("[{}]", vec![notice; count].join(","));
    assert_eq!(said(&many(100)), (202, Value::Null));
    assert_eq!(said(&many(101)), (200, invalid()));
    let params = r#"{"jsonrpc":"2.0","method":"m","id":1,"params":7}"#;
    assert_eq!(said(params), (200, invalid()));
}

#[test]
fn bodies_of_plain_routes_are_bounded() {
    let server = grafana().serve();
    let most = 4 << 20;
    let full = format!("{}1", " ".repeat(most - 1));
    let answer = server.exchange(&plain("POST", "/agentenv", &full));
    assert_eq!(answer.status, 200);
    // Nothing is read of what says that it is longer, and no more than that of
    // what does not say it.
    let head = format!(
        "POST /agentenv HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        most + 1
    );
    let mut connection = server.connect();
    connection.write(head.as_bytes());
    let refused = connection.answer();
    let mut connection = server.connect();
    connection
        .write(b"POST /agentenv HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..5 {
        connection.write(b"100000\r\n");
        connection.write(&vec![b'['; 1 << 20]);
        connection.write(b"\r\n");
    }
    for answer in [refused, connection.answer()] {
        assert_eq!((answer.status, answer.closes()), (413, true));
        let told: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(
            (&told["error"]["code"], &told["id"]),
            (&json!(-32000), &Value::Null)
        );
    }
    let head = head.replace("POST /agentenv", "GET /.well-known/agent-env.json");
    let mut connection = server.connect();
    connection.write(head.as_bytes());
    assert_eq!(connection.answer().status, 413);
}

#[test]
fn calls_are_answered_as_the_vectors_say() {
    for name in ["grafana", "edge-cases"] {
        let server = made(&vector(&format!("{name}.har"))).serve();
        let session = server.begin();
        let expected = fs::read(vector(&format!("{name}.expected.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        for replay in expected["replay"].as_array().unwrap() {
            let tool = replay["tool"].as_str().unwrap();
            let result = server.call(&session, tool, replay["arguments"].clone());
            assert_eq!(result["_meta"]["provenance"], provenance());
            assert_eq!(result.get("isError"), None);
            let text = result["content"][0]["text"].as_str().unwrap();
            let mut said: Value = serde_json::from_str(text).unwrap();
            assert_eq!(said, result["structuredContent"]);
            let mut wanted = replay["result"].clone();
            wanted["replay"]["evidence_id"] = said["replay"]["evidence_id"].clone();
            assert_eq!(said, wanted, "{tool} {}", replay["arguments"]);
            said["replay"]["evidence_id"].take();
        }
    }
}

fn provenance() -> Value {
    json!({"untrusted_content": true, "source": "analysis_target"})
}

#[test]
fn arguments_that_are_refused_are_marked_too() {
    let server = grafana().serve();
    let session = server.begin();
    for (arguments, at, reason) in [
        (json!({}), "id", "missing_argument"),
        (json!({"id": 2}), "id", "invalid_type"),
        (
            json!({"id": "2", "constructor": "x"}),
            "constructor",
            "unknown_argument",
        ),
    ] {
        let result = server.call(&session, "get_users_by_id", arguments);
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
        assert_eq!(result["_meta"]["provenance"], provenance());
        let text = result["content"][0]["text"].as_str().unwrap();
        let error = serde_json::from_str::<Value>(text).unwrap()["error"].clone();
        assert_eq!(error["code"], "invalid_request");
        let issue = &error["details"]["issues"][0];
        assert_eq!(
            (&issue["path"], &issue["reason"]),
            (&json!([at]), &json!(reason))
        );
    }
    // Names of millions of bytes are not told back, nor thousands of them.
    let long = json!({"id": "2", "x".repeat(1 << 20): 1});
    let many: serde_json::Map<_, _> = (0..5000).map(|at| (format!("a{at}"), json!(1))).collect();
    for arguments in [long, many.into()] {
        let result = server.call(&session, "get_users_by_id", arguments);
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().len() < 16 << 10);
    }
}

/// The largest reply that there can be: control characters, each of which is
/// six in JSON, and all of it twice.
#[test]
fn the_largest_reply_is_sent() {
    let body = "\u{1}".repeat(rea::environment::BODY + 1);
    let server = recorded(&[("https://a.example/x", "text/html", &body)]).serve();
    let session = server.begin();
    let result = server.call(&session, "get_x", json!({}));
    let reply = &result["structuredContent"];
    assert_eq!(reply["replay"]["truncated"], true);
    assert_eq!(
        reply["body"].as_str().unwrap().len(),
        rea::environment::BODY
    );
}

#[test]
fn hosts_and_origins_are_checked_on_every_route() {
    let server = grafana().serve();
    let session = server.begin();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    for request in [
        CARD.to_owned(),
        plain(
            "POST",
            "/agentenv",
            r#"{"jsonrpc":"2.0","method":"m","id":1}"#,
        ),
        post(Some(&session), &ping),
    ] {
        let ask = |with: &str| {
            let answer = server.exchange(&request.replace("Host: localhost\r\n", with));
            (answer.status, answer.closes())
        };
        assert_eq!(ask("Host: 127.0.0.1\r\n"), (200, false));
        assert_eq!(
            ask("Host: localhost\r\nOrigin: http://localhost:3000\r\n"),
            (200, false)
        );
        assert_eq!(ask("Host: evil.example\r\n"), (403, true));
        assert_eq!(
            ask("Host: localhost\r\nOrigin: https://evil.example\r\n"),
            (403, true)
        );
        assert_eq!(ask("Host: localhost\r\nOrigin: null\r\n"), (403, true));
    }
}

#[test]
fn the_next_client_takes_over() {
    let server = grafana().serve();
    let first = server.begin();
    let second = server.begin();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    assert_eq!(server.post(Some(&first), &ping).status, 404);
    let result = server.call(&second, "get_users_by_id", json!({"id": "2"}));
    assert_eq!(result["structuredContent"]["replay"]["exact_match"], true);
    let delete =
        format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {second}\r\n\r\n");
    assert_eq!(server.exchange(&delete).status, 200);
    assert_eq!(server.post(Some(&second), &ping).status, 404);
    // The routes beside the protocol's need no session.
    card(&server);
}

#[test]
fn plain_routes_share_the_slots_and_close_pipelines() {
    let server = grafana().serve();
    let uploads = uploads(&server).unwrap();
    let refused = server.exchange(CARD);
    assert_eq!((refused.status, refused.closes()), (503, true));
    assert_eq!(server.post(None, &greeting(1)).status, 503);
    drop(uploads);
    wait_for("slots do not come back", || all_slots(&server));
    wait_for("nor do those of connections that ended", || {
        server.exchange(CARD).status == 200
    });
    // One after the other on a connection, never two at once.
    let mut connection = server.connect();
    for _ in 0..20 {
        connection.write(CARD.as_bytes());
        assert_eq!(connection.answer().status, 200);
    }
    let mut connection = server.connect();
    connection.write(CARD.repeat(2).as_bytes());
    assert!(connection.is_closed());
    // All slots are free after all that.
    wait_for("slots are lost", || all_slots(&server));
}

/// Eight requests that are being read; `None` where not all have a slot.
fn uploads(server: &Http) -> Option<Vec<Raw>> {
    let unfinished = "POST /agentenv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\
        Expect: 100-continue\r\n\r\n";
    let mut uploads: Vec<_> = (0..8).map(|_| server.connect()).collect();
    let all = uploads.iter_mut().all(|upload| {
        upload.write(unfinished.as_bytes());
        // Its body is asked for: it has a slot.
        upload.answer().status == 100
    });
    all.then_some(uploads)
}

fn all_slots(server: &Http) -> bool {
    uploads(server).is_some()
}
