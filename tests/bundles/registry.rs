//! What mutations of unknowns refuse, and that a refusal changes nothing.

use rea::digest::Digest;
use rea::error::Error;
use rea::evidence::{
    Authority, Bundle, Comparison, ComparisonOptions, Confidence, Disposition, EvidenceId,
    RelationKind, Relationship, RequiredEnvironment, Resolution, UnknownFilter, UnknownId,
    UnknownScope, UnknownStatus, UnknownUpdate, Verdict,
};
use rea::json::{Text, Value};

use super::properties::{question, update};
use crate::{canonical, context, record, record_at, written};

fn with_question() -> (Bundle, UnknownId) {
    let mut bundle = Bundle::new();
    bundle.add(record(0)).unwrap();
    bundle.add(record_at(1, "/a")).unwrap();
    let made = bundle.record_unknown(&question("Why?"), UnknownScope::Nothing);
    let id = made.unwrap().revision.unknown_id;
    (bundle, id)
}

#[track_caller]
fn refused(error: &Error, code: &str, reason: &str) {
    assert_eq!(error.code().as_str(), code, "{error}");
    assert_eq!(error.category().as_str(), "execution_failure", "{error}");
    let found = error.details().get("reason").and_then(Value::as_str);
    assert_eq!(found, Some(reason), "{error}");
}

/// An update that must be refused, and leave everything as it was.
#[track_caller]
fn refuses(change: impl FnOnce(&mut UnknownUpdate), code: &str, reason: &str) {
    let (mut bundle, id) = with_question();
    let before = written(&bundle);
    let mut input = update(id, 1);
    change(&mut input);
    let error = bundle
        .update_unknown(&input, UnknownScope::Nothing)
        .unwrap_err();
    refused(&error, code, reason);
    assert_eq!(written(&bundle), before);
}

fn verified(by: EvidenceId) -> Option<Resolution> {
    Some(Resolution {
        disposition: Disposition::Verified,
        rationale: "It shows.".into(),
        evidence_ids: vec![by],
    })
}

#[test]
fn what_cannot_be() {
    let none = EvidenceId(Digest::of(b"none"));
    let nobody = UnknownId(Digest::of(b"nobody"));
    let invalid = ("execution_failure", "invalid-transition");
    let broken = ("evidence_integrity_mismatch", "integrity");
    refuses(|u| u.unknown_id = nobody, "execution_failure", "not-found");
    refuses(
        |u| u.expected_revision = 2,
        "revision_conflict",
        "revision-conflict",
    );
    refuses(|u| u.status = UnknownStatus::Resolved, invalid.0, invalid.1);
    refuses(
        |u| u.resolution = verified(record(0).id()),
        invalid.0,
        invalid.1,
    );
    refuses(
        |u| u.status = UnknownStatus::Contradicted,
        invalid.0,
        invalid.1,
    );
    refuses(
        |u| u.contradicting_evidence_ids = vec![record(0).id()],
        invalid.0,
        invalid.1,
    );
    let relates = |unknown_id| {
        vec![Relationship {
            kind: RelationKind::RelatedTo,
            unknown_id,
        }]
    };
    refuses(
        |u| u.relationships = relates(u.unknown_id),
        invalid.0,
        invalid.1,
    );
    refuses(
        |u| u.relationships = [relates(nobody), relates(nobody)].concat(),
        invalid.0,
        invalid.1,
    );
    refuses(|u| u.relationships = relates(nobody), broken.0, broken.1);
    refuses(|u| u.supporting_evidence_ids.push(none), broken.0, broken.1);
    refuses(
        |u| {
            u.status = UnknownStatus::Resolved;
            u.resolution = Some(Resolution {
                disposition: Disposition::Verified,
                rationale: "".into(),
                evidence_ids: Vec::new(),
            });
        },
        invalid.0,
        invalid.1,
    );
}

#[test]
fn a_verified_resolution_must_qualify() {
    let resolve = |u: &mut UnknownUpdate, by| {
        u.status = UnknownStatus::Resolved;
        u.resolution = verified(by);
    };
    let (code, reason) = ("evidence_integrity_mismatch", "integrity");
    // Not supporting.
    refuses(|u| resolve(u, record_at(1, "/a").id()), code, reason);
    refuses(
        |u| {
            resolve(u, record(0).id());
            u.required_authority = Some(Authority::ControlledReplay);
        },
        code,
        reason,
    );
    refuses(
        |u| {
            resolve(u, record(0).id());
            u.required_environment = Some(RequiredEnvironment::default());
        },
        code,
        reason,
    );
    refuses(
        |u| {
            resolve(u, record(0).id());
            u.contradicting_evidence_ids = vec![record_at(1, "/a").id()];
        },
        code,
        reason,
    );
    // The record of a mutation proves nothing.
    let (mut bundle, id) = with_question();
    let mutation = bundle.unknown(id).unwrap().mutation_evidence_ids[0];
    let mut input = update(id, 1);
    input.required_confidence = Confidence::Inferred;
    input.supporting_evidence_ids = vec![mutation];
    resolve(&mut input, mutation);
    let error = bundle
        .update_unknown(&input, UnknownScope::Nothing)
        .unwrap_err();
    refused(&error, code, reason);

    input.supporting_evidence_ids = vec![record(0).id(), mutation];
    resolve(&mut input, record(0).id());
    bundle
        .update_unknown(&input, UnknownScope::Nothing)
        .unwrap();
    let verdict = Verdict(bundle.unknown(id).unwrap());
    assert!(verdict.is_valid() && verdict.is_verified());
    let text = String::from_utf8(canonical(&verdict)).unwrap();
    assert!(
        text.starts_with(r#"{"truthVerified":true,"unknown":{"#)
            && text.ends_with(r#","valid":true}"#)
    );

    // It can be opened again, and withdrawn.
    let mut input = update(id, 2);
    bundle
        .update_unknown(&input, UnknownScope::Nothing)
        .unwrap();
    assert!(!Verdict(bundle.unknown(id).unwrap()).is_valid());
    input.expected_revision = 3;
    input.status = UnknownStatus::Resolved;
    input.resolution = Some(Resolution {
        disposition: Disposition::Withdrawn,
        rationale: "Nobody asks.".into(),
        evidence_ids: Vec::new(),
    });
    bundle
        .update_unknown(&input, UnknownScope::Nothing)
        .unwrap();
    let verdict = Verdict(bundle.unknown(id).unwrap());
    assert!(verdict.is_valid() && !verdict.is_verified());
}

#[test]
fn a_question_is_recorded_once_in_each_scope() {
    let (mut bundle, _) = with_question();
    let before = written(&bundle);
    for text in ["Why?", "  Why?\n"] {
        let error = bundle
            .record_unknown(&question(text), UnknownScope::Nothing)
            .unwrap_err();
        refused(&error, "revision_conflict", "already-exists");
    }
    assert_eq!(written(&bundle), before);
    // Mixed scopes: the same question about an artifact is another one.
    let about = record_at(1, "/a").id();
    let made = bundle
        .record_unknown(&question("Why?"), UnknownScope::Record(about))
        .unwrap();
    assert_eq!(made.revision.scope_digest, Some(Digest::of(b"subject")));
    assert_eq!(bundle.unknowns().len(), 2);
    assert!(matches!(
        bundle.scope_of(made.revision.unknown_id),
        UnknownScope::Record(_)
    ));
    let id = made.revision.unknown_id;
    let made = bundle
        .update_unknown(&update(id, 1), bundle.scope_of(id))
        .unwrap();
    assert_eq!(made.evidence.subject_sha256(), Some(Digest::of(b"subject")));
    assert_eq!(made.revision.scope_digest, Some(Digest::of(b"subject")));
    let none = UnknownScope::Record(EvidenceId(Digest::of(b"none")));
    let error = bundle.record_unknown(&question("Who?"), none).unwrap_err();
    assert_eq!(error.code().as_str(), "evidence_integrity_mismatch");
    assert_eq!(error.details().get("reason"), Some(&Value::from("missing")));
}

#[test]
fn lists_filter_first_and_page_then() {
    let mut bundle = Bundle::new();
    bundle.add(record(0)).unwrap();
    for number in 0..10 {
        let mut input = question(&format!("Question {number}?"));
        if number % 2 == 1 {
            input.domain = Text::from("files");
        }
        bundle
            .record_unknown(&input, UnknownScope::Nothing)
            .unwrap();
    }
    let list = |offset, limit, domain: Option<&str>| {
        let filter = UnknownFilter {
            offset,
            limit,
            domain: domain.map(Text::from),
            ..UnknownFilter::default()
        };
        let listing = bundle.unknowns().list(&filter);
        assert!(
            listing
                .page
                .is_sorted_by(|a, b| a.unknown_id < b.unknown_id)
        );
        (listing.page.len(), listing.total, listing.next_offset)
    };
    assert_eq!(list(0, None, None), (10, 10, None));
    assert_eq!(list(4, None, None), (6, 10, None));
    assert_eq!(list(0, Some(4), None), (4, 10, Some(4)));
    assert_eq!(list(8, Some(4), None), (2, 10, None));
    assert_eq!(list(1, Some(3), Some("files")), (3, 5, Some(4)));
    assert_eq!(list(0, Some(0), Some("files")), (0, 5, Some(0)));
    assert_eq!(list(u64::MAX, Some(u64::MAX), None), (0, 10, None));
    assert_eq!(list(0, None, Some("fil")), (0, 0, None));
}

#[test]
fn the_same_question_in_other_scopes_is_no_answer() {
    let mut base = Bundle::new();
    base.add(record(0)).unwrap();
    base.add(record_at(1, "/a")).unwrap();
    let asked = |scope| {
        let mut bundle = base.clone();
        bundle.record_unknown(&question("Why?"), scope).unwrap();
        bundle
    };
    let general = asked(UnknownScope::Nothing);
    let about = asked(UnknownScope::Record(record_at(1, "/a").id()));
    let options = ComparisonOptions::default();
    let found = Comparison::of(&general, &about, &options, &context()).unwrap();
    assert_eq!(found.status(), "unknown");
    assert_eq!(
        (found.counts.unknowns_added, found.counts.unknowns_removed),
        (1, 1)
    );
    assert!(!found.is_contradiction());
    // Both together are two questions, and hold.
    let mut both = general.clone();
    both.merge(about).unwrap();
    assert_eq!(both.unknowns().len(), 2);
    let same = Comparison::of(&both, &both, &options, &context()).unwrap();
    assert_eq!(same.status(), "unchanged");
}

/// A mutation calls the artifact what the record calls it, byte for byte.
#[test]
fn the_artifact_keeps_its_name() {
    let given = record_at(1, "/srv/app");
    let (name, path) = (Text::from_utf16([0xd800]), Text::from_utf16([0x2f, 0xdfff]));
    let given = given.shown_as(name.clone(), path.clone());
    let mut bundle = Bundle::new();
    bundle.add(record(0)).unwrap();
    bundle.add(given.clone()).unwrap();
    let scope = || UnknownScope::Record(given.id());
    let made = bundle.record_unknown(&question("Why?"), scope()).unwrap();
    let id = made.revision.unknown_id;
    let scope = bundle.scope_of(id);
    let next = bundle.update_unknown(&update(id, 1), scope).unwrap();
    for mutated in [made, next] {
        let subject = mutated.evidence.record().get("subject").unwrap().clone();
        assert_eq!(subject.get("name"), Some(&name.clone().into()));
        assert_eq!(subject.get("local_path"), Some(&path.clone().into()));
    }
    // It is in a bundle that holds.
    crate::read(&written(&bundle)).unwrap();
}

#[test]
fn what_is_about_nothing_and_probes_for_nothing() {
    let (mut bundle, id) = with_question();
    let before = written(&bundle);
    let scope = UnknownScope::Record(record(0).id());
    let error = bundle.record_unknown(&question("Who?"), scope).unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_request", "{error}");
    let mut blank = question("Who?");
    blank.recommended_probes = vec![rea::evidence::Probe {
        operation: " \t".into(),
        rationale: "x".into(),
    }];
    let error = bundle
        .record_unknown(&blank, UnknownScope::Nothing)
        .unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_request", "{error}");
    let mut next = update(id, 1);
    next.recommended_probes = blank.recommended_probes;
    let error = bundle
        .update_unknown(&next, UnknownScope::Nothing)
        .unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_request", "{error}");
    assert_eq!(written(&bundle), before);
}
