//! The stdio transport: a message a line. The SDK's own transport would build
//! every reply as one string; this one writes frames as they are.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::{Notify, mpsc};

use super::server::Server;
use crate::json::{Limits, Value};

/// Bytes of one message of a client.
const LONGEST: u64 = 64 << 20;
/// How long calls may go on when the client has nothing more to say.
const GRACE: Duration = Duration::from_secs(10);

/// Lines of standard input and output.
pub struct Stdio<R> {
    input: BufReader<R>,
    /// What came of a line.
    partial: Vec<u8>,
    /// Whether the line was too long and its rest is passed over.
    passing: bool,
    out: mpsc::Sender<Out>,
    server: Arc<Server>,
    pending: Arc<Pending>,
}

enum Out {
    Line(Vec<u8>),
    Frame(super::frame::Frame),
}

/// Requests that have no reply yet.
#[derive(Default)]
struct Pending {
    ids: Mutex<HashSet<RequestId>>,
    done: Notify,
}

impl Pending {
    fn change<T>(&self, change: impl FnOnce(&mut HashSet<RequestId>) -> T) -> T {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut ids);
        if ids.is_empty() {
            self.done.notify_waiters();
        }
        changed
    }

    async fn wait(&self) {
        loop {
            let done = self.done.notified();
            if self.change(|ids| ids.is_empty()) {
                return;
            }
            done.await;
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Stdio<R> {
    /// A transport that reads from `input` and writes to `output` in a thread
    /// of its own, which ends when everything is written.
    pub fn new(
        server: Arc<Server>,
        input: R,
        output: impl Write + Send + 'static,
    ) -> (Self, JoinHandle<()>) {
        let (out, queue) = mpsc::channel(64);
        let written = std::thread::spawn(move || write(queue, output));
        let transport = Self {
            input: BufReader::with_capacity(64 * 1024, input),
            partial: Vec::new(),
            passing: false,
            out,
            server,
            pending: Arc::default(),
        };
        (transport, written)
    }

    /// The next line; `None` at the end. A line that is too long is passed
    /// over and is an empty one. Whoever waits for it may give up at any time:
    /// what came of a line stays in `self`.
    async fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let room = LONGEST.saturating_sub(self.partial.len() as u64);
            let mut limited = (&mut self.input).take(room);
            let count = limited.read_until(b'\n', &mut self.partial).await?;
            let complete = self.partial.last() == Some(&b'\n');
            if !complete && self.partial.len() as u64 >= LONGEST {
                self.partial.clear();
                self.passing = true;
                continue;
            }
            // Without a line end it is the last one.
            if complete || count == 0 {
                let line = std::mem::take(&mut self.partial);
                if std::mem::take(&mut self.passing) {
                    return Ok(Some(Vec::new()));
                }
                return Ok(Some(line).filter(|line| !line.is_empty()));
            }
        }
    }

    /// Answers what is no request, so that it has no id.
    fn refuse(&self, error: ErrorData) -> impl Future<Output = ()> + Send + use<R> {
        let error: TxJsonRpcMessage<RoleServer> = JsonRpcMessage::error(error, None);
        let mut text = serde_json::to_vec(&error).unwrap_or_default();
        text.push(b'\n');
        let out = self.out.clone();
        async move {
            let _ = out.send(Out::Line(text)).await;
        }
    }
}

/// Writes what comes until nothing can come any more.
fn write(mut queue: mpsc::Receiver<Out>, mut output: impl Write) {
    while let Some(out) = queue.blocking_recv() {
        let written = match out {
            Out::Line(line) => output.write_all(&line),
            Out::Frame(frame) => frame
                .pieces()
                .try_for_each(|piece| output.write_all(&piece))
                .and_then(|()| output.write_all(b"\n")),
        };
        if written.and_then(|()| output.flush()).is_err() {
            // Nobody reads any more; the end of input will follow.
            return;
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let out = self.out.clone();
        let pending = Arc::clone(&self.pending);
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let written = serde_json::to_vec(&item).map_err(io::Error::from);
        let message = written.map(|mut text| match self.server.frames.of_message(&text) {
            Some(frame) => Out::Frame(frame),
            None => {
                text.push(b'\n');
                Out::Line(text)
            }
        });
        async move {
            let sent = out.send(message?).await;
            if let Some(id) = answered {
                pending.change(|ids| ids.remove(&id));
            }
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.line().await {
                Ok(Some(line)) => line,
                Ok(None) | Err(_) => {
                    // Whoever pipes requests in wants the replies.
                    let _ = tokio::time::timeout(GRACE, self.pending.wait()).await;
                    self.server.calls.cancel();
                    return None;
                }
            };
            if line.is_empty() {
                let message = format!("a message has at most {LONGEST} bytes");
                self.refuse(ErrorData::invalid_request(message, None)).await;
                continue;
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Err(message) = exact(&line) {
                self.refuse(ErrorData::parse_error(message, None)).await;
                continue;
            }
            match serde_json::from_slice::<ClientJsonRpcMessage>(&line) {
                Ok(message) => {
                    match &message {
                        JsonRpcMessage::Request(request) => {
                            let id = request.id.clone();
                            self.pending.change(|ids| ids.insert(id));
                        }
                        JsonRpcMessage::Notification(notification) => {
                            self.forget(notification);
                        }
                        _ => {}
                    }
                    return Some(message);
                }
                Err(_) => {
                    let message = "it is no message of the protocol";
                    self.refuse(ErrorData::invalid_request(message, None)).await;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

impl<R> Stdio<R> {
    /// A request that is cancelled gets no reply.
    fn forget(
        &self,
        notification: &rmcp::model::JsonRpcNotification<rmcp::model::ClientNotification>,
    ) {
        if let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
            &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.pending.change(|ids| ids.remove(id));
        }
    }
}

/// Whether a message is exact JSON: no member twice, nothing behind it. What
/// is wrong, otherwise.
pub(super) fn exact(message: &[u8]) -> Result<(), String> {
    Value::parse(message, Limits::default())
        .map(drop)
        .map_err(|error| error.to_string())
}
