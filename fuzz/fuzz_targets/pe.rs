//! The reader of PE, TE and COFF files.
//!
//! What must hold for every input: no panic, and what is written is bounded by
//! the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::binary::pe::parse;
use rea::json::{Sink, WriteJson, Writer};

struct Count(u64);

impl Sink for Count {
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0 += bytes.len() as u64;
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    let Ok(layout) = parse(input) else {
        return;
    };
    let mut count = Count(0);
    let mut writer = Writer::canonical(&mut count);
    writer.begin_array();
    layout.sections.write_json(&mut writer);
    layout.symbols.write_json(&mut writer);
    layout.relocations.write_json(&mut writer);
    layout.facts.address_map.write_json(&mut writer);
    layout.facts.exports.write_json(&mut writer);
    layout.facts.imports.write_json(&mut writer);
    layout.facts.mitigations.write_json(&mut writer);
    for (_, part) in &layout.facts.own.1 {
        part.write_json(&mut writer);
    }
    layout.notes.sentences().write_json(&mut writer);
    writer.end_array();
    writer.finish_infallible();
    assert!(count.0 < 2_000 * input.len() as u64 + (16 << 20));
});
