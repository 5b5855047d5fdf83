//! Views of records whose result is anything: the input's first bytes choose
//! the operation, the page and the selector, the rest is the result in JSON.
//!
//! What must hold for every input: no panic; a view is a record whose id is
//! right; coverage adds up; pages of one row concatenate to a page of all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::digest::Digest;
use rea::evidence::{Creation, Evidence, NewSubject, Provider, Record};
use rea::json::{Limits, Object, Value, canonical};
use rea::operation::Context;
use rea::view::{self, NothingRetained, Request, SourceForm, ViewRecord};

/// Operations, and the kinds of view with the words that select in them.
const OPERATIONS: [(&str, &str, &[&str]); 11] = [
    (
        "inspect_binary_layout",
        "facet",
        &["mitigations", "linkage"],
    ),
    ("inspect_binary_layout", "page", LISTS),
    ("inspect_binary_layout", "item", LISTS),
    ("inspect_macho", "macho", MACHO),
    ("inspect_wasm_artifact", "wasm", WASM),
    ("list_strings", "native-inventory", &[]),
    (
        "list_names",
        "native-inventory",
        &["value", "symbol", "demangled"],
    ),
    (
        "search_strings",
        "native-inventory",
        &["string", "file_offset"],
    ),
    ("inspect_macho", "summary", &[]),
    ("inspect_wasm_artifact", "summary", &[]),
    ("inspect_binary_layout", "summary", &[]),
];
const LISTS: &[&str] = &[
    "sections",
    "symbols",
    "segments",
    "relocations",
    "imports",
    "exports",
];
const MACHO: &[&str] = &[
    "entrypoints",
    "architectures",
    "build_metadata",
    "load_commands",
    "dependencies",
    "imports",
    "exports",
    "segments",
    "provenance",
];
const WASM: &[&str] = &[
    "sections",
    "imports",
    "exports",
    "candidates",
    "glue",
    "wat",
    "headers",
    "details",
    "tool_profile",
];

fuzz_target!(|input: &[u8]| {
    let Some((&[operation, word, offset, limit, selector], text)) = input.split_first_chunk::<5>()
    else {
        return;
    };
    let limits = Limits {
        max_input_bytes: 1 << 20,
        ..Limits::default()
    };
    let Ok(result) = Value::parse(text, limits) else {
        return;
    };
    let (operation, kind, words) = OPERATIONS[usize::from(operation) % OPERATIONS.len()];
    // Most results say their artifact; the record is about the same.
    let sha256 = result
        .get("artifact")
        .and_then(|artifact| artifact.get("sha256"))
        .and_then(Value::as_str)
        .and_then(|digits| Digest::from_hex(digits.as_bytes()))
        .unwrap_or(Digest([7; 32]));
    let provider = Provider {
        id: "x",
        name: "x",
        version: "1",
    };
    let mut creation = Creation::new(operation, provider);
    creation.subject = Some(NewSubject {
        path: "/x/y".to_owned(),
        sha256,
        format: "elf".to_owned(),
        architecture: None,
    });
    creation.normalized_result = result;
    let record = Value::from(Evidence::create(creation).record().clone());
    let word = words.get(usize::from(word) % words.len().max(1)).copied();
    let ask = |offset: u64, limit: u64| {
        let mut view = Object::new();
        view.insert("kind", kind);
        match (kind, word) {
            ("facet" | "macho" | "wasm", Some(word)) => view.insert("facet", word),
            ("page" | "item", Some(word)) => view.insert("collection", word),
            (_, Some(word)) => view.insert("fields", vec![Value::from(word)]),
            (_, None) => {}
        }
        if kind == "item" {
            let mut one = Object::new();
            match selector {
                0..=127 => one.insert("index", u64::from(selector)),
                _ => one.insert(
                    "name",
                    String::from_utf8_lossy(&text[..text.len().min(4)]).into_owned(),
                ),
            }
            view.insert("selector", one);
        }
        if !matches!(kind, "summary" | "facet" | "item") {
            view.insert("offset", offset);
            view.insert("limit", limit);
        }
        let request = Request::new(SourceForm::Inline(Box::new(record.clone())), view).ok()?;
        let context = Context::new(view::OPERATION);
        view::inspect(request, &NothingRetained, limits, &context).ok()
    };
    let (offset, limit) = (u64::from(offset), u64::from(limit) + 1);
    let Some(page) = ask(offset, limit) else {
        return;
    };
    check(&page);
    let coverage = page.coverage();
    // Pages of texts count UTF-16 code units, not rows.
    let text = matches!(word, Some("details" | "headers" | "wat"));
    if coverage.status == "complete-within-view" || text {
        return;
    }
    assert!(coverage.examined <= limit);
    let rows: Vec<Vec<u8>> = page.rows().map(|row| canonical(&row)).collect();
    assert_eq!(rows.len() as u64, coverage.examined);
    for (at, row) in (offset..).zip(rows).take(4) {
        let one = ask(at, 1).expect("what was in a page is there alone");
        assert_eq!(one.coverage().total, coverage.total);
        let found: Vec<Vec<u8>> = one.rows().map(|row| canonical(&row)).collect();
        assert_eq!(found, [row]);
    }
});

fn check(view: &ViewRecord) {
    let value = Value::parse(&view.canonical(), Limits::default()).expect("a record is JSON");
    let Ok(read) = Evidence::from_value(value) else {
        unreachable!("a view is a record");
    };
    assert_eq!(read.id(), view.id());
    let coverage = view.coverage();
    assert!(coverage.examined <= coverage.total || coverage.examined == 0);
    assert_eq!(coverage.is_exhausted(), coverage.next_offset.is_none());
}
