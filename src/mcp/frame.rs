//! Replies on their way out. A record is in memory once, as its text; a frame
//! holds it twice, as a string and as structured content, and is written from
//! that text piece by piece. The SDK passes on a small token in its place.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rmcp::model::{CallToolResult, MetaObject};

use super::tool::Reply;

/// What stands in `_meta` of a reply with target content (section 7).
pub const PROVENANCE: &str =
    r#""provenance":{"source":"analysis_target","untrusted_content":true}"#;

/// Frames that are remembered, for clients that ask again for what they missed.
const REMEMBERED: usize = 64;
/// Bytes of a piece.
const PIECE: usize = 64 * 1024;

/// A complete reply to a call that succeeded.
#[derive(Clone, Debug)]
pub struct Frame {
    head: Bytes,
    text: Text,
    /// Between the string and the structured content.
    middle: &'static str,
    tail: &'static str,
}

#[derive(Clone, Debug)]
struct Text {
    bytes: Arc<[u8]>,
    /// Whether it is wrapped as `{"result": ...}`.
    wrapped: bool,
    /// Bytes that need a backslash in a string.
    escapes: u64,
}

const WRAP: (&str, &str) = (r#"{"result":"#, "}");
const WRAP_ESCAPED: &str = r#"{\"result\":"#;

impl Frame {
    /// The frame of `reply` to the request `id` (its JSON text).
    ///
    /// `marked`: it holds target content. `notes`: what stands in `_meta.rea`.
    /// `complete`: the revision of the protocol has `resultType`.
    pub fn new(
        id: &str,
        reply: &Reply,
        marked: bool,
        notes: &BTreeMap<&'static str, String>,
        complete: bool,
    ) -> Self {
        let mut members = Vec::new();
        if marked {
            members.push(PROVENANCE.to_owned());
        }
        if !notes.is_empty() {
            let notes = serde_json::to_string(notes).unwrap_or_default();
            members.push(format!(r#""rea":{notes}"#));
        }
        let meta = match members.is_empty() {
            false => format!(r#""_meta":{{{}}},"#, members.join(",")),
            true => String::new(),
        };
        let head = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{{meta}"content":[{{"type":"text","text":""#
        );
        let (bytes, wrapped) = match reply {
            Reply::Evidence { text, .. } | Reply::Object(text) => (text, false),
            Reply::Result(text) => (text, true),
        };
        let escapes = bytes.iter().filter(|&&byte| needs_backslash(byte)).count() as u64;
        Self {
            head: head.into(),
            text: Text {
                bytes: Arc::clone(bytes),
                wrapped,
                escapes,
            },
            middle: r#""}],"structuredContent":"#,
            tail: if complete {
                r#","resultType":"complete"}}"#
            } else {
                "}}"
            },
        }
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        let text = self.text.bytes.len() as u64;
        let wrap = match self.text.wrapped {
            true => WRAP_ESCAPED.len() + WRAP.0.len() + 2 * WRAP.1.len(),
            false => 0,
        };
        let frame = self.head.len() + self.middle.len() + self.tail.len() + wrap;
        frame as u64 + 2 * text + self.text.escapes
    }

    /// Its bytes, in pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Bytes> + Send + use<> {
        let Self {
            head,
            text,
            middle,
            tail,
        } = self.clone();
        let (before, before_escaped, after) = match text.wrapped {
            true => (WRAP.0, WRAP_ESCAPED, WRAP.1),
            false => ("", "", ""),
        };
        let escaped = Pieces::new(Arc::clone(&text.bytes)).map(|piece| escaped(&piece));
        let plain = Pieces::new(text.bytes);
        let join = |parts: [&'static str; 3]| Bytes::from(parts.concat());
        [head, Bytes::from_static(before_escaped.as_bytes())]
            .into_iter()
            .chain(escaped)
            .chain([join([after, middle, before])])
            .chain(plain)
            .chain([join([after, tail, ""])])
            .filter(|piece| !piece.is_empty())
    }
}

/// Parts of a text without a copy.
struct Pieces {
    rest: Bytes,
}

impl Pieces {
    fn new(text: Arc<[u8]>) -> Self {
        Self {
            rest: Bytes::from_owner(text),
        }
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.rest.is_empty() {
            return None;
        }
        let length = self.rest.len().min(PIECE);
        Some(self.rest.split_to(length))
    }
}

/// JSON text has no raw control characters but white space, and canonical
/// text not even that.
fn needs_backslash(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\')
}

fn escaped(piece: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(piece.len() + piece.len() / 4);
    let mut rest = piece;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        out.push(b'\\');
        let (special, tail) = tail.split_at(1);
        out.extend_from_slice(special);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.into()
}

/// Frames that wait to be written, by token.
#[derive(Debug, Default)]
pub struct Frames {
    waiting: Mutex<Waiting>,
    /// So that no target can name a token.
    secret: Secret,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    frames: VecDeque<(u64, Frame)>,
}

/// Hexadecimal digits that nobody can guess.
#[derive(Debug)]
struct Secret(String);

impl Default for Secret {
    fn default() -> Self {
        use std::hash::{BuildHasher, RandomState};
        // Each state has random keys of its own.
        let word = || RandomState::new().hash_one(0u8);
        Self(format!("{:016x}{:016x}", word(), word()))
    }
}

impl Frames {
    /// Keeps a frame; its token.
    fn put(&self, frame: Frame) -> String {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = waiting.next;
        waiting.next += 1;
        if waiting.frames.len() >= REMEMBERED {
            waiting.frames.pop_front();
        }
        waiting.frames.push_back((number, frame));
        format!("{}-{number}", self.secret.0)
    }

    /// Keeps a frame; what the SDK passes on in its place.
    pub fn stand_in(&self, frame: Frame) -> CallToolResult {
        let mut meta = MetaObject::new();
        meta.insert("rea/frame".to_owned(), self.put(frame).into());
        let mut result = CallToolResult::success(Vec::new());
        result.meta = Some(meta);
        result
    }

    /// What every token begins with.
    pub fn secret(&self) -> &str {
        &self.secret.0
    }

    /// The frame of a token.
    pub fn get(&self, token: &str) -> Option<Frame> {
        let number = token.strip_prefix(self.secret())?.strip_prefix('-')?;
        let number: u64 = number.parse().ok()?;
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let found = waiting.frames.iter().find(|(one, _)| *one == number);
        found.map(|(_, frame)| frame.clone())
    }

    /// The frame whose token stands in a message of the SDK.
    pub fn of_message(&self, message: &[u8]) -> Option<Frame> {
        let at = memchr::memmem::find(message, self.secret().as_bytes())?;
        let tail = message.get(at..)?;
        let end = tail.iter().position(|&byte| byte == b'"')?;
        self.get(std::str::from_utf8(tail.get(..end)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(frame: &Frame) -> Vec<u8> {
        frame.pieces().flatten().collect()
    }

    #[test]
    fn a_frame_says_a_record_twice_and_knows_its_length() {
        let record: Arc<[u8]> = br#"{"a":"x\"y\\z","b":[1,null]}"#.as_slice().into();
        for (wrapped, marked, complete) in [
            (false, true, false),
            (true, false, true),
            (true, true, true),
            (false, false, false),
        ] {
            let reply = match wrapped {
                true => Reply::Result(Arc::clone(&record)),
                false => Reply::Evidence {
                    id: crate::evidence::EvidenceId(crate::digest::Digest::of_json(|w| w.null())),
                    text: Arc::clone(&record),
                },
            };
            let frame = Frame::new("\"7\"", &reply, marked, &BTreeMap::new(), complete);
            let written = text(&frame);
            assert_eq!(written.len() as u64, frame.size());
            let value: serde_json::Value = serde_json::from_slice(&written).unwrap();
            let result = &value["result"];
            assert_eq!(value["id"], "7");
            let said = result["content"][0]["text"].as_str().unwrap();
            let said: serde_json::Value = serde_json::from_str(said).unwrap();
            assert_eq!(said, result["structuredContent"]);
            let inner = match wrapped {
                true => &said["result"],
                false => &said,
            };
            assert_eq!(inner["a"], "x\"y\\z");
            assert_eq!(result["_meta"].is_object(), marked);
            assert_eq!(result["resultType"] == "complete", complete);
            assert!(result["isError"].is_null());
        }
    }

    #[test]
    fn pieces_of_a_long_text_are_the_text() {
        let inner = "\"\\x".repeat(100_000);
        let record = serde_json::to_vec(&serde_json::json!({"long": inner})).unwrap();
        let reply = Reply::Result(record.into());
        let frame = Frame::new("1", &reply, true, &BTreeMap::new(), false);
        let written = text(&frame);
        assert_eq!(written.len() as u64, frame.size());
        let value: serde_json::Value = serde_json::from_slice(&written).unwrap();
        let structured = &value["result"]["structuredContent"]["result"]["long"];
        assert_eq!(structured.as_str(), Some(inner.as_str()));
    }

    #[test]
    fn tokens_find_their_frames() {
        let frames = Frames::default();
        let reply = Reply::Result(b"1".as_slice().into());
        let token = frames.put(Frame::new("1", &reply, false, &BTreeMap::new(), false));
        let message = format!(r#"data: {{"x":"{token}"}}"#);
        assert!(frames.of_message(message.as_bytes()).is_some());
        assert!(frames.of_message(b"data: {}").is_none());
        assert_ne!(frames.secret(), Frames::default().secret());
        for _ in 0..REMEMBERED {
            frames.put(Frame::new("1", &reply, false, &BTreeMap::new(), false));
        }
        assert!(frames.get(&token).is_none());
    }
}
