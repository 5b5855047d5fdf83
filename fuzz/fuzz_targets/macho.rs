//! The Mach-O reader: headers, load commands, tries, opcodes, chained fixups.
//!
//! What must hold for every input: no panic, memory and time bounded by the
//! input, and two records of the same bytes have the same id.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::binary::BinaryFile;
use rea::binary::layout::{LayoutOptions, inspect_binary_layout};
use rea::binary::macho::{inspect_macho, list_architectures};
use rea::evidence::Record;
use rea::operation::Context;

fuzz_target!(|input: &[u8]| {
    let file = BinaryFile {
        path: "x".to_owned(),
        bytes: input.to_vec(),
    };
    let context = Context::new("inspect_macho");
    // Making the id writes the whole record.
    if let Ok(record) = inspect_macho(&file, None, &context) {
        let again = inspect_macho(&file, None, &context).unwrap();
        assert_eq!(record.id(), again.id());
    }
    let _ = inspect_binary_layout(&file, &LayoutOptions::default(), &context);
    let _ = list_architectures(&file, &context);
});
