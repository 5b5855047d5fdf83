//! Streams and what is inside them: tar in all its forms, codecs, nesting.
//!
//! Archives are built byte by byte from the formats' specifications, so that
//! they can lie; expected values are written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};

use rea::artifact::{Inventory, Nesting, OnDamage, Options, inventory};
use rea::error::{Code, Error};
use rea::evidence::Record;
use rea::operation::Context;

fn context(threads: usize) -> Context {
    Context {
        threads,
        ..Context::new("inventory_artifact")
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn record(inventory: &Inventory) -> Vec<u8> {
    inventory.canonical()
}

/// The inventory, the same for 1, 2 and 64 threads.
fn list(path: &Path, options: &Options) -> Inventory {
    let one = inventory(path, options, &context(1)).unwrap();
    for threads in [2, 64] {
        let other = inventory(path, options, &context(threads)).unwrap();
        assert!(
            record(&one) == record(&other),
            "{threads} threads give another record"
        );
    }
    one
}

fn refused(path: &Path, options: &Options) -> Error {
    match inventory(path, options, &context(2)) {
        Ok(_) => panic!("{} was accepted", path.display()),
        Err(error) => error,
    }
}

/// `path kind size status [-> link]`, a line each, the root left out.
fn lines(inventory: &Inventory) -> Vec<String> {
    inventory
        .rows()
        .filter(|row| row.path != ".")
        .map(|row| {
            let size = row.size.map_or("-".to_owned(), |size| size.to_string());
            format!(
                "{} {} {} {}",
                row.path, row.entry_kind, size, row.hash_status
            )
        })
        .collect()
}

/// One 512-byte header, POSIX ustar, with a right checksum.
fn header(name: &str, kind: u8, size: &[u8; 12], mode: &str, link: &str) -> Vec<u8> {
    let mut block = vec![0u8; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[100..100 + mode.len()].copy_from_slice(mode.as_bytes());
    block[124..136].copy_from_slice(size);
    block[156] = kind;
    block[157..157 + link.len()].copy_from_slice(link.as_bytes());
    block[257..263].copy_from_slice(b"ustar\0");
    block[263..265].copy_from_slice(b"00");
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

fn octal(size: u64) -> [u8; 12] {
    let mut field = [0; 12];
    field[..11].copy_from_slice(format!("{size:011o}").as_bytes());
    field
}

fn padded(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    bytes.resize(data.len().next_multiple_of(512), 0);
    bytes
}

fn member(name: &str, data: &[u8]) -> Vec<u8> {
    [
        header(name, b'0', &octal(data.len() as u64), "0000644", ""),
        padded(data),
    ]
    .concat()
}

fn link(name: &str, kind: u8, target: &str) -> Vec<u8> {
    header(name, kind, &octal(0), "0000777", target)
}

fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let mut data = Vec::new();
    for (key, value) in records {
        let rest = format!(" {key}={value}\n");
        // The length counts its own digits.
        let mut length = rest.len() + 1;
        while length.to_string().len() + rest.len() != length {
            length += 1;
        }
        data.extend(format!("{length}{rest}").into_bytes());
    }
    [
        header("x", b'x', &octal(data.len() as u64), "0000644", ""),
        padded(&data),
    ]
    .concat()
}

const END: [u8; 1024] = [0; 1024];

fn gzip(data: &[u8]) -> Vec<u8> {
    use flate2::{Compression, write::GzEncoder};
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn links_devices_and_odd_names() {
    let folder = Folder::new();
    let archive = [
        header("./", b'5', &octal(0), "0000755", ""),
        member("./a", b"hi\n"),
        link("hard", b'1', "./a"),
        link("soft", b'2', "a"),
        link("hard-to-soft", b'1', "soft"),
        link("to-nothing", b'1', "missing"),
        link("out", b'2', "../../etc/passwd"),
        link("null", b'3', ""),
        member("../up", b"x"),
        member("/abs", b"y"),
        member("a", b"again"),
        END.to_vec(),
    ]
    .concat();
    let path = folder.file("odd.tar", &archive);
    let inventory = list(&path, &Options::default());
    assert_eq!(
        lines(&inventory),
        [
            "%2E%2E/up file 1 verified",
            "%2Fabs file 1 verified",
            "a file 5 verified",
            "a%231 file 3 verified",
            "hard file 3 verified",
            "hard-to-soft symlink 1 verified",
            "null file - unavailable",
            "out symlink 16 verified",
            "soft symlink 1 verified",
            "to-nothing file - unavailable",
        ]
    );
    assert_eq!(inventory.coverage_status(), "complete");
    assert_eq!(
        inventory.limitations().len(),
        1,
        "{:?}",
        inventory.limitations()
    );
}

#[test]
fn sizes_in_base_256_and_negative_times() {
    let folder = Folder::new();
    let mut size = [0u8; 12];
    size[0] = 0x80;
    size[11] = 3;
    let mut block = header("b", b'0', &size, "0000644", "");
    block[136..148].fill(0xFF); // mtime -1
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let path = folder.file("b.tar", &[block, padded(b"abc")].concat());
    assert_eq!(
        lines(&list(&path, &Options::default())),
        ["b file 3 verified"]
    );
    // A negative size is damage.
    let path = folder.file("n.tar", &header("n", b'0', &[0xFF; 12], "0000644", ""));
    let error = refused(&path, &Options::default());
    assert_eq!(error.code(), Code::ArtifactOperationFailed);
    assert!(error.message().contains("size is no number"), "{error}");
}

#[test]
fn pax_names_links_and_sizes_win() {
    let folder = Folder::new();
    let long = format!("{}/file", "d".repeat(300));
    let target = "t".repeat(400);
    let archive = [
        pax(&[("path", &long), ("size", "4"), ("mtime", "-1.5")]),
        header("short", b'0', &octal(0), "0000644", ""),
        padded(b"data"),
        pax(&[("linkpath", &target)]),
        link("l", b'2', "x"),
    ]
    .concat();
    let path = folder.file("p.tar", &archive);
    let listed = lines(&list(&path, &Options::default()));
    assert_eq!(
        listed,
        [
            format!("{long} file 4 verified"),
            "l symlink 400 verified".into()
        ]
    );
}

#[test]
fn a_pax_header_of_a_gigabyte_is_a_limit() {
    let folder = Folder::new();
    let path = folder.file("g.tar", &header("x", b'x', &octal(1 << 30), "0000644", ""));
    let error = refused(&path, &Options::default());
    assert_eq!(error.code(), Code::Truncated);
    assert_eq!(
        error.details().get("limit").unwrap().as_str(),
        Some("max_header_bytes")
    );
    // Nested, the archive stays a file.
    let outer = folder.file(
        "outer.tar",
        &member("in.tar", &std::fs::read(&path).unwrap()),
    );
    let inventory = list(&outer, &Options::default());
    assert_eq!(lines(&inventory), ["in.tar file 512 verified"]);
}

#[test]
fn sparse_maps_that_lie_are_damage() {
    let folder = Folder::new();
    for map in [
        "0,2,1,2",
        "0,99",
        "18446744073709551615,4",
        "4,4,0,0",
        "1",
        "",
    ] {
        let archive = [
            pax(&[("GNU.sparse.map", map), ("GNU.sparse.size", "8")]),
            member("s", b"data"),
        ]
        .concat();
        let path = folder.file("s.tar", &archive);
        let error = refused(&path, &Options::default());
        assert_eq!(
            error.code(),
            Code::ArtifactOperationFailed,
            "{map}: {error}"
        );
    }
    let archive = [
        pax(&[
            ("GNU.sparse.map", "2,2,6,2"),
            ("GNU.sparse.size", "10"),
            ("GNU.sparse.name", "n"),
        ]),
        member("s", b"abcd"),
    ]
    .concat();
    let path = folder.file("s.tar", &archive);
    let inventory = list(&path, &Options::default());
    assert_eq!(lines(&inventory), ["n file 10 verified"]);
    let digest = inventory
        .rows()
        .find(|row| row.path == "n")
        .unwrap()
        .sha256
        .unwrap();
    assert_eq!(digest, rea::digest::Digest::of(b"\0\0ab\0\0cd\0\0"));
}

#[test]
fn a_sparse_member_of_an_exabyte_is_a_limit() {
    let folder = Folder::new();
    let archive = [
        pax(&[
            ("GNU.sparse.map", "0,4"),
            ("GNU.sparse.size", "1152921504606846976"),
        ]),
        member("s", b"data"),
    ]
    .concat();
    let path = folder.file("s.tar", &archive);
    assert_eq!(refused(&path, &Options::default()).code(), Code::Truncated);
}

/// Holes are charged before they are hashed: a small archive that claims 60 GB
/// of them costs nothing.
#[test]
fn holes_count_before_they_are_made() {
    let folder = Folder::new();
    let hollow = [
        pax(&[
            ("GNU.sparse.map", "0,4"),
            ("GNU.sparse.size", "60000000000"),
        ]),
        member("s", b"data"),
        END.to_vec(),
    ]
    .concat();
    let error = refused(&folder.file("s.tar", &hollow), &Options::default());
    assert_eq!(error.code(), Code::Truncated);
    assert!(
        error.message().contains("max_compression_ratio"),
        "{error:?}"
    );
    let outer = [member("a.tar", &hollow), member("b", b"b"), END.to_vec()].concat();
    let inventory = list(&folder.file("o.tar", &outer), &Options::default());
    let expected = [
        format!("a.tar file {} verified", hollow.len()),
        "b file 1 verified".to_owned(),
    ];
    assert_eq!(lines(&inventory), expected);
}

#[test]
fn truncated_anywhere() {
    let folder = Folder::new();
    let archive = [member("a", &[7; 700]), member("b", b"b"), END.to_vec()].concat();
    let zipped = gzip(&archive);
    for at in 0..zipped.len() {
        let path = folder.file("t.tgz", &zipped[..at]);
        if at < 3 {
            // Too short to be told from any file.
            inventory(&path, &Options::default(), &context(2)).unwrap();
            continue;
        }
        let error = refused(&path, &Options::default());
        assert_eq!(error.code(), Code::ArtifactOperationFailed, "cut at {at}");
        let record = Options {
            on_damage: OnDamage::Record,
            ..Options::default()
        };
        let kept = inventory(&path, &record, &context(2)).unwrap();
        assert_eq!(kept.coverage_status(), "unknown", "cut at {at}");
    }
    for at in (512..archive.len() - END.len()).step_by(97) {
        let path = folder.file("t.tar", &archive[..at]);
        // The first member's data ends at 1212, the second's header is at 1536
        // and its byte at 2048; a missing end marker or padding is no damage.
        let damaged = at < 1212 || (1537..2049).contains(&at);
        let listed = inventory(&path, &Options::default(), &context(2));
        assert_eq!(listed.is_err(), damaged, "cut at {at}");
    }
}

#[test]
fn behind_the_end() {
    let folder = Folder::new();
    let archive = [member("a", b"a"), END.to_vec(), b"junk".to_vec()].concat();
    let path = folder.file("j.tar", &archive);
    let said = list(&path, &Options::default()).limitations().to_vec();
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("4 bytes in 1 range belong to no member"),
        "{said:?}"
    );
    // In a compressed stream zeros are padding and all else is damage.
    let zipped = gzip(&archive[..1024]);
    let path = folder.file("z.tgz", &[&zipped[..], &[0; 100]].concat());
    assert_eq!(
        lines(&list(&path, &Options::default())),
        ["a file 1 verified"]
    );
    let path = folder.file("g.tgz", &[&zipped[..], b"garbage"].concat());
    let error = refused(&path, &Options::default());
    assert!(
        error
            .message()
            .contains("other bytes follow the last gzip member"),
        "{error}"
    );
    let record = Options {
        on_damage: OnDamage::Record,
        ..Options::default()
    };
    let kept = list(&path, &record);
    assert_eq!(lines(&kept), ["a file 1 verified"]);
    assert_eq!(kept.coverage_status(), "unknown");
}

#[test]
fn one_stream_is_one_member() {
    let folder = Folder::new();
    let two = [gzip(b"hello "), gzip(b"world")].concat();
    let path = folder.file("x.gz", &two);
    assert_eq!(
        lines(&list(&path, &Options::default())),
        ["content file 11 verified"]
    );
    let archive = [
        member("doc/ls.1.gz", &gzip(b"page")),
        member("q.TGZ", &gzip(b"")),
    ]
    .concat();
    let path = folder.file("n.tar", &archive);
    assert_eq!(
        lines(&list(&path, &Options::default())),
        [
            "doc/ls.1.gz file 24 verified",
            "doc/ls.1.gz/ls.1 file 4 verified",
            "q.TGZ file 20 verified",
            "q.TGZ/q file 0 verified",
        ]
    );
}

#[test]
fn archives_nest_in_place_up_to_the_limit() {
    let folder = Folder::new();
    let mut inner = member("leaf", b"leaf");
    for _ in 0..400 {
        inner = gzip(&member("n.tgz", &inner));
    }
    let path = folder.file("deep.tgz", &inner);
    let inventory = list(&path, &Options::default());
    // The root, sixteen levels below it, and one that is too deep.
    assert_eq!(lines(&inventory).len(), 17);
    let last = inventory.rows().max_by_key(|row| row.path.len()).unwrap();
    assert!(last.limitations[0].starts_with("It is nested deeper than the limit"));
    let none = Options {
        nested: Nesting::None,
        ..Options::default()
    };
    assert_eq!(lines(&list(&path, &none)).len(), 1);
}

#[test]
fn sixteen_fold_branching_stays_within_the_account() {
    let folder = Folder::new();
    let mut inner = member("leaf", b"leaf");
    for _ in 0..6 {
        let packed = gzip(&inner);
        inner = (0..16)
            .flat_map(|n| member(&format!("{n:02}.tgz"), &packed))
            .collect();
    }
    let path = folder.file("tree.tar", &inner);
    let options = Options {
        max_entries: 1000,
        ..Options::default()
    };
    let inventory = list(&path, &options);
    assert!(lines(&inventory).len() <= 1016);
    let opaque = inventory
        .rows()
        .filter(|row| {
            row.limitations
                .iter()
                .any(|said| said.starts_with("The budget for nested"))
        })
        .count();
    assert!(opaque > 15, "{opaque}");
}

#[test]
fn bombs_in_every_codec_are_limits() {
    let folder = Folder::new();
    let zeros = vec![0u8; 8 << 20];
    let options = Options {
        max_entry_bytes: 1 << 20,
        ..Options::default()
    };
    let xz = {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
        encoder.write_all(&zeros).unwrap();
        encoder.finish().unwrap()
    };
    let bzip2 = {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(&zeros).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::encode_all(&zeros[..], 3).unwrap();
    for (name, bytes) in [
        ("b.gz", gzip(&zeros)),
        ("b.xz", xz),
        ("b.bz2", bzip2),
        ("b.zst", zstd),
    ] {
        let path = folder.file(name, &bytes);
        assert_eq!(refused(&path, &options).code(), Code::Truncated, "{name}");
        // Nested, it stays a file, and its neighbours are read.
        let outer = folder.file("o.tar", &[member(name, &bytes), member("z", b"z")].concat());
        let inventory = list(&outer, &options);
        assert_eq!(lines(&inventory).len(), 2, "{name}");
        let row = inventory.rows().find(|row| row.path == name).unwrap();
        assert!(
            row.limitations[0].starts_with("A member of it exceeds a limit"),
            "{name}"
        );
    }
}

#[test]
fn a_decoder_window_of_four_gigabytes_is_a_limit() {
    let folder = Folder::new();
    // lzma: properties, dictionary 4 GiB - 1, size unknown; the first byte of
    // the range coder is 0.
    let mut lzma = vec![0x5D, 0xFF, 0xFF, 0xFF, 0xFF];
    lzma.extend([0xFF; 8]);
    lzma.extend([0; 32]);
    // zstd (RFC 8878 3.1.1.1.2): exponent 22, mantissa 0 is 4 GiB.
    let zstd = [0x28, 0xB5, 0x2F, 0xFD, 0, 22 << 3, 1, 0, 0];
    for (name, bytes) in [("w.lzma", &lzma[..]), ("w.zst", &zstd[..])] {
        let path = folder.file(name, bytes);
        let error = refused(&path, &Options::default());
        assert_eq!(
            error.details().get("limit").unwrap().as_str(),
            Some("max_decoder_window")
        );
    }
}

#[test]
fn skippable_and_several_zstd_frames() {
    let folder = Folder::new();
    let skippable = [
        &0x184D_2A53u32.to_le_bytes()[..],
        &3u32.to_le_bytes(),
        b"abc",
    ]
    .concat();
    let frame = |data: &[u8]| zstd::encode_all(data, 3).unwrap();
    let bytes = [skippable.clone(), frame(b"one "), skippable, frame(b"two")].concat();
    let path = folder.file("s.zst", &bytes);
    assert_eq!(
        lines(&list(&path, &Options::default())),
        ["content file 7 verified"]
    );
}

/// Decision 9: the node is the full decoded bytes, whatever the checksum says.
#[test]
fn a_checksum_that_contradicts() {
    let folder = Folder::new();
    let codecs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/codecs");
    let file = |name: &str| std::fs::read(codecs.join(name)).unwrap();
    let record = Options {
        on_damage: OnDamage::Record,
        ..Options::default()
    };
    // Trailer of the first of two members; the check of a block in front of
    // index and footer (24 bytes in a file of one block), with a filter that
    // holds bytes back; the last field of a frame.
    let first = file("plain.gz").len() - 8;
    let two = [file("crc64.xz"), file("sha256.xz")].concat();
    let cases = [
        ("two.gz", file("two.gz"), first, 2, "crc-32"),
        ("size.gz", file("plain.gz"), first + 4, 1, "1975 bytes"),
        (
            "crc32.xz",
            file("crc32.xz"),
            file("crc32.xz").len() - 28,
            1,
            "an xz block",
        ),
        (
            "x86.xz",
            file("x86.xz"),
            file("x86.xz").len() - 32,
            1,
            "an xz block",
        ),
        ("two.xz", two, file("crc64.xz").len() - 32, 2, "an xz block"),
        (
            "plain.zst",
            file("plain.zst"),
            file("plain.zst").len() - 1,
            1,
            "a zstd frame",
        ),
    ];
    for (name, mut bytes, at, times, text) in cases {
        bytes[at] ^= 1;
        let path = folder.file(name, &bytes);
        let error = refused(&path, &Options::default());
        assert_eq!(error.code(), Code::ArtifactOperationFailed, "{name}");
        let kept = list(&path, &record);
        let plain = file("plain").repeat(times);
        let expected = format!("content file {} mismatched", plain.len());
        assert_eq!(lines(&kept), [expected], "{name}");
        assert_eq!(kept.coverage_status(), "unknown", "{name}");
        let row = kept.rows().find(|row| row.path == "content").unwrap();
        assert_eq!(row.sha256, Some(rea::digest::Digest::of(&plain)), "{name}");
        let said = row.limitations[0].to_lowercase();
        assert!(said.contains(text), "{name}: {said}");
    }
    // Of an archive, it cannot be told which member it is about.
    let archive = [member("a", b"a"), member("b", b"b"), END.to_vec()].concat();
    let mut zipped = gzip(&archive);
    let at = zipped.len() - 8;
    zipped[at] ^= 1;
    let kept = list(&folder.file("c.tgz", &zipped), &record);
    assert_eq!(lines(&kept), ["a file 1 verified", "b file 1 verified"]);
    assert_eq!(kept.coverage_status(), "unknown");
}
