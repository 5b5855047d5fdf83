//! The server: what the SDK asks, answered from the table of tools, the
//! prompts and the session.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeResult, ListPromptsResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::call::Call;
use super::delivery::{Page, error_text};
use super::frame::{Frame, Frames};
use super::identity::Catalog;
use super::log::{Field, Log};
use super::prompts::Prompts;
use super::schema;
use super::session::Session;
use super::settings::{Level, OutputProfile, Settings};
use super::tool::{Arguments, Reply, Takes, Tool};
use super::validate::Check;
use crate::error::{Code, Error};

/// Between two looks at a call's progress, and between two notices of it.
const NOTICE: Duration = Duration::from_millis(100);

/// Everything that a connection is served from. There may be several
/// connections one after the other; they share it.
pub struct Server {
    /// What the environment said.
    pub settings: Settings,
    /// What is remembered.
    pub session: Arc<Session>,
    pub(super) tools: Vec<Entry>,
    pub(super) prompts: Prompts,
    pub(super) frames: Frames,
    pub(super) log: Log,
    pub(super) calls: Calls,
    pub(super) catalog: Catalog,
    instructions: String,
    listed: OnceLock<Vec<rmcp::model::Tool>>,
}

/// A tool and its compiled schema.
pub(super) struct Entry {
    pub tool: Tool,
    check: Check,
}

/// Calls that are being worked on, so that a shutdown or another client can
/// stop them and wait for them. Requests of the newest revision belong to no
/// session, and no client that comes or goes ends them (decision 34).
#[derive(Debug, Default)]
pub(super) struct Calls {
    of_session: Group,
    of_nobody: Group,
}

/// Calls that end together.
#[derive(Debug, Default)]
struct Group {
    tracker: TaskTracker,
    stop: Mutex<CancellationToken>,
}

impl Calls {
    /// Those that a request belongs to.
    fn group(&self, context: &RequestContext<RoleServer>) -> &Group {
        // Over stdio there are no headers, and one client.
        let head = context.extensions.get::<hyper::http::request::Parts>();
        match head {
            Some(head) if !head.headers.contains_key(super::http::SESSION) => &self.of_nobody,
            _ => &self.of_session,
        }
    }

    /// Asks the calls of the session to stop; those that begin later are not
    /// meant.
    pub fn cancel(&self) {
        self.of_session.cancel();
    }

    /// Waits until no call of the session is being worked on; `false` after
    /// `limit`.
    pub async fn drained(&self, limit: Duration) -> bool {
        self.of_session.drained(limit).await
    }
}

impl Group {
    fn token(&self) -> CancellationToken {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.child_token()
    }

    fn cancel(&self) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.cancel();
        *stop = CancellationToken::new();
    }

    async fn drained(&self, limit: Duration) -> bool {
        self.tracker.close();
        let done = tokio::time::timeout(limit, self.tracker.wait())
            .await
            .is_ok();
        self.tracker.reopen();
        done
    }
}

/// What a server is made of.
pub struct Parts {
    /// The session.
    pub session: Arc<Session>,
    /// The tools, which have names of their own.
    pub tools: Vec<Tool>,
    /// The prompts.
    pub prompts: Prompts,
    /// How the product calls itself to agents.
    pub instructions: String,
    /// Commands of the command line.
    pub cli_commands: u64,
}

impl Server {
    /// A server of `parts` and of the session's own tools.
    pub fn new(parts: Parts) -> Arc<Self> {
        let settings = parts.session.settings.clone();
        let log = Log::new(settings.log_level);
        Arc::new_cyclic(|server| {
            let own = super::tools::all(server.clone());
            let mut tools: Vec<Entry> = parts
                .tools
                .into_iter()
                .chain(own)
                .map(|tool| Entry {
                    tool,
                    check: Check::default(),
                })
                .collect();
            tools.sort_by_key(|entry| entry.tool.name);
            Self {
                settings,
                session: parts.session,
                tools,
                prompts: parts.prompts,
                frames: Frames::default(),
                log,
                calls: Calls::default(),
                catalog: Catalog::new(parts.cli_commands),
                instructions: parts.instructions,
                listed: OnceLock::new(),
            }
        })
    }

    /// Asks all calls to stop and waits for them; `false` after `limit`.
    pub async fn stop(&self, limit: Duration) -> bool {
        let groups = [&self.calls.of_session, &self.calls.of_nobody];
        groups.iter().for_each(|group| group.cancel());
        let [session, nobody] = groups.map(|group| group.drained(limit));
        let (session, nobody) = tokio::join!(session, nobody);
        session && nobody
    }

    /// The tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|entry| &entry.tool)
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let at = self
            .tools
            .binary_search_by_key(&name, |entry| entry.tool.name);
        self.tools.get(at.ok()?)
    }

    fn listed(&self) -> &[rmcp::model::Tool] {
        self.listed
            .get_or_init(|| self.tools().map(|tool| self.advertised(tool)).collect())
    }

    fn advertised(&self, tool: &Tool) -> rmcp::model::Tool {
        let input = schema::input_schema(tool, self.settings.input_profile);
        let annotations = tool.effects.annotations();
        let hints = rmcp::model::ToolAnnotations::with_title(tool.title())
            .read_only(annotations.read_only)
            .destructive(annotations.destructive)
            .idempotent(annotations.idempotent)
            .open_world(annotations.open_world);
        let listed =
            rmcp::model::Tool::new(tool.name, tool.description.clone(), Arc::new(object(input)))
                .with_title(tool.title())
                .with_annotations(hints);
        match self.settings.output_profile {
            OutputProfile::Full => {
                let output = object(schema::output_schema(tool));
                listed.with_raw_output_schema(Arc::new(output))
            }
            OutputProfile::Off => listed,
        }
    }

    /// Validates and runs a call. Everything that can fail here is told as the
    /// result of the tool.
    fn work(&self, entry: &Entry, arguments: Arguments, call: &Call) -> Result<Reply, Error> {
        let tool = &entry.tool;
        let mut arguments = entry.check.arguments(tool, arguments)?;
        let context = call.context(tool.name);
        // A call that was cancelled before it began never begins.
        context.check()?;
        if tool.takes != Takes::Nothing && !arguments.contains_key("path") {
            let path = self.session.path_for(tool)?;
            arguments.insert("path".to_owned(), path.into());
        }
        let summary = tool.summary
            && arguments
                .remove("detail")
                .is_some_and(|detail| detail == "summary");
        let reply = (tool.run)(arguments, call)?;
        // What comes after a cancellation is no success.
        context.check()?;
        let Reply::Evidence { id, text } = &reply else {
            return Ok(reply);
        };
        self.session.ledger.keep(*id, text, &context)?;
        if !summary {
            return Ok(reply);
        }
        let view = super::tools::view::summary(&self.session, *id, call)?;
        if let Reply::Evidence { id, text } = &view {
            self.session.ledger.keep(*id, text, &context)?;
        }
        Ok(view)
    }

    /// The message that answers a call, and whether it is a success.
    fn answer(
        &self,
        tool: &Tool,
        asked: Option<Page>,
        outcome: Result<Reply, Error>,
        call: &Call,
        id: &str,
        complete: bool,
    ) -> (CallToolResult, bool) {
        let error = match outcome {
            Ok(reply) => {
                let marked = tool.returns_target_content;
                let frame = Frame::new(id, &reply, marked, &call.notes(), complete);
                if frame.size() <= self.settings.budget() {
                    return (self.token(frame), true);
                }
                self.too_large(tool, asked, &reply, &frame)
            }
            Err(error) => error,
        };
        let mut text = error_text(&error);
        // Quotation marks are escaped once more in the frame.
        let length = text.len()
            + text
                .bytes()
                .filter(|&byte| matches!(byte, b'"' | b'\\'))
                .count();
        if length as u64 + 512 > self.settings.budget() {
            let kept = self
                .session
                .ledger
                .keep_error(&error, tool.name, &call.context(tool.name));
            text = error_text(&self.bounded(&error, tool.name, kept));
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        if tool.returns_target_content {
            result.meta = Some(provenance());
        }
        (result, false)
    }

    /// What stands for a frame until it is written.
    fn token(&self, frame: Frame) -> CallToolResult {
        let token = self.frames.put(frame);
        let mut result = CallToolResult::success(Vec::new());
        let mut meta = MetaObject::new();
        meta.insert("rea/frame".to_owned(), token.into());
        result.meta = Some(meta);
        result
    }
}

fn provenance() -> MetaObject {
    let mut meta = MetaObject::new();
    let marker = serde_json::json!({"untrusted_content": true, "source": "analysis_target"});
    meta.insert("provenance".to_owned(), marker);
    meta
}

fn object(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    match value {
        serde_json::Value::Object(members) => members,
        _ => serde_json::Map::new(),
    }
}

/// A server as a connection sees it.
#[derive(Clone)]
pub struct Connection(pub Arc<Server>);

impl ServerHandler for Connection {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_completions()
            .build();
        let mut info = InitializeResult::new(capabilities);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info.server_info = Implementation::new("rea", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(self.0.instructions.clone());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.listed().to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let server = Arc::clone(&self.0);
        if server.find(&request.name).is_none() {
            let example = server.tools.first().map_or("", |entry| entry.tool.name);
            let message = format!(
                "there is no such tool; tools/list lists those that there are, such as {example}"
            );
            return Err(ErrorData::invalid_params(Cow::Owned(message), None));
        }
        let began = Instant::now();
        let id = serde_json::to_string(&context.id).unwrap_or_default();
        let complete = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let client = ClientFacts::of(&context);
        let mut call = Call::new(Arc::clone(&server.session));
        call.request_id = id.clone();
        call.client = client;
        let arguments = request.arguments.unwrap_or_default();
        let name = request.name;

        // A client that gives up, and a server that is stopped.
        let cancellation = Arc::clone(&call.cancellation);
        let group = server.calls.group(&context);
        let (stop, guard) = (group.token(), group.tracker.token());
        let gave_up = context.ct.clone();
        let watcher = tokio::spawn(async move {
            tokio::select! {
                () = gave_up.cancelled() => {}
                () = stop.cancelled() => {}
            }
            cancellation.request(None);
        });
        let notices = context.meta.get_progress_token().map(|token| {
            let progress = Arc::clone(&call.progress);
            let peer = context.peer.clone();
            let operation = name.clone().into_owned();
            let (end, ended) = tokio::sync::oneshot::channel();
            let task = tokio::spawn(super::progress::tell(
                progress, token, peer, operation, NOTICE, ended,
            ));
            (end, task)
        });

        let working = Arc::clone(&server);
        let tool = name.clone();
        let joined = tokio::task::spawn_blocking(move || {
            let _guard = guard;
            let entry = working.find(&tool)?;
            let activity = call.session.begin(&call.request_id, entry.tool.name);
            let asked = Page::of(&entry.tool, &arguments);
            let outcome = working.work(entry, arguments, &call);
            drop(activity);
            Some(working.answer(&entry.tool, asked, outcome, &call, &id, complete))
        })
        .await;
        watcher.abort();
        if let Some((end, task)) = notices {
            // The last notice goes out before the reply.
            let _ = end.send(());
            let _ = task.await;
        }
        let (result, success) = match joined {
            Ok(Some(answer)) => answer,
            Ok(None) | Err(_) => {
                let error = Error::new(Code::ExecutionFailure, "the tool ended unexpectedly");
                let text = error_text(&error);
                (CallToolResult::error(vec![ContentBlock::text(text)]), false)
            }
        };
        let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let level = if success { Level::Info } else { Level::Warn };
        server.log.say(
            level,
            "tools",
            "tool call",
            &[
                ("durationMs", Field::Number(duration)),
                ("status", Field::Text(if success { "ok" } else { "error" })),
                ("tool", Field::Text(&name)),
            ],
        );
        Ok(CallToolResponse::Complete(result))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.0.prompts.listed()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let prompt = self.0.prompts.get(&request.name, &arguments);
        prompt
            .map(GetPromptResponse::Complete)
            .map_err(|message| ErrorData::new(ErrorCode::INVALID_PARAMS, message, None))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let server = Arc::clone(&self.0);
        let group = server.calls.group(&context);
        let (stop, guard) = (group.token(), group.tracker.token());
        let found = tokio::task::spawn_blocking(move || {
            let _guard = guard;
            super::completion::complete(&server, &request)
        });
        tokio::select! {
            found = found => match found {
                Ok(found) => found
                    .map_err(|message| ErrorData::new(ErrorCode::INVALID_PARAMS, message, None)),
                Err(_) => Ok(CompleteResult::default()),
            },
            () = stop.cancelled() => Ok(CompleteResult::default()),
            () = context.ct.cancelled() => Ok(CompleteResult::default()),
        }
    }
}

/// Serves a connection until it ends.
///
/// # Errors
/// What went wrong, in words.
pub async fn serve<T>(connection: Connection, transport: T) -> Result<(), String>
where
    T: rmcp::transport::Transport<RoleServer> + 'static,
{
    use rmcp::service::ServerInitializeError;
    match rmcp::service::serve_server(connection, transport).await {
        Ok(running) => running
            .waiting()
            .await
            .map(drop)
            .map_err(|error| error.to_string()),
        // A client that leaves before it has said who it is.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// What is known of the client of a call.
#[derive(Clone, Debug, Default)]
pub struct ClientFacts {
    /// `{name, version}`.
    pub client: Option<(String, String)>,
    /// The revision of the protocol.
    pub protocol_version: Option<String>,
    /// Whether it can ask the user with a form.
    pub elicitation_form: bool,
    /// Whether it can send the user to an address.
    pub elicitation_url: bool,
    /// Whether it tells its roots.
    pub roots: bool,
    /// Whether it lends its model.
    pub sampling: bool,
}

impl ClientFacts {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context
            .client_capabilities()
            .and_then(|capabilities| serde_json::to_value(capabilities).ok())
            .unwrap_or_default();
        let elicitation = &capabilities["elicitation"];
        Self {
            client: context.client_info().map(|info| (info.name, info.version)),
            protocol_version: context
                .protocol_version()
                .map(|version| version.as_str().to_owned()),
            // A client that says nothing more of it has forms.
            elicitation_form: elicitation.is_object()
                && (elicitation["form"].is_object() || !elicitation["url"].is_object()),
            elicitation_url: elicitation["url"].is_object(),
            roots: capabilities["roots"].is_object(),
            sampling: capabilities["sampling"].is_object(),
        }
    }
}
