//! The HTTP transport by raw sockets: each rule of section 3 of the contract.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::mcp::{Http, greeting, post};

const UPLOAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
    Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{";

#[test]
fn a_session_is_begun_used_and_deleted() {
    let server = Http::start(&[]);
    let session = server.begin();
    let opened = server.call(&session, "open_binary", json!({"path": "/bin/true"}));
    assert_eq!(
        opened["structuredContent"]["result"]["kind"], "executable",
        "{opened}"
    );
    let delete =
        format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n\r\n");
    assert_eq!(server.exchange(&delete).status, 200);
    // The id means nothing any more, and the server is still there.
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    assert_eq!(server.post(Some(&session), &ping).status, 404);
    assert_eq!(server.exchange(&delete).status, 404);
    // The next client goes on with the same target.
    let next = server.begin();
    assert_ne!(next, session);
    let status = server.call(&next, "binary_session", json!({}));
    assert_eq!(status["structuredContent"]["result"]["open"], true);
}

#[test]
fn only_a_lone_initialize_takes_over() {
    let server = Http::start(&[]);
    let first = server.begin();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let still = |session: &str| server.post(Some(session), &ping).status;

    // A batch, another kind of content, a reply in one form only.
    let batch = json!([greeting(1)]);
    assert_eq!(server.post(None, &batch).status, 400);
    assert_eq!(still(&first), 200);
    let body = greeting(1).to_string();
    let lacking = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(server.exchange(&lacking).status, 406);
    let plain = lacking.replace(
        "application/json\r\nAccept: application/json",
        "text/plain\r\nAccept: application/json, text/event-stream",
    );
    assert_eq!(server.exchange(&plain).status, 415);
    // No session and no greeting.
    assert_eq!(server.post(None, &ping).status, 400);
    let broken = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    assert!(server.post(None, &broken).status >= 400);
    assert_eq!(still(&first), 200);

    let second = server.begin();
    assert_eq!(still(&second), 200);
    assert_eq!(still(&first), 404);
}

#[test]
fn hosts_and_origins_are_those_of_this_machine() {
    let server = Http::start(&[]);
    let session = server.begin();
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let ask = |host: &str, more: &str| {
        let request =
            post(Some(&session), &body).replace("Host: localhost\r\n", &format!("{host}{more}"));
        let answer = server.exchange(&request);
        (answer.status, answer.closes())
    };
    let port = server.address.port();
    assert_eq!(
        ask(&format!("Host: 127.0.0.1:{port}\r\n"), ""),
        (200, false)
    );
    assert_eq!(ask("Host: [::1]\r\n", ""), (200, false));
    assert_eq!(
        ask("Host: localhost\r\n", "Origin: http://localhost:3000\r\n"),
        (200, false)
    );
    assert_eq!(ask("Host: evil.example\r\n", ""), (403, true));
    assert_eq!(
        ask("Host: localhost\r\n", "Origin: http://evil.example\r\n"),
        (403, true)
    );
    assert_eq!(ask("Host: localhost\r\n", "Origin: null\r\n"), (403, true));
    // A page cannot end the session of another client either.
    let takeover =
        post(None, &greeting(1).to_string()).replace("Host: localhost", "Host: evil.example");
    assert_eq!(server.exchange(&takeover).status, 403);
    assert_eq!(ask("Host: localhost\r\n", ""), (200, false));
}

#[test]
fn an_address_that_others_reach_is_open_to_all_hosts_and_says_so() {
    let server = Http::start(&[("MCP_HOST", "0.0.0.0")]);
    let warned = &server.said[0];
    assert_eq!(warned["level"], 40, "{warned}");
    assert!(warned["msg"].as_str().unwrap().contains("not checked"));
    let greeting = post(None, &greeting(1).to_string());
    let foreign = greeting.replace(
        "Host: localhost\r\n",
        "Host: tools.example\r\nOrigin: http://pages.example\r\n",
    );
    assert_eq!(server.exchange(&foreign).status, 200);
}

#[test]
fn targets_and_methods_are_plain() {
    let server = Http::start(&[]);
    let get = |method: &str, target: &str| {
        let answer = server.exchange(&format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        ));
        answer.status
    };
    assert_eq!(get("GET", "/nothing"), 404);
    assert_eq!(get("GET", "//host/path"), 404);
    for bad in [
        "http://localhost/mcp",
        "/public/../mcp",
        "/mcp#x",
        "/%2e%2e/mcp",
        "/mcp?a#b",
    ] {
        assert_eq!(get("GET", bad), 400, "{bad}");
    }
    assert_eq!(get("POST", "/nothing?x=%23"), 404);
    assert_eq!(get("TRACE", "/mcp"), 405);
    assert_eq!(get("PUT", "/mcp"), 405);
    // A stream needs a session, and a client that reads streams.
    assert_eq!(get("GET", "/mcp"), 406);
    let stream = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    assert_eq!(server.exchange(stream).status, 400);
}

#[test]
fn bodies_are_bounded_and_exact() {
    let server = Http::start(&[]);
    let session = server.begin();
    let long = "x".repeat(4 << 20);
    let message = json!({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"x": long}});
    let answer = server.post(Some(&session), &message);
    assert_eq!((answer.status, answer.closes()), (413, true));
    // The same without a length that could be looked at first.
    let mut connection = server.connect();
    let head = post(Some(&session), "").replace("Content-Length: 0", "Transfer-Encoding: chunked");
    connection.write(head.as_bytes());
    for _ in 0..5 {
        connection.write(b"100000\r\n");
        connection.write(&vec![b' '; 1 << 20]);
        connection.write(b"\r\n");
    }
    assert_eq!(connection.answer().status, 413);
    for (body, status) in [
        (r#"{"jsonrpc":"2.0","id":2,"method":"ping","id":3}"#, 400),
        (r#"{"jsonrpc":"2.0","id":2,"method":"ping"} x"#, 400),
        ("", 400),
    ] {
        assert_eq!(
            server.exchange(&post(Some(&session), body)).status,
            status,
            "{body}"
        );
    }
}

#[test]
fn the_ninth_upload_is_refused_and_slots_come_back() {
    let server = Http::start(&[]);
    let mut uploads: Vec<_> = (0..8).map(|_| server.connect()).collect();
    for upload in &mut uploads {
        upload.write(UPLOAD.as_bytes());
    }
    // All eight are being read once the ninth is refused.
    let refused = || {
        let answer = server.post(None, &greeting(1));
        (answer.status, answer.closes())
    };
    let began = Instant::now();
    while refused() != (503, true) {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "nine are admitted"
        );
    }
    // An unknown route needs no slot.
    assert_eq!(
        server
            .exchange("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .status,
        404
    );
    drop(uploads);
    let began = Instant::now();
    while server.post(None, &greeting(1)).status == 503 {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "slots do not come back"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn idle_streams_hold_no_slot() {
    let server = Http::start(&[]);
    let session = server.begin();
    let get = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    );
    let mut streams: Vec<_> = (0..12).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write(get.as_bytes());
    }
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    assert_eq!(server.post(Some(&session), &ping).status, 200);
    // Another client ends them.
    server.begin();
    for stream in &mut streams[10..] {
        assert_eq!(stream.answer().status, 200);
    }
}

#[test]
fn a_connection_is_kept_and_a_pipeline_is_not() {
    let server = Http::start(&[]);
    let session = server.begin();
    let ping = post(
        Some(&session),
        &json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string(),
    );
    let mut connection = server.connect();
    for _ in 0..3 {
        connection.write(ping.as_bytes());
        assert_eq!(connection.answer().status, 200);
    }
    // Two at once: the second one is never dispatched.
    let open = json!({"name": "open_binary", "arguments": {"path": "/bin/true"}});
    let open = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": open});
    let both = format!("{ping}{}", post(Some(&session), &open.to_string()));
    let mut connection = server.connect();
    connection.write(both.as_bytes());
    assert!(connection.is_closed());
    let status = server.call(&session, "binary_session", json!({}));
    assert_eq!(status["structuredContent"]["result"]["open"], false);
}

#[test]
fn half_a_connection_is_enough_for_a_reply() {
    let server = Http::start(&[]);
    let session = server.begin();
    let mut connection = server.connect();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    connection.write(post(Some(&session), &ping.to_string()).as_bytes());
    connection.half_close();
    assert_eq!(connection.answer().status, 200);
    // Half a request is none.
    let mut connection = server.connect();
    connection.write(UPLOAD.as_bytes());
    connection.half_close();
    assert!(connection.is_closed());
    assert_eq!(server.post(Some(&session), &ping).status, 200);
}

/// A folder whose inventory takes long.
fn large() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..400 {
        let name = folder.path().join(format!("{file}"));
        let sparse = std::fs::File::create(name).unwrap();
        sparse.set_len(1 << 30).unwrap();
    }
    folder
}

#[test]
fn another_client_ends_the_calls_of_the_one_before() {
    let server = Http::start(&[]);
    let session = server.begin();
    let folder = large();
    let params = json!({"name": "inventory_artifact", "arguments": {"path": folder.path()}});
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let mut connection = server.connect();
    connection.write(post(Some(&session), &call.to_string()).as_bytes());
    // It is being worked on.
    let began = Instant::now();
    loop {
        let status = server.call(&session, "binary_session", json!({}));
        let result = &status["structuredContent"]["result"];
        assert!(result["open"] == false && began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(50));
        if began.elapsed() > Duration::from_millis(300) {
            break;
        }
    }
    let next = server.begin();
    // The call is over, and left nothing behind.
    let bundle = server.call(&next, "get_evidence_bundle", json!({"detail": "summary"}));
    let records = &bundle["structuredContent"]["result"]["records"];
    assert_eq!(records.as_array().map(Vec::len), Some(0), "{bundle}");
}

/// A call of the newest revision, which knows no session.
fn stateless(tool: &str, arguments: &serde_json::Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let headers = format!(
        "Host: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: {tool}\r\n"
    );
    post(None, &body.to_string()).replace("Host: localhost\r\n", &headers)
}

/// Decision 34.
#[test]
fn requests_without_a_session_are_nobodys_to_end() {
    let server = Http::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    for file in 0..16 {
        let sparse = std::fs::File::create(folder.path().join(format!("{file}"))).unwrap();
        sparse.set_len(64 << 20).unwrap();
    }
    let session = server.begin();
    let arguments = json!({"path": folder.path()});
    let mut connection = server.connect();
    connection.write(stateless("inventory_artifact", &arguments).as_bytes());
    // It neither ends the session nor is ended by the next one.
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    assert_eq!(server.post(Some(&session), &ping).status, 200);
    let next = server.begin();
    let answer = connection.answer();
    assert_eq!(answer.status, 200, "{answer:?}");
    let result = answer.message()["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
    let id = result["structuredContent"]["evidence_id"].clone();
    // Both work on the same records.
    let bundle = server.call(&next, "get_evidence_bundle", json!({"detail": "summary"}));
    let records = &bundle["structuredContent"]["result"]["records"];
    assert_eq!(records[0]["evidence_id"], id);
}

#[test]
fn signals_end_it_and_the_end_of_input_does_not() {
    for (signal, status) in [
        (rustix::process::Signal::INT, 130),
        (rustix::process::Signal::TERM, 143),
    ] {
        let mut server = Http::start(&[]);
        let session = server.begin();
        let mut stream = server.connect();
        stream.write(
            format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n").as_bytes(),
        );
        // Standard input was at its end from the beginning.
        server.signal(signal);
        assert_eq!(server.wait(), Some(status));
        assert!(stream.is_closed());
    }
}

#[test]
fn where_it_listens_is_said_at_every_level() {
    let server = Http::start(&[("REA_LOG_LEVEL", "silent")]);
    assert!(server.address.ip().is_loopback());
    server.begin();
}
