//! A bundle that is not what it was is refused.

use rea::digest::Digest;
use rea::evidence::{Bundle, Evidence, Source, Status, UnknownScope, verify_all};
use rea::json::{Limits, Object, Value};

use super::properties::{question, update};
use crate::{canonical, collected, context, read, record, record_at, text, vector, written};

/// What of a bundle is authenticated: everything but names and paths.
fn authenticated(bytes: &[u8]) -> Value {
    let value = Value::parse(bytes, Limits::default()).unwrap();
    let mut bundle = value.as_object().unwrap().clone();
    let records = bundle.get("records").unwrap().as_array().unwrap();
    let blind = |record: &Value| {
        let mut record = record.as_object().unwrap().clone();
        if let Some(Value::Object(subject)) = record.get("subject") {
            let mut subject: Object = subject.clone();
            subject.remove("name");
            subject.remove("local_path");
            record.insert("subject", subject);
        }
        Value::from(record)
    };
    let records: Vec<Value> = records.iter().map(blind).collect();
    bundle.insert("records", Value::Array(records));
    bundle.into()
}

/// Both a bundle with every kind of member and one with a history.
fn samples() -> Vec<Vec<u8>> {
    [
        "bundle/02-records-and-manifests.json",
        "bundle/03-unknown-history.json",
    ]
    .map(|name| canonical(vector(name).get("bundle").unwrap()))
    .into()
}

fn flip_every_bit(sample: &[u8]) {
    let expected = authenticated(sample);
    let mut accepted = 0;
    for at in 0..sample.len() {
        for bit in 0..8 {
            let mut tampered = sample.to_vec();
            tampered[at] ^= 1 << bit;
            if read(&tampered).is_ok() {
                assert_eq!(authenticated(&tampered), expected, "byte {at} bit {bit}");
                accepted += 1;
            }
        }
    }
    // Names and paths of subjects alone can differ.
    let path = b"/srv/fixture";
    let names = sample
        .windows(path.len())
        .filter(|part| part == path)
        .count();
    assert!(accepted > 0 && accepted <= names * 8 * "/srv/fixture fixture".len());
}

// Two tests, so that they run at the same time.
#[test]
fn one_flipped_bit_is_refused_wherever_it_is() {
    flip_every_bit(&samples()[0]);
}

#[test]
fn one_flipped_bit_is_refused_wherever_it_is_in_a_history() {
    flip_every_bit(&samples()[1]);
}

#[test]
fn what_is_cut_off_or_goes_on_is_refused() {
    for sample in samples() {
        for length in 0..sample.len() {
            assert!(read(&sample[..length]).is_err(), "{length}");
        }
        for more in ["x", "{}", "null", "\0", "\u{feff}"] {
            let mut longer = sample.clone();
            longer.extend(more.bytes());
            assert!(read(&longer).is_err(), "{more:?}");
        }
        let mut spaced = sample.clone();
        spaced.extend(b" \r\n\t");
        assert!(read(&spaced).is_ok());
    }
}

fn stage(input: &[u8]) -> String {
    let error = read(input).unwrap_err();
    let stage = error
        .details()
        .get("stage")
        .or(error.details().get("reason"));
    stage.and_then(Value::as_str).unwrap().to_owned()
}

fn with(change: impl FnOnce(&mut Object)) -> Vec<u8> {
    let value = vector("bundle/03-unknown-history.json");
    let mut bundle = value.get("bundle").unwrap().as_object().unwrap().clone();
    change(&mut bundle);
    canonical(&bundle)
}

#[test]
fn shapes_that_are_no_bundle() {
    assert_eq!(stage(b"{}"), "shape");
    assert_eq!(stage(b"[]"), "shape");
    assert_eq!(stage(b"null"), "shape");
    assert_eq!(stage(b""), "invalid-json");
    assert_eq!(stage(&canonical(&record(1))), "shape");
    assert_eq!(stage(br#"{"records":[],"records":[]}"#), "invalid-json");
    assert_eq!(stage(br#"{"records":[],"x":1,"x":1}"#), "invalid-json");
    assert_eq!(stage(br#"{"records":[1,],"x":1}"#), "invalid-json");
    assert_eq!(stage(br#"{"records":"a"}"#), "shape");
    assert_eq!(
        stage(br#"{"records":{"a":[1,{"b":2}]},"unknowns":[[]]}"#),
        "shape"
    );
    for member in [
        "artifacts",
        "captures",
        "environments",
        "providers",
        "records",
        "scenarios",
        "unknowns",
    ] {
        assert_eq!(
            stage(&with(|bundle| _ = bundle.remove(member))),
            "shape",
            "{member}"
        );
        assert_eq!(stage(&with(|bundle| bundle.insert(member, "x"))), "shape");
        assert_eq!(
            stage(&with(|bundle| bundle.insert(member, Value::Null))),
            "shape"
        );
        let odd = vec![Value::from(Object::new())];
        assert_eq!(
            stage(&with(|bundle| bundle.insert(member, odd))),
            "shape",
            "{member}"
        );
    }
    // Elements that stand twice, or in the wrong order.
    for member in ["artifacts", "providers"] {
        let twice = with(|bundle| {
            let mut items = bundle.get(member).unwrap().as_array().unwrap().to_vec();
            items.push(items[0].clone());
            bundle.insert(member, items);
        });
        assert_eq!(stage(&twice), "not-canonical", "{member}");
    }
    let unknowns = with(|bundle| {
        let mut items = bundle.get("unknowns").unwrap().as_array().unwrap().to_vec();
        items.reverse();
        bundle.insert("unknowns", items);
    });
    assert_eq!(stage(&unknowns), "not-canonical");
}

#[test]
fn a_record_of_a_bundle_is_told_with_its_place() {
    let bytes = with(|bundle| {
        let mut records = bundle.get("records").unwrap().as_array().unwrap().to_vec();
        let mut bad = records[1].as_object().unwrap().clone();
        bad.insert("normalized_result", "other");
        records[1] = bad.into();
        bundle.insert("records", records);
    });
    let source = Source::stream("-", Box::new(std::io::Cursor::new(bytes.clone())));
    let mut lines = Vec::new();
    verify_all(source, Limits::default(), &context(), &mut |report| {
        let pointer = report.pointer.as_ref().map(ToString::to_string);
        lines.push((pointer, report.status, report.bundle));
        Ok(())
    })
    .unwrap();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[1].0.as_deref(), Some("/records/1"));
    assert_eq!(lines[1].1, Status::Invalid);
    assert_eq!(lines[0].1, Status::Verified);
    let (pointer, status, counts) = lines.pop().unwrap();
    assert_eq!((pointer, status), (None, Status::Invalid));
    assert_eq!(counts.unwrap().records, 5);
    let error = read(&bytes).unwrap_err();
    let pointer = error.details().get("pointer").and_then(Value::as_str);
    assert_eq!(pointer, Some("/records/1/evidence_id"));
}

#[test]
fn operands_hold_records_and_bundles_alike() {
    let value = vector("bundle/02-records-and-manifests.json");
    let mut input = canonical(&record(1));
    input.extend(text(&value, "canonical").bytes());
    input.extend(canonical(&record(2)));
    assert_eq!(collected(&input).unwrap().len(), 7);
    assert!(collected(b"").is_err());
    assert!(collected(b"{}").is_err());
    input.extend(b"[");
    assert!(collected(&input).is_err());
    // A record that is not what its id says.
    let mut bad: Object = record(1).record().clone();
    bad.insert("operation", "other");
    assert!(Evidence::from_value(bad.clone().into()).is_err());
    assert!(collected(&canonical(&bad)).is_err());
}

#[test]
fn very_deep_and_very_many_are_refused_without_harm() {
    let deep = format!("{{\"records\":{}", "[".repeat(5000));
    assert!(read(deep.as_bytes()).is_err());
    let many = format!("{{\"artifacts\":[{}0]", "0,".repeat(200_000));
    assert!(read(many.as_bytes()).is_err());
    let names: String = (0..2000).map(|n| format!(",\"n{n}\":0")).collect();
    assert_eq!(
        stage(format!("{{\"records\":[]{names}}}").as_bytes()),
        "shape"
    );
}

/// The bundle with its newest revision changed, under the digest that it has
/// then, so that it is what the digest says.
fn with_newest(bundle: &Bundle, change: impl FnOnce(&mut Object)) -> Vec<u8> {
    let value = Value::parse(&written(bundle), Limits::default()).unwrap();
    let mut whole = value.as_object().unwrap().clone();
    let mut unknowns = whole.get("unknowns").unwrap().as_array().unwrap().to_vec();
    let mut newest = unknowns.pop().unwrap().as_object().unwrap().clone();
    change(&mut newest);
    newest.remove("revision_digest");
    newest.insert("revision_digest", Digest::of(&canonical(&newest)).to_hex());
    unknowns.push(newest.into());
    whole.insert("unknowns", Value::Array(unknowns));
    canonical(&whole)
}

#[test]
fn revisions_that_no_mutation_makes() {
    let mut bundle = Bundle::new();
    let about = record_at(0, "/a");
    let records = [about.clone(), record(1), record(2)];
    for one in records.iter().chain([&record(0)]) {
        bundle.add(one.clone()).unwrap();
    }
    let scope = || UnknownScope::Record(about.id());
    let made = bundle.record_unknown(&question("Why?"), scope()).unwrap();
    let mut next = update(made.revision.unknown_id, 1);
    next.supporting_evidence_ids = vec![records[1].id(), records[2].id()];
    let updated = bundle.update_unknown(&next, scope()).unwrap();
    assert!(read(&with_newest(&bundle, |_| ())).is_ok());
    let ids = |revision: &Object, member: &str| -> Vec<Value> {
        revision.get(member).unwrap().as_array().unwrap().to_vec()
    };
    let changed = |member: &'static str, change: &dyn Fn(&mut Vec<Value>)| {
        stage(&with_newest(&bundle, |revision| {
            let mut list = ids(revision, member);
            change(&mut list);
            revision.insert(member, Value::Array(list));
        }))
    };
    for member in ["supporting_evidence_ids", "mutation_evidence_ids"] {
        assert_eq!(changed(member, &|ids| ids.reverse()), "unknown-invariant");
        let twice = |ids: &mut Vec<Value>| ids.insert(0, ids[0].clone());
        assert_eq!(changed(member, &twice), "unknown-invariant");
    }
    let newest = updated.evidence.id().to_string();
    let alone = |ids: &mut Vec<Value>| ids.retain(|id| id.as_str() == Some(&*newest));
    assert_eq!(changed("mutation_evidence_ids", &alone), "unknown-chain");
    let more = |ids: &mut Vec<Value>| {
        ids.push(records[1].id().to_string().into());
        ids.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    };
    assert_eq!(changed("mutation_evidence_ids", &more), "unknown-chain");
}

#[test]
fn a_mutation_about_another_artifact() {
    let mut bundle = Bundle::new();
    let about = record_at(0, "/a");
    bundle.add(about.clone()).unwrap();
    bundle.add(record(0)).unwrap();
    let scope = UnknownScope::Record(about.id());
    bundle.record_unknown(&question("Who?"), scope).unwrap();
    let nothing = UnknownScope::Nothing;
    bundle.record_unknown(&question("Why?"), nothing).unwrap();
    let tampered = with_newest(&bundle, |revision| {
        // Whichever is the last, it gets the mutation of the other.
        let there = revision.get("mutation_evidence_ids").unwrap();
        let mine = there.as_array().unwrap()[0].clone();
        let plain = [about.id(), record(0).id()];
        let ids = bundle.ids().filter(|id| !plain.contains(id));
        let mut ids = ids.map(|id| Value::from(id.to_string()));
        let mutation = ids.find(|id| *id != mine);
        revision.insert(
            "mutation_evidence_ids",
            Value::Array(mutation.into_iter().collect()),
        );
    });
    assert!(read(&written(&bundle)).is_ok());
    assert_eq!(stage(&tampered), "unknown-chain");
}
