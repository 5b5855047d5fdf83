//! Memory: measured in a process of its own.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;

use crate::support::child::{rea, watch, watch_for};
use crate::support::file as write;
use crate::support::zip::{self, DEFLATED, Entry, Zip};

const MIB: u64 = 1 << 20;
/// What any input may cost beside its entries.
const BASE: u64 = 64 * MIB;

#[test]
fn flat_bomb() {
    let folder = tempfile::tempdir().unwrap();
    let (payload, crc) = zip::zeros(600 * MIB);
    let bomb = Zip::of([Entry::raw("a", DEFLATED, payload.clone(), 600 * MIB, crc)]).build();
    let ran = watch(rea(&write(folder.path(), "flat.zip", &bomb)));
    assert_eq!(ran.record().row("a")["declared_size"], 600 * MIB);
    ran.within(BASE);
    // It says ten bytes and expands to 600 MiB.
    let liar = Zip::of([Entry::raw("a", DEFLATED, payload, 10, crc)]).build();
    let ran = watch(rea(&write(folder.path(), "liar.zip", &liar)));
    ran.error().is_damage("integrity", Some("a"));
    ran.within(BASE);
    // The bomb in an archive in an archive.
    let outer = zip::deflated(&[("b.zip", &zip::deflated(&[("a.zip", &bomb)]))]);
    let ran = watch(rea(&write(folder.path(), "outer.zip", &outer)));
    assert_eq!(ran.record().row("b.zip/a.zip/a")["hash_status"], "verified");
    ran.within(BASE);
}

#[test]
fn overlapping_bombs_and_quines() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [
        zip::full_overlap(2000, 64 * MIB),
        zip::quoted_overlap(1000, 64 * MIB),
    ] {
        let ran = watch(rea(&write(folder.path(), "overlap.zip", &bytes)));
        let error = ran.error();
        let code = error.json()["code"].as_str().unwrap().to_owned();
        assert!(
            code == "artifact_operation_failed" || code == "truncated",
            "{}",
            error.text
        );
        ran.within(BASE);
    }
    let ran = watch(rea(&write(folder.path(), "quine.zip", &zip::quine())));
    assert_eq!(ran.record().paths().len(), 18);
    ran.within(BASE);
    let quine = zip::gzip_quine();
    let path = write(folder.path(), "quine.gz", &quine);
    let unpacked = Command::new("gzip").arg("-dc").arg(&path).output().unwrap();
    assert!(unpacked.stdout == quine, "gzip prints something else");
    let ran = watch(rea(&path));
    let record = ran.record();
    let mut expected: Vec<String> = (1..=17)
        .map(|level| vec!["content"; level].join("/"))
        .collect();
    expected.insert(0, ".".to_owned());
    assert_eq!(record.paths(), expected);
    let last = record.row(&expected[17])["limitations"].to_string();
    assert!(last.contains("nested deeper than the limit"), "{last}");
    ran.within(BASE);
}

/// 100 nested bombs, each with a wrong checksum at its end: the work that
/// damaged containers cost is charged as well.
#[test]
fn bombs_that_are_damaged_at_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let (payload, crc) = zip::zeros(900 * MIB);
    let bomb = Zip::of([Entry::raw("a", DEFLATED, payload, 900 * MIB, crc ^ 1)]).build();
    let entries = (0..100).map(|n| Entry::deflated(format!("{n}.zip"), &bomb));
    let ran = watch(rea(&write(
        folder.path(),
        "many.zip",
        &Zip::of(entries).build(),
    )));
    assert_eq!(ran.record().paths().len(), 101);
    ran.within(BASE);
}

#[test]
fn a_million_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("million.zip");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let (mut directory, mut bytes, mut at, mut names) = (Vec::new(), Vec::new(), 0u64, 0u64);
    const COUNT: u64 = 1_000_000;
    for number in 0..COUNT {
        let entry = Entry::stored(format!("{number}"), b"");
        names += entry.central.name.len() as u64;
        bytes.clear();
        zip::local_header(&entry.local, &mut bytes);
        file.write_all(&bytes).unwrap();
        zip::central_header(&entry, at, &mut directory);
        at += bytes.len() as u64;
    }
    file.write_all(&directory).unwrap();
    let end = zip::End64 {
        count_here: COUNT,
        count: COUNT,
        directory_len: directory.len() as u64,
        directory: at,
        disk: 0,
        record_at: at + directory.len() as u64,
        disks: 1,
    };
    file.write_all(&end.bytes()).unwrap();
    let ones = zip::End {
        count_here: 0xFFFF,
        count: 0xFFFF,
        directory_len: u32::MAX,
        directory: u32::MAX,
        ..zip::End::empty()
    };
    file.write_all(&ones.bytes()).unwrap();
    file.into_inner().unwrap();
    drop(directory);
    let ran = watch(rea(&path));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stdout.matches("\"occurrence_id\":\"occ_").count() as u64,
        2 * COUNT + 1
    );
    eprintln!("1,000,000 entries: {} MiB", ran.anonymous / MIB);
    ran.within(BASE + 400 * COUNT + names);
}

#[test]
fn a_sparse_file_of_4_gib() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    File::create(&path).unwrap().set_len(4 << 30).unwrap();
    let ran = watch_for(rea(&path), std::time::Duration::from_secs(300));
    let shown = ran.record();
    assert_eq!(shown.row(".")["declared_size"], 4u64 << 30);
    // SHA-256 of 2^32 zero bytes, by sha256sum.
    assert_eq!(
        shown.json()["subject"]["digest"]["sha256"],
        "8479e43911dc45e89f934fe48d01297e16f51d17aa561d4d1c216b1ae0fcddca"
    );
    ran.within(BASE);
}

/// Link targets are content that is kept: 2,000 of 65,535 bytes from an
/// archive of some 300 KB.
#[test]
fn long_link_targets() {
    let folder = tempfile::tempdir().unwrap();
    let target = vec![b'a'; 65_535];
    let entries = (0..2000)
        .map(|n| Entry::deflated(format!("{n}"), &target).with(|e| e.external = 0o120_777 << 16));
    let ran = watch(rea(&write(
        folder.path(),
        "links.zip",
        &Zip::of(entries).build(),
    )));
    assert_eq!(ran.record().paths().len(), 2001);
    ran.within(BASE);
}

/// More nested archives than descriptors, stored in a folder and compressed
/// in an archive (which spools them).
#[test]
fn few_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    // Bytes that hardly compress.
    let mut state = 1u64;
    let mut noise = |len: usize| -> Vec<u8> {
        (0..len)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    };
    let mut entries = Vec::new();
    for number in 0..300 {
        let inner = zip::stored(&[("a", &noise(100_000))]);
        write(&tree, &format!("{number}.zip"), &inner);
        entries.push(Entry::deflated(format!("{number}.zip"), &inner));
    }
    let archive = write(folder.path(), "all.zip", &Zip::of(entries).build());
    for path in [&tree, &archive] {
        let mut command = std::process::Command::new("sh");
        command.args([
            "-c",
            "ulimit -n 64; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_rea"),
        ]);
        command
            .args(["inventory-artifact", "--format", "canonical"])
            .arg(path);
        let ran = watch(command);
        assert_eq!(ran.record().paths().len(), 601);
        ran.within(BASE);
    }
}
