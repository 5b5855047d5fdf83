//! A call that does not stop (section 3.2 of the contract): who waits for it,
//! and what becomes of the next client. And a server that is told to stop while
//! it starts (section 3.5).
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rea::mcp::{
    Call, Effects, Opener, Output, Parts, Prompts, Reply, Server, Session, Settings, Takes, Target,
    Tool, listen,
};
use rea::operation::Context;
use rea::{Error, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::mcp::{Answer, Raw, greeting, post};

/// Opens nothing.
struct Nothing;

impl Opener for Nothing {
    fn open(&self, _: &Path, _: bool, _: &Context) -> Result<Target> {
        Err(Error::new(rea::error::Code::UnsupportedTarget, "nothing"))
    }
}

/// A server with one tool, which says when it begins and ends when it is let
/// go, whoever wants it to stop.
fn server(began: Sender<()>, held: Receiver<()>) -> Arc<Server> {
    let held = Mutex::new(held);
    let run = move |_, _: &Call| {
        began.send(()).unwrap();
        held.lock().unwrap().recv().unwrap();
        Ok(Reply::result(&rea::json::Value::Null))
    };
    let tool = Tool {
        name: "wait",
        surface: "session",
        description: "Waits.".to_owned(),
        effects: Effects::NONE,
        returns_target_content: false,
        input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        output: Output::Result,
        takes: Takes::Nothing,
        summary: false,
        first_page: None,
        run: Arc::new(run),
    };
    let settings = Settings::read(|name| (name == "REA_LOG_LEVEL").then(|| "silent".to_owned()));
    let session = Session::new(settings.unwrap(), 1 << 20, Vec::new(), Box::new(Nothing));
    Server::new(Parts {
        session: Arc::new(session),
        tools: vec![tool],
        prompts: Prompts::new(Vec::new()),
        instructions: String::new(),
        cli_commands: 0,
    })
}

fn exchange(address: SocketAddr, request: &str) -> Answer {
    let mut connection = Raw::to(address);
    connection.write(request.as_bytes());
    connection.answer()
}

fn begin(address: SocketAddr) -> Answer {
    exchange(address, &post(None, &greeting(1).to_string()))
}

#[test]
fn a_call_that_does_not_stop_keeps_the_next_client_out_until_it_does() {
    let (release, held) = channel();
    let (began, begun) = channel();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(listen(server(began, held))).unwrap();
    let address = listener.address;
    let first = begin(address);
    assert_eq!(first.status, 200);
    let id = first.header("mcp-session-id");
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "wait", "arguments": {}},
    });
    let mut working = Raw::to(address);
    working.write(post(id, &call.to_string()).as_bytes());
    begun.recv().unwrap();

    // The call is told to stop, and does not: the next client is refused, and
    // the session before has ended all the same.
    assert_eq!(begin(address).status, 503);
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}).to_string();
    assert_eq!(exchange(address, &post(id, &ping)).status, 404);

    // The next one waits again, and is let in as soon as the call is done.
    let waiting = std::thread::spawn(move || begin(address));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!waiting.is_finished());
    release.send(()).unwrap();
    let next = waiting.join().unwrap();
    assert_eq!(next.status, 200);
    assert_ne!(next.header("mcp-session-id"), id);
    assert!(runtime.block_on(listener.stop(Duration::from_secs(10))));
}

/// How a server ends that gets SIGTERM after `delay`, and whether it had said
/// where it listens. Not SIGINT: where that is ignored, as in the background of
/// a shell, it is until the program receives it.
fn terminated(delay: Duration) -> (std::process::ExitStatus, bool) {
    let child = Command::new(env!("CARGO_BIN_EXE_rea"))
        .args(["mcp", "--http", "--port", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(delay);
    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status, said.contains("MCP transport listening"))
}

#[test]
fn a_signal_during_the_start_ends_it_as_one_later_does() {
    for step in 0..40 {
        let (status, listened) = terminated(Duration::from_micros(step * 750));
        match status.signal() {
            // Before the program could know what to do with it.
            Some(by) => assert!(by == 15 && !listened),
            None => assert_eq!(status.code(), Some(143)),
        }
    }
}
