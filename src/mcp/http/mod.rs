//! The HTTP transport (section 3 of the contract): one listener, one client at
//! a time. The SDK speaks the protocol; what stands here is what comes before
//! and after it: which requests get there, and what becomes of a session that
//! ends or is replaced.

mod admission;
mod body;
mod guard;
mod reply;
mod sessions;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::log::Field;
use super::server::Server;
use super::settings::Level;
use crate::error::{Code, Error, Result};
use admission::Admission;
use guard::Guard;
use sessions::Sessions;
use wire::Wire;

pub(super) use sessions::SESSION;

/// Where the protocol is spoken.
const ROUTE: &str = "/mcp";
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);
/// How long connections may take to end when the listener does.
const LINGER: Duration = Duration::from_secs(2);

/// A listener that serves clients until it is stopped.
pub struct Listener {
    /// Where it listens.
    pub address: SocketAddr,
    stop: CancellationToken,
    connections: TaskTracker,
    shared: Arc<Shared>,
}

/// What all connections share.
struct Shared {
    server: Arc<Server>,
    guard: Guard,
    admission: Admission,
    sessions: Sessions,
}

/// Listens where the settings say, and announces it.
///
/// # Errors
/// `execution_failure` where that address cannot be bound.
pub async fn listen(server: Arc<Server>) -> Result<Listener> {
    let (host, port) = (server.settings.host.clone(), server.settings.port);
    let bound = async {
        let listener = TcpListener::bind((host.as_str(), port)).await?;
        let address = listener.local_addr()?;
        Ok::<_, std::io::Error>((listener, address))
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
    let url = format!("http://{address}{ROUTE}");
    if !guard.is_strict() {
        let message = "the address is no loopback one: Host and Origin are not checked";
        server.log.say(Level::Warn, "http", message, &[]);
    }
    super::log::Log::always(
        Level::Info,
        "http",
        "MCP transport listening",
        &[("url", Field::Text(&url))],
    );
    let stop = CancellationToken::new();
    let connections = TaskTracker::new();
    let shared = Arc::new(Shared {
        sessions: Sessions::new(&server, stop.clone()),
        server,
        guard,
        admission: Admission::default(),
    });
    let accepting = accept(
        listener,
        Arc::clone(&shared),
        stop.clone(),
        connections.clone(),
    );
    connections.spawn(accepting);
    Ok(Listener {
        address,
        stop,
        connections,
        shared,
    })
}

async fn accept(
    listener: TcpListener,
    shared: Arc<Shared>,
    stop: CancellationToken,
    connections: TaskTracker,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let serving = connection(stream, Arc::clone(&shared), stop.clone());
                connections.spawn(serving);
            }
            Err(error) => {
                // Out of descriptors, most likely: others may end meanwhile.
                let text = error.to_string();
                let fields = [("reason", Field::Text(text.as_str()))];
                let log = &shared.server.log;
                log.say(
                    Level::Error,
                    "http",
                    "a connection was not accepted",
                    &fields,
                );
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>, stop: CancellationToken) {
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

impl Listener {
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
