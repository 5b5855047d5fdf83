#![no_main]
//! Modules and components: validated, taken apart, printed and written, and
//! what a script says of them. Reading twice gives the same record.

use libfuzzer_sys::fuzz_target;
use rea::binary::BinaryFile;
use rea::binary::wasm::{WasmInput, WasmOptions, deep_facts, glue, inspect_wasm};
use rea::evidence::Record;
use rea::operation::Context;

fuzz_target!(|bytes: &[u8]| {
    let context = Context::new("inspect_wasm_artifact");
    let input = WasmInput::alone(BinaryFile {
        path: "a.wasm".to_owned(),
        bytes: bytes.to_vec(),
    });
    let options = WasmOptions {
        max_wat_bytes: 1 << 20,
        ..WasmOptions::default()
    };
    if let Ok(record) = inspect_wasm(&input, &options, &context) {
        record.canonical();
        let again = inspect_wasm(&input, &options, &context);
        assert_eq!(again.map(|record| record.id()).ok(), Some(record.id()));
        let _ = deep_facts(bytes);
    }
    if let Ok(source) = std::str::from_utf8(bytes) {
        let scan = glue::literals::scan(source, |_| true);
        assert!(scan.literals.len() as u64 == scan.total);
    }
});
