//! Places in text that the reader has accepted as JSON, and the blanking of
//! what is no JSON before it does.

use std::ops::Range;

/// The place of what follows the blanks at `from`.
pub(super) fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let blanks = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    from + blanks.count()
}

/// Behind the string that begins at `from`.
pub(super) fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Behind the value that begins at `from`.
pub(super) fn value_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' if depth > 0 => at += 1,
            b' ' | b'\t' | b'\n' | b'\r' if depth > 0 => at += 1,
            _ => {
                let rest = bytes.get(at..)?;
                let stops = |byte: &u8| b",:]} \t\n\r\"[{".contains(byte);
                let length = rest.iter().take_while(|byte| !stops(byte)).count();
                if length == 0 {
                    return None;
                }
                at += length;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The text with comments and trailing commas as blanks, and the places of
/// these commas. Line ends inside of comments are blanks too.
pub(super) fn blanked(text: &str) -> Result<(String, Vec<usize>), String> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut blank = |range: Range<usize>| {
        for byte in out.get_mut(range).unwrap_or_default() {
            *byte = b' ';
        }
    };
    let mut trailing = Vec::new();
    // The last byte that counts and, if it is a comma, what stood before it.
    let mut last: Option<(u8, usize)> = None;
    let mut before_comma: Option<u8> = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                // A string without an end is left for the reader to refuse.
                at = string_end(bytes, at).unwrap_or(bytes.len());
                last = Some((b'"', start));
            }
            (b'/', Some(b'/')) => {
                let rest = bytes.get(at..).unwrap_or_default();
                at += rest.iter().take_while(|&&byte| byte != b'\n').count();
                blank(start..at);
            }
            (b'/', Some(b'*')) => {
                let rest = text.get(at + 2..).unwrap_or_default();
                let end = rest.find("*/");
                at += 4 + end.ok_or("a comment has no end")?;
                blank(start..at);
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => at += 1,
            (b'}' | b']', _) => {
                let real = before_comma.is_some_and(|before| !b"{[,:".contains(&before));
                if let Some((b',', comma)) = last
                    && real
                {
                    blank(comma..comma + 1);
                    trailing.push(comma);
                }
                last = Some((byte, start));
                at += 1;
            }
            (b',', _) => {
                before_comma = last.map(|(byte, _)| byte);
                last = Some((byte, start));
                at += 1;
            }
            _ => {
                last = Some((byte, start));
                at += 1;
            }
        }
    }
    String::from_utf8(out)
        .map(|plain| (plain, trailing))
        .map_err(|_| "it is not UTF-8".to_owned())
}
