//! The state that recorded reads observed: entities, documents, and for each
//! read a plan that is shown to reproduce it (web.md section 4).

mod body;
mod building;

use std::collections::BTreeMap;

use super::exchange::Exchange;
use super::line::percent_decoded;
use super::manifest::{Manifest, Tool};
use super::template::Segment;
use crate::json::{Text, Value};
use body::usable;
use building::Building;

/// The state takes more memory than there is for it.
#[derive(Debug)]
pub struct TooLarge;

/// The state, as the view has it.
#[derive(Debug, Default)]
pub struct State {
    /// `{name, identity_field, sources, entity_count}`
    pub entity_types: Value,
    /// `{type, identity, value, observed_in, later_observations?}`
    pub entities: Value,
    /// `{tool, record_ordinal, value}`
    pub documents: Value,
    /// `{type, identity, observed_in}` of entities that were seen to differ.
    pub conflicts: Value,
    /// A plan for each read tool.
    pub render_plans: Value,
}

/// A read that can be used.
struct Read {
    ordinal: u64,
    /// Path and query.
    line: Text,
    query: Option<Text>,
    parameters: Vec<Text>,
    value: Value,
}

/// A read tool with its records before the first write to it.
struct Reads<'a> {
    tool: &'a Tool<'a>,
    /// The last literal, and the one before the last parameter.
    collection: Option<Text>,
    before: Vec<Read>,
    after_write: Vec<u64>,
    after: Vec<Read>,
    /// The first record that cannot be used, and why.
    unusable: Option<&'static str>,
    all: Vec<u64>,
}

impl State {
    /// What the reads of a manifest's tools observed; bodies take at most
    /// `memory` bytes.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn new(
        manifest: &Manifest<'_>,
        exchanges: &[Exchange],
        memory: u64,
    ) -> Result<Self, TooLarge> {
        let mut memory = memory;
        let writes = first_writes(manifest, exchanges);
        let mut reads = Vec::new();
        for tool in &manifest.tools {
            if tool.group.method == *"GET" {
                reads.push(Reads::new(tool, exchanges, &writes, &mut memory)?);
            }
        }
        let mut building = Building::default();
        building.items(&reads);
        building.collections(&reads);
        building.observe(&reads);
        Ok(building.finish(&reads))
    }
}

/// For each name in a path, the first write to it.
fn first_writes(manifest: &Manifest<'_>, exchanges: &[Exchange]) -> BTreeMap<Text, u64> {
    let mut first = BTreeMap::new();
    for tool in &manifest.tools {
        let method = &tool.group.method;
        if !["POST", "PUT", "PATCH", "DELETE"]
            .iter()
            .any(|write| *method == **write)
        {
            continue;
        }
        let records = tool
            .group
            .records
            .iter()
            .filter_map(|&at| exchanges.get(at));
        let Some(ordinal) = records.map(|exchange| exchange.ordinal).min() else {
            continue;
        };
        for segment in &tool.group.segments {
            if let Segment::Literal(name) = segment {
                let known = first.entry(name.clone()).or_insert(ordinal);
                *known = ordinal.min(*known);
            }
        }
    }
    first
}

impl<'a> Reads<'a> {
    fn new(
        tool: &'a Tool<'a>,
        exchanges: &[Exchange],
        writes: &BTreeMap<Text, u64>,
        memory: &mut u64,
    ) -> Result<Self, TooLarge> {
        let collection = tool
            .group
            .segments
            .iter()
            .rev()
            .find_map(|segment| match segment {
                Segment::Literal(name) if !name.as_bytes().is_empty() => Some(name.clone()),
                _ => None,
            });
        let written = collection
            .as_ref()
            .and_then(|name| writes.get(name))
            .copied();
        let mut reads = Self {
            tool,
            collection,
            before: Vec::new(),
            after_write: Vec::new(),
            after: Vec::new(),
            unusable: None,
            all: Vec::new(),
        };
        for exchange in tool
            .group
            .records
            .iter()
            .filter_map(|&at| exchanges.get(at))
        {
            reads.all.push(exchange.ordinal);
            let is_after = written.is_some_and(|write| exchange.ordinal > write);
            if is_after {
                reads.after_write.push(exchange.ordinal);
            }
            let value = match usable(exchange, memory)? {
                Ok(value) => value,
                Err(reason) => {
                    if !is_after {
                        reads.unusable.get_or_insert(reason);
                    }
                    continue;
                }
            };
            let Some(request) = &exchange.request else {
                continue;
            };
            let raw = request.line.segments();
            let parameters = tool.parameters.iter().map(|(index, _)| {
                let raw = raw.get(*index).copied().unwrap_or_default();
                Text::from_wtf8(percent_decoded(raw).unwrap_or_else(|| raw.to_vec()))
            });
            let query = request.line.query.clone();
            let path = request.line.path.as_bytes();
            let read = Read {
                ordinal: exchange.ordinal,
                line: Text::from_wtf8(
                    [
                        path,
                        query.as_ref().map_or(&b""[..], |query| query.as_bytes()),
                    ]
                    .concat(),
                ),
                query,
                parameters: parameters.collect(),
                value,
            };
            match is_after {
                true => reads.after.push(read),
                false => reads.before.push(read),
            }
        }
        Ok(reads)
    }

    /// Whether one parameter ends the path.
    fn reads_items(&self) -> bool {
        let last = self.tool.group.segments.iter().rev().find(
            |segment| !matches!(segment, Segment::Literal(text) if text.as_bytes().is_empty()),
        );
        self.tool.parameters.len() == 1 && matches!(last, Some(Segment::Templated(_)))
    }
}
