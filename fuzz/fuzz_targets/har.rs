//! Captures: what is taken is written as a record, whatever it is asked to
//! hide; and the same capture gives the same record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::json::Text;
use rea::web::har::fuzz;

fuzz_target!(|input: &[u8]| {
    // The first line holds literals, so that they come from the input too.
    let (head, text) = match input.iter().position(|&byte| byte == b'\n') {
        Some(at) if at < 64 => input.split_at(at + 1),
        _ => (&b""[..], input),
    };
    let literals: Vec<Text> = String::from_utf8_lossy(head)
        .split_whitespace()
        .filter(|word| !word.starts_with('{'))
        .map(Text::from)
        .collect();
    let first = fuzz(text, &literals);
    assert_eq!(first, fuzz(text, &literals));
});
