//! White space as ECMAScript has it, on which the identity of unknowns rests:
//! it includes U+FEFF and does not include U+0085.

use crate::json::Text;

fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// A character, or bytes of a lone surrogate.
fn pieces(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    text.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid();
        let characters = valid.char_indices().map(move |(at, c)| {
            let bytes = valid.as_bytes().get(at..at + c.len_utf8());
            (bytes.unwrap_or_default(), is_space(c))
        });
        let lone = Some((chunk.invalid(), false)).filter(|(bytes, _)| !bytes.is_empty());
        characters.chain(lone)
    })
}

/// The text without white space at its ends.
pub(super) fn trimmed(text: &Text) -> Text {
    let (mut out, mut end) = (Vec::new(), 0);
    for (bytes, space) in pieces(text.as_bytes()) {
        if space && out.is_empty() {
            continue;
        }
        out.extend_from_slice(bytes);
        if !space {
            end = out.len();
        }
    }
    out.truncate(end);
    Text::from_wtf8(out)
}

/// The trimmed text with each run of white space as one blank.
pub(super) fn collapsed(text: &Text) -> Text {
    let (mut out, mut pending) = (Vec::new(), false);
    for (bytes, space) in pieces(text.as_bytes()) {
        if space {
            pending = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut pending) {
            out.push(b' ');
        }
        out.extend_from_slice(bytes);
    }
    Text::from_wtf8(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_that_of_ecmascript() {
        // ECMA-262, sections 12.2 and 12.3; U+0085 and U+200B are none.
        let text = Text::from("\u{feff} a\u{b}\u{2028} b\u{85}c\u{200b}\u{3000}");
        assert_eq!(collapsed(&text), "a b\u{85}c\u{200b}");
        assert_eq!(trimmed(&text), "a\u{b}\u{2028} b\u{85}c\u{200b}");
        assert_eq!(collapsed(&Text::from(" \n\t")), "");
        assert_eq!(trimmed(&Text::from(" \n\t")), "");
        // A lone surrogate stays what it is.
        let lone = Text::from_wtf8(b" \xED\xA0\x80  \xED\xB0\x80 ".to_vec());
        assert_eq!(collapsed(&lone).as_bytes(), b"\xED\xA0\x80 \xED\xB0\x80");
    }
}
