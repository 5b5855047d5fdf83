//! `POST /agentenv`: JSON-RPC that has no operations (web.md section 5.2).

use crate::json::{Kind, Limits, MAX_SAFE_INTEGER, Node, Tape, Text, Writer, is_safe_number};

/// Where it is spoken.
pub const ROUTE: &str = "/agentenv";

/// Bytes of a body that are read.
pub const MAX_BODY: usize = 4 << 20;

/// Messages of a batch.
const MAX_BATCH: usize = 100;

const DEPTH: usize = 128;

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, JSON; empty where there is none.
    pub body: Vec<u8>,
}

/// The id of a message.
enum Id {
    Null,
    Text(Text),
    Number(f64),
}

struct Failure {
    code: i32,
    message: Vec<u8>,
    id: Id,
}

/// Answers a body.
pub fn answer(body: &[u8]) -> Answer {
    if body.len() > MAX_BODY {
        return too_long();
    }
    let limits = Limits {
        max_depth: DEPTH,
        ..Limits::default()
    };
    let Ok(tape) = Tape::parse(body.to_vec(), limits, || Ok(())) else {
        return single(400, -32700, "parse error");
    };
    let root = tape.root();
    if tape.kind(root) != Kind::Array {
        return match message(&tape, root) {
            Some(failure) => Answer {
                status: 200,
                body: written(&[failure], false),
            },
            None => nothing(),
        };
    }
    let count = tape.elements(root).take(MAX_BATCH + 1).count();
    if count == 0 || count > MAX_BATCH {
        return single(200, -32600, "invalid request");
    }
    let replies: Vec<Failure> = tape
        .elements(root)
        .filter_map(|element| message(&tape, element))
        .collect();
    match replies.is_empty() {
        true => nothing(),
        false => Answer {
            status: 200,
            body: written(&replies, true),
        },
    }
}

/// The answer to a body of more than [`MAX_BODY`] bytes, which nobody reads.
pub fn too_long() -> Answer {
    single(413, -32000, "the body is longer than 4 MiB")
}

fn nothing() -> Answer {
    Answer {
        status: 202,
        body: Vec::new(),
    }
}

fn single(status: u16, code: i32, message: &str) -> Answer {
    let failure = Failure {
        code,
        message: message.as_bytes().to_vec(),
        id: Id::Null,
    };
    Answer {
        status,
        body: written(&[failure], false),
    }
}

/// The reply to a message; `None` to a notification.
fn message(tape: &Tape, node: Node) -> Option<Failure> {
    let invalid = || Failure {
        code: -32600,
        message: b"invalid request".to_vec(),
        id: Id::Null,
    };
    let member = |name| tape.member(node, name);
    let is_text = |node: Node| tape.kind(node) == Kind::Text;
    let version = member("jsonrpc").filter(|&version| is_text(version));
    let method = member("method").filter(|&method| is_text(method));
    let (Some(version), Some(method)) = (version, method) else {
        return Some(invalid());
    };
    let params = member("params").map(|params| tape.kind(params));
    if *tape.text(version) != *b"2.0" || !matches!(params, None | Some(Kind::Array | Kind::Object))
    {
        return Some(invalid());
    }
    let id = match member("id") {
        None => return None,
        Some(id) => match tape.kind(id) {
            Kind::Null => Id::Null,
            Kind::Text => Id::Text(Text::from_wtf8(tape.text(id).into_owned())),
            Kind::Number(lexeme) => match echoed(lexeme) {
                Some(number) => Id::Number(number),
                None => return Some(invalid()),
            },
            Kind::Bool(_) | Kind::Array | Kind::Object => return Some(invalid()),
        },
    };
    Some(Failure {
        code: -32601,
        message: [b"method not found: ", &*tape.text(method)].concat(),
        id,
    })
}

/// A number that comes back with the same digits.
fn echoed(lexeme: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(lexeme).ok()?.parse().ok()?;
    let fits = number.abs() <= MAX_SAFE_INTEGER as f64;
    (fits && is_safe_number(lexeme)).then_some(number)
}

fn written(failures: &[Failure], batch: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::canonical(&mut out);
    if batch {
        w.begin_array();
    }
    for failure in failures {
        w.begin_object();
        w.key("error");
        w.begin_object();
        w.key("code");
        w.number(f64::from(failure.code));
        w.key("message");
        w.text(&failure.message);
        w.end_object();
        w.key("id");
        match &failure.id {
            Id::Null => w.null(),
            Id::Text(text) => w.text(text.as_bytes()),
            Id::Number(number) => w.number(*number),
        }
        w.member("jsonrpc", "2.0");
        w.end_object();
    }
    if batch {
        w.end_array();
    }
    w.finish_infallible();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> (u16, String) {
        let answer = answer(body.as_bytes());
        (answer.status, String::from_utf8(answer.body).unwrap())
    }

    fn error(code: i32, message: &str, id: &str) -> String {
        format!(r#"{{"error":{{"code":{code},"message":"{message}"}},"id":{id},"jsonrpc":"2.0"}}"#)
    }

    fn invalid() -> String {
        error(-32600, "invalid request", "null")
    }

    /// The table of web.md section 5.2, row by row.
    #[test]
    fn every_row() {
        let large = "x".repeat(MAX_BODY + 1);
        assert_eq!(
            shown(&large),
            (413, error(-32000, "the body is longer than 4 MiB", "null"))
        );
        let parse = (400, error(-32700, "parse error", "null"));
        for body in ["", "{", "{}{}", "nope", r#"{"a":1,"a":2}"#] {
            assert_eq!(shown(body), parse, "{body}");
        }
        let call = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        for id in ["1", r#""x""#, "null", "-7", "1.5", "9007199254740991"] {
            assert_eq!(
                shown(&call(id)),
                (200, error(-32601, "method not found: m", id))
            );
        }
        for id in [
            "9007199254740992",
            "-9007199254740993",
            "1e400",
            "1e22",
            "0.1000000000000000055511",
            "true",
            "[]",
            "{}",
        ] {
            assert_eq!(shown(&call(id)), (200, invalid()), "{id}");
        }
        let notification = r#"{"jsonrpc":"2.0","method":"m","params":[]}"#;
        assert_eq!(shown(notification), (202, String::new()));
        assert_eq!(
            shown(&format!("[{notification},{notification}]")),
            (202, String::new())
        );
        let mixed = format!("[{notification},{},7,{}]", call("1"), call("\"a\""));
        let replies = [
            error(-32601, "method not found: m", "1"),
            invalid(),
            error(-32601, "method not found: m", "\"a\""),
        ];
        assert_eq!(shown(&mixed), (200, format!("[{}]", replies.join(","))));
        assert_eq!(shown("[]"), (200, invalid()));
        let many = vec![notification; 101].join(",");
        assert_eq!(shown(&format!("[{many}]")), (200, invalid()));
        for body in [
            "1",
            "{}",
            r#"{"jsonrpc":"1.0","method":"m","id":1}"#,
            r#"{"jsonrpc":"2.0","method":7,"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":1,"params":"x"}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":null}"#,
        ] {
            assert_eq!(shown(body), (200, invalid()), "{body}");
        }
    }
}
