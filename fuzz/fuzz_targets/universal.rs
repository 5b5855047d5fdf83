//! The reader of universal files: the table of slices in all four forms.
//!
//! What must hold for every input: no panic, memory bounded by the input, and
//! a slice's region holds what reading the slice gives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::artifact::fuzzing::read_container;

fuzz_target!(|input: &[u8]| {
    read_container("mach-o-universal", input);
    let Some((_, rest)) = input.split_at_checked(4) else {
        return;
    };
    for magic in [0xCAFE_BABEu32, 0xBEBA_FECA, 0xCAFE_BABF, 0xBFBA_FECA] {
        let file = [&magic.to_be_bytes()[..], rest].concat();
        read_container("mach-o-universal", &file);
    }
});
