//! The cpio reader: all forms, hard links, archives one after the other.
//!
//! What must hold for every input: no panic, members follow each other, have
//! as many bytes as announced, refer to members that exist, and are the same
//! however few bytes are decoded at a time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::artifact::fuzzing::read_archive;

fuzz_target!(|input: &[u8]| {
    read_archive("cpio", input);
});
