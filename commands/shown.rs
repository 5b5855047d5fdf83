//! Names from targets are hostile on a terminal: a member may be called so
//! that it clears the screen, hides text or reads backwards. Everything that
//! is shown to a person goes through [`shown`] first.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters that act on a terminal or on the reading order, or that cannot
/// be seen at all. First and last of each range, sorted.
const HIDDEN: &[(char, char)] = &[
    ('\0', '\u{1f}'),           // C0 controls, with escape
    ('\u{7f}', '\u{9f}'),       // DEL and C1 controls
    ('\u{ad}', '\u{ad}'),       // soft hyphen
    ('\u{34f}', '\u{34f}'),     // combining grapheme joiner
    ('\u{61c}', '\u{61c}'),     // Arabic letter mark
    ('\u{115f}', '\u{1160}'),   // Hangul fillers
    ('\u{17b4}', '\u{17b5}'),   // Khmer inherent vowels
    ('\u{180b}', '\u{180f}'),   // Mongolian separators
    ('\u{200b}', '\u{200f}'),   // zero width, left-to-right and right-to-left marks
    ('\u{2028}', '\u{202e}'),   // line and paragraph separators, embeddings, overrides
    ('\u{2060}', '\u{206f}'),   // word joiner, invisible operators, isolates
    ('\u{3164}', '\u{3164}'),   // Hangul filler
    ('\u{fe00}', '\u{fe0f}'),   // variation selectors
    ('\u{feff}', '\u{feff}'),   // byte order mark
    ('\u{ffa0}', '\u{ffa0}'),   // halfwidth Hangul filler
    ('\u{fff0}', '\u{fffb}'),   // specials, interlinear annotation
    ('\u{1d173}', '\u{1d17a}'), // musical beams and slurs
    ('\u{e0000}', '\u{e0fff}'), // tags and more variation selectors
];

fn is_hidden(c: char) -> bool {
    let at = HIDDEN.partition_point(|range| range.1 < c);
    HIDDEN.get(at).is_some_and(|range| range.0 <= c)
}

/// `text` with every character that acts or hides as `\u{202e}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_hidden) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(clean);
    for c in rest.chars() {
        if is_hidden(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        assert_eq!(shown("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(shown("exe\u{202e}gpj.txt"), "exe\\u{202e}gpj.txt");
        assert_eq!(shown("two\nlines"), "two\\u{a}lines");
        assert_eq!(shown("\u{9b}2J\u{7f}"), "\\u{9b}2J\\u{7f}");
        assert_eq!(
            shown("\u{2066}x\u{2069}\u{feff}"),
            "\\u{2066}x\\u{2069}\\u{feff}"
        );
    }

    #[test]
    fn other_text_is_as_it_is() {
        for text in [
            "",
            "plain.txt",
            "Grüße/日本語 🙂",
            "back\\slash",
            "e\u{301}",
        ] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn ranges_are_sorted() {
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(HIDDEN.iter().all(|range| range.0 <= range.1));
    }
}
