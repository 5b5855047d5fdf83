//! Names of the Itanium C++ ABI (section 5.1), printed as `c++filt` does.
//!
//! A reader turns the name into nodes, of which there are at most a few for
//! each of its bytes: substitutions and template parameters refer to nodes
//! that exist. What one node stands for may be long all the same, so the
//! printer is bounded (see `out.rs`). Nothing is read twice, so that no name
//! makes the reader go back without bound; a name that cannot be read with
//! scopes as the ABI writes them is tried once more with scopes as GCC does.

mod expression;
mod node;
mod parse;
mod print;
mod tables;
mod types;

use super::out::Out;

/// The source form of `name`, which starts with `_Z`.
pub(super) fn demangle(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("_GLOBAL_") {
        return keyed(rest);
    }
    let rest = name.strip_prefix("_Z")?;
    let read = |scopes_are_types| {
        let mut reader = parse::Reader::new(rest.as_bytes());
        reader.scopes_are_types = scopes_are_types;
        let root = reader.mangled()?;
        Some((reader, root))
    };
    let (reader, root) = match read(false) {
        Some(done) => done,
        None if rest.contains("srN") => read(true)?,
        None => return None,
    };
    let mut out = Out::new(name.len());
    print::Printer::new(rest, reader.nodes(), &mut out).node(root);
    out.finish()
}

/// Constructors and destructors of a whole file: `_GLOBAL__I_name`.
fn keyed(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix(['_', '.', '$'])?;
    let (what, name) = match rest.split_at_checked(2)? {
        ("I_", name) => ("constructors", name),
        ("D_", name) => ("destructors", name),
        _ => return None,
    };
    let shown = match name.starts_with("_Z") {
        true => demangle(name)?,
        false if name.is_empty() => return None,
        false => name.to_owned(),
    };
    Some(format!("global {what} keyed to {shown}"))
}

/// The type that `name` mangles, without a prefix (`typeid` names).
pub(super) fn demangle_type(name: &str) -> Option<String> {
    let mut reader = parse::Reader::new(name.as_bytes());
    let root = reader.whole_type()?;
    let mut out = Out::new(name.len());
    print::Printer::new(name, reader.nodes(), &mut out).node(root);
    out.finish()
}
