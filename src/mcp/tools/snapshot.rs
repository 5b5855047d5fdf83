//! Snapshots: what a session knows of one target, in a file (evidence section
//! 8). The built-in engine answers as fast as a cache would, so that the table
//! of cached queries is empty; the records are what is kept.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::super::engine::Binding;
use super::super::session::{Open, Session, Target};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::evidence::{Source, read_bundle};
use crate::json::{Limits, Object, Value, WriteJson, Writer, canonical};
use crate::operation::Context;
use crate::publish::{Publisher, display_path};

/// Writes a snapshot of the open target.
pub(super) fn save(
    path: &Path,
    overwrite: bool,
    session: &Session,
    context: &Context,
) -> Result<()> {
    let (target, binding) = match session.open() {
        Open::Binary {
            target,
            binding: Some(binding),
            ..
        } => (target, binding),
        Open::Binary { binding: None, .. } | Open::Nothing | Open::Resources(_) => {
            let message = "a snapshot is of a target that a provider analyses, and none is open";
            return Err(Error::new(Code::CapabilityUnavailable, message)
                .action("Close without snapshot_path, or export the records with export_evidence_bundle.")
                .detail("operation", context.operation)
                .detail("reason", "no_binding"));
        }
    };
    Publisher::check(path, overwrite)?;
    let bundle = session.ledger.bundle().restricted_to(target.sha256);
    let mut file = Publisher::create(path, overwrite)?;
    let mut w = Writer::canonical(&mut file);
    w.begin_object();
    w.key("binding");
    bound(&binding).write_json(&mut w);
    w.key("entries");
    w.begin_array();
    w.end_array();
    w.key("evidence_bundle");
    bundle.write(context, &mut w)?;
    w.key("target");
    facts(&target).write_json(&mut w);
    w.end_object();
    let failed = |error| Error::file_io("write", &display_path(path), &error);
    w.finish().map_err(failed)?;
    crate::json::Sink::put(&mut file, b"\n").map_err(failed)?;
    context.check()?;
    file.commit().map(drop)
}

/// Takes the records of a snapshot into the session, or nothing.
pub(super) fn load(
    path: &Path,
    session: &Session,
    target: &Target,
    binding: Option<&Binding>,
    context: &Context,
) -> Result<()> {
    let name = display_path(path).into_owned();
    let refused = |reason: &str| {
        Error::new(
            Code::EvidenceIntegrityMismatch,
            format!("{name} is no snapshot of this target: {reason}"),
        )
        .action("Open the target without snapshot_path, and save a new one when you close it.")
        .detail("operation", context.operation)
        .detail("path", name.as_str())
        .detail("reason", reason)
    };
    let limits = Limits {
        max_input_bytes: session.ledger.capacity(),
        ..Limits::default()
    };
    let mut text = Vec::new();
    Source::open(path)?
        .take(limits.max_input_bytes)
        .read_to_end(&mut text)
        .map_err(|error| Error::file_io("read", &name, &error))?;
    let snapshot = Value::parse(&text, limits).map_err(|error| refused(&error.to_string()))?;
    drop(text);
    let Value::Object(mut snapshot) = snapshot else {
        return Err(refused("it is no object"));
    };
    let parts =
        ["binding", "entries", "evidence_bundle", "target"].map(|part| snapshot.remove(part));
    let [
        Some(its_binding),
        Some(Value::Array(entries)),
        Some(bundle),
        Some(its_target),
    ] = parts
    else {
        return Err(refused("a member is missing"));
    };
    if !snapshot.is_empty() {
        return Err(refused("it has members that no snapshot has"));
    }
    if its_target != Value::Object(facts(target)) {
        return Err(refused("it is of another target"));
    }
    let same = binding.is_some_and(|binding| its_binding == Value::Object(bound(binding)));
    if !same {
        return Err(refused("it is of another provider, or of other settings"));
    }
    check_entries(&entries, &its_target, &its_binding).map_err(refused)?;
    let text: Arc<[u8]> = canonical(&bundle).into();
    drop(bundle);
    let bundle = read_bundle(Source::memory(&name, Arc::clone(&text)), limits, context)?;
    let restricted = bundle.restricted_to(target.sha256);
    if restricted.digest(context)? != bundle.digest(context)? {
        return Err(refused("its records are about other artifacts too"));
    }
    session.ledger.merge(bundle, text.len() as u64, context)
}

/// Every query is the one that its id says, each stands once, in order.
fn check_entries(entries: &[Value], target: &Value, binding: &Value) -> Result<(), &'static str> {
    const MOST: usize = 10_000;
    if entries.len() > MOST {
        return Err("it has too many entries");
    }
    let mut last = String::new();
    for entry in entries {
        let part = |name: &str| entry.get(name).cloned();
        let (Some(id), Some(operation), Some(parameters)) =
            (part("query_id"), part("operation"), part("parameters"))
        else {
            return Err("an entry lacks a member");
        };
        let mut query = Object::new();
        query.insert("target", target.clone());
        query.insert("binding", binding.clone());
        query.insert("operation", operation);
        query.insert("parameters", parameters);
        let expected = format!("query_{}", Digest::of_json(|w| query.write_json(w)));
        if id.as_str() != Some(expected.as_str()) {
            return Err("the id of an entry is not that of its query");
        }
        if expected <= last {
            return Err("its entries are not in order");
        }
        last = expected;
    }
    Ok(())
}

fn facts(target: &Target) -> Object {
    let mut facts = Object::new();
    facts.insert("sha256", target.sha256.to_hex());
    facts.insert("kind", target.kind);
    facts.insert("format", target.format);
    match target.architecture {
        Some(architecture) => facts.insert("architecture", architecture),
        None => facts.insert("architecture", Value::Null),
    }
    facts
}

fn bound(binding: &Binding) -> Object {
    let mut bound = Object::new();
    let mut provider = Object::new();
    provider.insert("id", binding.provider.id);
    provider.insert("name", binding.provider.name);
    provider.insert("version", binding.provider.version);
    bound.insert("provider", provider);
    let profile = super::super::delivery::value(&binding.profile);
    bound.insert("analysis_profile", profile.unwrap_or_default());
    bound
}
