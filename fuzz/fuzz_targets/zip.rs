//! The ZIP reader: end records, central directory, names, members, overlaps.
//!
//! What must hold for every input: no panic, no hang, memory bounded by the
//! input, and a stored member's region holds what reading the member gives.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    rea::artifact::fuzzing::read_container("zip", input);
});
