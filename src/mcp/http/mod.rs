//! The HTTP transport (section 3 of the contract): one listener, one client at
//! a time. The SDK speaks the protocol; what stands here is what comes before
//! and after it: which requests get there, and what becomes of a session that
//! ends or is replaced. What answers is given as data ([`Served`]): the server
//! of the operations, or one of recorded traffic with routes beside the
//! protocol's.

mod admission;
mod body;
mod guard;
mod reply;
mod sessions;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rustix::io::Errno;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::calls::Calls;
use super::frame::Frames;
use super::log::{Field, Log};
use super::server::{Connection, Server};
use super::settings::Level;
use crate::error::{Code, Error, Result};
use admission::Admission;
use guard::Guard;
use sessions::Sessions;
use wire::Wire;

pub(super) use sessions::SESSION;

/// Where the protocol is spoken.
const ROUTE: &str = "/mcp";
/// What is said once there is an address.
pub(crate) const LISTENING: &str = "MCP transport listening";
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);
/// How long connections may take to end when the listener does.
const LINGER: Duration = Duration::from_secs(2);

/// What a listener serves.
pub(crate) struct Served<H> {
    /// Where to listen: a name or an address.
    pub host: String,
    /// The port, 0 for any.
    pub port: u16,
    /// Where lines go.
    pub log: Log,
    /// Answers what is asked in the protocol, one of it a session.
    pub handler: H,
    /// Where the handler leaves replies.
    pub frames: Arc<Frames>,
    /// Where the handler counts its calls.
    pub calls: Arc<Calls>,
    /// What is served beside the protocol.
    pub routes: Vec<Route>,
}

/// A route beside the protocol's, under the same checks. Its replies are JSON.
pub(crate) struct Route {
    /// The one method.
    pub method: Method,
    /// The path, as it stands in requests.
    pub path: &'static str,
    /// The reply to a body.
    pub answer: Replier,
    /// The reply to a body that is too long; plain text where there is none.
    pub too_long: Option<Plain>,
}

/// Makes the reply to a body.
pub(crate) type Replier = Arc<dyn Fn(&[u8]) -> Plain + Send + Sync>;

/// A reply of a plain route.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    /// The status.
    pub status: StatusCode,
    /// The JSON, or nothing.
    pub body: Bytes,
}

/// A listener that serves clients until it is stopped.
pub struct Listener<H> {
    /// Where it listens.
    pub address: SocketAddr,
    stop: CancellationToken,
    connections: TaskTracker,
    failure: watch::Receiver<Option<String>>,
    shared: Arc<Shared<H>>,
}

/// What all connections share.
struct Shared<H> {
    log: Log,
    frames: Arc<Frames>,
    guard: Guard,
    admission: Admission,
    sessions: Sessions<H>,
    routes: Vec<Route>,
}

/// Listens where the settings of a server say, and announces it.
///
/// # Errors
/// `execution_failure` where that address cannot be bound.
pub async fn listen(server: Arc<Server>) -> Result<Listener<Connection>> {
    let served = Served {
        host: server.settings.host.clone(),
        port: server.settings.port,
        log: server.log,
        frames: Arc::clone(&server.frames),
        calls: Arc::clone(&server.calls),
        routes: Vec::new(),
        handler: Connection(server),
    };
    let listener = served.listen().await?;
    // Whoever started it waits for this line.
    Log::always(
        Level::Info,
        "http",
        LISTENING,
        &[("url", Field::Text(&listener.url()))],
    );
    Ok(listener)
}

impl<H: ServerHandler + Clone + Sync> Served<H> {
    /// Listens.
    ///
    /// # Errors
    /// `execution_failure` where the address cannot be bound.
    pub async fn listen(self) -> Result<Listener<H>> {
        let (host, port) = (self.host, self.port);
        let bound = async {
            let listener = TcpListener::bind((host.as_str(), port)).await?;
            let address = listener.local_addr()?;
            Ok::<_, io::Error>((listener, address))
        };
        let (listener, address) = bound.await.map_err(|error| {
            let reason = crate::error::io_reason(&error);
            let message = format!("{host} port {port} cannot be listened on: {reason}");
            Error::new(Code::ExecutionFailure, message)
                .action("Choose another --host or --port; 0 is any port that is free.")
                .detail("operation", "listen")
                .detail("reason", reason)
        })?;
        let guard = Guard::new(address, &host);
        if !guard.is_strict() {
            let message = "the address is no loopback one: Host and Origin are not checked";
            self.log.say(Level::Warn, "http", message, &[]);
        }
        let stop = CancellationToken::new();
        let connections = TaskTracker::new();
        let shared = Arc::new(Shared {
            log: self.log,
            frames: self.frames,
            guard,
            admission: Admission::default(),
            sessions: Sessions::new(self.handler, self.calls, stop.clone()),
            routes: self.routes,
        });
        let (failed, failure) = watch::channel(None);
        let accepting = accept(
            listener,
            Arc::clone(&shared),
            stop.clone(),
            connections.clone(),
        );
        connections.spawn(async move {
            if let Some(error) = accepting.await {
                let _ = failed.send(Some(crate::error::io_reason(&error)));
            }
        });
        Ok(Listener {
            address,
            stop,
            connections,
            failure,
            shared,
        })
    }
}

/// Takes connections until it is stopped, or until no more can come: why not.
async fn accept<H: ServerHandler + Clone + Sync>(
    listener: TcpListener,
    shared: Arc<Shared<H>>,
    stop: CancellationToken,
    connections: TaskTracker,
) -> Option<io::Error> {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let serving = connection(stream, Arc::clone(&shared), stop.clone());
                connections.spawn(serving);
            }
            Err(error) if is_final(&error) => {
                let text = error.to_string();
                let fields = [("reason", Field::Text(text.as_str()))];
                let message = "the listener has failed";
                shared.log.say(Level::Fatal, "http", message, &fields);
                return Some(error);
            }
            Err(error) => {
                // Out of descriptors, most likely: others may end meanwhile.
                let text = error.to_string();
                let fields = [("reason", Field::Text(text.as_str()))];
                let message = "a connection was not accepted";
                shared.log.say(Level::Error, "http", message, &fields);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Whether it is the socket that fails, and not what came to it (accept(2)).
fn is_final(error: &io::Error) -> bool {
    let of_socket = [Errno::BADF, Errno::FAULT, Errno::INVAL, Errno::NOTSOCK];
    Errno::from_io_error(error).is_some_and(|errno| of_socket.contains(&errno))
}

async fn connection<H: ServerHandler + Clone + Sync>(
    stream: TcpStream,
    shared: Arc<Shared<H>>,
    stop: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let (wire, seen) = Wire::new(stream);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        let seen = seen.clone();
        async move { Ok::<_, std::convert::Infallible>(shared.answer(request, seen).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .half_close(true)
        .serve_connection(TokioIo::new(wire), service);
    tokio::pin!(serving);
    tokio::select! {
        _ = &mut serving => return,
        () = stop.cancelled() => {}
    }
    serving.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LINGER, serving).await;
}

impl<H: ServerHandler + Clone + Sync> Listener<H> {
    /// Where the protocol is spoken.
    pub fn url(&self) -> String {
        format!("http://{}{ROUTE}", self.address)
    }

    /// Waits until the listener fails, which most never do.
    pub async fn failed(&self) -> Error {
        let mut failure = self.failure.clone();
        let reason = match failure.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            // It was stopped.
            Err(_) => std::future::pending().await,
        };
        let message = format!("{} can no longer be listened on: {reason}", self.address);
        Error::new(Code::ResourceConstraint, message)
            .action("Start it again.")
            .detail("operation", "listen")
            .detail("resource", "listener")
            .detail("reason", reason)
    }

    /// Stops to listen, ends the session and its calls, and waits for
    /// connections and calls; `false` where calls are still going on after
    /// `limit`.
    pub async fn stop(&self, limit: Duration) -> bool {
        self.stop.cancel();
        let calm = self.shared.sessions.end(limit).await;
        self.connections.close();
        let _ = tokio::time::timeout(LINGER, self.connections.wait()).await;
        calm
    }
}
