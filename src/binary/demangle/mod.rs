//! Mangled names as people write them.
//!
//! Every scheme has a reader here that is bounded in time, depth and output
//! (`out.rs`), because names come from hostile files: names that would expand
//! beyond the bounds stay as they are. A wrong text is worse than none, so a
//! construct that a reader doesn't know refuses the name.

mod go;
mod itanium;
mod msvc;
mod out;
mod record;
mod rust;
mod swift;

pub use record::{DemangleRecord, MAX_SYMBOLS, Row, Rows, Status, demangle_names};

/// A name in its source form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demangled {
    /// As the language's own tool prints it.
    pub text: String,
    /// `itanium`, `rust-legacy`, `rust-v0`, `msvc`, `swift` or `go`.
    pub scheme: &'static str,
}

/// The longest name that is taken apart.
pub const MAX_NAME: usize = 64 << 10;

/// The source form of a mangled name; `None` where it is not mangled, or
/// wrongly.
///
/// What object formats put around a name is kept around the text: the version
/// of an ELF symbol (`@@GLIBCXX_3.4`), `__imp_` before a slot of a PE file.
/// The underscore that Mach-O and 32-bit PE put before every name is dropped.
pub fn demangle(name: &[u8]) -> Option<Demangled> {
    // Most names are not mangled; their first byte says so.
    if !matches!(name.first()?, b'_' | b'?' | b'.' | b'@' | b'$') {
        return go::demangle(name);
    }
    if name.len() > MAX_NAME {
        return None;
    }
    let text = std::str::from_utf8(name).ok()?;
    if let Some(slot) = text.strip_prefix("__imp_") {
        let mut inner = bare(slot)?;
        inner.text.insert_str(0, "__imp_");
        return Some(inner);
    }
    if let Some(found) = bare(text) {
        return Some(found);
    }
    let at = text
        .find('@')
        .filter(|&at| at > 0 && !text.starts_with('?'))?;
    let (name, version) = text.split_at_checked(at)?;
    let mut inner = bare(name)?;
    inner.text.push_str(version);
    Some(inner)
}

fn bare(name: &str) -> Option<Demangled> {
    let with = |scheme| move |text| Demangled { text, scheme };
    if name.starts_with(['?', '.', '@']) {
        let name = name.strip_prefix('@').unwrap_or(name);
        let known = name.starts_with('?') || name.starts_with(".?A");
        let text = known.then(|| msvc::demangle(name)).flatten();
        return text.map(with("msvc"));
    }
    if let Some(found) = rust::demangle(name) {
        return Some(found);
    }
    let itanium = |name: &str| itanium::demangle(name).map(with("itanium"));
    if name.starts_with(['$', '_'])
        && let Some(text) = swift::demangle(name)
    {
        return Some(with("swift")(text));
    }
    if name.starts_with("_Z") || name.starts_with("_GLOBAL_") {
        return itanium(name);
    }
    let inner = name.strip_prefix('_')?;
    if inner.starts_with("_Z") || inner.starts_with("_GLOBAL_") {
        return itanium(inner);
    }
    // Blocks of Objective-C++: `___Z3foov_block_invoke_2`.
    if inner.starts_with("__Z") || inner.starts_with("___Z") {
        let inner = inner.trim_start_matches('_');
        let at = inner.rfind("_block_invoke")?;
        let (function, rest) = inner.split_at_checked(at)?;
        let number = rest.strip_prefix("_block_invoke")?;
        let number = number.strip_prefix('_').unwrap_or(number);
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let text = itanium::demangle(&format!("_{function}"))?;
        return Some(with("itanium")(format!(
            "invocation function for block in {text}"
        )));
    }
    None
}

/// The source form of a C++ type as `std::type_info::name` gives it.
pub fn demangle_type(name: &str) -> Option<String> {
    if name.len() > MAX_NAME {
        return None;
    }
    itanium::demangle_type(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> String {
        demangle(name.as_bytes()).map_or_else(|| name.to_owned(), |found| found.text)
    }

    /// As c++filt 2.40, llvm-undname 14 and swift-demangle write them.
    #[test]
    fn as_the_languages_tools_write_them() {
        for (name, expected) in [
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
            ),
            ("_ZZ1fIiEvvE1x", "f<int>()::x"),
            (
                "_Z3addIiiEDTplfp_fp0_ET_T0_",
                "decltype ({parm#1}+{parm#2}) add<int, int>(int, int)",
            ),
            ("_Z1fPKPFvPiE", "f(void (* const*)(int*))"),
            (
                "_ZltIiEbRK1AIT_ES4_",
                "bool operator< <int>(A<int> const&, A<int> const&)",
            ),
            ("_Z1fPFPFvvEiE", "f(void (*(*)(int))())"),
            ("_Z1fM1AFPFvvEiE", "f(void (* (A::*)(int))())"),
            ("_ZTI1AIFPFvcEiEE", "typeinfo for A<void (*(int))(char)>"),
            (
                "_Z1fI1AZ1gI1BEvNT_1xEEUliE_EvS3_T0_",
                "void f<A, g<B>(B::x)::{lambda(int)#1}>(A, g<B>(B::x)::{lambda(int)#1})",
            ),
            (
                "_Z1fI1AZ1gI1BEvT_EUlS3_E_EvT_T0_",
                "void f<A, g<B>(B)::{lambda(auto:1)#1}>(A, g<B>(B)::{lambda(auto:1)#1})",
            ),
            (
                "_ZN2wi6lshiftINS_13hwi_with_precEmEENS_13binary_traitsIT_S3_XsrNS_10int_traitsIS3_EE14precision_typeEXsrS5_14precision_typeEE11result_typeERKS3_RKT0_",
                "wi::binary_traits<wi::hwi_with_prec, wi::hwi_with_prec, wi::int_traits<wi::hwi_with_prec>::precision_type, wi::int_traits<wi::hwi_with_prec>::precision_type>::result_type wi::lshift<wi::hwi_with_prec, unsigned long>(wi::hwi_with_prec const&, unsigned long const&)",
            ),
            (
                "_Z1fI1AZ1gI1BEvRKT_EUlS5_S3_PS3_E_EvT_T0_",
                "void f<A, g<B>(B const&)::{lambda(auto:1 const&, auto:1, auto:1*)#1}>(A, g<B>(B const&)::{lambda(auto:1 const&, auto:1, auto:1*)#1})",
            ),
            (
                "_Z1fI1AZ1gI1BEvT_RS3_EUlS4_E_EvT_T0_",
                "void f<A, g<B>(B, B&)::{lambda(auto:1&)#1}>(A, g<B>(B, B&)::{lambda(auto:1&)#1})",
            ),
            ("_ZN1A1fEv.constprop.0", "A::f() [clone .constprop.0]"),
            ("__ZN1A1fEv", "A::f()"),
            ("_ZSt4cout@@GLIBCXX_3.4", "std::cout@@GLIBCXX_3.4"),
            ("_GLOBAL__I_a", "global constructors keyed to a"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("gopkg.in/yaml%2ev3.Marshal", "gopkg.in/yaml.v3.Marshal"),
            (
                "??4klass@@QEAAAEBV0@AEBV0@@Z",
                "public: class klass const & __cdecl klass::operator=(class klass const &)",
            ),
            ("?x@@3QEAHEB", "int const *const x"),
            ("??_C@_02PCEFGMJL@hi?$AA@", "\"hi\""),
            (
                "$s4main3FooC3bar1xSiSS_tF",
                "main.Foo.bar(x: Swift.String) -> Swift.Int",
            ),
            ("_$s4main3FooVMa", "type metadata accessor for main.Foo"),
            ("_TtCC4main3Foo3Baz", "main.Foo.Baz"),
            ("main", "main"),
            ("_Z", "_Z"),
            ("100%", "100%"),
        ] {
            assert_eq!(shown(name), expected, "{name}");
        }
    }

    /// Names that stand for texts of exponential length, or nest without end.
    #[test]
    fn crafted_names_end_soon() {
        let mut doubling = "_Z1f".to_owned();
        doubling.push_str("M1A1B");
        for at in 0..40 {
            doubling.push_str(&format!("MS{at:X}_S{at:X}_"));
        }
        let names = [
            doubling,
            format!("_Z1f{}i", "P".repeat(60_000)),
            format!("_Z1f{}", "N1A".repeat(20_000)),
            format!("_Z1fI{}", "sr1A1B".repeat(9_000)),
            format!("?f@@YAX{}H@Z", "PAP6A".repeat(10_000)),
            format!("$s{}", "ySay".repeat(15_000)),
            format!("$sSi{}t", "A2048A".repeat(9_000)),
            format!("_RINv{}", "IB_".repeat(20_000)),
        ];
        for name in names {
            let _ = demangle(name.as_bytes());
        }
    }
}
