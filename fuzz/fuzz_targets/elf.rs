//! The ELF reader: headers, tables, symbols, relocations, notes, versions.
//!
//! What must hold for every input: no panic, no hang, memory bounded by the
//! input, and a record whose members are in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::binary::BinaryFile;
use rea::binary::layout::{LayoutOptions, inspect_binary_layout};
use rea::evidence::Record;
use rea::operation::Context;

fuzz_target!(|input: &[u8]| {
    // The magic number costs the fuzzer nothing this way.
    let mut bytes = b"\x7fELF".to_vec();
    bytes.extend_from_slice(input);
    let file = BinaryFile {
        path: "elf".to_owned(),
        bytes,
    };
    let context = Context::new("inspect_binary_layout");
    if let Ok(record) = inspect_binary_layout(&file, &LayoutOptions::default(), &context) {
        let text = record.canonical();
        // Each byte of the file may be told a few times, in words.
        assert!(text.len() < 4 << 20 || text.len() < 2000 * file.bytes.len());
    }
});
