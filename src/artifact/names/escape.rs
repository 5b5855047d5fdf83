//! One raw name as a path that is safe to use (decision 1).

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::{ASAR_SEPARATOR, Path, Style};

/// Turns a raw name into a path. `directory` drops one trailing slash.
pub fn escape(raw: &[u8], style: Style, directory: bool) -> Path<'_> {
    if style == Style::Asar {
        return escape_asar(raw);
    }
    let name = match raw {
        [head @ .., b'/'] if directory && !head.is_empty() => head,
        _ => raw,
    };
    match std::str::from_utf8(name) {
        Ok(text) if !is_odd(name, style) => normalize(Cow::Borrowed(text), false),
        _ => normalize(Cow::Owned(escape_bytes(name, style)), true),
    }
}

fn is_odd(name: &[u8], style: Style) -> bool {
    if name.is_empty() || name.len() > 2 && style == Style::Zip && has_drive(name) {
        return true;
    }
    if style == Style::Zip && (name.contains(&b'\\') || has_drive(name)) {
        return true;
    }
    name.contains(&0)
        || name
            .split(|&b| b == b'/')
            .any(|s| matches!(s, b"" | b"." | b".."))
}

fn has_drive(name: &[u8]) -> bool {
    matches!(name, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn escape_bytes(name: &[u8], style: Style) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    let mut out = String::with_capacity(name.len() + 8);
    let mut segments = name.split(|&b| b == b'/').peekable();
    let mut first = true;
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        if segment.is_empty() && !(last && first) {
            // A slash that separates nothing: leading, repeated or trailing.
            if !last {
                out.push_str("%2F");
            } else if out.ends_with('/') {
                out.truncate(out.len() - 1);
                out.push_str("%2F");
            }
            first = false;
            continue;
        }
        escape_segment(segment, style, first, &mut out);
        if !last {
            out.push('/');
        }
        first = false;
    }
    out
}

fn escape_segment(segment: &[u8], style: Style, first: bool, out: &mut String) {
    if segment == b"." || segment == b".." {
        segment.iter().for_each(|_| out.push_str("%2E"));
        return;
    }
    let backslash = matches!(style, Style::Zip | Style::Asar);
    let drive = backslash && first && has_drive(segment);
    let mut at = 0;
    for chunk in segment.utf8_chunks() {
        for character in chunk.valid().chars() {
            let odd = match character {
                '\0' | '%' => true,
                '\\' => backslash,
                '/' => true,
                ':' => drive && at == 1,
                _ => false,
            };
            if odd {
                push_percent(character as u8, out);
            } else {
                out.push(character);
            }
            at += 1;
        }
        for &byte in chunk.invalid() {
            push_percent(byte, out);
            at += 1;
        }
    }
}

fn push_percent(byte: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(HEX[usize::from(byte >> 4)] as char);
    out.push(HEX[usize::from(byte & 15)] as char);
}

/// Link targets: bytes that are not UTF-8 and NUL are escaped, and `%` where
/// anything is.
pub fn escape_target(target: &[u8]) -> String {
    match std::str::from_utf8(target) {
        Ok(text) if !target.contains(&0) => text.to_owned(),
        _ => {
            let mut out = String::new();
            for (index, part) in target.split(|&b| b == b'/').enumerate() {
                if index > 0 {
                    out.push('/');
                }
                for chunk in part.utf8_chunks() {
                    for character in chunk.valid().chars() {
                        match character {
                            '\0' | '%' => push_percent(character as u8, &mut out),
                            _ => out.push(character),
                        }
                    }
                    chunk
                        .invalid()
                        .iter()
                        .for_each(|&byte| push_percent(byte, &mut out));
                }
            }
            out
        }
    }
}

fn escape_asar(raw: &[u8]) -> Path<'_> {
    let segments = || raw.split(|&b| b == ASAR_SEPARATOR);
    let odd_segment = |s: &[u8]| {
        matches!(s, b"" | b"." | b"..")
            || s.iter().any(|b| matches!(b, b'/' | b'\\' | 0))
            || std::str::from_utf8(s).is_err()
    };
    let odd = segments().any(odd_segment) || has_drive(raw);
    let mut out = String::with_capacity(raw.len());
    for (index, segment) in segments().enumerate() {
        if index > 0 {
            out.push('/');
        }
        match std::str::from_utf8(segment) {
            Ok(text) if !odd => out.push_str(text),
            _ if segment.is_empty() => out.push('%'),
            _ => escape_segment(segment, Style::Asar, index == 0, &mut out),
        }
    }
    normalize(Cow::Owned(out), odd)
}

fn normalize(text: Cow<'_, str>, escaped: bool) -> Path<'_> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Path {
            path: text,
            escaped,
            normalized: false,
        };
    }
    let composed: String = text.nfc().collect();
    let normalized = composed != *text;
    Path {
        path: if normalized {
            Cow::Owned(composed)
        } else {
            text
        },
        escaped,
        normalized,
    }
}
