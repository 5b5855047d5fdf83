//! Ids inside artifact graphs and inspections: those of published graphs are
//! accepted, and each changed one is named by its place.
//!
//! `graph/*.graph.json` are graphs of the contract's vectors;
//! `graph/inspection.json` was made by an independent implementation of the
//! recipes.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::path::Path;

use rea::evidence::{Creation, Evidence, Provider, Report, Status, verify_both_ways};
use rea::json::{Limits, Value, canonical};

fn read(name: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/evidence/graph");
    let text = std::fs::read(root.join(name)).expect("the vectors are there");
    Value::parse(&text, Limits::default()).unwrap()
}

/// A record with this result and a right id of its own.
fn record(operation: &str, result: Value) -> Vec<u8> {
    let provider = Provider {
        id: "p",
        name: "P",
        version: "1",
    };
    let mut creation = Creation::new(operation, provider);
    creation.normalized_result = result;
    canonical(&Evidence::create(creation))
}

fn verify(text: &[u8]) -> Report {
    let (streamed, replayed) = verify_both_ways(text);
    let streamed = streamed.expect("canonical text streams");
    let line = |report: &Report| canonical(report);
    assert_eq!(line(&streamed), line(&replayed.unwrap()));
    streamed
}

fn pointers(report: &Report) -> Vec<String> {
    let problems = report.problems.iter();
    problems
        .map(|problem| format!("{} {}", problem.stage.as_str(), problem.pointer))
        .collect()
}

/// The value at a path of names and numbers, changed.
fn change(value: &mut Value, path: &[&str], change_to: Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = change_to;
        return;
    };
    match value {
        Value::Array(items) => change(&mut items[first.parse::<usize>().unwrap()], rest, change_to),
        Value::Object(object) => {
            let mut member = object.remove(first).expect(first);
            change(&mut member, rest, change_to);
            object.insert(*first, member);
        }
        other => panic!("{first} of {other:?}"),
    }
}

const GRAPHS: [&str; 5] = [
    "basic.zip.graph.json",
    "tampered.asar.graph.json",
    "missing-unpacked.asar.graph.json",
    "electron.graph.json",
    "tree.graph.json",
];

#[test]
fn published_graphs_are_accepted() {
    for name in GRAPHS {
        let report = verify(&record("inventory_artifact", read(name)));
        assert_eq!(pointers(&report), Vec::<String>::new(), "{name}");
        assert_eq!(report.status, Status::Verified);
    }
}

#[test]
fn a_changed_graph_is_found_at_its_place() {
    const GRAPH: &str = "/normalized_result/manifest/graph_sha256";
    let zeros = "0".repeat(64);
    let id = |prefix: &str| Value::from(format!("{prefix}{zeros}"));
    for (path, to, expected) in [
        (
            &["manifest", "graph_sha256"][..],
            id(""),
            &[
                "/normalized_result/manifest/graph_sha256",
                "/normalized_result/manifest/manifest_id",
            ][..],
        ),
        (
            &["manifest", "manifest_id"],
            id("agm_"),
            &["/normalized_result/manifest/manifest_id"],
        ),
        (
            &["manifest", "node_count"],
            6u64.into(),
            &["/normalized_result/manifest/node_count"],
        ),
        (
            &["manifest", "edge_count"],
            Value::Null,
            &["/normalized_result/manifest/edge_count"],
        ),
        (
            // A string of the right digits.
            &["manifest", "occurrence_count"],
            Value::from("6"),
            &["/normalized_result/manifest/occurrence_count"],
        ),
        (
            &["nodes", "2", "artifact_id"],
            id("art_"),
            &[GRAPH, "/normalized_result/nodes/2/artifact_id"],
        ),
        (
            &["nodes", "3", "sha256"],
            id(""),
            &[GRAPH, "/normalized_result/nodes/3/artifact_id"],
        ),
        (
            &["nodes", "3", "sha256"],
            Value::Array(vec![]),
            &[GRAPH, "/normalized_result/nodes/3/artifact_id"],
        ),
        (&["nodes", "0", "size"], 1u64.into(), &[GRAPH]),
        (
            &["occurrences", "1", "logical_path"],
            Value::from("other"),
            &[GRAPH, "/normalized_result/occurrences/1/occurrence_id"],
        ),
        (
            &["occurrences", "0", "logical_path"],
            Value::from("x"),
            &[GRAPH, "/normalized_result/occurrences/0/occurrence_id"],
        ),
        (&["edges", "1", "ordinal"], 7u64.into(), &[GRAPH]),
        (&["coverage"], Value::Null, &[]),
    ] {
        let mut graph = read("basic.zip.graph.json");
        change(&mut graph, path, to);
        let report = verify(&record("inventory_artifact", graph.clone()));
        let mut found = pointers(&report);
        found.sort();
        let mut wanted: Vec<_> = expected
            .iter()
            .map(|pointer| format!("artifact-graph {pointer}"))
            .collect();
        wanted.sort();
        assert_eq!(found, wanted, "{path:?}");
        // Records of other operations may use these names for anything.
        assert!(pointers(&verify(&record("another", graph))).is_empty());
    }
}

#[test]
fn an_inspection_is_verified_with_the_record_inside_it() {
    let inspection = read("inspection.json");
    let report = verify(&canonical(&inspection));
    assert!(report.is_verified(), "{:?}", pointers(&report));
    assert_eq!(report.nested.len(), 1);

    let result = inspection.get("normalized_result").unwrap();
    let zeros = "0".repeat(64);
    let zero = |prefix: &str| Value::from(format!("{prefix}{zeros}"));
    const INSPECTION: &str = "artifact-graph /normalized_result/inspection_id";
    for (path, to, expected) in [
        (&["inspection_id"][..], zero("ai_"), &[INSPECTION][..]),
        (
            &["limitations"],
            Value::Array(vec!["x".into()]),
            &[INSPECTION],
        ),
        (
            &["observations", "0", "observation_id"],
            zero("aio_"),
            &[
                INSPECTION,
                "artifact-graph /normalized_result/observations/0/observation_id",
            ],
        ),
        (
            &["observations", "0", "kind"],
            "x".into(),
            &[
                INSPECTION,
                "artifact-graph /normalized_result/observations/0/observation_id",
            ],
        ),
        (
            &["hypotheses", "0", "limitation"],
            Value::Null,
            &[
                INSPECTION,
                "artifact-graph /normalized_result/hypotheses/0/hypothesis_id",
            ],
        ),
        (
            &["contradictions", "0", "contradiction_id"],
            zero("aic_"),
            &[
                INSPECTION,
                "artifact-graph /normalized_result/contradictions/0/contradiction_id",
            ],
        ),
        (
            &["unexplored_branches", "0", "branch_id"],
            "".into(),
            &[
                INSPECTION,
                "artifact-graph /normalized_result/unexplored_branches/0/branch_id",
            ],
        ),
        (
            &["substeps", "0", "operation"],
            "x".into(),
            &[
                INSPECTION,
                "artifact-graph /normalized_result/substeps/0/substep_id",
            ],
        ),
        (
            &["substeps", "0", "evidence_id"],
            zero("ev_"),
            &[
                INSPECTION,
                "artifact-graph /normalized_result/substeps/0/substep_id",
                "nested-evidence /normalized_result/substeps/0/evidence_id",
            ],
        ),
    ] {
        let mut changed = result.clone();
        change(&mut changed, path, to);
        let report = verify(&record("inspect_artifact", changed));
        let mut found = pointers(&report);
        found.sort();
        let mut wanted: Vec<_> = expected.iter().map(|&p| p.to_owned()).collect();
        wanted.sort();
        assert_eq!(found, wanted, "{path:?}");
        assert!(report.nested[0].is_verified());
    }
}

#[test]
fn a_changed_record_inside_an_inspection_has_its_own_line() {
    let mut inspection = read("inspection.json");
    let nodes = [
        "normalized_result",
        "substeps",
        "0",
        "evidence",
        "normalized_result",
        "nodes",
    ];
    let path = [&nodes[..], &["1", "size"]].concat();
    change(&mut inspection, &path, 12345u64.into());
    let report = verify(&canonical(&inspection));
    assert_eq!(
        pointers(&report),
        [
            "evidence-id /evidence_id",
            "artifact-graph /normalized_result/inspection_id",
        ]
    );
    assert_eq!(
        pointers(&report.nested[0]),
        [
            "evidence-id /evidence_id",
            "artifact-graph /normalized_result/manifest/graph_sha256",
        ]
    );
}
