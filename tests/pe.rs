//! PE, TE and COFF files: what is read of files that other tools made or that
//! tests/data/pe/make.py makes, what is refused, and what files cost that are
//! made to cost. scripts/truth_pe.py compares with llvm-readobj, objdump and
//! pefile; values here are theirs, or those that make.py writes.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::time::{Duration, Instant};

use rea::binary::layout::facts::State;
use rea::binary::layout::rows::{Symbolic, Target, ValueMeaning};
use rea::binary::layout::{EntryMeaning, Format, Layout, Refusal};
use rea::binary::pe::parse;
use rea::json::{Sink, WriteJson, Writer, canonical};

const DLL: &[u8] = include_bytes!("data/pe/sample.dll");
const TE: &[u8] = include_bytes!("data/pe/sample.te");
const OBJECT: &[u8] = include_bytes!("data/pe/object.obj");
const RESOURCES: &[u8] = include_bytes!("data/pe/resources.obj");
const LIBRARY: &[u8] = include_bytes!("data/pe/sample.lib");
const DYNAMIC_64: &[u8] = include_bytes!("data/pe/dynamic64.dll");
const DYNAMIC_32: &[u8] = include_bytes!("data/pe/dynamic32.dll");
const ARM: &[u8] = include_bytes!("data/pe/arm.dll");

/// Offsets in `DLL`: of the PE header, the optional header, the directories
/// and the section table.
const HEADER: usize = 0xB0;
const OPTIONAL: usize = HEADER + 24;
const DIRECTORIES: usize = OPTIONAL + 112;
const SECTIONS: usize = OPTIONAL + 240;

/// A member of the format's own facts.
#[track_caller]
fn own(layout: &Layout<'_>, name: &str) -> String {
    let (_, members) = &layout.facts.own;
    let found = members.iter().find(|(known, _)| *known == name);
    text(found.unwrap_or_else(|| panic!("no {name}")).1.as_ref())
}

fn text(value: &dyn WriteJson) -> String {
    String::from_utf8(canonical(value)).unwrap()
}

#[track_caller]
fn says(layout: &Layout<'_>, what: &str) {
    let said = layout.notes.sentences();
    assert!(said.iter().any(|one| one.contains(what)), "{said:#?}");
}

/// Counts the bytes of all that a layout writes.
fn written(layout: &Layout<'_>) -> u64 {
    struct Count(u64);
    impl Sink for Count {
        fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
            self.0 += bytes.len() as u64;
            Ok(())
        }
    }
    let mut count = Count(0);
    let mut writer = Writer::canonical(&mut count);
    writer.begin_array();
    layout.sections.write_json(&mut writer);
    layout.symbols.write_json(&mut writer);
    layout.relocations.write_json(&mut writer);
    layout.facts.exports.write_json(&mut writer);
    layout.facts.imports.write_json(&mut writer);
    layout.facts.mitigations.write_json(&mut writer);
    layout.facts.entry_points.write_json(&mut writer);
    for (_, part) in &layout.facts.own.1 {
        part.write_json(&mut writer);
    }
    writer.end_array();
    writer.finish_infallible();
    count.0
}

/// Reads and writes; whatever the bytes are, it ends and does not panic.
fn survive(bytes: &[u8]) -> u64 {
    parse(bytes).map_or(0, |layout| written(&layout))
}

fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut copy = DLL.to_vec();
    copy[at..at + bytes.len()].copy_from_slice(bytes);
    copy
}

fn word(at: usize, value: u32) -> Vec<u8> {
    patched(at, &value.to_le_bytes())
}

fn names<'a>(rows: impl Iterator<Item = Option<&'a [u8]>>) -> Vec<String> {
    rows.map(|name| String::from_utf8_lossy(name.unwrap_or(b"-")).into_owned())
        .collect()
}

#[test]
fn an_image() {
    let layout = parse(DLL).unwrap();
    assert_eq!(layout.notes.sentences(), Vec::<String>::new());
    assert_eq!(layout.format, Format::Pe);
    assert_eq!(layout.architecture, Some("x86_64"));
    assert_eq!(layout.image_type, Symbolic::Named("shared-library"));
    assert_eq!(layout.entry, 0x1_8000_1000);
    assert_eq!(layout.sections.len(), 6);
    let text_section = &layout.sections[0];
    assert_eq!((text_section.index, text_section.offset), (1, 0x400));
    assert_eq!(text_section.address, 0x1_8000_1000);
    assert_eq!(layout.facts.address_map.len(), 7);
    let overlay = layout.facts.overlay.unwrap();
    assert_eq!(&DLL[overlay.offset as usize..], b"overlay!");
    assert!(layout.facts.exports_exhaustive && layout.facts.imports_exhaustive);

    let exports = &layout.facts.exports;
    assert_eq!(
        names(exports.iter().map(|one| one.name.as_deref())),
        ["alpha", "alpha_again", "beta", "-"]
    );
    assert_eq!(exports[0].ordinal, Some(10));
    assert_eq!(exports[0].address, Some(0x1_8000_1010));
    assert_eq!(exports[2].address, None);
    assert_eq!(
        exports[2].forwarder.as_deref(),
        Some(&b"NTDLL.RtlExitUserThread"[..])
    );
    assert_eq!(
        (exports[3].ordinal, exports[3].address),
        (Some(13), Some(layout.entry))
    );
    assert!(own(&layout, "export_directory").contains("\"gaps\":1"));

    let imports = &layout.facts.imports;
    assert_eq!(
        names(imports.iter().map(|one| one.name.as_deref())),
        ["ExitProcess", "-", "-", "MessageBoxW"]
    );
    assert_eq!(imports[1].ordinal, Some(17));
    assert_eq!(imports[3].source, "delay-import-table");
    assert_eq!(imports[3].library.as_deref(), Some(&b"USER32.dll"[..]));
    let slots: Vec<_> = layout.linkage.got.iter().map(|slot| &*slot.name).collect();
    assert_eq!(slots[1], b"KERNEL32.dll#17");
    let needed = &layout.linkage.needed_libraries;
    assert_eq!(needed.len(), 2);
    assert_eq!(needed[1].bytes(), b"WS2_32.dll");
    // pefile 2024.8.26: ordinal 115 of ws2_32 is WSAStartup, 17 of kernel32 has no name.
    assert_eq!(
        own(&layout, "imphash"),
        "\"05a6bd3f4310bad591e35cf80557db1e\""
    );
}

#[test]
fn what_else_an_image_tells() {
    let layout = parse(DLL).unwrap();
    // pefile agrees on both sums.
    assert_eq!(
        own(&layout, "checksum"),
        r#"{"computed":"0x100d3","matches":true,"stored":"0x100d3"}"#
            .replace("0x100d3", &checksum())
    );
    let rich = own(&layout, "rich_header");
    assert!(
        rich.contains(r#""checksum":"0xe204fa4b","checksum_valid":true"#),
        "{rich}"
    );
    assert!(
        rich.contains(r#"{"build":31501,"count":12,"product_id":261}"#),
        "{rich}"
    );
    let version = own(&layout, "version_info");
    assert!(
        version.contains(r#"{"name":"CompanyName","value":"Exámple"}"#),
        "{version}"
    );
    assert!(version.contains(r#""file_version":"1.2.3.4""#), "{version}");
    assert!(
        version.contains(r#""translations":["0409-04b0"]"#),
        "{version}"
    );
    let manifest = own(&layout, "manifests");
    assert!(
        manifest.contains(r#""requested_execution_level":"asInvoker""#),
        "{manifest}"
    );
    let summary = own(&layout, "resource_summary");
    assert!(
        summary.contains(r#""by_type":{"RT_ICON":1,"RT_MANIFEST":1,"RT_VERSION":1}"#),
        "{summary}"
    );
    let entries: Vec<_> = layout
        .facts
        .entry_points
        .iter()
        .map(|one| (one.kind, one.address))
        .collect();
    assert_eq!(
        entries,
        [
            ("entry", Some(0x1_8000_1000)),
            ("tls-callback", Some(0x1_8000_1020))
        ]
    );
    // The GUID's bytes as the symbol server writes them, with the age.
    assert_eq!(
        layout.facts.build_ids[0].value,
        "030201000504070608090A0B0C0D0E0F3"
    );
    assert!(own(&layout, "debug_directory").contains(r#""hash":"aaaaaaaaaaaaaaaa""#));
    let guards = own(&layout, "guard_tables");
    assert!(
        guards.contains(r#"[{"address":"0x1000","flags":0},{"address":"0x1010","flags":2}]"#),
        "{guards}"
    );
    let functions = own(&layout, "functions");
    assert!(
        functions.contains(r#""codes":["0x8 UWOP_SET_FPREG","0x4 UWOP_PUSH_NONVOL RBP"],"count_of_codes":2,"flags":1,"frame_offset":2,"frame_register":5,"handler_address":"0x1000""#),
        "{functions}"
    );
    let relocations = own(&layout, "base_relocation_summary");
    assert!(
        relocations.contains(r#"{"count":4,"name":"IMAGE_REL_BASED_DIR64","type":10}"#),
        "{relocations}"
    );
    assert!(own(&layout, "certificates").contains("WIN_CERT_TYPE_PKCS_SIGNED_DATA"));
    let state = |name: &str| {
        let rows = &layout.facts.mitigations;
        rows.iter().find(|row| row.name == name).unwrap().state
    };
    for (name, expected) in [
        ("aslr", State::Present),
        ("high-entropy-va", State::Present),
        ("nx", State::Present),
        ("cfg", State::Present),
        ("cet-shadow-stack", State::Present),
        ("stack-cookie", State::Present),
        ("write-xor-execute", State::Present),
        ("safe-seh", State::NotApplicable),
        ("rfg", State::Absent),
        ("force-integrity", State::Absent),
    ] {
        assert_eq!(state(name), expected, "{name}");
    }
    assert!(layout.indicators.position_independent && layout.indicators.stack_canary);
    assert_eq!(layout.indicators.nx, Some(true));
}

/// The checksum that make.py wrote, by its own algorithm.
fn checksum() -> String {
    let stored = u32::from_le_bytes(DLL[OPTIONAL + 64..OPTIONAL + 68].try_into().unwrap());
    format!("{stored:#x}")
}

#[test]
fn a_terse_image() {
    let layout = parse(TE).unwrap();
    assert_eq!(layout.format, Format::Te);
    assert_eq!(layout.notes.sentences(), Vec::<String>::new());
    assert_eq!(layout.entry, 0x1_8000_1000);
    // The code stands as far from the end as in the image it was cut from.
    let code = &layout.sections[0];
    assert_eq!(TE.len() - code.offset as usize, DLL.len() - 0x400);
    assert_eq!(layout.facts.build_ids[0].kind, "pdb");
    assert!(own(&layout, "base_relocation_summary").contains("\"entries\":6"));
}

/// llvm-readobj 14 on object.obj.
#[test]
fn an_object() {
    let layout = parse(OBJECT).unwrap();
    assert_eq!(layout.format, Format::Coff);
    assert_eq!(layout.notes.sentences(), Vec::<String>::new());
    assert_eq!(layout.entry_meaning, EntryMeaning::NotApplicable);
    assert_eq!(layout.sections[4].name.bytes(), b"a_long_section_name");
    assert_eq!(layout.sections[4].name_offset, Some(29));
    assert_eq!(
        (layout.sections[0].alignment, layout.sections[3].alignment),
        (4, 1)
    );
    let symbol = |name: &[u8]| {
        let found = layout.symbols.iter().find(|one| one.name.bytes() == name);
        found.unwrap()
    };
    // Auxiliary records count as entries and have no row.
    assert_eq!(
        (symbol(b"main").entry_index, symbol(b"helper").entry_index),
        (13, 14)
    );
    assert_eq!(symbol(b"main").meaning, ValueMeaning::SectionOffset);
    assert_eq!(
        symbol(b"main").kind,
        Symbolic::Named("IMAGE_SYM_DTYPE_FUNCTION")
    );
    assert_eq!(symbol(b"helper").meaning, ValueMeaning::Undefined);
    let common = symbol(b"counter");
    assert_eq!((common.meaning, common.size), (ValueMeaning::CommonSize, 8));
    assert_eq!(layout.relocations.len(), 6);
    let first = layout.relocations.get(0).unwrap();
    assert_eq!(
        first.target,
        Target::SectionOffset {
            section: 1,
            offset: 5
        }
    );
    assert_eq!((first.symbol_index, first.kind), (14, 4));
    assert_eq!(
        layout.facts.relocation_types[0].name,
        Symbolic::Named("IMAGE_REL_AMD64_ADDR64")
    );
    let auxiliary = own(&layout, "symbol_auxiliary");
    assert!(auxiliary.contains(r#""name":"sample.c""#), "{auxiliary}");
    assert!(
        auxiliary.contains(
            r#"{"characteristics":"IMAGE_WEAK_EXTERN_SEARCH_ALIAS","kind":"weak-external""#
        ),
        "{auxiliary}"
    );
    assert!(own(&layout, "linker_directives").contains("/DEFAULTLIB:libcmt"));
    assert_eq!(
        names(layout.facts.imports.iter().map(|one| one.name.as_deref())),
        ["helper", "maybe"]
    );
}

#[test]
fn an_import_library_and_its_members() {
    let layout = parse(LIBRARY).unwrap();
    assert_eq!(layout.format, Format::ImportLibrary);
    let exports = &layout.facts.exports;
    let targets = names(exports.iter().map(|one| one.forwarder.as_deref()));
    assert_eq!(
        targets,
        ["sample.dll.by_name", "sample.dll.#7", "sample.dll.value"]
    );
    assert_eq!(exports[2].kind, Some("data"));
    let member = &LIBRARY[exports[1].location.unwrap().offset as usize..];
    let layout = parse(member).unwrap();
    assert_eq!(layout.format, Format::ImportObject);
    assert_eq!(layout.facts.imports[0].ordinal, Some(7));
    // "PE Format", Import Name Type: what is left of a decorated name.
    for (kind, expected) in [(1, "_f@8"), (2, "f@8"), (3, "f")] {
        let mut object = vec![
            0, 0, 0xFF, 0xFF, 0, 0, 0x4C, 1, 0, 0, 0, 0, 11, 0, 0, 0, 5, 0,
        ];
        object.extend(u16::to_le_bytes(kind << 2));
        object.extend(b"_f@8\0a.dll\0");
        let layout = parse(&object).unwrap();
        let name = layout.facts.imports[0].name.as_deref().unwrap();
        assert_eq!(name, expected.as_bytes());
        assert_eq!(layout.facts.imports[0].ordinal, None);
    }
    assert_eq!(parse(b"!<arch>\n").err(), Some(Refusal::Format));
}

/// The header of `/bigobj` around the sections and symbols of one object.
#[test]
fn a_big_object() {
    let mut object = vec![0, 0, 0xFF, 0xFF, 2, 0, 0x64, 0x86, 0, 0, 0, 0];
    object.extend([
        0xC7, 0xA1, 0xBA, 0xD1, 0xEE, 0xBA, 0xA9, 0x4B, 0xAF, 0x20, 0xFA, 0xF6, 0x6A, 0xA4, 0xDC,
        0xB8,
    ]);
    object.extend([0; 16]);
    let symbols = 56 + 40;
    for value in [1u32, symbols, 1] {
        object.extend(value.to_le_bytes());
    }
    object.extend(b".text\0\0\0");
    object.extend([0; 28]);
    object.extend(0x6050_0020u32.to_le_bytes());
    object.extend(b"start\0\0\0\x10\0\0\0\x01\0\0\0\x20\0\x02\0");
    object.extend(4u32.to_le_bytes());
    let layout = parse(&object).unwrap();
    assert_eq!(layout.notes.sentences(), Vec::<String>::new());
    assert_eq!(layout.symbols.get(0).unwrap().value, 16);
    assert_eq!(
        layout.symbols.get(0).unwrap().section_index,
        Symbolic::Number(1)
    );
    assert_eq!(layout.sections[0].alignment, 16);
}

#[test]
fn what_is_no_such_file() {
    for bytes in [
        &b""[..],
        b"MZ",
        b"hello",
        &[0; 4096],
        b"VZ\0\0",
        b"\x64\x86",
        &[0, 0, 0xFF, 0xFF],
    ] {
        assert!(parse(bytes).is_err(), "{bytes:?}");
    }
    let mut dos = DLL[..HEADER].to_vec();
    assert!(matches!(
        parse(&dos),
        Err(Refusal::Header { offset: 0xB0, .. })
    ));
    dos.extend(b"NE\0\0");
    match parse(&dos) {
        Err(Refusal::Header { reason, .. }) => assert!(reason.contains("16-bit"), "{reason}"),
        _ => panic!("it is no PE file"),
    }
}

/// What Windows loads although it is odd.
#[test]
fn odd_images_are_read() {
    // "Tiny PE": the PE header inside the DOS header, and the end of the file
    // inside the optional header.
    let mut tiny = vec![0u8; 0x60];
    tiny[..4].copy_from_slice(b"MZ\0\0");
    tiny[4..8].copy_from_slice(b"PE\0\0");
    tiny[8..12].copy_from_slice(&[0x4C, 1, 0, 0]);
    tiny[24..28].copy_from_slice(&[0, 0, 2, 1]);
    tiny[28..30].copy_from_slice(&[0x0B, 1]);
    tiny[0x3C] = 4;
    let layout = parse(&tiny).unwrap();
    says(&layout, "inside the DOS header");
    says(&layout, "the file ends in it; what is not there is zero");
    assert_eq!(layout.bits, 32);

    // More directories than there are, and a section table that starts inside.
    let layout = word(OPTIONAL + 108, u32::MAX);
    let layout = parse(&layout).unwrap();
    says(&layout, "4294967295 data directories; the loader knows 16");
    assert_eq!(layout.facts.imports.len(), 4);
    let layout = patched(HEADER + 20, &[0x20, 0]);
    says(&parse(&layout).unwrap(), "the section table starts inside");

    // Sections aligned to less than a page: the file as it is.
    let mut flat = word(OPTIONAL + 32, 0x10);
    for at in 0..6 {
        let header = SECTIONS + at * 40;
        let offset: [u8; 4] = flat[header + 20..header + 24].try_into().unwrap();
        flat[header + 12..header + 16].copy_from_slice(&offset);
    }
    says(&parse(&flat).unwrap(), "the file is mapped as it is");

    // The loader counts in sectors of 512 bytes.
    let layout = word(SECTIONS + 20, 0x410);
    says(&parse(&layout).unwrap(), "the loader takes them from 0x400");

    // Headers only.
    let layout = parse(&DLL[..SECTIONS + 240]).unwrap();
    assert_eq!(layout.sections.len(), 6);
    says(&layout, "the file ends after 0 of them");
}

/// winnt.h: tables of both versions and every form of fixups, as
/// tests/data/pe/dynamic.py writes them; LIEF reads those of version 1 alike.
#[test]
fn dynamic_relocations() {
    for (bytes, version) in [(DYNAMIC_64, 1), (DYNAMIC_32, 2)] {
        let layout = parse(bytes).unwrap();
        assert_eq!(layout.notes.sentences(), Vec::<String>::new());
        let config = own(&layout, "load_config");
        assert!(config.contains(&format!("\"relocations\":7,\"version\":{version}")));
        let rows = own(&layout, "dynamic_relocations");
        let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
        let fixups = |at: usize| &rows[at]["blocks"][0]["fixups"];
        let expected = serde_json::json!([
            {"iat_index": 5, "indirect_call": true, "offset": 0x123},
            {"iat_index": null, "indirect_call": false, "offset": 0x456},
        ]);
        assert_eq!(fixups(0), &expected);
        assert_eq!(rows[0]["blocks"][1]["page_address"], "0x2000");
        let indirect = |cfg_check, indirect_call, offset, rex_w_prefix| {
            serde_json::json!({"cfg_check": cfg_check, "indirect_call": indirect_call,
                "offset": offset, "rex_w_prefix": rex_w_prefix})
        };
        let expected = [
            indirect(false, true, 0x10, false),
            indirect(false, false, 0x20, true),
            indirect(true, false, 0x30, false),
        ];
        assert_eq!(fixups(1).as_array().unwrap(), &expected);
        let registers = fixups(2).as_array().unwrap().iter();
        let registers: Vec<_> = registers.map(|row| row["register"].as_u64()).collect();
        assert_eq!(registers, [Some(3), Some(15), Some(0)]);
        let values = fixups(3).as_array().unwrap().iter();
        let values: Vec<_> = values
            .map(|row| format!("{} {} {}", row["kind"], row["size"], row["value"]))
            .collect();
        let expected = [
            "\"zero-fill\" 4 null",
            "\"value\" 2 \"0xaa64\"",
            "\"value\" 4 \"0x11223344\"",
            "\"value\" 8 \"0x102030405060708\"",
            "\"delta\" 4 12",
            "\"delta\" 4 -40",
        ];
        assert_eq!(values, expected);
        let function = &rows[4]["functions"][0];
        assert_eq!(function["original_function"], "0x1010");
        assert_eq!(
            function["functions"],
            serde_json::json!(["0x1020", "0x1030"])
        );
        assert_eq!(function["blocks"][0]["fixups"].as_array().unwrap().len(), 3);
        let nodes = serde_json::json!([
            {"left": 1, "right": 2, "value": 0}, {"left": 0, "right": 0, "value": 7},
        ]);
        assert_eq!(rows[4]["decisions"][0]["nodes"], nodes);
        let expected = serde_json::json!({"iat_index": 9, "import": "delayed",
            "indirect_call": true, "offset": 0x104, "register": 17});
        assert_eq!(fixups(5)[0], expected);
        assert_eq!(fixups(6).as_array().unwrap().len(), 2);
        if version == 2 {
            assert_eq!(
                (&rows[5]["symbol_group"], &rows[5]["flags"]),
                (&0.into(), &"0x2".into())
            );
        }
    }
}

/// "ARM exception handling"; llvm-readobj --unwind tells the same of the file.
#[test]
fn functions_of_arm() {
    let layout = parse(ARM).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&own(&layout, "functions")).unwrap();
    let info = &rows[2]["unwind_info"];
    assert_eq!(rows[2]["function_length"], 50);
    assert_eq!(info["epilog_start_index"], 9);
    let codes = [
        "0x0 f908ca alloc.w 0x2328",
        "0x3 fc nop.w",
        "0x4 fc nop.w",
        "0x5 fc nop.w",
        "0x6 a8f0 push.w r4-r7,r11,lr",
        "0x8 ff end",
        "0x9 f908c0 alloc.w 0x2300",
        "0xc 0a alloc 0x28",
        "0xd a8f0 push.w r4-r7,r11,lr",
        "0xf ff end",
    ];
    assert_eq!(info["codes"], serde_json::json!(codes));
}

/// Every record of a table at the same codes: they are not told again and
/// again; and whatever stands there, reading ends.
#[test]
fn unwind_records_that_share() {
    let mut bytes = ARM.to_vec();
    let at = u32::from_le_bytes(bytes[0x3C..0x40].try_into().unwrap()) as usize;
    for machine in [0x01C4u16, 0xAA64] {
        bytes[at + 4..at + 6].copy_from_slice(&machine.to_le_bytes());
        cheap(&bytes);
        for fill in [0x00, 0x21, 0xE7, 0xF6, 0xFF] {
            let mut other = bytes.clone();
            let start = other.len() / 2;
            other[start..].fill(fill);
            cheap(&other);
        }
    }
    for bytes in [DYNAMIC_64, DYNAMIC_32] {
        for at in 0x400..bytes.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut other = bytes.to_vec();
                other[at] = value;
                survive(&other);
            }
            survive(&bytes[..at]);
        }
    }
}

/// The digest of each resource's data; data that many leaves share is hashed
/// once, and what does not fit is said.
#[test]
fn resources_have_digests() {
    let layout = parse(DLL).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&own(&layout, "resources")).unwrap();
    for row in rows.as_array().unwrap() {
        let number = |value: &serde_json::Value| {
            usize::from_str_radix(&value.as_str().unwrap()[2..], 16).unwrap()
        };
        let place = &row["location"];
        let start = number(&place["offset"]);
        let data = &DLL[start..start + number(&place["bytes"])];
        assert_eq!(row["sha256"], rea::digest::Digest::of(data).to_hex());
    }
    // A thousand leaves, each one byte shorter than the one before.
    let length = 1 << 20;
    let (mut bytes, rva) = grown(length, |_| 0, 0x4000_0040);
    let put = |bytes: &mut Vec<u8>, at: usize, value: u32| {
        bytes[0x1200 + at..0x1200 + at + 4].copy_from_slice(&value.to_le_bytes());
    };
    put(&mut bytes, 12, 1000 << 16);
    for leaf in 0..1000u32 {
        let at = 16 + leaf as usize * 8;
        let entry = 16 + 8000 + leaf * 16;
        put(&mut bytes, at, leaf);
        put(&mut bytes, at + 4, entry);
        put(&mut bytes, entry as usize, rva);
        put(&mut bytes, entry as usize + 4, length as u32 - leaf);
    }
    directory(&mut bytes, 2, rva, length as u32);
    cheap(&bytes);
    let layout = parse(&bytes).unwrap();
    says(
        &layout,
        "share so many bytes with others that their data is not hashed",
    );
    let rows: serde_json::Value = serde_json::from_str(&own(&layout, "resources")).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1000);
    assert!(rows[0]["sha256"].is_string() && rows[999]["sha256"].is_null());
}

/// Objects: relocations tell where data is. The digests are those of the
/// sources, the rest is what llvm-readobj --coff-resources prints.
#[test]
fn resources_of_objects() {
    let layout = parse(RESOURCES).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&own(&layout, "resources")).unwrap();
    let digest = |data: &[u8]| rea::digest::Digest::of(data).to_hex();
    let paths: Vec<String> = (0..4).map(|at| rows[at]["path"].to_string()).collect();
    assert_eq!(
        paths,
        [
            "[6,1,1033]",
            r#"[10,"NAMED",1033]"#,
            "[16,1,1033]",
            "[24,1,1033]"
        ]
    );
    assert_eq!(rows[1]["sha256"], digest(b"hellox"));
    let manifest = include_bytes!("data/pe/manifest.xml");
    assert_eq!(rows[3]["sha256"], digest(manifest));
    assert_eq!(rows[3]["address"], "0x0");
    assert!(own(&layout, "version_info").contains(r#""file_version":"1.2.3.4""#));
    assert!(own(&layout, "manifests").contains(r#""requested_execution_level":"asInvoker""#));

    // windres: one section, whose data stands behind the tree.
    let mut tree = Vec::new();
    for (id, to) in [(10u32, 1 << 31 | 24), (7, 1 << 31 | 48), (0, 72)] {
        tree.extend([0u16, 0, 0, 0, 0, 0, 0, 1].map(u16::to_le_bytes).concat());
        tree.extend([id, to].map(u32::to_le_bytes).concat());
    }
    tree.extend([88u32, 4, 0, 0].map(u32::to_le_bytes).concat());
    tree.extend(b"data");
    let object = |at: u32, symbol: u32| {
        let (raw, length) = (60u32, tree.len() as u32);
        let mut bytes = [0x8664u16, 1].map(u16::to_le_bytes).concat();
        bytes.extend([0, raw + length + 10, 1].map(u32::to_le_bytes).concat());
        bytes.extend([0u8; 4]);
        bytes.extend(b".rsrc\0\0\0");
        bytes.extend(
            [0, 0, length, raw, raw + length, 0, 1]
                .map(u32::to_le_bytes)
                .concat(),
        );
        bytes.extend(0x4000_0040u32.to_le_bytes());
        bytes.extend(&tree);
        bytes.extend([at, symbol].map(u32::to_le_bytes).concat());
        bytes.extend(3u16.to_le_bytes());
        bytes.extend(b".rsrc\0\0\0\0\0\0\0\x01\0\0\0\x03\0");
        bytes.extend(4u32.to_le_bytes());
        bytes
    };
    let told = |bytes: &[u8]| -> serde_json::Value {
        let layout = parse(bytes).unwrap();
        serde_json::from_str(&own(&layout, "resources")).unwrap()
    };
    let row = &told(&object(72, 0))[0];
    assert_eq!(row["path"], serde_json::json!([10, 7, 0]));
    assert_eq!(row["address"], "0x58");
    assert_eq!(row["sha256"], digest(b"data"));
    // Nothing tells where: another place is relocated, or by no symbol.
    for (at, symbol) in [(76, 0), (72, 1), (72, u32::MAX)] {
        let row = &told(&object(at, symbol))[0];
        assert_eq!(row["size"], "0x4");
        assert!(row["location"].is_null() && row["sha256"].is_null());
    }
}

#[test]
fn cut_anywhere() {
    for bytes in [DLL, TE, OBJECT, RESOURCES, LIBRARY] {
        for end in 0..bytes.len() {
            survive(&bytes[..end]);
        }
    }
}

#[test]
fn every_number_extreme() {
    for bytes in [DLL, TE, OBJECT, RESOURCES, LIBRARY] {
        for at in (0..bytes.len() - 4).step_by(2) {
            for value in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFE, u32::MAX] {
                let mut copy = bytes.to_vec();
                copy[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
                survive(&copy);
            }
        }
    }
}

/// Tables take other forms for other machines; relocations of all types.
#[test]
fn every_machine() {
    let machines = [
        0x014Cu16, 0x0162, 0x0166, 0x01C0, 0x01C4, 0x01F0, 0x0200, 0x0EBC, 0x5032, 0x5064, 0x6264,
        0x8664, 0xA641, 0xAA64,
    ];
    for machine in machines {
        for kind in 0..16u16 {
            let mut bytes = patched(HEADER + 4, &machine.to_le_bytes());
            for at in (0x1208..0x1210).step_by(2) {
                let word = kind << 12 | 0x123;
                bytes[at..at + 2].copy_from_slice(&word.to_le_bytes());
            }
            // Packed and unpacked unwind data of ARM.
            bytes[0xC04] = kind as u8;
            assert!(survive(&bytes) > 0);
        }
        for bytes in [TE, OBJECT] {
            let mut copy = bytes.to_vec();
            let at = if bytes == TE { 2 } else { 0 };
            copy[at..at + 2].copy_from_slice(&machine.to_le_bytes());
            assert!(survive(&copy) > 0, "{machine:#x}");
        }
    }
    let arm = patched(HEADER + 4, &0x01C4u16.to_le_bytes());
    let layout = parse(&arm).unwrap();
    assert_eq!(layout.architecture, Some("arm"));
    assert!(own(&layout, "functions").contains("\"function_length\""));
}

/// The file grown to `length` with `fill`, its last section with it.
fn grown(length: usize, fill: impl Fn(usize) -> u8, flags: u32) -> (Vec<u8>, u32) {
    let mut bytes = DLL.to_vec();
    bytes.truncate(0x1200);
    let start = bytes.len();
    bytes.extend((0..length).map(fill));
    // `.reloc` shows what was added.
    let header = SECTIONS + 5 * 40;
    for (at, value) in [
        (8, length as u32),
        (16, length as u32),
        (20, start as u32),
        (36, flags),
    ] {
        bytes[header + at..header + at + 4].copy_from_slice(&value.to_le_bytes());
    }
    (bytes, 0x6000)
}

fn directory(bytes: &mut [u8], index: usize, rva: u32, size: u32) {
    let at = DIRECTORIES + index * 8;
    bytes[at..at + 4].copy_from_slice(&rva.to_le_bytes());
    bytes[at + 4..at + 8].copy_from_slice(&size.to_le_bytes());
}

/// Reads and writes within a second and in proportion to the file.
#[track_caller]
fn cheap(bytes: &[u8]) {
    let begun = Instant::now();
    let out = survive(bytes);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(
        out < 1_000 * bytes.len() as u64 + (64 << 20),
        "{out} bytes of output"
    );
}

/// Descriptors that all point at one table of thunks, which points at one
/// name that is as long as the file.
#[test]
fn imports_that_share() {
    let length = 1 << 20;
    let (mut bytes, rva) = grown(length, |_| b'a', 0x4000_0040);
    let put = |bytes: &mut Vec<u8>, at: usize, value: u32| {
        bytes[0x1200 + at..0x1200 + at + 4].copy_from_slice(&value.to_le_bytes());
    };
    // Descriptors in the first half, thunks in a quarter, a name in the rest.
    for at in (0..length / 2).step_by(20) {
        for (member, value) in [
            (0, rva + (length / 2) as u32),
            (12, rva + (3 * length / 4) as u32),
            (16, rva),
        ] {
            if at + member + 4 < length / 2 {
                put(&mut bytes, at + member, value);
            }
        }
    }
    for at in (length / 2..3 * length / 4).step_by(8) {
        put(&mut bytes, at, rva + (3 * length / 4) as u32);
        put(&mut bytes, at + 4, 0);
    }
    *bytes.last_mut().unwrap() = 0;
    directory(&mut bytes, 1, rva, 20);
    directory(&mut bytes, 13, rva, 20);
    cheap(&bytes);
    let layout = parse(&bytes).unwrap();
    assert!(!layout.facts.imports_exhaustive);
    says(&layout, "ask for more rows than its bytes can hold");
}

/// A table of names that points at one long text, and says it has 2^32 rows.
#[test]
fn exports_that_share() {
    let length = 1 << 20;
    let (mut bytes, rva) = grown(length, |at| if at % 4 == 2 { 1 } else { 0 }, 0x4000_0040);
    let words = [0, 0, 0, rva + 40, 1, u32::MAX, u32::MAX, rva, rva, rva];
    for (at, value) in words.iter().enumerate() {
        bytes[0x1200 + at * 4..0x1204 + at * 4].copy_from_slice(&u32::to_le_bytes(*value));
    }
    directory(&mut bytes, 0, rva, u32::MAX);
    cheap(&bytes);
}

/// A tree that points at itself, and one that is as deep as the file allows.
#[test]
fn resources_that_loop() {
    let length = 1 << 20;
    let (mut bytes, rva) = grown(length, |_| 0, 0x4000_0040);
    for at in 0..(length / 24) {
        let start = 0x1200 + at * 24;
        bytes[start + 14] = 1;
        let next = 0x8000_0000 | ((at as u32 + 1) * 24);
        bytes[start + 20..start + 24].copy_from_slice(&next.to_le_bytes());
    }
    directory(&mut bytes, 2, rva, length as u32);
    cheap(&bytes);
    says(&parse(&bytes).unwrap(), "more than 16 levels");
    bytes[0x1200 + 20..0x1200 + 24].copy_from_slice(&0x8000_0000u32.to_le_bytes());
    says(&parse(&bytes).unwrap(), "it is reached again");
    // Each of 60,000 entries a name of 60,000 units.
    bytes[0x1200 + 12..0x1200 + 14].copy_from_slice(&60_000u16.to_le_bytes());
    for at in 0..60_000 {
        let start = 0x1210 + at * 8;
        bytes[start..start + 8].copy_from_slice(&[0, 0, 8, 0x80, 0, 0, 9, 0]);
    }
    bytes[0x1200 + 0x8_0000..0x1202 + 0x8_0000].copy_from_slice(&60_000u16.to_le_bytes());
    cheap(&bytes);
}

/// 500,000 functions with the same block of 255 unwind codes.
#[test]
fn functions_that_share() {
    let length = 6 << 20;
    let (mut bytes, rva) = grown(length, |_| 0x11, 0x4000_0040);
    for at in (0..length - 1024).step_by(12) {
        let start = 0x1200 + at;
        bytes[start + 8..start + 12].copy_from_slice(&(rva + length as u32 - 1024).to_le_bytes());
    }
    let end = bytes.len();
    bytes[end - 1024..end - 1020].copy_from_slice(&[1, 0, 255, 0]);
    directory(&mut bytes, 3, rva, length as u32 - 1024);
    cheap(&bytes);
    says(&parse(&bytes).unwrap(), "share their unwind codes");
}

/// Blocks of relocations, debug entries, certificates, TLS callbacks and
/// guarded functions, each as many as the file can hold, over the same bytes.
#[test]
fn tables_over_the_same_bytes() {
    let length = 2 << 20;
    let (mut bytes, rva) = grown(length, |at| [8, 0, 0, 0][at % 4], 0x4000_0040);
    for index in [3, 5, 6, 9, 10, 11, 13] {
        directory(&mut bytes, index, rva, length as u32);
    }
    directory(&mut bytes, 4, 0x1200, length as u32);
    cheap(&bytes);
}

/// Sections whose names share one text as long as the file.
#[test]
fn long_names_that_share() {
    let count = 20_000u16;
    let mut object = vec![0x64, 0x86];
    object.extend(count.to_le_bytes());
    object.extend([0; 4]);
    let symbols = 20 + 40 * u32::from(count);
    object.extend(symbols.to_le_bytes());
    object.extend([0; 8]);
    for _ in 0..count {
        object.extend(b"/4\0\0\0\0\0\0");
        object.extend([0; 32]);
    }
    let text = vec![b'n'; 1 << 20];
    object.extend((text.len() as u32 + 5).to_le_bytes());
    object.extend(text);
    object.push(0);
    cheap(&object);
    says(&parse(&object).unwrap(), "ask for more rows");
}
