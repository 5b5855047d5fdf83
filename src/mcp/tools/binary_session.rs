//! `binary_session`: what is open, what can be called, and what the server is.

use std::sync::Weak;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::engine;
use super::super::identity::Expected;
use super::super::server::Server;
use super::super::session::Open;
use super::super::tool::{Effects, Tool};
use super::{availability, result, session_tool};
use crate::error::{Code, Error};

/// What the caller expects of this server; all optional.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Version of the package that should run
    #[serde(default)]
    #[schemars(length(min = 1))]
    expected_package_version: Option<String>,
    /// `server_identity.catalog.digests.combined_sha256` that is expected
    #[serde(default)]
    #[schemars(regex(pattern = "^[a-f0-9]{64}$"))]
    expected_catalog_digest: Option<String>,
    /// Path of the program that should run
    #[serde(default)]
    #[schemars(length(min = 1))]
    expected_server_path: Option<String>,
}

const DESCRIPTION: &str = "Say what is open, which tools can be called now and what the others \
need, which providers there are, and what this server is. Start here. Nothing is analysed.";

pub(super) fn tool(server: Weak<Server>) -> Tool {
    session_tool(
        "binary_session",
        DESCRIPTION,
        Effects::IDEMPOTENT,
        move |input: Input, call| {
            let Some(server) = server.upgrade() else {
                return Err(Error::new(Code::ExecutionFailure, "the server is gone"));
            };
            result(&status(&server, call, input))
        },
    )
}

fn status(server: &Server, call: &Call, input: Input) -> Value {
    let session = &call.session;
    let open = session.open();
    let expected = Expected {
        version: input.expected_package_version,
        digest: input.expected_catalog_digest,
        path: input.expected_server_path,
    };
    let (target, binding) = match &open {
        Open::Binary {
            target, binding, ..
        } => (Some(target.as_ref()), binding.as_deref()),
        Open::Nothing | Open::Resources(_) => (None, None),
    };
    let mut status = json!({
        "open": !matches!(open, Open::Nothing),
        "session_kind": match &open {
            Open::Nothing => Value::Null,
            Open::Binary { .. } => "binary".into(),
            Open::Resources(_) => "bundle_resources".into(),
        },
        "path": target.map(|target| target.path.as_str()),
        "sha256": target.map(|target| target.sha256.to_hex()),
        "format": target.map(|target| target.format),
        "kind": target.map(|target| target.kind),
        "architecture": target.and_then(|target| target.architecture),
        "provider": binding.map(|binding| engine::provider(binding.provider)),
        "providers": binding.map_or_else(Vec::new, |binding| vec![engine::provider(binding.provider)]),
        "capabilities": capabilities(server, binding.is_some()),
        "analysis_provider_binding": binding.map(|binding| binding.to_value()),
        "analysis_provider_candidates":
            engine::candidates(&session.engines, target, binding),
        "analysis_run": match &open {
            Open::Binary { run, binding: Some(_), .. } => json!({
                "run_id": run,
                "process_lineage": "not_observed",
            }),
            _ => Value::Null,
        },
        "analysis_activity": session.activity(&call.request_id),
        // Nothing that could fail to be removed outlives a call.
        "cleanup_pending": false,
        "client_features": {
            "elicitation_form": call.client.elicitation_form,
            "elicitation_url": call.client.elicitation_url,
            "roots": call.client.roots,
            "sampling": call.client.sampling,
        },
        "tool_availability": availability::groups(server, &open),
        "server_identity": server.identity(&call.client, &expected),
        "retention": {
            "records": session.ledger.size().0,
            "bytes": session.ledger.size().1,
            "capacity_bytes": session.ledger.capacity(),
        },
    });
    if let (Open::Resources(resources), Some(members)) = (&open, status.as_object_mut()) {
        members.insert("path".to_owned(), resources.path.as_str().into());
        let root = resources.root.to_string_lossy().into_owned();
        members.insert("canonical_root".to_owned(), root.into());
    }
    status
}

/// What the bound provider offers, as one group.
fn capabilities(server: &Server, bound: bool) -> Value {
    if !bound {
        return json!([]);
    }
    let engines = server.session.engines.iter();
    let groups = engines.map(|engine| {
        json!({
            "provider": engine::provider(engine.provider()),
            "operations": engine.operations(),
            "effects": [],
            "shared_limitations": [],
            "limitations": [],
        })
    });
    groups.collect()
}
