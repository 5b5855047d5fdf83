//! The readers of mangled names.
//!
//! What must hold for every name: no panic, and a text that is not longer than
//! the bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::binary::demangle::{demangle, demangle_type};

fuzz_target!(|input: &[u8]| {
    for prefix in ["", "_Z", "_ZN", "$s", "_T0", "?", ".?A", "_R", "__imp_"] {
        let name = [prefix.as_bytes(), input].concat();
        if let Some(found) = demangle(&name) {
            assert!(found.text.len() <= (64 << 10) + name.len() + 64);
        }
    }
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = demangle_type(text);
    }
});
