//! The state that recorded reads observed: entities, documents, and for each
//! read a plan that is shown to reproduce it (web.md section 4).

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Content, Exchange, parse};
use super::line::percent_decoded;
use super::manifest::{Manifest, Tool};
use super::template::Segment;
use crate::json::{
    Budget, Kind, Limits, Node, Object, Reader, Tape, Text, Value, WriteJson, Writer,
    append_number, is_safe_number,
};

/// Members that are looked at first for an identity.
const IDENTITIES: [&str; 6] = ["id", "uid", "uuid", "key", "slug", "name"];

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

#[derive(Default)]
struct Type {
    identity_field: Text,
    sources: Vec<String>,
}

struct Entity {
    value: Value,
    observed_in: Vec<u64>,
    later: Vec<u64>,
    conflict: bool,
}

enum Plan {
    Entity(Text),
    Collection(Text, Option<Text>),
    Document,
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

/// The body of a response that says what the state is, or why it does not.
fn usable(exchange: &Exchange, memory: &mut u64) -> Result<Result<Value, &'static str>, TooLarge> {
    let body = &exchange.response_body;
    match &body.content {
        Content::Absent => return Ok(Err("body-not-recorded")),
        Content::Redacted => return Ok(Err("body-redacted")),
        Content::Text(_) | Content::Base64(_) => {}
    }
    if !exchange
        .status
        .is_some_and(|status| (200..300).contains(&status))
    {
        return Ok(Err("error-status"));
    }
    let text = body.is_json_like().then(|| body.text()).flatten();
    let Some(text) = text else {
        return Ok(Err("body-not-json"));
    };
    let Some(tape) = parse(text.to_vec()) else {
        return Ok(Err("body-not-json"));
    };
    if !matches!(tape.kind(tape.root()), Kind::Object | Kind::Array) {
        return Ok(Err("body-not-json"));
    }
    if !all_safe(&tape, tape.root()) {
        return Ok(Err("unsafe-number"));
    }
    drop(tape);
    let budget = Budget {
        max_text_bytes: u64::MAX,
        max_memory_bytes: *memory,
    };
    let mut reader = Reader::with_buffer(&*text, Limits::default(), text.len().max(64));
    let value = reader.read_value(budget).map_err(|_| TooLarge)?;
    // What it costs is at most what it may cost for its text, and is counted
    // as such: a byte of text is at most a value of 40 bytes.
    *memory = memory.saturating_sub(40 * text.len() as u64);
    if *memory == 0 {
        return Err(TooLarge);
    }
    Ok(Ok(value))
}

fn all_safe(tape: &Tape, node: Node) -> bool {
    match tape.kind(node) {
        Kind::Number(lexeme) => is_safe_number(lexeme),
        Kind::Array => tape.elements(node).all(|element| all_safe(tape, element)),
        Kind::Object => tape.members(node).all(|(_, value)| all_safe(tape, value)),
        Kind::Null | Kind::Bool(_) | Kind::Text => true,
    }
}

/// A scalar as text, for identities.
fn scalar(value: &Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => {
            let mut out = Vec::new();
            append_number(&mut out, *number);
            Some(Text::from_wtf8(out))
        }
        Value::Bool(value) => Some(if *value { "true" } else { "false" }.into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The member names of an object, likely identities first.
fn candidates(object: &Object) -> Vec<&Text> {
    let rank = |name: &Text| {
        let known = IDENTITIES.iter().position(|known| *name == **known);
        known.unwrap_or(IDENTITIES.len())
    };
    let mut names: Vec<&Text> = object.iter().map(|(name, _)| name).collect();
    // A stable sort keeps the order of code units.
    names.sort_by_key(|name| rank(name));
    names
}

fn member<'v>(value: &'v Value, name: &Text) -> Option<&'v Value> {
    let found = |(known, _): &(&Text, &Value)| *known == name;
    value
        .as_object()?
        .iter()
        .find(found)
        .map(|(_, value)| value)
}

fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::canonical(&mut out);
    value.write_json(&mut writer);
    writer.finish_infallible();
    out
}

/// The rows of a collection and where they stand: at the root, or in the one
/// member that is an array of objects.
fn rows(value: &Value) -> Option<(Option<Text>, &[Value])> {
    let objects = |items: &[Value]| items.iter().all(|item| item.as_object().is_some());
    match value {
        Value::Array(items) => objects(items).then_some((None, items.as_slice())),
        Value::Object(object) => {
            let mut lists = object.iter().filter_map(|(name, value)| {
                let items = value.as_array()?;
                (!items.is_empty() && objects(items)).then_some((name, items))
            });
            match (lists.next(), lists.next()) {
                (Some((name, items)), None) => Some((Some(name.clone()), items)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[derive(Default)]
struct Building {
    types: BTreeMap<Text, Type>,
    entities: BTreeMap<(Text, Text), Entity>,
    /// What each read tool is, in their order.
    plans: BTreeMap<String, Plan>,
}

impl Building {
    /// Tools that read one entity.
    fn items(&mut self, reads: &[Reads<'_>]) {
        for tool in reads.iter().filter(|reads| reads.reads_items()) {
            let Some(name) = &tool.collection else {
                continue;
            };
            let Some(first) = tool.before.first() else {
                continue;
            };
            let Some(object) = first.value.as_object() else {
                continue;
            };
            let fits = |field: &&Text| {
                tool.before.iter().all(|read| {
                    let found = member(&read.value, field).and_then(scalar);
                    found.is_some() && found.as_ref() == read.parameters.first()
                })
            };
            let known = self
                .types
                .get(name)
                .map(|known| known.identity_field.clone());
            let field = match known {
                Some(field) => Some(field).filter(|field| fits(&field)),
                None => candidates(object).into_iter().find(fits).cloned(),
            };
            let Some(field) = field else { continue };
            let known = self.types.entry(name.clone()).or_default();
            known.identity_field = field;
            known.sources.push(tool.tool.name.clone());
            self.plans
                .insert(tool.tool.name.clone(), Plan::Entity(name.clone()));
        }
    }

    /// Tools that read a list of entities.
    fn collections(&mut self, reads: &[Reads<'_>]) {
        for tool in reads
            .iter()
            .filter(|reads| reads.tool.parameters.is_empty())
        {
            let Some(name) = &tool.collection else {
                continue;
            };
            let lists: Option<Vec<_>> = tool.before.iter().map(|read| rows(&read.value)).collect();
            let Some(lists) = lists.filter(|lists| !lists.is_empty()) else {
                continue;
            };
            let pointer = lists.iter().find_map(|(pointer, _)| pointer.clone());
            if lists.iter().any(|(found, _)| *found != pointer) {
                continue;
            }
            let identifies = |field: &Text| {
                lists.iter().all(|(_, rows)| {
                    let found: Option<Vec<Text>> = rows
                        .iter()
                        .map(|row| member(row, field).and_then(scalar))
                        .collect();
                    found.is_some_and(|found| {
                        found.iter().collect::<BTreeSet<_>>().len() == found.len()
                    })
                })
            };
            let first = lists.iter().find_map(|(_, rows)| rows.first()?.as_object());
            let known = self
                .types
                .get(name)
                .map(|known| known.identity_field.clone());
            let field = match (known, first) {
                (Some(field), _) => Some(field).filter(identifies),
                (None, Some(first)) => candidates(first)
                    .into_iter()
                    .find(|field| identifies(field))
                    .cloned(),
                (None, None) => None,
            };
            let Some(field) = field else { continue };
            let known = self.types.entry(name.clone()).or_default();
            known.identity_field = field;
            known.sources.push(tool.tool.name.clone());
            let plan = Plan::Collection(name.clone(), pointer);
            self.plans.insert(tool.tool.name.clone(), plan);
        }
    }

    /// Gathers entities from all reads, in the order of their records.
    fn observe(&mut self, reads: &[Reads<'_>]) {
        let mut seen: Vec<(u64, bool, Text, &Value)> = Vec::new();
        for tool in reads {
            let (name, is_list) = match self.plans.get(&tool.tool.name) {
                Some(Plan::Entity(name)) => (name, false),
                Some(Plan::Collection(name, _)) => (name, true),
                _ => continue,
            };
            for (read, later) in tool
                .before
                .iter()
                .map(|read| (read, false))
                .chain(tool.after.iter().map(|read| (read, true)))
            {
                let values = match is_list {
                    true => rows(&read.value).map(|(_, rows)| rows).unwrap_or_default(),
                    false => std::slice::from_ref(&read.value),
                };
                for value in values {
                    seen.push((read.ordinal, later, name.clone(), value));
                }
            }
        }
        seen.sort_by_key(|(ordinal, ..)| *ordinal);
        for (ordinal, later, name, value) in seen {
            let Some(known) = self.types.get(&name) else {
                continue;
            };
            let identity = member(value, &known.identity_field).and_then(scalar);
            let Some(identity) = identity else { continue };
            let key = (name, identity);
            match (self.entities.get_mut(&key), later) {
                (Some(entity), true) => entity.later.push(ordinal),
                (Some(entity), false) => entity.observe(ordinal, value),
                (None, true) => {}
                (None, false) => {
                    self.entities.insert(
                        key,
                        Entity {
                            value: value.clone(),
                            observed_in: vec![ordinal],
                            later: Vec::new(),
                            conflict: false,
                        },
                    );
                }
            }
        }
        for entity in self.entities.values_mut() {
            entity.observed_in.dedup();
            entity.later.dedup();
        }
    }

    fn finish(mut self, reads: &[Reads<'_>]) -> State {
        let mut documents = Vec::new();
        let mut plans = Vec::new();
        for tool in reads {
            plans.push(self.plan(tool, &mut documents));
        }
        let mut counts: BTreeMap<&Text, u64> = BTreeMap::new();
        for ((name, _), _) in self.entities.iter().filter(|(_, entity)| !entity.conflict) {
            *counts.entry(name).or_default() += 1;
        }
        let types = self.types.iter().map(|(name, known)| {
            let mut row = Object::new();
            row.insert("entity_count", counts.get(name).copied().unwrap_or(0));
            row.insert(
                "identity_field",
                Value::String(known.identity_field.clone()),
            );
            row.insert("name", Value::String(name.clone()));
            let mut sources = known.sources.clone();
            sources.sort_by_key(|name| reads.iter().position(|tool| tool.tool.name == *name));
            row.insert("sources", sources);
            Value::Object(row)
        });
        let entity_types = Value::Array(types.collect());
        let mut entities = Vec::new();
        let mut conflicts = Vec::new();
        for ((name, identity), entity) in std::mem::take(&mut self.entities) {
            let mut row = Object::new();
            row.insert("identity", Value::String(identity));
            row.insert("observed_in", entity.observed_in);
            row.insert("type", Value::String(name));
            if entity.conflict {
                conflicts.push(Value::Object(row));
                continue;
            }
            if !entity.later.is_empty() {
                row.insert("later_observations", entity.later);
            }
            row.insert("value", entity.value);
            entities.push(Value::Object(row));
        }
        State {
            entity_types,
            entities: Value::Array(entities),
            documents: Value::Array(documents),
            conflicts: Value::Array(conflicts),
            render_plans: Value::Array(plans),
        }
    }

    /// The plan of a tool, shown to reproduce all its records before a write.
    fn plan(&mut self, tool: &Reads<'_>, documents: &mut Vec<Value>) -> Value {
        let name = &tool.tool.name;
        let mut row = Object::new();
        row.insert("tool", name.as_str());
        let plan = self.plans.remove(name).unwrap_or(Plan::Document);
        let done = match (tool.unusable, &plan) {
            (Some(reason), _) => Err(reason),
            _ if tool.before.is_empty() => Err("only-after-write"),
            (None, Plan::Entity(kind)) => self.entity_plan(tool, kind, &mut row),
            (None, Plan::Collection(kind, pointer)) => {
                self.collection_plan(tool, kind, pointer.as_ref(), &mut row)
            }
            (None, Plan::Document) => document_plan(tool, &mut row),
        };
        if matches!(plan, Plan::Document) {
            let mut lines = BTreeSet::new();
            for read in tool.before.iter().filter(|read| lines.insert(&read.line)) {
                let mut document = Object::new();
                document.insert("record_ordinal", read.ordinal);
                document.insert("tool", name.as_str());
                document.insert("value", read.value.clone());
                documents.push(document.into());
            }
        }
        match done {
            Ok(()) => {
                if !tool.after_write.is_empty() {
                    row.insert("after_write", tool.after_write.clone());
                }
                let reproduced: Vec<u64> = tool.before.iter().map(|read| read.ordinal).collect();
                row.insert("reproduced", reproduced);
                row.insert("status", "verified");
            }
            Err(reason) => {
                row = Object::new();
                row.insert("kind", "unavailable");
                row.insert("reason", reason);
                row.insert("records", tool.all.clone());
                row.insert("tool", name.as_str());
            }
        }
        row.into()
    }

    /// The entity, with only these members of it.
    fn render(&self, kind: &Text, identity: &Text, fields: Option<&[Text]>) -> Option<Value> {
        let entity = self.entities.get(&(kind.clone(), identity.clone()))?;
        if entity.conflict {
            return None;
        }
        let Some(fields) = fields else {
            return Some(entity.value.clone());
        };
        let mut value = Object::new();
        for field in fields {
            value.insert(field.clone(), member(&entity.value, field)?.clone());
        }
        Some(value.into())
    }

    /// The members that all of `rows` have, where entities have more of them.
    fn fields(&self, kind: &Text, rows: &[&Value]) -> Option<Vec<Text>> {
        let field = &self.types.get(kind)?.identity_field;
        let names = |value: &Value| -> Vec<Text> {
            let members = value.as_object().into_iter().flat_map(Object::iter);
            members.map(|(name, _)| name.clone()).collect()
        };
        let wider = rows.iter().any(|row| {
            let identity = member(row, field).and_then(scalar);
            let entity = identity.and_then(|identity| self.entities.get(&(kind.clone(), identity)));
            entity.is_some_and(|entity| names(&entity.value) != names(row))
        });
        wider.then(|| rows.first().map(|row| names(row)).unwrap_or_default())
    }

    fn entity_plan(
        &self,
        tool: &Reads<'_>,
        kind: &Text,
        row: &mut Object,
    ) -> Result<(), &'static str> {
        let values: Vec<&Value> = tool.before.iter().map(|read| &read.value).collect();
        let fields = self.fields(kind, &values);
        for read in &tool.before {
            let identity = read.parameters.first().ok_or("no-identity")?;
            let rendered = self.render(kind, identity, fields.as_deref());
            if rendered.map(|value| canonical(&value)) != Some(canonical(&read.value)) {
                return Err("conflicting-observations");
            }
        }
        if let Some(fields) = fields {
            row.insert("fields", super::surface::texts(&fields));
        }
        row.insert("kind", "entity");
        let parameter = tool.tool.parameters.first().map(|(_, name)| name.as_str());
        row.insert("parameter", parameter.unwrap_or_default());
        row.insert("type", Value::String(kind.clone()));
        Ok(())
    }

    fn collection_plan(
        &self,
        tool: &Reads<'_>,
        kind: &Text,
        pointer: Option<&Text>,
        row: &mut Object,
    ) -> Result<(), &'static str> {
        let field = &self.types.get(kind).ok_or("no-identity")?.identity_field;
        let first = tool.before.first().ok_or("no-identity")?;
        let (_, found) = rows(&first.value).ok_or("no-identity")?;
        let all: Vec<&Value> = found.iter().collect();
        let fields = self.fields(kind, &all);
        let order: Option<Vec<Text>> = found
            .iter()
            .map(|value| member(value, field).and_then(scalar))
            .collect();
        let order = order.ok_or("no-identity")?;
        let rendered: Option<Vec<Value>> = order
            .iter()
            .map(|identity| self.render(kind, identity, fields.as_deref()))
            .collect();
        let rendered = rendered.ok_or("conflicting-observations")?;
        let envelope = pointer.and_then(|pointer| {
            let mut envelope = first.value.as_object()?.clone();
            envelope.insert(pointer.clone(), Value::Null);
            Some(envelope)
        });
        let rendered = match (&envelope, pointer) {
            (Some(envelope), Some(pointer)) => {
                let mut whole = envelope.clone();
                whole.insert(pointer.clone(), Value::Array(rendered));
                Value::Object(whole)
            }
            _ => Value::Array(rendered),
        };
        let rendered = canonical(&rendered);
        for read in &tool.before {
            if canonical(&read.value) != rendered {
                return Err(match read.query == first.query {
                    true => "conflicting-observations",
                    false => "query-dependent",
                });
            }
        }
        let escaped = pointer.map_or_else(Vec::new, |pointer| {
            let mut out = vec![b'/'];
            for &byte in pointer.as_bytes() {
                match byte {
                    b'~' => out.extend_from_slice(b"~0"),
                    b'/' => out.extend_from_slice(b"~1"),
                    _ => out.push(byte),
                }
            }
            out
        });
        row.insert(
            "collection_pointer",
            Value::String(Text::from_wtf8(escaped)),
        );
        row.insert("envelope", envelope);
        if let Some(fields) = fields {
            row.insert("fields", super::surface::texts(&fields));
        }
        row.insert("kind", "collection");
        row.insert("order", super::surface::texts(&order));
        row.insert("type", Value::String(kind.clone()));
        Ok(())
    }
}

impl Entity {
    /// The same again, or a part of it; anything else is a conflict.
    fn observe(&mut self, ordinal: u64, value: &Value) {
        self.observed_in.push(ordinal);
        if self.value == *value || is_part(value, &self.value) {
            return;
        }
        if is_part(&self.value, value) {
            self.value = value.clone();
        } else {
            self.conflict = true;
        }
    }
}

/// Whether all members of `part` are in `whole`.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part.as_object(), whole.as_object()) {
        (Some(part), Some(_)) => part
            .iter()
            .all(|(name, value)| member(whole, name) == Some(value)),
        _ => false,
    }
}

/// A read that is no entity and no list of them: the first record speaks for
/// all, where they are the same.
fn document_plan(tool: &Reads<'_>, row: &mut Object) -> Result<(), &'static str> {
    let first = tool.before.first().ok_or("no-identity")?;
    let recorded = canonical(&first.value);
    for read in &tool.before {
        if canonical(&read.value) == recorded {
            continue;
        }
        return Err(if read.parameters != first.parameters {
            "no-identity"
        } else if read.query != first.query {
            "query-dependent"
        } else {
            "conflicting-observations"
        });
    }
    row.insert("kind", "document");
    row.insert("record_ordinal", first.ordinal);
    Ok(())
}
