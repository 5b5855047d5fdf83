//! The envelope of the parent as it streams by: the few members that a view
//! takes over are kept, the result goes to the collectors.

use super::{Collector, OPERATION, Producer};
use crate::error::{Code, Error, Result};
use crate::evidence::{EvidenceId, Observer, Parent};
use crate::json::{Budget, Builder, Event, Object, Refusal, Text, Value};

/// Memory for the members that are kept, limitations above all.
const KEPT: Budget = Budget {
    max_text_bytes: 256 << 20,
    max_memory_bytes: 256 << 20,
};

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
}

const NAMES: [&str; 4] = ["authority", "limitations", "operation", "subject"];

impl Envelope {
    pub fn new(candidates: Vec<Candidate>) -> Self {
        Self {
            candidates,
            depth: 0,
            member: Member::Other,
            kept: Object::new(),
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
        let parent = Parent {
            id,
            operation,
            authority,
            subject,
            limitations,
        };
        Ok((parent, self.candidates))
    }

    fn value(&mut self, event: Event<'_>) -> Result<()> {
        match &mut self.member {
            Member::Other => Ok(()),
            Member::Result => {
                for (_, collector) in &mut self.candidates {
                    collector.event(event)?;
                }
                Ok(())
            }
            Member::Kept(name, builder) => match builder.event(event) {
                Ok(Some(value)) => {
                    self.kept.insert(*name, value);
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err(refusal) => Err(refused(name, &refusal)),
            },
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
    let message = match refusal {
        Refusal::Memory => format!("the record's {name} take more memory than a view may use"),
        Refusal::Duplicate(_) => format!("a member stands twice in the record's {name}"),
    };
    let mut limits = Object::new();
    limits.insert("boundary", "view-envelope");
    limits.insert("maximum", KEPT.max_memory_bytes);
    Error::new(Code::ResourceConstraint, message.as_str())
        .detail("operation", OPERATION)
        .detail("resource", "memory")
        .detail("reason", message.as_str())
        .detail("reported_limits", limits)
}

impl Observer for Envelope {
    fn restart(&mut self) {
        self.depth = 0;
        self.member = Member::Other;
        self.kept = Object::new();
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
                let kept = NAMES.into_iter().find(|kept| kept.as_bytes() == name);
                self.member = match kept {
                    Some(kept) => Member::Kept(kept, Builder::new(KEPT, 0)),
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
