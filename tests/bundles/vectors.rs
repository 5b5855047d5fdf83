//! Every published vector of bundles, summaries, comparisons and unknowns.

use rea::digest::Digest;
use rea::error::Error;
use rea::evidence::{
    Authority, Bundle, Comparison, ComparisonOptions, Confidence, Disposition, EvidenceId,
    MEMBERSHIP_IS_NO_BEHAVIOUR, MISSING_UNKNOWN_IS_OPEN, NewSubject, NewUnknown, ONE_SIDED_RECORD,
    Probe, RecordPair, RequiredEnvironment, Resolution, Revision, Severity, Source, Status,
    SummaryFilter, UnknownId, UnknownScope, UnknownStatus, UnknownUpdate, verify_all,
};
use rea::json::{Limits, Text, Value};

use crate::{canonical, context, of_kind, read, read_value, text, vector, vectors, written};

fn digest(text: &str) -> Digest {
    Digest::from_hex(text.as_bytes()).unwrap()
}

fn id(text: &str) -> EvidenceId {
    EvidenceId::from_text(text.as_bytes()).unwrap()
}

#[test]
fn bundles_are_read_and_written_to_the_byte() {
    for (name, vector) in of_kind("bundle", "bundle") {
        let given = canonical(vector.get("bundle").unwrap());
        let expected = match vector.get("canonical").and_then(Value::as_str) {
            Some(text) => text.as_bytes(),
            None => &given,
        };
        assert_eq!(given, expected, "{name}");
        // As it is, and with spaces and another order of members.
        let mut unordered = Vec::new();
        crate::bundles::properties::reversed(vector.get("bundle").unwrap(), &mut unordered);
        for form in [&given, &unordered] {
            let bundle = read(form).unwrap_or_else(|error| panic!("{name}: {error}"));
            let out = written(&bundle);
            assert_eq!(
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(expected),
                "{name}"
            );
            let sha256 = bundle.digest(&context()).unwrap().to_hex();
            assert_eq!(sha256, text(&vector, "sha256"), "{name}");
            assert_eq!(
                reports(form).last().unwrap().status,
                Status::Verified,
                "{name}"
            );
        }
        if let Some(bytes) = vector.get("canonical_bytes") {
            assert_eq!(*bytes, Value::Number(expected.len() as f64), "{name}");
        }
    }
}

fn reports(bytes: &[u8]) -> Vec<rea::evidence::Report> {
    let source = Source::stream("-", Box::new(std::io::Cursor::new(bytes.to_vec())));
    let mut all = Vec::new();
    verify_all(source, Limits::default(), &context(), &mut |report| {
        all.push(report);
        Ok(())
    })
    .unwrap();
    all
}

fn check_error(name: &str, error: &Error, expect: &Value) {
    assert_eq!(
        error.code().as_str(),
        text(expect, "code"),
        "{name}: {error}"
    );
    assert_eq!(
        error.category().as_str(),
        text(expect, "category"),
        "{name}"
    );
    let retryable = Value::Bool(error.code().retryable());
    assert_eq!(Some(&retryable), expect.get("retryable"), "{name}");
}

#[test]
fn invalid_bundles_are_refused_at_the_stage_that_comes_first() {
    for (name, vector) in of_kind("bundle", "bundle-invalid") {
        let expect = vector.get("expect").unwrap();
        let bytes = canonical(vector.get("bundle").unwrap());
        let error = read(&bytes).expect_err(&name);
        check_error(&name, &error, expect.get("as_file").unwrap());
        let stage = error.details().get("stage").and_then(Value::as_str);
        assert_eq!(stage, Some(text(expect, "stage")), "{name}: {error}");
        assert!(error.details().get("path").is_some(), "{name}");
        let report = reports(&bytes).pop().unwrap();
        assert_eq!(report.status, Status::Invalid, "{name}");
        let first = report.problems.first().unwrap();
        assert_eq!(first.stage.as_str(), text(expect, "stage"), "{name}");
    }
}

#[test]
fn manifests_are_written_in_code_point_order() {
    for (name, vector) in of_kind("bundle", "bundle-order") {
        let mut bundle = Bundle::new();
        for record in vector.get("records").unwrap().as_array().unwrap() {
            let record = rea::evidence::Evidence::from_value(record.clone()).unwrap();
            bundle.add(record).unwrap();
        }
        let out = Value::parse(&written(&bundle), Limits::default()).unwrap();
        let order = vector.get("code_point_order").unwrap();
        for member in ["artifacts", "providers"] {
            assert_eq!(out.get(member), order.get(member), "{name}");
        }
        // In the order of a locale's collation it is read all the same.
        let mut other = out.as_object().unwrap().clone();
        let theirs = vector.get("rea_collation_order").unwrap();
        for member in ["artifacts", "providers"] {
            other.insert(member, theirs.get(member).unwrap().clone());
        }
        let other = Value::from(other);
        assert_ne!(other, out);
        assert_eq!(written(&read_value(&other)), written(&bundle), "{name}");
    }
}

fn filter(value: &Value) -> SummaryFilter {
    let get = |name: &str| value.get(name).and_then(Value::as_str);
    SummaryFilter {
        evidence_id: get("evidence_id").map(id),
        operation: get("operation").map(Text::from),
        target_sha256: get("target_sha256").map(digest),
        analysis_profile_digest: get("analysis_profile_digest").map(digest),
        procedure_address: get("procedure_address").map(Text::from),
    }
}

#[test]
fn summaries() {
    for (name, this) in vectors("summary") {
        let bundle = match this.get("bundle") {
            Some(bundle) => bundle.clone(),
            None => vector(text(&this, "bundle_from"))
                .get("bundle")
                .unwrap()
                .clone(),
        };
        let bundle = read_value(&bundle);
        let summary = bundle.summary(filter(this.get("filters").unwrap()));
        let found = Value::parse(&canonical(&summary), Limits::default()).unwrap();
        assert_eq!(Some(&found), this.get("summary"), "{name}");
    }
}

/// Decisions, "Wording is ours": the sentences of comparisons.
const SENTENCES: [(&str, &str); 3] = [
    (
        "One-sided membership does not establish behavioral absence.",
        ONE_SIDED_RECORD,
    ),
    (
        "A missing unknown history does not establish resolution.",
        MISSING_UNKNOWN_IS_OPEN,
    ),
    (
        "One-sided membership proves only bundle inclusion or omission, not behavioral absence.",
        MEMBERSHIP_IS_NO_BEHAVIOUR,
    ),
];

#[test]
fn comparisons() {
    for (name, vector) in vectors("compare") {
        let side = |side: &str| read_value(vector.get(side).unwrap());
        let (left, right) = (side("left"), side("right"));
        let number = |name: &str| match vector.get(name) {
            Some(Value::Number(number)) => *number as u64,
            other => panic!("{name}: {other:?}"),
        };
        let pairs = vector.get("record_pairs").unwrap().as_array().unwrap();
        let options = ComparisonOptions {
            pairs: pairs
                .iter()
                .map(|pair| RecordPair {
                    left: id(text(pair, "left_evidence_id")),
                    right: id(text(pair, "right_evidence_id")),
                })
                .collect(),
            offset: number("offset"),
            limit: number("limit"),
            ..ComparisonOptions::default()
        };
        let found = Comparison::of(&left, &right, &options, &context()).unwrap();
        let mut found = String::from_utf8(canonical(&found)).unwrap();
        for (theirs, ours) in SENTENCES {
            found = found.replace(ours, theirs);
        }
        let expected = canonical(vector.get("result").unwrap());
        assert_eq!(found, String::from_utf8(expected).unwrap(), "{name}");
    }
}

fn ids(value: &Value, name: &str) -> Vec<EvidenceId> {
    let items = value.get(name).unwrap().as_array().unwrap();
    items
        .iter()
        .map(|item| id(item.as_str().unwrap()))
        .collect()
}

fn environment(value: &Value) -> Option<RequiredEnvironment> {
    let pattern = value
        .get("required_environment")
        .filter(|one| **one != Value::Null)?;
    let get = |name: &str| pattern.get(name).and_then(Value::as_str).map(Text::from);
    Some(RequiredEnvironment {
        id: get("id"),
        platform: get("platform"),
        architecture: get("architecture"),
        isolation: get("isolation"),
    })
}

fn probes(value: &Value) -> Vec<Probe> {
    let items = value.get("recommended_probes").unwrap().as_array().unwrap();
    let probe = |item: &Value| Probe {
        operation: text(item, "operation").into(),
        rationale: text(item, "rationale").into(),
    };
    items.iter().map(probe).collect()
}

fn authority(value: &Value) -> Option<Authority> {
    let name = value.get("required_authority").and_then(Value::as_str)?;
    Some(Authority::from_name(name).unwrap())
}

fn confidence(value: &Value) -> Confidence {
    Confidence::from_name(text(value, "required_confidence")).unwrap()
}

fn new_unknown(input: &Value) -> NewUnknown {
    NewUnknown {
        question: text(input, "question").into(),
        severity: Severity::from_name(text(input, "severity")).unwrap(),
        domain: text(input, "domain").into(),
        required_authority: authority(input),
        required_confidence: confidence(input),
        required_environment: environment(input),
        recommended_probes: probes(input),
        relationships: Vec::new(),
        supporting_evidence_ids: ids(input, "supporting_evidence_ids"),
        contradicting_evidence_ids: ids(input, "contradicting_evidence_ids"),
    }
}

fn update(input: &Value) -> UnknownUpdate {
    let resolution = input.get("resolution").unwrap();
    UnknownUpdate {
        unknown_id: UnknownId::from_text(text(input, "unknown_id").as_bytes()).unwrap(),
        expected_revision: match input.get("expected_revision") {
            Some(Value::Number(number)) => *number as u64,
            other => panic!("{other:?}"),
        },
        status: UnknownStatus::from_name(text(input, "status")).unwrap(),
        severity: Severity::from_name(text(input, "severity")).unwrap(),
        supporting_evidence_ids: ids(input, "supporting_evidence_ids"),
        contradicting_evidence_ids: ids(input, "contradicting_evidence_ids"),
        required_authority: authority(input),
        required_confidence: confidence(input),
        required_environment: environment(input),
        recommended_probes: probes(input),
        relationships: Vec::new(),
        resolution: Some(Resolution {
            disposition: Disposition::from_name(text(resolution, "disposition")).unwrap(),
            rationale: text(resolution, "rationale").into(),
            evidence_ids: ids(resolution, "evidence_ids"),
        }),
    }
}

/// The active target of the vectors' mutations.
fn target(evidence: &Value) -> UnknownScope {
    let subject = evidence.get("subject").unwrap();
    UnknownScope::Subject(NewSubject {
        path: text(subject, "local_path").to_owned(),
        sha256: digest(text(subject.get("digest").unwrap(), "sha256")),
        format: text(subject, "format").to_owned(),
        architecture: Some(text(subject, "architecture").to_owned()),
    })
}

fn sentence(evidence: &Value) -> &str {
    let limitations = evidence.get("limitations").unwrap().as_array().unwrap();
    limitations[0].as_str().unwrap()
}

fn same(found: &Revision, expected: &Value) {
    let found = String::from_utf8(canonical(found)).unwrap();
    let expected = String::from_utf8(canonical(expected)).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn unknowns_are_created_and_updated_as_in_the_vectors() {
    let first = vector("unknown/01-create.json");
    let third = vector("unknown/03-update-to-verified.json");
    // Where the records that they cite are.
    let mut bundle = Bundle::new();
    let history = vector("bundle/03-unknown-history.json");
    let records = history.get("bundle").unwrap().get("records").unwrap();
    for record in records.as_array().unwrap() {
        let record = rea::evidence::Evidence::from_value(record.clone()).unwrap();
        if record.predicate_type() != "rea.residual-unknown-mutation" {
            bundle.add(record).unwrap();
        }
    }

    let evidence = first.get("mutation_evidence").unwrap();
    let input = new_unknown(first.get("input").unwrap());
    let made = bundle
        .record_unknown_saying(&input, target(evidence), sentence(evidence))
        .unwrap();
    same(&made.revision, first.get("unknown").unwrap());
    assert_eq!(canonical(&made.evidence), canonical(evidence));
    let digest = Digest::of(text(&first, "identity_canonical").as_bytes());
    assert_eq!(made.revision.unknown_id, UnknownId(digest));
    let digest = Digest::of(text(&first, "revision_canonical").as_bytes());
    assert_eq!(made.revision.revision_digest, digest);

    let evidence = third.get("mutation_evidence").unwrap();
    let input = update(third.get("input").unwrap());
    let made = bundle
        .update_unknown_saying(&input, target(evidence), sentence(evidence))
        .unwrap();
    same(&made.revision, third.get("unknown").unwrap());
    assert_eq!(canonical(&made.evidence), canonical(evidence));
    // Together they are the published bundle.
    let out = Value::parse(&written(&bundle), Limits::default()).unwrap();
    assert_eq!(
        out.get("unknowns"),
        history.get("bundle").unwrap().get("unknowns")
    );
}

#[test]
fn an_unknown_without_scope_starts_as_contradicted() {
    let second = vector("unknown/02-create-null-scope-contradicted.json");
    let input = new_unknown(second.get("input").unwrap());
    let mutation = id(text(&second, "mutation_evidence_id"));
    same(
        &input.revision(None, mutation),
        second.get("unknown").unwrap(),
    );
}

/// Analysis snapshots are not made by this program yet; their lookup keys are
/// canonical JSON and nothing else.
#[test]
fn snapshot_keys_are_hashes_of_canonical_json() {
    for (name, vector) in vectors("snapshot") {
        for query in vector.get("queries").unwrap().as_array().unwrap() {
            let mut object = rea::json::Object::new();
            for member in ["target", "binding"] {
                object.insert(member, vector.get(member).unwrap().clone());
            }
            for member in ["operation", "parameters"] {
                object.insert(member, query.get(member).unwrap().clone());
            }
            let hashed = canonical(&object);
            assert_eq!(hashed, text(query, "canonical").as_bytes(), "{name}");
            let id = format!("query_{}", Digest::of(&hashed));
            assert_eq!(id, text(query, "query_id"), "{name}");
        }
    }
}
