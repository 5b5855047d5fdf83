//! cpio in all its forms: as the peers write it, and what lies or is cut.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::Path;

use rea::artifact::{OnDamage, Options};
use support::peer;
use support::record::{
    ESCAPED, Expected, Row, Shown, directory, everywhere, file, link, run as once, unread,
};
use support::zip::stored;

const SPECIAL: &str = "device, FIFO or socket";
const FILE: u32 = 0o100_644;
const DIRECTORY: u32 = 0o040_755;
const LINK: u32 = 0o120_777;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    New,
    Crc,
    Odc,
    Little,
    Big,
}

const FORMS: [Form; 5] = [Form::New, Form::Crc, Form::Odc, Form::Little, Form::Big];

/// An entry whose header may say anything.
#[derive(Clone)]
struct Entry {
    mode: u32,
    inode: u32,
    links: u32,
    /// What the header says, where not the truth.
    size: Option<u32>,
    name_size: Option<u32>,
    sum: Option<u32>,
    /// With what ends it.
    name: Vec<u8>,
    data: Vec<u8>,
}

fn entry(name: &str, mode: u32, data: &[u8]) -> Entry {
    Entry {
        mode,
        inode: 7,
        links: 1,
        size: None,
        name_size: None,
        sum: None,
        name: [name.as_bytes(), b"\0"].concat(),
        data: data.to_vec(),
    }
}

fn plain(name: &str, data: &[u8]) -> Entry {
    entry(name, FILE, data)
}

/// One of several names of a file.
fn linked(name: &str, inode: u32, data: &[u8]) -> Entry {
    plain(name, data).with(|entry| (entry.inode, entry.links) = (inode, 3))
}

fn trailer() -> Entry {
    entry("TRAILER!!!", 0, b"")
}

impl Entry {
    fn with<T>(mut self, change: impl FnOnce(&mut Self) -> T) -> Self {
        change(&mut self);
        self
    }

    fn bytes(&self, form: Form) -> Vec<u8> {
        let size = self.size.unwrap_or(self.data.len() as u32);
        let name_size = self.name_size.unwrap_or(self.name.len() as u32);
        let sum = self.data.iter().map(|&byte| u32::from(byte)).sum();
        let sum = self.sum.unwrap_or(if form == Form::Crc { sum } else { 0 });
        let mut bytes = Vec::new();
        let alignment = match form {
            Form::New | Form::Crc => {
                bytes.extend(if form == Form::New {
                    b"070701"
                } else {
                    b"070702"
                });
                let fields = [
                    self.inode, self.mode, 0, 0, self.links, 0, size, 8, 1, 0, 0, name_size, sum,
                ];
                fields
                    .iter()
                    .for_each(|field| bytes.extend(format!("{field:08X}").bytes()));
                4
            }
            Form::Odc => {
                let text = format!(
                    "070707{:06o}{:06o}{:06o}{:06o}{:06o}{:06o}{:06o}{:011o}{name_size:06o}{size:011o}",
                    8, self.inode, self.mode, 0, 0, self.links, 0, 0
                );
                bytes.extend(text.bytes());
                1
            }
            Form::Little | Form::Big => {
                let halves = [
                    0o070_707,
                    8,
                    self.inode,
                    self.mode,
                    0,
                    0,
                    self.links,
                    0,
                    0,
                    0,
                    name_size,
                    size >> 16,
                    size & 0xFFFF,
                ];
                for half in halves {
                    let half = half as u16;
                    bytes.extend(match form {
                        Form::Little => half.to_le_bytes(),
                        _ => half.to_be_bytes(),
                    });
                }
                2
            }
        };
        bytes.extend(&self.name);
        bytes.resize(bytes.len().next_multiple_of(alignment), 0);
        let data = bytes.len();
        bytes.extend(&self.data);
        bytes.resize(data + self.data.len().next_multiple_of(alignment), 0);
        bytes
    }
}

fn without_trailer(form: Form, entries: &[Entry]) -> Vec<u8> {
    entries.iter().flat_map(|entry| entry.bytes(form)).collect()
}

fn archive(form: Form, entries: &[Entry]) -> Vec<u8> {
    let mut bytes = without_trailer(form, entries);
    bytes.extend(trailer().bytes(form));
    bytes
}

fn run_as(name: &str, bytes: &[u8], options: &Options) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    everywhere(&support::file(folder.path(), name, bytes), options)
}

fn run(bytes: &[u8]) -> Shown {
    run_as("case.cpio", bytes, &Options::default())
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
fn damaged(bytes: &[u8], member: Option<&str>, rows: Vec<Row<'_>>) {
    run(bytes).is_damage("format", member);
    let says = vec!["damaged at offset"];
    run_as("case.cpio", bytes, &recording()).is(&Expected {
        rows,
        says,
        status: "unknown",
    });
}

/// Stays a file in an archive that is otherwise read.
#[track_caller]
fn opaque(bytes: &[u8], note: &str) {
    for options in [Options::default(), recording()] {
        let zip = stored(&[("a.txt", b"1"), ("x.cpio", bytes)]);
        let shown = run_as("case.zip", &zip, &options);
        assert_eq!(shown.paths(), [".", "a.txt", "x.cpio"]);
        assert_eq!(shown.coverage().1, "complete");
        let says = shown.row("x.cpio")["limitations"].to_string();
        assert!(says.contains(note), "{says}");
    }
}

/// A folder with everything that cpio knows.
fn tree(folder: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let write = |name: &str, bytes: &[u8], mode: u32| {
        let path = support::file(folder, name, bytes);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir_all(folder.join("d/empty")).unwrap();
    write("a", b"1", 0o644);
    write("empty", b"", 0o600);
    write("d/tool", b"#!/bin/sh\n", 0o4755);
    write("d/first", b"shared bytes", 0o644);
    std::fs::hard_link(folder.join("d/first"), folder.join("d/second")).unwrap();
    std::fs::hard_link(folder.join("d/first"), folder.join("z")).unwrap();
    write("e1", b"", 0o644);
    std::fs::hard_link(folder.join("e1"), folder.join("e2")).unwrap();
    write("a name with spaces, longer than a few words", b"22", 0o644);
    symlink("d/tool", folder.join("link")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
}

#[test]
fn as_the_peers_write_them() {
    let folder = tempfile::tempdir().unwrap();
    tree(folder.path());
    let names = [
        ".",
        "a",
        "empty",
        "d",
        "d/empty",
        "d/tool",
        "d/first",
        "d/second",
        "z",
        "e1",
        "e2",
        "a name with spaces, longer than a few words",
        "link",
        "fifo",
    ];
    let list = names.join("\n") + "\n";
    for (tool, form) in [
        ("cpio", "newc"),
        ("cpio", "crc"),
        ("cpio", "odc"),
        ("cpio", "bin"),
        ("bsdcpio", "newc"),
        ("bsdcpio", "odc"),
    ] {
        let made = peer::run(folder.path(), tool, &["-o", "-H", form], list.as_bytes());
        let Some(bytes) = made else { continue };
        eprintln!("{tool} {form}");
        let rows = || {
            vec![
                file("a", b"1"),
                file("empty", b""),
                directory("d"),
                directory("d/empty"),
                file("d/tool", b"#!/bin/sh\n"),
                file("d/first", b"shared bytes"),
                file("d/second", b"shared bytes"),
                file("z", b"shared bytes"),
                file("e1", b""),
                file("e2", b""),
                file("a name with spaces, longer than a few words", b"22"),
                link("link", b"d/tool"),
                unread("fifo", SPECIAL),
            ]
        };
        check(&bytes, rows(), &[]);
        let shown = run(&bytes);
        assert_eq!(shown.row("link")["link_target"], "d/tool");
        assert_eq!(shown.row("d/tool")["executable"], true);
        assert_eq!(shown.row("d/tool")["mode"], "4755");
        assert_eq!(shown.row("d/first")["declared_size"], 12);
        assert_eq!(shown.row("a")["declared_size"], 1);
        assert!(shown.row("d")["declared_size"].is_null());
        assert!(shown.row("link")["declared_size"].is_null());
        // As the kernel reads them: more than one, with zeros between.
        let two = [
            &bytes[..],
            &[0; 512],
            &archive(Form::New, &[plain("more", b"3")]),
        ]
        .concat();
        let mut all = rows();
        all.push(file("more", b"3"));
        check(&two, all, &[]);
    }
}

#[test]
fn all_forms_by_hand() {
    for form in FORMS {
        let bytes = archive(
            form,
            &[
                entry(".", DIRECTORY, b""),
                entry("./d", DIRECTORY, b""),
                plain("./d/odd", b"333"),
                plain("even", b"4444"),
                entry("link", LINK, b"d/odd"),
                entry("null", 0o020_666, b""),
                entry("disk", 0o060_666, b""),
                entry("fifo", 0o010_644, b""),
                entry("socket", 0o140_644, b""),
                plain("old", b"5").with(|entry| entry.mode = 0o644),
            ],
        );
        let rows = vec![
            directory("d"),
            file("d/odd", b"333"),
            file("even", b"4444"),
            link("link", b"d/odd"),
            unread("null", SPECIAL),
            unread("disk", SPECIAL),
            unread("fifo", SPECIAL),
            unread("socket", SPECIAL),
            file("old", b"5"),
        ];
        check(&bytes, rows, &[]);
        assert_eq!(run(&bytes).row(".")["artifact_format"], "cpio");
        check(&archive(form, &[]), vec![], &[]);
    }
}

#[test]
fn hard_links_have_one_content() {
    let content = || vec![file("a", b"data"), file("b", b"data"), file("c", b"data")];
    for form in [Form::New, Form::Crc] {
        for at in 0..3 {
            let names = ["a", "b", "c"];
            let entries: Vec<Entry> = (0..3)
                .map(|n| linked(names[n], 9, if n == at { b"data" } else { b"" }))
                .collect();
            let bytes = archive(form, &entries);
            check(&bytes, content(), &[]);
            assert_eq!(run(&bytes).row("a")["declared_size"], 4);
        }
    }
    for form in FORMS {
        let each = ["a", "b", "c"].map(|name| linked(name, 9, b"data"));
        check(&archive(form, &each), content(), &[]);
        let first = [
            linked("a", 9, b"data"),
            linked("b", 9, b""),
            linked("c", 9, b""),
        ];
        check(&archive(form, &first), content(), &[]);
        // Nobody has data: empty files.
        let nobody = ["a", "b"].map(|name| linked(name, 9, b""));
        check(
            &archive(form, &nobody),
            vec![file("a", b""), file("b", b"")],
            &[],
        );
        // Another inode, or one name only: nothing is shared.
        let others = [
            linked("a", 9, b"data"),
            linked("b", 10, b""),
            plain("c", b""),
        ];
        let rows = vec![file("a", b"data"), file("b", b""), file("c", b"")];
        check(&archive(form, &others), rows, &[]);
    }
    // Different data under one inode: each has its own.
    let bytes = archive(
        Form::New,
        &[
            linked("a", 9, b""),
            linked("b", 9, b"one"),
            linked("c", 9, b""),
            linked("d", 9, b"two"),
            linked("e", 9, b""),
        ],
    );
    let rows = vec![
        file("a", b"one"),
        file("b", b"one"),
        file("c", b"one"),
        file("d", b"two"),
        file("e", b"two"),
    ];
    check(&bytes, rows, &[]);
    // Inodes count within one archive.
    let first = archive(Form::New, &[linked("a", 9, b"")]);
    let second = archive(Form::New, &[linked("b", 9, b"data")]);
    check(
        &[first, second].concat(),
        vec![file("a", b""), file("b", b"data")],
        &[],
    );
}

#[test]
fn a_container_with_several_names_is_expanded_once() {
    let zip = stored(&[("x", b"1")]);
    let bytes = archive(
        Form::New,
        &[linked("a.zip", 9, b""), linked("b.zip", 9, &zip)],
    );
    let shown = run(&bytes);
    assert_eq!(shown.paths(), [".", "a.zip", "b.zip", "b.zip/x"]);
    assert_eq!(shown.coverage().1, "complete");
}

#[test]
fn very_many_links_cost_their_number() {
    let mut entries: Vec<Entry> = (0..20_000)
        .map(|n| linked(&format!("{n}"), 9, b""))
        .collect();
    entries.push(linked("last", 9, b"data"));
    let bytes = archive(Form::New, &entries);
    let folder = tempfile::tempdir().unwrap();
    let path = support::file(folder.path(), "case.cpio", &bytes);
    let shown = support::guarded("links", move || once(&path, &Options::default(), 2, None));
    let graph = shown.graph();
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2);
}

#[test]
fn names_that_are_odd() {
    for form in FORMS {
        let bytes = archive(
            form,
            &[
                plain("../x", b"1"),
                plain("/etc/x", b"2"),
                plain("nul\0inside", b"3"),
                plain("caf?", b"4").with(|entry| entry.name[3] = 0xE9),
                plain("back\\slash", b"5"),
                plain("padded\0\0\0\0", b"6"),
                plain("", b"7"),
                plain("twice", b"8"),
                plain("twice", b"9"),
                plain("twice/below", b"a"),
                plain("TRAILER!!!x", b"b"),
            ],
        );
        let rows = vec![
            file("%2E%2E/x", b"1").says(ESCAPED),
            file("%2Fetc/x", b"2").says(ESCAPED),
            file("nul%00inside", b"3").says(ESCAPED),
            file("caf%E9", b"4").says(ESCAPED),
            file("back\\slash", b"5"),
            file("padded", b"6"),
            file("%", b"7").says(ESCAPED),
            file("twice%231", b"8").says(ESCAPED),
            file("twice", b"9"),
            file("twice%2F/below", b"a").says(ESCAPED),
            file("TRAILER!!!x", b"b"),
        ];
        check(&bytes, rows, &["7 members are recorded"]);
        let open = plain("a", b"1").with(|entry| {
            entry.name.pop();
        });
        // Behind the two bytes of the binary magic more must fit than that.
        if !matches!(form, Form::Little | Form::Big) {
            let says = ["1 name does not end in NUL"];
            check(&archive(form, &[open]), vec![file("a", b"1")], &says);
        }
    }
}

#[test]
fn names_that_are_long() {
    let name = "n".repeat(65_535);
    let long = |form| archive(form, &[plain(&name, b"1")]);
    for form in [Form::New, Form::Odc] {
        check(&long(form), vec![file(&name, b"1")], &[]);
    }
    for name_size in [65_537, u32::MAX] {
        let bytes = archive(
            Form::New,
            &[plain("a", b"1").with(|e| e.name_size = Some(name_size))],
        );
        run(&bytes).is_error("truncated", &[("limit", "path bytes".into())]);
        opaque(&bytes, "exceeds a limit");
    }
    let cut = archive(
        Form::New,
        &[plain("a", b"1").with(|e| e.name_size = Some(60_000))],
    );
    damaged(&cut, None, vec![]);
    opaque(&cut, "a damaged container");
}

#[test]
fn sums_are_checked() {
    let honest = [plain("a", b"1"), plain("b", b"\xFF\xFF"), plain("c", b"3")];
    check(
        &archive(Form::Crc, &honest),
        vec![file("a", b"1"), file("b", b"\xFF\xFF"), file("c", b"3")],
        &[],
    );
    let lying = [
        plain("a", b"1"),
        plain("b", b"\xFF\xFF").with(|entry| entry.sum = Some(0x1FF)),
        plain("c", b"3"),
        entry("link", LINK, b"a").with(|entry| entry.sum = Some(5)),
    ];
    let bytes = archive(Form::Crc, &lying);
    run(&bytes).is_damage("integrity", Some("b"));
    let both = "the sum of its bytes is 000001fe, the archive declares 000001ff";
    run_as("case.cpio", &bytes, &recording()).is(&Expected {
        rows: vec![
            file("a", b"1"),
            file("b", b"\xFF\xFF").mismatched().says(both),
            file("c", b"3"),
            link("link", b"a"),
        ],
        says: vec![],
        status: "unknown",
    });
    opaque(&bytes, "a damaged container");
    // Only this form has a sum.
    let ignored = [plain("a", b"1").with(|entry| entry.sum = Some(99))];
    check(&archive(Form::New, &ignored), vec![file("a", b"1")], &[]);
}

#[test]
fn bytes_that_belong_to_nothing_are_said() {
    for form in FORMS {
        let bytes = archive(form, &[plain("a", b"1")]);
        let len = bytes.len();
        let zeros = [&bytes[..], &[0; 1000]].concat();
        check(&zeros, vec![file("a", b"1")], &[]);
        let tail = [&zeros[..], b"07070 is no archive"].concat();
        check(
            &tail,
            vec![file("a", b"1")],
            &[&format!(": {}..{}.", len + 1000, len + 1019)],
        );
        // What only starts like an archive.
        let tail = [&bytes[..], b"\xC7\x71\x01\x02"].concat();
        check(
            &tail,
            vec![file("a", b"1")],
            &[&format!(": {len}..{}.", len + 4)],
        );
        let listed = archive(form, &[entry("d", DIRECTORY, b"hidden"), plain("a", b"1")]);
        let rows = vec![directory("d"), file("a", b"1")];
        check(&listed, rows, &["6 bytes in 1 range belong to no member"]);
    }
    let gap = [
        plain("a", b"1").bytes(Form::New),
        vec![0; 64],
        archive(Form::New, &[plain("b", b"2")]),
    ];
    let rows = vec![file("a", b"1"), file("b", b"2")];
    check(
        &gap.concat(),
        rows,
        &["64 bytes in 1 range belong to no member"],
    );
}

#[test]
fn archives_that_end_too_early() {
    for form in FORMS {
        let bytes = without_trailer(form, &[plain("a", b"1")]);
        damaged(&bytes, None, vec![file("a", b"1")]);
        let long = plain("b", b"22").with(|entry| entry.size = Some(0x7FFF_FFFF));
        let bytes = archive(form, &[plain("a", b"1"), long]);
        let rows = vec![file("a", b"1"), unread("b", "could not be read: at offset")];
        damaged(&bytes, Some("b"), rows);
    }
    let bytes = [
        &plain("a", b"1").bytes(Form::New)[..],
        b"garbage in the middle",
    ]
    .concat();
    damaged(&bytes, None, vec![file("a", b"1")]);
    opaque(&bytes, "a damaged container");
}

#[test]
fn fields_that_are_no_numbers() {
    for (form, len) in [(Form::New, 110), (Form::Odc, 76)] {
        let bytes = archive(form, &[plain("a", b"1")]);
        let second = archive(form, &[plain("b", b"2")]);
        let start = without_trailer(form, &[plain("a", b"1")]).len();
        // Mode, links, size of data and name.
        let fields = if form == Form::New {
            [14, 38, 54, 94]
        } else {
            [18, 36, 65, 59]
        };
        for at in fields {
            assert!(at < len);
            let mut broken = [&bytes[..start], &second].concat();
            broken[start + at] = b'x';
            damaged(&broken, None, vec![file("a", b"1")]);
        }
    }
}

#[test]
fn cut_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    for form in FORMS {
        let entries = [
            entry("d", DIRECTORY, b""),
            linked("d/a", 9, b""),
            linked("d/b", 9, b"data"),
            entry("link", LINK, b"d/a"),
        ];
        let bytes = archive(form, &entries);
        let complete = bytes.len() - trailer().bytes(form).len()
            + match form {
                Form::New | Form::Crc => 110 + 11,
                Form::Odc => 76 + 11,
                Form::Little | Form::Big => 26 + 11,
            };
        // So many bytes say that it is a cpio archive.
        let told = if matches!(form, Form::Little | Form::Big) {
            22
        } else {
            6
        };
        for len in told..bytes.len() {
            let cut = &bytes[..len];
            let path = support::file(folder.path(), "case.cpio", cut);
            let shown = once(&path, &Options::default(), 2, None);
            assert_eq!(
                shown.is_error,
                len < complete,
                "{form:?} {len}: {}",
                shown.text
            );
            let recorded = once(&path, &recording(), 1, None);
            assert_eq!(
                recorded.coverage().1 == "complete",
                len >= complete,
                "{form:?} {len}"
            );
        }
    }
}

#[test]
fn limits_of_the_root() {
    let bytes = archive(
        Form::New,
        &[plain("a", b"11"), plain("b", b"22"), plain("c", b"33")],
    );
    let limited = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        run_as("case.cpio", &bytes, &options)
    };
    limited(|options| options.max_entries = 2).is_limit("max_entries", 2);
    limited(|options| options.max_entry_bytes = 1).is_limit("max_entry_bytes", 1);
    limited(|options| options.max_total_bytes = 5).is_limit("max_total_bytes", 5);
}
