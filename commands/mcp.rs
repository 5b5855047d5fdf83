//! `rea mcp`: the operations as tools for agents.

mod doctor;
pub mod engine;
mod prompts;
pub mod serve;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rea::Result;
use rea::mcp::{Parts, Prompts, Server, Session, Settings, usual_capacity};
use rea::operation::{Effect, Family, Operation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{COMMANDS, Command, OutputKind};
use crate::tool::{Form, tools};
use crate::ui::Ui;

/// Serve the operations to agents, over stdio or HTTP
///
/// Speaks the Model Context Protocol on standard input and output; with --http
/// it listens instead, at /mcp, and says where on stderr. Every operation is a
/// tool. Records stay in the session: later calls name them by id, a record
/// that is too large for a reply is read page by page, and
/// export_evidence_bundle writes them all to a file that `rea verify-evidence`
/// checks. Log lines on stderr are JSON.
///
/// One client is served at a time over HTTP; the next one goes on with the
/// same session. There is neither encryption nor a login: listen on a loopback
/// address only, unless the network is yours.
///
/// `rea mcp doctor` starts the server as a client does, on standard input and
/// output, checks that it answers and has all its tools, and lets it end. It
/// exits with 1 where something is wrong; the output options are for it.
///
/// Environment: REA_MCP_MAX_RESPONSE_BYTES, REA_MCP_INPUT_SCHEMA_PROFILE
/// (compact or full), REA_MCP_OUTPUT_SCHEMA_PROFILE (full or off),
/// REA_ANALYSIS_PROVIDER, REA_LOG_LEVEL, MCP_HOST, MCP_PORT.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to do in place of serving
    #[arg(value_name = "ACTION", conflicts_with = "http")]
    #[serde(default)]
    pub action: Option<Action>,

    /// Listen for HTTP instead of using standard input and output
    #[arg(long)]
    #[serde(default)]
    pub http: bool,

    /// Address to listen on [default: MCP_HOST, or 127.0.0.1]
    #[arg(long, value_name = "HOST", requires = "http")]
    #[serde(default)]
    pub host: Option<String>,

    /// Port to listen on [default: MCP_PORT, or any that is free]
    #[arg(long, value_name = "PORT", requires = "http")]
    #[serde(default)]
    pub port: Option<u16>,
}

/// What can be done with the server beside serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Start it as clients do and check it
    Doctor,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: "mcp",
        family: Family::Host,
        effects: &[Effect::Read, Effect::Write, Effect::Listen],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str = "rea mcp --http --port 8765";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        if let Some(Action::Doctor) = self.action {
            return doctor::run(ui);
        }
        let server = server(settings_at(self.host.as_deref(), self.port)?);
        match self.http {
            true => serve::http(server),
            false => serve::stdio(server),
        }
    }
}

/// The settings of the environment.
pub fn settings() -> Result<Settings> {
    Settings::read(|name| {
        let value = std::env::var_os(name)?;
        // What is no text is no setting either, and is refused like one.
        Some(value.to_string_lossy().into_owned())
    })
}

/// [`settings`], with the address that the command line gives.
pub fn settings_at(host: Option<&str>, port: Option<u16>) -> Result<Settings> {
    let mut settings = settings()?;
    if let Some(host) = host {
        settings.host = rea::mcp::host(host).map_err(|expected| {
            let message = format!("--host is {host:?}; {expected} is needed");
            rea::Error::new(rea::error::Code::ConfigurationInvalid, message)
                .action("Give the address of an interface of this machine, or a name of it.")
        })?;
    }
    if let Some(port) = port {
        settings.port = port;
    }
    Ok(settings)
}

/// A server of all tools.
pub fn server(settings: Settings) -> Arc<Server> {
    let engines: Vec<Box<dyn rea::mcp::Engine>> = vec![Box::new(engine::BuiltIn::new())];
    let session = Session::new(settings, usual_capacity(), engines, Box::new(engine::Files));
    Server::new(Parts {
        session: Arc::new(session),
        tools: tools(),
        prompts: prompts(),
        instructions: prompts::INSTRUCTIONS.to_owned(),
        cli_commands: COMMANDS.iter().filter(|row| !row.hidden).count() as u64,
    })
}

/// The prompts of a server.
pub fn prompts() -> Prompts {
    Prompts::new(prompts::ALL.to_vec())
}
