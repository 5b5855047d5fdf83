//! Modules and components: what is told of them, what is refused, what views
//! show, and what files cost that are made to cost. scripts/truth_wasm.py
//! compares with wasm-objdump; values here are from the specification, from
//! wasm-objdump and from the text that a file was made of.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

mod support;

use std::path::{Path, PathBuf};

use rea::Error;
use rea::binary::BinaryFile;
use rea::binary::wasm::{
    WASMPARSER, WASMPRINTER, WasmInput, WasmOptions, deep_facts, inspect_wasm, limits,
};
use rea::evidence::Record;
use rea::json::{Limits, Value};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request, ViewRecord};
use serde_json::{Value as Json, json};
use support::{guarded, sha256};

fn context() -> Context {
    Context::new("inspect_wasm_artifact")
}

fn record_of(bytes: &[u8], options: &WasmOptions) -> Result<Vec<u8>, Error> {
    let input = WasmInput::alone(BinaryFile {
        path: "a.wasm".to_owned(),
        bytes: bytes.to_vec(),
    });
    let record = inspect_wasm(&input, options, &context())?;
    Ok(record.canonical())
}

#[track_caller]
fn inspect(bytes: &[u8]) -> Json {
    let text = record_of(bytes, &WasmOptions::default()).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[track_caller]
fn refused(bytes: Vec<u8>) -> Error {
    let refused = move || record_of(&bytes, &WasmOptions::default());
    guarded("a file made to cost", refused).unwrap_err()
}

#[track_caller]
fn limit(bytes: Vec<u8>, boundary: &str) {
    let error = refused(bytes);
    assert_eq!(error.code().as_str(), "resource_constraint");
    let limits = error.details().get("reported_limits").unwrap();
    assert_eq!(limits.get("boundary").unwrap().as_str(), Some(boundary));
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wasm");
    std::fs::read(path.join(name)).unwrap()
}

fn leb(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let byte = (value & 0x7F) as u8;
        value >>= 7;
        if value == 0 {
            out.push(byte);
            return out;
        }
        out.push(byte | 0x80);
    }
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    [leb(bytes.len()), bytes.to_vec()].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [leb(items.len()), items.concat()].concat()
}

fn section(id: u8, payload: &[u8]) -> Vec<u8> {
    [vec![id], sized(payload)].concat()
}

fn module(sections: &[Vec<u8>]) -> Vec<u8> {
    [b"\0asm\x01\0\0\0".to_vec(), sections.concat()].concat()
}

fn component(sections: &[Vec<u8>]) -> Vec<u8> {
    [b"\0asm\x0d\0\x01\0".to_vec(), sections.concat()].concat()
}

/// A function type.
fn func(params: usize, results: usize) -> Vec<u8> {
    let values = |count: usize| [leb(count), vec![0x7F; count]].concat();
    [vec![0x60], values(params), values(results)].concat()
}

fn custom(name: &str, content: &[u8]) -> Vec<u8> {
    section(0, &[sized(name.as_bytes()), content.to_vec()].concat())
}

/// A module with one function of that type and body.
fn one_function(ty: Vec<u8>, body: &[u8]) -> Vec<u8> {
    module(&[
        section(1, &list(&[ty])),
        section(3, &list(&[leb(0)])),
        section(10, &list(&[sized(&[&[0], body].concat())])),
    ])
}

/// tests/data/wasm/object.wasm is what rustc makes of a function that calls
/// another, and a static; the numbers are wasm-objdump's.
#[test]
fn an_object_file() {
    let record = inspect(&sample("object.wasm"));
    let result = &record["normalized_result"];
    let facts = &result["facts"];
    assert_eq!(
        result["imports"],
        json!([
            "(import \"env\" \"__linear_memory\" (memory (;0;) 1))",
            "(import \"env\" \"__stack_pointer\" (global (;0;) (mut i32)))",
            "(import \"env\" \"outside\" (func (;0;) (type 1) (param i32) (result i32)))"
        ])
    );
    assert_eq!(
        facts["imports"][2]["type"],
        "(func (param i32) (result i32))"
    );
    assert_eq!(facts["data_segments"][0]["bytes"], 5);
    let symbol = &facts["linking"]["symbols"][1];
    assert_eq!(
        (&symbol["name"], &symbol["kind"], &symbol["size"]),
        (&json!("GREETING"), &json!("data"), &json!(5))
    );
    let code = &facts["relocations"][0]["entries"];
    assert_eq!(code.as_array().unwrap().len(), 5);
    assert_eq!(code[0]["type"], "R_WASM_MEMORY_ADDR_SLEB");
    assert_eq!(code[0]["file_offset"], 0x75);
    let debug = &facts["relocations"][1]["entries"][1];
    assert_eq!(debug["type"], "R_WASM_SECTION_OFFSET_I32");
    // DW_AT_producer follows the header of 11 bytes and the abbreviation's
    // code; the section's contents follow its name.
    assert_eq!(debug["file_offset"], 0x179 + 12 + 12);
    assert_eq!(facts["target_features"][0]["feature"], "bulk-memory");
    assert_eq!(
        facts["dwarf"]["sections"],
        json!([
            ".debug_abbrev",
            ".debug_info",
            ".debug_ranges",
            ".debug_str",
            ".debug_line"
        ])
    );
    let wat = &result["wat"];
    assert!(wat["text"].as_str().unwrap().starts_with("(module"));
    assert_eq!(
        wat["sha256"],
        sha256(wat["text"].as_str().unwrap().as_bytes())
    );
}

/// tests/data/wasm/component.wasm was made of text; the types are as they
/// stand in it.
#[test]
fn a_component() {
    let bytes = sample("component.wasm");
    let record = inspect(&bytes);
    let facts = &record["normalized_result"]["facts"];
    assert_eq!(record["normalized_result"]["artifact_kind"], "component");
    let host = &facts["imports"][0];
    assert_eq!(host["name"], "docs:adder/host@0.1.0");
    assert_eq!(
        host["items"][3],
        json!({
            "kind": "func",
            "name": "[method]stream.read",
            "type": "(func (param \"self\" (borrow stream)) (param \"len\" u64) (result (result (list u8) (error string))))"
        })
    );
    let nested = facts["nested"].as_array().unwrap();
    let kinds: Vec<_> = nested
        .iter()
        .map(|row| row["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["core-module", "core-module", "component", "core-module"]
    );
    for row in nested {
        let range = |name: &str| row[name].as_u64().unwrap() as usize;
        let inside = &bytes[range("start")..range("end")];
        assert_eq!(row["sha256"], sha256(inside));
        // What is inside is told as it would be told alone.
        let alone = inspect(inside);
        let count = |facts: &Json| facts["exports"].as_array().unwrap().len();
        assert_eq!(
            count(&row["facts"]),
            count(&alone["normalized_result"]["facts"])
        );
    }
    let producers = &nested[0]["facts"]["producers"];
    assert_eq!(
        producers[0]["values"][0],
        json!({"name": "C", "version": "11"})
    );

    let facts = deep_facts(&bytes).unwrap();
    let shown: Vec<_> = facts
        .iter()
        .filter(|fact| !fact.is_import)
        .map(|fact| (fact.name.as_str(), fact.ty.as_str()))
        .collect();
    assert!(shown.contains(&(
        "add",
        "(func (param \"a\" u32) (param \"b\" u32) (result u32))"
    )));
    assert!(shown.contains(&("inner#rec", "(record (field \"a\" u32))")));
}

/// Binaries section 8: in subjects, a module is a file.
#[test]
fn the_subject_is_a_file() {
    let record = inspect(&module(&[]));
    assert_eq!(record["subject"]["format"], "file");
    assert!(record["subject"]["architecture"].is_null());
}

#[test]
fn deep_facts_are_names_and_types() {
    let found = deep_facts(&sample("object.wasm")).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|fact| (fact.is_import, fact.name.as_str(), fact.ty.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (true, "env.__linear_memory", "(memory 1)"),
            (true, "env.__stack_pointer", "(global (mut i32))"),
            (true, "env.outside", "(func (param i32) (result i32))"),
        ]
    );
    assert_eq!(deep_facts(b"\0asm\x01\0\0\0\x01"), None);
    assert_eq!(deep_facts(b"no module"), None);
}

#[test]
fn a_file_that_is_cut_is_refused_with_its_offset() {
    for name in ["object.wasm", "component.wasm"] {
        let bytes = sample(name);
        let mut valid = 0;
        for end in 0..bytes.len() {
            match record_of(&bytes[..end], &WasmOptions::default()) {
                // Between two sections; what comes later is not needed.
                Ok(_) => valid += 1,
                Err(error) => {
                    assert_eq!(error.code().as_str(), "invalid_request");
                    let offset = error.details().get("offset");
                    if end >= 8 {
                        let Some(Value::Number(offset)) = offset else {
                            panic!("{end} has no offset");
                        };
                        assert!(*offset <= end as f64);
                        assert!(error.details().get("sections").is_some());
                    }
                }
            }
        }
        assert!(valid < 40, "{name}: {valid}");
    }
    let error = record_of(&one_function(func(0, 1), &[0x0B]), &WasmOptions::default());
    let error = error.unwrap_err();
    let detail = |name: &str| error.details().get(name).unwrap().clone();
    assert_eq!(
        detail("validation").as_str(),
        Some("rejected-by-selected-profile")
    );
    // The `end` that finds no value: header, types, functions, code, size and
    // locals stand before it.
    let Value::Number(offset) = detail("offset") else {
        panic!("no offset");
    };
    assert_eq!(offset, (8 + 7 + 4 + 2 + 3) as f64);
    assert_eq!(detail("section_count"), Value::Number(3.0));
}

#[test]
fn every_byte_changed_is_told_or_refused() {
    for name in ["object.wasm", "component.wasm"] {
        let bytes = sample(name);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] = [0, 1, 0x7F, 0x80, 0xFF][at % 5];
            let _ = record_of(&changed, &WasmOptions::default());
        }
    }
}

#[test]
fn what_is_made_to_cost_is_refused() {
    // Each call pushes a thousand values.
    let calls = [[0x10, 0].repeat(20_000), vec![0x00, 0x0B]].concat();
    limit(one_function(func(0, 1000), &calls), "validation-stack");
    // Each target of a table of branches looks at a thousand values.
    let targets = 7_000_000;
    let table = [
        vec![0x00, 0x0E],
        leb(targets),
        vec![0; targets],
        vec![0, 0x0B],
    ];
    limit(
        one_function(func(0, 1000), &table.concat()),
        "validation-steps",
    );
    // Blocks in blocks.
    let depth = 200_000;
    let blocks = [[0x02, 0x40].repeat(depth), vec![0x0B; depth + 1]].concat();
    limit(one_function(func(0, 0), &blocks), "validation-stack");
    // Components in components.
    let mut nest = component(&[]);
    for _ in 0..100 {
        nest = component(&[section(4, &nest)]);
    }
    limit(nest, "nesting");
    limit(
        module(&vec![custom("", b""); limits::MAX_SECTIONS + 1]),
        "sections",
    );
    limit(
        module(&[section(1, &list(&vec![func(1000, 0); 9000]))]),
        "type-bytes",
    );
    let import = [sized(b""), sized(b""), vec![0, 0]].concat();
    let many = vec![import; limits::MAX_IMPORTS as usize + 1];
    limit(
        module(&[section(1, &list(&[func(0, 0)])), section(2, &list(&many))]),
        "imports",
    );
    let count = 4 * limits::MAX_ROWS as usize;
    let relocations = [leb(1), leb(count), [0, 1, 0].repeat(count)];
    limit(
        module(&[
            section(1, &list(&[])),
            custom("reloc.X", &relocations.concat()),
        ]),
        "rows",
    );
}

/// A module whose functions export a name of `length` bytes `count` times.
fn long_name(length: usize, count: usize) -> Vec<u8> {
    let exports: Vec<_> = (0..count)
        .map(|at| [sized(format!("e{at}").as_bytes()), vec![0, 0]].concat())
        .collect();
    let named = [
        vec![1],
        sized(&list(&[[leb(0), sized(&vec![b'n'; length])].concat()])),
    ];
    module(&[
        section(1, &list(&[func(0, 0)])),
        section(3, &list(&[leb(0)])),
        section(7, &list(&exports)),
        section(10, &list(&[sized(&[0, 0x0B])])),
        custom("name", &named.concat()),
    ])
}

#[test]
fn text_that_grows_without_bound_is_left_out() {
    let record = inspect(&long_name(60_000, 1000));
    let result = &record["normalized_result"];
    assert_eq!(result["wat"]["available"], false);
    assert!(
        result["wat"]["reason"]
            .as_str()
            .unwrap()
            .contains("33554432 bytes")
    );
    assert_eq!(result["exports"], json!([]));
    assert_eq!(result["facts"]["exports"].as_array().unwrap().len(), 1000);
    let said = record["limitations"].to_string();
    assert!(
        said.contains("The import and export forms are not included"),
        "{said}"
    );

    // With room for it, it is there.
    let options = WasmOptions {
        max_wat_bytes: 100 << 20,
        ..WasmOptions::default()
    };
    let text = record_of(&long_name(60_000, 600), &options).unwrap();
    let record: Json = serde_json::from_slice(&text).unwrap();
    let wat = &record["normalized_result"]["wat"];
    assert_eq!(
        wat["sha256"],
        sha256(wat["text"].as_str().unwrap().as_bytes())
    );
    assert_eq!(wat["bytes"], wat["text"].as_str().unwrap().len());
    assert_eq!(record["parameters"]["max_wat_bytes"], 100 << 20);

    // More names than the printer may keep.
    let count = limits::MAX_PRINTED_NAMES as usize + 1;
    let names: Vec<_> = (0..count)
        .map(|at| [leb(at), sized(b"x")].concat())
        .collect();
    let named = [vec![1], sized(&list(&names))].concat();
    let record = inspect(&module(&[custom("name", &named)]));
    assert_eq!(record["normalized_result"]["wat"]["available"], false);
    let names = &record["normalized_result"]["facts"]["names"]["subsections"][0];
    assert_eq!(names["names"], count);
}

/// The name section (core specification 7.4.1, extended name section
/// proposal): every subsection but those that stand elsewhere, by rows.
#[test]
fn names_are_rows_while_there_is_room() {
    let entry = |index: usize, name: &str| [leb(index), sized(name.as_bytes())].concat();
    let locals = [
        [leb(3), list(&[entry(0, "a"), entry(2, "b")])].concat(),
        [leb(5), list(&[entry(1, "c")])].concat(),
    ];
    let content = [
        [vec![1], sized(&list(&[entry(0, "f")]))].concat(),
        [vec![2], sized(&list(&locals))].concat(),
        [vec![4], sized(&list(&[entry(7, "t")]))].concat(),
    ];
    let record = inspect(&module(&[custom("name", &content.concat())]));
    let rows = &record["normalized_result"]["facts"]["names"]["subsections"];
    assert_eq!(rows[0]["entries"], Json::Null);
    let expected = serde_json::json!([
        {"index": 0, "name": "a", "of": 3},
        {"index": 2, "name": "b", "of": 3},
        {"index": 1, "name": "c", "of": 5},
    ]);
    assert_eq!(rows[1]["entries"], expected);
    assert_eq!(
        rows[2]["entries"],
        serde_json::json!([{"index": 7, "name": "t"}])
    );

    let many: Vec<_> = (0..200_001).map(|at| entry(at, "")).collect();
    let content = [vec![4], sized(&list(&many))].concat();
    let record = inspect(&module(&[custom("name", &content)]));
    let result = &record["normalized_result"];
    let row = &result["facts"]["names"]["subsections"][0];
    assert_eq!(
        (&row["entries"], &row["names"]),
        (&Json::Null, &Json::from(200_001))
    );
    let said = record["limitations"].as_array().unwrap();
    let said = said.iter().filter_map(|one| one.as_str());
    assert_eq!(
        said.filter(|one| one.contains("counted and not listed"))
            .count(),
        1
    );
}

/// A validator takes a million values in the types of all imports.
#[test]
fn signatures_have_room_and_then_numbers() {
    let imports: Vec<_> = (0..990)
        .map(|at| [sized(b"m"), sized(format!("{at}").as_bytes()), vec![0, 0]].concat())
        .collect();
    let wide = [vec![0x60], leb(1000), vec![0x6F; 1000], vec![0]].concat();
    let record = inspect(&module(&[
        section(1, &list(&[wide])),
        section(2, &list(&imports)),
    ]));
    let rows = &record["normalized_result"]["facts"]["imports"];
    let rows = rows.as_array().unwrap();
    let without = rows.iter().filter(|row| row["type"].is_null()).count();
    assert!(without > 0 && rows.iter().all(|row| row["type_index"] == 0));
    let said = format!("{without} imports and exports are given without");
    assert!(record["limitations"].to_string().contains(&said), "{said}");
}

#[test]
fn a_large_file_has_no_text_unless_asked() {
    let data = section(11, &list(&[[vec![1], sized(&vec![0; 1 << 20])].concat()]));
    let bytes = module(&[data]);
    let result = inspect(&bytes)["normalized_result"].clone();
    assert_eq!(result["wat"]["available"], false);
    assert!(result["wat"].get("sha256").is_none());
    let asked = WasmOptions {
        wat: true,
        ..WasmOptions::default()
    };
    let record: Json = serde_json::from_slice(&record_of(&bytes, &asked).unwrap()).unwrap();
    assert_eq!(record["normalized_result"]["wat"]["available"], true);
    assert_eq!(record["parameters"], json!({"wat": true}));
}

#[test]
fn known_custom_sections() {
    let dylink = [
        [vec![1], sized(&[16, 4, 2, 0])].concat(),
        [vec![2], sized(&list(&[sized(b"libc.so")]))].concat(),
        [vec![3], sized(&list(&[[sized(b"f"), vec![0x10]].concat()]))].concat(),
    ];
    let record = inspect(&module(&[
        custom("dylink.0", &dylink.concat()),
        custom("build_id", &sized(&[0xAB, 0xCD])),
        custom("sourceMappingURL", &sized(b"a.map")),
        custom("external_debug_info", &sized(b"a.debug.wasm")),
        custom("producers", &[1, 1]),
    ]));
    let facts = &record["normalized_result"]["facts"];
    assert_eq!(facts["build_id"], "abcd");
    assert_eq!(facts["source_map"], "a.map");
    assert_eq!(facts["dwarf"]["external"], "a.debug.wasm");
    assert_eq!(facts["dylink"]["needed"], json!(["libc.so"]));
    assert_eq!(facts["dylink"]["memory"]["memory_alignment_log2"], 4);
    assert_eq!(facts["dylink"]["exports"][0]["flags"], json!(["undefined"]));
    let said = record["limitations"].to_string();
    assert!(
        said.contains("custom section \\\"producers\\\" at offset"),
        "{said}"
    );
}

#[test]
fn threads_do_not_change_a_record() {
    let bodies = vec![sized(&[0, 0x41, 0, 0x1A, 0x0B]); 20_000];
    let bytes = module(&[
        section(1, &list(&[func(0, 0)])),
        section(3, &list(&vec![leb(0); 20_000])),
        section(10, &list(&bodies)),
    ]);
    let input = WasmInput::alone(BinaryFile {
        path: "a.wasm".to_owned(),
        bytes,
    });
    let pool = |threads| rayon_pool(threads, &input);
    assert_eq!(pool(1), pool(4));
}

fn rayon_pool(threads: usize, input: &WasmInput) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(|| {
        let record = inspect_wasm(input, &WasmOptions::default(), &context()).unwrap();
        record.id().to_string()
    })
}

#[test]
fn versions_are_those_of_the_lock_file() {
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"));
    let lock = lock.unwrap();
    for (name, version) in [("wasmparser", WASMPARSER), ("wasmprinter", WASMPRINTER)] {
        let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&entry), "{name} is not {version}");
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, path: &Path, glue: &[PathBuf], more: &[PathBuf]) -> Result<WasmInput, Error> {
        WasmInput::read(path, glue, more, 1 << 20, &context())
    }
}

#[test]
fn glue_names_candidates() {
    let folder = Folder::new();
    let module = folder.file("dist/a.wasm", &module(&[]));
    let other = folder.file("b/b.wasm", b"anything");
    let script = "const a = new URL('./a.wasm', import.meta.url); // 'c.wasm'\nfetch(`https://x/b.wasm?${v}`)\nload('../none.wasm') / 2";
    let glue = folder.file("dist/glue.js", script.as_bytes());
    let broken = folder.file("dist/broken.js", b"load('a.wasm'); `");
    let input = folder.read(
        &module,
        &[glue, broken],
        &[other.clone(), module.clone(), other],
    );
    let input = input.unwrap();
    assert_eq!(input.candidates.len(), 1);
    let record = inspect_wasm(&input, &WasmOptions::default(), &context()).unwrap();
    let record: Json = serde_json::from_slice(&record.canonical()).unwrap();
    let glue = &record["normalized_result"]["glue"];
    let rows: Vec<_> = glue[0]["references"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let place = (
                row["line"].as_u64().unwrap(),
                row["column"].as_u64().unwrap(),
            );
            let word = |name: &str| row[name].as_str().unwrap().to_owned();
            (word("value"), place, word("association"))
        })
        .collect();
    let row =
        |value: &str, place, association: &str| (value.to_owned(), place, association.to_owned());
    assert_eq!(
        rows,
        [
            row("./a.wasm", (1, 18), "local-path-candidate"),
            row("https://x/b.wasm?", (2, 6), "basename-candidates"),
            row("../none.wasm", (3, 5), "unresolved"),
        ]
    );
    assert_eq!(glue[0]["parse_status"], "complete");
    assert_eq!(glue[1]["parse_status"], "partial");
    assert_eq!(glue[1]["lost"]["column"], 16);
    assert_eq!(glue[1]["references"].as_array().unwrap().len(), 1);
    assert_eq!(
        record["parameters"]["glue_paths"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn links_and_other_files_are_refused() {
    let folder = Folder::new();
    let module = folder.file("a.wasm", &module(&[]));
    let link = folder.0.path().join("link.wasm");
    std::os::unix::fs::symlink(&module, &link).unwrap();
    let reason = |result: Result<WasmInput, Error>| {
        let error = result.unwrap_err();
        let issues = error.details().get("issues").unwrap().as_array().unwrap();
        let path = issues[0].get("path").unwrap().as_array().unwrap();
        path[0].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(folder.read(&link, &[], &[])), "path");
    assert_eq!(
        reason(folder.read(&module, std::slice::from_ref(&link), &[])),
        "glue_paths"
    );
    assert_eq!(
        reason(folder.read(&module, &[], &[link])),
        "candidate_paths"
    );
    let latin = folder.file("latin.js", b"'\xE9'");
    assert_eq!(reason(folder.read(&module, &[latin], &[])), "glue_paths");
    let many = vec![module.clone(); 17];
    assert_eq!(reason(folder.read(&module, &many, &[])), "glue_paths");
    let large = folder.file("large.wasm", &vec![0; (1 << 20) + 1]);
    let error = folder.read(&large, &[], &[]).unwrap_err();
    assert_eq!(error.code().as_str(), "resource_constraint");
    let error = record_of(b"PK\x03\x04", &WasmOptions::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_request");
}

fn ask(record: &Json, view: Json) -> Result<Json, Error> {
    let request = json!({"source": {"kind": "inline", "evidence": record}, "view": view});
    let request = Value::parse(request.to_string().as_bytes(), Limits::default()).unwrap();
    let context = Context::new(view::OPERATION);
    let request = Request::parse(request)?;
    let found: ViewRecord = view::inspect(request, &NothingRetained, Limits::default(), &context)?;
    Ok(serde_json::from_slice::<Json>(&found.canonical()).unwrap()["normalized_result"].clone())
}

fn facet(name: &str, offset: u64, limit: u64) -> Json {
    json!({"kind": "wasm", "facet": name, "offset": offset, "limit": limit})
}

#[test]
fn views_show_what_the_record_has() {
    let record = inspect(&sample("object.wasm"));
    let result = &record["normalized_result"];
    for name in ["sections", "imports", "exports", "candidates", "glue"] {
        let mut items = Vec::new();
        let mut offset = 0;
        loop {
            let page = ask(&record, facet(name, offset, 2)).unwrap();
            items.extend(page["items"].as_array().unwrap().clone());
            match page["coverage"]["next_offset"].as_u64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(Json::from(items), result[name], "{name}");
    }
    for (name, text) in [
        ("wat", &result["wat"]["text"]),
        ("headers", &result["headers"]),
        ("details", &result["details"]),
    ] {
        let mut joined = String::new();
        let mut offset = 0;
        loop {
            let page = ask(&record, facet(name, offset, 700)).unwrap();
            joined.push_str(page["item"]["text"].as_str().unwrap());
            assert_eq!(page["item"]["unit"], "utf16-code-units");
            match page["coverage"]["next_offset"].as_u64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(&Json::from(joined), text, "{name}");
        let beyond = ask(&record, facet(name, 1 << 40, 1)).unwrap();
        assert_eq!(beyond["coverage"]["status"], "empty");
    }
    let profile = ask(&record, json!({"kind": "wasm", "facet": "tool_profile"})).unwrap();
    assert_eq!(profile["item"], result["tool_profile"]);
    assert_eq!(profile["view"], facet("tool_profile", 0, 64));
    assert!(ask(&record, facet("tool_profile", 1, 1)).is_err());
    let summary = ask(&record, json!({"kind": "summary"})).unwrap();
    assert_eq!(summary["summary"]["counts"]["sections"], 18);
    assert_eq!(summary["summary"]["wat"]["sha256"], result["wat"]["sha256"]);
    let length = result["wat"]["text"]
        .as_str()
        .unwrap()
        .encode_utf16()
        .count();
    assert_eq!(summary["summary"]["wat"]["length"], length);
    assert_eq!(summary["summary"]["network_fetch"], "not-performed");
    assert_eq!(summary["artifact"]["sha256"], result["artifact"]["sha256"]);
    assert!(ask(&record, json!({"kind": "inventory", "collection": "nodes"})).is_err());
}

#[test]
fn views_of_a_record_without_text() {
    let record = inspect(&long_name(60_000, 1000));
    let wat = ask(&record, json!({"kind": "wasm", "facet": "wat"})).unwrap();
    assert_eq!(wat["item"]["available"], false);
    assert_eq!(wat["coverage"]["status"], "complete-within-view");
    let summary = ask(&record, json!({"kind": "summary"})).unwrap();
    assert_eq!(summary["summary"]["wat"], wat["item"]);
}

/// A record whose id fits, and whose text does not fit its digest.
#[test]
fn the_digest_of_the_text_is_checked() {
    let mut record = inspect(&sample("component.wasm"));
    let text = &mut record["normalized_result"]["wat"]["text"];
    *text = text.as_str().unwrap().replace("$outer", "$other").into();
    let mut hashed = record.clone();
    hashed.as_object_mut().unwrap().remove("evidence_id");
    let subject = hashed["subject"].as_object_mut().unwrap();
    subject.remove("name");
    subject.remove("local_path");
    let value = Value::parse(hashed.to_string().as_bytes(), Limits::default()).unwrap();
    let id = rea::digest::Digest::of_json(|w| rea::json::WriteJson::write_json(&value, w));
    record["evidence_id"] = format!("ev_{id}").into();

    for view in [
        json!({"kind": "summary"}),
        facet("wat", 0, 1),
        facet("sections", 0, 1),
    ] {
        let error = ask(&record, view).unwrap_err();
        assert_eq!(error.code().as_str(), "evidence_integrity_mismatch");
    }
}
