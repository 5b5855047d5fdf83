//! A server as a client that knows nothing of the SDK sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

fn rea() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
    command.arg("mcp");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if text.starts_with("REA_") || text.starts_with("MCP_") {
            command.env_remove(&name);
        }
    }
    command
}

/// A server on standard input and output.
pub struct Stdio1 {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Messages that are no replies to what was asked.
    pub notices: Vec<Value>,
}

impl Stdio1 {
    /// A server that has been greeted.
    pub fn start(environment: &[(&str, &str)]) -> Self {
        let mut server = Self::raw(environment);
        let greeting = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let reply = server.ask("initialize", greeting);
        assert_eq!(reply["result"]["serverInfo"]["name"], "rea", "{reply}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// A server that has not been greeted.
    pub fn raw(environment: &[(&str, &str)]) -> Self {
        let mut child = rea()
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            next: 1,
            notices: Vec::new(),
        }
    }

    pub fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Sends bytes that are no line yet.
    pub fn send_piece(&mut self, piece: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(piece).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    /// The next line.
    pub fn line(&mut self) -> String {
        self.lines
            .recv_timeout(PATIENCE)
            .expect("the server says nothing")
    }

    /// Sends a request; its id.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The reply to a request.
    pub fn reply(&mut self, id: u64) -> Value {
        loop {
            let message: Value = serde_json::from_str(&self.line()).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notices.push(message);
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.reply(id)
    }

    /// The result of a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    /// What a tool that succeeds answers with.
    pub fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert!(result["isError"].is_null(), "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let said: Value = serde_json::from_str(text).unwrap();
        let structured = result["structuredContent"].clone();
        assert_eq!(said, structured);
        structured
    }

    /// The error of a tool that fails.
    pub fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result.get("structuredContent").is_none());
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        let text = result["content"][0]["text"].as_str().unwrap();
        let told: Value = serde_json::from_str(text).unwrap();
        told["error"].clone()
    }

    /// Ends the input; the exit status.
    pub fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Stdio1 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that listens.
pub struct Http {
    pub child: Child,
    pub address: SocketAddr,
    /// What it said before it told its address.
    pub said: Vec<Value>,
    log: Option<std::thread::JoinHandle<String>>,
}

impl Http {
    /// A server on a port of its own.
    pub fn start(environment: &[(&str, &str)]) -> Self {
        let mut command = rea();
        command.args(["--http"]).envs(environment.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self::spawn(command)
    }

    /// A server that a command starts, which says where it listens.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let mut said = Vec::new();
        let address = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it does not listen");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["msg"] == "MCP transport listening" {
                let url = message["url"].as_str().unwrap().to_owned();
                let host = url.strip_prefix("http://").unwrap();
                break host.strip_suffix("/mcp").unwrap().parse().unwrap();
            }
            said.push(message);
        };
        let log = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = log.read_to_string(&mut rest);
            rest
        });
        Self {
            child,
            address,
            said,
            log: Some(log),
        }
    }

    /// A connection.
    pub fn connect(&self) -> Raw {
        Raw::to(self.address)
    }

    /// Sends bytes on a connection of their own; the reply.
    pub fn exchange(&self, request: &str) -> Answer {
        let mut connection = self.connect();
        connection.write(request.as_bytes());
        connection.answer()
    }

    /// Posts a message.
    pub fn post(&self, session: Option<&str>, message: &Value) -> Answer {
        self.exchange(&post(session, &message.to_string()))
    }

    /// Begins a session; its id.
    pub fn begin(&self) -> String {
        let answer = self.post(None, &greeting(1));
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(Some(&session), &done).status, 202);
        session
    }

    /// What a tool answers with.
    pub fn call(&self, session: &str, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
        let answer = self.post(Some(session), &message);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()["result"].clone()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// What it said on stderr once it listened; waits for the end.
    pub fn log(&mut self) -> String {
        self.log.take().unwrap().join().unwrap()
    }

    /// Waits for the end; the exit status.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The message that begins a session.
pub fn greeting(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

/// A POST with a body.
pub fn post(session: Option<&str>, body: &str) -> String {
    let session = match session {
        Some(id) => format!("Mcp-Session-Id: {id}\r\n"),
        None => String::new(),
    };
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A connection without a client.
pub struct Raw {
    input: BufReader<TcpStream>,
}

impl Raw {
    /// A connection to a listener.
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            input: BufReader::new(stream),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) {
        // The other side may have left.
        let _ = self.input.get_mut().write_all(bytes);
    }

    pub fn half_close(&self) {
        self.input
            .get_ref()
            .shutdown(std::net::Shutdown::Write)
            .unwrap();
    }

    /// Whether the other side has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.input.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    /// The next reply, complete.
    pub fn answer(&mut self) -> Answer {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            let count = self.input.read_line(&mut line).unwrap_or(0);
            assert!(count > 0, "no reply; so far {head:?}");
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let status = head[0].split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer {
            status,
            head,
            body: Vec::new(),
        };
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let mut line = String::new();
                self.input.read_line(&mut line).unwrap();
                let size = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut chunk = vec![0; size + 2];
                self.input.read_exact(&mut chunk).unwrap();
                if size == 0 {
                    break;
                }
                answer.body.extend_from_slice(&chunk[..size]);
            }
        } else if let Some(length) = answer.header("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            self.input.read_exact(&mut body).unwrap();
            answer.body = body;
        }
        answer
    }
}

/// A reply.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: Vec<String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().skip(1).find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// Whether the connection ends with it.
    pub fn closes(&self) -> bool {
        self.header("connection") == Some("close")
    }

    /// The last message in it.
    pub fn message(&self) -> Value {
        let text = String::from_utf8(self.body.clone()).unwrap();
        let data = text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim)
            .rfind(|data| !data.is_empty());
        serde_json::from_str(data.unwrap_or(&text)).unwrap()
    }
}
