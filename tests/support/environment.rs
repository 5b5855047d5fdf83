//! Environments that are served: recordings, their records, and the server.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::mcp::Http;

pub const REA: &str = env!("CARGO_BIN_EXE_rea");
pub const CARD: &str = "GET /.well-known/agent-env.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
pub const SIGNALS: [(Signal, i32); 2] = [(Signal::INT, 130), (Signal::TERM, 143)];

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// `program` without the settings of whoever runs the tests.
pub fn bare(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if ["REA_", "MCP_", "ENVIRONMENT_"]
            .iter()
            .any(|own| text.starts_with(own))
        {
            command.env_remove(&name);
        }
    }
    command
}

pub fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/vectors/web")
        .join(name)
}

/// A capture and its manifest.
pub struct Made {
    pub folder: tempfile::TempDir,
}

/// Those of the recording at `har`, by all rules.
pub fn made(har: &Path) -> Made {
    let made = Made {
        folder: tempfile::tempdir().unwrap(),
    };
    let run = |arguments: &[&str], operand: &Path, out: &Path| {
        let mut command = bare(REA);
        command
            .arg(arguments[0])
            .arg(operand)
            .args(&arguments[1..])
            .arg("-o")
            .arg(out);
        let done = command.output().unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    run(
        &["inspect-web-network-capture", "har"],
        har,
        &made.capture(),
    );
    let mut view = vec!["view", "--environment-manifest"];
    for rule in ["after-uid-literal", "opaque-token", "sibling-variance"] {
        view.extend(["--template-rule", rule]);
    }
    run(&view, &made.capture(), &made.manifest());
    made
}

/// Those of a recording of GET requests: address, type and text of the answer.
pub fn recorded(exchanges: &[(&str, &str, &str)]) -> Made {
    let entries: Vec<Value> = exchanges
        .iter()
        .map(|(url, media_type, text)| {
            json!({
                "startedDateTime": "2026-10-05T09:00:00.000Z", "time": 1,
                "request": {"method": "GET", "url": url, "httpVersion": "", "cookies": [],
                    "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0},
                "response": {"status": 200, "statusText": "", "httpVersion": "", "cookies": [],
                    "headers": [], "redirectURL": "", "headersSize": -1, "bodySize": -1,
                    "content": {"size": 1, "mimeType": media_type, "text": text}},
                "cache": {}, "timings": {"send": 1, "wait": 1, "receive": 1},
            })
        })
        .collect();
    let creator = json!({"name": "test", "version": "1"});
    let har = json!({"log": {"version": "1.2", "creator": creator, "entries": entries}});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.har");
    fs::write(&path, har.to_string()).unwrap();
    made(&path)
}

/// A recording of one request with so many query fields.
pub fn wide(fields: usize) -> Made {
    let fields: Vec<String> = (0..fields).map(|at| format!("field_{at:04}=1")).collect();
    let url = format!("https://wide.example/search?{}", fields.join("&"));
    recorded(&[(&url, "application/json", "{}")])
}

pub fn grafana() -> Made {
    made(&vector("grafana.har"))
}

impl Made {
    pub fn capture(&self) -> PathBuf {
        self.folder.path().join("capture.json")
    }

    pub fn manifest(&self) -> PathBuf {
        self.folder.path().join("manifest.json")
    }

    /// `command` with the arguments of a server of this environment.
    pub fn arguments(&self, command: &mut Command) {
        command.arg("environment-serve").arg(self.manifest());
        command.arg("--evidence").arg(self.capture());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub fn command(&self) -> Command {
        let mut command = bare(REA);
        self.arguments(&mut command);
        command
    }

    /// The same under strace with these options: the process is still ours.
    pub fn traced(&self, log: &Path, options: &[&str]) -> Command {
        let mut command = bare("strace");
        command
            .args(["-D", "-f", "-qq", "-o"])
            .arg(log)
            .args(options)
            .arg(REA);
        self.arguments(&mut command);
        command
    }

    pub fn serve(&self) -> Http {
        Http::spawn(self.command())
    }

    /// What a server that does not get so far says: the error.
    pub fn refusal(&self, change: impl FnOnce(&mut Command)) -> Value {
        let mut command = self.command();
        change(&mut command);
        refusal(&command.output().unwrap(), 1)
    }
}

/// The one error that a process which never served ended with.
pub fn refusal(output: &Output, status: i32) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(
        output.stdout.is_empty() && !said.contains("listening"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    serde_json::from_str::<Value>(&said).unwrap()["error"].clone()
}

pub fn stdout(server: &mut Http) -> String {
    let mut said = String::new();
    server
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    said
}

pub fn plain(method: &str, target: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

pub fn card(server: &Http) -> Value {
    let answer = server.exchange(CARD);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    serde_json::from_slice(&answer.body).unwrap()
}

pub fn ask(server: &Http, session: &str, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let answer = server.post(Some(session), &message);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.message()
}

/// Until `holds`, or for ever.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
