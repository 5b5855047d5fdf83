//! tar archives: whole and in pieces must come to the same members.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    rea::artifact::fuzzing::read_archive("tar", bytes);
});
