//! ASAR archives: headers that lie, odd names, companions, and archives inside
//! other containers.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rea::artifact::{IntegrityPolicy, Options, inventory};
use serde_json::{Value, json};
use support::record::{
    ESCAPED, Expected, Shown, context, directory, everywhere, file, link, run, unread,
};
use support::sha256;
use support::zip::{Entry, Zip};

/// The prefix for a header of so many bytes of JSON.
fn words(json: usize) -> [u32; 4] {
    let payload = 4 + json.next_multiple_of(4) as u32;
    [4, payload + 4, payload, json as u32]
}

fn archive_of(words: [u32; 4], json: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = words.map(u32::to_le_bytes).concat();
    bytes.extend(json);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(data);
    bytes
}

fn archive(json: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Vec<u8> {
    let json = json.as_ref();
    archive_of(words(json.len()), json, data.as_ref())
}

/// An archive whose root lists these entries, given as JSON members.
fn files(entries: &str, data: impl AsRef<[u8]>) -> Vec<u8> {
    archive(format!("{{\"files\":{{{entries}}}}}"), data)
}

fn integrity(content: &[u8]) -> String {
    let hash = sha256(content);
    format!(
        r#""integrity":{{"algorithm":"SHA256","hash":"{hash}","blockSize":4194304,"blocks":["{hash}"]}}"#
    )
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The archive as a root file.
fn read_with(bytes: &[u8], options: &Options) -> Shown {
    let folder = folder();
    everywhere(&support::file(folder.path(), "app.asar", bytes), options)
}

fn read(bytes: &[u8]) -> Shown {
    read_with(bytes, &Options::default())
}

fn recording() -> Options {
    Options {
        integrity_policy: IntegrityPolicy::RecordAndContinue,
        ..Options::default()
    }
}

const DATA: &[u8] = b"data";

/// Entries of an archive with four bytes of data that make it damaged.
const LIES: &[&str] = &[
    // Ranges.
    r#""a":{"size":5,"offset":"0"}"#,
    r#""a":{"size":4,"offset":"1"}"#,
    r#""a":{"size":1,"offset":"4"}"#,
    r#""a":{"size":1,"offset":"9223372036854775807"}"#,
    r#""a":{"size":1,"offset":"9223372036854775808"}"#,
    r#""a":{"size":1,"offset":"18446744073709551615"}"#,
    r#""a":{"size":9223372036854775807,"offset":"0"}"#,
    r#""a":{"size":9223372036854775807,"offset":"9223372036854775807"}"#,
    r#""a":{"size":1}"#,
    // Offsets that are no canonical decimals.
    r#""a":{"size":1,"offset":"-1"}"#,
    r#""a":{"size":1,"offset":"+1"}"#,
    r#""a":{"size":1,"offset":"01"}"#,
    r#""a":{"size":1,"offset":"00"}"#,
    r#""a":{"size":1,"offset":""}"#,
    r#""a":{"size":1,"offset":" 1"}"#,
    r#""a":{"size":1,"offset":"1.0"}"#,
    r#""a":{"size":1,"offset":"1e0"}"#,
    r#""a":{"size":1,"offset":"0x1"}"#,
    r#""a":{"size":1,"offset":"1\u0000"}"#,
    r#""a":{"size":1,"offset":"18446744073709551616"}"#,
    r#""a":{"size":1,"offset":"00000000000000000000000000000000000000000000000000000000000000000000001"}"#,
    r#""a":{"size":0,"offset":"x"}"#,
    // Values of other types.
    r#""a":{"size":1,"offset":1}"#,
    r#""a":{"size":1,"offset":null}"#,
    r#""a":{"size":1,"offset":["1"]}"#,
    r#""a":{"size":1,"offset":{"x":"1"}}"#,
    r#""a":{"size":"1","offset":"0"}"#,
    r#""a":{"size":null,"offset":"0"}"#,
    r#""a":{"size":true,"offset":"0"}"#,
    r#""a":{"size":[1],"offset":"0"}"#,
    r#""a":{"size":{},"offset":"0"}"#,
    r#""a":{"size":-1,"offset":"0"}"#,
    r#""a":{"size":-0,"offset":"0"}"#,
    r#""a":{"size":1.5,"offset":"0"}"#,
    r#""a":{"size":1e400,"offset":"0"}"#,
    r#""a":{"size":9223372036854775808,"offset":"0"}"#,
    r#""a":{"size":18446744073709551615,"offset":"0"}"#,
    r#""a":{"size":18446744073709551616,"offset":"0"}"#,
    r#""a":{"size":0,"executable":1}"#,
    r#""a":{"size":0,"executable":null}"#,
    r#""a":{"size":0,"unpacked":"true"}"#,
    r#""a":{"size":0,"unpacked":{}}"#,
    r#""a":{"link":1}"#,
    r#""a":{"link":null}"#,
    r#""a":{"link":["b"]}"#,
    r#""a":{"files":[]}"#,
    r#""a":{"files":null}"#,
    r#""a":{"files":"b"}"#,
    r#""a":{}"#,
    r#""a":{"offset":"0"}"#,
    r#""a":[]"#,
    r#""a":null"#,
    r#""a":"b""#,
    r#""a":1"#,
    r#""a":true"#,
    // Names that stand twice.
    r#""a":{"size":0},"a":{"size":0}"#,
    r#""a":{"size":0},"b":{"size":0},"\u0061":{"size":0}"#,
    r#""\ud800":{"size":0},"\uD800":{"size":0}"#,
    r#""a":{"size":0,"size":0}"#,
    r#""a":{"files":{},"files":{}}"#,
    r#""a":{"files":{"b":{"size":0}},"size":0,"files":{"b":{"size":0}}}"#,
    r#""a":{"size":0,"more":1,"more":1}"#,
    r#""a":{"size":0,"more":[{"x":1,"x":1}]}"#,
    r#""a":{"size":0,"integrity":{"hash":"x","hash":"x"}}"#,
    // No JSON.
    r#""a":{"size":01}"#,
    r#""a":{"size":0},"#,
    r#""a""#,
    "\"\u{1}\":{\"size\":0}",
];

#[test]
fn lies_are_damage() {
    for entries in LIES {
        let shown = read(&files(entries, DATA));
        assert!(shown.is_error, "{entries}: {}", shown.text);
        shown.is_damage("format", None);
    }
    for header in [
        r#"{"x":{}}"#,
        r#"{"file":{}}"#,
        r#"{"files":[]}"#,
        r#"{"files":{}"#,
        r#"{"files":{}}}"#,
        r#"{"files":{}} {}"#,
        "{\"files\":{}}\0",
        r#"{"files":{},"files":{}}"#,
        r#"{"files":{},"x":{"y":1,"y":1}}"#,
    ] {
        let shown = read(&archive(header, DATA));
        assert!(shown.is_error, "{header}: {}", shown.text);
        shown.is_damage("format", None);
    }
    let invalid = read(&archive(b"{\"files\":{\"\xFF\":{\"size\":0}}}", DATA));
    invalid.is_damage("format", None);
}

/// Numbers and members that are odd but say what they mean.
#[test]
fn odd_but_clear_headers_are_read() {
    for entries in [
        r#""a":{"size":4,"offset":"0"}"#,
        r#""a":{"size":4.0,"offset":"0"}"#,
        r#""a":{"size":4e0,"offset":"0","x":[[],{"y":null}],"z":"text"}"#,
        r#""a":{"offset":"0","x":1e999,"size":4}"#,
        // What is wrong with the integrity declares nothing.
        r#""a":{"size":4,"offset":"0","integrity":null}"#,
        r#""a":{"size":4,"offset":"0","integrity":[1]}"#,
        r#""a":{"size":4,"offset":"0","integrity":{"algorithm":"SHA256","hash":"00"}}"#,
        r#""a":{"size":4,"offset":"0","integrity":{"algorithm":"SHA256","hash":["00"]}}"#,
        r#""a":{"size":4,"offset":"0","integrity":{"algorithm":"SHA256","hash":{"hash":"00"}}}"#,
        r#""a":{"size":4,"offset":"0","integrity":{"hash":"0000000000000000000000000000000000000000000000000000000000000000"}}"#,
        r#""a":{"size":4,"offset":"0","integrity":{"algorithm":"SHA512","hash":"0000000000000000000000000000000000000000000000000000000000000000"}}"#,
        r#""a":{"size":4,"offset":"0","integrity":{"algorithm":"SHA256","hash":"000000000000000000000000000000000000000000000000000000000000000A"}}"#,
    ] {
        read(&files(entries, DATA)).is(&Expected {
            rows: vec![file("a", DATA)],
            says: vec![],
            status: "complete",
        });
    }
    // The first of files, link and size says what an entry is.
    let entries =
        r#""d":{"size":9,"link":"x","files":{},"unpacked":true},"l":{"size":9,"link":"x"}"#;
    read(&files(entries, "")).is(&Expected {
        rows: vec![directory("d"), link("l", b"x")],
        says: vec![],
        status: "complete",
    });
    read(&files("", "")).is(&Expected {
        rows: vec![],
        says: vec![],
        status: "complete",
    });
}

#[test]
fn words_that_contradict_each_other_are_no_archive() {
    let json = br#"{"files":{}}"#;
    let good = words(json.len());
    let bad = |change: fn(&mut [u32; 4])| {
        let mut words = good;
        change(&mut words);
        archive_of(words, json, b"")
    };
    for bytes in [
        bad(|words| words[0] = 5),
        bad(|words| words[1] -= 4),
        bad(|words| words[2] += 1),
        bad(|words| words[2] = 0),
        bad(|words| words[3] = 0),
        bad(|words| words[3] = words[2] - 3),
        bad(|words| words[3] = u32::MAX),
        archive(b"[]          ", b""),
        archive(json, b"")[..16].to_vec(),
    ] {
        let shown = read(&bytes);
        assert_eq!(shown.coverage(), ("root".to_owned(), "complete".to_owned()));
        assert_eq!(shown.paths(), ["."]);
    }
    // These do not, but claim more than there is.
    let mut more = good;
    (more[1], more[2]) = (u32::MAX, u32::MAX - 4);
    read(&archive_of(more, json, b"")).is_damage("format", None);
}

#[test]
fn headers_of_17_mib_are_over_the_limit() {
    let mut json = br#"{"files":{}"#.to_vec();
    json.resize(17 << 20, b' ');
    json.push(b'}');
    let details = [
        ("reason", json!("limit")),
        ("limit", json!("asar header bytes")),
        ("value", json!(16 << 20)),
    ];
    read(&archive(&json, "")).is_error("truncated", &details);
    // The largest that is read.
    json.truncate((16 << 20) - 9);
    json.push(b'}');
    let bytes = archive(&json, "");
    assert_eq!(bytes.len(), 8 + (16 << 20));
    assert_eq!(read(&bytes).paths(), ["."]);
}

#[test]
fn depth_of_100_000() {
    const DEEP: usize = 100_000;
    let nested = |begin: &str, end: &str| begin.repeat(DEEP) + &end.repeat(DEEP);
    let folders = format!(
        "{{{}{}}}",
        r#""files":{"a":{"#.repeat(DEEP),
        "}}".repeat(DEEP)
    );
    read(&archive(folders, "")).is_limit("max_depth", 1024);
    // What is skipped may be as deep as it likes.
    let arrays = format!(r#"{{"x":{},"files":{{}}}}"#, nested("[", "]"));
    assert_eq!(read(&archive(arrays, "")).paths(), ["."]);
    let objects = format!(
        r#"{{"x":{}1{},"files":{{}}}}"#,
        "{\"\":".repeat(DEEP),
        "}".repeat(DEEP)
    );
    assert_eq!(read(&archive(objects, "")).paths(), ["."]);
    // The deepest that is listed, and one more.
    let deep = |levels: usize| {
        let begin = r#"{"files":{"a":"#.repeat(levels);
        archive(
            format!("{begin}{{\"files\":{{}}}}{}", "}}".repeat(levels)),
            "",
        )
    };
    assert_eq!(read(&deep(1024)).paths().len(), 1025);
    read(&deep(1025)).is_limit("max_depth", 1024);
    // With a higher limit, a path may still have no more than 65,535 bytes.
    let options = Options {
        max_depth: 1 << 20,
        ..Options::default()
    };
    let details = [("limit", json!("path bytes")), ("value", json!(65_535))];
    read_with(&deep(40_000), &options).is_error("truncated", &details);
    // Inside another container such an archive stays opaque.
    let folder = folder();
    let zip = Zip::of([Entry::stored("deep.asar", &deep(1025))]).build();
    let shown = everywhere(
        &support::file(folder.path(), "x.zip", &zip),
        &Options::default(),
    );
    let row = shown.row("deep.asar");
    assert!(
        row["limitations"]
            .to_string()
            .contains("deeper than the limit"),
        "{row}"
    );
}

/// A million entries fit into 16 MiB only in folders with short names.
#[test]
fn a_million_entries() {
    let names: Vec<String> = (b'0'..=b'z')
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| (byte as char).to_string())
        .collect();
    let mut inside = String::new();
    for name in &names {
        write!(
            inside,
            r#"{}"{name}":{{"size":0}}"#,
            if inside.is_empty() { "" } else { "," }
        )
        .unwrap();
    }
    let count = names.len() + 1;
    let folders = 1_000_000 / count;
    let mut entries = String::new();
    for folder in 0..folders {
        let comma = if folder == 0 { "" } else { "," };
        write!(entries, r#"{comma}"{folder:x}":{{"files":{{{inside}}}}}"#).unwrap();
    }
    let bytes = files(&entries, "");
    assert!(bytes.len() < 16 << 20, "{}", bytes.len());
    let folder = folder();
    let path = support::file(folder.path(), "app.asar", &bytes);
    let listed = inventory(&path, &Options::default(), &context(2, None)).unwrap();
    assert_eq!(listed.occurrence_count(), folders * count + 1);
    let options = Options {
        max_entries: 999,
        ..Options::default()
    };
    run(&path, &options, 2, None).is_limit("max_entries", 999);
}

/// Members that share their bytes are legal; many of them are not cheap.
#[test]
fn shared_bytes_are_charged() {
    let shared =
        r#""a":{"size":4,"offset":"0"},"b":{"size":4,"offset":"0"},"c":{"size":2,"offset":"1"}"#;
    read(&files(shared, DATA)).is(&Expected {
        rows: vec![file("a", DATA), file("b", DATA), file("c", b"at")],
        says: vec![],
        status: "complete",
    });
    let mut entries = String::new();
    for index in 0..4000 {
        let comma = if index == 0 { "" } else { "," };
        write!(
            entries,
            r#"{comma}"{index}":{{"size":1048576,"offset":"0"}}"#
        )
        .unwrap();
    }
    read(&files(&entries, vec![7; 1 << 20])).is_limit("max_compression_ratio", 1000);
}

#[test]
fn sizes_of_unpacked_members_are_charged_too() {
    let entries = r#""a":{"size":9223372036854775807,"unpacked":true}"#;
    read(&files(entries, "")).is_limit("max_entry_bytes", 64 << 30);
}

#[test]
fn odd_names_are_escaped() {
    let names: &[(&str, &str)] = &[
        ("", "%"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("/", "%2F"),
        ("/etc/x", "%2Fetc%2Fx"),
        ("a/b", "a%2Fb"),
        ("../up", "..%2Fup"),
        (r"a\\b", "a%5Cb"),
        (r"n\u0000l", "n%00l"),
        (r"C:\\x", "C%3A%5Cx"),
        (r"\ud800", "%ED%A0%80"),
        (r"\udfff%", "%ED%BF%BF%25"),
    ];
    for (name, path) in names {
        let entries = format!(r#""{name}":{{"size":4,"offset":"0"}}"#);
        read(&files(&entries, DATA)).is(&Expected {
            rows: vec![file(path, DATA).says(ESCAPED)],
            says: vec!["1 member is recorded"],
            status: "complete",
        });
        // As a folder, it makes what is below it odd as well.
        let entries = format!(r#""{name}":{{"files":{{"x":{{"size":4,"offset":"0"}}}}}}"#);
        let below = format!("{path}/x");
        read(&files(&entries, DATA)).is(&Expected {
            rows: vec![
                directory(path).says(ESCAPED),
                file(&below, DATA).says(ESCAPED),
            ],
            says: vec!["2 members are recorded"],
            status: "complete",
        });
    }
    // Characters that are ordinary here.
    let plain =
        r#""100%":{"size":4,"offset":"0"},"\ud83d\ude00":{"size":4,"offset":"0"},"...":{"size":0}"#;
    read(&files(plain, DATA)).is(&Expected {
        rows: vec![
            file("100%", DATA),
            file("\u{1F600}", DATA),
            file("...", b""),
        ],
        says: vec![],
        status: "complete",
    });
    // Two spellings of one name.
    let twice = r#""\u00e9":{"size":4,"offset":"0"},"e\u0301":{"size":2,"offset":"1"}"#;
    read(&files(twice, DATA)).is(&Expected {
        rows: vec![
            file("\u{e9}", b"at"),
            file("\u{e9}%231", DATA).says(ESCAPED),
        ],
        says: vec!["1 member is recorded", "1 name was composed"],
        status: "complete",
    });
}

#[test]
fn links_are_their_text() {
    let entries =
        r#""a":{"link":"../x/\ud800"},"b":{"link":""},"c":{"link":"C:\\x","unpacked":true}"#;
    let shown = read(&files(entries, ""));
    shown.is(&Expected {
        rows: vec![
            link("a", b"../x/\xED\xA0\x80"),
            link("b", b""),
            link("c", b"C:\\x"),
        ],
        says: vec![],
        status: "complete",
    });
    assert_eq!(shown.row("a")["link_target"], "../x/%ED%A0%80");
    assert!(shown.row("a")["declared_size"].is_null());
    let long = "x".repeat(5 << 20);
    let shown = read(&files(&format!(r#""a":{{"link":"{long}"}}"#), ""));
    shown.is(&Expected {
        rows: vec![link("a", long.as_bytes()).says("link target")],
        says: vec![],
        status: "complete",
    });
}

#[test]
fn executable_is_the_flag() {
    let entries = r#""a":{"size":0,"executable":true},"b":{"size":0,"executable":false},"c":{"files":{},"executable":true},"d":{"link":"a","executable":true}"#;
    let shown = read(&files(entries, ""));
    for (path, executable) in [("a", true), ("b", false), ("c", false), ("d", false)] {
        assert_eq!(shown.row(path)["executable"], executable, "{path}");
    }
}

#[test]
fn bytes_of_nobody_are_said() {
    let entries =
        r#""a":{"size":2,"offset":"1"},"b":{"size":1,"offset":"5"},"c":{"size":0,"offset":"99"}"#;
    let bytes = files(entries, "?aa??b??");
    let data = bytes.len() as u64 - 8;
    let ranges = format!(
        "5 bytes in 3 ranges belong to no member and no known structure: {}..{}, {}..{}, {}..{}",
        data,
        data + 1,
        data + 3,
        data + 5,
        data + 6,
        data + 8
    );
    read(&bytes).is(&Expected {
        rows: vec![file("a", b"aa"), file("b", b"b"), file("c", b"")],
        says: vec![&ranges],
        status: "complete",
    });
    // More padding behind the JSON than words need.
    let json = br#"{"files":{}}"#;
    let mut words = words(json.len());
    words[1] += 8;
    words[2] += 8;
    read(&archive_of(words, json, &[0; 8])).is(&Expected {
        rows: vec![],
        says: vec!["8 bytes in 1 range"],
        status: "complete",
    });
}

/// A small archive with one of everything that is packed.
fn sample() -> Vec<u8> {
    let entries = format!(
        r#""a":{{"size":4,"offset":"0",{}}},"d":{{"files":{{"b":{{"size":3,"offset":"4"}}}}}},"l":{{"link":"a"}}"#,
        integrity(DATA)
    );
    files(&entries, "datayes")
}

#[test]
fn truncated_at_every_byte() {
    let whole = sample();
    let folder = folder();
    for len in 0..=whole.len() {
        let path = support::file(folder.path(), "app.asar", &whole[..len]);
        let shown = run(&path, &Options::default(), 1, None);
        if len == whole.len() {
            assert_eq!(shown.paths(), [".", "a", "d", "d/b", "l"]);
        } else if len < 17 {
            assert_eq!(shown.paths(), ["."], "{len}");
        } else {
            shown.is_damage("format", None);
        }
    }
}

/// Every byte wrong: a record or an error of the contract, never a panic.
#[test]
fn every_byte_wrong() {
    let whole = sample();
    let folder = folder();
    for at in 0..whole.len() {
        for wrong in [0, 0xFF, whole[at] ^ 1, b'"', b'9', b'{'] {
            let mut bytes = whole.clone();
            bytes[at] = wrong;
            let path = support::file(folder.path(), "app.asar", &bytes);
            let shown = run(&path, &recording(), 1, None);
            if shown.is_error {
                let code = &shown.json()["code"];
                assert!(
                    code == "artifact_operation_failed" || code == "truncated",
                    "{at} {wrong}"
                );
            }
        }
    }
}

#[test]
fn declared_digests_are_checked() {
    let entries = format!(
        r#""a":{{"size":4,"offset":"0",{}}},"b":{{"size":4,"offset":"0",{}}},"c":{{"size":4,"offset":"0",{}}}"#,
        integrity(DATA),
        integrity(b"other"),
        integrity(b"more"),
    );
    let bytes = files(&entries, DATA);
    let shown = read(&bytes);
    let error = shown.json();
    assert_eq!(
        error["code"], "artifact_integrity_mismatch",
        "{}",
        shown.text
    );
    let details = json!({
        "logical_path": "b",
        "declared_sha256": sha256(b"other"),
        "calculated_sha256": sha256(DATA),
        "unpacked": false,
    });
    assert_eq!(error["details"], details);
    let shown = read_with(&bytes, &recording());
    let contradicts = "contradict";
    shown.is(&Expected {
        rows: vec![
            file("a", DATA),
            file("b", DATA).mismatched().says(contradicts),
            file("c", DATA).mismatched().says(contradicts),
        ],
        says: vec!["2 members contradict"],
        status: "complete",
    });
    let contradictions = shown.graph()["integrity_contradictions"].take();
    let seen: Vec<_> = contradictions.as_array().unwrap().iter().collect();
    assert_eq!(seen.len(), 2);
    for (found, (path, declared)) in seen.iter().zip([("b", "other"), ("c", "more")]) {
        assert_eq!(found["logical_path"], path);
        assert_eq!(found["declared_sha256"], sha256(declared.as_bytes()));
        assert_eq!(found["observed_sha256"], sha256(DATA));
        assert_eq!(found["unpacked"], false);
    }
}

/// A root archive with two unpacked members, beside which `make` puts things.
fn with_companion(make: impl FnOnce(&Path)) -> (tempfile::TempDir, Shown) {
    let entries = r#""n":{"size":4,"unpacked":true},"d":{"files":{"m":{"size":4,"unpacked":true}},"unpacked":true}"#;
    with_companion_of(entries, &Options::default(), make)
}

fn with_companion_of(
    entries: &str,
    options: &Options,
    make: impl FnOnce(&Path),
) -> (tempfile::TempDir, Shown) {
    let folder = folder();
    let path = support::file(folder.path(), "app.asar", &files(entries, ""));
    make(&folder.path().join("app.asar.unpacked"));
    let shown = everywhere(&path, options);
    (folder, shown)
}

fn refused(shown: &Shown, member: Option<&str>) {
    shown.is_error("artifact_operation_failed", &[("reason", json!("path"))]);
    let named = shown.json()["details"]["logical_path"].clone();
    assert_eq!(
        named,
        member.map_or(Value::Null, Value::from),
        "{}",
        shown.text
    );
}

#[test]
fn companions_are_read() {
    let (_folder, shown) = with_companion(|companion| {
        std::fs::create_dir_all(companion.join("d")).unwrap();
        std::fs::write(companion.join("n"), DATA).unwrap();
        std::fs::write(companion.join("d/m"), b"longer than declared").unwrap();
    });
    shown.is(&Expected {
        rows: vec![
            file("n", DATA),
            directory("d"),
            file("d/m", b"longer than declared"),
        ],
        says: vec![],
        status: "complete",
    });
    assert_eq!(shown.row("d/m")["declared_size"], 4);
    // Without a companion, or with a part of it.
    let missing = "companion";
    let (_folder, shown) = with_companion(|_| {});
    shown.is(&Expected {
        rows: vec![unread("n", missing), directory("d"), unread("d/m", missing)],
        says: vec![],
        status: "complete",
    });
    let (_folder, shown) = with_companion(|companion| {
        std::fs::create_dir(companion).unwrap();
        std::fs::write(companion.join("n"), b"").unwrap();
    });
    shown.is(&Expected {
        rows: vec![file("n", b""), directory("d"), unread("d/m", missing)],
        says: vec![],
        status: "complete",
    });
    // A link to the archive: the companion stands beside the archive itself.
    let (folder, _) = with_companion(|companion| {
        std::fs::create_dir(companion).unwrap();
        std::fs::write(companion.join("n"), DATA).unwrap();
    });
    let elsewhere = self::folder();
    let alias = elsewhere.path().join("alias.asar");
    symlink(folder.path().join("app.asar"), &alias).unwrap();
    let shown = everywhere(&alias, &Options::default());
    assert_eq!(shown.row("n")["hash_status"], "verified");
}

#[test]
fn companions_that_are_links_or_no_files_are_refused() {
    let outside = folder();
    std::fs::create_dir(outside.path().join("d")).unwrap();
    std::fs::write(outside.path().join("n"), DATA).unwrap();
    std::fs::write(outside.path().join("d/m"), DATA).unwrap();
    let (_folder, shown) = with_companion(|companion| symlink(outside.path(), companion).unwrap());
    refused(&shown, None);
    let (_folder, shown) = with_companion(|companion| std::fs::write(companion, DATA).unwrap());
    refused(&shown, None);
    let (_folder, shown) = with_companion(|companion| symlink("nowhere", companion).unwrap());
    refused(&shown, None);
    // A link in place of a file; the first in the archive is told.
    let (_folder, shown) = with_companion(|companion| {
        std::fs::create_dir_all(companion.join("d")).unwrap();
        symlink(outside.path().join("n"), companion.join("n")).unwrap();
        symlink(outside.path().join("n"), companion.join("d/m")).unwrap();
    });
    refused(&shown, Some("n"));
    // A link in place of a folder.
    let (_folder, shown) = with_companion(|companion| {
        std::fs::create_dir(companion).unwrap();
        std::fs::write(companion.join("n"), DATA).unwrap();
        symlink(outside.path().join("d"), companion.join("d")).unwrap();
    });
    refused(&shown, Some("d/m"));
    // No regular file.
    let (_folder, shown) = with_companion(|companion| {
        std::fs::create_dir_all(companion.join("n")).unwrap();
    });
    refused(&shown, Some("n"));
    let (_folder, shown) = with_companion(|companion| {
        std::fs::create_dir(companion).unwrap();
        let made = Command::new("mkfifo").arg(companion.join("n")).status();
        assert!(made.unwrap().success());
    });
    refused(&shown, Some("n"));
    // Who needs no companion does not look at it.
    let (_folder, shown) =
        with_companion_of(r#""a":{"size":0}"#, &Options::default(), |companion| {
            symlink(outside.path(), companion).unwrap();
        });
    assert_eq!(shown.paths(), [".", "a"]);
}

#[test]
fn odd_names_are_not_looked_up() {
    for (name, path) in [
        ("..", "%2E%2E/x"),
        ("", "%/x"),
        (".", "%2E/x"),
        ("../app.asar.unpacked", "..%2Fapp.asar.unpacked/x"),
        (r"n\u0000", "n%00/x"),
    ] {
        let entries = format!(r#""{name}":{{"files":{{"x":{{"size":4,"unpacked":true}}}}}}"#);
        let (_folder, shown) = with_companion_of(&entries, &Options::default(), |companion| {
            std::fs::create_dir(companion).unwrap();
            std::fs::write(companion.join("x"), DATA).unwrap();
            std::fs::write(companion.with_file_name("x"), DATA).unwrap();
        });
        let row = shown.row(path);
        assert_eq!(row["hash_status"], "unavailable", "{row}");
        assert!(
            row["limitations"].to_string().contains("companion"),
            "{row}"
        );
    }
}

#[test]
fn companions_that_contradict() {
    let entries = format!(r#""n":{{"size":4,"unpacked":true,{}}}"#, integrity(DATA));
    let make = |companion: &Path| {
        std::fs::create_dir(companion).unwrap();
        std::fs::write(companion.join("n"), b"stripped").unwrap();
    };
    let (_folder, shown) = with_companion_of(&entries, &Options::default(), make);
    let error = shown.json();
    assert_eq!(
        error["code"], "artifact_integrity_mismatch",
        "{}",
        shown.text
    );
    let details = json!({
        "logical_path": "n",
        "declared_sha256": sha256(DATA),
        "calculated_sha256": sha256(b"stripped"),
        "unpacked": true,
    });
    assert_eq!(error["details"], details);
    let (_folder, shown) = with_companion_of(&entries, &recording(), make);
    shown.is(&Expected {
        rows: vec![file("n", b"stripped").mismatched().says("contradict")],
        says: vec!["1 member contradicts"],
        status: "complete",
    });
    assert_eq!(
        shown.graph()["integrity_contradictions"][0]["unpacked"],
        true
    );
}

/// What a header says of bytes that stand elsewhere decides nothing.
#[test]
fn sizes_of_companions_are_their_own() {
    let mut image = vec![0u8; 3000];
    image[3000 - 512..3000 - 508].copy_from_slice(b"koly");
    for size in [0, 1, 3000, 1 << 30] {
        let entries = format!(r#""n.dmg":{{"size":{size},"unpacked":true}}"#);
        let (_folder, shown) = with_companion_of(&entries, &Options::default(), |companion| {
            std::fs::create_dir(companion).unwrap();
            std::fs::write(companion.join("n.dmg"), &image).unwrap();
        });
        assert_eq!(shown.row("n.dmg")["artifact_format"], "dmg", "{size}");
    }
}

/// Joined to an archive inside a folder, they play the part that they play at
/// their own place.
#[test]
fn joined_companions_keep_their_part() {
    let mut image = vec![0u8; 3000];
    image[3000 - 512..3000 - 508].copy_from_slice(b"koly");
    let folder = folder();
    let entries = r#""n.dmg":{"size":3000,"unpacked":true},"i.asar":{"size":9,"unpacked":true}"#;
    std::fs::write(folder.path().join("app.asar"), files(entries, "")).unwrap();
    std::fs::create_dir(folder.path().join("app.asar.unpacked")).unwrap();
    std::fs::write(folder.path().join("app.asar.unpacked/n.dmg"), &image).unwrap();
    std::fs::write(folder.path().join("app.asar.unpacked/i.asar"), sample()).unwrap();
    let shown = everywhere(folder.path(), &Options::default());
    for (name, format) in [("n.dmg", "dmg"), ("i.asar", "asar")] {
        for home in ["app.asar", "app.asar.unpacked"] {
            let row = shown.row(&format!("{home}/{name}"));
            assert_eq!(row["artifact_format"], format, "{row}");
            assert_eq!(row["artifact_kind"], "container", "{row}");
        }
    }
}

/// An archive with an unpacked member, and what stands beside it.
fn nested(declared: &[u8], companion: Option<&[u8]>) -> Vec<(String, Vec<u8>)> {
    let entries = format!(
        r#""a":{{"size":4,"offset":"0"}},"d":{{"files":{{"n.node":{{"size":4,"unpacked":true,{}}}}}}}"#,
        integrity(declared)
    );
    let mut files = vec![("app.asar".to_owned(), self::files(&entries, DATA))];
    if let Some(bytes) = companion {
        files.push(("app.asar.unpacked/d/n.node".to_owned(), bytes.to_vec()));
    }
    files
}

/// The same files in a folder, stored and deflated in a ZIP archive, and in
/// another ASAR archive; the path of each.
fn homes(folder: &Path, content: &[(String, Vec<u8>)]) -> Vec<std::path::PathBuf> {
    let tree = folder.join("tree");
    for (name, bytes) in content {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let stored = content
        .iter()
        .map(|(name, bytes)| Entry::stored(name, bytes));
    let deflated = content
        .iter()
        .map(|(name, bytes)| Entry::deflated(name, bytes));
    let mut data = Vec::new();
    let mut entries = String::new();
    for (name, bytes) in content {
        let node = format!(r#"{{"size":{},"offset":"{}"}}"#, bytes.len(), data.len());
        let mut parts = name.rsplit('/');
        let last = format!("\"{}\":{node}", parts.next().unwrap());
        let entry = parts.fold(last, |inner, part| {
            format!("\"{part}\":{{\"files\":{{{inner}}}}}")
        });
        entries = if entries.is_empty() {
            entry
        } else {
            format!("{entries},{entry}")
        };
        data.extend(bytes);
    }
    vec![
        tree,
        support::file(folder, "stored.zip", &Zip::of(stored).build()),
        support::file(folder, "deflated.zip", &Zip::of(deflated).build()),
        support::file(folder, "outer.asar", &files(&entries, data)),
    ]
}

#[test]
fn archives_inside_others_find_their_companions() {
    for (declared, companion, status) in [
        (DATA, Some(DATA), "verified"),
        (DATA, None, "unavailable"),
        (DATA, Some(&b"stripped"[..]), "mismatched"),
    ] {
        let folder = folder();
        for home in homes(folder.path(), &nested(declared, companion)) {
            let strict = everywhere(&home, &Options::default());
            if status == "mismatched" {
                assert_eq!(strict.json()["code"], "artifact_integrity_mismatch");
                let details = json!({
                    "logical_path": "app.asar/d/n.node",
                    "declared_sha256": sha256(DATA),
                    "calculated_sha256": sha256(b"stripped"),
                    "unpacked": true,
                });
                assert_eq!(strict.json()["details"], details);
            }
            let shown = everywhere(&home, &recording());
            let row = shown.row("app.asar/d/n.node");
            assert_eq!(row["hash_status"], status, "{}: {row}", home.display());
            assert_eq!(row["artifact_kind"], "native-addon");
            assert_eq!(row["declared_size"], 4);
            if let Some(bytes) = companion {
                let twin = shown.row("app.asar.unpacked/d/n.node");
                assert_eq!(row["artifact_id"], twin["artifact_id"]);
                let nodes = shown.graph()["nodes"].take();
                let mut nodes = nodes.as_array().unwrap().iter();
                let node = nodes.find(|node| node["artifact_id"] == row["artifact_id"]);
                assert_eq!(node.unwrap()["sha256"], sha256(bytes));
            } else {
                assert!(
                    row["limitations"].to_string().contains("companion"),
                    "{row}"
                );
            }
            let count = shown.graph()["integrity_contradictions"]
                .as_array()
                .unwrap()
                .len();
            assert_eq!(count, usize::from(status == "mismatched"));
            assert_eq!(shown.row("app.asar/a")["hash_status"], "verified");
        }
    }
}

/// In a folder, a companion that is a link is not followed.
#[test]
fn a_linked_companion_in_a_folder_is_missing() {
    let folder = folder();
    let outside = self::folder();
    std::fs::create_dir(outside.path().join("d")).unwrap();
    std::fs::write(outside.path().join("d/n.node"), DATA).unwrap();
    std::fs::write(folder.path().join("app.asar"), &nested(DATA, None)[0].1).unwrap();
    symlink(outside.path(), folder.path().join("app.asar.unpacked")).unwrap();
    let shown = everywhere(folder.path(), &Options::default());
    assert_eq!(shown.row("app.asar/d/n.node")["hash_status"], "unavailable");
}

#[test]
fn contradicted_archives_stay_opaque() {
    let inner = nested(DATA, None).remove(0).1;
    let entries = format!(
        r#""inner.asar":{{"size":{},"offset":"0",{}}},"b":{{"size":4,"offset":"0"}}"#,
        inner.len(),
        integrity(b"another archive")
    );
    let outer = files(&entries, &inner);
    let shown = read_with(&outer, &recording());
    assert_eq!(shown.paths(), [".", "b", "inner.asar"]);
    let row = shown.row("inner.asar");
    assert_eq!(row["hash_status"], "mismatched");
    assert_eq!(row["artifact_kind"], "container");
    assert!(
        row["limitations"]
            .to_string()
            .contains("members are not listed"),
        "{row}"
    );
    assert_eq!(
        shown.graph()["integrity_contradictions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    read(&outer).is_error(
        "artifact_integrity_mismatch",
        &[("logical_path", json!("inner.asar"))],
    );
}

#[test]
fn damaged_archives_inside_others_stay_opaque() {
    let folder = folder();
    for entries in [LIES[0], LIES[10], r#""a":{},"a":{}"#] {
        let content = [("app.asar".to_owned(), files(entries, DATA))];
        for home in homes(folder.path(), &content) {
            let shown = everywhere(&home, &Options::default());
            assert_eq!(shown.paths(), [".", "app.asar"], "{entries}");
            let row = shown.row("app.asar");
            assert_eq!(row["artifact_format"], "asar");
            assert!(
                row["limitations"].to_string().contains("damaged container"),
                "{row}"
            );
            assert_eq!(shown.coverage().1, "complete");
        }
    }
}

/// An unpacked member of a root archive may be an archive itself.
#[test]
fn unpacked_archives_are_expanded() {
    let zip = Zip::of([Entry::deflated("x.txt", DATA)]).build();
    let entries = format!(
        r#""z.zip":{{"size":1,"unpacked":true,{}}}"#,
        integrity(&zip)
    );
    let (_folder, shown) = with_companion_of(&entries, &Options::default(), |companion| {
        std::fs::create_dir(companion).unwrap();
        std::fs::write(companion.join("z.zip"), &zip).unwrap();
    });
    assert_eq!(shown.paths(), [".", "z.zip", "z.zip/x.txt"]);
    // In a folder it is expanded where it stands, and its other name says so.
    let folder = folder();
    std::fs::write(folder.path().join("app.asar"), files(&entries, "")).unwrap();
    std::fs::create_dir(folder.path().join("app.asar.unpacked")).unwrap();
    std::fs::write(folder.path().join("app.asar.unpacked/z.zip"), &zip).unwrap();
    let shown = everywhere(folder.path(), &Options::default());
    let row = shown.row("app.asar/z.zip");
    assert_eq!(row["hash_status"], "verified");
    assert!(
        row["limitations"].to_string().contains("companion"),
        "{row}"
    );
    shown.row("app.asar.unpacked/z.zip/x.txt");
    assert!(!shown.paths().contains(&"app.asar/z.zip/x.txt".to_owned()));
}
