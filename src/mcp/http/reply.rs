//! From a request to its reply.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::body::{self, Reply, Unread};
use super::sessions::{Busy, SESSION};
use super::wire::{Fault, Seen};
use super::{Plain, ROUTE, Route, Shared};
use crate::mcp::stdio::exact;
use rmcp::ServerHandler;

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl<H: ServerHandler + Clone + Sync> Shared<H> {
    /// Answers a request.
    pub async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        seen: Seen,
    ) -> Response<Reply> {
        let answer = self.judge(request, &seen).await;
        answer.map(|body| Reply::new(body, Arc::clone(&self.frames), seen))
    }

    async fn judge(&self, request: Request<Incoming>, seen: &Seen) -> Answer {
        match seen.fault() {
            Some(Fault::Method) => {
                return early(StatusCode::METHOD_NOT_ALLOWED, "this method is not served");
            }
            Some(Fault::Target) => {
                let message = "the target of a request is a path as it stands";
                return early(StatusCode::BAD_REQUEST, message);
            }
            None => {}
        }
        if !self.guard.admits(request.headers()) {
            let message = "this Host or Origin may not ask a server on a loopback address";
            return early(StatusCode::FORBIDDEN, message);
        }
        let path = request.uri().path();
        let plain = self.routes.iter().find(|route| route.path == path);
        match plain {
            None if path != ROUTE => {
                return early(StatusCode::NOT_FOUND, "there is nothing here; /mcp is");
            }
            Some(route) if request.method() != route.method => return not_allowed(route),
            _ => {}
        }
        let Some(slot) = self.admission.slot() else {
            let message = "too many requests at once; try again";
            return early(StatusCode::SERVICE_UNAVAILABLE, message);
        };
        let (parts, incoming) = request.into_parts();
        let text = match body::read(incoming).await {
            Ok(text) => text,
            Err(Unread::TooLong) => {
                if let Some(told) = plain.and_then(|route| route.too_long.clone()) {
                    return closing(told.into_answer());
                }
                let message = format!("a request has at most {} bytes", body::LONGEST);
                return early(StatusCode::PAYLOAD_TOO_LARGE, &message);
            }
            Err(Unread::Broken) => {
                return early(StatusCode::BAD_REQUEST, "the body of the request is broken");
            }
        };
        if let Some(route) = plain {
            seen.hold(slot);
            let answer = Arc::clone(&route.answer);
            let plain = tokio::task::spawn_blocking(move || answer(&text)).await;
            return plain.map_or_else(|_| failed(), Plain::into_answer);
        }
        // What waits for its reply stands in nobody's way.
        drop(slot);
        let headers = parts.headers.clone();
        let method = parts.method.clone();
        let request = Request::from_parts(parts, text);
        if method == Method::DELETE {
            return self.sessions.delete(&request).await.unwrap_or_else(busy);
        }
        if method != Method::POST {
            return self.sessions.forward(request).await;
        }
        if let Err(message) = exact(request.body()) {
            return rpc_error(StatusCode::BAD_REQUEST, -32700, &message);
        }
        if request.body().trim_ascii_start().first() == Some(&b'[') {
            let message = "a request is one message; batches are not served";
            return rpc_error(StatusCode::BAD_REQUEST, -32600, message);
        }
        match takes_over(&headers, request.body()) {
            true => self.sessions.begin(request).await.unwrap_or_else(busy),
            false => self.sessions.forward(request).await,
        }
    }
}

/// Whether a request begins a session: `initialize` alone, in the form that
/// the protocol asks for, of a client that names no session.
fn takes_over(headers: &HeaderMap, text: &[u8]) -> bool {
    let named = |name| {
        let values = headers.get_all(name).iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        texts.collect::<Vec<_>>().join(",").to_ascii_lowercase()
    };
    let kind = named(CONTENT_TYPE);
    let is_json = kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim() == "application/json");
    let accepted = named(ACCEPT);
    let accepts = |wanted: &str| {
        let mut kinds = accepted
            .split(',')
            .filter_map(|kind| kind.split(';').next());
        kinds.any(|kind| kind.trim() == wanted)
    };
    let both = accepts("application/json") && accepts("text/event-stream");
    if headers.contains_key(SESSION) || !is_json || !both {
        return false;
    }
    // One that the SDK cannot read would end a session and begin none.
    serde_json::from_slice::<rmcp::model::ClientJsonRpcMessage>(text).is_ok_and(|message| {
        matches!(
            message,
            rmcp::model::JsonRpcMessage::Request(request)
                if matches!(request.request, rmcp::model::ClientRequest::InitializeRequest(_))
        )
    })
}

fn busy(_: Busy) -> Answer {
    let message = "calls of the session before have not ended yet; try again";
    text(StatusCode::SERVICE_UNAVAILABLE, message)
}

fn text(status: StatusCode, message: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{message}\n"))).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

impl Plain {
    fn into_answer(self) -> Answer {
        let length = self.body.len();
        let mut answer = Response::new(Full::new(self.body).boxed());
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        if length > 0 {
            let kind = HeaderValue::from_static("application/json");
            headers.insert(CONTENT_TYPE, kind);
            headers.insert(CONTENT_LENGTH, length.into());
        }
        answer
    }
}

fn not_allowed(route: &Route) -> Answer {
    let message = format!("{} is served here, and no other method", route.method);
    let mut answer = early(StatusCode::METHOD_NOT_ALLOWED, &message);
    if let Ok(method) = HeaderValue::from_str(route.method.as_str()) {
        answer.headers_mut().insert(ALLOW, method);
    }
    answer
}

/// What answers has ended unexpectedly.
fn failed() -> Answer {
    let message = "the request was not answered";
    text(StatusCode::INTERNAL_SERVER_ERROR, message)
}

/// A reply before the request was read, after which the connection ends.
fn early(status: StatusCode, message: &str) -> Answer {
    closing(text(status, message))
}

fn closing(mut answer: Answer) -> Answer {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(CONNECTION, close);
    answer
}

fn rpc_error(status: StatusCode, code: i32, message: &str) -> Answer {
    let error = serde_json::json!({
        "jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message},
    });
    let mut answer = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
