//! Numbers that survive a double: what is printed for them has the digits that
//! were written.

use super::writer::append_number;

/// Whether `lexeme`, a JSON number, keeps its digits when it is taken to the
/// nearest double and printed as ECMAScript does (web.md section 1.3): `0.10`
/// and `1e22` do, `9007199254740993` and `1e400` do not.
pub fn is_safe_number(lexeme: &[u8]) -> bool {
    // Up to 15 digits always fit.
    if lexeme.len() <= 15 && lexeme.iter().all(|&b| b.is_ascii_digit() || b == b'-') {
        return true;
    }
    let value = std::str::from_utf8(lexeme)
        .ok()
        .and_then(|text| text.parse::<f64>().ok());
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return false;
    };
    let mut printed = Vec::new();
    append_number(&mut printed, value);
    digits(lexeme) == digits(&printed)
}

/// The significant digits: without exponent, dot, zeros at both ends and sign.
fn digits(number: &[u8]) -> Vec<u8> {
    let mantissa = number.split(|byte| matches!(byte, b'e' | b'E')).next();
    let mut digits: Vec<u8> = mantissa.unwrap_or_default().to_vec();
    digits.retain(u8::is_ascii_digit);
    let zeros = digits
        .iter()
        .rev()
        .take_while(|&&digit| digit == b'0')
        .count();
    digits.truncate(digits.len() - zeros);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_contract_and_of_its_sources() {
        for safe in [
            "0",
            "-0",
            "0.10",
            "1e22",
            "1E+2",
            "0.1",
            "-12.5",
            "1e-7",
            "123456789012345",
            "9007199254740991",
            "9007199254740992",
            "0.30000000000000004",
            "5e-324",
            "100",
        ] {
            assert!(is_safe_number(safe.as_bytes()), "{safe}");
        }
        for unsafe_number in [
            "9007199254740993",
            "1e400",
            "-1e400",
            "1e-400",
            "0.1000000000000000055511",
            "9223372036854775808",
            "18446744073709551615",
            "2.220446049250313080847263336181640625e-16",
        ] {
            assert!(!is_safe_number(unsafe_number.as_bytes()), "{unsafe_number}");
        }
        // 2^63 is a double, and is printed with other digits.
        assert!(is_safe_number(b"9223372036854776000"));
    }
}
