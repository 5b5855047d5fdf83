//! The search for strings: each is in the input, has as many characters as
//! asked for, and none overlaps another of its kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::binary::strings::{ScanOptions, scan};
use rea::operation::Context;

fuzz_target!(|input: &[u8]| {
    let Some((&first, data)) = input.split_first() else {
        return;
    };
    let options = ScanOptions {
        min_length: u32::from(first % 9) + 1,
        ..ScanOptions::default()
    };
    let context = Context::new("fuzz");
    let Ok(found) = scan(data, &options, &context) else {
        panic!("nobody cancelled");
    };
    for one in found {
        assert!(one.end() <= data.len() as u64);
        let text = one.text(data);
        assert!(text.chars().count() >= options.min_length as usize);
        assert!(!text.contains(char::REPLACEMENT_CHARACTER) || data.contains(&0xEF));
    }
});
