//! The derived members of a bundle: what of its records it lists in front.

use std::collections::HashSet;
use std::sync::Arc;

use super::capture::Head;
use crate::digest::{Digest, Hasher};
use crate::evidence::Authority;
use crate::evidence::rules::{
    ARCHITECTURES, AUTHORITIES, ENVIRONMENT, FORMATS, PROVIDER, Rule, SUBJECT_DIGEST, Shape,
};
use crate::json::{Text, Value, Writer, append_escaped};

/// An element of `artifacts`.
static ARTIFACT: Shape = Shape {
    name: "an artifact",
    members: &[
        ("architecture", Rule::WordOrNull(ARCHITECTURES)),
        ("digest", Rule::Object(&SUBJECT_DIGEST)),
        ("format", Rule::Word(FORMATS)),
    ],
};

/// An element of `captures`.
static CAPTURE: Shape = Shape {
    name: "a capture",
    members: &[
        ("evidence_id", Rule::Id("ev_")),
        ("predicate_type", Rule::NonEmpty),
    ],
};

/// An element of `scenarios`.
static SCENARIO: Shape = Shape {
    name: "a scenario",
    members: &[
        ("authority", Rule::Word(AUTHORITIES)),
        ("evidence_id", Rule::Id("ev_")),
        ("operation", Rule::NonEmpty),
    ],
};

/// What elements of a derived member must be.
pub(super) static ARTIFACTS: Rule = Rule::Object(&ARTIFACT);
pub(super) static CAPTURES: Rule = Rule::Object(&CAPTURE);
pub(super) static ENVIRONMENTS: Rule = Rule::Object(&ENVIRONMENT);
pub(super) static PROVIDERS: Rule = Rule::Object(&PROVIDER);
pub(super) static SCENARIOS: Rule = Rule::Object(&SCENARIO);

/// The predicate of captures.
const CAPTURE_PREDICATE: &str = "rea.process-capture";

/// An element by which the three sets are sorted: its compact text with the
/// members in the contract's order, and its members in canonical order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listed(Vec<u8>);

type Field<'a> = (&'a str, Option<&'a Text>);

impl Listed {
    fn of(fields: &[Field<'_>]) -> Self {
        let mut text = vec![b'{'];
        append_fields(&mut text, fields);
        text.push(b'}');
        Self(text)
    }

    fn artifact(sha256: &Digest, format: Option<&Text>, architecture: Option<&Text>) -> Self {
        let mut text = br#"{"digest":{"sha256":""#.to_vec();
        text.extend_from_slice(sha256.to_hex().as_bytes());
        text.extend_from_slice(br#""},"#);
        append_fields(
            &mut text,
            &[("format", format), ("architecture", architecture)],
        );
        text.push(b'}');
        Self(text)
    }

    /// Its digest, by which sets are compared.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

fn append_fields(text: &mut Vec<u8>, fields: &[Field<'_>]) {
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        text.push(b'"');
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"\":");
        match value {
            Some(value) => {
                text.push(b'"');
                append_escaped(text, value.as_bytes());
                text.push(b'"');
            }
            None => text.extend_from_slice(b"null"),
        }
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a Text> {
    match value.get(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// An element of `artifacts` that was read, whose shape is right.
pub(super) fn read_artifact(value: &Value) -> Option<Listed> {
    let sha256 = text_of(value.get("digest")?, "sha256")?;
    let sha256 = Digest::from_hex(sha256.as_bytes())?;
    let (format, architecture) = (text_of(value, "format"), text_of(value, "architecture"));
    Some(Listed::artifact(&sha256, format, architecture))
}

const PROVIDER_FIELDS: [&str; 3] = ["id", "name", "version"];
const ENVIRONMENT_FIELDS: [&str; 4] = ["id", "platform", "architecture", "isolation"];

/// An element of `providers` that was read, whose shape is right.
pub(super) fn read_provider(value: &Value) -> Option<Listed> {
    Some(Listed::of(
        &PROVIDER_FIELDS.map(|name| (name, text_of(value, name))),
    ))
}

/// An element of `environments` that was read, whose shape is right.
pub(super) fn read_environment(value: &Value) -> Option<Listed> {
    Some(Listed::of(
        &ENVIRONMENT_FIELDS.map(|name| (name, text_of(value, name))),
    ))
}

/// The three sets that records make, each sorted.
pub(super) struct Sets<'a> {
    pub artifacts: Vec<(Listed, &'a Head)>,
    pub environments: Vec<(Listed, &'a Head)>,
    pub providers: Vec<(Listed, &'a Head)>,
}

impl<'a> Sets<'a> {
    pub fn of(heads: impl Iterator<Item = &'a Head>) -> Self {
        let mut sets = Self {
            artifacts: Vec::new(),
            environments: Vec::new(),
            providers: Vec::new(),
        };
        let (mut artifacts, mut groups) = (HashSet::new(), HashSet::new());
        for head in heads {
            let group = &head.group;
            if let Some(subject) = &head.subject
                && artifacts.insert((subject.sha256, &group.format, &group.architecture))
            {
                let (format, architecture) = (group.format.as_ref(), group.architecture.as_ref());
                let listed = Listed::artifact(&subject.sha256, format, architecture);
                sets.artifacts.push((listed, head));
            }
            if !groups.insert(Arc::as_ptr(group)) {
                continue;
            }
            let values = [
                Some(&group.provider_id),
                Some(&group.provider_name),
                group.provider_version.as_ref(),
            ];
            let fields = zipped(PROVIDER_FIELDS, values);
            sets.providers.push((Listed::of(&fields), head));
            if let Some(environment) = &group.environment {
                let fields = zipped(ENVIRONMENT_FIELDS, environment.each_ref().map(Some));
                sets.environments.push((Listed::of(&fields), head));
            }
        }
        for set in [
            &mut sets.artifacts,
            &mut sets.environments,
            &mut sets.providers,
        ] {
            set.sort_by(|a, b| a.0.cmp(&b.0));
            set.dedup_by(|a, b| a.0 == b.0);
        }
        sets
    }
}

fn zipped<'a, const N: usize>(
    names: [&'static str; N],
    values: [Option<&'a Text>; N],
) -> [Field<'a>; N] {
    let mut values = values.into_iter();
    names.map(|name| (name, values.next().flatten()))
}

/// Whether a record is listed in `scenarios`.
pub(super) fn is_scenario(head: &Head) -> bool {
    head.group.authority == Authority::ControlledReplay
}

/// Whether a record is listed in `captures`.
pub(super) fn is_capture(head: &Head) -> bool {
    head.group.predicate_type == *CAPTURE_PREDICATE
}

pub(super) fn write_artifact(head: &Head, w: &mut Writer<'_>) {
    if head.subject.is_none() {
        return;
    }
    w.begin_object();
    write_identity(head, w);
    w.end_object();
}

/// The members of a subject that are part of an id.
pub(super) fn write_identity(head: &Head, w: &mut Writer<'_>) {
    let Some(subject) = &head.subject else { return };
    w.member("architecture", head.group.architecture.as_ref());
    w.key("digest");
    w.begin_object();
    w.key("sha256");
    w.id("", &subject.sha256);
    w.end_object();
    w.member("format", head.group.format.as_ref());
}

pub(super) fn write_provider(head: &Head, w: &mut Writer<'_>) {
    let group = &head.group;
    w.begin_object();
    w.member("id", &group.provider_id);
    w.member("name", &group.provider_name);
    w.member("version", group.provider_version.as_ref());
    w.end_object();
}

pub(super) fn write_environment(head: &Head, w: &mut Writer<'_>) {
    let Some([id, platform, architecture, isolation]) = &head.group.environment else {
        return;
    };
    w.begin_object();
    w.member("architecture", architecture);
    w.member("id", id);
    w.member("isolation", isolation);
    w.member("platform", platform);
    w.end_object();
}

pub(super) fn write_scenario(head: &Head, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("authority", head.group.authority.as_str());
    w.member("evidence_id", head.id);
    w.member("operation", &head.group.operation);
    w.end_object();
}

pub(super) fn write_capture(head: &Head, w: &mut Writer<'_>) {
    w.begin_object();
    w.member("evidence_id", head.id);
    w.member("predicate_type", &head.group.predicate_type);
    w.end_object();
}

/// A running hash over the elements of a sequence, to compare two of any
/// length.
#[derive(Default)]
pub(super) struct Sequence {
    hasher: Hasher,
    length: u64,
}

impl Sequence {
    /// The next element.
    pub fn push(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        self.hasher.update(&Digest::of_json(write).0);
        self.length += 1;
    }

    /// What stands for the whole sequence.
    pub fn finish(self) -> (u64, Digest) {
        (self.length, self.hasher.finish())
    }
}
