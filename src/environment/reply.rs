//! What a call is answered with (web.md section 5.7).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::display::{SAMPLE, lossy, start};
use super::select::Selected;
use crate::evidence::EvidenceId;
use crate::json::{Budget, Limits, Object, Reader, Text, Value};
use crate::web::exchange::{Body, Content, is_safe, parse};

/// Bytes of a recorded body that a reply carries.
pub const BODY: usize = 262_144;

/// A reply.
#[derive(Clone, Debug)]
pub struct Replay {
    /// `{status, content_type, body, replay, content_type_truncated?}`
    pub result: Value,
}

/// A body as it is replied.
struct Shown {
    body: Value,
    encoding: Option<&'static str>,
    recorded: bool,
    truncated: bool,
}

impl Replay {
    /// The reply of a record.
    pub fn new(selected: Selected<'_>, evidence: EvidenceId) -> Self {
        let exchange = selected.exchange;
        let shown = body(&exchange.response_body);
        let line = exchange.request.as_ref().map(|request| &request.line);
        let cut = |text: &Text| {
            let text = lossy(text);
            let shown = start(&text, SAMPLE).to_owned();
            let truncated = shown.len() < text.len();
            (shown, truncated)
        };
        let (path, path_cut) = line.map(|line| cut(&line.path)).unzip();
        let (query, query_cut) = line.and_then(|line| line.query.as_ref()).map(cut).unzip();
        let mut replay = Object::new();
        replay.insert("body_encoding", shown.encoding);
        replay.insert("body_recorded", shown.recorded);
        replay.insert("evidence_id", evidence.to_string());
        replay.insert("exact_match", selected.exact_match);
        let line_cut = path_cut.unwrap_or(false) || query_cut.unwrap_or(false);
        replay.insert("recorded_line_truncated", line_cut);
        replay.insert("recorded_path", path);
        replay.insert("recorded_query", query);
        replay.insert("record_ordinal", exchange.ordinal);
        replay.insert("truncated", shown.truncated);
        let mut result = Object::new();
        result.insert("body", shown.body);
        let media_type = exchange.response_body.media_type.as_ref().map(cut);
        if media_type.as_ref().is_some_and(|(_, truncated)| *truncated) {
            result.insert("content_type_truncated", true);
        }
        result.insert("content_type", media_type.map(|(shown, _)| shown));
        result.insert("replay", replay);
        result.insert("status", exchange.status);
        Self {
            result: result.into(),
        }
    }
}

fn body(body: &Body) -> Shown {
    match &body.content {
        Content::Absent | Content::Redacted => Shown {
            body: Value::Null,
            encoding: None,
            recorded: false,
            truncated: false,
        },
        Content::Text(recorded) => text(body, recorded.as_bytes(), recorded.as_bytes().len()),
        Content::Base64(recorded) => base64(body, recorded),
    }
}

/// Base64 of so many bytes that one more than a reply carries is known.
const ENOUGH: usize = (BODY + 1).div_ceil(3) * 4;

/// Whole groups of base64 that a reply carries.
const GROUPS: usize = BODY / 3 * 4;

fn base64(body: &Body, recorded: &[u8]) -> Shown {
    let padding = recorded
        .iter()
        .rev()
        .take_while(|&&byte| byte == b'=')
        .count();
    let length = (recorded.len() / 4 * 3).saturating_sub(padding);
    let head = recorded.get(..ENOUGH).unwrap_or(recorded);
    let decoded = STANDARD.decode(head).unwrap_or_default();
    let is_text = match std::str::from_utf8(&decoded) {
        Ok(_) => true,
        // A character that the cut divides is none that is wrong.
        Err(error) => error.error_len().is_none() && head.len() < recorded.len(),
    };
    if is_text {
        return text(body, &decoded, length);
    }
    let truncated = length > BODY;
    let shown = match truncated {
        true => recorded.get(..GROUPS).unwrap_or(recorded),
        false => recorded,
    };
    Shown {
        body: Value::String(Text::from_wtf8(shown.to_vec())),
        encoding: Some("base64"),
        recorded: true,
        truncated,
    }
}

/// Text, of which the first part is at hand and `length` bytes were recorded.
fn text(body: &Body, at_hand: &[u8], length: usize) -> Shown {
    let shown = |body: Value, truncated: bool| Shown {
        body,
        encoding: Some("utf-8"),
        recorded: true,
        truncated,
    };
    if length > BODY {
        let mut end = BODY.min(at_hand.len());
        while at_hand.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
        let cut = at_hand.get(..end).unwrap_or_default().to_vec();
        return shown(Value::String(Text::from_wtf8(cut)), true);
    }
    if body.is_json_like()
        && let Some(value) = safe_json(at_hand)
    {
        return shown(value, false);
    }
    shown(Value::String(Text::from_wtf8(at_hand.to_vec())), false)
}

/// JSON whose numbers are all kept exactly.
fn safe_json(text: &[u8]) -> Option<Value> {
    let tape = parse(text.to_vec())?;
    if !is_safe(&tape, tape.root()) {
        return None;
    }
    let mut reader = Reader::with_buffer(text, Limits::default(), text.len().max(64));
    reader.read_value(Budget::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(media_type: &str, content: Content) -> Shown {
        body(&Body {
            media_type: Some(media_type.into()),
            content,
        })
    }

    fn plain(media_type: &str, text: &str) -> Shown {
        of(media_type, Content::Text(text.into()))
    }

    fn encoded(media_type: &str, bytes: &[u8]) -> Shown {
        of(
            media_type,
            Content::Base64(STANDARD.encode(bytes).into_bytes()),
        )
    }

    fn length(shown: &Shown) -> usize {
        match &shown.body {
            Value::String(text) => text.as_bytes().len(),
            _ => panic!("no text"),
        }
    }

    #[test]
    fn nothing_is_not_null() {
        for content in [Content::Absent, Content::Redacted] {
            let shown = of("application/json", content);
            assert_eq!(
                (shown.body, shown.recorded, shown.encoding),
                (Value::Null, false, None)
            );
        }
        let shown = plain("application/json", "null");
        assert_eq!(
            (shown.body, shown.recorded, shown.encoding),
            (Value::Null, true, Some("utf-8"))
        );
    }

    #[test]
    fn types_that_may_be_json() {
        for media in [
            "application/json",
            "Application/JSON; charset=x",
            "application/a+json",
            "text/plain",
            "TEXT/Markdown",
        ] {
            assert_eq!(plain(media, "7").body, Value::Number(7.0), "{media}");
        }
        for media in ["text/html", "application/xml", "json", "a+json", ""] {
            assert_eq!(plain(media, "7").body, Value::from("7"), "{media}");
        }
        for text in [
            "{\"a\":9007199254740993}",
            "[1e400]",
            "{\"a\":1,\"a\":2}",
            "\u{feff}1",
            "1 2",
            "",
        ] {
            assert_eq!(
                plain("application/json", text).body,
                Value::from(text),
                "{text}"
            );
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        let exact = "a".repeat(BODY);
        let shown = plain("text/html", &exact);
        assert!(!shown.truncated && length(&shown) == BODY);
        // JSON that is cut is text.
        let shown = plain("application/json", &format!("\"{exact}\""));
        assert!(shown.truncated && length(&shown) == BODY);
        let shown = plain("text/html", &format!("{}é", "a".repeat(BODY - 1)));
        assert!(shown.truncated && length(&shown) == BODY - 1);
    }

    #[test]
    fn base64_is_text_where_it_can_be() {
        let shown = encoded("application/json", b"{\"a\":1}");
        assert_eq!(shown.encoding, Some("utf-8"));
        assert!(shown.body.get("a").is_some());
        let marked = encoded("text/html", "\u{feff}x".as_bytes());
        assert_eq!(marked.body, Value::from("\u{feff}x"));
        let shown = encoded("image/png", &[0xFF; 4]);
        assert_eq!((shown.encoding, shown.truncated), (Some("base64"), false));
        assert_eq!(shown.body, Value::from("/////w=="));

        let shown = encoded("image/png", &vec![0xFF; BODY]);
        assert_eq!(
            (length(&shown), shown.truncated),
            (BODY.div_ceil(3) * 4, false)
        );
        let shown = encoded("image/png", &vec![0xFF; BODY + 1]);
        assert_eq!((length(&shown), shown.truncated), (349_524, true));
        // Wrong only behind what a reply carries.
        let mut late = vec![b'a'; BODY + 9];
        late.push(0xFF);
        let shown = encoded("text/plain", &late);
        assert_eq!(
            (shown.encoding, length(&shown), shown.truncated),
            (Some("utf-8"), BODY, true)
        );
        // The cut divides a character: text, cut before it.
        let wide = "é".repeat(BODY);
        let shown = encoded("text/html", format!("a{wide}").as_bytes());
        assert_eq!((shown.encoding, length(&shown)), (Some("utf-8"), BODY - 1));
        // A cut character at the end of all is wrong.
        let shown = encoded("text/html", &[b'a', 0xC3]);
        assert_eq!(shown.encoding, Some("base64"));
    }
}
