//! The envelope of the parent as it streams by: the few members that a view
//! takes over are kept, the result goes to the collectors.

use super::{Collector, OPERATION, Producer};
use crate::error::{Error, Result};
use crate::evidence::{EvidenceId, Observer, Origin, Parent};
use crate::json::{Budget, Builder, Event, Object, Refusal, Text, Value};

/// Memory for all that is kept of a record beside selected rows, limitations
/// above all.
const KEPT: u64 = 256 << 20;

/// What a string that is kept costs beside its bytes: its place in a list that
/// grows by doubling, and its allocation.
const STRING: u64 = 96;

/// Counts what is kept of a record beside selected rows, by whom ever.
#[derive(Debug, Default)]
pub(super) struct Memory {
    used: u64,
}

impl Memory {
    /// So many more bytes are kept.
    ///
    /// # Errors
    /// `resource_constraint` where that is more than a view may use.
    pub fn charge(&mut self, bytes: usize) -> Result<()> {
        self.add(bytes as u64)
    }

    /// So many bytes that were charged are kept no more.
    pub fn release(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes as u64);
    }

    /// A string, whose bytes were charged, is complete.
    pub fn charge_string(&mut self) -> Result<()> {
        self.add(STRING)
    }

    /// The next piece of a document that is kept; `None` where it is not
    /// complete.
    ///
    /// # Errors
    /// `resource_constraint`; `invalid_request` where a member stands twice,
    /// which no canonical record has.
    pub fn build(
        &mut self,
        name: &str,
        builder: &mut Builder,
        event: Event<'_>,
    ) -> Result<Option<Value>> {
        match builder.event(event) {
            Ok(None) => Ok(None),
            Ok(Some(value)) => {
                self.add(builder.memory())?;
                Ok(Some(value))
            }
            Err(refusal) => Err(refused(name, &refusal)),
        }
    }

    fn add(&mut self, bytes: u64) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used > KEPT {
            return Err(too_much());
        }
        Ok(())
    }

    /// What may still be kept, for a document that is built.
    pub fn left(&self) -> Budget {
        let left = KEPT.saturating_sub(self.used);
        Budget {
            max_text_bytes: left,
            max_memory_bytes: left,
        }
    }
}

/// A producer that may have made the parent, with its collector.
pub(super) type Candidate = (&'static Producer, Box<dyn Collector>);

/// What the current member of the record is.
enum Member {
    /// `normalized_result`
    Result,
    /// One that is kept.
    Kept(&'static str, Builder),
    Other,
}

/// See the module.
pub(super) struct Envelope {
    candidates: Vec<Candidate>,
    /// Arrays and objects open.
    depth: usize,
    member: Member,
    kept: Object,
    /// Whether [`ORIGIN`] is kept.
    with_origin: bool,
    memory: Memory,
}

const NAMES: [&str; 4] = ["authority", "limitations", "operation", "subject"];
/// What a summary tells beside them.
const ORIGIN: [&str; 3] = ["analysis_profile", "parameters", "provider"];

impl Envelope {
    /// Reads for `candidates`; `with_origin` keeps who made the record and how.
    pub fn new(candidates: Vec<Candidate>, with_origin: bool) -> Self {
        Self {
            with_origin,
            candidates,
            depth: 0,
            member: Member::Other,
            kept: Object::new(),
            memory: Memory::default(),
        }
    }

    /// The record was found good under `id`.
    pub fn finish(mut self, id: EvidenceId) -> Result<(Parent, Vec<Candidate>)> {
        let mut take = |name| self.kept.remove(name);
        let (Some(Value::String(authority)), Some(Value::String(operation))) =
            (take("authority"), take("operation"))
        else {
            return Err(incomplete());
        };
        let subject = match take("subject") {
            Some(Value::Object(subject)) => Some(subject),
            _ => None,
        };
        let limitations = match take("limitations") {
            Some(Value::Array(items)) => items.into_iter().filter_map(text).collect(),
            _ => Vec::new(),
        };
        let origin = match (take("provider"), take("parameters")) {
            (Some(Value::Object(provider)), Some(Value::Object(parameters))) => {
                let profile = take("analysis_profile");
                let digest = profile.as_ref().and_then(|profile| profile.get("digest"));
                Some(Origin {
                    provider,
                    analysis_profile_digest: digest.cloned().and_then(text),
                    parameters,
                })
            }
            _ => None,
        };
        let parent = Parent {
            id,
            operation,
            authority,
            subject,
            limitations,
            origin,
        };
        Ok((parent, self.candidates))
    }

    fn value(&mut self, event: Event<'_>) -> Result<()> {
        match &mut self.member {
            Member::Other => Ok(()),
            Member::Result => {
                for (_, collector) in &mut self.candidates {
                    collector.event(event, &mut self.memory)?;
                }
                Ok(())
            }
            Member::Kept(name, builder) => {
                if let Some(value) = self.memory.build(name, builder, event)? {
                    self.kept.insert(*name, value);
                }
                Ok(())
            }
        }
    }
}

fn text(value: Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn incomplete() -> Error {
    let message = "the record lacks its operation or authority";
    Error::invalid_request(OPERATION, &["source"], "missing_argument", message)
}

fn refused(name: &str, refusal: &Refusal) -> Error {
    match refusal {
        Refusal::Memory => too_much(),
        Refusal::Duplicate(_) => {
            let message = format!("a member stands twice in the record's {name}");
            Error::invalid_request(OPERATION, &["source", name], "invalid_format", message)
        }
    }
}

fn too_much() -> Error {
    let message = "what the record says beside its rows takes more memory than a view may use";
    let mut limits = Object::new();
    limits.insert("boundary", "view-envelope");
    limits.insert("maximum", KEPT);
    Error::out_of_memory(OPERATION, message, limits)
        .action("Make the record again; its limitations should be few, and its words short.")
}

impl Observer for Envelope {
    fn restart(&mut self) {
        self.depth = 0;
        self.member = Member::Other;
        self.kept = Object::new();
        self.memory = Memory::default();
        for (_, collector) in &mut self.candidates {
            collector.restart();
        }
    }

    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::BeginObject | Event::BeginArray => {
                self.depth += 1;
                if self.depth == 1 {
                    return Ok(());
                }
            }
            Event::EndObject | Event::EndArray => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Ok(());
                }
            }
            Event::Key { name, .. } if self.depth == 1 => {
                let origin = ORIGIN.into_iter().filter(|_| self.with_origin);
                let mut names = NAMES.into_iter().chain(origin);
                let kept = names.find(|kept| kept.as_bytes() == name);
                self.member = match kept {
                    Some(kept) => Member::Kept(kept, Builder::new(self.memory.left(), 0)),
                    None if name == b"normalized_result" => Member::Result,
                    None => Member::Other,
                };
                return Ok(());
            }
            _ => {}
        }
        self.value(event)
    }
}
