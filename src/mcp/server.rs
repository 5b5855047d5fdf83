//! The server: what the SDK asks, answered from the table of tools, the
//! prompts and the session.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeResult, ListPromptsResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::call::Call;
use super::calls::Calls;
use super::delivery::{Page, error_text};
use super::frame::{Frame, Frames};
use super::identity::Catalog;
use super::log::Log;
use super::prompts::Prompts;
use super::schema;
use super::session::Session;
use super::settings::{OutputProfile, Settings};
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
    pub(super) frames: Arc<Frames>,
    pub(super) log: Log,
    pub(super) calls: Arc<Calls>,
    pub(super) catalog: Catalog,
    instructions: String,
    listed: OnceLock<Vec<rmcp::model::Tool>>,
}

/// A tool and its compiled schema.
pub(super) struct Entry {
    pub tool: Tool,
    check: Check,
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
                frames: Arc::default(),
                log,
                calls: Arc::default(),
                catalog: Catalog::new(parts.cli_commands),
                instructions: parts.instructions,
                listed: OnceLock::new(),
            }
        })
    }

    /// Asks all calls to stop and waits for them; `false` after `limit`.
    pub async fn stop(&self, limit: Duration) -> bool {
        self.calls.stop(limit).await
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
                    return (self.frames.stand_in(frame), true);
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
}

/// What stands in `_meta` of a reply with target content (section 7).
pub(crate) fn provenance() -> MetaObject {
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

/// A tool that is not there; `example` is one that is.
pub(crate) fn unknown_tool(example: Option<&str>) -> ErrorData {
    let mut message = "there is no such tool; tools/list lists those that there are".to_owned();
    if let Some(example) = example {
        message.push_str(", such as ");
        message.push_str(example);
    }
    ErrorData::invalid_params(Cow::Owned(message), None)
}

/// The JSON text of a request's id, and whether the revision of the protocol
/// has `resultType`.
pub(crate) fn framing(context: &RequestContext<RoleServer>) -> (String, bool) {
    let id = serde_json::to_string(&context.id).unwrap_or_default();
    let complete = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    (id, complete)
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
            let example = server.tools.first().map(|entry| entry.tool.name);
            return Err(unknown_tool(example));
        }
        let began = Instant::now();
        let (id, complete) = framing(&context);
        let client = ClientFacts::of(&context);
        let mut call = Call::new(Arc::clone(&server.session));
        call.request_id = id.clone();
        call.client = client;
        let arguments = request.arguments.unwrap_or_default();
        let name = request.name;

        // A client that gives up, and a server that is stopped.
        let cancellation = Arc::clone(&call.cancellation);
        let (stop, guard) = server.calls.begin(&context);
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
        server.log.called(&name, began, success);
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
        let (stop, guard) = server.calls.begin(&context);
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
