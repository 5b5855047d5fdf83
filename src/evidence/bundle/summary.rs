//! The summary of a bundle: one line a record, without its result
//! (evidence.md section 4.1).

use super::Bundle;
use super::capture::{Head, ValueFlow};
use super::manifest::{write_identity, write_provider};
use crate::digest::Digest;
use crate::evidence::EvidenceId;
use crate::json::{Text, WriteJson, Writer};

/// A value flow whose metadata cannot be read.
const INCOMPATIBLE_FLOW: &str = "Value-flow metadata has an incompatible representation.";

/// Which records are wanted: those that match exactly in all that is given.
/// What is null in a record matches nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryFilter {
    /// The record's id.
    pub evidence_id: Option<EvidenceId>,
    /// Its operation.
    pub operation: Option<Text>,
    /// SHA-256 of its subject.
    pub target_sha256: Option<Digest>,
    /// Digest of its analysis profile.
    pub analysis_profile_digest: Option<Digest>,
    /// Address of the function that it is about.
    pub procedure_address: Option<Text>,
}

impl SummaryFilter {
    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn lets(&self, head: &Head) -> bool {
        fn equal<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
            wanted.is_none() || wanted == found
        }
        let subject = head.subject.as_ref().map(|subject| &subject.sha256);
        let address = head.dossier.as_ref().map(|dossier| &dossier.address);
        equal(self.evidence_id.as_ref(), Some(&head.id))
            && equal(self.operation.as_ref(), Some(&head.group.operation))
            && equal(self.target_sha256.as_ref(), subject)
            && equal(
                self.analysis_profile_digest.as_ref(),
                head.group.profile_digest.as_ref(),
            )
            && equal(self.procedure_address.as_ref(), address)
    }
}

impl WriteJson for SummaryFilter {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        if let Some(digest) = &self.analysis_profile_digest {
            w.key("analysis_profile_digest");
            w.id("", digest);
        }
        if let Some(id) = &self.evidence_id {
            w.member("evidence_id", id);
        }
        if let Some(operation) = &self.operation {
            w.member("operation", operation);
        }
        if let Some(address) = &self.procedure_address {
            w.member("procedure_address", address);
        }
        if let Some(digest) = &self.target_sha256 {
            w.key("target_sha256");
            w.id("", digest);
        }
        w.end_object();
    }
}

/// A summary, ready to be written any number of times.
#[derive(Debug)]
pub struct Summary<'a> {
    bundle: &'a Bundle,
    filter: SummaryFilter,
    matching: u64,
}

/// A record as tables show it.
#[derive(Clone, Copy, Debug)]
pub struct SummaryRow<'a> {
    /// Its id.
    pub id: EvidenceId,
    /// Its operation.
    pub operation: &'a Text,
    /// What its confidence and authority are called.
    pub confidence: &'static str,
    /// What its authority is called.
    pub authority: &'static str,
    /// The subject's SHA-256, where there is one.
    pub sha256: Option<&'a Digest>,
    /// The subject's name, where there is one.
    pub name: Option<&'a Text>,
    /// How many limitations it has.
    pub limitations: u64,
}

impl Bundle {
    /// The records that `filter` lets through.
    pub fn summary(&self, filter: SummaryFilter) -> Summary<'_> {
        let matching = self.entries.iter().filter(|entry| filter.lets(&entry.head));
        Summary {
            matching: matching.count() as u64,
            bundle: self,
            filter,
        }
    }
}

impl<'a> Summary<'a> {
    /// How many records match.
    pub fn matching(&self) -> u64 {
        self.matching
    }

    /// The matching records, in the bundle's order.
    pub fn rows(&self) -> impl Iterator<Item = SummaryRow<'a>> {
        self.heads().map(|head| SummaryRow {
            id: head.id,
            operation: &head.group.operation,
            confidence: head.group.confidence.as_str(),
            authority: head.group.authority.as_str(),
            sha256: head.subject.as_ref().map(|subject| &subject.sha256),
            name: head.subject.as_ref().map(|subject| &subject.name),
            limitations: head.limitation_count,
        })
    }

    fn heads(&self) -> impl Iterator<Item = &'a Head> {
        let heads = self.bundle.entries.iter().map(|entry| &entry.head);
        heads.filter(|head| self.filter.lets(head))
    }
}

impl WriteJson for Summary<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("filters", &self.filter);
        w.member("kind", "evidence-bundle-summary");
        w.member("matching_records", self.matching);
        w.key("records");
        w.begin_array();
        for head in self.heads() {
            write_head(head, w);
        }
        w.end_array();
        w.member("total_retained_records", self.bundle.len() as u64);
        w.member("unknown_revisions", self.bundle.unknowns().revisions());
        w.end_object();
    }
}

fn write_head(head: &Head, w: &mut Writer<'_>) {
    w.begin_object();
    w.key("analysis_profile_digest");
    match &head.group.profile_digest {
        Some(digest) => w.id("", digest),
        None => w.null(),
    }
    w.member("authority", head.group.authority.as_str());
    w.member("confidence", head.group.confidence.as_str());
    w.member("evidence_id", head.id);
    w.member("limitation_count", head.limitation_count);
    w.key("native_dossier");
    write_dossier(head, w);
    w.member("operation", &head.group.operation);
    w.key("provider");
    write_provider(head, w);
    w.member("retention", "complete-record");
    w.key("subject");
    write_subject(head, w);
    w.end_object();
}

fn write_subject(head: &Head, w: &mut Writer<'_>) {
    let Some(subject) = &head.subject else {
        return w.null();
    };
    w.begin_object();
    write_identity(head, w);
    w.member("local_path", &subject.local_path);
    w.member("name", &subject.name);
    w.end_object();
}

fn write_dossier(head: &Head, w: &mut Writer<'_>) {
    w.begin_object();
    w.key("available");
    let Some(dossier) = &head.dossier else {
        w.bool(false);
        let reason = match head.group.operation == *"analyze_function" {
            true => "not-recorded-or-incompatible",
            false => "different-operation",
        };
        w.member("reason", reason);
        return w.end_object();
    };
    w.bool(true);
    w.member("procedure_address", &dossier.address);
    w.member("procedure_name", dossier.name.as_ref());
    w.key("value_flow");
    write_flow(&dossier.flow, w);
    w.end_object();
}

fn write_flow(flow: &ValueFlow, w: &mut Writer<'_>) {
    w.begin_object();
    match flow {
        ValueFlow::NotRecorded => {
            w.member("status", "not-recorded");
        }
        ValueFlow::Observed {
            truncated,
            omitted_operations_lower_bound,
            known_omitted_inputs,
            known_omitted_edges,
        } => {
            let mut count = |name, count: &Option<f64>| {
                w.key(name);
                match count {
                    Some(count) => w.number(*count),
                    None => w.null(),
                }
            };
            count("known_omitted_edges", known_omitted_edges);
            count("known_omitted_inputs", known_omitted_inputs);
            count(
                "omitted_operations_lower_bound",
                omitted_operations_lower_bound,
            );
            w.member("status", "observed");
            w.member("truncated", *truncated);
        }
        ValueFlow::Unavailable { reason } => {
            w.member("reason", reason);
            w.member("status", "unavailable");
        }
        ValueFlow::Unknown => {
            w.member("reason", INCOMPATIBLE_FLOW);
            w.member("status", "unknown");
        }
    }
    w.end_object();
}
