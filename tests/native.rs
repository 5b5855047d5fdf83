//! The operations on one file by address: bytes, offsets, segments, names and
//! strings, against od, grep, strings, readelf and nm, against the file's own
//! generator, and over files that are cut or lie.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rea::binary::strings::ScanOptions;
use rea::native::{
    MAX_READ, Mapped, Mode, Query, StringsOptions, Target, address_to_file_offset, list_names,
    list_segments, list_strings, read_bytes, search_bytes, search_strings,
};
use rea::operation::Context;
use serde_json::{Value, json};
use support::{peer, shown};

fn target(bytes: &[u8]) -> Target {
    Target::of_bytes("x", bytes.to_vec(), None)
}

fn context() -> Context {
    Context::new("test")
}

/// The record of bytes at an address.
fn read(mapped: &Mapped<'_>, address: u64, length: u64) -> Value {
    shown(&read_bytes(mapped, address, length, &context()).unwrap())
}

fn bytes(record: &Value) -> Vec<u8> {
    let hex = record["normalized_result"]["bytes_hex"].as_str().unwrap();
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn stop(record: &Value) -> Option<&str> {
    let result = &record["normalized_result"];
    assert_eq!(
        result["complete"].as_bool().unwrap(),
        result["stop_reason"].is_null()
    );
    let there = result["returned_bytes"].as_u64().unwrap();
    assert_eq!(there, bytes(record).len() as u64);
    result["stop_reason"].as_str()
}

/// Where the record says that its bytes stand.
fn ranges(record: &Value) -> Vec<(u64, u64)> {
    let rows = record["locations"].as_array().unwrap().iter();
    rows.filter(|row| row["kind"] == "file-offset-range")
        .map(|row| (row["start"].as_u64().unwrap(), row["end"].as_u64().unwrap()))
        .collect()
}

fn said(record: &Value) -> Vec<&str> {
    let rows = record["limitations"].as_array().unwrap().iter();
    rows.map(|row| row.as_str().unwrap()).collect()
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn hex(value: &Value) -> u64 {
    number(value.as_str().unwrap())
}

/// A loaded piece of an ELF file: offset, address, bytes in the file, bytes
/// in memory.
type Load = (u64, u64, u64, u64);

/// An ELF file of 64 bits with these pieces; what stands at an offset says
/// which it is.
fn elf(loads: &[Load], size: usize) -> Vec<u8> {
    let mut file: Vec<u8> = (0..size).map(|at| (at ^ (at >> 8)) as u8).collect();
    let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |values: &[u16]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    header.extend(half(&[3, 62, 1, 0]));
    for value in [0u64, 64, 0] {
        header.extend(value.to_le_bytes());
    }
    header.extend([0; 4]);
    header.extend(half(&[64, 56, loads.len() as u16, 64, 0, 0]));
    for &(offset, address, there, memory) in loads {
        // PT_LOAD, PF_R | PF_W
        header.extend(1u32.to_le_bytes());
        header.extend(6u32.to_le_bytes());
        for value in [offset, address, address, there, memory, 1] {
            header.extend(value.to_le_bytes());
        }
    }
    file[..header.len()].copy_from_slice(&header);
    file
}

/// Two pieces that touch, memory without bytes behind the second, and one at
/// the end of all addresses.
const LOADS: [Load; 3] = [
    (0x200, 0x1000, 0x100, 0x100),
    (0x400, 0x1100, 0x80, 0x100),
    (0x480, u64::MAX - 15, 0x10, 0x10),
];

#[test]
fn bytes_end_where_the_file_fills_nothing() {
    let file = elf(&LOADS, 0x500);
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    let across = read(&mapped, 0x10F0, 0x20);
    assert_eq!(
        bytes(&across),
        [&file[0x2F0..0x300], &file[0x400..0x410]].concat()
    );
    assert_eq!(stop(&across), None);
    assert_eq!(ranges(&across), [(0x2F0, 0x300), (0x400, 0x410)]);

    let into_zeros = read(&mapped, 0x1170, 0x20);
    assert_eq!(bytes(&into_zeros), &file[0x470..0x480]);
    assert_eq!(stop(&into_zeros), Some("uninitialized"));
    assert!(said(&into_zeros).iter().any(|text| text.contains("0x1180")));

    let last = read(&mapped, 0x117F, 1);
    assert_eq!((bytes(&last), stop(&last)), (vec![file[0x47F]], None));
    for (address, why) in [
        (0x1180, "uninitialized"),
        (0x11FF, "uninitialized"),
        (0x1200, "unmapped"),
        (0xFFF, "unmapped"),
        (0, "unmapped"),
    ] {
        let nothing = read(&mapped, address, 4);
        assert_eq!(
            (bytes(&nothing), stop(&nothing)),
            (vec![], Some(why)),
            "{address:#x}"
        );
        assert!(ranges(&nothing).is_empty());
    }
    // The highest address has a byte; behind it there are no addresses.
    let end = read(&mapped, u64::MAX - 1, 100);
    assert_eq!(
        (bytes(&end), stop(&end)),
        (file[0x48E..0x490].to_vec(), Some("unmapped"))
    );
    for length in [0, MAX_READ + 1, u64::MAX] {
        let error = read_bytes(&mapped, 0x1000, length, &context())
            .err()
            .unwrap();
        assert_eq!(error.code().as_str(), "invalid_request", "{length}");
    }
    assert_eq!(bytes(&read(&mapped, 0x1000, MAX_READ)).len(), 0x180);
}

#[test]
fn mappings_that_contradict_each_other_show_nothing() {
    let file = elf(
        &[(0x200, 0x1000, 0x20, 0x20), (0x300, 0x1010, 0x20, 0x20)],
        0x400,
    );
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    let read = read(&mapped, 0x1008, 0x20);
    assert_eq!(
        (bytes(&read), stop(&read)),
        (file[0x208..0x210].to_vec(), Some("ambiguous"))
    );
    let error = address_to_file_offset(&mapped, 0x1010, &context())
        .err()
        .unwrap();
    assert_eq!(error.code().as_str(), "invalid_request");
    let record =
        shown(&search_bytes(&mapped, &hexes(&file[0x30E..0x311]), None, &context()).unwrap());
    assert_eq!(record["normalized_result"], json!([]));
    // Two that say the same are one.
    let twice = elf(
        &[(0x200, 0x1000, 0x20, 0x20), (0x210, 0x1010, 0x20, 0x20)],
        0x400,
    );
    let target = Target::of_bytes("x", twice.clone(), None);
    let mapped = target.map(&context()).unwrap();
    assert_eq!(
        bytes(&self::read(&mapped, 0x1000, 0x30)),
        &twice[0x200..0x230]
    );
}

/// Bytes as a pattern.
fn hexes(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

fn matches(mapped: &Mapped<'_>, pattern: &str, mask: Option<&str>) -> Vec<(u64, Option<u64>)> {
    let record = shown(&search_bytes(mapped, pattern, mask, &context()).unwrap());
    let rows = record["normalized_result"].as_array().unwrap().iter();
    rows.map(|row| (hex(&row["address"]), row["file_offset"].as_u64()))
        .collect()
}

#[test]
fn patterns_are_found_across_pieces_and_over_one_another() {
    let mut file = elf(&LOADS, 0x500);
    file[0x200..0x500].fill(0x11);
    file[0x2FE..0x300].copy_from_slice(&[0xAA, 0xBB]);
    file[0x400..0x402].copy_from_slice(&[0xCC, 0xDD]);
    file[0x47F] = 0xEE;
    file[0x480] = 0xEF;
    file[0x240..0x246].copy_from_slice(&[0x77; 6]);
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    // The pieces touch in memory, not in the file.
    assert_eq!(matches(&mapped, "aabbccdd", None), [(0x10FE, Some(0x2FE))]);
    // Nothing spans memory without bytes: these stand beside each other in
    // the file only.
    assert_eq!(matches(&mapped, "ee ef", None), []);
    assert_eq!(matches(&mapped, "ef", None), [(u64::MAX - 15, Some(0x480))]);
    let overlapping: Vec<u64> = matches(&mapped, "77 77 77", None)
        .iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(overlapping, [0x1040, 0x1041, 0x1042, 0x1043]);
    // Half bytes and whole ones of any value, and bits by a mask.
    assert_eq!(matches(&mapped, "a? ?? C?", None), [(0x10FE, Some(0x2FE))]);
    assert_eq!(
        matches(&mapped, "af bb", Some("f0ff")),
        [(0x10FE, Some(0x2FE))]
    );
    assert_eq!(matches(&mapped, "?e", None), [(0x117F, Some(0x47F))]);
    for (pattern, mask) in [
        ("", None),
        ("4", None),
        ("4 8", None),
        ("??", None),
        ("48", Some("00")),
        ("48", Some("ff ff")),
        ("xx", None),
    ] {
        let error = search_bytes(&mapped, pattern, mask, &context())
            .err()
            .unwrap();
        assert_eq!(
            error.code().as_str(),
            "invalid_request",
            "{pattern:?} {mask:?}"
        );
    }
}

#[test]
fn matches_beyond_a_million_are_an_error_and_blocks_hide_none() {
    let size = 0x400 + (3 << 20);
    let mut file = elf(&[(0x400, 0x10000, 3 << 20, 3 << 20)], size);
    file[0x400..].fill(0);
    // Around the places where a search by blocks of a mebibyte changes blocks.
    let mut expected = Vec::new();
    for edge in [1usize << 20, 2 << 20] {
        for at in [edge - 4, edge + 1] {
            file[0x400 + at..0x400 + at + 4].copy_from_slice(b"\x01abc");
            expected.push((0x10000 + at as u64, Some(0x400 + at as u64)));
        }
        file[0x400 + edge - 1] = b'c';
    }
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    assert_eq!(matches(&mapped, "01 61 62 63", None), expected);
    let error = search_bytes(&mapped, "00", None, &context()).err().unwrap();
    assert_eq!(error.code().as_str(), "resource_constraint");
    // Many pieces that all show the same bytes: the work stays bounded.
    let many = elf(
        &(0..2000)
            .map(|at| (0x400, 0x10_0000_0000 * at, 3 << 20, 3 << 20))
            .collect::<Vec<_>>()[..8],
        size,
    );
    let target = Target::of_bytes("x", many, None);
    let mapped = target.map(&context()).unwrap();
    let started = Instant::now();
    let record = shown(&search_bytes(&mapped, "f00dfeed", None, &context()).unwrap());
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(record["normalized_result"], json!([]));
}

#[test]
fn offsets_of_elf_addresses() {
    let file = elf(&LOADS, 0x500);
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    for (address, offset) in [
        (0x1000, 0x200),
        (0x10FF, 0x2FF),
        (0x117F, 0x47F),
        (u64::MAX, 0x48F),
    ] {
        let record = shown(&address_to_file_offset(&mapped, address, &context()).unwrap());
        assert_eq!(record["normalized_result"]["file_offset"], offset);
        assert_eq!(hex(&record["normalized_result"]["address"]), address);
        assert_eq!(ranges(&record), [(offset, offset + 1)]);
    }
    for (address, reason) in [
        (0x1180, "uninitialized"),
        (0x1200, "unmapped"),
        (0, "unmapped"),
    ] {
        let error = address_to_file_offset(&mapped, address, &context())
            .err()
            .unwrap();
        let text = support::json(&error).to_string();
        assert!(text.contains(reason), "{address:#x}");
    }
}

fn sample(path: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

fn u16_at(bytes: &[u8], at: usize) -> u64 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()).into()
}

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()).into()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn offsets_of_pe_addresses() {
    let file = sample("pe/sample.dll");
    // The table of sections by the PE specification.
    let header = u32_at(&file, 0x3C) as usize;
    let base = u64_at(&file, header + 24 + 24);
    let table = header + 24 + u16_at(&file, header + 20) as usize;
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    let count = u16_at(&file, header + 6) as usize;
    assert!(count >= 5);
    for at in (0..count).map(|section| table + 40 * section) {
        let (memory, start) = (u32_at(&file, at + 8), u32_at(&file, at + 12));
        let (there, offset) = (u32_at(&file, at + 16), u32_at(&file, at + 20));
        let last = memory.min(there) - 1;
        for within in [0, last / 2, last] {
            let record = address_to_file_offset(&mapped, base + start + within, &context());
            let record = shown(&record.unwrap());
            assert_eq!(record["normalized_result"]["file_offset"], offset + within);
            let read = read(&mapped, base + start + within, 1);
            assert_eq!(bytes(&read), [file[(offset + within) as usize]]);
        }
    }
    // The headers are mapped too; before them and far behind there is nothing.
    let first = shown(&address_to_file_offset(&mapped, base, &context()).unwrap());
    assert_eq!(first["normalized_result"]["file_offset"], 0);
    for address in [base - 1, base + 0x100_0000, 0, u64::MAX] {
        assert!(address_to_file_offset(&mapped, address, &context()).is_err());
    }
}

#[test]
fn offsets_of_mach_o_addresses_count_from_the_whole_file() {
    let universal = sample("macho/universal");
    // Slices by `fat.h`: big-endian rows of type, subtype, offset, size.
    let big = |at: usize| u32::from_be_bytes(universal[at..at + 4].try_into().unwrap());
    for row in (0..big(4) as usize).map(|slice| 8 + 20 * slice) {
        let name = match big(row) {
            0x0100_0007 => "x86_64",
            0x0100_000C => "arm64",
            _ => continue,
        };
        let base = u64::from(big(row + 8));
        let target = Target::of_bytes("x", universal.clone(), Some(name));
        let mapped = target.map(&context()).unwrap();
        // llvm-objdump --section-headers: __text of both objects is at 0.
        let record = shown(&address_to_file_offset(&mapped, 0, &context()).unwrap());
        let result = &record["normalized_result"];
        assert_eq!(result["image_base_file_offset"], base);
        let inside = result["provider_file_offset"].as_u64().unwrap();
        assert_eq!(result["file_offset"], base + inside);
        let here = read(&mapped, 0, 4);
        let at = (base + inside) as usize;
        assert_eq!(bytes(&here), universal[at..at + 4]);
        assert_eq!(record["parameters"]["architecture"], name);
    }
}

/// The file whose chained fixups its source fixes: src/chained.arm64.s.
#[test]
fn words_of_chained_fixups_are_what_dyld_leaves() {
    let file = sample("macho/chained");
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    let names = shown(&list_names(&mapped, None, &context()).unwrap());
    let address = |name: &str| {
        let rows = names["normalized_result"].as_array().unwrap();
        let row = rows
            .iter()
            .find(|row| row["value"] == name && row["symbol"]["external"] == false);
        hex(&row.unwrap()["address"])
    };
    let (table, exported) = (address("_table"), address("_exported"));
    let record = read(&mapped, table, 64);
    let found: Vec<u64> = bytes(&record)
        .chunks(8)
        .map(|word| u64_at(word, 0))
        .collect();
    // _exported and, four instructions behind, _static.
    assert_eq!(found[..2], [exported, exported + 16]);
    assert_eq!(found[3], 0x1122_3344_5566_7788);
    assert_eq!(found[5], table + 0x10);
    assert_eq!(found[7], table + 0x5A00_0000_0000_0008);
    // _puts, _environ+8 and _perhaps stay as they stand.
    let at = ranges(&record)[0].0 as usize;
    for word in [2, 4, 6] {
        assert_eq!(found[word], u64_at(&file, at + 8 * word));
        assert_eq!(found[word] >> 63, 1);
    }
    assert_eq!(record["normalized_result"]["fixups_applied"], 4);
    let chained: Vec<&str> = said(&record)
        .into_iter()
        .filter(|text| text.contains("Links of chained fixups"))
        .collect();
    assert_eq!(chained.len(), 1);
    assert!(
        chained[0].ends_with(": 3 of the words read."),
        "{chained:?}"
    );
    // A read that begins and ends inside of words, and one that holds none.
    let part = read(&mapped, table + 3, 7);
    assert_eq!(bytes(&part), bytes(&record)[3..10]);
    assert_eq!(part["normalized_result"]["fixups_applied"], 2);
    let none = read(&mapped, table + 0x18, 8);
    assert_eq!(none["normalized_result"]["fixups_applied"], 0);
    assert!(
        !said(&none)
            .iter()
            .any(|text| text.contains("Links of chained fixups"))
    );
    // The search sees the same memory.
    let pointer = hexes(&(table + 0x10).to_le_bytes());
    assert_eq!(
        matches(&mapped, &pointer, None),
        [(table + 40, Some(at as u64 + 40))]
    );
}

/// An image of arm64: `__TEXT` at 0x10000, `__DATA` at 0x14000 with these
/// words, and a chain of one format that starts at its beginning
/// (`mach-o/fixup-chains.h`).
fn chained(format: u16, most: u32, data: &[u8]) -> Vec<u8> {
    let word = |value: u32| value.to_le_bytes().to_vec();
    let words = |values: &[u32]| {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let mut commands = Vec::new();
    for (name, address, offset, size) in [
        ("__TEXT", 0x10000u64, 0u64, 0x400u64),
        ("__DATA", 0x14000, 0x400, 0x100),
        ("__LINKEDIT", 0x18000, 0x500, 0x100),
    ] {
        let mut body = name.as_bytes().to_vec();
        body.resize(16, 0);
        for value in [address, 0x1000, offset, size] {
            body.extend(value.to_le_bytes());
        }
        body.extend(words(&[3, 3, 0, 0]));
        commands.push([words(&[0x19, 72]), body].concat());
    }
    commands.push(words(&[0x8000_0034, 16, 0x500, 0x100]));
    let body = commands.concat();
    let mut file = words(&[
        0xFEED_FACF,
        0x0100_000C,
        0,
        6,
        4,
        body.len() as u32,
        0x85,
        0,
    ]);
    file.extend(body);
    file.resize(0x400, 0);
    file.extend_from_slice(data);
    file.resize(0x500, 0);
    let mut fixups = words(&[0, 0x20, 0x80, 0x80, 0, 1, 0]);
    fixups.extend(word(0));
    fixups.extend(words(&[3, 0, 0x10, 0, 24]));
    for half in [0x1000u16, format] {
        fixups.extend(half.to_le_bytes());
    }
    fixups.extend(0x4000u64.to_le_bytes());
    fixups.extend(word(most));
    for half in [1u16, 0] {
        fixups.extend(half.to_le_bytes());
    }
    file.extend(fixups);
    file.resize(0x600, 0);
    file
}

/// Every pointer format, with the bit fields of `mach-o/fixup-chains.h` and
/// the results that dyld's `fixupAllChainedFixups` has without a slide.
#[test]
fn every_pointer_format_is_rebased_as_dyld_does() {
    // How a word is shown: what it becomes, unsigned, as it stands.
    const VALUE: u8 = 0;
    const SIGNED: u8 = 1;
    const STAYS: u8 = 2;
    // A word, what it becomes, and how.
    type Wide = (u64, u64, u8);
    type Narrow = (u32, u32, u8);
    let wide: [(u16, &[Wide]); 11] = [
        // target 43 bits, high8 at 43, next at 51 in steps of 8.
        (
            1,
            &[
                (
                    1 << 51 | 0x12_3456 | 0x80 << 43,
                    0x8000_0000_0012_3456,
                    VALUE,
                ),
                (
                    1 << 63 | 1 << 51 | 2 << 49 | 7 << 32 | 0x40,
                    0x10040,
                    SIGNED,
                ),
                (1 << 62 | 5, 0, STAYS),
            ],
        ),
        (
            2,
            &[
                (
                    2 << 51 | 0xAB << 36 | 0x1_2345,
                    0xAB00_0000_0001_2345,
                    VALUE,
                ),
                (1 << 63, 0, STAYS),
            ],
        ),
        (
            6,
            &[
                (2 << 51 | 0xAB << 36 | 0x45, 0xAB00_0000_0001_0045, VALUE),
                (0x20, 0x10020, VALUE),
            ],
        ),
        // In steps of 4.
        (
            7,
            &[
                (2 << 51 | 0x45, 0x10045, VALUE),
                (1 << 63 | 0x20, 0x10020, SIGNED),
            ],
        ),
        // Level 0 is this collection, another one is not here.
        (
            8,
            &[
                (2 << 51 | 0x45, 0x10045, VALUE),
                (2 << 51 | 1 << 30 | 0x45, 0, STAYS),
                (1 << 63 | 3, 0x10003, SIGNED),
            ],
        ),
        (
            9,
            &[
                (1 << 51 | 0xAB << 43 | 0x45, 0xAB00_0000_0001_0045, VALUE),
                (1 << 63 | 0x45, 0x10045, SIGNED),
            ],
        ),
        (
            10,
            &[
                (2 << 51 | 0x99_0045, 0x99_0045, VALUE),
                (1 << 63 | 0x45, 0x10045, SIGNED),
            ],
        ),
        // In steps of 1.
        (
            11,
            &[(8 << 51 | 0x45, 0x10045, VALUE), (0x46, 0x10046, VALUE)],
        ),
        (
            12,
            &[
                (1 << 51 | 0x45, 0x10045, VALUE),
                (1 << 62 | 0xFF_FFFF, 0, STAYS),
            ],
        ),
        // The cache around it tells where its offsets lead.
        (
            13,
            &[(1 << 52 | 0x45, 0, STAYS), (1 << 63 | 0x45, 0, STAYS)],
        ),
        // Segment 1 is __DATA.
        (
            14,
            &[
                (2 << 51 | 1 << 28 | 0x45, 0x14045, VALUE),
                (1 << 63 | 1 << 28 | 0x46, 0x14046, SIGNED),
            ],
        ),
    ];
    for (format, rows) in wide {
        let data: Vec<u8> = rows.iter().flat_map(|row| row.0.to_le_bytes()).collect();
        let expected: Vec<u8> = rows
            .iter()
            .flat_map(|&(raw, value, how)| if how == STAYS { raw } else { value }.to_le_bytes())
            .collect();
        let count = |wanted: u8| rows.iter().filter(|row| row.2 == wanted).count();
        check(
            format,
            0,
            &data,
            &expected,
            [count(VALUE), count(SIGNED), count(STAYS)],
        );
    }
    // Numbers among the pointers are biased by (64 MiB + the highest) / 2.
    let most = 0x1_0000u32;
    let bias = (0x0400_0000 + most) / 2;
    let narrow: [(u16, &[Narrow]); 3] = [
        (
            3,
            &[
                (1 << 26 | 0x4000, 0x4000, VALUE),
                (1 << 26 | (77 + bias), 77, VALUE),
                (1 << 26 | (bias - 5), 5u32.wrapping_neg(), VALUE),
                (1 << 31, 0, STAYS),
            ],
        ),
        (4, &[(1 << 30 | 0x45, 0, STAYS), (0x46, 0, STAYS)]),
        (
            5,
            &[
                (1 << 26 | 0x3FF_FFFF, 0x3FF_FFFF, VALUE),
                (0x40, 0x40, VALUE),
            ],
        ),
    ];
    for (format, rows) in narrow {
        let data: Vec<u8> = rows.iter().flat_map(|row| row.0.to_le_bytes()).collect();
        let expected: Vec<u8> = rows
            .iter()
            .flat_map(|&(raw, value, how)| if how == STAYS { raw } else { value }.to_le_bytes())
            .collect();
        let count = |wanted: u8| rows.iter().filter(|row| row.2 == wanted).count();
        check(
            format,
            most,
            &data,
            &expected,
            [count(VALUE), count(SIGNED), count(STAYS)],
        );
    }
}

fn check(format: u16, most: u32, data: &[u8], expected: &[u8], [values, signed, stay]: [usize; 3]) {
    let file = chained(format, most, data);
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    let record = read(&mapped, 0x14000, data.len() as u64);
    assert_eq!(hexes(&bytes(&record)), hexes(expected), "format {format}");
    let result = &record["normalized_result"];
    assert_eq!(result["fixups_applied"], values + signed, "format {format}");
    for (words, count) in [("shown unsigned", signed), ("shown as they stand", stay)] {
        let told = said(&record).into_iter().find(|text| text.contains(words));
        assert_eq!(told.is_some(), count > 0, "format {format}: {words}");
        if let Some(told) = told {
            assert!(
                told.ends_with(&format!(": {count} of the words read.")),
                "{told}"
            );
        }
    }
    // Byte by byte it is the same.
    for at in 0..data.len() as u64 {
        let one = bytes(&read(&mapped, 0x14000 + at, 1));
        assert_eq!(one, [expected[at as usize]], "format {format} at {at}");
    }
}

/// Old arm64e: `BIND_OPCODE_THREADED` starts a chain of the format 1.
#[test]
fn chains_that_bind_opcodes_start() {
    let words = |values: &[u32]| {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let data = [1 << 51 | 0x12_3456u64, 1 << 62 | 1 << 51, 1 << 63 | 0x40];
    let mut file = chained(1, 0, &data.map(u64::to_le_bytes).concat());
    // LC_DYLD_INFO_ONLY in the place of the last command and behind.
    let at = 32 + 3 * 72;
    let mut command = words(&[0x8000_0022, 48, 0, 0, 0x500]);
    let program = [
        0xD0, 1, 0x11, 0x40, b'_', b'a', 0, 0x51, 0x90, 0x71, 0, 0xD1, 0,
    ];
    command.extend(words(&[program.len() as u32, 0, 0, 0, 0, 0, 0]));
    file[at..at + 48].copy_from_slice(&command);
    file[20..24].copy_from_slice(&(3 * 72 + 48u32).to_le_bytes());
    file[0x500..0x500 + program.len()].copy_from_slice(&program);
    let target = target(&file);
    let mapped = target.map(&context()).unwrap();
    let record = read(&mapped, 0x14000, 24);
    let found: Vec<u64> = bytes(&record)
        .chunks(8)
        .map(|word| u64_at(word, 0))
        .collect();
    assert_eq!(found, [0x12_3456, data[1], 0x10040], "{:?}", said(&record));
    assert_eq!(record["normalized_result"]["fixups_applied"], 2);
}

const PROGRAM: &str = r#"
#include <stdio.h>
int zeros[64];
int numbers[4] = {1, 2, 3, 4};
const char text[] = "a text that is looked for";
const char *const table[] = {text, text + 2, (const char *)numbers};
static int hidden(int a) { return a * 3; }
int twice(int a) { return hidden(a) + zeros[a & 63]; }
int main(void) { return printf("%s %d\n", table[zeros[0] & 1], twice(numbers[2])); }
"#;

/// A program that the C compiler makes, and what the peers say of it.
struct Program {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Program {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("program.c"), PROGRAM).unwrap();
        let arguments = [
            "-O1",
            "-fno-inline",
            "-fPIE",
            "-pie",
            "-g0",
            "-o",
            "program",
            "program.c",
        ];
        let made = Command::new("cc")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let bytes = std::fs::read(folder.path().join("program")).unwrap();
        Self { folder, bytes }
    }

    /// The lines that a peer prints of it.
    fn peer(&self, tool: &str, arguments: &[&str]) -> Vec<String> {
        let arguments = [arguments, &["program"]].concat();
        let printed = peer::run(self.folder.path(), tool, &arguments, &[]);
        let printed = printed.unwrap_or_else(|| panic!("{tool} is needed"));
        // Only bytes of the program can be anything else than text.
        let text = String::from_utf8_lossy(&printed).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    /// `PT_LOAD` rows of readelf: offset, address, bytes in the file, bytes in
    /// memory, flags.
    fn loads(&self) -> Vec<(u64, u64, u64, u64, String)> {
        let rows = self.peer("readelf", &["-lW"]).into_iter();
        rows.filter(|row| row.trim_start().starts_with("LOAD"))
            .map(|row| {
                let words: Vec<&str> = row.split_whitespace().collect();
                let value = |at: usize| number(words[at]);
                let flags = words[6..words.len() - 1].concat();
                (value(1), value(2), value(4), value(5), flags)
            })
            .collect()
    }
}

#[test]
fn segments_are_those_of_readelf() {
    let program = Program::new();
    let target = target(&program.bytes);
    let mapped = target.map(&context()).unwrap();
    let record = shown(&list_segments(&mapped, &context()).unwrap());
    let rows = record["normalized_result"].as_array().unwrap();
    let flag = |row: &Value, name: &str| row[name].as_bool().unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let (start, end) = (hex(&row["start"]), hex(&row["end"]));
            let mut flags = String::new();
            for (name, letter) in [("readable", 'R'), ("writable", 'W'), ("executable", 'E')] {
                flags.extend(flag(row, name).then_some(letter));
            }
            let place = row["file_offset"].as_u64().unwrap();
            (
                place,
                start,
                row["file_size"].as_u64().unwrap(),
                end - start,
                flags,
            )
        })
        .collect();
    assert_eq!(found, program.loads());
    // Every allocated section of readelf stands in the segment around it.
    let mut sections = BTreeMap::new();
    for row in rows {
        for section in row["sections"].as_array().unwrap() {
            let (start, end) = (hex(&section["start"]), hex(&section["end"]));
            assert!(hex(&row["start"]) <= start && end <= hex(&row["end"]));
            sections.insert(
                section["name"].as_str().unwrap().to_owned(),
                (start, end - start),
            );
        }
    }
    let mut expected = BTreeMap::new();
    for row in program.peer("readelf", &["-SW"]) {
        let Some((_, row)) = row.split_once("] ") else {
            continue;
        };
        let words: Vec<&str> = row.split_whitespace().collect();
        if words.len() >= 10 && words[6].contains('A') {
            expected.insert(words[0].to_owned(), (number(words[2]), number(words[4])));
        }
    }
    assert!(expected.len() > 15);
    assert_eq!(sections, expected);
}

#[test]
fn names_are_those_of_nm() {
    let program = Program::new();
    let target = target(&program.bytes);
    let mapped = target.map(&context()).unwrap();
    let record = shown(&list_names(&mapped, None, &context()).unwrap());
    let rows = record["normalized_result"].as_array().unwrap();
    let listed = |row: &Value| {
        (
            hex(&row["address"]),
            row["value"].as_str().unwrap().to_owned(),
        )
    };
    let ours: BTreeSet<(u64, String)> = rows.iter().map(listed).collect();
    let mut compared = 0;
    for line in program.peer("nm", &["-a"]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Files and sections are no names of what stands at an address.
        if let [address, kind, name] = words[..]
            && kind != "a"
            && !name.starts_with('.')
        {
            let row = (number(address), name.to_owned());
            assert!(ours.contains(&row), "{row:?}");
            compared += 1;
        }
    }
    assert!(compared > 15);
    // By address, and one primary name for each.
    let order: Vec<(u64, &str)> = rows
        .iter()
        .map(|row| (hex(&row["address"]), row["value"].as_str().unwrap()))
        .collect();
    assert!(order.is_sorted());
    let mut primary = BTreeMap::<u64, u32>::new();
    for row in rows {
        *primary.entry(hex(&row["address"])).or_default() +=
            u32::from(row["symbol"]["primary"].as_bool().unwrap());
    }
    assert!(primary.values().all(|&count| count == 1));
    // Only those at an address; none is a result too.
    let main = ours.iter().find(|row| row.1 == "main").unwrap().0;
    let only = shown(&list_names(&mapped, Some(main), &context()).unwrap());
    let filtered: Vec<&Value> = rows
        .iter()
        .filter(|row| hex(&row["address"]) == main)
        .collect();
    assert_eq!(json!(filtered), only["normalized_result"]);
    assert_eq!(only["parameters"], json!({"address": format!("{main:#x}")}));
    let none = shown(&list_names(&mapped, Some(main + 1), &context()).unwrap());
    assert_eq!(none["normalized_result"], json!([]));
}

#[test]
fn bytes_are_those_of_od_and_relocated_as_readelf_says() {
    let program = Program::new();
    let target = target(&program.bytes);
    let mapped = target.map(&context()).unwrap();
    for (offset, address, there, memory, _) in program.loads() {
        for (within, length) in [(0, 64), (there / 2, 32), (there - 16, 16)] {
            let place = (offset + within).to_string();
            let size = length.to_string();
            let printed = program.peer("od", &["-An", "-tx1", "-v", "-j", &place, "-N", &size]);
            let record = read(&mapped, address + within, length);
            let words = printed.concat();
            let expected: Vec<&str> = words.split_whitespace().collect();
            if record["normalized_result"]["fixups_applied"] == 0 {
                let found = hexes(&bytes(&record)[..expected.len()]);
                assert_eq!(found, expected.join(" "), "{:#x}", address + within);
            }
        }
        if memory > there {
            let end = read(&mapped, address + there - 1, 2);
            assert_eq!((bytes(&end).len(), stop(&end)), (1, Some("uninitialized")));
        }
    }
    let mut relocated = 0;
    for row in program.peer("readelf", &["-rW"]) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [place, _, kind, addend] = words[..] else {
            continue;
        };
        let record = read(&mapped, number(place), 8);
        if kind.ends_with("_RELATIVE") {
            assert_eq!(u64_at(&bytes(&record), 0), number(addend));
            assert_eq!(record["normalized_result"]["fixups_applied"], 1);
            relocated += 1;
        } else {
            assert_eq!(record["normalized_result"]["fixups_applied"], 0);
        }
    }
    assert!(relocated >= 5, "table alone has three");
}

#[test]
fn matches_are_those_of_grep() {
    let program = Program::new();
    let target = target(&program.bytes);
    let mapped = target.map(&context()).unwrap();
    let loads = program.loads();
    let loaded = |offset: u64| {
        loads
            .iter()
            .any(|load| (load.0..load.0 + load.2).contains(&offset))
    };
    for (pattern, expression) in [
        ("48 8b", r"\x48\x8b"),
        ("f3 0f 1e fa", r"\xf3\x0f\x1e\xfa"),
        ("6c 6f 6f 6b 65 64", "looked"),
        ("?? 74 65 78 74", r"(?s).\x74\x65\x78\x74"),
        ("e8 ?? ?? ff ff", r"(?s)\xe8(?=..\xff\xff)"),
    ] {
        let found: BTreeSet<u64> = matches(&mapped, pattern, None)
            .into_iter()
            .filter_map(|one| one.1)
            .collect();
        let lines = program.peer("grep", &["-obUaP", expression]);
        let offset = |line: &String| line.split(':').next().and_then(|at| at.parse::<u64>().ok());
        let expected: BTreeSet<u64> = lines
            .iter()
            .filter_map(offset)
            .filter(|&at| loaded(at))
            .collect();
        assert_eq!(found, expected, "{pattern}");
        assert!(!found.is_empty() || pattern.starts_with("e8"), "{pattern}");
    }
}

fn texts(record: &Value) -> Vec<String> {
    let rows = record["normalized_result"].as_array().unwrap().iter();
    rows.map(|row| row["value"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn strings_hold_those_of_strings() {
    let program = Program::new();
    let target = target(&program.bytes);
    let mapped = target.map(&context()).unwrap();
    let record = shown(&list_strings(&mapped, &StringsOptions::default(), &context()).unwrap());
    let rows = record["normalized_result"].as_array().unwrap();
    let mut compared = 0;
    for line in program.peer("strings", &["-a", "-n", "4", "-t", "d"]) {
        let line = line.trim_start();
        let (place, text) = line.split_once(' ').unwrap();
        let place: u64 = place.parse().unwrap();
        let holds = |row: &&Value| {
            let start = row["file_offset"].as_u64().unwrap();
            let size = row["string"]["byte_length"].as_u64().unwrap();
            start <= place
                && place + text.len() as u64 <= start + size
                && row["value"].as_str().unwrap().contains(text)
        };
        assert!(rows.iter().any(|row| holds(&row)), "{line}");
        compared += 1;
    }
    assert!(compared > 30);
    // The one that holds an address, from its first byte to its last.
    let looked = rows
        .iter()
        .find(|row| row["value"] == "a text that is looked for")
        .unwrap();
    let (start, size) = (
        hex(&looked["address"]),
        looked["string"]["byte_length"].as_u64().unwrap(),
    );
    for address in [start, start + 5, start + size - 1] {
        let options = StringsOptions {
            address: Some(address),
            ..StringsOptions::default()
        };
        let one = shown(&list_strings(&mapped, &options, &context()).unwrap());
        assert!(
            one["normalized_result"]
                .as_array()
                .unwrap()
                .contains(looked)
        );
    }
    let options = StringsOptions {
        address: Some(start + size),
        ..StringsOptions::default()
    };
    let other = shown(&list_strings(&mapped, &options, &context()).unwrap());
    assert!(
        !other["normalized_result"]
            .as_array()
            .unwrap()
            .contains(looked)
    );
}

fn query(pattern: &str, mode: Mode, case_sensitive: bool) -> Query {
    Query {
        pattern: pattern.to_owned(),
        mode,
        case_sensitive,
    }
}

#[test]
fn patterns_of_strings() {
    let file = b"\x01Alpha\0beta (x+x+)+y\0alphabet\0caf\xc3\xa9 \xc3\x89t\xc3\xa9\0".to_vec();
    let target = target(&file);
    let mapped = target.map_any(&context()).unwrap();
    let search = |pattern: &str, mode, case| {
        let found = search_strings(
            &mapped,
            &query(pattern, mode, case),
            &ScanOptions::default(),
            &context(),
        );
        found.map(|record| texts(&shown(&record)))
    };
    for (pattern, mode, case, expected) in [
        ("alpha", Mode::Literal, false, &["Alpha", "alphabet"][..]),
        ("alpha", Mode::Literal, true, &["alphabet"]),
        ("(x+x+)+y", Mode::Literal, false, &["beta (x+x+)+y"]),
        ("^alpha$", Mode::Regex, false, &["Alpha"]),
        ("^alpha$", Mode::Literal, false, &[]),
        (r"\bét", Mode::Regex, false, &["café Été"]),
        ("É", Mode::Literal, false, &["café Été"]),
        ("É", Mode::Literal, true, &["café Été"]),
        ("ÉT", Mode::Literal, true, &[]),
        ("", Mode::Regex, false, &["!"]),
    ] {
        match search(pattern, mode, case) {
            Ok(found) => assert_eq!(found, expected, "{pattern}"),
            Err(error) => {
                assert_eq!(expected, ["!"], "{pattern}");
                assert_eq!(error.code().as_str(), "invalid_request");
            }
        }
    }
    // What is no regular expression of linear time, or asks for too much.
    let nested = format!("{}a{}", "(".repeat(100), ")".repeat(100));
    for pattern in [
        "(",
        "a{2,1}",
        r"(a)\1",
        "(?=a)",
        "(?<!a)b",
        "[z-a]",
        "(?:a{1000}){1000}",
        r"\p{Nope}",
        &nested,
        &"é".repeat(257),
    ] {
        let error = search(pattern, Mode::Regex, false)
            .err()
            .unwrap_or_else(|| panic!("{pattern}"));
        assert_eq!(error.code().as_str(), "invalid_request", "{pattern}");
    }
    assert!(search(&"é".repeat(256), Mode::Literal, false).is_ok());
}

#[test]
fn expressions_that_blow_up_elsewhere_take_linear_time() {
    let mut file = vec![b'x'; 4 << 20];
    file.push(0);
    let target = target(&file);
    let mapped = target.map_any(&context()).unwrap();
    for pattern in [
        "(x+x+)+y",
        "(x*)*z",
        "(x|x)*y$",
        "^(x?){60}x{60}y",
        "(.*)(.*)(.*)(.*)[^x]$",
    ] {
        let started = Instant::now();
        let found = search_strings(
            &mapped,
            &query(pattern, Mode::Regex, false),
            &ScanOptions::default(),
            &context(),
        );
        assert_eq!(
            texts(&shown(&found.unwrap())),
            Vec::<String>::new(),
            "{pattern}"
        );
        assert!(started.elapsed() < Duration::from_secs(30), "{pattern}");
    }
}

/// Everything is asked of a file; only the answer to the first question, what
/// it is, may be no.
fn ask_all(file: &[u8]) {
    let target = target(file);
    let Ok(mapped) = target.map_any(&context()) else {
        return;
    };
    let segments = shown(&list_segments(&mapped, &context()).unwrap());
    shown(&list_names(&mapped, None, &context()).unwrap());
    shown(&list_strings(&mapped, &StringsOptions::default(), &context()).unwrap());
    let mut addresses = vec![0, u64::MAX];
    for row in segments["normalized_result"]
        .as_array()
        .unwrap()
        .iter()
        .take(20)
    {
        let start = hex(&row["start"]);
        // The end may be 2^64.
        let end = row["end"].as_str().unwrap().trim_start_matches("0x");
        let end = u128::from_str_radix(end, 16).unwrap();
        assert!(u128::from(start) <= end);
        addresses.extend([
            start.wrapping_sub(1),
            start,
            end.wrapping_sub(1) as u64,
            end as u64,
        ]);
    }
    for address in addresses {
        let read = read(&mapped, address, 300);
        stop(&read);
        let offset = address_to_file_offset(&mapped, address, &context());
        // One byte is there exactly where it has a place.
        assert_eq!(offset.is_ok(), !bytes(&read).is_empty(), "{address:#x}");
        if let Ok(offset) = offset {
            let place = shown(&offset)["normalized_result"]["file_offset"]
                .as_u64()
                .unwrap();
            assert_eq!(ranges(&read)[0].0, place);
            assert!(place < file.len() as u64);
        }
    }
    let _ = search_bytes(&mapped, "00 0? ??", None, &context()).map(|record| shown(&record));
}

#[test]
fn files_that_are_cut_or_lie_are_read_as_far_as_they_go() {
    let mut samples = vec![
        elf(&LOADS, 0x500),
        chained(3, 0x1_0000, &[0x45, 0, 0, 4, 0x46, 0, 0, 0]),
    ];
    let names = [
        "macho/libsmall.dylib",
        "macho/universal",
        "macho/object-arm64",
        "pe/sample.dll",
        "pe/object.obj",
        "pe/sample.te",
    ];
    samples.extend(names.map(sample));
    // A guard against hangs: each answer takes milliseconds.
    let ask = |file: &[u8], what: &str| {
        let started = Instant::now();
        ask_all(file);
        assert!(started.elapsed() < Duration::from_secs(20), "{what}");
    };
    for (number, file) in samples.into_iter().enumerate() {
        ask(&file, &format!("sample {number}"));
        for part in 1..24 {
            let end = file.len() * part / 24;
            ask(&file[..end], &format!("sample {number} cut at {end}"));
        }
        // Fields of headers, each at its least and its most.
        for at in (0..file.len().min(0x300)).step_by(8) {
            for value in [0u32, 0x7FFF_FFFF, 0xFFFF_FFFF] {
                let mut lying = file.clone();
                let end = (at + 4).min(lying.len());
                lying[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
                ask(
                    &lying,
                    &format!("sample {number} with {value:#x} at {at:#x}"),
                );
            }
        }
    }
}

#[test]
fn a_path_that_is_no_executable_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| {
        Target::open(path, None, &context())
            .err()
            .map(|error| error.code().as_str().to_owned())
    };
    let zip = support::file(
        folder.path(),
        "a.zip",
        b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    assert_eq!(open(&zip).as_deref(), Some("unsupported_target"));
    assert_eq!(open(folder.path()).as_deref(), Some("unsupported_target"));
    let text = support::file(folder.path(), "a.txt", b"text");
    assert_eq!(open(&text), None);
    // It has strings, and no memory.
    let target = Target::open(&text, None, &context()).unwrap();
    assert!(target.map(&context()).is_err());
    assert!(target.map_any(&context()).is_ok());
}
