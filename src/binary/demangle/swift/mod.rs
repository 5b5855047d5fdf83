//! Names of Swift 4 and later (`$s`, `$S`, `_T0`; docs/ABI/Mangling.rst of the
//! Swift project), printed as `swift demangle --compact` does.
//!
//! A mangled name is a program for a stack: each operator takes nodes from the
//! top and puts one back. Nothing recurses while it is read. What the printer
//! writes is bounded (see `out.rs`). Operators that are rarely seen in shipped
//! software (automatic differentiation, macro expansions, boxes of SIL) are
//! not read: such a name stays as it is.

mod identifier;
mod kind;
mod operators;
mod print;
mod reader;
mod signature;
mod thunk;
mod types;

use super::out::Out;

/// What stands before a mangled name.
const PREFIXES: [&str; 7] = ["$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0"];

/// The source form of `name`.
pub(super) fn demangle(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("_Tt") {
        return objc(rest, name.len());
    }
    let prefix = PREFIXES.iter().find(|&&prefix| name.starts_with(prefix))?;
    let rest = name.get(prefix.len()..)?;
    let mut reader = reader::Reader::new(rest.as_bytes(), *prefix == "_T0");
    let root = reader.symbol()?;
    let mut out = Out::new(name.len());
    print::Printer::new(&reader.nodes, &mut out).node(root);
    out.finish()
}

/// Classes and protocols as Objective-C sees them: `C4main3Foo`, `P4main3Foo_`.
fn objc(rest: &str, length: usize) -> Option<String> {
    let kinds = rest.bytes().take_while(u8::is_ascii_uppercase).count();
    let (letters, mut names) = rest.split_at_checked(kinds)?;
    let protocol = letters == "P";
    let nested = letters
        .bytes()
        .all(|letter| matches!(letter, b'C' | b'V' | b'O'));
    if letters.is_empty() || !(protocol || nested) {
        return None;
    }
    if protocol {
        names = names.strip_suffix('_')?;
    }
    let mut parts = Vec::new();
    while !names.is_empty() {
        let (part, after) = match names.strip_prefix('s') {
            Some(after) if parts.is_empty() => ("Swift", after),
            _ => {
                let digits = names.bytes().take_while(u8::is_ascii_digit).count();
                let (count, after) = names.split_at_checked(digits)?;
                after.split_at_checked(count.parse().ok()?)?
            }
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        names = after;
    }
    // A module, and a name for each kind.
    if parts.len() != letters.len() + 1 {
        return None;
    }
    let mut out = Out::new(length);
    out.push(&parts.join("."));
    out.finish()
}
