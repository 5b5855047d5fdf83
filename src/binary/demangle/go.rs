//! Names of Go. They are readable but for the path of their package, in which
//! the linker writes some bytes as `%xx` (cmd/internal/objabi, PathToPrefix),
//! and for the two letters that assembler sources write for `.` and `/`.

use super::{Demangled, MAX_NAME};

/// The name with those undone; `None` where there are none.
pub(super) fn demangle(name: &[u8]) -> Option<Demangled> {
    // The letters are C2 B7 and E2 88 95.
    memchr::memchr3(b'%', 0xC2, 0xE2, name)?;
    if name.len() > MAX_NAME {
        return None;
    }
    let text = std::str::from_utf8(name).ok()?;
    if !text.contains(['.', '\u{b7}']) || text.contains(char::is_whitespace) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut changed = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '%' => {
                let digits = text.get(at + 1..at + 3)?;
                let lower = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
                if !digits.bytes().all(lower) {
                    return None;
                }
                let byte = u8::from_str_radix(digits, 16).ok()?;
                // Only these are ever escaped.
                if !(byte <= b' ' || matches!(byte, b'.' | b'%' | b'"') || byte >= 0x7F) {
                    return None;
                }
                bytes.push(byte);
                changed = true;
                characters.next();
                characters.next();
            }
            '\u{b7}' => {
                bytes.push(b'.');
                changed = true;
            }
            '\u{2215}' => {
                bytes.push(b'/');
                changed = true;
            }
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    changed.then_some(Demangled { text, scheme: "go" })
}
