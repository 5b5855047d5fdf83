//! Universal files: honest ones of all four magics, and tables that lie.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use rea::artifact::{Nesting, OnDamage, Options};
use serde_json::json;
use support::record::{ESCAPED, Expected, Row, Shown, everywhere, file};
use support::zip::stored;

/// `mach-o/fat.h`
const FAT_MAGIC: u32 = 0xCAFE_BABE;
const FAT_MAGIC_64: u32 = 0xCAFE_BABF;

/// `mach/machine.h`
const X86_64: (u32, u32) = (0x0100_0007, 3);
const X86_64H: (u32, u32) = (0x0100_0007, 8);
const I386: (u32, u32) = (7, 3);
const ARM64: (u32, u32) = (0x0100_000C, 0);
const ARM64E: (u32, u32) = (0x0100_000C, 2);
const ARM64_32: (u32, u32) = (0x0200_000C, 1);
const ARMV7: (u32, u32) = (12, 9);
const ARMV7S: (u32, u32) = (12, 11);
const ARMV7K: (u32, u32) = (12, 12);
const PPC: (u32, u32) = (18, 0);
const PPC64: (u32, u32) = (0x0100_0012, 0);

/// A universal file whose table may say anything.
#[derive(Clone)]
struct Fat {
    magic: u32,
    little: bool,
    /// `None`: the truth.
    count: Option<u32>,
    /// Type and subtype, offset, size, alignment.
    rows: Vec<((u32, u32), u64, u64, u32)>,
    /// Everything behind the table, and where.
    parts: Vec<(usize, Vec<u8>)>,
}

impl Fat {
    /// Slices one after the other, each at the next multiple of 16.
    fn of(magic: u32, little: bool, slices: &[((u32, u32), &[u8])]) -> Self {
        let mut fat = Self {
            magic,
            little,
            count: None,
            rows: Vec::new(),
            parts: Vec::new(),
        };
        let mut at = (8 + slices.len() * fat.row_len()).next_multiple_of(16);
        for &(architecture, bytes) in slices {
            fat.rows
                .push((architecture, at as u64, bytes.len() as u64, 4));
            fat.parts.push((at, bytes.to_vec()));
            at = (at + bytes.len()).next_multiple_of(16);
        }
        fat
    }

    fn row_len(&self) -> usize {
        if self.magic == FAT_MAGIC_64 { 32 } else { 20 }
    }

    fn build(&self) -> Vec<u8> {
        let word = |value: u32| {
            if self.little {
                value.to_le_bytes()
            } else {
                value.to_be_bytes()
            }
        };
        let double = |value: u64| {
            if self.little {
                value.to_le_bytes()
            } else {
                value.to_be_bytes()
            }
        };
        let mut bytes = word(self.magic).to_vec();
        bytes.extend(word(self.count.unwrap_or(self.rows.len() as u32)));
        for &((cpu, subtype), offset, size, align) in &self.rows {
            bytes.extend(word(cpu));
            bytes.extend(word(subtype));
            if self.magic == FAT_MAGIC_64 {
                bytes.extend(double(offset));
                bytes.extend(double(size));
                bytes.extend(word(align));
                bytes.extend(word(0));
            } else {
                bytes.extend(word(offset as u32));
                bytes.extend(word(size as u32));
                bytes.extend(word(align));
            }
        }
        for (at, part) in &self.parts {
            bytes.resize(bytes.len().max(at + part.len()), 0);
            bytes[*at..at + part.len()].copy_from_slice(part);
        }
        bytes
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// The start of a Mach-O file (`MH_MAGIC_64`), and something to tell it by.
fn mach_o(tail: &str) -> Vec<u8> {
    [&[0xCF, 0xFA, 0xED, 0xFE][..], tail.as_bytes()].concat()
}

fn two() -> Fat {
    Fat::of(
        FAT_MAGIC,
        false,
        &[(X86_64, &mach_o("intel")), (ARM64, &mach_o("arm"))],
    )
}

fn run_as(name: &str, bytes: &[u8], options: &Options) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    everywhere(&support::file(folder.path(), name, bytes), options)
}

fn run(bytes: &[u8]) -> Shown {
    run_as("program", bytes, &Options::default())
}

fn slice<'a>(path: &'a str, content: &'a [u8]) -> Row<'a> {
    Row {
        entry_kind: "slice",
        ..file(path, content)
    }
}

/// The table lies: no children, said, coverage unknown, never an error.
#[track_caller]
fn lies(bytes: &[u8], phrase: &str) {
    for on_damage in [OnDamage::Fail, OnDamage::Record] {
        let shown = run_as(
            "program",
            bytes,
            &Options {
                on_damage,
                ..Options::default()
            },
        );
        assert_eq!(shown.paths(), ["."]);
        assert_eq!(shown.coverage(), ("root".into(), "unknown".into()));
        let says = shown.limitations().join("\n");
        assert!(says.contains(phrase), "{says}");
        let root = shown.row(".");
        assert_eq!(root["artifact_format"], "mach-o-universal");
        assert_eq!(root["artifact_kind"], "executable");
        // Nested: stays a file, and says so.
        let options = Options {
            on_damage,
            ..Options::default()
        };
        let zip = run_as(
            "case.zip",
            &stored(&[("a", b"1"), ("program", bytes)]),
            &options,
        );
        assert_eq!(zip.paths(), [".", "a", "program"]);
        assert_eq!(zip.coverage().1, "complete");
        let says = zip.row("program")["limitations"].to_string();
        assert!(says.contains("members are not listed"), "{says}");
    }
}

#[test]
fn all_four_magics() {
    let (intel, arm) = (mach_o("intel"), mach_o("arm"));
    for magic in [FAT_MAGIC, FAT_MAGIC_64] {
        for little in [false, true] {
            let fat = Fat::of(magic, little, &[(X86_64, &intel), (ARM64, &arm)]);
            let bytes = fat.build();
            let shown = run(&bytes);
            shown.is(&Expected {
                rows: vec![slice("slices/x86_64", &intel), slice("slices/arm64", &arm)],
                says: vec![],
                status: "complete",
            });
            assert_eq!(shown.coverage().0, "container-entries");
            let root = shown.row(".");
            assert_eq!(root["artifact_kind"], "executable");
            assert_eq!(root["artifact_format"], "mach-o-universal");
            let row = shown.row("slices/arm64");
            assert_eq!(row["artifact_kind"], "universal-slice");
            assert_eq!(row["artifact_format"], "mach-o");
            assert_eq!(row["executable"], true);
            assert_eq!(row["declared_size"], arm.len());
            assert!(row["compressed_size"].is_null());
            let location = json!({"offset": fat.rows[1].1, "length": arm.len()});
            assert_eq!(row["source_location"], location);
            assert_eq!(row["parent_occurrence_id"], root["occurrence_id"]);
            let graph = shown.graph();
            let edges = graph["edges"].as_array().unwrap();
            assert!(edges.iter().all(|edge| edge["relation"] == "slice-of"));
        }
    }
}

#[test]
fn names_are_apples() {
    let table = [
        (X86_64, "x86_64"),
        (X86_64H, "x86_64h"),
        (I386, "i386"),
        (ARM64, "arm64"),
        (ARM64E, "arm64e"),
        (ARM64_32, "arm64_32"),
        (ARMV7, "armv7"),
        (ARMV7S, "armv7s"),
        (ARMV7K, "armv7k"),
        (PPC, "ppc"),
        (PPC64, "ppc64"),
        ((0x0100_0007, 0x77), "cputype16777223-subtype119"),
        ((u32::MAX, 0), "cputype4294967295-subtype0"),
    ];
    let slices: Vec<((u32, u32), &[u8])> = table.iter().map(|row| (row.0, &b""[..])).collect();
    let shown = run(&Fat::of(FAT_MAGIC, false, &slices).build());
    let mut wanted: Vec<String> = table
        .iter()
        .map(|row| format!("slices/{}", row.1))
        .collect();
    wanted.push(".".to_owned());
    wanted.sort_unstable();
    assert_eq!(shown.paths(), wanted);
    // Feature bits name no architecture (CPU_SUBTYPE_LIB64, pointer authentication).
    let slices: [((u32, u32), &[u8]); 2] = [
        ((X86_64.0, 0x8000_0003), b"1"),
        ((ARM64E.0, 0xC000_0002), b"2"),
    ];
    let shown = run(&Fat::of(FAT_MAGIC, false, &slices).build());
    assert_eq!(shown.paths(), [".", "slices/arm64e", "slices/x86_64"]);
}

#[test]
fn the_same_architecture_twice_is_a_repeat() {
    let fat = Fat::of(FAT_MAGIC, false, &[(ARM64, b"1"), (ARM64, b"2")]);
    run(&fat.build()).is(&Expected {
        rows: vec![
            slice("slices/arm64%231", b"1").says(ESCAPED),
            slice("slices/arm64", b"2"),
        ],
        says: vec!["1 member is recorded"],
        status: "complete",
    });
}

/// `lipo` on static libraries.
#[test]
fn archives_in_slices_are_expanded() {
    let header = format!(
        "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        "a.o", 0, 0, 0, "644", 2
    );
    let library = [b"!<arch>\n", header.as_bytes(), b"xx"].concat();
    let bytes = Fat::of(
        FAT_MAGIC,
        false,
        &[(ARM64, &library), (X86_64, &mach_o("x"))],
    )
    .build();
    let shown = run_as("lib.a", &bytes, &Options::default());
    shown.is(&Expected {
        rows: vec![
            slice("slices/arm64", &library),
            file("slices/arm64/a.o", b"xx"),
            slice("slices/x86_64", &mach_o("x")),
        ],
        says: vec![],
        status: "complete",
    });
    let row = shown.row("slices/arm64");
    assert_eq!(row["artifact_kind"], "universal-slice");
    assert_eq!(row["artifact_format"], "ar");
    assert_eq!(
        shown.row("slices/arm64/a.o")["parent_occurrence_id"],
        row["occurrence_id"]
    );
    let none = Options {
        nested: Nesting::None,
        ..Options::default()
    };
    assert_eq!(
        run_as("lib.a", &bytes, &none).paths(),
        [".", "slices/arm64", "slices/x86_64"]
    );
}

#[test]
fn universal_files_inside_others_are_expanded() {
    let zip = stored(&[
        ("App.framework/App", &two().build()),
        ("a.dylib", &two().build()),
    ]);
    let shown = run_as("case.zip", &zip, &Options::default());
    let wanted = [
        ".",
        "App.framework/App",
        "App.framework/App/slices/arm64",
        "App.framework/App/slices/x86_64",
        "a.dylib",
        "a.dylib/slices/arm64",
        "a.dylib/slices/x86_64",
    ];
    assert_eq!(shown.paths(), wanted);
    let row = shown.row("a.dylib");
    assert_eq!(row["artifact_kind"], "dynamic-library");
    assert_eq!(row["artifact_format"], "mach-o-universal");
    let slice = shown.row("a.dylib/slices/arm64");
    assert_eq!(slice["parent_occurrence_id"], row["occurrence_id"]);
    assert!(slice["source_location"]["offset"].is_u64());
}

#[test]
fn bytes_that_belong_to_no_slice_are_said() {
    let rows = || {
        vec![
            slice("slices/x86_64", b"\xCF\xFA\xED\xFEintel"),
            slice("slices/arm64", b"\xCF\xFA\xED\xFEarm"),
        ]
    };
    let says = |bytes: &[u8], phrase: &str| {
        run(bytes).is(&Expected {
            rows: rows(),
            says: vec![phrase],
            status: "complete",
        });
    };
    let fat = two();
    // The table ends at 48, the first slice at 57, the second starts at 64.
    let end = fat.build().len();
    let trailing = [fat.build(), b"\0\0\0".to_vec()].concat();
    says(
        &trailing,
        &format!(
            "3 bytes in 1 range belong to no member and no known structure: {end}..{}.",
            end + 3
        ),
    );
    // Something in the padding; the whole of it is told.
    let mut bytes = fat.build();
    bytes[60] = 1;
    says(&bytes, ": 57..64.");
    // More zeros than the alignment asks for.
    let wide = fat.clone().with(|fat| {
        for (row, part) in fat.rows.iter_mut().zip(&mut fat.parts) {
            row.1 += 16;
            part.0 += 16;
        }
    });
    says(&wide.build(), ": 48..64.");
    // An alignment beyond what files have explains no more.
    let huge = wide.with(|fat| fat.rows.iter_mut().for_each(|row| row.3 = u32::MAX));
    run(&huge.build()).is(&Expected {
        rows: rows(),
        says: vec![],
        status: "complete",
    });
}

#[test]
fn tables_that_lie() {
    let fat = two();
    lies(
        &fat.clone().with(|fat| fat.rows[1].1 = 1 << 31).build(),
        "not inside the file",
    );
    lies(
        &fat.clone().with(|fat| fat.rows[1].2 += 1).build(),
        "not inside the file",
    );
    lies(
        &fat.clone().with(|fat| fat.rows[1].2 = 0xFFFF_FFFF).build(),
        "not inside the file",
    );
    // Overlaps: the same bytes twice, one byte, the table itself.
    lies(
        &fat.clone()
            .with(|fat| fat.rows[1].1 = fat.rows[0].1)
            .build(),
        "overlaps",
    );
    lies(
        &fat.clone().with(|fat| fat.rows[0].2 += 8).build(),
        "overlaps",
    );
    lies(
        &fat.clone().with(|fat| fat.rows[0].1 = 0).build(),
        "overlaps",
    );
    lies(
        &fat.clone().with(|fat| fat.rows[0].1 = 47).build(),
        "overlaps",
    );
    // Counts. Beyond 44 the big-endian magic is a Java class.
    lies(
        &fat.clone().with(|fat| fat.count = Some(44)).build(),
        "44 slices, more than fit",
    );
    for (magic, little) in [
        (FAT_MAGIC, true),
        (FAT_MAGIC_64, true),
        (FAT_MAGIC_64, false),
    ] {
        let fat = Fat::of(magic, little, &[(ARM64, b"1")]);
        lies(
            &fat.clone().with(|fat| fat.count = Some(0)).build(),
            "no slices",
        );
        lies(
            &fat.with(|fat| fat.count = Some(u32::MAX)).build(),
            "4294967295 slices",
        );
    }
    // 64 bit sums wrap.
    let wide = Fat::of(FAT_MAGIC_64, false, &[(ARM64, b"1")]);
    lies(
        &wide.clone().with(|fat| fat.rows[0].1 = u64::MAX).build(),
        "not inside the file",
    );
    lies(
        &wide.with(|fat| fat.rows[0].2 = u64::MAX).build(),
        "not inside the file",
    );
    let java = run(&fat.with(|fat| fat.count = Some(45)).build());
    assert_eq!(java.row(".")["artifact_format"], "java-class");
}

#[test]
fn a_universal_file_inside_its_own_slice_ends() {
    let mut inner = two().build();
    for _ in 0..20 {
        inner = Fat::of(FAT_MAGIC, false, &[(ARM64, &inner)]).build();
    }
    let shown = run(&inner);
    let deepest = "slices/arm64/".repeat(17);
    let row = shown.row(deepest.trim_end_matches('/'));
    assert!(
        row["limitations"]
            .to_string()
            .contains("nested deeper than the limit"),
        "{row}"
    );
}

#[test]
fn many_slices_are_limited() {
    let slices: Vec<((u32, u32), &[u8])> = (0..40).map(|n| ((99, n), &b"x"[..])).collect();
    let bytes = Fat::of(FAT_MAGIC, false, &slices).build();
    let options = Options {
        max_entries: 39,
        ..Options::default()
    };
    run_as("program", &bytes, &options).is_limit("max_entries", 39);
    assert_eq!(run(&bytes).paths().len(), 41);
}

#[test]
fn cut_at_every_byte() {
    let bytes = two().build();
    for len in 8..bytes.len() {
        let shown = run(&bytes[..len]);
        assert_eq!(shown.paths(), ["."], "{len}");
        assert_eq!(shown.coverage().1, "unknown", "{len}");
    }
    assert_eq!(run(&bytes[..7]).row(".")["artifact_format"], "file");
}
