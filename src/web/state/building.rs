//! The state as it grows from one read to the next, and the plans that
//! reproduce the reads.

use std::collections::{BTreeMap, BTreeSet};

use super::body::{candidates, member, rows, scalar};
use super::{Reads, State};
use crate::json::{Object, Text, Value, canonical};

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

#[derive(Default)]
pub(super) struct Building {
    types: BTreeMap<Text, Type>,
    entities: BTreeMap<(Text, Text), Entity>,
    /// What each read tool is, in their order.
    plans: BTreeMap<String, Plan>,
}

impl Building {
    /// Tools that read one entity.
    pub(super) fn items(&mut self, reads: &[Reads<'_>]) {
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
    pub(super) fn collections(&mut self, reads: &[Reads<'_>]) {
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
    pub(super) fn observe(&mut self, reads: &[Reads<'_>]) {
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

    pub(super) fn finish(mut self, reads: &[Reads<'_>]) -> State {
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
            row.insert("fields", crate::web::surface::texts(&fields));
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
            row.insert("fields", crate::web::surface::texts(&fields));
        }
        row.insert("kind", "collection");
        row.insert("order", crate::web::surface::texts(&order));
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
