//! `rea environment-serve` as a process: how it starts, what ends it, and what
//! it does not do (web.md sections 5.1 and 5.5).
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use support::environment::{
    CARD, REA, SIGNALS, ask, bare, card, grafana, made, plain, refusal, stdout, vector, wait_for,
    wide,
};
use support::mcp::{Http, post};

#[test]
fn what_cannot_be_served_is_refused_before_it_listens() {
    let grafana = grafana();
    let other = made(&vector("tracker.har"));
    let serve = |manifest: &Path, capture: &Path| {
        let mut command = bare(REA);
        command
            .arg("environment-serve")
            .arg(manifest)
            .arg("--evidence")
            .arg(capture);
        refusal(&command.output().unwrap(), 1)
    };
    // Of another capture: both ids are named.
    let error = serve(&grafana.manifest(), &other.capture());
    assert_eq!(error["code"], "invalid_request");
    let id = |path: PathBuf| {
        let record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        record["evidence_id"].as_str().unwrap().to_owned()
    };
    let message = error["message"].as_str().unwrap();
    for capture in [grafana.capture(), other.capture()] {
        assert!(message.contains(&id(capture)), "{message}");
    }
    // The two the wrong way round; no Evidence; what was changed.
    let error = serve(&grafana.capture(), &grafana.manifest());
    assert_eq!(error["code"], "invalid_request");
    let surface = grafana.folder.path().join("surface.json");
    let mut view = bare(REA);
    view.arg("view")
        .arg(grafana.capture())
        .args(["--api-surface", "-o"])
        .arg(&surface);
    assert!(view.output().unwrap().status.success());
    let error = serve(&surface, &grafana.capture());
    assert_eq!(error["code"], "invalid_request");
    let changed = grafana.folder.path().join("changed.json");
    for (record, at) in [(grafana.manifest(), 0), (grafana.capture(), 1)] {
        let text = fs::read_to_string(record).unwrap();
        fs::write(&changed, text.replacen("users", "owner", 1)).unwrap();
        let error = match at {
            0 => serve(&changed, &grafana.capture()),
            _ => serve(&grafana.manifest(), &changed),
        };
        assert_eq!(error["code"], "evidence_integrity_mismatch", "{error}");
    }
    fs::write(&changed, "{}").unwrap();
    serve(&changed, &grafana.capture());
    serve(&grafana.manifest(), &changed);
    // A name that is set is one.
    for blank in ["", "  "] {
        let error = grafana.refusal(|command| {
            command.env("ENVIRONMENT_NAME", blank);
        });
        assert_eq!(error["code"], "configuration_invalid", "{error}");
    }
    // Both from standard input.
    let mut command = bare(REA);
    command.args(["environment-serve", "-", "--evidence", "-"]);
    let error = refusal(&command.stdin(Stdio::null()).output().unwrap(), 1);
    assert_eq!(error["code"], "invalid_request");
}

#[test]
fn tools_that_would_reserve_too_much_are_refused() {
    let wide = wide(8000);
    let error = wide.refusal(|_| ());
    assert_eq!(error["code"], "resource_constraint", "{error}");
    // The name comes before the catalog.
    let error = wide.refusal(|command| {
        command.env("ENVIRONMENT_NAME", " ");
    });
    assert_eq!(error["code"], "configuration_invalid");
}

#[test]
fn it_is_called_and_listens_as_it_is_told() {
    let grafana = grafana();
    assert_eq!(card(&grafana.serve())["name"], "grafana-example");
    let with = |change: &dyn Fn(&mut Command)| {
        let mut command = grafana.command();
        change(&mut command);
        command
    };
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let server = Http::spawn(with(&|command| {
        command
            .env("ENVIRONMENT_NAME", "mine")
            .env("MCP_HOST", "127.0.0.2");
        command.env("MCP_PORT", free.to_string());
    }));
    assert_eq!(server.address, format!("127.0.0.2:{free}").parse().unwrap());
    assert_eq!(card(&server)["name"], "mine");
    drop(server);
    // The command line comes first.
    let server = Http::spawn(with(&|command| {
        command.env("MCP_HOST", "127.0.0.2").env("MCP_PORT", "1");
        command.args(["--host", "127.0.0.3", "--port", "0"]);
    }));
    assert_eq!(server.address.ip().to_string(), "127.0.0.3");
    let taken = server.address.port().to_string();
    let error = grafana.refusal(|command| {
        command.args(["--host", "127.0.0.3", "--port", &taken]);
    });
    assert_eq!(
        (&error["code"], &error["details"]["operation"]),
        (&json!("execution_failure"), &json!("listen"))
    );
    for (name, value) in [
        ("MCP_PORT", "70000"),
        ("MCP_HOST", "fe80::1%eth0"),
        ("REA_LOG_LEVEL", "loud"),
    ] {
        let error = grafana.refusal(|command| {
            command.env(name, value);
        });
        assert_eq!(error["code"], "configuration_invalid", "{name}");
    }
    // The line is one of the log's.
    let mut child = with(&|command| {
        command
            .env("REA_LOG_LEVEL", "silent")
            .args(["--port", &free.to_string()]);
    })
    .spawn()
    .unwrap();
    wait_for("it does not listen", || {
        std::net::TcpStream::connect(("127.0.0.1", free)).is_ok()
    });
    signal(&child, Signal::TERM);
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), said.as_str()),
        (Some(143), "")
    );
}

fn signal(child: &Child, signal: Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_signal_ends_it_with_a_last_word() {
    let grafana = grafana();
    for (signal, status) in SIGNALS {
        let mut command = grafana.command();
        command.args(["--format", "json"]);
        let mut server = Http::spawn(command);
        let session = server.begin();
        let mut stream = server.connect();
        stream.write(
            format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n").as_bytes(),
        );
        // A client that does not go on with its request keeps nobody.
        let mut upload = server.connect();
        upload.write(b"POST /agentenv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{");
        card(&server);
        server.signal(signal);
        assert_eq!(server.wait(), Some(status));
        assert!(stream.is_closed());
        let said = stdout(&mut server);
        let stopped: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(stopped["status"], "stopped");
        assert_eq!(stopped["name"], "grafana-example");
        assert_eq!(stopped["url"], format!("http://{}/mcp", server.address));
        assert_eq!(
            stopped["signal"],
            if status == 130 { "SIGINT" } else { "SIGTERM" }
        );
        assert!(said.starts_with("{\n") && said.ends_with("}\n"), "{said}");
        assert!(std::net::TcpStream::connect(server.address).is_err());
    }
}

/// Whether a process handles SIGINT and SIGTERM by now.
fn handles_signals(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    let both = (1 << (Signal::INT.as_raw() - 1)) | (1 << (Signal::TERM.as_raw() - 1));
    caught & both == both
}

/// It is cancelled: what it says, and that it says it soon. What strace says
/// of itself is left out.
fn cancelled(child: Child, number: Signal, status: i32) {
    let began = Instant::now();
    signal(&child, number);
    // The first thread is done; strace may hold another one back.
    wait_for("it does not end", || state(child.id()).starts_with('Z'));
    let took = began.elapsed();
    let mut output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let own = said
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("strace: "));
    output.stderr = own.collect::<String>().into_bytes();
    let error = refusal(&output, status);
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("cancelled"), &json!(true))
    );
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_signal_while_it_loads_cancels_it() {
    let grafana = grafana();
    for (number, status) in SIGNALS {
        // A record that never comes.
        for operands in [["-", "capture.json"], ["manifest.json", "-"]] {
            let mut command = bare(REA);
            command
                .current_dir(grafana.folder.path())
                .arg("environment-serve");
            command.args([operands[0], "--evidence", operands[1]]);
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let stdin = child.stdin.take();
            wait_for("no signals are handled", || handles_signals(&child));
            cancelled(child, number, status);
            drop(stdin);
        }
    }
}

/// The state of a process, or of its first thread, and what follows it.
fn state(process: u32) -> String {
    state_at(Path::new(&format!("/proc/{process}")))
}

fn state_at(folder: &Path) -> String {
    let stat = fs::read_to_string(folder.join("stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.trim_start().to_owned()
}

/// Whether a thread of a process has been stopped by strace for a while.
fn is_held(child: &Child) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id()));
    let Ok(tasks) = tasks else { return false };
    tasks.flatten().any(|task| {
        (0..10).all(|_| {
            std::thread::sleep(Duration::from_millis(10));
            state_at(&task.path()).starts_with('t')
        })
    })
}

#[test]
fn a_signal_while_it_binds_cancels_it() {
    let grafana = grafana();
    let log = grafana.folder.path().join("log");
    let held: [(&[&str], &[&str]); 2] = [
        (
            &["-e", "trace=bind", "-e", "inject=bind:delay_enter=3000000"],
            &[],
        ),
        // The name is looked up in a file, which takes long; nobody waits.
        (
            &[
                "-e",
                "trace=openat",
                "-P",
                "/etc/hosts",
                "-e",
                "inject=openat:delay_enter=6000000",
            ],
            &["--host", "localhost"],
        ),
    ];
    for (number, status) in SIGNALS {
        for (options, arguments) in held {
            let mut command = grafana.traced(&log, options);
            let child = command.args(arguments).spawn().unwrap();
            wait_for("it does not bind", || is_held(&child));
            assert!(handles_signals(&child));
            cancelled(child, number, status);
        }
    }
}

#[test]
fn a_listener_that_fails_ends_it() {
    let grafana = grafana();
    let log = grafana.folder.path().join("log");
    let options = [
        "-e",
        "trace=accept4",
        "-e",
        "inject=accept4:error=EBADF:when=1",
    ];
    let mut server = Http::spawn(grafana.traced(&log, &options));
    let mut connection = server.connect();
    let said = server.log();
    assert_eq!(server.wait(), Some(1), "{said}");
    assert!(connection.is_closed());
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["level"], 60, "{said}");
    assert_eq!(lines[1]["error"]["code"], "resource_constraint", "{said}");
    assert_eq!(stdout(&mut server), "");
    // What passes is no failure: out of descriptors.
    let options = [
        "-e",
        "trace=accept4",
        "-e",
        "inject=accept4:error=EMFILE:when=1..3",
    ];
    let server = Http::spawn(grafana.traced(&log, &options));
    card(&server);
}

/// The bounds of the issue: 1,500 query fields, eight discoveries at once.
#[test]
fn wide_environments_take_little_memory() {
    let server = wide(1500).serve();
    let session = server.begin();
    // Two requests of a session that are open have different ids.
    let mut id = 2;
    let mut list = || {
        id += 1;
        let list = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
        post(Some(&session), &list.to_string())
    };
    for _ in 0..5 {
        let mut connections: Vec<_> = (0..16).map(|_| server.connect()).collect();
        // Eight cards at once, then eight lists.
        for pair in connections.chunks_mut(2) {
            pair[0].write(CARD.as_bytes());
        }
        for pair in connections.chunks_mut(2) {
            let answer = pair[0].answer();
            assert_eq!(answer.status, 200);
            let card: Value = serde_json::from_slice(&answer.body).unwrap();
            let tool = &card["capabilities"]["tools"][0]["inputSchema"];
            assert_eq!(tool["properties"].as_object().unwrap().len(), 1500);
            pair[1].write(list().as_bytes());
        }
        for pair in connections.chunks_mut(2) {
            let listed = pair[1].answer().message();
            let tool = &listed["result"]["tools"][0]["inputSchema"];
            assert_eq!(tool["properties"].as_object().unwrap().len(), 1500);
        }
    }
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 128 << 10, "{peak} kB");
}

/// After it listens it opens nothing for writing, connects to nothing and
/// starts nothing, whatever is asked.
#[test]
fn nothing_is_fetched_written_or_started() {
    let grafana = grafana();
    let log = grafana.folder.path().join("log");
    let before = names(grafana.folder.path());
    let options = ["-e", "trace=network,process,file,desc", "-e", "signal=none"];
    let mut server = Http::spawn(grafana.traced(&log, &options));
    let session = server.begin();
    card(&server);
    server.exchange(&plain(
        "POST",
        "/agentenv",
        r#"{"jsonrpc":"2.0","method":"m","id":1}"#,
    ));
    ask(&server, &session, "tools/list", json!({}));
    for arguments in [
        json!({"id": "2"}),
        json!({"id": "https://example.com/"}),
        json!({"x": 1}),
    ] {
        server.call(&session, "get_users_by_id", arguments);
    }
    server.call(
        &session,
        "post_annotations",
        json!({"body": {"text": "/etc/passwd"}}),
    );
    server.signal(Signal::TERM);
    assert_eq!(server.wait(), Some(143));
    let mut text = String::new();
    wait_for("strace does not end", || {
        text = fs::read_to_string(&log).unwrap();
        text.contains("exit_group(143")
    });
    let (_, after) = text.split_once("listen(").unwrap();
    assert!(after.contains("accept4("), "{after}");
    for line in after.lines().skip(1) {
        let call = line
            .split_once(' ')
            .map_or("", |(_, call)| call.trim_start());
        let name = call.split('(').next().unwrap();
        let is_forbidden = match name {
            "connect" | "socket" | "socketpair" | "bind" | "listen" => true,
            "execve" | "execveat" | "fork" | "vfork" => true,
            // A thread is no process.
            "clone" | "clone3" => !call.contains("CLONE_THREAD"),
            "open" | "openat" | "openat2" => ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TMPFILE"]
                .iter()
                .any(|flag| call.contains(flag)),
            "creat" | "mkdir" | "mkdirat" | "mknod" | "mknodat" | "link" | "linkat" | "symlink"
            | "symlinkat" | "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat"
            | "rmdir" | "truncate" | "ftruncate" | "chmod" | "fchmod" | "fchmodat"
            | "utimensat" => true,
            _ => false,
        };
        assert!(!is_forbidden, "{line}");
    }
    let mut left = names(grafana.folder.path());
    left.retain(|name| name != "log");
    assert_eq!(left, before);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
