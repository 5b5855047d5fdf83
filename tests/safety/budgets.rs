//! Decisions 10, 19 and 20: nesting and budgets.

use rea::artifact::{Nesting, Options};

use crate::names::ONLY_CENTRAL;
use crate::support::file as write;
use crate::support::record::{Shown, everywhere};
use crate::support::zip::{self, DEFLATED, Entry, Zip, deflated, stored};

fn run(bytes: &[u8], options: &Options) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    everywhere(&write(folder.path(), "case.zip", bytes), options)
}

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

#[track_caller]
fn is_opaque(shown: &Shown, path: &str, why: &str) {
    let row = shown.row(path);
    assert_eq!(row["artifact_kind"], "container", "{row}");
    assert_eq!(row["hash_status"], "verified", "{row}");
    let said = row["limitations"].to_string();
    assert!(said.contains(why), "{path} says {said}");
    let below = format!("{path}/");
    assert!(!shown.paths().iter().any(|path| path.starts_with(&below)));
}

#[test]
fn each_budget_at_the_root() {
    let bytes = stored(&[("a", b"12345"), ("b", b"123"), ("c", b"")]);
    run(&bytes, &options(|o| o.max_entries = 2)).is_limit("max_entries", 2);
    run(&bytes, &options(|o| o.max_entry_bytes = 4)).is_limit("max_entry_bytes", 4);
    run(&bytes, &options(|o| o.max_total_bytes = 7)).is_limit("max_total_bytes", 7);
    assert!(
        !run(
            &bytes,
            &options(|o| {
                o.max_entries = 3;
                o.max_entry_bytes = 5;
                o.max_total_bytes = 8;
            })
        )
        .is_error
    );
    let bomb = Zip::of([Entry::raw("a", DEFLATED, vec![0; 1000], 2 << 30, 0)]).build();
    run(&bomb, &Options::default()).is_limit("max_compression_ratio", 1000);
    // Many members, each below the ratio's threshold, together beyond it.
    let part = || Entry::raw("a", DEFLATED, vec![0; 10], 900 << 20, 0);
    let bomb = Zip::of((0..3).map(|n| part().both(|h| h.name = vec![b'a' + n]))).build();
    run(&bomb, &Options::default()).is_limit("max_compression_ratio", 1000);

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("1/2/3/4")).unwrap();
    write(&folder.path().join("1"), "file", b"12345");
    everywhere(folder.path(), &options(|o| o.max_depth = 3)).is_limit("max_depth", 3);
    everywhere(folder.path(), &options(|o| o.max_entries = 4)).is_limit("max_entries", 4);
    everywhere(folder.path(), &options(|o| o.max_entry_bytes = 4)).is_limit("max_entry_bytes", 4);
    everywhere(folder.path(), &options(|o| o.max_total_bytes = 4)).is_limit("max_total_bytes", 4);
    assert!(!everywhere(folder.path(), &options(|o| o.max_depth = 4)).is_error);
}

/// What is never read counts against no budget, whatever its header says.
#[test]
fn sizes_of_unread_members_cost_nothing() {
    let bytes = Zip::of([
        Entry::stored("a", b"x"),
        Entry::raw("locked", DEFLATED, vec![0; 10], 1 << 31, 0)
            .both(|h| h.method = 99)
            .both(|h| h.flags |= zip::ENCRYPTED),
        Entry::raw("odd", 93, vec![0; 10], 1 << 31, 0),
    ])
    .build();
    let shown = run(&bytes, &options(|o| o.max_entry_bytes = 100));
    assert_eq!(shown.row("a")["hash_status"], "verified");
    assert_eq!(shown.row("locked")["hash_status"], "unavailable");
    assert_eq!(shown.row("odd")["declared_size"], 1u64 << 31);
}

/// Entries and bytes of all nested containers together, in path order
/// whatever the order in the archive.
#[test]
fn nested_containers_share_one_account_in_path_order() {
    let three = stored(&[("1", b"a"), ("2", b"b"), ("3", b"c")]);
    let one = stored(&[("1", b"a")]);
    let bytes = Zip::of([
        Entry::deflated("c.zip", &one),
        Entry::stored("b.zip", &three),
        Entry::deflated("a.zip", &three),
    ])
    .build();
    let shown = run(&bytes, &options(|o| o.max_entries = 5));
    assert_eq!(shown.row("a.zip/3")["hash_status"], "verified");
    is_opaque(&shown, "b.zip", "budget");
    is_opaque(&shown, "c.zip", "budget");
    assert_eq!(shown.coverage().1, "complete");
    assert_eq!(shown.json()["parameters"]["max_entries"], 5);
    // All of them fit exactly.
    assert_eq!(
        run(&bytes, &options(|o| o.max_entries = 7)).paths().len(),
        1 + 3 + 7
    );

    // One alone over the limit, and all later ones.
    let six = stored(&[
        ("1", b""),
        ("2", b""),
        ("3", b""),
        ("4", b""),
        ("5", b""),
        ("6", b""),
    ]);
    let bytes = stored(&[("a.zip", &one), ("b.zip", &six), ("c.zip", &one)]);
    let shown = run(&bytes, &options(|o| o.max_entries = 5));
    assert_eq!(shown.row("a.zip/1")["hash_status"], "verified");
    is_opaque(&shown, "b.zip", "budget");
    is_opaque(&shown, "c.zip", "budget");

    // Bytes; what is inside `a.zip` comes before `b.zip`.
    let zeros = vec![0; 1000];
    let inner = deflated(&[("0", &zeros)]);
    let outer = Zip::of([
        Entry::stored("b.zip", &deflated(&[("0", &zeros[..300])])),
        Entry::stored("a.zip", &deflated(&[("x.zip", &inner), ("y.zip", &inner)])),
    ])
    .build();
    let nested = 2 * inner.len() as u64;
    let shown = run(&outer, &options(|o| o.max_total_bytes = nested + 1999));
    assert_eq!(shown.row("a.zip/x.zip/0")["hash_status"], "verified");
    is_opaque(&shown, "a.zip/y.zip", "budget");
    is_opaque(&shown, "b.zip", "budget");
    let shown = run(&outer, &options(|o| o.max_total_bytes = nested + 2300));
    assert_eq!(shown.row("b.zip/0")["hash_status"], "verified");
    // The same in a folder.
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "b.zip", &one);
    write(folder.path(), "a.zip", &three);
    let shown = everywhere(folder.path(), &options(|o| o.max_entries = 3));
    assert_eq!(shown.row("a.zip/3")["hash_status"], "verified");
    is_opaque(&shown, "b.zip", "budget");
}

/// A limit for members makes that container opaque, and no other.
#[test]
fn member_limits_inside() {
    let small = stored(&[("1", b"a")]);
    let large = deflated(&[("1", &[0; 5000])]);
    let bytes = stored(&[("a.zip", &large), ("b.zip", &small)]);
    let shown = run(&bytes, &options(|o| o.max_entry_bytes = 2000));
    is_opaque(&shown, "a.zip", "limit for members");
    assert_eq!(shown.row("b.zip/1")["hash_status"], "verified");
    let bomb = Zip::of([Entry::raw("a", DEFLATED, vec![0; 1000], 2 << 30, 0)]).build();
    let shown = run(
        &stored(&[("a.zip", &bomb), ("b.zip", &small)]),
        &Options::default(),
    );
    is_opaque(&shown, "a.zip", "limit for members");
    assert_eq!(shown.row("b.zip/1")["hash_status"], "verified");
}

/// In a folder each file has its own account for the ratio.
#[test]
fn a_bomb_costs_its_neighbours_nothing() {
    let part = |n: u8| Entry::raw([n], DEFLATED, vec![0; 10], 900 << 20, 0);
    let bomb = Zip::of([part(b'a'), part(b'b')]).build();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.zip", &bomb);
    write(folder.path(), "b.zip", &stored(&[("1", b"a")]));
    let shown = everywhere(folder.path(), &Options::default());
    is_opaque(&shown, "a.zip", "budget");
    assert_eq!(shown.row("b.zip/1")["hash_status"], "verified");
}

#[test]
fn nesting_400_deep() {
    let bytes = zip::nested(400, b"x");
    let shown = run(&bytes, &Options::default());
    let mut expected: Vec<String> = (1..=17).map(|n| vec!["n"; n].join("/")).collect();
    expected.insert(0, ".".to_owned());
    assert_eq!(shown.paths(), expected);
    is_opaque(&shown, &expected[17], "nested deeper");
    let shown = run(&bytes, &options(|o| o.max_nesting = 0));
    assert_eq!(shown.paths(), [".", "n"]);
    is_opaque(&shown, "n", "nested deeper");
    let shown = run(&bytes, &options(|o| o.max_nesting = 1000));
    assert_eq!(shown.paths().len(), 401);
    let shown = run(
        &bytes,
        &options(|o| {
            o.max_nesting = 1000;
            o.max_depth = 100;
        }),
    );
    let depth = shown
        .paths()
        .iter()
        .map(|path| path.split('/').count())
        .max();
    assert!(
        depth.is_some_and(|depth| (100..=101).contains(&depth)),
        "{depth:?}"
    );
    let shown = run(&bytes, &options(|o| o.nested = Nesting::None));
    assert_eq!(shown.paths(), [".", "n"]);
    assert_eq!(shown.row("n")["limitations"].to_string(), "[]");
}

#[test]
fn branching_16_fold() {
    let mut bytes = stored(&[("leaf", b"x")]);
    for _ in 0..7 {
        bytes = Zip::of((0..16).map(|n| Entry::deflated(format!("{n:x}"), &bytes))).build();
    }
    let shown = run(&bytes, &options(|o| o.max_entries = 3000));
    let paths = shown.paths();
    assert!((2900..=3017).contains(&paths.len()), "{}", paths.len());
    assert!(shown.limitations()[0].contains(ONLY_CENTRAL));
}

/// 2019's constructions: the members share their bytes.
#[test]
fn overlapping_bombs() {
    let record = options(|o| o.on_damage = rea::artifact::OnDamage::Record);
    for bytes in [
        zip::full_overlap(100, 1 << 20),
        zip::quoted_overlap(100, 1 << 20),
    ] {
        run(&bytes, &Options::default())
            .is_error("artifact_operation_failed", &[("reason", "format".into())]);
        let shown = run(&bytes, &record);
        let rows = shown.graph()["occurrences"].clone();
        let verified = rows
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["hash_status"] == "verified");
        assert_eq!(
            verified.count(),
            2,
            "the root and the one member that overlaps none before it"
        );
        // Nested: opaque.
        is_opaque(
            &run(&stored(&[("a.zip", &bytes)]), &Options::default()),
            "a.zip",
            "damaged",
        );
    }
}

#[test]
fn an_archive_that_holds_itself() {
    let bytes = zip::quine();
    let shown = run(&bytes, &Options::default());
    let mut expected: Vec<String> = (1..=17).map(|n| vec!["quine.zip"; n].join("/")).collect();
    expected.insert(0, ".".to_owned());
    assert_eq!(shown.paths(), expected);
    is_opaque(&shown, &expected[17], "nested deeper");
    let graph = shown.graph();
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(graph["nodes"][0]["sha256"], crate::support::sha256(&bytes));
}
