//! Folders that are hostile, odd, or change under the walk.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rea::artifact::Options;
use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::support::child::{Ran, rea, watch};
use crate::support::file as write;
use crate::support::record::{ESCAPED, Expected, Shown, directory, everywhere, file, link, unread};

/// A folder that is removed with all it holds, however deep.
struct Deep(PathBuf);

impl Deep {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap().keep())
    }
}

impl Drop for Deep {
    fn drop(&mut self) {
        let removed = Command::new("rm").arg("-rf").arg(&self.0).status();
        assert!(removed.is_ok_and(|status| status.success()));
    }
}

fn run(path: &Path) -> Shown {
    everywhere(path, &Options::default())
}

/// Runs the program as a user without privileges.
fn unprivileged(path: &Path) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("rea");
    fs::copy(env!("CARGO_BIN_EXE_rea"), &program).unwrap();
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
        command.arg(&program);
        command
    } else {
        Command::new(&program)
    };
    command
        .args(["inventory-artifact", "--format", "canonical"])
        .arg(path);
    watch(command)
}

/// An open folder with files that only their mode protects.
fn guarded_tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    write(folder.path(), "open", b"open");
    folder
}

fn lock(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn unreadable_files_and_directories() {
    let folder = guarded_tree();
    let secret = write(folder.path(), "secret", b"secret");
    lock(&secret, 0);
    unprivileged(folder.path()).record().is(&Expected {
        rows: vec![
            file("open", b"open"),
            unread("secret", "Permission to read"),
        ],
        says: vec![],
        status: "complete",
    });
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    write(&closed, "inside", b"x");
    for mode in [0, 0o444, 0o111] {
        lock(&closed, mode);
        let shown = unprivileged(folder.path()).record();
        // Mode 0111 may be passed through and not listed; 0444 lists names
        // that may not be looked at: either way its content is not known.
        assert_eq!(
            shown.row("closed")["hash_status"],
            "unavailable",
            "{mode:o}"
        );
        assert_eq!(shown.row("closed")["entry_kind"], "directory");
        assert!(shown.row("closed")["artifact_id"].is_null());
        assert_eq!(shown.coverage().1, "unknown");
        assert_eq!(shown.row("open")["hash_status"], "verified");
    }
    lock(&closed, 0o755);
    // The root itself.
    let ran = unprivileged(&secret);
    ran.error()
        .is_error("access_denied", &[("system_code", "EACCES".into())]);
    lock(folder.path(), 0);
    unprivileged(folder.path())
        .error()
        .is_error("access_denied", &[]);
    lock(folder.path(), 0o755);
}

#[test]
fn links_are_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    write(folder.path(), "outside", b"secret");
    symlink("../outside", root.join("out")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    symlink("self", root.join("self")).unwrap();
    symlink(".", root.join("here")).unwrap();
    symlink(std::ffi::OsStr::from_bytes(b"\xFF%"), root.join("odd.zip")).unwrap();
    let shown = run(&root);
    shown.is(&Expected {
        rows: vec![
            link("out", b"../outside"),
            link("etc", b"/etc"),
            link("self", b"self"),
            link("here", b"."),
            link("odd.zip", b"\xFF%").says("suffix"),
        ],
        says: vec![],
        status: "complete",
    });
    assert_eq!(shown.row("out")["link_target"], "../outside");
    assert_eq!(shown.row("odd.zip")["link_target"], "%FF%25");
    assert!(shown.row("out")["declared_size"].is_null());
}

#[test]
fn odd_roots() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(folder.path(), "file", b"x");
    symlink("file", at("link")).unwrap();
    assert_eq!(
        run(&at("link")).json()["subject"]["digest"]["sha256"],
        crate::support::sha256(b"x")
    );
    symlink(folder.path(), at("tree")).unwrap();
    assert_eq!(run(&at("tree")).paths(), [".", "file", "link", "tree"]);
    symlink("nowhere", at("dangling")).unwrap();
    run(&at("dangling")).is_error("target_unavailable", &[]);
    symlink("loop", at("loop")).unwrap();
    run(&at("loop")).is_error("target_unavailable", &[]);
    run(&at("missing")).is_error("target_unavailable", &[]);
    fifo(&at("fifo"));
    run(&at("fifo")).is_error("artifact_operation_failed", &[("reason", "format".into())]);
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    run(&at("socket")).is_error("artifact_operation_failed", &[("reason", "format".into())]);
    run(Path::new("/dev/null"))
        .is_error("artifact_operation_failed", &[("reason", "format".into())]);
    // A file of the kernel has no size and has content: never the digest of
    // nothing.
    if Path::new("/proc/version").exists() {
        run(Path::new("/proc/version")).is_error("artifact_changed", &[]);
    }
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from(0o644), 0).unwrap();
}

/// A device node; by root only, and without that the test fails.
fn device(path: &Path) {
    let made = if rustix::process::geteuid().is_root() {
        Command::new("mknod")
            .arg(path)
            .args(["c", "1", "3"])
            .status()
    } else {
        Command::new("sudo")
            .args(["-n", "mknod"])
            .arg(path)
            .args(["c", "1", "3"])
            .status()
    };
    assert!(
        made.is_ok_and(|status| status.success()),
        "mknod needs root"
    );
}

#[test]
fn devices_fifos_and_sockets() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a", b"x");
    fifo(&folder.path().join("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    device(&folder.path().join("device"));
    run(folder.path()).is(&Expected {
        rows: vec![file("a", b"x")],
        says: vec![
            "device is a character device",
            "fifo is a FIFO",
            "socket is a socket",
        ],
        status: "unknown",
    });
}

#[test]
fn odd_names() {
    let folder = tempfile::tempdir().unwrap();
    let os = |bytes: &'static [u8]| folder.path().join(std::ffi::OsStr::from_bytes(bytes));
    fs::write(os(b"caf\xE9"), b"1").unwrap();
    fs::write(os(b"C:\\x"), b"2").unwrap();
    fs::write(os(b"a\x1b[2J\n\"\x7f"), b"3").unwrap();
    fs::write(os("e\u{301}".as_bytes()), b"4").unwrap();
    fs::write(os("\u{e9}".as_bytes()), b"5").unwrap();
    fs::create_dir(os(b"d\xFF%")).unwrap();
    fs::write(os(b"d\xFF%/f%"), b"6").unwrap();
    fs::write(os(b"A"), b"7").unwrap();
    fs::write(os(b"a"), b"8").unwrap();
    run(folder.path()).is(&Expected {
        rows: vec![
            file("caf%E9", b"1").says(ESCAPED),
            file("C:\\x", b"2"),
            file("a\x1b[2J\n\"\x7f", b"3"),
            // Raw bytes: `e` U+0301 is before U+00E9.
            file("\u{e9}%231", b"4").says(ESCAPED),
            file("\u{e9}", b"5"),
            directory("d%FF%25").says(ESCAPED),
            file("d%FF%25/f%25", b"6").says(ESCAPED),
            file("A", b"7").says("only by case"),
            file("a", b"8").says("only by case"),
        ],
        says: vec![
            "from another only by case",
            "4 members are recorded",
            "1 name was composed",
        ],
        status: "complete",
    });
}

#[test]
fn hard_links_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "a", b"same");
    fs::hard_link(&one, folder.path().join("b")).unwrap();
    run(folder.path()).is(&Expected {
        rows: vec![file("a", b"same"), file("b", b"same")],
        says: vec![],
        status: "complete",
    });
}

#[test]
fn folders_900_deep_and_too_deep() {
    let deep = Deep::new();
    let mut path = deep.0.clone();
    (0..900).for_each(|_| path.push("d"));
    fs::create_dir_all(&path).unwrap();
    write(&path, "leaf", b"x");
    let shown = run(&deep.0);
    assert_eq!(shown.paths().len(), 902);
    let leaf = format!("{}leaf", "d/".repeat(900));
    assert_eq!(shown.row(&leaf)["hash_status"], "verified");
    (0..125).for_each(|_| path.push("d"));
    fs::create_dir_all(&path).unwrap();
    run(&deep.0).is_limit("max_depth", 1024);
}

/// Paths longer than the system's calls take.
#[test]
fn paths_longer_than_path_max() {
    let deep = Deep::new();
    let name = "n".repeat(250);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = rustix::fs::open(&deep.0, flags, Mode::empty()).unwrap();
    let make = |at: &mut std::os::fd::OwnedFd| {
        rustix::fs::mkdirat(&*at, &name, Mode::from(0o755)).unwrap();
        *at = rustix::fs::openat(&*at, &name, flags, Mode::empty()).unwrap();
    };
    (0..250).for_each(|_| make(&mut at));
    let leaf = rustix::fs::openat(
        &at,
        "leaf",
        OFlags::CREATE | OFlags::WRONLY,
        Mode::from(0o644),
    )
    .unwrap();
    rustix::io::write(&leaf, b"x").unwrap();
    let shown = run(&deep.0);
    assert_eq!(shown.paths().len(), 252);
    let path = format!("{}/leaf", vec![name.as_str(); 250].join("/"));
    assert_eq!(shown.row(&path)["hash_status"], "verified");
    // One path has at most 65,535 bytes.
    (0..12).for_each(|_| make(&mut at));
    run(&deep.0).is_error(
        "truncated",
        &[("reason", "limit".into()), ("value", 65_535.into())],
    );
}

/// Something writes while it is read: said, as a root and in a folder.
#[test]
fn files_that_change_while_they_are_read() {
    type Change = fn(&fs::File, u64);
    let changes: [Change; 3] = [
        |file, step| file.set_len((64 << 20) + step).unwrap(),
        |file, step| file.set_len((64 << 20) - step).unwrap(),
        |file, step| {
            use std::os::unix::fs::FileExt;
            file.write_all_at(&step.to_le_bytes(), 0).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy");
        let busy = fs::File::create(&path).unwrap();
        busy.set_len(64 << 20).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let writer = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let mut step = 1;
                while !stop.load(Ordering::Relaxed) {
                    change(&busy, step);
                    step += 1;
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
        });
        let results = [watch(rea(&path)), watch(rea(folder.path()))];
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        for ran in results {
            let error = ran.error();
            error.is_error(
                "artifact_changed",
                &[("boundary", "stable-artifact-read".into())],
            );
            assert_eq!(error.json()["retryable"], true, "{number}");
        }
    }
}

/// Entries that come, go and turn into links while a folder is walked: a
/// record of what was there or a typed error, and never a byte from outside.
#[test]
fn a_folder_that_changes_under_the_walk() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    write(&outside, "f", b"secret");
    fs::create_dir(&root).unwrap();
    for number in 0..50 {
        fs::create_dir(root.join(format!("{number}"))).unwrap();
        write(&root.join(format!("{number}")), "f", b"inside");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (stop, root) = (Arc::clone(&stop), root.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                for number in 0..50 {
                    let (at, away) = (root.join(format!("{number}")), root.join("away"));
                    fs::rename(&at, &away).unwrap();
                    symlink(&outside, &at).unwrap();
                    std::thread::yield_now();
                    fs::remove_file(&at).unwrap();
                    fs::rename(&away, &at).unwrap();
                }
            }
        }
    });
    let secret = crate::support::sha256(b"secret");
    let outcome = std::panic::catch_unwind(|| {
        for threads in [1, 2, 8] {
            for _ in 0..40 {
                let shown = crate::support::record::run(&root, &Options::default(), threads, None);
                assert!(!shown.text.contains(&secret), "it was led out of the root");
                if shown.is_error {
                    shown.is_error("artifact_changed", &[]);
                }
            }
        }
    });
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    outcome.unwrap();
}
