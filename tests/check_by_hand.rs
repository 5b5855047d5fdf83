//! The commands of docs/evidence.md give the ids, without any code of ours.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::path::Path;
use std::process::{Command, Stdio};

use rea::digest::Digest;
use rea::evidence::{Creation, Evidence, NewSubject, Provider};
use rea::json::{Limits, Value, WriteJson, Writer};

fn available(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// Whether the programs are there; in CI they must be.
fn can_run() -> bool {
    let missing: Vec<_> = ["jq", "sed", "sha256sum", "bash"]
        .into_iter()
        .filter(|program| !available(program))
        .collect();
    if !missing.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "{missing:?} are missing");
        eprintln!("skipped: {missing:?} are missing");
    }
    missing.is_empty()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the script says of a record: success, and the id by jq and by sed.
fn check(text: &[u8]) -> (bool, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    std::fs::write(&path, text).unwrap();
    let output = Command::new("bash")
        .arg(root().join("scripts/check_by_hand.sh"))
        .arg(&path)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let line = |name: &str| {
        let line = stdout.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().last())
            .unwrap_or_default()
            .to_owned()
    };
    (output.status.success(), line("by jq"), line("by sed"))
}

fn record(result: &str) -> Evidence {
    let provider = Provider {
        id: "p",
        name: "P",
        version: "1",
    };
    let mut creation = Creation::new("an_operation", provider);
    creation.subject = Some(NewSubject {
        path: "folder/a \"name\" with \\ and é".to_owned(),
        sha256: Digest::of(b"x"),
        format: "file".to_owned(),
        architecture: None,
    });
    creation.normalized_result = Value::parse(result.as_bytes(), Limits::default()).unwrap();
    Evidence::create(creation)
}

fn written(evidence: &Evidence, indent: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = if indent {
        Writer::indented(&mut out)
    } else {
        Writer::canonical(&mut out)
    };
    evidence.write_json(&mut w);
    w.finish().unwrap();
    out.push(b'\n');
    out
}

#[test]
fn both_ways_give_the_id() {
    if !can_run() {
        return;
    }
    let evidence = record(r#"{"names":["a","é","\u0000"],"size":9007199254740991,"ratio":0.25}"#);
    let id = evidence.id().to_string();
    assert_eq!(
        check(&written(&evidence, false)),
        (true, id.clone(), id.clone())
    );
    let (agrees, by_jq, by_sed) = check(&written(&evidence, true));
    assert!(agrees);
    assert_eq!(by_jq, id);
    assert_ne!(by_sed, id);

    let tampered = String::from_utf8(written(&evidence, false)).unwrap();
    let tampered = tampered.replace("0.25", "0.26");
    assert!(!check(tampered.as_bytes()).0);
}

#[test]
fn sed_is_exact_where_jq_is_not() {
    if !can_run() {
        return;
    }
    // The rows of the table in docs/evidence.md that every jq gets wrong.
    for result in [r#"{"\ud83d\ude00":1,"\ufb33":2}"#, r#""\u007f""#] {
        let evidence = record(result);
        let (agrees, by_jq, by_sed) = check(&written(&evidence, false));
        assert!(agrees);
        assert_eq!(by_sed, evidence.id().to_string(), "{result}");
        assert_ne!(by_jq, by_sed, "{result}");
    }
    for result in [r#"1e-7"#, r#"100000000000000000"#, r#"1e23"#, r#"[-0,1.0]"#] {
        let evidence = record(result);
        let (agrees, _, by_sed) = check(&written(&evidence, false));
        assert!(agrees);
        assert_eq!(by_sed, evidence.id().to_string(), "{result}");
    }
}

#[test]
fn the_page_quotes_the_script() {
    let squeeze = |text: &str| -> String {
        text.chars()
            .filter(|c| !c.is_whitespace() && *c != ';')
            .collect()
    };
    let read = |path: &str| squeeze(&std::fs::read_to_string(root().join(path)).unwrap());
    let (page, script) = (read("docs/evidence.md"), read("scripts/check_by_hand.sh"));
    let quoted = |start: &str| {
        let from = script.find(start).unwrap();
        let program = &script[from..];
        let open = program.find('\'').unwrap();
        let close = open + 1 + program[open + 1..].find('\'').unwrap();
        program[..=close].to_owned()
    };
    for command in [quoted("jq-cjS'del"), quoted("sed-E'")] {
        assert!(page.contains(&command), "{command}");
    }
}
