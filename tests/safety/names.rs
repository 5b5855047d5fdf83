//! Decision 1 to 6: odd names.

use rea::artifact::Options;

use crate::support::record::{ESCAPED, Expected, Row, directory, everywhere, file, link};
use crate::support::zip::{Entry, UTF8, Zip, extra, unicode_path};

/// What every ZIP inventory says first.
pub const ONLY_CENTRAL: &str = "central directory";

#[track_caller]
fn check(zip: Zip, rows: Vec<Row<'_>>, says: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = crate::support::file(folder.path(), "case.zip", &zip.build());
    let mut all = vec![ONLY_CENTRAL];
    all.extend(says);
    everywhere(&path, &Options::default()).is(&Expected {
        rows,
        says: all,
        status: "complete",
    });
}

/// One odd member beside an ordinary one: escaped, said, and the sibling is
/// as it would be without it.
#[track_caller]
fn odd(name: &[u8], path: &str) {
    let zip = Zip::of([Entry::stored(name, b"odd"), Entry::stored("plain", b"p")]);
    let rows = vec![file(path, b"odd").says(ESCAPED), file("plain", b"p")];
    check(zip, rows, &["1 member is recorded"]);
}

#[test]
fn each_row_of_decision_1() {
    odd(b"..", "%2E%2E");
    odd(b".", "%2E");
    odd(b"", "%");
    odd(b"../x", "%2E%2E/x");
    odd(b"a/../../x", "a/%2E%2E/%2E%2E/x");
    odd(b"a/./x", "a/%2E/x");
    odd(b"/etc/x", "%2Fetc/x");
    odd(b"//srv/x", "%2F%2Fsrv/x");
    odd(b"a///b", "a/%2F%2Fb");
    odd(b"/", "%2F");
    odd(b"a/", "a%2F");
    odd(b"C:\\x", "C%3A%5Cx");
    odd(b"C:/x", "C%3A/x");
    odd(b"c:", "c%3A");
    odd(b"\\\\srv\\share\\x", "%5C%5Csrv%5Cshare%5Cx");
    odd(b"a\\b", "a%5Cb");
    odd(b"a\0b", "a%00b");
    odd(b"../100%", "%2E%2E/100%25");
}

#[test]
fn percent_alone_is_not_odd() {
    let zip = Zip::of([Entry::stored("100%", b"a"), Entry::stored("%2E%2E", b"b")]);
    check(zip, vec![file("100%", b"a"), file("%2E%2E", b"b")], &[]);
}

#[test]
fn bytes_that_are_not_utf8_under_the_utf8_flag() {
    let entry = Entry::stored(b"caf\xE9", b"x").both(|header| header.flags |= UTF8);
    let surrogate = Entry::stored(b"\xED\xA0\x80", b"y").both(|header| header.flags |= UTF8);
    check(
        Zip::of([entry, surrogate]),
        vec![
            file("caf%E9", b"x").says(ESCAPED),
            file("%ED%A0%80", b"y").says(ESCAPED),
        ],
        &["2 members are recorded"],
    );
}

#[test]
fn code_page_437() {
    // 0x82 is U+00E9 and 0xE1 is U+00DF in CP437; neither is UTF-8 here.
    let zip = Zip::of([
        Entry::stored(b"caf\x82", b"x"),
        Entry::stored(b"\xE1", b"y"),
    ]);
    check(
        zip,
        vec![file("caf\u{e9}", b"x"), file("\u{df}", b"y")],
        &[],
    );
}

#[test]
fn utf8_without_the_flag() {
    let entry = Entry::stored("caf\u{e9}", b"x").both(|header| header.flags = 0);
    check(Zip::of([entry]), vec![file("caf\u{e9}", b"x")], &["UTF-8"]);
}

#[test]
fn unicode_path_extra() {
    let with = |field: Vec<u8>| {
        Entry::stored(b"caf\x82", b"x").both(move |header| header.extra = field.clone())
    };
    // Right checksum: it counts.
    let zip = Zip::of([with(unicode_path(b"caf\x82", "bistro"))]);
    check(zip, vec![file("bistro", b"x")], &[]);
    // The checksum of another name, another version, cut: it does not.
    for field in [
        unicode_path(b"cafe", "bistro"),
        extra(
            0x7075,
            &[[2].as_slice(), &unicode_path(b"caf\x82", "bistro")[5..]].concat(),
        ),
        extra(0x7075, &[1, 0, 0]),
    ] {
        check(Zip::of([with(field)]), vec![file("caf\u{e9}", b"x")], &[]);
    }
    // It is a name like any other.
    let zip = Zip::of([with(unicode_path(b"caf\x82", "../x"))]);
    let rows = vec![file("%2E%2E/x", b"x").says(ESCAPED)];
    check(zip, rows, &["1 member is recorded"]);
}

#[test]
fn repeats() {
    let zip = Zip::of([
        Entry::stored("a", b"1"),
        Entry::stored("a", b"2"),
        Entry::stored("a", b"3"),
    ]);
    check(
        zip,
        vec![
            file("a%231", b"1").says(ESCAPED),
            file("a%232", b"2").says(ESCAPED),
            file("a", b"3"),
        ],
        &["2 members are recorded"],
    );
}

#[test]
fn the_same_directory_again_is_silent() {
    let zip = Zip::of([
        Entry::directory("d/"),
        Entry::stored("d/a", b"1"),
        Entry::directory("d/"),
    ]);
    check(zip, vec![directory("d"), file("d/a", b"1")], &[]);
}

#[test]
fn a_file_or_link_used_as_a_folder() {
    let zip = Zip::of([
        Entry::stored("classes.dex", b"1"),
        Entry::stored("classes.dex/a", b"2"),
        Entry::symlink("l", b"/etc"),
        Entry::stored("l/passwd", b"3"),
    ]);
    check(
        zip,
        vec![
            file("classes.dex", b"1"),
            file("classes.dex%2F/a", b"2").says(ESCAPED),
            link("l", b"/etc"),
            file("l%2F/passwd", b"3").says(ESCAPED),
        ],
        &["2 members are recorded"],
    );
}

/// An odd name used as a folder by another odd name: each is listed.
#[test]
fn an_odd_file_used_as_a_folder() {
    for names in [["..", "../x"], ["../x", ".."]] {
        let zip = Zip::of(names.map(|name| Entry::stored(name, name.as_bytes())));
        check(
            zip,
            vec![
                file("%2E%2E", b"..").says(ESCAPED),
                file("%2E%2E%2F/x", b"../x").says(ESCAPED),
            ],
            &["2 members are recorded"],
        );
    }
}

#[test]
fn a_plain_name_takes_its_path_first() {
    let zip = Zip::of([Entry::stored("../x", b"1"), Entry::stored("%2E%2E/x", b"2")]);
    check(
        zip,
        vec![
            file("%2E%2E/x%231", b"1").says(ESCAPED),
            file("%2E%2E/x", b"2"),
        ],
        &["1 member is recorded"],
    );
    // A numbered name that is taken: the next number.
    let zip = Zip::of([
        Entry::stored("a%231", b"0"),
        Entry::stored("a", b"1"),
        Entry::stored("a", b"2"),
    ]);
    check(
        zip,
        vec![
            file("a%231", b"0"),
            file("a%232", b"1").says(ESCAPED),
            file("a", b"2"),
        ],
        &["1 member is recorded"],
    );
}

#[test]
fn composed_and_decomposed_twins() {
    // NFC changes the first; then both are one name (decision 6).
    let zip = Zip::of([
        Entry::stored("e\u{301}", b"1"),
        Entry::stored("\u{e9}", b"2"),
    ]);
    check(
        zip,
        vec![file("\u{e9}%231", b"1").says(ESCAPED), file("\u{e9}", b"2")],
        &["1 member is recorded", "1 name was composed"],
    );
    let zip = Zip::of([Entry::stored("e\u{301}", b"1")]);
    check(zip, vec![file("\u{e9}", b"1")], &["1 name was composed"]);
}

#[test]
fn case_twins() {
    let zip = Zip::of([
        Entry::stored("A.txt", b"1"),
        Entry::stored("a.txt", b"2"),
        Entry::stored("D/x", b"3"),
        Entry::stored("d/y", b"4"),
    ]);
    check(
        zip,
        vec![
            file("A.txt", b"1").says("a.txt"),
            file("a.txt", b"2").says("A.txt"),
            file("D/x", b"3").says("folder D "),
            file("d/y", b"4").says("folder d "),
        ],
        &["from another only by case"],
    );
}

#[test]
fn escape_and_bidirectional_characters_stay_in_records() {
    let name = "\u{1b}[2J\u{202e}gpj.exe\r\n\u{7f}\u{9b}";
    check(
        Zip::of([Entry::stored(name, b"x")]),
        vec![file(name, b"x")],
        &[],
    );
}

/// Names made to cost quadratic time or memory; the guard of [`everywhere`]
/// is what they must not reach.
#[test]
fn names_that_are_meant_to_be_slow() {
    let folder = tempfile::tempdir().unwrap();
    let run = |entries: Vec<Entry>| {
        let path = crate::support::file(folder.path(), "slow.zip", &Zip::of(entries).build());
        everywhere(&path, &Options::default())
    };
    // Repeats of a name whose numbers are all taken.
    let count = 20_000;
    let taken = (1..=count).map(|n| Entry::stored(format!("a%23{n}"), b""));
    let repeats = (0..count).map(|_| Entry::stored("a", b""));
    let shown = run(taken.chain(repeats).collect());
    let last = format!("a%23{}", 2 * count - 1);
    assert_eq!(shown.row(&last)["hash_status"], "verified");
    // One directory many times, below a file.
    let directories = (0..count).map(|_| Entry::directory("f/d/"));
    let shown = run(directories.chain([Entry::stored("f", b"")]).collect());
    assert_eq!(shown.paths(), [".", "f", "f%2F/d"]);
    // The longest name with the most segments, and an odd one.
    let deep = "a/".repeat(32_767) + "b";
    let deeper = "b/".repeat(32_767) + "b";
    let shown = run(vec![
        Entry::stored(&deep, b""),
        Entry::stored(&deeper, b""),
        Entry::stored("..", b""),
    ]);
    assert_eq!(
        shown.paths(),
        ["%2E%2E", ".", deep.as_str(), deeper.as_str()]
    );
}
