//! Captured text as it is shown: bounded, whole where it can be, never cut
//! inside a character (web.md section 5.5).

use crate::json::Text;

/// UTF-8 bytes of one sample of captured text.
pub(super) const SAMPLE: usize = 1024;

/// Text for people and agents; half of a surrogate pair becomes U+FFFD.
pub(super) fn lossy(text: &Text) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

/// The longest start of `text` within `most` bytes.
pub(super) fn start(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A name or a method: a marked start where it is long.
pub(super) fn sample(text: &Text) -> String {
    let text = lossy(text);
    match text.len() <= SAMPLE {
        true => text,
        false => format!("{}…", start(&text, SAMPLE - '…'.len_utf8())),
    }
}

/// Whole values as far as they fit, then how many there are more.
pub(super) fn list(values: impl IntoIterator<Item = String>) -> String {
    let mut shown = String::new();
    let mut count = 0_u64;
    let mut left_out = 0_u64;
    for value in values {
        let separator = if count > 0 { ", " } else { "" };
        if left_out > 0 || shown.len() + separator.len() + value.len() > SAMPLE {
            left_out += 1;
            continue;
        }
        shown.push_str(separator);
        shown.push_str(&value);
        count += 1;
    }
    if left_out > 0 {
        shown.push_str(&format!(" (+{left_out} more)"));
    }
    shown
}

/// UTF-16 units.
pub(super) fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_cut_between_characters() {
        let long = Text::from("é".repeat(600));
        let shown = sample(&long);
        assert!(
            shown.len() <= SAMPLE && shown.ends_with("é…"),
            "{}",
            shown.len()
        );
        assert_eq!(sample(&Text::from("short")), "short");
        assert_eq!(sample(&Text::from("x".repeat(1024))).len(), 1024);
    }

    #[test]
    fn lists_show_whole_values() {
        let value = |length: usize| "v".repeat(length);
        assert_eq!(list([value(2), value(3)]), "vv, vvv");
        assert_eq!(
            list([value(600), value(600), value(1)]),
            format!("{} (+2 more)", value(600))
        );
        assert_eq!(list([value(2000)]), " (+1 more)");
        assert_eq!(list([]), "");
    }
}
