//! Decisions 7 to 12: ZIP structure that lies, is damaged, or stands inside
//! other bytes.

use rea::artifact::{OnDamage, Options};
use serde_json::Value;

use crate::names::ONLY_CENTRAL;
use crate::support::file as write;
use crate::support::record::{Expected, Row, Shown, everywhere, file, link, says, unread};
use crate::support::zip::{
    Bits, DEFLATE64, DEFLATED, ENCRYPTED, End, End64, Entry, STORED, UTF8, Zip, crc32, deflate,
    deflated, extra, stored,
};

fn run(bytes: &[u8], options: &Options) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    everywhere(&write(folder.path(), "case.zip", bytes), options)
}

fn recording() -> Options {
    Options {
        on_damage: OnDamage::Record,
        ..Options::default()
    }
}

#[track_caller]
fn check(bytes: &[u8], rows: Vec<Row<'_>>, limitations: &[&str]) {
    let mut all = vec![ONLY_CENTRAL];
    all.extend(limitations);
    run(bytes, &Options::default()).is(&Expected {
        rows,
        says: all,
        status: "complete",
    });
}

/// Damaged by default; with `--on-damage record` what is expected.
#[track_caller]
fn damaged(bytes: &[u8], reason: &str, member: Option<&str>, rows: Vec<Row<'_>>, also: &[&str]) {
    run(bytes, &Options::default()).is_damage(reason, member);
    let shown = run(bytes, &recording());
    let mut all = vec![ONLY_CENTRAL];
    all.extend(also);
    shown.is(&Expected {
        rows,
        says: all,
        status: "unknown",
    });
    assert_eq!(shown.json()["parameters"]["on_damage"], "record");
}

/// Nothing can be listed.
#[track_caller]
fn broken(bytes: &[u8]) {
    run(bytes, &Options::default()).is_damage("format", None);
    let shown = run(bytes, &recording());
    assert_eq!(shown.paths(), ["."]);
    assert_eq!(shown.coverage().1, "unknown");
    assert!(
        shown
            .limitations()
            .iter()
            .any(|text| text.contains("damaged at offset"))
    );
}

/// The end record or the central directory lies; the members that its headers
/// name are there all the same, and are kept where damage is recorded.
#[track_caller]
fn lies(bytes: &[u8], members: &[(&str, &[u8])]) {
    run(bytes, &Options::default()).is_damage("format", None);
    let shown = run(bytes, &recording());
    let paths = members.iter().map(|(path, _)| *path);
    assert_eq!(
        shown.paths(),
        [".".to_owned()]
            .into_iter()
            .chain(paths.map(str::to_owned))
            .collect::<Vec<_>>()
    );
    for (path, content) in members {
        shown.is_verified(path, content);
    }
    assert_eq!(shown.coverage().1, "unknown");
    let said = shown.limitations();
    assert!(
        said.iter()
            .any(|text| text.contains("what could be read of it is listed")),
        "{said:?}"
    );
}

#[test]
fn an_honest_archive_and_an_empty_one() {
    check(
        &stored(&[("a", b"1"), ("b/c", b"2")]),
        vec![file("a", b"1"), file("b/c", b"2")],
        &[],
    );
    check(&End::empty().bytes(), vec![], &[]);
}

#[test]
fn data_descriptors_of_all_four_shapes() {
    for signed in [false, true] {
        for wide in [false, true] {
            let zip = Zip::of([
                Entry::deflated("a", b"first").described(signed, wide),
                Entry::stored("b", b"second").described(signed, wide),
            ]);
            check(
                &zip.build(),
                vec![file("a", b"first"), file("b", b"second")],
                &[],
            );
        }
    }
}

#[test]
fn zip64() {
    let zip = Zip::of([
        Entry::deflated("a", b"first").zip64(),
        Entry::stored("b", b"second").zip64(),
    ])
    .end64(|_| {});
    check(
        &zip.build(),
        vec![file("a", b"first"), file("b", b"second")],
        &[],
    );
    // In front of it, a prefix that offsets do not count.
    let zip = zip.with(|zip| zip.prefix = b"PK\x07\x08".to_vec());
    let rows = vec![file("a", b"first"), file("b", b"second")];
    check(&zip.build(), rows, &["4 bytes in 1 range "]);
}

#[test]
fn zip64_that_lies() {
    let entries = || [Entry::stored("a", b"x")];
    let one: &[(&str, &[u8])] = &[("a", b"x")];
    for count in [2, 1 << 32, 1 << 53, 1 << 63, u64::MAX] {
        let lying = Zip::of(entries()).end64(move |end| {
            end.count = count;
            end.count_here = count;
        });
        lies(&lying.build(), one);
    }
    let changes: [fn(&mut End64); 4] = [
        |end| end.count = 7, // two counts
        |end| end.disk = 1,
        |end| end.directory_len = u64::MAX,
        |end| end.directory_len = 1 << 63,
    ];
    for change in changes {
        lies(&Zip::of(entries()).end64(change).build(), one);
    }
    // The directory stands before the end record; another offset is a shift
    // that no local header fits.
    run(
        &Zip::of(entries()).end64(|end| end.directory = 0).build(),
        &Options::default(),
    )
    .is_damage("format", Some("a"));
    // A locator that points elsewhere: the record before it is the one.
    let zip = Zip::of(entries()).end64(|end| end.record_at = u64::MAX);
    check(&zip.build(), vec![file("a", b"x")], &[]);
}

#[test]
fn end_records_that_lie() {
    let entries = || [Entry::stored("a", b"x"), Entry::stored("b", b"y")];
    let both: &[(&str, &[u8])] = &[("a", b"x"), ("b", b"y")];
    lies(&Zip::of(entries()).end(|end| end.count = 1).build(), both);
    for count in [1, 3, 0x1001, 65_534] {
        let lying = Zip::of(entries()).end(move |end| {
            end.count = count;
            end.count_here = count;
        });
        lies(&lying.build(), both);
    }
    let changes: [fn(&mut End); 4] = [
        |end| end.disk = 1,
        |end| end.directory_disk = 1,
        |end| end.directory_len += 1,
        |end| end.comment_len = Some(1),
    ];
    for change in changes {
        lies(&Zip::of(entries()).end(change).build(), both);
    }
    // A directory one byte too short: its last header is cut.
    let short = Zip::of(entries()).end(|end| end.directory_len -= 1);
    lies(&short.build(), &both[..1]);
    broken(b"PK\x03\x04");
    broken(b"PK\x05\x06");
    broken(b"PK\x07\x08nothing");
}

/// Local and central headers disagree: the central one wins, said.
#[test]
fn headers_that_disagree() {
    let disagreeing: [fn(Entry) -> Entry; 6] = [
        |e| e.local(|h| h.name = b"b".to_vec()),
        |e| e.local(|h| h.name = b"longer".to_vec()),
        |e| e.local(|h| h.size = 99),
        |e| e.local(|h| h.compressed = 99),
        |e| e.local(|h| h.crc ^= 1),
        |e| e.local(|h| h.method = STORED),
    ];
    for change in disagreeing {
        let zip = Zip::of([
            change(Entry::deflated("a", b"content content")),
            Entry::stored("z", b"z"),
        ]);
        let rows = vec![
            file("a", b"content content").says("disagrees"),
            file("z", b"z"),
        ];
        check(&zip.build(), rows, &[]);
    }
    // Encryption only the local header claims.
    let zip = Zip::of([Entry::stored("a", b"x").local(|h| h.flags = ENCRYPTED)]);
    check(&zip.build(), vec![file("a", b"x").says("disagrees")], &[]);
    // A descriptor that contradicts.
    let entry = Entry::deflated("a", b"x")
        .described(true, false)
        .with(|e| e.descriptor[5] ^= 1);
    check(
        &Zip::of([entry]).build(),
        vec![file("a", b"x").says("disagrees")],
        &[],
    );
}

#[test]
fn wrong_checksums_and_sizes() {
    let next = || Entry::stored("z", b"z");
    let good = || file("z", b"z");
    // The checksum contradicts: mismatched, the node is what was decoded.
    let bad = Entry::deflated("a", b"content").both(|h| h.crc ^= 1);
    let crc = format!("{:08x}", crc32(b"content"));
    let declared = format!("{:08x}", crc32(b"content") ^ 1);
    damaged(
        &Zip::of([bad, next()]).build(),
        "integrity",
        Some("a"),
        vec![file("a", b"content").mismatched().says(&crc), good()],
        &[],
    );
    let shown = run(
        &Zip::of([Entry::stored("a", b"content").both(|h| h.crc ^= 1)]).build(),
        &recording(),
    );
    let text = shown.row("a")["limitations"][0].to_string();
    assert!(text.contains(&crc) && text.contains(&declared), "{text}");
    assert_eq!(
        shown.graph()["integrity_contradictions"],
        Value::Array(vec![])
    );
    // Sizes.
    for size in [0, 6, 8] {
        let bad = Entry::deflated("a", b"content").both(|h| h.size = size);
        let said = format!("declares {size}");
        damaged(
            &Zip::of([bad, next()]).build(),
            "integrity",
            Some("a"),
            vec![file("a", b"content").mismatched().says(&said), good()],
            &[],
        );
    }
    let bad = Entry::stored("a", b"content").both(|h| h.size = 8);
    damaged(
        &Zip::of([bad, next()]).build(),
        "integrity",
        Some("a"),
        vec![file("a", b"content").mismatched().says("7 bytes"), good()],
        &[],
    );
}

#[test]
fn sizes_beyond_what_json_numbers_hold() {
    let huge = (1u64 << 53) + 1;
    let entry = Entry::stored("a", b"x").central(|h| {
        h.size = 0xFFFF_FFFF;
        h.extra = extra(1, &huge.to_le_bytes());
    });
    let bytes = Zip::of([entry]).build();
    run(&bytes, &Options::default()).is_limit("max_entry_bytes", 64 << 30);
    let wide = Options {
        max_entry_bytes: u64::MAX,
        max_total_bytes: u64::MAX,
        max_compression_ratio: u64::MAX,
        ..recording()
    };
    let shown = run(&bytes, &wide);
    let row = shown.row("a");
    assert!(row["declared_size"].is_null(), "{row}");
    assert_eq!(row["hash_status"], "mismatched");
    let said = row["limitations"].to_string();
    assert!(
        said.contains(&format!("declared size is {huge} bytes")),
        "{said}"
    );
}

#[test]
fn compressed_data_that_is_malformed_or_cut_or_too_long() {
    let next = || Entry::stored("z", b"z");
    let content = b"some content, some content";
    let stream = deflate(content);
    for (method, payload) in [
        (DEFLATED, vec![0xFF; 9]),
        (DEFLATED, stream[..stream.len() - 3].to_vec()),
        (DEFLATED, Vec::new()),
        (DEFLATE64, vec![0xFF; 9]),
        (DEFLATE64, stream[..stream.len() - 3].to_vec()),
    ] {
        let entry = Entry::raw("a", method, payload, content.len() as u64, crc32(content));
        let rows = [unread("a", "could not be read"), file("z", b"z")];
        let bytes = Zip::of([entry, next()]).build();
        run(&bytes, &Options::default()).is_damage("format", Some("a"));
        let shown = run(&bytes, &recording());
        assert_eq!(shown.row("a")["hash_status"], "unavailable");
        assert_eq!(shown.row("z")["hash_status"], "verified");
        assert_eq!(shown.coverage().1, "unknown");
        assert_eq!(rows.len() + 1, shown.paths().len());
    }
    // Bytes behind the end of the stream are said (decision 12).
    let mut payload = stream;
    let at = 30 + 1 + payload.len();
    payload.extend(b"trailing");
    let entry = Entry::raw("a", DEFLATED, payload, content.len() as u64, crc32(content));
    let said = format!(
        "8 bytes in 1 range belong to no member and no known structure: {at}..{}",
        at + 8
    );
    check(
        &Zip::of([entry]).build(),
        vec![file("a", content)],
        &[&said],
    );
}

/// Two entries of one local header, one inside another's data, one over the
/// central directory.
#[test]
fn overlaps() {
    let twin = |at| {
        Entry::stored("b", b"x").with(|e| {
            e.has_local = false;
            e.at = Some(at);
        })
    };
    let bytes = Zip::of([Entry::stored("a", b"x"), twin(0)]).build();
    run(&bytes, &Options::default()).is_damage("format", Some("b"));
    let shown = run(&bytes, &recording());
    assert_eq!(shown.row("a")["hash_status"], "verified");
    assert_eq!(shown.row("b")["hash_status"], "unavailable");
    assert_eq!(shown.coverage().1, "unknown");

    let inner = Zip::of([Entry::stored("b", b"x")]).build();
    let bytes = Zip::of([Entry::stored("a", &inner), twin(31)]).build();
    run(&bytes, &Options::default()).is_damage("format", Some("b"));

    let into = Entry::stored("a", b"x").both(|h| {
        h.compressed = 20;
        h.size = 20;
    });
    run(&Zip::of([into]).build(), &Options::default()).is_damage("format", Some("a"));
    let away = Entry::stored("a", b"x").with(|e| e.at = Some(1 << 20));
    run(&Zip::of([away]).build(), &Options::default()).is_damage("format", Some("a"));
    let away = Entry::stored("a", b"x").with(|e| e.at = Some(u64::MAX));
    run(&Zip::of([away]).build(), &Options::default()).is_damage("format", Some("a"));
}

/// Every prefix of an archive is an error that names a place, or no archive.
#[test]
fn truncated_at_every_byte() {
    let archives = [
        Zip::of([
            Entry::deflated("a", b"first first"),
            Entry::stored("b", b"second").described(true, false),
            Entry::directory("d/"),
        ])
        .with(|zip| zip.comment = b"comment".to_vec())
        .build(),
        Zip::of([Entry::stored("a", b"x").zip64()])
            .end64(|_| {})
            .build(),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (bytes, has_comment) in archives.into_iter().zip([true, false]) {
        for len in 0..bytes.len() {
            let path = write(folder.path(), "cut.zip", &bytes[..len]);
            let shown = everywhere(&path, &Options::default());
            if len < 4 {
                assert_eq!(shown.paths(), ["."]);
                assert_eq!(shown.coverage(), ("root".to_owned(), "complete".to_owned()));
            } else {
                shown.is_damage("format", None);
            }
            let shown = everywhere(&path, &recording());
            // Only a cut comment leaves the directory to be followed.
            let followed = has_comment && len >= bytes.len() - b"comment".len();
            let expected: &[&str] = if followed {
                &[".", "a", "b", "d"]
            } else {
                &["."]
            };
            assert_eq!(shown.paths(), expected);
            assert_eq!(
                shown.coverage().1,
                if len < 4 { "complete" } else { "unknown" }
            );
        }
    }
}

/// Every byte of an archive changed in turn: a record or a typed error, the
/// same with any number of threads, and nothing read wrongly.
#[test]
fn every_byte_changed() {
    let content: &[u8] = b"first first";
    let bytes = Zip::of([Entry::deflated("a", content), Entry::stored("b", b"second")]).build();
    let folder = tempfile::tempdir().unwrap();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let path = write(folder.path(), "changed.zip", &changed);
            let shown = everywhere(&path, &Options::default());
            if shown.is_error {
                let code = shown.json()["code"].as_str().unwrap().to_owned();
                assert!(["artifact_operation_failed", "truncated"].contains(&code.as_str()));
            } else if shown.paths().iter().any(|path| path == "b") {
                // What is listed as read has the bytes that were put in, but
                // for names and kinds, which nothing protects.
                let row = shown.row("b");
                let nodes = shown.graph()["nodes"].to_string();
                let fits = nodes.contains(&crate::support::sha256(b"second"));
                assert!(
                    fits || row["hash_status"] != "verified" || row["entry_kind"] != "file",
                    "{at}"
                );
            }
        }
    }
}

#[test]
fn encryption_and_unsupported_methods() {
    let next = || Entry::stored("z", b"z");
    let secret = vec![0x55; 19];
    let entry = Entry::raw("a", DEFLATED, secret.clone(), 7, 1).both(|h| h.flags |= ENCRYPTED);
    check(
        &Zip::of([entry, next()]).build(),
        vec![unread("a", "encrypted"), file("z", b"z")],
        &[],
    );
    let entry = Entry::raw("a", STORED, secret.clone(), 7, 1).both(|h| h.flags |= ENCRYPTED);
    let bytes = Zip::of([entry, next()]).build();
    check(&bytes, vec![unread("a", "encrypted"), file("z", b"z")], &[]);
    assert_eq!(run(&bytes, &Options::default()).row("a")["encrypted"], true);
    for method in [1, 6, 12, 14, 93, 98, 99, 1234] {
        let entry = Entry::raw("a", method, secret.clone(), 7, 1);
        let said = format!("method {method},");
        check(
            &Zip::of([entry, next()]).build(),
            vec![unread("a", &said), file("z", b"z")],
            &[],
        );
    }
    let bytes = Zip::of([Entry::raw("a.zip", 99, secret, 7, 1)]).build();
    let row = run(&bytes, &Options::default()).row("a.zip");
    says(
        &crate::support::record::strings(&row["limitations"]),
        &["suffix", "method 99"],
        "a.zip",
    );
    assert_eq!(
        (
            row["artifact_kind"].as_str(),
            row["artifact_format"].as_str()
        ),
        (Some("unknown"), Some("unknown"))
    );
}

/// Decision 8: what Android's loader reads although headers say otherwise.
#[test]
fn header_lies_that_android_ignores() {
    for method in [1, 77, 0xFFFF] {
        let entry = Entry::stored("a", b"content").both(|h| h.method = method);
        let rows = vec![file("a", b"content").says("unknown compression method")];
        check(&Zip::of([entry]).build(), rows, &[]);
    }
    let entry = Entry::stored("a", b"content").both(|h| h.flags |= ENCRYPTED);
    let bytes = Zip::of([entry]).build();
    check(
        &bytes,
        vec![file("a", b"content").says("says encrypted")],
        &[],
    );
    assert_eq!(
        run(&bytes, &Options::default()).row("a")["encrypted"],
        false
    );
    // Sizes fit and the checksum does not: nothing is proven.
    let entry = Entry::stored("a", b"content").both(|h| {
        h.flags |= ENCRYPTED;
        h.crc ^= 1;
    });
    check(
        &Zip::of([entry]).build(),
        vec![unread("a", "encrypted")],
        &[],
    );
    let entry = Entry::stored("a", b"content").both(|h| {
        h.method = 77;
        h.crc ^= 1;
    });
    check(
        &Zip::of([entry]).build(),
        vec![unread("a", "method 77,")],
        &[],
    );
}

/// Of a hand-made stream: one literal block of deflate64 (stored block 00).
#[test]
fn deflate64() {
    let mut payload = vec![1, 7, 0, 0xF8, 0xFF];
    payload.extend(b"content");
    let entry = Entry::raw("a", DEFLATE64, payload, 7, crc32(b"content"));
    check(&Zip::of([entry]).build(), vec![file("a", b"content")], &[]);
}

/// What deflate64 has and deflate has not: code 285 with 16 bits of length.
#[test]
fn a_long_match_of_deflate64() {
    let mut bits = Bits::default();
    bits.block(true);
    bits.code(0x30 + usize::from(b'a'), 8);
    bits.code(0b1100_0101, 8);
    bits.number(40_000 - 3, 16);
    bits.code(0, 5); // distance 1
    bits.end();
    let content = vec![b'a'; 40_001];
    let entry = Entry::raw("a", DEFLATE64, bits.bytes, 40_001, crc32(&content));
    check(&Zip::of([entry]).build(), vec![file("a", &content)], &[]);
}

#[test]
fn links() {
    let zip = Zip::of([
        Entry::symlink("l", b"../../etc/passwd"),
        Entry::symlink("l.zip", b"x\xFFy"),
    ]);
    let rows = vec![
        link("l", b"../../etc/passwd"),
        link("l.zip", b"x\xFFy").says("suffix"),
    ];
    check(&zip.build(), rows, &[]);
    let shown = run(&zip.build(), &Options::default());
    assert_eq!(shown.row("l")["link_target"], "../../etc/passwd");
    assert_eq!(shown.row("l.zip")["link_target"], "x%FFy");
    assert_eq!(shown.row("l.zip")["artifact_kind"], "unknown");
}

#[test]
fn devices_and_directories_with_data_inside_archives() {
    for mode in [0o020_666u32, 0o060_666, 0o010_666, 0o140_666] {
        let special = Entry::stored("s", b"").with(|e| e.external = mode << 16);
        check(
            &Zip::of([special, Entry::stored("z", b"z")]).build(),
            vec![unread("s", "device, FIFO or socket"), file("z", b"z")],
            &[],
        );
    }
    // Bytes that a directory claims belong to no member.
    let zip = Zip::of([Entry::stored("d/", b"hidden").with(|e| e.external = 0o040_755 << 16)]);
    let rows = vec![crate::support::record::directory("d")];
    check(
        &zip.build(),
        rows,
        &["6 bytes in 1 range belong to no member and no known structure: 32..38"],
    );
}

#[test]
fn bytes_of_no_member_are_said() {
    // Where an APK signing block stands.
    let block = b"....APK Sig Block 42".to_vec();
    let zip = Zip::of([Entry::stored("a", b"x")]).with(|zip| zip.before_directory = block);
    check(
        &zip.build(),
        vec![file("a", b"x")],
        &["20 bytes in 1 range belong to no member and no known structure: 32..52"],
    );
    // Ten gaps: the first eight ranges.
    let gap = |name: &str| Entry::stored(name, b"").with(|e| e.before = vec![7; 2]);
    let mut zip = Zip::of((0..11).map(|n| gap(&n.to_string())));
    zip.entries[0].before.clear();
    let shown = run(&zip.build(), &Options::default());
    let said = &shown.limitations()[1];
    assert!(said.starts_with("20 bytes in 10 ranges"), "{said}");
    assert_eq!(said.matches("..").count(), 8, "{said}");
    let zip = Zip::of([Entry::stored("a", b"x")]).with(|zip| zip.suffix = vec![7; 9]);
    let len = zip.build().len();
    let said = format!(
        "9 bytes in 1 range belong to no member and no known structure: {}..{len}",
        len - 9
    );
    check(&zip.build(), vec![file("a", b"x")], &[&said]);
}

#[test]
fn several_end_records() {
    // A later one that is not valid.
    let zip = Zip::of([Entry::stored("a", b"x")]).with(|zip| {
        let fake = End {
            count: 9,
            count_here: 9,
            directory_len: 99,
            ..End::empty()
        };
        zip.comment = [b"see ".to_vec(), fake.bytes()].concat();
    });
    check(
        &zip.build(),
        vec![file("a", b"x")],
        &["1 later end record is not valid"],
    );
    // A later one that is valid and empty: the last wins, said.
    let zip = Zip::of([Entry::stored("a", b"x")]).with(|zip| zip.comment = End::empty().bytes());
    let shown = run(&zip.build(), &Options::default());
    assert_eq!(shown.paths(), ["."]);
    says(
        &shown.limitations(),
        &[
            ONLY_CENTRAL,
            "1 end record stands in bytes that belong to no member",
            "in 1 range ",
        ],
        "the result",
    );
    // Two archives, one after the other.
    let first = stored(&[("a", b"1")]);
    let bytes = [first.clone(), stored(&[("b", b"2")])].concat();
    let ranges = format!("0..{}", first.len());
    let rows = vec![file("b", b"2")];
    check(&bytes, rows, &["1 end record stands in bytes", &ranges]);
    // A count that is a lie beyond the limit is no limit.
    let bytes = Zip::of([Entry::stored("a", b"x")])
        .with(|zip| {
            zip.comment = End {
                count: 0xFFFE,
                count_here: 0xFFFE,
                ..End::empty()
            }
            .bytes()
        })
        .build();
    let few = Options {
        max_entries: 5,
        ..Options::default()
    };
    assert_eq!(run(&bytes, &few).paths(), [".", "a"]);
}

/// Many end records over one large directory that fails at its last entry.
#[test]
fn end_records_that_are_meant_to_be_slow() {
    let mut zip = Zip::of((0..20_000).map(|n| Entry::stored(format!("{n}"), b"")));
    zip.entries[19_999].central.name = vec![b'x'; 9];
    let honest = zip.build();
    let directory = honest.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let end = honest.len() - 22;
    let record = End {
        count: 20_001,
        count_here: 20_001,
        directory_len: (end - directory) as u32,
        directory: directory as u32,
        ..End::empty()
    };
    let mut bytes = honest[..end].to_vec();
    for _ in 0..40_000 {
        bytes.extend(record.bytes());
    }
    run(&bytes, &Options::default()).is_damage("format", None);
}

/// Decision 11: behind a script or a stub, before padding.
#[test]
fn prefix_and_suffix() {
    for absolute in [false, true] {
        let zip = Zip::of([Entry::stored("a", b"x"), Entry::deflated("b", b"y")]).with(|zip| {
            zip.prefix = b"#!/bin/sh\nexec unzip $0\n".to_vec();
            zip.absolute = absolute;
            zip.suffix = vec![0; 100];
        });
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "installer.sh", &zip.build());
        let shown = everywhere(&path, &Options::default());
        assert_eq!(shown.paths(), [".", "a", "b"]);
        let said = shown.limitations().join(" ");
        assert!(
            said.contains("behind 24 bytes") && said.contains("before 100 more"),
            "{said}"
        );
        let graph = shown.graph();
        let root = shown.row(".");
        let nodes = graph["nodes"].as_array().unwrap();
        let node = nodes
            .iter()
            .find(|n| n["artifact_id"] == root["artifact_id"])
            .unwrap();
        assert_eq!(node["format"], "file");
        assert_eq!(
            shown.coverage(),
            ("container-entries".to_owned(), "complete".to_owned())
        );
        // The same file in a folder.
        let shown = everywhere(folder.path(), &Options::default());
        assert_eq!(
            shown.paths(),
            [".", "installer.sh", "installer.sh/a", "installer.sh/b"]
        );
        // And in an archive, where it is not looked for.
        let outer = Zip::of([Entry::stored("i.sh", &zip.build())]).build();
        assert_eq!(run(&outer, &Options::default()).paths(), [".", "i.sh"]);
    }
    // Far in front of the end, in a folder as at the root.
    let far = Zip::of([Entry::stored("a", b"x")]).with(|zip| {
        zip.prefix = b"#!/bin/sh\n".to_vec();
        zip.suffix = vec![7; 900_000];
    });
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "far.sh", &far.build());
    assert_eq!(everywhere(&path, &Options::default()).paths(), [".", "a"]);
    let shown = everywhere(folder.path(), &Options::default());
    assert_eq!(shown.paths(), [".", "far.sh", "far.sh/a"]);
    // No archive at all behind it.
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.sh", b"#!/bin/sh\necho PK\x05\x06");
    let shown = everywhere(&path, &Options::default());
    assert_eq!(shown.paths(), ["."]);
    assert_eq!(shown.coverage(), ("root".to_owned(), "complete".to_owned()));
}

/// Decision 9: a broken archive behind something else is never an error.
#[test]
fn a_broken_archive_behind_a_stub() {
    let zip = Zip::of([
        Entry::stored("a", b"x").both(|h| h.crc ^= 1),
        Entry::stored("b", b"y"),
    ])
    .with(|zip| zip.prefix = b"\x7fELF stub".to_vec());
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "stub", &zip.build());
    let shown = everywhere(&path, &Options::default());
    assert_eq!(shown.paths(), ["."]);
    assert_eq!(shown.coverage().1, "unknown");
    assert!(shown.limitations().len() > 1, "{:?}", shown.limitations());
}

/// Decision 10: nested, everything of the above is opaque instead.
#[test]
fn nested_damage_is_opaque() {
    let bad = [
        Zip::of([Entry::stored("a", b"x").both(|h| h.crc ^= 1)]).build(),
        Zip::of([Entry::stored("a", b"x")])
            .end(|end| end.count = 3)
            .build(),
        Zip::of([
            Entry::stored("a", b"x"),
            Entry::stored("b", b"x").with(|e| {
                e.has_local = false;
                e.at = Some(0);
            }),
        ])
        .build(),
        Zip::of([Entry::stored("a", b"x").with(|e| e.at = Some(u64::MAX))]).build(),
        b"PK\x03\x04".to_vec(),
    ];
    let mut entries: Vec<Entry> = (0..)
        .zip(&bad)
        .map(|(n, bytes)| {
            let name = format!("bad{n}.zip");
            if n == 1 {
                Entry::deflated(name, bytes)
            } else {
                Entry::stored(name, bytes)
            }
        })
        .collect();
    let good = deflated(&[("x", b"1")]);
    entries.push(Entry::deflated("good.zip", &good));
    let bytes = Zip::of(entries).build();
    let mut rows = vec![file("good.zip", &good), file("good.zip/x", b"1")];
    let names: Vec<String> = (0..bad.len()).map(|n| format!("bad{n}.zip")).collect();
    rows.extend(
        names
            .iter()
            .zip(&bad)
            .map(|(name, bytes)| file(name, bytes).says("damaged container")),
    );
    check(&bytes, rows.clone(), &[]);
    // Inside an archive that is itself nested, stored in a deflated one.
    let outer = deflated(&[("outer.zip", &stored(&[("inner.zip", &bytes)]))]);
    let shown = run(&outer, &Options::default());
    for name in &names {
        let row = shown.row(&format!("outer.zip/inner.zip/{name}"));
        assert_eq!(row["artifact_kind"], "container");
        assert_eq!(row["hash_status"], "verified");
    }
    assert_eq!(
        shown.row("outer.zip/inner.zip/good.zip/x")["hash_status"],
        "verified"
    );
    // --on-damage record is about the root.
    assert_eq!(run(&bytes, &recording()).coverage().1, "complete");
    // The UTF-8 flag alone changes nothing.
    check(
        &Zip::of([Entry::stored("a", b"x").both(|h| h.flags |= UTF8)]).build(),
        vec![file("a", b"x")],
        &[],
    );
}
