//! What must hold of all bundles.

use proptest::prelude::*;
use rea::digest::Digest;
use rea::evidence::{
    Bundle, Confidence, NewSubject, NewUnknown, RelationKind, Relationship, Severity, UnknownId,
    UnknownScope, UnknownStatus, UnknownUpdate,
};
use rea::json::{Text, Value};

use crate::{canonical, collected, read, record, record_at, texts, written};

/// The members of every object, last first: as no writer orders them.
pub fn reversed(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(object) => {
            out.push(b'{');
            let members: Vec<_> = object.iter().collect();
            for (at, (name, value)) in members.iter().rev().enumerate() {
                if at > 0 {
                    out.extend(b" ,\n");
                }
                out.extend(canonical(&Value::String((*name).clone())));
                out.extend(b"\t: ");
                reversed(value, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.extend(b" ,");
                }
                reversed(item, out);
            }
            out.push(b']');
        }
        scalar => out.extend(canonical(scalar)),
    }
}

pub fn question(text: &str) -> NewUnknown {
    NewUnknown {
        question: text.into(),
        severity: Severity::Low,
        domain: "protocol".into(),
        required_authority: None,
        required_confidence: Confidence::Observed,
        required_environment: None,
        recommended_probes: Vec::new(),
        relationships: Vec::new(),
        supporting_evidence_ids: vec![record(0).id()],
        contradicting_evidence_ids: Vec::new(),
    }
}

pub fn update(id: UnknownId, expected_revision: u64) -> UnknownUpdate {
    UnknownUpdate {
        unknown_id: id,
        expected_revision,
        status: UnknownStatus::Investigating,
        severity: Severity::High,
        supporting_evidence_ids: vec![record(0).id()],
        contradicting_evidence_ids: Vec::new(),
        required_authority: None,
        required_confidence: Confidence::Derived,
        required_environment: None,
        recommended_probes: Vec::new(),
        relationships: Vec::new(),
        resolution: None,
    }
}

/// Records of these numbers under these paths, and unknowns with so many
/// revisions. Histories of equal length are equal, so nothing conflicts.
fn bundle(records: &[(u64, u8)], histories: &[u64]) -> Bundle {
    let mut bundle = Bundle::new();
    for (number, path) in records {
        let record = match path {
            0 => record(*number),
            path => record_at(*number, &format!("/p{path}/n")),
        };
        bundle.add(record).unwrap();
    }
    for (at, length) in histories.iter().enumerate() {
        if *length == 0 {
            continue;
        }
        bundle.add(record(0)).unwrap();
        let scope = UnknownScope::Subject(NewSubject {
            path: "/x".to_owned(),
            sha256: Digest::of(b"scope"),
            format: "elf".to_owned(),
            architecture: None,
        });
        let made = bundle.record_unknown(&question(&format!("Question {at}?")), scope);
        let id = made.unwrap().revision.unknown_id;
        for revision in 1..*length {
            let scope = bundle.scope_of(id);
            bundle.update_unknown(&update(id, revision), scope).unwrap();
        }
    }
    bundle
}

fn any_bundle() -> impl Strategy<Value = Bundle> {
    let records = prop::collection::vec((0..6u64, 0..4u8), 0..8);
    let histories = prop::collection::vec(0..4u64, 3);
    (records, histories).prop_map(|(records, histories)| bundle(&records, &histories))
}

fn merged(parts: &[&Bundle]) -> Vec<u8> {
    let mut all = Bundle::new();
    for part in parts {
        all.merge((*part).clone()).unwrap();
    }
    written(&all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_is_associative_commutative_and_idempotent(
        a in any_bundle(), b in any_bundle(), c in any_bundle()
    ) {
        let all = merged(&[&a, &b, &c]);
        prop_assert_eq!(&merged(&[&c, &b, &a]), &all);
        prop_assert_eq!(&merged(&[&b, &c, &a, &b, &a]), &all);
        let mut right = b.clone();
        right.merge(c.clone()).unwrap();
        prop_assert_eq!(&merged(&[&a, &right]), &all);
        let mut at_once = Bundle::new();
        at_once.merge_all(vec![b.clone(), a.clone(), c.clone()]).unwrap();
        prop_assert_eq!(&written(&at_once), &all);
        prop_assert_eq!(merged(&[&a, &a]), written(&a));
        prop_assert_eq!(merged(&[&a]), written(&a));
    }

    #[test]
    fn what_is_written_is_read(a in any_bundle(), b in any_bundle()) {
        let text = written(&a);
        let again = read(&text).unwrap();
        prop_assert_eq!(written(&again), text.clone());
        let value = Value::parse(&text, rea::json::Limits::default()).unwrap();
        let mut unordered = Vec::new();
        reversed(&value, &mut unordered);
        prop_assert_eq!(written(&read(&unordered).unwrap()), text.clone());
        // As operands, after each other, in any order.
        let both = merged(&[&a, &b]);
        let mut input = text;
        input.extend(b"\n");
        input.extend(written(&b));
        prop_assert_eq!(written(&collected(&input).unwrap()), both);
    }

    #[test]
    fn counts_of_a_merge_say_what_is_new(a in any_bundle(), b in any_bundle()) {
        let mut all = a.clone();
        let result = all.merge(b.clone()).unwrap();
        prop_assert_eq!(result.imported, (all.len() - a.len()) as u64);
        prop_assert_eq!(result.total, all.len() as u64);
        let new = all.unknowns().revisions() - a.unknowns().revisions();
        prop_assert_eq!(result.unknowns_added, new);
        let again = all.merge(b).unwrap();
        prop_assert_eq!((again.imported, again.unknowns_added), (0, 0));
    }
}

#[test]
fn the_smallest_path_stays_whatever_comes_first() {
    // Decision 26; U+10000 comes after U+FFFF by code points, not by UTF-16.
    let paths = ["/b", "/a", "/\u{10000}", "/\u{ffff}", "/a/x"];
    let one = |path: &str| {
        let mut bundle = Bundle::new();
        bundle.add(record_at(1, path)).unwrap();
        bundle
    };
    for first in paths {
        for second in paths {
            let smaller = first.min(second);
            assert_eq!(merged(&[&one(first), &one(second)]), written(&one(smaller)));
            let mut added = one(first);
            assert!(!added.add(record_at(1, second)).unwrap());
            assert_eq!(written(&added), written(&one(smaller)));
        }
    }
}

#[test]
fn forks_of_one_history_are_refused_and_nothing_is_merged() {
    let base = bundle(&[], &[1]);
    let id = base.unknowns().ids().next().unwrap();
    let advance = |severity| {
        let mut one = base.clone();
        let mut update = update(id, 1);
        update.severity = severity;
        one.update_unknown(&update, UnknownScope::Nothing).unwrap();
        one
    };
    let (left, right) = (advance(Severity::Low), advance(Severity::Critical));
    for (mine, theirs) in [(&left, &right), (&right, &left)] {
        let mut mine = mine.clone();
        mine.add(record(7)).unwrap();
        let before = written(&mine);
        let mut theirs = theirs.clone();
        theirs.add(record(8)).unwrap();
        let error = mine.merge(theirs).unwrap_err();
        assert_eq!(error.code().as_str(), "evidence_integrity_mismatch");
        assert_eq!(error.category().as_str(), "integrity_mismatch");
        let stage = error.details().get("stage").and_then(Value::as_str);
        assert_eq!(stage, Some("conflict"));
        assert_eq!(written(&mine), before);
    }
    // A history and its continuation are no fork.
    assert_eq!(merged(&[&left, &base]), written(&left));
}

#[test]
fn a_circle_that_only_the_whole_has_is_refused_unless_the_whole_cures_it() {
    let base = bundle(&[], &[1, 1]);
    let ids: Vec<UnknownId> = base.unknowns().ids().collect();
    let depends = |on: usize| Relationship {
        kind: RelationKind::DependsOn,
        unknown_id: ids[on],
    };
    let with = |which: usize, on: usize| {
        let mut one = base.clone();
        let mut update = update(ids[which], 1);
        update.relationships = vec![depends(on)];
        one.update_unknown(&update, UnknownScope::Nothing).unwrap();
        one
    };
    let (left, right) = (with(0, 1), with(1, 0));
    let mut both = left.clone();
    let error = both.merge(right.clone()).unwrap_err();
    let stage = error.details().get("stage").and_then(Value::as_str);
    assert_eq!(stage, Some("unknown-cycle"));
    assert_eq!(written(&both), written(&left));
    // A later revision without the dependency.
    let mut cured = right.clone();
    cured
        .update_unknown(&update(ids[1], 2), UnknownScope::Nothing)
        .unwrap();
    let mut all = Bundle::new();
    all.merge_all(vec![left, right, cured]).unwrap();
    assert_eq!(all.unknowns().revisions(), 5);
}

#[test]
fn questions_differ_by_their_words_domain_and_scope_alone() {
    let question = |text: &str| question(text).revision(None, record(0).id()).unknown_id;
    let [spaced, other]: [Text; 2] = texts(&[" A\u{a0}\tb ", "A c"]).try_into().unwrap();
    assert_eq!(question("A b"), question(spaced.as_str().unwrap()));
    assert_ne!(question("A b"), question(other.as_str().unwrap()));
    assert_ne!(question("A b"), question("a b"));
}
