//! ar archives: GNU, BSD, System V, Microsoft, thin, and what lies or is cut.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use rea::artifact::{OnDamage, Options};
use support::peer;
use support::record::{ESCAPED, Expected, Row, Shown, everywhere, file, run as once, unread};
use support::zip::stored;

/// A header as the formats of all vendors have it.
fn header(name: &str, mode: &str, size: &str) -> Vec<u8> {
    let text = format!("{name:<16}{:<12}{:<6}{:<6}{mode:<8}{size:<10}`\n", 0, 0, 0);
    assert_eq!(text.len(), 60);
    text.into_bytes()
}

fn member(name: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = header(name, "100644", &data.len().to_string());
    bytes.extend(data);
    if data.len() % 2 == 1 {
        bytes.push(b'\n');
    }
    bytes
}

/// A member with a BSD name.
fn bsd(name: &[u8], data: &[u8]) -> Vec<u8> {
    member(&format!("#1/{}", name.len()), &[name, data].concat())
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    bytes.extend(members.concat());
    bytes
}

fn run_as(name: &str, bytes: &[u8], options: &Options) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    everywhere(&support::file(folder.path(), name, bytes), options)
}

fn run(bytes: &[u8]) -> Shown {
    run_as("lib.a", bytes, &Options::default())
}

fn recording() -> Options {
    Options {
        on_damage: OnDamage::Record,
        ..Options::default()
    }
}

#[track_caller]
fn check(bytes: &[u8], rows: Vec<Row<'_>>, says: &[&str]) {
    run(bytes).is(&Expected {
        rows,
        says: says.to_vec(),
        status: "complete",
    });
}

/// Damaged by default; with `--on-damage record` what is expected.
#[track_caller]
fn damaged(bytes: &[u8], rows: Vec<Row<'_>>, says: &[&str]) {
    run(bytes).is_damage("format", None);
    let shown = run_as("lib.a", bytes, &recording());
    let mut all = vec!["damaged at offset"];
    all.extend(says);
    shown.is(&Expected {
        rows,
        says: all,
        status: "unknown",
    });
}

/// Stays a file in an archive that is otherwise read.
#[track_caller]
fn opaque(bytes: &[u8], note: &str) {
    for options in [Options::default(), recording()] {
        let zip = stored(&[("a.txt", b"1"), ("lib.a", bytes)]);
        let shown = run_as("case.zip", &zip, &options);
        assert_eq!(shown.paths(), [".", "a.txt", "lib.a"]);
        assert_eq!(shown.coverage().1, "complete");
        let row = shown.row("lib.a");
        assert_eq!(row["artifact_kind"], "container", "{row}");
        let says = row["limitations"].to_string();
        assert!(says.contains(note), "{says}");
    }
}

const DAMAGED: &str = "a damaged container";

/// The archives that `ar` and `llvm-ar` make of the same files.
#[test]
fn as_the_peers_write_them() {
    let files: &[(&str, &[u8])] = &[
        ("a", b"1"),
        ("even.o", b"22"),
        ("empty", b""),
        ("fifteen-chars.o", b"333"),
        ("sixteen-chars-.o", b"4444"),
        ("seventeen-chars.o", b"55555"),
        ("with a space", b"666666"),
        (
            "a-very-long-name-that-fits-into-no-header-of-any-vendor.o",
            b"7777777",
        ),
        ("slash\\back", b"8"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        support::file(folder.path(), name, content);
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    for (tool, flags) in [
        ("ar", &["qcD"][..]),
        ("llvm-ar", &["--format=gnu", "qcD"]),
        ("llvm-ar", &["--format=bsd", "qcD"]),
        ("llvm-ar", &["--format=darwin", "qcD"]),
        ("bsdtar", &["--format=ar", "-cf"]),
        ("bsdtar", &["--format=arbsd", "-cf"]),
    ] {
        let made = format!("{tool}-{}.a", flags[0].trim_start_matches("--format="));
        let mut arguments = flags.to_vec();
        arguments.push(&made);
        arguments.extend(&names);
        if peer::run(folder.path(), tool, &arguments, b"").is_none() {
            continue;
        }
        let bytes = std::fs::read(folder.path().join(&made)).unwrap();
        // Apple's pads members with line feeds, which are then part of them.
        let mut contents = Vec::new();
        for (name, content) in files {
            let printed = peer::run(folder.path(), "llvm-ar", &["p", &made, name], b"");
            contents.push(printed.unwrap_or_else(|| content.to_vec()));
        }
        let rows = files
            .iter()
            .zip(&contents)
            .map(|((name, _), content)| file(name, content));
        check(&bytes, rows.collect(), &[]);
        let row = run(&bytes).row("even.o");
        assert!(row["compressed_size"].is_null());
        assert_eq!(
            (&row["executable"], &row["mode"].is_null()),
            (&false.into(), &true)
        );
        assert!(row["declared_size"].as_u64().is_some_and(|size| size >= 2));
    }
}

#[test]
fn thin_archives_hold_no_bytes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    support::file(folder.path(), "a.o", b"first");
    support::file(folder.path(), "sub/b.o", b"second member");
    let thin = "Its archive is thin";
    for (tool, flags) in [("ar", &["qcDT"][..]), ("llvm-ar", &["--thin", "qcD"])] {
        let mut arguments = flags.to_vec();
        arguments.extend(["thin.a", "a.o", "sub/b.o"]);
        let _ = std::fs::remove_file(folder.path().join("thin.a"));
        if peer::run(folder.path(), tool, &arguments, b"").is_none() {
            continue;
        }
        let bytes = std::fs::read(folder.path().join("thin.a")).unwrap();
        check(
            &bytes,
            vec![unread("a.o", thin), unread("sub/b.o", thin)],
            &[],
        );
        assert_eq!(run(&bytes).row("sub/b.o")["declared_size"], 13);
    }
    let hand = [&b"!<thin>\n"[..], &header("x.o/", "100644", "9999999999")].concat();
    check(&hand, vec![unread("x.o", thin)], &[]);
    let zip = stored(&[("t.a", &hand)]);
    let shown = run_as("case.zip", &zip, &Options::default());
    assert_eq!(shown.paths(), [".", "t.a", "t.a/x.o"]);
}

#[test]
fn modes_are_octal() {
    let mut tool = header("tool/", "100755", "1");
    tool.extend(b"x\n");
    let mut sticky = header("sticky/", "104755", "1");
    sticky.extend(b"y\n");
    let mut none = header("none/", "", "1");
    none.extend(b"z\n");
    let shown = run(&archive(&[tool, sticky, none]));
    assert_eq!(shown.row("tool")["executable"], true);
    assert_eq!(shown.row("sticky")["mode"], "4755");
    assert_eq!(shown.row("none")["executable"], false);
}

#[test]
fn equal_names_are_numbered_silently() {
    let bytes = archive(&[
        member("a.o/", b"1"),
        member("b%.o/", b"2"),
        member("a.o/", b"3"),
        member("b%.o/", b"4"),
        member("a.o/", b"5"),
    ]);
    let rows = vec![
        file("a.o%231", b"1"),
        file("b%25.o%231", b"2"),
        file("a.o%232", b"3"),
        file("b%.o", b"4"),
        file("a.o", b"5"),
    ];
    check(&bytes, rows, &[]);
}

#[test]
fn odd_names_are_escaped() {
    let names = "//";
    let table = b"../../etc/passwd/\n/etc/x/\na//b/\n";
    let bytes = archive(&[
        member(names, table),
        member("/0", b"0"),
        member("/18", b"1"),
        member("/26", b"2"),
        member("/999", b"3"),
        member("/7x", b"4"),
        bsd(b"nul\0inside", b"5"),
        bsd(b"caf\xE9", b"6"),
        bsd(b"back\\slash", b"7"),
        bsd(b"C:x", b"8"),
        bsd(b"padded\0\0", b"9"),
        member("", b"a"),
        bsd(b"", b"b"),
    ]);
    let rows = vec![
        file("%2E%2E/%2E%2E/etc/passwd", b"0").says(ESCAPED),
        file("%2Fetc/x", b"1").says(ESCAPED),
        file("a/%2Fb", b"2").says(ESCAPED),
        file("%2F999", b"3").says(ESCAPED),
        file("%2F7x", b"4").says(ESCAPED),
        file("nul%00inside", b"5").says(ESCAPED),
        file("caf%E9", b"6").says(ESCAPED),
        file("back\\slash", b"7"),
        file("C:x", b"8"),
        file("padded", b"9"),
        file("%%231", b"a").says(ESCAPED),
        file("%", b"b").says(ESCAPED),
    ];
    check(&bytes, rows, &["9 members are recorded"]);
}

#[test]
fn tables_are_no_members_but_only_in_front() {
    let symbols = [0u8; 8];
    // Microsoft's import libraries.
    let microsoft = archive(&[
        member("/", &symbols),
        member("/", &symbols),
        member("/<ECSYMBOLS>/", &symbols),
        member(
            "//",
            b"a-long-name-in-the-table.dll\0second-long-name.dll\0",
        ),
        member("/0", b"1"),
        member("/29", b"2"),
    ]);
    let rows = vec![
        file("a-long-name-in-the-table.dll", b"1"),
        file("second-long-name.dll", b"2"),
    ];
    check(&microsoft, rows, &[]);
    for table in [
        "/",
        "/SYM64/",
        "__.SYMDEF",
        "__.SYMDEF SORTED",
        "__.SYMDEF_64",
    ] {
        check(
            &archive(&[member(table, &symbols), member("a/", b"1")]),
            vec![file("a", b"1")],
            &[],
        );
    }
    for table in [&b"__.SYMDEF SORTED\0\0\0\0"[..], b"__.SYMDEF\0\0\0"] {
        check(
            &archive(&[bsd(table, &symbols), member("a", b"1")]),
            vec![file("a", b"1")],
            &[],
        );
    }
    // Nothing can be hidden in a table that no reader would look for.
    let late = archive(&[
        member("a/", b"1"),
        member("__.SYMDEF", b"2"),
        member("/", b"3"),
    ]);
    let rows = vec![
        file("a", b"1"),
        file("__.SYMDEF", b"2"),
        file("%2F", b"3").says(ESCAPED),
    ];
    check(&late, rows, &["1 member is recorded"]);
    let third = archive(&[member("/", b""), member("/", b""), member("/", b"3")]);
    check(
        &third,
        vec![file("%2F", b"3").says(ESCAPED)],
        &["1 member is recorded"],
    );
    check(&archive(&[]), vec![], &[]);
}

#[test]
fn bytes_that_belong_to_nothing_are_said() {
    let unaccounted = "belong to no member";
    let mut bytes = archive(&[member("a/", b"1")]);
    for tail in [
        &b"\n\n\n"[..],
        &[0; 100],
        b"\x01\x02trailing bytes that are no header at all, more than sixty of them",
    ] {
        let whole = [&bytes[..], tail].concat();
        let range = format!("{} bytes in 1 range {unaccounted}", tail.len());
        check(&whole, vec![file("a", b"1")], &[&range]);
    }
    // The padding of the last member may be missing; other padding is said.
    let len = bytes.len();
    check(&bytes[..len - 1], vec![file("a", b"1")], &[]);
    bytes[len - 1] = b'!';
    check(
        &bytes,
        vec![file("a", b"1")],
        &[&format!("{}..{len}.", len - 1)],
    );
}

#[test]
fn sizes_that_lie() {
    let good = member("a/", b"1");
    let with_size = |size: &str| {
        let mut last = header("b/", "100644", size);
        last.extend(b"22");
        archive(&[good.clone(), last])
    };
    for size in ["3", "9999999999"] {
        let rows = vec![file("a", b"1"), unread("b", "could not be read: at offset")];
        damaged(&with_size(size), rows, &[]);
        opaque(&with_size(size), DAMAGED);
    }
    for size in ["", "-1", "0x2", "2 2", "2a"] {
        damaged(&with_size(size), vec![file("a", b"1")], &[]);
    }
    check(
        &with_size("         2"),
        vec![file("a", b"1"), file("b", b"22")],
        &[],
    );
}

#[test]
fn names_that_lie() {
    let good = member("a/", b"1");
    for name in ["#1/3", "#1/9999999999"] {
        let mut last = header(name, "100644", "2");
        last.extend(b"bb");
        let bytes = archive(&[good.clone(), last]);
        damaged(&bytes, vec![file("a", b"1")], &[]);
        opaque(&bytes, DAMAGED);
    }
    // A name may have 65,535 bytes.
    let long = |len: usize| archive(&[bsd(&vec![b'n'; len], b"1")]);
    let path = "n".repeat(65_535);
    check(&long(65_535), vec![file(&path, b"1")], &[]);
    run(&long(65_536)).is_error("truncated", &[("limit", "path bytes".into())]);
    opaque(&long(65_536), "exceeds a limit");
    let table = [vec![b'n'; 70_000], b"/\n".to_vec()].concat();
    let bytes = archive(&[member("//", &table), member("/0", b"1")]);
    run(&bytes).is_error("truncated", &[("limit", "path bytes".into())]);
    // A table without an end ends its last name.
    let bytes = archive(&[member("//", b"one.o/\ntwo.o"), member("/7", b"1")]);
    check(&bytes, vec![file("two.o", b"1")], &[]);
}

#[test]
fn a_broken_header_in_the_middle_is_damage() {
    let members = [member("a/", b"1"), member("b/", b"22"), member("c/", b"3")];
    let bytes = archive(&members);
    let at = 8 + members[0].len();
    for (offset, with) in [(58, b'x'), (59, b'x'), (50, b'x')] {
        let mut broken = bytes.clone();
        broken[at + offset] = with;
        damaged(&broken, vec![file("a", b"1")], &[]);
    }
    let mut zeroed = bytes.clone();
    zeroed[at..at + 60].fill(0);
    damaged(&zeroed, vec![file("a", b"1")], &[]);
    opaque(&zeroed, DAMAGED);
    // The last header, with nothing valid behind it, still reads like one.
    let mut last = bytes.clone();
    let at = bytes.len() - 62;
    last[at + 59] = b'x';
    damaged(&last, vec![file("a", b"1"), file("b", b"22")], &[]);
}

#[test]
fn cut_at_every_byte() {
    let members = [
        member("/", &[0; 4]),
        member("//", b"a-name-of-seventeen/\n"),
        member("/0", b"1"),
        bsd(b"b", b"22"),
        member("c/", b"333"),
    ];
    let bytes = archive(&members);
    // Where a member ends, with its padding or without.
    let mut ends = vec![8];
    for part in &members {
        let end = ends.last().unwrap() + part.len();
        ends.push(end);
    }
    let folder = tempfile::tempdir().unwrap();
    for len in 8..bytes.len() {
        let cut = &bytes[..len];
        let whole = ends.contains(&len) || ends.contains(&(len + 1)) && bytes[len] == b'\n';
        let path = support::file(folder.path(), "lib.a", cut);
        let shown = once(&path, &Options::default(), 2, None);
        assert_eq!(shown.is_error, !whole, "{len}: {}", shown.text);
        let recorded = once(&path, &recording(), 1, None);
        assert_eq!(recorded.coverage().1 == "complete", whole, "{len}");
    }
}

#[test]
fn entries_are_limited() {
    let bytes = archive(&[member("a/", b"1"), member("b/", b"2"), member("c/", b"3")]);
    let options = Options {
        max_entries: 2,
        ..Options::default()
    };
    run_as("lib.a", &bytes, &options).is_limit("max_entries", 2);
}

#[test]
fn what_is_inside_is_expanded() {
    let inner = archive(&[member("x.o/", b"1")]);
    let bytes = archive(&[
        member("inner.a/", &inner),
        member("z.zip/", &stored(&[("y", b"2")])),
    ]);
    let rows = [
        file("inner.a", &inner),
        file("inner.a/x.o", b"1"),
        file(
            "z.zip",
            &bytes[8 + 60 + inner.len() + inner.len() % 2 + 60..],
        ),
        file("z.zip/y", b"2"),
    ];
    let shown = run(&bytes);
    assert_eq!(
        shown.paths(),
        [".", "inner.a", "inner.a/x.o", "z.zip", "z.zip/y"]
    );
    assert_eq!(rows.len() + 1, shown.paths().len());
    assert_eq!(shown.row(".")["artifact_format"], "ar");
    assert_eq!(shown.row("inner.a")["artifact_format"], "ar");
    assert_eq!(shown.row("inner.a")["artifact_kind"], "container");
}

/// A Debian package is an ar archive whose first member says so.
#[test]
fn debian_packages() {
    let bytes = archive(&[
        member("debian-binary", b"2.0\n"),
        member("control.tar", b""),
        member("data.tar", b""),
    ]);
    let shown = run_as("x.deb", &bytes, &Options::default());
    assert_eq!(shown.row(".")["artifact_format"], "deb");
    assert_eq!(
        shown.paths(),
        [".", "control.tar", "data.tar", "debian-binary"]
    );
}
