//! Comparisons and differences: the contract's vectors, records that lie, and
//! properties that hold for all inputs.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rea::artifact::{
    self, Comparison, ComparisonStatus, Diff, Line, Options, PROVIDER, Retained, Side, compare,
    diff, inventory, load_both, read_inventory,
};
use rea::error::{Code, Error};
use rea::evidence::{Creation, Evidence, NewSubject, Record, Source, verify_all};
use rea::json::Limits;
use rea::operation::Context;
use serde_json::{Value, json};
use support::ours;

fn vector(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/artifacts");
    serde_json::from_slice(&fs::read(path.join(name)).unwrap()).unwrap()
}

fn canonical(value: &Value) -> Vec<u8> {
    rea::json::canonical(&ours(value))
}

fn hash(value: &Value) -> String {
    support::sha256(&canonical(value))
}

/// The graph of a vector, with the ids that some vectors leave out.
fn graph(name: &str) -> Value {
    let mut graph = vector(&format!("derived/{name}.graph.json"));
    graph["limitations"] = json!([]);
    graph["provenance"] = json!([]);
    seal(&mut graph);
    graph
}

/// Computes `graph_sha256`, `manifest_id` and the counts again.
fn seal(graph: &mut Value) {
    let part = |name: &str| graph[name].clone();
    let sha256 = hash(&json!({
        "edges": part("edges"),
        "integrity_contradictions": part("integrity_contradictions"),
        "nodes": part("nodes"),
        "occurrences": part("occurrences"),
    }));
    let root = graph["manifest"]["root_artifact_id"].clone();
    let id = hash(&json!({"graph_sha256": sha256, "root_artifact_id": root}));
    graph["manifest"]["graph_sha256"] = sha256.into();
    graph["manifest"]["manifest_id"] = format!("agm_{id}").into();
    for (count, rows) in [
        ("node_count", "nodes"),
        ("occurrence_count", "occurrences"),
        ("edge_count", "edges"),
    ] {
        graph["manifest"][count] = graph[rows].as_array().unwrap().len().into();
    }
}

/// Evidence of an inventory with this result, as text.
fn record(graph: &Value) -> Vec<u8> {
    let word = |name: &str| graph["manifest"][name].as_str().unwrap();
    let digest = word("root_sha256").as_bytes();
    let mut creation = Creation::new("inventory_artifact", PROVIDER);
    creation.subject = Some(NewSubject {
        path: "vector".to_owned(),
        sha256: rea::digest::Digest::from_hex(digest).unwrap(),
        format: word("root_format").to_owned(),
        architecture: None,
    });
    creation.normalized_result = ours(graph);
    rea::json::canonical(&Evidence::create(creation))
}

fn context() -> Context {
    Context::new("compare_artifacts")
}

fn read(text: &[u8]) -> Result<Retained, Error> {
    let source = Source::stream("record.json", Box::new(std::io::Cursor::new(text.to_vec())));
    read_inventory(source, Limits::default(), &context())
}

fn refused(graph: &Value) -> Error {
    read(&record(graph)).unwrap_err()
}

fn compared(left: &Value, right: &Value) -> Comparison {
    let (left, right) = (read(&record(left)).unwrap(), read(&record(right)).unwrap());
    compare(left, right, &context()).unwrap()
}

fn written(record: &dyn Record) -> Value {
    let out = record.canonical();
    let verified = Source::stream("-", Box::new(std::io::Cursor::new(out.clone())));
    verify_all(verified, Limits::default(), &context(), &mut |report| {
        assert!(report.is_verified(), "{:?}", report.problems);
        Ok(())
    })
    .unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// Path, class and dimensions of every change.
fn changes(result: &Value) -> Vec<(String, String, Vec<String>)> {
    let items = result["changes"]
        .as_array()
        .or(result["changes"]["items"].as_array());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    items
        .unwrap()
        .iter()
        .map(|change| {
            let dimensions = change["dimensions"].as_array().unwrap().iter().map(text);
            (
                text(&change["logical_path"]),
                text(&change["classification"]),
                dimensions.collect(),
            )
        })
        .collect()
}

/// The expectations that were derived from the contract, over the contract's
/// own graphs: all of them, exactly.
#[test]
fn the_contracts_expectations() {
    let expectations = vector("derived/compare-expectations.json");
    let cases = expectations["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let name = |side: &str| case[side].as_str().unwrap();
        let what = format!("{} and {}", name("left"), name("right"));
        let comparison = compared(&graph(name("left")), &graph(name("right")));
        let found = written(&comparison)["normalized_result"].clone();
        assert_eq!(found["status"], case["status"], "{what}");
        assert_eq!(found["summary"], case["summary"], "{what}");
        assert_eq!(changes(&found), changes(case), "{what}");
    }
}

/// What an earlier release said of the same pairs. The differences are those
/// that the vectors' index lists: roles are told of occurrences now, scope
/// notices are no gaps, and summaries count otherwise.
#[test]
fn what_was_observed() {
    const PAIRS: &[(&str, &str, &str)] = &[
        ("app.missing-unpacked", "app.asar", "missing-unpacked.asar"),
        ("app.tampered", "app.asar", "tampered.asar"),
        ("basic.dirlast", "basic.zip", "dirlast.zip"),
        ("elf.elf", "tool.elf", "tool.elf"),
        ("encrypted.encrypted", "encrypted.zip", "encrypted.zip"),
        ("nested.renamed", "nested.zip", "renamed.bin"),
        ("tree.tree", "tree", "tree"),
        ("tree.tree-v2", "tree", "tree-v2"),
    ];
    for &(name, left, right) in PAIRS {
        let observed = vector(&format!("observed/compare.{name}.json"));
        let observed = &observed["normalized_result"];
        let mut expected = changes(observed);
        if name == "tree.tree-v2" {
            // Its node had the role of whichever path came last.
            expected.retain(|(path, _, _)| path != "app/copy.txt");
            // The node's limitations told of the permission.
            let tool = expected.iter_mut().find(|(path, _, _)| path == "bin/tool");
            tool.unwrap().2 = vec!["executable".to_owned()];
        }
        let comparison = compared(&graph(left), &graph(right));
        let found = written(&comparison)["normalized_result"].clone();
        let mut found_changes = changes(&found);
        found_changes.sort();
        expected.sort();
        assert_eq!(found_changes, expected, "{name}");
        let newest = if name == "elf.elf" {
            "unchanged"
        } else {
            observed["status"].as_str().unwrap()
        };
        assert_eq!(found["status"], newest, "{name}");
    }
}

#[test]
fn a_record_that_is_not_whole_is_truncated() {
    let whole = graph("tree");
    let mut part = whole.clone();
    part["occurrences"].as_array_mut().unwrap().pop();
    let comparison = compared(&part, &whole);
    assert_eq!(comparison.status(), ComparisonStatus::Truncated);
    assert!(!comparison.left().is_complete());
    let result = written(&comparison)["normalized_result"].clone();
    let classes: Vec<_> = changes(&result)
        .into_iter()
        .map(|(_, class, _)| class)
        .collect();
    assert!(
        classes.iter().all(|class| class == "unknown"),
        "{classes:?}"
    );
    assert_eq!(result["summary"]["unchanged"], 0);
    // Nothing that is not there is known, so all of it counts.
    assert_eq!(result["summary"]["unknown"], 17);
    assert!(
        result["limitations"][0]
            .as_str()
            .unwrap()
            .starts_with("Left: ")
    );
}

#[test]
fn records_that_lie_are_refused() {
    type Lie = (&'static str, fn(&mut Value));
    let lies: &[Lie] = &[
        ("graph_sha256", |g| g["nodes"][0]["size"] = 4_000_000.into()),
        ("not the hash", |g| {
            let other = g["nodes"][1]["sha256"].clone();
            g["nodes"][0]["sha256"] = other;
            seal(g);
        }),
        ("not the hash", |g| {
            g["occurrences"][1]["occurrence_id"] = format!("occ_{}", "0".repeat(64)).into();
            seal(g);
        }),
        ("edges[0].edge_id is not the hash", |g| {
            g["edges"][0]["relation"] = "loads".into();
            seal(g);
        }),
        ("ascending order", |g| {
            g["edges"].as_array_mut().unwrap().swap(0, 1);
            seal(g);
        }),
        ("ascending order", |g| {
            g["occurrences"].as_array_mut().unwrap().swap(1, 2);
            seal(g);
        }),
        ("ascending order", |g| {
            let twice = g["nodes"][0].clone();
            g["nodes"].as_array_mut().unwrap().insert(0, twice);
            seal(g);
        }),
        ("parent_occurrence_id is of no occurrence", |g| {
            g["occurrences"][1]["parent_occurrence_id"] = format!("occ_{}", "1".repeat(64)).into();
            seal(g);
        }),
        ("artifact_id is of no node", |g| {
            g["nodes"].as_array_mut().unwrap().remove(2);
            seal(g);
        }),
        ("not the root of the manifest", |g| {
            g["manifest"]["root_format"] = "zip".into();
        }),
        ("lacks hash_status", |g| {
            g["occurrences"][0]
                .as_object_mut()
                .unwrap()
                .remove("hash_status");
            seal(g);
        }),
        ("size must be a whole number", |g| {
            g["nodes"][0]["size"] = json!(1.5);
            seal(g);
        }),
        ("lacks coverage", |g| {
            _ = g.as_object_mut().unwrap().remove("coverage")
        }),
        ("coverage.status", |g| {
            g["coverage"]["status"] = "partial".into()
        }),
        ("nodes must be an array", |g| g["nodes"] = json!({})),
    ];
    for (says, lie) in lies {
        let mut graph = graph("tree");
        lie(&mut graph);
        let mut text = record(&graph);
        if *says == "not the root of the manifest" {
            // The subject tells what it told before.
            let subject = br#""format":"zip","local_path""#;
            let at = text
                .windows(subject.len())
                .position(|window| window == subject)
                .unwrap();
            text.splice(
                at..at + subject.len(),
                *br#""format":"directory","local_path""#,
            );
            let mut value: Value = serde_json::from_slice(&text).unwrap();
            reseal_record(&mut value);
            text = canonical(&value);
        }
        let error = read(&text)
            .err()
            .unwrap_or_else(|| panic!("{says}: accepted"));
        assert_eq!(error.code(), Code::EvidenceIntegrityMismatch, "{says}");
        assert!(
            error.message().contains(says),
            "{says}: {}",
            error.message()
        );
    }
    // One flipped bit anywhere in the text is noticed.
    let text = record(&graph("basic.zip"));
    for at in (0..text.len()).step_by(97) {
        let mut flipped = text.clone();
        flipped[at] ^= 1;
        let known = |text: &[u8]| read(text).is_err();
        let display_only = br#""local_path":"vector","name":"vector""#;
        let start = text
            .windows(display_only.len())
            .position(|w| w == display_only)
            .unwrap();
        if !(start..start + display_only.len()).contains(&at) {
            assert!(known(&flipped), "byte {at}");
        }
    }
    assert_eq!(
        refused(&json!({"manifest": graph("tree")["manifest"]})).code(),
        Code::EvidenceIntegrityMismatch
    );
}

/// Gives a record the id that fits what it says.
fn reseal_record(record: &mut Value) {
    let mut projection = record.clone();
    projection.as_object_mut().unwrap().remove("evidence_id");
    let subject = projection["subject"].as_object_mut().unwrap();
    subject.remove("name");
    subject.remove("local_path");
    record["evidence_id"] = format!("ev_{}", hash(&projection)).into();
}

#[test]
fn inspections_stand_for_their_inventories() {
    let folder = tempfile::tempdir().unwrap();
    let path = support::file(folder.path(), "a.js", b"x");
    let inspection = artifact::inspect(&path, &Options::default(), &context()).unwrap();
    let text = canonical(&written(&inspection));
    let kept = read(&text).unwrap();
    assert_eq!(kept.evidence_id(), inspection.id());
    assert_eq!(kept.inventory_id(), inspection.inventory().id());
    assert_eq!(
        kept.as_inventory().evidence_id(),
        inspection.inventory().id()
    );
    // Members in another order are read a second time, and are the same.
    let indented = serde_json::to_vec_pretty(&written(&inspection)).unwrap();
    assert_eq!(read(&indented).unwrap().evidence_id(), inspection.id());
    // The nested record is checked too.
    let mut value = written(&inspection);
    value["normalized_result"]["substeps"][0]["evidence"]["authority"] = "analyst-inference".into();
    let result = &mut value["normalized_result"];
    let mut without = result.clone();
    without.as_object_mut().unwrap().remove("inspection_id");
    result["inspection_id"] = format!("ai_{}", hash(&without)).into();
    reseal_record(&mut value);
    let error = read(&canonical(&value)).unwrap_err();
    assert_eq!(error.code(), Code::EvidenceIntegrityMismatch);
}

// Properties.

#[derive(Clone, Debug)]
enum Entry {
    File(Vec<u8>, bool),
    Link(String),
    Folder,
    /// A ZIP with members of these contents.
    Zip(Vec<Vec<u8>>),
}

type Tree = BTreeMap<String, Entry>;

fn entries() -> impl Strategy<Value = Entry> {
    let content = || proptest::collection::vec(0_u8..3, 0..3);
    prop_oneof![
        4 => (content(), any::<bool>()).prop_map(|(bytes, run)| Entry::File(bytes, run)),
        1 => "[ab]".prop_map(Entry::Link),
        1 => Just(Entry::Folder),
        1 => proptest::collection::vec(content(), 0..3).prop_map(Entry::Zip),
    ]
}

fn trees() -> impl Strategy<Value = Tree> {
    proptest::collection::btree_map("(d/)?[abc](!|\\.map|\\.zip)?", entries(), 0..7)
}

fn build(tree: &Tree, at: &Path, backwards: bool) {
    fs::create_dir_all(at.join("d")).unwrap();
    let mut all: Vec<_> = tree.iter().collect();
    if backwards {
        all.reverse();
    }
    for (path, entry) in all {
        let path = at.join(path);
        match entry {
            Entry::File(bytes, run) => {
                fs::write(&path, bytes).unwrap();
                let mode = if *run { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            Entry::Link(target) => symlink(target, &path).unwrap(),
            Entry::Folder => fs::create_dir(&path).unwrap(),
            Entry::Zip(members) => fs::write(&path, zip(members)).unwrap(),
        }
    }
}

fn zip(members: &[Vec<u8>]) -> Vec<u8> {
    let entries = members.iter().enumerate();
    let entries = entries.map(|(at, bytes)| support::zip::Entry::stored(format!("m{at}"), bytes));
    support::zip::Zip::of(entries).build()
}

fn kept(path: &Path, threads: usize, disorder: Option<u64>) -> Retained {
    let context = support::record::context(threads, disorder);
    Retained::from(&inventory(path, &Options::default(), &context).unwrap())
}

fn difference(left: &Path, right: &Path, threads: usize, disorder: Option<u64>) -> Diff {
    let (left, right) = (
        kept(left, threads, disorder),
        kept(right, threads, disorder),
    );
    diff(left, right, &context()).unwrap()
}

/// Paths of a class with everything else turned around.
fn one_sided(record: &Value, class: &str, side: &str) -> Vec<Value> {
    let changes =
        &record["normalized_result"]["substeps"][0]["evidence"]["normalized_result"]["changes"];
    let of_class = changes
        .as_array()
        .unwrap()
        .iter()
        .filter(|change| change["classification"] == class);
    of_class
        .map(|change| {
            json!([
                change["logical_path"],
                change[format!("{side}_occurrence_id")],
                change[format!("{side}_artifact_id")],
                change["dimensions"],
            ])
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn differences_hold_together(old in trees(), new in trees(), seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        let [left, right, again] = ["left", "right", "again"].map(|name| folder.path().join(name));
        build(&old, &left, false);
        build(&new, &right, false);
        build(&old, &again, true);

        // Anything is like itself, in whatever order it was made and read.
        let same = difference(&left, &again, 2, Some(seed));
        prop_assert_eq!(same.status(), ComparisonStatus::Unchanged);
        prop_assert_eq!(same.moved(), 0);
        prop_assert!(same.listing(None).is_empty());

        let forth = difference(&left, &right, 1, None);
        let back = difference(&right, &left, 2, Some(seed));
        let (forth_record, back_record) = (written(&forth), written(&back));
        prop_assert_eq!(one_sided(&forth_record, "added", "right"), one_sided(&back_record, "removed", "left"));
        prop_assert_eq!(one_sided(&forth_record, "removed", "left"), one_sided(&back_record, "added", "right"));
        prop_assert_eq!(one_sided(&forth_record, "changed", "left"), one_sided(&back_record, "changed", "right"));
        prop_assert_eq!(forth.comparison().summary().changed, back.comparison().summary().changed);
        prop_assert_eq!(forth.moved(), back.moved());
        prop_assert_eq!(forth.status(), back.status());

        // The same whether rows come from memory or from a record.
        let texts = [&left, &right].map(|path| {
            let record = inventory(path, &Options::default(), &context()).unwrap();
            let file = PathBuf::from(format!("{}.json", path.display()));
            fs::write(&file, canonical(&written(&record))).unwrap();
            file
        });
        let [left, right] = texts.each_ref().map(|path| Side::Evidence(path));
        let (left, right) = load_both(left, right, &context()).unwrap();
        prop_assert_eq!(diff(left, right, &context()).unwrap().id(), forth.id());

        // Every change is listed: as itself, below a line that stands for what
        // it holds, or by what is below it.
        let listing = forth.listing(None);
        let lines: Vec<&Line<'_>> = [
            &listing.added, &listing.removed, &listing.changed, &listing.moved,
            &listing.repacked, &listing.unknown, &listing.contradicted,
        ].into_iter().flatten().collect();
        let paths: Vec<&str> = lines.iter().flat_map(|line| [Some(line.path), line.from]).flatten().collect();
        for (path, class, dimensions) in changes(&forth_record["normalized_result"]["substeps"][0]["evidence"]["normalized_result"]) {
            let below = |above: &str, path: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
            let itself = paths.contains(&path.as_str());
            let stood_for = lines.iter().any(|line| line.members > 0 && [Some(line.path), line.from].into_iter().flatten().any(|above| below(above, &path)));
            let told = path == "." || paths.iter().any(|listed| below(&path, listed));
            prop_assert!(itself || stood_for || told, "{} {} is not listed", class, path);
            // What only the entry itself can tell is told of it.
            let follows = ["content", "relations", "size", "metadata"];
            let own = class == "changed" && dimensions.iter().any(|one| !follows.contains(&one.as_str()));
            prop_assert!(itself || stood_for || !own, "{} {:?} is not listed", path, dimensions);
        }
    }

    /// Whatever rows say, with ids that fit the text: refused or compared, and
    /// never unchanged where something was taken away.
    #[test]
    fn odd_records_are_refused_or_compared(
        name in proptest::sample::select(vec!["tree", "tampered.asar", "electron", "tool.elf", "encrypted.zip"]),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>(), 0_u8..6), 1..4),
        whole in any::<bool>(),
    ) {
        let original = graph(name);
        let mut odd = original.clone();
        for (at, from, how) in edits {
            let places = places(&odd, String::new());
            let place = at.get(&places).clone();
            let copied = odd.pointer(from.get(&places).as_str()).cloned();
            let Some(value) = odd.pointer_mut(&place) else { continue };
            match (how, &mut *value) {
                (0, Value::Array(items)) => _ = items.pop(),
                (0 | 1, Value::Object(members)) => {
                    let first = members.keys().next().cloned();
                    first.map(|first| members.remove(&first));
                }
                (1, Value::Array(items)) => items.reverse(),
                (2, value) => *value = copied.unwrap_or_default(),
                (3, value) => *value = Value::Null,
                (4, value) => *value = json!(-1.5e300),
                (_, value) => *value = json!("."),
            }
        }
        let arrays = ["nodes", "occurrences", "edges"].iter().all(|rows| odd[rows].is_array());
        let manifest = odd["manifest"]["root_sha256"].as_str().and_then(|text| rea::digest::Digest::from_hex(text.as_bytes()));
        if !arrays || manifest.is_none() || !odd["manifest"]["root_format"].is_string() {
            return Ok(());
        }
        let counts = odd["manifest"].clone();
        seal(&mut odd);
        if !whole {
            for count in ["node_count", "occurrence_count", "edge_count"] {
                odd["manifest"][count] = counts[count].clone();
            }
        }
        if let Ok(kept) = read(&record(&odd)) {
            let other = read(&record(&original)).unwrap();
            let found = diff(kept, other, &context()).unwrap();
            written(&found);
            let _ = found.listing(None);
            let fewer = odd["occurrences"].as_array().map(Vec::len) < original["occurrences"].as_array().map(Vec::len);
            prop_assert!(!(fewer && found.status() == ComparisonStatus::Unchanged));
        }
    }
}

/// The JSON Pointers of everything in a value.
fn places(value: &Value, at: String) -> Vec<String> {
    let mut all = vec![at.clone()];
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all.extend(places(item, format!("{at}/{index}")));
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                all.extend(places(member, format!("{at}/{name}")));
            }
        }
        _ => {}
    }
    all
}
