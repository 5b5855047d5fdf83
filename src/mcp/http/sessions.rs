//! One client at a time (section 3.2): which session is open, and how it ends
//! or makes room for another.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::mcp::calls::Calls;

/// How long the calls of a session that ends may go on.
const DRAIN: Duration = Duration::from_secs(10);
/// The header of a session's id.
pub(in crate::mcp) const SESSION: &str = "mcp-session-id";

/// The sessions of a listener: none or one.
pub(super) struct Sessions<H> {
    calls: Arc<Calls>,
    service: StreamableHttpService<H, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    /// Held while a session begins or ends.
    open: Mutex<Option<String>>,
}

/// Calls of the session before are still going on.
pub(super) struct Busy;

impl<H: ServerHandler + Clone> Sessions<H> {
    /// Sessions that `handler` answers, with these calls.
    pub fn new(handler: H, calls: Arc<Calls>, stop: CancellationToken) -> Self {
        let mut manager = LocalSessionManager::default();
        // A client that says nothing for long has not left.
        manager.session_config.keep_alive = None;
        let manager = Arc::new(manager);
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(super::body::LONGEST)
            .with_cancellation_token(stop);
        let service =
            StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&manager), config);
        Self {
            calls,
            service,
            manager,
            open: Mutex::new(None),
        }
    }

    /// Hands a request to the SDK.
    pub async fn forward(&self, request: Request<Bytes>) -> Response<BoxBody<Bytes, Infallible>> {
        self.service.handle(request.map(Full::new)).await
    }

    /// Begins a session in place of the one that is open.
    pub async fn begin(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<BoxBody<Bytes, Infallible>>, Busy> {
        let mut open = self.open.lock().await;
        self.close(&mut open, DRAIN).await?;
        let response = self.forward(request).await;
        let id = response.headers().get(SESSION);
        *open = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        Ok(response)
    }

    /// Ends the session that a request names, if it is the open one.
    pub async fn delete(
        &self,
        request: &Request<Bytes>,
    ) -> Result<Response<BoxBody<Bytes, Infallible>>, Busy> {
        let mut open = self.open.lock().await;
        let named = request.headers().get(SESSION);
        let status = match named.map(|id| id.to_str().ok()) {
            None => StatusCode::BAD_REQUEST,
            Some(id) if id != open.as_deref() => StatusCode::NOT_FOUND,
            Some(_) => {
                self.close(&mut open, DRAIN).await?;
                StatusCode::OK
            }
        };
        let mut answer = Response::new(Full::new(Bytes::new()).boxed());
        *answer.status_mut() = status;
        Ok(answer)
    }

    /// Ends the open session, if there is one; `false` where calls are still
    /// going on after `limit`.
    pub async fn end(&self, limit: Duration) -> bool {
        let mut open = self.open.lock().await;
        self.close(&mut open, limit).await.is_ok()
    }

    async fn close(&self, open: &mut Option<String>, limit: Duration) -> Result<(), Busy> {
        self.calls.cancel();
        if let Some(id) = open.take() {
            // From here on its id is unknown, and its streams end.
            let _ = self.manager.close_session(&id.into()).await;
        }
        match self.calls.drained(limit).await {
            true => Ok(()),
            false => Err(Busy),
        }
    }
}
