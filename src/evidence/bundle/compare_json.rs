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
        w.key("classification");
        w.string(self.classification.as_str());
        w.key("conclusion_kind");
        w.string(self.conclusion.as_str());
        w.key("entity");
        w.string(self.entity.as_str());
        w.key("key");
        w.string(&self.key);
        w.key("left_digest");
        digest(self.left_digest, w);
        w.key("left_evidence_ids");
        self.left_evidence_ids.write_json(w);
        w.key("limitations");
        write_limitation(self.limitation, w);
        w.key("right_digest");
        digest(self.right_digest, w);
        w.key("right_evidence_ids");
        self.right_evidence_ids.write_json(w);
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
            w.key(name);
            w.u64(count);
        }
        w.end_object();
    }
}

impl WriteJson for Comparison {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.key("changes");
        w.begin_object();
        w.key("items");
        self.page().write_json(w);
        w.key("limit");
        w.u64(self.limit);
        w.key("next_offset");
        w.optional_u64(self.next_offset());
        w.key("offset");
        w.u64(self.offset);
        w.key("total");
        w.u64(self.changes.len() as u64);
        w.end_object();
        w.key("left_bundle_sha256");
        w.id("", &self.left_bundle_sha256);
        w.key("limitations");
        write_limitation(self.limitations(), w);
        w.key("right_bundle_sha256");
        w.id("", &self.right_bundle_sha256);
        w.key("status");
        w.string(self.status());
        w.key("summary");
        self.counts.write_json(w);
        w.end_object();
    }
}
