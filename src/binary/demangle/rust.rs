//! Names of Rust, through the compiler team's own reader. It reads in one
//! pass, bounds its depth, and writes through a formatter: ours ends the work
//! once the text is too long, as back references can double it at each step.

use std::fmt::Write;

use super::Demangled;
use super::out::Out;

/// The source form, without the hash.
pub(super) fn demangle(name: &str) -> Option<Demangled> {
    let plain = name.trim_start_matches('_');
    let scheme = match plain.as_bytes() {
        [b'R', ..] => "rust-v0",
        [b'Z', b'N', ..] if has_hash(plain) => "rust-legacy",
        _ => return None,
    };
    let symbol = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Out::new(name.len());
    write!(out, "{symbol:#}").ok()?;
    let text = out.finish()?;
    Some(Demangled { text, scheme })
}

/// Whether the last part of a legacy name is a hash: `17h` and 16 digits.
fn has_hash(name: &str) -> bool {
    let name = name.split('.').next().unwrap_or(name);
    let Some(rest) = name.strip_suffix('E') else {
        return false;
    };
    let tail = rest.len().checked_sub(19).and_then(|at| rest.get(at..));
    tail.and_then(|tail| tail.strip_prefix("17h"))
        .is_some_and(|hash| hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}
