//! Records stay where they are: what a bundle needs in memory does not grow
//! with their size.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use rea::evidence::{Creation, Evidence};

use crate::support::child;
use crate::{FIXTURE, canonical};

const MIB: u64 = 1 << 20;

/// Records of 1 MiB and of 20 MiB, 84 MiB together.
fn write_records(path: &Path) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    for (number, size) in [20, 1, 20, 1, 20, 1, 20, 1].into_iter().enumerate() {
        let mut creation = Creation::new("health", FIXTURE);
        let text = format!("{number}{}", "0123456789abcdef".repeat(size << 16));
        creation.normalized_result = text.into();
        out.write_all(&canonical(&Evidence::create(creation)))
            .unwrap();
        out.write_all(b"\n").unwrap();
    }
    out.flush().unwrap();
}

#[test]
fn no_record_is_held_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_records(&folder.path().join("all.jsonl"));
    for arguments in [
        "bundle all.jsonl -o bundle.json",
        "evidence-import bundle.json",
        "inspect-evidence-bundle bundle.json --detail summary",
        "evidence-export bundle.json copy.json",
        "list-unknowns bundle.json",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
        command
            .args(arguments.split(' '))
            .current_dir(folder.path());
        let ran = child::watch(command);
        assert_eq!(ran.status, Some(0), "{arguments}: {}", ran.stderr);
        assert!(
            ran.anonymous < 16 * MIB,
            "{arguments}: {} MiB",
            ran.anonymous / MIB
        );
    }
    let file = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(file("bundle.json") == file("copy.json"));
}
