//! The ABI's tables of operators and built-in types.

/// How an operator is written in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Prefix,
    Binary,
    /// `++` and `--`: with `_` before, else after.
    Step,
    Ternary,
    Call,
    Index,
    /// `new`, `delete`: not here.
    Other,
    /// An operand that is a type.
    Type,
    Member,
}

/// Code, text, shape; sorted by code.
pub(super) static OPERATORS: &[(&[u8; 2], &str, Shape)] = {
    use Shape::{Binary, Call, Index, Member, Other, Prefix, Step, Ternary, Type};
    &[
        (b"aN", "&=", Binary),
        (b"aS", "=", Binary),
        (b"aa", "&&", Binary),
        (b"ad", "&", Prefix),
        (b"an", "&", Binary),
        (b"at", "alignof ", Type),
        (b"aw", "co_await ", Prefix),
        (b"az", "alignof ", Prefix),
        (b"cl", "()", Call),
        (b"cm", ",", Binary),
        (b"co", "~", Prefix),
        (b"dV", "/=", Binary),
        (b"dX", "[...]=", Other),
        (b"da", "delete[] ", Prefix),
        (b"de", "*", Prefix),
        (b"di", "=", Other),
        (b"dl", "delete ", Prefix),
        (b"ds", ".*", Member),
        (b"dt", ".", Member),
        (b"dv", "/", Binary),
        (b"dx", "]=", Other),
        (b"eO", "^=", Binary),
        (b"eo", "^", Binary),
        (b"eq", "==", Binary),
        (b"ge", ">=", Binary),
        (b"gt", ">", Binary),
        (b"ix", "[]", Index),
        (b"lS", "<<=", Binary),
        (b"le", "<=", Binary),
        (b"ls", "<<", Binary),
        (b"lt", "<", Binary),
        (b"mI", "-=", Binary),
        (b"mL", "*=", Binary),
        (b"mi", "-", Binary),
        (b"ml", "*", Binary),
        (b"mm", "--", Step),
        (b"na", "new[]", Other),
        (b"ne", "!=", Binary),
        (b"ng", "-", Prefix),
        (b"nt", "!", Prefix),
        (b"nw", "new", Other),
        (b"oR", "|=", Binary),
        (b"oo", "||", Binary),
        (b"or", "|", Binary),
        (b"pL", "+=", Binary),
        (b"pl", "+", Binary),
        (b"pm", "->*", Member),
        (b"pp", "++", Step),
        (b"ps", "+", Prefix),
        (b"pt", "->", Member),
        (b"qu", "?", Ternary),
        (b"rM", "%=", Binary),
        (b"rS", ">>=", Binary),
        (b"rm", "%", Binary),
        (b"rs", ">>", Binary),
        (b"ss", "<=>", Binary),
        (b"st", "sizeof ", Type),
        (b"sz", "sizeof ", Prefix),
    ]
};

/// The operator with this code.
pub(super) fn operator(code: [u8; 2]) -> Option<(&'static str, Shape)> {
    let at = OPERATORS
        .binary_search_by(|(known, _, _)| known.as_slice().cmp(&code))
        .ok()?;
    OPERATORS.get(at).map(|&(_, text, shape)| (text, shape))
}

/// The name of the operator with this code, as a function's name.
pub(super) fn operator_name(code: [u8; 2]) -> Option<&'static str> {
    Some(match &code {
        b"aN" => "operator&=",
        b"aS" => "operator=",
        b"aa" => "operator&&",
        b"ad" | b"an" => "operator&",
        b"aw" => "operator co_await",
        b"cl" => "operator()",
        b"cm" => "operator,",
        b"co" => "operator~",
        b"dV" => "operator/=",
        b"da" => "operator delete[]",
        b"de" | b"ml" => "operator*",
        b"dl" => "operator delete",
        b"ds" => "operator.*",
        b"dt" => "operator.",
        b"dv" => "operator/",
        b"eO" => "operator^=",
        b"eo" => "operator^",
        b"eq" => "operator==",
        b"ge" => "operator>=",
        b"gt" => "operator>",
        b"ix" => "operator[]",
        b"lS" => "operator<<=",
        b"le" => "operator<=",
        b"ls" => "operator<<",
        b"lt" => "operator<",
        b"mI" => "operator-=",
        b"mL" => "operator*=",
        b"mi" | b"ng" => "operator-",
        b"mm" => "operator--",
        b"na" => "operator new[]",
        b"ne" => "operator!=",
        b"nt" => "operator!",
        b"nw" => "operator new",
        b"oR" => "operator|=",
        b"oo" => "operator||",
        b"or" => "operator|",
        b"pL" => "operator+=",
        b"pl" | b"ps" => "operator+",
        b"pm" => "operator->*",
        b"pp" => "operator++",
        b"pt" => "operator->",
        b"qu" => "operator?",
        b"rM" => "operator%=",
        b"rS" => "operator>>=",
        b"rm" => "operator%",
        b"rs" => "operator>>",
        b"ss" => "operator<=>",
        _ => return None,
    })
}

/// A built-in type of one letter.
pub(super) fn builtin(code: u8) -> Option<&'static str> {
    Some(match code {
        b'a' => "signed char",
        b'b' => "bool",
        b'c' => "char",
        b'd' => "double",
        b'e' => "long double",
        b'f' => "float",
        b'g' => "__float128",
        b'h' => "unsigned char",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'n' => "__int128",
        b'o' => "unsigned __int128",
        b's' => "short",
        b't' => "unsigned short",
        b'v' => "void",
        b'w' => "wchar_t",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'z' => "...",
        _ => return None,
    })
}

/// A built-in type of `D` and a letter.
pub(super) fn builtin_d(code: u8) -> Option<&'static str> {
    Some(match code {
        b'a' => "auto",
        b'c' => "decltype(auto)",
        b'd' => "decimal64",
        b'e' => "decimal128",
        b'f' => "decimal32",
        b'h' => "half",
        b'i' => "char32_t",
        b'n' => "decltype(nullptr)",
        b's' => "char16_t",
        b'u' => "char8_t",
        _ => return None,
    })
}

/// Substitutions with a letter: what they stand for, and the name of the
/// class for constructors.
pub(super) fn standard(code: u8) -> Option<(&'static str, &'static str)> {
    Some(match code {
        b'a' => ("std::allocator", "allocator"),
        b'b' => ("std::basic_string", "basic_string"),
        b's' => (
            "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
            "basic_string",
        ),
        b'i' => (
            "std::basic_istream<char, std::char_traits<char> >",
            "basic_istream",
        ),
        b'o' => (
            "std::basic_ostream<char, std::char_traits<char> >",
            "basic_ostream",
        ),
        b'd' => (
            "std::basic_iostream<char, std::char_traits<char> >",
            "basic_iostream",
        ),
        _ => return None,
    })
}

/// How a number of a type is written: what follows it.
pub(super) fn suffix(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "int" => "",
        "unsigned int" => "u",
        "long" => "l",
        "unsigned long" => "ul",
        "long long" => "ll",
        "unsigned long long" => "ull",
        _ => return None,
    })
}
