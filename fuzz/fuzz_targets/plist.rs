//! Property lists in all four notations.
//!
//! What must hold for every input: no panic; what is read is one value in
//! canonical JSON, the same each time; and only binary lists, which share
//! objects, can tell much more than they have bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::apple::plist::{Notation, Plist, parse};
use rea::json::{Limits, Value, canonical};

fuzz_target!(|input: &[u8]| {
    let Ok(list) = parse(input) else {
        return;
    };
    let text = canonical(&list.value);
    let _ = list.value.brief();
    if let Ok(Plist { value, .. }) = parse(input) {
        assert_eq!(canonical(&value), text);
    }
    if list.notation != Notation::Binary {
        assert!(text.len() <= 64 * (input.len() + 1));
    }
    if text.len() < 4 << 20 {
        let read = Value::parse(&text, Limits::default()).expect("what is written is JSON");
        assert_eq!(canonical(&read), text);
    }
});
