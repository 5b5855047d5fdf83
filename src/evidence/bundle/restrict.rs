//! The part of a bundle that is about one artifact (evidence section 5).

use std::collections::BTreeSet;

use super::Bundle;
use crate::digest::Digest;
use crate::evidence::EvidenceId;
use crate::evidence::unknowns::{Revision, UnknownId, Unknowns};

impl Bundle {
    /// The records about the artifact with this SHA-256; the unknowns about it
    /// that rest on nothing else; and the records of their mutations.
    pub fn restricted_to(&self, artifact: Digest) -> Self {
        let about = |id: EvidenceId| {
            let head = self.head(id);
            head.and_then(|head| head.subject.as_ref())
                .map(|subject| subject.sha256)
        };
        let is_mutation = |id: EvidenceId| {
            let head = self.head(id);
            head.is_some_and(|head| head.subject.is_none() && head.cited().mutation)
        };
        let rests_on_it = |revision: &Revision| {
            revision.scope_digest == Some(artifact)
                && revision
                    .cited()
                    .all(|id| about(id) == Some(artifact) || is_mutation(id))
        };
        let mut kept: BTreeSet<UnknownId> = self
            .unknowns
            .ids()
            .filter(|&id| self.unknowns.history(id).all(rests_on_it))
            .collect();
        // An unknown goes with those that it is related to.
        loop {
            let before = kept.len();
            let whole = kept.clone();
            kept.retain(|&id| {
                let mut related = self
                    .unknowns
                    .history(id)
                    .flat_map(|revision| &revision.relationships);
                related.all(|link| whole.contains(&link.unknown_id))
            });
            if kept.len() == before {
                break;
            }
        }
        let mut unknowns = Unknowns::default();
        let mut mutations = BTreeSet::new();
        for revision in kept.iter().flat_map(|&id| self.unknowns.history(id)) {
            mutations.extend(revision.mutation_evidence_ids.iter().copied());
            let _ = unknowns.insert(revision.clone());
        }
        let entries = self
            .entries
            .iter()
            .filter(|entry| {
                let id = entry.head.id;
                let kept = mutations.contains(&id);
                // A mutation of an unknown that is not kept would name nothing.
                kept || (about(id) == Some(artifact) && !entry.head.cited().mutation)
            })
            .cloned()
            .collect();
        Self { entries, unknowns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        Confidence, Creation, Evidence, NewSubject, NewUnknown, Provider, Severity, UnknownScope,
    };

    fn subject(text: &str) -> NewSubject {
        NewSubject {
            path: text.to_owned(),
            sha256: Digest::of_json(|w| w.string(text)),
            format: "elf".to_owned(),
            architecture: None,
        }
    }

    fn record(about: &str) -> Evidence {
        const MADE_UP: Provider = Provider {
            id: "fixture",
            name: "Fixture provider",
            version: "1",
        };
        let mut creation = Creation::new("health", MADE_UP);
        creation.subject = Some(subject(about));
        Evidence::create(creation)
    }

    fn question(text: &str, supporting: Vec<EvidenceId>) -> NewUnknown {
        NewUnknown {
            question: text.into(),
            severity: Severity::Low,
            domain: "files".into(),
            required_authority: None,
            required_confidence: Confidence::Observed,
            required_environment: None,
            recommended_probes: Vec::new(),
            relationships: Vec::new(),
            supporting_evidence_ids: supporting,
            contradicting_evidence_ids: Vec::new(),
        }
    }

    #[test]
    fn what_is_about_other_artifacts_is_left_out() {
        let (one, other) = (record("a"), record("b"));
        let mut bundle = Bundle::new();
        bundle.add(one.clone()).unwrap();
        bundle.add(other.clone()).unwrap();
        let own = UnknownScope::Subject(subject("a"));
        let kept = question("Why?", vec![one.id()]);
        let kept = bundle.record_unknown(&kept, own.clone()).unwrap();
        let mixed = question("How?", vec![one.id(), other.id()]);
        bundle.record_unknown(&mixed, own).unwrap();
        let foreign = UnknownScope::Subject(subject("b"));
        bundle
            .record_unknown(&question("Who?", Vec::new()), foreign)
            .unwrap();

        let restricted = bundle.restricted_to(subject("a").sha256);
        let ids: Vec<_> = restricted.ids().collect();
        let mut expected = vec![one.id(), kept.evidence.id()];
        expected.sort();
        assert_eq!(ids, expected);
        let unknowns: Vec<_> = restricted.unknowns().ids().collect();
        assert_eq!(unknowns, [kept.revision.unknown_id]);
        assert!(restricted.unknown_problem().is_none());
        // It is its own restriction.
        let again = restricted.restricted_to(subject("a").sha256);
        assert_eq!(again.len(), restricted.len());
    }
}
