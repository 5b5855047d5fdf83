//! The ASAR reader: header, names, members, unaccounted bytes.
//!
//! What must hold for every input: no panic, memory bounded by the input, and
//! a member's region holds what reading the member gives.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    rea::artifact::fuzzing::read_container("asar", input);
    // Most mutations break the words of the prefix; this way the JSON behind
    // it is reached.
    let json = input.len() as u32;
    let payload = json.next_multiple_of(4) + 4;
    let mut archive = Vec::with_capacity(input.len() + 64);
    for word in [4, payload + 4, payload, json] {
        archive.extend(word.to_le_bytes());
    }
    archive.extend(input);
    archive.resize(8 + payload as usize + 4 + 32, 0x2E);
    rea::artifact::fuzzing::read_container("asar", &archive);
});
