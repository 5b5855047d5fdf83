//! Mach-O: what is read of small files that LLVM made (tests/data/macho), of
//! images made here by the headers' words, and what crafted files cost.
//! scripts/truth_macho.py compares with LLVM and LIEF field by field.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::time::{Duration, Instant};

use rea::binary::BinaryFile;
use rea::binary::layout::{LayoutOptions, Refusal, inspect_binary_layout};
use rea::binary::macho::{inspect_macho, layout, list_architectures};
use rea::evidence::Record;
use rea::json::{Limits, Value};
use rea::operation::Context;

fn file(bytes: &[u8]) -> BinaryFile {
    BinaryFile {
        path: "x".to_owned(),
        bytes: bytes.to_vec(),
    }
}

fn result(record: &dyn Record) -> Value {
    let text = record.canonical();
    let value = Value::parse(&text, Limits::default()).unwrap();
    value.get("normalized_result").unwrap().clone()
}

fn inspect(bytes: &[u8]) -> Value {
    let context = Context::new("inspect_macho");
    result(&inspect_macho(&file(bytes), None, &context).unwrap())
}

fn lay_out(bytes: &[u8]) -> Value {
    let context = Context::new("inspect_binary_layout");
    let options = LayoutOptions::default();
    result(&inspect_binary_layout(&file(bytes), &options, &context).unwrap())
}

/// The value at a path of members and places.
#[track_caller]
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    let mut value = value;
    for part in path.split('.') {
        value = match part.parse::<usize>() {
            Ok(index) => &value.as_array().unwrap()[index],
            Err(_) => value
                .get(part)
                .unwrap_or_else(|| panic!("no {part} of {path}")),
        };
    }
    value
}

#[track_caller]
fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap()
}

#[track_caller]
fn number(value: &Value, path: &str) -> u64 {
    match at(value, path) {
        Value::Number(number) => *number as u64,
        other => panic!("{path} is {other:?}"),
    }
}

fn names(value: &Value, path: &str) -> Vec<String> {
    let items = at(value, path).as_array().unwrap();
    let name = |item: &Value| item.get("name").unwrap().as_str().unwrap().to_owned();
    items.iter().map(name).collect()
}

fn limitations(value: &Value) -> String {
    let items = at(value, "limitations").as_array().unwrap();
    let said: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
    said.join("\n")
}

fn small(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/macho/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// Values printed by `llvm-objdump --macho -p --exports-trie --bind --lazy-bind
/// --weak-bind` and `llvm-readobj` 14.0.6.
#[test]
fn a_library_that_llvm_linked() {
    let found = inspect(&small("libsmall.dylib"));
    assert_eq!(text(&found, "file_type"), "MH_DYLIB");
    assert_eq!(text(&found, "endian"), "little");
    assert_eq!(number(&found, "word_size"), 64);
    assert_eq!(
        text(&found, "facts.identity.name"),
        "/usr/lib/libsmall.1.dylib"
    );
    assert_eq!(text(&found, "facts.identity.current_version"), "1.2.3");
    assert_eq!(text(&found, "facts.rpaths.0"), "@loader_path/../lib");
    assert_eq!(
        text(&found, "dependencies.items.0.path"),
        "/usr/lib/libSystem.B.dylib"
    );
    assert_eq!(text(&found, "dependencies.items.0.kind"), "LC_LOAD_DYLIB");
    assert_eq!(text(&found, "build_metadata.items.0.platform"), "MACOS");
    assert_eq!(text(&found, "build_metadata.items.0.minimum_os"), "11.0");
    assert_eq!(text(&found, "build_metadata.items.0.tools.0.name"), "LD");
    let exports = names(&found, "exports.items");
    assert_eq!(
        exports,
        ["_absolute", "_exported", "_table", "_tlv", "_weak_function"]
    );
    assert_eq!(at(&found, "exports.exhaustive"), &Value::Bool(true));
    assert_eq!(at(&found, "exports.items.4.weak"), &Value::Bool(true));
    let mut imports = names(&found, "imports.items");
    imports.sort();
    let expected = [
        "___stack_chk_fail",
        "__tlv_bootstrap",
        "_environ",
        "_perhaps",
        "_puts",
    ];
    // dyld_stub_binder is bound at load time for the lazy ones.
    imports.retain(|name| name != "dyld_stub_binder");
    assert_eq!(imports, expected);
    assert_eq!(at(&found, "imports.exhaustive"), &Value::Bool(true));
    assert_eq!(text(&found, "facts.entry_points.0.kind"), "mod-init");
    assert_eq!(text(&found, "facts.entry_points.0.symbol"), "_static");
    let flags = "facts.code_signature.code_directories.0";
    assert_eq!(text(&found, &format!("{flags}.flag_names.0")), "adhoc");
    assert_eq!(
        text(&found, &format!("{flags}.flag_names.1")),
        "linker-signed"
    );
    assert_eq!(
        text(&found, &format!("{flags}.identifier")),
        "libsmall.dylib"
    );
    assert_eq!(limitations(&found).lines().count(), 1);

    let found = lay_out(&small("libsmall.dylib"));
    assert_eq!(text(&found, "architecture.machine"), "CPU_TYPE_X86_64");
    let mitigations = at(&found, "facts.mitigations").as_array().unwrap();
    let state = |name: &str| {
        let row = mitigations.iter().find(|row| text(row, "name") == name);
        text(row.unwrap(), "state").to_owned()
    };
    assert_eq!(state("stack-canary"), "present");
    assert_eq!(state("code-signature"), "present");
    assert_eq!(state("hardened-runtime"), "absent");
    assert_eq!(state("nx-heap"), "not-applicable");
}

/// Values printed by `llvm-readobj --relocations --symbols` and `llvm-objdump
/// --macho -p`.
#[test]
fn objects_of_four_processors() {
    let found = lay_out(&small("object-x86_64"));
    assert_eq!(text(&found, "image_type"), "MH_OBJECT");
    let types = names(&found, "facts.relocation_types");
    let expected = [
        "X86_64_RELOC_UNSIGNED",
        "X86_64_RELOC_SIGNED",
        "X86_64_RELOC_BRANCH",
        "X86_64_RELOC_GOT_LOAD",
        "X86_64_RELOC_SUBTRACTOR",
    ];
    assert_eq!(types, expected);
    assert_eq!(text(&found, "facts.macho.linker_options.0.0"), "-lfoo");
    assert_eq!(text(&found, "facts.macho.linker_options.0.2"), "Bar");
    let item = "facts.macho.data_in_code.items.0";
    assert_eq!(
        text(&found, &format!("{item}.kind")),
        "DICE_KIND_JUMP_TABLE32"
    );
    let symbols = at(&found, "symbols").as_array().unwrap();
    let symbol = |name: &str| {
        let row = symbols.iter().find(|row| text(row, "name.display") == name);
        row.unwrap()
    };
    assert_eq!(text(symbol("_common"), "value_meaning"), "common-size");
    assert_eq!(text(symbol("_common"), "size"), "0x20");
    assert_eq!(text(symbol("_weak_function"), "binding"), "N_WEAK_DEF");
    assert_eq!(text(symbol("_perhaps"), "binding"), "N_WEAK_REF");
    assert_eq!(text(symbol("_hidden"), "visibility"), "N_PEXT");
    for (name, machine, first) in [
        ("object-arm64", "CPU_TYPE_ARM64", "ARM64_RELOC_UNSIGNED"),
        ("object-armv7", "CPU_TYPE_ARM", "ARM_RELOC_VANILLA"),
        ("object-i386", "CPU_TYPE_I386", "GENERIC_RELOC_VANILLA"),
    ] {
        let found = lay_out(&small(name));
        assert_eq!(text(&found, "architecture.machine"), machine);
        assert_eq!(text(&found, "facts.relocation_types.0.name"), first);
    }
}

#[test]
fn slices_of_a_universal_file() {
    let bytes = small("universal");
    let context = Context::new("list_architectures");
    let found = result(&list_architectures(&file(&bytes), &context).unwrap());
    // `llvm-objdump --macho --universal-headers`
    let listed = names(&found, "architectures.items");
    assert_eq!(listed, ["armv7", "x86_64", "arm64"]);
    assert_eq!(
        text(&found, "architectures.items.1.cpu_type"),
        "CPU_TYPE_X86_64"
    );
    // The first slice is a static library, and no Mach-O file by itself.
    let found = lay_out(&bytes);
    assert_eq!(text(&found, "architecture.machine"), "CPU_TYPE_X86_64");
    assert_eq!(text(&found, "facts.macho.slices.0.content"), "archive");
    let offset = number(&inspect(&bytes), "architectures.items.1.file_offset");
    let header = text(&found, "facts.macho.header.location.offset");
    assert_eq!(header, format!("{offset:#x}"));
    assert!(matches!(
        layout(&bytes, Some("armv7")),
        Err(Refusal::Header { .. })
    ));
    let Err(Refusal::Architecture(known)) = layout(&bytes, Some("ppc")) else {
        panic!("there is no such slice");
    };
    assert_eq!(known, ["armv7", "x86_64", "arm64"]);
    let arm = layout(&bytes, Some("arm64")).unwrap();
    assert_eq!(arm.architecture, Some("arm64"));
    let whole = file(&bytes);
    let record = inspect_macho(&whole, Some("armv7"), &context).unwrap();
    assert_eq!(at(&result(&record), "file_type"), &Value::Null);
}

/// An image of 64 bits: load commands and what stands behind them.
struct Image {
    commands: Vec<Vec<u8>>,
    kind: u32,
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Image {
    fn new(kind: u32) -> Self {
        Self {
            commands: Vec::new(),
            kind,
        }
    }

    fn command(&mut self, cmd: u32, body: &[u8]) -> &mut Self {
        let mut bytes = words(&[cmd, body.len() as u32 + 8]);
        bytes.extend_from_slice(body);
        self.commands.push(bytes);
        self
    }

    fn segment(
        &mut self,
        name: &str,
        address: u64,
        memory: u64,
        offset: u64,
        size: u64,
    ) -> &mut Self {
        let mut body = name.as_bytes().to_vec();
        body.resize(16, 0);
        for value in [address, memory, offset, size] {
            body.extend(value.to_le_bytes());
        }
        body.extend(words(&[3, 3, 0, 0]));
        self.command(0x19, &body)
    }

    fn commands_size(&self) -> usize {
        self.commands.iter().map(Vec::len).sum()
    }

    fn bytes(&self, at: usize, data: &[u8]) -> Vec<u8> {
        let mut bytes = words(&[
            0xFEED_FACF,
            0x0100_000C,
            0,
            self.kind,
            self.commands.len() as u32,
            self.commands_size() as u32,
            0x85,
            0,
        ]);
        bytes.extend(self.commands.iter().flatten());
        assert!(bytes.len() <= at, "commands reach into the data");
        bytes.resize(at, 0);
        bytes.extend_from_slice(data);
        bytes
    }
}

/// `mach-o/fixup-chains.h`, laid out by hand: two imports, a chain of a bind,
/// a rebase and a bind in the first page.
fn chained(imports_format: u32, pointer_format: u16, pointers: &[u64]) -> Vec<u8> {
    let mut image = Image::new(6);
    let data = 0x400u64;
    let fixups_at = 0x800u32;
    image.segment("__TEXT", 0x1000, 0x1000, 0, 0x400);
    image.segment("__DATA", 0x4000, 0x1000, data, 0x400);
    image.segment("__LINKEDIT", 0x8000, 0x1000, fixups_at.into(), 0x400);
    let mut dylib = words(&[24, 2, 0x1_0000, 0x1_0000]);
    dylib.extend(b"/usr/lib/libA.dylib\0\0\0\0\0");
    image.command(0xC, &dylib);
    image.command(0x8000_0034, &words(&[fixups_at, 0x400]));
    let mut bytes: Vec<u8> = pointers.iter().flat_map(|raw| raw.to_le_bytes()).collect();
    bytes.resize(0x400, 0);
    // Header: version, starts, imports, symbols, count, formats.
    let mut fixups = words(&[0, 0x20, 0x60, 0x80, 2, imports_format, 0, 0]);
    // Starts: three segments, the second has chains 0x10 bytes from here.
    fixups.extend(words(&[3, 0, 0x10, 0]));
    fixups.extend(words(&[24]));
    fixups.extend(
        [0x1000u16, pointer_format]
            .iter()
            .flat_map(|half| half.to_le_bytes()),
    );
    fixups.extend(0x3000u64.to_le_bytes());
    fixups.extend(words(&[0]));
    fixups.extend([1u16, 0].iter().flat_map(|half| half.to_le_bytes()));
    fixups.resize(0x60, 0);
    // Imports: _one of library 1, _two of any (flat), weak, name 5 behind.
    match imports_format {
        1 => fixups.extend(words(&[1, 0xFE | 1 << 8 | 5 << 9])),
        2 => fixups.extend(words(&[1, 7, 0xFE | 1 << 8 | 5 << 9, (-7i32) as u32])),
        _ => {
            for (word, addend) in [(1u64, 7u64), (0xFFFE | 1 << 16 | 5 << 32, 9)] {
                fixups.extend(word.to_le_bytes());
                fixups.extend(addend.to_le_bytes());
            }
        }
    }
    fixups.resize(0x80, 0);
    fixups.extend(b"_one\0_two\0");
    fixups.resize(0x400, 0);
    bytes.extend(fixups);
    image.bytes(data as usize, &bytes)
}

#[test]
fn chained_fixups_of_all_import_formats() {
    // DYLD_CHAINED_PTR_64_OFFSET: bind 0 (next 4*2), rebase to 0x10 (next
    // 4*2), bind 1 with addend 3.
    let pointers = [1 << 63 | 2 << 51, 2 << 51 | 0x10, 1 << 63 | 3 << 24 | 1];
    for (format, addends) in [(1, ["0", "0"]), (2, ["7", "-7"]), (3, ["7", "9"])] {
        let found = inspect(&chained(format, 6, &pointers));
        assert_eq!(
            limitations(&found).lines().count(),
            1,
            "{}",
            limitations(&found)
        );
        assert_eq!(names(&found, "imports.items"), ["_one", "_two"]);
        assert_eq!(text(&found, "imports.items.0.address"), "0x4000");
        assert_eq!(text(&found, "imports.items.1.address"), "0x4010");
        assert_eq!(at(&found, "imports.items.1.weak"), &Value::Bool(true));
        assert_eq!(at(&found, "imports.exhaustive"), &Value::Bool(true));
        let fixups = at(&found, "facts.chained_fixups");
        assert_eq!(text(fixups, "imports.0.library"), "/usr/lib/libA.dylib");
        assert_eq!(text(fixups, "imports.1.ordinal"), "-2");
        assert_eq!(text(fixups, "imports.0.addend"), addends[0]);
        assert_eq!(text(fixups, "imports.1.addend"), addends[1]);
        assert_eq!(
            text(fixups, "chains.0.pointer_format"),
            "DYLD_CHAINED_PTR_64_OFFSET"
        );
        assert_eq!(number(fixups, "chains.0.rebases"), 1);
        assert_eq!(text(fixups, "rebases.0.address"), "0x4008");
    }
}

#[test]
fn signed_pointers_of_arm64e() {
    // An authenticated bind of import 1 (key DA, next 8), then an
    // authenticated rebase to 0x20 (key IB).
    let pointers = [
        1 << 63 | 1 << 62 | 1 << 51 | 2 << 49 | 1 << 48 | 0x1234 << 32 | 1,
        1 << 63 | 1 << 49 | 0x20,
    ];
    let found = inspect(&chained(1, 9, &pointers));
    let fixups = at(&found, "facts.chained_fixups");
    assert_eq!(text(fixups, "binds.0.auth.key"), "DA");
    assert_eq!(number(fixups, "binds.0.auth.diversity"), 0x1234);
    assert_eq!(text(fixups, "auth_rebases.0.auth.key"), "IB");
    assert_eq!(text(fixups, "auth_rebases.0.target"), "0x1020");
    assert_eq!(text(fixups, "auth_rebases.0.address"), "0x4008");
    assert_eq!(at(fixups, "auth_rebases.0.offset"), &Value::Null);
}

/// `mach-o/fixup-chains.h`: `dyld_chained_ptr_arm64e_shared_cache_auth_rebase`
/// counts from the start of the cache, which is not in the file.
#[test]
fn pointers_into_a_shared_cache() {
    let found = inspect(&chained(1, 13, &[1 << 63 | 1 << 51 | 0x1_8000_0020]));
    let fixups = at(&found, "facts.chained_fixups");
    assert_eq!(text(fixups, "auth_rebases.0.auth.key"), "DA");
    assert_eq!(text(fixups, "auth_rebases.0.offset"), "0x180000020");
    assert_eq!(at(fixups, "auth_rebases.0.target"), &Value::Null);
}

/// `LC_DYLD_INFO` with one program of binds or rebases.
fn programs(rebase: &[u8], bind: &[u8]) -> Vec<u8> {
    let mut image = Image::new(6);
    let data = 0x200u32;
    image.segment("__TEXT", 0x1000, 0x1000, 0, 0x100);
    image.segment("__DATA", 0x4000, 0x1000, 0x100, 0x100);
    let (first, second) = (rebase.len() as u32, bind.len() as u32);
    let mut info = words(&[data, first, data + first, second]);
    info.extend(words(&[0; 6]));
    image.command(0x8000_0022, &info);
    image.bytes(data as usize, &[rebase, bind].concat())
}

#[test]
fn opcodes_that_repeat_without_end_are_refused() {
    let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
    // Segment 1 at 0; 2^63-1 times, 0 apart.
    let mut rebase = vec![0x11, 0x21, 0, 0x80];
    rebase.extend(huge);
    rebase.extend([0, 0]);
    let mut bind = vec![0x11, 0x40, b'_', b'a', 0, 0x51, 0x71, 0, 0xC0];
    bind.extend(huge);
    bind.extend([0, 0]);
    let found = inspect(&programs(&rebase, &bind));
    let said = limitations(&found);
    assert!(
        said.contains("rebase opcodes") && said.contains("bind opcodes"),
        "{said}"
    );
    assert_eq!(at(&found, "imports.exhaustive"), &Value::Bool(false));
    // The same, 0x200 times: the whole segment, as one run each.
    let rebase = [0x11, 0x21, 0, 0x60, 0x80, 0x04, 0];
    let bind = [
        0x11, 0x40, b'_', b'a', 0, 0x51, 0x71, 0, 0xC0, 0x80, 0x04, 0, 0,
    ];
    let found = inspect(&programs(&rebase, &bind));
    assert_eq!(number(&found, "facts.dyld_info.rebases.0.count"), 0x200);
    assert_eq!(
        number(&found, "facts.dyld_info.binds.0.places.count"),
        0x200
    );
    assert_eq!(at(&found, "imports.exhaustive"), &Value::Bool(true));
}

/// What a file costs to lay out and to write.
#[track_caller]
fn quick(bytes: &[u8], most: u64) -> Value {
    let start = Instant::now();
    let found = lay_out(bytes);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(most), "{took:?}");
    found
}

#[test]
fn chains_that_overlap_end() {
    // Every segment of many shares the bytes of one chain of a thousand
    // pointers, each 8 bytes from the last.
    let mut image = Image::new(6);
    let count = 300u32;
    for _ in 0..count {
        image.segment("__DATA", 0x4000, 0x10_0000, 0x8000, 0x1_0000);
    }
    image.command(0x8000_0034, &words(&[0x1_8000, 0x1000]));
    let pointer = (2u64 << 51).to_le_bytes();
    let mut data = pointer.repeat(0x1_0000 / 8 - 1);
    data.extend([0; 8]);
    let mut fixups = words(&[0, 0x20, 0, 0, 0, 1, 0, 0]);
    fixups.extend(words(&[count]));
    fixups.extend(words(&vec![4 * (count + 1); count as usize]));
    fixups.extend(words(&[24]));
    fixups.extend([0x8000u16, 2].iter().flat_map(|half| half.to_le_bytes()));
    fixups.extend([0u8; 12]);
    fixups.extend([1u16, 0].iter().flat_map(|half| half.to_le_bytes()));
    fixups.resize(0x1000, 0);
    data.extend(fixups);
    let found = quick(&image.bytes(0x8000, &data), 5);
    assert!(
        limitations(&found).contains("overlap"),
        "{}",
        limitations(&found)
    );
}

#[test]
fn a_million_symbols_share_one_long_name() {
    let mut image = Image::new(2);
    image.segment("__TEXT", 0, 0x1000, 0, 0x100);
    let (symbols, name) = (100_000u32, 1 << 20);
    let table = 0x200u32;
    let strings = table + 16 * symbols;
    image.command(2, &words(&[table, symbols, strings, name + 2]));
    let mut data: Vec<u8> = Vec::new();
    for _ in 0..symbols {
        data.extend(words(&[1, 0x0000_0001, 0, 0]));
    }
    data.push(0);
    data.extend(vec![b'a'; name as usize]);
    data.push(0);
    let found = quick(&image.bytes(table as usize, &data), 20);
    assert!(limitations(&found).contains("not told"));
}

#[test]
fn a_million_load_commands_and_lying_counts() {
    let mut bytes = words(&[0xFEED_FACF, 0x0100_0007, 3, 2, u32::MAX, u32::MAX, 0, 0]);
    for _ in 0..200_000 {
        bytes.extend(words(&[0x7777, 8]));
    }
    let found = quick(&bytes, 20);
    assert!(limitations(&found).contains("4294967295 load commands"));
    let told = inspect(&bytes[..4096]);
    assert_eq!(at(&told, "dependencies.exhaustive"), &Value::Bool(false));
    assert_eq!(at(&told, "exports.exhaustive"), &Value::Bool(false));
    assert_eq!(
        text(&found, "facts.macho.load_commands.0.fields.cmd"),
        "0x7777"
    );
}

#[test]
fn every_cut_and_every_field_of_small_files_is_survived() {
    for name in [
        "libsmall.dylib",
        "object-x86_64",
        "object-armv7",
        "universal",
    ] {
        let bytes = small(name);
        let step = bytes.len() / 400 + 1;
        for end in (0..bytes.len()).step_by(step) {
            if let Ok(found) = layout(&bytes[..end], None) {
                assert!(found.symbols.len() * 12 <= end);
            }
        }
        let mut changed = bytes.clone();
        for at in (0..bytes.len().min(0x800)).step_by(4) {
            for value in [0, 1, u32::MAX, u32::MAX - 1] {
                changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
                let _ = layout(&changed, None);
            }
            changed[at..at + 4].copy_from_slice(&bytes[at..at + 4]);
        }
    }
}

#[test]
fn thread_states_give_the_entry() {
    // x86_THREAD_STATE64: flavor 4, 42 words, rip is the 17th register.
    let mut image = Image::new(2);
    image.segment("__TEXT", 0x1000, 0x1000, 0, 0x100);
    let mut state = words(&[4, 42]);
    for register in 0..21u64 {
        state.extend((0x1000 + register).to_le_bytes());
    }
    image.command(5, &state);
    let mut bytes = image.bytes(0x200, &[]);
    bytes[4..8].copy_from_slice(&0x0100_0007u32.to_le_bytes());
    let found = lay_out(&bytes);
    assert_eq!(text(&found, "entry_point.reported_value"), "0x1010");
    let found = inspect(&bytes);
    assert_eq!(at(&found, "entrypoints.exhaustive"), &Value::Bool(false));
    assert_eq!(text(&found, "facts.entry_points.0.address"), "0x1010");
}

/// A Java class starts like a universal file.
#[test]
fn other_files_are_refused() {
    for bytes in [
        &b"\xCA\xFE\xBA\xBE\0\0\0\x34rest of a class"[..],
        b"",
        b"\x7FELF",
    ] {
        assert!(matches!(layout(bytes, None), Err(Refusal::Format)));
    }
    let cut = &small("object-x86_64")[..20];
    assert!(matches!(layout(cut, None), Err(Refusal::Header { .. })));
}
