//! Views of layouts (views.md sections 3, 5, 6.1 and 9): a record as others
//! make it, with the members of the contract and no more, and one with ours.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use rea::binary::layout::PROVIDER;
use rea::digest::Digest;
use rea::evidence::{Creation, Evidence, NewSubject, Record};
use rea::json::{Limits, Value, canonical};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request};
use serde_json::json;

type Json = serde_json::Value;

fn ours(value: &Json) -> Value {
    Value::parse(value.to_string().as_bytes(), Limits::default()).unwrap()
}

const SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn range(offset: &str) -> Json {
    json!({"offset": offset, "bytes": "0x18"})
}

fn name(display: &str) -> Json {
    json!({"display": display, "bytes_base64": "", "location": range("0x1"), "unknown_reason": null})
}

fn section(index: u64, display: &str) -> Json {
    json!({
        "index": index, "name": name(display), "name_offset": "0x1", "type": "SHT_PROGBITS",
        "header_location": range("0x40"), "address": "0x1000", "offset": "0x1000", "size": "0x20",
        "alignment": "0x10", "flags": "0x6", "link": 0, "info": 0, "entry_size": "0x0",
        "file_backing": "file",
    })
}

fn symbol(entry: u64, display: &str) -> Json {
    json!({
        "table_index": 3, "entry_index": entry, "name": name(display), "name_offset": "0x1",
        "location": range("0x80"), "value": "0x1139", "value_meaning": "linked-virtual-address",
        "size": "0x16", "binding": "STB_GLOBAL", "type": "STT_FUNC", "visibility": "STV_DEFAULT",
        "section_index": 14,
    })
}

/// As the contract has it; `\u{e9}` in a name is two bytes there.
fn layout() -> Json {
    let symbols = ["", "main", "caf\u{e9}", "dup", "dup", "dup"];
    let symbols: Vec<Json> = (0u64..)
        .zip(symbols)
        .map(|(at, one)| symbol(at, one))
        .collect();
    json!({
        "artifact": {"path": "/srv/a.out", "sha256": SHA256, "bytes": 15960},
        "format": "elf",
        "architecture": {"machine": "EM_X86_64", "bits": 64, "byte_order": "little"},
        "image_type": "ET_DYN",
        "runtime_load_base": null,
        "entry_point": {
            "reported_value": "0x1040", "meaning": "linked-virtual-address",
            "execution_status": "unknown",
        },
        "sections": [section(0, ""), section(1, ".text"), section(2, ".data")],
        "segments": [{
            "index": 0, "type": "PT_LOAD", "header_location": range("0x40"), "offset": "0x0",
            "file_size": "0x1000", "memory_size": "0x1000", "virtual_address": "0x0",
            "physical_address": "0x0", "alignment": "0x1000", "flags": "0x4",
            "file_backing": "file", "permissions": {"read": true, "write": false, "execute": false},
        }],
        "symbols": symbols,
        "relocations": [{
            "section_index": 10, "entry_index": 0, "reported_offset": "0x3dd0",
            "target": {"kind": "linked-virtual-address", "address": "0x3dd0"},
            "location": range("0x550"), "type": 8, "symbol_table_index": 6, "symbol_index": 0,
            "symbol_reference_meaning": "zero-symbol-value", "addend": "4400",
        }],
        "packed_relative_relocations": [],
        "relocation_inventory_completeness": "unknown",
        "linkage": {
            "needed_libraries": [name("libc.so.6")], "interpreters": [name("/lib64/ld.so")],
            "got": [{"display_name": "puts", "address": "0x3fd0"}], "plt": [],
            "convenience_maps_completeness": "unknown", "runtime_library_paths": null,
        },
        "mitigations": {
            "evidence_kind": "inferred", "position_independent": true, "nx_indicator": true,
            "executable_stack_indicator": false, "stack_canary_indicator": false, "relro": "Full",
        },
        "diagnostics": {"stdout": "", "stderr": "", "truncated": false},
        "limitations": ["Within.", "Both."],
    })
}

fn record(result: &Json) -> Json {
    let mut creation = Creation::new("inspect_binary_layout", PROVIDER);
    creation.subject = Some(NewSubject {
        path: "/srv/a.out".to_owned(),
        sha256: Digest::from_hex(SHA256.as_bytes()).unwrap(),
        format: "elf".to_owned(),
        architecture: Some("x86_64".to_owned()),
    });
    creation.limitations = vec!["Both.".into(), "Around.".into()];
    creation.normalized_result = ours(result);
    let out = canonical(&Evidence::create(creation));
    serde_json::from_slice(&out).unwrap()
}

fn ask(record: &Json, view: Json) -> Result<Json, rea::Error> {
    let request = json!({"source": {"kind": "inline", "evidence": record}, "view": view});
    let request = Request::parse(ours(&request))?;
    let context = Context::new(view::OPERATION);
    let made = view::inspect(request, &NothingRetained, Limits::default(), &context)?;
    let out = made.canonical();
    let source = rea::evidence::Source::stream("-", Box::new(std::io::Cursor::new(out.clone())));
    rea::evidence::verify_all(source, Limits::default(), &context, &mut |report| {
        assert!(report.is_verified(), "{:?}", report.problems);
        Ok(())
    })
    .unwrap();
    Ok(serde_json::from_slice(&out).unwrap())
}

fn of(view: Json) -> Json {
    ask(&record(&layout()), view).unwrap()["normalized_result"].clone()
}

/// The error's first issue: its path, and the issue.
fn refused(record: &Json, view: Json) -> (String, Json) {
    let error = ask(record, view).unwrap_err();
    assert_eq!(
        error.code().as_str(),
        "invalid_request",
        "{}",
        error.message()
    );
    let issues = support::json(error.details().get("issues").unwrap());
    let path: Vec<String> = issues[0]["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part.as_str().map_or(part.to_string(), str::to_owned))
        .collect();
    (path.join("."), issues[0].clone())
}

const COMPLETE: &str = "complete-within-view";

#[test]
fn the_summary_says_what_the_contract_lists() {
    let found = of(json!({"kind": "summary"}));
    assert_eq!(
        found["summary"],
        json!({
            "bytes": 15960, "format": "elf", "image_type": "ET_DYN",
            "architecture": {"machine": "EM_X86_64", "bits": 64, "byte_order": "little"},
            "entry": {
                "reported_value": "0x1040", "meaning": "linked-virtual-address",
                "execution_status": "unknown",
            },
            "counts": {"sections": 3, "segments": 1, "symbols": 6, "relocations": 1},
            "limitation_count": 2,
        })
    );
    let coverage = json!({
        "status": COMPLETE, "examined": 11, "total": 11, "next_offset": null, "exhausted": true,
    });
    assert_eq!(found["coverage"], coverage);
    assert_eq!(
        found["artifact"],
        json!({"path": "/srv/a.out", "sha256": SHA256})
    );
    assert_eq!(found["limitations"], json!(["Around.", "Both.", "Within."]));
    assert_eq!(
        found["unknowns"],
        json!([
            "entry_point.execution_status is unknown",
            "linkage.convenience_maps_completeness is unknown",
            "linkage.runtime_library_paths are unknown",
            "relocation_inventory_completeness is unknown",
            "runtime_load_base is unknown",
        ])
    );
}

#[test]
fn the_record_takes_over_what_the_contract_names() {
    let parent = record(&layout());
    let view = json!({"kind": "page", "collection": "symbols", "offset": 1, "limit": 2});
    let made = ask(&parent, view.clone()).unwrap();
    let id = &parent["evidence_id"];
    assert_eq!(made["predicate_type"], "rea.analysis-view");
    assert_eq!(made["confidence"], "derived");
    assert_eq!(made["authority"], parent["authority"]);
    assert_eq!(made["subject"], parent["subject"]);
    assert_eq!(made["evidence_links"], json!([id]));
    assert_eq!(
        made["parameters"],
        json!({"parent_evidence_id": id, "view": view})
    );
    let location = json!([{"kind": "artifact-path", "path": "/srv/a.out"}]);
    assert_eq!(made["locations"], location);
}

#[test]
fn facets_are_the_stored_objects() {
    for facet in ["mitigations", "linkage"] {
        let found = of(json!({"kind": "facet", "facet": facet}));
        assert_eq!(found["facet"], layout()[facet]);
        let coverage = &found["coverage"];
        assert_eq!(
            (
                &coverage["examined"],
                &coverage["total"],
                &coverage["status"]
            ),
            (&json!(1), &json!(1), &json!(COMPLETE))
        );
    }
    // What is null is unknown.
    let mut result = layout();
    result["mitigations"]["nx_indicator"] = Json::Null;
    result["mitigations"]["relro"] = Json::Null;
    let found = ask(
        &record(&result),
        json!({"kind": "facet", "facet": "mitigations"}),
    )
    .unwrap();
    let unknowns = found["normalized_result"]["unknowns"].as_array().unwrap();
    assert_eq!(unknowns.len(), 7);
    for one in [
        "mitigations.nx_indicator is unknown",
        "mitigations.relro is unknown",
    ] {
        assert!(unknowns.contains(&one.into()), "{one}");
    }
}

#[test]
fn pages_are_the_collection() {
    for collection in ["sections", "symbols", "segments", "relocations"] {
        let whole = layout()[collection].as_array().unwrap().clone();
        for limit in [1, 2, 5, 64] {
            let mut joined = Vec::new();
            let mut offset = json!(0);
            while !offset.is_null() {
                let found = of(json!({
                    "kind": "page", "collection": collection, "offset": offset, "limit": limit,
                }));
                let items = found["items"].as_array().unwrap();
                let coverage = &found["coverage"];
                assert_eq!(coverage["status"], "page");
                assert_eq!(coverage["examined"], items.len());
                assert_eq!(coverage["total"], whole.len());
                assert_eq!(coverage["exhausted"], coverage["next_offset"].is_null());
                joined.extend(items.iter().cloned());
                offset = coverage["next_offset"].clone();
            }
            assert_eq!(joined, whole, "{collection} by {limit}");
        }
    }
    // Beyond the end there is nothing, which is no error.
    let beyond = of(json!({"kind": "page", "collection": "symbols", "offset": 6, "limit": 1}));
    assert_eq!(beyond["items"], json!([]));
    assert_eq!(beyond["coverage"]["status"], "empty");
    assert_eq!(beyond["coverage"]["exhausted"], true);
    assert_eq!(beyond["coverage"]["total"], 6);
}

#[test]
fn an_item_is_one_row() {
    let item = |collection: &str, selector: Json| {
        of(json!({"kind": "item", "collection": collection, "selector": selector}))
    };
    let result = layout();
    for (selector, at) in [
        (json!({"name": "main"}), 1),
        (json!({"name": "caf\u{e9}"}), 2),
        (json!({"name": ""}), 0),
        (json!({"index": 4}), 4),
    ] {
        let found = item("symbols", selector);
        assert_eq!(found["item"], result["symbols"][at]);
        assert_eq!(found["coverage"]["examined"], 1);
        assert_eq!(found["coverage"]["total"], 6);
        assert_eq!(found["coverage"]["status"], COMPLETE);
    }
    assert_eq!(
        item("sections", json!({"name": ".text"}))["item"],
        result["sections"][1]
    );
    assert_eq!(
        item("relocations", json!({"index": 0}))["item"],
        result["relocations"][0]
    );
}

#[test]
fn items_that_cannot_be_told() {
    let parent = record(&layout());
    let item = |collection: &str, selector: Json| {
        refused(
            &parent,
            json!({"kind": "item", "collection": collection, "selector": selector}),
        )
    };
    let (path, issue) = item("symbols", json!({"name": "Main"}));
    assert_eq!(
        (path.as_str(), &issue["reason"]),
        ("view.selector.name", &json!("invalid_value"))
    );
    assert_eq!(issue["expected"], json!(["", "main", "caf\u{e9}", "dup"]));
    let (path, issue) = item("symbols", json!({"name": "dup"}));
    assert_eq!(
        (path.as_str(), &issue["reason"]),
        ("view.selector.name", &json!("invalid_value"))
    );
    assert_eq!(
        issue["expected"],
        json!([{"index": 3}, {"index": 4}, {"index": 5}])
    );
    let (path, issue) = item("sections", json!({"index": 3}));
    assert_eq!(
        (path.as_str(), &issue["reason"]),
        ("view.selector.index", &json!("out_of_range"))
    );
    assert_eq!(
        (&issue["minimum"], &issue["maximum"]),
        (&json!(0), &json!(2))
    );
    let (path, _) = item("relocations", json!({"name": "x"}));
    assert_eq!(path, "view.selector");
    let (path, _) = item("sections", json!({"path": "x"}));
    assert_eq!(path, "view.selector");
    let mut empty = layout();
    empty["symbols"] = json!([]);
    let (_, issue) = refused(
        &record(&empty),
        json!({"kind": "item", "collection": "symbols", "selector": {"index": 0}}),
    );
    assert_eq!(
        (&issue["minimum"], &issue["maximum"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn only_the_first_distinct_names_are_listed() {
    let mut result = layout();
    let names = (0..100).map(|at| symbol(at, &format!("s{}", at / 2)));
    result["symbols"] = names.collect();
    let view = json!({"kind": "item", "collection": "symbols", "selector": {"name": "x"}});
    let (_, issue) = refused(&record(&result), view);
    let expected: Vec<String> = (0..32).map(|at| format!("s{at}")).collect();
    assert_eq!(issue["expected"], json!(expected));
}

#[test]
fn what_a_parent_does_not_have_is_said() {
    let parent = record(&layout());
    let page = |collection: &str| json!({"kind": "page", "collection": collection, "offset": 0, "limit": 9});
    // Ours, and REA has none of it.
    let (path, issue) = refused(&parent, page("imports"));
    assert_eq!(
        (path.as_str(), &issue["reason"]),
        ("view", &json!("invalid_value"))
    );
    // A list of another producer, and a kind of one.
    let (path, _) = refused(&parent, page("modules"));
    assert_eq!(path, "view");
    let (path, issue) = refused(&parent, json!({"kind": "inventory", "collection": "nodes"}));
    assert_eq!(
        (path.as_str(), &issue["reason"]),
        ("view", &json!("invalid_value"))
    );
    assert_eq!(
        issue["expected"],
        json!(["summary", "facet", "item", "page"])
    );
}

#[test]
fn facts_of_ours_have_lists_too() {
    let import = |name: Json| json!({"name": name, "kind": "function", "ordinal": null});
    let mut result = layout();
    let imports = json!([
        import(json!("puts")),
        import(Json::Null),
        import(json!("exit"))
    ]);
    result["facts"] = json!({
        "address_map": [{"items": [1, 2]}],
        "imports": {"exhaustive": true, "items": imports},
        "exports": {"exhaustive": true, "items": []},
        "elf": {"imports": {"items": [import(json!("other"))]}},
    });
    let parent = record(&result);
    let shown = |view| ask(&parent, view).unwrap()["normalized_result"].clone();
    let page = shown(json!({"kind": "page", "collection": "imports", "offset": 0, "limit": 2}));
    assert_eq!(page["items"], json!([imports[0], imports[1]]));
    assert_eq!(page["coverage"]["total"], 3);
    let selector = json!({"name": "exit"});
    let item = shown(json!({"kind": "item", "collection": "imports", "selector": selector}));
    assert_eq!(item["item"], imports[2]);
    let page = shown(json!({"kind": "page", "collection": "exports", "offset": 0, "limit": 2}));
    assert_eq!(page["coverage"]["status"], "empty");
    let summary = shown(json!({"kind": "summary"}));
    assert_eq!(summary["coverage"]["total"], 11);
}

/// Whatever is missing or of another type is told, with its path.
#[test]
fn a_result_of_another_shape_is_refused() {
    let summary = || json!({"kind": "summary"});
    for member in [
        "architecture",
        "artifact",
        "diagnostics",
        "entry_point",
        "format",
        "image_type",
        "limitations",
        "linkage",
        "mitigations",
        "packed_relative_relocations",
        "relocation_inventory_completeness",
        "relocations",
        "runtime_load_base",
        "sections",
        "segments",
        "symbols",
    ] {
        let mut result = layout();
        result.as_object_mut().unwrap().remove(member);
        let (path, issue) = refused(&record(&result), summary());
        assert_eq!(path, format!("source.normalized_result.{member}"));
        assert_eq!(issue["reason"], "missing_argument");
    }
    let cases: [(&str, Json, &str); 6] = [
        ("/symbols/1/value", json!(7), "symbols.1.value"),
        (
            "/symbols/5/name/display",
            Json::Null,
            "symbols.5.name.display",
        ),
        (
            "/sections/2/file_backing",
            json!("disk"),
            "sections.2.file_backing",
        ),
        ("/relocations/0/addend", json!(-1), "relocations.0.addend"),
        ("/artifact/sha256", json!("00"), "artifact.sha256"),
        ("/mitigations/relro", json!("full"), "mitigations.relro"),
    ];
    for (pointer, wrong, expected) in cases {
        let mut result = layout();
        *result.pointer_mut(pointer).unwrap() = wrong;
        let (path, _) = refused(&record(&result), summary());
        assert_eq!(path, format!("source.normalized_result.{expected}"));
    }
    // About another artifact than its subject.
    let mut result = layout();
    result["artifact"]["sha256"] = "0".repeat(64).into();
    let error = ask(&record(&result), summary()).unwrap_err();
    assert_eq!(error.code().as_str(), "evidence_integrity_mismatch");
}
