//! The contract's vectors for canonical JSON, records and profiles.
//!
//! Every vector must hold to the byte; the exceptions are listed with the
//! decision that makes them.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::io::Write as _;
use std::path::{Path, PathBuf};

use rea::digest::Digest;
use rea::error::Error;
use rea::evidence::{
    Authority, Confidence, Creation, Evidence, EvidenceId, NewSubject, Observer, Source, Status,
    read_record, stream_record, verify_all, verify_both_ways,
};
use rea::json::{Event, Limits, Object, ReadErrorKind, Value, canonical};
use rea::operation::Context;

/// Decision 23: readers refuse duplicate member names; these two accept them.
const DUPLICATES_REFUSED: [&str; 2] = [
    "jcs/13-duplicate-keys.json",
    "evidence/16-duplicate-member-last-wins.json",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/evidence")
}

fn vectors(folder: &str) -> Vec<(String, Value)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .expect("the vectors are there")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = format!("{folder}/{name}");
            let text = std::fs::read(&path).expect("a readable vector");
            (name, Value::parse(&text, Limits::default()).unwrap())
        })
        .collect()
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a [u8] {
    match vector.get(name) {
        Some(Value::String(text)) => text.as_bytes(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The raw input of a vector, in whichever member it has it.
fn input(vector: &Value) -> Vec<u8> {
    if let Some(record) = vector.get("record") {
        return canonical(record);
    }
    if let Some(hex) = vector.get("input_hex").and_then(Value::as_str) {
        let digits = hex.as_bytes().chunks(2);
        return digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
    }
    text(vector, "input_text").to_vec()
}

/// The members of a canonical object, last first: as no writer orders them.
fn reversed(value: &Value, out: &mut Vec<u8>) {
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
                    out.push(b',');
                }
                reversed(item, out);
            }
            out.push(b']');
        }
        scalar => out.extend(canonical(scalar)),
    }
}

struct File(tempfile::NamedTempFile);

impl File {
    fn new(text: &[u8]) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        Self(file)
    }

    fn source(&self) -> Source {
        Source::open(self.0.path()).unwrap()
    }
}

#[derive(Default)]
struct Counter {
    restarts: usize,
    events: usize,
}

impl Observer for Counter {
    fn restart(&mut self) {
        self.restarts += 1;
        self.events = 0;
    }

    fn event(&mut self, _: Event<'_>) -> rea::Result<()> {
        self.events += 1;
        Ok(())
    }
}

fn context() -> Context {
    Context::new("verify_evidence")
}

#[test]
fn canonical_json() {
    for (name, vector) in vectors("jcs") {
        let parsed = Value::parse(text(&vector, "input_text"), Limits::default());
        if DUPLICATES_REFUSED.contains(&name.as_str()) {
            let error = parsed.expect_err(&name);
            assert!(matches!(error.kind(), ReadErrorKind::Duplicate), "{name}");
            continue;
        }
        let out = canonical(&parsed.expect(&name));
        assert_eq!(
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(text(&vector, "canonical")),
            "{name}"
        );
        assert_eq!(
            Digest::of(&out).to_hex().as_bytes(),
            text(&vector, "sha256")
        );
        let again = Value::parse(&out, Limits::default()).expect(&name);
        assert_eq!(canonical(&again), out, "{name}");
    }
}

#[test]
fn profiles() {
    for (name, vector) in vectors("profile") {
        let profile = vector.get("profile").unwrap();
        let mut hashed = Object::new();
        hashed.insert("provider", profile.get("provider").unwrap().clone());
        hashed.insert("parameters", profile.get("parameters").unwrap().clone());
        let hashed = canonical(&hashed);
        assert_eq!(hashed, text(&vector, "hashed_canonical"), "{name}");
        let digest = Digest::of(&hashed).to_hex();
        assert_eq!(digest.as_bytes(), text(&vector, "digest"), "{name}");

        let provider = profile.get("provider").unwrap();
        let mut creation = Creation::new("health", fixture());
        creation.provider = provider.clone();
        creation.analysis_profile = profile.clone();
        let record = canonical(&Evidence::create(creation));
        Evidence::from_argument(&record, "x").expect(&name);
    }
}

fn fixture() -> rea::evidence::Provider {
    rea::evidence::Provider {
        id: "fixture",
        name: "Fixture provider",
        version: "1.0.0",
    }
}

#[test]
fn records() {
    for (name, vector) in vectors("evidence") {
        let input = input(&vector);
        let parsed = Evidence::from_argument(&input, "x");
        if DUPLICATES_REFUSED.contains(&name.as_str()) {
            assert!(parsed.is_err(), "{name}");
            assert_eq!(verify_file(&input), [Status::Unreadable], "{name}");
            continue;
        }
        let evidence = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
        let id = text(&vector, "evidence_id");
        assert_eq!(evidence.id().to_string().as_bytes(), id, "{name}");

        if let Some(projection) = vector.get("projection_canonical") {
            let mut record = evidence.record().clone();
            record.remove("evidence_id");
            if let Some(Value::Object(subject)) = record.get("subject") {
                let mut subject = subject.clone();
                subject.remove("name");
                subject.remove("local_path");
                record.insert("subject", subject);
            }
            let expected = Value::as_str(projection).unwrap();
            assert_eq!(canonical(&record), expected.as_bytes(), "{name}");
        }

        // However the members are ordered and the text is spaced.
        let mut unordered = Vec::new();
        reversed(&Value::from(evidence.record().clone()), &mut unordered);
        for (form, restarts) in [(canonical(&evidence), 1), (unordered, 2)] {
            assert_eq!(verify_file(&form), [Status::Verified], "{name}");
            let file = File::new(&form);
            let mut counter = Counter::default();
            let streamed =
                stream_record(file.source(), Limits::default(), &context(), &mut counter);
            assert_eq!(streamed.unwrap(), evidence.id(), "{name}");
            assert_eq!(counter.restarts, restarts, "{name}");
            assert!(counter.events > 30);
            let read = read_record(file.source(), Limits::default(), &context());
            assert_eq!(read.unwrap(), evidence, "{name}");
        }
    }
}

fn verify_file(text: &[u8]) -> Vec<Status> {
    let mut all = Vec::new();
    for source in [
        File::new(text).source(),
        Source::stream("-", Box::new(std::io::Cursor::new(text.to_vec()))),
    ] {
        let mut statuses = Vec::new();
        verify_all(source, Limits::default(), &context(), &mut |report| {
            statuses.push(report.status);
            Ok(())
        })
        .unwrap();
        all.push(statuses);
    }
    assert_eq!(all[0], all[1], "a file and a stream differ");
    all.swap_remove(0)
}

fn check_error(name: &str, error: &Error, expect: &Value) {
    let get = |member: &str| expect.get(member).and_then(Value::as_str);
    assert_eq!(Some(error.code().as_str()), get("code"), "{name}: {error}");
    assert_eq!(
        Some(error.category().as_str()),
        get("category"),
        "{name}: {error}"
    );
    assert_eq!(
        Some(&Value::Bool(error.code().retryable())),
        expect.get("retryable")
    );
    if let Some(details) = expect.get("details").and_then(Value::as_object) {
        for (member, value) in details.iter() {
            let member = member.as_str().unwrap();
            assert_eq!(error.details().get(member), Some(value), "{name}");
        }
        assert!(error.details().get("path").is_some(), "{name}");
    }
}

#[test]
fn refusals_from_files() {
    for (name, vector) in vectors("invalid") {
        let expect = vector.get("expect").and_then(|e| e.get("as_file")).unwrap();
        let stage = vector.get("expect").and_then(|e| e.get("stage")).unwrap();
        let file = File::new(&input(&vector));
        let read = read_record(file.source(), Limits::default(), &context());
        check_error(&name, &read.expect_err(&name), expect);
        let mut counter = Counter::default();
        let streamed = stream_record(file.source(), Limits::default(), &context(), &mut counter);
        check_error(&name, &streamed.expect_err(&name), expect);

        let mut last = None;
        verify_all(
            file.source(),
            Limits::default(),
            &context(),
            &mut |report| {
                last = Some(report);
                Ok(())
            },
        )
        .unwrap();
        let report = last.unwrap();
        assert!(!report.is_verified());
        let several = name == "invalid/20-trailing-garbage.json";
        if !several {
            let found = report.problems[0].stage.as_str();
            assert_eq!(Some(found), stage.as_str(), "{name}");
        }
    }
}

#[test]
fn refusals_of_arguments() {
    for (name, vector) in vectors("invalid") {
        let expect = vector.get("expect").unwrap();
        let expect = expect.get("as_inline_argument").unwrap();
        let error = Evidence::from_argument(&input(&vector), "compare_artifacts");
        let error = error.expect_err(&name);
        check_error(&name, &error, expect);
        let issues = error.details().get("issues").and_then(Value::as_array);
        let first = issues.and_then(<[Value]>::first).expect(&name);
        let wanted = expect.get("issue").and_then(Value::as_object).unwrap();
        for (member, value) in wanted.iter() {
            let member = member.as_str().unwrap();
            if member != "note" {
                assert_eq!(first.get(member), Some(value), "{name}");
            }
        }
    }
}

#[test]
fn streaming_and_replay_agree_on_every_vector() {
    for folder in ["evidence", "invalid"] {
        for (name, vector) in vectors(folder) {
            let (_, replayed) = verify_both_ways(&input(&vector));
            let Some(replayed) = replayed else { continue };
            let Ok(value) = Value::parse(&input(&vector), Limits::default()) else {
                continue;
            };
            let sorted = canonical(&value);
            let (streamed, again) = verify_both_ways(&sorted);
            let line = |report: rea::evidence::Report| canonical(&report);
            assert_eq!(streamed.map(line), again.map(line), "{name}");
            assert_eq!(
                verify_both_ways(&sorted).0.map(line),
                Some(line(replayed)),
                "{name}"
            );
        }
    }
}

#[test]
fn creation_has_the_contracts_defaults() {
    let (_, vector) = vectors("evidence").swap_remove(0);
    let mut creation = Creation::new("health", fixture());
    creation.no_subject = vector
        .get("record")
        .and_then(|record| record.get("limitations"))
        .and_then(Value::as_array)
        .and_then(|limitations| limitations[0].as_str())
        .map(str::to_owned);
    creation.normalized_result = true.into();
    let evidence = Evidence::create(creation);
    assert_eq!(
        evidence.id().to_string().as_bytes(),
        text(&vector, "evidence_id")
    );
    assert_eq!(
        Some(&Value::from(evidence.record().clone())),
        vector.get("record")
    );
    assert_eq!(
        Evidence::from_value(evidence.record().clone().into()).unwrap(),
        evidence
    );
}

#[test]
fn creation_with_a_subject() {
    let (_, vector) = vectors("evidence").swap_remove(1);
    let record = vector.get("record").unwrap();
    let subject = record.get("subject").unwrap();
    let get = |name: &str| subject.get(name).and_then(Value::as_str).unwrap();
    let sha256 = subject.get("digest").unwrap().get("sha256").unwrap();
    let mut creation = Creation::new("health", fixture());
    creation.subject = Some(NewSubject {
        path: get("local_path").to_owned(),
        sha256: Digest::from_hex(sha256.as_str().unwrap().as_bytes()).unwrap(),
        format: get("format").to_owned(),
        architecture: Some(get("architecture").to_owned()),
    });
    creation.normalized_result = true.into();
    let evidence = Evidence::create(creation.clone());
    assert_eq!(Some(&Value::from(evidence.record().clone())), Some(record));
    assert!(evidence.limitations().next().is_none());

    for (path, name) in [
        ("", "artifact"),
        ("a/", "artifact"),
        ("/b/c", "c"),
        ("d", "d"),
    ] {
        let subject = creation.subject.as_mut().unwrap();
        subject.path = path.to_owned();
        assert_eq!(subject.name(), name);
        assert_eq!(Evidence::create(creation.clone()).id(), evidence.id());
    }
}

#[test]
fn accessors_read_what_creation_wrote() {
    let mut creation = Creation::new("an_operation", fixture());
    creation.confidence = Confidence::Inferred;
    creation.authority = Authority::ControlledReplay;
    creation.evidence_links = vec![EvidenceId(Digest::of(b"parent"))];
    creation.limitations = vec!["second".to_owned()];
    let evidence = Evidence::create(creation);
    assert_eq!(evidence.operation(), "an_operation");
    assert_eq!(evidence.predicate_type(), "rea.analysis");
    assert_eq!(evidence.confidence(), "inferred");
    assert_eq!(evidence.authority(), "controlled-replay");
    assert_eq!(
        evidence.evidence_links().collect::<Vec<_>>(),
        [EvidenceId(Digest::of(b"parent"))]
    );
    let limitations: Vec<_> = evidence.limitations().collect();
    assert_eq!(limitations.len(), 2);
    assert_eq!(*limitations[1], "second");
    assert!(evidence.subject().is_none());
    assert_eq!(evidence.raw_result(), &Value::Null);
}
