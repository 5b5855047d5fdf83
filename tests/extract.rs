//! Extraction: the contract's vectors, hostile archives, and what is left
//! behind when it fails.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rea::artifact::glob::Glob;
use rea::artifact::{Extraction, ExtractionRequest, IntegrityPolicy, OnDamage, Options, extract};
use rea::evidence::{Record, Status, verify_both_ways};
use rea::json::{Limits, Value as Json, canonical};
use rea::operation::Context;
use serde_json::{Value, json};
use support::inputs::Inputs;
use support::zip::{Entry, Zip};
use support::{file, sha256};

const REA: &str = env!("CARGO_BIN_EXE_rea");

fn context() -> Context {
    Context::new("extract_artifact")
}

/// Extracts into `folder/out`.
fn run(
    path: &Path,
    folder: &Path,
    patterns: &[&str],
    options: &Options,
) -> Result<Extraction, rea::Error> {
    let request = ExtractionRequest {
        patterns: patterns.iter().map(|p| Glob::new(p).unwrap()).collect(),
        into: Some(folder.join("out")),
    };
    extract(path, &request, options, &context())
}

fn record(extraction: &Extraction) -> Value {
    let text = extraction.canonical();
    let (streamed, replayed) = verify_both_ways(&text);
    for report in [streamed.unwrap(), replayed.unwrap()] {
        assert_eq!(report.status, Status::Verified, "{:?}", report.problems);
    }
    serde_json::from_slice(&text).unwrap()
}

/// All files below a folder with their content; nothing but private files and
/// folders may be there.
fn found(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn list(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
            if kind.is_dir() {
                assert_eq!(mode, 0o700, "{}", entry.path().display());
                list(root, &entry.path(), files);
            } else {
                assert!(kind.is_file());
                assert_eq!(mode, 0o600, "{}", entry.path().display());
                let path = entry.path();
                let path = path.strip_prefix(root).unwrap().to_str().unwrap();
                files.insert(path.to_owned(), std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    list(folder, folder, &mut files);
    files
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn vector(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/artifacts/observed");
    serde_json::from_slice(&std::fs::read(path.join(name)).unwrap()).unwrap()
}

/// SHA-256 of the canonical JSON.
fn hash(value: &Value) -> String {
    let value = Json::parse(value.to_string().as_bytes(), Limits::default()).unwrap();
    let text = canonical(&value);
    sha256(&text)
}

/// The vectors are of an older form: their ids are recomputed from their own
/// rows, and ours must have the same files. What else differs: schema versions
/// and pages are gone (vectors/artifacts/index.json), the limitation is ours.
#[test]
fn the_contracts_extractions() {
    let inputs = Inputs::new();
    for (name, input) in [
        ("extract.app.json", "app.asar"),
        ("extract.basic.json", "basic.zip"),
    ] {
        let vector = vector(name);
        let result = &vector["normalized_result"];
        let items = &result["artifacts"]["items"];
        let mut manifest = result["extraction_manifest"].clone();
        let id = manifest
            .as_object_mut()
            .unwrap()
            .remove("extraction_id")
            .unwrap();
        assert_eq!(manifest["files_sha256"], hash(items));
        assert_eq!(id, format!("aex_{}", hash(&manifest)));

        let rows = items.as_array().unwrap();
        let paths: Vec<&str> = rows
            .iter()
            .map(|row| row["relative_path"].as_str().unwrap())
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let extraction = run(
            &inputs.path(input),
            folder.path(),
            &paths,
            &Options::default(),
        )
        .unwrap();
        let ours = record(&extraction);
        let result = &ours["normalized_result"];
        let files = found(&folder.path().join("out"));
        assert_eq!(files.len(), rows.len());
        for (row, expected) in result["artifacts"].as_array().unwrap().iter().zip(rows) {
            for member in ["relative_path", "sha256", "bytes_written", "created"] {
                assert_eq!(row[member], expected[member]);
            }
            let sha = row["sha256"].as_str().unwrap();
            assert_eq!(
                row["artifact_id"],
                format!("art_{}", hash(&json!({"sha256": sha})))
            );
            assert_eq!(sha256(&files[row["relative_path"].as_str().unwrap()]), sha);
        }
        // The current recipes, over our own rows.
        let mut manifest = result["extraction_manifest"].clone();
        let id = manifest
            .as_object_mut()
            .unwrap()
            .remove("extraction_id")
            .unwrap();
        assert_eq!(manifest["files_sha256"], hash(&result["artifacts"]));
        assert_eq!(id, format!("aex_{}", hash(&manifest)));
        assert_eq!(
            manifest["source_manifest_id"],
            result["manifest"]["manifest_id"]
        );
        let selected = manifest["selected_occurrence_ids"].as_array().unwrap();
        assert!(selected.is_sorted_by(|a, b| a.as_str() < b.as_str()));
        assert_eq!(selected.len(), rows.len());
        for member in [
            "cleanup",
            "containment_verified",
            "provenance",
            "output_root",
        ] {
            assert_eq!(result[member], vector["normalized_result"][member]);
        }
        assert_eq!(manifest["output_root_alias"], "$OUTPUT_ROOT");
        assert_eq!(ours["locations"], vector["locations"]);
        for member in ["confidence", "authority", "operation"] {
            assert_eq!(ours[member], vector[member]);
        }
        assert_eq!(
            ours["parameters"],
            json!({"integrity_policy": "fail", "path": paths})
        );
        assert!(!ours.to_string().contains(folder.path().to_str().unwrap()));
    }
}

fn error_of(result: Result<Extraction, rea::Error>) -> (String, String) {
    let error = result.err().expect("it is refused");
    let reason = error.details().get("reason").and_then(Json::as_str);
    (
        error.code().as_str().to_owned(),
        reason.unwrap_or_default().to_owned(),
    )
}

#[test]
fn the_contracts_refusals() {
    let inputs = Inputs::new();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let go = |input: &str, patterns: &[&str]| {
        let result = run(&inputs.path(input), out, patterns, &Options::default());
        assert!(names(out).is_empty(), "{input}");
        result
    };
    let (code, _) = error_of(go("tampered.asar", &[]));
    assert_eq!(code, "artifact_integrity_mismatch");
    // No members: refused before anything is written.
    assert_eq!(error_of(go("tool.elf", &[])).0, "unsupported_target");
    // The companion is not there.
    let missing = go("missing-unpacked.asar", &[]).err().unwrap();
    assert_eq!(
        missing.details().get("reason").unwrap().as_str(),
        Some("unavailable")
    );
    assert_eq!(
        missing.details().get("logical_path").unwrap().as_str(),
        Some("native.node")
    );
    // A link and a folder, when they are named.
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        error_of(go("app.asar", &["alias.js"])),
        pair("artifact_operation_failed", "format")
    );
    assert_eq!(error_of(go("basic.zip", &["dir"])).0, "invalid_request");
    assert_eq!(
        error_of(go("basic.zip", &["nothing*"])).0,
        "invalid_request"
    );
}

#[test]
fn encrypted_members_are_passed_over_and_said_unless_named() {
    let secret = Entry::raw("secret", 0, vec![7; 20], 8, 0x1234_5678);
    let secret = secret.both(|header| header.flags |= 1);
    let zip = Zip::of([secret, Entry::stored("open", b"open")]);
    let place = tempfile::tempdir().unwrap();
    let input = file(place.path(), "encrypted.zip", &zip.build());
    let folder = tempfile::tempdir().unwrap();
    let record = record(&run(&input, folder.path(), &[], &Options::default()).unwrap());
    let files = found(&folder.path().join("out"));
    let result = &record["normalized_result"];
    assert_eq!(result["artifacts"].as_array().unwrap().len(), files.len());
    let said = result["limitations"].to_string();
    assert!(said.contains("1 encrypted members were selected"), "{said}");

    assert_eq!(files.keys().collect::<Vec<_>>(), ["open"]);
    let other = tempfile::tempdir().unwrap();
    let named = run(&input, other.path(), &["secret"], &Options::default());
    assert_eq!(error_of(named).0, "unsupported_target");
    assert!(names(other.path()).is_empty());
}

#[test]
fn a_contradicted_member_is_written_as_it_is_when_told_to() {
    let inputs = Inputs::new();
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        integrity_policy: IntegrityPolicy::RecordAndContinue,
        ..Options::default()
    };
    let input = inputs.path("tampered.asar");
    let record = record(&run(&input, folder.path(), &["main.js"], &options).unwrap());
    let said = record["normalized_result"]["integrity_contradictions"]
        .as_array()
        .unwrap();
    // The other one is of a file that is not extracted.
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["logical_path"], "main.js");
    let file = &found(&folder.path().join("out"))["main.js"];
    assert_eq!(said[0]["observed_sha256"], sha256(file));
}

/// Names that would lead out of the folder, or into each other.
#[test]
fn hostile_names_stay_inside() {
    let members: &[(&[u8], &str)] = &[
        (b"../up", "%2E%2E/up"),
        (b"/etc/passwd", "%2Fetc/passwd"),
        (b"a/../../b", "a/%2E%2E/%2E%2E/b"),
        (b"./dot", "%2E/dot"),
        (b"C:\\windows\\x", "C%3A%5Cwindows%5Cx"),
        (b"nul\0byte", "nul%00byte"),
        // Not UTF-8, and so code page 437 (decision 5).
        (b"bad\xE9", "bad\u{398}"),
        (b"file", "file"),
        (b"file/below", "file%2F/below"),
        (b"plain.txt", "plain.txt"),
        (b"Case", "Case"),
        (b"case", "case"),
    ];
    let zip = Zip::of(
        members
            .iter()
            .map(|(name, path)| Entry::deflated(*name, path.as_bytes())),
    );
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "hostile.zip", &zip.build());
    let extraction = run(&input, folder.path(), &[], &Options::default()).unwrap();
    let record = record(&extraction);
    let files = found(&folder.path().join("out"));
    let listed: Vec<&str> = record["normalized_result"]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["relative_path"].as_str().unwrap())
        .collect();
    assert_eq!(listed, files.keys().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(files.len(), members.len());
    // Every file holds what its entry was, under the escaped path.
    for (name, path) in members {
        let shown = String::from_utf8_lossy(name).into_owned();
        let held = files
            .get(*path)
            .unwrap_or_else(|| panic!("{shown}: {files:?}"));
        assert_eq!(held, path.as_bytes(), "{shown}");
    }
    assert_eq!(names(folder.path()), ["hostile.zip", "out"]);
}

#[test]
fn links_are_never_followed_or_made() {
    let zip = Zip::of([
        Entry::symlink("d", b"/tmp"),
        Entry::stored("d/escaped", b"kept inside"),
        Entry::stored("x", b"1"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "links.zip", &zip.build());
    let extraction = run(&input, folder.path(), &[], &Options::default()).unwrap();
    let record = record(&extraction);
    let files = found(&folder.path().join("out"));
    assert!(files.values().any(|bytes| bytes == b"kept inside"));
    assert_eq!(files.len(), 2);
    let said = record["normalized_result"]["limitations"].to_string();
    assert!(said.contains("1 symbolic links were selected"), "{said}");
    assert!(!Path::new("/tmp/escaped").exists());
}

#[test]
fn the_destination_must_be_fresh() {
    let inputs = Inputs::new();
    let input = inputs.path("basic.zip");
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    symlink(&kept, folder.path().join("link")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    file(folder.path(), "file", b"x");
    for name in ["kept", "link", "dangling", "file", ".."] {
        let request = ExtractionRequest {
            patterns: Vec::new(),
            into: Some(folder.path().join(name)),
        };
        let refused = extract(&input, &request, &Options::default(), &context());
        let expected = ("artifact_operation_failed".to_owned(), "path".to_owned());
        assert_eq!(error_of(refused), expected, "{name}");
    }
    let request = ExtractionRequest {
        patterns: Vec::new(),
        into: Some(folder.path().join("no/where")),
    };
    let refused = extract(&input, &request, &Options::default(), &context());
    assert_eq!(error_of(refused).1, "unavailable");
    assert!(names(&kept).is_empty());
    assert_eq!(names(folder.path()), ["dangling", "file", "kept", "link"]);
}

#[test]
fn without_a_destination_a_fresh_temporary_folder() {
    let inputs = Inputs::new();
    let request = ExtractionRequest::default();
    let input = inputs.path("basic.zip");
    let one = extract(&input, &request, &Options::default(), &context()).unwrap();
    let two = extract(&input, &request, &Options::default(), &context()).unwrap();
    assert_ne!(one.output_root(), two.output_root());
    assert_eq!(one.id(), two.id());
    for extraction in [one, two] {
        assert_eq!(
            found(extraction.output_root()).len(),
            extraction.files().len()
        );
        let mode = std::fs::metadata(extraction.output_root())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o700);
        std::fs::remove_dir_all(extraction.output_root()).unwrap();
    }
}

/// Containers in containers of every kind that is walked differently.
#[test]
fn members_of_members_make_folders_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir_all(tree.join("sub")).unwrap();
    let inner = Zip::of([
        Entry::deflated("deep.txt", b"deep"),
        Entry::stored("same", b"same"),
    ]);
    let outer = Zip::of([
        Entry::stored("stored.zip", &inner.build()),
        Entry::deflated("deflated.zip", &inner.build()),
        Entry::deflated("top.txt", b"top"),
    ]);
    file(&tree, "outer.zip", &outer.build());
    file(&tree.join("sub"), "same", b"same");
    // A tar with the ZIP, a hard link to it and one to a file.
    for (name, bytes) in [("a.zip", outer.build()), ("data", b"data".to_vec())] {
        file(&tree, name, &bytes);
    }
    std::fs::hard_link(tree.join("data"), tree.join("hard")).unwrap();
    let tar = |arguments: &[&str]| {
        let status = Command::new("tar")
            .args(arguments)
            .current_dir(&tree)
            .status();
        assert!(status.unwrap().success());
    };
    tar(&["-czf", "packed.tgz", "a.zip", "data", "hard"]);
    for name in ["a.zip", "data", "hard"] {
        std::fs::remove_file(tree.join(name)).unwrap();
    }

    let own = tempfile::tempdir().unwrap();
    run(&tree, own.path(), &[], &Options::default()).unwrap();
    let files = found(&own.path().join("out"));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["outer.zip", "packed.tgz", "sub/same"]
    );
    assert_eq!(files["outer.zip"], outer.build());

    let every = tempfile::tempdir().unwrap();
    let extraction = run(&tree, every.path(), &["**"], &Options::default()).unwrap();
    let files = found(&every.path().join("out"));
    let expected: BTreeMap<String, Vec<u8>> = ["outer.zip", "packed.tgz/a.zip"]
        .iter()
        .flat_map(|zip| {
            [
                (format!("{zip}/top.txt"), b"top".to_vec()),
                (format!("{zip}/stored.zip/deep.txt"), b"deep".to_vec()),
                (format!("{zip}/stored.zip/same"), b"same".to_vec()),
                (format!("{zip}/deflated.zip/deep.txt"), b"deep".to_vec()),
                (format!("{zip}/deflated.zip/same"), b"same".to_vec()),
            ]
        })
        .chain([
            ("packed.tgz/data".to_owned(), b"data".to_vec()),
            ("packed.tgz/hard".to_owned(), b"data".to_vec()),
            ("sub/same".to_owned(), b"same".to_vec()),
        ])
        .collect();
    assert_eq!(files, expected);
    let said = extraction.limitations().join(" ");
    // outer.zip, packed.tgz, packed.tgz/a.zip, and two in each of the ZIPs.
    assert!(
        said.contains("7 containers were selected together"),
        "{said}"
    );

    // Threads change nothing; a hard link alone gets its bytes.
    for threads in [1, 2, 16] {
        let again = tempfile::tempdir().unwrap();
        let request = ExtractionRequest {
            patterns: vec![Glob::new("**").unwrap()],
            into: Some(again.path().join("out")),
        };
        let context = Context {
            threads,
            ..context()
        };
        let again = extract(&tree, &request, &Options::default(), &context).unwrap();
        assert_eq!(again.id(), extraction.id());
    }
    let link = tempfile::tempdir().unwrap();
    run(
        &tree,
        link.path(),
        &["packed.tgz/hard", "**/deflated.zip/same"],
        &Options::default(),
    )
    .unwrap();
    let files = found(&link.path().join("out"));
    assert_eq!(files.len(), 3);
    assert_eq!(files["packed.tgz/hard"], b"data");
}

/// Many containers side by side, read by many threads, in containers that are.
#[test]
fn many_containers_at_once() {
    let inner = Zip::of((0..5).map(|n| Entry::deflated(format!("f{n}"), &[n; 50])));
    let inner = inner.build();
    let middle = Zip::of((0..3).map(|n| Entry::deflated(format!("m{n}.zip"), &inner)));
    let middle = middle.build();
    let outer = Zip::of((0..60).map(|n| Entry::stored(format!("o{n}.zip"), &middle)));
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "outer.zip", &outer.build());
    let request = ExtractionRequest {
        patterns: vec![Glob::new("**").unwrap()],
        into: Some(folder.path().join("out")),
    };
    let context = Context {
        threads: 16,
        ..context()
    };
    let extraction = extract(&input, &request, &Options::default(), &context).unwrap();
    assert_eq!(extraction.files().len(), 60 * 3 * 5);
    assert_eq!(found(&folder.path().join("out")).len(), 60 * 3 * 5);
}

#[test]
fn a_bomb_ends_at_its_budget_and_leaves_nothing() {
    let (payload, crc) = support::zip::zeros(64 << 20);
    let zip = Zip::of([Entry::raw("zeros", 8, payload, 64 << 20, crc)]);
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "bomb.zip", &zip.build());
    let options = Options {
        max_total_bytes: 1 << 20,
        ..Options::default()
    };
    let (code, reason) = error_of(run(&input, folder.path(), &[], &options));
    assert_eq!((code.as_str(), reason.as_str()), ("truncated", "limit"));
    assert_eq!(names(folder.path()), ["bomb.zip"]);
}

/// A ustar header.
fn header(name: &str, kind: u8, size: usize, link: &str) -> Vec<u8> {
    let mut header = vec![0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[148..156].copy_from_slice(b"        ");
    header[156] = kind;
    header[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

/// Content behind a header, filled up to whole blocks.
fn padded(content: &[u8]) -> Vec<u8> {
    let mut out = content.to_vec();
    out.resize(content.len().next_multiple_of(512), 0);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// One file of 100 KB and 1,000 names of it: 100 MB of files.
#[test]
fn copies_have_a_budget() {
    let mut tar = header("file", b'0', 100_000, "");
    tar.extend(padded(&vec![b'x'; 100_000]));
    for number in 0..1000 {
        tar.extend(header(&format!("link{number}"), b'1', 0, "file"));
    }
    tar.extend([0; 1024]);
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "links.tar.gz", &gzip(&tar));
    let options = Options {
        max_total_bytes: 10_000_000,
        ..Options::default()
    };
    let error = run(&input, folder.path(), &[], &options).err().unwrap();
    assert_eq!(error.code().as_str(), "truncated");
    let detail = |name: &str| error.details().get(name).cloned();
    assert_eq!(detail("reason"), Some("limit".into()));
    assert_eq!(detail("limit"), Some("max_total_bytes".into()));
    assert_eq!(detail("value"), Some(10_000_000u64.into()));
    assert_eq!(detail("option"), Some("--max-total-bytes".into()));
    assert_eq!(detail("selected_bytes"), Some(100_100_000u64.into()));
    assert_eq!(names(folder.path()), ["links.tar.gz"]);
    // What fits is written.
    let some = run(&input, folder.path(), &["link?", "file"], &options).unwrap();
    assert_eq!(some.files().len(), 11);
}

#[test]
fn paths_that_no_file_system_takes_are_passed_over_and_said() {
    let long = "a/".repeat(32_000) + "f";
    let deep = "d/".repeat(257) + "f";
    let wide = format!("{}f", "w".repeat(200) + "/").repeat(20);
    let fits = "e/".repeat(256) + "f";
    let zip = Zip::of([
        Entry::stored(&*long, b"1"),
        Entry::stored(&*deep, b"2"),
        Entry::stored(&*wide, b"3"),
        Entry::stored(&*fits, b"4"),
        Entry::stored("plain", b"5"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "long.zip", &zip.build());
    let begun = Instant::now();
    let options = Options {
        max_depth: 100_000,
        ..Options::default()
    };
    let extraction = run(&input, folder.path(), &[], &options).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30));
    let said = extraction.limitations().join(" ");
    assert!(
        said.contains("3 members were selected whose path has more than 4000 bytes or more than 256 folders; they were not written."),
        "{said}"
    );
    let files = found(&folder.path().join("out"));
    assert_eq!(files.keys().collect::<Vec<_>>(), [&fits, "plain"]);

    let other = tempfile::tempdir().unwrap();
    let named = run(&input, other.path(), &[&deep], &options);
    assert_eq!(
        error_of(named),
        ("artifact_operation_failed".to_owned(), "path".to_owned())
    );
    assert!(names(other.path()).is_empty());
}

/// Few files are flushed one by one, many together; either way their absolute
/// paths may be longer than any name that the system takes.
#[test]
fn long_paths_reach_the_disk_however_many_there_are() {
    for count in [255, 300] {
        let path = format!("{}/", "p".repeat(200)).repeat(19);
        let zip = Zip::of((0..count).map(|n| Entry::stored(format!("{path}{n}"), b"x")));
        let folder = tempfile::tempdir().unwrap();
        let mut place = folder.path().to_owned();
        for _ in 0..5 {
            place.push("q".repeat(200));
        }
        std::fs::create_dir_all(&place).unwrap();
        let input = file(folder.path(), "long.zip", &zip.build());
        let extraction = run(&input, &place, &[], &Options::default()).unwrap();
        assert_eq!(extraction.files().len(), count);
        assert_eq!(names(&place), ["out"]);
    }
}

#[test]
fn the_destination_is_outside_of_what_is_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir_all(tree.join("sub")).unwrap();
    file(&tree, "file", b"x");
    symlink(&tree, folder.path().join("alias")).unwrap();
    for into in [tree.clone(), tree.join("sub"), folder.path().join("alias")] {
        let refused = run(&tree, &into, &[], &Options::default());
        let error = refused.err().unwrap();
        assert!(error.message().contains("is inside of"), "{error}");
        assert!(error.remedy().contains("--into"));
        assert_eq!(error.details().get("reason"), Some(&"path".into()));
        assert_eq!(names(&tree), ["file", "sub"]);
    }
    // A folder whose name begins alike is another one.
    let beside = folder.path().join("tree2");
    std::fs::create_dir(&beside).unwrap();
    run(&tree, &beside, &[], &Options::default()).unwrap();
}

#[test]
fn how_patterns_are_spelled_changes_nothing() {
    let zip = Zip::of([Entry::stored("plain", b"1"), Entry::stored("other", b"2")]);
    let place = tempfile::tempdir().unwrap();
    let input = file(place.path(), "a.zip", &zip.build());
    let id = |patterns: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let done = run(&input, folder.path(), patterns, &Options::default()).unwrap();
        let unused = done.unused_patterns().to_vec();
        (record(&done), unused)
    };
    let (one, unused) = id(&["plain", "x[ab]*", "y?"]);
    assert_eq!(unused, ["x[ab]*", "y?"]);
    assert_eq!(one["parameters"]["path"], json!(["plain", "x[a-b]*", "y?"]));
    let (other, unused) = id(&["y?", "[p]lain", "x[ba]*", "plain", "y?"]);
    assert_eq!(unused, ["x[ba]*", "y?"]);
    assert_eq!(one, other);
    let said = one["limitations"].to_string();
    assert!(said.contains("2 of the patterns selected nothing."));

    // A name that is not there is an error, whatever else is.
    let folder = tempfile::tempdir().unwrap();
    let missing = run(&input, folder.path(), &["*", "lain"], &Options::default());
    let error = missing.err().unwrap();
    assert_eq!(error.code().as_str(), "invalid_request");
    assert_eq!(error.message(), "there is no member lain");
    assert!(names(folder.path()).is_empty());
}

#[test]
fn the_real_folder_is_said_and_the_record_is_not_put_there() {
    let folder = tempfile::tempdir().unwrap();
    let zip = Zip::of([Entry::stored("plain", b"1")]);
    file(folder.path(), "a.zip", &zip.build());
    std::fs::create_dir(folder.path().join("real")).unwrap();
    symlink("real", folder.path().join("alias")).unwrap();
    let rea = |arguments: &[&str]| {
        let mut command = Command::new(REA);
        command.args(["extract-artifact", "a.zip"]).args(arguments);
        command.current_dir(folder.path()).output().unwrap()
    };
    let real = folder.path().canonicalize().unwrap().join("real/out");
    let arguments = ["--into", "alias/out", "--path", "*", "--path", "z*"];
    let output = rea(&[&arguments[..], &["--format", "report"]].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = format!("1 file (1 B) in {}\nz* selected nothing\n", real.display());
    assert_eq!(stderr, expected);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.contains(&format!("folder    {}\n", real.display())),
        "{stdout}"
    );
    assert!(stdout.contains("Patterns that selected nothing\n  \u{2022} z*\n"));

    for file in ["x", "./x", "x/record.json"] {
        let output = rea(&["--into", "x", "-o", file]);
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["code"], "invalid_request", "{error}");
        assert_eq!(error["error"]["details"]["issues"][0]["path"][0], "output");
    }
    assert!(!folder.path().join("x").exists());
}

#[test]
fn a_damaged_root_gives_what_could_be_read_when_told_to() {
    let zip = Zip::of([
        Entry::stored("good", b"good"),
        Entry::stored("bad", b"bad!").with(|entry| entry.payload[0] ^= 1),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "damaged.zip", &zip.build());
    let refused = error_of(run(&input, folder.path(), &[], &Options::default()));
    assert_eq!(refused.1, "integrity");
    let options = Options {
        on_damage: OnDamage::Record,
        ..Options::default()
    };
    let extraction = run(&input, folder.path(), &[], &options).unwrap();
    let files = found(&folder.path().join("out"));
    assert_eq!(files["good"], b"good");
    // The bytes that are there, as the inventory has them.
    assert_eq!(files["bad"], b"cad!");
    assert_eq!(extraction.files().len(), 2);
}

/// An archive of many files of a few megabytes in all.
fn many(folder: &Path) -> PathBuf {
    let mut state = 1u64;
    let entries = (0..400).map(|number| {
        let bytes: Vec<u8> = (0..20_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        Entry::stored(format!("folder{}/file{number}", number % 9), &bytes)
    });
    let zip = Zip::of(entries.collect::<Vec<_>>());
    file(folder, "many.zip", &zip.build())
}

fn rea(input: &Path, into: &Path) -> Command {
    let mut command = Command::new(REA);
    command
        .args(["extract-artifact", "-j", "1", "-q"])
        .arg(input)
        .arg("--into")
        .arg(into)
        .stdin(Stdio::null());
    command
}

/// On a file system of one megabyte: an error, and nothing left.
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let input = many(folder.path());
    let mount = folder.path().join("small");
    std::fs::create_dir(&mount).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1m small {mount} || exit 99
         {REA} extract-artifact {input} --into {mount}/out > /dev/null; echo status $?
         ls -A {mount}",
        mount = mount.display(),
        input = input.display(),
    );
    // As root in a mount namespace of our own; else as root of our own.
    let attempts = [vec!["-m"], vec!["-rm"]];
    let mut last = None;
    for flags in attempts {
        let output = Command::new("unshare")
            .args(flags)
            .args(["sh", "-c", &script])
            .output()
            .unwrap();
        let done = output.status.code() == Some(0);
        last = Some(output);
        if done {
            break;
        }
    }
    let output = last.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(0),
        "no small file system: {stderr}"
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "status 1\n",
        "{stderr}"
    );
    let error: Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["error"]["code"], "artifact_operation_failed");
    assert_eq!(error["error"]["details"]["reason"], "io");
    assert_eq!(
        error["error"]["details"]["detail"],
        "no space left on the device"
    );
}

/// Waits until the folder beside the destination holds something.
fn wait_for_files(folder: &Path) -> PathBuf {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        for name in names(folder) {
            let path = folder.join(&name);
            let staging = name.contains("incomplete");
            if staging && std::fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some())
            {
                return path;
            }
        }
    }
    panic!("nothing is written");
}

#[test]
fn a_kill_leaves_a_folder_that_says_it_is_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let input = many(folder.path());
    let mut killed = 0;
    for attempt in 0..20 {
        let place = folder.path().join(format!("place{attempt}"));
        std::fs::create_dir(&place).unwrap();
        let mut child = rea(&input, &place.join("out"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for_files(&place);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let names = names(&place);
        assert_eq!(names.len(), 1, "{names:?}");
        if status.code() == Some(0) {
            // It was faster; then all of it is there.
            assert_eq!(names, ["out"]);
            assert_eq!(found(&place.join("out")).len(), 400);
        } else if names[0] != "out" {
            assert!(names[0].starts_with("out.incomplete-"), "{names:?}");
            killed += 1;
        }
        if killed >= 3 {
            return;
        }
    }
    panic!("it was never killed in the middle");
}

#[test]
fn a_signal_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let input = many(folder.path());
    let mut stopped = 0;
    for attempt in 0..20 {
        let place = folder.path().join(format!("place{attempt}"));
        std::fs::create_dir(&place).unwrap();
        let child = rea(&input, &place.join("out"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_files(&place);
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.code() == Some(0) {
            assert_eq!(names(&place), ["out"]);
            continue;
        }
        assert_eq!(output.status.code(), Some(130));
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["code"], "cancelled");
        if names(&place).is_empty() {
            stopped += 1;
        } else {
            // It was being delivered already.
            assert_eq!(names(&place), ["out"]);
        }
        if stopped >= 3 {
            return;
        }
    }
    panic!("it was never stopped in the middle");
}
