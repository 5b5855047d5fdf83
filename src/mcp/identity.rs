//! What a server says of itself: its build, its catalog by digest, and whether
//! it is what a client expects (section 9.3).

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::schema::{self, digest};
use super::server::{ClientFacts, Server};
use super::settings::OutputProfile;
use super::tool::Tool;

/// The catalog's digests, made when they are first asked for.
#[derive(Debug)]
pub(super) struct Catalog {
    cli_commands: u64,
    digests: OnceLock<Value>,
}

impl Catalog {
    pub fn new(cli_commands: u64) -> Self {
        Self {
            cli_commands,
            digests: OnceLock::new(),
        }
    }
}

/// What a client expects of a server.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// The version of the package.
    pub version: Option<String>,
    /// `catalog.digests.combined_sha256`.
    pub digest: Option<String>,
    /// The path of the program.
    pub path: Option<String>,
}

impl Server {
    /// `server_identity`.
    pub fn identity(&self, client: &ClientFacts, expected: &Expected) -> Value {
        let program = std::env::current_exe().ok();
        let path = program
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned());
        let root = program
            .as_ref()
            .and_then(|path| path.parent())
            .map(|path| path.to_string_lossy().into_owned());
        let version = env!("CARGO_PKG_VERSION");
        let digests = self.digests();
        let mut reasons = Vec::new();
        let differs = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_some_and(|wanted| Some(wanted) != is)
        };
        if differs(&expected.version, Some(version)) {
            reasons.push("package_version_mismatch");
        }
        if differs(&expected.digest, digests["combined_sha256"].as_str()) {
            reasons.push("catalog_digest_mismatch");
        }
        if differs(&expected.path, path.as_deref()) {
            reasons.push("registration_path_mismatch");
        }
        let asked = [&expected.version, &expected.digest, &expected.path];
        let state = match (reasons.is_empty(), asked.into_iter().any(Option::is_some)) {
            (false, _) => "mcp_server_restart_required",
            (true, true) => "aligned",
            (true, false) => "unknown",
        };
        let remediation = (!reasons.is_empty())
            .then_some("Restart the server with the program that is expected, then connect again.");
        json!({
            "package": {
                "name": env!("CARGO_PKG_NAME"),
                "version": version,
                "root_path": root,
                "build_commit": self.settings.build_commit,
            },
            "server": {
                "name": "rea",
                "version": version,
                "started_at": self.session.started_at,
                "command_path": path,
            },
            "sdk": {"name": "rmcp", "language": "rust"},
            "negotiated_protocol_version": client.protocol_version,
            "client": client.client.as_ref().map(|(name, version)| json!({
                "name": name, "version": version,
            })),
            "skill": {"name": "rea", "expected_version": version},
            "catalog": {"counts": self.counts(), "digests": digests},
            "protocol_features": ["tools", "prompts", "completions", "progress", "cancellation"],
            "alignment": {"state": state, "reasons": reasons, "remediation": remediation},
        })
    }

    /// `catalog.counts`.
    pub fn counts(&self) -> Value {
        json!({
            "cli_commands": self.catalog.cli_commands,
            "mcp_tools": self.tools.len(),
            "mcp_prompts": self.prompts.len(),
        })
    }

    /// `catalog.digests`: SHA-256 of the canonical JSON of what is in it.
    pub fn digests(&self) -> &Value {
        self.catalog.digests.get_or_init(|| {
            let output = self.settings.output_profile;
            let tools: Vec<Value> = self.tools().map(|tool| digested(tool, output)).collect();
            let tools = hex(&json!({"tools": tools, "output_profile": output.as_str()}));
            let prompts = hex(&serde_json::to_value(self.prompts.listed()).unwrap_or_default());
            let providers: Vec<Value> = self
                .session
                .engines
                .iter()
                .map(|engine| super::engine::profile(engine.as_ref()))
                .collect();
            let providers = hex(&providers.into());
            let combined = hex(&json!({
                "tools_sha256": tools, "prompts_sha256": prompts, "providers_sha256": providers,
            }));
            json!({
                "tools_sha256": tools,
                "prompts_sha256": prompts,
                "providers_sha256": providers,
                "combined_sha256": combined,
            })
        })
    }
}

fn hex(document: &Value) -> String {
    digest(document)
        .map(|digest| digest.to_hex())
        .unwrap_or_default()
}

/// What of a tool is in the digest: the complete contract, whatever profile is
/// shown.
pub fn digested(tool: &Tool, output: OutputProfile) -> Value {
    let annotations = tool.effects.annotations();
    let shown = match output {
        OutputProfile::Full => schema::output_schema(tool),
        OutputProfile::Off => Value::Null,
    };
    json!({
        "name": tool.name,
        "title": tool.title(),
        "surface": tool.surface,
        "description": tool.description,
        "effects": tool.effects.names().collect::<Vec<_>>(),
        "annotations": annotations.names().collect::<Vec<_>>(),
        "input_schema": tool.input_schema,
        "output_schema": shown,
    })
}
