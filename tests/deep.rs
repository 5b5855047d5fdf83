//! `diff --deep` as a program: libraries that the C compiler makes, modules
//! written here byte by byte, both also inside of archives.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use support::zip::{Entry, Zip};

fn rea(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
    command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn deep(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["diff"], arguments, &["--deep"]].concat();
    let output = rea(folder, &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// WebAssembly core specification, section 5: a module that imports functions
/// of type `[] -> []` and exports the first of them.
fn module(imports: &[&str], exports: &[&str]) -> Vec<u8> {
    let section = |id: u8, rows: Vec<Vec<u8>>| {
        let mut body = vec![rows.len() as u8];
        body.extend(rows.concat());
        let mut out = vec![id, body.len() as u8];
        out.extend(body);
        out
    };
    let name = |name: &str| {
        let mut out = vec![name.len() as u8];
        out.extend(name.as_bytes());
        out
    };
    let types = section(1, vec![vec![0x60, 0, 0]]);
    let imports = imports.iter().map(|one| {
        let mut row = name("env");
        row.extend(name(one));
        row.extend([0, 0]);
        row
    });
    let exports = exports.iter().map(|one| {
        let mut row = name(one);
        row.extend([0, 0]);
        row
    });
    let mut out = b"\0asm\x01\0\0\0".to_vec();
    out.extend(types);
    out.extend(section(2, imports.collect()));
    out.extend(section(7, exports.collect()));
    out
}

/// A folder with an old and a new release: a module beside text, and another
/// in an archive.
fn modules() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let old = module(&["log", "now"], &["run", "stop"]);
    let new = module(&["log", "fetch"], &["run"]);
    for (name, module) in [("old", &old), ("new", &new)] {
        let side = folder.path().join(name);
        fs::create_dir(&side).unwrap();
        fs::write(side.join("app.wasm"), module).unwrap();
        fs::write(side.join("notes.txt"), name).unwrap();
        let inner = Zip::of([Entry::deflated("m/inner.wasm", module)]);
        fs::write(side.join("app.zip"), inner.build()).unwrap();
    }
    folder
}

fn names(rows: &Value) -> Vec<&str> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn modules_are_compared_wherever_they_are() {
    let folder = modules();
    let record = deep(folder.path(), &["old", "new"]);
    assert_eq!(record["parameters"]["deep"], true);
    let found = &record["normalized_result"]["deep"];
    let members: Vec<_> = found["members"].as_array().unwrap().iter().collect();
    let paths: Vec<_> = members.iter().map(|one| &one["logical_path"]).collect();
    assert_eq!(paths, ["app.wasm", "app.zip/m/inner.wasm"]);
    let changes = found["changes"].as_array().unwrap();
    let topics: Vec<_> = changes
        .iter()
        .map(|one| one["topic"].as_str().unwrap())
        .collect();
    assert_eq!(
        topics,
        ["wasm-export", "wasm-import", "wasm-export", "wasm-import"]
    );
    for pair in changes.chunks(2) {
        assert_eq!(names(&pair[0]["removed"]), ["stop"]);
        assert_eq!(names(&pair[0]["added"]), Vec::<&str>::new());
        assert_eq!(names(&pair[1]["removed"]), ["env.now"]);
        assert_eq!(names(&pair[1]["added"]), ["env.fetch"]);
    }
    assert_eq!(found["unread"], json!([]));
    // Without --deep nothing is opened, and the id is another.
    let output = rea(folder.path(), &["diff", "old", "new"]);
    let plain: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(plain["normalized_result"].get("deep").is_none());
    assert!(plain["parameters"].get("deep").is_none());
    assert_ne!(plain["evidence_id"], record["evidence_id"]);
}

#[test]
fn the_record_does_not_depend_on_threads_and_verifies() {
    let folder = modules();
    let run = |more: &[&str]| {
        let arguments = [&["diff", "old", "new", "--deep"], more].concat();
        rea(folder.path(), &arguments).stdout
    };
    let one = run(&["-j", "1"]);
    for more in [["-j", "2"], ["-j", "7"], ["--disorder", "9"]] {
        assert!(one == run(&more), "{more:?}");
    }
    fs::write(folder.path().join("diff.json"), &one).unwrap();
    let verified = rea(folder.path(), &["verify-evidence", "diff.json"]);
    assert!(verified.status.success());
}

/// A file is a root of its own, with nothing around it.
#[test]
fn roots_are_members_too() {
    let folder = modules();
    let record = deep(folder.path(), &["old/app.wasm", "new/app.wasm"]);
    let found = &record["normalized_result"]["deep"];
    assert_eq!(found["members"][0]["logical_path"], ".");
    assert_eq!(found["changes"].as_array().unwrap().len(), 2);
    let record = deep(folder.path(), &["old/app.zip", "new/app.zip"]);
    let found = &record["normalized_result"]["deep"];
    assert_eq!(found["members"][0]["logical_path"], "m/inner.wasm");
}

#[test]
fn reasons_come_first_and_decide() {
    let folder = modules();
    let gate = |list: &str| {
        let arguments = ["diff", "old", "new", "--deep", "--fail-on", list, "-q"];
        let output = rea(folder.path(), &arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.stdout.is_empty());
        (output.status.code().unwrap(), said)
    };
    assert_eq!(gate("symbol-removed,mitigation-lost"), (0, String::new()));
    let (status, said) = gate("import-added,export-removed");
    assert_eq!(status, 3);
    assert_eq!(
        said,
        "export-removed: app.wasm: stop\nexport-removed: app.zip/m/inner.wasm: stop\n\
         import-added: app.wasm: env.fetch\nimport-added: app.zip/m/inner.wasm: env.fetch\n"
    );
    // What cannot be looked into cannot be told.
    fs::write(folder.path().join("new/app.wasm"), b"\0asm\x01\0\0\0\xFF").unwrap();
    let (status, said) = gate("wasm-export-added");
    assert_eq!((status, said.as_str()), (4, ""));
    let record = deep(folder.path(), &["old", "new"]);
    let unread = &record["normalized_result"]["deep"]["unread"];
    assert_eq!(unread[0]["logical_path"], "app.wasm");
}

#[test]
fn libraries_are_compared_by_what_the_linker_made() {
    let folder = tempfile::tempdir().unwrap();
    let sources = [
        (
            "old",
            "int kept(void){return 1;} int gone(void){return 2;} char t[8]=\"a\";",
            "now",
        ),
        (
            "new",
            "int kept(void){return 3;} int fresh(void){return 2;} char t[32]=\"a\";",
            "lazy",
        ),
    ];
    for (name, text, binding) in sources {
        let side = folder.path().join(name);
        fs::create_dir(&side).unwrap();
        let source = folder.path().join(format!("{name}.c"));
        fs::write(&source, text).unwrap();
        let made = Command::new("cc")
            .args([
                "-shared",
                "-fPIC",
                "-nostdlib",
                "-Wl,--build-id=sha1",
                "-Wl,-z,relro",
            ])
            .arg(format!("-Wl,-z,{binding}"))
            .arg("-o")
            .arg(side.join("libt.so"))
            .arg(&source)
            .status();
        // A fresh machine has a compiler where tests have to pass.
        if !made.is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("CI").is_none(), "cc is needed");
            return;
        }
    }
    let record = deep(folder.path(), &["old", "new"]);
    let found = &record["normalized_result"]["deep"];
    let of = |topic: &str| {
        let mut rows = found["changes"].as_array().unwrap().iter();
        rows.find(|row| row["topic"] == topic).unwrap()
    };
    assert_eq!(names(&of("export")["added"]), ["fresh"]);
    assert_eq!(names(&of("export")["removed"]), ["gone"]);
    assert_eq!(names(&of("export")["changed"]), ["t"]);
    assert_eq!(names(&of("build-id")["changed"]), ["gnu-build-id"]);
    let relro = of("mitigation")["changed"].as_array().unwrap();
    let relro = relro.iter().find(|row| row["name"] == "relro").unwrap();
    assert_eq!(
        (&relro["before"], &relro["after"]),
        (&json!("present"), &json!("partial"))
    );
    let output = rea(
        folder.path(),
        &[
            "diff",
            "old",
            "new",
            "--deep",
            "--fail-on",
            "mitigation-lost",
            "-q",
        ],
    );
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stderr, b"mitigation-lost: libt.so: relro\n");
}
