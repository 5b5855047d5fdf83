//! Bundle files while other processes write them, and when the process that
//! writes them is killed: the old file or the new one is there, never anything
//! else.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rea::evidence::{
    Bundle, BundleOutput, Creation, Evidence, LockedBundle, Provider, Source, UnknownFilter,
    read_bundle,
};
use rea::json::{Limits, Value};
use rea::operation::Context;

const REA: &str = env!("CARGO_BIN_EXE_rea");

fn context() -> Context {
    Context::new("bundle")
}

fn record(number: u64) -> Evidence {
    let provider = Provider {
        id: "fixture",
        name: "Fixture provider",
        version: "1.0.0",
    };
    let mut creation = Creation::new("health", provider);
    creation.normalized_result = number.into();
    Evidence::create(creation)
}

fn bundle_of(numbers: &[u64]) -> Bundle {
    let mut bundle = Bundle::new();
    for number in numbers {
        bundle.add(record(*number)).unwrap();
    }
    bundle
}

fn text_of(bundle: &Bundle) -> Vec<u8> {
    let mut out = Vec::new();
    bundle.write_to(&context(), &mut out).unwrap().unwrap();
    out
}

fn read(path: &Path) -> Bundle {
    read_bundle(Source::open(path).unwrap(), Limits::default(), &context()).unwrap()
}

fn rea(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(REA);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Names in a folder that are no staging folders.
fn visible(folder: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(folder).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with(".rea-write-"))
        .collect()
}

const ASK: &[&str] = &[
    "record-unknown",
    "bundle.json",
    "--severity=low",
    "--domain=files",
    "--question",
];

/// A command, and the file that it publishes.
struct Publication {
    arguments: &'static [&'static str],
    file: &'static str,
    /// What `file` holds before, if it is there.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

fn prepare(folder: &Path, publication: &Publication) {
    fs::write(folder.join("source.json"), text_of(&bundle_of(&[1, 2, 3]))).unwrap();
    if let Some(before) = &publication.before {
        fs::write(folder.join(publication.file), before).unwrap();
    }
}

fn publications() -> Vec<Publication> {
    let (old, new) = (text_of(&bundle_of(&[9])), text_of(&bundle_of(&[1, 2, 3])));
    let asked = {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bundle.json"), &old).unwrap();
        let arguments = [ASK, &["Why?"]].concat();
        assert!(rea(folder.path(), &arguments).status.success());
        fs::read(folder.path().join("bundle.json")).unwrap()
    };
    vec![
        Publication {
            arguments: &["evidence-export", "source.json", "new.json"],
            file: "new.json",
            before: None,
            after: new.clone(),
        },
        Publication {
            arguments: &["evidence-export", "source.json", "old.json", "--overwrite"],
            file: "old.json",
            before: Some(old.clone()),
            after: new,
        },
        Publication {
            arguments: &[
                "record-unknown",
                "bundle.json",
                "--severity=low",
                "--domain=files",
                "--question",
                "Why?",
            ],
            file: "bundle.json",
            before: Some(old.clone()),
            after: asked,
        },
        Publication {
            arguments: &[
                "bundle",
                "old.json",
                "source.json",
                "-o",
                "old.json",
                "--overwrite",
            ],
            file: "old.json",
            before: Some(old),
            after: text_of(&bundle_of(&[1, 2, 3, 9])),
        },
    ]
}

fn strace(folder: &Path, options: &[&str], arguments: &[&str]) -> Output {
    let mut command = Command::new("strace");
    command.arg("-qq").args(options).arg(REA).args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    command.output().expect("strace is needed for this test")
}

/// The system calls from just before the one that makes the staging folder to
/// the last of all: the name, and which of that name it is, from 1.
fn calls_of(publication: &Publication) -> Vec<(String, usize)> {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), publication);
    let log = folder.path().join("log");
    let options = ["-o", log.to_str().unwrap()];
    let traced = strace(folder.path(), &options, publication.arguments);
    let errors = String::from_utf8_lossy(&traced.stderr);
    assert!(traced.status.success(), "{errors}");
    let log = fs::read_to_string(log).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    let mut calls = Vec::new();
    let mut first = None;
    for line in log.lines() {
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        if rest.contains(".rea-write-") {
            first.get_or_insert(calls.len());
        }
        let count = counts.entry(name.to_owned()).or_insert(0);
        *count += 1;
        calls.push((name.to_owned(), *count));
    }
    let first = first.expect("a staging folder is made");
    let publishes = |name: &str| name.starts_with("rename") || name.starts_with("link");
    assert!(calls.iter().any(|(name, _)| publishes(name)), "{log}");
    calls.split_off(first.saturating_sub(2))
}

#[test]
fn killed_at_every_system_call_the_old_or_the_new_file_is_there() {
    for publication in publications() {
        let (mut old, mut new) = (0, 0);
        for (name, count) in calls_of(&publication) {
            let call = format!("{name} {count}");
            let folder = tempfile::tempdir().unwrap();
            prepare(folder.path(), &publication);
            let inputs = visible(folder.path());
            let inject = format!("inject={name}:signal=SIGKILL:when={count}");
            let log = tempfile::NamedTempFile::new().unwrap();
            let options = ["-e", &inject, "-o", log.path().to_str().unwrap()];
            let killed = strace(folder.path(), &options, publication.arguments);
            let status = killed.status;
            assert!(
                status.signal() == Some(9) || status.success(),
                "{call}: {status} {}",
                String::from_utf8_lossy(&killed.stderr)
            );
            let path = folder.path().join(publication.file);
            let found = fs::read(&path).ok();
            if found.as_ref() == Some(&publication.after) {
                new += 1;
            } else {
                assert_eq!(
                    found, publication.before,
                    "{:?} at {call}",
                    publication.arguments
                );
                assert!(!status.success());
                old += 1;
            }
            // Beside the file there is at most a staging folder, which nobody
            // takes for a result and which stands in nobody's way.
            let mut expected = inputs;
            expected.extend(found.is_some().then(|| publication.file.to_owned()));
            assert_eq!(visible(folder.path()), expected, "at {call}");
            if found == publication.before {
                assert!(rea(folder.path(), publication.arguments).status.success());
                assert_eq!(fs::read(&path).unwrap(), publication.after);
            }
        }
        assert!(
            old >= 5 && new >= 2,
            "{:?}: {old} {new}",
            publication.arguments
        );
    }
}

#[test]
fn no_update_of_concurrent_processes_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                for number in 0..5 {
                    let question = format!("Question {number} of {worker}?");
                    let done = rea(folder, &[ASK, &[&question]].concat());
                    assert!(
                        done.status.success(),
                        "{}",
                        String::from_utf8_lossy(&done.stderr)
                    );
                }
            });
        }
        // A merge into the same file goes on at the same time.
        let folder = folder.path();
        scope.spawn(move || {
            for number in 10..14 {
                let name = format!("more{number}.json");
                fs::write(folder.join(&name), text_of(&bundle_of(&[number]))).unwrap();
                let done = rea(
                    folder,
                    &[
                        "bundle",
                        "bundle.json",
                        &name,
                        "-o",
                        "bundle.json",
                        "--overwrite",
                    ],
                );
                assert!(
                    done.status.success(),
                    "{}",
                    String::from_utf8_lossy(&done.stderr)
                );
            }
        });
    });
    let bundle = read(&path);
    assert_eq!(bundle.unknowns().len(), 20);
    let records = bundle.len() as u64 - bundle.unknowns().revisions();
    assert_eq!(records, 5);
    assert_eq!(bundle.unknowns().list(&UnknownFilter::default()).total, 20);
    let names = visible(folder.path());
    assert_eq!(names.len(), 5, "{names:?}");
}

/// Starts `slow`, which publishes a second later than it would, and `quick`
/// while `slow` is at it. What `quick` said.
fn race(folder: &Path, slow: &[&str], quick: &str) -> Output {
    let mut command = Command::new("strace");
    let inject = "inject=?rename,?renameat,?renameat2:delay_enter=1500000";
    let log = folder.join("log");
    command.args(["-qq", "-o", log.to_str().unwrap(), "-e", inject, REA]);
    command.args(slow).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let slow = command.spawn().expect("strace is needed for this test");
    let staged = || {
        let mut names = fs::read_dir(folder).unwrap();
        names.any(|entry| {
            let name = entry.unwrap().file_name();
            name.to_str().unwrap().starts_with(".rea-write-")
        })
    };
    while !staged() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec '{REA}' {quick}")]);
    let quick = command.current_dir(folder).output().unwrap();
    let slow = slow.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&slow.stderr);
    assert!(slow.status.success(), "{errors}");
    quick
}

/// Who replaces a bundle waits for who changes it, and the other way around,
/// whether or not the bundle is an operand. `quick` and what must be there
/// then: records beside those of mutations, and unknowns; or a refusal.
#[test]
fn whoever_replaces_a_bundle_loses_nobodys_update() {
    let ask: &[&str] = &[ASK, &["Why?"]].concat();
    let quickly = "record-unknown bundle.json --severity=low --domain=files --question Who?";
    let export = "evidence-export other.json bundle.json --overwrite";
    let merge = "bundle other.json third.json -o bundle.json --overwrite";
    let inspect = "inspect-evidence-bundle other.json -o bundle.json --overwrite";
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    for (slow, quick, expected) in [
        (ask.to_vec(), export, Some((1, 0))),
        (words(export), quickly, Some((1, 1))),
        (ask.to_vec(), merge, Some((2, 0))),
        (words(merge), quickly, Some((2, 1))),
        (words(inspect), quickly, Some((1, 1))),
        (
            ask.to_vec(),
            "bundle bundle.json other.json -o bundle.json --overwrite",
            Some((2, 1)),
        ),
        (
            ask.to_vec(),
            "bundle - other.json -o bundle.json --overwrite < bundle.json",
            None,
        ),
        (
            ask.to_vec(),
            "bundle link.json other.json -o bundle.json --overwrite",
            None,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("bundle.json"), text_of(&bundle_of(&[1]))).unwrap();
        fs::write(file("other.json"), text_of(&bundle_of(&[2]))).unwrap();
        fs::write(file("third.json"), text_of(&bundle_of(&[3]))).unwrap();
        fs::hard_link(file("bundle.json"), file("link.json")).unwrap();
        let said = race(folder.path(), &slow, quick);
        let errors = String::from_utf8_lossy(&said.stderr);
        assert_eq!(
            said.status.success(),
            expected.is_some(),
            "{quick}: {errors}"
        );
        if expected.is_none() {
            assert!(errors.contains("revision_conflict"), "{errors}");
        }
        let bundle = read(&file("bundle.json"));
        let unknowns = bundle.unknowns().revisions();
        let found = (bundle.len() as u64 - unknowns, unknowns);
        assert_eq!(found, expected.unwrap_or((1, 1)), "{slow:?} and {quick}");
    }
}

/// Standard input that was the bundle before another process replaced it.
#[test]
fn standard_input_that_was_replaced_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
    let script = format!(
        "exec < bundle.json; cp bundle.json next; mv next bundle.json; \
         '{REA}' bundle - -o bundle.json --overwrite"
    );
    let mut command = Command::new("sh");
    let said = command.args(["-c", &script]).current_dir(folder.path());
    let said = said.output().unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(errors.contains("revision_conflict"), "{errors}");
}

/// A file called `-` is not standard input, whose records go into it.
#[test]
fn a_file_called_dash_is_no_operand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("-");
    fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
    fs::write(folder.path().join("other"), text_of(&bundle_of(&[2]))).unwrap();
    let script = format!("'{REA}' bundle - -o ./- --overwrite --format report < other");
    let mut command = Command::new("sh");
    let said = command.args(["-c", &script]).current_dir(folder.path());
    let said = said.output().unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{errors}");
}

#[test]
fn any_number_of_operands() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..150 {
        let name = format!("part{number}.json");
        fs::write(folder.path().join(name), text_of(&bundle_of(&[number]))).unwrap();
    }
    let script = format!("ulimit -n 40; exec '{REA}' bundle part*.json -o all.json");
    let mut command = Command::new("sh");
    let said = command.args(["-c", &script]).current_dir(folder.path());
    let said = said.output().unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{errors}");
    assert_eq!(read(&folder.path().join("all.json")).len(), 150);
}

/// With leave to replace, what was not there is not replaced.
#[test]
fn who_makes_the_file_meanwhile_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    let output = || BundleOutput::open(&path, true, &[], &context()).unwrap();
    let late = output();
    bundle_of(&[1]).publish(output(), &context()).unwrap();
    let error = bundle_of(&[2]).publish(late, &context()).unwrap_err();
    assert_eq!(error.code().as_str(), "revision_conflict", "{error}");
    let (late, file) = {
        fs::remove_file(&path).unwrap();
        let late = output();
        let file = late.create().unwrap();
        (late, file)
    };
    bundle_of(&[3]).publish(output(), &context()).unwrap();
    let error = late.commit(file).unwrap_err();
    assert_eq!(error.code().as_str(), "revision_conflict", "{error}");
    assert_eq!(fs::read(&path).unwrap(), text_of(&bundle_of(&[3])));
    assert_eq!(visible(folder.path()).len(), 1);
}

/// What waits for a lock looks at the name again, also at what it has become.
#[test]
fn a_name_that_becomes_a_link_ends_the_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
    let _locked = LockedBundle::open(&path, &context()).unwrap();
    let waiting = {
        let path = path.clone();
        std::thread::spawn(move || LockedBundle::open(&path, &context()).map(|_| ()))
    };
    std::thread::sleep(Duration::from_millis(100));
    fs::rename(&path, folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", &path).unwrap();
    let error = waiting.join().unwrap().unwrap_err();
    let reason = error.details().get("reason").and_then(Value::as_str);
    assert_eq!(reason, Some("not-file"), "{error}");
}

/// File systems without locks, files that cannot be written, full disks.
#[test]
fn what_the_file_system_refuses() {
    for (inject, refusal) in [
        ("inject=flock:error=ENOLCK", Some("cannot lock it")),
        ("inject=flock:error=EOPNOTSUPP", Some("cannot lock it")),
        ("inject=openat:error=EACCES:when=1", None),
        ("inject=openat:error=EROFS:when=1", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle.json");
        fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
        let log = folder.path().join("log");
        let mut options = vec!["-o", log.to_str().unwrap(), "-e", inject];
        if inject.contains("openat") {
            options.extend(["-P", "bundle.json"]);
        }
        let said = strace(folder.path(), &options, &[ASK, &["Why?"]].concat());
        let errors = String::from_utf8_lossy(&said.stderr);
        assert_eq!(
            said.status.success(),
            refusal.is_none(),
            "{inject}: {errors}"
        );
        assert!(errors.contains(refusal.unwrap_or_default()), "{errors}");
        if inject.contains("openat") {
            let log = fs::read_to_string(log).unwrap();
            assert!(log.contains("INJECTED"), "{log}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), text_of(&bundle_of(&[1]))).unwrap();
    let log = folder.path().join("log");
    let inject = "inject=write:error=ENOSPC:when=1";
    let options = ["-o", log.to_str().unwrap(), "-e", inject];
    let said = strace(
        folder.path(),
        &options,
        &["bundle", "a.json", "-o", "b.json"],
    );
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(errors.contains("Make room"), "{errors}");
    assert!(!folder.path().join("b.json").exists());
}

#[test]
fn a_program_without_the_lock_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    let other = text_of(&bundle_of(&[1, 2]));
    for in_place in [true, false] {
        fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
        let locked = LockedBundle::open(&path, &context()).unwrap();
        let mut bundle = locked.read(Limits::default(), &context()).unwrap();
        bundle.add(record(3)).unwrap();
        if in_place {
            fs::write(&path, &other).unwrap();
        } else {
            fs::write(folder.path().join("other"), &other).unwrap();
            fs::rename(folder.path().join("other"), &path).unwrap();
        }
        let error = locked.replace(&bundle, &context()).unwrap_err();
        // A record that was read by reference may be found changed first.
        let code = error.code().as_str();
        assert!(
            matches!(code, "revision_conflict" | "artifact_changed"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), other);
        assert_eq!(visible(folder.path()).len(), 1);
    }
}

#[test]
fn whoever_waits_gets_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    fs::write(&path, text_of(&bundle_of(&[1]))).unwrap();
    let locked = LockedBundle::open(&path, &context()).unwrap();
    let second = {
        let path = path.clone();
        std::thread::spawn(move || {
            let locked = LockedBundle::open(&path, &context()).unwrap();
            locked.read(Limits::default(), &context()).unwrap().len()
        })
    };
    std::thread::sleep(Duration::from_millis(100));
    assert!(!second.is_finished());
    locked.replace(&bundle_of(&[1, 2, 3]), &context()).unwrap();
    assert_eq!(second.join().unwrap(), 3);
    // Waiting ends when the operation is cancelled.
    let _locked = LockedBundle::open(&path, &context()).unwrap();
    let waiting = context();
    waiting.cancellation.request(None);
    let error = LockedBundle::open(&path, &waiting).unwrap_err();
    assert_eq!(error.code().as_str(), "cancelled");
}

#[test]
fn a_file_that_changes_between_reading_and_writing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    let text = text_of(&bundle_of(&[1, 2]));
    fs::write(&path, &text).unwrap();
    let bundle = read(&path);
    for change in [
        String::from_utf8(text.clone())
            .unwrap()
            .replace("\"normalized_result\":1", "\"normalized_result\":7"),
        String::from_utf8(text.clone())
            .unwrap()
            .replace("health", "HEALTH"),
        "{".repeat(text.len()),
        String::new(),
    ] {
        fs::write(&path, change).unwrap();
        let error = bundle.write_to(&context(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.code().as_str(), "artifact_changed", "{error}");
        assert!(
            error
                .details()
                .get("path")
                .and_then(Value::as_str)
                .is_some()
        );
    }
}
