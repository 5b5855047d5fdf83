//! An environment behind the listener of the servers: the protocol, the card
//! and JSON-RPC without operations (web.md section 5.2).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::{Method, StatusCode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::card::CARD;
use super::display::sample;
use super::select::Problem;
use super::{Environment, INSTRUCTIONS, OPERATION, json_rpc};
use crate::error::{Code, Error, Result};
use crate::json::{Issue, Text, Value, canonical};
use crate::mcp::{
    Calls, Field, Frame, Frames, LISTENING, Level, Listener, Log, Plain, Reply, Route, Served,
    Settings, error_text, framing, provenance, unknown_tool, value,
};

/// Faults of one call that are told.
const TOLD: usize = 64;

/// An environment that is being served.
pub struct Serving {
    listener: Listener<Handler>,
    calls: Arc<Calls>,
    log: Log,
}

/// Serves an environment where the settings say.
///
/// # Errors
/// `execution_failure` where that address cannot be bound.
pub async fn serve(environment: Environment, settings: &Settings) -> Result<Serving> {
    let log = Log::new(settings.log_level);
    let routes = routes(&environment);
    let handler = Handler(Arc::new(Replays {
        tools: environment.catalog.tools.iter().map(listed).collect(),
        environment,
        frames: Arc::default(),
        calls: Arc::default(),
        log,
    }));
    let calls = Arc::clone(&handler.0.calls);
    let served = Served {
        host: settings.host.clone(),
        port: settings.port,
        log,
        frames: Arc::clone(&handler.0.frames),
        calls: Arc::clone(&calls),
        handler,
        routes,
    };
    let listener = served.listen().await?;
    Ok(Serving {
        listener,
        calls,
        log,
    })
}

impl Serving {
    /// Where the protocol is spoken.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Logs the address.
    pub fn announce(&self) {
        let fields = [("url", Field::Text(&self.url()))];
        self.log.say(Level::Info, "http", LISTENING, &fields);
    }

    /// Waits until the listener fails, which most never do.
    pub async fn failed(&self) -> Error {
        self.listener.failed().await
    }

    /// Stops to listen, ends the session, and waits for calls and connections;
    /// `false` where some are still going on after `limit`.
    pub async fn stop(self, limit: Duration) -> bool {
        let calm = self.listener.stop(limit).await;
        self.calls.stop(limit).await && calm
    }
}

/// The routes beside the protocol's.
fn routes(environment: &Environment) -> Vec<Route> {
    let card = Plain {
        status: StatusCode::OK,
        body: canonical(&environment.card()).into(),
    };
    vec![
        Route {
            method: Method::GET,
            path: CARD,
            answer: Arc::new(move |_| card.clone()),
            too_long: None,
        },
        Route {
            method: Method::POST,
            path: json_rpc::ROUTE,
            answer: Arc::new(|body| plain(json_rpc::answer(body))),
            too_long: Some(plain(json_rpc::too_long())),
        },
    ]
}

fn plain(answer: json_rpc::Answer) -> Plain {
    Plain {
        status: StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        body: Bytes::from(answer.body),
    }
}

/// A tool as `tools/list` has it: name, description and schema as in the card.
fn listed(tool: &super::Tool) -> Tool {
    let schema = serde_json::from_slice(&canonical(&tool.input_schema())).unwrap_or_default();
    let hints = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(
        tool.name.clone(),
        tool.description.clone(),
        Arc::<serde_json::Map<String, serde_json::Value>>::new(schema),
    )
    .with_annotations(hints)
}

/// An environment as a connection sees it.
#[derive(Clone)]
pub struct Handler(Arc<Replays>);

struct Replays {
    environment: Environment,
    tools: Vec<Tool>,
    frames: Arc<Frames>,
    calls: Arc<Calls>,
    log: Log,
}

impl Replays {
    /// The text of the reply to a call.
    fn work(&self, tool: &str, arguments: &Value) -> Result<Arc<[u8]>> {
        match self.environment.call(tool, arguments) {
            Some(Ok(replay)) => Ok(canonical(&replay.result).into()),
            Some(Err(problems)) => Err(refused(problems)),
            None => Err(Error::new(Code::ExecutionFailure, "the tool has no record")),
        }
    }

    /// The result of a call, and whether it is a success.
    fn result(
        &self,
        outcome: Result<Arc<[u8]>>,
        id: &str,
        complete: bool,
    ) -> (CallToolResult, bool) {
        match outcome {
            // A body is bounded so that the largest reply has less than 4 MB:
            // it fits into what any client receives.
            Ok(text) => {
                let reply = Reply::Object(text);
                let frame = Frame::new(id, &reply, true, &BTreeMap::new(), complete);
                (self.frames.stand_in(frame), true)
            }
            Err(error) => {
                let text = ContentBlock::text(error_text(&error));
                let mut result = CallToolResult::error(vec![text]);
                result.meta = Some(provenance());
                (result, false)
            }
        }
    }
}

/// The error for arguments that are refused. Their names are the caller's, and
/// are shown as far as they help.
fn refused(problems: Vec<Problem>) -> Error {
    let issue = |problem: Problem| {
        let name = sample(&Text::from(problem.argument));
        let message = match problem.reason {
            "unknown_argument" => format!("there is no argument {name}"),
            "missing_argument" => format!("{name} is needed"),
            _ => format!("{name} has another type"),
        };
        Issue::at(vec![Value::from(name)], problem.reason, message)
    };
    let issues = problems.into_iter().take(TOLD).map(issue).collect();
    Issue::all_into_error(issues, OPERATION).action(
        "Correct the arguments by the tool's input schema in tools/list; the same call fails again.",
    )
}

impl ServerHandler for Handler {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = InitializeResult::new(capabilities);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info.server_info = Implementation::new("rea", env!("CARGO_PKG_VERSION"))
            .with_title(self.0.environment.name.clone());
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let replays = Arc::clone(&self.0);
        let name = request.name;
        if replays.environment.catalog.find(&name).is_none() {
            let example = replays.tools.first().map(|tool| tool.name.as_ref());
            return Err(unknown_tool(example));
        }
        let began = Instant::now();
        let (id, complete) = framing(&context);
        let (stop, guard) = replays.calls.begin(&context);
        let gave_up = context.ct.clone();
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let working = Arc::clone(&replays);
        let tool = name.clone();
        let joined = tokio::task::spawn_blocking(move || {
            let _guard = guard;
            // A call that was cancelled before it began never begins.
            let outcome = match stop.is_cancelled() || gave_up.is_cancelled() {
                true => Err(Error::cancelled(OPERATION)),
                false => {
                    let arguments = value(&arguments).unwrap_or_default();
                    working.work(&tool, &arguments)
                }
            };
            working.result(outcome, &id, complete)
        })
        .await;
        let (result, success) = joined.unwrap_or_else(|_| {
            let error = Error::new(Code::ExecutionFailure, "the tool ended unexpectedly");
            replays.result(Err(error), "", complete)
        });
        replays.log.called(&name, began, success);
        Ok(CallToolResponse::Complete(result))
    }
}
