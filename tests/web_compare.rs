//! Comparisons of recordings, pages, scenarios and screenshots.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use rea::operation::Context;
use rea::web::compare_captures::{self, Given};
use rea::web::compare_screenshots::{self, Image, Options};
use serde_json::{Value as Json, json};
use support::ours as value;

fn compare(before: &Json, after: &Json, rules: Option<&Json>) -> Result<Json, rea::Error> {
    let before = Given::read(value(before), "before")?;
    let after = Given::read(value(after), "after")?;
    let rules = rules.map(value);
    let evidence = compare_captures::compare(before, after, rules.as_ref())?;
    Ok(support::json(evidence.normalized_result()))
}

/// A page that was looked at in full.
fn page() -> Json {
    json!({
        "inspection": {
            "frames": [{"frame_id": "F1", "url": "https://h/", "origin": "https://h"}],
            "dom": {"nodes": [{"index": 0, "name": "HTML"}, {"index": 1, "name": "BODY"}]},
            "accessibility": [{"node_id": "1", "role": "button", "text": "Go"}],
            "scripts": [{"script_key": "a", "sha256": "00"}],
            "resources": [{"resource_key": "r", "type": "image"}],
            "network": [{"request_id": "9", "method": "GET", "url": "https://h/", "resource_type":
                "document", "status": 200}],
            "metadata": {"title": "T", "request_id": "5", "links": ["b", "a"]},
            "storage": {"keys": [{"area": "local", "name": "k"}], "usage": 1, "quota": 2,
                "fingerprints": [{"scope": "s", "identity": "i", "sha256": "00"}]},
            "completeness": {"truncated": [], "policy_filtered": [], "unavailable": []}
        },
        "webmcp": {"status": "available", "tools": [{"tool_key": "webmcp_1"}]}
    })
}

fn status(result: &Json, dimension: &str) -> String {
    result["dimensions"][dimension]["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn equal_pages_are_unchanged_in_all_dimensions() {
    let mut other = page();
    // What says nothing of the page.
    other["inspection"]["dom"]["nodes"][0]["index"] = json!(7);
    other["inspection"]["frames"][0]["frame_id"] = json!("F2");
    other["inspection"]["metadata"]["request_id"] = json!("6");
    other["inspection"]["metadata"]["links"] = json!(["a", "b"]);
    other["inspection"]["network"][0]["request_id"] = json!("8");
    other["inspection"]["accessibility"][0]["node_id"] = json!("3");
    let result = compare(&page(), &other, None).unwrap();
    assert_eq!(result["status"], "unchanged", "{result:#}");
    assert_eq!(result["dimensions"].as_object().unwrap().len(), 8);
}

#[test]
fn every_dimension_tells_its_change() {
    for (dimension, at, changed, change) in [
        (
            "dom_structure",
            "/inspection/dom/nodes/1/name",
            json!("DIV"),
            "modified",
        ),
        (
            "scripts",
            "/inspection/scripts/0/script_key",
            json!("b"),
            "added",
        ),
        (
            "resources",
            "/inspection/resources/0/type",
            json!("font"),
            "modified",
        ),
        ("webmcp", "/webmcp/tools", json!([]), "removed"),
        (
            "network",
            "/inspection/network/0/status",
            json!(500),
            "modified",
        ),
        (
            "metadata",
            "/inspection/metadata/title",
            json!("U"),
            "modified",
        ),
        (
            "accessibility",
            "/inspection/accessibility/0/text",
            json!("Stop"),
            "modified",
        ),
        ("storage", "/inspection/storage/usage", json!(3), "modified"),
    ] {
        let mut other = page();
        *other.pointer_mut(at).unwrap() = changed;
        let result = compare(&page(), &other, None).unwrap();
        assert_eq!(result["status"], "changed");
        for name in result["dimensions"].as_object().unwrap().keys() {
            let expected = if name == dimension {
                "changed"
            } else {
                "unchanged"
            };
            assert_eq!(status(&result, name), expected, "{dimension}: {name}");
        }
        let changes = result["dimensions"][dimension]["changes"]
            .as_array()
            .unwrap();
        assert!(
            changes.iter().any(|row| row["change"] == change),
            "{dimension}"
        );
    }
}

#[test]
fn what_is_not_complete_never_proves_equality() {
    let mut other = page();
    other["inspection"]["completeness"]["truncated"] = json!(["scripts"]);
    other["webmcp"] = Json::Null;
    other["inspection"]["storage"]["fingerprints"] = Json::Null;
    let before = json!({"inspection": other["inspection"], "webmcp": null});
    let result = compare(&before, &before, None).unwrap();
    assert_eq!(result["status"], "unknown");
    for dimension in ["scripts", "webmcp", "storage"] {
        assert_eq!(status(&result, dimension), "unknown");
        assert_eq!(
            result["dimensions"][dimension]["reason"],
            "incomplete on both sides"
        );
    }
    assert_eq!(status(&result, "resources"), "unchanged");
    // A change is one, complete or not.
    let mut after = before.clone();
    after["inspection"]["scripts"][0]["sha256"] = json!("11");
    assert_eq!(compare(&before, &after, None).unwrap()["status"], "changed");
}

fn scenario() -> Json {
    json!({
        "browser": {"product": "Chrome", "version": "1"},
        "start_origin": "https://h", "allowed_origins": ["https://h", "https://a"],
        "equality_eligible": true,
        "steps": [
            {"step_id": "start", "action": "scenario_start", "elapsed_ms": 5,
             "artifacts": {"url": "https://h/?t=1", "dom": {"text": "Hello at 10:00"},
                "events": [{"sequence": 1, "step_index": 0, "kind": "request"}],
                "screenshot": {"sha256": "aa", "bytes": 3, "media_type": "image/png", "path": "x"}}},
            {"step_id": "go", "action": "click", "artifacts": {"url": "https://h/a"}}
        ]
    })
}

#[test]
fn scenarios_are_aligned_by_step() {
    let mut other = scenario();
    other["allowed_origins"] = json!(["https://a", "https://h"]);
    other["steps"][0]["elapsed_ms"] = json!(9);
    other["steps"][0]["artifacts"]["events"][0]["sequence"] = json!(4);
    other["steps"][0]["artifacts"]["screenshot"]["path"] = json!("y");
    let result = compare(&scenario(), &other, None).unwrap();
    assert_eq!(result["status"], "unchanged", "{result:#}");
    assert_eq!(result["alignment"]["status"], "aligned");

    other["steps"][0]["artifacts"]["dom"]["text"] = json!("Hello at 11:00");
    assert_eq!(
        compare(&scenario(), &other, None).unwrap()["status"],
        "changed"
    );
    let rules = json!({"rules": [
        {"rule_id": "b", "artifacts": ["dom"], "match": "11:00", "replacement": "10:00"}
    ]});
    assert_eq!(
        compare(&scenario(), &other, Some(&rules)).unwrap()["status"],
        "unchanged"
    );

    // Equal, and not shown to be whole.
    let mut unsure = scenario();
    unsure["equality_eligible"] = json!(false);
    assert_eq!(
        compare(&scenario(), &unsure, None).unwrap()["status"],
        "unknown"
    );
    let mut cut = scenario();
    cut["steps"][0]["artifacts"]["dom"]["status"] = json!("truncated");
    let result = compare(&scenario(), &cut, None).unwrap();
    assert_eq!(result["status"], "unknown");
}

#[test]
fn failures_of_alignment() {
    let codes = |before: &Json, after: &Json| -> (String, Vec<String>) {
        let result = compare(before, after, None).unwrap();
        let failures = result["alignment"]["failures"].as_array().unwrap();
        let codes = failures
            .iter()
            .map(|row| row["code"].as_str().unwrap().to_owned());
        (
            result["alignment"]["status"].as_str().unwrap().to_owned(),
            codes.collect(),
        )
    };
    let one = |edit: &dyn Fn(&mut Json)| {
        let mut other = scenario();
        edit(&mut other);
        codes(&scenario(), &other)
    };
    let partial = |code: &str| ("partial".to_owned(), vec![code.to_owned()]);
    assert_eq!(
        one(&|s| s["steps"][1]["action"] = json!("fill")),
        partial("action_mismatch")
    );
    assert_eq!(
        one(&|s| s["browser"]["version"] = json!("2")),
        partial("capture_context_mismatch")
    );
    assert_eq!(
        one(&|s| {
            s["steps"].as_array_mut().unwrap().pop();
        }),
        partial("missing_after_step")
    );
    assert_eq!(
        one(&|s| s["steps"]
            .as_array_mut()
            .unwrap()
            .push(json!({"step_id": "new"}))),
        partial("missing_before_step")
    );
    assert_eq!(
        one(&|s| {
            let step = s["steps"][1].clone();
            s["steps"].as_array_mut().unwrap().push(step);
        }),
        partial("duplicate_after_step_id")
    );
    let empty = json!({"steps": []});
    assert_eq!(codes(&empty, &empty).0, "failed");
}

#[test]
fn sides_and_rules_are_checked() {
    for side in [
        json!(1),
        json!({}),
        json!({"inspection": 1}),
        json!({"inspection": {}, "x": 1}),
    ] {
        assert!(Given::read(value(&side), "before").is_err(), "{side}");
    }
    assert!(compare(&page(), &scenario(), None).is_err());
    assert!(compare(&page(), &page(), Some(&json!({"rules": []}))).is_err());
    for rules in [
        json!([]),
        json!({"rules": [{"rule_id": "a", "artifacts": ["screenshot"], "match": "x", "replacement": ""}]}),
        json!({"rules": [{"rule_id": "a", "artifacts": ["dom"], "match": "", "replacement": ""}]}),
        json!({"rules": [
            {"rule_id": "a", "artifacts": ["dom"], "match": "x", "replacement": ""},
            {"rule_id": "a", "artifacts": ["dom"], "match": "y", "replacement": ""}
        ]}),
    ] {
        assert!(
            compare(&scenario(), &scenario(), Some(&rules)).is_err(),
            "{rules}"
        );
    }
}

/// A PNG of stored deflate blocks, made by the rules of the format.
fn png(width: u32, height: u32, color: u8, depth: u8, interlace: u8, rows: &[Vec<u8>]) -> Vec<u8> {
    use std::io::Write;
    fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
        out.extend((data.len() as u32).to_be_bytes());
        let body = [kind.as_slice(), data].concat();
        out.extend(&body);
        let mut crc = flate2::Crc::new();
        crc.update(&body);
        out.extend(crc.sum().to_be_bytes());
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([depth, color, 0, 0, interlace]);
    chunk(&mut out, b"IHDR", &header);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    for row in rows {
        encoder.write_all(&[0]).unwrap();
        encoder.write_all(row).unwrap();
    }
    chunk(&mut out, b"IDAT", &encoder.finish().unwrap());
    chunk(&mut out, b"IEND", &[]);
    out
}

fn screenshots(before: &[u8], after: &[u8], threshold: u8) -> Result<Json, rea::Error> {
    let context = Context::new(compare_screenshots::OPERATION);
    let read = |bytes: &[u8]| Image::read(bytes.to_vec(), "image");
    let (before, after) = (read(before)?, read(after)?);
    let options = Options {
        threshold,
        ..Options::default()
    };
    let compared = compare_screenshots::compare((&before, "a"), (&after, "b"), options, &context)?;
    Ok(support::json(compared.evidence.normalized_result()))
}

#[test]
fn pixels_are_compared() {
    let rgb = png(2, 1, 2, 8, 0, &[vec![10, 20, 30, 40, 50, 60]]);
    let rgba = png(2, 1, 6, 8, 0, &[vec![10, 20, 30, 255, 40, 50, 68, 251]]);
    let same = screenshots(&rgb, &rgb, 0).unwrap();
    assert_eq!(
        (&same["status"], &same["compared_pixels"]),
        (&json!("identical"), &json!(2))
    );
    let result = screenshots(&rgb, &rgba, 0).unwrap();
    assert_eq!(result["status"], "different");
    assert_eq!(result["changed_pixels"], 1);
    assert_eq!(result["maximum_channel_delta"], 8);
    // (8 + 4) of 4 channels of 2 pixels.
    assert_eq!(result["mean_channel_delta"], 1.5);
    let tolerant = screenshots(&rgb, &rgba, 8).unwrap();
    assert_eq!(
        (&tolerant["status"], &tolerant["maximum_channel_delta"]),
        (&json!("identical"), &json!(8))
    );
    let tall = png(2, 2, 2, 8, 0, &[vec![0; 6], vec![0; 6]]);
    let result = screenshots(&rgb, &tall, 0).unwrap();
    assert_eq!(result["status"], "dimension_mismatch");
    assert_eq!(
        (&result["compared_pixels"], &result["mean_channel_delta"]),
        (&json!(0), &Json::Null)
    );
}

#[test]
fn other_images_are_refused() {
    let good = png(2, 1, 2, 8, 0, &[vec![0; 6]]);
    let refused = |bytes: &[u8]| {
        let error = screenshots(&good, bytes, 0).unwrap_err();
        error.code().as_str()
    };
    let unsupported = "unsupported_target";
    assert_eq!(refused(b"GIF89a"), unsupported);
    assert_eq!(refused(&png(2, 1, 0, 8, 0, &[vec![0; 2]])), unsupported);
    assert_eq!(refused(&png(2, 1, 2, 16, 0, &[vec![0; 12]])), unsupported);
    assert_eq!(refused(&png(2, 1, 2, 8, 1, &[vec![0; 6]])), unsupported);
    assert_eq!(refused(&png(0, 1, 2, 8, 0, &[vec![]])), unsupported);
    // Cut at every byte: an error, or the same pixels (what is behind them is
    // not needed).
    for length in 0..good.len() {
        if let Ok(result) = screenshots(&good, &good[..length], 0) {
            assert_eq!(result["status"], "identical");
        }
    }
    // Headers that claim more than there is, and more than is taken.
    assert_eq!(refused(&png(2, 1, 2, 8, 0, &[vec![0; 3]])), unsupported);
    let huge = png(1 << 17, 1 << 31, 2, 8, 0, &[]);
    assert_eq!(refused(&huge), "resource_constraint");
}
