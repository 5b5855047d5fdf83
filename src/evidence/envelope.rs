//! A record in memory: read and authenticated, or created.

use super::problem::Report;
use super::record::{Authority, Confidence, EvidenceId, Parts, SubjectParts};
use super::verify::check_value;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json::{Limits, Object, Overflow, Text, Value, WriteJson, Writer};

/// Opens the limitations of a record that has no subject and gives no reason
/// of its own. It is hashed and never changes.
pub const NO_SUBJECT: &str = "The artifact that this record is about is not identified.";

/// A record whose shape, profile and id have been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    id: EvidenceId,
    record: Object,
}

impl Evidence {
    /// Checks a value; the report says what is wrong with it.
    pub fn from_value(value: Value) -> Result<Self, Report> {
        let report = check_value(&value);
        match (report.problems.is_empty(), report.evidence_id, value) {
            (true, Some(id), Value::Object(record)) => Ok(Self { id, record }),
            _ => Err(report),
        }
    }

    /// A record that was read from the file `path`.
    pub fn from_file_value(value: Value, path: &str) -> Result<Self> {
        Self::from_value(value).map_err(|report| {
            report.file_error(path).unwrap_or_else(|| {
                let message = format!("{path} is not valid Evidence");
                Error::file("read", "invalid-json", path, message)
            })
        })
    }

    /// A record given as JSON text in an argument of `operation`.
    pub fn from_argument(text: &[u8], operation: &str) -> Result<Self> {
        let limits = Limits {
            overflow: Overflow::Keep,
            ..Limits::default()
        };
        let value = Value::parse(text, limits)
            .map_err(|error| error.into_argument_error(operation, &[]))?;
        Self::from_value(value).map_err(|report| {
            report.argument_error(operation).unwrap_or_else(|| {
                let message = "The input is not valid Evidence";
                Error::invalid_request(operation, &[], "invalid_value", message)
            })
        })
    }

    /// Makes a record with the defaults of the contract.
    pub fn create(creation: Creation) -> Self {
        let subject = creation.subject.as_ref().map(NewSubject::parts);
        let mut limitations = creation.limitations;
        if subject.is_none() {
            let reason = creation.no_subject.unwrap_or_else(|| NO_SUBJECT.to_owned());
            limitations.insert(0, reason);
        }
        let parts = Parts {
            analysis_profile: &creation.analysis_profile,
            authority: creation.authority.as_str(),
            confidence: creation.confidence.as_str(),
            environment: &creation.environment,
            evidence_links: &creation.evidence_links,
            limitations: &limitations,
            locations: &creation.locations,
            normalized_result: &creation.normalized_result,
            operation: &creation.operation,
            parameters: &creation.parameters,
            predicate_type: &creation.predicate_type,
            provider: &creation.provider,
            raw_result: &creation.raw_result,
            subject,
        };
        let id = EvidenceId(Digest::of_json(|w| parts.write(None, w)));
        let subject = creation.subject.map(NewSubject::into_value);
        let mut record = Object::new();
        record.insert("analysis_profile", creation.analysis_profile);
        record.insert("authority", creation.authority.as_str());
        record.insert("confidence", creation.confidence.as_str());
        record.insert("environment", creation.environment);
        record.insert("evidence_id", id.to_string());
        let links: Vec<String> = creation
            .evidence_links
            .iter()
            .map(EvidenceId::to_string)
            .collect();
        record.insert("evidence_links", links);
        record.insert("limitations", limitations);
        record.insert("locations", Value::Array(creation.locations));
        record.insert("normalized_result", creation.normalized_result);
        record.insert("operation", creation.operation);
        record.insert("parameters", creation.parameters);
        record.insert("predicate_type", creation.predicate_type);
        record.insert("provider", creation.provider);
        record.insert("raw_result", creation.raw_result);
        record.insert("subject", subject);
        Self { id, record }
    }

    /// The same record with another `name` and `local_path` of its subject,
    /// which are in no id. Without a subject, there is nothing to name.
    #[must_use]
    pub fn shown_as(mut self, name: Text, local_path: Text) -> Self {
        if let Some(Value::Object(subject)) = self.record.get("subject") {
            let mut subject = subject.clone();
            subject.insert("name", name);
            subject.insert("local_path", local_path);
            self.record.insert("subject", subject);
        }
        self
    }

    /// The id.
    pub fn id(&self) -> EvidenceId {
        self.id
    }

    /// The whole record.
    pub fn record(&self) -> &Object {
        &self.record
    }

    /// The whole record, given away.
    pub fn into_record(self) -> Object {
        self.record
    }

    fn member(&self, name: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.record.get(name).unwrap_or(&NULL)
    }

    fn word(&self, name: &str) -> &str {
        self.member(name).as_str().unwrap_or_default()
    }

    /// What the record is about; `None` where it does not say.
    pub fn subject(&self) -> Option<&Object> {
        self.member("subject").as_object()
    }

    /// SHA-256 of the subject.
    pub fn subject_sha256(&self) -> Option<Digest> {
        let digest = self.subject()?.get("digest")?.get("sha256")?;
        Digest::from_hex(digest.as_str()?.as_bytes())
    }

    /// The subject's format.
    pub fn subject_format(&self) -> Option<&str> {
        self.subject()?.get("format")?.as_str()
    }

    /// Who made it: `{id, name, version}`.
    pub fn provider(&self) -> &Value {
        self.member("provider")
    }

    /// The analysis profile, or `null`.
    pub fn analysis_profile(&self) -> &Value {
        self.member("analysis_profile")
    }

    /// The kind of statement. Empty where the text holds a lone surrogate.
    pub fn predicate_type(&self) -> &str {
        self.word("predicate_type")
    }

    /// The operation. Empty where the text holds a lone surrogate.
    pub fn operation(&self) -> &str {
        self.word("operation")
    }

    /// The options that could change the result.
    pub fn parameters(&self) -> &Value {
        self.member("parameters")
    }

    /// The result.
    pub fn normalized_result(&self) -> &Value {
        self.member("normalized_result")
    }

    /// The result in another representation, or `null`.
    pub fn raw_result(&self) -> &Value {
        self.member("raw_result")
    }

    /// How it was reached: `observed`, `derived` or `inferred`.
    pub fn confidence(&self) -> &str {
        self.word("confidence")
    }

    /// What it rests on.
    pub fn authority(&self) -> &str {
        self.word("authority")
    }

    /// Where it was made, or `null`.
    pub fn environment(&self) -> &Value {
        self.member("environment")
    }

    /// What was not looked at or is uncertain.
    pub fn limitations(&self) -> impl Iterator<Item = &Text> {
        self.texts("limitations")
    }

    /// Where in the artifact.
    pub fn locations(&self) -> &[Value] {
        self.member("locations").as_array().unwrap_or_default()
    }

    /// Records it rests on.
    pub fn evidence_links(&self) -> impl Iterator<Item = EvidenceId> {
        self.texts("evidence_links")
            .filter_map(|text| EvidenceId::from_text(text.as_bytes()))
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &Text> {
        let items = self.member(name).as_array().unwrap_or_default();
        items.iter().filter_map(|item| match item {
            Value::String(text) => Some(text),
            _ => None,
        })
    }
}

impl WriteJson for Evidence {
    fn write_json(&self, w: &mut Writer<'_>) {
        self.record.write_json(w);
    }
}

/// What [`Evidence::create`] makes a record of. Start from
/// [`Creation::new`], which has the contract's defaults.
#[derive(Clone, Debug)]
pub struct Creation {
    /// What it is about.
    pub subject: Option<NewSubject>,
    /// Without a subject: why, in place of [`NO_SUBJECT`].
    pub no_subject: Option<String>,
    /// `{id, name, version}`
    pub provider: Value,
    /// An analysis profile, or `null`.
    pub analysis_profile: Value,
    /// The kind of statement.
    pub predicate_type: String,
    /// The operation's name.
    pub operation: String,
    /// An object.
    pub parameters: Object,
    /// A result in another representation than `normalized_result`.
    pub raw_result: Value,
    /// The result.
    pub normalized_result: Value,
    /// How it was reached.
    pub confidence: Confidence,
    /// What it rests on.
    pub authority: Authority,
    /// `{id, platform, architecture, isolation}`, or `null`.
    pub environment: Value,
    /// What was not looked at or is uncertain.
    pub limitations: Vec<String>,
    /// Location objects.
    pub locations: Vec<Value>,
    /// Records it rests on.
    pub evidence_links: Vec<EvidenceId>,
}

impl Creation {
    /// A record of `operation` by `provider`: predicate `rea.analysis`,
    /// observed on a shipped artifact, everything else empty.
    pub fn new(operation: &str, provider: super::Provider) -> Self {
        let mut who = Object::new();
        who.insert("id", provider.id);
        who.insert("name", provider.name);
        who.insert("version", provider.version);
        Self {
            subject: None,
            no_subject: None,
            provider: who.into(),
            analysis_profile: Value::Null,
            predicate_type: "rea.analysis".to_owned(),
            operation: operation.to_owned(),
            parameters: Object::new(),
            raw_result: Value::Null,
            normalized_result: Value::Null,
            confidence: Confidence::Observed,
            authority: Authority::ShippedArtifact,
            environment: Value::Null,
            limitations: Vec::new(),
            locations: Vec::new(),
            evidence_links: Vec::new(),
        }
    }
}

/// The subject of a record to create.
#[derive(Clone, Debug)]
pub struct NewSubject {
    /// The path as the user gave it; may be empty. Its last part is the
    /// subject's name.
    pub path: String,
    /// SHA-256 of the artifact.
    pub sha256: Digest,
    /// The artifact's format.
    pub format: String,
    /// The processor architecture, where there is one.
    pub architecture: Option<String>,
}

impl NewSubject {
    /// The part after the last `/`, or `artifact` where that is empty.
    pub fn name(&self) -> &str {
        match self.path.rsplit('/').next() {
            Some(name) if !name.is_empty() => name,
            _ => "artifact",
        }
    }

    fn parts(&self) -> SubjectParts<'_> {
        SubjectParts {
            name: self.name().as_bytes(),
            sha256: self.sha256,
            format: &self.format,
            architecture: self.architecture.as_deref(),
            local_path: self.path.as_bytes(),
        }
    }

    fn into_value(self) -> Value {
        let mut digest = Object::new();
        digest.insert("sha256", self.sha256.to_hex());
        let mut subject = Object::new();
        subject.insert("name", self.name());
        subject.insert("digest", digest);
        subject.insert("format", self.format);
        subject.insert("architecture", self.architecture);
        subject.insert("local_path", self.path);
        subject.into()
    }
}

impl super::Record for Evidence {
    fn id(&self) -> EvidenceId {
        self.id
    }

    fn write_record(&self, w: &mut Writer<'_>) {
        self.record.write_json(w);
    }
}
