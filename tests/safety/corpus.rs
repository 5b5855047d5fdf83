//! Small hostile archives: where the fuzzer starts. Each is read here as
//! well, and must end in a record or a typed error.

use std::path::Path;

use rea::artifact::{OnDamage, Options};

use crate::support::file as write;
use crate::support::record::everywhere;
use crate::support::zip::{
    self, DEFLATE64, DEFLATED, ENCRYPTED, End, Entry, STORED, Zip, crc32, extra, unicode_path,
};

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let x = || Entry::stored("a", b"x");
    let y = || Entry::deflated("b/c", b"yyyyyyyyyyyyyyyyyyyy");
    let shared = || {
        x().with(|e| {
            e.has_local = false;
            e.at = Some(0);
            e.central.name = b"b".to_vec();
        })
    };
    let names = [
        "..", "../x", "/etc/x", "a//b", "", "C:\\x", "a\0b", "a", "a", "a/b", "A",
    ];
    let mut block = vec![1, 7, 0, 0xF8, 0xFF];
    block.extend(b"content");
    let with_extra =
        |field: Vec<u8>| Entry::stored(b"caf\x82", b"x").both(move |h| h.extra = field.clone());
    let fake = End {
        count: 9,
        count_here: 9,
        directory_len: 99,
        ..End::empty()
    };
    vec![
        ("empty", End::empty().bytes()),
        ("plain", Zip::of([x(), y(), Entry::directory("d/")]).build()),
        (
            "comment",
            Zip::of([x()])
                .with(|z| z.comment = b"comment".to_vec())
                .build(),
        ),
        (
            "described",
            Zip::of([x().described(true, false), y().described(false, true)]).build(),
        ),
        (
            "descriptor-lies",
            Zip::of([y().described(true, false).with(|e| e.descriptor[5] ^= 1)]).build(),
        ),
        (
            "zip64",
            Zip::of([x().zip64(), y().zip64()]).end64(|_| {}).build(),
        ),
        (
            "zip64-counts",
            Zip::of([x()])
                .end64(|e| {
                    e.count = 1 << 63;
                    e.count_here = 1 << 63;
                })
                .build(),
        ),
        (
            "zip64-length",
            Zip::of([x()]).end64(|e| e.directory_len = u64::MAX).build(),
        ),
        (
            "zip64-locator",
            Zip::of([x()]).end64(|e| e.record_at = u64::MAX).build(),
        ),
        (
            "zip64-offset",
            Zip::of([x().with(|e| e.at = Some(u64::MAX))]).build(),
        ),
        (
            "zip64-size",
            Zip::of([x().central(|h| {
                h.size = u32::MAX.into();
                h.extra = extra(1, &u64::MAX.to_le_bytes());
            })])
            .build(),
        ),
        (
            "zip64-cut",
            Zip::of([x().central(|h| {
                h.size = u32::MAX.into();
                h.extra = extra(1, &[1, 2]);
            })])
            .build(),
        ),
        (
            "count",
            Zip::of([x(), y()])
                .end(|e| {
                    e.count = 1;
                    e.count_here = 1;
                })
                .build(),
        ),
        ("disks", Zip::of([x()]).end(|e| e.disk = 1).build()),
        (
            "comment-cut",
            Zip::of([x()]).end(|e| e.comment_len = Some(9)).build(),
        ),
        (
            "two-ends",
            Zip::of([x()]).with(|z| z.comment = fake.bytes()).build(),
        ),
        (
            "empty-behind",
            Zip::of([x()])
                .with(|z| z.comment = End::empty().bytes())
                .build(),
        ),
        (
            "concatenated",
            [Zip::of([x()]).build(), Zip::of([y()]).build()].concat(),
        ),
        (
            "prefix",
            Zip::of([x()])
                .with(|z| z.prefix = b"PK\x07\x08".to_vec())
                .build(),
        ),
        (
            "suffix",
            Zip::of([x()]).with(|z| z.suffix = vec![0; 30]).build(),
        ),
        (
            "block",
            Zip::of([x()])
                .with(|z| z.before_directory = b"APK Sig Block 42".to_vec())
                .build(),
        ),
        (
            "names",
            Zip::of(names.map(|n| Entry::stored(n, b"1"))).build(),
        ),
        (
            "cp437",
            Zip::of([
                Entry::stored(b"caf\x82", b"x"),
                Entry::stored("\u{e9}", b""),
            ])
            .build(),
        ),
        (
            "unicode-path",
            Zip::of([with_extra(unicode_path(b"caf\x82", "bistro"))]).build(),
        ),
        (
            "unicode-path-wrong",
            Zip::of([with_extra(unicode_path(b"caf", "bistro"))]).build(),
        ),
        (
            "twins",
            Zip::of([
                Entry::stored("e\u{301}", b"1"),
                Entry::stored("\u{e9}", b"2"),
            ])
            .build(),
        ),
        ("crc", Zip::of([y().both(|h| h.crc ^= 1)]).build()),
        ("size", Zip::of([y().both(|h| h.size = 9)]).build()),
        (
            "disagree",
            Zip::of([
                y().local(|h| h.method = STORED),
                x().local(|h| h.name = b"q".to_vec()),
            ])
            .build(),
        ),
        ("overlap", Zip::of([x(), shared()]).build()),
        (
            "into-directory",
            Zip::of([x().both(|h| {
                h.compressed = 20;
                h.size = 20;
            })])
            .build(),
        ),
        (
            "encrypted",
            Zip::of([
                Entry::raw("a", DEFLATED, vec![0x55; 19], 7, 1).both(|h| h.flags |= ENCRYPTED)
            ])
            .build(),
        ),
        (
            "encrypted-lie",
            Zip::of([x().both(|h| h.flags |= ENCRYPTED)]).build(),
        ),
        (
            "method",
            Zip::of([Entry::raw("a", 99, vec![0x55; 19], 7, 1)]).build(),
        ),
        ("method-lie", Zip::of([x().both(|h| h.method = 99)]).build()),
        (
            "deflate64",
            Zip::of([Entry::raw("a", DEFLATE64, block, 7, crc32(b"content"))]).build(),
        ),
        (
            "deflate-malformed",
            Zip::of([Entry::raw("a", DEFLATED, vec![0xFF; 9], 7, 1)]).build(),
        ),
        (
            "deflate-trailing",
            Zip::of([y().with(|e| {
                e.payload.extend(b"more");
                e.local.compressed += 4;
                e.central.compressed += 4;
            })])
            .build(),
        ),
        (
            "links",
            Zip::of([
                Entry::symlink("l", b"../../etc/passwd"),
                Entry::stored("s", b"").with(|e| e.external = 0o020_666 << 16),
            ])
            .build(),
        ),
        ("nested", zip::nested(5, b"x")),
        ("quine", zip::quine()),
        ("full-overlap", zip::full_overlap(5, 500)),
        ("quoted-overlap", zip::quoted_overlap(5, 500)),
        (
            "behind",
            Zip::of([x()])
                .with(|z| z.prefix = b"#!/bin/sh\n".to_vec())
                .build(),
        ),
    ]
}

#[test]
fn each_seed_ends_well() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in seeds() {
        assert!(bytes.len() < 8192, "{name} is too large for a seed");
        let path = write(folder.path(), name, &bytes);
        everywhere(&path, &Options::default());
        let record = Options {
            on_damage: OnDamage::Record,
            ..Options::default()
        };
        everywhere(&path, &record);
    }
    everywhere(folder.path(), &Options::default());
}

/// `cargo test --test safety -- --ignored write_the_seeds`
#[test]
#[ignore = "writes fuzz/corpus/zip"]
fn write_the_seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/zip");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in seeds() {
        write(&folder, name, &bytes);
    }
}
