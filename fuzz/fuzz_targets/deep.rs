//! Facts by which members of two releases are compared: the input is cut into
//! the old and the new side, each any bytes.
//!
//! What must hold for every input: no panic; what both sides tell is bounded;
//! a side does not differ from itself; what was added one way was removed the
//! other way, with the same details.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::binary::deep::{BINARIES, MODULES};
use rea::member_facts::compare;

fuzz_target!(|input: &[u8]| {
    let Some((&[low, high], rest)) = input.split_first_chunk::<2>() else {
        return;
    };
    let cut = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (old, new) = rest.split_at(cut);
    for domain in [BINARIES, MODULES] {
        let read = |bytes| (domain.read)(bytes);
        for side in [old, new] {
            if let (Ok(left), Ok(right)) = (read(side), read(side)) {
                let same = compare(left, right);
                assert!(same.iter().all(|topic| topic.is_empty()));
            }
        }
        let (Ok(left), Ok(right)) = (read(old), read(new)) else {
            continue;
        };
        let there = compare(left, right);
        let (Ok(left), Ok(right)) = (read(old), read(new)) else {
            unreachable!("reading twice tells the same");
        };
        let back = compare(right, left);
        assert_eq!(there.len(), back.len());
        for (there, back) in there.iter().zip(&back) {
            assert_eq!(there.topic.as_str(), back.topic.as_str());
            assert_eq!((&there.added, &there.removed), (&back.removed, &back.added));
            assert_eq!(there.changed.len(), back.changed.len());
            for (one, other) in there.changed.iter().zip(&back.changed) {
                assert_eq!(one.name, other.name);
                assert_eq!((&one.before, &one.after), (&other.after, &other.before));
            }
        }
    }
});
