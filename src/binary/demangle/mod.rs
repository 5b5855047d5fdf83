//! Mangled names as people write them.

/// A name in its source form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demangled {
    /// As the language's own tool prints it.
    pub text: String,
    /// `rust-legacy`, `rust-v0`, `itanium`, `msvc`, `swift`, ...
    pub scheme: &'static str,
}

/// The longest name that is taken apart.
pub const MAX_NAME: usize = 64 << 10;

/// The source form of a mangled name; `None` where it is not mangled, or
/// wrongly.
pub fn demangle(name: &[u8]) -> Option<Demangled> {
    if name.len() > MAX_NAME {
        return None;
    }
    let text = std::str::from_utf8(name).ok()?;
    let rust = rustc_demangle::try_demangle(text).ok()?;
    let scheme = match text.trim_start_matches('_').starts_with('R') {
        true => "rust-v0",
        false => "rust-legacy",
    };
    Some(Demangled {
        text: format!("{rust:#}"),
        scheme,
    })
}
