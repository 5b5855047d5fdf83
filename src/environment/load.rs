//! An environment from its two records (web.md section 5.1).

use std::collections::BTreeMap;
use std::path::Path;

use super::catalog::{Catalog, Tool};
use super::reply::Replay;
use super::select::{Problem, Supplied, select};
use super::{OPERATION, card};
use crate::error::{Code, Error, Result};
use crate::evidence::{EvidenceId, Source, read_record};
use crate::json::{Limits, Value};
use crate::operation::Context;
use crate::view;
use crate::web::exchange::{Content, Exchange};

/// Recorded traffic, ready to answer calls. It holds what its tools cite:
/// request lines, and the text of responses.
#[derive(Debug)]
pub struct Environment {
    /// What it is called.
    pub name: String,
    /// Its tools.
    pub catalog: Catalog,
    evidence: EvidenceId,
    records: BTreeMap<u64, Exchange>,
}

impl Environment {
    /// Reads a manifest and the capture that it was made of; `name`, where it
    /// is set, is what the environment is called.
    ///
    /// # Errors
    /// Those of reading Evidence; `invalid_request` where the manifest is a
    /// record of something else, or of another capture (naming both);
    /// `configuration_invalid` for a blank name; `resource_constraint` where
    /// there is too much in it; `cancelled`.
    pub fn load(
        manifest: &Path,
        capture: &Path,
        name: Option<&str>,
        limits: Limits,
        context: &Context,
    ) -> Result<Self> {
        let evidence = read_record(Source::open(manifest)?, limits, context)?;
        let result = evidence.normalized_result();
        let kind = result.get("kind").and_then(Value::as_str);
        if evidence.operation() != view::OPERATION || kind != Some("environment-manifest") {
            let message = "the manifest is no record of an environment-manifest view";
            return Err(
                Error::invalid_request(OPERATION, &["manifest"], "invalid_value", message)
                    .action("Make it with `rea view CAPTURE --environment-manifest`."),
            );
        }
        context.check()?;
        let recorded = view::recorded(Source::open(capture)?, true, limits, context)?;
        let parent = result.get("parent_evidence_id").and_then(Value::as_str);
        let capture_id = recorded.parent.id.to_string();
        if parent != Some(capture_id.as_str()) {
            let message = format!(
                "the manifest is of the capture {}, and the capture that is given is {capture_id}",
                parent.unwrap_or("that it does not name")
            );
            return Err(
                Error::invalid_request(OPERATION, &["evidence"], "invalid_value", message)
                    .action("Give the capture that the manifest was made of."),
            );
        }
        let none = Value::Null;
        let manifest = result.get("manifest").unwrap_or(&none);
        let name = match name {
            Some(name) => set_name(name)?,
            None => manifest
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("environment")
                .to_owned(),
        };
        let catalog = Catalog::new(manifest, recorded.parent.id)?;
        let mut all: BTreeMap<u64, Exchange> = recorded
            .exchanges
            .into_iter()
            .map(|exchange| (exchange.ordinal, exchange))
            .collect();
        let mut records = BTreeMap::new();
        for &ordinal in catalog.tools.iter().flat_map(|tool| &tool.records) {
            if let Some(mut exchange) = all.remove(&ordinal) {
                exchange.request_body.content = Content::Absent;
                records.insert(ordinal, exchange);
            } else if !records.contains_key(&ordinal) {
                let message = format!(
                    "the manifest cites record {ordinal}, which is not selected in the capture"
                );
                return Err(Error::invalid_request(
                    OPERATION,
                    &["manifest"],
                    "invalid_value",
                    message,
                )
                .action("Make the manifest again, of this capture."));
            }
        }
        Ok(Self {
            name,
            catalog,
            evidence: recorded.parent.id,
            records,
        })
    }

    /// The card.
    pub fn card(&self) -> Value {
        card::card(&self.name, &self.catalog)
    }

    /// Answers a call; `None` where no tool has that name.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn call(&self, tool: &str, arguments: &Value) -> Option<Result<Replay, Vec<Problem>>> {
        let tool = self.catalog.find(tool)?;
        let supplied = match Supplied::read(tool, arguments) {
            Ok(supplied) => supplied,
            Err(problems) => return Some(Err(problems)),
        };
        let selected = select(self.records_of(tool), &supplied)?;
        Some(Ok(Replay::new(selected, self.evidence)))
    }

    fn records_of<'a>(&'a self, tool: &'a Tool) -> impl Iterator<Item = &'a Exchange> {
        let records = tool.records.iter();
        records.filter_map(|ordinal| self.records.get(ordinal))
    }
}

/// A name that is set, and must then be one.
fn set_name(name: &str) -> Result<String> {
    if name.trim().is_empty() {
        let message = "ENVIRONMENT_NAME is set and blank";
        return Err(Error::new(Code::ConfigurationInvalid, message)
            .action("Give a name, or unset ENVIRONMENT_NAME to use the manifest's.")
            .detail("setting", "ENVIRONMENT_NAME"));
    }
    Ok(name.to_owned())
}
