//! Running a server: the transports, signals, and the end.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rea::error::Code;
use rea::mcp::{Connection, Server, Stdio};
use rea::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

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

/// SIGINT and SIGTERM. None is lost from the moment on at which it would no
/// longer end the process by itself; the runtime's own way has a gap there.
pub struct Signals {
    received: UnboundedReceiver<u8>,
    // Ends the thread that passes them on.
    handle: Handle,
}

impl Signals {
    /// Receives them from now on.
    pub fn listen() -> Result<Self> {
        let failed = |error| failed("signals cannot be received", &error);
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
        let handle = signals.handle();
        let (passed, received) = unbounded_channel();
        let pass = move || {
            for signal in signals.forever() {
                let number = u8::try_from(signal).unwrap_or(0);
                if passed.send(number).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(pass)
            .map_err(failed)?;
        Ok(Self { received, handle })
    }

    /// The number of the next signal.
    pub async fn next(&mut self) -> u8 {
        match self.received.recv().await {
            Some(number) => number,
            None => std::future::pending().await,
        }
    }

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

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
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
