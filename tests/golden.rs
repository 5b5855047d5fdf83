//! What a user sees, as files: each folder of `tests/golden/` is one case.
//!
//! - `cmd`: shell lines, run by `sh` in a fresh folder with `rea` on the PATH.
//!   Its comments say what the case shows. A line `# needs: jq bash` names
//!   programs without which the case is skipped, except in CI.
//! - `in/`: files that are copied into that folder first (optional).
//! - `stdout`, `stderr`: the exact output; a file that is missing means none.
//! - `status`: the exit status of the last line; missing means 0.
//!
//! A new case is a folder with a `cmd`; `BLESS=1 cargo test --test golden`
//! writes the rest. Read what it wrote before you commit it. `GOLDEN=part`
//! runs the cases whose name contains `part`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::fs;
use std::io;
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

    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = check(case, bless) {
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
}

fn check(case: &Path, bless: bool) -> Result<(), String> {
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
        return Ok(());
    }
    let output = run(&script, folder.path()).map_err(|error| format!("sh: {error}"))?;
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
        Ok(())
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

fn run(script: &str, folder: &Path) -> io::Result<Output> {
    let mut path = Path::new(REA)
        .parent()
        .unwrap_or(Path::new("."))
        .as_os_str()
        .to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .output()
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
