//! Views of lists of names and strings (views.md sections 7, 10 and 12):
//! records of our own, and ones that others make.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use rea::binary::strings::ScanOptions;
use rea::digest::Digest;
use rea::evidence::{Creation, Evidence, NewSubject, Provider};
use rea::json::{Limits, Value, canonical};
use rea::native::{
    Mode, PROVIDER, Query, StringsOptions, Target, list_names, list_strings, search_strings,
};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request, ViewRecord};
use serde_json::json;
use support::{ours, sha256, shown};

type Json = serde_json::Value;

fn record_of(evidence: Evidence) -> Json {
    serde_json::from_slice(&canonical(&Value::from(evidence.into_record()))).unwrap()
}

fn ask(parent: &Json, view: Json) -> Result<Json, rea::Error> {
    let request = json!({"source": {"kind": "inline", "evidence": parent}, "view": view});
    let request = Request::parse(ours(&request))?;
    let context = Context::new(view::OPERATION);
    let record: ViewRecord = view::inspect(request, &NothingRetained, Limits::default(), &context)?;
    Ok(shown(&record))
}

/// Where the first issue of an error is, and what it is.
fn issue(result: Result<Json, rea::Error>) -> (String, String) {
    let error = result.unwrap_err();
    assert_eq!(
        error.code().as_str(),
        "invalid_request",
        "{}",
        error.message()
    );
    let issues: Json =
        serde_json::from_slice(&canonical(error.details().get("issues").unwrap())).unwrap();
    let path = issues[0]["path"].as_array().unwrap().iter();
    let path: Vec<String> = path
        .map(|part| part.as_str().map_or(part.to_string(), str::to_owned))
        .collect();
    (
        path.join("."),
        issues[0]["reason"].as_str().unwrap().to_owned(),
    )
}

/// Names and strings of the small library of the golden cases.
struct Sample {
    names: Json,
    strings: Json,
    found: Json,
}

impl Sample {
    fn new() -> Self {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/golden/layout-elf/in/libtiny.so"
        );
        let target = Target::of_bytes("/x/libtiny.so", std::fs::read(path).unwrap(), None);
        let mapped = target.map(&Context::new("list_names")).unwrap();
        let names = list_names(&mapped, None, &Context::new("list_names")).unwrap();
        let strings = list_strings(
            &mapped,
            &StringsOptions::default(),
            &Context::new("list_strings"),
        );
        let query = Query {
            pattern: "tiny".to_owned(),
            mode: Mode::Literal,
            case_sensitive: false,
        };
        let context = Context::new("search_strings");
        let found = search_strings(&mapped, &query, &ScanOptions::default(), &context).unwrap();
        Self {
            names: shown(&names),
            strings: shown(&strings.unwrap()),
            found: shown(&found),
        }
    }

    fn all(&self) -> [&Json; 3] {
        [&self.names, &self.strings, &self.found]
    }
}

/// A record as another program makes it.
fn made(operation: &str, bound: bool, result: &Json) -> Json {
    let provider = Provider {
        id: "other",
        name: "other",
        version: "9",
    };
    let mut creation = Creation::new(operation, provider);
    creation.subject = bound.then(|| NewSubject {
        path: "/x/y".to_owned(),
        sha256: Digest([9; 32]),
        format: "elf".to_owned(),
        architecture: None,
    });
    creation.normalized_result = ours(result);
    record_of(Evidence::create(creation))
}

fn items(view: &Json) -> &Vec<Json> {
    view["normalized_result"]["items"].as_array().unwrap()
}

#[test]
fn pages_concatenate_to_the_list() {
    let sample = Sample::new();
    for parent in sample.all() {
        let rows = parent["normalized_result"].as_array().unwrap();
        assert!(rows.len() >= 3);
        let expected: Vec<Json> = rows
            .iter()
            .enumerate()
            .map(|(at, row)| json!({"record": row, "source_index": at}))
            .collect();
        for limit in [1, 2, 64] {
            let (mut found, mut offset) = (Vec::new(), json!(0));
            while !offset.is_null() {
                let view = json!({"kind": "native-inventory", "offset": offset, "limit": limit});
                let page = ask(parent, view).unwrap();
                let coverage = &page["normalized_result"]["coverage"];
                assert_eq!(coverage["total"], rows.len());
                assert_eq!(coverage["status"], "page");
                assert_eq!(coverage["examined"], items(&page).len());
                found.extend(items(&page).iter().cloned());
                offset = coverage["next_offset"].clone();
                assert_eq!(coverage["exhausted"], offset.is_null());
            }
            assert_eq!(found, expected);
        }
        let beyond = json!({"kind": "native-inventory", "offset": rows.len(), "limit": 5});
        let beyond = ask(parent, beyond).unwrap();
        assert_eq!(items(&beyond).len(), 0);
        let coverage = json!({
            "examined": 0, "exhausted": true, "next_offset": null, "status": "empty",
            "total": rows.len(),
        });
        assert_eq!(beyond["normalized_result"]["coverage"], coverage);
    }
}

#[test]
fn the_envelope_is_that_of_views() {
    let sample = Sample::new();
    for parent in sample.all() {
        let view = ask(parent, json!({"kind": "native-inventory"})).unwrap();
        // Defaults that are given are the same view.
        let given = json!({"kind": "native-inventory", "offset": 0, "limit": 64});
        assert_eq!(ask(parent, given.clone()).unwrap(), view);
        assert_eq!(view["parameters"]["view"], given);
        let result = &view["normalized_result"];
        assert_eq!(view["subject"], parent["subject"]);
        assert_eq!(view["evidence_links"], json!([parent["evidence_id"]]));
        assert_eq!(
            view["locations"],
            json!([{"kind": "artifact-path", "path": "/x/libtiny.so"}])
        );
        assert_eq!(view["confidence"], "derived");
        assert_eq!(result["parent_operation"], parent["operation"]);
        assert_eq!(
            result["artifact"]["sha256"],
            parent["subject"]["digest"]["sha256"]
        );
        // What the parent says comes along, sorted; how complete the discovery
        // was stays unknown.
        let mut said: Vec<&Json> = parent["limitations"].as_array().unwrap().iter().collect();
        said.sort_by_key(|text| text.as_str().unwrap().encode_utf16().collect::<Vec<_>>());
        assert_eq!(json!(said), result["limitations"]);
        assert_eq!(result["unknowns"].as_array().unwrap().len(), 1);
        let mut hashed = result.clone();
        let digest = hashed
            .as_object_mut()
            .unwrap()
            .remove("view_digest")
            .unwrap();
        assert_eq!(digest, sha256(&canonical(&ours(&hashed))));
    }
}

fn members(row: &Json) -> Vec<&str> {
    row["record"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn some_members_of_rows() {
    let sample = Sample::new();
    let fields = |parent: &Json, fields: Json| {
        let view = ask(
            parent,
            json!({"kind": "native-inventory", "fields": fields}),
        )
        .unwrap();
        items(&view).clone()
    };
    for (parent, wanted, kept) in [
        (&sample.names, json!(["symbol"]), &["address", "symbol"][..]),
        (&sample.names, json!(["value"]), &["address", "value"]),
        (
            &sample.names,
            json!(["demangled", "address"]),
            &["address", "demangled"],
        ),
        // A value comes with what says how it was read.
        (
            &sample.strings,
            json!(["value"]),
            &["address", "string", "value"],
        ),
        (&sample.strings, json!(["string"]), &["address", "string"]),
        (
            &sample.strings,
            json!(["file_offset"]),
            &["address", "file_offset"],
        ),
        (&sample.found, json!([]), &["address"]),
        (&sample.found, json!(["procedure"]), &["address"]),
    ] {
        let rows = fields(parent, wanted.clone());
        let complete = parent["normalized_result"].as_array().unwrap();
        assert_eq!(rows.len(), complete.len());
        for (row, complete) in rows.iter().zip(complete) {
            assert_eq!(members(row), kept, "{wanted}");
            for name in kept {
                assert_eq!(row["record"][name], complete[name]);
            }
        }
    }
    for unknown in [json!(["adress"]), json!(["value", ""]), json!(["record"])] {
        let view = json!({"kind": "native-inventory", "fields": unknown});
        let at = issue(ask(&sample.names, view));
        assert_eq!(at, ("view.fields".to_owned(), "invalid_value".to_owned()));
    }
    let view = json!({"kind": "native-inventory", "fields": [1]});
    assert_eq!(issue(ask(&sample.names, view)).0, "view.fields");
}

#[test]
fn records_of_others() {
    // Rows at one address are told apart by their places; members that stand
    // deeper are no members of rows.
    let rows = json!([
        {"address": "0x1", "value": "a", "procedure": {"external": false, "value": [{"address": 3}]}},
        {"address": "0x1", "value": "a", "procedure": {"external": true, "value": []}},
        {"address": "0x2", "value": "b"},
    ]);
    for operation in ["list_procedures", "search_procedures", "list_names"] {
        let parent = made(operation, true, &rows);
        let view = ask(
            &parent,
            json!({"kind": "native-inventory", "fields": ["procedure"], "offset": 1}),
        )
        .unwrap();
        let expected = json!([
            {"record": {"address": "0x1", "procedure": {"external": true, "value": []}}, "source_index": 1},
            {"record": {"address": "0x2"}, "source_index": 2},
        ]);
        assert_eq!(view["normalized_result"]["items"], expected);
    }
    let strings = json!([{"address": "0x1", "value": "a", "decoding": {"lossy": true}, "string": {}, "other": 1}]);
    let parent = made("list_strings", true, &strings);
    let view = ask(
        &parent,
        json!({"kind": "native-inventory", "fields": ["value"]}),
    )
    .unwrap();
    assert_eq!(
        members(&items(&view)[0]),
        ["address", "decoding", "string", "value"]
    );
    // Complete records have members that nobody has heard of, too.
    let view = ask(&parent, json!({"kind": "native-inventory"})).unwrap();
    assert_eq!(items(&view)[0]["record"], strings[0]);
    // A record about nothing stays one.
    let view = ask(
        &made("list_names", false, &rows),
        json!({"kind": "native-inventory"}),
    )
    .unwrap();
    assert_eq!(view["subject"], Json::Null);
    assert_eq!(view["normalized_result"]["artifact"], Json::Null);
    assert_eq!(view["locations"], json!([]));
    let empty = ask(
        &made("list_names", true, &json!([])),
        json!({"kind": "native-inventory"}),
    )
    .unwrap();
    assert_eq!(empty["normalized_result"]["coverage"]["status"], "empty");
}

#[test]
fn results_of_another_shape_are_refused() {
    let where_ = (
        "source.normalized_result".to_owned(),
        "invalid_type".to_owned(),
    );
    for result in [
        json!({}),
        json!(null),
        json!("list"),
        json!({"items": [{"address": "0x1"}]}),
        json!([1]),
        json!([[]]),
        json!([{"address": "0x1"}, null]),
        json!([{"address": "0x1"}, "x"]),
    ] {
        for view in [
            json!({"kind": "native-inventory"}),
            json!({"kind": "summary"}),
        ] {
            let parent = made("list_names", true, &result);
            assert_eq!(issue(ask(&parent, view)), where_, "{result}");
        }
    }
    // Other kinds of view are not of these records, nor these of others.
    let sample = Sample::new();
    let macho = json!({"kind": "macho", "facet": "segments"});
    assert_eq!(issue(ask(&sample.names, macho)).0, "view");
    let parent = made("inspect_macho", true, &json!({}));
    assert_eq!(
        issue(ask(&parent, json!({"kind": "native-inventory"}))).0,
        "view"
    );
    let segments = made("list_segments", true, &json!([]));
    let error = ask(&segments, json!({"kind": "summary"})).unwrap_err();
    assert_eq!(error.code().as_str(), "unsupported_target");
    // A changed record is none.
    let mut changed = sample.names.clone();
    changed["normalized_result"][0]["value"] = json!("other");
    assert!(ask(&changed, json!({"kind": "native-inventory"})).is_err());
}

#[test]
fn summaries_count_rows_and_repeat_the_question() {
    let sample = Sample::new();
    for parent in sample.all() {
        let view = ask(parent, json!({"kind": "summary"})).unwrap();
        let result = &view["normalized_result"];
        let rows = parent["normalized_result"].as_array().unwrap().len();
        let expected = json!({
            "analysis_profile_digest": null,
            "discovery_coverage": "unknown",
            "limitation_count": parent["limitations"].as_array().unwrap().len(),
            "parent_evidence_id": parent["evidence_id"],
            "provider": {"id": PROVIDER.id, "name": PROVIDER.name, "version": PROVIDER.version},
            "query": parent["parameters"],
            "row_count": rows,
        });
        assert_eq!(result["summary"], expected);
        let coverage = json!({
            "examined": rows, "exhausted": true, "next_offset": null,
            "status": "complete-within-view", "total": rows,
        });
        assert_eq!(result["coverage"], coverage);
        assert_eq!(result["unknowns"].as_array().unwrap().len(), 1);
        assert!(result.get("items").is_none());
    }
    assert_eq!(sample.found["parameters"]["pattern"], "tiny");
    // The digest of a profile is repeated.
    let mut creation = Creation::new("list_procedures", PROVIDER);
    let provider = json!({"id": PROVIDER.id, "name": PROVIDER.name, "version": PROVIDER.version});
    let hashed = json!({"parameters": {}, "provider": provider});
    let digest = sha256(&canonical(&ours(&hashed)));
    creation.analysis_profile =
        ours(&json!({"digest": digest, "parameters": {}, "provider": provider}));
    creation.normalized_result = ours(&json!([]));
    let parent = record_of(Evidence::create(creation));
    let view = ask(&parent, json!({"kind": "summary"})).unwrap();
    assert_eq!(
        view["normalized_result"]["summary"]["analysis_profile_digest"],
        digest
    );
}
