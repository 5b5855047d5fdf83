//! HAR captures against the vectors of the contract, and hostile ones.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::{Path, PathBuf};

use rea::Error;
use rea::evidence::Record;
use rea::json::{Text, canonical};
use rea::operation::{Cancellation, Context};
use rea::web::har::{self, CaptureRecord, Options};
use serde_json::{Value as Json, json};
use support::shown;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/web")
}

fn vector(name: &str) -> Json {
    serde_json::from_slice(&std::fs::read(vectors().join(name)).unwrap()).unwrap()
}

fn error(error: &Error) -> Json {
    serde_json::from_slice(&canonical(error)).unwrap()
}

fn context() -> Context {
    Context::new(har::OPERATION)
}

fn inspect(path: &Path, options: &Options) -> Result<CaptureRecord, Error> {
    har::inspect(path, options, &context())
}

fn with(text: &[u8], options: &Options) -> Result<CaptureRecord, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.har");
    std::fs::write(&path, text).unwrap();
    inspect(&path, options)
}

fn of(text: &[u8]) -> Json {
    shown(&with(text, &Options::default()).unwrap())
}

/// The one issue of an error: its path and reason.
fn issue(text: &[u8]) -> (Json, String) {
    let error = error(&with(text, &Options::default()).unwrap_err());
    let issue = &error["details"]["issues"][0];
    assert_eq!(error["code"], "invalid_request", "{error}");
    (
        issue["path"].clone(),
        issue["reason"].as_str().unwrap().to_owned(),
    )
}

fn sensitive(values: &[&str]) -> Options {
    Options {
        sensitive_values: values.iter().map(|&value| Text::from(value)).collect(),
        ..Options::default()
    }
}

fn selecting(ordinals: &[u64]) -> Options {
    Options {
        record_ordinals: Some(ordinals.to_vec()),
        ..Options::default()
    }
}

/// A capture of one entry, whose parts can be replaced.
fn entry() -> Json {
    json!({
        "startedDateTime": "2026-10-05T09:00:00.000Z",
        "time": 12,
        "request": {
            "method": "GET", "url": "https://h/a", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0
        },
        "response": {
            "status": 200, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": [], "content": {"size": 2, "mimeType": "text/plain", "text": "ok"},
            "redirectURL": "", "headersSize": -1, "bodySize": -1
        },
        "cache": {},
        "timings": {"send": 1, "wait": 10, "receive": 1}
    })
}

fn capture(entries: Vec<Json>) -> Vec<u8> {
    let log = json!({"log": {
        "version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries
    }});
    log.to_string().into_bytes()
}

fn edited(edit: impl FnOnce(&mut Json)) -> Vec<u8> {
    let mut entry = entry();
    edit(&mut entry);
    capture(vec![entry])
}

#[test]
fn the_tracker_capture_is_as_the_vector_says() {
    let expected = &vector("tracker.expected.json")["inspection"];
    let path = vectors().join("tracker.har");
    let record = shown(&inspect(&path, &Options::default()).unwrap());
    let result = &record["normalized_result"];
    assert_eq!(result["total_records"], expected["total_records"]);
    assert_eq!(result["container"], expected["container"]);
    assert_eq!(result["format"], "har");
    assert_eq!(result["runtime_attribution"], "unknown");
    for (name, at) in [("record_0", 0), ("record_4", 4)] {
        let (found, expected) = (&result["records"][at], &expected[name]);
        for member in [
            "ordinal",
            "location",
            "numeric_literals",
            "binary_fields",
            "redactions",
        ] {
            assert_eq!(found[member], expected[member], "{name} {member}");
        }
    }
    let (first, fifth) = (
        &result["records"][0]["reported"],
        &result["records"][4]["reported"],
    );
    let of_first = &expected["record_0"];
    assert_eq!(first["request"]["url"], of_first["reported_request_url"]);
    assert_eq!(
        first["request"]["headers"],
        of_first["reported_request_headers"]
    );
    assert_eq!(
        first["request"]["cookies"],
        of_first["reported_request_cookies"]
    );
    assert_eq!(first["_big"], of_first["reported__big"]);
    assert_eq!(first["_ratio"], of_first["reported__ratio"]);
    assert_eq!(
        fifth["response"]["content"],
        expected["record_4"]["reported_content"]
    );

    // The envelope of web.md section 1.7.
    assert_eq!(record["operation"], "inspect_web_network_capture");
    assert_eq!(record["confidence"], "observed");
    assert_eq!(record["authority"], "historical-reference");
    assert_eq!(record["subject"]["format"], "file");
    assert_eq!(record["provider"], result["decoder"]);
    let parameters = json!({
        "capture_path": path.to_str().unwrap(), "format": "har",
        "record_ordinals": [0, 1, 2, 3, 4, 5, 6, 7], "sensitive_value_count": 0
    });
    assert_eq!(record["parameters"], parameters);
    let expected_file = vector("tracker.expected.json");
    assert_eq!(result["artifact"]["sha256"], expected_file["input_sha256"]);
    assert_eq!(result["artifact"]["bytes"], expected_file["input_bytes"]);

    // Naming all records is the same selection; their order is the caller's.
    let all = inspect(&path, &selecting(&[0, 1, 2, 3, 4, 5, 6, 7])).unwrap();
    assert_eq!(shown(&all), record);
    let two = shown(&inspect(&path, &selecting(&[2, 0])).unwrap());
    let ordinals: Vec<&Json> = two["normalized_result"]["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| &record["ordinal"])
        .collect();
    assert_eq!(json!(ordinals), expected["selection_2_0_ordinals"]);
    assert_eq!(two["normalized_result"]["total_records"], 8);
}

#[test]
fn a_declared_value_is_left_out_as_the_vector_says() {
    let expected = &vector("tracker.expected.json")["inspection_sensitive_acme_private"];
    let path = vectors().join("tracker.har");
    let record = shown(&inspect(&path, &sensitive(&["acme-private"])).unwrap());
    assert!(!record.to_string().contains("acme-private"));
    let count = &record["parameters"]["sensitive_value_count"];
    assert_eq!(count, &expected["sensitive_value_count"]);
    let (found, expected) = (
        &record["normalized_result"]["records"][3],
        &expected["record_3"],
    );
    for member in [
        "ordinal",
        "location",
        "numeric_literals",
        "binary_fields",
        "redactions",
    ] {
        assert_eq!(found[member], expected[member], "{member}");
    }
    let content = &found["reported"]["response"]["content"];
    assert_eq!(content, &expected["reported_content"]);
}

#[test]
fn the_invalid_variants_are_refused_as_the_vector_says() {
    let text = std::fs::read_to_string(vectors().join("tracker.har")).unwrap();
    let expected = vector("tracker.expected.json");
    let variants = expected["invalid_variants"].as_array().unwrap();
    assert_eq!(variants.len(), 7);
    let mut parsed: Json = serde_json::from_str(&text).unwrap();
    let mut deep = json!(1);
    for _ in 0..66 {
        deep = json!({ "a": deep });
    }
    for variant in variants {
        let edit = variant["edit"].as_str().unwrap();
        let (text, options) = match edit {
            edit if edit.starts_with("repeat the member") => (
                text.replacen(
                    "\"version\": \"1.2\",",
                    "\"version\": \"1.2\", \"version\":\"1.2\",",
                    1,
                ),
                Options::default(),
            ),
            edit if edit.contains("bodySize") => {
                let mut edited = parsed.clone();
                edited["log"]["entries"][0]["response"]["bodySize"] = json!(9007199254740993_u64);
                (edited.to_string(), Options::default())
            }
            edit if edit.contains("content.text") => {
                let mut edited = parsed.clone();
                edited["log"]["entries"][4]["response"]["content"]["text"] = json!("AR==");
                (edited.to_string(), Options::default())
            }
            edit if edit.contains("log.version") => (
                text.replacen("\"version\": \"1.2\"", "\"version\": \"1.1\"", 1),
                Options::default(),
            ),
            "record_ordinals [1,1]" => (text.clone(), selecting(&[1, 1])),
            "record_ordinals [8]" => (text.clone(), selecting(&[8])),
            edit if edit.contains("66 objects deep") => {
                parsed["_deep"] = deep.take();
                (parsed.to_string(), Options::default())
            }
            other => panic!("{other}"),
        };
        let error = error(&with(text.as_bytes(), &options).unwrap_err());
        let expect = &variant["expect"];
        if expect["outcome"].is_string() {
            assert_eq!(error["code"], "capability_unavailable", "{edit}");
            assert_eq!(error["details"]["pointer"], "/log/version");
            continue;
        }
        assert_eq!(error["code"], expect["code"], "{edit}");
        let issue = &error["details"]["issues"][0];
        assert_eq!(issue["reason"], expect["issue_reason"], "{edit}");
        if expect["issue_path"].is_array() {
            assert_eq!(issue["path"], expect["issue_path"], "{edit}");
        }
        if expect["expected"].is_object() {
            assert_eq!(issue["expected"], expect["expected"], "{edit}");
        }
    }
}

#[test]
fn the_profile_names_the_first_fault_with_its_pointer() {
    let cases: &[(&str, Json, &str)] = &[
        ("/time", json!("12"), "/log/entries/0/time"),
        ("/time", Json::Null, "/log/entries/0/time"),
        ("/timings/wait", json!("x"), "/log/entries/0/timings/wait"),
        (
            "/startedDateTime",
            json!("yesterday"),
            "/log/entries/0/startedDateTime",
        ),
        (
            "/request/url",
            json!("/relative"),
            "/log/entries/0/request/url",
        ),
        (
            "/request/headers",
            json!([{"name": "a"}]),
            "/log/entries/0/request/headers/0",
        ),
        (
            "/request/cookies",
            json!([{"name": "a", "value": "b", "expires": ""}]),
            "/log/entries/0/request/cookies/0/expires",
        ),
        (
            "/request/postData",
            json!({"mimeType": "a", "text": null}),
            "/log/entries/0/request/postData/text",
        ),
        (
            "/request/postData",
            json!({"text": ""}),
            "/log/entries/0/request/postData",
        ),
        (
            "/response/status",
            json!(200.5),
            "/log/entries/0/response/status",
        ),
        (
            "/response/content",
            json!({}),
            "/log/entries/0/response/content",
        ),
        (
            "/cache",
            json!({"beforeRequest": {}}),
            "/log/entries/0/cache/beforeRequest",
        ),
    ];
    for (at, value, pointer) in cases {
        let text = edited(|entry| {
            let place = match entry.pointer_mut(at) {
                Some(place) => place,
                None => {
                    let (parent, name) = at.rsplit_once('/').unwrap();
                    &mut entry.pointer_mut(parent).unwrap()[name]
                }
            };
            *place = value.clone();
        });
        let (path, reason) = issue(&text);
        assert_eq!(path, json!(["capture_path", pointer]), "{at}");
        assert_eq!(reason, "invalid_format");
    }
    // What exporters write and validators let pass.
    for (at, value) in [
        ("/time", json!(-1)),
        ("/timings/wait", json!(-1)),
        (
            "/cache",
            json!({"beforeRequest": null, "afterRequest": null}),
        ),
        ("/cache", Json::Null),
        (
            "/request/cookies",
            json!([{"name": "a", "value": "b", "expires": null}]),
        ),
        ("/response/content/size", json!(-1)),
    ] {
        of(&edited(|entry| {
            *entry.pointer_mut(at).unwrap() = value.clone()
        }));
    }
    for address in ["::1", "[::1]", "127.0.0.1", ""] {
        of(&edited(|entry| entry["serverIPAddress"] = json!(address)));
    }
    let (path, _) = issue(&edited(|entry| {
        entry["serverIPAddress"] = json!("localhost")
    }));
    assert_eq!(
        path,
        json!(["capture_path", "/log/entries/0/serverIPAddress"])
    );
}

#[test]
fn mitmproxy_alone_may_have_no_body() {
    let mut log: Json = serde_json::from_slice(&edited(|entry| {
        entry["request"]["postData"] = json!({"mimeType": "", "text": null});
    }))
    .unwrap();
    assert!(with(log.to_string().as_bytes(), &Options::default()).is_err());
    log["log"]["creator"] = json!({"name": "mitmproxy", "version": "12.2.3"});
    let record = of(log.to_string().as_bytes());
    let reported = &record["normalized_result"]["records"][0]["reported"];
    assert_eq!(reported["request"]["postData"]["text"], Json::Null);
    log["log"]["creator"]["version"] = json!("12.2.2");
    assert!(with(log.to_string().as_bytes(), &Options::default()).is_err());
}

#[test]
fn base64_is_canonical_or_refused() {
    let content = |text: &str, encoding: &str| {
        edited(|entry| {
            entry["response"]["content"] =
                json!({"size": 1, "mimeType": "image/png", "text": text, "encoding": encoding});
        })
    };
    for bad in [
        "AR==",
        "A",
        "AAA",
        "AA=A",
        "A===",
        "AA==AA==",
        "-_==",
        "\u{e9}AAA",
        "AA\u{b}==",
    ] {
        let (path, _) = issue(&content(bad, "base64"));
        assert_eq!(
            path,
            json!(["capture_path", "/response/content/text"]),
            "{bad}"
        );
        // In other encodings it is text.
        let record = of(&content(bad, "Base64"));
        assert_eq!(
            record["normalized_result"]["records"][0]["binary_fields"],
            json!([])
        );
    }
    for (good, compact, bytes) in [
        ("", "", 0),
        (" A A\r\n=\t= ", "AA==", 1),
        ("AQID", "AQID", 3),
    ] {
        let record = of(&content(good, "base64"));
        let field = &record["normalized_result"]["records"][0]["binary_fields"][0];
        assert_eq!(field["content_base64"], compact);
        assert_eq!(field["bytes"], bytes);
        assert_eq!(field["state"], "retained");
    }
    // Also where it is not shown.
    let text = content("AR==", "base64");
    assert!(with(&text, &sensitive(&["response"])).is_err());
}

#[test]
fn literals_are_found_in_every_spelling() {
    // In decoded bytes, in digests, in numbers, and in names of members.
    let text = edited(|entry| {
        entry["response"]["content"] =
            json!({"size": 6, "mimeType": "a", "text": "c2VjcmV0", "encoding": "base64"});
        entry["_secret_name"] = json!({"n": 7});
        entry["_n"] = json!(424242);
        entry["_inner"] = json!(["x secret y", "plain"]);
    });
    let record = shown(&with(&text, &sensitive(&["secret", "4242"])).unwrap());
    let result = &record["normalized_result"]["records"][0];
    assert!(!record.to_string().contains("secret\""), "{record}");
    assert_eq!(result["reported"]["_n"], Json::Null);
    assert_eq!(result["reported"]["_inner"], json!([null, "plain"]));
    assert!(result["reported"].get("_secret_name").is_none());
    assert_eq!(
        result["reported"]["response"]["content"]["text"],
        Json::Null
    );
    assert_eq!(
        result["binary_fields"],
        json!([{"pointer": "/response/content/text", "representation": "har-base64-content",
            "state": "redacted", "content_base64": null, "bytes": null, "sha256": null}])
    );
    let explicit = "explicit-sensitive-value";
    assert_eq!(
        result["redactions"],
        json!([
            {"pointer": "/_inner/0", "reason": explicit},
            {"pointer": "/_n", "reason": explicit},
            {"pointer": "", "reason": explicit, "scope": "property-name"},
            {"pointer": "/response/content/text", "reason": explicit},
        ])
    );
    let literals = result["numeric_literals"].to_string();
    assert!(
        !literals.contains("4242") && !literals.contains("/n\""),
        "{literals}"
    );
}

#[test]
fn a_literal_in_the_name_of_the_list_hides_all_records() {
    let record = shown(&with(&capture(vec![entry()]), &sensitive(&["entr"])).unwrap());
    let result = &record["normalized_result"];
    assert_eq!(result["container"]["records_pointer"], Json::Null);
    assert!(
        result["container"]["reported"]["log"]
            .get("entries")
            .is_none()
    );
    let mut found = result["records"][0].clone();
    found.as_object_mut().unwrap().remove("limitations");
    let explicit = "explicit-sensitive-value";
    assert_eq!(
        found,
        json!({"ordinal": 0, "location": {"kind": "unknown", "reason": explicit},
            "reported": null, "numeric_literals": [], "binary_fields": [],
            "redactions": [{"pointer": "", "reason": explicit}]})
    );
}

#[test]
fn literals_hide_path_digest_and_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("customer-x.har");
    std::fs::write(&path, capture(vec![entry()])).unwrap();
    let record = shown(&inspect(&path, &sensitive(&["customer-x"])).unwrap());
    assert!(!record.to_string().contains("customer-x"));
    assert_eq!(record["locations"], json!([]));
    assert_eq!(record["normalized_result"]["artifact"]["path"], "");
    assert_eq!(record["parameters"]["capture_path"], "");
    let sha256 = record["normalized_result"]["artifact"]["sha256"]
        .as_str()
        .unwrap()
        .to_owned();
    let hidden = shown(&inspect(&path, &sensitive(&[&sha256[..9], "har"])).unwrap());
    assert_eq!(
        hidden["normalized_result"]["artifact"]["sha256"],
        Json::Null
    );
    assert_eq!(hidden["subject"], Json::Null);
    assert!(hidden["parameters"].get("format").is_none());
    assert_eq!(hidden["normalized_result"]["format"], "har");
    // A place that holds a literal is not told; that it is so is.
    let places = shown(&inspect(&path, &sensitive(&["entries/0"])).unwrap());
    let location = &places["normalized_result"]["records"][0]["location"];
    assert_eq!(location["kind"], "unknown");
    let said = places["limitations"].as_array().unwrap().len();
    assert_eq!(said, record["limitations"].as_array().unwrap().len() + 1);

    std::fs::write(&path, b"{").unwrap();
    let refused = error(&inspect(&path, &sensitive(&["customer-x"])).unwrap_err());
    assert!(!refused.to_string().contains("customer-x"), "{refused}");
    let missing = folder.path().join("customer-x-2");
    let refused = error(&inspect(&missing, &sensitive(&["customer-x"])).unwrap_err());
    assert!(!refused.to_string().contains("customer-x"), "{refused}");
    let twice = Options {
        record_ordinals: Some(vec![77, 77]),
        ..sensitive(&["77"])
    };
    let refused = error(&inspect(&path, &twice).unwrap_err());
    assert!(!refused.to_string().contains("77"), "{refused}");
}

#[test]
fn compressed_captures_and_marks() {
    use std::io::Write;
    let plain = capture(vec![entry()]);
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let packed = gzip(&plain);
    let record = of(&packed);
    let from_plain = of(&plain);
    assert_eq!(
        record["normalized_result"]["records"],
        from_plain["normalized_result"]["records"]
    );
    assert_eq!(
        record["normalized_result"]["artifact"]["bytes"],
        packed.len()
    );
    assert_eq!(record["limitations"].as_array().unwrap().len(), 5);

    // Two members, a cut one, one with garbage behind it.
    let (head, tail) = plain.split_at(100);
    of(&[gzip(head), gzip(tail)].concat());
    for bad in [
        packed[..packed.len() - 5].to_vec(),
        packed[..5].to_vec(),
        [&packed[..], b"xx"].concat(),
    ] {
        assert_eq!(issue(&bad).1, "invalid_format");
    }
    // A bomb, against the usual bound.
    let bomb = gzip(&vec![b' '; 40 << 20]);
    assert!(bomb.len() < 64 << 10);
    let (path, reason) = issue(&bomb);
    assert_eq!(
        (path, reason.as_str()),
        (json!(["capture_path"]), "out_of_range")
    );

    let marked = [b"\xEF\xBB\xBF", plain.as_slice()].concat();
    let record = of(&marked);
    assert_eq!(
        record["normalized_result"]["records"],
        from_plain["normalized_result"]["records"]
    );
    assert_eq!(record["limitations"].as_array().unwrap().len(), 5);
}

#[test]
fn hostile_captures() {
    // Cut at every byte.
    let text = capture(vec![entry()]);
    for length in 0..text.len() {
        let (path, reason) = issue(&text[..length]);
        assert_eq!(
            (path, reason.as_str()),
            (json!(["capture_path", ""]), "invalid_format")
        );
    }
    // The same name in another spelling, anywhere.
    let twice = String::from_utf8(edited(|entry| entry["_x"] = json!({"a": 1}))).unwrap();
    let twice = twice.replace(r#"{"a":1}"#, r#"{"a":1,"\u0061":1}"#);
    assert_eq!(issue(twice.as_bytes()).0, json!(["capture_path", ""]));
    // `__proto__` is a member like others.
    let proto = of(&edited(|entry| entry["__proto__"] = json!({"a": 2})));
    let literals = &proto["normalized_result"]["records"][0]["numeric_literals"];
    assert_eq!(literals[0]["pointer"], "/__proto__/a");
    // Nesting: 64 levels are taken, 65 are not, 10,000 neither.
    let nested = |levels: usize| {
        let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        String::from_utf8(capture(vec![entry()])).unwrap().replacen(
            '{',
            &format!("{{\"_deep\":{deep},"),
            1,
        )
    };
    of(nested(64).as_bytes());
    for levels in [65, 10_000] {
        assert_eq!(issue(nested(levels).as_bytes()).1, "out_of_range");
    }
    // 2^63 in a field of the standard, and in one of the producer's own.
    let number = |name: &str, digits: &str| {
        String::from_utf8(edited(|entry| entry["response"][name] = json!(777777)))
            .unwrap()
            .replace("777777", digits)
    };
    let (path, _) = issue(number("bodySize", "9223372036854775808").as_bytes());
    assert_eq!(
        path,
        json!(["capture_path", "/log/entries/0/response/bodySize"])
    );
    for digits in ["9223372036854775808", "1e400", "0.1000000000000000055511"] {
        let record = of(number("_own", digits).as_bytes());
        let entry = &record["normalized_result"]["records"][0];
        assert_eq!(
            entry["reported"]["response"]["_own"],
            Json::Null,
            "{digits}"
        );
        let literals = entry["numeric_literals"].as_array().unwrap();
        assert!(literals.iter().any(|row| row["literal"] == digits));
    }
    // Lone surrogates are kept.
    let lone = String::from_utf8(edited(|entry| entry["comment"] = json!("LONE"))).unwrap();
    let record = with(
        lone.replace("LONE", "\\ud800").as_bytes(),
        &Options::default(),
    )
    .unwrap();
    let out = record.canonical();
    assert!(
        String::from_utf8(out)
            .unwrap()
            .contains(r#""comment":"\ud800""#)
    );
    // Bytes that are not UTF-8.
    let mut broken = lone.into_bytes();
    let at = broken.windows(4).position(|part| part == b"LONE").unwrap();
    broken[at] = 0xFF;
    assert_eq!(issue(&broken).1, "invalid_format");
    // Other documents than captures.
    for text in [
        "null",
        "[]",
        "{}",
        r#"{"log":[]}"#,
        r#"{"log":{"entries":{}}}"#,
        "1",
        "\"x\"",
    ] {
        assert_eq!(issue(text.as_bytes()).1, "invalid_format", "{text}");
    }
}

/// A long name stands in the pointer of every number below it.
#[test]
fn places_cannot_grow_beyond_measure() {
    let name = "n".repeat(1 << 20);
    let numbers = vec!["1"; 50_000].join(",");
    let text = String::from_utf8(edited(|entry| entry["_x"] = json!({ (name): [777] }))).unwrap();
    let text = text.replace("777", &numbers);
    let error = error(&with(text.as_bytes(), &Options::default()).unwrap_err());
    assert_eq!(error["code"], "unreadable_output");
}

#[test]
fn paths_that_are_none_of_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.har");
    std::fs::write(&path, capture(vec![entry()])).unwrap();
    let link = folder.path().join("link.har");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let refused = |path: &Path, options: &Options| {
        let error = error(&inspect(path, options).unwrap_err());
        let issue = &error["details"]["issues"][0];
        format!(
            "{} {} {}",
            error["code"].as_str().unwrap(),
            issue["path"],
            issue["reason"]
        )
    };
    let usual = Options::default();
    let format = r#"invalid_request ["capture_path"] "invalid_format""#;
    assert_eq!(refused(&link, &usual), format);
    assert_eq!(refused(folder.path(), &usual), format);
    let value = r#"invalid_request ["capture_path"] "invalid_value""#;
    assert_eq!(refused(&folder.path().join("none"), &usual), value);
    assert_eq!(refused(&path.join("below"), &usual), value);
    let small = Options {
        max_bytes: 10,
        ..Options::default()
    };
    assert_eq!(
        refused(&path, &small),
        r#"invalid_request ["capture_path"] "out_of_range""#
    );
    let none = Options {
        record_ordinals: Some(Vec::new()),
        ..Options::default()
    };
    assert_eq!(
        refused(&path, &none),
        r#"invalid_request ["record_ordinals"] "invalid_format""#
    );
    let stopped = Context {
        cancellation: std::sync::Arc::new(Cancellation::default()),
        ..context()
    };
    stopped.cancellation.request(None);
    let error = har::inspect(&path, &usual, &stopped).unwrap_err();
    assert_eq!(error.code().as_str(), "cancelled");
}

/// What exporters write beside the standard, each in the form that it has
/// there (docs/environments.md).
#[test]
fn dialects_of_exporters() {
    type Edit = fn(&mut Json);
    let dialects: &[(&str, Edit)] = &[
        ("Chromium", |entry| {
            entry["_initiator"] = json!({"type": "parser", "url": "https://h/", "lineNumber": 7});
            entry["_priority"] = json!("High");
            entry["_resourceType"] = json!("document");
            entry["connection"] = json!("443");
            entry["serverIPAddress"] = json!("[2001:db8::1]");
            entry["time"] = json!(123.45600000000013);
            entry["timings"] = json!({"blocked": 2.5, "dns": -1, "ssl": -1, "connect": -1,
                "send": 0.1, "wait": 60.2, "receive": 1.0e-3, "_blocked_queueing": 1.9});
            entry["response"]["_transferSize"] = json!(517);
            entry["response"]["_error"] = Json::Null;
        }),
        ("Chromium, no connection", |entry| {
            entry["serverIPAddress"] = json!("");
            entry["response"]["status"] = json!(0);
            entry["response"]["httpVersion"] = json!("");
            entry["response"]["content"] = json!({"size": 0, "mimeType": "x-unknown"});
        }),
        ("Firefox", |entry| {
            entry["pageref"] = json!("page_1");
            entry["startedDateTime"] = json!("2026-10-05T11:00:00.000+02:00");
            entry["request"]["cookies"] = json!([{"name": "a", "value": "b", "httpOnly": true, "expires": "2027-01-01T00:00:00.000Z"}]);
            entry["request"]["postData"] = json!({"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "b"}], "text": "a=b"});
            entry["_securityState"] = json!("secure");
        }),
        ("Safari", |entry| {
            entry["_fetchType"] = json!("Network Load");
            entry["serverIPAddress"] = json!("203.0.113.7");
            entry["response"]["content"]["compression"] = json!(-12);
        }),
        ("Playwright", |entry| {
            entry["time"] = json!(-1);
            entry["_frameref"] = json!("frame@1");
            entry["response"]["content"] =
                json!({"size": 9, "mimeType": "text/html", "_file": "a1.html"});
            entry["timings"] =
                json!({"dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": -1, "receive": -1});
        }),
        ("Fiddler", |entry| {
            entry["startedDateTime"] = json!("2026-10-05T11:00:00.1234567+02:00");
            entry["connection"] = json!("ClientPort:51234;EgressPort:51235");
            entry["comment"] = json!("[#12]");
            entry["request"]["method"] = json!("CONNECT");
            entry["request"]["url"] = json!("https://h:443");
        }),
    ];
    for (exporter, edit) in dialects {
        let record = with(&edited(edit), &Options::default());
        assert!(record.is_ok(), "{exporter}: {record:?}");
    }
}

fn recorded(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/har");
    std::fs::read(folder.join(name)).unwrap()
}

/// What exporters wrote (tests/data/har/README.md): taken whole, whoever did.
/// Names and numbers are those of the application that was recorded.
#[test]
fn recordings_of_exporters_are_taken() {
    for (name, creator, records, wanted) in [
        ("chromium.har", "WebInspector", 11, 11),
        ("playwright.har", "Playwright", 11, 11),
        ("firefox.har", "Firefox", 12, 11),
        ("mitmproxy.har", "mitmproxy", 11, 11),
        ("safari.har", "WebKit Web Inspector", 7, 6),
        ("fiddler.har", "Fiddler", 3, 3),
    ] {
        let record = of(&recorded(name));
        let result = &record["normalized_result"];
        let log = &result["container"]["reported"]["log"];
        assert_eq!(log["creator"]["name"], creator, "{name}");
        assert_eq!(result["total_records"], records, "{name}");
        let found = result["records"].as_array().unwrap();
        let answered = found.iter().filter(|record| {
            let reported = &record["reported"];
            let url = reported["request"]["url"].as_str().unwrap();
            url.starts_with("http://127.0.0.1:8471/") && reported["response"]["status"] != 0
        });
        assert_eq!(answered.count(), wanted, "{name}");
        // The session that the application gives is in none of them.
        assert!(!record.to_string().contains("not-for-records"), "{name}");
        // The image is one red pixel of 69 bytes.
        let image = found
            .iter()
            .flat_map(|record| record["binary_fields"].as_array().unwrap())
            .find(|field| field["bytes"] == 69);
        assert_eq!(
            image.map(|field| &field["sha256"]),
            Some(&json!(
                "b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640"
            )),
            "{name}"
        );
    }
}

/// What exporters write against the standard is told with its place and with
/// what to do, and is taken when that was done.
#[test]
fn known_faults_of_exporters_say_what_to_do() {
    let refused = |text: &[u8], pointer: &str, tool: &str| {
        let error = error(&with(text, &Options::default()).unwrap_err());
        let issue = &error["details"]["issues"][0];
        assert_eq!(issue["path"], json!(["capture_path", pointer]), "{error}");
        let advice = error["remediation"]["action"].as_str().unwrap();
        assert!(advice.contains(tool), "{advice}");
    };
    let charles = recorded("charles.har");
    refused(&charles, "/log/entries/0/response/redirectURL", "Charles");
    let mut mended: Json = serde_json::from_slice(&charles).unwrap();
    for entry in mended["log"]["entries"].as_array_mut().unwrap() {
        entry["response"]["redirectURL"] = json!("");
    }
    let record = of(mended.to_string().as_bytes());
    assert_eq!(record["normalized_result"]["total_records"], 4);
    // Over HTTP/2 it has no text of the status.
    mended["log"]["entries"][1]["response"]["statusText"] = Json::Null;
    let place = "/log/entries/1/response/statusText";
    refused(mended.to_string().as_bytes(), place, "Charles");

    let mut safari: Json = serde_json::from_slice(&recorded("safari.har")).unwrap();
    let cookie = "/log/entries/2/response/cookies/0/expires";
    *safari.pointer_mut(cookie).unwrap() = json!("");
    refused(safari.to_string().as_bytes(), cookie, "Safari");
    *safari.pointer_mut(cookie).unwrap() = Json::Null;
    of(safari.to_string().as_bytes());

    let mut mitmproxy: Json = serde_json::from_slice(&recorded("mitmproxy.har")).unwrap();
    let content = "/log/entries/3/response/content";
    *mitmproxy.pointer_mut(content).unwrap() = json!({});
    refused(mitmproxy.to_string().as_bytes(), content, "mitmdump");

    // Fiddler offers two versions, of which one is read.
    let text = String::from_utf8(recorded("fiddler.har")).unwrap();
    let old = text.replace(r#""version":"1.2""#, r#""version":"1.1""#);
    assert!(old != text);
    let error = error(&with(old.as_bytes(), &Options::default()).unwrap_err());
    assert_eq!(error["code"], "capability_unavailable");
    assert_eq!(error["details"]["pointer"], "/log/version");
}
