//! The command line where it meets the system: signals, closed pipes,
//! terminals, files that must not be replaced.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

fn rea() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
    command
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm");
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    rea().args(arguments).current_dir(folder).output().unwrap()
}

/// A file of 4 TiB that takes no room on the disk and hours to read.
fn endless(folder: &Path) -> String {
    let path = folder.join("endless");
    File::create(&path).unwrap().set_len(4 << 40).unwrap();
    path.to_str().unwrap().to_owned()
}

fn inspect_endless(folder: &Path) -> Command {
    let mut command = rea();
    command
        .args(["inspect-artifact", &endless(folder)])
        .args(["--max-entry-bytes", "8TiB", "--max-total-bytes", "8TiB"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits until the program has taken the signals over.
fn wait_until_it_listens(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
        let Ok(status) = fs::read_to_string(&status) else {
            // No /proc on this system: give it the time it needs.
            std::thread::sleep(Duration::from_millis(500));
            return;
        };
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:\t"));
        let caught = u64::from_str_radix(caught.unwrap_or("0"), 16).unwrap_or(0);
        if caught & (1 << (Signal::INT.as_raw() - 1)) != 0 {
            return;
        }
    }
    panic!("it never listened");
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_signal_cancels_and_nothing_is_left() {
    for (number, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let folder = tempfile::tempdir().unwrap();
        let child = inspect_endless(folder.path())
            .args(["-o", "out.json"])
            .spawn()
            .unwrap();
        wait_until_it_listens(&child);
        let begun = Instant::now();
        signal(&child, number);
        let output = child.wait_with_output().unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(2),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(output.status.code(), Some(status));
        assert_eq!(text(&output.stdout), "");
        let error = text(&output.stderr);
        assert!(
            error.starts_with(r#"{"error":{"category":"cancelled","code":"cancelled""#),
            "{error}"
        );
        assert!(
            error.ends_with("}\n") && error.lines().count() == 1,
            "{error}"
        );
        assert_eq!(files(folder.path()), ["endless"]);
    }
}

/// Where input is waited for, nobody reads the stop request but the wait.
#[test]
fn a_signal_while_the_input_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    // A writer who never writes.
    let held = File::options().read(true).write(true).open(pipe).unwrap();
    for input in ["-", "pipe"] {
        let mut child = rea()
            .args(["verify-evidence", input])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let silent = child.stdin.take();
        wait_until_it_listens(&child);
        let begun = Instant::now();
        signal(&child, Signal::INT);
        let output = child.wait_with_output().unwrap();
        drop(silent);
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(output.status.code(), Some(130));
        assert!(text(&output.stderr).contains(r#""code":"cancelled""#));
        assert_eq!(text(&output.stdout), "");
    }
    drop(held);
}

/// A second signal does not wait for the work to notice the first.
#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let child = inspect_endless(folder.path()).spawn().unwrap();
    wait_until_it_listens(&child);
    // Both are there before the work can look.
    signal(&child, Signal::STOP);
    signal(&child, Signal::INT);
    signal(&child, Signal::TERM);
    signal(&child, Signal::CONT);
    let output = child.wait_with_output().unwrap();
    let status = output.status.code();
    assert!(matches!(status, Some(130 | 143)), "{status:?}");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_signal_while_the_reader_is_stuck_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // More names than a pipe holds, so that writing stops.
    for number in 0..3000 {
        fs::write(folder.path().join(format!("{number:0>200}")), "").unwrap();
    }
    let mut child = rea()
        .args(["inventory-artifact", "."])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    assert!(text(&output.stderr).contains(r#""code":"cancelled""#));
}

#[test]
fn a_closed_pipe_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..3000 {
        fs::write(folder.path().join(format!("{number:0>200}")), "").unwrap();
    }
    for arguments in [
        &["inventory-artifact", "."][..],
        &["--help"],
        &["completions", "bash"],
    ] {
        let mut child = rea()
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = rea()
        .arg("capabilities")
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains(r#""code":"unreadable_output""#), "{error}");
}

#[test]
fn output_is_complete_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = run(&["capabilities", "-o", "out.json"], folder);
    assert_eq!(first.status.code(), Some(0));
    assert_eq!(text(&first.stdout), "");
    assert!(text(&first.stderr).contains("out.json"));
    let written = fs::read(folder.join("out.json")).unwrap();
    assert_eq!(
        written,
        run(&["capabilities"], folder).stdout,
        "canonical, as in a pipe"
    );

    let refused = run(&["capabilities", "--json", "-o", "out.json"], folder);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains(r#""reason":"exists""#));
    assert_eq!(fs::read(folder.join("out.json")).unwrap(), written);

    let replaced = run(
        &[
            "capabilities",
            "--json",
            "-o",
            "out.json",
            "--overwrite",
            "-q",
        ],
        folder,
    );
    assert_eq!(replaced.status.code(), Some(0));
    assert_eq!(text(&replaced.stderr), "");
    assert_ne!(fs::read(folder.join("out.json")).unwrap(), written);

    std::os::unix::fs::symlink("out.json", folder.join("link")).unwrap();
    let refused = run(&["capabilities", "-o", "link", "--overwrite"], folder);
    assert!(text(&refused.stderr).contains(r#""reason":"not-file""#));
    let refused = run(&["capabilities", "-o", "no/where"], folder);
    assert!(text(&refused.stderr).contains(r#""reason":"missing""#));
    assert_eq!(files(folder), ["link", "out.json"]);
}

#[test]
fn an_impossible_output_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out.json"), "kept").unwrap();
    let output = inspect_endless(folder.path())
        .args(["-o", "out.json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains(r#""reason":"exists""#));
}

/// Runs the program with a terminal of 80 columns as stdout and stderr.
fn on_a_terminal(command: &mut Command) -> (Option<i32>, String) {
    on_a_terminal_while(command, |_| ())
}

fn on_a_terminal_while(
    command: &mut Command,
    during: impl FnOnce(&Child),
) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let control = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&control).unwrap();
    unlockpt(&control).unwrap();
    let name = ptsname(&control, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let terminal: OwnedFd = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).unwrap();
    let size = rustix::termios::Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&terminal, size).unwrap();
    let mut child = command
        .stdout(terminal.try_clone().unwrap())
        .stderr(terminal)
        .spawn()
        .unwrap();
    // The command would keep its end of the terminal open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    during(&child);
    let mut seen = Vec::new();
    // Linux says EIO, others the end, once the program has closed its side.
    let _ = File::from(control).read_to_end(&mut seen);
    let status = child.wait().unwrap();
    (
        status.code(),
        String::from_utf8(seen).unwrap().replace("\r\n", "\n"),
    )
}

#[test]
fn a_terminal_gets_a_report_and_colours() {
    let (status, seen) = on_a_terminal(rea().arg("capabilities"));
    assert_eq!(status, Some(0));
    assert!(
        seen.contains("inspect_artifact") && !seen.contains('{'),
        "{seen}"
    );
    assert!(seen.contains("\u{1b}["), "{seen}");

    for plain in [
        rea().args(["capabilities", "--color", "never"]),
        rea().arg("capabilities").env("NO_COLOR", "1"),
        rea().arg("capabilities").env("TERM", "dumb"),
    ] {
        assert!(!on_a_terminal(plain).1.contains('\u{1b}'));
    }
    let (_, seen) = on_a_terminal(rea().args(["capabilities", "--format", "canonical"]));
    assert!(
        seen.starts_with(r#"{"analysis_provider_binding""#),
        "{seen}"
    );
    let (_, seen) = on_a_terminal(rea().arg("--help"));
    assert!(
        seen.contains("\u{1b}[") && seen.contains("inspect-artifact"),
        "{seen}"
    );
}

#[test]
fn a_terminal_gets_errors_as_a_paragraph() {
    let (status, seen) =
        on_a_terminal(rea().args(["--color=never", "inspect-artifact", "/no/such"]));
    assert_eq!(status, Some(1));
    assert!(
        seen.starts_with("error: ") && seen.contains("/no/such"),
        "{seen}"
    );

    let (status, seen) = on_a_terminal(rea().args(["--color=never", "inspect-artifact"]));
    assert_eq!(status, Some(2));
    assert!(seen.contains("rea inspect-artifact --help"), "{seen}");

    let (status, seen) = on_a_terminal(rea().args(["inspect-artifact", "/no/such", "--json"]));
    assert_eq!(status, Some(1));
    assert!(seen.starts_with(r#"{"error":"#), "{seen}");

    let (status, seen) = on_a_terminal(rea().arg("--color=never"));
    assert_eq!(status, Some(2));
    assert!(seen.contains("a subcommand is needed"), "{seen}");
}

#[test]
fn colours_can_be_forced_into_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let forced = ["capabilities", "--format", "report", "--color", "always"];
    assert!(text(&run(&forced, folder.path()).stdout).contains("\u{1b}["));
    assert!(!text(&run(&forced[..3], folder.path()).stdout).contains('\u{1b}'));
}

#[test]
fn progress_is_shown_on_a_terminal_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = inspect_endless(folder.path()).arg("-q").spawn().unwrap();
    wait_until_it_listens(&child);
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, Signal::INT);
    let mut seen = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut seen)
        .unwrap();
    child.wait().unwrap();
    assert!(seen.starts_with(r#"{"error""#), "{seen}");

    let mut command = inspect_endless(folder.path());
    let (status, seen) = on_a_terminal_while(command.arg("--color=never"), |child| {
        std::thread::sleep(Duration::from_millis(1200));
        signal(child, Signal::INT);
    });
    assert_eq!(status, Some(130));
    assert!(
        seen.contains("entries, ") && seen.contains("/s"),
        "{seen:?}"
    );
    assert!(seen.contains("error: "), "{seen:?}");
}

/// The generated files of the source tree are what the definition says.
/// `BLESS=1` writes them.
#[test]
fn man_pages_and_completions_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = run(&["generate"], root).stdout;
    let bless = std::env::var_os("BLESS").is_some();
    let mut known: Vec<&str> = text(&names).lines().collect();
    for name in &known {
        let fresh = run(&["generate", name], root).stdout;
        let path = root.join(name);
        if bless {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(&path).unwrap().write_all(&fresh).unwrap();
        }
        let checked_in = fs::read(&path).unwrap_or_default();
        assert!(
            checked_in == fresh,
            "{name} is stale: BLESS=1 cargo test --test cli"
        );
    }
    let mut found: Vec<String> = ["man", "completions"]
        .iter()
        .flat_map(|folder| {
            let names = files(&root.join(folder)).into_iter();
            names.map(move |name| format!("{folder}/{name}"))
        })
        .collect();
    found.sort();
    known.sort_unstable();
    assert_eq!(found, known, "files that nothing generates");
}
