//! Views of web captures against the vectors of the contract.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::Path;

use rea::evidence::Record;
use rea::json::{Limits, Object, Value, canonical};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request, SourceForm};
use rea::web::har::{self, Options};
use serde_json::{Value as Json, json};

const ALL: [&str; 3] = ["after-uid-literal", "opaque-token", "sibling-variance"];

fn vectors() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/web")
}

fn expected(name: &str) -> Json {
    let path = vectors().join(format!("{name}.expected.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn capture_of(path: &Path) -> Vec<u8> {
    let context = Context::new(har::OPERATION);
    har::inspect(path, &Options::default(), &context)
        .unwrap()
        .canonical()
}

fn capture(name: &str) -> Vec<u8> {
    capture_of(&vectors().join(format!("{name}.har")))
}

fn view_of(capture: &[u8], view: &Json) -> Result<Json, rea::Error> {
    let parse = |text: &[u8]| Value::parse(text, Limits::default()).unwrap();
    let Value::Object(view) = parse(view.to_string().as_bytes()) else {
        panic!("a view is an object");
    };
    let source = SourceForm::Inline(Box::new(parse(capture)));
    let request = Request::new(source, view)?;
    let context = Context::new(view::OPERATION);
    let record = view::inspect(request, &NothingRetained, Limits::default(), &context)?;
    Ok(serde_json::from_slice(&record.canonical()).unwrap())
}

fn of(name: &str, view: &Json) -> Json {
    view_of(&capture(name), view).unwrap()
}

#[test]
fn the_surface_is_as_the_vector_says() {
    let expected = expected("grafana");
    for (member, rules) in [
        ("api_surface_default", &[][..]),
        ("api_surface_all_rules", &ALL),
    ] {
        let expected = &expected[member];
        let view = json!({"kind": "api-surface", "template_rules": rules});
        let record = of("grafana", &view);
        let result = &record["normalized_result"];
        assert_eq!(result["items"], expected["items"], "{member}");
        assert_eq!(result["coverage"], expected["coverage"]);
        assert_eq!(record["confidence"], expected["evidence_confidence"]);
        assert_eq!(record["authority"], "historical-reference");
        assert_eq!(result["excluded_records"], json!([]));
        assert_eq!(
            record["evidence_links"],
            json!([result["parent_evidence_id"]])
        );
    }
}

#[test]
fn every_page_is_inferred_when_any_group_is() {
    let capture = capture("grafana");
    let page = |offset: u64, limit: u64| {
        let view = json!({"kind": "api-surface", "offset": offset, "limit": limit});
        view_of(&capture, &view).unwrap()
    };
    let first = page(0, 2);
    assert_eq!(first["confidence"], "inferred");
    let coverage = &first["normalized_result"]["coverage"];
    assert_eq!(coverage["next_offset"], 2);
    let mut items = Vec::new();
    let mut offset = 0;
    loop {
        let page = page(offset, 2);
        let result = &page["normalized_result"];
        items.extend(result["items"].as_array().unwrap().clone());
        match result["coverage"]["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(
        json!(items),
        expected("grafana")["api_surface_default"]["items"]
    );
    let behind = page(99, 1);
    assert_eq!(behind["normalized_result"]["coverage"]["status"], "empty");
    assert_eq!(behind["confidence"], "inferred");
    // Saying the defaults is saying nothing.
    let usual = view_of(&capture, &json!({"kind": "api-surface"})).unwrap();
    let said = json!({"kind": "api-surface", "offset": 0, "limit": 64, "template_rules": []});
    assert_eq!(usual, view_of(&capture, &said).unwrap());
}

#[test]
fn manifests_are_as_the_vectors_say() {
    for (name, member, rules) in [
        ("grafana", "environment_manifest_all_rules", &ALL[..]),
        ("edge-cases", "environment_manifest_all_rules", &ALL),
        ("tracker", "environment_manifest_default_rules", &[]),
    ] {
        let expected = &expected(name)[member];
        let view = json!({"kind": "environment-manifest", "template_rules": rules});
        let record = of(name, &view);
        let result = &record["normalized_result"];
        let manifest = &result["manifest"];
        for part in ["name", "origin", "template_rules", "excluded"] {
            assert_eq!(manifest[part], expected[part], "{name} {part}");
        }
        let (found, wanted) = (&manifest["tools"], &expected["tools"]);
        for (found, wanted) in found
            .as_array()
            .unwrap()
            .iter()
            .zip(wanted.as_array().unwrap())
        {
            assert_eq!(found, wanted, "{name}");
        }
        assert_eq!(found, wanted);
        assert_eq!(record["confidence"], expected["evidence_confidence"]);
        let unknowns = result["unknowns"].as_array().unwrap();
        assert_eq!(unknowns.len(), 3);
        for topic in expected["unknowns_topics"].as_array().unwrap() {
            let named = |text: &Json| text.as_str().unwrap().contains(topic.as_str().unwrap());
            assert!(unknowns.iter().any(named), "{topic}");
        }
        // No bodies and no headers.
        for secret in [
            "Bearer",
            "acme-private",
            "single encoded",
            "Annotation added",
        ] {
            assert!(!record.to_string().contains(secret), "{secret}");
        }
    }
}

#[test]
fn the_state_is_as_the_vector_says() {
    let expected = &expected("tracker")["environment_state_default_rules"];
    let record = of("tracker", &json!({"kind": "environment-state"}));
    let state = &record["normalized_result"]["state"];
    for part in ["entity_types", "entities", "documents", "render_plans"] {
        assert_eq!(state[part], expected[part], "{part}");
    }
    assert_eq!(record["confidence"], expected["evidence_confidence"]);
    assert_eq!(state["conflicts"], json!([]));
}

/// An entry of a capture that was answered in JSON.
fn entry(method: &str, url: &str, status: u64, body: &str) -> Json {
    json!({
        "startedDateTime": "2026-10-05T09:00:00.000Z", "time": 1,
        "request": {
            "method": method, "url": url, "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0
        },
        "response": {
            "status": status, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [],
            "content": {"size": 1, "mimeType": "application/json", "text": body},
            "redirectURL": "", "headersSize": -1, "bodySize": -1
        },
        "cache": {}, "timings": {"send": 1, "wait": 1, "receive": 1}
    })
}

fn made(entries: Vec<Json>) -> Vec<u8> {
    let log = json!({"log": {
        "version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries
    }});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.har");
    std::fs::write(&path, log.to_string()).unwrap();
    capture_of(&path)
}

fn plans(entries: Vec<Json>) -> Vec<String> {
    let view = json!({"kind": "environment-state"});
    let record = view_of(&made(entries), &view).unwrap();
    let plans = record["normalized_result"]["state"]["render_plans"]
        .as_array()
        .unwrap();
    let shown = plans.iter().map(|plan| {
        let word = |name: &str| plan[name].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {}{}",
            word("tool"),
            word("kind"),
            word("reason"),
            word("status")
        )
    });
    shown.collect()
}

#[test]
fn what_cannot_be_reproduced_says_why() {
    let get = |path: &str, body: &str| entry("GET", &format!("https://h{path}"), 200, body);
    let mut redacted = get("/secret", "{}");
    redacted["response"]["content"]["encoding"] = json!("base64");
    redacted["response"]["content"]["text"] = json!("//8=");
    let mut silent = get("/silent", "");
    silent["response"]["content"]
        .as_object_mut()
        .unwrap()
        .remove("text");
    let found = plans(vec![
        get("/list?page=1", r#"[{"id":1}]"#),
        get("/list?page=2", r#"[{"id":2}]"#),
        get("/doc?q=a", r#"{"a":[1]}"#),
        get("/doc?q=b", r#"{"a":[2]}"#),
        get("/clock", r#"{"now":1}"#),
        get("/clock", r#"{"now":2}"#),
        get("/file/1", r#"{"x":true}"#),
        get("/file/2", r#"{"x":false}"#),
        get("/big", r#"{"n":9007199254740993}"#),
        get("/text", "plain"),
        entry("GET", "https://h/gone", 404, "{}"),
        redacted,
        silent,
        get("/same", r#"{"b":1,"a":2}"#),
        get("/same", r#"{"a":2,"b":1}"#),
    ]);
    assert_eq!(
        found,
        [
            "get_big unavailable unsafe-number",
            "get_clock unavailable conflicting-observations",
            "get_doc unavailable query-dependent",
            "get_file_by_id unavailable no-identity",
            "get_gone unavailable error-status",
            "get_list unavailable query-dependent",
            "get_same document verified",
            "get_secret unavailable body-not-json",
            "get_silent unavailable body-not-recorded",
            "get_text unavailable body-not-json",
        ]
    );
}

#[test]
fn list_rows_may_be_parts_of_items() {
    let get = |path: &str, body: &str| entry("GET", &format!("https://h{path}"), 200, body);
    let entries = vec![
        get("/u", r#"[{"id":1,"n":"a"},{"id":2,"n":"b"}]"#),
        get("/u/1", r#"{"id":1,"n":"a","more":true}"#),
        get("/u/2", r#"{"id":2,"n":"b","more":false}"#),
    ];
    let record = view_of(&made(entries), &json!({"kind": "environment-state"})).unwrap();
    let state = &record["normalized_result"]["state"];
    assert_eq!(state["entities"][0]["value"]["more"], true);
    let plan = &state["render_plans"][0];
    assert_eq!(
        (&plan["status"], &plan["fields"]),
        (&json!("verified"), &json!(["id", "n"]))
    );
    // Two that contradict each other are no state.
    let entries = vec![
        get("/u", r#"[{"id":1,"n":"a"}]"#),
        get("/u/1", r#"{"id":1,"n":"b"}"#),
    ];
    let record = view_of(&made(entries), &json!({"kind": "environment-state"})).unwrap();
    let state = &record["normalized_result"]["state"];
    assert_eq!(state["entities"], json!([]));
    assert_eq!(state["conflicts"][0]["identity"], "1");
}

#[test]
fn operations_stand_in_their_tool() {
    let post = |body: &str| {
        let mut entry = entry("POST", "https://h/graphql", 200, "{}");
        entry["request"]["postData"] = json!({"mimeType": "application/json", "text": body});
        entry
    };
    let capture = made(vec![
        post(r#"{"query":"query Users { a }"}"#),
        post(r#"{"query":"mutation { a }"}"#),
        post(r#"{"query":"query Users { a }"}"#),
    ]);
    let record = view_of(&capture, &json!({"kind": "environment-manifest"})).unwrap();
    let tools = record["normalized_result"]["manifest"]["tools"]
        .as_array()
        .unwrap();
    assert_eq!(tools.len(), 1);
    let cited = |ordinals: &[u64]| -> Json {
        let rows = ordinals.iter().map(
            |ordinal| json!({"ordinal": ordinal, "pointer": format!("/log/entries/{ordinal}")}),
        );
        rows.collect()
    };
    assert_eq!(
        tools[0]["operations"],
        json!([
            {"name": null, "kind": "graphql-mutation", "records": cited(&[1])},
            {"name": "Users", "kind": "graphql-query", "records": cited(&[0, 2])},
        ])
    );
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    let capture = made(vec![
        entry("GET", "about:blank", 200, "{}"),
        entry("GET", "https://h/a", 200, "{}"),
    ]);
    let record = view_of(&capture, &json!({"kind": "api-surface"})).unwrap();
    let excluded = &record["normalized_result"]["excluded_records"];
    assert_eq!(
        excluded,
        &json!([{"count": 1, "reason": "unreadable-request-line"}])
    );
    assert_eq!(record["confidence"], "derived");
}

#[test]
fn a_scenario_makes_a_manifest_and_no_surface() {
    use rea::evidence::{Authority, Creation, Evidence, Provider};
    let provider = Provider {
        id: "p",
        name: "p",
        version: "1",
    };
    let result = json!({"steps": [{"step_id": "a", "events": [
        {"kind": "request", "method": "GET", "url": "https://h/users/7", "status": 200},
        {"kind": "navigation", "url": "https://h/"},
        {"kind": "request", "method": "GET", "url": "https://h/users/8"}
    ]}]});
    let evidence = Evidence::create(Creation {
        normalized_result: Value::parse(result.to_string().as_bytes(), Limits::default()).unwrap(),
        authority: Authority::ControlledReplay,
        ..Creation::new("capture_browser_scenario", provider)
    });
    let text = canonical(&Object::clone(evidence.record()));
    let record = view_of(&text, &json!({"kind": "environment-manifest"})).unwrap();
    let tool = &record["normalized_result"]["manifest"]["tools"][0];
    assert_eq!(tool["name"], "get_users_by_id");
    assert_eq!(tool["records"][1]["pointer"], "/steps/0/events/2");
    assert_eq!(record["authority"], "controlled-replay");
    let error = view_of(&text, &json!({"kind": "api-surface"})).unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_request");
}

#[test]
fn rules_are_checked() {
    let capture = made(vec![entry("GET", "https://h/a", 200, "{}")]);
    for rules in [
        json!(["numeric"]),
        json!(["x"]),
        json!(["opaque-token", "opaque-token"]),
        json!("x"),
    ] {
        let view = json!({"kind": "api-surface", "template_rules": rules});
        let error = view_of(&capture, &view).unwrap_err();
        assert_eq!(error.code().as_str(), "invalid_request");
    }
}

#[test]
fn a_description_holds_all_operations() {
    use rea::web::openapi;
    use rea::web::surface::Surface;
    use rea::web::template::Rules;
    let uuid = "3f2b6c1e-8d4a-4b7e-9c11-0a5d7e9f1234";
    let capture = made(vec![
        entry("GET", "https://h/a/7?x=1", 200, r#"{"n":1}"#),
        entry(
            "GET",
            &format!("https://h/a/{uuid}"),
            404,
            r#"{"error":"e"}"#,
        ),
        entry("PURGE", "https://h/a/7", 200, "{}"),
        entry("GET", "https://h/{b}/", 200, "[]"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.json");
    std::fs::write(&path, capture).unwrap();
    let context = Context::new(view::OPERATION);
    let recorded = view::recorded(
        rea::evidence::Source::open(&path).unwrap(),
        false,
        Limits::default(),
        &context,
    )
    .unwrap();
    let surface = Surface::new(&recorded.exchanges, Rules::default());
    let (exchanges, shapes) = (&recorded.exchanges, &recorded.shapes);
    let described = openapi::describe(&surface, exchanges, shapes, recorded.parent.id);
    let text = canonical(&described);
    let described: Json = serde_json::from_slice(&text).unwrap();
    // Two templates that differ in their rule alone are one path there.
    let get = &described["paths"]["/a/{id}"]["get"];
    assert_eq!(get["x-records"], json!([0, 1]));
    assert_eq!(
        get["parameters"][0]["x-inferred-by"],
        json!(["numeric", "uuid"])
    );
    assert_eq!(get["parameters"][1]["name"], "x");
    let schema = |status: &str| &get["responses"][status]["content"]["application/json"]["schema"];
    assert_eq!(schema("200")["properties"]["n"]["type"], "number");
    assert_eq!(schema("404")["properties"]["error"]["type"], "string");
    assert!(described["paths"]["/%7Bb%7D/"]["get"].is_object());
    assert_eq!(described["x-methods-left-out"], json!(["PURGE"]));
    assert_eq!(described["info"]["x-inferred"], true);
}
