//! What a user sees, as files: each folder of `tests/golden/` is one case.
//!
//! - `cmd`: shell lines, run by `sh` in a fresh folder with `rea` on the PATH.
//!   Its comments say what the case shows. A line `# needs: jq bash` names
//!   programs without which the case is skipped, except in CI.
//! - `in/`: files that are copied into that folder first (optional).
//! - `stdout`, `stderr`: the exact output; a file that is missing means none.
//! - `status`: the exit status of the last line; missing means 0.
//!
//! `rea` on that PATH is a script that also notes each call: every subcommand
//! needs one that succeeds, one with bad input, and one in a pipe.
//!
//! A new case is a folder with a `cmd`; `BLESS=1 cargo test --test golden`
//! writes the rest. Read what it wrote before you commit it. `GOLDEN=part`
//! runs the cases whose name contains `part`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const REA: &str = env!("CARGO_BIN_EXE_rea");

#[test]
fn golden() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let wanted = std::env::var("GOLDEN").unwrap_or_default();
    let bless = std::env::var_os("BLESS").is_some();
    let mut cases: Vec<PathBuf> = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("cmd").is_file())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .contains(&wanted)
        })
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no case contains {wanted:?}");

    let programs = tempfile::tempdir().unwrap();
    let script = programs.path().join("rea");
    fs::write(&script, NOTING.replace("REA", REA)).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();

    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let calls = Mutex::new(BTreeSet::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = check(case, bless, programs.path());
                    if let Ok(made) = &checked {
                        calls.lock().unwrap().extend(made.iter().cloned());
                    }
                    if let Err(failure) = checked {
                        let name = case.file_name().unwrap().to_string_lossy().into_owned();
                        failures
                            .lock()
                            .unwrap()
                            .push(format!("--- {name}\n{failure}"));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} cases failed; BLESS=1 accepts what is new\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    if wanted.is_empty() {
        let calls = calls.into_inner().unwrap();
        let missing = missing_kinds(&calls);
        assert!(
            missing.is_empty(),
            "cases are missing:\n{}",
            missing.join("\n")
        );
    }
}

/// Runs the program and notes subcommand, exit status and whether it was in a
/// pipe; what is captured of a case goes to files.
const NOTING: &str = r#"#!/bin/sh
# A server is stopped with all of its process group, and this still notes it.
trap : INT TERM
"REA" "$@"
status=$?
if [ -p /dev/stdin ] || [ -p /dev/stdout ]; then place=pipe; else place=alone; fi
echo "$1 $status $place" >> "$NOTED"
exit $status
"#;

/// What each subcommand (each has a man page; another test shows that) is
/// never called for.
fn missing_kinds(calls: &BTreeSet<String>) -> Vec<String> {
    let man = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let mut missing = Vec::new();
    for entry in fs::read_dir(man).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_prefix("rea-") else {
            continue;
        };
        let name = name.trim_end_matches(".1");
        let called = |ends: &[&str]| {
            ends.iter()
                .any(|end| calls.contains(&format!("{name} {end}")))
        };
        for (kind, ends) in [
            // A server succeeds until it is told to stop.
            ("one that succeeds", &["0 alone", "143 alone"][..]),
            (
                "one with bad input",
                &["1 alone", "2 alone", "1 pipe", "2 pipe"],
            ),
            ("one in a pipe", &["0 pipe", "143 pipe"]),
        ] {
            if !called(ends) {
                missing.push(format!("{name}: {kind}"));
            }
        }
    }
    missing.sort();
    missing
}

/// Runs a case; the calls that it made.
fn check(case: &Path, bless: bool, programs: &Path) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let input = case.join("in");
    if input.is_dir() {
        copy(&input, folder.path()).map_err(|error| format!("in/: {error}"))?;
    }
    let script = fs::read_to_string(case.join("cmd")).map_err(|error| error.to_string())?;
    let missing = missing_programs(&script);
    if !missing.is_empty() {
        if std::env::var_os("CI").is_some() {
            return Err(format!("{missing:?} are missing"));
        }
        eprintln!("skipped {}: {missing:?} are missing", case.display());
        return Ok(Vec::new());
    }
    let notes = tempfile::tempdir().map_err(|error| error.to_string())?;
    let output = run(&script, folder.path(), programs, notes.path());
    let output = output.map_err(|error| format!("sh: {error}"))?;
    let status = match output.status.code() {
        Some(0) => String::new(),
        Some(code) => format!("{code}\n"),
        None => "ended by a signal\n".to_owned(),
    };
    let found = [
        ("stdout", output.stdout),
        ("stderr", output.stderr),
        ("status", status.into_bytes()),
    ];
    let place = folder.path().to_string_lossy();
    let mut failure = String::new();
    for (name, found) in &found {
        let text = String::from_utf8_lossy(found);
        if text.contains(&*place) {
            failure.push_str(&format!(
                "{name} holds the path of the temporary folder:\n{text}"
            ));
        }
        let path = case.join(name);
        let expected = fs::read(&path).unwrap_or_default();
        if *found == expected {
            continue;
        }
        if bless && failure.is_empty() {
            let written = if found.is_empty() {
                fs::remove_file(&path)
            } else {
                fs::write(&path, found)
            };
            written.map_err(|error| format!("{name}: {error}"))?;
        } else {
            failure.push_str(&difference(
                name,
                &String::from_utf8_lossy(&expected),
                &text,
            ));
        }
    }
    if failure.is_empty() {
        let noted = fs::read_to_string(notes.path().join("noted")).unwrap_or_default();
        Ok(noted.lines().map(str::to_owned).collect())
    } else {
        Err(failure)
    }
}

fn missing_programs(script: &str) -> Vec<&str> {
    let needs = script
        .lines()
        .filter_map(|line| line.strip_prefix("# needs:"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    needs
        .flat_map(str::split_whitespace)
        .filter(|program| !std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
        .collect()
}

/// Runs the lines; what they print goes to files, so that only what they pipe
/// themselves is in a pipe.
fn run(script: &str, folder: &Path, programs: &Path, notes: &Path) -> io::Result<Output> {
    let mut path = programs.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let printed = [notes.join("stdout"), notes.join("stderr")];
    let status = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(File::create(&printed[0])?)
        .stderr(File::create(&printed[1])?)
        .env_clear()
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .env("NOTED", notes.join("noted"))
        .status()?;
    Ok(Output {
        status,
        stdout: fs::read(&printed[0])?,
        stderr: fs::read(&printed[1])?,
    })
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// The lines around the first difference.
fn difference(name: &str, expected: &str, found: &str) -> String {
    let (mut left, mut right) = (expected.lines(), found.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (left.next(), right.next()) {
            (Some(left), Some(right)) if left == right => {}
            (None, None) => return format!("{name} differs in its line ends\n"),
            (left, right) => {
                let mut text = format!("{name}, line {number}\n");
                if let Some(left) = left {
                    text.push_str(&format!("  expected: {left}\n"));
                }
                if let Some(right) = right {
                    text.push_str(&format!("  found:    {right}\n"));
                }
                return text;
            }
        }
    }
}
