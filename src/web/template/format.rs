//! What a segment is by its form alone.

use super::Rule;

pub(super) fn by_format(segment: &[u8]) -> Option<Rule> {
    let all = |is: fn(&u8) -> bool| !segment.is_empty() && segment.iter().all(is);
    if is_date(segment) {
        return Some(Rule::Date);
    }
    if all(u8::is_ascii_digit) {
        return Some(Rule::Numeric);
    }
    if is_uuid(segment) {
        return Some(Rule::Uuid);
    }
    if is_ulid(segment) {
        return Some(Rule::Ulid);
    }
    (segment.len() >= 16 && all(u8::is_ascii_hexdigit)).then_some(Rule::Hex)
}

fn number(digits: &[u8]) -> u32 {
    let value = |sum: u32, digit: &u8| sum.saturating_mul(10) + u32::from(digit.wrapping_sub(b'0'));
    digits.iter().fold(0, value)
}

/// A day or month of the calendar between 1900 and 2099.
fn is_date(segment: &[u8]) -> bool {
    let parts: Vec<&[u8]> = segment.split(|&byte| byte == b'-').collect();
    let (year, month, day) = match parts.as_slice() {
        [compact] if compact.len() == 8 => {
            let (year, rest) = compact.split_at(4);
            let (month, day) = rest.split_at(2);
            (year, month, Some(day))
        }
        [year, month, day] => (*year, *month, Some(*day)),
        [year, month] => (*year, *month, None),
        _ => return false,
    };
    let digits =
        |part: &[u8], length: usize| part.len() == length && part.iter().all(u8::is_ascii_digit);
    digits(year, 4)
        && digits(month, 2)
        && day.is_none_or(|day| digits(day, 2))
        && (1900..2100).contains(&number(year))
        && (1..=12).contains(&number(month))
        && day.is_none_or(|day| (1..=31).contains(&number(day)))
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(segment: &[u8]) -> bool {
    let groups: Vec<&[u8]> = segment.split(|&byte| byte == b'-').collect();
    let lengths = [8, 4, 4, 4, 12];
    groups.len() == lengths.len()
        && groups
            .iter()
            .zip(lengths)
            .all(|(group, length)| group.len() == length && group.iter().all(u8::is_ascii_hexdigit))
}

/// 26 characters without I, L, O and U, starting with 0 to 7, one case.
fn is_ulid(segment: &[u8]) -> bool {
    let character = |byte: &u8| byte.is_ascii_alphanumeric() && !b"ILOUilou".contains(byte);
    let lower = segment.iter().any(u8::is_ascii_lowercase);
    let upper = segment.iter().any(u8::is_ascii_uppercase);
    segment.len() == 26
        && matches!(segment.first(), Some(b'0'..=b'7'))
        && segment.iter().all(character)
        && lower != upper
}

/// 8 to 128 of letters, digits, `_` and `-`, with a run of 8 or more letters
/// and digits that has both and is no word with a short number.
pub(super) fn is_opaque(segment: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !(8..=128).contains(&segment.len()) || !segment.iter().all(allowed) {
        return false;
    }
    segment
        .split(|byte| matches!(byte, b'_' | b'-'))
        .any(|run| {
            let letters = run.iter().take_while(|b| b.is_ascii_alphabetic()).count();
            let digits = run.iter().filter(|b| b.is_ascii_digit()).count();
            let is_numbered_word = letters + digits == run.len() && digits <= 4;
            run.len() >= 8 && digits > 0 && digits < run.len() && !is_numbered_word
        })
}

/// Words that name what is done or which one is meant, in the APIs of the world:
/// not taken for values.
const ACTIONS: [&str; 49] = [
    "me",
    "self",
    "current",
    "new",
    "search",
    "lookup",
    "find",
    "query",
    "login",
    "logout",
    "register",
    "signin",
    "signup",
    "list",
    "all",
    "count",
    "stats",
    "status",
    "summary",
    "health",
    "version",
    "latest",
    "public",
    "home",
    "batch",
    "bulk",
    "export",
    "import",
    "upload",
    "download",
    "validate",
    "verify",
    "preview",
    "settings",
    "config",
    "available",
    "recent",
    "popular",
    "trending",
    "top",
    "upcoming",
    "history",
    "events",
    "default",
    "info",
    "metadata",
    "schema",
    "ping",
    "token",
];

/// A word of [`ACTIONS`], a language with a region, or a version of an API.
pub(super) fn is_fixed(segment: &[u8]) -> bool {
    let version = segment.strip_prefix(b"v").is_some_and(|rest| {
        let dots = rest.iter().filter(|&&byte| byte == b'.').count();
        rest.first().is_some_and(u8::is_ascii_digit)
            && dots < 2
            && rest
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    });
    let locale = match segment {
        [a, b, b'-' | b'_', c, d] => {
            a.is_ascii_lowercase()
                && b.is_ascii_lowercase()
                && c.is_ascii_alphabetic()
                && d.is_ascii_alphabetic()
        }
        _ => false,
    };
    let action = ACTIONS
        .iter()
        .any(|action| action.as_bytes().eq_ignore_ascii_case(segment));
    segment.is_empty() || version || locale || action
}
