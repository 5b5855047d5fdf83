//! A recorded request with its response, as a capture's Evidence has it: what
//! surfaces, manifests and replays are made of.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::line::Line;
use crate::error::{Code, Error};
use crate::json::{Kind, Limits, Node, Tape, Text, Value, is_safe_number};

/// A request with its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its place in the capture.
    pub ordinal: u64,
    /// Where it stands in the capture; `None` where that is not shown.
    pub pointer: Option<Text>,
    /// The request; `None` where its line is not shown or is no absolute HTTP
    /// address.
    pub request: Option<RequestLine>,
    /// The request's body.
    pub request_body: Body,
    /// The response's status; `None` where it is not shown.
    pub status: Option<u64>,
    /// The response's body.
    pub response_body: Body,
}

/// Method and address of a request.
#[derive(Clone, Debug)]
pub struct RequestLine {
    /// The method, as it was written.
    pub method: Text,
    /// The address.
    pub line: Line,
}

/// A recorded body.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its type; `None` where it is not shown.
    pub media_type: Option<Text>,
    /// What is recorded of it.
    pub content: Content,
}

/// What is recorded of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Content {
    /// Nothing.
    #[default]
    Absent,
    /// Something that is not shown.
    Redacted,
    /// Text.
    Text(Text),
    /// Base64 as it was written, white space left out.
    Base64(Vec<u8>),
}

impl Exchange {
    /// Reads a record of `inspect_web_network_capture`; `None` where it is not
    /// of that shape.
    pub fn from_record(record: &Value) -> Option<Self> {
        let Value::Number(ordinal) = record.get("ordinal")? else {
            return None;
        };
        let pointer = match record.get("location")?.get("pointer") {
            Some(Value::String(pointer)) => Some(pointer.clone()),
            _ => None,
        };
        let reported = record.get("reported")?;
        let text = |path: &[&str]| match at(reported, path)? {
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        let request = text(&["request", "method"])
            .zip(text(&["request", "url"]))
            .and_then(|(method, url)| {
                let line = Line::parse(url.as_bytes())?;
                Some(RequestLine { method, line })
            });
        let status = match at(reported, &["response", "status"]) {
            Some(Value::Number(status)) if *status >= 0.0 => Some(*status as u64),
            _ => None,
        };
        let body = |content: &[&str]| {
            let part = at(reported, content);
            let member = |name| part.and_then(|part| part.get(name));
            let encoding = member("encoding").and_then(Value::as_str);
            let content = match member("text") {
                None => Content::Absent,
                Some(Value::String(text)) => match encoding {
                    Some("base64") => Content::Base64(
                        text.as_bytes()
                            .iter()
                            .copied()
                            .filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r' | b' '))
                            .collect(),
                    ),
                    _ => Content::Text(text.clone()),
                },
                Some(_) => Content::Redacted,
            };
            Body {
                media_type: match member("mimeType") {
                    Some(Value::String(text)) => Some(text.clone()),
                    _ => None,
                },
                content,
            }
        };
        Some(Self {
            ordinal: *ordinal as u64,
            pointer,
            request,
            request_body: Body {
                // Only a response's content says how it is encoded.
                content: match text(&["request", "postData", "text"]) {
                    Some(text) => Content::Text(text),
                    None => body(&["request", "postData"]).content,
                },
                ..body(&["request", "postData"])
            },
            status,
            response_body: body(&["response", "content"]),
        })
    }

    /// Bytes that it holds, for budgets.
    pub fn memory(&self) -> usize {
        let text = |text: &Text| text.as_bytes().len();
        let body = |body: &Body| {
            let content = match &body.content {
                Content::Absent | Content::Redacted => 0,
                Content::Text(found) => text(found),
                Content::Base64(found) => found.len(),
            };
            content + body.media_type.as_ref().map_or(0, text)
        };
        let line = self.request.as_ref().map_or(0, |request| {
            let line = &request.line;
            text(&request.method)
                + text(&line.origin)
                + text(&line.path)
                + line.query.as_ref().map_or(0, text)
        });
        size_of::<Self>()
            + line
            + self.pointer.as_ref().map_or(0, text)
            + body(&self.request_body)
            + body(&self.response_body)
    }
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// Types whose text may be JSON: `application/json`, `application/*+json`,
/// `text/plain`, `text/markdown`; parameters and case do not count.
pub fn is_json_like(media_type: &Text) -> bool {
    let bytes = media_type.as_bytes();
    let essence = bytes.split(|&byte| byte == b';').next().unwrap_or_default();
    let essence = essence.trim_ascii().to_ascii_lowercase();
    matches!(
        essence.as_slice(),
        b"application/json" | b"text/plain" | b"text/markdown"
    ) || essence.starts_with(b"application/") && essence.ends_with(b"+json")
}

impl Body {
    /// Whether its type is JSON-like.
    pub fn is_json_like(&self) -> bool {
        self.media_type.as_ref().is_some_and(is_json_like)
    }

    /// The text, also where it stands in base64; `None` where there is none.
    pub fn text(&self) -> Option<std::borrow::Cow<'_, [u8]>> {
        match &self.content {
            Content::Text(text) => Some(text.as_bytes().into()),
            Content::Base64(base64) => {
                let decoded = STANDARD.decode(base64).ok()?;
                std::str::from_utf8(&decoded)
                    .is_ok()
                    .then(|| decoded.into())
            }
            Content::Absent | Content::Redacted => None,
        }
    }

    /// The text as JSON, where its type says that it may be and it is.
    pub fn json(&self) -> Option<Tape> {
        if !self.is_json_like() {
            return None;
        }
        parse(self.text()?.into_owned())
    }
}

/// Nesting of a body that is taken for JSON.
const BODY_NESTING: usize = 256;

/// A body that is one JSON document.
pub fn parse(text: Vec<u8>) -> Option<Tape> {
    let limits = Limits {
        max_depth: BODY_NESTING,
        ..Limits::default()
    };
    let go_on = || Ok::<(), Error>(());
    Tape::parse(text, limits, go_on).ok()
}

/// Whether all numbers of a document are kept exactly (web.md section 1.3).
pub fn is_safe(tape: &Tape, node: Node) -> bool {
    match tape.kind(node) {
        Kind::Number(lexeme) => is_safe_number(lexeme),
        Kind::Array => tape.elements(node).all(|element| is_safe(tape, element)),
        Kind::Object => tape.members(node).all(|(_, value)| is_safe(tape, value)),
        Kind::Null | Kind::Bool(_) | Kind::Text => true,
    }
}

/// A result that is none of a capture.
pub fn unreadable(what: &str) -> Error {
    Error::new(Code::InvalidRequest, what)
}
