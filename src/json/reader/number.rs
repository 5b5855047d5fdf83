//! Numbers: RFC 8259 section 6, taken to the nearest IEEE double.

/// Whether a byte can stand in a number at all.
pub(super) fn is_part(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// How much of `lexeme` is a number by the grammar; the whole where it is one.
pub(super) fn grammar(lexeme: &[u8]) -> Result<(), usize> {
    let digits = |from: usize| {
        let rest = lexeme.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut at = usize::from(lexeme.first() == Some(&b'-'));
    at = match lexeme.get(at) {
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => digits(at),
        _ => return Err(at),
    };
    if lexeme.get(at) == Some(&b'.') {
        let end = digits(at + 1);
        if end == at + 1 {
            return Err(end);
        }
        at = end;
    }
    if let Some(b'e' | b'E') = lexeme.get(at) {
        let signed = matches!(lexeme.get(at + 1), Some(b'+' | b'-'));
        let from = at + 1 + usize::from(signed);
        let end = digits(from);
        if end == from {
            return Err(end);
        }
        at = end;
    }
    if at == lexeme.len() { Ok(()) } else { Err(at) }
}

/// The nearest double of a number that [`grammar`] accepts; infinite where it
/// is too large.
pub(super) fn value(lexeme: &[u8]) -> f64 {
    small_integer(lexeme).unwrap_or_else(|| {
        std::str::from_utf8(lexeme)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(f64::NAN)
    })
}

/// Up to 15 digits: exact without the general conversion.
fn small_integer(lexeme: &[u8]) -> Option<f64> {
    let (negative, digits) = match lexeme.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, lexeme),
    };
    if digits.len() > 15 {
        return None;
    }
    let mut sum = 0u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        sum = sum * 10 + u64::from(digit - b'0');
    }
    let value = sum as f64;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar_of_rfc_8259() {
        for good in [
            "0", "-0", "1", "10", "1.5", "1e5", "1E+5", "1e-05", "-1.25e10", "0.0", "0e0",
        ] {
            assert_eq!(grammar(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            "", "-", "01", "+1", "1.", ".5", "1e", "1e+", "1.e5", "1..2", "1-2", "--1", "00",
            "1e5.5", "-e", "1ee5",
        ] {
            assert!(grammar(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn values() {
        assert_eq!(value(b"9007199254740993"), 9_007_199_254_740_992.0);
        assert_eq!(value(b"-1e-400"), 0.0);
        assert_eq!(value(b"1e400"), f64::INFINITY);
        assert!(value(b"-0").is_sign_negative());
        assert_eq!(value(b"123456789012345"), 123_456_789_012_345.0);
    }
}
