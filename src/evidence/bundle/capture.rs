//! What a bundle keeps of a record in memory, taken as the record streams by.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Display, display_of};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::evidence::unknowns::{Cited, MUTATION_PREDICATE};
use crate::evidence::verify::Observer;
use crate::evidence::{Authority, Confidence, EvidenceId};
use crate::json::{Event, MAX_SAFE_INTEGER, Object, Text, Value, replay};

/// The longest text that is kept of a record, in bytes.
const MAX_KEPT: usize = 16 << 20;
/// The longest text of a function's result that is one for summaries.
const MAX_DOSSIER_TEXT: usize = 1 << 20;

/// Records that are read for one bundle.
const MAX_RECORDS: usize = 10_000_000;
/// Text of records and unknowns that is kept in memory, in bytes.
const MAX_TEXT: u64 = 1 << 30;

/// What a bundle keeps of a record.
#[derive(Clone, Debug)]
pub(in crate::evidence) struct Head {
    pub id: EvidenceId,
    pub group: Arc<Group>,
    pub subject: Option<Box<SubjectHead>>,
    pub limitation_count: u64,
    /// For `analyze_function` alone.
    pub dossier: Option<Box<Dossier>>,
}

/// What many records share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::evidence) struct Group {
    pub operation: Text,
    pub predicate_type: Text,
    pub authority: Authority,
    pub confidence: Confidence,
    pub provider_id: Text,
    pub provider_name: Text,
    pub provider_version: Option<Text>,
    /// `id`, `platform`, `architecture`, `isolation`.
    pub environment: Option<[Text; 4]>,
    pub profile_digest: Option<Digest>,
    pub format: Option<Text>,
    pub architecture: Option<Text>,
}

/// The subject beside its format and architecture.
#[derive(Clone, Debug)]
pub(in crate::evidence) struct SubjectHead {
    pub sha256: Digest,
    pub local_path: Text,
    pub name: Text,
}

/// What is known of a function's record.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evidence) struct Dossier {
    pub address: Text,
    pub name: Option<Text>,
    pub flow: ValueFlow,
}

/// How the value flow of a function was recorded.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evidence) enum ValueFlow {
    NotRecorded,
    Observed {
        truncated: bool,
        omitted_operations_lower_bound: Option<f64>,
        known_omitted_inputs: Option<f64>,
        known_omitted_edges: Option<f64>,
    },
    Unavailable {
        reason: Text,
    },
    Unknown,
}

impl Head {
    /// What decision 26 compares; `None` without a subject.
    pub fn display(&self) -> Display<'_> {
        let subject = self.subject.as_ref()?;
        display_of(&subject.local_path, &subject.name)
    }

    /// What the checks of unknowns need.
    pub fn cited(&self) -> Cited<'_> {
        Cited {
            authority: self.group.authority,
            confidence: self.group.confidence,
            mutation: self.group.predicate_type == *MUTATION_PREDICATE,
            subject: self.subject.as_ref().map(|subject| subject.sha256),
            environment: self.group.environment.as_ref().map(|one| one.each_ref()),
        }
    }

    /// Bytes of text it holds for itself.
    fn text_bytes(&self) -> u64 {
        let subject = self.subject.as_ref();
        let subject = subject.map_or(0, |one| length(&one.local_path) + length(&one.name));
        subject + self.dossier.as_ref().map_or(0, |one| one.text_bytes())
    }
}

impl Dossier {
    fn text_bytes(&self) -> u64 {
        let reason = match &self.flow {
            ValueFlow::Unavailable { reason } => length(reason),
            _ => 0,
        };
        length(&self.address) + self.name.as_ref().map_or(0, length) + reason
    }
}

impl Group {
    fn bytes(&self) -> u64 {
        let texts = [
            &self.operation,
            &self.predicate_type,
            &self.provider_id,
            &self.provider_name,
        ];
        let optional = [&self.provider_version, &self.format, &self.architecture];
        let optional = optional.into_iter().flatten();
        let texts = texts.into_iter().chain(optional);
        let texts = texts.chain(self.environment.iter().flatten());
        texts.map(length).sum::<u64>() + size_of::<Self>() as u64
    }
}

fn length(text: &Text) -> u64 {
    text.as_bytes().len() as u64
}

/// Makes equal groups one.
#[derive(Debug, Default)]
pub(in crate::evidence) struct Interner {
    known: HashSet<Arc<Group>>,
    bytes: u64,
}

impl Interner {
    fn one(&mut self, group: Group) -> Arc<Group> {
        if let Some(known) = self.known.get(&group) {
            return known.clone();
        }
        let group = Arc::new(group);
        self.bytes += group.bytes();
        self.known.insert(group.clone());
        group
    }
}

/// The memory that what is read for one bundle may take, whatever the number
/// of files that it comes from.
#[derive(Debug)]
pub(in crate::evidence) struct Room {
    interner: Interner,
    text: u64,
    records: usize,
    most_text: u64,
    most_records: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self::of(MAX_TEXT, MAX_RECORDS)
    }
}

impl Room {
    pub fn of(most_text: u64, most_records: usize) -> Self {
        Self {
            interner: Interner::default(),
            text: 0,
            records: 0,
            most_text,
            most_records,
        }
    }

    /// The head of the record that has passed `capture`.
    pub fn head(&mut self, capture: &mut Capture, id: EvidenceId) -> Result<Head> {
        if self.records >= self.most_records {
            return Err(too_large("records", self.most_records as u64));
        }
        self.records += 1;
        let before = self.interner.bytes;
        let head = capture.take(&mut self.interner, id);
        self.keep(head.text_bytes() + (self.interner.bytes - before))?;
        Ok(head)
    }

    /// `bytes` more stay in memory.
    pub fn keep(&mut self, bytes: u64) -> Result<()> {
        self.text += bytes;
        match self.text > self.most_text {
            true => Err(too_large("bytes of text", self.most_text)),
            false => Ok(()),
        }
    }
}

macro_rules! nodes {
    ($($node:ident in $parent:ident = $name:literal,)*) => {
        /// The places of a record that are looked at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Node { Record, $($node,)* }

        const NODES: &[(Node, Node, &str)] = &[$((Node::$node, Node::$parent, $name),)*];

        impl Node {
            /// Whether something is looked at inside it, and not it itself.
            fn is_parent(self) -> bool {
                self == Self::Limitations || $(self == Self::$parent)||*
            }
        }
    };
}

nodes! {
    Profile in Record = "analysis_profile",
    ProfileDigest in Profile = "digest",
    Authority in Record = "authority",
    Confidence in Record = "confidence",
    Environment in Record = "environment",
    EnvironmentArchitecture in Environment = "architecture",
    EnvironmentId in Environment = "id",
    EnvironmentIsolation in Environment = "isolation",
    EnvironmentPlatform in Environment = "platform",
    Limitations in Record = "limitations",
    Result in Record = "normalized_result",
    Flow in Result = "native_value_flow",
    FlowAvailable in Flow = "available",
    FlowEdges in Flow = "known_omitted_edges",
    FlowInputs in Flow = "known_omitted_inputs",
    FlowOperations in Flow = "omitted_operations_lower_bound",
    FlowReason in Flow = "reason",
    FlowTruncated in Flow = "truncated",
    Procedure in Result = "procedure",
    ProcedureAddress in Procedure = "address",
    ProcedureName in Procedure = "name",
    Operation in Record = "operation",
    PredicateType in Record = "predicate_type",
    Provider in Record = "provider",
    ProviderId in Provider = "id",
    ProviderName in Provider = "name",
    ProviderVersion in Provider = "version",
    Subject in Record = "subject",
    SubjectArchitecture in Subject = "architecture",
    SubjectDigest in Subject = "digest",
    SubjectSha256 in SubjectDigest = "sha256",
    SubjectFormat in Subject = "format",
    SubjectPath in Subject = "local_path",
    SubjectName in Subject = "name",
}

/// What stands at a place.
#[derive(Clone, Debug, Default, PartialEq)]
enum Held {
    #[default]
    Nothing,
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    Object,
    Array,
    /// Text that is not kept.
    Other,
}

/// Watches a record and keeps what [`Head`] needs.
#[derive(Debug, Default)]
pub(in crate::evidence) struct Capture {
    held: Vec<Held>,
    limitations: u64,
    /// Open containers that are looked into.
    open: Vec<Node>,
    /// Open containers inside one that is not.
    skipped: usize,
    slot: Option<Node>,
    text: Vec<u8>,
    started: bool,
}

impl Observer for Capture {
    fn restart(&mut self) {
        self.held = vec![Held::Nothing; NODES.len() + 1];
        self.limitations = 0;
        self.open.clear();
        self.skipped = 0;
        self.slot = None;
        self.text.clear();
        self.started = false;
    }

    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Key { name, .. } if self.skipped == 0 => {
                let top = self.open.last();
                let found = NODES
                    .iter()
                    .find(|(_, parent, known)| Some(parent) == top && known.as_bytes() == name);
                self.slot = found.map(|(node, ..)| *node);
            }
            Event::Key { .. } => {}
            Event::BeginObject => self.begin(Held::Object),
            Event::BeginArray => self.begin(Held::Array),
            Event::EndObject | Event::EndArray if self.skipped > 0 => self.skipped -= 1,
            Event::EndObject | Event::EndArray => _ = self.open.pop(),
            Event::Null => self.scalar(Held::Null),
            Event::Bool(value) => self.scalar(Held::Bool(value)),
            Event::Number { value, .. } => self.scalar(Held::Number(value)),
            Event::Text { part, last, .. } => self.text_part(part, last)?,
        }
        Ok(())
    }
}

impl Capture {
    /// Watches a record that is in memory.
    pub fn value(&mut self, value: &Value) -> Result<()> {
        self.restart();
        replay(value, &mut |event| self.event(event))
    }

    fn begin(&mut self, held: Held) {
        if self.skipped > 0 {
            self.skipped += 1;
        } else if !std::mem::replace(&mut self.started, true) {
            self.open.push(Node::Record);
        } else if let Some(node) = self.slot.take() {
            self.hold(node, held);
            self.open.push(node);
        } else {
            self.skipped = 1;
        }
    }

    fn scalar(&mut self, held: Held) {
        if self.skipped == 0
            && let Some(node) = self.slot.take()
        {
            self.hold(node, held);
        }
    }

    fn text_part(&mut self, part: &[u8], last: bool) -> Result<()> {
        if self.skipped > 0 {
            return Ok(());
        }
        if last && self.open.last() == Some(&Node::Limitations) {
            self.limitations += 1;
        }
        let Some(slot) = self.slot else {
            return Ok(());
        };
        let most = match slot {
            _ if slot.is_parent() => 0,
            Node::FlowReason | Node::ProcedureAddress | Node::ProcedureName => MAX_DOSSIER_TEXT,
            _ => MAX_KEPT,
        };
        // Room for one byte more, which tells what is too long.
        let room = (most + 1).saturating_sub(self.text.len());
        self.text
            .extend_from_slice(part.get(..room).unwrap_or(part));
        if !last {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        if text.len() <= most {
            self.scalar(Held::Text(Text::from_wtf8(text)));
        } else if most == MAX_KEPT {
            return Err(too_large("bytes of one text", MAX_KEPT as u64));
        } else {
            self.scalar(Held::Other);
        }
        Ok(())
    }

    fn hold(&mut self, node: Node, held: Held) {
        if let Some(slot) = self.held.get_mut(node as usize) {
            *slot = held;
        }
    }

    fn get(&self, node: Node) -> &Held {
        static NOTHING: Held = Held::Nothing;
        self.held.get(node as usize).unwrap_or(&NOTHING)
    }

    fn text(&self, node: Node) -> Option<Text> {
        match self.get(node) {
            Held::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn word(&self, node: Node) -> Option<&str> {
        match self.get(node) {
            Held::Text(text) => text.as_str(),
            _ => None,
        }
    }

    fn digest(&self, node: Node) -> Option<Digest> {
        match self.get(node) {
            Held::Text(text) => Digest::from_hex(text.as_bytes()),
            _ => None,
        }
    }

    /// The head of the record that has passed, whose shape must be right.
    pub fn take(&mut self, interner: &mut Interner, id: EvidenceId) -> Head {
        let text = |node| self.text(node).unwrap_or_default();
        let environment = (*self.get(Node::Environment) == Held::Object).then(|| {
            [
                text(Node::EnvironmentId),
                text(Node::EnvironmentPlatform),
                text(Node::EnvironmentArchitecture),
                text(Node::EnvironmentIsolation),
            ]
        });
        let authority = self.word(Node::Authority).and_then(Authority::from_name);
        let confidence = self.word(Node::Confidence).and_then(Confidence::from_name);
        let group = Group {
            operation: text(Node::Operation),
            predicate_type: text(Node::PredicateType),
            authority: authority.unwrap_or(Authority::AnalystInference),
            confidence: confidence.unwrap_or(Confidence::Inferred),
            provider_id: text(Node::ProviderId),
            provider_name: text(Node::ProviderName),
            provider_version: self.text(Node::ProviderVersion),
            environment,
            profile_digest: self.digest(Node::ProfileDigest),
            format: self.text(Node::SubjectFormat),
            architecture: self.text(Node::SubjectArchitecture),
        };
        let subject = self.digest(Node::SubjectSha256).map(|sha256| {
            Box::new(SubjectHead {
                sha256,
                local_path: text(Node::SubjectPath),
                name: text(Node::SubjectName),
            })
        });
        let dossier = (group.operation == *"analyze_function")
            .then(|| self.dossier())
            .flatten();
        Head {
            id,
            subject,
            limitation_count: self.limitations,
            dossier: dossier.map(Box::new),
            group: interner.one(group),
        }
    }

    /// `None` where the result is not shaped as a function's.
    fn dossier(&self) -> Option<Dossier> {
        let address = self.text(Node::ProcedureAddress)?;
        let name = match self.get(Node::ProcedureName) {
            Held::Text(text) => Some(text.clone()),
            Held::Null | Held::Nothing => None,
            _ => return None,
        };
        Some(Dossier {
            address,
            name,
            flow: self.flow(),
        })
    }

    fn flow(&self) -> ValueFlow {
        let available = self.get(Node::FlowAvailable);
        match (
            self.get(Node::Flow),
            available,
            self.get(Node::FlowTruncated),
        ) {
            (Held::Nothing | Held::Null, ..) => ValueFlow::NotRecorded,
            (Held::Object, Held::Bool(true), Held::Bool(truncated)) => {
                self.observed(*truncated).unwrap_or(ValueFlow::Unknown)
            }
            (Held::Object, Held::Bool(false), _) => match self.text(Node::FlowReason) {
                Some(reason) => ValueFlow::Unavailable { reason },
                None => ValueFlow::Unknown,
            },
            _ => ValueFlow::Unknown,
        }
    }

    /// `None` where a count is there and is none.
    fn observed(&self, truncated: bool) -> Option<ValueFlow> {
        let count = |node| match self.get(node) {
            Held::Nothing => Some(None),
            Held::Number(number)
                if number.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER as f64).contains(number) =>
            {
                Some(Some(*number))
            }
            _ => None,
        };
        Some(ValueFlow::Observed {
            truncated,
            omitted_operations_lower_bound: count(Node::FlowOperations)?,
            known_omitted_inputs: count(Node::FlowInputs)?,
            known_omitted_edges: count(Node::FlowEdges)?,
        })
    }
}

/// A bundle asks for more memory than is given to one.
fn too_large(boundary: &str, maximum: u64) -> Error {
    let message = format!("The bundle needs more than the {maximum} {boundary} that are kept");
    let mut limits = Object::new();
    limits.insert("boundary", boundary);
    limits.insert("maximum", maximum);
    Error::out_of_memory("read", message, limits).action("Split it into several bundles.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::evidence::{Creation, Evidence, NewSubject, Provider};

    fn heads(room: &mut Room, count: u64, differs: impl Fn(&mut Creation, u64)) -> Result<()> {
        const MADE_UP: Provider = Provider {
            id: "fixture",
            name: "Fixture provider",
            version: "1",
        };
        let mut capture = Capture::default();
        for number in 0..count {
            let mut creation = Creation::new("analyze_function", MADE_UP);
            creation.normalized_result = number.into();
            differs(&mut creation, number);
            let evidence = Evidence::create(creation);
            capture.value(&Value::from(evidence.record().clone()))?;
            room.head(&mut capture, evidence.id())?;
        }
        Ok(())
    }

    /// Nothing that a record makes stay in memory is free.
    #[test]
    fn groups_dossiers_and_paths_are_charged() {
        let long = |number: u64| format!("{number}{}", "x".repeat(10_000));
        let room = || Room::of(100_000, 1000);
        // What they share is kept once.
        heads(&mut room(), 100, |_, _| {}).expect("they fit");
        let grouped = |creation: &mut Creation, number| creation.operation = long(number);
        let placed = |creation: &mut Creation, number| {
            creation.subject = Some(NewSubject {
                path: long(number),
                sha256: Digest::of(b"x"),
                format: "elf".to_owned(),
                architecture: None,
            });
        };
        let dissected = |creation: &mut Creation, number| {
            let mut procedure = Object::new();
            procedure.insert("address", long(number));
            let mut result = Object::new();
            result.insert("procedure", procedure);
            creation.normalized_result = result.into();
        };
        for result in [
            heads(&mut room(), 100, grouped),
            heads(&mut room(), 100, placed),
            heads(&mut room(), 100, dissected),
        ] {
            let error = result.expect_err("they do not fit");
            assert_eq!(error.code(), Code::ResourceConstraint, "{error}");
        }
        let error = heads(&mut Room::of(u64::MAX, 5), 6, |_, _| {}).expect_err("one too many");
        assert_eq!(error.code(), Code::ResourceConstraint, "{error}");
    }
}
