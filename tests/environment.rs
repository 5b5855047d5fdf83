//! Environments against the replays of the contract.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::{Path, PathBuf};

use rea::environment::Environment;
use rea::evidence::Record;
use rea::json::{Limits, Object};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request, SourceForm};
use rea::web::har::{self, Options};
use serde_json::{Value as Json, json};
use support::ours as value;

const ALL: [&str; 3] = ["after-uid-literal", "opaque-token", "sibling-variance"];

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/web")
}

fn vector(name: &str) -> Json {
    let path = vectors().join(format!("{name}.expected.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn write(record: &dyn Record, path: &Path) {
    std::fs::write(path, record.canonical()).unwrap();
}

struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn capture(&self) -> PathBuf {
        self.folder.path().join("capture.json")
    }

    fn manifest(&self) -> PathBuf {
        self.folder.path().join("manifest.json")
    }

    fn load(&self, name: Option<&str>) -> Result<Environment, rea::Error> {
        let context = Context::new(rea::environment::OPERATION);
        let (manifest, capture) = (self.manifest(), self.capture());
        Environment::load(&manifest, &capture, name, Limits::default(), &context)
    }
}

/// The capture at `har` and the manifest that all rules make of it.
fn made(har: &Path) -> Made {
    let made = Made {
        folder: tempfile::tempdir().unwrap(),
    };
    let context = Context::new(har::OPERATION);
    write(
        &har::inspect(har, &Options::default(), &context).unwrap(),
        &made.capture(),
    );
    let mut asked = Object::new();
    asked.insert("kind", "environment-manifest");
    asked.insert("template_rules", ALL.to_vec());
    let request = Request::new(SourceForm::File(made.capture()), asked).unwrap();
    let context = Context::new(view::OPERATION);
    let view = view::inspect(request, &NothingRetained, Limits::default(), &context).unwrap();
    write(&view, &made.manifest());
    made
}

#[test]
fn replays_are_as_the_vectors_say() {
    for name in ["grafana", "edge-cases"] {
        let environment = made(&vectors().join(format!("{name}.har")))
            .load(None)
            .unwrap();
        let replays = vector(name)["replay"].as_array().unwrap().clone();
        assert!(!replays.is_empty());
        for replay in replays {
            let tool = replay["tool"].as_str().unwrap();
            let reply = environment
                .call(tool, &value(&replay["arguments"]))
                .unwrap()
                .unwrap();
            let mut found = support::json(&reply.result);
            let id = found["replay"]["evidence_id"].take();
            assert!(id.as_str().unwrap().starts_with("ev_"));
            let mut expected = replay["result"].clone();
            expected["replay"]["evidence_id"] = Json::Null;
            assert_eq!(found, expected, "{tool} {}", replay["arguments"]);
        }
    }
}

#[test]
fn the_card_is_the_catalog_under_a_warning() {
    let environment = made(&vectors().join("grafana.har")).load(None).unwrap();
    let card = support::json(&environment.card());
    let mut expected = vector("grafana")["card"].clone();
    let tools = card["capabilities"]["tools"].as_array().unwrap();
    let wanted = expected["capabilities"]["tools"].as_array_mut().unwrap();
    assert_eq!(tools.len(), wanted.len());
    for (found, wanted) in tools.iter().zip(wanted) {
        let description = found["description"].as_str().unwrap();
        let plain = wanted["description"]
            .as_str()
            .unwrap()
            .replace("ev_…", "ev_");
        let (warning, rest) = description.split_at(rea::environment::WARNING.len());
        assert_eq!(warning, rea::environment::WARNING);
        assert!(rest.starts_with(plain.as_str()), "{rest}");
        wanted["description"] = found["description"].clone();
    }
    assert_eq!(card, expected);
}

#[test]
fn arguments_are_checked_and_nothing_is_dropped() {
    let environment = made(&vectors().join("grafana.har")).load(None).unwrap();
    let problems = |tool: &str, arguments: Json| -> Vec<String> {
        let refused = environment
            .call(tool, &value(&arguments))
            .unwrap()
            .unwrap_err();
        let shown = refused
            .iter()
            .map(|one| format!("{} {}", one.argument, one.reason));
        shown.collect()
    };
    assert_eq!(
        problems("get_users_by_id", json!({})),
        ["id missing_argument"]
    );
    assert_eq!(
        problems("get_users_by_id", json!({"id": 2})),
        ["id invalid_type"]
    );
    assert_eq!(
        problems("get_users_by_id", json!({"id": "2", "x": ""})),
        ["x unknown_argument"]
    );
    assert_eq!(
        problems("post_annotations", json!({"body": []})),
        ["body invalid_type"]
    );
    assert_eq!(problems("get_root", json!([])), [" invalid_type"]);
    assert!(
        environment
            .call("get_nothing", &value(&json!({})))
            .is_none()
    );
}

#[test]
fn names_and_pairs_are_checked() {
    let grafana = made(&vectors().join("grafana.har"));
    assert_eq!(grafana.load(Some("mine")).unwrap().name, "mine");
    assert_eq!(grafana.load(None).unwrap().name, "grafana-example");
    for blank in ["", " \t"] {
        let error = grafana.load(Some(blank)).unwrap_err();
        assert_eq!(error.code().as_str(), "configuration_invalid");
    }
    // Another capture: both ids are named.
    let other = made(&vectors().join("tracker.har"));
    std::fs::copy(other.capture(), grafana.capture()).unwrap();
    let error = grafana.load(None).unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_request");
    assert_eq!(error.message().matches("ev_").count(), 2);
    // The two the wrong way round, and what is no Evidence.
    std::fs::copy(other.capture(), other.folder.path().join("manifest.json")).unwrap();
    assert_eq!(
        other.load(None).unwrap_err().code().as_str(),
        "invalid_request"
    );
    std::fs::write(other.manifest(), "{}").unwrap();
    assert!(other.load(None).is_err());
}

/// No call changes a later one, and long lines are cut where they are shown.
#[test]
fn long_lines_and_types_are_cut_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let har = folder.path().join("a.har");
    let long = "x".repeat(2000);
    let log = json!({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [{
        "startedDateTime": "2026-10-05T09:00:00.000Z", "time": 1,
        "request": {"method": "GET", "url": format!("https://h/{long}?q=1"), "httpVersion": "",
            "cookies": [], "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0},
        "response": {"status": 200, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
            "content": {"size": 1, "mimeType": format!("application/json;{long}"), "text": "1"},
            "redirectURL": "", "headersSize": -1, "bodySize": -1},
        "cache": {}, "timings": {"send": 1, "wait": 1, "receive": 1}
    }]}});
    std::fs::write(&har, log.to_string()).unwrap();
    let environment = made(&har).load(None).unwrap();
    let tool = environment.catalog.tools[0].name.clone();
    let reply = environment
        .call(&tool, &value(&json!({"q": "1"})))
        .unwrap()
        .unwrap();
    let first = support::json(&reply.result);
    assert_eq!(first["content_type_truncated"], true);
    assert_eq!(first["content_type"].as_str().unwrap().len(), 1024);
    // The whole type decides how the body is read.
    assert_eq!(first["body"], 1);
    assert_eq!(
        first["replay"]["recorded_path"].as_str().unwrap().len(),
        1024
    );
    assert_eq!(first["replay"]["recorded_query"], "?q=1");
    assert_eq!(first["replay"]["recorded_line_truncated"], true);
    assert_eq!(first["replay"]["exact_match"], true);
    let reply = environment
        .call(&tool, &value(&json!({"q": "2"})))
        .unwrap()
        .unwrap();
    assert_eq!(support::json(&reply.result)["replay"]["exact_match"], false);
    let again = environment
        .call(&tool, &value(&json!({"q": "1"})))
        .unwrap()
        .unwrap();
    assert_eq!(support::json(&again.result), first);
}
