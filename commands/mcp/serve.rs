//! Running a server: the transports, signals, and the end.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rea::error::Code;
use rea::mcp::{Connection, Server, Stdio};
use rea::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long calls may take to stop.
pub const DRAIN: Duration = Duration::from_secs(10);

/// Threads for a server.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("rea-mcp")
        .build()
        .map_err(|error| failed("the server cannot start its threads", &error))
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::new(Code::ExecutionFailure, format!("{what}: {error}"))
}

/// SIGINT and SIGTERM.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Receives them from now on; inside of a runtime.
    pub fn listen() -> Result<Self> {
        let listen =
            |kind| signal(kind).map_err(|error| failed("signals cannot be received", &error));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// The number of the next signal.
    pub async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
        }
    }
}

impl Signals {
    /// Waits for what starts. A signal meanwhile is kept until it has; a second
    /// one ends the process at once.
    async fn while_starting<T>(&mut self, starting: impl Future<Output = T>) -> (T, Option<u8>) {
        let mut starting = std::pin::pin!(starting);
        let mut early = None;
        loop {
            tokio::select! {
                started = &mut starting => return (started, early),
                number = self.next() => match early {
                    None => early = Some(number),
                    Some(_) => std::process::exit(128 + i32::from(number)),
                },
            }
        }
    }
}

/// Serves one client on standard input and output.
pub fn stdio(server: Arc<Server>) -> Result<ExitCode> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let input = tokio::io::stdin();
        let (transport, written) = Stdio::new(Arc::clone(&server), input, std::io::stdout());
        let serving = rea::mcp::serve(Connection(Arc::clone(&server)), transport);
        let outcome = tokio::select! {
            outcome = serving => outcome,
            _ = signals.next() => Ok(()),
        };
        server.stop(DRAIN).await;
        Ok((outcome, written))
    });
    let (outcome, written) = done?;
    // A read of standard input cannot be taken back.
    runtime.shutdown_background();
    // What was answered is written, as long as somebody reads.
    let _ = written.join();
    outcome
        .map(|()| ExitCode::SUCCESS)
        .map_err(|reason| failed("the connection failed", &reason))
}

/// Listens for clients, one at a time.
pub fn http(server: Arc<Server>) -> Result<ExitCode> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let starting = rea::mcp::listen(Arc::clone(&server));
        let (listener, early) = signals.while_starting(starting).await;
        let listener = listener?;
        let outcome = match early {
            Some(number) => Ok(ExitCode::from(128 + number)),
            None => tokio::select! {
                number = signals.next() => Ok(ExitCode::from(128 + number)),
                error = listener.failed() => Err(error),
            },
        };
        listener.stop(DRAIN).await;
        server.stop(DRAIN).await;
        outcome
    })
}
