//! Compressed streams that are whole, cut, flipped, followed by other bytes,
//! or claim too much. `tests/data/codecs/make.sh` made the files.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;

use rea::artifact::fuzzing::decode;

/// A file, its codec, and how often it holds the plain bytes.
const FILES: &[(&str, &str, usize)] = &[
    ("plain.gz", "gzip", 1),
    ("fields.gz", "gzip", 1),
    ("two.gz", "gzip", 2),
    ("empty.gz", "gzip", 0),
    ("big.gz", "gzip", 100),
    ("none.xz", "xz", 1),
    ("crc32.xz", "xz", 1),
    ("crc64.xz", "xz", 1),
    ("sha256.xz", "xz", 1),
    ("x86.xz", "xz", 1),
    ("blocks.xz", "xz", 1),
    ("unsized.xz", "xz", 1),
    ("two.xz", "xz", 2),
    ("empty.xz", "xz", 0),
    ("big.xz", "xz", 100),
    ("plain.lzma", "lzma", 1),
    ("empty.lzma", "lzma", 0),
    ("plain.bz2", "bzip2", 1),
    ("two.bz2", "bzip2", 2),
    ("empty.bz2", "bzip2", 0),
    ("big.bz2", "bzip2", 100),
    ("plain.zst", "zstd", 1),
    ("unchecked.zst", "zstd", 1),
    ("two.zst", "zstd", 2),
    ("empty.zst", "zstd", 0),
    ("big.zst", "zstd", 100),
];

const MOST: usize = 1 << 20;

fn file(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/codecs/");
    std::fs::read(format!("{folder}{name}")).expect(name)
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    hasher.finalize()
}

fn whole(codec: &str, bytes: &[u8]) -> (Vec<u8>, Option<String>) {
    decode(codec, bytes, MOST, 1 << 16, 1)
}

/// The fault must be there and have these words and this offset.
#[track_caller]
fn fails(codec: &str, bytes: &[u8], reason: &str, offset: usize, text: &str) -> Vec<u8> {
    let (output, fault) = whole(codec, bytes);
    let fault = fault.expect("a fault");
    let expected =
        format!("Damage(Damage {{ reason: {reason}, offset: {offset}, text: \"{text}\" }})");
    assert_eq!(fault, expected);
    output
}

#[test]
fn files_of_the_usual_tools() {
    let plain = file("plain");
    for &(name, codec, times) in FILES {
        let bytes = file(name);
        for step in [1 << 16, 1 << 20, 1000, 1] {
            let (output, fault) = decode(codec, &bytes, MOST, step, 2);
            assert_eq!(fault, None, "{name}");
            assert!(output == plain.repeat(times), "{name}");
        }
    }
}

#[test]
fn cut_at_every_byte() {
    for &(name, codec, times) in FILES {
        let bytes = file(name);
        let plain = file("plain").repeat(times);
        let mut before = 0;
        for len in 0..bytes.len() {
            let (output, fault) = whole(codec, &bytes[..len]);
            assert!(plain.starts_with(&output), "{name} {len}");
            assert!(output.len() >= before, "{name} {len}");
            before = output.len();
            // Between two members, a file is whole.
            let between = name.starts_with("two") && matches!(output.len(), 0 | 1975 | 3950);
            assert!(fault.is_some() || between, "{name} {len}");
        }
        // What is cut last is a checksum, a trailer or an end mark; without
        // a checksum, zstd ends with its last block.
        if !matches!(name, "unchecked.zst") {
            assert_eq!(before, plain.len(), "{name}");
        }
    }
}

#[test]
fn flipped_at_every_byte() {
    for &(name, codec, times) in FILES {
        let checked = !matches!(name, "none.xz" | "unchecked.zst" | "two.zst") && codec != "lzma";
        let mut bytes = file(name);
        let plain = file("plain").repeat(times);
        for at in 0..bytes.len() {
            let bit = 1 << (at % 8);
            bytes[at] ^= bit;
            let (output, fault) = whole(codec, &bytes);
            assert!(output.len() <= MOST, "{name} {at}");
            assert!(
                fault.is_some() || !checked || output == plain,
                "{name} {at}"
            );
            bytes[at] ^= bit;
        }
    }
}

#[test]
fn buffers_and_threads_change_nothing() {
    for &(name, codec, _) in FILES {
        let mut bytes = file(name);
        for at in (0..bytes.len()).step_by(11) {
            bytes[at] ^= 0x10;
            let expected = decode(codec, &bytes, usize::MAX, 1 << 20, 1);
            for step in [333, 1 << 16] {
                assert!(
                    decode(codec, &bytes, usize::MAX, step, 2) == expected,
                    "{name} {at}"
                );
            }
            bytes[at] ^= 0x10;
        }
    }
}

#[test]
fn what_follows_the_last_member() {
    let names = [
        ("gzip", "gzip member"),
        ("xz", "xz stream"),
        ("lzma", "lzma stream"),
        ("bzip2", "bzip2 stream"),
        ("zstd", "zstd frame"),
    ];
    for &(name, codec, times) in FILES {
        let plain = file("plain").repeat(times);
        let (_, unit) = names
            .into_iter()
            .find(|(known, _)| *known == codec)
            .unwrap();
        let text = format!("other bytes follow the last {unit}");
        for zeros in [0, 1, 3, 4, 600_000] {
            let mut bytes = file(name);
            bytes.resize(bytes.len() + zeros, 0);
            assert!(whole(codec, &bytes) == (plain.clone(), None), "{name}");
            let offset = bytes.len();
            bytes.extend_from_slice(b"garbage");
            assert!(fails(codec, &bytes, "Format", offset, &text) == plain);
        }
    }
}

#[test]
fn nothing_starts() {
    for codec in ["gzip", "xz", "lzma", "bzip2", "zstd"] {
        for bytes in [
            &b""[..],
            b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        ] {
            let (output, fault) = whole(codec, bytes);
            assert!(output.is_empty());
            assert!(fault.unwrap().contains("starts here"));
        }
    }
}

#[test]
fn checksums() {
    let plain = file("plain");
    let flip = |name: &str, from_end: usize| {
        let mut bytes = file(name);
        let at = bytes.len() - from_end;
        bytes[at] ^= 1;
        (bytes, at)
    };
    let (bytes, at) = flip("plain.gz", 8);
    // As `crc32 plain` says, and with the lowest bit flipped.
    let (right, wrong) = (crc32(&plain), crc32(&plain) ^ 1);
    let text = format!("a gzip member's CRC-32 is {right:08x}, its trailer says {wrong:08x}");
    assert_eq!(fails("gzip", &bytes, "Integrity", at, &text), plain);
    let (bytes, at) = flip("plain.gz", 4);
    let text = "a gzip member has 1975 bytes (modulo 2^32), its trailer says 1974";
    assert_eq!(fails("gzip", &bytes, "Integrity", at, text), plain);
    let mut bytes = file("fields.gz");
    bytes[4] ^= 1;
    let text = "a gzip header's checksum does not fit";
    assert!(fails("gzip", &bytes, "Integrity", 0, text).is_empty());

    // In front of the index (12 bytes with one block) and the footer (12).
    for (name, size) in [("crc32.xz", 4), ("crc64.xz", 8), ("sha256.xz", 32)] {
        let index = file(name).len() - 24;
        let (bytes, _) = flip(name, 24 + size);
        let text = "an xz block's checksum does not fit";
        assert_eq!(fails("xz", &bytes, "Integrity", index, text), plain);
    }
    let (bytes, at) = flip("crc64.xz", 1);
    let text = "an xz stream is malformed";
    let output = fails("xz", &bytes, "Format", at + 1, text);
    assert_eq!(output, plain);

    // The stream's first block starts at 4 with a mark of six bytes.
    let mut bytes = file("plain.bz2");
    bytes[10] ^= 1;
    let (output, fault) = whole("bzip2", &bytes);
    assert_eq!(output, plain);
    let fault = fault.unwrap();
    assert!(fault.contains("Integrity") && fault.contains("a bzip2 block's checksum"));
    let (bytes, at) = flip("plain.bz2", 2);
    let text = "a bzip2 stream's checksum does not fit";
    assert_eq!(fails("bzip2", &bytes, "Integrity", at + 2, text), plain);

    let (bytes, at) = flip("plain.zst", 1);
    let text = "a zstd frame's checksum does not fit";
    assert_eq!(fails("zstd", &bytes, "Integrity", at - 3, text), plain);
}

/// A member that is damaged in the middle costs only what comes after.
#[test]
fn good_bytes_come_first() {
    for (name, codec, least) in [
        ("big.gz", "gzip", 10_000),
        ("big.xz", "xz", 150_000),
        ("big.bz2", "bzip2", 99_000),
        ("big.zst", "zstd", 131_072),
        ("blocks.xz", "xz", 1500),
    ] {
        let mut bytes = file(name);
        let plain = file("plain").repeat(100);
        let at = match name {
            // The last block's data.
            "big.zst" => bytes.len() - 6,
            "blocks.xz" => bytes.len() - 110,
            _ => bytes.len() * 4 / 5,
        };
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let (output, fault) = whole(codec, &bytes);
            assert!(fault.is_some(), "{name}");
            let same = output
                .iter()
                .zip(&plain)
                .take_while(|(a, b)| a == b)
                .count();
            assert!(same >= least, "{name} {same}");
            bytes[at] ^= 1 << bit;
        }
    }
}

#[test]
fn claims_of_windows_are_limits() {
    let over = |codec: &str, bytes: &[u8]| {
        let (output, fault) = whole(codec, bytes);
        assert!(output.is_empty());
        assert!(fault.unwrap().contains("max_decoder_window"), "{codec}");
    };
    // The dictionary of 4 GiB - 1 in the header of the first block.
    let mut bytes = file("crc64.xz");
    assert_eq!(bytes[12..16], [2, 0, 0x21, 1]);
    bytes[16] = 40;
    let crc = crc32fast::hash(&bytes[12..20]);
    bytes[20..24].copy_from_slice(&crc.to_le_bytes());
    over("xz", &bytes);
    // 1 MiB, the limit here, and 1.5 MiB.
    bytes[16] = 16;
    let crc = crc32fast::hash(&bytes[12..20]);
    bytes[20..24].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(whole("xz", &bytes), (file("plain"), None));
    bytes[16] = 17;
    let crc = crc32fast::hash(&bytes[12..20]);
    bytes[20..24].copy_from_slice(&crc.to_le_bytes());
    over("xz", &bytes);

    let mut bytes = file("plain.lzma");
    for dictionary in [u32::MAX, 1 << 31, 3 << 19] {
        bytes[1..5].copy_from_slice(&dictionary.to_le_bytes());
        over("lzma", &bytes);
    }
    bytes[1..5].copy_from_slice(&(1u32 << 20).to_le_bytes());
    assert_eq!(whole("lzma", &bytes), (file("plain"), None));

    over("zstd", b"\x28\xB5\x2F\xFD\x00\xFF\x01\x00\x00");
    over(
        "zstd",
        b"\x28\xB5\x2F\xFD\xE0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x00\x00",
    );
}

#[test]
fn a_dictionary_that_is_not_here() {
    let frame = b"\x28\xB5\x2F\xFD\x01\x00\x07\x01\x00\x00";
    let text = "a zstd frame needs a dictionary that is not here";
    assert!(fails("zstd", frame, "Format", 0, text).is_empty());
}

#[test]
fn headers_that_lie() {
    // A name without end, a comment of 70 KiB, an extra field that is cut.
    let mut name = b"\x1F\x8B\x08\x08\0\0\0\0\0\x03".to_vec();
    name.resize(1 << 21, b'a');
    let (output, fault) = whole("gzip", &name);
    assert!(output.is_empty());
    assert!(fault.unwrap().contains("max_header_bytes"));
    let mut comment = b"\x1F\x8B\x08\x10\0\0\0\0\0\x03".to_vec();
    comment.resize(70 << 10, b'a');
    comment.push(0);
    assert!(
        whole("gzip", &comment)
            .1
            .unwrap()
            .contains("max_header_bytes")
    );
    let extra = b"\x1F\x8B\x08\x04\0\0\0\0\0\x03\xFF\xF0abc";
    assert!(fails("gzip", extra, "Format", 12, "a gzip header is cut").is_empty());
    let flags = b"\x1F\x8B\x08\x20\0\0\0\0\0\x03";
    fails(
        "gzip",
        flags,
        "Format",
        0,
        "a gzip header has reserved flags",
    );
    // A skippable frame of 4 GiB.
    let skip = b"\x50\x2A\x4D\x18\xFF\xFF\xFF\xFFabc";
    fails("zstd", skip, "Format", 11, "the zstd frame is cut");
}

#[test]
fn bombs_are_bounded_by_the_caller() {
    const SIZE: usize = 64 << 20;
    let zeros = vec![0; SIZE];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&zeros).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&zeros).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(&zeros).unwrap();
    let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
    let stream = liblzma::stream::Stream::new_lzma_encoder(options.dict_size(1 << 16)).unwrap();
    let mut lzma = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    lzma.write_all(&zeros).unwrap();
    let zstd = zstd::encode_all(&zeros[..], 1).unwrap();
    for (codec, bytes) in [
        ("gzip", gzip.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("lzma", lzma.finish().unwrap()),
        ("zstd", zstd),
    ] {
        assert!(bytes.len() < SIZE / 100, "{codec}");
        for most in [1, 100_000, MOST] {
            let (output, fault) = decode(codec, &bytes, most, 1 << 16, 2);
            assert_eq!((output.len(), fault), (most, None), "{codec}");
        }
    }
}

/// Members without content are passed by, however many there are.
#[test]
fn floods_of_empty_members() {
    for (name, codec) in [
        ("empty.gz", "gzip"),
        ("empty.xz", "xz"),
        ("empty.bz2", "bzip2"),
        ("empty.zst", "zstd"),
    ] {
        let bytes = file(name).repeat(20_000);
        let started = std::time::Instant::now();
        assert_eq!(whole(codec, &bytes), (Vec::new(), None), "{codec}");
        eprintln!("{codec}: {:?}", started.elapsed());
    }
}
