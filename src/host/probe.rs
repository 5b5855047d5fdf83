//! Talking to a server as a client does: it is started, asked what it is and
//! has, called once, and let end.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Bytes of stderr that are kept.
const STDERR: u64 = 64 * 1024;
/// Bytes of one reply.
const LONGEST: u64 = 64 << 20;
/// Pages of one list.
const PAGES: usize = 64;
/// The revision of the protocol that is asked for.
const REVISION: &str = "2025-06-18";

/// What the server should be.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The names of its tools.
    pub tools: Vec<String>,
    /// The names of its prompts.
    pub prompts: Vec<String>,
    /// The version of the package.
    pub version: String,
    /// The digest of its catalog.
    pub digest: String,
    /// The path of the program.
    pub program: String,
}

/// Names that should be there and those that are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// How many should be there.
    pub expected: usize,
    /// How many are.
    pub observed: usize,
    /// Names that are not there.
    pub missing: Vec<String>,
    /// Names that should not be there.
    pub unexpected: Vec<String>,
    /// Names that are there more than once.
    pub duplicates: Vec<String>,
}

impl Inventory {
    fn of(expected: &[String], observed: &[String]) -> Self {
        let wanted: BTreeSet<&String> = expected.iter().collect();
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut twice: BTreeSet<&String> = BTreeSet::new();
        for name in observed {
            if !seen.insert(name) {
                twice.insert(name);
            }
        }
        let names = |names: BTreeSet<&String>| names.into_iter().cloned().collect();
        Self {
            expected: expected.len(),
            observed: observed.len(),
            missing: names(wanted.difference(&seen).copied().collect()),
            unexpected: names(seen.difference(&wanted).copied().collect()),
            duplicates: names(twice),
        }
    }

    /// Whether it is exactly what was expected.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.unexpected.is_empty() && self.duplicates.is_empty()
    }
}

/// What a server did.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What it calls itself; null where it did not say.
    pub server: Value,
    /// Its tools.
    pub tools: Inventory,
    /// Its prompts.
    pub prompts: Inventory,
    /// `server_identity` of `binary_session`; null where that failed.
    pub identity: Value,
    /// The requests in order: method, whether it succeeded, milliseconds.
    pub requests: Vec<(String, bool, u64)>,
    /// What was checked: name, whether it holds, what was found.
    pub checks: Vec<(&'static str, bool, String)>,
    /// The first 64 KiB of what it said on stderr.
    pub stderr: String,
}

impl Findings {
    /// Whether all checks hold.
    pub fn is_healthy(&self) -> bool {
        self.checks.iter().all(|(_, holds, _)| *holds)
    }

    fn check(&mut self, name: &'static str, outcome: Result<String, String>) -> bool {
        let holds = outcome.is_ok();
        let detail = outcome.unwrap_or_else(|reason| reason);
        self.checks.push((name, holds, detail));
        holds
    }
}

/// Starts `command` and checks it as a client would, within `limit`. The
/// process has ended when this returns.
pub fn probe(mut command: Command, expected: &Expectation, limit: Duration) -> Findings {
    let mut findings = Findings::default();
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = match started {
        Ok(child) => child,
        Err(error) => {
            let reason = crate::error::io_reason(&error);
            findings.check("start", Err(format!("it cannot be started: {reason}")));
            return findings;
        }
    };
    findings.check("start", Ok("it was started".to_owned()));
    let mut server = Server::new(child, Instant::now() + limit);
    talk(&mut server, expected, &mut findings);
    let ended = server.end();
    let outcome = match ended {
        Some(status) if status.success() => Ok("it ended when its input did".to_owned()),
        Some(status) => Err(format!("it ended with {status}")),
        None => Err("it did not end with its input and was killed".to_owned()),
    };
    findings.check("shutdown", outcome);
    findings.requests = std::mem::take(&mut server.requests);
    findings.stderr = server.stderr();
    findings
}

fn talk(server: &mut Server, expected: &Expectation, findings: &mut Findings) {
    let client = json!({"name": "rea-doctor", "version": env!("CARGO_PKG_VERSION")});
    let hello = server.request(
        "initialize",
        json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}),
    );
    let hello = hello.and_then(|hello| {
        let info = &hello["serverInfo"];
        findings.server = json!({
            "name": info["name"],
            "version": info["version"],
            "protocol_version": hello["protocolVersion"],
        });
        let told = info["name"] == "rea" && info["version"] == expected.version.as_str();
        match told {
            true => Ok(format!("rea {}", expected.version)),
            false => Err(format!("another server answered: {info}")),
        }
    });
    if !findings.check("initialize", hello) {
        return;
    }
    let noted = server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    if let Err(reason) = noted {
        findings.check("initialized", Err(reason));
        return;
    }
    for (what, method, expected) in [
        ("tools", "tools/list", &expected.tools),
        ("prompts", "prompts/list", &expected.prompts),
    ] {
        let outcome = server.names(method, what).and_then(|names| {
            let inventory = Inventory::of(expected, &names);
            let complete = inventory.is_complete();
            let said = format!("{} of {}", inventory.observed, inventory.expected);
            match what {
                "tools" => findings.tools = inventory,
                _ => findings.prompts = inventory,
            }
            match complete {
                true => Ok(said),
                false => Err(format!("{said}, not those that are expected")),
            }
        });
        findings.check(what, outcome);
    }
    let arguments = json!({
        "expected_package_version": expected.version,
        "expected_catalog_digest": expected.digest,
        "expected_server_path": expected.program,
    });
    let called = server.request(
        "tools/call",
        json!({"name": "binary_session", "arguments": arguments}),
    );
    let session = called.and_then(|reply| {
        let identity = &reply["structuredContent"]["result"]["server_identity"];
        if reply["isError"] == true || !identity.is_object() {
            return Err("binary_session failed".to_owned());
        }
        findings.identity = identity.clone();
        Ok("binary_session answered".to_owned())
    });
    if !findings.check("request", session) {
        return;
    }
    let alignment = &findings.identity["alignment"];
    let outcome = match alignment["state"] == "aligned" {
        true => Ok("version, catalog and path are those of this program".to_owned()),
        false => Err(format!("it is another build: {}", alignment["reasons"])),
    };
    findings.check("identity", outcome);
}

/// A server that was started.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Result<Vec<u8>, String>>,
    errors: Option<Receiver<Vec<u8>>>,
    deadline: Instant,
    next: u64,
    requests: Vec<(String, bool, u64)>,
}

impl Server {
    fn new(mut child: Child, deadline: Instant) -> Self {
        let (send, lines) = sync_channel(16);
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = Vec::new();
                    let read = output.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                    let outcome = match read {
                        Ok(0) => return,
                        Ok(_) if line.last() != Some(&b'\n') => {
                            Err("a reply is cut or too long".to_owned())
                        }
                        Ok(_) => Ok(line),
                        Err(error) => Err(crate::error::io_reason(&error)),
                    };
                    let failed = outcome.is_err();
                    if send.send(outcome).is_err() || failed {
                        return;
                    }
                }
            });
        }
        let errors = child.stderr.take().map(|mut errors| {
            let (send, kept) = sync_channel(32);
            std::thread::spawn(move || {
                let mut portion = [0; 4096];
                let mut room = STDERR;
                while let Ok(count @ 1..) = errors.read(&mut portion) {
                    let count = (count as u64).min(room);
                    room -= count;
                    let kept = portion.get(..count as usize).unwrap_or_default();
                    // What is beyond is read and dropped, so that nobody waits.
                    if count > 0 && send.send(kept.to_vec()).is_err() {
                        return;
                    }
                }
            });
            kept
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            errors,
            deadline,
            next: 1,
            requests: Vec::new(),
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("it has no input")?;
        // Requests are small: they fit into the pipe, whoever reads it.
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::BrokenPipe => "it ended before it was asked".to_owned(),
                _ => format!("it takes no requests: {}", crate::error::io_reason(&error)),
            })
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let began = Instant::now();
        let outcome = self.ask(method, params);
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.requests
            .push((method.to_owned(), outcome.is_ok(), took));
        outcome
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let line = match self.lines.recv_timeout(self.left()) {
                Ok(line) => line?,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("{method} was not answered in time"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("it ended before it answered {method}"));
                }
            };
            let reply: Value = serde_json::from_slice(&line)
                .map_err(|error| format!("it wrote something that is no message: {error}"))?;
            if reply["id"] != id {
                continue;
            }
            if !reply["error"].is_null() {
                return Err(format!("{method} failed: {}", reply["error"]["message"]));
            }
            return Ok(reply["result"].clone());
        }
    }

    /// The names in a list, from all its pages.
    fn names(&mut self, method: &str, member: &str) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        let mut cursor = Value::Null;
        for _ in 0..PAGES {
            let params = match &cursor {
                Value::Null => json!({}),
                cursor => json!({"cursor": cursor}),
            };
            let page = self.request(method, params)?;
            let rows = page[member]
                .as_array()
                .ok_or_else(|| format!("{method} gave no list"))?;
            for row in rows {
                let name = row["name"].as_str();
                names.push(name.ok_or("something has no name")?.to_owned());
            }
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                return Ok(names);
            }
        }
        Err(format!("{method} has no end"))
    }

    /// Closes its input and waits; `None` where it had to be killed.
    fn end(&mut self) -> Option<ExitStatus> {
        self.input = None;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            let left = self.left();
            if left.is_zero() {
                // It may have ended by itself in this moment.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return None;
            }
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
    }

    fn stderr(&mut self) -> String {
        let mut text = Vec::new();
        // A process that it started may keep the pipe open: no longer than this.
        let patience = Duration::from_millis(500);
        while let Some(Ok(portion)) = self.errors.as_ref().map(|kept| kept.recv_timeout(patience)) {
            text.extend(portion);
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expectation {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Expectation {
            tools: names(&["a", "b"]),
            prompts: Vec::new(),
            version: "1".to_owned(),
            digest: "0".repeat(64),
            program: "/x".to_owned(),
        }
    }

    fn shell(script: &str, limit: u64) -> Findings {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        probe(command, &expected(), Duration::from_millis(limit))
    }

    fn failed(findings: &Findings) -> Vec<&'static str> {
        let failed = findings.checks.iter().filter(|(_, holds, _)| !holds);
        failed.map(|(name, ..)| *name).collect()
    }

    #[test]
    fn inventories_are_compared() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let found = Inventory::of(&names("a b c"), &names("b c c d"));
        assert_eq!(found.missing, ["a"]);
        assert_eq!(found.unexpected, ["d"]);
        assert_eq!(found.duplicates, ["c"]);
        assert!(!found.is_complete());
        assert!(Inventory::of(&names("a b"), &names("b a")).is_complete());
    }

    #[test]
    fn servers_that_fail_are_told_from_one_another() {
        assert_eq!(
            failed(&shell("echo no >&2; exit 3", 10_000)),
            ["initialize", "shutdown"]
        );
        assert!(shell("echo no >&2; exit 3", 10_000).stderr.contains("no"));
        assert_eq!(
            failed(&shell("echo hello; cat >/dev/null", 10_000)),
            ["initialize"]
        );
        // Deaf, and does not end with its input: it is killed.
        assert_eq!(
            failed(&shell("exec sleep 60", 300)),
            ["initialize", "shutdown"]
        );
        let other = r#"read l; echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"x","version":"1"}}}'; cat >/dev/null"#;
        assert_eq!(failed(&shell(other, 10_000)), ["initialize"]);
        let nothing = probe(
            Command::new("/no/such/program"),
            &expected(),
            Duration::from_secs(1),
        );
        assert_eq!(failed(&nothing), ["start"]);
    }

    #[test]
    fn a_server_with_other_tools_is_found_out() {
        let script = r#"
            read l; echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"rea","version":"1"}}}'
            read l; read l; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}'
            read l; echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"},{"name":"z"}]}}'
            read l; echo '{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"no prompts"}}'
            read l; echo '{"jsonrpc":"2.0","id":5,"result":{"structuredContent":{"result":{"server_identity":{"alignment":{"state":"unknown","reasons":[]}}}}}}'
            cat >/dev/null"#;
        let found = shell(script, 10_000);
        assert_eq!(failed(&found), ["tools", "prompts", "identity"]);
        assert_eq!(found.tools.missing, ["b"]);
        assert_eq!(found.tools.unexpected, ["z"]);
        assert_eq!(found.tools.duplicates, ["a"]);
        assert_eq!(found.requests.len(), 5);
    }
}
