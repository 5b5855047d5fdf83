//! Comparisons as JSON.

use super::compare::{Change, Comparison, Counts};
use crate::digest::Digest;
use crate::json::{WriteJson, Writer};

impl WriteJson for Change {
    fn write_json(&self, w: &mut Writer<'_>) {
        let digest = |digest: Option<Digest>, w: &mut Writer<'_>| match digest {
            Some(digest) => w.id("", &digest),
            None => w.null(),
        };
        w.begin_object();
        w.member("classification", self.classification.as_str());
        w.member("conclusion_kind", self.conclusion.as_str());
        w.member("entity", self.entity.as_str());
        w.member("key", &self.key);
        w.key("left_digest");
        digest(self.left_digest, w);
        w.member("left_evidence_ids", &self.left_evidence_ids);
        w.key("limitations");
        write_limitation(self.limitation, w);
        w.key("right_digest");
        digest(self.right_digest, w);
        w.member("right_evidence_ids", &self.right_evidence_ids);
        w.end_object();
    }
}

fn write_limitation(limitation: Option<&str>, w: &mut Writer<'_>) {
    w.begin_array();
    if let Some(limitation) = limitation {
        w.string(limitation);
    }
    w.end_array();
}

impl WriteJson for Counts {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        for (name, count) in [
            ("records_added", self.records_added),
            ("records_changed", self.records_changed),
            ("records_removed", self.records_removed),
            ("records_unchanged", self.records_unchanged),
            ("unknowns_added", self.unknowns_added),
            ("unknowns_advanced", self.unknowns_advanced),
            ("unknowns_diverged", self.unknowns_diverged),
            ("unknowns_removed", self.unknowns_removed),
            ("unknowns_unchanged", self.unknowns_unchanged),
            ("unresolved", self.unresolved),
        ] {
            w.member(name, count);
        }
        w.end_object();
    }
}

impl WriteJson for Comparison {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("changes");
        w.begin_object();
        w.member("items", self.page());
        w.member("limit", self.limit);
        w.member("next_offset", self.next_offset());
        w.member("offset", self.offset);
        w.member("total", self.changes.len() as u64);
        w.end_object();
        w.key("left_bundle_sha256");
        w.id("", &self.left_bundle_sha256);
        w.key("limitations");
        write_limitation(self.limitations(), w);
        w.key("right_bundle_sha256");
        w.id("", &self.right_bundle_sha256);
        w.member("status", self.status());
        w.member("summary", self.counts);
        w.end_object();
    }
}
