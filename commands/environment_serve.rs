//! `rea environment-serve`: recorded web traffic as tools for agents.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rea::environment::{Environment, OPERATION, serve};
use rea::json::{Limits, Object};
use rea::mcp::Settings;
use rea::operation::{Context, Effect, Family, Operation};
use rea::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::serve::{DRAIN, Signals, runtime};
use crate::mcp::settings_at;
use crate::registry::{Command, OutputKind};
use crate::tool::Form;
use crate::ui::Ui;

/// Serve recorded web traffic to agents, as tools that replay it
///
/// Takes a manifest (`rea view CAPTURE --environment-manifest`) and the capture
/// it was made of, and listens: at /mcp for the Model Context Protocol, with one
/// tool for each operation of the manifest; at /.well-known/agent-env.json for
/// a card of the same tools; and at /agentenv for JSON-RPC, which has no
/// operations of its own. A call is answered with the recorded response that
/// fits it best, and says whether it was an exact match. Nothing is fetched,
/// written or started, and no call changes a later one.
///
/// Where it listens is said on stderr, in a line of JSON whose "msg" is "MCP
/// transport listening". It serves until SIGINT or SIGTERM; then it says on
/// stdout that it has stopped. One client is served at a time, the next one
/// takes over. There is neither encryption nor a login: listen on a loopback
/// address only, unless the network is yours.
///
/// Environment: ENVIRONMENT_NAME (in place of the manifest's name), MCP_HOST,
/// MCP_PORT, REA_LOG_LEVEL.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Record of an environment-manifest view, `-` for standard input
    pub manifest: PathBuf,

    /// Evidence of the capture that the manifest was made of, `-` for standard
    /// input
    #[arg(long, value_name = "CAPTURE")]
    pub evidence: PathBuf,

    /// Address to listen on [default: MCP_HOST, or 127.0.0.1]
    #[arg(long, value_name = "HOST")]
    #[serde(default)]
    pub host: Option<String>,

    /// Port to listen on [default: MCP_PORT, or any that is free]
    #[arg(long, value_name = "PORT")]
    #[serde(default)]
    pub port: Option<u16>,
}

impl Command for Input {
    const OPERATION: Operation = Operation {
        name: OPERATION,
        family: Family::Web,
        effects: &[Effect::Read, Effect::Listen],
        returns_target_content: true,
        host_requirement: None,
    };
    const OUTPUT: OutputKind = OutputKind::Result;
    const EXAMPLE: &'static str =
        "rea environment-serve manifest.json --evidence capture.json --port 8765";
    const TOOL: Form = Form::None;

    fn run(self, ui: &Ui) -> Result<ExitCode> {
        if self.manifest.as_os_str() == "-" && self.evidence == self.manifest {
            let message = "standard input can be one of the two records, not both";
            let (at, reason) = (["evidence"], "invalid_value");
            return Err(Error::invalid_request(OPERATION, &at, reason, message)
                .action("Put one of them into a file."));
        }
        let settings = settings_at(self.host.as_deref(), self.port)?;
        let runtime = runtime()?;
        let context = ui.context(OPERATION);
        let (environment, mut signals) = ui.operate(&context, |context| {
            // Received from here on, so that none is lost between loading and
            // serving.
            let signals = Signals::listen()?;
            Ok((self.load(context)?, signals))
        })?;
        let name = environment.name.clone();
        let ended = runtime.block_on(until_stopped(
            environment,
            &settings,
            &mut signals,
            &context,
        ));
        // The name of a host that is still looked up is of no use any more.
        runtime.shutdown_background();
        let (url, number) = ended?;
        let mut stopped = Object::new();
        stopped.insert("name", name.as_str());
        stopped.insert("signal", if number == 2 { "SIGINT" } else { "SIGTERM" });
        stopped.insert("status", "stopped");
        stopped.insert("url", url.as_str());
        // That one is over: its request to stop is not meant for this.
        let context = ui.context(OPERATION);
        ui.document(&context, &stopped, |report| {
            report.title(format!("Environment {name}"));
            report.fact("status", "stopped");
            report.fact("url", url.as_str());
        })?;
        Ok(ExitCode::from(128 + number))
    }
}

impl Input {
    fn load(&self, context: &Context) -> Result<Environment> {
        // What is no text is a name that shows it.
        let name = std::env::var_os("ENVIRONMENT_NAME");
        let name = name.map(|name| name.to_string_lossy().into_owned());
        let (manifest, capture) = (&self.manifest, &self.evidence);
        Environment::load(
            manifest,
            capture,
            name.as_deref(),
            Limits::default(),
            context,
        )
    }
}

/// Serves until a signal comes: the address, and the signal's number.
async fn until_stopped(
    environment: Environment,
    settings: &Settings,
    signals: &mut Signals,
    context: &Context,
) -> Result<(String, u8)> {
    let serving = tokio::select! {
        biased;
        number = signals.next() => {
            return Err(Error::cancelled(OPERATION).by_signal(number.into()));
        }
        bound = serve(environment, settings) => bound?,
    };
    // One that came while the address was bound, before anybody was told it.
    if let Err(cancelled) = context.check() {
        serving.stop(DRAIN).await;
        return Err(cancelled);
    }
    serving.announce();
    let url = serving.url();
    let outcome = tokio::select! {
        number = signals.next() => Ok((url, number)),
        error = serving.failed() => Err(error),
    };
    serving.stop(DRAIN).await;
    outcome
}
