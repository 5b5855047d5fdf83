//! Views of artifact records: the acceptance checks of views.md section 12, as
//! far as they bear on artifacts.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::Path;
use std::sync::Arc;

use rea::artifact::{Options, inspect, inventory};
use rea::evidence::{Creation, Evidence, EvidenceId, NewSubject, Provider, Record, Source};
use rea::json::{Limits, Value, canonical};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request, Retained, ViewRecord};
use serde_json::json;
use support::zip::{Entry, Zip};
use support::{ours as value, sha256};

fn parse(text: &[u8]) -> Value {
    Value::parse(text, Limits::default()).unwrap()
}

fn context() -> Context {
    Context::new(view::OPERATION)
}

fn ask_of(request: &serde_json::Value, retained: &dyn Retained) -> Result<ViewRecord, rea::Error> {
    let request = Request::parse(value(request))?;
    view::inspect(request, retained, Limits::default(), &context())
}

fn ask(request: &serde_json::Value) -> Result<ViewRecord, rea::Error> {
    ask_of(request, &NothingRetained)
}

/// The view as the record says it.
fn shown(record: &ViewRecord) -> serde_json::Value {
    serde_json::from_slice(&record.canonical()).unwrap()
}

fn file(path: &Path, view: serde_json::Value) -> serde_json::Value {
    let source = json!({"kind": "evidence-file", "path": path.to_str().unwrap()});
    json!({"source": source, "view": view})
}

fn inline(record: &[u8], view: serde_json::Value) -> serde_json::Value {
    let evidence: serde_json::Value = serde_json::from_slice(record).unwrap();
    json!({"source": {"kind": "inline", "evidence": evidence}, "view": view})
}

fn issue(error: &rea::Error) -> (String, String) {
    assert_eq!(
        error.code().as_str(),
        "invalid_request",
        "{}",
        error.message()
    );
    let issues = error.details().get("issues").unwrap().as_array().unwrap();
    let path: serde_json::Value =
        serde_json::from_slice(&canonical(issues[0].get("path").unwrap())).unwrap();
    let path: Vec<String> = path
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part.as_str().map_or(part.to_string(), str::to_owned))
        .collect();
    let reason = issues[0].get("reason").unwrap().as_str().unwrap();
    (path.join("."), reason.to_owned())
}

/// A folder with an archive in it, an inventory and an inspection of it.
struct Sample {
    folder: tempfile::TempDir,
    inventory: Vec<u8>,
    inspection: Vec<u8>,
}

impl Sample {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        std::fs::create_dir_all(tree.join("-sub/b")).unwrap();
        let inner = Zip::of([
            Entry::deflated("m/a.js", b"let a = 1;"),
            Entry::stored("m/a.js.map", b"{}"),
            Entry::symlink("link", b"m/a.js"),
        ]);
        std::fs::write(tree.join("in.zip"), inner.build()).unwrap();
        for number in 0..20 {
            let name = format!("-sub/b/f{number}");
            std::fs::write(tree.join(name), format!("{}", number % 7)).unwrap();
        }
        std::fs::write(tree.join("-sub/astral \u{1F600}"), "x").unwrap();
        let context = context();
        let inventory = inventory(&tree, &Options::default(), &context).unwrap();
        let inspection = inspect(&tree, &Options::default(), &context).unwrap();
        let (inventory, inspection) = (inventory.canonical(), inspection.canonical());
        std::fs::write(folder.path().join("inventory.json"), &inventory).unwrap();
        std::fs::write(folder.path().join("inspection.json"), &inspection).unwrap();
        Self {
            folder,
            inventory,
            inspection,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

struct Ledger(Arc<Evidence>);

impl Retained for Ledger {
    fn open(&self, id: EvidenceId) -> Option<Source> {
        let text: Arc<[u8]> = canonical(self.0.as_ref()).into();
        (self.0.id() == id).then(|| Source::memory("it", text))
    }
}

#[test]
fn three_source_forms_give_one_id() {
    let sample = Sample::new();
    let evidence = Evidence::from_value(parse(&sample.inspection)).unwrap();
    let id = evidence.id().to_string();
    let ledger = Ledger(Arc::new(evidence));
    for view in [
        json!({"kind": "summary"}),
        json!({"kind": "inventory", "collection": "occurrences", "limit": 3}),
    ] {
        let from_file = ask(&file(&sample.path("inspection.json"), view.clone())).unwrap();
        let from_text = ask(&inline(&sample.inspection, view.clone())).unwrap();
        let source = json!({"kind": "retained-evidence", "evidence_id": id});
        let request = json!({"source": source, "view": view});
        let retained = ask_of(&request, &ledger).unwrap();
        assert_eq!(from_file.canonical(), from_text.canonical());
        assert_eq!(from_file.canonical(), retained.canonical());

        let missing = ask(&request).err().unwrap();
        assert_eq!(missing.code().as_str(), "evidence_integrity_mismatch");
        assert_eq!(
            missing.details().get("reason").unwrap().as_str(),
            Some("missing")
        );
        assert_eq!(
            missing.details().get("evidence_id").unwrap().as_str(),
            Some(&*id)
        );

        // A record in another order or with white space is the same record.
        let loose: serde_json::Value = serde_json::from_slice(&sample.inspection).unwrap();
        std::fs::write(
            sample.path("loose.json"),
            serde_json::to_vec_pretty(&loose).unwrap(),
        )
        .unwrap();
        let loose = ask(&file(&sample.path("loose.json"), request["view"].clone())).unwrap();
        assert_eq!(loose.canonical(), from_file.canonical());
        // Threads change nothing.
        let one = Context {
            threads: 1,
            ..context()
        };
        let again = Request::parse(value(&request_of(&sample, &request["view"]))).unwrap();
        let again = view::inspect(again, &NothingRetained, Limits::default(), &one).unwrap();
        assert_eq!(again.canonical(), from_file.canonical());
    }
}

fn request_of(sample: &Sample, view: &serde_json::Value) -> serde_json::Value {
    file(&sample.path("inspection.json"), view.clone())
}

#[test]
fn defaults_are_part_of_the_identity() {
    let sample = Sample::new();
    let ask = |view| {
        ask(&file(&sample.path("inventory.json"), view))
            .unwrap()
            .id()
    };
    let short = json!({"kind": "inventory", "collection": "edges"});
    let long = json!({"kind": "inventory", "collection": "edges", "offset": 0, "limit": 64});
    let other = json!({"kind": "inventory", "collection": "edges", "offset": 0, "limit": 65});
    assert_eq!(ask(short.clone()), ask(long));
    assert_ne!(ask(short), ask(other));
}

#[test]
fn pages_are_the_collection_again() {
    let sample = Sample::new();
    let parent: serde_json::Value = serde_json::from_slice(&sample.inventory).unwrap();
    let source = String::from_utf8(sample.inventory.clone()).unwrap();
    for collection in ["nodes", "occurrences", "edges", "integrity_contradictions"] {
        let all = parent["normalized_result"][collection].as_array().unwrap();
        for name in ["inventory.json", "inspection.json"] {
            let mut found = Vec::new();
            let mut offset = 0;
            loop {
                let view = json!({"kind": "inventory", "collection": collection, "offset": offset, "limit": 7});
                let record = ask(&file(&sample.path(name), view)).unwrap();
                let page = shown(&record);
                let result = &page["normalized_result"];
                let items = result["items"].as_array().unwrap();
                for row in record.rows() {
                    let row = String::from_utf8(canonical(&row)).unwrap();
                    assert!(source.contains(&row), "{row}");
                }
                found.extend(items.iter().cloned());
                assert_eq!(result["source_complete"], true);
                let coverage = &result["coverage"];
                assert_eq!(coverage["total"], all.len());
                assert_eq!(coverage["examined"], items.len());
                match coverage["next_offset"].as_u64() {
                    Some(next) => {
                        assert_eq!(coverage["status"], "page");
                        assert_eq!(coverage["exhausted"], false);
                        assert_eq!(next, offset + items.len() as u64);
                        offset = next;
                    }
                    None => {
                        assert_eq!(coverage["exhausted"], true);
                        break;
                    }
                }
            }
            assert_eq!(&found, all, "{collection} of {name}");
        }
    }
}

#[test]
fn a_page_beyond_the_end_is_empty() {
    let sample = Sample::new();
    let view = json!({"kind": "inventory", "collection": "nodes", "offset": 1_000_000});
    let record = shown(&ask(&file(&sample.path("inventory.json"), view)).unwrap());
    let coverage = &record["normalized_result"]["coverage"];
    assert_eq!(coverage["status"], "empty");
    assert_eq!(coverage["exhausted"], true);
    assert_eq!(coverage["next_offset"], json!(null));
    assert_eq!(record["normalized_result"]["items"], json!([]));
}

#[test]
fn logical_paths_filter_before_paging() {
    let sample = Sample::new();
    let ask = |paths: serde_json::Value, offset: u64| {
        let view = json!({"kind": "inventory", "collection": "occurrences",
            "logical_paths": paths, "offset": offset, "limit": 2});
        let record = shown(&ask(&file(&sample.path("inspection.json"), view)).unwrap());
        let result = &record["normalized_result"];
        let paths: Vec<String> = result["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["logical_path"].as_str().unwrap().to_owned())
            .collect();
        let total = result["coverage"]["total"].as_u64().unwrap();
        (paths.join(" "), total)
    };
    assert_eq!(ask(json!([]), 0), (String::new(), 0));
    assert_eq!(
        ask(json!(["in.zip/m/a.js", "in.zip", "nothing", "in.zip"]), 0),
        ("in.zip in.zip/m/a.js".to_owned(), 2)
    );
    // No normalisation: exactly the recorded text.
    assert_eq!(ask(json!(["./in.zip", "in.zip/"]), 0).1, 0);
    let three = json!([".", "in.zip/link", "-sub/astral \u{1F600}"]);
    assert_eq!(
        ask(three.clone(), 0),
        ("-sub/astral \u{1F600} .".to_owned(), 3)
    );
    assert_eq!(ask(three, 2), ("in.zip/link".to_owned(), 3));
}

#[test]
fn the_record_is_as_the_contract_says() {
    let sample = Sample::new();
    let view = json!({"kind": "summary"});
    let parent: serde_json::Value = serde_json::from_slice(&sample.inspection).unwrap();
    let record = ask(&file(&sample.path("inspection.json"), view)).unwrap();
    let record = shown(&record);
    let result = &record["normalized_result"];
    assert_eq!(record["predicate_type"], "rea.analysis-view");
    assert_eq!(record["operation"], "inspect_analysis_view");
    assert_eq!(record["confidence"], "derived");
    for name in ["subject", "authority"] {
        assert_eq!(record[name], parent[name]);
    }
    assert_eq!(record["limitations"], result["limitations"]);
    assert_eq!(record["evidence_links"], json!([parent["evidence_id"]]));
    let id = parent["evidence_id"].as_str().unwrap();
    assert_eq!(
        record["parameters"],
        json!({"parent_evidence_id": id, "view": {"kind": "summary"}})
    );
    assert_eq!(result["parent_evidence_id"], id);
    assert_eq!(result["parent_digest"], id[3..]);
    assert_eq!(result["parent_operation"], "inspect_artifact");
    let root = &parent["subject"]["digest"]["sha256"];
    assert_eq!(result["artifact"], json!({"path": ".", "sha256": root}));
    assert_eq!(
        record["locations"],
        json!([{"kind": "artifact-path", "path": "."}])
    );

    let inventory = &parent["normalized_result"]["substeps"][0]["evidence"];
    let summary = &result["summary"];
    assert_eq!(
        summary["manifest"],
        inventory["normalized_result"]["manifest"]
    );
    assert_eq!(
        summary["inventory_evidence_ids"],
        json!([inventory["evidence_id"]])
    );
    assert_eq!(
        summary["source_coverage"],
        inventory["normalized_result"]["coverage"]
    );
    assert_eq!(summary["inspection_coverage"], "complete-within-substeps");
    assert_eq!(summary["source_complete"], true);
    // 20 files, the one with an astral name, the archive, its two files; the
    // root and two folders; a link.
    assert_eq!(
        summary["entry_kinds"],
        json!({"directory": 3, "file": 24, "slice": 0, "symlink": 1})
    );
    assert_eq!(summary["available"]["occurrences"], 28);
    assert_eq!(result["coverage"]["status"], "complete-within-view");

    // The digest is the hash of the result without it.
    let mut without = result.clone();
    let digest = without
        .as_object_mut()
        .unwrap()
        .remove("view_digest")
        .unwrap();
    assert_eq!(digest, sha256(&canonical(&value(&without))));
    assert_ne!(digest, result["parent_digest"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let sample = Sample::new();
    let path = sample.path("inspection.json");
    // A tampered record in the request.
    let mut request = inline(&sample.inventory, json!({"kind": "summary"}));
    request["source"]["evidence"]["limitations"] = json!(["changed"]);
    let error = ask(&request).err().unwrap();
    assert_eq!(
        issue(&error),
        (
            "source.evidence.evidence_id".to_owned(),
            "invalid_value".to_owned()
        )
    );
    // The same in a file.
    std::fs::write(
        sample.path("tampered.json"),
        request["source"]["evidence"].to_string(),
    )
    .unwrap();
    let error = ask(&file(
        &sample.path("tampered.json"),
        json!({"kind": "summary"}),
    ))
    .err()
    .unwrap();
    assert_eq!(error.code().as_str(), "evidence_integrity_mismatch");
    // Another producer's view.
    let facet = json!({"kind": "facet", "facet": "linkage"});
    let error = ask(&file(&path, facet)).err().unwrap();
    assert_eq!(
        issue(&error),
        ("view".to_owned(), "invalid_value".to_owned())
    );
    // A view is no parent.
    let view = ask(&file(&path, json!({"kind": "summary"}))).unwrap();
    std::fs::write(sample.path("view.json"), view.canonical()).unwrap();
    let error = ask(&file(&sample.path("view.json"), json!({"kind": "summary"})))
        .err()
        .unwrap();
    assert_eq!(error.code().as_str(), "unsupported_target");
    assert_eq!(
        error.details().get("parent_operation").unwrap().as_str(),
        Some("inspect_analysis_view")
    );
    // A file that is no record, and none at all.
    let error = ask(&file(
        &sample.path("tree/in.zip"),
        json!({"kind": "summary"}),
    ));
    let error = error.err().unwrap();
    assert_eq!(
        error.details().get("reason").unwrap().as_str(),
        Some("invalid-json")
    );
    let error = ask(&file(&sample.path("none"), json!({"kind": "summary"})));
    let error = error.err().unwrap();
    assert_eq!(
        error.details().get("reason").unwrap().as_str(),
        Some("missing")
    );
}

/// A record of an inventory with this result and right ids of its own; its
/// subject is what the manifest says.
fn record(operation: &str, result: serde_json::Value, root: Option<&str>) -> Vec<u8> {
    let format = result["manifest"]["root_format"].as_str().unwrap_or("zip");
    let format = format.to_owned();
    record_about(operation, &result, root.map(|root| (root, &*format)))
}

fn record_about(
    operation: &str,
    result: &serde_json::Value,
    about: Option<(&str, &str)>,
) -> Vec<u8> {
    let provider = Provider {
        id: "p",
        name: "P",
        version: "1",
    };
    let mut creation = Creation::new(operation, provider);
    creation.subject = about.map(|(root, format)| NewSubject {
        path: "/x/y".to_owned(),
        sha256: rea::digest::Digest::from_hex(root.as_bytes()).unwrap(),
        format: format.to_owned(),
        architecture: Some("x86_64".to_owned()),
    });
    creation.normalized_result = value(result);
    canonical(&Evidence::create(creation))
}

fn graph(name: &str) -> serde_json::Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/evidence/graph");
    let mut graph: serde_json::Value =
        serde_json::from_slice(&std::fs::read(root.join(name)).unwrap()).unwrap();
    // The vectors are graphs alone; a result says its limitations too.
    graph["limitations"] = json!([]);
    graph
}

fn root_of(graph: &serde_json::Value) -> String {
    graph["manifest"]["root_sha256"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Makes the hashes over the whole graph right again.
fn seal(graph: &mut serde_json::Value) {
    let hash = |value: serde_json::Value| sha256(&canonical(&parse(value.to_string().as_bytes())));
    let parts = json!({
        "edges": graph["edges"],
        "integrity_contradictions": graph["integrity_contradictions"],
        "nodes": graph["nodes"],
        "occurrences": graph["occurrences"],
    });
    graph["manifest"]["graph_sha256"] = json!(hash(parts));
    let manifest = json!({
        "graph_sha256": graph["manifest"]["graph_sha256"],
        "root_artifact_id": graph["manifest"]["root_artifact_id"],
    });
    graph["manifest"]["manifest_id"] = json!(format!("agm_{}", hash(manifest)));
}

fn complete(graph: &serde_json::Value) -> bool {
    let record = record("inventory_artifact", graph.clone(), Some(&root_of(graph)));
    is_complete(&record)
}

fn is_complete(record: &[u8]) -> bool {
    let view = ask(&inline(record, json!({"kind": "summary"}))).unwrap();
    let shown = shown(&view);
    if !shown["subject"].is_null() {
        assert_eq!(shown["subject"]["architecture"], "x86_64");
    }
    let result = &shown["normalized_result"];
    let complete = result["summary"]["source_complete"].as_bool().unwrap();
    let unknowns = result["unknowns"].as_array().unwrap().len();
    assert_eq!(unknowns, usize::from(!complete));
    complete
}

/// The contract's graphs, which other programs made, are complete; whatever
/// is changed in one, with all hashes over the whole made right again, is
/// found.
#[test]
fn only_a_complete_graph_is_called_complete() {
    for name in [
        "basic.zip.graph.json",
        "electron.graph.json",
        "missing-unpacked.asar.graph.json",
        "tampered.asar.graph.json",
        "tree.graph.json",
    ] {
        let good = graph(name);
        assert!(complete(&good), "{name}");
        let mut resealed = good.clone();
        seal(&mut resealed);
        assert_eq!(resealed, good, "{name}");
    }
    type Change = fn(&mut serde_json::Value);
    let changes: &[(&str, Change)] = &[
        ("an edge's parent", |graph| {
            let other = graph["nodes"][1]["artifact_id"].clone();
            let edges = graph["edges"].as_array_mut().unwrap();
            let edge = edges
                .iter_mut()
                .find(|edge| edge["parent_artifact_id"] != other);
            edge.unwrap()["parent_artifact_id"] = other;
        }),
        ("an edge's relation", |graph| {
            graph["edges"][0]["relation"] = json!("loads")
        }),
        ("an edge twice", |graph| {
            let first = graph["edges"][0].clone();
            graph["edges"].as_array_mut().unwrap().insert(0, first);
            let count = graph["manifest"]["edge_count"].as_u64().unwrap();
            graph["manifest"]["edge_count"] = json!(count + 1);
        }),
        ("no such occurrence", |graph| {
            graph["edges"][0]["occurrence_id"] = json!(format!("occ_{}", "0".repeat(64)));
        }),
        ("an empty path", |graph| {
            let mut nameless = graph["occurrences"][1].clone();
            let id = json!({
                "entry_kind": nameless["entry_kind"],
                "logical_path": "",
                "root_artifact_id": graph["manifest"]["root_artifact_id"],
            });
            let id = sha256(&canonical(&value(&id)));
            nameless["logical_path"] = json!("");
            nameless["occurrence_id"] = json!(format!("occ_{id}"));
            let occurrences = graph["occurrences"].as_array_mut().unwrap();
            occurrences.insert(0, nameless);
            graph["manifest"]["occurrence_count"] = json!(occurrences.len());
        }),
        ("its own parent", |graph| {
            let own = graph["occurrences"][1]["occurrence_id"].clone();
            graph["occurrences"][1]["parent_occurrence_id"] = own;
        }),
        ("no such parent", |graph| {
            graph["occurrences"][1]["parent_occurrence_id"] =
                json!(format!("occ_{}", "0".repeat(64)));
        }),
        ("a node that is gone", |graph| {
            graph["nodes"].as_array_mut().unwrap().remove(1);
            let count = graph["manifest"]["node_count"].as_u64().unwrap();
            graph["manifest"]["node_count"] = json!(count - 1);
        }),
        ("the order of occurrences", |graph| {
            graph["occurrences"].as_array_mut().unwrap().swap(1, 2);
        }),
        ("a count", |graph| {
            graph["manifest"]["edge_count"] = json!(99)
        }),
        ("the root's format", |graph| {
            graph["manifest"]["root_format"] = json!("apk")
        }),
        ("an occurrence's kind", |graph| {
            let occurrences = graph["occurrences"].as_array_mut().unwrap();
            let file = occurrences
                .iter_mut()
                .rev()
                .find(|row| row["entry_kind"] == "file");
            file.unwrap()["entry_kind"] = json!("slice");
        }),
    ];
    for (what, change) in changes {
        let mut changed = graph("basic.zip.graph.json");
        change(&mut changed);
        seal(&mut changed);
        assert!(!complete(&changed), "{what}");
    }
    let mut changed = graph("tampered.asar.graph.json");
    changed["integrity_contradictions"][0]["declared_sha256"] = json!("0".repeat(64));
    seal(&mut changed);
    assert!(!complete(&changed), "a contradiction");
    let mut changed = graph("tampered.asar.graph.json");
    let nowhere = json!(format!("art_{}", "0".repeat(64)));
    changed["integrity_contradictions"][0]["parent_artifact_id"] = nowhere;
    seal(&mut changed);
    assert!(!complete(&changed), "a contradiction's parent");

    // A record whose subject is not what its manifest is about, or that has
    // none.
    let good = graph("basic.zip.graph.json");
    let root = root_of(&good);
    let with_format = |format| {
        is_complete(&record_about(
            "inventory_artifact",
            &good,
            Some((&root, format)),
        ))
    };
    assert!(with_format("zip"));
    assert!(!with_format("apk"), "the subject's format");
    assert!(!is_complete(&record("inventory_artifact", good, None)));
}

/// What is not of the producer's shape is no parent, and its place is told.
#[test]
fn rows_have_the_members_of_the_contract() {
    type Change = fn(&mut serde_json::Value);
    let changes: &[(&str, &str, Change)] = &[
        ("coverage.status", "invalid_value", |graph| {
            graph["coverage"]["status"] = json!("partial");
        }),
        ("coverage.scope", "invalid_value", |graph| {
            graph["coverage"]["scope"] = json!("everything");
        }),
        ("limitations", "missing_argument", |graph| {
            graph.as_object_mut().unwrap().remove("limitations");
        }),
        ("limitations", "invalid_value", |graph| {
            graph["limitations"] = json!(["one", 2]);
        }),
        ("nodes", "invalid_value", |graph| {
            graph["nodes"].as_array_mut().unwrap().insert(0, json!(7));
        }),
        ("nodes.0.size", "invalid_type", |graph| {
            graph["nodes"][0]["size"] = json!("7");
        }),
        ("nodes.1.content_state", "invalid_type", |graph| {
            let node = graph["nodes"][1].as_object_mut().unwrap();
            node.remove("content_state");
        }),
        ("occurrences.1.executable", "invalid_type", |graph| {
            graph["occurrences"][1]["executable"] = json!(null);
        }),
        ("occurrences.0.entry_kind", "invalid_type", |graph| {
            graph["occurrences"][0]["entry_kind"] = json!("device");
        }),
        ("edges.0.ordinal", "invalid_type", |graph| {
            graph["edges"][0]["ordinal"] = json!(0.5);
        }),
        ("manifest.manifest_id", "missing_argument", |graph| {
            graph["manifest"]["manifest_id"] = json!("agm_0");
        }),
        (
            "integrity_contradictions.0.occurrence_id",
            "invalid_type",
            |graph| {
                let row = graph["integrity_contradictions"][0].as_object_mut();
                row.unwrap().remove("occurrence_id");
            },
        ),
    ];
    for (place, reason, change) in changes {
        let mut changed = graph("tampered.asar.graph.json");
        let root = root_of(&changed);
        change(&mut changed);
        let record = record("inventory_artifact", changed, Some(&root));
        let error = ask(&inline(&record, json!({"kind": "summary"}))).err();
        let expected = format!("source.normalized_result.{place}");
        assert_eq!(
            issue(&error.expect(place)),
            (expected, (*reason).to_owned())
        );
    }
}

/// Millions of strings cost more than their bytes.
#[test]
fn what_is_said_beside_rows_has_a_budget() {
    let folder = tempfile::tempdir().unwrap();
    let many = "\"\",".repeat(3_000_000);
    let text = format!(r#"{{"authority":"a","normalized_result":{{"limitations":[{many}""]}}}}"#);
    let path = support::file(folder.path(), "many.json", text.as_bytes());
    let error = ask(&file(&path, json!({"kind": "summary"}))).err().unwrap();
    assert_eq!(error.code().as_str(), "resource_constraint");
    let limits = error.details().get("reported_limits").unwrap();
    assert_eq!(limits.get("maximum"), Some(&Value::from(256u64 << 20)));
    // Paths that contradictions name are kept too, and long fields.
    let long = "x".repeat(100 << 20);
    let field = format!(r#"{{"logical_path":"{long}"}}"#);
    let text = format!(
        r#"{{"authority":"a","normalized_result":{{"integrity_contradictions":[{field},{field}]}}}}"#
    );
    let path = support::file(folder.path(), "long.json", text.as_bytes());
    let error = ask(&file(&path, json!({"kind": "summary"}))).err().unwrap();
    assert_eq!(error.code().as_str(), "resource_constraint");
}

fn rea(folder: &Path, arguments: &[&str]) -> (String, serde_json::Value) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_rea"))
        .args(arguments)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let error = serde_json::from_slice(&output.stderr).unwrap_or_default();
    (String::from_utf8(output.stdout).unwrap(), error)
}

#[test]
fn paths_in_any_order_are_one_view() {
    let sample = Sample::new();
    let view = |paths: &[&str]| {
        let mut arguments = vec!["view", "inventory.json", "--collection", "occurrences"];
        arguments.extend(paths.iter().flat_map(|path| ["--path", path]));
        rea(sample.folder.path(), &arguments).0
    };
    let one = view(&["in.zip", "."]);
    assert!(one.contains(r#""logical_paths":[".","in.zip"]"#), "{one}");
    assert_eq!(one, view(&[".", "in.zip", "."]));
}

#[test]
fn errors_say_what_to_do_in_words_of_their_own() {
    let sample = Sample::new();
    let folder = sample.folder.path();
    let two = [sample.inventory.as_slice(), &sample.inventory].concat();
    support::file(folder, "two.json", &two);
    support::file(folder, "empty.json", b"");
    support::file(folder, "request.json", b"{\"source\":");
    let made = rea(folder, &["bundle", "inventory.json", "-o", "bundle.json"]);
    assert!(folder.join("bundle.json").exists(), "{made:?}");
    let refused = |arguments: &[&str], code: &str, part: &str| {
        let (_, error) = rea(folder, arguments);
        let error = &error["error"];
        let action = error["remediation"]["action"].as_str().unwrap();
        assert_eq!(error["code"], code, "{error}");
        assert_ne!(error["message"], action, "{error}");
        let said = format!("{} {action}", error["message"].as_str().unwrap());
        assert!(said.contains(part), "{error}");
    };
    let invalid = "evidence_integrity_mismatch";
    refused(
        &["view", "two.json", "--summary"],
        invalid,
        "one record at a time",
    );
    refused(&["view", "empty.json", "--summary"], invalid, "is empty");
    refused(
        &["view", "none.json", "--summary"],
        "execution_failure",
        "does not exist",
    );
    refused(
        &["view", "bundle.json", "--summary"],
        "unsupported_target",
        "is a bundle",
    );
    refused(
        &[
            "view",
            "inventory.json",
            "--collection",
            "nodes",
            "--path",
            "x",
        ],
        "invalid_request",
        "--path selects",
    );
    for option in [["--offset", "0"], ["--limit", "64"], ["--path", "x"]] {
        let mut arguments = vec!["view", "inventory.json", "--summary"];
        arguments.extend(option);
        refused(&arguments, "invalid_request", "--summary");
    }
    refused(
        &["inspect-analysis-view", "request.json"],
        "invalid_request",
        "request.json is no request",
    );
    refused(
        &["extract-artifact", "tree", "--path", "a//b"],
        "invalid_request",
        "how patterns are written",
    );
}

#[test]
fn a_result_of_another_shape_is_told_with_its_place() {
    let good = graph("basic.zip.graph.json");
    let root = root_of(&good);
    let refused = |operation: &str, result: serde_json::Value| {
        let record = record(operation, result, Some(&root));
        let error = ask(&inline(&record, json!({"kind": "summary"})))
            .err()
            .unwrap();
        issue(&error).0
    };
    for (member, place) in [
        ("nodes", "source.normalized_result.nodes"),
        ("manifest", "source.normalized_result.manifest.edge_count"),
        ("coverage", "source.normalized_result.coverage.scope"),
    ] {
        let mut changed = good.clone();
        changed.as_object_mut().unwrap().remove(member);
        assert_eq!(refused("inventory_artifact", changed), place);
    }
    let mut changed = good.clone();
    changed["edges"][1] = json!({"edge_id": 7});
    assert_eq!(
        refused("inventory_artifact", changed),
        "source.normalized_result.edges.1.edge_id"
    );
    assert_eq!(
        refused("inspect_artifact", good.clone()),
        "source.normalized_result.substeps"
    );
    // A result about another artifact than the record's.
    let record = record("inventory_artifact", good.clone(), Some(&"0".repeat(64)));
    let error = ask(&inline(&record, json!({"kind": "summary"})))
        .err()
        .unwrap();
    assert_eq!(error.code().as_str(), "evidence_integrity_mismatch");
    // One that is bound to no artifact.
    let unbound = self::record("inventory_artifact", good, None);
    let view = shown(&ask(&inline(&unbound, json!({"kind": "summary"}))).unwrap());
    assert_eq!(view["subject"], json!(null));
    assert_eq!(view["normalized_result"]["artifact"], json!(null));
    assert_eq!(view["locations"], json!([]));
}

/// A long record is looked at in much less memory than it has bytes.
#[test]
fn a_view_holds_little_of_a_long_record() {
    let folder = tempfile::tempdir().unwrap();
    let zip = Zip::of((0..40_000).map(|n| Entry::stored(format!("folder{}/file{n}", n % 7), b"x")));
    let input = support::file(folder.path(), "long.zip", &zip.build());
    let record = inspect(&input, &Options::default(), &context()).unwrap();
    let text = record.canonical();
    let path = support::file(folder.path(), "long.json", &text);
    for selection in [
        &["--summary"][..],
        &["--collection", "occurrences", "--offset", "39000"],
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rea"));
        command
            .arg("view")
            .arg(&path)
            .args(selection)
            .args(["-j", "1"]);
        let ran = support::child::watch(command);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains("\"source_complete\":true"));
        // 130 bytes an entry beside what every run takes.
        assert!(text.len() > 30 << 20);
        ran.within((4 << 20) + 40_000 * 130);
    }
}
