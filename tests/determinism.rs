//! The same record whatever the threads did: listings shuffled and work
//! delayed from 100 seeds, with 1, 2 and 64 threads.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::Path;

use rea::artifact::{OnDamage, Options};
use support::record::run;
use support::zip::{self, ENCRYPTED, Entry, Zip, deflated, stored};

/// Nested archives that are good, damaged, encrypted, too deep and over the
/// budgets, in folders and in each other.
fn tree(root: &Path) {
    let good = deflated(&[
        ("a", b"one"),
        ("b/c", b"two"),
        ("../d", b"three"),
        ("a", b"four"),
    ]);
    let bad = Zip::of([
        Entry::stored("x.zip", &good),
        Entry::deflated("y", b"y").both(|h| h.crc ^= 1),
        Entry::deflated("z", &[7; 3000]).both(|h| h.size = 9),
        Entry::stored("w.zip", &good),
    ])
    .build();
    let locked = Zip::of([
        Entry::stored("e", &[1; 20]).both(|h| {
            h.flags |= ENCRYPTED;
            h.size = 8;
        }),
        Entry::stored("f", b"f").both(|h| h.method = 99),
    ])
    .build();
    let deep = zip::nested(20, b"deep");
    let wide = Zip::of((0..40).map(|n| Entry::deflated(format!("{n}"), &[n as u8; 100]))).build();
    let mixed = Zip::of([
        Entry::stored("m/good.zip", &good),
        Entry::deflated("m/bad.zip", &bad),
        Entry::deflated("m/wide.zip", &wide),
        Entry::stored("m/locked.zip", &locked),
        Entry::deflated("m/deep.zip", &deep),
        Entry::stored("l", b"target").with(|e| e.external = 0o120_777 << 16),
    ])
    .build();
    for (name, bytes) in [
        ("a.zip", &mixed),
        ("b.zip", &wide),
        ("c/bad.zip", &bad),
        ("c/locked.zip", &locked),
        ("d/good.zip", &good),
        ("d/quine.zip", &zip::quine()),
        ("e/deep.zip", &deep),
        (
            "e/two.zip",
            &deflated(&[("1.zip", &mixed), ("2.zip", &mixed)]),
        ),
        ("plain", &vec![3; 5000]),
    ] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let prefixed =
        Zip::of([Entry::stored("p", b"p")]).with(|zip| zip.prefix = b"#!/bin/sh\n".to_vec());
    std::fs::write(root.join("run.sh"), prefixed.build()).unwrap();
    std::os::unix::fs::symlink("a.zip", root.join("link.zip")).unwrap();
}

fn options() -> Vec<Options> {
    let default = Options::default();
    vec![
        default.clone(),
        // Each budget runs out somewhere inside.
        Options {
            max_entries: 70,
            ..default.clone()
        },
        Options {
            max_total_bytes: 40_000,
            ..default.clone()
        },
        Options {
            max_entry_bytes: 5_000,
            ..default.clone()
        },
        Options {
            max_nesting: 3,
            on_damage: OnDamage::Record,
            ..default
        },
    ]
}

#[test]
fn a_hundred_seeds() {
    let folder = tempfile::tempdir().unwrap();
    tree(folder.path());
    let outer = stored(&[(
        "t.zip",
        &std::fs::read(folder.path().join("e/two.zip")).unwrap(),
    )]);
    let archive = support::file(folder.path(), "outer.zip", &outer);
    let mut cases = Vec::new();
    for options in options() {
        for root in [folder.path(), &archive] {
            let expected = run(root, &options, 1, None);
            assert!(!expected.is_error, "{}", expected.text);
            cases.push((root, options.clone(), expected));
        }
    }
    // Each case meets every seed, and each number of threads a third of them.
    for seed in 0..100 {
        for (number, (root, options, expected)) in cases.iter().enumerate() {
            let threads = [1, 2, 64][(seed as usize + number) % 3];
            let found = run(root, options, threads, Some(seed));
            assert_eq!(
                found, *expected,
                "seed {seed}, {threads} threads, {options:?}"
            );
        }
    }
}

/// An error is the same one as well: the first in container order.
#[test]
fn errors_too() {
    let mut entries: Vec<Entry> = (0..300)
        .map(|n| Entry::deflated(format!("{n}"), &vec![n as u8; 10 * n]))
        .collect();
    for at in [200, 77, 150, 299] {
        entries[at].central.crc ^= 1;
    }
    entries[140].central.size += 1;
    let folder = tempfile::tempdir().unwrap();
    let path = support::file(folder.path(), "bad.zip", &Zip::of(entries).build());
    for seed in 0..100 {
        let threads = [1, 2, 64][seed as usize % 3];
        let shown = run(&path, &Options::default(), threads, Some(seed));
        shown.is_damage("integrity", Some("77"));
    }
}
