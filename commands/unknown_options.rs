//! Arguments of the commands that record and update unknowns, and the unknown
//! in reports.

use std::str::FromStr;

use clap::ValueEnum;
use rea::evidence::{self, EvidenceId, Mutated, Replaced, Revision};
use rea::json::{Text, WriteJson, Writer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bundle_options::{QuestionId, RecordId};
use crate::paint::Tone;
use crate::report::Report;

/// Declares an enum of the command line beside the engine's of that name.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[derive(ValueEnum, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        impl From<$name> for evidence::$name {
            fn from(choice: $name) -> Self {
                match choice { $($name::$variant => Self::$variant,)* }
            }
        }
    };
}

choices! {
    /// How far an unknown has come.
    UnknownStatus {
        /// Nobody works on it
        Open,
        /// Somebody works on it
        Investigating,
        /// Work cannot go on
        Blocked,
        /// There is a record against what was thought
        Contradicted,
        /// It has a resolution
        Resolved,
    }
}

choices! {
    /// How much depends on an unknown.
    Severity {
        /// Little
        Low,
        /// Something
        Medium,
        /// Much
        High,
        /// Everything
        Critical,
    }
}

choices! {
    /// How an unknown was resolved.
    Disposition {
        /// Records answer it
        Verified,
        /// It need not be asked
        Withdrawn,
        /// It is not for this investigation
        OutOfScope,
    }
}

choices! {
    /// What an answer must rest on.
    Authority {
        /// The software as shipped
        ShippedArtifact,
        /// A run of the software under control
        ControlledReplay,
        /// An older release or its documents
        HistoricalReference,
        /// An answer from outside
        ExternalService,
        /// A conclusion
        AnalystInference,
    }
}

choices! {
    /// How an answer must have been reached, at least.
    Confidence {
        /// Read from bytes
        Observed,
        /// Computed from records
        Derived,
        /// Concluded
        Inferred,
    }
}

choices! {
    /// How one unknown relates to another.
    RelationKind {
        /// It cannot be answered before the other
        DependsOn,
        /// It touches the other
        RelatedTo,
        /// Its answer and the other's exclude each other
        Contradicts,
    }
}

/// An operation that may help, as `OPERATION=WHY`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The operation's name
    #[schemars(length(min = 1))]
    pub operation: String,
    /// Why it may help
    pub rationale: String,
}

impl FromStr for Probe {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((operation, rationale)) if !operation.trim().is_empty() => Ok(Self {
                operation: operation.to_owned(),
                rationale: rationale.to_owned(),
            }),
            _ => Err("OPERATION=WHY is needed"),
        }
    }
}

impl From<&Probe> for evidence::Probe {
    fn from(probe: &Probe) -> Self {
        Self {
            operation: probe.operation.as_str().into(),
            rationale: probe.rationale.as_str().into(),
        }
    }
}

/// A link to another unknown, as `TYPE:ID`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Relationship {
    /// How the two relate
    #[serde(rename = "type")]
    pub kind: RelationKind,
    /// The other unknown
    pub unknown_id: QuestionId,
}

impl FromStr for Relationship {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, id) = text.split_once(':').unwrap_or((text, ""));
        let kind = RelationKind::from_str(kind, false).map_err(
            |_| "TYPE:ID with a type of depends-on, related-to or contradicts is needed",
        )?;
        Ok(Self {
            kind,
            unknown_id: id.parse()?,
        })
    }
}

impl From<&Relationship> for evidence::Relationship {
    fn from(relationship: &Relationship) -> Self {
        Self {
            kind: relationship.kind.into(),
            unknown_id: relationship.unknown_id.0,
        }
    }
}

/// How a process was kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Not at all
    None,
    /// As a process
    Process,
    /// In a container
    Container,
    /// In a virtual machine
    VirtualMachine,
}

/// An environment, as `NAME=VALUE,...`; what is not said can be anything.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Environment {
    /// The environment's id
    pub id: Option<String>,
    /// The operating system
    pub platform: Option<String>,
    /// The processor architecture
    pub architecture: Option<String>,
    /// How the process was kept apart
    pub isolation: Option<Isolation>,
}

impl FromStr for Environment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut environment = Self::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let slot = match name {
                "id" => &mut environment.id,
                "platform" => &mut environment.platform,
                "architecture" => &mut environment.architecture,
                "isolation" => {
                    let isolation = Isolation::from_str(value, false)
                        .map_err(|_| "isolation is none, process, container or virtual-machine")?;
                    environment.isolation = Some(isolation);
                    continue;
                }
                _ => return Err("id, platform, architecture and isolation have values"),
            };
            if value.is_empty() {
                return Err("a value is needed behind each `=`");
            }
            *slot = Some(value.to_owned());
        }
        Ok(environment)
    }
}

impl From<&Environment> for evidence::RequiredEnvironment {
    fn from(environment: &Environment) -> Self {
        let text = |value: &Option<String>| value.as_deref().map(Text::from);
        let isolation = environment
            .isolation
            .and_then(|one| one.to_possible_value());
        Self {
            id: text(&environment.id),
            platform: text(&environment.platform),
            architecture: text(&environment.architecture),
            isolation: isolation.map(|value| value.get_name().into()),
        }
    }
}

/// Ids as the engine has them.
pub fn ids(ids: &[RecordId]) -> Vec<EvidenceId> {
    ids.iter().map(|id| id.0).collect()
}

/// What a mutation answers.
pub struct Answer<'a> {
    pub mutated: &'a Mutated,
    pub replaced: &'a Replaced,
}

impl WriteJson for Answer<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("bundle_sha256");
        w.id("", &self.replaced.sha256);
        w.member("mutation_evidence_id", self.mutated.evidence.id());
        w.member("unknown", &self.mutated.revision);
        w.end_object();
    }
}

impl Answer<'_> {
    /// The report of it.
    pub fn describe(&self, report: &mut Report) {
        describe_unknown(&self.mutated.revision, report, |report| {
            report.fact("mutation", self.mutated.evidence.id().to_string());
            report.fact("bundle sha256", self.replaced.sha256.to_hex());
        });
    }
}

/// Says everything of an unknown that a person wants to know first, with
/// `more` facts behind its own.
pub fn describe_unknown(unknown: &Revision, report: &mut Report, more: impl FnOnce(&mut Report)) {
    let plain = |text: &Text| String::from_utf8_lossy(text.as_bytes()).into_owned();
    report.title(plain(&unknown.question));
    report.fact("unknown", unknown.unknown_id.to_string());
    report.fact("revision", unknown.revision.to_string());
    report.toned_fact("status", unknown.status.as_str(), tone(unknown));
    report.fact("severity", unknown.severity.as_str());
    report.fact("domain", plain(&unknown.domain));
    if let Some(scope) = &unknown.scope_digest {
        report.fact("about", scope.to_hex());
    }
    if let Some(end) = &unknown.resolution {
        let end = format!("{}: {}", end.disposition.as_str(), plain(&end.rationale));
        report.fact("resolution", end);
    }
    more(report);
    let lists = [
        ("Supporting records", &unknown.supporting_evidence_ids),
        ("Contradicting records", &unknown.contradicting_evidence_ids),
    ];
    for (heading, ids) in lists {
        report.list(heading, ids.iter().map(EvidenceId::to_string));
    }
    let probes = unknown.recommended_probes.iter();
    report.list(
        "Recommended probes",
        probes.map(|probe| format!("{}: {}", plain(&probe.operation), plain(&probe.rationale))),
    );
    let links = unknown.relationships.iter();
    report.list(
        "Relationships",
        links.map(|link| format!("{} {}", link.kind.as_str(), link.unknown_id)),
    );
}

/// How a status is shown.
pub fn tone(unknown: &Revision) -> Tone {
    match unknown.status {
        evidence::UnknownStatus::Resolved => Tone::Good,
        evidence::UnknownStatus::Contradicted => Tone::Bad,
        evidence::UnknownStatus::Blocked => Tone::Warn,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_from_one_word() {
        let probe: Probe = "capture=a=b".parse().unwrap();
        assert_eq!((&*probe.operation, &*probe.rationale), ("capture", "a=b"));
        assert!("capture".parse::<Probe>().is_err() && "=x".parse::<Probe>().is_err());
        assert!(" =x".parse::<Probe>().is_err());
        let id = format!("unk_{}", "0".repeat(64));
        let link: Relationship = format!("depends-on:{id}").parse().unwrap();
        assert_eq!(link.kind, RelationKind::DependsOn);
        assert!(format!("needs:{id}").parse::<Relationship>().is_err());
        assert!("depends-on:x".parse::<Relationship>().is_err());
        let environment: Environment = "platform=linux,isolation=virtual-machine".parse().unwrap();
        let required: evidence::RequiredEnvironment = (&environment).into();
        assert_eq!(required.platform, Some("linux".into()));
        assert_eq!(required.isolation, Some("virtual-machine".into()));
        assert_eq!(required.id, None);
        assert!("platform".parse::<Environment>().is_err());
        assert!("os=linux".parse::<Environment>().is_err());
        assert!("isolation=jail".parse::<Environment>().is_err());
    }
}
