//! The JSON reader, the builder of values and the verifier of records.
//!
//! What must hold for every input: no panic; reading in small pieces gives
//! the same events; an accepted document's canonical text is read as the same
//! value and is its own canonical text; verification as the text streams by
//! and from memory agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rea::evidence::{Report, verify_both_ways};
use rea::json::{Event, Limits, Reader, Value, canonical};

fuzz_target!(|input: &[u8]| {
    let whole = events(input, 64 * 1024);
    // The first bytes choose the window, so that cuts fall everywhere.
    let window = 1 + usize::from(input.first().copied().unwrap_or(0) % 23);
    assert_eq!(whole, events(input, window));
    if let Ok(value) = Value::parse(input, Limits::default()) {
        let text = canonical(&value);
        let again = Value::parse(&text, Limits::default()).expect("canonical text is JSON");
        assert_eq!(again, value);
        assert_eq!(canonical(&again), text);
        // In canonical order, the text must stream.
        let (streamed, replayed) = verify_both_ways(&text);
        assert!(streamed.is_some());
        same(streamed, replayed);
    }
    let (streamed, replayed) = verify_both_ways(input);
    if streamed.is_some() {
        same(streamed, replayed);
    }
});

fn same(a: Option<Report>, b: Option<Report>) {
    let lines = |report: Report| {
        let own = canonical(&report);
        let nested: Vec<_> = report.nested.iter().map(|n| canonical(n)).collect();
        (own, nested)
    };
    assert_eq!(a.map(lines), b.map(lines));
}

/// All complete events as text, string parts joined, and how it ended.
fn events(input: &[u8], window: usize) -> (Vec<u8>, String) {
    let mut reader = Reader::with_buffer(input, Limits::default(), window);
    let mut out = Vec::new();
    let mut complete = 0;
    let end = loop {
        if reader.is_between() {
            match reader.more() {
                Ok(true) => {}
                Ok(false) => break format!("{:?}", reader.place()),
                Err(error) => break error.to_string(),
            }
        }
        match reader.next_event() {
            Err(error) => break error.to_string(),
            Ok(Event::Text { part, last, .. }) => {
                out.extend_from_slice(part);
                if !last {
                    continue;
                }
                out.push(0xFF);
            }
            Ok(Event::Key { name, .. }) => {
                out.extend_from_slice(name);
                out.push(0xFE);
            }
            Ok(Event::Number { value, lexeme }) => {
                out.extend_from_slice(lexeme);
                out.extend(value.to_bits().to_le_bytes());
            }
            Ok(event) => out.extend(format!("{event:?}").bytes()),
        }
        complete = out.len();
    };
    out.truncate(complete);
    (out, end)
}
