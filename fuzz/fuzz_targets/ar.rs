//! The ar reader: headers, the three ways to have long names, thin archives.
//!
//! What must hold for every input: no panic, memory bounded by the input, and
//! a member's region holds what reading the member gives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::artifact::fuzzing::read_container;

fuzz_target!(|input: &[u8]| {
    read_container("ar", input);
    // Most mutations break the sizes; this way the names are reached: the
    // input is lines of a header's name, and data up to the next line.
    let mut archive = if input.first().is_some_and(|byte| byte % 4 == 0) {
        b"!<thin>\n".to_vec()
    } else {
        b"!<arch>\n".to_vec()
    };
    for pair in input
        .split(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
        .chunks(2)
    {
        let (name, data) = (pair[0], pair.get(1).copied().unwrap_or_default());
        let mut header = name[..name.len().min(16)].to_vec();
        header.resize(16, b' ');
        header.extend(format!("{:<32}{:<10}`\n", "0", data.len()).bytes());
        archive.extend(header);
        archive.extend(data);
        if data.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    read_container("ar", &archive);
});
